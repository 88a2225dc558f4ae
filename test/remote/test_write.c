/* How writes of a mirror reach the server, and what the mirror shows until it has answered. */
#include "fixtures/remote_fixture.h"

#include <stdlib.h>

#define PODS "/api/v1/namespaces/default/pods"
#define BODY "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a'},'spec':{'containers':[{'name':'c','image':'i'}]}}"

static const char *uid_of(struct remote_fixture *fixture, const char *name)
{
	const struct store_object *object =
		store_peek(fixture->base.store, fixture_api(&fixture->base, "pods")->type, "default", name);
	return object ? object->uid : "";
}

/* ---- assumptions ---- */

static void a_write_is_seen_at_once_and_confirmed_later(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	const struct store_type *type = fixture_api(&fixture->base, "pods")->type;
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	assert_string_equal(val_str(val_path(store_peek(fixture->base.store, type, "default", "a")->root, "metadata",
	                                     "labels", "x", NULL),
	                            ""),
	                    "1");
	assert_true(store_is_assumed(fixture->base.store, type, "default", "a"));
	remote_fixture_await(fixture, "PATCH", 1);
	assert_string_equal(fake_server_request(fixture->fake, "PATCH", 0)->body,
	                    "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}");
	assert_non_null(strstr(fake_server_request(fixture->fake, "PATCH", 0)->head,
	                       "Content-Type: application/merge-patch+json"));
	fake_server_answer(fixture->fake, "PATCH", 200, "",
	                   remote_fixture_pod("a", "00000000-0000-0000-0000-000000000097", 12,
	                                      "'labels':{'x':'1','y':'2'}", ""));
	remote_fixture_move(fixture);
	assert_false(store_is_assumed(fixture->base.store, type, "default", "a"));
	assert_true(remote_settled(fixture->remote));
	assert_pods(fixture, "a:12");
}

static void a_conflict_is_taken_back(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	fake_server_on(fixture->fake, "PATCH", 409, "", "{'kind':'Status','code':409,'reason':'Conflict'}");
	remote_fixture_await(fixture, "GET " PODS "/a", 1); /* only asking is sure */
	assert_int_equal(remote_counts(fixture->remote).refused, 1);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", remote_fixture_plain_pod("a", 15));
	remote_fixture_move(fixture);
	assert_pods(fixture, "a:15");
	assert_true(remote_settled(fixture->remote));
}

static void what_a_write_was_about_may_be_gone(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	fake_server_on(fixture->fake, "PATCH", 404, "", "{}");
	fake_server_on(fixture->fake, "GET " PODS "/a", 404, "", "{}");
	remote_fixture_await(fixture, "GET " PODS "/a", 1);
	assert_pods(fixture, "");
}

static void patience_with_a_server_that_asks_for_it(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	fake_server_on(fixture->fake, "PATCH", 429, "Retry-After: 7\r\n", "{}");
	remote_fixture_await(fixture, "PATCH", 1);
	int64_t waited = remote_fixture_tenths(fixture, "PATCH", 2, 200);
	assert_in_range(waited, 70, 72);
	/* Then it breaks, and breaks the connection. */
	fake_server_answer(fixture->fake, "PATCH", 503, "", "{}");
	assert_true(remote_fixture_tenths(fixture, "PATCH", 3, 200) < 200);
	fake_server_cut(fixture->fake, "PATCH");
	assert_true(remote_fixture_tenths(fixture, "PATCH", 4, 200) < 200);
	fake_server_answer(fixture->fake, "PATCH", 200, "", remote_fixture_plain_pod("a", 12));
	remote_fixture_move(fixture);
	assert_pods(fixture, "a:12");
	assert_int_equal(remote_counts(fixture->remote).refused, 0);
	assert_true(remote_counts(fixture->remote).retries >=
	            2); /* the transport tries a cut connection again by itself */
}

static void attempts_have_an_end(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	fake_server_always(fixture->fake, "PATCH", 500, "", "{'message':'broken'}");
	remote_fixture_pass(fixture, 120);
	assert_int_equal(fake_server_count(fixture->fake, "PATCH"), 10);
	assert_int_equal(remote_counts(fixture->remote).refused, 1);
	assert_int_equal(fake_server_open(fixture->fake, "GET " PODS "/a"), 1);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", remote_fixture_plain_pod("a", 11));
	remote_fixture_move(fixture);
	assert_string_equal(remote_fixture_field(fixture, "a", "metadata", "labels"), "");
	assert_true(remote_settled(fixture->remote));
}

