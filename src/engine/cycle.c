/* One cycle of allocation: who is next, what its queue allows, what the engine finds. */
#include "engine/cycle.h"

#include "base/quantity.h"
#include "base/strings.h"
#include "base/vec.h"

#include <string.h>

struct candidate {
	int group;
	int growth; /* units of surplus given in this cycle; -1 while below the minimum */
};

struct run {
	struct cycle *cycle;
	VEC(struct candidate) *heaps; /* per queue, best first; the last one is for groups without a queue */
};

const char *group_state_name(enum group_state state)
{
	static const char *const names[] = {"Placed", "Partial", "Pending", "Impossible", "Exhausted", "NotReady"};
	return names[state];
}

static int queue_resource(const char *name)
{
	size_t length = strlen(name);
	if (strcmp(name, "cpu") == 0)
		return CYCLE_CPU;
	if (strcmp(name, "memory") == 0)
		return CYCLE_MEMORY;
	return length > 4 && strcmp(name + length - 4, "/gpu") == 0 ? CYCLE_GPU : -1;
}

static void pod_amounts(const struct cluster *cluster, int kind, int64_t amounts[CYCLE_RESOURCES])
{
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		int which = queue_resource(cluster_resource_name(cluster, r));
		if (which >= 0)
			amounts[which] += cluster_kind_request(cluster, kind, r) * (which == CYCLE_GPU ? 1000 : 1);
	}
}

static void charge(struct cycle *cycle, int queue, const int64_t *amounts, bool is_protected)
{
	for (; queue >= 0; queue = cycle->queues[queue].parent)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			cycle->queues[queue].allocated[r] += amounts[r];
			if (is_protected)
				cycle->queues[queue].allocated_protected[r] += amounts[r];
		}
}

static bool is_member(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

/* What runs already: non-preemptible groups are protected as a whole, semi-preemptible ones up to their minimum. */
static void charge_running(struct cycle *cycle)
{
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct cycle_group *group = &cycle->groups[g];
		int64_t protected_pods = group->preempt == CYCLE_NON_PREEMPTIBLE    ? INT64_MAX
		                         : group->preempt == CYCLE_SEMI_PREEMPTIBLE ? gang_minimum_pods(&group->gang, 0)
		                                                                    : 0;
		for (size_t p = 0; p < group->gang.pod_count; p++) {
			struct gang_pod *pod = &group->gang.pods[p];
			group->was_running[p] = is_member(pod);
			if (!is_member(pod) || group->queue < 0)
				continue;
			int64_t amounts[CYCLE_RESOURCES] = {0};
			pod_amounts(cycle->cluster, pod->kind, amounts);
			charge(cycle, group->queue, amounts, protected_pods-- > 0);
		}
	}
}

/* ---- order ---- */

static bool group_before(const struct cycle *cycle, const struct candidate *a, const struct candidate *b)
{
	const struct cycle_group *left = &cycle->groups[a->group], *right = &cycle->groups[b->group];
	if (left->priority != right->priority)
		return left->priority > right->priority;
	if (a->growth != b->growth)
		return a->growth < b->growth;
	if (left->creation != right->creation)
		return left->creation < right->creation;
	return a->group < b->group;
}

static void heap_push(struct run *run, size_t heap, struct candidate candidate)
{
	struct candidate *items;
	vec_push(&run->heaps[heap], candidate);
	items = run->heaps[heap].items;
	for (size_t i = run->heaps[heap].count - 1; i > 0;) {
		size_t up = (i - 1) / 2;
		if (!group_before(run->cycle, &items[i], &items[up]))
			break;
		struct candidate swap = items[i];
		items[i] = items[up];
		items[up] = swap;
		i = up;
	}
}

static struct candidate heap_pop(struct run *run, size_t heap)
{
	struct candidate *items = run->heaps[heap].items, best = items[0];
	size_t count = --run->heaps[heap].count;
	items[0] = items[count];
	for (size_t i = 0;;) {
		size_t down = 2 * i + 1;
		if (down >= count)
			break;
		if (down + 1 < count && group_before(run->cycle, &items[down + 1], &items[down]))
			down++;
		if (!group_before(run->cycle, &items[down], &items[i]))
			break;
		struct candidate swap = items[i];
		items[i] = items[down];
		items[down] = swap;
		i = down;
	}
	return best;
}

