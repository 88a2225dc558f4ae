/* The scheduler loop and simulated kubelets: what happens to pods, and that nothing happens when nothing changes. */
#include "fixtures/kubelet_fixture.h"

static const char gang[] = "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup,\n"
			   " metadata: {name: g, namespace: default}, spec: {minMember: 2}}\n";

static void make_pod(struct kubelet_fixture *fixture, const char *name, const char *annotation, const char *value)
{
	struct buffer text = {0};
	buffer_printf(
		&text,
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, annotations: {%s: \"%s\"}},\n"
		" spec: {schedulerName: platoon, containers: [{name: a, resources: {requests: {cpu: 1}}}]}}",
		name, annotation, value);
	kubelet_fixture_make(fixture, text.text);
	buffer_free(&text);
}

static const char *group_phase(const struct kubelet_fixture *fixture)
{
	return val_str(val_get(kubelet_fixture_status_of(fixture, "scheduling.run.ai", "podgroups", "g"), "phase"), "");
}

static void delete_pod(struct kubelet_fixture *fixture, const char *name)
{
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = store_api_find(fixture->store, "", "v1", "pods"),
	                                .namespace_ = "default",
	                                .name = name};
	assert_int_equal(store_write(fixture->store, &request, &result), 0);
	store_result_clear(&result);
	arena_destroy(arena);
}

static void a_gang_waits_for_its_pods_and_runs(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make(fixture, gang);
	make_pod(fixture, "p1", "pod-group-name", "g");
	kubelet_fixture_pass(fixture, 3);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Pending");
	assert_string_equal(group_phase(fixture), "NotReady");
	make_pod(fixture, "p2", "pod-group-name", "g");
	kubelet_fixture_pass(fixture, 1);
	assert_string_equal(group_phase(fixture), "Placed");
	kubelet_fixture_pass(fixture, 4);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Running");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p2"), "Running");
	assert_string_equal(group_phase(fixture), "Running");
}

static void nothing_is_written_without_a_change(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make(fixture, gang);
	for (int i = 0; i < 3; i++)
		make_pod(fixture, (const char *[]){"p1", "p2", "p3"}[i], "pod-group-name", "g");
	kubelet_fixture_pass(fixture, 5);
	uint64_t version = store_version(fixture->store);
	kubelet_fixture_pass(fixture, 30);
	assert_int_equal(store_version(fixture->store), version);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p3"), "Pending");
}

static void a_deleted_pod_ends_and_leaves_its_room(void **state)
{
	struct kubelet_fixture *fixture = *state;
	make_pod(fixture, "p1", "a", "b");
	make_pod(fixture, "p2", "a", "b");
	kubelet_fixture_pass(fixture, 5);
	make_pod(fixture, "p3", "a", "b");
	kubelet_fixture_pass(fixture, 2);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p3"), "Pending");
	delete_pod(fixture, "p1");
	kubelet_fixture_pass(fixture, 1);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Running");
	kubelet_fixture_pass(fixture, 5);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "gone");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p3"), "Running");
}

static void a_pod_with_a_run_time_succeeds(void **state)
{
	struct kubelet_fixture *fixture = *state;
	make_pod(fixture, "p1", KUBELET_RUN_SECONDS, "10");
	make_pod(fixture, "p2", KUBELET_RUN_SECONDS, "soon");
	kubelet_fixture_pass(fixture, 8);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Running");
	kubelet_fixture_pass(fixture, 6);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Succeeded");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p2"), "Running");
}

/* ---- pods that fail and hang ---- */

static int64_t restarts_of(const struct kubelet_fixture *fixture, const char *pod)
{
	int64_t count = -1;
	val_int(val_get(val_item(val_get(kubelet_fixture_status_of(fixture, "", "pods", pod), "containerStatuses"), 0),
	                "restartCount"),
	        &count);
	return count;
}

static void failures_follow_the_restart_policy(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "never", "Never", KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7'");
	kubelet_fixture_make_life(fixture, "again", "OnFailure",
	                          KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7'");
	kubelet_fixture_make_life(fixture, "twice", "OnFailure",
	                          KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7', " KUBELET_FAIL_TIMES ": '2'");
	kubelet_fixture_pass(fixture, 6);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "never"), "Failed");
	int64_t code = 0;
	val_int(val_path(val_item(val_get(kubelet_fixture_status_of(fixture, "", "pods", "never"), "containerStatuses"),
	                          0),
	                 "state", "terminated", "exitCode", NULL),
	        &code);
	assert_int_equal(code, 7);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "again"), "Running");
	assert_int_equal(restarts_of(fixture, "again"), 1);
	/* Later restarts wait longer and longer. */
	kubelet_fixture_pass(fixture, 5);
	assert_int_equal(restarts_of(fixture, "again"), 2);
	assert_false(kubelet_fixture_ready(fixture, "again"));
	kubelet_fixture_pass(fixture, 20);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "twice"), "Succeeded");
	assert_int_equal(restarts_of(fixture, "twice"), 2);
	assert_int_equal(restarts_of(fixture, "again"), 3);
}

