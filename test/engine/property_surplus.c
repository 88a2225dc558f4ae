/* Property test of surplus: small racks and a gang of parts that must each be in one of them, compared with all ways to give parts
 * to racks. As many pods as fit together are placed in the end, whatever the minimums are.
 *
 * PLATOON_PROPERTY_SEED is the seed of the first instance, PLATOON_PROPERTY_COUNT their number. */
#include "base/random.h"
#include "cluster_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = 500, MOST_RACKS = 4, MOST_PARTS = 6 };

struct instance {
	int racks, room[MOST_RACKS];
	int parts, pods[MOST_PARTS], minimum[MOST_PARTS], need;
	char nodes[128], tree[128], text[256];
};

static void add_text(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);
	snprintf(text + used, size - used, "%s", more);
}

static void random_instance(uint64_t seed, struct instance *instance)
{
	struct random random = {seed};
	*instance = (struct instance){.racks = random_range(&random, 2, MOST_RACKS),
	                              .parts = random_range(&random, 2, MOST_PARTS)};
	int nodes = 0;
	for (int r = 0; r < instance->racks; r++) {
		instance->room[r] = random_range(&random, 1, 9);
		for (int left = instance->room[r]; left > 0; nodes++) {
			int devices = left > 4 ? 4 : left;
			size_t used = strlen(instance->nodes);
			snprintf(instance->nodes + used, sizeof(instance->nodes) - used, "%sn%02d:%d/r%d",
			         used ? " " : "", nodes, devices, r);
			left -= devices;
		}
	}
	instance->need = random_range(&random, 1, instance->parts);
	snprintf(instance->tree, sizeof(instance->tree), "%d(", instance->need);
	for (int p = 0; p < instance->parts; p++) {
		instance->pods[p] = random_range(&random, 1, 7);
		instance->minimum[p] = random_range(&random, 0, 3);
		if (instance->minimum[p] > instance->pods[p])
			instance->minimum[p] = instance->pods[p];
		size_t used = strlen(instance->tree);
		snprintf(instance->tree + used, sizeof(instance->tree) - used, "%s%d@rack", p ? " " : "",
		         instance->minimum[p]);
		for (int i = 0; i < instance->pods[p]; i++)
			add_text(instance->text, sizeof(instance->text), i ? " -" : p ? " | -" : "-");
	}
	add_text(instance->tree, sizeof(instance->tree), ")");
}

/* Parts that are placed have their minimum; the others have nothing, and count only if their minimum is that. */
static int count_placed(const struct instance *instance, const int *rack_of)
{
	int minimum[MOST_RACKS] = {0}, pods[MOST_RACKS] = {0}, satisfied = 0, sum = 0;
	for (int p = 0; p < instance->parts; p++) {
		satisfied += rack_of[p] >= 0 || instance->minimum[p] == 0;
		if (rack_of[p] < 0)
			continue;
		minimum[rack_of[p]] += instance->minimum[p];
		pods[rack_of[p]] += instance->pods[p];
	}
	for (int r = 0; r < instance->racks; r++) {
		if (minimum[r] > instance->room[r])
			return 0;
		sum += pods[r] < instance->room[r] ? pods[r] : instance->room[r];
	}
	return satisfied >= instance->need ? sum : 0;
}

static int most_of_all(const struct instance *instance, int *rack_of, int part)
{
	int most = 0;
	if (part == instance->parts)
		return count_placed(instance, rack_of);
	for (rack_of[part] = -1; rack_of[part] < instance->racks; rack_of[part]++) {
		int placed = most_of_all(instance, rack_of, part + 1);
		most = placed > most ? placed : most;
	}
	return most;
}

static bool check(uint64_t seed)
{
	struct instance instance;
	struct cluster_fixture fixture;
	int rack_of[MOST_PARTS], placed = 0;
	random_instance(seed, &instance);
	const struct fixture_group groups[FIXTURE_GROUPS] = {
		{.name = "g", .queue = "q", .tree = instance.tree, .pods = instance.text}};
	cluster_fixture_create(&fixture, instance.nodes, NULL, groups);
	cluster_fixture_run(&fixture, "allocate", 1000);
	const struct gang *gang = &fixture.cycle.groups[0].gang;
	for (size_t p = 0; p < gang->pod_count; p++)
		placed += gang->pods[p].state == MEMBER_RUNNING;
	int most = most_of_all(&instance, rack_of, 0);
	if (placed != most)
		printf("seed %" PRIu64 ": %d placed, %d fit: nodes %s, tree %s, pods %s; after: %s\n", seed, placed,
		       most, instance.nodes, instance.tree, instance.text, cluster_fixture_pods(&fixture, 0));
	cluster_fixture_destroy(&fixture);
	return placed == most;
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
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", count - failed, failed);
	return failed > 0;
}
