/* Owns the claims that pods and workloads imply: those of generic ephemeral volumes, and the default class. */
#include "sim/expand_claims.h"

#include "base/hash.h"
#include "base/strings.h"
#include "kinds/kinds.h"
#include "object/build.h"
#include "object/metadata.h"

#include <string.h>

#define DEFAULT_CLASS "storageclass.kubernetes.io/is-default-class"
#define BETA_CLASS "volume.beta.kubernetes.io/storage-class"

static bool is_claim(const struct manifest *object)
{
	return strcmp(object->kind, "PersistentVolumeClaim") == 0 && strcmp(object->api_version, "v1") == 0;
}

static const char *key_of(struct arena *arena, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s", namespace_[0] ? namespace_ : "default", name);
}

/* ---- ephemeral volumes ---- */

static struct node *controller_of(struct build *build, const struct manifest *pod)
{
	struct node *list = build_list(build), *owner = build_map(build);
	build_put_string(build, owner, "apiVersion", "v1");
	build_put_string(build, owner, "kind", "Pod");
	build_put_string(build, owner, "name", pod->name);
	build_put_string(build, owner, "uid", val_str(val_path(pod->object, "metadata", "uid", NULL), ""));
	build_put_bool(build, owner, "controller", true);
	build_append(build, list, owner);
	return list;
}

static void add_claim(struct manifests *objects, const struct manifest *pod, const char *name,
                      const struct val *template_, struct problems *problems)
{
	struct build *build = build_create();
	const struct val *given = val_get(template_, "metadata");
	struct node *root = build_map(build);
	struct node *metadata = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", pod->namespace_[0] ? pod->namespace_ : "default");
	build_put(build, metadata, "ownerReferences", controller_of(build, pod));
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "PersistentVolumeClaim");
	build_put(build, root, "metadata", metadata);
	if (val_get(template_, "spec"))
		build_put(build, root, "spec", build_copy(build, val_get(template_, "spec")));
	struct doc *doc = build_finish(build, root);
	manifests_keep(objects, doc);
	manifests_add(objects, doc_root(doc), pod->source, problems);
	build_destroy(build);
}

static bool waits(const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	const char *phase = val_str(val_path(object->object, "status", "phase", NULL), "Pending");
	return row && row->id == KIND_POD && !val_path(object->object, "spec", "nodeName", NULL) &&
	       strcmp(phase, "Pending") == 0 && !metadata_is_leaving(object->object);
}

static void add_claims_of_pod(struct manifests *objects, size_t number, struct interner *claims,
                              struct problems *problems)
{
	const struct manifest pod = objects->items[number]; /* the list may move */
	const struct val *volume;
	for (struct val_iter it = val_iter(val_path(pod.object, "spec", "volumes", NULL));
	     val_next(&it, NULL, &volume);) {
		const struct val *template_ = val_path(volume, "ephemeral", "volumeClaimTemplate", NULL);
		if (val_kind(template_) != VAL_MAP)
			continue;
		const char *name =
			arena_printf(problems->arena, "%s-%s", pod.name, val_str(val_get(volume, "name"), ""));
		uint32_t known = interner_count(claims);
		if (interner_id(claims, key_of(problems->arena, pod.namespace_, name)) == known)
			add_claim(objects, &pod, name, template_, problems);
	}
}

/* ---- the default class ---- */

/* The newest one, by name among those of one time. */
static const char *find_default_class(const struct manifests *objects)
{
	const char *found = NULL, *made = "";
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *object = &objects->items[i];
		if (strcmp(object->kind, "StorageClass") != 0 ||
		    !text_equal(val_str(val_path(object->object, "metadata", "annotations", DEFAULT_CLASS, NULL), NULL),
		                "true"))
			continue;
		const char *time = val_str(val_path(object->object, "metadata", "creationTimestamp", NULL), "");
		int order = strcmp(time, made);
		if (found && (order < 0 || (order == 0 && strcmp(object->name, found) > 0)))
			continue;
		found = object->name;
		made = time;
	}
	return found;
}

static void give_class(struct manifests *objects, struct manifest *claim, const char *class_)
{
	const struct val *spec = val_get(claim->object, "spec");
	if (val_kind(spec) != VAL_MAP || val_get(spec, "storageClassName") || val_get(spec, "volumeName") ||
	    val_path(claim->object, "metadata", "annotations", BETA_CLASS, NULL))
		return;
	struct build *build = build_create();
	struct node *root = build_copy(build, claim->object), *copy = build_copy(build, spec);
	build_put_string(build, copy, "storageClassName", class_);
	build_put(build, root, "spec", copy);
	struct doc *doc = build_finish(build, root);
	manifests_keep(objects, doc);
	claim->object = doc_root(doc);
	build_destroy(build);
}

void expand_claims(struct manifests *objects, struct problems *problems)
{
	struct interner *claims = interner_create();
	size_t given = objects->count;
	for (size_t i = 0; i < given; i++)
		if (is_claim(&objects->items[i]))
			interner_id(claims,
			            key_of(problems->arena, objects->items[i].namespace_, objects->items[i].name));
	for (size_t i = 0; i < given; i++)
		if (waits(&objects->items[i]))
			add_claims_of_pod(objects, i, claims, problems);
	const char *class_ = find_default_class(objects);
	for (size_t i = 0; class_ && i < objects->count; i++)
		if (is_claim(&objects->items[i]))
			give_class(objects, &objects->items[i], class_);
	interner_destroy(claims);
}
