/* Watches: a stream of events, one JSON document per line, sent as fast as the reader takes them. What a reader leaves
 * waiting stays in the history of the store, not in memory of its own. */
#include "serve/api/internal.h"

#include <stdlib.h>
#include <string.h>

#define BOOKMARK_EVERY (60 * CLOCK_SECOND)
#define PORTION ((size_t)128 << 10) /* bytes handed on at a time; the next ones when these are sent */

struct watch {
	struct serve *serve;
	struct http_stream *stream;
	struct store_watch *source;
	struct watch *previous, *next;
	struct watch **ready_at, *ready_next; /* ready_at: what points to us in that list; NULL when not in it */
	int64_t ends_at, bookmark_at;         /* bookmark_at 0: not wanted */
	uint8_t form;
	bool columns_sent, beta;
	const struct store_api *api; /* as of `generation` of the types */
	uint64_t generation;
};

static void unlink_ready(struct watch *watch)
{
	if (!watch->ready_at)
		return;
	*watch->ready_at = watch->ready_next;
	if (watch->ready_next)
		watch->ready_next->ready_at = watch->ready_at;
	watch->ready_at = NULL;
}

static void destroy(struct watch *watch)
{
	unlink_ready(watch);
	if (watch->previous)
		watch->previous->next = watch->next;
	else
		watch->serve->watches = watch->next;
	if (watch->next)
		watch->next->previous = watch->previous;
	store_watch_close(watch->source);
	free(watch);
}

static void end(struct watch *watch)
{
	http_stream_end(watch->stream);
	destroy(watch);
}

/* NULL when the type is served, but no longer in this version. When all of it is gone, the last events are still shown as
 * before. */
static const struct store_api *api_of(struct watch *watch)
{
	const struct store *store = watch->serve->store;
	const struct store_api *api = watch->api;
	uint64_t generation = store_types_generation(store);
	if (generation == watch->generation)
		return api;
	const struct store_api *now = store_api_find(store, api->group, api->version, api->type->resource);
	if (!now && api->type->api_count > 0)
		return NULL;
	watch->generation = generation;
	watch->api = now ? now : api;
	return watch->api;
}

/* ---- events ---- */

static const char *type_name(enum store_event_type type)
{
	static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
	return names[type];
}

static void put_event(struct buffer *out, struct watch *watch, const struct store_event *event,
                      const struct store_api *api, struct arena *arena)
{
	if (watch->form == API_PLAIN || event->type == STORE_BOOKMARK) {
		store_event_write(event, api, out);
		return;
	}
	struct store_object *object = event->object;
	buffer_printf(out, "{\"type\":\"%s\",\"object\":", type_name(event->type));
	if (watch->form == API_TABLE) {
		struct api_call call = {.serve = watch->serve, .store = watch->serve->store, .arena = arena};
		api_table(out, &call, api, watch->beta ? "v1beta1" : "v1", !watch->columns_sent, &object, 1,
		          event->version, NULL, 0);
		watch->columns_sent = true;
	} else {
		api_put_metadata(out, store_object_root(object, api), watch->beta ? "v1beta1" : "v1");
	}
	buffer_puts(out, "}\n");
}

static void put_error(struct buffer *out, const struct store_error *error)
{
	buffer_puts(out, "{\"type\":\"ERROR\",\"object\":");
	store_error_write(error, out);
	buffer_puts(out, "}\n");
}

/* Sends what there is, up to a point. False when the watch is over and gone. */
static bool pump(struct watch *watch)
{
	struct buffer out = {0};
	struct store_event event;
	struct store_error error = {0};
	struct arena *arena = watch->serve->scratch;
	const struct store_api *api = api_of(watch);
	int more = api ? 1 : -1;
	while (more == 1 && out.length < PORTION) {
		more = store_watch_next(watch->source, &event, arena, &error);
		if (more == 1)
			put_event(&out, watch, &event, api, arena);
	}
	if (more < 0 && error.code && api->type->api_count > 0) /* a type that is gone has nothing to list again */
		put_error(&out, &error);
	int lost = out.length ? http_stream_write(watch->stream, out.text, out.length) : 0;
	buffer_free(&out);
	arena_reset(arena);
	if (more < 0 && !lost) {
		end(watch);
		return false;
	}
	return true;
}

static void bookmark(struct watch *watch)
{
	struct store_event event;
	struct buffer out = {0};
	const struct store_api *api = api_of(watch);
	if (api && store_watch_bookmark(watch->source, &event)) {
		store_event_write(&event, api, &out);
		http_stream_write(watch->stream, out.text, out.length);
		buffer_free(&out);
	}
}

/* ---- being called ---- */

static void on_commit(void *context)
{
	struct watch *watch = context;
	struct serve *serve = watch->serve;
	if (watch->ready_at)
		return;
	watch->ready_next = serve->ready;
	if (serve->ready)
		serve->ready->ready_at = &watch->ready_next;
	watch->ready_at = &serve->ready;
	serve->ready = watch;
	http_server_wake(serve->http);
}

