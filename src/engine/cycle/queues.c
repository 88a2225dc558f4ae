/* Owns the accounts of queues: what pods count for, what runs, what limits and quotas allow. */
#include "base/clamp.h"
#include "base/quantity.h"
#include "engine/cycle/internal.h"
#include "engine/cluster/internal.h"
#include "engine/evict/victims.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Slices of a GPU in nvidia.com/mig-<slices>g.<memory>gb, which count as so many GPUs, as in KAI; 0 for other names, also
 * those of profiles with extras. */
static int64_t mig_slices(const char *name)
{
	static const char prefix[] = "nvidia.com/mig-";
	enum { MOST = 1000 };
	int64_t slices = 0;
	const char *at = name + sizeof(prefix) - 1;
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	for (; *at >= '0' && *at <= '9' && slices < MOST; at++)
		slices = slices * 10 + (*at - '0');
	if (strncmp(at, "g.", 2) != 0)
		return 0;
	size_t digits = strspn(at + 2, "0123456789");
	return digits && strcmp(at + 2 + digits, "gb") == 0 ? slices : 0;
}

int cycle_resource_of(const char *name, int64_t *scale)
{
	size_t length = strlen(name);
	*scale = 1;
	if (strcmp(name, "cpu") == 0)
		return CYCLE_CPU;
	if (strcmp(name, "memory") == 0)
		return CYCLE_MEMORY;
	if (text_starts_with(name, "devices/")) { /* each of them is in several columns, and in this one once */
		*scale = 1000;
		return strcmp(name, CYCLE_CLAIMED_GPUS) == 0 ? CYCLE_GPU : -1;
	}
	int64_t gpus = length > 4 && strcmp(name + length - 4, "/gpu") == 0 ? 1 : mig_slices(name);
	*scale = gpus * 1000;
	return gpus ? CYCLE_GPU : -1;
}

bool cycle_is_member(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

static void add_shape(const struct cluster *cluster, size_t pod_class, int64_t amounts[CYCLE_RESOURCES])
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++) {
		int64_t scale;
		int to = cycle_resource_of(cluster->resources.items[shape->resource[i]].name, &scale);
		if (to >= 0)
			amounts[to] = clamp_add(amounts[to], clamp_multiply(shape->amount[i], scale));
	}
}

const int64_t (*cycle_pod_class_amounts(struct cluster *cluster))[CYCLE_RESOURCES]
{
	static_assert(sizeof(cluster->pod_class_amounts.items[0].of) == sizeof(int64_t[CYCLE_RESOURCES]),
	              "one for each");
	while (cluster->pod_class_amounts.count < cluster->pod_classes.count) {
		struct pod_class_amounts amounts = {{0}};
		add_shape(cluster, cluster->pod_class_amounts.count, amounts.of);
		vec_push(&cluster->pod_class_amounts, amounts);
	}
	return (const int64_t(*)[CYCLE_RESOURCES])cluster->pod_class_amounts.items;
}

void cycle_add_pod(const struct cycle_run *run, int pod_class, int64_t amounts[CYCLE_RESOURCES])
{
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		amounts[r] = clamp_add(amounts[r], run->amounts[pod_class][r]);
}

/* ---- costs ---- */

/* The core of a semi-preemptible group, NULL for others. To be freed. */
static bool *find_core(const struct cycle_group *group)
{
	if (group->preempt != CYCLE_SEMI_PREEMPTIBLE)
		return NULL;
	bool *core = base_calloc(group->gang.pod_count, sizeof(*core));
	victims_mark_core(&group->gang, core);
	return core;
}

static void add_core(const struct cycle_run *run, const struct cycle_group *group, int64_t *amounts)
{
	bool *core = find_core(group);
	for (size_t p = 0; p < group->gang.pod_count; p++)
		if (core[p])
			cycle_add_pod(run, group->gang.pods[p].pod_class, amounts);
	free(core);
}

