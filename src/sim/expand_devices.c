/* Owns the claims for devices that pods imply. */
#include "sim/expand_devices.h"

#include "kinds/kinds.h"
#include "object/build.h"
#include "object/metadata.h"

#include <string.h>

static enum kind_id kind_of(const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return row ? row->id : KIND_OTHER;
}

static const char *namespace_of(const struct manifest *object)
{
	return object->namespace_[0] ? object->namespace_ : "default";
}

static const struct val *find_template(const struct manifests *objects, const char *namespace_, const char *name)
{
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *object = &objects->items[i];
		if (kind_of(object) == KIND_DEVICE_CLAIM_TEMPLATE && strcmp(object->name, name) == 0 &&
		    strcmp(namespace_of(object), namespace_) == 0)
			return val_path(object->object, "spec", "spec", NULL);
	}
	return NULL;
}

static void add_claim(struct manifests *objects, const struct manifest *pod, const char *name, const struct val *spec,
                      struct problems *problems)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *list = build_list(build),
		    *owner = build_map(build);
	build_put_string(build, owner, "apiVersion", "v1");
	build_put_string(build, owner, "kind", "Pod");
	build_put_string(build, owner, "name", pod->name);
	build_put_string(build, owner, "uid", val_str(val_path(pod->object, "metadata", "uid", NULL), ""));
	build_put_bool(build, owner, "controller", true);
	build_append(build, list, owner);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", namespace_of(pod));
	build_put(build, metadata, "ownerReferences", list);
	build_put_string(build, root, "apiVersion", KINDS_RESOURCE "/v1");
	build_put_string(build, root, "kind", "ResourceClaim");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", build_copy(build, spec));
	struct doc *doc = build_finish(build, root);
	manifests_keep(objects, doc);
	manifests_add(objects, doc_root(doc), pod->source, problems);
	build_destroy(build);
}

static bool is_told(const struct manifest *pod, const char *entry)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod->object, "status", "resourceClaimStatuses", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), entry) == 0)
			return true;
	return false;
}

/* The pod with one more claim that was made for it. */
static void tell(struct manifests *objects, struct manifest *pod, const char *entry, const char *claim)
{
	struct build *build = build_create();
	const struct val *given = val_get(pod->object, "status"), *item;
	struct node *root = build_copy(build, pod->object), *list = build_list(build), *one = build_map(build);
	struct node *status = val_kind(given) == VAL_MAP ? build_copy(build, given) : build_map(build);
	for (struct val_iter it = val_iter(val_get(given, "resourceClaimStatuses")); val_next(&it, NULL, &item);)
		build_append(build, list, build_copy(build, item));
	build_put_string(build, one, "name", entry);
	build_put_string(build, one, "resourceClaimName", claim);
	build_append(build, list, one);
	build_put(build, status, "resourceClaimStatuses", list);
	build_put(build, root, "status", status);
	struct doc *doc = build_finish(build, root);
	manifests_keep(objects, doc);
	pod->object = doc_root(doc);
	build_destroy(build);
}

static void add_claims_of_pod(struct manifests *objects, size_t number, struct problems *problems)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(objects->items[number].object, "spec", "resourceClaims", NULL));
	     val_next(&it, NULL, &item);) {
		const struct manifest pod = objects->items[number]; /* the list may move */
		const char *template_ = val_str(val_get(item, "resourceClaimTemplateName"), NULL);
		const char *entry = val_str(val_get(item, "name"), "");
		const struct val *spec = template_ && !is_told(&pod, entry)
		                                 ? find_template(objects, namespace_of(&pod), template_)
		                                 : NULL;
		if (!spec)
			continue;
		const char *name = arena_printf(problems->arena, "%s-%s", pod.name, entry);
		add_claim(objects, &pod, name, spec, problems);
		tell(objects, &objects->items[number], entry, name);
	}
}

void expand_devices(struct manifests *objects, struct problems *problems)
{
	size_t given = objects->count;
	for (size_t i = 0; i < given; i++) {
		const struct manifest *object = &objects->items[i];
		if (kind_of(object) == KIND_POD && !val_path(object->object, "spec", "nodeName", NULL) &&
		    !metadata_is_leaving(object->object))
			add_claims_of_pod(objects, i, problems);
	}
}
