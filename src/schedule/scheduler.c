/* Owns when a cycle runs. The state it runs on is kept by live.h; writing the decisions is in scheduler_write.c, telling
 * about them in scheduler_status.c. */
#include "schedule/scheduler_internal.h"

#include "engine/cycle/refusal_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READS_PER_CYCLE 16 /* steps, while there is more to read than fits into one */
#define MOST_DOUBLINGS 8   /* of the pause after refused writes */
/* Most cycles take less: their decisions are written in the same turn. */
#define SHORT_DECISION_NS (10 * CLOCK_MILLISECOND)
#define LOOK_AGAIN_MS 2 /* whether a longer one is through */

struct scheduler *scheduler_create(const struct scheduler_options *options)
{
	struct scheduler *scheduler = base_calloc(1, sizeof(*scheduler));
	scheduler->options = *options;
	if (!scheduler->options.clock)
		scheduler->options.clock = clock_system();
	if (!scheduler->options.pause_ns)
		scheduler->options.pause_ns = 50 * CLOCK_MILLISECOND;
	if (!scheduler->options.period_ns)
		scheduler->options.period_ns = 10 * CLOCK_SECOND;
	scheduler->live = live_create(&(struct snapshot_options){
		.settings = settings_now(options->settings),
		.trials = SNAPSHOT_TRIALS_WHEN_LIVE,
	});
	if (options->grouping)
		live_use_grouping(scheduler->live, options->grouping);
	scheduler->watch = live_watch_create(scheduler->live, options->store);
	scheduler->events = events_create(options->store);
	if (options->beside)
		scheduler->beside = beside_create();
	scheduler->due = INT64_MAX;
	return scheduler;
}

void scheduler_destroy(struct scheduler *scheduler)
{
	if (!scheduler)
		return;
	beside_destroy(scheduler->beside);
	if (scheduler->turn)
		arena_destroy(scheduler->turn->arena);
	scheduler_forget_attempts(scheduler);
	scheduler_refused_free(scheduler);
	scheduler_claims_free(scheduler);
	live_watch_close(scheduler->watch);
	live_destroy(scheduler->live);
	events_destroy(scheduler->events);
	free(scheduler->queues);
	free(scheduler->seen.queues);
	free(scheduler);
}

