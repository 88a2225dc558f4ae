/* Owns the largest surplus: as many pods as fit together, where not all do. Unit after unit the first ones would pin their part to
 * a domain in which the others stand in the way. */
#include "engine/place/most.h"

#include "engine/cluster/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_LEAVES = 8, /* that could grow */
	MOST_PODS = 64,  /* that wait; with more they are placed unit by unit */
	MOST_WAYS = 256, /* to share a number of pods among the leaves */
	MOST_LOOKS = 8192,
	MOST_SEARCHES = 96,
	SHARE = 64 /* of the budget, for one search */
};

struct way {
	int more[MOST_LEAVES];
	int64_t uneven;
};

struct most {
	struct cluster *cluster;
	const struct gang *gang;
	const struct place_options *options;
	struct arena *arena, *scratch;
	int *members; /* by tree node */
	int leaves[MOST_LEAVES], room[MOST_LEAVES];
	int leaf_count;
	struct way *ways;
	size_t way_count;
	int searches;
	uint64_t steps;
};

/* ---- which leaves, and how much at most ---- */

/* A node on which something below the part runs, -1 for none. */
static int find_member(const struct gang *gang, int part)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		int tree = gang->pods[p].leaf;
		while (tree > part)
			tree = gang->tree[tree].parent;
		if (tree == part && (gang->pods[p].state == MEMBER_RUNNING || gang->pods[p].state == MEMBER_RESERVED))
			return gang->pods[p].node;
	}
	return -1;
}

/* Slots of the shape where the leaf may be, as far as counting says: its members and those of what it belongs to pin it. */
static int64_t count_slots(const struct most *most, int leaf, int shape)
{
	const struct slots *slots = slots_get(most->cluster, shape, VIEW_FREE);
	int64_t least = slots->total;
	for (int at = leaf; at >= 0; at = most->gang->tree[at].parent) {
		struct gang_level level = most->gang->tree[at].required;
		int node = level.topology < 0 ? -1 : find_member(most->gang, at);
		if (node < 0 || most->cluster->topologies[level.topology].hosts[level.level])
			continue;
		int domain = most->cluster->topologies[level.topology].node_domain[level.level][node];
		int64_t sum = domain < 0 ? 0 : slots->sums[level.topology][level.level][domain];
		least = sum < least ? sum : least;
	}
	return least;
}

static int count_room(const struct most *most, int leaf)
{
	const struct pod_class *classes = most->cluster->pod_classes.items;
	int waiting = 0, before = -1;
	int64_t room = 0;
	for (size_t p = 0; p < most->gang->pod_count; p++) {
		const struct gang_pod *pod = &most->gang->pods[p];
		if (pod->leaf != leaf || pod->state != MEMBER_WAITING)
			continue;
		waiting++;
		if (classes[pod->pod_class].shape != before)
			room += count_slots(most, leaf, classes[pod->pod_class].shape);
		before = classes[pod->pod_class].shape;
	}
	return room < waiting ? (int)room : waiting;
}

/* The sum of what could grow at most; -1 when it is too much to look at. */
static int list_leaves(struct most *most)
{
	const struct gang *gang = most->gang;
	int sum = 0;
	for (size_t i = 0; i < gang->tree_count; i++) {
		int room = gang->tree[i].child_count ? 0 : count_room(most, (int)i);
		if (room == 0)
			continue;
		if (most->leaf_count == MOST_LEAVES)
			return -1;
		most->leaves[most->leaf_count] = (int)i;
		most->room[most->leaf_count++] = room;
		sum += room;
	}
	return sum <= MOST_PODS ? sum : -1;
}

/* ---- ways to share so many among them ---- */

/* Whether every part that grows is of use then. */
static bool is_of_use(const struct most *most, const struct way *way)
{
	const struct gang *gang = most->gang;
	int *members = arena_array(most->scratch, int, gang->tree_count);
	bool *grows = arena_array(most->scratch, bool, gang->tree_count);
	for (int l = 0; l < most->leaf_count; l++) {
		members[most->leaves[l]] = way->more[l];
		grows[most->leaves[l]] = way->more[l] > 0;
	}
	for (size_t i = gang->tree_count; i-- > 0;) {
		const struct gang_node *node = &gang->tree[i];
		members[i] += node->child_count ? 0 : most->members[i];
		bool satisfied = members[i] >= node->minimum;
		if (grows[i] && !satisfied)
			return false;
		if (i > 0) {
			members[node->parent] += satisfied;
			grows[node->parent] |= grows[i];
		}
	}
	return true;
}

static void add_way(struct most *most, const struct way *way)
{
	struct way *added = &most->ways[most->way_count];
	*added = *way;
	added->uneven = 0;
	for (int l = 0; l < most->leaf_count; l++) {
		int64_t all = most->members[most->leaves[l]] + way->more[l];
		added->uneven += all * all;
	}
	most->way_count += is_of_use(most, added);
}

