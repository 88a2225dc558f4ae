/* Owns keeping the objects of each type in the mirror: a list in pages, then a watch from there, again from the last
 * version when it ends, and from the beginning when that version is too old. */
#include "store/remote_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST (REMOTE_SECOND / 5)
#define PAUSE_LONGEST (30 * REMOTE_SECOND)
#define PAUSE_BACK (REMOTE_SECOND / 2)     /* at most, when the server that was away has answered somebody */
#define PAUSE_PROBE (2 * REMOTE_SECOND)    /* at most, from one attempt to reach a server that is away to the next */
#define PAUSE_MISSING (30 * REMOTE_SECOND) /* for kinds that the server does not have */
#define WATCH_SECONDS 300                  /* then the server ends it, and it is opened anew */
#define LINE_MAX_BYTES ((size_t)64 << 20)

enum follow_state { FOLLOW_PAUSED, FOLLOW_LISTING, FOLLOW_WATCHING };

struct follow {
	struct remote *remote;
	const struct store_api *api;
	const struct remote_follow *wanted;
	enum follow_state state;
	struct remote_request *request;
	int64_t due; /* while paused */
	unsigned failures;
	bool synced;             /* listed at least once */
	char *version;           /* to watch from; NULL: to be listed */
	char *continue_;         /* next page */
	struct interner *listed; /* namespace/name of what the list has so far */
	struct buffer line;      /* of the watch, not complete yet */
	bool expired;            /* the watch said so */
	bool unreachable;        /* why it is paused: there was no server, or none that could answer */
	bool told_missing;       /* that the server does not have it */
};

static void start(struct follow *follow);

void follow_begin(struct remote *remote)
{
	remote->follows = base_calloc(remote->options.follow_count, sizeof(*remote->follows));
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		const struct remote_follow *wanted = &remote->options.follow[i];
		remote->follows[i] = (struct follow){
			.remote = remote,
			.api = store_api_find(remote->store, wanted->group, wanted->version, wanted->resource),
			.wanted = wanted,
		};
	}
}

static void forget_list(struct follow *follow)
{
	interner_destroy(follow->listed);
	follow->listed = NULL;
	free(follow->continue_);
	follow->continue_ = NULL;
}

void follow_end(struct remote *remote)
{
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		forget_list(&remote->follows[i]);
		free(remote->follows[i].version);
		buffer_free(&remote->follows[i].line);
	}
	free(remote->follows);
}

bool follow_synced(const struct remote *remote)
{
	for (size_t i = 0; i < remote->options.follow_count; i++)
		if (!remote->follows[i].synced)
			return false;
	return true;
}

bool follow_has(const struct remote *remote, const struct store_type *type)
{
	for (size_t i = 0; i < remote->options.follow_count; i++)
		if (remote->follows[i].api && remote->follows[i].api->type == type)
			return true;
	return false;
}

const struct store_api *follow_api(const struct remote *remote, const struct store_type *type)
{
	for (size_t i = 0; i < remote->options.follow_count; i++)
		if (remote->follows[i].api && remote->follows[i].api->type == type)
			return remote->follows[i].api;
	return type->apis;
}

int64_t follow_step(struct remote *remote)
{
	int64_t due = INT64_MAX;
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		struct follow *follow = &remote->follows[i];
		if (!follow->api || follow->state != FOLLOW_PAUSED)
			continue;
		/* While the server is away one asks for all. */
		bool probes = remote->away && follow->unreachable;
		int64_t when = probes ? remote->probe_due : follow->due;
		if (when <= remote->now) {
			if (probes)
				remote->probe_due =
					remote->now + remote_pause(remote, PAUSE_FIRST, remote->probes++, PAUSE_PROBE);
			start(follow);
		} else if (when < due) {
			due = when;
		}
	}
	return due;
}

/* ---- pauses ---- */

/* Once: a cluster may do well without it. A definition that comes later is found by the next attempt. */
static void tell_missing(struct follow *follow, const struct remote_answer *answer)
{
	if (!follow->told_missing)
		log_write(follow->remote->options.logger, answer->code == 403 ? LOG_WARN : LOG_INFO, LOG_FLAG_WATCH,
		          answer->code == 403 ? "may not be read and is done without"
		                              : "not on this server, done without",
		          "group", follow->api->group, "resource", follow->api->type->resource, NULL);
	follow->told_missing = true;
}

