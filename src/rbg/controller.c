/* Owns the order of one reconcile of a RoleBasedGroup, and which changes lead to one. */
#include "rbg/controller.h"
#include "kinds/names.h"

#include "rbg/internal.h"
#include "rollout/conflicts.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

/* ---- what leads to a reconcile ---- */

/* "namespace/group", with "/policy" behind it when a policy of the group is meant. */
static void want_link(void *context, const char *from)
{
	char namespace_[256], group[256];
	if (sscanf(from, "%255[^/]/%255[^/]", namespace_, group) == 2)
		reconciler_want(context, RBG_KEY_GROUP, namespace_, group);
}

static void want_owner(struct reconciler *reconciler, const struct store_object *object, const char *kind, int key)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);)
		if (strcmp(val_str(val_get(owner, "kind"), ""), kind) == 0)
			reconciler_want(reconciler, key, object->namespace_, val_str(val_get(owner, "name"), ""));
}

static bool same_spec(const struct store_object *object, const struct store_object *old)
{
	return old && val_equal(val_get(object->root, "spec"), val_get(old->root, "spec"));
}

/* The status of a PodGroup is the scheduler's; a group only sees to the spec. */
static void map_gang(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context;
	if (deleted || !same_spec(object, old))
		want_owner(reconciler, object, "RoleBasedGroup", RBG_KEY_GROUP);
}

/* Objects that a group owns concern that group. Those below its instances tell it by their label: whoever owned them may be
 * gone. */
static void map_owned(struct reconciler *reconciler, void *context, const struct store_object *object,
                      const struct store_object *old, bool deleted)
{
	(void)context;
	(void)old;
	(void)deleted;
	const char *group = labels_get(&object->labels, RBG_GROUP_LABEL);
	want_owner(reconciler, object, "RoleBasedGroup", RBG_KEY_GROUP);
	if (group)
		reconciler_want(reconciler, RBG_KEY_GROUP, object->namespace_, group);
}

/* Nobody but the group itself writes their status. */
static void map_instance(struct reconciler *reconciler, void *context, const struct store_object *object,
                         const struct store_object *old, bool deleted)
{
	if (deleted || !old || metadata_is_leaving(object->root) || !same_spec(object, old))
		map_owned(reconciler, context, object, old, deleted);
}

static void note_link(struct rbg_links *links, const struct store_object *object, const char *target, bool present)
{
	struct buffer to = {0};
	buffer_printf(&to, "%s/%s", object->namespace_, target);
	rbg_links_set(links, to.text, object->name, present);
	buffer_free(&to);
}

/* What names profiles and topologies, in the indexes of both: a group, or a policy that speaks of it. They refer on their own, as
 * one may go while the other stays. */
static const char *make_link(struct arena *arena, const char *namespace_, const char *group, const char *policy)
{
	return arena_printf(arena, "%s/%s%s%s", namespace_, group, policy ? "/" : "", policy ? policy : "");
}

static void want_topology(void *context, const char *name)
{
	reconciler_want(context, RBG_KEY_TOPOLOGY, "", name);
}

static void forget_references(struct rbg_controller *controller, struct reconciler *reconciler, const char *link)
{
	rbg_links_forget(controller->topologies, link, want_topology, reconciler);
	rbg_links_forget(controller->profiles, link, NULL, NULL);
}

/* The finalizers of ClusterTopologies depend on it. */
static void note_topologies(struct rbg_controller *controller, struct reconciler *reconciler,
                            const struct rbg_coordination *all, size_t count, const char *link)
{
	for (size_t k = 0; k < count; k++)
		if (all[k].topology_name) {
			rbg_links_set(controller->topologies, all[k].topology_name, link, true);
			want_topology(reconciler, all[k].topology_name);
		}
}

/* Profiles that roles name: the group may wait for one. */
static void note_profiles(struct rbg_controller *controller, const struct rbg_spec *spec, const char *link)
{
	const struct val *item;
	for (size_t r = 0; r < spec->role_count; r++)
		for (struct val_iter it = val_iter(spec->roles[r].engine_runtimes); val_next(&it, NULL, &item);)
			rbg_links_set(controller->profiles, val_str(val_get(item, "profileName"), ""), link, true);
}

