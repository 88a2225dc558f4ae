/* Owns writing definitions: names, columns, subresources, and a structural schema out of the table of fields. */
#include "serve/api/crd.h"

#include "kinds/names.h"
#include "kinds/schema.h"
#include "serve/api/schema_rules.h"
#include "serve/api/schema_words.h"

#include <string.h>

static void put_open(struct build *build, struct node *out)
{
	build_put(build, out, "x-kubernetes-preserve-unknown-fields", build_bool(build, true));
}

static struct node *schema_of_type(struct build *build, const struct schema_type *type);

/* Types of other groups, such as a pod template, are checked by those who own them. */
static bool is_ours(const struct schema_type *type)
{
	for (size_t i = 0; i < schema_platoon_count; i++)
		if (type == &schema_platoon[i])
			return true;
	return false;
}

static struct node *schema_of_letter(struct build *build, char letter)
{
	struct node *out = build_map(build);
	switch (letter) {
	case 'i':
	case 'l':
		build_put_string(build, out, "type", "integer");
		build_put_string(build, out, "format", letter == 'i' ? "int32" : "int64");
		break;
	case 'b':
		build_put_string(build, out, "type", "boolean");
		break;
	case 'f':
		build_put_string(build, out, "type", "number");
		break;
	case 'x':
	case 'q':
		build_put(build, out, "x-kubernetes-int-or-string", build_bool(build, true));
		break;
	case 'a':
		put_open(build, out);
		break;
	case 't':
	case 'u':
		build_put_string(build, out, "type", "string");
		build_put_string(build, out, "format", "date-time");
		break;
	default:
		build_put_string(build, out, "type", "string");
	}
	return out;
}

static struct node *schema_of_value(struct build *build, const struct schema_field *field)
{
	if (field->kind != 'T')
		return schema_of_letter(build, field->kind);
	if (is_ours(field->type))
		return schema_of_type(build, field->type);
	struct node *out = build_map(build);
	build_put_string(build, out, "type", "object");
	if (strcmp(field->type->name, "ObjectMeta") != 0)
		put_open(build, out);
	return out;
}

static struct node *schema_of_field(struct build *build, const struct schema_type *owner,
                                    const struct schema_field *field)
{
	struct node *out = schema_of_value(build, field);
	if (field->list || field->map) {
		struct node *container = build_map(build);
		build_put_string(build, container, "type", field->list ? "array" : "object");
		build_put(build, container, field->list ? "items" : "additionalProperties", out);
		out = container;
	}
	const char *words = schema_words(owner->name, field->name, field->name_length);
	if (words[0])
		build_put_string(build, out, "description", words);
	schema_rules_put(build, out, owner->name, field->name, field->name_length);
	return out;
}

static struct node *schema_of_type(struct build *build, const struct schema_type *type)
{
	struct node *out = build_map(build), *properties = build_map(build);
	struct schema_field field;
	build_put_string(build, out, "type", "object");
	for (const char *at = type->fields; schema_next(&at, &field);) {
		char name[128];
		size_t length = field.name_length < sizeof(name) - 1 ? field.name_length : sizeof(name) - 1;
		memcpy(name, field.name, length);
		name[length] = '\0';
		build_put(build, properties, name, schema_of_field(build, type, &field));
	}
	build_put(build, out, "properties", properties);
	if (schema_is_open(type))
		put_open(build, out);
	schema_rules_put(build, out, type->name, NULL, 0);
	return out;
}

static struct node *schema_of_kind_root(struct build *build, const struct store_api *api)
{
	const struct schema_type *type = kinds_schema(api->group, api->version, api->type->kind);
	struct node *out;
	if (type) {
		out = schema_of_type(build, type);
	} else {
		out = build_map(build);
		build_put_string(build, out, "type", "object");
		put_open(build, out);
	}
	struct node *wrapper = build_map(build);
	build_put(build, wrapper, "openAPIV3Schema", out);
	return wrapper;
}

static struct node *columns_of(struct build *build, const struct store_api *api)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < api->column_count; i++) {
		const struct kind_column *column = &api->columns[i];
		struct node *item = build_map(build);
		build_put_string(build, item, "name", column->name);
		build_put_string(build, item, "type", column->type);
		build_put_string(build, item, "jsonPath", column->path);
		if (column->priority)
			build_put_int(build, item, "priority", column->priority);
		build_append(build, list, item);
	}
	return list;
}

