/* New Jobs: whose evictions are no failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grouping/grouping.h"

#include <string.h>

struct job_case {
	const char *name, *metadata, *spec, *pod;
	bool shielded;
};

static void check(const struct job_case *given)
{
	char text[1000];
	snprintf(text, sizeof(text), "{\"metadata\":{%s},\"spec\":{%s\"template\":{\"spec\":{%s}}}}", given->metadata,
	         given->spec, given->pod);
	struct doc *job = doc_parse_json(text, strlen(text), NULL);
	assert_non_null(job);
	struct doc *shielded = grouping_admit_job(&settings_usual, doc_root(job));
	if ((shielded != NULL) != given->shielded)
		fail_msg("%s: %s", given->name, shielded ? "it is changed" : "it stays");
	if (shielded) {
		const struct val *spec = val_get(doc_root(shielded), "spec");
		const struct val *rule = val_item(val_path(spec, "podFailurePolicy", "rules", NULL), 0);
		const struct val *condition = val_item(val_get(rule, "onPodConditions"), 0);
		assert_string_equal(val_str(val_get(rule, "action"), ""), "Ignore");
		assert_string_equal(val_str(val_get(condition, "type"), ""), "DisruptionTarget");
		assert_string_equal(val_str(val_get(condition, "status"), ""), "True");
		assert_string_equal(val_str(val_get(spec, "podReplacementPolicy"), ""), "Failed");
		assert_true(val_equal(val_get(spec, "template"), val_path(doc_root(job), "spec", "template", NULL)));
	}
	doc_destroy(shielded);
	doc_destroy(job);
}

#define OURS "\"schedulerName\":\"platoon\",\"restartPolicy\":\"Never\""
#define OWNER(kind) "\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"o\",\"controller\":true}]"

static void evictions_of_a_job(void **state)
{
	static const struct job_case cases[] = {
		{"one that says nothing", "", "", OURS, true},
		{"one of KAI's", "", "", "\"schedulerName\":\"kai-scheduler\",\"restartPolicy\":\"Never\"", true},
		{"with defaults filled in", "", "\"backoffLimit\":6,\"podReplacementPolicy\":\"TerminatingOrFailed\",",
	         OURS, true},
		{"of a CronJob", OWNER("CronJob"), "", OURS, true},
		{"a policy of its own", "", "\"podFailurePolicy\":{\"rules\":[]},", OURS, false},
		{"of a JobSet", OWNER("JobSet"), "", OURS, false},
		{"of another scheduler", "", "", "\"restartPolicy\":\"Never\"", false},
		{"pods that are restarted may have none", "", "",
	         "\"schedulerName\":\"platoon\",\"restartPolicy\":\"OnFailure\"", false},
		{"nothing that can be read", "", "", "\"schedulerName\":7,\"restartPolicy\":[]", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(evictions_of_a_job)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
