/* Topology-coordinated deploys: batches in one domain, one after the other, apart from each other. */
#include "fixtures/control_fixture.h"

#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"
#define ROLE(name, replicas) "  - {name: " name ", replicas: " replicas ", template: " POD "}\n"
#define LAYERS                                                                                                         \
	"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: ClusterTopology\nmetadata: {name: rbg-cluster-topology}\n"     \
	"spec: {layers: [{name: host, key: kubernetes.io/hostname}, {name: TOR, key: rack}, {name: Pod, key: "         \
	"zone}]}\n"
#define SUBGROUP "rbg.workloads.x-k8s.io/deploy-topology-coordination-name"

static void two_batches_by_host(void **state)
{
	struct town *town = *state;
	town_nodes(town, 3, 8, 2);
	assert_int_equal(town_apply(town, LAYERS), 201);
	/* The shape that the design prints. */
	assert_int_equal(town_apply(town,
	                            HEAD "  coordination:\n"
	                                 "  - name: pd-rollout-deploy\n"
	                                 "    strategy:\n"
	                                 "      rollingDeploy: {prefill: 4, decode: 2}\n"
	                                 "      deployTopologyConstraint: {clusterTopologyName: rbg-cluster-topology,\n"
	                                 "        topologyLayerName: host, constraintMode: hard, podGroupPolicy: nil}\n"
	                                 "  - name: pd-rollout\n"
	                                 "    roles: [prefill, decode]\n"
	                                 "    strategy: {rollingUpdate: {maxSkew: 1%, maxUnavailable: 10%}}\n"
	                                 "  roles:\n" ROLE("prefill", "8") ROLE("decode", "4")),
	                 201);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 12);
	assert_string_equal(kit_names(&town->kit, "podgroups.scheduling.run.ai", "default", NULL, NULL),
	                    "llm-pd-rollout-deploy-0 llm-pd-rollout-deploy-1");
	char first[64];
	snprintf(first, sizeof(first), "%s", town_domains(town, SUBGROUP "=llm-pd-rollout-deploy-0", ""));
	assert_int_equal(strlen(first), 2); /* one node */
	const char *second = town_domains(town, SUBGROUP "=llm-pd-rollout-deploy-1", "");
	assert_int_equal(strlen(second), 2);
	assert_string_not_equal(first, second);
	assert_int_equal(town_events(town, "BatchReleased"), 2);
	assert_int_equal(kit_get(&town->kit, "pods", "default", "llm-prefill-5"), 200);
	assert_non_null(strstr(town->kit.text.text, "\"rbg.workloads.x-k8s.io/role-subgroup-size\":\"4\""));
	assert_non_null(strstr(town->kit.text.text, "\"rolebasedgroup.workloads.x-k8s.io/role-instance-index\":\"5\""));
	assert_int_equal(kit_get(&town->kit, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology"), 200);
	assert_at(&town->kit, "status.currentTopologyLevel", "host < TOR < Pod");
	assert_at(&town->kit, "metadata.finalizers.0", "workloads.x-k8s.io/topology-in-use");
}

#define STEPS_2_2(constraint)                                                                                          \
	HEAD "  coordination:\n  - name: pd\n    strategy: {rollingDeploy: {roleDeployStep: {prefill: 2, decode: "     \
	     "2}" constraint "}}\n  roles:\n" ROLE("prefill", "4") ROLE("decode", "4")

/* 4P4D where only six pods fit: 2P2D run, nothing half. */
static void constrained(void **state)
{
	struct town *town = *state;
	town_nodes(town, 1, 6, 2);
	assert_int_equal(town_apply(town, STEPS_2_2("")), 201);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", "prefill"), 2);
	assert_int_equal(town_ready(town, "llm", "decode"), 2);
	assert_int_equal(town_pods(town, "llm", ""), 8);
	assert_string_equal(town_group_at(town, "llm", "status.segments"), "1/2");
	assert_int_equal(kit_delete(&town->kit, "nodes", "", "n1", NULL), 200);
}

/* A batch keeps its gate until the one before is scheduled; with OrderedReady until it is ready. */
static void batches_wait_behind_the_gate(void **state)
{
	struct town *town = *state;
	assert_int_equal(town_apply(town, STEPS_2_2(", progression: OrderedReady")), 201);
	town_run(town, 5);
	assert_int_equal(town_pods(town, "llm", ""), 8);
	kit_get(&town->kit, "pods", "default", "llm-prefill-1");
	assert_at(&town->kit, "spec.schedulingGates", "");
	kit_get(&town->kit, "pods", "default", "llm-prefill-2");
	assert_at(&town->kit, "spec.schedulingGates.0.name", "workloads.x-k8s.io/rolling-deploy");
	town_nodes(town, 2, 8, 2);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 8);
}

