/* Owns the RoleInstanceSets of a group: one object per role, between the group and its RoleInstances. What it asks for is
 * what was decided for the role, and its status counts the instances. */
#include "rbg/render.h"

#include "base/hash.h"
#include "base/sha1.h"
#include "rollout/count.h"

#include <string.h>

static const char *const spec_field[] = {"spec", NULL};

const char *rbg_set_name(const struct rbg_turn *turn, const struct rbg_role *role)
{
	return arena_printf(turn->arena, "%s-%s", turn->spec.name, role->name);
}

const char *rbg_group_hash(struct rbg_turn *turn)
{
	char hash[SHA1_HEX];
	if (!turn->group_hash) {
		const char *text = arena_printf(turn->arena, "%s/%s", turn->object->namespace_, turn->object->name);
		sha1_hex(text, strlen(text), hash);
		turn->group_hash = arena_strdup(turn->arena, hash);
	}
	return turn->group_hash;
}

const char *rbg_role_type(const struct rbg_role *role)
{
	if (role->is_leader_worker)
		return "LeaderWorkerSet";
	return role->components[0].name[0] ? "Components" : "PodTemplate";
}

void rbg_put_common_labels(struct rbg_turn *turn, struct build *build, struct node *labels, const struct rbg_role *role)
{
	build_put_string(build, labels, naming_key(NAMING_V1ALPHA2, NAMING_GROUP), turn->spec.name);
	build_put_string(build, labels, naming_key(NAMING_V1ALPHA2, NAMING_ROLE), role->name);
	build_put_string(build, labels, RBG_LABEL "group-uid", rbg_group_hash(turn));
}

void rbg_put_role_labels(struct rbg_turn *turn, struct build *build, struct node *labels, const struct rbg_role *role)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(role->labels); val_next(&it, &key, &item);)
		build_put(build, labels, key, build_copy(build, item));
	rbg_put_common_labels(turn, build, labels, role);
	build_put_string(build, labels, RBG_LABEL "role-type", rbg_role_type(role));
	if (rbg_keeps_places(role))
		build_put_string(build, labels, RBG_LABEL "rbg-owner-uid", turn->object->uid);
}

/* ---- the spec ---- */

static struct node *percent_node(struct rbg_turn *turn, struct build *build, struct percent percent)
{
	if (percent.form == PERCENT_COUNT)
		return build_int(build, percent.value);
	return build_string(build, arena_printf(turn->arena, "%lld%%", (long long)percent.value));
}

/* Whether other roles have a say in how far the update of this one goes. */
static bool is_coordinated(const struct rbg_turn *turn, const struct rbg_role *role)
{
	for (size_t k = 0; k < turn->spec.coordination_count; k++) {
		const struct rbg_coordination *one = &turn->spec.coordinations[k];
		for (size_t i = 0; i < one->role_count; i++)
			if ((one->has_update || one->has_segments) && strcmp(one->roles[i], role->name) == 0)
				return true;
	}
	return false;
}

static struct node *make_strategy(struct rbg_turn *turn, struct build *build, const struct rbg_role_state *role)
{
	static const char *const types[] = {"RecreatePod", "InPlaceIfPossible", "InPlaceOnly"};
	const struct update_strategy *rollout = &role->spec->rollout;
	const struct update_limits *limits = &role->shape.limits;
	struct node *strategy = build_map(build);
	build_put_string(build, strategy, "type", types[role->spec->in_place]);
	if (is_coordinated(turn, role->spec)) {
		build_put_int(build, strategy, "partition", limits->partition);
		build_put_int(build, strategy, "maxUnavailable", limits->max_unavailable);
	} else {
		build_put_int(build, strategy, "partition", update_partition(rollout->partition, role->desired));
		if (rollout->max_unavailable.form != PERCENT_UNSET)
			build_put(build, strategy, "maxUnavailable",
			          percent_node(turn, build, rollout->max_unavailable));
	}
	if (rollout->max_surge.form != PERCENT_UNSET)
		build_put(build, strategy, "maxSurge", percent_node(turn, build, rollout->max_surge));
	build_put_bool(build, strategy, "paused", rollout->is_paused);
	return strategy;
}

