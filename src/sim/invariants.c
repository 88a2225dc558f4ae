/* Owns the rules that hold after every cycle: nothing over-committed, levels respected, no gang below its minimum, no
 * pod bound twice. What was already broken in the given state counts only if the cycle made it worse. */
#include "sim/scenario_run.h"

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

struct books {            /* usage per node and resource */
	int64_t *lasting; /* running and reserved: what is used once everything that leaves has left */
	int64_t *now;     /* running and leaving: what is used at this moment */
};

struct invariants {
	struct arena *arena;
	const struct snapshot *snapshot;
	struct interner *resources;
	size_t resource_count, node_count;
	int64_t *allocatable;
	bool *listed; /* the node says how much it has of the resource */
	struct books baseline;
	size_t *placed_before; /* per group */
	bool *below_before;    /* per group: something placed, minimum not met */
	bool *broken_before;   /* per group: a required level was violated */
	bool *unsound_before;  /* per group: the engine's own check objected */
	int *node_before;      /* per pod: node it ran on at the last look, -1 for none */
};

static const struct gang *gang_of(const struct invariants *inv, size_t group)
{
	return &inv->snapshot->cycle.groups[group].gang;
}

static bool is_placed(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

static void add_usage(const struct invariants *inv, int64_t *usage, const struct pod_spec *pod, int node)
{
	for (size_t i = 0; i < pod->request_count; i++) {
		uint32_t resource = interner_find(inv->resources, pod->requests[i].name);
		int64_t *cell = &usage[(size_t)node * inv->resource_count + resource];
		if (__builtin_add_overflow(*cell, pod->requests[i].amount, cell))
			*cell = INT64_MAX;
	}
}

static struct books take_stock(const struct invariants *inv, struct arena *arena)
{
	size_t cells = inv->node_count * inv->resource_count;
	struct books books = {.lasting = arena_array(arena, int64_t, cells), .now = arena_array(arena, int64_t, cells)};
	for (size_t i = 0; i < inv->snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &inv->snapshot->pods[i];
		int node = pod->node;
		bool lasting = node >= 0 && !pod->releasing, now = node >= 0;
		if (pod->member >= 0 && !pod->releasing) {
			const struct gang_pod *member = &gang_of(inv, (size_t)pod->group)->pods[pod->member];
			lasting = is_placed(member);
			now = member->state == MEMBER_RUNNING;
			node = member->node;
		}
		/* an evicted pod uses its old node until it has left */
		if (pod->member >= 0 && !pod->releasing && pod->node >= 0 && !(now && node == pod->node) && !pod->gone)
			add_usage(inv, books.now, pod->spec, pod->node);
		if (lasting)
			add_usage(inv, books.lasting, pod->spec, node);
		if (now)
			add_usage(inv, books.now, pod->spec, node);
	}
	return books;
}

static void read_capacity(struct invariants *inv)
{
	const struct snapshot *snapshot = inv->snapshot;
	for (size_t n = 0; n < inv->node_count; n++)
		for (size_t i = 0; i < snapshot->nodes[n]->allocatable_count; i++)
			interner_id(inv->resources, snapshot->nodes[n]->allocatable[i].name);
	for (size_t p = 0; p < snapshot->pod_count; p++)
		for (size_t i = 0; i < snapshot->pods[p].spec->request_count; i++)
			interner_id(inv->resources, snapshot->pods[p].spec->requests[i].name);
	inv->resource_count = interner_count(inv->resources);
	inv->allocatable = arena_array(inv->arena, int64_t, inv->node_count * inv->resource_count);
	inv->listed = arena_array(inv->arena, bool, inv->node_count * inv->resource_count);
	for (size_t n = 0; n < inv->node_count; n++) {
		for (size_t i = 0; i < snapshot->nodes[n]->allocatable_count; i++) {
			const struct resource_amount *amount = &snapshot->nodes[n]->allocatable[i];
			size_t cell = n * inv->resource_count + interner_find(inv->resources, amount->name);
			inv->allocatable[cell] = amount->amount;
			inv->listed[cell] = true;
		}
	}
}

static void check_capacity(const struct invariants *inv, int cycle, struct arena *scratch,
                           struct scenario_result *result)
{
	struct books books = take_stock(inv, scratch);
	for (size_t cell = 0; cell < inv->node_count * inv->resource_count; cell++) {
		const char *resource = interner_text(inv->resources, (uint32_t)(cell % inv->resource_count));
		int64_t limit = inv->allocatable[cell];
		/* A node that does not say how many pods it takes has no limit on them. */
		if (!inv->listed[cell] && strcmp(resource, "pods") == 0)
			continue;
		bool lasting = books.lasting[cell] > limit && books.lasting[cell] > inv->baseline.lasting[cell];
		bool now = books.now[cell] > limit && books.now[cell] > inv->baseline.now[cell];
		if (lasting || now)
			scenario_fail(result, "cycle %d: node %s is over-committed: %lld of %lld %s", cycle,
			              inv->snapshot->nodes[cell / inv->resource_count]->name,
			              (long long)(lasting ? books.lasting[cell] : books.now[cell]), (long long)limit,
			              resource);
	}
}

/* Whether two nodes are in the same domain down to a level, by their labels. A missing label is no domain. */
static bool share_domain(const struct invariants *inv, struct gang_level at, int a, int b)
{
	const struct topology_spec *topology = &inv->snapshot->topologies[at.topology];
	for (int level = 0; level <= at.level; level++) {
		const char *left = labels_get(&inv->snapshot->nodes[a]->labels, topology->levels[level]);
		const char *right = labels_get(&inv->snapshot->nodes[b]->labels, topology->levels[level]);
		if (!left || !right || strcmp(left, right) != 0)
			return false;
	}
	return true;
}

/* The tree node whose required level is violated, -1 when all hold. One pass over the pods: each climbs to the root
 * and is compared with the first member seen below every node on its way. */
static int find_violation(const struct invariants *inv, size_t group, struct arena *scratch)
{
	const struct gang *gang = gang_of(inv, group);
	int *first = arena_array(scratch, int, gang->tree_count); /* node number + 1 */
	for (size_t i = 0; i < gang->pod_count; i++) {
		if (!is_placed(&gang->pods[i]))
			continue;
		for (int at = gang->pods[i].leaf; at >= 0; at = gang->tree[at].parent) {
			if (gang->tree[at].required.topology < 0)
				continue;
			if (first[at] == 0)
				first[at] = gang->pods[i].node + 1;
			if (!share_domain(inv, gang->tree[at].required, first[at] - 1, gang->pods[i].node))
				return at;
		}
	}
	return -1;
}

/* Pods placed below each tree node and whether it has reached its minimum. */
static void judge_tree(const struct gang *gang, size_t *placed, bool *satisfied, struct arena *scratch)
{
	int *met = arena_array(scratch, int, gang->tree_count);
	for (size_t i = 0; i < gang->pod_count; i++)
		placed[gang->pods[i].leaf] += is_placed(&gang->pods[i]);
	for (size_t n = gang->tree_count; n-- > 0;) {
		const struct gang_node *node = &gang->tree[n];
		int have = node->child_count > 0 ? met[n] : (int)placed[n];
		satisfied[n] = have >= node->minimum;
		if (node->parent >= 0) {
			placed[node->parent] += placed[n];
			met[node->parent] += satisfied[n];
		}
	}
}

static size_t count_running_before(const struct invariants *inv, size_t index, int node)
{
	const struct gang *gang = gang_of(inv, index);
	size_t count = 0;
	for (size_t i = 0; i < gang->pod_count; i++) {
		if (!inv->snapshot->groups[index].ran[i])
			continue;
		for (int at = gang->pods[i].leaf; at >= 0; at = gang->tree[at].parent)
			count += at == node;
	}
	return count;
}

static void check_minimum(const struct invariants *inv, size_t index, int cycle, struct arena *scratch,
                          struct scenario_result *result)
{
	const struct gang *gang = gang_of(inv, index);
	size_t *placed = arena_array(scratch, size_t, gang->tree_count);
	bool *satisfied = arena_array(scratch, bool, gang->tree_count);
	judge_tree(gang, placed, satisfied, scratch);
	if (placed[0] > 0 && !satisfied[0] && (!inv->below_before[index] || placed[0] > inv->placed_before[index]))
		scenario_fail(result, "cycle %d: %s/%s is below its minimum with %zu pods placed", cycle,
		              gang->namespace_, gang->name, placed[0]);
	for (size_t n = 1; n < gang->tree_count; n++)
		if (placed[n] > 0 && !satisfied[n] && placed[n] > count_running_before(inv, index, (int)n))
			scenario_fail(result, "cycle %d: %s/%s: subgroup %s was started below its minimum", cycle,
			              gang->namespace_, gang->name, gang->tree[n].name);
}

static size_t count_placed(const struct gang *gang)
{
	size_t count = 0;
	for (size_t i = 0; i < gang->pod_count; i++)
		count += is_placed(&gang->pods[i]);
	return count;
}

static void check_group(const struct invariants *inv, size_t index, int cycle, struct arena *scratch,
                        struct scenario_result *result)
{
	const struct gang *gang = gang_of(inv, index);
	bool grew = count_placed(gang) > inv->placed_before[index];
	check_minimum(inv, index, cycle, scratch, result);
	int violated = find_violation(inv, index, scratch);
	if (violated >= 0 && (grew || !inv->broken_before[index]))
		scenario_fail(result, "cycle %d: %s/%s: the required level of %s%s is violated", cycle,
		              gang->namespace_, gang->name, gang->tree[violated].name[0] ? "subgroup " : "the group",
		              gang->tree[violated].name);
	const char *objection = engine_verify(inv->snapshot->cycle.cluster, gang, scratch);
	if (objection && (grew || !inv->unsound_before[index]))
		scenario_fail(result, "cycle %d: %s/%s: %s", cycle, gang->namespace_, gang->name, objection);
}

static bool was_evicted(const struct invariants *inv, const struct snapshot_pod *pod)
{
	const struct cycle *cycle = &inv->snapshot->cycle;
	for (size_t i = 0; i < cycle->eviction_count; i++)
		if (cycle->evictions[i].group == pod->group && cycle->evictions[i].pod == pod->member)
			return true;
	return false;
}

/* Non-preemptible pods stay, unless their group set a staleness grace itself; semi-preemptible groups keep their
 * minimum. */
static void check_evictions(const struct invariants *inv, int cycle, struct scenario_result *result)
{
	const struct cycle *state = &inv->snapshot->cycle;
	for (size_t i = 0; i < state->eviction_count; i++) {
		const struct cycle_eviction *eviction = &state->evictions[i];
		const struct cycle_group *group = &state->groups[eviction->group];
		bool own_grace = inv->snapshot->groups[eviction->group].spec.has_staleness_grace;
		if (group->preempt == CYCLE_NON_PREEMPTIBLE &&
		    !(cycle_action_row(eviction->action)->evicts_protected && own_grace))
			scenario_fail(result, "cycle %d: non-preemptible pod %s/%s is evicted", cycle,
			              group->gang.namespace_, group->gang.pods[eviction->pod].name);
		if (eviction->by < 0)
			continue;
		const struct gang *by = &state->groups[eviction->by].gang;
		bool satisfied = false;
		for (size_t p = 0; p < by->pod_count && !satisfied; p++)
			satisfied = is_placed(&by->pods[p]);
		if (!satisfied)
			scenario_fail(result, "cycle %d: pod %s/%s is evicted for %s/%s, which got no place", cycle,
			              group->gang.namespace_, group->gang.pods[eviction->pod].name, by->namespace_,
			              by->name);
	}
}

static void check_bindings(struct invariants *inv, int cycle, struct scenario_result *result)
{
	for (size_t i = 0; i < inv->snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &inv->snapshot->pods[i];
		if (pod->member < 0)
			continue;
		const struct gang_pod *member = &gang_of(inv, (size_t)pod->group)->pods[pod->member];
		int node = member->state == MEMBER_RUNNING ? member->node : -1;
		if (inv->node_before[i] >= 0 && node != inv->node_before[i] && !was_evicted(inv, pod))
			scenario_fail(result, "cycle %d: pod %s/%s was bound to %s and is now %s%s", cycle,
			              pod->namespace_, pod->name, inv->snapshot->nodes[inv->node_before[i]]->name,
			              node >= 0 ? "bound to " : "not bound",
			              node >= 0 ? inv->snapshot->nodes[node]->name : "");
		inv->node_before[i] = node;
	}
}

struct invariants *invariants_create(const struct snapshot *snapshot)
{
	struct arena *arena = arena_create();
	struct invariants *inv = arena_new(arena, struct invariants);
	size_t groups = snapshot->cycle.group_count;
	inv->arena = arena;
	inv->snapshot = snapshot;
	inv->resources = interner_create();
	inv->node_count = (size_t)cluster_node_count(snapshot->cycle.cluster);
	read_capacity(inv);
	inv->baseline = take_stock(inv, arena);
	inv->placed_before = arena_array(arena, size_t, groups);
	inv->below_before = arena_array(arena, bool, groups);
	inv->broken_before = arena_array(arena, bool, groups);
	inv->unsound_before = arena_array(arena, bool, groups);
	inv->node_before = arena_array(arena, int, snapshot->pod_count);
	for (size_t g = 0; g < groups; g++) {
		const struct gang *gang = gang_of(inv, g);
		size_t *placed = arena_array(arena, size_t, gang->tree_count);
		bool *satisfied = arena_array(arena, bool, gang->tree_count);
		judge_tree(gang, placed, satisfied, arena);
		inv->placed_before[g] = placed[0];
		inv->below_before[g] = placed[0] > 0 && !satisfied[0];
		inv->broken_before[g] = find_violation(inv, g, arena) >= 0;
		inv->unsound_before[g] = engine_verify(snapshot->cycle.cluster, gang, arena) != NULL;
	}
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[i];
		inv->node_before[i] = pod->member >= 0 && !pod->gone ? pod->node : -1;
	}
	return inv;
}

