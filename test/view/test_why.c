/* Explanations: the same words as in conditions, for groups, pods and queues. */
#include "fixtures/store_fixture.h"
#include "fixtures/snapshot_fixture.h"

#include "schedule/scheduler.h"
#include "view/why.h"

#define RACK "topologyConstraint: {topology: cluster, requiredTopologyLevel: rack}"
#define MEMBER(name, group) POD(name, OF(group), OURS, "")

static const char objects[] = TOPOLOGY QUEUE("research") NODE("n1", "r1") NODE("n2", "r1") NODE("n3", "r2")
	GROUP("fits", "queue: research, minMember: 2, " RACK) MEMBER("fits-0", "fits") MEMBER("fits-1", "fits")
		GROUP("wide", "queue: research, minMember: 3, " RACK)
			POD("wide-0", OF("wide"), OURS "overhead: {cpu: 6}, ", "") POD("wide-1", OF("wide"),
                                                                                       OURS "overhead: {cpu: 6}, ", "")
				POD("wide-2", OF("wide"), OURS "overhead: {cpu: 6}, ", "")
					POD("runs", "", ON("n3"), "phase: Running") POD("lost", OF("nowhere"), OURS, "")
						POD("other", "", "",
                                                    "") "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, "
							"metadata: {name: made, namespace: ns, "
							"ownerReferences: [{apiVersion: kubeflow.org/v1, kind: TFJob, "
							"name: train, uid: u}]}, spec: {queue: other, "
							"minMember: 1}}\n" QUEUE("other") MEMBER("made-0", "made");

#define OWNED(kind, name) "ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", uid: u}], "
/* A Deployment of two pods, each a group of its own, of which one waits; one of another scheduler; one of nothing. */
static const char workloads[] = TOPOLOGY QUEUE("research") NODE(
	"n1",
	"r1") "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}, spec: {replicas: "
	      "2}}\n"
	      "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, namespace: ns, " OWNED(
		      "Deployment",
		      "web") "}}\n" GROUP("web-a",
                                          "queue: research, minMember: 1") GROUP("web-b",
                                                                                 "queue: research, minMember: 1")
		      POD("web-1-a", OWNED("ReplicaSet", "web-1") OF("web-a"), OURS, "") POD(
			      "web-1-b", OWNED("ReplicaSet", "web-1") OF("web-b"), OURS "overhead: {cpu: 100}, ",
			      "") "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: theirs, namespace: "
				  "ns}, spec: {replicas: 1}}\n" POD(
					  "theirs-0", OWNED("StatefulSet", "theirs"), "",
					  "") "---\n{apiVersion: batch/v1, kind: Job, "
					      "metadata: {name: later, namespace: ns}, spec: "
					      "{suspend: true}}\n"
					      "---\n{apiVersion: apps/v1, kind: Deployment, "
					      "metadata: {name: none, namespace: ns}, spec: "
					      "{replicas: 0}}\n"
					      "---\n{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: "
					      "{name: ended, namespace: ns}, status: "
					      "{conditions: [{type: Completed, status: 'True'}]}}\n"
					      "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: "
					      "forbidden, namespace: ns}, status: {conditions: "
					      "[{type: ReplicaFailure, status: 'True', message: over quota}]}}\n"
					      "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: odd, namespace: "
					      "ns}, status: {conditions: [{type: "
					      "FailoverReady, status: 'True'}, {type: Failed, status: 'False'}]}}\n";

struct told {
	struct snapshot_fixture fixture;
	struct snapshot *snapshot;
	struct arena *arena;
	struct plan *plan;
	struct why why;
};

/* Explained as the scheduler does it. */
static void open_told(struct told *told, const char *text)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT,
	                                            ACTION_RELEASE_STALE};
	snapshot_fixture_open(&told->fixture, text);
	told->arena = arena_create();
	told->snapshot = snapshot_create(&told->fixture.manifests,
	                                 &(struct snapshot_options){.trials = SNAPSHOT_TRIALS_WHEN_ASKED});
	told->plan = plan_run(told->snapshot, actions, sizeof(actions) / sizeof(*actions));
}

static void close_told(struct told *told)
{
	snapshot_destroy(told->snapshot);
	snapshot_fixture_close(&told->fixture);
	arena_destroy(told->arena);
}

static int ask(struct told *told, const char *subject, struct error *error)
{
	struct why_subject parsed;
	if (why_parse(subject, "ns", told->arena, &parsed, error) < 0)
		return -1;
	return why_ask(told->plan, &told->fixture.manifests, NULL, &parsed, told->arena, &told->why, error);
}

