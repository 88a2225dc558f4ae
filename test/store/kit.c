/* The shared parts of the store tests. */
#include "kit.h"

#include "object/build.h"

#include <stdlib.h>
#include <unistd.h>

void kit_open(struct kit *kit, const char *path)
{
	struct error error = {0};
	int64_t start = 0;
	if (!kit->clock.now) {
		clock_parse_rfc3339("2026-01-01T00:00:00Z", &start);
		clock_virtual_init(&kit->clock, start * 1000000000);
	}
	kit->options.clock = &kit->clock.source;
	kit->options.path = path;
	kit->store = store_open(&kit->options, &error);
	if (!kit->store)
		fail_msg("store_open: %s", error.text);
	kit->arena = arena_create();
	kit->result.arena = kit->arena;
}

void kit_close(struct kit *kit)
{
	store_result_clear(&kit->result);
	store_close(kit->store);
	arena_destroy(kit->arena);
	buffer_free(&kit->text);
	kit->store = NULL;
}

void kit_reopen(struct kit *kit)
{
	const char *path = kit->options.path;
	kit_close(kit);
	kit_open(kit, path);
}

int kit_setup(void **state)
{
	static struct kit kit;
	kit = (struct kit){0};
	kit_open(&kit, NULL);
	*state = &kit;
	return 0;
}

int kit_teardown(void **state)
{
	kit_close(*state);
	return 0;
}

void kit_remove(const char *path)
{
	static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		char file[256];
		snprintf(file, sizeof(file), "%s%s", path, tails[i]);
		unlink(file);
	}
}

const struct store_api *kit_api(struct kit *kit, const char *name)
{
	char resource[128];
	snprintf(resource, sizeof(resource), "%s", name);
	char *version = strchr(resource, '/');
	if (version)
		*version++ = '\0';
	char *group = strchr(resource, '.');
	if (group)
		*group++ = '\0';
	if (version)
		return store_api_find(kit->store, group ? group : "", version, resource);
	const struct store_type *type = store_type_find(kit->store, group ? group : "", resource);
	const struct store_api *api = type && type->api_count ? type->apis : NULL;
	if (!api)
		fail_msg("no type %s", name);
	return api;
}

static void answer(struct kit *kit)
{
	kit->text.length = 0;
	size_t length;
	if (kit->result.object) {
		const char *json = store_object_json(kit->result.object, NULL, &length);
		buffer_append(&kit->text, json, length);
	} else if (kit->result.error.code) {
		store_error_write(&kit->result.error, &kit->text);
	} else {
		buffer_printf(&kit->text, "{\"status\":\"Success\",\"uid\":\"%s\"}",
		              kit->result.uid ? kit->result.uid : "");
	}
}

struct doc *kit_json(const char *text)
{
	struct error error = {0};
	char *copy = base_strdup(text);
	for (char *at = copy; *at; at++)
		*at = (char)(*at == '\'' ? '"' : *at);
	struct doc *doc = doc_parse_json(copy, strlen(copy), &error);
	if (!doc)
		fail_msg("%s: %s", error.text, text);
	free(copy);
	return doc;
}

int kit_do(struct kit *kit, struct store_request request, const char *resource, const char *namespace_,
           const char *name, const char *body)
{
	struct doc *doc = body ? kit_json(body) : NULL;
	store_result_clear(&kit->result);
	arena_reset(kit->arena);
	request.api = kit_api(kit, resource);
	request.namespace_ = namespace_;
	request.name = name;
	if (request.verb == STORE_DELETE || request.verb == STORE_DELETE_COLLECTION) {
		int status = store_delete_read(doc_root(doc), kit->arena, &request.options, &request.dry_run,
		                               &kit->result.error);
		if (status < 0)
			kit->result.code = kit->result.error.code;
	} else {
		request.body = doc_root(doc);
	}
	if (!kit->result.code) {
		int status = store_write(kit->store, &request, &kit->result);
		assert_int_equal(status < 0, kit->result.error.code != 0);
	}
	doc_destroy(doc); /* nothing of the body may be needed any more */
	assert_int_equal(store_commit(kit->store, NULL), 0);
	answer(kit);
	return kit->result.code;
}

