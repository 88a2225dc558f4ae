/* Controllers over a mirror of an API server that answers late: what they wrote a moment ago and was not answered is no
 * reason for their next write to be refused. */
#include "fixtures/control_fixture.h"

#include "manager/manager.h"
#include "loop/writes.h"
#include "serve/api/admission.h"
#include "serve/api/serve.h"
#include "cluster/kubelet.h"
#include "remote/remote.h"

#define LAG 6 /* turns of the controllers to one of the server */
#define MOST_PODS 256

static const struct remote_follow types[] = {
	{"", "v1", "nodes", .optional = false},
	{"", "v1", "pods", .optional = false},
	{"", "v1", "namespaces", .optional = false},
	{"", "v1", "services", .optional = true},
	{"", "v1", "configmaps", .optional = true},
	{"", "v1", "persistentvolumes", .optional = false},
	{"", "v1", "persistentvolumeclaims", .optional = false},
	{"apps", "v1", "controllerrevisions", .optional = true},
	{"batch", "v1", "jobs", .optional = true},
	{"scheduling.k8s.io", "v1", "priorityclasses", .optional = false},
	{"scheduling.run.ai", "v2alpha2", "podgroups", .optional = false},
	{"scheduling.run.ai", "v2", "queues", .optional = false},
	{"kai.scheduler", "v1alpha1", "topologies", .optional = false},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroups", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "coordinatedpolicies", .optional = true},
	{"workloads.x-k8s.io", "v1alpha1", "clustertopologies", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroupscalingadapters", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroupsets", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "roleinstancesets", .optional = true},
	{"workloads.x-k8s.io", "v1alpha2", "roleinstances", .optional = true},
};

struct late {
	struct control_fixture fixture; /* the server's store; nobody acts there but kubelets */
	struct serve *serve;
	struct kubelet *kubelet;
	struct remote_access access;
	struct remote *remote;
	struct manager *manager;
	char pods[MOST_PODS][64]; /* uids that were ever there */
	size_t pod_count;
	int conflicts;
	char conflict[256]; /* the first */
	unsigned turns;
};

static void on_refused(void *context, const char *path, int code, const char *message)
{
	struct late *late = context;
	/* Events are not mirrored: that one is there already is how it is found out. */
	if (code == 409 && !strstr(path, "/events?") && late->conflicts++ == 0)
		snprintf(late->conflict, sizeof(late->conflict), "%s: %s", path, message);
}

static void count_pods(struct late *late)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = store_api_find(late->fixture.base.store, "", "v1", "pods")};
	assert_int_equal(store_list(late->fixture.base.store, &request, &list, arena, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		size_t at = 0;
		while (at < late->pod_count && strcmp(late->pods[at], list.items[i]->uid) != 0)
			at++;
		if (at < late->pod_count)
			continue;
		assert_true(late->pod_count < MOST_PODS);
		snprintf(late->pods[late->pod_count++], sizeof(late->pods[0]), "%s", list.items[i]->uid);
	}
	store_list_clear(&list);
	arena_destroy(arena);
}

static void turn(struct late *late)
{
	struct error error = {0};
	remote_run(late->remote, 0, -1);
	if (remote_synced(late->remote)) {
		manager_step(late->manager);
		store_commit(remote_store(late->remote), NULL);
	}
	if (late->turns++ % LAG == 0) {
		kubelet_step(late->kubelet);
		store_collect_garbage(late->fixture.base.store, 1000);
		serve_run_once(late->serve, 0, &error);
		count_pods(late);
	}
	clock_virtual_advance(&late->fixture.base.clock, 20 * CLOCK_MILLISECOND);
}

static void pass(struct late *late, int turns)
{
	for (int i = 0; i < turns; i++)
		turn(late);
}

static void open_late(struct late *late)
{
	struct error error = {0};
	struct control_fixture *fixture = &late->fixture;
	*late = (struct late){0};
	fixture->admission = admission_create();
	fixture->base.options.admit = admission_check;
	fixture->base.options.context = fixture->admission;
	fixture_open(&fixture->base, NULL);
	admission_use(fixture->admission, fixture->base.store);
	const struct clock_source *clock = &fixture->base.clock.source;
	late->serve = serve_create(
		&(struct serve_options){.store = fixture->base.store, .plain = true, .open = true, .clock = clock},
		&error);
	assert_non_null(late->serve);
	late->kubelet = kubelet_create(&(struct kubelet_options){.store = fixture->base.store,
	                                                         .clock = clock,
	                                                         .start_seconds = 1,
	                                                         .ready_seconds = 1,
	                                                         .stop_seconds = 1});
	late->access = (struct remote_access){.server = serve_url(late->serve), .namespace_ = "default"};
	late->remote = remote_create(&(struct remote_options){.access = &late->access,
	                                                      .clock = clock,
	                                                      .seed = 4711, /* uids other than those of the server */
	                                                      .follow = types,
	                                                      .follow_count = sizeof(types) / sizeof(types[0]),
	                                                      .refused = on_refused,
	                                                      .context = late},
	                             &error);
	assert_non_null(late->remote);
	late->manager = manager_create(&(struct manager_options){.store = remote_store(late->remote), .clock = clock});
	for (int i = 0; i < 2000 && !remote_synced(late->remote); i++)
		turn(late);
	assert_true(remote_synced(late->remote));
}

