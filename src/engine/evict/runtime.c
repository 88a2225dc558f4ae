/* Owns the minimum runtimes of queues: who is protected, and when a group that waits for that would fit. */
#include "engine/evict/runtime.h"

#include "base/clock.h"

#include <stdlib.h>

#define UNKNOWN (-1)
#define MOST_EXPLAINED 16 /* groups per action for which the moment is searched; each costs several trials */

static int64_t runtime_of_queue(const struct cycle_queue *queue, enum evict_runtime which)
{
	return which == EVICT_RUNTIME_RECLAIM ? queue->reclaim_runtime : queue->preempt_runtime;
}

/* Asked for everybody who waits, and the same for all of them. */
static bool any_queue_grants(const struct evict_attempt *attempt)
{
	const struct cycle *cycle = attempt->cycle;
	struct cycle_run *run = attempt->run;
	for (size_t q = 0; !run->knows_runtimes && q < cycle->queue_count && !run->grants_runtimes; q++)
		run->grants_runtimes = runtime_of_queue(&cycle->queues[q], attempt->method->runtime) > 0;
	run->knows_runtimes = true;
	return run->grants_runtimes;
}

void runtime_begin_attempt(struct evict_attempt *attempt)
{
	const struct cycle *cycle = attempt->cycle;
	attempt->granted = NULL;
	if (attempt->method->runtime == EVICT_RUNTIME_NONE || !any_queue_grants(attempt))
		return;
	attempt->granted = arena_array(attempt->scratch, int64_t, cycle->queue_count);
	for (size_t q = 0; q < cycle->queue_count; q++)
		attempt->granted[q] = UNKNOWN;
	attempt->above = arena_array(attempt->scratch, bool, cycle->queue_count);
	for (int q = evict_beneficiary(attempt)->queue; q >= 0; q = cycle->queues[q].parent)
		attempt->above[q] = true;
}

/* The queue that is asked first for a victim in this one. */
static int first_asked(const struct evict_attempt *attempt, int queue)
{
	const struct cycle_queue *queues = attempt->cycle->queues;
	while (attempt->method->runtime == EVICT_RUNTIME_RECLAIM && queues[queue].parent >= 0 &&
	       !attempt->above[queues[queue].parent])
		queue = queues[queue].parent;
	return queue;
}

static int granting_queue(const struct evict_attempt *attempt, int queue)
{
	const struct cycle_queue *queues = attempt->cycle->queues;
	int at = first_asked(attempt, queue);
	while (at >= 0 && !queues[at].has_runtime[attempt->method->runtime == EVICT_RUNTIME_RECLAIM])
		at = queues[at].parent;
	return at;
}

static int64_t granted_to(const struct evict_attempt *attempt, int queue)
{
	int64_t *granted = &attempt->granted[queue];
	if (*granted == UNKNOWN) {
		int by = granting_queue(attempt, queue);
		int64_t time = by < 0 ? 0 : runtime_of_queue(&attempt->cycle->queues[by], attempt->method->runtime);
		*granted = time > 0 ? time : 0;
	}
	return *granted;
}

/* Until when the group keeps its minimum; INT64_MIN when nothing protects it. */
static int64_t protection_end(const struct evict_attempt *attempt, const struct cycle_group *group)
{
	if (!attempt->granted || !group->has_started || group->queue < 0)
		return INT64_MIN;
	int64_t time = granted_to(attempt, group->queue), end;
	if (!time)
		return INT64_MIN;
	return __builtin_add_overflow(group->started, time, &end) ? INT64_MAX - 1 : end;
}

bool runtime_protects_unit(struct evict_attempt *attempt, const struct victim_unit *unit)
{
	if (!attempt->granted || unit->extent != UNIT_GANG || unit->fresh || unit->reserved)
		return false;
	int64_t end = protection_end(attempt, &attempt->cycle->groups[unit->group]);
	if (end <= attempt->at)
		return false;
	if (end < attempt->first_end)
		attempt->first_end = end;
	return true;
}

