/* Owns the RoleInstances of a group: one object per instance, which its pods belong to. It is written when pods of the
 * instance are, and goes when the instance has no place and no pods any more. */
#include "rbg/render.h"

#include "base/hash.h"
#include "object/difference.h"
#include "object/tree.h"

#include <string.h>

#define READY "RoleInstanceReady"
#define ALL_READY "RoleInstanceAllPodsReady"
#define RESTARTING "Restarting"

/* Pods of one component: what its status says of them. */
enum { COUNT_SIZE, COUNT_READY, COUNT_AVAILABLE, COUNT_SCHEDULED, COUNT_UPDATED, COUNT_UPDATED_READY, COUNTS };
static const char *const count_names[COUNTS] = {
	"size", "readyReplicas", "availableReplicas", "scheduledReplicas", "updatedReplicas", "updatedReadyReplicas",
};

struct instance_status {
	int64_t (*counts)[COUNTS]; /* by component */
	size_t component_count;
	int64_t generation, restarts, last_restart;
	bool is_ready, is_restarting;
	bool is_updated; /* all of its pods are there, at one revision */
};

/* ---- objects ---- */

const char *rbg_instance_revision(struct rbg_turn *turn, const struct store_object *object)
{
	int64_t generation = 0, observed = -1;
	const char *told = val_str(val_path(object->root, "status", "updateRevision", NULL), "");
	val_int(val_path(object->root, "metadata", "generation", NULL), &generation);
	val_int(val_path(object->root, "status", "observedGeneration", NULL), &observed);
	if (*told && observed == generation)
		return rbg_short_hash(told);
	return rbg_hash_instance(turn, val_get(object->root, "spec"));
}

/* The spec of one instance: its pods know by their labels which one it is. */
static struct doc *make_spec(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as,
                             int64_t ordinal)
{
	struct arena *arena = turn->arena;
	struct tree *spec = tree_of(arena, rbg_instance_parts(turn, role, as));
	struct tree *components = tree_get(arena, spec, "components"), *component;
	for (size_t at = 0; (component = tree_walk(arena, components, &at, NULL));) {
		struct tree *template = tree_need_map(arena, component, "template");
		struct tree *labels = tree_need_map(arena, tree_need_map(arena, template, "metadata"), "labels");
		rbg_put_identity(turn, role->spec, ordinal, labels);
	}
	return tree_finish(spec);
}

void rbg_put_owner(struct build *build, struct node *metadata, const struct store_object *owner, bool is_controller)
{
	struct node *owners = build_list(build), *reference = build_map(build);
	build_put_string(build, reference, "apiVersion", val_str(val_get(owner->root, "apiVersion"), ""));
	build_put_string(build, reference, "kind", owner->type->kind);
	build_put_string(build, reference, "name", owner->name);
	build_put_string(build, reference, "uid", owner->uid);
	if (is_controller)
		build_put_bool(build, reference, "controller", true);
	build_put_bool(build, reference, "blockOwnerDeletion", true);
	build_append(build, owners, reference);
	build_put(build, metadata, "ownerReferences", owners);
}

const struct store_object *rbg_instance_object(const struct rbg_turn *turn, const struct rbg_role_state *role,
                                               int64_t ordinal)
{
	if (ordinal >= role->object_span || role->object_at[ordinal] == 0)
		return NULL;
	return turn->owned.items[role->object_at[ordinal] - 1];
}

static struct node *make_labels(struct rbg_turn *turn, struct build *build, const struct rbg_role_state *role,
                                const char *revision, int64_t ordinal)
{
	struct node *labels = build_map(build);
	rbg_put_role_labels(turn, build, labels, role->spec);
	const char *name = arena_printf(turn->arena, "%s-%s", rbg_set_name(turn, role->spec), revision);
	build_put_string(build, labels, rbg_role_label(turn, role->spec->name), role->hash);
	build_put_string(build, labels, RBG_LABEL_REVISION, strlen(name) <= NAMING_VALUE_MAX ? name : revision);
	build_put_string(build, labels, naming_key(NAMING_V1ALPHA2, NAMING_INDEX),
	                 arena_printf(turn->arena, "%lld", (long long)ordinal));
	build_put_string(build, labels, RBG_LABEL_POD_NAME, rbg_instance_name(turn, role->spec, ordinal));
	return labels;
}

/* Belongs to a set that is gone, and goes as well. */
static bool is_orphan(const struct store_object *object)
{
	const struct val *owner = val_item(val_path(object->root, "metadata", "ownerReferences", NULL), 0);
	return strcmp(val_str(val_get(owner, "kind"), ""), "RoleInstanceSet") == 0;
}

