/* Rules at the door of the store. */
#include "serve/api/admission.h"

#include "admit/admit.h"
#include "admit/native.h"
#include "admit/podgroup.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"
#include "serve/api/defaults.h"
#include "serve/api/runtime_class.h"
#include "serve/api/schema_check.h"
#include "serve/api/structural.h"
#include "serve/api/validate.h"

#include <stdlib.h>
#include <string.h>

/* The objects that verdicts on others need: few, and read again only after one of them changed. */
static const enum kind_id context_kinds[] = {KIND_TOPOLOGY, KIND_QUEUE, KIND_CLUSTER_TOPOLOGY, KIND_POLICY};
#define CONTEXT_TYPES (sizeof(context_kinds) / sizeof(*context_kinds))

struct admission {
	struct store *store;
	struct store_watch *watches[CONTEXT_TYPES];
	struct manifests manifests;
	struct store_list lists[CONTEXT_TYPES];
	struct admit_index *index;
	bool stale, strict, as_kai, missed;
};

struct admission *admission_create(void)
{
	struct admission *admission = base_calloc(1, sizeof(*admission));
	manifests_init(&admission->manifests);
	admission->stale = true;

	return admission;
}

static void drop_lists(struct store_list *lists)
{
	for (size_t i = 0; i < CONTEXT_TYPES; i++) {
		for (size_t at = 0; admit_derivation(context_kinds[i]) && at < lists[i].count; at++)
			store_object_derived_drop(lists[i].items[at]);
		store_list_clear(&lists[i]);
	}
}

static void drop_index(struct admission *admission)
{
	admit_index_destroy(admission->index);
	admission->index = NULL;
	manifests_free(&admission->manifests);
}

static void on_change(void *context)
{
	((struct admission *)context)->stale = true;
}

void admission_be_strict(struct admission *admission)
{
	admission->strict = true;
}

void admission_judge_as_kai(struct admission *admission, bool as_kai)
{
	admission->as_kai = as_kai;
}

bool admission_missed(const struct admission *admission)
{
	return admission->missed;
}

static const struct store_api *find_context(const struct store *store, size_t number)
{
	const struct kind_row *row = kinds_of_id(context_kinds[number]);
	return store_api_find(store, row->group, row->versions[0], row->resource);
}

void admission_use(struct admission *admission, struct store *store)
{
	struct arena *arena = arena_create();
	admission->store = store;
	for (size_t i = 0; i < CONTEXT_TYPES; i++) {
		struct store_watch_request request = {
			.api = find_context(store, i),
			.wake = on_change,
			.context = admission,
		};
		if (request.api)
			admission->watches[i] = store_watch_open(store, &request, arena, NULL);
	}
	arena_destroy(arena);
}

void admission_destroy(struct admission *admission)
{
	if (!admission)
		return;
	for (size_t i = 0; i < CONTEXT_TYPES; i++)
		store_watch_close(admission->watches[i]);
	drop_index(admission);
	drop_lists(admission->lists);
	free(admission);
}

static enum kind_id id_of(const struct store_api *api)
{
	const struct kind_row *row = kinds_resource(api->group, api->type->resource);
	return row ? row->id : KIND_OTHER;
}

static bool is_context(enum kind_id id)
{
	for (size_t i = 0; i < CONTEXT_TYPES; i++)
		if (context_kinds[i] == id)
			return true;
	return false;
}

static void drain(struct store_watch *watch, struct arena *arena)
{
	struct store_event event;
	while (watch && store_watch_next(watch, &event, arena, NULL) == 1)
		;
}

static const struct decoded_rbg *find_group(void *context, const char *namespace_, const char *name)
{
	const struct admission *admission = context;
	const struct store_type *type = store_type_find(admission->store, KINDS_RBG, "rolebasedgroups");
	const struct store_object *object = type ? store_peek(admission->store, type, namespace_, name) : NULL;
	return object ? store_object_derived(object, admit_derivation(KIND_RBG)) : NULL;
}

/* What is decoded of it is held for as long as the list holds the object. */
static void add_context(struct admission *admission, enum kind_id kind, struct store_object *object,
                        struct problems *ignored)
{
	const struct derivation *derivation = admit_derivation(kind);
	const void *decoded = derivation ? store_object_derived_hold(object, derivation) : NULL;
	size_t before = admission->manifests.count;
	manifests_add(&admission->manifests, object->root, "", ignored);
	if (admission->manifests.count > before)
		admission->manifests.items[before].decoded = decoded;
}

