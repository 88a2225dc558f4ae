/* Reading: single objects, and lists at one version, page by page. */
#include "api/selector_match.h"
#include "local/draft.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct store_object *store_peek(const struct store *store, const struct store_type *type, const char *namespace_,
                                const char *name)
{
	return index_find(&bucket_of(type)->index, namespace_, name);
}

int store_get(struct store *store, const struct store_api *api, enum store_subresource subresource,
              const char *namespace_, const char *name, struct store_result *result)
{
	struct store_request request = {.api = api, .namespace_ = namespace_, .name = name};
	struct draft draft;
	draft_begin(&draft, store, &request, result);
	int status = -1;
	bool served = subresource == STORE_MAIN || (subresource == STORE_STATUS && api->has_status) ||
	              (subresource == STORE_SCALE && api->has_scale);
	if (!served)
		draft_refuse(&draft, 405, "MethodNotAllowed",
		             "the server does not allow this method on the requested resource");
	else
		status = draft_find(&draft);
	if (status == 0) {
		result->object = subresource == STORE_SCALE ? scale_of(api, draft.old) : store_object_retain(draft.old);
		result->code = 200;
	} else {
		result->code = result->error.code;
	}
	draft_end(&draft);
	return status;
}

void store_result_clear(struct store_result *result)
{
	store_object_release(result->object);
	for (size_t i = 0; i < result->item_count; i++)
		store_object_release(result->items[i]);
	free(result->items);
	*result = (struct store_result){.arena = result->arena};
}

/* ---- versions of requests ---- */

int read_version(struct store *store, const char *text, uint64_t *version, struct arena *arena,
                 struct store_error *error)
{
	*version = 0;
	if (!text || !*text)
		return 0;
	errno = 0;
	char *end;
	*version = strtoull(text, &end, 10);
	if (text[strspn(text, "0123456789")] || errno)
		return store_fail(arena, error, 400, "BadRequest", "resourceVersion \"%s\" is not a number", text);
	if (*version <= store->version)
		return 0;
	store_fail(arena, error, 504, "Timeout", "Too large resource version: %" PRIu64 ", current: %" PRIu64, *version,
	           store->version);
	if (error) {
		struct store_cause *cause = arena_new(arena, struct store_cause);
		*cause = (struct store_cause){.reason = "ResourceVersionTooLarge",
		                              .message = "Too large resource version",
		                              .field = ""};
		error->causes = cause;
		error->cause_count = 1;
		error->retry_after = 1;
	}
	return -1;
}

/* ---- lists ---- */

/* One object of the past: what stood under a key at the version of the list (NULL: nothing). */
struct past {
	const char *namespace_, *name;
	struct store_object *object;
	uint64_t version; /* of the change that ended it */
};

/* Walks a type at some version: the present, with the past laid over it where it was changed since. */
struct walk {
	struct index_node *node;
	struct past *past;
	size_t past_count, past_at;
	const char *namespace_; /* "" for all */
	const char *name;       /* the only one that is wanted; NULL for all */
};

static int by_key(const void *left, const void *right)
{
	const struct past *a = left, *b = right;
	int order = index_compare(a->namespace_, a->name, b->namespace_, b->name);
	return order ? order : (a->version > b->version) - (a->version < b->version);
}

/* Only the oldest change after the version matters: what it replaced is what was there. */
static void collect_past(struct walk *walk, const struct history *history, uint64_t version, struct arena *arena)
{
	uint64_t first = history_after(history, version), end = history_end(history);
	if (first == end)
		return;
	walk->past = arena_array(arena, struct past, (size_t)(end - first));
	for (uint64_t sequence = first; sequence < end; sequence++) {
		const struct change *change = history_at(history, sequence);
		const struct store_object *either = change->now ? change->now : change->old;
		walk->past[walk->past_count++] = (struct past){
			.namespace_ = either->namespace_,
			.name = either->name,
			.object = change->old,
			.version = change->version,
		};
	}
	qsort(walk->past, walk->past_count, sizeof(*walk->past), by_key);
	size_t kept = 0;
	for (size_t i = 0; i < walk->past_count; i++)
		if (!kept || index_compare(walk->past[kept - 1].namespace_, walk->past[kept - 1].name,
		                           walk->past[i].namespace_, walk->past[i].name) != 0)
			walk->past[kept++] = walk->past[i];
	walk->past_count = kept;
}

/* Whether a key is still in what is walked: it is a stretch of the order of keys. */
static bool is_within(const struct walk *walk, const char *namespace_, const char *name)
{
	return (!*walk->namespace_ || strcmp(namespace_, walk->namespace_) == 0) &&
	       (!walk->name || strcmp(name, walk->name) == 0);
}

static struct store_object *walk_next(struct walk *walk)
{
	for (;;) {
		struct store_object *present = walk->node ? walk->node->object : NULL;
		struct past *past = walk->past_at < walk->past_count ? &walk->past[walk->past_at] : NULL;
		if (present && !is_within(walk, present->namespace_, present->name))
			present = NULL;
		if (past && !is_within(walk, past->namespace_, past->name))
			past = NULL;
		if (!present && !past)
			return NULL;
		int order = !past ? -1
		            : !present
		                    ? 1
		                    : index_compare(present->namespace_, present->name, past->namespace_, past->name);
		if (order <= 0)
			walk->node = walk->node->next[0];
		if (order < 0)
			return present;
		walk->past_at++;
		if (past->object)
			return past->object;
	}
}

