/* Owns decoding and counting for the invariants and for expectations of steps. */
#include "sim/invariants_view.h"
#include "kinds/names.h"
#include "loop/settings.h"

#include <stdlib.h>
#include <string.h>

#define PROTECTED_FROM 100 /* priority from which a group that says nothing is not preemptible */
#define PRIORITY_FALLBACK 50

static const struct {
	const char *group, *resource;
} kinds[VIEW_KINDS] = {
	[VIEW_NODES] = {"", "nodes"},
	[VIEW_PODS] = {"", "pods"},
	[VIEW_GROUPS] = {KINDS_SCHEDULING, "podgroups"},
	[VIEW_TOPOLOGIES] = {KINDS_KAI, "topologies"},
	[VIEW_PRIORITIES] = {KINDS_SCHEDULING_K8S, "priorityclasses"},
};

static void read_lists(struct view *view, struct store *store)
{
	for (int kind = 0; kind < VIEW_KINDS; kind++) {
		struct store_error error = {0};
		const struct store_type *type = store_type_find(store, kinds[kind].group, kinds[kind].resource);
		struct store_list_request request = {.api = type && type->api_count > 0 ? type->apis : NULL};
		if (!request.api || store_list(store, &request, &view->lists[kind], view->arena, &error) < 0)
			view->lists[kind] = (struct store_list){0};
	}
}

static void read_nodes(struct view *view)
{
	const struct store_list *list = &view->lists[VIEW_NODES];
	struct problems ignored = {.arena = view->arena};
	view->nodes = arena_array(view->arena, struct node_spec, list->count);
	for (size_t i = 0; i < list->count; i++)
		if (node_decode(list->items[i]->root, view->arena, &view->nodes[view->node_count], &ignored) == 0 &&
		    interner_id(view->node_names, list->items[i]->name) == view->node_count)
			view->node_count++;
}

static void read_topologies(struct view *view)
{
	const struct store_list *list = &view->lists[VIEW_TOPOLOGIES];
	struct problems ignored = {.arena = view->arena};
	view->topologies = arena_array(view->arena, struct topology_spec, list->count);
	for (size_t i = 0; i < list->count; i++)
		if (topology_decode(list->items[i]->root, view->arena, &view->topologies[view->topology_count],
		                    &ignored) == 0 &&
		    interner_id(view->topology_names, list->items[i]->name) == view->topology_count)
			view->topology_count++;
}

int64_t view_priority(const struct view *view, const char *name)
{
	static const struct {
		const char *name;
		int64_t value;
	} well_known[] = {{"train", 50}, {"build-preemptible", 75}, {"build", 100}, {"inference", 125}};
	const struct store_list *list = &view->lists[VIEW_PRIORITIES];
	int64_t value = PRIORITY_FALLBACK;
	for (size_t i = 0; !name && i < list->count; i++)
		if (val_bool(val_get(list->items[i]->root, "globalDefault"), false))
			val_int(val_get(list->items[i]->root, "value"), &value);
	for (size_t i = 0; name && i < sizeof(well_known) / sizeof(well_known[0]); i++)
		if (strcmp(well_known[i].name, name) == 0)
			value = well_known[i].value;
	for (size_t i = 0; name && i < list->count; i++)
		if (strcmp(list->items[i]->name, name) == 0)
			val_int(val_get(list->items[i]->root, "value"), &value);
	return value;
}

static void read_groups(struct view *view)
{
	const struct store_list *list = &view->lists[VIEW_GROUPS];
	view->groups = arena_array(view->arena, struct view_group, list->count);
	for (size_t i = 0; i < list->count; i++) {
		struct view_group *group = &view->groups[i];
		struct problems ignored = {.arena = view->arena};
		const struct store_object *object = list->items[i];
		group->object = object;
		group->readable = podgroup_decode(object->root, view->arena, &group->spec, &ignored) == 0;
		if (!group->readable)
			group->spec = (struct podgroup){0};
		group->preempt = group->spec.preemptibility;
		if (group->preempt == PREEMPTIBILITY_UNSET)
			group->preempt = view_priority(view, group->spec.priority_class) < PROTECTED_FROM
			                         ? PREEMPTIBLE
			                         : NON_PREEMPTIBLE;
		group->placed = arena_array(view->arena, size_t, group->spec.tree_count);
		group->satisfied = arena_array(view->arena, bool, group->spec.tree_count);
		group->violated = arena_array(view->arena, bool, group->spec.tree_count);
		group->domains = arena_array(view->arena, const char *, group->spec.tree_count);
		interner_id(view->group_names, arena_printf(view->arena, "%s/%s", object->namespace_, object->name));
		view->group_count++;
	}
}

static void join_group(struct view *view, struct view_pod *pod)
{
	pod->group = pod->leaf = -1;
	if (!pod->spec->group || !pod->ours)
		return;
	pod->group = view_find_group(view, pod->object->namespace_, pod->spec->group);
	if (pod->group < 0)
		return;
	struct view_group *group = &view->groups[pod->group];
	pod->leaf = group->readable ? podgroup_leaf(&group->spec, pod->spec->subgroup) : -1;
	group->started |= pod->alive && pod->spec->phase == POD_RUNNING;
	group->completing |= pod->spec->phase == POD_SUCCEEDED;
	if (pod->leaf < 0)
		group->strays += pod->alive;
	else if (pod->alive && pod->bound)
		group->placed[pod->leaf]++;
	else if (pod->alive)
		*(pod->spec->gated || pod->spec->block ? &group->gated : &group->waiting) += 1;
}

