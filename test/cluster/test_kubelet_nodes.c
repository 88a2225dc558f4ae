/* Simulated nodes: health, heartbeats, taints, and what becomes of the pods on them. */
#include "fixtures/kubelet_fixture.h"

/* With heartbeats every two seconds. */
static int start_beating(void **state)
{
	int rc = kubelet_fixture_start(state);
	struct kubelet_fixture *fixture = *state;
	kubelet_destroy(fixture->kubelet);
	fixture->kubelet = kubelet_create(&(struct kubelet_options){
		.store = fixture->store,
		.clock = &fixture->clock.source,
		.start_seconds = 1,
		.ready_seconds = 1,
		.stop_seconds = 2,
		.heartbeat_seconds = 2,
		.lost_seconds = 20,
	});
	return rc;
}

static const char *node_ready(const struct kubelet_fixture *fixture)
{
	const struct store_object *node =
		store_peek(fixture->store, store_type_find(fixture->store, "", "nodes"), "", "n1");
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(node->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0)
			return val_str(val_get(item, "status"), "");
	return "";
}

static size_t taints(const struct kubelet_fixture *fixture)
{
	const struct store_object *node =
		store_peek(fixture->store, store_type_find(fixture->store, "", "nodes"), "", "n1");
	return val_count(val_path(node->root, "spec", "taints", NULL));
}

static void a_node_that_is_down_loses_its_pods(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "p1", "Always", "a: b");
	kubelet_fixture_make(
		fixture,
		"{apiVersion: v1, kind: Pod, metadata: {name: stays, namespace: default}, spec: {schedulerName: "
		"platoon,"
		" containers: [{name: a}], tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists}]}}");
	kubelet_fixture_pass(fixture, 5);
	assert_string_equal(node_ready(fixture), "True");
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_STATE, "down");
	kubelet_fixture_pass(fixture, 5);
	assert_string_equal(node_ready(fixture), "Unknown");
	assert_int_equal(taints(fixture), 2);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Running");
	assert_false(kubelet_fixture_ready(fixture, "p1"));
	kubelet_fixture_pass(fixture, 20);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "gone");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "stays"), "Running");
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_STATE, "null");
	kubelet_fixture_pass(fixture, 2);
	assert_string_equal(node_ready(fixture), "True");
	assert_int_equal(taints(fixture), 0);
	assert_true(kubelet_fixture_ready(fixture, "stays"));
}

static void a_flapping_node_keeps_its_pods(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "p1", "Always", "a: b");
	kubelet_fixture_pass(fixture, 5);
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_FLAP, "'10'");
	int ups = 0, downs = 0;
	for (int i = 0; i < 60; i++) {
		kubelet_fixture_pass(fixture, 1);
		bool up = strcmp(node_ready(fixture), "True") == 0;
		ups += up;
		downs += !up;
	}
	assert_in_range(ups, 28, 32);
	assert_in_range(downs, 28, 32);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Running");
}

static void delete_node(struct kubelet_fixture *fixture, const char *name)
{
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = store_api_find(fixture->store, "", "v1", "nodes"),
	                                .name = name};
	assert_int_equal(store_write(fixture->store, &request, &result), 0);
	store_result_clear(&result);
	arena_destroy(arena);
}

static void pods_of_a_deleted_node_are_gone(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "p1", "Always", "a: b");
	kubelet_fixture_pass(fixture, 5);
	delete_node(fixture, "n1");
	kubelet_fixture_pass(fixture, 2);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "gone");
}

static void what_others_say_about_a_node_stays(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_merge(fixture, "nodes", "n1", STORE_STATUS,
	                      "{kind: Patch, patch: {status: {conditions: [{type: Ready, status: 'False', reason: "
	                      "KubeletNotReady}]}}}");
	kubelet_fixture_pass(fixture, 5);
	assert_string_equal(node_ready(fixture), "False");
	assert_int_equal(taints(fixture), 0);
}

/* ---- heartbeats ---- */

static const struct store_object *lease_of(const struct kubelet_fixture *fixture, const char *node)
{
	return store_peek(fixture->store, store_type_find(fixture->store, "coordination.k8s.io", "leases"),
	                  "kube-node-lease", node);
}

static int64_t renewed(const struct kubelet_fixture *fixture)
{
	int64_t when = 0;
	const struct store_object *lease = lease_of(fixture, "n1");
	assert_non_null(lease);
	assert_int_equal(clock_parse_rfc3339(val_str(val_path(lease->root, "spec", "renewTime", NULL), ""), &when), 0);
	return when;
}

static void a_node_is_heard_of(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_pass(fixture, 5);
	const struct store_object *lease = lease_of(fixture, "n1");
	assert_string_equal(val_str(val_path(lease->root, "spec", "holderIdentity", NULL), ""), "n1");
	int64_t before = renewed(fixture);
	uint64_t version = store_version(fixture->store);
	kubelet_fixture_pass(fixture, 20);
	assert_int_equal(renewed(fixture) - before, 20);
	/* Nothing else is written, and the Lease once per interval. */
	assert_int_equal(store_version(fixture->store) - version, 10);
	/* The conditions say now and then that they still hold; the pods of the node do not notice. */
	kubelet_fixture_pass(fixture, 130);
	const struct store_object *node =
		store_peek(fixture->store, store_type_find(fixture->store, "", "nodes"), "", "n1");
	int64_t said = 0;
	clock_parse_rfc3339(val_str(val_get(val_item(val_path(node->root, "status", "conditions", NULL), 0),
	                                    "lastHeartbeatTime"),
	                            ""),
	                    &said);
	assert_in_range(renewed(fixture) - said, 0, 120);
}

