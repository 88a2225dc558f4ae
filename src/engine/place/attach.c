/* Owns the count of volumes that pods of a node share, while packing: slots do not say that several pods attach one volume
 * once. */
#include "engine/place/matching.h"
#include "engine/place/solver.h"

#include <string.h>

static const struct shape *shape_of(const struct solver *solver, int shape)
{
	return &solver->cluster->shapes.items[solver->shapes[shape].shape];
}

bool attach_concerns(const struct solver *solver)
{
	for (int s = 0; s < solver->shape_count; s++)
		if (shape_of(solver, s)->shares)
			return true;
	return false;
}

/* What is taken of one resource on one node. */
struct tally {
	const struct cluster *cluster;
	int of;
	int64_t units;
	VEC(int) shared; /* resources that were counted, each once */
};

static void tally_shape(struct tally *tally, const struct shape *shape, int64_t pods)
{
	for (int i = 0; i < shape->request_count; i++) {
		int resource = shape->resource[i];
		if (resource == tally->of)
			tally->units += shape->amount[i] * pods;
		if (tally->cluster->resources.items[resource].shared_of != tally->of)
			continue;
		size_t at = 0;
		while (at < tally->shared.count && tally->shared.items[at] != resource)
			at++;
		if (at < tally->shared.count)
			continue;
		vec_push(&tally->shared, resource);
		tally->units++;
	}
}

static void tally_residents(struct tally *tally, int node, int view)
{
	const struct cluster *cluster = tally->cluster;
	for (size_t i = 0; view != VIEW_EMPTY && i < cluster->residents[node].count; i++) {
		const struct resident *resident = &cluster->residents[node].items[i];
		int pods = resident->count + (view == VIEW_FREE ? resident->releasing : 0);
		if (pods)
			tally_shape(tally,
			            &cluster->shapes.items[cluster->pod_classes.items[resident->pod_class].shape],
			            pods);
	}
}

static bool node_holds(const struct solver *solver, int node, int of)
{
	struct tally tally = {.cluster = solver->cluster, .of = of};
	tally_residents(&tally, node, solver->view);
	int64_t before = tally.units;
	for (size_t i = 0; i < solver->assigned.count; i++)
		if (solver->assigned.items[i].node == node)
			tally_shape(&tally, shape_of(solver, solver->assigned.items[i].shape), 1);
	vec_free(&tally.shared);
	const struct resource_column *column = &solver->cluster->resources.items[of];
	int64_t held = column->held && solver->view != VIEW_EMPTY ? column->held[node] : 0;
	/* Pods that add nothing are welcome where there is too much already. */
	return tally.units == before || tally.units + held <= column->allocatable[node];
}

bool attach_holds(const struct solver *solver)
{
	const struct cluster *cluster = solver->cluster;
	if (!attach_concerns(solver))
		return true;
	bool *seen = base_calloc((size_t)cluster->node_count, sizeof(*seen)), holds = true;
	/* The last one first: while packing it is the one that is new. */
	for (size_t a = solver->assigned.count; a-- > 0 && holds;) {
		int node = solver->assigned.items[a].node;
		if (seen[node])
			continue;
		seen[node] = true;
		for (size_t i = 0; i < solver->assigned.count && holds; i++) {
			const struct shape *shape = shape_of(solver, solver->assigned.items[i].shape);
			for (int r = 0; solver->assigned.items[i].node == node && shape->shares && holds &&
			                r < shape->request_count;
			     r++) {
				int of = cluster->resources.items[shape->resource[r]].shared_of;
				holds = of < 0 || node_holds(solver, node, of);
			}
		}
	}
	free(seen);
	return holds;
}
