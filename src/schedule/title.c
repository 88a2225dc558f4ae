/* Owns the names of groups for people. Grouping calls a PodGroup "pg-OWNER-UID", with a part of the owner before or behind
 * the uid where that has several groups; the RoleBasedGroup controller calls it after the owner and the part. */
#include "schedule/title.h"

#include "kinds/kinds.h"
#include "object/metadata.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MADE "pg-"
#define MADE_LENGTH (sizeof(MADE) - 1)

/* The reference that a PodGroup which was made for something has: the controlling one, else the only one. */
static const struct val *find_maker(const struct val *root)
{
	const struct val *controller = metadata_controller(root);
	const struct val *references = val_path(root, "metadata", "ownerReferences", NULL);
	if (controller)
		return controller;
	return val_count(references) == 1 ? val_item(references, 0) : NULL;
}

/* "tfjob", "sts": the shortest word by which kubectl takes the kind. */
static const char *word_of(const struct val *owner, struct arena *arena)
{
	const char *kind = val_str(val_get(owner, "kind"), "");
	const struct kind_row *row = kinds_find(val_str(val_get(owner, "apiVersion"), ""), kind);
	if (row && row->short_names[0])
		return row->short_names[0];
	char *word = arena_strdup(arena, row && row->singular ? row->singular : kind);
	for (char *at = word; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return word;
}

/* What stands in [name, name + length) besides the owner's name in front; NULL when that is not there. */
static const char *part_of(const char *name, size_t length, const char *owner, struct arena *arena)
{
	size_t known = strlen(owner);
	if (length < known || strncmp(name, owner, known) != 0)
		return NULL;
	if (length == known)
		return "";
	return name[known] == '-' ? arena_strndup(arena, name + known + 1, length - known - 1) : NULL;
}

const char *title_of_group(const struct val *root, struct arena *arena)
{
	const char *name = val_str(val_path(root, "metadata", "name", NULL), "");
	const struct val *owner = find_maker(root);
	const char *owner_name = val_str(val_get(owner, "name"), ""), *uid = val_str(val_get(owner, "uid"), "");
	if (!*owner_name)
		return name;
	const char *at = *uid && strncmp(name, MADE, MADE_LENGTH) == 0 ? strstr(name, uid) : NULL;
	const char *part, *behind = "";
	if (at > name + MADE_LENGTH) {
		part = part_of(name + MADE_LENGTH, (size_t)(at - name) - MADE_LENGTH - 1, owner_name, arena);
		behind = at + strlen(uid);
		behind += *behind == '-';
	} else if (at) { /* pg-UID-PART */
		part = "";
		behind = at + strlen(uid);
		behind += *behind == '-';
	} else {
		part = part_of(name, strlen(name), owner_name, arena);
	}
	if (!part)
		return name;
	return arena_printf(arena, "%s/%s%s%s%s%s", word_of(owner, arena), owner_name, *part ? " " : "", part,
	                    *behind ? " " : "", behind);
}
