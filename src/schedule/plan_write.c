/* Owns the JSON contract of a plan. Fields that say nothing are null or 0, never absent, so that readers need no
 * special cases. */
#include "schedule/plan.h"

static struct node *write_bindings(struct build *build, const struct plan_binding *bindings, size_t count)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < count; i++) {
		struct node *item = build_map(build);
		build_put_string(build, item, "namespace", bindings[i].namespace_);
		build_put_string(build, item, "pod", bindings[i].pod);
		build_put_string(build, item, "node", bindings[i].node);
		build_append(build, list, item);
	}
	return list;
}

static struct node *write_evictions(struct build *build, const struct plan *plan)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < plan->eviction_count; i++) {
		const struct plan_eviction *eviction = &plan->evictions[i];
		struct node *item = build_map(build);
		build_put_string(build, item, "namespace", eviction->namespace_);
		build_put_string(build, item, "pod", eviction->pod);
		build_put_string(build, item, "node", eviction->node);
		build_put_string(build, item, "by", eviction->by);
		build_put_string(build, item, "action", eviction->action);
		build_put_bool(build, item, "moved", eviction->moved);
		if (eviction->fewest)
			build_put_bool(build, item, "fewest", true);
		if (eviction->violates)
			build_put_string(build, item, "violatesBudget", eviction->violates);
		build_append(build, list, item);
	}
	return list;
}

struct node *plan_write_reasons(const struct plan_group *group, struct build *build)
{
	struct node *reasons = build_list(build);
	for (size_t i = 0; i < group->reason_count; i++) {
		const struct plan_reason *reason = &group->reasons[i];
		struct node *entry = build_map(build);
		build_put_string(build, entry, "code", reason->code);
		build_put_string(build, entry, "message", reason->message);
		if (reason->change)
			build_put_string(build, entry, "change", reason->change);
		build_put_string(build, entry, "level", reason->level);
		build_put_string(build, entry, "domain", reason->domain);
		build_put_int(build, entry, "have", reason->have);
		build_put_int(build, entry, "need", reason->need);
		build_append(build, reasons, entry);
	}
	return reasons;
}

static struct node *write_group(struct build *build, const struct plan_group *group)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "namespace", group->namespace_);
	build_put_string(build, item, "name", group->name);
	build_put_string(build, item, "state", group->state);
	if (group->proved)
		build_put_string(build, item, "proved", group->proved);
	build_put_int(build, item, "placed", group->placed);
	build_put_int(build, item, "minimum", group->minimum);
	struct node *sub_groups = build_list(build);
	for (size_t i = 0; i < group->sub_group_count; i++) {
		struct node *sub_group = build_map(build);
		build_put_string(build, sub_group, "name", group->sub_groups[i].name);
		build_put_int(build, sub_group, "placed", group->sub_groups[i].placed);
		build_put_int(build, sub_group, "minimum", group->sub_groups[i].minimum);
		build_append(build, sub_groups, sub_group);
	}
	build_put(build, item, "subGroups", sub_groups);
	build_put(build, item, "reasons", plan_write_reasons(group, build));
	return item;
}

static struct node *write_verdict(struct build *build, const struct snapshot_verdict *verdict, struct arena *arena)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "kind", verdict->kind);
	build_put_string(build, item, "namespace", verdict->namespace_);
	build_put_string(build, item, "name", verdict->name);
	build_put_bool(build, item, "allowed", verdict->allowed);
	struct node *messages = build_list(build);
	for (size_t i = 0; i < verdict->problem_count; i++) {
		const struct problem *problem = &verdict->problems[i];
		const char *fix = problem->fix ? arena_printf(arena, " (%s)", problem->fix) : "";
		build_append(build, messages,
		             build_string(build, arena_printf(arena, "%s%s%s%s%s",
		                                              problem->severity == SEVERITY_WARNING ? "warning: " : "",
		                                              problem->path, problem->path[0] ? ": " : "",
		                                              problem->message, fix)));
	}
	build_put(build, item, "messages", messages);
	return item;
}

static struct node *write_defragment(struct build *build, const struct cycle_defragment *report)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "level", report->level);
	build_put_int(build, item, "gangPods", report->pods);
	build_put_int(build, item, "podDevices", report->devices);
	build_put_int(build, item, "before", report->before);
	build_put_int(build, item, "gained", report->gained);
	build_put_int(build, item, "moves", report->moves);
	build_put_bool(build, item, "proved", report->proved);
	return item;
}

struct node *plan_write(const struct plan *plan, struct build *build)
{
	const struct snapshot *snapshot = plan->snapshot;
	struct node *root = build_map(build);
	build_put(build, root, "bindings", write_bindings(build, plan->bindings, plan->binding_count));
	build_put(build, root, "reservations", write_bindings(build, plan->reservations, plan->reservation_count));
	build_put(build, root, "evictions", write_evictions(build, plan));
	if (snapshot->cycle.defragment.level)
		build_put(build, root, "defragment", write_defragment(build, &snapshot->cycle.defragment));
	struct node *groups = build_list(build);
	for (size_t i = 0; i < plan->group_count; i++)
		build_append(build, groups, write_group(build, &plan->groups[plan->order[i]]));
	build_put(build, root, "groups", groups);
	struct node *admission = build_list(build);
	for (size_t i = 0; i < snapshot->verdict_count; i++)
		build_append(build, admission, write_verdict(build, &snapshot->verdicts[i], snapshot->arena));
	build_put(build, root, "admission", admission);
	struct node *warnings = build_list(build);
	for (size_t i = 0; i < snapshot->warning_count; i++)
		build_append(build, warnings, build_string(build, snapshot->warnings[i]));
	build_put(build, root, "warnings", warnings);
	return root;
}