static struct node *version_of(struct build *build, const struct store_api *api, bool stored, bool served)
{
	struct node *version = build_map(build), *subresources = build_map(build);
	build_put_string(build, version, "name", api->version);
	build_put(build, version, "served", build_bool(build, served));
	build_put(build, version, "storage", build_bool(build, stored));
	if (api->has_status)
		build_put(build, subresources, "status", build_map(build));
	if (api->has_scale) {
		struct node *scale = build_map(build);
		build_put_string(build, scale, "specReplicasPath", api->scale_spec);
		build_put_string(build, scale, "statusReplicasPath", api->scale_status);
		if (api->scale_selector && api->scale_selector[0])
			build_put_string(build, scale, "labelSelectorPath", api->scale_selector);
		build_put(build, subresources, "scale", scale);
	}
	build_put(build, version, "subresources", subresources);
	if (api->column_count)
		build_put(build, version, "additionalPrinterColumns", columns_of(build, api));
	build_put(build, version, "schema", schema_of_kind_root(build, api));
	return version;
}

static struct node *texts(struct build *build, const char *const *items)
{
	struct node *list = build_list(build);
	for (; *items; items++)
		build_append(build, list, build_string(build, *items));
	return list;
}

static struct node *conversion_of(struct build *build, const struct crd_conversion *conversion)
{
	struct node *out = build_map(build), *webhook = build_map(build), *config = build_map(build),
		    *service = build_map(build), *versions = build_list(build);
	build_put_string(build, out, "strategy", "Webhook");
	build_append(build, versions, build_string(build, "v1"));
	build_put(build, webhook, "conversionReviewVersions", versions);
	build_put_string(build, service, "name", conversion->service);
	build_put_string(build, service, "namespace", conversion->namespace_);
	build_put_string(build, service, "path", conversion->path);
	build_put_int(build, service, "port", 443);
	if (conversion->url)
		build_put_string(build, config, "url", conversion->url);
	else
		build_put(build, config, "service", service);
	build_put(build, webhook, "clientConfig", config);
	build_put(build, out, "webhook", webhook);
	return out;
}

struct node *crd_build(struct build *build, const struct store_type *type, bool differ,
                       const struct crd_conversion *conversion)
{
	struct node *root = build_map(build), *metadata = build_map(build), *annotations = build_map(build),
		    *spec = build_map(build), *names = build_map(build);
	struct buffer name = {0};
	buffer_printf(&name, "%s.%s", type->resource, type->group);
	build_put_string(build, root, "apiVersion", KINDS_DEFINITIONS "/v1");
	build_put_string(build, root, "kind", "CustomResourceDefinition");
	build_put_string(build, metadata, "name", name.text);
	buffer_free(&name);
	/* Removing a release must not remove everything its users made. */
	build_put_string(build, annotations, "helm.sh/resource-policy", "keep");
	build_put(build, metadata, "annotations", annotations);
	build_put(build, root, "metadata", metadata);
	build_put_string(build, spec, "group", type->group);
	build_put_string(build, spec, "scope", type->namespaced ? "Namespaced" : "Cluster");
	build_put_string(build, names, "kind", type->kind);
	build_put_string(build, names, "listKind", type->list_kind);
	build_put_string(build, names, "plural", type->resource);
	build_put_string(build, names, "singular", type->singular);
	if (type->short_names[0])
		build_put(build, names, "shortNames", texts(build, type->short_names));
	if (type->categories[0])
		build_put(build, names, "categories", texts(build, type->categories));
	build_put(build, spec, "names", names);
	struct node *versions = build_list(build);
	for (size_t i = 0; i < type->api_count; i++)
		build_append(build, versions,
		             version_of(build, &type->apis[i], i == 0, i == 0 || !differ || conversion));
	build_put(build, spec, "versions", versions);
	if (differ && conversion)
		build_put(build, spec, "conversion", conversion_of(build, conversion));
	build_put(build, root, "spec", spec);
	return root;
}
