/* Names of groups for people: the workload that they wrote, and which part of it. */
#include "base/arena.h"
#include "base/error.h"
#include "schedule/title.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UID "5b1a1531-b340-4f5c-8e71-5f9a2b1c0d11"
#define OWNER(version, kind, name)                                                                                     \
	"{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" UID                   \
	"\",\"controller\":true}"

static const struct {
	const char *about, *name, *owners, *title;
} cases[] = {
	{"a PodGroup that somebody wrote", "chat", "", "chat"},
	{"of a Job", "pg-train-" UID, OWNER("batch/v1", "Job", "train"), "job/train"},
	{"of a kind with a short name", "pg-db-" UID, OWNER("apps/v1", "StatefulSet", "db"), "sts/db"},
	{"of a kind nobody knows", "pg-x-" UID, OWNER("example.com/v1", "Sweep", "x"), "sweep/x"},
	{"one of several, told behind the uid", "pg-serve-" UID "-group-2",
         OWNER("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "serve"), "lws/serve group-2"},
	{"one of several, told behind the name", "pg-train-x7f2p-" UID, OWNER("batch/v1", "Job", "train"),
         "job/train x7f2p"},
	{"by the uid alone", "pg-" UID, OWNER("run.ai/v1", "Flow", "f"), "flow/f"},
	{"by the uid and a key", "pg-" UID "-a", OWNER("run.ai/v1", "Flow", "f"), "flow/f a"},
	{"of an instance of a RoleBasedGroup", "qwen-prefill-0",
         OWNER("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup", "qwen"), "rbg/qwen prefill-0"},
	{"a name that says nothing of the owner", "other", OWNER("batch/v1", "Job", "train"), "other"},
	{"a name that only begins alike", "trainer", OWNER("batch/v1", "Job", "train"), "trainer"},
	{"of two owners, neither in control", "pg-train-" UID,
         "{\"kind\":\"Job\",\"name\":\"train\"},{\"kind\":\"Job\",\"name\":\"b\"}", "pg-train-" UID},
};

static void titles(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena *arena = arena_create();
		struct error error = {0};
		const char *text = arena_printf(arena, "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[%s]}}",
		                                cases[i].name, cases[i].owners);
		struct doc *doc = doc_parse_json(text, strlen(text), &error);
		const char *title = title_of_group(doc_root(doc), arena);
		if (strcmp(title, cases[i].title) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].about, title, cases[i].title);
		doc_destroy(doc);
		arena_destroy(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(titles)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
