/* Kinds that a Karta describes: leaves per component, groups by keys, counts of pods, and Kartas with mistakes. */
#include "story.h"

#define KARTA(name, more, components, gang)                                                                            \
	"---\n{apiVersion: run.ai/v1alpha1, kind: Karta, metadata: {name: " name ", uid: k1}, spec: {"                 \
	"structureDefinition: {rootComponent: {name: flow, " more "kind: {group: jobs.example.com, version: v1, "      \
	"kind: Flow}}, childComponents: [" components "]}, optimizationInstructions: {gangScheduling: {" gang "}}}}\n"
#define FLOW(spec) WORKLOAD("jobs.example.com/v1", "Flow", "", spec)
#define FLOW_POD(labels) POD(OWNED("jobs.example.com/v1", "Flow", "w") "labels: {" labels "}, ")
#define ROLE(name, more)                                                                                               \
	"{name: " name ", ownerRef: flow, specDefinition: {podTemplateSpecPath: .spec.template}, podSelector: "        \
	"{componentTypeSelector: {keyPath: .metadata.labels.role, value: " name "}}, " more "}"
#define SCALE(paths) "scaleDefinition: {" paths "}"
#define MASTER ROLE("master", SCALE("replicasPath: \"1\""))
#define WORKER ROLE("worker", SCALE("replicasPath: .spec.worker.replicas, minReplicasPath: .spec.worker.min"))
#define LEAVES "subGroups: [{componentName: master}, {componentName: worker}]"
#define TREE(more) "podGroup: {name: training, " more "}"
#define SPEC "worker: {replicas: 4}"
#define ALL(stories) story_check_all(stories, sizeof(stories) / sizeof(*(stories)))

static void leaves(void **state)
{
	static const struct story stories[] = {
		{"a leaf per component",
	         KARTA("k", "", MASTER ", " WORKER, TREE(LEAVES)) FLOW(SPEC) FLOW_POD("role: worker"),
	         "pg-u1-training min=5/2 master:1 worker:4 -> worker"},
		{"a minimum makes the rest elastic",
	         KARTA("k", "", MASTER ", " WORKER, TREE(LEAVES)) FLOW("worker: {replicas: 4, min: 2}")
	                 FLOW_POD("role: master"),
	         "pg-u1-training min=3/2 master:1 worker:2 -> master"},
		{"topology of the whole and of a component",
	         KARTA("k", "", MASTER ", " WORKER,
	               TREE("topology: {topologyName: t, requiredTopologyLevel: zone, preferredTopologyLevel: rack}, "
	                    "subGroups: [{componentName: worker, topology: {topologyName: t, requiredTopologyLevel: "
	                    "rack, preferredTopologyLevel: host}}]")) FLOW(SPEC) FLOW_POD("role: worker"),
	         "pg-u1-training min=4@t,zone,rack/1 worker:4@t,rack,host -> worker"},
		{"without leaves everything is one",
	         KARTA("k", "", MASTER ", " WORKER, TREE("")) FLOW(SPEC) FLOW_POD("role: worker"),
	         "pg-u1-training min=5"},
		{"a leaf with components below it",
	         KARTA("k", "",
	               "{name: group, ownerRef: flow, scaleDefinition: {replicasPath: .spec.groups}}, "
	               "{name: worker, ownerRef: group, podSelector: {componentTypeSelector: {keyPath: "
	               ".metadata.labels.role}}, scaleDefinition: {replicasPath: .spec.size - 1}}, "
	               "{name: leader, ownerRef: group, scaleDefinition: {replicasPath: \"1\"}}",
	               TREE("subGroups: [{componentName: group}]")) FLOW("groups: 3, size: 4")
	                 FLOW_POD("role: anything"),
	         "pg-u1-training min=12/1 group:12 -> group"},
		{"several instances are added up",
	         KARTA("k", "",
	               ROLE("service", SCALE("replicasPath: \".spec.services[] | (.replicas // 1) * (.nodes // 1)\"")),
	               TREE("subGroups: [{componentName: service}]"))
	                 FLOW("services: {prefill: {replicas: 2, nodes: 3}, decode: {}}") FLOW_POD("role: service"),
	         "pg-u1-training min=7/1 service:7 -> service"},
		{"a pod of no component",
	         KARTA("k", "", MASTER ", " WORKER, TREE(LEAVES)) FLOW(SPEC) FLOW_POD("role: other"),
	         "pg-u1-training min=5/2 master:1 worker:4 ! unknown-subgroup"},
		{"the newer form wins",
	         KARTA("k", "", WORKER, TREE("") ", podGroups: [{name: old, members: [{componentName: worker}]}]")
	                 FLOW(SPEC) FLOW_POD("role: worker"),
	         "pg-u1-training min=4"},
	};
	ALL(stories);
}