static void fault_tolerance_across_domains(void **state)
{
	struct town *town = *state;
	town_nodes(town, 4, 8, 2);
	town_apply(town, LAYERS);
	town_apply(town, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: TOR}"));
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 8);
	/* Both racks could hold everything; each batch is in a rack of its own, and both have both roles. */
	assert_int_equal(strlen(town_domains(town, SUBGROUP "=llm-pd-0", "rack")), 2);
	assert_int_equal(strlen(town_domains(town, SUBGROUP "=llm-pd-1", "rack")), 2);
	assert_string_equal(town_domains(town, "rbg.workloads.x-k8s.io/role-name=prefill", "rack"), "r1 r2");
	assert_string_equal(town_domains(town, "rbg.workloads.x-k8s.io/role-name=decode", "rack"), "r1 r2");
}

/* soft: one domain if there is one, more if there is none. */
static void soft(void **state)
{
	struct town *town = *state;
	town_nodes(town, 4, 2, 1);
	town_apply(town, LAYERS);
	town_apply(town, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: TOR, constraintMode: soft}"));
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 8);
}

static void hard_waits(void **state)
{
	struct town *town = *state;
	town_nodes(town, 4, 2, 1);
	town_apply(town, LAYERS);
	town_apply(town, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: TOR, constraintMode: hard}"));
	town_run(town, 30);
	assert_int_equal(town_bound(town, "llm", ""), 0);
}

/* Pods of another scheduler get the rule as affinity. */
static void other_schedulers(void **state)
{
	struct town *town = *state;
	town_apply(town, LAYERS);
	assert_int_equal(
		town_apply(town,
	                   HEAD "  coordination:\n  - name: pd\n    strategy: {rollingDeploy: {roleDeployStep: {p: 2}, "
	                        "deployTopologyConstraint: {topologyLayerName: host}}}\n"
	                        "  roles:\n  - {name: p, replicas: 4, template: {spec: {schedulerName: volcano, "
	                        "containers: [{name: c, image: i}]}}}\n"),
		201);
	town_run(town, 3);
	kit_get(&town->kit, "pods", "default", "llm-p-3");
	const char *required = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.";
	char path[256];
	snprintf(path, sizeof(path), "%stopologyKey", required);
	assert_at(&town->kit, path, "kubernetes.io/hostname");
	snprintf(path, sizeof(path), "%slabelSelector.matchExpressions.0.values.0", required);
	assert_at(&town->kit, path, "llm-pd-1");
	snprintf(path, sizeof(path), "%slabelSelector.matchExpressions.1.values.0", required);
	assert_at(&town->kit, path, "llm");
}

#define AFFINITY(strategy, more)                                                                                       \
	HEAD "  coordination:\n  - name: pd\n    strategy: {segmentPlacement: {segmentSize: {prefill: 2, decode: 1}, " \
	     "topologyAffinity: {topologyKey: rack, strategy: " strategy more "}}}\n  roles:\n" ROLE("prefill", "4")   \
		     ROLE("decode", "2")

static void segments_in_one_domain(void **state)
{
	struct town *town = *state;
	town_nodes(town, 6, 2, 2); /* racks of two nodes, four places each */
	assert_int_equal(town_apply(town, AFFINITY("RequireSegmentAffinity", ", spreadSegments: true")), 201);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	char first[64];
	snprintf(first, sizeof(first), "%s", town_domains(town, SUBGROUP "=llm-pd-0", "rack"));
	assert_int_equal(strlen(first), 2);
	assert_int_equal(strlen(town_domains(town, SUBGROUP "=llm-pd-1", "rack")), 2);
	assert_string_not_equal(first, town_domains(town, SUBGROUP "=llm-pd-1", "rack"));
}

