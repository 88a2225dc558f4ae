/* Several coordinations: minimum, blocking, dependencies, conflicts and what is said about them. */
#include "rollout/conflicts.h"
#include "rollout/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PREFILL, DECODE, ROUTER, ROLES };

static const struct segment_size pd_sizes[] = {{PREFILL, 5}, {DECODE, 3}};
static const struct segment_size dr_sizes[] = {{DECODE, 3}, {ROUTER, 2}};

struct merge_fixture {
	struct arena *arena;
	struct segment_role roles[ROLES];
	struct segment_rule rules[2];
	struct merge_input input;
};

static int set_up(void **state)
{
	struct merge_fixture *fixture = base_calloc(1, sizeof(*fixture));
	fixture->arena = arena_create();
	fixture->roles[PREFILL] = (struct segment_role){.name = "prefill", .desired = 300};
	fixture->roles[DECODE] = (struct segment_role){.name = "decode", .desired = 100};
	fixture->roles[ROUTER] = (struct segment_role){.name = "router", .desired = 50};
	fixture->rules[0] = (struct segment_rule){"pd", SEGMENT_ORDERED_READY, pd_sizes, 2};
	fixture->rules[1] = (struct segment_rule){"dr", SEGMENT_ORDERED_READY, dr_sizes, 2};
	fixture->input = (struct merge_input){.roles = fixture->roles,
	                                      .role_count = ROLES,
	                                      .rules = fixture->rules,
	                                      .rule_count = 2};
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct merge_fixture *fixture = *state;
	arena_destroy(fixture->arena);
	free(fixture);
	return 0;
}

static struct merge_plan *plan_with(struct merge_fixture *fixture, const int64_t current[ROLES],
                                    const int64_t ready[ROLES])
{
	for (size_t r = 0; r < ROLES; r++) {
		fixture->roles[r].current = current[r];
		fixture->roles[r].ready = ready[r];
	}
	return merge_targets(&fixture->input, fixture->arena);
}

static void assert_targets(const struct merge_plan *plan, int64_t prefill, int64_t decode, int64_t router)
{
	assert_int_equal(plan->roles[PREFILL].target, prefill);
	assert_int_equal(plan->roles[DECODE].target, decode);
	assert_int_equal(plan->roles[ROUTER].target, router);
}

static void test_the_slower_rule_decides(void **state)
{
	struct merge_fixture *fixture = *state;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){10, 6, 2}, (int64_t[]){10, 6, 2});
	assert_targets(plan, 15, 6, 4);
	assert_int_equal(plan->worst, 1); /* 1 of 34 is less than 2 of 60 */
	assert_true(plan->is_minimum_met);
}

static void test_waiting_holds_the_neighbour(void **state)
{
	struct merge_fixture *fixture = *state;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){5, 3, 2}, (int64_t[]){3, 3, 2});
	assert_targets(plan, 5, 3, 2);
	assert_int_equal(plan->roles[ROUTER].held_by, 0);
	assert_string_equal(merge_reason(&fixture->input, plan, ROUTER, fixture->arena),
	                    "waits for segment 1 of role prefill (coordination pd)");
	assert_false(plan->is_minimum_met);
	/* Growth is held, a smaller wish is not. */
	fixture->roles[ROUTER].desired = 1;
	plan = plan_with(fixture, (int64_t[]){5, 3, 2}, (int64_t[]){3, 3, 2});
	assert_targets(plan, 5, 3, 1);
}

/* One step far: the rule behind the neighbour goes on. */
static void test_blocking_is_not_passed_on(void **state)
{
	struct merge_fixture *fixture = *state;
	const struct segment_size sizes[][2] = {{{0, 1}, {1, 1}}, {{1, 1}, {2, 1}}, {{2, 1}, {3, 1}}};
	struct segment_role roles[4];
	struct segment_rule rules[3];
	for (size_t r = 0; r < 4; r++)
		roles[r] = (struct segment_role){.name = "role", .desired = 9, .current = 3, .ready = r == 0 ? 2 : 3};
	for (size_t k = 0; k < 3; k++)
		rules[k] = (struct segment_rule){"rule", SEGMENT_ORDERED_READY, sizes[k], 2};
	struct merge_input input = {.roles = roles, .role_count = 4, .rules = rules, .rule_count = 3};
	struct merge_plan *plan = merge_targets(&input, fixture->arena);
	assert_int_equal(plan->roles[1].target, 3);
	assert_int_equal(plan->roles[2].target, 3); /* shared with the neighbour */
	assert_int_equal(plan->roles[3].target, 4);
}

