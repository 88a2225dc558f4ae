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
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 3, 8, 2);
	assert_int_equal(control_apply(fixture, LAYERS), 201);
	/* The shape that the design prints. */
	assert_int_equal(control_apply(fixture, HEAD
	                               "  coordination:\n"
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
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 12);
	assert_string_equal(fixture_names(&fixture->base, "podgroups.scheduling.run.ai", "default", NULL, NULL),
	                    "llm-pd-rollout-deploy-0 llm-pd-rollout-deploy-1");
	char first[64];
	snprintf(first, sizeof(first), "%s", control_domains(fixture, SUBGROUP "=llm-pd-rollout-deploy-0", ""));
	assert_int_equal(strlen(first), 2); /* one node */
	const char *second = control_domains(fixture, SUBGROUP "=llm-pd-rollout-deploy-1", "");
	assert_int_equal(strlen(second), 2);
	assert_string_not_equal(first, second);
	assert_int_equal(control_events(fixture, "BatchReleased"), 2);
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", "llm-prefill-5"), 200);
	assert_non_null(strstr(fixture->base.text.text, "\"rbg.workloads.x-k8s.io/role-subgroup-size\":\"4\""));
	assert_non_null(
		strstr(fixture->base.text.text, "\"rolebasedgroup.workloads.x-k8s.io/role-instance-index\":\"5\""));
	assert_int_equal(fixture_get(&fixture->base, "clustertopologies.workloads.x-k8s.io", "",
	                             "rbg-cluster-topology"),
	                 200);
	assert_at(&fixture->base, "status.currentTopologyLevel", "host < TOR < Pod");
	assert_at(&fixture->base, "metadata.finalizers.0", "workloads.x-k8s.io/topology-in-use");
}

#define STEPS_2_2(constraint)                                                                                          \
	HEAD "  coordination:\n  - name: pd\n    strategy: {rollingDeploy: {roleDeployStep: {prefill: 2, decode: "     \
	     "2}" constraint "}}\n  roles:\n" ROLE("prefill", "4") ROLE("decode", "4")

/* 4P4D where only six pods fit: 2P2D run, nothing half. */
static void constrained(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 6, 2);
	assert_int_equal(control_apply(fixture, STEPS_2_2("")), 201);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", "prefill"), 2);
	assert_int_equal(control_ready(fixture, "llm", "decode"), 2);
	assert_int_equal(control_pods(fixture, "llm", ""), 8);
	assert_string_equal(control_group_at(fixture, "llm", "status.segments"), "1/2");
	assert_int_equal(fixture_delete(&fixture->base, "nodes", "", "n1", NULL), 200);
}

/* A batch keeps its gate until the one before is scheduled; with OrderedReady until it is ready. */
static void batches_wait_behind_the_gate(void **state)
{
	struct control_fixture *fixture = *state;
	assert_int_equal(control_apply(fixture, STEPS_2_2(", progression: OrderedReady")), 201);
	control_run(fixture, 5);
	assert_int_equal(control_pods(fixture, "llm", ""), 8);
	fixture_get(&fixture->base, "pods", "default", "llm-prefill-1");
	assert_at(&fixture->base, "spec.schedulingGates", "");
	fixture_get(&fixture->base, "pods", "default", "llm-prefill-2");
	assert_at(&fixture->base, "spec.schedulingGates.0.name", "workloads.x-k8s.io/rolling-deploy");
	control_nodes(fixture, 2, 8, 2);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
}

static void fault_tolerance_across_domains(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	control_apply(fixture, LAYERS);
	control_apply(fixture, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: TOR}"));
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
	/* Both racks could hold everything; each batch is in a rack of its own, and both have both roles. */
	assert_int_equal(strlen(control_domains(fixture, SUBGROUP "=llm-pd-0", "rack")), 2);
	assert_int_equal(strlen(control_domains(fixture, SUBGROUP "=llm-pd-1", "rack")), 2);
	assert_string_equal(control_domains(fixture, "rbg.workloads.x-k8s.io/role-name=prefill", "rack"), "r1 r2");
	assert_string_equal(control_domains(fixture, "rbg.workloads.x-k8s.io/role-name=decode", "rack"), "r1 r2");
}

/* soft: one domain if there is one, more if there is none. */
static void soft(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 2, 1);
	control_apply(fixture, LAYERS);
	control_apply(fixture, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: TOR, constraintMode: soft}"));
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
}

