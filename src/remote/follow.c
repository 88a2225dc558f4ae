/* Owns keeping the objects of each type in the mirror: a list, then a watch from there, again from the last version when
 * it ends, and from the beginning when that version is too old. */
#include "remote/follow.h"

#include "object/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_FIRST (CLOCK_SECOND / 5)
#define PAUSE_LONGEST (30 * CLOCK_SECOND)
#define PAUSE_BACK (CLOCK_SECOND / 2)     /* at most, when the server that was away has answered somebody */
#define PAUSE_PROBE (2 * CLOCK_SECOND)    /* at most, from one attempt to reach a server that is away to the next */
#define PAUSE_MISSING (30 * CLOCK_SECOND) /* for kinds that the server does not have */
#define LISTS_AT_ONCE 6 /* connections are dear at the start; the kinds with many objects come first */

static void start(struct follow *follow);

static struct node *define_version(struct build *build, const char *version, bool first)
{
	struct node *map = build_map(build), *schema = build_map(build), *open = build_map(build);
	build_put_string(build, open, "type", "object");
	build_put_bool(build, open, "x-kubernetes-preserve-unknown-fields", true);
	build_put(build, schema, "openAPIV3Schema", open);
	build_put_string(build, map, "name", version);
	build_put_bool(build, map, "served", true);
	build_put_bool(build, map, "storage", first);
	build_put(build, map, "schema", schema);
	return map;
}

static struct node *define_names(struct build *build, const struct remote_follow *wanted, const char *kind)
{
	struct arena *arena = arena_create_small();
	struct node *names = build_map(build);
	build_put_string(build, names, "kind", kind);
	build_put_string(build, names, "listKind", arena_printf(arena, "%sList", kind));
	build_put_string(build, names, "plural", wanted->resource);
	build_put_string(build, names, "singular", wanted->resource);
	arena_destroy(arena);
	return names;
}

/* Only as much of a definition as makes the type known here; the server checks what is in its objects. */
static void define(struct remote *remote, const struct remote_follow *wanted)
{
	const struct kind_row *row = wanted->row;
	struct arena *arena = arena_create_small();
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *spec = build_map(build),
		    *versions = build_list(build);
	build_append(build, versions, define_version(build, wanted->version, true));
	for (size_t i = 0; row && row->versions[i]; i++)
		if (strcmp(row->versions[i], wanted->version) != 0)
			build_append(build, versions, define_version(build, row->versions[i], false));
	build_put_string(build, spec, "group", wanted->group);
	build_put_string(build, spec, "scope", row && row->flags & ROW_CLUSTER ? "Cluster" : "Namespaced");
	build_put(build, spec, "names", define_names(build, wanted, row ? row->kind : wanted->kind));
	build_put(build, spec, "versions", versions);
	build_put_string(build, metadata, "name", arena_printf(arena, "%s.%s", wanted->resource, wanted->group));
	build_put_string(build, root, "apiVersion", KINDS_DEFINITIONS "/v1");
	build_put_string(build, root, "kind", "CustomResourceDefinition");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", spec);
	store_mirror_put(remote->store, store_type_find(remote->store, KINDS_DEFINITIONS, "customresourcedefinitions"),
	                 build_finish(build, root));
	build_destroy(build);
	arena_destroy(arena);
}

enum remote_keep follow_keeps(const struct remote *remote)
{
	if (remote->options.whole)
		return KEEP_ALL;
	return remote->options.config_maps ? KEEP_CONFIG_MAPS : KEEP_READ;
}

void follow_open(struct remote *remote, struct follow *follow, const struct remote_follow *wanted)
{
	if (wanted->kind || (wanted->row && !kinds_is_built_in(wanted->row)))
		define(remote, wanted);
	*follow = (struct follow){
		.remote = remote,
		.api = store_api_find(remote->store, wanted->group, wanted->version, wanted->resource),
		.wanted = wanted,
	};
	if (follow->api) {
		follow->versions = follow->api->type->apis;
		follow->version_count = follow->api->type->api_count;
	}
	if (follow->api && !remote->options.whole && !wanted->metadata)
		follow->plan = remote_trim_plan(follow->api, follow_keeps(remote));
}

void follow_close(struct follow *follow)
{
	list_forget(follow);
	wire_plan_destroy(follow->plan);
	free(follow->version);
	remote_lines_free(&follow->lines);
}

bool follow_is_known(const struct remote *remote, size_t count, const struct remote_follow *kind)
{
	for (size_t i = 0; i < count; i++) {
		const struct remote_follow *other = remote->follows[i].wanted;
		if (other->row && strcmp(other->group, kind->group) == 0 &&
		    strcmp(other->resource, kind->resource) == 0)
			return true;
	}
	return false;
}

