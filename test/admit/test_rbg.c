/* RoleBasedGroup, CoordinatedPolicy and ClusterTopology: what is wrong is told with path and fix, all at once. */
#include "verdict.h"

#include "admit/rbg.h"

#define POD "{spec: {containers: [{name: c, image: i}]}}"

static const char group[] =
	"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: g}\nspec: ";
static const char policy[] =
	"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: g}\nspec: ";
static const char topology[] =
	"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: ClusterTopology\nmetadata: {name: t}\nspec: ";
static const char beside[] =
	"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: ClusterTopology\nmetadata: {name: rbg-cluster-topology}\nspec: "
	"{layers: [{name: host, key: kubernetes.io/hostname}]}\n---\n"
	"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: g}\nspec: ";

static void roles(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"good", "{roles: [{name: a, replicas: 3, template: " POD "}]}", {{0}}},
		{"none", "{roles: []}", {{'E', "spec.roles", "no roles"}}},
		{"twice",
	         "{roles: [{name: a, template: " POD "}, {name: a, template: " POD "}]}",
	         {{'E', "spec.roles[1].name", "twice"}}},
		{"no template", "{roles: [{name: a}]}", {{'E', "spec.roles[0].template", "no template"}}},
		{"no containers",
	         "{roles: [{name: a, template: {spec: {containers: []}}}]}",
	         {{'E', "spec.roles[0].template.spec.containers", "no containers"}}},
		{"annotations nothing acts upon",
	         "{roles: [{name: a, annotations: {rbg.workloads.x-k8s.io/role-inplace-scheduling: Required}, "
	         "template: "
	         "{metadata: {annotations: {rolebasedgroup.workloads.x-k8s.io/port-allocator: '{}'}}, spec: "
	         "{containers: "
	         "[{name: c, image: i}]}}}]}",
	         {{'W', "spec.roles[0].template.metadata.annotations.rolebasedgroup.workloads.x-k8s.io/port-allocator",
	           "no effect"}}},
		{"annotations of a component",
	         "{roles: [{name: a, components: [{name: x, annotations: {rbg.workloads.x-k8s.io/no-such: x, "
	         "example.com/y: z, rolebasedgroup.workloads.x-k8s.io/port-allocator: '{}'}, template: " POD "}]}]}",
	         {{'W', "spec.roles[0].components[0].annotations.rbg.workloads.x-k8s.io/no-such", "no such annotation"},
	          {'W', "spec.roles[0].components[0].annotations.rolebasedgroup.workloads.x-k8s.io/port-allocator",
	           "no effect"}}},
		{"values that nobody can read",
	         "{roles: [{name: a, annotations: {rbg.workloads.x-k8s.io/role-inplace-scheduling: Always, "
	         "rbg.workloads.x-k8s.io/role-inplace-scheduling-avoid: 'a, b c', "
	         "rbg.workloads.x-k8s.io/role-workload-type: v1/Pod}, template: {metadata: {annotations: "
	         "{rolebasedgroup.workloads.x-k8s.io/port-allocator: '{'}}, spec: {containers: [{name: c, image: "
	         "i}]}}}]}",
	         {{'E', "spec.roles[0].annotations.rbg.workloads.x-k8s.io/role-inplace-scheduling",
	           "none of the values"},
	          {'E', "spec.roles[0].annotations.rbg.workloads.x-k8s.io/role-inplace-scheduling-avoid",
	           "node labels"},
	          {'E', "spec.roles[0].annotations.rbg.workloads.x-k8s.io/role-workload-type", "none of the values"},
	          {'E', "spec.roles[0].template.metadata.annotations.rolebasedgroup.workloads.x-k8s.io/port-allocator",
	           "not JSON"}}},
		{"annotations that say what is done anyway",
	         "{roles: [{name: a, annotations: {rbg.workloads.x-k8s.io/role-instance-pattern: Stateful, "
	         "rbg.workloads.x-k8s.io/role-instance-gang-scheduling: 'true', "
	         "rbg.workloads.x-k8s.io/role-workload-type: workloads.x-k8s.io/v1alpha2/RoleInstanceSet}, "
	         "template: " POD "}]}",
	         {{0}}},
		{"a grace that nothing waits for",
	         "{roles: [{name: a, rolloutStrategy: {rollingUpdate: {type: RecreatePod, inPlaceUpdateStrategy: "
	         "{gracePeriodSeconds: "
	         "5}}}, "
	         "template: " POD "}]}",
	         {{'W', "spec.roles[0].rolloutStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds",
	           "no effect"}}},
		{"a restart policy that is none",
	         "{roles: [{name: a, restartPolicy: Always, template: " POD "}]}",
	         {{'E', "spec.roles[0].restartPolicy", "RecreateRBGOnPodRestart"}}},
		{"a field that components do not have",
	         "{roles: [{name: a, components: [{name: x, sice: 2, template: " POD "}]}]}",
	         {{'W', "spec.roles[0].components[0].sice", ""}}},
		{"two patterns",
	         "{roles: [{name: a, standalonePattern: {template: " POD "}, leaderWorkerPattern: {template: " POD
	         "}}]}",
	         {{'E', "spec.roles[0].leaderWorkerPattern", "exclude each other"}}},
		{"two templates",
	         "{roleTemplates: [{name: t, template: " POD
	         "}], roles: [{name: a, templateRef: {name: t}, template: " POD "}]}",
	         {{'E', "spec.roles[0].templateRef", "exclude each other"}}},
		{"a template that is not there",
	         "{roles: [{name: a, templateRef: {name: t}}]}",
	         {{'E', "spec.roles[0].templateRef.name", "no role template"}}},
		{"a reference",
	         "{roleTemplates: [{name: t, template: " POD "}], roles: [{name: a, templateRef: {name: t}}]}",
	         {{0}}},
		{"size 0",
	         "{roles: [{name: a, template: " POD ", leaderWorkerSet: {size: 0}}]}",
	         {{'E', "spec.roles[0].leaderWorkerSet.size", "between 1"}}},
		{"a dependency that is not there",
	         "{roles: [{name: a, dependencies: [b], template: " POD "}]}",
	         {{'E', "spec.roles[0].dependencies[0]", "no role"}}},
		{"a cycle",
	         "{roles: [{name: a, dependencies: [c], template: " POD "}, {name: b, dependencies: [a], template: " POD
	         "}, {name: c, dependencies: [b], template: " POD "}]}",
	         {{'E', "spec.roles[0].dependencies", "cycle"}}},
		{"itself",
	         "{roles: [{name: a, dependencies: [a], template: " POD "}]}",
	         {{'E', "spec.roles[0].dependencies", "cycle"}}},
		{"a long name",
	         "{roles: [{name: a23456789012345678901234567890123456789012345678901234567890, template: " POD "}]}",
	         {{'E', "spec.roles[0].name", "64 characters, 63 are allowed"}}},
		{"percent",
	         "{roles: [{name: a, rolloutStrategy: {rollingUpdate: {maxUnavailable: 101%, partition: 200%}}, "
	         "template: " POD "}]}",
	         {{'E', "spec.roles[0].rolloutStrategy.rollingUpdate.maxUnavailable", "more than 100%"},
	          {'E', "spec.roles[0].rolloutStrategy.rollingUpdate.partition", "more than 100%"}}},
		{"nothing may move",
	         "{roles: [{name: a, rolloutStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}, template: " POD
	         "}]}",
	         {{'E', "spec.roles[0].rolloutStrategy.rollingUpdate.maxUnavailable", "both 0"}}},
		{"a slip of the pen",
	         "{roles: [{name: a, replica: 3, template: " POD "}]}",
	         {{'W', "spec.roles[0].replica", "no such field"}}},
		{"negative",
	         "{roles: [{name: a, replicas: -1, template: " POD "}]}",
	         {{'E', "spec.roles[0].replicas", "between 0"}}},
		{"twins",
	         "{roles: [{name: a, components: [{name: x, template: " POD "}, {name: x, template: " POD "}]}]}",
	         {{'E', "spec.roles[0].components[1].name", "twice"}}},
		{"ports",
	         "{roles: [{name: a, servicePorts: [{name: x, port: 1}, {name: x, port: 0}, {port: 1}, {name: w}], "
	         "template: " POD "}]}",
	         {{'E', "spec.roles[0].servicePorts[1].name", "twice"},
	          {'E', "spec.roles[0].servicePorts[1].port", "between 1"},
	          {'E', "spec.roles[0].servicePorts[2].name", "needs a name"},
	          {'E', "spec.roles[0].servicePorts[2].port", "twice"},
	          {'E', "spec.roles[0].servicePorts[3].port", "no number"}}},
		{"a template that makes no pod",
	         "{roles: [{name: a, labels: {x: 1}, template: {spec: {containers: [{name: c, resources: {requests: "
	         "{cpu: much}}}]}}}]}",
	         {{'E', "spec.roles[0].template.spec.containers[0].resources.requests.cpu", NULL},
	          {'E', "spec.roles[0].labels.x", NULL}}},
		{"leaders of nobody",
	         "{roles: [{name: a, sharedServiceSelection: LeaderOnly, template: " POD "}]}",
	         {{'E', "spec.roles[0].sharedServiceSelection", "have leaders"}}},
		{"order",
	         "{roles: [{name: a, podManagementPolicy: Ordered, template: " POD "}]}",
	         {{'E', "spec.roles[0].podManagementPolicy", NULL}}},
		{"other kinds", "{roles: {a: b}}", {{'E', "spec.roles", "list"}, {'E', "spec.roles", "no roles"}}},
	};
	verdict_check_all(group, rows, COUNT_OF(rows));
}

