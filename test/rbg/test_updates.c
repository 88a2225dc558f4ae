/* Rolling updates: revisions and the way back, canaries, late segments, limits. */
#include "fixtures/control_fixture.h"

#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"

/* A group of `replicas` with an image; `rollout` and `placement` are YAML of those fields. */
static void apply(struct control_fixture *fixture, const char *image, int replicas, const char *rollout,
                  const char *placement)
{
	char text[2048];
	snprintf(text, sizeof(text),
	         HEAD "  roles:\n  - {name: a, replicas: %d, rolloutStrategy: {rollingUpdate: {%s}}, template: {spec: "
	              "{containers: [{name: c, image: %s, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n%s%s%s",
	         replicas, rollout, image,
	         *placement ? "  coordination:\n  - name: one\n    strategy: {segmentPlacement: {" : "", placement,
	         *placement ? "}}\n" : "");
	int code = control_apply(fixture, text);
	if (code >= 300)
		fail_msg("%s", fixture->base.text.text);
}

static int with_image(struct control_fixture *fixture, const char *image)
{
	int count = 0;
	for (int i = 0; i < 40; i++) {
		char name[32];
		snprintf(name, sizeof(name), "llm-a-%d", i);
		const struct store_object *pod =
			store_peek(fixture->base.store, store_type_find(fixture->base.store, "", "pods"), "default",
		                   name);
		const struct val *container = pod ? val_item(val_path(pod->root, "spec", "containers", NULL), 0) : NULL;
		count += container && strcmp(val_str(val_get(container, "image"), ""), image) == 0;
	}
	return count;
}

static int least_ready, most_pods;

static void watch_limits(struct control_fixture *fixture)
{
	int ready = control_ready(fixture, "llm", ""), pods = control_pods(fixture, "llm", "");
	least_ready = ready < least_ready ? ready : least_ready;
	most_pods = pods > most_pods ? pods : most_pods;
}

static void limits_hold(void **state)
{
	static const struct {
		const char *rollout;
		int least_ready, most_pods;
	} rows[] = {
		{"maxUnavailable: 2", 8, 10},
		{"", 9, 10},
		{"maxUnavailable: 30%", 7, 10},
		{"maxUnavailable: 0, maxSurge: 2", 10, 12},
		{"maxUnavailable: 1, maxSurge: 1", 9, 11},
	};
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char image[16];
		snprintf(image, sizeof(image), "i%zu", i);
		apply(fixture, "start", 10, rows[i].rollout, "");
		control_run(fixture, 200);
		assert_int_equal(with_image(fixture, "start"), 10);
		least_ready = most_pods = 10;
		fixture->watch = watch_limits;
		apply(fixture, image, 10, rows[i].rollout, "");
		control_run(fixture, 200);
		fixture->watch = NULL;
		assert_int_equal(with_image(fixture, image), 10);
		assert_int_equal(control_ready(fixture, "llm", ""), 10);
		assert_true(least_ready >= rows[i].least_ready);
		assert_true(most_pods <= rows[i].most_pods);
	}
}

static void partition_and_pause(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "one", 4, "", "");
	control_run(fixture, 20);
	apply(fixture, "two", 4, "partition: 2", "");
	control_run(fixture, 60);
	assert_int_equal(with_image(fixture, "two"), 2);
	assert_string_equal(control_condition(fixture, "llm", "RollingUpdateInProgress"),
	                    "True HeldByPartition: 2/4 replicas updated");
	assert_string_equal(control_group_at(fixture, "llm", "status.roleStatuses.0.updateMessage"),
	                    "the partition keeps 2 instances at the old revision");
	/* Whoever is lost below the partition comes back as it was. */
	fixture_delete(&fixture->base, "pods", "default", "llm-a-0", NULL);
	control_run(fixture, 20);
	assert_int_equal(with_image(fixture, "one"), 2);
	apply(fixture, "two", 4, "partition: 0, paused: true", "");
	control_run(fixture, 60);
	assert_int_equal(with_image(fixture, "two"), 2);
	assert_string_equal(control_condition(fixture, "llm", "RollingUpdateInProgress"),
	                    "True Paused: 2/4 replicas updated");
	apply(fixture, "two", 4, "partition: 0, paused: false", "");
	control_run(fixture, 60);
	assert_int_equal(with_image(fixture, "two"), 4);
	assert_string_equal(control_condition(fixture, "llm", "RollingUpdateInProgress"), "False UpdateComplete: ");
	assert_string_equal(control_group_at(fixture, "llm", "status.roleStatuses.0.updateMessage"), "");
}

