/* How the store makes objects. Only for the files of this folder. */
#ifndef API_OBJECT_MAKE_H
#define API_OBJECT_MAKE_H

#include "object/string_pool.h"
#include "api/object.h"
#include "object/tree.h"

/* Takes the document. Name, namespace, uid, version and labels are read from its metadata. One reference. */
struct store_object *object_create(const struct store_type *type, struct doc *doc);
/* The same state under another resourceVersion. */
struct store_object *object_with_version(struct store_object *object, uint64_t version);
/* NULL: nested too deep. */
struct store_object *object_from_tree(const struct store_type *type, const struct tree *tree,
                                      struct string_pool *strings);
/* Gives the memory of the encoding back; it is made again when somebody asks. */
void object_forget_json(struct store_object *object);
/* The same for what was derived from it, unless somebody holds that. NULL is a no-op. */
void object_forget_derived(struct store_object *object);

/* The text of a scalar at a dotted path, NULL when it is unset or none. The path must be one of those that selectors
 * share (see store_field_match): the answer is remembered by its address. */
const char *object_field(const struct store_object *object, const char *path, char scratch[64]);

#endif
