/* Owns the status of a group, its conditions, and the events that tell each step once: what is new against the status
 * before. */
#include "rbg/render.h"

#include "rollout/conditions.h"
#include "rollout/conflicts.h"
#include "rollout/count.h"

#include <string.h>

#define MOST_CONDITIONS 10

struct report {
	struct rbg_turn *turn;
	struct build *build;
	struct node *status;
	int64_t pods_ready, pods_desired, replicas, updated, updated_ready;
	int64_t outdated; /* instances of another revision, or about to be replaced */
	bool is_rolling;  /* an update is under way */
	bool is_moving;   /* and nobody said that it is to stand still */
	struct condition conditions[MOST_CONDITIONS];
	size_t condition_count;
};

static void count_role(struct report *report, struct rbg_role_state *role)
{
	for (size_t i = 0; i < role->instance_count; i++) {
		const struct rbg_instance *instance = &role->instances[i];
		bool is_new = strcmp(instance->revision, role->update_revision) == 0;
		report->outdated += !is_new || instance->action == UPDATE_REPLACE;
		if (instance->ordinal >= role->desired)
			continue;
		role->ready += instance->is_ready;
		role->updated += is_new && !instance->is_terminating && instance->action == UPDATE_KEEP;
		role->updated_ready += is_new && instance->is_ready;
		for (size_t p = 0; p < instance->pod_count; p++)
			role->ready_pods += instance->pods[p].is_ready && !instance->pods[p].is_terminating;
	}
	report->pods_ready += role->ready_pods;
	report->pods_desired += role->desired * role->spec->pods;
	report->replicas += role->desired;
	report->updated += role->updated;
	report->updated_ready += role->updated_ready;
}

/* ---- roles ---- */

static void tell_role(struct rbg_turn *turn, const struct rbg_role_state *role, const struct val *old)
{
	const char *before = val_str(val_get(old, "message"), "");
	if (role->target > role->last_target)
		rbg_event(turn, false, "ScaledUp", "role %s: %lld -> %lld of %lld replicas", role->spec->name,
		          (long long)role->last_target, (long long)role->target, (long long)role->desired);
	if (role->target < role->last_target)
		rbg_event(turn, false, "ScaledDown", "role %s: %lld -> %lld replicas", role->spec->name,
		          (long long)role->last_target, (long long)role->target);
	if (role->wait && !*before)
		rbg_event(turn, false, role->waits_for_role ? "DependencyNotMet" : "WaitingForSegment", "role %s %s",
		          role->spec->name, role->wait);
	if (role->is_overridden && !val_bool(val_get(old, "overridden"), false))
		rbg_event(turn, false, "ReplicasOverriddenByAdapter",
		          "role %s: a scaling adapter asks for %lld replicas", role->spec->name,
		          (long long)role->desired);
}

/* Why an update of the role does not go on because the role says so; NULL when it does, or there is none. */
static const char *find_hold(struct rbg_turn *turn, const struct rbg_role_state *role)
{
	const struct update_strategy *strategy = &role->spec->rollout;
	int64_t partition = update_partition(strategy->partition, role->desired);
	long long old = 0, behind = 0;
	for (size_t i = 0; i < role->instance_count; i++) {
		bool is_old = strcmp(role->instances[i].revision, role->update_revision) != 0;
		old += is_old;
		behind += is_old && role->instances[i].ordinal >= partition;
	}
	if (old > 0 && strategy->is_paused)
		return arena_printf(turn->arena, "the update is paused, %lld instances have the old revision", old);
	if (old > 0 && behind == 0)
		return arena_printf(turn->arena, "the partition keeps %lld instances at the old revision", old);
	return NULL;
}

static void write_roles(struct report *report)
{
	struct rbg_turn *turn = report->turn;
	struct build *build = report->build;
	struct node *list = build_list(build);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		struct node *node = build_map(build);
		const char *current = role->current_revision;
		if (!turn->blocked && update_may_advance(&role->shape) && role->target == role->desired)
			current = role->update_revision;
		tell_role(turn, role, rbg_old_role(turn, role->spec->name));
		build_put_string(build, node, "name", role->spec->name);
		build_put_int(build, node, "replicas", count_most((int64_t)role->instance_count, role->target));
		build_put_int(build, node, "readyReplicas", role->ready);
		build_put_int(build, node, "updatedReplicas", role->updated);
		build_put_int(build, node, "desiredReplicas", role->desired);
		build_put_int(build, node, "targetReplicas", role->target);
		build_put_string(build, node, "currentRevision", current);
		build_put_string(build, node, "updateRevision", role->update_revision);
		if (role->is_overridden)
			build_put_bool(build, node, "overridden", true);
		const char *hold = find_hold(turn, role);
		if (role->wait)
			build_put_string(build, node, "message", role->wait);
		if (hold)
			build_put_string(build, node, "updateMessage", hold);
		build_append(build, list, node);
	}
	build_put(build, report->status, "roleStatuses", list);
}

