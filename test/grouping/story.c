/* The grouping controller over a store, and what its stories do with it. */
#include "grouping/story.h"

#include <stdlib.h>

void story_start(struct grouping_story *fixture)
{
	struct settings settings = settings_usual;
	settings.single_groups = !fixture->singles_unwritten;
	if (!fixture->settings)
		fixture->settings = settings_source_create(&settings);
	settings_source_follow(fixture->settings, fixture->base.store);
	settings_source_replace(fixture->settings, &settings);
	settings_turn(fixture->settings);
	fixture->grouping = grouping_create(&(struct grouping_options){.store = fixture->base.store,
	                                                               .clock = &fixture->base.clock.source,
	                                                               .settings = fixture->settings});
}

bool story_holds(struct grouping_story *fixture, const struct store_object *pod)
{
	struct pod_grouping link = grouping_for_scheduler(fixture->grouping);
	return link.holds(link.context, pod);
}

int story_open(void **state)
{
	static struct grouping_story fixture;
	memset(&fixture, 0, sizeof(fixture));
	fixture_open(&fixture.base, NULL);
	assert_code(&fixture.base,
	            fixture_create(&fixture.base, "priorityclasses.scheduling.k8s.io", "",
	                           "{'metadata':{'name':'train'},'value':50}"),
	            201);
	story_start(&fixture);
	*state = &fixture;
	return 0;
}

int story_close(void **state)
{
	struct grouping_story *fixture = *state;
	grouping_destroy(fixture->grouping);
	settings_source_destroy(fixture->settings);
	fixture_close(&fixture->base);
	return 0;
}

int story_settle(struct grouping_story *fixture)
{
	for (int step = 1; step < 10000; step++) {
		int wait = grouping_step(fixture->grouping);
		bool wrote = store_pending(fixture->base.store);
		assert_int_equal(store_commit(fixture->base.store, NULL), 0);
		if (wait != 0 && !wrote)
			return step;
	}
	fail_msg("grouping does not come to rest");
	return 0;
}

void story_assert_at_rest(struct grouping_story *fixture)
{
	uint64_t before = store_version(fixture->base.store);
	story_settle(fixture);
	assert_int_equal(store_version(fixture->base.store), before);
	/* A restart knows nothing and finds everything done. */
	grouping_destroy(fixture->grouping);
	story_start(fixture);
	story_settle(fixture);
	assert_int_equal(store_version(fixture->base.store), before);
}

char *story_make(struct grouping_story *fixture, const char *resource, const char *body)
{
	assert_code(&fixture->base, fixture_create(&fixture->base, resource, "default", body), 201);
	return base_strdup(fixture_at(&fixture->base, "metadata.uid"));
}

char *story_make_job(struct grouping_story *fixture, const char *name, const char *annotations, int pods)
{
	char body[800];
	snprintf(body, sizeof(body),
	         "{'metadata':{'name':'%s','annotations':{%s}},'spec':{'completionMode':'Indexed','parallelism':%d,"
	         "'completions':%d,'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}"
	         "}}}",
	         name, annotations, pods, pods);
	return story_make(fixture, JOBS, body);
}

void story_make_pod(struct grouping_story *fixture, const char *name, const char *api_version, const char *kind,
                    const char *owner, const char *uid, const char *labels)
{
	char references[400] = "", body[1200];
	if (owner)
		snprintf(
			references, sizeof(references),
			",'ownerReferences':[{'apiVersion':'%s','kind':'%s','name':'%s','uid':'%s','controller':true}]",
			api_version, kind, owner, uid);
	snprintf(
		body, sizeof(body),
		"{'metadata':{'name':'%s','labels':{%s}%s},'spec':{'schedulerName':'platoon','containers':[{'name':'c',"
		"'image':'i'}]}}",
		name, labels, references);
	free(story_make(fixture, "pods", body));
}

void story_make_job_pod(struct grouping_story *fixture, const char *job, const char *uid, int index)
{
	char name[64], label[80];
	snprintf(name, sizeof(name), "%s-%d", job, index);
	snprintf(label, sizeof(label), "'batch.kubernetes.io/job-completion-index':'%d'", index);
	story_make_pod(fixture, name, "batch/v1", "Job", job, uid, label);
}

const char *story_group_name(struct grouping_story *fixture)
{
	return fixture_names(&fixture->base, GROUPS, "default", NULL, NULL);
}

void story_get_group(struct grouping_story *fixture)
{
	char name[300];
	snprintf(name, sizeof(name), "%s", story_group_name(fixture));
	assert_code(&fixture->base, fixture_get(&fixture->base, GROUPS, "default", name), 200);
}

void story_get_pod(struct grouping_story *fixture, const char *name)
{
	assert_code(&fixture->base, fixture_get(&fixture->base, "pods", "default", name), 200);
}

const char *story_events_about(struct grouping_story *fixture, const char *kind, const char *name)
{
	static char text[600];
	char fields[200];
	struct store_fixture *base = &fixture->base;
	snprintf(fields, sizeof(fields), "involvedObject.kind=%s,involvedObject.name=%s", kind, name);
	char *names = base_strdup(fixture_names(base, "events", "default", NULL, fields));
	text[0] = '\0';
	for (char *next = names, *event; (event = strsep(&next, " ")) && *event;) {
		assert_code(base, fixture_get(base, "events", "default", event), 200);
		size_t length = strlen(text);
		snprintf(text + length, sizeof(text) - length, "%s%s", length ? " " : "", fixture_at(base, "reason"));
	}
	free(names);
	return text;
}
