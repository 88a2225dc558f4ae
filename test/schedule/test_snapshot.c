/* From Kubernetes objects to the engine's structs: what counts, where it goes, and what is said about the rest. */
#include "fixtures/snapshot_fixture.h"

#include <stdio.h>
#include <string.h>

static int64_t free_gpus(const struct snapshot_fixture *fixture, const char *node)
{
	const struct cluster *cluster = fixture->snapshot->cycle.cluster;
	int resource = cluster_find_resource(cluster, "nvidia.com/gpu");
	return cluster_free(cluster, resource, cluster_find_node(cluster, node));
}

/* One pod on node n1 (or nowhere): what it is to its gang and to the node. */
static void states_of_pods(void **state)
{
	static const struct {
		const char *story, *pod;
		enum member_state member;
		int64_t free, releasing;
	} rows[] = {
		{"bound and running", POD("p", OF("g"), ON("n1"), "phase: Running"), MEMBER_RUNNING, 3, 0},
		{"bound, kubelet has not started it yet", POD("p", OF("g"), ON("n1"), "phase: Pending"), MEMBER_RUNNING,
	         3, 0},
		{"bound and leaving: occupies, no member",
	         POD("p", OF("g") "deletionTimestamp: \"2026-01-01T00:00:00Z\", ", ON("n1"), "phase: Running"),
	         MEMBER_GONE, 3, 1},
		{"succeeded", POD("p", OF("g"), ON("n1"), "phase: Succeeded"), MEMBER_GONE, 4, 0},
		{"failed", POD("p", OF("g"), ON("n1"), "phase: Failed"), MEMBER_GONE, 4, 0},
		{"waiting", POD("p", OF("g"), OURS, "phase: Pending"), MEMBER_WAITING, 4, 0},
		{"waiting and already leaving",
	         POD("p", OF("g") "deletionTimestamp: \"2026-01-01T00:00:00Z\", ", OURS, "phase: Pending"), MEMBER_GONE,
	         4, 0},
		{"held back by a gate", POD("p", OF("g"), OURS "schedulingGates: [{name: x}], ", "phase: Pending"),
	         MEMBER_GATED, 4, 0},
		{"asks for what is not served",
	         POD("p", OF("g"), OURS "resourceClaims: [{name: x, resourceClaimName: z}], ", "phase: Pending"),
	         MEMBER_BLOCKED, 4, 0},
		{"gated, and asks for what is not served",
	         POD("p", OF("g"),
	             OURS "schedulingGates: [{name: x}], resourceClaims: [{name: x, resourceClaimName: z}], ",
	             "phase: Pending"),
	         MEMBER_GATED, 4, 0},
		{"runs, though it asks for what is not served",
	         POD("p", OF("g"), ON("n1") "resourceClaims: [{name: x, resourceClaimName: z}], ", "phase: Running"),
	         MEMBER_RUNNING, 3, 0},
		{"on a node nobody knows", POD("p", OF("g"), ON("n9"), "phase: Running"), MEMBER_GONE, 4, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct snapshot_fixture fixture;
		char text[4096];
		snprintf(text, sizeof(text), "%s%s", NODE("n1", "r1") GROUP("g", "minMember: 1"), rows[i].pod);
		snapshot_fixture_open(&fixture, text);
		const struct gang_pod *pod = snapshot_fixture_member(&fixture, "p");
		const struct cluster *cluster = fixture.snapshot->cycle.cluster;
		int gpu = cluster_find_resource(cluster, "nvidia.com/gpu");
		if (pod->state != rows[i].member || free_gpus(&fixture, "n1") != rows[i].free ||
		    cluster_releasing(cluster, gpu, 0) != rows[i].releasing)
			fail_msg("%s: state %d, free %d, releasing %d", rows[i].story, (int)pod->state,
			         (int)free_gpus(&fixture, "n1"), (int)cluster_releasing(cluster, gpu, 0));
		assert_int_equal(snapshot_fixture_group(&fixture, "g")->was_running[0], pod->state == MEMBER_RUNNING);
		snapshot_fixture_close(&fixture);
	}
}

/* What minimum runtimes count from. */
static void since_when_a_group_has_its_nodes(void **state)
{
#define BORN "creationTimestamp: \"2026-01-01T00:00:00Z\", "
#define BOUND "conditions: [{type: PodScheduled, status: \"True\", lastTransitionTime: \"2026-01-01T00:01:00Z\"}]"
	enum { NEW_YEAR = 1767225600 };
	static const struct {
		const char *story, *pods;
		int64_t since; /* seconds after it; -1: nobody knows */
	} rows[] = {
		{"it has started",
	         POD("p", OF("g") BORN, ON("n1"), "phase: Running, startTime: \"2026-01-01T00:02:00Z\", " BOUND), 120},
		{"bound, and images are pulled", POD("p", OF("g") BORN, ON("n1"), "phase: Pending, " BOUND), 60},
		{"bound, and nobody says when", POD("p", OF("g") BORN, ON("n1"), "phase: Pending"), 0},
		{"bound in a file without any time", POD("p", OF("g"), ON("n1"), "phase: Pending"), -1},
		{"not bound", POD("p", OF("g") BORN, OURS, "phase: Pending"), -1},
		{"the first of two",
	         POD("p", OF("g") BORN, ON("n1"), "phase: Running, startTime: \"2026-01-01T00:02:00Z\", " BOUND)
	                 POD("q", OF("g") BORN, ON("n1"), "phase: Pending, " BOUND),
	         60},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct snapshot_fixture fixture;
		char text[4096];
		snprintf(text, sizeof(text), "%s%s", NODE("n1", "r1") GROUP("g", "minMember: 1"), rows[i].pods);
		snapshot_fixture_open(&fixture, text);
		const struct cycle_group *group = snapshot_fixture_group(&fixture, "g");
		int64_t since = group->has_started ? group->started / INT64_C(1000000000) - NEW_YEAR : -1;
		if (since != rows[i].since)
			fail_msg("%s: since %d", rows[i].story, (int)since);
		snapshot_fixture_close(&fixture);
	}
#undef BORN
#undef BOUND
}

static void node_that_is_not_there_is_told(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture, NODE("n1", "r1") POD("p", "", ON("n9"), "phase: Running"));
	snapshot_fixture_expect_warning(&fixture, "pod ns/p runs on node n9");
	snapshot_fixture_close(&fixture);
}

