/* The scheduler loop and the simulated kubelets over a store in memory, in virtual time: what happens to pods, and that
 * nothing happens when nothing changes. */
#include "schedule/scheduler.h"
#include "object/manifest.h"
#include "cluster/kubelet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

struct world {
	struct clock_virtual clock;
	struct store *store;
	struct scheduler *scheduler;
	struct kubelet *kubelet;
};

static const char cluster[] =
	"{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: default-queue}, spec: {resources: {\n"
	" gpu: {quota: -1, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1},\n"
	" memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}}\n---\n"
	"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: \"2\", memory: 1Gi, pods: "
	"\"9\"}}}\n";

static const char gang[] = "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup,\n"
			   " metadata: {name: g, namespace: default}, spec: {minMember: 2}}\n";

static void make(struct world *world, const char *text)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	manifests_init(&manifests);
	assert_int_equal(manifests_parse(&manifests, text, strlen(text), "test", &problems), 0);
	for (size_t i = 0; i < manifests.count; i++) {
		const struct manifest *manifest = &manifests.items[i];
		struct store_result result = {.arena = arena};
		struct store_request request = {
			.verb = STORE_CREATE,
			.api = store_api_of_kind(world->store, manifest->api_version, manifest->kind),
			.namespace_ = manifest->namespace_,
			.body = manifest->object,
		};
		if (store_write(world->store, &request, &result) < 0)
			fail_msg("%s", result.error.message);
		store_result_clear(&result);
	}
	manifests_free(&manifests);
	arena_destroy(arena);
}

static void make_pod(struct world *world, const char *name, const char *annotation, const char *value)
{
	struct buffer text = {0};
	buffer_printf(
		&text,
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, annotations: {%s: \"%s\"}},\n"
		" spec: {schedulerName: platoon, containers: [{name: a, resources: {requests: {cpu: 1}}}]}}",
		name, annotation, value);
	make(world, text.text);
	buffer_free(&text);
}

static int start(void **state)
{
	static struct world world;
	struct error error = {0};
	world = (struct world){0};
	clock_virtual_init(&world.clock, 1700000000 * CLOCK_SECOND);
	world.store = store_open(&(struct store_options){.clock = &world.clock.source, .seed = 1}, &error);
	world.scheduler =
		scheduler_create(&(struct scheduler_options){.store = world.store, .clock = &world.clock.source});
	world.kubelet = kubelet_create(&(struct kubelet_options){
		.store = world.store,
		.clock = &world.clock.source,
		.start_seconds = 1,
		.ready_seconds = 1,
		.stop_seconds = 2,
		.lost_seconds = 20,
	});
	make(&world, cluster);
	*state = &world;
	return world.store ? 0 : -1;
}

/* The same with heartbeats every two seconds. */
static int start_beating(void **state)
{
	int rc = start(state);
	struct world *world = *state;
	kubelet_destroy(world->kubelet);
	world->kubelet = kubelet_create(&(struct kubelet_options){
		.store = world->store,
		.clock = &world->clock.source,
		.start_seconds = 1,
		.ready_seconds = 1,
		.stop_seconds = 2,
		.heartbeat_seconds = 2,
		.lost_seconds = 20,
	});
	return rc;
}

static int stop(void **state)
{
	struct world *world = *state;
	kubelet_destroy(world->kubelet);
	scheduler_destroy(world->scheduler);
	store_close(world->store);
	return 0;
}

/* Lets time pass in tenths of a second. */
static void pass(struct world *world, int seconds)
{
	for (int i = 0; i < 10 * seconds; i++) {
		struct error error = {0};
		clock_virtual_advance(&world->clock, CLOCK_SECOND / 10);
		scheduler_step(world->scheduler);
		kubelet_step(world->kubelet);
		assert_int_equal(store_commit(world->store, &error), 0);
	}
}

static const struct val *status_of(const struct world *world, const char *group, const char *resource, const char *name)
{
	const struct store_object *object =
		store_peek(world->store, store_type_find(world->store, group, resource), "default", name);
	return object ? val_get(object->root, "status") : NULL;
}

static const char *phase_of(const struct world *world, const char *pod)
{
	const struct val *status = status_of(world, "", "pods", pod);
	return status ? val_str(val_get(status, "phase"), "") : "gone";
}

static const char *group_phase(const struct world *world)
{
	return val_str(val_get(status_of(world, "scheduling.run.ai", "podgroups", "g"), "phase"), "");
}

static void delete_pod(struct world *world, const char *name)
{
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = store_api_find(world->store, "", "v1", "pods"),
	                                .namespace_ = "default",
	                                .name = name};
	assert_int_equal(store_write(world->store, &request, &result), 0);
	store_result_clear(&result);
	arena_destroy(arena);
}

