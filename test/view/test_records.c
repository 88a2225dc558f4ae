/* Records of the dashboard: what objects become, when they are written again, and what the scheduler adds. */
#include "fixtures/store_fixture.h"
#include "view/records.h"
#include "schedule/scheduler.h"

#include "base/hash.h"

#include <stdlib.h>

struct shown {
	UT_hash_handle hh;
	char *json; /* NULL: gone */
	int writes;
	char key[];
};

struct story {
	struct store_fixture base;
	struct records *records;
	struct scheduler *scheduler;
	struct shown *shown;
};

static void put(void *context, char kind, const char *name, const char *json)
{
	struct story *story = context;
	struct shown *shown;
	char key[200];
	snprintf(key, sizeof(key), "%c %s", kind, name);
	HASH_FIND_STR(story->shown, key, shown);
	if (!shown) {
		shown = calloc(1, sizeof(*shown) + sizeof(key));
		memcpy(shown->key, key, sizeof(key));
		HASH_ADD_STR(story->shown, key, shown);
	}
	free(shown->json);
	shown->json = json ? strdup(json) : NULL;
	shown->writes++;
}

static void decided(void *context, const struct plan *plan, size_t group)
{
	records_note_group(((struct story *)context)->records, plan, group);
}

static int begin(void **state)
{
	static struct story story;
	story = (struct story){0};
	fixture_open(&story.base, NULL);
	story.records =
		records_create(&(struct records_options){.store = story.base.store, .put = put, .context = &story});
	story.scheduler = scheduler_create(&(struct scheduler_options){.store = story.base.store,
	                                                               .clock = &story.base.clock.source,
	                                                               .decided = decided,
	                                                               .decided_context = &story});
	*state = &story;
	return 0;
}

static int end(void **state)
{
	struct story *story = *state;
	struct shown *shown, *next;
	HASH_ITER(hh, story->shown, shown, next) {
		HASH_DEL(story->shown, shown);
		free(shown->json);
		free(shown);
	}
	scheduler_destroy(story->scheduler);
	records_destroy(story->records);
	fixture_close(&story->base);
	return 0;
}

static const struct shown *look(struct story *story, const char *key)
{
	static const struct shown none = {.json = NULL};
	struct shown *shown;
	HASH_FIND_STR(story->shown, key, shown);
	return shown ? shown : &none;
}

/* The record is there and contains the part, or it is there and does not. */
static void expect_part(struct story *story, const char *key, const char *part, bool wanted)
{
	const char *json = look(story, key)->json;
	if (!json || (strstr(json, part) != NULL) != wanted)
		fail_msg("%s is%s in %s: %s", part, wanted ? " not" : "", key, json ? json : "nothing");
}

static void expect(struct story *story, const char *key, const char *json)
{
	struct buffer wanted = {0};
	for (const char *at = json; json && *at; at++)
		buffer_append(&wanted, *at == '\'' ? "\"" : at, 1);
	const char *is = look(story, key)->json;
	if (!text_equal(is, wanted.text))
		fail_msg("%s is\n%s instead of\n%s", key, is ? is : "nothing", wanted.text ? wanted.text : "nothing");
	buffer_free(&wanted);
}

static void make(struct story *story, const char *resource, const char *namespace_, const char *body)
{
	assert_code(&story->base, fixture_create(&story->base, resource, namespace_, body), 201);
}

static void cycle(struct story *story)
{
	struct error error;
	for (int i = 0; i < 5; i++) {
		clock_virtual_advance(&story->base.clock, INT64_C(1000000000));
		scheduler_step(story->scheduler);
		store_commit(story->base.store, &error);
		records_poll(story->records);
	}
}

static void make_node(struct story *story)
{
	make(story, "nodes", "",
	     "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1','labels':{'rack':'r1','row':'3','gpu.model':'h'}"
	     "},"
	     "'spec':{'unschedulable':true},'status':{'allocatable':{'cpu':'64','memory':'1Gi','nvidia.com/gpu':'8'},"
	     "'conditions':[{'type':'Ready','status':'False'}]}}");
}

static void make_topology(struct story *story, const char *name, const char *label)
{
	char body[300];
	snprintf(body, sizeof(body),
	         "{'apiVersion':'kai.scheduler/v1alpha1','kind':'Topology','metadata':{'name':'%s'},'spec':{'levels':[{"
	         "'nodeLabel':'%s'}]}}",
	         name, label);
	make(story, "topologies.kai.scheduler", "", body);
}

static void test_nodes_show_the_labels_of_topologies(void **state)
{
	struct story *story = *state;
	make_node(story);
	records_poll(story->records);
	assert_true(records_complete(story->records));
	expect(story, "n n1",
	       "{'k':'n','n':'n1','labels':{},'cpu':64000,'mem':1024,'gpu':8000,'down':true,'cordoned':true}");
	make_topology(story, "racks", "rack");
	records_poll(story->records);
	expect(story, "t racks", "{'k':'t','n':'racks','levels':[{'key':'rack'}]}");
	expect(story, "n n1",
	       "{'k':'n','n':'n1','labels':{'rack':'r1'},'cpu':64000,'mem':1024,'gpu':8000,'down':true,'cordoned':"
	       "true}");
	int writes = look(story, "n n1")->writes;
	make_topology(story, "same", "rack"); /* nothing new to see on nodes */
	records_poll(story->records);
	assert_int_equal(look(story, "n n1")->writes, writes);
	fixture_delete(&story->base, "nodes", "", "n1", NULL);
	records_poll(story->records);
	expect(story, "n n1", NULL);
}

