/* The rules that hold after every cycle: a decision that breaks one is found, a state that was broken before is not
 * held against the cycle. Decisions are faked by writing into the gangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/scenario_run.h"

#include <string.h>

#define NODE(name, rack)                                                                                               \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: " rack                            \
	"}}, status: {allocatable: {cpu: 8, pods: 10, nvidia.com/gpu: 2}}}\n"
#define GROUP(spec)                                                                                                    \
	"---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, spec: {levels: "         \
	"[{nodeLabel: rack}]}}\n"                                                                                      \
	"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, spec: {" spec "}}\n"
#define POD(name, leaf, spec, meta)                                                                                    \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", " meta                                            \
	"annotations: {pod-group-name: g}, labels: {" leaf "}}, spec: {schedulerName: platoon, " spec                  \
	"containers: [{name: m, resources: {requests: {nvidia.com/gpu: 1}}}]}}\n"
#define LEAF(name) "kai.scheduler/subgroup-name: " name
#define ON(node) "nodeName: " node ", "
#define LEAVING "deletionTimestamp: \"2026-01-01T00:00:00Z\", "

struct move { /* pod by index in its gang */
	int pod;
	const char *node; /* NULL ends the list */
	enum member_state state;
};

struct row {
	const char *story, *text;
	struct move moves[8];
	const char *failure; /* NULL: none */
};

static void decide(struct snapshot *snapshot, const struct move *moves)
{
	struct gang *gang = &snapshot->cycle.groups[0].gang;
	for (; moves->node; moves++) {
		struct gang_pod *pod = &gang->pods[moves->pod];
		pod->state = moves->state;
		pod->node = cluster_find_node(snapshot->cycle.cluster, moves->node);
	}
}

static void check(const struct row *row)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	struct scenario_result result = {.arena = arena};
	manifests_init(&manifests);
	manifests_parse(&manifests, row->text, strlen(row->text), "test", &problems);
	assert_int_equal(problems.count, 0);
	struct snapshot *snapshot = snapshot_create(&manifests, NULL);
	struct invariants *invariants = invariants_create(snapshot);
	decide(snapshot, row->moves);
	invariants_check(invariants, 1, &result);
	bool found = false;
	for (size_t i = 0; i < result.failure_count; i++) {
		found = found || (row->failure && strstr(result.failures[i], row->failure));
		if (!row->failure)
			print_error("%s\n", result.failures[i]);
	}
	if (row->failure ? !found : result.failure_count > 0)
		fail_msg("%s: wanted %s, got %zu failures", row->story, row->failure ? row->failure : "none",
		         result.failure_count);
	invariants_destroy(invariants);
	snapshot_destroy(snapshot);
	manifests_free(&manifests);
	arena_destroy(arena);
}