static void pause_follow(struct follow *follow, const struct remote_answer *answer)
{
	struct remote *remote = follow->remote;
	bool missing = follow->wanted->optional && (answer->code == 404 || answer->code == 403);
	int64_t pause = missing ? PAUSE_MISSING : remote_pause(remote, PAUSE_FIRST, follow->failures, PAUSE_LONGEST);
	if (answer->retry_after * REMOTE_SECOND > pause)
		pause = answer->retry_after * REMOTE_SECOND;
	follow->failures++;
	follow->state = FOLLOW_PAUSED;
	follow->unreachable = answer->code == 0 || answer->code >= 500;
	remote->away |= follow->unreachable;
	follow->due = clock_now(remote->clock) + pause;
	if (missing) {
		follow->synced = true;
		tell_missing(follow, answer);
		return;
	}
	remote->counts.errors++;
	snprintf(remote->problem, sizeof(remote->problem), "%s: %.200s", follow->api->type->resource,
	         remote_answer_message(answer));
	log_write(remote->options.logger, follow->failures > 1 ? LOG_WARN : LOG_DEBUG, LOG_FLAG_WATCH, "cannot follow",
	          "resource", follow->api->type->resource, "error", remote_answer_message(answer), NULL);
}

/* The server was away and is back: nobody waits for the end of a pause that grew meanwhile, but not all come at once. */
void follow_back(struct remote *remote)
{
	remote->away = false;
	remote->probes = 0;
	remote->probe_due = 0;
	write_back(remote, PAUSE_BACK);
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		struct follow *follow = &remote->follows[i];
		if (follow->state != FOLLOW_PAUSED || !follow->unreachable)
			continue;
		int64_t due = clock_now(remote->clock) + remote_pause(remote, PAUSE_BACK, 0, PAUSE_BACK);
		follow->due = due < follow->due ? due : follow->due;
	}
}

static void succeed(struct follow *follow)
{
	follow->failures = 0;
	follow->remote->problem[0] = '\0';
	if (follow->remote->away)
		follow_back(follow->remote);
}

/* ---- lists ---- */

static bool is_named(const struct follow *follow, const struct store_object *object)
{
	const char *namespace_ = follow->wanted->namespace_;
	return follow->wanted->name && strcmp(follow->wanted->name, object->name) == 0 &&
	       (!namespace_ || strcmp(namespace_, object->namespace_) == 0);
}

/* Whether an object of the type would be in the list of this follow, and not in that of another. */
static bool covers(const struct follow *follow, const struct store_object *object)
{
	const struct remote *remote = follow->remote;
	if (follow->wanted->name)
		return is_named(follow, object);
	for (size_t i = 0; i < remote->options.follow_count; i++)
		if (remote->follows[i].api == follow->api && is_named(&remote->follows[i], object))
			return false;
	return true;
}

/* What the mirror has and the list has not is gone, unless the server has not heard of it yet. */
static void remove_missing(struct follow *follow)
{
	struct remote *remote = follow->remote;
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = follow->api};
	struct store_error error = {0};
	if (store_list(remote->store, &request, &list, arena, &error) == 0) {
		for (size_t i = 0; i < list.count; i++) {
			const struct store_object *object = list.items[i];
			const char *key = arena_printf(arena, "%s/%s", object->namespace_, object->name);
			if (covers(follow, object) && interner_find(follow->listed, key) == UINT32_MAX &&
			    !write_is_assumed(remote, object->type, object->namespace_, object->name))
				store_mirror_remove(remote->store, object->type, object->namespace_, object->name);
		}
		store_list_clear(&list);
	}
	arena_destroy(arena);
}

static void take_page(struct follow *follow, const struct val *root)
{
	struct arena *arena = arena_create();
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(root, "items")); val_next(&it, NULL, &item);) {
		const struct val *metadata = val_get(item, "metadata");
		const char *namespace_ = val_str(val_get(metadata, "namespace"), ""),
			   *name = val_str(val_get(metadata, "name"), "");
		interner_id(follow->listed, arena_printf(arena, "%s/%s", namespace_, name));
		write_feed(follow->remote, follow->api->type, namespace_, name, remote_trim(item, follow->api), true);
	}
	arena_destroy(arena);
	const struct val *metadata = val_get(root, "metadata");
	const char *more = val_str(val_get(metadata, "continue"), "");
	free(follow->continue_);
	follow->continue_ = more[0] ? base_strdup(more) : NULL;
	if (follow->continue_)
		return;
	free(follow->version);
	follow->version = base_strdup(val_str(val_get(metadata, "resourceVersion"), "0"));
	remove_missing(follow);
	forget_list(follow);
	follow->synced = true;
}

static void on_list(void *context, const struct remote_answer *answer)
{
	struct follow *follow = context;
	follow->request = NULL;
	struct doc *doc =
		answer->code == 200 && !answer->problem[0] ? doc_parse_json(answer->body, answer->length, NULL) : NULL;
	if (!doc) {
		/* A page that expired, or anything else: from the beginning. */
		forget_list(follow);
		pause_follow(follow, answer);
		return;
	}
	succeed(follow);
	take_page(follow, doc_root(doc));
	doc_destroy(doc);
	start(follow);
}

static void add_encoded(struct buffer *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
		    strchr("-_.~", *at))
			buffer_printf(out, "%c", *at);
		else
			buffer_printf(out, "%%%02X", *at);
	}
}

