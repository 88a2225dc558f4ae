/* Kinds that come later than who follows them: with a configuration, in another version, with a definition. */
#include "fixtures/remote_fixture.h"

#include <stdio.h>
#include <string.h>

#define POD "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"p\",\"resourceVersion\":\"7\"}}"

#define FLOWS "/apis/jobs.example.com/v1/flows?"

static size_t count_flows(struct remote_fixture *fixture)
{
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {
		.api = store_api_find(fixture->base.store, "jobs.example.com", "v1", "flows")};
	assert_non_null(request.api);
	assert_int_equal(store_list(fixture->base.store, &request, &list, fixture->base.arena, &error), 0);
	size_t count = list.count;
	store_list_clear(&list);
	return count;
}

/* The definition comes after the configuration that names it; then the kind is taken out, and put in again. */
static void kinds_come_and_go(void **state)
{
	struct remote_fixture *fixture = *state;
	char kind[] = "Flow"; /* texts are copied */
	struct remote_follow flows = {"jobs.example.com", "v1", "flows", .optional = true, .kind = kind};
	const char *list = "{'kind':'FlowList','metadata':{'resourceVersion':'20'},'items':[{'apiVersion':"
			   "'jobs.example.com/v1','kind':'Flow','metadata':{'name':'f','namespace':'default','uid':'f',"
			   "'resourceVersion':'15'}}]}";
	remote_fixture_start_empty(fixture);
	fake_server_on(fixture->fake, FLOWS "limit", 404, "", "404 page not found");
	remote_follow_kinds(fixture->remote, &flows, 1);
	kind[0] = 'X';
	assert_true(remote_synced(fixture->remote)); /* nothing waits for it */
	remote_fixture_await(fixture, FLOWS, 1);
	assert_int_equal(count_flows(fixture), 0);
	fake_server_on(fixture->fake, FLOWS "limit", 200, "", list);
	remote_fixture_pass(fixture, 31);
	assert_int_equal(count_flows(fixture), 1);
	assert_int_equal(fake_server_open(fixture->fake, FLOWS "watch"), 1);
	/* The same again changes nothing. */
	kind[0] = 'F';
	remote_follow_kinds(fixture->remote, &flows, 1);
	remote_fixture_pass(fixture, 1);
	assert_int_equal(fake_server_count(fixture->fake, FLOWS), 3);
	remote_follow_kinds(fixture->remote, NULL, 0);
	remote_fixture_pass(fixture, 31);
	assert_int_equal(count_flows(fixture), 0);
	assert_int_equal(fake_server_count(fixture->fake, FLOWS), 3);
	assert_int_equal(fake_server_open(fixture->fake, WATCH), 1); /* pods are none of its business */
	fake_server_on(fixture->fake, FLOWS "limit", 200, "", list);
	remote_follow_kinds(fixture->remote, &flows, 1);
	remote_fixture_await(fixture, FLOWS, 5);
	assert_int_equal(count_flows(fixture), 1);
}

