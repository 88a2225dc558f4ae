/* Groups of Kubernetes itself: trees of PodGroups and CompositePodGroups as one PodGroup. */
#include "story.h"

#define ALL(stories) story_check_all(stories, sizeof(stories) / sizeof(*(stories)))
#define GROUP_OF(name, spec) GROUP_WITH(name, "", spec)
#define GROUP_WITH(name, more, spec)                                                                                   \
	"---\n{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {" more "name: " name                  \
	", namespace: ns, uid: u-" name "}, spec: {" spec "}}\n"
#define COMPOSITE(name, spec) COMPOSITE_WITH(name, "", spec)
#define COMPOSITE_WITH(name, more, spec)                                                                               \
	"---\n{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {" more "name: " name        \
	", namespace: ns, uid: u-" name "}, spec: {" spec "}}\n"
#define GANG(count) "schedulingPolicy: {gang: {minCount: " count "}}, "
#define OF(count) "schedulingPolicy: {gang: {minGroupCount: " count "}}, "
#define BASIC "schedulingPolicy: {basic: {}}, "
#define BELOW(name) "parentCompositePodGroupName: " name ", "
#define KEY(label) "schedulingConstraints: {topology: [{key: " label "}]}, "
#define MEMBER(group) MEMBER_WITH("", "", group)
#define MEMBER_WITH(more, spec, group)                                                                                 \
	"---\n{apiVersion: v1, kind: Pod, metadata: {" more "name: p, namespace: ns, uid: pu}, spec: {" spec           \
	"schedulingGroup: {podGroupName: " group "}}}\n"

static void alone(void **state)
{
	static const struct story stories[] = {
		{"a gang", GROUP_OF("g", GANG("4")) MEMBER("g"), "pg-g-u-g min=4"},
		{"without a minimum each pod starts for itself", GROUP_OF("g", BASIC) MEMBER("g"), "pg-g-u-g min=1"},
		{"a label of nodes is a level, without a Topology",
	         GROUP_OF("g", GANG("2") KEY("example.com/rack")) MEMBER("g"),
	         "pg-g-u-g min=2@labels:example.com/rack,example.com/rack,"},
		{"a preferred level is for us to add",
	         GROUP_WITH("g", "annotations: {kai.scheduler/topology-preferred-placement: host}, ",
	                    GANG("2") KEY("rack")) MEMBER("g"),
	         "pg-g-u-g min=2@labels:rack,host,rack,host"},
		{"in a Topology, where one is named",
	         GROUP_WITH("g", "annotations: {" TOPOLOGY "kai.scheduler/topology-preferred-placement: host}, ",
	                    GANG("2") KEY("rack")) MEMBER("g"),
	         "pg-g-u-g min=2@topo,rack,host"},
		{"how much of it starts together, too",
	         GROUP_WITH("g", "annotations: {kai.scheduler/batch-min-member: \"3\"}, ", BASIC) MEMBER("g"),
	         "pg-g-u-g min=3"},
		{"segments of a gang",
	         GROUP_WITH("g", "annotations: {" SEGMENTS("2") TOPOLOGY "}, ", GANG("4"))
	                 MEMBER_WITH("labels: {batch.kubernetes.io/job-completion-index: \"3\"}, ", "", "g"),
	         "pg-g-u-g min=4 worker worker-0<worker:2@topo,rack, worker-1<worker:2@topo,rack, -> worker-1 #1"},
		{"whoever owns the pod",
	         WORKLOAD("batch/v1", "Job", "labels: {a: b}, ", "") GROUP_OF("g", GANG("4"))
	                 MEMBER_WITH(OWNED("batch/v1", "Job", "w"), "", "g"),
	         "pg-g-u-g min=4"},
		{"its own group counts, and another one is told of",
	         GROUP_OF("g", GANG("4")) MEMBER_WITH("annotations: {pod-group-name: mine}, ", "", "g"),
	         "pg-g-u-g min=4 ! second-group"},
		{"the marks of ours are no other one",
	         GROUP_OF("g", GANG("4"))
	                 MEMBER_WITH("annotations: {pod-group-name: pg-g-u-g, platoon.dev/scheduling-group: g}, ", "",
	                             "g"),
	         "pg-g-u-g min=4"},
	};
	ALL(stories);
}

static void trees(void **state)
{
	static const struct story stories[] = {
		{"two of three groups",
	         COMPOSITE("root", OF("2")) GROUP_OF("a", BELOW("root") GANG("2"))
	                 GROUP_OF("b", BELOW("root") GANG("3")) GROUP_OF("c", BELOW("root") BASIC) MEMBER("b"),
	         "pg-root-u-root min=3/2 a:2 b:3 c:1 -> b"},
		{"a level inside a level",
	         COMPOSITE("root", OF("1") KEY("zone")) GROUP_OF("a", BELOW("root") GANG("2") KEY("rack")) MEMBER("a"),
	         "pg-root-u-root min=2@labels:zone,zone,/1 a:2@labels:rack,rack, -> a"},
		{"three levels below the root, others beside them",
	         COMPOSITE("root", OF("1")) COMPOSITE("mid", BELOW("root") OF("1")) COMPOSITE("low", BELOW("mid") BASIC)
	                 GROUP_OF("other", GANG("7")) GROUP_OF("a", BELOW("low") GANG("2")) MEMBER("a"),
	         "pg-root-u-root min=2/1 a<low:2 low<mid/1 mid/1 -> a"},
		{"a group and what is above it may have one name",
	         COMPOSITE("x", OF("1")) COMPOSITE("a", BELOW("x") OF("1")) GROUP_OF("a", BELOW("a") GANG("2"))
	                 MEMBER("a"),
	         "pg-x-u-x min=2/1 a<a-74d9d06e:2 a-74d9d06e/1 -> a"},
		{"children may still come",
	         COMPOSITE("root", OF("2")) COMPOSITE("empty", BELOW("root") OF("1"))
	                 GROUP_OF("a", BELOW("root") GANG("2")) MEMBER("a"),
	         "pg-root-u-root min=2/2 a:2 -> a ! member-missing"},
	};
	ALL(stories);
}

