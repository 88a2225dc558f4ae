/* Block-style YAML. Lists below a key are not indented, as kubectl prints them; text of several lines becomes a literal
 * block where that is exact, a double-quoted string otherwise. */
#include "object/yaml_write.h"

#include "object/doc_internal.h"
#include "object/yaml_scalar.h"

#include <stdlib.h>
#include <string.h>

/* A key longer than 1024 characters is not recognised without the "? " form. */
#define LONG_KEY 1000

struct writer {
	struct buffer *out;
	struct buffer scratch; /* for the scalar resolver */
};

static void write_map(struct writer *writer, yyjson_val *map, size_t indent, bool inline_first);
static void write_list(struct writer *writer, yyjson_val *list, size_t indent, bool inline_first);

static void write_indent(struct writer *writer, size_t indent)
{
	static const char spaces[] = "                                ";
	for (; indent > sizeof(spaces) - 1; indent -= sizeof(spaces) - 1)
		buffer_append(writer->out, spaces, sizeof(spaces) - 1);
	buffer_append(writer->out, spaces, indent);
}

/* Characters that stand for themselves in a YAML stream and do not break a line. */
static bool is_printable(uint32_t c)
{
	return (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c <= 0xd7ff && c != 0x2028 && c != 0x2029) ||
	       (c >= 0xe000 && c <= 0xfffd && c != 0xfeff) || (c >= 0x10000 && c <= 0x10ffff);
}

static bool all_printable(const char *text, size_t length, bool lines)
{
	for (size_t at = 0; at < length;) {
		uint32_t c;
		size_t size = text_utf8(text + at, length - at, &c);
		if (size == 0 || !(is_printable(c) || (lines && (c == '\n' || c == '\t'))))
			return false;
		at += size;
	}
	return true;
}

/* Numbers, times and words that this or another YAML 1.1 reader takes for something else than a string. */
static bool looks_typed(struct writer *writer, const char *text, size_t length)
{
	if (yaml_scalar_resolve(text, length, &writer->scratch) != YAML_STRING)
		return true;
	if (length == 1 && strchr("yYnN=", text[0]))
		return true;
	if (length == 2 && memcmp(text, "<<", 2) == 0)
		return true;
	const char *digits = text + (text[0] == '+' || text[0] == '-');
	if (*digits < '0' || *digits > '9')
		return false;
	if (digits[0] == '0' && digits[1] && strchr("xXoObB", digits[1]))
		return true;
	size_t span = strspn(digits, "0123456789:-+._TtZz ");
	return digits + span == text + length && (memchr(text, ':', length) || memchr(digits, '-', span));
}

static bool is_plain(struct writer *writer, const char *text, size_t length)
{
	if (length == 0 || strchr(" ,[]{}#&*!|>'\"%@`", text[0]) || text[length - 1] == ' ' || text[length - 1] == ':')
		return false;
	if (strchr("-?:", text[0]) && (length == 1 || text[1] == ' '))
		return false;
	if (length >= 3 && (memcmp(text, "---", 3) == 0 || memcmp(text, "...", 3) == 0))
		return false;
	if (!all_printable(text, length, false))
		return false;
	for (size_t i = 1; i < length; i++)
		if ((text[i] == ' ' && text[i - 1] == ':') || (text[i] == '#' && text[i - 1] == ' '))
			return false;
	return !looks_typed(writer, text, length);
}

/* Literal blocks keep text as it is, but lines that end in blanks or a first line that begins with one would depend on
 * details of indentation. */
static bool is_literal(const char *text, size_t length)
{
	if (!memchr(text, '\n', length) || strchr(" \t\n", text[0]) || !all_printable(text, length, true))
		return false;
	for (size_t i = 1; i <= length; i++)
		if ((i == length || text[i] == '\n') && (text[i - 1] == ' ' || text[i - 1] == '\t'))
			return false;
	return true;
}

static void write_quoted(struct buffer *out, const char *text, size_t length)
{
	buffer_puts(out, "\"");
	for (size_t at = 0; at < length;) {
		uint32_t c = 0xfffd;
		size_t size = text_utf8(text + at, length - at, &c);
		if (c == '"' || c == '\\')
			buffer_printf(out, "\\%c", (int)c);
		else if (c == '\n')
			buffer_puts(out, "\\n");
		else if (c == '\t')
			buffer_puts(out, "\\t");
		else if (is_printable(c) && size)
			buffer_append(out, text + at, size);
		else if (c < 0x100)
			buffer_printf(out, "\\x%02X", c);
		else if (c < 0x10000)
			buffer_printf(out, "\\u%04X", c);
		else
			buffer_printf(out, "\\U%08X", c);
		at += size ? size : 1;
	}
	buffer_puts(out, "\"");
}

