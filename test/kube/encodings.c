/* Whether pods and nodes of a cluster are the same whether they are read as JSON or as protobuf:
 *
 *     encodings KUBECONFIG
 *
 * Says what differs, and exits with 1 when something does. Structures without content and null are nothing. */
#include "base/clock.h"
#include "remote/internal.h"
#include "remote/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST ((size_t)64 << 20)

struct answer {
	struct buffer body;
	int code;
	bool done;
};

static void on_answer(void *context, const struct remote_answer *got)
{
	struct answer *answer = context;
	buffer_append(&answer->body, got->body, got->length);
	answer->code = got->code;
	answer->done = true;
}

static struct answer get(struct remote_client *client, const char *path, const char *accept)
{
	struct answer answer = {0};
	remote_client_send(client, &(struct remote_call){.method = "GET",
	                                                 .path = path,
	                                                 .accept = accept,
	                                                 .done = on_answer,
	                                                 .context = &answer});
	while (!answer.done)
		remote_client_run(client, 1000, -1);
	if (answer.code != 200) {
		fprintf(stderr, "%s as %s: %d %s\n", path, accept, answer.code, answer.body.text);
		exit(2);
	}
	return answer;
}

struct collected {
	struct copier *copier;
	struct wire_plan *plan;
	const struct store_api *api;
	VEC(struct doc *) docs;
};

static int collect(void *context, const char *bytes, size_t length)
{
	struct collected *collected = context;
	struct wire_span in = {(const unsigned char *)bytes, (const unsigned char *)bytes + length};
	struct error error = {0};
	struct doc *doc = remote_trim_wire(collected->copier, collected->plan, in, collected->api, &error);
	if (!doc) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	vec_push(&collected->docs, doc);
	return 0;
}

static bool is_nothing(const struct val *val)
{
	const struct val *value;
	if (val_kind(val) == VAL_NULL)
		return true;
	if (val_kind(val) != VAL_MAP)
		return false;
	for (struct val_iter it = val_iter(val); val_next(&it, NULL, &value);)
		if (!is_nothing(value))
			return false;
	return true;
}

static size_t tell(const char *path, const struct val *json, const struct val *wire)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s: JSON ", path);
	val_write(json, DOC_JSON_COMPACT, &text);
	buffer_puts(&text, ", protobuf ");
	val_write(wire, DOC_JSON_COMPACT, &text);
	puts(text.text);
	buffer_free(&text);
	return 1;
}

static size_t compare(const char *path, const struct val *json, const struct val *wire)
{
	char below[512];
	const char *key;
	const struct val *value;
	size_t count = 0, at = 0;
	if (is_nothing(json) && is_nothing(wire))
		return 0;
	if (!json || !wire || val_kind(json) != val_kind(wire))
		return tell(path, json, wire);
	if (val_kind(json) == VAL_LIST) {
		if (val_count(json) != val_count(wire))
			return tell(path, json, wire);
		for (struct val_iter it = val_iter(json); val_next(&it, NULL, &value); at++) {
			snprintf(below, sizeof(below), "%.400s[%zu]", path, at);
			count += compare(below, value, val_item(wire, at));
		}
		return count;
	}
	if (val_kind(json) != VAL_MAP)
		return val_equal(json, wire) ? 0 : tell(path, json, wire);
	for (struct val_iter it = val_iter(json); val_next(&it, &key, &value);) {
		snprintf(below, sizeof(below), "%.300s.%.100s", path, key);
		count += compare(below, value, val_get(wire, key));
	}
	for (struct val_iter it = val_iter(wire); val_next(&it, &key, &value);) {
		snprintf(below, sizeof(below), "%.300s.%.100s", path, key);
		if (!val_get(json, key) && !is_nothing(value))
			count += tell(below, NULL, value);
	}
	return count;
}

static size_t compare_kind(struct remote_client *client, struct store *store, const char *resource)
{
	struct collected collected = {.copier = copier_create(), .api = store_api_find(store, "", "v1", resource)};
	collected.plan = remote_trim_plan(collected.api, KEEP_READ);
	struct buffer path = {0};
	remote_path(collected.api, "", &path);
	struct answer json = get(client, path.text, "application/json");
	struct answer wire = get(client, path.text, "application/vnd.kubernetes.protobuf");
	struct remote_wire_list list = {0};
	struct error error = {0};
	if (remote_wire_list_feed(&list, wire.body.text, wire.body.length, LARGEST, collect, &collected, &error) < 0 ||
	    !remote_wire_list_is_whole(&list)) {
		fprintf(stderr, "%s: %s\n", resource, error.text);
		exit(1);
	}
	struct doc *doc = doc_parse_json(json.body.text, json.body.length, &error);
	const struct val *items = val_get(doc_root(doc), "items"), *item;
	size_t differences = val_count(items) != collected.docs.count, at = 0;
	if (differences)
		printf("%s: %zu in JSON, %zu in protobuf\n", resource, val_count(items), collected.docs.count);
	for (struct val_iter it = val_iter(items); !differences && val_next(&it, NULL, &item); at++) {
		struct doc *kept = remote_trim(collected.copier, item, collected.api, false);
		differences += compare(val_str(val_path(item, "metadata", "name", NULL), ""), doc_root(kept),
		                       doc_root(collected.docs.items[at]));
		doc_destroy(kept);
	}
	printf("%zu %s compared\n", collected.docs.count, resource);
	for (size_t i = 0; i < collected.docs.count; i++)
		doc_destroy(collected.docs.items[i]);
	vec_free(&collected.docs);
	doc_destroy(doc);
	wire_plan_destroy(collected.plan);
	copier_destroy(collected.copier);
	remote_wire_list_free(&list);
	buffer_free(&json.body);
	buffer_free(&wire.body);
	buffer_free(&path);
	return differences;
}

int main(int argc, char **argv)
{
	struct error error = {0};
	struct arena *arena = arena_create();
	struct remote_access access;
	if (argc != 2) {
		fprintf(stderr, "usage: encodings KUBECONFIG\n");
		return 2;
	}
	if (remote_config_load(argv[1], NULL, arena, &access, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	struct remote_client *client = remote_client_create(&access, clock_system(), &error);
	struct store *store = store_open(&(struct store_options){.clock = clock_system(), .mirror = true}, &error);
	size_t differences = compare_kind(client, store, "pods") + compare_kind(client, store, "nodes");
	store_close(store);
	remote_client_destroy(client);
	arena_destroy(arena);
	return differences > 0;
}
