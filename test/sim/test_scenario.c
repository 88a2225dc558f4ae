/* Scenarios: what holds passes, and every kind of expectation that does not hold really fails, by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/scenario.h"

#include <stdio.h>
#include <string.h>

/* Two racks of one node with 4 GPUs; `pair` fits into a rack, `huge` nowhere, `old` runs on n1. */
static const char objects[] =
	"  objects:\n"
	"  - {apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: cluster}, spec: {levels: "
	"[{nodeLabel: rack}]}}\n"
	"  - {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {rack: r1}}, status: {allocatable: {cpu: 8, "
	"pods: 10, nvidia.com/gpu: 4}}}\n"
	"  - {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {rack: r2}}, status: {allocatable: {cpu: 8, "
	"pods: 10, nvidia.com/gpu: 4}}}\n"
	"  - {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: old}, spec: {minMember: 1}}\n"
	"  - {apiVersion: v1, kind: Pod, metadata: {name: old-0, annotations: {pod-group-name: old}}, spec: "
	"{schedulerName: platoon,\n"
	"     nodeName: n1, containers: [{name: m, resources: {requests: {nvidia.com/gpu: 3}}}]}, status: {phase: "
	"Running}}\n"
	"  - {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: pair}, spec: {subGroups: "
	"[{name: a, minMember: 1}, {name: b, minMember: 1}],\n"
	"     topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}}}\n"
	"  - {apiVersion: v1, kind: Pod, metadata: {name: pair-a, annotations: {pod-group-name: pair}, labels: "
	"{kai.scheduler/subgroup-name: a}},\n"
	"     spec: {schedulerName: platoon, containers: [{name: m, resources: {requests: {nvidia.com/gpu: 1}}}]}}\n"
	"  - {apiVersion: v1, kind: Pod, metadata: {name: pair-b, annotations: {pod-group-name: pair}, labels: "
	"{kai.scheduler/subgroup-name: b}},\n"
	"     spec: {schedulerName: platoon, containers: [{name: m, resources: {requests: {nvidia.com/gpu: 1}}}]}}\n"
	"  - {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: huge}, spec: {minMember: 1}}\n"
	"  - {apiVersion: v1, kind: Pod, metadata: {name: huge-0, annotations: {pod-group-name: huge}}, spec: "
	"{schedulerName: platoon,\n"
	"     containers: [{name: m, resources: {requests: {nvidia.com/gpu: 5}}}]}}\n";

static const char bad_group[] =
	"  objects:\n"
	"  - {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, spec: {minMember: -1}}\n";
static const char warned_group[] =
	"  objects:\n"
	"  - {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g},\n"
	"     spec: {subGroups: [{name: box, minMember: 1}, {name: a, parent: box, minMember: 1}]}}\n";

struct row {
	const char *story;
	const char *rest;    /* below spec */
	const char *failure; /* part of some failure; NULL: the scenario passes */
};

/* Failures joined into `out`. */
static void run(const char *given, const char *rest, char *out, size_t size)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	struct scenario_result result;
	char *text = arena_printf(arena,
	                          "apiVersion: platoon.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n%s%s",
	                          given, rest);
	manifests_init(&manifests);
	manifests_parse(&manifests, text, strlen(text), "test", &problems);
	assert_int_equal(problems.count, 0);
	assert_int_equal(manifests.count, 1);
	assert_true(scenario_is(&manifests.items[0]));
	scenario_run(&manifests.items[0], NULL, NULL, arena, &result);
	assert_string_equal(result.name, "s");
	out[0] = '\0';
	for (size_t i = 0; i < result.failure_count; i++) {
		size_t used = strlen(out);
		snprintf(out + used, size - used, "%s; ", result.failures[i]);
	}
	manifests_free(&manifests);
	arena_destroy(arena);
}

static void check_rows(const char *given, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char got[4096];
		run(given, rows[i].rest, got, sizeof(got));
		if (rows[i].failure ? !strstr(got, rows[i].failure) : got[0] != '\0')
			fail_msg("%s: wanted %s, got: %s", rows[i].story,
			         rows[i].failure ? rows[i].failure : "no failure", got);
	}
}

