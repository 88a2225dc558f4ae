/* Topology constraints of a PodGroup: two written forms, sets, inheritance, levels. */
#include "verdict.h"

#include "admit/podgroup.h"
#include "base/strings.h"

static const char head[] =
	"apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: net}\n"
	"spec: {levels: [{nodeLabel: zone}, {nodeLabel: block}, {nodeLabel: rack, alias: r}, "
	"{nodeLabel: kubernetes.io/hostname}]}\n---\n"
	"apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: power}\n"
	"spec: {levels: [{nodeLabel: feed}]}\n---\n"
	"apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: broken}\nspec: {levels: []}\n---\n"
	"apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: job}\nspec: ";

#define CONSTRAINT(fields) "topologyConstraint: {" fields "}"
#define LEAF(name, more) "{name: " name ", minMember: 1" more "}"

static void levels(void **state)
{
	static const struct row rows[] = {
		{"required", "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack") "}", {{0}}},
		{"by alias", "{" CONSTRAINT("topology: net, requiredTopologyLevel: r") "}", {{0}}},
		{"an empty constraint is none", "{" CONSTRAINT("") "}", {{0}}},
		{"empty texts are none", "{" CONSTRAINT("topology: '', requiredTopologyLevel: ''") "}", {{0}}},
		{"unknown level",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rak") "}",
	         {{'E', "spec.topologyConstraint.requiredTopologyLevel",
	           "\"rak\" is not a level of Topology \"net\""}}},
		{"levels are case sensitive",
	         "{" CONSTRAINT("topology: net, preferredTopologyLevel: Rack") "}",
	         {{'E', "spec.topologyConstraint.preferredTopologyLevel", "\"Rack\""}}},
		{"both unknown",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: a, preferredTopologyLevel: b") "}",
	         {{'E', "spec.topologyConstraint.requiredTopologyLevel", NULL},
	          {'E', "spec.topologyConstraint.preferredTopologyLevel", NULL}}},
		{"unknown Topology: it may come later",
	         "{" CONSTRAINT("topology: ghost, requiredTopologyLevel: a") "}",
	         {{'W', "spec.topologyConstraint.topology", "\"ghost\" does not exist"}}},
		{"told once for the group",
	         "{" CONSTRAINT("topology: ghost, requiredTopologyLevel: a") ", subGroups: [" LEAF(
			 "x", ", " CONSTRAINT("requiredTopologyLevel: b")) "]}",
	         {{'W', "spec.topologyConstraint.topology", "\"ghost\" does not exist"}}},
		{"a Topology with faults of its own is judged there",
	         "{" CONSTRAINT("topology: broken, requiredTopologyLevel: a") "}",
	         {{0}}},
		{"preferred below required",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: block, preferredTopologyLevel: rack") "}",
	         {{0}}},
		{"preferred equal to required",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack, preferredTopologyLevel: r") "}",
	         {{0}}},
		{"preferred above required",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack, preferredTopologyLevel: zone") "}",
	         {{'E', "spec.topologyConstraint.preferredTopologyLevel", "above the required level"}}},
		{"no topology anywhere",
	         "{" CONSTRAINT("requiredTopologyLevel: rack") "}",
	         {{'E', "spec.topologyConstraint.topology", "neither it nor a parent names a topology"}}},
		{"topology without level",
	         "{" CONSTRAINT("topology: net") "}",
	         {{'W', "spec.topologyConstraint", "has no effect"}}},
		{"wrong types",
	         "{" CONSTRAINT("topology: 1, requiredTopologyLevel: [rack], preferredTopologyLevel: true") "}",
	         {{'E', "spec.topologyConstraint.topology", "string"},
	          {'E', "spec.topologyConstraint.requiredTopologyLevel", "string"},
	          {'E', "spec.topologyConstraint.preferredTopologyLevel", "string"}}},
		{"no map", "{topologyConstraint: rack}", {{'E', "spec.topologyConstraint", "must be a map"}}},
		{"levels are checked beside other mistakes",
	         "{minMember: -1, subGroups: [{name: a, parent: nowhere, minMember: 1, " CONSTRAINT(
			 "topology: net, requiredTopologyLevel: x") "}]}",
	         {{'E', "spec.minMember", NULL},
	          {'E', "spec.subGroups[0].parent", NULL},
	          {'E', "spec.subGroups[0].topologyConstraint.requiredTopologyLevel", "\"x\""}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void ancestors(void **state)
{
	static const struct row rows[] = {
		{"topology from the PodGroup, level from the subgroup",
	         "{" CONSTRAINT("topology: net") ", subGroups: [" LEAF(
			 "a", ", " CONSTRAINT("requiredTopologyLevel: rack")) "]}",
	         {{0}}},
		{"narrower below",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: zone") ", subGroups: [" LEAF(
			 "a", ", " CONSTRAINT("requiredTopologyLevel: rack")) "]}",
	         {{0}}},
		{"wider below is said to be useless",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack") ", subGroups: [{name: box}, " LEAF(
			 "a", ", parent: box, " CONSTRAINT("requiredTopologyLevel: zone")) "]}",
	         {{'W', "spec.subGroups[1].topologyConstraint.requiredTopologyLevel", "zone is above rack"}}},
		{"wider in another topology is fine",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack") ", subGroups: [" LEAF(
			 "a", ", " CONSTRAINT("topology: power, requiredTopologyLevel: feed")) "]}",
	         {{0}}},
		{"the nearest ancestor counts",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: zone") ", subGroups: [{name: box, " CONSTRAINT(
			 "topology: power, requiredTopologyLevel: feed") "}, " LEAF("a",
	                                                                            ", parent: box, " CONSTRAINT(
											    "requiredTopologyLevel: "
	                                                                                    "rack")) "]}",
	         {{'E', "spec.subGroups[1].topologyConstraint.requiredTopologyLevel", "of Topology \"power\""}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void map_form(void **state)
{
	static const struct row rows[] = {
		{"global, named and set",
	         "{subGroups: [" LEAF("a", "") ", " LEAF("b", "") ", " LEAF(
			 "c", "") "], topologyConstraints: {global: "
	                          "{topology: net, requiredTopologyLevel: zone}, subGroups: {a: "
	                          "{requiredTopologyLevel: rack}}, "
	                          "subGroupSets: [{subGroups: [a, b], constraint: {requiredTopologyLevel: block}}]}}",
	         {{0}}},
		{"the same twice",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack") ", topologyConstraints: {global: "
	                                                                      "{topology: net, requiredTopologyLevel: "
	                                                                      "rack, preferredTopologyLevel: ''}}}",
	         {{0}}},
		{"twice, differently",
	         "{" CONSTRAINT("topology: net, requiredTopologyLevel: rack") ", topologyConstraints: {global: "
	                                                                      "{topology: net, requiredTopologyLevel: "
	                                                                      "block}}}",
	         {{'E', "spec.topologyConstraints.global", "differs from the one in spec.topologyConstraint"}}},
		{"twice, differently, on a subgroup",
	         "{subGroups: [" LEAF(
			 "a", ", " CONSTRAINT(
				      "topology: net, requiredTopologyLevel: rack")) "], "
	                                                                             "topologyConstraints: {subGroups: "
	                                                                             "{a: {topology: net}}}}",
	         {{'E', "spec.topologyConstraints.subGroups.a", "spec.subGroups[0].topologyConstraint"}}},
		{"unknown subgroup",
	         "{subGroups: [" LEAF("a", "") "], topologyConstraints: {subGroups: {A: {topology: net}}}}",
	         {{'E', "spec.topologyConstraints.subGroups.A", "no subgroup called \"A\""}}},
		{"no topology",
	         "{subGroups: [" LEAF("a",
	                              "") "], topologyConstraints: {subGroups: {a: {requiredTopologyLevel: rack}}}}",
	         {{'E', "spec.topologyConstraints.subGroups.a.topology", "neither"}}},
		{"wrong types",
	         "{topologyConstraints: {global: 1, subGroups: [a], subGroupSets: {a: b}}}",
	         {{'E', "spec.topologyConstraints.global", "map"},
	          {'E', "spec.topologyConstraints.subGroups", "map"},
	          {'E', "spec.topologyConstraints.subGroupSets", "list"}}},
		{"wrong types further in",
	         "{subGroups: [" LEAF("a", "") "], topologyConstraints: {subGroups: {a: rack}, "
	                                       "subGroupSets: [a, {subGroups: [1], constraint: {topology: net, "
	                                       "requiredTopologyLevel: rack}}]}}",
	         {{'E', "spec.topologyConstraints.subGroups.a", "map"},
	          {'E', "spec.topologyConstraints.subGroupSets[0]", "map"},
	          {'E', "spec.topologyConstraints.subGroupSets[1].subGroups[0]", "string"}}},
		{"not even a map", "{topologyConstraints: rack}", {{'E', "spec.topologyConstraints", "must be a map"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

#define RACK "constraint: {topology: net, requiredTopologyLevel: rack}"
#define SETS(list) "topologyConstraints: {subGroupSets: [" list "]}"

static void sets(void **state)
{
	static const struct row rows[] = {
		{"empty set",
	         "{subGroups: [" LEAF("a", "") "], " SETS("{subGroups: [], " RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0].subGroups", "empty"}}},
		{"no list at all",
	         "{subGroups: [" LEAF("a", "") "], " SETS("{" RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0].subGroups", "empty"}}},
		{"unknown member",
	         "{subGroups: [" LEAF("a", "") "], " SETS("{subGroups: [a, z], " RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0].subGroups[1]", "\"z\""}}},
		{"listed twice",
	         "{subGroups: [" LEAF("a", "") "], " SETS("{subGroups: [a, a], " RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0].subGroups[1]", "twice in this set"}}},
		{"in two sets",
	         "{subGroups: [" LEAF("a", "") "], " SETS("{subGroups: [a], " RACK "}, {subGroups: [a], " RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[1].subGroups[0]", "already in another set"}}},
		{"no siblings",
	         "{subGroups: [{name: box}, " LEAF("a", ", parent: box") ", " LEAF("b", "") "], " SETS(
			 "{subGroups: [a, b], " RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0].subGroups[1]", "another parent"}}},
		{"no constraint",
	         "{subGroups: [" LEAF("a", "") "], " SETS("{subGroups: [a]}") "}",
	         {{'W', "spec.topologyConstraints.subGroupSets[0].constraint", "no effect"}}},
		{"unknown level",
	         "{subGroups: [" LEAF("a", "") "], " SETS(
			 "{subGroups: [a], constraint: {topology: net, requiredTopologyLevel: x}}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0].constraint.requiredTopologyLevel", "\"x\""}}},
		{"2 of 3, two of them a set: cannot be said",
	         "{minSubGroup: 2, subGroups: [" LEAF("a", "") ", " LEAF("b", "") ", " LEAF("c", "") "], " SETS(
			 "{subGroups: [a, b], " RACK "}") "}",
	         {{'E', "spec.topologyConstraints.subGroupSets[0]",
	           "holds 2 of the 3 children of a parent that needs only 2"}}},
		{"all of them, said by number",
	         "{minSubGroup: 3, subGroups: [" LEAF("a", "") ", " LEAF("b", "") ", " LEAF("c", "") "], " SETS(
			 "{subGroups: [a, b], " RACK "}") "}",
	         {{0}}},
		{"the members of a broken parent are told there only",
	         "{subGroups: [" LEAF("a", ", parent: x") "], " SETS("{subGroups: [a], " RACK "}") "}",
	         {{'E', "spec.subGroups[0].parent", NULL}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

struct shape {
	const char *name;
	int parent, children, minimum;
};

static void set_trees(void **state)
{
	static const struct {
		const char *story, *spec;
		struct shape tree[6];
	} rows[] = {
		{"leaders and workers as sets below their parents, with minMember counting children",
	         "{minMember: 1, subGroups: [{name: decode, minMember: 2}, {name: dw, parent: decode, minMember: 4}, "
	         "{name: dl, parent: decode, minMember: 1}], " SETS("{subGroups: [dl, dw], " RACK "}") "}",
	         {{"", -1, 1, 1}, {"decode", 0, 1, 1}, {"", 1, 2, 2}, {"dw", 2, 0, 4}, {"dl", 2, 0, 1}}},
		{"a set stands where its first member stood",
	         "{subGroups: [" LEAF("a", "") ", " LEAF("b", "") ", " LEAF("c", "") "], " SETS(
			 "{subGroups: [c, b], " RACK "}") "}",
	         {{"", -1, 2, 2}, {"a", 0, 0, 1}, {"", 0, 2, 2}, {"b", 2, 0, 1}, {"c", 2, 0, 1}}},
		{"one set of all children takes the number over",
	         "{minSubGroup: 1, subGroups: [" LEAF("a", "") ", " LEAF("b", "") "], " SETS("{subGroups: [a, b], " RACK
	                                                                                     "}") "}",
	         {{"", -1, 1, 1}, {"", 0, 2, 1}, {"a", 1, 0, 1}, {"b", 1, 0, 1}}},
		{"nothing needed stays nothing needed",
	         "{minSubGroup: 0, subGroups: [" LEAF("a", "") ", " LEAF("b", "") ", " LEAF("c", "") "], " SETS(
			 "{subGroups: [a, b], " RACK "}") "}",
	         {{"", -1, 2, 0}, {"", 0, 2, 0}, {"a", 1, 0, 1}, {"b", 1, 0, 1}, {"c", 0, 0, 1}}},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buffer text = {0};
		struct parsed parsed;
		struct podgroup group;
		buffer_printf(&text, "%s%s\n", head, rows[i].spec);
		parsed_open(&parsed, text.text);
		assert_int_equal(podgroup_decode(parsed_object(&parsed, 3), parsed.arena, &group, &parsed.problems), 0);
		size_t count = 0;
		while (count < 6 && rows[i].tree[count].name)
			count++;
		assert_int_equal(group.tree_count, count);
		for (size_t k = 0; k < count; k++) {
			assert_string_equal(group.tree[k].name, rows[i].tree[k].name);
			assert_int_equal(group.tree[k].parent, rows[i].tree[k].parent);
			assert_int_equal(group.tree[k].child_count, rows[i].tree[k].children);
			assert_int_equal(group.tree[k].minimum, rows[i].tree[k].minimum);
		}
		parsed_close(&parsed);
		buffer_free(&text);
	}
}

static void inherited_topologies(void **state)
{
	struct buffer text = {0};
	struct parsed parsed;
	struct podgroup group;
	buffer_printf(&text, "%s%s\n", head,
	              "{" CONSTRAINT("topology: net") ", subGroups: [{name: box, " CONSTRAINT("preferredTopologyLevel: "
	                                                                                      "block") "}, " LEAF(
			      "a", ", parent: box, " CONSTRAINT(
					   "requiredTopologyLevel: rack")) ", " LEAF("b", ", parent: box") "]}");
	parsed_open(&parsed, text.text);
	assert_int_equal(podgroup_decode(parsed_object(&parsed, 3), parsed.arena, &group, &parsed.problems), 0);
	assert_int_equal(parsed.problems.count, 0);
	assert_null(group.tree[0].constraint.topology);
	assert_string_equal(group.tree[1].constraint.topology, "net");
	assert_string_equal(group.tree[1].constraint.preferred, "block");
	assert_null(group.tree[1].constraint.required);
	assert_string_equal(group.tree[2].constraint.topology, "net");
	assert_string_equal(group.tree[2].constraint.required, "rack");
	assert_null(group.tree[3].constraint.topology);
	parsed_close(&parsed);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels), cmocka_unit_test(ancestors), cmocka_unit_test(map_form),
		cmocka_unit_test(sets),   cmocka_unit_test(set_trees), cmocka_unit_test(inherited_topologies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
