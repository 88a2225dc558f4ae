/* Values: equality, and the maps that a device shows. */
#include "cel/internal.h"

#include <string.h>

bool cel_text_equal(struct cel_text a, struct cel_text b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

struct value cel_value_of_bool(bool truth)
{
	return (struct value){.kind = VALUE_BOOL, .truth = truth};
}

struct value cel_value_of_int(int64_t number)
{
	return (struct value){.kind = VALUE_INT, .number = number};
}

struct value cel_value_of_text(const char *text, size_t length)
{
	return (struct value){.kind = VALUE_STRING, .text = {text, length}};
}

const char *cel_value_kind_name(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_FAILED] = "an error", [VALUE_BOOL] = "bool",       [VALUE_INT] = "int",
		[VALUE_STRING] = "string",   [VALUE_VERSION] = "version", [VALUE_QUANTITY] = "quantity",
		[VALUE_LIST] = "list",       [VALUE_MAP] = "map",         [VALUE_OPTIONAL] = "optional",
		[VALUE_DEVICE] = "device",
	};
	return names[kind];
}

struct value cel_value_equal(struct evaluation *evaluation, const struct value *a, const struct value *b)
{
	if (a->kind != b->kind) {
		if (a->kind == VALUE_VERSION || a->kind == VALUE_QUANTITY)
			return cel_failed(evaluation, "a %s is compared with a %s", cel_value_kind_name(a->kind),
			                  cel_value_kind_name(b->kind));
		return cel_value_of_bool(false);
	}
	switch (a->kind) {
	case VALUE_BOOL:
		return cel_value_of_bool(a->truth == b->truth);
	case VALUE_INT:
		return cel_value_of_bool(a->number == b->number);
	case VALUE_STRING:
		return cel_value_of_bool(cel_text_equal(a->text, b->text));
	case VALUE_VERSION:
		return cel_value_of_bool(cel_version_compare(a->version, b->version) == 0);
	case VALUE_QUANTITY:
		return cel_value_of_bool(quantity_compare(a->quantity, b->quantity) == 0);
	default: /* the parser lets nothing else get here */
		return cel_failed(evaluation, "values of this type cannot be compared");
	}
}

/* ---- maps ---- */

static struct value attribute_value(const struct cel_attribute *attribute)
{
	switch (attribute->type) {
	case CEL_ATTRIBUTE_INT:
		return cel_value_of_int(attribute->number);
	case CEL_ATTRIBUTE_BOOL:
		return cel_value_of_bool(attribute->truth);
	case CEL_ATTRIBUTE_STRING:
		return (struct value){.kind = VALUE_STRING, .text = attribute->text};
	default:
		return (struct value){.kind = VALUE_VERSION, .version = &attribute->version};
	}
}

/* The domain and id of entry i; false past the last. */
static bool entry(const struct cel_device *device, bool capacity, size_t i, struct cel_text *domain,
                  struct cel_text *id)
{
	if (i >= (capacity ? device->capacity_count : device->attribute_count))
		return false;
	*domain = capacity ? device->capacities[i].domain : device->attributes[i].domain;
	*id = capacity ? device->capacities[i].id : device->attributes[i].id;
	return true;
}

static struct value entry_value(const struct cel_device *device, bool capacity, size_t i)
{
	if (capacity)
		return (struct value){.kind = VALUE_QUANTITY, .quantity = device->capacities[i].value};
	return attribute_value(&device->attributes[i]);
}

bool cel_map_has_key(const struct cel_device *device, const struct value_map *map, struct cel_text key)
{
	struct cel_text domain, id;
	for (size_t i = 0; entry(device, map->capacity, i, &domain, &id); i++)
		if (map->inner ? cel_text_equal(domain, map->domain) && cel_text_equal(id, key)
		               : cel_text_equal(domain, key))
			return true;
	return false;
}

bool cel_map_find(const struct cel_device *device, const struct value_map *map, struct cel_text key,
                  struct value *value)
{
	if (!map->inner) { /* a domain that the device does not have reads as an empty one */
		*value = (struct value){.kind = VALUE_MAP, .map = {map->capacity, true, key}};
		return true;
	}
	struct cel_text domain, id;
	for (size_t i = 0; entry(device, map->capacity, i, &domain, &id); i++) {
		if (cel_text_equal(domain, map->domain) && cel_text_equal(id, key)) {
			*value = entry_value(device, map->capacity, i);
			return true;
		}
	}
	return false;
}

static bool is_among(const struct value *keys, size_t count, struct cel_text key)
{
	for (size_t i = 0; i < count; i++)
		if (cel_text_equal(keys[i].text, key))
			return true;
	return false;
}

size_t cel_map_keys(const struct cel_device *device, const struct value_map *map, struct arena *arena,
                    const struct value **keys)
{
	size_t most = map->capacity ? device->capacity_count : device->attribute_count, count = 0;
	struct value *found = arena_array(arena, struct value, most);
	struct cel_text domain, id;
	for (size_t i = 0; entry(device, map->capacity, i, &domain, &id); i++) {
		if (map->inner && !cel_text_equal(domain, map->domain))
			continue;
		struct cel_text key = map->inner ? id : domain;
		if (!is_among(found, count, key))
			found[count++] = (struct value){.kind = VALUE_STRING, .text = key};
	}
	*keys = found;
	return count;
}
