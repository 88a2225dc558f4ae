/* Discovery: which groups, versions and resources there are, in the aggregated and the older form. */
#include "serve/api/internal.h"

#include "base/hash.h"
#include "kinds/names.h"
#include "object/build.h"

#include <stdio.h>
#include <string.h>

#define ALL_VERBS "create delete deletecollection get list patch update watch"
#define EDIT_VERBS "get patch update"

struct subresource {
	const char *group, *resource; /* of the parent */
	const char *name;
	const char *kind_group, *kind_version, *kind;
	const char *verbs; /* space separated */
};

static const struct subresource extra[] = {
	{"", "namespaces", "finalize", "", "v1", "Namespace", "update"},
	{"", "pods", "attach", "", "v1", "PodAttachOptions", "create get"},
	{"", "pods", "binding", "", "v1", "Binding", "create"},
	{"", "pods", "ephemeralcontainers", "", "v1", "Pod", EDIT_VERBS},
	{"", "pods", "eviction", KINDS_POLICY, "v1", "Eviction", "create"},
	{"", "pods", "exec", "", "v1", "PodExecOptions", "create get"},
	{"", "pods", "log", "", "v1", "Pod", "get"},
	{"", "pods", "portforward", "", "v1", "PodPortForwardOptions", "create get"},
};
#define EXTRA_COUNT (sizeof(extra) / sizeof(extra[0]))

static bool is_below(const struct subresource *sub, const struct store_api *api)
{
	return strcmp(sub->resource, api->type->resource) == 0 && strcmp(sub->group, api->group) == 0;
}

bool api_has_subresource(const struct store_api *api, const char *name)
{
	for (size_t i = 0; i < EXTRA_COUNT; i++)
		if (is_below(&extra[i], api) && strcmp(extra[i].name, name) == 0)
			return true;
	return (api->has_status && strcmp(name, "status") == 0) || (api->has_scale && strcmp(name, "scale") == 0);
}

static void put_words(struct build *build, struct node *map, const char *key, const char *words)
{
	struct node *list = build_list(build);
	struct arena *arena = arena_create_small();
	for (const char *at = words; *at;) {
		size_t length = strcspn(at, " ");
		build_append(build, list, build_string(build, arena_strndup(arena, at, length)));
		at += length + (at[length] == ' ');
	}
	arena_destroy(arena);
	build_put(build, map, key, list);
}

static void put_strings(struct build *build, struct node *map, const char *key, const char *const *strings)
{
	struct node *list = build_list(build);
	for (size_t i = 0; strings[i]; i++)
		build_append(build, list, build_string(build, strings[i]));
	if (*strings)
		build_put(build, map, key, list);
}

static struct node *start(struct build *build, const char *kind, const char *api_version)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "kind", kind);
	build_put_string(build, map, "apiVersion", api_version);
	return map;
}

static void finish(struct build *build, struct node *root, struct buffer *out)
{
	build_write(build, root, DOC_JSON_COMPACT, out);
	build_destroy(build);
}

/* ---- aggregated ---- */

static void put_kind(struct build *build, struct node *map, const char *group, const char *version, const char *kind)
{
	struct node *of = build_map(build);
	build_put_string(build, of, "group", group);
	build_put_string(build, of, "version", version);
	build_put_string(build, of, "kind", kind);
	build_put(build, map, "responseKind", of);
}

static void add_subresource(struct build *build, struct node *list, const char *name, const char *group,
                            const char *version, const char *kind, const char *verbs)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "subresource", name);
	put_kind(build, map, group, version, kind);
	put_words(build, map, "verbs", verbs);
	build_append(build, list, map);
}

