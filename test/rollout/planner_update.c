/* Checks the cases about the rolling update of one role, partitions and restarts. */
#include "planner.h"

#include "rollout/backoff.h"
#include "rollout/update.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PASSES 10000
#define MOST_REPLICAS 10000

struct rollout {
	struct update_instance *items;
	size_t count;
	int64_t current, update;
};

static int64_t find_revision(struct interner *revisions, const char *name)
{
	return interner_id(revisions, name);
}

static struct rollout read_rollout(struct planner_case *test)
{
	struct interner *revisions = interner_create();
	const struct val *list = val_get(test->given, "instances"), *item;
	struct rollout rollout = {
		.items = arena_array(test->arena, struct update_instance, val_count(list) + 1),
		.current = find_revision(revisions, val_str(val_get(test->given, "currentRevision"), "old")),
		.update = find_revision(revisions, val_str(val_get(test->given, "updateRevision"), "update")),
	};
	bool is_stable = val_bool(val_get(test->given, "unhealthy_is_stable"), false);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		struct update_instance *instance = &rollout.items[rollout.count++];
		instance->ordinal = planner_number(item, "ordinal", (int64_t)rollout.count - 1);
		instance->revision = find_revision(revisions, val_str(val_get(item, "revision"), "old"));
		instance->is_healthy = planner_number(item, "healthy", val_bool(val_get(item, "healthy"), false)) != 0;
		instance->is_terminating =
			planner_number(item, "terminating", val_bool(val_get(item, "terminating"), false)) != 0;
		instance->is_broken = !instance->is_healthy && is_stable;
	}
	interner_destroy(revisions);
	return rollout;
}

/* What the user writes, resolved. */
static int read_limits(struct planner_case *test, struct update_limits *limits)
{
	struct update_strategy strategy = {.is_paused = val_bool(val_get(test->given, "paused"), false)};
	if (planner_percent(val_get(test->given, "maxUnavailable"), &strategy.max_unavailable) != 0 ||
	    planner_percent(val_get(test->given, "maxSurge"), &strategy.max_surge) != 0 ||
	    planner_percent(val_get(test->given, "partition"), &strategy.partition) != 0) {
		planner_wrong(test, "the strategy cannot be read");
		return -1;
	}
	update_resolve(&strategy, planner_number(test->given, "replicas", 1), limits);
	return 0;
}

void planner_ris_topology(struct planner_case *test)
{
	struct update_limits limits;
	struct update_shape shape;
	struct rollout rollout = read_rollout(test);
	planner_known(test, test->expect,
	              (const char *const[]){"activeSurge", "endOrdinal", "inRollout", "partition", "maxSurge",
	                                    "maxUnavailable", NULL});
	if (read_limits(test, &limits) != 0)
		return;
	update_shape(&limits, rollout.current, rollout.update, rollout.items, rollout.count, &shape);
	planner_int(test, "activeSurge", val_get(test->expect, "activeSurge"), shape.surge);
	planner_int(test, "endOrdinal", val_get(test->expect, "endOrdinal"), shape.end);
	planner_bool(test, "inRollout", val_get(test->expect, "inRollout"), shape.is_rolling);
	planner_int(test, "partition", val_get(test->expect, "partition"), limits.partition);
	planner_int(test, "maxSurge", val_get(test->expect, "maxSurge"), limits.max_surge);
	planner_int(test, "maxUnavailable", val_get(test->expect, "maxUnavailable"), limits.max_unavailable);
}

static bool lists(const struct val *list, int64_t ordinal)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		int64_t number;
		const char *text = val_str(item, NULL);
		if (val_int(item, &number) != 0)
			number = text ? strtoll(text, NULL, 10) : -1;
		if (number == ordinal)
			return true;
	}
	return false;
}

