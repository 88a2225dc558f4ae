/* Segments: the examples of the design, run on whole clusters in virtual time. */
#include "fixtures/control_fixture.h"

#include "rbg/controller.h"

#include <stdlib.h>

#define POD "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"
#define ROLE(name, replicas) "  - {name: " name ", replicas: " replicas ", template: " POD "}\n"
#define PD_SEGMENTS(more)                                                                                              \
	"  coordination:\n  - name: pd\n    strategy: {segmentPlacement: {segmentSize: {prefill: 10, decode: 5}" more  \
	"}}\n"

/* Ordered and in proportion at any time: no segment begins before the one before it is ready. */
static void watch_order(struct control_fixture *fixture)
{
	int prefill = control_pods(fixture, "llm", "prefill"), decode = control_pods(fixture, "llm", "decode");
	assert_int_equal(prefill, 2 * decode);
	int ready = control_ready(fixture, "llm", "");
	assert_true(prefill + decode <= (ready / 15 + 1) * 15);
}

static void walkthrough(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 20, 8, 2);
	fixture->watch = watch_order;
	assert_int_equal(control_apply(fixture,
	                               HEAD "  roles:\n" ROLE("prefill", "100") ROLE("decode", "50") PD_SEGMENTS("")),
	                 201);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "");
	control_run(fixture, 1);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "False DeploymentInProgress: 0/150 pods ready");
	assert_string_equal(control_condition(fixture, "llm", "MinimumSegmentsAvailable"),
	                    "False NoSegmentsReady: 0/10 segments ready (0/150 pods)");
	while (control_ready(fixture, "llm", "") < 15)
		control_run(fixture, 1);
	control_run(fixture, 1);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "False PartialDeployment: 15/150 pods ready");
	assert_string_equal(control_condition(fixture, "llm", "MinimumSegmentsAvailable"),
	                    "True MinimumSegmentReady: 1/10 segments ready (15/150 pods)");
	assert_int_equal(control_pods(fixture, "llm", "prefill"), 20);
	assert_int_equal(control_pods(fixture, "llm", "decode"), 10);
	control_run(fixture, 100);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllReplicasReady: 150/150 pods ready");
	assert_string_equal(control_condition(fixture, "llm", "MinimumSegmentsAvailable"),
	                    "True AllSegmentsReady: 10/10 segments ready (150/150 pods)");
	assert_string_equal(control_condition(fixture, "llm", "MinimumReplicasAvailable"),
	                    "True AllSegmentsReady: 10/10 segments ready (150/150 pods)");
	assert_int_equal(control_events(fixture, "SegmentStarted"), 10);
	assert_int_equal(control_events(fixture, "SegmentReady"), 10);
	/* Segment 11 finds no room: the ten others serve on. */
	fixture->watch = NULL;
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "120") ROLE("decode", "60") PD_SEGMENTS(""));
	control_run(fixture, 60);
	assert_string_equal(control_condition(fixture, "llm", "MinimumSegmentsAvailable"),
	                    "True MinimumMet: 10/12 segments ready (150/180 pods)");
}

static void segment_11_waits(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 15, 10, 2);
	control_apply(fixture,
	              HEAD "  roles:\n" ROLE("prefill", "100") ROLE("decode", "50") PD_SEGMENTS(", gang: Segment"));
	control_run(fixture, 100);
	assert_int_equal(control_ready(fixture, "llm", ""), 150);
	control_apply(fixture,
	              HEAD "  roles:\n" ROLE("prefill", "110") ROLE("decode", "55") PD_SEGMENTS(", gang: Segment"));
	control_run(fixture, 60);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "False ScalingInProgress: 150/165 pods ready");
	assert_string_equal(control_condition(fixture, "llm", "MinimumSegmentsAvailable"),
	                    "True MinimumMet: 10/11 segments ready (150/165 pods)");
	control_run(fixture, 700);
	struct rbg_controller *other =
		rbg_controller_create(&(struct rbg_controller_options){.store = fixture->base.store});
	struct buffer metrics = {0};
	rbg_controller_metrics(other, &metrics);
	const char *label = "{namespace=\"default\",group=\"llm\",coordination=\"pd\"}";
	char line[256];
	snprintf(line, sizeof(line), "\nplatoon_group_segments_ready%s 10\n", label);
	assert_non_null(strstr(metrics.text, line));
	snprintf(line, sizeof(line), "\nplatoon_group_segment_waits_for%s 11\n", label);
	assert_non_null(strstr(metrics.text, line));
	snprintf(line, sizeof(line), "\nplatoon_group_segment_stuck%s 1\n", label);
	assert_non_null(strstr(metrics.text, line));
	buffer_free(&metrics);
	rbg_controller_destroy(other);
	assert_non_null(
		strstr(control_condition(fixture, "llm", "SegmentStuck"), "True SegmentNotReady: segment 11 of"));
	assert_non_null(strstr(control_condition(fixture, "llm", "SegmentStuck"), "is not scheduled"));
	/* Room appears: it goes on by itself. */
	assert_code(&fixture->base,
	            fixture_create(
			    &fixture->base, "nodes", "",
			    "{'metadata':{'name':'n99'},'status':{'allocatable':{'cpu':'1000','memory':'1000Gi',"
			    "'pods':'1000','nvidia.com/gpu':'15'},'conditions':[{'type':'Ready','status':'True'}]}}"),
	            201);
	control_run(fixture, 60);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllReplicasReady: 165/165 pods ready");
	assert_string_equal(control_condition(fixture, "llm", "SegmentStuck"), "False SegmentsProgress: ");
}

