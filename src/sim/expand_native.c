/* Owns joining pods of a list of objects to the groups of Kubernetes itself that they name. */
#include "sim/expand_native.h"

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
};

static const char *key_of(struct arena *arena, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s", *namespace_ ? namespace_ : "default", name);
}

static bool has_mark(const struct val *pod)
{
	return val_path(pod, "metadata", "annotations", KINDS_NATIVE_MARK, NULL) != NULL;
}

static bool is_to_join(const struct joining *joining, const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return row && row->id == KIND_POD && settings_owns_pod(joining->settings, object->object) &&
	       val_path(object->object, "spec", "schedulingGroup", "podGroupName", NULL) && !has_mark(object->object);
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
		problem_add(joining->problems, SEVERITY_WARNING, pod->source, warning->fix, "%s: %s%s%s",
		            warning->object, warning->path, *warning->path ? ": " : "", warning->message);
	}
}

static void join(struct joining *joining, size_t number, struct doc **made, size_t *made_count)
{
	struct manifest *pod = &joining->objects->items[number];
	struct group_result result;
	terms_group(joining->reader, pod->object, joining->arena, &result);
	tell(joining, pod, &result);
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

void expand_native_groups(struct manifests *objects, const struct settings *settings, struct problems *problems)
{
	struct joining joining = {.objects = objects,
	                          .settings = settings,
	                          .arena = arena_create(),
	                          .problems = problems,
	                          .groups = interner_create()};
	size_t made_count = 0, pods = objects->count;
	struct doc **made = arena_array(joining.arena, struct doc *, pods);
	note_groups(&joining);
	for (size_t i = 0; i < pods; i++) {
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
	arena_destroy(joining.arena);
}
