/* Groups of other schedulers (neighbours), which pods name in a label or an annotation. Private to the room. */
#ifndef GROUP_NEIGHBOURS_H
#define GROUP_NEIGHBOURS_H

#include "group/internal.h"

struct neighbour;

/* A way in which pods name their group. */
struct neighbour_form {
	const char *key; /* on the pod */
	bool label;      /* a label; else an annotation */
	/* Of the PodGroup that is named; NULL: what the group asks for stands on its pods. */
	const char *api_version;
	void (*read)(struct neighbour *neighbour);
};

struct neighbour {
	struct grouping *grouping;
	const struct neighbour_form *form;
	const char *name;      /* what the pod names */
	struct group_owner id; /* the object of that name; object NULL: none was found, or the form has none */
	bool unserved;         /* the cluster has no such kind */
	bool good;             /* false: the pods are not placed, the warnings say why */
};

/* Whether the pod names such a group, *out says which. The PodGroup that the controller of a workload made for it says
 * nothing which the workload itself does not say: it is not named then. */
bool neighbour_find(struct grouping *grouping, struct neighbour *out);
/* The group of this object. False: it is of no form. */
bool neighbour_of(struct grouping *grouping, const struct val *object, struct neighbour *out);
/* The group that the pod names, without its marks. Says so, and false, when it cannot be read because the kind is not
 * served: then the workload counts. */
bool neighbour_build(struct neighbour *neighbour, enum group_verdict *verdict);
/* Whether the annotation of a pod can name the PodGroup that is made from the group, or was made from one before it. */
bool neighbour_made(const struct neighbour *neighbour, const char *pod_group);

/* ---- for those who read a form ---- */

/* Part of the report on what has no counterpart: the group is built without it. */
void neighbour_lose(struct neighbour *neighbour, const char *path, const char *fix, const char *message);
/* What has to be put right before the pods are placed. */
void neighbour_refuse(struct neighbour *neighbour, enum group_about about, const char *path, const char *fix,
                      const char *message);

#endif