static void test_pods(void **state)
{
	struct story *story = *state;
	make(story, "pods", "default",
	     "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','annotations':{'pod-group-name':'train'},'labels':"
	     "{"
	     "'kai.scheduler/subgroup-name':'work','rbg.workloads.x-k8s.io/group-name':'chat',"
	     "'rbg.workloads.x-k8s.io/role-name':'prefill','rbg.workloads.x-k8s.io/role-instance-index':'2'}},'spec':{"
	     "'nodeName':'n1','containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'500m'},'limits':{"
	     "'nvidia.com/gpu':'2'}}}]}}");
	struct store_request status = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_STATUS};
	assert_code(&story->base,
	            fixture_do(&story->base, status, "pods", "default", "a",
	                       "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}"),
	            200);
	records_poll(story->records);
	static const char *const parts[] = {"\"on\":\"n1\"", "\"g\":\"train\"",  "\"s\":\"work\"",
	                                    "\"ph\":\"R\"",  "\"ok\":1",         "\"cpu\":500",
	                                    "\"gpu\":2000",  "\"rbg\":\"chat\"", "\"role\":\"prefill\""};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		expect_part(story, "p default/a", parts[i], true);
}

static void test_groups_with_the_words_of_the_engine(void **state)
{
	struct story *story = *state;
	make_topology(story, "racks", "rack");
	make(story, "queues.scheduling.run.ai", "",
	     "{'apiVersion':'scheduling.run.ai/v2','kind':'Queue','metadata':{'name':'default-queue'},'spec':{"
	     "'resources':{'gpu':{'quota':4,'limit':-1},'cpu':{'quota':-1,'limit':-1},'memory':{'quota':-1,'limit':-1}}"
	     "}}");
	make(story, "nodes", "",
	     "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1','labels':{'rack':'r1'}},'status':{"
	     "'allocatable':{'cpu':'1','memory':'8Gi','pods':'9'}}}");
	make(story, "podgroups.scheduling.run.ai", "default",
	     "{'apiVersion':'scheduling.run.ai/v2alpha2','kind':'PodGroup','metadata':{'name':'train','namespace':"
	     "'default'},'spec':{'minMember':2,'topologyConstraint':{'topology':'racks','requiredTopologyLevel':'rack'}"
	     "}}");
	for (int i = 0; i < 2; i++) {
		char body[400];
		snprintf(body, sizeof(body),
		         "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'t%d','annotations':{'pod-group-name':"
		         "'train'}},'spec':{'schedulerName':'platoon','containers':[{'name':'c','image':'i','resources'"
		         ":{"
		         "'requests':{'cpu':'1'}}}]}}",
		         i);
		make(story, "pods", "default", body);
	}
	cycle(story);
	static const char *const parts[] = {
		"\"placed\":false", "\"code\":\"InsufficientDomain\"",
		"\"level\":\"rack\",\"domain\":\"r1\",\"have\":1,\"need\":2",
		("\"tree\":[{\"name\":\"\",\"parent\":-1,\"min\":2,\"pods\":2,\"leaf\":true,\"topology\":\"racks\","
	         "\"required\":\"rack\"}]")};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		expect_part(story, "g default/train", parts[i], true);
	expect_part(story, "q default-queue", "\"gpu\":{\"quota\":4000,\"limit\":-1", true);
	/* Room comes, the gang is placed, and the reasons are gone. */
	make(story, "nodes", "",
	     "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n2','labels':{'rack':'r1'}},'status':{"
	     "'allocatable':{'cpu':'1','memory':'8Gi','pods':'9'}}}");
	cycle(story);
	expect_part(story, "g default/train", "\"placed\":true", true);
	expect_part(story, "g default/train", "\"why\"", false);
	int writes = look(story, "g default/train")->writes;
	cycle(story);
	assert_int_equal(look(story, "g default/train")->writes, writes);
}

static void test_what_cannot_be_read_is_shown_as_such(void **state)
{
	struct story *story = *state;
	make(story, "podgroups.scheduling.run.ai", "default",
	     "{'apiVersion':'scheduling.run.ai/"
	     "v2alpha2','kind':'PodGroup','metadata':{'name':'bad'},'spec':{'minMember':"
	     "-1}}");
	make(story, "queues.scheduling.run.ai", "",
	     "{'apiVersion':'scheduling.run.ai/v2','kind':'Queue','metadata':{'name':'odd'},'spec':{'resources':7}}");
	make(story, "pods", "default",
	     "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'odd'},'spec':{'nodeName':'n9','containers':[{'name':"
	     "'c','image':'i','resources':{'requests':{'cpu':'many'}}}]}}");
	records_poll(story->records);
	expect_part(story, "g default/bad", "\"bad\":true", true);
	expect_part(story, "q odd", "\"bad\":true", true);
	expect(story, "p default/odd", "{'k':'p','n':'default/odd','bad':true,'on':'n9'}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nodes_show_the_labels_of_topologies, begin, end),
		cmocka_unit_test_setup_teardown(test_pods, begin, end),
		cmocka_unit_test_setup_teardown(test_groups_with_the_words_of_the_engine, begin, end),
		cmocka_unit_test_setup_teardown(test_what_cannot_be_read_is_shown_as_such, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