static void what_hangs_hangs(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "unborn", "Always", KUBELET_START_SECONDS ": never");
	kubelet_fixture_make_life(fixture, "unready", "Always", KUBELET_READY_SECONDS ": never");
	kubelet_fixture_make_life(fixture, "undead", "Always", KUBELET_STOP_SECONDS ": never");
	kubelet_fixture_make_life(fixture, "slow", "Always",
	                          KUBELET_START_SECONDS ": '10', " KUBELET_READY_SECONDS ": '10'");
	kubelet_fixture_pass(fixture, 15);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "unborn"), "Pending");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "unready"), "Running");
	assert_false(kubelet_fixture_ready(fixture, "unready"));
	assert_string_equal(kubelet_fixture_phase_of(fixture, "slow"), "Running");
	assert_false(kubelet_fixture_ready(fixture, "slow"));
	delete_pod(fixture, "undead");
	kubelet_fixture_pass(fixture, 60);
	assert_true(kubelet_fixture_ready(fixture, "slow"));
	assert_string_equal(kubelet_fixture_phase_of(fixture, "undead"), "Running");
	/* The annotation is taken away: it goes. */
	kubelet_fixture_annotate(fixture, "pods", "undead", KUBELET_STOP_SECONDS, "null");
	kubelet_fixture_pass(fixture, 2);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "undead"), "gone");
}

static void a_node_speaks_for_its_pods(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_RUN_SECONDS, "'5'");
	kubelet_fixture_make_life(fixture, "p1", "Never", "a: b");
	kubelet_fixture_make_life(fixture, "p2", "Never", KUBELET_RUN_SECONDS ": '100'");
	kubelet_fixture_pass(fixture, 10);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Succeeded");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p2"), "Running");
}

/* ---- rules ---- */

static void make_labelled(struct kubelet_fixture *fixture, const char *name, const char *app, const char *annotations)
{
	struct buffer text = {0};
	buffer_printf(
		&text,
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels: {app: %s}, annotations: "
		"{%s}}, spec: {schedulerName: platoon, restartPolicy: Never, containers: [{name: a}]}}",
		name, app, annotations);
	kubelet_fixture_make(fixture, text.text);
	buffer_free(&text);
}

static size_t events_of(struct kubelet_fixture *fixture, const char *reason)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(fixture->store, "", "v1", "events")};
	size_t count = 0;
	assert_int_equal(store_list(fixture->store, &request, &list, arena, NULL), 0);
	for (size_t i = 0; i < list.count; i++)
		count += strcmp(val_str(val_get(list.items[i]->root, "reason"), ""), reason) == 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return count;
}

static void rules_are_for_selections_of_pods(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_RUN_SECONDS, "'100'");
	kubelet_fixture_make(fixture,
	                     "{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-rules, namespace: "
	                     "kube-system}, data: {rules: "
	                     "\"[{pods: 'app in (short,broken)', run-seconds: 4}, {pods: app=broken, exit-code: 3}, "
	                     "{pods: app=never, start-seconds: never}, {namespace: other, run-seconds: 1}, "
	                     "{nodes: rack=none, run-seconds: 1}, {pods: app=lucky, chance: 0, run-seconds: 1}]\"}}");
	static const char *const pods[][3] = {
		{"short", "short", "Succeeded"}, {"broken", "broken", "Failed"}, {"never", "never", "Pending"},
		{"lucky", "lucky", "Running"},   {"plain", "plain", "Running"},
	};
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		make_labelled(fixture, pods[i][0], pods[i][1], "a: b");
	make_labelled(fixture, "own", "short", KUBELET_RUN_SECONDS ": '50'");
	kubelet_fixture_pass(fixture, 10);
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		assert_string_equal(kubelet_fixture_phase_of(fixture, pods[i][0]), pods[i][2]);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "own"), "Running");
	assert_int_equal(events_of(fixture, "BadRule"), 0);
}

static void rules_can_be_wrong_and_change(void **state)
{
	struct kubelet_fixture *fixture = *state;
	make_labelled(fixture, "a", "a", "b: c");
	kubelet_fixture_pass(fixture, 5);
	kubelet_fixture_make(
		fixture, "{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-rules, namespace: kube-system}, "
			 "data: {rules: "
			 "\"[{pods: 'a b c', run-seconds: 1}, {run-seconds: -1}, {speed: 3}, 7, {chance: 101}]\"}}");
	kubelet_fixture_pass(fixture, 5);
	assert_int_equal(events_of(fixture, "BadRule"), 5);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "a"), "Running");
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = store_api_find(fixture->store, "", "v1", "configmaps"),
	                                .namespace_ = "kube-system",
	                                .name = "platoon-rules"};
	assert_int_equal(store_write(fixture->store, &request, &result), 0);
	store_result_clear(&result);
	arena_destroy(arena);
	kubelet_fixture_make(fixture, "{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-rules, namespace: "
	                              "kube-system}, data: {rules: "
	                              "'[{run-seconds: 8}]'}}");
	/* Pods that run already follow too. */
	kubelet_fixture_pass(fixture, 3);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "a"), "Succeeded");
}

/* A restart at any moment changes nothing: every due time is in the objects. */
static void restarts_change_nothing(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "p1", "OnFailure",
	                          KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7', " KUBELET_FAIL_TIMES ": '2'");
	for (int i = 0; i < 40; i++) {
		kubelet_fixture_pass(fixture, 1);
		kubelet_destroy(fixture->kubelet);
		fixture->kubelet = kubelet_create(&(struct kubelet_options){.store = fixture->store,
		                                                            .clock = &fixture->clock.source,
		                                                            .start_seconds = 1,
		                                                            .ready_seconds = 1});
	}
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Succeeded");
	assert_int_equal(restarts_of(fixture, "p1"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gang_waits_for_its_pods_and_runs, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(nothing_is_written_without_a_change, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_deleted_pod_ends_and_leaves_its_room, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_pod_with_a_run_time_succeeds, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(failures_follow_the_restart_policy, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(what_hangs_hangs, kubelet_fixture_start, kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_node_speaks_for_its_pods, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(rules_are_for_selections_of_pods, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(rules_can_be_wrong_and_change, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(restarts_change_nothing, kubelet_fixture_start, kubelet_fixture_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
