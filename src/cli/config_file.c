/* Owns reading files of one map, and checking their keys. */
#include "cli/config_file.h"

#include "base/strings.h"
#include "cli/cli.h"
#include "object/yaml_read.h"
#include "remote/config.h"

#include <stdlib.h>
#include <string.h>

struct doc *config_file_parse(const char *text, size_t length, struct error *error)
{
	struct yaml_document *docs = NULL;
	size_t count = 0;
	if (yaml_read(text, length, &docs, &count, error) < 0)
		return NULL;
	struct doc *first = count > 0 ? docs[0].doc : doc_parse_json("{}", 2, error);
	for (size_t i = 1; i < count; i++)
		doc_destroy(docs[i].doc);
	free(docs);
	if (count <= 1 && val_kind(doc_root(first)) == VAL_MAP)
		return first;
	doc_destroy(first);
	error_set(error, ERROR_SYNTAX, "must be one map of settings, such as `logLevel: info`");
	return NULL;
}

struct doc *config_file_read(const char *path, struct arena *arena, struct error *error)
{
	const char *text;
	struct error problem = {0};
	if (remote_file_read(path, arena, &text, error) < 0)
		return NULL;
	struct doc *doc = config_file_parse(text, strlen(text), &problem);
	if (!doc)
		error_set(error, problem.code, "%.200s: %.300s", path, problem.text);
	return doc;
}

static const char *nearest(const char *key, const struct val *usual, struct arena *arena)
{
	const char **keys = arena_array(arena, const char *, val_count(usual) + 1);
	const char *known;
	const struct val *item;
	size_t count = 0;
	for (struct val_iter it = val_iter(usual); val_next(&it, &known, &item);)
		keys[count++] = known;
	return text_nearest(key, keys, count);
}

bool config_file_takes(const char *key, const struct val *given, const struct val *usual)
{
	bool numbers = (val_kind(given) == VAL_INT || val_kind(given) == VAL_REAL) &&
	               (val_kind(usual) == VAL_INT || val_kind(usual) == VAL_REAL);
	/* Of kValue the usual one is whole, so it does not tell. */
	bool decimal = val_kind(usual) == VAL_REAL || strcmp(key, "kValue") == 0;
	return val_kind(given) == val_kind(usual) || (numbers && decimal);
}

void config_file_check(const struct val *given, const struct val *usual, const char *path, struct problems *problems)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(given); val_next(&it, &key, &item);) {
		const char *where = problem_path(problems, "%s%s%s", path, path[0] ? "." : "", key);
		const struct val *known = val_get(usual, key);
		if (!known) {
			const char *near = nearest(key, usual, problems->arena);
			problem_add(problems, SEVERITY_ERROR, where,
			            near ? arena_printf(problems->arena, "use %s", near) : NULL,
			            "there is no such setting");
		} else if (!config_file_takes(key, item, known)) {
			problem_add(problems, SEVERITY_ERROR, where, NULL, "must be of type %s, not %s",
			            val_kind_name(val_kind(known)), val_kind_name(val_kind(item)));
		} else if (val_kind(known) == VAL_MAP && val_count(known) > 0 && strcmp(key, "resources") != 0) {
			config_file_check(item, known, where, problems);
		}
	}
}
