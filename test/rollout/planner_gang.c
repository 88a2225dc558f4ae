/* Checks the cases about minimums of PodGroups and what they do to deployments and updates. */
#include "planner.h"
#include "planner_model.h"

#include "rollout/merge.h"
#include "rollout/update.h"

#include <stdlib.h>
#include <string.h>

enum { OLD_REVISION, NEW_REVISION, MOST_INSTANCES = 2000 };

static struct model_role *read_minimums(struct planner_case *test, const struct val *map, size_t *count)
{
	const struct val *item;
	struct model_role *roles = arena_array(test->arena, struct model_role, val_count(map) + 1);
	*count = 0;
	for (struct val_iter it = val_iter(map); val_next(&it, NULL, &item);) {
		struct model_role *role = &roles[(*count)++];
		if (val_int(item, &role->replicas) != 0)
			role->replicas = planner_number(item, "replicas", planner_number(item, "instances_created", 0));
		role->pods = planner_number(item, "pods_per_replica", planner_number(item, "size", 1));
	}
	return roles;
}

void planner_gang_minmember(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"minMember", "name", "scheduleTimeoutSeconds", NULL});
	const struct val *components = val_get(test->given, "components"), *item;
	const char *timeout = val_str(val_get(test->given, "timeout_annotation"), NULL);
	size_t count = 0;
	struct model_role *roles = read_minimums(test, val_get(test->given, "roles"), &count);
	if (components) {
		int64_t *sizes = arena_array(test->arena, int64_t, val_count(components) + 1);
		size_t size_count = 0;
		for (struct val_iter it = val_iter(components); val_next(&it, NULL, &item); size_count++)
			(void)val_int(item, &sizes[size_count]);
		roles = arena_new(test->arena, struct model_role);
		roles->replicas = planner_number(test->given, "replicas", 1);
		roles->pods = model_minimum_of_instance(sizes, size_count);
		count = 1;
	}
	planner_int(test, "minMember", val_get(test->expect, "minMember"), model_minimum_of_group(roles, count));
	planner_text(test, "name", val_get(test->expect, "name"), "<rbg name>");
	planner_int(test, "scheduleTimeoutSeconds", val_get(test->expect, "scheduleTimeoutSeconds"),
	            timeout ? strtoll(timeout, NULL, 10) : MODEL_TIMEOUT_SECONDS);
}

/* Pods while one of `instances` has its new size already. */
static int64_t pods_midway(int64_t instances, int64_t updated, int64_t from, int64_t to)
{
	return (instances - updated) * from + updated * to;
}

/* One PodGroup for everything: growth that does not fit holds all new pods, an update in steps never reaches the new
 * minimum. */
void planner_gang_single(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"with_single_podgroup", "stalled", NULL});
	const struct val *want = val_get(test->expect, "with_single_podgroup");
	if (want) {
		int64_t running = planner_number(test->given, "running_pods", 0);
		int64_t fresh = planner_number(test->given, "new_pods", 0);
		int64_t started = model_started(planner_number(test->given, "new_minNum", 0), running, fresh,
		                                planner_number(test->given, "schedulable_pods_total", 0));
		planner_known(test, want, (const char *const[]){"scheduled_new", "pending_new", "running", NULL});
		planner_int(test, "scheduled_new", val_get(want, "scheduled_new"), started);
		planner_int(test, "pending_new", val_get(want, "pending_new"), fresh - started);
		planner_int(test, "running", val_get(want, "running"), running + started);
	}
	int64_t from = planner_number(test->given, "lws_size_from", 0),
		to = planner_number(test->given, "lws_size_to", 0);
	if (val_get(test->expect, "stalled") && from > 0) {
		/* The document's numbers agree only with as many instances as the old minimum has room for. */
		int64_t instances = planner_number(test->given, "minNum_from", 0) / from;
		int64_t minimum = planner_number(test->given, "minNum_to", 0);
		int64_t midway = pods_midway(instances, 1, from, to);
		planner_bool(test, "stalled", val_get(test->expect, "stalled"),
		             model_started(minimum, midway - to, to, midway) == 0);
	}
}

/* Whether an update of every instance comes to its end when each has a PodGroup of its own. */
static bool update_ends(struct planner_case *test, int64_t instances)
{
	if (instances < 1 || instances > MOST_INSTANCES)
		return false;
	struct update_instance *items = arena_array(test->arena, struct update_instance, (size_t)instances + 1);
	enum update_action *actions = arena_array(test->arena, enum update_action, (size_t)instances + 1);
	struct update_strategy strategy = {.max_unavailable = percent_count(1)};
	struct update_limits limits;
	struct update_shape shape = {0};
	for (int64_t i = 0; i < instances; i++)
		items[i] = (struct update_instance){.ordinal = i, .revision = OLD_REVISION, .is_healthy = true};
	update_resolve(&strategy, instances, &limits);
	for (int64_t pass = 0; pass <= instances; pass++) {
		update_shape(&limits, OLD_REVISION, NEW_REVISION, items, (size_t)instances, &shape);
		update_decide(&shape, items, (size_t)instances, actions, test->arena);
		for (int64_t i = 0; i < instances; i++)
			if (actions[i] == UPDATE_REPLACE)
				items[i].revision = update_revision(&shape, i);
	}
	return shape.is_done;
}