void cycle_cost_of_placement(const struct cycle_run *run, struct cycle_group *group, const struct placement *placement,
                             struct cycle_cost *cost)
{
	struct gang_pod *pods = group->gang.pods;
	int64_t before[CYCLE_RESOURCES] = {0};
	*cost = (struct cycle_cost){0};
	for (size_t i = 0; i < placement->choice_count; i++)
		cycle_add_pod(run, pods[placement->choices[i].pod].pod_class, cost->amounts);
	if (group->preempt == CYCLE_NON_PREEMPTIBLE)
		memcpy(cost->core, cost->amounts, sizeof(cost->core));
	if (group->preempt != CYCLE_SEMI_PREEMPTIBLE)
		return;
	add_core(run, group, before);
	for (size_t i = 0; i < placement->choice_count; i++)
		pods[placement->choices[i].pod].state = MEMBER_RESERVED;
	add_core(run, group, cost->core);
	for (size_t i = 0; i < placement->choice_count; i++)
		pods[placement->choices[i].pod].state = MEMBER_WAITING;
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		cost->core[r] -= before[r];
}

void cycle_add_coming(const struct cycle_run *run, const struct cycle_group *group, const struct placement *placement,
                      struct cycle_cost *cost)
{
	for (size_t i = 0; group->gang.starts_whole && i < placement->coming_count; i++) {
		cycle_add_pod(run, placement->coming[i].pod_class, cost->amounts);
		if (group->preempt != CYCLE_PREEMPTIBLE)
			cycle_add_pod(run, placement->coming[i].pod_class, cost->core);
	}
}

void cycle_core_of_pods(const struct cycle_run *run, struct cycle_group *group, const int *pods, int count,
                        int64_t core[CYCLE_RESOURCES])
{
	struct gang_pod *all = group->gang.pods;
	int64_t left[CYCLE_RESOURCES] = {0};
	memset(core, 0, sizeof(left));
	for (int i = 0; i < count && group->preempt == CYCLE_NON_PREEMPTIBLE; i++)
		cycle_add_pod(run, all[pods[i]].pod_class, core);
	if (group->preempt != CYCLE_SEMI_PREEMPTIBLE)
		return;
	add_core(run, group, core);
	for (int i = 0; i < count; i++)
		all[pods[i]].state = MEMBER_WAITING;
	add_core(run, group, left);
	for (int i = 0; i < count; i++)
		all[pods[i]].state = MEMBER_RESERVED;
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		core[r] -= left[r];
}

void cycle_charge(struct cycle_run *run, int queue, const struct cycle_cost *cost, int sign)
{
	for (; queue >= 0; queue = run->shares[queue].parent)
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			struct share_queue *share = &run->shares[queue];
			share->allocated[r] = clamp_add(share->allocated[r], sign * cost->amounts[r]);
			share->allocated_protected[r] = clamp_add(share->allocated_protected[r], sign * cost->core[r]);
		}
}

/* ---- accounts ---- */

static void add_amounts(int64_t *into, const int64_t *amounts, int sign)
{
	for (int r = 0; r < CYCLE_RESOURCES; r++)
		into[r] = clamp_add(into[r], sign * amounts[r]);
}

/* What the pods of the group hold and ask for. `known`: what each pod class counts for. */
static struct cycle_account account_of(const struct cycle_group *group, const int64_t (*known)[CYCLE_RESOURCES])
{
	struct cycle_account account = {0};
	bool *core = find_core(group);
	for (size_t p = 0; p < group->gang.pod_count; p++) {
		const struct gang_pod *pod = &group->gang.pods[p];
		bool member = cycle_is_member(pod);
		if (!member && (pod->state != MEMBER_WAITING || group->nowhere))
			continue;
		const int64_t *amounts = known[pod->pod_class];
		add_amounts(account.requested, amounts, 1);
		if (member)
			add_amounts(account.allocated, amounts, 1);
		if (member && (group->preempt == CYCLE_NON_PREEMPTIBLE || (core && core[p])))
			add_amounts(account.is_protected, amounts, 1);
	}
	free(core);
	return account;
}

