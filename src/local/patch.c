/* Choosing the kind of patch. */
#include "local/draft.h"

#include "api/patch.h"

int patch_apply(struct draft *draft)
{
	const struct val *patch = draft->request->body;
	struct tree *patched = NULL;
	struct shape shape;
	if (draft->request->patch != STORE_PATCH_JSON && val_kind(patch) != VAL_MAP)
		return draft_refuse(draft, 400, "BadRequest", "the patch must be a map, but it is a %s",
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
			return draft_refuse(
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
