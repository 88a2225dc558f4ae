/* Pods and nodes of core/v1, reduced to what scheduling needs. */
#ifndef ADMIT_POD_H
#define ADMIT_POD_H

#include "admit/pod_block.h"
#include "base/arena.h"
#include "base/labels.h"
#include "base/problems.h"
#include "object/derivation.h"
#include "object/doc.h"

/* Who makes the pod anew when it goes: nobody, somebody whose number of pods is known as a scale, or somebody without one. */
enum pod_maker { MAKER_NONE, MAKER_SCALED, MAKER_OTHER };
enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

/* A claim for devices that a pod names. */
struct pod_device_claim {
	const char *entry;     /* its name in spec.resourceClaims */
	const char *claim;     /* the ResourceClaim; NULL: it is to be made from the template, and is not there yet */
	const char *template_; /* NULL: the pod names a claim that is there for itself */
};

struct pod_spec {
	const char *namespace_, *name, *uid; /* namespace "default" when absent; uid "" when absent */
	struct labels labels;
	const char *group;     /* annotation pod-group-name, NULL when absent */
	const char *subgroup;  /* label kai.scheduler/subgroup-name, NULL when absent */
	const char *scheduler; /* spec.schedulerName, "default-scheduler" when absent */
	const char *node;      /* spec.nodeName, NULL when unbound */
	const char *nominated; /* status.nominatedNodeName */
	enum pod_phase phase;
	enum pod_maker maker;
	const char *replica_of; /* "StatefulSet/db": the workload of which it is a replica like others; NULL for none */
	bool deleting;          /* has a deletionTimestamp */
	bool gated;             /* spec.schedulingGates not empty */
	int64_t creation_seconds;   /* INT64_MIN when unset */
	bool ready;                 /* condition Ready is True, or it runs and has no conditions at all */
	int64_t started_seconds;    /* status.startTime, before that when it was bound; INT64_MIN when unset */
	const char *priority_class; /* NULL when unset */
	bool has_priority;
	int32_t priority;
	bool never_preempts;   /* spec.preemptionPolicy */
	int64_t task_priority; /* label kai.scheduler/task-priority, 0 when absent */
	int32_t index; /* its number in its workload, as the labels of its kind say it; INT32_MAX when they do not */
	/* effective: max(init steps, containers + sidecars) + overhead; sorted by name; "pods": 1 included; zero amounts
	 * left out */
	struct resource_amount *requests;
	size_t request_count;
	const struct pod_rules *rules; /* never NULL; what its volumes say to it is in volume_book.h */
	const char **claims;           /* PersistentVolumeClaim names, those of ephemeral volumes last */
	size_t claim_count, ephemeral_count;
	struct pod_device_claim *device_claims; /* without those that turned out not to be needed */
	size_t device_claim_count;
	const char **config_maps; /* it does not start without these; sorted, each once; "kube-root-ca.crt" left out */
	size_t config_map_count;
	const char *ungrouped;         /* why no group was found for it, as its condition says; NULL mostly */
	const struct pod_block *block; /* what of it is not served, NULL when it can be placed, or is bound */
};

/* A pod as all parts of the program read it: one block of memory beside the document it points into. */
struct decoded_pod {
	struct derived derived;
	bool usable; /* otherwise the problems say why, and `spec` is empty */
	struct pod_spec spec;
	const struct problem *problems;
	size_t problem_count;
};

/* Makes a struct decoded_pod. */
extern const struct derivation pod_derivation;

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
/* What is to be said to the author of a pod: what decoding found, and about one without a node which of its fields do
 * nothing. */
void pod_judge(const struct decoded_pod *pod, const struct val *object, struct problems *problems);
int node_decode(const struct val *object, struct arena *arena, struct node_spec *out, struct problems *problems);

/* PriorityClass scheduling.k8s.io/v1. */
struct priority_class {
	const char *name;
	int32_t value;
	bool global_default;
	bool never_preempts; /* preemptionPolicy */
};
int priority_class_decode(const struct val *object, struct arena *arena, struct priority_class *out,
                          struct problems *problems);

#endif