static void the_way_back(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "one", 4, "", "");
	control_run(fixture, 20);
	apply(fixture, "two", 4, "", "");
	control_run(fixture, 60);
	apply(fixture, "three", 6, "", "");
	control_run(fixture, 60);
	assert_int_equal(with_image(fixture, "three"), 6);
	const char *to = "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/rollback-to':'1'}}}";
	fixture_merge(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", to);
	control_run(fixture, 90);
	/* The template goes back, the replicas stay. */
	assert_int_equal(with_image(fixture, "one"), 6);
	assert_int_equal(control_events(fixture, "RolledBack"), 1);
	fixture_merge(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm",
	              "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/rollback-to':'77'}}}");
	control_run(fixture, 30);
	assert_int_equal(control_events(fixture, "RevisionNotFound"), 1);
	assert_int_equal(with_image(fixture, "one"), 6);
	/* Nine more changes: the history stays short. */
	for (int i = 0; i < 9; i++) {
		char image[16];
		snprintf(image, sizeof(image), "v%d", i);
		apply(fixture, image, 2, "maxUnavailable: 2", "");
		control_run(fixture, 30);
	}
	int count = 0;
	for (const char *at = fixture_names(&fixture->base, "controllerrevisions.apps", "default",
	                                    "rbg.workloads.x-k8s.io/group-revision", NULL);
	     *at; at++)
		count += *at == ' ';
	assert_int_equal(count + 1, 5);
}

static void update_by_segments(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "one", 9, "type: Recreate, maxUnavailable: 3", "segmentSize: {a: 3}");
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 9);
	apply(fixture, "two", 9, "type: Recreate, maxUnavailable: 3", "segmentSize: {a: 3}");
	control_run(fixture, 3);
	/* Last segment first, and only that one. */
	assert_int_equal(with_image(fixture, "one"), 6);
	fixture_get(&fixture->base, "pods", "default", "llm-a-5");
	assert_at(&fixture->base, "spec.containers.0.image", "one");
	control_run(fixture, 60);
	assert_int_equal(with_image(fixture, "two"), 9);
	assert_int_equal(control_ready(fixture, "llm", ""), 9);
}

static int image_of_role(struct control_fixture *fixture, const char *role, int replicas, const char *image)
{
	int count = 0;
	for (int i = 0; i < replicas; i++) {
		char name[32];
		snprintf(name, sizeof(name), "llm-%s-%d", role, i);
		const struct store_object *pod =
			store_peek(fixture->base.store, store_type_find(fixture->base.store, "", "pods"), "default",
		                   name);
		const struct val *container = pod ? val_item(val_path(pod->root, "spec", "containers", NULL), 0) : NULL;
		count += container && strcmp(val_str(val_get(container, "image"), ""), image) == 0;
	}
	return count;
}

/* maxSkew of a fifth: with ten and five instances never more than two and one apart. */
static void watch_skew(struct control_fixture *fixture)
{
	int p = image_of_role(fixture, "p", 10, "two"), d = image_of_role(fixture, "d", 5, "two");
	assert_true(p - 2 * d <= 4 && 2 * d - p <= 4);
}

