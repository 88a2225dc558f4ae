/* Owns what is told about the decisions of a cycle: the conditions of pods, the status of PodGroups (scheduler_group.c)
 * and of Queues. Only what the cycle looked at is compared with the store, and only what differs is written. */
#include "schedule/scheduler_internal.h"
#include "loop/writes.h"

#include "base/clamp.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Seconds: so long pods of a gang may be expected after its last one, and after its PodGroup. */
#define GATHERS_AFTER_POD 2
#define GATHERS_AT_MOST 10

#define UNSCHEDULABLE "Unschedulable"

/* A cycle comes then, if there is no reason for one before. */
static void wait_until(struct scheduler *scheduler, int64_t due)
{
	if (due < scheduler->due)
		scheduler->due = due;
}

/* ---- pods ---- */

/* Whether the pod was told that it waits, and for that reason, in whatever words. */
static bool knows(const struct val *pod, const struct condition *condition)
{
	const struct val *item = writes_find_condition(pod, condition->type);
	return item && strcmp(val_str(val_get(item, "status"), ""), condition->status) == 0 &&
	       strcmp(val_str(val_get(item, "reason"), ""), condition->reason) == 0;
}

/* What the conditions of one pod should say. `node` is where room is reserved for it, "" for nowhere. */
static void mark_waiting(struct scheduler_turn *turn, size_t group, const struct pod_spec *spec, const char *node,
                         const char *reason, const char *message, bool tell, enum live_news news)
{
	const struct store_type *type = store_type_find(turn->store, "", "pods");
	struct store_object *pod =
		store_object_retain(type ? store_peek(turn->store, type, spec->namespace_, spec->name) : NULL);
	if (!pod) {
		turn->known = false;
		return;
	}
	if (!reason)
		reason = val_str(val_get(writes_find_condition(pod->root, "PodScheduled"), "reason"), UNSCHEDULABLE);
	struct condition condition = {"PodScheduled", "False", reason, message};
	bool same = writes_has_condition(pod->root, &condition);
	bool same_node = strcmp(val_str(val_path(pod->root, "status", "nominatedNodeName", NULL), ""), node) == 0;
	bool known = knows(pod->root, &condition);
	tell &= !known || news == LIVE_NEW_MEANING;
	if (!same_node || (!same && (!known || news != LIVE_NO_NEWS))) {
		turn->known = false;
		struct build *build = build_create();
		struct node *status = build_map(build);
		build_put(build, status, "nominatedNodeName", node[0] ? build_string(build, node) : build_null(build));
		int written = writes_pod_condition(turn->store, pod, &condition, turn->now_seconds, build, status);
		scheduler_spend(turn->scheduler, SCHEDULER_COST_WRITE);
		if (written < 0)
			scheduler_unwritten(turn, group);
		/* In the word of kube-scheduler, which people and their tools look for. */
		const char *told = strcmp(reason, UNSCHEDULABLE) == 0 ? "FailedScheduling" : reason;
		if (written > 0 && !same && tell &&
		    !events_record(turn->scheduler->events, pod, true, told, message, turn->now_seconds))
			turn->scheduler->metrics.events_left_out++;
		build_destroy(build);
	}
	store_object_release(pod);
}

/* What a group's reasons are about, without their numbers. */
static uint64_t meaning_of(const struct cycle_group *group)
{
	uint64_t meaning = hash_mix(1, (uint64_t)group->state);
	for (size_t i = 0; i < group->reasons.count; i++)
		meaning = hash_mix(meaning, (uint64_t)group->reasons.items[i].code);
	return meaning;
}

/* Whether pods are not told apart by what they wait for. */
static bool is_plain(const struct scheduler_turn *turn)
{
	return settings_now(turn->scheduler->options.settings)->plain_reasons;
}

/* What waiting pods of the group carry as reason. Autoscalers buy nodes for pods that are Unschedulable, so it is said only
 * where more nodes would help. NULL: nothing was tried, so what was said last still holds. */
