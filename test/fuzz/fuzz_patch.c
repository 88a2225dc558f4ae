/* An object and a patch, one JSON value per line, through every kind of patch. What comes out can be written
 * and read again, and doing it twice gives the same where that is promised. */
#include "fuzz.h"

#include "api/fields.h"
#include "api/patch.h"

#include <string.h>

static struct doc *next_line(const char **at, const char *end)
{
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	size_t length = (size_t)((stop ? stop : end) - *at);
	struct doc *doc = doc_parse_json(*at, length, NULL);
	*at += length + (stop != NULL);
	return doc;
}

/* The finished document; NULL when it was refused or nested too deep. */
static struct doc *settle(struct tree *tree)
{
	struct doc *doc = tree ? tree_finish(tree) : NULL;
	if (!doc)
		return NULL;
	struct buffer out = {0};
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	struct doc *again = doc_parse_json(out.text, out.length, NULL);
	fuzz_require(again);
	doc_destroy(again);
	buffer_free(&out);
	return doc;
}

static void check_merge(struct arena *arena, const struct val *object, const struct val *patch)
{
	struct doc *once = settle(patch_merge(arena, tree_of(arena, object), patch));
	fuzz_require(once);
	struct doc *twice = settle(patch_merge(arena, tree_of(arena, doc_root(once)), patch));
	fuzz_require(val_equal(doc_root(once), doc_root(twice)));
	doc_destroy(once);
	doc_destroy(twice);
}

static void check_json(struct arena *arena, const struct val *object, const struct val *patch)
{
	struct store_error error = {0};
	struct tree *tree = patch_json(arena, tree_of(arena, object), patch, &error);
	fuzz_require(tree || (error.code >= 400 && *error.message));
	struct doc *doc = settle(tree);
	fuzz_require(doc || !tree);
	doc_destroy(doc);
}

static void check_strategic(struct arena *arena, const struct val *object, const struct val *patch,
                            const struct shape *shape)
{
	struct store_error error = {0};
	struct tree *tree = patch_strategic(arena, tree_of(arena, object), patch, shape, &error);
	fuzz_require(tree || (error.code == 400 && *error.message));
	doc_destroy(settle(tree));
}

/* Applying is idempotent, and what was applied is found again. */
static void check_apply(struct arena *arena, const struct val *object, const struct val *patch,
                        const struct shape *shape)
{
	if (val_kind(patch) != VAL_MAP || val_kind(object) != VAL_MAP)
		return;
	struct doc *once = settle(fields_merge(arena, tree_of(arena, object), patch, shape));
	fuzz_require(once);
	if (!fields_misfit(arena, patch, shape)) {
		struct doc *twice = settle(fields_merge(arena, tree_of(arena, doc_root(once)), patch, shape));
		fuzz_require(val_equal(doc_root(once), doc_root(twice)));
		doc_destroy(twice);
	}
	struct tree *set = fields_of(arena, patch, shape);
	struct doc *stored = settle(fields_write(arena, set));
	struct tree *read = fields_read(arena, doc_root(stored));
	fuzz_require(fields_empty(fields_without(arena, set, read)) && fields_empty(fields_without(arena, read, set)));
	fuzz_require(fields_empty(fields_changed(arena, doc_root(once), doc_root(once), shape)));
	struct tree *changed = fields_changed(arena, object, doc_root(once), shape);
	fuzz_require(fields_empty(changed) == val_equal(object, doc_root(once)));
	struct tree *rest = tree_of(arena, doc_root(once));
	fields_take(arena, rest, set, shape);
	doc_destroy(settle(rest));
	doc_destroy(stored);
	doc_destroy(once);
}

/* Texts end at U+0000 for everybody but the writer of JSON: two keys may look the same. */
static bool holds_nul(const struct doc *doc)
{
	struct buffer out = {0};
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	bool found = strstr(out.text, "\\u0000");
	buffer_free(&out);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct store_type pods = {.group = "", .resource = "pods", .kind = "Pod"};
	static const struct store_api api = {.type = &pods, .group = "", .version = "v1", .api_version = "v1"};
	const char *at = (const char *)data, *end = at + size;
	struct doc *object = next_line(&at, end), *patch = at < end ? next_line(&at, end) : NULL;
	if (object && patch) {
		struct arena *arena = arena_create();
		struct shape shape = shape_of(&api);
		if (!holds_nul(object) && !holds_nul(patch))
			check_merge(arena, doc_root(object), doc_root(patch));
		check_json(arena, doc_root(object), doc_root(patch));
		check_strategic(arena, doc_root(object), doc_root(patch), &shape);
		if (!holds_nul(object) && !holds_nul(patch))
			check_apply(arena, doc_root(object), doc_root(patch), &shape);
		arena_destroy(arena);
	}
	doc_destroy(object);
	doc_destroy(patch);
	return 0;
}
