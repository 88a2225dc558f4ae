/* Owns how controllers write status, conditions and events. */
#include "loop/writes.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

const struct val *writes_find_condition(const struct val *root, const char *type)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(root, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0)
			return item;
	return NULL;
}

bool writes_has_condition(const struct val *root, const struct condition *condition)
{
	const struct val *item = writes_find_condition(root, condition->type);
	return item && strcmp(val_str(val_get(item, "status"), ""), condition->status) == 0 &&
	       strcmp(val_str(val_get(item, "reason"), ""), condition->reason) == 0 &&
	       strcmp(val_str(val_get(item, "message"), ""), condition->message) == 0;
}

static struct node *condition_node(struct build *build, const struct val *root, const struct condition *condition,
                                   int64_t now_seconds)
{
	char now[32];
	clock_print_rfc3339(now_seconds, now);
	const struct val *old = writes_find_condition(root, condition->type);
	const char *since = now;
	if (old && strcmp(val_str(val_get(old, "status"), ""), condition->status) == 0)
		since = val_str(val_get(old, "lastTransitionTime"), now);
	struct node *node = build_map(build);
	build_put_string(build, node, "type", condition->type);
	build_put_string(build, node, "status", condition->status);
	build_put_string(build, node, "lastTransitionTime", since);
	if (condition->reason[0])
		build_put_string(build, node, "reason", condition->reason);
	if (condition->message[0])
		build_put_string(build, node, "message", condition->message);
	return node;
}

struct node *writes_conditions(struct build *build, const struct val *root, const struct condition *conditions,
                               size_t count, int64_t now_seconds)
{
	struct node *list = build_list(build);
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(root, "status", "conditions", NULL)); val_next(&it, NULL, &item);) {
		bool replaced = false;
		for (size_t i = 0; i < count; i++)
			replaced |= strcmp(val_str(val_get(item, "type"), ""), conditions[i].type) == 0;
		if (!replaced)
			build_append(build, list, build_copy(build, item));
	}
	for (size_t i = 0; i < count; i++)
		if (conditions[i].status)
			build_append(build, list, condition_node(build, root, &conditions[i], now_seconds));
	return list;
}

struct store_request writes_create(const struct store_api *api, const char *namespace_, const struct val *body,
                                   const char *actor)
{
	return (struct store_request){.verb = STORE_CREATE,
	                              .api = api,
	                              .namespace_ = namespace_,
	                              .body = body,
	                              .manager = actor,
	                              .actor = actor};
}

struct store_request writes_change(const struct store_object *object, const struct val *body, const char *actor)
{
	return (struct store_request){.verb = STORE_PATCH,
	                              .api = object->type->apis,
	                              .namespace_ = object->namespace_,
	                              .name = object->name,
	                              .body = body,
	                              .patch = STORE_PATCH_MERGE,
	                              .manager = actor,
	                              .actor = actor};
}

struct store_request writes_delete(const struct store_object *object, const char *actor)
{
	return (struct store_request){.verb = STORE_DELETE,
	                              .api = object->type->apis,
	                              .namespace_ = object->namespace_,
	                              .name = object->name,
	                              .options = {.uid = object->uid},
	                              .actor = actor};
}

int writes_send(struct store *store, const struct store_request *request, struct arena *arena,
                struct store_error *error)
{
	struct store_result result = {.arena = arena};
	int rc = store_write(store, request, &result);
	*error = result.error;
	store_result_clear(&result);
	return rc;
}

static int patch(struct store *store, const struct store_object *object, enum store_subresource subresource,
                 enum store_patch type, struct build *build, struct node *body)
{
	struct doc *doc = build_finish(build, body);
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	request.subresource = subresource;
	request.patch = type;
	int changed = 0;
	if (object->type->api_count > 0 && store_write(store, &request, &result) == 0)
		changed = result.object && result.object->version != object->version;
	else if (result.error.code &&
	         result.error.code != 404) /* nothing is to be told about an object that went away */
		changed = -1;
	store_result_clear(&result);
	arena_destroy(arena);
	doc_destroy(doc);
	return changed;
}

int writes_patch(struct store *store, const struct store_object *object, enum store_subresource subresource,
                 struct build *build, struct node *body)
{
	return patch(store, object, subresource, STORE_PATCH_MERGE, build, body);
}

int writes_pod_condition(struct store *store, const struct store_object *pod, const struct condition *condition,
                         int64_t now_seconds, struct build *build, struct node *status)
{
	struct node *body = build_map(build), *list = build_list(build);
	struct node *node = condition_node(build, pod->root, condition, now_seconds);
	/* What is not said stays as it was. */
	if (!condition->reason[0])
		build_put(build, node, "reason", build_null(build));
	if (!condition->message[0])
		build_put(build, node, "message", build_null(build));
	build_append(build, list, node);
	status = status ? status : build_map(build);
	build_put(build, status, "conditions", list);
	build_put(build, body, "status", status);
	return patch(store, pod, STORE_STATUS, STORE_PATCH_STRATEGIC, build, body);
}

