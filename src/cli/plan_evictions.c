/* Owns how evictions are told: a line for each pod of a few, one line for many that go for the same reason. */
#include "cli/plan_evictions.h"

#include "base/strings.h"

#include <string.h>

#define FEW 4   /* that go together and still get a line each */
#define NAMED 3 /* pods and nodes listed before a line says "and n more" */

struct plan_evictions {
	const struct plan *plan;
	size_t *first; /* group_count + 1: those of group g are order[first[g]] .. order[first[g + 1]] */
	size_t *order;
};

struct plan_evictions *plan_evictions_sort(const struct plan *plan, struct arena *arena)
{
	struct plan_evictions *sorted = arena_array(arena, struct plan_evictions, 1);
	const struct cycle_eviction *decided = plan->snapshot->cycle.evictions;
	*sorted = (struct plan_evictions){
		.plan = plan,
		.first = arena_array(arena, size_t, plan->group_count + 2),
		.order = arena_array(arena, size_t, plan->eviction_count),
	};
	/* Counted one place further, so that filling moves each start to where it belongs. */
	for (size_t i = 0; i < plan->eviction_count; i++)
		sorted->first[decided[i].group + 2]++;
	for (size_t g = 0; g < plan->group_count; g++)
		sorted->first[g + 2] += sorted->first[g + 1];
	for (size_t i = 0; i < plan->eviction_count; i++)
		sorted->order[sorted->first[decided[i].group + 1]++] = i;
	return sorted;
}

static const char *why_released(const struct cycle_eviction *decided)
{
	return decided->resettles ? "the rest of the gang has no place beside it, and all of it has elsewhere"
	                          : "the gang has been below its minimum for too long";
}

/* What is said of pods that make room for others when fewer might do. */
static const char *doubt(const struct plan_eviction *eviction)
{
	return eviction->fewest ? "" : ", not proved to be the fewest";
}

static void add_one(const struct plan *plan, size_t index, struct table *table)
{
	const struct plan_eviction *eviction = &plan->evictions[index];
	const struct cycle_eviction *decided = &plan->snapshot->cycle.evictions[index];
	const struct gang_pod *pod = &plan->snapshot->cycle.groups[decided->group].gang.pods[decided->pod];
	if (eviction->moved && decided->by < 0)
		table_line(table, COLOUR_YELLOW, "  - %s moves from %s to %s (%s)", eviction->pod, eviction->node,
		           cluster_node_name(plan->snapshot->cycle.cluster, pod->node), eviction->action);
	else if (eviction->moved)
		table_line(table, COLOUR_YELLOW, "  - %s moves from %s to %s (%s): room for %s%s", eviction->pod,
		           eviction->node, cluster_node_name(plan->snapshot->cycle.cluster, pod->node),
		           eviction->action, eviction->by, doubt(eviction));
	else if (eviction->by[0])
		table_line(table, COLOUR_RED, "  - %s leaves %s (%s) for %s: %s%s%s%s", eviction->pod, eviction->node,
		           eviction->action, eviction->by, cycle_action_row(decided->action)->why,
		           eviction->violates ? ", violating PodDisruptionBudget " : "",
		           eviction->violates ? eviction->violates : "", doubt(eviction));
	else
		table_line(table, COLOUR_RED, "  - %s leaves %s: %s", eviction->pod, eviction->node,
		           why_released(decided));
}

/* "a b c and 5 more" */
static void list_pods(const struct plan_evictions *evictions, size_t from, size_t to, struct buffer *out)
{
	for (size_t i = from; i < to && i < from + NAMED; i++)
		buffer_printf(out, "%s%s", i > from ? " " : "", evictions->plan->evictions[evictions->order[i]].pod);
	buffer_printf(out, " and %zu more", to - from - NAMED);
}

static void add_many(const struct plan_evictions *evictions, size_t from, size_t to, struct table *table)
{
	const struct plan_eviction *eviction = &evictions->plan->evictions[evictions->order[from]];
	const struct cycle_eviction *decided = &evictions->plan->snapshot->cycle.evictions[evictions->order[from]];
	struct buffer pods = {0};
	list_pods(evictions, from, to, &pods);
	if (eviction->moved && decided->by < 0)
		table_line(table, COLOUR_YELLOW, "  - %zu pods move (%s): %s", to - from, eviction->action, pods.text);
	else if (eviction->moved)
		table_line(table, COLOUR_YELLOW, "  - %zu pods move (%s): room for %s%s: %s", to - from,
		           eviction->action, eviction->by, doubt(eviction), pods.text);
	else if (eviction->by[0])
		table_line(table, COLOUR_RED, "  - %zu pods leave (%s) for %s: %s%s%s%s: %s", to - from,
		           eviction->action, eviction->by, cycle_action_row(decided->action)->why,
		           eviction->violates ? ", violating PodDisruptionBudget " : "",
		           eviction->violates ? eviction->violates : "", doubt(eviction), pods.text);
	else
		table_line(table, COLOUR_RED, "  - %zu pods leave: %s: %s", to - from, why_released(decided),
		           pods.text);
	buffer_free(&pods);
}

static bool go_together(const struct plan_eviction *a, const struct plan_eviction *b)
{
	return a->moved == b->moved && a->fewest == b->fewest && strcmp(a->by, b->by) == 0 &&
	       strcmp(a->action, b->action) == 0 && text_equal(a->violates, b->violates);
}

void plan_evictions_add(const struct plan_evictions *evictions, size_t group, bool all, struct table *table)
{
	const struct plan *plan = evictions->plan;
	size_t end = evictions->first[group + 1];
	for (size_t from = evictions->first[group], to; from < end; from = to) {
		const struct plan_eviction *first = &plan->evictions[evictions->order[from]];
		for (to = from + 1; to < end && go_together(first, &plan->evictions[evictions->order[to]]); to++)
			;
		if (!all && to - from > FEW) {
			add_many(evictions, from, to, table);
			continue;
		}
		for (size_t i = from; i < to; i++)
			add_one(plan, evictions->order[i], table);
	}
}
