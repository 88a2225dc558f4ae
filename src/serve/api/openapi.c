/* OpenAPI documents, as much of them as kubectl reads: that the server validates fields itself, and what explain prints. */
#include "serve/api/internal.h"

#include "base/grow.h"
#include "base/hash.h"
#include "kinds/schema.h"
#include "object/build.h"
#include "serve/api/schema_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version 2 is only asked for by old clients, in protobuf; an empty document satisfies them. */
void api_openapi_v2(struct api_call *call)
{
	static const char empty[] = "\x0a\x03"
				    "2.0\x12\x13\x0a\x0aKubernetes\x12\x05"
				    "v1.32"
				    "\x42\x00";
	struct buffer body = {0};
	buffer_append(&body, empty, sizeof(empty) - 1);
	http_respond(call->response, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", &body);
}

static bool same_version(const struct store_api *a, const struct store_api *b)
{
	return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0;
}

/* Grows out of the definitions that a document shows; the rest of it is the same as long as the program is. */
static uint64_t hash_of(struct api_call *call, const struct store_api *api, uint64_t hash)
{
	const struct store_type *definitions =
		store_type_find(call->store, KINDS_DEFINITIONS, "customresourcedefinitions");
	size_t length;
	hash = hash_mix(hash, XXH3_64bits(api->type->kind, strlen(api->type->kind)));
	if (!api->type->custom || !definitions)
		return hash;
	const char *name = arena_printf(call->arena, "%s.%s", api->type->resource, api->group);
	struct store_object *object = store_peek(call->store, definitions, "", name);
	if (!object)
		return hash;
	const char *json = store_object_json(object, NULL, &length);
	return hash_mix(hash, XXH3_64bits(json, length));
}

#define SEED UINT64_C(0x706c61746f6f6e31) /* change it when the documents change their form */

static void answer_index(struct api_call *call)
{
	struct buffer body = {0};
	size_t count;
	const struct store_api *const *apis = store_apis(call->store, &count);
	struct build *build = build_create();
	struct node *root = build_map(build), *paths = build_map(build);
	for (size_t i = 0; i < count;) {
		const struct store_api *first = apis[i];
		uint64_t hash = SEED;
		for (; i < count && same_version(apis[i], first); i++)
			hash = hash_of(call, apis[i], hash);
		const char *path = first->group[0]
		                           ? arena_printf(call->arena, "apis/%s/%s", first->group, first->version)
		                           : arena_printf(call->arena, "api/%s", first->version);
		struct node *item = build_map(build);
		build_put_string(build, item, "serverRelativeURL",
		                 arena_printf(call->arena, "/openapi/v3/%s?hash=%016llx", path,
		                              (unsigned long long)hash));
		build_put(build, paths, path, item);
	}
	build_put(build, root, "paths", paths);
	build_write(build, root, DOC_JSON_COMPACT, &body);
	build_destroy(build);
	http_respond(call->response, 200, "application/json", &body);
}

/* ---- one document ---- */

#define KIND_MARK "x-kubernetes-group-version-kind"
#define OPEN_MARK "x-kubernetes-preserve-unknown-fields"

/* Types that the document refers to, each once. */
struct wanted {
	const struct schema_type **types;
	size_t count, capacity;
};

static void want(struct wanted *wanted, struct arena *arena, const struct schema_type *type)
{
	for (size_t i = 0; i < wanted->count; i++) {
		if (wanted->types[i] == type)
			return;
	}
	if (wanted->count == wanted->capacity)
		wanted->types =
			grow_array(arena, wanted->types, wanted->count, &wanted->capacity, sizeof(*wanted->types));
	wanted->types[wanted->count++] = type;
}

static struct node *reference_to(struct build *build, const char *name)
{
	struct buffer path = {0};
	struct node *map = build_map(build);
	buffer_printf(&path, "#/components/schemas/%s", name);
	build_put_string(build, map, "$ref", path.text);
	buffer_free(&path);
	return map;
}

/* Types without a type of their own, by the letter that the table of schemas has for them. */
static struct node *letter_schema(struct build *build, char letter)
{
	static const struct {
		char letter;
		const char *type, *format;
	} rows[] = {
		{'i', "integer", "int32"},    {'l', "integer", "int64"},        {'b', "boolean", NULL},
		{'f', "number", "double"},    {'y', "string", "byte"},          {'t', "string", "date-time"},
		{'u', "string", "date-time"}, {'x', "string", "int-or-string"}, {'a', "object", NULL},
	};
	struct node *map = build_map(build);
	size_t i = 0;
	while (i < sizeof(rows) / sizeof(*rows) && rows[i].letter != letter)
		i++;
	bool found = i < sizeof(rows) / sizeof(*rows);
	build_put_string(build, map, "type", found ? rows[i].type : "string");
	if (found && rows[i].format)
		build_put_string(build, map, "format", rows[i].format);
	if (letter == 'x')
		build_put_bool(build, map, "x-kubernetes-int-or-string", true);
	if (letter == 'a')
		build_put_bool(build, map, OPEN_MARK, true);
	return map;
}

static struct node *field_schema(struct build *build, const struct schema_field *field, const char *words)
{
	bool one = !field->list && !field->map;
	struct node *schema =
		field->kind == 'T' ? reference_to(build, field->type->name) : letter_schema(build, field->kind);
	struct node *map = schema;
	if (!one) {
		map = build_map(build);
		build_put_string(build, map, "type", field->list ? "array" : "object");
		build_put(build, map, field->list ? "items" : "additionalProperties", schema);
	} else if (field->kind == 'T' && *words) { /* nothing may stand beside a reference */
		struct node *all = build_list(build);
		map = build_map(build);
		build_append(build, all, schema);
		build_put(build, map, "allOf", all);
	}
	if (*words)
		build_put_string(build, map, "description", words);
	return map;
}

static void put_fields(struct build *build, struct node *map, struct api_call *call, struct wanted *wanted,
                       const struct schema_type *owner, const struct schema_type *type)
{
	struct schema_field field;
	const char *at = type->fields;
	while (schema_next(&at, &field)) {
		if (field.inlined) {
			if (field.type)
				put_fields(build, map, call, wanted, owner, field.type);
			continue;
		}
		build_put(build, map, arena_strndup(call->arena, field.name, field.name_length),
		          field_schema(build, &field, schema_words(owner->name, field.name, field.name_length)));
		if (field.type)
			want(wanted, call->arena, field.type);
	}
}

static struct node *group_version_kind(struct build *build, const struct store_api *api)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "group", api->group);
	build_put_string(build, map, "version", api->version);
	build_put_string(build, map, "kind", api->type->kind);
	return map;
}

