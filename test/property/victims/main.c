/* Property test of preemption and reclaim: whenever pods of others can make room, by leaving or by moving, the engine finds a set of
 * them that no other set beats: in violations of budgets, in what the worst loss is, in its priority, and in how many they are.
 * What moves alone can do is consolidation's, which runs first. */
#include "instance.h"

#include "../random.h"
#include "../runner.h"

#include "engine/cycle/cycle.h"

#include <stdio.h>
#include <string.h>

enum failure { FAILURE_NONE, FAILURE_CRASH, FAILURE_MISSED, FAILURE_WORSE, FAILURE_WRONG, FAILURE_UNPROVED };

struct tally {
	uint64_t fits, preempted, reclaimed, unsolved, violating, extents[3], moved;
};

static const char *failure_name(int failure)
{
	static const char *const names[] = {"none",  "crash",       "room was not made",
	                                    "worse", "wrong state", "not said to be the fewest"};
	return names[failure];
}

/* ---- instances ---- */

static bool put_pod(struct random *random, const struct victims_instance *instance, int *free, int size, int *node)
{
	for (int tries = 0; tries < 8; tries++) {
		*node = random_range(random, 0, instance->nodes - 1);
		if (free[*node] >= size) {
			free[*node] -= size;
			return true;
		}
	}
	return false;
}

/* Its first pod goes anywhere, the others where they have to. */
static bool put_member(struct random *random, const struct victims_instance *instance, int *free,
                       struct victims_gang *gang, int child, int *node)
{
	int first = -1;
	for (int c = child; c >= 0 && first < 0; c--)
		first = gang->count[c] ? gang->node[c][0] : -1;
	if (!put_pod(random, instance, free, gang->size, node))
		return false;
	if (!gang->together || first < 0 || instance->rack[*node] == instance->rack[first])
		return true;
	free[*node] += gang->size;
	return false;
}

static void generate_gang(struct random *random, struct victims_instance *instance, int *free, int *left, int largest,
                          bool entitled)
{
	struct victims_gang gang = {.size = random_range(random, 1, largest),
	                            .priority = random_range(random, 0, 2),
	                            .app = random_range(random, 0, 3) - 2,
	                            .queue = random_range(random, 1, 2),
	                            .flat = random_range(random, 0, 3) > 0 || entitled};
	gang.together = random_range(random, 0, 3) == 0;
	gang.stays = random_range(random, 0, 9) == 0;
	int children = gang.flat ? 1 : random_range(random, 2, VICTIMS_CHILDREN), found = 0;
	gang.app = gang.app < -1 ? -1 : gang.app;
	for (int c = 0; c < children; c++) {
		int wanted = random_range(random, 0, 2) ? 1 : random_range(random, 1, 4), *count = &gang.count[found];
		*count = 0;
		for (; *count<wanted && * left> 0 &&
		       put_member(random, instance, free, &gang, found, &gang.node[found][*count]);
		     (*left)--)
			++*count;
		if (!*count)
			continue;
		gang.minimum[found] = random_range(random, 0, 1) ? *count : random_range(random, 0, *count);
		found++;
	}
	gang.children = found;
	gang.needs = random_range(random, 0, 1) ? found : random_range(random, 0, found);
	if (gang.flat)
		gang.needs = found;
	if (found)
		instance->gangs[instance->gang_count++] = gang;
}