/* ---- the end of objects ---- */

/* Answers and events come on different connections: one may overtake the other. */
static void what_is_gone_does_not_come_back_with_an_older_answer(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	remote_fixture_await(fixture, "PATCH", 1);
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 14));
	fake_server_answer(fixture->fake, "PATCH", 200, "", remote_fixture_plain_pod("a", 12));
	remote_fixture_move(fixture);
	assert_pods(fixture, "");
	assert_true(remote_settled(fixture->remote));
	/* Another one of the same name may come. */
	remote_fixture_tell(fixture, "ADDED", remote_fixture_pod("a", "uid-2", 20, "", ""));
	assert_pods(fixture, "a:20");
}

static void what_was_created_may_be_deleted_before_the_answer(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	remote_fixture_await(fixture, "POST", 1);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 12));
	fake_server_answer(fixture->fake, "POST", 201, "", remote_fixture_plain_pod("a", 11));
	remote_fixture_move(fixture);
	assert_pods(fixture, "");
	assert_true(remote_settled(fixture->remote));
}

static void a_patch_that_changes_nothing_is_not_sent(void **state)
{
	static const char running[] = "{'status':{'phase':'Running'}}";
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	for (int i = 0; i < 3; i++)
		assert_code(&fixture->base, fixture_merge_status(&fixture->base, "pods", "default", "a", running), 200);
	remote_fixture_await(fixture, "PATCH", 1);
	fake_server_answer(fixture->fake, "PATCH", 200, "",
	                   remote_fixture_pod("a", "00000000-0000-0000-0000-000000000097", 12, "",
	                                      "")); /* takes nothing */
	remote_fixture_move(fixture);
	assert_int_equal(fake_server_count(fixture->fake, "PATCH"), 1);
	/* What the server did not take is new again. */
	assert_code(&fixture->base, fixture_merge_status(&fixture->base, "pods", "default", "a", running), 200);
	remote_fixture_await(fixture, "PATCH", 2);
}

static void a_deleted_object_stays_deleted(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "a", "{'gracePeriodSeconds':0}"),
	            200);
	remote_fixture_await(fixture, "DELETE", 1);
	assert_non_null(strstr(fake_server_request(fixture->fake, "DELETE", 0)->body, "\"gracePeriodSeconds\":0"));
	fake_server_answer(fixture->fake, "DELETE", 200, "", remote_fixture_plain_pod("a", 14));
	remote_fixture_move(fixture);
	assert_pods(fixture, "");
	/* Its last days are told of late; then its end, and then a successor comes. */
	remote_fixture_tell(fixture, "MODIFIED", remote_fixture_plain_pod("a", 13));
	assert_pods(fixture, "");
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 14));
	remote_fixture_tell(fixture, "ADDED", remote_fixture_pod("a", "uid-2", 20, "", ""));
	assert_pods(fixture, "a:20");
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 14)); /* of the first: not of this one */
	assert_pods(fixture, "a:20");
}

/* A list that began before the deletion was answered may still have the object. */
static void a_list_from_before_brings_nothing_back(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	remote_fixture_tell(fixture, "ERROR", "{'kind':'Status','code':410}");
	remote_fixture_await(fixture, LIST, 2);
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "a", "{'gracePeriodSeconds':0}"),
	            200);
	fake_server_on(fixture->fake, "DELETE", 200, "", remote_fixture_plain_pod("a", 14));
	remote_fixture_await(fixture, "DELETE", 1);
	char list[4096];
	snprintf(list, sizeof(list), "{'kind':'PodList','metadata':{'resourceVersion':'12'},'items':[%s]}",
	         remote_fixture_plain_pod("a", 11));
	fake_server_answer(fixture->fake, LIST, 200, "", list);
	remote_fixture_await(fixture, WATCH, 2);
	assert_pods(fixture, "");
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 14));
	assert_pods(fixture, "");
}

static void a_graceful_end_is_no_end_yet(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "a", "{}"), 200);
	fake_server_on(fixture->fake, "DELETE", 200, "",
	               remote_fixture_pod("a", "00000000-0000-0000-0000-000000000097", 12,
	                                  "'deletionTimestamp':'2026-01-01T00:00:30Z','deletionGracePeriodSeconds':30",
	                                  ""));
	remote_fixture_await(fixture, "DELETE", 1);
	assert_pods(fixture, "a:12");
	assert_string_equal(remote_fixture_field(fixture, "a", "metadata", "deletionTimestamp"),
	                    "2026-01-01T00:00:30Z");
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 13));
	assert_pods(fixture, "");
}

