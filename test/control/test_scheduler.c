/* The scheduler over a store in memory, in virtual time: what it makes of refusals, losses and restarts, and what it tells
 * about it. */
#include "../store/kit.h"
#include "control/events.h"
#include "control/scheduler.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)

struct story {
	struct kit kit;
	struct scheduler *scheduler;
	const char *fails; /* bindings of this pod are refused */
	int times;         /* so often; -1: always */
	/* several at once, each refused with its own code; and where it was to go */
	struct trouble {
		const char *pod;
		int code;
		bool always;
		char node[16];
	} troubles[4];
};

/* The node a binding names. */
static void note_target(struct trouble *trouble, const struct store_request *request)
{
	snprintf(trouble->node, sizeof(trouble->node), "%s",
	         val_str(val_path(request->body, "target", "name", NULL), ""));
}

static struct store_fault refuse(void *context, const struct store_request *request)
{
	struct story *story = context;
	for (size_t i = 0; i < 4 && request->subresource == STORE_BINDING; i++) {
		struct trouble *trouble = &story->troubles[i];
		if (!trouble->pod || (trouble->node[0] && !trouble->always) || strcmp(request->name, trouble->pod) != 0)
			continue;
		note_target(trouble, request);
		return (struct store_fault){.code = trouble->code};
	}
	if (!story->fails || request->subresource != STORE_BINDING || strcmp(request->name, story->fails) != 0 ||
	    story->times == 0)
		return (struct store_fault){0};
	story->times -= story->times > 0;
	return (struct store_fault){.code = 409};
}

static void start_scheduler(struct story *story)
{
	scheduler_destroy(story->scheduler);
	story->scheduler = scheduler_create(
		&(struct scheduler_options){.store = story->kit.store, .clock = &story->kit.clock.source});
}

static void make_node(struct story *story, const char *name, const char *rack)
{
	char body[512];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{'rack':'%s'}},'status':{"
	         "'allocatable':{'cpu':'2','memory':'8Gi','pods':'9'}}}",
	         name, rack);
	assert_code(&story->kit, kit_create(&story->kit, "nodes", "", body), 201);
}

static int begin(void **state)
{
	static struct story story;
	story = (struct story){0};
	kit_open(&story.kit, NULL);
	store_set_fault(story.kit.store, refuse, &story);
	kit_create(&story.kit, "queues.scheduling.run.ai", "",
	           "{'apiVersion':'scheduling.run.ai/v2','kind':'Queue','metadata':{'name':'default-queue'},'spec':{"
	           "'resources':{'gpu':{'quota':-1,'limit':-1},'cpu':{'quota':4000,'limit':-1,'overQuotaWeight':1},"
	           "'memory':{'quota':-1,'limit':-1}}}}");
	kit_create(&story.kit, "topologies.kai.scheduler", "",
	           "{'apiVersion':'kai.scheduler/v1alpha1','kind':'Topology','metadata':{'name':'cluster'},'spec':{"
	           "'levels':[{'nodeLabel':'rack'}]}}");
	start_scheduler(&story);
	*state = &story;
	return 0;
}

static int end(void **state)
{
	struct story *story = *state;
	scheduler_destroy(story->scheduler);
	kit_close(&story->kit);
	return 0;
}

/* Turns of a tenth of a second. */
static void turns(struct story *story, int count)
{
	struct error error = {0};
	for (int i = 0; i < count; i++) {
		clock_virtual_advance(&story->kit.clock, SECOND / 10);
		scheduler_step(story->scheduler);
		assert_int_equal(store_commit(story->kit.store, &error), 0);
	}
}

static void make_group(struct story *story, const char *name, const char *spec)
{
	char body[1024];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'scheduling.run.ai/v2alpha2','kind':'PodGroup','metadata':{'name':'%s'},'spec':{%s}}",
	         name, spec);
	assert_code(&story->kit, kit_create(&story->kit, "podgroups.scheduling.run.ai", "default", body), 201);
}

/* A pod that takes a whole node. */
static void make_pod(struct story *story, const char *name, const char *group, const char *subgroup)
{
	char body[1024];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','annotations':{'pod-group-name':'%s'},'"
	         "labels':{"
	         "'kai.scheduler/"
	         "subgroup-name':'%s'}},'spec':{'schedulerName':'platoon','containers':[{'name':'c','image':"
	         "'i','resources':{'requests':{'cpu':'2'}}}]}}",
	         name, group, subgroup);
	assert_code(&story->kit, kit_create(&story->kit, "pods", "default", body), 201);
}

