/* Owns the rounds in which workloads are expanded: what is made, which of it comes up, and what is made then. */
#include "sim/expand_rollout.h"

#include "cluster/workload.h"
#include "engine/cycle/actions.h"
#include "grouping/grouping.h"
#include "kinds/names.h"
#include "loop/writes.h"
#include "object/build.h"
#include "rbg/controller.h"
#include "schedule/plan.h"
#include "sim/expand_claims.h"
#include "sim/expand_devices.h"

#include <stdlib.h>
#include <string.h>

/* Changes after which the workloads are called too large: about twenty thousand pods. */
#define MOST_CHANGES 25000
/* Steps of one rollout, such as segments. */
#define MOST_ROUNDS 1000

struct controllers {
	struct workloads *workloads;
	struct grouping_controller *grouping;
	struct rbg_controller *groups;
};

struct rollout {
	struct simulation *simulation;
	const struct settings *settings;
	struct manifests *objects;
	struct problems *problems;
	struct arena *arena;
	const char *source;
	struct interner *taken;   /* "kind/namespace/name" of what was added, or was there */
	struct interner *started; /* "namespace/name" of pods */
	bool has_nodes, has_groups;
};

static struct controllers open_controllers(struct simulation *simulation)
{
	struct store *store = simulation->store;
	const struct clock_source *clock = &simulation->clock.source;
	struct error error = {0};
	struct controllers controllers = {
		.workloads = workloads_create(&(struct workloads_options){.store = store, .clock = clock}),
		.grouping = grouping_create(
			&(struct grouping_options){.store = store, .clock = clock, .settings = simulation->settings}),
		.groups = rbg_controller_create(&(struct rbg_controller_options){.store = store,
	                                                                         .clock = clock,
	                                                                         .settings = simulation->settings}),
	};
	/* Watches take their first look only while nothing is waiting to be committed. */
	store_commit(store, &error);
	grouping_step(controllers.grouping);
	return controllers;
}

static void close_controllers(struct controllers *controllers)
{
	rbg_controller_destroy(controllers->groups);
	grouping_destroy(controllers->grouping);
	workloads_destroy(controllers->workloads);
}

/* Only what makes pods and groups runs: nobody places them. False when it was too much. */
static bool rest(struct simulation *simulation, const struct controllers *controllers)
{
	struct store *store = simulation->store;
	struct error error = {0};
	bool busy = true;
	while (busy && store_version(store) < MOST_CHANGES) {
		bool rolled = rbg_controller_step(controllers->groups) == 0;
		bool made = workloads_step(controllers->workloads) == 0,
		     grouped = grouping_step(controllers->grouping) == 0;
		busy = rolled || made || grouped || store_pending(store);
		store_commit(store, &error);
	}
	return !busy;
}

bool expand_run(struct simulation *simulation)
{
	struct controllers controllers = open_controllers(simulation);
	bool rested = rest(simulation, &controllers);
	close_controllers(&controllers);
	return rested;
}

void expand_add_copy(struct manifests *objects, const struct val *object, const char *source, struct problems *problems)
{
	struct build *build = build_create();
	struct doc *doc = build_finish(build, build_copy(build, object));
	manifests_keep(objects, doc);
	manifests_add(objects, doc_root(doc), source, problems);
	build_destroy(build);
}

/* ---- what was made ---- */

static const char *space_of(const char *namespace_)
{
	return namespace_[0] ? namespace_ : "default";
}

/* Whether it is new, which it is once. */
static bool take(struct rollout *rollout, const struct store_object *object, const char *kind)
{
	uint32_t count = interner_count(rollout->taken);
	const char *key = arena_printf(rollout->arena, "%s/%s/%s", kind, space_of(object->namespace_), object->name);
	if (interner_id(rollout->taken, key) != count)
		return false;
	expand_add_copy(rollout->objects, object->root, rollout->source, rollout->problems);
	return true;
}

static bool list_type(struct rollout *rollout, const char *group, const char *resource, struct store_list *list)
{
	const struct store_type *type = store_type_find(rollout->simulation->store, group, resource);
	return store_list(rollout->simulation->store, &(struct store_list_request){.api = type->apis}, list,
	                  rollout->arena, NULL) == 0;
}

static void take_all(struct rollout *rollout, const char *group, const char *resource, const char *kind)
{
	struct store_list list;
	if (!list_type(rollout, group, resource, &list))
		return;
	for (size_t i = 0; i < list.count; i++)
		take(rollout, list.items[i], kind);
	store_list_clear(&list);
}

