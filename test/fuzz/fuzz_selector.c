/* Label selectors, field selectors and the paths of printer columns: three lines, the last may be missing. What a
 * selector prints it reads again, and both select the same. */
#include "fuzz.h"

#include "object/jsonpath.h"
#include "api/object_make.h"
#include "api/selector_match.h"
#include "api/store.h"

#include <string.h>

/* clang-format off */
static const char *const objects[] = {
	"{\"metadata\":{\"name\":\"a\",\"labels\":{\"app\":\"x\",\"tier\":\"2\"}},\"spec\":{\"nodeName\":\"n1\"}}",
	"{\"metadata\":{\"name\":\"b\",\"labels\":{\"app\":\"\"}},\"status\":{\"phase\":\"F\",\"conditions\":[{\"type\":\"Ready\"},{}]}}",
	"{\"metadata\":{\"name\":\"c\"},\"spec\":{\"hostNetwork\":true,\"list\":[1,2,[3,{\"a.b\":null}]]}}",
};
/* clang-format on */

static char *line(struct arena *arena, const char **at, const char *end)
{
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	size_t length = (size_t)((stop ? stop : end) - *at);
	char *text = arena_strndup(arena, *at, length);
	*at += length + (stop != NULL);
	return text;
}

static bool count(void *context, const struct val *val)
{
	fuzz_require(val);
	return ++*(size_t *)context < 1000;
}

static void check_object(const char *text, const struct store_type *type, const struct store_selector *selector,
                         const struct store_selector *again, const char *path)
{
	struct store_object *object = object_create(type, doc_parse_json(text, strlen(text), NULL));
	fuzz_require(store_selector_matches(selector, object) == store_selector_matches(again, object));
	size_t found = 0;
	jsonpath_each(object->root, path, count, &found);
	fuzz_require((jsonpath_first(object->root, path) != NULL) == (found > 0));
	store_object_release(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store *store;
	const char *at = (const char *)data, *end = at + size;
	if (!store)
		store = store_open(&(struct store_options){.bare = true}, NULL);
	struct arena *arena = arena_create();
	const struct store_api *api = store_api_find(store, "", "v1", "pods");
	const char *labels = line(arena, &at, end), *fields = line(arena, &at, end), *path = line(arena, &at, end);
	struct store_selector selector = {0}, again = {0};
	struct store_error error = {0};
	if (store_selector_parse(arena, api, labels, fields, &selector, &error) < 0) {
		fuzz_require(error.code == 400 && *error.message);
	} else {
		struct buffer text = {0};
		selector_print(&selector.labels, &text);
		buffer_puts(&text, "");
		fuzz_require(store_selector_parse(arena, api, text.text, fields, &again, &error) == 0);
		fuzz_require(selector.labels.count == again.labels.count);
		for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
			check_object(objects[i], api->type, &selector, &again, path);
		buffer_free(&text);
	}
	arena_destroy(arena);
	return 0;
}
