/* Verdicts that depend on other objects, and names as they are shown. */
#include "verdict.h"

#include "admit/decode.h"
#include "base/strings.h"

#include <string.h>

#define GROUP "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
#define QUEUE "apiVersion: scheduling.run.ai/v2\nkind: Queue\n"
#define OPEN "resources: {gpu: {limit: -1}, cpu: {limit: -1}, memory: {limit: -1}}"

static void duplicates(void **state)
{
	static const struct row rows[] = {
		{"the same twice",
	         GROUP "metadata: {name: a}\nspec: {}\n---\n" GROUP "metadata: {name: a}\nspec: {}\n",
	         {{'E', "metadata.name", "duplicate object: PodGroup \"a\" was already given in test.yaml"}}},
		{"the default namespace may be written or not",
	         GROUP "metadata: {name: a, namespace: default}\nspec: {}\n---\n" GROUP
	               "metadata: {name: a}\nspec: {}\n",
	         {{'E', "metadata.name", "duplicate object"}}},
		{"another namespace",
	         GROUP "metadata: {name: a, namespace: x}\nspec: {}\n---\n" GROUP "metadata: {name: a}\nspec: {}\n",
	         {{0}}},
		{"another kind",
	         QUEUE "metadata: {name: a}\nspec: {" OPEN "}\n---\n" GROUP "metadata: {name: a}\nspec: {}\n",
	         {{0}}},
		{"cluster scope has no namespace",
	         QUEUE "metadata: {name: a, namespace: x}\nspec: {" OPEN "}\n---\n" QUEUE
	               "metadata: {name: a}\nspec: {" OPEN "}\n",
	         {{'E', "metadata.name", "duplicate object"}}},
		{"names that are still to be made",
	         GROUP "metadata: {generateName: a}\n---\n" GROUP "metadata: {generateName: a}\n",
	         {{0}}},
	};
	verdict_check_all(NULL, rows, COUNT_OF(rows));
	/* The first of the two is fine. */
	struct parsed parsed;
	parsed_open(&parsed, rows[0].text);
	struct admit_index *index = admit_index_create(&parsed.manifests);
	admit_object(&parsed.manifests.items[0], index, &parsed.problems);
	assert_int_equal(parsed.problems.count, 0);
	admit_index_destroy(index);
	parsed_close(&parsed);
}

static void queues_of_groups(void **state)
{
	static const struct row rows[] = {
		{"alone", GROUP "metadata: {name: a}\nspec: {queue: q}\n", {{0}}},
		{"there",
	         QUEUE "metadata: {name: q}\nspec: {" OPEN "}\n---\n" GROUP "metadata: {name: a}\nspec: {queue: q}\n",
	         {{0}}},
		{"missing among others",
	         QUEUE "metadata: {name: q}\nspec: {" OPEN "}\n---\n" GROUP "metadata: {name: a}\nspec: {queue: Q}\n",
	         {{'W', "spec.queue", "\"Q\" does not exist"}}},
	};
	verdict_check_all(NULL, rows, COUNT_OF(rows));
}

static void kinds(void **state)
{
	static const struct {
		const char *api_version, *kind;
		bool known;
	} rows[] = {
		{"scheduling.run.ai/v2alpha2", "PodGroup", true},
		{"scheduling.run.ai/v2", "Queue", true},
		{"kai.scheduler/v1alpha1", "Topology", true},
		{"v1", "Pod", true},
		{"v1", "Node", true},
		{"v1", "PersistentVolume", true},
		{"v1", "PersistentVolumeClaim", true},
		{"scheduling.k8s.io/v1", "PriorityClass", true},
		{"v1", "PodGroup", false},
		{"scheduling.run.ai/v2", "PodGroup", false},
		{"workloads.x-k8s.io/v1alpha1", "RoleBasedGroup", true},
		{"workloads.x-k8s.io/v1alpha2", "RoleBasedGroup", true},
		{"resource.k8s.io/v1", "DeviceClass", true},
		{"kueue.x-k8s.io/v1beta1", "Topology", false},
		{"apps/v1", "Deployment", false},
		{"", "", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct manifest manifest = {.api_version = rows[i].api_version, .kind = rows[i].kind};
		assert_int_equal(admit_knows(&manifest), rows[i].known);
	}
	struct arena *arena = arena_create();
	assert_string_equal(admit_api_version("PodGroup", arena), "scheduling.run.ai/v2alpha2");
	assert_string_equal(admit_api_version("RoleBasedGroup", arena), "workloads.x-k8s.io/v1alpha2");
	assert_string_equal(admit_api_version("Pod", arena), "v1");
	assert_null(admit_api_version("Deployment", arena));
	arena_destroy(arena);
}

static void names(void **state)
{
	assert_true(name_is_label("a-1"));
	assert_true(name_is_label("0"));
	assert_false(name_is_label(""));
	assert_false(name_is_label("a.b"));
	assert_false(name_is_label("-a"));
	assert_true(name_is_subdomain("a.b-c.0"));
	assert_false(name_is_subdomain("a..b"));
	assert_false(name_is_subdomain(".a"));
	assert_false(name_is_subdomain("a."));
	assert_false(name_is_subdomain("a.-b"));
	assert_false(name_is_subdomain("a-.b"));
	assert_false(name_is_subdomain("A"));
	assert_true(name_is_label_key("example.com/A_b.c-d"));
	assert_false(name_is_label_key("example.com/"));
	assert_false(name_is_label_key("/a"));
	assert_false(name_is_label_key("a_b/c"));
	assert_false(name_is_label_key("_a"));
}

static void shown_text(void **state)
{
	struct arena *arena = arena_create();
	char text[200];
	memset(text, 'x', sizeof(text));
	text[199] = 0;
	/* a two-byte character across the cut must not be halved */
	text[79] = (char)0xc3;
	text[80] = (char)0xa4;
	const char *shown = decode_show(arena, text);
	assert_int_equal(strlen(shown), 79 + 2 + 3);
	assert_string_equal(decode_show(arena, "a\033[1m\n"), "\"a?[1m?\"");
	assert_string_equal(decode_show(arena, ""), "\"\"");
	const struct decode_path *list = PATH_KEY(PATH_KEY(NULL, "spec"), "subGroups");
	assert_string_equal(decode_path_text(arena, PATH_KEY(PATH_INDEX(list, 3), "a\tb")), "spec.subGroups[3].a?b");
	assert_string_equal(decode_path_text(arena, NULL), "");
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(duplicates), cmocka_unit_test(queues_of_groups), cmocka_unit_test(kinds),
		cmocka_unit_test(names),      cmocka_unit_test(shown_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
