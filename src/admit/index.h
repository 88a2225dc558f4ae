/* The other objects, as far as a verdict needs them. Private to admit.c, rbg_verdict.c and index.c. */
#ifndef ADMIT_INDEX_H
#define ADMIT_INDEX_H

#include "admit/admit.h"
#include "admit/clustertopology.h"
#include "admit/queue.h"
#include "admit/rbg.h"
#include "admit/topology.h"
#include "kinds/kinds.h"

/* KIND_OTHER for kinds, and versions of them, that admission has no rules for. */
enum kind_id index_kind(const struct manifest *object);

size_t index_count(const struct admit_index *index);
/* The name of an object of the kind that a name was meant to be; NULL when none is near. */
const char *index_nearest(const struct admit_index *index, enum kind_id kind, const char *name);
/* The objects of a kind, one per call; *at is 0 before the first. NULL after the last. */
const struct manifest *index_next(const struct admit_index *index, enum kind_id kind, size_t *at);

/* The earlier object with the same kind, namespace and name, when this one is a later one; else NULL. */
const struct manifest *index_earlier(const struct admit_index *index, const struct manifest *object);

/* `context` is the index. NULL when there is none of that name; level_count 0 when there is one but it breaks its own rules. */
const struct topology_spec *index_topology(const void *context, const char *name);
/* NULL when there is none of that name; layer_count 0 when there is one but it breaks its own rules. */
const struct cluster_topology *index_cluster_topology(const struct admit_index *index, const char *name);
/* Whether the objects are all there are, so that what is missing does not exist. */
bool index_is_cluster(const struct admit_index *index);
/* The RoleBasedGroup of that name, NULL when there is none. */
const struct decoded_rbg *index_group(const struct admit_index *index, const char *namespace_, const char *name);
bool index_has_groups(const struct admit_index *index);
/* The CoordinatedPolicies that speak of a group, one per call; *at is 0 before the first. NULL after the last. */
const struct decoded_policy *index_policy(const struct admit_index *index, const char *namespace_, const char *group,
                                          size_t *at);
/* Another Topology than `name` that has `upper` below `lower`; NULL when there is none. */
const char *index_topology_conflict(const struct admit_index *index, const char *name, const char *upper,
                                    const char *lower);

bool index_has_queues(const struct admit_index *index);
bool index_has_queue(const struct admit_index *index, const char *name);
/* The first queue below it; NULL when there is none. */
const char *index_queue_child(const struct admit_index *index, const char *name);
/* Whether following parents from this queue leads back to it. The text names the way round; NULL when not. */
const char *index_queue_cycle(const struct admit_index *index, const struct manifest *object,
                              const struct queue_spec *queue, struct arena *arena);

#endif
