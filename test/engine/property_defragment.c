/* Property test of defragmentation: small clusters, compared with a search through everything that can be moved anywhere.
 *
 * It is never worse than doing nothing, keeps to its budget of moves and to who may be moved, and where it says that nothing
 * better exists, nothing does. PLATOON_PROPERTY_SEED is the seed of the first instance, PLATOON_PROPERTY_COUNT their number. */
#include "base/random.h"
#include "cluster_fixture.h"
#include "engine/cluster/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = 500, MOST_NODES = 10, MOST_PODS = 9, DEVICES = 4 };

struct instance {
	int racks, nodes, rack_of[MOST_NODES], pods, budget;
	struct {
		int group, member, devices, node;
		bool fixed;
	} pod[MOST_PODS];
	struct fixture_group groups[FIXTURE_GROUPS];
	char node_text[256], pod_text[FIXTURE_GROUPS][64], names[FIXTURE_GROUPS][16];
};

static void random_nodes(struct random *random, struct instance *instance)
{
	instance->racks = random_range(random, 2, 5);
	size_t used = 0;
	for (int rack = 0; rack < instance->racks; rack++)
		for (int n = random_range(random, 1, instance->racks > 3 ? 2 : 3);
		     n > 0 && instance->nodes < MOST_NODES; n--) {
			int node = instance->nodes++;
			instance->rack_of[node] = rack;
			used += (size_t)snprintf(instance->node_text + used, sizeof(instance->node_text) - used,
			                         "%sn%d:%d/r%d", node ? " " : "", node, DEVICES, rack);
		}
}

static void random_group(struct random *random, struct instance *instance, int number, int *free)
{
	int devices = random_range(random, 1, 3), placed = 0, wanted = random_chance(random, 25) ? 2 : 1;
	struct fixture_group *group = &instance->groups[number];
	bool fixed = random_chance(random, 15);
	char *text = instance->pod_text[number];
	for (int tries = 0; tries < 6 && placed < wanted && instance->pods < MOST_PODS; tries++) {
		int node = random_range(random, 0, instance->nodes - 1) % MOST_NODES;
		if (free[node] < devices)
			continue;
		free[node] -= devices;
		sprintf(text + strlen(text), "%sn%d", placed ? " " : "", node);
		instance->pod[instance->pods].group = number;
		instance->pod[instance->pods].member = placed++;
		instance->pod[instance->pods].devices = devices;
		instance->pod[instance->pods].node = node;
		instance->pod[instance->pods++].fixed = fixed;
	}
	if (!placed)
		return;
	snprintf(instance->names[number], sizeof(instance->names[number]), "g%d", number);
	*group = (struct fixture_group){.name = instance->names[number],
	                                .queue = "q",
	                                .tree = "1",
	                                .pods = text,
	                                .devices = devices,
	                                .preempt = fixed ? CYCLE_NON_PREEMPTIBLE : CYCLE_PREEMPTIBLE};
}

static void random_instance(uint64_t seed, struct instance *instance)
{
	struct random random = {seed};
	int free[MOST_NODES], groups = 0;
	for (int n = 0; n < MOST_NODES; n++)
		free[n] = DEVICES;
	*instance = (struct instance){.budget = random_range(&random, 1, 4)};
	random_nodes(&random, instance);
	for (int tries = random_range(&random, 3, 12); tries > 0 && instance->pods < MOST_PODS; tries--) {
		random_group(&random, instance, groups, free);
		groups += instance->groups[groups].name != NULL;
	}
}

/* How many gangs of so many whole nodes fit into racks at once. */
static int count_places(const struct instance *instance, const int *node_of, int gang_pods)
{
	int used[MOST_NODES] = {0}, whole[MOST_NODES] = {0}, places = 0;
	for (int p = 0; p < instance->pods; p++)
		used[node_of[p]] += instance->pod[p].devices;
	for (int n = 0; n < instance->nodes; n++)
		whole[instance->rack_of[n]] += used[n] == 0;
	for (int rack = 0; rack < instance->racks; rack++)
		places += whole[rack] / gang_pods;
	return places;
}

static bool fits(const struct instance *instance, const int *node_of)
{
	int used[MOST_NODES] = {0};
	for (int p = 0; p < instance->pods; p++)
		used[node_of[p]] += instance->pod[p].devices;
	for (int n = 0; n < instance->nodes; n++)
		if (used[n] > DEVICES)
			return false;
	return true;
}

