/* The table of what a pod can ask for: every field of its spec, and every annotation, label and resource that is known to
 * decide where a pod may run, with what is made of it. docs/pods.md is written from it. */
#ifndef ADMIT_POD_FIELDS_H
#define ADMIT_POD_FIELDS_H

#include "admit/pod_block.h"
#include "base/problems.h"
#include "object/doc.h"

#include <stdbool.h>
#include <stddef.h>

/* What is said to those who ask for a share of a GPU. */
#define POD_GPU_SHARED "GPUs are given to pods as a whole, not shared"

enum pod_field_place {
	FIELD_SPEC,       /* in the spec of the pod; "[]" behind a list: affinity.podAffinity, volumes[].rbd */
	FIELD_CONTAINER,  /* in each of its containers and init containers */
	FIELD_ANNOTATION, /* a key in metadata.annotations */
	FIELD_LABEL,      /* a key in metadata.labels */
	FIELD_RESOURCE,   /* the name of a resource in the requests or limits of containers */
	FIELD_PLACES,
};

enum pod_field_state {
	FIELD_HONOURED,
	FIELD_IGNORED,    /* on purpose: it does not decide where the pod may run */
	FIELD_NOT_SERVED, /* a pod that has it is blocked */
};

struct pod_field {
	enum pod_field_place place;
	const char *names; /* one or several, separated by spaces; a key or resource may end with a star */
	enum pod_field_state state;
	const char *about; /* honoured: how; ignored: why; not served: what is missing */
	const char *test;  /* honoured: a test or scenario that shows it, below test/ */
	/* Which values are not served: of a field that is not served NULL for all, of one that is honoured NULL for none. */
	bool (*not_served)(const struct val *value);
	const char *otherwise; /* honoured but for those values: what is said about them */
	const char *example;   /* not served: such a value in YAML; NULL: any text will do */
	bool even_empty;       /* its key says it all, also with an empty value */
};

/* pod_table.c; rows that say the same are neighbours */
extern const struct pod_field pod_fields[];
extern const size_t pod_field_count;

/* Blocks the pod for every field it has that is not served. `object` is a pod, or a template with its metadata. */
void pod_fields_block(const struct val *object, struct arena *arena, const struct pod_block **block);
/* Blocks a group for what its metadata asks for and pods could not have either; it has that from the workload above them. */
void pod_fields_block_group(const struct val *object, struct arena *arena, const struct pod_block **block);
/* Warns of each of them with its path below `path` ("" for a pod), and of fields that pods do not have. */
void pod_fields_judge(const struct val *object, const char *path, struct problems *problems);
/* The same for every pod template in an object of any kind. */
void pod_fields_judge_templates(const struct val *object, struct problems *problems);
/* Warns of what the metadata of a workload or PodGroup asks for, which blocks the group. */
void pod_fields_judge_workload(const struct val *object, struct problems *problems);

#endif
