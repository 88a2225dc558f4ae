/* The table of what a pod can ask for: every field, annotation, label and resource that could decide where a pod runs, and
 * what is made of it. docs/pods.md is written from it. */
#ifndef ADMIT_POD_FIELDS_H
#define ADMIT_POD_FIELDS_H

#include "admit/pod_block.h"
#include "object/doc.h"

#include <stddef.h>

enum pod_field_place {
	FIELD_SPEC,       /* of the pod's spec, with its path: affinity.nodeAffinity */
	FIELD_ANNOTATION, /* a key in metadata.annotations */
};

enum pod_field_state {
	FIELD_NOT_SERVED, /* a pod that has it is blocked */
};

struct pod_field {
	enum pod_field_place place;
	const char *name;
	enum pod_field_state state;
	const char *about; /* why */
};

extern const struct pod_field pod_fields[];
extern const size_t pod_field_count;

/* Blocks the pod for every field it has that is not served. `object` is a pod, or a template with its metadata. */
void pod_fields_block(const struct val *object, struct arena *arena, const struct pod_block **block);

#endif
