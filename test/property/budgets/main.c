/* Preemption against an exhaustive solver that knows nothing of the engine: small random clusters that are full, with disruption
 * budgets, priorities, groups that have more than they need, and local volumes for the claims of the group that waits. Room
 * must be made whenever some set of victims makes it, with the fewest violations of budgets, no worse victim than needed, and
 * the fewest pods; and a choice that is called the fewest must be it.
 *
 *   platoon-property-budgets [FIRST [LAST]]   instances by number */
#include "base/random.h"
#include "base/strings.h"
#include "schedule/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 4, MOST_GROUPS = 7, MOST_PODS = 2, MOST_BUDGETS = 3, MOST_WAITING = 3, TEAMS = 3, HIGH = 2 };
enum { INSTANCES = 20000 };

struct group { /* that runs */
	int pods, size, priority, team;
	int node[MOST_PODS];
	bool elastic; /* one pod is enough */
};

struct budget {
	int team;     /* whose pods it covers; TEAMS: all */
	bool at_most; /* `number` may be away; otherwise so many must be there */
	int number;
};

struct instance {
	int nodes, groups, budgets;
	int room[MOST_NODES], disks[MOST_NODES];
	struct group group[MOST_GROUPS];
	struct budget budget[MOST_BUDGETS];
	int waiting, size; /* pods that wait, each of this size */
	bool wants_disks;  /* each has a claim for a volume of its node */
	bool never;        /* no budget may be violated */
};

static struct random source;

static int pick(int below)
{
	return (int)(random_next(&source) % (uint64_t)below);
}

static bool chance(int percent)
{
	return pick(100) < percent;
}

/* ---- instances ---- */

static void draw_group(struct instance *instance, int *free)
{
	struct group group = {.size = 1 + pick(2), .priority = pick(HIGH + 1), .team = pick(TEAMS)};
	int wanted = 1 + pick(MOST_PODS);
	for (int tries = 0; tries < 8 && group.pods < wanted; tries++) {
		int node = pick(instance->nodes);
		if (free[node] < group.size)
			continue;
		free[node] -= group.size;
		group.node[group.pods++] = node;
	}
	group.elastic = group.pods > 1 && chance(40);
	if (group.pods)
		instance->group[instance->groups++] = group;
}

static void draw(struct instance *instance, uint64_t seed)
{
	int free[MOST_NODES];
	source.state = seed;
	*instance = (struct instance){.nodes = 1 + pick(MOST_NODES),
	                              .budgets = pick(MOST_BUDGETS + 1),
	                              .waiting = 1 + pick(MOST_WAITING),
	                              .size = 1 + pick(3),
	                              .wants_disks = chance(40),
	                              .never = chance(25)};
	for (int n = 0; n < instance->nodes; n++) {
		free[n] = instance->room[n] = 1 + pick(4);
		instance->disks[n] = pick(3);
	}
	int groups = 1 + pick(MOST_GROUPS);
	for (int g = 0; g < groups; g++)
		draw_group(instance, free);
	for (int b = 0; b < instance->budgets; b++)
		instance->budget[b] =
			(struct budget){.team = pick(TEAMS + 1), .at_most = chance(50), .number = pick(4)};
}

/* ---- the solver ---- */

/* What a choice costs, the most important first. */
struct cost {
	int violations;
	int worst; /* of the units: surplus pods before groups, then by priority */
	int pods;
};

static int compare(const struct cost *a, const struct cost *b)
{
	if (a->violations != b->violations)
		return a->violations - b->violations;
	return a->worst != b->worst ? a->worst - b->worst : a->pods - b->pods;
}

/* Per group which of its pods leave, by bit. */
struct victims {
	unsigned leave[MOST_GROUPS]; /* those that move, too */
	unsigned moved[MOST_GROUPS];
};

static int count(unsigned pods)
{
	return __builtin_popcount(pods);
}

static bool covers(const struct budget *budget, const struct group *group)
{
	return budget->team == TEAMS || budget->team == group->team;
}

static struct cost cost_of(const struct instance *instance, const struct victims *victims)
{
	struct cost cost = {.worst = -1};
	for (int g = 0; g < instance->groups; g++) {
		const struct group *group = &instance->group[g];
		if (!victims->leave[g])
			continue;
		int lost = count(victims->leave[g] & ~victims->moved[g]);
		bool surplus = group->elastic && lost < group->pods;
		int rank = (surplus ? 0 : HIGH + 1) + group->priority;
		cost.worst = lost && rank > cost.worst ? rank : cost.worst;
		cost.pods += count(victims->leave[g]);
	}
	for (int b = 0; b < instance->budgets; b++) {
		const struct budget *budget = &instance->budget[b];
		int there = 0, away = 0;
		for (int g = 0; g < instance->groups; g++) {
			there += covers(budget, &instance->group[g]) ? instance->group[g].pods : 0;
			away += covers(budget, &instance->group[g]) ? count(victims->leave[g]) : 0;
		}
		int allowed = budget->at_most ? budget->number : there - budget->number;
		allowed = allowed < 0 ? 0 : allowed > there ? there : allowed;
		cost.violations += away > allowed ? away - allowed : 0;
	}
	return cost;
}

