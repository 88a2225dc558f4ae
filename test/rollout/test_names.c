/* Names, labels, gates and conditions. */
#include "rollout/conditions.h"
#include "rollout/deploy.h"
#include "rollout/naming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct arena *arena;

static int set_up(void **unused)
{
	(void)unused;
	arena = arena_create();
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	arena_destroy(arena);
	return 0;
}

#define LONG "a-name-that-is-long-but-still-allowed-as-the-name-of-an-object"

static void test_subgroup_names(void **unused)
{
	(void)unused;
	assert_string_equal(naming_subgroup("rbgs-test-1", "p-d-4-2-deploy-test", 1, arena),
	                    "rbgs-test-1-p-d-4-2-deploy-test-1");
	/* 63 characters fit, 64 do not. */
	char group[64];
	memset(group, 'g', sizeof(group));
	group[59] = '\0';
	assert_int_equal(strlen(naming_subgroup(group, "c", 0, arena)), 63);
	assert_non_null(strstr(naming_subgroup(group, "c", 0, arena), "gg-c-0"));
	group[60 - 1] = 'g';
	group[60] = '\0';
	const char *cut = naming_subgroup(group, "c", 0, arena);
	assert_int_equal(strlen(cut), 63);
	assert_null(strstr(cut, "-c-"));

	const char *zero = naming_subgroup(LONG, "pd", 0, arena), *one = naming_subgroup(LONG, "pd", 1, arena);
	assert_string_not_equal(zero, one);
	assert_memory_equal(zero, one, strlen(zero) - 1); /* alike but for the number */
	assert_string_not_equal(zero, naming_subgroup(LONG, "dp", 0, arena));
	assert_string_equal(zero, naming_subgroup(LONG, "pd", 0, arena));
	/* Characters a label may not have. */
	const char *odd = naming_subgroup("-gr\xc3\xbcn", "p d", 3, arena);
	assert_string_not_equal(odd, naming_subgroup("-gr\xc3\xbcn", "p/d", 3, arena));
	assert_memory_equal(odd, "gr--n-p-d-", 10);
	assert_true(strlen(naming_subgroup("", "", INT64_MAX, arena)) <= 63);
	assert_int_equal(strspn(naming_subgroup("/", "/", 7, arena), "0123456789abcdef-"), 10);
	assert_string_equal(naming_coordination(2, arena), "coordination-2");
}

static void test_labels(void **unused)
{
	(void)unused;
	struct naming_instance instance = {"rbg", "p", "pd", 4, 6};
	struct label labels[NAMING_LABELS];
	assert_int_equal(naming_labels(&instance, NAMING_V1ALPHA2, arena, labels), NAMING_LABELS);
	assert_string_equal(labels[NAMING_GROUP].key, "rbg.workloads.x-k8s.io/group-name");
	assert_string_equal(labels[NAMING_SUBGROUP].value, "rbg-pd-1");
	assert_string_equal(labels[NAMING_INDEX].value, "6");
	instance.index = -1;
	assert_int_equal(naming_labels(&instance, NAMING_V1ALPHA1, arena, labels), NAMING_INDEX);
	for (int label = 0; label < NAMING_LABELS; label++) {
		assert_int_equal(naming_label_of(naming_key(NAMING_V1ALPHA1, (enum naming_label)label)), label);
		assert_int_equal(naming_label_of(naming_key(NAMING_V1ALPHA2, (enum naming_label)label)), label);
	}
	assert_int_equal(naming_label_of("app"), NAMING_LABELS);
}

static void test_affinity(void **unused)
{
	(void)unused;
	struct pod_term *term = deploy_affinity("rbg", "rbg-pd-1", "rack", DEPLOY_SOFT, NAMING_V1ALPHA1, arena);
	assert_int_equal(term->weight, 100);
	struct label own[] = {{naming_key(NAMING_V1ALPHA1, NAMING_SUBGROUP), "rbg-pd-1"},
	                      {naming_key(NAMING_V1ALPHA1, NAMING_GROUP), "rbg"}};
	struct labels labels = {own, 2};
	labels_sort(&labels);
	assert_true(selector_matches(&term->selector, &labels, "pod"));
	for (size_t i = 0; i < 2; i++)
		if (strcmp(own[i].value, "rbg") == 0)
			own[i].value = "other";
	assert_false(selector_matches(&term->selector, &labels, "pod"));
	assert_int_equal(deploy_affinity("rbg", "x", "rack", DEPLOY_HARD, NAMING_V1ALPHA2, arena)->weight, 0);
	enum deploy_mode mode = DEPLOY_SOFT;
	assert_true(deploy_mode_parse("", &mode) && mode == DEPLOY_HARD);
	assert_true(deploy_mode_parse("soft", &mode) && mode == DEPLOY_SOFT);
	assert_false(deploy_mode_parse("Hard", &mode));
}

