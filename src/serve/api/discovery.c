/* Discovery: which groups, versions and resources there are, in the aggregated and the older form. */
#include "serve/api/internal.h"

#include "base/hash.h"
#include "kinds/names.h"

#include <stdio.h>
#include <string.h>

#define ALL_VERBS "[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]"
#define EDIT_VERBS "[\"get\",\"patch\",\"update\"]"

struct subresource {
	const char *group, *resource; /* of the parent */
	const char *name;
	const char *kind_group, *kind_version, *kind;
	const char *verbs;
};

static const struct subresource extra[] = {
	{"", "namespaces", "finalize", "", "v1", "Namespace", "[\"update\"]"},
	{"", "pods", "attach", "", "v1", "PodAttachOptions", "[\"create\",\"get\"]"},
	{"", "pods", "binding", "", "v1", "Binding", "[\"create\"]"},
	{"", "pods", "ephemeralcontainers", "", "v1", "Pod", "[\"get\",\"patch\",\"update\"]"},
	{"", "pods", "eviction", KINDS_POLICY, "v1", "Eviction", "[\"create\"]"},
	{"", "pods", "exec", "", "v1", "PodExecOptions", "[\"create\",\"get\"]"},
	{"", "pods", "log", "", "v1", "Pod", "[\"get\"]"},
	{"", "pods", "portforward", "", "v1", "PodPortForwardOptions", "[\"create\",\"get\"]"},
};
#define EXTRA_COUNT (sizeof(extra) / sizeof(extra[0]))

const char *const *api_subresources(const struct store_api *api)
{
	static const char *const none[] = {NULL};
	static const char *const pods[] = {"attach", "binding", "ephemeralcontainers", "eviction",
	                                   "exec",   "log",     "portforward",         NULL};
	static const char *const namespaces[] = {"finalize", NULL};
	if (api->group[0])
		return none;
	if (strcmp(api->type->resource, "pods") == 0)
		return pods;
	return strcmp(api->type->resource, "namespaces") == 0 ? namespaces : none;
}

static void put_strings(struct buffer *out, const char *key, const char *const *strings)
{
	if (!*strings)
		return;
	buffer_printf(out, ",\"%s\":[", key);
	for (size_t i = 0; strings[i]; i++) {
		buffer_puts(out, i ? "," : "");
		json_quote(out, strings[i]);
	}
	buffer_puts(out, "]");
}

/* ---- aggregated ---- */

static void put_kind(struct buffer *out, const char *group, const char *version, const char *kind)
{
	buffer_puts(out, "\"responseKind\":{");
	json_put_string(out, "group", group);
	json_put_string(out, "version", version);
	json_put_string(out, "kind", kind);
	buffer_puts(out, "}");
}

static void put_subresource(struct buffer *out, bool *first, const char *name, const char *group, const char *version,
                            const char *kind, const char *verbs)
{
	buffer_printf(out, "%s{\"subresource\":\"%s\",", *first ? ",\"subresources\":[" : ",", name);
	put_kind(out, group, version, kind);
	buffer_printf(out, ",\"verbs\":%s}", verbs);
	*first = false;
}

static void put_resource(struct buffer *out, const struct store_api *api)
{
	const struct store_type *type = api->type;
	bool first = true;
	buffer_puts(out, "{");
	json_put_string(out, "resource", type->resource);
	buffer_puts(out, ",");
	put_kind(out, api->group, api->version, type->kind);
	buffer_printf(out, ",\"scope\":\"%s\",\"singularResource\":", type->namespaced ? "Namespaced" : "Cluster");
	json_quote(out, type->singular);
	buffer_puts(out, ",\"verbs\":" ALL_VERBS);
	put_strings(out, "shortNames", type->short_names);
	put_strings(out, "categories", type->categories);
	if (api->has_status)
		put_subresource(out, &first, "status", api->group, api->version, type->kind, EDIT_VERBS);
	if (api->has_scale)
		put_subresource(out, &first, "scale", KINDS_AUTOSCALING, "v1", "Scale", EDIT_VERBS);
	for (size_t i = 0; i < EXTRA_COUNT; i++) {
		if (strcmp(extra[i].resource, type->resource) == 0 && strcmp(extra[i].group, api->group) == 0)
			put_subresource(out, &first, extra[i].name, extra[i].kind_group, extra[i].kind_version,
			                extra[i].kind, extra[i].verbs);
	}
	buffer_puts(out, first ? "}" : "]}");
}

