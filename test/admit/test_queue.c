/* Queue: numbers without floating point, parents. */
#include "verdict.h"

#include "admit/queue.h"
#include "base/strings.h"

#define OPEN "resources: {gpu: {limit: -1}, cpu: {limit: -1}, memory: {limit: -1}}"

static const char head[] = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: team}\nspec: ";

static void rules(void **state)
{
	static const struct row rows[] = {
		{"unlimited", "{" OPEN "}", {{0}}},
		{"empty resources", "{resources: {}}", {{'W', "spec.resources", "nothing runs in this queue"}}},
		{"no limit but one",
	         "{resources: {gpu: {quota: 4, limit: -1}, cpu: {quota: 4000}}}",
	         {{'W', "spec.resources.cpu.limit", "unset, which is 0, so pods that request CPU do not run"},
	          {'W', "spec.resources.memory.limit", "pods that request memory"}}},
		{"closed for GPUs",
	         "{resources: {gpu: {quota: 8, limit: 0}, cpu: {limit: -1}, memory: {limit: 9}}}",
	         {{'W', "spec.resources.gpu.limit", "the limit is 0, so pods that request GPUs"}}},
		{"no resources", "{priority: 3}", {{'E', "spec.resources", "resources must be specified"}}},
		{"no spec", "{}", {{'E', "spec.resources", "resources must be specified"}}},
		{"resources of the wrong type", "{resources: 3}", {{'E', "spec.resources", "must be a map"}}},
		{"gpu of the wrong type", "{resources: {gpu: 3}}", {{'E', "spec.resources.gpu", "must be a map"}}},
		{"below -1",
	         "{resources: {gpu: {quota: -2}}}",
	         {{'E', "spec.resources.gpu.quota", "negative, save -1"}}},
		{"almost -1", "{resources: {gpu: {quota: -0.9999}}}", {{'E', "spec.resources.gpu.quota", "negative"}}},
		{"limit below -1", "{resources: {cpu: {limit: -5}}}", {{'E', "spec.resources.cpu.limit", "negative"}}},
		{"negative weight",
	         "{resources: {memory: {overQuotaWeight: -1}}}",
	         {{'E', "spec.resources.memory.overQuotaWeight", "must not be negative"}}},
		{"a string",
	         "{resources: {gpu: {quota: \"2\"}}}",
	         {{'E', "spec.resources.gpu.quota", "number, not a string"}}},
		{"too large",
	         "{resources: {memory: {quota: 1e300}}}",
	         {{'E', "spec.resources.memory.quota", "too large"}}},
		{"limit below quota",
	         "{resources: {gpu: {quota: 4, limit: 2}, cpu: {limit: -1}, memory: {limit: -1}}}",
	         {{'W', "spec.resources.gpu.limit", "below the quota"}}},
		{"all at once",
	         "{priority: high, preemptMinRuntime: 5, reclaimMinRuntime: x, displayName: 1, parentQueue: team}",
	         {{'E', "spec.priority", "whole"},
	          {'E', "spec.preemptMinRuntime", "string"},
	          {'E', "spec.reclaimMinRuntime", "duration"},
	          {'E', "spec.displayName", "string"},
	          {'E', "spec.parentQueue", "its own parent"},
	          {'E', "spec.resources", NULL}}},
		{"missing parent",
	         "{parentQueue: top, " OPEN "}",
	         {{'W', "spec.parentQueue", "\"top\" does not exist"}}},
	};
	verdict_check_all(head, rows, COUNT_OF(rows));
}

static void parents(void **state)
{
	static const char others[] =
		"apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: top}\nspec: {resources: {}}\n---\n"
		"apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {parentQueue: team, "
		"resources: {}}\n"
		"---\n"
		"apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: b}\nspec: {parentQueue: a, resources: "
		"{}}\n"
		"---\n"
		"apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: x}\nspec: {parentQueue: x, resources: "
		"{}}\n"
		"---\n"
		"apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: team}\nspec: ";
	static const struct row rows[] = {
		{"a tree", "{parentQueue: top, " OPEN "}", {{0}}},
		{"a ring",
	         "{parentQueue: b, " OPEN "}",
	         {{'E', "spec.parentQueue", "\"team\" -> \"b\" -> \"a\" -> \"team\""}}},
		{"below a ring is not on it", "{parentQueue: x, " OPEN "}", {{0}}},
	};
	verdict_check_all(others, rows, COUNT_OF(rows));
}

