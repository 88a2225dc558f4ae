/* Pods and nodes of core/v1, reduced to what scheduling needs. */
#ifndef ADMIT_POD_H
#define ADMIT_POD_H

#include "base/arena.h"
#include "base/labels.h"
#include "base/problems.h"
#include "object/doc.h"

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

struct pod_spec {
	const char *namespace_, *name, *uid; /* namespace "default" when absent; uid "" when absent */
	struct labels labels;
	const char *group;     /* annotation pod-group-name, NULL when absent */
	const char *subgroup;  /* label kai.scheduler/subgroup-name, NULL when absent */
	const char *scheduler; /* spec.schedulerName, "default-scheduler" when absent */
	const char *node;      /* spec.nodeName, NULL when unbound */
	const char *nominated; /* status.nominatedNodeName */
	enum pod_phase phase;
	bool deleting;              /* has a deletionTimestamp */
	bool gated;                 /* spec.schedulingGates not empty */
	int64_t creation_seconds;   /* INT64_MIN when unset */
	int64_t started_seconds;    /* status.startTime; INT64_MIN when unset */
	const char *priority_class; /* NULL when unset */
	bool has_priority;
	int32_t priority;
	int64_t task_priority; /* label kai.scheduler/task-priority, 0 when absent */
	struct resource_amount
		*requests; /* effective: max(init steps, containers + sidecars) + overhead; sorted by name;
	                                     "pods": 1 included; zero amounts left out */
	size_t request_count;
	struct pod_rules rules; /* volume_terms are filled by volume.h */
	const char **claims;    /* PersistentVolumeClaim names */
	size_t claim_count;
};

struct node_spec {
	const char *name;
	struct labels labels;
	struct taint *taints; /* only those in spec.taints */
	size_t taint_count;
	struct resource_amount
		*allocatable; /* sorted by name; status.capacity where allocatable is absent; "pods" is 110
	                                        when not given, as a kubelet has it, because simulated nodes often omit it */
	size_t allocatable_count;
	bool unschedulable; /* spec.unschedulable */
	bool ready;         /* Ready condition is not False or Unknown; a node without conditions is ready */
	bool deleting;
};

/* All decoders: 0 when usable (warnings allowed), -1 when errors were added (then *out is unusable). Strings live in the
 * arena or in the document. */
int pod_decode(const struct val *object, struct arena *arena, struct pod_spec *out, struct problems *problems);
int node_decode(const struct val *object, struct arena *arena, struct node_spec *out, struct problems *problems);

/* PriorityClass scheduling.k8s.io/v1. */
struct priority_class {
	const char *name;
	int32_t value;
	bool global_default;
};
int priority_class_decode(const struct val *object, struct arena *arena, struct priority_class *out,
                          struct problems *problems);

#endif
