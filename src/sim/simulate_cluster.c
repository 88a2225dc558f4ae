/* Owns the connection of a simulation to a real API server, and the garbage collection that such a server leaves to
 * others. */
#include "sim/simulate_cluster.h"

#include "kinds/kinds.h"
#include "loop/writes.h"
#include "remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scenarios are about what is refused, and each step waits until that is taken back. */
#define REFUSED_PAUSE CLOCK_SECOND
#define PATIENCE (120 * CLOCK_SECOND) /* of real time, for anything the server has to do */
#define PIECE_MS 20
#define CLEAR_ROUNDS 20

struct cluster {
	struct arena *arena;
	struct remote_follow *follow;
	size_t follow_count;
	struct remote *remote;
	int code; /* of the last refusal, 0: none since it was last asked for */
	char refusal[2048];
};

/* A kind that Platoon neither reads nor writes: nothing in a scenario is about it. */
static bool is_left_out(const struct store_type *type)
{
	const struct kind_row *row = kinds_resource(type->group, type->resource);
	return row && row->mirror == MIRROR_NEVER && !row->verbs;
}

/* Everything a store knows, in the version it keeps. */
static void choose_types(struct cluster *cluster)
{
	struct error error = {0};
	struct store *store = store_open(&(struct store_options){.bare = true}, &error);
	size_t count = 0;
	const struct store_api *const *apis = store ? store_apis(store, &count) : NULL;
	cluster->follow = arena_array(cluster->arena, struct remote_follow, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct store_type *type = apis[i]->type;
		if (apis[i] != type->apis || is_left_out(type))
			continue;
		cluster->follow[cluster->follow_count++] = (struct remote_follow){
			.group = arena_strdup(cluster->arena, apis[i]->group),
			.version = arena_strdup(cluster->arena, apis[i]->version),
			.resource = arena_strdup(cluster->arena, type->resource),
			.optional = true,
		};
	}
	store_close(store);
}

static void on_refused(void *context, const char *path, int code, const char *message)
{
	struct cluster *cluster = context;
	fprintf(stderr, "refused %d %s %s\n", code, path, message);
	cluster->code = code;
	snprintf(cluster->refusal, sizeof(cluster->refusal), "%.1800s (%.200s)", message, path);
}

static int64_t real_now(void)
{
	return clock_now(clock_system());
}

/* Times that the server wrote before are in the past. */
static void keep_up(struct simulation *simulation)
{
	int64_t behind = real_now() - simulation->clock.now;
	if (behind > 0)
		clock_virtual_advance(&simulation->clock, behind);
}

static bool is_scratch(struct simulation *simulation)
{
	return store_peek(simulation->store, store_type_find(simulation->store, "", "namespaces"), "", CLUSTER_SCRATCH);
}

void cluster_open(struct simulation *simulation)
{
	struct cluster *cluster = base_calloc(1, sizeof(*cluster));
	struct error error = {0};
	simulation->cluster = cluster;
	cluster->arena = arena_create();
	choose_types(cluster);
	keep_up(simulation);
	cluster->remote = remote_create(
		&(struct remote_options){
			.whole = true, /* scenarios may expect anything of a pod */
			.access = simulation->options.access,
			.logger = simulation->options.logger,
			.follow = cluster->follow,
			.follow_count = cluster->follow_count,
			.seed = simulation->options.seed,
			.refused_pause = REFUSED_PAUSE,
			.mirror_clock = &simulation->clock.source,
			.refused = on_refused,
			.context = cluster,
		},
		&error);
	int64_t end = real_now() + PATIENCE;
	while (cluster->remote && !remote_synced(cluster->remote) && real_now() < end)
		remote_run(cluster->remote, PIECE_MS, -1);
	if (!cluster->remote) {
		simulation->problem = arena_strdup(simulation->arena, error.text);
	} else if (!remote_synced(cluster->remote)) {
		simulation->problem = arena_printf(simulation->arena, "%s does not answer: %s",
		                                   simulation->options.access->server, remote_problem(cluster->remote));
	} else {
		simulation->store = remote_store(cluster->remote);
		if (!is_scratch(simulation))
			simulation->problem = arena_printf(
				simulation->arena,
				"%s has no namespace " CLUSTER_SCRATCH "; scenarios delete everything in a cluster, so "
				"only one that has this namespace is used (kubectl create namespace " CLUSTER_SCRATCH
				")",
				simulation->options.access->server);
	}
	if (simulation->problem)
		cluster_close(simulation);
}

void cluster_close(struct simulation *simulation)
{
	struct cluster *cluster = simulation->cluster;
	if (!cluster)
		return;
	remote_destroy(cluster->remote);
	arena_destroy(cluster->arena);
	free(cluster);
	simulation->cluster = NULL;
	simulation->store = NULL;
}

/* ---- deleting ---- */

/* What belongs to the cluster and not to a scenario. */
static bool is_kept(const struct store_object *object)
{
	const char *resource = object->type->resource;
	if (strcmp(resource, "namespaces") == 0 || strncmp(object->namespace_, "kube-", 5) == 0 ||
	    strncmp(object->namespace_, "platoon-", 8) == 0)
		return true;
	return strncmp(object->name, "system-", 7) == 0 || strcmp(object->name, "kube-root-ca.crt") == 0 ||
	       strcmp(object->name, "kubernetes") == 0;
}