static const char *pod_reason(const struct scheduler_turn *turn, const struct snapshot_group *group,
                              const struct cycle_group *decided)
{
	if (decided->state == GROUP_NOT_READY && !group->rejected)
		return "WaitingForGang";
	if (is_plain(turn))
		return UNSCHEDULABLE;
	if (group->rejected)
		return "Invalid";
	for (size_t i = 0; i < decided->reasons.count; i++)
		switch (decided->reasons.items[i].code) {
		case REASON_QUEUE_LIMIT:
		case REASON_QUEUE_QUOTA:
			return "QuotaExceeded";
		case REASON_QUEUE_UNKNOWN:
		case REASON_TOPOLOGY_UNKNOWN:
			return "Invalid";
		case REASON_UNSUPPORTED:
			return block_code_name(BLOCK_UNSUPPORTED);
		case REASON_BACKOFF:
			return NULL;
		default:
			break;
		}
	return decided->state == GROUP_BLOCKED ? "WaitingForGang" : UNSCHEDULABLE;
}

static uint64_t hash_text(const char *text)
{
	return XXH3_64bits(text, strlen(text));
}

/* 0 when one has a reservation: that may be elsewhere in the next cycle. */
static uint64_t hash_members(const struct gang *gang, uint64_t hash)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		if (gang->pods[p].state == MEMBER_RESERVED)
			return 0;
		hash = hash_mix(hash, (uint64_t)gang->pods[p].state);
	}
	return hash | 1;
}

/* All that decides which pods of the group are told that they wait, and by which word, where there is no news; what they
 * are told now stands in themselves. 0: each is to be looked at. */
static uint64_t describe_waiting(const struct scheduler_turn *turn, const struct gang *gang, const char *waits_for,
                                 bool quiet)
{
	uint64_t hash = hash_mix(quiet, is_plain(turn));
	hash = hash_mix(hash, waits_for ? hash_text(waits_for) : 0);
	return hash_members(gang, hash);
}

/* What all waiting pods of a group are told. */
struct told {
	const char *reason, *message;
	bool quiet, tell; /* tell: with an event */
	uint64_t known;   /* as describe_waiting says */
};

static void mark_member(struct scheduler_turn *turn, size_t index, size_t number, const struct told *told)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct snapshot_group *group = &snapshot->groups[index];
	const struct gang_pod *member = &snapshot->cycle.groups[index].gang.pods[number];
	const struct snapshot_pod *pod = &snapshot->pods[group->members[number]];
	/* A pod that is evicted and moved has a reservation too, but is on a node still. */
	if (pod->node >= 0 || pod->gone)
		return;
	if (member->state == MEMBER_RESERVED) {
		const char *node = cluster_node_name(snapshot->cycle.cluster, member->node);
		mark_waiting(turn, index, pod->spec, node, "Reserved",
		             arena_printf(turn->arena, "room on node %s is reserved until pods there have ended", node),
		             true, LIVE_NEW_MEANING);
	} else if (member->state == MEMBER_GATED) {
		mark_waiting(turn, index, pod->spec, "", "SchedulingGated", "the pod has scheduling gates", false,
		             turn->news);
	} else if (member->state == MEMBER_BLOCKED && pod->block->code == BLOCK_NOT_GROUPED) {
		return; /* its condition is what says so, and is taken back by whoever wrote it */
	} else if (member->state == MEMBER_BLOCKED) {
		mark_waiting(turn, index, pod->spec, "",
		             is_plain(turn) ? UNSCHEDULABLE : block_code_name(pod->block->code), pod->block->message,
		             group->implicit, turn->news);
	} else if (member->state == MEMBER_WAITING && (!told->quiet || pod->nominated)) {
		mark_waiting(turn, index, pod->spec, "", told->reason, told->message, told->tell, turn->news);
	}
}

/* But for the message. */
static struct told tell_what(const struct scheduler_turn *turn, size_t index)
{
	const struct snapshot_group *group = &turn->plan->snapshot->groups[index];
	const struct cycle_group *decided = &turn->plan->snapshot->cycle.groups[index];
	struct told told = {0};
	/* While pods of a gang still arrive the message changes with each of them: the PodGroup tells, not every pod. */
	told.tell = decided->state != GROUP_NOT_READY && !gang_root_blocked(&decided->gang);
	/* spec.markUnschedulable false: pods are not marked, the PodGroup alone says why. */
	told.quiet = !group->implicit && !group->rejected && !group->spec.mark_unschedulable;
	told.reason = told.quiet ? "Waiting" : pod_reason(turn, group, decided);
	told.known = describe_waiting(turn, &decided->gang, told.reason, told.quiet);
	return told;
}