static void write_literal(struct writer *writer, const char *text, size_t length, size_t indent)
{
	bool ends = text[length - 1] == '\n';
	buffer_puts(writer->out, !ends ? "|-" : length > 1 && text[length - 2] == '\n' ? "|+" : "|");
	size_t stop = ends ? length - 1 : length;
	for (size_t at = 0; at <= stop;) {
		const char *newline = at < stop ? memchr(text + at, '\n', stop - at) : NULL;
		size_t end = newline ? (size_t)(newline - text) : stop;
		buffer_puts(writer->out, "\n");
		if (end > at) {
			write_indent(writer, indent);
			buffer_append(writer->out, text + at, end - at);
		}
		at = end + 1;
	}
}

/* `indent` is where the lines of a literal block go. */
static void write_string(struct writer *writer, const char *text, size_t length, size_t indent)
{
	if (is_plain(writer, text, length))
		buffer_append(writer->out, text, length);
	else if (length && is_literal(text, length))
		write_literal(writer, text, length, indent);
	else
		write_quoted(writer->out, text, length);
}

/* Everything that fits behind "key: " or "- ". */
static void write_scalar(struct writer *writer, yyjson_val *json, size_t indent)
{
	char scratch[64];
	switch (yyjson_get_type(json)) {
	case YYJSON_TYPE_BOOL:
		buffer_puts(writer->out, unsafe_yyjson_get_bool(json) ? "true" : "false");
		break;
	case YYJSON_TYPE_NUM:
	case YYJSON_TYPE_RAW:
		buffer_puts(writer->out, val_scalar_text(val_of(json), scratch));
		break;
	case YYJSON_TYPE_STR:
		write_string(writer, unsafe_yyjson_get_str(json), unsafe_yyjson_get_len(json), indent);
		break;
	case YYJSON_TYPE_ARR:
		buffer_puts(writer->out, "[]");
		break;
	case YYJSON_TYPE_OBJ:
		buffer_puts(writer->out, "{}");
		break;
	default:
		buffer_puts(writer->out, "null");
		break;
	}
}

static bool is_block(yyjson_val *json)
{
	return yyjson_is_ctn(json) && unsafe_yyjson_get_len(json) > 0;
}

static void write_key(struct writer *writer, yyjson_val *key, size_t indent)
{
	const char *text = unsafe_yyjson_get_str(key);
	size_t length = unsafe_yyjson_get_len(key), start = writer->out->length;
	if (is_plain(writer, text, length) && length < LONG_KEY) {
		buffer_append(writer->out, text, length);
	} else {
		struct buffer quoted = {0};
		write_quoted(&quoted, text, length);
		if (quoted.length >= LONG_KEY)
			buffer_puts(writer->out, "? ");
		buffer_append(writer->out, quoted.text, quoted.length);
		buffer_free(&quoted);
	}
	if (writer->out->length - start >= LONG_KEY) {
		buffer_puts(writer->out, "\n");
		write_indent(writer, indent);
	}
	buffer_puts(writer->out, ":");
}

static void write_map(struct writer *writer, yyjson_val *map, size_t indent, bool inline_first)
{
	yyjson_val *key = unsafe_yyjson_get_first(map);
	for (size_t left = unsafe_yyjson_get_len(map); left > 0; left--) {
		yyjson_val *value = key + 1;
		if (!inline_first)
			write_indent(writer, indent);
		inline_first = false;
		write_key(writer, key, indent);
		if (is_block(value)) {
			buffer_puts(writer->out, "\n");
			if (unsafe_yyjson_is_obj(value))
				write_map(writer, value, indent + 2, false);
			else
				write_list(writer, value, indent, false);
		} else {
			buffer_puts(writer->out, " ");
			write_scalar(writer, value, indent + 2);
			buffer_puts(writer->out, "\n");
		}
		key = unsafe_yyjson_get_next(value);
	}
}

static void write_list(struct writer *writer, yyjson_val *list, size_t indent, bool inline_first)
{
	yyjson_val *item = unsafe_yyjson_get_first(list);
	for (size_t left = unsafe_yyjson_get_len(list); left > 0; left--) {
		if (!inline_first)
			write_indent(writer, indent);
		inline_first = false;
		buffer_puts(writer->out, "- ");
		if (!is_block(item)) {
			write_scalar(writer, item, indent + 2);
			buffer_puts(writer->out, "\n");
		} else if (unsafe_yyjson_is_obj(item)) {
			write_map(writer, item, indent + 2, true);
		} else {
			write_list(writer, item, indent + 2, true);
		}
		item = unsafe_yyjson_get_next(item);
	}
}

void yaml_write(const struct val *val, struct buffer *out)
{
	struct writer writer = {.out = out};
	yyjson_val *json = val_json(val);
	if (!is_block(json)) {
		write_scalar(&writer, json, 2);
		buffer_puts(out, "\n");
	} else if (unsafe_yyjson_is_obj(json)) {
		write_map(&writer, json, 0, false);
	} else {
		write_list(&writer, json, 0, false);
	}
	buffer_free(&writer.scratch);
}
