/* What whoever submits a write to a mirror hears, and when: the word of the server, never a guess. */
#include "fixtures/remote_fixture.h"

#include <stdlib.h>

#define PODS "/api/v1/namespaces/default/pods"
#define UID_A "00000000-0000-0000-0000-000000000097"
#define REFUSAL "{'kind':'Status','code':403,'reason':'Forbidden','message':'not on my nodes'}"

struct heard {
	int times, code;
	char reason[64], message[128];
	char node[64]; /* of the pod at that moment */
	struct remote_fixture *fixture;
};

static const char *node_of(struct remote_fixture *fixture)
{
	const struct store_object *object =
		store_peek(fixture->base.store, fixture_api(&fixture->base, "pods")->type, "default", "a");
	return object ? val_str(val_path(object->root, "spec", "nodeName", NULL), "") : "(none)";
}

static void hear(void *context, const struct store_result *result)
{
	struct heard *heard = context;
	heard->times++;
	heard->code = result->error.code;
	snprintf(heard->reason, sizeof(heard->reason), "%s", result->error.code ? result->error.reason : "");
	snprintf(heard->message, sizeof(heard->message), "%s", result->error.code ? result->error.message : "");
	snprintf(heard->node, sizeof(heard->node), "%s", node_of(heard->fixture));
}

static const char *pod_on(const char *node, int version)
{
	char spec[64] = "";
	if (node[0])
		snprintf(spec, sizeof(spec), "'nodeName':'%s'", node);
	return remote_fixture_pod("a", UID_A, version, "", spec);
}

static void begin(struct remote_fixture *fixture)
{
	char text[4096];
	remote_fixture_start_empty(fixture);
	snprintf(text, sizeof(text), "{'type':'ADDED','object':%s}\n", pod_on("", 11));
	fake_server_send(fixture->fake, WATCH, text);
	remote_fixture_move(fixture);
}

static void submit(struct remote_fixture *fixture, struct heard *heard, struct store_request request, const char *body)
{
	struct doc *doc = body ? fixture_json(body) : NULL;
	*heard = (struct heard){.fixture = fixture};
	request.api = fixture_api(&fixture->base, "pods");
	request.namespace_ = "default";
	request.name = "a";
	request.body = doc ? doc_root(doc) : NULL;
	store_submit(fixture->base.store, &request, hear, heard);
	doc_destroy(doc);
}

static void submit_binding(struct remote_fixture *fixture, struct heard *heard)
{
	submit(fixture, heard, (struct store_request){.verb = STORE_CREATE, .subresource = STORE_BINDING},
	       "{'metadata':{'name':'a','uid':'" UID_A "'},'target':{'kind':'Node','name':'n'}}");
}

static void acceptance_is_told_when_the_server_accepted(void **state)
{
	struct remote_fixture *fixture = *state;
	struct heard heard;
	begin(fixture);
	submit_binding(fixture, &heard);
	remote_fixture_await(fixture, "binding", 1);
	assert_string_equal(node_of(fixture), "n"); /* assumed */
	assert_int_equal(heard.times, 0);
	remote_fixture_pass(fixture, 5);
	assert_int_equal(heard.times, 0);
	fake_server_answer(fixture->fake, "binding", 201, "", "{'kind':'Status','status':'Success'}");
	remote_fixture_move(fixture);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 0);
}

static void a_refusal_is_told_with_its_words_when_it_was_taken_back(void **state)
{
	struct remote_fixture *fixture = *state;
	struct heard heard;
	begin(fixture);
	submit_binding(fixture, &heard);
	fake_server_on(fixture->fake, "binding", 403, "", REFUSAL);
	remote_fixture_await(fixture, "GET " PODS "/a", 1); /* at once: whoever hears it paces itself */
	assert_int_equal(heard.times, 0);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", pod_on("", 12));
	remote_fixture_move(fixture);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 403);
	assert_string_equal(heard.reason, "Forbidden");
	assert_string_equal(heard.message, "not on my nodes");
	assert_string_equal(heard.node, "");
	assert_int_equal(fake_server_count(fixture->fake, "binding"), 1);
}

/* A status that waits behind the binding was written on top of it, and keeps nothing of it alive. */
static void a_refusal_is_taken_back_before_later_writes_are_answered(void **state)
{
	struct remote_fixture *fixture = *state;
	struct heard heard;
	begin(fixture);
	submit_binding(fixture, &heard);
	fixture_do(&fixture->base,
	           (struct store_request){.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS},
	           "pods", "default", "a", "{'status':{'phase':'Running'}}");
	fake_server_on(fixture->fake, "binding", 403, "", REFUSAL);
	remote_fixture_await(fixture, "GET " PODS "/a", 1);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", pod_on("", 12));
	remote_fixture_move(fixture);
	assert_int_equal(heard.code, 403);
	assert_string_equal(heard.node, "");
	remote_fixture_await(fixture, "status", 1);
	assert_string_equal(node_of(fixture), "");
}

