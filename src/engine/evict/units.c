/* Which units may go for a group, the cheapest first. Where very many could be taken they are listed as they are asked
 * for. */
#include "engine/evict/runtime.h"

#include "base/grow.h"

#include <stdlib.h>

static void append(struct room *room, const struct victim_unit *unit)
{
	if (room->unit_count == room->unit_capacity)
		room->units = grow_array(room->scratch, room->units, room->unit_count, &room->unit_capacity,
		                         sizeof(*room->units));
	room->units[room->unit_count++] = unit;
}

/* ---- reclaim: the cheapest unit of all queues above what they may keep ---- */

struct unit_source { /* a queue, its next unit, and how far it was listed */
	const struct victim_unit *unit;
	size_t at;
	int queue;
};

/* The next unit of a queue that has run long enough to go. */
static const struct victim_unit *next_unit(struct room *room, int queue, size_t *at)
{
	const struct victim_unit *unit;
	do
		unit = victim_index_next_unit(room->run->victim_index, queue, at);
	while (unit && runtime_protects(room, unit));
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

static void sink(struct unit_source *heap, size_t count)
{
	for (size_t at = 0, down; (down = 2 * at + 1) < count; at = down) {
		if (down + 1 < count && source_before(&heap[down + 1], &heap[down]))
			down++;
		if (!source_before(&heap[down], &heap[at]))
			break;
		swap_sources(&heap[down], &heap[at]);
	}
}

static void open_source(struct room *room, struct unit_source source)
{
	struct unit_source *heap = room->sources;
	heap[room->source_count] = source;
	for (size_t at = room->source_count++; at > 0 && source_before(&heap[at], &heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		swap_sources(&heap[at], &heap[(at - 1) / 2]);
}

/* Opens the queues whose cheapest unit may be the next of all, so that one which is not needed costs nothing. */
static void open_sources(struct room *room)
{
	for (; room->unopened_count; room->unopened++, room->unopened_count--) {
		struct unit_source source = {.queue = *room->unopened};
		size_t from = source.at;
		source.unit = victim_index_next_unit(room->run->victim_index, source.queue, &source.at);
		if (room->source_count && source_before(&room->sources[0], &source))
			return;
		source.at = from;
		source.unit = next_unit(room, source.queue, &source.at);
		if (source.unit && source.queue != beneficiary(room)->queue &&
		    share_claim_may_take(&room->run->claim, source.queue))
			open_source(room, source);
	}
}

/* A queue that is refused once, judged with all cheaper victims gone, gives nothing more for this claim. */
static void take_next(struct room *room)
{
	struct unit_source *best = &room->sources[0];
	if (share_claim_take(&room->run->claim, best->queue, best->unit->amounts) == SHARE_ALLOWED) {
		append(room, best->unit);
		best->unit = next_unit(room, best->queue, &best->at);
	} else {
		best->unit = NULL;
	}
	if (!best->unit)
		*best = room->sources[--room->source_count];
	sink(room->sources, room->source_count);
	open_sources(room);
}

static void charge_applied(struct room *room, int sign)
{
	for (size_t i = 0; i < room->applied; i++)
		room_charge_unit(room, room->units[i], sign);
}

void room_more_units(struct room *room, size_t count)
{
	if (room->unit_count >= count || !room->source_count)
		return;
	charge_applied(room, 1); /* a claim counts its victims itself */
	while (room->unit_count < count && room->source_count)
		take_next(room);
	charge_applied(room, -1);
}

/* ---- all actions ---- */

static void list_lower(struct room *room)
{
	const struct cycle_group *own = beneficiary(room);
	const struct victim_unit *unit;
	for (size_t at = 0; (unit = next_unit(room, own->queue, &at));)
		if (unit->priority < own->priority)
			append(room, unit);
}

static void list_pods(struct room *room)
{
	const struct victim_list *list = victim_index_list_pods(room->run->victim_index);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].group != room->group)
			append(room, &list->items[i]);
}

void room_list_units(struct room *room)
{
	if (room->action == ACTION_RECLAIM) {
		room->unopened = victim_index_list_queues(room->run->victim_index, &room->unopened_count);
		room->sources = arena_alloc_raw(room->scratch,
		                                room->unopened_count * sizeof(*room->sources)); /* filled later */
		open_sources(room);
	} else if (room->action == ACTION_PREEMPT) {
		list_lower(room);
	} else {
		list_pods(room);
	}
	room->movable_from = room->action == ACTION_CONSOLIDATE ? 0 : SIZE_MAX;
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(*(const struct victim_unit *const *)left, *(const struct victim_unit *const *)right);
}

bool room_take_all(struct room *room)
{
	size_t all = 0;
	struct share_claim *claim = &room->run->claim;
	/* Asking the shares in between has begun the claim anew. */
	share_claim_begin(claim, beneficiary(room)->queue, room->claimed, room_protects(room));
	for (size_t i = 0; i < room->unit_count; i++)
		share_claim_take(claim, room->cycle->groups[room->units[i]->group].queue, room->units[i]->amounts);
	room_more_units(room, SIZE_MAX);
	for (int q = 0; q < (int)room->cycle->queue_count; q++)
		all += q == beneficiary(room)->queue ? 0 : victim_index_count_units(room->run->victim_index, q);
	return room->unit_count < all;
}

void room_add_movable(struct room *room)
{
	int own = beneficiary(room)->queue;
	size_t taken = room->movable_from = room->unit_count;
	size_t *from = arena_array(room->scratch, size_t, room->cycle->queue_count);
	for (size_t i = 0; i < taken; i++)
		from[room->cycle->groups[room->units[i]->group].queue]++;
	for (int q = 0; q < (int)room->cycle->queue_count; q++) {
		const struct victim_unit *unit;
		for (size_t at = 0; q != own && (unit = next_unit(room, q, &at));) {
			if (from[q] > 0) /* the first ones, in this very order */
				from[q]--;
			else
				append(room, unit);
		}
	}
	if (room->unit_count > taken)
		qsort(room->units + taken, room->unit_count - taken, sizeof(*room->units), compare_units);
}
