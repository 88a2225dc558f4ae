/* Labels, selectors, taints and the other pod-level rules as plain data, shared by decoders and the engine.
 * All strings and arrays are borrowed from whoever filled the struct (usually a document arena). */
#ifndef BASE_LABELS_H
#define BASE_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label {
	const char *key;
	const char *value;
};

struct labels {
	struct label *items; /* sorted by key after labels_sort */
	size_t count;
};

void labels_sort(struct labels *labels);
/* NULL when absent. Needs sorted labels. */
const char *labels_get(const struct labels *labels, const char *key);

enum match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT };

/* One requirement. `field_name` means it tests metadata.name instead of a label. */
struct match {
	const char *key;
	enum match_op op;
	const char **values;
	size_t value_count;
	bool field_name;
};

/* All requirements must hold. An empty selector matches everything. */
struct selector {
	struct match *items;
	size_t count;
};

bool match_labels(const struct match *match, const struct labels *labels, const char *object_name);
bool selector_matches(const struct selector *selector, const struct labels *labels, const char *object_name);

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE };

struct taint {
	const char *key;
	const char *value;
	enum taint_effect effect;
};

struct toleration {
	const char *key; /* NULL or "": every key (operator Exists) */
	const char *value;
	bool exists;  /* operator Exists: value is ignored */
	int compares; /* operator Gt: 1, Lt: -1: the taint's value is a larger or smaller whole number; otherwise 0 */
	bool any_effect;
	enum taint_effect effect;
};

bool taint_tolerated(const struct taint *taint, const struct toleration *tolerations, size_t count);

struct resource_amount {
	const char *name; /* cpu is in milli-cores, everything else in whole units */
	int64_t amount;
};

struct node_term { /* one nodeSelectorTerm; weight only for preferred ones */
	struct selector selector;
	int32_t weight;
};

struct pod_term { /* one inter-pod (anti-)affinity term */
	struct selector selector;
	bool selects_nothing;     /* nil labelSelector */
	const char *topology_key; /* "": all nodes are one domain */
	const char **namespaces;  /* count 0 and !all_namespaces: the pod's own */
	size_t namespace_count;
	bool all_namespaces;
	int32_t weight; /* preferred terms: 1..100 */
};

struct spread_term { /* one topologySpreadConstraint */
	struct selector selector;
	const char *topology_key;
	int32_t max_skew;
	int32_t min_domains;       /* 0 when unset */
	bool required;             /* DoNotSchedule; otherwise ScheduleAnyway */
	bool usual;                /* nobody wrote it: for pods that start alone, and only where no level says more */
	bool ignore_node_affinity; /* nodeAffinityPolicy: Ignore */
	bool honor_taints;         /* nodeTaintsPolicy: Honor */
};

struct host_port {
	const char *ip; /* "" or 0.0.0.0: every address */
	const char *protocol;
	int32_t port;
};

/* How the key of a label begins that pods get which use a claim that one pod may use at a time; the name of the claim
 * follows, and the value is the name of the pod. No label of a user has upper case before the slash. */
#define SINGLE_CLAIM_LABEL "ReadWriteOncePod/"

/* The key of a label that replicas of one workload get, such as those of a ReplicaSet; the value is kind and name of it. */
#define REPLICA_LABEL "ReplicaOf/"

/* Everything besides resources that decides where one pod may run. */
struct pod_rules {
	const char *pool; /* only nodes of this pool, NULL: only nodes without one; whoever knows the pools sets it */
	const char *node_label; /* only nodes that have this label, NULL: no matter */
	struct selector node_selector;
	bool has_node_terms;          /* requiredDuringScheduling node affinity present */
	struct node_term *node_terms; /* OR of terms; present but empty matches nothing */
	size_t node_term_count;
	struct node_term *preferred_nodes;
	size_t preferred_node_count;
	struct node_term *volume_terms; /* AND over volumes is flattened: see volume_count */
	size_t *volume_term_counts;     /* terms of volume i are consecutive in volume_terms */
	size_t volume_count;
	struct toleration *tolerations;
	size_t toleration_count;
	struct host_port *ports;
	size_t port_count;
	struct pod_term *affinity, *anti_affinity, *preferred_affinity, *preferred_anti_affinity;
	size_t affinity_count, anti_affinity_count, preferred_affinity_count, preferred_anti_affinity_count;
	struct spread_term *spread;
	size_t spread_count;
};

#endif