/* ---- pending creates ---- */

#define OWNED                                                                                                          \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'child','ownerReferences':[{'apiVersion':'v1','kind':'"    \
	"Pod',"                                                                                                        \
	"'name':'a','uid':'%s'}]},'spec':{'containers':[{'name':'c','image':'i'}]}}"

static void a_child_waits_for_the_uid_of_its_owner(void **state)
{
	struct remote_fixture *fixture = *state;
	char child[1024], assumed[64];
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	snprintf(assumed, sizeof(assumed), "%s", uid_of(fixture, "a"));
	snprintf(child, sizeof(child), OWNED, assumed);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", child), 201);
	remote_fixture_await(fixture, "POST", 1);
	/* The event comes before the answer: the child still waits, as only the answer says that it is the same object. */
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_int_equal(fake_server_count(fixture->fake, "POST"), 1);
	fake_server_answer(fixture->fake, "POST", 201, "", remote_fixture_plain_pod("a", 11));
	remote_fixture_await(fixture, "POST", 2);
	assert_string_equal(uid_of(fixture, "a"), "00000000-0000-0000-0000-000000000097");
	const char *sent = fake_server_request(fixture->fake, "POST", 1)->body;
	assert_non_null(strstr(sent, "00000000-0000-0000-0000-000000000097"));
	assert_null(strstr(sent, assumed));
	/* The mirror's own child is right at the same moment. */
	size_t length;
	const char *shown = store_object_json(store_peek(fixture->base.store, fixture_api(&fixture->base, "pods")->type,
	                                                 "default", "child"),
	                                      NULL, &length);
	assert_non_null(strstr(shown, "00000000-0000-0000-0000-000000000097"));
}

/* The real uid may be of any length, and what only contains the assumed one is another text. */
static void only_what_is_the_uid_is_corrected(void **state)
{
	struct remote_fixture *fixture = *state;
	char child[1024], name[80];
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	const char *assumed = uid_of(fixture, "a");
	snprintf(name, sizeof(name), "\"pg-a-%s\"", assumed);
	snprintf(child, sizeof(child),
	         "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'child','labels':{'controller-uid':'%s'},"
	         "'annotations':{'pod-group-name':'pg-a-%s'},'ownerReferences':[{'apiVersion':'v1','kind':'Pod',"
	         "'name':'a','uid':'%s'}]},'spec':{'containers':[{'name':'c','image':'i'}]}}",
	         assumed, assumed, assumed);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", child), 201);
	remote_fixture_await(fixture, "POST", 1);
	fake_server_answer(fixture->fake, "POST", 201, "", remote_fixture_pod("a", "uid-2", 11, "", ""));
	remote_fixture_await(fixture, "POST", 2);
	const char *sent = fake_server_request(fixture->fake, "POST", 1)->body;
	assert_non_null(strstr(sent, "\"uid\":\"uid-2\""));
	assert_non_null(strstr(sent, "\"controller-uid\":\"uid-2\""));
	assert_non_null(strstr(sent, name));
}

static void the_event_of_a_birth_may_come_after_the_answer(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	fake_server_on(fixture->fake, "POST", 201, "", remote_fixture_plain_pod("a", 11));
	remote_fixture_await(fixture, "POST", 1);
	assert_pods(fixture, "a:11");
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_pods(fixture, "a:11");
	assert_true(remote_settled(fixture->remote));
}

