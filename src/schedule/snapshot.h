/* Snapshot: Kubernetes objects turned into what the engine works on (cluster, queues, groups, gangs).
 *
 * Owns the cluster and every array it hands out. Texts are borrowed from the manifests, which must outlive it. Nothing
 * is dropped silently: an object that cannot be used is a verdict, a pod that cannot join its gang is a note on the
 * group, everything else worth knowing is a warning. */
#ifndef SCHEDULE_SNAPSHOT_H
#define SCHEDULE_SNAPSHOT_H

#include "admit/budget.h"
#include "admit/pod.h"
#include "admit/podgroup.h"
#include "admit/topology.h"
#include "base/problems.h"
#include "base/strings.h"
#include "engine/cycle/cycle.h"
#include "loop/settings.h"
#include "object/manifest.h"

#include <stdbool.h>
#include <stddef.h>

/* Annotation of a PodGroup: places kept for pods of it that were moved. Written by the scheduler, read by every cycle. */
#define KEPT_PLACES "platoon.dev/kept-places"
/* Annotation of a PodGroup whose minimum was raised: the pods with which it met the former one. */
#define MET_MINIMUM "platoon.dev/met-minimum"
/* Annotation of a Queue: what it used of the cluster in the past, see usage.h. Written by the scheduler, which reads it when it
 * starts; without one that runs it is what plans go by. */
#define PAST_USAGE "platoon.dev/past-usage"
#define KEPT_LONGEST 3600 /* seconds; an annotation that asks for more is nobody's doing but a user's */

struct device_book;
struct device_columns;
struct volume_book;
struct volume_columns;

/* Searches per kind of change for people who ask, and in cycles that go on while others wait. */
enum { SNAPSHOT_TRIALS_WHEN_ASKED = 400, SNAPSHOT_TRIALS_WHEN_LIVE = 40 };

struct snapshot_options {
	const struct settings *settings; /* borrowed; NULL: the usual */
	int64_t now_seconds;             /* time of the snapshot; never before the youngest object */
	/* Workloads above the pods, and the ConfigMap with the defaults of kinds, which counts instead of what the settings
	 * say: single pods without a PodGroup are placed by what they say.
	 * NULL: by what the pods say themselves. May be the list of objects itself. Borrowed during the call. */
	const struct manifests *owners;
	bool silent;       /* nobody reads why groups wait, so it is not looked for */
	int trials;        /* searches per kind of change that would help a group that waits; 0: none is looked for */
	bool tell_holders; /* who holds the room that groups wait for; in a snapshot, for people who ask */
	bool list_missing; /* pods that wait for a PodGroup that is not there are listed below its name; for people who ask */
	bool always_search; /* no shortcut past a search, no memory of earlier ones: for comparison in tests */
	bool remember_all;  /* live state: no proof is asked for again, not only costly ones: for tests */
};

/* The verdict on one object. Only objects about which there is something to say have one. */
struct snapshot_verdict {
	const char *kind, *namespace_, *name, *source;
	bool allowed;
	const struct problem *problems;
	size_t problem_count;
};

struct snapshot_pod {
	const struct pod_spec *spec; /* never NULL; that of a live state belongs to the version of the object it read */
	const char *namespace_, *name; /* namespace "default" when the object names none */
	/* These three as they count: what the spec says, unless a live state assumes more than the store shows. */
	const char *bound_to, *nominated; /* names of nodes, NULL for none */
	const struct pod_block *block;    /* why it must not be placed, which no node can cure; NULL mostly */
	bool deleting;
	bool releasing;   /* it occupies a node, but is on its way out */
	bool gone;        /* finished or leaving: nothing more is to be done for it */
	int64_t creation; /* seconds; list order, one minute apart, where the object does not say */
	int pod_class;    /* in the cluster */
	int node;         /* number of the node it occupies, -1 when it occupies nothing */
	int group;        /* index of its group, -1 for a pod that is only usage */
	int leaf;         /* leaf in the group's tree, -1 when it names none that exists */
	int member;       /* index in the gang's pods, -1 when it is not one */
};

/* Parallel to cycle.budgets. */
struct snapshot_budget {
	struct budget_spec spec; /* with a selector */
	int64_t pods, healthy;   /* that it covers */
	int64_t scaled, other;   /* of them: those whose maker has a scale, and those whose maker has none */
	bool outdated;           /* the status speaks of a time before the first cycle */
};

/* Parallel to cycle.groups. */
struct snapshot_group {
	struct podgroup spec; /* tree_count 0 when implicit or rejected */
	const char *namespace_, *name;
	const char *source; /* where the PodGroup was read, NULL when implicit */
	bool implicit;      /* a single pod without a PodGroup */
	bool rejected;      /* the PodGroup breaks a rule; `rejections` says which */
	const char **rejections;
	size_t rejection_count;
	int64_t creation;
	const char *pool;     /* the node pool that its label names, or else its pods; NULL for none */
	bool says_pool;       /* it has the label */
	bool never_preempts;  /* its priority class says so; a pod of it may, too */
	struct reasons notes; /* what is odd about its pods, independent of the outcome of the cycle */
	int *members;         /* gang pod index -> index in snapshot.pods */
	bool *ran;            /* per gang pod: it ran when the snapshot was taken */
	int *strays;          /* pods that belong to the group and to none of its leaves */
	size_t stray_count;
};

/* Claims that pods name, and how many pods do. */
struct claim_users {
	struct interner *names; /* "namespace/name" -> index */
	size_t *counts;
};

struct snapshot {
	struct arena *arena;
	struct cycle cycle;
	struct snapshot_pod *pods;
	size_t pod_count;
	struct snapshot_group *groups;    /* cycle.group_count */
	struct snapshot_budget *budgets;  /* cycle.budget_count */
	const struct node_spec **nodes;   /* by node number of the cluster; NULL in a live state, where those change */
	struct topology_spec *topologies; /* by topology number of the cluster */
	size_t topology_count;
	struct snapshot_verdict *verdicts;
	size_t verdict_count, verdict_capacity;
	const char **warnings;
	size_t warning_count, warning_capacity;
	struct interner *pod_names, *group_names; /* "namespace/name" -> index */
	struct volume_book *book;                 /* the volumes there are; NULL in a live state, which has its own */
	struct volume_columns *columns;
	struct interner *used_volumes; /* number of a node and name of a volume that a pod there uses */
	struct claim_users claim_users;
	struct device_book *device_book; /* the same for claims for devices; NULL in a live state */
	struct device_columns *device_columns;
	struct claim_users device_claim_users;
};

/* Never fails: whatever cannot be used is reported in the result. `options` may be NULL. */
struct snapshot *snapshot_create(const struct manifests *manifests, const struct snapshot_options *options);
void snapshot_destroy(struct snapshot *snapshot); /* NULL is a no-op */

/* After cycles have changed where pods are: counts what budgets allow now. */
void snapshot_count_budgets(struct snapshot *snapshot);

/* Whether some object was rejected. */
bool snapshot_has_rejections(const struct snapshot *snapshot);
/* The i-th PriorityClass that every installation has, also where the objects do not say so; NULL after the last. */
const char *snapshot_well_known_priority(size_t i, int32_t *value);
/* Index of a group by namespace and name, -1 when there is none. */
int snapshot_find_group(const struct snapshot *snapshot, const char *namespace_, const char *name);
/* Index in snapshot.pods, -1 when there is none. */
int snapshot_find_pod(const struct snapshot *snapshot, const char *namespace_, const char *name);

#endif
