/* Owns reading the groups that a translation begins with. */
#include "cli/translate_read.h"

#include "base/grow.h"
#include "group/group.h"
#include "kinds/kinds.h"
#include "loop/writes.h"
#include "schedule/snapshot_terms.h"
#include "sim/expand.h"
#include "sim/simulate.h"

#include <string.h>

struct reading {
	struct translation *translation;
	struct manifests *objects;
	const struct settings *settings;
	struct translated_groups *groups;
	size_t capacity;
	const struct manifest *given; /* the objects before workloads were expanded */
	size_t given_count;
	struct interner *keys;  /* "namespace/name" of PodGroups, in the order of the groups */
	struct interner *names; /* "namespace/name" in the output */
};

static const char *key_of(struct arena *arena, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s", *namespace_ ? namespace_ : "default", name);
}

/* ---- pods of everybody ---- */

/* A copy in which every pod, and every template of one, is placed by us: then it is grouped, whoever it was written for. */
static struct node *copy_as_ours(struct build *build, const struct val *val, const char *scheduler)
{
	const char *key;
	const struct val *item;
	if (val_kind(val) == VAL_LIST) {
		struct node *list = build_list(build);
		for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item);)
			build_append(build, list, copy_as_ours(build, item, scheduler));
		return list;
	}
	if (val_kind(val) != VAL_MAP)
		return build_copy(build, val);
	struct node *map = build_map(build);
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);)
		build_put(build, map, key, copy_as_ours(build, item, scheduler));
	if (val_kind(val_get(val, "containers")) == VAL_LIST)
		build_put_string(build, map, "schedulerName", scheduler);
	return map;
}

static void take_as_ours(struct manifests *objects, const struct settings *settings)
{
	for (size_t i = 0; i < objects->count; i++) {
		struct build *build = build_create();
		struct doc *doc =
			build_finish(build, copy_as_ours(build, objects->items[i].object, settings->schedulers[0]));
		manifests_keep(objects, doc);
		objects->items[i].object = doc_root(doc);
		build_destroy(build);
	}
}

/* ---- the report on reading ---- */

/* What of a group can only be judged where it is to run is no loss. */
static void tell_of_reading(void *context, const struct manifest *object, const struct problem *problem, bool of_group)
{
	struct reading *reading = context;
	struct arena *arena = reading->translation->arena;
	if (problem->severity == SEVERITY_ERROR || !of_group)
		translate_report(reading->translation,
		                 &(struct translate_loss){.source = arena_strdup(arena, object->source),
		                                          .object = translate_name(arena, object),
		                                          .path = problem->path,
		                                          .message = problem->message,
		                                          .error = problem->severity == SEVERITY_ERROR});
}

/* What the judge has said is not said again. */
static bool was_told(const struct translation *translation, const char *message)
{
	for (size_t i = 0; i < translation->loss_count; i++)
		if (strstr(message, translation->losses[i].message))
			return true;
	return false;
}

static void tell_of_expansion(struct reading *reading, const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		if (!was_told(reading->translation, problems->items[i].message))
			translate_report(reading->translation,
			                 &(struct translate_loss){.source = problems->items[i].path,
			                                          .object = "reading",
			                                          .path = "",
			                                          .message = problems->items[i].message,
			                                          .error = problems->items[i].severity ==
			                                                   SEVERITY_ERROR});
}

/* ---- groups ---- */

static bool is_kind(const struct manifest *object, enum kind_id id)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return row && row->id == id;
}

static const struct val *owner_of(const struct manifest *object)
{
	return val_item(val_path(object->object, "metadata", "ownerReferences", NULL), 0);
}

/* Where a group comes from a workload, or a group of others, the report names that. */
static const struct manifest *find_source(const struct reading *reading, const struct manifest *group)
{
	const struct val *owner = owner_of(group);
	for (size_t i = 0; owner && i < reading->given_count; i++) {
		const struct manifest *object = &reading->given[i];
		if (text_equal(object->kind, val_str(val_get(owner, "kind"), NULL)) &&
		    text_equal(object->name, val_str(val_get(owner, "name"), NULL)))
			return object;
	}
	return group;
}

