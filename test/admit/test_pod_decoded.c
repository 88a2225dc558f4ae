/* Decoded pods that are kept: they say what the decoder said, after its memory is gone. */
#include "verdict.h"

#include "admit/pod.h"
#include "base/strings.h"

#include <string.h>

static void print_selector(struct buffer *out, const struct selector *selector)
{
	for (size_t i = 0; i < selector->count; i++) {
		const struct match *match = &selector->items[i];
		buffer_printf(out, " %s/%d/%d", match->key, (int)match->op, match->field_name);
		for (size_t v = 0; v < match->value_count; v++)
			buffer_printf(out, ",%s", match->values[v]);
	}
}

static void print_node_terms(struct buffer *out, const char *what, const struct node_term *terms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		buffer_printf(out, "\n%s %d", what, terms[i].weight);
		print_selector(out, &terms[i].selector);
	}
}

static void print_pod_terms(struct buffer *out, const char *what, const struct pod_term *terms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		buffer_printf(out, "\n%s %s %d %d %d", what, terms[i].topology_key, terms[i].selects_nothing,
		              terms[i].all_namespaces, terms[i].weight);
		for (size_t n = 0; n < terms[i].namespace_count; n++)
			buffer_printf(out, " in %s", terms[i].namespaces[n]);
		print_selector(out, &terms[i].selector);
	}
}

static void print_rules(struct buffer *out, const struct pod_rules *rules)
{
	print_selector(out, &rules->node_selector);
	buffer_printf(out, "\nterms %d", rules->has_node_terms);
	print_node_terms(out, "required", rules->node_terms, rules->node_term_count);
	print_node_terms(out, "preferred", rules->preferred_nodes, rules->preferred_node_count);
	for (size_t i = 0; i < rules->toleration_count; i++) {
		const struct toleration *one = &rules->tolerations[i];
		buffer_printf(out, "\ntolerates %s %s %d %d %d", one->key, one->value, one->exists, one->any_effect,
		              (int)one->effect);
	}
	for (size_t i = 0; i < rules->port_count; i++)
		buffer_printf(out, "\nport %s %s %d", rules->ports[i].ip, rules->ports[i].protocol,
		              rules->ports[i].port);
	print_pod_terms(out, "near", rules->affinity, rules->affinity_count);
	print_pod_terms(out, "far", rules->anti_affinity, rules->anti_affinity_count);
	print_pod_terms(out, "rather near", rules->preferred_affinity, rules->preferred_affinity_count);
	print_pod_terms(out, "rather far", rules->preferred_anti_affinity, rules->preferred_anti_affinity_count);
	for (size_t i = 0; i < rules->spread_count; i++) {
		buffer_printf(out, "\nspread %s %d %d", rules->spread[i].topology_key, rules->spread[i].max_skew,
		              rules->spread[i].required);
		print_selector(out, &rules->spread[i].selector);
	}
}

static void print_pod(struct buffer *out, const struct pod_spec *pod)
{
	buffer_printf(out, "%s/%s %s %s %s %s %s %s %s %d %d %d %lld %lld %d", pod->namespace_, pod->name, pod->uid,
	              pod->group, pod->subgroup, pod->scheduler, pod->node, pod->nominated, pod->priority_class,
	              (int)pod->phase, pod->deleting, pod->gated, (long long)pod->creation_seconds,
	              (long long)pod->started_seconds, pod->priority);
	for (size_t i = 0; i < pod->labels.count; i++)
		buffer_printf(out, "\nlabel %s=%s", pod->labels.items[i].key, pod->labels.items[i].value);
	for (size_t i = 0; i < pod->request_count; i++)
		buffer_printf(out, "\nrequest %s=%lld", pod->requests[i].name, (long long)pod->requests[i].amount);
	for (size_t i = 0; i < pod->claim_count; i++)
		buffer_printf(out, "\nclaim %s", pod->claims[i]);
	if (pod->block)
		buffer_printf(out, "\nblocked %s %s", block_code_name(pod->block->code), pod->block->message);
	print_rules(out, pod->rules);
}

#define CONTAINERS "containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}}}]"
#define NODE_TERM "{matchExpressions: [{key: zone, operator: In, values: [a, b]}, {key: disk, operator: Exists}]}"
#define POD_TERM "{topologyKey: rack, namespaces: [one, two], labelSelector: {matchLabels: {app: web}}}"

