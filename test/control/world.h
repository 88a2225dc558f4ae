/* A small cluster as text, and what the snapshot makes of it. */
#ifndef TEST_CONTROL_WORLD_H
#define TEST_CONTROL_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedule/snapshot.h"

/* Objects as one-line YAML documents. */
#define NODE(name, rack)                                                                                               \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: " rack                            \
	"}}, status: {allocatable: {cpu: 8, memory: 32Gi, pods: 10, nvidia.com/gpu: 4}}}\n"
#define TOPOLOGY                                                                                                       \
	"---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, "                        \
	"spec: {levels: [{nodeLabel: rack}]}}\n"
#define QUEUE(name)                                                                                                    \
	"---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: " name                                  \
	"}, spec: {resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: "  \
	"-1}}}}\n"
#define GROUP(name, spec)                                                                                              \
	"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: " name ", namespace: ns}, "    \
	"spec: {" spec "}}\n"
/* meta and spec are further fields, each ending in a comma. */
#define POD(name, meta, spec, status)                                                                                  \
	"---\n{apiVersion: v1, kind: Pod, metadata: {" meta "name: " name ", namespace: ns}, spec: {" spec             \
	"containers: [{name: main, resources: {requests: {cpu: 1, nvidia.com/gpu: 1}}}]}, status: {" status "}}\n"
#define OF(group) "annotations: {pod-group-name: " group "}, "
#define IN(group, leaf) "annotations: {pod-group-name: " group "}, labels: {kai.scheduler/subgroup-name: " leaf "}, "
#define OURS "schedulerName: platoon, "
#define ON(node) "schedulerName: platoon, nodeName: " node ", "

struct world {
	struct manifests manifests;
	struct snapshot *snapshot;
};

void world_open(struct world *world, const char *text);
void world_close(struct world *world);
/* Group and pod in namespace ns; the test fails when there is none. */
const struct cycle_group *world_group(const struct world *world, const char *name);
const struct snapshot_group *world_about(const struct world *world, const char *name);
const struct gang_pod *world_member(const struct world *world, const char *pod);
/* The test fails unless some warning, or some message of a verdict, contains the text. */
void world_expect_warning(const struct world *world, const char *text);
void world_expect_verdict(const struct world *world, const char *name, bool allowed, const char *text);

#endif
