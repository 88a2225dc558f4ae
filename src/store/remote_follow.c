/* Owns keeping the objects of each type in the mirror: a list, then a watch from there, again from the last version when
 * it ends, and from the beginning when that version is too old.
 *
 * Lists ask for the newest state (no resourceVersion): an old one would not show what was bound a moment ago. */
#include "store/remote_internal.h"
#include "store/remote_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST (REMOTE_SECOND / 5)
#define PAUSE_LONGEST (30 * REMOTE_SECOND)
#define PAUSE_BACK (REMOTE_SECOND / 2)     /* at most, when the server that was away has answered somebody */
#define PAUSE_PROBE (2 * REMOTE_SECOND)    /* at most, from one attempt to reach a server that is away to the next */
#define PAUSE_MISSING (30 * REMOTE_SECOND) /* for kinds that the server does not have */
#define WATCH_SECONDS 300                  /* then the server ends it, and it is opened anew */
#define WATCH_SHORTEST REMOTE_SECOND       /* one that ends sooner and said nothing is no good */
#define OBJECT_MAX_BYTES ((size_t)64 << 20)
#define LISTS_AT_ONCE 6 /* connections are dear at the start; the kinds with many objects come first */

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
	struct interner *listed; /* namespace/name of what the list has so far; NULL: the mirror had nothing before */
	struct remote_items items;
	struct remote_lines lines;
	struct error problem; /* with what the answer on its way says */
	bool checked;         /* it is a list of this kind */
	bool expired;         /* the watch said so */
	unsigned expiries;    /* watches in a row that said nothing else */
	bool heard;           /* the watch said something */
	int64_t opened;       /* when the watch was */
	uint64_t began;       /* burials before the list */
	bool unreachable;     /* why it is paused: there was no server, or none that could answer */
	bool told_missing;    /* that the server does not have it */
};

static void start(struct follow *follow);

/* Only as much of a definition as makes the type known here; the server checks what is in its objects. */
static void define(struct remote *remote, const struct remote_follow *wanted)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{"
	              "\"name\":\"%s.%s\"},\"spec\":{\"group\":\"%s\",\"scope\":\"Namespaced\",\"names\":{\"kind\":"
	              "\"%s\",\"listKind\":\"%sList\",\"plural\":\"%s\",\"singular\":\"%s\"},\"versions\":[{\"name\":"
	              "\"%s\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
	              "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}",
	              wanted->resource, wanted->group, wanted->group, wanted->kind, wanted->kind, wanted->resource,
	              wanted->resource, wanted->version);
	struct doc *doc = doc_parse_json(text.text, text.length, NULL);
	if (doc)
		store_mirror_put(remote->store,
		                 store_type_find(remote->store, "apiextensions.k8s.io", "customresourcedefinitions"),
		                 doc);
	buffer_free(&text);
}

static void begin_one(struct remote *remote, struct follow *follow, const struct remote_follow *wanted)
{
	if (wanted->kind)
		define(remote, wanted);
	*follow = (struct follow){
		.remote = remote,
		.api = store_api_find(remote->store, wanted->group, wanted->version, wanted->resource),
		.wanted = wanted,
	};
}

/* They stay where they are while requests are on their way: there is room for kinds that come later. */
void follow_begin(struct remote *remote)
{
	remote->follow_room = remote->options.follow_count + REMOTE_MOST_KINDS;
	remote->follows = base_calloc(remote->follow_room, sizeof(*remote->follows));
	for (size_t i = 0; i < remote->options.follow_count; i++)
		begin_one(remote, &remote->follows[i], &remote->options.follow[i]);
}

static void forget_list(struct follow *follow)
{
	interner_destroy(follow->listed);
	follow->listed = NULL;
	free(follow->continue_);
	follow->continue_ = NULL;
	remote_items_free(&follow->items);
	follow->items = (struct remote_items){0};
}

static void end_one(struct follow *follow)
{
	forget_list(follow);
	free(follow->version);
	follow->version = NULL;
	remote_lines_free(&follow->lines);
	follow->lines = (struct remote_lines){0};
}

