/* Volumes: where claims let a pod run. */
#include "verdict.h"

#include "admit/volume.h"

#include <string.h>

static const struct pod_rules no_rules;

static const char world[] =
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-a}\nspec: {nodeAffinity: {required: "
	"{nodeSelectorTerms: ["
	"{matchExpressions: [{key: zone, operator: In, values: [a]}]}, "
	"{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}}\n---\n"
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-free}\nspec: {}\n---\n"
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-host}\nspec: {nodeAffinity: {required: "
	"{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {volumeName: pv-a}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: free}\nspec: {volumeName: pv-free}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: waiting}\nspec: {}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: local}\nspec: {volumeName: pv-host}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: lost}\nspec: {volumeName: pv-gone}\n---\n"
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: other}\nspec: {volumeName: "
	"pv-host}\n";

struct volumes {
	struct parsed parsed;
	struct volume_spec volumes[3];
	struct claim_spec claims[6];
	struct volume_index *index;
};

static void open_world(struct volumes *volumes)
{
	struct parsed *parsed = &volumes->parsed;
	parsed_open(parsed, world);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(volume_decode(parsed_object(parsed, i), parsed->arena, &volumes->volumes[i],
		                               &parsed->problems),
		                 0);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(claim_decode(parsed_object(parsed, 3 + i), parsed->arena, &volumes->claims[i],
		                              &parsed->problems),
		                 0);
	volumes->index = volume_index_create(parsed->arena, volumes->claims, 6, volumes->volumes, 3);
}

static void attach(void **state)
{
	static const struct {
		const char *namespace_;
		const char *claims[4];
		size_t volumes, first_terms, warnings;
	} rows[] = {
		{"default", {NULL}, 0, 0, 0},
		{"default", {"data"}, 1, 2, 0},
		{"other", {"data"}, 1, 1, 0},
		{"default", {"free", "waiting"}, 0, 0, 0},
		{"default", {"data", "free", "local"}, 2, 2, 0},
		{"default", {"absent"}, 0, 0, 1},
		{"default", {"lost", "local"}, 1, 1, 1},
		{"third", {"local"}, 0, 0, 1},
	};
	struct volumes volumes;
	open_world(&volumes);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *claims[4];
		memcpy(claims, rows[i].claims, sizeof(claims));
		struct pod_spec pod = {.namespace_ = rows[i].namespace_,
		                       .name = "p",
		                       .claims = claims,
		                       .rules = &no_rules};
		while (pod.claim_count < 4 && claims[pod.claim_count])
			pod.claim_count++;
		struct problems problems = {.arena = volumes.parsed.arena};
		struct pod_rules rules = pod_rules_with_volumes(&pod, volumes.index, volumes.parsed.arena, &problems);
		assert_int_equal(rules.volume_count, rows[i].volumes);
		if (rows[i].volumes)
			assert_int_equal(rules.volume_term_counts[0], rows[i].first_terms);
		assert_int_equal(problems.count, rows[i].warnings);
		assert_int_equal(problems.errors, 0);
	}
	parsed_close(&volumes.parsed);
}

static void empty_world(void **state)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	const char *claims[] = {"data"};
	struct pod_spec pod = {
		.namespace_ = "default", .name = "p", .claims = claims, .claim_count = 1, .rules = &no_rules};
	struct pod_rules rules =
		pod_rules_with_volumes(&pod, volume_index_create(arena, NULL, 0, NULL, 0), arena, &problems);
	assert_int_equal(rules.volume_count, 0);
	assert_int_equal(problems.count, 1);
	arena_destroy(arena);
}

static void bad_objects(void **state)
{
	static const struct row rows[] = {
		{"terms",
	         "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {nodeAffinity: {required: {}}}",
	         {{'E', "spec.nodeAffinity.required.nodeSelectorTerms", "at least one"}}},
		{"types",
	         "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {nodeAffinity: {required: 1}}",
	         {{'E', "spec.nodeAffinity.required", "map"}}},
		{"claim",
	         "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {volumeName: 1}",
	         {{'E', "spec.volumeName", "string"}}},
	};
	verdict_check_all(NULL, rows, COUNT_OF(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach),
		cmocka_unit_test(empty_world),
		cmocka_unit_test(bad_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
