/* Owns reading reviews, asking the rules, and answering. */
#include "serve/webhook/webhook.h"

#include "base/problems.h"
#include "object/build.h"
#include "serve/api/admission.h"
#include "base/base64.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* What a review names may be on its way here from the API server: so long it is looked for, this often. The API server waits
 * ten seconds for an answer. */
#define LOOK_FOR (2 * CLOCK_SECOND)
#define LOOK_EVERY (CLOCK_SECOND / 20)

struct webhook {
	struct webhook_options options;
	struct admission *rules;
	struct webhook_counts counts;
	struct held *held;
};

/* A review whose object names something that is not here yet. */
struct held {
	struct webhook *webhook;
	struct http_stream *stream;
	struct buffer body;
	int64_t ends_at;
	struct held *next, *previous;
};

/* One review on its way. */
struct review {
	struct doc *doc;
	const struct val *request;
	struct build *build;
	struct node *root, *response;
	struct arena *arena;
};

struct webhook *webhook_create(const struct webhook_options *options)
{
	struct webhook *webhook = base_calloc(1, sizeof(*webhook));
	webhook->options = *options;
	if (!options->clock)
		webhook->options.clock = clock_system();
	webhook->rules = admission_create();
	admission_use(webhook->rules, options->store);
	return webhook;
}

static void drop_held(struct held *held)
{
	if (held->next)
		held->next->previous = held->previous;
	*(held->previous ? &held->previous->next : &held->webhook->held) = held->next;
	buffer_free(&held->body);
	free(held);
}

void webhook_destroy(struct webhook *webhook)
{
	if (!webhook)
		return;
	while (webhook->held)
		drop_held(webhook->held);
	admission_destroy(webhook->rules);
	free(webhook);
}

struct webhook_counts webhook_counts(const struct webhook *webhook)
{
	return webhook->counts;
}

/* ---- reading and answering ---- */

static int malformed(struct webhook *webhook, struct buffer *out, const char *what)
{
	webhook->counts.malformed++;
	buffer_printf(out, "%s\n", what);
	return 400;
}

/* 0, or the code of the answer that says why not. */
static int open_review(struct webhook *webhook, struct review *review, const char *kind, const char *body,
                       size_t length, struct buffer *out)
{
	struct error error = {0};
	*review = (struct review){.doc = doc_parse_json(body, length, &error)};
	if (!review->doc)
		return malformed(webhook, out, error.text);
	const struct val *root = doc_root(review->doc);
	const char *api_version = val_str(val_get(root, "apiVersion"), "");
	review->request = val_get(root, "request");
	if (strcmp(val_str(val_get(root, "kind"), ""), kind) != 0 || !text_ends_with(api_version, ".k8s.io/v1") ||
	    val_kind(review->request) != VAL_MAP || !val_str(val_get(review->request, "uid"), "")[0]) {
		doc_destroy(review->doc);
		return malformed(webhook, out, "not a review of version v1 with a request and its uid");
	}
	review->arena = arena_create();
	review->build = build_create();
	review->root = build_map(review->build);
	review->response = build_map(review->build);
	build_put_string(review->build, review->root, "apiVersion", api_version);
	build_put_string(review->build, review->root, "kind", kind);
	build_put_string(review->build, review->response, "uid", val_str(val_get(review->request, "uid"), ""));
	return 0;
}

static int close_review(struct review *review, struct buffer *out)
{
	build_put(review->build, review->root, "response", review->response);
	build_write(review->build, review->root, DOC_JSON_COMPACT, out);
	build_destroy(review->build);
	arena_destroy(review->arena);
	doc_destroy(review->doc);
	return 200;
}

/* ---- /validate ---- */

static void put_refusal(struct review *review, const struct store_error *error)
{
	struct buffer text = {0};
	store_error_write(error, &text);
	struct doc *status = doc_parse_json(text.text, text.length, NULL);
	build_put(review->build, review->response, "status", build_copy(review->build, doc_root(status)));
	doc_destroy(status);
	buffer_free(&text);
}

static void put_warnings(struct review *review, const struct problems *warnings)
{
	if (warnings->count == 0)
		return;
	struct node *list = build_list(review->build);
	for (size_t i = 0; i < warnings->count; i++) {
		const struct problem *problem = &warnings->items[i];
		const char *text = arena_printf(review->arena, "%s%s%s", problem->path, problem->path[0] ? ": " : "",
		                                problem->message);
		build_append(review->build, list, build_string(review->build, text));
	}
	build_put(review->build, review->response, "warnings", list);
}

static const struct store_api *api_of(const struct webhook *webhook, const struct val *request)
{
	const struct val *resource = val_get(request, "resource");
	return store_api_find(webhook->options.store, val_str(val_get(resource, "group"), ""),
	                      val_str(val_get(resource, "version"), ""), val_str(val_get(resource, "resource"), ""));
}

