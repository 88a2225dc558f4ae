/* Owns when defragmentation runs: in its window, once a minute at most, and with what is left of the moves of this hour. */
#include "schedule/scheduler_internal.h"

#include <stdio.h>

#define PERIOD (60 * CLOCK_SECOND)
#define HOUR (3600 * CLOCK_SECOND)

static const struct settings *settings_of(const struct scheduler *scheduler)
{
	return settings_now(scheduler->options.settings);
}

void scheduler_defragment_begin(struct scheduler *scheduler, int64_t now)
{
	const struct settings *settings = settings_of(scheduler);
	if (scheduler->defragment.hour != now / HOUR) {
		scheduler->defragment.hour = now / HOUR;
		scheduler->defragment.moved = 0;
	}
	int64_t left = settings->defragment.moves - scheduler->defragment.moved;
	bool waits = now >= scheduler->defragment.tried_at && now < scheduler->defragment.tried_at + PERIOD;
	scheduler->defragment.now = settings_may_defragment(settings, now / CLOCK_SECOND) && left > 0 && !waits;
	if (!scheduler->defragment.now)
		return;
	scheduler->defragment.tried_at = now;
	live_allow_moves(scheduler->live, left);
}

void scheduler_defragment_end(struct scheduler *scheduler, const struct plan *plan)
{
	const struct cycle_defragment *report = &plan->snapshot->cycle.defragment;
	if (!scheduler->defragment.now)
		return;
	scheduler->defragment.now = false;
	scheduler->defragment.moved += report->moves;
	if (!report->moves)
		return;
	char gained[24], moves[24];
	snprintf(gained, sizeof(gained), "%d", report->gained);
	snprintf(moves, sizeof(moves), "%d", report->moves);
	log_write(scheduler->options.logger, LOG_INFO, 0, "defragmentation", "level", report->level, "gained", gained,
	          "moves", moves, NULL);
}

int64_t scheduler_defragment_due(const struct scheduler *scheduler, int64_t now)
{
	const struct settings *settings = settings_of(scheduler);
	if (!settings->defragment.enabled || settings->defragment.moves <= 0)
		return INT64_MAX;
	bool spent =
		scheduler->defragment.hour == now / HOUR && scheduler->defragment.moved >= settings->defragment.moves;
	int64_t due = spent ? (now / HOUR + 1) * HOUR : now / PERIOD * PERIOD + PERIOD;
	/* Windows begin and end with minutes: the next one of a day that is open. */
	for (int minutes = 0; minutes < 24 * 60; minutes++, due += PERIOD)
		if (settings_may_defragment(settings, due / CLOCK_SECOND))
			return due;
	return INT64_MAX;
}
