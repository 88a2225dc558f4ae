/* Owns the command `why`. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/plan_table.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "engine/share/share.h"
#include "view/why.h"

#include <string.h>

/* What a reason is about, as the first word of its line. */
static const char *label_of(const char *code)
{
	static const struct {
		const char *code, *label;
	} labels[] = {
		{"InsufficientDomain", "closest"},
		{"InsufficientResource", "missing"},
		{"NodesExcluded", "nodes"},
		{"WouldFit", "change"},
		{"NoChangeFound", "change"},
		{"HeldBy", "held"},
		{"QueuePosition", "queue"},
		{"ClaimInUse", "claim"},
		{"MinRuntime", "wait"},
		{"NoCombination", "together"},
		{"PinnedByRunningMembers", "pinned"},
		{"OverLimit", "queue"},
		{"NonPreemptibleOverQuota", "queue"},
		{"QueueDoesNotExist", "queue"},
		{"Rejected", "rejected"},
		{"TopologyUnknown", "topology"},
	};
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (strcmp(labels[i].code, code) == 0)
			return labels[i].label;
	return "because";
}

static void print_reasons(const struct plan_group *group)
{
	for (size_t i = 0; i < group->reason_count; i++)
		output_line(stdout, "  %-9s %s", label_of(group->reasons[i].code), group->reasons[i].message);
}

static const char *amount(struct arena *arena, int resource, int64_t value)
{
	if (value < 0)
		return "none";
	if (resource == CYCLE_GPU)
		return value % 1000 ? arena_printf(arena, "%lld.%03lld", (long long)(value / 1000),
		                                   (long long)(value % 1000))
		                    : arena_printf(arena, "%lld", (long long)(value / 1000));
	return quantity_print(arena, resource == CYCLE_CPU ? "cpu" : "memory", value);
}

static void print_shares(struct cli_args *args, const struct cycle *cycle, const struct cycle_queue *queue)
{
	static const char *const names[CYCLE_RESOURCES] = {"gpu", "cpu", "memory"};
	struct table table = {.arena = args->arena, .columns = cycle->past_factor ? 6 : 5};
	table_add(&table,
	          &(struct table_row){.cells = {"RESOURCE", "ALLOCATED", "FAIR SHARE", "QUOTA", "LIMIT", "PAST USE"}});
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		table_add(&table,
		          &(struct table_row){
				  .cells = {names[r], amount(args->arena, r, queue->allocated[r]),
		                            amount(args->arena, r, queue->fair[r]),
		                            queue->quota[r] < 0 ? "unlimited" : amount(args->arena, r, queue->quota[r]),
		                            amount(args->arena, r, queue->limit[r]),
		                            output_percent(args->arena, queue->used[r], SHARE_PAST_WHOLE)}});
	table_print(&table, stdout, draw_style(stdout, args->colour).colours);
}

static void print_queue(struct cli_args *args, const struct why *why)
{
	const struct cycle *cycle = &why->plan->snapshot->cycle;
	for (size_t q = 0; q < cycle->queue_count; q++) {
		if (cycle->queues[q].first != why->queue)
			continue;
		if (cycle->queues[q].pool_name)
			output_line(stdout, "in node pool %s:", cycle->queues[q].pool_name);
		print_shares(args, cycle, &cycle->queues[q]);
	}
	for (size_t i = 0; i < why->plan->group_count; i++) {
		size_t index = why->plan->order[i];
		const struct plan_group *group = &why->plan->groups[index];
		enum group_state state = cycle->groups[index].state;
		if (!why_concerns_queue(why, index) || state == GROUP_PLACED || state == GROUP_PARTIAL)
			continue;
		output_line(stdout, "%s: %s", plan_group_title(why->plan, group, args->arena), group->state);
		print_reasons(group);
	}
}

/* All groups of a workload; of very many only some, those that wait first. */
static void print_groups(struct cli_args *args, const struct why *why)
{
	enum { MOST_GROUPS = 10 };
	struct draw_style style = draw_style(stdout, args->colour);
	for (size_t i = 0; i < why->group_count && i < MOST_GROUPS; i++) {
		const struct plan_group *group = &why->plan->groups[why->groups[i]];
		output_line(stdout, "%s: %s: %lld/%lld pods placed", plan_group_title(why->plan, group, args->arena),
		            group->state, (long long)group->placed, (long long)group->minimum);
		print_reasons(group);
		if (args->output == CLI_OUTPUT_WIDE && group->placed > 0)
			plan_table_print_group(why->plan, (size_t)why->groups[i], true, &style, stdout);
	}
	if (why->group_count > MOST_GROUPS)
		output_line(stdout, "... and %zu more; -o json has all", why->group_count - MOST_GROUPS);
}

static void print_text(struct cli_args *args, const struct why *why)
{
	const struct why_subject *subject = &why->subject;
	output_line(stdout, "%s%s%s: %s: %s", subject->namespace_, subject->namespace_[0] ? "/" : "", subject->name,
	            why->state, why->summary);
	if (why->queue >= 0)
		print_queue(args, why);
	if (why->group < 0 && why->message[0])
		output_line(stdout, "  %-9s %s", "because", why->message);
	if (why->group_count > 1) {
		print_groups(args, why);
		return;
	}
	if (why->group < 0 || (why->pod >= 0 && why->settled))
		return;
	const struct plan_group *group = &why->plan->groups[why->group];
	print_reasons(group);
	struct draw_style style = draw_style(stdout, args->colour);
	if (why->pod < 0 && group->placed > 0)
		plan_table_print_group(why->plan, (size_t)why->group, args->output == CLI_OUTPUT_WIDE, &style, stdout);
	plan_table_print_map(why->plan, args->map, why->group, why->closest, &style, stdout);
}

