/* The string buffer, the interner and small questions about text. */
#include "base/strings.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct buffer *buffer, size_t more)
{
	size_t need;
	if (__builtin_add_overflow(buffer->length, more, &need) || __builtin_add_overflow(need, (size_t)1, &need))
		need = SIZE_MAX; /* the allocator refuses this with its message */
	if (need <= buffer->capacity)
		return;
	size_t capacity = buffer->capacity ? buffer->capacity : 64;
	while (capacity < need)
		capacity = capacity > SIZE_MAX / 2 ? SIZE_MAX : capacity * 2;
	buffer->text = base_realloc_array(buffer->text, capacity, 1);
	buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const char *text, size_t length)
{
	reserve(buffer, length);
	if (length)
		memcpy(buffer->text + buffer->length, text, length);
	buffer->length += length;
	buffer->text[buffer->length] = '\0';
}

void buffer_puts(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	reserve(buffer, 64); /* most pieces are short: then one pass does */
	size_t room = buffer->capacity - buffer->length;
	int length = vsnprintf(buffer->text + buffer->length, room, format, args);
	if (length > 0 && (size_t)length >= room) {
		reserve(buffer, (size_t)length);
		vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, again);
	}
	if (length > 0)
		buffer->length += (size_t)length;
	buffer->text[buffer->length] = '\0';
	va_end(again);
	va_end(args);
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct buffer){0};
}

struct interned {
	uint32_t id;
	const char *text;
	UT_hash_handle hh;
};

struct interner {
	struct arena *arena; /* entries and texts */
	struct interned *by_text;
	VEC(const char *) texts;
};

struct interner *interner_create(void)
{
	struct interner *interner = base_calloc(1, sizeof(*interner));
	interner->arena = arena_create();
	return interner;
}

void interner_destroy(struct interner *interner)
{
	if (!interner)
		return;
	HASH_CLEAR(hh, interner->by_text);
	vec_free(&interner->texts);
	arena_destroy(interner->arena);
	free(interner);
}

uint32_t interner_id(struct interner *interner, const char *text)
{
	struct interned *entry;
	size_t length = strlen(text);
	HASH_FIND(hh, interner->by_text, text, length, entry);
	if (entry)
		return entry->id;
	entry = arena_new(interner->arena, struct interned);
	entry->id = (uint32_t)interner->texts.count;
	entry->text = arena_strndup(interner->arena, text, length);
	vec_push(&interner->texts, entry->text);
	HASH_ADD_KEYPTR(hh, interner->by_text, entry->text, length, entry);
	return entry->id;
}

uint32_t interner_find(const struct interner *interner, const char *text)
{
	struct interned *entry;
	size_t length = strlen(text);
	HASH_FIND(hh, interner->by_text, text, length, entry);
	return entry ? entry->id : UINT32_MAX;
}

const char *interner_text(const struct interner *interner, uint32_t id)
{
	return id < interner->texts.count ? interner->texts.items[id] : NULL;
}

uint32_t interner_count(const struct interner *interner)
{
	return (uint32_t)interner->texts.count;
}

bool text_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *text, const char *suffix)
{
	size_t length = strlen(text), tail = strlen(suffix);
	return length >= tail && memcmp(text + length - tail, suffix, tail) == 0;
}

bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

size_t text_distance(const char *a, const char *b)
{
	enum { LONGEST = 40 };
	size_t a_length = strlen(a), b_length = strlen(b);
	size_t cost[LONGEST + 1][LONGEST + 1];
	if (a_length > LONGEST || b_length > LONGEST)
		return LONGEST;
	for (size_t i = 0; i <= a_length; i++)
		cost[i][0] = i;
	for (size_t j = 0; j <= b_length; j++)
		cost[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		for (size_t j = 1; j <= b_length; j++) {
			size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (cost[i - 1][j] + 1 < best)
				best = cost[i - 1][j] + 1;
			if (cost[i][j - 1] + 1 < best)
				best = cost[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    cost[i - 2][j - 2] + 1 < best)
				best = cost[i - 2][j - 2] + 1;
			cost[i][j] = best;
		}
	}
	return cost[a_length][b_length];
}

static bool equal_but_case(const char *a, const char *b)
{
	while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b))
		a++, b++;
	return *a == *b;
}

bool text_consider(struct nearest_name *nearest, const char *name)
{
	const char *word = nearest->word;
	size_t distance = equal_but_case(word, name) ? 0 : text_distance(word, name);
	bool near = distance <= (strlen(name) + 3) / 4 || (strlen(word) > 1 && text_starts_with(name, word));
	if (!near || (nearest->name && distance >= nearest->distance))
		return false;
	nearest->name = name;
	nearest->distance = distance;
	return true;
}

const char *text_nearest(const char *word, const char *const *names, size_t count)
{
	struct nearest_name nearest = {.word = word};
	for (size_t i = 0; i < count; i++)
		text_consider(&nearest, names[i]);
	return nearest.name;
}

size_t text_utf8(const char *text, size_t length, uint32_t *codepoint)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	if (length == 0)
		return 0;
	unsigned char first = (unsigned char)text[0];
	size_t size = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
	if (size == 0 || first >= 0xf8 || size > length)
		return 0;
	uint32_t value = size == 1 ? first : first & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		unsigned char next = (unsigned char)text[i];
		if ((next & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (next & 0x3fu);
	}
	if (value < smallest[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*codepoint = value;
	return size;
}

bool text_is_utf8(const char *text, size_t length)
{
	uint32_t codepoint;
	for (size_t at = 0; at < length;) {
		uint64_t eight;
		if (at + sizeof(eight) <= length) {
			/* ASCII, nearly all of most texts: no byte has its highest bit, nor loses it when 1 is taken. */
			memcpy(&eight, text + at, sizeof(eight));
			if (((eight | (eight - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080)) == 0) {
				at += sizeof(eight);
				continue;
			}
		}
		if ((signed char)text[at] > 0) {
			at++;
			continue;
		}
		size_t used = text_utf8(text + at, length - at, &codepoint);
		if (used == 0 || codepoint == 0)
			return false;
		at += used;
	}
	return true;
}
