/* fieldValidation: what happens to fields that the kind does not have. */
#include "serve/api/internal.h"
#include "kinds/schema.h"

#include "serve/api/schema_check.h"
#include "serve/api/structural.h"

#include <string.h>

static void refuse(struct api_call *call, const struct problems *problems)
{
	struct buffer text = {0};
	const char *kind = call->api->type->kind;
	for (size_t i = 0; i < problems->count; i++)
		buffer_printf(&text, "%s%s", i ? ", " : "", problems->items[i].message);
	api_refuse(call, 400, "BadRequest", "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
	           kind, call->version, kind, text.text);
	buffer_free(&text);
}

static void drop_unknown(const struct schema_type *type, struct doc **doc)
{
	struct build *build = build_create();
	struct doc *pruned = build_finish(build, schema_prune(build, type, doc_root(*doc)));
	build_destroy(build);
	doc_destroy(*doc);
	*doc = pruned;
}

int api_fields(struct api_call *call, struct doc **doc, bool patch)
{
	const char *mode = http_query_get(&call->query, "fieldValidation");
	const struct store_api *api = call->api;
	const struct schema_type *type = NULL;
	struct problems problems = {.arena = call->arena};
	if (!mode || !*mode)
		mode = "Warn";
	bool ignore = strcmp(mode, "Ignore") == 0, strict = strcmp(mode, "Strict") == 0;
	if (!ignore && !strict && strcmp(mode, "Warn") != 0) {
		api_refuse(call, 422, "Invalid",
		           "fieldValidation: Unsupported value: \"%s\": supported values: \"Ignore\", \"Strict\", "
		           "\"Warn\"",
		           mode);
		return -1;
	}
	if (api->schema) {
		structural_unknown(api->schema, doc_root(*doc), &problems);
	} else {
		type = kinds_schema(api->group, api->version, api->type->kind);
		if (type)
			schema_unknown(type, doc_root(*doc), patch, &problems);
	}
	if (problems.count == 0)
		return 0;
	if (strict) {
		refuse(call, &problems);
		return -1;
	}
	for (size_t i = 0; !ignore && i < problems.count; i++)
		api_warn(call, problems.items[i].message);
	if (type) /* those of custom types go at admission, where the whole object is known */
		drop_unknown(type, doc);
	return 0;
}
