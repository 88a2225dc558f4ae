/* Owns which workloads are expanded, taking over what came out, and judging it. */
#include "sim/expand.h"
#include "sim/expand_claims.h"
#include "sim/expand_devices.h"
#include "sim/expand_named.h"
#include "sim/expand_rollout.h"
#include "kinds/kinds.h"
#include "kinds/names.h"

#include "admit/admit.h"
#include "admit/surroundings.h"
#include "base/strings.h"
#include "group/group.h"
#include "grouping/grouping.h"
#include "loop/writes.h"
#include "object/build.h"
#include "schedule/snapshot.h"
#include "sim/simulate.h"
#include "cluster/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM "PersistentVolumeClaim"

static const char *identity(struct arena *arena, const char *kind, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s/%s", kind, namespace_[0] ? namespace_ : "default", name);
}

static void note_owners(const struct val *object, const char *namespace_, struct interner *owners, struct arena *arena)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);)
		interner_id(owners, identity(arena, val_str(val_get(owner, "kind"), ""), namespace_,
		                             val_str(val_get(owner, "name"), "")));
}

static bool makes_pods(const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return workloads_know(object->api_version, object->kind) ||
	       (row && (row->id == KIND_RBG || row->id == KIND_RBG_SET));
}

static bool is_to_expand(const struct manifest *object, const struct interner *owners, struct arena *arena)
{
	return makes_pods(object) && val_count(val_path(object->object, "metadata", "ownerReferences", NULL)) == 0 &&
	       interner_find(owners, identity(arena, object->kind, object->namespace_, object->name)) == UINT32_MAX;
}

static bool is_neighbour(const char *api_version, const char *kind)
{
	const struct kind_row *row = kinds_find(api_version, kind);
	return row && row->flags & ROW_NEIGHBOUR;
}

/* What workloads are grouped and judged by. */
static bool is_context(const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	if (row && (row->id == KIND_NATIVE_GROUP || row->id == KIND_NATIVE_COMPOSITE || row->flags & ROW_NEIGHBOUR))
		return true;
	static const char *const kinds[] = {"Topology",        "Queue",     "PriorityClass",
	                                    "ClusterTopology", "ConfigMap", "CoordinatedPolicy"};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(object->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* Objects of a live cluster are new ones here: what the server gave them must not be asked for. */
static struct doc *as_new(const struct val *object)
{
	static const char *const given[] = {"uid", "resourceVersion", "managedFields"};
	struct build *build = build_create();
	struct node *root = build_copy(build, object), *metadata = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(object, "metadata")); val_next(&it, &key, &item);) {
		bool skip = false;
		for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
			skip |= strcmp(key, given[i]) == 0;
		if (!skip)
			build_put(build, metadata, key, build_copy(build, item));
	}
	build_put(build, root, "metadata", metadata);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

static void apply(struct simulation *simulation, const struct manifest *object, struct problems *problems)
{
	struct store_error error = {0};
	struct doc *doc = as_new(object->object);
	if (simulation_apply(simulation, doc_root(doc), problems->arena, &error) < 0)
		problem_add(problems, SEVERITY_ERROR, object->source, NULL, "%s", error.message);
	doc_destroy(doc);
}

static void make_namespace(struct simulation *simulation, const char *name, struct problems *problems)
{
	const struct store_type *type = store_type_find(simulation->store, "", "namespaces");
	if (!name[0] || store_peek(simulation->store, type, "", name))
		return;
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "Namespace");
	build_put_string(build, metadata, "name", name);
	build_put(build, root, "metadata", metadata);
	struct doc *doc = build_finish(build, root);
	apply(simulation, &(struct manifest){.object = doc_root(doc), .source = name}, problems);
	doc_destroy(doc);
	build_destroy(build);
}

static void take_over(struct simulation *simulation, const char *group, const char *resource, const char *source,
                      struct manifests *objects, struct problems *problems)
{
	const struct store_type *type = store_type_find(simulation->store, group, resource);
	struct store_list list;
	if (store_list(simulation->store, &(struct store_list_request){.api = type->apis}, &list, problems->arena,
	               NULL))
		return;
	for (size_t i = 0; i < list.count; i++)
		expand_add_copy(objects, list.items[i]->root, source, problems);
	store_list_clear(&list);
}

