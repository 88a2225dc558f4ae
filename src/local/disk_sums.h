/* What tells a store that is whole from one that was damaged: a sum for each row, one over all of them, and a mark outside the
 * database of how far it was acknowledged, since SQLite takes the torn end of its log for a crash and leaves it out. */
#ifndef LOCAL_DISK_SUMS_H
#define LOCAL_DISK_SUMS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Of a row of the log; value NULL: the object is gone. */
struct disk_row {
	uint64_t version, prior;
	int64_t type;
	const char *namespace_, *name;
	const void *value;
	size_t length;
};
uint64_t disk_sum_row(const struct disk_row *row);
uint64_t disk_sum_type(int64_t id, const char *group, const char *resource, uint64_t floor);

/* Over the whole file: what one row of its own says of all others. Sums of rows are added up, so their order does not count. */
struct disk_totals {
	uint64_t version, rows, log, types;
};

/* The file `<path>-mark`. */
struct disk_mark {
	int file;
	uint64_t version; /* 0: nothing was acknowledged, or nobody noted it */
};
/* -1 and *error when it cannot be read or written, or is damaged. Close it with disk_mark_close() in either case. */
int disk_mark_open(struct disk_mark *mark, const char *path, struct error *error);
/* After each commit; as durable as what the file system was given. -1 when it cannot be written. */
int disk_mark_write(struct disk_mark *mark, uint64_t version);
void disk_mark_close(struct disk_mark *mark);

#endif