static struct node *subresources(struct build *build, const struct store_api *api)
{
	const struct store_type *type = api->type;
	struct node *list = build_list(build);
	bool any = api->has_status || api->has_scale;
	if (api->has_status)
		add_subresource(build, list, "status", api->group, api->version, type->kind, EDIT_VERBS);
	if (api->has_scale)
		add_subresource(build, list, "scale", KINDS_AUTOSCALING, "v1", "Scale", EDIT_VERBS);
	for (size_t i = 0; i < EXTRA_COUNT; i++) {
		if (!is_below(&extra[i], api))
			continue;
		add_subresource(build, list, extra[i].name, extra[i].kind_group, extra[i].kind_version, extra[i].kind,
		                extra[i].verbs);
		any = true;
	}
	return any ? list : NULL;
}

static struct node *resource(struct build *build, const struct store_api *api)
{
	const struct store_type *type = api->type;
	struct node *map = build_map(build), *below = subresources(build, api);
	build_put_string(build, map, "resource", type->resource);
	put_kind(build, map, api->group, api->version, type->kind);
	build_put_string(build, map, "scope", type->namespaced ? "Namespaced" : "Cluster");
	build_put_string(build, map, "singularResource", type->singular);
	put_words(build, map, "verbs", ALL_VERBS);
	put_strings(build, map, "shortNames", type->short_names);
	put_strings(build, map, "categories", type->categories);
	if (below)
		build_put(build, map, "subresources", below);
	return map;
}

static struct node *review_resource(struct build *build, const struct api_review_kind *kind)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "resource", kind->resource);
	put_kind(build, map, kind->group, "v1", kind->kind);
	build_put_string(build, map, "scope", kind->namespaced ? "Namespaced" : "Cluster");
	build_put_string(build, map, "singularResource", kind->singular);
	put_words(build, map, "verbs", "create");
	return map;
}

/* A group, which is empty yet: its list of versions. */
static struct node *add_group(struct build *build, struct node *groups, const char *name)
{
	struct node *map = build_map(build), *metadata = build_map(build), *versions = build_list(build);
	if (*name)
		build_put_string(build, metadata, "name", name);
	build_put(build, map, "metadata", metadata);
	build_put(build, map, "versions", versions);
	build_append(build, groups, map);
	return versions;
}

/* A version, which is empty yet: its list of resources. */
static struct node *add_version(struct build *build, struct node *versions, const char *version)
{
	struct node *map = build_map(build), *list = build_list(build);
	build_put_string(build, map, "version", version);
	build_put_string(build, map, "freshness", "Current");
	build_put(build, map, "resources", list);
	build_append(build, versions, map);
	return list;
}

static void add_review_groups(struct build *build, struct node *groups)
{
	size_t count;
	const struct api_review_kind *kinds = api_review_kinds(&count);
	struct node *list = NULL;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(kinds[i].group, kinds[i - 1].group) != 0)
			list = add_version(build, add_group(build, groups, kinds[i].group), "v1");
		build_append(build, list, review_resource(build, &kinds[i]));
	}
}

/* Groups of the store from `apis`; core only or all but core. They are sorted by group and version. */
static void add_groups(struct build *build, struct node *groups, const struct store_api *const *apis, size_t count,
                       bool core)
{
	const struct store_api *last = NULL;
	struct node *versions = NULL, *resources = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct store_api *api = apis[i];
		if ((api->group[0] == '\0') != core)
			continue;
		bool new_group = !last || strcmp(last->group, api->group) != 0;
		if (new_group)
			versions = add_group(build, groups, api->group);
		if (new_group || strcmp(last->version, api->version) != 0)
			resources = add_version(build, versions, api->version);
		build_append(build, resources, resource(build, api));
		last = api;
	}
}

/* Sends a document that changes only when types do, unless the client has it. */
static void answer_tagged(struct api_call *call, const char *content_type, struct buffer *body)
{
	char tag[32];
	snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)XXH3_64bits(body->text, body->length));
	if (api_unchanged(call, tag))
		buffer_free(body);
	else if (content_type)
		http_respond(call->response, 200, content_type, body);
	else
		api_answer(call, 200, body);
}