static void pods_of_others(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture,
	                      NODE("n1", "r1") GROUP("g", "minMember: 1")
	                              POD("theirs-bound", "", "schedulerName: other, nodeName: n1, ",
	                                  "phase: Running") POD("theirs-pending", "", "", "phase: Pending")
	                                      POD("theirs-in-group", OF("g"), "schedulerName: other, ",
	                                          "phase: Pending") POD("ours-bound", "", ON("n1"), "phase: Running")
	                                              POD("ours-alone", "", OURS, "phase: Pending")
	                                                      POD("kai-alone", "", "schedulerName: kai-scheduler, ",
	                                                          "phase: Pending"));
	assert_int_equal(free_gpus(&fixture, "n1"), 2);
	snapshot_fixture_expect_warning(&fixture, "2 pending pods of other schedulers");
	assert_int_equal(snapshot_fixture_group(&fixture, "g")->gang.pod_count, 0);
	assert_true(snapshot_fixture_about(&fixture, "ours-alone")->implicit);
	assert_true(snapshot_fixture_about(&fixture, "kai-alone")->implicit);
	assert_int_equal(snapshot_fixture_group(&fixture, "ours-alone")->gang.tree[0].minimum, 1);
	/* What runs counts in its queue and may be asked to go, like any group. */
	assert_true(snapshot_fixture_about(&fixture, "ours-bound")->implicit);
	assert_int_equal(snapshot_fixture_member(&fixture, "ours-bound")->state, MEMBER_RUNNING);
	assert_int_equal(fixture.snapshot->cycle.group_count, 4);
	snapshot_fixture_close(&fixture);
}

