/* Output for people: aligned tables, colours on a terminal, short lists of nodes. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/arena.h"
#include "object/build.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Good, waiting and bad are told apart also by those who see red and green alike; a word always says the same. The
 * colours of gangs are backgrounds. */
enum colour {
	COLOUR_NONE,
	COLOUR_GREEN,
	COLOUR_YELLOW,
	COLOUR_RED,
	COLOUR_BOLD,
	COLOUR_DIM,
	COLOUR_REVERSE,
	COLOUR_GANG, /* the first of COLOUR_GANGS */
	COLOUR_LAST_GANG = COLOUR_GANG + 6,
};
#define COLOUR_GANGS (COLOUR_LAST_GANG - COLOUR_GANG + 1)

#define TABLE_COLUMNS 8
#define TABLE_GAP 2 /* blanks between columns */

struct table_row {
	const char *cells[TABLE_COLUMNS]; /* NULL is empty */
	enum colour colours[TABLE_COLUMNS];
	const char *text; /* not NULL: a line of its own across all columns, coloured by colours[0] */
};

struct table {
	struct arena *arena; /* set before use; owns the rows */
	size_t columns;
	struct table_row *rows;
	size_t count, capacity;
};

void table_add(struct table *table, const struct table_row *row);
void table_line(struct table *table, enum colour colour, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Columns are as wide as their widest cell up to a limit, beyond which a cell stands out of its column; no blanks at the
 * end of a line. */
void table_print(const struct table *table, FILE *stream, bool colours);
/* The width of each column; an array of TABLE_COLUMNS. */
void table_widths(const struct table *table, size_t *widths);
/* Characters, not bytes. */
size_t output_width(const char *text);

/* A part of a whole above 0, such as 12.5%. */
const char *output_percent(struct arena *arena, int64_t part, int64_t whole);

/* True on a terminal unless NO_COLOR is set. */
bool output_wants_colour(FILE *stream);
/* Names and messages quote what somebody wrote into a file. Characters that would act on the terminal instead of being
 * seen (control characters, line breaks, changes of the writing direction, bytes that are not UTF-8) come out as '?'.
 * Everything printed for people goes through one of these three; a line ends with a newline of its own. */
void output_text(FILE *stream, const char *text);
void output_line(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
void output_coloured(FILE *stream, bool colours, enum colour colour, const char *text);

/* Distinct names, numbers in order: "n2 n10" for a few, "n[17-20,25]" for many. With a width above 0 the text is cut
 * to about that width and says how many nodes are left out. */
const char *output_nodes(struct arena *arena, const char *const *names, size_t count, size_t width);

/* Prints a document as JSON or YAML. */
void output_document(struct build *build, struct node *root, bool yaml, FILE *stream);

#endif
