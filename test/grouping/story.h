/* Stories about the grouping controller: workloads and pods in, PodGroups, marks and events out. A pod is made in the
 * namespace "default"; texts that are returned are borrowed until the next call, but for uids. */
#ifndef TEST_GROUPING_STORY_H
#define TEST_GROUPING_STORY_H

#include "fixtures/store_fixture.h"

#include "grouping/grouping.h"

#define JOBS "jobs.batch"
#define GROUPS "podgroups.scheduling.run.ai"

struct grouping_story {
	struct store_fixture base;
	struct settings_source *settings;
	struct grouping_controller *grouping;
	bool singles_unwritten;
};

void story_start(struct grouping_story *fixture);
bool story_holds(struct grouping_story *fixture, const struct store_object *pod);
int story_open(void **state);
int story_close(void **state);
/* Steps until nothing is to be done at once. How many steps that took. */
int story_settle(struct grouping_story *fixture);
void story_assert_at_rest(struct grouping_story *fixture);
/* The uid of the new object. */
char *story_make(struct grouping_story *fixture, const char *resource, const char *body);
char *story_make_job(struct grouping_story *fixture, const char *name, const char *annotations, int pods);
void story_make_pod(struct grouping_story *fixture, const char *name, const char *api_version, const char *kind,
                    const char *owner, const char *uid, const char *labels);
void story_make_job_pod(struct grouping_story *fixture, const char *job, const char *uid, int index);
const char *story_group_name(struct grouping_story *fixture);
void story_get_group(struct grouping_story *fixture);
void story_get_pod(struct grouping_story *fixture, const char *name);
/* Reasons of the events about an object, in the order of their names; "" for none. */
const char *story_events_about(struct grouping_story *fixture, const char *kind, const char *name);

#endif
