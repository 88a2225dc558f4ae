/* Which units may go for a group, the cheapest first. Where very many could be taken they are listed as they are asked
 * for. */
#include "engine/evict/runtime.h"

#include "base/grow.h"

#include <stdlib.h>

static void append_unit(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	if (attempt->unit_count == attempt->unit_capacity)
		attempt->units = grow_array(attempt->scratch, attempt->units, attempt->unit_count,
		                            &attempt->unit_capacity, sizeof(*attempt->units));
	attempt->units[attempt->unit_count++] = unit;
}

/* ---- reclaim: the cheapest unit of all queues above what they may keep ---- */

struct unit_source { /* a queue, its next unit, and how far it was listed */
	const struct victim_unit *unit;
	size_t at;
	int queue;
};

/* The next unit of a queue that has run long enough to go. */
static const struct victim_unit *next_unit(struct evict_attempt *attempt, int queue, size_t *at)
{
	const struct victim_unit *unit;
	do
		unit = victim_index_next_unit(attempt->run->victim_index, queue, at);
	while (unit && runtime_protects_unit(attempt, unit));
	return unit;
}

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
		source.unit = next_unit(attempt, source.queue, &source.at);
		if (source.unit && source.queue != evict_beneficiary(attempt)->queue &&
		    share_claim_may_take(&attempt->run->claim, source.queue))
			open_source(attempt, source);
	}
}

/* A queue that is refused once, judged with all cheaper victims gone, gives nothing more for this claim. */
static void take_next(struct evict_attempt *attempt)
{
	struct unit_source *best = &attempt->sources[0];
	if (share_claim_take(&attempt->run->claim, best->queue, best->unit->amounts) == SHARE_ALLOWED) {
		append_unit(attempt, best->unit);
		best->unit = next_unit(attempt, best->queue, &best->at);
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

void evict_list_more_units(struct evict_attempt *attempt, size_t count)
{
	if (attempt->unit_count >= count || !attempt->source_count)
		return;
	charge_applied(attempt, 1); /* a claim counts its victims itself */
	while (attempt->unit_count < count && attempt->source_count)
		take_next(attempt);
	charge_applied(attempt, -1);
}

/* ---- all actions ---- */

static void list_lower(struct evict_attempt *attempt)
{
	const struct cycle_group *own = evict_beneficiary(attempt);
	const struct victim_unit *unit;
	for (size_t at = 0; (unit = next_unit(attempt, own->queue, &at));)
		if (unit->priority < own->priority)
			append_unit(attempt, unit);
}

static void list_pods(struct evict_attempt *attempt)
{
	const struct victim_list *list = victim_index_list_pods(attempt->run->victim_index);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].group != attempt->group)
			append_unit(attempt, &list->items[i]);
}

void evict_list_units(struct evict_attempt *attempt)
{
	if (attempt->action == ACTION_RECLAIM) {
		attempt->unopened = victim_index_list_queues(attempt->run->victim_index, &attempt->unopened_count);
		attempt->sources =
			arena_alloc_raw(attempt->scratch,
		                        attempt->unopened_count * sizeof(*attempt->sources)); /* filled later */
		open_sources(attempt);
	} else if (attempt->action == ACTION_PREEMPT) {
		list_lower(attempt);
	} else {
		list_pods(attempt);
	}
	attempt->movable_from = attempt->action == ACTION_CONSOLIDATE ? 0 : SIZE_MAX;
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

bool evict_list_remaining_units(struct evict_attempt *attempt)
{
	size_t all = 0;
	struct share_claim *claim = &attempt->run->claim;
	/* Asking the shares in between has begun the claim anew. */
	share_claim_begin(claim, evict_beneficiary(attempt)->queue, attempt->claimed, evict_gain_is_protected(attempt));
	for (size_t i = 0; i < attempt->unit_count; i++)
		share_claim_take(claim, attempt->cycle->groups[attempt->units[i]->group].queue,
		                 attempt->units[i]->amounts);
	evict_list_more_units(attempt, SIZE_MAX);
	for (int q = 0; q < (int)attempt->cycle->queue_count; q++)
		all += q == evict_beneficiary(attempt)->queue ? 0
		                                              : victim_index_count_units(attempt->run->victim_index, q);
	return attempt->unit_count < all;
}

void evict_list_movable_units(struct evict_attempt *attempt)
{
	int own = evict_beneficiary(attempt)->queue;
	size_t taken = attempt->movable_from = attempt->unit_count;
	size_t *from = arena_array(attempt->scratch, size_t, attempt->cycle->queue_count);
	for (size_t i = 0; i < taken; i++)
		from[attempt->cycle->groups[attempt->units[i]->group].queue]++;
	for (int q = 0; q < (int)attempt->cycle->queue_count; q++) {
		const struct victim_unit *unit;
		for (size_t at = 0; q != own && (unit = next_unit(attempt, q, &at));) {
			if (from[q] > 0) /* the first ones, in this very order */
				from[q]--;
			else
				append_unit(attempt, unit);
		}
	}
	if (attempt->unit_count > taken)
		qsort(attempt->units + taken, attempt->unit_count - taken, sizeof(*attempt->units), compare_units);
}