static bool judge(struct webhook *webhook, struct review *review)
{
	const struct val *request = review->request, *object = val_get(request, "object"),
			 *before = val_get(request, "oldObject");
	const struct store_api *api = api_of(webhook, request);
	if (!api || val_kind(object) != VAL_MAP)
		return true; /* not ours to judge, or a deletion */
	struct problems warnings = {.arena = review->arena};
	struct store_object old = {.type = api->type,
	                           .root = before,
	                           .namespace_ = val_str(val_get(request, "namespace"), ""),
	                           .name = val_str(val_get(request, "name"), ""),
	                           .uid = ""};
	struct store_admission admission = {
		.api = api,
		.object = object,
		.old = val_kind(before) == VAL_MAP ? &old : NULL,
		.namespace_ = val_str(val_get(request, "namespace"), ""),
		.name = val_str(val_get(request, "name"), ""),
		.status = val_str(val_get(request, "subResource"), "")[0] != '\0',
		.dry_run = val_bool(val_get(request, "dryRun"), false),
		.actor = val_str(val_path(request, "userInfo", "username", NULL), ""),
		.arena = review->arena,
		.warnings = &warnings,
	};
	struct store_error error = {0};
	admission_judge_as_kai(webhook->rules, webhook->options.judges_as_kai &&
	                                               webhook->options.judges_as_kai(webhook->options.context));
	bool allowed = admission_check(webhook->rules, &admission, &error) == 0;
	doc_destroy(admission.replacement);
	put_warnings(review, &warnings);
	if (!allowed)
		put_refusal(review, &error);
	return allowed;
}

/* An object on its way out is never refused: the last write takes its finalizers away. */
static bool is_leaving(const struct review *review)
{
	return val_str(val_path(review->request, "oldObject", "metadata", "deletionTimestamp", NULL), "")[0] != '\0';
}

int webhook_validate(struct webhook *webhook, const char *body, size_t length, bool patient, struct buffer *out)
{
	struct review review;
	int code = open_review(webhook, &review, "AdmissionReview", body, length, out);
	if (code)
		return code;
	bool allowed = is_leaving(&review) || judge(webhook, &review);
	if (patient && !allowed && admission_missed(webhook->rules)) {
		struct buffer nothing = {0};
		close_review(&review, &nothing);
		buffer_free(&nothing);
		return 0;
	}
	webhook->counts.reviews++;
	webhook->counts.refused += !allowed;
	build_put_bool(review.build, review.response, "allowed", allowed);
	return close_review(&review, out);
}

/* ---- /mutate/pods, /mutate/jobs ---- */

static void add_change(struct review *review, struct node *patch, const char *path, const struct val *value)
{
	struct node *change = build_map(review->build);
	build_put_string(review->build, change, "op", "add"); /* which replaces what is there */
	build_put_string(review->build, change, "path", path);
	build_put(review->build, change, "value", build_copy(review->build, value));
	build_append(review->build, patch, change);
}

/* JSON Patch of the fields that may have changed, each as a whole. 0: none has. */
static size_t list_changes(struct review *review, struct node *patch, const struct val *old, const struct val *now)
{
	static const char *const fields[][2] = {
		{"metadata", "labels"},           {"metadata", "annotations"}, {"spec", "schedulerName"},
		{"spec", "containers"},           {"spec", "initContainers"},  {"spec", "podFailurePolicy"},
		{"spec", "podReplacementPolicy"},
	};
	size_t count = 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct val *value = val_path(now, fields[i][0], fields[i][1], NULL);
		if (!value || val_equal(val_path(old, fields[i][0], fields[i][1], NULL), value))
			continue;
		count++;
		add_change(review, patch, arena_printf(review->arena, "/%s/%s", fields[i][0], fields[i][1]), value);
	}
	return count;
}

static void put_patch(struct review *review, struct node *patch)
{
	struct buffer text = {0};
	build_write(review->build, patch, DOC_JSON_COMPACT, &text);
	build_put_string(review->build, review->response, "patchType", "JSONPatch");
	build_put_string(review->build, review->response, "patch",
	                 base64_encode(review->arena, text.text, text.length));
	buffer_free(&text);
}

int webhook_mutate(struct webhook *webhook, const char *body, size_t length, struct buffer *out)
{
	struct review review;
	int code = open_review(webhook, &review, "AdmissionReview", body, length, out);
	if (code)
		return code;
	const struct val *object = val_get(review.request, "object");
	const char *resource = val_str(val_path(review.request, "resource", "resource", NULL), "");
	struct doc *(*mutate)(void *context, const struct val *object) =
		val_kind(val_get(object, "spec")) != VAL_MAP ? NULL
		: strcmp(resource, "pods") == 0              ? webhook->options.mutate
		: strcmp(resource, "jobs") == 0              ? webhook->options.mutate_job
							     : NULL;
	struct doc *changed = mutate ? mutate(webhook->options.context, object) : NULL;
	struct node *patch = build_list(review.build);
	if (changed && list_changes(&review, patch, object, doc_root(changed)) > 0) {
		put_patch(&review, patch);
		webhook->counts.mutated++;
	}
	doc_destroy(changed);
	webhook->counts.reviews++;
	build_put_bool(review.build, review.response, "allowed", true);
	return close_review(&review, out);
}

