/* Property test of consolidation: clusters whose free room of one resource is in pieces. Whenever three moves are enough for
 * the group that waits, the engine must find moves, no more of them than needed, and say that these are the fewest. */
#include "instance.h"

#include "../random.h"
#include "../runner.h"

#include "engine/cycle/cycle.h"

#include <stdio.h>
#include <string.h>

enum failure { FAILURE_NONE, FAILURE_CRASH, FAILURE_MISSED, FAILURE_EXTRA, FAILURE_WRONG, FAILURE_UNPROVED };

struct tally {
	uint64_t fits, solved[MOVES_ASKED + 1], beyond, unsolved;
};

static const char *failure_name(int failure)
{
	static const char *const names[] = {
		"none", "crash", "missed", "too many moves", "invalid placement", "not said to be the fewest"};
	return names[failure];
}

/* ---- instances ---- */

static void generate_nodes(struct random *random, struct moves_instance *instance)
{
	int per[MOVES_LEVELS], room = random_range(random, 0, 1) ? 4 : 8, even = random_range(random, 0, 1);
	instance->levels = random_range(random, 1, MOVES_LEVELS);
	instance->nodes = random_range(random, 2, random_range(random, 0, 2) ? 12 : MOVES_NODES);
	for (int l = instance->levels; l-- > 0;) /* nodes in one domain of the level */
		per[l] = l + 1 == instance->levels ? random_range(random, 1, 4)
		                                   : per[l + 1] * random_range(random, 1, 3);
	for (int n = 0; n < instance->nodes; n++) {
		instance->capacity[n] = even ? room : random_range(random, 1, room);
		for (int l = 0; l < instance->levels; l++)
			instance->domain[n][l] = n / per[l];
	}
}

static void generate_group(struct random *random, struct moves_instance *instance, int *free, int largest)
{
	struct moves_group group = {.size = random_range(random, 1, largest), .level = -1};
	int wanted = random_range(random, 0, 2) ? 1 : random_range(random, 1, MOVES_MEMBERS);
	if (wanted > 1 && random_range(random, 0, 1))
		group.level = random_range(random, 0, instance->levels - 1);
	group.stays = random_range(random, 0, 9) == 0;
	for (int tries = 0; tries < 12 && group.count < wanted; tries++) {
		int node = random_range(random, 0, instance->nodes - 1);
		if (free[node] < group.size ||
		    (group.count && !moves_together(instance, group.level, node, group.node[0])))
			continue;
		free[node] -= group.size;
		group.node[group.count++] = node;
	}
	if (group.count)
		instance->groups[instance->group_count++] = group;
}

static void generate_waiting(struct random *random, struct moves_instance *instance)
{
	instance->children = random_range(random, 0, 2) ? 1 : random_range(random, 1, 3);
	instance->pods = random_range(random, 1, 4);
	instance->size = random_range(random, 1, random_range(random, 1, 8));
	instance->child_level = random_range(random, 0, 2) ? random_range(random, 0, instance->levels - 1) : -1;
	instance->root_level = -1;
	if (instance->child_level > 0 && random_range(random, 0, 1))
		instance->root_level = random_range(random, 0, instance->child_level - 1);
}

static void generate(uint64_t seed, void *out)
{
	struct moves_instance *instance = out;
	struct random random = {.state = seed};
	int free[MOVES_NODES], largest = random_range(&random, 1, 4);
	*instance = (struct moves_instance){.child_level = -1, .root_level = -1};
	generate_nodes(&random, instance);
	memcpy(free, instance->capacity, sizeof(free));
	int groups = random_range(&random, 2, instance->nodes * 2 < MOVES_GROUPS ? instance->nodes * 2 : MOVES_GROUPS);
	for (int g = 0; g < groups; g++)
		generate_group(&random, instance, free, largest);
	int left = 0;
	for (int n = 0; n < instance->nodes; n++)
		left += free[n];
	for (int tries = 0; tries < 30; tries++) { /* what could fit, and does not */
		generate_waiting(&random, instance);
		if (instance->children * instance->pods * instance->size <= left && !moves_fit(instance))
			return;
	}
}

/* ---- the engine ---- */

struct built {
	struct arena *arena;
	struct cycle cycle;
	int nodes[MOVES_NODES]; /* engine's number of each */
};

static void build_cluster(struct built *built, const struct moves_instance *instance)
{
	static const char *const levels[MOVES_LEVELS] = {"level-0", "level-1", "level-2",
	                                                 "level-3"}; /* labels are sorted */
	struct cluster *cluster = built->cycle.cluster = cluster_create();
	cluster_add_topology(cluster, "t", levels, (size_t)instance->levels);
	for (int n = 0; n < instance->nodes; n++) {
		struct label labels[MOVES_LEVELS];
		for (int l = 0; l < instance->levels; l++)
			labels[l] =
				(struct label){levels[l], arena_printf(built->arena, "%02d", instance->domain[n][l])};
		struct resource_amount gpus = {"nvidia.com/gpu", instance->capacity[n]};
		cluster_add_node(cluster, &(struct cluster_node){.name = arena_printf(built->arena, "n%02d", n),
		                                                 .labels = {labels, (size_t)instance->levels},
		                                                 .allocatable = &gpus,
		                                                 .allocatable_count = 1,
		                                                 .ready = true});
	}
	cluster_seal(cluster);
	for (int n = 0; n < instance->nodes; n++)
		built->nodes[n] = cluster_find_node(cluster, arena_printf(built->arena, "n%02d", n));
}

