/* Owns the claims of pods that name templates, and who uses a claim. */
#include "cluster/devices.h"

#include "base/hash.h"
#include "base/strings.h"
#include "kinds/names.h"
#include "loop/reconciler.h"
#include "loop/writes.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define ACTOR "resource-claim-controller"
#define FINALIZER "resource.kubernetes.io/delete-protection"
#define ENTRY "resource.kubernetes.io/pod-claim-name"

enum { KEY_POD, KEY_CLAIM };

/* One pod or claim in work. */
struct devices_turn {
	struct reconcile *turn;
	struct store *store;
	struct build *build;
	bool failed; /* a write was refused: try again later */
};

static struct store_object *find(struct store *store, const char *group, const char *resource, const char *namespace_,
                                 const char *name)
{
	const struct store_type *type = store_type_find(store, group, resource);
	return type ? store_peek(store, type, namespace_, name) : NULL;
}

static bool send(struct devices_turn *turn, const struct store_request *request)
{
	struct store_error error = {0};
	if (writes_send(turn->store, request, turn->turn->arena, &error) == 0 || error.code == 404)
		return true;
	turn->failed = true;
	turn->turn->failure = error.message;
	return false;
}

static bool patch(struct devices_turn *turn, const struct store_object *object, enum store_subresource subresource,
                  struct node *body)
{
	struct doc *doc = build_finish(turn->build, body);
	struct store_request request = writes_change(object, doc_root(doc), ACTOR);
	request.subresource = subresource;
	bool done = send(turn, &request);
	doc_destroy(doc);
	return done;
}

/* Of this very version: somebody may be using it just now. */
static struct node *guarded(struct devices_turn *turn, const struct store_object *object, struct node *metadata)
{
	struct node *body = build_map(turn->build);
	build_put_string(turn->build, metadata, "resourceVersion",
	                 val_str(val_path(object->root, "metadata", "resourceVersion", NULL), ""));
	build_put(turn->build, body, "metadata", metadata);
	return body;
}

static bool has_ended(const struct store_object *pod)
{
	const char *phase = val_str(val_path(pod->root, "status", "phase", NULL), "");
	return strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
}

/* ---- claims of pods ---- */

/* The same whenever it is asked: a claim that was made before a crash is found again. */
static const char *claim_name(struct devices_turn *turn, const struct store_object *pod, const char *entry)
{
	uint64_t hash = XXH3_64bits(pod->uid, strlen(pod->uid));
	return arena_printf(turn->turn->arena, "%s-%s-%05x", pod->name, entry, (unsigned)(hash & 0xfffff));
}

static struct node *claim_of(struct devices_turn *turn, const struct store_object *pod, const char *entry,
                             const char *name, const struct store_object *template_)
{
	struct build *build = turn->build;
	const struct val *given = val_path(template_->root, "spec", "metadata", NULL);
	struct node *body = build_map(build), *owners = build_list(build), *owner = build_map(build);
	struct node *metadata = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	const struct val *given_notes = val_get(given, "annotations");
	struct node *notes = val_kind(given_notes) == VAL_MAP ? build_copy(build, given_notes) : build_map(build);
	build_put_string(build, owner, "apiVersion", "v1");
	build_put_string(build, owner, "kind", "Pod");
	build_put_string(build, owner, "name", pod->name);
	build_put_string(build, owner, "uid", pod->uid);
	build_put_bool(build, owner, "controller", true);
	build_put_bool(build, owner, "blockOwnerDeletion", true);
	build_append(build, owners, owner);
	build_put_string(build, notes, ENTRY, entry);
	build_put(build, metadata, "annotations", notes);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", pod->namespace_);
	build_put(build, metadata, "ownerReferences", owners);
	build_put_string(build, body, "apiVersion", KINDS_RESOURCE "/v1");
	build_put_string(build, body, "kind", "ResourceClaim");
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "spec", build_copy(build, val_path(template_->root, "spec", "spec", NULL)));
	return body;
}

/* False when there is none, and none can be made now. */
static bool need_claim(struct devices_turn *turn, const struct store_object *pod, const char *entry, const char *name,
                       const char *template_name)
{
	if (find(turn->store, KINDS_RESOURCE, "resourceclaims", pod->namespace_, name))
		return true;
	const struct store_object *template_ =
		find(turn->store, KINDS_RESOURCE, "resourceclaimtemplates", pod->namespace_, template_name);
	if (!template_ || !val_path(template_->root, "spec", "spec", NULL))
		return false;
	struct doc *doc = build_finish(turn->build, claim_of(turn, pod, entry, name, template_));
	struct store_request request =
		writes_create(store_api_find(turn->store, KINDS_RESOURCE, "v1", "resourceclaims"), pod->namespace_,
	                      doc_root(doc), ACTOR);
	bool done = send(turn, &request);
	doc_destroy(doc);
	return done;
}

