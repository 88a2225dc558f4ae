/* JSON Patch (RFC 6902). Operations change one tree in turn; what "copy" can multiply is bounded. */
#include "api/patch.h"
#include "api/store.h"

#include <inttypes.h>
#include <string.h>

struct json_patch {
	struct arena *arena;
	struct store_error *error;
	struct tree *root;
	size_t number; /* of the operation, for messages */
	size_t copied; /* bytes */
};

static int fail(struct json_patch *patch, int code, const char *what, const char *path)
{
	return store_fail(patch->arena, patch->error, code, code == 400 ? "BadRequest" : "Invalid",
	                  "operation %zu of the JSON patch: %s%s%s", patch->number, what, *path ? ": " : "", path);
}

/* Cuts the next token off a JSON pointer that starts with '/', undoing ~1 and ~0. NULL when it is malformed. */
static char *next_token(struct json_patch *patch, const char **pointer)
{
	const char *at = *pointer + 1, *end = strchr(at, '/');
	size_t length = end ? (size_t)(end - at) : strlen(at);
	char *token = arena_strndup(patch->arena, at, length), *out = token;
	for (const char *in = token; *in; in++) {
		if (*in != '~') {
			*out++ = *in;
		} else if (in[1] == '0' || in[1] == '1') {
			*out++ = *++in == '0' ? '~' : '/';
		} else {
			return NULL;
		}
	}
	*out = '\0';
	*pointer = at + length;
	return token;
}

/* A list index: digits without leading zeros. SIZE_MAX when it is none. */
static size_t parse_index(const char *token)
{
	size_t value = 0;
	if (!*token || (token[0] == '0' && token[1]))
		return SIZE_MAX;
	for (; *token; token++) {
		if (*token < '0' || *token > '9' || value > (SIZE_MAX - 9) / 10)
			return SIZE_MAX;
		value = value * 10 + (size_t)(*token - '0');
	}
	return value;
}

static struct tree *child_of(struct json_patch *patch, struct tree *parent, const char *token)
{
	if (tree_kind(parent) == VAL_LIST)
		return tree_item(patch->arena, parent, parse_index(token));
	return tree_get(patch->arena, parent, token);
}

/* The container of what the pointer names, and the last token. *parent NULL: the pointer is "" (the whole document). */
static int resolve(struct json_patch *patch, const char *pointer, struct tree **parent, const char **last)
{
	*parent = NULL;
	*last = NULL;
	if (!*pointer)
		return 0;
	struct tree *at = patch->root;
	for (const char *rest = pointer; *rest;) {
		if (*rest != '/')
			return fail(patch, 400, "a path must be empty or start with /", pointer);
		const char *token = next_token(patch, &rest);
		if (!token)
			return fail(patch, 400, "~ must be followed by 0 or 1 in a path", pointer);
		if (*last)
			at = child_of(patch, at, *last);
		if (tree_kind(at) != VAL_MAP && tree_kind(at) != VAL_LIST)
			return fail(patch, 422, "the path does not exist", pointer);
		*last = token;
	}
	*parent = at;
	return 0;
}

static struct tree *look_up(struct json_patch *patch, const char *pointer)
{
	struct tree *parent, *found;
	const char *last;
	if (resolve(patch, pointer, &parent, &last) < 0)
		return NULL;
	found = parent ? child_of(patch, parent, last) : patch->root;
	if (!found)
		fail(patch, 422, "the path does not exist", pointer);
	return found;
}

static int add(struct json_patch *patch, const char *pointer, struct tree *value)
{
	struct tree *parent;
	const char *last;
	if (resolve(patch, pointer, &parent, &last) < 0)
		return -1;
	if (!parent) {
		patch->root = value;
	} else if (tree_kind(parent) == VAL_MAP) {
		tree_put(patch->arena, parent, last, value);
	} else {
		size_t index = strcmp(last, "-") == 0 ? tree_count(parent) : parse_index(last);
		if (!tree_insert(patch->arena, parent, index, value))
			return fail(patch, 422, "no such place in the list", pointer);
	}
	return 0;
}

static int take(struct json_patch *patch, const char *pointer)
{
	struct tree *parent;
	const char *last;
	if (resolve(patch, pointer, &parent, &last) < 0)
		return -1;
	if (!parent)
		return fail(patch, 422, "the whole object cannot be removed", "");
	bool done = tree_kind(parent) == VAL_MAP ? tree_remove(patch->arena, parent, last)
	                                         : tree_remove_item(patch->arena, parent, parse_index(last));
	return done ? 0 : fail(patch, 422, "the path does not exist", pointer);
}

