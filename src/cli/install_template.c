/* Owns turning a template of the chart into a manifest. */
#include "cli/install_template.h"

#include <ctype.h>
#include <string.h>

#define DEPTH 8

/* What an `end` is the end of. */
struct block {
	bool taken;             /* this branch is written */
	const char *body;       /* of a range, NULL: an if */
	struct val_iter rest;   /* of its items */
	const struct val *item; /* the one it is at */
};

struct render {
	const struct install_scope *scope;
	struct buffer *out;
	struct error *error;
	const char *at; /* behind the last action */
	struct block blocks[DEPTH];
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
		if (!render->blocks[i].taken)
			return false;
	return true;
}

/* What the innermost range is at; NULL outside of all. */
static const struct val *item_of(const struct render *render)
{
	for (size_t i = render->depth; i-- > 0;)
		if (render->blocks[i].body)
			return render->blocks[i].item;
	return NULL;
}

/* .Values.a.b, or .a.b of the item of a range; NULL when there is none. */
static const struct val *find_value(const struct render *render, const char *path)
{
	bool global = strncmp(path, ".Values.", 8) == 0;
	const struct val *at = global ? render->scope->values : item_of(render);
	char key[64];
	for (path += global ? strlen(".Values") : 0; at && *path == '.';) {
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
	const struct val *val = find_value(render, path);
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
	if (strncmp(action->text, ".Values.", 8) == 0 || (action->text[0] == '.' && item_of(render)))
		return put_value(render, action->text, action->pipe);
	return bad(render, "unknown action", action->text);
}

static int begin_if(struct render *render, const char *condition)
{
	bool negated = strncmp(condition, "not ", 4) == 0;
	const char *path = condition + (negated ? 4 : 0);
	if (render->depth == DEPTH || path[0] != '.')
		return bad(render, "unknown condition", condition);
	render->blocks[render->depth++] = (struct block){.taken = is_true(find_value(render, path)) != negated};
	return 0;
}

static int begin_range(struct render *render, const char *path)
{
	if (render->depth == DEPTH || path[0] != '.')
		return bad(render, "unknown range", path);
	struct block block = {.body = render->at, .rest = val_iter(find_value(render, path))};
	block.taken = val_next(&block.rest, NULL, &block.item);
	render->blocks[render->depth++] = block;
	return 0;
}

static int end(struct render *render)
{
	if (render->depth == 0)
		return bad(render, "nothing to end", "end");
	struct block *block = &render->blocks[render->depth - 1];
	if (block->body && block->taken && val_next(&block->rest, NULL, &block->item))
		render->at = block->body;
	else
		render->depth--;
	return 0;
}

static int turn(struct render *render)
{
	struct block *block = render->depth ? &render->blocks[render->depth - 1] : NULL;
	if (!block || block->body)
		return bad(render, "not in an if", "else");
	block->taken = !block->taken;
	return 0;
}

static int act(struct render *render, const struct action *action)
{
	const char *text = action->text;
	if (strncmp(text, "if ", 3) == 0)
		return begin_if(render, text + 3);
	if (strncmp(text, "range ", 6) == 0)
		return begin_range(render, text + 6);
	if (strcmp(text, "end") == 0)
		return end(render);
	return strcmp(text, "else") == 0 ? turn(render) : put(render, action);
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
	struct render render = {.scope = scope, .out = out, .error = error, .at = text};
	size_t start = out->length;
	for (;;) {
		const char *open = strstr(render.at, "{{");
		size_t plain = open ? (size_t)(open - render.at) : strlen(render.at);
		/* A template that begins with an action begins with the end of its line. */
		size_t skip = out->length == start ? strspn(render.at, "\n") : 0;
		if (is_written(&render) && plain > skip)
			buffer_append(out, render.at + skip, plain - skip);
		if (!open)
			break;
		const char *close = strstr(open, "}}");
		struct action action = {0};
		bool trims = open[2] == '-';
		if (!close)
			return bad(&render, "no end", open);
		if (trims && is_written(&render))
			trim_end(out, start);
		render.at = close + 2;
		if (read_action(&render, open + 2 + trims, close, &action) < 0 || act(&render, &action) < 0)
			return -1;
	}
	return render.depth == 0 ? 0 : bad(&render, "no end of an if or a range", "");
}