#define MEMBERS(members) "podGroups: [{name: g, members: [" members "]}]"
#define BY_JOB(component) "{componentName: " component ", groupByKeyPaths: [.metadata.labels.job]}"
#define SERVICE                                                                                                        \
	"{name: service, ownerRef: flow, instanceIdPath: \".spec.services | to_entries[] | .key\", specDefinition: "   \
	"{podSpecPath: .spec}, scaleDefinition: {replicasPath: \".spec.services[] | .replicas\"}, podSelector: "       \
	"{componentInstanceSelector: {idPath: .metadata.labels.service}}}"

static void keys(void **state)
{
	static const struct story stories[] = {
		{"the whole workload by one key",
	         KARTA("k", "", MASTER ", " WORKER, MEMBERS(BY_JOB("flow"))) FLOW(SPEC)
	                 FLOW_POD("role: worker, job: j1"),
	         "pg-u1-j1 min=5"},
		{"one component",
	         KARTA("k", "", MASTER ", " WORKER, MEMBERS(BY_JOB("worker"))) FLOW(SPEC)
	                 FLOW_POD("role: worker, job: j1"),
	         "pg-u1-j1 min=4"},
		{"no keys",
	         KARTA("k", "", MASTER ", " WORKER, MEMBERS("{componentName: flow}")) FLOW(SPEC)
	                 FLOW_POD("role: worker"),
	         "pg-u1 min=5"},
		{"a key that is no name is made one",
	         KARTA("k", "", MASTER ", " WORKER, MEMBERS(BY_JOB("flow"))) FLOW(SPEC)
	                 FLOW_POD("role: worker, job: Prefill_A"),
	         "pg-u1-prefill-a-e4c4253d min=5"},
		{"each instance is a group of its own",
	         KARTA("k", "", SERVICE,
	               MEMBERS("{componentName: service, groupByKeyPaths: [.metadata.labels.service]}"))
	                 FLOW("services: {prefill: {replicas: 2}, decode: {replicas: 5}}") FLOW_POD("service: decode"),
	         "pg-u1-decode min=5"},
		{"an instance that the workload does not have counts with all",
	         KARTA("k", "", SERVICE,
	               MEMBERS("{componentName: service, groupByKeyPaths: [.metadata.labels.service]}"))
	                 FLOW("services: {prefill: {replicas: 2}, decode: {replicas: 5}}") FLOW_POD("service: x"),
	         "pg-u1-x min=7"},
		{"a filter picks the member",
	         KARTA("k", "", WORKER,
	               MEMBERS("{componentName: worker, filters: ['.metadata.labels.gpu == \"yes\"'], groupByKeyPaths: "
	                       "[.metadata.labels.gpu]}, {componentName: flow}")) FLOW(SPEC)
	                 FLOW_POD("role: worker, gpu: \"no\""),
	         "pg-u1 min=4"},
		{"a pod of no member",
	         KARTA("k", "", MASTER ", " WORKER, MEMBERS(BY_JOB("master"))) FLOW(SPEC)
	                 FLOW_POD("role: worker, job: j"),
	         "refused ! karta-invalid"},
		{"a pod without the key",
	         KARTA("k", "", MASTER ", " WORKER, MEMBERS(BY_JOB("flow"))) FLOW(SPEC) FLOW_POD("role: worker"),
	         "refused ! karta-query"},
		{"without any scale each template counts once",
	         KARTA("k", "", ROLE("a", "") ", " ROLE("b", ""), MEMBERS("{componentName: flow}")) FLOW("")
	                 FLOW_POD("role: a"),
	         "pg-u1 min=2"},
		{"a scale that is 0 waits for one pod",
	         KARTA("k", "", WORKER, MEMBERS("{componentName: flow}")) FLOW("worker: {replicas: 0}")
	                 FLOW_POD("role: worker"),
	         "pg-u1 min=1"},
	};
	ALL(stories);
}

