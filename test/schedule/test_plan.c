/* The plan and its JSON contract. */
#include "fixtures/snapshot_fixture.h"

#include "schedule/plan.h"

#include <string.h>

static struct doc *write_plan(struct snapshot_fixture *fixture, struct plan **plan)
{
	enum cycle_action actions[] = {ACTION_ALLOCATE};
	struct error error = {0};
	struct buffer text = {0};
	*plan = plan_run(fixture->snapshot, actions, 1);
	assert_non_null(*plan);
	struct build *build = build_create();
	build_write(build, plan_write(*plan, build), DOC_JSON_PRETTY, &text);
	build_destroy(build);
	struct doc *doc = doc_parse_json(text.text, text.length, &error);
	assert_non_null(doc);
	buffer_free(&text);
	return doc;
}

static int64_t number(const struct val *val, const char *key)
{
	int64_t out = -1;
	assert_int_equal(val_int(val_get(val, key), &out), 0);
	return out;
}

static void the_contract(void **state)
{
	struct snapshot_fixture fixture;
	struct plan *plan;
	snapshot_fixture_open(
		&fixture,
		NODE("n1", "r1") TOPOLOGY GROUP(
			"fits",
			"subGroups: [{name: a, minMember: 1}, {name: b, minMember: 1}]") POD("fits-1", IN("fits", "b"),
	                                                                                     OURS,
	                                                                                     "") POD("fits-0",
	                                                                                             IN("fits", "a"),
	                                                                                             ON("n1"),
	                                                                                             "phase: Running")
			GROUP("bad", "minMember: -1") POD("bad-0", OF("bad"), OURS, "") GROUP(
				"wide",
				"minMember: 9, topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}")
				POD("w0", OF("wide"), OURS, "") POD("w1", OF("wide"), OURS, "")
					POD("w2", OF("wide"), OURS, "") POD("w3", OF("wide"), OURS, "")
						POD("w4", OF("wide"), OURS, "") POD("w5", OF("wide"), OURS, "")
							POD("w6", OF("wide"), OURS, "") POD("w7", OF("wide"), OURS, "")
								POD("w8", OF("wide"), OURS, ""));
	struct doc *doc = write_plan(&fixture, &plan);
	const struct val *root = doc_root(doc);
	static const char *const keys[] = {"bindings", "reservations", "evictions", "groups", "admission", "warnings"};
	assert_int_equal(val_count(root), 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(val_kind(val_get(root, keys[i])), VAL_LIST);

	const struct val *binding = val_item(val_get(root, "bindings"), 0);
	assert_int_equal(val_count(val_get(root, "bindings")), 1);
	assert_string_equal(val_str(val_get(binding, "namespace"), ""), "ns");
	assert_string_equal(val_str(val_get(binding, "pod"), ""), "fits-1");
	assert_string_equal(val_str(val_get(binding, "node"), ""), "n1");

	const struct val *groups = val_get(root, "groups"), *bad = val_item(groups, 0), *fits = val_item(groups, 1),
			 *wide = val_item(groups, 2);
	assert_int_equal(val_count(groups), 3);
	assert_string_equal(val_str(val_get(bad, "name"), ""), "bad");
	assert_string_equal(val_str(val_get(val_item(val_get(bad, "reasons"), 0), "code"), ""), "Rejected");
	assert_string_equal(val_str(val_get(fits, "state"), ""), "Placed");
	assert_int_equal(number(fits, "placed"), 2);
	assert_int_equal(number(fits, "minimum"), 2);
	const struct val *sub_groups = val_get(fits, "subGroups");
	assert_int_equal(val_count(sub_groups), 2);
	assert_string_equal(val_str(val_get(val_item(sub_groups, 0), "name"), ""), "a");
	assert_int_equal(number(val_item(sub_groups, 0), "placed"), 1);
	assert_int_equal(number(val_item(sub_groups, 1), "minimum"), 1);

	assert_string_equal(val_str(val_get(wide, "state"), ""), "Never");
	assert_string_equal(val_str(val_get(wide, "proved"), ""), "ever");
	const struct val *reason = val_item(val_get(wide, "reasons"), 0);
	static const char *const fields[] = {"code", "message", "level", "domain", "have", "need"};
	assert_int_equal(val_count(reason), 6);
	for (size_t i = 0; i < 6; i++)
		assert_non_null(val_get(reason, fields[i]));

	const struct val *verdict = val_item(val_get(root, "admission"), 0);
	assert_int_equal(val_count(val_get(root, "admission")), 1);
	assert_string_equal(val_str(val_get(verdict, "kind"), ""), "PodGroup");
	assert_string_equal(val_str(val_get(verdict, "name"), ""), "bad");
	assert_false(val_bool(val_get(verdict, "allowed"), true));
	assert_int_equal(val_kind(val_get(verdict, "messages")), VAL_LIST);
	doc_destroy(doc);
	snapshot_fixture_close(&fixture);
}

static void a_second_cycle_continues(void **state)
{
	struct snapshot_fixture fixture;
	struct plan *plan;
	snapshot_fixture_open(&fixture, NODE("n1", "r1") GROUP("g", "minMember: 1") POD("p", OF("g"), OURS, ""));
	doc_destroy(write_plan(&fixture, &plan));
	assert_int_equal(plan->binding_count, 1);
	doc_destroy(write_plan(&fixture, &plan));
	assert_int_equal(plan->binding_count, 1);
	assert_int_equal(plan->groups[0].placed, 1);
	assert_int_equal(plan->groups[0].reason_count, 0);
	snapshot_fixture_close(&fixture);
}

static void names_of_actions(void **state)
{
	enum cycle_action action;
	for (int i = 0; i < ACTION_COUNT; i++) {
		const char *name = cycle_action_name((enum cycle_action)i);
		assert_int_equal(cycle_action_parse(name, strlen(name), &action), 0);
		assert_int_equal((int)action, i);
	}
	assert_int_equal(cycle_action_parse("allocat", 7, &action), -1);
	assert_int_equal(cycle_action_parse("allocated", 9, &action), -1);
	assert_int_equal(cycle_action_parse("", 0, &action), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_contract),
		cmocka_unit_test(a_second_cycle_continues),
		cmocka_unit_test(names_of_actions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
