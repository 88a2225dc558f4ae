/* Owns when pods and groups are looked at, and in what order. Keys are pods and PodGroups: a change of a workload wakes
 * its pods, a pod wakes its group, and a group is written once for all pods that woke it. */
#include "grouping/internal.h"
#include "grouping/native_status.h"
#include "kinds/names.h"

#include "base/vec.h"
#include "group/defaults.h"
#include "loop/informer.h"
#include "loop/writes.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_POD, KEY_GROUP, KEY_DEFAULTS };

struct followed { /* a type of workloads, or of anything else that a grouping was read from */
	struct grouping_controller *controller;
	const struct store_type *type;
	struct informer *informer;
	bool checked; /* what pods saw before the first look was compared with it */
};

struct grouping_controller {
	struct grouping_options options;
	const struct settings *settings; /* of this turn */
	uint64_t seen;                   /* their number for grouping, when all pods were last looked at */
	struct reconciler *reconciler;
	struct grouping_index *index;
	struct grouping_changes *changes; /* of pods that stand alone */
	VEC(struct followed *) followed;
	uint64_t generation;         /* of the types, when that was last looked at */
	struct grouping_pod *asking; /* the pod that is being looked at */
	bool woken;                  /* a pod is to be looked at again because of another object */
	bool behind;                 /* changes of owners are left for the next step */
	struct grouping_looks *looks;
};

static const char *annotation(const struct val *object, const char *key)
{
	return val_str(val_path(object, "metadata", "annotations", key, NULL), "");
}

static bool field_differs(const struct val *a, const struct val *b, const char *outer, const char *inner)
{
	return inner ? !val_equal(val_path(a, outer, inner, NULL), val_path(b, outer, inner, NULL))
	             : !val_equal(val_get(a, outer), val_get(b, outer));
}

static bool metadata_says_the_same(const struct val *a, const struct val *b)
{
	return !field_differs(a, b, "metadata", "labels") && !field_differs(a, b, "metadata", "annotations") &&
	       !field_differs(a, b, "metadata", "ownerReferences") &&
	       !field_differs(a, b, "metadata", "deletionTimestamp");
}

/* Status changes of busy workloads mean nothing here, save for kinds whose status names another object to look at. */
static bool says_the_same(const struct val *a, const struct val *b, bool status)
{
	return metadata_says_the_same(a, b) && !field_differs(a, b, "spec", NULL) &&
	       (!status || !field_differs(a, b, "status", NULL));
}

/* Where a pod is placed says nothing about what it belongs to. */
static bool pod_says_the_same(const struct val *a, const struct val *b)
{
	const struct val *spec = val_get(a, "spec"), *other = val_get(b, "spec"), *item;
	const char *key;
	bool same = metadata_says_the_same(a, b) && val_count(spec) - (val_get(spec, "nodeName") != NULL) ==
	                                                    val_count(other) - (val_get(other, "nodeName") != NULL);
	for (struct val_iter it = val_iter(spec); same && val_next(&it, &key, &item);)
		same = strcmp(key, "nodeName") == 0 || val_equal(item, val_get(other, key));
	return same;
}

/* ---- changes become keys ---- */

static void on_pod(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	struct grouping_controller *controller = context;
	if (!settings_owns_pod(controller->settings, object->root))
		return;
	/* It left its group when it was told to end; now that may be the last trace of a part of its workload. */
	const char *group = deleted ? annotation(object->root, GROUP_KEY_POD_GROUP) : "";
	if (*group && !grouping_index_group(controller->index, object->namespace_, group))
		reconciler_want(reconciler, KEY_GROUP, object->namespace_, group);
	if (deleted || !old || strcmp(old->uid, object->uid) != 0 || !pod_says_the_same(old->root, object->root))
		reconciler_want(reconciler, KEY_POD, object->namespace_, object->name);
	else
		grouping_says_the_same(controller->index, object, old);
}

static void on_group(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	if (deleted || !old || !says_the_same(old->root, object->root, false))
		reconciler_want(reconciler, KEY_GROUP, object->namespace_, object->name);
}

static void on_config(struct reconciler *reconciler, void *context, const struct store_object *object,
                      const struct store_object *old, bool deleted)
{
	(void)context, (void)old, (void)deleted;
	if (strcmp(object->name, GROUP_DEFAULTS_NAME) == 0)
		reconciler_want(reconciler, KEY_DEFAULTS, object->namespace_, object->name);
}