static void which_karta(void **state)
{
	static const struct story stories[] = {
		{"none for the kind", FLOW(SPEC) FLOW_POD("role: worker"), "pg-w-u1 min=1"},
		{"one for another version",
	         KARTA("k", "", WORKER, TREE("")) WORKLOAD("jobs.example.com/v2", "Flow", "", SPEC)
	                 POD(OWNED("jobs.example.com/v2", "Flow", "w")),
	         "pg-w-u1 min=1"},
		{"one without gangs", KARTA("k", "", WORKER, "") FLOW(SPEC) FLOW_POD("role: worker"), "pg-w-u1 min=1"},
		{"two: the first by name",
	         KARTA("z", "", WORKER, TREE("")) KARTA("a", "", WORKER, TREE(LEAVES)) FLOW(SPEC)
	                 FLOW_POD("role: worker"),
	         "refused ! karta-invalid karta-invalid"},
		{"two that are both right",
	         KARTA("z", "", WORKER, MEMBERS("{componentName: flow}")) KARTA("a", "", WORKER, TREE("")) FLOW(SPEC)
	                 FLOW_POD("role: worker"),
	         "pg-u1-training min=4 ! karta-invalid"},
		{"kinds with a rule here keep it",
	         "---\n{apiVersion: run.ai/v1alpha1, kind: Karta, metadata: {name: k}, spec: {structureDefinition: "
	         "{rootComponent: {name: r, kind: {group: batch, version: v1, kind: Job}}}, optimizationInstructions: "
	         "{gangScheduling: {podGroup: {name: g}}}}}\n" WORKLOAD("batch/v1", "Job", "", "parallelism: 3")
	                 POD(OWNED("batch/v1", "Job", "w")),
	         "pg-w-u1 min=1"},
	};
	ALL(stories);
	const struct story off = {"switched off", KARTA("k", "", WORKER, TREE("")) FLOW(SPEC) FLOW_POD("role: worker"),
	                          "pg-w-u1 min=1"};
	story_check(&off, &(struct group_options){.ignore_kartas = true});
}

static void mistakes(void **state)
{
	static const struct story stories[] = {
		{"a leaf of no component",
	         KARTA("k", "", WORKER, TREE("subGroups: [{componentName: nobody}, {}]")) FLOW(SPEC)
	                 FLOW_POD("role: worker"),
	         "refused ! karta-invalid karta-invalid"},
		{"a leaf without pods",
	         KARTA("k", "", MASTER ", " WORKER, TREE(LEAVES)) FLOW("worker: {}") FLOW_POD("role: worker"),
	         "refused ! karta-invalid"},
		{"a query that is none",
	         KARTA("k", "", ROLE("worker", SCALE("replicasPath: \".spec.[\"")),
	               TREE("subGroups: [{componentName: worker}]")) FLOW(SPEC) FLOW_POD("role: worker"),
	         "refused ! karta-query"},
		{"a query that fails on this workload",
	         KARTA("k", "", ROLE("worker", SCALE("replicasPath: \".spec.worker[].replicas\"")),
	               TREE("subGroups: [{componentName: worker}]")) FLOW("worker: 3") FLOW_POD("role: worker"),
	         "refused ! karta-query"},
		{"a number that is none",
	         KARTA("k", "", ROLE("worker", SCALE("replicasPath: .spec.worker")),
	               TREE("subGroups: [{componentName: worker}]")) FLOW("worker: many") FLOW_POD("role: worker"),
	         "refused ! karta-query"},
		{"a negative number",
	         KARTA("k", "", ROLE("worker", SCALE("replicasPath: .spec.worker")),
	               TREE("subGroups: [{componentName: worker}]")) FLOW("worker: -3") FLOW_POD("role: worker"),
	         "refused ! karta-query"},
		{"more pods than can be counted",
	         KARTA("k", "scaleDefinition: {replicasPath: \"2000000000\"}, ",
	               ROLE("worker", SCALE("replicasPath: \"2000000000\"")), TREE("")) FLOW("")
	                 FLOW_POD("role: worker"),
	         "pg-u1-training min=2147483647 ! too-large"},
		{"components in a circle",
	         KARTA("k", "", "{name: a, ownerRef: b}, {name: b, ownerRef: a}", TREE("")) FLOW("") FLOW_POD(""),
	         "refused ! karta-invalid"},
		{"an owner that is not there, no name, a name twice",
	         KARTA("k", "", "{name: a, ownerRef: b}, {ownerRef: flow}, {name: a}", TREE("")) FLOW("") FLOW_POD(""),
	         "refused ! karta-invalid karta-invalid karta-invalid"},
		{"a name that is no text", KARTA("k", "", "{name: [a]}", TREE("")) FLOW("") FLOW_POD(""),
	         "refused ! karta-invalid karta-invalid"},
		{"a topology without name and one without level",
	         KARTA("k", "", WORKER,
	               TREE("topology: {requiredTopologyLevel: rack}, subGroups: [{componentName: worker, topology: "
	                    "{topologyName: t}}]")) FLOW(SPEC) FLOW_POD("role: worker"),
	         "refused ! topology-name-missing karta-invalid"},
	};
	ALL(stories);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves),
		cmocka_unit_test(keys),
		cmocka_unit_test(which_karta),
		cmocka_unit_test(mistakes),
	};
	return cmocka_run_group_tests_name("karta", tests, NULL, NULL);
}
