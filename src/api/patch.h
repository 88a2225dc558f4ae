/* Patches as plain functions from an object and a patch to an object; the fuzzer calls them directly. */
#ifndef API_PATCH_H
#define API_PATCH_H

#include "api/shape.h"
#include "api/status.h"
#include "object/tree.h"

#define PATCH_MAX_OPERATIONS 10000

/* All three change the tree in place where they can and return its new root; the patch must outlive it. NULL and *error
 * when the patch is malformed (400) or does not fit (422). */
struct tree *patch_merge(struct arena *arena, struct tree *target, const struct val *patch); /* RFC 7386, never NULL */
struct tree *patch_json(struct arena *arena, struct tree *target, const struct val *patch, struct store_error *error);
struct tree *patch_strategic(struct arena *arena, struct tree *target, const struct val *patch,
                             const struct shape *shape, struct store_error *error);

#endif
