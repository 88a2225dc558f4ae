/* One random world of the property tests: a small cluster, what runs on it, and one gang. Plain numbers without
 * pointers, so that copying is assignment and shrinking is editing. Nothing here uses the engine. */
#ifndef PROPERTY_INSTANCE_H
#define PROPERTY_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INSTANCE_NODES = 8,
	INSTANCE_TOPOLOGIES = 2,
	INSTANCE_LEVELS = 3,
	INSTANCE_RESOURCES = 3,
	INSTANCE_PODS = 8,
	INSTANCE_TREE = 12,
	INSTANCE_KINDS = 8,
	INSTANCE_OTHERS = 6,
	INSTANCE_KEYS = 1 + INSTANCE_TOPOLOGIES * INSTANCE_LEVELS,
};

/* Label keys by number: 0 is the host name, then one per topology level. */
enum { KEY_NONE = -1, KEY_HOST = 0 };

struct w_level { /* topology -1: none */
	int topology, level;
};

struct w_topology {
	int level_count;
	bool host_level; /* the deepest level is the host name */
};

struct w_node {
	int label[INSTANCE_KEYS]; /* value, or -1 when the label is missing; the host name is always there */
	int capacity[INSTANCE_RESOURCES];
	int pods;   /* how many pods the node takes */
	int colour; /* label for node selectors, -1 none */
	bool unschedulable, tainted, not_ready;
};

enum w_selection { SELECT_LABEL, SELECT_IN, SELECT_NOT_IN };

struct w_term { /* key KEY_NONE: no term */
	int key, app;
};

struct w_spread { /* key KEY_NONE: none */
	int key, app, max_skew, min_domains;
	bool ignore_node_affinity, honor_taints;
};

struct w_pod_class {
	int request[INSTANCE_RESOURCES];
	int colour; /* -1: any node */
	enum w_selection selection;
	bool tolerates;
	int app;  /* label other pods may select, -1 none */
	int port; /* host port, -1 none */
	struct w_term affinity, anti;
	struct w_spread spread;
};

enum w_occupancy { W_RUNNING, W_RELEASING, W_RESERVED };

struct w_other { /* a pod that is no member of the gang */
	int pod_class, node;
	enum w_occupancy occupancy;
	bool foreign; /* lives in another namespace: never selected by the gang's terms, nor selecting its pods */
};

struct w_tree { /* in breadth-first order */
	int parent, minimum;
	struct w_level required, preferred;
};

enum w_state { W_WAITING, W_GATED, W_MEMBER_RUNNING, W_MEMBER_RESERVED, W_GONE };

struct w_pod {
	int pod_class, leaf, node, nominated;
	enum w_state state;
};

struct instance {
	uint64_t seed;
	int topology_count, node_count, resource_count, pod_class_count, other_count, tree_count, pod_count;
	struct w_topology topologies[INSTANCE_TOPOLOGIES];
	struct w_node nodes[INSTANCE_NODES];
	struct w_pod_class pod_classes[INSTANCE_KINDS];
	struct w_other others[INSTANCE_OTHERS];
	struct w_tree tree[INSTANCE_TREE];
	struct w_pod pods[INSTANCE_PODS];
	bool use_releasing;
	bool depth_first; /* the engine gets the tree in depth-first order, as a spec may list it */
	bool warm_up; /* the engine first answers for a different state of the same cluster, so that its caches are filled */
};

#define W_NO_LEVEL ((struct w_level){.topology = -1, .level = -1})

/* The label key of a topology level. */
int instance_level_key(const struct instance *instance, int topology, int level);
/* Whether both nodes have a domain at the level, and the same one: equal labels from the top down to it. */
bool instance_same_domain(const struct instance *instance, int topology, int level, int a, int b);
int instance_child_count(const struct instance *instance, int node);
/* Whether `node` is `above` or stands below it. */
bool instance_below(const struct instance *instance, int node, int above);
bool instance_is_member(const struct w_pod *pod);                   /* running or reserved */
bool instance_has_interactions(const struct instance *instance);    /* any (anti-)affinity, spread or port in use */
bool instance_has_orderless_rules(const struct instance *instance); /* rules that more pods can help to satisfy */
/* Every minimum asks for everything that exists, so that all feasible placements place the same pods. */
bool instance_is_rigid(const struct instance *instance);
/* Running members already break a required level. */
bool instance_breaks_levels(const struct instance *instance);

#endif
