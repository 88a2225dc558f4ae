/* Pods that are still to come: the first ones go where all of them will fit, room is held for the others for a time, and
 * nobody who needs less than that is kept from starting. */
#include "cluster_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void where_all_fit(void **state)
{
	static const struct fixture_case cases[] = {
		{"the first of four goes where four fit, and the rest is held", "a1:1/a b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "b1 +b1 +b1 +b1"}}},
		{"without a declared size it takes what is tightest", "a1:1/a b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1@rack", .pods = "-", .after = "a1"}}},
		{"where nothing holds all, the minimum starts where most of it fits", "a1:1/a b1:3/b c1:2/c",
	         "allocate", .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "b1"}}},
		{"a minimum that waits for its pods waits, and holds nothing", "a1:4/a", "allocate",
	         .groups = {{.name = "a", .tree = "2/4@rack", .pods = "-"}}},
		{"without a level there is nothing to choose and nothing to hold", "a1:1/a b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1/4", .pods = "-", .after = "a1"}}},
		{"a leader goes where its workers will fit", "a1:1/a a2:1/a b1:1/b b2:1/b b3:1/b", "allocate",
	         .groups = {{.name = "a", .tree = "2@rack(1/1 0/2)", .pods = "-", .after = "b1 +b2 +b3"}}},
		{"a segment beyond the minimum is placed as a whole", "a1:4/a b1:1/b c1:3/c", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "1(4@rack 0/3@rack)",
	                     .pods = "a1 a1 a1 a1 | -",
	                     .after = "a1 a1 a1 a1 | c1 +c1 +c1"}}},
		{"one that is there in part holds the rest of its rack", "a1:4/a b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "b1 -", .after = "b1 b1 +b1 +b1"}}},
		{"the children of a parent are looked at together", "a1:2/a a2:1/a b1:2/b b2:2/b", "allocate",
	         .groups = {{.name = "a", .tree = "1@rack(1/2 0/2)", .pods = "-", .after = "b1 +b1 +b2 +b2"}}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cluster_fixture_check(&cases[i]);
}

/* Groups whose first pods are of no use without the others, which their owner makes when the first are ready. */
static void whole(void **state)
{
	static const struct fixture_case cases[] = {
		{"it starts where all of it fits", "a1:1/a b1:3/b", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "2@rack(1/1 0/2)",
	                     .pods = "-",
	                     .after = "b1 +b1 +b1",
	                     .starts_whole = true}}},
		{"where nothing holds all, it does not start", "a1:1/a b1:2/b", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "2@rack(1/1 0/2)",
	                     .pods = "-",
	                     .says = "needs 3 (3x1), rack b has 2 free",
	                     .starts_whole = true}}},
		{"without a level all of it has to fit as well", "a1:1/a b1:1/b", "allocate",
	         .groups = {{.name = "a", .tree = "2(1/1 0/2)", .pods = "-", .starts_whole = true}}},
		{"and is held", "a1:1/a b1:2/b", "allocate",
	         .groups = {{.name = "a",
	                     .tree = "2(1/1 0/2)",
	                     .pods = "-",
	                     .after = "a1 +b1 +b1",
	                     .starts_whole = true}}},
		{"its queue has to allow all of it", "b1:4/b", "allocate", .queues = {{"q", NULL, 0, 2, 1, 100}},
	         .groups = {{.name = "a", .tree = "2@rack(1/1 0/2)", .pods = "-", .starts_whole = true}}},
		{"room is made for all of it, and held", "b1:3/b", "allocate preempt",
	         .groups = {{.name = "a",
	                     .tree = "2@rack(1/1 0/2)",
	                     .pods = "-",
	                     .after = "~b1 +b1 +b1",
	                     .priority = 9,
	                     .starts_whole = true},
	                    {.name = "b", .tree = "1", .pods = "b1", .after = "x"},
	                    {.name = "c", .tree = "1", .pods = "b1", .after = "x"}}},
		{"nobody leaves where that would not be enough", "b1:2/b", "allocate preempt",
	         .groups = {{.name = "a", .tree = "2@rack(1/1 0/2)", .pods = "-", .priority = 9, .starts_whole = true},
	                    {.name = "b", .tree = "1", .pods = "b1"}}},
		{"the others are late, and it is not released", "b1:4/b", "stalegangeviction",
	         .groups = {{.name = "a",
	                     .tree = "2@rack(1/1 2/2)",
	                     .pods = "b1",
	                     .grace = 60,
	                     .stale = 100,
	                     .starts_whole = true}}},
		{"they are there and find no room: it is", "b1:2/b", "allocate stalegangeviction",
	         .groups = {{.name = "a",
	                     .tree = "2@rack(1/1 2/2)",
	                     .pods = "b1 | - -",
	                     .after = "x | - -",
	                     .grace = 60,
	                     .stale = 100,
	                     .starts_whole = true}}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cluster_fixture_check(&cases[i]);
}

