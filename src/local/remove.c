/* Deletes: preconditions, finalizers, grace of pods, propagation to dependents. */
#include "local/draft.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_GRACE 30

/* ---- options ---- */

static int read_propagation(const char *text, enum store_propagation *propagation)
{
	static const char *const names[] = {"", "Background", "Foreground", "Orphan"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*propagation = (enum store_propagation)i;
			return 0;
		}
	}
	return -1;
}

int store_delete_read(const struct val *body, struct arena *arena, struct store_delete *options, bool *dry_run,
                      struct store_error *error)
{
	if (val_kind(body) == VAL_NULL)
		return 0;
	const char *kind = val_str(val_get(body, "kind"), "DeleteOptions");
	if (val_kind(body) != VAL_MAP || strcmp(kind, "DeleteOptions") != 0)
		return store_fail(arena, error, 400, "BadRequest", "the body of a delete must be DeleteOptions");
	const struct val *grace = val_get(body, "gracePeriodSeconds");
	if (val_kind(grace) != VAL_NULL) {
		options->has_grace = true;
		if (val_int(grace, &options->grace) < 0)
			return store_fail(arena, error, 400, "BadRequest", "gracePeriodSeconds must be a whole number");
	}
	const char *policy = val_str(val_get(body, "propagationPolicy"), "");
	if (read_propagation(policy, &options->propagation) < 0)
		return store_fail(arena, error, 422, "Invalid",
		                  "propagationPolicy \"%s\" must be Background, Foreground or Orphan", policy);
	if (val_bool(val_get(body, "orphanDependents"), false))
		options->propagation = STORE_ORPHAN;
	const struct val *preconditions = val_get(body, "preconditions");
	options->uid = arena_strdup(arena, val_str(val_get(preconditions, "uid"), NULL));
	options->version = arena_strdup(arena, val_str(val_get(preconditions, "resourceVersion"), NULL));
	if (val_count(val_get(body, "dryRun")))
		*dry_run = true;
	return 0;
}

/* ---- carrying out ---- */

static bool has_finalizer(const struct val *list, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (strcmp(val_str(item, ""), name) == 0)
			return true;
	return false;
}

/* The finalizers that the wanted propagation leaves on the object. */
static struct tree *propagate(struct arena *arena, const struct val *finalizers, enum store_propagation propagation)
{
	struct tree *list = tree_list(arena);
	const struct val *item;
	for (struct val_iter it = val_iter(finalizers); val_next(&it, NULL, &item);) {
		const char *name = val_str(item, "");
		bool ours = strcmp(name, FOREGROUND) == 0 || strcmp(name, ORPHAN) == 0;
		if (!ours || propagation == STORE_PROPAGATE_DEFAULT)
			tree_append(arena, list, tree_of(arena, item));
	}
	if (propagation == STORE_FOREGROUND)
		tree_append(arena, list, tree_string(arena, FOREGROUND));
	if (propagation == STORE_ORPHAN)
		tree_append(arena, list, tree_string(arena, ORPHAN));
	return list;
}

