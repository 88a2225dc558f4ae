/* Owns what readers of KAI-Scheduler look at: status.schedulingConditions of a PodGroup, with reasons and the numbers of
 * its queue, and the text of the event for groups whose pods are missing. Our own conditions stand beside it. */
#include "schedule/scheduler_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CONDITION_TYPE "UnschedulableOnNodePool"
#define DEFAULT_POOL "default"

static const char *pool_of(const struct scheduler_turn *turn, const struct store_object *object)
{
	const char *key = settings_pool_label(settings_now(turn->scheduler->options.settings));
	const char *pool = val_str(val_get(val_path(object->root, "metadata", "labels", NULL), key), "");
	return pool[0] ? pool : DEFAULT_POOL;
}

/* ---- reasons ---- */

/* Thousandths with as many digits as they need. */
static const char *number(struct arena *arena, int64_t thousandths)
{
	char digits[32];
	int length = snprintf(digits, sizeof(digits), "%" PRId64 ".%03d", thousandths / 1000,
	                      (int)(llabs(thousandths) % 1000));
	while (length > 0 && digits[length - 1] == '0')
		length--;
	if (length > 0 && digits[length - 1] == '.')
		length--;
	return arena_strndup(arena, digits, (size_t)length);
}

static const char *amount(struct arena *arena, int resource, int64_t value)
{
	if (value < 0)
		return "Unlimited";
	return number(arena, resource == CYCLE_MEMORY ? value / 1000000 : value);
}

/* As clients of KAI know these sentences. */
static const char *limit_text(struct arena *arena, const struct cycle_queue *queue, const struct reason_quota *quota)
{
	static const char *const what[] = {[CYCLE_GPU] = "GPUs", [CYCLE_CPU] = "CPU cores", [CYCLE_MEMORY] = "memory"};
	static const char *const unit[] = {[CYCLE_GPU] = "GPUs", [CYCLE_CPU] = "cores", [CYCLE_MEMORY] = "GB"};
	int r = quota->resource;
	return arena_printf(arena,
	                    "%s quota has reached the allowable limit of %s. Limit is %s %s, currently %s %s allocated "
	                    "and workload requested %s %s",
	                    queue->name, what[r], amount(arena, r, queue->limit[r]), unit[r],
	                    amount(arena, r, quota->used), unit[r], amount(arena, r, quota->asked[r]), unit[r]);
}

static const char *quota_text(struct arena *arena, const struct cycle_queue *queue, const struct reason_quota *quota)
{
	static const char *const asked[] = {
		[CYCLE_GPU] = "GPUs", [CYCLE_CPU] = "CPU cores", [CYCLE_MEMORY] = "GB memory"};
	static const char *const unit[] = {[CYCLE_GPU] = "GPUs", [CYCLE_CPU] = "cores", [CYCLE_MEMORY] = "GB"};
	int r = quota->resource;
	return arena_printf(arena,
	                    "Non-preemptible workload is over quota. Workload requested %s %s, but %s quota is %s %s, "
	                    "while %s %s are already allocated for non-preemptible pods. Use a preemptible workload to "
	                    "go over quota.",
	                    amount(arena, r, quota->asked_protected[r]), asked[r], queue->name,
	                    amount(arena, r, queue->quota[r]), unit[r], amount(arena, r, quota->used), unit[r]);
}

static void put_amounts(struct build *build, struct arena *arena, struct node *into, const char *key,
                        const int64_t amounts[CYCLE_RESOURCES])
{
	struct node *list = scheduler_amounts(build, arena, amounts);
	if (amounts[CYCLE_GPU] < 0)
		build_put_string(build, list, "nvidia.com/gpu", "-1");
	build_put(build, into, key, list);
}

