/* Merge patches (RFC 7386). */
#include "api/patch.h"

struct tree *patch_merge(struct arena *arena, struct tree *target, const struct val *patch)
{
	if (val_kind(patch) != VAL_MAP)
		return tree_of(arena, patch);
	if (tree_kind(target) != VAL_MAP)
		target = tree_map(arena);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(patch); val_next(&it, &key, &item);) {
		if (val_kind(item) == VAL_NULL) {
			tree_remove(arena, target, key);
			continue;
		}
		struct tree *old = tree_get(arena, target, key), *merged = patch_merge(arena, old, item);
		if (merged != old)
			tree_put(arena, target, key, merged);
	}
	return target;
}