/* ---- coordinations ---- */

/* Leading segments that exist in full after this turn. */
static int64_t count_started(const struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	int64_t started = rule->judged.total;
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct segment_size *entry = &rule->rule.sizes[i];
		const struct rbg_role_state *role = &turn->roles[entry->role];
		if (role->desired > 0 && role->target < role->desired)
			started = count_least(started, role->target / entry->size);
	}
	return started;
}

static const char *hold_text(struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	return arena_printf(turn->arena,
	                    "coordination %s waits after %lld of %lld segments; approve with annotation %s=%s",
	                    rule->spec->name, (long long)rule->spec->canary_segments, (long long)rule->judged.total,
	                    RBG_APPROVE_ANNOTATION, turn->revision);
}

static void tell_rule(struct rbg_turn *turn, const struct rbg_rule_state *rule, const struct val *old, int64_t started)
{
	int64_t was_started = 0, was_ready = 0, was_released = 0;
	const char *name = rule->spec->name;
	long long total = (long long)rule->judged.total;
	val_int(val_get(old, "startedSegments"), &was_started);
	val_int(val_get(old, "readySegments"), &was_ready);
	val_int(val_get(old, "releasedSegments"), &was_released);
	if (started > was_started)
		rbg_event(turn, false, "SegmentStarted", "segment %lld/%lld of coordination %s exists",
		          (long long)started, total, name);
	if (rule->judged.ready > was_ready)
		rbg_event(turn, false, "SegmentReady", "%lld/%lld segments of coordination %s are ready",
		          (long long)rule->judged.ready, total, name);
	if (rule->spec->is_deploy && rule->released > was_released)
		rbg_event(turn, false, "BatchReleased", "batch %lld/%lld of coordination %s may be scheduled",
		          (long long)rule->released, total, name);
	if (rule->is_held && !val_bool(val_get(old, "held"), false))
		rbg_event(turn, false, "CanaryHolding", "%s", hold_text(turn, rule));
	if (rule->is_stuck && !val_bool(val_get(old, "stuck"), false))
		rbg_event(turn, true, "SegmentStuck", "segment %lld of coordination %s: %s", (long long)rule->waits_in,
		          name, rule->cause);
}

static void warn_mismatch(struct report *report, const struct rbg_rule_state *rule, const struct val *old,
                          struct node *node)
{
	struct rbg_turn *turn = report->turn;
	struct segment_role *roles = arena_array(turn->arena, struct segment_role, turn->spec.role_count);
	for (size_t r = 0; r < turn->spec.role_count; r++)
		roles[r] = (struct segment_role){.name = turn->spec.roles[r].name, .desired = turn->roles[r].desired};
	const char *text = conflict_mismatch(roles, turn->spec.role_count, &rule->rule, turn->arena);
	if (!text)
		return;
	if (!val_bool(val_get(old, "ratioMismatch"), false))
		rbg_event(turn, true, CONFLICT_RATIO_MISMATCH, "%s", text);
	build_put_bool(report->build, node, "ratioMismatch", true);
}

static void write_rules(struct report *report)
{
	struct rbg_turn *turn = report->turn;
	struct build *build = report->build;
	struct node *list = build_list(build);
	for (size_t k = 0; k < turn->rule_count; k++) {
		const struct rbg_rule_state *rule = &turn->rules[k];
		const struct val *old = rbg_old_coordination(turn, rule->spec->name);
		struct node *node = build_map(build);
		int64_t started = count_started(turn, rule);
		tell_rule(turn, rule, old, started);
		build_put_string(build, node, "name", rule->spec->name);
		build_put_int(build, node, "readySegments", rule->judged.ready);
		build_put_int(build, node, "startedSegments", started);
		build_put_int(build, node, "releasedSegments", rule->released);
		build_put_int(build, node, "totalSegments", rule->judged.total);
		if (rule->starts_whole)
			build_put_int(build, node, "formedSegments", rule->formed);
		if (rule->is_held)
			build_put_bool(build, node, "held", true);
		warn_mismatch(report, rule, old, node);
		rbg_write_rollback(rule, build, node);
		if (rule->waits_in > 0) {
			char since[32];
			clock_print_rfc3339(rule->since, since);
			build_put_int(build, node, "waitsFor", rule->waits_in);
			build_put_string(build, node, "waitsSince", since);
			build_put_string(build, node, "attempt", rule->attempt);
			build_put_string(build, node, "message", rule->cause);
			if (rule->is_stuck)
				build_put_bool(build, node, "stuck", true);
		}
		build_append(build, list, node);
	}
	build_put(build, report->status, "coordinationStatuses", turn->rule_count ? list : NULL);
}

