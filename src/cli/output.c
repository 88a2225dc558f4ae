/* Owns tables, colours and the short form of node lists. */
#include "cli/output.h"

#include "base/grow.h"
#include "base/strings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMN_WIDEST 100   /* one endless name must not fill every other row with blanks */
#define LINE_LONGEST 4096   /* bytes; a sentence quotes names, and a hostile one is a megabyte long */
#define NODES_SPELLED_OUT 4 /* up to this many are written one by one */

/* The palette of Okabe and Ito, as near as 256 colours come to it. */
static const char *const colour_codes[] = {
	[COLOUR_NONE] = "",
	[COLOUR_GREEN] = "\033[38;5;36m",
	[COLOUR_YELLOW] = "\033[38;5;178m",
	[COLOUR_RED] = "\033[38;5;166m",
	[COLOUR_BOLD] = "\033[1m",
	[COLOUR_DIM] = "\033[2m",
	[COLOUR_REVERSE] = "\033[7m",
	[COLOUR_GANG] = "\033[38;5;16;48;5;214m",
	[COLOUR_GANG + 1] = "\033[38;5;16;48;5;74m",
	[COLOUR_GANG + 2] = "\033[38;5;16;48;5;36m",
	[COLOUR_GANG + 3] = "\033[38;5;16;48;5;227m",
	[COLOUR_GANG + 4] = "\033[38;5;231;48;5;25m",
	[COLOUR_GANG + 5] = "\033[38;5;16;48;5;166m",
	[COLOUR_LAST_GANG] = "\033[38;5;16;48;5;175m",
};

