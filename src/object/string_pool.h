/* A pool of texts that many documents have in common (keys, kinds, reasons), each kept once. Objects of a cluster repeat
 * them so much that they would take most of the memory for texts.
 *
 * A text is never given back, so there is a limit to how many are kept: what comes later is simply not shared. Documents
 * that were packed with a pool must be gone before the pool is. */
#ifndef OBJECT_STRING_POOL_H
#define OBJECT_STRING_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct string_pool;

struct string_pool *string_pool_create(void);
void string_pool_destroy(struct string_pool *pool); /* NULL is a no-op */
/* The kept text that is equal; NULL when it is not shared. Keys of maps are kept when first seen, values only when they
 * come again soon: most are in one document only. */
const char *string_pool_share(struct string_pool *pool, const char *text, size_t length, bool is_key);

#endif