static struct translated_group *add_group(struct reading *reading)
{
	struct translated_groups *groups = reading->groups;
	if (groups->count == reading->capacity)
		groups->items = grow_array(reading->translation->arena, groups->items, groups->count,
		                           &reading->capacity, sizeof(*groups->items));
	groups->items[groups->count] = (struct translated_group){0};
	return &groups->items[groups->count++];
}

/* Its own name, or that of what it was made for; with a number where that is taken. */
static const char *choose_name(struct reading *reading, const struct translated_group *group)
{
	struct arena *arena = reading->translation->arena;
	const char *name = group->source == group->manifest ? group->spec.name
	                                                    : val_str(val_get(owner_of(group->manifest), "name"), "");
	const char *base = group_native_label(name, arena), *chosen = base;
	for (int number = 1;; number++) {
		uint32_t known = interner_count(reading->names);
		if (interner_id(reading->names, key_of(arena, group->spec.namespace_, chosen)) == known)
			return chosen;
		chosen = arena_printf(arena, "%s-%d", base, number);
	}
}

static void name_parts(struct reading *reading, struct translated_group *group)
{
	struct arena *arena = reading->translation->arena;
	group->names = arena_array(arena, const char *, group->spec.tree_count);
	group->names[0] = group->name;
	for (size_t i = 1; i < group->spec.tree_count; i++) {
		const char *name = group->spec.tree[i].name;
		group->names[i] = *name ? group_native_label(name, arena) : arena_printf(arena, "set-%zu", i);
	}
}

static void read_group(struct reading *reading, const struct manifest *object)
{
	struct arena *arena = reading->translation->arena;
	struct problems problems = {.arena = arena};
	struct podgroup spec;
	if (podgroup_decode(object->object, arena, &spec, &problems) < 0) {
		for (size_t i = 0; i < problems.count; i++)
			if (problems.items[i].severity == SEVERITY_ERROR)
				tell_of_reading(reading, object, &problems.items[i], false);
		return;
	}
	uint32_t number = interner_id(reading->keys, key_of(arena, spec.namespace_, spec.name));
	if (number < reading->groups->count)
		return; /* given twice */
	struct translated_group *group = add_group(reading);
	group->manifest = object;
	group->source = find_source(reading, object);
	group->spec = spec;
	group->name = choose_name(reading, group);
	name_parts(reading, group);
	group->made = true;
	for (size_t i = 0; i < reading->given_count; i++)
		group->made &= reading->given[i].object != object->object;
	group->queue = text_equal(spec.queue, settings_default_queue(reading->settings)) ? NULL : spec.queue;
}

/* ---- their pods ---- */

static const char *group_of_pod(const struct manifest *object)
{
	return val_str(val_path(object->object, "metadata", "annotations", GROUP_KEY_POD_GROUP, NULL), "");
}

/* UINT32_MAX: it stands alone. */
static uint32_t find_group(const struct reading *reading, const struct manifest *pod)
{
	const char *name = group_of_pod(pod);
	return *name ? interner_find(reading->keys, key_of(reading->translation->arena, pod->namespace_, name))
	             : UINT32_MAX;
}

static void join_pod(struct reading *reading, const struct manifest *object)
{
	uint32_t number = find_group(reading, object);
	if (number == UINT32_MAX)
		return;
	struct translated_group *group = &reading->groups->items[number];
	const char *leaf = val_str(val_path(object->object, "metadata", "labels", GROUP_KEY_SUBGROUP, NULL), "");
	struct translated_pod *pods = (struct translated_pod *)group->pods;
	pods[group->pod_count] = (struct translated_pod){.manifest = object, .leaf = podgroup_leaf(&group->spec, leaf)};
	if (pods[group->pod_count].leaf < 0)
		translate_report(reading->translation,
		                 &(struct translate_loss){.source = object->source,
		                                          .object = translate_name(reading->translation->arena, object),
		                                          .path = "metadata.labels[" GROUP_KEY_SUBGROUP "]",
		                                          .message =
		                                                  "its group has no such subgroup: the pod is left out",
		                                          .error = true});
	else
		group->pod_count++;
}