/* 150 pods wanted, room for 140. */
static void story_1(struct control_fixture *fixture, const char *more, int expected)
{
	char text[2048];
	control_nodes(fixture, 14, 10, 2);
	snprintf(text, sizeof(text), HEAD "  roles:\n" ROLE("prefill", "100") ROLE("decode", "50") PD_SEGMENTS("%s"),
	         more);
	assert_int_equal(control_apply(fixture, text), 201);
	control_run(fixture, 120);
	assert_int_equal(control_ready(fixture, "llm", ""), expected);
	assert_int_equal(control_pods(fixture, "llm", ""), 150);
	assert_string_equal(control_group_at(fixture, "llm", "status.segments"), "9/10");
}

static void story_1_in_part(void **state)
{
	story_1(*state, ", partialSegments: true", 140);
}

static void story_1_gang_of_segments(void **state)
{
	story_1(*state, ", gang: Segment", 135);
}

static void read_uid(struct control_fixture *fixture, const char *pod, char uid[64])
{
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", pod), 200);
	snprintf(uid, 64, "%s", fixture_at(&fixture->base, "metadata.uid"));
}

/* A segment starts whole or not at all; what has started lives as instances. */
static void story_1_as_printed(void **state)
{
	struct control_fixture *fixture = *state;
	char lost[64], sibling[64], after[64];
	story_1(fixture, "", 135);
	assert_string_equal(control_group_at(fixture, "llm", "status.coordinationStatuses.0.formedSegments"), "9");
	/* The segment that waits is one PodGroup, each instance of the others has its own. */
	const char *groups = fixture_names(&fixture->base, "podgroups.scheduling.run.ai", "default", NULL, NULL);
	assert_non_null(strstr(groups, "llm-pd-9"));
	assert_null(strstr(groups, "llm-pd-8"));
	assert_non_null(strstr(groups, "llm-prefill-89 "));
	assert_null(strstr(groups, "llm-prefill-90"));
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", "llm-prefill-95"), 200);
	assert_at(&fixture->base, "metadata.annotations.pod-group-name", "llm-pd-9");
	/* One that is lost is replaced alone. */
	read_uid(fixture, "llm-prefill-3", lost);
	read_uid(fixture, "llm-prefill-4", sibling);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "llm-prefill-3", NULL), 200);
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 135);
	read_uid(fixture, "llm-prefill-4", after);
	assert_string_equal(after, sibling);
	read_uid(fixture, "llm-prefill-3", after);
	assert_string_not_equal(after, lost);
	assert_at(&fixture->base, "metadata.annotations.pod-group-name", "llm-prefill-3");
}

static const char story_2_text[] = HEAD "  roles:\n" ROLE("prefill", "300") ROLE("decode", "100")
	ROLE("router", "50") "  coordination:\n"
			     "  - name: pd\n    strategy: {segmentPlacement: {segmentSize: {prefill: 5, decode: 3}}}\n"
			     "  - name: dr\n    strategy: {segmentPlacement: {segmentSize: {decode: 3, router: 2}}}\n";

static void story_2(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 60, 8, 2);
	assert_int_equal(control_apply(fixture, story_2_text), 201);
	control_run(fixture, 30);
	assert_true(control_pods(fixture, "llm", "prefill") < 100);
	control_run(fixture, 600);
	assert_int_equal(control_ready(fixture, "llm", "prefill"), 300);
	assert_int_equal(control_ready(fixture, "llm", "decode"), 100);
	assert_int_equal(control_ready(fixture, "llm", "router"), 50);
	assert_int_equal(control_events(fixture, "SegmentRatioMismatch"), 2);
}

