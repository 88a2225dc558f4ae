/* Owns the writes of a mirror on their way to the server, and what the mirror shows meanwhile. */
#include "remote/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define PAUSE_FIRST (CLOCK_SECOND / 10)
#define PAUSE_LONGEST (10 * CLOCK_SECOND)
#define ATTEMPTS 10
#define NODE_PATIENCE (10 * CLOCK_SECOND)

/* ---- objects with unanswered writes ---- */

static struct assumed *find(const struct remote *remote, const struct store_type *type, const char *namespace_,
                            const char *name)
{
	struct buffer key = {0};
	struct assumed *found;
	if (!remote->assumed) /* as while lists arrive at the start */
		return NULL;
	buffer_printf(&key, "%p/%s/%s", (const void *)type, namespace_, name);
	HASH_FIND(hh, remote->assumed, key.text, key.length, found);
	buffer_free(&key);
	return found;
}

struct assumed *write_about(struct remote *remote, const struct store_type *type, const char *namespace_,
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
	pending_creates_end(outgoing, "");
	outgoing->about->remote->courtesies -= outgoing->rank == RANK_LAST;
	claim_free(outgoing);
	free(outgoing->path);
	free(outgoing->body);
	free(outgoing->refused);
	free(outgoing);
}

/* Bound pods of which no watch told that they are stand in a line, the longest waiting first. */
static void stop_awaiting(struct assumed *assumed)
{
	struct remote *remote = assumed->remote;
	if (!assumed->awaits_node)
		return;
	assumed->awaits_node = false;
	DL_DELETE2(remote->awaiting, assumed, line_previous, line_next);
}

static void await_node(struct assumed *assumed)
{
	struct remote *remote = assumed->remote;
	stop_awaiting(assumed);
	assumed->awaits_node = true;
	assumed->awaits_end = clock_now(remote->clock) + NODE_PATIENCE;
	DL_APPEND2(remote->awaiting, assumed, line_previous, line_next);
}