/* A change about to be made: the stored queue is another object with the same name. */
static void a_change_that_closes_a_ring(void **state)
{
	struct parsed stored, wanted;
	parsed_open(&stored,
	            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {resources: {}}\n---\n"
	            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: b}\n"
	            "spec: {parentQueue: a, resources: {}}\n");
	parsed_open(&wanted, "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\n"
	                     "spec: {parentQueue: b, " OPEN "}\n");
	struct admit_index *index = admit_index_create(&stored.manifests);
	admit_object(&wanted.manifests.items[0], index, &wanted.problems);
	assert_int_equal(wanted.problems.count, 1);
	assert_string_equal(wanted.problems.items[0].path, "spec.parentQueue");
	admit_object(&wanted.manifests.items[0], NULL, &wanted.problems);
	assert_int_equal(wanted.problems.count, 1);
	admit_index_destroy(index);
	parsed_close(&stored);
	parsed_close(&wanted);
}

static void numbers(void **state)
{
	static const struct {
		const char *written;
		int64_t gpu, cpu, memory;
	} rows[] = {
		{"2", 2000, 2, 2000000},   {"0.1", 100, 1, 100000},
		{"0.7", 700, 1, 700000},   {"1.005", 1005, 2, 1005000},
		{"2.0", 2000, 2, 2000000}, {"1e3", 1000000, 1000, 1000000000},
		{"2.5e-3", 3, 1, 2500},    {"-1", -1, -1, -1},
		{"-1.0", -1, -1, -1},      {"0", 0, 0, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buffer text = {0};
		struct parsed parsed;
		struct queue_spec queue;
		const char *number = rows[i].written;
		buffer_printf(&text, "%s{resources: {gpu: {quota: %s}, cpu: {quota: %s}, memory: {quota: %s}}}\n", head,
		              number, number, number);
		parsed_open(&parsed, text.text);
		assert_int_equal(queue_decode(parsed_object(&parsed, 0), parsed.arena, &queue, &parsed.problems), 0);
		assert_int_equal(queue.share[QUEUE_GPU].quota, rows[i].gpu);
		assert_int_equal(queue.share[QUEUE_CPU].quota, rows[i].cpu);
		assert_int_equal(queue.share[QUEUE_MEMORY].quota, rows[i].memory);
		parsed_close(&parsed);
		buffer_free(&text);
	}
}

static void defaults(void **state)
{
	struct parsed parsed;
	struct queue_spec queue;
	struct buffer text = {0};
	buffer_printf(&text, "%s{resources: {gpu: {limit: 0, overQuotaWeight: 0.5}, cpu: {limit: 7}}}\n", head);
	parsed_open(&parsed, text.text);
	assert_int_equal(queue_decode(parsed_object(&parsed, 0), parsed.arena, &queue, &parsed.problems), 0);
	assert_int_equal(queue.priority, 100);
	assert_null(queue.parent);
	assert_true(queue.creation_seconds == INT64_MIN);
	assert_int_equal(queue.share[QUEUE_GPU].limit, 0);
	assert_int_equal(queue.share[QUEUE_GPU].weight, 500);
	assert_int_equal(queue.share[QUEUE_CPU].limit, 7);
	assert_int_equal(queue.share[QUEUE_MEMORY].limit, 0);
	assert_int_equal(queue.share[QUEUE_MEMORY].quota, 0);
	parsed_close(&parsed);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),   cmocka_unit_test(parents),  cmocka_unit_test(a_change_that_closes_a_ring),
		cmocka_unit_test(numbers), cmocka_unit_test(defaults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
