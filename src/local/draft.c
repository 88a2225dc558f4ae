/* Owns creates and updates from the request to the stored object. Patches and subresources end here too. */
#include "local/draft.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- refusals ---- */

const char *draft_qualified(struct arena *arena, const struct store_type *type)
{
	return *type->group ? arena_printf(arena, "%s.%s", type->resource, type->group) : type->resource;
}

static int with_details(struct draft *draft)
{
	struct store_error *error = &draft->result->error;
	error->name = arena_strdup(draft->arena, draft->name);
	error->group = draft->bucket->type.group;
	error->kind = draft->bucket->type.resource;
	return -1;
}

int draft_refuse(struct draft *draft, int code, const char *reason, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	store_fail(draft->arena, &draft->result->error, code, reason, "%s", arena_vprintf(draft->arena, format, args));
	va_end(args);
	return with_details(draft);
}

int draft_refuse_not_found(struct draft *draft)
{
	return draft_refuse(draft, 404, "NotFound", "%s \"%s\" not found",
	                    draft_qualified(draft->arena, &draft->bucket->type), draft->name);
}

int draft_refuse_conflict(struct draft *draft, const char *what)
{
	return draft_refuse(draft, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
	                    draft_qualified(draft->arena, &draft->bucket->type), draft->name, what);
}

int draft_refuse_problems(struct draft *draft, const struct problems *problems)
{
	const char *name = *draft->name ? draft->name
	                                : tree_str(tree_path(draft->arena, draft->root, "metadata", "name", NULL), "");
	return store_fail_problems(draft->arena, &draft->result->error, draft->bucket->type.kind,
	                           draft->bucket->type.group, name, problems);
}

/* ---- drafts ---- */

void draft_begin(struct draft *draft, struct store *store, const struct store_request *request,
                 struct store_result *result)
{
	*draft = (struct draft){
		.store = store,
		.request = request,
		.result = result,
		.arena = result->arena,
		.api = request->api,
		.bucket = bucket_of(request->api->type),
		.namespace_ = request->namespace_ && request->api->type->namespaced ? request->namespace_ : "",
		.name = request->name ? request->name : "",
	};
}

void draft_end(struct draft *draft)
{
	store_object_release(draft->old);
	for (size_t i = 0; i < draft->docs.count; i++)
		doc_destroy(draft->docs.items[i]);
	vec_free(&draft->docs);
}

int draft_find(struct draft *draft)
{
	draft->old = store_object_retain(index_find(&draft->bucket->index, draft->namespace_, draft->name));
	return draft->old ? 0 : draft_refuse_not_found(draft);
}

/* Admission may fill in and change much, but not who the object is. */
static void take_replacement(struct draft *draft, const struct val *object, const struct val *replacement)
{
	static const char *const identity[] = {"name",          "namespace",         "uid",
	                                       "generation",    "creationTimestamp", "deletionTimestamp",
	                                       "managedFields", "resourceVersion",   "deletionGracePeriodSeconds"};
	draft->root = tree_of(draft->arena, replacement);
	struct tree *metadata = tree_need_map(draft->arena, draft->root, "metadata");
	for (size_t i = 0; i < sizeof(identity) / sizeof(identity[0]); i++) {
		const struct val *value = val_path(object, "metadata", identity[i], NULL);
		if (value)
			tree_put(draft->arena, metadata, identity[i], tree_of(draft->arena, value));
		else
			tree_remove(draft->arena, metadata, identity[i]);
	}
	tree_put(draft->arena, draft->root, "apiVersion", tree_of(draft->arena, val_get(object, "apiVersion")));
	tree_put(draft->arena, draft->root, "kind", tree_of(draft->arena, val_get(object, "kind")));
}

/* What was refused without a word of the layer above gets one. */
static int check_verdict(struct draft *draft, int status)
{
	if (status == 0)
		return 0;
	return draft->result->error.code ? -1 : draft_refuse(draft, 403, "Forbidden", "the object was refused");
}

static void hand_on_warnings(struct draft *draft)
{
	const struct problems *warnings = &draft->warnings;
	draft->result->warnings = arena_array(draft->arena, const char *, warnings->count);
	draft->result->warning_count = warnings->count;
	for (size_t i = 0; i < warnings->count; i++) {
		const struct problem *warning = &warnings->items[i];
		draft->result->warnings[i] =
			*warning->path ? arena_printf(draft->arena, "%s: %s", warning->path, warning->message)
				       : warning->message;
	}
}