/* Pods that the cycle gave a place. False when some are bound and others reserved: then they were decided one after the other. */
static bool list_new_pods(const struct invariants *inv, size_t index, struct placement *out)
{
	const struct gang *gang = gang_of(inv, index);
	size_t bound = 0;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		if (!is_placed(pod) || inv->node_before[inv->snapshot->groups[index].members[p]] >= 0)
			continue;
		out->choices[out->choice_count++] = (struct place_choice){.pod = (int)p, .node = pod->node};
		bound += pod->state == MEMBER_RUNNING;
	}
	out->reserve = bound == 0;
	return bound == 0 || bound == out->choice_count;
}

/* Rules that count at the moment of placement can be judged afterwards where one group was placed and nobody had to leave. */
static void check_placement(const struct invariants *inv, int cycle, struct arena *scratch,
                            struct scenario_result *result)
{
	const struct cycle *now = &inv->snapshot->cycle;
	size_t grown = 0, index = 0;
	for (size_t g = 0; g < now->group_count; g++)
		if (count_placed(gang_of(inv, g)) > inv->placed_before[g]) {
			grown++;
			index = g;
		}
	if (grown != 1 || now->eviction_count)
		return;
	const struct gang *gang = gang_of(inv, index);
	struct placement placement = {.choices = arena_array(scratch, struct place_choice, gang->pod_count)};
	if (!list_new_pods(inv, index, &placement))
		return;
	const char *objection = engine_verify_placement(now->cluster, gang, &placement, scratch);
	if (objection)
		scenario_fail(result, "cycle %d: %s/%s: %s", cycle, gang->namespace_, gang->name, objection);
}

void invariants_check(struct invariants *invariants, int cycle, struct scenario_result *result)
{
	struct arena *scratch = arena_create();
	check_capacity(invariants, cycle, scratch, result);
	for (size_t g = 0; g < invariants->snapshot->cycle.group_count; g++)
		check_group(invariants, g, cycle, scratch, result);
	check_placement(invariants, cycle, scratch, result);
	check_evictions(invariants, cycle, result);
	check_bindings(invariants, cycle, result);
	arena_destroy(scratch);
}

void invariants_destroy(struct invariants *invariants)
{
	if (!invariants)
		return;
	interner_destroy(invariants->resources);
	arena_destroy(invariants->arena);
}
