/* Owns how arrays in arenas grow. */
#include "base/grow.h"

#include <string.h>

#define FIRST 8

void *grow_array(struct arena *arena, const void *items, size_t count, size_t *capacity, size_t size)
{
	*capacity = *capacity ? *capacity * 2 : FIRST;
	void *grown = arena_array_bytes(arena, *capacity, size);
	if (count)
		memcpy(grown, items, count * size);
	return grown;
}
