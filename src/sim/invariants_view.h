/* View: what the objects in the store say about nodes, pods and groups at one moment, decoded by the rules of admission
 * and counted here. It shares nothing with the scheduler's own books, so that it can judge them. Private to src/sim. */
#ifndef SIM_INVARIANTS_VIEW_H
#define SIM_INVARIANTS_VIEW_H

#include "admit/pod.h"
#include "admit/podgroup.h"
#include "admit/topology.h"
#include "base/strings.h"
#include "api/store.h"
#include "loop/settings.h"

enum view_kind { VIEW_NODES, VIEW_PODS, VIEW_GROUPS, VIEW_TOPOLOGIES, VIEW_PRIORITIES, VIEW_KINDS };

struct view_pod {
	const struct pod_spec *spec; /* of the object */
	const struct store_object *object;
	const char *uid;
	int group;  /* index, -1 for none that exists */
	int leaf;   /* in the tree of the group, -1 when it names none */
	int node;   /* index, -1 when it is not bound or the node is missing */
	bool alive; /* neither finished nor leaving */
	bool bound; /* has a nodeName */
	bool ours;  /* to place */
};

struct view_group {
	struct podgroup spec;
	const struct store_object *object;
	bool readable;               /* false: the PodGroup breaks a rule, `spec` is empty */
	enum preemptibility preempt; /* with the default of its priority */
	/* per tree node: */
	size_t *placed;       /* pods that are alive and bound */
	bool *satisfied;      /* it has reached its minimum */
	bool *violated;       /* its required level does not hold */
	const char **domains; /* where the first of its pods is, by its required level; NULL without */
	/* pods: */
	size_t waiting, gated, strays;
	bool started;    /* a pod that is alive runs */
	bool completing; /* a pod has succeeded */
};

struct view {
	struct arena *arena;
	struct store_list lists[VIEW_KINDS];
	uint64_t version;
	struct node_spec *nodes;
	size_t node_count;
	struct view_pod *pods; /* by namespace, then name */
	size_t pod_count;
	struct view_group *groups;
	size_t group_count;
	struct topology_spec *topologies;
	size_t topology_count;
	struct interner *node_names, *pod_uids, *group_names, *topology_names; /* number = index */
};

/* The settings say whose a pod is; they are borrowed during the call. */
struct view *view_create(struct store *store, const struct settings *settings);
void view_destroy(struct view *view); /* NULL is a no-op */
/* Indices, -1 when there is none. */
int view_find_group(const struct view *view, const char *namespace_, const char *name);
int view_find_pod(const struct view *view, const char *uid);
/* Of a PriorityClass; of none when NULL. */
int64_t view_priority(const struct view *view, const char *name);
/* Values of the node's labels from the outermost level down to `level`, as one text; NULL when one is missing. */
const char *view_domain(const struct view *view, const struct topology_spec *topology, int level, int node,
                        struct arena *arena);
/* Whether the tree node, or one it is below, is `ancestor`. */
bool view_is_below(const struct podgroup *group, int node, int ancestor);

#endif