static void want_pod(void *context, struct grouping_pod *pod)
{
	struct grouping_controller *controller = context;
	pod->looked = 0;
	controller->woken = true;
	reconciler_want(controller->reconciler, KEY_POD, pod->namespace_, pod->name);
}

static void want_pod_of(void *context, struct grouping_pod *pod)
{
	const struct followed *followed = context;
	want_pod(followed->controller, pod);
}

static uint64_t version_now(void *context, const char *namespace_, const char *name)
{
	const struct followed *followed = context;
	const struct store_object *object =
		store_peek(followed->controller->options.store, followed->type, namespace_, name);
	return object ? object->version : 0;
}

/* Between the moment a pod was grouped by an object and the first look at its kind the object may have gone: nobody
 * tells of that. */
static void look_at_kind(struct followed *followed)
{
	informer_poll(followed->informer);
	if (followed->checked || !informer_synced(followed->informer))
		return;
	followed->checked = true;
	grouping_index_check(followed->controller->index, followed->type->group, followed->type->kind, version_now,
	                     want_pod_of, followed);
}

static bool status_groups(const struct store_type *type)
{
	const struct kind_row *row = kinds_resource(type->group, type->resource);
	return row && row->flags & ROW_STATUS_GROUPS;
}

static void on_workload(void *context, const struct store_object *object, const struct store_object *old, bool deleted)
{
	struct followed *followed = context;
	const struct store_type *type = followed->type;
	if (!deleted && old && strcmp(old->uid, object->uid) == 0 &&
	    says_the_same(old->root, object->root, status_groups(type)))
		return;
	struct grouping_need now = {.group = type->group,
	                            .kind = type->kind,
	                            .namespace_ = object->namespace_,
	                            .name = object->name,
	                            .version = deleted ? 0 : object->version};
	grouping_index_visit(followed->controller->index, &now, want_pod, followed->controller);
	struct grouping_need any = {
		.group = type->group, .kind = type->kind, .namespace_ = "", .name = "", .version = 1};
	grouping_index_visit(followed->controller->index, &any, want_pod, followed->controller);
}

static void follow(struct grouping_controller *controller, const struct store_type *type)
{
	for (size_t i = 0; i < controller->followed.count; i++)
		if (controller->followed.items[i]->type == type)
			return;
	struct followed *followed = base_calloc(1, sizeof(*followed));
	*followed = (struct followed){.controller = controller, .type = type};
	followed->informer = informer_create(&(struct informer_options){
		.store = controller->options.store,
		.group = type->group,
		.resource = type->resource,
		.changed = on_workload,
		.context = followed,
	});
	vec_push(&controller->followed, followed);
}

static void on_asked(void *context, const struct store_type *type, const struct grouping_need *need)
{
	struct grouping_controller *controller = context;
	/* PodGroups have a watch of their own, whose keys are groups. */
	if (strcmp(need->kind, "PodGroup") == 0 && strcmp(need->group, KINDS_SCHEDULING) == 0)
		return;
	grouping_index_depend(controller->index, controller->asking, need);
	if (type)
		follow(controller, type);
	else
		controller->asking->unserved = true;
}

/* ---- reconcile ---- */

static struct store_object *peek(const struct reconcile *turn, const char *group, const char *resource,
                                 const char *namespace_, const char *name)
{
	const struct store_type *type = store_type_find(turn->store, group, resource);
	return type ? store_object_retain(store_peek(turn->store, type, namespace_, name)) : NULL;
}

static struct store_object *peek_owner(const struct reconcile *turn, const struct group_result *result)
{
	const struct group_owner *owner = &result->owner;
	if (!owner->object || strcmp(owner->kind, "Pod") == 0)
		return NULL;
	const struct store_api *api = store_api_of_kind(turn->store, owner->api_version, owner->kind);
	if (!api)
		return NULL;
	return store_object_retain(
		store_peek(turn->store, api->type, api->type->namespaced ? result->namespace_ : "", owner->name));
}

static bool has_ended(const struct val *pod)
{
	const char *phase = val_str(val_path(pod, "status", "phase", NULL), "");
	return *val_str(val_path(pod, "metadata", "deletionTimestamp", NULL), "") || strcmp(phase, "Succeeded") == 0 ||
	       strcmp(phase, "Failed") == 0;
}

static bool is_owned_by(const struct val *object, const char *uid)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "uid"), ""), uid) == 0)
			return true;
	return false;
}