#define RUN "  run: {actions: [allocate], cycles: 1}\n"
#define GROUPS(text) RUN "  expect: {groups: {" text "}}\n"
#define PODS(text) RUN "  expect: {pods: {" text "}}\n"
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void groups(void **state)
{
	static const struct row rows[] = {
		{"all of it holds",
	         GROUPS("default/pair: {placed: 2, pending: 0, evicted: 0, leaves: {a: 1, b: 1}, domains: {rack: 1}, "
	                "impossible: false, "
	                "subGroups: {a: {domains: {rack: 1}}}}, default/huge: {impossible: true, placed: 0, pending: "
	                "1}, "
	                "default/old: {placed: 0, pending: 0}"),
	         NULL},
		{"placed", GROUPS("default/pair: {placed: 1}"), "default/pair: expected placed 1, got 2"},
		{"running pods are not placed", GROUPS("default/old: {placed: 1}"), "expected placed 1, got 0"},
		{"pending", GROUPS("default/huge: {pending: 0}"), "default/huge: expected pending 0, got 1"},
		{"evicted", GROUPS("default/old: {evicted: 1}"), "default/old: expected evicted 1, got 0"},
		{"leaves", GROUPS("default/pair: {leaves: {a: 2}}"), "expected pods in leaf a 2, got 1"},
		{"no such leaf", GROUPS("default/pair: {leaves: {c: 0}}"), "there is no leaf c"},
		{"a proof that is not there", GROUPS("default/pair: {impossible: true}"),
	         "expected a proved refusal, got state Placed"},
		{"a proof nobody wanted", GROUPS("default/huge: {impossible: false}"),
	         "expected no proved refusal, got state Never"},
		{"domains", GROUPS("default/pair: {domains: {rack: 2}}"), "expected domains of rack 2, got 1"},
		{"domains of nothing", GROUPS("default/huge: {domains: {rack: 1}}"),
	         "expected domains of rack 1, got 0"},
		{"not a level", GROUPS("default/pair: {domains: {zone: 1}}"), "zone is not a level"},
		{"domains of a subgroup", GROUPS("default/pair: {subGroups: {b: {domains: {rack: 2}}}}"),
	         "subgroup b: expected domains"},
		{"no such subgroup", GROUPS("default/pair: {subGroups: {c: {domains: {rack: 1}}}}"),
	         "there is no such subgroup"},
		{"no such group", GROUPS("default/ghost: {placed: 0}"), "default/ghost: there is no such group"},
		{"a name without namespace", GROUPS("pair: {placed: 2}"), "pair: there is no such group"},
		{"unknown key", GROUPS("default/pair: {plced: 2}"), "default/pair.plced: not a key"},
		{"unknown key of a subgroup", GROUPS("default/pair: {subGroups: {a: {placed: 1}}}"),
	         "placed: not a key"},
		{"not a number", GROUPS("default/pair: {placed: two}"), "must be a whole number"},
		{"not a truth", GROUPS("default/pair: {impossible: 1}"), "must be true or false"},
		{"not a map", GROUPS("default/pair: {leaves: [a]}"), "leaves must be a map"},
		{"not a map either", GROUPS("default/pair: {domains: 3}"), "domains must be a map"},
		{"a list of groups", RUN "  expect: {groups: [default/pair]}\n", "spec.expect.groups: must be a map"},
	};
	check_rows(objects, rows, COUNT(rows));
}

static void pods(void **state)
{
	static const struct row rows[] = {
		{"all of it holds",
	         PODS("default/pair-a: {state: Placed, node: n2}, default/old-0: {state: Running, node: n1}, "
	              "default/huge-0: {state: Pending}"),
	         NULL},
		{"state", PODS("default/pair-a: {state: Pending}"),
	         "default/pair-a: expected state Pending, got Placed"},
		{"running is not placed", PODS("default/old-0: {state: Placed}"), "expected state Placed, got Running"},
		{"evicted", PODS("default/old-0: {state: Evicted}"), "expected state Evicted, got Running"},
		{"node", PODS("default/pair-a: {node: n1}"), "default/pair-a: expected node n1, got n2"},
		{"no node at all", PODS("default/huge-0: {node: n1}"), "expected node n1, got no node"},
		{"unknown state", PODS("default/pair-a: {state: placed}"),
	         "state must be Placed, Pending, Running or Evicted"},
		{"no such pod", PODS("default/ghost: {state: Pending}"), "there is no such pod"},
		{"unknown key", PODS("default/pair-a: {nodes: n2}"), "default/pair-a.nodes: not a key"},
		{"a list of pods", RUN "  expect: {pods: [default/pair-a]}\n", "spec.expect.pods: must be a map"},
	};
	check_rows(objects, rows, COUNT(rows));
}

