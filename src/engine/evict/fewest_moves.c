/* Owns the search for the smallest set of moves: depth first over sets of one size, size by size. */
#include "engine/evict/fewest_moves.h"

#include "base/clamp.h"
#include "engine/cluster/internal.h"
#include "engine/evict/alike.h"
#include "engine/evict/budgets.h"
#include "engine/evict/joint.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_STEPS = 1 << 19,     /* for one group */
	ALL_STEPS = 1 << 20,      /* in one action */
	DOUBTFUL_STEPS = 1 << 14, /* for sets, where it is not known that any could do */
	TRIAL_STEPS = 16,         /* what asking costs besides the search */
	SHARE = 64,               /* of the steps that are left, for one set */
	MOST_PODS = 4096,         /* that could move; with more the usual way has to do */
	LOOKS_A_STEP = 32,        /* pods that are passed over */
	MOST_REPACKED = 256,      /* pods that are all lifted at once, to see whether there is any hope */
	MOST_REFUSED = 64         /* sets with a place for everybody, but which somebody is against */
};

struct move_search {
	struct evict_attempt *attempt;
	const struct victim_unit **units; /* those that may move, cheapest first */
	size_t count;
	int shape; /* of all pods that wait, -1: they have several */
	int64_t slots_needed;
	struct alike *alike;
	uint64_t left;  /* steps */
	uint64_t looks; /* at pods, for which no step was counted yet */
	int refused;
	bool bounded; /* the beneficiary, by what its queues leave */
	struct place_allowance allowance;
	bool doubtful;  /* not even for all units together is it known whether they could do */
	bool undecided; /* some search ended without an answer, or some set was not asked */
	bool guarded;   /* some set was not asked because of budgets */
	struct {
		size_t at;       /* the next unit to try */
		uint64_t *tried; /* keys of those that were: a hash table */
	} frame[MOST_MOVES];
	size_t table_size; /* a power of two */
};

static void spend(struct move_search *search, uint64_t steps)
{
	steps += TRIAL_STEPS;
	search->left -= steps < search->left ? steps : search->left;
}

/* Looking at pods is little, but there may be many. */
static void spend_looks(struct move_search *search, uint64_t looks)
{
	search->looks += looks;
	uint64_t steps = search->looks / LOOKS_A_STEP;
	search->looks %= LOOKS_A_STEP;
	search->left -= steps < search->left ? steps : search->left;
}

/* ---- one set ---- */

static int64_t find_largest(const int64_t *sums, int count)
{
	int64_t largest = 0;
	for (int d = 0; d < count; d++)
		largest = sums[d] > largest ? sums[d] : largest;
	return largest;
}

/* Whether there are enough slots, as far as counting says; much less work than a search. */
static bool has_slots(struct move_search *search)
{
	struct cluster *cluster = search->attempt->cycle->cluster;
	struct gang_level level = evict_beneficiary(search->attempt)->gang.tree[0].required;
	if (search->shape < 0)
		return true;
	const struct slots *slots = slots_get(cluster, search->shape, VIEW_RELEASING);
	if (level.topology < 0 || cluster->topologies[level.topology].hosts[level.level])
		return slots->total >= search->slots_needed;
	return find_largest(slots->sums[level.topology][level.level],
	                    cluster->topologies[level.topology].domain_count[level.level]) >= search->slots_needed;
}

static void count_needed(struct move_search *search)
{
	const struct gang *gang = &evict_beneficiary(search->attempt)->gang;
	const struct cluster *cluster = search->attempt->cycle->cluster;
	search->shape = -1;
	search->slots_needed = search->attempt->grow ? 1 : gang_minimum_pods(gang, 0);
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		int shape = cluster->pod_classes.items[pod->pod_class].shape;
		if (cycle_is_member(pod)) { /* which part of the minimum it makes up is not asked: nothing is counted */
			search->slots_needed = 0;
		} else if (pod->state == MEMBER_WAITING) {
			if (search->shape >= 0 && search->shape != shape)
				search->slots_needed = 0;
			search->shape = shape;
		}
	}
	search->shape = search->slots_needed > 0 ? search->shape : -1;
}

/* The beneficiary alone, with the set lifted. */
static bool fits_alone(struct move_search *search)
{
	struct placement placement;
	const struct place_allowance *allowance = search->bounded ? &search->allowance : NULL;
	evict_ask_place(search->attempt, search->left, allowance, &placement);
	spend(search, placement.steps);
	search->undecided |= placement.outcome == PLACE_EXHAUSTED;
	return placement.outcome == PLACE_PLACED;
}