static void roles_update_in_step(void **state)
{
	static const char text[] =
		HEAD "  coordination:\n  - {name: s, roles: [p, d], strategy: {rollingUpdate: {maxSkew: 20%%}}}\n"
		     "  roles:\n  - {name: p, replicas: 10, rolloutStrategy: {rollingUpdate: {maxUnavailable: 5}}, "
		     "template: {spec: "
		     "{containers: [{name: c, image: %s}]}}}\n  - {name: d, replicas: 5, template: {spec: {containers: "
		     "[{name: c, "
		     "image: %s}]}}}\n";
	struct control_fixture *fixture = *state;
	char body[1024];
	control_nodes(fixture, 2, 8, 2);
	snprintf(body, sizeof(body), text, "one", "one");
	assert_int_equal(control_apply(fixture, body), 201);
	control_run(fixture, 30);
	assert_int_equal(control_ready(fixture, "llm", ""), 15);
	fixture->watch = watch_skew;
	snprintf(body, sizeof(body), text, "two", "two");
	assert_int_equal(control_apply(fixture, body), 200);
	control_run(fixture, 120);
	assert_int_equal(image_of_role(fixture, "p", 10, "two"), 10);
	assert_int_equal(image_of_role(fixture, "d", 5, "two"), 5);
	assert_int_equal(control_ready(fixture, "llm", ""), 15);
}

static void approve(struct control_fixture *fixture)
{
	char body[256];
	snprintf(body, sizeof(body), "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/canary-approved':'%s'}}}",
	         control_group_at(fixture, "llm", "status.updateRevision"));
	assert_int_equal(fixture_merge(&fixture->base, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", body),
	                 200);
}

static void canaries_wait_for_approval(void **state)
{
	static const char placement[] = "segmentSize: {a: 2}, canary: {segments: 1}";
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "one", 8, "maxUnavailable: 2", placement);
	control_run(fixture, 60);
	assert_int_equal(control_pods(fixture, "llm", ""), 2);
	assert_non_null(strstr(control_condition(fixture, "llm", "CanaryHolding"), "True WaitingForApproval"));
	assert_int_equal(control_events(fixture, "CanaryHolding"), 1);
	approve(fixture);
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
	assert_string_equal(control_condition(fixture, "llm", "CanaryHolding"), "False NotHeld: ");
	apply(fixture, "two", 8, "maxUnavailable: 2", placement);
	control_run(fixture, 60);
	assert_int_equal(with_image(fixture, "two"), 2);
	assert_int_equal(control_ready(fixture, "llm", ""), 8);
	approve(fixture);
	control_run(fixture, 90);
	assert_int_equal(with_image(fixture, "two"), 8);
}

static void late_segments_are_rolled_back(void **state)
{
	static const char placement[] = "segmentSize: {a: 2}, rollback: {deadlineSeconds: 60}";
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	apply(fixture, "one", 6, "maxUnavailable: 2", placement);
	control_run(fixture, 60);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
	/* Pods that can never be placed. */
	char text[1024];
	snprintf(
		text, sizeof(text),
		HEAD
		"  roles:\n  - {name: a, replicas: 6, rolloutStrategy: {rollingUpdate: {maxUnavailable: 2}}, template: "
		"{spec: {nodeSelector: {no: where}, containers: [{name: c, image: two}]}}}\n");
	assert_int_equal(control_apply(fixture, text), 200);
	control_run(fixture, 50);
	assert_int_equal(control_ready(fixture, "llm", ""), 4);
	assert_int_equal(control_events(fixture, "RolledBack"), 0);
	control_run(fixture, 60);
	assert_int_equal(control_events(fixture, "RolledBack"), 1);
	assert_int_equal(with_image(fixture, "one"), 6);
	assert_int_equal(control_ready(fixture, "llm", ""), 6);
}