static void admission(void **state)
{
	static const struct row refused[] = {
		{"refused as expected", "  expect: {admission: {allowed: false, contains: [minMember]}}\n", NULL},
		{"expected to be allowed", "  expect: {admission: {allowed: true}}\n", "expected allowed, got refused"},
		{"another message", "  expect: {admission: {contains: [minSubGroup]}}\n",
	         "expected a message with \"minSubGroup\""},
		{"unknown key", "  expect: {admission: {alowed: false}}\n", "spec.expect.admission.alowed: not a key"},
		{"not a truth", "  expect: {admission: {allowed: 0}}\n", "must be true or false"},
		{"not a list", "  expect: {admission: {contains: minMember}}\n", "must be a list"},
	};
	static const struct row warned[] = {
		{"a warning is a message and no refusal",
	         "  expect: {admission: {allowed: true, contains: [minMember]}}\n", NULL},
		{"but no refusal", "  expect: {admission: {allowed: false}}\n", "expected refused, got allowed"},
	};
	static const struct row nothing[] = {
		{"nothing to judge", "  expect: {admission: {allowed: true}}\n", "there is no object to judge"},
	};
	check_rows(bad_group, refused, COUNT(refused));
	check_rows(warned_group, warned, COUNT(warned));
	check_rows("  objects: []\n", nothing, COUNT(nothing));
	static const struct row foreign[] = {
		{"a kind nobody judges", "  expect: {admission: {allowed: true}}\n",
	         "not supported yet: admission of kind Secret"},
	};
	check_rows("  objects: [{apiVersion: v1, kind: Secret, metadata: {name: c}}]\n", foreign, COUNT(foreign));
}

#define EXPECT "  expect: {groups: {default/pair: {placed: 2}}}\n"

/* What cannot be run or is not understood never passes. */
static void runs(void **state)
{
	static const struct row rows[] = {
		{"several cycles", "  run: {actions: [allocate], cycles: 3}\n" EXPECT, NULL},
		{"an action twice", "  run: {actions: [allocate, allocate], cycles: 1}\n" EXPECT, NULL},
		{"every action, until nothing changes", EXPECT, NULL},
		{"some actions", "  run: {actions: [allocate, reclaim], cycles: 1}\n" EXPECT, NULL},
		{"no such action", "  run: {actions: [alocate], cycles: 1}\n" EXPECT, "\"alocate\" is not an action"},
		{"all actions once", "  run: {cycles: 1}\n" EXPECT, NULL},
		{"one action until nothing changes", "  run: {actions: [allocate]}\n" EXPECT, NULL},
		{"an empty list of actions", "  run: {actions: [], cycles: 1}\n" EXPECT,
	         "spec.run.actions: must be a list"},
		{"zero cycles", "  run: {actions: [allocate], cycles: 0}\n" EXPECT, "spec.run.cycles: must be"},
		{"unknown key of the run", "  run: {actions: [allocate], cycles: 1, until: end}\n" EXPECT,
	         "spec.run.until: not a key"},
		{"unknown key of the spec", RUN "  expects: {}\n" EXPECT, "spec.expects: not a key"},
		{"unknown key of expect", RUN "  expect: {group: {}}\n", "spec.expect.group: not a key"},
		{"nothing expected", RUN, "must expect something"},
		{"empty expectation", RUN "  expect: {}\n", "must expect something"},
		{"objects that must exist", RUN "  expect: {podGroups: [{spec: {minMember: 77}}]}\n",
	         "spec.expect.podGroups[0]: there is no PodGroup like"},
	};
	check_rows(objects, rows, COUNT(rows));
	static const struct row without[] = {
		{"no objects", RUN EXPECT, "spec.objects: must be a list"},
	};
	check_rows("", without, COUNT(without));
	static const struct row broken[] = {
		{"an object without kind", RUN EXPECT, "spec.objects[0]"},
	};
	check_rows("  objects: [{metadata: {name: x}}]\n", broken, COUNT(broken));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(pods),
		cmocka_unit_test(admission),
		cmocka_unit_test(runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