/* Compares a/b with c/d for non-negative values; a divisor of 0 counts as an infinite share unless nothing is used. */
static int compare_share(int64_t a, int64_t b, int64_t c, int64_t d)
{
	__int128 left = (__int128)a * (d ? d : 1), right = (__int128)c * (b ? b : 1);
	if (!b != !d && (b ? c : a) > 0)
		return b ? -1 : 1;
	return (left > right) - (left < right);
}

/* The largest share of its quota that a queue uses, as a fraction. */
static void dominant_share(const struct cycle_queue *queue, const int64_t *extra, int64_t *used, int64_t *quota)
{
	*used = 0;
	*quota = 1;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t amount = queue->allocated[r] + extra[r];
		if (queue->quota[r] < 0)
			continue;
		if (compare_share(amount, queue->quota[r], *used, *quota) > 0) {
			*used = amount;
			*quota = queue->quota[r];
		}
	}
}

static bool within_quota(const struct cycle_queue *queue, const int64_t *extra)
{
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		if (queue->quota[r] >= 0 && extra[r] > 0 && queue->allocated[r] + extra[r] > queue->quota[r])
			return false;
	return true;
}

/* Amounts of the next thing the group would get: its minimum, or one pod. */
static void next_amounts(const struct cycle *cycle, const struct candidate *candidate, int64_t *amounts)
{
	const struct gang *gang = &cycle->groups[candidate->group].gang;
	int64_t pods = candidate->growth < 0 ? gang_minimum_pods(gang, 0) : 1;
	for (size_t p = 0; p < gang->pod_count && pods > 0; p++)
		if (gang->pods[p].state == MEMBER_WAITING) {
			pod_amounts(cycle->cluster, gang->pods[p].kind, amounts);
			pods--;
		}
}

/* Queue a before queue b, both siblings: inside its quota with the next group first, then priority, then the smaller
 * share with and without that group, then the order of the input. */
static bool queue_before(const struct cycle *cycle, int a, const int64_t *extra_a, int b, const int64_t *extra_b)
{
	const struct cycle_queue *left = &cycle->queues[a], *right = &cycle->queues[b];
	bool quota_a = within_quota(left, extra_a), quota_b = within_quota(right, extra_b);
	if (quota_a != quota_b)
		return quota_a;
	if (left->priority != right->priority)
		return left->priority > right->priority;
	static const int64_t nothing[CYCLE_RESOURCES] = {0};
	for (int pass = 0; pass < 2; pass++) {
		int64_t used_a, of_a, used_b, of_b;
		dominant_share(left, pass ? nothing : extra_a, &used_a, &of_a);
		dominant_share(right, pass ? nothing : extra_b, &used_b, &of_b);
		int order = compare_share(used_a, of_a, used_b, of_b);
		if (order)
			return order < 0;
	}
	return a < b;
}

static int depth_of(const struct cycle *cycle, int queue)
{
	int depth = 0;
	for (; queue >= 0; queue = cycle->queues[queue].parent)
		depth++;
	return depth;
}

static int ancestor_at(const struct cycle *cycle, int queue, int depth)
{
	for (int d = depth_of(cycle, queue); d > depth; d--)
		queue = cycle->queues[queue].parent;
	return queue;
}

/* Compares two queues at the highest level where they part. */
static bool leaf_before(const struct cycle *cycle, int a, const int64_t *extra_a, int b, const int64_t *extra_b)
{
	int depth_a = depth_of(cycle, a), depth_b = depth_of(cycle, b);
	int shallow = depth_a < depth_b ? depth_a : depth_b;
	for (int d = 1; d <= shallow; d++) {
		int up_a = ancestor_at(cycle, a, d), up_b = ancestor_at(cycle, b, d);
		if (up_a != up_b)
			return queue_before(cycle, up_a, extra_a, up_b, extra_b);
	}
	return depth_a < depth_b;
}

