/* Owns the status of a PodGroup: phase, counts, resources and conditions. */
#include "schedule/scheduler_internal.h"
#include "schedule/volume_columns.h"
#include "kinds/names.h"
#include "loop/writes.h"

#include "base/clamp.h"
#include "base/quantity.h"

#include <string.h>

struct counts {
	int64_t pending, running, succeeded, failed;
};

static void count_pod(struct counts *counts, const struct snapshot_pod *pod)
{
	counts->pending += pod->spec->phase == POD_PENDING;
	counts->running += pod->spec->phase == POD_RUNNING && !pod->deleting;
	counts->succeeded += pod->spec->phase == POD_SUCCEEDED;
	counts->failed += pod->spec->phase == POD_FAILED;
}

/* Pods in all, and those that run for every node of the tree. */
static struct counts count_pods(const struct snapshot *snapshot, size_t index, int64_t *running)
{
	const struct snapshot_group *group = &snapshot->groups[index];
	const struct gang *gang = &snapshot->cycle.groups[index].gang;
	struct counts counts = {.pending = (int64_t)group->stray_count};
	for (size_t i = 0; i < gang->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[group->members[i]];
		count_pod(&counts, pod);
		running[gang->pods[i].leaf] += pod->spec->phase == POD_RUNNING && !pod->deleting;
	}
	for (size_t n = gang->tree_count; n-- > 1;)
		running[gang->tree[n].parent] += running[n];
	return counts;
}

/* Partial: the minimum is met, surplus waits. */
static bool is_placed(enum group_state state)
{
	return state == GROUP_PLACED || state == GROUP_PARTIAL;
}

static const char *phase_of(const struct plan_group *group, enum group_state state, const struct counts *counts)
{
	if (counts->succeeded > 0 && counts->pending + counts->running == 0)
		return counts->failed > 0 ? "Failed" : "Succeeded";
	return is_placed(state) && counts->running >= group->minimum ? "Running" : group_state_name(state);
}

struct node *scheduler_amounts(struct build *build, struct arena *arena, const int64_t amounts[CYCLE_RESOURCES])
{
	struct node *list = build_map(build);
	int64_t gpus = amounts[CYCLE_GPU];
	build_put_string(build, list, "cpu", quantity_print(arena, "cpu", amounts[CYCLE_CPU]));
	build_put_string(build, list, "memory", quantity_print(arena, "memory", amounts[CYCLE_MEMORY]));
	build_put_string(build, list, "nvidia.com/gpu",
	                 gpus % 1000 ? arena_printf(arena, "%lldm", (long long)gpus)
	                             : arena_printf(arena, "%lld", (long long)(gpus / 1000)));
	return list;
}

/* ---- resources ---- */

static bool is_shown(const char *resource)
{
	return strcmp(resource, "pods") != 0 && !text_starts_with(resource, "hostPort/") &&
	       !text_starts_with(resource, VOLUME_COLUMN);
}

static void put_amounts(struct build *build, struct arena *arena, struct node *into, const char *key,
                        const struct cluster *cluster, const int64_t *amounts)
{
	struct node *list = build_map(build);
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		const char *name = cluster_resource_name(cluster, r);
		if (amounts[r] && is_shown(name))
			build_put_string(build, list, name, quantity_print(arena, name, amounts[r]));
	}
	build_put(build, into, key, list);
}

static struct node *resources(const struct scheduler_turn *turn, size_t index, struct build *build)
{
	const struct cycle *cycle = &turn->plan->snapshot->cycle;
	const struct cycle_group *group = &cycle->groups[index];
	size_t count = (size_t)cluster_resource_count(cycle->cluster);
	int64_t *allocated = arena_array(turn->arena, int64_t, count), *kept = arena_array(turn->arena, int64_t, count),
		*requested = arena_array(turn->arena, int64_t, count);
	int64_t kept_pods = group->preempt == CYCLE_NON_PREEMPTIBLE    ? INT64_MAX
	                    : group->preempt == CYCLE_SEMI_PREEMPTIBLE ? gang_minimum_pods(&group->gang, 0)
	                                                               : 0;
	for (size_t i = 0; i < group->gang.pod_count; i++) {
		const struct gang_pod *pod = &group->gang.pods[i];
		if (pod->state == MEMBER_GONE)
			continue;
		bool running = pod->state == MEMBER_RUNNING, is_kept = running && kept_pods-- > 0;
		for (int r = 0; r < (int)count; r++) {
			int64_t amount = cluster_pod_class_request(cycle->cluster, pod->pod_class, r);
			requested[r] = clamp_add(requested[r], amount);
			allocated[r] = clamp_add(allocated[r], running ? amount : 0);
			kept[r] = clamp_add(kept[r], is_kept ? amount : 0);
		}
	}
	struct node *status = build_map(build);
	put_amounts(build, turn->arena, status, "allocated", cycle->cluster, allocated);
	put_amounts(build, turn->arena, status, "allocatedNonPreemptible", cycle->cluster, kept);
	put_amounts(build, turn->arena, status, "requested", cycle->cluster, requested);
	return status;
}

