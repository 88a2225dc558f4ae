/* Arrays that grow in an arena: what they outgrow stays there until the arena goes. For arrays on the heap see vec.h. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include "base/arena.h"

/* The array with room for at least one item more than *capacity; *capacity says how many then. */
void *grow_array(struct arena *arena, const void *items, size_t count, size_t *capacity, size_t size);

#endif
