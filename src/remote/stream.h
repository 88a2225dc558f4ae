/* Answers that arrive in pieces: a list is cut into its items and a watch into its lines as soon as they are there, so that
 * no list is ever in memory as a whole and reading goes on while the rest is on its way.
 *
 * Texts handed out are not checked: whoever gets one parses it. Items are no deeper than DOC_MAX_DEPTH. */
#ifndef REMOTE_STREAM_H
#define REMOTE_STREAM_H

#include "base/error.h"
#include "base/strings.h"
#include "object/doc.h"

/* One item or line; -1 ends it all. */
typedef int remote_piece(void *context, const char *text, size_t length);

/* ---- lines ---- */

struct remote_lines {       /* zero it */
	struct buffer rest; /* of a line that is not complete */
};

/* -1 when a receiver said so, or a line is longer than `longest` (then *error is set). Empty lines are left out. */
int remote_lines_feed(struct remote_lines *lines, const char *bytes, size_t length, size_t longest,
                      remote_piece *receive, void *context, struct error *error);
void remote_lines_free(struct remote_lines *lines);

/* ---- lists ---- */

struct remote_items {           /* zero it */
	struct buffer envelope; /* everything but the items: a list without any */
	struct buffer item;     /* the part of an item that is there */
	struct buffer key;      /* the last text of the outermost map: the name of what follows */
	unsigned depth;         /* of brackets, outside of items */
	unsigned item_depth;    /* inside of one; 0: between them */
	enum { ITEMS_BEFORE, ITEMS_INSIDE, ITEMS_BEHIND } where;
	bool in_string, escaped;
};

/* -1 when a receiver said so, or an item is larger than `largest` (then *error is set). */
int remote_items_feed(struct remote_items *items, const char *bytes, size_t length, size_t largest,
                      remote_piece *receive, void *context, struct error *error);
/* The list without its items, as far as it has arrived; NULL when that is not JSON. The caller destroys it. */
struct doc *remote_items_envelope(const struct remote_items *items);
void remote_items_free(struct remote_items *items);

#endif