void api_watch_pump(struct serve *serve)
{
	while (serve->ready) {
		struct watch *watch = serve->ready;
		unlink_ready(watch);
		if (http_stream_backlog(watch->stream) == 0) /* otherwise it goes on when that is sent */
			pump(watch);
	}
}

static void on_closed(void *owner)
{
	destroy(owner);
}

static void on_drained(void *owner)
{
	pump(owner);
}

static void schedule(struct watch *watch)
{
	int64_t at = watch->ends_at;
	if (watch->bookmark_at && watch->bookmark_at < at)
		at = watch->bookmark_at;
	http_stream_wake_at(watch->stream, at);
}

static void on_wake(void *owner)
{
	struct watch *watch = owner;
	int64_t now = clock_now(watch->serve->clock);
	if (watch->bookmark_at)
		bookmark(watch);
	if (now >= watch->ends_at) {
		end(watch);
		return;
	}
	if (watch->bookmark_at)
		watch->bookmark_at = now + BOOKMARK_EVERY;
	schedule(watch);
}

static const struct http_stream_ops ops = {on_closed, on_drained, on_wake};

/* ---- opening ---- */

/* -1 when answered with an error. */
static int check_initial(struct api_call *call, bool *initial)
{
	const char *send = http_query_get(&call->query, "sendInitialEvents");
	const char *match = http_query_get(&call->query, "resourceVersionMatch");
	const char *problem = NULL;
	*initial = api_flag(call, "sendInitialEvents");
	if (!send && match && *match)
		problem = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
			  "sendInitialEvents is "
			  "provided";
	else if (send && (!match || strcmp(match, "NotOlderThan") != 0))
		problem = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
			  "NotOlderThan";
	else if (*initial && !api_flag(call, "allowWatchBookmarks"))
		problem = "allowWatchBookmarks: Forbidden: sendInitialEvents requires bookmarks";
	if (!problem)
		return 0;
	api_refuse(call, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: %s", problem);
	return -1;
}

static struct watch *make_watch(struct api_call *call)
{
	struct watch *watch = base_calloc(1, sizeof(*watch));
	watch->api = call->api;
	watch->generation = store_types_generation(call->store);
	watch->serve = call->serve;
	watch->form = (uint8_t)call->form;
	watch->beta = strcmp(call->form_version, "v1beta1") == 0;
	watch->next = call->serve->watches;
	if (watch->next)
		watch->next->previous = watch;
	call->serve->watches = watch;
	return watch;
}

/* A watch of something that is gone starts and ends with the error, as clients expect it. */
static void answer_expired(struct api_call *call, const struct store_error *error)
{
	struct buffer body = {0};
	put_error(&body, error);
	http_respond(call->response, 200, "application/json", &body);
}

static void start(struct api_call *call, struct watch *watch, int64_t seconds)
{
	int64_t now = clock_now(call->serve->clock);
	/* Without a wish: half an hour to an hour, so that not all watches come back at once. */
	if (seconds <= 0)
		seconds = 1800 + (int64_t)(call->serve->watch_count * 977 % 1800);
	call->serve->watch_count++;
	watch->ends_at = now + (seconds > 86400 ? 86400 : seconds) * CLOCK_SECOND;
	watch->bookmark_at = api_flag(call, "allowWatchBookmarks") ? now + BOOKMARK_EVERY : 0;
	http_response_header(call->response, "Cache-Control", "no-cache, private");
	watch->stream = http_stream_open(call->response, 200, "application/json", &ops, watch);
	if (!watch->stream) {
		destroy(watch);
		return;
	}
	schedule(watch);
	on_commit(watch); /* the first look, after the commit of this turn */
}

void api_watch(struct api_call *call)
{
	struct store_selector selector = {0};
	struct store_error error = {0};
	bool initial;
	int64_t seconds;
	if (*call->name) /* the old /watch/.../NAME */
		http_query_set(&call->query, "fieldSelector",
		               arena_printf(call->arena, "metadata.name=%s", call->name));
	if (api_selector(call, &selector) || check_initial(call, &initial) ||
	    api_number(call, "timeoutSeconds", 0, &seconds))
		return;
	struct watch *watch = make_watch(call);
	struct store_watch_request request = {
		.api = call->api,
		.namespace_ = call->namespace_,
		.selector = &selector,
		.version = http_query_get(&call->query, "resourceVersion"),
		.initial = initial,
		.wake = on_commit,
		.context = watch,
	};
	watch->source = store_watch_open(call->store, &request, call->arena, &error);
	if (watch->source) {
		start(call, watch, seconds);
		return;
	}
	destroy(watch);
	if (error.code == 410)
		answer_expired(call, &error);
	else
		api_fail(call, &error);
}

void api_watch_end(struct serve *serve)
{
	while (serve->watches)
		destroy(serve->watches);
}