static void segments_may_or_must(void **state)
{
	struct town *town = *state;
	town_nodes(town, 6, 1, 1); /* no rack holds a segment */
	town_apply(town, AFFINITY("RequireSegmentAffinity", ""));
	town_run(town, 20);
	assert_int_equal(town_bound(town, "llm", ""), 0);
	kit_delete(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	town_run(town, 5);
	assert_int_equal(town_pods(town, "llm", ""), 0);
	town_apply(town, AFFINITY("PreferSegmentAffinity", ""));
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	kit_delete(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	town_run(town, 5);
	town_apply(town, AFFINITY("BestEffort", ""));
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 6);
}

static void topologies_are_protected(void **state)
{
	struct town *town = *state;
	town_apply(town, LAYERS);
	town_run(town, 2);
	assert_code(&town->kit,
	            kit_merge(&town->kit, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology",
	                      "{'spec':{'layers':[{'name':'x','key':'y'}]}}"),
	            422);
	assert_int_equal(town_apply(town, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: moon}")), 422);
	assert_int_equal(town_apply(town, STEPS_2_2(", deployTopologyConstraint: {clusterTopologyName: none, "
	                                            "topologyLayerName: host}")),
	                 422);
	assert_int_equal(town_apply(town, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: host}")), 201);
	town_run(town, 2);
	kit_delete(&town->kit, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology", NULL);
	town_run(town, 5);
	assert_int_equal(kit_get(&town->kit, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology"), 200);
	kit_delete(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	town_run(town, 5);
	assert_int_equal(kit_get(&town->kit, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology"), 404);
}

/* A wish that is taken back leaves nothing behind in the PodGroups. */
static void from_require_to_prefer(void **state)
{
	static const char *const strategies[] = {"RequireSegmentAffinity", "PreferSegmentAffinity"};
	struct town *town = *state;
	town_nodes(town, 4, 8, 2);
	for (int i = 0; i < 2; i++) {
		char text[1024];
		snprintf(
			text, sizeof(text),
			"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec: "
			"{roles: [{name: a, replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}], "
			"coordination: [{name: s, strategy: {segmentPlacement: {segmentSize: {a: 2}, topologyAffinity: "
			"{topologyKey: rack, strategy: %s}}}}]}\n",
			strategies[i]);
		assert_true(town_apply(town, text) < 300);
		town_run(town, 20);
		assert_int_equal(kit_get(&town->kit, "podgroups.scheduling.run.ai", "default", "llm-s-0"), 200);
		assert_at(&town->kit, "spec.topologyConstraint.requiredTopologyLevel", i == 0 ? "rack" : "");
		assert_at(&town->kit, "spec.topologyConstraint.preferredTopologyLevel", i == 1 ? "rack" : "");
	}
}

/* Each group has racks to itself. */
static void exclusive_domains(void **state)
{
	static const char text[] =
		"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: %s, annotations: "
		"{rbg.workloads.x-k8s.io/group-exclusive-topology: rack}}\nspec:\n  roles:\n"
		"  - {name: a, replicas: 3, standalonePattern: {template: {spec: {containers: [{name: c, image: i, "
		"resources: "
		"{limits: {nvidia.com/gpu: 1}}}]}}}}\n"
		"  - {name: b, replicas: 2, standalonePattern: {template: {spec: {containers: [{name: c, image: i, "
		"resources: "
		"{limits: {nvidia.com/gpu: 1}}}]}}}}\n";
	struct town *town = *state;
	char one[2048];
	town_nodes(town, 4, 8, 2); /* two racks */
	for (int i = 0; i < 3; i++) {
		const char *const names[] = {"x1", "x2", "x3"};
		snprintf(one, sizeof(one), text, names[i]);
		assert_int_equal(town_apply(town, one), 201);
		town_run(town, 30);
	}
	assert_int_equal(town_ready(town, "x1", ""), 5);
	assert_int_equal(town_ready(town, "x2", ""), 5);
	assert_int_equal(town_bound(town, "x3", ""), 0); /* both racks are taken */
	char first[64];
	snprintf(first, sizeof(first), "%s", town_domains(town, "rbg.workloads.x-k8s.io/group-name=x1", "rack"));
	assert_null(strchr(first, ' '));
	assert_string_not_equal(first, town_domains(town, "rbg.workloads.x-k8s.io/group-name=x2", "rack"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_batches_by_host, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(constrained, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(batches_wait_behind_the_gate, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(fault_tolerance_across_domains, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(soft, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(hard_waits, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(other_schedulers, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(segments_in_one_domain, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(segments_may_or_must, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(topologies_are_protected, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(exclusive_domains, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(from_require_to_prefer, town_setup, town_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
