/* Grouping: from a pod and the objects that own it to the PodGroup it belongs to.
 *
 * Pure: no I/O, no clock, no log. Other objects are asked for through `struct group_source`. Everything in a result
 * lives in the arena or in the documents that were given; nothing has to be freed. */
#ifndef GROUP_GROUP_H
#define GROUP_GROUP_H

#include "base/arena.h"
#include "base/labels.h"
#include "object/doc.h"

/* More subgroups than this are not written; the group is then built coarser, with a warning. */
#define GROUP_MAX_SUBGROUPS 10000
/* Owners above this many levels, and chains that run in a circle, end the walk. */
#define GROUP_MAX_OWNERS 16

#define GROUP_KEY_POD_GROUP "pod-group-name"                  /* annotation: pod -> PodGroup */
#define GROUP_KEY_SUBGROUP "kai.scheduler/subgroup-name"      /* label: pod -> leaf */
#define GROUP_KEY_SEGMENT_INDEX "kai.scheduler/segment-index" /* label: which segment of its role, from 0 */
#define GROUP_KEY_SKIP "kai.scheduler/skip-podgrouper"        /* annotation: "true" leaves the pod alone */
#define GROUP_KEY_QUEUE "kai.scheduler/queue"
#define GROUP_KEY_NODE_POOL "kai.scheduler/node-pool"
#define GROUP_DEFAULT_QUEUE "default-queue"
#define GROUP_ENV_SEGMENT_INDEX "KAI_SEGMENT_INDEX"

/* Where objects come from. A returned val must stay valid as long as the result is used. */
struct group_source {
	void *context;
	/* NULL when there is no such object (or it cannot be read). namespace_ is "" for cluster-scoped kinds. */
	const struct val *(*get)(void *context, const char *api_version, const char *kind, const char *namespace_,
	                         const char *name);
	/* The next pod of the namespace that carries this label; *cursor starts at 0 and belongs to the callee.
	 * NULL at the end. */
	const struct val *(*next_pod)(void *context, const char *namespace_, const char *label, const char *value,
	                              size_t *cursor);
	/* The next object of a cluster-scoped kind, in the same way. May be missing: there are none. */
	const struct val *(*next_object)(void *context, const char *api_version, const char *kind, size_t *cursor);
	/* Whether there can be objects of the kind. May be missing: there can. Of a kind that is not served nothing is waited
	 * for: its pods are grouped like those of an unknown one. */
	bool (*is_served)(void *context, const char *api_version, const char *kind);
};

#define GROUP_ANY "*"

/* What a kind gets when neither its owner nor its pod says otherwise. NULL = not set here. */
struct group_kind_default {
	const char *api_group, *kind; /* the group may be GROUP_ANY; the first row that fits counts */
	const char *priority_class, *preemptibility;
};

/* All zero is the usual configuration. */
struct group_options {
	bool knative_gang;   /* one group per Knative revision instead of one per pod */
	bool keep_old_names; /* go on using PodGroups named after pods if they exist (Job, RunaiJob) */
	bool ignore_kartas;  /* kinds that only a Karta describes are grouped like any unknown kind */
	/* Minimums are those of KAI-Scheduler. Written: each parent with the number of children it needs, also when that is
	 * all, the PodGroup with that or with the pods of its leaves. Admitted: see podgroup_judge_as_kai. */
	bool kai_minimums;
	const char *queue_label;   /* NULL: GROUP_KEY_QUEUE */
	const char *pool_label;    /* NULL: GROUP_KEY_NODE_POOL */
	const char *default_queue; /* NULL or "": GROUP_DEFAULT_QUEUE */
	const struct group_kind_default *defaults;
	size_t default_count;
};

/* Never NULL or "". */
const char *group_queue_label(const struct group_options *options);
const char *group_pool_label(const struct group_options *options);
const char *group_default_queue(const struct group_options *options);

struct group_owner {
	const char *api_version, *kind, *name, *uid; /* "" when absent */
	const struct val *object;                    /* NULL: known by reference only */
};

/* Nearest owner first, top owner last. */
struct group_owners {
	struct group_owner *items;
	size_t count;
	bool cut; /* the chain was longer than GROUP_MAX_OWNERS or circular and ends early */
};

struct group_constraint { /* NULL = not given */
	const char *topology, *required, *preferred;
};

#define GROUP_UNSET (-1)

struct group_subgroup {
	const char *name;
	int parent;        /* index of an earlier or later entry, GROUP_UNSET for the top level */
	int min_member;    /* leaves only; GROUP_UNSET on parents, always */
	int min_sub_group; /* parents only; GROUP_UNSET = all children */
	/* Pods a leaf will have when the workload has created all of them; of a parent, those of each leaf right below it that
	 * says nothing itself. GROUP_UNSET = not known. */
	int expected;
	struct group_constraint constraint;
};

