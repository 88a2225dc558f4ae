/* Keys of one map seen so far, to find duplicates in constant time per key. Small sets are compared one by one, large
 * ones get a hash table. Keys are borrowed. Only for the files of this folder. */
#ifndef OBJECT_KEYSET_H
#define OBJECT_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyset_key {
	const char *text;
	size_t length;
};

struct keyset {
	struct keyset_key *keys;
	size_t count, capacity;
	uint32_t *slots; /* index of a key plus 1; 0 is free */
	size_t slot_count, slot_capacity;
};

/* False when an equal key is already there (and nothing changes). */
bool keyset_add(struct keyset *set, const char *text, size_t length);
/* Forgets the keys, keeps the memory for the next map. */
void keyset_clear(struct keyset *set);
void keyset_free(struct keyset *set);

#endif
