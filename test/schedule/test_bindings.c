/* What the scheduler makes of writes that are refused, lost or overtaken: gangs are completed around what is placed, or let go
 * as a whole. */
#include "fixtures/scheduler_fixture.h"

static void a_refused_binding_is_decided_again(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->fails = "g-1";
	fixture->times = 2;
	for (int i = 0; i < 3; i++)
		scheduler_fixture_node(fixture, (const char *[]){"n0", "n1", "n2"}[i], "r");
	scheduler_fixture_gang(fixture, "g", 3, 3, "");
	scheduler_fixture_turns(fixture, 2);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 2); /* pinned where they are */
	char first[64];
	snprintf(first, sizeof(first), "%s", scheduler_fixture_node_of(fixture, "g-0"));
	scheduler_fixture_turns(fixture, 30);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
	assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), first);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_bindings_refused_total"), 2);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_api_errors_total{code=\"409\"}"), 2);
	assert_string_equal(scheduler_fixture_group_at(fixture, "g", "status.phase"), "Placed");
}

static void a_gang_that_cannot_be_completed_is_released(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->fails = "g-2";
	fixture->times = -1;
	for (int i = 0; i < 3; i++)
		scheduler_fixture_node(fixture, (const char *[]){"n0", "n1", "n2"}[i], "r");
	scheduler_fixture_gang(fixture, "g", 3, 3, "");
	scheduler_fixture_turns(fixture, 2);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 2);
	/* the node that is left goes away */
	for (int i = 0; i < 3; i++) {
		char node[16], wanted[16];
		snprintf(node, sizeof(node), "n%d", i);
		snprintf(wanted, sizeof(wanted), "n%d", i);
		if (strcmp(scheduler_fixture_node_of(fixture, "g-0"), wanted) != 0 &&
		    strcmp(scheduler_fixture_node_of(fixture, "g-1"), wanted) != 0)
			assert_code(&fixture->base, fixture_delete(&fixture->base, "nodes", "", node, NULL), 200);
	}
	scheduler_fixture_turns(fixture, 80);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 0);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
}

enum meanwhile { NOTHING, NODE_GOES, POD_GOES };

/* What the API answered was true: the node or the pod is gone. A pod comes back with another identity. */
static void make_true(struct scheduler_fixture *fixture, const struct trouble *trouble, enum meanwhile meanwhile)
{
	if (meanwhile == NODE_GOES)
		assert_code(&fixture->base, fixture_delete(&fixture->base, "nodes", "", trouble->node, NULL), 200);
	if (meanwhile != POD_GOES)
		return;
	assert_code(&fixture->base,
	            fixture_delete(&fixture->base, "pods", "default", trouble->pod, "{'gracePeriodSeconds':0}"), 200);
	scheduler_fixture_pod(fixture, trouble->pod, "g", "");
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
	struct scheduler_fixture *fixture = *state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		static const char *const pods[] = {"g-1", "g-2", "g-3"};
		char first[16];
		int failed = 0;
		scheduler_fixture_end(state);
		scheduler_fixture_begin(state);
		for (int i = 0; i < 3; i++)
			if (rows[row][i].code) {
				fixture->troubles[i] = (struct trouble){.pod = pods[i], .code = rows[row][i].code};
				failed++;
			}
		scheduler_fixture_nodes(fixture, 8);
		scheduler_fixture_gang(fixture, "g", 4, 4, "");
		scheduler_fixture_turns(fixture, 1);
		assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 4 - failed);
		snprintf(first, sizeof(first), "%s", scheduler_fixture_node_of(fixture, "g-0"));
		for (int i = 0; i < failed; i++)
			make_true(fixture, &fixture->troubles[i], rows[row][i].meanwhile);
		scheduler_fixture_turns(fixture, 60);
		assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 4);
		assert_string_equal(scheduler_fixture_node_of(fixture, "g-0"), first);
		assert_int_equal(scheduler_fixture_metric(fixture, "platoon_bindings_refused_total"), failed);
	}
}

/* The same when there is no other place: nothing has started, so all of it is let go. */
static void a_lost_node_in_a_full_cluster_releases_the_gang(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->troubles[0] = (struct trouble){.pod = "g-1", .code = 404};
	fixture->troubles[1] = (struct trouble){.pod = "g-2", .code = 409};
	scheduler_fixture_nodes(fixture, 4);
	scheduler_fixture_gang(fixture, "g", 4, 4, "");
	scheduler_fixture_turns(fixture, 1);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 2);
	make_true(fixture, &fixture->troubles[0], NODE_GOES);
	scheduler_fixture_turns(fixture, 60);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 4), 0);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
}

/* A namespace that ends refuses everything until its pods are gone: few tries, and nothing is left behind. */
static void a_namespace_that_ends_is_not_hammered(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	scheduler_fixture_gang(fixture, "g", 2, 2, "");
	fixture->troubles[0] = (struct trouble){.pod = "g-0", .code = 403, .always = true};
	fixture->troubles[1] = (struct trouble){.pod = "g-1", .code = 403, .always = true};
	scheduler_fixture_turns(fixture, 200);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 0);
	assert_in_range(scheduler_fixture_metric(fixture, "platoon_bindings_refused_total"), 2, 2 * 12);
	memset(fixture->troubles, 0, sizeof(fixture->troubles));
	for (int i = 0; i < 2; i++)
		assert_code(&fixture->base,
		            fixture_delete(&fixture->base, "pods", "default", i ? "g-1" : "g-0",
		                           "{'gracePeriodSeconds':0}"),
		            200);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "podgroups.scheduling.run.ai", "default", "g", NULL),
	            200);
	scheduler_fixture_gang(fixture, "h", 2, 2, "");
	scheduler_fixture_turns(fixture, 200);
	assert_int_equal(scheduler_fixture_placed(fixture, "h", 2), 2);
}

