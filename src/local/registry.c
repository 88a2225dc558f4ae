/* Types of the store: the built-in table and what CustomResourceDefinitions add at run time. */
#include "local/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const none[] = {NULL};
static const char *const all[] = {"all", NULL};

bool registry_is_definition(const struct store *store, const struct bucket *bucket)
{
	return bucket == store->definitions;
}

static struct bucket *find_bucket(const struct store *store, const char *group, const char *resource)
{
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		if (strcmp(bucket->type.resource, resource) == 0 && strcmp(bucket->type.group, group) == 0)
			return bucket;
	}
	return NULL;
}

struct bucket *registry_bucket(struct store *store, const char *group, const char *resource)
{
	struct bucket *bucket = find_bucket(store, group, resource);
	if (bucket)
		return bucket;
	struct arena *arena = arena_create();
	vec_push(&store->retired, arena); /* freed with the store */
	bucket = base_calloc(1, sizeof(*bucket));
	bucket->type = (struct store_type){
		.group = arena_strdup(arena, group),
		.resource = arena_strdup(arena, resource),
		.singular = "",
		.kind = "",
		.list_kind = "",
		.short_names = none,
		.categories = none,
		.namespaced = true,
		.custom = true,
	};
	vec_push(&store->buckets, bucket);
	return bucket;
}

/* Versions in the order that clients should try them: stable, beta, alpha, and newer before older. */
static int by_version(const char *a, const char *b)
{
	int a_rank = strstr(a, "alpha") ? 2 : strstr(a, "beta") ? 1 : 0;
	int b_rank = strstr(b, "alpha") ? 2 : strstr(b, "beta") ? 1 : 0;
	return a_rank != b_rank ? a_rank - b_rank : -strverscmp(a, b);
}

/* Clients take the first of several groups that have a resource of a name: Platoon's podgroups before those of Kubernetes. */
static const char *order_of(const struct store_api *api)
{
	return strcmp(api->group, KINDS_SCHEDULING_K8S) == 0 ? KINDS_SCHEDULING "~" : api->group;
}

static int by_discovery_order(const void *left, const void *right)
{
	const struct store_api *a = *(const struct store_api *const *)left,
			       *b = *(const struct store_api *const *)right;
	int order = strcmp(order_of(a), order_of(b));
	if (!order)
		order = by_version(a->version, b->version);
	return order ? order : strcmp(a->type->resource, b->type->resource);
}

static void sort_apis(struct store *store)
{
	size_t count = 0;
	for (size_t i = 0; i < store->buckets.count; i++)
		count += store->buckets.items[i]->type.api_count;
	/* The old array stays readable like everything about types. */
	struct arena *arena = arena_create();
	vec_push(&store->retired, arena);
	store->apis = arena_array(arena, const struct store_api *, count);
	store->api_count = 0;
	for (size_t i = 0; i < store->buckets.count; i++) {
		const struct store_type *type = &store->buckets.items[i]->type;
		for (size_t j = 0; j < type->api_count; j++)
			store->apis[store->api_count++] = &type->apis[j];
	}
	qsort(store->apis, count, sizeof(*store->apis), by_discovery_order);
	store->generation++;
}

/* ---- built-in types ---- */

static void fill_api(struct arena *arena, struct store_api *api, const struct store_type *type,
                     const struct kind_row *row, const char *version)
{
	*api = (struct store_api){
		.type = type,
		.group = row->group,
		.version = version,
		.api_version = *row->group ? arena_printf(arena, "%s/%s", row->group, version) : version,
		.has_status = row->flags & ROW_STATUS,
		.has_scale = row->flags & ROW_SCALE,
		.scale_spec = row->scale_spec ? row->scale_spec : ".spec.replicas",
		.scale_status = row->scale_status ? row->scale_status : ".status.replicas",
		.scale_selector = row->selector ? row->selector : "",
		.columns = row->columns,
	};
	while (row->columns && row->columns[api->column_count].name)
		api->column_count++;
}

static bool is_row_of(const struct kind_row *row, const struct store_type *type)
{
	if (row->face_of)
		return !*type->group && strcmp(row->face_of, type->resource) == 0;
	return strcmp(row->group, type->group) == 0 && strcmp(row->resource, type->resource) == 0;
}

/* How many versions the store serves, or mirrors from a server that may have others. */
static size_t count_versions(const struct store *store, const struct kind_row *row)
{
	size_t count = 0;
	while (row->versions[count])
		count++;
	return store->options.mirror ? count : count - (size_t)row->elsewhere;
}

