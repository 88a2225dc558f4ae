/* The scheduler in virtual time: losses and restarts, and what it tells about it. */
#include "schedule/events.h"
#include "fixtures/scheduler_fixture.h"

/* ---- losses ---- */

static void lost_pods_are_replaced_in_their_rack(void **state)
{
	struct scheduler_fixture *fixture = *state;
	for (int i = 0; i < 5; i++)
		scheduler_fixture_node(fixture, (const char *[]){"a0", "a1", "a2", "a3", "a4"}[i], "a");
	for (int i = 0; i < 6; i++)
		scheduler_fixture_node(fixture, (const char *[]){"b0", "b1", "b2", "b3", "b4", "b5"}[i], "b");
	scheduler_fixture_gang(fixture, "g", 3, 3,
	                       ",'topologyConstraint':{'topology':'cluster','requiredTopologyLevel':'rack'}");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	char rack = scheduler_fixture_node_of(fixture, "g-0")[0];
	for (int i = 1; i < 3; i++) { /* two of its nodes are lost, with their pods */
		char pod[16], node[16];
		snprintf(pod, sizeof(pod), "g-%d", i);
		snprintf(node, sizeof(node), "%.2s", scheduler_fixture_node_of(fixture, pod));
		assert_code(&fixture->base, fixture_delete(&fixture->base, "nodes", "", node, NULL), 200);
		assert_code(&fixture->base,
		            fixture_delete(&fixture->base, "pods", "default", pod, "{'gracePeriodSeconds':0}"), 200);
	}
	scheduler_fixture_turns(fixture, 2);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.conditions.1.type"), "Stale");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.conditions.1.status"), "True");
	scheduler_fixture_pod(fixture, "g-1", "g", "");
	scheduler_fixture_pod(fixture, "g-2", "g", "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	for (int i = 0; i < 3; i++) {
		char pod[16];
		snprintf(pod, sizeof(pod), "g-%d", i);
		assert_int_equal(scheduler_fixture_node_of(fixture, pod)[0], rack);
	}
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.conditions.1.status"), "False");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "metadata.annotations"), "{}");
}

static void an_unfinished_gang_comes_first_after_a_restart(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->fails = "g-1";
	fixture->times = 1;
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_node(fixture, "n1", "r");
	scheduler_fixture_turns(fixture, 2);
	scheduler_fixture_gang(fixture, "g", 2, 2, ",'preemptibility':'non-preemptible'");
	scheduler_fixture_turns(fixture, 1);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 1);
	/* a more important gang arrives while nobody schedules */
	scheduler_fixture_gang(fixture, "urgent", 1, 1, ",'priorityClassName':'inference'");
	scheduler_fixture_start(fixture);
	scheduler_fixture_turns(fixture, 10);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
	assert_int_equal(scheduler_fixture_placed(fixture, "urgent", 1), 0);
}

/* ---- status ---- */

static void the_status_says_what_is(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_group(fixture, "g", "'subGroups':[{'name':'a','minMember':1},{'name':'b','minMember':1}]");
	scheduler_fixture_pod(fixture, "g-0", "g", "a");
	scheduler_fixture_pod(fixture, "g-1", "g", "b");
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.conditions.0.status"), "False");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.pending"), "2");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.resourcesStatus.requested.cpu"), "4");
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_pending_groups{reason=\"InsufficientDomain\"}"), 1);
	scheduler_fixture_node(fixture, "n1", "r");
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.conditions.0.status"), "True");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Placed");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.subGroups.1"),
	                    "{\"name\":\"b\",\"minimum\":1,\"placed\":1,\"running\":0}");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.resourcesStatus.allocated.cpu"), "4");
	scheduler_fixture_phase(fixture, "g-0", "Running");
	scheduler_fixture_phase(fixture, "g-1", "Running");
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Running");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.subGroups.0.running"), "1");
	assert_string_equal(scheduler_fixture_at(fixture, "queues.scheduling.run.ai", "", "default-queue",
	                                         "status.allocated.cpu"),
	                    "4");
	assert_string_equal(scheduler_fixture_at(fixture, "queues.scheduling.run.ai", "", "default-queue",
	                                         "status.fairShare.cpu"),
	                    "4");
	/* and then nothing more is written */
	uint64_t version = store_version(fixture->base.store);
	scheduler_fixture_turns(fixture, 300);
	assert_int_equal(store_version(fixture->base.store), version);
}

