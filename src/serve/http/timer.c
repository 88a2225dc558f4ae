/* A binary heap of timers, earliest on top. */
#include "serve/http/timer.h"

#include "base/arena.h"

#include <stdlib.h>

static void place(struct http_timers *timers, size_t index, struct http_timer *timer)
{
	timers->items[index] = timer;
	timer->slot = index + 1;
}

static void sift_up(struct http_timers *timers, size_t index, struct http_timer *timer)
{
	while (index > 0) {
		size_t parent = (index - 1) / 2;
		if (timers->items[parent]->at <= timer->at)
			break;
		place(timers, index, timers->items[parent]);
		index = parent;
	}
	place(timers, index, timer);
}

static void sift_down(struct http_timers *timers, size_t index, struct http_timer *timer)
{
	for (;;) {
		size_t child = index * 2 + 1;
		if (child >= timers->count)
			break;
		if (child + 1 < timers->count && timers->items[child + 1]->at < timers->items[child]->at)
			child++;
		if (timers->items[child]->at >= timer->at)
			break;
		place(timers, index, timers->items[child]);
		index = child;
	}
	place(timers, index, timer);
}

static void settle(struct http_timers *timers, size_t index, struct http_timer *timer)
{
	if (index > 0 && timers->items[(index - 1) / 2]->at > timer->at)
		sift_up(timers, index, timer);
	else
		sift_down(timers, index, timer);
}

static void disarm(struct http_timers *timers, struct http_timer *timer)
{
	size_t index = timer->slot - 1;
	struct http_timer *last = timers->items[--timers->count];
	timer->slot = 0;
	if (last != timer)
		settle(timers, index, last);
}

void http_timer_set(struct http_timers *timers, struct http_timer *timer, int64_t at)
{
	if (at == 0) {
		if (timer->slot)
			disarm(timers, timer);
		timer->at = 0;
		return;
	}
	timer->at = at;
	if (timer->slot) {
		settle(timers, timer->slot - 1, timer);
		return;
	}
	if (timers->count == timers->capacity) {
		timers->capacity = timers->capacity ? timers->capacity * 2 : 64;
		timers->items = base_realloc_array(timers->items, timers->capacity, sizeof(struct http_timer *));
	}
	timers->count++;
	sift_up(timers, timers->count - 1, timer);
}

struct http_timer *http_timers_first(const struct http_timers *timers)
{
	return timers->count ? timers->items[0] : NULL;
}

void http_timers_free(struct http_timers *timers)
{
	free(timers->items);
	timers->items = NULL;
	timers->count = timers->capacity = 0;
}