static void close_late(struct late *late)
{
	manager_destroy(late->manager);
	kubelet_destroy(late->kubelet);
	remote_destroy(late->remote);
	serve_destroy(late->serve);
	admission_destroy(late->fixture.admission);
	fixture_close(&late->fixture.base);
}

static void apply_set(struct late *late, const char *image)
{
	char text[1024];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroupSet\nmetadata: {name: farm}\nspec:\n"
	         "  replicas: 3\n  groupTemplate:\n    spec:\n      roles:\n"
	         "      - {name: a, replicas: 2, standalonePattern: {template: {spec: {containers: [{name: c, image: "
	         "%s, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}\n",
	         image);
	if (control_apply(&late->fixture, text) >= 300)
		fail_msg("%s", late->fixture.base.text.text);
}

static int with_image(struct late *late, const char *image)
{
	int count = 0;
	for (int i = 0; i < 6; i++) {
		char name[32];
		snprintf(name, sizeof(name), "farm-%d-a-%d", i / 2, i % 2);
		if (fixture_get(&late->fixture.base, "pods", "default", name) == 200)
			count += strcmp(fixture_at(&late->fixture.base, "spec.containers.0.image"), image) == 0;
	}
	return count;
}

static void expect_no_conflict(const struct late *late, int after)
{
	if (late->conflicts)
		fail_msg("%d conflicts with a change after %d turns, the first %s", late->conflicts, after,
		         late->conflict);
}

/* The template changes while the controllers still write the status of the groups that get it: a pod is made once for
 * each template, and no more. */
static void a_template_that_changes_under_way(void **state)
{
	static struct late late;
	for (int after = 97; after <= 133; after += 3) {
		open_late(&late);
		control_nodes(&late.fixture, 2, 8, 2);
		apply_set(&late, "one");
		pass(&late, after);
		apply_set(&late, "two");
		pass(&late, 1200);
		expect_no_conflict(&late, after);
		assert_int_equal(with_image(&late, "two"), 6);
		if (late.pod_count > 12)
			fail_msg("%zu pods were made when the template changed after %d turns", late.pod_count, after);
		close_late(&late);
	}
}

static void create_job(struct late *late)
{
	struct store_fixture *base = &late->fixture.base;
	char body[1024], uid[64];
	assert_code(base,
	            fixture_create(
			    base, "queues.scheduling.run.ai", "",
			    "{'metadata':{'name':'default-queue'},'spec':{'resources':{'gpu':{'quota':-1,'limit':-1},"
			    "'cpu':{'quota':-1,'limit':-1},'memory':{'quota':-1,'limit':-1}}}}"),
	            201);
	assert_code(
		base,
		fixture_create(base, "jobs.batch", "default",
	                       "{'metadata':{'name':'j','annotations':{'kai.scheduler/batch-min-member':'4'}},'spec':{"
	                       "'parallelism':4,'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c',"
	                       "'image':'i'}]}}}}"),
		201);
	snprintf(uid, sizeof(uid), "%s", fixture_at(base, "metadata.uid"));
	for (int i = 0; i < 4; i++) {
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'j-%d','ownerReferences':[{'apiVersion':'batch/"
		         "v1','kind':'Job','name':'j',"
		         "'uid':'%s','controller':true}]},'spec':{'schedulerName':'platoon','restartPolicy':'Never',"
		         "'containers':[{'name':'c','image':'i','resources':{'limits':{'nvidia.com/gpu':1}}}]}}",
		         i, uid);
		assert_code(base, fixture_create(base, "pods", "default", body), 201);
	}
}

/* As the scheduler does when it tells of a group. */
static void write_status(struct late *late, const char *name)
{
	struct store *mirror = remote_store(late->remote);
	struct build *build = build_create();
	struct node *status = build_map(build);
	const struct store_object *group =
		store_peek(mirror, store_type_find(mirror, "scheduling.run.ai", "podgroups"), "default", name);
	assert_non_null(group);
	build_put_int(build, status, "pending", late->turns);
	assert_int_equal(writes_patch_status(mirror, group, build, status), 1);
	build_destroy(build);
}

/* The same for PodGroups, whose status is written all the time, and whose spec follows from the workload. */
static void a_workload_that_changes_under_way(void **state)
{
	static struct late late;
	char name[128];
	open_late(&late);
	control_nodes(&late.fixture, 1, 8, 2);
	create_job(&late);
	pass(&late, 100);
	snprintf(name, sizeof(name), "%s",
	         fixture_names(&late.fixture.base, "podgroups.scheduling.run.ai", "default", NULL, NULL));
	assert_code(&late.fixture.base,
	            fixture_merge(&late.fixture.base, "jobs.batch", "default", "j",
	                          "{'metadata':{'annotations':{'kai.scheduler/batch-min-member':'3'}}}"),
	            200);
	for (int i = 0; i < 100; i++) {
		write_status(&late, name);
		turn(&late);
	}
	expect_no_conflict(&late, 100);
	fixture_get(&late.fixture.base, "podgroups.scheduling.run.ai", "default", name);
	assert_at(&late.fixture.base, "spec.minMember", "3");
	close_late(&late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_template_that_changes_under_way),
		cmocka_unit_test(a_workload_that_changes_under_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
