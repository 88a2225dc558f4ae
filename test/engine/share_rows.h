/* Queues written as rows of a table, for the tests of fair shares. Amounts are GPUs in devices; CPU and memory are
 * unlimited and not used. */
#ifndef TEST_SHARE_ROWS_H
#define TEST_SHARE_ROWS_H

#include "engine/share/share.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NONE = -1, TOP = -1, MOST = 8 };

struct row {
	const char *name; /* NULL ends the table */
	int parent;       /* row, or TOP */
	int64_t quota, limit, weight, priority;
	int64_t used, demand;
	int64_t fair; /* expected */
	int64_t past; /* in hundredths of the cluster */
};

extern const int64_t rows_plenty[SHARE_RESOURCES]; /* a total that never runs out */

int64_t devices(int64_t number); /* in milli-devices; NONE stays NONE */
struct share_queue rows_queue(const struct row *row);
size_t rows_queues(const struct row rows[MOST], struct share_queue queues[MOST]);
/* Fails the test when a share is not the expected one. */
void rows_check(const char *story, const struct row rows[MOST], int64_t total);

#endif