static void hard_waits(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 2, 1);
	control_apply(fixture, LAYERS);
	control_apply(fixture, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: TOR, constraintMode: hard}"));
	control_run(fixture, 30);
	assert_int_equal(control_bound(fixture, "llm", ""), 0);
}

/* Pods of another scheduler get the rule as affinity. */
static void other_schedulers(void **state)
{
	struct control_fixture *fixture = *state;
	control_apply(fixture, LAYERS);
	assert_int_equal(
		control_apply(fixture, HEAD
	                      "  coordination:\n  - name: pd\n    strategy: {rollingDeploy: {roleDeployStep: {p: 2}, "
	                      "deployTopologyConstraint: {topologyLayerName: host}}}\n"
	                      "  roles:\n  - {name: p, replicas: 4, template: {spec: {schedulerName: volcano, "
	                      "containers: [{name: c, image: i}]}}}\n"),
		201);
	control_run(fixture, 3);
	fixture_get(&fixture->base, "pods", "default", "llm-p-3");
	const char *required = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.";
	char path[256];
	snprintf(path, sizeof(path), "%stopologyKey", required);
	assert_at(&fixture->base, path, "kubernetes.io/hostname");
	snprintf(path, sizeof(path), "%slabelSelector.matchExpressions.0.values.0", required);
	assert_at(&fixture->base, path, "llm-pd-1");
	snprintf(path, sizeof(path), "%slabelSelector.matchExpressions.1.values.0", required);
	assert_at(&fixture->base, path, "llm");
}

#define AFFINITY(strategy, more)                                                                                       \
	HEAD "  coordination:\n  - name: pd\n    strategy: {segmentPlacement: {segmentSize: {prefill: 2, decode: 1}, " \
	     "topologyAffinity: {topologyKey: rack, strategy: " strategy more "}}}\n  roles:\n" ROLE("prefill", "4")   \
		     ROLE("decode", "2")

static void segments_in_one_domain(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 6, 2, 2); /* racks of two nodes, four places each */
	assert_int_equal(control_apply(fixture, AFFINITY("RequireSegmentAffinity", ", spreadSegments: true")), 201);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	char first[64];
	snprintf(first, sizeof(first), "%s", control_domains(fixture, SUBGROUP "=llm-pd-0", "rack"));
	assert_int_equal(strlen(first), 2);
	assert_int_equal(strlen(control_domains(fixture, SUBGROUP "=llm-pd-1", "rack")), 2);
	assert_string_not_equal(first, control_domains(fixture, SUBGROUP "=llm-pd-1", "rack"));
}

static void segments_may_or_must(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 6, 1, 1); /* no rack holds a segment */
	control_apply(fixture, AFFINITY("RequireSegmentAffinity", ""));
	control_run(fixture, 20);
	assert_int_equal(control_bound(fixture, "llm", ""), 0);
	fixture_delete(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	control_run(fixture, 5);
	assert_int_equal(control_pods(fixture, "llm", ""), 0);
	control_apply(fixture, AFFINITY("PreferSegmentAffinity", ""));
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	fixture_delete(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	control_run(fixture, 5);
	control_apply(fixture, AFFINITY("BestEffort", ""));
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
}

static void topologies_are_protected(void **state)
{
	struct control_fixture *fixture = *state;
	control_apply(fixture, LAYERS);
	control_run(fixture, 2);
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology",
	                          "{'spec':{'layers':[{'name':'x','key':'y'}]}}"),
	            422);
	assert_int_equal(control_apply(fixture, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: moon}")),
	                 422);
	assert_int_equal(control_apply(fixture, STEPS_2_2(", deployTopologyConstraint: {clusterTopologyName: none, "
	                                                  "topologyLayerName: host}")),
	                 422);
	assert_int_equal(control_apply(fixture, STEPS_2_2(", deployTopologyConstraint: {topologyLayerName: host}")),
	                 201);
	control_run(fixture, 2);
	fixture_delete(&fixture->base, "clustertopologies.workloads.x-k8s.io", "", "rbg-cluster-topology", NULL);
	control_run(fixture, 5);
	assert_int_equal(fixture_get(&fixture->base, "clustertopologies.workloads.x-k8s.io", "",
	                             "rbg-cluster-topology"),
	                 200);
	fixture_delete(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	control_run(fixture, 5);
	assert_int_equal(fixture_get(&fixture->base, "clustertopologies.workloads.x-k8s.io", "",
	                             "rbg-cluster-topology"),
	                 404);
}

