/* A PodGroup while it is being judged: everything that was written, right or wrong, so that every rule can be checked
 * even when another one is broken. Private to the podgroup files and admit.c; the result others see is the tree in
 * podgroup.h. */
#ifndef ADMIT_PODGROUP_DRAFT_H
#define ADMIT_PODGROUP_DRAFT_H

#include "admit/decode.h"
#include "admit/podgroup.h"
#include "admit/topology.h"

/* Levels below the PodGroup. Real workloads use two to four; the bound keeps walks up the tree short. */
#define PODGROUP_MAX_DEPTH 64

struct draft_minimum {
	bool present; /* written at all */
	bool bad;     /* written, but not a usable number: already reported */
	int value;
};

struct draft_constraint {
	const char *topology, *required, *preferred; /* NULL when not written */
	const char *path;                            /* NULL when there is no constraint */
	const char *effective;                       /* own topology or the nearest ancestor's */
	bool lends;                                  /* some descendant takes its topology from here */
};

/* Node 0 is the PodGroup, 1..subgroups the entries of spec.subGroups in order, the rest are subGroupSets. */
struct draft_node {
	const char *name; /* "" for the PodGroup, sets and nameless entries */
	const char *parent_name;
	int parent;       /* named parent; -1 for the PodGroup and where the parent is unknown */
	int set;          /* node of the subGroupSet it belongs to, -1 for none */
	int written_at;   /* index in its list, for paths */
	bool skip;        /* a repeated name or no map at all: takes no part in the tree */
	bool reached;     /* can be reached from the PodGroup (no cycle, no missing parent above) */
	int children;     /* named children; members in case of a set */
	int minimum;      /* resolved: pods of a leaf, children of a parent as the tree has them */
	int64_t leaf_sum; /* sum of the minimums of all leaves below */
	struct draft_minimum min_member, min_subgroup;
	struct draft_constraint constraint;
};

struct draft_name {
	const char *name;
	int node;
};

struct draft {
	struct decode decode;
	const struct val *spec;
	struct draft_node *nodes;
	int subgroups, count;
	struct draft_name *names; /* sorted; the first of equal names is the one that counts */
	size_t name_count;
	/* Children as the tree has them (sets in between), grouped by parent in spec order, and the nodes in preorder. */
	int *child_start, *child_list;
	int *order;
	int ordered;
};

static inline bool draft_has_levels(const struct draft_constraint *constraint)
{
	return constraint->required || constraint->preferred;
}

/* podgroup.c: reads fields into *out and *draft and runs the steps below, all but the last. */
void draft_read(const struct val *object, struct draft *draft, struct podgroup *out);
/* The tree, and what annotations say; only for a draft that was read without errors. */
void draft_finish(const struct draft *draft, const struct val *object, struct podgroup *out);
const char *draft_path(struct arena *arena, const struct draft *draft, int node);

/* podgroup_links.c */
void draft_link(struct draft *draft);                            /* names, parents, cycles */
int draft_subgroup(const struct draft *draft, const char *name); /* -1 when there is none */
void draft_arrange(struct draft *draft);                         /* children lists, preorder, depth */
void draft_sort_names(struct draft_name *names, size_t count);

/* podgroup_constraints.c */
struct draft_constraint draft_read_constraint(const struct draft *draft, const struct decode_path *path,
                                              const struct val *map);
void draft_constraints(struct draft *draft); /* the map form, sets; needs draft_link */
void draft_inherit(struct draft *draft);     /* topologies from ancestors; needs draft_arrange */
/* Levels against the Topologies that exist. `find` gives NULL for one that does not, `nearest` the name that was meant, or NULL. */
void draft_check_levels(const struct draft *draft,
                        const struct topology_spec *(*find)(const void *context, const char *),
                        const char *(*nearest)(const void *context, const char *), const void *context);

/* podgroup_tree.c */
void draft_minimums(struct draft *draft);                               /* needs draft_arrange */
void draft_build_tree(const struct draft *draft, struct podgroup *out); /* only for a draft without errors */

/* podgroup_expected.c: needs draft_build_tree */
void draft_read_expected(const struct draft *draft, const struct val *object, struct podgroup *out);

#endif