#define ROLES "roles: [{name: p, replicas: 4, template: " POD "}, {name: d, replicas: 2, template: " POD "}]"

static void coordinations(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"good",
	         "{" ROLES ", coordination: [{name: x, strategy: {segmentPlacement: {segmentSize: {p: 2, d: 1}}}}]}",
	         {{0}}},
		{"the other name",
	         "{" ROLES ", coordinationRequirements: [{strategy: {segmentPlacement: {segmentSize: {p: 2}}}}]}",
	         {{'W', "spec.coordinationRequirements", "read as coordination"}}},
		{"sizes",
	         "{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {p: 2}}}}, {strategy: "
	         "{segmentPlacement: {segmentSize: {p: 3}}}}]}",
	         {{'E', "spec.coordination[1].strategy.segmentPlacement.segmentSize.p",
	           "segment size conflict for role \"p\""}}},
		{"sets that differ",
	         "{" ROLES ", coordination: [{roles: [p, d], strategy: {segmentPlacement: {segmentSize: {p: 2}}}}]}",
	         {{'E', "spec.coordination[0].strategy.segmentPlacement.segmentSize.d", "has no segment size"}}},
		{"progression",
	         "{" ROLES
	         ", coordination: [{strategy: {segmentPlacement: {segmentSize: {p: 2}, progression: Fast}}}]}",
	         {{'E', "spec.coordination[0].strategy.segmentPlacement.progression", "not a progression"}}},
		{"unknown role",
	         "{" ROLES ", coordination: [{roles: [p, x], strategy: {rollingUpdate: {maxSkew: 10%}}}]}",
	         {{'E', "spec.coordination[0].roles[1]", "no role"}}},
		{"both paces",
	         "{" ROLES
	         ", coordination: [{strategy: {segmentPlacement: {segmentSize: {p: 2}}, scaling: {maxSkew: 10%}}}]}",
	         {{'E', "spec.coordination[0].strategy.scaling", "exclude"}}},
		{"two gangs for a role",
	         "{" ROLES
	         ", coordination: [{strategy: {segmentPlacement: {gang: Segment, segmentSize: {p: 2}}}}, {strategy: "
	         "{segmentPlacement: {gang: Segment, segmentSize: {p: 2, d: 1}}}}]}",
	         {{'E', "spec.coordination[1].strategy.segmentPlacement.segmentSize.p", "already grouped"}}},
		{"no topology key",
	         "{" ROLES
	         ", coordination: [{strategy: {segmentPlacement: {segmentSize: {p: 2}, topologyAffinity: {}}}}]}",
	         {{'E', "spec.coordination[0].strategy.segmentPlacement.topologyAffinity.topologyKey",
	           "not a node label"}}},
		{"half of a wish",
	         "{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {p: 0}, canary: {}, rollback: "
	         "{deadline: 3}}}}]}",
	         {{'E', "spec.coordination[0].strategy.segmentPlacement.segmentSize.p", "between 1"},
	          {'E', "spec.coordination[0].strategy.segmentPlacement.canary.segments", "missing"},
	          {'W', "spec.coordination[0].strategy.segmentPlacement.rollback.deadline", "no such field"},
	          {'E', "spec.coordination[0].strategy.segmentPlacement.rollback.deadlineSeconds", "missing"}}},
		{"a topology alone",
	         "{" ROLES
	         ", coordination: [{strategy: {rollingDeploy: {roleDeployStep: {p: 2}, deployTopologyConstraint: "
	         "{topologyLayerName: host}}}}]}",
	         {{'W', "spec.coordination[0].strategy.rollingDeploy.deployTopologyConstraint.clusterTopologyName",
	           "does not exist"}}},
		{"the printed form",
	         "{" ROLES ", coordination: [{strategy: {rollingDeploy: {p: 2, d: 1}}}]}",
	         {{'W', "spec.coordination[0].strategy.rollingDeploy", "old form"}}},
	};
	verdict_check_all(group, rows, COUNT_OF(rows));
	static const struct row known[] = {
		{"a layer",
	         "{" ROLES
	         ", coordination: [{strategy: {rollingDeploy: {roleDeployStep: {p: 2}, deployTopologyConstraint: "
	         "{topologyLayerName: host, constraintMode: soft}}}}]}",
	         {{0}}},
		{"no such layer",
	         "{" ROLES
	         ", coordination: [{strategy: {rollingDeploy: {roleDeployStep: {p: 2}, deployTopologyConstraint: "
	         "{topologyLayerName: Host}}}}]}",
	         {{'E', "spec.coordination[0].strategy.rollingDeploy.deployTopologyConstraint.topologyLayerName",
	           "no layer \"Host\""}}},
	};
	verdict_check_all(beside, known, COUNT_OF(known));
}

