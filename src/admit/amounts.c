/* Resource lists: reading quantities and adding them up without overflow. */
#include "admit/amounts.h"

#include "base/quantity.h"

#include <string.h>

static size_t position(const struct amounts *amounts, const char *name, bool *found)
{
	size_t low = 0, high = amounts->count;
	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(amounts->items[middle].name, name);
		if (order == 0)
			*found = true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t *amounts_find(const struct amounts *amounts, const char *name)
{
	bool found;
	size_t at = position(amounts, name, &found);
	return found ? &amounts->items[at].amount : NULL;
}

int64_t *amounts_slot(struct arena *arena, struct amounts *amounts, const char *name)
{
	bool found;
	size_t at = position(amounts, name, &found);
	if (found)
		return &amounts->items[at].amount;
	if (amounts->count >= AMOUNTS_MAX)
		return NULL;
	if (amounts->count == amounts->capacity) {
		size_t capacity = amounts->capacity ? amounts->capacity * 2 : 4;
		struct resource_amount *items = arena_array(arena, struct resource_amount, capacity);
		if (amounts->count)
			memcpy(items, amounts->items, amounts->count * sizeof(*items));
		amounts->items = items;
		amounts->capacity = capacity;
	}
	memmove(&amounts->items[at + 1], &amounts->items[at], (amounts->count - at) * sizeof(*amounts->items));
	amounts->items[at] = (struct resource_amount){.name = name};
	amounts->count++;
	return &amounts->items[at].amount;
}

/* Devices and huge pages cannot be split; cpu, memory and storage can. */
static bool must_be_whole(const char *name)
{
	return strchr(name, '/') || strncmp(name, "hugepages-", 10) == 0 || strcmp(name, "pods") == 0;
}

static bool read_one(const struct decode *decode, const struct decode_path *path, const char *name,
                     const struct val *val, int64_t *out)
{
	char scratch[64];
	const char *text = val_scalar_text(val, scratch);
	const char *fix = "write a quantity such as 500m, 2 or 16Gi";
	struct error error = {0};
	if (!text) {
		decode_error(decode, path, fix, "must be a quantity, not a %s", val_kind_name(val_kind(val)));
		return false;
	}
	size_t length = strlen(text);
	if (quantity_parse(text, length, quantity_scale_of(name), out, &error) < 0) {
		decode_error(decode, path, fix, "%s", error.text);
		return false;
	}
	int64_t milli;
	if (*out < 0) {
		decode_error(decode, path, "write 0 or more", "the quantity must not be negative");
		return false;
	}
	if (must_be_whole(name) && quantity_parse(text, length, QUANTITY_MILLI, &milli, NULL) == 0 &&
	    milli % 1000 != 0) {
		decode_error(decode, path, "write a whole number", "%s cannot be split",
		             decode_show(decode->problems->arena, name));
		return false;
	}
	return true;
}

void amounts_read(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                  struct amounts *out)
{
	const struct val *list = decode_map(decode, up, map, key), *item;
	const char *name;
	*out = (struct amounts){0};
	for (struct val_iter it = val_iter(list); val_next(&it, &name, &item);) {
		int64_t value;
		if (!read_one(decode, PATH_KEY(PATH_KEY(up, key), name), name, item, &value))
			continue;
		int64_t *slot = amounts_slot(decode->arena, out, name);
		if (!slot) {
			decode_error(decode, PATH_KEY(up, key), NULL, "more than %d resources are named", AMOUNTS_MAX);
			return;
		}
		*slot = value;
	}
}

void amounts_add(const struct decode *decode, const struct decode_path *path, struct amounts *into,
                 const struct amounts *from)
{
	for (size_t i = 0; i < from->count; i++) {
		int64_t *slot = amounts_slot(decode->arena, into, from->items[i].name);
		if (!slot) {
			decode_error(decode, path, NULL, "more than %d resources are named", AMOUNTS_MAX);
			return;
		}
		if (__builtin_add_overflow(*slot, from->items[i].amount, slot)) {
			*slot = INT64_MAX;
			decode_error(decode, path, "lower the requests", "the requests for %s add up to more than fits",
			             decode_show(decode->problems->arena, from->items[i].name));
		}
	}
}

void amounts_max(struct arena *arena, struct amounts *into, const struct amounts *from)
{
	for (size_t i = 0; i < from->count; i++) {
		int64_t *slot = amounts_slot(arena, into, from->items[i].name);
		if (slot && *slot < from->items[i].amount)
			*slot = from->items[i].amount;
	}
}
