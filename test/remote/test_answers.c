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
	struct remote_kit *kit;
};

static const char *node_of(struct remote_kit *kit)
{
	const struct store_object *object =
		store_peek(kit->kit.store, kit_api(&kit->kit, "pods")->type, "default", "a");
	return object ? val_str(val_path(object->root, "spec", "nodeName", NULL), "") : "(none)";
}

static void hear(void *context, const struct store_result *result)
{
	struct heard *heard = context;
	heard->times++;
	heard->code = result->error.code;
	snprintf(heard->reason, sizeof(heard->reason), "%s", result->error.code ? result->error.reason : "");
	snprintf(heard->message, sizeof(heard->message), "%s", result->error.code ? result->error.message : "");
	snprintf(heard->node, sizeof(heard->node), "%s", node_of(heard->kit));
}

static const char *pod_on(const char *node, int version)
{
	char spec[64] = "";
	if (node[0])
		snprintf(spec, sizeof(spec), "'nodeName':'%s'", node);
	return remote_kit_pod("a", UID_A, version, "", spec);
}

static void begin(struct remote_kit *kit)
{
	char text[4096];
	remote_kit_start_empty(kit);
	snprintf(text, sizeof(text), "{'type':'ADDED','object':%s}\n", pod_on("", 11));
	fake_send(kit->fake, WATCH, text);
	remote_kit_move(kit);
}

static void submit(struct remote_kit *kit, struct heard *heard, struct store_request request, const char *body)
{
	struct doc *doc = body ? kit_json(body) : NULL;
	*heard = (struct heard){.kit = kit};
	request.api = kit_api(&kit->kit, "pods");
	request.namespace_ = "default";
	request.name = "a";
	request.body = doc ? doc_root(doc) : NULL;
	store_submit(kit->kit.store, &request, hear, heard);
	doc_destroy(doc);
}

static void submit_binding(struct remote_kit *kit, struct heard *heard)
{
	submit(kit, heard, (struct store_request){.verb = STORE_CREATE, .subresource = STORE_BINDING},
	       "{'metadata':{'name':'a','uid':'" UID_A "'},'target':{'kind':'Node','name':'n'}}");
}

static void acceptance_is_told_when_the_server_accepted(void **state)
{
	struct remote_kit *kit = *state;
	struct heard heard;
	begin(kit);
	submit_binding(kit, &heard);
	remote_kit_await(kit, "binding", 1);
	assert_string_equal(node_of(kit), "n"); /* assumed */
	assert_int_equal(heard.times, 0);
	remote_kit_pass(kit, 5);
	assert_int_equal(heard.times, 0);
	fake_answer(kit->fake, "binding", 201, "", "{'kind':'Status','status':'Success'}");
	remote_kit_move(kit);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 0);
}

static void a_refusal_is_told_with_its_words_when_it_was_taken_back(void **state)
{
	struct remote_kit *kit = *state;
	struct heard heard;
	begin(kit);
	submit_binding(kit, &heard);
	fake_on(kit->fake, "binding", 403, "", REFUSAL);
	remote_kit_await(kit, "GET " PODS "/a", 1); /* at once: whoever hears it paces itself */
	assert_int_equal(heard.times, 0);
	fake_answer(kit->fake, "GET " PODS "/a", 200, "", pod_on("", 12));
	remote_kit_move(kit);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 403);
	assert_string_equal(heard.reason, "Forbidden");
	assert_string_equal(heard.message, "not on my nodes");
	assert_string_equal(heard.node, "");
	assert_int_equal(fake_count(kit->fake, "binding"), 1);
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
	struct remote_kit *kit = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard heard;
		char body[64];
		if (i > 0) {
			remote_kit_teardown(state);
			remote_kit_setup(state);
			kit = *state;
		}
		begin(kit);
		submit_binding(kit, &heard);
		remote_kit_await(kit, "binding", 1);
		if (rows[i].first)
			fake_answer(kit->fake, "binding", rows[i].first, "", "{}");
		else
			fake_cut(kit->fake, "binding");
		assert_true(remote_kit_tenths(kit, "binding", 2, 200) < 200);
		assert_int_equal(heard.times, 0);
		snprintf(body, sizeof(body), "{'kind':'Status','code':%d}", rows[i].second);
		fake_answer(kit->fake, "binding", rows[i].second, "", body);
		remote_kit_await(kit, "GET " PODS "/a", 1);
		assert_int_equal(heard.times, 0);
		fake_answer(kit->fake, "GET " PODS "/a", 200, "", pod_on(rows[i].node, 12));
		remote_kit_move(kit);
		assert_int_equal(heard.times, 1);
		assert_int_equal(heard.code, rows[i].code);
		assert_string_equal(heard.node, rows[i].node);
	}
}