/* Seconds a pod gets to end by itself. One that runs nowhere or has ended needs none. */
static int64_t grace_of(const struct store_object *object, const struct store_delete *options)
{
	if (!object->type->graceful)
		return 0;
	const struct val *spec = val_get(object->root, "spec");
	const char *phase = val_str(val_path(object->root, "status", "phase", NULL), "");
	if (!*val_str(val_get(spec, "nodeName"), "") || strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
		return 0;
	int64_t grace = DEFAULT_GRACE;
	val_int(val_get(spec, "terminationGracePeriodSeconds"), &grace);
	if (options->has_grace)
		grace = options->grace;
	return grace < 0 ? 1 : grace;
}

static void put_deletion(struct store *store, struct arena *arena, struct tree *root, struct store_object *object,
                         int64_t grace)
{
	struct tree *metadata = tree_get(arena, root, "metadata");
	const struct val *old = val_get(object->root, "metadata");
	int64_t when = clock_seconds(store->clock), before = 0, generation;
	if (clock_parse_rfc3339(val_str(val_get(old, "deletionTimestamp"), ""), &when) == 0 &&
	    val_int(val_get(old, "deletionGracePeriodSeconds"), &before) == 0)
		when -= before; /* when the first delete came */
	else if (val_int(val_get(old, "generation"), &generation) == 0)
		tree_put(arena, metadata, "generation", tree_int(arena, generation + 1));
	char text[32];
	clock_print_rfc3339(when + grace, text);
	tree_put_string(arena, metadata, "deletionTimestamp", text);
	tree_put(arena, metadata, "deletionGracePeriodSeconds", tree_int(arena, grace));
	if (bucket_of(object->type) == store->namespaces)
		tree_put_string(arena, tree_need_map(arena, root, "status"), "phase", "Terminating");
}

/* Already on its way out at least as fast as asked for. */
static bool changes_nothing(const struct store_object *object, const struct tree *finalizers, int64_t grace)
{
	const struct val *metadata = val_get(object->root, "metadata");
	int64_t before = 0;
	val_int(val_get(metadata, "deletionGracePeriodSeconds"), &before);
	if (!val_get(metadata, "deletionTimestamp"))
		return false;
	return before <= grace && tree_count(finalizers) == val_count(val_get(metadata, "finalizers"));
}

int remove_object(struct store *store, struct store_object *object, const struct store_delete *options, bool dry_run,
                  struct store_object **left, struct arena *arena, struct store_error *error)
{
	const struct val *metadata = val_get(object->root, "metadata");
	struct tree *finalizers = propagate(arena, val_get(metadata, "finalizers"), options->propagation);
	int64_t grace = grace_of(object, options);
	bool is_namespace = bucket_of(object->type) == store->namespaces;
	bool held = tree_count(finalizers) ||
	            (is_namespace && val_count(val_path(object->root, "spec", "finalizers", NULL)));
	*left = store_object_retain(object);
	if (grace == 0 && !held) {
		if (!dry_run)
			change_remove(store, object);
		return 0;
	}
	if (changes_nothing(object, finalizers, grace))
		return 0;
	struct tree *root = tree_of(arena, object->root);
	struct tree *head = tree_get(arena, root, "metadata");
	if (tree_count(finalizers))
		tree_put(arena, head, "finalizers", finalizers);
	else
		tree_remove(arena, head, "finalizers");
	put_deletion(store, arena, root, object, grace);
	struct bucket *bucket = bucket_of(object->type);
	struct store_object *now;
	if (dry_run)
		now = object_from_tree(object->type, root, NULL);
	else if ((now = change_make(store, bucket, root, arena, error)))
		change_put(store, bucket, object, store_object_retain(now));
	store_object_release(*left);
	*left = now;
	return now ? 0 : -1;
}

/* ---- requests ---- */

static int check_preconditions(struct draft *draft)
{
	const struct store_delete *options = &draft->request->options;
	if (options->uid && *options->uid && strcmp(options->uid, draft->old->uid) != 0)
		return draft_refuse_conflict(
			draft, arena_printf(draft->arena,
		                            "Precondition failed: UID in precondition: %s, UID in object meta: %s",
		                            options->uid, draft->old->uid));
	const char *version = val_str(val_path(draft->old->root, "metadata", "resourceVersion", NULL), "");
	if (options->version && *options->version && strcmp(options->version, version) != 0)
		return draft_refuse_conflict(
			draft,
			arena_printf(draft->arena,
		                     "Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in "
		                     "object meta: %s",
		                     options->version, version));
	return 0;
}

static bool is_protected(const struct draft *draft)
{
	static const char *const names[] = {"default", "kube-system", "kube-public"};
	if (draft->bucket != draft->store->namespaces)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(draft->name, names[i]) == 0)
			return true;
	return false;
}

int write_delete(struct store *store, const struct store_request *request, struct store_result *result)
{
	struct draft draft;
	draft_begin(&draft, store, request, result);
	int status = -1;
	struct store_object *left = NULL;
	if (request->subresource != STORE_MAIN)
		draft_refuse(&draft, 405, "MethodNotAllowed",
		             "the server does not allow this method on the requested resource");
	else if (is_protected(&draft))
		draft_refuse(&draft, 403, "Forbidden",
		             "namespaces \"%s\" is forbidden: this namespace may not be deleted", draft.name);
	else if (draft_find(&draft) == 0 && check_preconditions(&draft) == 0)
		status = remove_object(store, draft.old, &request->options, request->dry_run, &left, draft.arena,
		                       &result->error);
	if (status == 0) {
		result->code = 200;
		result->uid = arena_strdup(draft.arena, draft.old->uid);
		/* Gone for good: a Status says so. Otherwise the client wants to see what the object waits for. */
		if (left != draft.old || draft.bucket->type.graceful ||
		    val_path(left->root, "metadata", "deletionTimestamp", NULL))
			result->object = store_object_retain(left);
	}
	store_object_release(left);
	draft_end(&draft);
	return status;
}

int write_delete_collection(struct store *store, const struct store_request *request, struct store_result *result)
{
	struct store_list_request query = {
		.api = request->api,
		.namespace_ = request->namespace_,
		.selector = request->selector,
	};
	struct store_list list = {0};
	if (store_list(store, &query, &list, result->arena, &result->error) < 0)
		return -1;
	result->items = list.count ? base_calloc(list.count, sizeof(struct store_object *)) : NULL;
	int status = 0;
	for (size_t i = 0; i < list.count && status == 0; i++) {
		struct store_object *left = NULL;
		status = remove_object(store, list.items[i], &request->options, request->dry_run, &left, result->arena,
		                       &result->error);
		if (left)
			result->items[result->item_count++] = left;
	}
	result->code = 200;
	store_list_clear(&list);
	return status;
}

/* Kept with the deletes because it is the other half of finalizers. */
bool object_has_finalizer(const struct store_object *object, const char *name)
{
	return has_finalizer(val_path(object->root, "metadata", "finalizers", NULL), name);
}
