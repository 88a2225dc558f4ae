/* Updates in place: where only images differ, pods keep their node and get the new image. */
#include "fixtures/control_fixture.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

static void apply(struct town *town, const char *type, const char *image, const char *env)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: a, replicas: 4, rolloutStrategy: {rollingUpdate: {type: %s, maxUnavailable: 1}}, "
	         "leaderWorkerPattern: {size: 2, template: {spec: {containers: [{name: c, image: %s, env: [{name: E, "
	         "value: '%s'}]}, {name: side, image: fixed}]}}}}\n",
	         type, image, env);
	int code = town_apply(town, text);
	if (code >= 300)
		fail_msg("%s", town->kit.text.text);
}

/* Uids of all pods, and how many have the image. */
static int look(struct town *town, const char *image, char *uids, size_t room)
{
	int count = 0;
	size_t used = 0;
	for (int i = 0; i < 8; i++) {
		char name[32];
		snprintf(name, sizeof(name), "llm-a-%d-%d", i / 2, i % 2);
		if (kit_get(&town->kit, "pods", "default", name) != 200)
			continue;
		used += (size_t)snprintf(uids + used, room - used, "%s\n", kit_at(&town->kit, "metadata.uid"));
		count += strcmp(kit_at(&town->kit, "spec.containers.0.image"), image) == 0;
	}
	return count;
}

static int least_ready;

static void watch_ready(struct town *town)
{
	int ready = town_ready(town, "llm", "");
	least_ready = ready < least_ready ? ready : least_ready;
}

static void images_only(void **state)
{
	struct town *town = *state;
	char before[1024], after[1024];
	town_nodes(town, 2, 8, 2);
	apply(town, "InPlaceIfPossible", "one", "x");
	town_run(town, 20);
	assert_int_equal(look(town, "one", before, sizeof(before)), 8);
	least_ready = 8;
	town->watch = watch_ready;
	apply(town, "InPlaceIfPossible", "two", "x");
	town_run(town, 60);
	town->watch = NULL;
	assert_int_equal(look(town, "two", after, sizeof(after)), 8);
	assert_string_equal(before, after);
	assert_true(least_ready >= 6); /* one instance of two pods at a time */
	assert_int_equal(town_ready(town, "llm", ""), 8);
	/* The start of the new image is no crash, also where a crash makes the whole instance anew. */
	assert_int_equal(town_events(town, "ReCreateInstance"), 0);
	assert_int_equal(town_events(town, "SuccessfulUpdateInstanceInPlace"), 4);
	kit_get(&town->kit, "pods", "default", "llm-a-0-0");
	assert_at(&town->kit, "status.containerStatuses.0.restartCount", "1");
	assert_at(&town->kit, "status.containerStatuses.1.restartCount", "0");
	assert_string_equal(town_condition(town, "llm", "RollingUpdateInProgress"), "False UpdateComplete: ");
	/* And back. */
	kit_merge(&town->kit, GROUPS, "default", "llm",
	          "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/rollback-to':'0'}}}");
	town_run(town, 60);
	assert_int_equal(look(town, "one", after, sizeof(after)), 8);
	assert_string_equal(before, after);
}

/* A container that crashes after the change is a crash. */
static void crashes_still_count(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, "InPlaceIfPossible", "one", "x");
	town_run(town, 20);
	apply(town, "InPlaceIfPossible", "two", "x");
	town_run(town, 60);
	kit_merge_status(&town->kit, "pods", "default", "llm-a-2-1",
	                 "{'status':{'containerStatuses':[{'name':'c','image':'two','restartCount':2}]}}");
	town_run(town, 30);
	assert_int_equal(town_events(town, "ReCreateInstance"), 1);
	assert_int_equal(town_ready(town, "llm", ""), 8);
}

