/* Walks a path step by step; a step with several matches goes on with each of them. */
#include "object/jsonpath.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEY 256

struct walk {
	bool (*found)(void *context, const struct val *val);
	void *context;
	bool stopped;
};

static void walk(struct walk *state, const struct val *val, const char *path);

/* A plain key up to the next step; \. is a dot. The length used, 0 when it is none. */
static size_t read_key(const char *path, char key[MAX_KEY])
{
	size_t used = 0, length = 0;
	while (path[used] && path[used] != '.' && path[used] != '[' && path[used] != '}') {
		if (path[used] == '\\' && path[used + 1])
			used++;
		if (length + 1 >= MAX_KEY)
			return 0;
		key[length++] = path[used++];
	}
	key[length] = '\0';
	return used;
}

/* A quoted text; the length used including the quotes, 0 when it is none. */
static size_t read_quoted(const char *text, char out[MAX_KEY])
{
	char quote = text[0];
	size_t used = 1, length = 0;
	if (quote != '"' && quote != '\'')
		return 0;
	while (text[used] && text[used] != quote) {
		if (text[used] == '\\' && text[used + 1])
			used++;
		if (length + 1 >= MAX_KEY)
			return 0;
		out[length++] = text[used++];
	}
	out[length] = '\0';
	return text[used] == quote ? used + 1 : 0;
}

/* ?(@.a.b=="x") or !=; `at` stands behind "?(@". */
static bool passes(const struct val *item, const char *at)
{
	char key[MAX_KEY], wanted[MAX_KEY], scratch[64];
	const struct val *val = item;
	while (*at == '.') {
		size_t used = strcspn(at + 1, ".=! )");
		if (used >= MAX_KEY)
			return false;
		memcpy(key, at + 1, used);
		key[used] = '\0';
		val = val_get(val, key);
		at += used + 1;
	}
	at += strspn(at, " ");
	if (*at == ')')
		return val != NULL;
	bool negate = at[0] == '!';
	if ((at[0] != '=' && at[0] != '!') || at[1] != '=')
		return false;
	at += 2 + strspn(at + 2, " ");
	if (!read_quoted(at, wanted)) {
		size_t used = strcspn(at, " )");
		if (used >= MAX_KEY)
			return false;
		memcpy(wanted, at, used);
		wanted[used] = '\0';
	}
	const char *text =
		val_kind(val) == VAL_BOOL ? (val_bool(val, false) ? "true" : "false") : val_scalar_text(val, scratch);
	return (text && strcmp(text, wanted) == 0) != negate;
}

static void walk_items(struct walk *state, const struct val *val, const char *filter, const char *rest)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val); !state->stopped && val_next(&it, &key, &item);) {
		if (!filter || passes(item, filter))
			walk(state, item, rest);
	}
}

static long from_end(long index, long count)
{
	index = index < 0 ? index + count : index;
	return index < 0 ? 0 : index > count ? count : index;
}

/* 3], -1], 1:3], :2] or -1:]; nothing when it is none of these. */
static void walk_range(struct walk *state, const struct val *list, const char *path)
{
	char *after;
	long count = (long)val_count(list), first = strtol(path, &after, 10), end;
	if (after == path && *after != ':')
		return;
	if (*after == ':') {
		char *at = after + 1;
		long given = strtol(at, &after, 10);
		end = after == at ? count : from_end(given, count);
		first = from_end(first, count);
	} else {
		first = first < 0 ? first + count : first;
		end = first >= 0 && first < count ? first + 1 : first;
	}
	for (long i = first; *after == ']' && i < end && !state->stopped; i++)
		walk(state, val_item(list, (size_t)i), after + 1);
}

static void walk_bracket(struct walk *state, const struct val *val, const char *path)
{
	char key[MAX_KEY];
	const char *end;
	size_t used = read_quoted(path + 1, key);
	if (used) {
		if (path[1 + used] == ']')
			walk(state, val_get(val, key), path + used + 2);
	} else if (path[1] == '*' && path[2] == ']') {
		walk_items(state, val, NULL, path + 3);
	} else if (strncmp(path, "[?(@", 4) == 0) {
		end = strstr(path, ")]");
		if (end)
			walk_items(state, val, path + 4, end + 2);
	} else if (val_kind(val) == VAL_LIST) {
		walk_range(state, val, path + 1);
	}
}

static void walk(struct walk *state, const struct val *val, const char *path)
{
	char key[MAX_KEY];
	if (!val || state->stopped)
		return;
	if (*path == '\0' || *path == '}') {
		state->stopped = !state->found(state->context, val);
	} else if (*path == '[') {
		walk_bracket(state, val, path);
	} else if (*path == '.' && path[1] == '[') {
		walk_bracket(state, val, path + 1);
	} else if (*path == '.' && (path[1] == '\0' || path[1] == '}')) {
		walk(state, val, path + 1);
	} else {
		path += *path == '.';
		size_t used = read_key(path, key);
		if (!used)
			return;
		if (strcmp(key, "*") == 0)
			walk_items(state, val, NULL, path + used);
		else
			walk(state, val_get(val, key), path + used);
	}
}

void jsonpath_each(const struct val *root, const char *path, bool (*found)(void *context, const struct val *val),
                   void *context)
{
	struct walk state = {.found = found, .context = context};
	path += *path == '{';
	path += *path == '$';
	walk(&state, root, path);
}

static bool take_first(void *context, const struct val *val)
{
	*(const struct val **)context = val;
	return false;
}

const struct val *jsonpath_first(const struct val *root, const char *path)
{
	const struct val *first = NULL;
	jsonpath_each(root, path, take_first, &first);
	return first;
}