/* The limits of these cases are resolved already, and the shape is given. */
void planner_ris_progress(struct planner_case *test)
{
	struct rollout rollout = read_rollout(test);
	enum update_action *actions = arena_array(test->arena, enum update_action, rollout.count + 1);
	int64_t replicas = planner_number(test->given, "replicas", 0);
	int64_t end = planner_number(test->given, "endOrdinal", replicas);
	struct update_shape shape = {
		.limits = {.replicas = replicas,
	                   .max_unavailable = planner_number(test->given, "maxUnavailable", 0),
	                   .max_surge = end - replicas,
	                   .partition = planner_number(test->given, "partition", 0)},
		.current_revision = rollout.current,
		.update_revision = rollout.update,
		.surge = end - replicas,
		.end = end,
		.is_rolling = true,
	};
	planner_known(test, test->expect, (const char *const[]){"replaced_ordinals", "untouched_ordinals", NULL});
	update_decide(&shape, rollout.items, rollout.count, actions, test->arena);
	for (size_t i = 0; i < rollout.count; i++) {
		int64_t ordinal = rollout.items[i].ordinal;
		bool is_replaced = actions[i] != UPDATE_KEEP;
		if (is_replaced != lists(val_get(test->expect, "replaced_ordinals"), ordinal))
			planner_wrong(test, "ordinal %lld is %sreplaced", (long long)ordinal,
			              is_replaced ? "" : "not ");
		if (is_replaced && lists(val_get(test->expect, "untouched_ordinals"), ordinal))
			planner_wrong(test, "ordinal %lld is touched", (long long)ordinal);
	}
}

/* One pass: what is replaced disappears, what is missing appears, all of it ready at the next pass. */
static size_t pass(struct planner_case *test, const struct update_shape *shape, struct update_instance *items,
                   size_t count, size_t room)
{
	enum update_action *actions = arena_array(test->arena, enum update_action, room);
	bool *exists = arena_array(test->arena, bool, room);
	update_decide(shape, items, count, actions, test->arena);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (actions[i] == UPDATE_KEEP) {
			items[kept] = items[i];
			items[kept].is_healthy = true;
			exists[items[kept++].ordinal] = true;
		}
	for (int64_t ordinal = 0; ordinal < shape->end; ordinal++)
		if (!exists[ordinal])
			items[kept++] = (struct update_instance){.ordinal = ordinal,
			                                         .revision = update_revision(shape, ordinal)};
	return kept;
}

void planner_ris_e2e(struct planner_case *test)
{
	struct update_limits limits;
	struct update_shape shape;
	planner_known(test, test->expect, (const char *const[]){"max_instances", "min_ready", "terminates", NULL});
	if (read_limits(test, &limits) != 0)
		return;
	if (limits.replicas + limits.max_surge > MOST_REPLICAS) {
		planner_wrong(test, "too many instances to play through");
		return;
	}
	size_t room = (size_t)(limits.replicas + limits.max_surge) + 1, count = (size_t)limits.replicas;
	struct update_instance *items = arena_array(test->arena, struct update_instance, room);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct update_instance){.ordinal = (int64_t)i, .is_healthy = true};
	int64_t most = limits.replicas, least = limits.replicas;
	for (int64_t n = 0; n < MOST_PASSES; n++) {
		update_shape(&limits, 0, 1, items, count, &shape);
		if (shape.is_done && (int64_t)count == shape.end)
			break;
		count = pass(test, &shape, items, count, room);
		int64_t ready = 0;
		for (size_t i = 0; i < count; i++)
			ready += items[i].is_healthy;
		most = (int64_t)count > most ? (int64_t)count : most;
		least = ready < least ? ready : least;
	}
	planner_int(test, "max_instances", val_get(test->expect, "max_instances"), most);
	planner_int(test, "min_ready", val_get(test->expect, "min_ready"), least);
	planner_bool(test, "terminates", val_get(test->expect, "terminates"), shape.is_done);
	if (!shape.is_done)
		planner_wrong(test, "the rollout does not end");
}

void planner_partition(struct planner_case *test)
{
	struct percent partition;
	planner_known(test, test->expect, (const char *const[]){"value", "error", NULL});
	int status = planner_percent(val_get(test->given, "partition"), &partition);
	if (val_get(test->expect, "error")) {
		if (status == 0)
			planner_wrong(test, "error: nothing was refused");
		return;
	}
	if (status != 0)
		planner_wrong(test, "partition cannot be read");
	planner_int(test, "value", val_get(test->expect, "value"),
	            update_partition(partition, planner_number(test->given, "replicas", 1)));
}

void planner_restart_delay(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"delaySeconds", NULL});
	planner_int(test, "delaySeconds", val_get(test->expect, "delaySeconds"),
	            backoff_delay(planner_number(test->given, "baseDelaySeconds", BACKOFF_BASE_SECONDS),
	                          planner_number(test->given, "maxDelaySeconds", BACKOFF_MAX_SECONDS),
	                          planner_number(test->given, "restartCount", 0)));
}