static struct node *sub_groups(const struct plan_group *group, const int64_t *running, struct build *build)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < group->sub_group_count; i++) {
		const struct plan_subgroup *part = &group->sub_groups[i];
		struct node *item = build_map(build);
		build_put_string(build, item, "name", part->name);
		build_put_int(build, item, "minimum", part->minimum);
		build_put_int(build, item, "placed", part->placed);
		build_put_int(build, item, "running", running[part->tree]);
		build_append(build, list, item);
	}
	return list;
}

/* ---- conditions ---- */

static bool has_type(const struct val *root, const char *list, const char *type)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(root, "status", list, NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0)
			return true;
	return false;
}

/* "Scheduled" is always there; "Stale" only while it is true. */
static struct node *conditions(const struct scheduler_turn *turn, const struct store_object *object,
                               const struct condition *scheduled, bool stale, struct build *build)
{
	struct condition all[] = {*scheduled,
	                          {"Stale", stale ? "True" : "False", stale ? "BelowMinimum" : "MinimumMet",
	                           stale ? "fewer pods run than the minimum; they are released when the grace period "
	                                   "is over"
	                                 : ""}};
	bool known = has_type(object->root, "conditions", "Stale");
	return writes_conditions(build, object->root, all, stale || known ? 2 : 1, turn->now_seconds);
}

/* Whether a part of the status is other than in the store. Times of conditions stay where the conditions do. */
static bool differs(const struct val *old, const struct val *now)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(now); val_next(&it, &key, &item);)
		if (!val_equal(val_get(old, key), item))
			return true;
	return false;
}

/* Pods start and arrive one by one: as long as the group is in the same state, its numbers wait for more of them. */
static bool may_write(const struct scheduler_turn *turn, size_t index, const struct store_object *object,
                      const struct val *now)
{
	struct live *live = turn->scheduler->live;
	const struct val *old = val_get(object->root, "status");
	int64_t *last = live_numbers_told(live, (int)index);
	bool same = val_equal(val_get(old, "phase"), val_get(now, "phase")) &&
	            val_equal(val_get(old, "conditions"), val_get(now, "conditions")) &&
	            !val_get(now, "schedulingConditions");
	if (same && scheduler_numbers_wait(turn, *last)) {
		live_look_later(live, (int)index);
		return false;
	}
	*last = turn->scheduler->last;
	return true;
}

/* Why a gang that has its places is not called placed. */
struct held_back {
	const char *reason,
		*message; /* of the condition; reason NULL: nothing holds it back but answers that are due */
	bool failed;
};

static void record_decision(const struct scheduler_turn *turn, const struct store_object *object, size_t index,
                            const struct held_back *held, const char *message)
{
	enum group_state state = turn->plan->snapshot->cycle.groups[index].state;
	bool refused = held->reason && held->failed;
	bool waits = refused || (!is_placed(state) && state != GROUP_NOT_READY);
	const char *reason = refused                    ? "FailedScheduling"
	                     : held->reason             ? held->reason
	                     : state == GROUP_BLOCKED   ? "Blocked"
	                     : waits                    ? "Unschedulable"
	                     : state == GROUP_NOT_READY ? "NotReady"
	                                                : "Scheduled";
	const char *text = !refused && state == GROUP_NOT_READY ? scheduler_not_ready_text(turn, index)
	                   : message[0]                         ? message
	                                                        : "every pod that is needed has a node";
	if (!events_record(turn->scheduler->events, object, waits, reason, text, turn->now_seconds))
		turn->scheduler->metrics.events_left_out++;
	log_write(turn->logger, LOG_INFO, 0, "decision", "namespace", object->namespace_, "group", object->name,
	          "state", group_state_name(state), "message", message, NULL);
}

/* The refusal of a pod of the group that has no node for it, NULL when there is none. */
static const struct refusal *refusal_in(const struct scheduler_turn *turn, size_t index)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct gang *gang = &snapshot->cycle.groups[index].gang;
	const struct refusal *found = NULL;
	for (size_t i = 0; i < gang->pod_count && turn->scheduler->refusals && !found; i++)
		if (!snapshot->groups[index].ran[i])
			found = scheduler_refused_find(turn->scheduler, gang->namespace_, gang->pods[i].name);
	return found;
}

static struct held_back held_back_by(const struct scheduler_turn *turn, const struct plan_group *group)
{
	const struct refusal *refusal = refusal_in(turn, group->index);
	bool failed;
	const char *claims =
		scheduler_claims_message(turn->scheduler, group->namespace_, group->name, turn->arena, &failed);
	if (claims)
		return (struct held_back){failed ? "ClaimsFailed" : "WaitingForClaims", claims, failed};
	if (!refusal)
		return (struct held_back){0};
	return (struct held_back){"BindingRefused",
	                          arena_printf(turn->arena, "pod %s: %s", refusal->pod, refusal->message), true};
}

