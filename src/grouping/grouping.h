/* Grouping controller: from the pods of our schedulers and the workloads that own them to PodGroups, continuously.
 *
 * What a group looks like is decided in group/; here it is decided when to look, and what is written: the PodGroup
 * (owned by the workload, so that it goes with it), the marks on its pods, and warnings as events. All it remembers is a
 * cache: a restart writes nothing that is there already. */
#ifndef GROUPING_GROUPING_H
#define GROUPING_GROUPING_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"
#include "loop/pod_grouping.h"
#include "loop/settings.h"

struct grouping_controller;

struct grouping_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
	struct settings_source *settings; /* borrowed; NULL: the usual */
};

struct grouping_controller *grouping_create(const struct grouping_options *options);
void grouping_destroy(struct grouping_controller *controller); /* NULL is a no-op */
/* Milliseconds until there is something to do if nothing changes: 0 for at once, -1 for never. */
int grouping_step(struct grouping_controller *controller);
void grouping_read(struct grouping_controller *controller); /* only takes over what changed */

/* What a scheduler has to know of pods without marks. Valid as long as the controller. */
struct pod_grouping grouping_for_scheduler(struct grouping_controller *controller);

/* What grouping makes of a stored pod, for who judges workloads: as group_pod(), or unless `whole` as group_pod_marks(). The
 * result is good until the store changes. */
void grouping_look(struct store *store, const struct settings *settings, const struct val *pod, bool whole,
                   struct arena *arena, struct group_result *out);

/* The pod with its group's marks and KAI_SEGMENT_INDEX in every container that does not set it: for admission, where
 * containers can still be changed. NULL when there is nothing to add; the caller destroys it. */
struct doc *grouping_admit(struct store *store, const struct settings *settings, const struct val *pod);

/* A new Job of ours that has no podFailurePolicy, with one that ignores disruptions: else Kubernetes counts each evicted pod
 * as a failure of its program, and ends the Job after a few. NULL when there is nothing to add; the caller destroys it. */
struct doc *grouping_admit_job(const struct settings *settings, const struct val *job);

#endif