static void generate(uint64_t seed, void *out)
{
	struct victims_instance *instance = out;
	struct random random = {.state = seed};
	int free[VICTIMS_NODES], left = random_range(&random, 4, 9), largest = random_range(&random, 1, 3);
	*instance = (struct victims_instance){.reclaim = random_range(&random, 0, 2) == 0,
	                                      .nodes = random_range(&random, 2, VICTIMS_NODES)};
	int per = random_range(&random, 1, 4), room = random_range(&random, 1, 4), even = random_range(&random, 0, 1);
	for (int n = 0; n < instance->nodes; n++) {
		instance->rack[n] = n / per;
		free[n] = instance->capacity[n] = even ? room : random_range(&random, 1, room + 1);
	}
	bool entitled = instance->reclaim && random_range(&random, 0, 3) > 0;
	for (int g = random_range(&random, 2, VICTIMS_GANGS); g > 0 && left > 0; g--)
		generate_gang(&random, instance, free, &left, largest, entitled);
	for (int q = 1; q < VICTIMS_QUEUES && entitled; q++)
		instance->quota[q] = random_range(&random, 0, 8);
	for (int b = 0; b < VICTIMS_BUDGETS; b++)
		instance->allowed[b] = random_range(&random, 0, 1) ? -1 : random_range(&random, 0, 3);
	int room_in_all = 0;
	for (int n = 0; n < instance->nodes; n++)
		room_in_all += instance->capacity[n];
	for (int tries = 0; tries < 30; tries++) { /* what could fit, and does not */
		instance->children = random_range(&random, 0, 2) ? 1 : random_range(&random, 1, 3);
		instance->pods = random_range(&random, 1, 4);
		instance->size = random_range(&random, 1, 4);
		instance->level = (int)random_range(&random, 0, 2);
		if (instance->children * instance->pods * instance->size <= room_in_all && !victims_fit(instance))
			return;
	}
}

/* ---- the engine ---- */

struct built {
	struct arena *arena;
	struct cycle cycle;
	int nodes[VICTIMS_NODES];
};

static void build_cluster(struct built *built, const struct victims_instance *instance)
{
	static const char *const levels[] = {"kubernetes.io/hostname", "rack"}, *const order[] = {
											"rack",
											"kubernetes.io/hostname"};
	struct cluster *cluster = built->cycle.cluster = cluster_create();
	cluster_add_topology(cluster, "t", order, 2);
	for (int n = 0; n < instance->nodes; n++) {
		const char *name = arena_printf(built->arena, "n%02d", n);
		struct label labels[] = {{levels[0], name},
		                         {levels[1], arena_printf(built->arena, "r%02d", instance->rack[n])}};
		struct resource_amount gpus = {"nvidia.com/gpu", instance->capacity[n]};
		cluster_add_node(cluster, &(struct cluster_node){.name = name,
		                                                 .labels = {labels, 2},
		                                                 .allocatable = &gpus,
		                                                 .allocatable_count = 1,
		                                                 .ready = true});
	}
	cluster_seal(cluster);
	for (int n = 0; n < instance->nodes; n++)
		built->nodes[n] = cluster_find_node(cluster, arena_printf(built->arena, "n%02d", n));
}

static struct cycle_group *add_group(struct built *built, int trees, int pods)
{
	struct cycle_group *group = &built->cycle.groups[built->cycle.group_count];
	group->gang = (struct gang){.namespace_ = "d",
	                            .name = arena_printf(built->arena, "g%02zu", built->cycle.group_count++),
	                            .tree_count = (size_t)trees,
	                            .tree = arena_array(built->arena, struct gang_node, (size_t)trees),
	                            .pods = arena_array(built->arena, struct gang_pod, (size_t)pods)};
	group->grace = -1;
	group->was_running = arena_array(built->arena, bool, (size_t)pods);
	group->creation = (int64_t)built->cycle.group_count;
	for (int t = 0; t < trees; t++)
		group->gang.tree[t] = (struct gang_node){.name = t ? "c" : "",
		                                         .parent = t ? 0 : -1,
		                                         .required = GANG_NO_LEVEL,
		                                         .preferred = GANG_NO_LEVEL};
	return group;
}

static int pod_class(struct built *built, int size, int app)
{
	struct resource_amount request = {"nvidia.com/gpu", size};
	struct label label = {"app", app ? "b" : "a"};
	return cluster_add_pod_class(built->cycle.cluster, &(struct pod_input){.namespace_ = "d",
	                                                                       .labels = {&label, app >= 0 ? 1 : 0},
	                                                                       .requests = &request,
	                                                                       .request_count = 1});
}