#define POLICY(name, role)                                                                                             \
	"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: " name                     \
	"}\nspec: {targetRef: {name: llm}, policies: [{name: " name                                                    \
	", strategy: {rollingDeploy: {roleDeployStep: {" role                                                          \
	": 2}, deployTopologyConstraint: {topologyLayerName: host}}}}]}\n"

/* Each policy of a group refers to a topology on its own. */
static void two_policies_refer_to_one_topology(void **state)
{
	struct control_fixture *fixture = *state;
	const char *topologies = "clustertopologies.workloads.x-k8s.io",
		   *policies = "coordinatedpolicies.workloads.x-k8s.io";
	control_apply(fixture, LAYERS);
	assert_int_equal(control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "4") ROLE("decode", "4")), 201);
	assert_int_equal(control_apply(fixture, POLICY("one", "prefill")), 201);
	assert_int_equal(control_apply(fixture, POLICY("two", "decode")), 201);
	control_run(fixture, 2);
	assert_code(&fixture->base, fixture_delete(&fixture->base, policies, "default", "one", NULL), 200);
	control_run(fixture, 2);
	fixture_delete(&fixture->base, topologies, "", "rbg-cluster-topology", NULL);
	control_run(fixture, 2);
	assert_int_equal(fixture_get(&fixture->base, topologies, "", "rbg-cluster-topology"), 200);
	assert_code(&fixture->base, fixture_delete(&fixture->base, policies, "default", "two", NULL), 200);
	control_run(fixture, 2);
	assert_int_equal(fixture_get(&fixture->base, topologies, "", "rbg-cluster-topology"), 404);
}

/* A wish that is taken back leaves nothing behind in the PodGroups. */
static void from_require_to_prefer(void **state)
{
	static const char *const strategies[] = {"RequireSegmentAffinity", "PreferSegmentAffinity"};
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	for (int i = 0; i < 2; i++) {
		char text[1024];
		snprintf(
			text, sizeof(text),
			"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec: "
			"{roles: [{name: a, replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}], "
			"coordination: [{name: s, strategy: {segmentPlacement: {segmentSize: {a: 2}, topologyAffinity: "
			"{topologyKey: rack, strategy: %s}}}}]}\n",
			strategies[i]);
		assert_true(control_apply(fixture, text) < 300);
		control_run(fixture, 20);
		assert_int_equal(fixture_get(&fixture->base, "podgroups.scheduling.run.ai", "default", "llm-s-0"), 200);
		assert_at(&fixture->base, "spec.topologyConstraint.requiredTopologyLevel", i == 0 ? "rack" : "");
		assert_at(&fixture->base, "spec.topologyConstraint.preferredTopologyLevel", i == 1 ? "rack" : "");
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
	struct control_fixture *fixture = *state;
	char one[2048];
	control_nodes(fixture, 4, 8, 2); /* two racks */
	for (int i = 0; i < 3; i++) {
		const char *const names[] = {"x1", "x2", "x3"};
		snprintf(one, sizeof(one), text, names[i]);
		assert_int_equal(control_apply(fixture, one), 201);
		control_run(fixture, 30);
	}
	assert_int_equal(control_ready(fixture, "x1", ""), 5);
	assert_int_equal(control_ready(fixture, "x2", ""), 5);
	assert_int_equal(control_bound(fixture, "x3", ""), 0); /* both racks are taken */
	char first[64];
	snprintf(first, sizeof(first), "%s", control_domains(fixture, "rbg.workloads.x-k8s.io/group-name=x1", "rack"));
	assert_null(strchr(first, ' '));
	assert_string_not_equal(first, control_domains(fixture, "rbg.workloads.x-k8s.io/group-name=x2", "rack"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_batches_by_host, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(constrained, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(batches_wait_behind_the_gate, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(fault_tolerance_across_domains, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(soft, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(hard_waits, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(other_schedulers, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(segments_in_one_domain, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(segments_may_or_must, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(topologies_are_protected, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(two_policies_refer_to_one_topology, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(exclusive_domains, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(from_require_to_prefer, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