static bool is_told(const struct store_object *pod, const char *entry)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod->root, "status", "resourceClaimStatuses", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), entry) == 0)
			return true;
	return false;
}

static void sync_pod(struct devices_turn *turn, const struct store_object *pod)
{
	struct node *told = build_list(turn->build), *status = build_map(turn->build), *body = build_map(turn->build);
	const struct val *item;
	bool news = false;
	if (has_ended(pod) || metadata_is_leaving(pod->root))
		return;
	for (struct val_iter it = val_iter(val_path(pod->root, "status", "resourceClaimStatuses", NULL));
	     val_next(&it, NULL, &item);)
		build_append(turn->build, told, build_copy(turn->build, item));
	for (struct val_iter it = val_iter(val_path(pod->root, "spec", "resourceClaims", NULL));
	     val_next(&it, NULL, &item);) {
		const char *template_ = val_str(val_get(item, "resourceClaimTemplateName"), NULL);
		const char *entry = val_str(val_get(item, "name"), "");
		const char *name = claim_name(turn, pod, entry);
		if (!template_ || is_told(pod, entry) || !need_claim(turn, pod, entry, name, template_))
			continue;
		struct node *one = build_map(turn->build);
		build_put_string(turn->build, one, "name", entry);
		build_put_string(turn->build, one, "resourceClaimName", name);
		build_append(turn->build, told, one);
		news = true;
	}
	if (!news)
		return;
	build_put(turn->build, status, "resourceClaimStatuses", told);
	build_put(turn->build, body, "status", status);
	patch(turn, pod, STORE_STATUS, body);
}

/* ---- who uses a claim ---- */

static bool is_there(const struct devices_turn *turn, const struct store_object *claim, const struct val *user)
{
	if (strcmp(val_str(val_get(user, "resource"), ""), "pods") != 0)
		return true; /* nobody's business here */
	const struct store_object *pod =
		find(turn->store, "", "pods", claim->namespace_, val_str(val_get(user, "name"), ""));
	bool scheduled = pod && val_path(pod->root, "spec", "nodeName", NULL);
	return pod && strcmp(pod->uid, val_str(val_get(user, "uid"), "")) == 0 && !has_ended(pod) &&
	       (scheduled || !metadata_is_leaving(pod->root));
}

/* Takes users that are gone out; without any the devices are free. */
static bool sync_users(struct devices_turn *turn, const struct store_object *claim)
{
	const struct val *list = val_path(claim->root, "status", "reservedFor", NULL), *user;
	struct node *users = build_list(turn->build), *status = build_map(turn->build);
	size_t left = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &user);)
		if (is_there(turn, claim, user)) {
			build_append(turn->build, users, build_copy(turn->build, user));
			left++;
		}
	bool waits = val_count(list) == 0 && !metadata_is_leaving(claim->root);
	if (left == val_count(list) && (left > 0 || waits || !val_path(claim->root, "status", "allocation", NULL)))
		return true;
	build_put(turn->build, status, "reservedFor", left ? users : build_null(turn->build));
	if (left == 0)
		build_put(turn->build, status, "allocation", build_null(turn->build));
	struct node *body = guarded(turn, claim, build_map(turn->build));
	build_put(turn->build, body, "status", status);
	return patch(turn, claim, STORE_STATUS, body);
}

static void drop_finalizer(struct devices_turn *turn, const struct store_object *claim)
{
	struct node *metadata = build_map(turn->build), *list = build_list(turn->build);
	const struct val *item;
	bool found = false;
	for (struct val_iter it = val_iter(val_path(claim->root, "metadata", "finalizers", NULL));
	     val_next(&it, NULL, &item);) {
		bool ours = strcmp(val_str(item, ""), FINALIZER) == 0;
		found |= ours;
		if (!ours)
			build_append(turn->build, list, build_copy(turn->build, item));
	}
	if (!found)
		return;
	build_put(turn->build, metadata, "finalizers", list);
	patch(turn, claim, STORE_MAIN, guarded(turn, claim, metadata));
}