static struct gang_level level_of(int level)
{
	return level < 0 ? GANG_NO_LEVEL : (struct gang_level){.topology = 0, .level = level};
}

static struct cycle_group *add_group(struct built *built, int trees, int pods)
{
	struct cycle_group *group = &built->cycle.groups[built->cycle.group_count];
	group->gang = (struct gang){.namespace_ = "d",
	                            .name = arena_printf(built->arena, "g%02zu", built->cycle.group_count++),
	                            .tree_count = (size_t)trees,
	                            .tree = arena_array(built->arena, struct gang_node, (size_t)trees),
	                            .pod_count = (size_t)pods,
	                            .pods = arena_array(built->arena, struct gang_pod, (size_t)pods)};
	group->queue_name = "q";
	group->grace = -1;
	group->was_running = arena_array(built->arena, bool, (size_t)pods);
	group->creation = (int64_t)built->cycle.group_count;
	return group;
}

static int pod_class(struct built *built, int size)
{
	struct resource_amount request = {"nvidia.com/gpu", size};
	return cluster_add_pod_class(built->cycle.cluster,
	                             &(struct pod_input){.namespace_ = "d", .requests = &request, .request_count = 1});
}

static void add_running(struct built *built, const struct moves_group *from)
{
	struct cycle_group *group = add_group(built, 1, from->count);
	int class_ = pod_class(built, from->size);
	group->preempt = from->stays ? CYCLE_NON_PREEMPTIBLE : CYCLE_PREEMPTIBLE;
	group->gang.tree[0] = (struct gang_node){.name = "",
	                                         .parent = -1,
	                                         .minimum = from->count,
	                                         .required = level_of(from->level),
	                                         .preferred = GANG_NO_LEVEL};
	for (int p = 0; p < from->count; p++) {
		int node = built->nodes[from->node[p]];
		group->gang.pods[p] = (struct gang_pod){
			.name = "p", .pod_class = class_, .state = MEMBER_RUNNING, .node = node, .nominated = -1};
		cluster_occupy(built->cycle.cluster, class_, node, OCCUPY_RUNNING);
	}
}

static void add_waiting(struct built *built, const struct moves_instance *instance)
{
	struct cycle_group *group = add_group(built, 1 + instance->children, instance->children * instance->pods);
	int class_ = pod_class(built, instance->size);
	group->gang.tree[0] = (struct gang_node){.name = "",
	                                         .parent = -1,
	                                         .child_count = instance->children,
	                                         .minimum = instance->children,
	                                         .required = level_of(instance->root_level),
	                                         .preferred = GANG_NO_LEVEL};
	for (int c = 0; c < instance->children; c++)
		group->gang.tree[1 + c] = (struct gang_node){.name = "c",
		                                             .minimum = instance->pods,
		                                             .required = level_of(instance->child_level),
		                                             .preferred = GANG_NO_LEVEL};
	for (int p = 0; p < instance->children * instance->pods; p++)
		group->gang.pods[p] = (struct gang_pod){
			.name = "p", .pod_class = class_, .leaf = 1 + p / instance->pods, .node = -1, .nominated = -1};
}

static void build(struct built *built, const struct moves_instance *instance)
{
	*built = (struct built){.arena = arena_create()};
	built->cycle.arena = built->arena;
	built->cycle.groups = arena_array(built->arena, struct cycle_group, MOVES_GROUPS + 1);
	built->cycle.queues = arena_new(built->arena, struct cycle_queue);
	built->cycle.queue_count = 1;
	*built->cycle.queues = (struct cycle_queue){.name = "q", .parent = -1};
	for (int r = 0; r < CYCLE_RESOURCES; r++) {
		built->cycle.queues->quota[r] = built->cycle.queues->limit[r] = -1;
		built->cycle.queues->weight[r] = 1000;
	}
	build_cluster(built, instance);
	for (int g = 0; g < instance->group_count; g++)
		add_running(built, &instance->groups[g]);
	add_waiting(built, instance);
}

/* ---- the comparison ---- */

static const char *find_fault(struct built *built)
{
	const struct cycle *cycle = &built->cycle;
	for (size_t i = 0; i < cycle->eviction_count; i++)
		if (!cycle->evictions[i].moved)
			return "a pod is lost";
	for (size_t g = 0; g < cycle->group_count; g++) {
		const char *wrong = engine_verify(cycle->cluster, &cycle->groups[g].gang, built->arena);
		if (wrong)
			return wrong;
		if (g + 1 < cycle->group_count && !gang_root_satisfied(&cycle->groups[g].gang))
			return "a group lost its minimum";
	}
	return NULL;
}

