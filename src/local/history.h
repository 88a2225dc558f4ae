/* The last changes of one type, in order: what watches read. A change is numbered by its place in the whole history of
 * the type since the store was opened (`sequence`), so that a watch can remember where it is. */
#ifndef LOCAL_HISTORY_H
#define LOCAL_HISTORY_H

#include "api/object.h"

struct change {
	uint64_t version;
	struct store_object *old;  /* NULL: created */
	struct store_object *now;  /* NULL: deleted */
	struct store_object *left; /* `old` with the version of this change; made when first needed */
	size_t size;               /* bytes of JSON of `now` */
};

struct history {
	struct change *items;
	size_t start, count, capacity;
	uint64_t first;   /* sequence of the oldest kept */
	uint64_t visible; /* sequence behind the last committed one */
	uint64_t floor;   /* version of the newest change that is no longer kept */
	size_t bytes;     /* sizes of all kept */
};

/* Retains both objects. Not visible yet. */
void history_push(struct history *history, uint64_t version, struct store_object *old, struct store_object *now,
                  size_t size);
/* Takes the newest, which was not visible yet, back. */
void history_pop(struct history *history);
/* Forgets the oldest. */
void history_evict(struct history *history);
void history_free(struct history *history);

struct change *history_at(const struct history *history, uint64_t sequence);
/* Behind the newest, visible or not. */
uint64_t history_end(const struct history *history);
/* Sequence of the first change newer than `version`. */
uint64_t history_after(const struct history *history, uint64_t version);
/* The object that a selection loses with this change: the old state with the new version. Borrowed. */
struct store_object *change_left(struct change *change);

#endif
