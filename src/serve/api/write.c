/* Writing: create, update, patch, delete and their options. */
#include "serve/api/internal.h"

#include "object/build.h"

#include <string.h>
#include <strings.h>

/* Who is named as the one who set a field: fieldManager, else the first word of the User-Agent. */
static const char *manager_of(const struct api_call *call, bool apply)
{
	const char *manager = http_query_get(&call->query, "fieldManager");
	const char *agent = http_header(call->request, "user-agent");
	if (manager && *manager)
		return manager;
	if (apply)
		return "";
	return agent ? arena_strndup(call->arena, agent, strcspn(agent, "/ ")) : "unknown";
}

/* dryRun may stand in the query several times. -1 when answered with an error. */
static int dry_run(struct api_call *call, bool *dry)
{
	for (size_t i = 0; i < call->query.count; i++) {
		const struct http_field *param = &call->query.params[i];
		if (strcmp(param->name, "dryRun") != 0)
			continue;
		if (strcmp(param->value, "All") != 0) {
			api_refuse(call, 422, "Invalid", "dryRun: Unsupported value: \"%s\": supported values: \"All\"",
			           param->value);
			return -1;
		}
		*dry = true;
	}
	return 0;
}

static int begin(struct api_call *call, struct store_request *request, enum store_verb verb)
{
	*request = (struct store_request){
		.verb = verb,
		.api = call->api,
		.subresource = api_subresource(call),
		.namespace_ = call->namespace_,
		.name = call->name,
		.manager = manager_of(call, false),
		.actor = call->user ? call->user->name : "",
	};
	return dry_run(call, &request->dry_run);
}

static void answer_success(struct api_call *call, const struct store_result *result)
{
	struct buffer body = {0};
	struct build *build = build_create();
	struct node *status = build_map(build), *details = build_map(build);
	build_put_string(build, status, "kind", "Status");
	build_put_string(build, status, "apiVersion", "v1");
	build_put(build, status, "metadata", build_map(build));
	build_put_string(build, status, "status", "Success");
	if (*call->name) {
		build_put_string(build, details, "name", call->name);
		if (*call->group)
			build_put_string(build, details, "group", call->group);
		build_put_string(build, details, "kind", call->resource);
		if (result->uid && *result->uid)
			build_put_string(build, details, "uid", result->uid);
		build_put(build, status, "details", details);
	}
	build_put_int(build, status, "code", result->code);
	build_write(build, status, DOC_JSON_COMPACT, &body);
	build_destroy(build);
	api_answer(call, result->code, &body);
}

static void carry_out(struct api_call *call, const struct store_request *request)
{
	struct store_result result = {.arena = call->arena};
	int status = store_write(call->store, request, &result);
	for (size_t i = 0; i < result.warning_count; i++)
		api_warn(call, result.warnings[i]);
	if (status)
		api_fail(call, &result.error);
	else if (result.object)
		api_answer_object(call, result.code, result.object,
		                  request->subresource == STORE_SCALE ? NULL : call->api);
	else
		answer_success(call, &result);
	store_result_clear(&result);
}

/* Reads the body and carries the request out with it. */
static void write_body(struct api_call *call, struct store_request *request)
{
	struct doc *doc = api_body(call);
	/* Scale, Binding and the like are other kinds, and a JSON patch is no object. */
	bool object = request->subresource == STORE_MAIN || request->subresource == STORE_STATUS;
	bool patch = request->verb == STORE_PATCH;
	if (!doc)
		return;
	if (!object || (patch && request->patch == STORE_PATCH_JSON) || api_fields(call, &doc, patch) == 0) {
		request->body = doc_root(doc);
		carry_out(call, request);
	}
	doc_destroy(doc);
}

void api_create(struct api_call *call)
{
	struct store_request request;
	if (begin(call, &request, STORE_CREATE) == 0)
		write_body(call, &request);
}