/* Whether pods of the group may have to be told something. */
static bool begin_pods(struct scheduler_turn *turn, size_t index, const struct told *told)
{
	struct live *live = turn->scheduler->live;
	turn->news = live_news(live, (int)index, meaning_of(&turn->plan->snapshot->cycle.groups[index]),
	                       turn->now_seconds * CLOCK_SECOND);
	turn->known = true;
	return turn->news != LIVE_NO_NEWS || !told->known || live_known(live, (int)index)->pods != told->known;
}

/* False when the slice was used up before the last one. */
static bool mark_pods(struct scheduler_turn *turn, size_t index, const struct told *told)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct snapshot_group *group = &snapshot->groups[index];
	for (; turn->pod < snapshot->cycle.groups[index].gang.pod_count; turn->pod++) {
		if (turn->scheduler->left == 0)
			return false;
		scheduler_spend(turn->scheduler, SCHEDULER_COST_LOOK);
		mark_member(turn, index, turn->pod, told);
	}
	for (size_t i = 0; i < group->stray_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[group->strays[i]];
		if (pod->node < 0 && !told->quiet)
			mark_waiting(turn, index, pod->spec, "", is_plain(turn) ? UNSCHEDULABLE : PODS_NOT_GROUPED,
			             told->message, told->tell, turn->news);
	}
	live_known(turn->scheduler->live, (int)index)->pods = turn->known ? told->known : 0;
	turn->pod = 0;
	return true;
}

/* ---- queues ---- */

static bool write_queue(const struct scheduler_turn *turn, const char *name, const struct queue_told *queue)
{
	struct store_object *object = store_object_retain(live_queue(turn->scheduler->live, name));
	if (!object)
		return true;
	struct build *build = build_create();
	struct node *status = build_map(build);
	build_put(build, status, "allocated", scheduler_amounts(build, turn->arena, queue->allocated));
	build_put(build, status, "allocatedNonPreemptible",
	          scheduler_amounts(build, turn->arena, queue->allocated_protected));
	build_put(build, status, "requested", scheduler_amounts(build, turn->arena, queue->requested));
	build_put(build, status, "fairShare", scheduler_amounts(build, turn->arena, queue->fair));
	bool written = writes_patch_status(turn->store, object, build, status) >= 0;
	build_destroy(build);
	store_object_release(object);
	return written;
}

static void add_amounts(int64_t *into, const int64_t *amounts)
{
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		into[r] = clamp_add(into[r], amounts[r]);
}

/* What each queue is in all its pools, by the number of its first row. */
static struct queue_told *sum_queues(const struct cycle *cycle, struct arena *arena)
{
	struct queue_told *all = arena_array(arena, struct queue_told, cycle->queue_count);
	for (size_t q = 0; q < cycle->queue_count; q++) {
		const struct cycle_queue *queue = &cycle->queues[q];
		struct queue_told *told = &all[queue->first];
		add_amounts(told->allocated, queue->allocated);
		add_amounts(told->allocated_protected, queue->allocated_protected);
		add_amounts(told->requested, queue->requested);
		add_amounts(told->fair, queue->fair);
	}
	return all;
}

static void write_queues(const struct scheduler_turn *turn)
{
	struct scheduler *scheduler = turn->scheduler;
	const struct cycle *cycle = &turn->plan->snapshot->cycle;
	/* A state that was built anew numbers the queues anew. */
	if (scheduler->queues_of != live_rebuilds(scheduler->live)) {
		free(scheduler->queues);
		scheduler->queues = base_calloc(cycle->queue_count, sizeof(*scheduler->queues));
		scheduler->queue_count = cycle->queue_count;
		scheduler->queues_of = live_rebuilds(scheduler->live);
	}
	struct queue_told *all = sum_queues(cycle, turn->arena);
	for (size_t q = 0; q < cycle->queue_count; q++) {
		struct queue_told told = all[q];
		if (cycle->queues[q].first != (int)q)
			continue;
		told.written = scheduler->queues[q].written;
		if ((told.written && memcmp(&told, &scheduler->queues[q], sizeof(told)) == 0) ||
		    scheduler_numbers_wait(turn, told.written))
			continue;
		told.written = scheduler->last;
		if (write_queue(turn, cycle->queues[q].name, &told))
			scheduler->queues[q] = told;
		else
			scheduler->unwritten = true;
	}
}