/* An object: what is said of it, whether any field is allowed, and of which kind it is (NULL: of none). */
static struct node *object_schema(struct build *build, const char *words, bool open, const struct store_api *kind,
                                  struct node *properties)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "type", "object");
	if (words)
		build_put_string(build, map, "description", words);
	if (kind) {
		struct node *list = build_list(build);
		build_append(build, list, group_version_kind(build, kind));
		build_put(build, map, KIND_MARK, list);
	}
	if (open)
		build_put_bool(build, map, OPEN_MARK, true);
	build_put(build, map, "properties", properties);
	return map;
}

static void put_text_field(struct build *build, struct node *properties, const char *name, const char *words)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "type", "string");
	build_put_string(build, map, "description", words);
	build_put(build, properties, name, map);
}

static struct node *kind_properties(struct build *build)
{
	struct node *properties = build_map(build);
	put_text_field(build, properties, "apiVersion", "Group and version of the schema.");
	put_text_field(build, properties, "kind", "Which kind of object this is.");
	return properties;
}

static struct node *type_schema(struct build *build, struct api_call *call, struct wanted *wanted,
                                const struct schema_type *type, const struct store_api *kind)
{
	struct node *properties = kind ? kind_properties(build) : build_map(build);
	const char *words = schema_words(type->name, NULL, 0);
	put_fields(build, properties, call, wanted, type, type);
	return object_schema(build, *words ? words : NULL, schema_is_open(type), kind, properties);
}

/* The schema of a definition, with the parts that every object has. */
static struct node *custom_schema(struct build *build, struct api_call *call, struct wanted *wanted,
                                  const struct store_api *api)
{
	const char *key;
	const struct val *item;
	struct node *properties = kind_properties(build);
	build_put(build, properties, "metadata", reference_to(build, "ObjectMeta"));
	for (struct val_iter it = val_iter(val_get(api->schema, "properties")); val_next(&it, &key, &item);)
		if (strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0 && strcmp(key, "metadata") != 0)
			build_put(build, properties, key, build_copy(build, item));
	want(wanted, call->arena, schema_find("ObjectMeta"));
	return object_schema(build, val_str(val_get(api->schema, "description"), ""),
	                     !api->schema || val_bool(val_get(api->schema, OPEN_MARK), false), api, properties);
}

static const struct schema_type *type_of(const struct store_api *api)
{
	if (api->schema)
		return NULL;
	const struct schema_type *type = kinds_schema(api->group, api->version, api->type->kind);
	return type ? type : schema_find("OpenObject");
}

