/* Sets of fields in the form of managedFields (FieldsV1): who owns what for server-side apply.
 *
 * A set is a tree of maps. Keys are path elements: "f:spec" a field, "k:{...}" an item of a keyed list, "v:..." an item
 * of a set; the key "." says that the path up to here is itself in the set. */
#ifndef API_FIELDS_H
#define API_FIELDS_H

#include "api/shape.h"
#include "object/tree.h"

/* Every field that a value has. */
struct tree *fields_of(struct arena *arena, const struct val *value, const struct shape *shape);
/* Every field that differs: added, removed or of another value. */
struct tree *fields_changed(struct arena *arena, const struct val *before, const struct val *after,
                            const struct shape *shape);

/* What of a configuration cannot be merged: ".spec.containers[0]: ..." for an item without its key or with the key of
 * another; NULL when nothing. */
const char *fields_misfit(struct arena *arena, const struct val *config, const struct shape *shape);

struct tree *fields_read(struct arena *arena, const struct val *fields_v1);
/* As stored: a lone "." becomes an empty map. */
struct tree *fields_write(struct arena *arena, struct tree *set);

bool fields_empty(const struct tree *set);
struct tree *fields_union(struct arena *arena, struct tree *a, struct tree *b);
struct tree *fields_without(struct arena *arena, struct tree *a, struct tree *b);
struct tree *fields_common(struct arena *arena, struct tree *a, struct tree *b);
/* Takes a path like {"metadata", "name", NULL} and all below it out. */
void fields_drop(struct arena *arena, struct tree *set, const char *const *path);

/* Calls back with each member as text: .spec.containers[name="a"].image */
void fields_each(struct arena *arena, struct tree *set, void (*visit)(void *context, const char *path), void *context);

/* Merges an applied configuration into an object; NULL values take fields away. */
struct tree *fields_merge(struct arena *arena, struct tree *object, const struct val *config,
                          const struct shape *shape);
/* Takes the fields of the set away from an object, and maps and lists that this leaves empty. */
void fields_take(struct arena *arena, struct tree *object, struct tree *set, const struct shape *shape);

#endif
