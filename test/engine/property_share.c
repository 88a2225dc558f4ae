/* Property test of fair shares: random queue trees, compared with a slow reference and with what must always hold.
 *
 * PLATOON_PROPERTY_SEED is the seed of the first instance (instance i uses seed + i), PLATOON_PROPERTY_COUNT their
 * number. A failed instance is printed with its seed. */
#include "random.h"
#include "share_claims.h"
#include "share_reference.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = 60000, MOST_QUEUES = 12, MOST_PRINTED = 3 };
_Static_assert((int)MOST_QUEUES <= (int)REFERENCE_MAX, "the reference has room");

struct instance {
	int count;
	bool is_huge;  /* amounts near the end of the range: too many units for the reference */
	bool is_whole; /* GPU amounts are whole devices */
	bool has_past; /* which then counts */
	struct share_queue queues[MOST_QUEUES];
	int64_t total[SHARE_RESOURCES];
};

static char problem[256];

static bool fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(problem, sizeof(problem), format, args);
	va_end(args);
	return false;
}

/* ---- instances ---- */

static int64_t random_amount(struct random *random, const struct instance *instance, int resource, int most)
{
	if (instance->is_huge)
		return (int64_t)(random_next(random) >> random_range(random, 8, 60));
	int64_t amount = random_range(random, 0, most);
	if (resource != SHARE_GPU)
		return amount;
	return instance->is_whole ? amount * 1000 : amount * 1000 + random_range(random, 0, 4) * 250;
}

static void random_queue(struct random *random, const struct instance *instance, struct share_queue *queue)
{
	queue->priority = random_chance(random, 60) ? 100 : random_range(random, 99, 101);
	queue->creation = random_range(random, 0, 4);
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		queue->quota[r] = random_chance(random, 12) ? -1 : random_amount(random, instance, r, 10);
		queue->limit[r] = random_chance(random, 75) ? -1 : random_amount(random, instance, r, 14);
		queue->weight[r] = random_chance(random, 25) ? 0 : random_range(random, 1, 5) * 1000;
		if (random_chance(random, 10))
			queue->weight[r] = instance->is_huge ? INT64_MAX : random_range(random, 1, 7777);
		if (instance->has_past && random_chance(random, 70))
			queue->past[r] = SHARE_PAST_WHOLE / 1000 * random_range(random, 0, 1100);
	}
}

/* Depth of at most 4; a parent may come later in the array than its child. */
static void random_tree(struct random *random, struct instance *instance)
{
	int depth[MOST_QUEUES], place[MOST_QUEUES];
	for (int i = 0; i < instance->count; i++)
		place[i] = i;
	for (int i = instance->count - 1; i > 0; i--) {
		int other = random_range(random, 0, i), swap = place[i];
		place[i] = place[other];
		place[other] = swap;
	}
	for (int i = 0; i < instance->count; i++) {
		int up = i && random_chance(random, 60) ? random_range(random, 0, i - 1) : -1;
		if (up >= 0 && depth[up] == 4)
			up = -1;
		depth[i] = up < 0 ? 1 : depth[up] + 1;
		instance->queues[place[i]].parent = up < 0 ? -1 : place[up];
	}
}

static void random_use(struct random *random, struct instance *instance, int queue)
{
	bool is_leaf = true, is_summed = random_chance(random, 90);
	for (int i = 0; i < instance->count; i++)
		is_leaf &= instance->queues[i].parent != queue;
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		int64_t used = 0, asked = 0;
		if (is_leaf || random_chance(random, 15)) {
			used = random_chance(random, 40) ? 0 : random_amount(random, instance, r, 8);
			asked = random_chance(random, 25) ? 0 : random_amount(random, instance, r, 12);
		}
		for (int q = queue; q >= 0; q = is_summed ? instance->queues[q].parent : -1) {
			instance->queues[q].allocated[r] += used;
			instance->queues[q].requested[r] += used + asked;
		}
	}
}

static void random_instance(uint64_t seed, struct instance *instance)
{
	struct random random = {seed};
	*instance = (struct instance){.count = random_range(&random, 1, MOST_QUEUES),
	                              .is_huge = random_chance(&random, 15),
	                              .is_whole = random_chance(&random, 60),
	                              .has_past = random_chance(&random, 30)};
	for (int i = 0; i < instance->count; i++)
		random_queue(&random, instance, &instance->queues[i]);
	random_tree(&random, instance);
	for (int i = 0; i < instance->count; i++)
		random_use(&random, instance, i);
	for (int r = 0; r < SHARE_RESOURCES; r++)
		instance->total[r] = random_amount(&random, instance, r, 5 * instance->count + 5);
}