static void map_group(struct reconciler *reconciler, void *context, const struct store_object *object,
                      const struct store_object *old, bool deleted)
{
	struct rbg_controller *controller = context;
	struct arena *arena = arena_create();
	const char *link = make_link(arena, object->namespace_, object->name, NULL);
	if (deleted || !same_spec(object, old))
		forget_references(controller, reconciler, link);
	if (!deleted && !same_spec(object, old)) {
		const struct decoded_rbg *group = store_object_derived(object, &rbg_derivation);
		note_topologies(controller, reconciler, group->spec.coordinations, group->spec.coordination_count,
		                link);
		note_profiles(controller, &group->spec, link);
	}
	arena_destroy(arena);
	want_owner(reconciler, object, "RoleBasedGroupSet", RBG_KEY_SET);
	reconciler_want(reconciler, RBG_KEY_GROUP, object->namespace_, object->name);
}

static void map_policy(struct reconciler *reconciler, void *context, const struct store_object *object,
                       const struct store_object *old, bool deleted)
{
	struct rbg_controller *controller = context;
	struct arena *arena = arena_create();
	const struct store_object *states[] = {old, object};
	for (int i = 0; i < 2; i++) {
		if (!states[i])
			continue;
		const char *target =
			val_str(val_path(states[i]->root, "spec", "targetRef", "name", NULL), object->name);
		const char *link = make_link(arena, object->namespace_, target, object->name);
		bool present = i == 1 && !deleted;
		note_link(controller->policies, states[i], target, present);
		forget_references(controller, reconciler, link);
		if (present) {
			const struct decoded_policy *decoded = store_object_derived(object, &rbg_policy_derivation);
			note_topologies(controller, reconciler, decoded->policy.coordinations,
			                decoded->policy.coordination_count, link);
		}
		reconciler_want(reconciler, RBG_KEY_GROUP, object->namespace_, target);
	}
	arena_destroy(arena);
}

static void map_adapter(struct reconciler *reconciler, void *context, const struct store_object *object,
                        const struct store_object *old, bool deleted)
{
	struct rbg_controller *controller = context;
	const struct store_object *states[] = {old, object};
	for (int i = 0; i < 2; i++) {
		if (!states[i])
			continue;
		const char *target = val_str(val_path(states[i]->root, "spec", "scaleTargetRef", "name", NULL), "");
		note_link(controller->adapters, states[i], target, i == 1 && !deleted);
		reconciler_want(reconciler, RBG_KEY_GROUP, object->namespace_, target);
	}
}

static void map_topology(struct reconciler *reconciler, void *context, const struct store_object *object,
                         const struct store_object *old, bool deleted)
{
	struct rbg_controller *controller = context;
	(void)old;
	(void)deleted;
	reconciler_want(reconciler, RBG_KEY_TOPOLOGY, "", object->name);
	rbg_links_each(controller->topologies, object->name, want_link, reconciler);
}

static void map_profile(struct reconciler *reconciler, void *context, const struct store_object *object,
                        const struct store_object *old, bool deleted)
{
	struct rbg_controller *controller = context;
	(void)old;
	(void)deleted;
	rbg_links_each(controller->profiles, object->name, want_link, reconciler);
}

/* ---- one reconcile ---- */

/* Errors that were not refused at the door: admission was bypassed, or they show only with policies. */
static void check_problems(struct rbg_turn *turn)
{
	for (size_t i = 0; i < turn->problems.count && !turn->blocked; i++) {
		const struct problem *problem = &turn->problems.items[i];
		if (problem->severity != SEVERITY_ERROR)
			continue;
		turn->blocked_reason = problem->cause == PROBLEM_CONFLICT ? CONFLICT_CONDITION : "InvalidSpec";
		turn->blocked = arena_printf(turn->arena, "%s: %s", problem->path, problem->message);
	}
}

/* What sets and instances own belongs to the group as well. `what`: of this type only, NULL for all. */
static void add_dependents(struct rbg_turn *turn, size_t from, const struct store_type *type,
                           const struct store_type *what)
{
	size_t end = turn->owned.count;
	for (size_t i = from; i < end; i++) {
		struct store_list list;
		if (turn->owned.items[i]->type != type)
			continue;
		store_dependents(turn->store, turn->owned.items[i]->uid, what, &list);
		size_t room = turn->owned.count + list.count + 1;
		turn->owned.items = base_realloc_array((void *)turn->owned.items, room, sizeof(*list.items));
		turn->parents = base_realloc_array(turn->parents, room, sizeof(*turn->parents));
		for (size_t k = 0; k < list.count; k++) {
			turn->parents[turn->owned.count] = i + 1;
			turn->owned.items[turn->owned.count++] = store_object_retain(list.items[k]);
		}
		store_list_clear(&list);
	}
}

