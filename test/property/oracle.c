/* The exhaustive solver: pods one by one over all nodes or "not placed". It leaves a branch only when a rule that
 * cannot recover is broken, when a minimum is out of reach even if all undecided pods are counted, or when the branch
 * is a renaming of one already seen (identical pods of one leaf take nodes in ascending order). */
#include "oracle.h"

#include <string.h>

int oracle_compare(const struct instance *instance, const int *a, const int *b)
{
	for (int node = 0; node < instance->tree_count; node++)
		if (a[node] != b[node])
			return a[node] < b[node] ? -1 : 1;
	return 0;
}

void oracle_distance(const struct positions *positions, int *domains, int *hosts)
{
	const struct instance *instance = positions->instance;
	*domains = *hosts = 0;
	for (int node = 0; node < instance->node_count; node++) {
		bool used = false, counted = false;
		for (int pod = 0; pod < instance->pod_count; pod++) {
			used |= positions->node[pod] == node;
			counted |= positions->node[pod] >= 0 && positions->node[pod] < node &&
			           instance->topology_count > 0 &&
			           instance_same_domain(instance, 0, 0, positions->node[pod], node);
		}
		*hosts += used;
		*domains += used && !counted;
	}
}

static int compare_best(const struct oracle *oracle, const struct oracle_best *a, const struct oracle_best *b)
{
	int order = oracle_compare(oracle->positions.instance, a->cost, b->cost);
	if (order || oracle->goal == ORACLE_COST)
		return order;
	if (a->domains != b->domains || oracle->goal == ORACLE_DOMAINS)
		return a->domains < b->domains ? -1 : a->domains > b->domains;
	return a->hosts < b->hosts ? -1 : a->hosts > b->hosts;
}

static struct oracle_best measure(const struct oracle *oracle)
{
	struct oracle_best value = {.found = true};
	rules_preference_cost(&oracle->positions, value.cost);
	oracle_distance(&oracle->positions, &value.domains, &value.hosts);
	return value;
}

static bool has_fresh_below(const struct positions *positions, int node)
{
	for (int pod = 0; pod < positions->instance->pod_count; pod++)
		if (positions->fresh[pod] &&
		    instance_below(positions->instance, positions->instance->pods[pod].leaf, node))
			return true;
	return false;
}

/* The target and every subtree with new pods can still reach its minimum with the pods from `undecided` on. */
static bool within_reach(const struct oracle *oracle, int undecided)
{
	bool satisfied[INSTANCE_TREE];
	rules_satisfied(&oracle->positions, undecided, true, satisfied);
	if (!satisfied[oracle->target])
		return false;
	for (int node = 0; node < oracle->positions.instance->tree_count; node++)
		if (!satisfied[node] && has_fresh_below(&oracle->positions, node))
			return false;
	return true;
}

/* No parent at or below the target got more new satisfied children than its minimum asks for. */
static bool nothing_extra(const struct oracle *oracle)
{
	const struct instance *instance = oracle->positions.instance;
	struct positions before;
	bool had[INSTANCE_TREE], has[INSTANCE_TREE];
	int old[INSTANCE_TREE] = {0}, now[INSTANCE_TREE] = {0};
	positions_begin(&before, instance);
	rules_satisfied(&before, 0, false, had);
	rules_satisfied(&oracle->positions, 0, false, has);
	for (int node = 1; node < instance->tree_count; node++) {
		old[instance->tree[node].parent] += had[node];
		now[instance->tree[node].parent] += has[node];
	}
	for (int node = 0; node < instance->tree_count; node++)
		if (instance_below(instance, node, oracle->target) && now[node] > old[node] &&
		    now[node] > instance->tree[node].minimum)
			return false;
	return true;
}

/* A previous waiting pod that cannot be told apart from this one, -1 when there is none. */
static int twin_before(const struct instance *instance, int pod)
{
	for (int other = pod - 1; other >= 0; other--)
		if (instance->pods[other].state == W_WAITING &&
		    instance->pods[other].leaf == instance->pods[pod].leaf &&
		    instance->pods[other].pod_class == instance->pods[pod].pod_class)
			return other;
	return -1;
}

static bool may_place(const struct oracle *oracle, int pod)
{
	const struct instance *instance = oracle->positions.instance;
	const struct w_pod *candidate = &instance->pods[pod];
	return candidate->state == W_WAITING && instance_below(instance, candidate->leaf, oracle->target) &&
	       rules_leaf_members(&oracle->positions, candidate->leaf) < instance->tree[candidate->leaf].minimum;
}