/* A server without the kind has it in no version; then an old one comes, and the mirror follows that. */
static void versions_are_tried_in_turn(void **state)
{
	static const char path[] = "/apis/ray.io/v1/rayclusters?", older[] = "/apis/ray.io/v1alpha1/rayclusters?";
	struct remote_fixture *fixture = *state;
	const struct kind_row *row = kinds_resource("ray.io", "rayclusters");
	struct remote_follow clusters = {"ray.io", "v1", "rayclusters", .optional = true, .row = row};
	fixture->options.follow = &clusters;
	fixture->options.follow_count = 1;
	fake_server_on(fixture->fake, path, 404, "", "404 page not found");
	fake_server_on(fixture->fake, older, 404, "", "404 page not found");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "GET", 2);
	assert_true(remote_synced(fixture->remote));
	struct store *store = remote_store(fixture->remote);
	const struct store_type *type = store_type_find(store, "ray.io", "rayclusters");
	assert_int_equal(type->api_count, 0);
	assert_null(store_api_of_kind(store, "ray.io/v1", "RayCluster"));
	fake_server_on(fixture->fake, path, 404, "", "404 page not found");
	fake_server_on(fixture->fake, older, 200, "",
	               "{'kind':'RayClusterList','metadata':{'resourceVersion':'20'},'items':[{'apiVersion':"
	               "'ray.io/v1alpha1','kind':'RayCluster','metadata':{'name':'r','namespace':'default','uid':'r',"
	               "'resourceVersion':'15'}}]}");
	uint64_t generation = store_types_generation(store);
	remote_fixture_pass(fixture, 31);
	assert_int_equal(type->api_count, 2);
	assert_true(store_types_generation(store) > generation); /* whoever waited for it looks again */
	assert_non_null(store_peek(store, type, "default", "r"));
	assert_int_equal(fake_server_open(fixture->fake, "/apis/ray.io/v1alpha1/rayclusters?watch"), 1);
	/* What is written goes there too, though who writes names the version that comes first. */
	assert_string_equal(type->apis[0].version, "v1");
	fixture_merge_status(&fixture->base, "rayclusters.ray.io", "default", "r", "{'status':{'state':'ready'}}");
	assert_int_equal(store_commit(store, NULL), 0);
	remote_fixture_await(fixture, "PATCH /apis/ray.io/v1alpha1/namespaces/default/rayclusters/r/status", 1);
}

static void answer_missing(struct remote_fixture *fixture, const struct kind_row *row)
{
	char path[128];
	for (size_t i = 0; row->versions[i]; i++) {
		snprintf(path, sizeof(path), "/%s/%s?", row->versions[i], row->resource);
		fake_server_on(fixture->fake, path, 404, "", "404 page not found");
	}
}

/* Whoever saw something of a kind that was missing before has the server asked again, once, and hears of the answer. */
static void a_missing_kind_is_asked_for_again(void **state)
{
	struct remote_fixture *fixture = *state;
	const struct kind_row *row = kinds_resource("ray.io", "rayclusters");
	struct remote_follow clusters = {"ray.io", "v1", "rayclusters", .optional = true, .row = row};
	fixture->options.follow = &clusters;
	fixture->options.follow_count = 1;
	answer_missing(fixture, row);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "GET", 2);
	struct store *store = remote_store(fixture->remote);
	const char *version = "ray.io/v1", *kind = "RayCluster";
	uint64_t then = store_version(store), generation = store_types_generation(store);
	assert_true(store_lacks(store, version, kind, then));
	assert_true(store_lacks(store, "example.com/v1", "Gadget", then + 1)); /* nobody follows these */
	remote_fixture_pass(fixture, 1);
	assert_int_equal(fake_server_count(fixture->fake, "GET"), 2);

	/* A pod comes that names one. */
	store_mirror_put(store, store_type_find(store, "", "pods"), doc_parse_json(POD, strlen(POD), NULL));
	uint64_t now = store_version(store);
	assert_true(now > then);
	assert_false(store_lacks(store, version, kind, now));
	assert_false(store_lacks(store, version, kind, now));
	answer_missing(fixture, row);
	remote_fixture_await(fixture, "GET", 4);
	assert_true(store_types_generation(store) > generation);
	assert_true(store_lacks(store, version, kind, now));
	remote_fixture_pass(fixture, 1);
	assert_int_equal(fake_server_count(fixture->fake, "GET"), 4);
}

/* Pods below a kind of which nothing may be read are not grouped by guesses: it stays served, and they wait. */
static void what_may_not_be_read_stays_served(void **state)
{
	struct remote_fixture *fixture = *state;
	struct remote_follow jobs = {"batch", "v1", "jobs", .optional = true, .row = kinds_resource("batch", "jobs")};
	fixture->options.follow = &jobs;
	fixture->options.follow_count = 1;
	fake_server_on(fixture->fake, "/jobs?", 403, "", "{'kind':'Status','code':403}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "GET", 1);
	assert_true(remote_synced(fixture->remote));
	assert_int_equal(store_type_find(remote_store(fixture->remote), "batch", "jobs")->api_count, 1);
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(kinds_come_and_go),
		ON_FIXTURE(versions_are_tried_in_turn),
		ON_FIXTURE(a_missing_kind_is_asked_for_again),
		ON_FIXTURE(what_may_not_be_read_stays_served),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
