/* Scale, binding and eviction. */
#include "api/patch.h"
#include "api/selector_match.h"
#include "local/draft.h"

#include <stdlib.h>
#include <string.h>

/* ---- scale ---- */

/* The next key of a path like .spec.replicas; false at its end. */
static bool next_key(const char **path, char key[128])
{
	const char *at = **path == '.' ? *path + 1 : *path;
	size_t length = strcspn(at, ".");
	if (!length || length >= 128)
		return false;
	memcpy(key, at, length);
	key[length] = '\0';
	*path = at + length;
	return true;
}

static const struct val *at_path(const struct val *val, const char *path)
{
	char key[128];
	while (val && *path) {
		if (!next_key(&path, key))
			return NULL;
		val = val_get(val, key);
	}
	return val;
}

static void put_at_path(struct arena *arena, struct tree *map, const char *path, struct tree *value)
{
	char key[128];
	while (next_key(&path, key)) {
		if (!*path)
			tree_put(arena, map, key, value);
		else
			map = tree_need_map(arena, map, key);
	}
}

/* A selector is a text (CRDs), a LabelSelector (apps) or a plain map of labels (ReplicationController). */
static void print_selector(struct arena *arena, const struct val *val, struct buffer *out)
{
	if (val_kind(val) == VAL_STRING) {
		buffer_puts(out, val_str(val, ""));
		return;
	}
	if (val_get(val, "matchLabels") || val_get(val, "matchExpressions")) {
		struct selector selector;
		selector_of_spec(arena, val, &selector);
		selector_print(&selector, out);
		return;
	}
	const char *key;
	const struct val *item;
	size_t count = 0;
	for (struct val_iter it = val_iter(val); val_next(&it, &key, &item);)
		if (key)
			buffer_printf(out, "%s%s=%s", count++ ? "," : "", key, val_str(item, ""));
}

static struct tree *scale_tree(struct arena *arena, const struct store_api *api, struct store_object *object)
{
	const struct val *source = store_object_root(object, api), *metadata = val_get(source, "metadata");
	struct tree *root = tree_map(arena), *head = tree_map(arena), *spec = tree_map(arena),
		    *status = tree_map(arena);
	tree_put_string(arena, root, "kind", "Scale");
	tree_put_string(arena, root, "apiVersion", KINDS_AUTOSCALING "/v1");
	static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (val_get(metadata, kept[i]))
			tree_put(arena, head, kept[i], tree_of(arena, val_get(metadata, kept[i])));
	int64_t wanted = 0, current = 0;
	/* A workload without a count runs one; a custom one may mean anything, 0 is what the API says. */
	if (val_int(at_path(source, api->scale_spec), &wanted) < 0)
		wanted = api->type->custom ? 0 : 1;
	val_int(at_path(source, api->scale_status), &current);
	tree_put(arena, spec, "replicas", tree_int(arena, wanted));
	tree_put(arena, status, "replicas", tree_int(arena, current));
	struct buffer selector = {0};
	if (*api->scale_selector)
		print_selector(arena, at_path(source, api->scale_selector), &selector);
	if (selector.length)
		tree_put_string(arena, status, "selector", selector.text);
	buffer_free(&selector);
	tree_put(arena, root, "metadata", head);
	tree_put(arena, root, "spec", spec);
	tree_put(arena, root, "status", status);
	return root;
}

struct store_object *scale_of(const struct store_api *api, struct store_object *object)
{
	struct arena *arena = arena_create();
	struct store_object *scale = object_from_tree(object->type, scale_tree(arena, api, object), NULL);
	arena_destroy(arena);
	return scale;
}