static void print_instance(const struct instance *instance)
{
	for (int r = 0; r < SHARE_RESOURCES; r++) {
		printf("  resource %d: total %" PRId64 "\n", r, instance->total[r]);
		for (int i = 0; i < instance->count; i++) {
			const struct share_queue *queue = &instance->queues[i];
			printf("    %2d in %2d priority %" PRId64 " age %" PRId64 " quota %" PRId64 " limit %" PRId64
			       " weight %" PRId64 " allocated %" PRId64 " requested %" PRId64 " fair %" PRId64 "\n",
			       i, queue->parent, queue->priority, queue->creation, queue->quota[r], queue->limit[r],
			       queue->weight[r], queue->allocated[r], queue->requested[r], queue->fair[r]);
		}
	}
}

/* ---- shares ---- */

static bool matches_reference(const struct instance *instance)
{
	for (int r = 0; r < SHARE_RESOURCES && !instance->is_huge; r++) {
		int64_t fair[MOST_QUEUES] = {0};
		reference_shares(instance->queues, instance->count, instance->total[r], r, fair);
		for (int i = 0; i < instance->count; i++)
			if (fair[i] != instance->queues[i].fair[r])
				return fail("resource %d of queue %d: the share is %" PRId64
				            ", the reference says %" PRId64,
				            r, i, instance->queues[i].fair[r], fair[i]);
	}
	return true;
}

/* A queue beside its siblings. */
struct place {
	const struct share_queue *queue;
	int64_t demand, sure, beyond, weight;
};

static bool pair_holds(const struct place *a, const struct place *b, int64_t unit, bool has_past)
{
	if (!a->weight || a->sure + a->beyond == a->demand)
		return true;
	if (b->queue->priority < a->queue->priority && b->beyond)
		return fail("a lower priority got a part while a higher one wants more");
	if (b->queue->priority != a->queue->priority || !b->weight || has_past)
		return true;
	/* Nobody is more than a unit above its part, so nobody may be ahead of one who wants more by more than two. */
	__int128 ahead = (__int128)b->beyond * a->weight - (__int128)a->beyond * b->weight;
	if (ahead >= (__int128)unit * (a->weight + b->weight))
		return fail("parts are not in proportion to the weights");
	return true;
}

static bool level_holds(const struct instance *instance, int parent, int r)
{
	struct place places[MOST_QUEUES];
	int count = 0;
	int64_t total = parent < 0 ? instance->total[r] : instance->queues[parent].fair[r];
	__int128 sum = 0, sure = 0;
	bool somebody_wants = false;
	for (int i = 0; i < instance->count; i++) {
		const struct share_queue *queue = &instance->queues[i];
		if (queue->parent != parent)
			continue;
		struct place *place = &places[count++];
		int64_t quota = queue->quota[r] < 0 ? total : queue->quota[r];
		*place = (struct place){.queue = queue,
		                        .demand = reference_demand(instance->queues, instance->count, i, r)};
		place->sure = quota < place->demand ? quota : place->demand;
		place->beyond = queue->fair[r] - place->sure;
		place->weight = queue->weight[r] < SHARE_WEIGHT_MAX ? queue->weight[r] : SHARE_WEIGHT_MAX;
		if (place->beyond < 0 || queue->fair[r] > place->demand)
			return fail("resource %d of queue %d: share below its guarantee or above its demand", r, i);
		if (queue->limit[r] >= 0 && queue->fair[r] > queue->limit[r])
			return fail("resource %d of queue %d: share above the limit", r, i);
		if (place->beyond && !queue->weight[r])
			return fail("resource %d of queue %d: no weight, but a part beyond the quota", r, i);
		if (r == SHARE_GPU && instance->is_whole && !instance->is_huge && queue->fair[r] % 1000)
			return fail("queue %d: whole devices went in, %" PRId64 "m came out", i, queue->fair[r]);
		sum += queue->fair[r];
		sure += place->sure;
		somebody_wants |= queue->weight[r] > 0 && queue->fair[r] < place->demand;
	}
	if (sum > total && sum > sure)
		return fail("resource %d below queue %d: more handed out than there is", r, parent);
	if (sum < total && somebody_wants)
		return fail("resource %d below queue %d: something is left over though it is wanted", r, parent);
	for (int a = 0; a < count; a++)
		for (int b = 0; b < count; b++)
			if (a != b && !pair_holds(&places[a], &places[b], reference_unit(r), instance->has_past))
				return false;
	return true;
}

