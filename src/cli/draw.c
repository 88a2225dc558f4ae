/* Owns the properties of the terminal, and lines of coloured pieces. */
#include "cli/draw.h"

#include "base/grow.h"
#include "base/strings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80
#define USUAL_HEIGHT 24

static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);
		if (value && value[0])
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

void draw_resize(struct draw_style *style, FILE *stream)
{
	struct winsize size = {0};
	bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0;
	style->width = known && size.ws_col > 0 ? size.ws_col : USUAL_WIDTH;
	style->height = known && size.ws_row > 0 ? size.ws_row : USUAL_HEIGHT;
}

struct draw_style draw_style(FILE *stream, enum draw_when colour)
{
	struct draw_style style = {.terminal = isatty(fileno(stream))};
	style.colours = colour == DRAW_ALWAYS || (colour == DRAW_AUTO && output_wants_colour(stream));
	style.unicode = style.terminal && locale_is_utf8();
	draw_resize(&style, stream);
	return style;
}

/* ---- lines ---- */

void draw_new_line(struct drawing *drawing)
{
	if (drawing->count == drawing->capacity)
		drawing->lines = grow_array(drawing->arena, drawing->lines, drawing->count, &drawing->capacity,
		                            sizeof(*drawing->lines));
	drawing->lines[drawing->count++] = (struct draw_line){0};
}

void draw_add(struct drawing *drawing, enum colour colour, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(drawing->arena, format, args);
	va_end(args);
	if (drawing->count == 0)
		draw_new_line(drawing);
	struct draw_line *line = &drawing->lines[drawing->count - 1];
	if (!text[0])
		return;
	if (line->count == line->capacity)
		line->pieces =
			grow_array(drawing->arena, line->pieces, line->count, &line->capacity, sizeof(*line->pieces));
	line->pieces[line->count++] = (struct draw_piece){text, colour};
}

const char *draw_cut(struct arena *arena, const char *text, size_t width)
{
	if (output_width(text) <= width)
		return text;
	size_t keep = width > 3 ? width - 3 : 0, bytes = 0;
	for (size_t seen = 0; text[bytes]; bytes++) {
		seen += ((unsigned char)text[bytes] & 0xc0) != 0x80;
		if (seen > keep)
			break;
	}
	return arena_printf(arena, "%.*s%.*s", (int)bytes, text, (int)(width - keep), "...");
}

void draw_table(struct drawing *drawing, const struct table *table)
{
	size_t widths[TABLE_COLUMNS];
	table_widths(table, widths);
	for (size_t r = 0; r < table->count; r++) {
		const struct table_row *row = &table->rows[r];
		draw_new_line(drawing);
		if (row->text) {
			draw_add(drawing, row->colours[0], "%s", row->text);
			continue;
		}
		for (size_t c = 0; c < table->columns; c++) {
			const char *cell = row->cells[c] ? row->cells[c] : "";
			size_t width = output_width(cell), wanted = widths[c] > width ? widths[c] - width : 0;
			draw_add(drawing, row->colours[c], "%s", cell);
			if (c + 1 < table->columns)
				draw_add(drawing, COLOUR_NONE, "%*s", (int)wanted + TABLE_GAP, "");
		}
	}
}

void draw_paragraph(struct table *table, enum colour colour, int indent, const char *text, size_t width)
{
	size_t room = width > (size_t)indent + 20 ? width - (size_t)indent : width;
	while (*text) {
		size_t length = strlen(text), cut = length;
		if (width > 0 && length > room) {
			for (cut = room; cut > 0 && text[cut] != ' ';)
				cut--;
			cut = cut > 0 ? cut : strcspn(text, " ");
		}
		table_line(table, colour, "%*s%.*s", indent, "", (int)cut, text);
		text += cut + (text[cut] == ' ');
	}
}

static bool is_blank(const struct draw_piece *piece)
{
	return piece->text[strspn(piece->text, " ")] == '\0' && piece->colour == COLOUR_NONE;
}

size_t draw_print_line(const struct draw_line *line, FILE *stream, bool colours, size_t width)
{
	struct arena *arena = NULL;
	size_t used = 0, last = line->count;
	while (last > 0 && is_blank(&line->pieces[last - 1]))
		last--;
	for (size_t i = 0; i < last; i++) {
		const char *text = line->pieces[i].text;
		size_t wide = output_width(text);
		if (width > 0 && used + wide > width) {
			arena = arena_create();
			text = draw_cut(arena, text, width - used);
			wide = width - used;
			last = i + 1;
		}
		output_coloured(stream, colours, line->pieces[i].colour, text);
		used += wide;
	}
	arena_destroy(arena);
	return used;
}

void draw_print(const struct drawing *drawing, FILE *stream, const struct draw_style *style)
{
	for (size_t i = 0; i < drawing->count; i++) {
		draw_print_line(&drawing->lines[i], stream, style->colours, 0);
		fputc('\n', stream);
	}
}

/* ---- shapes ---- */

const char *draw_branch(struct arena *arena, const struct draw_style *style, const bool *open, int depth)
{
	struct buffer text = {0};
	for (int level = 1; level <= depth; level++) {
		bool own = level == depth, goes_on = open[level];
		if (!style->terminal)
			buffer_puts(&text, "  ");
		else if (style->unicode)
			buffer_puts(&text, own ? (goes_on ? "├─ " : "└─ ") : goes_on ? "│  " : "   ");
		else
			buffer_puts(&text, own ? (goes_on ? "|- " : "`- ") : goes_on ? "|  " : "   ");
	}
	const char *copy = arena_strdup(arena, text.text ? text.text : "");
	buffer_free(&text);
	return copy;
}

void draw_bar(struct drawing *drawing, const struct draw_style *style, enum colour colour, int64_t part, int64_t whole,
              int cells)
{
	int64_t share = part < 0 ? 0 : part > whole ? whole : part;
	/* In doubles: the product of two amounts of memory does not fit, and a cell is coarse. */
	int full = whole > 0 ? (int)((double)share / (double)whole * cells + 0.5) : 0;
	struct buffer text = {0};
	for (int i = 0; i < full; i++)
		buffer_puts(&text, style->unicode ? "█" : "#");
	draw_add(drawing, colour, "%s", text.text ? text.text : "");
	buffer_free(&text);
	text = (struct buffer){0};
	for (int i = full; i < cells; i++)
		buffer_puts(&text, style->unicode ? "░" : ".");
	draw_add(drawing, COLOUR_DIM, "%s", text.text ? text.text : "");
	buffer_free(&text);
}