static void take_group_of(struct rollout *rollout, const struct store_object *pod)
{
	const struct store_type *type = store_type_find(rollout->simulation->store, KINDS_SCHEDULING, "podgroups");
	const char *name = val_str(val_path(pod->root, "metadata", "annotations", "pod-group-name", NULL), "");
	const struct store_object *group = store_peek(rollout->simulation->store, type, pod->namespace_, name);
	if (group)
		take(rollout, group, "PodGroup");
}

static bool is_gated(const struct store_object *pod)
{
	return val_count(val_path(pod->root, "spec", "schedulingGates", NULL)) > 0;
}

/* Pods are taken as they are before they start; those that are gated, when nothing more happens to them. How many were new. */
static size_t take_pods(struct rollout *rollout, bool gated)
{
	struct store_list list;
	size_t count = 0;
	if (!list_type(rollout, "", "pods", &list))
		return 0;
	for (size_t i = 0; i < list.count; i++) {
		if (is_gated(list.items[i]) && !gated)
			continue;
		count += take(rollout, list.items[i], "Pod");
		take_group_of(rollout, list.items[i]);
	}
	store_list_clear(&list);
	return count;
}

/* ---- what comes up ---- */

/* The pod runs, and is ready. */
static void start(struct rollout *rollout, const struct store_object *pod, const char *node)
{
	struct store *store = rollout->simulation->store;
	int64_t now = rollout->simulation->clock.now / CLOCK_SECOND;
	struct store_error error = {0};
	struct build *build = build_create();
	struct node *body = build_map(build), *target = build_map(build), *metadata = build_map(build);
	build_put_string(build, metadata, "name", pod->name);
	build_put_string(build, target, "kind", "Node");
	build_put_string(build, target, "name", node);
	build_put_string(build, body, "apiVersion", "v1");
	build_put_string(build, body, "kind", "Binding");
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "target", target);
	struct doc *doc = build_finish(build, body);
	struct store_request bind = writes_create(pod->type->apis, pod->namespace_, doc_root(doc), SIMULATION_ACTOR);
	bind.subresource = STORE_BINDING;
	bind.name = pod->name;
	writes_send(store, &bind, rollout->arena, &error);
	doc_destroy(doc);
	const struct condition ready[] = {{"PodScheduled", "True", "", ""}, {"Ready", "True", "", ""}};
	struct node *status = build_map(build);
	const struct store_object *bound = store_peek(store, pod->type, pod->namespace_, pod->name);
	build_put_string(build, status, "phase", "Running");
	build_put(build, status, "conditions", writes_conditions(build, bound->root, ready, 2, now));
	writes_patch_status(store, bound, build, status);
	build_destroy(build);
}

static const char *pod_key(struct arena *arena, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s", space_of(namespace_), name);
}

/* The pods that have a place beside all others, with its node. */
static void find_places(struct rollout *rollout, struct labels *places)
{
	enum cycle_action actions[ACTION_COUNT];
	size_t action_count = cycle_action_list_serving(actions);
	expand_claims(rollout->objects, rollout->problems);
	expand_devices(rollout->objects, rollout->problems);
	struct snapshot_options options = {.settings = rollout->settings,
	                                   .now_seconds = rollout->simulation->clock.now / CLOCK_SECOND,
	                                   .owners = rollout->objects,
	                                   .silent = true};
	struct snapshot *snapshot = snapshot_create(rollout->objects, &options);
	const struct plan *plan = plan_run(snapshot, actions, action_count);
	const struct plan_binding *lists[] = {plan->bindings, plan->reservations};
	size_t counts[] = {plan->binding_count, plan->reservation_count};
	struct label *items = arena_array(rollout->arena, struct label, counts[0] + counts[1]);
	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < counts[l]; i++)
			items[places->count++] =
				(struct label){pod_key(rollout->arena, lists[l][i].namespace_, lists[l][i].pod),
			                       arena_strdup(rollout->arena, lists[l][i].node)};
	places->items = items;
	snapshot_destroy(snapshot);
}

/* Starts what comes up. Whether anything new did. */
static bool start_pods(struct rollout *rollout)
{
	struct labels places = {0};
	struct store_list list;
	bool any = false;
	if (rollout->has_nodes)
		find_places(rollout, &places);
	labels_sort(&places);
	if (!list_type(rollout, "", "pods", &list))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		const struct store_object *pod = list.items[i];
		const char *key = pod_key(rollout->arena, pod->namespace_, pod->name);
		const char *node = rollout->has_nodes ? labels_get(&places, key) : "any";
		uint32_t count = interner_count(rollout->started);
		if (!node || is_gated(pod) || interner_id(rollout->started, key) != count)
			continue;
		start(rollout, pod, node);
		any = true;
	}
	store_list_clear(&list);
	return any;
}

/* ---- what is left ---- */