static const struct store_object *make_instance(struct rbg_turn *turn, struct rbg_role_state *role,
                                                const struct rbg_role *as, const char *revision, int64_t ordinal)
{
	const char *name = rbg_instance_name(turn, role->spec, ordinal);
	const struct store_object *set = rbg_peek(turn, RBG_GROUP, "roleinstancesets", rbg_set_name(turn, role->spec));
	const struct store_object *other = rbg_peek(turn, RBG_GROUP, "roleinstances", name);
	struct doc *spec = set && !other ? make_spec(turn, role, as, ordinal) : NULL;
	if (other && !is_orphan(other))
		rbg_refuse(turn, other);
	else if (!spec)
		rbg_look_again(turn, 1);
	if (!spec)
		return NULL;
	struct build *build = build_create();
	struct node *root = rbg_object(turn, build, RBG_GROUP "/v1alpha2", "RoleInstance", name),
		    *metadata = build_map(build);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", turn->object->namespace_);
	build_put(build, metadata, "labels", make_labels(turn, build, role, revision, ordinal));
	if (role->spec->annotations)
		build_put(build, metadata, "annotations", build_copy(build, role->spec->annotations));
	rbg_put_owner(build, metadata, set, true);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", build_copy(build, doc_root(spec)));
	struct doc *doc = build_finish(build, root);
	rbg_create(turn, RBG_GROUP, "roleinstances", doc_root(doc));
	doc_destroy(doc);
	doc_destroy(spec);
	build_destroy(build);
	return rbg_peek(turn, RBG_GROUP, "roleinstances", name);
}

/* An instance that goes to another revision keeps its object. */
static void change_instance(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as,
                            const char *revision, const struct store_object *object, int64_t ordinal)
{
	struct doc *spec = make_spec(turn, role, as, ordinal);
	if (!spec)
		return;
	struct build *build = build_create();
	struct node *patch = build_map(build), *metadata = build_map(build);
	build_put(build, metadata, "labels", make_labels(turn, build, role, revision, ordinal));
	build_put(build, patch, "metadata", metadata);
	struct node *change = difference_merge(build, val_get(object->root, "spec"), doc_root(spec));
	if (change)
		build_put(build, patch, "spec", change);
	rbg_patch(turn, object, build, patch);
	build_destroy(build);
	doc_destroy(spec);
}

const struct store_object *rbg_need_instance(struct rbg_turn *turn, struct rbg_role_state *role,
                                             const struct rbg_role *as, const char *revision, int64_t ordinal)
{
	const struct store_object *object = rbg_instance_object(turn, role, ordinal);
	if (!object)
		return make_instance(turn, role, as, revision, ordinal);
	const struct rbg_fact *fact = &turn->facts[role->object_at[ordinal] - 1];
	if (fact->flags & RBG_FACT_TERMINATING)
		return NULL;
	if (strcmp(rbg_memo_name(turn, fact->revision), revision) == 0)
		return object;
	change_instance(turn, role, as, revision, object, ordinal);
	return rbg_peek(turn, RBG_GROUP, "roleinstances", object->name);
}

/* ---- status ---- */

static uint64_t digest(const struct instance_status *status)
{
	uint64_t key = hash_mix((uint64_t)status->generation, (uint64_t)status->restarts);
	key = hash_mix(key, (uint64_t)status->is_ready * 2 + status->is_restarting);
	for (size_t i = 0; i < status->component_count; i++)
		for (int k = 0; k < COUNTS; k++)
			key = hash_mix(key, (uint64_t)status->counts[i][k]);
	return key;
}

static bool has_true(const struct val *root, const char *type)
{
	return strcmp(val_str(val_get(writes_find_condition(root, type), "status"), ""), "True") == 0;
}

uint64_t rbg_instance_digest(const struct store_object *object, bool *is_restarting)
{
	const struct val *from = val_get(object->root, "status"), *list = val_get(from, "componentStatuses"), *item;
	struct instance_status status = {.is_ready = has_true(object->root, READY),
	                                 .is_restarting = has_true(object->root, RESTARTING)};
	struct arena *arena = arena_create();
	status.counts = arena_alloc(arena, (val_count(list) + 1) * sizeof(*status.counts));
	memset(status.counts, 0, (val_count(list) + 1) * sizeof(*status.counts));
	val_int(val_get(from, "observedGeneration"), &status.generation);
	val_int(val_get(from, "restartCount"), &status.restarts);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); status.component_count++)
		for (int k = 0; k < COUNTS; k++)
			val_int(val_get(item, count_names[k]), &status.counts[status.component_count][k]);
	uint64_t result = digest(&status);
	arena_destroy(arena);
	*is_restarting = status.is_restarting;
	return result;
}

