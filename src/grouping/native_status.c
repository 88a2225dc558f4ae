/* Owns the conditions of groups of Kubernetes itself. */
#include "grouping/native_status.h"

#include "base/strings.h"
#include "group/group.h"
#include "kinds/names.h"
#include "loop/reconciler.h"
#include "loop/writes.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LEVELS 16 /* of a tree that is walked */
#define DISRUPTED "DisruptionTarget"
#define PREEMPTED "PreemptionByScheduler"

/* Keys: a PodGroup of ours whose status is passed on, and one of Kubernetes of which pods go. */
enum { KEY_TOLD, KEY_DISRUPTED };

/* One node of the tree as the PodGroup shows it; number 0 is the root. */
struct part {
	const char *name; /* of the subgroup */
	int parent;
	int minimum; /* pods of a leaf, children of a parent */
	bool leaf;
	int64_t placed, below; /* pods; children that are met */
	bool met;
};

struct telling {
	struct reconcile *turn;
	const struct val *group; /* the PodGroup */
	struct part *parts;
	size_t count;
	bool placed, ready; /* the whole of it; its pods exist */
	const char *message;
	int rc;
};

/* ---- the PodGroup ---- */

static const struct val *native_owner(const struct val *group)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(group, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &item);)
		if (text_starts_with(val_str(val_get(item, "apiVersion"), ""), KINDS_SCHEDULING_K8S "/"))
			return item;
	return NULL;
}

