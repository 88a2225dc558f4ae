/* Rolling updates: revisions and the way back, canaries, late segments, limits. */
#include "fixtures/control_fixture.h"

#define HEAD "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n"

/* A group of `replicas` with an image; `rollout` and `placement` are YAML of those fields. */
static void apply(struct town *town, const char *image, int replicas, const char *rollout, const char *placement)
{
	char text[2048];
	snprintf(text, sizeof(text),
	         HEAD "  roles:\n  - {name: a, replicas: %d, rolloutStrategy: {rollingUpdate: {%s}}, template: {spec: "
	              "{containers: [{name: c, image: %s, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n%s%s%s",
	         replicas, rollout, image,
	         *placement ? "  coordination:\n  - name: one\n    strategy: {segmentPlacement: {" : "", placement,
	         *placement ? "}}\n" : "");
	int code = town_apply(town, text);
	if (code >= 300)
		fail_msg("%s", town->kit.text.text);
}

static int with_image(struct town *town, const char *image)
{
	int count = 0;
	for (int i = 0; i < 40; i++) {
		char name[32];
		snprintf(name, sizeof(name), "llm-a-%d", i);
		const struct store_object *pod =
			store_peek(town->kit.store, store_type_find(town->kit.store, "", "pods"), "default", name);
		const struct val *container = pod ? val_item(val_path(pod->root, "spec", "containers", NULL), 0) : NULL;
		count += container && strcmp(val_str(val_get(container, "image"), ""), image) == 0;
	}
	return count;
}

static int least_ready, most_pods;

static void watch_limits(struct town *town)
{
	int ready = town_ready(town, "llm", ""), pods = town_pods(town, "llm", "");
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
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char image[16];
		snprintf(image, sizeof(image), "i%zu", i);
		apply(town, "start", 10, rows[i].rollout, "");
		town_run(town, 200);
		assert_int_equal(with_image(town, "start"), 10);
		least_ready = most_pods = 10;
		town->watch = watch_limits;
		apply(town, image, 10, rows[i].rollout, "");
		town_run(town, 200);
		town->watch = NULL;
		assert_int_equal(with_image(town, image), 10);
		assert_int_equal(town_ready(town, "llm", ""), 10);
		assert_true(least_ready >= rows[i].least_ready);
		assert_true(most_pods <= rows[i].most_pods);
	}
}

static void partition_and_pause(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, "one", 4, "", "");
	town_run(town, 20);
	apply(town, "two", 4, "partition: 2", "");
	town_run(town, 60);
	assert_int_equal(with_image(town, "two"), 2);
	assert_string_equal(town_condition(town, "llm", "RollingUpdateInProgress"),
	                    "True HeldByPartition: 2/4 replicas updated");
	assert_string_equal(town_group_at(town, "llm", "status.roleStatuses.0.updateMessage"),
	                    "the partition keeps 2 instances at the old revision");
	/* Whoever is lost below the partition comes back as it was. */
	kit_delete(&town->kit, "pods", "default", "llm-a-0", NULL);
	town_run(town, 20);
	assert_int_equal(with_image(town, "one"), 2);
	apply(town, "two", 4, "partition: 0, paused: true", "");
	town_run(town, 60);
	assert_int_equal(with_image(town, "two"), 2);
	assert_string_equal(town_condition(town, "llm", "RollingUpdateInProgress"),
	                    "True Paused: 2/4 replicas updated");
	apply(town, "two", 4, "partition: 0, paused: false", "");
	town_run(town, 60);
	assert_int_equal(with_image(town, "two"), 4);
	assert_string_equal(town_condition(town, "llm", "RollingUpdateInProgress"), "False UpdateComplete: ");
	assert_string_equal(town_group_at(town, "llm", "status.roleStatuses.0.updateMessage"), "");
}

