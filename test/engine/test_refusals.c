/* What a cycle remembers of refusals: proofs until something they depend on changes, searches that gave up for a while. */
#include "cluster_fixture.h"

#include "engine/cycle/refusal_cache.h"
#include "engine/cycle/refusals.h"

struct row {
	const char *story;
	int second;
	uint64_t budget;
	size_t hits;
	int64_t again; /* second; -1: nothing is to be asked again */
	enum group_state is;
	int taken; /* devices that somebody else holds on another node */
};

static void check_row(const struct cycle *cycle, size_t group, const struct row *row)
{
	int64_t again = row->again < 0 ? INT64_MAX : row->again * INT64_C(1000000000);
	if (cycle->groups[group].state != row->is || cycle->retry_at != again ||
	    refusal_cache_hits(cycle->refusal_cache) != row->hits)
		fail_msg("%s: %s, %zu times remembered, to be asked again at %lld", row->story,
		         group_state_name(cycle->groups[group].state), refusal_cache_hits(cycle->refusal_cache),
		         (long long)cycle->retry_at);
}

/* A search that gave up is asked again when something changed, after a second; a proof is never asked for twice. */
static void remembered_refusals(void **state)
{
	struct cluster_fixture fixture;
	struct fixture_group groups[] = {
		{.name = "parts", .tree = "3(3@rack 3@rack 4@rack)", .pods = "- - - | - - - | - - - -"}, {0}};
	struct fixture_group never[] = {{.name = "never", .tree = "2(4@rack 4@rack)", .pods = "- - - - | - - - -"},
	                                {0}};
	static const struct row table[] = {
		{"asked, and given up", 5, 1, 0, -1, GROUP_UNDECIDED, 0},
		{"not asked", 5, 1, 1, -1, GROUP_UNDECIDED, 0},
		{"nothing changed: not asked, though it would be found now", 5, 0, 2, -1, GROUP_UNDECIDED, 0},
		{"nothing changed for an hour: not asked", 3605, 0, 3, -1, GROUP_UNDECIDED, 0},
		{"asked at once after an hour, for the cluster is another", 3605, 1, 3, -1, GROUP_UNDECIDED, 1},
		{"another again: asked, but not in the same second", 3605, 0, 4, 3606, GROUP_UNDECIDED, 2},
		{"a clock that was set back: asked", 2, 1, 4, -1, GROUP_UNDECIDED, 2},
		{"found", 7, 0, 4, -1, GROUP_PLACED, 3},
	};
	int held = 0, class_;
	(void)state;
	cluster_fixture_create(&fixture, "n1:3/r1 n2:3/r1 n3:2/r2 n4:2/r2 n5:4/r3", NULL, groups);
	class_ = fixture.cycle.groups[0].gang.pods[0].pod_class;
	fixture.cycle.refusal_cache = refusal_cache_create(0);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		fixture.cycle.groups[0].reasons = (struct reasons){0};
		fixture.cycle.budget = table[i].budget;
		for (; held < table[i].taken; held++)
			cluster_occupy(fixture.cycle.cluster, class_, 4, OCCUPY_RUNNING);
		cluster_fixture_run(&fixture, "allocate", table[i].second);
		check_row(&fixture.cycle, 0, &table[i]);
	}
	refusal_cache_destroy(fixture.cycle.refusal_cache);
	cluster_fixture_destroy(&fixture);
	cluster_fixture_create(&fixture, "n1:3/r1 n2:3/r1 n3:1/r2 n4:2/r2", NULL, never);
	fixture.cycle.refusal_cache = refusal_cache_create(0);
	for (int second = 0; second < 100; second += 10) {
		fixture.cycle.groups[0].reasons = (struct reasons){0};
		cluster_fixture_run(&fixture, "allocate", second);
		assert_int_equal(fixture.cycle.groups[0].state, GROUP_NEVER);
		assert_int_equal(refusal_cache_hits(fixture.cycle.refusal_cache), second / 10);
	}
	refusal_cache_destroy(fixture.cycle.refusal_cache);
	cluster_fixture_destroy(&fixture);
}