static void a_gang_waits_for_its_pods_and_runs(void **state)
{
	struct world *world = *state;
	make(world, gang);
	make_pod(world, "p1", "pod-group-name", "g");
	pass(world, 3);
	assert_string_equal(phase_of(world, "p1"), "Pending");
	assert_string_equal(group_phase(world), "Pending");
	make_pod(world, "p2", "pod-group-name", "g");
	pass(world, 1);
	assert_string_equal(group_phase(world), "Scheduled");
	pass(world, 4);
	assert_string_equal(phase_of(world, "p1"), "Running");
	assert_string_equal(phase_of(world, "p2"), "Running");
	assert_string_equal(group_phase(world), "Running");
}

static void nothing_is_written_without_a_change(void **state)
{
	struct world *world = *state;
	make(world, gang);
	for (int i = 0; i < 3; i++)
		make_pod(world, (const char *[]){"p1", "p2", "p3"}[i], "pod-group-name", "g");
	pass(world, 5);
	uint64_t version = store_version(world->store);
	pass(world, 30);
	assert_int_equal(store_version(world->store), version);
	assert_string_equal(phase_of(world, "p3"), "Pending");
}

static void a_deleted_pod_ends_and_leaves_its_room(void **state)
{
	struct world *world = *state;
	make_pod(world, "p1", "a", "b");
	make_pod(world, "p2", "a", "b");
	pass(world, 5);
	make_pod(world, "p3", "a", "b");
	pass(world, 2);
	assert_string_equal(phase_of(world, "p3"), "Pending");
	delete_pod(world, "p1");
	pass(world, 1);
	assert_string_equal(phase_of(world, "p1"), "Running");
	pass(world, 5);
	assert_string_equal(phase_of(world, "p1"), "gone");
	assert_string_equal(phase_of(world, "p3"), "Running");
}

static void a_pod_with_a_run_time_succeeds(void **state)
{
	struct world *world = *state;
	make_pod(world, "p1", KUBELET_RUN_SECONDS, "10");
	make_pod(world, "p2", KUBELET_RUN_SECONDS, "soon");
	pass(world, 8);
	assert_string_equal(phase_of(world, "p1"), "Running");
	pass(world, 6);
	assert_string_equal(phase_of(world, "p1"), "Succeeded");
	assert_string_equal(phase_of(world, "p2"), "Running");
}

/* ---- pods that fail and hang ---- */

static void merge(struct world *world, const char *resource, const char *name, enum store_subresource subresource,
                  const char *text)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests manifests;
	manifests_init(&manifests);
	assert_int_equal(manifests_parse(&manifests, text, strlen(text), "test", &problems), 0);
	struct store_result result = {.arena = arena};
	bool pod = strcmp(resource, "pods") == 0;
	struct store_request request = {
		.verb = STORE_PATCH,
		.api = store_api_find(world->store, "", "v1", resource),
		.subresource = subresource,
		.namespace_ = pod ? "default" : "",
		.name = name,
		.body = val_get(manifests.items[0].object, "patch"),
		.patch = STORE_PATCH_MERGE,
	};
	if (store_write(world->store, &request, &result) < 0)
		fail_msg("%s", result.error.message);
	store_result_clear(&result);
	manifests_free(&manifests);
	arena_destroy(arena);
}

static void annotate(struct world *world, const char *resource, const char *name, const char *key, const char *value)
{
	struct buffer text = {0};
	buffer_printf(&text, "{kind: Patch, patch: {metadata: {annotations: {%s: %s}}}}", key, value);
	merge(world, resource, name, STORE_MAIN, text.text);
	buffer_free(&text);
}

static void make_life(struct world *world, const char *name, const char *policy, const char *annotations)
{
	struct buffer text = {0};
	buffer_printf(&text,
	              "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, annotations: {%s}},\n"
	              " spec: {schedulerName: platoon, restartPolicy: %s, containers: [{name: a}]}}",
	              name, annotations, policy);
	make(world, text.text);
	buffer_free(&text);
}