static void the_way_back(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, "one", 4, "", "");
	town_run(town, 20);
	apply(town, "two", 4, "", "");
	town_run(town, 60);
	apply(town, "three", 6, "", "");
	town_run(town, 60);
	assert_int_equal(with_image(town, "three"), 6);
	const char *to = "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/rollback-to':'1'}}}";
	kit_merge(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", to);
	town_run(town, 90);
	/* The template goes back, the replicas stay. */
	assert_int_equal(with_image(town, "one"), 6);
	assert_int_equal(town_events(town, "RolledBack"), 1);
	kit_merge(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", "llm",
	          "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/rollback-to':'77'}}}");
	town_run(town, 30);
	assert_int_equal(town_events(town, "RevisionNotFound"), 1);
	assert_int_equal(with_image(town, "one"), 6);
	/* Nine more changes: the history stays short. */
	for (int i = 0; i < 9; i++) {
		char image[16];
		snprintf(image, sizeof(image), "v%d", i);
		apply(town, image, 2, "maxUnavailable: 2", "");
		town_run(town, 30);
	}
	int count = 0;
	for (const char *at = kit_names(&town->kit, "controllerrevisions.apps", "default", NULL, NULL); *at; at++)
		count += *at == ' ';
	assert_int_equal(count + 1, 5);
}

static void update_by_segments(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, "one", 9, "maxUnavailable: 3", "segmentSize: {a: 3}");
	town_run(town, 60);
	assert_int_equal(town_ready(town, "llm", ""), 9);
	apply(town, "two", 9, "maxUnavailable: 3", "segmentSize: {a: 3}");
	town_run(town, 3);
	/* Last segment first, and only that one. */
	assert_int_equal(with_image(town, "one"), 6);
	kit_get(&town->kit, "pods", "default", "llm-a-5");
	assert_at(&town->kit, "spec.containers.0.image", "one");
	town_run(town, 60);
	assert_int_equal(with_image(town, "two"), 9);
	assert_int_equal(town_ready(town, "llm", ""), 9);
}

static int image_of_role(struct town *town, const char *role, int replicas, const char *image)
{
	int count = 0;
	for (int i = 0; i < replicas; i++) {
		char name[32];
		snprintf(name, sizeof(name), "llm-%s-%d", role, i);
		const struct store_object *pod =
			store_peek(town->kit.store, store_type_find(town->kit.store, "", "pods"), "default", name);
		const struct val *container = pod ? val_item(val_path(pod->root, "spec", "containers", NULL), 0) : NULL;
		count += container && strcmp(val_str(val_get(container, "image"), ""), image) == 0;
	}
	return count;
}

/* maxSkew of a fifth: with ten and five instances never more than two and one apart. */
static void watch_skew(struct town *town)
{
	int p = image_of_role(town, "p", 10, "two"), d = image_of_role(town, "d", 5, "two");
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
	struct town *town = *state;
	char body[1024];
	town_nodes(town, 2, 8, 2);
	snprintf(body, sizeof(body), text, "one", "one");
	assert_int_equal(town_apply(town, body), 201);
	town_run(town, 30);
	assert_int_equal(town_ready(town, "llm", ""), 15);
	town->watch = watch_skew;
	snprintf(body, sizeof(body), text, "two", "two");
	assert_int_equal(town_apply(town, body), 200);
	town_run(town, 120);
	assert_int_equal(image_of_role(town, "p", 10, "two"), 10);
	assert_int_equal(image_of_role(town, "d", 5, "two"), 5);
	assert_int_equal(town_ready(town, "llm", ""), 15);
}

static void approve(struct town *town)
{
	char body[256];
	snprintf(body, sizeof(body), "{'metadata':{'annotations':{'rbg.workloads.x-k8s.io/canary-approved':'%s'}}}",
	         town_group_at(town, "llm", "status.updateRevision"));
	assert_int_equal(kit_merge(&town->kit, "rolebasedgroups.workloads.x-k8s.io", "default", "llm", body), 200);
}

static void canaries_wait_for_approval(void **state)
{
	static const char placement[] = "segmentSize: {a: 2}, canary: {segments: 1}";
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, "one", 8, "maxUnavailable: 2", placement);
	town_run(town, 60);
	assert_int_equal(town_pods(town, "llm", ""), 2);
	assert_non_null(strstr(town_condition(town, "llm", "CanaryHolding"), "True WaitingForApproval"));
	assert_int_equal(town_events(town, "CanaryHolding"), 1);
	approve(town);
	town_run(town, 60);
	assert_int_equal(town_ready(town, "llm", ""), 8);
	assert_string_equal(town_condition(town, "llm", "CanaryHolding"), "False NotHeld: ");
	apply(town, "two", 8, "maxUnavailable: 2", placement);
	town_run(town, 60);
	assert_int_equal(with_image(town, "two"), 2);
	assert_int_equal(town_ready(town, "llm", ""), 8);
	approve(town);
	town_run(town, 90);
	assert_int_equal(with_image(town, "two"), 8);
}