static void policies(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"good",
	         "{targetRef: {name: x}, policies: [{name: a, roles: [p, d], strategy: {scaling: {maxSkew: 5%}}}]}",
	         {{0}}},
		{"none", "{policies: []}", {{'E', "spec.policies", "no policies"}}},
		{"no roles",
	         "{policies: [{name: a, strategy: {rollingUpdate: {maxSkew: 5}}}]}",
	         {{'E', "spec.policies[0].roles", "names no roles"}}},
		{"twice",
	         "{policies: [{name: a, roles: [p], strategy: {scaling: {}}}, {name: a, roles: [p], strategy: "
	         "{scaling: {}}}]}",
	         {{'E', "spec.policies[1].name", "twice"}}},
	};
	verdict_check_all(policy, rows, COUNT_OF(rows));
}

/* What a group and its policies say must fit together, whichever comes last. */
static void together(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"good",
	         "{targetRef: {name: g}, policies: [{name: a, roles: [p, d], strategy: {scaling: {}}}]}",
	         {{0}}},
		{"unknown roles",
	         "{targetRef: {name: g}, policies: [{name: a, roles: [p, x], strategy: {scaling: {}}}, {name: b, "
	         "strategy: {segmentPlacement: {segmentSize: {q: 1}}}}]}",
	         {{'E', "spec.policies[0].roles[1]", "no role"},
	          {'E', "spec.policies[1].strategy.segmentPlacement.segmentSize.q", "no role \"q\""}}},
		{"sizes that differ from those of the group",
	         "{targetRef: {name: g}, policies: [{name: a, strategy: {segmentPlacement: {segmentSize: {p: 3}}}}]}",
	         {{'E', "spec.policies[0].strategy.segmentPlacement.segmentSize.p", "segment size conflict"}}},
		{"a name that is taken",
	         "{targetRef: {name: g}, policies: [{name: seg, roles: [p, d], strategy: {rollingUpdate: {maxSkew: "
	         "1}}}]}",
	         {{'E', "spec.policies[0].name", "spec.coordination[0]"}}},
		{"nobody to act on",
	         "{targetRef: {name: other}, policies: [{name: a, roles: [x], strategy: {scaling: {}}}]}",
	         {{'W', "spec.targetRef.name", "no RoleBasedGroup \"other\""}}},
	};
	static const char beside_group[] =
		"apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: g}\nspec: {" ROLES
		", coordination: [{name: seg, strategy: {segmentPlacement: {segmentSize: {p: 2, d: 1}}}}]}\n---\n"
		"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: z}\nspec: ";
	verdict_check_all(beside_group, rows, COUNT_OF(rows));
	static const struct row groups[] = {
		{"good", "{" ROLES "}", {{0}}},
		{"a role is missing",
	         "{roles: [{name: p, template: " POD "}]}",
	         {{'E', "CoordinatedPolicy g: spec.policies[0].roles[1]", "no role"}}},
		{"progressions that differ",
	         "{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {d: 1}, progression: "
	         "Parallel}}}]}",
	         {{'E', "CoordinatedPolicy h: spec.policies[0].strategy.segmentPlacement.segmentSize.d",
	           "progression strategy conflict"}}},
	};
	static const char beside_policies[] =
		"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: g}\nspec: "
		"{policies: [{name: a, roles: [p, d], strategy: {rollingUpdate: {maxSkew: 1}}}]}\n---\n"
		"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: h}\nspec: "
		"{targetRef: {name: g}, policies: [{name: b, strategy: {segmentPlacement: {segmentSize: {d: 1}}}}]}\n"
		"---\napiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: g}\nspec: ";
	verdict_check_all(beside_policies, &groups[0], 1);
	verdict_check_all(beside_policies, &groups[2], 1);
	static const char beside_policy[] =
		"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: g}\nspec: "
		"{policies: [{name: a, roles: [p, d], strategy: {rollingUpdate: {maxSkew: 1}}}]}\n"
		"---\napiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: g}\nspec: ";
	verdict_check_all(beside_policy, groups, 2);
}