/* The answer to the deletion of the first tells of the first, although the second of its name waits to be created. */
static void an_heir_is_not_its_predecessor(void **state)
{
	struct remote_fixture *fixture = *state;
	const char *heir = "00000000-0000-0000-0000-000000000555";
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base, fixture_delete(&fixture->base, "pods", "default", "a", "{'gracePeriodSeconds':0}"),
	            200);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	assert_code(&fixture->base, remote_fixture_bind(fixture, "a", "n1"), 201);
	remote_fixture_await(fixture, "DELETE", 1);
	fake_server_answer(
		fixture->fake, "DELETE", 200, "",
		remote_fixture_pod("a", "00000000-0000-0000-0000-000000000097", 12,
	                           "'deletionTimestamp':'2026-01-01T00:00:30Z','deletionGracePeriodSeconds':30", ""));
	remote_fixture_await(fixture, "POST", 1);
	assert_null(strstr(fake_server_request(fixture->fake, "POST", 0)->head, "/binding"));
	remote_fixture_tell(fixture, "DELETED", remote_fixture_plain_pod("a", 13));
	fake_server_answer(fixture->fake, "POST", 201, "", remote_fixture_pod("a", heir, 20, "", ""));
	remote_fixture_move(fixture);
	assert_string_equal(uid_of(fixture, "a"), heir);
	remote_fixture_await(fixture, "POST", 2);
	fake_server_answer(fixture->fake, "POST", 201, "", "{'kind':'Status','status':'Success'}");
	remote_fixture_tell(fixture, "MODIFIED", remote_fixture_pod("a", heir, 21, "", "'nodeName':'n1'"));
	remote_fixture_tell(fixture, "DELETED", remote_fixture_pod("a", heir, 22, "", "'nodeName':'n1'"));
	assert_pods(fixture, "");
	assert_true(remote_settled(fixture->remote));
}

/* It is there already, by our own hand before the connection broke. */
static void a_birth_that_happened_before(void **state)
{
	struct remote_fixture *fixture = *state;
	char child[1024];
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	snprintf(child, sizeof(child), OWNED, uid_of(fixture, "a"));
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", child), 201);
	remote_fixture_await(fixture, "POST", 1);
	fake_server_cut(fixture->fake, "POST");
	assert_true(remote_fixture_tenths(fixture, "POST", 2, 100) < 100);
	fake_server_answer(fixture->fake, "POST", 409, "", "{'kind':'Status','code':409,'reason':'AlreadyExists'}");
	remote_fixture_await(fixture, "GET " PODS "/a", 1);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", remote_fixture_plain_pod("a", 11));
	remote_fixture_await(fixture, "POST", 3);
	assert_non_null(
		strstr(fake_server_request(fixture->fake, "POST", 2)->body, "00000000-0000-0000-0000-000000000097"));
	assert_pods(fixture, "a:11 child:");
}

/* A child with an owner that does not exist would be nobody's: neither it nor its own children are sent, and nobody sees
 * what was not created. */
static void without_its_owner_no_child_is_sent(void **state)
{
	struct remote_fixture *fixture = *state;
	char child[1024], grandchild[1024];
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	snprintf(child, sizeof(child), OWNED, uid_of(fixture, "a"));
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", child), 201);
	snprintf(grandchild, sizeof(grandchild),
	         "{'metadata':{'name':'grandchild','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'child',"
	         "'uid':'%s'}]},'spec':{'containers':[{'name':'c','image':'i'}]}}",
	         uid_of(fixture, "child"));
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", grandchild), 201);
	assert_code(&fixture->base,
	            fixture_merge_status(&fixture->base, "pods", "default", "a", "{'status':{'phase':'Running'}}"),
	            200);
	fake_server_on(fixture->fake, "POST", 409, "", "{'kind':'Status','code':409,'reason':'Conflict'}");
	remote_fixture_await(fixture, "GET " PODS "/a", 1);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 404, "", "{'kind':'Status','code':404}");
	fake_server_always(fixture->fake, "GET " PODS "/", 404, "", "{'kind':'Status','code':404}");
	remote_fixture_await(fixture, "GET " PODS "/child", 1);
	remote_fixture_await(fixture, "GET " PODS "/grandchild", 1);
	assert_pods(fixture, "");
	remote_fixture_await(fixture, "GET " PODS "/a", 2); /* in place of the status */
	remote_fixture_move(fixture);
	assert_pods(fixture, "");
	assert_true(remote_settled(fixture->remote));
	assert_int_equal(fake_server_count(fixture->fake, "POST"), 1);
	assert_int_equal(fake_server_count(fixture->fake, "PATCH"), 0);
}