static int64_t restarts_of(const struct world *world, const char *pod)
{
	int64_t count = -1;
	val_int(val_get(val_item(val_get(status_of(world, "", "pods", pod), "containerStatuses"), 0), "restartCount"),
	        &count);
	return count;
}

static bool ready(const struct world *world, const char *pod)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(status_of(world, "", "pods", pod), "conditions"));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0)
			return strcmp(val_str(val_get(item, "status"), ""), "True") == 0;
	return false;
}

static void failures_follow_the_restart_policy(void **state)
{
	struct world *world = *state;
	make_life(world, "never", "Never", KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7'");
	make_life(world, "again", "OnFailure", KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7'");
	make_life(world, "twice", "OnFailure",
	          KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7', " KUBELET_FAIL_TIMES ": '2'");
	pass(world, 6);
	assert_string_equal(phase_of(world, "never"), "Failed");
	int64_t code = 0;
	val_int(val_path(val_item(val_get(status_of(world, "", "pods", "never"), "containerStatuses"), 0), "state",
	                 "terminated", "exitCode", NULL),
	        &code);
	assert_int_equal(code, 7);
	assert_string_equal(phase_of(world, "again"), "Running");
	assert_int_equal(restarts_of(world, "again"), 1);
	/* Later restarts wait longer and longer. */
	pass(world, 5);
	assert_int_equal(restarts_of(world, "again"), 2);
	assert_false(ready(world, "again"));
	pass(world, 20);
	assert_string_equal(phase_of(world, "twice"), "Succeeded");
	assert_int_equal(restarts_of(world, "twice"), 2);
	assert_int_equal(restarts_of(world, "again"), 3);
}

static void what_hangs_hangs(void **state)
{
	struct world *world = *state;
	make_life(world, "unborn", "Always", KUBELET_START_SECONDS ": never");
	make_life(world, "unready", "Always", KUBELET_READY_SECONDS ": never");
	make_life(world, "undead", "Always", KUBELET_STOP_SECONDS ": never");
	make_life(world, "slow", "Always", KUBELET_START_SECONDS ": '10', " KUBELET_READY_SECONDS ": '10'");
	pass(world, 15);
	assert_string_equal(phase_of(world, "unborn"), "Pending");
	assert_string_equal(phase_of(world, "unready"), "Running");
	assert_false(ready(world, "unready"));
	assert_string_equal(phase_of(world, "slow"), "Running");
	assert_false(ready(world, "slow"));
	delete_pod(world, "undead");
	pass(world, 60);
	assert_true(ready(world, "slow"));
	assert_string_equal(phase_of(world, "undead"), "Running");
	/* The annotation is taken away: it goes. */
	annotate(world, "pods", "undead", KUBELET_STOP_SECONDS, "null");
	pass(world, 2);
	assert_string_equal(phase_of(world, "undead"), "gone");
}

static void a_node_speaks_for_its_pods(void **state)
{
	struct world *world = *state;
	annotate(world, "nodes", "n1", KUBELET_RUN_SECONDS, "'5'");
	make_life(world, "p1", "Never", "a: b");
	make_life(world, "p2", "Never", KUBELET_RUN_SECONDS ": '100'");
	pass(world, 10);
	assert_string_equal(phase_of(world, "p1"), "Succeeded");
	assert_string_equal(phase_of(world, "p2"), "Running");
}

/* ---- nodes ---- */

static const char *node_ready(const struct world *world)
{
	const struct store_object *node =
		store_peek(world->store, store_type_find(world->store, "", "nodes"), "", "n1");
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(node->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Ready") == 0)
			return val_str(val_get(item, "status"), "");
	return "";
}

static size_t taints(const struct world *world)
{
	const struct store_object *node =
		store_peek(world->store, store_type_find(world->store, "", "nodes"), "", "n1");
	return val_count(val_path(node->root, "spec", "taints", NULL));
}

static void a_node_that_is_down_loses_its_pods(void **state)
{
	struct world *world = *state;
	make_life(world, "p1", "Always", "a: b");
	make(world,
	     "{apiVersion: v1, kind: Pod, metadata: {name: stays, namespace: default}, spec: {schedulerName: platoon,"
	     " containers: [{name: a}], tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists}]}}");
	pass(world, 5);
	assert_string_equal(node_ready(world), "True");
	annotate(world, "nodes", "n1", KUBELET_NODE_STATE, "down");
	pass(world, 5);
	assert_string_equal(node_ready(world), "Unknown");
	assert_int_equal(taints(world), 2);
	assert_string_equal(phase_of(world, "p1"), "Running");
	assert_false(ready(world, "p1"));
	pass(world, 20);
	assert_string_equal(phase_of(world, "p1"), "gone");
	assert_string_equal(phase_of(world, "stays"), "Running");
	annotate(world, "nodes", "n1", KUBELET_NODE_STATE, "null");
	pass(world, 2);
	assert_string_equal(node_ready(world), "True");
	assert_int_equal(taints(world), 0);
	assert_true(ready(world, "stays"));
}

static void a_flapping_node_keeps_its_pods(void **state)
{
	struct world *world = *state;
	make_life(world, "p1", "Always", "a: b");
	pass(world, 5);
	annotate(world, "nodes", "n1", KUBELET_NODE_FLAP, "'10'");
	int ups = 0, downs = 0;
	for (int i = 0; i < 60; i++) {
		pass(world, 1);
		bool up = strcmp(node_ready(world), "True") == 0;
		ups += up;
		downs += !up;
	}
	assert_in_range(ups, 28, 32);
	assert_in_range(downs, 28, 32);
	assert_string_equal(phase_of(world, "p1"), "Running");
}

static void delete_node(struct world *world, const char *name)
{
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = store_api_find(world->store, "", "v1", "nodes"),
	                                .name = name};
	assert_int_equal(store_write(world->store, &request, &result), 0);
	store_result_clear(&result);
	arena_destroy(arena);
}

static void pods_of_a_deleted_node_are_gone(void **state)
{
	struct world *world = *state;
	make_life(world, "p1", "Always", "a: b");
	pass(world, 5);
	delete_node(world, "n1");
	pass(world, 2);
	assert_string_equal(phase_of(world, "p1"), "gone");
}

static void what_others_say_about_a_node_stays(void **state)
{
	struct world *world = *state;
	merge(world, "nodes", "n1", STORE_STATUS,
	      "{kind: Patch, patch: {status: {conditions: [{type: Ready, status: 'False', reason: "
	      "KubeletNotReady}]}}}");
	pass(world, 5);
	assert_string_equal(node_ready(world), "False");
	assert_int_equal(taints(world), 0);
}

/* ---- rules ---- */

static void make_labelled(struct world *world, const char *name, const char *app, const char *annotations)
{
	struct buffer text = {0};
	buffer_printf(
		&text,
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels: {app: %s}, annotations: "
		"{%s}}, spec: {schedulerName: platoon, restartPolicy: Never, containers: [{name: a}]}}",
		name, app, annotations);
	make(world, text.text);
	buffer_free(&text);
}

static size_t events_of(struct world *world, const char *reason)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(world->store, "", "v1", "events")};
	size_t count = 0;
	assert_int_equal(store_list(world->store, &request, &list, arena, NULL), 0);
	for (size_t i = 0; i < list.count; i++)
		count += strcmp(val_str(val_get(list.items[i]->root, "reason"), ""), reason) == 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return count;
}

static void rules_are_for_selections_of_pods(void **state)
{
	struct world *world = *state;
	annotate(world, "nodes", "n1", KUBELET_RUN_SECONDS, "'100'");
	make(world,
	     "{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-rules, namespace: kube-system}, data: {rules: "
	     "\"[{pods: 'app in (short,broken)', run-seconds: 4}, {pods: app=broken, exit-code: 3}, "
	     "{pods: app=never, start-seconds: never}, {namespace: other, run-seconds: 1}, "
	     "{nodes: rack=none, run-seconds: 1}, {pods: app=lucky, chance: 0, run-seconds: 1}]\"}}");
	static const char *const pods[][3] = {
		{"short", "short", "Succeeded"}, {"broken", "broken", "Failed"}, {"never", "never", "Pending"},
		{"lucky", "lucky", "Running"},   {"plain", "plain", "Running"},
	};
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		make_labelled(world, pods[i][0], pods[i][1], "a: b");
	make_labelled(world, "own", "short", KUBELET_RUN_SECONDS ": '50'");
	pass(world, 10);
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		assert_string_equal(phase_of(world, pods[i][0]), pods[i][2]);
	assert_string_equal(phase_of(world, "own"), "Running");
	assert_int_equal(events_of(world, "BadRule"), 0);
}

static void rules_can_be_wrong_and_change(void **state)
{
	struct world *world = *state;
	make_labelled(world, "a", "a", "b: c");
	pass(world, 5);
	make(world,
	     "{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-rules, namespace: kube-system}, data: {rules: "
	     "\"[{pods: 'a b c', run-seconds: 1}, {run-seconds: -1}, {speed: 3}, 7, {chance: 101}]\"}}");
	pass(world, 5);
	assert_int_equal(events_of(world, "BadRule"), 5);
	assert_string_equal(phase_of(world, "a"), "Running");
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = store_api_find(world->store, "", "v1", "configmaps"),
	                                .namespace_ = "kube-system",
	                                .name = "platoon-rules"};
	assert_int_equal(store_write(world->store, &request, &result), 0);
	store_result_clear(&result);
	arena_destroy(arena);
	make(world,
	     "{apiVersion: v1, kind: ConfigMap, metadata: {name: platoon-rules, namespace: kube-system}, data: {rules: "
	     "'[{run-seconds: 8}]'}}");
	/* Pods that run already follow too. */
	pass(world, 3);
	assert_string_equal(phase_of(world, "a"), "Succeeded");
}

