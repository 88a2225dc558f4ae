/* Gangs with claims for devices are placed exactly where brute force finds devices for all of them, and the devices that are
 * chosen then are ones that may be: on random slices, classes, selectors, taints, allocations and nodes. Selectors overlap in
 * every way. What brute force knows of an expression is a function of C beside its text, not the evaluator. */
#include "schedule/device_choice.h"
#include "schedule/plan.h"

#include "object/manifest.h"
#include "property/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 20000, MOST_NODES = 3, MOST_DEVICES = 12, MOST_PODS = 4, MOST_UNITS = 16 };

struct device {
	int node, a;
	bool b, tainted, taken;
};

static bool is_any(const struct device *device)
{
	return device != NULL;
}
static bool is_a0(const struct device *device)
{
	return device->a == 0;
}
static bool is_a1_up(const struct device *device)
{
	return device->a >= 1;
}
static bool is_b(const struct device *device)
{
	return device->b;
}
static bool is_not_b(const struct device *device)
{
	return !device->b;
}
static bool is_a2_or_b(const struct device *device)
{
	return device->a == 2 || device->b;
}

#define D "device.attributes['d.example.com']."
static const struct {
	const char *text; /* "" for none */
	bool (*selects)(const struct device *device);
} selectors[] = {
	{"", is_any},  {D "a == 0", is_a0},   {D "a >= 1", is_a1_up},
	{D "b", is_b}, {"!" D "b", is_not_b}, {D "a == 2 || " D "b", is_a2_or_b},
};
enum { SELECTORS = sizeof(selectors) / sizeof(*selectors) };

struct unit { /* one device that a pod wants */
	int pod, selector;
	bool tolerates;
};

struct instance {
	struct random random;
	int node_count, device_count, pod_count, unit_count;
	struct device devices[MOST_DEVICES];
	struct unit units[MOST_UNITS];
	struct buffer text;
};

static void add_devices(struct instance *in)
{
	struct buffer *out = &in->text;
	for (int n = 0; n < in->node_count; n++) {
		int count = (int)random_range(&in->random, 0, MOST_DEVICES / MOST_NODES);
		buffer_printf(
			out,
			"---\n{apiVersion: v1, kind: Node, metadata: {name: n%d}, status: {allocatable: {pods: 9}}}\n"
			"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s%d}, spec: "
			"{driver: d.example.com, nodeName: n%d, pool: {name: n%d, generation: 1, "
			"resourceSliceCount: 1}, devices: [",
			n, n, n, n);
		for (int i = 0; i < count; i++) {
			struct device *device = &in->devices[in->device_count];
			*device = (struct device){.node = n,
			                          .a = (int)random_range(&in->random, 0, 2),
			                          .b = random_chance(&in->random, 50),
			                          .tainted = random_chance(&in->random, 15)};
			buffer_printf(out, "%s{name: d%d, attributes: {a: {int: %d}, b: {bool: %s}}%s}", i ? ", " : "",
			              in->device_count++, device->a, device->b ? "true" : "false",
			              device->tainted ? ", taints: [{key: bad, effect: NoSchedule}]" : "");
		}
		buffer_printf(out, "]}}\n");
	}
}

/* Some devices are allocated to claims that nobody here uses, or to a pod that runs. */
static void take_devices(struct instance *in)
{
	for (int i = 0; i < in->device_count; i++) {
		struct device *device = &in->devices[i];
		bool runs = random_chance(&in->random, 50);
		if (!random_chance(&in->random, 15))
			continue;
		device->taken = true;
		buffer_printf(
			&in->text,
			"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: t%d, namespace: "
			"ns}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}, status: "
			"{allocation: {devices: {results: [{request: r, driver: d.example.com, pool: n%d, device: "
			"d%d}]}}}}\n",
			i, device->node, i);
		if (runs)
			buffer_printf(
				&in->text,
				"---\n{apiVersion: v1, kind: Pod, metadata: {name: r%d, namespace: ns}, spec: "
				"{nodeName: n%d, resourceClaims: [{name: c, resourceClaimName: t%d}], containers: "
				"[{name: c}]}, status: {phase: Running}}\n",
				i, device->node, i);
	}
}

static void add_requests(struct instance *in, int pod)
{
	int requests = (int)random_range(&in->random, 1, 2);
	for (int r = 0; r < requests; r++) {
		int selector = (int)random_range(&in->random, 0, SELECTORS - 1);
		int count = (int)random_range(&in->random, 1, 2);
		bool tolerates = random_chance(&in->random, 20);
		buffer_printf(&in->text, "%s{name: r%d, exactly: {deviceClassName: c, count: %d", r ? ", " : "", r,
		              count);
		if (*selectors[selector].text)
			buffer_printf(&in->text, ", selectors: [{cel: {expression: \"%s\"}}]",
			              selectors[selector].text);
		if (tolerates)
			buffer_printf(&in->text, ", tolerations: [{key: bad, operator: Exists}]");
		buffer_printf(&in->text, "}}");
		for (int i = 0; i < count; i++)
			in->units[in->unit_count++] = (struct unit){pod, selector, tolerates};
	}
}