/* Watches that broke are opened again, and the first look is taken, though every turn writes before it is asked. */
static void lost_watches_are_listed_while_everybody_writes(void **state)
{
	struct scheduler_fixture *fixture = *state;
	scheduler_fixture_nodes(fixture, 2);
	scheduler_fixture_turns(fixture, 3);
	assert_true(store_watch_break(fixture->base.store, NULL) > 0);
	scheduler_fixture_gang(fixture, "g", 2, 2, "");
	for (int i = 0; i < 20; i++) {
		char body[64];
		struct error error = {0};
		struct store_result result = {.arena = fixture->base.arena};
		snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"turn\":\"%d\"}}}", i);
		struct doc *doc = doc_parse_json(body, strlen(body), &error);
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .api = fixture_api(&fixture->base, "nodes"),
		                                .name = "n0",
		                                .body = doc_root(doc)};
		assert_int_equal(store_write(fixture->base.store, &request, &result), 0);
		store_result_clear(&result);
		doc_destroy(doc);
		scheduler_fixture_turns(fixture, 1);
	}
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
}

static void a_gang_that_changed_meanwhile_is_not_half_bound(void **state)
{
	struct scheduler_fixture *fixture = *state;
	struct error error = {0};
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_node(fixture, "n1", "r");
	scheduler_fixture_turns(fixture, 3);
	scheduler_fixture_gang(fixture, "g", 2, 2, "");
	/* the pod goes in the same turn, after the scheduler has read the store for the last time */
	struct store_result result = {.arena = fixture->base.arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = fixture_api(&fixture->base, "pods"),
	                                .namespace_ = "default",
	                                .name = "g-1"};
	assert_int_equal(store_write(fixture->base.store, &request, &result), 0);
	store_result_clear(&result);
	clock_virtual_advance(&fixture->base.clock, CLOCK_SECOND);
	scheduler_step(fixture->scheduler);
	assert_int_equal(store_commit(fixture->base.store, &error), 0);
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 0);
	scheduler_fixture_pod(fixture, "g-1", "g", "");
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 2);
}

/* Decided for two nodes of which one is cordoned before the bindings are written: nothing goes to either until it is open
 * again. */
static void a_node_that_closed_meanwhile_gets_no_pod(void **state)
{
	struct scheduler_fixture *fixture = *state;
	struct error error = {0};
	fixture->slice = 1;
	scheduler_fixture_start(fixture);
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_node(fixture, "n1", "r");
	while (!scheduler_ready(fixture->scheduler))
		scheduler_fixture_turns(fixture, 1);
	scheduler_fixture_gang(fixture, "g", 2, 2, "");
	assert_int_equal(store_commit(fixture->base.store, &error), 0);
	clock_virtual_advance(&fixture->base.clock, CLOCK_SECOND);
	scheduler_step(fixture->scheduler); /* it decides, and the slice ends before the bindings */
	assert_code(&fixture->base, fixture_merge(&fixture->base, "nodes", "", "n0", "{'spec':{'unschedulable':true}}"),
	            200);
	while (scheduler_fixture_placed(fixture, "g", 2) == 0 &&
	       !*scheduler_fixture_group_at(fixture, "g", "status.conditions.0.message"))
		scheduler_fixture_turns(fixture, 1);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 2), 0);
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "nodes", "", "n0", "{'spec':{'unschedulable':false}}"), 200);
	while (scheduler_fixture_placed(fixture, "g", 2) < 2)
		scheduler_fixture_turns(fixture, 1);
}

static void what_was_written_is_assumed(void **state)
{
	struct scheduler_fixture *fixture = *state;
	struct error error = {0};
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_gang(fixture, "g", 1, 1, "");
	scheduler_fixture_turns(fixture, 1);
	scheduler_fixture_gang(fixture, "h", 1, 1, "");
	for (int i = 0; i < 20; i++) { /* nobody commits */
		clock_virtual_advance(&fixture->base.clock, CLOCK_SECOND);
		scheduler_step(fixture->scheduler);
	}
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_placements_total"), 1);
	assert_int_equal(store_commit(fixture->base.store, &error), 0);
	scheduler_fixture_turns(fixture, 5);
	assert_int_equal(scheduler_fixture_metric(fixture, "platoon_placements_total"), 1);
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 1) + scheduler_fixture_placed(fixture, "h", 1), 1);
}

/* A step looks at as many answers as it would write bindings. */
static void answers_are_read_in_slices(void **state)
{
	struct scheduler_fixture *fixture = *state;
	fixture->slice = 1;
	scheduler_fixture_start(fixture);
	scheduler_fixture_node(fixture, "n0", "r");
	scheduler_fixture_node(fixture, "n1", "r");
	scheduler_fixture_node(fixture, "n2", "r");
	scheduler_fixture_gang(fixture, "g", 3, 3, "");
	for (long read = 0; read < 3;) {
		scheduler_fixture_turns(fixture, 1);
		long now = scheduler_fixture_metric(fixture, "platoon_placements_total");
		assert_in_range(now - read, 0, 1);
		read = now;
	}
	assert_int_equal(scheduler_fixture_placed(fixture, "g", 3), 3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scheduler_fixture_begin, scheduler_fixture_end)

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
		CASE(a_node_that_closed_meanwhile_gets_no_pod),
		CASE(what_was_written_is_assumed),
		CASE(answers_are_read_in_slices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
