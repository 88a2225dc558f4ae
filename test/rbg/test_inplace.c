/* Updates in place: where only images differ, pods keep their node and get the new image. */
#include "fixtures/control_fixture.h"

#define GROUPS "rolebasedgroups.workloads.x-k8s.io"

static void apply(struct control_fixture *fixture, const char *type, const char *image, const char *env)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: a, replicas: 4, rolloutStrategy: {rollingUpdate: {type: %s, maxUnavailable: 1}}, "
	         "leaderWorkerPattern: {size: 2, template: {spec: {containers: [{name: c, image: %s, env: [{name: E, "
	         "value: '%s'}]}, {name: side, image: fixed}]}}}}\n",
	         type, image, env);
	int code = control_apply(fixture, text);
	if (code >= 300)
		fail_msg("%s", fixture->base.text.text);
}

/* Uids of all pods, and how many have the image. */
static int look(struct control_fixture *fixture, const char *image, char *uids, size_t room)
{
	int count = 0;
	size_t used = 0;
	for (int i = 0; i < 8; i++) {
		char name[32];
		snprintf(name, sizeof(name), "llm-a-%d-%d", i / 2, i % 2);
		if (fixture_get(&fixture->base, "pods", "default", name) != 200)
			continue;
		used += (size_t)snprintf(uids + used, room - used, "%s\n", fixture_at(&fixture->base, "metadata.uid"));
		count += strcmp(fixture_at(&fixture->base, "spec.containers.0.image"), image) == 0;
	}
	return count;
}

static int least_ready;

static void watch_ready(struct control_fixture *fixture)
{
	int ready = control_ready(fixture, "llm", "");
	least_ready = ready < least_ready ? ready : least_ready;
}

static void images_only(void **state)
{
	struct control_fixture *fixture = *state;
	char before[1024], after[1024];
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "InPlaceIfPossible", "one", "x");
	control_run(fixture, 20);
	assert_int_equal(look(fixture, "one", before, sizeof(before)), 8);
	least_ready = 8;
	fixture->watch = watch_ready;
	apply(fixture, "InPlaceIfPossible", "two", "x");
	control_run(fixture, 60);
	fixture->watch = NULL;
	assert_int_equal(look(fixture, "two", after, sizeof(after)), 8);
	assert_string_equal(before, after);
	assert_true(least_ready >= 6); /* one instance of two pods at a time */
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
	/* The start of the new image is no crash, also where a crash makes the whole instance anew. */
	assert_int_equal(control_events(fixture, "ReCreateInstance"), 0);
	assert_int_equal(control_events(fixture, "SuccessfulUpdateInstanceInPlace"), 4);
	fixture_get(&fixture->base, "pods", "default", "llm-a-0-0");
	assert_at(&fixture->base, "status.containerStatuses.0.restartCount", "1");
	assert_at(&fixture->base, "status.containerStatuses.1.restartCount", "0");
	assert_string_equal(control_condition(fixture, "llm", "RollingUpdateInProgress"), "False UpdateComplete: ");
	/* And back. */
	fixture_merge(&fixture->base, GROUPS, "default", "llm",
	              "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/rollback-to':'0'}}}");
	control_run(fixture, 60);
	assert_int_equal(look(fixture, "one", after, sizeof(after)), 8);
	assert_string_equal(before, after);
}

/* A container that crashes after the change is a crash. */
static void crashes_still_count(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "InPlaceIfPossible", "one", "x");
	control_run(fixture, 20);
	apply(fixture, "InPlaceIfPossible", "two", "x");
	control_run(fixture, 60);
	fixture_merge_status(&fixture->base, "pods", "default", "llm-a-2-1",
	                     "{'status':{'containerStatuses':[{'name':'c','image':'two','restartCount':2}]}}");
	control_run(fixture, 30);
	assert_int_equal(control_events(fixture, "ReCreateInstance"), 1);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
}

