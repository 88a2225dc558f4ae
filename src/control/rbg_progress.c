/* Owns the question whether segments get on: since when one is waited for, why, and what follows when that takes too
 * long. */
#include "control/rbg_render.h"

#include "plan/count.h"

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

/* The first pod that keeps the segment from being ready. */
static const char *find_cause(struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	const struct rbg_role_state *role = &turn->roles[rule->judged.waits_for];
	int64_t ordinal = 0;
	while (ordinal < role->desired && role->is_ready[ordinal])
		ordinal++;
	const struct rbg_instance *instance = rbg_instance_at(role, ordinal);
	if (!instance)
		return arena_printf(turn->arena, "%s does not exist", rbg_instance_name(turn, role->spec, ordinal));
	for (size_t i = 0; i < instance->pod_count; i++)
		if (!instance->pods[i].is_ready || instance->pods[i].is_terminating)
			return pod_trouble(turn, &instance->pods[i]);
	return arena_printf(turn->arena, "pods of %s are missing", rbg_instance_name(turn, role->spec, ordinal));
}

static void look_again(struct rbg_turn *turn, int64_t seconds)
{
	if (seconds > 0 && (turn->again == 0 || seconds < turn->again))
		turn->again = seconds;
}

/* The revision whose roles all have the revisions that are complete. */
static const char *find_complete_revision(struct rbg_turn *turn)
{
	const struct store_type *type = store_type_find(turn->store, "apps", "controllerrevisions");
	for (size_t i = 0; i < turn->owned.count; i++) {
		const struct store_object *object = turn->owned.items[i];
		bool fits = object->type == type;
		for (size_t r = 0; r < turn->spec.role_count && fits; r++) {
			const char *hash = labels_get(&object->labels, rbg_role_label(turn, turn->spec.roles[r].name));
			fits = hash && strcmp(hash, turn->roles[r].current_revision) == 0;
		}
		if (fits)
			return object->name;
	}
	return NULL;
}

static bool roll_back_late(struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	int64_t limit = rule->spec->rollback_seconds;
	if (limit == 0 || !turn->is_updating)
		return false;
	look_again(turn, rule->since + limit - turn->now);
	if (turn->now - rule->since < limit)
		return false;
	const char *revision = find_complete_revision(turn);
	const char *why = arena_printf(turn->arena, "segment %lld of coordination %s was not ready within %lld s: %s",
	                               (long long)rule->waits_in, rule->spec->name, (long long)limit, rule->cause);
	return revision && rbg_restore(turn, revision, why);
}

bool rbg_judge_progress(struct rbg_turn *turn)
{
	bool rolled_back = false;
	for (size_t k = 0; k < turn->rule_count && !rolled_back; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		const struct val *old = rbg_old_coordination(turn, rule->spec->name);
		int64_t was = 0, since = turn->now;
		if (rule->judged.waits_for == SEGMENT_NO_ROLE)
			continue;
		val_int(val_get(old, "waitsFor"), &was);
		rule->waits_in = rule->judged.waits_in;
		rule->since = turn->now;
		if (was == rule->waits_in && clock_parse_rfc3339(val_str(val_get(old, "waitsSince"), ""), &since) == 0)
			rule->since = since;
		rule->cause = find_cause(turn, rule);
		rule->is_stuck = turn->now - rule->since >= rule->spec->stuck_seconds;
		look_again(turn, rule->since + rule->spec->stuck_seconds - turn->now);
		rolled_back = roll_back_late(turn, rule);
	}
	return rolled_back;
}