static const struct {
	const char *story, *spec, *rest;
} pods[] = {
	{"plain", CONTAINERS, ""},
	{"blocked", CONTAINERS ", workloadRef: {name: w, podGroup: g}", ""},
	{"with claims for devices",
         CONTAINERS
         ", resourceClaims: [{name: x, resourceClaimName: z}, {name: z, resourceClaimTemplateName: t}, {name: u, "
         "resourceClaimTemplateName: t}]",
         "status: {resourceClaimStatuses: [{name: z, resourceClaimName: made}, {name: u}]}"},
	{"all of it",
         "nodeName: n1, schedulerName: platoon, priority: 7, priorityClassName: high, schedulingGates: [{name: g}], "
         "containers: [{name: c, resources: {limits: {cpu: 2}}, ports: [{hostPort: 80, containerPort: 80, hostIP: "
         "10.0.0.1}]}], nodeSelector: {gpu: h100, zone: a}, tolerations: [{key: k, value: v, effect: NoSchedule}], "
         "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: e, ephemeral: {}}], affinity: "
         "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" NODE_TERM
         "]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, preference: " NODE_TERM
         "}]}, podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" POD_TERM
         "], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 4, podAffinityTerm: " POD_TERM
         "}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" POD_TERM
         "], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, podAffinityTerm: " POD_TERM
         "}]}}, topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, "
         "labelSelector: {matchLabels: {app: web}}}]",
         "status: {phase: Running, startTime: '2026-01-01T00:00:00Z', nominatedNodeName: n2}\n"},
	{"tolerations that an API server gives to all",
         CONTAINERS
         ", tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: "
         "300}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]",
         ""},
	{"the same two of another effect",
         CONTAINERS ", tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}, {key: "
                    "node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]",
         ""},
	{"terms that match nothing",
         CONTAINERS ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                    "[{}]}}}",
         ""},
};

static const struct decoded_pod *derive(const struct val *root, struct labels *labels)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct pod_spec spec;
	pod_decode(root, arena, &spec, &problems);
	labels->count = spec.labels.count;
	for (size_t i = 0; i < labels->count; i++)
		labels->items[i] = spec.labels.items[i];
	arena_destroy(arena);
	return (const struct decoded_pod *)pod_derivation.derive(root, labels);
}

static void it_says_the_same(void **state)
{
	for (size_t i = 0; i < COUNT_OF(pods); i++) {
		struct buffer text = {0}, expected = {0}, got = {0};
		struct parsed parsed;
		struct pod_spec spec;
		struct label space[8];
		struct labels labels = {.items = space};
		buffer_printf(
			&text,
			"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, uid: u, labels: {app: web, "
			"kai.scheduler/subgroup-name: s}, annotations: {pod-group-name: g}, creationTimestamp: "
			"'2026-01-01T00:00:00Z'}\nspec: {%s}\n%s",
			pods[i].spec, pods[i].rest);
		parsed_open(&parsed, text.text);
		if (pod_decode(parsed_object(&parsed, 0), parsed.arena, &spec, &parsed.problems) < 0)
			fail_msg("%s: %s: %s", pods[i].story, parsed.problems.items[0].path,
			         parsed.problems.items[0].message);
		const struct decoded_pod *pod = derive(parsed_object(&parsed, 0), &labels);
		assert_true(pod->usable);
		assert_int_equal(pod->problem_count, parsed.problems.count);
		assert_ptr_equal(pod->spec.labels.items, space); /* shared */
		print_pod(&expected, &spec);
		print_pod(&got, &pod->spec);
		assert_string_equal(got.text, expected.text);
		pod_derivation.destroy((void *)(uintptr_t)pod);
		buffer_free(&text);
		buffer_free(&expected);
		buffer_free(&got);
		parsed_close(&parsed);
	}
}

static void it_says_what_is_wrong(void **state)
{
	struct parsed parsed;
	struct label space[8];
	struct labels labels = {.items = space};
	parsed_open(&parsed, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priority: x, containers: []}\n");
	const struct decoded_pod *pod = derive(parsed_object(&parsed, 0), &labels);
	assert_false(pod->usable);
	assert_int_equal(pod->problem_count, 2);
	assert_string_equal(pod->problems[0].path, "spec.priority");
	assert_int_equal(pod->problems[0].severity, SEVERITY_ERROR);
	assert_string_equal(pod->problems[1].message, "the pod has no containers and requests nothing");
	assert_string_equal(pod->problems[1].fix, "add a container");
	pod_derivation.destroy((void *)(uintptr_t)pod);
	parsed_close(&parsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_the_same),
		cmocka_unit_test(it_says_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
