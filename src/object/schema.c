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

static const struct schema_type *type_at(const char *at, size_t length)
{
	char name[80];
	if (length >= sizeof(name))
		return NULL;
	memcpy(name, at, length);
	name[length] = '\0';
	return schema_find(name);
}

/* Where the next field begins, or the end of the text. */
static const char *skip_to_field(const char *text)
{
	while (*text == ' ' || *text == '*') /* a star marks an open type, always first */
		text++;
	return text;
}

/* The same behind the field that begins here. What it says is not looked at: finding a type by its name costs more than
 * all the rest. */
static const char *skip_field(const char *text)
{
	const char *end = strchr(text, ' ');
	return end ? skip_to_field(end) : text + strlen(text);
}

static bool is_inlined(const char *text)
{
	return text[0] == '^' && text[1] == ':';
}

bool schema_next(const char **at, struct schema_field *field)
{
	const char *text = skip_to_field(*at);
	if (!*text)
		return false;
	*field = (struct schema_field){.name = text, .name_length = strcspn(text, ":")};
	field->inlined = is_inlined(text);
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
	if (memchr(name, ':', length)) /* would match across fields */
		return false;
	for (const char *at = skip_to_field(type->fields); *at; at = skip_field(at)) {
		const char *start = at;
		if (is_inlined(at)) {
			struct schema_field outer;
			if (schema_next(&start, &outer) && outer.type && schema_field_named(outer.type, name, field))
				return true;
		} else if (strncmp(at, name, length) == 0 && at[length] == ':') {
			return schema_next(&start, field);
		}
	}
	return false;
}

bool schema_field_numbered(const struct schema_type *type, uint32_t number, struct schema_field *field)
{
	for (const char *at = skip_to_field(type->fields); number && *at; at = skip_field(at)) {
		const char *start = at, *digits = strchr(at, ':');
		if (digits && strtoul(digits + 1, NULL, 10) == number)
			return schema_next(&start, field);
	}
	return false;
}

bool schema_is_open(const struct schema_type *type)
{
	return type->fields[0] == '*';
}