/* All pods exist, gated; batches of 4 and 2 follow as the ones before arrive. */
static void test_gates(void **unused)
{
	(void)unused;
	static const struct {
		int64_t prefill, decode, released;
	} rows[] = {{0, 0, 1}, {4, 1, 1}, {3, 2, 1},  {4, 2, 2}, {8, 2, 2},
	            {8, 3, 2}, {8, 4, 3}, {10, 4, 3}, {10, 5, 3}};
	const struct segment_size sizes[] = {{0, 4}, {1, 2}};
	struct segment_rule rule = {"pd", SEGMENT_ORDERED, sizes, 2};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct segment_role roles[] = {{.desired = 10, .current = 10, .ready = rows[i].prefill},
		                               {.desired = 5, .current = 5, .ready = rows[i].decode}};
		assert_int_equal(deploy_released(roles, 2, &rule), rows[i].released);
	}
	struct segment_role roles[] = {{.desired = 10}, {.desired = 5}};
	assert_int_equal(deploy_released(roles, 2, &rule), 1);
	rule.progression = SEGMENT_PARALLEL;
	assert_int_equal(deploy_released(roles, 2, &rule), 3);
	rule.count = 0;
	assert_int_equal(deploy_released(roles, 2, &rule), 0);
}

static void test_levels(void **unused)
{
	(void)unused;
	struct deploy_layer layers[] = {{"Host", 3, true}, {"TOR", 2, true}, {"Pod", 1, false}};
	assert_string_equal(deploy_level_text(layers, 3, arena), "Host < TOR < Pod");
	layers[2].has_scope = true;
	assert_string_equal(deploy_level_text(layers, 3, arena), "Pod < TOR < Host");
	assert_string_equal(deploy_level_text(layers, 0, arena), "");
}

static void test_conditions(void **unused)
{
	(void)unused;
	static const struct {
		const char *what;
		struct condition_facts facts;
		bool is_ready;
		const char *ready;
		bool is_available;
		const char *minimum;
	} rows[] = {
		{"nothing", {0, 10, false, 0, 150, 0}, false, "DeploymentInProgress", false, "NoSegmentsReady"},
		{"a part of a segment",
	         {0, 10, false, 7, 150, 0},
	         false,
	         "PartialDeployment",
	         false,
	         "NoSegmentsReady"},
		{"one", {1, 10, true, 15, 150, 0}, false, "PartialDeployment", true, "MinimumSegmentReady"},
		{"all", {10, 10, true, 150, 150, 0}, true, "AllReplicasReady", true, "AllSegmentsReady"},
		{"grows", {10, 11, true, 150, 165, 150}, false, "ScalingInProgress", true, "MinimumMet"},
		{"lost a pod", {9, 10, true, 149, 150, 150}, false, "PartialDeployment", true, "MinimumMet"},
		{"lost all", {0, 10, false, 0, 150, 150}, false, "DeploymentInProgress", false, "NoSegmentsReady"},
		{"other roles are missing",
	         {10, 10, true, 150, 170, 0},
	         false,
	         "PartialDeployment",
	         true,
	         "AllSegmentsReady"},
		{"one coordination has none",
	         {0, 4, false, 90, 150, 0},
	         false,
	         "PartialDeployment",
	         false,
	         "NoSegmentsReady"},
		{"between two steps of an update",
	         {10, 10, true, 150, 150, 150, true},
	         false,
	         "PartialDeployment",
	         true,
	         "AllSegmentsReady"},
		{"an update to larger instances",
	         {9, 10, true, 150, 170, 150, true},
	         false,
	         "PartialDeployment",
	         true,
	         "MinimumMet"},
		{"wants none", {0, 0, true, 0, 0, 0}, true, "AllReplicasReady", true, "AllSegmentsReady"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct condition_text got[CONDITION_SLOTS];
		condition_segments(&rows[i].facts, arena, got);
		print_message("%s\n", rows[i].what);
		assert_int_equal(got[CONDITION_READY].is_true, rows[i].is_ready);
		assert_string_equal(got[CONDITION_READY].reason, rows[i].ready);
		assert_int_equal(got[CONDITION_MINIMUM_SEGMENTS].is_true, rows[i].is_available);
		assert_string_equal(got[CONDITION_MINIMUM_SEGMENTS].reason, rows[i].minimum);
		assert_int_equal(got[CONDITION_MINIMUM_REPLICAS].is_true, rows[i].is_available);
	}
	struct condition_text got[CONDITION_SLOTS];
	condition_segments(&rows[2].facts, arena, got);
	assert_string_equal(got[CONDITION_READY].message, "15/150 pods ready");
	assert_string_equal(got[CONDITION_MINIMUM_REPLICAS].message, "1/10 segments ready (15/150 pods)");
	assert_string_equal(got[CONDITION_MINIMUM_REPLICAS].type, "MinimumReplicasAvailable");
	assert_int_equal(condition_complete_at(&rows[3].facts), 150);
	assert_int_equal(condition_complete_at(&rows[4].facts), 150);
	assert_int_equal(condition_complete_at(&rows[2].facts), 0);
	assert_string_equal(condition_roles(false).reason, "RoleNotReady");
	assert_true(condition_roles(true).is_true);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(test_subgroup_names), WITH_ARENA(test_labels), WITH_ARENA(test_affinity),
		WITH_ARENA(test_gates),          WITH_ARENA(test_levels), WITH_ARENA(test_conditions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