static void put_review_resources(struct buffer *out, const char *group)
{
	size_t count, put = 0;
	const struct api_review_kind *kinds = api_review_kinds(&count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(kinds[i].group, group) != 0)
			continue;
		buffer_printf(out, "%s{\"resource\":\"%s\",", put++ ? "," : "", kinds[i].resource);
		put_kind(out, group, "v1", kinds[i].kind);
		buffer_printf(out, ",\"scope\":\"%s\",\"singularResource\":\"%s\",\"verbs\":[\"create\"]}",
		              kinds[i].namespaced ? "Namespaced" : "Cluster", kinds[i].singular);
	}
}

static void put_review_groups(struct buffer *out)
{
	size_t count;
	const struct api_review_kind *kinds = api_review_kinds(&count);
	const char *last = "";
	for (size_t i = 0; i < count; i++) {
		if (strcmp(kinds[i].group, last) == 0)
			continue;
		last = kinds[i].group;
		buffer_printf(
			out,
			",{\"metadata\":{\"name\":\"%s\"},\"versions\":[{\"version\":\"v1\",\"freshness\":\"Current\","
			"\"resources\":[",
			last);
		put_review_resources(out, last);
		buffer_puts(out, "]}]}");
	}
}

/* Groups of the store from `apis`; core only or all but core. They are sorted by group and version. */
static void put_groups(struct buffer *out, const struct store_api *const *apis, size_t count, bool core)
{
	const struct store_api *last = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct store_api *api = apis[i];
		if ((api->group[0] == '\0') != core)
			continue;
		bool new_group = !last || strcmp(last->group, api->group) != 0;
		bool new_version = new_group || strcmp(last->version, api->version) != 0;
		if (last)
			buffer_puts(out, new_group ? "]}]}," : new_version ? "]}," : ",");
		if (new_group) {
			buffer_puts(out, "{\"metadata\":{");
			if (!core) {
				buffer_puts(out, "\"name\":");
				json_quote(out, api->group);
			}
			buffer_puts(out, "},\"versions\":[");
		}
		if (new_version) {
			buffer_puts(out, "{");
			json_put_string(out, "version", api->version);
			buffer_puts(out, ",\"freshness\":\"Current\",\"resources\":[");
		}
		put_resource(out, api);
		last = api;
	}
	if (last)
		buffer_puts(out, "]}]}");
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
	buffer_printf(&body,
	              "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/%s\",\"metadata\":{},"
	              "\"items\":[",
	              call->form_version);
	put_groups(&body, apis, count, core);
	if (!core)
		put_review_groups(&body);
	buffer_puts(&body, "]}\n");
	answer_tagged(call,
	              arena_printf(call->arena, "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList",
	                           call->form_version),
	              &body);
}

/* ---- the older form ---- */

static void put_group_version(struct buffer *out, const char *group, const char *version)
{
	struct buffer both = {0};
	buffer_printf(&both, "%s/%s", group, version);
	buffer_puts(out, "{");
	json_put_string(out, "groupVersion", both.text);
	json_put_string(out, "version", version);
	buffer_puts(out, "}");
	buffer_free(&both);
}

static void end_group(struct buffer *out, const char *group, const char *preferred)
{
	buffer_puts(out, "],\"preferredVersion\":");
	put_group_version(out, group, preferred);
	buffer_puts(out, "}");
}