static int compare_ways(const void *left, const void *right)
{
	const struct way *a = left, *b = right;
	if (a->uneven != b->uneven)
		return a->uneven < b->uneven ? -1 : 1;
	for (int l = 0; l < MOST_LEAVES; l++)
		if (a->more[l] != b->more[l])
			return a->more[l] > b->more[l] ? -1 : 1;
	return 0;
}

/* The next way to give something to all leaves but the last; false after the last one. */
static bool next_way(const struct most *most, struct way *way)
{
	for (int l = 0; l + 1 < most->leaf_count; l++) {
		if (way->more[l] < most->room[l]) {
			way->more[l]++;
			return true;
		}
		way->more[l] = 0;
	}
	return false;
}

/* All ways to share the sum, the most even first. False when there are too many. */
static bool list_ways(struct most *most, int sum)
{
	struct way way = {0};
	int last = most->leaf_count - 1, looks = 0;
	most->way_count = 0;
	arena_reset(most->scratch);
	do {
		int left = sum;
		for (int l = 0; l < last; l++)
			left -= way.more[l];
		if (++looks > MOST_LOOKS || most->way_count == MOST_WAYS)
			return false;
		way.more[last] = left;
		if (left >= 0 && left <= most->room[last])
			add_way(most, &way);
	} while (next_way(most, &way));
	if (most->way_count)
		qsort(most->ways, most->way_count, sizeof(*most->ways), compare_ways);
	return true;
}

/* ---- one way ---- */

/* The gang that needs exactly that much: every part as many members as it has then. */
static void demand_way(const struct most *most, const struct way *way, struct gang *gang)
{
	*gang = *most->gang;
	gang->tree = arena_array(most->arena, struct gang_node, gang->tree_count);
	gang->pods = arena_array(most->arena, struct gang_pod, gang->pod_count);
	memcpy(gang->tree, most->gang->tree, gang->tree_count * sizeof(*gang->tree));
	memcpy(gang->pods, most->gang->pods, gang->pod_count * sizeof(*gang->pods));
	int *more = arena_array(most->arena, int, gang->tree_count);
	for (int l = 0; l < most->leaf_count; l++)
		more[most->leaves[l]] = way->more[l];
	for (size_t i = 0; i < gang->tree_count; i++)
		gang->tree[i].minimum = gang->tree[i].child_count ? 0 : most->members[i] + more[i];
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING && more[gang->pods[p].leaf]-- <= 0)
			gang->pods[p].state = MEMBER_GATED;
	for (size_t i = gang->tree_count; i-- > 1;) {
		int *minimum = &gang->tree[i].minimum;
		gang->tree[gang->tree[i].parent].minimum += *minimum > 0;
		*minimum = *minimum > 0 ? *minimum : 1; /* an empty part must not count in place of another */
	}
}

/* Whether so many fit together, in whatever way. */
static bool fits(struct most *most, int sum, struct placement *out)
{
	uint64_t budget = most->options && most->options->budget ? most->options->budget : PLACE_DEFAULT_BUDGET;
	struct place_options options = {.budget = budget / SHARE + 1,
	                                .use_releasing = most->options && most->options->use_releasing};
	if (!list_ways(most, sum))
		return false;
	for (size_t w = 0; w < most->way_count && most->searches < MOST_SEARCHES; w++) {
		struct gang gang;
		demand_way(most, &most->ways[w], &gang);
		most->searches++;
		enum place_outcome outcome = engine_place(most->cluster, &gang, &options, most->arena, out);
		most->steps += out->steps;
		if (outcome == PLACE_PLACED)
			return true;
	}
	return false;
}

enum place_outcome engine_grow_most(struct cluster *cluster, const struct gang *gang,
                                    const struct place_options *options, struct arena *arena, struct placement *out)
{
	struct most most = {.cluster = cluster, .gang = gang, .options = options, .arena = arena};
	*out = (struct placement){.outcome = PLACE_IMPOSSIBLE, .blocking_node = -1};
	if (!gang_root_satisfied(gang))
		return out->outcome = PLACE_NOT_READY;
	most.members = arena_array(arena, int, gang->tree_count);
	gang_satisfied(gang, most.members, NULL);
	int sum = list_leaves(&most);
	if (sum <= 0)
		return out->outcome;
	most.scratch = arena_create();
	most.ways = arena_array(arena, struct way, MOST_WAYS);
	while (sum > 0 && most.searches < MOST_SEARCHES && !fits(&most, sum, out))
		sum--;
	arena_destroy(most.scratch);
	out->steps = most.steps;
	return out->outcome == PLACE_PLACED ? PLACE_PLACED : (out->outcome = PLACE_IMPOSSIBLE);
}
