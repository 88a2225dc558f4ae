/* Gangs whose claims ask for more than a number of devices each are placed exactly where trying everything finds devices for all of
 * them, and what is chosen then is what may be: on random slices with attributes, taints, shared counters and devices in use, and
 * random claims with alternatives, all devices of a kind, access beside others, and rules between devices. */
#include "schedule/device_choice.h"
#include "schedule/plan.h"

#include "object/manifest.h"
#include "property/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	INSTANCES = 20000,
	MOST_NODES = 3,
	MOST_DEVICES = 9,
	MOST_PODS = 3,
	MOST_REQUESTS = 2,
	MOST_OPTIONS = 2,
	MOST_PICKS = 64
};

struct device {
	int node, a; /* a: -1, it has none */
	int draw;    /* of the counter of its node */
	bool b, tainted, taken;
};

struct option {
	int count, selector;
	bool all, admin, tolerates;
};

enum { SELECT_ANY, SELECT_B, SELECT_NOT_B, SELECTORS };
static const char *const selector_text[] = {"", "device.attributes['d.example.com'].b",
                                            "!device.attributes['d.example.com'].b"};

struct claim {
	int request_count, option_count[MOST_REQUESTS];
	struct option options[MOST_REQUESTS][MOST_OPTIONS];
	int rule;      /* 0: none, 1: the same a, 2: different ones */
	bool of_first; /* of the first request only */
};

struct pick {
	int pod, request, option, device;
};

struct instance {
	struct random random;
	int node_count, device_count, pod_count;
	int counter[MOST_NODES];
	struct device devices[MOST_DEVICES];
	struct claim claims[MOST_PODS];
	struct pick picks[MOST_PICKS];
	int pick_count;
	int node_of[MOST_PODS];
	struct buffer text;
};

/* ---- the instance ---- */

static void add_device(struct instance *in, int node, int number)
{
	struct device *device = &in->devices[in->device_count];
	*device = (struct device){.node = node,
	                          .a = (int)random_range(&in->random, 0, 2) - random_chance(&in->random, 15),
	                          .b = random_chance(&in->random, 50),
	                          .draw = random_chance(&in->random, 30) ? (int)random_range(&in->random, 1, 2) : 0,
	                          .tainted = random_chance(&in->random, 8)};
	buffer_printf(&in->text, "%s{name: d%d, attributes: {b: {bool: %s}", number ? ", " : "", in->device_count++,
	              device->b ? "true" : "false");
	if (device->a >= 0)
		buffer_printf(&in->text, ", a: {int: %d}", device->a);
	buffer_printf(&in->text, "}%s", device->tainted ? ", taints: [{key: bad, effect: NoSchedule}]" : "");
	if (device->draw)
		buffer_printf(&in->text, ", consumesCounters: [{counterSet: s, counters: {m: {value: \"%d\"}}}]",
		              device->draw);
	buffer_printf(&in->text, "}");
}

static void add_node(struct instance *in, int n)
{
	int count = (int)random_range(&in->random, 0, MOST_DEVICES / MOST_NODES);
	in->counter[n] = (int)random_range(&in->random, 1, 4);
	buffer_printf(&in->text,
	              "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d}, status: {allocatable: {pods: 9}}}\n"
	              "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c%d}, spec: "
	              "{driver: d.example.com, nodeName: n%d, pool: {name: n%d, generation: 1, resourceSliceCount: 2}, "
	              "sharedCounters: [{name: s, counters: {m: {value: \"%d\"}}}]}}\n"
	              "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s%d}, spec: "
	              "{driver: d.example.com, nodeName: n%d, pool: {name: n%d, generation: 1, resourceSliceCount: 2}, "
	              "devices: [",
	              n, n, n, n, in->counter[n], n, n, n);
	for (int i = 0; i < count; i++)
		add_device(in, n, i);
	buffer_printf(&in->text, "]}}\n");
}

/* Some devices are allocated to claims that nobody here uses, or to a pod that runs. */
static void take_devices(struct instance *in)
{
	for (int i = 0; i < in->device_count; i++) {
		struct device *device = &in->devices[i];
		if (!random_chance(&in->random, 12) || device->draw > in->counter[device->node])
			continue;
		device->taken = true;
		in->counter[device->node] -= device->draw;
		buffer_printf(
			&in->text,
			"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: t%d, namespace: "
			"ns}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}, status: "
			"{allocation: {devices: {results: [{request: r, driver: d.example.com, pool: n%d, device: "
			"d%d}]}}}}\n",
			i, device->node, i);
		if (random_chance(&in->random, 50))
			buffer_printf(
				&in->text,
				"---\n{apiVersion: v1, kind: Pod, metadata: {name: r%d, namespace: ns}, spec: "
				"{nodeName: n%d, resourceClaims: [{name: c, resourceClaimName: t%d}], containers: "
				"[{name: c}]}, status: {phase: Running}}\n",
				i, device->node, i);
	}
}

