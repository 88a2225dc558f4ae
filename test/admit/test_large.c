/* Large input: a hundred thousand of everything stays linear, and nothing recurses on depth. The time limit is wide; a
 * quadratic step would miss it by orders of magnitude. */
#include "verdict.h"

#include "admit/podgroup.h"
#include "base/strings.h"

#include <string.h>
#include <time.h>

#define MANY 100000
#define SECONDS 30

static const char head[] =
	"{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"job\"},"
	"\"spec\":{\"subGroups\":[";

struct outcome {
	struct parsed parsed;
	struct podgroup group;
	int status;
};

static void judge(struct outcome *outcome, struct buffer *text, const char *end)
{
	struct timespec before, after;
	buffer_puts(text, end);
	parsed_open(&outcome->parsed, text->text);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	struct parsed *parsed = &outcome->parsed;
	struct problems ignored = {.arena = parsed->arena};
	outcome->status = podgroup_decode(parsed_object(parsed, 0), parsed->arena, &outcome->group, &ignored);
	struct admit_index *index = admit_index_create(&parsed->manifests);
	admit_object(&parsed->manifests.items[0], index, &parsed->problems);
	admit_index_destroy(index);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true(after.tv_sec - before.tv_sec < SECONDS);
	buffer_free(text);
}

static void flat(void **state)
{
	struct buffer text = {0};
	struct outcome outcome;
	buffer_puts(&text, head);
	for (int i = 0; i < MANY; i++)
		buffer_printf(&text, "%s{\"name\":\"s-%d\",\"minMember\":%d}", i ? "," : "", i, i % 7);
	judge(&outcome, &text, "],\"minSubGroup\":50000}}");
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.group.tree_count, MANY + 1);
	assert_int_equal(podgroup_leaf(&outcome.group, "s-99999"), MANY);
	assert_true(podgroup_minimum_pods(&outcome.group, 0) == 64284);
	parsed_close(&outcome.parsed);
}

static void deep_chain(void **state)
{
	struct buffer text = {0};
	struct outcome outcome;
	buffer_puts(&text, head);
	buffer_puts(&text, "{\"name\":\"s-0\"}");
	for (int i = 1; i < MANY; i++)
		buffer_printf(&text, ",{\"name\":\"s-%d\",\"parent\":\"s-%d\"%s}", i, i - 1,
		              i + 1 == MANY ? ",\"minMember\":1" : "");
	judge(&outcome, &text, "]}}");
	assert_int_equal(outcome.status, -1);
	assert_int_equal(outcome.parsed.problems.count, 1);
	assert_string_equal(outcome.parsed.problems.items[0].path, "spec.subGroups[63]");
	assert_non_null(strstr(outcome.parsed.problems.items[0].message, "deeper than 64"));
	parsed_close(&outcome.parsed);
}

static void deepest_allowed(void **state)
{
	struct buffer text = {0};
	struct outcome outcome;
	buffer_puts(&text, head);
	buffer_puts(&text, "{\"name\":\"s-0\"}");
	for (int i = 1; i < 64; i++)
		buffer_printf(&text, ",{\"name\":\"s-%d\",\"parent\":\"s-%d\"%s}", i, i - 1,
		              i == 63 ? ",\"minMember\":3" : "");
	judge(&outcome, &text, "]}}");
	assert_int_equal(outcome.status, 0);
	assert_true(podgroup_minimum_pods(&outcome.group, 0) == 3);
	parsed_close(&outcome.parsed);
}

static void one_ring(void **state)
{
	struct buffer text = {0};
	struct outcome outcome;
	buffer_puts(&text, head);
	for (int i = 0; i < MANY; i++)
		buffer_printf(&text, "%s{\"name\":\"s-%d\",\"parent\":\"s-%d\"}", i ? "," : "", i, (i + 1) % MANY);
	judge(&outcome, &text, "]}}");
	assert_int_equal(outcome.parsed.problems.count, 1);
	assert_non_null(strstr(outcome.parsed.problems.items[0].message, "(99984 more)"));
	parsed_close(&outcome.parsed);
}

static void one_name(void **state)
{
	struct buffer text = {0};
	struct outcome outcome;
	buffer_puts(&text, head);
	for (int i = 0; i < MANY; i++)
		buffer_printf(&text, "%s{\"name\":\"a\",\"minMember\":1,\"parent\":\"%s\"}", i ? "," : "",
		              i % 2 ? "nowhere" : "");
	judge(&outcome, &text, "]}}");
	assert_int_equal(outcome.parsed.problems.count, MANY - 1 + MANY / 2);
	parsed_close(&outcome.parsed);
}

static void many_sets(void **state)
{
	struct buffer text = {0};
	struct outcome outcome;
	buffer_puts(&text, head);
	for (int i = 0; i < MANY; i++)
		buffer_printf(&text, "%s{\"name\":\"s-%d\",\"minMember\":1}", i ? "," : "", i);
	buffer_puts(&text, "],\"topologyConstraints\":{\"subGroupSets\":[");
	for (int i = 0; i < MANY; i += 2)
		buffer_printf(&text,
		              "%s{\"subGroups\":[\"s-%d\",\"s-%d\"],\"constraint\":{\"topology\":\"t\","
		              "\"requiredTopologyLevel\":"
		              "\"rack\"}}",
		              i ? "," : "", i, i + 1);
	judge(&outcome, &text, "]}}}");
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.group.tree_count, MANY + MANY / 2 + 1);
	assert_int_equal(outcome.group.tree[0].minimum, MANY / 2);
	assert_int_equal(outcome.parsed.problems.count, 1); /* the Topology that does not exist, once */
	parsed_close(&outcome.parsed);
}

static void many_objects(void **state)
{
	struct buffer text = {0};
	struct parsed parsed;
	struct timespec before, after;
	buffer_puts(&text, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
	for (int i = 0; i < MANY / 2; i++)
		buffer_printf(&text,
		              "%s{\"apiVersion\":\"scheduling.run.ai/"
		              "v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"q-%d\"},"
		              "\"spec\":{\"parentQueue\":\"q-%d\",\"resources\":{}}}",
		              i ? "," : "", i, (i + 1) % (MANY / 2));
	for (int i = 0; i < MANY / 2; i++)
		buffer_puts(&text, ",{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
		                   "\"containers\":"
		                   "[{\"name\":\"c\"}]}}");
	buffer_puts(&text, "]}");
	parsed_open(&parsed, text.text);
	buffer_free(&text);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	struct admit_index *index = admit_index_create(&parsed.manifests);
	for (size_t i = 0; i < parsed.manifests.count; i++)
		admit_object(&parsed.manifests.items[i], index, &parsed.problems);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true(after.tv_sec - before.tv_sec < SECONDS);
	assert_int_equal(parsed.problems.errors, MANY - 1); /* every queue is on the ring, every pod but one repeated */
	admit_index_destroy(index);
	parsed_close(&parsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat),         cmocka_unit_test(deep_chain), cmocka_unit_test(deepest_allowed),
		cmocka_unit_test(one_ring),     cmocka_unit_test(one_name),   cmocka_unit_test(many_sets),
		cmocka_unit_test(many_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
