/* Table tests of grouping: objects as YAML, the last of them the pod, and one line that says what must come out. */
#ifndef TEST_GROUP_STORY_H
#define TEST_GROUP_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "group/group.h"
#include "object/manifest.h"

struct story {
	const char *name;
	const char *objects; /* YAML documents; the last is the pod that is grouped */
	/* What comes out:
	 *   none: REASON
	 *   refused ! ABOUT...
	 *   NAME min=N[/minSubGroup] [SUBGROUP...] [-> LEAF] [#SEGMENT] [! ABOUT...]
	 * where min counts the pods over the tree and SUBGROUP is
	 *   name[<parent][:minMember][/minSubGroup][@topology,required,preferred] */
	const char *expect;
};

struct story_run {
	struct arena *arena;
	struct manifests manifests;
	struct group_source source;
	const struct val *pod;
	struct group_result result;
};

/* Parses the objects and groups the pod. Every group that comes out is also checked: its tree is one, and admission
 * takes it. */
void story_open(struct story_run *run, const char *objects, const struct group_options *options);
void story_close(struct story_run *run);

void story_check(const struct story *story, const struct group_options *options);
void story_check_all(const struct story *stories, size_t count);

/* The parts most stories are made of. `more` are further fields, each ending in a comma. */
#define OWNED(api_version, kind, name)                                                                                 \
	"ownerReferences: [{apiVersion: " api_version ", kind: " kind ", name: " name ", uid: u1, controller: "        \
	"true}], "
#define POD(more) "---\n{apiVersion: v1, kind: Pod, metadata: {" more "name: p, namespace: ns, uid: pu}, spec: {}}\n"
#define WORKLOAD(api_version, kind, more, spec)                                                                        \
	"---\n{apiVersion: " api_version ", kind: " kind ", metadata: {" more                                          \
	"name: w, namespace: ns, uid: u1}, spec: {" spec "}}\n"
#define SEGMENTS(size)                                                                                                 \
	"kai.scheduler/segment-size: \"" size "\", kai.scheduler/segment-topology-required-placement: rack, "
#define TOPOLOGY "kai.scheduler/topology: topo, "
#define TEMPLATE(annotations) "template: {metadata: {annotations: {" annotations "}}}"

#endif
