/* Owns the RoleInstances of a group: one object per instance, which its pods belong to. It is written when pods of the
 * instance are, and goes when the instance has no place and no pods any more. */
#include "rbg/render.h"

#include "base/hash.h"
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
};

/* ---- the spec ---- */

static const char *part_name(const struct rbg_role *role, size_t component)
{
	const char *name = role->components[component].name;
	if (*name)
		return name;
	return !role->is_leader_worker ? role->name : component == 0 ? "leader" : "worker";
}

static struct tree *make_part(struct rbg_turn *turn, const struct rbg_role *role, size_t number)
{
	const struct rbg_component *component = &role->components[number];
	struct arena *arena = turn->arena;
	struct tree *part = tree_map(arena);
	tree_put_string(arena, part, "name", part_name(role, number));
	tree_put(arena, part, "size", tree_int(arena, component->size));
	tree_put_string(arena, part, "serviceName",
	                component->service ? component->service : rbg_service_name(turn, role));
	if (component->labels)
		tree_put(arena, part, "labels", tree_of(arena, component->labels));
	if (component->annotations)
		tree_put(arena, part, "annotations", tree_of(arena, component->annotations));
	return part;
}

static struct doc *make_parts(struct rbg_turn *turn, const struct rbg_role *role)
{
	struct arena *arena = turn->arena;
	struct tree *spec = tree_map(arena), *list = tree_list(arena), *restart = tree_map(arena);
	struct doc *runtimes = rbg_runtime_patches(turn, role);
	for (size_t i = 0; i < role->component_count; i++) {
		struct tree *part = make_part(turn, role, i);
		tree_put(arena, part, "template",
		         rbg_render_template(turn, &role->components[i], runtimes ? doc_root(runtimes) : NULL));
		if (role->components[i].size > 0)
			tree_append(arena, list, part);
	}
	tree_put_string(arena, restart, "type",
	                role->recreates_group ? "RecreateRBGOnPodRestart"
	                : role->recreates     ? "RecreateRoleInstanceOnPodRestart"
	                                      : "None");
	tree_put(arena, restart, "baseDelaySeconds", tree_int(arena, role->base_delay));
	tree_put(arena, restart, "maxDelaySeconds", tree_int(arena, role->max_delay));
	tree_put(arena, spec, "restartPolicyConfig", restart);
	tree_put(arena, spec, "components", list);
	struct doc *doc = tree_finish(spec);
	doc_destroy(runtimes);
	return doc;
}

const struct val *rbg_instance_parts(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as)
{
	struct doc **parts = as == role->spec ? &role->parts : &role->old_parts;
	if (!*parts)
		*parts = make_parts(turn, as);
	return *parts ? doc_root(*parts) : NULL;
}

void rbg_forget_parts(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		doc_destroy(turn->roles[r].parts);
		doc_destroy(turn->roles[r].old_parts);
	}
}

/* ---- objects ---- */

const char *rbg_set_revision(const struct rbg_turn *turn, const struct rbg_role *role, const char *revision)
{
	const char *name = arena_printf(turn->arena, "%s-%s-%s", turn->spec.name, role->name, revision);
	return naming_value(name, turn->arena);
}

void rbg_put_owner(struct build *build, struct node *metadata, const struct store_object *owner)
{
	struct node *owners = build_list(build), *reference = build_map(build);
	build_put_string(build, reference, "apiVersion", val_str(val_get(owner->root, "apiVersion"), ""));
	build_put_string(build, reference, "kind", owner->type->kind);
	build_put_string(build, reference, "name", owner->name);
	build_put_string(build, reference, "uid", owner->uid);
	build_put_bool(build, reference, "controller", true);
	build_put_bool(build, reference, "blockOwnerDeletion", true);
	build_append(build, owners, reference);
	build_put(build, metadata, "ownerReferences", owners);
}

