/* Owns finding the smallest change of each kind with which a gang fits, by trying changes; and the kinds that change the gang
 * itself: larger levels, a lower minimum. */
#include "engine/explain/advice_internal.h"

#include "base/arena_mark.h"

#include <string.h>

#define MOST_PARTS_OF_TREE 64 /* tree nodes whose level or minimum is looked at */
#define TRIAL_STEPS 20000     /* of one search */

bool advisor_fits(struct advisor *advisor, struct cluster *cluster, const struct gang *gang)
{
	struct placement placement;
	if (advisor->trials <= 0)
		return false;
	advisor->trials--;
	arena_reset(advisor->scratch);
	enum place_outcome outcome = engine_place(cluster, gang, &advisor->options, advisor->scratch, &placement);
	return outcome == PLACE_PLACED || outcome == PLACE_NOTHING;
}

/* ---- the smallest change ---- */

static int total_of(const struct change *change)
{
	int total = 0;
	for (size_t i = 0; i < change->count; i++)
		total += change->most[i];
	return total;
}

/* How many changes have `sum` parts, counted up to `limit`. */
static int count_changes(const struct change *change, int sum, int limit, struct arena *arena)
{
	int *ways = arena_array(arena, int, (size_t)sum + 1);
	ways[0] = 1;
	for (size_t i = 0; i < change->count; i++)
		for (int s = sum; s > 0; s--)
			for (int take = 1; take <= change->most[i] && take <= s; take++)
				ways[s] = ways[s] + ways[s - take] > limit ? limit : ways[s] + ways[s - take];
	return ways[sum];
}

/* Tries all changes of `sum` parts from part `first` on. */
static bool try_changes(struct advisor *advisor, struct change *change, size_t first, int sum)
{
	for (size_t i = first; i < change->count; i++) {
		for (int take = change->most[i] < sum ? change->most[i] : sum; take > 0; take--) {
			change->now[i] = take;
			if (take == sum ? change->fits(advisor, change)
			                : try_changes(advisor, change, i + 1, sum - take))
				return true;
		}
		change->now[i] = 0;
	}
	return false;
}

