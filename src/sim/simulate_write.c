/* Owns what is done to a simulated cluster from outside: the writes of users, and nodes that come and go. */
#include "sim/simulate.h"

#include "kinds/kinds.h"
#include "loop/writes.h"
#include "object/build.h"
#include "sim/simulate_cluster.h"

#include <string.h>

static int unknown_kind(const struct simulation_target *target, struct arena *arena, struct store_error *error)
{
	if (target->api_version && target->api_version[0])
		return store_fail(arena, error, 404, "NotFound", "there is no kind %s of %s", target->kind,
		                  target->api_version);
	return store_fail(arena, error, 404, "NotFound",
	                  "there is no kind %s, or several groups have one; give its apiVersion", target->kind);
}

/* Of kinds with one name ours are meant: the PodGroup of Platoon, not that of Kubernetes. */
static bool is_ours(const struct store_type *type)
{
	const struct kind_row *row = kinds_resource(type->group, type->resource);
	return row && row->flags & ROW_INSTALLED;
}

const struct store_api *simulation_api(struct simulation *simulation, const struct simulation_target *target,
                                       struct arena *arena, struct store_error *error)
{
	const struct store_api *found = NULL;
	if (target->api_version && target->api_version[0]) {
		found = store_api_of_kind(simulation->store, target->api_version, target->kind);
	} else {
		size_t count;
		const struct store_api *const *apis = store_apis(simulation->store, &count);
		for (size_t i = 0; i < count; i++) {
			const struct store_type *type = apis[i]->type;
			if (strcmp(type->kind, target->kind) != 0 || (found && found->type == type))
				continue;
			if (found && is_ours(found->type) == is_ours(type)) {
				unknown_kind(target, arena, error);
				return NULL;
			}
			if (!found || is_ours(type))
				found = &type->apis[0];
		}
	}
	if (!found)
		unknown_kind(target, arena, error);
	return found;
}

static int carry_out(struct simulation *simulation, struct store_request *request, struct arena *arena,
                     struct store_error *error)
{
	request->manager = SIMULATION_ACTOR;
	request->actor = SIMULATION_ACTOR;
	int rc = writes_send(simulation->store, request, arena, error);
	/* There the server has the last word. */
	return rc == 0 && simulation->cluster ? cluster_wait(simulation, arena, error) : rc;
}

/* What all requests about one object have in common. */
static int aim(struct simulation *simulation, const struct simulation_target *target, struct store_request *request,
               struct arena *arena, struct store_error *error)
{
	request->api = simulation_api(simulation, target, arena, error);
	if (!request->api)
		return -1;
	bool given = target->namespace_ && target->namespace_[0];
	request->namespace_ = !request->api->type->namespaced ? "" : given ? target->namespace_ : "default";
	request->name = target->name;
	return 0;
}

int simulation_patch(struct simulation *simulation, const struct simulation_target *target, enum store_patch type,
                     enum store_subresource subresource, const struct val *patch, struct arena *arena,
                     struct store_error *error)
{
	struct store_request request = {.verb = STORE_PATCH,
	                                .patch = type,
	                                .subresource = subresource,
	                                .force = type == STORE_PATCH_APPLY,
	                                .body = patch};
	if (aim(simulation, target, &request, arena, error) < 0)
		return -1;
	return carry_out(simulation, &request, arena, error);
}

int simulation_apply(struct simulation *simulation, const struct val *object, struct arena *arena,
                     struct store_error *error)
{
	const struct val *metadata = val_get(object, "metadata"), *status = val_get(object, "status");
	struct simulation_target target = {
		.api_version = val_str(val_get(object, "apiVersion"), ""),
		.kind = val_str(val_get(object, "kind"), ""),
		.namespace_ = val_str(val_get(metadata, "namespace"), ""),
		.name = val_str(val_get(metadata, "name"), ""),
	};
	if (simulation_patch(simulation, &target, STORE_PATCH_APPLY, STORE_MAIN, object, arena, error) < 0)
		return -1;
	const struct store_api *api = simulation_api(simulation, &target, arena, error);
	if (!status || !api || !api->has_status)
		return 0;
	struct build *build = build_create();
	struct node *body = build_map(build);
	build_put(build, body, "status", build_copy(build, status));
	struct doc *doc = build_finish(build, body);
	int rc = simulation_patch(simulation, &target, STORE_PATCH_MERGE, STORE_STATUS, doc_root(doc), arena, error);
	doc_destroy(doc);
	build_destroy(build);
	return rc;
}