static struct node *make_spec(struct rbg_turn *turn, struct build *build, struct rbg_role_state *role)
{
	struct node *spec = build_map(build), *selector = build_map(build), *labels = build_map(build);
	const struct val *parts = rbg_instance_parts(turn, role, role->spec);
	rbg_put_common_labels(turn, build, labels, role->spec);
	build_put(build, selector, "matchLabels", labels);
	build_put(build, spec, "selector", selector);
	build_put_int(build, spec, "replicas", role->target);
	build_put_int(build, spec, "minReadySeconds", role->spec->min_ready_seconds);
	build_put_string(build, spec, "podManagementPolicy", role->spec->is_ordered ? "OrderedReady" : "Parallel");
	build_put(build, spec, "updateStrategy", make_strategy(turn, build, role));
	if (parts)
		build_put(build, spec, "roleInstanceTemplate", build_copy(build, parts));
	return spec;
}

static struct node *make_labels(struct rbg_turn *turn, struct build *build, const struct rbg_role_state *role)
{
	struct node *labels = build_map(build);
	rbg_put_role_labels(turn, build, labels, role->spec);
	build_put_string(build, labels, rbg_role_label(turn, role->spec->name), role->hash);
	return labels;
}

static struct node *make_annotations(struct rbg_turn *turn, struct build *build, const struct rbg_role_state *role)
{
	struct node *annotations = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(role->spec->annotations); val_next(&it, &key, &item);)
		if (strcmp(key, RBG_LABEL "role-workload-type") != 0)
			build_put(build, annotations, key, build_copy(build, item));
	build_put_string(build, annotations, RBG_LABEL "role-size",
	                 arena_printf(turn->arena, "%lld", (long long)role->target));
	if (!val_get(role->spec->annotations, RBG_LABEL "role-instance-pattern"))
		build_put_string(build, annotations, RBG_LABEL "role-instance-pattern", "Stateful");
	if (role->spec->in_place_grace > 0)
		build_put_string(build, annotations, RBG_LABEL "inplace-update-grace-period-seconds",
		                 arena_printf(turn->arena, "%lld", (long long)role->spec->in_place_grace));
	return annotations;
}

/* Labels and annotations that say what is in the set are kept in step with it; others may have some of their own. */
static void settle_texts(struct rbg_turn *turn, const struct store_object *set, struct build *build,
                         struct node *wanted)
{
	static const char *const fields[] = {"labels", "annotations"};
	struct doc *doc = build_finish(build, wanted);
	struct build *change = build_create();
	struct node *patch = build_map(change), *metadata = build_map(change);
	const char *key;
	const struct val *item;
	bool differs = false;
	for (int f = 0; f < 2; f++) {
		const struct val *have = val_path(set->root, "metadata", fields[f], NULL);
		struct node *map = build_map(change);
		for (struct val_iter it = val_iter(val_get(doc_root(doc), fields[f])); val_next(&it, &key, &item);)
			if (!val_equal(val_get(have, key), item)) {
				build_put(change, map, key, build_copy(change, item));
				differs = true;
			}
		build_put(change, metadata, fields[f], map);
	}
	build_put(change, patch, "metadata", metadata);
	if (differs)
		rbg_patch(turn, set, change, patch);
	build_destroy(change);
	doc_destroy(doc);
}

static void write_set(struct rbg_turn *turn, struct rbg_role_state *role)
{
	const char *name = rbg_set_name(turn, role->spec);
	struct build *build = build_create();
	struct node *root = rbg_object(turn, build, RBG_GROUP "/v1alpha2", "RoleInstanceSet", name),
		    *metadata = rbg_metadata(turn, build, name), *texts = build_map(build);
	build_put(build, metadata, "labels", make_labels(turn, build, role));
	build_put(build, metadata, "annotations", make_annotations(turn, build, role));
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", make_spec(turn, build, role));
	rbg_ensure(turn, build, RBG_GROUP, "roleinstancesets", name, root, spec_field);
	const struct store_object *set = rbg_peek(turn, RBG_GROUP, "roleinstancesets", name);
	if (set && !turn->failed) {
		build_put(build, texts, "labels", make_labels(turn, build, role));
		build_put(build, texts, "annotations", make_annotations(turn, build, role));
		settle_texts(turn, set, build, texts);
		rbg_keep_set_revision(turn, role, rbg_peek(turn, RBG_GROUP, "roleinstancesets", name));
	}
	build_destroy(build);
}

static const struct rbg_fact *find_set(const struct rbg_turn *turn, const char *name)
{
	for (size_t i = 0; i < turn->owned.count && turn->owned.items[i]->type != turn->pods; i++)
		if (turn->owned.items[i]->type == turn->sets && strcmp(turn->owned.items[i]->name, name) == 0)
			return &turn->facts[i];
	return NULL;
}

