/* Owns what there is: the pods of a group as instances by ordinal. */
#include "control/rbg_state.h"

#include <stdlib.h>
#include <string.h>

static bool read_time(const struct val *text, int64_t *seconds)
{
	return clock_parse_rfc3339(val_str(text, ""), seconds) == 0;
}

static bool condition_since(const struct val *pod, const char *type, int64_t *seconds)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0 &&
		    strcmp(val_str(val_get(item, "status"), ""), "True") == 0) {
			*seconds = INT64_MIN;
			read_time(val_get(item, "lastTransitionTime"), seconds);
			return true;
		}
	return false;
}

static void read_pod(struct rbg_turn *turn, const struct rbg_role *role, struct store_object *object,
                     struct rbg_pod *out)
{
	const struct val *root = object->root;
	const char *phase = val_str(val_path(root, "status", "phase", NULL), "Pending");
	int64_t since = INT64_MIN;
	*out = (struct rbg_pod){.object = object};
	out->is_terminating = val_path(root, "metadata", "deletionTimestamp", NULL) != NULL;
	out->is_over = strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
	out->is_scheduled = *val_str(val_path(root, "spec", "nodeName", NULL), "") != '\0';
	out->is_gated = val_count(val_path(root, "spec", "schedulingGates", NULL)) > 0;
	rbg_read_in_place(root, out);
	out->is_ready = !out->is_over && !out->is_changing && condition_since(root, "Ready", &since);
	int64_t left = since == INT64_MIN ? 0 : since + role->min_ready_seconds - turn->now;
	if (out->is_ready && left > 0) {
		out->is_ready = false;
		turn->again = turn->again && turn->again < left ? turn->again : left;
	}
}

static int64_t read_index(const struct labels *labels, const char *key)
{
	const char *text = labels_get(labels, key);
	char *end = NULL;
	long long value = text ? strtoll(text, &end, 10) : -1;
	return !text || end == text || *end || value < 0 || value > INT32_MAX ? -1 : value;
}

/* A pod with the place it claims to have. */
struct found {
	size_t owned;
	int role;
	int64_t ordinal, index;
};

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static size_t find_pods(struct rbg_turn *turn, struct found *found)
{
	size_t count = 0;
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		if (object->type != turn->pods)
			continue;
		const char *role = labels_get(&object->labels, naming_key(NAMING_V1ALPHA2, NAMING_ROLE));
		int64_t ordinal = read_index(&object->labels, naming_key(NAMING_V1ALPHA2, NAMING_INDEX));
		int number = role ? rbg_role_find(&turn->spec, role) : -1;
		int64_t index = read_index(&object->labels, RBG_LABEL_POD_INDEX);
		/* What belongs to no role of the spec is swept away at the end. */
		if (number >= 0 && ordinal >= 0 && index >= 0)
			found[count++] = (struct found){i, number, ordinal, index};
	}
	qsort(found, count, sizeof(*found), compare_found);
	return count;
}

static void judge_instance(struct rbg_turn *turn, struct rbg_role_state *role, struct rbg_instance *instance)
{
	bool is_current = strcmp(instance->revision, role->update_revision ? role->update_revision : "") == 0;
	int64_t expected = is_current || !role->old_spec ? role->spec->pods : role->old_spec->pods;
	instance->is_ready = instance->is_scheduled = (int64_t)instance->pod_count >= expected;
	instance->since = INT64_MIN;
	for (size_t i = 0; i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		int64_t created = INT64_MIN;
		read_time(val_path(pod->object->root, "metadata", "creationTimestamp", NULL), &created);
		instance->since = created > instance->since ? created : instance->since;
		instance->is_ready &= pod->is_ready && !pod->is_terminating;
		instance->is_scheduled &= pod->is_scheduled && !pod->is_terminating && !pod->is_over;
		instance->is_terminating |= pod->is_terminating;
		instance->must_restart |= pod->is_over || (role->spec->recreates && pod->has_restarts);
	}
	int64_t age = instance->since == INT64_MIN ? 0 : turn->now - instance->since;
	instance->is_broken = !instance->is_ready && (instance->must_restart || age >= UPDATE_STABLE_SECONDS);
}

static void collect(struct rbg_turn *turn, struct rbg_role_state *role, const struct found *found, size_t count)
{
	role->instances = arena_array(turn->arena, struct rbg_instance, count);
	for (size_t i = 0; i < count;) {
		size_t end = i;
		while (end < count && found[end].ordinal == found[i].ordinal)
			end++;
		struct rbg_instance *instance = &role->instances[role->instance_count++];
		instance->ordinal = found[i].ordinal;
		instance->pods = arena_array(turn->arena, struct rbg_pod, end - i);
		for (; i < end; i++) {
			struct store_object *object = turn->owned.items[found[i].owned];
			struct rbg_pod *pod = &instance->pods[instance->pod_count++];
			read_pod(turn, role->spec, object, pod);
			pod->index = found[i].index;
			turn->is_seen[found[i].owned] = true;
			const char *revision = labels_get(&object->labels, RBG_LABEL_REVISION);
			instance->revision = revision ? revision : "";
		}
		role->span = instance->ordinal + 1;
	}
}

struct rbg_instance *rbg_instance_at(const struct rbg_role_state *role, int64_t ordinal)
{
	if (ordinal < 0 || ordinal >= role->span || role->by_ordinal[ordinal] == 0)
		return NULL;
	return &role->instances[role->by_ordinal[ordinal] - 1];
}

/* Ordinals come from labels that anybody may have written: beyond what the group can have they are not indexed. */
static void index_ordinals(struct rbg_turn *turn, struct rbg_role_state *role)
{
	int64_t most = role->desired + role->last_target + 2 * (int64_t)role->instance_count + 1024;
	while (role->instance_count > 0 && role->instances[role->instance_count - 1].ordinal > most) {
		struct rbg_instance *stray = &role->instances[--role->instance_count];
		for (size_t i = 0; i < stray->pod_count; i++)
			rbg_delete(turn, stray->pods[i].object);
	}
	role->span = role->instance_count ? role->instances[role->instance_count - 1].ordinal + 1 : 0;
	role->by_ordinal = arena_array(turn->arena, int64_t, (size_t)role->span + 1);
	for (size_t i = 0; i < role->instance_count; i++)
		role->by_ordinal[role->instances[i].ordinal] = (int64_t)i + 1;
}

void rbg_observe(struct rbg_turn *turn)
{
	struct found *found = arena_array(turn->arena, struct found, turn->owned.count + 1);
	size_t count = find_pods(turn, found);
	for (size_t i = 0; i < count;) {
		size_t end = i;
		while (end < count && found[end].role == found[i].role)
			end++;
		collect(turn, &turn->roles[found[i].role], &found[i], end - i);
		i = end;
	}
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		index_ordinals(turn, role);
		for (size_t i = 0; i < role->instance_count; i++)
			judge_instance(turn, role, &role->instances[i]);
	}
}