#define LWS(size)                                                                                                      \
	HEAD "  roles:\n  - {name: worker, replicas: 10, leaderWorkerSet: {size: " size "}, template: " POD "}\n"      \
	     "  coordination:\n  - name: one\n    strategy: {segmentPlacement: {segmentSize: {worker: 1}}}\n"

static int ready_instances(struct control_fixture *fixture)
{
	int count = 0;
	for (int i = 0; i < 10; i++) {
		int pods = 0, ready = 0;
		char name[64];
		for (int p = 0; p < 12; p++) {
			snprintf(name, sizeof(name), "llm-worker-%d-%d", i, p);
			const struct store_object *pod =
				store_peek(fixture->base.store, store_type_find(fixture->base.store, "", "pods"),
			                   "default", name);
			const struct val *item;
			pods += pod != NULL;
			for (struct val_iter it =
			             val_iter(pod ? val_path(pod->root, "status", "conditions", NULL) : NULL);
			     val_next(&it, NULL, &item);)
				ready += strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0 &&
				         strcmp(val_str(val_get(item, "status"), ""), "True") == 0 && pod &&
				         !val_path(pod->root, "metadata", "deletionTimestamp", NULL);
		}
		count += pods >= 10 && ready == pods;
	}
	return count;
}

static void watch_nine(struct control_fixture *fixture)
{
	assert_true(ready_instances(fixture) >= 9);
}

static void story_3(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 16, 8, 2); /* 128 places: 120 pods in the end */
	assert_int_equal(control_apply(fixture, LWS("10")), 201);
	control_run(fixture, 120);
	assert_int_equal(control_ready(fixture, "llm", ""), 100);
	fixture->watch = watch_nine;
	control_apply(fixture, LWS("12"));
	control_run(fixture, 10);
	assert_non_null(strstr(control_condition(fixture, "llm", "RollingUpdateInProgress"), "True Updating"));
	control_run(fixture, 300);
	assert_int_equal(control_ready(fixture, "llm", ""), 120);
	assert_string_equal(control_condition(fixture, "llm", "Ready"), "True AllReplicasReady: 120/120 pods ready");
	assert_string_equal(control_group_at(fixture, "llm", "status.updated"), "10/10");
	assert_int_equal(control_events(fixture, "UpdateCompleted"), 1);
	assert_int_equal(fixture_get(&fixture->base, "podgroups.scheduling.run.ai", "default", "llm-worker-3"), 200);
	assert_at(&fixture->base, "spec.minMember", "12");
}

static void progressions(void **state)
{
	struct control_fixture *fixture = *state;
	/* Nothing fits: Ordered creates on, OrderedReady stops at the first segment, Parallel makes all at once. */
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "40") ROLE("decode", "20") PD_SEGMENTS(""));
	control_run(fixture, 30);
	assert_int_equal(control_pods(fixture, "llm", ""), 15);
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "40") ROLE("decode", "20")
	                               PD_SEGMENTS(", progression: Ordered"));
	control_run(fixture, 30);
	assert_int_equal(control_pods(fixture, "llm", ""), 60);
	/* Scale-down applies at once, gate or no gate. */
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "12") ROLE("decode", "6") PD_SEGMENTS(""));
	control_run(fixture, 10);
	assert_int_equal(control_pods(fixture, "llm", "prefill"), 12);
	assert_int_equal(control_pods(fixture, "llm", "decode"), 6);
}

static void conflicts_are_refused_in_the_words_of_the_design(void **state)
{
	static const struct {
		const char *first, *second, *message;
	} rows[] = {
		{"segmentSize: {prefill: 5}", "segmentSize: {prefill: 10}",
	         "segment size conflict for role \\\"prefill\\\": coordination has segment size 10, but another "
	         "coordination "
	         "has 5"},
		{"segmentSize: {prefill: 5}, progression: Ordered",
	         "segmentSize: {prefill: 5}, progression: OrderedReady",
	         "progression strategy conflict for role \\\"prefill\\\": coordination has strategy "
	         "\\\"OrderedReady\\\", but "
	         "another coordination has \\\"Ordered\\\""},
		{"segmentSize: {}", "segmentSize: {prefill: 5}", "no role has a size"},
		{"segmentSize: {router: 5}", "segmentSize: {prefill: 5}", "there is no role \\\"router\\\""},
		{"segmentSize: {prefill: 0}", "segmentSize: {prefill: 0}", "must be between 1"},
	};
	struct control_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[2048];
		snprintf(text, sizeof(text),
		         HEAD "  roles:\n" ROLE("prefill", "4") "  coordination:\n"
		                                                "  - strategy: {segmentPlacement: {%s}}\n"
		                                                "  - strategy: {segmentPlacement: {%s}}\n",
		         rows[i].first, rows[i].second);
		assert_int_equal(control_apply(fixture, text), 422);
		if (!strstr(fixture->base.text.text, rows[i].message))
			fail_msg("%s", fixture->base.text.text);
		assert_non_null(strstr(fixture->base.text.text, "spec.coordination["));
	}
}