/* Claims that are among the objects already are not made. */
static void take_over_claims(struct simulation *simulation, const char *source, struct manifests *objects,
                             struct problems *problems)
{
	struct interner *given = interner_create();
	struct manifests made;
	for (size_t i = 0; i < objects->count; i++)
		if (text_equal(objects->items[i].kind, CLAIM))
			interner_id(given, identity(problems->arena, CLAIM, objects->items[i].namespace_,
			                            objects->items[i].name));
	manifests_init(&made);
	take_over(simulation, "", "persistentvolumeclaims", source, &made, problems);
	for (size_t i = 0; i < made.count; i++) {
		const struct manifest *claim = &made.items[i];
		const char *key = identity(problems->arena, CLAIM, claim->namespace_, claim->name);
		if (interner_find(given, key) == UINT32_MAX)
			expand_add_copy(objects, claim->object, source, problems);
	}
	manifests_free(&made);
	interner_destroy(given);
}

/* Every owner that an object of the store names. */
static struct interner *find_makers(struct simulation *simulation, struct arena *arena)
{
	struct interner *makers = interner_create();
	size_t count;
	const struct store_api *const *apis = store_apis(simulation->store, &count);
	for (size_t i = 0; i < count; i++) {
		struct store_list list;
		if (store_list(simulation->store, &(struct store_list_request){.api = apis[i]}, &list, arena, NULL))
			continue;
		for (size_t o = 0; o < list.count; o++)
			note_owners(list.items[o]->root, list.items[o]->namespace_, makers, arena);
		store_list_clear(&list);
	}
	return makers;
}

/* What only RoleBasedGroups are made by. */
static bool is_of_rollouts(const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return row && (row->id == KIND_POLICY || row->id == KIND_CLUSTER_TOPOLOGY);
}

/* Of the first `given` objects: their pods stand for them. One that made nothing is told, and stays. How many are left. */
static size_t leave_out(struct manifests *objects, size_t given, const bool *chosen, const struct interner *makers,
                        struct problems *problems)
{
	size_t kept = 0, left = 0;
	bool rolled = false;
	for (size_t i = 0; i < given; i++)
		rolled |= chosen[i] && !workloads_know(objects->items[i].api_version, objects->items[i].kind);
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *object = &objects->items[i];
		const char *key = identity(problems->arena, object->kind, object->namespace_, object->name);
		bool asked = i < given && chosen[i], made = asked && interner_find(makers, key) != UINT32_MAX;
		if (asked && !made)
			problem_add(problems, SEVERITY_WARNING, object->source, NULL,
			            "%s %s makes no pods: it is suspended, has no replicas, or is not valid",
			            object->kind, object->name);
		made |= i < given && rolled && is_of_rollouts(object);
		left += i < given && !made;
		if (!made)
			objects->items[kept++] = *object;
	}
	objects->count = kept;
	return left;
}

/* ---- expanding ---- */

/* Which objects are workloads to expand, by their number; NULL when none is. The caller frees it. */
static bool *choose(const struct manifests *objects)
{
	struct arena *arena = arena_create();
	struct interner *owners = interner_create();
	for (size_t i = 0; i < objects->count; i++)
		note_owners(objects->items[i].object, objects->items[i].namespace_, owners, arena);
	bool *chosen = base_calloc(objects->count + 1, sizeof(bool)), any = false;
	for (size_t i = 0; i < objects->count; i++)
		any |= chosen[i] = is_to_expand(&objects->items[i], owners, arena);
	interner_destroy(owners);
	arena_destroy(arena);
	if (!any) {
		free(chosen);
		return NULL;
	}
	return chosen;
}

/* Whether the class is named somewhere in the object: in a label of it, or in one of its templates. */
static bool names_class(const struct val *val, const char *class_)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);)
		if (key && strcmp(key, "priorityClassName") == 0 ? text_equal(val_str(item, NULL), class_)
		                                                 : names_class(item, class_))
			return true;
	return false;
}

static bool is_class_named(const struct manifests *objects, const bool *chosen, const char *class_)
{
	for (size_t i = 0; i < objects->count; i++)
		if (chosen[i] && names_class(objects->items[i].object, class_))
			return true;
	return false;
}

