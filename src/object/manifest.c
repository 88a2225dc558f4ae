/* Objects out of documents: JSON or YAML, several per text, lists flattened. */
#include "object/manifest.h"

#include "base/vec.h"
#include "object/doc_internal.h"
#include "object/yaml_read.h"

#include <stdlib.h>
#include <string.h>

#define MAX_IDENTITY 253

void manifests_init(struct manifests *manifests)
{
	*manifests = (struct manifests){.arena = arena_create()};
}

void manifests_free(struct manifests *manifests)
{
	for (size_t i = 0; i < manifests->doc_count; i++)
		doc_destroy(manifests->docs[i]);
	free(manifests->docs);
	free(manifests->items);
	arena_destroy(manifests->arena);
	*manifests = (struct manifests){0};
}

void manifests_keep(struct manifests *manifests, struct doc *doc)
{
	if (manifests->doc_count == manifests->doc_capacity) {
		manifests->doc_capacity = manifests->doc_capacity ? manifests->doc_capacity * 2 : 8;
		manifests->docs =
			base_realloc_array(manifests->docs, manifests->doc_capacity, sizeof(*manifests->docs));
	}
	manifests->docs[manifests->doc_count++] = doc;
}

/* What an item of a typed list (PodList) gets from the list when it does not say it itself, as kubectl and the API
 * server write such lists. */
struct inherited {
	const char *api_version, *kind;
};

static void add_object(struct manifests *manifests, const struct val *object, const char *source,
                       const struct inherited *inherited, struct problems *problems);

static bool is_list(const struct val *object, const char *kind)
{
	if (strcmp(kind, "List") == 0)
		return true;
	if (!text_ends_with(kind, "List"))
		return false;
	/* A kind of somebody's own may end in List without being one: only `items` at the top makes it a list. */
	const struct val *items = val_get(object, "items");
	return items && (val_kind(items) == VAL_LIST || val_kind(items) == VAL_NULL);
}

static void add_list(struct manifests *manifests, const struct val *list, const char *api_version, const char *kind,
                     const char *source, struct problems *problems)
{
	const struct val *items = val_get(list, "items");
	if (val_kind(items) != VAL_LIST && val_kind(items) != VAL_NULL) {
		problem_add(problems, SEVERITY_ERROR, source, "write items as a list of objects",
		            "items of kind %s must be a list; found: %s", kind, val_kind_name(val_kind(items)));
		return;
	}
	struct inherited inherited = {0};
	if (strcmp(kind, "List") != 0) {
		inherited.api_version = api_version;
		inherited.kind = arena_strndup(manifests->arena, kind, strlen(kind) - strlen("List"));
	}
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(items); val_next(&it, NULL, &item); index++) {
		const char *item_source = arena_printf(manifests->arena, "%s items[%zu]", source, index);
		add_object(manifests, item, item_source, &inherited, problems);
	}
}

/* What an object is called is repeated in every message about it, and a reader must not take the part before a NUL for
 * the whole. No kind or name that Kubernetes accepts is longer. */
static bool is_identity(const struct val *val, const char *field, const char *source, struct problems *problems)
{
	if (val && val_kind(val) != VAL_STRING && val_kind(val) != VAL_NULL) {
		problem_add(problems, SEVERITY_ERROR, source,
		            "put it in quotes (y, n, yes, no, on, off and numbers need them)",
		            "%s must be a text; found: %s", field, val_kind_name(val_kind(val)));
		return false;
	}
	size_t length = yyjson_get_len(val_json(val));
	if (!val || val_kind(val) != VAL_STRING || (length <= MAX_IDENTITY && !memchr(val_str(val, ""), '\0', length)))
		return true;
	problem_add(problems, SEVERITY_ERROR, source, "shorten it to a text of that size without such characters",
	            "%s must have at most %d characters and no NUL", field, MAX_IDENTITY);
	return false;
}

static bool has_identity(const struct val *object, const char *source, struct problems *problems)
{
	bool fits = is_identity(val_get(object, "apiVersion"), "apiVersion", source, problems);
	fits = is_identity(val_get(object, "kind"), "kind", source, problems) && fits;
	fits = is_identity(val_path(object, "metadata", "name", NULL), "metadata.name", source, problems) && fits;
	return is_identity(val_path(object, "metadata", "namespace", NULL), "metadata.namespace", source, problems) &&
	       fits;
}

/* A non-empty string below `key`, else what was inherited, else NULL. */
static const char *text_or(const struct val *object, const char *key, const char *inherited)
{
	const char *text = val_str(val_get(object, key), NULL);
	return text && *text ? text : inherited;
}