static void a_silent_node_is_given_up_after_a_while(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "p1", "Always", "a: b");
	kubelet_fixture_pass(fixture, 5);
	assert_true(kubelet_fixture_ready(fixture, "p1"));
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_STATE, "down");
	int64_t heard = renewed(fixture);
	kubelet_fixture_pass(fixture, 3);
	kubelet_fixture_make_life(fixture, "p2", "Always", "a: b");
	kubelet_fixture_pass(fixture, 2);
	/* Nobody knows yet: pods are still sent there, and do not start. */
	assert_string_equal(node_ready(fixture), "True");
	assert_true(kubelet_fixture_ready(fixture, "p1"));
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p2"), "Pending");
	kubelet_fixture_pass(fixture, 5);
	assert_int_equal(renewed(fixture), heard);
	assert_string_equal(node_ready(fixture), "Unknown");
	assert_int_equal(taints(fixture), 2);
	assert_false(kubelet_fixture_ready(fixture, "p1"));
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_STATE, "null");
	kubelet_fixture_pass(fixture, 3);
	assert_string_equal(node_ready(fixture), "True");
	assert_int_equal(taints(fixture), 0);
	assert_true(kubelet_fixture_ready(fixture, "p1"));
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_STATE, "down");
	kubelet_fixture_pass(fixture, 35);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "gone");
}

static void short_silence_is_overlooked(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_make_life(fixture, "p1", "Always", "a: b");
	kubelet_fixture_pass(fixture, 5);
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_FLAP, "'4'");
	for (int i = 0; i < 40; i++) {
		kubelet_fixture_pass(fixture, 1);
		assert_string_equal(node_ready(fixture), "True");
	}
	kubelet_fixture_annotate(fixture, "nodes", "n1", KUBELET_NODE_FLAP, "'20'");
	int downs = 0;
	for (int i = 0; i < 80; i++) {
		kubelet_fixture_pass(fixture, 1);
		downs += strcmp(node_ready(fixture), "Unknown") == 0;
	}
	assert_in_range(downs, 20, 28);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "p1"), "Running");
}

/* A new node of the same name has a Lease of its own. */
static void a_lease_goes_with_its_node(void **state)
{
	struct kubelet_fixture *fixture = *state;
	kubelet_fixture_pass(fixture, 5);
	delete_node(fixture, "n1");
	for (int i = 0; i < 5; i++) {
		store_collect_garbage(fixture->store, 100);
		kubelet_fixture_pass(fixture, 1);
	}
	assert_null(lease_of(fixture, "n1"));
}

/* ---- taints of others ---- */

static void taints_end_pods_that_do_not_tolerate_them(void **state)
{
	struct kubelet_fixture *fixture = *state;
	static const char *const pods[][2] = {
		{"none", ""},
		{"other", "{key: b, operator: Exists}"},
		{"wrong", "{key: a, value: w, effect: NoExecute}"},
		{"right", "{key: a, value: v, effect: NoExecute}"},
		{"all", "{operator: Exists}"},
		{"while", "{key: a, operator: Exists, tolerationSeconds: 10}"},
	};
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++) {
		struct buffer text = {0};
		buffer_printf(
			&text,
			"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default}, spec: {schedulerName: "
			"platoon, containers: [{name: a}], tolerations: [%s]}}",
			pods[i][0], pods[i][1]);
		kubelet_fixture_make(fixture, text.text);
		buffer_free(&text);
	}
	kubelet_fixture_pass(fixture, 5);
	kubelet_fixture_merge(
		fixture, "nodes", "n1", STORE_MAIN,
		"{kind: Patch, patch: {spec: {taints: [{key: a, value: v, effect: NoExecute}, {key: c, effect: "
		"NoSchedule}]}}}");
	kubelet_fixture_pass(fixture, 6);
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		assert_string_equal(kubelet_fixture_phase_of(fixture, pods[i][0]), i < 3 ? "gone" : "Running");
	kubelet_fixture_pass(fixture, 10);
	assert_string_equal(kubelet_fixture_phase_of(fixture, "while"), "gone");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "right"), "Running");
	assert_string_equal(kubelet_fixture_phase_of(fixture, "all"), "Running");
	assert_int_equal(taints(fixture), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_node_that_is_down_loses_its_pods, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_flapping_node_keeps_its_pods, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(pods_of_a_deleted_node_are_gone, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(what_others_say_about_a_node_stays, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_node_is_heard_of, start_beating, kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_silent_node_is_given_up_after_a_while, start_beating,
	                                        kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(short_silence_is_overlooked, start_beating, kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(a_lease_goes_with_its_node, start_beating, kubelet_fixture_stop),
		cmocka_unit_test_setup_teardown(taints_end_pods_that_do_not_tolerate_them, kubelet_fixture_start,
	                                        kubelet_fixture_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
