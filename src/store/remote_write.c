/* Owns the writes of a mirror on their way to the server, and what the mirror shows meanwhile. */
#include "store/remote_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST (REMOTE_SECOND / 10)
#define PAUSE_LONGEST (10 * REMOTE_SECOND)
#define ATTEMPTS 10
#define NODE_PATIENCE (10 * REMOTE_SECOND)

/* ---- objects with unanswered writes ---- */

static struct assumed *find(const struct remote *remote, const struct store_type *type, const char *namespace_,
                            const char *name)
{
	struct buffer key = {0};
	struct assumed *found;
	buffer_printf(&key, "%p/%s/%s", (const void *)type, namespace_, name);
	HASH_FIND(hh, remote->assumed, key.text, key.length, found);
	buffer_free(&key);
	return found;
}

static struct assumed *need(struct remote *remote, const struct store_type *type, const char *namespace_,
                            const char *name)
{
	struct assumed *found = find(remote, type, namespace_, name);
	if (found)
		return found;
	struct buffer key = {0};
	buffer_printf(&key, "%p/%s/%s", (const void *)type, namespace_, name);
	found = base_calloc(1, sizeof(*found));
	*found = (struct assumed){
		.remote = remote,
		.type = type,
		.namespace_ = base_strdup(namespace_),
		.name = base_strdup(name),
		.followed = follow_has(remote, type),
		.key = key.text,
	};
	HASH_ADD_KEYPTR(hh, remote->assumed, found->key, key.length, found);
	return found;
}

static void outgoing_free(struct outgoing *outgoing)
{
	free(outgoing->path);
	free(outgoing->content_type);
	free(outgoing->body);
	free(outgoing);
}

static void forget(struct assumed *assumed)
{
	HASH_DEL(assumed->remote->assumed, assumed);
	doc_destroy(assumed->server);
	free(assumed->namespace_);
	free(assumed->name);
	free(assumed->key);
	free(assumed);
}

bool write_is_assumed(const struct remote *remote, const struct store_type *type, const char *namespace_,
                      const char *name)
{
	return find(remote, type, namespace_, name) != NULL;
}

/* Nothing is on its way any more: the mirror shows what the server has. */
static void settle(struct assumed *assumed)
{
	if (assumed->first || assumed->current || assumed->awaits_node)
		return;
	if (assumed->gone) {
		store_mirror_remove(assumed->remote->store, assumed->type, assumed->namespace_, assumed->name);
	} else if (assumed->server) {
		store_mirror_put(assumed->remote->store, assumed->type, assumed->server);
		assumed->server = NULL;
	}
	forget(assumed);
}

/* ---- what the server has ---- */

static uint64_t version_of(const struct val *root)
{
	return strtoull(val_str(val_path(root, "metadata", "resourceVersion", NULL), "0"), NULL, 10);
}

static const char *uid_of(const struct val *root)
{
	return val_str(val_path(root, "metadata", "uid", NULL), "");
}

static bool has_node(const struct val *root)
{
	return val_str(val_path(root, "spec", "nodeName", NULL), "")[0] != '\0';
}

static bool is_older(const struct val *known, const struct val *heard)
{
	return strcmp(uid_of(known), uid_of(heard)) == 0 && version_of(heard) < version_of(known);
}

static void hear(struct assumed *assumed, struct doc *doc)
{
	if (!doc) {
		doc_destroy(assumed->server);
		assumed->server = NULL;
		assumed->gone = true;
		assumed->awaits_node = false;
		return;
	}
	if (assumed->server && is_older(doc_root(assumed->server), doc_root(doc))) {
		doc_destroy(doc);
		return;
	}
	doc_destroy(assumed->server);
	assumed->server = doc;
	assumed->gone = false;
	if (has_node(doc_root(doc)))
		assumed->awaits_node = false;
}

void write_feed(struct remote *remote, const struct store_type *type, const char *namespace_, const char *name,
                struct doc *doc, bool truth)
{
	struct assumed *assumed = find(remote, type, namespace_, name);
	if (assumed) {
		hear(assumed, doc);
		settle(assumed);
		return;
	}
	if (!doc) {
		store_mirror_remove(remote->store, type, namespace_, name);
		return;
	}
	/* The answer to a write may be newer than what a watch tells of the same object afterwards. */
	const struct store_object *known = store_peek(remote->store, type, namespace_, name);
	if (!truth && known && is_older(known->root, doc_root(doc)))
		doc_destroy(doc);
	else
		store_mirror_put(remote->store, type, doc);
}

/* ---- sending ---- */

static void enqueue(struct remote *remote, struct outgoing *outgoing)
{
	outgoing->next = NULL;
	if (remote->ready_last)
		remote->ready_last->next = outgoing;
	else
		remote->ready = outgoing;
	remote->ready_last = outgoing;
}

/* The next write of the object, when none is on its way. */
static void advance(struct assumed *assumed)
{
	if (assumed->current || !assumed->first)
		return;
	struct outgoing *outgoing = assumed->first;
	assumed->first = outgoing->next;
	if (!assumed->first)
		assumed->last = NULL;
	assumed->current = outgoing;
	enqueue(assumed->remote, outgoing);
}

