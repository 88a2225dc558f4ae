/* What the scheduler is told about pods that stand alone, while they, their owners and the settings change: what is
 * remembered of a pod never outlives what it rests on. */
#include "grouping/story.h"

#include <stdlib.h>

static const struct store_object *find_pod(struct grouping_story *story, const char *name)
{
	const struct store_type *pods = store_type_find(story->base.store, "", "pods");
	return store_peek(story->base.store, pods, "default", name);
}

/* What it is told when the events are read, before anybody does anything. */
static void assert_queue(struct grouping_story *story, const char *name, const char *queue)
{
	struct pod_grouping link = grouping_for_scheduler(story->grouping);
	struct arena *arena = arena_create();
	struct group_terms terms = {0};
	settings_turn(story->settings);
	grouping_read(story->grouping);
	assert_false(link.holds(link.context, find_pod(story, name)));
	assert_true(link.terms(link.context, find_pod(story, name), arena, &terms));
	assert_string_equal(terms.queue, queue);
	arena_destroy(arena);
}

static int open_alone(void **state)
{
	static struct grouping_story story;
	memset(&story, 0, sizeof(story));
	story.singles_unwritten = true;
	fixture_open(&story.base, NULL);
	story_start(&story);
	*state = &story;
	return 0;
}

static void label(struct grouping_story *story, const char *resource, const char *name, const char *queue)
{
	char body[200];
	snprintf(body, sizeof(body), "{'metadata':{'labels':{'kai.scheduler/queue':'%s'}}}", queue);
	assert_code(&story->base, fixture_merge(&story->base, resource, "default", name, body), 200);
}

static void terms_are_those_of_the_pod(void **state)
{
	struct grouping_story *story = *state;
	struct store_fixture *base = &story->base;
	story_make_pod(story, "bare", NULL, NULL, NULL, NULL, "'kai.scheduler/queue':'a'");
	assert_queue(story, "bare", "a");
	story_settle(story);
	assert_queue(story, "bare", "a");
	/* Versions that say the same. */
	assert_code(base, fixture_merge_status(base, "pods", "default", "bare", "{'status':{'nominatedNodeName':'n'}}"),
	            200);
	assert_queue(story, "bare", "a");
	label(story, "pods", "bare", "b");
	assert_queue(story, "bare", "b");
	story_settle(story);
	assert_queue(story, "bare", "b");
	/* One that says the same after one that does not, read at once. */
	label(story, "pods", "bare", "c");
	assert_code(base, fixture_merge_status(base, "pods", "default", "bare", "{'status':{'nominatedNodeName':'m'}}"),
	            200);
	assert_queue(story, "bare", "c");
	/* It joins a group that somebody made: now it is marked, and held until then. */
	struct pod_grouping link = grouping_for_scheduler(story->grouping);
	assert_code(base,
	            fixture_merge(base, "pods", "default", "bare",
	                          "{'metadata':{'annotations':{'kai.scheduler/topology':'t',"
	                          "'kai.scheduler/topology-required-placement':'rack'}}}"),
	            200);
	grouping_read(story->grouping);
	assert_true(link.holds(link.context, find_pod(story, "bare")));
	story_settle(story);
	assert_false(link.holds(link.context, find_pod(story, "bare")));
	story_get_pod(story, "bare");
	assert_string_not_equal(fixture_at(base, "metadata.annotations.pod-group-name"), "");
}

static void terms_are_those_of_its_owners(void **state)
{
	struct grouping_story *story = *state;
	const char *spec = "'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{"
			   "'containers':[{'name':'c','image':'i'}]}}";
	char body[900];
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'web','labels':{'kai.scheduler/queue':'a'}},'spec':{'replicas':2,%s}}", spec);
	char *deployment = story_make(story, "deployments.apps", body);
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'web-1','ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':"
	         "'web','uid':'%s','controller':true}]},'spec':{'replicas':2,%s}}",
	         deployment, spec);
	char *set = story_make(story, "replicasets.apps", body);
	story_make_pod(story, "web-1-a", "apps/v1", "ReplicaSet", "web-1", set, "'a':'b'");
	assert_queue(story, "web-1-a", "a");
	story_settle(story);
	assert_queue(story, "web-1-a", "a");
	label(story, "deployments.apps", "web", "b");
	assert_queue(story, "web-1-a", "b");
	story_settle(story);
	assert_queue(story, "web-1-a", "b");
	free(deployment);
	free(set);
}

static void terms_are_those_of_the_settings(void **state)
{
	struct grouping_story *story = *state;
	struct settings settings = *settings_now(story->settings);
	story_make_pod(story, "bare", NULL, NULL, NULL, NULL, "");
	story_settle(story);
	assert_queue(story, "bare", "default-queue");
	settings.group.default_queue = "other";
	settings_source_replace(story->settings, &settings);
	assert_queue(story, "bare", "other");
	story_settle(story);
	assert_queue(story, "bare", "other");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_alone, story_close)
	const struct CMUnitTest tests[] = {
		TEST(terms_are_those_of_the_pod),
		TEST(terms_are_those_of_its_owners),
		TEST(terms_are_those_of_the_settings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