bool scheduler_numbers_wait(const struct scheduler_turn *turn, int64_t last)
{
	struct scheduler *scheduler = turn->scheduler;
	int64_t due = last + SCHEDULER_NUMBERS_NS;
	/* A clock that was set back must not silence anybody. */
	if (!last || scheduler->last >= due || scheduler->last < last)
		return false;
	wait_until(scheduler, due);
	return true;
}

void scheduler_unwritten(const struct scheduler_turn *turn, size_t group)
{
	live_look_again(turn->scheduler->live, (int)group);
	metrics_error(&turn->scheduler->metrics, 0);
	turn->scheduler->unwritten = true;
}

/* Pods of a new gang arrive one by one. Nothing is told as long as they do: most gangs are complete and placed a moment
 * later, and every word about it would be a write per pod. */
static bool gathers(const struct scheduler_turn *turn, size_t index)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct snapshot_group *group = &snapshot->groups[index];
	const struct cycle_group *decided = &snapshot->cycle.groups[index];
	int64_t now = turn->now_seconds, newest = group->creation;
	if (decided->state != GROUP_NOT_READY || now - group->creation >= GATHERS_AT_MOST)
		return false;
	for (size_t i = 0; i < decided->gang.pod_count; i++) {
		if (decided->gang.pods[i].state == MEMBER_RUNNING)
			return false; /* it lost pods */
		int64_t created = snapshot->pods[group->members[i]].creation;
		newest = created > newest ? created : newest;
	}
	if (now < newest || now - newest >= GATHERS_AFTER_POD)
		return false;
	wait_until(turn->scheduler, (newest + GATHERS_AFTER_POD) * CLOCK_SECOND);
	live_look_later(turn->scheduler->live, (int)index);
	return true;
}

/* All that the status of a PodGroup of which nothing runs is made of but for the objects themselves. 0: it is to be looked at. */
static uint64_t describe_status(const struct scheduler_turn *turn, const struct plan_group *group)
{
	const struct cycle *cycle = &turn->plan->snapshot->cycle;
	const struct cycle_group *decided = &cycle->groups[group->index];
	if (cycle->eviction_count > 0 || decided->place_count > 0)
		return 0;
	for (size_t p = 0; p < decided->gang.pod_count; p++)
		if (decided->gang.pods[p].state == MEMBER_RUNNING)
			return 0;
	uint64_t hash = hash_mix((uint64_t)decided->state, (uint64_t)decided->proof);
	hash = hash_mix(hash, settings_now(turn->scheduler->options.settings)->placing);
	for (size_t i = 0; i < group->reason_count; i++)
		hash = hash_mix(hash_mix(hash, hash_text(group->reasons[i].code)),
		                hash_text(group->reasons[i].message));
	return hash_members(&decided->gang, hash);
}

/* False when the slice was used up before the last one of its pods. */
static bool mark_all(struct scheduler_turn *turn, const struct plan_group *group)
{
	struct scheduler *scheduler = turn->scheduler;
	size_t index = group->index;
	struct told told = tell_what(turn, index);
	uint64_t status = describe_status(turn, group), *known = &live_known(scheduler->live, (int)index)->group;
	bool pods = turn->pod > 0 || begin_pods(turn, index, &told);
	bool all = !turn->plan->snapshot->groups[index].implicit && (!status || *known != status);
	if (!pods && !all) {
		scheduler_spend(scheduler, SCHEDULER_COST_LOOK);
		return true;
	}
	told.message = plan_group_message(group, turn->arena);
	if (pods && !mark_pods(turn, index, &told))
		return false;
	if (!all)
		return true;
	scheduler_spend(scheduler, SCHEDULER_COST_WRITE);
	bool same = scheduler_mark_group(turn, group, told.message);
	*known = same && !scheduler->unwritten ? status : 0;
	return true;
}

bool scheduler_write_status(struct scheduler_turn *turn)
{
	const struct plan *plan = turn->plan;
	for (; turn->next < plan->group_count; turn->next++) {
		const struct plan_group *group = &plan->groups[plan->order[turn->next]];
		if (turn->scheduler->left == 0)
			return false;
		if (turn->pod == 0 && gathers(turn, group->index))
			continue;
		if (!mark_all(turn, group))
			return false;
	}
	write_queues(turn);
	return true;
}