static int best_queue(struct run *run)
{
	struct cycle *cycle = run->cycle;
	int best = -1;
	int64_t best_extra[CYCLE_RESOURCES] = {0};
	for (size_t q = 0; q < cycle->queue_count; q++) {
		if (!run->heaps[q].count)
			continue;
		int64_t extra[CYCLE_RESOURCES] = {0};
		next_amounts(cycle, &run->heaps[q].items[0], extra);
		if (best < 0 || leaf_before(cycle, (int)q, extra, best, best_extra)) {
			best = (int)q;
			memcpy(best_extra, extra, sizeof(extra));
		}
	}
	return best;
}

/* ---- queue limits ---- */

static const char *amount_text(struct arena *arena, int resource, int64_t amount)
{
	if (resource == CYCLE_GPU)
		return amount % 1000 ? arena_printf(arena, "%lldm GPUs", (long long)amount)
		                     : arena_printf(arena, "%lld GPUs", (long long)(amount / 1000));
	return arena_printf(arena, "%s %s", quantity_print(arena, resource == CYCLE_CPU ? "cpu" : "memory", amount),
	                    resource == CYCLE_CPU ? "CPU" : "memory");
}

/* Adds a reason and returns false when the queue or an ancestor does not allow the amounts. */
static bool queue_allows(struct cycle *cycle, struct cycle_group *group, const int64_t *amounts, bool is_protected)
{
	for (int q = group->queue; q >= 0; q = cycle->queues[q].parent) {
		const struct cycle_queue *queue = &cycle->queues[q];
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			bool over_limit = queue->limit[r] >= 0 && amounts[r] > 0 && queue->allocated[r] + amounts[r] > queue->limit[r];
			bool over_quota = is_protected && queue->quota[r] >= 0 && amounts[r] > 0 &&
			                  queue->allocated_protected[r] + amounts[r] > queue->quota[r];
			if (!over_limit && !over_quota)
				continue;
			int64_t used = over_limit ? queue->allocated[r] : queue->allocated_protected[r];
			int64_t bound = over_limit ? queue->limit[r] : queue->quota[r];
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = over_limit ? REASON_QUEUE_LIMIT : REASON_QUEUE_QUOTA,
			                           .message = arena_printf(cycle->arena,
			                                                   "queue %s: %s in use and %s asked for would exceed its %s of %s",
			                                                   queue->name, amount_text(cycle->arena, r, used),
			                                                   amount_text(cycle->arena, r, amounts[r]),
			                                                   over_limit ? "limit" : "quota for non-preemptible pods",
			                                                   amount_text(cycle->arena, r, bound)),
			                           .have = bound - used,
			                           .need = amounts[r]});
			return false;
		}
	}
	return true;
}

static void placement_amounts(const struct cycle *cycle, const struct gang *gang, const struct placement *placement,
                              int64_t *amounts)
{
	for (size_t i = 0; i < placement->choice_count; i++)
		pod_amounts(cycle->cluster, gang->pods[placement->choices[i].pod].kind, amounts);
}

/* ---- placing ---- */

static enum place_outcome find_place(struct cycle *cycle, struct cycle_group *group, bool grow, struct placement *out)
{
	struct place_options options = {.budget = cycle->budget};
	enum place_outcome outcome = grow ? engine_grow(cycle->cluster, &group->gang, &options, cycle->arena, out)
	                                  : engine_place(cycle->cluster, &group->gang, &options, cycle->arena, out);
	if (outcome == PLACE_IMPOSSIBLE || outcome == PLACE_EXHAUSTED) {
		struct placement later;
		options.use_releasing = true;
		enum place_outcome second =
			grow ? engine_grow(cycle->cluster, &group->gang, &options, cycle->arena, &later)
			     : engine_place(cycle->cluster, &group->gang, &options, cycle->arena, &later);
		if (second == PLACE_PLACED) {
			*out = later;
			return second;
		}
	}
	/* A gang that waits for releasing resources starts as a whole: nothing of it is bound before. */
	for (size_t p = 0; p < group->gang.pod_count; p++)
		out->reserve |= group->gang.pods[p].state == MEMBER_RESERVED;
	return outcome;
}