static bool says_fewest(const struct cycle *cycle)
{
	bool says = true;
	for (size_t i = 0; i < cycle->eviction_count; i++)
		says &= cycle->evictions[i].fewest;
	return says;
}

static void check(const void *given, struct result *result, void *sums)
{
	const struct moves_instance *instance = given;
	struct tally *tally = sums;
	struct built built;
	build(&built, instance);
	cycle_begin(&built.cycle);
	cycle_run(&built.cycle, ACTION_ALLOCATE);
	cycle_run(&built.cycle, ACTION_CONSOLIDATE);
	int moved = (int)built.cycle.eviction_count, needed = moves_judge(instance);
	bool placed = gang_root_satisfied(&built.cycle.groups[instance->group_count].gang);
	const char *fault = find_fault(&built);
	if (fault) {
		result->failure = FAILURE_WRONG;
		snprintf(result->text, sizeof(result->text), "%s", fault);
	} else if (needed >= 0 && !placed) {
		result->failure = FAILURE_MISSED;
		snprintf(result->text, sizeof(result->text), "%d moves are enough", needed);
	} else if (needed > 0 && !says_fewest(&built.cycle)) {
		result->failure = FAILURE_UNPROVED;
		snprintf(result->text, sizeof(result->text), "%d moves", moved);
	} else if (placed && (needed >= 0 ? moved != needed : moved <= MOVES_ASKED)) {
		result->failure = FAILURE_EXTRA;
		snprintf(result->text, sizeof(result->text), "%d moves, the judge says %d", moved, needed);
	}
	tally->fits += needed == 0;
	tally->solved[needed > 0 ? needed : 0] += needed > 0;
	tally->beyond += needed < 0 && placed;
	tally->unsolved += needed < 0 && !placed;
	cluster_destroy(built.cycle.cluster);
	arena_destroy(built.arena);
}

/* ---- failures ---- */

static void shrink(void *given, bool (*still_fails)(const void *instance, void *context), void *context)
{
	struct moves_instance *instance = given, smaller;
	for (int g = instance->group_count; g-- > 0;) {
		smaller = *instance;
		memmove(&smaller.groups[g], &smaller.groups[g + 1],
		        sizeof(*smaller.groups) * (size_t)(smaller.group_count - g - 1));
		smaller.group_count--;
		if (still_fails(&smaller, context)) {
			*instance = smaller;
			continue;
		}
		smaller = *instance;
		smaller.groups[g].stays = true;
		if (still_fails(&smaller, context))
			*instance = smaller;
	}
}

static void write_instance(const void *given, FILE *out)
{
	const struct moves_instance *instance = given;
	fprintf(out, "{\"nodes\": [");
	for (int n = 0; n < instance->nodes; n++) {
		fprintf(out, "%s{\"gpus\": %d, \"domains\": [", n ? ", " : "", instance->capacity[n]);
		for (int l = 0; l < instance->levels; l++)
			fprintf(out, "%s%d", l ? ", " : "", instance->domain[n][l]);
		fprintf(out, "]}");
	}
	fprintf(out, "], \"running\": [");
	for (int g = 0; g < instance->group_count; g++) {
		const struct moves_group *group = &instance->groups[g];
		fprintf(out, "%s{\"gpus\": %d, \"level\": %d, \"stays\": %s, \"nodes\": [", g ? ", " : "", group->size,
		        group->level, group->stays ? "true" : "false");
		for (int m = 0; m < group->count; m++)
			fprintf(out, "%s%d", m ? ", " : "", group->node[m]);
		fprintf(out, "]}");
	}
	fprintf(out, "], \"children\": %d, \"pods\": %d, \"gpus\": %d, \"child level\": %d, \"root level\": %d}\n",
	        instance->children, instance->pods, instance->size, instance->child_level, instance->root_level);
}

static void show_tally(const void *sums)
{
	const struct tally *tally = sums;
	printf("fits %llu; moves: one %llu, two %llu, three %llu, more %llu; unsolved %llu\n",
	       (unsigned long long)tally->fits, (unsigned long long)tally->solved[1],
	       (unsigned long long)tally->solved[2], (unsigned long long)tally->solved[3],
	       (unsigned long long)tally->beyond, (unsigned long long)tally->unsolved);
}

int main(void)
{
	static const struct property property = {
		.name = "moves",
		.count = 2000,
		.instance_size = sizeof(struct moves_instance),
		.tally_size = sizeof(struct tally),
		.crash = FAILURE_CRASH,
		.failure_name = failure_name,
		.generate = generate,
		.check = check,
		.shrink = shrink,
		.write = write_instance,
		.print_tally = show_tally,
	};
	return property_run(&property);
}