static void refresh(struct admission *admission, struct arena *arena)
{
	struct problems ignored = {.arena = arena};
	struct store_list before[CONTEXT_TYPES];
	memcpy(before, admission->lists, sizeof(before));
	memset(admission->lists, 0, sizeof(admission->lists));
	drop_index(admission);
	manifests_init(&admission->manifests);
	for (size_t i = 0; i < CONTEXT_TYPES; i++) {
		struct store_list_request request = {
			.api = find_context(admission->store, i),
		};
		drain(admission->watches[i], arena);
		if (!request.api || store_list(admission->store, &request, &admission->lists[i], arena, NULL))
			continue;
		for (size_t at = 0; at < admission->lists[i].count; at++)
			add_context(admission, context_kinds[i], admission->lists[i].items[at], &ignored);
	}
	drop_lists(before); /* only now: what stays is not decoded again */
	admission->index = admit_index_create(&admission->manifests);
	admit_index_is_cluster(admission->index);
	admit_index_find_groups(admission->index, find_group, admission);
	admission->stale = false;
}

/* ---- verdicts ---- */

static int refuse(struct store_admission *request, struct store_error *error, const struct problems *problems)
{
	return store_fail_problems(request->arena, error, request->api->type->kind, request->api->group, request->name,
	                           problems);
}

static int check_types(struct store_admission *request, struct store_error *error)
{
	const char *api_version = val_str(val_get(request->object, "apiVersion"), "");
	struct problems problems = {.arena = request->arena};
	struct buffer text = {0};
	const struct store_api *api = NULL; /* that of the object as it is stored, not that of the request */
	for (size_t i = 0; !api && i < request->api->type->api_count; i++)
		if (strcmp(request->api->type->apis[i].api_version, api_version) == 0)
			api = &request->api->type->apis[i];
	const struct schema_type *type = api ? kinds_schema(api->group, api->version, api->type->kind) : NULL;
	if (!type)
		return 0;
	schema_types(type, request->object, &problems);
	if (problems.errors == 0)
		return 0;
	for (size_t i = 0; i < problems.count; i++)
		buffer_printf(&text, "%s%s: %s", i ? ", " : "", problems.items[i].path, problems.items[i].message);
	store_fail(request->arena, error, 400, "BadRequest", "%s in version \"%s\" cannot be handled as a %s: %s",
	           request->api->type->kind, request->api->version, request->api->type->kind, text.text);
	buffer_free(&text);
	return -1;
}

static int check_structure(struct store_admission *request, struct store_error *error)
{
	struct problems problems = {.arena = request->arena};
	request->replacement = structural_shape(request->api->schema, request->object);
	const struct val *object = request->replacement ? doc_root(request->replacement) : request->object;
	structural_validate(request->api->schema, object, &problems);
	return problems.errors ? refuse(request, error, &problems) : 0;
}

static void hand_on_warnings(struct store_admission *request, const struct problems *problems)
{
	for (size_t i = 0; request->warnings && i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		if (problem->severity == SEVERITY_WARNING)
			problem_add(request->warnings, SEVERITY_WARNING, problem->path, NULL, "%s%s%s",
			            problem->message, problem->fix ? "; " : "", problem->fix ? problem->fix : "");
	}
}

/* Kinds whose verdict depends on the objects of the context. */
static bool needs_context(enum kind_id id)
{
	return is_context(id) || id == KIND_POD_GROUP || id == KIND_RBG || id == KIND_RBG_SET;
}

static bool same_levels(const struct val *left, const struct val *right)
{
	struct val_iter a = val_iter(val_path(left, "spec", "levels", NULL)),
			b = val_iter(val_path(right, "spec", "levels", NULL));
	const struct val *one, *other;
	for (;;) {
		bool has_one = val_next(&a, NULL, &one), has_other = val_next(&b, NULL, &other);
		if (!has_one || !has_other)
			return has_one == has_other;
		if (!val_equal(val_get(one, "nodeLabel"), val_get(other, "nodeLabel")))
			return false;
	}
}

/* Groups were admitted by what a topology says: it stays as it is, as the definitions have it too. */
static void check_immutable(const struct store_admission *request, const struct val *object, struct problems *problems)
{
	const char *kind = request->api->type->kind;
	if (!request->old)
		return;
	const struct val *old = request->old->root;
	enum kind_id id = id_of(request->api);
	if (id == KIND_NATIVE_GROUP || id == KIND_NATIVE_COMPOSITE)
		native_judge_change(object, old, problems);
	if (strcmp(kind, "ClusterTopology") == 0 && !val_equal(val_get(request->object, "spec"), val_get(old, "spec")))
		problem_add(problems, SEVERITY_ERROR, "spec", "create another ClusterTopology and refer to that",
		            "the spec of a ClusterTopology cannot be changed");
	if (strcmp(kind, "Topology") == 0 && !same_levels(request->object, old))
		problem_add(problems, SEVERITY_ERROR, "spec.levels", "create another Topology and refer to that",
		            "the node labels of a Topology cannot be changed, only aliases");
}

static bool speaks_cel(const struct val *schema)
{
	const char *key;
	const struct val *item;
	if (val_kind(schema) == VAL_MAP && val_count(val_get(schema, "x-kubernetes-validations")) > 0)
		return true;
	for (struct val_iter it = val_iter(schema); val_next(&it, &key, &item);)
		if ((val_kind(item) == VAL_MAP || val_kind(item) == VAL_LIST) && speaks_cel(item))
			return true;
	return false;
}