static bool is_of_ended_pod(const struct devices_turn *turn, const struct store_object *claim)
{
	const struct val *owner = metadata_controller(claim->root);
	if (!owner || strcmp(val_str(val_get(owner, "kind"), ""), "Pod") != 0)
		return false;
	const struct store_object *pod =
		find(turn->store, "", "pods", claim->namespace_, val_str(val_get(owner, "name"), ""));
	return pod && strcmp(pod->uid, val_str(val_get(owner, "uid"), "")) == 0 && has_ended(pod);
}

static void sync_claim(struct devices_turn *turn, const struct store_object *claim)
{
	if (!sync_users(turn, claim))
		return;
	claim = find(turn->store, KINDS_RESOURCE, "resourceclaims", claim->namespace_, claim->name);
	if (claim && metadata_is_leaving(claim->root) && !val_path(claim->root, "status", "allocation", NULL)) {
		drop_finalizer(turn, claim);
	} else if (claim && !metadata_is_leaving(claim->root) && is_of_ended_pod(turn, claim)) {
		struct store_request request = writes_delete(claim, ACTOR);
		send(turn, &request);
	}
}

/* ---- what is due ---- */

static void want_claims(struct reconciler *reconciler, const struct store_object *pod, const struct val *list)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *name = val_str(val_get(item, "resourceClaimName"), NULL);
		if (name)
			reconciler_want(reconciler, KEY_CLAIM, pod->namespace_, name);
	}
}

static void on_pod(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	const struct val *claims = val_path(object->root, "spec", "resourceClaims", NULL);
	(void)context;
	(void)old;
	if (val_count(claims) == 0)
		return;
	if (!deleted)
		reconciler_want(reconciler, KEY_POD, object->namespace_, object->name);
	want_claims(reconciler, object, claims);
	want_claims(reconciler, object, val_path(object->root, "status", "resourceClaimStatuses", NULL));
}

static void on_claim(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context;
	(void)old;
	const struct val *owner = metadata_controller(object->root);
	if (!deleted)
		reconciler_want(reconciler, KEY_CLAIM, object->namespace_, object->name);
	if (deleted && owner && strcmp(val_str(val_get(owner, "kind"), ""), "Pod") == 0)
		reconciler_want(reconciler, KEY_POD, object->namespace_, val_str(val_get(owner, "name"), ""));
}

/* Pods that came before their template. */
static void on_template(struct reconciler *reconciler, void *context, const struct store_object *object,
                        const struct store_object *old, bool deleted)
{
	struct store *store = context;
	struct store_list pods = {0};
	if (old || deleted)
		return;
	struct arena *arena = arena_create();
	struct store_list_request request = {.api = store_api_find(store, "", "v1", "pods"),
	                                     .namespace_ = object->namespace_};
	if (store_list(store, &request, &pods, arena, NULL) == 0)
		for (size_t i = 0; i < pods.count; i++)
			if (val_path(pods.items[i]->root, "spec", "resourceClaims", NULL))
				reconciler_want(reconciler, KEY_POD, object->namespace_, pods.items[i]->name);
	store_list_clear(&pods);
	arena_destroy(arena);
}

static int reconcile(void *context, struct reconcile *turn)
{
	(void)context;
	struct devices_turn work = {.turn = turn, .store = turn->store, .build = build_create()};
	bool pod = turn->key.kind == KEY_POD;
	struct store_object *object = store_object_retain(
		pod ? find(turn->store, "", "pods", turn->key.namespace_, turn->key.name)
		    : find(turn->store, KINDS_RESOURCE, "resourceclaims", turn->key.namespace_, turn->key.name));
	if (object && pod)
		sync_pod(&work, object);
	else if (object)
		sync_claim(&work, object);
	store_object_release(object);
	build_destroy(work.build);
	return work.failed ? -1 : 0;
}

struct reconciler *devices_create(const struct devices_options *options)
{
	static const struct reconciler_watch watches[] = {
		{.group = "", .resource = "pods", .map = on_pod},
		{.group = KINDS_RESOURCE, .resource = "resourceclaims", .map = on_claim},
		{.group = KINDS_RESOURCE, .resource = "resourceclaimtemplates", .map = on_template},
	};
	return reconciler_create(&(struct reconciler_options){
		.name = "devices",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = sizeof(watches) / sizeof(*watches),
		.reconcile = reconcile,
		.context = options->store,
	});
}