static void one_failed_try_is_remembered(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_group(fixture, "g", "'minMember':2,'schedulingBackoff':1");
	scheduler_fixture_pod(fixture, "g-0", "g", "");
	scheduler_fixture_turns(fixture, 5); /* a pod is missing: that is no try */
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.schedulingConditions"), "");
	scheduler_fixture_pod(fixture, "g-1", "g", "");
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.schedulingConditions.0.status"), "True");
	scheduler_fixture_node(fixture, "n1", "r");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 0);
}

static void pods_are_marked_unless_the_group_says_no(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_gang(fixture, "loud", 2, 2, "");
	scheduler_fixture_gang(fixture, "quiet", 2, 2, ",'markUnschedulable':false");
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "loud-0", "status.conditions.0.reason"),
	                    "Unschedulable");
	/* The event has the word of kube-scheduler. */
	assert_string_not_equal(fixture_names(&fixture->base, "events", "default", NULL,
	                                      "involvedObject.name=loud-0,reason=FailedScheduling"),
	                        "");
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", "quiet-0", "status.conditions"), "");
	assert_string_equal(scheduler_fixture_group_at(fixture, "quiet", "status.conditions.0.status"), "False");
	assert_string_equal(fixture_names(&fixture->base, "events", "default", NULL, "involvedObject.name=quiet-0"),
	                    "");
}

/* Somebody else writes another reason into the condition of a pod that waits. */
static void misinform(struct scheduler_fixture *fixture, const char *pod)
{
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "pods", "default", pod,
	                                 "{'status':{'conditions':[{'type':'PodScheduled','status':'False',"
	                                 "'reason':'Misled','message':'by somebody'}]}}"),
	            200);
	assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", pod, "status.conditions.0.reason"),
	                    "Misled");
}

/* Pods and groups that say why they wait are left alone, until one of them was changed, in whatever. */
static void what_others_write_about_waiting_is_put_right(void **state)
{
	static const char *const pods[] = {"wide-1", "alone"};
	static const char reason[] = "status.conditions.0.reason";
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	scheduler_fixture_gang(fixture, "full", 2, 2, "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "full", 2), 2);
	scheduler_fixture_gang(fixture, "wide", 2, 2, "");
	scheduler_fixture_pod(fixture, "alone", "", "");
	scheduler_fixture_turns(fixture, 5);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", pods[i], reason), "Unschedulable");
		misinform(fixture, pods[i]);
		/* A cycle for another reason. */
		scheduler_fixture_gang(fixture, i ? "c" : "d", 2, 1, "");
		scheduler_fixture_turns(fixture, 3);
		assert_string_equal(scheduler_fixture_at(fixture, "pods", "default", pods[i], reason), "Unschedulable");
	}
	assert_string_equal(scheduler_fixture_group_at(fixture, "wide", "status.phase"), "Waiting");
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "podgroups.scheduling.run.ai", "default", "wide",
	                                 "{'status':{'phase':'Misled'}}"),
	            200);
	scheduler_fixture_gang(fixture, "e", 2, 1, "");
	scheduler_fixture_turns(fixture, 30);
	assert_string_equal(scheduler_fixture_group_at(fixture, "wide", "status.phase"), "Waiting");
}

/* ---- blocked ---- */

static const char *pod_reason(struct scheduler_fixture *fixture, const char *pod)
{
	return scheduler_fixture_at(fixture, "pods", "default", pod, "status.conditions.0.reason");
}