/* ---- everything that waits ---- */

static bool is_listed(const struct cli_args *args, const struct plan *plan, const struct plan_group *group)
{
	enum group_state state = plan->snapshot->cycle.groups[group->index].state;
	return state != GROUP_PLACED && state != GROUP_PARTIAL && group->waiting > 0 &&
	       (!args->namespace_ || strcmp(args->namespace_, group->namespace_) == 0);
}

static const char *first_reason(const struct plan_group *group)
{
	return group->reason_count ? group->reasons[0].message : "";
}

static void list_as_document(struct cli_args *args, const struct plan *plan)
{
	struct build *build = build_create();
	struct node *list = build_list(build);
	for (size_t i = 0; i < plan->group_count; i++) {
		const struct plan_group *group = &plan->groups[plan->order[i]];
		if (!is_listed(args, plan, group))
			continue;
		struct node *item = build_map(build);
		build_put_string(build, item, "namespace", group->namespace_);
		build_put_string(build, item, "name", group->name);
		build_put_string(build, item, "state", group->state);
		build_put_string(build, item, "reason", first_reason(group));
		build_append(build, list, item);
	}
	output_document(build, list, args->output == CLI_OUTPUT_YAML, stdout);
	build_destroy(build);
}

/* Every group that waits with its first reason. The exit status. */
static int list_waiting(struct cli_args *args, const struct plan *plan)
{
	struct table table = {.arena = args->arena, .columns = 3};
	size_t waiting = 0;
	table_add(&table, &(struct table_row){.cells = {"GROUP", "STATE", "FIRST REASON"}});
	for (size_t i = 0; i < plan->group_count; i++) {
		const struct plan_group *group = &plan->groups[plan->order[i]];
		if (!is_listed(args, plan, group))
			continue;
		waiting++;
		table_add(&table, &(struct table_row){.cells = {plan_group_title(plan, group, args->arena),
		                                                group->state, first_reason(group)}});
	}
	if (args->output == CLI_OUTPUT_JSON || args->output == CLI_OUTPUT_YAML)
		list_as_document(args, plan);
	else if (waiting)
		table_print(&table, stdout, draw_style(stdout, args->colour).colours);
	else
		output_line(stdout, "nothing waits");
	return waiting ? CLI_FOUND : CLI_OK;
}

/* `subject` NULL: everything that waits. */
static int explain(struct cli_args *args, const struct why_subject *subject, const struct manifests *objects,
                   const struct manifests *owners)
{
	struct error error = {0};
	struct manifests above;
	cli_load_terms(args, objects, &above);
	struct snapshot_options options = {.now_seconds = clock_seconds(clock_system()),
	                                   .owners = &above,
	                                   .settings = &args->settings,
	                                   .trials = SNAPSHOT_TRIALS_WHEN_ASKED,
	                                   .tell_holders = true,
	                                   .list_missing = true};
	struct snapshot *snapshot = snapshot_create(objects, &options);
	const struct plan *plan = plan_run(snapshot, args->actions, args->action_count);
	struct why why;
	int rc = CLI_USAGE;
	if (!subject) {
		rc = list_waiting(args, plan);
	} else if (why_ask(plan, objects, owners, subject, args->arena, &why, &error) < 0) {
		output_line(stderr, "platoon why: %s", error.text);
	} else {
		if (args->output == CLI_OUTPUT_JSON || args->output == CLI_OUTPUT_YAML) {
			struct build *build = build_create();
			output_document(build, why_write(&why, build), args->output == CLI_OUTPUT_YAML, stdout);
			build_destroy(build);
		} else {
			print_text(args, &why);
		}
		rc = why.settled ? CLI_OK : CLI_FOUND;
	}
	snapshot_destroy(snapshot);
	manifests_free(&above);
	return rc;
}

int cmd_why(struct cli_args *args)
{
	if (args->operand_count > 1) {
		fprintf(stderr, "platoon why: name one object, or none for everything that waits: podgroup/NAME, "
		                "pod/NAME, queue/NAME, job/NAME, ...\n"
		                "Run `platoon why --help` for its options.\n");
		return CLI_USAGE;
	}
	struct error error = {0};
	struct why_subject subject = {0};
	struct manifests objects, owners;
	bool all = args->operand_count == 0;
	if (!all && why_parse(args->operands[0], "", args->arena, &subject, &error) < 0) {
		output_line(stderr, "platoon why: %s", error.text);
		return CLI_USAGE;
	}
	manifests_init(&objects);
	manifests_init(&owners);
	int rc = cli_load_world(args, &objects);
	if (!all && subject.kind != WHY_QUEUE)
		subject.namespace_ = args->namespace_ ? args->namespace_ : "default";
	if (rc == CLI_OK && !all && subject.kind == WHY_WORKLOAD && cli_is_live(args))
		cli_load_owners(args, subject.namespace_, &owners);
	if (rc == CLI_OK)
		rc = explain(args, all ? NULL : &subject, &objects, &owners);
	manifests_free(&objects);
	manifests_free(&owners);
	return rc;
}