static void refused(void **state)
{
	static const struct story stories[] = {
		{"pods may come before their group", MEMBER("g"), "refused ! object-not-found"},
		{"a group of ours is none of Kubernetes",
	         "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, namespace: ns}, "
	         "spec: {minMember: 1}}\n" MEMBER("g"),
	         "refused ! object-not-found"},
		{"what is above it may come later", GROUP_OF("a", BELOW("root") GANG("2")) MEMBER("a"),
	         "refused ! object-not-found"},
		{"a circle",
	         COMPOSITE("c1", BELOW("c2") OF("1")) COMPOSITE("c2", BELOW("c1") OF("1"))
	                 GROUP_OF("a", BELOW("c1") GANG("2")) MEMBER("a"),
	         "refused ! invalid-tree"},
		{"five levels",
	         COMPOSITE("c1", OF("1")) COMPOSITE("c2", BELOW("c1") OF("1")) COMPOSITE("c3", BELOW("c2") OF("1"))
	                 COMPOSITE("c4", BELOW("c3") OF("1")) GROUP_OF("a", BELOW("c4") GANG("2")) MEMBER("a"),
	         "refused ! invalid-tree"},
		{"five levels beside it",
	         COMPOSITE("c1", OF("1")) COMPOSITE("c2", BELOW("c1") OF("1")) COMPOSITE("c3", BELOW("c2") OF("1"))
	                 COMPOSITE("c4", BELOW("c3") OF("1")) GROUP_OF("a", BELOW("c4") GANG("2"))
	                         GROUP_OF("b", BELOW("c1") GANG("2")) MEMBER("b"),
	         "refused ! invalid-tree"},
		{"no policy, two, a bad one", GROUP_OF("g", "") MEMBER("g"), "refused ! wrong-field-type"},
		{"two policies", GROUP_OF("g", "schedulingPolicy: {basic: {}, gang: {minCount: 1}}") MEMBER("g"),
	         "refused ! wrong-field-type"},
		{"no number", GROUP_OF("g", GANG("0")) MEMBER("g"), "refused ! wrong-field-type"},
		{"two labels",
	         GROUP_OF("g", GANG("1") "schedulingConstraints: {topology: [{key: a}, {key: b}]}") MEMBER("g"),
	         "refused ! wrong-field-type"},
		{"claims of the group",
	         GROUP_OF("g", GANG("1") "resourceClaims: [{name: c, resourceClaimName: c}]") MEMBER("g"),
	         "refused ! unsupported"},
		{"another priority than its group",
	         GROUP_OF("g", GANG("1") "priority: 5") MEMBER_WITH("", "priority: 7, ", "g"),
	         "refused ! priority-differs"},
		{"the same", GROUP_OF("g", GANG("1") "priority: 5") MEMBER_WITH("", "priority: 5, ", "g"),
	         "pg-g-u-g min=1"},
	};
	ALL(stories);
}

static void read_world(struct story_run *run, const char *objects)
{
	story_open(run, objects, NULL);
	assert_int_equal(run->result.verdict, GROUP_WANTED);
}

static const char *mark(const struct story_run *run, const char *key)
{
	const char *text = labels_get(&run->result.annotations, key);
	return text ? text : "";
}

static void what_else_it_says(void **state)
{
	struct story_run run;
	read_world(&run, GROUP_OF("g", GANG("2")) MEMBER("g"));
	assert_string_equal(mark(&run, "platoon.dev/disruption-mode"), "single");
	assert_string_equal(mark(&run, "platoon.dev/preemption-policy"), "");
	assert_string_equal(run.result.preemptibility, "preemptible");
	assert_string_equal(run.result.staleness_grace, "-1s");
	story_close(&run);
	read_world(&run, GROUP_OF("g", GANG("2") "disruptionMode: {all: {}}, preemptionPolicy: Never, "
	                                         "priorityClassName: high") MEMBER("g"));
	assert_string_equal(mark(&run, "platoon.dev/disruption-mode"), "all");
	assert_string_equal(mark(&run, "platoon.dev/preemption-policy"), "Never");
	assert_string_equal(run.result.priority_class, "high");
	story_close(&run);
	/* As 1.36 wrote it. */
	read_world(&run, GROUP_OF("g", GANG("2") "disruptionMode: PodGroup") MEMBER("g"));
	assert_string_equal(mark(&run, "platoon.dev/disruption-mode"), "all");
	assert_string_equal(labels_get(&run.result.pod_annotations, "platoon.dev/scheduling-group"), "g");
	story_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(trees),
		cmocka_unit_test(refused),
		cmocka_unit_test(what_else_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
