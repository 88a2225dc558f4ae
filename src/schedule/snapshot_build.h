/* What the parts of the snapshot builder share. Private to snapshot*.c. */
#ifndef SCHEDULE_SNAPSHOT_BUILD_H
#define SCHEDULE_SNAPSHOT_BUILD_H

#include "admit/admit.h"
#include "admit/queue.h"
#include "admit/volume_book.h"
#include "base/strings.h"
#include "kinds/kinds.h"
#include "schedule/device_columns.h"
#include "schedule/service_book.h"
#include "schedule/snapshot.h"
#include "schedule/snapshot_terms.h"
#include "schedule/volume_columns.h"

static inline bool build_is_storage(enum kind_id kind)
{
	return kind >= KIND_CLAIM && kind <= KIND_ATTACHMENT;
}

/* Of these the live state takes over one at a time. Classes and rules are part of the frame. */
static inline bool build_is_device(enum kind_id kind)
{
	return kind == KIND_DEVICE_SLICE || kind == KIND_DEVICE_CLAIM;
}

struct build_slice { /* manifests of one kind, in list order */
	const struct manifest **items;
	size_t *order; /* position in the whole list */
	size_t count;
};

struct build_bad_pod { /* a pod that could not be read, though it says to which group it belongs */
	const char *group_key, *name;
};

/* Names get numbers in order of first appearance, so the number of a name is the index of its item as long as every
 * item is interned once: that is what makes the interners below look-up tables. */
struct snapshot_build {
	struct snapshot *snapshot;
	struct arena *arena; /* of the snapshot; that of the frame in a live state */
	const struct snapshot_options *options;
	const struct settings *settings; /* those of the options, or the usual */
	struct build_slice kinds[KIND_IDS];
	struct admit_index *index; /* over all objects, for verdicts */

	struct interner *priority_names, *queue_names;
	struct priority_class *priorities;
	struct node_spec *nodes; /* in the order of the list */
	size_t node_count;
	struct volume_book *book;                      /* the volumes and claims there are */
	struct volume_columns *columns;                /* what they are to the cluster */
	struct device_columns *device_columns;         /* what devices and claims for them are to the cluster */
	const struct priority_class *default_priority; /* NULL when no class is the global default */
	struct terms_reader *terms;                    /* NULL: nobody knows more of single pods than they say */
	struct interner *label_topologies;             /* names of topologies that are node labels, in use */
	const char *default_queue;                     /* of those that name none; in the arena of the snapshot */
	struct interner *config_maps;                  /* "namespace/name" of those there are; NULL in a live state */
	struct service_book *services;
	struct build_device *devices; /* resources that DeviceClasses stand behind */
	size_t device_count;
	struct shard_spec *shards; /* at most one per pool */
	size_t shard_count;
	bool no_queues;
	const char **queue_pools; /* by queue: the only pool it serves, "" for that of no label, NULL for all */
	int *queue_rows;          /* by pool and queue: its number in the cycle, -1 for none */
	bool quiet;               /* nobody reads verdicts and warnings: keep none */
	struct build_bad_pod *bad_pods;
	size_t bad_pod_count;
	size_t foreign_pods;     /* pending pods of other schedulers */
	const char *foreign_pod; /* the first of them; one that names a PodGroup, if there is any */
	bool foreign_member;     /* it does name one */
};

/* Everything but pods, groups and volumes: topologies, nodes, queues, priority classes. */
void build_frame(struct snapshot_build *build, const struct manifests *manifests);
/* "namespace/name" in the arena; an empty namespace is "default". */
const char *build_key(struct snapshot_build *build, const char *namespace_, const char *name);
const char *build_namespace(const char *namespace_);
/* Counts the users of claims: room for so many claims, one user more unless its pod has ended, how many there are. */
void build_users(struct snapshot_build *build, struct claim_users *users, size_t most);
void build_user(struct snapshot_build *build, struct claim_users *users, const struct pod_spec *pod, const char *claim);
size_t build_count_users(const struct claim_users *users, const char *namespace_, const char *claim);
/* Interns a name; false when an object of that name was there before. */
bool build_new_name(struct interner *names, const char *key);
/* The same, with a verdict on the second object. */
bool build_claim_name(struct snapshot_build *build, struct interner *names, const char *key,
                      const struct manifest *manifest);