static int remove_object(struct simulation *simulation, const struct store_object *object, bool force,
                         struct arena *arena)
{
	struct store_request request = writes_delete(object, SIMULATION_ACTOR);
	struct store_error ignored;
	request.namespace_ = arena_strdup(arena, object->namespace_);
	request.name = arena_strdup(arena, object->name);
	request.options = (struct store_delete){.has_grace = force,
	                                        .propagation = STORE_BACKGROUND,
	                                        .uid = arena_strdup(arena, object->uid)};
	return writes_send(simulation->store, &request, arena, &ignored);
}

static void drop_finalizers(struct simulation *simulation, const struct store_object *object, struct arena *arena)
{
	struct store_error error = {0};
	struct simulation_target target = {val_str(val_get(object->root, "apiVersion"), ""), object->type->kind,
	                                   arena_strdup(arena, object->namespace_), arena_strdup(arena, object->name)};
	static const char patch[] = "{\"metadata\":{\"finalizers\":null}}";
	struct doc *doc = doc_parse_json(patch, sizeof(patch) - 1, NULL);
	simulation_patch(simulation, &target, STORE_PATCH_MERGE, STORE_MAIN, doc_root(doc), arena, &error);
	doc_destroy(doc);
}

/* Calls `visit` for every object of the mirror; how many times it said yes. */
static size_t each_object(struct simulation *simulation,
                          bool (*visit)(struct simulation *simulation, const struct store_object *object,
                                        struct arena *arena))
{
	const struct cluster *cluster = simulation->cluster;
	struct arena *arena = arena_create();
	size_t count = 0;
	for (size_t i = 0; i < cluster->follow_count; i++) {
		const struct remote_follow *follow = &cluster->follow[i];
		struct store_error error = {0};
		struct store_list list = {0};
		struct store_list_request request = {
			.api = store_api_find(simulation->store, follow->group, follow->version, follow->resource)};
		if (!request.api || store_list(simulation->store, &request, &list, arena, &error) < 0)
			continue;
		for (size_t k = 0; k < list.count; k++)
			count += visit(simulation, list.items[k], arena);
		store_list_clear(&list);
	}
	arena_destroy(arena);
	return count;
}

static bool clear_one(struct simulation *simulation, const struct store_object *object, struct arena *arena)
{
	if (is_kept(object))
		return false;
	if (val_count(val_path(object->root, "metadata", "finalizers", NULL)) > 0)
		drop_finalizers(simulation, object, arena);
	remove_object(simulation, object, true, arena);
	return true;
}

void cluster_clear(struct simulation *simulation)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	size_t left = 1;
	for (int round = 0; round < CLEAR_ROUNDS && left > 0; round++) {
		left = each_object(simulation, clear_one);
		/* What was gone already is refused, and what is still there is tried again. */
		cluster_wait(simulation, arena, &error);
	}
	if (left > 0)
		simulation->problem = arena_printf(simulation->arena, "%zu objects cannot be deleted: %s", left,
		                                   error.message ? error.message : "");
	arena_destroy(arena);
}

/* Owners that exist, by uid. */
static bool has_owner(struct simulation *simulation, const struct store_object *object)
{
	const struct val *reference;
	bool any = false;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &reference);) {
		const struct store_api *api =
			store_api_of_kind(simulation->store, val_str(val_get(reference, "apiVersion"), ""),
		                          val_str(val_get(reference, "kind"), ""));
		const struct store_object *owner =
			api ? store_peek(simulation->store, api->type, api->type->namespaced ? object->namespace_ : "",
		                         val_str(val_get(reference, "name"), ""))
			    : NULL;
		any = true;
		/* A kind that is not mirrored cannot be judged. */
		if (!api || is_left_out(api->type) ||
		    (owner && strcmp(owner->uid, val_str(val_get(reference, "uid"), "")) == 0))
			return true;
	}
	return !any;
}

static bool collect_one(struct simulation *simulation, const struct store_object *object, struct arena *arena)
{
	if (is_kept(object) || has_owner(simulation, object) ||
	    val_str(val_path(object->root, "metadata", "deletionTimestamp", NULL), NULL))
		return false;
	return remove_object(simulation, object, false, arena) == 0;
}

/* ---- time ---- */

bool cluster_turn(struct simulation *simulation)
{
	struct cluster *cluster = simulation->cluster;
	cluster->code = 0; /* what the world is refused is its own business */
	bool busy = !remote_settled(cluster->remote) || store_pending(simulation->store);
	/* With nothing on its way the mirror shows what the server has: what lost its owner is seen for sure. */
	if (!busy && store_version(simulation->store) != simulation->collected) {
		uint64_t version = store_version(simulation->store);
		busy = each_object(simulation, collect_one) > 0;
		/* What was deleted may have been an owner too: it is looked for once more. */
		if (!busy)
			simulation->collected = version;
	}
	remote_run(cluster->remote, busy ? PIECE_MS : 0, -1);
	return busy || !remote_settled(cluster->remote) || store_pending(simulation->store);
}

int cluster_wait(struct simulation *simulation, struct arena *arena, struct store_error *error)
{
	struct cluster *cluster = simulation->cluster;
	int64_t end = real_now() + PATIENCE;
	while (!remote_settled(cluster->remote) && real_now() < end)
		remote_run(cluster->remote, PIECE_MS, -1);
	if (!remote_settled(cluster->remote))
		return store_fail(arena, error, 504, "Timeout", "the API server does not answer: %s",
		                  remote_problem(cluster->remote));
	int code = cluster->code;
	cluster->code = 0;
	return code ? store_fail(arena, error, code, "Refused", "%s", cluster->refusal) : 0;
}