static void write_option(struct instance *in, struct option *option, bool exactly)
{
	*option = (struct option){.count = random_chance(&in->random, 60) ? 1 : 2,
	                          .selector = (int)random_range(&in->random, 0, SELECTORS - 1),
	                          .all = random_chance(&in->random, 15),
	                          .admin = exactly && random_chance(&in->random, 10),
	                          .tolerates = random_chance(&in->random, 20)};
	buffer_printf(&in->text, "deviceClassName: c");
	if (option->all)
		buffer_printf(&in->text, ", allocationMode: All");
	else
		buffer_printf(&in->text, ", allocationMode: ExactCount, count: %d", option->count);
	if (option->admin)
		buffer_printf(&in->text, ", adminAccess: true");
	if (*selector_text[option->selector])
		buffer_printf(&in->text, ", selectors: [{cel: {expression: \"%s\"}}]", selector_text[option->selector]);
	if (option->tolerates)
		buffer_printf(&in->text, ", tolerations: [{key: bad, operator: Exists}]");
}

static void add_claim(struct instance *in, int pod)
{
	struct claim *claim = &in->claims[pod];
	claim->request_count = (int)random_range(&in->random, 1, MOST_REQUESTS);
	claim->rule = random_chance(&in->random, 60) ? (int)random_range(&in->random, 1, 2) : 0;
	claim->of_first = random_chance(&in->random, 30);
	buffer_printf(
		&in->text,
		"---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c%d, namespace: ns}, "
		"spec: {devices: {requests: [",
		pod);
	for (int r = 0; r < claim->request_count; r++) {
		claim->option_count[r] = random_chance(&in->random, 30) ? 2 : 1;
		buffer_printf(&in->text, "%s{name: r%d, %s", r ? ", " : "", r,
		              claim->option_count[r] > 1 ? "firstAvailable: [" : "exactly: {");
		for (int o = 0; o < claim->option_count[r]; o++) {
			if (claim->option_count[r] > 1)
				buffer_printf(&in->text, "%s{name: o%d, ", o ? ", " : "", o);
			write_option(in, &claim->options[r][o], claim->option_count[r] == 1);
			buffer_printf(&in->text, "%s", claim->option_count[r] > 1 ? "}" : "");
		}
		buffer_printf(&in->text, "%s}", claim->option_count[r] > 1 ? "]" : "}");
	}
	buffer_printf(&in->text, "]");
	if (claim->rule)
		buffer_printf(&in->text, ", constraints: [{%s: d.example.com/a%s}]",
		              claim->rule == 1 ? "matchAttribute" : "distinctAttribute",
		              claim->of_first ? ", requests: [r0]" : "");
	buffer_printf(&in->text,
	              "}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: ns, annotations: "
	              "{pod-group-name: g}}, spec: {schedulerName: platoon, resourceClaims: [{name: c, "
	              "resourceClaimName: c%d}], containers: [{name: c}]}}\n",
	              pod, pod);
}

static void generate(struct instance *in)
{
	in->node_count = (int)random_range(&in->random, 1, MOST_NODES);
	in->pod_count = (int)random_range(&in->random, 1, MOST_PODS);
	buffer_printf(&in->text, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: "
	                         "{selectors: [{cel: {expression: \"device.driver == 'd.example.com'\"}}]}}\n");
	for (int n = 0; n < in->node_count; n++)
		add_node(in, n);
	take_devices(in);
	buffer_printf(
		&in->text,
		"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, namespace: ns}, "
		"spec: {minMember: %d}}\n",
		in->pod_count);
	for (int p = 0; p < in->pod_count; p++)
		add_claim(in, p);
}

/* ---- everything is tried ---- */

static const struct option *option_of(const struct instance *in, const struct pick *pick)
{
	return &in->claims[pick->pod].options[pick->request][pick->option];
}

static bool selects(const struct option *option, const struct device *device)
{
	return option->selector == SELECT_ANY || device->b == (option->selector == SELECT_B);
}

static bool has_rule(const struct instance *in, const struct pick *pick)
{
	return in->claims[pick->pod].rule && (pick->request == 0 || !in->claims[pick->pod].of_first);
}

static bool may_have(const struct instance *in, const struct pick *pick)
{
	const struct option *option = option_of(in, pick);
	const struct device *device = &in->devices[pick->device];
	return device->node == in->node_of[pick->pod] && selects(option, device) && (!device->taken || option->admin) &&
	       (!device->tainted || option->tolerates) && (device->a >= 0 || !has_rule(in, pick));
}

static bool go_together(const struct instance *in, const struct pick *a, const struct pick *b)
{
	if (a->device == b->device && (a->pod == b->pod || (!option_of(in, a)->admin && !option_of(in, b)->admin)))
		return false;
	if (a->pod != b->pod || !has_rule(in, a) || !has_rule(in, b))
		return true;
	return (in->devices[a->device].a == in->devices[b->device].a) == (in->claims[a->pod].rule == 1);
}

static bool is_right(const struct instance *in)
{
	const struct pick *last = &in->picks[in->pick_count - 1];
	int drawn = 0;
	for (int i = 0; i < in->pick_count; i++)
		if (in->devices[in->picks[i].device].node == in->devices[last->device].node &&
		    !option_of(in, &in->picks[i])->admin)
			drawn += in->devices[in->picks[i].device].draw;
	for (int i = 0; i + 1 < in->pick_count; i++)
		if (!go_together(in, &in->picks[i], last))
			return false;
	return may_have(in, last) && (option_of(in, last)->admin || !in->devices[last->device].draw ||
	                              drawn <= in->counter[in->devices[last->device].node]);
}