static void log_cycle(const struct scheduler *scheduler, const struct plan *plan)
{
	char bindings[24], evictions[24], groups[24];
	snprintf(bindings, sizeof(bindings), "%zu", plan->binding_count);
	snprintf(evictions, sizeof(evictions), "%zu", plan->eviction_count);
	snprintf(groups, sizeof(groups), "%zu", plan->group_count);
	log_write(scheduler->options.logger, plan->binding_count + plan->eviction_count > 0 ? LOG_INFO : LOG_DEBUG, 0,
	          "cycle", "groups", groups, "bindings", bindings, "evictions", evictions, NULL);
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When time alone changes what would be decided: a grace ends, a delay is over, a victim has run as long as its queue
 * grants, a search that gave up is due again. While something waits a cycle runs now and then in any case, so that no clock
 * that was set back and no forgotten timer leaves it waiting. */
static int64_t next_due(const struct scheduler *scheduler, const struct plan *plan, int64_t now)
{
	int64_t retry_at = plan->snapshot->cycle.retry_at, due = retry_at > now ? retry_at : INT64_MAX;
	for (size_t i = 0; i < plan->group_count; i++) {
		const struct cycle_group *group = &plan->snapshot->cycle.groups[plan->groups[i].index];
		bool stale = scheduler_is_stale(group);
		if (plan->groups[i].waiting > 0 || stale)
			due = sooner(due, now + scheduler->options.period_ns);
		if (stale && group->has_stale_since && group->stale_since + group->grace > now)
			due = sooner(due, group->stale_since + group->grace);
		if (plan->groups[i].waiting > 0 && group->evict_after > now)
			due = sooner(due, group->evict_after);
		for (size_t k = 0; k < group->place_count; k++)
			if (group->places[k].state != PLACE_OVER && group->places[k].until > now)
				due = sooner(due, group->places[k].until);
	}
	return due;
}

static int64_t pause_of(const struct scheduler *scheduler)
{
	unsigned doublings = scheduler->failures < MOST_DOUBLINGS ? scheduler->failures : MOST_DOUBLINGS;
	return scheduler->options.pause_ns << doublings;
}

/* ---- one cycle ---- */

/* The part that takes its time; touches nothing but the state and what is told of the plan. */
static void decide(void *context)
{
	struct scheduler *scheduler = context;
	enum cycle_action actions[ACTION_COUNT];
	size_t action_count = cycle_action_list_all(actions);
	if (scheduler->defragment.now)
		actions[action_count++] = ACTION_DEFRAGMENT;
	scheduler->plan = live_decide(scheduler->live, actions, action_count);
	scheduler->plan_due = next_due(scheduler, scheduler->plan, scheduler->last);
	scheduler->waiting = metrics_count_waiting(scheduler->plan);
}

/* What people ask for meanwhile. */
static void note_numbers(struct scheduler *scheduler)
{
	const struct cycle *cycle = &live_snapshot(scheduler->live)->cycle;
	scheduler->seen.queues =
		base_realloc_array(scheduler->seen.queues, cycle->queue_count, sizeof(*scheduler->seen.queues));
	scheduler->seen.queue_count = cycle->queue_count;
	if (cycle->queue_count)
		memcpy(scheduler->seen.queues, cycle->queues, cycle->queue_count * sizeof(*cycle->queues));
	scheduler->seen.remembered = refusal_cache_hits(cycle->refusal_cache);
}

/* True when it is decided already. */
static bool begin_cycle(struct scheduler *scheduler, int64_t now)
{
	scheduler->last = now;
	scheduler->started = true;
	scheduler->again = false;
	scheduler_defragment_begin(scheduler, now);
	/* Whole seconds, like all times that are written down and read again. */
	live_begin(scheduler->live, now / CLOCK_SECOND * CLOCK_SECOND);
	if (!scheduler->beside) {
		decide(scheduler);
		return true;
	}
	note_numbers(scheduler);
	scheduler->deciding = true;
	beside_start(scheduler->beside, decide, scheduler);
	return beside_wait(scheduler->beside, SHORT_DECISION_NS);
}

/* Everything that is decided, before any of it is written. */
static void begin_writing(struct scheduler *scheduler)
{
	int64_t now = scheduler->last, decided = clock_now(scheduler->options.clock);
	struct plan *plan = scheduler->plan;
	struct arena *arena = arena_create();
	scheduler->deciding = false;
	scheduler->decided = true;
	metrics_time(&scheduler->metrics.deciding, decided - now);
	if (scheduler->changed_at)
		metrics_time(&scheduler->metrics.waiting, decided - scheduler->changed_at);
	scheduler->changed_at = 0;
	metrics_decided(&scheduler->metrics, plan, &scheduler->waiting);
	log_cycle(scheduler, plan);
	scheduler->due = sooner(scheduler->plan_due, scheduler_claims_due(scheduler));
	scheduler->turn = arena_new(arena, struct scheduler_turn);
	*scheduler->turn = (struct scheduler_turn){
		.scheduler = scheduler,
		.store = scheduler->options.store,
		.logger = scheduler->options.logger,
		.plan = plan,
		.arena = arena,
		.now_seconds = now / CLOCK_SECOND,
	};
	scheduler->unwritten = false;
	scheduler_claims_finish(scheduler->turn);
}

void scheduler_begin_slice(struct scheduler *scheduler)
{
	scheduler->left = scheduler->options.slice ? scheduler->options.slice : SCHEDULER_SLICE;
}

void scheduler_spend(struct scheduler *scheduler, size_t cost)
{
	scheduler->left -= cost < scheduler->left ? cost : scheduler->left;
}

static bool tell_decided(struct scheduler_turn *turn)
{
	const struct scheduler_options *options = &turn->scheduler->options;
	for (; options->decided && turn->next < turn->plan->group_count; turn->next++) {
		if (turn->scheduler->left == 0)
			return false;
		options->decided(options->decided_context, turn->plan, turn->next);
		scheduler_spend(turn->scheduler, SCHEDULER_COST_WRITE);
	}
	return true;
}

/* The trials of the cycle are taken back. */
static bool finish_state(struct scheduler_turn *turn)
{
	struct scheduler *scheduler = turn->scheduler;
	size_t most = scheduler->left / SCHEDULER_COST_GLANCE;
	if (turn->next++ == 0) {
		scheduler_defragment_end(scheduler, turn->plan);
		scheduler_keep_usage(turn);
	}
	return live_finish_some(scheduler->live, most);
}

/* False when there is more to write than fits into a step. */
static bool write_slice(struct scheduler *scheduler)
{
	static bool (*const stages[])(struct scheduler_turn * turn) = {
		scheduler_write_evictions,
		scheduler_write_releases,
		scheduler_write_bindings,
		scheduler_write_status,
		tell_decided,
		finish_state,
	};
	struct scheduler_turn *turn = scheduler->turn;
	scheduler_begin_slice(scheduler);
	for (; turn->stage < sizeof(stages) / sizeof(*stages); turn->stage++, turn->next = 0)
		if (!stages[turn->stage](turn))
			return false;
	return true;
}

static void end_cycle(struct scheduler *scheduler)
{
	struct scheduler_turn *turn = scheduler->turn;
	int64_t now = scheduler->last;
	if (scheduler->unwritten) {
		scheduler->failures++;
		scheduler->due = sooner(scheduler->due, now + pause_of(scheduler));
	} else if (scheduler->under_way.count == 0) {
		scheduler->failures = 0;
	}
	live_use_settings(scheduler->live, settings_now(scheduler->options.settings)); /* the former ones may be gone */
	scheduler_assume(turn);
	scheduler_claims_assume(scheduler);
	scheduler->due = sooner(scheduler->due, scheduler_usage_due(scheduler));
	scheduler->due = sooner(scheduler->due, scheduler_defragment_due(scheduler, now));
	scheduler->due = sooner(scheduler->due, scheduler_claims_due(scheduler));
	scheduler->turn = NULL;
	arena_destroy(turn->arena);
}

static int until(int64_t now, int64_t due)
{
	if (due == INT64_MAX)
		return -1;
	return due <= now ? 0 : (int)((due - now + CLOCK_MILLISECOND - 1) / CLOCK_MILLISECOND);
}

void scheduler_read(struct scheduler *scheduler)
{
	if (scheduler->deciding || scheduler->turn)
		return;
	live_use_settings(scheduler->live, settings_now(scheduler->options.settings));
	live_watch_read(scheduler->watch);
}

/* Takes over what changed. False when the state is not complete yet. */
static bool take_over(struct scheduler *scheduler, int64_t now)
{
	scheduler->metrics.store_version = store_committed(scheduler->options.store);
	scheduler->metrics.watch_version = live_watch_version(scheduler->watch);
	live_use_settings(scheduler->live, settings_now(scheduler->options.settings));
	if (!scheduler_read_answers(scheduler, now))
		return false;
	if (!live_watch_read(scheduler->watch)) /* a list waits for the next commit */
		return false;
	/* What changes without end is looked at all the same. */
	bool behind = live_watch_behind(scheduler->watch);
	scheduler->reads = behind ? scheduler->reads + 1 : 0;
	if (behind && scheduler->reads % READS_PER_CYCLE != 0)
		return false;
	scheduler_claims_check(scheduler, now);
	return true;
}

/* After a cycle. What was written comes back as changes, after the commit that the owner of the loop makes. */
static int wait_after(const struct scheduler *scheduler, int64_t now)
{
	if (scheduler->again || live_changed(scheduler->live) || live_is_checking(scheduler->live) ||
	    store_pending(scheduler->options.store))
		return until(now, now + pause_of(scheduler));
	return until(now, scheduler->due);
}

/* Returns when the next step is due. What is decided beside the loop, or written over several steps, leaves the state alone, so
 * that what came meanwhile was not looked at. */
static int write_on(struct scheduler *scheduler, int64_t now, bool at_once)
{
	if (!write_slice(scheduler))
		return 0;
	end_cycle(scheduler);
	return at_once ? wait_after(scheduler, now) : 0;
}

int scheduler_step(struct scheduler *scheduler)
{
	int64_t now = clock_now(scheduler->options.clock);
	if (scheduler->deciding) {
		if (!beside_wait(scheduler->beside, 0))
			return LOOK_AGAIN_MS;
		begin_writing(scheduler);
	}
	if (scheduler->turn)
		return write_on(scheduler, now, false);
	if (!take_over(scheduler, now))
		return scheduler->answered.count > 0 || live_watch_behind(scheduler->watch)
		               ? 0
		               : until(now, now + scheduler->options.pause_ns);
	/* A clock that was set back must not stop the loop. */
	bool set_back = now < scheduler->last, overdue = now >= scheduler->due || set_back;
	bool changed = !scheduler->started || scheduler->again || live_changed(scheduler->live);
	if (changed && !scheduler->changed_at)
		scheduler->changed_at = now;
	int64_t earliest = scheduler->last + pause_of(scheduler);
	if (changed && scheduler->started && now < earliest && !set_back)
		return until(now, earliest);
	if (!changed && !overdue)
		return live_is_checking(scheduler->live) ? 0 : until(now, scheduler->due);
	if (!begin_cycle(scheduler, now))
		return LOOK_AGAIN_MS;
	begin_writing(scheduler);
	return write_on(scheduler, now, true);
}

int64_t scheduler_decision_ns(const struct scheduler *scheduler)
{
	return (int64_t)scheduler->metrics.deciding.sum_ns;
}

void scheduler_metrics(const struct scheduler *scheduler, struct buffer *out)
{
	struct metrics metrics = scheduler->metrics;
	const struct cycle *cycle = &live_snapshot(scheduler->live)->cycle;
	metrics.past_counts = live_usage(scheduler->live) != NULL;
	metrics.rebuilds = live_rebuilds(scheduler->live);
	metrics.remembered =
		scheduler->deciding ? scheduler->seen.remembered : refusal_cache_hits(cycle->refusal_cache);
	metrics.gangs_with_claims = scheduler_claims_waiting(scheduler);
	metrics.relists = live_watch_relists(scheduler->watch);
	if (scheduler->deciding)
		metrics_write(&metrics, scheduler->seen.queues, scheduler->seen.queue_count, out);
	else
		metrics_write(&metrics, cycle->queues, cycle->queue_count, out);
}

bool scheduler_ready(const struct scheduler *scheduler)
{
	return scheduler->decided;
}
