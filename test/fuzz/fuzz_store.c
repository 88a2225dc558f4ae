/* Requests from arbitrary lines against a store in memory: "VERB TYPE SUBRESOURCE NAME BODY", the first three one
 * letter each. Whatever comes, the store stays whole: what a watch told is what a list shows, and every object can be
 * read again from its own text. */
#include "fuzz.h"

#include "base/hash.h"
#include "api/store.h"

#include <string.h>

static const char *const types[][3] = {
	{"", "v1", "pods"},
	{"", "v1", "configmaps"},
	{"apps", "v1", "deployments"},
	{"", "v1", "namespaces"},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
	{"x.io", "v1", "xs"}, /* made by a definition, if one comes */
	{"", "v1", "events"},
	{"events.k8s.io", "v1", "events"},
	{"workloads.x-k8s.io", "v1alpha1", "rolebasedgroups"},
	{"policy", "v1", "poddisruptionbudgets"},
};
#define TYPES (sizeof(types) / sizeof(types[0]))
#define LARGEST_LINE 4096

struct seen { /* an object as the watch told it */
	char *key;
	uint64_t version;
	UT_hash_handle hh;
};

static const struct store_api *api_of(struct store *store, char letter)
{
	const char *const *type = types[(unsigned char)letter % TYPES];
	return store_api_find(store, type[0], type[1], type[2]);
}

/* One line: letters, a name up to a space, JSON. */
static void request(struct store *store, const char *line, size_t length, struct arena *arena)
{
	if (length < 5)
		return;
	const char *space = memchr(line + 3, ' ', length - 3);
	size_t name = space ? (size_t)(space - line) - 3 : length - 3;
	struct doc *body = space ? doc_parse_json(space + 1, length - name - 4, NULL) : NULL;
	struct store_result result = {.arena = arena};
	struct store_request made = {
		.verb = (enum store_verb)((unsigned char)line[0] % 5),
		.patch = (enum store_patch)((unsigned char)line[0] / 5 % 4),
		.dry_run = (unsigned char)line[0] > 120,
		.api = api_of(store, line[1]),
		.subresource = (enum store_subresource)((unsigned char)line[2] % 6),
		.force = (unsigned char)line[2] > 100,
		.namespace_ = "default",
		.name = arena_strndup(arena, line + 3, name),
		.body = doc_root(body),
		.manager = line[2] % 7 ? "fuzz" : "other",
	};
	if (made.api) {
		if (made.verb == STORE_CREATE && made.subresource == STORE_MAIN)
			made.name = NULL;
		store_delete_read(made.body, arena, &made.options, &made.dry_run, NULL);
		int status = store_write(store, &made, &result);
		fuzz_require((status < 0) == (result.error.code >= 400));
		fuzz_require(status < 0 || (result.code >= 200 && result.code < 300));
		fuzz_require(status == 0 || (*result.error.message && *result.error.reason));
	}
	store_result_clear(&result);
	doc_destroy(body);
}

static char *key_of(const struct store_object *object)
{
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", object->namespace_, object->name);
	return key.text;
}

static void follow(struct store_watch *watch, struct seen **all, struct arena *arena)
{
	struct store_event event;
	while (store_watch_next(watch, &event, arena, NULL) > 0) {
		char *key = key_of(event.object);
		struct seen *seen;
		HASH_FIND_STR(*all, key, seen);
		fuzz_require((seen == NULL) == (event.type == STORE_ADDED));
		if (!seen) {
			seen = base_calloc(1, sizeof(*seen));
			seen->key = key;
			HASH_ADD_KEYPTR(hh, *all, seen->key, strlen(seen->key), seen);
		} else {
			free(key);
		}
		fuzz_require(event.version > seen->version);
		seen->version = event.version;
		if (event.type == STORE_DELETED) {
			HASH_DEL(*all, seen);
			free(seen->key);
			free(seen);
		}
	}
}

static void compare(struct store *store, const struct store_api *api, struct seen **all, struct arena *arena)
{
	struct store_list list;
	fuzz_require(store_list(store, &(struct store_list_request){.api = api}, &list, arena, NULL) == 0);
	fuzz_require(list.count == HASH_COUNT(*all));
	for (size_t i = 0; i < list.count; i++) {
		char *key = key_of(list.items[i]);
		struct seen *seen;
		HASH_FIND_STR(*all, key, seen);
		fuzz_require(seen && seen->version == list.items[i]->version);
		free(key);
		size_t length;
		const char *json = store_object_json(list.items[i], NULL, &length);
		struct doc *again = doc_parse_json(json, length, NULL);
		fuzz_require(again && val_equal(doc_root(again), list.items[i]->root));
		doc_destroy(again);
	}
	store_list_clear(&list);
}

static void forget(struct seen **all)
{
	struct seen *seen, *next;
	HASH_ITER(hh, *all, seen, next) {
		HASH_DEL(*all, seen);
		free(seen->key);
		free(seen);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct clock_virtual clock_start = {.now = (int64_t)1767225600 * 1000000000};
	struct clock_virtual clock;
	clock_virtual_init(&clock, clock_start.now);
	struct store *store = store_open(&(struct store_options){.clock = &clock.source}, NULL);
	fuzz_require(store);
	struct arena *arena = arena_create();
	struct store_watch *watches[5];
	struct seen *seen[5] = {0};
	for (int i = 0; i < 5; i++)
		watches[i] = store_watch_open(store, &(struct store_watch_request){.api = api_of(store, (char)i)},
		                              arena, NULL);
	const char *at = (const char *)data, *end = at + size;
	for (size_t line = 0; at < end && line < 64; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);
		if (length < LARGEST_LINE)
			request(store, at, length, arena);
		at += length + (stop != NULL);
		if (line % 3 == 0) {
			store_collect_garbage(store, 4);
			store_commit(store, NULL);
			clock_virtual_advance(&clock, (int64_t)40 * 1000000000);
			arena_reset(arena);
		}
		if (line % 5 == 0 && !store_pending(store))
			for (int i = 0; i < 5; i++)
				follow(watches[i], &seen[i], arena);
	}
	for (int turn = 0; store_collect_garbage(store, 100) && turn < 1000; turn++)
		fuzz_require(turn < 999);
	store_commit(store, NULL);
	for (int i = 0; i < 5; i++) {
		follow(watches[i], &seen[i], arena);
		compare(store, api_of(store, (char)i), &seen[i], arena);
		forget(&seen[i]);
		store_watch_close(watches[i]);
	}
	store_close(store);
	arena_destroy(arena);
	return 0;
}