/* Somebody else's object has the name of the owner: the child is not given to that. */
static void nor_with_the_owner_of_another(void **state)
{
	struct remote_fixture *fixture = *state;
	char child[1024];
	remote_fixture_start_empty(fixture);
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", BODY), 201);
	snprintf(child, sizeof(child), OWNED, uid_of(fixture, "a"));
	assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", child), 201);
	fake_server_on(fixture->fake, "POST", 409, "", "{'kind':'Status','code':409,'reason':'AlreadyExists'}");
	fake_server_on(fixture->fake, "GET " PODS "/a", 200, "", remote_fixture_plain_pod("a", 11));
	fake_server_on(fixture->fake, "GET " PODS "/child", 404, "", "{'kind':'Status','code':404}");
	remote_fixture_await(fixture, "GET " PODS "/child", 1);
	remote_fixture_move(fixture);
	assert_pods(fixture, "a:11");
	assert_int_equal(fake_server_count(fixture->fake, "POST"), 1);
}

/* A success that says nothing sensible is asked about: children with a made-up uid would be collected as garbage. */
static void an_answer_that_cannot_be_read_is_asked_about(void **state)
{
	static const char *const answers[] = {"", "what", "{}", "{'kind':'Status','status':'Success'}",
	                                      "{'kind':'Pod','metadata':{'name':'other'}}"};
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		char body[512], path[64];
		snprintf(body, sizeof(body),
		         "{'metadata':{'name':'p%zu'},'spec':{'containers':[{'name':'c','image':'i'}]}}", i);
		snprintf(path, sizeof(path), "GET " PODS "/p%zu", i);
		assert_code(&fixture->base, fixture_create(&fixture->base, "pods", "default", body), 201);
		fake_server_on(fixture->fake, "POST", 201, "", answers[i]);
		remote_fixture_await(fixture, path, 1);
		fake_server_answer(fixture->fake, path, 404, "", "{}");
		remote_fixture_move(fixture);
		assert_pods(fixture, "");
	}
}

static void a_binding_is_assumed_until_the_watch_knows(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("a", 11));
	assert_code(&fixture->base, remote_fixture_bind(fixture, "a", "n"), 201);
	fake_server_on(fixture->fake, "binding", 201, "", "{'kind':'Status','status':'Success'}");
	remote_fixture_await(fixture, "binding", 1);
	remote_fixture_tell(fixture, "MODIFIED", remote_fixture_plain_pod("a", 12)); /* from before the binding */
	assert_string_equal(remote_fixture_field(fixture, "a", "spec", "nodeName"), "n");
	remote_fixture_tell(fixture, "MODIFIED",
	                    remote_fixture_pod("a", "00000000-0000-0000-0000-000000000097", 13, "", "'nodeName':'n'"));
	assert_pods(fixture, "a:13");
	assert_true(remote_settled(fixture->remote));
	/* A watch that does not tell: the server is asked. */
	remote_fixture_tell(fixture, "ADDED", remote_fixture_plain_pod("b", 14));
	assert_code(&fixture->base, remote_fixture_bind(fixture, "b", "n"), 201);
	fake_server_on(fixture->fake, "binding", 201, "", "{'kind':'Status','status':'Success'}");
	assert_in_range(remote_fixture_tenths(fixture, "GET " PODS "/b", 1, 200), 90, 110);
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(a_write_is_seen_at_once_and_confirmed_later),
		ON_FIXTURE(a_conflict_is_taken_back),
		ON_FIXTURE(what_a_write_was_about_may_be_gone),
		ON_FIXTURE(patience_with_a_server_that_asks_for_it),
		ON_FIXTURE(attempts_have_an_end),
		ON_FIXTURE(what_is_gone_does_not_come_back_with_an_older_answer),
		ON_FIXTURE(what_was_created_may_be_deleted_before_the_answer),
		ON_FIXTURE(a_patch_that_changes_nothing_is_not_sent),
		ON_FIXTURE(a_deleted_object_stays_deleted),
		ON_FIXTURE(a_list_from_before_brings_nothing_back),
		ON_FIXTURE(a_graceful_end_is_no_end_yet),
		ON_FIXTURE(a_child_waits_for_the_uid_of_its_owner),
		ON_FIXTURE(only_what_is_the_uid_is_corrected),
		ON_FIXTURE(the_event_of_a_birth_may_come_after_the_answer),
		ON_FIXTURE(an_heir_is_not_its_predecessor),
		ON_FIXTURE(a_birth_that_happened_before),
		ON_FIXTURE(without_its_owner_no_child_is_sent),
		ON_FIXTURE(nor_with_the_owner_of_another),
		ON_FIXTURE(an_answer_that_cannot_be_read_is_asked_about),
		ON_FIXTURE(a_binding_is_assumed_until_the_watch_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
