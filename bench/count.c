/* platoon-bench-count: one decision at a time, for a tool that counts instructions.
 *
 *   platoon-bench-count               the names of the cases, one per line
 *   platoon-bench-count CASE          that case, once
 *
 * Only what runs below `bench_counted` belongs to a case: `valgrind --tool=callgrind --toggle-collect=bench_counted` leaves
 * out how its cluster is made. scripts/count-instructions does that for all of them. Ends with 1 when an outcome is not
 * the one that was counted by hand. */
#include "crowded.h"

#include <stdio.h>
#include <string.h>

#define NONE BENCH_NO_LEVEL
#define SEGMENTS(count, size) .segments = (count), .pods = (size), .gpus = 8, .segment_required = BENCH_RACK
#define FREE .root_required = NONE, .parent_required = NONE, .root_preferred = NONE

enum kind { PASS, COLD, WARM, MAKE_ROOM, CROWD };

struct count_case {
	const char *name;
	enum kind kind;
	int nodes;
	enum bench_state state;   /* PASS, COLD, WARM */
	struct gang_plan plan;    /* COLD, WARM */
	enum evict_kind room;     /* MAKE_ROOM */
	enum cycle_action action; /* MAKE_ROOM */
	enum evict_fill fill;     /* CROWD */
	bool refused;
	int queues, groups; /* CROWD; 0: as many as suffice for a quick look */
};

#define ROOM(title, size, how, by) .name = (title), .kind = MAKE_ROOM, .nodes = (size), .room = (how), .action = (by)

#define TREE(count, size)                                                                                              \
	.name = "g", .parents = (count), .segments = (size), .pods = 16, .gpus = 2, .root_required = NONE,             \
	.segment_required = BENCH_RACK, .root_preferred = NONE

static const struct count_case cases[] = {
	{"one pass over the columns", PASS, 16384, BENCH_EMPTY, {0}},
	{"cold, 4 segments, empty", COLD, 16384, BENCH_EMPTY, {.name = "g", SEGMENTS(4, 4), FREE}},
	{"cold, 4 segments, fragmented", COLD, 16384, BENCH_FRAGMENTED, {.name = "g", SEGMENTS(4, 4), FREE}},
	{"cold, 16 segments, half full", COLD, 16384, BENCH_HALF_RACKS, {.name = "g", SEGMENTS(16, 16), FREE}},
	{"cold, 4 segments, impossible", /* the last is larger than a rack */
         COLD,
         16384,
         BENCH_FRAGMENTED,
         {.name = "g", SEGMENTS(4, 4), .longer = 13, FREE, .impossible = true},
         .refused = true},
	{"cold, tree of 1024 pods", COLD, 16384, BENCH_FRAGMENTED, {TREE(4, 16), .parent_required = BENCH_ZONE}},
	{"cold, tree, impossible", /* a block takes 32 segments */
         COLD,
         16384,
         BENCH_FRAGMENTED,
         {TREE(2, 33), .parent_required = BENCH_BLOCK, .impossible = true},
         .refused = true},
	{"cold, 512 pods near each other",
         COLD,
         16384,
         BENCH_HALF_NODES,
         {.name = "g",
          .pods = 512,
          .gpus = 8,
          .root_required = NONE,
          .parent_required = NONE,
          .segment_required = NONE,
          .root_preferred = BENCH_RACK}},
	{"warm, 4 segments, fragmented", WARM, 16384, BENCH_FRAGMENTED, {.name = "g", SEGMENTS(4, 4), FREE}},
	{"warm, tree of 1024 pods", WARM, 16384, BENCH_FRAGMENTED, {TREE(4, 16), .parent_required = BENCH_ZONE}},
	{.name = "reclaim", .kind = MAKE_ROOM, .nodes = 1000, .room = EVICT_FLAT, .action = ACTION_RECLAIM},
	{.name = "reclaim, five times the nodes",
         .kind = MAKE_ROOM,
         .nodes = 5000,
         .room = EVICT_FLAT,
         .action = ACTION_RECLAIM},
	{.name = "reclaim segments",
         .kind = MAKE_ROOM,
         .nodes = 1000,
         .room = EVICT_SEGMENTS,
         .action = ACTION_RECLAIM},
	{.name = "reclaim, too many",
         .kind = MAKE_ROOM,
         .nodes = 1000,
         .room = EVICT_TOO_MANY,
         .action = ACTION_RECLAIM,
         .refused = true},
	{.name = "preempt", .kind = MAKE_ROOM, .nodes = 1000, .room = EVICT_FLAT, .action = ACTION_PREEMPT},
	{ROOM("reclaim segments, five times the nodes", 5000, EVICT_SEGMENTS, ACTION_RECLAIM)},
	{ROOM("reclaim a rack", 1000, EVICT_RACK, ACTION_RECLAIM)},
	{ROOM("reclaim a rack, five times the nodes", 5000, EVICT_RACK, ACTION_RECLAIM)},
	{ROOM("reclaim, too far", 1000, EVICT_TOO_FAR, ACTION_RECLAIM), .refused = true},
	{ROOM("reclaim, too far, five times the nodes", 5000, EVICT_TOO_FAR, ACTION_RECLAIM), .refused = true},
	{ROOM("reclaim, too many, five times the nodes", 5000, EVICT_TOO_MANY, ACTION_RECLAIM), .refused = true},
	{ROOM("preempt, five times the nodes", 5000, EVICT_FLAT, ACTION_PREEMPT)},
	{ROOM("preempt, too many", 1000, EVICT_TOO_MANY, ACTION_PREEMPT), .refused = true},
	{ROOM("preempt, too many, five times the nodes", 5000, EVICT_TOO_MANY, ACTION_PREEMPT), .refused = true},
	{.name = "full cycle, 10,000 groups wait",
         .kind = CROWD,
         .nodes = 5000,
         .fill = EVICT_BALANCED,
         .queues = 1000,
         .groups = 10000},
	{.name = "full cycle, all placed", .kind = CROWD, .nodes = 1000, .fill = EVICT_IDLE},
	{.name = "full cycle, all wait", .kind = CROWD, .nodes = 1000, .fill = EVICT_BALANCED},
	{.name = "full cycle, half reclaim", .kind = CROWD, .nodes = 1000, .fill = EVICT_LOPSIDED},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]), CROWD_QUEUES = 200, CROWD_GROUPS = 2000 };

