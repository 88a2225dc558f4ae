/* Placement rules of pods: nodes, taints, ports, other pods, spread. */
#include "verdict.h"

#include "admit/pod.h"
#include "base/strings.h"

#include <string.h>

static const char head[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: web, hash: h1}}\nspec: ";

static void decode(struct parsed *parsed, const char *spec, struct pod_spec *pod)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s%s\n", head, spec);
	parsed_open(parsed, text.text);
	buffer_free(&text);
	assert_int_equal(pod_decode(parsed_object(parsed, 0), parsed->arena, pod, &parsed->problems), 0);
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define BOX "containers: [{name: c}], "
#define NODE_TERM(term) "{" BOX "affinity: {nodeAffinity: {" REQUIRED ": {nodeSelectorTerms: [" term "]}}}}"
#define NODE_PATH "spec.affinity.nodeAffinity." REQUIRED ".nodeSelectorTerms"

static void nodes(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	decode(&parsed,
	       "{" BOX "nodeSelector: {zone: a, arch: amd64}, affinity: {nodeAffinity: {" REQUIRED
	       ": {nodeSelectorTerms: ["
	       "{matchExpressions: [{key: gpu, operator: Gt, values: ['3']}]}, "
	       "{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}, " PREFERRED ": ["
	       "{weight: 10, preference: {matchExpressions: [{key: zone, operator: NotIn, values: [b, c]}]}}, "
	       "{weight: 1, preference: {}}]}}}",
	       &pod);
	const struct pod_rules *rules = pod.rules;
	static struct label good[] = {{"arch", "amd64"}, {"gpu", "4"}, {"zone", "a"}};
	const struct labels labels = {good, 3};
	assert_int_equal(rules->node_selector.count, 2);
	assert_true(selector_matches(&rules->node_selector, &labels, "n9"));
	assert_true(rules->has_node_terms);
	assert_int_equal(rules->node_term_count, 2);
	assert_true(selector_matches(&rules->node_terms[0].selector, &labels, "n9"));
	assert_false(selector_matches(&rules->node_terms[1].selector, &labels, "n9"));
	assert_true(selector_matches(&rules->node_terms[1].selector, &labels, "n1"));
	assert_int_equal(rules->preferred_node_count, 1);
	assert_int_equal(rules->preferred_nodes[0].weight, 10);
	assert_true(selector_matches(&rules->preferred_nodes[0].selector, &labels, "n1"));
	parsed_close(&parsed);
	decode(&parsed, NODE_TERM("{}"), &pod);
	assert_true(pod.rules->has_node_terms);
	assert_int_equal(pod.rules->node_term_count, 0);
	assert_int_equal(parsed.problems.count, 1);
	parsed_close(&parsed);
}