static void late_segments_are_rolled_back(void **state)
{
	static const char placement[] = "segmentSize: {a: 2}, rollback: {deadlineSeconds: 60}";
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	apply(town, "one", 6, "maxUnavailable: 2", placement);
	town_run(town, 60);
	assert_int_equal(town_ready(town, "llm", ""), 6);
	/* Pods that can never be placed. */
	char text[1024];
	snprintf(
		text, sizeof(text),
		HEAD
		"  roles:\n  - {name: a, replicas: 6, rolloutStrategy: {rollingUpdate: {maxUnavailable: 2}}, template: "
		"{spec: {nodeSelector: {no: where}, containers: [{name: c, image: two}]}}}\n");
	assert_int_equal(town_apply(town, text), 200);
	town_run(town, 50);
	assert_int_equal(town_ready(town, "llm", ""), 4);
	assert_int_equal(town_events(town, "RolledBack"), 0);
	town_run(town, 60);
	assert_int_equal(town_events(town, "RolledBack"), 1);
	assert_int_equal(with_image(town, "one"), 6);
	assert_int_equal(town_ready(town, "llm", ""), 6);
}

/* A pod that fails is made anew; with leader and workers the whole instance is. */
static void failures(void **state)
{
	struct town *town = *state;
	town_nodes(town, 2, 8, 2);
	town_apply(town, HEAD
	           "  roles:\n  - {name: a, replicas: 1, leaderWorkerSet: {size: 2}, template: {spec: {containers: "
	           "[{name: c, image: i}]}}}\n  - {name: b, replicas: 2, template: {spec: {containers: [{name: c, "
	           "image: i}]}}}\n");
	town_run(town, 20);
	assert_int_equal(town_ready(town, "llm", ""), 4);
	char first[64], sibling[64], other[64];
	kit_get(&town->kit, "pods", "default", "llm-a-0-0");
	snprintf(first, sizeof(first), "%s", kit_at(&town->kit, "metadata.uid"));
	kit_get(&town->kit, "pods", "default", "llm-b-1");
	snprintf(other, sizeof(other), "%s", kit_at(&town->kit, "metadata.uid"));
	const struct store_request status = {.verb = STORE_PATCH,
	                                     .patch = STORE_PATCH_MERGE,
	                                     .subresource = STORE_STATUS};
	kit_do(&town->kit, status, "pods", "default", "llm-a-0-1", "{'status':{'phase':'Failed'}}");
	kit_do(&town->kit, status, "pods", "default", "llm-b-0", "{'status':{'phase':'Failed'}}");
	town_run(town, 10);
	assert_int_equal(town_ready(town, "llm", ""), 4);
	kit_get(&town->kit, "pods", "default", "llm-a-0-0");
	snprintf(sibling, sizeof(sibling), "%s", kit_at(&town->kit, "metadata.uid"));
	assert_string_not_equal(first, sibling);
	kit_get(&town->kit, "pods", "default", "llm-b-1");
	assert_at(&town->kit, "metadata.uid", other);
	/* The second time it waits until 30 seconds after the first. */
	kit_do(&town->kit, status, "pods", "default", "llm-a-0-1", "{'status':{'phase':'Failed'}}");
	town_run(town, 15);
	assert_int_equal(town_ready(town, "llm", "a"), 1);
	town_run(town, 40);
	assert_int_equal(town_ready(town, "llm", "a"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(limits_hold, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(partition_and_pause, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(the_way_back, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(update_by_segments, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(roles_update_in_step, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(canaries_wait_for_approval, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(late_segments_are_rolled_back, town_setup, town_teardown),
		cmocka_unit_test_setup_teardown(failures, town_setup, town_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