static void annotate(struct scheduler_fixture *fixture, const char *pod, const char *fraction)
{
	char text[80];
	snprintf(text, sizeof(text), "{'metadata':{'annotations':{'gpu-fraction':%s}}}", fraction);
	assert_int_equal(fixture_merge(&fixture->base, "pods", "default", pod, text), 200);
}

/* What no node can cure is not Unschedulable, so that nobody buys nodes for it. */
static void blocked_pods_are_not_unschedulable(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 4);
	scheduler_fixture_group(fixture, "g", "'minMember':2");
	scheduler_fixture_pod(fixture, "g-0", "g", "");
	scheduler_fixture_pod(fixture, "g-1", "g", "");
	annotate(fixture, "g-1", "'0.5'");
	scheduler_fixture_turns(fixture, 5);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Blocked");
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.conditions.0.reason"),
	                    "UnsupportedRequest");
	assert_non_null(strstr(scheduler_fixture_group_at(fixture, "g", "status.conditions.0.message"),
	                       "pod g-1: metadata.annotations.gpu-fraction"));
	assert_string_equal(pod_reason(fixture, "g-1"), "UnsupportedRequest");
	assert_string_equal(pod_reason(fixture, "g-0"), "WaitingForGang");
	/* one event, and it is the group's */
	assert_string_equal(fixture_names(&fixture->base, "events", "default", NULL, "involvedObject.kind=Pod"), "");
	assert_string_not_equal(fixture_names(&fixture->base, "events", "default", NULL,
	                                      "involvedObject.kind=PodGroup,reason=Blocked"),
	                        "");
	annotate(fixture, "g-1", "null");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
}

/* ---- events ---- */

/* With every pod that comes the numbers of those that wait change: the PodGroup says so at once, its pods now and then. */
static void new_numbers_are_not_written_to_every_pod_at_once(void **state)
{
	static const char message[] = "status.conditions.0.message";
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 4);
	scheduler_fixture_gang(fixture, "first", 1, 1, "");
	scheduler_fixture_turns(fixture, 3);
	scheduler_fixture_gang(fixture, "wide", 5, 5, "");
	scheduler_fixture_turns(fixture, 5);
	assert_non_null(strstr(scheduler_fixture_at(fixture, "pods", "default", "wide-0", message), "3/5 pods fit"));
	scheduler_fixture_gang(fixture, "a", 1, 1, "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "a", 1), 1);
	assert_non_null(strstr(scheduler_fixture_group_at(fixture, "wide", message), "2/5 pods fit"));
	assert_non_null(strstr(scheduler_fixture_at(fixture, "pods", "default", "wide-0", message), "3/5 pods fit"));
	/* one that is new hears the newest */
	scheduler_fixture_pod(fixture, "wide-5", "wide", "");
	scheduler_fixture_turns(fixture, 5);
	assert_non_null(strstr(scheduler_fixture_at(fixture, "pods", "default", "wide-5", message), "2/5 pods fit"));
	scheduler_fixture_turns(fixture, 220);
	assert_non_null(strstr(scheduler_fixture_at(fixture, "pods", "default", "wide-0", message), "2/5 pods fit"));
}