static void all_rules(void **state)
{
	static const struct row rows[] = {
		{"nothing happens", NODE("n1", "r1") GROUP("minMember: 1") POD("p0", "", "", ""), {{0}}, NULL},
		{"too much on a node",
	         NODE("n1", "r1") GROUP("minMember: 3") POD("p0", "", "", "") POD("p1", "", "", "")
	                 POD("p2", "", "", ""),
	         {{0, "n1", MEMBER_RUNNING}, {1, "n1", MEMBER_RUNNING}, {2, "n1", MEMBER_RUNNING}},
	         "node n1 is over-committed: 3 of 2 nvidia.com/gpu"},
		{"reservations count too",
	         NODE("n1", "r1") GROUP("minMember: 3") POD("p0", "", "", "") POD("p1", "", "", "")
	                 POD("p2", "", "", ""),
	         {{0, "n1", MEMBER_RUNNING}, {1, "n1", MEMBER_RESERVED}, {2, "n1", MEMBER_RESERVED}},
	         "over-committed"},
		{"a reservation may wait for one that leaves",
	         NODE("n1", "r1") GROUP("minMember: 1") POD("l0", "", ON("n1"), LEAVING)
	                 POD("l1", "", ON("n1"), LEAVING) POD("p0", "", "", ""),
	         {{2, "n1", MEMBER_RESERVED}},
	         NULL},
		{"a binding may not",
	         NODE("n1", "r1") GROUP("minMember: 1") POD("l0", "", ON("n1"), LEAVING)
	                 POD("l1", "", ON("n1"), LEAVING) POD("p0", "", "", ""),
	         {{2, "n1", MEMBER_RUNNING}},
	         "over-committed"},
		{"full beyond capacity before: not the cycle's doing",
	         NODE("n1", "r1") GROUP("minMember: 1") POD("p0", "", ON("n1"), "") POD("p1", "", ON("n1"), "")
	                 POD("p2", "", ON("n1"), ""),
	         {{0}},
	         NULL},
		{"below its minimum",
	         NODE("n1", "r1") GROUP("minMember: 2") POD("p0", "", "", "") POD("p1", "", "", ""),
	         {{0, "n1", MEMBER_RUNNING}},
	         "default/g is below its minimum with 1 pods placed"},
		{"was below before, nothing added",
	         NODE("n1", "r1") GROUP("minMember: 3") POD("p0", "", ON("n1"), "") POD("p1", "", "", ""),
	         {{0}},
	         NULL},
		{"was below before, something added",
	         NODE("n1", "r1") GROUP("minMember: 3") POD("p0", "", ON("n1"), "") POD("p1", "", "", "")
	                 POD("p2", "", "", ""),
	         {{1, "n1", MEMBER_RUNNING}},
	         "below its minimum"},
		{"two of three children are enough",
	         NODE("n1", "r1") NODE("n2", "r2") GROUP("minSubGroup: 2, subGroups: [{name: a, minMember: 1}, {name: "
	                                                 "b, minMember: 1}, {name: c, minMember: 2}]")
	                 POD("p0", LEAF("a"), "", "") POD("p1", LEAF("b"), "", "") POD("p2", LEAF("c"), "", "")
	                         POD("p3", LEAF("c"), "", ""),
	         {{0, "n1", MEMBER_RUNNING}, {1, "n1", MEMBER_RUNNING}},
	         NULL},
		{"the third may not be started halfway",
	         NODE("n1", "r1") NODE("n2", "r2") GROUP("minSubGroup: 2, subGroups: [{name: a, minMember: 1}, {name: "
	                                                 "b, minMember: 1}, {name: c, minMember: 2}]")
	                 POD("p0", LEAF("a"), "", "") POD("p1", LEAF("b"), "", "") POD("p2", LEAF("c"), "", "")
	                         POD("p3", LEAF("c"), "", ""),
	         {{0, "n1", MEMBER_RUNNING}, {1, "n1", MEMBER_RUNNING}, {2, "n2", MEMBER_RUNNING}},
	         "subgroup c was started below its minimum"},
		{"a required level torn apart",
	         NODE("n1", "r1") NODE("n2", "r2")
	                 GROUP("minMember: 2, topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}")
	                         POD("p0", "", "", "") POD("p1", "", "", ""),
	         {{0, "n1", MEMBER_RUNNING}, {1, "n2", MEMBER_RUNNING}},
	         "the required level of the group is violated"},
		{"torn apart before, nothing added",
	         NODE("n1", "r1") NODE("n2", "r2")
	                 GROUP("minMember: 2, topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}")
	                         POD("p0", "", ON("n1"), "") POD("p1", "", ON("n2"), ""),
	         {{0}},
	         NULL},
		{"moved while running",
	         NODE("n1", "r1") NODE("n2", "r2") GROUP("minMember: 1") POD("p0", "", ON("n1"), ""),
	         {{0, "n2", MEMBER_RUNNING}},
	         "pod default/p0 was bound to n1 and is now bound to n2"},
		{"taken off its node",
	         NODE("n1", "r1") NODE("n2", "r2") GROUP("minMember: 1") POD("p0", "", ON("n1"), ""),
	         {{0, "n2", MEMBER_RESERVED}},
	         "was bound to n1 and is now not bound"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