/* Asks the layer above, and takes what it made of the object. */
static int admit(struct draft *draft)
{
	struct store *store = draft->store;
	if (!store->options.admit || draft->internal)
		return 0;
	struct doc *doc = tree_finish(draft->root);
	if (!doc)
		return draft_refuse(draft, 413, "RequestEntityTooLarge", "the object is nested deeper than %d levels",
		                    DOC_MAX_DEPTH);
	vec_push(&draft->docs, doc);
	struct store_admission *admission = &draft->admission;
	draft->warnings = (struct problems){.arena = draft->arena};
	*admission = (struct store_admission){
		.api = draft->api,
		.object = doc_root(doc),
		.old = draft->old,
		.namespace_ = draft->namespace_,
		.name = draft->name,
		.status = draft->old && draft->request->subresource == STORE_STATUS,
		.dry_run = draft->request->dry_run,
		.actor = draft->request->actor ? draft->request->actor : "",
		.arena = draft->arena,
		.examines = true,
		.warnings = &draft->warnings,
	};
	int status = store->options.admit(store->options.context, admission, &draft->result->error);
	if (admission->replacement)
		vec_push(&draft->docs, admission->replacement);
	if (check_verdict(draft, status) < 0)
		return -1;
	if (admission->replacement)
		take_replacement(draft, doc_root(doc), doc_root(admission->replacement));
	hand_on_warnings(draft);
	return 0;
}

/* Asks the layer above once more, about what will be stored. */
static int examine(struct draft *draft, struct store_object *object)
{
	struct store_admission *admission = &draft->admission;
	if (!admission->examine)
		return 0;
	if (check_verdict(draft,
	                  admission->examine(admission->examine_context, admission, object, &draft->result->error)) < 0)
		return -1;
	hand_on_warnings(draft);
	return 0;
}

/* The object as it would be stored, for dry runs. */
static int answer_loose(struct draft *draft, int code)
{
	draft->result->object = object_from_tree(&draft->bucket->type, draft->root, NULL);
	if (!draft->result->object)
		return draft_refuse(draft, 413, "RequestEntityTooLarge", "the object is nested deeper than %d levels",
		                    DOC_MAX_DEPTH);
	if (examine(draft, draft->result->object) < 0) {
		store_object_release(draft->result->object);
		draft->result->object = NULL;
		return -1;
	}
	draft->result->code = code;
	return 0;
}

static int answer_stored(struct draft *draft, int code)
{
	if (draft->request->dry_run)
		return answer_loose(draft, code);
	struct store_object *object =
		change_make(draft->store, draft->bucket, draft->root, draft->arena, &draft->result->error);
	if (!object)
		return with_details(draft);
	if (examine(draft, object) < 0) {
		store_object_release(object);
		return -1;
	}
	change_put(draft->store, draft->bucket, draft->old, object);
	draft->result->object = store_object_retain(object);
	draft->result->code = code;
	return 0;
}

/* Where versions differ in form one of them is stored: events are kept as core events whoever writes them. */
static void take_stored_form(struct draft *draft)
{
	const struct kind_row *builtin = draft->bucket->builtin;
	if (strcmp(draft->api->group, draft->bucket->type.group) != 0 || (builtin && builtin->convert))
		kinds_convert(draft->arena, draft->root, draft->bucket->type.apis[0].api_version);
}

/* ---- creates ---- */

static int check_namespace(struct draft *draft)
{
	if (!draft->bucket->type.namespaced)
		return 0;
	if (!*draft->namespace_)
		return draft_refuse(draft, 400, "BadRequest", "an empty namespace may not be set during creation");
	struct store_object *space = index_find(&draft->store->namespaces->index, "", draft->namespace_);
	if (!space) {
		draft_refuse(draft, 404, "NotFound", "namespaces \"%s\" not found", draft->namespace_);
		draft->result->error.name = arena_strdup(draft->arena, draft->namespace_);
		draft->result->error.group = "";
		draft->result->error.kind = "namespaces";
		return -1;
	}
	if (val_path(space->root, "metadata", "deletionTimestamp", NULL)) {
		struct store_cause *cause = arena_new(draft->arena, struct store_cause);
		*cause = (struct store_cause){
			.reason = "NamespaceTerminating",
			.message = arena_printf(draft->arena, "namespace %s is being terminated", draft->namespace_),
			.field = "metadata.namespace",
		};
		draft_refuse(draft, 403, "Forbidden",
		             "%s \"%s\" is forbidden: unable to create new content in namespace %s because it is being "
		             "terminated",
		             draft_qualified(draft->arena, &draft->bucket->type), draft->name, draft->namespace_);
		draft->result->error.causes = cause;
		draft->result->error.cause_count = 1;
		return -1;
	}
	return 0;
}

