/* Cells that any kind can use. */
#include "serve/api/table.h"

#include "base/clock.h"
#include "base/arena.h"
#include "object/json.h"
#include "object/jsonpath.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void table_put_text(struct table_cell *cell, const char *text)
{
	json_quote(cell->out, text);
}

void table_put_printf(struct table_cell *cell, const char *format, ...)
{
	struct arena *arena = arena_create();
	va_list args;
	va_start(args, format);
	table_put_text(cell, arena_vprintf(arena, format, args));
	va_end(args);
	arena_destroy(arena);
}

void table_put_number(struct table_cell *cell, int64_t number)
{
	buffer_printf(cell->out, "%lld", (long long)number);
}

int64_t table_int(const struct val *val, int64_t fallback)
{
	int64_t number;
	return val_int(val, &number) == 0 ? number : fallback;
}

void table_put_span(struct buffer *out, int64_t seconds)
{
	long long s = seconds < 0 ? 0 : seconds;
	long long minutes = s / 60, hours = s / 3600, days = s / 86400, years = days / 365;
	if (seconds < -1)
		buffer_puts(out, "<invalid>");
	else if (s < 120)
		buffer_printf(out, "%llds", s);
	else if (minutes < 10 && s % 60)
		buffer_printf(out, "%lldm%llds", minutes, s % 60);
	else if (minutes < 180)
		buffer_printf(out, "%lldm", minutes);
	else if (hours < 8 && minutes % 60)
		buffer_printf(out, "%lldh%lldm", hours, minutes % 60);
	else if (hours < 48)
		buffer_printf(out, "%lldh", hours);
	else if (days < 8 && hours % 24)
		buffer_printf(out, "%lldd%lldh", days, hours % 24);
	else if (years < 2)
		buffer_printf(out, "%lldd", days);
	else if (years < 8 && days % 365)
		buffer_printf(out, "%lldy%lldd", years, days % 365);
	else
		buffer_printf(out, "%lldy", years);
}

static void put_span_since(struct table_cell *cell, const struct val *val)
{
	int64_t then;
	struct buffer text = {0};
	if (clock_parse_rfc3339(val_str(val, ""), &then)) {
		table_put_text(cell, "<unknown>");
		return;
	}
	table_put_span(&text, cell->now - then);
	table_put_text(cell, text.text);
	buffer_free(&text);
}

void table_name(struct table_cell *cell)
{
	table_put_text(cell, val_str(val_path(cell->object, "metadata", "name", NULL), ""));
}

void table_age(struct table_cell *cell)
{
	put_span_since(cell, val_path(cell->object, "metadata", "creationTimestamp", NULL));
}

void table_since(struct table_cell *cell)
{
	const struct val *val = jsonpath_first(cell->object, cell->path);
	if (val_kind(val) == VAL_STRING)
		put_span_since(cell, val);
	else
		table_put_text(cell, "<none>");
}

/* A scalar as text; maps and lists as JSON. */
static void put_any(struct buffer *out, const struct val *val)
{
	char scratch[64];
	const char *text = val_scalar_text(val, scratch);
	if (text)
		buffer_puts(out, text);
	else if (val_kind(val) == VAL_BOOL)
		buffer_puts(out, val_bool(val, false) ? "true" : "false");
	else if (val_kind(val) != VAL_NULL)
		val_write(val, DOC_JSON_COMPACT, out);
}

struct joined {
	struct buffer text;
	bool any;
};

static bool join(void *context, const struct val *val)
{
	struct joined *joined = context;
	if (joined->any)
		buffer_puts(&joined->text, ",");
	joined->any = true;
	put_any(&joined->text, val);
	return joined->text.length < 4096; /* a cell is for people */
}

/* Only the first match, which is all that an API server shows of a column that a definition names. */
static void put_first(struct table_cell *cell, const char *nothing)
{
	struct buffer text = {0};
	const struct val *val = jsonpath_first(cell->object, cell->path);
	if (val)
		put_any(&text, val);
	table_put_text(cell, text.length ? text.text : nothing);
	buffer_free(&text);
}

void table_value(struct table_cell *cell)
{
	put_first(cell, "<none>");
}

void table_joined(struct table_cell *cell)
{
	struct joined joined = {0};
	jsonpath_each(cell->object, cell->path, join, &joined);
	table_put_text(cell, joined.text.length ? joined.text.text : "<none>");
	buffer_free(&joined.text);
}

void table_string(struct table_cell *cell)
{
	put_first(cell, "");
}

void table_integer(struct table_cell *cell)
{
	table_put_number(cell, table_int(jsonpath_first(cell->object, cell->path), 0));
}

void table_boolean(struct table_cell *cell)
{
	table_put_text(cell, val_bool(jsonpath_first(cell->object, cell->path), false) ? "true" : "false");
}

void table_count(struct table_cell *cell)
{
	table_put_number(cell, (int64_t)val_count(jsonpath_first(cell->object, cell->path)));
}

static void append_labels(struct buffer *out, const struct val *map)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
		buffer_printf(out, "%s%s=%s", out->length ? "," : "", key ? key : "", val_str(item, ""));
}

void table_labels(struct table_cell *cell)
{
	struct buffer text = {0};
	append_labels(&text, jsonpath_first(cell->object, cell->path));
	table_put_text(cell, text.length ? text.text : "<none>");
	buffer_free(&text);
}

static void append_expression(struct buffer *out, const struct val *expression)
{
	const char *op = val_str(val_get(expression, "operator"), "");
	const char *key = val_str(val_get(expression, "key"), "");
	const struct val *values = val_get(expression, "values"), *item;
	buffer_puts(out, out->length ? "," : "");
	if (strcmp(op, "DoesNotExist") == 0)
		buffer_puts(out, "!");
	buffer_puts(out, key);
	if (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0)
		return;
	buffer_puts(out, strcmp(op, "In") == 0 ? " in (" : " notin (");
	bool first = true;
	for (struct val_iter it = val_iter(values); val_next(&it, NULL, &item); first = false)
		buffer_printf(out, "%s%s", first ? "" : ",", val_str(item, ""));
	buffer_puts(out, ")");
}

void table_selector(struct table_cell *cell)
{
	const struct val *selector = jsonpath_first(cell->object, cell->path), *item;
	struct buffer text = {0};
	append_labels(&text, val_get(selector, "matchLabels"));
	for (struct val_iter it = val_iter(val_get(selector, "matchExpressions")); val_next(&it, NULL, &item);)
		append_expression(&text, item);
	table_put_text(cell, text.length ? text.text : "<none>");
	buffer_free(&text);
}

void table_typed(struct table_cell *cell, const char *type)
{
	const struct val *val = jsonpath_first(cell->object, cell->path);
	enum val_kind kind = val_kind(val);
	if (kind == VAL_NULL)
		buffer_puts(cell->out, strcmp(type, "string") == 0 ? "\"\"" : "null");
	else if (strcmp(type, "date") == 0)
		table_since(cell);
	else if ((strcmp(type, "integer") == 0 || strcmp(type, "number") == 0) && (kind == VAL_INT || kind == VAL_REAL))
		val_write(val, DOC_JSON_COMPACT, cell->out);
	else if (strcmp(type, "boolean") == 0 && kind == VAL_BOOL)
		buffer_puts(cell->out, val_bool(val, false) ? "true" : "false");
	else
		table_string(cell);
}
