/* Owns writing into new pods what their RuntimeClass says. */
#include "serve/api/runtime_class.h"

#include "kinds/names.h"
#include "object/tree.h"

#include <string.h>

struct filling {
	struct arena *arena;
	struct problems *problems;
	struct tree *spec; /* of the pod */
	bool changed;
};

static void fill_overhead(struct filling *filling, const struct val *class_)
{
	const struct val *fixed = val_path(class_, "overhead", "podFixed", NULL);
	struct tree *own = tree_get(filling->arena, filling->spec, "overhead");
	if (own && (!fixed || !tree_equal(filling->arena, own, fixed)))
		problem_add(filling->problems, SEVERITY_ERROR, "spec.overhead", "leave it out: it is filled in",
		            "is not the overhead of the RuntimeClass");
	if (own || !fixed)
		return;
	tree_put(filling->arena, filling->spec, "overhead", tree_of(filling->arena, fixed));
	filling->changed = true;
}

static void fill_selector(struct filling *filling, const struct val *class_)
{
	const char *key;
	const struct val *value;
	for (struct val_iter it = val_iter(val_path(class_, "scheduling", "nodeSelector", NULL));
	     val_next(&it, &key, &value);) {
		struct tree *selector = tree_need_map(filling->arena, filling->spec, "nodeSelector");
		const char *own = tree_str(tree_get(filling->arena, selector, key), NULL);
		if (!own)
			tree_put_string(filling->arena, selector, key, val_str(value, ""));
		else if (strcmp(own, val_str(value, "")) != 0)
			problem_add(filling->problems, SEVERITY_ERROR, "spec.nodeSelector", "leave the label out",
			            "%.100s contradicts the RuntimeClass", key);
		filling->changed |= !own;
	}
}

static void fill_tolerations(struct filling *filling, const struct val *class_)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(class_, "scheduling", "tolerations", NULL));
	     val_next(&it, NULL, &item);) {
		struct tree *list = tree_get(filling->arena, filling->spec, "tolerations");
		bool there = false;
		for (size_t i = 0; list && i < tree_count(list) && !there; i++)
			there = tree_equal(filling->arena, tree_item(filling->arena, list, i), item);
		if (there)
			continue;
		if (!list || tree_kind(list) != VAL_LIST) {
			list = tree_list(filling->arena);
			tree_put(filling->arena, filling->spec, "tolerations", list);
		}
		tree_append(filling->arena, list, tree_of(filling->arena, item));
		filling->changed = true;
	}
}

struct doc *runtime_class_fill(const struct store *store, const struct val *pod, struct arena *arena,
                               struct problems *problems)
{
	const char *name = val_str(val_path(pod, "spec", "runtimeClassName", NULL), "");
	const struct store_type *type = *name ? store_type_find(store, KINDS_NODE, "runtimeclasses") : NULL;
	const struct store_object *class_ = type ? store_peek(store, type, "", name) : NULL;
	if (*name && !class_)
		problem_add(problems, SEVERITY_ERROR, "spec.runtimeClassName", "create it, or leave it out",
		            "there is no RuntimeClass %.100s", name);
	if (!class_)
		return NULL;
	struct tree *root = tree_of(arena, pod);
	struct filling filling = {.arena = arena, .problems = problems, .spec = tree_get(arena, root, "spec")};
	fill_overhead(&filling, class_->root);
	fill_selector(&filling, class_->root);
	fill_tolerations(&filling, class_->root);
	return filling.changed ? tree_finish(root) : NULL;
}
