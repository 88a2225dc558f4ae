/* A trace: gangs that arrive at a cluster over time, each with its pods, and when they leave. Read from objects that
 * were recorded on a cluster; a table of instances is turned into such objects first. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "object/manifest.h"
#include "loop/settings.h"

#define TRACE_NEVER INT64_MAX
#define TRACE_ALONE SIZE_MAX
#define TRACE_LONGEST (INT64_C(10) * 366 * 86400) /* seconds that anything may be given as: ten years */

/* Annotations that say more than creationTimestamp does, in seconds. */
#define TRACE_ARRIVES "platoon.dev/arrives"  /* from the begin of the trace */
#define TRACE_LEAVES "platoon.dev/leaves"    /* the same: the user deletes it then, wherever it is */
#define TRACE_RUNS "platoon.dev/run-seconds" /* after its start it ends by itself */

/* The end of a pod that was recorded before it came: kind Departure of platoon.dev, with the names of the pod and one of
 * the last two as a field of its own. */
#define TRACE_DEPARTURE "Departure"
#define TRACE_API "platoon.dev/v1alpha1"

struct trace_pod {
	const char *namespace_, *name;
	size_t gang;                   /* TRACE_ALONE for a pod without a PodGroup */
	const struct val *object;      /* its node, status and uid do not count */
	const char *fixed;             /* the node of a pod that is not ours to place; NULL: ours */
	int64_t arrives, leaves, runs; /* TRACE_NEVER */
};

struct trace_gang {
	const char *namespace_, *name;
	const struct val *object; /* the PodGroup */
	int64_t arrives;
	size_t pods; /* that belong to it */
};

struct trace {
	struct arena *arena;
	const struct manifest **frame; /* nodes, queues, topologies and so on: there from the begin */
	size_t frame_count;
	struct trace_gang *gangs;
	size_t gang_count;
	struct trace_pod *pods; /* by arrival, then namespace and name */
	size_t pod_count;
	int64_t last; /* second at which something arrives or leaves, if nothing has to wait */
};

/* Pods and PodGroups arrive at their TRACE_ARRIVES, else at their creationTimestamp, counted from the first. Pods of other
 * schedulers stay on their nodes, and have no effect without one. Finished pods are left out. Everything is in the arena
 * and borrows from the objects. NULL, and problems, when there is nothing to place or nothing to place it on. */
struct trace *trace_read(const struct manifests *objects, const struct settings *settings, struct arena *arena,
                         struct problems *problems);

/* Turns comma separated values with a header into objects, as YAML. A line is one instance. Columns, in any order, others
 * are left alone:
 *   instance_sn (or instance, name)   name
 *   app_name (or gang, job, group)    instances of one group that arrive in the same second are one gang
 *   role                              a subgroup of the gang for each
 *   cpu_request, gpu_request, memory_request (or cpu, gpu, memory_gib)   cores, devices, GiB
 *   max_instance_per_node             of one group and role; -1 or empty: any number
 *   creation_time (or arrival)        seconds; empty: before the begin, which is second 0
 *   deletion_time                     seconds; empty: after the end
 *   duration                          seconds after the start, instead of deletion_time
 *   queue
 * `nodes` are copied with what max_instance_per_node needs of them. -1 when there were errors, each with its line. */
int trace_of_table(const char *text, size_t length, const char *source, const struct manifests *nodes,
                   struct buffer *out, struct problems *problems);

/* An amount that sums can be made of: not negative, and at most a million million. */
int64_t trace_cap(int64_t amount);
/* What a Node has of a resource, in the scale of the engine; 0 when it does not say. */
int64_t trace_node_amount(const struct val *node, const char *resource);

#endif