static void forget(struct assumed *assumed)
{
	stop_awaiting(assumed);
	HASH_DEL(assumed->remote->assumed, assumed);
	doc_destroy(assumed->server);
	free(assumed->gone_uid);
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

static void told_free(struct told *told)
{
	free(told->namespace_);
	free(told->name);
}

/* What is not followed (events) stays in the mirror only so that it can be counted up when it happens again. Nobody
 * tells of its end, so the oldest goes when there are many; it is asked for again if it is needed. */
static void remember(const struct assumed *assumed)
{
	struct remote *remote = assumed->remote;
	struct told *told = &remote->told[remote->told_next++ % REMOTE_MOST_TOLD];
	if (told->type && !write_is_assumed(remote, told->type, told->namespace_, told->name))
		store_mirror_remove(remote->store, told->type, told->namespace_, told->name);
	told_free(told);
	*told = (struct told){.type = assumed->type,
	                      .namespace_ = base_strdup(assumed->namespace_),
	                      .name = base_strdup(assumed->name)};
}

/* Nothing is on its way any more: the mirror shows what the server has. */
static void settle(struct assumed *assumed)
{
	if (assumed->first || assumed->current || assumed->awaits_node)
		return;
	if (assumed->gone) {
		store_mirror_remove(assumed->remote->store, assumed->type, assumed->namespace_, assumed->name);
	} else if (assumed->server) {
		times_put(assumed->remote, assumed->type, assumed->server);
		assumed->server = NULL;
		if (!assumed->followed)
			remember(assumed);
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

/* What a watch said to be gone does not come back with an answer from before, which came on another connection. */
static bool is_from_before(const struct assumed *assumed, const struct doc *doc)
{
	return assumed->gone_uid && strcmp(assumed->gone_uid, uid_of(doc_root(doc))) == 0;
}

static void hear(struct assumed *assumed, struct doc *doc)
{
	if (doc && is_from_before(assumed, doc)) {
		doc_destroy(doc);
		doc = NULL;
	}
	if (!doc) {
		doc_destroy(assumed->server);
		assumed->server = NULL;
		assumed->gone = true;
		stop_awaiting(assumed);
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
		stop_awaiting(assumed);
}

/* What the server says of an object that it deletes or that loses its last finalizer: is it gone? */
static bool is_last_word(const char *method, const struct val *root)
{
	const struct val *metadata = val_get(root, "metadata");
	bool deletes = strcmp(method, "DELETE") == 0;
	int64_t grace = 0;
	if (!val_str(val_get(metadata, "deletionTimestamp"), NULL))
		return deletes;
	val_int(val_get(metadata, "deletionGracePeriodSeconds"), &grace);
	return grace == 0 && val_count(val_get(metadata, "finalizers")) == 0 && (deletes || strcmp(method, "GET") != 0);
}

/* The end of one object is not the end of the next of its name. */
static bool is_about_another(const struct remote *remote, const struct assumed *assumed, const struct store_type *type,
                             const char *namespace_, const char *name, const char *uid)
{
	const struct store_object *known = store_peek(remote->store, type, namespace_, name);
	if (assumed && assumed->server)
		return strcmp(uid_of(doc_root(assumed->server)), uid) != 0;
	if (assumed && assumed->creates > 0)
		return true;
	return known && known->uid[0] && strcmp(known->uid, uid) != 0;
}

void write_feed_gone(struct remote *remote, const struct store_type *type, const char *namespace_, const char *name,
                     const char *uid)
{
	struct assumed *assumed = find(remote, type, namespace_, name);
	tombstone_remove(remote, tombstone_find(remote, uid));
	if (is_about_another(remote, assumed, type, namespace_, name, uid))
		return;
	if (assumed) {
		free(assumed->gone_uid);
		assumed->gone_uid = base_strdup(uid);
		hear(assumed, NULL);
		settle(assumed);
	} else {
		store_mirror_remove(remote->store, type, namespace_, name);
	}
}

void write_feed(struct remote *remote, const struct store_type *type, const char *namespace_, const char *name,
                struct doc *doc, int64_t began)
{
	bool truth = began >= 0;
	struct assumed *assumed = find(remote, type, namespace_, name);
	struct tombstone *stone = tombstone_find(remote, uid_of(doc_root(doc)));
	if (stone && (!truth || stone->number > (uint64_t)began)) {
		doc_destroy(doc);
		return;
	}
	tombstone_remove(remote, stone);
	if (assumed) {
		hear(assumed, doc);
		settle(assumed);
		return;
	}
	/* The answer to a write may be newer than what a watch tells of the same object afterwards. */
	const struct store_object *known = store_peek(remote->store, type, namespace_, name);
	if (!truth && known && is_older(known->root, doc_root(doc)))
		doc_destroy(doc);
	else
		times_put(remote, type, doc);
}

/* ---- sending ---- */

static struct outgoing *make_get(struct assumed *assumed)
{
	struct outgoing *outgoing = base_calloc(1, sizeof(*outgoing));
	outgoing->about = assumed;
	outgoing->method = "GET";
	outgoing->path = write_path(assumed, follow_api(assumed->remote, assumed->type), NULL, false);
	return outgoing;
}

/* As if the server had refused it: it is asked what it has, and whoever decided the write decides anew. */
static struct outgoing *ask_instead(struct outgoing *outgoing)
{
	struct outgoing *get = make_get(outgoing->about);
	claim_keep(outgoing, get,
	           &(struct store_error){.code = 409,
	                                 .reason = "Conflict",
	                                 .message = "what it is about, or names as its owner, could not be created"});
	outgoing_free(outgoing);
	return get;
}

/* The next write of the object, when none is on its way. */
void write_advance(struct assumed *assumed)
{
	if (assumed->current || !assumed->first || assumed->first->holds > 0)
		return;
	struct outgoing *outgoing = assumed->first;
	assumed->first = outgoing->next;
	if (!assumed->first)
		assumed->last = NULL;
	if (outgoing->is_moot)
		outgoing = ask_instead(outgoing);
	assumed->current = outgoing;
	ranks_add(assumed->remote, outgoing);
}

/* What was refused: to send just that again is what a pause is for. */
static char *print_refused(const struct outgoing *outgoing)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s %s %s", outgoing->method, outgoing->path, outgoing->body ? outgoing->body : "");
	return text.text;
}

/* A write that was refused is left alone; others of the object are not to wait for that. */
static void end_pause(struct assumed *assumed, const struct outgoing *next)
{
	struct outgoing *current = assumed->current;
	if (!current || !current->refused)
		return;
	char *text = print_refused(next);
	if (strcmp(current->refused, text) != 0)
		current->due = clock_now(assumed->remote->clock);
	free(text);
}

static void write_add_first(struct assumed *assumed, struct outgoing *outgoing)
{
	end_pause(assumed, outgoing);
	outgoing->about = assumed;
	outgoing->next = assumed->first;
	assumed->first = outgoing;
	if (!assumed->last)
		assumed->last = outgoing;
	assumed->remote->counts.waiting++;
	write_advance(assumed);
}

void write_add(struct assumed *assumed, struct outgoing *outgoing)
{
	/* A binding overtakes what is told about the pod, if the server has the pod: nothing of it depends on that. */
	if (outgoing->binding && assumed->creates == 0) {
		write_add_first(assumed, outgoing);
		return;
	}
	end_pause(assumed, outgoing);
	outgoing->about = assumed;
	if (assumed->last)
		assumed->last->next = outgoing;
	else
		assumed->first = outgoing;
	assumed->last = outgoing;
	assumed->remote->counts.waiting++;
	write_advance(assumed);
}

char *write_path(const struct assumed *assumed, const struct store_api *api, const char *subresource, bool collection)
{
	struct buffer path = {0};
	remote_path(api, assumed->namespace_, &path);
	if (!collection)
		buffer_printf(&path, "/%s", assumed->name);
	if (subresource)
		buffer_printf(&path, "/%s", subresource);
	return path.text;
}

/* The answer to the GET says what became of what the write was to create. */
static void hand_create(struct outgoing *from, struct outgoing *get)
{
	get->create = from->create;
	from->create = NULL;
}

/* Asks for the object itself, after the answer to `answered` (NULL: none) did not tell. */
static void refresh(struct assumed *assumed, struct outgoing *answered)
{
	if (!assumed->followed)
		return;
	struct outgoing *get = make_get(assumed);
	if (answered)
		hand_create(answered, get);
	/* Whether it was created decides about all that follow. */
	if (get->create)
		write_add_first(assumed, get);
	else
		write_add(assumed, get);
}

/* After a refusal only asking is sure. Whoever decided the write decides anew when the answer is seen; a pause keeps what
 * is refused again and again from being sent without end. */
static void refresh_later(struct assumed *assumed, int64_t pause, struct outgoing *refused)
{
	struct remote *remote = assumed->remote;
	if (pause == 0 || assumed->first || assumed->current) {
		refresh(assumed, refused);
		return;
	}
	struct outgoing *outgoing = make_get(assumed);
	hand_create(refused, outgoing);
	outgoing->due = clock_now(remote->clock) + pause;
	outgoing->refused = print_refused(refused);
	assumed->current = outgoing;
	vec_push(&remote->delayed, outgoing);
}

static void retry(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct remote *remote = outgoing->about->remote;
	if (answer->code != 429)
		pending_creates_sent(outgoing);
	int64_t pause = remote_pause(remote, PAUSE_FIRST, outgoing->attempts, PAUSE_LONGEST);
	int64_t asked = remote_asked_pause(answer);
	outgoing->due = clock_now(remote->clock) + (asked > pause ? asked : pause);
	outgoing->unreachable = answer->code == 0;
	remote->away |= outgoing->unreachable;
	remote->counts.retries++;
	vec_push(&remote->delayed, outgoing);
}

static void refused(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct remote *remote = outgoing->about->remote;
	remote->counts.refused++;
	/* A conflict is somebody else's write: that is daily business. */
	bool usual = answer->code == 409 || answer->code == 404;
	if (remote->options.refused)
		remote->options.refused(remote->options.context, outgoing->path, answer->code,
		                        remote_answer_message(answer));
	log_write(remote->options.logger, usual ? LOG_DEBUG : LOG_WARN, LOG_FLAG_HTTP, "write refused", "method",
	          outgoing->method, "path", outgoing->path, "error", remote_answer_message(answer), NULL);
}

/* An answer as the mirror keeps it. */
static struct doc *trimmed(const struct assumed *assumed, const struct val *root)
{
	return remote_trim(assumed->remote->copier, root, follow_api(assumed->remote, assumed->type),
	                   follow_keeps(assumed->remote));
}

static void take_object(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct assumed *assumed = outgoing->about;
	struct doc *doc = doc_parse_json(answer->body, answer->length, NULL);
	const struct val *root = doc ? doc_root(doc) : NULL;
	bool deletes = strcmp(outgoing->method, "DELETE") == 0;
	bool object = strcmp(val_str(val_get(root, "kind"), ""), assumed->type->kind) == 0 &&
	              strcmp(val_str(val_path(root, "metadata", "name", NULL), ""), assumed->name) == 0;
	bool refused = outgoing->claim && !claim_settle(outgoing, root, object);
	if (!outgoing->claim)
		claim_accept(outgoing);
	pending_creates_sent(outgoing);
	if (object)
		refused |= !pending_creates_end(outgoing, uid_of(root));
	if ((deletes && !object) || (object && is_last_word(outgoing->method, root))) {
		if (assumed->followed)
			tombstone_add(assumed->remote, assumed->type,
			              object ? uid_of(root) : val_str(val_path(root, "details", "uid", NULL), ""));
		hear(assumed, NULL);
	} else if ((object && outgoing->foreign) || (!object && !outgoing->terse)) {
		/* Another version of the type, in another form, or nothing sensible: the mirror's own has to be asked for. */
		refresh(assumed, outgoing);
	} else if (object) {
		hear(assumed, trimmed(assumed, root));
		/* Other writes of the object may be on their way; their answers bring what they change. Whoever hears of a
		 * refusal is not to see what was refused. */
		if (refused && assumed->first)
			times_put(assumed->remote, assumed->type, trimmed(assumed, root));
	}
	doc_destroy(doc);
	if (outgoing->binding && !(assumed->server && has_node(doc_root(assumed->server))))
		await_node(assumed);
}

static bool is_temporary(const struct remote_answer *answer)
{
	return answer->code == 0 || answer->problem[0] || answer->code == 429 || answer->code >= 500 ||
	       answer->code == 401;
}

/* Whoever waits for the answer paces itself, and hears it when it is known what the server has. */
static void ask_after_refusal(struct outgoing *outgoing, const struct remote_answer *answer)
{
	struct assumed *assumed = outgoing->about;
	struct remote *remote = assumed->remote;
	bool usual = answer->code == 409 || answer->code == 404;
	if (outgoing->ticket) {
		struct outgoing *get = make_get(assumed);
		claim_move(outgoing, get, answer);
		hand_create(outgoing, get);
		write_add_first(assumed, get);
	} else if (assumed->followed) {
		refresh_later(assumed, refused_pause(remote, outgoing, usual), outgoing);
	}
}

static void on_answer(void *context, const struct remote_answer *answer)
{
	struct outgoing *outgoing = context;
	struct assumed *assumed = outgoing->about;
	struct remote *remote = assumed->remote;
	remote->in_flight--;
	remote->last_in_flight -= outgoing->rank == RANK_LAST;
	bool good = answer->code >= 200 && answer->code < 300 && !answer->problem[0];
	bool read = strcmp(outgoing->method, "GET") == 0;
	remote->counts.errors += !good;
	/* What the server has must be known in the end; what it shall do may be decided anew. */
	if (!good && is_temporary(answer) && (++outgoing->attempts < ATTEMPTS || read)) {
		retry(outgoing, answer);
		return;
	}
	assumed->current = NULL;
	remote->counts.waiting--;
	if (remote->away && good)
		follow_back(remote);
	if (good && !read)
		refused_forget(remote, outgoing);
	if (good)
		take_object(outgoing, answer);
	else if (read && answer->code == 404) {
		claim_settle(outgoing, NULL, true);
		pending_creates_end(outgoing, "");
		hear(assumed, NULL);
	} else if (!read) {
		refused(outgoing, answer);
		ask_after_refusal(outgoing, answer);
	} else {
		claim_settle(outgoing, NULL, false);
	}
	outgoing_free(outgoing);
	write_advance(assumed);
	settle(assumed);
}

static void send(struct remote *remote, struct outgoing *outgoing)
{
	remote->in_flight++;
	remote->last_in_flight += outgoing->rank == RANK_LAST;
	remote->counts.writes += outgoing->attempts == 0;
	remote_client_send(remote->client, &(struct remote_call){
						   .method = outgoing->method,
						   .path = outgoing->path,
						   .content_type = outgoing->content_type,
						   .body = outgoing->body,
						   .length = outgoing->body ? strlen(outgoing->body) : 0,
						   .may_go = outgoing->term ? fence_lets : NULL,
						   .done = on_answer,
						   .context = outgoing,
					   });
}

/* A watch may be behind or lost: the server is asked. When the next one is due. */
static int64_t ask_for_nodes(struct remote *remote)
{
	while (remote->awaiting && remote->awaiting->awaits_end <= remote->now) {
		struct assumed *assumed = remote->awaiting;
		stop_awaiting(assumed);
		refresh(assumed, NULL);
	}
	return remote->awaiting ? remote->awaiting->awaits_end : INT64_MAX;
}

void write_back(struct remote *remote, int64_t pause)
{
	int64_t now = clock_now(remote->clock);
	for (size_t i = 0; i < remote->delayed.count; i++) {
		struct outgoing *outgoing = remote->delayed.items[i];
		if (outgoing->unreachable && outgoing->due > now + pause)
			outgoing->due = now + remote_pause(remote, pause, 0, pause);
	}
}

int64_t write_step(struct remote *remote)
{
	int64_t due = ask_for_nodes(remote);
	size_t kept = 0;
	for (size_t i = 0; i < remote->delayed.count; i++) {
		struct outgoing *outgoing = remote->delayed.items[i];
		if (outgoing->due <= remote->now) {
			remote->counts.waiting += outgoing->refused != NULL; /* until now it was no write */
			free(outgoing->refused);
			outgoing->refused = NULL;
			ranks_add(remote, outgoing);
			continue;
		}
		remote->delayed.items[kept++] = outgoing;
		due = outgoing->due < due ? outgoing->due : due;
	}
	remote->delayed.count = kept;
	struct outgoing *outgoing;
	while (remote->in_flight < remote->options.writes && (outgoing = ranks_take(remote)))
		send(remote, outgoing);
	return due;
}

void write_end(struct remote *remote)
{
	store_set_mirror(remote->store, NULL);
	vec_free(&remote->delayed);
	for (size_t i = 0; i < REMOTE_MOST_TOLD; i++)
		told_free(&remote->told[i]);
	struct assumed *assumed, *after;
	tombstones_free(remote);
	pending_creates_free(remote);
	HASH_ITER(hh, remote->assumed, assumed, after) {
		/* The current one first. */
		for (struct outgoing *at = assumed->current ? assumed->current : assumed->first, *next; at; at = next) {
			next = at == assumed->current ? assumed->first : at->next;
			at->create = NULL;
			outgoing_free(at);
		}
		assumed->first = NULL;
		forget(assumed);
	}
	refused_free(remote);
}
