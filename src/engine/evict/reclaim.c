/* Owns the action that takes back what other queues use above their share. A claim of the shares decides what may be taken;
 * where very many units could be, they are listed as they are asked for. */
#include "engine/cycle/actions.h"
#include "engine/evict/internal.h"

#include <stdlib.h>

static bool has_candidates(const struct evict_attempt *attempt)
{
	const struct queue_census *census = victim_index_take_census(attempt->run);
	return attempt->cycle->group_count > census[0].groups + census[evict_beneficiary(attempt)->queue + 1].groups;
}

/* ---- the cheapest unit of all queues above what they may keep ---- */

struct unit_source { /* a queue, its next unit, and how far it was listed */
	const struct victim_unit *unit;
	size_t at;
	int queue;
};

static bool source_before(const struct unit_source *a, const struct unit_source *b)
{
	return victims_compare(a->unit, b->unit) < 0;
}

static void swap_sources(struct unit_source *a, struct unit_source *b)
{
	struct unit_source swap = *a;
	*a = *b;
	*b = swap;
}

static void sift_down(struct unit_source *heap, size_t count)
{
	for (size_t at = 0, down; (down = 2 * at + 1) < count; at = down) {
		if (down + 1 < count && source_before(&heap[down + 1], &heap[down]))
			down++;
		if (!source_before(&heap[down], &heap[at]))
			break;
		swap_sources(&heap[down], &heap[at]);
	}
}