static void add_object(struct manifests *manifests, const struct val *object, const char *source,
                       const struct inherited *inherited, struct problems *problems)
{
	if (val_kind(object) != VAL_MAP) {
		problem_add(problems, SEVERITY_ERROR, source, "write a map with apiVersion, kind and metadata",
		            "a Kubernetes object must be a map; found: %s", val_kind_name(val_kind(object)));
		return;
	}
	if (!has_identity(object, source, problems))
		return;
	const char *api_version = text_or(object, "apiVersion", inherited->api_version);
	const char *kind = text_or(object, "kind", inherited->kind);
	if (!kind || !*kind) {
		problem_add(problems, SEVERITY_ERROR, source, "add kind, for example kind: PodGroup",
		            "the object has no kind");
		return;
	}
	if (is_list(object, kind)) {
		add_list(manifests, object, api_version, kind, source, problems);
		return;
	}
	const struct val *metadata = val_get(object, "metadata");
	if (manifests->count == manifests->capacity) {
		manifests->capacity = manifests->capacity ? manifests->capacity * 2 : 16;
		manifests->items = base_realloc_array(manifests->items, manifests->capacity, sizeof(*manifests->items));
	}
	manifests->items[manifests->count++] = (struct manifest){
		.object = object,
		.source = source,
		.api_version = api_version ? api_version : "",
		.kind = kind,
		.name = val_str(val_get(metadata, "name"), ""),
		.namespace_ = val_str(val_get(metadata, "namespace"), ""),
	};
}

void manifests_add(struct manifests *manifests, const struct val *object, const char *source, struct problems *problems)
{
	static const struct inherited nothing = {0};
	add_object(manifests, object, arena_strdup(manifests->arena, source ? source : ""), &nothing, problems);
}

static void report(struct problems *problems, const char *source, const struct error *error)
{
	problem_add(problems, SEVERITY_ERROR, source, error_advice(error->code), "%s", error->text);
}

static void parse_yaml(struct manifests *manifests, const char *text, size_t length, const char *source,
                       struct problems *problems)
{
	struct yaml_document *docs;
	size_t count;
	struct error error;
	if (yaml_read(text, length, &docs, &count, &error) < 0) {
		report(problems, source, &error);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		manifests_keep(manifests, docs[i].doc);
		const char *at = arena_printf(manifests->arena, "%s:%zu", source, docs[i].line);
		manifests_add(manifests, doc_root(docs[i].doc), at, problems);
	}
	free(docs);
}

static size_t skip_space(const char *text, size_t at, size_t length, size_t *line)
{
	for (; at < length && strchr(" \t\r\n", text[at]) && text[at]; at++)
		*line += text[at] == '\n';
	return at;
}

/* JSON is far faster to read as JSON. A brace that is followed by something else than a quoted key opens YAML. */
static bool looks_like_json(const char *text, size_t length)
{
	size_t line = 0;
	size_t at = skip_space(text, 0, length, &line);
	if (at == length || (text[at] != '{' && text[at] != '['))
		return false;
	at = skip_space(text, at + 1, length, &line);
	return at == length || (text[at] && strchr("\"{}[]", text[at]));
}

/* JSON values one after the other, as some tools write them. False when what follows a value needs a YAML reader (a
 * line of dashes between documents); nothing was added then. */
static bool parse_json(struct manifests *manifests, const char *text, size_t length, const char *source,
                       struct problems *problems)
{
	VEC(struct yaml_document) docs = {0};
	struct error error;
	size_t line = 1;
	bool failed = false, yaml = false;
	size_t at = skip_space(text, 0, length, &line);
	while (at < length && !failed && !yaml) {
		size_t end;
		failed = doc_json_end(text, at, length, &end, &error) < 0;
		struct doc *doc = failed ? NULL : doc_parse_json_part(text, at, end, &error);
		failed = !doc;
		if (failed)
			break;
		vec_push(&docs, (struct yaml_document){.doc = doc, .line = line});
		for (const char *newline; (newline = memchr(text + at, '\n', end - at)); line++)
			at = (size_t)(newline - text) + 1;
		at = skip_space(text, end, length, &line);
		yaml = length - at >= 3 && memcmp(text + at, "---", 3) == 0;
	}
	for (size_t i = 0; i < docs.count; i++) {
		if (yaml || failed) {
			doc_destroy(docs.items[i].doc);
			continue;
		}
		manifests_keep(manifests, docs.items[i].doc);
		const char *where = arena_printf(manifests->arena, "%s:%zu", source, docs.items[i].line);
		manifests_add(manifests, doc_root(docs.items[i].doc), where, problems);
	}
	if (failed)
		report(problems, source, &error);
	vec_free(&docs);
	return !yaml;
}

int manifests_parse(struct manifests *manifests, const char *text, size_t length, const char *source,
                    struct problems *problems)
{
	size_t errors = problems->errors;
	if (length > DOC_MAX_BYTES) {
		problem_add(problems, SEVERITY_ERROR, source, error_advice(ERROR_LIMIT),
		            "the text has %zu bytes, more than the %zu accepted", length, DOC_MAX_BYTES);
		return -1;
	}
	const char *name = arena_strdup(manifests->arena, source);
	size_t skip = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* byte order mark */
	if (!looks_like_json(text + skip, length - skip) ||
	    !parse_json(manifests, text + skip, length - skip, name, problems))
		parse_yaml(manifests, text + skip, length - skip, name, problems);
	return problems->errors > errors ? -1 : 0;
}