static void sets(void **state)
{
	(void)state;
	static const char head[] =
		"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroupSet\nmetadata: {name: g}\nspec: ";
	static const struct row rows[] = {
		{"good", "{replicas: 2, groupTemplate: {spec: {" ROLES "}}}", {{0}}},
		{"flat", "{replicas: 2, template: {" ROLES "}}", {{0}}},
		{"no template", "{replicas: 2}", {{'E', "spec.groupTemplate.spec", "no template"}}},
		{"both",
	         "{template: {" ROLES "}, groupTemplate: {spec: {" ROLES "}}}",
	         {{'E', "spec.template", "exclude each other"}}},
		{"what is wrong inside",
	         "{replicas: -1, groupTemplate: {spec: {roles: []}}}",
	         {{'E', "spec.replicas", "between 0"}}},
		{"what is wrong with a group",
	         "{groupTemplate: {spec: {roles: [{name: a, dependencies: [b], template: " POD "}]}}}",
	         {{'E', "spec.groupTemplate.spec.roles[0].dependencies[0]", "no role"}}},
		{"names of members count",
	         "{replicas: 1000, template: {roles: [{name: "
	         "a2345678901234567890123456789012345678901234567890123456, template: " POD "}]}}",
	         {{'E', "spec.template.roles[0].name", "64 characters, 63 are allowed"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void topologies(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"good", "{layers: [{name: Host, key: kubernetes.io/hostname}, {name: TOR, key: rack}]}", {{0}}},
		{"the printed form", "{Layers: [{name: Host, key: kubernetes.io/hostname}]}", {{0}}},
		{"none", "{layers: []}", {{'E', "spec.layers", "1 to 16"}}},
		{"twice",
	         "{layers: [{name: a, key: b}, {name: a, key: b}]}",
	         {{'E', "spec.layers[1].name", "used twice"}, {'E', "spec.layers[1].key", "used twice"}}},
		{"half", "{layers: [{name: a}]}", {{'E', "spec.layers[0].key", "needs a key"}}},
		{"bad key", "{layers: [{name: a, key: 'b c'}]}", {{'E', "spec.layers[0].key", "label key"}}},
		{"host above",
	         "{layers: [{name: a, key: rack}, {name: b, key: kubernetes.io/hostname}]}",
	         {{'E', "spec.layers", "smallest layer"}}},
		{"by scope",
	         "{layers: [{name: a, key: rack}, {name: b, key: kubernetes.io/hostname}], topologyScope: {a: 2, b: "
	         "1}}",
	         {{0}}},
		{"scope of some",
	         "{layers: [{name: a, key: x}, {name: b, key: z}], topologyScope: {a: 2, c: 1}}",
	         {{'E', "spec.topologyScope.c", "no layer"}, {'E', "spec.topologyScope", "1 of 2"}}},
		{"the same scope",
	         "{layers: [{name: a, key: x}, {name: b, key: z}], topologyScope: {a: 2, b: 2}}",
	         {{'E', "spec.topologyScope.b", "same number"}}},
	};
	verdict_check_all(topology, rows, COUNT_OF(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles),    cmocka_unit_test(coordinations), cmocka_unit_test(policies),
		cmocka_unit_test(together), cmocka_unit_test(sets),          cmocka_unit_test(topologies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