static void begin_group(struct buffer *out, const char *group, bool whole)
{
	buffer_puts(out, whole ? "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":" : "{\"name\":");
	json_quote(out, group);
	buffer_puts(out, ",\"versions\":[");
}

/* APIGroup objects; `only` NULL: all groups. The number of groups. */
static size_t put_legacy_groups(struct buffer *out, struct api_call *call, const char *only)
{
	size_t count, groups = 0;
	const struct store_api *const *apis = store_apis(call->store, &count);
	for (size_t i = 0; i < count;) {
		const char *group = apis[i]->group, *last = "";
		bool wanted = group[0] && (!only || strcmp(only, group) == 0);
		size_t first = i;
		if (wanted) {
			buffer_puts(out, groups++ ? "," : "");
			begin_group(out, group, only != NULL);
		}
		for (; i < count && strcmp(apis[i]->group, group) == 0; i++) {
			if (wanted && strcmp(apis[i]->version, last) != 0) {
				buffer_puts(out, i > first ? "," : "");
				put_group_version(out, group, apis[i]->version);
			}
			last = apis[i]->version;
		}
		if (wanted)
			end_group(out, group, apis[first]->version);
	}
	return groups;
}

static size_t put_legacy_review_groups(struct buffer *out, const char *only, bool follows)
{
	size_t count, groups = 0;
	const struct api_review_kind *kinds = api_review_kinds(&count);
	const char *last = "";
	for (size_t i = 0; i < count; i++) {
		if (strcmp(kinds[i].group, last) == 0 || (only && strcmp(only, kinds[i].group) != 0))
			continue;
		last = kinds[i].group;
		buffer_puts(out, groups++ || follows ? "," : "");
		begin_group(out, last, only != NULL);
		put_group_version(out, last, "v1");
		end_group(out, last, "v1");
	}
	return groups;
}

void api_core(struct api_call *call)
{
	struct buffer body = {0};
	if (call->form == API_DISCOVERY) {
		answer_aggregated(call, true);
		return;
	}
	buffer_puts(&body, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":[]}");
	api_answer(call, 200, &body);
}

void api_groups(struct api_call *call)
{
	struct buffer body = {0};
	if (call->form == API_DISCOVERY) {
		answer_aggregated(call, false);
		return;
	}
	buffer_puts(&body, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	size_t groups = put_legacy_groups(&body, call, NULL);
	put_legacy_review_groups(&body, NULL, groups > 0);
	buffer_puts(&body, "]}");
	answer_tagged(call, NULL, &body);
}

void api_one_group(struct api_call *call)
{
	struct buffer body = {0};
	const char *group = call->segments[1];
	if (put_legacy_groups(&body, call, group) + put_legacy_review_groups(&body, group, false) == 0)
		api_not_found(call);
	else
		api_answer(call, 200, &body);
}

static void put_row(struct buffer *out, const char *name, const char *singular, bool namespaced, const char *kind,
                    const char *verbs)
{
	buffer_puts(out, "{");
	json_put_string(out, "name", name);
	json_put_string(out, "singularName", singular);
	buffer_printf(out, ",\"namespaced\":%s,\"kind\":", namespaced ? "true" : "false");
	json_quote(out, kind);
	buffer_printf(out, ",\"verbs\":%s", verbs);
}

static void put_sub_row(struct buffer *out, struct arena *arena, const struct store_api *api, const char *sub,
                        const char *group, const char *version, const char *kind, const char *verbs)
{
	buffer_puts(out, ",");
	put_row(out, arena_printf(arena, "%s/%s", api->type->resource, sub), "", api->type->namespaced, kind, verbs);
	if (group)
		buffer_printf(out, ",\"group\":\"%s\",\"version\":\"%s\"", group, version);
	buffer_puts(out, "}");
}

static void put_legacy_resource(struct buffer *out, struct arena *arena, const struct store_api *api)
{
	const struct store_type *type = api->type;
	put_row(out, type->resource, type->singular, type->namespaced, type->kind, ALL_VERBS);
	put_strings(out, "shortNames", type->short_names);
	put_strings(out, "categories", type->categories);
	buffer_puts(out, "}");
	if (api->has_status)
		put_sub_row(out, arena, api, "status", NULL, NULL, type->kind, EDIT_VERBS);
	if (api->has_scale)
		put_sub_row(out, arena, api, "scale", KINDS_AUTOSCALING, "v1", "Scale", EDIT_VERBS);
	for (size_t i = 0; i < EXTRA_COUNT; i++) {
		const struct subresource *sub = &extra[i];
		if (strcmp(sub->resource, type->resource) == 0 && strcmp(sub->group, api->group) == 0)
			put_sub_row(out, arena, api, sub->name, sub->kind_group[0] ? sub->kind_group : NULL,
			            sub->kind_version, sub->kind, sub->verbs);
	}
}

static size_t put_legacy_reviews(struct buffer *out, const struct api_call *call)
{
	size_t count, rows = 0;
	const struct api_review_kind *kinds = api_review_kinds(&count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(kinds[i].group, call->group) != 0 || strcmp(call->version, "v1") != 0)
			continue;
		buffer_puts(out, rows++ ? "," : "");
		put_row(out, kinds[i].resource, kinds[i].singular, kinds[i].namespaced, kinds[i].kind, "[\"create\"]");
		buffer_puts(out, "}");
	}
	return rows;
}

void api_resources(struct api_call *call)
{
	struct buffer body = {0};
	size_t count, rows = 0;
	const struct store_api *const *apis = store_apis(call->store, &count);
	buffer_puts(&body, "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":");
	json_quote(&body,
	           call->group[0] ? arena_printf(call->arena, "%s/%s", call->group, call->version) : call->version);
	buffer_puts(&body, ",\"resources\":[");
	for (size_t i = 0; i < count; i++) {
		if (strcmp(apis[i]->group, call->group) != 0 || strcmp(apis[i]->version, call->version) != 0)
			continue;
		buffer_puts(&body, rows++ ? "," : "");
		put_legacy_resource(&body, call->arena, apis[i]);
	}
	rows += put_legacy_reviews(&body, call);
	buffer_puts(&body, "]}");
	if (rows == 0) {
		buffer_free(&body);
		api_not_found(call);
		return;
	}
	answer_tagged(call, NULL, &body);
}