/* All that sets are made from, and what somebody else may have made of them. */
static uint64_t make_key(struct rbg_turn *turn)
{
	int64_t generation = 0;
	val_int(val_path(turn->object->root, "metadata", "generation", NULL), &generation);
	uint64_t key = hash_mix(rbg_memo_hash(turn->object->uid), (uint64_t)generation);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		const struct rbg_role_state *role = &turn->roles[r];
		const struct rbg_fact *set = find_set(turn, rbg_set_name(turn, role->spec));
		key = hash_mix(key, rbg_memo_hash(role->update_revision));
		key = hash_mix(key, rbg_memo_hash(role->hash));
		key = hash_mix(key, (uint64_t)role->target);
		key = hash_mix(key, (uint64_t)role->shape.limits.partition);
		key = hash_mix(key, (uint64_t)role->shape.limits.max_unavailable);
		key = hash_mix(key, set ? (uint64_t)set->minimum : 0);
	}
	return key;
}

void rbg_write_sets(struct rbg_turn *turn)
{
	for (size_t i = 0; i < turn->owned.count; i++)
		for (size_t r = 0; turn->owned.items[i]->type == turn->sets && r < turn->spec.role_count; r++)
			turn->is_seen[i] |=
				strcmp(turn->owned.items[i]->name, rbg_set_name(turn, &turn->spec.roles[r])) == 0;
	uint64_t key = make_key(turn);
	if (turn->blocked || rbg_memo_has_sets(turn, key))
		return;
	for (size_t r = 0; r < turn->spec.role_count; r++)
		write_set(turn, &turn->roles[r]);
	if (!turn->failed)
		rbg_memo_note_sets(turn, key);
}

/* ---- status ---- */

const char *rbg_set_selector(struct rbg_turn *turn, const struct rbg_role *role)
{
	return arena_printf(turn->arena, "%s=%s,%s=%s,%s=%s", naming_key(NAMING_V1ALPHA2, NAMING_GROUP),
	                    turn->spec.name, RBG_LABEL "group-uid", rbg_group_hash(turn),
	                    naming_key(NAMING_V1ALPHA2, NAMING_ROLE), role->name);
}

struct set_count {
	const char *name;
	int64_t value;
};

static void report_set(struct rbg_turn *turn, const struct rbg_role_state *role, const struct store_object *set)
{
	int64_t generation = 0, updated = 0, updated_ready = 0, current = 0, ready = 0, count = 0, had;
	for (int64_t ordinal = 0; ordinal < role->object_span; ordinal++)
		count += role->object_at[ordinal] > 0;
	for (size_t i = 0; i < role->instance_count; i++) {
		const struct rbg_instance *instance = &role->instances[i];
		bool is_new = strcmp(instance->revision, role->update_revision) == 0;
		ready += instance->is_ready;
		updated += is_new && !instance->is_terminating;
		updated_ready += is_new && instance->is_ready;
		current += strcmp(instance->revision, role->current_revision) == 0;
	}
	val_int(val_path(set->root, "metadata", "generation", NULL), &generation);
	const struct set_count counts[] = {
		{"observedGeneration", generation},
		{"replicas", count},
		{"readyReplicas", ready},
		{"availableReplicas", ready},
		{"currentReplicas", current},
		{"updatedReplicas", updated},
		{"updatedReadyReplicas", updated_ready},
		{"expectedUpdatedReplicas", role->target - count_least(role->target, role->shape.limits.partition)},
	};
	const char *update = arena_printf(turn->arena, "%s-%s", set->name, role->update_revision);
	const struct val *before = val_get(set->root, "status");
	const char *now = arena_printf(turn->arena, "%s-%s", set->name, role->current_revision);
	bool is_same = strcmp(val_str(val_get(before, "updateRevision"), ""), update) == 0 &&
	               strcmp(val_str(val_get(before, "currentRevision"), ""), now) == 0;
	struct build *build = build_create();
	struct node *status = build_map(build);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		is_same &= val_int(val_get(before, counts[i].name), &had) == 0 && had == counts[i].value;
		build_put_int(build, status, counts[i].name, counts[i].value);
	}
	build_put_string(build, status, "updateRevision", update);
	build_put_string(build, status, "currentRevision", now);
	build_put_string(build, status, "labelSelector", rbg_set_selector(turn, role->spec));
	if (!is_same)
		writes_patch_status(turn->store, set, build, status);
	build_destroy(build);
}

void rbg_report_sets(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count && !turn->blocked; r++) {
		const char *name = rbg_set_name(turn, &turn->spec.roles[r]);
		const struct store_object *set = rbg_peek(turn, RBG_GROUP, "roleinstancesets", name);
		if (set)
			report_set(turn, &turn->roles[r], set);
	}
}