/* The first of a list of the status that has something to say: "segment 3 waits: ...". NULL: none has. */
static const char *first_message(const struct rollout *rollout, const struct val *status, const char *list)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(status, list)); val_next(&it, NULL, &item);) {
		const char *message = val_str(val_get(item, "message"), "");
		int64_t segment = 0;
		if (*message && val_int(val_get(item, "waitsFor"), &segment) == 0)
			return arena_printf(rollout->arena, "segment %lld waits: %s", (long long)segment, message);
		if (*message)
			return arena_printf(rollout->arena, "role %s %s", val_str(val_get(item, "name"), ""), message);
	}
	return NULL;
}

/* A role of which something was made that does not come up: no approval would help it. NULL: there is none. */
static const char *find_unready(const struct rollout *rollout, const struct val *status)
{
	const struct val *role;
	for (struct val_iter it = val_iter(val_get(status, "roleStatuses")); val_next(&it, NULL, &role);) {
		int64_t made = 0, ready = 0;
		val_int(val_get(role, "replicas"), &made);
		val_int(val_get(role, "readyReplicas"), &ready);
		if (ready < made)
			return arena_printf(rollout->arena, "role %s: %lld/%lld instances come up",
			                    val_str(val_get(role, "name"), ""), (long long)ready, (long long)made);
	}
	return NULL;
}

/* What holds the rollout; NULL: all of the group comes up. */
static const char *find_hold(const struct rollout *rollout, const struct store_object *group)
{
	const struct val *canary = writes_find_condition(group->root, "CanaryHolding");
	const struct val *status = val_get(group->root, "status");
	const char *ready = val_str(val_get(status, "readyPods"), ""), *slash = strchr(ready, '/');
	const char *unready = find_unready(rollout, status);
	if (text_equal(val_str(val_get(canary, "status"), ""), "True"))
		return unready ? unready : val_str(val_get(canary, "message"), "");
	if (!slash || strtoll(ready, NULL, 10) >= strtoll(slash + 1, NULL, 10))
		return NULL;
	const char *message = first_message(rollout, status, "coordinationStatuses");
	message = message ? message : first_message(rollout, status, "roleStatuses");
	return message ? message : unready;
}

static void tell_held(struct rollout *rollout)
{
	struct store_list list;
	if (!list_type(rollout, KINDS_RBG, "rolebasedgroups", &list))
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct val *status = val_get(list.items[i]->root, "status");
		const char *hold = find_hold(rollout, list.items[i]);
		const char *segments = val_str(val_get(status, "segments"), "");
		if (hold)
			problem_add(rollout->problems, SEVERITY_WARNING, rollout->source, NULL,
			            "rbg/%s: %s%s%s pods come up; %s", list.items[i]->name, segments,
			            *segments ? " segments, " : "", val_str(val_get(status, "readyPods"), ""), hold);
	}
	store_list_clear(&list);
}

static void look_around(struct rollout *rollout)
{
	for (size_t i = 0; i < rollout->objects->count; i++) {
		const struct manifest *object = &rollout->objects->items[i];
		rollout->has_nodes |= text_equal(object->kind, "Node");
		if (text_equal(object->kind, "Topology"))
			interner_id(rollout->taken, arena_printf(rollout->arena, "Topology/default/%s", object->name));
	}
	struct store_list list;
	if (!list_type(rollout, KINDS_RBG, "rolebasedgroups", &list))
		return;
	rollout->has_groups = list.count > 0;
	store_list_clear(&list);
}

static bool play(struct rollout *rollout)
{
	struct controllers controllers = open_controllers(rollout->simulation);
	bool rested = rest(rollout->simulation, &controllers);
	take_all(rollout, KINDS_KAI, "topologies", "Topology");
	take_all(rollout, KINDS_SCHEDULING, "podgroups", "PodGroup");
	for (int round = 0; rested && rollout->has_groups && round < MOST_ROUNDS; round++) {
		take_pods(rollout, false);
		if (!start_pods(rollout))
			break;
		rollout->simulation->clock.now += CLOCK_SECOND;
		rested = rest(rollout->simulation, &controllers);
	}
	take_pods(rollout, true);
	close_controllers(&controllers);
	return rested;
}

bool expand_roll_out(struct simulation *simulation, const char *source, const struct settings *settings,
                     struct manifests *objects, struct problems *problems)
{
	struct rollout rollout = {.simulation = simulation,
	                          .settings = settings,
	                          .objects = objects,
	                          .problems = problems,
	                          .arena = arena_create(),
	                          .source = source,
	                          .taken = interner_create(),
	                          .started = interner_create()};
	look_around(&rollout);
	bool rested = play(&rollout);
	tell_held(&rollout);
	interner_destroy(rollout.taken);
	interner_destroy(rollout.started);
	arena_destroy(rollout.arena);
	return rested;
}
