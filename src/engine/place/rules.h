/* Rules between pods: affinity, anti-affinity and topology spread. Private to the engine.
 *
 * Rules about nodes alone are part of the shape (cluster/internal.h). All functions only read; a pod class and a node are
 * numbers of the cluster. */
#ifndef ENGINE_PLACE_RULES_H
#define ENGINE_PLACE_RULES_H

#include "engine/cluster/internal.h"
#include "engine/gang/gang.h"

struct solver;

/* Before the search: sets mask[node] to 0 where pods that are there already keep the class away, to 1 elsewhere; the
 * caller gives a byte per node. True when it excludes any. */
bool rules_mask_nodes(const struct solver *solver, int pod_class, uint8_t *mask);
/* Whether rules about other pods, its own or theirs, have a say in where pods of the class may go; and for a gang. */
bool rules_concern_pod_class(const struct solver *solver, int pod_class);
bool rules_concern_gang(const struct cluster *cluster, const struct gang *gang);
/* Whether a pod of the gang must be near pods that are not of the gang. */
bool rules_need_others(const struct cluster *cluster, const struct gang *gang);
/* Whether rules among the gang's own pods exist that slots do not express. */
bool rules_between_members(const struct solver *solver);
/* While packing: whether the pods assigned so far allow one of the class on the node. Not the last word, because
 * affinity may still be fulfilled by a later pod: rules_check_final says it, of all assigned pods. */
bool rules_allow_node(const struct solver *solver, int pod_class, int node);
bool rules_check_final(const struct solver *solver);
/* Whether no rule of the gang's members, or of the class itself, forbids a pod of that class on the node. */
bool rules_tolerate_members(const struct cluster *cluster, const struct gang *gang, int pod_class, int node);
/* Whether affinity or spread of the gang's pods depends on where pods of the class are. */
bool rules_mind_pod_class(const struct cluster *cluster, const struct gang *gang, int pod_class);
/* Whether a waiting pod of the gang has to stand beside pods of the class. */
bool rules_attract_waiting(const struct cluster *cluster, const struct gang *gang, int pod_class);
/* Whether a member that was just placed has its affinity, anti-affinity and spread among all pods that stay. */
bool rules_hold_for_member(const struct cluster *cluster, const struct gang_pod *pod);
/* Checks the members a gang has; NULL when all is well, otherwise a text in the arena. */
const char *rules_verify_members(const struct cluster *cluster, const struct gang *gang, struct arena *arena);

/* ---- terms, for whoever looks at them otherwise ---- */

/* Whether the term of a pod of class `owner` selects pods of class `other`. */
bool rules_term_selects(const struct pod_term *term, const struct pod_class *owner, const struct pod_class *other);
bool rules_spread_selects(const struct spread_term *term, const struct pod_class *owner, const struct pod_class *other);
/* What the key says of a node, NULL for nothing. An empty key speaks of all nodes at once. */
const char *rules_node_value(const struct cluster *cluster, const char *key, int node);
/* How many of them there are in a view. */
int rules_count_present(const struct resident *resident, int view);

#endif
