/* A hash table that only grows, up to a limit, and a note of the values that were seen lately. */
#include "object/string_pool.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS ((size_t)1 << 15)
#define MOST_KEYS (SLOTS / 4)
#define MOST_VALUES (SLOTS / 4)
#define SEEN ((size_t)1 << 12)
#define LONGEST 96

struct pooled {
	const char *text;
	uint32_t length, check; /* check: the other half of the hash */
};

struct string_pool {
	struct arena *arena;
	struct pooled slots[SLOTS];
	uint32_t seen[SEEN]; /* hashes of values that are not kept */
	size_t keys, values;
};

struct string_pool *string_pool_create(void)
{
	struct string_pool *pool = base_calloc(1, sizeof(*pool));
	pool->arena = arena_create();
	return pool;
}

void string_pool_destroy(struct string_pool *pool)
{
	if (!pool)
		return;
	arena_destroy(pool->arena);
	free(pool);
}

/* Whether a text that is not there is to be kept. */
static bool admit(struct string_pool *pool, uint64_t hash, bool is_key)
{
	if (is_key)
		return pool->keys < MOST_KEYS;
	uint32_t *seen = &pool->seen[hash % SEEN], mark = (uint32_t)(hash >> 32) | 1;
	bool again = *seen == mark;
	*seen = mark;
	return again && pool->values < MOST_VALUES;
}

const char *string_pool_share(struct string_pool *pool, const char *text, size_t length, bool is_key)
{
	if (length > LONGEST)
		return NULL;
	uint64_t hash = XXH3_64bits(text, length);
	uint32_t check = (uint32_t)(hash >> 32);
	struct pooled *word = &pool->slots[hash % SLOTS];
	while (word->text) {
		if (word->check == check && word->length == length && memcmp(word->text, text, length) == 0)
			return word->text;
		word = word + 1 < pool->slots + SLOTS ? word + 1 : pool->slots;
	}
	if (!admit(pool, hash, is_key))
		return NULL;
	*word = (struct pooled){arena_strndup(pool->arena, text, length), (uint32_t)length, check};
	*(is_key ? &pool->keys : &pool->values) += 1;
	return word->text;
}