int write_scale(struct draft *draft)
{
	if (draft_find(draft) < 0)
		return -1;
	struct arena *arena = draft->arena;
	draft->root = scale_tree(arena, draft->api, draft->old);
	if (draft->request->verb == STORE_UPDATE)
		draft->root = tree_of(arena, draft->request->body);
	else if (draft->request->patch == STORE_PATCH_APPLY || draft->request->patch == STORE_PATCH_STRATEGIC)
		draft->root = patch_merge(arena, draft->root, draft->request->body);
	else if (patch_apply(draft) < 0)
		return -1;
	struct doc *scale = tree_finish(draft->root);
	if (!scale)
		return draft_refuse(draft, 400, "BadRequest", "the Scale is nested too deep");
	vec_push(&draft->docs, scale);
	const struct val *metadata = val_get(doc_root(scale), "metadata"), *count;
	count = val_path(doc_root(scale), "spec", "replicas", NULL);
	int64_t replicas = 0;
	struct problems problems = {.arena = arena};
	if (val_kind(count) != VAL_NULL && (val_int(count, &replicas) < 0 || replicas < 0 || replicas > INT32_MAX))
		problem_add(&problems, SEVERITY_ERROR, "spec.replicas", NULL, "must be a whole number from 0 to %d",
		            INT32_MAX);
	draft->root = tree_of(arena, store_object_root(draft->old, draft->api));
	if (problems.errors)
		return draft_refuse_problems(draft, &problems);
	put_at_path(arena, draft->root, draft->api->scale_spec, tree_int(arena, replicas));
	struct tree *head = tree_get(arena, draft->root, "metadata");
	tree_put_string(arena, head, "resourceVersion", val_str(val_get(metadata, "resourceVersion"), ""));
	tree_put_string(arena, head, "uid", val_str(val_get(metadata, "uid"), ""));
	if (draft_update(draft) < 0)
		return -1;
	struct store_object *object = draft->result->object;
	draft->result->object = scale_of(draft->api, object);
	store_object_release(object);
	return 0;
}

/* ---- conditions ---- */

static void put_condition(struct draft *draft, struct tree *root, const char *type, const char *reason,
                          const char *message)
{
	struct arena *arena = draft->arena;
	struct tree *status = tree_need_map(arena, root, "status"), *list = tree_get(arena, status, "conditions"),
		    *item;
	if (tree_kind(list) != VAL_LIST) {
		list = tree_list(arena);
		tree_put(arena, status, "conditions", list);
	}
	size_t at = 0;
	while ((item = tree_walk(arena, list, &at, NULL)))
		if (strcmp(tree_str(tree_get(arena, item, "type"), ""), type) == 0)
			break;
	if (!item) {
		item = tree_map(arena);
		tree_append(arena, list, item);
		tree_put_string(arena, item, "type", type);
	}
	if (strcmp(tree_str(tree_get(arena, item, "status"), ""), "True") != 0) {
		char now[32];
		metadata_timestamp(draft, now);
		tree_put_string(arena, item, "lastTransitionTime", now);
	}
	tree_put_string(arena, item, "status", "True");
	tree_remove(arena, item, "reason");
	tree_remove(arena, item, "message");
	if (*reason)
		tree_put_string(arena, item, "reason", reason);
	if (*message)
		tree_put_string(arena, item, "message", message);
}

/* ---- binding ---- */

static int conflict(struct draft *draft, const char *what)
{
	draft_refuse(draft, 409, "Conflict", "Operation cannot be fulfilled on pods/binding \"%s\": %s", draft->name,
	             what);
	draft->result->error.kind = "pods/binding";
	return -1;
}

static int check_binding(struct draft *draft, const char *node, const struct val *metadata)
{
	const struct val *pod = draft->old->root;
	const char *uid = val_str(val_get(metadata, "uid"), ""),
		   *bound = val_str(val_path(pod, "spec", "nodeName", NULL), "");
	if (*uid && strcmp(uid, draft->old->uid) != 0)
		return conflict(draft,
		                arena_printf(draft->arena,
		                             "Precondition failed: UID in precondition: %s, UID in object meta: %s",
		                             uid, draft->old->uid));
	if (val_path(pod, "metadata", "deletionTimestamp", NULL))
		return conflict(draft,
		                arena_printf(draft->arena, "pod %s is being deleted, cannot be assigned to a host",
		                             draft->name));
	if (*bound)
		return conflict(draft, arena_printf(draft->arena, "pod %s is already assigned to node \"%s\"",
		                                    draft->name, bound));
	if (val_count(val_path(pod, "spec", "schedulingGates", NULL)))
		return conflict(draft,
		                arena_printf(draft->arena, "pod %s has non-empty .spec.schedulingGates", draft->name));
	return *node ? 0 : draft_refuse(draft, 400, "BadRequest", "target.name must name a node");
}

