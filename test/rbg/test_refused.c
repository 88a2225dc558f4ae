/* Specs that cannot be meant: refused at the door with path and fix; where they got past it, a condition tells the same
 * and what runs is left alone. One table for both. */
#include "fixtures/control_fixture.h"

#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec: "
#define ROLES "roles: [{name: a, replicas: 3, template: " POD "}, {name: b, replicas: 2, template: " POD "}]"
#define LONG "a234567890123456789012345678901234567890123456789012345678901"

static const struct {
	const char *spec;
	const char *path, *message;
} rows[] = {
	{"{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {a: 1, x: 1}}}}]}",
         "spec.coordination[0].strategy.segmentPlacement.segmentSize.x", "there is no role"},
	{"{" ROLES ", coordination: [{name: u, roles: [a, x], strategy: {rollingUpdate: {maxSkew: 1}}}]}",
         "spec.coordination[0].roles[1]", "there is no role"},
	{"{roles: [{name: a, replicas: 3, dependencies: [x], template: " POD "}]}", "spec.roles[0].dependencies[0]",
         "there is no role"},
	{"{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {a: 0}}}}]}",
         "spec.coordination[0].strategy.segmentPlacement.segmentSize.a", "between 1"},
	{"{roles: [{name: a, replicas: 3, leaderWorkerSet: {size: 0}, template: " POD "}]}",
         "spec.roles[0].leaderWorkerSet.size", "between 1"},
	{"{roles: [{name: a, replicas: 3, dependencies: [b], template: " POD
         "}, {name: b, replicas: 2, dependencies: [a], template: " POD "}]}",
         "spec.roles[0].dependencies", "form a cycle"},
	{"{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {a: 1}}}}, {strategy: "
         "{segmentPlacement: {segmentSize: {a: 2}}}}]}",
         "spec.coordination[1].strategy.segmentPlacement.segmentSize.a", "segment size conflict"},
	{"{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {a: 1}}}}, {strategy: "
         "{segmentPlacement: {segmentSize: {a: 1}, progression: Ordered}}}]}",
         "spec.coordination[1].strategy.segmentPlacement.segmentSize.a", "progression strategy conflict"},
	{"{" ROLES ", coordination: [{strategy: {rollingDeploy: {roleDeployStep: {a: 1}, deployTopologyConstraint: "
         "{clusterTopologyName: moon, topologyLayerName: crater}}}}]}",
         "", "ClusterTopology"},
	{"{roles: [{name: a, replicas: 3, rolloutStrategy: {rollingUpdate: {maxUnavailable: 101%}}, template: " POD
         "}]}",
         "spec.roles[0].rolloutStrategy.rollingUpdate.maxUnavailable", "more than 100%"},
	{"{" ROLES ", coordination: [{name: u, roles: [a, b], strategy: {rollingUpdate: {maxSkew: 200%}}}]}",
         "spec.coordination[0].strategy.rollingUpdate.maxSkew", "more than 100%"},
	{"{roles: [{name: a, replicas: 3, template: " POD "}, {name: " LONG ", replicas: 2, template: " POD "}]}",
         "spec.roles[1].name", "63 are allowed"},
	{"{roles: [{name: a, replicas: 3, standalonePattern: {template: " POD
         "}, leaderWorkerPattern: {size: 2, template: "
         "" POD "}}]}",
         "spec.roles[0].leaderWorkerPattern", "exclude each other"},
	{"{roles: [{name: a, replicas: 3, customComponentsPattern: {components: [{name: x, template: " POD
         "}]}, leaderWorkerPattern: {size: 2, template: " POD "}}]}",
         "spec.roles[0].customComponentsPattern", "exclude each other"},
	{"{roles: [{name: a, replicas: 3, template: " POD "}, {name: a, replicas: 2, template: " POD "}]}",
         "spec.roles[1].name", "there twice"},
	{"{roles: []}", "spec.roles", "no roles"},
	{"{roles: [{name: a, replicas: 3}]}", "spec.roles[0].template", "no template"},
	{"{roles: [{name: a, replicas: -3, template: " POD "}]}", "spec.roles[0].replicas", "between 0"},
	{"{roles: [{name: A_1, replicas: 3, template: " POD "}]}", "spec.roles[0].name", "not a name for a role"},
	{"{roles: [{name: a, replicas: 3, components: [{name: x, template: " POD "}, {name: x, template: " POD "}]}]}",
         ".components[1].name", "there twice"},
	{"{roles: [{name: a, replicas: 200000, template: " POD "}]}", "spec.roles", "100000"},
	{"{roles: [{name: a, replicas: 3, rolloutStrategy: {rollingUpdate: {maxUnavailable: 0}}, template: " POD "}]}",
         "spec.roles[0].rolloutStrategy.rollingUpdate.maxUnavailable", "both 0"},
	{"{" ROLES ", coordination: [{strategy: {segmentPlacement: {segmentSize: {a: 1}, rollback: {}}}}]}",
         "spec.coordination[0].strategy.segmentPlacement.rollback.deadlineSeconds", "missing"},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void at_the_door(void **state)
{
	struct control_fixture *fixture = *state;
	for (size_t i = 0; i < ROWS; i++) {
		char text[2048];
		snprintf(text, sizeof(text), HEAD "%s\n", rows[i].spec);
		int code = control_apply(fixture, text);
		const char *answer = fixture->base.text.text;
		if (code != 422 || !strstr(answer, rows[i].message))
			fail_msg("%s: %d %s", rows[i].spec, code, answer);
		/* Roles are told in the form they are kept in, so only the end of some paths is the same. */
		const char *end = strrchr(rows[i].path, '.');
		if (!strstr(answer, end ? end : rows[i].path))
			fail_msg("%s: %s", rows[i].path, answer);
	}
	assert_string_equal(fixture_names(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", NULL, NULL),
	                    "");
}

/* Name and uid of every pod: the same text means the same pods. */
static void list_pods(struct control_fixture *fixture, char *out, size_t room)
{
	static const char *const names[] = {"llm-a-0", "llm-a-1", "llm-a-2", "llm-b-0", "llm-b-1"};
	size_t used = 0;
	for (size_t i = 0; i < 5; i++) {
		int code = fixture_get(&fixture->base, "pods", "default", names[i]);
		const char *uid = code == 200 ? fixture_at(&fixture->base, "metadata.uid") : "gone";
		used += (size_t)snprintf(out + used, room - used, "%s %s\n", names[i], uid);
	}
}

static void past_the_door(void **state)
{
	struct control_fixture *fixture = *state;
	char before[1024], after[1024];
	control_nodes(fixture, 2, 8, 2);
	control_apply(fixture, HEAD "{" ROLES "}\n");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 5);
	list_pods(fixture, before, sizeof(before));
	assert_null(strstr(before, "gone"));
	for (size_t i = 0; i < ROWS; i++) {
		char text[2048];
		snprintf(text, sizeof(text), HEAD "%s\n", rows[i].spec);
		control_apply(fixture, text);
		control_run(fixture, 30);
		const char *condition = control_condition(fixture, "llm", "CoordinationConflict");
		if (strncmp(condition, "True", 4) != 0 || !strstr(condition, rows[i].message))
			fail_msg("%s: %s", rows[i].spec, condition);
		list_pods(fixture, after, sizeof(after));
		assert_string_equal(before, after);
		control_apply(fixture, HEAD "{coordination: null, " ROLES "}\n");
		control_run(fixture, 30);
		assert_string_equal(control_condition(fixture, "llm", "CoordinationConflict"), "False NoConflict: ");
		list_pods(fixture, after, sizeof(after));
		assert_string_equal(before, after);
	}
	assert_int_equal(control_pods(fixture, "llm", ""), 5);
}

#define POLICY                                                                                                         \
	"apiVersion: workloads.x-k8s.io/v1alpha2\nkind: CoordinatedPolicy\nmetadata: {name: p}\nspec: {targetRef: "    \
	"{name: llm}, policies: [{name: u, roles: [a, x], strategy: {rollingUpdate: {maxSkew: 1}}}]}\n"

/* A policy and its group are judged together, whichever comes last. */
static void policies_at_the_door(void **state)
{
	struct control_fixture *fixture = *state;
	assert_int_equal(control_apply(fixture, HEAD "{" ROLES "}\n"), 201);
	assert_int_equal(control_apply(fixture, POLICY), 422);
	assert_non_null(strstr(fixture->base.text.text, "spec.policies[0].roles[1]"));
	fixture_delete(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", NULL);
	control_run(fixture, 10);
	assert_int_equal(control_apply(fixture, POLICY), 201);
	assert_int_equal(control_apply(fixture, HEAD "{" ROLES "}\n"), 422);
	assert_non_null(strstr(fixture->base.text.text, "CoordinatedPolicy p: spec.policies[0].roles[1]"));
}

static void policies_past_the_door(void **state)
{
	struct control_fixture *fixture = *state;
	char before[1024], after[1024];
	control_nodes(fixture, 2, 8, 2);
	control_apply(fixture, HEAD "{" ROLES "}\n");
	control_run(fixture, 20);
	list_pods(fixture, before, sizeof(before));
	control_apply(fixture, POLICY);
	control_run(fixture, 20);
	const char *condition = control_condition(fixture, "llm", "CoordinationConflict");
	if (!strstr(condition, "CoordinatedPolicy p: spec.policies[0].roles[1]"))
		fail_msg("%s", condition);
	list_pods(fixture, after, sizeof(after));
	assert_string_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(at_the_door, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(past_the_door, control_setup_open_door, control_teardown),
		cmocka_unit_test_setup_teardown(policies_at_the_door, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(policies_past_the_door, control_setup_open_door, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
