/* Owns finding what belongs to a workload: PodGroups and pods whose owners lead to it, over however many steps. */
#include "view/why_internal.h"

#include "base/vec.h"
#include "kinds/kinds.h"

#include <string.h>
#include <strings.h>

#define MOST_STEPS 8 /* of ownership: RayService, RayCluster, pod; CronJob, Job, pod, PodGroup */

struct search {
	const struct why_subject *subject;
	const struct manifests *lists[2]; /* the second one may be NULL */
	struct arena *arena;
	struct interner *family; /* "Kind/name" of everything that belongs to the workload, in its namespace */
	const struct manifest *self;
	struct nearest nearest; /* of the kind */
	const struct kind_row
		*row; /* of the kind that the word of the subject is another name for; NULL: it is the name */
};

/* "lws", "leaderworkersets" and "leaderworkersets.leaderworkerset.x-k8s.io" all mean LeaderWorkerSet. */
static const struct kind_row *row_of_word(const char *word)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (row->flags & ROW_OWNER && kinds_is_called(row, word))
			return row;
	return NULL;
}

/* Kinds that are not known are named by themselves, with or without an "s". */
static bool names_kind(const struct search *search, const char *kind)
{
	const char *word = search->subject->workload;
	size_t length = strcspn(word, "."), own = strlen(kind);
	if (search->row)
		return strcmp(search->row->kind, kind) == 0;
	if (length == own + 1 && (word[own] == 's' || word[own] == 'S'))
		length = own;
	return own > 0 && length == own && strncasecmp(word, kind, own) == 0;
}

static bool in_namespace(const struct search *search, const struct manifest *object)
{
	return strcmp(object->namespace_[0] ? object->namespace_ : "default", search->subject->namespace_) == 0;
}

static bool is_self(const struct search *search, const char *kind, const char *name)
{
	return strcmp(name, search->subject->name) == 0 && names_kind(search, kind);
}

static bool is_known(const struct search *search, const char *kind, const char *name)
{
	return is_self(search, kind, name) ||
	       interner_find(search->family, arena_printf(search->arena, "%s/%s", kind, name)) != UINT32_MAX;
}

/* Pods and groups below a group of Kubernetes itself name it in their spec. */
static bool names_known_group(const struct search *search, const struct val *object)
{
	const char *group = val_str(val_path(object, "spec", "schedulingGroup", "podGroupName", NULL), "");
	const char *above = val_str(val_path(object, "spec", "parentCompositePodGroupName", NULL), "");
	return (*group && is_known(search, "PodGroup", group)) ||
	       (*above && is_known(search, "CompositePodGroup", above));
}

static bool has_known_owner(const struct search *search, const struct manifest *object)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object->object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);)
		if (is_known(search, val_str(val_get(owner, "kind"), ""), val_str(val_get(owner, "name"), "")))
			return true;
	return names_known_group(search, object->object);
}

/* One step further down. True when somebody was found. */
static bool find_children(struct search *search)
{
	uint32_t before = interner_count(search->family);
	for (int l = 0; l < 2; l++)
		for (size_t i = 0; search->lists[l] && i < search->lists[l]->count; i++) {
			const struct manifest *object = &search->lists[l]->items[i];
			if (in_namespace(search, object) && has_known_owner(search, object))
				interner_id(search->family,
				            arena_printf(search->arena, "%s/%s", object->kind, object->name));
		}
	return interner_count(search->family) > before;
}

static void find_self(struct search *search)
{
	for (int l = 0; l < 2; l++)
		for (size_t i = 0; search->lists[l] && i < search->lists[l]->count; i++) {
			const struct manifest *object = &search->lists[l]->items[i];
			if (!names_kind(search, object->kind) || strcmp(object->kind, "Node") == 0)
				continue;
			if (in_namespace(search, object) && strcmp(object->name, search->subject->name) == 0)
				search->self = object;
			why_consider(&search->nearest, object->namespace_[0] ? object->namespace_ : "default",
			             object->name, !in_namespace(search, object));
		}
}

/* ---- what was found ---- */

struct found {
	VEC(int) waiting, placed; /* groups */
	bool *seen;               /* by group */
	size_t pods, strangers;   /* strangers: without a group of ours */
	const struct snapshot_pod *stranger;
};

static void add_group(struct found *found, const struct snapshot *snapshot, int group)
{
	if (group < 0 || found->seen[group])
		return;
	found->seen[group] = true;
	if (snapshot->cycle.groups[group].state == GROUP_PLACED) {
		vec_push(&found->placed, group);
		return;
	}
	vec_push(&found->waiting, group);
}

static void collect(const struct search *search, const struct snapshot *snapshot, struct found *found)
{
	found->seen = arena_array(search->arena, bool, snapshot->cycle.group_count);
	for (size_t g = 0; g < snapshot->cycle.group_count; g++)
		if (!snapshot->groups[g].implicit &&
		    strcmp(snapshot->groups[g].namespace_, search->subject->namespace_) == 0 &&
		    is_known(search, "PodGroup", snapshot->groups[g].name))
			add_group(found, snapshot, (int)g);
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[i];
		if (strcmp(pod->namespace_, search->subject->namespace_) != 0 || !is_known(search, "Pod", pod->name) ||
		    pod->gone)
			continue;
		found->pods++;
		add_group(found, snapshot, pod->group);
		if (pod->group >= 0)
			continue;
		found->strangers++;
		if (!found->stranger || pod->node < 0)
			found->stranger = pod;
	}
}