int writes_patch_status(struct store *store, const struct store_object *object, struct build *build,
                        struct node *status)
{
	struct node *body = build_map(build);
	build_put(build, body, "status", status);
	return writes_patch(store, object, STORE_STATUS, build, body);
}

struct node *writes_reference(struct build *build, const char *api_version, const char *kind, const char *namespace_,
                              const char *name, const char *uid)
{
	struct node *reference = build_map(build);
	build_put_string(build, reference, "apiVersion", api_version);
	build_put_string(build, reference, "kind", kind);
	build_put_string(build, reference, "namespace", namespace_);
	build_put_string(build, reference, "name", name);
	build_put_string(build, reference, "uid", uid);
	return reference;
}

static void write_event(struct store *store, const struct store_object *object, const char *name, bool warning,
                        const char *reason, const char *message, int64_t now_seconds)
{
	char now[32];
	clock_print_rfc3339(now_seconds, now);
	struct arena *arena = arena_create();
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build), *source = build_map(build);
	const char *namespace_ = object->namespace_[0] ? object->namespace_ : "default";
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", namespace_);
	build_put_string(build, source, "component", "platoon");
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "Event");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "involvedObject",
	          writes_reference(build, val_str(val_get(object->root, "apiVersion"), ""), object->type->kind,
	                           object->namespace_, object->name, object->uid));
	build_put(build, root, "source", source);
	build_put_string(build, root, "type", warning ? "Warning" : "Normal");
	build_put_string(build, root, "reason", reason);
	build_put_string(build, root, "message", message);
	build_put_string(build, root, "firstTimestamp", now);
	build_put_string(build, root, "lastTimestamp", now);
	build_put_int(build, root, "count", 1);
	struct doc *doc = build_finish(build, root);
	struct store_request request =
		writes_create(store_api_find(store, "", "v1", "events"), namespace_, doc_root(doc), WRITES_ACTOR);
	/* Events are a courtesy: a namespace on its way out refuses them, and nothing follows from that. */
	struct store_error ignored;
	writes_send(store, &request, arena, &ignored);
	doc_destroy(doc);
	build_destroy(build);
	arena_destroy(arena);
}

/* One name for one thing that happens to an object, however often. */
static void event_name(const struct store_object *object, const char *reason, const char *message, char name[256])
{
	uint64_t hash = hash_mix(XXH3_64bits(object->uid, strlen(object->uid)), XXH3_64bits(reason, strlen(reason)));
	snprintf(name, 256, "%.200s.%016llx", object->name,
	         (unsigned long long)hash_mix(hash, XXH3_64bits(message, strlen(message))));
}

static const struct store_object *find_event(struct store *store, const struct store_object *object, const char *name)
{
	const struct store_type *events = store_type_find(store, "", "events");
	return events ? store_peek(store, events, object->namespace_[0] ? object->namespace_ : "default", name) : NULL;
}

static void repeat_event(struct store *store, const struct store_object *event, int64_t now_seconds)
{
	char now[32];
	int64_t count = 1;
	clock_print_rfc3339(now_seconds, now);
	val_int(val_get(event->root, "count"), &count);
	struct arena *arena = arena_create();
	struct build *build = build_create();
	struct node *body = build_map(build);
	build_put_int(build, body, "count", count + 1);
	build_put_string(build, body, "lastTimestamp", now);
	struct doc *doc = build_finish(build, body);
	struct store_request request = writes_change(event, doc_root(doc), WRITES_ACTOR);
	struct store_error ignored;
	request.namespace_ = arena_strdup(arena, event->namespace_);
	request.name = arena_strdup(arena, event->name);
	writes_send(store, &request, arena, &ignored);
	doc_destroy(doc);
	build_destroy(build);
	arena_destroy(arena);
}

void writes_event(struct store *store, const struct store_object *object, bool warning, const char *reason,
                  const char *message, int64_t now_seconds)
{
	char name[256];
	event_name(object, reason, message, name);
	const struct store_object *event = find_event(store, object, name);
	if (event)
		repeat_event(store, event, now_seconds);
	else
		write_event(store, object, name, warning, reason, message, now_seconds);
}

void writes_event_once(struct store *store, const struct store_object *object, bool warning, const char *reason,
                       const char *message, int64_t now_seconds)
{
	char name[256];
	event_name(object, reason, message, name);
	if (!find_event(store, object, name))
		write_event(store, object, name, warning, reason, message, now_seconds);
}
