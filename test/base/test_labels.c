/* Selectors and tolerations, each row one sentence of the Kubernetes documentation. */
#include "base/labels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct labels node_labels(void)
{
	static struct label items[] = {
		{"zone", "a"}, {"gpu", "h100"}, {"cores", "64"}, {"empty", ""}, {"below", "-3"}, {"word", "many"},
	};
	struct labels labels = {items, sizeof(items) / sizeof(items[0])};
	labels_sort(&labels);
	return labels;
}

static void labels_are_found_by_key(void **state)
{
	struct labels labels = node_labels();
	for (size_t i = 1; i < labels.count; i++)
		assert_true(strcmp(labels.items[i - 1].key, labels.items[i].key) < 0);
	assert_string_equal(labels_get(&labels, "gpu"), "h100");
	assert_string_equal(labels_get(&labels, "empty"), "");
	assert_string_equal(labels_get(&labels, "below"), "-3");
	assert_string_equal(labels_get(&labels, "zone"), "a");
	assert_null(labels_get(&labels, "zon"));
	assert_null(labels_get(&labels, ""));
	struct labels none = {0};
	labels_sort(&none);
	assert_null(labels_get(&none, "zone"));
	assert_null(labels_get(NULL, "zone"));
}

static void requirements(void **state)
{
	struct labels labels = node_labels();
	const struct {
		const char *key;
		enum match_op op;
		const char *values[2];
		size_t count;
		bool matches;
	} rows[] = {
		{"zone", MATCH_IN, {"a", "b"}, 2, true},
		{"zone", MATCH_IN, {"b"}, 1, false},
		{"zone", MATCH_IN, {"A"}, 1, false},
		{"rack", MATCH_IN, {"a"}, 1, false},
		{"empty", MATCH_IN, {""}, 1, true},
		{"zone", MATCH_NOT_IN, {"b"}, 1, true},
		{"zone", MATCH_NOT_IN, {"a", "b"}, 2, false},
		{"rack", MATCH_NOT_IN, {"a"}, 1, true}, /* a label that is not there is in no set */
		{"zone", MATCH_EXISTS, {0}, 0, true},
		{"empty", MATCH_EXISTS, {0}, 0, true},
		{"rack", MATCH_EXISTS, {0}, 0, false},
		{"zone", MATCH_NOT_EXISTS, {0}, 0, false},
		{"rack", MATCH_NOT_EXISTS, {0}, 0, true},
		{"cores", MATCH_GT, {"63"}, 1, true},
		{"cores", MATCH_GT, {"64"}, 1, false},
		{"cores", MATCH_LT, {"65"}, 1, true},
		{"cores", MATCH_LT, {"64"}, 1, false},
		{"cores", MATCH_GT, {"9"}, 1, true}, /* as numbers, not as text */
		{"below", MATCH_LT, {"-2"}, 1, true},
		{"below", MATCH_LT, {"+0"}, 1, true},
		{"word", MATCH_GT, {"1"}, 1, false},
		{"empty", MATCH_GT, {"1"}, 1, false},
		{"rack", MATCH_LT, {"1"}, 1, false},
		{"cores", MATCH_GT, {"many"}, 1, false},
		{"cores", MATCH_GT, {"1 "}, 1, false},
		{"cores", MATCH_GT, {"-"}, 1, false},
		{"cores", MATCH_LT, {"99999999999999999999"}, 1, false},
		{"cores", MATCH_GT, {"-9223372036854775808"}, 1, true},
		{"cores", MATCH_GT, {"1", "2"}, 2, false},
		{"cores", MATCH_GT, {0}, 0, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *values[2] = {rows[i].values[0], rows[i].values[1]};
		struct match match = {.key = rows[i].key,
		                      .op = rows[i].op,
		                      .values = values,
		                      .value_count = rows[i].count};
		if (match_labels(&match, &labels, "node-1") != rows[i].matches)
			fail_msg("row %zu: %s", i, rows[i].key);
	}
}

static void the_name_can_be_tested_too(void **state)
{
	struct labels labels = node_labels();
	const char *values[] = {"node-1"};
	struct match match = {
		.key = "metadata.name", .op = MATCH_IN, .values = values, .value_count = 1, .field_name = true};
	assert_true(match_labels(&match, &labels, "node-1"));
	assert_false(match_labels(&match, &labels, "node-2"));
	assert_false(match_labels(&match, &labels, NULL));
	match.op = MATCH_NOT_IN;
	assert_true(match_labels(&match, &labels, "node-2"));
}

static void selectors_need_everything(void **state)
{
	struct labels labels = node_labels();
	const char *a[] = {"a"}, *h200[] = {"h200"};
	struct match items[] = {
		{.key = "zone", .op = MATCH_IN, .values = a, .value_count = 1},
		{.key = "gpu", .op = MATCH_IN, .values = h200, .value_count = 1},
	};
	assert_true(selector_matches(&(struct selector){0}, &labels, "n"));
	assert_true(selector_matches(&(struct selector){items, 1}, &labels, "n"));
	assert_false(selector_matches(&(struct selector){items, 2}, &labels, "n"));
}

/* The value of the taint is compared with that of the toleration. */
static void comparing_tolerations(void **state)
{
	static const struct {
		const char *taint, *value;
		bool larger, smaller;
	} rows[] = {
		{"950", "900", true, false}, {"800", "900", false, true},   {"900", "900", false, false},
		{"-5", "-3", false, true},   {"high", "900", false, false}, {"950", "high", false, false},
		{"", "1", false, false},     {NULL, "1", false, false},     {"1", NULL, false, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct taint taint = {"sla", rows[i].taint, TAINT_NO_SCHEDULE};
		struct toleration toleration = {.key = "sla",
		                                .value = rows[i].value,
		                                .any_effect = true,
		                                .compares = 1};
		assert_int_equal(taint_tolerated(&taint, &toleration, 1), rows[i].larger);
		toleration.compares = -1;
		assert_int_equal(taint_tolerated(&taint, &toleration, 1), rows[i].smaller);
		toleration.key = "other";
		assert_false(taint_tolerated(&taint, &toleration, 1));
	}
}

static void tolerations(void **state)
{
	const struct taint taint = {"gpu", "h100", TAINT_NO_SCHEDULE};
	const struct taint bare = {"gpu", NULL, TAINT_NO_EXECUTE};
	const struct {
		struct toleration toleration;
		bool taint, bare;
	} rows[] = {
		{{.key = "gpu", .value = "h100", .any_effect = true}, true, false},
		{{.key = "gpu", .value = "h100", .effect = TAINT_NO_SCHEDULE}, true, false},
		{{.key = "gpu", .value = "h100", .effect = TAINT_NO_EXECUTE}, false, false},
		{{.key = "gpu", .value = "a100", .any_effect = true}, false, false},
		{{.key = "gpu", .value = "", .any_effect = true}, false, true},
		{{.key = "gpu", .any_effect = true}, false, true},
		{{.key = "gpu", .exists = true, .any_effect = true}, true, true},
		{{.key = "gpu", .exists = true, .effect = TAINT_NO_EXECUTE}, false, true},
		{{.key = "cpu", .exists = true, .any_effect = true}, false, false},
		{{.key = NULL, .exists = true, .any_effect = true}, true, true},
		{{.key = "", .exists = true, .effect = TAINT_NO_SCHEDULE}, true, false},
		{{.key = "gpu", .exists = true, .effect = TAINT_PREFER_NO_SCHEDULE}, false, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (taint_tolerated(&taint, &rows[i].toleration, 1) != rows[i].taint)
			fail_msg("row %zu against the taint with a value", i);
		if (taint_tolerated(&bare, &rows[i].toleration, 1) != rows[i].bare)
			fail_msg("row %zu against the taint without one", i);
	}
	assert_false(taint_tolerated(&taint, NULL, 0));
	const struct toleration both[] = {rows[8].toleration, rows[0].toleration};
	assert_true(taint_tolerated(&taint, both, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_found_by_key),
		cmocka_unit_test(requirements),
		cmocka_unit_test(the_name_can_be_tested_too),
		cmocka_unit_test(selectors_need_everything),
		cmocka_unit_test(tolerations),
		cmocka_unit_test(comparing_tolerations),
	};
	return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