/* The shortest list of parts, in their order, that fits beside what is fixed; `end` is known to. */
static int shortest_prefix(struct advisor *advisor, struct change *change, const int *parts, const int *fixed, int end)
{
	int low = 0, high = end;
	while (low < high) {
		int middle = (low + high) / 2;
		memcpy(change->now, fixed, change->count * sizeof(*fixed));
		for (int p = 0; p < middle; p++)
			change->now[parts[p]]++;
		if (change->fits(advisor, change))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* From everything to what is needed of it: a part that ends the shortest list is needed, and what stands behind it is not. */
static bool reduce(struct advisor *advisor, struct change *change)
{
	int total = total_of(change), end = 0;
	int *parts = arena_array(advisor->lists, int, (size_t)total),
	    *fixed = arena_array(advisor->lists, int, change->count);
	for (int round = 1; end < total; round++)
		for (size_t i = 0; i < change->count; i++)
			if (change->most[i] >= round)
				parts[end++] = (int)i;
	while (advisor->trials > 0) {
		end = shortest_prefix(advisor, change, parts, fixed, end);
		if (end == 0) {
			memcpy(change->now, fixed, change->count * sizeof(*fixed));
			return advisor->trials > 0;
		}
		fixed[parts[--end]]++;
	}
	return false;
}

bool advisor_find_smallest(struct advisor *advisor, struct change *change)
{
	int total = total_of(change);
	if (total == 0)
		return false;
	memcpy(change->now, change->most, change->count * sizeof(*change->now));
	if (!change->fits(advisor, change))
		return false;
	int spend = advisor->trials / 2;
	for (int sum = 1; sum <= total; sum++) {
		spend -= count_changes(change, sum, advisor->trials + 1, advisor->lists);
		if (spend < 0)
			return reduce(advisor, change);
		memset(change->now, 0, change->count * sizeof(*change->now));
		if (try_changes(advisor, change, 0, sum))
			return true;
	}
	return false;
}

struct advice *advisor_add(struct advisor *advisor, enum advice_kind kind, const struct change *change,
                           const int *items)
{
	struct advice *advice = &advisor->out->items[advisor->out->count++];
	*advice = (struct advice){.kind = kind,
	                          .items = arena_array(advisor->arena, int, change->count),
	                          .steps = arena_array(advisor->arena, int, change->count)};
	for (size_t i = 0; i < change->count; i++) {
		if (!change->now[i])
			continue;
		advice->items[advice->count] = items[i];
		advice->steps[advice->count++] = change->now[i];
	}
	return advice;
}

/* The gang with a tree of its own. */
static struct gang copy_gang(const struct advisor *advisor)
{
	struct gang copy = *advisor->gang;
	copy.tree = arena_array(advisor->lists, struct gang_node, copy.tree_count);
	memcpy(copy.tree, advisor->gang->tree, sizeof(*copy.tree) * copy.tree_count);
	return copy;
}

/* ---- levels ---- */

static bool fits_with_levels(struct advisor *advisor, struct change *change)
{
	const int *items = change->context;
	struct gang copy = copy_gang(advisor);
	for (size_t i = 0; i < change->count; i++) {
		struct gang_level *level = &copy.tree[items[i]].required;
		level->level -= change->now[i];
		if (level->level < 0)
			*level = GANG_NO_LEVEL;
	}
	return advisor_fits(advisor, advisor->cluster, &copy);
}

static void try_levels(struct advisor *advisor)
{
	int items[MOST_PARTS_OF_TREE], most[MOST_PARTS_OF_TREE], now[MOST_PARTS_OF_TREE];
	struct change change = {.most = most, .now = now, .fits = fits_with_levels, .context = items};
	for (size_t i = 0; i < advisor->gang->tree_count && change.count < MOST_PARTS_OF_TREE; i++) {
		struct gang_level level = advisor->gang->tree[i].required;
		if (level.topology < 0)
			continue;
		items[change.count] = (int)i;
		most[change.count++] = level.level + 1;
	}
	if (advisor_find_smallest(advisor, &change))
		advisor_add(advisor, ADVICE_LEVELS, &change, items);
}

/* ---- minimums ---- */

static bool fits_with_minimum(struct advisor *advisor, size_t node, int minimum)
{
	struct gang copy = copy_gang(advisor);
	copy.tree[node].minimum = minimum;
	return advisor_fits(advisor, advisor->cluster, &copy);
}

/* The largest minimum of one part with which the gang fits; 0 for none. */
static int largest_minimum(struct advisor *advisor, size_t node)
{
	int low = 1, high = advisor->gang->tree[node].minimum - 1;
	if (high < 1 || !fits_with_minimum(advisor, node, low))
		return 0;
	while (low < high) {
		int middle = low + (high - low + 1) / 2;
		if (fits_with_minimum(advisor, node, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* How many pods fewer the gang needs then. */
static int64_t pods_less(const struct advisor *advisor, size_t node, int minimum)
{
	struct gang copy = copy_gang(advisor);
	copy.tree[node].minimum = minimum;
	return gang_minimum_pods(advisor->gang, 0) - gang_minimum_pods(&copy, 0);
}

/* The part whose lower minimum costs the fewest pods. */
static void try_minimums(struct advisor *advisor)
{
	int best = -1, amount = 0, most = 1;
	int64_t fewest = INT64_MAX;
	for (size_t i = 0; i < advisor->gang->tree_count && i < MOST_PARTS_OF_TREE; i++) {
		int minimum = largest_minimum(advisor, i);
		int64_t pods = minimum ? pods_less(advisor, i, minimum) : INT64_MAX;
		if (advisor->trials <= 0 || pods >= fewest)
			continue;
		best = (int)i;
		amount = minimum;
		fewest = pods;
	}
	struct change change = {.count = 1, .most = &most, .now = &most};
	if (best >= 0)
		advisor_add(advisor, ADVICE_MINIMUM, &change, &best)->amount = amount;
}

/* ---- entry ---- */

static void find_shapes(struct advisor *advisor)
{
	const struct gang *gang = advisor->gang;
	uint8_t *seen = arena_array(advisor->lists, uint8_t, advisor->cluster->shapes.count);
	advisor->shapes = arena_array(advisor->lists, int, advisor->cluster->shapes.count);
	for (size_t p = 0; p < gang->pod_count; p++) {
		int shape = advisor->cluster->pod_classes.items[gang->pods[p].pod_class].shape;
		if (gang->pods[p].state != MEMBER_WAITING || seen[shape])
			continue;
		seen[shape] = 1;
		advisor->shapes[advisor->shape_count++] = shape;
	}
}

void engine_advise(struct cluster *cluster, const struct gang *gang, bool use_releasing, struct advice_hint hint,
                   int trials, struct arena *arena, struct advices *out)
{
	static void (*const kinds[])(struct advisor *) = {
		[ADVICE_ROOM] = advisor_try_room,
		[ADVICE_UNCORDON] = advisor_try_cordons,
		[ADVICE_READY] = advisor_try_readiness,
		[ADVICE_TOLERATE] = advisor_try_taints,
		[ADVICE_LEVELS] = try_levels,
		[ADVICE_MINIMUM] = try_minimums,
		[ADVICE_MORE_NODES] = advisor_try_more_nodes,
	};
	struct advisor advisor = {.cluster = cluster,
	                          .gang = gang,
	                          .options = {.budget = TRIAL_STEPS, .use_releasing = use_releasing},
	                          .hint = hint,
	                          .view = use_releasing ? VIEW_RELEASING : VIEW_FREE,
	                          .arena = arena,
	                          .lists = arena_create(),
	                          .scratch = arena_create(),
	                          .out = out};
	*out = (struct advices){.items = arena_array(arena, struct advice, ADVICE_KINDS), .complete = true};
	find_shapes(&advisor);
	for (int kind = 0; kind < ADVICE_KINDS; kind++) {
		struct arena_mark mark = arena_mark(advisor.lists);
		advisor.trials = trials;
		kinds[kind](&advisor);
		out->complete &= advisor.trials > 0;
		arena_rewind(advisor.lists, mark);
	}
	arena_destroy(advisor.scratch);
	arena_destroy(advisor.lists);
}