static struct node *queue_details(struct build *build, struct arena *arena, const struct cycle_queue *queue,
                                  const struct reason_quota *quota)
{
	struct node *details = build_map(build), *out = build_map(build);
	build_put_string(build, out, "name", queue->name);
	put_amounts(build, arena, out, "queueRequestedResources", queue->requested);
	put_amounts(build, arena, out, "queueDeservedResources", queue->quota);
	put_amounts(build, arena, out, "queueAllocatedResources", queue->allocated);
	put_amounts(build, arena, out, "queueAllocatedNonPreemptibleResources", queue->allocated_protected);
	put_amounts(build, arena, out, "queueResourceLimits", queue->limit);
	put_amounts(build, arena, out, "podGroupRequestedResources", quota->asked);
	put_amounts(build, arena, out, "podGroupRequestedNonPreemptibleResources", quota->asked_protected);
	build_put(build, details, "queueDetails", out);
	return details;
}

static struct node *explanation(struct build *build, const char *reason, const char *message)
{
	struct node *out = build_map(build);
	build_put_string(build, out, "reason", reason);
	build_put_string(build, out, "message", message);
	return out;
}

static struct node *explain(const struct scheduler_turn *turn, const struct reason *reason, struct build *build)
{
	const struct cycle *cycle = &turn->plan->snapshot->cycle;
	if (reason->code == REASON_QUEUE_UNKNOWN)
		return explanation(build, "QueueDoesNotExist", reason->message);
	if (!reason->quota)
		return explanation(build, "PodSchedulingErrors", reason->message ? reason->message : "");
	const struct cycle_queue *queue = &cycle->queues[reason->quota->queue];
	bool over_limit = reason->code == REASON_QUEUE_LIMIT;
	struct node *out = explanation(build, over_limit ? "OverLimit" : "NonPreemptibleOverQuota",
	                               over_limit ? limit_text(turn->arena, queue, reason->quota)
	                                          : quota_text(turn->arena, queue, reason->quota));
	build_put(build, out, "details", queue_details(build, turn->arena, queue, reason->quota));
	return out;
}

static struct node *reasons_of(const struct scheduler_turn *turn, const struct plan_group *group,
                               const struct store_object *object, struct build *build)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct snapshot_group *known = &snapshot->groups[group->index];
	const struct cycle_group *decided = &snapshot->cycle.groups[group->index];
	struct node *list = build_list(build);
	for (size_t i = 0; i < known->rejection_count; i++)
		build_append(build, list, explanation(build, "PodSchedulingErrors", known->rejections[i]));
	const struct reasons *sources[] = {&known->notes, &decided->reasons};
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < sources[s]->count; i++)
			build_append(build, list, explain(turn, &sources[s]->items[i], build));
	if (decided->evict_after > turn->now_seconds * CLOCK_SECOND) {
		char until[32];
		clock_print_rfc3339(decided->evict_after / CLOCK_SECOND, until);
		build_append(build, list,
		             explanation(build, "PreemptionDelayNotElapsed",
		                         arena_printf(turn->arena,
		                                      "Workload is within its preemption delay window (%s) and may not "
		                                      "trigger evictions before %s",
		                                      val_str(val_path(object->root, "spec", "preemptionDelay", NULL),
		                                              ""),
		                                      until)));
	}
	return list;
}

/* ---- the condition ---- */

static const struct val *last_of(const struct val *list)
{
	const struct val *item, *last = NULL;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		last = item;
	return last;
}

static bool has_text(const struct val *item, const char *key, const char *text)
{
	return strcmp(val_str(val_get(item, key), ""), text) == 0;
}

static bool is_pool(const struct val *item, const char *pool)
{
	return has_text(item, "type", CONDITION_TYPE) && has_text(item, "nodePool", pool);
}

static bool has_condition(const struct val *list)
{
	const struct val *item;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		if (has_text(item, "type", CONDITION_TYPE))
			return true;
	return false;
}