static void make_gang(struct story *story, const char *name, int minimum, int pods, const char *more)
{
	char spec[512], pod[64];
	snprintf(spec, sizeof(spec), "'minMember':%d%s", minimum, more);
	make_group(story, name, spec);
	for (int i = 0; i < pods; i++) {
		snprintf(pod, sizeof(pod), "%s-%d", name, i);
		make_pod(story, pod, name, "");
	}
}

static const char *at(struct story *story, const char *resource, const char *namespace_, const char *name,
                      const char *path)
{
	return kit_get(&story->kit, resource, namespace_, name) == 200 ? kit_at(&story->kit, path) : "gone";
}

static const char *node_of(struct story *story, const char *pod)
{
	return at(story, "pods", "default", pod, "spec.nodeName");
}

static const char *group_at(struct story *story, const char *group, const char *path)
{
	return at(story, "podgroups.scheduling.run.ai", "default", group, path);
}

/* How many pods of a gang have a node and are not on their way out. */
static int placed(struct story *story, const char *gang, int pods)
{
	int count = 0;
	char pod[64];
	for (int i = 0; i < pods; i++) {
		snprintf(pod, sizeof(pod), "%s-%d", gang, i);
		const char *node = node_of(story, pod);
		if (node[0] && strcmp(node, "gone") != 0)
			count += at(story, "pods", "default", pod, "metadata.deletionTimestamp")[0] == '\0';
	}
	return count;
}

/* The value of a metric; the test fails when there is no such line. */
static long metric(struct story *story, const char *name)
{
	struct buffer text = {0};
	char line[160];
	scheduler_metrics(story->scheduler, &text);
	snprintf(line, sizeof(line), "\n%s ", name);
	const char *found = strstr(text.text, line);
	long value = found ? strtol(found + strlen(line), NULL, 10) : -1;
	if (!found)
		printf("%s", text.text);
	buffer_free(&text);
	assert_non_null(found);
	return value;
}

static void fail_phase(struct story *story, const char *pod, const char *phase)
{
	char body[64];
	snprintf(body, sizeof(body), "{'status':{'phase':'%s'}}", phase);
	assert_code(&story->kit,
	            kit_do(&story->kit,
	                   (struct store_request){.verb = STORE_PATCH,
	                                          .patch = STORE_PATCH_MERGE,
	                                          .subresource = STORE_STATUS},
	                   "pods", "default", pod, body),
	            200);
}

/* ---- refusals ---- */

static void a_refused_binding_is_decided_again(void **state)
{
	struct story *story = *state;
	story->fails = "g-1";
	story->times = 2;
	for (int i = 0; i < 3; i++)
		make_node(story, (const char *[]){"n0", "n1", "n2"}[i], "r");
	make_gang(story, "g", 3, 3, "");
	turns(story, 2);
	assert_int_equal(placed(story, "g", 3), 2); /* pinned where they are */
	char first[64];
	snprintf(first, sizeof(first), "%s", node_of(story, "g-0"));
	turns(story, 30);
	assert_int_equal(placed(story, "g", 3), 3);
	assert_string_equal(node_of(story, "g-0"), first);
	assert_int_equal(metric(story, "platoon_bindings_refused_total"), 2);
	assert_int_equal(metric(story, "platoon_api_errors_total{code=\"409\"}"), 2);
	assert_string_equal(group_at(story, "g", "status.phase"), "Scheduled");
}