/* The answer was lost, and the binding that is sent again finds the pod bound: by the first one, or by somebody else. */
static void an_unknown_outcome_is_what_the_server_shows(void **state)
{
	static const struct {
		int first; /* 0: the connection is cut */
		int second;
		const char *node; /* that the server shows then */
		int code;         /* that is told */
	} rows[] = {
		{0, 409, "n", 0},    {0, 409, "other", 409}, {503, 409, "n", 0},
		{503, 403, "", 403}, {504, 409, "n", 0},     {429, 403, "", 403},
	};
	struct remote_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard heard;
		char body[64];
		if (i > 0) {
			remote_fixture_teardown(state);
			remote_fixture_setup(state);
			fixture = *state;
		}
		begin(fixture);
		submit_binding(fixture, &heard);
		remote_fixture_await(fixture, "binding", 1);
		if (rows[i].first)
			fake_server_answer(fixture->fake, "binding", rows[i].first, "", "{}");
		else
			fake_server_cut(fixture->fake, "binding");
		assert_true(remote_fixture_tenths(fixture, "binding", 2, 200) < 200);
		assert_int_equal(heard.times, 0);
		snprintf(body, sizeof(body), "{'kind':'Status','code':%d}", rows[i].second);
		fake_server_answer(fixture->fake, "binding", rows[i].second, "", body);
		remote_fixture_await(fixture, "GET " PODS "/a", 1);
		assert_int_equal(heard.times, 0);
		fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", pod_on(rows[i].node, 12));
		remote_fixture_move(fixture);
		assert_int_equal(heard.times, 1);
		assert_int_equal(heard.code, rows[i].code);
		assert_string_equal(heard.node, rows[i].node);
	}
}

/* A server that never gets to it: what it has is asked for until it says so. */
static void nothing_is_told_before_the_server_answers_at_all(void **state)
{
	struct remote_fixture *fixture = *state;
	struct heard heard;
	begin(fixture);
	fake_server_always(fixture->fake, "binding", 503, "", "{}");
	submit_binding(fixture, &heard);
	remote_fixture_tenths(fixture, "GET " PODS "/a", 1, 2000);
	assert_int_equal(heard.times, 0);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 503, "", "{}");
	remote_fixture_pass(fixture, 20);
	assert_int_equal(heard.times, 0);
	fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "", pod_on("", 12));
	remote_fixture_move(fixture);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 503);
}

static void a_deletion_is_done_when_the_object_is_gone(void **state)
{
	static const struct {
		int answer;      /* to the deletion */
		const char *now; /* what the server has; NULL: nothing */
		int code;
	} rows[] = {
		{404, NULL, 0},
		{409, NULL, 0},
		{409, "'deletionTimestamp':'2030-01-01T00:00:00Z'", 0},
		{403, "'labels':{}", 403},
	};
	struct remote_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard heard;
		if (i > 0) {
			remote_fixture_teardown(state);
			remote_fixture_setup(state);
			fixture = *state;
		}
		begin(fixture);
		submit(fixture, &heard, (struct store_request){.verb = STORE_DELETE, .options = {.uid = UID_A}}, NULL);
		fake_server_on(fixture->fake, "DELETE", rows[i].answer, "", "{}");
		remote_fixture_await(fixture, "GET " PODS "/a", 1);
		if (rows[i].now)
			fake_server_answer(fixture->fake, "GET " PODS "/a", 200, "",
			                   remote_fixture_pod("a", UID_A, 12, rows[i].now, ""));
		else
			fake_server_answer(fixture->fake, "GET " PODS "/a", 404, "", "{}");
		remote_fixture_move(fixture);
		assert_int_equal(heard.times, 1);
		assert_int_equal(heard.code, rows[i].code);
	}
}

/* Whoever goes away hears nothing more; and an end of everything loses no memory. */
static void nobody_is_told_who_went_away(void **state)
{
	struct remote_fixture *fixture = *state;
	struct heard heard;
	begin(fixture);
	submit_binding(fixture, &heard);
	remote_fixture_await(fixture, "binding", 1);
	store_submit_forget(fixture->base.store, &heard);
	fake_server_answer(fixture->fake, "binding", 201, "", "{'kind':'Status','status':'Success'}");
	remote_fixture_move(fixture);
	assert_int_equal(heard.times, 0);
	submit(fixture, &heard, (struct store_request){.verb = STORE_DELETE}, NULL);
	remote_fixture_await(fixture, "DELETE", 1);
}

/* What cannot be carried out on what the mirror shows needs no server. */
static void what_the_mirror_refuses_is_told_in_the_same_turn(void **state)
{
	struct remote_fixture *fixture = *state;
	struct heard heard;
	remote_fixture_start_empty(fixture);
	submit_binding(fixture, &heard);
	assert_int_equal(heard.times, 0);
	remote_fixture_move(fixture);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 404);
	assert_int_equal(fake_server_count(fixture->fake, "binding"), 0);
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(acceptance_is_told_when_the_server_accepted),
		ON_FIXTURE(a_refusal_is_told_with_its_words_when_it_was_taken_back),
		ON_FIXTURE(a_refusal_is_taken_back_before_later_writes_are_answered),
		ON_FIXTURE(an_unknown_outcome_is_what_the_server_shows),
		ON_FIXTURE(nothing_is_told_before_the_server_answers_at_all),
		ON_FIXTURE(a_deletion_is_done_when_the_object_is_gone),
		ON_FIXTURE(nobody_is_told_who_went_away),
		ON_FIXTURE(what_the_mirror_refuses_is_told_in_the_same_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