static void collect_owned(struct rbg_turn *turn)
{
	store_dependents(turn->store, turn->object->uid, NULL, &turn->owned);
	size_t own = turn->owned.count;
	turn->parents = base_calloc(own + 1, sizeof(*turn->parents));
	add_dependents(turn, 0, turn->sets, NULL);
	add_dependents(turn, own, turn->instances, turn->pods);
}

/* Kinds of which another controller of groups has made something below this one. */
static const struct {
	const char *group, *resource;
} foreign[] = {{KINDS_APPS, "statefulsets"},
               {KINDS_APPS, "deployments"},
               {KINDS_LEADER_WORKER_SET, "leaderworkersets"},
               {KINDS_COSCHEDULING, "podgroups"},
               {KINDS_VOLCANO, "podgroups"}};
#define FOREIGN_WORKLOADS 3
#define FOREIGN_SECONDS 5

static bool is_foreign(const struct store_object *object, size_t most)
{
	for (size_t i = 0; i < most; i++)
		if (strcmp(object->type->group, foreign[i].group) == 0 &&
		    strcmp(object->type->resource, foreign[i].resource) == 0)
			return true;
	return false;
}

/* A role whose pods belong to a workload that is not made here cannot be taken over: beside it they would run twice. */
static void check_workloads(struct rbg_turn *turn)
{
	for (size_t i = 0; i < turn->owned.count && !turn->blocked; i++) {
		const struct store_object *object = turn->owned.items[i];
		if (turn->parents[i] > 0 || !is_foreign(object, FOREIGN_WORKLOADS))
			continue;
		turn->blocked_reason = "NotAdopted";
		turn->blocked = arena_printf(turn->arena,
		                             "%s %s of this group was made by another controller and cannot be taken "
		                             "over; delete it, and its pods are made anew below a RoleInstanceSet",
		                             object->type->kind, object->name);
		rbg_look_again(turn, FOREIGN_SECONDS); /* nobody tells when it goes */
	}
}

/* What belongs to a role or service that is no more. Finished in the order of their names, all at once. */
static void sweep(struct rbg_turn *turn)
{
	for (size_t i = 0; i < turn->owned.count && !turn->blocked; i++) {
		const struct store_object *object = turn->owned.items[i];
		if (!turn->is_seen[i] && !metadata_is_leaving(object->root) &&
		    !is_foreign(object, sizeof(foreign) / sizeof(foreign[0])))
			rbg_delete(turn, object);
	}
}

static void work(struct rbg_turn *turn)
{
	rbg_memo_open(turn);
	if (rbg_roll_back(turn))
		return;
	rbg_revise(turn);
	rbg_memo_read(turn);
	rbg_observe(turn);
	rbg_memo_keep(turn);
	rbg_read_restarts(turn);
	rbg_check_topologies(turn);
	rbg_decide(turn);
	rbg_find_topologies(turn);
	rbg_find_starts(turn);
	if (rbg_judge_progress(turn))
		return;
	rbg_write_gangs(turn);
	rbg_write_sets(turn);
	if (!turn->blocked)
		rbg_write_network(turn);
	rbg_write_pods(turn);
	rbg_settle_instances(turn);
	rbg_report(turn);
	if (turn->failed)
		return;
	rbg_report_sets(turn);
	if (!turn->blocked)
		rbg_write_adapters(turn);
	sweep(turn);
	if (!turn->blocked)
		rbg_write_replicas(turn);
}