static void count_pods(struct rbg_turn *turn, const struct rbg_role *as, const struct rbg_instance *instance,
                       struct instance_status *status)
{
	bool is_whole = instance && (int64_t)instance->pod_count >= as->pods;
	status->is_updated = is_whole;
	status->component_count = as->component_count;
	status->counts = arena_alloc(turn->arena, as->component_count * sizeof(*status->counts));
	memset(status->counts, 0, as->component_count * sizeof(*status->counts));
	for (size_t i = 0; instance && i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		size_t component = 0;
		for (int64_t inner = pod->index;
		     component + 1 < as->component_count && inner >= as->components[component].size; component++)
			inner -= as->components[component].size;
		int64_t *counts = status->counts[component];
		bool is_ready = pod->is_ready && !pod->is_terminating;
		bool is_updated = strcmp(pod->revision, instance->revision) == 0;
		status->is_updated &= is_updated;
		counts[COUNT_SIZE]++;
		counts[COUNT_READY] += is_ready;
		counts[COUNT_AVAILABLE] += is_ready;
		counts[COUNT_SCHEDULED] += pod->is_scheduled;
		counts[COUNT_UPDATED] += is_updated;
		counts[COUNT_UPDATED_READY] += is_updated && is_ready;
	}
	status->is_ready = is_whole && instance->is_ready;
}

static void read_restarts(const struct rbg_turn *turn, const char *name, struct instance_status *status)
{
	for (size_t i = 0; i < turn->restart_count; i++)
		if (strcmp(turn->restarts[i].instance, name) == 0) {
			status->restarts = turn->restarts[i].count;
			status->last_restart = turn->restarts[i].last;
		}
}

static struct node *write_counts(struct build *build, const struct rbg_role *as, const struct instance_status *status)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < status->component_count; i++) {
		struct node *item = build_map(build);
		build_put_string(build, item, "name", rbg_part_name(as, i));
		for (int k = 0; k < COUNTS; k++)
			build_put_int(build, item, count_names[k], status->counts[i][k]);
		build_append(build, list, item);
	}
	return list;
}

static void write_status(struct rbg_turn *turn, const struct rbg_role *as, const struct store_object *object,
                         const struct instance_status *status)
{
	bool ready = status->is_ready;
	struct build *build = build_create();
	struct node *node = build_map(build);
	const char *hash = arena_printf(turn->arena, "%s-%s", object->name, rbg_instance_revision(turn, object));
	struct condition conditions[] = {
		{READY, ready ? "True" : "False", ready ? "Ready" : "PodsNotReady", ready ? "" : "NotReady"},
		{ALL_READY, ready ? "True" : "False", ready ? "PodsReady" : "AtLeastOnePodNotReady", ""},
		{RESTARTING, status->is_restarting ? "True" : NULL, "RestartPolicyTriggered", ""},
	};
	build_put_int(build, node, "observedGeneration", status->generation);
	build_put_string(build, node, "updateRevision", hash);
	if (status->is_updated || !val_path(object->root, "status", "currentRevision", NULL))
		build_put_string(build, node, "currentRevision", hash);
	build_put_string(build, node, "labelSelector",
	                 arena_printf(turn->arena, "%s=%s", RBG_LABEL_INSTANCE, object->name));
	build_put(build, node, "componentStatuses", write_counts(build, as, status));
	if (status->restarts > 0) {
		char last[32];
		clock_print_rfc3339(status->last_restart, last);
		build_put_int(build, node, "restartCount", status->restarts);
		build_put_string(build, node, "lastRestartTime", last);
	} else {
		build_put(build, node, "restartCount", NULL);
	}
	build_put(build, node, "conditions", writes_conditions(build, object->root, conditions, 3, turn->now));
	writes_patch_status(turn->store, object, build, node);
	build_destroy(build);
}

static void report_instance(struct rbg_turn *turn, struct rbg_role_state *role, size_t owned, int64_t ordinal)
{
	const struct rbg_fact *fact = &turn->facts[owned];
	const struct store_object *object = turn->owned.items[owned];
	const struct rbg_instance *instance = rbg_instance_at(role, ordinal);
	const char *revision = instance ? instance->revision : role->update_revision;
	const struct rbg_role *as = strcmp(revision, role->update_revision) == 0 ? role->spec : role->old_spec;
	struct instance_status status = {.generation = fact->minimum};
	count_pods(turn, as, instance, &status);
	read_restarts(turn, object->name, &status);
	status.is_restarting =
		!status.is_ready && ((fact->flags & RBG_FACT_RESTARTED) || (instance && instance->is_restarted));
	if (digest(&status) == fact->texts)
		return;
	/* Pods that were made a moment ago get nodes and start: that is told once, not step by step. */
	if (instance && !status.is_ready && instance->since >= turn->now)
		rbg_look_again(turn, 1);
	else
		write_status(turn, as, object, &status);
}

void rbg_settle_instances(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		for (int64_t ordinal = 0; ordinal < role->object_span; ordinal++) {
			size_t owned = role->object_at[ordinal];
			if (owned == 0 || (turn->facts[owned - 1].flags & RBG_FACT_TERMINATING))
				continue;
			if (ordinal < role->shape.end || rbg_instance_at(role, ordinal))
				report_instance(turn, role, owned - 1, ordinal);
			else
				rbg_delete(turn, turn->owned.items[owned - 1]);
		}
	}
}