/* ---- answers ---- */

/* Conditions by which controllers of workloads say that there will be no pods; those of Jobs, Deployments and ReplicaSets,
 * JobSets, and of Kubeflow's training jobs. */
static const struct {
	const char *type;
	bool completed;
} final_conditions[] = {
	{"Complete", true},       {"Completed", true}, {"Succeeded", true},
	{"FailureTarget", false}, {"Failed", false},   {"ReplicaFailure", false},
};

/* Why a workload has no pods, from its own words. */
static const char *childless(const struct manifest *self, struct arena *arena)
{
	const struct val *spec = val_get(self->object, "spec"), *item;
	int64_t replicas = 1;
	if (val_bool(val_get(spec, "suspend"), false))
		return "it is suspended (spec.suspend)";
	if (val_int(val_get(spec, "replicas"), &replicas) == 0 && replicas == 0)
		return "it asks for 0 replicas";
	if (strcmp(self->kind, "CronJob") == 0)
		return "no Job of its schedule runs now";
	for (struct val_iter it = val_iter(val_path(self->object, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);) {
		const char *type = val_str(val_get(item, "type"), ""), *message = val_str(val_get(item, "message"), "");
		if (strcmp(val_str(val_get(item, "status"), ""), "True") != 0)
			continue;
		for (size_t i = 0; i < sizeof(final_conditions) / sizeof(final_conditions[0]); i++) {
			if (strcmp(type, final_conditions[i].type) != 0)
				continue;
			return final_conditions[i].completed
			               ? "it has completed"
			               : arena_printf(arena, "%s%s%s", type, message[0] ? ": " : "", message);
		}
	}
	return "its controller has not made any";
}

static void tell_strangers(struct why *why, const struct found *found, const struct manifests *objects,
                           struct arena *arena)
{
	why_fill_outsider(why, found->stranger, objects, arena);
	why->summary =
		arena_printf(arena, "%zu of its %zu pods %s in no PodGroup; %s: %s", found->strangers, found->pods,
	                     found->strangers == 1 ? "is" : "are", found->stranger->name, why->summary);
}

static void tell_groups(struct why *why, struct found *found, struct arena *arena)
{
	const struct snapshot *snapshot = why->plan->snapshot;
	size_t count = found->waiting.count + found->placed.count;
	int *groups = arena_array(arena, int, count);
	for (size_t i = 0; i < count; i++)
		groups[i] = i < found->waiting.count ? found->waiting.items[i]
		                                     : found->placed.items[i - found->waiting.count];
	why->groups = groups;
	why->group_count = count;
	why_fill_group(why, (size_t)groups[0], arena);
	if (count == 1)
		why->summary = arena_printf(arena, "PodGroup %s: %s", snapshot->groups[groups[0]].name, why->summary);
	else if (found->waiting.count == 0)
		why->summary = arena_printf(arena, "all of its %zu PodGroups are placed", count);
	else
		why->summary = arena_printf(arena, "%zu of its %zu PodGroups %s", found->waiting.count, count,
		                            found->waiting.count == 1 ? "waits" : "wait");
}

static int tell_nothing(struct why *why, const struct search *search, struct arena *arena, struct error *error)
{
	const struct why_subject *subject = &why->subject;
	if (search->self) {
		why->state = "NoPods";
		why->settled = false;
		why->summary = arena_printf(arena, "it has no pods: %s", childless(search->self, arena));
		return 0;
	}
	if (search->nearest.name)
		return why_not_found(subject->workload, subject, &search->nearest, error);
	return error_set(error, ERROR_NOT_FOUND, "%.100s \"%.100s\" not found in namespace \"%.100s\"",
	                 subject->workload, subject->name, subject->namespace_);
}

int why_ask_workload(struct why *why, const struct manifests *objects, const struct manifests *owners,
                     struct arena *arena, struct error *error)
{
	struct search search = {.subject = &why->subject,
	                        .lists = {objects, owners},
	                        .arena = arena,
	                        .family = interner_create(),
	                        .nearest = {.wanted = why->subject.name},
	                        .row = row_of_word(why->subject.workload)};
	struct found found = {0};
	int rc = 0;
	find_self(&search);
	for (int step = 0; step < MOST_STEPS && find_children(&search); step++)
		;
	collect(&search, why->plan->snapshot, &found);
	if (found.waiting.count + found.placed.count > 0)
		tell_groups(why, &found, arena);
	else if (found.stranger)
		tell_strangers(why, &found, objects, arena);
	else
		rc = tell_nothing(why, &search, arena, error);
	interner_destroy(search.family);
	vec_free(&found.waiting);
	vec_free(&found.placed);
	return rc;
}
