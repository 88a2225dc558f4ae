/* Minimum runtimes of queues: who is protected, and when a group that waits for that would fit. */
#include "engine/evict/runtime.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define UNKNOWN (-1)
#define MOST_EXPLAINED 16 /* groups per action for which the moment is searched; each costs several trials */

static int64_t granted_by(const struct cycle_queue *queue, enum cycle_action action)
{
	return action == ACTION_RECLAIM ? queue->reclaim_runtime : queue->preempt_runtime;
}

void runtime_open(struct room *room)
{
	const struct cycle *cycle = room->cycle;
	bool any = false;
	room->granted = NULL;
	if (room->action != ACTION_RECLAIM && room->action != ACTION_PREEMPT)
		return;
	for (size_t q = 0; q < cycle->queue_count && !any; q++)
		any = granted_by(&cycle->queues[q], room->action) > 0;
	if (!any)
		return;
	room->granted = arena_array(room->scratch, int64_t, cycle->queue_count);
	for (size_t q = 0; q < cycle->queue_count; q++)
		room->granted[q] = UNKNOWN;
	room->above = arena_array(room->scratch, bool, cycle->queue_count);
	for (int q = beneficiary(room)->queue; q >= 0; q = cycle->queues[q].parent)
		room->above[q] = true;
}

/* The queue that is asked first for a victim in this one. */
static int first_asked(const struct room *room, int queue)
{
	const struct cycle_queue *queues = room->cycle->queues;
	while (room->action == ACTION_RECLAIM && queues[queue].parent >= 0 && !room->above[queues[queue].parent])
		queue = queues[queue].parent;
	return queue;
}

static int granting_queue(const struct room *room, int queue)
{
	const struct cycle_queue *queues = room->cycle->queues;
	int at = first_asked(room, queue);
	while (at >= 0 && !queues[at].has_runtime[room->action == ACTION_RECLAIM])
		at = queues[at].parent;
	return at;
}

static int64_t granted_to(const struct room *room, int queue)
{
	int64_t *granted = &room->granted[queue];
	if (*granted == UNKNOWN) {
		int by = granting_queue(room, queue);
		int64_t time = by < 0 ? 0 : granted_by(&room->cycle->queues[by], room->action);
		*granted = time > 0 ? time : 0;
	}
	return *granted;
}

/* Until when the group keeps its minimum; INT64_MIN when nothing protects it. */
static int64_t end_of(const struct room *room, const struct cycle_group *group)
{
	if (!room->granted || !group->has_started || group->queue < 0)
		return INT64_MIN;
	int64_t time = granted_to(room, group->queue), end;
	if (!time)
		return INT64_MIN;
	return __builtin_add_overflow(group->started, time, &end) ? INT64_MAX - 1 : end;
}

bool runtime_protects(struct room *room, const struct victim_unit *unit)
{
	if (!room->granted || unit->class_ != UNIT_GANG || unit->fresh || unit->reserved)
		return false;
	int64_t end = end_of(room, &room->cycle->groups[unit->group]);
	if (end <= room->at)
		return false;
	if (end < room->first_end)
		room->first_end = end;
	return true;
}

void runtime_note(struct room *room)
{
	for (size_t i = 0; i < room->applied; i++) {
		const struct victim_unit *unit = room->units[i];
		if (room->kept[i] || unit->class_ != UNIT_GANG || unit->fresh || unit->reserved)
			continue;
		int64_t end = end_of(room, unit->of);
		if (end <= room->cycle->now)
			continue;
		room->waited_count++;
		if (!room->waited_for || end > room->waited_until) {
			room->waited_for = unit->of;
			room->waited_until = end;
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
static size_t list_ends(struct room *room, int64_t **ends)
{
	const struct cycle *cycle = room->cycle;
	size_t count = 0, distinct = 0;
	int64_t *list = arena_array(cycle->arena, int64_t, cycle->group_count);
	for (size_t g = 0; g < cycle->group_count; g++) {
		int64_t end = end_of(room, &cycle->groups[g]);
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
	int64_t seconds = ns / SECOND + (ns % SECOND > 0), minutes = (seconds + 59) / 60;
	if (seconds < 60)
		return arena_printf(arena, "%llds", (long long)seconds);
	if (minutes < 60)
		return arena_printf(arena, "%lldm", (long long)minutes);
	if (minutes % 60)
		return arena_printf(arena, "%lldh%lldm", (long long)(minutes / 60), (long long)(minutes % 60));
	return arena_printf(arena, "%lldh", (long long)(minutes / 60));
}

static void add_reason(struct room *room)
{
	struct cycle *cycle = room->cycle;
	const struct cycle_group *victim = room->waited_for;
	int by = granting_queue(room, victim->queue);
	const char *more = "";
	if (room->waited_count > 1)
		more = arena_printf(cycle->arena, " and %zu more %s", room->waited_count - 1,
		                    room->waited_count > 2 ? "have" : "has");
	reason_add(&beneficiary(room)->reasons, cycle->arena,
	           (struct reason){
			   .code = REASON_MIN_RUNTIME,
			   .message = arena_printf(
				   cycle->arena, "would fit when %s/%s%s run %s (%s of queue %s), in %s",
				   victim->gang.namespace_, victim->gang.name, room->waited_count > 1 ? more : " has",
				   print_time(cycle->arena, granted_to(room, victim->queue)),
				   room->action == ACTION_RECLAIM ? "reclaimMinRuntime" : "preemptMinRuntime",
				   cycle->queues[by].name, print_time(cycle->arena, room->waited_until - cycle->now)),
		   });
}

void runtime_explain(struct cycle_run *run, int group, enum cycle_action action, bool grow)
{
	struct room room = {.run = run, .cycle = run->cycle, .group = group, .action = action, .grow = grow};
	int64_t *ends;
	if (run->explained_runtimes++ >= MOST_EXPLAINED)
		return;
	room.scratch = run->decision;
	arena_reset(room.scratch);
	runtime_open(&room);
	size_t high = list_ends(&room, &ends), low = 0;
	if (!high || !room_would_fit(&room, ends[high - 1]))
		return;
	for (high--; low < high;) { /* it fits at ends[high], and at none before ends[low] */
		size_t middle = low + (high - low) / 2;
		if (room_would_fit(&room, ends[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	if (room_would_fit(&room, ends[high]) && room.waited_for)
		add_reason(&room);
}
