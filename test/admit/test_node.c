/* Nodes and priority classes. */
#include "verdict.h"

#include "admit/pod.h"

#include <string.h>

static int64_t amount(const struct node_spec *node, const char *name)
{
	for (size_t i = 0; i < node->allocatable_count; i++) {
		if (i > 0)
			assert_true(strcmp(node->allocatable[i - 1].name, node->allocatable[i].name) < 0);
		if (strcmp(node->allocatable[i].name, name) == 0)
			return node->allocatable[i].amount;
	}
	return -1;
}

static void decode(struct parsed *parsed, const char *text, struct node_spec *node)
{
	parsed_open(parsed, text);
	assert_int_equal(node_decode(parsed_object(parsed, 0), parsed->arena, node, &parsed->problems), 0);
}

static void full_node(void **state)
{
	struct parsed parsed;
	struct node_spec node;
	decode(&parsed,
	       "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {zone: a, rack: r1}}\n"
	       "spec: {unschedulable: true, taints: [{key: gpu, value: x, effect: NoSchedule}, {key: old, effect: "
	       "NoExecute}]}\n"
	       "status: {allocatable: {nvidia.com/gpu: '8', cpu: 7500m, memory: 16Gi, pods: '32'}, "
	       "capacity: {cpu: 8, example.com/x: 1}, conditions: [{type: MemoryPressure, status: 'True'}, "
	       "{type: Ready, status: 'False'}]}\n",
	       &node);
	assert_string_equal(node.name, "n1");
	assert_string_equal(labels_get(&node.labels, "rack"), "r1");
	assert_true(node.unschedulable);
	assert_false(node.ready || node.deleting);
	assert_int_equal(node.taint_count, 2);
	assert_string_equal(node.taints[0].value, "x");
	assert_int_equal(node.taints[1].effect, TAINT_NO_EXECUTE);
	assert_string_equal(node.taints[1].value, "");
	assert_int_equal(node.allocatable_count, 4);
	assert_int_equal(amount(&node, "cpu"), 7500);
	assert_int_equal(amount(&node, "nvidia.com/gpu"), 8);
	assert_true(amount(&node, "memory") == 17179869184);
	assert_int_equal(amount(&node, "pods"), 32);
	parsed_close(&parsed);
}

static void sparse_nodes(void **state)
{
	struct parsed parsed;
	struct node_spec node;
	decode(&parsed, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 8}}\n", &node);
	assert_int_equal(amount(&node, "cpu"), 8000);
	assert_int_equal(amount(&node, "pods"), 110);
	assert_true(node.ready);
	parsed_close(&parsed);
	decode(&parsed,
	       "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {pods: 0}, conditions: "
	       "[{type: Ready, status: Unknown}]}\n",
	       &node);
	assert_int_equal(amount(&node, "pods"), 0);
	assert_false(node.ready);
	parsed_close(&parsed);
	decode(&parsed,
	       "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {conditions: [{type: Ready, status: "
	       "'True'}]}\n",
	       &node);
	assert_true(node.ready);
	parsed_close(&parsed);
}

static void bad_nodes(void **state)
{
	static const char head[] = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
	static const struct row rows[] = {
		{"quantities",
	         "status: {allocatable: {cpu: eight, memory: -1}}",
	         {{'E', "status.allocatable.cpu", "eight"}, {'E', "status.allocatable.memory", "negative"}}},
		{"taints",
	         "spec: {taints: [{effect: NoSchedule}, {key: a}, {key: a, effect: Sometimes}, x]}",
	         {{'E', "spec.taints[0].key", "needs"},
	          {'E', "spec.taints[1].effect", "needs"},
	          {'E', "spec.taints[2].effect", "Sometimes"},
	          {'E', "spec.taints[3]", "map"}}},
		{"types",
	         "spec: {unschedulable: 'yes', taints: {}}\nstatus: {allocatable: [], conditions: [1]}",
	         {{'E', "spec.unschedulable", "true or false"},
	          {'E', "spec.taints", "list"},
	          {'E', "status.allocatable", "map"},
	          {'E', "status.conditions[0]", "map"}}},
		{"no status is a node with nothing", "spec: {}", {{0}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void priority_classes(void **state)
{
	static const char head[] = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: train}\n";
	static const struct row rows[] = {
		{"good", "value: 50\nglobalDefault: true", {{0}}},
		{"negative is allowed", "value: -5", {{0}}},
		{"missing", "globalDefault: false", {{'E', "value", "missing"}}},
		{"types",
	         "value: high\nglobalDefault: 1",
	         {{'E', "value", "whole"}, {'E', "globalDefault", "true or false"}}},
		{"range", "value: 3000000000", {{'E', "value", "between"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
	struct parsed parsed;
	struct priority_class class;
	parsed_open(&parsed,
	            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: train}\nvalue: 50\n");
	assert_int_equal(priority_class_decode(parsed_object(&parsed, 0), parsed.arena, &class, &parsed.problems), 0);
	assert_string_equal(class.name, "train");
	assert_int_equal(class.value, 50);
	assert_false(class.global_default);
	parsed_close(&parsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_node),
		cmocka_unit_test(sparse_nodes),
		cmocka_unit_test(bad_nodes),
		cmocka_unit_test(priority_classes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