/* The most places of all ways to move at most so many pods, from pod number `at` on. */
static int best_of_all(const struct instance *instance, int *node_of, int at, int moves, int gang_pods)
{
	if (at == instance->pods)
		return fits(instance, node_of) ? count_places(instance, node_of, gang_pods) : 0;
	int old = node_of[at], best = best_of_all(instance, node_of, at + 1, moves, gang_pods);
	for (int n = 0; n < instance->nodes && moves > 0 && !instance->pod[at].fixed; n++) {
		if (n == old)
			continue;
		node_of[at] = n;
		int places = best_of_all(instance, node_of, at + 1, moves - 1, gang_pods);
		best = places > best ? places : best;
	}
	node_of[at] = old;
	return best;
}

/* ---- checking ---- */

static int tally_best, tally_proved, tally_worse;

static bool report_failure(const struct instance *instance, uint64_t seed, const char *what)
{
	printf("seed %" PRIu64 ": %s\n  nodes %s, %d moves\n", seed, what, instance->node_text, instance->budget);
	for (int g = 0; g < FIXTURE_GROUPS && instance->groups[g].name; g++)
		printf("  %s: %s, %d devices each%s\n", instance->groups[g].name, instance->groups[g].pods,
		       instance->groups[g].devices,
		       instance->groups[g].preempt == CYCLE_NON_PREEMPTIBLE ? ", not preemptible" : "");
	return false;
}

/* Where everybody is afterwards; how many are elsewhere, -1 when somebody is nowhere. */
static int read_nodes(const struct instance *instance, const struct cluster_fixture *fixture, int *node_of)
{
	int moved = 0;
	for (int p = 0; p < instance->pods; p++) {
		const struct gang *gang = &fixture->cycle.groups[instance->pod[p].group].gang;
		const struct gang_pod *pod = &gang->pods[instance->pod[p].member];
		if (pod->state != MEMBER_RUNNING && pod->state != MEMBER_RESERVED)
			return -1;
		int number = (int)strtol(cluster_node_name(fixture->cycle.cluster, pod->node) + 1, NULL, 10);
		if (number != instance->pod[p].node && instance->pod[p].fixed)
			return -1;
		moved += number != instance->pod[p].node;
		node_of[p] = number;
	}
	return moved;
}

static bool judge(const struct instance *instance, const struct cluster_fixture *fixture, uint64_t seed)
{
	const struct cycle_defragment *report = &fixture->cycle.defragment;
	int before[MOST_PODS], after[MOST_PODS];
	for (int p = 0; p < instance->pods; p++)
		before[p] = instance->pod[p].node;
	int moved = read_nodes(instance, fixture, after);
	if (!report->ran || !report->level || report->devices != DEVICES)
		return report_failure(instance, seed, "it did not run");
	if (moved < 0 || !fits(instance, after))
		return report_failure(instance, seed, "somebody has no place, or must not move");
	if (moved != report->moves || moved > instance->budget || (size_t)moved != fixture->cycle.eviction_count)
		return report_failure(instance, seed, "the number of moves is not what it says, or too large");
	if (report->before != count_places(instance, before, report->pods))
		return report_failure(instance, seed, "another number of places before");
	int places = count_places(instance, after, report->pods);
	if (places != report->before + report->gained || report->gained < 0 || (moved > 0 && !report->gained))
		return report_failure(instance, seed, "another number of places afterwards, or moves for nothing");
	int best = best_of_all(instance, before, 0, instance->budget, report->pods);
	tally_best += places == best;
	tally_worse += places < best;
	tally_proved += report->proved;
	if (report->proved && places < best)
		return report_failure(instance, seed, "it says that nothing better exists, and something does");
	return true;
}

static bool check(uint64_t seed)
{
	struct instance instance;
	struct cluster_fixture fixture;
	random_instance(seed, &instance);
	cluster_fixture_create(&fixture, instance.node_text, NULL, instance.groups);
	fixture.cycle.defragment = (struct cycle_defragment){.most_moves = instance.budget};
	cluster_fixture_run(&fixture, "defragment", 1000);
	bool good = judge(&instance, &fixture, seed);
	cluster_fixture_destroy(&fixture);
	return good;
}

static uint64_t environment_number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : fallback;
}

int main(void)
{
	uint64_t seed = environment_number("PLATOON_PROPERTY_SEED", 1);
	uint64_t count = environment_number("PLATOON_PROPERTY_COUNT", DEFAULT_COUNT), failed = 0;
	for (uint64_t i = 0; i < count; i++)
		failed += !check(seed + i);
	printf("%" PRIu64 " passed, %" PRIu64 " failed; best %d, proved %d, better exists %d\n", count - failed, failed,
	       tally_best, tally_proved, tally_worse);
	/* Rarely less than the best, and mostly it knows. */
	return failed || tally_worse * 50 > (int)count || tally_proved * 2 < (int)count ? 1 : 0;
}
