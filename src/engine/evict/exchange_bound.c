/* Owns what counting says of a set that is put together. */
#include "engine/evict/exchange_bound.h"

#include "base/clamp.h"
#include "engine/cluster/internal.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t request_of(const struct exchange_bound *bound, const struct loss *loss, int pod, int resource)
{
	return cluster_pod_class_request(bound->attempt->cycle->cluster,
	                                 loss->unit.of->gang.pods[loss->unit.pods[pod]].pod_class, resource);
}

static int64_t freed_by(const struct exchange_bound *bound, const struct loss *loss, int resource)
{
	int64_t sum = 0;
	for (int i = 0; i < loss->unit.pod_count; i++)
		sum = clamp_add(sum, request_of(bound, loss, i, resource));
	return sum;
}

/* ---- the beginning ---- */

static int64_t count_needed(const struct evict_attempt *attempt)
{
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	int64_t pods = attempt->grow ? 1 : gang_minimum_pods(gang, 0);
	for (size_t p = 0; !attempt->grow && p < gang->pod_count; p++)
		pods -= cycle_is_member(&gang->pods[p]);
	return pods > 0 ? pods : 1;
}

static int64_t least_request(const struct cluster *cluster, const struct gang *gang, int resource)
{
	int64_t least = INT64_MAX;
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING) {
			int64_t request = cluster_pod_class_request(cluster, gang->pods[p].pod_class, resource);
			least = request < least ? request : least;
		}
	return least == INT64_MAX ? 0 : least;
}

static void find_lack(struct exchange_bound *bound, int resource)
{
	const struct cluster *cluster = bound->attempt->cycle->cluster;
	int64_t least = least_request(cluster, &evict_beneficiary(bound->attempt)->gang, resource), free = 0;
	int64_t needed = clamp_multiply(least, bound->needed);
	for (int n = 0; n < cluster->node_count && least > 0 && free < needed; n++) {
		int64_t there = cluster_amount_in_view(cluster, resource, n, VIEW_RELEASING);
		free = clamp_add(free, there > 0 ? there : 0);
	}
	if (least <= 0 || free >= needed || bound->count == BOUND_RESOURCES)
		return;
	bound->resource[bound->count] = resource;
	bound->lack[bound->count++] = needed - free;
}

/* Leaves below the root that ask for the same are counted one by one. */
static void find_children(struct exchange_bound *bound)
{
	const struct gang *gang = &evict_beneficiary(bound->attempt)->gang;
	const struct gang_node *child = &gang->tree[1];
	if (bound->attempt->grow || gang->tree_count < 2 || gang->tree[0].required.topology >= 0 || child->minimum <= 0)
		return;
	for (size_t i = 1; i < gang->tree_count; i++)
		if (gang->tree[i].parent != 0 || gang->tree[i].child_count || gang->tree[i].minimum != child->minimum ||
		    gang->tree[i].required.topology != child->required.topology ||
		    gang->tree[i].required.level != child->required.level)
			return;
	bound->children = gang->tree[0].minimum;
	bound->child_pods = child->minimum;
	bound->child_level = child->required;
}

void exchange_bound_open(struct exchange_bound *bound, const struct evict_attempt *attempt)
{
	const struct cluster *cluster = attempt->cycle->cluster;
	const struct gang *gang = &evict_beneficiary(attempt)->gang;
	bool counts = cluster->volume_pool == NULL;
	*bound = (struct exchange_bound){.attempt = attempt, .shape = -1, .needed = count_needed(attempt)};
	for (size_t r = 0; r < cluster->resources.count; r++)
		find_lack(bound, (int)r);
	for (size_t p = 0; p < gang->pod_count; p++) {
		int shape = cluster->pod_classes.items[gang->pods[p].pod_class].shape;
		counts &= !cycle_is_member(&gang->pods[p]);
		if (gang->pods[p].state != MEMBER_WAITING)
			continue;
		counts &= bound->shape < 0 || bound->shape == shape;
		bound->shape = shape;
	}
	if (bound->shape >= 0 &&
	    (!counts || cluster->shapes.items[bound->shape].shares || cluster->shapes.items[bound->shape].one_per_node))
		bound->shape = -1;
	if (bound->shape >= 0)
		find_children(bound);
}

