/* The process is killed after each single write of a rollout in turn: after the first, after the second, and so on to the
 * last. Every time it is started again, goes on, and ends where the rollout ends that nobody disturbed. On the way the
 * promises about order and readiness hold. */
#include "fixtures/control_fixture.h"

/* Where the next crash is, and how many writes there were. */
static struct {
	long writes, crash_after; /* 0: never */
	bool is_down;             /* nothing is written any more until the restart */
} plan;

static struct store_fault count_write(void *context, const struct store_request *request)
{
	(void)context;
	(void)request;
	if (plan.is_down)
		return (struct store_fault){.code = 500};
	plan.is_down = ++plan.writes == plan.crash_after;
	return (struct store_fault){0};
}

struct step {
	const char *image; /* NULL: nothing was there before */
	int segments, size;
};

/* What is there, and what it becomes while the crash happens. */
struct story {
	const char *name;
	struct step from, to;
	int least_p, least_d, most_p, most_d; /* pods that are ready at any time, and that exist */
};

static const struct story stories[] = {
	{"deployment", {0}, {"one", 2, 2}, 0, 0, 8, 2},
	{"update", {"one", 2, 2}, {"two", 2, 3}, 6, 1, 12, 2},
	{"scale-up", {"one", 1, 2}, {"one", 3, 2}, 4, 1, 12, 3},
	{"scale-down", {"one", 3, 2}, {"one", 1, 2}, 4, 1, 12, 3},
};

static const struct story *story;
static bool has_begun, was_first_ready;

/* Segments of two prefill and one decode, one instance of a role at a time in updates. */
static void watch(struct control_fixture *fixture)
{
	fixture->restarts = plan.is_down;
	plan.is_down = false;
	int ready_p = control_ready(fixture, "llm", "p"), ready_d = control_ready(fixture, "llm", "d");
	int pods_p = control_pods(fixture, "llm", "p"), pods_d = control_pods(fixture, "llm", "d");
	was_first_ready |= ready_p >= 4 && ready_d >= 1;
	if (!was_first_ready && (pods_p > 4 || pods_d > 1))
		fail_msg("write %ld: segment 2 exists before segment 1 was ready", plan.crash_after);
	if (has_begun && (ready_p < story->least_p || ready_d < story->least_d))
		fail_msg("write %ld: %d and %d are ready", plan.crash_after, ready_p, ready_d);
	if (pods_p > story->most_p || pods_d > story->most_d)
		fail_msg("write %ld: there are %d and %d pods", plan.crash_after, pods_p, pods_d);
}

/* Prefill has leader and worker; their number changes with the update, so that gangs change too. */
static void apply(struct control_fixture *fixture, const struct step *step)
{
	char text[2048];
	snprintf(text, sizeof(text),
	         "apiVersion: workloads.x-k8s.io/v1alpha1\nkind: RoleBasedGroup\nmetadata: {name: llm}\nspec:\n  "
	         "roles:\n"
	         "  - {name: p, replicas: %d, leaderWorkerSet: {size: %d}, template: &t {spec: {containers: [{name: c, "
	         "image: %s, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"
	         "  - {name: d, replicas: %d, dependencies: [p], template: *t}\n"
	         "  coordination:\n  - name: pd\n    strategy: {segmentPlacement: {segmentSize: {p: 2, d: 1}}}\n",
	         2 * step->segments, step->size, step->image, step->segments);
	int code = control_apply(fixture, text);
	if (code >= 300)
		fail_msg("%s", fixture->base.text.text);
}

/* Everything that must be the same in the end: pods with images and gangs, and what else the group has. */
static void describe(struct control_fixture *fixture, struct buffer *out)
{
	static const char *const kinds[] = {"pods", "podgroups.scheduling.run.ai", "services", "configmaps",
	                                    "controllerrevisions.apps"};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct store_list list = {0};
		struct arena *arena = arena_create();
		struct store_error error = {0};
		struct store_list_request request = {.api = fixture_api(&fixture->base, kinds[k])};
		store_list(fixture->base.store, &request, &list, arena, &error);
		for (size_t i = 0; i < list.count; i++) {
			const struct val *root = list.items[i]->root;
			const struct val *container = val_item(val_path(root, "spec", "containers", NULL), 0);
			buffer_printf(out, "%s %s %s %s %s ", kinds[k], list.items[i]->name,
			              val_str(val_get(container, "image"), ""),
			              val_str(val_path(root, "metadata", "annotations", "pod-group-name", NULL), ""),
			              val_str(val_path(root, "metadata", "labels", "controller-revision-hash", NULL),
			                      ""));
			const struct val *rest = k == 1 ? val_get(root, "spec") : val_get(root, "data");
			if (rest)
				val_write(rest, DOC_JSON_COMPACT, out);
			buffer_puts(out, "\n");
		}
		store_list_clear(&list);
		arena_destroy(arena);
	}
	buffer_printf(out, "%s %s %s\n", control_condition(fixture, "llm", "Ready"),
	              control_condition(fixture, "llm", "MinimumSegmentsAvailable"),
	              control_group_at(fixture, "llm", "status.updated"));
}

/* Until nothing is written any more for a while: a crash costs some time, of pauses and of pods that start anew. */
static void settle(struct control_fixture *fixture)
{
	long before;
	int calm = 0;
	for (int i = 0; i < 60 && calm < 2; i++) {
		before = plan.writes;
		control_run(fixture, 12);
		calm = plan.writes == before ? calm + 1 : 0;
	}
}

/* Tells the story once; what it ends with is in `out`. The number of writes. */
static long run(long crash_after, struct buffer *out)
{
	static struct control_fixture fixture;
	fixture = (struct control_fixture){0};
	control_open(&fixture);
	control_nodes(&fixture, 2, 20, 2);
	plan.crash_after = 0;
	plan.is_down = has_begun = was_first_ready = false;
	store_set_fault(fixture.base.store, count_write, NULL);
	fixture.watch = watch;
	if (story->from.image) {
		apply(&fixture, &story->from);
		settle(&fixture);
	}
	apply(&fixture, &story->to);
	has_begun = true;
	plan.writes = 0;
	plan.crash_after = crash_after;
	settle(&fixture);
	store_set_fault(fixture.base.store, NULL, NULL);
	describe(&fixture, out);
	control_close(&fixture);
	return plan.writes;
}

static void crash_everywhere(void **state)
{
	struct buffer wanted = {0}, got = {0};
	story = *state;
	long writes = run(0, &wanted);
	assert_non_null(strstr(wanted.text, "True AllReplicasReady"));
	assert_true(writes > 5);
	for (long n = 1; n <= writes; n++) {
		got.length = 0;
		run(n, &got);
		if (strcmp(wanted.text, got.text) != 0)
			fail_msg("after write %ld of %ld:\n%s\ninstead of\n%s", n, writes, got.text, wanted.text);
	}
	print_message("%s: killed after each of %ld writes\n", story->name, writes);
	buffer_free(&wanted);
	buffer_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{stories[0].name, crash_everywhere, NULL, NULL, (void *)&stories[0]},
		{stories[1].name, crash_everywhere, NULL, NULL, (void *)&stories[1]},
		{stories[2].name, crash_everywhere, NULL, NULL, (void *)&stories[2]},
		{stories[3].name, crash_everywhere, NULL, NULL, (void *)&stories[3]},
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
