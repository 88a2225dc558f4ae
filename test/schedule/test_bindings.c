/* What the scheduler makes of writes that are refused, lost or overtaken: gangs are completed around what is placed, or let go
 * as a whole. */
#include "fixtures/scheduler_fixture.h"

static void a_refused_binding_is_decided_again(void **state)
{
	struct tale *tale = *state;
	tale->fails = "g-1";
	tale->times = 2;
	for (int i = 0; i < 3; i++)
		tale_node(tale, (const char *[]){"n0", "n1", "n2"}[i], "r");
	tale_gang(tale, "g", 3, 3, "");
	tale_turns(tale, 2);
	assert_int_equal(tale_placed(tale, "g", 3), 2); /* pinned where they are */
	char first[64];
	snprintf(first, sizeof(first), "%s", tale_node_of(tale, "g-0"));
	tale_turns(tale, 30);
	assert_int_equal(tale_placed(tale, "g", 3), 3);
	assert_string_equal(tale_node_of(tale, "g-0"), first);
	assert_int_equal(tale_metric(tale, "platoon_bindings_refused_total"), 2);
	assert_int_equal(tale_metric(tale, "platoon_api_errors_total{code=\"409\"}"), 2);
	assert_string_equal(tale_group_at(tale, "g", "status.phase"), "Scheduled");
}

static void a_gang_that_cannot_be_completed_is_released(void **state)
{
	struct tale *tale = *state;
	tale->fails = "g-2";
	tale->times = -1;
	for (int i = 0; i < 3; i++)
		tale_node(tale, (const char *[]){"n0", "n1", "n2"}[i], "r");
	tale_gang(tale, "g", 3, 3, "");
	tale_turns(tale, 2);
	assert_int_equal(tale_placed(tale, "g", 3), 2);
	/* the node that is left goes away */
	for (int i = 0; i < 3; i++) {
		char node[16], wanted[16];
		snprintf(node, sizeof(node), "n%d", i);
		snprintf(wanted, sizeof(wanted), "n%d", i);
		if (strcmp(tale_node_of(tale, "g-0"), wanted) != 0 && strcmp(tale_node_of(tale, "g-1"), wanted) != 0)
			assert_code(&tale->kit, kit_delete(&tale->kit, "nodes", "", node, NULL), 200);
	}
	tale_turns(tale, 80);
	assert_int_equal(tale_placed(tale, "g", 3), 0);
	assert_int_equal(tale_metric(tale, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
}

enum meanwhile { NOTHING, NODE_GOES, POD_GOES };

/* What the API answered was true: the node or the pod is gone. A pod comes back with another identity. */
static void make_true(struct tale *tale, const struct trouble *trouble, enum meanwhile meanwhile)
{
	if (meanwhile == NODE_GOES)
		assert_code(&tale->kit, kit_delete(&tale->kit, "nodes", "", trouble->node, NULL), 200);
	if (meanwhile != POD_GOES)
		return;
	assert_code(&tale->kit, kit_delete(&tale->kit, "pods", "default", trouble->pod, "{'gracePeriodSeconds':0}"),
	            200);
	tale_pod(tale, trouble->pod, "g", "");
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
	struct tale *tale = *state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		static const char *const pods[] = {"g-1", "g-2", "g-3"};
		char first[16];
		int failed = 0;
		tale_end(state);
		tale_begin(state);
		for (int i = 0; i < 3; i++)
			if (rows[row][i].code) {
				tale->troubles[i] = (struct trouble){.pod = pods[i], .code = rows[row][i].code};
				failed++;
			}
		tale_nodes(tale, 8);
		tale_gang(tale, "g", 4, 4, "");
		tale_turns(tale, 1);
		assert_int_equal(tale_placed(tale, "g", 4), 4 - failed);
		snprintf(first, sizeof(first), "%s", tale_node_of(tale, "g-0"));
		for (int i = 0; i < failed; i++)
			make_true(tale, &tale->troubles[i], rows[row][i].meanwhile);
		tale_turns(tale, 60);
		assert_int_equal(tale_placed(tale, "g", 4), 4);
		assert_string_equal(tale_node_of(tale, "g-0"), first);
		assert_int_equal(tale_metric(tale, "platoon_bindings_refused_total"), failed);
	}
}

/* The same when there is no other place: nothing has started, so all of it is let go. */
static void a_lost_node_in_a_full_cluster_releases_the_gang(void **state)
{
	struct tale *tale = *state;
	tale->troubles[0] = (struct trouble){.pod = "g-1", .code = 404};
	tale->troubles[1] = (struct trouble){.pod = "g-2", .code = 409};
	tale_nodes(tale, 4);
	tale_gang(tale, "g", 4, 4, "");
	tale_turns(tale, 1);
	assert_int_equal(tale_placed(tale, "g", 4), 2);
	make_true(tale, &tale->troubles[0], NODE_GOES);
	tale_turns(tale, 60);
	assert_int_equal(tale_placed(tale, "g", 4), 0);
	assert_int_equal(tale_metric(tale, "platoon_evictions_total{cause=\"unfinished\"}"), 2);
}

/* A namespace that ends refuses everything until its pods are gone: few tries, and nothing is left behind. */
static void a_namespace_that_ends_is_not_hammered(void **state)
{
	struct tale *tale = *state;
	tale_nodes(tale, 2);
	tale_gang(tale, "g", 2, 2, "");
	tale->troubles[0] = (struct trouble){.pod = "g-0", .code = 403, .always = true};
	tale->troubles[1] = (struct trouble){.pod = "g-1", .code = 403, .always = true};
	tale_turns(tale, 200);
	assert_int_equal(tale_placed(tale, "g", 2), 0);
	assert_in_range(tale_metric(tale, "platoon_bindings_refused_total"), 2, 2 * 12);
	memset(tale->troubles, 0, sizeof(tale->troubles));
	for (int i = 0; i < 2; i++)
		assert_code(&tale->kit,
		            kit_delete(&tale->kit, "pods", "default", i ? "g-1" : "g-0", "{'gracePeriodSeconds':0}"),
		            200);
	assert_code(&tale->kit, kit_delete(&tale->kit, "podgroups.scheduling.run.ai", "default", "g", NULL), 200);
	tale_gang(tale, "h", 2, 2, "");
	tale_turns(tale, 200);
	assert_int_equal(tale_placed(tale, "h", 2), 2);
}

/* Watches that broke are opened again, and the first look is taken, though every turn writes before it is asked. */
static void lost_watches_are_listed_while_everybody_writes(void **state)
{
	struct tale *tale = *state;
	tale_nodes(tale, 2);
	tale_turns(tale, 3);
	assert_true(store_watch_break(tale->kit.store, NULL) > 0);
	tale_gang(tale, "g", 2, 2, "");
	for (int i = 0; i < 20; i++) {
		char body[64];
		struct error error = {0};
		struct store_result result = {.arena = tale->kit.arena};
		snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"turn\":\"%d\"}}}", i);
		struct doc *doc = doc_parse_json(body, strlen(body), &error);
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .api = kit_api(&tale->kit, "nodes"),
		                                .name = "n0",
		                                .body = doc_root(doc)};
		assert_int_equal(store_write(tale->kit.store, &request, &result), 0);
		store_result_clear(&result);
		doc_destroy(doc);
		tale_turns(tale, 1);
	}
	assert_int_equal(tale_placed(tale, "g", 2), 2);
}