/* The versions of the row, and of those that show its objects under another group. */
static void fill_apis(const struct store *store, struct arena *arena, struct store_type *type)
{
	const struct kind_row *row;
	size_t rows = 0;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		rows += is_row_of(row, type);
	struct store_api *apis = arena_array(arena, struct store_api, rows * KIND_MOST_VERSIONS);
	for (size_t i = 0; (row = kinds_row(i)); i++)
		for (size_t v = 0; is_row_of(row, type) && v < count_versions(store, row); v++)
			fill_api(arena, &apis[type->api_count++], type, row, row->versions[v]);
	type->apis = apis;
}

static void add_builtin(struct store *store, struct arena *arena, const struct kind_row *row)
{
	struct bucket *bucket = base_calloc(1, sizeof(*bucket));
	vec_push(&store->buckets, bucket);
	bucket->builtin = row;
	struct store_type *type = &bucket->type;
	*type = (struct store_type){
		.group = row->group,
		.resource = row->resource,
		.singular = row->singular,
		.kind = row->kind,
		.list_kind = arena_printf(arena, "%sList", row->kind),
		.short_names = row->short_names,
		.categories = row->flags & ROW_ALL ? all : none,
		.namespaced = !(row->flags & ROW_CLUSTER),
		.custom = row->flags & ROW_CUSTOM,
		.graceful = row->flags & ROW_GRACEFUL,
		.one_form = row->convert != NULL,
	};
	fill_apis(store, arena, type);
}

void registry_init(struct store *store)
{
	struct arena *arena = arena_create();
	const struct kind_row *row;
	vec_push(&store->retired, arena);
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (!row->face_of && kinds_is_built_in(row))
			add_builtin(store, arena, row);
	store->pods = find_bucket(store, "", "pods");
	store->namespaces = find_bucket(store, "", "namespaces");
	store->events = find_bucket(store, "", "events");
	store->budgets = find_bucket(store, KINDS_POLICY, "poddisruptionbudgets");
	store->definitions = find_bucket(store, KINDS_DEFINITIONS, "customresourcedefinitions");
	sort_apis(store);
}

void registry_free(struct store *store)
{
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		by_value_free(bucket);
		index_free(&bucket->index);
		history_free(&bucket->history);
		store_object_release(bucket->definition);
		vec_free(&bucket->watch_paths);
		buffer_free(&bucket->watch_text);
		free(bucket);
	}
	vec_free(&store->buckets);
	for (size_t i = 0; i < store->retired_objects.count; i++)
		store_object_release(store->retired_objects.items[i]);
	vec_free(&store->retired_objects);
	for (size_t i = 0; i < store->retired.count; i++)
		arena_destroy(store->retired.items[i]);
	vec_free(&store->retired);
}

/* ---- custom types ---- */

static const char *const *read_names(struct arena *arena, const struct val *list)
{
	const char **names = arena_array(arena, const char *, val_count(list) + 1);
	size_t count = 0;
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (val_kind(item) == VAL_STRING)
			names[count++] = val_str(item, "");
	return names;
}

static void read_columns(struct arena *arena, struct store_api *api, const struct val *list)
{
	static const struct kind_column age = {
		.name = "Age", .type = "date", .format = "", .description = "", .path = ".metadata.creationTimestamp"};
	size_t count = val_count(list);
	if (!count) {
		api->columns = &age;
		api->column_count = 1;
		return;
	}
	struct kind_column *columns = arena_array(arena, struct kind_column, count);
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		int64_t priority = 0;
		val_int(val_get(item, "priority"), &priority);
		columns[api->column_count++] = (struct kind_column){
			.name = val_str(val_get(item, "name"), ""),
			.type = val_str(val_get(item, "type"), "string"),
			.format = val_str(val_get(item, "format"), ""),
			.description = val_str(val_get(item, "description"), ""),
			.path = val_str(val_get(item, "jsonPath"), ""),
			.priority = priority > 0,
		};
	}
	api->columns = columns;
}

static void read_served(struct arena *arena, struct store_api *api, const struct store_type *type,
                        const struct val *version)
{
	const struct val *scale = val_path(version, "subresources", "scale", NULL);
	api->type = type;
	api->group = type->group;
	api->version = val_str(val_get(version, "name"), "");
	api->api_version = arena_printf(arena, "%s/%s", type->group, api->version);
	api->has_status = val_kind(val_path(version, "subresources", "status", NULL)) == VAL_MAP;
	api->has_scale = val_kind(scale) == VAL_MAP;
	api->scale_spec = val_str(val_get(scale, "specReplicasPath"), ".spec.replicas");
	api->scale_status = val_str(val_get(scale, "statusReplicasPath"), ".status.replicas");
	api->scale_selector = val_str(val_get(scale, "labelSelectorPath"), "");
	api->schema = val_path(version, "schema", "openAPIV3Schema", NULL);
	api->deprecated = val_bool(val_get(version, "deprecated"), false);
	read_columns(arena, api, val_get(version, "additionalPrinterColumns"));
}