/* Somebody's own PodGroup may have the name that ours would have: it stays as it is. */
static int write_group(struct grouping_controller *controller, const struct reconcile *turn,
                       const struct group_result *result, bool may_create, struct grouping_failure *failure)
{
	struct store_object *existing = peek(turn, KINDS_SCHEDULING, "podgroups", result->namespace_, result->name);
	int rc = 0;
	if (existing ? is_owned_by(existing->root, result->owner.uid) : may_create)
		rc = grouping_write_group(turn, result, &controller->settings->group, existing, failure);
	store_object_release(existing);
	return rc;
}

static void ask(struct grouping_controller *controller, struct reconcile *turn, struct grouping_source *source,
                struct grouping_pod *pod)
{
	if (pod->seen == 0)
		pod->seen = store_version(turn->store);
	grouping_source_open(source, turn->store, turn->arena, pod->seen);
	source->asked = on_asked;
	source->context = controller;
	controller->asking = pod;
}

/* The whole group, as its oldest pod describes it. */
static int reconcile_group(struct grouping_controller *controller, struct reconcile *turn, struct grouping_group *group,
                           struct grouping_failure *failure)
{
	struct grouping_pod *first = grouping_group_first(group);
	struct store_object *pod = peek(turn, "", "pods", first->namespace_, first->name);
	if (!pod)
		return 0; /* its end is on the way to us */
	struct grouping_source source;
	struct group_result result;
	int rc = 0;
	ask(controller, turn, &source, first);
	group_pod(pod->root, &source.source, &controller->settings->group, turn->arena, &result);
	/* A group that goes because its workload does is not made again. */
	bool single =
		grouping_is_single(controller->options.store, controller->settings, controller->index, pod, &result);
	bool ending = has_ended(pod->root) ||
	              (result.owner.object &&
	               *val_str(val_path(result.owner.object, "metadata", "deletionTimestamp", NULL), ""));
	if (result.verdict == GROUP_WANTED && strcmp(result.name, group->name) == 0)
		rc = write_group(controller, turn, &result, !ending && !single, failure);
	if (rc < 0) {
		turn->failure = failure->message;
		struct store_object *owner = peek_owner(turn, &result);
		if (failure->refused)
			writes_event_once(turn->store, owner ? owner : pod, true, "PodGroupRefused", failure->message,
			                  turn->now_ns / CLOCK_SECOND);
		store_object_release(owner);
	}
	grouping_source_close(&source);
	store_object_release(pod);
	return rc;
}

/* A group without pods stays with its workload, which makes new ones; not that of a replica which was scaled away. */
static int remove_left_over(struct reconcile *turn)
{
	struct store_object *group = peek(turn, KINDS_SCHEDULING, "podgroups", turn->key.namespace_, turn->key.name);
	struct grouping_source source;
	int rc = 0;
	grouping_source_open(&source, turn->store, turn->arena, store_version(turn->store));
	if (group && !*val_str(val_path(group->root, "metadata", "deletionTimestamp", NULL), "") &&
	    group_is_left_over(group->root, &source.source)) {
		struct store_request request = writes_delete(group, WRITES_ACTOR);
		struct store_error error = {0};
		rc = writes_send(turn->store, &request, turn->arena, &error);
		turn->failure = error.message;
	}
	grouping_source_close(&source);
	store_object_release(group);
	return rc;
}

static int group_changed(struct grouping_controller *controller, struct reconcile *turn)
{
	struct grouping_group *group = grouping_index_group(controller->index, turn->key.namespace_, turn->key.name);
	struct grouping_failure failure = {0};
	if (!group)
		return remove_left_over(turn);
	/* Somebody made a PodGroup for a pod that stood alone, or another pod joined it: now it has to be marked. */
	if (group->unwritten)
		want_pod(controller, grouping_group_first(group));
	return reconcile_group(controller, turn, group, &failure);
}

/* The group first, so that a pod never names one that is not there. */
static int write_all(struct grouping_controller *controller, struct reconcile *turn, struct grouping_pod *known,
                     const struct store_object *pod, const struct group_result *result)
{
	struct grouping_failure failure = {0};
	struct store_object *group = peek(turn, KINDS_SCHEDULING, "podgroups", result->namespace_, result->name);
	int rc = 0;
	if (group)
		reconciler_want(controller->reconciler, KEY_GROUP, result->namespace_, result->name);
	else if (known->group) /* which it has, as it is wanted */
		rc = reconcile_group(controller, turn, known->group, &failure);
	store_object_release(group);
	if (rc == 0)
		rc = grouping_write_pod(turn, result, pod, &failure);
	else if (failure.refused)
		grouping_mark_refused(turn, pod, failure.message);
	turn->failure = failure.message;
	return rc;
}