/* Why a user is told something: stable words, also the reason of the event. */
enum group_about {
	GROUP_ABOUT_WRONG_FIELD_TYPE,
	GROUP_ABOUT_OWNER_NOT_FOUND,
	GROUP_ABOUT_OWNER_CHAIN,
	GROUP_ABOUT_OBJECT_NOT_FOUND,
	GROUP_ABOUT_POD_LABEL_MISSING,
	GROUP_ABOUT_UNKNOWN_SUBGROUP,
	GROUP_ABOUT_ROLE_MISSING,
	GROUP_ABOUT_REPLICA_SPECS_MISSING,
	GROUP_ABOUT_REPLICA_COUNT_ZERO,
	GROUP_ABOUT_REPLICAS_BELOW_MINIMUM,
	GROUP_ABOUT_NO_REPLICATED_JOBS,
	GROUP_ABOUT_NODE_COUNT_MISSING,
	GROUP_ABOUT_SIZE_MISSING,
	GROUP_ABOUT_UNKNOWN_STARTUP_POLICY,
	GROUP_ABOUT_MIN_MEMBER_NOT_A_NUMBER,
	GROUP_ABOUT_MIN_MEMBER_NOT_POSITIVE,
	GROUP_ABOUT_MIN_REPLICAS_NOT_POSITIVE,
	GROUP_ABOUT_MIN_SCALE,
	GROUP_ABOUT_TOO_LARGE,
	GROUP_ABOUT_TOPOLOGY_NAME_MISSING,
	GROUP_ABOUT_SEGMENT_SIZE,
	GROUP_ABOUT_SEGMENT_TOPOLOGY_MISSING,
	GROUP_ABOUT_SEGMENT_LEVEL_MISSING,
	GROUP_ABOUT_SEGMENTS_UNSUPPORTED,
	GROUP_ABOUT_INDEX_LABEL_MISSING,
	GROUP_ABOUT_INDEX_NOT_A_NUMBER,
	GROUP_ABOUT_INDEX_BEYOND,
	GROUP_ABOUT_PRIORITY_CLASS_UNKNOWN,
	GROUP_ABOUT_BAD_PREEMPTIBILITY,
	GROUP_ABOUT_BAD_DURATION,
	GROUP_ABOUT_MEMBER_MISSING,
	GROUP_ABOUT_SUSPENDED,
	GROUP_ABOUT_KARTA,
	GROUP_ABOUT_KARTA_QUERY,
	GROUP_ABOUT_INVALID_TREE,
	GROUP_ABOUT_UNSUPPORTED,
	GROUP_ABOUT_SECOND_GROUP,
	GROUP_ABOUT_PRIORITY_DIFFERS,
	GROUP_ABOUT_NO_COUNTERPART,
	GROUP_ABOUT_COUNT
};

const char *group_about_name(enum group_about about); /* "wrong-field-type", ... */

/* One thing to tell the user, as an event on the pod. */
struct group_warning {
	enum group_about about;
	const char *object;  /* "JobSet default/train" */
	bool on_pod;         /* the object is the pod itself, not its workload */
	const char *path;    /* place in that object */
	const char *message; /* what is wrong */
	const char *fix;     /* what to do; never NULL */
};

/* Why groups of Kubernetes itself are not placed as they are. */
enum group_fault {
	GROUP_FAULT_NONE,
	GROUP_FAULT_INVALID, /* their tree */
	GROUP_FAULT_MEMBER,  /* a pod that does not go with its group */
};

enum group_verdict {
	GROUP_WANTED,  /* write the PodGroup, mark the pod */
	GROUP_NONE,    /* leave the pod alone: `reason` says why; no event */
	GROUP_REFUSED, /* no PodGroup can be built: the warnings say why. Try again when an owner changes */
};

struct group_result {
	enum group_verdict verdict;
	const char *reason; /* of GROUP_NONE */

	/* The PodGroup; only with GROUP_WANTED. */
	const char *namespace_, *name;
	struct group_owner owner;          /* becomes the ownerReference */
	struct labels labels, annotations; /* sorted by key */
	const char *node_pool;             /* of the pod, for the label; NULL = none */
	const char *queue, *priority_class;
	const char *preemptibility;                     /* NULL = unset */
	const char *preemption_delay, *staleness_grace; /* Go durations; NULL = unset */
	struct group_constraint constraint;
	int min_member;    /* GROUP_UNSET when there are subgroups */
	int min_sub_group; /* GROUP_UNSET = all */
	int expected;      /* as of a subgroup */
	bool starts_whole; /* what comes first is of use only where all expected pods have room: KINDS_STARTS_WHOLE */
	const struct val
		*coming; /* template of pods that come later and ask for other things: KINDS_COMING_POD; or NULL */
	struct group_subgroup *subgroups;
	size_t subgroup_count;
	/* It is the group of this one pod, and says nothing but queue, priority class and preemptibility. */
	bool single;

