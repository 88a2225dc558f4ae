/* Groups of Kubernetes itself: what their API server refuses, and which changes of them. */
#include "verdict.h"

#include "admit/native.h"
#include "base/strings.h"

static const char group[] = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: ";
static const char composite[] =
	"apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: g}\nspec: ";

#define GANG "schedulingPolicy: {gang: {minCount: 2}}"

static void groups(void **state)
{
	static const struct row rows[] = {
		{"a gang", "{" GANG "}", {{0}}},
		{"basic", "{schedulingPolicy: {basic: {}}, disruptionMode: {all: {}}, preemptionPolicy: Never}", {{0}}},
		{"as 1.36 wrote it", "{" GANG ", disruptionMode: PodGroup, podGroupTemplateRef: {}}", {{0}}},
		{"no policy", "{}", {{'E', "spec.schedulingPolicy", "Required"}}},
		{"two policies",
	         "{schedulingPolicy: {basic: {}, gang: {minCount: 1}}}",
	         {{'E', "spec.schedulingPolicy", "only one"}}},
		{"minCount 0",
	         "{schedulingPolicy: {gang: {minCount: 0}}}",
	         {{'E', "spec.schedulingPolicy.gang.minCount", NULL}}},
		{"no minCount",
	         "{schedulingPolicy: {gang: {}}}",
	         {{'E', "spec.schedulingPolicy.gang.minCount", "Required"}}},
		{"two topologies",
	         "{" GANG ", schedulingConstraints: {topology: [{key: a}, {key: b}]}}",
	         {{'E', "spec.schedulingConstraints.topology", "Too many: 2"}}},
		{"no key, a bad one",
	         "{" GANG ", schedulingConstraints: {topology: [{key: 'a b'}]}}",
	         {{'E', "spec.schedulingConstraints.topology[0].key", "label key"}}},
		{"an empty one",
	         "{" GANG ", schedulingConstraints: {topology: [{}]}}",
	         {{'E', "spec.schedulingConstraints.topology[0].key", "Required"}}},
		{"modes",
	         "{" GANG ", disruptionMode: {single: {}, all: {}}}",
	         {{'E', "spec.disruptionMode", "only one"}}},
		{"a word that is none", "{" GANG ", disruptionMode: Job}", {{'E', "spec.disruptionMode", NULL}}},
		{"priorities", "{" GANG ", priority: 1000000001}", {{'E', "spec.priority", NULL}}},
		{"policies", "{" GANG ", preemptionPolicy: Sometimes}", {{'E', "spec.preemptionPolicy", NULL}}},
		{"a parent comes with a template",
	         "{" GANG ", parentCompositePodGroupName: p}",
	         {{'E', "spec.workloadRef", "parent"}}},
		{"both",
	         "{" GANG ", parentCompositePodGroupName: p, workloadRef: {workloadName: w, templateName: t}}",
	         {{0}}},
		{"half a template",
	         "{" GANG ", workloadRef: {workloadName: w}}",
	         {{'E', "spec.workloadRef.templateName", "Required"}}},
		{"claims",
	         "{" GANG ", resourceClaims: [{name: c}]}",
	         {{'E', "spec.resourceClaims[0]", "exactly one"}, {'W', "spec.resourceClaims", "not served"}}},
		{"a misspelt field", "{" GANG ", minCount: 3}", {{'W', "spec.minCount", NULL}}},
		{"all at once",
	         "{disruptionMode: {}, priority: x}",
	         {{'E', "spec.schedulingPolicy", NULL},
	          {'E', "spec.disruptionMode", "Required"},
	          {'E', "spec.priority", NULL}}},
	};
	verdict_check_all(group, rows, COUNT_OF(rows));
}

static void composites(void **state)
{
	static const struct row rows[] = {
		{"good",
	         "{workloadRef: {workloadName: w, templateName: t}, schedulingPolicy: {gang: {minGroupCount: 2}}}",
	         {{0}}},
		{"without a template", "{schedulingPolicy: {basic: {}}}", {{'E', "spec.workloadRef", "Required"}}},
		{"pods are not counted there",
	         "{workloadRef: {workloadName: w, templateName: t}, schedulingPolicy: {gang: {minCount: 2}}}",
	         {{'E', "spec.schedulingPolicy.gang.minGroupCount", "Required"},
	          {'W', "spec.schedulingPolicy.gang.minCount", NULL}}},
	};
	verdict_check_all(composite, rows, COUNT_OF(rows));
}

static void changes(void **state)
{
	static const struct {
		const char *old, *now, *path; /* path NULL: it is allowed */
	} rows[] = {
		{"{schedulingPolicy: {gang: {minCount: 2}}}", "{schedulingPolicy: {gang: {minCount: 3}}}", NULL},
		{"{schedulingPolicy: {basic: {}}}", "{schedulingPolicy: {gang: {minCount: 3}}}",
	         "spec.schedulingPolicy"},
		{"{schedulingPolicy: {gang: {minCount: 2}}}", "{schedulingPolicy: {basic: {}}}",
	         "spec.schedulingPolicy"},
		{"{schedulingPolicy: {gang: {minGroupCount: 2}}}", "{schedulingPolicy: {gang: {minGroupCount: 3}}}",
	         "spec.schedulingPolicy"},
		{"{priorityClassName: a}", "{priorityClassName: b}", "spec.priorityClassName"},
		{"{}", "{priorityClassName: b}", "spec.priorityClassName"},
		{"{priorityClassName: b}", "{}", "spec.priorityClassName"},
		{"{disruptionMode: {all: {}}}", "{disruptionMode: {all: {}}}", NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct parsed old, now;
		struct buffer texts[2] = {{0}};
		buffer_printf(&texts[0], "%s%s", group, rows[i].old);
		buffer_printf(&texts[1], "%s%s", group, rows[i].now);
		parsed_open(&old, texts[0].text);
		parsed_open(&now, texts[1].text);
		struct problems problems = {.arena = now.arena};
		native_judge_change(parsed_object(&now, 0), parsed_object(&old, 0), &problems);
		assert_int_equal(problems.errors, rows[i].path != NULL);
		if (rows[i].path)
			assert_string_equal(problems.items[0].path, rows[i].path);
		parsed_close(&old);
		parsed_close(&now);
		buffer_free(&texts[0]);
		buffer_free(&texts[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(composites),
		cmocka_unit_test(changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
