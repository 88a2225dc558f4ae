/* Owns what the scheduler counts and how it is printed. Names follow the conventions of Prometheus: base units, _total for
 * what only grows. */
#include "schedule/metrics.h"

#include "base/clock.h"
#include "engine/share/share.h"

#include <stdio.h>
#include <string.h>

/* Upper bounds of the latency histogram in microseconds. */
static const int64_t bounds[METRICS_BUCKETS - 1] = {100,   250,   500,    1000,   2500,    5000,    10000,
                                                    25000, 50000, 100000, 250000, 1000000, 10000000};

static void count_pending(struct metrics_waiting *waiting, const struct plan_group *group)
{
	const char *reason = group->reason_count ? group->reasons[0].code : "Waiting";
	size_t i = 0;
	while (i < waiting->pending_count && strcmp(waiting->pending[i].reason, reason) != 0)
		i++;
	if (i == METRICS_REASONS)
		return;
	if (i == waiting->pending_count) {
		waiting->pending_count++;
		waiting->pending[i].groups = 0;
		snprintf(waiting->pending[i].reason, sizeof(waiting->pending[i].reason), "%s", reason);
	}
	waiting->pending[i].groups++;
}

void metrics_time(struct metrics_times *times, int64_t ns)
{
	size_t bucket = 0;
	while (bucket < METRICS_BUCKETS - 1 && ns > bounds[bucket] * 1000)
		bucket++;
	times->buckets[bucket]++;
	times->sum_ns += ns > 0 ? (uint64_t)ns : 0;
	times->count++;
}

struct metrics_waiting metrics_count_waiting(const struct plan *plan)
{
	const struct cycle *cycle = &plan->snapshot->cycle;
	struct metrics_waiting waiting = {.pending_count = 0};
	for (size_t i = 0; i < plan->group_count; i++) {
		waiting.exhausted += cycle->groups[plan->groups[i].index].state == GROUP_UNDECIDED;
		if (plan->groups[i].waiting > 0)
			count_pending(&waiting, &plan->groups[i]);
	}
	return waiting;
}

void metrics_decided(struct metrics *metrics, const struct plan *plan, const struct metrics_waiting *waiting)
{
	metrics->reservations += plan->reservation_count;
	metrics->groups_described += plan->group_count;
	const struct cycle *cycle = &plan->snapshot->cycle;
	for (size_t i = 0; i < cycle->eviction_count; i++)
		metrics->evictions[cycle->evictions[i].action]++;
	metrics->exhausted += waiting->exhausted;
	metrics->now = *waiting;
}

void metrics_error(struct metrics *metrics, int code)
{
	size_t i = 0;
	while (i < METRICS_CODES - 1 && metrics->errors[i].count && metrics->errors[i].code != code)
		i++;
	metrics->errors[i].code = i < METRICS_CODES - 1 ? code : 0;
	metrics->errors[i].count++;
}

/* ---- text ---- */

static void head(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# HELP platoon_%s %s\n# TYPE platoon_%s %s\n", name, help, name, type);
}

static void one(struct buffer *out, const char *name, const char *type, const char *help, uint64_t value)
{
	head(out, name, type, help);
	buffer_printf(out, "platoon_%s %llu\n", name, (unsigned long long)value);
}

/* Whole numbers in, a decimal fraction out. */
static void fraction(struct buffer *out, uint64_t value, uint64_t unit, int digits)
{
	buffer_printf(out, "%llu.%0*llu", (unsigned long long)(value / unit), digits,
	              (unsigned long long)(value % unit));
}

static void write_times(const struct metrics_times *times, const char *name, const char *help, struct buffer *out)
{
	uint64_t sum = 0;
	head(out, name, "histogram", help);
	for (size_t i = 0; i < METRICS_BUCKETS - 1; i++) {
		sum += times->buckets[i];
		buffer_printf(out, "platoon_%s_bucket{le=\"", name);
		fraction(out, (uint64_t)bounds[i], 1000000, 6);
		buffer_printf(out, "\"} %llu\n", (unsigned long long)sum);
	}
	buffer_printf(out, "platoon_%s_bucket{le=\"+Inf\"} %llu\nplatoon_%s_sum ", name,
	              (unsigned long long)times->count, name);
	fraction(out, times->sum_ns, CLOCK_SECOND, 9);
	buffer_printf(out, "\nplatoon_%s_count %llu\n", name, (unsigned long long)times->count);
}

static void write_label(struct buffer *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buffer_puts(out, "\\");
		buffer_append(out, *value == '\n' ? "\\n" : value, *value == '\n' ? 2 : 1);
	}
}

/* The beginning of a line about a queue, or about what it is in one pool. */
static void write_queue_name(const struct cycle_queue *queue, const char *metric, const char *resource,
                             struct buffer *out)
{
	buffer_printf(out, "platoon_%s{queue=\"", metric);
	write_label(out, queue->name);
	if (queue->pool_name) {
		buffer_puts(out, "\",node_pool=\"");
		write_label(out, queue->pool_name);
	}
	buffer_printf(out, "\",resource=\"%s\"} ", resource);
}