static void answer_aggregated(struct api_call *call, bool core)
{
	struct buffer body = {0};
	size_t count;
	const struct store_api *const *apis = store_apis(call->store, &count);
	struct build *build = build_create();
	struct node *root = start(build, "APIGroupDiscoveryList",
	                          arena_printf(call->arena, "apidiscovery.k8s.io/%s", call->form_version));
	struct node *groups = build_list(build);
	add_groups(build, groups, apis, count, core);
	if (!core)
		add_review_groups(build, groups);
	build_put(build, root, "metadata", build_map(build));
	build_put(build, root, "items", groups);
	finish(build, root, &body);
	buffer_puts(&body, "\n");
	answer_tagged(call,
	              arena_printf(call->arena, "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList",
	                           call->form_version),
	              &body);
}

/* ---- the older form ---- */

static struct node *group_version(struct build *build, struct arena *arena, const char *group, const char *version)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "groupVersion", arena_printf(arena, "%s/%s", group, version));
	build_put_string(build, map, "version", version);
	return map;
}

/* An APIGroup: one of many, or (whole) the answer itself. */
static struct node *legacy_group(struct build *build, struct arena *arena, const char *group, const char *preferred,
                                 struct node *versions, bool whole)
{
	struct node *map = whole ? start(build, "APIGroup", "v1") : build_map(build);
	build_put_string(build, map, "name", group);
	build_put(build, map, "versions", versions);
	build_put(build, map, "preferredVersion", group_version(build, arena, group, preferred));
	return map;
}

/* The versions of the group that begins at `first`, the preferred one first; *next is where another begins. */
static struct node *group_versions(struct build *build, struct arena *arena, const struct store_api *const *apis,
                                   size_t count, size_t first, size_t *next)
{
	struct node *versions = build_list(build);
	const char *group = apis[first]->group, *last = "";
	for (*next = first; *next < count && strcmp(apis[*next]->group, group) == 0; (*next)++) {
		if (strcmp(apis[*next]->version, last) != 0)
			build_append(build, versions, group_version(build, arena, group, apis[*next]->version));
		last = apis[*next]->version;
	}
	return versions;
}

/* All groups into the list; or that of the name, NULL when there is none. */
static struct node *legacy_groups(struct build *build, struct api_call *call, const char *only, struct node *list)
{
	size_t count, next;
	const struct store_api *const *apis = store_apis(call->store, &count);
	struct node *map = NULL;
	for (size_t i = 0; i < count; i = next) {
		const char *group = apis[i]->group;
		struct node *versions = group_versions(build, call->arena, apis, count, i, &next);
		if (!group[0] || (only && strcmp(only, group) != 0))
			continue;
		map = legacy_group(build, call->arena, group, apis[i]->version, versions, only);
		if (list)
			build_append(build, list, map);
	}
	const struct api_review_kind *kinds = api_review_kinds(&count);
	for (size_t i = 0; i < count; i++) {
		const char *group = kinds[i].group;
		if ((i > 0 && strcmp(group, kinds[i - 1].group) == 0) || (only && strcmp(only, group) != 0))
			continue;
		struct node *versions = build_list(build);
		build_append(build, versions, group_version(build, call->arena, group, "v1"));
		map = legacy_group(build, call->arena, group, "v1", versions, only);
		if (list)
			build_append(build, list, map);
	}
	return map;
}

void api_core(struct api_call *call)
{
	struct buffer body = {0};
	if (call->form == API_DISCOVERY) {
		answer_aggregated(call, true);
		return;
	}
	struct build *build = build_create();
	struct node *root = build_map(build);
	build_put_string(build, root, "kind", "APIVersions");
	put_words(build, root, "versions", "v1");
	build_put(build, root, "serverAddressByClientCIDRs", build_list(build));
	finish(build, root, &body);
	api_answer(call, 200, &body);
}