static void join_pods(struct reading *reading)
{
	size_t *counts = arena_array(reading->translation->arena, size_t, reading->groups->count + 1);
	for (size_t i = 0; i < reading->objects->count; i++) {
		uint32_t number = is_kind(&reading->objects->items[i], KIND_POD)
		                          ? find_group(reading, &reading->objects->items[i])
		                          : UINT32_MAX;
		if (number != UINT32_MAX)
			counts[number]++;
	}
	for (size_t i = 0; i < reading->groups->count; i++)
		reading->groups->items[i].pods =
			arena_array(reading->translation->arena, struct translated_pod, counts[i] + 1);
	for (size_t i = 0; i < reading->objects->count; i++)
		if (is_kind(&reading->objects->items[i], KIND_POD))
			join_pod(reading, &reading->objects->items[i]);
}

/* ---- priority ---- */

static bool names_class(const struct manifest *object, const char *class)
{
	return text_equal(val_str(val_path(object->object, "metadata", "labels", "priorityClassName", NULL), NULL),
	                  class) ||
	       text_equal(val_str(val_path(object->object, "spec", "priorityClassName", NULL), NULL), class);
}

/* What was made has a usual class, which means nothing to others unless somebody asked for it. */
static void choose_classes(struct reading *reading)
{
	for (size_t i = 0; i < reading->groups->count; i++) {
		struct translated_group *group = &reading->groups->items[i];
		const char *class = group->spec.priority_class;
		if (class && (!group->made || (group->source != group->manifest && names_class(group->source, class)) ||
		              (group->pod_count > 0 && names_class(group->pods[0].manifest, class))))
			group->class = class;
	}
}

/* ---- what nobody named ---- */

static bool has_group(const struct reading *reading, const struct manifest *object)
{
	for (size_t i = 0; i < reading->groups->count; i++)
		if (text_equal(reading->groups->items[i].source->source, object->source))
			return true;
	return false;
}

/* The root of the tree that a group of Kubernetes itself is in, as far as it was given. */
static const struct manifest *find_root(const struct reading *reading, const struct manifest *object)
{
	for (int depth = 0; depth < GROUP_MAX_OWNERS && group_native_parent(object->object); depth++) {
		const char *parent = group_native_parent(object->object);
		const struct manifest *above = NULL;
		for (size_t i = 0; i < reading->given_count && !above; i++)
			if (is_kind(&reading->given[i], KIND_NATIVE_COMPOSITE) &&
			    text_equal(reading->given[i].name, parent) &&
			    text_equal(reading->given[i].namespace_, object->namespace_))
				above = &reading->given[i];
		if (!above)
			return object;
		object = above;
	}
	return object;
}

/* A group of another scheduler says what it asks for also without its pods; one of Kubernetes does only with them. */
static void read_groups_without_pods(struct reading *reading)
{
	struct arena *arena = reading->translation->arena;
	struct terms_reader *reader = terms_open(reading->objects, reading->objects, reading->settings);
	for (size_t i = 0; i < reading->given_count; i++) {
		const struct manifest *object = &reading->given[i];
		const struct kind_row *row = kinds_find(object->api_version, object->kind);
		struct group_result result;
		if (!row || has_group(reading, object))
			continue;
		if (row->id == KIND_NATIVE_GROUP && !has_group(reading, find_root(reading, object)))
			tell_of_reading(reading, object,
			                &(struct problem){.severity = SEVERITY_ERROR,
			                                  .path = "",
			                                  .message = "no pod names it: give its pods, too"},
			                false);
		if (!(row->flags & ROW_NEIGHBOUR))
			continue;
		terms_judge(reader, object->object, arena, &result);
		if (result.verdict != GROUP_WANTED)
			continue; /* the judge has said why */
		struct doc *doc = group_document(&result, &reading->settings->group, NULL);
		manifests_keep(reading->objects, doc);
		struct manifest made = {.object = doc_root(doc), .source = object->source, .kind = "PodGroup"};
		made.namespace_ = object->namespace_;
		struct manifest *kept = arena_array(arena, struct manifest, 1);
		*kept = made;
		read_group(reading, kept);
	}
	terms_close(reader);
}

