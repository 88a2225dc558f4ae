/* Bump allocation in chunks; the only owner of raw malloc calls together with the base_* wrappers below. */
#include "base/arena_mark.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK ((size_t)16 * 1024)
#define SMALL_CHUNK ((size_t)512)
#define LARGEST_CHUNK ((size_t)4 * 1024 * 1024)

struct chunk {
	struct chunk *next;
	size_t size;
	size_t used;
	alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct chunk *head;
	struct chunk *spare; /* was given back last; NULL for none */
	size_t reserved;
	size_t first; /* size of the first chunk */
};

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "platoon: out of memory (asked for %zu bytes)\n", size);
	abort();
}

void *base_malloc(size_t size)
{
	void *block = malloc(size ? size : 1);
	if (!block)
		out_of_memory(size);
	return block;
}

void *base_calloc(size_t count, size_t size)
{
	void *block = calloc(count ? count : 1, size ? size : 1);
	if (!block)
		out_of_memory(count * size);
	return block;
}

void *base_realloc_array(void *old, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(SIZE_MAX);
	void *block = realloc(old, bytes ? bytes : 1);
	if (!block)
		out_of_memory(bytes);
	return block;
}

char *base_strdup(const char *text)
{
	size_t length = strlen(text) + 1;
	return memcpy(base_malloc(length), text, length);
}

static struct arena *create(size_t first)
{
	struct arena *arena = base_calloc(1, sizeof(*arena));
	arena->first = first;
	return arena;
}

struct arena *arena_create(void)
{
	return create(FIRST_CHUNK);
}

struct arena *arena_create_small(void)
{
	return create(SMALL_CHUNK);
}

void arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->head; chunk;) {
		struct chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
	free(arena->spare);
	free(arena);
}

void arena_reset(struct arena *arena)
{
	struct chunk *keep = NULL;
	for (struct chunk *chunk = arena->head; chunk;) {
		struct chunk *next = chunk->next;
		if (!keep || chunk->size > keep->size) {
			free(keep);
			keep = chunk;
		} else {
			free(chunk);
		}
		chunk = next;
	}
	arena->head = keep;
	arena->reserved = 0;
	if (keep) {
		keep->next = NULL;
		keep->used = 0;
		arena->reserved = keep->size;
	}
}

struct arena_mark arena_mark(const struct arena *arena)
{
	return (struct arena_mark){arena->head, arena->head ? arena->head->used : 0};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
	while (arena->head && arena->head != mark.chunk) {
		struct chunk *chunk = arena->head;
		arena->head = chunk->next;
		arena->reserved -= chunk->size;
		free(arena->spare);
		arena->spare = chunk;
	}
	if (arena->head)
		arena->head->used = mark.used;
}

static struct chunk *take_spare(struct arena *arena, size_t size)
{
	struct chunk *chunk = arena->spare;
	if (!chunk || chunk->size < size)
		return NULL;
	arena->spare = NULL;
	chunk->next = arena->head;
	chunk->used = 0;
	arena->head = chunk;
	arena->reserved += chunk->size;
	return chunk;
}

static struct chunk *grow(struct arena *arena, size_t size)
{
	struct chunk *spare = take_spare(arena, size);
	if (spare)
		return spare;
	size_t want = arena->head ? arena->head->size * 2 : arena->first;
	if (want > LARGEST_CHUNK)
		want = LARGEST_CHUNK;
	if (want < size)
		want = size;
	struct chunk *chunk = base_malloc(sizeof(*chunk) + want);
	*chunk = (struct chunk){.next = arena->head, .size = want};
	arena->head = chunk;
	arena->reserved += want;
	return chunk;
}

void *arena_alloc_raw(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	if (size > SIZE_MAX / 2)
		out_of_memory(size);
	size = (size + align - 1) & ~(align - 1);
	if (size == 0)
		size = align;
	struct chunk *chunk = arena->head;
	if (!chunk || chunk->size - chunk->used < size)
		chunk = grow(arena, size);
	void *block = chunk->bytes + chunk->used;
	chunk->used += size;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return memset(arena_alloc_raw(arena, size), 0, size);
}

void *arena_array_bytes(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(SIZE_MAX);
	return arena_alloc(arena, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	memcpy(copy, text, length);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	if (length < 0)
		length = 0;
	char *text = arena_alloc(arena, (size_t)length + 1);
	vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

size_t arena_reserved(const struct arena *arena)
{
	return arena ? arena->reserved : 0;
}