static void book(struct cycle *cycle, const struct cycle_group *group, int sign)
{
	for (int q = group->settled_queue; q >= 0; q = cycle->queues[q].parent) {
		add_amounts(cycle->accounts[q].allocated, group->account.allocated, sign);
		add_amounts(cycle->accounts[q].is_protected, group->account.is_protected, sign);
		add_amounts(cycle->accounts[q].requested, group->account.requested, sign);
	}
}

void cycle_settle(struct cycle *cycle, int number)
{
	struct cycle_group *group = &cycle->groups[number];
	if (group->settled)
		return;
	group->settled = true;
	group->settled_queue = group->queue;
	group->account = account_of(group, cycle_pod_class_amounts(cycle->cluster));
	book(cycle, group, 1);
}

void cycle_unsettle(struct cycle *cycle, int number)
{
	struct cycle_group *group = &cycle->groups[number];
	if (!group->settled)
		return;
	group->settled = false;
	book(cycle, group, -1);
}

bool cycle_lacks_queue(struct cycle *cycle, struct cycle_group *group)
{
	if (group->blocked || group->queue >= 0)
		return false;
	struct nearest_name nearest = {.word = group->queue_name ? group->queue_name : ""};
	for (size_t q = 0; q < cycle->queue_count; q++)
		text_consider(&nearest, cycle->queues[q].name);
	reason_add(&group->reasons, cycle->arena,
	           (struct reason){.code = REASON_QUEUE_UNKNOWN,
	                           .message = arena_printf(cycle->arena, "queue %s does not exist%s%s%s", nearest.word,
	                                                   nearest.name ? "; did you mean " : "",
	                                                   nearest.name ? nearest.name : "", nearest.name ? "?" : "")});
	return true;
}

void cycle_touch(struct cycle *cycle, int number)
{
	struct cycle_group *group = &cycle->groups[number];
	if (!cycle->selective || !group->settled)
		return;
	cycle_unsettle(cycle, number);
	group->state = GROUP_WAITING;
	if (!group->blocked)
		group->reasons = (struct reasons){0};
	cycle_lacks_queue(cycle, group);
	if (cycle->work_count == cycle->work_capacity) {
		cycle->work_capacity = cycle->work_capacity ? cycle->work_capacity * 2 : 16;
		cycle->work = base_realloc_array(cycle->work, cycle->work_capacity, sizeof(*cycle->work));
	}
	cycle->work[cycle->work_count++] = number;
}

bool cycle_needs_look(const struct cycle_group *group)
{
	bool runs = false;
	if (group->place_count > 0)
		return true;
	for (size_t p = 0; p < group->gang.pod_count; p++) {
		enum member_state state = group->gang.pods[p].state;
		if (state == MEMBER_WAITING || state == MEMBER_RESERVED)
			return true;
		runs |= state == MEMBER_RUNNING;
	}
	return runs && !gang_root_satisfied(&group->gang);
}

bool cycle_has_grown(const struct cycle_group *group)
{
	int running = 0;
	if (group->gang.starts_whole) /* who comes later is made when the first are ready, which may take any time */
		return !gang_root_reachable(&group->gang);
	for (size_t p = 0; group->met > 0 && p < group->gang.pod_count; p++)
		running += group->gang.pods[p].state == MEMBER_RUNNING;
	return group->met > 0 && running >= group->met;
}

int cycle_compare(const struct cycle_group *a, const struct cycle_group *b)
{
	if (a->implicit != b->implicit)
		return a->implicit ? 1 : -1;
	int order = strcmp(a->gang.namespace_, b->gang.namespace_);
	return order ? order : strcmp(a->gang.name, b->gang.name);
}

size_t cycle_work_count(const struct cycle *cycle)
{
	return cycle->selective ? cycle->work_count : cycle->group_count;
}

int cycle_work_at(const struct cycle *cycle, size_t i)
{
	return cycle->selective ? cycle->work[i] : (int)i;
}

