/* OpenAPI documents, as much of them as kubectl reads: that the server validates fields itself, and what explain prints. */
#include "serve/api/internal.h"

#include "base/grow.h"
#include "base/hash.h"
#include "kinds/schema.h"
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
	buffer_puts(&body, "{\"paths\":{");
	for (size_t i = 0; i < count;) {
		const struct store_api *first = apis[i];
		uint64_t hash = SEED;
		buffer_puts(&body, i ? "," : "");
		for (; i < count && same_version(apis[i], first); i++)
			hash = hash_of(call, apis[i], hash);
		const char *path = first->group[0]
		                           ? arena_printf(call->arena, "apis/%s/%s", first->group, first->version)
		                           : arena_printf(call->arena, "api/%s", first->version);
		json_quote(&body, path);
		buffer_puts(&body, ":{\"serverRelativeURL\":");
		json_quote(&body,
		           arena_printf(call->arena, "/openapi/v3/%s?hash=%016llx", path, (unsigned long long)hash));
		buffer_puts(&body, "}");
	}
	buffer_puts(&body, "}}");
	http_respond(call->response, 200, "application/json", &body);
}

/* ---- one document ---- */

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

static const char *letter_schema(char kind)
{
	switch (kind) {
	case 'i':
		return "\"type\":\"integer\",\"format\":\"int32\"";
	case 'l':
		return "\"type\":\"integer\",\"format\":\"int64\"";
	case 'b':
		return "\"type\":\"boolean\"";
	case 'f':
		return "\"type\":\"number\",\"format\":\"double\"";
	case 'y':
		return "\"type\":\"string\",\"format\":\"byte\"";
	case 't':
	case 'u':
		return "\"type\":\"string\",\"format\":\"date-time\"";
	case 'x':
		return "\"type\":\"string\",\"format\":\"int-or-string\",\"x-kubernetes-int-or-string\":true";
	case 'a':
		return "\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true";
	default:
		return "\"type\":\"string\"";
	}
}

static void put_field(struct buffer *out, const struct schema_type *owner, const struct schema_field *field)
{
	const char *words = schema_words(owner->name, field->name, field->name_length);
	buffer_printf(out, "\"%.*s\":{", (int)field->name_length, field->name);
	if (*words) {
		buffer_puts(out, "\"description\":");
		json_quote(out, words);
		buffer_puts(out, ",");
	}
	if (field->list)
		buffer_puts(out, "\"type\":\"array\",\"items\":{");
	else if (field->map)
		buffer_puts(out, "\"type\":\"object\",\"additionalProperties\":{");
	if (field->kind == 'T' && *words && !field->list && !field->map)
		buffer_printf(out, "\"allOf\":[{\"$ref\":\"#/components/schemas/%s\"}]", field->type->name);
	else if (field->kind == 'T')
		buffer_printf(out, "\"$ref\":\"#/components/schemas/%s\"", field->type->name);
	else
		buffer_puts(out, letter_schema(field->kind));
	buffer_puts(out, field->list || field->map ? "}}" : "}");
}

static void put_fields(struct buffer *out, struct api_call *call, struct wanted *wanted,
                       const struct schema_type *owner, const struct schema_type *type, bool *first)
{
	struct schema_field field;
	const char *at = type->fields;
	while (schema_next(&at, &field)) {
		if (field.inlined) {
			if (field.type)
				put_fields(out, call, wanted, owner, field.type, first);
			continue;
		}
		buffer_puts(out, *first ? "" : ",");
		*first = false;
		put_field(out, owner, &field);
		if (field.type)
			want(wanted, call->arena, field.type);
	}
}

static void put_gvk(struct buffer *out, const struct store_api *api)
{
	buffer_puts(out, "{");
	json_put_string(out, "group", api->group);
	json_put_string(out, "version", api->version);
	json_put_string(out, "kind", api->type->kind);
	buffer_puts(out, "}");
}

#define TYPE_META                                                                                                      \
	"\"apiVersion\":{\"type\":\"string\",\"description\":\"Group and version of the schema.\"},"                   \
	"\"kind\":{\"type\":\"string\",\"description\":\"Which kind of object this is.\"}"

static void put_type(struct buffer *out, struct api_call *call, struct wanted *wanted, const struct schema_type *type,
                     const struct store_api *kind)
{
	bool first = true;
	const char *words = schema_words(type->name, NULL, 0);
	buffer_puts(out, "{\"type\":\"object\",");
	if (*words) {
		buffer_puts(out, "\"description\":");
		json_quote(out, words);
		buffer_puts(out, ",");
	}
	if (schema_is_open(type))
		buffer_puts(out, "\"x-kubernetes-preserve-unknown-fields\":true,");
	if (kind) {
		buffer_puts(out, "\"x-kubernetes-group-version-kind\":[");
		put_gvk(out, kind);
		buffer_puts(out, "],");
	}
	buffer_puts(out, "\"properties\":{");
	if (kind) {
		buffer_puts(out, TYPE_META);
		first = false;
	}
	put_fields(out, call, wanted, type, type, &first);
	buffer_puts(out, "}}");
}