int write_binding(struct draft *draft)
{
	const struct val *body = draft->request->body, *metadata = val_get(body, "metadata");
	const char *node = val_str(val_path(body, "target", "name", NULL), ""), *key;
	const char *kind = val_str(val_path(body, "target", "kind", NULL), "Node");
	if (!*draft->name)
		draft->name = val_str(val_get(metadata, "name"), "");
	if (draft_find(draft) < 0 || check_binding(draft, node, metadata) < 0)
		return -1;
	if (*kind && strcmp(kind, "Node") != 0)
		return draft_refuse(draft, 400, "BadRequest", "target.kind \"%s\" must be Node", kind);
	struct arena *arena = draft->arena;
	struct tree *root = tree_of(arena, draft->old->root);
	tree_put_string(arena, tree_need_map(arena, root, "spec"), "nodeName", node);
	const struct val *annotations = val_get(metadata, "annotations"), *item;
	for (struct val_iter it = val_iter(annotations); val_next(&it, &key, &item);)
		if (key)
			tree_put(arena, tree_need_map(arena, tree_get(arena, root, "metadata"), "annotations"), key,
			         tree_of(arena, item));
	put_condition(draft, root, "PodScheduled", "", "");
	draft->result->code = 201;
	draft->result->uid = arena_strdup(arena, draft->old->uid);
	if (draft->request->dry_run)
		return 0;
	return write_internal(draft->store, arena, draft->old, root, &draft->result->error);
}

/* ---- eviction ---- */

/* The only budget that covers the pod; more than one is an error. */
static int find_budget(struct draft *draft, struct store_object **budget)
{
	*budget = NULL;
	struct index *index = &draft->store->budgets->index;
	for (struct index_node *node = index_seek(index, draft->namespace_, "", false);
	     node && strcmp(node->object->namespace_, draft->namespace_) == 0; node = node->next[0]) {
		const struct val *spec = val_path(node->object->root, "spec", "selector", NULL);
		struct selector selector;
		selector_of_spec(draft->arena, spec, &selector);
		if (val_kind(spec) != VAL_MAP || !selector_matches(&selector, &draft->old->labels, draft->name))
			continue;
		if (*budget)
			return draft_refuse(
				draft, 500, "InternalError",
				"This pod has more than one PodDisruptionBudget, which the eviction subresource "
				"does not support.");
		*budget = node->object;
	}
	return 0;
}

/* 429, with the cause that kubectl drain looks for. */
static int refuse_eviction(struct draft *draft, int retry_after, const char *message)
{
	struct store_cause *cause = arena_new(draft->arena, struct store_cause);
	*cause = (struct store_cause){.reason = "DisruptionBudget", .message = message, .field = ""};
	draft_refuse(draft, 429, "TooManyRequests",
	             "Cannot evict pod as it would violate the pod's disruption budget.");
	draft->result->error.causes = cause;
	draft->result->error.cause_count = 1;
	draft->result->error.retry_after = retry_after;
	return -1;
}

static int64_t status_number(const struct store_object *budget, const char *key)
{
	int64_t number = 0;
	val_int(val_path(budget->root, "status", key, NULL), &number);
	return number;
}

