/* Owns the largest surplus: as many pods as fit together, where not all do. Unit after unit the first ones would pin their part to
 * a domain in which the others stand in the way. */
#include "engine/place/most.h"

#include "engine/cluster/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_LEAVES = 8, /* that could grow */
	MOST_PODS = 64,  /* that wait; with more they are placed unit by unit */
	MOST_WAYS = 512, /* to share a number of pods among the leaves */
	MOST_LOOKS = 65536,
	MOST_SEARCHES = 4096,
	MOST_LOOKED_AT = 1 << 21, /* nodes, over all searches; each begins with a look at all of them */
	MOST_CONFLICTS = 1024,
	SHARE = 64,    /* of the budget, for one search */
	ALL_SHARES = 8 /* of it, for all of them */
};

struct way {
	int more[MOST_LEAVES];
	int64_t uneven;
};

struct most {
	struct cluster *cluster;
	const struct gang *gang;
	const struct place_options *options;
	struct arena *arena, *scratch, *trial; /* of the answer, of one list of ways, of one search */
	int *members;                          /* by tree node */
	int leaves[MOST_LEAVES], room[MOST_LEAVES];
	int leaf_count;
	struct way *ways;
	size_t way_count;
	struct way *conflicts; /* of these no leaf can have less, or there would be room: nothing larger fits either */
	size_t conflict_count;
	int searches, most_searches, looks;
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

/* Pods of one shape share what there is of it. */
static int clip_to_slots(const struct most *most, int sum)
{
	const struct pod_class *classes = most->cluster->pod_classes.items;
	int shape = -1;
	for (size_t p = 0; p < most->gang->pod_count; p++) {
		const struct gang_pod *pod = &most->gang->pods[p];
		if (pod->state != MEMBER_WAITING)
			continue;
		if (shape >= 0 && classes[pod->pod_class].shape != shape)
			return sum;
		shape = classes[pod->pod_class].shape;
	}
	int64_t total = slots_get(most->cluster, shape, VIEW_FREE)->total;
	return total < sum ? (int)total : sum;
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
	return sum > MOST_PODS ? -1 : sum == 0 ? 0 : clip_to_slots(most, sum);
}

/* ---- ways to share so many among them ---- */

/* Whether every part that grows is of use then, and the minimum is met. */
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
		if ((grows[i] || i == 0) && !satisfied)
			return false;
		if (i > 0) {
			members[node->parent] += satisfied;
			grows[node->parent] |= grows[i];
		}
	}
	return true;
}