/* Without admission the same shows as a condition, and what runs is left alone. */
static void bad_specs_past_admission(void **state)
{
	static const char *const bad[] = {
		"  coordination:\n  - strategy: {segmentPlacement: {segmentSize: {prefill: 5}}}\n"
		"  - strategy: {segmentPlacement: {segmentSize: {prefill: 10}}}\n",
		"  coordination:\n  - strategy: {segmentPlacement: {segmentSize: {router: 5}}}\n",
		"  coordination:\n  - strategy: {rollingDeploy: {roleDeployStep: {prefill: 2}, "
		"deployTopologyConstraint: "
		"{topologyLayerName: host}}}\n",
	};
	static const char *const messages[] = {"segment size conflict for role \"prefill\"", "there is no role",
	                                       "ClusterTopology rbg-cluster-topology"};
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "10"));
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 10);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[2048];
		snprintf(text, sizeof(text), HEAD "  roles:\n" ROLE("prefill", "20") "%s", bad[i]);
		control_apply(fixture, text);
		control_run(fixture, 20);
		const char *condition = control_condition(fixture, "llm", "CoordinationConflict");
		if (!strstr(condition, messages[i]) || strncmp(condition, "True", 4) != 0)
			fail_msg("%s", condition);
		assert_int_equal(control_ready(fixture, "llm", ""), 10);
		assert_int_equal(control_pods(fixture, "llm", ""), 10);
	}
	control_apply(fixture, HEAD "  coordination: null\n  roles:\n" ROLE("prefill", "20"));
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 20);
	assert_string_equal(control_condition(fixture, "llm", "CoordinationConflict"), "False NoConflict: ");
}

/* Whatever comes in, the controller tells what is wrong and lives. */
static void hostile_specs_past_admission(void **state)
{
	static const char *const specs[] = {
		"spec: {}",
		"spec: {roles: []}",
		"spec: {roles: [null, 3, x, [], {}]}",
		"spec: {roles: {a: b}}",
		"spec: {roles: [{name: a}]}",
		"spec: {roles: [{name: a, template: 5}, {name: a, template: {spec: []}}]}",
		"spec: {roles: [{name: null, replicas: 2147483647, template: " POD "}]}",
		"spec: {roles: [{name: a, replicas: 99999999999999999999, template: " POD "}]}",
		"spec: {roles: [{name: a, replicas: -4, leaderWorkerSet: {size: 99999999}, template: " POD "}]}",
		"spec: {roles: [{name: a, components: [null, {name: x}, {size: -1}]}]}",
		"spec: {roles: [{name: a, dependencies: [a, 3], template: " POD
		"}], coordination: [null, 3, {strategy: 3}]}",
		"spec: {roles: [{name: a, template: " POD
		"}], coordination: [{strategy: {segmentPlacement: {segmentSize: {a: -3, "
		"b: null, c: x}}}}]}",
		"spec: {roles: [{name: a, template: " POD
		"}], coordination: [{strategy: {rollingDeploy: 3}}, {strategy: "
		"{rollingDeploy: {roleDeployStep: {a: 0}}}}]}",
		"spec: {roles: [{name: a2345678901234567890123456789012345678901234567890123456789012345, "
		"template: " POD "}]}",
		"spec: {roles: [{name: a, templateRef: {name: x}}], roleTemplates: [null, {name: x}]}",
	};
	struct control_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		char text[1024], name[32];
		snprintf(name, sizeof(name), "bad%zu", i);
		snprintf(text, sizeof(text),
		         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: %s}\n%s\n",
		         name, specs[i]);
		assert_int_equal(control_apply(fixture, text), 201);
		control_run(fixture, 3);
		if (strncmp(control_condition(fixture, name, "CoordinationConflict"), "True InvalidSpec: spec", 22) !=
		    0)
			fail_msg("%s: %s", specs[i], control_condition(fixture, name, "CoordinationConflict"));
		assert_int_equal(control_pods(fixture, name, ""), 0);
	}
}