static void generate(struct instance *in)
{
	in->node_count = (int)random_range(&in->random, 1, MOST_NODES);
	in->pod_count = (int)random_range(&in->random, 1, MOST_PODS);
	buffer_printf(&in->text, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: "
	                         "{selectors: [{cel: {expression: \"device.driver == 'd.example.com'\"}}]}}\n");
	add_devices(in);
	take_devices(in);
	buffer_printf(
		&in->text,
		"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, namespace: ns}, "
		"spec: {minMember: %d}}\n",
		in->pod_count);
	for (int p = 0; p < in->pod_count; p++) {
		buffer_printf(
			&in->text,
			"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c%d, namespace: "
			"ns}, spec: {devices: {requests: [",
			p);
		add_requests(in, p);
		buffer_printf(
			&in->text,
			"]}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: ns, annotations: "
			"{pod-group-name: g}}, spec: {schedulerName: platoon, resourceClaims: [{name: c, "
			"resourceClaimName: c%d}], containers: [{name: c}]}}\n",
			p, p);
	}
}

/* ---- brute force ---- */

static bool may_have(const struct unit *unit, const struct device *device)
{
	return !device->taken && (!device->tainted || unit->tolerates) && selectors[unit->selector].selects(device);
}

static bool serve(const struct instance *in, const int *node_of, int unit, bool *used)
{
	if (unit == in->unit_count)
		return true;
	for (int d = 0; d < in->device_count; d++) {
		const struct device *device = &in->devices[d];
		if (used[d] || device->node != node_of[in->units[unit].pod] || !may_have(&in->units[unit], device))
			continue;
		used[d] = true;
		bool served = serve(in, node_of, unit + 1, used);
		used[d] = false;
		if (served)
			return true;
	}
	return false;
}

static bool place(const struct instance *in, int *node_of, int pod)
{
	bool used[MOST_DEVICES] = {false};
	if (pod == in->pod_count)
		return serve(in, node_of, 0, used);
	for (int n = 0; n < in->node_count; n++) {
		node_of[pod] = n;
		if (place(in, node_of, pod + 1))
			return true;
	}
	return false;
}

/* ---- what was chosen ---- */

static bool none_is_given(const void *context, const char *key)
{
	return context && key;
}

/* NULL when every unit has a device of its own that it may have, on the node of its pod. */
static const char *check_choices(const struct instance *in, const struct plan *plan, struct arena *arena)
{
	const struct snapshot *snapshot = plan->snapshot;
	struct device_pod pods[MOST_PODS];
	bool used[MOST_DEVICES] = {false};
	int unit = 0;
	for (int p = 0; p < in->pod_count; p++) {
		const char *name = plan->bindings[p].pod; /* by name, so in the order of the units */
		pods[p].pod = snapshot->pods[snapshot_find_pod(snapshot, "ns", name)].spec;
		pods[p].node = cluster_find_node(snapshot->cycle.cluster, plan->bindings[p].node);
	}
	struct device_choices choices =
		device_choices_find(snapshot->device_columns, pods, (size_t)in->pod_count, none_is_given, NULL, arena);
	if (choices.problem)
		return choices.problem;
	for (size_t c = 0; c < choices.count; c++)
		for (size_t r = 0; r < choices.items[c].result_count; r++, unit++) {
			int number = (int)strtol(choices.items[c].results[r].device + 1, NULL, 10);
			const struct device *device = &in->devices[number];
			if (unit == in->unit_count || used[number] || !may_have(&in->units[unit], device) ||
			    strtol(plan->bindings[choices.items[c].pod].node + 1, NULL, 10) != device->node)
				return "a device that must not be";
			used[number] = true;
		}
	return unit == in->unit_count ? NULL : "too few devices";
}

static bool run(uint64_t seed, size_t *placed)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE};
	struct instance in = {.random = {.state = seed}};
	struct problems problems = {.arena = arena_create()};
	struct manifests manifests;
	int node_of[MOST_PODS];
	generate(&in);
	manifests_init(&manifests);
	const char *wrong = NULL;
	if (manifests_parse(&manifests, in.text.text, in.text.length, "generated", &problems) < 0)
		wrong = "not readable";
	struct snapshot *snapshot = snapshot_create(&manifests, &(struct snapshot_options){.silent = true});
	const struct plan *plan = plan_run(snapshot, actions, 1);
	bool possible = place(&in, node_of, 0), is_placed = plan->binding_count == (size_t)in.pod_count;
	*placed += is_placed;
	if (!wrong && possible != is_placed)
		wrong = possible ? "it could be placed" : "it cannot be placed";
	if (!wrong && !is_placed && !plan->groups[0].proved)
		wrong = "it is not proved";
	if (!wrong && is_placed)
		wrong = check_choices(&in, plan, problems.arena);
	if (wrong)
		printf("seed %llu: %s\n%s\n", (unsigned long long)seed, wrong, in.text.text);
	snapshot_destroy(snapshot);
	manifests_free(&manifests);
	arena_destroy(problems.arena);
	buffer_free(&in.text);
	return !wrong;
}

int main(int argc, char **argv)
{
	size_t passed = 0, failed = 0, placed = 0;
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 1 ? 1 : INSTANCES;
	for (uint64_t seed = first; seed < first + count && failed < 5; seed++) {
		bool good = run(seed, &placed);
		passed += good;
		failed += !good;
	}
	printf("%zu gangs placed\n%zu passed, %zu failed\n", placed, passed, failed);
	return failed > 0;
}