static void everything_has_an_answer(void **state)
{
	static const struct {
		const char *subject, *state, *summary;
		bool settled;
	} rows[] = {
		{"podgroup/fits", "Placed", "2/2 pods placed", true},
		{"pg/wide", "Never", "0/3 pods placed; does not fit even the empty cluster", false},
		{"pod/fits-1", "Placed", "the next cycle gives it node n3 (rack r2); it belongs to PodGroup ns/fits",
	         true},
		{"po/wide-0", "Never", "it has no node; it belongs to PodGroup ns/wide", false},
		{"pod/runs", "Running", "it has node n3 (rack r2)", true},
		{"pod/lost", "Waiting", "it names PodGroup ns/nowhere, which does not exist", false},
		{"pod/other", "Waiting", "it is not ours to place: its schedulerName is default-scheduler", false},
		{"queue/research", "Waiting", "1 of its 2 groups waits", false},
		{"tfjob/train", "Placed", "PodGroup made: 1/1 pods", true},
		{"TFJobs.kubeflow.org/train", "Placed", "PodGroup made: 1/1 pods", true},
	};
	struct told told;
	open_told(&told, objects);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error error = {0};
		if (ask(&told, rows[i].subject, &error) < 0)
			fail_msg("%s: %s", rows[i].subject, error.text);
		assert_string_equal(told.why.state, rows[i].state);
		assert_int_equal(told.why.settled, rows[i].settled);
		if (!strstr(told.why.summary, rows[i].summary))
			fail_msg("%s: %s", rows[i].subject, told.why.summary);
	}
	close_told(&told);
	(void)state;
}

/* From the workload to what belongs to it, however far down. */
static void workloads_stand_for_their_groups(void **state)
{
	static const struct {
		const char *subject, *state, *summary;
		size_t groups;
	} rows[] = {
		{"deployment/web", "Never", "1 of its 2 PodGroups waits", 2},
		{"deploy/web", "Never", "1 of its 2 PodGroups waits", 2},
		{"rs/web-1", "Never", "1 of its 2 PodGroups waits", 2},
		{"sts/theirs", "Waiting", "1 of its 1 pods is in no PodGroup; theirs-0: it is not ours to place", 0},
		{"job/later", "NoPods", "it has no pods: it is suspended", 0},
		{"deployment/none", "NoPods", "it has no pods: it asks for 0 replicas", 0},
		{"jobset/ended", "NoPods", "it has no pods: it has completed", 0},
		{"rs/forbidden", "NoPods", "it has no pods: ReplicaFailure: over quota", 0},
		{"job/odd", "NoPods", "it has no pods: its controller has not made any", 0},
	};
	struct told told;
	open_told(&told, workloads);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error error = {0};
		if (ask(&told, rows[i].subject, &error) < 0)
			fail_msg("%s: %s", rows[i].subject, error.text);
		assert_string_equal(told.why.state, rows[i].state);
		assert_int_equal(told.why.group_count, rows[i].groups);
		if (!strstr(told.why.summary, rows[i].summary))
			fail_msg("%s: %s", rows[i].subject, told.why.summary);
		struct build *build = build_create();
		struct doc *doc = build_finish(build, why_write(&told.why, build));
		assert_int_equal(val_count(val_get(doc_root(doc), "groups")), rows[i].groups);
		doc_destroy(doc);
		build_destroy(build);
	}
	close_told(&told);
	(void)state;
}

static void what_is_not_there_is_said(void **state)
{
	static const struct {
		const char *subject, *error;
	} rows[] = {
		{"fits", "give kind and name"},
		{"pg/", "give kind and name"},
		{"node/n1", "node \"n1\" not found in namespace \"ns\""},
		{"job/fits", "job \"fits\" not found in namespace \"ns\""},
		{"deploy/wbe", "deploy \"wbe\" not found in namespace \"ns\"; did you mean web?"},
		{"pg/fit", "PodGroup \"fit\" not found in namespace \"ns\"; did you mean fits?"},
		{"pod/wide-9", "did you mean wide-0?"},
		{"queue/resaerch", "did you mean research?"},
		{"pg/something-else", "PodGroup \"something-else\" not found"},
	};
	struct told told;
	static char both[sizeof(objects) + sizeof(workloads)];
	snprintf(both, sizeof(both), "%s%s", objects, strstr(workloads, "---\n{apiVersion: apps/v1"));
	open_told(&told, both);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error error = {0};
		assert_int_equal(ask(&told, rows[i].subject, &error), -1);
		if (!strstr(error.text, rows[i].error))
			fail_msg("%s: %s", rows[i].subject, error.text);
	}
	close_told(&told);
	(void)state;
}