static void a_pod_and_a_group_may_share_a_name(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture,
	                      NODE("n1", "r1") POD("twin", "", OURS, "phase: Pending") GROUP("twin", "minMember: 1")
	                              POD("member", OF("twin"), OURS, "phase: Pending"));
	assert_int_equal(fixture.snapshot->cycle.group_count, 2);
	assert_false(snapshot_fixture_about(&fixture, "twin")->implicit);
	assert_int_equal(snapshot_fixture_group(&fixture, "twin")->gang.pod_count, 1);
	assert_int_equal(snapshot_fixture_member(&fixture, "twin")->state, MEMBER_WAITING);
	snapshot_fixture_close(&fixture);
}

static void strays_are_named(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture,
	                      NODE("n1", "r1") GROUP("g",
	                                             "subGroups: [{name: box}, {name: a, parent: box, minMember: 1}, "
	                                             "{name: b, parent: box, minMember: 1}]")
	                              POD("good", IN("g", "a"), OURS, "phase: Pending") POD("wrong-1", IN("g", "c"),
	                                                                                    OURS, "phase: Pending")
	                                      POD("wrong-2", IN("g", "c"), OURS, "phase: Pending")
	                                              POD("parent", IN("g", "box"), OURS, "phase: Pending")
	                                                      POD("unsaid", OF("g"), OURS, "phase: Pending")
	                                                              POD("done", OF("g"), OURS, "phase: Succeeded")
	                                                                      POD("lost", OF("nowhere"), OURS,
	                                                                          "phase: Pending"));
	const struct snapshot_group *group = snapshot_fixture_about(&fixture, "g");
	assert_int_equal(group->stray_count, 4);
	assert_int_equal(group->notes.count, 3);
	assert_non_null(strstr(group->notes.items[0].message, "pod unsaid names no subgroup"));
	assert_non_null(strstr(group->notes.items[1].message, "pod parent names subgroup box, which is not a leaf"));
	assert_non_null(strstr(group->notes.items[2].message, "pod wrong-1 and 1 more name subgroup c"));
	assert_non_null(strstr(group->notes.items[2].message, "a, b"));
	assert_int_equal(group->notes.items[0].code, REASON_SUBGROUP_UNKNOWN);
	assert_false(snapshot_fixture_group(&fixture, "g")->blocked);
	assert_int_equal(snapshot_fixture_group(&fixture, "g")->gang.pod_count, 1);
	snapshot_fixture_expect_warning(&fixture, "names PodGroup ns/nowhere, which does not exist");
	snapshot_fixture_close(&fixture);
}

