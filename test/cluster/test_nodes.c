/* Node lists: what is read, where nodes without a topology go, and what is said about bad lines. */
#include "object/manifest.h"
#include "cluster/nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

struct row {
	const char *list;
	const char *problem; /* part of the first, NULL: none */
	size_t problems, nodes;
	const char *name, *rack, *gpus, *memory; /* of the last node */
};

static const struct row rows[] = {
	{"node_name\na\n", NULL, 0, 1, "a", "r1", "0", "512Gi"},
	{"gpu_model,gpu_capacity_num,cpu_num,node_name\nA100,4,192,0\n", NULL, 0, 1, "node-0", "r1", "4", "1536Gi"},
	{"sn,gpu,rack,other\nHost_1,2.0,left,x\r\n\r\nhost-2,,right\n", NULL, 0, 2, "host-2", "right", "0", "512Gi"},
	{"name,cpu\nevil\": {x: y},3\n", NULL, 0, 1, "evil----x--y", "r1", "0", "24Gi"},
	{"name,cpu,memory_gib\na,8,3\n", NULL, 0, 1, "a", "r1", "0", "3Gi"},
	{"", "there are no nodes", 1, 0, NULL, NULL, NULL, NULL},
	{"cpu_num\n3\n", "no column node_name", 1, 0, NULL, NULL, NULL, NULL},
	{"node_name,cpu_num\na,-1\nb,many\n,1\na,1\na,1\n", "list:2: \"-1\" is no cpu_num", 5, 0, NULL, NULL, NULL,
         NULL},
	{"node_name,cpu_num\na,99999999999999999999999999\n", "is no cpu_num", 1, 0, NULL, NULL, NULL, NULL},
	{"node_name\n---\n", "the name is missing", 1, 0, NULL, NULL, NULL, NULL},
};

static void check(const struct row *row)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct buffer out = {0};
	int rc = nodes_of_list(&out, row->list, strlen(row->list), "list", &problems);
	assert_int_equal(rc, row->problems > 0 ? -1 : 0);
	assert_int_equal(problems.count, row->problems);
	if (row->problem) {
		const char *text = arena_printf(arena, "%s: %s", problems.items[0].path, problems.items[0].message);
		if (!strstr(text, row->problem))
			fail_msg("%s instead of %s", text, row->problem);
	} else {
		struct manifests nodes;
		manifests_init(&nodes);
		assert_int_equal(manifests_parse(&nodes, out.text, out.length, "nodes", &problems), 0);
		assert_int_equal(nodes.count, row->nodes);
		const struct val *last = nodes.items[nodes.count - 1].object;
		assert_string_equal(nodes.items[nodes.count - 1].name, row->name);
		assert_string_equal(val_str(val_path(last, "metadata", "labels", "example.com/rack", NULL), ""),
		                    row->rack);
		assert_string_equal(val_str(val_path(last, "status", "allocatable", "nvidia.com/gpu", NULL), ""),
		                    row->gpus);
		assert_string_equal(val_str(val_path(last, "status", "allocatable", "memory", NULL), ""), row->memory);
		manifests_free(&nodes);
	}
	buffer_free(&out);
	arena_destroy(arena);
}

static void lists_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(&rows[i]);
}

static void racks_fill_with_one_model(void **state)
{
	(void)state;
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct buffer list = {0}, out = {0};
	buffer_puts(&list, "node_name,gpu_model\n");
	for (int i = 0; i < 2 * NODES_PER_RACK * RACKS_PER_ZONE + 2; i++)
		buffer_printf(&list, "n%d,%s\n", i, i % 2 ? "new" : "old");
	assert_int_equal(nodes_of_list(&out, list.text, list.length, "list", &problems), 0);
	struct manifests nodes;
	manifests_init(&nodes);
	assert_int_equal(manifests_parse(&nodes, out.text, out.length, "nodes", &problems), 0);
	struct interner *racks = interner_create(), *zones = interner_create(), *pairs = interner_create();
	for (size_t i = 0; i < nodes.count; i++) {
		const struct val *labels = val_path(nodes.items[i].object, "metadata", "labels", NULL);
		const char *rack = val_str(val_get(labels, "example.com/rack"), "");
		interner_id(racks, rack);
		interner_id(zones, val_str(val_get(labels, "topology.kubernetes.io/zone"), ""));
		interner_id(pairs,
		            arena_printf(arena, "%s %s", rack, val_str(val_get(labels, "nvidia.com/gpu.product"), "")));
	}
	assert_int_equal(interner_count(racks), 2 * RACKS_PER_ZONE + 2);
	assert_int_equal(interner_count(zones), 3);
	assert_int_equal(interner_count(pairs), interner_count(racks));
	interner_destroy(racks);
	interner_destroy(zones);
	interner_destroy(pairs);
	manifests_free(&nodes);
	buffer_free(&list);
	buffer_free(&out);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(racks_fill_with_one_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
