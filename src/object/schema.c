/* Reading the schema tables. */
#include "object/schema.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct schema_type *)row)->name);
}

const struct schema_type *schema_find(const char *name)
{
	const struct schema_type *found = bsearch(name, schema_core, schema_core_count, sizeof(*found), compare);
	if (!found)
		found = bsearch(name, schema_groups, schema_groups_count, sizeof(*found), compare);
	if (!found)
		found = bsearch(name, schema_platoon, schema_platoon_count, sizeof(*found), compare);
	return found;
}

const struct schema_type *schema_of_kind(const char *group, const char *version, const char *kind)
{
	for (size_t i = 0; i < schema_kinds_count; i++) {
		const struct schema_kind *row = &schema_kinds[i];
		if (strcmp(row->kind, kind) == 0 && strcmp(row->group, group) == 0 &&
		    strcmp(row->version, version) == 0)
			return schema_find(row->type);
	}
	return NULL;
}

static const struct schema_type *type_at(const char *at, size_t length)
{
	char name[80];
	if (length >= sizeof(name))
		return NULL;
	memcpy(name, at, length);
	name[length] = '\0';
	return schema_find(name);
}

bool schema_next(const char **at, struct schema_field *field)
{
	const char *text = *at;
	text += strspn(text, " ");
	if (*text == '*') /* marks an open type, always first */
		text += 1 + strspn(text + 1, " ");
	if (!*text)
		return false;
	*field = (struct schema_field){.name = text, .name_length = strcspn(text, ":")};
	field->inlined = field->name_length == 1 && *text == '^';
	text += field->name_length + 1;
	while (*text >= '0' && *text <= '9')
		field->number = field->number * 10 + (uint32_t)(*text++ - '0');
	field->list = strncmp(text, "[]", 2) == 0;
	field->map = strncmp(text, "{}", 2) == 0;
	text += field->list || field->map ? 2 : 0;
	size_t length = strcspn(text, " ");
	field->keeps_zero = length > 1 && text[length - 1] == '!';
	length -= field->keeps_zero;
	bool letter = length == 1 && *text >= 'a' && *text <= 'z';
	field->kind = letter ? *text : 'T';
	field->type = letter ? NULL : type_at(text, length);
	if (!letter && !field->type)
		field->kind = 'a';
	*at = text + length + field->keeps_zero;
	return true;
}

bool schema_field_named(const struct schema_type *type, const char *name, struct schema_field *field)
{
	size_t length = strlen(name);
	const char *at = type->fields;
	while (schema_next(&at, field)) {
		if (field->inlined) {
			struct schema_field inner;
			if (field->type && schema_field_named(field->type, name, &inner)) {
				*field = inner;
				return true;
			}
		} else if (field->name_length == length && memcmp(field->name, name, length) == 0) {
			return true;
		}
	}
	return false;
}

bool schema_field_numbered(const struct schema_type *type, uint32_t number, struct schema_field *field)
{
	const char *at = type->fields;
	while (number && schema_next(&at, field)) {
		if (field->number == number)
			return true;
	}
	return false;
}

bool schema_is_open(const struct schema_type *type)
{
	return type->fields[0] == '*';
}