static void more_than_images(void **state)
{
	struct control_fixture *fixture = *state;
	char before[1024], after[1024];
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "InPlaceIfPossible", "one", "x");
	control_run(fixture, 20);
	look(fixture, "one", before, sizeof(before));
	apply(fixture, "InPlaceIfPossible", "two", "other");
	control_run(fixture, 90);
	assert_int_equal(look(fixture, "two", after, sizeof(after)), 8);
	assert_string_not_equal(before, after);
	/* InPlaceOnly keeps what cannot be changed, and says so. */
	apply(fixture, "InPlaceOnly", "three", "third");
	control_run(fixture, 90);
	assert_int_equal(look(fixture, "two", before, sizeof(before)), 8);
	assert_string_equal(before, after);
	assert_non_null(strstr(control_group_at(fixture, "llm", "status.roleStatuses.0.message"), "InPlaceOnly"));
	apply(fixture, "InPlaceOnly", "three", "other");
	control_run(fixture, 90);
	assert_int_equal(look(fixture, "three", after, sizeof(after)), 8);
	assert_string_equal(before, after);
}

static void apply_with_grace(struct control_fixture *fixture, const char *image, const char *extra)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: a, replicas: 2, rolloutStrategy: {rollingUpdate: {type: InPlaceIfPossible, %s "
	         "inPlaceUpdateStrategy: {gracePeriodSeconds: 30}}}, standalonePattern: {template: {spec: {containers: "
	         "[{name: c, image: %s}]}}}}\n",
	         extra, image);
	assert_code(&fixture->base, control_apply(fixture, text), strcmp(image, "one") == 0 && !*extra ? 201 : 200);
}

static const char *mark_of(struct control_fixture *fixture, const char *pod)
{
	static char text[256];
	assert_int_equal(fixture_get(&fixture->base, "pods", "default", pod), 200);
	int used = snprintf(text, sizeof(text), "%s ", fixture_at(&fixture->base, "spec.containers.0.image"));
	for (int i = 0; i < 8; i++) {
		char path[64];
		snprintf(path, sizeof(path), "status.conditions.%d.type", i);
		if (strcmp(fixture_at(&fixture->base, path), "InPlaceUpdateReady") != 0)
			continue;
		snprintf(path, sizeof(path), "status.conditions.%d.status", i);
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", fixture_at(&fixture->base, path));
	}
	return text;
}

/* A pod is out of use for a while before its container is stopped. */
static void grace_before_the_change(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply_with_grace(fixture, "one", "");
	control_run(fixture, 20);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "one True");
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	apply_with_grace(fixture, "two", "");
	control_run(fixture, 20);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "one False"); /* not ready, and runs on */
	assert_string_equal(mark_of(fixture, "llm-a-0"), "one True");
	assert_int_equal(control_ready(fixture, "llm", ""), 1);
	assert_int_equal(control_events(fixture, "InPlaceUpdateGrace"), 1);
	control_run(fixture, 15);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "two True");
	control_run(fixture, 40);
	assert_string_equal(mark_of(fixture, "llm-a-0"), "two True");
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	assert_int_equal(control_events(fixture, "SuccessfulUpdateInstanceInPlace"), 2);
	/* Taken back or stopped within the grace, nothing has happened. */
	apply_with_grace(fixture, "three", "");
	control_run(fixture, 10);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "two False");
	apply_with_grace(fixture, "three", "paused: true,");
	control_run(fixture, 10);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "two True");
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	apply_with_grace(fixture, "three", "");
	control_run(fixture, 10);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "two False");
	apply_with_grace(fixture, "two", "");
	control_run(fixture, 60);
	assert_string_equal(mark_of(fixture, "llm-a-1"), "two True");
	assert_int_equal(control_ready(fixture, "llm", ""), 2);
	/* The second update was never written to a pod. */
	assert_int_equal(control_events(fixture, "SuccessfulUpdateInstanceInPlace"), 2);
}

/* The same with a controller that is started anew before every turn. */
static void grace_over_restarts(void **state)
{
	struct control_fixture *fixture = *state;
	fixture->restarts = true;
	grace_before_the_change(state);
}

/* The controller is started anew before every turn. */
static void cut_off_at_any_time(void **state)
{
	struct control_fixture *fixture = *state;
	fixture->restarts = true;
	images_only(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(images_only, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(crashes_still_count, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(more_than_images, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(grace_before_the_change, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(grace_over_restarts, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(cut_off_at_any_time, control_setup, control_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
