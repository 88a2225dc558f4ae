/* The exhaustive solver against instances whose answer can be seen by eye, and against itself on random ones. */
#include "generate.h"
#include "oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Nodes of `capacity` units each in racks of two, and one leaf whose pods ask for one unit. */
static struct instance racks(int nodes, int capacity, int pods)
{
	struct instance instance = {.topology_count = 1,
	                            .topologies[0].level_count = 1,
	                            .node_count = nodes,
	                            .resource_count = 1,
	                            .pod_class_count = 2,
	                            .tree_count = 1,
	                            .pod_count = pods};
	for (int i = 0; i < 2; i++)
		instance.pod_classes[i] = (struct w_pod_class){.request[0] = 1,
		                                               .colour = -1,
		                                               .app = -1,
		                                               .port = -1,
		                                               .affinity.key = KEY_NONE,
		                                               .anti.key = KEY_NONE,
		                                               .spread.key = KEY_NONE};
	for (int i = 0; i < nodes; i++) {
		struct w_node *node = &instance.nodes[i];
		memset(node->label, -1, sizeof(node->label));
		node->label[KEY_HOST] = i;
		node->label[1] = i / 2;
		node->capacity[0] = capacity;
		node->pods = 110;
		node->colour = -1;
	}
	instance.tree[0] =
		(struct w_tree){.parent = -1, .minimum = pods, .required = W_NO_LEVEL, .preferred = W_NO_LEVEL};
	for (int i = 0; i < pods; i++)
		instance.pods[i] = (struct w_pod){.node = -1, .nominated = -1};
	return instance;
}

/* `segments` leaves, pods dealt out in turn. */
static struct instance segmented(int nodes, int capacity, int pods, int segments)
{
	struct instance instance = racks(nodes, capacity, pods);
	instance.tree[0].minimum = segments;
	for (int i = 1; i <= segments; i++)
		instance.tree[instance.tree_count++] = (struct w_tree){.parent = 0,
		                                                       .minimum = pods / segments,
		                                                       .required = {0, 0},
		                                                       .preferred = W_NO_LEVEL};
	for (int i = 0; i < pods; i++)
		instance.pods[i].leaf = 1 + i % segments;
	return instance;
}

static enum oracle_answer solve(const struct instance *instance)
{
	struct oracle oracle;
	return oracle_solve(&oracle, instance, 0, 1000000);
}

static void test_resources(void **state)
{
	struct instance instance = racks(4, 2, 8);
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.nodes[3].pods = 1;
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.tree[0].minimum = 7;
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.other_count = 1;
	instance.others[0] = (struct w_other){.pod_class = 1, .node = 0, .occupancy = W_RELEASING};
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.use_releasing = true;
	assert_int_equal(solve(&instance), ORACLE_YES);
}

static void test_required_levels(void **state)
{
	struct instance instance = racks(4, 2, 4);
	instance.tree[0].required = (struct w_level){0, 0};
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.nodes[0].capacity[0] = instance.nodes[2].capacity[0] = 1;
	assert_int_equal(solve(&instance), ORACLE_NO); /* 3 in each rack */
	instance.tree[0].minimum = 3;
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.pods[0].state = W_MEMBER_RUNNING;
	instance.pods[0].node = 0;
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.nodes[1].label[1] = -1; /* its rack loses the two free units */
	assert_int_equal(solve(&instance), ORACLE_NO);
}

static void test_segments(void **state)
{
	struct instance instance = segmented(4, 2, 8, 2);
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.nodes[3].tainted = true;
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.tree[0].minimum = 1; /* one of two segments is enough */
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.nodes[1].unschedulable = true;
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.tree[0].minimum = 0;
	assert_int_equal(solve(&instance), ORACLE_YES);
}

