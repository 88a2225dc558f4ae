/* Owns what is written about one claim before its pod is bound: the reference of a volume to its claim, or the node that a
 * volume is provisioned for. Every write is guarded by the version it rests on, as kube-scheduler's are. */
#include "schedule/scheduler_claims_internal.h"

#include "admit/volume.h"
#include "loop/writes.h"
#include "object/build.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"
#define SELECTED_NODE "volume.kubernetes.io/selected-node"

/* ---- reading ---- */

static struct store_object *peek(const struct scheduler *scheduler, const char *resource, const char *namespace_,
                                 const char *name)
{
	const struct store_type *type = store_type_find(scheduler->options.store, "", resource);
	return type ? store_peek(scheduler->options.store, type, namespace_, name) : NULL;
}

static const char *annotation(const struct store_object *object, const char *key)
{
	return val_str(val_path(object->root, "metadata", "annotations", key, NULL), NULL);
}

static const char *volume_name(const struct store_object *claim)
{
	return val_str(val_path(claim->root, "spec", "volumeName", NULL), "");
}

static bool is_meant_for(const struct store_object *volume, const struct awaited_claim *claim)
{
	const char *uid = val_str(val_path(volume->root, "spec", "claimRef", "uid", NULL), "");
	return strcmp(uid, claim->uid) == 0;
}

/* Nobody's, or reserved for the claim by name. */
static bool is_free_for(const struct store_object *volume, const struct awaited_claim *claim)
{
	const struct val *reference = val_path(volume->root, "spec", "claimRef", NULL);
	const char *uid = val_str(val_get(reference, "uid"), "");
	if (val_kind(reference) != VAL_MAP)
		return true;
	return strcmp(val_str(val_get(reference, "namespace"), ""), claim->namespace_) == 0 &&
	       strcmp(val_str(val_get(reference, "name"), ""), claim->name) == 0 &&
	       (!*uid || strcmp(uid, claim->uid) == 0);
}

static bool reaches_node(const struct store_object *volume, const struct store_object *node)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct volume_spec spec;
	bool reaches = volume_decode(volume->root, arena, &spec, &problems) == 0 && !spec.has_terms;
	for (size_t i = 0; problems.errors == 0 && !reaches && i < spec.term_count; i++)
		reaches = selector_matches(&spec.terms[i].selector, &node->labels, node->name);
	arena_destroy(arena);
	return reaches;
}

/* ---- writing ---- */

/* From store_commit. A refusal may be the answer to a second try of what was carried out: then the object shows it, which is
 * looked at later. */
void claims_answered(void *context, const struct store_result *result)
{
	struct awaited_claim *claim = context;
	claim->unanswered = false;
	claim->code = result->error.code ? result->error.code : 200;
	claim->message = result->error.code ? base_strdup(result->error.message ? result->error.message : "") : NULL;
}

/* A patch of this very version of the object. */
static struct node *patch_of(struct build *build, const struct store_object *object, const char *key, const char *value)
{
	struct node *body = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	build_put_string(build, metadata, "resourceVersion",
	                 val_str(val_path(object->root, "metadata", "resourceVersion", NULL), ""));
	if (key) {
		build_put(build, annotations, key, value ? build_string(build, value) : build_null(build));
		build_put(build, metadata, "annotations", annotations);
	}
	build_put(build, body, "metadata", metadata);
	return body;
}

void claims_refuse(struct awaited_claim *claim, int code, const char *format, const char *name)
{
	struct buffer text = {0};
	buffer_printf(&text, format, name);
	claim->code = code;
	claim->message = text.text;
}

static void submit(struct awaited_claim *claim, const struct store_object *object, struct build *build,
                   struct node *body)
{
	struct doc *doc = build_finish(build, body);
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	claim->unanswered = true;
	store_submit(claim->scheduler->options.store, &request, claims_answered, claim);
	doc_destroy(doc);
}

void claims_write(struct awaited_claim *claim)
{
	if (claim->devices) {
		claims_devices_write(claim);
		return;
	}
	bool provisions = !claim->volume;
	struct store_object *object = store_object_retain(
		provisions ? peek(claim->scheduler, "persistentvolumeclaims", claim->namespace_, claim->name)
			   : peek(claim->scheduler, "persistentvolumes", "", claim->volume));
	const char *name = provisions ? claim->name : claim->volume;
	if (!object) {
		claims_refuse(claim, 404, provisions ? "persistentvolumeclaim \"%s\" not found" : "volume %s is gone",
		              name);
		return;
	}
	struct build *build = build_create();
	if (provisions) {
		submit(claim, object, build, patch_of(build, object, SELECTED_NODE, claim->node));
	} else if (is_free_for(object, claim)) {
		bool prebound = val_kind(val_path(object->root, "spec", "claimRef", NULL)) == VAL_MAP;
		struct node *body = patch_of(build, object, prebound ? NULL : BOUND_BY_CONTROLLER, "yes");
		struct node *spec = build_map(build);
		build_put(build, spec, "claimRef",
		          writes_reference(build, "v1", "PersistentVolumeClaim", claim->namespace_, claim->name,
		                           claim->uid));
		build_put(build, body, "spec", spec);
		submit(claim, object, build, body);
	} else {
		claims_refuse(claim, 409, "volume %s was given to another claim", name);
	}
	build_destroy(build);
	store_object_release(object);
}

/* ---- looking ---- */

