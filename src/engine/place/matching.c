/* Owns the matching of claims and volumes while packing: augmenting paths, claims of assigned pods beside those of pods that
 * are there. */
#include "engine/place/matching.h"

#include "engine/place/solver.h"

#include <string.h>

struct claim {
	const struct pool_ask *ask;
	int node;
	int next; /* of a shared claim: the next pod's node, by number of claim; -1 for none */
};

struct matching {
	const struct volume_pool *pool;
	VEC(struct claim) claims;
	int *shared;  /* by ask: the first claim of a shared one, -1 */
	int *holder;  /* by volume: the claim that has it, -1 */
	int *visited; /* by volume: in the search of that claim */
};

static int64_t requested(const struct shape *shape, int resource)
{
	for (int i = 0; i < shape->request_count; i++)
		if (shape->resource[i] == resource)
			return shape->amount[i];
	return 0;
}

/* Claims of exactly that size. */
static int64_t claims_of(const struct volume_pool *pool, const struct pool_ask *ask, const struct shape *shape)
{
	int64_t all = requested(shape, ask->resource);
	return ask->larger < 0 || all == 0 ? all : all - requested(shape, pool->asks[ask->larger].resource);
}

bool matching_concerns(const struct solver *solver)
{
	const struct volume_pool *pool = solver->cluster->volume_pool;
	for (size_t a = 0; pool && a < pool->ask_count; a++)
		for (int s = 0; s < solver->shape_count; s++)
			if (requested(&solver->cluster->shapes.items[solver->shapes[s].shape], pool->asks[a].resource))
				return true;
	return attach_concerns(solver);
}

static bool reaches(const struct pool_volume *volume, int node)
{
	size_t low = 0, high = volume->node_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (volume->nodes[middle] < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < volume->node_count && volume->nodes[low] == node;
}

static void add_pods(struct matching *matching, const struct shape *shape, int node, int64_t pods)
{
	for (size_t a = 0; a < matching->pool->ask_count; a++) {
		const struct pool_ask *ask = &matching->pool->asks[a];
		int64_t count = claims_of(matching->pool, ask, shape);
		if (ask->shared && count) {
			vec_push(&matching->claims,
			         (struct claim){.ask = ask, .node = node, .next = matching->shared[a]});
			matching->shared[a] = (int)matching->claims.count - 1;
			continue;
		}
		for (int64_t i = 0; i < count * pods; i++)
			vec_push(&matching->claims, (struct claim){.ask = ask, .node = node, .next = -1});
	}
}

static void add_residents(struct matching *matching, const struct cluster *cluster, int view)
{
	for (int n = 0; view != VIEW_EMPTY && n < cluster->node_count; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			int pods = resident->count + (view == VIEW_FREE ? resident->releasing : 0);
			const struct pod_class *pod_class = &cluster->pod_classes.items[resident->pod_class];
			if (pods)
				add_pods(matching, &cluster->shapes.items[pod_class->shape], n, pods);
		}
}

/* Whether a new volume does: then nothing has to be found. */
static bool is_made(const struct matching *matching, const struct claim *claim)
{
	bool made = claim->ask->make[claim->node];
	for (const struct claim *at = claim; made && at->next >= 0; at = &matching->claims.items[at->next]) {
		const struct claim *next = &matching->claims.items[at->next];
		made = claim->ask->make[next->node] && (!claim->ask->one_node || next->node == claim->node);
	}
	return made;
}

/* Whether the volume can serve the claim; it reaches the claim's own node. */
static bool fits(const struct matching *matching, const struct claim *claim, int volume)
{
	if (!claim->ask->takes[volume])
		return false;
	for (int at = claim->next; at >= 0; at = matching->claims.items[at].next)
		if (!reaches(&matching->pool->volumes[volume], matching->claims.items[at].node))
			return false;
	return true;
}

/* One that nobody has, first; then one whose holder finds another. */
static bool serve(struct matching *matching, int number, int search)
{
	const struct claim *claim = &matching->claims.items[number];
	const int *at = matching->pool->reach + matching->pool->first[claim->node],
		  *end = matching->pool->reach + matching->pool->first[claim->node + 1];
	for (const int *volume = at; volume < end; volume++)
		if (matching->holder[*volume] < 0 && fits(matching, claim, *volume)) {
			matching->holder[*volume] = number;
			return true;
		}
	for (const int *volume = at; volume < end; volume++) {
		if (matching->visited[*volume] == search || !fits(matching, claim, *volume))
			continue;
		matching->visited[*volume] = search;
		if (!serve(matching, matching->holder[*volume], search))
			continue;
		matching->holder[*volume] = number;
		return true;
	}
	return false;
}

static bool serve_all(struct matching *matching)
{
	for (size_t c = 0; c < matching->claims.count; c++) {
		const struct claim *claim = &matching->claims.items[c];
		size_t ask = (size_t)(claim->ask - matching->pool->asks);
		if (claim->ask->shared && matching->shared[ask] != (int)c)
			continue; /* the last pod of a shared claim leads to the others */
		if (!is_made(matching, claim) && !serve(matching, (int)c, (int)c + 1))
			return false;
	}
	return true;
}

bool matching_holds(const struct solver *solver)
{
	const struct cluster *cluster = solver->cluster;
	struct matching matching = {.pool = cluster->volume_pool};
	if (!attach_holds(solver))
		return false;
	if (!matching.pool)
		return true;
	size_t asks = matching.pool->ask_count, volumes = matching.pool->volume_count;
	matching.shared = base_malloc(asks * sizeof(int));
	matching.holder = base_malloc(volumes * sizeof(int));
	matching.visited = base_calloc(volumes, sizeof(int));
	memset(matching.shared, 0xff, asks * sizeof(int));
	memset(matching.holder, 0xff, volumes * sizeof(int));
	add_residents(&matching, cluster, solver->view);
	for (size_t i = 0; i < solver->assigned.count; i++)
		add_pods(&matching, &cluster->shapes.items[solver->shapes[solver->assigned.items[i].shape].shape],
		         solver->assigned.items[i].node, 1);
	bool holds = serve_all(&matching);
	vec_free(&matching.claims);
	free(matching.shared);
	free(matching.holder);
	free(matching.visited);
	return holds;
}