static int find_part(const struct telling *telling, const char *name)
{
	for (size_t i = 1; i < telling->count; i++)
		if (strcmp(telling->parts[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int read_minimum(const struct val *map, const char *key, int otherwise)
{
	int64_t number = otherwise;
	val_int(val_get(map, key), &number);
	return (int)number;
}

static void read_tree(struct telling *telling)
{
	const struct val *spec = val_get(telling->group, "spec"), *status = val_get(telling->group, "status"), *item;
	const struct val *list = val_get(spec, "subGroups");
	telling->parts = arena_array(telling->turn->arena, struct part, val_count(list) + 1);
	telling->parts[telling->count++] = (struct part){.name = "",
	                                                 .parent = -1,
	                                                 .leaf = val_count(list) == 0,
	                                                 .minimum = read_minimum(spec, "minMember", 1)};
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		telling->parts[telling->count++] =
			(struct part){.name = val_str(val_get(item, "name"), ""),
		                      .leaf = val_get(item, "minMember") != NULL,
		                      .minimum = read_minimum(item, "minMember", read_minimum(item, "minSubGroup", 1))};
	if (!telling->parts[0].leaf)
		telling->parts[0].minimum = read_minimum(spec, "minSubGroup", 1);
	size_t number = 1;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); number++) {
		int parent = find_part(telling, val_str(val_get(item, "parent"), ""));
		telling->parts[number].parent = parent < 0 ? 0 : parent;
	}
	for (struct val_iter it = val_iter(val_get(status, "subGroups")); val_next(&it, NULL, &item);) {
		int part = find_part(telling, val_str(val_get(item, "name"), ""));
		if (part > 0)
			val_int(val_get(item, "placed"), &telling->parts[part].placed);
	}
	val_int(val_get(status, "running"), &telling->parts[0].placed);
}

/* Parents may stand before their children, and after them: as often as the tree has levels. */
static void judge_tree(struct telling *telling)
{
	for (int level = 0; level < MOST_LEVELS; level++) {
		for (size_t i = 0; i < telling->count; i++)
			telling->parts[i].below = 0;
		for (size_t i = 1; i < telling->count; i++)
			telling->parts[telling->parts[i].parent].below += telling->parts[i].met;
		for (size_t i = 0; i < telling->count; i++) {
			struct part *part = &telling->parts[i];
			part->met = (part->leaf ? part->placed : part->below) >= part->minimum;
		}
	}
	telling->parts[0].met = telling->placed;
}

static bool read_condition(struct telling *telling)
{
	const struct val *scheduled = writes_find_condition(telling->group, "Scheduled");
	const char *reason = val_str(val_get(scheduled, "reason"), "");
	if (!scheduled)
		return false;
	telling->placed = strcmp(val_str(val_get(scheduled, "status"), ""), "True") == 0;
	telling->message = val_str(val_get(scheduled, "message"), "");
	telling->ready = strcmp(reason, "NotReady") != 0;
	return true;
}

/* ---- the groups ---- */

static const char *type_of(const struct store_object *object)
{
	if (strcmp(object->type->kind, "CompositePodGroup") == 0)
		return "CompositePodGroupInitiallyScheduled";
	/* Until Kubernetes 1.36. */
	return strcmp(val_str(val_get(object->root, "apiVersion"), ""), KINDS_SCHEDULING_K8S "/v1alpha2") == 0
	               ? "PodGroupScheduled"
	               : "PodGroupInitiallyScheduled";
}

static int64_t count_left(const struct telling *telling, const struct part *part)
{
	int64_t pending = 0;
	val_int(val_path(telling->group, "status", "pending", NULL), &pending);
	return part == telling->parts ? pending : part->minimum - part->placed;
}

static const char *refusal_text(const struct telling *telling, const struct store_object *object,
                                const struct part *part)
{
	struct arena *arena = telling->turn->arena;
	if (val_kind(val_path(object->root, "spec", "schedulingPolicy", "gang", NULL)) != VAL_MAP || part->met)
		return telling->message;
	const char *head =
		part->leaf ? arena_printf(arena, "minCount (%d) cannot be satisfied: %lld scheduled, %lld remaining",
	                                  part->minimum, (long long)part->placed, (long long)count_left(telling, part))
			   : arena_printf(arena, "minGroupCount (%d) cannot be satisfied: %lld groups scheduled",
	                                  part->minimum, (long long)part->below);
	return *telling->message ? arena_printf(arena, "%s: %s", head, telling->message) : head;
}

static bool is_true(const struct val *condition)
{
	return strcmp(val_str(val_get(condition, "status"), ""), "True") == 0;
}

/* 0, or -1 when it was refused. */
static int write_condition(const struct reconcile *turn, const struct store_object *object,
                           const struct condition *condition)
{
	if (writes_has_condition(object->root, condition))
		return 0;
	struct build *build = build_create();
	struct node *status = build_map(build);
	build_put(build, status, "conditions",
	          writes_conditions(build, object->root, condition, 1, turn->now_ns / CLOCK_SECOND));
	int written = writes_patch_status(turn->store, object, build, status);
	build_destroy(build);
	return written < 0 ? -1 : 0;
}

/* Placed again after it was told to go: it is nobody's victim any more. */
static void tell_return(struct telling *telling, const struct store_object *object)
{
	const struct val *target = writes_find_condition(object->root, DISRUPTED);
	const struct val *placed = writes_find_condition(telling->group, "Scheduled");
	struct condition condition = {DISRUPTED, "False", "Scheduled", ""};
	if (is_true(target) &&
	    strcmp(val_str(val_get(target, "lastTransitionTime"), ""),
	           val_str(val_get(placed, "lastTransitionTime"), "")) < 0 &&
	    write_condition(telling->turn, object, &condition) < 0)
		telling->rc = -1;
}

/* What once was true stays, as with kube-scheduler: it speaks of the start. While pods are missing nothing is said. */
static void tell(struct telling *telling, const struct store_object *object, const struct part *part)
{
	bool placed = telling->placed && part->met;
	struct condition condition = {.type = type_of(object), .status = placed ? "True" : "False"};
	if (placed)
		tell_return(telling, object);
	if (is_true(writes_find_condition(object->root, condition.type)) || (!placed && !telling->ready))
		return;
	condition.reason = placed ? "Scheduled" : "Unschedulable";
	condition.message = placed ? "" : refusal_text(telling, object, part);
	if (write_condition(telling->turn, object, &condition) < 0)
		telling->rc = -1;
}

static void tell_root(struct telling *telling, const struct val *owner)
{
	struct store *store = telling->turn->store;
	const struct store_api *api = store_api_of_kind(store, val_str(val_get(owner, "apiVersion"), ""),
	                                                val_str(val_get(owner, "kind"), ""));
	struct store_object *object = store_object_retain(
		api ? store_peek(store, api->type, telling->turn->key.namespace_, val_str(val_get(owner, "name"), ""))
		    : NULL);
	if (object && strcmp(object->uid, val_str(val_get(owner, "uid"), "")) == 0)
		tell(telling, object, &telling->parts[0]);
	store_object_release(object);
}

/* Whether the object is somewhere below that CompositePodGroup. */
static bool is_below(struct store *store, const struct store_object *object, const char *root)
{
	const struct store_type *type = store_type_find(store, KINDS_SCHEDULING_K8S, "compositepodgroups");
	for (int level = 0; object && level < MOST_LEVELS; level++) {
		const char *parent = group_native_parent(object->root);
		if (!parent || !type)
			return false;
		if (strcmp(parent, root) == 0)
			return true;
		object = store_peek(store, type, object->namespace_, parent);
	}
	return false;
}

static void tell_below(struct telling *telling, const char *resource, const char *root)
{
	struct reconcile *turn = telling->turn;
	const struct store_type *type = store_type_find(turn->store, KINDS_SCHEDULING_K8S, resource);
	struct store_list list = {0};
	struct store_error error = {0};
	if (!type ||
	    store_list(turn->store, &(struct store_list_request){.api = type->apis, .namespace_ = turn->key.namespace_},
	               &list, turn->arena, &error))
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct store_object *object = list.items[i];
		int part = find_part(telling, group_native_label(object->name, turn->arena));
		if (part > 0 && is_below(turn->store, object, root))
			tell(telling, object, &telling->parts[part]);
	}
	store_list_clear(&list);
}

/* ---- what is wrong, and who goes ---- */

void native_status_tell_fault(const struct reconcile *turn, const struct group_result *result, const char *message)
{
	for (size_t i = 0; i < result->faulty_count; i++) {
		const struct group_owner *owner = &result->faulty[i];
		const struct store_api *api = store_api_of_kind(turn->store, owner->api_version, owner->kind);
		struct store_object *object = store_object_retain(
			api ? store_peek(turn->store, api->type, turn->key.namespace_, owner->name) : NULL);
		if (object && !is_true(writes_find_condition(object->root, type_of(object)))) {
			struct condition condition = {type_of(object), "False",
			                              result->fault == GROUP_FAULT_INVALID ? "Invalid"
			                                                                   : "SchedulerError",
			                              message};
			write_condition(turn, object, &condition); /* again when the pod is looked at again */
		}
		store_object_release(object);
	}
}

/* A pod of this PodGroup was told to go: with it go the groups up to the root, when that goes as a whole. */
static int tell_disruption(struct reconcile *turn)
{
	const struct store_type *leaf = store_type_find(turn->store, KINDS_SCHEDULING_K8S, "podgroups");
	const struct store_type *above = store_type_find(turn->store, KINDS_SCHEDULING_K8S, "compositepodgroups");
	struct condition condition = {DISRUPTED, "True", PREEMPTED, "its pods give way to others"};
	struct store_object *path[MOST_LEVELS];
	size_t count = 0;
	int rc = 0;
	struct store_object *object = leaf ? store_peek(turn->store, leaf, turn->key.namespace_, turn->key.name) : NULL;
	while (object && count < MOST_LEVELS) {
		path[count++] = store_object_retain(object);
		const char *parent = group_native_parent(object->root);
		object = parent && above ? store_peek(turn->store, above, turn->key.namespace_, parent) : NULL;
	}
	bool goes = count > 0 && group_native_goes_whole(path[count - 1]->root);
	for (size_t i = 0; i < count; i++) {
		if (goes && write_condition(turn, path[i], &condition) < 0)
			rc = -1;
		store_object_release(path[i]);
	}
	turn->failure = rc < 0 ? "the conditions of its groups could not be written" : NULL;
	return rc;
}

static int reconcile(void *context, struct reconcile *turn)
{
	(void)context;
	if (turn->key.kind == KEY_DISRUPTED)
		return tell_disruption(turn);
	const struct store_type *type = store_type_find(turn->store, KINDS_SCHEDULING, "podgroups");
	struct store_object *group =
		store_object_retain(type ? store_peek(turn->store, type, turn->key.namespace_, turn->key.name) : NULL);
	const struct val *owner = group ? native_owner(group->root) : NULL;
	struct telling telling = {.turn = turn, .group = group ? group->root : NULL};
	if (owner && read_condition(&telling)) {
		read_tree(&telling);
		judge_tree(&telling);
		tell_root(&telling, owner);
		if (telling.count > 1) {
			tell_below(&telling, "compositepodgroups", val_str(val_get(owner, "name"), ""));
			tell_below(&telling, "podgroups", val_str(val_get(owner, "name"), ""));
		}
	}
	store_object_release(group);
	turn->failure = telling.rc < 0 ? "the conditions of its groups could not be written" : NULL;
	return telling.rc;
}

/* ---- start, turn, end ---- */

static void on_group(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context, (void)old;
	if (!deleted && native_owner(object->root))
		reconciler_want(reconciler, KEY_TOLD, object->namespace_, object->name);
}

static void on_pod(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	(void)context, (void)deleted;
	const char *group = group_native_name(object->root);
	const struct val *target = group ? writes_find_condition(object->root, DISRUPTED) : NULL;
	if (is_true(target) && strcmp(val_str(val_get(target, "reason"), ""), PREEMPTED) == 0 &&
	    !(old && is_true(writes_find_condition(old->root, DISRUPTED))))
		reconciler_want(reconciler, KEY_DISRUPTED, object->namespace_, group);
}

struct reconciler *native_status_create(const struct native_status_options *options)
{
	static const struct reconciler_watch watches[] = {
		{.group = KINDS_SCHEDULING, .resource = "podgroups", .map = on_group},
		{.group = "", .resource = "pods", .map = on_pod},
	};
	return reconciler_create(&(struct reconciler_options){
		.name = "native-status",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = sizeof(watches) / sizeof(*watches),
		.reconcile = reconcile,
	});
}