static void more_than_images(void **state)
{
	struct town *town = *state;
	char before[1024], after[1024];
	town_nodes(town, 2, 8, 2);
	apply(town, "InPlaceIfPossible", "one", "x");
	town_run(town, 20);
	look(town, "one", before, sizeof(before));
	apply(town, "InPlaceIfPossible", "two", "other");
	town_run(town, 90);
	assert_int_equal(look(town, "two", after, sizeof(after)), 8);
	assert_string_not_equal(before, after);
	/* InPlaceOnly keeps what cannot be changed, and says so. */
	apply(town, "InPlaceOnly", "three", "third");
	town_run(town, 90);
	assert_int_equal(look(town, "two", before, sizeof(before)), 8);
	assert_string_equal(before, after);
	assert_non_null(strstr(town_group_at(town, "llm", "status.roleStatuses.0.message"), "InPlaceOnly"));
	apply(town, "InPlaceOnly", "three", "other");
	town_run(town, 90);
	assert_int_equal(look(town, "three", after, sizeof(after)), 8);
	assert_string_equal(before, after);
}

static void apply_with_grace(struct town *town, const char *image, const char *extra)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: a, replicas: 2, rolloutStrategy: {rollingUpdate: {type: InPlaceIfPossible, %s "
	         "inPlaceUpdateStrategy: {gracePeriodSeconds: 30}}}, standalonePattern: {template: {spec: {containers: "
	         "[{name: c, image: %s}]}}}}\n",
	         extra, image);
	assert_code(&town->kit, town_apply(town, text), strcmp(image, "one") == 0 && !*extra ? 201 : 200);
}

static const char *mark_of(struct town *town, const char *pod)
{
	static char text[256];
	assert_int_equal(kit_get(&town->kit, "pods", "default", pod), 200);
	int used = snprintf(text, sizeof(text), "%s ", kit_at(&town->kit, "spec.containers.0.image"));
	for (int i = 0; i < 8; i++) {
		char path[64];
		snprintf(path, sizeof(path), "status.conditions.%d.type", i);
		if (strcmp(kit_at(&town->kit, path), "InPlaceUpdateReady") != 0)
			continue;
		snprintf(path, sizeof(path), "status.conditions.%d.status", i);
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", kit_at(&town->kit, path));
	}
	return text;
}

/* A pod is out of use for a while before its container is stopped. */
static void grace_before_the_change(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply_with_grace(town, "one", "");
	town_run(town, 20);
	assert_string_equal(mark_of(town, "llm-a-1"), "one True");
	assert_int_equal(town_ready(town, "llm", ""), 2);
	apply_with_grace(town, "two", "");
	town_run(town, 20);
	assert_string_equal(mark_of(town, "llm-a-1"), "one False"); /* not ready, and runs on */
	assert_string_equal(mark_of(town, "llm-a-0"), "one True");
	assert_int_equal(town_ready(town, "llm", ""), 1);
	assert_int_equal(town_events(town, "InPlaceUpdateGrace"), 1);
	town_run(town, 15);
	assert_string_equal(mark_of(town, "llm-a-1"), "two True");
	town_run(town, 40);
	assert_string_equal(mark_of(town, "llm-a-0"), "two True");
	assert_int_equal(town_ready(town, "llm", ""), 2);
	assert_int_equal(town_events(town, "SuccessfulUpdateInstanceInPlace"), 2);
	/* Taken back or stopped within the grace, nothing has happened. */
	apply_with_grace(town, "three", "");
	town_run(town, 10);
	assert_string_equal(mark_of(town, "llm-a-1"), "two False");
	apply_with_grace(town, "three", "paused: true,");
	town_run(town, 10);
	assert_string_equal(mark_of(town, "llm-a-1"), "two True");
	assert_int_equal(town_ready(town, "llm", ""), 2);
	apply_with_grace(town, "three", "");
	town_run(town, 10);
	assert_string_equal(mark_of(town, "llm-a-1"), "two False");
	apply_with_grace(town, "two", "");
	town_run(town, 60);
	assert_string_equal(mark_of(town, "llm-a-1"), "two True");
	assert_int_equal(town_ready(town, "llm", ""), 2);
	/* The second update was never written to a pod. */
	assert_int_equal(town_events(town, "SuccessfulUpdateInstanceInPlace"), 2);
}

/* The same with a controller that is started anew before every turn. */
static void grace_over_restarts(void **state)
{
	struct town *town = *state;
	town->restarts = true;
	grace_before_the_change(state);
}

/* The controller is started anew before every turn. */
static void cut_off_at_any_time(void **state)
{
	struct town *town = *state;
	town->restarts = true;
	images_only(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(images_only, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(crashes_still_count, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(more_than_images, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(grace_before_the_change, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(grace_over_restarts, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(cut_off_at_any_time, town_setup, town_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