static void check_size_change(struct planner_case *test)
{
	int64_t instances = planner_number(test->given, "instances", 0);
	int64_t from = planner_number(test->given, "size_from", 0), to = planner_number(test->given, "size_to", 0);
	int64_t updated = planner_number(test->given, "updated_instances", 1);
	int64_t midway = pods_midway(instances, updated, from, to);
	const struct model_role whole = {instances, to};
	const struct val *single = val_get(test->expect, "single_podgroup");
	const struct val *own = val_get(test->expect, "podgroup_per_instance");
	planner_known(test, single, (const char *const[]){"minNum", "pods_existing", "stalled", NULL});
	planner_known(test, own, (const char *const[]){"old_minNum", "new_minNum", "stalled", "final_pods", NULL});
	planner_int(test, "minNum", val_get(single, "minNum"), model_minimum_of_group(&whole, 1));
	planner_int(test, "pods_existing", val_get(single, "pods_existing"), midway);
	planner_bool(test, "stalled", val_get(single, "stalled"),
	             model_started(model_minimum_of_group(&whole, 1), midway - to, to, midway) == 0);
	planner_int(test, "old_minNum", val_get(own, "old_minNum"), model_minimum_of_instance(&from, 1));
	planner_int(test, "new_minNum", val_get(own, "new_minNum"), model_minimum_of_instance(&to, 1));
	planner_bool(test, "stalled", val_get(own, "stalled"),
	             model_started(model_minimum_of_instance(&to, 1), 0, to, to) == 0 || !update_ends(test, instances));
	planner_int(test, "final_pods", val_get(own, "final_pods"), model_minimum_of_group(&whole, 1));
}

static void check_created(struct planner_case *test)
{
	const struct val *want = val_get(test->expect, "podgroups"), *item;
	const char *name;
	size_t at = 0;
	for (struct val_iter it = val_iter(val_get(test->given, "roles")); val_next(&it, &name, &item);) {
		int64_t size = planner_number(item, "size", 1);
		int64_t created = planner_number(item, "instances_created", 0);
		for (int64_t i = 1; i <= created; i++, at++) {
			const struct val *group = val_item(want, at);
			planner_text(test, "owner", val_get(group, "owner"),
			             arena_printf(test->arena, "%s instance %lld", name ? name : "", (long long)i));
			planner_int(test, "minMember", val_get(group, "minMember"),
			            model_minimum_of_instance(&size, 1));
		}
	}
	if (at != val_count(want))
		planner_wrong(test, "podgroups: expected %zu, got %zu", val_count(want), at);
	/* Of two PodGroups of their own the one that fits starts though the other does not. */
	bool is_isolated = model_started(1, 0, 1, 1) == 1 && model_started(2, 0, 2, 1) == 0;
	planner_text(test, "one_unschedulable_blocks", val_get(test->expect, "one_unschedulable_blocks"),
	             is_isolated ? "only that instance" : "others too");
}

void planner_gang_per_instance(struct planner_case *test)
{
	planner_known(test, test->expect,
	              (const char *const[]){"single_podgroup", "podgroup_per_instance", "podgroups",
	                                    "one_unschedulable_blocks", NULL});
	if (val_get(test->expect, "podgroups"))
		check_created(test);
	else
		check_size_change(test);
}

/* ---- segments ---- */

/* Pods that run when segments come one after another and `capacity` pods fit: instances of a segment are created when
 * the segments before it are ready, and start as far as their PodGroups can. */
static int64_t fill_segments(struct planner_case *test, enum segment_gang gang, int64_t capacity, int64_t *whole)
{
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "desired"));
	struct segment_rule rule = planner_read_rule(test, &roles, val_get(test->given, "segmentSize"), NULL);
	size_t count;
	struct model_role *minimums = read_minimums(test, val_get(test->given, "desired"), &count);
	struct merge_input input = {.roles = roles.items, .role_count = roles.count, .rules = &rule, .rule_count = 1};
	int64_t running = 0, before = -1;
	*whole = 0;
	while (running != before) {
		before = running;
		struct merge_plan *plan = merge_targets(&input, test->arena);
		int64_t created = 0, started = 0;
		for (size_t r = 0; r < roles.count; r++)
			created += plan->roles[r].target;
		int64_t minimum =
			gang == SEGMENT_GANG_SEGMENT ? model_minimum_of_segment(minimums, count, &rule, *whole) : 1;
		started = model_started(minimum, 0, created - running, capacity - running);
		running += started;
		*whole += started > 0 && running == created;
		for (size_t r = 0; r < roles.count; r++) {
			struct segment_role *role = &roles.items[r];
			role->current = role->asked = plan->roles[r].target;
			role->ready = running == created ? role->current : role->ready;
		}
	}
	return running;
}