/* They stay where they are while requests are on their way: there is room for kinds that come later. */
void follow_begin(struct remote *remote)
{
	remote->follow_room = remote->options.follow_count + REMOTE_MOST_KINDS;
	remote->follows = base_calloc(remote->follow_room, sizeof(*remote->follows));
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		const struct remote_follow *wanted = &remote->options.follow[i];
		if (!wanted->kind || !follow_is_known(remote, i, wanted))
			follow_open(remote, &remote->follows[i], wanted);
		else
			remote->follows[i] = (struct follow){.remote = remote, .wanted = wanted, .synced = true};
	}
}

void follow_end(struct remote *remote)
{
	for (size_t i = 0; i < remote->options.follow_count; i++)
		follow_close(&remote->follows[i]);
	free(remote->follows);
	arena_destroy(remote->kinds);
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

/* ---- versions ---- */

/* The next version of the kind, to be asked for at once; false when the server has none of them. Where versions differ in
 * form the mirror knows one. */
static bool try_next_version(struct follow *follow)
{
	const struct kind_row *row = follow->wanted->row;
	if (!row || row->convert || ++follow->tried >= follow->version_count) {
		follow->tried = 0;
		return false;
	}
	size_t next = ((size_t)(follow->api - follow->versions) + 1) % follow->version_count;
	follow->api = &follow->versions[next];
	return true;
}

/* Pods below workloads that the server does not have are grouped like those of unknown kinds, and nothing is waited for.
 * What our own controllers write is another matter: it is installed with them. */
static void show_served(struct follow *follow, bool served)
{
	const struct kind_row *row = follow->wanted->row;
	if (row && row->flags & ROW_OWNER && !(row->flags & ROW_INSTALLED))
		store_mirror_serve(follow->remote->store, follow->api->type, served);
}

/* Who waited hears of every answer: that the server has it, that it still does not, and that it does not tell. */
static void note_answer(struct follow *follow, bool absent)
{
	follow->absent = absent;
	follow->asked = follow->asking;
	if (follow->awaited)
		store_mirror_asked(follow->remote->store);
	follow->awaited = false;
}

bool follow_lacks(void *context, const struct store_type *type, uint64_t since)
{
	struct remote *remote = context;
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		struct follow *follow = &remote->follows[i];
		if (!follow->api || follow->api->type != type || !follow->wanted->row || !follow->absent)
			continue;
		if (follow->asked >= since)
			return true;
		follow->awaited = true;
		if (follow->state == FOLLOW_PAUSED && !follow->unreachable)
			follow->due = 0;
		return false;
	}
	return true;
}

/* ---- pauses ---- */

/* Once: a cluster may do well without it. A definition that comes later is found by the next attempt. */
static void tell_missing(struct follow *follow, const struct remote_answer *answer)
{
	bool refused = answer->code == 403;
	/* Most clusters have few of the kinds we know; of one that a configuration names somebody expects something. */
	enum log_level level = refused ? LOG_WARN : follow->wanted->kind ? LOG_INFO : LOG_DEBUG;
	if (!follow->told_missing)
		log_write(follow->remote->options.logger, level, LOG_FLAG_WATCH,
		          refused ? "may not be read and is done without" : "not on this server, done without", "group",
		          follow->api->group, "resource", follow->api->type->resource, NULL);
	follow->told_missing = true;
}

/* Not at every attempt, and what is the same for all kinds (nobody answers, nobody lets us in) once for all of them: of a
 * server that is away remote_away() tells. */
static void tell_problem(struct follow *follow, const char *message)
{
	struct remote *remote = follow->remote;
	int64_t now = clock_now(remote->clock);
	bool same = strncmp(remote->last_problem, message, sizeof(remote->last_problem) - 1) == 0 &&
	            now - remote->last_problem_told < REMOTE_PAUSE_TELLING;
	bool told = follow->failures > 1 && !follow->unreachable && !same &&
	            (follow->told == 0 || now - follow->told >= REMOTE_PAUSE_TELLING);
	log_write(remote->options.logger, told ? LOG_WARN : LOG_DEBUG, LOG_FLAG_WATCH, "cannot follow", "resource",
	          follow->api->type->resource, "error", message, NULL);
	if (!told)
		return;
	follow->told = remote->last_problem_told = now;
	snprintf(remote->last_problem, sizeof(remote->last_problem), "%.255s", message);
}