/* ---- conditions ---- */

static void add_condition(struct report *report, const char *type, bool is_true, const char *reason,
                          const char *message)
{
	report->conditions[report->condition_count++] =
		(struct condition){type, is_true ? "True" : "False", reason, message};
}

/* A condition that is only there while it is true, or once it was. */
static void add_trouble(struct report *report, const char *type, const char *reason, const char *message,
                        const char *calm)
{
	const struct val *item;
	bool was = false;
	for (struct val_iter it = val_iter(val_path(report->turn->object->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);)
		was |= strcmp(val_str(val_get(item, "type"), ""), type) == 0;
	if (message)
		add_condition(report, type, true, reason, message);
	else if (was)
		add_condition(report, type, false, calm, "");
}

static const struct rbg_rule_state *find_worst(const struct rbg_turn *turn, bool *is_minimum_met)
{
	const struct rbg_rule_state *worst = NULL;
	*is_minimum_met = true;
	for (size_t k = 0; k < turn->rule_count; k++) {
		const struct segment_state *state = &turn->rules[k].judged, *other = worst ? &worst->judged : NULL;
		if (state->total == 0)
			continue;
		*is_minimum_met &= state->ready > 0;
		if (!other || state->ready * other->total < other->ready * state->total ||
		    (state->ready * other->total == other->ready * state->total && state->total > other->total))
			worst = &turn->rules[k];
	}
	return worst;
}

static void write_segments(struct report *report, const struct rbg_rule_state *worst, bool is_minimum_met)
{
	struct rbg_turn *turn = report->turn;
	struct condition_text texts[CONDITION_SLOTS];
	struct condition_facts facts = {
		.segments_ready = worst->judged.ready,
		.segments_total = worst->judged.total,
		.is_minimum_met = is_minimum_met,
		.is_updating = report->is_moving,
		.pods_ready = report->pods_ready,
		.pods_desired = report->pods_desired,
	};
	val_int(val_path(turn->object->root, "status", "completeAt", NULL), &facts.complete_at);
	condition_segments(&facts, turn->arena, texts);
	for (int i = 0; i < CONDITION_SLOTS; i++)
		add_condition(report, texts[i].type, texts[i].is_true, texts[i].reason, texts[i].message);
	build_put_int(report->build, report->status, "currentSegments", facts.segments_ready);
	build_put_int(report->build, report->status, "totalSegments", facts.segments_total);
	build_put_string(report->build, report->status, "segments",
	                 arena_printf(turn->arena, "%lld/%lld", (long long)facts.segments_ready,
	                              (long long)facts.segments_total));
	build_put_int(report->build, report->status, "completeAt", condition_complete_at(&facts));
}

static void write_plain(struct report *report)
{
	bool is_ready = !report->is_moving;
	for (size_t r = 0; r < report->turn->spec.role_count; r++)
		is_ready &= report->turn->roles[r].ready >= report->turn->roles[r].desired;
	struct condition_text text = condition_roles(is_ready);
	add_condition(report, text.type, text.is_true, text.reason, text.message);
	const char *const gone[] = {"currentSegments", "totalSegments", "segments"};
	for (int i = 0; i < 3; i++)
		build_put(report->build, report->status, gone[i], NULL);
}

/* Whether an update goes on, or stands still because somebody said so for every role that has old instances. */
static const char *find_pace(const struct report *report)
{
	const char *pace = NULL;
	for (size_t r = 0; r < report->turn->spec.role_count; r++) {
		const struct rbg_role_state *role = &report->turn->roles[r];
		bool is_old = false;
		for (size_t i = 0; i < role->instance_count && !is_old; i++)
			is_old = strcmp(role->instances[i].revision, role->update_revision) != 0;
		if (is_old && !find_hold(report->turn, role))
			return "Updating";
		if (is_old)
			pace = role->spec->rollout.is_paused ? "Paused" : pace ? pace : "HeldByPartition";
	}
	return pace ? pace : "Updating";
}

static void write_conditions(struct report *report)
{
	struct rbg_turn *turn = report->turn;
	bool is_minimum_met;
	const struct rbg_rule_state *worst = find_worst(turn, &is_minimum_met);
	const char *stuck = NULL, *held = NULL, *pace = find_pace(report);
	report->is_rolling = report->outdated > 0 || (turn->is_updating && report->updated_ready < report->replicas);
	report->is_moving = report->is_rolling && strcmp(pace, "Updating") == 0;
	for (size_t k = 0; k < turn->rule_count; k++)
		report->is_moving &= !turn->rules[k].is_held;
	if (worst)
		write_segments(report, worst, is_minimum_met);
	else
		write_plain(report);
	for (size_t k = turn->rule_count; k-- > 0;) {
		const struct rbg_rule_state *rule = &turn->rules[k];
		if (rule->is_stuck)
			stuck = arena_printf(turn->arena, "segment %lld of coordination %s: %s",
			                     (long long)rule->waits_in, rule->spec->name, rule->cause);
		if (rule->is_held)
			held = hold_text(turn, rule);
	}
	add_trouble(report, CONFLICT_CONDITION, turn->blocked_reason, turn->blocked, "NoConflict");
	add_trouble(report, "ReconcileFailed", "", NULL, "Written");
	add_trouble(report, "SegmentStuck", "SegmentNotReady", stuck, "SegmentsProgress");
	const char *back = rbg_rollback_text(turn);
	add_trouble(report, "SegmentRolledBack", "DeadlineExceeded", back, "NotRolledBack");
	add_trouble(report, "CanaryHolding", "WaitingForApproval", held, "NotHeld");
	const char *progress = arena_printf(turn->arena, "%lld/%lld replicas updated", (long long)report->updated,
	                                    (long long)report->replicas);
	add_trouble(report, "RollingUpdateInProgress", pace, report->is_rolling ? progress : NULL, "UpdateComplete");
}

/* Steps of the update, told when the condition changes. */
static void tell_update(struct report *report)
{
	struct rbg_turn *turn = report->turn;
	for (size_t i = 0; i < report->condition_count; i++) {
		const struct condition *condition = &report->conditions[i];
		if (strcmp(condition->type, "RollingUpdateInProgress") != 0)
			continue;
		const struct val *item;
		bool was = false, is = strcmp(condition->status, "True") == 0;
		for (struct val_iter it = val_iter(val_path(turn->object->root, "status", "conditions", NULL));
		     val_next(&it, NULL, &item);)
			was |= strcmp(val_str(val_get(item, "type"), ""), condition->type) == 0 &&
			       strcmp(val_str(val_get(item, "status"), ""), "True") == 0;
		if (is && !was)
			rbg_event(turn, false, "UpdateStarted", "to revision %s", turn->revision);
		if (was && !is)
			rbg_event(turn, false, "UpdateCompleted", "revision %s", turn->revision);
	}
}

static void report_refusal(struct rbg_turn *turn)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	struct condition conditions[] = {{"ReconcileFailed", "True", "Refused", turn->refusal},
	                                 {"Ready", "False", "NotAdopted", turn->refusal}};
	/* What runs may go on after a refusal; where an object of somebody else is in the way part of it was never ours. */
	build_put(build, status, "conditions",
	          writes_conditions(build, turn->object->root, conditions, turn->is_in_the_way ? 2 : 1, turn->now));
	writes_patch_status(turn->store, turn->object, build, status);
	build_destroy(build);
}

