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
	const char *tail; /* of the name of our PodGroup where there is no object; with that the uid ends it */
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
#define NEIGHBOUR_NO_SUM "a sum of resources is not waited for: the minimum counts pods, each with its own requests"
#define NEIGHBOUR_NO_TIMEOUT "nothing times out: a gang holds nothing while it waits"
#define NEIGHBOUR_UNKNOWN "it is not known here"

struct neighbour_loss {
	const char *key, *message;
};
/* Names every field of the spec that is not among those that are `read` (NULL ends them), with the words for its key; the
 * last of the losses, without a key, is for those that nobody knows. */
void neighbour_lose_fields(struct neighbour *neighbour, const char *const *read, const struct neighbour_loss *losses);
/* A number of pods in the spec, from 1 on; 1 when there is none. */
int neighbour_count(struct neighbour *neighbour, const char *key);
/* What has to be put right before the pods are placed. */
void neighbour_refuse(struct neighbour *neighbour, enum group_about about, const char *path, const char *fix,
                      const char *message);

/* ---- the forms with files of their own ---- */

void neighbour_read_volcano(struct neighbour *neighbour);
void neighbour_read_koordinator(struct neighbour *neighbour);      /* a PodGroup */
void neighbour_read_koordinator_pods(struct neighbour *neighbour); /* annotations of pods */
void neighbour_read_lightweight(struct neighbour *neighbour);      /* labels of pods */
void neighbour_read_kueue(struct neighbour *neighbour);

#endif
