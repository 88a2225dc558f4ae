/* A set of borrowed strings: linear up to a handful, open addressing beyond. */
#include "object/keyset.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define LINEAR_LIMIT 12
#define FIRST_SLOTS 64

static bool same(const struct keyset_key *key, const char *text, size_t length)
{
	return key->length == length && memcmp(key->text, text, length) == 0;
}

static size_t slot_of(const struct keyset *set, const char *text, size_t length)
{
	size_t slot = (size_t)XXH3_64bits(text, length) & (set->slot_count - 1);
	while (set->slots[slot] && !same(&set->keys[set->slots[slot] - 1], text, length))
		slot = (slot + 1) & (set->slot_count - 1);
	return slot;
}

/* Slot counts are powers of two and at least twice the number of keys. */
static void rebuild(struct keyset *set)
{
	set->slot_count = set->slot_count ? set->slot_count * 2 : FIRST_SLOTS;
	if (set->slot_capacity < set->slot_count) {
		set->slots = base_realloc_array(set->slots, set->slot_count, sizeof(*set->slots));
		set->slot_capacity = set->slot_count;
	}
	memset(set->slots, 0, set->slot_count * sizeof(*set->slots));
	for (size_t i = 0; i < set->count; i++)
		set->slots[slot_of(set, set->keys[i].text, set->keys[i].length)] = (uint32_t)(i + 1);
}

bool keyset_add(struct keyset *set, const char *text, size_t length)
{
	if (set->count < LINEAR_LIMIT) {
		for (size_t i = 0; i < set->count; i++)
			if (same(&set->keys[i], text, length))
				return false;
	} else {
		if ((set->count + 1) * 2 > set->slot_count)
			rebuild(set);
		size_t slot = slot_of(set, text, length);
		if (set->slots[slot])
			return false;
		set->slots[slot] = (uint32_t)(set->count + 1);
	}
	if (set->count == set->capacity) {
		set->capacity = set->capacity ? set->capacity * 2 : LINEAR_LIMIT;
		set->keys = base_realloc_array(set->keys, set->capacity, sizeof(*set->keys));
	}
	set->keys[set->count++] = (struct keyset_key){text, length};
	return true;
}

void keyset_clear(struct keyset *set)
{
	set->count = 0;
	set->slot_count = 0;
}

void keyset_free(struct keyset *set)
{
	free(set->keys);
	free(set->slots);
	*set = (struct keyset){0};
}
