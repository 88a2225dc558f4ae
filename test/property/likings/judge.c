/* Adds up what pods prefer, and tries every placement. Shares nothing with the engine. */
#include "instance.h"

static int count_selected(const struct likings_instance *instance, const int *node, int pod, int key, int app)
{
	int domain = instance->domain[node[pod]][key], found = 0;
	for (int n = 0; n < instance->nodes; n++)
		found += instance->domain[n][key] == domain ? instance->there[n][app] : 0;
	for (int p = 0; p < instance->pods; p++)
		found += p != pod && instance->kind[p] == app && instance->domain[node[p]][key] == domain;
	return found;
}

static int count_domains(const struct likings_instance *instance, int key)
{
	int count = 0;
	for (int n = 0; n < instance->nodes; n++) {
		bool first = true;
		for (int m = 0; m < n; m++)
			first &= instance->domain[m][key] != instance->domain[n][key];
		count += first;
	}
	return count;
}

/* 1 for every other one in the domain, 100 for each beyond an even share and one more. */
static int64_t against_spread(const struct likings_instance *instance, const int *node, int pod)
{
	int app = instance->kind[pod], key = instance->kinds[app].spread_key;
	if (key < 0)
		return 0;
	int all = 0, others = count_selected(instance, node, pod, key, app);
	for (int n = 0; n < instance->nodes; n++)
		all += instance->there[n][app];
	for (int p = 0; p < instance->pods; p++)
		all += instance->kind[p] == app;
	int beyond = others + 1 - (all / count_domains(instance, key) + 1);
	return others + (beyond > 0 ? 100 * beyond : 0);
}

static int64_t node_part(const struct likings_instance *instance, int kind, int node)
{
	const struct likings_kind *own = &instance->kinds[kind];
	return (own->colour_weight && own->colour == instance->colour[node] ? own->colour_weight : 0) -
	       (instance->tainted[node] ? 100 : 0);
}

static int64_t add_up(const struct likings_instance *instance, const int *node, bool once)
{
	int64_t sum = 0;
	for (int p = 0; p < instance->pods; p++) {
		const struct likings_kind *own = &instance->kinds[instance->kind[p]];
		sum += node_part(instance, instance->kind[p], node[p]);
		for (int w = 0; w < LIKINGS_WISHES; w++) {
			const struct likings_wish *wish = &own->wishes[w];
			if (!wish->weight)
				continue;
			int found = count_selected(instance, node, p, wish->key, wish->app);
			sum += wish->weight * (once ? found > 0 : found);
		}
		sum -= once ? 0 : against_spread(instance, node, p);
	}
	return sum;
}

int64_t likings_sum(const struct likings_instance *instance, const int *node)
{
	return add_up(instance, node, false);
}

int64_t likings_sum_once(const struct likings_instance *instance, const int *node)
{
	return add_up(instance, node, true);
}

static bool is_valid(const struct likings_instance *instance, const int *node)
{
	int used[LIKINGS_NODES] = {0};
	for (int p = 0; p < instance->pods; p++) {
		used[node[p]] += instance->kinds[instance->kind[p]].size;
		if (used[node[p]] > instance->capacity[node[p]])
			return false;
		if (instance->level >= 0 &&
		    instance->domain[node[p]][instance->level] != instance->domain[node[0]][instance->level])
			return false;
	}
	return true;
}

bool likings_judge(const struct likings_instance *instance, int64_t *best)
{
	int64_t placements = 1;
	bool found = false;
	for (int p = 0; p < instance->pods; p++)
		placements *= instance->nodes;
	if (placements > LIKINGS_JUDGED)
		return false;
	for (int64_t number = 0; number < placements; number++) {
		int node[LIKINGS_PODS];
		int64_t left = number;
		for (int p = 0; p < instance->pods; p++, left /= instance->nodes)
			node[p] = (int)(left % instance->nodes);
		if (!is_valid(instance, node))
			continue;
		int64_t sum = likings_sum(instance, node);
		if (!found || sum > *best)
			*best = sum;
		found = true;
	}
	return found;
}