/* With what went wrong: what the answer says, unless something was wrong with that. */
void follow_pause(struct follow *follow, const struct remote_answer *answer)
{
	struct remote *remote = follow->remote;
	const char *message = follow->problem.text[0] ? follow->problem.text : remote_answer_message(answer);
	bool missing = follow->wanted->optional && (answer->code == 404 || answer->code == 403);
	int64_t pause = missing ? PAUSE_MISSING : remote_pause(remote, PAUSE_FIRST, follow->failures, PAUSE_LONGEST);
	int64_t asked = remote_asked_pause(answer);
	pause = asked > pause ? asked : pause;
	if (answer->code == 404 && missing && try_next_version(follow)) {
		follow_go_on(follow);
		return;
	}
	follow->failures++;
	follow->state = FOLLOW_PAUSED;
	if (follow->form == FORM_WIRE && follow->problem.text[0] && !follow->spoilt) {
		follow->spoilt = true; /* JSON is understood by all */
		log_write(remote->options.logger, LOG_WARN, LOG_FLAG_WATCH, "reading as JSON instead of protobuf",
		          "resource", follow->api->type->resource, "error", message, NULL);
	}
	/* One that says when to come again is there. */
	follow->unreachable = answer->code == 0 || (answer->code >= 500 && !asked);
	follow->due = clock_now(remote->clock) + pause;
	if (follow->unreachable && remote->probes == 0 && remote->probe_due == 0)
		remote->probe_due = clock_now(remote->clock) + remote_pause(remote, PAUSE_FIRST, 0, PAUSE_PROBE);
	remote->away |= follow->unreachable;
	if (missing) {
		if (answer->code == 404)
			show_served(follow, false);
		note_answer(follow, answer->code == 404);
		follow->synced = true;
		tell_missing(follow, answer);
		return;
	}
	remote->counts.errors++;
	snprintf(remote->problem, sizeof(remote->problem), "%s: %.200s", follow->api->type->resource, message);
	tell_problem(follow, message);
}

/* What is next is so at the next turn. */
void follow_go_on(struct follow *follow)
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

void follow_succeed(struct follow *follow)
{
	follow->failures = 0;
	follow->tried = 0;
	show_served(follow, true);
	note_answer(follow, false);
	follow->remote->problem[0] = '\0';
	if (follow->remote->away)
		follow_back(follow->remote);
}

/* ---- requests ---- */

void follow_add_encoded(struct buffer *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
		    strchr("-_.~", *at))
			buffer_printf(out, "%c", *at);
		else
			buffer_printf(out, "%%%02X", *at);
	}
}

void follow_path(const struct follow *follow, struct buffer *out)
{
	remote_path(follow->api, follow->wanted->namespace_ ? follow->wanted->namespace_ : "", out);
	buffer_puts(out, "?");
	if (follow->wanted->labels) {
		buffer_puts(out, "labelSelector=");
		follow_add_encoded(out, follow->wanted->labels);
		buffer_puts(out, "&");
	}
	if (follow->wanted->name) {
		buffer_puts(out, "fieldSelector=metadata.name%3D");
		follow_add_encoded(out, follow->wanted->name);
		buffer_puts(out, "&");
	}
}

struct doc *follow_keep(const struct follow *follow, const struct val *object)
{
	enum remote_keep keep = follow->wanted->metadata ? KEEP_NAMES : follow_keeps(follow->remote);
	return remote_trim(follow->remote->copier, object, follow->api, keep);
}

bool follow_is_named_elsewhere(const struct follow *follow, const char *namespace_, const char *name)
{
	const struct remote *remote = follow->remote;
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		const struct follow *other = &remote->follows[i];
		if (other != follow && other->api == follow->api && other->wanted->name &&
		    strcmp(other->wanted->name, name) == 0 &&
		    (!other->wanted->namespace_ || strcmp(other->wanted->namespace_, namespace_) == 0))
			return true;
	}
	return false;
}

bool follow_has_lost(const struct follow *follow, const char *namespace_, const char *name)
{
	const struct store_object *known = store_peek(follow->remote->store, follow->api->type, namespace_, name);
	if (!follow->wanted->labels || !known)
		return false;
	struct arena *arena = arena_create();
	struct store_selector selector;
	struct store_error error = {0};
	bool lost = store_selector_parse(arena, follow->api, follow->wanted->labels, NULL, &selector, &error) == 0 &&
	            !store_selector_matches(&selector, known);
	arena_destroy(arena);
	return lost;
}

#define REMOTE_ACCEPT_NAME "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

const char *follow_accept(const struct follow *follow, bool watch)
{
	if (follow->wanted->metadata)
		return watch ? REMOTE_ACCEPT_NAME : REMOTE_ACCEPT_NAMES;
	if (!follow_wants_wire(follow))
		return NULL;
	return watch ? REMOTE_WIRE_ACCEPT_WATCH : REMOTE_WIRE_ACCEPT;
}

bool follow_wants_wire(const struct follow *follow)
{
	return follow->plan && !follow->spoilt;
}

/* What we asked for begins with the mark of Kubernetes, and its watches with the length of an event, whose first byte is
 * zero. */
enum follow_form follow_form_of(const struct follow *follow, const char *bytes)
{
	bool looks_so = bytes[0] == WIRE_MARK[0] || bytes[0] == '\0';
	return follow_wants_wire(follow) && looks_so ? FORM_WIRE : FORM_JSON;
}

void follow_begin_answer(struct follow *follow, enum follow_state state)
{
	follow->state = state;
	follow->form = FORM_UNKNOWN;
	follow->problem.text[0] = '\0';
	follow->expired = follow->heard = follow->checked = false;
	follow->lines.rest.length = 0;
}

static void start(struct follow *follow)
{
	if (is_list(follow) && follow->tried == 0)
		follow->asking = store_version(follow->remote->store);
	if (is_list(follow))
		list_start(follow);
	else
		watch_start(follow);
}
