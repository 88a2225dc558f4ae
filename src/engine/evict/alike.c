/* Owns signatures of nodes and domains by what stands there. */
#include "engine/evict/alike.h"

#include "engine/cluster/internal.h"
#include "engine/place/rules.h"

struct alike {
	const struct cycle *cycle;
	const struct topology *topology; /* whose domains may be swapped as a whole; NULL: nodes only, or nothing */
	bool exact;                      /* rules between pods look at names: no node is like another */
	bool losing;                     /* pods are lost, not moved: it matters whose they are */
	bool *tied;                      /* by group: its pods depend on each other */
	int64_t *minimum;                /* by group: pods; without any they are surplus */
	uint64_t *fixed;                 /* by node: its room without the units, and who may use it */
	uint64_t *company;               /* by node: the units on it */
	uint64_t **sums;                 /* by level and domain, as far as there is a topology */
};

static uint64_t scramble(uint64_t value)
{
	return hash_mix(value, 0x51);
}

/* What distinguishes one pod from others on its node. */
static uint64_t describe_pod(const struct alike *alike, int group, const struct gang_pod *pod, bool running)
{
	uint64_t key = hash_mix((uint64_t)pod->pod_class << 8 | (uint64_t)pod->health << 1 | running, 0x70);
	if (alike->losing) {
		const struct cycle_group *of = &alike->cycle->groups[group];
		key = hash_mix(key, (uint64_t)(uint32_t)of->priority << 32 | (uint32_t)of->queue);
		key = hash_mix(key, (uint64_t)alike->minimum[group]);
	}
	if (alike->tied[group])
		key = hash_mix(key, (uint64_t)(uint32_t)(group + 1) << 32 | (uint32_t)pod->leaf);
	return scramble(key);
}

static uint64_t describe_unit(const struct alike *alike, const struct victim_unit *unit)
{
	return describe_pod(alike, unit->group, &unit->of->gang.pods[unit->pods[0]],
	                    unit->of->was_running[unit->pods[0]]);
}

static int node_of(const struct victim_unit *unit)
{
	return unit->of->gang.pods[unit->pods[0]].node;
}

static uint64_t describe_node(const struct alike *alike, int node)
{
	return scramble(hash_mix(alike->fixed[node], alike->company[node]));
}

/* ---- sums over domains ---- */

/* Adds to the deepest domain of the node; every change of a sum is a change of the sum above. */
static void add_to_domains(struct alike *alike, int node, uint64_t before, uint64_t after)
{
	for (int level = alike->topology ? alike->topology->level_count - 1 : -1; level >= 0; level--) {
		int domain = alike->topology->node_domain[level][node];
		if (domain < 0)
			continue;
		uint64_t *sum = &alike->sums[level][domain], was = *sum;
		*sum += after - before;
		before = was ? scramble(was) : 0;
		after = *sum ? scramble(*sum) : 0;
	}
}

void alike_lift(struct alike *alike, const struct victim_unit *unit, bool off)
{
	int node = node_of(unit);
	uint64_t before = describe_node(alike, node), pod = describe_unit(alike, unit);
	alike->company[node] += off ? UINT64_C(0) - pod : pod;
	add_to_domains(alike, node, before, describe_node(alike, node));
}

uint64_t alike_key(const struct alike *alike, const struct victim_unit *unit)
{
	int node = node_of(unit);
	uint64_t key = hash_mix(describe_unit(alike, unit), describe_node(alike, node));
	if (alike->exact)
		return hash_mix(key, (uint64_t)(uint32_t)node << 32 | (uint32_t)unit->group);
	for (int t = 0; t < alike->cycle->cluster->topology_count; t++) {
		const struct topology *topology = &alike->cycle->cluster->topologies[t];
		for (int level = 0; level < topology->level_count; level++) {
			int domain = topology->node_domain[level][node];
			uint64_t look =
				domain < 0 || !alike->topology ? (uint64_t)(int64_t)domain : alike->sums[level][domain];
			if (!topology->hosts[level] || domain < 0)
				key = hash_mix(key, look);
		}
	}
	return key;
}

/* ---- the beginning ---- */

