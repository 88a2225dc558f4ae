/* Owns reading what the metadata of every object says. */
#include "object/metadata.h"

bool metadata_is_leaving(const struct val *root)
{
	return val_kind(val_path(root, "metadata", "deletionTimestamp", NULL)) != VAL_NULL;
}

const struct val *metadata_controller(const struct val *root)
{
	const struct val *reference;
	for (struct val_iter it = val_iter(val_path(root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &reference);)
		if (val_bool(val_get(reference, "controller"), false))
			return reference;
	return NULL;
}
