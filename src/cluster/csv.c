/* Owns reading comma separated values. */
#include "cluster/csv.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void csv_complain(struct csv *csv, const char *fix, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *message = arena_vprintf(csv->problems->arena, format, args);
	va_end(args);
	problem_add(csv->problems, SEVERITY_ERROR, problem_path(csv->problems, "%s:%zu", csv->source, csv->line), fix,
	            "%s", message);
}

static void split(struct csv *csv, const char *line, size_t length)
{
	csv->count = 0;
	for (size_t from = 0; from <= length && csv->count < CSV_FIELDS;) {
		const char *comma = memchr(line + from, ',', length - from);
		size_t end = comma ? (size_t)(comma - line) : length;
		csv->fields[csv->count] = line + from;
		csv->lengths[csv->count++] = end - from;
		from = end + 1;
	}
}

bool csv_next(struct csv *csv)
{
	while (csv->at < csv->end) {
		const char *line = csv->at, *newline = memchr(line, '\n', (size_t)(csv->end - line));
		size_t length = (size_t)((newline ? newline : csv->end) - line);
		csv->at = newline ? newline + 1 : csv->end;
		csv->line++;
		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length == 0)
			continue;
		split(csv, line, length);
		return true;
	}
	return false;
}

static bool is_called(const struct csv *csv, size_t field, const char *name)
{
	return name && strlen(name) == csv->lengths[field] &&
	       strncmp(csv->fields[field], name, csv->lengths[field]) == 0;
}

bool csv_open(struct csv *csv, const char *text, size_t length, int required, const char *fix)
{
	csv->at = text;
	csv->end = text + length;
	if (!csv_next(csv))
		return false;
	for (int column = 0; column < csv->columns; column++) {
		csv->field[column] = -1;
		for (size_t i = 0; i < csv->count; i++)
			for (int name = 0; name < CSV_NAMES; name++)
				if (is_called(csv, i, csv->names[column][name]))
					csv->field[column] = (int)i;
	}
	if (csv->field[required] >= 0)
		return true;
	csv_complain(csv, fix, "the header names no column %s", csv->names[required][0]);
	return false;
}

/* NULL when the column is not there or empty. */
static const char *field_of(const struct csv *csv, int column, size_t *length)
{
	int field = csv->field[column];
	if (field < 0 || (size_t)field >= csv->count || csv->lengths[field] == 0)
		return NULL;
	*length = csv->lengths[field];
	return csv->fields[field];
}

void csv_word(const struct csv *csv, int column, char into[CSV_WORD + 1])
{
	size_t length = 0, size = 0;
	const char *text = field_of(csv, column, &size);
	for (size_t i = 0; text && i < size && length < CSV_WORD; i++) {
		char c = text[i];
		bool good = isalnum((unsigned char)c) || ((c == '-' || c == '.' || c == '_') && length > 0);
		if (good || length > 0)
			into[length++] = good ? c : '-';
	}
	while (length > 0 && !isalnum((unsigned char)into[length - 1]))
		length--;
	into[length] = '\0';
}

/* Digits, and up to three behind a point. */
static bool read_milli(const char *text, size_t length, int64_t most, int64_t *into)
{
	size_t at = 0;
	int64_t whole = 0, part = 0, unit = 100;
	if (length == 0 || !isdigit((unsigned char)text[0]))
		return false;
	for (; at < length && isdigit((unsigned char)text[at]); at++) {
		whole = whole * 10 + text[at] - '0';
		if (whole > most)
			return false;
	}
	if (at < length && text[at++] != '.')
		return false;
	for (; at < length && isdigit((unsigned char)text[at]); at++, unit /= 10)
		part += (text[at] - '0') * unit;
	*into = whole * 1000 + part;
	return at == length && *into <= most * 1000;
}

bool csv_milli(struct csv *csv, int column, int64_t fallback, int64_t most, int64_t *into)
{
	size_t length = 0;
	const char *text = field_of(csv, column, &length);
	*into = fallback;
	if (!text || read_milli(text, length, most, into))
		return true;
	csv_complain(csv, arena_printf(csv->problems->arena, "write a number from 0 to %lld", (long long)most),
	             "\"%.*s\" is no %s", (int)(length < 40 ? length : 40), text, csv->names[column][0]);
	return false;
}

bool csv_number(struct csv *csv, int column, int64_t fallback, int64_t most, int64_t *into)
{
	size_t length = 0;
	const char *text = field_of(csv, column, &length);
	int64_t milli = 0;
	*into = fallback;
	if (!text)
		return true;
	if (read_milli(text, length, most, &milli) && milli % 1000 == 0) {
		*into = milli / 1000;
		return true;
	}
	csv_complain(csv, arena_printf(csv->problems->arena, "write a whole number from 0 to %lld", (long long)most),
	             "\"%.*s\" is no %s", (int)(length < 40 ? length : 40), text, csv->names[column][0]);
	return false;
}