int kit_create(struct kit *kit, const char *resource, const char *namespace_, const char *body)
{
	return kit_do(kit, (struct store_request){.verb = STORE_CREATE}, resource, namespace_, NULL, body);
}

int kit_update(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *body)
{
	return kit_do(kit, (struct store_request){.verb = STORE_UPDATE}, resource, namespace_, name, body);
}

int kit_merge(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *body)
{
	return kit_do(kit, (struct store_request){.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE}, resource,
	              namespace_, name, body);
}

int kit_merge_status(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *body)
{
	return kit_do(kit,
	              (struct store_request){.verb = STORE_PATCH,
	                                     .patch = STORE_PATCH_MERGE,
	                                     .subresource = STORE_STATUS},
	              resource, namespace_, name, body);
}

int kit_delete(struct kit *kit, const char *resource, const char *namespace_, const char *name, const char *options)
{
	return kit_do(kit, (struct store_request){.verb = STORE_DELETE}, resource, namespace_, name, options);
}

int kit_get(struct kit *kit, const char *resource, const char *namespace_, const char *name)
{
	store_result_clear(&kit->result);
	arena_reset(kit->arena);
	store_get(kit->store, kit_api(kit, resource), STORE_MAIN, namespace_, name, &kit->result);
	answer(kit);
	return kit->result.code;
}

void kit_settle(struct kit *kit)
{
	for (int turn = 0; turn < 1000; turn++) {
		bool more = store_chores(kit->store, 3);
		assert_int_equal(store_commit(kit->store, NULL), 0);
		if (!more)
			return;
	}
	fail_msg("chores do not come to an end");
}

const char *kit_at(struct kit *kit, const char *path)
{
	static struct buffer out;
	struct doc *doc = doc_parse_json(kit->text.text, kit->text.length, NULL);
	const struct val *val = doc_root(doc);
	char key[256];
	while (val && *path) {
		/* A key with dots is written in brackets: metadata.labels.[a.b/c] */
		const char *end = *path == '[' ? strchr(path, ']') : path + strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)(end - path - (*path == '[')), path + (*path == '['));
		val = val_kind(val) == VAL_LIST ? val_item(val, strtoul(key, NULL, 10)) : val_get(val, key);
		path = end + (*end == ']');
		path += *path == '.';
	}
	out.length = 0;
	if (val && val_kind(val) == VAL_STRING)
		buffer_puts(&out, val_str(val, ""));
	else if (val)
		val_write(val, DOC_JSON_COMPACT, &out);
	else
		buffer_puts(&out, "");
	doc_destroy(doc);
	return out.text;
}

const char *kit_names(struct kit *kit, const char *resource, const char *namespace_, const char *labels,
                      const char *fields)
{
	static struct buffer out;
	struct store_selector selector;
	struct store_error error = {0};
	struct store_list list;
	const struct store_api *api = kit_api(kit, resource);
	out.length = 0;
	buffer_puts(&out, "");
	if (store_selector_parse(kit->arena, api, labels, fields, &selector, &error) < 0 ||
	    store_list(kit->store,
	               &(struct store_list_request){.api = api, .namespace_ = namespace_, .selector = &selector}, &list,
	               kit->arena, &error) < 0) {
		buffer_printf(&out, "%d %s", error.code, error.message);
		return out.text;
	}
	for (size_t i = 0; i < list.count; i++) {
		bool foreign = *list.items[i]->namespace_ &&
		               strcmp(list.items[i]->namespace_, namespace_ ? namespace_ : "") != 0;
		buffer_printf(&out, "%s%s%s%s", i ? " " : "", foreign ? list.items[i]->namespace_ : "",
		              foreign ? "/" : "", list.items[i]->name);
	}
	store_list_clear(&list);
	return out.text;
}