static void a_gang_that_cannot_be_completed_is_released(void **state)
{
	struct story *story = *state;
	story->fails = "g-2";
	story->times = -1;
	for (int i = 0; i < 3; i++)
		make_node(story, (const char *[]){"n0", "n1", "n2"}[i], "r");
	make_gang(story, "g", 3, 3, "");
	turns(story, 2);
	assert_int_equal(placed(story, "g", 3), 2);
	/* the node that is left goes away */
	for (int i = 0; i < 3; i++) {
		char node[16], wanted[16];
		snprintf(node, sizeof(node), "n%d", i);
		snprintf(wanted, sizeof(wanted), "n%d", i);
		if (strcmp(node_of(story, "g-0"), wanted) != 0 && strcmp(node_of(story, "g-1"), wanted) != 0)
			assert_code(&story->kit, kit_delete(&story->kit, "nodes", "", node, NULL), 200);
	}
	turns(story, 80);
	assert_int_equal(placed(story, "g", 3), 0);
	assert_int_equal(metric(story, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
}

enum meanwhile { NOTHING, NODE_GOES, POD_GOES };

static void make_nodes(struct story *story, int count)
{
	char name[16];
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		make_node(story, name, "r");
	}
}

/* What the API answered was true: the node or the pod is gone. A pod comes back with another identity. */
static void make_true(struct story *story, const struct trouble *trouble, enum meanwhile meanwhile)
{
	if (meanwhile == NODE_GOES)
		assert_code(&story->kit, kit_delete(&story->kit, "nodes", "", trouble->node, NULL), 200);
	if (meanwhile != POD_GOES)
		return;
	assert_code(&story->kit, kit_delete(&story->kit, "pods", "default", trouble->pod, "{'gracePeriodSeconds':0}"),
	            200);
	make_pod(story, trouble->pod, "g", "");
}

/* Bindings of one gang fail in several ways in the same turn: the rest stays where it is, and what failed finds another
 * place around it. */
static void several_bindings_fail_in_their_own_ways(void **state)
{
	static const struct {
		int code;
		enum meanwhile meanwhile;
	} rows[][3] = {
		{{409, NOTHING}, {409, NOTHING}, {0, NOTHING}},
		{{404, NODE_GOES}, {404, NODE_GOES}, {0, NOTHING}},
		{{404, POD_GOES}, {409, NOTHING}, {0, NOTHING}},
		{{404, NODE_GOES}, {404, POD_GOES}, {500, NOTHING}},
	};
	struct story *story = *state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		static const char *const pods[] = {"g-1", "g-2", "g-3"};
		char first[16];
		int failed = 0;
		end(state);
		begin(state);
		for (int i = 0; i < 3; i++)
			if (rows[row][i].code) {
				story->troubles[i] = (struct trouble){.pod = pods[i], .code = rows[row][i].code};
				failed++;
			}
		make_nodes(story, 8);
		make_gang(story, "g", 4, 4, "");
		turns(story, 1);
		assert_int_equal(placed(story, "g", 4), 4 - failed);
		snprintf(first, sizeof(first), "%s", node_of(story, "g-0"));
		for (int i = 0; i < failed; i++)
			make_true(story, &story->troubles[i], rows[row][i].meanwhile);
		turns(story, 60);
		assert_int_equal(placed(story, "g", 4), 4);
		assert_string_equal(node_of(story, "g-0"), first);
		assert_int_equal(metric(story, "platoon_bindings_refused_total"), failed);
	}
}

/* The same when there is no other place: nothing has started, so all of it is let go. */
static void a_lost_node_in_a_full_cluster_releases_the_gang(void **state)
{
	struct story *story = *state;
	story->troubles[0] = (struct trouble){.pod = "g-1", .code = 404};
	story->troubles[1] = (struct trouble){.pod = "g-2", .code = 409};
	make_nodes(story, 4);
	make_gang(story, "g", 4, 4, "");
	turns(story, 1);
	assert_int_equal(placed(story, "g", 4), 2);
	make_true(story, &story->troubles[0], NODE_GOES);
	turns(story, 60);
	assert_int_equal(placed(story, "g", 4), 0);
	assert_int_equal(metric(story, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
}

/* A namespace that ends refuses everything until its pods are gone: few tries, and nothing is left behind. */
static void a_namespace_that_ends_is_not_hammered(void **state)
{
	struct story *story = *state;
	make_nodes(story, 2);
	make_gang(story, "g", 2, 2, "");
	story->troubles[0] = (struct trouble){.pod = "g-0", .code = 403, .always = true};
	story->troubles[1] = (struct trouble){.pod = "g-1", .code = 403, .always = true};
	turns(story, 200);
	assert_int_equal(placed(story, "g", 2), 0);
	assert_in_range(metric(story, "platoon_bindings_refused_total"), 2, 2 * 12);
	memset(story->troubles, 0, sizeof(story->troubles));
	for (int i = 0; i < 2; i++)
		assert_code(&story->kit,
		            kit_delete(&story->kit, "pods", "default", i ? "g-1" : "g-0", "{'gracePeriodSeconds':0}"),
		            200);
	assert_code(&story->kit, kit_delete(&story->kit, "podgroups.scheduling.run.ai", "default", "g", NULL), 200);
	make_gang(story, "h", 2, 2, "");
	turns(story, 200);
	assert_int_equal(placed(story, "h", 2), 2);
}

/* Watches that broke are opened again, and the first look is taken, though every turn writes before it is asked. */
static void lost_watches_are_listed_while_everybody_writes(void **state)
{
	struct story *story = *state;
	make_nodes(story, 2);
	turns(story, 3);
	assert_true(store_watch_break(story->kit.store, NULL) > 0);
	make_gang(story, "g", 2, 2, "");
	for (int i = 0; i < 20; i++) {
		char body[64];
		struct error error = {0};
		struct store_result result = {.arena = story->kit.arena};
		snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"turn\":\"%d\"}}}", i);
		struct doc *doc = doc_parse_json(body, strlen(body), &error);
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .api = kit_api(&story->kit, "nodes"),
		                                .name = "n0",
		                                .body = doc_root(doc)};
		assert_int_equal(store_write(story->kit.store, &request, &result), 0);
		store_result_clear(&result);
		doc_destroy(doc);
		turns(story, 1);
	}
	assert_int_equal(placed(story, "g", 2), 2);
}