static void begin_status(struct draft *draft)
{
	const struct kind_row *builtin = draft->bucket->builtin;
	if (!draft->api->has_status || (builtin && builtin->flags & ROW_KEEPS_STATUS))
		return;
	tree_remove(draft->arena, draft->root, "status");
	if (builtin && builtin->status) {
		struct doc *doc = doc_parse_json(builtin->status, strlen(builtin->status), NULL);
		vec_push(&draft->docs, doc);
		tree_put(draft->arena, draft->root, "status", tree_of(draft->arena, doc_root(doc)));
	}
}

/* A namespace carries its name as a label and a finalizer of its own, for the garbage collection that empties it. */
static void begin_namespace(struct draft *draft)
{
	struct tree *labels = tree_need_map(draft->arena, tree_get(draft->arena, draft->root, "metadata"), "labels");
	tree_put_string(draft->arena, labels, "kubernetes.io/metadata.name", draft->name);
	struct tree *finalizers = tree_list(draft->arena);
	tree_append(draft->arena, finalizers, tree_string(draft->arena, "kubernetes"));
	tree_put(draft->arena, tree_need_map(draft->arena, draft->root, "spec"), "finalizers", finalizers);
}

int draft_create(struct draft *draft)
{
	if (metadata_identify(draft) < 0 || metadata_check(draft) < 0)
		return -1;
	if (!draft->request->name)
		draft->name = tree_str(tree_path(draft->arena, draft->root, "metadata", "name", NULL), "");
	if (check_namespace(draft) < 0 || metadata_begin(draft) < 0)
		return -1;
	begin_status(draft);
	if (draft->bucket == draft->store->namespaces)
		begin_namespace(draft);
	if (draft->bucket == draft->store->definitions && definition_begin(draft) < 0)
		return -1;
	take_stored_form(draft);
	return admit(draft) < 0 ? -1 : answer_stored(draft, 201);
}

/* ---- updates ---- */

/* Whether anything but metadata and status differs. */
static bool spec_changed(struct draft *draft)
{
	const char *key;
	size_t at = 0;
	size_t seen = 0;
	for (struct tree *item; (item = tree_walk(draft->arena, draft->root, &at, &key));) {
		if (strcmp(key, "metadata") == 0 || strcmp(key, "status") == 0 || strcmp(key, "apiVersion") == 0 ||
		    strcmp(key, "kind") == 0)
			continue;
		seen++;
		if (!tree_equal(draft->arena, item, val_get(draft->old->root, key)))
			return true;
	}
	size_t before = 0;
	for (struct val_iter it = val_iter(draft->old->root); val_next(&it, &key, NULL);)
		before += strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0 &&
		          strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0;
	return before != seen;
}

static void put_or_remove(struct draft *draft, const char *key, const struct val *value)
{
	if (value)
		tree_put(draft->arena, draft->root, key, tree_of(draft->arena, value));
	else
		tree_remove(draft->arena, draft->root, key);
}

/* The main resource leaves status alone, the status subresource leaves all else. */
static void separate_status(struct draft *draft)
{
	if (!draft->api->has_status)
		return;
	if (draft->request->subresource != STORE_STATUS) {
		if (!draft->internal)
			put_or_remove(draft, "status", val_get(draft->old->root, "status"));
		const struct val *finalizers = val_path(draft->old->root, "spec", "finalizers", NULL);
		if (draft->bucket == draft->store->namespaces && finalizers) /* those have a subresource of their own */
			tree_put(draft->arena, tree_need_map(draft->arena, draft->root, "spec"), "finalizers",
			         tree_of(draft->arena, finalizers));
		return;
	}
	struct tree *status = tree_get(draft->arena, draft->root, "status");
	struct tree *managed = tree_path(draft->arena, draft->root, "metadata", "managedFields", NULL);
	draft->root = tree_of(draft->arena, draft->old->root);
	if (status)
		tree_put(draft->arena, draft->root, "status", status);
	else
		tree_remove(draft->arena, draft->root, "status");
	if (managed && draft->applied)
		tree_put(draft->arena, tree_get(draft->arena, draft->root, "metadata"), "managedFields", managed);
}

static bool is_leaving(struct draft *draft)
{
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	return tree_get(draft->arena, metadata, "deletionTimestamp");
}

