/* Owns LeaderWorkerSets: replicas of a leader <set>-<group> and workers <set>-<group>-<index>. A group lives and dies
 * together: a leader carries when it was made, and its workers carry the same. The uid would do, if a server that is
 * elsewhere gave it at once. */
#include "cluster/workload_internal.h"

#include "base/vec.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define LABEL "leaderworkerset.sigs.k8s.io/"
#define KEY_MADE "platoon.dev/group-made" /* version of the store */
#define KEY_REVISION LABEL "template-revision-hash"

struct set {
	struct workload *workload;
	const struct val *leader_template, *worker_template;
	int64_t replicas, size, surplus; /* surplus: groups that may be unavailable in an update */
	bool together;                   /* one pod lost: the group starts anew */
	bool leader_first;               /* workers wait until the leader is ready */
	const char *revision;
	int64_t ready, updated, made;
	VEC(struct child) pods;
};

static const char *pod_name(struct set *set, int64_t group, int64_t worker)
{
	const char *name = set->workload->object->name;
	if (worker == 0)
		return arena_printf(set->workload->arena, "%s-%lld", name, (long long)group);
	return arena_printf(set->workload->arena, "%s-%lld-%lld", name, (long long)group, (long long)worker);
}

static struct store_object *find(struct set *set, int64_t group, int64_t worker)
{
	return workload_find(&set->workload->pods, pod_name(set, group, worker));
}

static void read_set(struct set *set)
{
	struct workload *workload = set->workload;
	const struct val *template_ = val_get(workload->spec, "leaderWorkerTemplate");
	const struct val *rolling = val_path(workload->spec, "rolloutStrategy", "rollingUpdateConfiguration", NULL);
	set->worker_template = val_get(template_, "workerTemplate");
	set->leader_template = val_get(template_, "leaderTemplate");
	if (val_kind(set->leader_template) != VAL_MAP)
		set->leader_template = set->worker_template;
	set->replicas = workload_number(val_get(workload->spec, "replicas"), 1);
	set->size = workload_number(val_get(template_, "size"), 1);
	set->size = set->size < 1 ? 1 : set->size;
	if (set->replicas * set->size > WORKLOAD_MAX_PODS)
		set->replicas = WORKLOAD_MAX_PODS / set->size;
	set->surplus = workload_number(val_get(rolling, "maxUnavailable"), 1);
	set->together = strcmp(val_str(val_get(template_, "restartPolicy"), ""), "None") != 0;
	set->leader_first = strcmp(val_str(val_get(workload->spec, "startupPolicy"), ""), "LeaderReady") == 0;
	set->revision = workload_hash(workload->arena, template_, 0);
}

static struct child make_child(struct set *set, int64_t group, int64_t worker, const char *made)
{
	struct workload *workload = set->workload;
	struct child pod = {
		.name = pod_name(set, group, worker),
		.template_ = worker == 0 ? set->leader_template : set->worker_template,
		.when_ended = CHILD_REPLACE_ENDED,
		.role = worker > 0,
	};
	child_label(&pod, LABEL "name", workload->object->name);
	child_label_number(workload, &pod, LABEL "group-index", group);
	child_label_number(workload, &pod, LABEL "worker-index", worker);
	child_label(&pod, LABEL "group-key",
	            workload_hash(workload->arena, val_path(workload->root, "metadata", "uid", NULL), (uint64_t)group));
	child_label(&pod, KEY_REVISION, set->revision);
	child_annotation(&pod, LABEL "size", arena_printf(workload->arena, "%lld", (long long)set->size));
	child_annotation(&pod, KEY_MADE, made);
	if (worker > 0)
		child_annotation(&pod, LABEL "leader-name", pod_name(set, group, 0));
	return pod;
}

/* Something happened to the pod after which its group cannot go on. */
static bool is_lost(const struct store_object *pod)
{
	enum pod_state state = pod_state(pod);
	return metadata_is_leaving(pod->root) || state == POD_FAILED || state == POD_SUCCEEDED || pod_restarts(pod) > 0;
}