static void a_gang_that_changed_meanwhile_is_not_half_bound(void **state)
{
	struct story *story = *state;
	struct error error = {0};
	make_node(story, "n0", "r");
	make_node(story, "n1", "r");
	turns(story, 3);
	make_gang(story, "g", 2, 2, "");
	/* the pod goes in the same turn, after the scheduler has read the store for the last time */
	struct store_result result = {.arena = story->kit.arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = kit_api(&story->kit, "pods"),
	                                .namespace_ = "default",
	                                .name = "g-1"};
	assert_int_equal(store_write(story->kit.store, &request, &result), 0);
	store_result_clear(&result);
	clock_virtual_advance(&story->kit.clock, SECOND);
	scheduler_step(story->scheduler);
	assert_int_equal(store_commit(story->kit.store, &error), 0);
	turns(story, 5);
	assert_int_equal(placed(story, "g", 2), 0);
	make_pod(story, "g-1", "g", "");
	turns(story, 5);
	assert_int_equal(placed(story, "g", 2), 2);
}

static void what_was_written_is_assumed(void **state)
{
	struct story *story = *state;
	struct error error = {0};
	make_node(story, "n0", "r");
	make_gang(story, "g", 1, 1, "");
	turns(story, 1);
	make_gang(story, "h", 1, 1, "");
	for (int i = 0; i < 20; i++) { /* nobody commits */
		clock_virtual_advance(&story->kit.clock, SECOND);
		scheduler_step(story->scheduler);
	}
	assert_int_equal(metric(story, "platoon_placements_total"), 1);
	assert_int_equal(store_commit(story->kit.store, &error), 0);
	turns(story, 5);
	assert_int_equal(metric(story, "platoon_placements_total"), 1);
	assert_int_equal(placed(story, "g", 1) + placed(story, "h", 1), 1);
}

/* ---- losses ---- */

static void lost_pods_are_replaced_in_their_rack(void **state)
{
	struct story *story = *state;
	for (int i = 0; i < 5; i++)
		make_node(story, (const char *[]){"a0", "a1", "a2", "a3", "a4"}[i], "a");
	for (int i = 0; i < 6; i++)
		make_node(story, (const char *[]){"b0", "b1", "b2", "b3", "b4", "b5"}[i], "b");
	make_gang(story, "g", 3, 3, ",'topologyConstraint':{'topology':'cluster','requiredTopologyLevel':'rack'}");
	turns(story, 5);
	assert_int_equal(placed(story, "g", 3), 3);
	char rack = node_of(story, "g-0")[0];
	for (int i = 1; i < 3; i++) { /* two of its nodes are lost, with their pods */
		char pod[16], node[16];
		snprintf(pod, sizeof(pod), "g-%d", i);
		snprintf(node, sizeof(node), "%.2s", node_of(story, pod));
		assert_code(&story->kit, kit_delete(&story->kit, "nodes", "", node, NULL), 200);
		assert_code(&story->kit, kit_delete(&story->kit, "pods", "default", pod, "{'gracePeriodSeconds':0}"),
		            200);
	}
	turns(story, 2);
	assert_string_equal(group_at(story, "g", "status.conditions.1.type"), "Stale");
	assert_string_equal(group_at(story, "g", "status.conditions.1.status"), "True");
	make_pod(story, "g-1", "g", "");
	make_pod(story, "g-2", "g", "");
	turns(story, 5);
	assert_int_equal(placed(story, "g", 3), 3);
	for (int i = 0; i < 3; i++) {
		char pod[16];
		snprintf(pod, sizeof(pod), "g-%d", i);
		assert_int_equal(node_of(story, pod)[0], rack);
	}
	assert_string_equal(group_at(story, "g", "status.conditions.1.status"), "False");
	assert_string_equal(group_at(story, "g", "metadata.annotations"), "{}");
}

