/* Tries every set of pods to lose and to move, and every new place. Shares nothing with the engine. */
#include "instance.h"

#include <string.h>

static bool together(const struct victims_instance *instance, int a, int b)
{
	return instance->level == VICTIMS_ANYWHERE ||
	       (instance->level == VICTIMS_RACK ? instance->rack[a] == instance->rack[b] : a == b);
}

static bool fits(const struct victims_instance *instance, const int *free)
{
	int children = 0;
	for (int n = 0; n < instance->nodes; n++) {
		bool first = true;
		int slots = 0;
		for (int m = 0; m < n && first; m++)
			first = !together(instance, m, n);
		for (int m = n; m < instance->nodes && first; m++)
			slots += together(instance, n, m) ? free[m] / instance->size : 0;
		children += slots / instance->pods;
	}
	return children >= instance->children;
}

struct trial {
	const struct victims_instance *instance;
	int free[VICTIMS_NODES];
	const struct victims_gang *gang[VICTIMS_PODS]; /* by pod, numbered as they are listed */
	int at[VICTIMS_PODS];                          /* -1: lost, or off its node */
	int pods;
};

static bool may_stand(const struct trial *trial, int pod, int node)
{
	const struct victims_gang *gang = trial->gang[pod];
	for (int other = 0; other < trial->pods && gang->together; other++)
		if (trial->gang[other] == gang && trial->at[other] >= 0 &&
		    trial->instance->rack[trial->at[other]] != trial->instance->rack[node])
			return false;
	return trial->free[node] >= gang->size;
}

/* With a new place for each pod that moves. */
static bool fits_moved(struct trial *trial, unsigned moved)
{
	if (!fits(trial->instance, trial->free))
		return false;
	int pod = 0;
	if (!moved)
		return true;
	while (!(moved >> pod & 1))
		pod++;
	bool fine = false;
	for (int n = 0; n < trial->instance->nodes && !fine; n++) {
		if (!may_stand(trial, pod, n))
			continue;
		trial->free[n] -= trial->gang[pod]->size;
		trial->at[pod] = n;
		fine = fits_moved(trial, moved & ~(1u << pod));
		trial->free[n] += trial->gang[pod]->size;
		trial->at[pod] = -1;
	}
	return fine;
}

/* With these lost, and these on other nodes. */
static bool fits_with(const struct victims_instance *instance, unsigned lost, unsigned moved)
{
	struct trial trial = {.instance = instance};
	memcpy(trial.free, instance->capacity, sizeof(trial.free));
	for (int g = 0; g < instance->gang_count; g++) {
		const struct victims_gang *gang = &instance->gangs[g];
		for (int c = 0; c < gang->children; c++)
			for (int p = 0; p < gang->count[c]; p++, trial.pods++) {
				bool off = (lost | moved) >> trial.pods & 1;
				trial.free[gang->node[c][p]] -= off ? 0 : gang->size;
				trial.gang[trial.pods] = gang;
				trial.at[trial.pods] = off ? -1 : gang->node[c][p];
			}
	}
	return fits_moved(&trial, moved);
}

bool victims_fit(const struct victims_instance *instance)
{
	return fits_with(instance, 0, 0);
}

int victims_compare_costs(const struct victims_cost *a, const struct victims_cost *b)
{
	return a->violations != b->violations ? a->violations - b->violations
	       : a->extent != b->extent       ? a->extent - b->extent
	       : a->priority != b->priority   ? a->priority - b->priority
	                                      : a->pods - b->pods;
}

static void blame(struct victims_cost *cost, int extent, int priority)
{
	if (extent > cost->extent || (extent == cost->extent && priority > cost->priority)) {
		cost->extent = extent;
		cost->priority = priority;
	}
}

/* With so many pods of each child gone. */
static bool add_gang(const struct victims_gang *gang, const int *gone, struct victims_cost *cost)
{
	int lost = 0, all = 0, good = 0, broken = 0, children_lost = 0;
	for (int c = 0; c < gang->children; c++) {
		lost += gone[c];
		all += gang->count[c];
		bool keeps = gang->count[c] - gone[c] >= gang->minimum[c];
		good += keeps;
		children_lost += !keeps;
		broken += !keeps && gone[c] < gang->count[c];
	}
	if (!lost)
		return true;
	if (gang->flat ? children_lost > 0 : good < gang->needs) {
		if (lost < all)
			return false;
		blame(cost, 2, gang->priority);
	} else if (broken) {
		return false;
	} else {
		blame(cost, children_lost ? 1 : 0, gang->priority);
	}
	cost->pods += lost;
	return true;
}