static bool serve(struct instance *in, int pod, int request);

static bool serve_some(struct instance *in, struct pick pick, int want, int from)
{
	if (want == 0)
		return serve(in, pick.pod, pick.request + 1);
	for (int d = from; d < in->device_count; d++) {
		pick.device = d;
		in->picks[in->pick_count++] = pick;
		if (is_right(in) && serve_some(in, pick, want - 1, d + 1))
			return true;
		in->pick_count--;
	}
	return false;
}

static int count_all(const struct instance *in, int pod, const struct option *option)
{
	int count = 0;
	for (int d = 0; d < in->device_count; d++)
		count += in->devices[d].node == in->node_of[pod] && selects(option, &in->devices[d]);
	return count;
}

static bool serve(struct instance *in, int pod, int request)
{
	if (pod == in->pod_count)
		return true;
	const struct claim *claim = &in->claims[pod];
	if (request == claim->request_count)
		return serve(in, pod + 1, 0);
	for (int o = 0; o < claim->option_count[request]; o++) {
		const struct option *option = &claim->options[request][o];
		int want = option->all ? count_all(in, pod, option) : option->count;
		if (want && serve_some(in, (struct pick){.pod = pod, .request = request, .option = o}, want, 0))
			return true;
	}
	return false;
}

static bool place(struct instance *in, int pod)
{
	if (pod == in->pod_count) {
		in->pick_count = 0;
		return serve(in, 0, 0);
	}
	for (int n = 0; n < in->node_count; n++) {
		in->node_of[pod] = n;
		if (place(in, pod + 1))
			return true;
	}
	return false;
}

/* ---- what was chosen ---- */

static bool none_is_given(const void *context, const char *key)
{
	return context && key;
}

static const char *check_requests(const struct instance *in, int pod)
{
	for (int r = 0; r < in->claims[pod].request_count; r++) {
		int count = 0, option = -1;
		for (int i = 0; i < in->pick_count; i++) {
			if (in->picks[i].pod != pod || in->picks[i].request != r)
				continue;
			if (option >= 0 && option != in->picks[i].option)
				return "two options of one request";
			option = in->picks[i].option;
			count++;
		}
		const struct option *chosen = option >= 0 ? &in->claims[pod].options[r][option] : NULL;
		if (!chosen || count != (chosen->all ? count_all(in, pod, chosen) : chosen->count))
			return "too few devices, or too many";
	}
	return NULL;
}

static const char *check_choices(struct instance *in, const struct plan *plan, struct arena *arena)
{
	const struct snapshot *snapshot = plan->snapshot;
	struct device_pod pods[MOST_PODS];
	for (int p = 0; p < in->pod_count; p++) {
		const char *name = plan->bindings[p].pod;
		pods[p].pod = snapshot->pods[snapshot_find_pod(snapshot, "ns", name)].spec;
		pods[p].node = cluster_find_node(snapshot->cycle.cluster, plan->bindings[p].node);
		in->node_of[p] = (int)strtol(plan->bindings[p].node + 1, NULL, 10);
	}
	struct device_choices choices =
		device_choices_find(snapshot->device_columns, pods, (size_t)in->pod_count, none_is_given, NULL, arena);
	if (choices.problem)
		return choices.problem;
	in->pick_count = 0;
	for (size_t c = 0; c < choices.count; c++)
		for (size_t r = 0; r < choices.items[c].result_count; r++) {
			const struct device_result *result = &choices.items[c].results[r];
			const char *option = strchr(result->request, '/');
			in->picks[in->pick_count++] =
				(struct pick){.pod = (int)choices.items[c].pod,
			                      .request = (int)strtol(result->request + 1, NULL, 10),
			                      .option = option ? (int)strtol(option + 2, NULL, 10) : 0,
			                      .device = (int)strtol(result->device + 1, NULL, 10)};
			if (!is_right(in))
				return "a device that must not be";
			if (result->admin != option_of(in, &in->picks[in->pick_count - 1])->admin)
				return "access beside others that is not told, or is no such access";
		}
	const char *wrong = NULL;
	for (int p = 0; p < in->pod_count && !wrong; p++)
		wrong = check_requests(in, p);
	return wrong;
}

static bool run(uint64_t seed, size_t *placed)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE};
	struct instance in = {.random = {.state = seed}};
	struct problems problems = {.arena = arena_create()};
	struct manifests manifests;
	generate(&in);
	manifests_init(&manifests);
	const char *wrong = NULL;
	if (manifests_parse(&manifests, in.text.text, in.text.length, "generated", &problems) < 0)
		wrong = "not readable";
	struct snapshot *snapshot = snapshot_create(&manifests, &(struct snapshot_options){.silent = true});
	const struct plan *plan = plan_run(snapshot, actions, 1);
	bool possible = place(&in, 0), is_placed = plan->binding_count == (size_t)in.pod_count;
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