static void an_unfinished_gang_comes_first_after_a_restart(void **state)
{
	struct story *story = *state;
	story->fails = "g-1";
	story->times = 1;
	make_node(story, "n0", "r");
	make_node(story, "n1", "r");
	turns(story, 2);
	make_gang(story, "g", 2, 2, ",'preemptibility':'non-preemptible'");
	turns(story, 1);
	assert_int_equal(placed(story, "g", 2), 1);
	/* a more important gang arrives while nobody schedules */
	make_gang(story, "urgent", 1, 1, ",'priorityClassName':'inference'");
	start_scheduler(story);
	turns(story, 10);
	assert_int_equal(placed(story, "g", 2), 2);
	assert_int_equal(placed(story, "urgent", 1), 0);
}

/* ---- status ---- */

static void the_status_says_what_is(void **state)
{
	struct story *story = *state;
	make_node(story, "n0", "r");
	make_group(story, "g", "'subGroups':[{'name':'a','minMember':1},{'name':'b','minMember':1}]");
	make_pod(story, "g-0", "g", "a");
	make_pod(story, "g-1", "g", "b");
	turns(story, 5);
	assert_string_equal(group_at(story, "g", "status.conditions.0.status"), "False");
	assert_string_equal(group_at(story, "g", "status.pending"), "2");
	assert_string_equal(group_at(story, "g", "status.resourcesStatus.requested.cpu"), "4");
	assert_int_equal(metric(story, "platoon_pending_groups{reason=\"InsufficientDomain\"}"), 1);
	make_node(story, "n1", "r");
	turns(story, 5);
	assert_string_equal(group_at(story, "g", "status.conditions.0.status"), "True");
	assert_string_equal(group_at(story, "g", "status.phase"), "Scheduled");
	assert_string_equal(group_at(story, "g", "status.subGroups.1"),
	                    "{\"name\":\"b\",\"minimum\":1,\"placed\":1,\"running\":0}");
	assert_string_equal(group_at(story, "g", "status.resourcesStatus.allocated.cpu"), "4");
	fail_phase(story, "g-0", "Running");
	fail_phase(story, "g-1", "Running");
	turns(story, 5);
	assert_string_equal(group_at(story, "g", "status.phase"), "Running");
	assert_string_equal(group_at(story, "g", "status.subGroups.0.running"), "1");
	assert_string_equal(at(story, "queues.scheduling.run.ai", "", "default-queue", "status.allocated.cpu"), "4");
	assert_string_equal(at(story, "queues.scheduling.run.ai", "", "default-queue", "status.fairShare.cpu"), "4");
	/* and then nothing more is written */
	uint64_t version = store_version(story->kit.store);
	turns(story, 300);
	assert_int_equal(store_version(story->kit.store), version);
}

static void one_failed_try_is_remembered(void **state)
{
	struct story *story = *state;
	make_node(story, "n0", "r");
	make_group(story, "g", "'minMember':2,'schedulingBackoff':1");
	make_pod(story, "g-0", "g", "");
	turns(story, 5); /* a pod is missing: that is no try */
	assert_string_equal(group_at(story, "g", "status.schedulingConditions"), "");
	make_pod(story, "g-1", "g", "");
	turns(story, 5);
	assert_string_equal(group_at(story, "g", "status.schedulingConditions.0.status"), "True");
	make_node(story, "n1", "r");
	turns(story, 5);
	assert_int_equal(placed(story, "g", 2), 0);
}

static void pods_are_marked_unless_the_group_says_no(void **state)
{
	struct story *story = *state;
	make_node(story, "n0", "r");
	make_gang(story, "loud", 2, 2, "");
	make_gang(story, "quiet", 2, 2, ",'markUnschedulable':false");
	turns(story, 5);
	assert_string_equal(at(story, "pods", "default", "loud-0", "status.conditions.0.reason"), "Unschedulable");
	assert_string_equal(at(story, "pods", "default", "quiet-0", "status.conditions"), "");
	assert_string_equal(group_at(story, "quiet", "status.conditions.0.status"), "False");
	assert_string_equal(kit_names(&story->kit, "events", "default", NULL, "involvedObject.name=quiet-0"), "");
}

