/* Hash maps: uthash with XXH3 instead of its default hash. Include this, never <uthash.h> directly. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/arena.h"

#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HASH_FUNCTION(key, length, hash)                                                                               \
	do {                                                                                                           \
		(hash) = (unsigned)XXH3_64bits((key), (length));                                                       \
	} while (0)
#define uthash_malloc(size) base_malloc(size)
#define uthash_fatal(message) abort()
#include <uthash.h>

static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
	hash *= 0xff51afd7ed558ccdULL;
	return hash ^ (hash >> 32);
}

#endif
