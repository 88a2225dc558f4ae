/* From path and method to what is to be done. */
#include "serve/api/internal.h"

#include <string.h>

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool is_open_path(const char *path)
{
	return is(path, "/healthz") || is(path, "/livez") || is(path, "/readyz") || is(path, "/version");
}

static void begin(struct api_call *call, struct serve *serve, struct http_request *request,
                  struct http_response *response)
{
	memset(call, 0, sizeof(*call));
	call->serve = serve;
	call->store = serve->store;
	call->request = request;
	call->response = response;
	call->arena = request->arena;
	call->group = call->version = call->resource = call->namespace_ = call->name = call->subresource = "";
	call->form_version = "";
}

static bool is_reading(const struct http_request *request)
{
	return request->verb == HTTP_VERB_GET || request->verb == HTTP_VERB_HEAD || request->verb == HTTP_VERB_OPTIONS;
}

/* Asking what one may do changes nothing, though it is a POST. */
static bool is_asking(const char *path)
{
	return text_starts_with(path, "/apis/authorization.k8s.io/v1/self") ||
	       text_starts_with(path, "/apis/authentication.k8s.io/v1/self");
}

static bool is_api_path(const char *path)
{
	return text_starts_with(path, "/api/") || text_starts_with(path, "/apis/") || is(path, "/api") ||
	       is(path, "/apis") || text_starts_with(path, "/openapi/");
}

/* The path of another layer, NULL when there is none or it is ours. */
static const struct http_route *find_other(const struct serve *serve, const char *path)
{
	return is_api_path(path) || is_open_path(path) ? NULL : http_routes_find(&serve->routes, path);
}

void api_head(void *context, struct http_request *request, struct http_response *response)
{
	struct serve *serve = context;
	struct api_call call;
	const struct http_route *other = find_other(serve, request->path);
	unsigned access = other ? other->access : 0;
	begin(&call, serve, request, response);
	if (serve->pki && !request->peer.tls && !(access & SERVE_BROWSER)) {
		api_refuse(&call, 400, "BadRequest", "Client sent an HTTP request to an HTTPS server; use %s",
		           serve_url(serve));
		return;
	}
	if (is_open_path(request->path) || (access & SERVE_OPEN))
		return;
	const struct auth_user *user = auth_identify(&serve->auth, request);
	request->user = user;
	if (!user) {
		http_response_header(response, "WWW-Authenticate", "Bearer realm=\"platoon\"");
		api_refuse(&call, 401, "Unauthorized", "Unauthorized");
	} else if (user->read_only && !is_reading(request) && !is_asking(request->path) && !(access & SERVE_ASKING)) {
		api_refuse(&call, 403, "Forbidden",
		           "User \"%s\" may only read: the token of this request is the read-only one", user->name);
	}
}

/* ---- paths ---- */

static int split_path(struct api_call *call)
{
	const char *at = call->request->path;
	while (*at) {
		at += strspn(at, "/");
		size_t length = strcspn(at, "/");
		if (length == 0)
			break;
		if (call->segment_count == API_MAX_SEGMENTS)
			return -1;
		const char *segment = http_decode(call->arena, at, length, false);
		if (!segment)
			return -1;
		call->segments[call->segment_count++] = segment;
		at += length;
	}
	return 0;
}

/* Segments from `at` on: [namespaces/NS/]RESOURCE[/NAME[/SUB]]. -1 when there are more. */
static int read_resource(struct api_call *call, size_t at)
{
	const char *const *segment = call->segments + at;
	size_t count = call->segment_count - at;
	if (count > 1 && is(segment[0], "watch")) { /* the old way to ask for a watch */
		call->watch = true;
		segment++;
		count--;
	}
	/* namespaces/NAME/status and /finalize are about the namespace itself. */
	bool own = count == 3 && is(call->group, "") && (is(segment[2], "status") || is(segment[2], "finalize"));
	if (count >= 3 && is(segment[0], "namespaces") && !own) {
		call->namespace_ = segment[1];
		segment += 2;
		count -= 2;
	}
	if (count > 3)
		return -1;
	call->resource = segment[0];
	call->name = count > 1 ? segment[1] : "";
	call->subresource = count > 2 ? segment[2] : "";
	return 0;
}

/* ---- verbs ---- */

static bool knows_subresource(const struct api_call *call)
{
	return is(call->subresource, "") || api_has_subresource(call->api, call->subresource);
}

static void route_collection(struct api_call *call)
{
	switch (call->request->verb) {
	case HTTP_VERB_GET:
	case HTTP_VERB_HEAD:
		if (call->watch || api_flag(call, "watch"))
			api_watch(call);
		else
			api_list(call);
		break;
	case HTTP_VERB_POST:
		if (call->api->type->namespaced && is(call->namespace_, ""))
			api_not_allowed(call);
		else
			api_create(call);
		break;
	case HTTP_VERB_DELETE:
		api_delete_collection(call);
		break;
	default:
		api_not_allowed(call);
	}
}

/* What a real node would do: there is none behind a simulated pod. */
static void route_node_side(struct api_call *call)
{
	const char *sub = call->subresource;
	if (!store_peek(call->store, call->api->type, call->namespace_, call->name)) {
		api_refuse(call, 404, "NotFound", "%s \"%s\" not found", call->resource, call->name);
	} else if (is(sub, "log")) {
		api_text(call, 200, "This pod is simulated: there is no container behind it, so it has no log.\n");
	} else {
		api_refuse(call, 400, "BadRequest", "pod %s is simulated: there is no container behind it to %s",
		           call->name,
		           is(sub, "portforward")           ? "forward ports to"
		           : is(sub, "ephemeralcontainers") ? "debug"
		                                            : "run commands in");
	}
}