static void the_document_has_the_tree(void **state)
{
	struct told told;
	struct error error = {0};
	open_told(&told, objects);
	assert_int_equal(ask(&told, "pg/fits", &error), 0);
	struct build *build = build_create();
	struct doc *doc = build_finish(build, why_write(&told.why, build));
	const struct val *part = val_item(val_get(doc_root(doc), "parts"), 0),
			 *pod = val_item(val_get(part, "pods"), 1);
	assert_string_equal(val_str(val_get(pod, "name"), ""), "fits-1");
	assert_string_equal(val_str(val_get(pod, "state"), ""), "Placed");
	assert_string_equal(val_str(val_path(pod, "domains", "rack", NULL), ""), "r2");
	doc_destroy(doc);
	assert_int_equal(ask(&told, "pg/wide", &error), 0);
	doc = build_finish(build, why_write(&told.why, build));
	const struct val *root = doc_root(doc);
	int64_t have = -1, need = -1;
	assert_string_equal(val_str(val_path(root, "closest", "level", NULL), ""), "rack");
	assert_int_equal(val_int(val_path(root, "closest", "have", NULL), &have), 0);
	assert_int_equal(val_int(val_path(root, "closest", "need", NULL), &need), 0);
	assert_true(have < need && need == 3);
	assert_non_null(strstr(val_str(val_get(root, "missing"), ""), "CPU"));
	doc_destroy(doc);
	build_destroy(build);
	close_told(&told);
	(void)state;
}

/* ---- the same words as in conditions ---- */

static void put(struct store_fixture *base, const struct manifest *manifest)
{
	const struct store_api *api = store_api_of_kind(base->store, manifest->api_version, manifest->kind);
	struct store_result result = {.arena = base->arena};
	struct store_request request = {
		.verb = STORE_CREATE,
		.api = api,
		.namespace_ = manifest->namespace_,
		.body = manifest->object,
	};
	if (store_write(base->store, &request, &result) < 0)
		fail_msg("%s %s: %s", manifest->kind, manifest->name, result.error.message);
	store_result_clear(&result);
}

static void conditions_say_the_same(void **state)
{
	static struct store_fixture base;
	struct told told;
	struct error error = {0};
	memset(&base, 0, sizeof(base));
	fixture_open(&base, NULL);
	assert_code(&base, fixture_create(&base, "namespaces", "", "{'metadata':{'name':'ns'}}"), 201);
	open_told(&told, objects);
	for (size_t i = 0; i < told.fixture.manifests.count; i++)
		put(&base, &told.fixture.manifests.items[i]);
	assert_int_equal(store_commit(base.store, NULL), 0);
	struct scheduler *scheduler =
		scheduler_create(&(struct scheduler_options){.store = base.store, .clock = &base.clock.source});
	scheduler_step(scheduler);
	assert_int_equal(store_commit(base.store, NULL), 0);
	close_told(&told);
	/* Asked again about what is now in the store. */
	struct buffer text = {0};
	static const char *const resources[] = {"nodes", "pods", "topologies.kai.scheduler", "queues.scheduling.run.ai",
	                                        "podgroups.scheduling.run.ai"};
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
		struct store_list list;
		assert_int_equal(store_list(base.store,
		                            &(struct store_list_request){.api = fixture_api(&base, resources[i])},
		                            &list, base.arena, NULL),
		                 0);
		for (size_t o = 0; o < list.count; o++) {
			size_t length;
			const char *json = store_object_json(list.items[o], NULL, &length);
			buffer_printf(&text, "---\n%.*s\n", (int)length, json);
		}
		store_list_clear(&list);
	}
	open_told(&told, text.text);
	assert_int_equal(ask(&told, "pg/wide", &error), 0);
	assert_string_not_equal(told.why.message, "");
	assert_code(&base, fixture_get(&base, "podgroups.scheduling.run.ai", "ns", "wide"), 200);
	assert_at(&base, "status.conditions.0.reason", "InsufficientDomain");
	assert_at(&base, "status.conditions.0.message", told.why.message);
	assert_int_equal(ask(&told, "pod/wide-0", &error), 0);
	assert_code(&base, fixture_get(&base, "pods", "ns", "wide-0"), 200);
	assert_at(&base, "status.conditions.0.message", told.why.message);
	assert_int_equal(ask(&told, "pod/fits-0", &error), 0);
	assert_string_equal(told.why.state, "Running");
	close_told(&told);
	buffer_free(&text);
	scheduler_destroy(scheduler);
	fixture_close(&base);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_has_an_answer),  cmocka_unit_test(workloads_stand_for_their_groups),
		cmocka_unit_test(what_is_not_there_is_said), cmocka_unit_test(the_document_has_the_tree),
		cmocka_unit_test(conditions_say_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
