/* The program with a store that keeps of pods and nodes only what a mirror of a real cluster keeps: the linker puts this in
 * front of the function through which every object comes into being. Whoever reads a field that the tables of the mirror do
 * not have fails here. */
#include "api/object_make.h"
#include "remote/internal.h"

#include <string.h>

struct store_object *__real_object_from_tree(const struct store_type *type, const struct tree *tree,
                                             struct string_pool *strings);
struct store_object *__wrap_object_from_tree(const struct store_type *type, const struct tree *tree,
                                             struct string_pool *strings);

struct store_object *__wrap_object_from_tree(const struct store_type *type, const struct tree *tree,
                                             struct string_pool *strings)
{
	static struct copier *copier;
	struct store_object *object = __real_object_from_tree(type, tree, strings);
	bool trims = object && type->api_count > 0 && !type->apis[0].group[0] &&
	             (strcmp(type->resource, "pods") == 0 || strcmp(type->resource, "nodes") == 0);
	if (!trims)
		return object;
	if (!copier)
		copier = copier_create();
	struct store_object *trimmed =
		object_create(type, remote_trim(copier, object->root, &type->apis[0], KEEP_READ));
	store_object_release(object);
	return trimmed;
}
