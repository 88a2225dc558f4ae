/* What the parts of the snapshot builder share. Private to snapshot*.c. */
#ifndef CONTROL_SNAPSHOT_BUILD_H
#define CONTROL_SNAPSHOT_BUILD_H

#include "admit/admit.h"
#include "admit/queue.h"
#include "admit/volume.h"
#include "base/strings.h"
#include "control/snapshot.h"

enum build_kind {
	BUILD_NODE,
	BUILD_POD,
	BUILD_POD_GROUP,
	BUILD_QUEUE,
	BUILD_TOPOLOGY,
	BUILD_PRIORITY_CLASS,
	BUILD_VOLUME,
	BUILD_CLAIM,
	BUILD_KINDS,
};

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
	struct arena *arena;
	const struct snapshot_options *options;
	struct build_slice kinds[BUILD_KINDS];
	struct admit_index *index; /* over all objects, for verdicts */

	struct interner *priority_names, *queue_names;
	struct priority_class *priorities;
	struct volume_index *volumes;
	const struct priority_class *default_priority; /* NULL when no class is the global default */
	bool no_queues;
	struct build_bad_pod *bad_pods;
	size_t bad_pod_count;
	size_t foreign_pods;     /* pending pods of other schedulers */
	const char *foreign_pod; /* the first of them; one that names a PodGroup, if there is any */
	bool foreign_member;     /* it does name one */
};

/* "namespace/name" in the arena; an empty namespace is "default". */
const char *build_key(struct snapshot_build *build, const char *namespace_, const char *name);
const char *build_namespace(const char *namespace_);
/* Interns a name; false when an object of that name was there before. */
bool build_new_name(struct interner *names, const char *key);
/* The same, with a verdict on the second object. */
bool build_claim_name(struct snapshot_build *build, struct interner *names, const char *key,
                      const struct manifest *manifest);
/* Judges an object by all rules of admission and keeps the verdict. For kinds of which there are few: it decodes. */
struct problems build_judge(struct snapshot_build *build, const struct manifest *manifest);
/* Keeps the problems found with one object, if any. */
void build_verdict(struct snapshot_build *build, const struct manifest *manifest, const struct problems *problems);
void build_warn(struct snapshot_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Seconds from creationTimestamp, else from the position in the list. */
int64_t build_creation(const struct manifest *manifest, size_t order);

/* snapshot_cluster.c */
void build_topologies(struct snapshot_build *build);
void build_nodes(struct snapshot_build *build); /* seals the cluster */
void build_queues(struct snapshot_build *build);
void build_priorities(struct snapshot_build *build);
int32_t build_priority(const struct snapshot_build *build, const char *class_name);
void build_volumes(struct snapshot_build *build);
/* snapshot_pods.c */
void build_pods(struct snapshot_build *build);
bool build_pod_is_ours(const struct snapshot_build *build, const struct pod_spec *pod);
/* snapshot_groups.c; needs the pods */
void build_groups(struct snapshot_build *build);
/* snapshot_members.c; called by build_groups */
void build_members(struct snapshot_build *build);

#endif