/* What the queues leave to the beneficiary and to those who move beside it. */
static struct place_allowance allow_moved(const struct move_search *search)
{
	const struct evict_attempt *attempt = search->attempt;
	struct place_allowance allowance = search->allowance;
	for (size_t i = 0; i < attempt->applied; i++)
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			if (allowance.left[r] < INT64_MAX)
				allowance.left[r] = clamp_add(allowance.left[r], attempt->units[i]->amounts[r]);
	return allowance;
}

static enum place_outcome fit_together(struct move_search *search, struct joint *joint, struct placement *placement)
{
	struct evict_attempt *attempt = search->attempt;
	struct arena *arena = attempt->run->scratch;
	arena_reset(arena);
	joint_build(attempt, arena, joint);
	uint64_t budget = search->left / SHARE + 1; /* one hard set does not use up what the others need */
	struct place_allowance allowance = allow_moved(search);
	struct place_options options = {.budget = budget,
	                                .use_releasing = true,
	                                .allowance = search->bounded ? &allowance : NULL};
	engine_place(attempt->cycle->cluster, &joint->gang, &options, arena, placement);
	spend(search, placement->steps);
	search->undecided |= placement->outcome == PLACE_EXHAUSTED;
	return placement->outcome;
}

/* Takes the answer apart: places of the beneficiary, and moves of the others. */
static bool decide(struct move_search *search, const struct joint *joint, const struct placement *placement)
{
	struct evict_attempt *attempt = search->attempt;
	struct arena *arena = attempt->scratch;
	struct placement own = *placement;
	struct moves moves = {.items = arena_array(arena, struct moved_pod, placement->choice_count)};
	own.choices = arena_array(arena, struct place_choice, placement->choice_count);
	own.choice_count = 0;
	for (size_t i = 0; i < placement->choice_count; i++) {
		const struct place_choice *choice = &placement->choices[i];
		int group = joint->group[choice->pod], pod = joint->pod[choice->pod];
		if (group == attempt->group)
			own.choices[own.choice_count++] = (struct place_choice){.pod = pod, .node = choice->node};
		else
			moves.items[moves.count++] =
				(struct moved_pod){.group = group,
			                           .pod = pod,
			                           .node = choice->node,
			                           .from = attempt->cycle->groups[group].gang.pods[pod].node};
	}
	attempt->placement = own;
	attempt->proved_fewest = !search->undecided;
	bool made = evict_decide_moves(attempt, &moves);
	attempt->proved_fewest = made && attempt->proved_fewest;
	search->undecided |= !made; /* rules between pods were against these places: others were not asked */
	if (!made && ++search->refused >= MOST_REFUSED)
		search->left = 0;
	return made;
}

static bool try_set(struct move_search *search)
{
	struct joint joint;
	struct placement placement;
	if (!has_slots(search)) {
		spend_looks(search, LOOKS_A_STEP);
		return false;
	}
	return (search->shape >= 0 || fits_alone(search)) && fit_together(search, &joint, &placement) == PLACE_PLACED &&
	       decide(search, &joint, &placement);
}

/* ---- all sets of one size ---- */

/* Whether one like it was tried already with the same units before it. */
static bool is_new(struct move_search *search, size_t depth, const struct victim_unit *unit)
{
	uint64_t key = alike_key(search->alike, unit) | 1; /* 0: nothing */
	uint64_t *tried = search->frame[depth].tried;
	size_t at = (size_t)(key >> 1) & (search->table_size - 1);
	for (; tried[at]; at = (at + 1) & (search->table_size - 1))
		if (tried[at] == key)
			return false;
	tried[at] = key;
	return true;
}

static void open_frame(struct move_search *search, size_t depth, size_t at)
{
	search->frame[depth].at = at;
	if (!search->frame[depth].tried)
		search->frame[depth].tried = arena_array(search->attempt->scratch, uint64_t, search->table_size);
	memset(search->frame[depth].tried, 0, search->table_size * sizeof(uint64_t));
	spend_looks(search, search->table_size / LOOKS_A_STEP);
}

static void lift(struct move_search *search, size_t depth, const struct victim_unit *unit)
{
	struct evict_attempt *attempt = search->attempt;
	attempt->units[depth] = unit;
	attempt->unit_count = depth + 1;
	evict_lift_prefix(attempt, depth + 1);
	alike_lift(search->alike, unit, true);
}

static void put_back(struct move_search *search, size_t depth)
{
	const struct victim_unit *unit = search->attempt->units[depth];
	evict_lift_prefix(search->attempt, depth);
	alike_lift(search->alike, unit, false);
}