/* Whether the minimum is met by pods whose bindings were accepted, not only by what is assumed. */
static bool is_accepted(const struct scheduler_turn *turn, size_t index)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct snapshot_group *group = &snapshot->groups[index];
	struct gang now = snapshot->cycle.groups[index].gang;
	bool all = true;
	for (size_t i = 0; i < now.pod_count && all; i++)
		all = now.pods[i].state != MEMBER_RUNNING ||
		      (group->ran[i] && !live_is_assumed(turn->scheduler->live, group->members[i]));
	if (all)
		return true;
	const struct gang_pod *pods = now.pods;
	now.pods = arena_array(turn->arena, struct gang_pod, now.pod_count);
	for (size_t i = 0; i < now.pod_count; i++) {
		now.pods[i] = pods[i];
		if (pods[i].state == MEMBER_RUNNING &&
		    (!group->ran[i] || live_is_assumed(turn->scheduler->live, group->members[i])))
			now.pods[i].state = MEMBER_WAITING;
	}
	return gang_root_satisfied(&now);
}

/* Whether the group would be called placed before the API has accepted that: then it is looked at again with the answers. */
static bool withhold(const struct scheduler_turn *turn, size_t index)
{
	if (!is_placed(turn->plan->snapshot->cycle.groups[index].state) || is_accepted(turn, index))
		return false;
	live_look_later(turn->scheduler->live, (int)index);
	turn->scheduler->withheld = true;
	return true;
}

/* Whoever serves the pool of the group tells about it. */
static bool serves(const struct scheduler_turn *turn, const struct store_object *object)
{
	const struct settings *settings = settings_now(turn->scheduler->options.settings);
	const struct val *labels = val_path(object->root, "metadata", "labels", NULL);
	return settings_serves_pool(settings, val_str(val_get(labels, settings_pool_label(settings)), NULL));
}

/* Whether it says so already. */
static bool write_group_status(const struct scheduler_turn *turn, const struct plan_group *group,
                               const struct store_object *object, bool assumed, const struct held_back *held,
                               const char *message)
{
	const struct cycle_group *decided = &turn->plan->snapshot->cycle.groups[group->index];
	enum group_state state = assumed ? GROUP_WAITING : decided->state;
	int64_t *running = arena_array(turn->arena, int64_t, decided->gang.tree_count);
	struct counts counts = count_pods(turn->plan->snapshot, group->index, running);
	const char *phase = phase_of(group, state, &counts);
	bool placed = is_placed(state) || strcmp(phase, "Succeeded") == 0;
	const char *reason = placed ? "Placed" : group->reason_count > 0 ? group->reasons[0].code : "Waiting";
	if (assumed) {
		reason = held->reason;
		message = held->message;
	}
	struct condition condition = {"Scheduled", placed ? "True" : "False", reason, message};
	bool stale = scheduler_is_stale(decided);
	struct build *build = build_create(), *copy = build_create();
	struct node *status = build_map(build);
	build_put_string(build, status, "phase", phase);
	if (group->proved && !assumed)
		build_put_string(build, status, "proved", group->proved);
	else if (val_path(object->root, "status", "proved", NULL))
		build_put(build, status, "proved", build_null(build));
	build_put_int(build, status, "pending", counts.pending);
	build_put_int(build, status, "running", counts.running);
	build_put_int(build, status, "succeeded", counts.succeeded);
	build_put_int(build, status, "failed", counts.failed);
	build_put(build, status, "resourcesStatus", resources(turn, group->index, build));
	if (group->sub_group_count > 0 || val_path(object->root, "status", "subGroups", NULL))
		build_put(build, status, "subGroups", sub_groups(group, running, build));
	scheduler_put_conditions(turn, group, object, placed, message, build, status);
	build_put(build, status, "conditions", conditions(turn, object, &condition, stale, build));
	struct doc *doc = build_finish(build, status);
	bool told = !differs(val_get(object->root, "status"), doc_root(doc));
	int written = !told && may_write(turn, group->index, object, doc_root(doc))
	                      ? writes_patch_status(turn->store, object, copy, build_copy(copy, doc_root(doc)))
	                      : 0;
	if (written < 0)
		scheduler_unwritten(turn, group->index);
	/* Of pods that have ended nobody waits for more. */
	bool finished = decided->state == GROUP_NOT_READY && !assumed && group->waiting == 0;
	if (written > 0 && !finished && !writes_has_condition(object->root, &condition))
		record_decision(turn, object, group->index, held, message);
	doc_destroy(doc);
	build_destroy(copy);
	build_destroy(build);
	return told;
}

bool scheduler_mark_group(const struct scheduler_turn *turn, const struct plan_group *group, const char *message)
{
	const struct store_type *type = store_type_find(turn->store, KINDS_SCHEDULING, "podgroups");
	struct store_object *object =
		store_object_retain(type ? store_peek(turn->store, type, group->namespace_, group->name) : NULL);
	bool told = false;
	if (object && serves(turn, object)) {
		scheduler_write_times(turn, group->index, object);
		if (scheduler_write_places(turn, group->index, object) < 0)
			scheduler_unwritten(turn, group->index);
		bool assumed = withhold(turn, group->index);
		struct held_back held = assumed ? held_back_by(turn, group) : (struct held_back){0};
		if (!assumed || held.reason)
			told = write_group_status(turn, group, object, assumed, &held, message) && !assumed;
	}
	store_object_release(object);
	return told;
}