/* ---- pods that stand alone ---- */

/* Of workloads each pod that stands alone got a PodGroup; a group that somebody wrote stays one. */
static bool is_alone(const struct translated_group *group)
{
	const struct constraint_spec *constraint = &group->spec.tree[0].constraint;
	const struct kind_row *row = kinds_find(group->source->api_version, group->source->kind);
	bool written = !group->made || (row && (row->id == KIND_NATIVE_GROUP || row->flags & ROW_NEIGHBOUR));
	return !written && group->spec.tree_count == 1 && group->spec.tree[0].minimum <= 1 && group->pod_count == 1 &&
	       group->spec.tree[0].expected <= 1 && !constraint->required && !constraint->preferred && !group->queue &&
	       !group->class;
}

static void add_lone_pod(struct reading *reading, const struct manifest *pod)
{
	struct arena *arena = reading->translation->arena;
	struct translated_group *group = add_group(reading);
	struct tree_node *root = arena_array(arena, struct tree_node, 1);
	struct translated_pod *pods = arena_array(arena, struct translated_pod, 1);
	*root = (struct tree_node){.name = "", .parent = -1, .minimum = 1, .path = "spec"};
	pods[0] = (struct translated_pod){.manifest = pod};
	*group = (struct translated_group){.manifest = pod, .source = pod, .alone = true, .pods = pods, .pod_count = 1};
	group->spec = (struct podgroup){.namespace_ = pod->namespace_,
	                                .name = pod->name,
	                                .tree = root,
	                                .tree_count = 1,
	                                .scheduling_backoff = -1,
	                                .mark_unschedulable = true};
	group->name = choose_name(reading, group);
	name_parts(reading, group);
}

static void read_lone_pods(struct reading *reading)
{
	for (size_t i = 0; i < reading->groups->count; i++)
		reading->groups->items[i].alone = is_alone(&reading->groups->items[i]);
	for (size_t i = 0; i < reading->objects->count; i++) {
		const struct manifest *object = &reading->objects->items[i];
		const struct val *told = writes_find_condition(object->object, "PodScheduled");
		if (is_kind(object, KIND_POD) && !*group_of_pod(object) &&
		    !text_equal(val_str(val_get(told, "reason"), NULL), PODS_NOT_GROUPED))
			add_lone_pod(reading, object);
	}
}

void translate_read(struct translation *translation, struct manifests *objects, const struct settings *settings,
                    struct translated_groups *out)
{
	struct reading reading = {.translation = translation,
	                          .objects = objects,
	                          .settings = settings,
	                          .groups = out,
	                          .given_count = objects->count,
	                          .keys = interner_create(),
	                          .names = interner_create()};
	struct problems problems = {.arena = translation->arena};
	*out = (struct translated_groups){0};
	take_as_ours(objects, settings);
	expand_judge(objects, settings, translation->arena, tell_of_reading, &reading);
	/* Workloads make room for their pods. */
	struct manifest *given = arena_array(translation->arena, struct manifest, objects->count + 1);
	if (objects->count > 0)
		memcpy(given, objects->items, objects->count * sizeof(*given));
	reading.given = given;
	expand_workloads(objects, SIMULATION_START, settings, &problems);
	tell_of_expansion(&reading, &problems);
	for (size_t i = 0; i < objects->count; i++)
		if (is_kind(&objects->items[i], KIND_POD_GROUP))
			read_group(&reading, &objects->items[i]);
	read_groups_without_pods(&reading);
	join_pods(&reading);
	choose_classes(&reading);
	read_lone_pods(&reading);
	interner_destroy(reading.keys);
	interner_destroy(reading.names);
}