/* Classes that every installation has need not be among the objects. */
static void make_classes(struct simulation *simulation, const struct manifests *objects, const bool *chosen,
                         struct problems *problems)
{
	int32_t value;
	const char *name;
	for (size_t i = 0; (name = snapshot_well_known_priority(i, &value)); i++) {
		if (!is_class_named(objects, chosen, name))
			continue;
		struct build *build = build_create();
		struct node *root = build_map(build), *metadata = build_map(build);
		build_put_string(build, metadata, "name", name);
		build_put_string(build, root, "apiVersion", KINDS_SCHEDULING_K8S "/v1");
		build_put_string(build, root, "kind", "PriorityClass");
		build_put(build, root, "metadata", metadata);
		build_put_int(build, root, "value", value);
		struct doc *doc = build_finish(build, root);
		build_destroy(build);
		apply(simulation, &(struct manifest){.object = doc_root(doc), .source = name}, problems);
		doc_destroy(doc);
	}
}

/* A cluster without nodes with the chosen workloads and what they are grouped by; the caller destroys it. */
static struct simulation *open_simulation(const struct manifests *objects, const bool *chosen, int64_t now_ns,
                                          const struct settings *settings, struct problems *problems)
{
	struct settings all_groups = *settings; /* a plan knows of single pods what is written about them */
	all_groups.single_groups = true;
	struct simulation *simulation =
		simulation_create(&(struct simulation_options){.seed = 1, .settings = &all_groups});
	simulation->clock.now = now_ns;
	make_classes(simulation, objects, chosen, problems);
	for (size_t i = 0; i < objects->count; i++) {
		if (!chosen[i] && !is_context(&objects->items[i]))
			continue;
		make_namespace(simulation, objects->items[i].namespace_, problems);
		apply(simulation, &objects->items[i], problems);
	}
	return simulation;
}

/* The number of objects that were given and are left: what was made stands behind them. */
static size_t expand_chosen(struct manifests *objects, const bool *chosen, int64_t now_ns,
                            const struct settings *settings, struct problems *problems)
{
	const char *source = NULL;
	for (size_t i = 0; i < objects->count && !source; i++)
		source = chosen[i] ? objects->items[i].source : NULL;
	struct simulation *simulation = open_simulation(objects, chosen, now_ns, settings, problems);
	size_t given = objects->count;
	if (!expand_roll_out(simulation, source, settings, objects, problems))
		problem_add(problems, SEVERITY_ERROR, source, NULL,
		            "the workloads make more pods than can be planned at once; the plan is without the rest");
	struct arena *arena = arena_create();
	struct interner *makers = find_makers(simulation, arena);
	size_t left = leave_out(objects, given, chosen, makers, problems);
	interner_destroy(makers);
	arena_destroy(arena);
	take_over_claims(simulation, source, objects, problems);
	simulation_destroy(simulation);
	return left;
}

void expand_workloads(struct manifests *objects, int64_t now_ns, const struct settings *settings,
                      struct problems *problems)
{
	bool *chosen = choose(objects);
	size_t given = chosen ? expand_chosen(objects, chosen, now_ns, settings, problems) : objects->count;
	free(chosen);
	expand_named_groups(objects, given, settings, problems);
	expand_claims(objects, problems);
	expand_devices(objects, problems);
}

/* ---- judging ---- */

struct judge {
	const struct manifests *objects;
	const bool *chosen;
	const struct settings *settings;
	struct simulation *simulation;
	struct surroundings *around;
	struct arena *arena;
	struct interner *told, *seen; /* problems, and workloads whose whole group was looked at */
	expand_tell *tell;
	void *context;
};

static const struct manifest *find_workload(const struct judge *judge, const char *kind, const char *namespace_,
                                            const char *name)
{
	for (size_t i = 0; i < judge->objects->count; i++) {
		const struct manifest *object = &judge->objects->items[i];
		const char *space = object->namespace_[0] ? object->namespace_ : "default";
		bool judged = judge->chosen[i] || is_neighbour(object->api_version, object->kind);
		if (judged && text_equal(object->kind, kind) && text_equal(object->name, name) &&
		    text_equal(space, namespace_))
			return object;
	}
	return NULL;
}