static void test_a_finished_rule_blocks_nobody(void **state)
{
	struct merge_fixture *fixture = *state;
	fixture->roles[PREFILL].desired = 10;
	fixture->roles[DECODE].desired = 6;
	fixture->roles[ROUTER].desired = 10;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){10, 6, 4}, (int64_t[]){9, 6, 4});
	assert_targets(plan, 10, 6, 6);
}

static void test_roles_without_a_rule_are_free(void **state)
{
	struct merge_fixture *fixture = *state;
	fixture->input.rule_count = 1;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){0, 0, 0}, (int64_t[]){0, 0, 0});
	assert_targets(plan, 5, 3, 50);
	assert_null(merge_reason(&fixture->input, plan, ROUTER, fixture->arena));
	fixture->input.rule_count = 0;
	plan = plan_with(fixture, (int64_t[]){0, 0, 0}, (int64_t[]){0, 0, 0});
	assert_targets(plan, 300, 100, 50);
	assert_int_equal(plan->worst, MERGE_NO_RULE);
}

/* Decode needs prefill: it waits for prefill's part of the segment, not for prefill's 300 replicas. */
static void test_dependency_within_segments(void **state)
{
	struct merge_fixture *fixture = *state;
	const struct linked_way needs[] = {{DECODE, PREFILL}};
	fixture->input.dependencies = needs;
	fixture->input.dependency_count = 1;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){0, 0, 0}, (int64_t[]){0, 0, 0});
	assert_targets(plan, 5, 0, 2);
	assert_string_equal(merge_reason(&fixture->input, plan, DECODE, fixture->arena),
	                    "waits for role prefill, which it depends on: 0 ready");
	plan = plan_with(fixture, (int64_t[]){5, 0, 2}, (int64_t[]){5, 0, 2});
	assert_targets(plan, 5, 3, 2);
	plan = plan_with(fixture, (int64_t[]){5, 3, 2}, (int64_t[]){5, 3, 2});
	assert_targets(plan, 10, 3, 4);
}

/* Linked only through decode, still part of one advance. */
static void test_dependency_across_linked_rules(void **state)
{
	struct merge_fixture *fixture = *state;
	const struct linked_way needs[] = {{PREFILL, ROUTER}};
	fixture->input.dependencies = needs;
	fixture->input.dependency_count = 1;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){0, 0, 0}, (int64_t[]){0, 0, 0});
	assert_targets(plan, 0, 3, 2);
	plan = plan_with(fixture, (int64_t[]){0, 3, 2}, (int64_t[]){0, 3, 2});
	assert_int_equal(plan->roles[PREFILL].target, 0); /* router is to have 4 */
	plan = plan_with(fixture, (int64_t[]){0, 3, 4}, (int64_t[]){0, 3, 4});
	assert_int_equal(plan->roles[PREFILL].target, 5);
}

/* Prefill needs the store, the store needs decode: through the rule both advance with prefill, so the store does not ask
 * for all of decode. A cache that only hangs on decode does. */
static void test_dependency_that_comes_back(void **state)
{
	struct merge_fixture *fixture = *state;
	enum { STORE = ROLES, CACHE, ALL };
	const struct linked_way needs[] = {{PREFILL, STORE}, {STORE, DECODE}, {CACHE, DECODE}};
	struct segment_role roles[ALL];
	memcpy(roles, fixture->roles, sizeof(fixture->roles));
	roles[STORE] = (struct segment_role){.name = "store", .desired = 7};
	roles[CACHE] = (struct segment_role){.name = "cache", .desired = 9};
	roles[DECODE].current = roles[DECODE].ready = 3;
	struct merge_input input = {roles, ALL, fixture->rules, 1, needs, 3};
	struct merge_plan *plan = merge_targets(&input, fixture->arena);
	assert_int_equal(plan->roles[STORE].target, 7);
	assert_int_equal(plan->roles[PREFILL].target, 0);
	assert_int_equal(plan->roles[CACHE].target, 0);
	roles[STORE].current = roles[STORE].ready = 7;
	plan = merge_targets(&input, fixture->arena);
	assert_int_equal(plan->roles[PREFILL].target, 5);
}

