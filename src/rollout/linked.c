/* Owns the search for roles that advance together: strongly connected components of roles and rules, found with one
 * depth-first walk that keeps its own stack, so that long chains cannot exhaust the real one. */
#include "rollout/linked.h"

/* Nodes are the roles, then the rules. The ways out of node n are to[first[n]] .. to[first[n + 1] - 1]. */
struct graph {
	size_t count;
	size_t *first, *to;
	size_t *filled; /* ways of each node that are in `to` already */
};

struct walk {
	const struct graph *graph;
	size_t *number; /* order of discovery from 1; 0 = not seen */
	size_t *lowest; /* earliest node of the open set that is known to be reachable */
	size_t *next;   /* next way to follow */
	size_t *path;   /* nodes being walked */
	size_t *open;   /* nodes whose set is not closed yet */
	size_t *set;    /* of each closed node, from 1 */
	size_t discovered, path_count, open_count, sets;
};

static void count_way(struct graph *graph, size_t from, size_t to, bool is_filling)
{
	if (is_filling)
		graph->to[graph->first[from] + graph->filled[from]++] = to;
	else
		graph->first[from + 1]++;
}

/* Called twice: to count the ways out of each node, then to fill them in. */
static void add_ways(struct graph *graph, size_t role_count, const struct segment_rule *rules, size_t rule_count,
                     const struct linked_way *ways, size_t way_count, bool is_filling)
{
	for (size_t k = 0; k < rule_count; k++)
		for (size_t i = 0; i < rules[k].count; i++)
			if (rules[k].sizes[i].role < role_count) {
				count_way(graph, rules[k].sizes[i].role, role_count + k, is_filling);
				count_way(graph, role_count + k, rules[k].sizes[i].role, is_filling);
			}
	for (size_t w = 0; w < way_count; w++)
		if (ways[w].from < role_count && ways[w].to < role_count)
			count_way(graph, ways[w].from, ways[w].to, is_filling);
}

static void enter(struct walk *walk, size_t node)
{
	walk->number[node] = walk->lowest[node] = ++walk->discovered;
	walk->next[node] = walk->graph->first[node];
	walk->path[walk->path_count++] = node;
	walk->open[walk->open_count++] = node;
}

/* The node has no way left: it closes a set, or hands what it can reach to the node before it. */
static void leave(struct walk *walk)
{
	size_t node = walk->path[--walk->path_count];
	if (walk->lowest[node] == walk->number[node]) {
		size_t member;
		walk->sets++;
		do {
			member = walk->open[--walk->open_count];
			walk->set[member] = walk->sets;
		} while (member != node);
	}
	if (walk->path_count > 0) {
		size_t before = walk->path[walk->path_count - 1];
		if (walk->lowest[node] < walk->lowest[before])
			walk->lowest[before] = walk->lowest[node];
	}
}

static void walk_from(struct walk *walk, size_t start)
{
	if (walk->number[start] != 0)
		return;
	enter(walk, start);
	while (walk->path_count > 0) {
		size_t node = walk->path[walk->path_count - 1];
		if (walk->next[node] == walk->graph->first[node + 1]) {
			leave(walk);
			continue;
		}
		size_t to = walk->graph->to[walk->next[node]++];
		if (walk->number[to] == 0)
			enter(walk, to);
		else if (walk->set[to] == 0 && walk->number[to] < walk->lowest[node])
			walk->lowest[node] = walk->number[to];
	}
}

size_t *linked_sets(size_t role_count, const struct segment_rule *rules, size_t rule_count,
                    const struct linked_way *ways, size_t way_count, struct arena *arena)
{
	struct graph graph = {.count = role_count + rule_count};
	graph.first = arena_array(arena, size_t, graph.count + 1);
	graph.filled = arena_array(arena, size_t, graph.count);
	add_ways(&graph, role_count, rules, rule_count, ways, way_count, false);
	for (size_t n = 0; n < graph.count; n++)
		graph.first[n + 1] += graph.first[n];
	graph.to = arena_array(arena, size_t, graph.first[graph.count]);
	add_ways(&graph, role_count, rules, rule_count, ways, way_count, true);
	struct walk walk = {.graph = &graph};
	size_t **arrays[] = {&walk.number, &walk.lowest, &walk.next, &walk.path, &walk.open, &walk.set};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		*arrays[i] = arena_array(arena, size_t, graph.count);
	for (size_t n = 0; n < graph.count; n++)
		walk_from(&walk, n);
	return walk.set;
}