static void pods_of_a_leaf_in_order(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(
		&fixture,
		NODE("n1", "r1") GROUP("g", "subGroups: [{name: a, minMember: 1}, {name: b, minMember: 1}]") POD(
			"b-first", IN("g", "b"), OURS,
			"") POD("late", IN("g", "a") "creationTimestamp: \"2030-01-02T00:00:00Z\", ", OURS,
	                        "") POD("early", IN("g", "a") "creationTimestamp: \"2030-01-01T00:00:00Z\", ", OURS,
	                                "") POD("listed", IN("g", "a"), OURS, "")
			POD("chief",
	                    "annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: a, "
	                    "kai.scheduler/task-priority: \"5\"}, creationTimestamp: \"2031-01-01T00:00:00Z\", ",
	                    OURS, ""));
	static const char *const order[] = {"chief", "listed", "early", "late", "b-first"};
	const struct gang *gang = &snapshot_fixture_group(&fixture, "g")->gang;
	assert_int_equal(gang->pod_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(gang->pods[i].name, order[i]);
	snapshot_fixture_close(&fixture);
}

static void priorities_and_protection(void **state)
{
	static const char classes[] =
		"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 7}\n"
		"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: train}, value: 60}\n";
	static const char default_class[] = "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
					    "{name: d}, value: 110, globalDefault: true}\n";
	static const struct {
		const char *story, *spec;
		bool with_default;
		int32_t priority;
		enum cycle_preempt preempt;
	} rows[] = {
		{"an object decides", "priorityClassName: urgent", false, 7, CYCLE_PREEMPTIBLE},
		{"even over a well-known name", "priorityClassName: train", false, 60, CYCLE_PREEMPTIBLE},
		{"well known without an object", "priorityClassName: inference", false, 125, CYCLE_NON_PREEMPTIBLE},
		{"just below the line", "priorityClassName: build-preemptible", false, 75, CYCLE_PREEMPTIBLE},
		{"on the line", "priorityClassName: build", false, 100, CYCLE_NON_PREEMPTIBLE},
		{"the system's own", "priorityClassName: system-node-critical", false, 2000001000,
	         CYCLE_NON_PREEMPTIBLE},
		{"unknown name", "priorityClassName: what", false, 50, CYCLE_PREEMPTIBLE},
		{"unknown name with a default class", "priorityClassName: what", true, 110, CYCLE_NON_PREEMPTIBLE},
		{"nothing said", "minMember: 1", false, 50, CYCLE_PREEMPTIBLE},
		{"the written word wins", "priorityClassName: inference, preemptibility: preemptible", false, 125,
	         CYCLE_PREEMPTIBLE},
		{"half protected", "preemptibility: semi-preemptible", false, 50, CYCLE_SEMI_PREEMPTIBLE},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct snapshot_fixture fixture;
		char text[4096];
		snprintf(text, sizeof(text),
		         "%s%s---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, "
		         "namespace: ns}, "
		         "spec: {%s}}\n",
		         classes, rows[i].with_default ? default_class : "", rows[i].spec);
		snapshot_fixture_open(&fixture, text);
		const struct cycle_group *group = snapshot_fixture_group(&fixture, "g");
		if (group->priority != rows[i].priority || group->preempt != rows[i].preempt)
			fail_msg("%s: priority %d, preempt %d", rows[i].story, group->priority, (int)group->preempt);
		snapshot_fixture_close(&fixture);
	}
}

static void queues(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture, GROUP("g", "queue: anything"));
	assert_int_equal(fixture.snapshot->cycle.queue_count, 1);
	assert_int_equal(snapshot_fixture_group(&fixture, "g")->queue, 0);
	assert_int_equal(fixture.snapshot->cycle.queues[0].limit[CYCLE_GPU], -1);
	snapshot_fixture_close(&fixture);

	snapshot_fixture_open(&fixture, QUEUE("default-queue") QUEUE("team") GROUP("named", "queue: team")
	                                        GROUP("unnamed", "minMember: 1") GROUP("lost", "queue: ghost"));
	assert_int_equal(snapshot_fixture_group(&fixture, "named")->queue, 1);
	assert_int_equal(snapshot_fixture_group(&fixture, "unnamed")->queue, 0);
	assert_int_equal(snapshot_fixture_group(&fixture, "lost")->queue, -1);
	assert_string_equal(snapshot_fixture_group(&fixture, "lost")->queue_name, "ghost");
	snapshot_fixture_close(&fixture);
}

static void queue_parents_never_form_a_circle(void **state)
{
	static const char text[] = "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: a}, spec: "
				   "{parentQueue: b, resources: {}}}\n"
				   "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: b}, spec: "
				   "{parentQueue: a, resources: {}}}\n"
				   "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: c}, spec: "
				   "{parentQueue: b, resources: {}}}\n"
				   "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: d}, spec: "
				   "{parentQueue: ghost, resources: {}}}\n";
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture, text);
	const struct cycle *cycle = &fixture.snapshot->cycle;
	assert_int_equal(cycle->queue_count, 4);
	for (size_t i = 0; i < cycle->queue_count; i++) {
		int steps = 0;
		for (int at = (int)i; at >= 0; at = cycle->queues[at].parent)
			assert_true(++steps <= 4);
	}
	assert_int_equal(cycle->queues[3].parent, -1);
	snapshot_fixture_expect_verdict(&fixture, "d", true, "ghost");
	snapshot_fixture_expect_verdict(&fixture, "a", false, "cycle");
	snapshot_fixture_close(&fixture);
}