static void write_queues(const struct cycle_queue *queues, size_t queue_count, struct buffer *out)
{
	static const char *const resources[CYCLE_RESOURCES] = {"gpu", "cpu", "memory"};
	static const char *const names[] = {"queue_allocated", "queue_fair_share"};
	static const char *const helps[] = {"What the pods of a queue hold: devices, cores, bytes.",
	                                    "What a queue is entitled to by its fair share: devices, cores, bytes."};
	for (int what = 0; what < 2; what++) {
		head(out, names[what], "gauge", helps[what]);
		for (size_t q = 0; q < queue_count; q++)
			for (int r = 0; r < CYCLE_RESOURCES; r++) {
				int64_t value = what ? queues[q].fair[r] : queues[q].allocated[r];
				write_queue_name(&queues[q], names[what], resources[r], out);
				if (r == CYCLE_MEMORY)
					buffer_printf(out, "%lld", (long long)value);
				else
					fraction(out, value > 0 ? (uint64_t)value : 0, 1000, 3);
				buffer_puts(out, "\n");
			}
	}
}

/* Only where the past counts: elsewhere nobody looks at it. */
static void write_past(const struct cycle_queue *queues, size_t queue_count, bool counts, struct buffer *out)
{
	static const char *const resources[CYCLE_RESOURCES] = {"gpu", "cpu", "memory"};
	if (!counts)
		return;
	head(out, "queue_past_use_ratio", "gauge",
	     "What a queue used of what the cluster had to give within the window of the fair share over time.");
	for (size_t q = 0; q < queue_count; q++)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			write_queue_name(&queues[q], "queue_past_use_ratio", resources[r], out);
			fraction(out, (uint64_t)queues[q].used[r], SHARE_PAST_WHOLE, 9);
			buffer_puts(out, "\n");
		}
}

static void write_labelled(const struct metrics *metrics, struct buffer *out)
{
	head(out, "evictions_total", "counter", "Pods evicted, by the action that decided it.");
	for (int a = 0; a < ACTION_COUNT; a++)
		if (cycle_action_row((enum cycle_action)a)->evicts)
			buffer_printf(out, "platoon_evictions_total{cause=\"%s\"} %llu\n",
			              cycle_action_name((enum cycle_action)a),
			              (unsigned long long)metrics->evictions[a]);
	buffer_printf(out, "platoon_evictions_total{cause=\"unfinished\"} %llu\n",
	              (unsigned long long)metrics->releases);
	head(out, "pending_groups", "gauge", "Groups with pods that wait, by reason.");
	for (size_t i = 0; i < metrics->now.pending_count; i++)
		buffer_printf(out, "platoon_pending_groups{reason=\"%s\"} %llu\n", metrics->now.pending[i].reason,
		              (unsigned long long)metrics->now.pending[i].groups);
	head(out, "api_errors_total", "counter",
	     "Writes the API refused, by HTTP status; 0 for writes of status, which are tried again.");
	for (size_t i = 0; i < METRICS_CODES; i++)
		if (metrics->errors[i].count)
			buffer_printf(out, "platoon_api_errors_total{code=\"%d\"} %llu\n", metrics->errors[i].code,
			              (unsigned long long)metrics->errors[i].count);
}

void metrics_write(const struct metrics *metrics, const struct cycle_queue *queues, size_t queue_count,
                   struct buffer *out)
{
	write_times(&metrics->deciding, "decision_seconds", "Time from the start of a cycle to its decisions.", out);
	write_times(&metrics->waiting, "change_to_decision_seconds",
	            "Time from the first change that a cycle looks at to its decisions.", out);
	one(out, "placements_total", "counter", "Pods bound to a node: bindings the API accepted.",
	    metrics->placements);
	one(out, "reservations_total", "counter", "Pods a cycle reserved room for, counted in every cycle.",
	    metrics->reservations);
	one(out, "budget_exhausted_total", "counter", "Groups whose search ended at its step budget.",
	    metrics->exhausted);
	one(out, "refusals_remembered_total", "counter", "Costly searches that were not repeated.",
	    metrics->remembered);
	one(out, "groups_examined_total", "counter", "Groups that cycles looked at.", metrics->groups_described);
	one(out, "bindings_refused_total", "counter", "Bindings the API refused.", metrics->refused_bindings);
	one(out, "evictions_refused_total", "counter", "Evictions the API refused.", metrics->refused_evictions);
	one(out, "claims_awaited_total", "counter", "Claims that had to be bound before the pods of their gang.",
	    metrics->claims_awaited);
	one(out, "claims_failed_total", "counter",
	    "Times a gang was given up for now because one of its claims failed.", metrics->claims_failed);
	one(out, "claims_timed_out_total", "counter",
	    "Times a gang was given up for now because its claims were not bound in time.", metrics->claims_timed_out);
	one(out, "gangs_waiting_for_claims", "gauge", "Gangs whose pods are bound when their claims are.",
	    metrics->gangs_with_claims);
	write_labelled(metrics, out);
	write_queues(queues, queue_count, out);
	write_past(queues, queue_count, metrics->past_counts, out);
	one(out, "state_rebuilds_total", "counter", "Times the whole state was built anew.", metrics->rebuilds);
	one(out, "watch_relists_total", "counter", "Times a kind was listed again.", metrics->relists);
	one(out, "watch_lag_versions", "gauge", "Versions of the store that were not read before the last cycle.",
	    metrics->store_version > metrics->watch_version ? metrics->store_version - metrics->watch_version : 0);
	one(out, "events_left_out_total", "counter", "Events not written because their object had said too much.",
	    metrics->events_left_out);
}
