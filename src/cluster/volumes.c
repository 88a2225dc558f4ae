/* Owns what makes claims and volumes due, and the claims of generic ephemeral volumes. */
#include "cluster/volumes_internal.h"

#include "base/strings.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_CLAIM, KEY_VOLUME, KEY_POD, KEY_PENDING /* all claims that have no volume */ };

enum { WATCHES = 4 };

struct volumes {
	struct reconciler *reconciler;
};

/* ---- reading ---- */

static struct store_object *find(const struct volumes_turn *turn, const char *group, const char *resource,
                                 const char *namespace_, const char *name)
{
	const struct store_type *type = store_type_find(turn->store, group, resource);
	return type ? store_peek(turn->store, type, namespace_, name) : NULL;
}

struct store_object *volumes_find_volume(const struct volumes_turn *turn, const char *name)
{
	return find(turn, "", "persistentvolumes", "", name);
}

struct store_object *volumes_find_claim(const struct volumes_turn *turn, const char *namespace_, const char *name)
{
	return find(turn, "", "persistentvolumeclaims", namespace_, name);
}

struct store_object *volumes_find_class(const struct volumes_turn *turn, const char *name)
{
	return find(turn, KINDS_STORAGE, "storageclasses", "", name);
}

const char *volumes_annotation(const struct store_object *object, const char *key)
{
	return val_str(val_path(object->root, "metadata", "annotations", key, NULL), NULL);
}

const char *volumes_class(const struct store_object *object)
{
	const char *old = volumes_annotation(object, "volume.beta.kubernetes.io/storage-class");
	return old ? old : val_str(val_path(object->root, "spec", "storageClassName", NULL), NULL);
}

/* ---- writing ---- */

struct node *volumes_claim_reference(struct build *build, const struct store_object *claim)
{
	return writes_reference(build, "v1", "PersistentVolumeClaim", claim->namespace_, claim->name, claim->uid);
}

static bool send(struct volumes_turn *turn, const struct store_request *request)
{
	struct store_error error = {0};
	if (writes_send(turn->store, request, turn->arena, &error) == 0 || error.code == 404)
		return true;
	turn->failed = true;
	turn->turn->failure = error.message;
	return false;
}

bool volumes_patch(struct volumes_turn *turn, const struct store_object *object, enum store_subresource subresource,
                   struct node *body)
{
	struct doc *doc = build_finish(turn->build, body);
	struct store_request request = writes_change(object, doc_root(doc), VOLUMES_ACTOR);
	request.subresource = subresource;
	bool done = send(turn, &request);
	doc_destroy(doc);
	return done;
}

bool volumes_create_object(struct volumes_turn *turn, const char *resource, const char *namespace_, struct node *body)
{
	struct doc *doc = build_finish(turn->build, body);
	struct store_request request = writes_create(store_api_find(turn->store, "", "v1", resource), namespace_,
	                                             doc_root(doc), VOLUMES_ACTOR);
	bool done = send(turn, &request);
	doc_destroy(doc);
	return done;
}

void volumes_put_annotation(struct volumes_turn *turn, struct node *body, const char *key, const char *value)
{
	struct node *metadata = build_map(turn->build), *annotations = build_map(turn->build);
	build_put(turn->build, annotations, key, value ? build_string(turn->build, value) : build_null(turn->build));
	build_put(turn->build, metadata, "annotations", annotations);
	build_put(turn->build, body, "metadata", metadata);
}

bool volumes_set_phase(struct volumes_turn *turn, const struct store_object *object, const char *phase)
{
	if (strcmp(val_str(val_path(object->root, "status", "phase", NULL), ""), phase) == 0)
		return true;
	struct node *body = build_map(turn->build), *status = build_map(turn->build);
	build_put_string(turn->build, status, "phase", phase);
	build_put(turn->build, body, "status", status);
	return volumes_patch(turn, object, STORE_STATUS, body);
}

void volumes_event(struct volumes_turn *turn, const struct store_object *object, bool warning, const char *reason,
                   const char *message)
{
	writes_event_once(turn->store, object, warning, reason, message, turn->now);
}

/* ---- ephemeral volumes ---- */

static struct node *claim_of(struct volumes_turn *turn, const struct store_object *pod, const char *name,
                             const struct val *template_)
{
	struct build *build = turn->build;
	const struct val *given = val_get(template_, "metadata");
	struct node *body = build_map(build), *owners = build_list(build), *owner = build_map(build);
	struct node *metadata = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	build_put_string(build, owner, "apiVersion", "v1");
	build_put_string(build, owner, "kind", "Pod");
	build_put_string(build, owner, "name", pod->name);
	build_put_string(build, owner, "uid", pod->uid);
	build_put_bool(build, owner, "controller", true);
	build_put_bool(build, owner, "blockOwnerDeletion", true);
	build_append(build, owners, owner);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", pod->namespace_);
	build_put(build, metadata, "ownerReferences", owners);
	build_put_string(build, body, "apiVersion", "v1");
	build_put_string(build, body, "kind", "PersistentVolumeClaim");
	build_put(build, body, "metadata", metadata);
	if (val_get(template_, "spec"))
		build_put(build, body, "spec", build_copy(build, val_get(template_, "spec")));
	return body;
}

static bool is_owned_by(const struct store_object *claim, const struct store_object *pod)
{
	const struct val *owner = metadata_controller(claim->root);
	return owner && strcmp(val_str(val_get(owner, "uid"), ""), pod->uid) == 0;
}