/* ---- heartbeats ---- */

static const struct store_object *lease_of(const struct world *world, const char *node)
{
	return store_peek(world->store, store_type_find(world->store, "coordination.k8s.io", "leases"),
	                  "kube-node-lease", node);
}

static int64_t renewed(const struct world *world)
{
	int64_t when = 0;
	const struct store_object *lease = lease_of(world, "n1");
	assert_non_null(lease);
	assert_int_equal(clock_parse_rfc3339(val_str(val_path(lease->root, "spec", "renewTime", NULL), ""), &when), 0);
	return when;
}

static void a_node_is_heard_of(void **state)
{
	struct world *world = *state;
	pass(world, 5);
	const struct store_object *lease = lease_of(world, "n1");
	assert_string_equal(val_str(val_path(lease->root, "spec", "holderIdentity", NULL), ""), "n1");
	int64_t before = renewed(world);
	uint64_t version = store_version(world->store);
	pass(world, 20);
	assert_int_equal(renewed(world) - before, 20);
	/* Nothing else is written, and the Lease once per interval. */
	assert_int_equal(store_version(world->store) - version, 10);
	/* The conditions say now and then that they still hold; the pods of the node do not notice. */
	pass(world, 130);
	const struct store_object *node =
		store_peek(world->store, store_type_find(world->store, "", "nodes"), "", "n1");
	int64_t said = 0;
	clock_parse_rfc3339(val_str(val_get(val_item(val_path(node->root, "status", "conditions", NULL), 0),
	                                    "lastHeartbeatTime"),
	                            ""),
	                    &said);
	assert_in_range(renewed(world) - said, 0, 120);
}