static int replace(struct json_patch *patch, const char *pointer, const struct val *value)
{
	struct tree *parent;
	const char *last;
	if (!look_up(patch, pointer) || resolve(patch, pointer, &parent, &last) < 0)
		return -1;
	if (parent && tree_kind(parent) == VAL_LIST)
		tree_remove_item(patch->arena, parent, parse_index(last));
	return add(patch, pointer, tree_of(patch->arena, value));
}

static int copy(struct json_patch *patch, const char *from, const char *pointer)
{
	struct tree *found = look_up(patch, from);
	if (!found)
		return -1;
	size_t size = tree_size(found, STORE_MAX_OBJECT);
	if (size > STORE_MAX_OBJECT || (patch->copied += size) > STORE_MAX_OBJECT)
		return fail(patch, 422, "the patch copies too much", from);
	return add(patch, pointer, tree_copy(patch->arena, found));
}

static int move(struct json_patch *patch, const char *from, const char *pointer)
{
	size_t length = strlen(from);
	if (strncmp(from, pointer, length) == 0 && pointer[length] == '/')
		return fail(patch, 422, "a value cannot be moved into itself", pointer);
	struct tree *found = look_up(patch, from);
	if (!found)
		return -1;
	if (strcmp(from, pointer) == 0)
		return 0;
	return take(patch, from) < 0 ? -1 : add(patch, pointer, found);
}

static int operate(struct json_patch *patch, const struct val *operation)
{
	const char *op = val_str(val_get(operation, "op"), ""), *path = val_str(val_get(operation, "path"), NULL);
	const char *from = val_str(val_get(operation, "from"), NULL);
	const struct val *value = val_get(operation, "value");
	if (!path)
		return fail(patch, 400, "a path is needed", "");
	bool needs_from = strcmp(op, "move") == 0 || strcmp(op, "copy") == 0;
	bool needs_value = strcmp(op, "add") == 0 || strcmp(op, "replace") == 0 || strcmp(op, "test") == 0;
	if (needs_from && !from)
		return fail(patch, 400, "a from is needed", path);
	if (needs_value && !value)
		return fail(patch, 400, "a value is needed", path);
	switch (*op) {
	case 'a':
		if (needs_value)
			return add(patch, path, tree_of(patch->arena, value));
		break;
	case 'r':
		if (needs_value)
			return replace(patch, path, value);
		if (strcmp(op, "remove") == 0)
			return take(patch, path);
		break;
	case 't':
		if (needs_value) {
			struct tree *found = look_up(patch, path);
			if (!found)
				return -1;
			return tree_equal(patch->arena, found, value) ? 0 : fail(patch, 422, "the test failed", path);
		}
		break;
	case 'm':
		if (needs_from)
			return move(patch, from, path);
		break;
	case 'c':
		if (needs_from)
			return copy(patch, from, path);
		break;
	default:
		break;
	}
	return fail(patch, 400, "op must be add, remove, replace, move, copy or test, but is", op);
}

struct tree *patch_json(struct arena *arena, struct tree *target, const struct val *patch, struct store_error *error)
{
	if (val_kind(patch) != VAL_LIST) {
		store_fail(arena, error, 400, "BadRequest", "a JSON patch must be a list of operations, but it is a %s",
		           val_kind_name(val_kind(patch)));
		return NULL;
	}
	if (val_count(patch) > PATCH_MAX_OPERATIONS) {
		store_fail(arena, error, 413, "RequestEntityTooLarge",
		           "the JSON patch has %zu operations, at most %d are accepted", val_count(patch),
		           PATCH_MAX_OPERATIONS);
		return NULL;
	}
	struct json_patch state = {.arena = arena, .error = error, .root = target};
	const struct val *operation;
	for (struct val_iter it = val_iter(patch); val_next(&it, NULL, &operation);) {
		state.number++;
		if (operate(&state, operation) < 0)
			return NULL;
	}
	if (tree_size(state.root, DOC_MAX_BYTES) == SIZE_MAX) {
		store_fail(arena, error, 413, "RequestEntityTooLarge",
		           "the patched object is nested deeper than %d levels", DOC_MAX_DEPTH);
		return NULL;
	}
	return state.root;
}
