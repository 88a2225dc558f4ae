/* Names and labels of coordinations and of the sub-groups a rolling deploy makes. */
#ifndef ROLLOUT_NAMING_H
#define ROLLOUT_NAMING_H

#include "base/arena.h"
#include "base/labels.h"

#define NAMING_VALUE_MAX 63 /* characters of a label value */

/* The name of a coordination that has none: coordination-<index>. */
const char *naming_coordination(size_t index, struct arena *arena);

/* A name as a label value: itself, or, where it is too long or has other characters, its cleaned front and a hash. */
const char *naming_value(const char *text, struct arena *arena);

/* `<group>-<coordination>-<number>`. Where that is longer than a label value may be, or has characters one may not
 * have, the front is cut and cleaned and a hash of the whole stands before the number, so that the values of one
 * coordination still differ only in the number. Two pairs of names can give one text ("a-b", "c" and "a", "b-c"):
 * selectors must name the group besides, as deploy_affinity does. */
const char *naming_subgroup(const char *group, const char *coordination, int64_t number, struct arena *arena);

/* The same as the name of an object, which has no upper case, '_' or '.': where that is needed the text is changed and a
 * hash stands before the number. */
const char *naming_object(const char *group, const char *coordination, int64_t number, struct arena *arena);

/* The two families of label keys in use. */
enum naming_family {
	NAMING_V1ALPHA1, /* rolebasedgroup.workloads.x-k8s.io/ with name and role */
	NAMING_V1ALPHA2  /* rbg.workloads.x-k8s.io/ with group-name and role-name */
};

enum naming_label {
	NAMING_GROUP,
	NAMING_ROLE,
	NAMING_SUBGROUP_SIZE,
	NAMING_COORDINATION,
	NAMING_INDEX,    /* of the instance within its role */
	NAMING_SUBGROUP, /* value of naming_subgroup */
	NAMING_LABELS
};

const char *naming_key(enum naming_family family, enum naming_label label);
/* The label a key stands for in either family; NAMING_LABELS when in none. */
enum naming_label naming_label_of(const char *key);

struct naming_instance {
	const char *group, *role, *coordination;
	int64_t subgroup_size;
	int64_t index; /* -1: labels of the workload, which have neither index nor sub-group */
};

/* Fills `labels` (room for NAMING_LABELS) in the order of the enum and returns how many. Texts live in the arena. */
size_t naming_labels(const struct naming_instance *instance, enum naming_family family, struct arena *arena,
                     struct label *labels);

#endif