/* The schema of a definition, with the parts that every object has. */
static void put_custom(struct buffer *out, struct api_call *call, struct wanted *wanted, const struct store_api *api)
{
	const char *key;
	const struct val *item;
	const char *words = val_str(val_get(api->schema, "description"), "");
	buffer_puts(out, "{\"type\":\"object\",\"description\":");
	json_quote(out, words);
	buffer_puts(out, ",\"x-kubernetes-group-version-kind\":[");
	put_gvk(out, api);
	buffer_puts(out, "],");
	if (!api->schema || val_bool(val_get(api->schema, "x-kubernetes-preserve-unknown-fields"), false))
		buffer_puts(out, "\"x-kubernetes-preserve-unknown-fields\":true,");
	buffer_puts(out, "\"properties\":{" TYPE_META ",\"metadata\":{\"$ref\":\"#/components/schemas/ObjectMeta\"}");
	for (struct val_iter it = val_iter(val_get(api->schema, "properties")); val_next(&it, &key, &item);) {
		if (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 || strcmp(key, "metadata") == 0)
			continue;
		buffer_puts(out, ",");
		json_quote(out, key);
		buffer_puts(out, ":");
		val_write(item, DOC_JSON_COMPACT, out);
	}
	buffer_puts(out, "}}");
	want(wanted, call->arena, schema_find("ObjectMeta"));
}

static const struct schema_type *type_of(const struct store_api *api)
{
	if (api->schema)
		return NULL;
	const struct schema_type *type = kinds_schema(api->group, api->version, api->type->kind);
	return type ? type : schema_find("OpenObject");
}

static void put_operation(struct buffer *out, struct api_call *call, const struct store_api *api)
{
	const char *root = api->group[0] ? arena_printf(call->arena, "/apis/%s/%s", api->group, api->version)
	                                 : arena_printf(call->arena, "/api/%s", api->version);
	json_quote(out, arena_printf(call->arena, "%s%s/%s/{name}", root,
	                             api->type->namespaced ? "/namespaces/{namespace}" : "", api->type->resource));
	buffer_puts(out, ":{\"get\":{\"x-kubernetes-group-version-kind\":");
	put_gvk(out, api);
	buffer_puts(out, ",\"responses\":{\"200\":{\"description\":\"OK\",\"content\":{\"application/"
	                 "json\":{\"schema\":{\"$ref\":");
	json_quote(out, arena_printf(call->arena, "#/components/schemas/%s", api->type->kind));
	buffer_puts(out, "}}}}}},\"patch\":{\"x-kubernetes-group-version-kind\":");
	put_gvk(out, api);
	buffer_puts(out,
	            ",\"parameters\":[{\"name\":\"fieldValidation\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
	            "{\"name\":\"dryRun\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}],\"responses\":{}}}");
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
static void put_schemas(struct buffer *out, struct api_call *call, const struct store_api *const *apis, size_t count)
{
	struct wanted wanted = {0};
	bool first = true;
	for (size_t i = 0; i < count; i++) {
		const struct store_api *api = apis[i];
		if (strcmp(api->group, call->group) != 0 || strcmp(api->version, call->version) != 0)
			continue;
		const struct schema_type *type = type_of(api);
		buffer_puts(out, first ? "" : ",");
		first = false;
		json_quote(out, api->type->kind);
		buffer_puts(out, ":");
		if (type)
			put_type(out, call, &wanted, type, api);
		else
			put_custom(out, call, &wanted, api);
	}
	for (size_t i = 0; i < wanted.count; i++) {
		if (is_kind_of(call, wanted.types[i]->name, apis, count))
			continue;
		buffer_printf(out, ",\"%s\":", wanted.types[i]->name);
		put_type(out, call, &wanted, wanted.types[i], NULL);
	}
}

static void answer_document(struct api_call *call)
{
	struct buffer body = {0};
	size_t count, found = 0;
	const struct store_api *const *apis = store_apis(call->store, &count);
	buffer_puts(&body,
	            "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"v1.32.4\"},\"paths\":{");
	for (size_t i = 0; i < count; i++) {
		if (strcmp(apis[i]->group, call->group) != 0 || strcmp(apis[i]->version, call->version) != 0)
			continue;
		buffer_puts(&body, found++ ? "," : "");
		put_operation(&body, call, apis[i]);
	}
	buffer_puts(&body, "},\"components\":{\"schemas\":{");
	put_schemas(&body, call, apis, count);
	buffer_puts(&body, "}}}");
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