/* Once, however many pods or groups show it. */
static void tell_of(const struct judge *judge, const struct manifest *workload, const struct problem *problem,
                    bool of_group)
{
	uint32_t count = interner_count(judge->told);
	const char *key =
		arena_printf(judge->arena, "%p %s %s", (const void *)workload, problem->path, problem->message);
	if (workload && interner_id(judge->told, key) == count)
		judge->tell(judge->context, workload, problem, of_group);
}

static void tell(const struct judge *judge, const struct manifest *workload, const struct problem *problem)
{
	tell_of(judge, workload, problem, false);
}

/* What an API server would not take. */
static void tell_refused(const struct judge *judge, const struct problems *refused)
{
	for (size_t i = 0; i < refused->count; i++)
		for (size_t o = 0; o < judge->objects->count; o++)
			if (judge->chosen[o] && text_equal(judge->objects->items[o].source, refused->items[i].path)) {
				struct problem problem = refused->items[i];
				problem.path = "";
				tell(judge, &judge->objects->items[o], &problem);
			}
}

/* The workload that a pod was made for. */
static const struct manifest *find_maker(const struct judge *judge, const struct store_object *pod)
{
	const struct manifest *found = NULL;
	const struct store_object *object = pod;
	for (int step = 0; object && !found && step < GROUP_MAX_OWNERS; step++) {
		const struct val *owner = val_item(val_path(object->root, "metadata", "ownerReferences", NULL), 0);
		const char *kind = val_str(val_get(owner, "kind"), ""), *name = val_str(val_get(owner, "name"), "");
		const struct store_api *api =
			store_api_of_kind(judge->simulation->store, val_str(val_get(owner, "apiVersion"), ""), kind);
		found = find_workload(judge, kind, pod->namespace_, name);
		object = api ? store_peek(judge->simulation->store, api->type, pod->namespace_, name) : NULL;
	}
	return found;
}

/* Mistakes that all pods of a workload have are one mistake of it. */
static void judge_surroundings(const struct judge *judge, const struct store_object *pod, struct arena *scratch)
{
	struct problems problems = {.arena = scratch};
	surroundings_judge(judge->around, pod->root, &problems);
	const struct manifest *workload = problems.count ? find_maker(judge, pod) : NULL;
	for (size_t i = 0; workload && i < problems.count; i++) {
		struct problem problem = problems.items[i];
		problem.path = arena_printf(judge->arena, "its pods: %s", problem.path);
		problem.message = arena_strdup(judge->arena, problem.message);
		problem.fix = arena_strdup(judge->arena, problem.fix);
		tell(judge, workload, &problem);
	}
}

static void judge_pod(const struct judge *judge, const struct store_object *pod, struct arena *scratch)
{
	struct group_result result;
	if (!settings_owns_pod(judge->settings, pod->root))
		return;
	judge_surroundings(judge, pod, scratch);
	grouping_look(judge->simulation->store, judge->settings, pod->root, false, scratch, &result);
	const char *api_version, *name;
	bool named = group_names_neighbour(pod->root, &api_version, &name);
	if (!result.owner.name && !named)
		return;
	const char *key = identity(scratch, named ? "named" : result.owner.kind, pod->namespace_,
	                           named ? name : result.owner.name);
	uint32_t count = interner_count(judge->seen);
	if (interner_id(judge->seen, key) == count)
		grouping_look(judge->simulation->store, judge->settings, pod->root, true, scratch, &result);
	const struct manifest *workload =
		named ? find_maker(judge, pod)
		      : find_workload(judge, result.owner.kind, pod->namespace_, result.owner.name);
	const struct val *told = writes_find_condition(pod->root, "PodScheduled");
	if (result.verdict == GROUP_WANTED && text_equal(val_str(val_get(told, "reason"), NULL), PODS_NOT_GROUPED))
		tell(judge, workload,
		     &(struct problem){.severity = SEVERITY_ERROR,
		                       .path = "",
		                       .message = arena_strdup(judge->arena, val_str(val_get(told, "message"), ""))});
	for (size_t i = 0; i < result.warning_count; i++) {
		const struct group_warning *warning = &result.warnings[i];
		/* The group may be in the cluster already, and what is lost of it keeps nobody from being placed. */
		bool minor = named && (warning->about == GROUP_ABOUT_OBJECT_NOT_FOUND ||
		                       warning->about == GROUP_ABOUT_NO_COUNTERPART);
		enum severity severity = result.verdict == GROUP_REFUSED && !minor ? SEVERITY_ERROR : SEVERITY_WARNING;
		if (result.owner.name && is_neighbour(result.owner.api_version, result.owner.kind) && !warning->on_pod)
			continue; /* told of the group */
		tell(judge, workload,
		     &(struct problem){.severity = severity,
		                       .path = arena_strdup(judge->arena, warning->path),
		                       .message = arena_strdup(judge->arena, warning->message),
		                       .fix = arena_strdup(judge->arena, warning->fix)});
	}
}