static void refuse(struct cycle *cycle, struct cycle_group *group, const struct placement *placement)
{
	group->proved = placement->outcome == PLACE_IMPOSSIBLE;
	group->state = placement->outcome == PLACE_IMPOSSIBLE ? GROUP_IMPOSSIBLE
	               : placement->outcome == PLACE_EXHAUSTED ? GROUP_EXHAUSTED
	                                                       : GROUP_NOT_READY;
	engine_explain(cycle->cluster, &group->gang, placement, cycle->explain_relax, cycle->arena, &group->reasons);
}

/* One step for one group. True when it made progress and may come again. */
static bool serve(struct cycle *cycle, struct candidate *candidate)
{
	struct cycle_group *group = &cycle->groups[candidate->group];
	bool grow = candidate->growth >= 0;
	bool is_protected = group->preempt == CYCLE_NON_PREEMPTIBLE || (group->preempt == CYCLE_SEMI_PREEMPTIBLE && !grow);
	struct placement placement;
	enum place_outcome outcome = find_place(cycle, group, grow, &placement);
	if (outcome == PLACE_NOTHING && !grow) {
		candidate->growth = 0;
		return true;
	}
	if (outcome != PLACE_PLACED) {
		if (!grow)
			refuse(cycle, group, &placement);
		return false;
	}
	int64_t amounts[CYCLE_RESOURCES] = {0};
	placement_amounts(cycle, &group->gang, &placement, amounts);
	if (!queue_allows(cycle, group, amounts, is_protected)) {
		if (!grow)
			group->state = GROUP_PENDING;
		return false;
	}
	engine_commit(cycle->cluster, &group->gang, &placement);
	charge(cycle, group->queue, amounts, is_protected);
	candidate->growth++;
	return true;
}

static size_t count_waiting(const struct gang *gang)
{
	size_t waiting = 0;
	for (size_t p = 0; p < gang->pod_count; p++)
		waiting += gang->pods[p].state == MEMBER_WAITING || gang->pods[p].state == MEMBER_GATED;
	return waiting;
}

/* State of groups whose minimum is met, and a word on surplus that found no place. */
static void conclude(struct cycle *cycle, struct cycle_group *group)
{
	bool *satisfied = arena_array(cycle->arena, bool, group->gang.tree_count);
	gang_satisfied(&group->gang, NULL, satisfied);
	if (!satisfied[0])
		return;
	size_t waiting = count_waiting(&group->gang);
	group->state = waiting ? GROUP_PARTIAL : GROUP_PLACED;
	if (waiting && !group->reasons.count)
		reason_add(&group->reasons, cycle->arena,
		           (struct reason){.code = REASON_SURPLUS,
		                           .message = arena_printf(cycle->arena,
		                                                   "the minimum is met; %zu more pods wait: they are gated or "
		                                                   "found no place",
		                                                   waiting),
		                           .need = (int64_t)waiting});
}

void cycle_allocate(struct cycle *cycle)
{
	struct run run = {.cycle = cycle};
	run.heaps = base_calloc(cycle->queue_count + 1, sizeof(*run.heaps));
	charge_running(cycle);
	for (size_t g = 0; g < cycle->group_count; g++) {
		struct cycle_group *group = &cycle->groups[g];
		group->state = GROUP_PENDING;
		if (group->blocked)
			continue;
		if (group->queue < 0) {
			reason_add(&group->reasons, cycle->arena,
			           (struct reason){.code = REASON_QUEUE_UNKNOWN,
			                           .message = arena_printf(cycle->arena, "queue %s does not exist",
			                                                   group->queue_name ? group->queue_name : "")});
			continue;
		}
		heap_push(&run, (size_t)group->queue, (struct candidate){.group = (int)g, .growth = -1});
	}
	for (int q; (q = best_queue(&run)) >= 0;) {
		struct candidate candidate = heap_pop(&run, (size_t)q);
		if (serve(cycle, &candidate))
			heap_push(&run, (size_t)q, candidate);
	}
	for (size_t g = 0; g < cycle->group_count; g++)
		conclude(cycle, &cycle->groups[g]);
	for (size_t q = 0; q <= cycle->queue_count; q++)
		vec_free(&run.heaps[q]);
	free(run.heaps);
}