static void bad_nodes(void **state)
{
	static const struct row rows[] = {
		{"operator",
	         NODE_TERM("{matchExpressions: [{key: a, operator: in, values: [x]}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].operator", "\"in\""}}},
		{"no operator, no key",
	         NODE_TERM("{matchExpressions: [{values: [x]}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].operator", "needs"},
	          {'E', NODE_PATH "[0].matchExpressions[0].key", "needs"}}},
		{"no values",
	         NODE_TERM("{matchExpressions: [{key: a, operator: In}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].values", "need values"}}},
		{"too many values",
	         NODE_TERM("{matchExpressions: [{key: a, operator: Exists, values: [x]}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].values", "no values"}}},
		{"Gt needs a number",
	         NODE_TERM("{matchExpressions: [{key: a, operator: Gt, values: [x]}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].values", "whole number"}}},
		{"values are texts",
	         NODE_TERM("{matchExpressions: [{key: a, operator: In, values: [b, 1]}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].values[1]", "must be a string"}}},
		{"fields",
	         NODE_TERM("{matchFields: [{key: metadata.uid, operator: In, values: [x]}, "
	                   "{key: metadata.name, operator: Exists}, {key: metadata.name, operator: In, values: [a, "
	                   "b]}]}"),
	         {{'E', NODE_PATH "[0].matchFields[0].key", "metadata.name"},
	          {'E', NODE_PATH "[0].matchFields[1].operator", "Exists"},
	          {'E', NODE_PATH "[0].matchFields[2].values", "exactly one"}}},
		{"bad key",
	         NODE_TERM("{matchExpressions: [{key: 'a b', operator: Exists}]}"),
	         {{'E', NODE_PATH "[0].matchExpressions[0].key", "label key"}}},
		{"no terms", NODE_TERM(""), {{'E', NODE_PATH, "at least one"}}},
		{"empty term", NODE_TERM("{}"), {{'W', NODE_PATH "[0]", "matches no node"}}},
		{"weights",
	         "{" BOX "affinity: {nodeAffinity: {" PREFERRED ": [{weight: 0, preference: {}}, {preference: {}}]}}}",
	         {{'E', "spec.affinity.nodeAffinity." PREFERRED "[0].weight", "between 1 and 100"},
	          {'E', "spec.affinity.nodeAffinity." PREFERRED "[1].weight", "needs a weight"}}},
		{"wrong types",
	         "{" BOX "nodeSelector: {a: 1}, affinity: 3}",
	         {{'E', "spec.nodeSelector.a", "string"}, {'E', "spec.affinity", "map"}}},
		{"wrong types inside",
	         "{" BOX "affinity: {nodeAffinity: 3, podAffinity: 3, podAntiAffinity: {" REQUIRED ": 3}}}",
	         {{'E', "spec.affinity.nodeAffinity", "map"},
	          {'E', "spec.affinity.podAffinity", "map"},
	          {'E', "spec.affinity.podAntiAffinity." REQUIRED, "list"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void tolerations(void **state)
{
	static const struct {
		const char *toleration;
		struct taint taint;
		bool tolerated;
	} rows[] = {
		{"{operator: Exists}", {"any", "x", TAINT_NO_EXECUTE}, true},
		{"{key: gpu, operator: Exists}", {"gpu", "x", TAINT_NO_SCHEDULE}, true},
		{"{key: gpu, operator: Exists, effect: NoExecute}", {"gpu", "x", TAINT_NO_SCHEDULE}, false},
		{"{key: gpu, value: yes-please}", {"gpu", "yes-please", TAINT_NO_SCHEDULE}, true},
		{"{key: gpu, operator: Equal, value: other}", {"gpu", "x", TAINT_NO_SCHEDULE}, false},
		{"{key: gpu}", {"gpu", "", TAINT_NO_SCHEDULE}, true},
		{"{key: gpu, effect: PreferNoSchedule}", {"gpu", "", TAINT_PREFER_NO_SCHEDULE}, true},
		{"{key: gpu, effect: ''}", {"gpu", "", TAINT_NO_EXECUTE}, true},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct parsed parsed;
		struct pod_spec pod;
		struct buffer text = {0};
		buffer_printf(&text, "{" BOX "tolerations: [%s]}", rows[i].toleration);
		decode(&parsed, text.text, &pod);
		assert_int_equal(taint_tolerated(&rows[i].taint, pod.rules->tolerations, pod.rules->toleration_count),
		                 rows[i].tolerated);
		parsed_close(&parsed);
		buffer_free(&text);
	}
	static const struct row bad[] = {
		{"no key", "{" BOX "tolerations: [{value: x}]}", {{'E', "spec.tolerations[0].operator", "Exists"}}},
		{"operator",
	         "{" BOX "tolerations: [{key: a, operator: Has}]}",
	         {{'E', "spec.tolerations[0].operator", "Has"}}},
		{"effect",
	         "{" BOX "tolerations: [{key: a, effect: Never}]}",
	         {{'E', "spec.tolerations[0].effect", "Never"}}},
		{"value",
	         "{" BOX "tolerations: [{key: a, operator: Exists, value: b}]}",
	         {{'E', "spec.tolerations[0].value", "takes no value"}}},
		{"type",
	         "{" BOX "tolerations: [{key: 1}, 2]}",
	         {{'E', "spec.tolerations[0].key", "string"}, {'E', "spec.tolerations[1]", "map"}}},
	};
	verdict_check_all(head, bad, COUNT_OF(bad));
}

static void ports(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	decode(&parsed,
	       "{containers: [{name: c, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 8081, protocol: "
	       "UDP, "
	       "hostIP: 10.0.0.1}]}], initContainers: [{name: i, ports: [{hostPort: 1}]}, "
	       "{name: s, restartPolicy: Always, ports: [{hostPort: 2}]}]}",
	       &pod);
	assert_int_equal(pod.rules->port_count, 2);
	assert_int_equal(pod.rules->ports[0].port, 8081);
	assert_string_equal(pod.rules->ports[0].protocol, "UDP");
	assert_string_equal(pod.rules->ports[0].ip, "10.0.0.1");
	assert_int_equal(pod.rules->ports[1].port, 2);
	assert_string_equal(pod.rules->ports[1].protocol, "TCP");
	assert_string_equal(pod.rules->ports[1].ip, "");
	parsed_close(&parsed);
	decode(&parsed, "{hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80}]}]}", &pod);
	assert_int_equal(pod.rules->port_count, 1);
	assert_int_equal(pod.rules->ports[0].port, 80);
	parsed_close(&parsed);
	static const struct row bad[] = {
		{"range",
	         "{containers: [{name: c, ports: [{hostPort: 65536}, {containerPort: 0}]}]}",
	         {{'E', "spec.containers[0].ports[0].hostPort", "65535"},
	          {'E', "spec.containers[0].ports[1].containerPort", NULL}}},
		{"protocol",
	         "{containers: [{name: c, ports: [{hostPort: 1, protocol: tcp}]}]}",
	         {{'E', "spec.containers[0].ports[0].protocol", "tcp"}}},
		{"type",
	         "{containers: [{name: c, ports: 80}], hostNetwork: 1}",
	         {{'E', "spec.containers[0].ports", "list"}, {'E', "spec.hostNetwork", "true or false"}}},
	};
	verdict_check_all(head, bad, COUNT_OF(bad));
}

static void other_pods(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	decode(&parsed,
	       "{" BOX "affinity: {podAffinity: {" REQUIRED
	       ": [{topologyKey: rack, labelSelector: {matchLabels: {app: web}}, "
	       "matchLabelKeys: [hash, absent]}, {topologyKey: zone, namespaces: [a, b]}], " PREFERRED ": [{weight: 7, "
	       "podAffinityTerm: {topologyKey: zone, labelSelector: {}, namespaceSelector: {}}}]}, "
	       "podAntiAffinity: {" REQUIRED
	       ": [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: "
	       "[{key: app, operator: Exists}]}, mismatchLabelKeys: [hash]}]}}}",
	       &pod);
	const struct pod_rules *rules = pod.rules;
	static struct label same[] = {{"app", "web"}, {"hash", "h1"}}, other[] = {{"app", "web"}, {"hash", "h2"}};
	const struct labels own = {same, 2}, foreign = {other, 2};
	assert_int_equal(parsed.problems.count, 0);
	assert_int_equal(rules->affinity_count, 2);
	assert_true(selector_matches(&rules->affinity[0].selector, &own, "x"));
	assert_false(selector_matches(&rules->affinity[0].selector, &foreign, "x"));
	assert_false(rules->affinity[0].selects_nothing || rules->affinity[0].all_namespaces);
	assert_true(rules->affinity[1].selects_nothing);
	assert_int_equal(rules->affinity[1].namespace_count, 2);
	assert_int_equal(rules->preferred_affinity_count, 1);
	assert_int_equal(rules->preferred_affinity[0].weight, 7);
	assert_true(rules->preferred_affinity[0].all_namespaces);
	assert_false(rules->preferred_affinity[0].selects_nothing);
	assert_int_equal(rules->anti_affinity_count, 1);
	assert_false(selector_matches(&rules->anti_affinity[0].selector, &own, "x"));
	assert_true(selector_matches(&rules->anti_affinity[0].selector, &foreign, "x"));
	parsed_close(&parsed);
#define PATH "spec.affinity.podAffinity." REQUIRED "[0]"
#define TERM(fields) "{" BOX "affinity: {podAffinity: {" REQUIRED ": [{" fields "}]}}}"
	static const struct row bad[] = {
		{"no key", TERM("labelSelector: {}"), {{'E', PATH ".topologyKey", "missing"}}},
		{"bad key", TERM("topologyKey: 'a b'"), {{'E', PATH ".topologyKey", "label key"}}},
		{"Gt is for nodes",
	         TERM("topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}"),
	         {{'E', PATH ".labelSelector.matchExpressions[0].operator", "\"Gt\""}}},
		{"labels of other types",
	         TERM("topologyKey: a, labelSelector: {matchLabels: {a: 1}}"),
	         {{'E', PATH ".labelSelector.matchLabels.a", "string"}}},
		{"namespaces by label",
	         TERM("topologyKey: a, labelSelector: {}, namespaceSelector: {matchLabels: {a: b}}"),
	         {{'W', PATH ".namespaceSelector", "all are taken"},
	          {'W', PATH ".namespaceSelector", "stays blocked"}}},
		{"namespaces by name", TERM("topologyKey: a, labelSelector: {}, namespaceSelector: {matchLabels: "
	                                    "{kubernetes.io/metadata.name: b}}")},
		{"another operating system", "{" BOX "os: {name: beos}}", {{'E', "spec.os.name", "linux"}}},
		{"no weight",
	         "{" BOX "affinity: {podAffinity: {" PREFERRED ": [{podAffinityTerm: {topologyKey: a}}, 3]}}}",
	         {{'E', "spec.affinity.podAffinity." PREFERRED "[0].weight", "needs a weight"},
	          {'E', "spec.affinity.podAffinity." PREFERRED "[1]", "map"}}},
		{"no term",
	         "{" BOX "affinity: {podAffinity: {" PREFERRED ": [{weight: 101}]}}}",
	         {{'E', "spec.affinity.podAffinity." PREFERRED "[0].weight", "between 1 and 100"},
	          {'E', "spec.affinity.podAffinity." PREFERRED "[0].podAffinityTerm", "must be a map"}}},
	};
	verdict_check_all(head, bad, COUNT_OF(bad));
}

static void spread(void **state)
{
	struct parsed parsed;
	struct pod_spec pod;
	decode(&parsed,
	       "{" BOX "topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
	       "minDomains: 3, "
	       "labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [hash], nodeTaintsPolicy: Honor, "
	       "nodeAffinityPolicy: Ignore}, "
	       "{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}]}",
	       &pod);
	static struct label same[] = {{"app", "web"}, {"hash", "h1"}}, other[] = {{"app", "web"}, {"hash", "h2"}};
	const struct labels own = {same, 2}, foreign = {other, 2};
	assert_int_equal(pod.rules->spread_count, 2);
	const struct spread_term *first = &pod.rules->spread[0], *second = &pod.rules->spread[1];
	assert_int_equal(first->max_skew, 2);
	assert_int_equal(first->min_domains, 3);
	assert_true(first->required && first->honor_taints && first->ignore_node_affinity);
	assert_true(selector_matches(&first->selector, &own, "x"));
	assert_false(selector_matches(&first->selector, &foreign, "x"));
	assert_false(second->required || second->honor_taints || second->ignore_node_affinity);
	assert_int_equal(second->min_domains, 0);
	assert_false(selector_matches(&second->selector, &own, "x"));
	parsed_close(&parsed);
#define SPREAD(fields) "{" BOX "topologySpreadConstraints: [{" fields "}]}"
#define AT "spec.topologySpreadConstraints[0]"
	static const struct row bad[] = {
		{"nothing said",
	         SPREAD(""),
	         {{'E', AT ".maxSkew", "missing"},
	          {'E', AT ".topologyKey", "missing"},
	          {'E', AT ".whenUnsatisfiable", "missing"}}},
		{"values",
	         SPREAD("maxSkew: 0, topologyKey: z, whenUnsatisfiable: Sometimes, nodeTaintsPolicy: honor, "
	                "minDomains: 0"),
	         {{'E', AT ".maxSkew", "between 1"},
	          {'E', AT ".whenUnsatisfiable", "Sometimes"},
	          {'E', AT ".nodeTaintsPolicy", "honor"},
	          {'E', AT ".minDomains", "between 1"}}},
		{"minDomains of a wish",
	         SPREAD("maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2"),
	         {{'E', AT ".minDomains", "DoNotSchedule"}}},
	};
	verdict_check_all(head, bad, COUNT_OF(bad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes), cmocka_unit_test(bad_nodes),  cmocka_unit_test(tolerations),
		cmocka_unit_test(ports), cmocka_unit_test(other_pods), cmocka_unit_test(spread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
