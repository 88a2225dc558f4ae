/* Owns the table of what a pod can ask for, and asks a pod whether it asks for what is not served. */
#include "admit/pod_fields.h"

#include <string.h>

#define SHARED "GPUs are given to pods as a whole, not shared"

const struct pod_field pod_fields[] = {
	{FIELD_SPEC, "resourceClaims", FIELD_NOT_SERVED, "devices of ResourceClaims are not allocated"},
	{FIELD_ANNOTATION, "gpu-fraction", FIELD_NOT_SERVED, SHARED},
	{FIELD_ANNOTATION, "gpu-memory", FIELD_NOT_SERVED, SHARED},
	{FIELD_ANNOTATION, "gpu-fraction-num-devices", FIELD_NOT_SERVED, SHARED},
};
const size_t pod_field_count = sizeof(pod_fields) / sizeof(pod_fields[0]);

/* Absent, null and empty are the same. */
static bool is_set(const struct val *val)
{
	return val && val_kind(val) != VAL_NULL &&
	       ((val_kind(val) != VAL_MAP && val_kind(val) != VAL_LIST) || val_count(val) > 0);
}

void pod_fields_block(const struct val *object, struct arena *arena, const struct pod_block **block)
{
	const struct val *spec = val_get(object, "spec");
	const struct val *annotations = val_path(object, "metadata", "annotations", NULL);
	for (size_t i = 0; i < pod_field_count; i++) {
		const struct pod_field *field = &pod_fields[i];
		bool annotation = field->place == FIELD_ANNOTATION;
		if (field->state == FIELD_NOT_SERVED && is_set(val_get(annotation ? annotations : spec, field->name)))
			pod_block_add(block, arena, BLOCK_UNSUPPORTED, "%s%s: %s", annotation ? "annotation " : "spec.",
			              field->name, field->about);
	}
}
