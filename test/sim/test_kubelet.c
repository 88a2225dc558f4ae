/* The scheduler loop and the simulated kubelets over a store in memory, in virtual time: what happens to pods, and that
 * nothing happens when nothing changes. */
#include "control/scheduler.h"
#include "object/manifest.h"
#include "sim/kubelet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

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
	clock_virtual_init(&world.clock, 1700000000 * SECOND);
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
		clock_virtual_advance(&world->clock, SECOND / 10);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gang_waits_for_its_pods_and_runs, start, stop),
		cmocka_unit_test_setup_teardown(nothing_is_written_without_a_change, start, stop),
		cmocka_unit_test_setup_teardown(a_deleted_pod_ends_and_leaves_its_room, start, stop),
		cmocka_unit_test_setup_teardown(a_pod_with_a_run_time_succeeds, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