static void levels_are_resolved(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(
		&fixture,
		"---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, "
		"spec: {levels: [{nodeLabel: block}, {nodeLabel: rack, alias: r}]}}\n" GROUP(
			"g",
			"topologyConstraint: {topology: cluster, requiredTopologyLevel: block}, subGroups: [{name: a, "
			"minMember: 1, topologyConstraint: {requiredTopologyLevel: r, preferredTopologyLevel: "
			"rack}}]"));
	const struct gang_node *tree = snapshot_fixture_group(&fixture, "g")->gang.tree;
	assert_int_equal(tree[0].required.topology, 0);
	assert_int_equal(tree[0].required.level, 0);
	assert_int_equal(tree[0].preferred.topology, -1);
	assert_int_equal(tree[1].required.level, 1);
	assert_int_equal(tree[1].preferred.level, 1);
	snapshot_fixture_close(&fixture);
}

static void unknown_topology_blocks_the_group_only(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(
		&fixture,
		TOPOLOGY GROUP("no-topology",
	                       "minMember: 1, topologyConstraint: {topology: ghost, requiredTopologyLevel: rack}")
			GROUP("no-level",
	                      "minMember: 1, topologyConstraint: {topology: cluster, requiredTopologyLevel: zone}")
				GROUP("fine", "minMember: 1, topologyConstraint: {topology: cluster, "
	                                      "requiredTopologyLevel: rack}"));
	const struct cycle_group *group = snapshot_fixture_group(&fixture, "no-topology");
	assert_true(group->blocked);
	assert_int_equal(group->reasons.items[0].code, REASON_TOPOLOGY_UNKNOWN);
	assert_non_null(strstr(group->reasons.items[0].message, "Topology ghost does not exist"));
	group = snapshot_fixture_group(&fixture, "no-level");
	assert_true(group->blocked);
	assert_int_equal(group->reasons.items[0].code, REASON_TOPOLOGY_UNKNOWN);
	assert_non_null(strstr(group->reasons.items[0].message, "has no level zone (its levels are rack)"));
	assert_false(snapshot_fixture_group(&fixture, "fine")->blocked);
	snapshot_fixture_close(&fixture);
}

static void a_rejected_group_keeps_its_pods(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture, NODE("n1", "r1") GROUP("g", "minMember: -1") POD("p", OF("g"), OURS, "")
	                                        POD("q", OF("g"), ON("n1"), ""));
	const struct snapshot_group *about = snapshot_fixture_about(&fixture, "g");
	assert_true(about->rejected);
	assert_true(snapshot_fixture_group(&fixture, "g")->blocked);
	assert_int_equal(about->rejection_count, 1);
	assert_non_null(strstr(about->rejections[0], "spec.minMember"));
	assert_int_equal(snapshot_fixture_group(&fixture, "g")->gang.pod_count, 2);
	assert_int_equal(free_gpus(&fixture, "n1"), 3);
	assert_true(snapshot_has_rejections(fixture.snapshot));
	snapshot_fixture_close(&fixture);
}

static void what_is_given_twice_counts_once(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture,
	                      NODE("n1", "r1") NODE("n1", "r2") GROUP("g", "minMember: 1") GROUP("g", "minMember: 2")
	                              POD("p", OF("g"), ON("n1"), "") POD("p", OF("g"), ON("n1"), ""));
	assert_int_equal(cluster_node_count(fixture.snapshot->cycle.cluster), 1);
	assert_int_equal(free_gpus(&fixture, "n1"), 3);
	assert_int_equal(fixture.snapshot->cycle.group_count, 1);
	assert_int_equal(snapshot_fixture_group(&fixture, "g")->gang.tree[0].minimum, 1);
	snapshot_fixture_expect_verdict(&fixture, "n1", false, "twice");
	snapshot_fixture_expect_verdict(&fixture, "p", false, "twice");
	snapshot_fixture_expect_verdict(&fixture, "g", false, "duplicate");
	snapshot_fixture_close(&fixture);
}