void exchange_bound_begin(struct exchange_bound *bound, const struct loss *const *order, size_t count)
{
	const struct cluster *cluster = bound->attempt->cycle->cluster;
	bound->slots_each = 0;
	for (int k = 0; k < bound->count; k++)
		bound->each[k] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct loss *loss = order[i];
		for (int k = 0; k < bound->count && loss->tier != LOSS_NONE; k++) {
			int64_t each = ceil_div(freed_by(bound, loss, bound->resource[k]), loss->pods);
			bound->each[k] = each > bound->each[k] ? each : bound->each[k];
		}
		const struct shape *shape = bound->shape >= 0 ? &cluster->shapes.items[bound->shape] : NULL;
		for (int p = 0; shape && p < loss->unit.pod_count; p++)
			for (int r = 0; r < shape->request_count; r++) {
				int64_t slots = shape->amount[r] > 0
				                        ? ceil_div(request_of(bound, loss, p, shape->resource[r]),
				                                   shape->amount[r])
				                        : 0;
				bound->slots_each = slots > bound->slots_each ? slots : bound->slots_each;
			}
	}
}

void exchange_bound_take(struct exchange_bound *bound, const struct loss *loss, int sign)
{
	for (int k = 0; k < bound->count && loss->tier != LOSS_NONE; k++)
		bound->gained[k] += sign * freed_by(bound, loss, bound->resource[k]);
}

/* ---- the question ---- */

/* The slots of the domains of the level, one by one. */
static const int64_t *list_slots(const struct exchange_bound *bound, struct gang_level level, int *count)
{
	struct cluster *cluster = bound->attempt->cycle->cluster;
	struct slots *slots = slots_get(cluster, bound->shape, VIEW_RELEASING);
	*count = 1;
	if (level.topology < 0)
		return &slots->total;
	slots_need_level(cluster, slots, level.topology, level.level);
	*count = cluster->topologies[level.topology].domain_count[level.level];
	return slots->sums[level.topology][level.level];
}

/* Whether one domain could have as many slots as are needed. */
static bool could_fit(const struct exchange_bound *bound, int pods, int *domains)
{
	const int64_t *slots = list_slots(bound, evict_beneficiary(bound->attempt)->gang.tree[0].required, domains);
	int64_t more = clamp_multiply(pods, bound->slots_each);
	for (int d = 0; d < *domains; d++)
		if (clamp_add(slots[d], more) >= bound->needed)
			return true;
	return false;
}

/* Whether the domains could have room for as many children. One more of them costs each domain so many pods, the first often
 * less than those that follow: the cheapest are enough for a bound. */
static bool could_fit_children(const struct exchange_bound *bound, int pods, int *domains)
{
	enum { MOST_COST = 64 };
	const int64_t *slots = list_slots(bound, bound->child_level, domains);
	int64_t fit = 0, each = bound->slots_each > 0 ? bound->slots_each : 1, left = pods;
	int64_t further = ceil_div(bound->child_pods, each), firsts[MOST_COST] = {0};
	for (int d = 0; d < *domains; d++) {
		int64_t first = ceil_div(bound->child_pods - slots[d] % bound->child_pods, each);
		fit += slots[d] / bound->child_pods;
		firsts[first < MOST_COST ? first : MOST_COST - 1]++;
	}
	for (int64_t cost = 1; cost < MOST_COST && fit < bound->children; cost++) {
		int64_t taken = bound->children - fit < firsts[cost] ? bound->children - fit : firsts[cost];
		fit += taken;
		left -= taken * cost;
	}
	if (fit < bound->children)
		left -= (bound->children - fit) * further;
	return left >= 0;
}

bool exchange_bound_is_covered(const struct exchange_bound *bound)
{
	for (int k = 0; k < bound->count; k++)
		if (bound->gained[k] < bound->lack[k])
			return false;
	return true;
}

bool exchange_bound_allows(const struct exchange_bound *bound, int pods, bool moved, int *domains)
{
	int lost = moved ? pods : pods - 1;
	*domains = 0;
	if (lost < 0)
		return false;
	for (int k = 0; k < bound->count; k++)
		if (clamp_add(bound->gained[k], clamp_multiply(lost, bound->each[k])) < bound->lack[k])
			return false;
	return bound->shape < 0 ||
	       (bound->children ? could_fit_children(bound, pods, domains) : could_fit(bound, pods, domains));
}