static void collection_path(const struct follow *follow, struct buffer *out)
{
	remote_path(follow->api, follow->wanted->namespace_ ? follow->wanted->namespace_ : "", out);
	buffer_puts(out, "?");
	if (follow->wanted->labels) {
		buffer_puts(out, "labelSelector=");
		add_encoded(out, follow->wanted->labels);
		buffer_puts(out, "&");
	}
	if (follow->wanted->name) {
		buffer_puts(out, "fieldSelector=metadata.name%3D");
		add_encoded(out, follow->wanted->name);
		buffer_puts(out, "&");
	}
}

static void start_list(struct follow *follow)
{
	struct buffer path = {0};
	collection_path(follow, &path);
	buffer_printf(&path, "limit=%zu", follow->remote->options.page);
	if (follow->continue_) {
		buffer_puts(&path, "&continue=");
		add_encoded(&path, follow->continue_);
	} else {
		follow->listed = interner_create();
		follow->remote->counts.lists++;
	}
	follow->state = FOLLOW_LISTING;
	follow->request = remote_client_send(follow->remote->client, &(struct remote_call){
									     .method = "GET",
									     .path = path.text,
									     .timeout_ms = 120000,
									     .done = on_list,
									     .context = follow,
								     });
	buffer_free(&path);
}

/* ---- watches ---- */

static void take_version(struct follow *follow, const struct val *object)
{
	const char *version = val_str(val_path(object, "metadata", "resourceVersion", NULL), "");
	if (!version[0])
		return;
	free(follow->version);
	follow->version = base_strdup(version);
}

static void take_event(struct follow *follow, const struct val *root)
{
	const char *type = val_str(val_get(root, "type"), "");
	const struct val *object = val_get(root, "object");
	if (strcmp(type, "ERROR") == 0) {
		int64_t code = 0;
		val_int(val_get(object, "code"), &code);
		follow->expired |= code == 410;
		return;
	}
	follow->remote->counts.events++;
	take_version(follow, object);
	if (strcmp(type, "BOOKMARK") == 0)
		return;
	const struct val *metadata = val_get(object, "metadata");
	const char *namespace_ = val_str(val_get(metadata, "namespace"), ""),
		   *name = val_str(val_get(metadata, "name"), "");
	if (strcmp(type, "DELETED") == 0)
		write_feed_gone(follow->remote, follow->api->type, namespace_, name,
		                val_str(val_get(metadata, "uid"), ""));
	else
		write_feed(follow->remote, follow->api->type, namespace_, name, remote_trim(object, follow->api),
		           false);
}

static bool take_line(struct follow *follow, const char *text, size_t length)
{
	struct doc *doc = doc_parse_json(text, length, NULL);
	if (!doc)
		return false;
	take_event(follow, doc_root(doc));
	doc_destroy(doc);
	return !follow->expired;
}

static bool on_watch_data(void *context, const char *bytes, size_t length)
{
	struct follow *follow = context;
	succeed(follow);
	while (length > 0) {
		const char *end = memchr(bytes, '\n', length);
		size_t part = end ? (size_t)(end - bytes) : length;
		if (follow->line.length + part > LINE_MAX_BYTES)
			return false;
		/* A whole line in one piece needs no copy. */
		if (end && follow->line.length == 0) {
			if (!take_line(follow, bytes, part))
				return false;
		} else {
			buffer_append(&follow->line, bytes, part);
			if (end && !take_line(follow, follow->line.text, follow->line.length))
				return false;
			if (end)
				follow->line.length = 0;
		}
		bytes += part + (end != NULL);
		length -= part + (end != NULL);
	}
	return true;
}

static void on_watch_end(void *context, const struct remote_answer *answer)
{
	struct follow *follow = context;
	follow->request = NULL;
	bool expired = follow->expired || answer->code == 410;
	if (expired) {
		log_write(follow->remote->options.logger, LOG_INFO, LOG_FLAG_WATCH,
		          "the server forgot the version of the watch, listing again", "resource",
		          follow->api->type->resource, NULL);
		free(follow->version);
		follow->version = NULL;
	}
	/* The usual end, after WATCH_SECONDS, or a list that is due: no pause. */
	if (expired || (answer->code == 200 && !answer->problem[0] && follow->failures == 0))
		start(follow);
	else
		pause_follow(follow, answer);
}

static void start_watch(struct follow *follow)
{
	struct buffer path = {0};
	collection_path(follow, &path);
	buffer_printf(&path, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=", WATCH_SECONDS);
	add_encoded(&path, follow->version);
	follow->line.length = 0;
	follow->expired = false;
	follow->state = FOLLOW_WATCHING;
	follow->remote->counts.watches++;
	follow->request = remote_client_send(follow->remote->client, &(struct remote_call){
									     .method = "GET",
									     .path = path.text,
									     .timeout_ms = -1,
									     .data = on_watch_data,
									     .done = on_watch_end,
									     .context = follow,
								     });
	buffer_free(&path);
}

static void start(struct follow *follow)
{
	if (follow->version && !follow->continue_)
		start_watch(follow);
	else
		start_list(follow);
}
