/* Topology kai.scheduler/v1alpha1: ordered node-label keys, largest domain first. */
#ifndef ADMIT_TOPOLOGY_H
#define ADMIT_TOPOLOGY_H

#include "base/arena.h"
#include "base/problems.h"
#include "object/doc.h"

struct topology_spec {
	const char *name;
	const char **levels;  /* node-label keys */
	const char **aliases; /* same length; NULL where no alias */
	size_t level_count;   /* 1..16 */
};

int topology_decode(const struct val *object, struct arena *arena, struct topology_spec *out,
                    struct problems *problems);
/* The topology that a name beginning with KINDS_LABEL_TOPOLOGY stands for: the node labels behind it, from large domains to
 * small ones. False when it is no such name, or not of label keys. */
bool topology_of_labels(const char *name, struct arena *arena, struct topology_spec *out);
/* Index of a level by label key or alias, -1 when unknown. */
int topology_level(const struct topology_spec *topology, const char *level);

#endif
