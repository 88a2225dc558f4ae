/* Owns ClusterTopologies: their status, the finalizer while a group refers to them, and the Topology with the same levels
 * that the scheduler reads. */
#include "loop/writes.h"
#include "kinds/names.h"
#include "admit/clustertopology.h"
#include "base/hash.h"
#include "rbg/internal.h"
#include "object/metadata.h"

#include <inttypes.h>
#include <string.h>

const char *rbg_topology_name(struct arena *arena, const char *cluster_topology)
{
	return arena_printf(arena, "ct-%s", cluster_topology);
}

/* The levels of a Topology, largest domain first. */
static void ensure_topology(struct store *store, struct arena *arena, const char *name, const char *const *keys,
                            size_t count, const struct store_object *owner)
{
	const struct store_type *type = store_type_find(store, KINDS_KAI, "topologies");
	if (!type || type->api_count == 0 || store_peek(store, type, "", name))
		return;
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *spec = build_map(build),
		    *levels = build_list(build);
	build_put_string(build, metadata, "name", name);
	if (owner) {
		struct node *owners = build_list(build), *reference = build_map(build);
		build_put_string(build, reference, "apiVersion", RBG_GROUP "/v1alpha1");
		build_put_string(build, reference, "kind", "ClusterTopology");
		build_put_string(build, reference, "name", owner->name);
		build_put_string(build, reference, "uid", owner->uid);
		build_put_bool(build, reference, "controller", true);
		build_append(build, owners, reference);
		build_put(build, metadata, "ownerReferences", owners);
	}
	for (size_t i = 0; i < count; i++) {
		struct node *level = build_map(build);
		build_put_string(build, level, "nodeLabel", keys[i]);
		build_append(build, levels, level);
	}
	build_put(build, spec, "levels", levels);
	build_put_string(build, root, "apiVersion", KINDS_API_TOPOLOGY);
	build_put_string(build, root, "kind", "Topology");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	struct store_request request = writes_create(type->apis, "", doc_root(doc), WRITES_ACTOR);
	struct store_error ignored;
	writes_send(store, &request, arena, &ignored);
	doc_destroy(doc);
	build_destroy(build);
}

const char *rbg_key_topology(struct store *store, struct arena *arena, const char *key)
{
	const char *name = arena_printf(arena, "segment-key-%08" PRIx32, (uint32_t)XXH3_64bits(key, strlen(key)));
	ensure_topology(store, arena, name, &key, 1, NULL);
	return name;
}

/* Sets or takes away the finalizer. */
static bool protect(struct reconcile *turn, const struct store_object *object, bool in_use)
{
	struct build *build = build_create();
	struct node *patch = build_map(build), *metadata = build_map(build), *finalizers = build_list(build);
	const struct val *item;
	bool had = false;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "finalizers", NULL));
	     val_next(&it, NULL, &item);) {
		bool is_ours = strcmp(val_str(item, ""), DEPLOY_TOPOLOGY_FINALIZER) == 0;
		had |= is_ours;
		if (!is_ours)
			build_append(build, finalizers, build_copy(build, item));
	}
	bool is_leaving = metadata_is_leaving(object->root);
	if (had == in_use || (in_use && is_leaving)) {
		build_destroy(build);
		return true;
	}
	if (in_use)
		build_append(build, finalizers, build_string(build, DEPLOY_TOPOLOGY_FINALIZER));
	build_put(build, metadata, "finalizers", finalizers);
	build_put(build, patch, "metadata", metadata);
	struct doc *doc = build_finish(build, patch);
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	struct store_error error;
	bool done = writes_send(turn->store, &request, turn->arena, &error) == 0;
	turn->failure = done ? NULL : error.message;
	doc_destroy(doc);
	build_destroy(build);
	return done;
}

static void report(struct reconcile *turn, const struct store_object *object, const struct cluster_topology *topology,
                   const struct problems *problems)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	int64_t now = turn->now_ns / CLOCK_SECOND;
	struct condition valid = {"Valid", "True", "LayersValid", topology->levels};
	for (size_t i = problems->count; i-- > 0;)
		if (problems->items[i].severity == SEVERITY_ERROR)
			valid = (struct condition){"Valid", "False", "LayersInvalid",
			                           arena_printf(turn->arena, "%s: %s", problems->items[i].path,
			                                        problems->items[i].message)};
	build_put_string(build, status, "currentTopologyLevel", topology->levels);
	build_put_bool(build, status, "valid", problems->errors == 0);
	build_put(build, status, "conditions", writes_conditions(build, object->root, &valid, 1, now));
	writes_patch_status(turn->store, object, build, status);
	build_destroy(build);
}

int rbg_reconcile_topology(struct rbg_controller *controller, struct reconcile *turn)
{
	const struct store_type *type = store_type_find(turn->store, RBG_GROUP, "clustertopologies");
	struct store_object *object =
		type ? store_object_retain(store_peek(turn->store, type, "", turn->key.name)) : NULL;
	if (!object)
		return 0;
	struct problems problems = {.arena = turn->arena};
	struct cluster_topology topology;
	cluster_topology_decode(object->root, turn->arena, &topology, &problems);
	bool in_use = rbg_links_each(controller->topologies, object->name, NULL, NULL) > 0;
	if (problems.errors == 0 && !metadata_is_leaving(object->root)) {
		const char **keys = arena_array(turn->arena, const char *, topology.layer_count);
		for (size_t i = 0; i < topology.layer_count; i++)
			keys[i] = topology.keys[topology.layer_count - 1 - i];
		ensure_topology(turn->store, turn->arena, rbg_topology_name(turn->arena, object->name), keys,
		                topology.layer_count, object);
	}
	report(turn, object, &topology, &problems);
	bool done = protect(turn, object, in_use && problems.errors == 0);
	store_object_release(object);
	return done ? 0 : -1;
}