/* Starts behind a key ("" and "": at the beginning). */
static void walk_begin(struct walk *walk, const struct index *index, const char *after_namespace,
                       const char *after_name)
{
	if (walk->name && !*after_name) {
		walk->node = index_seek(index, after_namespace, walk->name, false);
		while (walk->past_at < walk->past_count &&
		       index_compare(walk->past[walk->past_at].namespace_, walk->past[walk->past_at].name,
		                     after_namespace, walk->name) < 0)
			walk->past_at++;
		return;
	}
	walk->node = index_seek(index, after_namespace, after_name, *after_name);
	while (walk->past_at < walk->past_count) {
		const struct past *past = &walk->past[walk->past_at];
		int order = index_compare(past->namespace_, past->name, after_namespace, after_name);
		if (order > 0 || (order == 0 && !*after_name))
			break;
		walk->past_at++;
	}
}

/* "version/namespace/name"; version 0 is the present. */
static int read_token(const char *token, uint64_t *version, const char **namespace_, const char **name,
                      struct arena *arena, struct store_error *error)
{
	char *text = arena_strdup(arena, token), *first = strchr(text, '/');
	char *second = first ? strchr(first + 1, '/') : NULL;
	size_t digits = strspn(text, "0123456789");
	if (!second || digits == 0 || digits > 19 || text + digits != first || !second[1])
		return store_fail(arena, error, 400, "BadRequest", "continue key is not valid: \"%s\"", token);
	*first = *second = '\0';
	*version = strtoull(text, NULL, 10);
	*namespace_ = first + 1;
	*name = second + 1;
	return 0;
}

static int fail_expired(struct arena *arena, struct store_error *error, const char *namespace_, const char *name)
{
	store_fail(arena, error, 410, "Expired",
	           "The provided continue parameter is too old to display a consistent list result. You can start a "
	           "new list "
	           "without the continue parameter, or use the continue token in this response to retrieve the "
	           "remainder of "
	           "the results. Continuing with the provided token results in an inconsistent list.");
	if (error && *name)
		error->continue_ = arena_printf(arena, "0/%s/%s", namespace_, name);
	return -1;
}

static void fill(struct walk *walk, const struct store_list_request *request, struct store_list *list)
{
	bool selects = request->selector && (request->selector->field_count || request->selector->labels.count);
	VEC(struct store_object *) items = {0};
	struct store_object *object;
	while ((object = walk_next(walk))) {
		if (selects && !store_selector_matches(request->selector, object))
			continue;
		if (request->limit && items.count == request->limit) {
			list->remaining = 1;
			break;
		}
		vec_push(&items, store_object_retain(object));
	}
	list->items = items.items;
	list->count = items.count;
	if (!object)
		return;
	struct buffer token = {0};
	const struct store_object *last = items.items[items.count - 1];
	buffer_printf(&token, "%" PRIu64 "/%s/%s", list->version, last->namespace_, last->name);
	list->continue_ = token.text;
	while (!selects && walk_next(walk))
		list->remaining++;
	if (selects)
		list->remaining = 0;
}

int store_list(struct store *store, const struct store_list_request *request, struct store_list *list,
               struct arena *arena, struct store_error *error)
{
	*list = (struct store_list){0};
	struct bucket *bucket = bucket_of(request->api->type);
	uint64_t version;
	const char *namespace_ = request->namespace_ && request->api->type->namespaced ? request->namespace_ : "";
	const char *after_namespace = namespace_, *after_name = "";
	if (read_version(store, request->version, &version, arena, error) < 0)
		return -1;
	bool pinned = request->exact && version > 0;
	if (request->continue_ && *request->continue_) {
		if (read_token(request->continue_, &version, &after_namespace, &after_name, arena, error) < 0)
			return -1;
		if (*namespace_ && strcmp(namespace_, after_namespace) != 0)
			return store_fail(arena, error, 400, "BadRequest", "continue key is for another namespace");
		if (version > store->version)
			return store_fail(arena, error, 400, "BadRequest", "continue key is not valid: \"%s\"",
			                  request->continue_);
		pinned = version > 0;
	}
	struct walk walk = {.namespace_ = namespace_};
	const struct store_field_match *key = request->selector ? selector_key(request->selector) : NULL;
	if (key && strcmp(key->path, "metadata.name") == 0 && (*namespace_ || !request->api->type->namespaced))
		walk.name = key->value;
	list->version = pinned ? version : store->version;
	if (pinned && version < bucket->history.floor)
		return fail_expired(arena, error, after_namespace, after_name);
	if (pinned)
		collect_past(&walk, &bucket->history, version, arena);
	walk_begin(&walk, by_value_index(bucket, request->selector), after_namespace, after_name);
	fill(&walk, request, list);
	return 0;
}

void store_list_clear(struct store_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		store_object_release(list->items[i]);
	free(list->items);
	free(list->continue_);
	*list = (struct store_list){0};
}