/* ---- /convert ---- */

static struct node *convert_all(const struct webhook *webhook, struct review *review, const char *version,
                                struct store_error *error)
{
	struct node *list = build_list(review->build);
	const struct val *object;
	for (struct val_iter it = val_iter(val_get(review->request, "objects")); val_next(&it, NULL, &object);) {
		const char *kind = val_str(val_get(object, "kind"), "");
		const struct store_api *from =
			store_api_of_kind(webhook->options.store, val_str(val_get(object, "apiVersion"), ""), kind);
		const struct store_api *to = store_api_of_kind(webhook->options.store, version, kind);
		if (!from || !to || from->type != to->type) {
			store_fail(review->arena, error, 400, "BadRequest", "cannot convert %s %s to %s",
			           val_str(val_get(object, "apiVersion"), "?"), kind[0] ? kind : "?", version);
			return NULL;
		}
		struct doc *doc = store_convert(object, version);
		build_append(review->build, list, build_copy(review->build, doc_root(doc)));
		doc_destroy(doc);
	}
	return list;
}

int webhook_convert(struct webhook *webhook, const char *body, size_t length, struct buffer *out)
{
	struct review review;
	int code = open_review(webhook, &review, "ConversionReview", body, length, out);
	if (code)
		return code;
	struct store_error error = {0};
	struct node *objects =
		convert_all(webhook, &review, val_str(val_get(review.request, "desiredAPIVersion"), ""), &error);
	struct node *result = build_map(review.build);
	build_put_string(review.build, result, "status", objects ? "Success" : "Failed");
	if (objects)
		build_put(review.build, review.response, "convertedObjects", objects);
	else
		build_put_string(review.build, result, "message", error.message);
	build_put(review.build, review.response, "result", result);
	webhook->counts.conversions++;
	return close_review(&review, out);
}

/* ---- HTTP ---- */

/* The code; with 0 nothing was answered. */
static int answer(struct webhook *webhook, struct http_request *request, struct http_response *response,
                  int (*decide)(struct webhook *, const char *, size_t, struct buffer *))
{
	struct buffer out = {0};
	int code = 405;
	if (request->verb == HTTP_VERB_POST)
		code = decide(webhook, request->body, request->body_length, &out);
	else
		buffer_puts(&out, "send a review with POST\n");
	if (code == 0)
		return 0;
	if (code != 200)
		log_write(webhook->options.logger, LOG_WARN, LOG_FLAG_HTTP, "review refused", "path", request->path,
		          "error", out.text, NULL);
	http_respond(response, code, code == 200 ? "application/json" : "text/plain; charset=utf-8", &out);
	return code;
}

static void look_again(void *owner)
{
	struct held *held = owner;
	struct webhook *webhook = held->webhook;
	struct buffer out = {0};
	int64_t now = clock_now(webhook->options.clock);
	if (webhook_validate(webhook, held->body.text, held->body.length, now < held->ends_at, &out) == 0) {
		http_stream_wake_at(held->stream, now + LOOK_EVERY);
		return;
	}
	http_stream_write(held->stream, out.text, out.length);
	http_stream_end(held->stream);
	buffer_free(&out);
	drop_held(held);
}

static void on_closed(void *owner)
{
	drop_held(owner);
}

static void hold(struct webhook *webhook, const struct http_request *request, struct http_response *response)
{
	static const struct http_stream_ops ops = {.closed = on_closed, .wake = look_again};
	struct held *held = base_calloc(1, sizeof(*held));
	int64_t now = clock_now(webhook->options.clock);
	held->webhook = webhook;
	held->ends_at = now + LOOK_FOR;
	buffer_append(&held->body, request->body, request->body_length);
	held->next = webhook->held;
	if (held->next)
		held->next->previous = held;
	webhook->held = held;
	held->stream = http_stream_open(response, 200, "application/json", &ops, held);
	if (held->stream)
		http_stream_wake_at(held->stream, now + LOOK_EVERY);
	else
		drop_held(held);
}

static int validate_now(struct webhook *webhook, const char *body, size_t length, struct buffer *out)
{
	return webhook_validate(webhook, body, length, true, out);
}

static void on_validate(void *context, struct http_request *request, struct http_response *response)
{
	if (answer(context, request, response, validate_now) == 0)
		hold(context, request, response);
}

static void on_mutate(void *context, struct http_request *request, struct http_response *response)
{
	answer(context, request, response, webhook_mutate);
}

static void on_convert(void *context, struct http_request *request, struct http_response *response)
{
	answer(context, request, response, webhook_convert);
}

void webhook_route(struct webhook *webhook, struct listener *listener)
{
	listener_route(listener, "/validate", on_validate, webhook);
	listener_route(listener, "/mutate/pods", on_mutate, webhook);
	listener_route(listener, "/mutate/jobs", on_mutate, webhook);
	listener_route(listener, "/convert", on_convert, webhook);
}
