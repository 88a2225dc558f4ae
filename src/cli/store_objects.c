/* Owns reading a store as a list of manifests. */
#include "cli/store_objects.h"

#include "cli/cli.h"

#include "group/defaults.h"
#include "kinds/kinds.h"

void store_objects_read(struct store_objects *objects, struct manifests *into, struct problems *problems)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		const struct store_type *type = store_type_find(objects->store, row->group, row->resource);
		struct store_list list = {0};
		struct store_error error = {0};
		struct store_list_request request = {.api = type ? type->apis : NULL};
		if (!(row->flags & (ROW_DECIDES | ROW_NAMED)) || !type || type->api_count == 0 ||
		    store_list(objects->store, &request, &list, objects->arena, &error) < 0)
			continue;
		vec_push(&objects->lists, list);
		for (size_t k = 0; k < list.count; k++)
			manifests_add(into, list.items[k]->root, STORE_OBJECTS_SOURCE, problems);
	}
}

/* What is read above pods, and of which names it was asked for already. */
struct above {
	struct store *store;
	struct arena *arena;
	struct interner *asked;
	struct manifests *into;
	struct problems *problems;
};

static void read_one(struct above *above, const char *api_version, const char *kind, const char *namespace_,
                     const char *name)
{
	const struct store_api *api = store_api_of_kind(above->store, api_version, kind);
	const struct store_object *object =
		api ? store_peek(above->store, api->type, api->type->namespaced ? namespace_ : "", name) : NULL;
	if (object)
		manifests_add(above->into, object->root, STORE_OBJECTS_SOURCE, above->problems);
}

static void read_owners(struct above *above, const struct manifest *object)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object->object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);) {
		const char *kind = val_str(val_get(owner, "kind"), ""), *name = val_str(val_get(owner, "name"), "");
		const char *key = arena_printf(above->arena, "%s/%s/%s", kind, object->namespace_, name);
		if (interner_find(above->asked, key) != UINT32_MAX)
			continue;
		interner_id(above->asked, key);
		read_one(above, val_str(val_get(owner, "apiVersion"), ""), kind, object->namespace_, name);
	}
}

void store_objects_read_above(const struct store_objects *objects, const struct settings *settings,
                              const struct manifests *all, struct manifests *into, struct problems *problems)
{
	struct above above = {.store = objects->store,
	                      .arena = objects->arena,
	                      .asked = interner_create(),
	                      .into = into,
	                      .problems = problems};
	for (size_t i = 0; i < all->count; i++)
		if (cli_is_unmarked(settings, &all->items[i]))
			read_owners(&above, &all->items[i]);
	for (size_t i = 0; i < into->count; i++) /* which grows */
		read_owners(&above, &into->items[i]);
	read_one(&above, "v1", "ConfigMap", GROUP_DEFAULTS_NAMESPACE, GROUP_DEFAULTS_NAME);
	interner_destroy(above.asked);
}

void store_objects_release(struct store_objects *objects)
{
	for (size_t i = 0; i < objects->lists.count; i++)
		store_list_clear(&objects->lists.items[i]);
	vec_free(&objects->lists);
}