static void sync_pod(struct volumes_turn *turn, const struct store_object *pod)
{
	const struct val *volume;
	for (struct val_iter it = val_iter(val_path(pod->root, "spec", "volumes", NULL));
	     val_next(&it, NULL, &volume);) {
		const struct val *template_ = val_path(volume, "ephemeral", "volumeClaimTemplate", NULL);
		if (!template_)
			continue;
		const char *name = arena_printf(turn->arena, "%s-%s", pod->name, val_str(val_get(volume, "name"), ""));
		const struct store_object *claim = volumes_find_claim(turn, pod->namespace_, name);
		if (!claim)
			volumes_create_object(turn, "persistentvolumeclaims", pod->namespace_,
			                      claim_of(turn, pod, name, template_));
		else if (!is_owned_by(claim, pod))
			volumes_event(turn, pod, true, "EphemeralVolume",
			              arena_printf(turn->arena, "PVC %s was not created for pod %s", name, pod->name));
	}
}

/* ---- what is due ---- */

static void want_claim_of(struct reconciler *reconciler, const struct store_object *volume)
{
	const struct val *reference = val_path(volume->root, "spec", "claimRef", NULL);
	if (reference)
		reconciler_want(reconciler, KEY_CLAIM, val_str(val_get(reference, "namespace"), ""),
		                val_str(val_get(reference, "name"), ""));
}

static void on_volume(struct reconciler *reconciler, void *context, const struct store_object *object,
                      const struct store_object *old, bool deleted)
{
	(void)context;
	if (!deleted)
		reconciler_want(reconciler, KEY_VOLUME, "", object->name);
	want_claim_of(reconciler, object);
	if (old)
		want_claim_of(reconciler, old);
	if (!deleted && !val_path(object->root, "spec", "claimRef", NULL))
		reconciler_want(reconciler, KEY_PENDING, "", "claims");
}

static void on_claim(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context;
	(void)old;
	const char *volume = val_str(val_path(object->root, "spec", "volumeName", NULL), NULL);
	if (!deleted)
		reconciler_want(reconciler, KEY_CLAIM, object->namespace_, object->name);
	if (volume)
		reconciler_want(reconciler, KEY_VOLUME, "", volume);
}

static void on_class(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context;
	(void)object;
	(void)old;
	if (!deleted)
		reconciler_want(reconciler, KEY_PENDING, "", "claims");
}

static void on_pod(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	const struct val *volume;
	(void)context;
	if (old || deleted) /* what a pod has for volumes does not change */
		return;
	for (struct val_iter it = val_iter(val_path(object->root, "spec", "volumes", NULL));
	     val_next(&it, NULL, &volume);)
		if (val_get(volume, "ephemeral")) {
			reconciler_want(reconciler, KEY_POD, object->namespace_, object->name);
			return;
		}
}

/* A volume or class that came may be what claims wait for. */
static void want_pending(struct volumes *volumes, struct reconcile *turn)
{
	struct store_list claims = {0};
	struct store_list_request request = {.api = store_api_find(turn->store, "", "v1", "persistentvolumeclaims")};
	if (store_list(turn->store, &request, &claims, turn->arena, NULL) == 0)
		for (size_t i = 0; i < claims.count; i++)
			if (!volumes_annotation(claims.items[i], BIND_COMPLETED))
				reconciler_want(volumes->reconciler, KEY_CLAIM, claims.items[i]->namespace_,
				                claims.items[i]->name);
	store_list_clear(&claims);
}

static struct store_object *object_of(const struct volumes_turn *turn, const struct work_key *key)
{
	if (key->kind == KEY_VOLUME)
		return volumes_find_volume(turn, key->name);
	return key->kind == KEY_CLAIM ? volumes_find_claim(turn, key->namespace_, key->name)
	                              : find(turn, "", "pods", key->namespace_, key->name);
}

static int reconcile(void *context, struct reconcile *turn)
{
	if (turn->key.kind == KEY_PENDING) {
		want_pending(context, turn);
		return 0;
	}
	struct volumes_turn work = {
		.turn = turn,
		.store = turn->store,
		.arena = turn->arena,
		.build = build_create(),
		.now = turn->now_ns / CLOCK_SECOND,
	};
	struct store_object *object = store_object_retain(object_of(&work, &turn->key));
	if (object && turn->key.kind == KEY_CLAIM)
		volumes_sync_claim(&work, object);
	else if (object && turn->key.kind == KEY_VOLUME)
		volumes_sync_volume(&work, object);
	else if (object && !metadata_is_leaving(object->root))
		sync_pod(&work, object);
	store_object_release(object);
	build_destroy(work.build);
	return work.failed ? -1 : 0;
}

struct volumes *volumes_create(const struct volumes_options *options)
{
	static const struct reconciler_watch watches[WATCHES] = {
		{.group = "", .resource = "persistentvolumeclaims", .map = on_claim},
		{.group = "", .resource = "persistentvolumes", .map = on_volume},
		{.group = KINDS_STORAGE, .resource = "storageclasses", .map = on_class},
		{.group = "", .resource = "pods", .map = on_pod},
	};
	struct volumes *volumes = base_calloc(1, sizeof(*volumes));
	volumes->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "volumes",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = WATCHES,
		.reconcile = reconcile,
		.context = volumes,
	});
	return volumes;
}

void volumes_destroy(struct volumes *volumes)
{
	if (!volumes)
		return;
	reconciler_destroy(volumes->reconciler);
	free(volumes);
}

int volumes_step(struct volumes *volumes)
{
	return reconciler_step(volumes->reconciler);
}