void cycle_totals(const struct cluster *cluster, int64_t total[CYCLE_RESOURCES])
{
	memset(total, 0, CYCLE_RESOURCES * sizeof(*total));
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		int64_t scale;
		int which = cycle_resource_of(cluster_resource_name(cluster, r), &scale);
		if (which >= 0)
			total[which] = clamp_add(total[which], clamp_multiply(cluster_total(cluster, r), scale));
	}
}

static int compare_pools(const void *left, const void *right)
{
	const struct cycle_pool *a = left, *b = right;
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

int cycle_find_pool(const struct cycle *cycle, const char *name)
{
	struct cycle_pool wanted = {.name = name};
	const struct cycle_pool *found =
		cycle->pool_count ? bsearch(&wanted, cycle->pools, cycle->pool_count, sizeof(wanted), compare_pools)
				  : NULL;
	return found ? (int)(found - cycle->pools) : -1;
}

/* By node: the number of its pool. Nodes of one pool mostly stand together. */
static int *pools_of_nodes(const struct cycle *cycle)
{
	const struct cluster *cluster = cycle->cluster;
	int *pools = arena_array(cycle->arena, int, (size_t)cluster->node_count);
	for (int n = 0; n < cluster->node_count; n++) {
		const char *name = cluster->nodes[n].pool, *before = n ? cluster->nodes[n - 1].pool : NULL;
		pools[n] = n && text_equal(name, before) ? pools[n - 1] : cycle_find_pool(cycle, name);
	}
	return pools;
}

/* What the nodes of each pool have. */
static void count_pools(struct cycle *cycle)
{
	const struct cluster *cluster = cycle->cluster;
	const int *pools = pools_of_nodes(cycle);
	for (size_t p = 0; p < cycle->pool_count; p++)
		memset(cycle->pools[p].total, 0, sizeof(cycle->pools[p].total));
	for (int r = 0; r < cluster_resource_count(cluster); r++) {
		int64_t scale;
		int which = cycle_resource_of(cluster_resource_name(cluster, r), &scale);
		for (int n = 0; which >= 0 && n < cluster->node_count; n++) {
			int64_t *total = pools[n] < 0 ? NULL : cycle->pools[pools[n]].total;
			if (total)
				total[which] = clamp_add(total[which],
				                         clamp_multiply(cluster_allocatable(cluster, r, n), scale));
		}
	}
}

const int64_t *cycle_pool_totals(struct cycle *cycle)
{
	size_t count = cycle->pool_count > 1 ? cycle->pool_count : 1;
	int64_t *totals = arena_array(cycle->arena, int64_t, count * CYCLE_RESOURCES);
	if (cycle->pool_count <= 1) {
		cycle_totals(cycle->cluster, totals);
		return totals;
	}
	if (!cycle->pools_counted)
		count_pools(cycle);
	cycle->pools_counted = true;
	for (size_t p = 0; p < count; p++)
		memcpy(totals + p * CYCLE_RESOURCES, cycle->pools[p].total, sizeof(cycle->pools[p].total));
	return totals;
}

const char *cycle_queue_text(const struct cycle_queue *queue, struct arena *arena)
{
	return queue->pool_name ? arena_printf(arena, "%s in node pool %s", queue->name, queue->pool_name)
	                        : queue->name;
}

/* What was moved is still the queue's. */
static void add_kept(const struct cycle_run *run, const struct cycle_group *group)
{
	for (size_t i = 0; i < group->place_count; i++)
		for (int q = group->queue; q >= 0 && group->places[i].state == PLACE_KEPT; q = run->shares[q].parent) {
			cycle_add_pod(run, group->places[i].pod_class, run->shares[q].allocated);
			cycle_add_pod(run, group->places[i].pod_class, run->shares[q].requested);
		}
}

void cycle_open_accounts(struct cycle_run *run)
{
	const struct cycle *cycle = run->cycle;
	run->shares = arena_array(cycle->arena, struct share_queue, cycle->queue_count);
	for (size_t q = 0; q < cycle->queue_count; q++) {
		const struct cycle_queue *from = &cycle->queues[q];
		struct share_queue *share = &run->shares[q];
		*share = (struct share_queue){.parent = from->parent,
		                              .pool = from->pool,
		                              .priority = from->priority,
		                              .creation = (int64_t)q};
		memcpy(share->quota, from->quota, sizeof(share->quota));
		memcpy(share->limit, from->limit, sizeof(share->limit));
		memcpy(share->weight, from->weight, sizeof(share->weight));
		int64_t factor = cycle->past_factor && from->has_past_factor ? from->past_factor : cycle->past_factor;
		for (int r = 0; r < CYCLE_RESOURCES && factor; r++)
			share->past[r] = from->used[r] * factor / (1000 + factor);
		if (!cycle->accounts)
			continue;
		memcpy(share->allocated, cycle->accounts[q].allocated, sizeof(share->allocated));
		memcpy(share->allocated_protected, cycle->accounts[q].is_protected, sizeof(share->allocated));
		memcpy(share->requested, cycle->accounts[q].requested, sizeof(share->requested));
	}
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		const struct cycle_group *group = &cycle->groups[cycle_work_at(cycle, i)];
		struct cycle_account account = account_of(group, run->amounts);
		for (int q = group->queue; q >= 0; q = run->shares[q].parent) {
			add_amounts(run->shares[q].allocated, account.allocated, 1);
			add_amounts(run->shares[q].allocated_protected, account.is_protected, 1);
			add_amounts(run->shares[q].requested, account.requested, 1);
		}
		add_kept(run, group);
	}
}

