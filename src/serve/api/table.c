/* Tables: rows of cells for people, each with the object (or its metadata) it was made from. */
#include "serve/api/internal.h"

#include "kinds/names.h"
#include "serve/api/table.h"

#include <string.h>

static const struct table_column plain[] = {
	{"Name", "string", "name", 0, table_name, NULL},
	{"Age", "string", "", 0, table_age, NULL},
	{NULL, NULL, NULL, 0, NULL, NULL},
};

/* What the columns come from: a table of ours, or the definition of a custom type (behind the name). */
struct layout {
	const struct table_column *columns;
	const struct kind_column *defined;
	size_t defined_count;
};

static struct layout layout_of(const struct store_api *api)
{
	struct layout layout = {.columns = plain};
	if (!api) {
		layout.columns = table_columns(KINDS_AUTOSCALING, "scale");
	} else if (api->column_count) {
		layout.defined = api->columns;
		layout.defined_count = api->column_count;
	} else {
		const struct table_column *own = table_columns(api->group, api->type->resource);
		if (own)
			layout.columns = own;
	}
	return layout;
}

static void put_definition(struct buffer *out, const char *name, const char *type, const char *format,
                           const char *description, int priority)
{
	buffer_puts(out, "{");
	json_put_string(out, "name", name);
	json_put_string(out, "type", type);
	json_put_string(out, "format", format ? format : "");
	json_put_string(out, "description", description ? description : "");
	json_put_int(out, "priority", priority);
	buffer_puts(out, "}");
}

static void put_definitions(struct buffer *out, const struct layout *layout)
{
	buffer_puts(out, "[");
	if (layout->defined) {
		put_definition(out, "Name", "string", "name", "", 0);
		for (size_t i = 0; i < layout->defined_count; i++) {
			const struct kind_column *column = &layout->defined[i];
			buffer_puts(out, ",");
			put_definition(out, column->name, column->type, column->format, column->description,
			               column->priority);
		}
	} else {
		for (const struct table_column *column = layout->columns; column->name; column++) {
			buffer_puts(out, column > layout->columns ? "," : "");
			put_definition(out, column->name, column->type, column->format, "", column->priority);
		}
	}
	buffer_puts(out, "]");
}

static void put_cells(struct buffer *out, const struct layout *layout, const struct val *object, int64_t now)
{
	struct table_cell cell = {.out = out, .object = object, .now = now};
	buffer_puts(out, "[");
	if (layout->defined) {
		table_name(&cell);
		for (size_t i = 0; i < layout->defined_count; i++) {
			buffer_puts(out, ",");
			cell.path = layout->defined[i].path;
			table_typed(&cell, layout->defined[i].type);
		}
	} else {
		for (const struct table_column *column = layout->columns; column->name; column++) {
			buffer_puts(out, column > layout->columns ? "," : "");
			cell.path = column->path;
			column->put(&cell);
		}
	}
	buffer_puts(out, "]");
}

static void put_row(struct buffer *out, struct api_call *call, const struct layout *layout, const struct store_api *api,
                    struct store_object *object, const char *version)
{
	const char *include = http_query_get(&call->query, "includeObject");
	const struct val *root = store_object_root(object, api);
	size_t length;
	buffer_puts(out, "{\"cells\":");
	put_cells(out, layout, root, clock_seconds(call->serve->clock));
	if (include && strcmp(include, "Object") == 0) {
		const char *json = store_object_json(object, api, &length);
		buffer_puts(out, ",\"object\":");
		buffer_append(out, json, length);
	} else if (!include || strcmp(include, "None") != 0) {
		buffer_puts(out, ",\"object\":");
		api_put_metadata(out, root, version);
	}
	buffer_puts(out, "}");
}

void api_table(struct buffer *out, struct api_call *call, const struct store_api *api, const char *form_version,
               bool columns, struct store_object **items, size_t count, uint64_t version, const char *continue_,
               uint64_t remaining)
{
	struct layout layout = layout_of(api);
	buffer_printf(
		out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":{\"resourceVersion\":\"%llu\"",
		form_version, (unsigned long long)version);
	if (continue_) {
		json_put_string(out, "continue", continue_);
		if (remaining)
			json_put_int(out, "remainingItemCount", (int64_t)remaining);
	}
	buffer_puts(out, "},\"columnDefinitions\":");
	if (columns)
		put_definitions(out, &layout);
	else
		buffer_puts(out, "null");
	buffer_puts(out, ",\"rows\":[");
	for (size_t i = 0; i < count; i++) {
		buffer_puts(out, i ? "," : "");
		put_row(out, call, &layout, api, items[i], form_version);
	}
	buffer_puts(out, "]}");
}