static bool makes_room(const struct instance *instance, const struct victims *victims)
{
	int free[MOST_NODES], slots = 0;
	memcpy(free, instance->room, sizeof(free));
	for (int g = 0; g < instance->groups; g++)
		for (int p = 0; p < instance->group[g].pods; p++)
			free[instance->group[g].node[p]] -= victims->leave[g] >> p & 1 ? 0 : instance->group[g].size;
	for (int n = 0; n < instance->nodes; n++) {
		int here = free[n] / instance->size;
		slots += instance->wants_disks && instance->disks[n] < here ? instance->disks[n] : here;
	}
	return slots >= instance->waiting;
}

static void try_groups(const struct instance *instance, int group, struct victims *victims, struct cost *best,
                       bool *found)
{
	if (group == instance->groups) {
		if (!makes_room(instance, victims))
			return;
		struct cost cost = cost_of(instance, victims);
		if ((instance->never && cost.violations) || (*found && compare(best, &cost) <= 0))
			return;
		*best = cost;
		*found = true;
		return;
	}
	const struct group *of = &instance->group[group];
	unsigned all = (1u << of->pods) - 1;
	for (unsigned leave = 0; leave <= all; leave++) {
		bool part = leave > 0 && leave < all;
		if ((part && !of->elastic) || (leave && of->priority == HIGH))
			continue;
		victims->leave[group] = leave;
		try_groups(instance, group + 1, victims, best, found);
	}
	victims->leave[group] = 0;
}

/* ---- the same as objects ---- */

static void put_cluster(struct buffer *text, const struct instance *instance)
{
	for (int n = 0; n < instance->nodes; n++) {
		buffer_printf(text,
		              "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: "
		              "{kubernetes.io/hostname: n%d}}, "
		              "status: {allocatable: {cpu: %d, pods: 20}}}\n",
		              n, n, instance->room[n]);
		for (int d = 0; d < instance->disks[n]; d++)
			buffer_printf(
				text,
				"---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: v%d-%d}, status: "
				"{phase: "
				"Available}, spec: {storageClassName: local, capacity: {storage: 5}, accessModes: "
				"[ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
				"[{key: "
				"kubernetes.io/hostname, operator: In, values: [n%d]}]}]}}}}\n",
				n, d, n);
	}
	for (int p = 0; p <= HIGH; p++)
		buffer_printf(text,
		              "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p%d}, "
		              "value: %d}\n",
		              p, p + 1);
	buffer_puts(text,
	            "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: "
	            "kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}\n");
	for (int b = 0; b < instance->budgets; b++) {
		const struct budget *budget = &instance->budget[b];
		buffer_printf(text,
		              "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b%d, "
		              "namespace: default}, "
		              "spec: {%s: %d, selector: {matchLabels: {",
		              b, budget->at_most ? "maxUnavailable" : "minAvailable", budget->number);
		if (budget->team < TEAMS)
			buffer_printf(text, "team: t%d", budget->team);
		else
			buffer_puts(text, "runs: 'yes'");
		buffer_puts(text, "}}}}\n");
	}
}

static void put_group(struct buffer *text, const char *name, int minimum, int priority)
{
	buffer_printf(text,
	              "---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: %s, namespace: "
	              "default}, "
	              "spec: {minMember: %d, priorityClassName: p%d}}\n",
	              name, minimum, priority);
}

static void put_groups(struct buffer *text, const struct instance *instance)
{
	for (int g = 0; g < instance->groups; g++) {
		const struct group *group = &instance->group[g];
		char name[16];
		snprintf(name, sizeof(name), "g%d", g);
		put_group(text, name, group->elastic ? 1 : group->pods, group->priority);
		for (int p = 0; p < group->pods; p++)
			buffer_printf(text,
			              "---\n{apiVersion: v1, kind: Pod, metadata: {name: g%d-%d, namespace: default, "
			              "labels: {team: "
			              "t%d, runs: 'yes'}, annotations: {pod-group-name: g%d}, ownerReferences: "
			              "[{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]}, "
			              "spec: {schedulerName: platoon, "
			              "nodeName: n%d, containers: [{name: c, image: i, resources: {requests: {cpu: "
			              "%d}}}]}, status: "
			              "{phase: Running}}\n",
			              g, p, group->team, g, group->node[p], group->size);
	}
	put_group(text, "urgent", instance->waiting, HIGH);
	for (int p = 0; p < instance->waiting; p++) {
		buffer_printf(
			text,
			"---\n{apiVersion: v1, kind: Pod, metadata: {name: urgent-%d, namespace: default, annotations: "
			"{pod-group-name: urgent}}, spec: {schedulerName: platoon, containers: [{name: c, image: i, "
			"resources: {requests: {cpu: %d}}}]",
			p, instance->size);
		if (instance->wants_disks)
			buffer_printf(text, ", volumes: [{name: v, persistentVolumeClaim: {claimName: c%d}}]", p);
		buffer_puts(text, "}}\n");
		if (instance->wants_disks)
			buffer_printf(
				text,
				"---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c%d, namespace: "
				"default}, "
				"spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: "
				"{storage: 5}}}}\n",
				p);
	}
}

