/* When an instance whose pods failed is made anew. */
#ifndef ROLLOUT_BACKOFF_H
#define ROLLOUT_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_BASE_SECONDS 30
#define BACKOFF_MAX_SECONDS 600

/* Seconds to wait before the next restart when `restarts` have happened: none before the first, then base, doubled each
 * time up to the maximum. A maximum of 0 or less means none but INT32_MAX; a base of 0 or less means no waiting. */
int64_t backoff_delay(int64_t base, int64_t maximum, int64_t restarts);
/* How long an instance must have run without a restart for the count to start again: twice the maximum, at least ten
 * minutes. */
int64_t backoff_reset(int64_t maximum);

/* The count after a restart at `now`, when the last one was at `last` (seconds on one clock). */
int64_t backoff_count(int64_t restarts, int64_t last, int64_t now, int64_t maximum);

#endif