static void test_inter_pod_rules(void **state)
{
	struct instance instance = racks(4, 2, 3);
	instance.pod_classes[0].app = 0;
	instance.pod_classes[0].anti = (struct w_term){1, 0}; /* one per rack, two racks */
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.pod_classes[0].anti.key = KEY_HOST;
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.pod_classes[0].anti.key = KEY_NONE;
	instance.pod_classes[0].affinity = (struct w_term){KEY_HOST, 0}; /* all three on one node of two */
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.pod_classes[0].affinity.key = 1;
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.pod_classes[0].affinity.app = 1; /* nobody is a1 */
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.pod_classes[1].app = 1;
	instance.other_count = 1;
	instance.others[0] = (struct w_other){.pod_class = 1, .node = 3};
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.others[0].foreign = true;
	assert_int_equal(solve(&instance), ORACLE_NO);
}

static void test_spread_and_ports(void **state)
{
	struct instance instance = racks(4, 8, 4);
	instance.pod_classes[0].app = 0;
	instance.pod_classes[0].spread = (struct w_spread){.key = KEY_HOST, .app = 0, .max_skew = 1};
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.nodes[2].capacity[0] = 0; /* still a domain, with nothing in it */
	assert_int_equal(solve(&instance), ORACLE_NO);
	instance.pod_classes[0].spread.max_skew = 2;
	assert_int_equal(solve(&instance), ORACLE_YES);
	instance.pod_classes[0].spread.key = KEY_NONE;
	instance.pod_classes[0].port = 0;
	assert_int_equal(solve(&instance), ORACLE_NO); /* three nodes, four pods with one port */
	instance.nodes[2].capacity[0] = 1;
	assert_int_equal(solve(&instance), ORACLE_YES);
}

static void test_optimum(void **state)
{
	struct instance instance = racks(6, 2, 4);
	struct oracle oracle;
	instance.tree[0].preferred = (struct w_level){0, 0};
	assert_int_equal(oracle_optimum(&oracle, &instance, ORACLE_HOSTS, 1000000), ORACLE_YES);
	assert_int_equal(oracle.best.cost[0], 0);
	assert_int_equal(oracle.best.domains, 1);
	assert_int_equal(oracle.best.hosts, 2);
	for (int node = 0; node < 6; node++)
		instance.nodes[node].capacity[0] = 1;
	assert_int_equal(oracle_optimum(&oracle, &instance, ORACLE_HOSTS, 1000000), ORACLE_YES);
	assert_int_equal(oracle.best.cost[0], 1);
	assert_int_equal(oracle.best.domains, 2);
	assert_int_equal(oracle.best.hosts, 4);
}

static void test_growth(void **state)
{
	struct instance instance = segmented(4, 2, 8, 2);
	int unit;
	instance.tree[0].minimum = 0;
	assert_int_equal(oracle_can_grow(&instance, 1000000, &unit), ORACLE_YES);
	assert_int_equal(unit, 1);
	for (int node = 0; node < 4; node++)
		instance.nodes[node].capacity[0] = 1; /* no rack takes the four pods of a segment */
	assert_int_equal(oracle_can_grow(&instance, 1000000, &unit), ORACLE_NO);
	instance.tree[2].minimum = 0;
	assert_int_equal(oracle_can_grow(&instance, 1000000, &unit), ORACLE_YES);
	assert_int_equal(unit, 2);
}

/* More room never turns a yes into a no, and the optimum exists exactly where a placement does. */
static void test_random_monotone(void **state)
{
	int yes = 0, no = 0;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct instance instance;
		struct oracle oracle;
		generate_instance(seed, &instance);
		enum oracle_answer answer = solve(&instance);
		yes += answer == ORACLE_YES;
		no += answer == ORACLE_NO;
		if (answer != ORACLE_UNKNOWN && instance_is_rigid(&instance))
			assert_int_equal(oracle_optimum(&oracle, &instance, ORACLE_COST, 10000000), answer);
		for (int node = 0; node < instance.node_count; node++)
			instance.nodes[node].capacity[0]++;
		if (answer == ORACLE_YES)
			assert_int_not_equal(solve(&instance), ORACLE_NO);
	}
	assert_true(yes > 500 && no > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resources),        cmocka_unit_test(test_required_levels),
		cmocka_unit_test(test_segments),         cmocka_unit_test(test_inter_pod_rules),
		cmocka_unit_test(test_spread_and_ports), cmocka_unit_test(test_optimum),
		cmocka_unit_test(test_growth),           cmocka_unit_test(test_random_monotone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