static int settle_pod(struct grouping_controller *controller, struct reconcile *turn, struct grouping_pod *known,
                      const struct store_object *pod, const struct group_result *result)
{
	/* A pod that was grouped before stays so. One whose owner just went is about to follow it, without a word. */
	bool grouped = *annotation(pod->root, GROUP_KEY_POD_GROUP);
	if (result->verdict == GROUP_NONE)
		grouping_unmark_refused(turn, pod);
	if (result->verdict == GROUP_NONE || (result->verdict == GROUP_REFUSED && grouped && !result->owner.object))
		return 0;
	struct store_object *owner = peek_owner(turn, result);
	grouping_tell(turn, result, owner, pod);
	store_object_release(owner);
	bool single =
		grouping_is_single(controller->options.store, controller->settings, controller->index, pod, result);
	if (single)
		grouping_note_terms(controller->changes, known, result);
	if (known->group && known->terms)
		known->group->unwritten = single;
	if (single) {
		grouping_unmark_refused(turn, pod);
		return 0;
	}
	known->terms = 0;
	if (result->verdict == GROUP_WANTED)
		return write_all(controller, turn, known, pod, result);
	const char *warnings = grouping_warnings(turn, result);
	native_status_tell_fault(turn, result, warnings);
	if (!grouped)
		grouping_mark_refused(turn, pod, warnings);
	return 0;
}

static void forget_pod(struct grouping_controller *controller, const struct work_key *key, struct grouping_pod *known)
{
	if (known && known->group)
		reconciler_want(controller->reconciler, KEY_GROUP, known->group->namespace_, known->group->name);
	grouping_index_remove(controller->index, key->namespace_, key->name);
}

static int pod_changed(struct grouping_controller *controller, struct reconcile *turn)
{
	struct store_object *pod = peek(turn, "", "pods", turn->key.namespace_, turn->key.name);
	if (!pod || has_ended(pod->root) || !settings_owns_pod(controller->settings, pod->root)) {
		forget_pod(controller, &turn->key,
		           grouping_index_find(controller->index, turn->key.namespace_, turn->key.name));
		store_object_release(pod);
		return 0;
	}
	struct grouping_pod *known = grouping_index_add(controller->index, pod);
	struct grouping_source source;
	struct group_result result;
	grouping_index_forget(controller->index, known);
	ask(controller, turn, &source, known);
	group_pod_marks(pod->root, &source.source, &controller->settings->group, turn->arena, &result);
	grouping_index_join(controller->index, known, result.namespace_,
	                    result.verdict == GROUP_WANTED ? result.name : NULL);
	/* An answer of the server is awaited, which brings the pod back here. */
	int rc = source.unsure ? 0 : settle_pod(controller, turn, known, pod, &result);
	if (source.unsure)
		known->looked = 0;
	else
		grouping_remember(controller->looks, known, pod, &result, source.listed);
	grouping_source_close(&source);
	store_object_release(pod);
	return rc;
}

/* What is wrong in it is told there; what is right came with the settings. */
static int defaults_changed(struct grouping_controller *controller, struct reconcile *turn)
{
	struct store_object *object = peek(turn, "", "configmaps", turn->key.namespace_, turn->key.name);
	for (size_t i = 0; object && i < controller->settings->problem_count; i++) {
		const struct problem *problem = &controller->settings->problems[i];
		writes_event_once(turn->store, object, true, "GroupingDefaultsInvalid",
		                  arena_printf(turn->arena, "%s: %s", problem->path, problem->message),
		                  turn->now_ns / CLOCK_SECOND);
	}
	store_object_release(object);
	return 0;
}

static int reconcile(void *context, struct reconcile *turn)
{
	switch (turn->key.kind) {
	case KEY_POD:
		return pod_changed(context, turn);
	case KEY_GROUP:
		return group_changed(context, turn);
	default:
		return defaults_changed(context, turn);
	}
}

/* ---- start, turn, end ---- */

