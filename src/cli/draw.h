/* Drawing for terminals: what the terminal can show, and lines made of coloured pieces. Trees, maps, bars and the live
 * view are all made of these, so that a pipe, a plain terminal and a colourful one get the same content. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include "cli/output.h"

enum draw_when { DRAW_AUTO, DRAW_ALWAYS, DRAW_NEVER };

struct draw_style {
	bool terminal, colours, unicode;
	size_t width, height; /* of the terminal; 80 x 24 when it does not say */
};

/* Colours: on a terminal unless NO_COLOR is set, or as `colour` says. Unicode: on a terminal whose locale is UTF-8. */
struct draw_style draw_style(FILE *stream, enum draw_when colour);
/* Takes over the present size of the terminal. */
void draw_resize(struct draw_style *style, FILE *stream);

struct draw_piece {
	const char *text;
	enum colour colour;
};

struct draw_line {
	struct draw_piece *pieces;
	size_t count, capacity;
};

struct drawing {
	struct arena *arena; /* set before use; owns everything */
	struct draw_line *lines;
	size_t count, capacity;
};

void draw_new_line(struct drawing *drawing);
/* Adds to the last line. */
void draw_add(struct drawing *drawing, enum colour colour, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The rows of a table as lines. */
void draw_table(struct drawing *drawing, const struct table *table);
/* Adds the text to a table as lines of their own of at most `width` characters, broken between words; 0: one line. */
void draw_paragraph(struct table *table, enum colour colour, int indent, const char *text, size_t width);
/* No more than `width` characters of the text, "..." at the end when something is cut. */
const char *draw_cut(struct arena *arena, const char *text, size_t width);

/* Prints at most `width` characters of a line, 0: all of them; without a newline. How many it were. */
size_t draw_print_line(const struct draw_line *line, FILE *stream, bool colours, size_t width);
void draw_print(const struct drawing *drawing, FILE *stream, const struct draw_style *style);

/* What stands before the name of an entry of a tree: two blanks per level on a pipe, branches on a terminal.
 * open[i] says whether level i goes on below this entry. */
const char *draw_branch(struct arena *arena, const struct draw_style *style, const bool *open, int depth);
/* Adds "######....", filled in proportion; whole 0 is empty. */
void draw_bar(struct drawing *drawing, const struct draw_style *style, enum colour colour, int64_t part, int64_t whole,
              int cells);

#endif
