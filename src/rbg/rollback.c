/* Owns what becomes of segments that are not ready in time, where the coordination asks for a rollback: an update goes back
 * to the last complete revision; a segment that was never ready, of a deployment or of a scale-up, is taken away again, so
 * that others can use what it held, and is not made again until something about the wish changes. */
#include "rbg/render.h"

#include "base/hash.h"
#include "rollout/count.h"

#include <inttypes.h>
#include <string.h>

#define RETRY_ANNOTATION RBG_LABEL "retry-segments"
#define ROLLED_BACK_ANNOTATION RBG_LABEL "rolled-back"

/* ---- segments that were taken away ---- */

/* What is tried: another spec, other replicas or another value of the annotation are another attempt. */
static const char *attempt_of(const struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	struct buffer text = {0};
	const char *retry =
		val_str(val_path(turn->object->root, "metadata", "annotations", RETRY_ANNOTATION, NULL), "");
	buffer_printf(&text, "%s\n%s\n", turn->update_hash, retry);
	for (size_t i = 0; i < rule->rule.count; i++)
		buffer_printf(&text, "%s %lld %lld\n", turn->roles[rule->rule.sizes[i].role].spec->name,
		              (long long)turn->roles[rule->rule.sizes[i].role].desired,
		              (long long)rule->rule.sizes[i].size);
	const char *attempt =
		arena_printf(turn->arena, "%010" PRIx64, (uint64_t)XXH3_64bits(text.text, text.length) >> 24);
	buffer_free(&text);
	return attempt;
}

static void limit_roles(struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct segment_size *entry = &rule->rule.sizes[i];
		struct rbg_role_state *role = &turn->roles[entry->role];
		int64_t most = segment_end(rule->kept, entry->size, role->desired);
		if (most < role->desired) {
			role->waits_for_role = false;
			role->wait = arena_printf(turn->arena, "was rolled back to segment %lld of coordination %s",
			                          (long long)rule->kept, rule->spec->name);
		}
		role->target = count_least(role->target, most);
	}
}

void rbg_limit_rollbacks(struct rbg_turn *turn)
{
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		const struct val *old = rbg_old_coordination(turn, rule->spec->name),
				 *back = val_get(old, "rolledBack");
		val_int(val_get(old, "completedSegments"), &rule->completed);
		rule->attempt = attempt_of(turn, rule);
		if (rule->spec->rollback_seconds == 0 || !back ||
		    strcmp(val_str(val_get(back, "attempt"), ""), rule->attempt) != 0 ||
		    val_int(val_get(back, "keptSegments"), &rule->kept) < 0)
			continue;
		rule->is_rolled_back = true;
		rule->rollback_message = val_str(val_get(back, "message"), "");
		limit_roles(turn, rule);
	}
}

void rbg_write_rollback(const struct rbg_rule_state *rule, struct build *build, struct node *node)
{
	if (rule->spec->rollback_seconds == 0)
		return;
	build_put_int(build, node, "completedSegments", rule->completed);
	if (!rule->is_rolled_back)
		return;
	struct node *back = build_map(build);
	build_put_int(build, back, "keptSegments", rule->kept);
	build_put_string(build, back, "attempt", rule->attempt);
	build_put_string(build, back, "message", rule->rollback_message);
	build_put(build, node, "rolledBack", back);
}

static bool is_segment_ready(const struct rbg_turn *turn, const struct rbg_rule_state *rule, int64_t number)
{
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct rbg_role_state *role = &turn->roles[rule->rule.sizes[i].role];
		int64_t size = rule->rule.sizes[i].size, end = segment_end(number, size, role->desired);
		for (int64_t ordinal = segment_end(number - 1, size, role->desired); ordinal < end; ordinal++)
			if (!role->is_ready[ordinal])
				return false;
	}
	return true;
}

/* Takes away all behind the last segment that is ready or ever was. */
static void take_away(struct rbg_turn *turn, struct rbg_rule_state *rule)
{
	int64_t kept = rule->judged.total;
	while (kept > rule->completed && !is_segment_ready(turn, rule, kept))
		kept--;
	/* Later segments are ready: ordinals have no gaps, so what is behind them cannot be taken away alone. */
	if (rule->waits_in <= kept)
		return;
	rule->is_rolled_back = true;
	rule->kept = kept;
	rule->rollback_message = arena_printf(
		turn->arena,
		"segment %lld of coordination %s was not ready within %lld s and was taken away: %s; change "
		"the group, its replicas, or annotation %s to try again",
		(long long)rule->waits_in, rule->spec->name, (long long)rule->spec->rollback_seconds, rule->cause,
		RETRY_ANNOTATION);
	rbg_event(turn, true, "SegmentRolledBack", "%s", rule->rollback_message);
}

/* ---- updates ---- */

static bool go_back(struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	const struct store_object *revision = rbg_complete_revision(turn);
	const char *why = arena_printf(turn->arena, "segment %lld of coordination %s was not ready within %lld s: %s",
	                               (long long)rule->waits_in, rule->spec->name,
	                               (long long)rule->spec->rollback_seconds, rule->cause);
	if (!revision)
		return false;
	/* The hash of what it went back to stands first: the note is void when the group leaves that. */
	return rbg_restore(turn, arena_strdup(turn->arena, revision->name), why, ROLLED_BACK_ANNOTATION,
	                   arena_printf(turn->arena, "%s revision %s failed: %s",
	                                labels_get(&revision->labels, RBG_LABEL_GROUP_REVISION), turn->revision, why));
}

bool rbg_roll_back_late(struct rbg_turn *turn, struct rbg_rule_state *rule)
{
	int64_t limit = rule->spec->rollback_seconds, complete_at = 0;
	if (limit == 0 || rule->is_rolled_back || turn->blocked)
		return false;
	if (turn->now - rule->since < limit) {
		rbg_look_again(turn, rule->since + limit - turn->now);
		return false;
	}
	/* A revision that never served is nothing to go back to. */
	val_int(val_path(turn->object->root, "status", "completeAt", NULL), &complete_at);
	if (turn->is_updating && complete_at > 0)
		return go_back(turn, rule);
	if (rule->waits_in > rule->completed)
		take_away(turn, rule);
	return false;
}

/* ---- what is told ---- */

static void forget_note(struct rbg_turn *turn)
{
	struct build *build = build_create();
	struct node *patch = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	build_put(build, annotations, ROLLED_BACK_ANNOTATION, NULL);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, patch, "metadata", metadata);
	rbg_patch(turn, turn->object, build, patch);
	build_destroy(build);
}

const char *rbg_rollback_text(struct rbg_turn *turn)
{
	const char *note =
		val_str(val_path(turn->object->root, "metadata", "annotations", ROLLED_BACK_ANNOTATION, NULL), NULL);
	size_t length = strlen(turn->update_hash);
	for (size_t k = 0; k < turn->rule_count; k++)
		if (turn->rules[k].is_rolled_back)
			return turn->rules[k].rollback_message;
	if (!note || turn->blocked)
		return NULL;
	if (strncmp(note, turn->update_hash, length) == 0 && note[length] == ' ')
		return arena_printf(turn->arena, "back at revision %s: %s", turn->revision, note + length + 1);
	forget_note(turn);
	return NULL;
}