static void a_gang_that_changed_meanwhile_is_not_half_bound(void **state)
{
	struct tale *tale = *state;
	struct error error = {0};
	tale_node(tale, "n0", "r");
	tale_node(tale, "n1", "r");
	tale_turns(tale, 3);
	tale_gang(tale, "g", 2, 2, "");
	/* the pod goes in the same turn, after the scheduler has read the store for the last time */
	struct store_result result = {.arena = tale->kit.arena};
	struct store_request request = {.verb = STORE_DELETE,
	                                .api = kit_api(&tale->kit, "pods"),
	                                .namespace_ = "default",
	                                .name = "g-1"};
	assert_int_equal(store_write(tale->kit.store, &request, &result), 0);
	store_result_clear(&result);
	clock_virtual_advance(&tale->kit.clock, CLOCK_SECOND);
	scheduler_step(tale->scheduler);
	assert_int_equal(store_commit(tale->kit.store, &error), 0);
	tale_turns(tale, 5);
	assert_int_equal(tale_placed(tale, "g", 2), 0);
	tale_pod(tale, "g-1", "g", "");
	tale_turns(tale, 5);
	assert_int_equal(tale_placed(tale, "g", 2), 2);
}

static void what_was_written_is_assumed(void **state)
{
	struct tale *tale = *state;
	struct error error = {0};
	tale_node(tale, "n0", "r");
	tale_gang(tale, "g", 1, 1, "");
	tale_turns(tale, 1);
	tale_gang(tale, "h", 1, 1, "");
	for (int i = 0; i < 20; i++) { /* nobody commits */
		clock_virtual_advance(&tale->kit.clock, CLOCK_SECOND);
		scheduler_step(tale->scheduler);
	}
	assert_int_equal(tale_metric(tale, "platoon_placements_total"), 1);
	assert_int_equal(store_commit(tale->kit.store, &error), 0);
	tale_turns(tale, 5);
	assert_int_equal(tale_metric(tale, "platoon_placements_total"), 1);
	assert_int_equal(tale_placed(tale, "g", 1) + tale_placed(tale, "h", 1), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, tale_begin, tale_end)

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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