static bool is_node_side(const struct api_call *call)
{
	const char *sub = call->subresource;
	return is(call->resource, "pods") && is(call->group, "") &&
	       (is(sub, "log") || is(sub, "exec") || is(sub, "attach") || is(sub, "portforward") ||
	        is(sub, "ephemeralcontainers"));
}

static void route_object(struct api_call *call)
{
	const char *sub = call->subresource;
	if (is_node_side(call)) {
		route_node_side(call);
		return;
	}
	bool creates = is(sub, "binding") || is(sub, "eviction");
	switch (call->request->verb) {
	case HTTP_VERB_GET:
	case HTTP_VERB_HEAD:
		if (creates || is(sub, "finalize"))
			api_not_allowed(call);
		else
			api_get(call);
		break;
	case HTTP_VERB_POST:
		if (creates)
			api_create(call);
		else
			api_not_allowed(call);
		break;
	case HTTP_VERB_PUT:
		if (creates)
			api_not_allowed(call);
		else
			api_update(call);
		break;
	case HTTP_VERB_PATCH:
		if (creates || is(sub, "finalize"))
			api_not_allowed(call);
		else
			api_patch(call);
		break;
	case HTTP_VERB_DELETE:
		if (*sub)
			api_not_allowed(call);
		else
			api_delete(call);
		break;
	default:
		api_not_allowed(call);
	}
}

static void route_resource(struct api_call *call, size_t at)
{
	if (read_resource(call, at)) {
		api_not_found(call);
		return;
	}
	if (api_is_review(call->group, call->version, call->resource)) {
		api_review(call);
		return;
	}
	call->api = store_api_find(call->store, call->group, call->version, call->resource);
	if (!call->api || !knows_subresource(call)) {
		api_not_found(call);
		return;
	}
	bool namespaced = call->api->type->namespaced;
	if ((!namespaced && *call->namespace_) || (namespaced && *call->name && !*call->namespace_)) {
		api_not_found(call);
		return;
	}
	if (*call->name && !call->watch) {
		route_object(call);
		return;
	}
	route_collection(call);
}

/* ---- fixed paths ---- */

static void answer_version(struct api_call *call)
{
	static const char text[] = "{\"major\":\"1\",\"minor\":\"32\",\"gitVersion\":\"v1.32.4+platoon\",\"gitCommit\":"
				   "\"\",\"gitTreeState\":\"clean\","
				   "\"buildDate\":\"1970-01-01T00:00:00Z\",\"goVersion\":\"none\",\"compiler\":\"gcc\","
				   "\"platform\":\"linux/amd64\"}";
	struct buffer body = {0};
	buffer_puts(&body, text);
	api_answer(call, 200, &body);
}

static bool is_fixed(const struct api_call *call)
{
	static const char *const names[] = {"healthz", "livez", "readyz", "version", "openapi"};
	const char *const *segment = call->segments;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (call->segment_count > 0 && is(segment[0], names[i]))
			return true;
	}
	return (call->segment_count == 1 && is(segment[0], "api")) ||
	       (call->segment_count <= 2 && call->segment_count > 0 && is(segment[0], "apis"));
}

static bool route_fixed(struct api_call *call)
{
	const char *const *segment = call->segments;
	size_t count = call->segment_count;
	if (!is_fixed(call))
		return false;
	if (!is_reading(call->request))
		api_not_allowed(call);
	else if (is(segment[0], "readyz") && call->serve->draining)
		api_text(call, 503, "shutting down");
	else if (is(segment[0], "healthz") || is(segment[0], "livez") || is(segment[0], "readyz"))
		api_text(call, 200, "ok");
	else if (count == 1 && is(segment[0], "version"))
		answer_version(call);
	else if (count == 2 && is(segment[0], "openapi") && is(segment[1], "v2"))
		api_openapi_v2(call);
	else if (count >= 2 && is(segment[0], "openapi") && is(segment[1], "v3"))
		api_openapi_v3(call);
	else if (count == 1 && is(segment[0], "api"))
		api_core(call);
	else if (count == 1 && is(segment[0], "apis"))
		api_groups(call);
	else if (count == 2 && is(segment[0], "apis"))
		api_one_group(call);
	else
		return false;
	return true;
}

static bool route_api(struct api_call *call)
{
	const char *const *segment = call->segments;
	size_t at = 0;
	if (call->segment_count >= 2 && is(segment[0], "api")) {
		call->version = segment[1];
		at = 2;
	} else if (call->segment_count >= 3 && is(segment[0], "apis")) {
		call->group = segment[1];
		call->version = segment[2];
		at = 3;
	} else {
		return false;
	}
	if (call->segment_count == at)
		api_resources(call);
	else
		route_resource(call, at);
	return true;
}

void api_handle(void *context, struct http_request *request, struct http_response *response)
{
	struct serve *serve = context;
	struct api_call call;
	begin(&call, serve, request, response);
	call.user = request->user;
	const struct http_route *other = find_other(serve, request->path);
	if (other) {
		other->handler(other->context, request, response);
		return;
	}
	if (http_query_parse(call.arena, request->query, &call.query)) {
		api_refuse(&call, 400, "BadRequest", "the query of the request is malformed");
		return;
	}
	if (split_path(&call)) {
		api_not_found(&call);
		return;
	}
	bool fixed_text = !is_api_path(request->path) || text_starts_with(request->path, "/openapi/");
	if (api_accept(&call) && !fixed_text) {
		api_refuse(&call, 406, "NotAcceptable",
		           "only the following media types are accepted: application/json, application/yaml, "
		           "application/json;as=Table;v=v1;g=meta.k8s.io");
		return;
	}
	if (!route_fixed(&call) && !route_api(&call))
		api_not_found(&call);
}
