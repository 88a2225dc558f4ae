/* SchedulingShards of KAI: what is read, what is told to have no effect. */
#include "verdict.h"

#include "admit/shard.h"

static const char head[] = "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: blue}\nspec: ";

static void rules(void **state)
{
	static const struct row rows[] = {
		{"nothing", "{}", {{0}}},
		{"all that is read",
	         "{partitionLabelValue: blue, placementStrategy: {gpu: spread, cpu: binpack}, kValue: 0.5, minRuntime: "
	         "{preemptMinRuntime: 5m, reclaimMinRuntime: 1h}, args: {restrict-node-scheduling: \"true\", "
	         "full-hierarchy-fairness: \"false\", default-staleness-grace-period: 2m}}",
	         {{0}}},
		{"flags of the process",
	         "{args: {v: \"3\", qps: \"100\", leader-elect: \"true\"}, goMemLimitRatio: 0.8}",
	         {{0}}},
		{"what has no effect",
	         "{queueDepthPerAction: {preempt: 1}, plugins: {}, actions: {}, scenarioSearchBudgets: {}, "
	         "usageDBConfig: {}, args: {max-consolidation-preemptees: \"1\", new: \"1\"}, more: 1}",
	         {{'W', "spec.more", "no such field"},
	          {'W', "spec.args.max-consolidation-preemptees", "no effect"},
	          {'W', "spec.args.new", "no effect"},
	          {'W', "spec.queueDepthPerAction", "every group"},
	          {'W', "spec.scenarioSearchBudgets", "steps"},
	          {'W', "spec.plugins", "no effect"},
	          {'W', "spec.actions", "no effect"},
	          {'W', "spec.usageDBConfig", "Platoon itself"}}},
		{"all at once",
	         "{partitionLabelValue: \"-x\", placementStrategy: {gpu: even}, kValue: high, minRuntime: "
	         "{reclaimMinRuntime: soon}, args: {restrict-node-scheduling: \"yes\", "
	         "default-staleness-grace-period: \"1\"}}",
	         {{'E', "spec.partitionLabelValue", "value of no label"},
	          {'E', "spec.placementStrategy.gpu", "binpack or spread"},
	          {'E', "spec.minRuntime.reclaimMinRuntime", "duration"},
	          {'E', "spec.kValue", "from 0 to 1000"},
	          {'E', "spec.args.default-staleness-grace-period", "duration"},
	          {'E', "spec.args.restrict-node-scheduling", "boolean"}}},
		{"a negative factor", "{kValue: -1}", {{'E', "spec.kValue", "from 0 to 1000"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void values(void **state)
{
	struct parsed parsed;
	struct shard_spec shard;
	parsed_open(&parsed, "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: blue}\nspec: "
	                     "{partitionLabelValue: blue, placementStrategy: {gpu: spread}, kValue: 1.5, minRuntime: "
	                     "{reclaimMinRuntime: 2s}, args: {restrict-node-scheduling: \"1\", "
	                     "default-staleness-grace-period: -1s}}\n");
	assert_int_equal(shard_decode(parsed_object(&parsed, 0), parsed.arena, &shard, &parsed.problems), 0);
	assert_string_equal(shard.pool, "blue");
	assert_int_equal(shard.gpu, SHARD_SPREAD);
	assert_int_equal(shard.cpu, SHARD_UNSAID);
	assert_int_equal(shard.factor, 1500);
	assert_true(shard.has_reclaim_runtime && !shard.has_preempt_runtime);
	assert_int_equal(shard.reclaim_runtime_ns, INT64_C(2000000000));
	assert_true(shard.has_restrict && shard.restrict_nodes && !shard.ignore_parents);
	assert_true(shard.has_grace && shard.grace_ns < 0);
	parsed_close(&parsed);
}

static void two_for_one_pool(void **state)
{
	static const struct row row = {
		"the first counts",
		"apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: a}\nspec: {}\n---\n"
		"apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: b}\n"
		"spec: {partitionLabelValue: \"\"}\n",
		{{'W', "spec.partitionLabelValue", "\"a\" is for the same pool"}}};
	verdict_check("", &row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(values),
		cmocka_unit_test(two_for_one_pool),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