	/* The pod. leaf is NULL when the group has no subgroups, or when none is right for this pod (then a warning
	 * says so). segment is GROUP_UNSET outside of segments. */
	const char *leaf;
	int segment;
	struct labels pod_labels, pod_annotations; /* to set on the pod, sorted by key */
	struct labels pod_env;                     /* for every container; only possible while the pod is admitted */

	struct group_warning *warnings;
	size_t warning_count;

	/* Where the workload itself asks for a share of a GPU, "metadata.annotations.gpu-fraction"; NULL mostly. Its pods would
	 * run without one, because the schedulers that serve it look at them alone. */
	const char *share;

	/* Of GROUP_REFUSED: what is wrong with groups of Kubernetes itself, and with which, from the pod's up. */
	enum group_fault fault;
	const struct group_owner *faulty;
	size_t faulty_count;
};

/* Walks the owner references of the pod (the controller if one is marked, else the first). An owner that the source does
 * not have ends the chain as a mere reference. */
struct group_owners group_owners_of(const struct val *pod, const struct group_source *source, struct arena *arena);
/* Computes the group for a pod with a known chain of owners (empty: the pod stands alone). */
void group_build(const struct val *pod, const struct group_owners *owners, const struct group_source *source,
                 const struct group_options *options, struct arena *arena, struct group_result *out);
/* Both in one call: what a controller uses. */
void group_pod(const struct val *pod, const struct group_source *source, const struct group_options *options,
               struct arena *arena, struct group_result *out);

/* Like group_pod, but only what concerns the pod itself is filled in: verdict, name, owner, leaf, segment, labels and
 * warnings about it. Of the subgroups only those on the way to its leaf are there, so that the many pods of a large
 * workload do not build its whole tree each. */
void group_pod_marks(const struct val *pod, const struct group_source *source, const struct group_options *options,
                     struct arena *arena, struct group_result *out);

/* Whether a PodGroup stands for a part of its workload that is gone for good, like a replica beyond those that a
 * LeaderWorkerSet has, with none of its pods left. One whose whole workload is gone goes with that. */
bool group_is_left_over(const struct val *pod_group, const struct group_source *source);

/* What a pod that stands alone is placed by. NULL: unset. */
struct group_terms {
	const char *queue, *priority_class, *preemptibility;
	const char *share; /* as in group_result */
};
/* The terms of a result, copied into the arena; false, and *out as it was, when it is no group that is wanted. */
bool group_terms_of(const struct group_result *result, struct arena *arena, struct group_terms *out);

/* The name of the subgroup that a PodGroup or CompositePodGroup of scheduling.k8s.io becomes. */
const char *group_native_label(const char *name, struct arena *arena);
/* The PodGroup of scheduling.k8s.io that the pod names, NULL for none. */
const char *group_native_name(const struct val *pod);
/* The CompositePodGroup above such a group, NULL for none, and whether it is evicted as a whole. */
const char *group_native_parent(const struct val *group);
bool group_native_goes_whole(const struct val *group);
/* Whether the pod names a group of another scheduler. *api_version is that of the PodGroup with that name; NULL when what the
 * group asks for stands on its pods. */
bool group_names_neighbour(const struct val *pod, const char **api_version, const char **name);
/* What would become of a group of another scheduler, without the pods that name it. */
void group_judge_neighbour(const struct val *group, const struct group_source *source,
                           const struct group_options *options, struct arena *arena, struct group_result *out);

/* Fewest pods that satisfy the tree. */
int64_t group_minimum(const struct group_result *result);

/* The PodGroup as a document (the caller destroys it). `existing` is the stored object or NULL; with it the document is
 * the stored one brought up to date: what a user or another controller may set there stays (spec.queue,
 * spec.markUnschedulable, spec.schedulingBackoff, the node-pool label, foreign labels and annotations, and the topology
 * constraint when the workload names none). Nothing to write when val_equal(existing, document). */
struct doc *group_document(const struct group_result *result, const struct group_options *options,
                           const struct val *existing);
/* A merge patch for the pod's metadata, or NULL when the pod has everything already. The caller destroys it. */
struct doc *group_pod_patch(const struct group_result *result, const struct val *pod);

#endif