static void a_pod_that_cannot_be_read_is_a_note_on_its_group(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture,
	                      GROUP("g",
	                            "minMember: 1") "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "
	                                            "ns, annotations: {pod-group-name: g}}, "
	                                            "spec: {schedulerName: platoon, containers: [{name: main, "
	                                            "resources: {requests: {cpu: much}}}]}}\n");
	assert_int_equal(fixture.snapshot->pod_count, 0);
	assert_int_equal(snapshot_fixture_about(&fixture, "g")->notes.count, 1);
	assert_non_null(strstr(snapshot_fixture_about(&fixture, "g")->notes.items[0].message, "pod p"));
	assert_true(snapshot_has_rejections(fixture.snapshot));
	snapshot_fixture_close(&fixture);
}

static void volumes_and_nominations(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(
		&fixture,
		NODE("n1", "r1") NODE("n2", "r2") GROUP(
			"g",
			"minMember: 1") "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, "
					"spec: {nodeAffinity: {required: "
					"{nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, values: "
					"[r2]}]}]}}}}\n"
					"---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, "
					"namespace: ns, annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}, "
					"spec: "
					"{volumeName: disk}}\n" POD(
						"p", OF("g"),
						OURS "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], ",
						"nominatedNodeName: n2"));
	assert_null(fixture.snapshot->pods[0].block);
	assert_string_equal(cluster_node_name(fixture.snapshot->cycle.cluster,
	                                      snapshot_fixture_member(&fixture, "p")->nominated),
	                    "n2");
	snapshot_fixture_close(&fixture);
}

static void what_has_no_effect_is_told(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(
		&fixture,
		TOPOLOGY NODE(
			"n1",
			"r1") "---\n{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "
			      "1}}}\n"
			      "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}\n"
			      "---\n{apiVersion: scheduling.example.com/v1, kind: PodGroup, metadata: {name: d}}\n");
	snapshot_fixture_expect_warning(&fixture, "topology cluster: 1 of 2 nodes lack a level label");
	snapshot_fixture_expect_warning(&fixture, "node n2 lacks rack");
	snapshot_fixture_expect_warning(&fixture, "1 object of kind Deployment (apps/v1)");
	snapshot_fixture_expect_warning(&fixture, "1 object of kind PodGroup (scheduling.example.com/v1)");
	snapshot_fixture_close(&fixture);
}

static void a_group_without_nodes_is_told(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture, GROUP("g", "minMember: 1"));
	snapshot_fixture_expect_warning(&fixture, "no usable Node");
	snapshot_fixture_close(&fixture);
}

static void an_empty_input_is_an_empty_cluster(void **state)
{
	struct snapshot_fixture fixture;
	snapshot_fixture_open(&fixture, "");
	assert_int_equal(fixture.snapshot->cycle.group_count, 0);
	assert_int_equal(cluster_node_count(fixture.snapshot->cycle.cluster), 0);
	assert_int_equal(snapshot_find_pod(fixture.snapshot, "ns", "p"), -1);
	assert_int_equal(fixture.snapshot->warning_count, 0);
	snapshot_fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_of_pods),
		cmocka_unit_test(since_when_a_group_has_its_nodes),
		cmocka_unit_test(node_that_is_not_there_is_told),
		cmocka_unit_test(pods_of_others),
		cmocka_unit_test(a_pod_and_a_group_may_share_a_name),
		cmocka_unit_test(strays_are_named),
		cmocka_unit_test(pods_of_a_leaf_in_order),
		cmocka_unit_test(priorities_and_protection),
		cmocka_unit_test(queues),
		cmocka_unit_test(queue_parents_never_form_a_circle),
		cmocka_unit_test(levels_are_resolved),
		cmocka_unit_test(unknown_topology_blocks_the_group_only),
		cmocka_unit_test(a_rejected_group_keeps_its_pods),
		cmocka_unit_test(what_is_given_twice_counts_once),
		cmocka_unit_test(a_pod_that_cannot_be_read_is_a_note_on_its_group),
		cmocka_unit_test(volumes_and_nominations),
		cmocka_unit_test(what_has_no_effect_is_told),
		cmocka_unit_test(a_group_without_nodes_is_told),
		cmocka_unit_test(an_empty_input_is_an_empty_cluster),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