/* The last of a queue to go is the most expensive: whole gangs after pods above the minimum, then by priority, then the oldest.
 * What it frees. */
static int last_unit(const struct victims_instance *instance, const int *gone, int queue)
{
	int extent = -1, priority = -1, size = 0;
	for (int g = 0; g < instance->gang_count; g++) {
		const struct victims_gang *gang = &instance->gangs[g];
		bool whole = gone[g] > gang->count[0] - gang->minimum[0];
		if (gang->queue != queue || !gone[g] || whole < extent ||
		    (whole == extent && gang->priority <= priority))
			continue;
		extent = whole;
		priority = gang->priority;
		size = gang->size * (whole ? gang->minimum[0] : 1);
	}
	return size;
}

/* Each unit goes while its queue still has more than it is entitled to. */
static bool shares_allow(const struct victims_instance *instance, const int *gone, struct victims_cost *cost)
{
	for (int q = 1; q < VICTIMS_QUEUES && instance->reclaim; q++) {
		int held = 0, freed = 0;
		for (int g = 0; g < instance->gang_count; g++) {
			const struct victims_gang *gang = &instance->gangs[g];
			if (gang->queue != q)
				continue;
			for (int c = 0; c < gang->children; c++)
				held += gang->count[c] * gang->size;
			freed += gone[g] * gang->size;
		}
		if (!freed || !instance->quota[q])
			continue;
		if (held - freed + last_unit(instance, gone, q) <= instance->quota[q])
			return false;
		cost->undercuts |= held - freed < instance->quota[q];
	}
	return true;
}

bool victims_cost_of(const struct victims_instance *instance, unsigned lost, unsigned moved, struct victims_cost *cost)
{
	int left[VICTIMS_BUDGETS] = {0}, gone_of[VICTIMS_GANGS] = {0}, bit = 0;
	*cost = (struct victims_cost){.extent = -1};
	for (int g = 0; g < instance->gang_count; g++) {
		const struct victims_gang *gang = &instance->gangs[g];
		int gone[VICTIMS_CHILDREN] = {0}, elsewhere = 0;
		for (int c = 0; c < gang->children; c++)
			for (int p = 0; p < gang->count[c]; p++, bit++) {
				gone[c] += lost >> bit & 1 ? 1 : 0;
				elsewhere += moved >> bit & 1 ? 1 : 0;
			}
		if (!add_gang(gang, gone, cost))
			return false;
		if (gang->stays && (elsewhere || gone[0] || gone[1] || gone[2]))
			return false;
		cost->pods += elsewhere;
		if (gang->app >= 0)
			left[gang->app] += elsewhere;
		for (int c = 0; c < gang->children; c++) {
			gone_of[g] += gone[c];
			if (gang->app >= 0)
				left[gang->app] += gone[c];
		}
	}
	for (int b = 0; b < VICTIMS_BUDGETS; b++)
		if (instance->allowed[b] >= 0 && left[b] > instance->allowed[b])
			cost->violations += left[b] - instance->allowed[b];
	return shares_allow(instance, gone_of, cost);
}

static bool is_better(const struct victims_cost *cost, const struct victims_cost *best)
{
	struct victims_cost even = *cost;
	even.pods = best->pods;
	int order = victims_compare_costs(&even, best);
	return order ? order < 0 : cost->undercuts != best->undercuts ? best->undercuts : cost->pods < best->pods;
}

bool victims_judge(const struct victims_instance *instance, struct victims_cost *best)
{
	int pods = 0;
	bool found = false;
	struct victims_cost cost;
	for (int g = 0; g < instance->gang_count; g++)
		for (int c = 0; c < instance->gangs[g].children; c++)
			pods += instance->gangs[g].count[c];
	for (unsigned moved = 0; moved < 1u << pods; moved++) {
		if (__builtin_popcount(moved) > VICTIMS_MOVES)
			continue;
		for (unsigned lost = 0; lost < 1u << pods; lost++) {
			if ((lost & moved) || !victims_cost_of(instance, lost, moved, &cost) ||
			    (instance->reclaim && cost.violations) || (found && !is_better(&cost, best)) ||
			    !fits_with(instance, lost, moved))
				continue;
			*best = cost;
			found = true;
		}
	}
	return found;
}