static bool invariants_hold(const struct instance *instance)
{
	for (int r = 0; r < SHARE_RESOURCES; r++)
		for (int parent = -1; parent < instance->count; parent++)
			if (!level_holds(instance, parent, r))
				return false;
	return true;
}

/* The same queues in the opposite order of the array have the same shares. Ties by index become ties by age first. */
static bool ignores_array_order(const struct instance *instance, struct arena *arena)
{
	struct instance one = *instance, other = *instance;
	int last = instance->count - 1;
	for (int i = 0; i <= last; i++) {
		one.queues[i].creation = i;
		other.queues[last - i] = one.queues[i];
		other.queues[last - i].parent = one.queues[i].parent < 0 ? -1 : last - one.queues[i].parent;
	}
	share_compute(one.queues, (size_t)one.count, one.total, arena);
	share_compute(other.queues, (size_t)other.count, other.total, arena);
	for (int i = 0; i <= last; i++)
		if (memcmp(one.queues[i].fair, other.queues[last - i].fair, sizeof(one.queues[i].fair)) != 0)
			return fail("queue %d has another share when the array is turned round", i);
	return true;
}

/* Who used more in the past has no larger share now, with everything else as it is. */
static bool past_lessens(const struct instance *source, struct random *random, struct arena *arena)
{
	struct instance instance = *source;
	int q = random_range(random, 0, instance.count - 1), r = random_range(random, 0, SHARE_RESOURCES - 1);
	int64_t before = instance.queues[q].fair[r];
	instance.queues[q].past[r] += SHARE_PAST_WHOLE / 1000 * random_range(random, 1, 500);
	share_compute(instance.queues, (size_t)instance.count, instance.total, arena);
	/* A unit may go to it because the others, with larger parts, have smaller remainders. */
	if (instance.queues[q].fair[r] - before >= 2 * reference_unit(r))
		return fail("queue %d used more of resource %d and has a larger share", q, r);
	return true;
}

/* ---- order ---- */

static int slow_best(const struct instance *instance, int parent, const bool *waits, int64_t (*next)[SHARE_RESOURCES])
{
	int best = -1, best_child = -1;
	for (int i = 0; i < instance->count; i++) {
		if (instance->queues[i].parent != parent)
			continue;
		int below = waits[i] ? i : slow_best(instance, i, waits, next);
		if (below < 0)
			continue;
		if (best < 0 ||
		    share_before(instance->queues, instance->total, i, next[below], best_child, next[best])) {
			best = below;
			best_child = i;
		}
	}
	return best;
}

/* Siblings have one order, without circles; and the kept order says what a look at all of them says. */
static bool order_holds(struct instance *instance, struct random *random, struct arena *arena)
{
	int64_t next[MOST_QUEUES][SHARE_RESOURCES];
	bool waits[MOST_QUEUES] = {false};
	const struct share_queue *queues = instance->queues;
	struct share_order *order = share_order_create(queues, (size_t)instance->count, instance->total, arena);
	for (int step = 0; step < 2 * instance->count; step++) {
		int q = random_range(random, 0, instance->count - 1);
		waits[q] = random_chance(random, 70);
		for (int r = 0; r < SHARE_RESOURCES; r++) {
			next[q][r] = random_amount(random, instance, r, 6);
			int64_t change = random_chance(random, 50) ? 0 : random_amount(random, instance, r, 3);
			for (int up = q; up >= 0 && !instance->is_huge; up = queues[up].parent)
				instance->queues[up].allocated[r] += change;
		}
		share_order_set(order, q, waits[q] ? next[q] : NULL);
		if (share_order_best(order) != slow_best(instance, -1, waits, next))
			return fail("the kept order says queue %d, a look at all says %d", share_order_best(order),
			            slow_best(instance, -1, waits, next));
	}
	for (int a = 0; a < instance->count; a++)
		for (int b = 0; b < instance->count; b++) {
			bool before = share_before(queues, instance->total, a, NULL, b, NULL);
			if (a != b && before == share_before(queues, instance->total, b, NULL, a, NULL))
				return fail("queues %d and %d: neither or both are first", a, b);
			for (int c = 0; c < instance->count && before; c++)
				if (queues[a].parent == queues[b].parent && queues[b].parent == queues[c].parent &&
				    c != a && share_before(queues, instance->total, b, NULL, c, NULL) &&
				    !share_before(queues, instance->total, a, NULL, c, NULL))
					return fail("queues %d, %d, %d are in a circle", a, b, c);
		}
	return true;
}