/* True when it was decided. */
static bool try_size(struct move_search *search, size_t size)
{
	size_t depth = 0;
	open_frame(search, 0, 0);
	for (;;) {
		size_t at = search->frame[depth].at;
		if (at + (size - depth) > search->count || !search->left) {
			if (depth == 0)
				return false;
			put_back(search, --depth);
			continue;
		}
		const struct victim_unit *unit = search->units[search->frame[depth].at++];
		spend_looks(search, 1);
		if (!is_new(search, depth, unit))
			continue;
		lift(search, depth, unit);
		if (budgets_count_violations(search->attempt->run->budgets) > 0) {
			search->guarded = true; /* whoever asks next says so */
		} else if (depth + 1 == size) {
			if (try_set(search))
				return true;
		} else {
			open_frame(search, ++depth, at + 1);
			continue;
		}
		put_back(search, depth);
	}
}

/* Half of the steps that are left for each size, so that a larger one is tried though a smaller one takes long. */
static bool try_sizes(struct move_search *search)
{
	size_t most = evict_most_moves(search->attempt->run);
	for (size_t size = 1; size <= search->count && size <= most && search->left; size++) {
		uint64_t rest = search->left / 2;
		search->left -= rest;
		if (try_size(search, size))
			return true;
		search->undecided |= !search->left;
		search->left += rest;
	}
	search->undecided |= search->count > most;
	return false;
}

/* ---- whether there is any hope ---- */

/* What moves stays on its account, so what the queues leave is the same for all sets. */
static void find_allowance(struct move_search *search)
{
	search->bounded = false;
	if (!evict_find_allowance(search->attempt, &search->allowance))
		return;
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		search->bounded |= search->allowance.left[r] < INT64_MAX;
}

static bool is_hopeless(struct move_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	struct joint joint;
	struct placement placement = {0};
	memcpy(attempt->units, search->units, search->count * sizeof(*search->units));
	attempt->unit_count = search->count;
	evict_lift_prefix(attempt, search->count);
	bool hopeless = !fits_alone(search);
	if (!hopeless && search->count <= MOST_REPACKED) {
		enum place_outcome outcome = fit_together(search, &joint, &placement);
		hopeless = outcome == PLACE_IMPOSSIBLE;
		search->doubtful = outcome == PLACE_EXHAUSTED;
	}
	hopeless &= !search->undecided;
	search->alike = alike_create(attempt, search->units, search->count, false);
	evict_lift_prefix(attempt, 0);
	return hopeless;
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

static void list_candidates(struct move_search *search)
{
	struct evict_attempt *attempt = search->attempt;
	size_t listed = attempt->unit_count;
	search->count = listed + attempt->deferred_count;
	search->units = arena_array(attempt->scratch, const struct victim_unit *, search->count);
	if (listed)
		memcpy(search->units, attempt->units, listed * sizeof(*search->units));
	if (attempt->deferred_count)
		memcpy(search->units + listed, attempt->deferred, attempt->deferred_count * sizeof(*search->units));
	qsort(search->units, search->count, sizeof(*search->units), compare_units);
	search->table_size = 16;
	while (search->table_size < 2 * search->count)
		search->table_size *= 2;
}

enum fewest_outcome fewest_moves_try(struct evict_attempt *attempt)
{
	uint64_t spent = attempt->run->move_steps, most = spent < ALL_STEPS ? ALL_STEPS - spent : 0;
	struct move_search search = {.attempt = attempt, .left = most < MOST_STEPS ? most : MOST_STEPS};
	const struct victim_unit **before = attempt->units;
	size_t listed = attempt->unit_count;
	bool one_of_many = attempt->grow && evict_beneficiary(attempt)->gang.tree_count > 1; /* see joint_build */
	size_t count = listed + attempt->deferred_count;
	bool starts_whole =
		evict_beneficiary(attempt)->gang.starts_whole; /* nobody asks here for room for those to come */
	if (attempt->trial || one_of_many || starts_whole || count == 0 || count > MOST_PODS || !most)
		return FEWEST_GAVE_UP;
	most = search.left;
	list_candidates(&search);
	count_needed(&search);
	find_allowance(&search);
	attempt->units = arena_array(attempt->scratch, const struct victim_unit *, search.count);
	bool hopeless = is_hopeless(&search);
	search.undecided = false;
	if (search.doubtful && search.left > DOUBTFUL_STEPS) {
		most -= search.left - DOUBTFUL_STEPS;
		search.left = DOUBTFUL_STEPS;
	}
	bool made = !hopeless && try_sizes(&search);
	attempt->run->move_steps += most - search.left;
	if (made)
		return FEWEST_MADE;
	evict_lift_prefix(attempt, 0);
	attempt->units = before;
	attempt->unit_count = listed;
	return hopeless || !(search.undecided || search.guarded) ? FEWEST_NONE : FEWEST_GAVE_UP;
}