static void a_silent_node_is_given_up_after_a_while(void **state)
{
	struct world *world = *state;
	make_life(world, "p1", "Always", "a: b");
	pass(world, 5);
	assert_true(ready(world, "p1"));
	annotate(world, "nodes", "n1", KUBELET_NODE_STATE, "down");
	int64_t heard = renewed(world);
	pass(world, 3);
	make_life(world, "p2", "Always", "a: b");
	pass(world, 2);
	/* Nobody knows yet: pods are still sent there, and do not start. */
	assert_string_equal(node_ready(world), "True");
	assert_true(ready(world, "p1"));
	assert_string_equal(phase_of(world, "p2"), "Pending");
	pass(world, 5);
	assert_int_equal(renewed(world), heard);
	assert_string_equal(node_ready(world), "Unknown");
	assert_int_equal(taints(world), 2);
	assert_false(ready(world, "p1"));
	annotate(world, "nodes", "n1", KUBELET_NODE_STATE, "null");
	pass(world, 3);
	assert_string_equal(node_ready(world), "True");
	assert_int_equal(taints(world), 0);
	assert_true(ready(world, "p1"));
	annotate(world, "nodes", "n1", KUBELET_NODE_STATE, "down");
	pass(world, 35);
	assert_string_equal(phase_of(world, "p1"), "gone");
}