static const struct store_object *object_at(const struct rbg_turn *turn, const struct rbg_role_state *role,
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
	build_put_string(build, labels, RBG_LABEL_REVISION, rbg_set_revision(turn, role->spec, revision));
	build_put_string(build, labels, naming_key(NAMING_V1ALPHA2, NAMING_INDEX),
	                 arena_printf(turn->arena, "%lld", (long long)ordinal));
	build_put_string(build, labels, "statefulset.kubernetes.io/pod-name",
	                 rbg_instance_name(turn, role->spec, ordinal));
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
	const struct val *parts = rbg_instance_parts(turn, role, as);
	const struct store_object *other = rbg_peek(turn, RBG_GROUP, "roleinstances", name);
	if (!set || !parts || (other && is_orphan(other))) {
		rbg_look_again(turn, 1);
		return NULL;
	}
	if (other) {
		rbg_refuse(turn, other);
		return NULL;
	}
	struct build *build = build_create();
	struct node *root = rbg_object(turn, build, RBG_GROUP "/v1alpha2", "RoleInstance", name),
		    *metadata = build_map(build);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", turn->object->namespace_);
	build_put(build, metadata, "labels", make_labels(turn, build, role, revision, ordinal));
	if (role->spec->annotations)
		build_put(build, metadata, "annotations", build_copy(build, role->spec->annotations));
	rbg_put_owner(build, metadata, set);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", build_copy(build, parts));
	struct doc *doc = build_finish(build, root);
	rbg_create(turn, RBG_GROUP, "roleinstances", doc_root(doc));
	doc_destroy(doc);
	build_destroy(build);
	return rbg_peek(turn, RBG_GROUP, "roleinstances", name);
}

/* An instance that goes to another revision keeps its object. */
static void change_instance(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as,
                            const char *revision, const struct store_object *object, int64_t ordinal)
{
	const struct val *parts = rbg_instance_parts(turn, role, as);
	if (!parts)
		return;
	struct build *build = build_create();
	struct node *patch = build_map(build), *metadata = build_map(build);
	build_put(build, metadata, "labels", make_labels(turn, build, role, revision, ordinal));
	build_put(build, patch, "metadata", metadata);
	build_put(build, patch, "spec", build_copy(build, parts));
	rbg_patch(turn, object, build, patch);
	build_destroy(build);
}

const struct store_object *rbg_need_instance(struct rbg_turn *turn, struct rbg_role_state *role,
                                             const struct rbg_role *as, const char *revision, int64_t ordinal)
{
	const struct store_object *object = object_at(turn, role, ordinal);
	if (!object)
		return make_instance(turn, role, as, revision, ordinal);
	const struct rbg_fact *fact = &turn->facts[role->object_at[ordinal] - 1];
	const char **name = &role->names[as != role->spec];
	if (fact->flags & RBG_FACT_TERMINATING)
		return NULL;
	*name = *name ? *name : rbg_set_revision(turn, role->spec, revision);
	if (strcmp(rbg_memo_name(turn, fact->revision), *name) != 0)
		change_instance(turn, role, as, revision, object, ordinal);
	return object;
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
		bool is_updated = rbg_memo_name(turn, pod->fact->revision) == instance->revision;
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
		build_put_string(build, item, "name", part_name(as, i));
		for (int k = 0; k < COUNTS; k++)
			build_put_int(build, item, count_names[k], status->counts[i][k]);
		build_append(build, list, item);
	}
	return list;
}

static void write_status(struct rbg_turn *turn, const struct rbg_role *as, const struct store_object *object,
                         const char *revision, const struct instance_status *status)
{
	bool ready = status->is_ready;
	struct build *build = build_create();
	struct node *node = build_map(build);
	const char *hash = naming_value(arena_printf(turn->arena, "%s-%s", object->name, revision), turn->arena);
	struct condition conditions[] = {
		{READY, ready ? "True" : "False", ready ? "Ready" : "PodsNotReady", ready ? "" : "NotReady"},
		{ALL_READY, ready ? "True" : "False", ready ? "PodsReady" : "AtLeastOnePodNotReady", ""},
		{RESTARTING, status->is_restarting ? "True" : NULL, "RestartPolicyTriggered", ""},
	};
	build_put_int(build, node, "observedGeneration", status->generation);
	build_put_string(build, node, "updateRevision", hash);
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
		write_status(turn, as, object, revision, &status);
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