/* A server that never gets to it: what it has is asked for until it says so. */
static void nothing_is_told_before_the_server_answers_at_all(void **state)
{
	struct remote_kit *kit = *state;
	struct heard heard;
	begin(kit);
	fake_always(kit->fake, "binding", 503, "", "{}");
	submit_binding(kit, &heard);
	remote_kit_tenths(kit, "GET " PODS "/a", 1, 2000);
	assert_int_equal(heard.times, 0);
	fake_answer(kit->fake, "GET " PODS "/a", 503, "", "{}");
	remote_kit_pass(kit, 20);
	assert_int_equal(heard.times, 0);
	fake_answer(kit->fake, "GET " PODS "/a", 200, "", pod_on("", 12));
	remote_kit_move(kit);
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
	struct remote_kit *kit = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct heard heard;
		if (i > 0) {
			remote_kit_teardown(state);
			remote_kit_setup(state);
			kit = *state;
		}
		begin(kit);
		submit(kit, &heard, (struct store_request){.verb = STORE_DELETE, .options = {.uid = UID_A}}, NULL);
		fake_on(kit->fake, "DELETE", rows[i].answer, "", "{}");
		remote_kit_await(kit, "GET " PODS "/a", 1);
		if (rows[i].now)
			fake_answer(kit->fake, "GET " PODS "/a", 200, "",
			            remote_kit_pod("a", UID_A, 12, rows[i].now, ""));
		else
			fake_answer(kit->fake, "GET " PODS "/a", 404, "", "{}");
		remote_kit_move(kit);
		assert_int_equal(heard.times, 1);
		assert_int_equal(heard.code, rows[i].code);
	}
}

/* Whoever goes away hears nothing more; and an end of everything loses no memory. */
static void nobody_is_told_who_went_away(void **state)
{
	struct remote_kit *kit = *state;
	struct heard heard;
	begin(kit);
	submit_binding(kit, &heard);
	remote_kit_await(kit, "binding", 1);
	store_submit_forget(kit->kit.store, &heard);
	fake_answer(kit->fake, "binding", 201, "", "{'kind':'Status','status':'Success'}");
	remote_kit_move(kit);
	assert_int_equal(heard.times, 0);
	submit(kit, &heard, (struct store_request){.verb = STORE_DELETE}, NULL);
	remote_kit_await(kit, "DELETE", 1);
}

/* What cannot be carried out on what the mirror shows needs no server. */
static void what_the_mirror_refuses_is_told_in_the_same_turn(void **state)
{
	struct remote_kit *kit = *state;
	struct heard heard;
	remote_kit_start_empty(kit);
	submit_binding(kit, &heard);
	assert_int_equal(heard.times, 0);
	remote_kit_move(kit);
	assert_int_equal(heard.times, 1);
	assert_int_equal(heard.code, 404);
	assert_int_equal(fake_count(kit->fake, "binding"), 0);
}

int main(void)
{
#define ON_KIT(test) cmocka_unit_test_setup_teardown(test, remote_kit_setup, remote_kit_teardown)
	const struct CMUnitTest tests[] = {
		ON_KIT(acceptance_is_told_when_the_server_accepted),
		ON_KIT(a_refusal_is_told_with_its_words_when_it_was_taken_back),
		ON_KIT(an_unknown_outcome_is_what_the_server_shows),
		ON_KIT(nothing_is_told_before_the_server_answers_at_all),
		ON_KIT(a_deletion_is_done_when_the_object_is_gone),
		ON_KIT(nobody_is_told_who_went_away),
		ON_KIT(what_the_mirror_refuses_is_told_in_the_same_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