static int by_preference(const void *left, const void *right)
{
	const struct store_api *a = left, *b = right;
	return by_version(a->version, b->version);
}

static void define(struct store *store, struct bucket *bucket, struct store_object *definition)
{
	const struct val *spec = val_get(definition->root, "spec"), *names = val_get(spec, "names");
	struct arena *arena = arena_create();
	vec_push(&store->retired, arena);
	struct store_type *type = &bucket->type;
	const char *kind = val_str(val_get(names, "kind"), "");
	type->kind = kind;
	type->singular = val_str(val_get(names, "singular"), "");
	if (!*type->singular) {
		char *singular = arena_strdup(arena, kind);
		for (char *at = singular; *at; at++)
			*at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
		type->singular = singular;
	}
	type->list_kind = val_str(val_get(names, "listKind"), arena_printf(arena, "%sList", kind));
	type->short_names = read_names(arena, val_get(names, "shortNames"));
	type->categories = read_names(arena, val_get(names, "categories"));
	type->namespaced = strcmp(val_str(val_get(spec, "scope"), "Namespaced"), "Cluster") != 0;
	const struct val *versions = val_get(spec, "versions"), *version;
	struct store_api *apis = arena_array(arena, struct store_api, val_count(versions));
	size_t count = 0;
	for (struct val_iter it = val_iter(versions); val_next(&it, NULL, &version);)
		if (val_bool(val_get(version, "served"), false))
			read_served(arena, &apis[count++], type, version);
	qsort(apis, count, sizeof(*apis), by_preference);
	type->apis = apis;
	type->api_count = count;
}

struct bucket *registry_defined_by(struct store *store, const struct store_object *definition)
{
	const struct val *spec = val_get(definition->root, "spec");
	const char *group = val_str(val_get(spec, "group"), "");
	const char *resource = val_str(val_path(spec, "names", "plural", NULL), "");
	/* A built-in type may be served under a group that is not its own, as events are. */
	for (size_t i = 0; i < store->api_count; i++) {
		const struct store_api *api = store->apis[i];
		if (strcmp(api->group, group) == 0 && strcmp(api->type->resource, resource) == 0)
			return bucket_of(api->type);
	}
	return registry_bucket(store, group, resource);
}

void registry_follow(struct store *store, struct store_object *old, struct store_object *now)
{
	const struct store_object *either = now ? now : old;
	if (!either || (old && now && val_equal(val_get(old->root, "spec"), val_get(now->root, "spec"))))
		return;
	struct bucket *bucket = registry_defined_by(store, either);
	if (bucket->builtin)
		return;         /* the built-in type already is what the definition asks for */
	if (bucket->definition) /* its texts may still be read */
		vec_push(&store->retired_objects, bucket->definition);
	bucket->definition = store_object_retain(now);
	if (now)
		define(store, bucket, now);
	else
		bucket->type.api_count = 0;
	sort_apis(store);
}

void registry_serve(struct store *store, struct bucket *bucket, bool served)
{
	struct store_type *type = &bucket->type;
	if (served == (bucket->unserved == 0))
		return;
	if (!served && type->api_count == 0)
		return; /* its definition is gone */
	size_t count = type->api_count;
	type->api_count = bucket->unserved;
	bucket->unserved = count;
	sort_apis(store);
}

/* ---- looking up ---- */

const struct store_api *store_api_find(const struct store *store, const char *group, const char *version,
                                       const char *resource)
{
	for (size_t i = 0; i < store->api_count; i++) {
		const struct store_api *api = store->apis[i];
		if (strcmp(api->type->resource, resource) == 0 && strcmp(api->group, group) == 0 &&
		    strcmp(api->version, version) == 0)
			return api;
	}
	return NULL;
}

const struct store_api *store_api_of_kind(const struct store *store, const char *api_version, const char *kind)
{
	for (size_t i = 0; i < store->api_count; i++) {
		const struct store_api *api = store->apis[i];
		if (strcmp(api->type->kind, kind) == 0 && strcmp(api->api_version, api_version) == 0)
			return api;
	}
	return NULL;
}

const struct store_type *store_type_find(const struct store *store, const char *group, const char *resource)
{
	const struct bucket *bucket = find_bucket(store, group, resource);
	return bucket ? &bucket->type : NULL;
}

const struct store_api *const *store_apis(const struct store *store, size_t *count)
{
	*count = store->api_count;
	return store->apis;
}

uint64_t store_types_generation(const struct store *store)
{
	return store->generation;
}