static void read_pods(struct view *view, const struct settings *settings)
{
	const struct store_list *list = &view->lists[VIEW_PODS];
	view->pods = arena_array(view->arena, struct view_pod, list->count);
	for (size_t i = 0; i < list->count; i++) {
		struct view_pod *pod = &view->pods[view->pod_count];
		/* The view of one turn is compared with that of the next, when newer versions are there. */
		const struct decoded_pod *decoded = store_object_derived_hold(list->items[i], &pod_derivation);
		if (!decoded->usable)
			continue;
		view->pod_count++;
		pod->spec = &decoded->spec;
		pod->object = list->items[i];
		pod->uid = pod->object->uid;
		interner_id(view->pod_uids, pod->uid);
		bool finished = pod->spec->phase == POD_SUCCEEDED || pod->spec->phase == POD_FAILED;
		pod->alive = !finished && !pod->spec->deleting;
		pod->bound = pod->spec->node && pod->spec->node[0];
		uint32_t node = pod->bound ? interner_find(view->node_names, pod->spec->node) : UINT32_MAX;
		pod->node = node == UINT32_MAX ? -1 : (int)node;
		pod->ours = settings_is_ours(settings, pod->spec->scheduler);
		join_group(view, pod);
	}
}

/* Sums up the tree, and what is satisfied in it. A tree is in preorder: children stand behind their parents. */
static void count_tree(struct view *view, struct view_group *group)
{
	int *met = arena_array(view->arena, int, group->spec.tree_count);
	for (size_t n = group->spec.tree_count; n-- > 0;) {
		const struct tree_node *node = &group->spec.tree[n];
		int have = node->child_count > 0 ? met[n] : (int)group->placed[n];
		group->satisfied[n] = have >= node->minimum;
		if (node->parent >= 0) {
			group->placed[node->parent] += group->placed[n];
			met[node->parent] += group->satisfied[n];
		}
	}
}

static void check_pod_levels(struct view *view, const struct view_pod *pod)
{
	struct view_group *group = &view->groups[pod->group];
	for (int at = pod->leaf; at >= 0; at = group->spec.tree[at].parent) {
		const struct constraint_spec *constraint = &group->spec.tree[at].constraint;
		uint32_t topology =
			constraint->required ? interner_find(view->topology_names, constraint->topology) : UINT32_MAX;
		if (topology == UINT32_MAX)
			continue;
		const struct topology_spec *spec = &view->topologies[topology];
		const char *domain =
			view_domain(view, spec, topology_level(spec, constraint->required), pod->node, view->arena);
		if (!group->domains[at])
			group->domains[at] = domain;
		if (!domain || strcmp(group->domains[at], domain) != 0)
			group->violated[at] = true;
	}
}

/* Each pod climbs to the root and is compared with the first one seen below every node on its way. */
static void check_levels(struct view *view)
{
	for (size_t p = 0; p < view->pod_count; p++) {
		const struct view_pod *pod = &view->pods[p];
		if (pod->group >= 0 && pod->leaf >= 0 && pod->alive && pod->node >= 0)
			check_pod_levels(view, pod);
	}
}

struct view *view_create(struct store *store, const struct settings *settings)
{
	struct arena *arena = arena_create();
	struct view *view = arena_new(arena, struct view);
	view->arena = arena;
	view->version = store_version(store);
	view->node_names = interner_create();
	view->pod_uids = interner_create();
	view->group_names = interner_create();
	view->topology_names = interner_create();
	read_lists(view, store);
	read_nodes(view);
	read_topologies(view);
	read_groups(view);
	read_pods(view, settings);
	for (size_t i = 0; i < view->group_count; i++)
		count_tree(view, &view->groups[i]);
	check_levels(view);
	return view;
}

void view_destroy(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->lists[VIEW_PODS].count; i++)
		store_object_derived_drop(view->lists[VIEW_PODS].items[i]);
	for (int kind = 0; kind < VIEW_KINDS; kind++)
		store_list_clear(&view->lists[kind]);
	interner_destroy(view->node_names);
	interner_destroy(view->pod_uids);
	interner_destroy(view->group_names);
	interner_destroy(view->topology_names);
	arena_destroy(view->arena);
}

int view_find_group(const struct view *view, const char *namespace_, const char *name)
{
	uint32_t id = interner_find(view->group_names, arena_printf(view->arena, "%s/%s", namespace_, name));
	return id == UINT32_MAX ? -1 : (int)id;
}

int view_find_pod(const struct view *view, const char *uid)
{
	uint32_t id = interner_find(view->pod_uids, uid);
	return id == UINT32_MAX ? -1 : (int)id;
}

const char *view_domain(const struct view *view, const struct topology_spec *topology, int level, int node,
                        struct arena *arena)
{
	const char *domain = "";
	for (int l = 0; l <= level; l++) {
		const char *value = labels_get(&view->nodes[node].labels, topology->levels[l]);
		if (!value)
			return NULL;
		domain = l ? arena_printf(arena, "%s/%s", domain, value) : value;
	}
	return level < 0 ? NULL : domain;
}

bool view_is_below(const struct podgroup *group, int node, int ancestor)
{
	for (int at = node; at >= 0; at = group->tree[at].parent)
		if (at == ancestor)
			return true;
	return false;
}
