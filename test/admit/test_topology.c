/* Topology: levels, label keys, aliases, and two that contradict each other. */
#include "verdict.h"

#include "admit/topology.h"
#include "base/strings.h"

#include <string.h>

static const char head[] = "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: net}\nspec: ";

static void levels(void **state)
{
	static const struct row rows[] = {
		{"good",
	         "{levels: [{nodeLabel: accelerator.nvidia.com/rack}, {nodeLabel: kubernetes.io/hostname}]}",
	         {{0}}},
		{"one", "{levels: [{nodeLabel: Zone_1.x}]}", {{0}}},
		{"none", "{levels: []}", {{'E', "spec.levels", "1 to 16"}}},
		{"missing", "{}", {{'E', "spec.levels", "1 to 16"}}},
		{"null", "{levels: null}", {{'E', "spec.levels", "1 to 16"}}},
		{"no list", "{levels: {nodeLabel: a}}", {{'E', "spec.levels", "must be a list"}}},
		{"no map", "{levels: [rack]}", {{'E', "spec.levels[0]", "must be a map"}}},
		{"no label", "{levels: [{alias: x}]}", {{'E', "spec.levels[0].nodeLabel", "needs nodeLabel"}}},
		{"empty label", "{levels: [{nodeLabel: ''}]}", {{'E', "spec.levels[0].nodeLabel", "empty"}}},
		{"number", "{levels: [{nodeLabel: 3}]}", {{'E', "spec.levels[0].nodeLabel", "must be a string"}}},
		{"bad key",
	         "{levels: [{nodeLabel: 'a b'}, {nodeLabel: /x}, {nodeLabel: x/}, {nodeLabel: a/b/c}, "
	         "{nodeLabel: Ex.com/a}, {nodeLabel: -a}, {nodeLabel: a.}]}",
	         {{'E', "spec.levels[0].nodeLabel", "\"a b\" is not a valid label key"},
	          {'E', "spec.levels[1].nodeLabel", NULL},
	          {'E', "spec.levels[2].nodeLabel", NULL},
	          {'E', "spec.levels[3].nodeLabel", NULL},
	          {'E', "spec.levels[4].nodeLabel", NULL},
	          {'E', "spec.levels[5].nodeLabel", NULL},
	          {'E', "spec.levels[6].nodeLabel", NULL}}},
		{"twice",
	         "{levels: [{nodeLabel: rack}, {nodeLabel: rack}]}",
	         {{'E', "spec.levels[1].nodeLabel", "unique"}}},
		{"host name above",
	         "{levels: [{nodeLabel: kubernetes.io/hostname}, {nodeLabel: rack}]}",
	         {{'E', "spec.levels[0].nodeLabel", "last level"}}},
		{"host name alone", "{levels: [{nodeLabel: kubernetes.io/hostname}]}", {{0}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void aliases(void **state)
{
	static const struct row rows[] = {
		{"good", "{levels: [{nodeLabel: a, alias: zone}, {nodeLabel: b, alias: rack}, {nodeLabel: c}]}", {{0}}},
		{"twice",
	         "{levels: [{nodeLabel: a, alias: x}, {nodeLabel: b, alias: x}]}",
	         {{'E', "spec.levels[1].alias", "used twice"}}},
		{"a label below",
	         "{levels: [{nodeLabel: a, alias: b}, {nodeLabel: b}]}",
	         {{'E', "spec.levels[0].alias", "also a node label"}}},
		{"its own label", "{levels: [{nodeLabel: a, alias: a}]}", {{'E', "spec.levels[0].alias", "also"}}},
		{"empty", "{levels: [{nodeLabel: a, alias: ''}]}", {{'E', "spec.levels[0].alias", "empty"}}},
		{"bad", "{levels: [{nodeLabel: a, alias: '!'}]}", {{'E', "spec.levels[0].alias", "not a valid"}}},
		{"all at once",
	         "{levels: [{nodeLabel: a, alias: x}, {nodeLabel: a, alias: x}, {alias: a}]}",
	         {{'E', "spec.levels[1].nodeLabel", "unique"},
	          {'E', "spec.levels[1].alias", "twice"},
	          {'E', "spec.levels[2].nodeLabel", "needs"},
	          {'E', "spec.levels[2].alias", "also"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void how_many(void **state)
{
	for (int count = 15; count <= 18; count++) {
		struct buffer text = {0};
		buffer_printf(&text, "%s{levels: [", head);
		for (int i = 0; i < count; i++)
			buffer_printf(&text, "{nodeLabel: l%d},", i);
		buffer_puts(&text, "]}");
		struct row row = {"16 at most", text.text, {{0}}};
		if (count > 16)
			row.expect[0] = (struct expected){'E', "spec.levels", "at most 16 levels"};
		verdict_check(NULL, &row);
		buffer_free(&text);
	}
}

static void lengths(void **state)
{
	static const struct {
		size_t prefix, name;
		bool good;
	} rows[] = {{0, 63, true},   {0, 64, false},   {252, 63, true},
	            {253, 62, true}, {253, 63, false}, {254, 10, false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char key[400] = "";
		for (size_t k = 0; k < rows[i].prefix; k++)
			strcat(key, k % 60 == 59 ? "." : "p");
		if (rows[i].prefix)
			strcat(key, "/");
		for (size_t k = 0; k < rows[i].name; k++)
			strcat(key, "n");
		struct buffer text = {0};
		buffer_printf(&text, "{levels: [{nodeLabel: %s}]}", key);
		struct row row = {"length of a key", text.text, {{0}}};
		if (!rows[i].good)
			row.expect[0] = (struct expected){'E', "spec.levels[0].nodeLabel", "not a valid label key"};
		verdict_check(head, &row);
		buffer_free(&text);
	}
}

static void conflicting_order(void **state)
{
	static const char other[] = "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: old}\n"
				    "spec: {levels: [{nodeLabel: rack}, {nodeLabel: block}, {nodeLabel: zone}]}\n---\n"
				    "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: net}\nspec: ";
	static const struct row rows[] = {
		{"same order", "{levels: [{nodeLabel: rack}, {nodeLabel: zone}]}", {{0}}},
		{"other labels", "{levels: [{nodeLabel: zone}, {nodeLabel: pod}]}", {{0}}},
		{"turned round, told once",
	         "{levels: [{nodeLabel: zone}, {nodeLabel: block}, {nodeLabel: rack}]}",
	         {{'W', "spec.levels", "zone is above block here but below it in Topology \"old\""}}},
	};
	verdict_check_all(other, rows, COUNT_OF(rows));
}

static void finding_levels(void **state)
{
	struct parsed parsed;
	struct topology_spec topology;
	struct buffer text = {0};
	buffer_printf(&text, "%s{levels: [{nodeLabel: zone}, {nodeLabel: example.com/rack, alias: rack}]}\n", head);
	parsed_open(&parsed, text.text);
	assert_int_equal(topology_decode(parsed_object(&parsed, 0), parsed.arena, &topology, &parsed.problems), 0);
	assert_string_equal(topology.name, "net");
	assert_int_equal(topology.level_count, 2);
	assert_null(topology.aliases[0]);
	assert_int_equal(topology_level(&topology, "zone"), 0);
	assert_int_equal(topology_level(&topology, "rack"), 1);
	assert_int_equal(topology_level(&topology, "example.com/rack"), 1);
	assert_int_equal(topology_level(&topology, "Rack"), -1);
	assert_int_equal(topology_level(&topology, NULL), -1);
	parsed_close(&parsed);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),  cmocka_unit_test(aliases),           cmocka_unit_test(how_many),
		cmocka_unit_test(lengths), cmocka_unit_test(conflicting_order), cmocka_unit_test(finding_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
