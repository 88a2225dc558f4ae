/* Growable arrays on the heap: `VEC(int) numbers = {0}; vec_push(&numbers, 3); vec_free(&numbers);`
 * The owner of the struct owns the items. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                                      \
	struct {                                                                                                       \
		type *items;                                                                                           \
		size_t count;                                                                                          \
		size_t capacity;                                                                                       \
	}

#define vec_reserve(vec, want)                                                                                         \
	do {                                                                                                           \
		if ((vec)->capacity < (want)) {                                                                        \
			size_t vec_new_ = (vec)->capacity ? (vec)->capacity * 2 : 8;                                   \
			if (vec_new_ < (want))                                                                         \
				vec_new_ = (want);                                                                     \
			(vec)->items = base_realloc_array((vec)->items, vec_new_, sizeof(*(vec)->items));              \
			(vec)->capacity = vec_new_;                                                                    \
		}                                                                                                      \
	} while (0)

#define vec_push(vec, ...)                                                                                             \
	do {                                                                                                           \
		vec_reserve((vec), (vec)->count + 1);                                                                  \
		(vec)->items[(vec)->count++] = __VA_ARGS__;                                                            \
	} while (0)

#define vec_free(vec)                                                                                                  \
	do {                                                                                                           \
		free((vec)->items);                                                                                    \
		(vec)->items = NULL;                                                                                   \
		(vec)->count = (vec)->capacity = 0;                                                                    \
	} while (0)

#endif
