/* Timers: a heap of deadlines, each embedded in what it wakes. */
#ifndef SERVE_HTTP_TIMER_H
#define SERVE_HTTP_TIMER_H

#include <stddef.h>
#include <stdint.h>

struct http_timer {
	int64_t at;
	size_t slot; /* 1-based place in the heap; 0: not armed */
};

struct http_timers {
	struct http_timer **items;
	size_t count, capacity;
};

/* Arms or moves; at 0 disarms. */
void http_timer_set(struct http_timers *timers, struct http_timer *timer, int64_t at);
/* The earliest one, still armed; NULL when there is none. */
struct http_timer *http_timers_first(const struct http_timers *timers);
void http_timers_free(struct http_timers *timers);

#endif
