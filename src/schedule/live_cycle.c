/* Owns a cycle on the live state: which groups it looks at, and taking its trials back afterwards. */
#include "schedule/live_internal.h"

#include <stdlib.h>

#define TELL_AGAIN_NS (10 * CLOCK_SECOND) /* pods that wait hear new numbers so often */

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct cycle_group *groups = context;
	int a = *(const int *)left, b = *(const int *)right;
	int order = cycle_compare(&groups[a], &groups[b]);
	return order ? order : a < b ? -1 : a > b;
}

/* The list of the cycle from what is to do; `todo` starts anew. */
static void list_work(struct live *live)
{
	struct cycle *cycle = &live->snapshot.cycle;
	if (cycle->work_capacity < live->todo.count) {
		cycle->work_capacity = live->todo.count;
		cycle->work = base_realloc_array(cycle->work, cycle->work_capacity, sizeof(*cycle->work));
	}
	cycle->work_count = 0;
	for (size_t i = 0; i < live->todo.count; i++) {
		int group = live->todo.items[i];
		live->slots[group].listed = false;
		if (!live->slots[group].used)
			continue;
		cycle_unsettle(cycle, group);
		cycle->work[cycle->work_count++] = group;
		int64_t created = live->snapshot.groups[group].creation * CLOCK_SECOND;
		if (created > cycle->now) /* the clock of a cycle is never behind its objects */
			cycle->now = created;
	}
	live->todo.count = 0;
	if (cycle->work_count > 1)
		qsort_r(cycle->work, cycle->work_count, sizeof(*cycle->work), compare_groups, cycle->groups);
}

void live_begin(struct live *live, int64_t now_ns)
{
	struct cycle *cycle = &live->snapshot.cycle;
	if (!live->stale)
		live_nodes_apply(live);
	live->stale |= build_devices_changed(&live->build);
	if (live->stale || live_is_worn(live))
		live_rebuild(live);
	live_volumes_settle(live);
	live_devices_settle(live);
	live_budgets_refresh(live);
	build_take_settings(cycle, live->options.settings);
	cycle->silent = live->options.silent;
	cycle->trials = live->options.trials;
	cycle->always_search = live->options.always_search;
	cycle->defragment = build_defragment(live->options.settings, live->moves_left);
	cycle->now = now_ns;
	live->changed = false;
	live->planning = true;
}

void live_allow_moves(struct live *live, int64_t moves)
{
	live->moves_left = moves;
}

struct plan *live_decide(struct live *live, const enum cycle_action *actions, size_t action_count)
{
	struct cycle *cycle = &live->snapshot.cycle;
	live_groups_refresh(live);
	arena_reset(live->turn);
	cycle->arena = live->turn;
	cycle->selective = true;
	cycle->evictions = NULL;
	cycle->eviction_count = cycle->eviction_capacity = 0;
	list_work(live);
	live_usage_begin(live);
	cluster_record(cycle->cluster);
	return plan_run(&live->snapshot, actions, action_count);
}

struct plan *live_plan(struct live *live, int64_t now_ns, const enum cycle_action *actions, size_t action_count)
{
	live_begin(live, now_ns);
	return live_decide(live, actions, action_count);
}

void live_look_again(struct live *live, int group)
{
	live_group_list(live, group);
	live->changed = true;
}

void live_look_later(struct live *live, int group)
{
	live_group_list(live, group);
}

int64_t *live_numbers_told(struct live *live, int group)
{
	return &live->slots[group].numbers_told;
}

struct live_known *live_known(struct live *live, int group)
{
	return &live->slots[group].known;
}

enum live_news live_news(struct live *live, int group, uint64_t meaning, int64_t now_ns)
{
	struct live_slot *slot = &live->slots[group];
	bool same = slot->told == meaning;
	if (same && now_ns >= slot->told_at && now_ns - slot->told_at < TELL_AGAIN_NS)
		return LIVE_NO_NEWS;
	slot->told = meaning;
	slot->told_at = now_ns;
	return same ? LIVE_NEW_WORDS : LIVE_NEW_MEANING;
}

static void begin_finishing(struct live *live)
{
	struct cycle *cycle = &live->snapshot.cycle;
	live_usage_hold(live);
	cluster_rewind(cycle->cluster);
	/* What gives way is looked at once more: the eviction may have failed. */
	for (size_t i = 0; i < cycle->eviction_count; i++)
		live_group_list(live, cycle->evictions[i].group);
}

bool live_finish_some(struct live *live, size_t most)
{
	struct cycle *cycle = &live->snapshot.cycle;
	if (!live->planning)
		return true;
	if (!live->finishing)
		begin_finishing(live);
	live->finishing = true;
	for (; live->finished < cycle->work_count && most > 0; live->finished++, most--) {
		int number = cycle->work[live->finished];
		struct cycle_group *group = &cycle->groups[number];
		build_member_states(&live->build, (size_t)number);
		group->gave_up = live->slots[number].gave_up;
		group->reasons = live->slots[number].reasons;
		group->places = live->slots[number].places;
		group->place_count = live->slots[number].place_count;
		cycle_settle(cycle, number);
		if (cycle_needs_look(group))
			live_group_list(live, number);
	}
	if (live->finished < cycle->work_count)
		return false;
	live->finished = 0;
	live->planning = live->finishing = false;
	return true;
}

void live_finish(struct live *live)
{
	live_finish_some(live, SIZE_MAX);
}