/* A coordination may be called anything; the objects that are named after it may not. */
static void any_name(void **state)
{
	static const char *const names[] = {"PD_main", "'my segments, all of them: 100%'", "a.b", "ä",
	                                    "a2345678901234567890123456789012345678901234567890123456789012345"};
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 4, 8, 2);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[1024];
		snprintf(text, sizeof(text),
		         "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: g%zu}\n"
		         "spec:\n  roles:\n" ROLE(
				 "prefill", "4") "  coordination:\n  - name: %s\n    strategy: "
		                                 "{segmentPlacement: {gang: Segment, segmentSize: {prefill: 2}}}\n",
		         i, names[i]);
		assert_int_equal(control_apply(fixture, text), 201);
		control_run(fixture, 20);
		snprintf(text, sizeof(text), "g%zu", i);
		if (control_ready(fixture, text, "") != 4)
			fail_msg("%s: %s", names[i], control_condition(fixture, text, "ReconcileFailed"));
	}
}

/* A name that somebody else has taken is not taken over. */
static void names_of_others(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 1, 8, 2);
	control_apply(fixture, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: llm}\ndata: {mine: yes-it-is}\n");
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "1"));
	control_run(fixture, 20);
	fixture_get(&fixture->base, "configmaps", "default", "llm");
	assert_at(&fixture->base, "data.mine", "yes-it-is");
	assert_int_equal(control_events(fixture, "FailedReconcileWorkload"), 1);
	assert_string_equal(control_condition(fixture, "llm", "ReconcileFailed"),
	                    "True Refused: ConfigMap llm is there already and does not belong to the group");
	fixture_delete(&fixture->base, "configmaps", "default", "llm", NULL);
	control_run(fixture, 100);
	assert_int_equal(control_ready(fixture, "llm", ""), 1);
	assert_string_equal(control_condition(fixture, "llm", "ReconcileFailed"), "False Written: ");
}

/* A turn that made pods and could not write the status: the next one must not take them away. */
static void a_lost_status_shrinks_nothing(void **state)
{
	const struct store_request status = {.verb = STORE_PATCH,
	                                     .patch = STORE_PATCH_MERGE,
	                                     .subresource = STORE_STATUS};
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 8, 8, 2);
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "30") ROLE("decode", "15") PD_SEGMENTS(""));
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 45);
	fixture_do(&fixture->base, status, "pods", "default", "llm-prefill-0",
	           "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}");
	fixture_do(&fixture->base, status, "rolebasedgroups.workloads.x-k8s.io", "default", "llm",
	           "{'status':{'roleStatuses':[{'name':'prefill','targetReplicas':10},{'name':'decode','targetReplicas'"
	           ":5}]"
	           "}}");
	control_run(fixture, 1);
	assert_int_equal(control_pods(fixture, "llm", ""), 45);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 45);
}

/* A controller that dies after every single turn ends where one that lives does. */
static void restarts_change_nothing(void **state)
{
	struct control_fixture *fixture = *state;
	fixture->restarts = true;
	control_nodes(fixture, 8, 8, 2);
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "30") ROLE("decode", "15") PD_SEGMENTS(""));
	fixture->watch = watch_order;
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 45);
	assert_int_equal(control_events(fixture, "SegmentStarted"), 3);
	fixture->watch = NULL;
	control_apply(fixture, HEAD "  roles:\n" ROLE("prefill", "10") ROLE("decode", "5") PD_SEGMENTS(""));
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 15);
}

static void restarts_during_an_update(void **state)
{
	struct control_fixture *fixture = *state;
	fixture->restarts = true;
	story_3(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(walkthrough, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(segment_11_waits, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(story_1_in_part, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(story_1_as_printed, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(story_1_gang_of_segments, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(story_2, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(story_3, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(progressions, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(conflicts_are_refused_in_the_words_of_the_design, control_setup,
	                                        control_teardown),
		cmocka_unit_test_setup_teardown(bad_specs_past_admission, control_setup_open_door, control_teardown),
		cmocka_unit_test_setup_teardown(hostile_specs_past_admission, control_setup_open_door,
	                                        control_teardown),
		cmocka_unit_test_setup_teardown(any_name, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(names_of_others, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(a_lost_status_shrinks_nothing, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(restarts_change_nothing, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(restarts_during_an_update, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