/* What took long and led nowhere is left alone for longer, so that others lose little time to it. */
static void long_searches_are_repeated_seldom(void **state)
{
	static const struct {
		uint64_t steps;
		enum place_outcome outcome;
		int64_t pause; /* milliseconds */
	} table[] = {
		{1, PLACE_EXHAUSTED, 1000},
		{50000, PLACE_EXHAUSTED, 1000},
		{100000, PLACE_EXHAUSTED, 2000},
		{2000000, PLACE_EXHAUSTED, 40000},
		{UINT64_MAX, PLACE_EXHAUSTED, 600000},
		{999, PLACE_IMPOSSIBLE, 1000},
	};
	struct fixture_group groups[] = {{.name = "g", .tree = "1", .pods = "-"}, {0}};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cluster_fixture fixture;
		cluster_fixture_create(&fixture, "n1:3 n2:3", NULL, groups);
		struct cycle *cycle = &fixture.cycle;
		const struct gang *gang = &cycle->groups[0].gang;
		struct refusal refusal = {.placement = {.outcome = table[i].outcome, .steps = table[i].steps}};
		int64_t end = (7000 + table[i].pause) * INT64_C(1000000);
		cycle->refusal_cache = refusal_cache_create(1000);
		cycle->retry_at = INT64_MAX;
		refusal_cache_begin(cycle);
		cycle->now = INT64_C(7000000000);
		refusal_cache_store(cycle, gang, 1, &refusal);
		cluster_occupy(cycle->cluster, gang->pods[0].pod_class, 0, OCCUPY_RUNNING);
		cycle->now = end - 1;
		assert_non_null(refusal_cache_find(cycle, gang, 1));
		assert_int_equal(cycle->retry_at, end);
		cycle->now = end;
		assert_null(refusal_cache_find(cycle, gang, 1));
		refusal_cache_destroy(cycle->refusal_cache);
		cluster_fixture_destroy(&fixture);
	}
}

/* Making room for a gang whose search gives up is tried again after a pause, and not after every change beside it. */
static void room_that_was_not_found_waits(void **state)
{
	struct cluster_fixture fixture;
	struct fixture_group groups[] = {{.name = "alone", .tree = "1", .pods = "n5"},
	                                 {.name = "parts",
	                                  .tree = "3(3@rack 3@rack 4@rack)",
	                                  .pods = "- - - | - - - | - - - -",
	                                  .priority = 100},
	                                 {0}};
	static const struct row table[] = {
		{"tried, and given up", 5, 1, 0, -1, GROUP_UNDECIDED, 0},
		{"something changed: not tried", 5, 1, 1, 6, GROUP_UNDECIDED, 1},
		{"after the pause: tried", 6, 1, 1, -1, GROUP_UNDECIDED, 2},
		{"a clock that was set back: tried", 3, 1, 1, -1, GROUP_UNDECIDED, 2},
		{"with another budget: tried", 3, 2, 1, -1, GROUP_UNDECIDED, 2},
	};
	(void)state;
	cluster_fixture_create(&fixture, "n1:3/r1 n2:3/r1 n3:2/r2 n4:1/r2 n5:4/r3 n6:2/r4", NULL, groups);
	int held = 0, class_ = fixture.cycle.groups[0].gang.pods[0].pod_class;
	fixture.cycle.refusal_cache = refusal_cache_create(0);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		fixture.cycle.groups[1].reasons = (struct reasons){0};
		fixture.cycle.budget = table[i].budget;
		for (; held < table[i].taken; held++)
			cluster_occupy(fixture.cycle.cluster, class_, 5, OCCUPY_RUNNING);
		cluster_fixture_run(&fixture, i == 0 ? "allocate preempt" : "preempt", table[i].second);
		check_row(&fixture.cycle, 1, &table[i]);
	}
	refusal_cache_destroy(fixture.cycle.refusal_cache);
	cluster_fixture_destroy(&fixture);
}

/* Moves that were looked for in vain are not looked for again while everything is as it was. */
static void remembered_moves(void **state)
{
	struct cluster_fixture fixture;
	struct fixture_group groups[] = {{.name = "a", .tree = "1", .pods = "n1", .devices = 2},
	                                 {.name = "b", .tree = "1", .pods = "n2", .devices = 2},
	                                 {.name = "wide", .tree = "1", .pods = "-", .devices = 3},
	                                 {0}};
	(void)state;
	cluster_fixture_create(&fixture, "n1:3 n2:3 n3:1", NULL, groups);
	struct cycle *cycle = &fixture.cycle;
	cycle->refusal_cache = refusal_cache_create(0);
	static const struct {
		const char *story;
		enum cycle_preempt of_b;
		size_t hits;
	} table[] = {{"asked", CYCLE_PREEMPTIBLE, 0},
	             {"not asked again: for allocation and for moves", CYCLE_PREEMPTIBLE, 2},
	             {"b may not be moved any more: asked", CYCLE_NON_PREEMPTIBLE, 3},
	             {"and remembered", CYCLE_NON_PREEMPTIBLE, 5}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cycle->groups[1].preempt = table[i].of_b;
		cycle->groups[2].reasons = (struct reasons){0};
		cluster_record(cycle->cluster);
		cluster_fixture_run(&fixture, "allocate consolidate", (int)i * 60);
		cluster_rewind(cycle->cluster);
		if (refusal_cache_hits(cycle->refusal_cache) != table[i].hits)
			fail_msg("%s: %zu times remembered", table[i].story, refusal_cache_hits(cycle->refusal_cache));
	}
	refusal_cache_destroy(cycle->refusal_cache);
	cluster_fixture_destroy(&fixture);
}
int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(remembered_refusals),
	                                   cmocka_unit_test(room_that_was_not_found_waits),
	                                   cmocka_unit_test(long_searches_are_repeated_seldom),
	                                   cmocka_unit_test(remembered_moves)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