static void add_running(struct built *built, const struct victims_instance *instance, const struct victims_gang *from)
{
	struct cycle_group *group = add_group(built, from->flat ? 1 : 1 + from->children, VICTIMS_PODS);
	struct gang *gang = &group->gang;
	int class_ = pod_class(built, from->size, from->app);
	group->priority = from->priority;
	group->preempt = from->stays ? CYCLE_NON_PREEMPTIBLE : CYCLE_PREEMPTIBLE;
	if (from->together)
		gang->tree[0].required = (struct gang_level){.topology = 0, .level = 0};
	group->queue = instance->reclaim ? from->queue : 0;
	group->queue_name = built->cycle.queues[group->queue].name;
	gang->tree[0].minimum = from->flat ? from->minimum[0] : from->needs;
	gang->tree[0].child_count = from->flat ? 0 : from->children;
	for (int c = 0; c < from->children; c++) {
		int leaf = from->flat ? 0 : 1 + c;
		gang->tree[leaf].minimum = from->minimum[c];
		for (int p = 0; p < from->count[c]; p++) {
			int node = built->nodes[from->node[c][p]];
			gang->pods[gang->pod_count++] = (struct gang_pod){.name = "p",
			                                                  .pod_class = class_,
			                                                  .leaf = leaf,
			                                                  .state = MEMBER_RUNNING,
			                                                  .node = node,
			                                                  .nominated = -1};
			cluster_occupy(built->cycle.cluster, class_, node, OCCUPY_RUNNING);
		}
	}
}

static void add_waiting(struct built *built, const struct victims_instance *instance)
{
	struct cycle_group *group = add_group(built, 1 + instance->children, instance->children * instance->pods);
	struct gang *gang = &group->gang;
	int class_ = pod_class(built, instance->size, -1);
	group->priority = instance->reclaim ? 0 : 9;
	group->queue_name = built->cycle.queues[0].name;
	gang->tree[0].minimum = gang->tree[0].child_count = instance->children;
	for (int c = 1; c <= instance->children; c++) {
		gang->tree[c].minimum = instance->pods;
		if (instance->level != VICTIMS_ANYWHERE)
			gang->tree[c].required =
				(struct gang_level){.topology = 0, .level = instance->level == VICTIMS_NODE};
		for (int p = 0; p < instance->pods; p++)
			gang->pods[gang->pod_count++] = (struct gang_pod){
				.name = "p", .pod_class = class_, .leaf = c, .node = -1, .nominated = -1};
	}
}

static void add_queues(struct built *built, const struct victims_instance *instance)
{
	static const char *const names[VICTIMS_QUEUES] = {"own", "second", "third"};
	built->cycle.queues = arena_array(built->arena, struct cycle_queue, VICTIMS_QUEUES);
	built->cycle.queue_count = VICTIMS_QUEUES;
	for (int q = 0; q < VICTIMS_QUEUES; q++) {
		struct cycle_queue *queue = &built->cycle.queues[q];
		*queue = (struct cycle_queue){.name = names[q], .parent = -1};
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			queue->quota[r] =
				q ? instance->quota[q] * 1000 : -1; /* GPUs in thousandths; nobody asks for others */
			queue->limit[r] = -1;
			queue->weight[r] = q ? 0 : 1000;
		}
	}
}

static void add_budgets(struct built *built, const struct victims_instance *instance)
{
	built->cycle.budgets = arena_array(built->arena, struct cycle_budget, VICTIMS_BUDGETS);
	for (int b = 0; b < VICTIMS_BUDGETS; b++) {
		struct match *match = arena_new(built->arena, struct match);
		*match = (struct match){.key = "app", .op = MATCH_IN, .value_count = 1};
		match->values = arena_array(built->arena, const char *, 1);
		match->values[0] = b ? "b" : "a";
		if (instance->allowed[b] < 0)
			continue;
		struct cycle_budget *budget = &built->cycle.budgets[built->cycle.budget_count++];
		*budget = (struct cycle_budget){.namespace_ = "d",
		                                .name = b ? "b" : "a",
		                                .allowed = instance->allowed[b],
		                                .guards_unready = true};
		budget->selector = (struct selector){.items = match, .count = 1};
	}
}

