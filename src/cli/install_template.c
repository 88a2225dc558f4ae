/* Owns turning a template of the chart into a manifest. */
#include "cli/install_template.h"

#include <ctype.h>
#include <string.h>

#define DEPTH 8

struct render {
	const struct install_scope *scope;
	struct buffer *out;
	struct error *error;
	bool taken[DEPTH]; /* of the enclosing ifs: whether this branch is written */
	size_t depth;
};

/* NUL-terminated word of an action; longer ones are nothing we know. */
struct action {
	char text[120];
	const char *pipe; /* behind the '|', NULL: none */
};

static int bad(struct render *render, const char *what, const char *text)
{
	return error_set(render->error, ERROR_INTERNAL, "template: %s: %.60s", what, text);
}

static bool is_written(const struct render *render)
{
	for (size_t i = 0; i < render->depth; i++)
		if (!render->taken[i])
			return false;
	return true;
}

/* .Values.a.b; NULL when there is none. */
static const struct val *find_value(const struct install_scope *scope, const char *path)
{
	const struct val *at = scope->values;
	char key[64];
	for (path += strlen(".Values"); at && *path == '.';) {
		size_t length = strcspn(++path, ".");
		if (length >= sizeof(key))
			return NULL;
		memcpy(key, path, length);
		key[length] = '\0';
		at = val_get(at, key);
		path += length;
	}
	return at;
}

/* As Go templates have it: false, 0, "" and what is empty is not true. */
static bool is_true(const struct val *val)
{
	int64_t number = 1;
	switch (val_kind(val)) {
	case VAL_NULL:
		return false;
	case VAL_BOOL:
		return val_bool(val, false);
	case VAL_STRING:
		return val_str(val, "")[0] != '\0';
	case VAL_LIST:
	case VAL_MAP:
		return val_count(val) > 0;
	default:
		val_int(val, &number);
		return number != 0;
	}
}

static int put_text(struct render *render, const char *text, const char *pipe)
{
	if (!pipe)
		buffer_puts(render->out, text);
	else if (strcmp(pipe, "toJson") == 0)
		buffer_printf(render->out, "\"%s\"", text);
	else
		return bad(render, "unknown function", pipe);
	return 0;
}

static int put_value(struct render *render, const char *path, const char *pipe)
{
	const struct val *val = find_value(render->scope, path);
	char scratch[64];
	if (!val)
		return bad(render, "no such value", path);
	if (pipe && strcmp(pipe, "toJson") == 0) {
		val_write(val, DOC_JSON_COMPACT, render->out);
		return 0;
	}
	const char *text =
		val_kind(val) == VAL_BOOL ? (val_bool(val, false) ? "true" : "false") : val_scalar_text(val, scratch);
	return text ? put_text(render, text, pipe) : bad(render, "not a scalar", path);
}

static int put(struct render *render, const struct action *action)
{
	if (!is_written(render))
		return 0;
	if (strcmp(action->text, ".Release.Namespace") == 0)
		return put_text(render, render->scope->namespace_, action->pipe);
	if (strcmp(action->text, ".Chart.AppVersion") == 0)
		return put_text(render, render->scope->version, action->pipe);
	if (strncmp(action->text, ".Values.", 8) == 0)
		return put_value(render, action->text, action->pipe);
	return bad(render, "unknown action", action->text);
}

static int act(struct render *render, const struct action *action)
{
	const char *text = action->text;
	if (strncmp(text, "if ", 3) == 0) {
		bool negated = strncmp(text + 3, "not ", 4) == 0;
		const char *path = text + 3 + (negated ? 4 : 0);
		if (render->depth == DEPTH || strncmp(path, ".Values.", 8) != 0)
			return bad(render, "unknown condition", text);
		render->taken[render->depth++] = is_true(find_value(render->scope, path)) != negated;
		return 0;
	}
	if (strcmp(text, "else") == 0 || strcmp(text, "end") == 0) {
		if (render->depth == 0)
			return bad(render, "nothing to end", text);
		if (strcmp(text, "end") == 0)
			render->depth--;
		else
			render->taken[render->depth - 1] = !render->taken[render->depth - 1];
		return 0;
	}
	return put(render, action);
}

/* Copies without blanks at the ends, and cuts at the '|'. */
static int read_action(struct render *render, const char *from, const char *to, struct action *action)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	size_t length = (size_t)(to - from);
	if (length >= sizeof(action->text))
		return bad(render, "too long", from);
	memcpy(action->text, from, length);
	action->text[length] = '\0';
	char *pipe = strchr(action->text, '|');
	action->pipe = NULL;
	if (pipe) {
		for (char *end = pipe; end > action->text && (*end == '|' || isspace((unsigned char)*end)); end--)
			*end = '\0';
		action->pipe = pipe + 1 + strspn(pipe + 1, " ");
	}
	return 0;
}

static void trim_end(struct buffer *out, size_t start)
{
	while (out->length > start && isspace((unsigned char)out->text[out->length - 1]))
		out->text[--out->length] = '\0';
}

int install_render(const char *text, const struct install_scope *scope, struct buffer *out, struct error *error)
{
	struct render render = {.scope = scope, .out = out, .error = error};
	size_t start = out->length;
	for (;;) {
		const char *open = strstr(text, "{{");
		size_t plain = open ? (size_t)(open - text) : strlen(text);
		/* A template that begins with an action begins with the end of its line. */
		size_t skip = out->length == start ? strspn(text, "\n") : 0;
		if (is_written(&render) && plain > skip)
			buffer_append(out, text + skip, plain - skip);
		if (!open)
			break;
		const char *close = strstr(open, "}}");
		struct action action = {0};
		bool trims = open[2] == '-';
		if (!close)
			return bad(&render, "no end", open);
		if (trims && is_written(&render))
			trim_end(out, start);
		if (read_action(&render, open + 2 + trims, close, &action) < 0 || act(&render, &action) < 0)
			return -1;
		text = close + 2;
	}
	return render.depth == 0 ? 0 : bad(&render, "no end of an if", "");
}
