/* Owns looking up rows. There are about a hundred, and names differ in their first letters: they are looked through. */
#include "kinds/internal.h"

#include "base/strings.h"

#include <string.h>
#include <strings.h>

struct table {
	const struct kind_row *rows;
	const size_t *count;
};

static const struct table tables[] = {
	{kinds_core, &kinds_core_count},
	{kinds_workloads, &kinds_workloads_count},
	{kinds_platoon, &kinds_platoon_count},
	{kinds_more, &kinds_more_count},
};
#define TABLES (sizeof(tables) / sizeof(*tables))

const struct kind_row *kinds_row(size_t number)
{
	for (size_t i = 0; i < TABLES; i++) {
		if (number < *tables[i].count)
			return &tables[i].rows[number];
		number -= *tables[i].count;
	}
	return NULL;
}

/* A walk over all rows, in their order. */
struct walk {
	const struct kind_row *at, *end;
	size_t table;
};

static const struct kind_row *walk_next(struct walk *walk)
{
	while (walk->at == walk->end) {
		if (walk->table == TABLES)
			return NULL;
		const struct table *table = &tables[walk->table++];
		walk->at = table->rows;
		walk->end = table->rows + *table->count;
	}
	return walk->at++;
}

static inline bool is_same(const char *a, const char *b)
{
	return *a == *b && strcmp(a, b) == 0;
}

/* Whether it is "apps/v1" for "apps", or "v1" for "". */
static bool is_version_of(const char *api_version, const char *group)
{
	size_t length = strlen(group);
	if (length == 0)
		return !strchr(api_version, '/');
	return strncmp(api_version, group, length) == 0 && api_version[length] == '/';
}

const struct kind_row *kinds_find(const char *api_version, const char *kind)
{
	struct walk walk = {0};
	const struct kind_row *row;
	while ((row = walk_next(&walk)) && !(is_same(row->kind, kind) && is_version_of(api_version, row->group)))
		;
	return row;
}

const struct kind_row *kinds_of_id(enum kind_id id)
{
	struct walk walk = {0};
	const struct kind_row *row;
	while ((row = walk_next(&walk)) && row->id != id)
		;
	return row;
}

bool kinds_has_version(const struct kind_row *row, const char *api_version)
{
	const char *version = strchr(api_version, '/');
	if (!is_version_of(api_version, row->group))
		return false;
	version = version ? version + 1 : api_version;
	for (size_t i = 0; row->versions[i]; i++)
		if (strcmp(row->versions[i], version) == 0)
			return true;
	return false;
}

const struct kind_row *kinds_resource(const char *group, const char *resource)
{
	struct walk walk = {0};
	const struct kind_row *row;
	while ((row = walk_next(&walk)) && !(is_same(row->resource, resource) && is_same(row->group, group)))
		;
	return row;
}

const struct kind_row *kinds_named(const char *name)
{
	const struct kind_row *row;
	size_t length = strcspn(name, ".");
	const char *group = name + length + (name[length] == '.');
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (strncmp(row->resource, name, length) == 0 && !row->resource[length] &&
		    strcmp(row->group, group) == 0)
			return row;
	return NULL;
}

const char *kinds_nearest(const char *kind)
{
	struct nearest_name nearest = {.word = kind};
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		if (strcmp(kind, row->kind) == 0)
			return NULL;
		text_consider(&nearest, row->kind);
	}
	return nearest.name;
}

bool kinds_is_called(const struct kind_row *row, const char *word)
{
	const char *const names[] = {row->resource, row->singular, row->short_names[0], row->short_names[1]};
	size_t length = strcspn(word, ".");
	if (word[length] && strcmp(word + length + 1, row->group) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i] && strlen(names[i]) == length && strncasecmp(names[i], word, length) == 0)
			return true;
	return false;
}

const char *kinds_family_name(enum kind_family family)
{
#define NAME(id, name) [FAMILY_##id] = #name,
	static const char *const names[FAMILIES] = {
		[FAMILY_NONE] = "", [FAMILY_WRAPPER] = "wrapper", KIND_FAMILIES(NAME)};
#undef NAME
	return names[family];
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
			return true;
	return false;
}

const char *kinds_verbs(const struct kind_row *row, struct arena *arena)
{
	static const char *const verbs[] = {"get", "list", "watch", "create", "update", "patch", "delete"};
	const char *text = "";
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		bool mirrors = row->mirror != MIRROR_NEVER && has_word("list watch", verbs[i]);
		if (mirrors || has_word(row->verbs, verbs[i]))
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", verbs[i]);
	}
	return text;
}

bool kinds_is_built_in(const struct kind_row *row)
{
	return !(row->flags & ROW_DEFINED);
}

void kinds_convert(struct arena *arena, struct tree *root, const char *api_version)
{
	const char *old = tree_str(tree_get(arena, root, "apiVersion"), "");
	if (strcmp(old, api_version) == 0)
		return;
	const struct kind_row *row = kinds_find(api_version, tree_str(tree_get(arena, root, "kind"), ""));
	if (row && row->convert)
		row->convert(arena, root, api_version);
	tree_put_string(arena, root, "apiVersion", api_version);
}
