/* Owns joining pods of a list of objects to the groups that they name, and judging groups of other schedulers. */
#include "sim/expand_named.h"

#include "base/strings.h"
#include "group/group.h"
#include "kinds/kinds.h"
#include "object/build.h"
#include "schedule/snapshot_terms.h"

#include <string.h>

struct joining {
	struct manifests *objects;
	struct terms_reader *reader;
	const struct settings *settings;
	struct arena *arena;
	struct problems *problems;
	struct interner *groups; /* "namespace/name" of PodGroups that there are */
	struct interner *told;   /* of groups: once, however many pods show it */
};

static const char *key_of(struct arena *arena, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s", *namespace_ ? namespace_ : "default", name);
}

static bool names_native(const struct val *pod)
{
	return val_path(pod, "spec", "schedulingGroup", "podGroupName", NULL) != NULL;
}

static bool has_mark(const struct val *pod)
{
	const char *mark = names_native(pod) ? KINDS_NATIVE_MARK : GROUP_KEY_POD_GROUP;
	return val_path(pod, "metadata", "annotations", mark, NULL) != NULL;
}

static bool names_neighbour(const struct val *pod)
{
	const char *api_version, *name;
	return !names_native(pod) && group_names_neighbour(pod, &api_version, &name);
}

static bool is_to_join(const struct joining *joining, const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return row && row->id == KIND_POD && settings_owns_pod(joining->settings, object->object) &&
	       (names_native(object->object) || names_neighbour(object->object)) && !has_mark(object->object);
}

static void put_marks(struct build *build, struct node *metadata, const struct val *old, const char *field,
                      const struct labels *marks)
{
	const struct val *map = val_path(old, field, NULL);
	struct node *copy = val_kind(map) == VAL_MAP ? build_copy(build, map) : build_map(build);
	for (size_t i = 0; i < marks->count; i++)
		build_put_string(build, copy, marks->items[i].key, marks->items[i].value);
	if (marks->count > 0)
		build_put(build, metadata, field, copy);
}

static void mark(struct joining *joining, struct manifest *pod, const struct group_result *result)
{
	struct build *build = build_create();
	const struct val *old = val_get(pod->object, "metadata");
	struct node *root = build_copy(build, pod->object), *metadata = build_copy(build, old);
	put_marks(build, metadata, old, "labels", &result->pod_labels);
	put_marks(build, metadata, old, "annotations", &result->pod_annotations);
	build_put(build, root, "metadata", metadata);
	struct doc *doc = build_finish(build, root);
	manifests_keep(joining->objects, doc);
	pod->object = doc_root(doc);
	build_destroy(build);
}

static void tell(struct joining *joining, const struct manifest *pod, const struct group_result *result)
{
	for (size_t i = 0; i < result->warning_count; i++) {
		const struct group_warning *warning = &result->warnings[i];
		uint32_t known = interner_count(joining->told);
		if (interner_id(joining->told, arena_printf(joining->arena, "%s %s %s", warning->object, warning->path,
		                                            warning->message)) != known)
			continue;
		problem_add(joining->problems, SEVERITY_WARNING, pod->source, warning->fix, "%s: %s%s%s",
		            warning->object, warning->path, *warning->path ? ": " : "", warning->message);
	}
}

/* As the grouping controller marks a pod that cannot be grouped. */
static void block(struct joining *joining, struct manifest *pod, const struct group_result *result)
{
	const struct group_warning *why = result->warnings;
	while (why->about == GROUP_ABOUT_NO_COUNTERPART && why + 1 < result->warnings + result->warning_count)
		why++;
	struct build *build = build_create();
	struct node *root = build_copy(build, pod->object), *status = build_map(build), *list = build_list(build),
		    *condition = build_map(build);
	const struct val *old = val_get(pod->object, "status"), *item;
	const char *key;
	for (struct val_iter it = val_iter(old); val_next(&it, &key, &item);)
		build_put(build, status, key, build_copy(build, item));
	for (struct val_iter it = val_iter(val_get(old, "conditions")); val_next(&it, NULL, &item);)
		if (!text_equal(val_str(val_get(item, "type"), ""), "PodScheduled"))
			build_append(build, list, build_copy(build, item));
	build_put_string(build, condition, "type", "PodScheduled");
	build_put_string(build, condition, "status", "False");
	build_put_string(build, condition, "reason", PODS_NOT_GROUPED);
	build_put_string(build, condition, "message",
	                 arena_printf(joining->arena, "%s: %s: %s (%s)", why->object, why->path, why->message,
	                              why->fix));
	build_append(build, list, condition);
	build_put(build, status, "conditions", list);
	build_put(build, root, "status", status);
	struct doc *doc = build_finish(build, root);
	manifests_keep(joining->objects, doc);
	pod->object = doc_root(doc);
	build_destroy(build);
}

