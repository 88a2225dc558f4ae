/* A hash table that only grows, up to a limit, and a note of the values that were seen lately. */
#include "object/words.h"

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

struct word {
	const char *text;
	uint32_t length, check; /* check: the other half of the hash */
};

struct words {
	struct arena *arena;
	struct word slots[SLOTS];
	uint32_t seen[SEEN]; /* hashes of values that are not kept */
	size_t keys, values;
};

struct words *words_create(void)
{
	struct words *words = base_calloc(1, sizeof(*words));
	words->arena = arena_create();
	return words;
}

void words_destroy(struct words *words)
{
	if (!words)
		return;
	arena_destroy(words->arena);
	free(words);
}

/* Whether a text that is not there is to be kept. */
static bool admit(struct words *words, uint64_t hash, bool is_key)
{
	if (is_key)
		return words->keys < MOST_KEYS;
	uint32_t *seen = &words->seen[hash % SEEN], mark = (uint32_t)(hash >> 32) | 1;
	bool again = *seen == mark;
	*seen = mark;
	return again && words->values < MOST_VALUES;
}

const char *words_share(struct words *words, const char *text, size_t length, bool is_key)
{
	if (length > LONGEST)
		return NULL;
	uint64_t hash = XXH3_64bits(text, length);
	uint32_t check = (uint32_t)(hash >> 32);
	struct word *word = &words->slots[hash % SLOTS];
	while (word->text) {
		if (word->check == check && word->length == length && memcmp(word->text, text, length) == 0)
			return word->text;
		word = word + 1 < words->slots + SLOTS ? word + 1 : words->slots;
	}
	if (!admit(words, hash, is_key))
		return NULL;
	*word = (struct word){arena_strndup(words->arena, text, length), (uint32_t)length, check};
	*(is_key ? &words->keys : &words->values) += 1;
	return word->text;
}