/* Every number has its help and type, and the types are those the names promise. */
static void metrics_are_what_prometheus_reads(void **state)
{
	static const char *const lines[] = {
		"# TYPE platoon_decision_seconds histogram\n",
		"# TYPE platoon_change_to_decision_seconds histogram\n",
		"platoon_decision_seconds_bucket{le=\"+Inf\"} ",
		"# TYPE platoon_pending_groups gauge\nplatoon_pending_groups{reason=\"InsufficientDomain\"} 1\n",
		"# TYPE platoon_placements_total counter\nplatoon_placements_total 1\n",
		"# TYPE platoon_evictions_total counter\nplatoon_evictions_total{cause=\"consolidate\"} 0\n",
		"# TYPE platoon_budget_exhausted_total counter\n",
		"# TYPE platoon_queue_allocated gauge\n",
		"platoon_queue_allocated{queue=\"default-queue\",resource=\"gpu\"} ",
		"# TYPE platoon_queue_fair_share gauge\n",
		"# TYPE platoon_watch_lag_versions gauge\n",
		"# TYPE platoon_api_errors_total counter\nplatoon_api_errors_total{code=\"409\"} 1\n",
		"# TYPE platoon_refusals_remembered_total counter\n",
	};
	struct scheduler_fixture *fixture = *state;
	struct buffer text = {0};
	scheduler_fixture_nodes(fixture, 1);
	fixture->fails = "g-0";
	fixture->times = 1;
	scheduler_fixture_gang(fixture, "g", 1, 1, "");
	scheduler_fixture_gang(fixture, "h", 2, 2, "");
	scheduler_fixture_turns(fixture, 30);
	scheduler_metrics(fixture->scheduler, &text);
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
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_node(fixture, "n0", "r");
	struct store_object *node = store_object_retain(
		store_peek(fixture->base.store, fixture_api(&fixture->base, "nodes")->type, "", "n0"));
	struct events *events = events_create(fixture->base.store);
	for (int i = 0; i < 3; i++)
		assert_true(events_record(events, node, true, "Same", "over and over", 1000));
	int told = 3;
	for (int i = 0; i < 40; i++) {
		char text[32];
		snprintf(text, sizeof(text), "number %d", i);
		told += events_record(events, node, false, "Many", text, 1000);
	}
	assert_int_equal(told, 25);
	assert_false(events_record(events, node, false, "Many", "later", 1299));
	assert_true(events_record(events, node, false, "Many", "later", 1300));
	assert_false(events_record(events, node, false, "Many", "later still", 1301));
	events_destroy(events);
	store_object_release(node);
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {.api = fixture_api(&fixture->base, "events")};
	assert_int_equal(store_list(fixture->base.store, &request, &list, fixture->base.arena, &error), 0);
	int64_t count = 0;
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(val_str(val_get(list.items[i]->root, "reason"), ""), "Same") == 0)
			assert_int_equal(val_int(val_get(list.items[i]->root, "count"), &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(list.count, 1 + 22 + 1);
	store_list_clear(&list);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scheduler_fixture_begin, scheduler_fixture_end)

/* The same with decisions on a thread of their own, however long they take; what people ask for meanwhile is answered. */
static void decisions_are_made_beside_the_loop(void **state)
{
	struct scheduler_fixture *fixture = *state;
	struct buffer text = {0};
	fixture->beside = true;
	scheduler_fixture_start(fixture);
	assert_false(scheduler_ready(fixture->scheduler));
	scheduler_fixture_nodes(fixture, 3);
	scheduler_fixture_gang(fixture, "g", 3, 3, "");
	scheduler_fixture_gang(fixture, "large", 400, 400, "");
	while (scheduler_fixture_placed(fixture, "g", 3) < 3 ||
	       !strstr(scheduler_fixture_group_at(fixture, "large", "status.conditions.0.message"), "400")) {
		scheduler_fixture_turns(fixture, 1);
		text.length = 0;
		scheduler_metrics(fixture->scheduler, &text);
		assert_non_null(
			strstr(text.text, "platoon_queue_allocated{queue=\"default-queue\",resource=\"cpu\"} "));
	}
	assert_true(scheduler_ready(fixture->scheduler));
	/* It ends whatever it is doing. */
	scheduler_fixture_gang(fixture, "last", 2, 2, "");
	scheduler_step(fixture->scheduler);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(lost_pods_are_replaced_in_their_rack),
		CASE(an_unfinished_gang_comes_first_after_a_restart),
		CASE(the_status_says_what_is),
		CASE(one_failed_try_is_remembered),
		CASE(pods_are_marked_unless_the_group_says_no),
		CASE(what_others_write_about_waiting_is_put_right),
		CASE(blocked_pods_are_not_unschedulable),
		CASE(new_numbers_are_not_written_to_every_pod_at_once),
		CASE(metrics_are_what_prometheus_reads),
		CASE(events_are_counted_and_limited),
		CASE(decisions_are_made_beside_the_loop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