/* As the REST of pods/eviction does: a status of an earlier spec allows nothing. */
static int spend_budget(struct draft *draft, struct store_object *budget, bool dry_run)
{
	struct arena *arena = draft->arena;
	int64_t allowed = status_number(budget, "disruptionsAllowed"), generation = 0;
	val_int(val_path(budget->root, "metadata", "generation", NULL), &generation);
	if (status_number(budget, "observedGeneration") < generation)
		return refuse_eviction(draft, 10,
		                       arena_printf(arena,
		                                    "The disruption budget %s is still being processed by the server.",
		                                    budget->name));
	if (allowed < 1)
		return refuse_eviction(
			draft, 0,
			arena_printf(arena, "The disruption budget %s needs %lld healthy pods and has %lld currently",
		                     budget->name, (long long)status_number(budget, "desiredHealthy"),
		                     (long long)status_number(budget, "currentHealthy")));
	if (dry_run)
		return 0;
	char now[32];
	metadata_timestamp(draft, now);
	struct tree *root = tree_of(arena, budget->root), *status = tree_get(arena, root, "status");
	tree_put(arena, status, "disruptionsAllowed", tree_int(arena, allowed - 1));
	tree_put_string(arena, tree_need_map(arena, status, "disruptedPods"), draft->name, now);
	return write_internal(draft->store, arena, budget, root, &draft->result->error);
}

/* A pod that is not ready is no loss: it may go where the budget says so, or while enough others are healthy. */
static bool goes_unhealthy(const struct store_object *pod, const struct store_object *budget)
{
	const struct val *condition;
	for (struct val_iter it = val_iter(val_path(pod->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &condition);)
		if (strcmp(val_str(val_get(condition, "type"), ""), "Ready") == 0 &&
		    strcmp(val_str(val_get(condition, "status"), ""), "True") == 0)
			return false;
	const char *policy = val_str(val_path(budget->root, "spec", "unhealthyPodEvictionPolicy", NULL), "");
	int64_t desired = status_number(budget, "desiredHealthy");
	return strcmp(policy, "AlwaysAllow") == 0 ||
	       (desired > 0 && status_number(budget, "currentHealthy") >= desired);
}

/* Pods that run nowhere or have ended are no loss to any budget. */
static bool costs_nothing(const struct store_object *pod)
{
	const char *phase = val_str(val_path(pod->root, "status", "phase", NULL), "");
	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0 || strcmp(phase, "Pending") == 0 ||
	       val_path(pod->root, "metadata", "deletionTimestamp", NULL);
}

int write_eviction(struct draft *draft)
{
	struct store_delete options = {0};
	bool dry_run = draft->request->dry_run;
	struct arena *arena = draft->arena;
	if (store_delete_read(val_get(draft->request->body, "deleteOptions"), arena, &options, &dry_run,
	                      &draft->result->error) < 0 ||
	    draft_find(draft) < 0)
		return -1;
	if (options.uid && *options.uid && strcmp(options.uid, draft->old->uid) != 0)
		return draft_refuse_conflict(draft, "the pod was replaced by another one of this name");
	struct store_object *budget = NULL, *left = NULL;
	/* Of a mirror the server counts the budgets, and may know better. */
	if (!draft->store->mirror.forward && !costs_nothing(draft->old) && find_budget(draft, &budget) < 0)
		return -1;
	if (budget && !goes_unhealthy(draft->old, budget) && spend_budget(draft, budget, dry_run) < 0)
		return -1;
	draft->result->code = 201;
	draft->result->uid = arena_strdup(arena, draft->old->uid);
	if (dry_run)
		return 0;
	if (!val_path(draft->old->root, "metadata", "deletionTimestamp", NULL)) {
		struct tree *root = tree_of(arena, draft->old->root);
		put_condition(draft, root, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting");
		if (write_internal(draft->store, arena, draft->old, root, &draft->result->error) < 0)
			return -1;
	}
	struct store_object *pod = index_find(&draft->bucket->index, draft->namespace_, draft->name);
	int status = pod ? remove_object(draft->store, pod, &options, false, &left, arena, &draft->result->error) : 0;
	store_object_release(left);
	return status;
}