static void build(struct built *built, const struct victims_instance *instance)
{
	*built = (struct built){.arena = arena_create()};
	built->cycle.arena = built->arena;
	built->cycle.groups = arena_array(built->arena, struct cycle_group, VICTIMS_GANGS + 1);
	add_queues(built, instance);
	add_budgets(built, instance);
	build_cluster(built, instance);
	for (int g = 0; g < instance->gang_count; g++)
		add_running(built, instance, &instance->gangs[g]);
	add_waiting(built, instance);
}

/* ---- the comparison ---- */

/* The pods that left, with their numbers as the judge has them; moved pods count. */
static unsigned list_lost(const struct built *built, struct victims_cost *cost, unsigned *moved, bool *proved)
{
	int first[VICTIMS_GANGS + 1] = {0};
	unsigned lost = 0;
	for (size_t g = 0; g + 1 < built->cycle.group_count; g++)
		first[g + 1] = first[g] + (int)built->cycle.groups[g].gang.pod_count;
	*moved = 0;
	*proved = true;
	cost->violations = 0;
	for (size_t i = 0; i < built->cycle.eviction_count; i++) {
		const struct cycle_eviction *eviction = &built->cycle.evictions[i];
		*(eviction->moved ? moved : &lost) |= 1u << (first[eviction->group] + eviction->pod);
		cost->violations += eviction->violates != NULL;
		*proved &= eviction->fewest;
	}
	return lost;
}