static void add(struct assumed *assumed, struct outgoing *outgoing)
{
	outgoing->about = assumed;
	if (assumed->last)
		assumed->last->next = outgoing;
	else
		assumed->first = outgoing;
	assumed->last = outgoing;
	assumed->remote->counts.waiting++;
	advance(assumed);
}

static char *object_path(const struct assumed *assumed, const char *subresource, bool collection)
{
	struct buffer path = {0};
	remote_path(assumed->type->apis, assumed->namespace_, &path);
	if (!collection)
		buffer_printf(&path, "/%s", assumed->name);
	if (subresource)
		buffer_printf(&path, "/%s", subresource);
	return path.text;
}

/* Asks for the object itself: after a refusal only that is sure. */
static void refresh(struct assumed *assumed)
{
	if (!assumed->followed)
		return;
	struct outgoing *outgoing = base_calloc(1, sizeof(*outgoing));
	outgoing->method = "GET";
	outgoing->path = object_path(assumed, NULL, false);
	add(assumed, outgoing);
}

static void retry(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct remote *remote = outgoing->about->remote;
	int64_t pause = remote_pause(remote, PAUSE_FIRST, outgoing->attempts, PAUSE_LONGEST);
	if (answer->retry_after * REMOTE_SECOND > pause)
		pause = answer->retry_after * REMOTE_SECOND;
	outgoing->due = clock_now(remote->clock) + pause;
	remote->counts.retries++;
	vec_push(&remote->delayed, outgoing);
}

static void refused(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct remote *remote = outgoing->about->remote;
	remote->counts.refused++;
	/* A conflict is somebody else's write: that is daily business. */
	bool usual = answer->code == 409 || answer->code == 404;
	log_write(remote->options.logger, usual ? LOG_DEBUG : LOG_WARN, LOG_FLAG_HTTP, "write refused", "method",
	          outgoing->method, "path", outgoing->path, "error", remote_answer_message(answer), NULL);
}

static void take_object(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct assumed *assumed = outgoing->about;
	struct doc *doc = doc_parse_json(answer->body, answer->length, NULL);
	const struct val *root = doc ? doc_root(doc) : NULL;
	bool object = strcmp(val_str(val_get(root, "kind"), ""), assumed->type->kind) == 0 &&
	              strcmp(val_str(val_path(root, "metadata", "name", NULL), ""), assumed->name) == 0;
	if (object)
		hear(assumed, remote_trim(root, assumed->type->apis));
	else if (strcmp(outgoing->method, "DELETE") == 0)
		hear(assumed, NULL);
	doc_destroy(doc);
	if (outgoing->binding && !(assumed->server && has_node(doc_root(assumed->server)))) {
		assumed->awaits_node = true;
		assumed->awaits_end = clock_now(assumed->remote->clock) + NODE_PATIENCE;
	}
}

static bool is_temporary(const struct remote_answer *answer)
{
	return answer->code == 0 || answer->problem[0] || answer->code == 429 || answer->code >= 500 ||
	       answer->code == 401;
}

static void on_answer(void *context, const struct remote_answer *answer)
{
	struct outgoing *outgoing = context;
	struct assumed *assumed = outgoing->about;
	struct remote *remote = assumed->remote;
	remote->in_flight--;
	bool good = answer->code >= 200 && answer->code < 300 && !answer->problem[0];
	bool read = strcmp(outgoing->method, "GET") == 0;
	remote->counts.errors += !good;
	if (!good && is_temporary(answer) && ++outgoing->attempts < ATTEMPTS) {
		retry(outgoing, answer);
		return;
	}
	assumed->current = NULL;
	remote->counts.waiting--;
	if (good)
		take_object(outgoing, answer);
	else if (read && answer->code == 404)
		hear(assumed, NULL);
	else if (!read) {
		refused(outgoing, answer);
		refresh(assumed);
	}
	outgoing_free(outgoing);
	advance(assumed);
	settle(assumed);
}

static void send(struct remote *remote, struct outgoing *outgoing)
{
	remote->in_flight++;
	remote->counts.writes += outgoing->attempts == 0;
	remote_client_send(remote->client, &(struct remote_call){
						   .method = outgoing->method,
						   .path = outgoing->path,
						   .content_type = outgoing->content_type,
						   .body = outgoing->body,
						   .length = outgoing->body ? strlen(outgoing->body) : 0,
						   .done = on_answer,
						   .context = outgoing,
					   });
}

/* Bound pods of which no watch told that they are: the watch may be behind or lost. */
static int64_t ask_for_nodes(struct remote *remote)
{
	int64_t due = INT64_MAX;
	struct assumed *assumed, *next;
	HASH_ITER(hh, remote->assumed, assumed, next) {
		if (!assumed->awaits_node)
			continue;
		if (assumed->awaits_end <= remote->now) {
			assumed->awaits_node = false;
			refresh(assumed);
		} else if (assumed->awaits_end < due) {
			due = assumed->awaits_end;
		}
	}
	return due;
}