void api_groups(struct api_call *call)
{
	struct buffer body = {0};
	if (call->form == API_DISCOVERY) {
		answer_aggregated(call, false);
		return;
	}
	struct build *build = build_create();
	struct node *root = start(build, "APIGroupList", "v1"), *groups = build_list(build);
	legacy_groups(build, call, NULL, groups);
	build_put(build, root, "groups", groups);
	finish(build, root, &body);
	answer_tagged(call, NULL, &body);
}

void api_one_group(struct api_call *call)
{
	struct buffer body = {0};
	struct build *build = build_create();
	struct node *group = legacy_groups(build, call, call->segments[1], NULL);
	if (!group) {
		build_destroy(build);
		api_not_found(call);
		return;
	}
	finish(build, group, &body);
	api_answer(call, 200, &body);
}

static struct node *row(struct build *build, const char *name, const char *singular, bool namespaced, const char *kind,
                        const char *verbs)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "name", name);
	build_put_string(build, map, "singularName", singular);
	build_put_bool(build, map, "namespaced", namespaced);
	build_put_string(build, map, "kind", kind);
	put_words(build, map, "verbs", verbs);
	return map;
}

static void add_sub_row(struct build *build, struct node *rows, struct arena *arena, const struct store_api *api,
                        const struct subresource *sub)
{
	struct node *map = row(build, arena_printf(arena, "%s/%s", api->type->resource, sub->name), "",
	                       api->type->namespaced, sub->kind, sub->verbs);
	if (sub->kind_group && sub->kind_group[0]) {
		build_put_string(build, map, "group", sub->kind_group);
		build_put_string(build, map, "version", sub->kind_version);
	}
	build_append(build, rows, map);
}

static void add_rows(struct build *build, struct node *rows, struct arena *arena, const struct store_api *api)
{
	const struct store_type *type = api->type;
	struct node *map = row(build, type->resource, type->singular, type->namespaced, type->kind, ALL_VERBS);
	put_strings(build, map, "shortNames", type->short_names);
	put_strings(build, map, "categories", type->categories);
	build_append(build, rows, map);
	if (api->has_status)
		add_sub_row(build, rows, arena, api,
		            &(struct subresource){.name = "status", .kind = type->kind, .verbs = EDIT_VERBS});
	if (api->has_scale)
		add_sub_row(build, rows, arena, api,
		            &(struct subresource){.name = "scale",
		                                  .kind_group = KINDS_AUTOSCALING,
		                                  .kind_version = "v1",
		                                  .kind = "Scale",
		                                  .verbs = EDIT_VERBS});
	for (size_t i = 0; i < EXTRA_COUNT; i++)
		if (is_below(&extra[i], api))
			add_sub_row(build, rows, arena, api, &extra[i]);
}

static size_t add_review_rows(struct build *build, struct node *rows, const struct api_call *call)
{
	size_t count, added = 0;
	const struct api_review_kind *kinds = api_review_kinds(&count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(kinds[i].group, call->group) != 0 || strcmp(call->version, "v1") != 0)
			continue;
		build_append(build, rows,
		             row(build, kinds[i].resource, kinds[i].singular, kinds[i].namespaced, kinds[i].kind,
		                 "create"));
		added++;
	}
	return added;
}

void api_resources(struct api_call *call)
{
	struct buffer body = {0};
	size_t count, found = 0;
	const struct store_api *const *apis = store_apis(call->store, &count);
	struct build *build = build_create();
	struct node *root = start(build, "APIResourceList", "v1"), *rows = build_list(build);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(apis[i]->group, call->group) != 0 || strcmp(apis[i]->version, call->version) != 0)
			continue;
		add_rows(build, rows, call->arena, apis[i]);
		found++;
	}
	found += add_review_rows(build, rows, call);
	build_put_string(build, root, "groupVersion",
	                 call->group[0] ? arena_printf(call->arena, "%s/%s", call->group, call->version)
	                                : call->version);
	build_put(build, root, "resources", rows);
	finish(build, root, &body);
	if (found > 0) {
		answer_tagged(call, NULL, &body);
		return;
	}
	buffer_free(&body);
	api_not_found(call);
}