void rbg_report(struct rbg_turn *turn)
{
	/* What could not be made must not look as if it were there. */
	if (turn->failed) {
		if (turn->refusal)
			report_refusal(turn);
		return;
	}
	struct report report = {.turn = turn, .build = build_create()};
	int64_t generation = 0;
	report.status = build_map(report.build);
	for (size_t r = 0; r < turn->spec.role_count; r++)
		count_role(&report, &turn->roles[r]);
	write_roles(&report);
	write_rules(&report);
	write_conditions(&report);
	tell_update(&report);
	val_int(val_path(turn->object->root, "metadata", "generation", NULL), &generation);
	build_put_int(report.build, report.status, "observedGeneration", generation);
	build_put_string(report.build, report.status, "readyPods",
	                 arena_printf(turn->arena, "%lld/%lld", (long long)report.pods_ready,
	                              (long long)report.pods_desired));
	build_put_string(report.build, report.status, "updated",
	                 arena_printf(turn->arena, "%lld/%lld", (long long)report.updated, (long long)report.replicas));
	build_put_string(report.build, report.status, "updateRevision", turn->revision);
	rbg_write_restarts(turn, report.build, report.status);
	build_put(report.build, report.status, "conditions",
	          writes_conditions(report.build, turn->object->root, report.conditions, report.condition_count,
	                            turn->now));
	writes_patch_status(turn->store, turn->object, report.build, report.status);
	build_destroy(report.build);
}
