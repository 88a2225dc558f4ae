/* Owns how the group library reads the store. */
#include "grouping/internal.h"

#include <string.h>

/* The group of "apps/v1"; core kinds have none. */
static const char *group_of(struct arena *arena, const char *api_version)
{
	const char *slash = strchr(api_version, '/');
	return slash ? arena_strndup(arena, api_version, (size_t)(slash - api_version)) : "";
}

/* The version of a reference may be gone while the kind is still served in another. */
static const struct store_api *find_api(const struct store *store, const char *api_version, const char *group,
                                        const char *kind)
{
	const struct store_api *api = store_api_of_kind(store, api_version, kind);
	if (api)
		return api;
	size_t count;
	const struct store_api *const *apis = store_apis(store, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(apis[i]->group, group) == 0 && strcmp(apis[i]->type->kind, kind) == 0)
			return apis[i];
	return NULL;
}

static const struct val *get(void *context, const char *api_version, const char *kind, const char *namespace_,
                             const char *name)
{
	struct grouping_source *source = context;
	const char *group = group_of(source->arena, api_version);
	const struct store_api *api = find_api(source->store, api_version, group, kind);
	const char *space = !api || api->type->namespaced ? namespace_ : "";
	struct store_object *object = api ? store_peek(source->store, api->type, space, name) : NULL;
	if (source->asked)
		source->asked(source->context, api ? api->type : NULL,
		              &(struct grouping_need){.group = group,
		                                      .kind = kind,
		                                      .namespace_ = space,
		                                      .name = name,
		                                      .version = object ? object->version : 0});
	if (!object)
		return NULL;
	/* Where all versions have one form, the one that the server has is as good, and true in a reference. */
	return api->type->one_form ? store_object_root(object, api) : object->root;
}

static bool is_served(void *context, const char *api_version, const char *kind)
{
	struct grouping_source *source = context;
	if (find_api(source->store, api_version, group_of(source->arena, api_version), kind))
		return true;
	bool lacks = store_lacks(source->store, api_version, kind, source->since);
	source->unsure |= !lacks;
	return !lacks;
}

static const struct val *next_pod(void *context, const char *namespace_, const char *label, const char *value,
                                  size_t *cursor)
{
	struct grouping_source *source = context;
	source->listed = true;
	if (*cursor == 0) {
		const char *values[] = {value};
		struct match match = {.key = label, .op = MATCH_IN, .values = values, .value_count = 1};
		struct store_selector selector = {.labels = {.items = &match, .count = 1}};
		struct store_list_request request = {
			.api = store_api_find(source->store, "", "v1", "pods"),
			.namespace_ = namespace_,
			.selector = &selector,
		};
		store_list_clear(&source->pods);
		source->pods = (struct store_list){0};
		if (store_list(source->store, &request, &source->pods, source->arena, NULL))
			return NULL;
	}
	return *cursor < source->pods.count ? source->pods.items[(*cursor)++]->root : NULL;
}

/* A pod that depends on what objects there are of a kind depends on the one without a name. */
static const struct val *next_object(void *context, const char *api_version, const char *kind, size_t *cursor)
{
	struct grouping_source *source = context;
	const char *group = group_of(source->arena, api_version);
	const struct store_api *api = find_api(source->store, api_version, group, kind);
	if (*cursor == 0) {
		store_list_clear(&source->objects);
		source->objects = (struct store_list){0};
		if (source->asked)
			source->asked(
				source->context, api ? api->type : NULL,
				&(struct grouping_need){.group = group, .kind = kind, .namespace_ = "", .name = ""});
		if (!api || store_list(source->store, &(struct store_list_request){.api = api, .namespace_ = ""},
		                       &source->objects, source->arena, NULL))
			return NULL;
	}
	return *cursor < source->objects.count ? source->objects.items[(*cursor)++]->root : NULL;
}

void grouping_source_open(struct grouping_source *source, struct store *store, struct arena *arena, uint64_t since)
{
	*source = (struct grouping_source){.store = store, .arena = arena, .since = since};
	source->source = (struct group_source){.context = source,
	                                       .get = get,
	                                       .next_pod = next_pod,
	                                       .next_object = next_object,
	                                       .is_served = is_served};
}

void grouping_source_close(struct grouping_source *source)
{
	store_list_clear(&source->pods);
	store_list_clear(&source->objects);
}