/* Judges an object by all rules of admission and keeps the verdict. For kinds of which there are few: it decodes. */
struct problems build_judge(struct snapshot_build *build, const struct manifest *manifest, struct arena *arena);
/* Keeps the problems found with one object, if any. */
void build_verdict(struct snapshot_build *build, const struct manifest *manifest, const struct problems *problems);
void build_warn(struct snapshot_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Seconds from creationTimestamp, else from the position in the list. */
int64_t build_creation(const struct manifest *manifest, size_t order);
int64_t build_creation_by_order(size_t order);

/* snapshot_cluster.c */
/* Notes the topologies that a PodGroup names and that are node labels. */
void build_note_labels(struct interner *names, const struct val *pod_group);
void build_topologies(struct snapshot_build *build);
void build_nodes(struct snapshot_build *build); /* seals the cluster */
/* Fills snapshot.nodes, for as long as no node comes or goes. */
void build_number_nodes(struct snapshot_build *build);
struct cluster_node build_cluster_node(const struct node_spec *node);
/* Whether the node is in a pool that the settings serve. */
bool build_node_is_ours(const struct snapshot_build *build, const struct node_spec *node);
/* Whether the settings serve every pool. */
bool build_serves_all(const struct snapshot_build *build);
/* What defragmentation is asked for, with so many moves. */
struct cycle_defragment build_defragment(const struct settings *settings, int64_t moves);
/* The node pool that the label of the object names, NULL for none. */
const char *build_pool(const struct snapshot_build *build, const struct val *object);
void build_priorities(struct snapshot_build *build);
/* What the class is worth, or the default where there is none of that name, and whether its groups never preempt. */
int32_t build_priority(const struct snapshot_build *build, const char *class_name, bool *never_preempts);
/* snapshot_shards.c; needs the nodes */
void build_shards(struct snapshot_build *build);
/* That of the pool, NULL when there is none. */
const struct shard_spec *build_shard(const struct snapshot_build *build, const char *pool);
/* snapshot_queues.c; needs the nodes and the shards. Names are numbered as the first queues of the cycle. */
void build_queues(struct snapshot_build *build);
/* What they used in the past, as it was kept; after the frame. */
void build_usage(struct snapshot_build *build);
/* What the queue of that name is in the pool of that name; -1 when it serves another, or no node is in the pool. */
int build_queue_row(const struct snapshot_build *build, int queue, const char *pool);
/* Whether the pool of the node is one that queues are divided by. */
bool build_knows_pool(const struct snapshot_build *build, const struct node_spec *node);
/* snapshot_volumes.c: the book and the columns of a snapshot; the pods are not read yet. */
void build_volumes(struct snapshot_build *build);
/* Says who names which claim, and asks for all sizes before it matters. */
void build_claims(struct snapshot_build *build, const struct pod_spec *const *pods, size_t count);
/* When all pods have their nodes: which volumes are in use where. */
void build_used_volumes(struct snapshot_build *build);
/* snapshot_devices.c: of the DeviceClasses; needs the nodes. */
void build_devices(struct snapshot_build *build);
/* Whether nodes have begun or ceased to offer such a resource, so that pods may be blocked no more, or blocked now. */
bool build_devices_changed(const struct snapshot_build *build);
/* Blocks a pod that asks for one that no node offers. */
void build_devices_block(const struct snapshot_build *build, const struct pod_spec *pod, struct arena *arena,
                         const struct pod_block **block);
/* The book and the columns of a snapshot, when it is known which pods there are. */
void build_device_columns(struct snapshot_build *build, const struct pod_spec *const *pods, size_t count);
/* snapshot_config_maps.c: whether there is an object of that name. */
typedef bool build_has_name(const void *context, const char *namespace_, const char *name);
/* Reads those of a snapshot; has() for them, whose context is the build. */
void build_config_maps(struct snapshot_build *build);
build_has_name build_has_config_map;
/* Blocks a pod that needs one that is not there. */
void build_config_maps_block(const struct snapshot_build *build, const struct pod_spec *pod, build_has_name *has,
                             const void *context, struct arena *arena, const struct pod_block **block);
/* snapshot_spread.c: reads the Services of a snapshot. */
void build_services(struct snapshot_build *build);
/* Adds to what the pod needs that it is spread over zones, if it is one that is and says nothing else; in the arena. */
void build_spread(const struct snapshot_build *build, const struct pod_spec *pod, struct arena *arena,
                  struct volume_needs *needs);
/* snapshot_pods.c */
void build_pods(struct snapshot_build *build);
/* The pod as its spec says; its class and what it occupies come later. The spec must outlive it. */
struct snapshot_pod build_pod(const struct pod_spec *spec, size_t order);
bool build_requests_gpus(const struct volume_needs *needs);
/* By what it needs, its volumes included. */
int build_pod_class(struct snapshot_build *build, const struct snapshot_pod *pod, const struct volume_needs *needs);
/* The node that it occupies; -1 for none. */
int build_node_of(const struct snapshot_build *build, const struct snapshot_pod *pod);
/* The node it is on, and what it takes there; needs the class. */
void build_occupy(struct snapshot_build *build, struct snapshot_pod *pod);
void build_vacate(struct snapshot_build *build, struct snapshot_pod *pod);
/* Group a pod names that could not be decoded, NULL when it names none. */
const char *build_group_of_bad_pod(const struct val *object);
bool build_pod_is_ours(const struct snapshot_build *build, const struct pod_spec *pod);
/* snapshot.c: what a cycle needs of the settings, which the engine does not know. Every cycle, as they are replaced. */
void build_take_settings(struct cycle *cycle, const struct settings *settings);
/* snapshot_budgets.c; needs the pods */
void build_budgets(struct snapshot_build *build);
/* One more budget at the end of the arrays of the snapshot, which have room for it. The texts are borrowed. */
void build_budget(struct snapshot *snapshot, const struct budget_spec *spec);
/* A pod came (sign 1), or is as it was counted before and goes (-1). */
void build_count_in_budgets(struct snapshot *snapshot, const struct snapshot_pod *pod, int sign);
/* What every budget allows, from what was counted. */
void build_judge_budgets(struct snapshot *snapshot);
/* snapshot_groups.c; needs the pods */
void build_groups(struct snapshot_build *build);
/* One PodGroup, and one pod without any, into the group of that number; names and members are the caller's business. What
 * is read is in the arena, which lives as long as the group is that. */
void build_read_group(struct snapshot_build *build, const struct manifest *manifest, size_t order, size_t index,
                      struct arena *arena);
/* `terms` NULL: what the pod says. */
void build_read_implicit(struct snapshot_build *build, const struct snapshot_pod *pod, const struct group_terms *terms,
                         size_t index, struct arena *arena);
/* The group is in the pool, and with it in what the queue, by the number of its first row, is there. */
void build_take_row(const struct snapshot_build *build, struct cycle_group *group, int queue, const char *pool);
/* Whether the pod gets a group of its own. */
bool build_needs_implicit(const struct snapshot_build *build, const struct snapshot_pod *pod);
/* snapshot_places.c: the places kept for a group that has been read. What cannot be read is no place. */
void build_places(struct snapshot_build *build, const struct manifest *manifest, size_t index, struct arena *arena);
/* snapshot_members.c; called by build_groups */
void build_members(struct snapshot_build *build);
/* What budgets ask about a member; see enum pod_health. */
uint8_t build_health(const struct pod_spec *pod);
/* Leaf of a pod in a group, -1 when it names none that exists. */
int build_leaf(const struct snapshot_group *group, const struct snapshot_pod *pod);
/* The gang of a group from members[0 .. pod_count of the gang] and strays[0 .. stray_count], in any order. What it
 * consists of is in the arena, which lives until its members change. */
void build_gang(const struct snapshot_build *build, size_t group_index, struct arena *arena);
/* The members as the pods are now, not as a cycle left them. */
void build_member_states(const struct snapshot_build *build, size_t group_index);
void build_note_bad_pod(struct snapshot_group *group, const char *name, struct arena *arena);

#endif