/* ---- events ---- */

/* Every number has its help and type, and the types are those the names promise. */
static void metrics_are_what_prometheus_reads(void **state)
{
	static const char *const lines[] = {
		"# TYPE platoon_decision_seconds histogram\n",
		"# TYPE platoon_change_to_decision_seconds histogram\n",
		"platoon_decision_seconds_bucket{le=\"+Inf\"} ",
		"# TYPE platoon_pending_groups gauge\nplatoon_pending_groups{reason=\"InsufficientDomain\"} 1\n",
		"# TYPE platoon_placements_total counter\nplatoon_placements_total 2\n",
		"# TYPE platoon_evictions_total counter\nplatoon_evictions_total{cause=\"consolidate\"} 0\n",
		"# TYPE platoon_budget_exhausted_total counter\n",
		"# TYPE platoon_queue_allocated "
	        "gauge\nplatoon_queue_allocated{queue=\"default-queue\",resource=\"gpu\"} ",
		"# TYPE platoon_queue_fair_share gauge\n",
		"# TYPE platoon_watch_lag_versions gauge\n",
		"# TYPE platoon_api_errors_total counter\nplatoon_api_errors_total{code=\"409\"} 1\n",
		"# TYPE platoon_refusals_remembered_total counter\n",
	};
	struct story *story = *state;
	struct buffer text = {0};
	make_nodes(story, 1);
	story->fails = "g-0";
	story->times = 1;
	make_gang(story, "g", 1, 1, "");
	make_gang(story, "h", 2, 2, "");
	turns(story, 30);
	scheduler_metrics(story->scheduler, &text);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strstr(text.text, lines[i]))
			fail_msg("missing: %s\n%s", lines[i], text.text);
	/* each family once, and nothing without its help and type */
	for (const char *at = text.text; *at; at = strchr(at, '\n') + 1) {
		size_t name = strcspn(at, "{ ");
		char type[128];
		if (*at == '#')
			continue;
		for (const char *end = at + name; name > 0; name--, end--) {
			snprintf(type, sizeof(type), "# TYPE %.*s ", (int)name, at);
			if (strstr(text.text, type))
				break;
		}
		assert_true(name > 8);
	}
	buffer_free(&text);
}

static void events_are_counted_and_limited(void **state)
{
	struct story *story = *state;
	make_node(story, "n0", "r");
	struct store_object *node =
		store_object_retain(store_peek(story->kit.store, kit_api(&story->kit, "nodes")->type, "", "n0"));
	struct events *events = events_create(story->kit.store);
	for (int i = 0; i < 3; i++)
		assert_true(events_tell(events, node, true, "Same", "over and over", 1000));
	int told = 3;
	for (int i = 0; i < 40; i++) {
		char text[32];
		snprintf(text, sizeof(text), "number %d", i);
		told += events_tell(events, node, false, "Many", text, 1000);
	}
	assert_int_equal(told, 25);
	assert_false(events_tell(events, node, false, "Many", "later", 1299));
	assert_true(events_tell(events, node, false, "Many", "later", 1300));
	assert_false(events_tell(events, node, false, "Many", "later still", 1301));
	events_destroy(events);
	store_object_release(node);
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = kit_api(&story->kit, "events")};
	assert_int_equal(store_list(story->kit.store, &request, &list, story->kit.arena, &error), 0);
	int64_t count = 0;
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(val_str(val_get(list.items[i]->root, "reason"), ""), "Same") == 0)
			assert_int_equal(val_int(val_get(list.items[i]->root, "count"), &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(list.count, 1 + 22 + 1);
	store_list_clear(&list);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_refused_binding_is_decided_again),
		CASE(a_gang_that_cannot_be_completed_is_released),
		CASE(several_bindings_fail_in_their_own_ways),
		CASE(a_lost_node_in_a_full_cluster_releases_the_gang),
		CASE(a_namespace_that_ends_is_not_hammered),
		CASE(lost_watches_are_listed_while_everybody_writes),
		CASE(a_gang_that_changed_meanwhile_is_not_half_bound),
		CASE(what_was_written_is_assumed),
		CASE(lost_pods_are_replaced_in_their_rack),
		CASE(an_unfinished_gang_comes_first_after_a_restart),
		CASE(the_status_says_what_is),
		CASE(one_failed_try_is_remembered),
		CASE(pods_are_marked_unless_the_group_says_no),
		CASE(metrics_are_what_prometheus_reads),
		CASE(events_are_counted_and_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
