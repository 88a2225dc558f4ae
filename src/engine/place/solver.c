/* Owns the working state of one decision: the shapes, slots, topologies and members it is about, and the trail by which
 * every change is undone. */
#include "engine/place/solver.h"

#include "engine/place/matching.h"
#include "engine/place/rules.h"

#include <stdlib.h>

static int use_topology(struct solver *solver, int topology)
{
	for (int t = 0; t < solver->topology_count; t++)
		if (solver->topologies[t] == topology)
			return t;
	solver->topologies[solver->topology_count] = topology;
	return solver->topology_count++;
}

static void find_topologies(struct solver *solver)
{
	const struct gang *gang = solver->gang;
	for (size_t i = 0; i < gang->tree_count; i++) {
		if (gang->tree[i].required.topology >= 0)
			use_topology(solver, gang->tree[i].required.topology);
		if (gang->tree[i].preferred.topology >= 0)
			use_topology(solver, gang->tree[i].preferred.topology);
	}
	if (!solver->topology_count)
		use_topology(solver, 0);
}

static int add_shape(struct solver *solver, int pod_class)
{
	bool social = rules_concern_pod_class(solver, pod_class);
	int shape = solver->cluster->pod_classes.items[pod_class].shape;
	for (int s = 0; !social && s < solver->shape_count; s++)
		if (!solver->shapes[s].social && solver->shapes[s].shape == shape)
			return s;
	solver->shapes[solver->shape_count] =
		(struct local_shape){.shape = shape, .pod_class = pod_class, .social = social};
	return solver->shape_count++;
}

static bool is_asked_for(const struct gang_pod *pod)
{
	return pod->state == MEMBER_WAITING || pod->state == MEMBER_COMING;
}

/* Whether a placement that holds for all may not hold for some of them. */
static bool leans_on_others(const struct pod_rules *rules)
{
	bool leans = rules->affinity_count > 0;
	for (size_t i = 0; i < rules->spread_count; i++)
		leans |= rules->spread[i].required;
	return leans;
}

/* One local shape per distinct shape of the waiting pods (per pod class where rules between pods tell them apart). */
static void find_shapes(struct solver *solver)
{
	const struct gang *gang = solver->gang;
	struct cluster *cluster = solver->cluster;
	while (cluster->pod_class_mark.count < cluster->pod_classes.count)
		vec_push(&cluster->pod_class_mark, -1);
	int32_t *mark = cluster->pod_class_mark.items;
	int *pod_classes = arena_array(solver->arena, int, gang->pod_count);
	int pod_class_count = 0;
	for (size_t p = 0; p < gang->pod_count; p++) {
		int pod_class = gang->pods[p].pod_class;
		if (!is_asked_for(&gang->pods[p]) || mark[pod_class] >= 0)
			continue;
		mark[pod_class] = 0;
		pod_classes[pod_class_count++] = pod_class;
		solver->member_rules |= cluster->pod_classes.items[pod_class].has_required_rules;
		solver->leaning |= leans_on_others(&cluster->pod_classes.items[pod_class].rules);
	}
	solver->shapes = arena_array(solver->arena, struct local_shape, (size_t)pod_class_count);
	for (int k = 0; k < pod_class_count; k++)
		mark[pod_classes[k]] = add_shape(solver, pod_classes[k]);
	solver->pod_shape = arena_array(solver->arena, int, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++)
		solver->pod_shape[p] = is_asked_for(&gang->pods[p]) ? mark[gang->pods[p].pod_class] : -1;
	for (int k = 0; k < pod_class_count; k++)
		mark[pod_classes[k]] = -1;
}

static int compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;
	return (a > b) - (a < b);
}

static void find_members(struct solver *solver)
{
	const struct gang *gang = solver->gang;
	for (size_t p = 0; p < gang->pod_count; p++) {
		if (gang->pods[p].state != MEMBER_RUNNING && gang->pods[p].state != MEMBER_RESERVED)
			continue;
		if (!solver->member_nodes)
			solver->member_nodes = arena_array(solver->arena, int, gang->pod_count);
		solver->member_nodes[solver->member_node_count++] = gang->pods[p].node;
	}
	if (solver->member_node_count)
		qsort(solver->member_nodes, (size_t)solver->member_node_count, sizeof(int), compare_ints);
}

static void find_slots(struct solver *solver)
{
	struct cluster *cluster = solver->cluster;
	uint8_t *mask = NULL;
	for (int s = 0; s < solver->shape_count; s++) {
		struct local_shape *shape = &solver->shapes[s];
		if (shape->social && !mask)
			mask = arena_array(solver->arena, uint8_t, (size_t)cluster->node_count);
		/* A social shape always gets a private copy: two pod classes may share one cached shape. */
		if (shape->social) {
			rules_mask_nodes(solver, shape->pod_class, mask);
			shape->slots = slots_copy_masked(cluster, shape->shape, solver->view, mask, solver->arena);
		} else {
			shape->slots = slots_get(cluster, shape->shape, solver->view);
		}
	}
}

/* Their slots are exact, for each shape alone: where there are several, equal amounts do not make nodes alike. */
static bool some_claims(const struct solver *solver)
{
	bool claims = false;
	for (int s = 0; s < solver->shape_count; s++)
		claims |= solver->cluster->shapes.items[solver->shapes[s].shape].claims;
	return claims;
}

void solver_init(struct solver *solver, struct cluster *cluster, const struct gang *gang, int view, uint64_t budget,
                 struct arena *arena)
{
	*solver = (struct solver){
		.cluster = cluster, .gang = gang, .arena = arena, .view = view, .budget = budget, .blocking_tree = -1};
	solver->trial = arena_create();
	find_topologies(solver);
	find_shapes(solver);
	find_slots(solver);
	find_members(solver);
	solver->social = rules_between_members(solver);
	solver->matching = matching_concerns(solver) || (solver->shape_count > 1 && some_claims(solver));
	solver->exact = solver->shape_count == 1 && solver->topology_count == 1 && !solver->social && !solver->matching;
}

void solver_forget_demand(struct solver *solver)
{
	trail_undo(solver, 0);
	struct key_entry *entry, *next;
	HASH_ITER(hh, solver->class_index, entry, next) {
		HASH_DEL(solver->class_index, entry);
		free(entry);
	}
	solver->items.count = 0;
	arena_reset(solver->trial);
	solver->assigned.count = 0;
	solver->class_count = solver->class_capacity = solver->want_count = 0;
}

void solver_close(struct solver *solver)
{
	solver_forget_demand(solver);
	vec_free(&solver->trail);
	vec_free(&solver->items);
	vec_free(&solver->assigned);
	arena_destroy(solver->trial);
}

/* ---- the trail ---- */

void trail_undo(struct solver *solver, size_t mark)
{
	while (solver->trail.count > mark) {
		struct undo *undo = &solver->trail.items[--solver->trail.count];
		if (undo->wide)
			*(int64_t *)undo->address = undo->value;
		else
			*(int32_t *)undo->address = (int32_t)undo->value;
	}
}