/* ---- what is allowed ---- */

const char *cycle_amount_text(struct arena *arena, int resource, int64_t amount)
{
	if (resource == CYCLE_GPU)
		return amount % 1000 ? arena_printf(arena, "%lldm GPUs", (long long)amount)
		                     : arena_printf(arena, "%lld GPU%s", (long long)(amount / 1000),
		                                    amount == 1000 ? "" : "s");
	return arena_printf(arena, "%s %s", quantity_print(arena, resource == CYCLE_CPU ? "cpu" : "memory", amount),
	                    resource == CYCLE_CPU ? "CPU" : "memory");
}

static void add_queue_reason(struct cycle_run *run, struct cycle_group *group, int queue, int resource, bool over_limit,
                             const struct cycle_cost *cost)
{
	_Static_assert(REASON_RESOURCES == CYCLE_RESOURCES, "reasons number resources as the cycle does");
	struct arena *arena = run->cycle->arena;
	const struct share_queue *share = &run->shares[queue];
	int64_t used = over_limit ? share->allocated[resource] : share->allocated_protected[resource];
	int64_t bound = over_limit ? share->limit[resource] : share->quota[resource];
	int64_t asked = over_limit ? cost->amounts[resource] : cost->core[resource];
	struct reason_quota *quota = arena_new(arena, struct reason_quota);
	*quota = (struct reason_quota){.queue = queue, .resource = resource, .used = used};
	memcpy(quota->asked, cost->amounts, sizeof(quota->asked));
	memcpy(quota->asked_protected, cost->core, sizeof(quota->asked_protected));
	reason_add(&group->reasons, arena,
	           (struct reason){.code = over_limit ? REASON_QUEUE_LIMIT : REASON_QUEUE_QUOTA,
	                           .message = arena_printf(
					   arena, "queue %s: %s in use and %s asked for would exceed its %s of %s",
					   cycle_queue_text(&run->cycle->queues[queue], arena),
					   cycle_amount_text(arena, resource, used),
					   cycle_amount_text(arena, resource, asked),
					   over_limit ? "limit" : "quota for non-preemptible pods",
					   cycle_amount_text(arena, resource, bound)),
	                           .have = bound - used,
	                           .need = asked,
	                           .quota = quota});
}