/* ---- one instance ---- */

struct tally {
	size_t placed, made, violated, proved;
};

static bool any_moved(const struct plan *plan)
{
	for (size_t i = 0; i < plan->eviction_count; i++)
		if (plan->evictions[i].moved)
			return true;
	return false;
}

/* What is wrong with the choice of the plan, NULL when nothing is. */
static const char *check_choice(const struct instance *instance, const struct plan *plan, const struct cost *best,
                                struct tally *tally)
{
	struct victims victims = {0};
	bool proved = plan->eviction_count > 0;
	int told = 0;
	for (size_t i = 0; i < plan->eviction_count; i++) {
		const struct plan_eviction *eviction = &plan->evictions[i];
		unsigned pod = 1u << (eviction->pod[3] - '0');
		victims.leave[eviction->pod[1] - '0'] |= pod;
		victims.moved[eviction->pod[1] - '0'] |= eviction->moved ? pod : 0;
		proved &= eviction->fewest;
		told += eviction->violates != NULL;
	}
	struct cost cost = cost_of(instance, &victims);
	tally->made += plan->eviction_count > 0;
	tally->violated += cost.violations > 0;
	tally->proved += proved;
	if ((cost.violations > 0) != (told > 0))
		return "a violation that is not told, or one that is none";
	if (instance->never && cost.violations)
		return "a budget is violated";
	if (compare(best, &cost) < 0)
		return proved ? "called the fewest, and there is a better choice" : "there is a better choice";
	/* The solver moves no pods. */
	return compare(best, &cost) > 0 && !any_moved(plan) ? "better than all choices there are" : NULL;
}

static bool try_instance(uint64_t seed, struct tally *tally)
{
	struct instance instance;
	struct buffer text = {0};
	struct manifests manifests;
	struct problems problems = {.arena = arena_create()};
	draw(&instance, seed);
	put_cluster(&text, &instance);
	put_groups(&text, &instance);
	manifests_init(&manifests);
	manifests_parse(&manifests, text.text, text.length, "instance", &problems);
	struct settings settings = settings_usual;
	settings.never_violate_budgets = instance.never;
	struct snapshot *snapshot = snapshot_create(&manifests, &(struct snapshot_options){.settings = &settings});
	static const enum cycle_action actions[] = {ACTION_ALLOCATE, ACTION_PREEMPT};
	struct plan *plan = plan_run(snapshot, actions, 2);
	struct victims victims = {0};
	struct cost best = {0};
	bool possible = false;
	try_groups(&instance, 0, &victims, &best, &possible);
	int group = snapshot_find_group(snapshot, "default", "urgent");
	bool placed = snapshot->cycle.groups[group].state == GROUP_PLACED;
	const char *problem = NULL;
	if (problems.count)
		problem = "the instance is not understood";
	else if (placed != possible && !any_moved(plan))
		problem = possible ? "waits, but room can be made" : "placed, but no room can be made";
	else if (placed && possible)
		problem = check_choice(&instance, plan, &best, tally);
	if (problem)
		printf("instance %llu: %s (best: %d violations, worst %d, %d pods; never %d)\n%s\n",
		       (unsigned long long)seed, problem, best.violations, best.worst, best.pods, instance.never,
		       text.text);
	tally->placed += possible;
	snapshot_destroy(snapshot);
	manifests_free(&manifests);
	arena_destroy(problems.arena);
	buffer_free(&text);
	return problem == NULL;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? first : INSTANCES;
	size_t failed = 0, passed = 0;
	struct tally tally = {0};
	for (uint64_t seed = first; seed <= last && failed < 5; seed++)
		*(try_instance(seed, &tally) ? &passed : &failed) += 1;
	printf("%zu placed, %zu of them by a preemption, %zu against a budget, %zu proved to be the fewest\n",
	       tally.placed, tally.made, tally.violated, tally.proved);
	printf("%zu passed, %zu failed\n", passed, failed);
	return failed > 0;
}
