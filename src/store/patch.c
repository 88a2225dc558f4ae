/* Choosing the kind of patch, and merge patches (RFC 7386). */
#include "store/patch.h"

#include "store/write.h"

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

int patch_apply(struct draft *draft)
{
	const struct val *patch = draft->request->body;
	struct tree *patched = NULL;
	struct shape shape;
	if (draft->request->patch != STORE_PATCH_JSON && val_kind(patch) != VAL_MAP)
		return refuse(draft, 400, "BadRequest", "the patch must be a map, but it is a %s",
		              val_kind_name(val_kind(patch)));
	switch (draft->request->patch) {
	case STORE_PATCH_JSON:
		patched = patch_json(draft->arena, draft->root, patch, &draft->result->error);
		break;
	case STORE_PATCH_MERGE:
		patched = patch_merge(draft->arena, draft->root, patch);
		break;
	case STORE_PATCH_STRATEGIC:
		if (draft->bucket->type.custom)
			return refuse(
				draft, 415, "UnsupportedMediaType",
				"the body of the request was in an unknown format - accepted media types include: "
				"application/json-patch+json, application/merge-patch+json, "
				"application/apply-patch+yaml");
		shape = shape_of(draft->api);
		patched = patch_strategic(draft->arena, draft->root, patch, &shape, &draft->result->error);
		break;
	case STORE_PATCH_APPLY:
		break;
	}
	if (!patched)
		return -1;
	draft->root = patched;
	return 0;
}
