/* Settings in a simulated cluster: manifests to write there, and questions about what came of them. */
#ifndef TEST_LOOP_SETTINGS_STORY_H
#define TEST_LOOP_SETTINGS_STORY_H

#include "sim/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONTAINERS "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]"
#define QUEUE(name)                                                                                                    \
	"---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: " name "}, spec: {resources: {cpu: "    \
	"{quota: -1, limit: -1, overQuotaWeight: 1}}}}\n"
#define NODE(name)                                                                                                     \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: r1}}, status: {allocatable: "     \
	"{cpu: 8, memory: 8Gi, pods: 100}, conditions: [{type: Ready, status: 'True'}]}}\n"
#define GPU_NODE(name)                                                                                                 \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: r9}}, status: {allocatable: "     \
	"{cpu: 8, memory: 8Gi, pods: 100, nvidia.com/gpu: 8}, conditions: [{type: Ready, status: 'True'}]}}\n"
#define POD_WITH(name, requests, affinity)                                                                             \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {schedulerName: platoon, " affinity        \
	"containers: [{name: c, image: i, resources: {limits: {" requests "}}}]}}\n"
#define PREFERS(label, value)                                                                                          \
	"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "         \
	"{matchExpressions: [{key: " label ", operator: In, values: [" value "]}]}}]}}, "
#define TOPOLOGY                                                                                                       \
	"---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: "  \
	"rack}]}}\n"
#define POD(name, scheduler)                                                                                           \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {schedulerName: " scheduler                \
	", " CONTAINERS "}}\n"
/* Two segments of one pod each. */
#define JOB(name, scheduler, metadata)                                                                                 \
	"---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " name metadata                                       \
	"}, spec: {parallelism: 2, completions: "                                                                      \
	"2, completionMode: Indexed, template: {metadata: {annotations: {kai.scheduler/segment-size: '1', "            \
	"kai.scheduler/topology: t, kai.scheduler/segment-topology-required-placement: rack}}, spec: "                 \
	"{schedulerName: " scheduler ", restartPolicy: Never, " CONTAINERS "}}}}\n"
#define ROLES(name)                                                                                                    \
	"---\n{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleBasedGroup, metadata: {name: " name                  \
	"}, spec: {roles: "                                                                                            \
	"[{name: r, replicas: 1, standalonePattern: {template: {spec: {" CONTAINERS "}}}}]}}\n"
#define DEFAULTS(data)                                                                                                 \
	"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-grouping-defaults, namespace: kube-system}, " \
	"data: {" data "}}\n"

#define SIZED_POD(name, cpu, ...)                                                                                      \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name __VA_ARGS__ "}, spec: {schedulerName: platoon, "     \
	"containers: [{name: c, image: i, resources: {requests: {cpu: " cpu "}}}]}}\n"

/* A pod that takes all of a node. */
#define WHOLE(name, priority)                                                                                          \
	"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: of-" name "}, value: " priority \
	"}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: " name                           \
	"}}, spec: {schedulerName: platoon, priorityClassName: of-" name                                               \
	", containers: [{name: c, image: i, resources: {requests: {cpu: 8}}}]}}\n"

int story_open(void **state);
int story_close(void **state);
void story_apply(struct simulation *simulation, const char *yaml);
void story_run(struct simulation *simulation);
const struct val *story_object(struct simulation *simulation, const char *group, const char *resource,
                               const char *name);
const char *story_node_of(struct simulation *simulation, const char *pod);
/* The first object of a kind whose name starts so; its name may end in something random. */
const struct val *story_starting(struct simulation *simulation, const char *group, const char *resource,
                                 const char *prefix);
const struct val *story_group_of(struct simulation *simulation, const char *prefix);
const char *story_queue_of(struct simulation *simulation, const char *prefix);
const char *story_segment_of(struct simulation *simulation, const char *prefix);
/* The settings as they are, to be changed and given back before time passes. */
struct settings story_now(struct simulation *simulation);
/* What the dashboard answers to a pasted manifest: whether the pod would be placed. */
bool story_would_place(struct simulation *simulation, const char *manifest, const char *pod);

#endif