static bool is_known_conflict(const struct most *most, const struct way *way)
{
	for (size_t c = 0; c < most->conflict_count; c++) {
		bool larger = true;
		for (int l = 0; l < most->leaf_count && larger; l++)
			larger = way->more[l] >= most->conflicts[c].more[l];
		if (larger)
			return true;
	}
	return false;
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

/* Adds ways to give the leaves from `leaf` on what is left; those before have theirs. */
static void list_ways_from(struct most *most, int leaf, int left, struct way *way)
{
	int behind = 0;
	if (++most->looks > MOST_LOOKS || most->way_count == MOST_WAYS)
		return;
	if (is_known_conflict(most, way))
		return;
	if (leaf == most->leaf_count) {
		add_way(most, way);
		return;
	}
	for (int l = leaf + 1; l < most->leaf_count; l++)
		behind += most->room[l];
	int least = left > behind ? left - behind : 0, largest = most->room[leaf] < left ? most->room[leaf] : left;
	for (way->more[leaf] = least; way->more[leaf] <= largest; way->more[leaf]++)
		list_ways_from(most, leaf + 1, left - way->more[leaf], way);
	way->more[leaf] = 0;
}

/* Ways to share the sum that are no known conflict, all of them or many, the most even first. */
static void list_ways(struct most *most, int sum)
{
	struct way way = {0};
	most->way_count = 0;
	most->looks = 0;
	arena_reset(most->scratch);
	list_ways_from(most, 0, sum, &way);
	if (most->way_count)
		qsort(most->ways, most->way_count, sizeof(*most->ways), compare_ways);
}

/* ---- one way ---- */

/* The gang that needs exactly that much: every part as many members as it has then. */
static void demand_way(const struct most *most, const struct way *way, struct gang *gang)
{
	*gang = *most->gang;
	gang->tree = arena_array(most->trial, struct gang_node, gang->tree_count);
	gang->pods = arena_array(most->trial, struct gang_pod, gang->pod_count);
	memcpy(gang->tree, most->gang->tree, gang->tree_count * sizeof(*gang->tree));
	memcpy(gang->pods, most->gang->pods, gang->pod_count * sizeof(*gang->pods));
	int *more = arena_array(most->trial, int, gang->tree_count);
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

static enum place_outcome try_way(struct most *most, const struct way *way, struct placement *out)
{
	uint64_t budget = most->options && most->options->budget ? most->options->budget : PLACE_DEFAULT_BUDGET;
	struct place_options options = {.budget = budget / SHARE + 1,
	                                .use_releasing = most->options && most->options->use_releasing};
	struct gang gang;
	if (most->searches >= most->most_searches || most->steps > budget / ALL_SHARES)
		return PLACE_EXHAUSTED;
	arena_reset(most->trial);
	demand_way(most, way, &gang);
	most->searches++;
	enum place_outcome outcome = engine_place(most->cluster, &gang, &options, most->trial, out);
	most->steps += out->steps;
	return outcome;
}

/* What of a way without room is enough to have none: no leaf can have less. */
static void learn_conflict(struct most *most, const struct way *way)
{
	struct way conflict = *way;
	struct placement ignored;
	if (most->conflict_count == MOST_CONFLICTS)
		return;
	for (int l = 0; l < most->leaf_count; l++) {
		int room = -1, none = conflict.more[l]; /* with so many there is room, or none */
		while (none - room > 1) {
			/* often the leaf has no part in it */
			conflict.more[l] = room < 0 ? 0 : room + (none - room) / 2;
			if (try_way(most, &conflict, &ignored) == PLACE_IMPOSSIBLE)
				none = conflict.more[l];
			else
				room = conflict.more[l];
		}
		conflict.more[l] = none;
	}
	most->conflicts[most->conflict_count++] = conflict;
}

/* Whether so many fit together, in one of the ways that are listed. */
static bool fits_in_listed(struct most *most, struct placement *out)
{
	for (size_t w = 0; w < most->way_count && most->searches < most->most_searches; w++) {
		if (is_known_conflict(most, &most->ways[w]))
			continue;
		enum place_outcome outcome = try_way(most, &most->ways[w], out);
		if (outcome == PLACE_PLACED)
			return true;
		if (outcome == PLACE_IMPOSSIBLE)
			learn_conflict(most, &most->ways[w]);
	}
	return false;
}

/* Where not all ways can be listed, what was learned from some leaves fewer of the others. */
static bool fits(struct most *most, int sum, struct placement *out)
{
	size_t known;
	bool cut;
	do {
		known = most->conflict_count;
		list_ways(most, sum);
		cut = most->way_count == MOST_WAYS || most->looks > MOST_LOOKS;
		if (fits_in_listed(most, out))
			return true;
	} while (cut && most->conflict_count > known && most->searches < most->most_searches);
	return false;
}

/* As many waiting pods as fit together with the minimum, and at least `least` of them. */
static bool find_most(struct most *most, int least, struct placement *out)
{
	const struct gang *gang = most->gang;
	*out = (struct placement){.outcome = PLACE_IMPOSSIBLE, .blocking_node = -1};
	most->members = arena_array(most->arena, int, gang->tree_count);
	gang_satisfied(gang, most->members, NULL);
	int sum = list_leaves(most), searches = MOST_LOOKED_AT / (most->cluster->node_count + MOST_PODS);
	most->most_searches = searches < MOST_SEARCHES ? searches : MOST_SEARCHES;
	bool found = false;
	most->scratch = arena_create();
	most->trial = arena_create();
	most->ways = arena_array(most->arena, struct way, MOST_WAYS);
	most->conflicts = arena_array(most->arena, struct way, MOST_CONFLICTS);
	for (; sum >= least && !found && most->searches < most->most_searches; sum--)
		found = fits(most, sum, out);
	if (found) {
		struct place_choice *choices = arena_array(most->arena, struct place_choice, out->choice_count);
		memcpy(choices, out->choices, out->choice_count * sizeof(*choices));
		out->choices = choices;
	}
	arena_destroy(most->scratch);
	arena_destroy(most->trial);
	out->steps = most->steps;
	out->outcome = found ? PLACE_PLACED : PLACE_IMPOSSIBLE;
	return found;
}

enum place_outcome engine_grow_most(struct cluster *cluster, const struct gang *gang,
                                    const struct place_options *options, struct arena *arena, struct placement *out)
{
	struct most most = {.cluster = cluster, .gang = gang, .options = options, .arena = arena};
	if (gang_root_satisfied(gang)) {
		find_most(&most, 1, out);
		return out->outcome;
	}
	*out = (struct placement){.outcome = PLACE_NOT_READY, .blocking_node = -1};
	return out->outcome;
}

/* ---- the minimum of it ---- */

/* By tree node: how many pods of a leaf, or children, the minimum takes of what was placed. */
static int *list_needs(const struct gang *gang, const struct placement *placed, struct arena *arena)
{
	int *members = arena_array(arena, int, gang->tree_count), *need = arena_array(arena, int, gang->tree_count);
	bool *wanted = arena_array(arena, bool, gang->tree_count);
	for (size_t i = 0; i < placed->choice_count; i++)
		members[gang->pods[placed->choices[i].pod].leaf]++;
	for (size_t i = gang->tree_count; i-- > 1;)
		members[gang->tree[i].parent] += members[i] >= gang->tree[i].minimum;
	for (size_t i = 0; i < gang->tree_count; i++) {
		int parent = gang->tree[i].parent;
		bool satisfied = members[i] >= gang->tree[i].minimum;
		wanted[i] = parent < 0 || (wanted[parent] && satisfied && need[parent] > 0);
		if (wanted[i] && parent >= 0)
			need[parent]--;
		need[i] = wanted[i] ? gang->tree[i].minimum : 0;
	}
	return need;
}

bool most_place_minimum(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                        struct arena *arena, struct placement *out)
{
	struct most most = {.cluster = cluster, .gang = gang, .options = options, .arena = arena};
	struct placement placed;
	bool confined = false;
	for (size_t i = 0; i < gang->tree_count; i++) {
		if (gang->tree[i].preferred.topology >= 0)
			return false;
		confined |= gang->tree[i].required.topology >= 0;
	}
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_RUNNING || gang->pods[p].state == MEMBER_RESERVED)
			return false;
	if (!confined || !find_most(&most, (int)out->choice_count + 1, &placed))
		return false;
	int *need = list_needs(gang, &placed, arena);
	size_t count = 0;
	for (size_t i = 0; i < placed.choice_count; i++)
		if (need[gang->pods[placed.choices[i].pod].leaf]-- > 0)
			placed.choices[count++] = placed.choices[i];
	out->choices = placed.choices;
	out->choice_count = count;
	out->steps += placed.steps;
	return true;
}