static bool is_definition(const struct store_api *api)
{
	return strcmp(api->group, KINDS_DEFINITIONS) == 0 && strcmp(api->type->kind, "CustomResourceDefinition") == 0;
}

/* What the author of a new object would otherwise find out late. */
static void warn_once(struct store_admission *request)
{
	const char *idle = request->old ? NULL : validate_idle(request->api->group, request->api->type->kind);
	if (!request->warnings)
		return;
	if (idle)
		problem_add(request->warnings, SEVERITY_WARNING, "", NULL, "%s: %s", request->api->type->kind, idle);
	if (is_definition(request->api) && speaks_cel(val_path(request->object, "spec", "versions", NULL)))
		problem_add(
			request->warnings, SEVERITY_WARNING, "", NULL,
			"the rules in CEL (x-kubernetes-validations) of this definition are not evaluated here; the "
			"rest of its schema is");
}

/* The rules of the API server for its own kinds, and then those of Platoon. */
static void judge(const struct admission *admission, struct store_admission *request, const struct manifest *manifest,
                  struct problems *problems)
{
	if (!admission->strict)
		return;
	validate_object(request->api->group, request->api->type->kind, manifest->object,
	                request->old ? request->old->root : NULL, problems);
	warn_once(request);
}

static bool is_new_job(const struct store_admission *request)
{
	return !request->old && strcmp(request->api->group, KINDS_BATCH) == 0 &&
	       strcmp(request->api->type->kind, "Job") == 0;
}

static struct manifest manifest_of(const struct store_admission *request, const struct val *object)
{
	return (struct manifest){
		.object = object,
		.source = "",
		.api_version = request->api->api_version,
		.kind = request->api->type->kind,
		.name = *request->name ? request->name : "generated",
		.namespace_ = request->namespace_,
	};
}

/* The last word: hands on what was found, and refuses when there are errors. */
static int conclude(struct admission *admission, struct store_admission *request, const struct problems *problems,
                    struct store_error *error)
{
	hand_on_warnings(request, problems);
	for (size_t i = 0; i < problems->count; i++)
		admission->missed |=
			problems->items[i].severity == SEVERITY_ERROR && problems->items[i].cause == PROBLEM_NOT_FOUND;
	return problems->errors ? refuse(request, error, problems) : 0;
}

/* Decodes what is stored: controllers, the scheduler and the dashboard read what was decoded here. */
static int examine(void *context, struct store_admission *request, struct store_object *object,
                   struct store_error *error)
{
	struct admission *admission = context;
	enum kind_id id = id_of(request->api);
	struct manifest manifest = manifest_of(request, object->root);
	struct problems problems = {.arena = request->arena};
	manifest.decoded = store_object_derived(object, admit_derivation(id));
	admit_object(&manifest, needs_context(id) ? admission->index : NULL, &problems);
	return conclude(admission, request, &problems, error);
}

static int check_rules(struct admission *admission, struct store_admission *request, struct store_error *error)
{
	struct problems problems = {.arena = request->arena};
	request->replacement = defaults_fill(request->api->group, request->api->type->kind, request->object);
	struct manifest manifest =
		manifest_of(request, request->replacement ? doc_root(request->replacement) : request->object);
	enum kind_id id = id_of(request->api);
	struct doc *filled = NULL;
	if (admission->strict && is_new_job(request))
		filled = defaults_job(manifest.object);
	else if (admission->strict && id == KIND_POD && !request->old && admission->store)
		filled = runtime_class_fill(admission->store, manifest.object, request->arena, &problems);
	if (filled) {
		doc_destroy(request->replacement);
		request->replacement = filled;
		manifest.object = doc_root(filled);
	}
	judge(admission, request, &manifest, &problems);
	if (!admit_knows(&manifest))
		return problems.errors ? refuse(request, error, &problems) : 0;
	bool needs = needs_context(id);
	if (needs && admission->stale && admission->store)
		refresh(admission, request->arena);
	/* All that is wrong is told at once: what will be refused is decoded here. */
	if (admit_derivation(id) && request->examines && !problems.errors) {
		request->examine = examine;
		request->examine_context = admission;
	} else {
		admit_object(&manifest, needs ? admission->index : NULL, &problems);
	}
	if (admission->as_kai)
		podgroup_judge_as_kai(&problems, !request->old);
	check_immutable(request, manifest.object, &problems);
	/* Written in this turn and not seen by the watches yet. */
	admission->stale = admission->stale || is_context(id);
	return conclude(admission, request, &problems, error);
}

int admission_check(void *context, struct store_admission *request, struct store_error *error)
{
	((struct admission *)context)->missed = false;
	if (request->api->schema)
		return check_structure(request, error);
	if (check_types(request, error))
		return -1;
	return request->status ? 0 : check_rules(context, request, error);
}