/* No new finalizers on an object that is being deleted. */
static int check_finalizers(struct draft *draft)
{
	if (!is_leaving(draft) || draft->internal)
		return 0;
	struct tree *after = tree_path(draft->arena, draft->root, "metadata", "finalizers", NULL);
	const struct val *before = val_path(draft->old->root, "metadata", "finalizers", NULL);
	size_t at = 0;
	for (struct tree *item; (item = tree_walk(draft->arena, after, &at, NULL));) {
		const struct val *old;
		bool found = false;
		for (struct val_iter it = val_iter(before); !found && val_next(&it, NULL, &old);)
			found = strcmp(val_str(old, ""), tree_str(item, "")) == 0;
		if (!found) {
			struct problems problems = {.arena = draft->arena};
			problem_add(&problems, SEVERITY_ERROR, "metadata.finalizers", NULL,
			            "no new finalizers can be added if the object is being deleted, found new "
			            "finalizer \"%s\"",
			            tree_str(item, ""));
			return draft_refuse_problems(draft, &problems);
		}
	}
	return 0;
}

/* Deletion was only waiting for finalizers, and the last one has gone. */
static bool is_free_to_go(struct draft *draft)
{
	if (!is_leaving(draft))
		return false;
	struct tree *metadata = tree_get(draft->arena, draft->root, "metadata");
	struct tree *grace = tree_get(draft->arena, metadata, "deletionGracePeriodSeconds");
	const char *seconds = tree_scalar(draft->arena, grace);
	bool waits_for_kubelet = draft->bucket->type.graceful && seconds && strcmp(seconds, "0") != 0;
	if (tree_count(tree_get(draft->arena, metadata, "finalizers")) || waits_for_kubelet)
		return false;
	return draft->bucket != draft->store->namespaces ||
	       !tree_count(tree_path(draft->arena, draft->root, "spec", "finalizers", NULL));
}

static void bump_generation(struct draft *draft)
{
	int64_t generation = 0;
	val_int(val_path(draft->old->root, "metadata", "generation", NULL), &generation);
	tree_put(draft->arena, tree_get(draft->arena, draft->root, "metadata"), "generation",
	         tree_int(draft->arena, generation + 1));
}

/* What the spec looks like decides which version the object is kept in, and counts as a new generation. */
static bool settle_version(struct draft *draft)
{
	bool changed = spec_changed(draft);
	if (!changed)
		tree_put(draft->arena, draft->root, "apiVersion",
		         tree_of(draft->arena, val_get(draft->old->root, "apiVersion")));
	return changed;
}

static bool changes_nothing(struct draft *draft)
{
	if (!tree_equal(draft->arena, draft->root, draft->old->root))
		return false;
	draft->result->object = store_object_retain(draft->old);
	draft->result->code = 200;
	return true;
}

int draft_settle(struct draft *draft)
{
	take_stored_form(draft);
	settle_version(draft);
	if (changes_nothing(draft))
		return 0;
	/* Admission may fill in what the writer left out: only then it shows whether anything is new. */
	if (admit(draft) < 0)
		return -1;
	if (settle_version(draft) && draft->api->has_status)
		bump_generation(draft);
	if (!draft->applied)
		apply_track(draft);
	if (check_finalizers(draft) < 0)
		return -1;
	if (changes_nothing(draft))
		return 0;
	if (!is_free_to_go(draft))
		return answer_stored(draft, 200);
	if (answer_loose(draft, 200) < 0)
		return -1;
	if (!draft->request->dry_run)
		change_remove(draft->store, draft->old);
	return 0;
}

int draft_update(struct draft *draft)
{
	if (metadata_identify(draft) < 0 || metadata_carry(draft) < 0 || metadata_check(draft) < 0)
		return -1;
	separate_status(draft);
	if (draft->bucket == draft->store->definitions && definition_carry(draft) < 0)
		return -1;
	return draft_settle(draft);
}

int write_internal(struct store *store, struct arena *arena, struct store_object *old, struct tree *root,
                   struct store_error *error)
{
	/* The type of an object may be gone, its finalizers still count. */
	struct store_api bare = {.type = old->type, .group = old->type->group, .version = "", .api_version = ""};
	const struct store_api *api = old->type->api_count ? old->type->apis : &bare;
	struct store_request request = {.verb = STORE_UPDATE, .api = api, .name = old->name};
	struct store_result result = {.arena = arena};
	struct draft draft;
	draft_begin(&draft, store, &request, &result);
	draft.internal = true;
	draft.applied = true; /* our own fields are nobody's */
	draft.namespace_ = old->namespace_;
	draft.old = store_object_retain(old);
	draft.root = root;
	int status = draft_settle(&draft);
	if (status < 0 && error)
		*error = result.error;
	store_object_release(result.object);
	draft_end(&draft);
	return status;
}