/* ---- reclaim ---- */

static void move(struct instance *instance, int queue, const int64_t *amounts, int sign)
{
	for (int q = queue; q >= 0; q = instance->queues[q].parent)
		for (int r = 0; r < SHARE_RESOURCES; r++)
			instance->queues[q].allocated[r] += sign * amounts[r];
}

/* One device changes hands only if it stays: the loser may not take it back at once. Only GPUs are looked at, the other
 * resources are unlimited, as where devices are what is scarce. */
static bool reclaim_holds(const struct instance *source, struct random *random, struct arena *arena)
{
	struct instance instance = *source;
	struct share_claim claim;
	for (int i = 0; i < instance.count; i++)
		for (int r = 0; r < SHARE_RESOURCES; r++)
			if (r != SHARE_GPU) {
				instance.queues[i].quota[r] = instance.queues[i].limit[r] = -1;
				instance.queues[i].allocated[r] = instance.queues[i].requested[r] = 0;
			}
	share_compute(instance.queues, (size_t)instance.count, instance.total, arena);
	share_claim_init(&claim, instance.queues, (size_t)instance.count, arena);
	for (int step = 0; step < 20; step++) {
		int a = random_range(random, 0, instance.count - 1), b = random_range(random, 0, instance.count - 1);
		int64_t amounts[SHARE_RESOURCES] = {random_range(random, 1, 3) * 1000};
		struct claim_victim victim = {.queue = b}, back = {.queue = a};
		memcpy(victim.amounts, amounts, sizeof(amounts));
		memcpy(back.amounts, amounts, sizeof(amounts));
		const struct share_queue *own = &instance.queues[a];
		if (instance.queues[b].allocated[SHARE_GPU] < amounts[SHARE_GPU])
			continue;
		if (claim_whole(&claim, a, amounts, false, &victim, 1) != SHARE_ALLOWED)
			continue;
		if (a == b || own->allocated[SHARE_GPU] + amounts[SHARE_GPU] > own->fair[SHARE_GPU])
			return fail("queue %d may reclaim from %d and end above its fair share", a, b);
		move(&instance, b, amounts, -1);
		move(&instance, a, amounts, 1);
		if (claim_whole(&claim, b, amounts, false, &back, 1) == SHARE_ALLOWED)
			return fail("queue %d reclaimed %" PRId64 "m from %d, which may take them back", a,
			            amounts[SHARE_GPU], b);
	}
	return true;
}

/* ---- */

static bool check(struct instance *instance, uint64_t seed, struct arena *arena)
{
	struct random random = {~seed};
	arena_reset(arena);
	share_compute(instance->queues, (size_t)instance->count, instance->total, arena);
	return matches_reference(instance) && invariants_hold(instance) && ignores_array_order(instance, arena) &&
	       past_lessens(instance, &random, arena) &&
	       (instance->is_huge || reclaim_holds(instance, &random, arena)) && order_holds(instance, &random, arena);
}

static uint64_t environment_number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : fallback;
}

int main(void)
{
	uint64_t seed = environment_number("PLATOON_PROPERTY_SEED", 1);
	uint64_t count = environment_number("PLATOON_PROPERTY_COUNT", DEFAULT_COUNT), failed = 0;
	struct arena *arena = arena_create();
	for (uint64_t i = 0; i < count; i++) {
		struct instance instance;
		random_instance(seed + i, &instance);
		if (check(&instance, seed + i, arena) || ++failed > MOST_PRINTED)
			continue;
		printf("seed %" PRIu64 ": %s\n", seed + i, problem);
		print_instance(&instance);
	}
	arena_destroy(arena);
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", count - failed, failed);
	return failed ? 1 : 0;
}