static const char *made_at(const struct store_object *pod)
{
	return val_str(val_path(pod->root, "metadata", "annotations", KEY_MADE, NULL), "");
}

struct group {
	struct store_object *leader;
	int64_t pods, ready;
	bool lost, outdated;
};

static void look_at(struct set *set, int64_t index, struct group *group)
{
	group->leader = find(set, index, 0);
	for (int64_t i = 0; i < set->size; i++) {
		struct store_object *pod = i == 0 ? group->leader : find(set, index, i);
		if (!pod)
			continue;
		group->pods++;
		group->ready += pod_ready(pod) && !metadata_is_leaving(pod->root);
		group->lost |= set->together && is_lost(pod);
		const char *revision = workload_label(pod, KEY_REVISION);
		group->outdated |= !revision || strcmp(revision, set->revision) != 0;
		/* Workers of a leader that is gone or was replaced. */
		if (i > 0 && (!group->leader || strcmp(made_at(group->leader), made_at(pod)) != 0))
			group->lost |= set->together;
	}
}

static void want_group(struct set *set, int64_t index, const struct group *group, bool whole)
{
	struct workload *workload = set->workload;
	const char *made = group->leader ? made_at(group->leader)
	                                 : arena_printf(workload->arena, "%llu",
	                                                (unsigned long long)store_version(workload->store));
	for (int64_t i = 0; i < set->size; i++) {
		struct child child = make_child(set, index, i, made);
		/* The leader comes first, because its workers name it. The rest follows in the next turn. */
		if (i > 0 && (!group->leader || (set->leader_first && !pod_ready(group->leader))))
			child.hold = true;
		if (!whole)
			child.hold = true;
		vec_push(&set->pods, child);
	}
}

/* Removes a group; it is made again when all of it has gone. */
static void restart_group(struct set *set, int64_t index)
{
	for (int64_t i = set->size; i-- > 0;) {
		struct store_object *pod = find(set, index, i);
		if (pod)
			workload_delete(set->workload, pod);
	}
}

static void settle_groups(struct set *set)
{
	int64_t unavailable = 0;
	struct group *groups = arena_array(set->workload->arena, struct group, (size_t)set->replicas);
	for (int64_t i = 0; i < set->replicas; i++) {
		look_at(set, i, &groups[i]);
		unavailable += groups[i].ready < set->size;
	}
	/* Updates go from the last group to the first, like those of a StatefulSet. */
	for (int64_t i = set->replicas; i-- > 0;) {
		struct group *group = &groups[i];
		bool is_ready = group->ready >= set->size;
		bool update = group->outdated && (!is_ready || unavailable < set->surplus);
		if (update && is_ready)
			unavailable++;
		if (group->lost || update)
			restart_group(set, i);
		set->made += group->pods > 0;
		set->ready += is_ready && !group->lost && !update;
		set->updated += group->pods > 0 && !group->outdated;
		want_group(set, i, group, !group->lost && !update);
	}
	workload_settle(set->workload, set->pods.items, set->pods.count);
}

static void write_status(struct set *set)
{
	struct workload *workload = set->workload;
	struct build *build = workload->build;
	struct node *status = workload_status(workload);
	bool all = set->ready >= set->replicas && set->updated >= set->replicas;
	struct condition conditions[] = {
		{"Progressing", all ? "False" : "True", "GroupsProgressing", "Replicas are progressing"},
		{"Available", all ? "True" : "False", "AllGroupsReady", "All replicas are ready"},
	};
	build_put_int(build, status, "replicas", set->made);
	build_put_int(build, status, "readyReplicas", set->ready);
	build_put_int(build, status, "updatedReplicas", set->updated);
	build_put_string(build, status, "hpaPodSelector",
	                 arena_printf(workload->arena, LABEL "name=%s," LABEL "worker-index=0",
	                              workload->object->name));
	workload_put_conditions(workload, status, conditions, 2);
	workload_write_status(workload, status);
}

int workload_leader_worker_set(struct workload *workload)
{
	struct set set = {.workload = workload};
	read_set(&set);
	settle_groups(&set);
	write_status(&set);
	vec_free(&set.pods);
	return 0;
}