static void short_silence_is_overlooked(void **state)
{
	struct world *world = *state;
	make_life(world, "p1", "Always", "a: b");
	pass(world, 5);
	annotate(world, "nodes", "n1", KUBELET_NODE_FLAP, "'4'");
	for (int i = 0; i < 40; i++) {
		pass(world, 1);
		assert_string_equal(node_ready(world), "True");
	}
	annotate(world, "nodes", "n1", KUBELET_NODE_FLAP, "'20'");
	int downs = 0;
	for (int i = 0; i < 80; i++) {
		pass(world, 1);
		downs += strcmp(node_ready(world), "Unknown") == 0;
	}
	assert_in_range(downs, 20, 28);
	assert_string_equal(phase_of(world, "p1"), "Running");
}

/* A new node of the same name has a Lease of its own. */
static void a_lease_goes_with_its_node(void **state)
{
	struct world *world = *state;
	pass(world, 5);
	delete_node(world, "n1");
	for (int i = 0; i < 5; i++) {
		store_chores(world->store, 100);
		pass(world, 1);
	}
	assert_null(lease_of(world, "n1"));
}

/* ---- taints of others ---- */

static void taints_end_pods_that_do_not_tolerate_them(void **state)
{
	struct world *world = *state;
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
		make(world, text.text);
		buffer_free(&text);
	}
	pass(world, 5);
	merge(world, "nodes", "n1", STORE_MAIN,
	      "{kind: Patch, patch: {spec: {taints: [{key: a, value: v, effect: NoExecute}, {key: c, effect: "
	      "NoSchedule}]}}}");
	pass(world, 6);
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		assert_string_equal(phase_of(world, pods[i][0]), i < 3 ? "gone" : "Running");
	pass(world, 10);
	assert_string_equal(phase_of(world, "while"), "gone");
	assert_string_equal(phase_of(world, "right"), "Running");
	assert_string_equal(phase_of(world, "all"), "Running");
	assert_int_equal(taints(world), 2);
}

/* A restart at any moment changes nothing: every due time is in the objects. */
static void restarts_change_nothing(void **state)
{
	struct world *world = *state;
	make_life(world, "p1", "OnFailure",
	          KUBELET_RUN_SECONDS ": '3', " KUBELET_EXIT_CODE ": '7', " KUBELET_FAIL_TIMES ": '2'");
	for (int i = 0; i < 40; i++) {
		pass(world, 1);
		kubelet_destroy(world->kubelet);
		world->kubelet = kubelet_create(&(struct kubelet_options){
			.store = world->store, .clock = &world->clock.source, .start_seconds = 1, .ready_seconds = 1});
	}
	assert_string_equal(phase_of(world, "p1"), "Succeeded");
	assert_int_equal(restarts_of(world, "p1"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gang_waits_for_its_pods_and_runs, start, stop),
		cmocka_unit_test_setup_teardown(nothing_is_written_without_a_change, start, stop),
		cmocka_unit_test_setup_teardown(a_deleted_pod_ends_and_leaves_its_room, start, stop),
		cmocka_unit_test_setup_teardown(a_pod_with_a_run_time_succeeds, start, stop),
		cmocka_unit_test_setup_teardown(failures_follow_the_restart_policy, start, stop),
		cmocka_unit_test_setup_teardown(what_hangs_hangs, start, stop),
		cmocka_unit_test_setup_teardown(a_node_speaks_for_its_pods, start, stop),
		cmocka_unit_test_setup_teardown(a_node_that_is_down_loses_its_pods, start, stop),
		cmocka_unit_test_setup_teardown(a_flapping_node_keeps_its_pods, start, stop),
		cmocka_unit_test_setup_teardown(pods_of_a_deleted_node_are_gone, start, stop),
		cmocka_unit_test_setup_teardown(what_others_say_about_a_node_stays, start, stop),
		cmocka_unit_test_setup_teardown(rules_are_for_selections_of_pods, start, stop),
		cmocka_unit_test_setup_teardown(rules_can_be_wrong_and_change, start, stop),
		cmocka_unit_test_setup_teardown(a_node_is_heard_of, start_beating, stop),
		cmocka_unit_test_setup_teardown(a_silent_node_is_given_up_after_a_while, start_beating, stop),
		cmocka_unit_test_setup_teardown(short_silence_is_overlooked, start_beating, stop),
		cmocka_unit_test_setup_teardown(a_lease_goes_with_its_node, start_beating, stop),
		cmocka_unit_test_setup_teardown(taints_end_pods_that_do_not_tolerate_them, start, stop),
		cmocka_unit_test_setup_teardown(restarts_change_nothing, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