static int reconcile_group(struct rbg_controller *controller, struct reconcile *reconcile)
{
	const struct store_type *type = store_type_find(reconcile->store, RBG_GROUP, "rolebasedgroups");
	struct rbg_turn turn = {
		.controller = controller,
		.turn = reconcile,
		.arena = reconcile->arena,
		.store = reconcile->store,
		.pods = store_type_find(reconcile->store, "", "pods"),
		.gangs = store_type_find(reconcile->store, KINDS_SCHEDULING, "podgroups"),
		.revisions = store_type_find(reconcile->store, KINDS_APPS, "controllerrevisions"),
		.sets = store_type_find(reconcile->store, RBG_GROUP, "roleinstancesets"),
		.instances = store_type_find(reconcile->store, RBG_GROUP, "roleinstances"),
		.now = reconcile->now_ns / CLOCK_SECOND,
	};
	turn.object = type ? store_peek(turn.store, type, reconcile->key.namespace_, reconcile->key.name) : NULL;
	if (!turn.object || metadata_is_leaving(turn.object->root)) {
		rbg_memos_drop(controller->memos, reconcile->key.namespace_, reconcile->key.name);
		rbg_report_policies(controller, reconcile, false);
		return 0;
	}
	store_object_retain(turn.object);
	const struct decoded_rbg *decoded = store_object_derived(turn.object, &rbg_derivation);
	turn.spec = decoded->spec;
	turn.problems = problems_continue(&decoded->problems, turn.arena);
	collect_owned(&turn);
	turn.is_seen = arena_array(turn.arena, bool, turn.owned.count + 1);
	turn.roles = arena_array(turn.arena, struct rbg_role_state, turn.spec.role_count);
	for (size_t r = 0; r < turn.spec.role_count; r++) {
		turn.roles[r].spec = &turn.spec.roles[r];
		turn.roles[r].desired = turn.spec.roles[r].replicas;
	}
	rbg_read_adapters(&turn);
	rbg_add_policies(&turn);
	check_problems(&turn);
	check_workloads(&turn);
	rbg_check_runtimes(&turn);
	work(&turn);
	rbg_report_policies(controller, reconcile, true);
	rbg_forget_parts(&turn);
	store_list_clear(&turn.owned);
	free(turn.parents);
	store_object_release(turn.object);
	reconcile->again_ns = turn.again * CLOCK_SECOND;
	return turn.failed ? -1 : 0;
}

static int reconcile_key(void *context, struct reconcile *turn)
{
	if (turn->key.kind == RBG_KEY_TOPOLOGY)
		return rbg_reconcile_topology(context, turn);
	return turn->key.kind == RBG_KEY_SET ? rbg_reconcile_set(turn) : reconcile_group(context, turn);
}

static const struct reconciler_watch watches[] = {
	{RBG_GROUP, "clustertopologies", RBG_KEY_TOPOLOGY, map_topology},
	{RBG_GROUP, "clusterengineruntimeprofiles", RBG_KEY_GROUP, map_profile},
	{RBG_GROUP, "coordinatedpolicies", RBG_KEY_GROUP, map_policy},
	{RBG_GROUP, "rolebasedgroupscalingadapters", RBG_KEY_GROUP, map_adapter},
	{RBG_GROUP, "rolebasedgroups", RBG_KEY_GROUP, map_group},
	{RBG_GROUP, "rolebasedgroupsets", RBG_KEY_SET, NULL},
	{RBG_GROUP, "roleinstancesets", RBG_KEY_GROUP, map_instance},
	{RBG_GROUP, "roleinstances", RBG_KEY_GROUP, map_instance},
	{KINDS_SCHEDULING, "podgroups", RBG_KEY_GROUP, map_gang},
	{"", "services", RBG_KEY_GROUP, map_owned},
	{"", "pods", RBG_KEY_GROUP, map_owned},
};

struct rbg_controller *rbg_controller_create(const struct rbg_controller_options *options)
{
	struct rbg_controller *controller = base_calloc(1, sizeof(*controller));
	controller->store = options->store;
	controller->source = options->settings;
	controller->settings = settings_now(options->settings);
	controller->policies = rbg_links_create();
	controller->adapters = rbg_links_create();
	controller->topologies = rbg_links_create();
	controller->profiles = rbg_links_create();
	controller->memos = rbg_memos_create();
	controller->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "rolebasedgroup",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = sizeof(watches) / sizeof(watches[0]),
		.reconcile = reconcile_key,
		.context = controller,
	});
	return controller;
}

void rbg_controller_destroy(struct rbg_controller *controller)
{
	if (!controller)
		return;
	reconciler_destroy(controller->reconciler);
	rbg_links_destroy(controller->policies);
	rbg_links_destroy(controller->adapters);
	rbg_links_destroy(controller->topologies);
	rbg_links_destroy(controller->profiles);
	rbg_memos_destroy(controller->memos);
	free(controller);
}

void rbg_controller_read(struct rbg_controller *controller)
{
	controller->settings = settings_now(controller->source);
	reconciler_read(controller->reconciler);
}

int rbg_controller_step(struct rbg_controller *controller)
{
	controller->settings = settings_now(controller->source);
	return reconciler_step(controller->reconciler);
}