static void others(void **state)
{
	static const struct fixture_case cases[] = {
		{"nobody else gets the room, and hears for whom it is held", "b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "b1 +b1 +b1 +b1"},
	                    {.name = "b", .tree = "1", .pods = "-", .says = "held for pods that are still to come"}}},
		{"two of them do not hold each other's room", "a1:4/a b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "a1 +a1 +a1 +a1"},
	                    {.name = "b", .tree = "1/4@rack", .pods = "-", .after = "b1 +b1 +b1 +b1"}}},
		{"a third still starts with its minimum", "a1:5/a b1:4/b", "allocate",
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "b1 +b1 +b1 +b1"},
	                    {.name = "b", .tree = "1/4@rack", .pods = "-", .after = "a1 +a1 +a1 +a1"},
	                    {.name = "c", .tree = "1/4@rack", .pods = "-", .after = "a1"}}},
		{"beyond the limit of its queue nothing is held", "b1:4/b", "allocate",
	         .queues = {{"q", NULL, 0, 3, 1, 100}},
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "b1"}}},
		{"what is held counts against the limit", "b1:4/b c1:4/c", "allocate",
	         .queues = {{"q", NULL, 0, 4, 1, 100}},
	         .groups = {{.name = "a", .tree = "1/4@rack", .pods = "-", .after = "b1 +b1 +b1 +b1"},
	                    {.name = "b", .tree = "1", .pods = "-"}}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cluster_fixture_check(&cases[i]);
}

/* ---- over several cycles ---- */

static void check_pods(struct cluster_fixture *fixture, int group, const char *want)
{
	assert_string_equal(cluster_fixture_pods(fixture, group), want);
}

/* The pod that has not existed so far (GONE) is created. */
static void create_pod(struct cluster_fixture *fixture, int group, int pod)
{
	fixture->cycle.groups[group].gang.pods[pod].state = MEMBER_WAITING;
}

static void hide_pods(struct cluster_fixture *fixture, int group, size_t from)
{
	struct gang *gang = &fixture->cycle.groups[group].gang;
	for (size_t p = from; p < gang->pod_count; p++)
		gang->pods[p].state = MEMBER_GONE;
}

static void deadline(void **state)
{
	static const struct fixture_case given = {.nodes = "b1:3/b",
	                                          .groups = {{.name = "a", .tree = "1/3@rack", .pods = "- - -"},
	                                                     {.name = "b", .tree = "1", .pods = "-"}}};
	(void)state;
	struct cluster_fixture fixture;
	cluster_fixture_open(&fixture, &given);
	hide_pods(&fixture, 0, 1);
	cluster_fixture_run(&fixture, "allocate", 0);
	check_pods(&fixture, 0, "b1 x x +b1 +b1");
	check_pods(&fixture, 1, "-");
	/* The second pod comes after 50 seconds: the third has its time again. */
	create_pod(&fixture, 0, 1);
	cluster_fixture_run(&fixture, "allocate", 50);
	check_pods(&fixture, 0, "b1 b1 x +b1");
	cluster_fixture_run(&fixture, "allocate", 100);
	check_pods(&fixture, 1, "-");
	cluster_fixture_run(&fixture, "allocate", 111);
	check_pods(&fixture, 0, "b1 b1 x");
	check_pods(&fixture, 1, "b1");
	cluster_fixture_destroy(&fixture);
}

