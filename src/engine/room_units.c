/* Which units may go for a group, the cheapest first. Where very many could be taken they are listed as they are asked
 * for. */
#include "engine/room_internal.h"

#include <stdlib.h>
#include <string.h>

static void append(struct room *room, const struct victim_unit *unit)
{
	struct victim_list *list = &room->units;
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 64;
		struct victim_unit *items =
			arena_alloc_raw(room->scratch, capacity * sizeof(*items)); /* filled at once */
		if (list->count)
			memcpy(items, list->items, sizeof(*items) * list->count);
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *unit;
}

/* ---- reclaim: the cheapest unit of all queues above what they may keep ---- */

struct unit_source { /* a queue and how far it was listed */
	const struct victim_list *units;
	size_t at;
	int queue;
};

static bool source_before(const struct unit_source *a, const struct unit_source *b)
{
	return victims_compare(&a->units->items[a->at], &b->units->items[b->at]) < 0;
}

static void sink(struct unit_source *heap, size_t count, size_t at)
{
	struct unit_source moved = heap[at];
	for (size_t down; (down = 2 * at + 1) < count; at = down) {
		if (down + 1 < count && source_before(&heap[down + 1], &heap[down]))
			down++;
		if (!source_before(&heap[down], &moved))
			break;
		heap[at] = heap[down];
	}
	heap[at] = moved;
}

/* Moves the source on to a unit that is still there. False when it has none left. */
static bool find_next(const struct room *room, struct unit_source *source)
{
	while (source->at < source->units->count && !stock_has(room->run->stock, &source->units->items[source->at]))
		source->at++;
	return source->at < source->units->count;
}

static void open_sources(struct room *room)
{
	int own = beneficiary(room)->queue;
	size_t count = 0;
	room->sources = arena_alloc_raw(room->scratch, room->cycle->queue_count * sizeof(*room->sources));
	for (int q = 0; q < (int)room->cycle->queue_count; q++) {
		if (q == own || !share_claim_may_take(&room->run->claim, q))
			continue;
		struct unit_source source = {.units = stock_units(room->run->stock, q), .queue = q};
		if (find_next(room, &source))
			room->sources[count++] = source;
	}
	room->source_count = count;
	for (size_t i = count / 2; i-- > 0;)
		sink(room->sources, count, i);
}

/* A queue that is refused once, judged with all cheaper victims gone, gives nothing more for this claim. */
static void take_next(struct room *room)
{
	struct unit_source *best = &room->sources[0];
	const struct victim_unit *unit = &best->units->items[best->at];
	bool open = share_claim_take(&room->run->claim, best->queue, unit->amounts) == SHARE_ALLOWED;
	if (open) {
		append(room, unit);
		best->at++;
	}
	if (!open || !find_next(room, best))
		*best = room->sources[--room->source_count];
	if (room->source_count)
		sink(room->sources, room->source_count, 0);
}

static void charge_applied(struct room *room, int sign)
{
	for (size_t i = 0; i < room->applied; i++)
		room_charge_unit(room, &room->units.items[i], sign);
}

void room_more_units(struct room *room, size_t count)
{
	if (room->units.count >= count || !room->source_count)
		return;
	charge_applied(room, 1); /* a claim counts its victims itself */
	while (room->units.count < count && room->source_count)
		take_next(room);
	charge_applied(room, -1);
}

/* ---- all actions ---- */

static void list_lower(struct room *room)
{
	const struct cycle_group *own = beneficiary(room);
	const struct victim_list *list = stock_units(room->run->stock, own->queue);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].priority < own->priority && stock_has(room->run->stock, &list->items[i]))
			append(room, &list->items[i]);
}

static void list_pods(struct room *room)
{
	const struct victim_list *list = stock_pods(room->run->stock);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].group != room->group)
			append(room, &list->items[i]);
}

void room_list_units(struct room *room)
{
	if (room->action == ACTION_RECLAIM)
		open_sources(room);
	else if (room->action == ACTION_PREEMPT)
		list_lower(room);
	else
		list_pods(room);
	room->movable_from = room->action == ACTION_CONSOLIDATE ? 0 : SIZE_MAX;
}

static int compare_units(const void *left, const void *right)
{
	return victims_compare(left, right);
}

bool room_take_all(struct room *room)
{
	size_t all = 0;
	struct share_claim *claim = &room->run->claim;
	/* Asking the shares in between has begun the claim anew. */
	share_claim_begin(claim, beneficiary(room)->queue, room->claimed, room_protects(room));
	for (size_t i = 0; i < room->units.count; i++)
		share_claim_take(claim, room->cycle->groups[room->units.items[i].group].queue,
		                 room->units.items[i].amounts);
	room_more_units(room, SIZE_MAX);
	for (int q = 0; q < (int)room->cycle->queue_count; q++)
		all += q == beneficiary(room)->queue ? 0 : stock_count(room->run->stock, q);
	return room->units.count < all;
}

void room_add_movable(struct room *room)
{
	int own = beneficiary(room)->queue;
	size_t taken = room->movable_from = room->units.count;
	size_t *from = arena_array(room->scratch, size_t, room->cycle->queue_count);
	for (size_t i = 0; i < taken; i++)
		from[room->cycle->groups[room->units.items[i].group].queue]++;
	for (int q = 0; q < (int)room->cycle->queue_count; q++) {
		const struct victim_list *list = stock_units(room->run->stock, q);
		for (size_t i = 0; q != own && i < list->count; i++) {
			if (!stock_has(room->run->stock, &list->items[i]))
				continue;
			if (from[q] > 0) /* the first ones, in this very order */
				from[q]--;
			else
				append(room, &list->items[i]);
		}
	}
	if (room->units.count > taken)
		qsort(room->units.items + taken, room->units.count - taken, sizeof(*room->units.items), compare_units);
}