static void test_dependency_on_a_role_outside(void **state)
{
	struct merge_fixture *fixture = *state;
	const struct linked_way needs[] = {{PREFILL, ROUTER}, {77, 1}, {1, 77}};
	fixture->input.rule_count = 1;
	fixture->input.dependencies = needs;
	fixture->input.dependency_count = 3;
	struct merge_plan *plan = plan_with(fixture, (int64_t[]){0, 0, 50}, (int64_t[]){0, 0, 49});
	assert_targets(plan, 0, 3, 50);
	plan = plan_with(fixture, (int64_t[]){0, 0, 50}, (int64_t[]){0, 0, 50});
	assert_targets(plan, 5, 3, 50);
}

/* ---- conflicts ---- */

static const char *const role_names[] = {"prefill", "decode", "router"};

static void test_conflicts_are_all_found(void **state)
{
	struct merge_fixture *fixture = *state;
	const struct conflict_entry first[] = {{"prefill", 5}, {"decode", 3}};
	const struct conflict_entry second[] = {{"prefill", 10}, {"decod", 3}, {"router", 0}, {"prefill", 10}};
	const char *const listed[] = {"router", "prefill"};
	const struct conflict_rule rules[] = {
		{.name = "a", .entries = first, .count = 2},
		{.name = "b",
	         .progression = SEGMENT_ORDERED,
	         .entries = second,
	         .count = 4,
	         .listed = listed,
	         .listed_count = 2},
		{.name = "c"},
	};
	static const struct {
		enum conflict_kind kind;
		size_t rule;
		const char *message;
	} rows[] = {
		{CONFLICT_SIZE, 1,
	         "segment size conflict for role \"prefill\": coordination has segment size 10, but another "
	         "coordination "
	         "has 5"},
		{CONFLICT_PROGRESSION, 1,
	         "progression strategy conflict for role \"prefill\": coordination has strategy \"Ordered\", but "
	         "another "
	         "coordination has \"OrderedReady\""},
		{CONFLICT_ROLE, 1, "there is no role \"decod\""},
		{CONFLICT_SIZE_RANGE, 1, "segment size of role \"router\" is 0"},
		{CONFLICT_TWICE, 1, "role \"prefill\" is named twice in one coordination"},
		{CONFLICT_LISTED, 1, "role \"decod\" has a segment size but is not listed in roles"},
		{CONFLICT_EMPTY, 2, "segmentSize is empty"},
	};
	size_t count;
	struct conflict *found = conflicts_find(role_names, 3, rules, 3, fixture->arena, &count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(found[i].message, rows[i].message);
		assert_int_equal(found[i].kind, rows[i].kind);
		assert_int_equal(found[i].rule, rows[i].rule);
		assert_non_null(found[i].fix);
	}
	assert_int_equal(count, sizeof(rows) / sizeof(rows[0]));
}

static void test_agreement_is_no_conflict(void **state)
{
	struct merge_fixture *fixture = *state;
	const struct conflict_entry first[] = {{"prefill", 5}, {"decode", 3}},
				    second[] = {{"decode", 3}, {"router", 2}};
	const struct conflict_rule rules[] = {{.name = "a", .entries = first, .count = 2},
	                                      {.name = "b", .entries = second, .count = 2}};
	size_t count = 7;
	assert_null(conflicts_find(role_names, 3, rules, 2, fixture->arena, &count));
	assert_int_equal(count, 0);
}

static void test_mismatch_is_told(void **state)
{
	struct merge_fixture *fixture = *state;
	assert_string_equal(conflict_mismatch(fixture->roles, ROLES, &fixture->rules[0], fixture->arena),
	                    "role prefill needs 60 segments but role decode only 34: from segment 35 on the ratio of "
	                    "coordination pd is not kept");
	fixture->roles[PREFILL].desired = 170;
	assert_null(conflict_mismatch(fixture->roles, ROLES, &fixture->rules[0], fixture->arena));
	fixture->rules[0].count = 0;
	assert_null(conflict_mismatch(fixture->roles, ROLES, &fixture->rules[0], fixture->arena));
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_the_slower_rule_decides),        WITH_WORLD(test_waiting_holds_the_neighbour),
		WITH_WORLD(test_blocking_is_not_passed_on),      WITH_WORLD(test_a_finished_rule_blocks_nobody),
		WITH_WORLD(test_roles_without_a_rule_are_free),  WITH_WORLD(test_dependency_within_segments),
		WITH_WORLD(test_dependency_across_linked_rules), WITH_WORLD(test_dependency_that_comes_back),
		WITH_WORLD(test_dependency_on_a_role_outside),   WITH_WORLD(test_conflicts_are_all_found),
		WITH_WORLD(test_agreement_is_no_conflict),       WITH_WORLD(test_mismatch_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