void planner_segment_capacity(struct planner_case *test)
{
	const struct val *without = val_get(test->expect, "without_segments");
	const struct val *with = val_get(test->expect, "with_segments");
	const struct val *by_segment = val_get(with, "gang_Segment"), *by_instance = val_get(with, "gang_Instance");
	int64_t capacity = planner_number(test->given, "schedulable_pods", 0), whole, running;
	planner_known(test, test->expect, (const char *const[]){"without_segments", "with_segments", NULL});
	planner_known(test, without,
	              (const char *const[]){"from_zero_running", "from_100_running", "from_100_blocked", NULL});
	planner_known(test, with, (const char *const[]){"gang_Segment", "gang_Instance", NULL});
	planner_known(test, by_segment,
	              (const char *const[]){"segments_running", "pods_running", "pending_segment", NULL});
	planner_known(test, by_instance, (const char *const[]){"pods_running", NULL});

	size_t count;
	struct model_role *roles = read_minimums(test, val_get(test->given, "desired"), &count);
	int64_t all = model_minimum_of_group(roles, count);
	planner_int(test, "from_zero_running", val_get(without, "from_zero_running"),
	            model_started(all, 0, all, capacity));
	running = 100 + model_started(all, 100, all - 100, capacity);
	planner_int(test, "from_100_running", val_get(without, "from_100_running"), running);
	planner_int(test, "from_100_blocked", val_get(without, "from_100_blocked"), all - running);

	running = fill_segments(test, SEGMENT_GANG_SEGMENT, capacity, &whole);
	planner_int(test, "pods_running", val_get(by_segment, "pods_running"), running);
	planner_int(test, "segments_running", val_get(by_segment, "segments_running"), whole);
	planner_int(test, "pending_segment", val_get(by_segment, "pending_segment"), whole + 1);
	running = fill_segments(test, SEGMENT_GANG_INSTANCE, capacity, &whole);
	planner_int(test, "gang_Instance pods_running", val_get(by_instance, "pods_running"), running);
}

/* A segment without resources holds only itself: what runs is not asked for again. */
void planner_segment_failure_domain(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"pods_serving", "blocked_segments", NULL});
	int64_t segments = planner_number(test->given, "segments_running", 0);
	int64_t added = planner_number(test->given, "add_segment", segments + 1);
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "segment"));
	struct segment_rule rule = planner_read_rule(test, &roles, val_get(test->given, "segment"), NULL);
	struct merge_input input = {.roles = roles.items, .role_count = roles.count, .rules = &rule, .rule_count = 1};
	bool fits = val_bool(val_get(test->given, "resources_for_segment_11"), false);
	for (size_t r = 0; r < roles.count; r++) {
		struct segment_role *role = &roles.items[r];
		int64_t size = role->desired;
		role->current = role->ready = size * segments;
		role->desired = size * added;
	}
	struct merge_plan *plan = merge_targets(&input, test->arena);
	int64_t serving = 0;
	for (size_t r = 0; r < roles.count; r++) {
		roles.items[r].current = plan->roles[r].target;
		roles.items[r].ready = fits ? plan->roles[r].target : roles.items[r].ready;
		serving += roles.items[r].ready;
	}
	struct segment_state state;
	segment_judge(roles.items, roles.count, &rule, &state);
	const struct val *blocked = val_get(test->expect, "blocked_segments");
	planner_int(test, "pods_serving", val_get(test->expect, "pods_serving"), serving);
	if ((int64_t)val_count(blocked) != state.created - state.ready)
		planner_wrong(test, "blocked_segments: got %lld", (long long)(state.created - state.ready));
	planner_int(test, "blocked_segments", val_item(blocked, 0), state.waits_in);
}

void planner_segment_rolling_update(struct planner_case *test)
{
	planner_known(test, test->expect,
	              (const char *const[]){"podgroup_old", "podgroup_new", "unaffected_pods", "target_pods", NULL});
	int64_t segments = planner_number(test->given, "segments", 0);
	int64_t instances = planner_number(test->given, "instances_per_segment", 1);
	int64_t from = planner_number(test->given, "lws_size_from", 0),
		to = planner_number(test->given, "lws_size_to", 0);
	const struct model_role role = {segments * instances, to};
	planner_int(test, "podgroup_old", val_path(test->expect, "podgroup_old", "minNum", NULL),
	            model_minimum_of_instance(&from, 1));
	planner_int(test, "podgroup_new", val_path(test->expect, "podgroup_new", "minNum", NULL),
	            model_minimum_of_instance(&to, 1));
	planner_int(test, "unaffected_pods", val_get(test->expect, "unaffected_pods"),
	            (segments - 1) * instances * from);
	planner_int(test, "target_pods", val_get(test->expect, "target_pods"), model_minimum_of_group(&role, 1));
	if (!update_ends(test, segments * instances))
		planner_wrong(test, "the update does not end");
}