static void open_source(struct evict_attempt *attempt, struct unit_source source)
{
	struct unit_source *heap = attempt->sources;
	heap[attempt->source_count] = source;
	for (size_t at = attempt->source_count++; at > 0 && source_before(&heap[at], &heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		swap_sources(&heap[at], &heap[(at - 1) / 2]);
}

/* Opens the queues whose cheapest unit may be the next of all, so that one which is not needed costs nothing. */
static void open_sources(struct evict_attempt *attempt)
{
	for (; attempt->unopened_count; attempt->unopened++, attempt->unopened_count--) {
		struct unit_source source = {.queue = *attempt->unopened};
		size_t from = source.at;
		source.unit = victim_index_next_unit(attempt->run->victim_index, source.queue, &source.at);
		if (attempt->source_count && source_before(&attempt->sources[0], &source))
			return;
		source.at = from;
		source.unit = evict_next_unit(attempt, source.queue, &source.at);
		if (source.unit && source.queue != evict_beneficiary(attempt)->queue &&
		    share_claim_may_take(&attempt->run->claim, source.queue))
			open_source(attempt, source);
	}
}

/* A queue that is refused once, judged with all cheaper victims gone, gives nothing more for this claim. */
static void take_next(struct evict_attempt *attempt)
{
	struct unit_source *best = &attempt->sources[0];
	if (evict_defer_guarded(attempt, best->unit)) {
		best->unit = evict_next_unit(attempt, best->queue, &best->at);
	} else if (share_claim_take(&attempt->run->claim, best->queue, best->unit->amounts) == SHARE_ALLOWED) {
		evict_append_unit(attempt, best->unit);
		best->unit = evict_next_unit(attempt, best->queue, &best->at);
	} else {
		best->unit = NULL;
	}
	if (!best->unit)
		*best = attempt->sources[--attempt->source_count];
	sift_down(attempt->sources, attempt->source_count);
	open_sources(attempt);
}

static void charge_applied(struct evict_attempt *attempt, int sign)
{
	for (size_t i = 0; i < attempt->applied; i++)
		evict_charge_unit(attempt, attempt->units[i], sign);
}

static void list_more_units(struct evict_attempt *attempt, size_t count)
{
	if (attempt->unit_count >= count || !attempt->source_count)
		return;
	charge_applied(attempt, 1); /* a claim counts its victims itself */
	while (attempt->unit_count < count && attempt->source_count)
		take_next(attempt);
	charge_applied(attempt, -1);
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

/* Asking the shares in between has begun another claim. */
static void begin_anew(struct evict_attempt *attempt)
{
	share_claim_begin(&attempt->run->claim, evict_beneficiary(attempt)->queue, attempt->claimed,
	                  evict_gain_is_protected(attempt));
}

static bool list_remaining_units(struct evict_attempt *attempt)
{
	size_t all = 0;
	begin_anew(attempt);
	for (size_t i = 0; i < attempt->unit_count; i++)
		share_claim_take(&attempt->run->claim, attempt->cycle->groups[attempt->units[i]->group].queue,
		                 attempt->units[i]->amounts);
	list_more_units(attempt, SIZE_MAX);
	for (int q = 0; q < (int)attempt->cycle->queue_count; q++)
		all += q == evict_beneficiary(attempt)->queue ? 0
		                                              : victim_index_count_units(attempt->run->victim_index, q);
	return attempt->unit_count < all;
}

static void list_movable_units(struct evict_attempt *attempt)
{
	int own = evict_beneficiary(attempt)->queue;
	size_t taken = attempt->movable_from = attempt->unit_count;
	size_t *from = arena_array(attempt->scratch, size_t, attempt->cycle->group_count);
	for (size_t i = 0; i < taken; i++)
		from[attempt->units[i]->group]++;
	for (int q = 0; q < (int)attempt->cycle->queue_count; q++) {
		const struct victim_unit *unit;
		for (size_t at = 0; q != own && (unit = evict_next_unit(attempt, q, &at));) {
			if (from[unit->group] > 0) /* of each group the first ones */
				from[unit->group]--;
			else if (!cycle_has_mark(attempt->run, MARK_GUARDED, unit->group) &&
			         !evict_defer_guarded(attempt, unit))
				evict_append_unit(attempt, unit);
		}
	}
	if (attempt->unit_count > taken)
		qsort(attempt->units + taken, attempt->unit_count - taken, sizeof(*attempt->units), compare_units);
}

static void list_units(struct evict_attempt *attempt)
{
	attempt->unopened = victim_index_list_queues(attempt->run->victim_index, &attempt->unopened_count);
	attempt->sources = arena_alloc_raw(attempt->scratch, attempt->unopened_count * sizeof(*attempt->sources));
	open_sources(attempt); /* fills them */
}

/* Everything that could be taken, unless there is very much of it. */
static void list_all_units(struct evict_attempt *attempt)
{
	enum { MOST_GROUPS = 192 };
	int own = evict_beneficiary(attempt)->queue;
	for (int q = 0; attempt->cycle->group_count <= MOST_GROUPS && q < (int)attempt->cycle->queue_count; q++) {
		const struct victim_unit *unit;
		if (q == own || !share_claim_may_take(&attempt->run->claim, q))
			continue;
		for (size_t at = 0; (unit = evict_next_unit(attempt, q, &at));)
			evict_append_unit(attempt, unit);
	}
}

static bool disturbs(const struct evict_attempt *attempt, int queue)
{
	return queue != evict_beneficiary(attempt)->queue;
}

/* ---- the right to it ---- */

static bool begin_claim(struct evict_attempt *attempt)
{
	struct cycle_group *own = evict_beneficiary(attempt);
	/* The cheapest thing the group could ask for: its minimum, counted in waiting pods from the front. */
	int64_t *request = attempt->claimed;
	int64_t pods = attempt->grow ? 1 : gang_minimum_pods(&own->gang, 0);
	for (size_t p = 0; !attempt->grow && p < own->gang.pod_count; p++)
		pods -= cycle_is_member(&own->gang.pods[p]);
	for (size_t p = 0; p < own->gang.pod_count && pods > 0; p++)
		if (own->gang.pods[p].state == MEMBER_WAITING) {
			cycle_add_pod(attempt->run, own->gang.pods[p].pod_class, request);
			pods--;
		}
	return share_claim_begin(&attempt->run->claim, own->queue, request, evict_gain_is_protected(attempt)) ==
	       SHARE_ALLOWED;
}

/* A claim must stay within the fair share of its own queue: see share_claim_begin. */
static bool is_within_share(const struct evict_attempt *attempt)
{
	const struct share_queue *own = &attempt->run->shares[evict_beneficiary(attempt)->queue];
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (attempt->cost.amounts[r] > own->fair[r] - own->allocated[r])
			return false;
	return true;
}

static void narrow(const struct evict_attempt *attempt, int resource, int64_t *left)
{
	const struct share_queue *own = &attempt->run->shares[evict_beneficiary(attempt)->queue];
	if (own->fair[resource] - own->allocated[resource] < *left)
		*left = own->fair[resource] - own->allocated[resource];
}

/* The shares must still justify the victims that are left. */
static bool shares_justify(struct evict_attempt *attempt)
{
	struct share_claim *claim = &attempt->run->claim;
	if (share_claim_begin(claim, evict_beneficiary(attempt)->queue, attempt->cost.amounts,
	                      evict_gain_is_protected(attempt)) != SHARE_ALLOWED)
		return false;
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		if (attempt->kept[i] || evict_has_moved(attempt, i))
			continue;
		if (share_claim_take(claim, attempt->cycle->groups[unit->group].queue, unit->amounts) != SHARE_ALLOWED)
			return false;
	}
	if (share_claim_settle(claim) != SHARE_ALLOWED)
		return false;
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		if (!attempt->kept[i] && !evict_has_moved(attempt, i) &&
		    share_claim_bounces(claim, attempt->cycle->groups[unit->group].queue, unit->amounts))
			return false;
	}
	return true;
}

static bool undercuts(const struct evict_attempt *attempt, const struct victim_unit *unit)
{
	const struct share_queue *queue = &attempt->run->shares[attempt->cycle->groups[unit->group].queue];
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (unit->amounts[r] > 0 && queue->allocated[r] < share_entitlement(queue, r))
			return true;
	return false;
}

static bool claim_justifies(struct evict_attempt *attempt)
{
	/* A claim counts its victims itself. */
	evict_charge_left(attempt, false, 1);
	bool fine = shares_justify(attempt);
	evict_charge_left(attempt, false, -1);
	return fine;
}

/* ---- trying ---- */

/* What may be taken; then, together with all of it, what may only be moved. */
static bool try_units(struct evict_attempt *attempt)
{
	begin_anew(attempt);
	if (evict_try_prefixes(attempt, 0, SIZE_MAX))
		return true;
	if (attempt->with_deferred || !list_remaining_units(attempt))
		return false;
	evict_lift_prefix(attempt, attempt->unit_count);
	bool hopeful = moves_could_help(attempt);
	evict_lift_prefix(attempt, 0);
	if (!hopeful)
		return false;
	list_movable_units(attempt);
	return attempt->movable_from < attempt->unit_count && evict_try_prefixes(attempt, 0, SIZE_MAX);
}

static const struct evict_method reclaiming = {
	.may_move_others = true,
	.runtime = EVICT_RUNTIME_RECLAIM,
	.has_candidates = has_candidates,
	.begin = begin_claim,
	.list = list_units,
	.list_all = list_all_units,
	.disturbs = disturbs,
	.list_more = list_more_units,
	.try_units = try_units,
	.allows = is_within_share,
	.narrow = narrow,
	.justifies = claim_justifies,
	.undercuts = undercuts,
};

const struct action_row action_reclaim = {
	.run = cycle_make_room,
	.method = &reclaiming,
	.serves_waiting = true,
	.evicts = true,
	.why = "its queue is entitled to it",
};
