/* A queue in one block of memory; what was forgotten at its front is reclaimed when it is half of the block. */
#include "local/history.h"

#include "base/arena.h"
#include "api/object_make.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct history *history, struct change *change)
{
	history->bytes -= change->size;
	store_object_release(change->old);
	store_object_release(change->now);
	store_object_release(change->left);
}

void history_push(struct history *history, uint64_t version, struct store_object *old, struct store_object *now,
                  size_t size)
{
	if (history->start + history->count == history->capacity) {
		if (history->start > history->count) {
			memmove(history->items, history->items + history->start,
			        history->count * sizeof(struct change));
			history->start = 0;
		} else {
			history->capacity = history->capacity ? history->capacity * 2 : 16;
			history->items = base_realloc_array(history->items, history->capacity, sizeof(struct change));
		}
	}
	history->items[history->start + history->count++] = (struct change){
		.version = version,
		.old = store_object_retain(old),
		.now = store_object_retain(now),
		.size = size,
	};
	history->bytes += size;
}

void history_pop(struct history *history)
{
	clear(history, &history->items[history->start + --history->count]);
}

void history_evict(struct history *history)
{
	struct change *change = &history->items[history->start++];
	history->floor = change->version;
	object_forget_json(change->now); /* the file has it, and watches had it */
	clear(history, change);
	history->count--;
	history->first++;
}

void history_free(struct history *history)
{
	while (history->count)
		history_pop(history);
	free(history->items);
	*history = (struct history){0};
}

struct change *history_at(const struct history *history, uint64_t sequence)
{
	return &history->items[history->start + (size_t)(sequence - history->first)];
}

uint64_t history_end(const struct history *history)
{
	return history->first + history->count;
}

uint64_t history_after(const struct history *history, uint64_t version)
{
	uint64_t low = history->first, high = history_end(history);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (history_at(history, middle)->version <= version)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct store_object *change_left(struct change *change)
{
	if (!change->left && change->old)
		change->left = object_with_version(change->old, change->version);
	return change->left;
}