static void join(struct joining *joining, size_t number, struct doc **made, size_t *made_count)
{
	struct manifest *pod = &joining->objects->items[number];
	struct group_result result;
	terms_group(joining->reader, pod->object, joining->arena, &result);
	tell(joining, pod, &result);
	if (result.verdict == GROUP_REFUSED && !names_native(pod->object))
		block(joining, pod, &result); /* one that names a group of Kubernetes is held without its mark */
	if (result.verdict != GROUP_WANTED)
		return;
	uint32_t known = interner_count(joining->groups);
	if (interner_id(joining->groups, key_of(joining->arena, pod->namespace_, result.name)) == known)
		made[(*made_count)++] = group_document(&result, &joining->settings->group, NULL);
	mark(joining, pod, &result);
}

static void note_groups(struct joining *joining)
{
	for (size_t i = 0; i < joining->objects->count; i++) {
		const struct manifest *object = &joining->objects->items[i];
		const struct kind_row *row = kinds_find(object->api_version, object->kind);
		if (row && row->id == KIND_POD_GROUP)
			interner_id(joining->groups, key_of(joining->arena, object->namespace_, object->name));
	}
}

void expand_named_groups(struct manifests *objects, size_t given, const struct settings *settings,
                         struct problems *problems)
{
	struct joining joining = {.objects = objects,
	                          .settings = settings,
	                          .arena = arena_create(),
	                          .problems = problems,
	                          .groups = interner_create(),
	                          .told = interner_create()};
	size_t made_count = 0;
	struct doc **made = arena_array(joining.arena, struct doc *, given);
	note_groups(&joining);
	for (size_t i = 0; i < given; i++) {
		if (!is_to_join(&joining, &objects->items[i]))
			continue;
		if (!joining.reader)
			joining.reader = terms_open(objects, objects, settings);
		join(&joining, i, made, &made_count);
	}
	terms_close(joining.reader);
	for (size_t i = 0; i < made_count; i++) {
		manifests_keep(objects, made[i]);
		manifests_add(objects, doc_root(made[i]), KINDS_SCHEDULING_K8S, problems);
	}
	interner_destroy(joining.groups);
	interner_destroy(joining.told);
	arena_destroy(joining.arena);
}

/* ---- judging ---- */

static void tell_warnings(const struct manifest *object, const struct group_result *result, bool of_pod,
                          struct arena *arena, expand_tell *to, void *context)
{
	for (size_t i = 0; i < result->warning_count; i++) {
		const struct group_warning *warning = &result->warnings[i];
		/* What is missing may be in the cluster already, and what is lost keeps nobody from being placed. */
		bool minor =
			warning->about == GROUP_ABOUT_OBJECT_NOT_FOUND || warning->about == GROUP_ABOUT_NO_COUNTERPART;
		enum severity severity = result->verdict == GROUP_REFUSED && !minor ? SEVERITY_ERROR : SEVERITY_WARNING;
		if (of_pod && !warning->on_pod)
			continue;
		to(context, object,
		   &(struct problem){.severity = severity,
		                     .path = arena_strdup(arena, warning->path),
		                     .message = arena_strdup(arena, warning->message),
		                     .fix = arena_strdup(arena, warning->fix)},
		   false);
	}
}

void expand_judge_named(const struct manifests *objects, const struct settings *settings, struct arena *arena,
                        expand_tell *to, void *context)
{
	struct joining joining = {.settings = settings};
	struct terms_reader *reader = NULL;
	struct arena *scratch = arena_create();
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *object = &objects->items[i];
		const struct kind_row *row = kinds_find(object->api_version, object->kind);
		bool pod = is_to_join(&joining, object) && names_neighbour(object->object);
		struct group_result result;
		if (!pod && !(row && row->flags & ROW_NEIGHBOUR))
			continue;
		if (!reader)
			reader = terms_open(objects, objects, settings);
		if (pod)
			terms_group(reader, object->object, scratch, &result);
		else
			terms_judge(reader, object->object, scratch, &result);
		tell_warnings(object, &result, pod, arena, to, context);
		arena_reset(scratch);
	}
	terms_close(reader);
	arena_destroy(scratch);
}