/* Returns true to stop the whole search. */
static bool search(struct oracle *oracle, int pod)
{
	const struct instance *instance = oracle->positions.instance;
	if (++oracle->steps > oracle->limit)
		return true;
	if (!within_reach(oracle, pod))
		return false;
	if (pod == instance->pod_count) {
		if (!rules_complete(&oracle->positions) || !nothing_extra(oracle))
			return false;
		struct oracle_best value = measure(oracle);
		if (!oracle->best.found || compare_best(oracle, &value, &oracle->best) < 0)
			oracle->best = value;
		return !oracle->enumerate;
	}
	if (oracle->enumerate && oracle->best.found) {
		struct oracle_best value = measure(oracle); /* every entry only grows when pods are added */
		if (compare_best(oracle, &value, &oracle->best) >= 0)
			return false;
	}
	if (may_place(oracle, pod)) {
		int twin = twin_before(instance, pod);
		int first = twin < 0                        ? 0
		            : oracle->positions.fresh[twin] ? oracle->positions.node[twin]
		                                            : instance->node_count;
		for (int node = first; node < instance->node_count; node++) {
			if (!rules_fits(&oracle->positions, pod, node))
				continue;
			oracle->positions.node[pod] = node;
			oracle->positions.fresh[pod] = true;
			bool stop = search(oracle, pod + 1);
			oracle->positions.node[pod] = -1;
			oracle->positions.fresh[pod] = false;
			if (stop)
				return true;
		}
	}
	return search(oracle, pod + 1);
}

static enum oracle_answer run(struct oracle *oracle)
{
	search(oracle, 0);
	if (oracle->steps > oracle->limit && (oracle->enumerate || !oracle->best.found))
		return ORACLE_UNKNOWN;
	return oracle->best.found ? ORACLE_YES : ORACLE_NO;
}

enum oracle_answer oracle_solve(struct oracle *oracle, const struct instance *instance, int target, uint64_t limit)
{
	memset(oracle, 0, sizeof(*oracle));
	positions_begin(&oracle->positions, instance);
	oracle->target = target;
	oracle->limit = limit;
	return run(oracle);
}

enum oracle_answer oracle_optimum(struct oracle *oracle, const struct instance *instance, enum oracle_goal goal,
                                  uint64_t limit)
{
	memset(oracle, 0, sizeof(*oracle));
	positions_begin(&oracle->positions, instance);
	oracle->limit = limit;
	oracle->enumerate = true;
	oracle->goal = goal;
	return run(oracle);
}

static bool ancestors_satisfied(const struct instance *instance, const bool *satisfied, int node)
{
	for (int above = instance->tree[node].parent; above >= 0; above = instance->tree[above].parent)
		if (!satisfied[above])
			return false;
	return true;
}

static bool pod_fits_alone(const struct instance *instance, int pod)
{
	struct positions positions;
	positions_begin(&positions, instance);
	for (int node = 0; node < instance->node_count; node++) {
		if (!rules_fits(&positions, pod, node))
			continue;
		positions.node[pod] = node;
		positions.fresh[pod] = true;
		bool complete = rules_complete(&positions);
		positions.node[pod] = -1;
		positions.fresh[pod] = false;
		if (complete)
			return true;
	}
	return false;
}

enum oracle_answer oracle_can_grow(const struct instance *instance, uint64_t limit, int *unit)
{
	struct positions positions;
	bool satisfied[INSTANCE_TREE], unknown = false;
	positions_begin(&positions, instance);
	rules_satisfied(&positions, 0, false, satisfied);
	for (int node = 0; node < instance->tree_count; node++) {
		*unit = node;
		if (!ancestors_satisfied(instance, satisfied, node))
			continue;
		for (int pod = 0; satisfied[node] && pod < instance->pod_count; pod++)
			if (instance->pods[pod].leaf == node && instance->pods[pod].state == W_WAITING &&
			    pod_fits_alone(instance, pod))
				return ORACLE_YES;
		if (satisfied[node])
			continue;
		struct oracle oracle;
		enum oracle_answer answer = oracle_solve(&oracle, instance, node, limit);
		if (answer == ORACLE_YES)
			return ORACLE_YES;
		unknown |= answer == ORACLE_UNKNOWN;
	}
	return unknown ? ORACLE_UNKNOWN : ORACLE_NO;
}
