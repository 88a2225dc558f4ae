/* Arena: memory for one decision, request or document, freed all at once.
 *
 * Owns every block it hands out. Allocation never returns NULL: running out of memory ends the process with a
 * message, because state lives in the store and a scheduler without memory cannot decide anything. Sizes that come
 * from input must be bounded by the caller before they get here. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_create(void);
struct arena *arena_create_small(void);  /* starts with little: for one of very many objects */
void arena_destroy(struct arena *arena); /* NULL is a no-op */
/* Forgets all blocks but keeps the largest chunk for reuse. */
void arena_reset(struct arena *arena);

/* Zeroed, aligned for any type. A size of 0 gives a valid unique pointer. */
void *arena_alloc(struct arena *arena, size_t size);
/* Like arena_alloc, but the bytes are whatever was there: for large arrays that are filled at once. */
void *arena_alloc_raw(struct arena *arena, size_t size);
/* Zeroed array; stops the process if count * size overflows. */
void *arena_array_bytes(struct arena *arena, size_t count, size_t size);
#define arena_array(arena, type, count) ((type *)arena_array_bytes((arena), (count), sizeof(type)))
#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

char *arena_strdup(struct arena *arena, const char *text); /* NULL gives NULL */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Bytes reserved from the system, for memory reports. */
size_t arena_reserved(const struct arena *arena);

/* malloc family for long-lived state; the same rule: never NULL. */
void *base_malloc(size_t size);
void *base_calloc(size_t count, size_t size);
void *base_realloc_array(void *old, size_t count, size_t size);
char *base_strdup(const char *text);

#endif