static void decide(struct bench_cluster *bench, const struct gang *gang, struct placement *placement)
{
	struct arena *arena = arena_create();
	engine_place(bench->cluster, gang, &(struct place_options){0}, arena, placement);
	arena_destroy(arena);
}

/* What any answer that looks at every node costs at least. */
static int64_t read_columns(const struct cluster *cluster)
{
	int64_t sum = 0;
	int nodes = cluster_node_count(cluster);
	for (int resource = 0; resource < cluster_resource_count(cluster); resource++) {
		const int64_t *column = cluster_free_column(cluster, resource);
		for (int node = 0; node < nodes; node++)
			sum += column[node];
	}
	return sum;
}

static void run_actions(struct cycle *cycle, const struct count_case *test)
{
	cycle_begin(cycle);
	for (int action = 0; action < ACTION_COUNT; action++) {
		bool usual = !cycle_action_row((enum cycle_action)action)->opt_in;
		if (test->kind == CROWD ? usual : test->action == (enum cycle_action)action)
			cycle_run(cycle, (enum cycle_action)action);
	}
	cycle_finish(cycle);
}

struct counted {
	const struct count_case *test;
	struct bench_cluster *bench;
	struct gang *gang;
	struct placement placement;
	struct cycle *cycle;
	int64_t sum; /* PASS */
};

/* What is counted. Not inlined, so that its name is seen from outside. */
__attribute__((noinline)) void bench_counted(struct counted *counted);
void bench_counted(struct counted *counted)
{
	if (counted->cycle)
		run_actions(counted->cycle, counted->test);
	else if (!counted->gang)
		counted->sum = read_columns(counted->bench->cluster);
	else
		decide(counted->bench, counted->gang, &counted->placement);
}

static bool count_decision(const struct count_case *test)
{
	struct bench_cluster bench;
	bench_cluster_create(&bench, test->nodes, test->state);
	struct gang gang = bench_cluster_gang(&bench, &test->plan);
	struct counted counted = {.test = test, .bench = &bench, .gang = &gang};
	if (test->kind == WARM) {
		decide(&bench, &gang, &counted.placement);
		int node = 0;
		while (bench.used[node] == BENCH_GPUS)
			node++;
		cluster_occupy(bench.cluster, bench.fillers[1], node, OCCUPY_RUNNING);
	}
	bench_counted(&counted);
	bench_cluster_free_gang(&gang);
	bench_cluster_destroy(&bench);
	return counted.placement.outcome == (test->refused ? PLACE_IMPOSSIBLE : PLACE_PLACED);
}

static bool count_pass(const struct count_case *test)
{
	struct bench_cluster bench;
	bench_cluster_create(&bench, test->nodes, test->state);
	struct counted counted = {.test = test, .bench = &bench};
	bench_counted(&counted);
	bench_cluster_destroy(&bench);
	return counted.sum > 0;
}

static int count_placed(const struct cycle *cycle)
{
	int placed = 0;
	for (size_t g = 0; g < cycle->group_count; g++)
		for (size_t p = 0; p < cycle->groups[g].gang.pod_count; p++)
			placed += cycle->groups[g].gang.pods[p].state == MEMBER_RESERVED ||
			          (cycle->groups[g].gang.pods[p].state == MEMBER_RUNNING &&
			           !cycle->groups[g].was_running[p]);
	return placed;
}

static bool count_cycle(const struct count_case *test)
{
	struct crowded bench;
	int queues = test->queues ? test->queues : CROWD_QUEUES, groups = test->groups ? test->groups : CROWD_GROUPS;
	if (test->kind == CROWD)
		crowded_crowd(&bench, test->nodes, queues, groups, test->fill);
	else
		crowded_gang(&bench, test->nodes, test->room, test->action == ACTION_PREEMPT);
	int wanted = test->refused         ? 0
	             : test->kind == CROWD ? crowded_served(queues, groups, test->fill)
	                                   : crowded_wanted(&bench);
	bench_counted(&(struct counted){.test = test, .cycle = &bench.cycle});
	int placed = count_placed(&bench.cycle);
	crowded_destroy(&bench);
	return placed == wanted;
}

static bool run_case(const struct count_case *test)
{
	if (test->kind == PASS)
		return count_pass(test);
	return test->kind == COLD || test->kind == WARM ? count_decision(test) : count_cycle(test);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < CASES; i++) {
		if (argc < 2)
			puts(cases[i].name);
		else if (strcmp(argv[1], cases[i].name) == 0)
			return !run_case(&cases[i]);
	}
	if (argc > 1)
		fprintf(stderr, "platoon-bench-count: no case is called %s\n", argv[1]);
	return argc < 2 ? 0 : 2;
}