bool output_wants_colour(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	return isatty(fileno(stream)) && !(no_colour && no_colour[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* Seen as itself, in its place, by whoever reads the line. */
static bool is_harmless(uint32_t c)
{
	return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x200e && c <= 0x200f) &&
	       !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

void output_text(FILE *stream, const char *text)
{
	size_t length = strlen(text), done = 0;
	for (size_t at = 0; at < length;) {
		uint32_t c = 0;
		size_t size = text_utf8(text + at, length - at, &c);
		if (size > 0 && is_harmless(c)) {
			at += size;
			continue;
		}
		fwrite(text + done, 1, at - done, stream);
		fputc('?', stream);
		at += size ? size : 1;
		done = at;
	}
	fwrite(text + done, 1, length - done, stream);
}

void output_line(FILE *stream, const char *format, ...)
{
	struct arena *arena = arena_create();
	va_list args;
	va_start(args, format);
	output_text(stream, arena_vprintf(arena, format, args));
	va_end(args);
	fputc('\n', stream);
	arena_destroy(arena);
}

void output_coloured(FILE *stream, bool colours, enum colour colour, const char *text)
{
	bool use = colours && colour != COLOUR_NONE && text[0];
	if (use)
		fputs(colour_codes[colour], stream);
	output_text(stream, text);
	if (use)
		fputs("\033[0m", stream);
}

void table_add(struct table *table, const struct table_row *row)
{
	if (table->count == table->capacity)
		table->rows =
			grow_array(table->arena, table->rows, table->count, &table->capacity, sizeof(*table->rows));
	table->rows[table->count++] = *row;
}

void table_line(struct table *table, enum colour colour, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = arena_vprintf(table->arena, format, args);
	va_end(args);
	if (strlen(text) > LINE_LONGEST)
		memcpy(text + LINE_LONGEST - 3, "...", 4);
	struct table_row row = {.text = text, .colours = {colour}};
	table_add(table, &row);
}

/* Continuation bytes of UTF-8 take no column. */
size_t output_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_row(const struct table_row *row, size_t columns, const size_t *widths, FILE *stream, bool colours)
{
	size_t last = columns;
	while (last > 0 && (!row->cells[last - 1] || !row->cells[last - 1][0]))
		last--;
	for (size_t c = 0; c < last; c++) {
		const char *cell = row->cells[c] ? row->cells[c] : "";
		output_coloured(stream, colours, row->colours[c], cell);
		size_t width = output_width(cell), wanted = widths[c] > width ? widths[c] - width : 0;
		if (c + 1 < last)
			fprintf(stream, "%*s", (int)(wanted + TABLE_GAP), "");
	}
	fputc('\n', stream);
}

void table_widths(const struct table *table, size_t *widths)
{
	memset(widths, 0, TABLE_COLUMNS * sizeof(*widths));
	for (size_t r = 0; r < table->count; r++) {
		for (size_t c = 0; c < table->columns && !table->rows[r].text; c++) {
			size_t width = table->rows[r].cells[c] ? output_width(table->rows[r].cells[c]) : 0;
			widths[c] = width > widths[c] && width <= COLUMN_WIDEST ? width : widths[c];
		}
	}
}

void table_print(const struct table *table, FILE *stream, bool colours)
{
	size_t widths[TABLE_COLUMNS];
	table_widths(table, widths);
	for (size_t r = 0; r < table->count; r++) {
		if (table->rows[r].text) {
			output_coloured(stream, colours, table->rows[r].colours[0], table->rows[r].text);
			fputc('\n', stream);
		} else {
			print_row(&table->rows[r], table->columns, widths, stream, colours);
		}
	}
}

struct numbered { /* a name split before its trailing number */
	const char *name;
	size_t prefix, digits; /* lengths; 0 digits: no number */
	unsigned long long number;
};

static struct numbered split_number(const char *name)
{
	size_t length = strlen(name), digits = 0;
	while (digits < length && digits < 18 && isdigit((unsigned char)name[length - digits - 1]))
		digits++;
	return (struct numbered){
		.name = name,
		.prefix = length - digits,
		.digits = digits,
		.number = digits > 0 ? strtoull(name + length - digits, NULL, 10) : 0,
	};
}

static int compare_numbered(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	size_t shorter = a->prefix < b->prefix ? a->prefix : b->prefix;
	int order = strncmp(a->name, b->name, shorter);
	if (order)
		return order;
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	/* Fewer digits first: the order of plain numbers, and padded ones stay among themselves. */
	if (a->digits != b->digits)
		return a->digits < b->digits ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Two names can share brackets when they differ in the number only and are padded alike. */
static bool same_series(const struct numbered *a, const struct numbered *b)
{
	if (a->digits == 0 || b->digits == 0 || a->prefix != b->prefix || strncmp(a->name, b->name, a->prefix) != 0)
		return false;
	bool padded = (a->digits > 1 && a->name[a->prefix] == '0') || (b->digits > 1 && b->name[b->prefix] == '0');
	return !padded || a->digits == b->digits;
}

/* Writes the series that starts at `at` and returns where the next one starts. */
static size_t write_series(struct buffer *out, const struct numbered *items, size_t at, size_t count)
{
	size_t end = at + 1;
	while (end < count && same_series(&items[at], &items[end]))
		end++;
	if (end == at + 1) {
		buffer_puts(out, items[at].name);
		return end;
	}
	buffer_printf(out, "%.*s[", (int)items[at].prefix, items[at].name);
	for (size_t i = at, last; i < end; i = last + 1) {
		for (last = i; last + 1 < end && items[last + 1].number == items[last].number + 1;)
			last++;
		buffer_printf(out, "%s%s", i > at ? "," : "", items[i].name + items[i].prefix);
		if (last > i)
			buffer_printf(out, "-%s", items[last].name + items[last].prefix);
	}
	buffer_puts(out, "]");
	return end;
}

const char *output_nodes(struct arena *arena, const char *const *names, size_t count, size_t width)
{
	struct numbered *items = arena_array(arena, struct numbered, count);
	size_t distinct = 0;
	for (size_t i = 0; i < count; i++)
		items[i] = split_number(names[i]);
	qsort(items, count, sizeof(*items), compare_numbered);
	for (size_t i = 0; i < count; i++)
		if (distinct == 0 || strcmp(items[distinct - 1].name, items[i].name) != 0)
			items[distinct++] = items[i];
	struct buffer out = {0};
	size_t at = 0;
	while (at < distinct) {
		size_t before = out.length;
		if (before > 0)
			buffer_puts(&out, " ");
		size_t next = at + 1;
		if (distinct <= NODES_SPELLED_OUT)
			buffer_puts(&out, items[at].name);
		else
			next = write_series(&out, items, at, distinct);
		if (width > 0 && out.length > width && before > 0) {
			out.length = before;
			out.text[before] = '\0';
			break;
		}
		at = next;
	}
	if (at < distinct)
		buffer_printf(&out, " and %zu more", distinct - at);
	const char *text = arena_strdup(arena, out.text ? out.text : "");
	buffer_free(&out);
	return text;
}

void output_document(struct build *build, struct node *root, bool yaml, FILE *stream)
{
	struct buffer text = {0};
	build_write(build, root, yaml ? DOC_YAML : DOC_JSON_PRETTY, &text);
	if (text.length > 0)
		fwrite(text.text, 1, text.length, stream);
	if (text.length == 0 || text.text[text.length - 1] != '\n')
		fputc('\n', stream);
	buffer_free(&text);
}

const char *output_percent(struct arena *arena, int64_t part, int64_t whole)
{
	int64_t tenths = part / (whole / 1000);
	return arena_printf(arena, "%lld.%lld%%", (long long)(tenths / 10), (long long)(tenths % 10));
}