static const char *find_fault(struct built *built)
{
	const struct cycle *cycle = &built->cycle;
	for (size_t g = 0; g < cycle->group_count; g++) {
		const char *wrong = engine_verify(cycle->cluster, &cycle->groups[g].gang, built->arena);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static void fail(struct result *result, enum failure failure, const struct victims_cost *got,
                 const struct victims_cost *best)
{
	result->failure = (int)failure;
	snprintf(result->text, sizeof(result->text),
	         "%d violations, extent %d, priority %d, %d pods; best %d, %d, %d, %d", got->violations, got->extent,
	         got->priority, got->pods, best->violations, best->extent, best->priority, best->pods);
}

static void count(const struct victims_instance *instance, const struct victims_cost *best, bool possible, bool moved,
                  struct tally *tally)
{
	tally->unsolved += !possible;
	tally->preempted += possible && !instance->reclaim;
	tally->reclaimed += possible && instance->reclaim;
	tally->violating += possible && best->violations > 0;
	tally->moved += moved;
	if (possible && best->extent >= 0)
		tally->extents[best->extent]++;
}

static void check(const void *given, struct result *result, void *sums)
{
	const struct victims_instance *instance = given;
	struct tally *tally = sums;
	struct built built;
	struct victims_cost best = {0}, got = {0};
	bool proved;
	unsigned moved;
	if (victims_fit(instance)) {
		tally->fits++;
		return;
	}
	build(&built, instance);
	cycle_begin(&built.cycle);
	cycle_run(&built.cycle, ACTION_ALLOCATE);
	cycle_run(&built.cycle, ACTION_CONSOLIDATE);
	cycle_run(&built.cycle, instance->reclaim ? ACTION_RECLAIM : ACTION_PREEMPT);
	bool placed = gang_root_satisfied(&built.cycle.groups[instance->gang_count].gang);
	bool possible = victims_judge(instance, &best);
	unsigned lost = list_lost(&built, &got, &moved, &proved);
	int violations = got.violations;
	bool of_use = victims_cost_of(instance, lost, moved, &got);
	const char *fault = find_fault(&built);
	if (fault || !of_use || (placed && got.violations != violations)) {
		result->failure = FAILURE_WRONG;
		snprintf(result->text, sizeof(result->text), "%s", fault ? fault : "what is left is of no use");
	} else if (possible && !placed) {
		fail(result, FAILURE_MISSED, &got, &best);
	} else if (possible && victims_compare_costs(&best, &got) < 0) {
		fail(result, FAILURE_WORSE, &got, &best);
	} else if (possible && !proved) {
		fail(result, FAILURE_UNPROVED, &got, &best);
	}
	count(instance, &best, possible, moved != 0, tally);
	cluster_destroy(built.cycle.cluster);
	arena_destroy(built.arena);
}

/* ---- failures ---- */

static void shrink(void *given, bool (*still_fails)(const void *instance, void *context), void *context)
{
	struct victims_instance *instance = given, smaller;
	for (int g = instance->gang_count; g-- > 0;) {
		smaller = *instance;
		memmove(&smaller.gangs[g], &smaller.gangs[g + 1],
		        sizeof(*smaller.gangs) * (size_t)(smaller.gang_count - g - 1));
		smaller.gang_count--;
		if (still_fails(&smaller, context))
			*instance = smaller;
	}
	for (int q = 1; q < VICTIMS_QUEUES; q++) {
		smaller = *instance;
		smaller.quota[q] = 0;
		if (still_fails(&smaller, context))
			*instance = smaller;
	}
	for (int b = 0; b < VICTIMS_BUDGETS; b++) {
		smaller = *instance;
		smaller.allowed[b] = -1;
		if (still_fails(&smaller, context))
			*instance = smaller;
	}
}

static void write_gang(const struct victims_gang *gang, FILE *out)
{
	fprintf(out,
	        "{\"gpus\": %d, \"priority\": %d, \"budget\": %d, \"queue\": %d, \"stays\": %s, "
	        "\"together\": %s, \"flat\": %s, \"needs\": %d, "
	        "\"children\": [",
	        gang->size, gang->priority, gang->app, gang->queue, gang->stays ? "true" : "false",
	        gang->together ? "true" : "false", gang->flat ? "true" : "false", gang->needs);
	for (int c = 0; c < gang->children; c++) {
		fprintf(out, "%s{\"minimum\": %d, \"nodes\": [", c ? ", " : "", gang->minimum[c]);
		for (int p = 0; p < gang->count[c]; p++)
			fprintf(out, "%s%d", p ? ", " : "", gang->node[c][p]);
		fprintf(out, "]}");
	}
	fprintf(out, "]}");
}

static void write_instance(const void *given, FILE *out)
{
	const struct victims_instance *instance = given;
	fprintf(out, "{\"reclaim\": %s, \"quotas\": [%d, %d], \"nodes\": [", instance->reclaim ? "true" : "false",
	        instance->quota[1], instance->quota[2]);
	for (int n = 0; n < instance->nodes; n++)
		fprintf(out, "%s{\"gpus\": %d, \"rack\": %d}", n ? ", " : "", instance->capacity[n], instance->rack[n]);
	fprintf(out, "], \"budgets\": [%d, %d], \"gangs\": [", instance->allowed[0], instance->allowed[1]);
	for (int g = 0; g < instance->gang_count; g++) {
		fprintf(out, "%s", g ? ",\n " : "\n ");
		write_gang(&instance->gangs[g], out);
	}
	fprintf(out, "],\n \"children\": %d, \"pods\": %d, \"gpus\": %d, \"level\": %d}\n", instance->children,
	        instance->pods, instance->size, (int)instance->level);
}

static void show_tally(const void *sums)
{
	const struct tally *tally = sums;
	printf("fits %llu, preempted %llu, reclaimed %llu, unsolved %llu; violating %llu; worst is a pod %llu, a child "
	       "%llu, a gang %llu; with moves %llu\n",
	       (unsigned long long)tally->fits, (unsigned long long)tally->preempted,
	       (unsigned long long)tally->reclaimed, (unsigned long long)tally->unsolved,
	       (unsigned long long)tally->violating, (unsigned long long)tally->extents[0],
	       (unsigned long long)tally->extents[1], (unsigned long long)tally->extents[2],
	       (unsigned long long)tally->moved);
}

int main(void)
{
	static const struct property property = {
		.name = "victims",
		.count = 3000,
		.instance_size = sizeof(struct victims_instance),
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