struct grouping_controller *grouping_create(const struct grouping_options *options)
{
	static const struct reconciler_watch watches[] = {
		{.group = "", .resource = "configmaps", .namespace_ = GROUP_DEFAULTS_NAMESPACE, .map = on_config},
		{.group = "", .resource = "pods", .map = on_pod},
		{.group = KINDS_SCHEDULING, .resource = "podgroups", .map = on_group},
	};
	struct grouping_controller *controller = base_calloc(1, sizeof(*controller));
	controller->options = *options;
	controller->settings = settings_now(options->settings);
	controller->seen = controller->settings->grouping;
	controller->index = grouping_index_create();
	controller->changes = grouping_changes_create();
	controller->looks = grouping_looks_create(options->store, controller->index);
	grouping_looks_use(controller->looks, controller->settings, true);
	controller->generation = store_types_generation(options->store);
	controller->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "grouping",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = sizeof(watches) / sizeof(*watches),
		.reconcile = reconcile,
		.context = controller,
	});
	return controller;
}

/* Those that are grouped, and those that were not ours before. */
static void want_all_pods(struct grouping_controller *controller)
{
	struct store *store = controller->options.store;
	const struct store_type *type = store_type_find(store, "", "pods");
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct store_list list = {0};
	grouping_index_each(controller->index, false, want_pod, controller);
	if (type && store_list(store, &(struct store_list_request){.api = type->apis}, &list, arena, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			if (settings_owns_pod(controller->settings, list.items[i]->root))
				reconciler_want(controller->reconciler, KEY_POD, list.items[i]->namespace_,
				                list.items[i]->name);
	store_list_clear(&list);
	arena_destroy(arena);
}

static bool all_checked(const struct grouping_controller *controller)
{
	bool all = true;
	for (size_t i = 0; i < controller->followed.count && all; i++)
		all = controller->followed.items[i]->checked;
	return all;
}

static void use_settings(struct grouping_controller *controller)
{
	controller->settings = settings_now(controller->options.settings);
	grouping_looks_use(controller->looks, controller->settings, all_checked(controller));
	if (controller->seen == controller->settings->grouping)
		return;
	controller->seen = controller->settings->grouping;
	want_all_pods(controller);
}

/* What is remembered of pods holds only when nothing that it rests on can change unseen. */
static void look_at_kinds(struct grouping_controller *controller, size_t first)
{
	for (size_t i = first; i < controller->followed.count; i++) {
		look_at_kind(controller->followed.items[i]);
		controller->behind |= informer_behind(controller->followed.items[i]->informer);
	}
	grouping_looks_use(controller->looks, controller->settings, all_checked(controller));
}

void grouping_read(struct grouping_controller *controller)
{
	use_settings(controller);
	look_at_kinds(controller, 0);
	reconciler_read(controller->reconciler);
}

int grouping_step(struct grouping_controller *controller)
{
	use_settings(controller);
	/* A new definition may serve the owners that pods named in vain. */
	uint64_t generation = store_types_generation(controller->options.store);
	if (generation != controller->generation)
		grouping_index_each(controller->index, true, want_pod, controller);
	controller->generation = generation;
	controller->behind = false;
	look_at_kinds(controller, 0);
	size_t known = controller->followed.count;
	int wait = reconciler_step(controller->reconciler);
	/* Kinds that the pods of this turn led to. */
	controller->woken = false;
	look_at_kinds(controller, known);
	return controller->woken || controller->behind ? 0 : wait;
}

void grouping_destroy(struct grouping_controller *controller)
{
	if (!controller)
		return;
	reconciler_destroy(controller->reconciler);
	for (size_t i = 0; i < controller->followed.count; i++) {
		informer_destroy(controller->followed.items[i]->informer);
		free(controller->followed.items[i]);
	}
	vec_free(&controller->followed);
	grouping_looks_destroy(controller->looks);
	grouping_index_destroy(controller->index);
	grouping_changes_destroy(controller->changes);
	free(controller);
}

/* ---- for the scheduler ---- */

static bool holds(void *context, const struct store_object *pod)
{
	const struct grouping_controller *controller = context;
	return grouping_holds(controller->looks, pod);
}

static bool terms(void *context, const struct store_object *pod, struct arena *arena, struct group_terms *out)
{
	const struct grouping_controller *controller = context;
	return grouping_terms(controller->looks, pod, arena, out);
}

static bool changed(void *context, const char **namespace_, const char **name)
{
	struct grouping_controller *controller = context;
	return grouping_next_change(controller->changes, namespace_, name);
}

struct pod_grouping grouping_for_scheduler(struct grouping_controller *controller)
{
	return (struct pod_grouping){.context = controller, .holds = holds, .terms = terms, .changed = changed};
}