static bool is_tied(const struct gang *gang)
{
	for (size_t i = 0; i < gang->tree_count; i++)
		if (gang->tree[i].required.topology >= 0)
			return true;
	return false;
}

static bool has_rules(const struct cluster *cluster, const struct gang *gang)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if (cluster->pod_classes.items[gang->pods[p].pod_class].has_required_rules)
			return true;
	return false;
}

/* Who else of a group stands on a node ties it to the others. */
static void fix_members(struct alike *alike, int number)
{
	const struct gang *gang = &alike->cycle->groups[number].gang;
	alike->minimum[number] = alike->losing ? gang_minimum_pods(gang, 0) : 0;
	alike->tied[number] = is_tied(gang) || (alike->losing && gang->pod_count > 1);
	alike->exact |= has_rules(alike->cycle->cluster, gang);
	for (size_t p = 0; alike->tied[number] && p < gang->pod_count; p++)
		if (cycle_is_member(&gang->pods[p]))
			alike->fixed[gang->pods[p].node] += describe_pod(alike, number, &gang->pods[p], true);
}

/* Which of the shapes may use the node, and what it has without the units. */
static void fix_node(struct alike *alike, int node, const bool *asked)
{
	const struct cluster *cluster = alike->cycle->cluster;
	uint64_t key = 0;
	for (size_t r = 0; r < cluster->resources.count; r++)
		key = hash_mix(key, (uint64_t)cluster_amount_in_view(cluster, (int)r, node, VIEW_RELEASING));
	for (size_t s = 0; s < cluster->shapes.count; s++)
		if (asked[s])
			key = hash_mix(key, s * 2 + shape_allows_node(cluster, &cluster->shapes.items[s], node));
	alike->fixed[node] += scramble(key);
}

static void ask_shapes(const struct cluster *cluster, const struct gang *gang, bool *asked)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		asked[cluster->pod_classes.items[gang->pods[p].pod_class].shape] = true;
}

static void make_sums(struct alike *alike, struct arena *arena)
{
	const struct topology *topology = alike->topology;
	alike->sums = arena_array(arena, uint64_t *, topology ? (size_t)topology->level_count : 0);
	for (int level = 0; topology && level < topology->level_count; level++)
		alike->sums[level] = arena_array(arena, uint64_t, (size_t)topology->domain_count[level]);
}

struct alike *alike_create(const struct evict_attempt *attempt, const struct victim_unit *const *units, size_t count,
                           bool losing)
{
	const struct cycle *cycle = attempt->cycle;
	const struct cluster *cluster = cycle->cluster;
	struct arena *arena = attempt->scratch;
	struct alike *alike = arena_new(arena, struct alike);
	bool *asked = arena_array(arena, bool, cluster->shapes.count);
	bool *seen = arena_array(arena, bool, cycle->group_count);
	alike->cycle = cycle;
	alike->losing = losing;
	alike->topology = cluster->topology_count == 1 ? &cluster->topologies[0] : NULL;
	alike->exact = cluster->guarded_pod_classes.count > 0 || cluster->volume_pool || cluster->device_stock;
	alike->tied = arena_array(arena, bool, cycle->group_count);
	alike->minimum = arena_array(arena, int64_t, cycle->group_count);
	alike->fixed = arena_array(arena, uint64_t, (size_t)cluster->node_count);
	alike->company = arena_array(arena, uint64_t, (size_t)cluster->node_count);
	make_sums(alike, arena);
	ask_shapes(cluster, &evict_beneficiary(attempt)->gang, asked);
	fix_members(alike, attempt->group);
	for (size_t i = 0; i < count; i++)
		if (!seen[units[i]->group]) {
			seen[units[i]->group] = true;
			ask_shapes(cluster, &units[i]->of->gang, asked);
			fix_members(alike, units[i]->group);
		}
	for (int node = 0; node < cluster->node_count; node++) {
		fix_node(alike, node, asked);
		add_to_domains(alike, node, 0, describe_node(alike, node));
	}
	for (size_t i = 0; i < count; i++)
		alike_lift(alike, units[i], false);
	return alike;
}
