/* PodGroup: minimums, names, parents, fields, and the tree that comes out. */
#include "verdict.h"

#include "admit/podgroup.h"
#include "base/strings.h"

#include <stdio.h>
#include <string.h>

static const char head[] = "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: job}\nspec: ";

static void minimums_of_leaves(void **state)
{
	static const struct row rows[] = {
		{"nothing given: one pod", "{queue: research}", {{0}}},
		{"pods only", "{minMember: 4}", {{0}}},
		{"a flat group may be wholly optional", "{minMember: 0}", {{0}}},
		{"negative", "{minMember: -1}", {{'E', "spec.minMember", "between 0 and 2147483647"}}},
		{"larger than int32", "{minMember: 2147483648}", {{'E', "spec.minMember", "2147483648"}}},
		{"larger than int64", "{minMember: 99999999999999999999}", {{'E', "spec.minMember", NULL}}},
		{"a string", "{minMember: \"3\"}", {{'E', "spec.minMember", "whole number, not a string"}}},
		{"a fraction", "{minMember: 1.5}", {{'E', "spec.minMember", "whole number"}}},
		{"null counts as unset", "{minMember: null, subGroups: null}", {{0}}},
		{"minSubGroup without subGroups", "{minSubGroup: 1}", {{'E', "spec.minSubGroup", "there are none"}}},
		{"even 0", "{minSubGroup: 0}", {{'E', "spec.minSubGroup", "there are none"}}},
		{"and with an empty list", "{minSubGroup: 1, subGroups: []}", {{'E', "spec.minSubGroup", NULL}}},
		{"a leaf needs minMember",
	         "{subGroups: [{name: a}]}",
	         {{'E', "spec.subGroups[0].minMember", "needs minMember"}}},
		{"each of them is told",
	         "{subGroups: [{name: b}, {name: a}]}",
	         {{'E', "spec.subGroups[0].minMember", NULL}, {'E', "spec.subGroups[1].minMember", NULL}}},
		{"an elastic leaf", "{subGroups: [{name: a, minMember: 0}]}", {{0}}},
		{"minSubGroup on a leaf",
	         "{minSubGroup: 1, subGroups: [{name: leaf, minSubGroup: 1}]}",
	         {{'E', "spec.subGroups[0].minSubGroup", "there are none"},
	          {'E', "spec.subGroups[0].minMember", "needs"}}},
		{"minSubGroup 0 beside minMember on a leaf",
	         "{subGroups: [{name: leaf, minMember: 2, minSubGroup: 0}]}",
	         {{'E', "spec.subGroups[0].minMember", "exclude"}, {'E', "spec.subGroups[0].minSubGroup", "none"}}},
		{"a bad number is told once",
	         "{subGroups: [{name: a, minMember: x}]}",
	         {{'E', "spec.subGroups[0].minMember", "not a string"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

/* What other parts of the program write, and users may. */
static void annotations(void **state)
{
	static const char start[] = "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nspec: {minMember: 2}\n"
				    "metadata: ";
	static const struct row rows[] = {
		{"it starts whole", "{name: job, annotations: {platoon.dev/starts-whole: \"true\"}}", {{0}}},
		{"or not", "{name: job, annotations: {platoon.dev/starts-whole: \"false\"}}", {{0}}},
		{"a word that says neither",
	         "{name: job, annotations: {platoon.dev/starts-whole: \"yes\"}}",
	         {{'W', "metadata.annotations.platoon.dev/starts-whole", "\"yes\" is ignored"}}},
		{"no number of pods",
	         "{name: job, annotations: {platoon.dev/expected-pods: \"-1\"}}",
	         {{'W', "metadata.annotations.platoon.dev/expected-pods", "no number of pods"}}},
		{"what is to come",
	         "{name: job, annotations: {platoon.dev/coming-pod: '{\"metadata\": {\"name\": \"a\"}, \"spec\": "
	         "{\"containers\": [{\"name\": \"a\"}]}}'}}",
	         {{0}}},
		{"nothing that could come",
	         "{name: job, annotations: {platoon.dev/coming-pod: \"8 GPUs\"}}",
	         {{'W', "metadata.annotations.platoon.dev/coming-pod", "no pod"}}},
	};
	verdict_check_all(start, rows, COUNT_OF(rows));
}

static void minimums_of_parents(void **state)
{
	static const struct row rows[] = {
		{"3 of 4",
	         "{minSubGroup: 3, subGroups: [{name: p0, minMember: 8}, {name: p1, minMember: 8}, "
	         "{name: p2, minMember: 8}, {name: p3, minMember: 8}]}",
	         {{0}}},
		{"5 of 4",
	         "{minSubGroup: 5, subGroups: [{name: p0, minMember: 8}, {name: p1, minMember: 8}, "
	         "{name: p2, minMember: 8}, {name: p3, minMember: 8}]}",
	         {{'E', "spec.minSubGroup", "minSubGroup (5) exceeds the number of direct child SubGroups (4)"}}},
		{"only direct children count",
	         "{minSubGroup: 2, subGroups: [{name: box, minSubGroup: 2}, {name: a, parent: box, minMember: 1}, "
	         "{name: b, parent: box, minMember: 1}]}",
	         {{'E', "spec.minSubGroup", "exceeds the number of direct child SubGroups (1)"}}},
		{"on a subgroup",
	         "{subGroups: [{name: box, minSubGroup: 3}, {name: a, parent: box, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].minSubGroup", "minSubGroup (3)"}}},
		{"an optional branch", "{minSubGroup: 0, subGroups: [{name: a, minMember: 1}]}", {{0}}},
		{"negative",
	         "{minSubGroup: -2, subGroups: [{name: a, minMember: 1}]}",
	         {{'E', "spec.minSubGroup", "between 0"}}},
		{"both on the PodGroup",
	         "{minMember: 24, minSubGroup: 1, subGroups: [{name: a, minMember: 8}]}",
	         {{'E', "spec.minMember", "minMember and minSubGroup exclude each other"}}},
		{"minMember 0 beside minSubGroup counts as unset",
	         "{minMember: 0, minSubGroup: 1, subGroups: [{name: a, minMember: 8}]}",
	         {{0}}},
		{"both on a subgroup",
	         "{subGroups: [{name: box, minMember: 1, minSubGroup: 1}, {name: a, parent: box, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].minMember", "exclude"}}},
		{"no minimum on a parent: all",
	         "{subGroups: [{name: box}, {name: a, parent: box, minMember: 1}]}",
	         {{0}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void min_member_on_parents(void **state)
{
	static const struct row rows[] = {
		{"the pods of all leaves",
	         "{minMember: 12, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 4}]}",
	         {{'W', "spec.minMember", "read as the pods of all its leaves: all 2 children"}}},
		{"the number of children",
	         "{minMember: 1, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 4}]}",
	         {{'W', "spec.minMember", "read as minSubGroup 1 of 2"}}},
		{"neither, on the PodGroup: ignored",
	         "{minMember: 7, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 4}]}",
	         {{'W', "spec.minMember", "ignored"}}},
		{"0 alone counts as unset",
	         "{minMember: 0, subGroups: [{name: a, minMember: 8}]}",
	         {{'W', "spec.minMember", "counts as unset"}}},
		{"pods, on a subgroup, two levels down",
	         "{subGroups: [{name: top, minMember: 5}, {name: mid, parent: top}, {name: l, parent: mid, minMember: "
	         "5}]}",
	         {{'W', "spec.subGroups[0].minMember", "all 1 children"}}},
		{"children, on a subgroup",
	         "{subGroups: [{name: box, minMember: 1}, {name: a, parent: box, minMember: 3}]}",
	         {{'W', "spec.subGroups[0].minMember", "read as minSubGroup 1"}}},
		{"neither, on a subgroup: refused",
	         "{subGroups: [{name: parent, minMember: 2}, {name: child, parent: parent, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].minMember", "neither"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void names_and_parents(void **state)
{
	static const struct row rows[] = {
		{"duplicate",
	         "{subGroups: [{name: a, minMember: 1}, {name: a, minMember: 1}]}",
	         {{'E', "spec.subGroups[1].name", "duplicate subgroup name \"a\", first used in spec.subGroups[0]"}}},
		{"three times",
	         "{subGroups: [{name: a, minMember: 1}, {name: a}, {name: a}]}",
	         {{'E', "spec.subGroups[1].name", "spec.subGroups[0]"},
	          {'E', "spec.subGroups[2].name", "spec.subGroups[0]"}}},
		{"no name",
	         "{subGroups: [{name: '', minMember: 1}]}",
	         {{'E', "spec.subGroups[0].name", "needs a name"}}},
		{"name missing", "{subGroups: [{minMember: 1}]}", {{'E', "spec.subGroups[0].name", "needs a name"}}},
		{"upper case",
	         "{subGroups: [{name: Box, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].name", "\"Box\""}}},
		{"dots are no label",
	         "{subGroups: [{name: a.b, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].name", NULL}}},
		{"dash at the end", "{subGroups: [{name: a-, minMember: 1}]}", {{'E', "spec.subGroups[0].name", NULL}}},
		{"63 characters",
	         "{subGroups: [{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
	         "minMember: 1}]}",
	         {{0}}},
		{"64 characters",
	         "{subGroups: [{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
	         "minMember: 1}]}",
	         {{'E', "spec.subGroups[0].name", NULL}}},
		{"parent by another case",
	         "{subGroups: [{name: box, minMember: 1}, {name: a, parent: Box, minMember: 1}]}",
	         {{'E', "spec.subGroups[1].parent", "parent \"Box\" was not found"}}},
		{"an empty parent is none", "{subGroups: [{name: a, parent: '', minMember: 1}]}", {{0}}},
		{"own parent",
	         "{subGroups: [{name: a, parent: a, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].parent", "its own parent"}}},
		{"a name of the wrong type",
	         "{subGroups: [{name: 3, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].name", "must be a string"}}},
		{"an entry of the wrong type", "{subGroups: [a]}", {{'E', "spec.subGroups[0]", "must be a map"}}},
		{"a list of the wrong type", "{subGroups: {name: a}}", {{'E', "spec.subGroups", "must be a list"}}},
		{"spec of the wrong type", "[1]", {{'E', "spec", "must be a map"}}},
		{"a parent of the wrong type",
	         "{subGroups: [{name: a, parent: 1, minMember: 1}]}",
	         {{'E', "spec.subGroups[0].parent", "must be a string"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void cycles(void **state)
{
	static const struct row rows[] = {
		{"two in a ring",
	         "{subGroups: [{name: alpha, parent: beta}, {name: beta, parent: alpha}]}",
	         {{'E', "spec.subGroups[0].parent", "cycle: \"alpha\" -> \"beta\" -> \"alpha\""}}},
		{"a ring beside good ones",
	         "{subGroups: [{name: r, minMember: 1}, {name: alpha, parent: beta}, {name: beta, parent: alpha}]}",
	         {{'E', "spec.subGroups[1].parent", "cycle"}}},
		{"what hangs on a ring is not part of it; the ring is told once, from its first member",
	         "{subGroups: [{name: tail, parent: c, minMember: 1}, {name: b, parent: c}, {name: c, parent: b}]}",
	         {{'E', "spec.subGroups[1].parent", "cycle: \"b\" -> \"c\" -> \"b\""}}},
		{"two rings",
	         "{subGroups: [{name: a, parent: b}, {name: b, parent: a}, {name: c, parent: d}, {name: d, parent: "
	         "c}]}",
	         {{'E', "spec.subGroups[0].parent", NULL}, {'E', "spec.subGroups[2].parent", NULL}}},
		{"everything at once: ring, duplicate, missing parent, leaf without minimum, bad enum",
	         "{preemptibility: sometimes, subGroups: [{name: alpha, parent: beta}, {name: beta, parent: alpha}, "
	         "{name: alpha, minMember: 1}, {name: x, parent: nowhere, minMember: 1}, {name: z}]}",
	         {{'E', "spec.subGroups[2].name", "duplicate"},
	          {'E', "spec.subGroups[0].parent", "cycle"},
	          {'E', "spec.subGroups[3].parent", "nowhere"},
	          {'E', "spec.subGroups[4].minMember", "needs"},
	          {'E', "spec.preemptibility", "sometimes"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void plain_fields(void **state)
{
	static const struct row rows[] = {
		{"semi-preemptible", "{minMember: 1, preemptibility: semi-preemptible}", {{0}}},
		{"unknown",
	         "{preemptibility: Preemptible}",
	         {{'E', "spec.preemptibility", "is not one of preemptible, "}}},
		{"wrong type", "{preemptibility: true}", {{'E', "spec.preemptibility", "must be a string"}}},
		{"durations", "{preemptionDelay: 1m30s, stalenessGracePeriod: -1s}", {{0}}},
		{"no duration", "{stalenessGracePeriod: soon}", {{'E', "spec.stalenessGracePeriod", "not a duration"}}},
		{"a number is no duration",
	         "{preemptionDelay: 30}",
	         {{'E', "spec.preemptionDelay", "must be a string"}}},
		{"negative delay", "{preemptionDelay: -1s}", {{'E', "spec.preemptionDelay", "negative"}}},
		{"back-off", "{schedulingBackoff: 1}", {{0}}},
		{"back-off without meaning", "{schedulingBackoff: 7}", {{'W', "spec.schedulingBackoff", "read as -1"}}},
		{"back-off of the wrong type",
	         "{schedulingBackoff: often}",
	         {{'E', "spec.schedulingBackoff", "whole"}}},
		{"mark", "{markUnschedulable: maybe}", {{'E', "spec.markUnschedulable", "true or false"}}},
		{"queue", "{queue: 3}", {{'E', "spec.queue", "must be a string, not a whole number"}}},
		{"priority class", "{priorityClassName: [a]}", {{'E', "spec.priorityClassName", "not a list"}}},
		{"fields of earlier versions", "{parallelism: 1, completions: 1, backoffLimit: 1}", {{0}}},
		{"fields that are none", "{minNonPreemptible: 3}", {{'W', "spec.minNonPreemptible", "no such field"}}},
		{"a misspelt field",
	         "{minMembers: 3, Queue: a}",
	         {{'W', "spec.minMembers", "no such field"}, {'W', "spec.Queue", "no such field"}}},
		{"in a part",
	         "{subGroups: [{name: a, minMember: 1, topologyConstraint: {topology: t, requiredLevel: x}}]}",
	         {{'W', "spec.subGroups[0].topologyConstraint.requiredLevel", "no such field"},
	          {'W', "spec.subGroups[0].topologyConstraint", "no effect"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void object_names(void **state)
{
	static const struct row rows[] = {
		{"no metadata",
	         "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n",
	         {{'E', "metadata.name", "no name"}}},
		{"a name to be made",
	         "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {generateName: job-}\n",
	         {{0}}},
		{"bad names",
	         "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: Job_1, namespace: a.b}\n",
	         {{'E', "metadata.name", "Job_1"}, {'E', "metadata.namespace", "a.b"}}},
		{"bad time",
	         "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: j, "
	         "creationTimestamp: 'yesterday'}\n",
	         {{'E', "metadata.creationTimestamp", "yesterday"}}},
		{"another kind", "apiVersion: v1\nkind: Secret\nmetadata: {name: Not_Ours}\n", {{0}}},
	};
	verdict_check_all(NULL, rows, COUNT_OF(rows));
}

static void decode(struct parsed *parsed, const char *spec, struct podgroup *group)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s%s\n", head, spec);
	parsed_open(parsed, text.text);
	buffer_free(&text);
	assert_int_equal(podgroup_decode(parsed_object(parsed, 0), parsed->arena, group, &parsed->problems), 0);
}

static void defaults(void **state)
{
	struct parsed parsed;
	struct podgroup group;
	decode(&parsed, "{}", &group);
	assert_string_equal(group.namespace_, "default");
	assert_string_equal(group.name, "job");
	assert_null(group.queue);
	assert_null(group.priority_class);
	assert_true(group.mark_unschedulable);
	assert_int_equal(group.scheduling_backoff, -1);
	assert_true(group.creation_seconds == INT64_MIN);
	assert_int_equal(group.preemptibility, PREEMPTIBILITY_UNSET);
	assert_false(group.has_staleness_grace || group.has_preemption_delay);
	assert_int_equal(group.tree_count, 1);
	assert_int_equal(group.tree[0].minimum, 1);
	assert_int_equal(podgroup_leaf(&group, NULL), 0);
	assert_int_equal(podgroup_leaf(&group, ""), 0);
	assert_int_equal(podgroup_leaf(&group, "a"), -1);
	parsed_close(&parsed);
	decode(&parsed,
	       "{preemptionDelay: 1m, stalenessGracePeriod: -1s, preemptibility: non-preemptible, queue: q, "
	       "markUnschedulable: false}",
	       &group);
	assert_true(group.preemption_delay_ns == 60000000000);
	assert_true(group.staleness_grace_ns == -1000000000);
	assert_int_equal(group.preemptibility, NON_PREEMPTIBLE);
	assert_string_equal(group.queue, "q");
	assert_false(group.mark_unschedulable);
	parsed_close(&parsed);
}

/* The two-level example of the minSubGroup document, children written before their parents. */
static void two_levels(void **state)
{
	struct parsed parsed;
	struct podgroup group;
	decode(&parsed,
	       "{minSubGroup: 2, subGroups: [{name: decode-leaders, parent: decode, minMember: 1}, "
	       "{name: prefill, minSubGroup: 2}, {name: decode, minSubGroup: 2}, "
	       "{name: decode-workers, parent: decode, minMember: 4}, "
	       "{name: prefill-leaders, parent: prefill, minMember: 1}, "
	       "{name: prefill-workers, parent: prefill, minMember: 4}]}",
	       &group);
	static const char *const names[] = {"",       "prefill",        "prefill-leaders", "prefill-workers",
	                                    "decode", "decode-leaders", "decode-workers"};
	static const int parents[] = {-1, 0, 1, 1, 0, 4, 4};
	assert_int_equal(group.tree_count, COUNT_OF(names));
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		assert_string_equal(group.tree[i].name, names[i]);
		assert_int_equal(group.tree[i].parent, parents[i]);
	}
	assert_int_equal(group.tree[0].child_count, 2);
	assert_string_equal(group.tree[5].path, "spec.subGroups[0]");
	assert_true(podgroup_minimum_pods(&group, 0) == 10);
	assert_true(podgroup_minimum_pods(&group, 4) == 5);
	assert_true(podgroup_minimum_pods(&group, 3) == 4);
	assert_int_equal(podgroup_leaf(&group, "decode-workers"), 6);
	assert_int_equal(podgroup_leaf(&group, "decode"), -1);
	assert_int_equal(podgroup_leaf(&group, NULL), -1);
	parsed_close(&parsed);
}

static void fewest_pods(void **state)
{
	static const struct {
		const char *spec;
		int64_t pods;
	} rows[] = {
		{"{minSubGroup: 1, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 2}, {name: c, minMember: "
	         "5}]}",
	         2},
		{"{minSubGroup: 2, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 2}, {name: c, minMember: "
	         "5}]}",
	         7},
		{"{minSubGroup: 0, subGroups: [{name: a, minMember: 8}]}", 0},
		{"{subGroups: [{name: a, minMember: 8}, {name: b, minMember: 0}]}", 8},
		{"{minMember: 1, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 3}]}", 3},
		{"{minMember: 11, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 3}]}", 11},
		{"{minMember: 0, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 3}]}", 11},
		{"{minMember: 99, subGroups: [{name: a, minMember: 8}, {name: b, minMember: 3}]}", 11},
		{"{subGroups: [{name: a, minMember: 2147483647}, {name: b, minMember: 2147483647}]}", 4294967294},
		{"{minSubGroup: 1, subGroups: [{name: a, minSubGroup: 1}, {name: b, minMember: 5}, "
	         "{name: c, parent: a, minMember: 7}, {name: d, parent: a, minMember: 4}]}",
	         4},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct parsed parsed;
		struct podgroup group;
		decode(&parsed, rows[i].spec, &group);
		assert_true(podgroup_minimum_pods(&group, 0) == rows[i].pods);
		parsed_close(&parsed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimums_of_leaves),
		cmocka_unit_test(annotations),
		cmocka_unit_test(minimums_of_parents),
		cmocka_unit_test(min_member_on_parents),
		cmocka_unit_test(names_and_parents),
		cmocka_unit_test(cycles),
		cmocka_unit_test(plain_fields),
		cmocka_unit_test(object_names),
		cmocka_unit_test(defaults),
		cmocka_unit_test(two_levels),
		cmocka_unit_test(fewest_pods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