static enum claim_progress fail(const char **why, const char *text)
{
	*why = text;
	return CLAIM_HAS_FAILED;
}

static enum claim_progress look_at_bound(const struct awaited_claim *claim, const char *name, struct arena *arena,
                                         const char **why)
{
	const struct store_object *volume = peek(claim->scheduler, "persistentvolumes", "", name),
				  *node = peek(claim->scheduler, "nodes", "", claim->node);
	if (!node)
		return fail(why, arena_printf(arena, "node %s is gone", claim->node));
	if (!volume) /* a mirror may hear of the volume later than of the claim */
		return CLAIM_WAITS;
	if (!reaches_node(volume, node))
		return fail(why, arena_printf(arena, "it was bound to volume %s, which node %s does not reach", name,
		                              claim->node));
	return CLAIM_IS_BOUND;
}

static enum claim_progress look_at_open(const struct awaited_claim *claim, const struct store_object *object,
                                        struct arena *arena, const char **why)
{
	if (volume_name(object)[0])
		return CLAIM_WAITS; /* the volume is chosen, by whomever: soon it is bound */
	if (!claim->volume) {
		const char *node = annotation(object, SELECTED_NODE);
		if (node && strcmp(node, claim->node) == 0)
			return CLAIM_WAITS;
		if (claim->message)
			return fail(why, arena_strdup(arena, claim->message));
		return fail(why, arena_printf(arena, "no volume could be provisioned for node %s", claim->node));
	}
	const struct store_object *volume = peek(claim->scheduler, "persistentvolumes", "", claim->volume);
	if (volume && is_meant_for(volume, claim))
		return CLAIM_WAITS;
	if (claim->message)
		return fail(why, arena_strdup(arena, claim->message));
	return fail(why, arena_printf(arena, volume ? "volume %s was given to another claim" : "volume %s is gone",
	                              claim->volume));
}

enum claim_progress claims_look(struct awaited_claim *claim, struct arena *arena, const char **why)
{
	if (claim->devices)
		return claims_devices_look(claim, arena, why);
	const struct store_object *object =
		peek(claim->scheduler, "persistentvolumeclaims", claim->namespace_, claim->name);
	if (!object || strcmp(object->uid, claim->uid) != 0)
		return fail(why, "it is gone");
	if (metadata_is_leaving(object->root))
		return fail(why, "it is being deleted");
	const char *name = volume_name(object);
	if (name[0] && annotation(object, BIND_COMPLETED))
		return look_at_bound(claim, name, arena, why);
	return look_at_open(claim, object, arena, why);
}

/* ---- taking back ---- */

/* An answer makes no difference: what the store shows afterwards is what the next decision starts from. */
static void send(struct scheduler *scheduler, const struct store_object *object, struct build *build, struct node *body)
{
	struct doc *doc = build_finish(build, body);
	struct arena *arena = arena_create();
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	struct store_error error = {0};
	if (writes_send(scheduler->options.store, &request, arena, &error) < 0)
		metrics_error(&scheduler->metrics, error.code);
	arena_destroy(arena);
	doc_destroy(doc);
}

/* The controller of volumes writes the phase of a volume before it binds the claim: a volume that is in another phase in the
 * version that this write is guarded by is not bound to it, and will not be. */
static void free_volume(const struct awaited_claim *claim, struct build *build)
{
	struct store_object *volume =
		store_object_retain(peek(claim->scheduler, "persistentvolumes", "", claim->volume));
	bool used = volume && strcmp(val_str(val_path(volume->root, "status", "phase", NULL), ""), "Bound") == 0;
	if (volume && !used && is_meant_for(volume, claim) && annotation(volume, BOUND_BY_CONTROLLER)) {
		struct node *body = patch_of(build, volume, BOUND_BY_CONTROLLER, NULL), *spec = build_map(build);
		build_put(build, spec, "claimRef", build_null(build));
		build_put(build, body, "spec", spec);
		send(claim->scheduler, volume, build, body);
	}
	store_object_release(volume);
}

void claims_take_back(const struct awaited_claim *claim)
{
	if (claim->devices) {
		claims_devices_take_back(claim);
		return;
	}
	struct store_object *object =
		store_object_retain(peek(claim->scheduler, "persistentvolumeclaims", claim->namespace_, claim->name));
	struct build *build = build_create();
	bool gone = !object || strcmp(object->uid, claim->uid) != 0, bound = !gone && volume_name(object)[0];
	if (claim->volume && !bound) {
		free_volume(claim, build);
	} else if (!gone && !bound) {
		const char *node = annotation(object, SELECTED_NODE);
		if (node && strcmp(node, claim->node) == 0)
			send(claim->scheduler, object, build, patch_of(build, object, SELECTED_NODE, NULL));
	}
	build_destroy(build);
	store_object_release(object);
}

bool claims_is_pinned(const struct scheduler *scheduler, const char *namespace_, const char *claim)
{
	const struct store_object *object = peek(scheduler, "persistentvolumeclaims", namespace_, claim);
	return object && !metadata_is_leaving(object->root) && !volume_name(object)[0] &&
	       annotation(object, SELECTED_NODE);
}

void claims_free(struct scheduler *scheduler, const char *namespace_, const char *claim)
{
	struct store_object *object = store_object_retain(peek(scheduler, "persistentvolumeclaims", namespace_, claim));
	struct build *build = build_create();
	send(scheduler, object, build, patch_of(build, object, SELECTED_NODE, NULL));
	build_destroy(build);
	store_object_release(object);
}