int simulation_delete(struct simulation *simulation, const struct simulation_target *target, int64_t grace,
                      struct arena *arena, struct store_error *error)
{
	struct store_request request = {.verb = STORE_DELETE,
	                                .options = {.has_grace = grace >= 0, .grace = grace >= 0 ? grace : 0}};
	if (aim(simulation, target, &request, arena, error) < 0)
		return -1;
	return carry_out(simulation, &request, arena, error);
}

/* A merge patch of {below: {key: value}}. */
static int patch_one(struct simulation *simulation, const struct simulation_target *target,
                     enum store_subresource subresource, struct build *build, const char *below, const char *key,
                     struct node *value, struct arena *arena, struct store_error *error)
{
	struct node *body = build_map(build), *inner = build_map(build);
	build_put(build, inner, key, value);
	build_put(build, body, below, inner);
	struct doc *doc = build_finish(build, body);
	int rc = simulation_patch(simulation, target, STORE_PATCH_MERGE, subresource, doc_root(doc), arena, error);
	doc_destroy(doc);
	build_destroy(build);
	return rc;
}

int simulation_scale(struct simulation *simulation, const struct simulation_target *target, int64_t replicas,
                     struct arena *arena, struct store_error *error)
{
	struct build *build = build_create();
	return patch_one(simulation, target, STORE_SCALE, build, "spec", "replicas", build_int(build, replicas), arena,
	                 error);
}

/* ---- nodes ---- */

static struct simulation_target node_target(const char *name)
{
	return (struct simulation_target){.api_version = "v1", .kind = "Node", .namespace_ = "", .name = name};
}

int simulation_cordon(struct simulation *simulation, const char *node, bool cordoned, struct arena *arena,
                      struct store_error *error)
{
	struct simulation_target target = node_target(node);
	struct build *build = build_create();
	return patch_one(simulation, &target, STORE_MAIN, build, "spec", "unschedulable", build_bool(build, cordoned),
	                 arena, error);
}

/* The world's node controller makes the rest of it: the Ready condition, taints, pods that are given up. */
static int set_down(struct simulation *simulation, const char *name, bool down, struct arena *arena,
                    struct store_error *error)
{
	struct simulation_target target = node_target(name);
	struct build *build = build_create();
	struct node *annotations = build_map(build);
	build_put(build, annotations, KUBELET_NODE_STATE, down ? build_string(build, "down") : build_null(build));
	return patch_one(simulation, &target, STORE_MAIN, build, "metadata", "annotations", annotations, arena, error);
}

static int lose_pod(struct simulation *simulation, const struct store_object *pod, enum simulation_loss loss,
                    struct arena *arena, struct store_error *error)
{
	struct simulation_target target = {"v1", "Pod", pod->namespace_, pod->name};
	if (loss == SIMULATION_PODS_DELETED)
		return simulation_delete(simulation, &target, 0, arena, error);
	const char *phase = val_str(val_path(pod->root, "status", "phase", NULL), "Pending");
	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
		return 0;
	struct build *build = build_create();
	return patch_one(simulation, &target, STORE_STATUS, build, "status", "phase", build_string(build, "Failed"),
	                 arena, error);
}

int simulation_kill_node(struct simulation *simulation, const char *node, enum simulation_loss loss,
                         struct arena *arena, struct store_error *error)
{
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(simulation->store, "", "v1", "pods")};
	int rc = set_down(simulation, node, true, arena, error);
	if (rc < 0 || loss == SIMULATION_PODS_WAIT)
		return rc;
	if (store_list(simulation->store, &request, &list, arena, error) < 0)
		return -1;
	for (size_t i = 0; i < list.count && rc == 0; i++)
		if (strcmp(val_str(val_path(list.items[i]->root, "spec", "nodeName", NULL), ""), node) == 0)
			rc = lose_pod(simulation, list.items[i], loss, arena, error);
	store_list_clear(&list);
	return rc;
}

int simulation_restore_node(struct simulation *simulation, const char *node, struct arena *arena,
                            struct store_error *error)
{
	return set_down(simulation, node, false, arena, error);
}
