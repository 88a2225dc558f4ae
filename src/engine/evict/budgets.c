/* Owns the accounts of disruption budgets: which pods they cover, what has left and what could. */
#include "engine/evict/budgets.h"

#include "engine/cluster/internal.h"

#include <string.h>

struct evict_budgets {
	struct cycle *cycle;
	const int **covers; /* by pod class: numbers of budgets, ended by -1; NULL: not asked yet */
	int64_t *lost;      /* by budget: what left in the present decision */
	int64_t *listed;    /* by budget: what could leave in it */
	int64_t violations; /* of what left */
};

struct evict_budgets *budgets_create(struct cycle *cycle)
{
	if (!cycle->budget_count)
		return NULL;
	struct evict_budgets *budgets = arena_new(cycle->arena, struct evict_budgets);
	budgets->cycle = cycle;
	budgets->covers = arena_array(cycle->arena, const int *, cycle->cluster->pod_classes.count);
	budgets->lost = arena_array(cycle->arena, int64_t, cycle->budget_count);
	budgets->listed = arena_array(cycle->arena, int64_t, cycle->budget_count);
	return budgets;
}

void budgets_begin(struct evict_budgets *budgets)
{
	if (!budgets)
		return;
	memset(budgets->lost, 0, budgets->cycle->budget_count * sizeof(*budgets->lost));
	memset(budgets->listed, 0, budgets->cycle->budget_count * sizeof(*budgets->listed));
	budgets->violations = 0;
}

/* ---- who is covered ---- */

static const int *find_covers(const struct cycle *cycle, int pod_class)
{
	static const int none[] = {-1};
	const struct pod_class *covered = &cycle->cluster->pod_classes.items[pod_class];
	int *list = NULL;
	size_t count = 0;
	for (size_t b = 0; b < cycle->budget_count; b++) {
		const struct cycle_budget *budget = &cycle->budgets[b];
		if (strcmp(budget->namespace_, covered->namespace_) != 0 ||
		    !selector_matches(&budget->selector, &covered->labels, ""))
			continue;
		if (!list)
			list = arena_array(cycle->arena, int, cycle->budget_count - b + 1);
		list[count++] = (int)b;
		list[count] = -1;
	}
	return list ? list : none;
}

static const int *covers_of(struct evict_budgets *budgets, int pod_class)
{
	const int **covers = &budgets->covers[pod_class];
	if (!*covers)
		*covers = find_covers(budgets->cycle, pod_class);
	return *covers;
}

/* As the eviction API sees it: pods that have not started are no loss, and those that are not ready are none while enough
 * others are. */
static bool counts(const struct cycle_budget *budget, const struct gang_pod *pod)
{
	return pod->health == HEALTH_READY || (pod->health == HEALTH_UNREADY && budget->guards_unready);
}

/* ---- a decision ---- */

void budgets_charge_pod(struct evict_budgets *budgets, const struct gang_pod *pod, int sign)
{
	if (!budgets)
		return;
	for (const int *b = covers_of(budgets, pod->pod_class); *b >= 0; b++) {
		const struct cycle_budget *budget = &budgets->cycle->budgets[*b];
		int64_t *lost = &budgets->lost[*b];
		if (!counts(budget, pod))
			continue;
		int64_t larger = sign > 0 ? *lost + 1 : *lost;
		*lost += sign;
		budgets->violations += budget->spent + larger > budget->allowed ? sign : 0;
	}
}

void budgets_charge_unit(struct evict_budgets *budgets, const struct victim_unit *unit, int sign)
{
	for (int i = 0; budgets && !unit->fresh && !unit->reserved && i < unit->pod_count; i++)
		if (unit->of->was_running[unit->pods[i]])
			budgets_charge_pod(budgets, &unit->of->gang.pods[unit->pods[i]], sign);
}

int64_t budgets_count_violations(const struct evict_budgets *budgets)
{
	return budgets ? budgets->violations : 0;
}

const struct cycle_budget *budgets_find_violated(const struct evict_budgets *budgets)
{
	for (size_t b = 0; budgets && budgets->violations && b < budgets->cycle->budget_count; b++) {
		const struct cycle_budget *budget = &budgets->cycle->budgets[b];
		if (budgets->lost[b] > 0 && budget->spent + budgets->lost[b] > budget->allowed)
			return budget;
	}
	return NULL;
}

/* ---- what could leave ---- */

bool budgets_cover_unit(struct evict_budgets *budgets, const struct victim_unit *unit)
{
	for (int i = 0; budgets && !unit->fresh && !unit->reserved && i < unit->pod_count; i++) {
		const struct gang_pod *pod = &unit->of->gang.pods[unit->pods[i]];
		for (const int *b = covers_of(budgets, pod->pod_class); *b >= 0; b++)
			if (unit->of->was_running[unit->pods[i]] && counts(&budgets->cycle->budgets[*b], pod))
				return true;
	}
	return false;
}

/* Adds the unit to the list; the largest excess of a budget that it counts in. */
static int64_t list_unit(struct evict_budgets *budgets, const struct victim_unit *unit, int sign)
{
	int64_t worst = INT64_MIN;
	for (int i = 0; i < unit->pod_count; i++) {
		const struct gang_pod *pod = &unit->of->gang.pods[unit->pods[i]];
		if (!unit->of->was_running[unit->pods[i]])
			continue;
		for (const int *b = covers_of(budgets, pod->pod_class); *b >= 0; b++) {
			const struct cycle_budget *budget = &budgets->cycle->budgets[*b];
			if (!counts(budget, pod))
				continue;
			budgets->listed[*b] += sign;
			int64_t excess = budget->spent + budgets->listed[*b] - budget->allowed;
			worst = excess > worst ? excess : worst;
		}
	}
	return worst;
}

bool budgets_admit_unit(struct evict_budgets *budgets, const struct victim_unit *unit)
{
	if (!budgets || unit->fresh || unit->reserved || list_unit(budgets, unit, 1) <= 0)
		return true;
	list_unit(budgets, unit, -1);
	return false;
}

/* ---- decided ---- */

void budgets_spend(struct evict_budgets *budgets, const struct gang_pod *pod, struct cycle_eviction *eviction)
{
	if (!budgets)
		return;
	const int *covers = covers_of(budgets, pod->pod_class);
	/* The eviction API refuses pods of two budgets for ever; then counting here has to do, as it does for kube-scheduler. */
	eviction->guarded = covers[0] >= 0 && covers[1] < 0;
	for (const int *b = covers; *b >= 0; b++) {
		struct cycle_budget *budget = &budgets->cycle->budgets[*b];
		if (!counts(budget, pod))
			continue;
		budget->spent++;
		if (!eviction->violates && budget->spent > budget->allowed)
			eviction->violates = budget;
	}
}