static void judge_pods(const struct judge *judge)
{
	const struct store_type *type = store_type_find(judge->simulation->store, "", "pods");
	struct store_list pods;
	if (store_list(judge->simulation->store, &(struct store_list_request){.api = type->apis}, &pods, judge->arena,
	               NULL))
		return;
	struct arena *scratch = arena_create();
	for (size_t i = 0; i < pods.count; i++) {
		judge_pod(judge, pods.items[i], scratch);
		arena_reset(scratch);
	}
	arena_destroy(scratch);
	store_list_clear(&pods);
}

/* What a PodGroup asks for stands on its workload, in other words. */
static void judge_groups(const struct judge *judge)
{
	struct manifests made, around;
	struct problems unread = {.arena = judge->arena};
	manifests_init(&made);
	manifests_init(&around);
	for (size_t i = 0; i < judge->objects->count; i++)
		manifests_add(&around, judge->objects->items[i].object, judge->objects->items[i].source, &unread);
	take_over(judge->simulation, KINDS_KAI, "topologies", "", &around, &unread);
	take_over(judge->simulation, KINDS_SCHEDULING, "podgroups", "", &made, &unread);
	struct admit_index *index = admit_index_create(&around);
	for (size_t i = 0; i < made.count; i++) {
		struct problems problems = {.arena = judge->arena};
		const struct val *owner =
			val_item(val_path(made.items[i].object, "metadata", "ownerReferences", NULL), 0);
		const struct manifest *workload =
			find_workload(judge, val_str(val_get(owner, "kind"), ""), made.items[i].namespace_,
		                      val_str(val_get(owner, "name"), ""));
		admit_object(&made.items[i], index, &problems);
		/* The usual queue is made where there is none, and nobody asked for it. */
		bool usual = text_equal(val_str(val_path(made.items[i].object, "spec", "queue", NULL), NULL),
		                        group_default_queue(&judge->settings->group));
		for (size_t p = 0; p < problems.count; p++) {
			struct problem problem = problems.items[p];
			if (usual && text_equal(problem.path, "spec.queue"))
				continue;
			problem.message =
				arena_printf(judge->arena, "its PodGroup: %s: %s", problem.path, problem.message);
			problem.path = "";
			tell_of(judge, workload, &problem, true);
		}
	}
	admit_index_destroy(index);
	manifests_free(&around);
	manifests_free(&made);
}

void expand_judge(const struct manifests *objects, const struct settings *settings, struct arena *arena,
                  expand_tell *to, void *context)
{
	bool *chosen = choose(objects);
	expand_judge_named(objects, settings, arena, to, context);
	if (!chosen)
		return;
	struct problems refused = {.arena = arena};
	struct judge judge = {.objects = objects,
	                      .chosen = chosen,
	                      .settings = settings,
	                      .simulation = open_simulation(objects, chosen, SIMULATION_START, settings, &refused),
	                      .around = surroundings_create(objects),
	                      .arena = arena,
	                      .told = interner_create(),
	                      .seen = interner_create(),
	                      .tell = to,
	                      .context = context};
	expand_run(judge.simulation); /* of the largest workloads the first pods say what there is to say */
	tell_refused(&judge, &refused);
	judge_pods(&judge);
	judge_groups(&judge);
	surroundings_destroy(judge.around);
	interner_destroy(judge.told);
	interner_destroy(judge.seen);
	simulation_destroy(judge.simulation);
	free(chosen);
}
