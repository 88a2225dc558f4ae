/* What is said of claims that the devices of a node do not serve, and of those that are not served at all. */
#include "fixtures/snapshot_fixture.h"

#include "schedule/plan.h"

#include <stdio.h>
#include <string.h>

#define A(value) "attributes: {root: {string: " value "}}"
#define DRAWS(amount) "consumesCounters: [{counterSet: s, counters: {parts: {value: " amount "}}}]"

struct row {
	const char *name, *devices, *claim, *says; /* "": it is placed */
};

static void say(const struct row *row)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE};
	char text[4096];
	struct snapshot_fixture fixture;
	struct arena *arena = arena_create();
	snprintf(
		text, sizeof(text),
		"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {pods: 9}}}\n"
		"---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: "
		"[{cel: {expression: \"device.driver == 'd.example.com'\"}}]}}\n"
		"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c}, spec: {driver: "
		"d.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 2}, sharedCounters: "
		"[{name: s, counters: {parts: {value: 4}}}]}}\n"
		"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: "
		"d.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 2}, devices: [%s]}}\n"
		"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: ns}, "
		"spec: {devices: {%s}}}\n"
		"---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, spec: {schedulerName: platoon, "
		"resourceClaims: [{name: c, resourceClaimName: c}], containers: [{name: c}]}}\n",
		row->devices, row->claim);
	snapshot_fixture_open(&fixture, text);
	struct plan *plan = plan_run(fixture.snapshot, actions, 1);
	const char *reasons = plan_group_message(&plan->groups[0], arena);
	bool right = *row->says ? plan->binding_count == 0 && strstr(reasons, row->says) : plan->binding_count == 1;
	if (!right)
		fail_msg("%s: \"%s\" instead of \"%s\"", row->name, reasons, row->says);
	arena_destroy(arena);
	snapshot_fixture_close(&fixture);
}

#define ONE(more) "requests: [{name: g, exactly: {deviceClassName: gpu" more "}}]"
#define OF_ONE_ROOT ", constraints: [{matchAttribute: d.example.com/root}]"
#define OF_TWO_ROOTS ", constraints: [{distinctAttribute: d.example.com/root}]"

static void devices_that_do_not_go_together(void **state)
{
	static const struct row rows[] = {
		{"one root", "{name: a, " A("r0") "}, {name: b, " A("r0") "}", ONE(", count: 2") OF_ONE_ROOT, ""},
		{"no common root", "{name: a, " A("r0") "}, {name: b, " A("r1") "}", ONE(", count: 2") OF_ONE_ROOT,
	         "1 whose devices for request g have no common d.example.com/root"},
		{"two roots", "{name: a, " A("r0") "}, {name: b, " A("r1") "}", ONE(", count: 2") OF_TWO_ROOTS, ""},
		{"one root for two", "{name: a, " A("r0") "}, {name: b, " A("r0") "}", ONE(", count: 2") OF_TWO_ROOTS,
	         "1 whose devices for request g do not differ in d.example.com/root"},
		{"no such attribute", "{name: a}", ONE("") OF_ONE_ROOT,
	         "1 whose devices for request g have no common d.example.com/root"},
		{"a counter", "{name: a, " DRAWS("3") "}, {name: b, " DRAWS("3") "}", ONE(", count: 2"),
	         "1 with too little of counter parts of s for request g"},
		{"a counter that suffices", "{name: a, " DRAWS("2") "}, {name: b, " DRAWS("2") "}", ONE(", count: 2"),
	         ""},
		{"all of them", "{name: a}, {name: b}", ONE(", allocationMode: All"), ""},
		{"all, and one is tainted", "{name: a}, {name: b, taints: [{key: bad, effect: NoSchedule}]}",
	         ONE(", allocationMode: All"), "1 without enough free devices for request g"},
		{"the second choice", "{name: a}",
	         "requests: [{name: g, firstAvailable: [{name: many, deviceClassName: gpu, count: 2}, {name: few, "
	         "deviceClassName: gpu}]}]",
	         ""},
		{"neither choice", "{name: a}",
	         "requests: [{name: g, firstAvailable: [{name: many, deviceClassName: gpu, count: 2}, {name: few, "
	         "deviceClassName: gpu, count: 3}]}]",
	         "Insufficient devices/gpu"},
		{"a capacity", "{name: a, capacity: {memory: {value: 40Gi}}}",
	         ONE(", capacity: {requests: {memory: 40Gi}}"), ""},
		{"a larger one", "{name: a, capacity: {memory: {value: 40Gi}}}",
	         ONE(", capacity: {requests: {memory: 41Gi}}"), "Insufficient devices/gpu with memory"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(&rows[i]);
	(void)state;
}

static void what_is_not_served(void **state)
{
	static const struct row rows[] = {
		{"a mode", "{name: a}", ONE(", allocationMode: Some"), "allocationMode is not served"},
		{"a constraint", "{name: a}", ONE("") ", constraints: [{sameAttribute: x}]",
	         "spec.devices.constraints[0].sameAttribute is not served"},
		{"a device", "{name: a, bindingConditions: [ready]}", ONE(""),
	         "bindingConditions of device d.example.com/n1/a, which its request selects, is not served"},
		{"a shared device", "{name: a, allowMultipleAllocations: true}", ONE(""),
	         "allowMultipleAllocations of device d.example.com/n1/a"},
		{"a fraction", "{name: a, " DRAWS("500m") "}", ONE(""), "consumesCounters with fractions of device"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(&rows[i]);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_that_do_not_go_together),
		cmocka_unit_test(what_is_not_served),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
