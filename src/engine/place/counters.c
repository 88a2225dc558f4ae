/* Owns the counters of a decision: sums per domain that demand is counted against. */
#include "engine/place/solver.h"

#include "base/clamp.h"

static void add_allowances(struct solver *solver)
{
	for (int a = 0; solver->allowance && a < PLACE_ALLOWANCES; a++) {
		if (solver->allowance->left[a] == INT64_MAX)
			continue;
		struct counter *counter = &solver->counters[solver->counter_count++];
		int64_t *per_pod = arena_array(solver->arena, int64_t, (size_t)solver->shape_count);
		for (int s = 0; s < solver->shape_count; s++)
			per_pod[s] = solver->allowance->counts[solver->shapes[s].pod_class][a];
		counter->resource = COUNTER_ALLOWANCE;
		counter->per_pod = per_pod;
		counter->total = arena_new(solver->arena, int64_t);
		*counter->total = solver->allowance->left[a];
	}
}

/* Nodes with a slot of some shape; what others have is of no use to the gang. */
static int *list_usable(const struct solver *solver, int *count)
{
	int *list = arena_alloc_raw(solver->arena, (size_t)solver->cluster->node_count * sizeof(*list));
	*count = 0;
	for (int n = 0; n < solver->cluster->node_count; n++) {
		bool usable = false;
		for (int s = 0; s < solver->shape_count && !usable; s++)
			usable = solver->shapes[s].slots->node[n] > 0;
		if (usable)
			list[(*count)++] = n;
	}
	return list;
}

/* Each node counts in the smallest domain it is in, and domains in those above them: that is quicker than every node at
 * every level. */
static void sum_resource(const struct solver *solver, struct counter *counter, const int *usable, int count)
{
	for (int i = 0; i < count; i++) {
		int64_t amount = cluster_amount_in_view(solver->cluster, counter->resource, usable[i], solver->view);
		if (amount <= 0)
			continue;
		*counter->total = clamp_add(*counter->total, amount);
		for (int t = 0; t < solver->topology_count; t++) {
			const struct topology *topology = solver_topology(solver, t);
			int level = topology->level_count - 1;
			while (level >= 0 && topology->node_domain[level][usable[i]] < 0)
				level--;
			int64_t *sum =
				level < 0 ? NULL : &counter->sums[t][level][topology->node_domain[level][usable[i]]];
			if (sum)
				*sum = clamp_add(*sum, amount);
		}
	}
	for (int t = 0; t < solver->topology_count; t++) {
		const struct topology *topology = solver_topology(solver, t);
		for (int level = topology->level_count - 1; level > 0; level--)
			for (int d = 0; d < topology->domain_count[level]; d++) {
				int64_t *above = &counter->sums[t][level - 1][topology->domains[level][d].parent];
				*above = clamp_add(*above, counter->sums[t][level][d]);
			}
	}
}

/* Counters: slots of every local shape; amounts of every resource when several shapes compete for them. */
void counters_build(struct solver *solver)
{
	struct cluster *cluster = solver->cluster;
	int resources = solver->shape_count > 1 ? (int)cluster->resources.count : 0;
	solver->counters = arena_array(solver->arena, struct counter,
	                               (size_t)(solver->shape_count + resources + PLACE_ALLOWANCES));
	solver->counter_count = solver->shape_count;
	for (int s = 0; s < solver->shape_count; s++) {
		struct counter *counter = &solver->counters[s];
		counter->resource = COUNTER_SLOTS;
		counter->total = &solver->shapes[s].slots->total;
		for (int t = 0; t < solver->topology_count; t++)
			counter->sums[t] = solver->shapes[s].slots->sums[solver->topologies[t]];
	}
	int usable_count = 0;
	const int *usable = resources ? list_usable(solver, &usable_count) : NULL;
	for (int r = 0; r < resources; r++) {
		bool asked = false;
		for (int s = 0; s < solver->shape_count; s++)
			asked |= cluster_pod_class_request(cluster, solver->shapes[s].pod_class, r) > 0;
		if (!asked)
			continue;
		struct counter *counter = &solver->counters[solver->counter_count++];
		counter->resource = r;
		counter->total = arena_new(solver->arena, int64_t);
		for (int t = 0; t < solver->topology_count; t++) {
			const struct topology *topology = solver_topology(solver, t);
			counter->sums[t] = arena_array(solver->arena, int64_t *, (size_t)topology->level_count);
			for (int l = 0; l < topology->level_count; l++)
				counter->sums[t][l] =
					arena_array(solver->arena, int64_t, (size_t)topology->domain_count[l]);
		}
		sum_resource(solver, counter, usable, usable_count);
	}
	add_allowances(solver);
}

int64_t counters_per_pod(const struct solver *solver, int counter, int shape)
{
	const struct counter *c = &solver->counters[counter];
	return c->resource == COUNTER_SLOTS ? counter == shape
	       : c->resource == COUNTER_ALLOWANCE
	               ? c->per_pod[shape]
	               : cluster_pod_class_request(solver->cluster, solver->shapes[shape].pod_class, c->resource);
}