/* The first queue from the group's own upwards that does not allow the cost, -1 when all do. */
static int first_refusal(const struct cycle_run *run, int queue, const struct cycle_cost *cost, int *resource,
                         bool *over_limit)
{
	for (int q = queue; q >= 0; q = run->shares[q].parent) {
		const struct share_queue *share = &run->shares[q];
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			*over_limit = share->limit[r] >= 0 && cost->amounts[r] > 0 &&
			              share->allocated[r] + cost->amounts[r] > share->limit[r];
			bool over_quota = share->quota[r] >= 0 && cost->core[r] > 0 &&
			                  share->allocated_protected[r] + cost->core[r] > share->quota[r];
			*resource = r;
			if (*over_limit || over_quota)
				return q;
		}
	}
	return -1;
}

const char *cycle_find_raises(struct cycle_run *run, const struct cycle_group *group, const struct cycle_cost *cost)
{
	struct arena *arena = run->cycle->arena;
	enum { MOST_TOLD = 3 };
	const char *text = "";
	int raised = 0;
	int resource;
	bool over_limit;
	size_t bytes = run->cycle->queue_count * sizeof(*run->shares);
	struct share_queue *before = base_malloc(bytes + 1);
	memcpy(before, run->shares, bytes);
	for (int q; (q = first_refusal(run, group->queue, cost, &resource, &over_limit)) >= 0;) {
		struct share_queue *share = &run->shares[q];
		int64_t *bound = over_limit ? &share->limit[resource] : &share->quota[resource], old = *bound;
		*bound = over_limit ? share->allocated[resource] + cost->amounts[resource]
		                    : share->allocated_protected[resource] + cost->core[resource];
		if (raised++ < MOST_TOLD)
			text = arena_printf(arena, "%s%s%s %s in place of %s for queue %s", text, *text ? ", " : "",
			                    over_limit ? "limit" : "quota", cycle_amount_text(arena, resource, *bound),
			                    cycle_amount_text(arena, resource, old),
			                    cycle_queue_text(&run->cycle->queues[q], arena));
	}
	memcpy(run->shares, before, bytes);
	free(before);
	return raised > MOST_TOLD ? arena_printf(arena, "%s and %d more", text, raised - MOST_TOLD) : text;
}

bool cycle_queue_has_room(const struct cycle_run *run, int queue, const struct cycle_cost *cost)
{
	int resource;
	bool over_limit;
	return first_refusal(run, queue, cost, &resource, &over_limit) < 0;
}

bool cycle_queue_allows(struct cycle_run *run, struct cycle_group *group, const struct cycle_cost *cost)
{
	int resource;
	bool over_limit;
	int queue = first_refusal(run, group->queue, cost, &resource, &over_limit);
	if (queue >= 0)
		add_queue_reason(run, group, queue, resource, over_limit, cost);
	return queue < 0;
}

bool cycle_has_choice(const struct gang *gang)
{
	int pod_class = -1;
	for (size_t i = 0; i < gang->tree_count; i++)
		if (gang->tree[i].child_count > gang->tree[i].minimum)
			return true;
	for (size_t p = 0; p < gang->pod_count; p++) {
		if (gang->pods[p].state != MEMBER_WAITING)
			continue;
		if (pod_class >= 0 && gang->pods[p].pod_class != pod_class)
			return true;
		pod_class = gang->pods[p].pod_class;
	}
	return false;
}

bool cycle_find_allowance(const struct cycle_run *run, const struct cycle_group *group, bool is_protected,
                          struct place_allowance *allowance)
{
	if (!cycle_has_choice(&group->gang))
		return false;
	allowance->counts = (const int64_t(*)[PLACE_ALLOWANCES])run->amounts;
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		int64_t left = INT64_MAX;
		for (int q = group->queue; q >= 0; q = run->shares[q].parent) {
			const struct share_queue *share = &run->shares[q];
			if (share->limit[r] >= 0 && share->limit[r] - share->allocated[r] < left)
				left = share->limit[r] - share->allocated[r];
			if (is_protected && share->quota[r] >= 0 &&
			    share->quota[r] - share->allocated_protected[r] < left)
				left = share->quota[r] - share->allocated_protected[r];
		}
		allowance->left[r] = left < 0 ? 0 : left;
	}
	return true;
}