void api_update(struct api_call *call)
{
	struct store_request request;
	if (begin(call, &request, STORE_UPDATE) == 0)
		write_body(call, &request);
}

static int patch_type(const struct api_call *call, enum store_patch *type)
{
	static const struct {
		const char *name;
		enum store_patch type;
	} table[] = {
		{"application/json-patch+json", STORE_PATCH_JSON},
		{"application/merge-patch+json", STORE_PATCH_MERGE},
		{"application/strategic-merge-patch+json", STORE_PATCH_STRATEGIC},
		{"application/apply-patch+yaml", STORE_PATCH_APPLY},
	};
	const char *header = http_header(call->request, "content-type");
	size_t length = header ? strcspn(header, "; \t") : 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strlen(table[i].name) != length || strncasecmp(header, table[i].name, length) != 0)
			continue;
		*type = table[i].type;
		return *type == STORE_PATCH_STRATEGIC && call->api->type->custom ? -1 : 0;
	}
	return -1;
}

void api_patch(struct api_call *call)
{
	struct store_request request;
	if (begin(call, &request, STORE_PATCH))
		return;
	if (patch_type(call, &request.patch)) {
		api_refuse(call, 415, "UnsupportedMediaType",
		           "the body of the request was in an unknown format - accepted media types include: "
		           "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml%s",
		           call->api->type->custom ? "" : ", application/strategic-merge-patch+json");
		return;
	}
	if (request.patch == STORE_PATCH_APPLY) {
		request.manager = manager_of(call, true);
		request.force = api_flag(call, "force");
	} else if (http_query_get(&call->query, "force")) {
		api_refuse(call, 422, "Invalid",
		           "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
		           "non-apply patch");
		return;
	}
	write_body(call, &request);
}

/* ---- deleting ---- */

/* DeleteOptions from the body, then from the query, which some clients use. -1 when answered with an error. */
static int delete_options(struct api_call *call, struct store_request *request, struct doc **doc)
{
	struct store_error error = {0};
	const char *policy = http_query_get(&call->query, "propagationPolicy");
	int64_t grace;
	*doc = NULL;
	if (call->request->body_length > 0) {
		*doc = api_body(call);
		if (!*doc)
			return -1;
	}
	if (store_delete_read(*doc ? doc_root(*doc) : NULL, call->arena, &request->options, &request->dry_run,
	                      &error)) {
		api_fail(call, &error);
		return -1;
	}
	if (api_number(call, "gracePeriodSeconds", -1, &grace))
		return -1;
	if (grace >= 0) {
		request->options.has_grace = true;
		request->options.grace = grace;
	}
	if (policy && strcmp(policy, "Orphan") == 0)
		request->options.propagation = STORE_ORPHAN;
	else if (policy && strcmp(policy, "Foreground") == 0)
		request->options.propagation = STORE_FOREGROUND;
	else if (policy && strcmp(policy, "Background") == 0)
		request->options.propagation = STORE_BACKGROUND;
	return 0;
}

void api_delete(struct api_call *call)
{
	struct store_request request;
	struct doc *doc = NULL;
	if (begin(call, &request, STORE_DELETE) == 0 && delete_options(call, &request, &doc) == 0)
		carry_out(call, &request);
	doc_destroy(doc);
}

void api_delete_collection(struct api_call *call)
{
	struct store_request request;
	struct store_selector selector = {0};
	struct store_result result = {.arena = call->arena};
	struct doc *doc = NULL;
	if (begin(call, &request, STORE_DELETE_COLLECTION) == 0 && api_selector(call, &selector) == 0 &&
	    delete_options(call, &request, &doc) == 0) {
		request.selector = &selector;
		if (store_write(call->store, &request, &result))
			api_fail(call, &result.error);
		else
			api_answer_items(call, result.items, result.item_count, store_version(call->store), NULL, 0);
		store_result_clear(&result);
	}
	doc_destroy(doc);
}
