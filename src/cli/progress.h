/* A line on standard error that says how far a long command is. Only on a terminal; a few times a second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool enabled, unicode, visible;
	int64_t begun, shown; /* nanoseconds */
};

struct progress progress_begin(void);
/* `what` is "seeds", "pods", ...; `note` follows the count, may be "". A total of 0 is unknown. */
void progress_show(struct progress *progress, const char *what, uint64_t done, uint64_t total, const char *note);
/* Takes the line away, so that something else can be printed. */
void progress_clear(struct progress *progress);

#endif
