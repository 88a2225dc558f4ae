/* What the engine promises about the quality of a placement, checked against the best of all placements. */
#include "objective.h"

#include "oracle.h"

#include <stdio.h>

enum { OBJECTIVE_STEPS = 2000000 };

static void print_vector(char *text, size_t size, const struct instance *instance, const int *cost)
{
	size_t used = 0;
	text[0] = '\0';
	for (int node = 0; node < instance->tree_count && used + 8 < size; node++)
		used += (size_t)snprintf(text + used, size - used, node ? ",%d" : "%d", cost[node]);
}

/* Promise: without surplus and without a choice among children the preference vector is the smallest possible. */
void objective_preferences(const struct instance *instance, const struct positions *positions, struct result *result,
                           struct tally *tally)
{
	bool wanted = false;
	for (int node = 0; node < instance->tree_count; node++)
		wanted |= instance->tree[node].preferred.topology >= 0;
	if (!wanted || !instance_is_rigid(instance) || instance_breaks_levels(instance))
		return;
	struct oracle oracle;
	if (oracle_optimum(&oracle, instance, ORACLE_COST, OBJECTIVE_STEPS) != ORACLE_YES)
		return;
	int cost[INSTANCE_TREE];
	rules_preference_cost(positions, cost);
	tally->preferences++;
	if (oracle_compare(instance, cost, oracle.best.cost) <= 0)
		return;
	char got[100], best[100];
	print_vector(got, sizeof(got), instance, cost);
	print_vector(best, sizeof(best), instance, oracle.best.cost);
	result->failure = FAILURE_PREFERENCE;
	snprintf(result->text, sizeof(result->text), "preference cost [%s], but [%s] is possible", got, best);
}

static bool distance_is_promised(const struct instance *instance)
{
	if (instance->tree_count > 1 || instance->topology_count > 1 || !instance_is_rigid(instance) ||
	    instance_has_interactions(instance) || instance_breaks_levels(instance))
		return false;
	int pod_class = instance->pods[0].pod_class;
	for (int pod = 0; pod < instance->pod_count; pod++)
		if (instance->pods[pod].pod_class != pod_class || instance->pods[pod].nominated >= 0)
			return false;
	for (int node = 0; instance->topology_count && node < instance->node_count; node++)
		if (!instance_same_domain(instance, 0, instance->topologies[0].level_count - 1, node, node))
			return false; /* a label is missing */
	return true;
}

/* Promise: one leaf of one shape uses, after its preference, the fewest outermost domains; without a topology, the fewest
 * hosts. (With one, the tightest domains come before the number of hosts.) */
void objective_distance(const struct instance *instance, const struct positions *positions, struct result *result,
                        struct tally *tally)
{
	if (!distance_is_promised(instance))
		return;
	bool with_hosts = instance->topology_count == 0;
	struct oracle oracle;
	if (oracle_optimum(&oracle, instance, with_hosts ? ORACLE_HOSTS : ORACLE_DOMAINS, OBJECTIVE_STEPS) !=
	    ORACLE_YES)
		return;
	int domains, hosts;
	oracle_distance(positions, &domains, &hosts);
	tally->distances++;
	if (domains == oracle.best.domains && (!with_hosts || hosts == oracle.best.hosts))
		return;
	result->failure = FAILURE_DISTANCE;
	snprintf(result->text, sizeof(result->text), "%d outer domains and %d hosts used, %d and %d are possible%s",
	         domains, hosts, oracle.best.domains, oracle.best.hosts, with_hosts ? "" : " (hosts are not compared)");
}