void runtime_note_waited(struct evict_attempt *attempt)
{
	for (size_t i = 0; i < attempt->applied; i++) {
		const struct victim_unit *unit = attempt->units[i];
		if (attempt->kept[i] || unit->extent != UNIT_GANG || unit->fresh || unit->reserved)
			continue;
		int64_t end = protection_end(attempt, unit->of);
		if (end <= attempt->cycle->now)
			continue;
		attempt->waited_count++;
		if (!attempt->waited_for || end > attempt->waited_until) {
			attempt->waited_for = unit->of;
			attempt->waited_until = end;
		}
	}
}

/* ---- when would it fit ---- */

static int compare_times(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

/* The moments at which a protection ends, ascending and each once; in the arena of the cycle. */
static size_t list_ends(struct evict_attempt *attempt, int64_t **ends)
{
	const struct cycle *cycle = attempt->cycle;
	size_t count = 0, distinct = 0;
	int64_t *list = arena_array(cycle->arena, int64_t, cycle->group_count);
	for (size_t g = 0; g < cycle->group_count; g++) {
		int64_t end = protection_end(attempt, &cycle->groups[g]);
		if (end > cycle->now)
			list[count++] = end;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare_times);
	for (size_t i = 0; i < count; i++)
		if (!distinct || list[distinct - 1] != list[i])
			list[distinct++] = list[i];
	*ends = list;
	return distinct;
}

/* Two units at most, rounded up, so that the text does not change with every second of a long wait. */
static const char *print_time(struct arena *arena, int64_t ns)
{
	int64_t seconds = ns / CLOCK_SECOND + (ns % CLOCK_SECOND > 0), minutes = (seconds + 59) / 60;
	if (seconds < 60)
		return arena_printf(arena, "%llds", (long long)seconds);
	if (minutes < 60)
		return arena_printf(arena, "%lldm", (long long)minutes);
	if (minutes % 60)
		return arena_printf(arena, "%lldh%lldm", (long long)(minutes / 60), (long long)(minutes % 60));
	return arena_printf(arena, "%lldh", (long long)(minutes / 60));
}

static void add_wait_reason(struct evict_attempt *attempt)
{
	struct cycle *cycle = attempt->cycle;
	const struct cycle_group *victim = attempt->waited_for;
	int by = granting_queue(attempt, victim->queue);
	const char *more = "";
	if (attempt->waited_count > 1)
		more = arena_printf(cycle->arena, " and %zu more %s", attempt->waited_count - 1,
		                    attempt->waited_count > 2 ? "have" : "has");
	reason_add(&evict_beneficiary(attempt)->reasons, cycle->arena,
	           (struct reason){
			   .code = REASON_MIN_RUNTIME,
			   .message =
				   arena_printf(cycle->arena, "would fit when %s%s run %s (%s of queue %s), in %s",
	                                        gang_title(&victim->gang, cycle->arena),
	                                        attempt->waited_count > 1 ? more : " has",
	                                        print_time(cycle->arena, granted_to(attempt, victim->queue)),
	                                        attempt->method->runtime == EVICT_RUNTIME_RECLAIM ? "reclaimMinRuntime"
	                                                                                          : "preemptMinRuntime",
	                                        cycle_queue_text(&cycle->queues[by], cycle->arena),
	                                        print_time(cycle->arena, attempt->waited_until - cycle->now)),
		   });
}

void runtime_explain_refusal(struct cycle_run *run, int group, enum cycle_action action, bool grow)
{
	struct evict_attempt attempt = {.run = run,
	                                .cycle = run->cycle,
	                                .group = group,
	                                .action = action,
	                                .method = cycle_action_row(action)->method,
	                                .grow = grow};
	int64_t *ends;
	if (run->explained_runtimes++ >= MOST_EXPLAINED)
		return;
	attempt.scratch = run->decision;
	arena_reset(attempt.scratch);
	runtime_begin_attempt(&attempt);
	size_t high = list_ends(&attempt, &ends), low = 0;
	if (!high || !evict_would_fit_at(&attempt, ends[high - 1]))
		return;
	for (high--; low < high;) { /* it fits at ends[high], and at none before ends[low] */
		size_t middle = low + (high - low) / 2;
		if (evict_would_fit_at(&attempt, ends[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	if (evict_would_fit_at(&attempt, ends[high]) && attempt.waited_for)
		add_wait_reason(&attempt);
}