void follow_end(struct remote *remote)
{
	for (size_t i = 0; i < remote->options.follow_count; i++)
		end_one(&remote->follows[i]);
	free(remote->follows);
	arena_destroy(remote->kinds);
}

/* ---- kinds that come and go ---- */

static bool is_same_kind(const struct remote_follow *a, const struct remote_follow *b)
{
	return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0 &&
	       strcmp(a->resource, b->resource) == 0 && strcmp(a->kind, b->kind) == 0;
}

static bool is_among(const struct remote_follow *one, const struct remote_follow *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_kind(one, &kinds[i]))
			return true;
	return false;
}

/* What nobody follows any more is not shown either: it would never change. */
static void drop_objects(struct remote *remote, const struct store_api *api)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = api};
	struct store_error error = {0};
	if (!follow_has(remote, api->type) && store_list(remote->store, &request, &list, arena, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			store_mirror_remove(remote->store, api->type, list.items[i]->namespace_, list.items[i]->name);
	store_list_clear(&list);
	arena_destroy(arena);
}

static void stop_following(struct follow *follow)
{
	struct remote *remote = follow->remote;
	const struct store_api *api = follow->api;
	if (follow->request)
		remote_client_cancel(follow->request);
	end_one(follow);
	*follow = (struct follow){.remote = remote, .wanted = follow->wanted, .synced = true};
	if (api)
		drop_objects(remote, api);
	log_write(remote->options.logger, LOG_INFO, LOG_FLAG_WATCH, "kind is no longer followed", "group",
	          follow->wanted->group, "resource", follow->wanted->resource, NULL);
}

static void start_following(struct remote *remote, const struct remote_follow *kind)
{
	size_t at = 0;
	while (at < remote->options.follow_count && (remote->follows[at].api || !remote->follows[at].wanted->kind))
		at++;
	if (at == remote->follow_room) {
		log_write(remote->options.logger, LOG_ERROR, 0, "too many kinds at once, this one is not followed",
		          "group", kind->group, "resource", kind->resource, NULL);
		return;
	}
	if (!remote->kinds)
		remote->kinds = arena_create();
	struct remote_follow *own = arena_new(remote->kinds, struct remote_follow);
	*own = (struct remote_follow){
		.group = arena_strdup(remote->kinds, kind->group),
		.version = arena_strdup(remote->kinds, kind->version),
		.resource = arena_strdup(remote->kinds, kind->resource),
		.kind = arena_strdup(remote->kinds, kind->kind),
		.optional = true,
	};
	begin_one(remote, &remote->follows[at], own);
	/* Nothing waits for it: pods of such workloads were there before, too. */
	remote->follows[at].synced = true;
	if (at == remote->options.follow_count)
		remote->options.follow_count++;
	log_write(remote->options.logger, LOG_INFO, LOG_FLAG_WATCH, "kind is followed", "group", kind->group,
	          "resource", kind->resource, NULL);
}

void remote_follow_kinds(struct remote *remote, const struct remote_follow *kinds, size_t count)
{
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		struct follow *follow = &remote->follows[i];
		if (follow->api && follow->wanted->kind && !is_among(follow->wanted, kinds, count))
			stop_following(follow);
	}
	for (size_t i = 0; i < count; i++) {
		bool followed = false;
		for (size_t j = 0; j < remote->options.follow_count && !followed; j++)
			followed = remote->follows[j].api && remote->follows[j].wanted->kind &&
			           is_same_kind(remote->follows[j].wanted, &kinds[i]);
		if (!followed)
			start_following(remote, &kinds[i]);
	}
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

static bool is_list(const struct follow *follow)
{
	return !follow->version || follow->continue_;
}

/* Whether it has to wait for others. At the start lists come first, a few at a time: many connections at once take from
 * server and client what the lists need. */
static bool is_held(const struct follow *follow, size_t listing)
{
	if (is_list(follow))
		return listing >= LISTS_AT_ONCE;
	return listing > 0 && !follow_synced(follow->remote);
}

int64_t follow_step(struct remote *remote)
{
	int64_t due = INT64_MAX;
	size_t listing = 0;
	for (size_t i = 0; i < remote->options.follow_count; i++)
		listing += remote->follows[i].state == FOLLOW_LISTING;
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		struct follow *follow = &remote->follows[i];
		if (!follow->api || follow->state != FOLLOW_PAUSED)
			continue;
		/* While the server is away one asks for all. */
		bool probes = remote->away && follow->unreachable;
		int64_t when = probes ? remote->probe_due : follow->due;
		if (when > remote->now) {
			due = when < due ? when : due;
			continue;
		}
		if (is_held(follow, listing))
			continue; /* the end of a list brings the next turn */
		if (probes)
			remote->probe_due =
				remote->now + remote_pause(remote, PAUSE_FIRST, remote->probes++, PAUSE_PROBE);
		listing += is_list(follow);
		start(follow);
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

/* With what went wrong: what the answer says, unless something was wrong with that. */
static void pause_follow(struct follow *follow, const struct remote_answer *answer)
{
	struct remote *remote = follow->remote;
	const char *message = follow->problem.text[0] ? follow->problem.text : remote_answer_message(answer);
	bool missing = follow->wanted->optional && (answer->code == 404 || answer->code == 403);
	int64_t pause = missing ? PAUSE_MISSING : remote_pause(remote, PAUSE_FIRST, follow->failures, PAUSE_LONGEST);
	int64_t asked = remote_asked_pause(answer);
	pause = asked > pause ? asked : pause;
	follow->failures++;
	follow->state = FOLLOW_PAUSED;
	/* One that says when to come again is there. */
	follow->unreachable = answer->code == 0 || (answer->code >= 500 && !asked);
	follow->due = clock_now(remote->clock) + pause;
	if (follow->unreachable && remote->probes == 0 && remote->probe_due == 0)
		remote->probe_due = clock_now(remote->clock) + remote_pause(remote, PAUSE_FIRST, 0, PAUSE_PROBE);
	remote->away |= follow->unreachable;
	if (missing) {
		follow->synced = true;
		tell_missing(follow, answer);
		return;
	}
	remote->counts.errors++;
	snprintf(remote->problem, sizeof(remote->problem), "%s: %.200s", follow->api->type->resource, message);
	log_write(remote->options.logger, follow->failures > 1 ? LOG_WARN : LOG_DEBUG, LOG_FLAG_WATCH, "cannot follow",
	          "resource", follow->api->type->resource, "error", message, NULL);
}

/* What is next is so at the next turn. */
static void go_on(struct follow *follow)
{
	follow->state = FOLLOW_PAUSED;
	follow->unreachable = false;
	follow->due = 0;
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
	if (follow->listed && store_list(remote->store, &request, &list, arena, &error) == 0) {
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

/* Whether this is what a list of the kind says about itself. */
static bool is_right_kind(const struct follow *follow, const char *kind)
{
	const struct store_api *api = follow->api;
	if (api->group[0]) /* definitions may call their lists as they like */
		return text_ends_with(kind, "List");
	size_t length = strlen(api->type->kind);
	return strncmp(kind, api->type->kind, length) == 0 && strcmp(kind + length, "List") == 0;
}

/* Something that is no list must not be taken for one without items: all objects would seem to be gone. */
static int check_envelope(struct follow *follow, const struct val *root, bool whole)
{
	const char *kind = val_str(val_get(root, "kind"), ""),
		   *version = val_str(val_path(root, "metadata", "resourceVersion", NULL), "");
	const struct val *items = val_get(root, "items");
	if (!whole && !val_get(root, "kind"))
		return 0; /* it may come later */
	if (!is_right_kind(follow, kind))
		return error_set(&follow->problem, ERROR_INVALID, "the answer is no list of %s but \"%.60s\"",
		                 follow->api->type->kind, kind);
	if (whole && (!version[0] || !items || (val_kind(items) != VAL_LIST && val_kind(items) != VAL_NULL)))
		return error_set(&follow->problem, ERROR_INVALID, "the list has no resourceVersion or no items");
	return 0;
}

static int take_item(void *context, const char *text, size_t length)
{
	struct follow *follow = context;
	struct remote *remote = follow->remote;
	if (!follow->checked) {
		struct doc *envelope = remote_items_envelope(&follow->items);
		int status = check_envelope(follow, doc_root(envelope), false);
		doc_destroy(envelope);
		if (status < 0)
			return -1;
		follow->checked = true;
	}
	struct doc *doc = doc_parse_json_scanned(text, length, &follow->problem);
	const struct val *metadata = doc ? val_get(doc_root(doc), "metadata") : NULL;
	const char *namespace_ = val_str(val_get(metadata, "namespace"), ""),
		   *name = val_str(val_get(metadata, "name"), "");
	int status = 0;
	if (doc && !name[0])
		status = error_set(&follow->problem, ERROR_INVALID, "an item of the list has no name");
	if (doc && status == 0) {
		if (follow->listed) {
			struct buffer key = {0};
			buffer_printf(&key, "%s/%s", namespace_, name);
			interner_id(follow->listed, key.text);
			buffer_free(&key);
		}
		write_feed(remote, follow->api->type, namespace_, name,
		           remote_trim(remote->copier, doc_root(doc), follow->api, remote->options.whole),
		           (int64_t)follow->began);
	}
	doc_destroy(doc);
	return doc ? status : -1;
}

static bool on_list_data(void *context, const char *bytes, size_t length)
{
	struct follow *follow = context;
	return remote_items_feed(&follow->items, bytes, length, OBJECT_MAX_BYTES, take_item, follow,
	                         &follow->problem) == 0;
}

static void end_page(struct follow *follow, const struct val *root)
{
	const struct val *metadata = val_get(root, "metadata");
	const char *more = val_str(val_get(metadata, "continue"), "");
	free(follow->continue_);
	follow->continue_ = more[0] ? base_strdup(more) : NULL;
	if (follow->continue_)
		return;
	free(follow->version);
	follow->version = base_strdup(val_str(val_get(metadata, "resourceVersion"), "0"));
	remove_missing(follow);
	write_listed(follow->remote, follow->api->type, follow->began);
	forget_list(follow);
	follow->synced = true;
}

static void on_list(void *context, const struct remote_answer *answer)
{
	struct follow *follow = context;
	bool good = answer->code == 200 && !answer->problem[0] && !follow->problem.text[0];
	follow->request = NULL;
	struct doc *doc = good ? remote_items_envelope(&follow->items) : NULL;
	if (good && !doc)
		error_set(&follow->problem, ERROR_SYNTAX, "the answer is not JSON");
	if (!doc || check_envelope(follow, doc_root(doc), true) < 0 || follow->items.where == ITEMS_INSIDE) {
		/* A page that expired, or anything else: from the beginning. */
		forget_list(follow);
		pause_follow(follow, answer);
	} else {
		succeed(follow);
		end_page(follow, doc_root(doc));
		go_on(follow);
	}
	doc_destroy(doc);
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

static bool has_objects(const struct follow *follow)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = follow->api, .limit = 1};
	struct store_error error = {0};
	bool has = store_list(follow->remote->store, &request, &list, arena, &error) < 0 || list.count > 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return has;
}

static void begin_answer(struct follow *follow, enum follow_state state)
{
	follow->state = state;
	follow->problem.text[0] = '\0';
	follow->expired = follow->heard = follow->checked = false;
	follow->lines.rest.length = 0;
}

static void start_list(struct follow *follow)
{
	struct remote *remote = follow->remote;
	struct buffer path = {0};
	collection_path(follow, &path);
	if (remote->options.page)
		buffer_printf(&path, "limit=%zu", remote->options.page);
	else if (strchr("?&", path.text[path.length - 1]))
		path.text[--path.length] = '\0';
	remote_items_free(&follow->items);
	follow->items = (struct remote_items){0};
	if (follow->continue_) {
		buffer_puts(&path, "&continue=");
		add_encoded(&path, follow->continue_);
	} else {
		if (has_objects(follow))
			follow->listed = interner_create();
		follow->began = remote->burials;
		remote->counts.lists++;
	}
	begin_answer(follow, FOLLOW_LISTING);
	follow->request = remote_client_send(remote->client, &(struct remote_call){
								     .method = "GET",
								     .path = path.text,
								     .timeout_ms = -1,
								     .compressed = true,
								     .data = on_list_data,
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

static int refuse_event(struct follow *follow, const char *what)
{
	return error_set(&follow->problem, ERROR_INVALID, "the watch says what cannot be understood: %s", what);
}

static int take_error(struct follow *follow, const struct val *status)
{
	int64_t code = 0;
	val_int(val_get(status, "code"), &code);
	follow->expired = code == 410;
	if (!follow->expired)
		error_set(&follow->problem, ERROR_IO, "the watch ended: %.200s",
		          val_str(val_get(status, "message"), "the server does not say why"));
	return -1;
}

static int take_event(struct follow *follow, const struct val *root)
{
	const char *type = val_str(val_get(root, "type"), "");
	const struct val *object = val_get(root, "object"), *metadata = val_get(object, "metadata");
	const char *namespace_ = val_str(val_get(metadata, "namespace"), ""),
		   *name = val_str(val_get(metadata, "name"), "");
	bool bookmark = strcmp(type, "BOOKMARK") == 0, gone = strcmp(type, "DELETED") == 0;
	if (strcmp(type, "ERROR") == 0)
		return take_error(follow, object);
	if (!bookmark && !gone && strcmp(type, "ADDED") != 0 && strcmp(type, "MODIFIED") != 0)
		return refuse_event(follow, "an event of unknown type");
	if (val_kind(metadata) != VAL_MAP || (!bookmark && !name[0]))
		return refuse_event(follow, "an object without a name");
	follow->remote->counts.events++;
	follow->heard = true;
	follow->expiries = 0;
	succeed(follow);
	take_version(follow, object);
	if (gone)
		write_feed_gone(follow->remote, follow->api->type, namespace_, name,
		                val_str(val_get(metadata, "uid"), ""));
	else if (!bookmark)
		write_feed(follow->remote, follow->api->type, namespace_, name,
		           remote_trim(follow->remote->copier, object, follow->api, follow->remote->options.whole), -1);
	return 0;
}

static int take_line(void *context, const char *text, size_t length)
{
	struct follow *follow = context;
	struct doc *doc = doc_parse_json(text, length, NULL);
	int status = doc ? take_event(follow, doc_root(doc)) : refuse_event(follow, "a line that is not JSON");
	doc_destroy(doc);
	return status;
}

static bool on_watch_data(void *context, const char *bytes, size_t length)
{
	struct follow *follow = context;
	return remote_lines_feed(&follow->lines, bytes, length, OBJECT_MAX_BYTES, take_line, follow,
	                         &follow->problem) == 0;
}

static void on_watch_end(void *context, const struct remote_answer *answer)
{
	struct follow *follow = context;
	follow->request = NULL;
	bool expired = follow->expired || answer->code == 410;
	bool usual = answer->code == 200 && !answer->problem[0] && !follow->problem.text[0];
	if (expired) {
		log_write(follow->remote->options.logger, LOG_INFO, LOG_FLAG_WATCH,
		          "the server forgot the version of the watch, listing again", "resource",
		          follow->api->type->resource, NULL);
		free(follow->version);
		follow->version = NULL;
		follow->expiries++;
	}
	if (usual && !expired && !follow->heard && clock_now(follow->remote->clock) - follow->opened < WATCH_SHORTEST) {
		error_set(&follow->problem, ERROR_IO, "the server ends the watch at once");
		usual = false;
	}
	/* The usual end, after WATCH_SECONDS, or a list that is due: no pause. But a server that knows no version for
	 * long is not listed without end. */
	if (expired ? follow->expiries <= 1 : usual)
		go_on(follow);
	else
		pause_follow(follow, answer);
}

static void start_watch(struct follow *follow)
{
	struct buffer path = {0};
	collection_path(follow, &path);
	buffer_printf(&path, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=", WATCH_SECONDS);
	add_encoded(&path, follow->version);
	begin_answer(follow, FOLLOW_WATCHING);
	follow->opened = clock_now(follow->remote->clock);
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
	if (is_list(follow))
		start_list(follow);
	else
		start_watch(follow);
}
