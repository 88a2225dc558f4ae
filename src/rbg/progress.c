/* Owns the question whether segments get on: since when one is waited for, why, and what follows when that takes too
 * long. */
#include "rbg/render.h"

#include "rollout/count.h"

#include <string.h>

const struct val *rbg_old_coordination(const struct rbg_turn *turn, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(turn->object->root, "status", "coordinationStatuses", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return item;
	return NULL;
}

static const char *condition_message(const struct val *pod, const char *type)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0 &&
		    strcmp(val_str(val_get(item, "status"), ""), "True") != 0)
			return val_str(val_get(item, "message"), "");
	return "";
}

static const char *container_trouble(struct rbg_turn *turn, const struct val *pod)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);) {
		const char *reason = val_str(val_path(item, "state", "waiting", "reason", NULL), "");
		if (*reason)
			return arena_printf(turn->arena, "container %s: %s", val_str(val_get(item, "name"), ""),
			                    reason);
	}
	return "it runs but is not ready";
}

static const char *pod_trouble(struct rbg_turn *turn, const struct rbg_pod *pod)
{
	const struct val *root = pod->object->root;
	if (pod->is_terminating)
		return arena_printf(turn->arena, "pod %s is ending", pod->object->name);
	if (pod->is_over)
		return arena_printf(turn->arena, "pod %s has ended", pod->object->name);
	if (pod->is_changing)
		return arena_printf(turn->arena, "pod %s has a new image that does not run yet", pod->object->name);
	if (pod->is_gated)
		return arena_printf(turn->arena, "pod %s waits for its batch", pod->object->name);
	if (pod->is_scheduled)
		return arena_printf(turn->arena, "pod %s: %s", pod->object->name, container_trouble(turn, root));
	const char *why = condition_message(root, "PodScheduled");
	return arena_printf(turn->arena, "pod %s is not scheduled%s%s", pod->object->name, *why ? ": " : "", why);
}

/* The first ordinal of a role that is not ready though it may be there. */
static int64_t first_unready(const struct rbg_role_state *role)
{
	int64_t end = count_least(count_least(role->target, role->desired), role->released), ordinal = 0;
	while (ordinal < end && role->is_ready[ordinal])
		ordinal++;
	return ordinal < end ? ordinal : -1;
}

/* The first pod that keeps the instance from being ready. */
static const char *find_cause(struct rbg_turn *turn, const struct rbg_role_state *role, int64_t ordinal)
{
	const struct rbg_instance *instance = rbg_instance_at(role, ordinal);
	if (!instance)
		return arena_printf(turn->arena, "%s does not exist", rbg_instance_name(turn, role->spec, ordinal));
	for (size_t i = 0; i < instance->pod_count; i++)
		if (!instance->pods[i].is_ready || instance->pods[i].is_terminating)
			return pod_trouble(turn, &instance->pods[i]);
	return arena_printf(turn->arena, "pods of %s are missing", rbg_instance_name(turn, role->spec, ordinal));
}

void rbg_look_again(struct rbg_turn *turn, int64_t seconds)
{
	if (seconds > 0 && (turn->again == 0 || seconds < turn->again))
		turn->again = seconds;
}

/* The first segment that is not ready, whether it exists in full or is being made. */
static void find_wait(struct rbg_turn *turn, struct rbg_rule_state *rule)
{
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct segment_size *entry = &rule->rule.sizes[i];
		const struct rbg_role_state *role = &turn->roles[entry->role];
		int64_t ordinal = first_unready(role), number = segment_of(ordinal, entry->size) + 1;
		if (ordinal < 0 || (rule->waits_in > 0 && number >= rule->waits_in))
			continue;
		rule->waits_in = number;
		rule->cause = find_cause(turn, role, ordinal);
	}
}

/* Leading segments that are ready now; those that were before count while they are wanted. */
static void note_completed(struct rbg_rule_state *rule)
{
	int64_t leading = rule->waits_in > 0 ? rule->waits_in - 1 : rule->judged.created;
	rule->completed = count_least(count_most(rule->completed, leading), rule->judged.created);
}

bool rbg_judge_progress(struct rbg_turn *turn)
{
	bool rolled_back = false;
	for (size_t k = 0; k < turn->rule_count && !rolled_back; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		const struct val *old = rbg_old_coordination(turn, rule->spec->name);
		int64_t was = 0, since = turn->now;
		find_wait(turn, rule);
		note_completed(rule);
		if (rule->waits_in == 0)
			continue;
		val_int(val_get(old, "waitsFor"), &was);
		rule->since = turn->now;
		if (was == rule->waits_in && strcmp(val_str(val_get(old, "attempt"), ""), rule->attempt) == 0 &&
		    clock_parse_rfc3339(val_str(val_get(old, "waitsSince"), ""), &since) == 0)
			rule->since = since;
		rule->is_stuck = turn->now - rule->since >= rule->spec->stuck_seconds;
		rbg_look_again(turn, rule->since + rule->spec->stuck_seconds - turn->now);
		rolled_back = rbg_roll_back_late(turn, rule);
	}
	return rolled_back;
}
