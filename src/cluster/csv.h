/* Tables as comma separated values with a header, for node lists and traces. Fields are plain: no quotes. */
#ifndef CLUSTER_CSV_H
#define CLUSTER_CSV_H

#include "base/problems.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_COLUMNS 16 /* that a reader may know */
#define CSV_NAMES 4    /* by which one column may be called */
#define CSV_FIELDS 64
#define CSV_WORD 63 /* bytes: those of a label value */

struct csv {
	const char *source; /* set before csv_open, like the next three */
	struct problems *problems;
	const char *const (*names)[CSV_NAMES]; /* per column */
	int columns;
	const char *at, *end;
	size_t line;
	int field[CSV_COLUMNS]; /* where a column stands, -1: it does not */
	const char *fields[CSV_FIELDS];
	size_t lengths[CSV_FIELDS];
	size_t count; /* of fields in the present line */
};

/* Reads the header. False, and a problem, when `required` is not in it; an empty text has no problem. */
bool csv_open(struct csv *csv, const char *text, size_t length, int required, const char *fix);
/* The next line that is not empty; false at the end. */
bool csv_next(struct csv *csv);
/* An error about the present line. */
void csv_complain(struct csv *csv, const char *fix, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The field as what a label value may hold; other characters become dashes. "" when it is empty. */
void csv_word(const struct csv *csv, int column, char into[CSV_WORD + 1]);
/* In thousandths, so that 0.5 of something can be read; `fallback` when empty. False, and an error, when it is no number
 * from 0 to `most` whole units. */
bool csv_milli(struct csv *csv, int column, int64_t fallback, int64_t most, int64_t *into);
/* Whole numbers; 192.0 is one. */
bool csv_number(struct csv *csv, int column, int64_t fallback, int64_t most, int64_t *into);

#endif
