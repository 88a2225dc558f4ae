/* Owns what else is tried for a gang because its pods may like it better: the search as if they preferred nothing, then other
 * domains, one part after the other from the outermost, those whose nodes they like best first. */
#include "engine/place/decision.h"

#include <stdlib.h>

enum { MOST_DOMAINS = 24, MOST_ATTEMPTS = 64, BUDGET_SHARES = 64 };

struct candidate {
	int domain;
	int64_t score; /* of its best node */
};

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return (a->domain > b->domain) - (a->domain < b->domain);
}

static bool is_below(const struct gang *gang, int node, int above)
{
	while (node > above)
		node = gang->tree[node].parent;
	return node == above;
}

static bool has_member(const struct gang *gang, int tree)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if ((gang->pods[p].state == MEMBER_RUNNING || gang->pods[p].state == MEMBER_RESERVED) &&
		    is_below(gang, gang->pods[p].leaf, tree))
			return true;
	return false;
}

/* A pod that was placed below the part, -1 when none was. */
static int find_placed(const struct decision *decision, int tree)
{
	for (size_t i = 0; i < decision->best_count; i++)
		if (is_below(decision->solver.gang, decision->best_tree[i], tree))
			return (int)i;
	return -1;
}

/* The domains of the part's level other than the one it is in, those that are liked best first. */
static int list_candidates(const struct decision *decision, int tree, const struct assigned *placed,
                           struct candidate *list)
{
	const struct solver *solver = &decision->solver;
	struct gang_level level = decision->levels[tree];
	const struct topology *topology = &solver->cluster->topologies[level.topology];
	const int32_t *slots = solver->shapes[placed->shape].slots->node;
	int count = 0;
	for (int d = 0; d < topology->domain_count[level.level]; d++) {
		const struct domain *domain = &topology->domains[level.level][d];
		struct candidate candidate = {.domain = d, .score = INT64_MIN};
		for (int p = domain->first; p < domain->end; p++) {
			int node = topology->order[p];
			if (slots[node] < 1)
				continue;
			int64_t score = liking_score(decision->liking, placed->kind, node);
			candidate.score = score > candidate.score ? score : candidate.score;
		}
		if (candidate.score > INT64_MIN && d != topology->node_domain[level.level][placed->node])
			list[count++] = candidate;
	}
	qsort(list, (size_t)count, sizeof(*list), compare_candidates);
	return count < MOST_DOMAINS ? count : MOST_DOMAINS;
}

static void try_part(struct decision *decision, int tree, uint64_t budget, int *attempts)
{
	const struct solver *solver = &decision->solver;
	struct gang_level level = decision->levels[tree];
	int at = find_placed(decision, tree), *pin = &decision->demand.pins[tree];
	if (level.topology < 0 || at < 0 || has_member(solver->gang, tree))
		return;
	const struct topology *topology = &solver->cluster->topologies[level.topology];
	struct candidate *list = base_calloc((size_t)topology->domain_count[level.level] + 1, sizeof(*list));
	int best = topology->node_domain[level.level][decision->best[at].node];
	int count = list_candidates(decision, tree, &decision->best[at], list);
	for (int i = 0; i < count && *attempts < MOST_ATTEMPTS; i++) {
		struct liking_sum before = decision->sum;
		if (liking_is_best(decision->liking, before))
			break;
		*pin = list[i].domain;
		++*attempts;
		if (decision_attempt(decision, budget) == VERDICT_PLACED && liking_is_better(decision->sum, before))
			best = list[i].domain;
	}
	*pin = best;
	free(list);
}

/* As if pods preferred nothing: what they like may be there by luck. */
static void try_without(struct decision *decision, uint64_t budget)
{
	struct solver *solver = &decision->solver;
	const int32_t **scores = base_calloc((size_t)solver->shape_count + 1, sizeof(*scores));
	for (int s = 0; s < solver->shape_count; s++) {
		scores[s] = pack_score_nodes(solver, s);
		solver->shapes[s].score = NULL;
	}
	decision_attempt(decision, budget);
	for (int s = 0; s < solver->shape_count; s++)
		solver->shapes[s].score = scores[s];
	free(scores);
}

void decision_prefer_domains(struct decision *decision, uint64_t budget)
{
	size_t trees = decision->solver.gang->tree_count;
	int attempts = 0;
	if (liking_is_best(decision->liking, decision->sum))
		return;
	decision->better_only = true;
	if (decision->best_count > 1)
		try_without(decision, budget);
	for (size_t i = 0; i < trees; i++)
		try_part(decision, (int)i, budget / BUDGET_SHARES, &attempts);
	for (size_t i = 0; i < trees; i++)
		decision->demand.pins[i] = -1;
	decision->better_only = false;
}