int64_t write_step(struct remote *remote)
{
	int64_t due = ask_for_nodes(remote);
	size_t kept = 0;
	for (size_t i = 0; i < remote->delayed.count; i++) {
		struct outgoing *outgoing = remote->delayed.items[i];
		if (outgoing->due <= remote->now) {
			enqueue(remote, outgoing);
			continue;
		}
		remote->delayed.items[kept++] = outgoing;
		due = outgoing->due < due ? outgoing->due : due;
	}
	remote->delayed.count = kept;
	while (remote->ready && remote->in_flight < remote->options.writes) {
		struct outgoing *outgoing = remote->ready;
		remote->ready = outgoing->next;
		if (!remote->ready)
			remote->ready_last = NULL;
		outgoing->next = NULL;
		send(remote, outgoing);
	}
	return due;
}

void write_end(struct remote *remote)
{
	store_set_forward(remote->store, NULL, NULL);
	vec_free(&remote->delayed);
	struct assumed *assumed, *after;
	HASH_ITER(hh, remote->assumed, assumed, after) {
		if (assumed->current)
			outgoing_free(assumed->current);
		for (struct outgoing *at = assumed->first, *next; at; at = next) {
			next = at->next;
			outgoing_free(at);
		}
		forget(assumed);
	}
}

/* ---- from a request of the store to one of the API ---- */

static char *json_of(const struct val *val)
{
	struct buffer out = {0};
	val_write(val, DOC_JSON_COMPACT, &out);
	return out.text;
}

static const char *patch_type(enum store_patch patch)
{
	switch (patch) {
	case STORE_PATCH_JSON:
		return "application/json-patch+json";
	case STORE_PATCH_MERGE:
		return "application/merge-patch+json";
	case STORE_PATCH_STRATEGIC:
		return "application/strategic-merge-patch+json";
	default:
		return "application/apply-patch+yaml";
	}
}

static char *delete_options(const struct store_delete *options)
{
	static const char *const propagation[] = {NULL, "Background", "Foreground", "Orphan"};
	struct buffer out = {0};
	buffer_puts(&out, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"");
	if (options->has_grace)
		buffer_printf(&out, ",\"gracePeriodSeconds\":%" PRId64, options->grace);
	if (propagation[options->propagation])
		buffer_printf(&out, ",\"propagationPolicy\":\"%s\"", propagation[options->propagation]);
	if (options->uid && options->uid[0])
		buffer_printf(&out, ",\"preconditions\":{\"uid\":\"%s\"}", options->uid);
	buffer_puts(&out, "}");
	return out.text;
}

static const char *subresource_of(enum store_subresource subresource)
{
	switch (subresource) {
	case STORE_STATUS:
		return "status";
	case STORE_SCALE:
		return "scale";
	case STORE_BINDING:
		return "binding";
	case STORE_EVICTION:
		return "eviction";
	case STORE_FINALIZE:
		return "finalize";
	default:
		return NULL;
	}
}

static void add_query(struct outgoing *outgoing, const struct store_request *request)
{
	struct buffer path = {0};
	buffer_printf(&path, "%s?fieldManager=%s%s", outgoing->path, request->manager,
	              request->force ? "&force=true" : "");
	free(outgoing->path);
	outgoing->path = path.text;
}

void write_forward(void *context, const struct store_request *request, const struct store_object *object)
{
	static const char *const methods[] = {
		[STORE_CREATE] = "POST", [STORE_UPDATE] = "PUT", [STORE_PATCH] = "PATCH", [STORE_DELETE] = "DELETE"};
	struct remote *remote = context;
	/* Nobody above asks for this one; single deletes do the same. */
	if (request->verb == STORE_DELETE_COLLECTION)
		return;
	const struct store_type *type = request->api->type;
	bool creates = request->verb == STORE_CREATE && request->subresource == STORE_MAIN;
	const char *name = creates && object ? object->name : request->name;
	const char *namespace_ = object ? object->namespace_ : request->namespace_ ? request->namespace_ : "";
	struct assumed *assumed = need(remote, type, namespace_, name);
	struct outgoing *outgoing = base_calloc(1, sizeof(*outgoing));
	outgoing->method = methods[request->verb];
	outgoing->path = object_path(assumed, subresource_of(request->subresource), creates);
	outgoing->binding = request->subresource == STORE_BINDING;
	if (request->verb == STORE_DELETE)
		outgoing->body = delete_options(&request->options);
	else
		outgoing->body = json_of(request->body);
	if (request->verb == STORE_PATCH)
		outgoing->content_type = base_strdup(patch_type(request->patch));
	if (request->manager && request->manager[0] && request->verb != STORE_DELETE)
		add_query(outgoing, request);
	add(assumed, outgoing);
	/* What the mirror does not show it does not keep either. */
	if (!assumed->followed)
		store_mirror_remove(remote->store, type, namespace_, name);
}