/* A pod that fails is made anew; with leader and workers the whole instance is. */
static void failures(void **state)
{
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	control_apply(fixture, HEAD
	              "  roles:\n  - {name: a, replicas: 1, leaderWorkerSet: {size: 2}, template: {spec: {containers: "
	              "[{name: c, image: i}]}}}\n  - {name: b, replicas: 2, template: {spec: {containers: [{name: c, "
	              "image: i}]}}}\n");
	control_run(fixture, 20);
	assert_int_equal(control_ready(fixture, "llm", ""), 4);
	char first[64], sibling[64], other[64];
	fixture_get(&fixture->base, "pods", "default", "llm-a-0-0");
	snprintf(first, sizeof(first), "%s", fixture_at(&fixture->base, "metadata.uid"));
	fixture_get(&fixture->base, "pods", "default", "llm-b-1");
	snprintf(other, sizeof(other), "%s", fixture_at(&fixture->base, "metadata.uid"));
	const struct store_request status = {.verb = STORE_PATCH,
	                                     .patch = STORE_PATCH_MERGE,
	                                     .subresource = STORE_STATUS};
	fixture_do(&fixture->base, status, "pods", "default", "llm-a-0-1", "{'status':{'phase':'Failed'}}");
	fixture_do(&fixture->base, status, "pods", "default", "llm-b-0", "{'status':{'phase':'Failed'}}");
	control_run(fixture, 10);
	assert_int_equal(control_ready(fixture, "llm", ""), 4);
	fixture_get(&fixture->base, "pods", "default", "llm-a-0-0");
	snprintf(sibling, sizeof(sibling), "%s", fixture_at(&fixture->base, "metadata.uid"));
	assert_string_not_equal(first, sibling);
	fixture_get(&fixture->base, "pods", "default", "llm-b-1");
	assert_at(&fixture->base, "metadata.uid", other);
	/* The second time it waits until 30 seconds after the first. */
	fixture_do(&fixture->base, status, "pods", "default", "llm-a-0-1", "{'status':{'phase':'Failed'}}");
	control_run(fixture, 15);
	assert_int_equal(control_ready(fixture, "llm", "a"), 1);
	control_run(fixture, 40);
	assert_int_equal(control_ready(fixture, "llm", "a"), 2);
}

static int ready_while_old;

static void watch_ready(struct control_fixture *fixture)
{
	ready_while_old += with_image(fixture, "new") < 4 && with_image(fixture, "new") > 0 &&
	                   strncmp(control_condition(fixture, "llm", "Ready"), "True", 4) == 0;
}

/* A moment between two steps in which everything is ready is not the end of an update; that somebody holds it is. */
static void ready_waits_for_the_update(void **state)
{
	static const char *const placements[] = {"", "segmentSize: {a: 2}"};
	struct control_fixture *fixture = *state;
	control_nodes(fixture, 2, 8, 2);
	for (int i = 0; i < 2; i++) {
		apply(fixture, "old", 4, "maxUnavailable: 1", placements[i]);
		control_run(fixture, 60);
		assert_int_equal(strncmp(control_condition(fixture, "llm", "Ready"), "True", 4), 0);
		ready_while_old = 0;
		fixture->watch = watch_ready;
		apply(fixture, "new", 4, "maxUnavailable: 1", placements[i]);
		control_run(fixture, 120);
		fixture->watch = NULL;
		assert_int_equal(ready_while_old, 0);
		assert_int_equal(with_image(fixture, "new"), 4);
		assert_int_equal(strncmp(control_condition(fixture, "llm", "Ready"), "True", 4), 0);
		apply(fixture, "newer", 4, "partition: 2", placements[i]);
		control_run(fixture, 120);
		assert_int_equal(with_image(fixture, "newer"), 2);
		assert_int_equal(strncmp(control_condition(fixture, "llm", "Ready"), "True", 4), 0);
	}
}

/* Replicas that a change adds beside a new template begin with it, and are not made twice. */
static void new_replicas_begin_new(void **state)
{
	static const struct {
		const char *rollout;
		int new_at_once, in_the_end;
	} rows[] = {{"", 2, 6}, {"partition: 6", 0, 0}, {"paused: true", 0, 0}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		control_setup(state);
		struct control_fixture *fixture = *state;
		control_nodes(fixture, 2, 8, 2);
		apply(fixture, "old", 4, "", "");
		control_run(fixture, 30);
		apply(fixture, "new", 6, rows[i].rollout, "");
		control_run(fixture, 0);
		assert_int_equal(control_pods(fixture, "llm", ""), 6);
		assert_int_equal(with_image(fixture, "new"), rows[i].new_at_once);
		control_run(fixture, 120);
		assert_int_equal(with_image(fixture, "new"), rows[i].in_the_end);
		control_teardown(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(limits_hold, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(partition_and_pause, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(the_way_back, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(update_by_segments, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(roles_update_in_step, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(canaries_wait_for_approval, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(late_segments_are_rolled_back, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(failures, control_setup, control_teardown),
		cmocka_unit_test_setup_teardown(ready_waits_for_the_update, control_setup, control_teardown),
		cmocka_unit_test(new_replicas_begin_new),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