static struct node *get_operation(struct build *build, const struct store_api *api)
{
	struct node *map = build_map(build), *responses = build_map(build), *ok = build_map(build);
	struct node *content = build_map(build), *json = build_map(build);
	build_put(build, map, KIND_MARK, group_version_kind(build, api));
	build_put(build, json, "schema", reference_to(build, api->type->kind));
	build_put(build, content, "application/json", json);
	build_put_string(build, ok, "description", "OK");
	build_put(build, ok, "content", content);
	build_put(build, responses, "200", ok);
	build_put(build, map, "responses", responses);
	return map;
}

/* kubectl looks here whether the server validates fields, and whether it tries without writing. */
static struct node *patch_operation(struct build *build, const struct store_api *api)
{
	static const char *const names[] = {"fieldValidation", "dryRun"};
	struct node *map = build_map(build), *list = build_list(build);
	build_put(build, map, KIND_MARK, group_version_kind(build, api));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct node *item = build_map(build), *schema = build_map(build);
		build_put_string(build, item, "name", names[i]);
		build_put_string(build, item, "in", "query");
		build_put_string(build, schema, "type", "string");
		build_put(build, item, "schema", schema);
		build_append(build, list, item);
	}
	build_put(build, map, "parameters", list);
	build_put(build, map, "responses", build_map(build));
	return map;
}

static void put_operations(struct build *build, struct node *paths, struct api_call *call, const struct store_api *api)
{
	const char *root = api->group[0] ? arena_printf(call->arena, "/apis/%s/%s", api->group, api->version)
	                                 : arena_printf(call->arena, "/api/%s", api->version);
	struct node *map = build_map(build);
	build_put(build, map, "get", get_operation(build, api));
	build_put(build, map, "patch", patch_operation(build, api));
	build_put(build, paths,
	          arena_printf(call->arena, "%s%s/%s/{name}", root,
	                       api->type->namespaced ? "/namespaces/{namespace}" : "", api->type->resource),
	          map);
}

static bool is_kind_of(struct api_call *call, const char *name, const struct store_api *const *apis, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(apis[i]->group, call->group) == 0 && strcmp(apis[i]->version, call->version) == 0 &&
		    strcmp(apis[i]->type->kind, name) == 0)
			return true;
	}
	return false;
}

/* Schemas of the kinds, then of all they refer to. */
static struct node *schemas(struct build *build, struct api_call *call, const struct store_api *const *apis,
                            size_t count)
{
	struct wanted wanted = {0};
	struct node *map = build_map(build);
	for (size_t i = 0; i < count; i++) {
		const struct store_api *api = apis[i];
		if (strcmp(api->group, call->group) != 0 || strcmp(api->version, call->version) != 0)
			continue;
		const struct schema_type *type = type_of(api);
		build_put(build, map, api->type->kind,
		          type ? type_schema(build, call, &wanted, type, api)
		               : custom_schema(build, call, &wanted, api));
	}
	for (size_t i = 0; i < wanted.count; i++)
		if (!is_kind_of(call, wanted.types[i]->name, apis, count))
			build_put(build, map, wanted.types[i]->name,
			          type_schema(build, call, &wanted, wanted.types[i], NULL));
	return map;
}

static void answer_document(struct api_call *call)
{
	struct buffer body = {0};
	size_t count, found = 0;
	const struct store_api *const *apis = store_apis(call->store, &count);
	struct build *build = build_create();
	struct node *root = build_map(build), *info = build_map(build), *paths = build_map(build);
	struct node *components = build_map(build);
	build_put_string(build, root, "openapi", "3.0.0");
	build_put_string(build, info, "title", "Kubernetes");
	build_put_string(build, info, "version", "v1.32.4");
	build_put(build, root, "info", info);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(apis[i]->group, call->group) != 0 || strcmp(apis[i]->version, call->version) != 0)
			continue;
		put_operations(build, paths, call, apis[i]);
		found++;
	}
	build_put(build, root, "paths", paths);
	build_put(build, components, "schemas", schemas(build, call, apis, count));
	build_put(build, root, "components", components);
	build_write(build, root, DOC_JSON_COMPACT, &body);
	build_destroy(build);
	if (found == 0) {
		buffer_free(&body);
		api_not_found(call);
		return;
	}
	if (http_query_get(&call->query, "hash"))
		http_response_header(call->response, "Cache-Control", "public, immutable");
	http_respond(call->response, 200, "application/json", &body);
}

void api_openapi_v3(struct api_call *call)
{
	const char *const *segment = call->segments;
	if (call->segment_count == 2) {
		answer_index(call);
	} else if (call->segment_count == 4 && strcmp(segment[2], "api") == 0) {
		call->version = segment[3];
		answer_document(call);
	} else if (call->segment_count == 5 && strcmp(segment[2], "apis") == 0) {
		call->group = segment[3];
		call->version = segment[4];
		answer_document(call);
	} else {
		api_not_found(call);
	}
}
