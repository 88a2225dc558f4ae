/* Metrics of the scheduler, as numbers and as the text Prometheus reads. */
#ifndef SCHEDULE_METRICS_H
#define SCHEDULE_METRICS_H

#include "base/strings.h"
#include "schedule/plan.h"

enum { METRICS_BUCKETS = 14, METRICS_CODES = 16, METRICS_REASONS = 32 };

struct metrics_times {
	uint64_t count, sum_ns, buckets[METRICS_BUCKETS]; /* not cumulated */
};

/* What waits after a cycle, by the first of its reasons. */
struct metrics_waiting {
	struct {
		char reason[48];
		uint64_t groups;
	} pending[METRICS_REASONS];
	size_t pending_count;
	uint64_t exhausted;
};

struct metrics {
	struct metrics_times deciding; /* of a cycle, from its start to its decisions */
	struct metrics_times waiting;  /* from the first change a cycle looks at to its decisions */
	uint64_t placements, reservations, exhausted;
	uint64_t evictions[ACTION_COUNT], releases; /* releases: pods of gangs that could not be completed */
	uint64_t refused_bindings, refused_evictions;
	uint64_t claims_awaited, claims_failed, claims_timed_out;
	struct {
		int code;
		uint64_t count;
	} errors[METRICS_CODES]; /* by HTTP status; the last place takes the rest */
	struct metrics_waiting now;
	uint64_t groups_described, events_left_out;
	/* state, set before writing */
	bool past_counts; /* that of queues */
	uint64_t gangs_with_claims, rebuilds, relists, remembered, watch_version, store_version;
};

void metrics_time(struct metrics_times *times, int64_t ns);
/* Looks at each group of the plan, so it belongs where the plan is made. */
struct metrics_waiting metrics_count_waiting(const struct plan *plan);
void metrics_decided(struct metrics *metrics, const struct plan *plan, const struct metrics_waiting *waiting);
void metrics_error(struct metrics *metrics, int code);
/* Appends everything in the text format; the queues are those of the last cycle. */
void metrics_write(const struct metrics *metrics, const struct cycle_queue *queues, size_t queue_count,
                   struct buffer *out);

#endif
