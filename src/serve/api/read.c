/* Reading: one object, lists, and the forms they are shown in. */
#include "serve/api/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool api_flag(const struct api_call *call, const char *name)
{
	const char *value = http_query_get(&call->query, name);
	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0 || strcmp(value, "") == 0);
}

int api_selector(struct api_call *call, struct store_selector *selector)
{
	struct store_error error = {0};
	const char *labels = http_query_get(&call->query, "labelSelector");
	const char *fields = http_query_get(&call->query, "fieldSelector");
	if (store_selector_parse(call->arena, call->api, labels, fields, selector, &error) == 0)
		return 0;
	api_fail(call, &error);
	return -1;
}

void api_put_metadata(struct buffer *out, const struct val *root, const char *version)
{
	buffer_printf(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
	              *version ? version : "v1");
	const struct val *metadata = val_get(root, "metadata");
	if (metadata)
		val_write(metadata, DOC_JSON_COMPACT, out);
	else
		buffer_puts(out, "{}");
	buffer_puts(out, "}");
}

void api_answer_object(struct api_call *call, int code, struct store_object *object, const struct store_api *api)
{
	struct buffer body = {0};
	size_t length;
	if (call->form == API_TABLE) {
		api_table(&body, call, api, call->form_version, true, &object, 1, object->version, NULL, 0);
	} else if (call->form == API_METADATA) {
		api_put_metadata(&body, store_object_root(object, api), call->form_version);
	} else {
		const char *json = store_object_json(object, api, &length);
		buffer_append(&body, json, length);
	}
	api_answer(call, code, &body);
}

static enum store_subresource subresource_of(const char *name)
{
	static const struct {
		const char *name;
		enum store_subresource value;
	} table[] = {
		{"status", STORE_STATUS},     {"scale", STORE_SCALE},       {"binding", STORE_BINDING},
		{"eviction", STORE_EVICTION}, {"finalize", STORE_FINALIZE},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(name, table[i].name) == 0)
			return table[i].value;
	}
	return STORE_MAIN;
}

enum store_subresource api_subresource(const struct api_call *call)
{
	return subresource_of(call->subresource);
}

void api_get(struct api_call *call)
{
	struct store_result result = {.arena = call->arena};
	enum store_subresource sub = api_subresource(call);
	if (store_get(call->store, call->api, sub, call->namespace_, call->name, &result))
		api_fail(call, &result.error);
	else
		api_answer_object(call, 200, result.object, sub == STORE_SCALE ? NULL : call->api);
	store_result_clear(&result);
}

/* ---- lists ---- */

static void put_list_metadata(struct buffer *out, uint64_t version, const char *continue_, uint64_t remaining)
{
	buffer_printf(out, "\"metadata\":{\"resourceVersion\":\"%llu\"", (unsigned long long)version);
	if (continue_) {
		json_put_string(out, "continue", continue_);
		if (remaining)
			buffer_printf(out, ",\"remainingItemCount\":%llu", (unsigned long long)remaining);
	}
	buffer_puts(out, "}");
}

void api_answer_items(struct api_call *call, struct store_object **items, size_t count, uint64_t version,
                      const char *continue_, uint64_t remaining)
{
	struct buffer body = {0};
	size_t length;
	if (call->form == API_TABLE) {
		api_table(&body, call, call->api, call->form_version, true, items, count, version, continue_,
		          remaining);
		api_answer(call, 200, &body);
		return;
	}
	bool metadata = call->form == API_METADATA;
	buffer_puts(&body, "{");
	json_put_string(&body, "kind", metadata ? "PartialObjectMetadataList" : call->api->type->list_kind);
	json_put_key(&body, "apiVersion");
	if (metadata)
		buffer_printf(&body, "\"meta.k8s.io/%s\"", call->form_version);
	else
		json_quote(&body, call->api->api_version);
	buffer_puts(&body, ",");
	put_list_metadata(&body, version, continue_, remaining);
	buffer_puts(&body, ",\"items\":[");
	for (size_t i = 0; i < count; i++) {
		buffer_puts(&body, i ? "," : "");
		if (metadata) {
			api_put_metadata(&body, store_object_root(items[i], call->api), call->form_version);
		} else {
			const char *json = store_object_json(items[i], call->api, &length);
			buffer_append(&body, json, length);
		}
	}
	buffer_puts(&body, "]}");
	api_answer(call, 200, &body);
}

int api_number(struct api_call *call, const char *name, int64_t fallback, int64_t *number)
{
	const char *text = http_query_get(&call->query, name);
	char *end;
	*number = fallback;
	if (!text || !*text)
		return 0;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (errno || *end) {
		api_refuse(call, 400, "BadRequest", "%s: \"%s\" is not a whole number", name, text);
		return -1;
	}
	*number = value;
	return 0;
}

static bool is_number(const char *text)
{
	return text && *text && strspn(text, "0123456789") == strlen(text);
}

/* -1 when answered with an error. */
static int check_version(struct api_call *call, struct store_list_request *request)
{
	const char *match = http_query_get(&call->query, "resourceVersionMatch");
	request->version = http_query_get(&call->query, "resourceVersion");
	bool has = request->version && *request->version;
	const char *problem = NULL;
	if (has && !is_number(request->version))
		problem = "resourceVersion: Invalid value: it is a number that an earlier answer gave";
	else if (match && *match && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		problem = "resourceVersionMatch: Unsupported value: supported values: \"Exact\", \"NotOlderThan\"";
	else if (match && *match && !has)
		problem = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion "
			  "is provided";
	else if (has && match && strcmp(match, "Exact") == 0 && strcmp(request->version, "0") == 0)
		problem = "resourceVersionMatch: Forbidden: \"Exact\" is forbidden for resourceVersion \"0\"";
	else if (http_query_get(&call->query, "sendInitialEvents"))
		problem = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list";
	if (problem) {
		api_refuse(call, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: %s", problem);
		return -1;
	}
	request->exact = match && strcmp(match, "Exact") == 0;
	return 0;
}

void api_list(struct api_call *call)
{
	struct store_selector selector = {0};
	struct store_error error = {0};
	struct store_list list = {0};
	int64_t limit;
	struct store_list_request request = {
		.api = call->api,
		.namespace_ = call->namespace_,
		.selector = &selector,
		.continue_ = http_query_get(&call->query, "continue"),
	};
	if (api_selector(call, &selector) || api_number(call, "limit", 0, &limit) || check_version(call, &request))
		return;
	request.limit = limit > 0 ? (size_t)limit : 0;
	if (store_list(call->store, &request, &list, call->arena, &error))
		api_fail(call, &error);
	else
		api_answer_items(call, list.items, list.count, list.version, list.continue_, list.remaining);
	store_list_clear(&list);
}
