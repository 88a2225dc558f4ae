/* Why a pod must not be placed though it exists, where no node could change that: it asks for what is not served, or for an
 * object that is missing or not usable, or belongs to a workload that cannot be read. Whoever reads pods says so with pod_block_add; everything else follows: the pod does
 * not count, its group is Blocked when it cannot do without, and neither is called Unschedulable. */
#ifndef ADMIT_POD_BLOCK_H
#define ADMIT_POD_BLOCK_H

#include "base/arena.h"

#include <stdbool.h>

enum block_code {
	BLOCK_UNSUPPORTED, /* a request that this release does not serve */
	BLOCK_MISSING,     /* an object it names does not exist */
	BLOCK_NOT_READY,   /* an object it names exists, but cannot be used now: lost, leaving, not bound */
	BLOCK_NOT_GROUPED, /* what it belongs to cannot be told, because something is wrong with a workload above it */
	BLOCK_CODES,
};

struct pod_block {
	enum block_code code;
	const char *message; /* the field or object first: `annotation gpu-fraction: GPUs are not shared` */
};

/* "UnsupportedRequest", "MissingObject", "ObjectNotReady", "NotGrouped": the reason in conditions, and the code in JSON. */
const char *block_code_name(enum block_code code);
/* Blocked because: *block is NULL as long as nothing blocks the pod. A further reason is appended to the message of the
 * first, whose code stays. The result is in the arena, and what *block pointed to is left as it is. */
void pod_block_add(const struct pod_block **block, struct arena *arena, enum block_code code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Both NULL, or the same in code and words. */
bool pod_block_equal(const struct pod_block *a, const struct pod_block *b);
/* A copy in one piece that the caller frees; NULL for NULL. */
struct pod_block *pod_block_copy(const struct pod_block *block);

#endif