/* What is known of other pools stays; that of this pool comes last, which some readers rely on. */
static void put_condition(const struct scheduler_turn *turn, const struct plan_group *group,
                          const struct store_object *object, const char *message, struct build *build,
                          struct node *status)
{
	const struct val *old = val_path(object->root, "status", "schedulingConditions", NULL), *item;
	const struct val *last = last_of(old);
	const char *pool = pool_of(turn, object);
	if (last && is_pool(last, pool) && has_text(last, "status", "True") && has_text(last, "message", message))
		return;
	struct node *list = build_list(build), *out = build_map(build);
	for (struct val_iter it = val_iter(old); val_next(&it, NULL, &item);)
		if (!is_pool(item, pool))
			build_append(build, list, build_copy(build, item));
	char now[32];
	clock_print_rfc3339(turn->now_seconds, now);
	long id = strtol(val_str(val_get(last, "transitionID"), "0"), NULL, 10);
	build_put_string(build, out, "type", CONDITION_TYPE);
	build_put_string(build, out, "nodePool", pool);
	build_put_string(build, out, "reason", "Unschedulable");
	build_put_string(build, out, "message", message);
	build_put_string(build, out, "status", "True");
	build_put(build, out, "reasons", reasons_of(turn, group, object, build));
	build_put_string(build, out, "transitionID",
	                 arena_printf(turn->arena, "%ld", id >= 0 && id < INT32_MAX ? id + 1 : 1));
	build_put_string(build, out, "lastTransitionTime", now);
	build_append(build, list, out);
	build_put(build, status, "schedulingConditions", list);
}

void scheduler_put_conditions(const struct scheduler_turn *turn, const struct plan_group *group,
                              const struct store_object *object, bool placed, const char *message, struct build *build,
                              struct node *status)
{
	const struct cycle_group *decided = &turn->plan->snapshot->cycle.groups[group->index];
	bool marked = has_condition(val_path(object->root, "status", "schedulingConditions", NULL));
	if (placed) {
		if (marked)
			build_put(build, status, "schedulingConditions", build_null(build));
		return;
	}
	bool refused = decided->proof != PROOF_NONE || decided->state == GROUP_UNDECIDED;
	/* With schedulingBackoff 1 the condition is the mark by which later cycles know that the group had its one try,
	 * which is over when the engine refused it; waiting for pods or for a queue is no try. */
	if (decided->give_up_after_failure ? !refused && !marked
	                                   : decided->state == GROUP_NOT_READY || group->reason_count == 0)
		return;
	for (size_t i = 0; i < decided->gang.pod_count; i++)
		if (decided->gang.pods[i].state == MEMBER_RUNNING)
			return;
	if (decided->give_up_after_failure)
		message = arena_printf(turn->arena, "Node-Pool '%s': %s", pool_of(turn, object), message);
	put_condition(turn, group, object, message, build, status);
}

/* ---- the event ---- */

const char *scheduler_not_ready_text(const struct scheduler_turn *turn, size_t index)
{
	const struct gang *gang = &turn->plan->snapshot->cycle.groups[index].gang;
	int *alive = arena_array(turn->arena, int, gang->tree_count),
	    *gated = arena_array(turn->arena, int, gang->tree_count);
	for (size_t i = 0; i < gang->pod_count; i++) {
		alive[gang->pods[i].leaf] += gang->pods[i].state != MEMBER_GONE;
		gated[gang->pods[i].leaf] += gang->pods[i].state == MEMBER_GATED;
	}
	struct buffer text = {0};
	buffer_puts(&text, "Job is not ready for scheduling.");
	for (size_t n = 0; n < gang->tree_count; n++) {
		const struct gang_node *node = &gang->tree[n];
		if (node->child_count > 0 || alive[n] - gated[n] >= node->minimum)
			continue;
		buffer_printf(&text, " Waiting for %d pods", node->minimum);
		if (node->name[0])
			buffer_printf(&text, " for SubGroup %s", node->name);
		buffer_printf(&text, ", currently %d exist, %d are gated%s", alive[n], gated[n],
		              node->name[0] ? "." : "");
	}
	const char *out = arena_strdup(turn->arena, text.text);
	buffer_free(&text);
	return out;
}
