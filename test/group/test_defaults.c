/* The ConfigMap with the defaults of kinds: what is read from it, and what is told about values that cannot be used. */
#include "group/defaults.h"

#include "base/strings.h"
#include "object/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

struct defaults_case {
	const char *what, *map; /* map NULL: there is no ConfigMap */
	const char *read;       /* switches that are on, then rows */
	const char *told;       /* paths of warnings */
};

static void describe(const struct group_options *options, struct buffer *out)
{
	buffer_printf(out, "%s%s%s", options->knative_gang ? "knative " : "", options->keep_old_names ? "old " : "",
	              options->ignore_kartas ? "no-kartas " : "");
	for (size_t i = 0; i < options->default_count; i++) {
		const struct group_kind_default *row = &options->defaults[i];
		buffer_printf(out, "%s.%s=%s,%s ", row->kind, row->api_group,
		              row->priority_class ? row->priority_class : "",
		              row->preemptibility ? row->preemptibility : "");
	}
}

static void check(const struct defaults_case *one)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct error error = {0};
	struct buffer read = {0}, told = {0};
	struct doc *doc = one->map ? doc_parse_json(one->map, strlen(one->map), &error) : NULL;
	/* What was there before goes; what the ConfigMap does not decide stays. */
	static const struct group_kind_default before = {.api_group = "*", .kind = "Job", .priority_class = "x"};
	struct group_options options = {.knative_gang = true,
	                                .defaults = &before,
	                                .default_count = 1,
	                                .default_queue = "team"};
	group_defaults_read(doc ? doc_root(doc) : NULL, arena, &options, &problems);
	describe(&options, &read);
	for (size_t i = 0; i < problems.count; i++)
		buffer_printf(&told, "%s ", problems.items[i].path);
	print_message("%s\n", one->what);
	assert_string_equal(read.text ? read.text : "", one->read);
	assert_string_equal(told.text ? told.text : "", one->told);
	assert_string_equal(options.default_queue, "team");
	assert_int_equal(problems.errors, 0);
	group_defaults_read(doc ? doc_root(doc) : NULL, arena, &options, NULL); /* nobody is told */
	buffer_free(&read);
	buffer_free(&told);
	doc_destroy(doc);
	arena_destroy(arena);
}

static void read_and_told(void **state)
{
	(void)state;
	static const struct defaults_case cases[] = {
		{"no ConfigMap is the usual", NULL, "", ""},
		{"an empty one too", "{}", "", ""},
		{"switches",
	         "{\"data\": {\"gangScheduleKnative\": \"true\", \"searchForLegacyPodGroups\": \"true\", "
	         "\"genericKartaFallback\": \"false\"}}",
	         "knative old no-kartas ", ""},
		{"a word that is none",
	         "{\"data\": {\"gangScheduleKnative\": \"yes\", \"genericKartaFallback\": \"no\"}}", "",
	         "data.gangScheduleKnative data.genericKartaFallback "},
		{"kinds with and without a group",
	         "{\"data\": {\"types\": \"[{\\\"typeName\\\": \\\"Job\\\", \\\"priorityName\\\": \\\"train\\\"}, "
	         "{\\\"typeName\\\": \\\"Deployment.apps\\\", \\\"preemptibility\\\": \\\"preemptible\\\"}]\"}}",
	         "Job.*=train, Deployment.apps=,preemptible ", ""},
		{"an entry without a kind", "{\"data\": {\"types\": \"[{}, {\\\"typeName\\\": \\\"Job\\\"}]\"}}",
	         "Job.*=, ", "data.types[0].typeName "},
		{"no list", "{\"data\": {\"types\": \"{}\"}}", "", "data.types "},
		{"no JSON", "{\"data\": {\"types\": \"[\"}}", "", "data.types "},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(read_and_told)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