/* What starts whole waits for the others as long as its owner likes. */
static void no_deadline(void **state)
{
	static const struct fixture_case given = {
		.nodes = "b1:3/b",
		.groups = {{.name = "a", .tree = "1/3@rack", .pods = "- - -", .starts_whole = true},
	                   {.name = "b", .tree = "1", .pods = "-"}}};
	(void)state;
	struct cluster_fixture fixture;
	cluster_fixture_open(&fixture, &given);
	hide_pods(&fixture, 0, 1);
	cluster_fixture_run(&fixture, "allocate", 0);
	check_pods(&fixture, 0, "b1 x x +b1 +b1");
	cluster_fixture_run(&fixture, "allocate", 5000);
	check_pods(&fixture, 0, "b1 x x +b1 +b1");
	check_pods(&fixture, 1, "-");
	/* The first pod is gone: nobody waits any more. */
	hide_pods(&fixture, 0, 0);
	cluster_fixture_run(&fixture, "allocate", 5001);
	check_pods(&fixture, 1, "b1");
	cluster_fixture_destroy(&fixture);
}

/* ---- at random ---- */

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % below;
}

/* Racks with random room, a gang that is created in random batches, and others that come in between. */
static void never_stranded(uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	char nodes[512] = "", pods[64] = "", tree[32];
	int racks = 2 + (int)draw(&state, 4), largest = 0;
	size_t written = 0;
	for (int r = 0; r < racks; r++) {
		int room = 1 + (int)draw(&state, 6), more = (int)draw(&state, 4);
		largest = room + more > largest ? room + more : largest;
		written += (size_t)snprintf(nodes + written, sizeof(nodes) - written, "%sn%d:%d/r%d m%d:%d/r%d",
		                            r ? " " : "", r, room, r, r, more, r);
	}
	int size = 1 + (int)draw(&state, (uint32_t)largest), minimum = 1 + (int)draw(&state, (uint32_t)size);
	written = 0;
	for (int p = 0; p < size; p++)
		written += (size_t)snprintf(pods + written, sizeof(pods) - written, p ? " -" : "-");
	(void)snprintf(tree, sizeof(tree), "%d/%d@rack", minimum, size);
	struct fixture_case given = {.nodes = nodes,
	                             .groups = {{.name = "a", .tree = tree, .pods = pods, .priority = 1},
	                                        {.name = "b", .tree = "1", .pods = "-"},
	                                        {.name = "c", .tree = "1/3@rack", .pods = "- - -"},
	                                        {.name = "d", .tree = "2", .pods = "- -"}}};
	struct cluster_fixture fixture;
	cluster_fixture_open(&fixture, &given);
	int made = minimum > 1 ? (int)draw(&state, (uint32_t)minimum) + 1 : 1, other = 1;
	for (int g = 0; g < 4; g++)
		hide_pods(&fixture, g, g ? 0 : (size_t)made);
	for (int second = 0; second < 400; second += 20) {
		cluster_fixture_run(&fixture, "allocate", second);
		int batch = 1 + (int)draw(&state, 3);
		/* Others come when the gang has its place. */
		bool started = gang_root_satisfied(&fixture.cycle.groups[0].gang);
		for (; batch > 0 && made < size; batch--)
			create_pod(&fixture, 0, made++);
		if (started && other < 4) {
			for (size_t p = 0; p < fixture.cycle.groups[other].gang.pod_count; p++)
				create_pod(&fixture, other, (int)p);
			other++;
		}
	}
	if (made == size)
		for (int p = 0; p < size; p++)
			if (fixture.cycle.groups[0].gang.pods[p].state != MEMBER_RUNNING)
				fail_msg("seed %u: nodes %s, tree %s: %s", seed, nodes, tree,
				         cluster_fixture_pods(&fixture, 0));
	cluster_fixture_destroy(&fixture);
}

static void random_fills(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 400; seed++)
		never_stranded(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_all_fit), cmocka_unit_test(whole),       cmocka_unit_test(others),
		cmocka_unit_test(deadline),      cmocka_unit_test(no_deadline), cmocka_unit_test(random_fills),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
