/* Server-side apply: fields have owners, written down in metadata.managedFields. Objects that were never applied carry
 * none, so that plain writes cost nothing; the first apply gives all that was there to a manager of its own. */
#include "api/fields.h"
#include "local/draft.h"

#include <string.h>

#define EVERYBODY "before-first-apply"
#define CLIENT_SIDE "kubectl-client-side-apply"
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

struct manager {
	const char *name, *operation, *api_version, *time, *subresource;
	struct tree *set;
	bool changed; /* the set is not what is stored: the time moves */
};

struct managers {
	struct manager *items;
	size_t count;
};

static const char *subresource_of(const struct draft *draft)
{
	return draft->request->subresource == STORE_STATUS  ? "status"
	       : draft->request->subresource == STORE_SCALE ? "scale"
	                                                    : "";
}

/* Room for two more than there are: the writer, and everybody. */
static struct managers read_managers(struct draft *draft, const struct val *list)
{
	struct managers managers = {.items = arena_array(draft->arena, struct manager, val_count(list) + 2)};
	const struct val *entry;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &entry);) {
		if (val_kind(val_get(entry, "fieldsV1")) != VAL_MAP)
			continue;
		managers.items[managers.count++] = (struct manager){
			.name = val_str(val_get(entry, "manager"), ""),
			.operation = val_str(val_get(entry, "operation"), ""),
			.api_version = val_str(val_get(entry, "apiVersion"), ""),
			.time = val_str(val_get(entry, "time"), ""),
			.subresource = val_str(val_get(entry, "subresource"), ""),
			.set = fields_read(draft->arena, val_get(entry, "fieldsV1")),
		};
	}
	return managers;
}

static struct manager *find_manager(struct draft *draft, struct managers *managers, const char *name,
                                    const char *operation, const char *subresource)
{
	for (size_t i = 0; i < managers->count; i++) {
		struct manager *manager = &managers->items[i];
		if (strcmp(manager->name, name) == 0 && strcmp(manager->operation, operation) == 0 &&
		    strcmp(manager->subresource, subresource) == 0)
			return manager;
	}
	struct manager *manager = &managers->items[managers->count++];
	*manager = (struct manager){
		.name = name,
		.operation = operation,
		.api_version = draft->api->api_version,
		.time = "",
		.subresource = subresource,
		.set = tree_map(draft->arena),
		.changed = true,
	};
	return manager;
}

static void write_managers(struct draft *draft, struct tree *metadata, const struct managers *managers)
{
	struct arena *arena = draft->arena;
	struct tree *list = tree_list(arena);
	char now[32];
	metadata_timestamp(draft, now);
	for (size_t i = 0; i < managers->count; i++) {
		const struct manager *manager = &managers->items[i];
		if (fields_empty(manager->set))
			continue;
		struct tree *entry = tree_map(arena);
		tree_put_string(arena, entry, "manager", manager->name);
		tree_put_string(arena, entry, "operation", manager->operation);
		tree_put_string(arena, entry, "apiVersion", manager->api_version);
		tree_put_string(arena, entry, "time", manager->changed ? now : manager->time);
		tree_put_string(arena, entry, "fieldsType", "FieldsV1");
		tree_put(arena, entry, "fieldsV1", fields_write(arena, manager->set));
		if (*manager->subresource)
			tree_put_string(arena, entry, "subresource", manager->subresource);
		tree_append(arena, list, entry);
	}
	if (tree_count(list))
		tree_put(arena, metadata, "managedFields", list);
	else
		tree_remove(arena, metadata, "managedFields");
}

/* Identity and what the store writes itself belong to nobody. */
static void drop_unowned(struct draft *draft, struct tree *set)
{
	static const char *const paths[][3] = {
		{"apiVersion"},
		{"kind"},
		{"metadata", "name"},
		{"metadata", "namespace"},
		{"metadata", "generateName"},
		{"metadata", "uid"},
		{"metadata", "creationTimestamp"},
		{"metadata", "generation"},
		{"metadata", "resourceVersion"},
		{"metadata", "selfLink"},
		{"metadata", "managedFields"},
		{"metadata", "deletionTimestamp"},
		{"metadata", "deletionGracePeriodSeconds"},
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fields_drop(draft->arena, set, paths[i]);
	tree_remove(draft->arena, set, "."); /* of an empty object */
}

static struct tree *owned_fields(struct draft *draft, const struct val *value, const struct shape *shape)
{
	struct tree *set = fields_of(draft->arena, value, shape);
	drop_unowned(draft, set);
	return set;
}

/* ---- conflicts ---- */

struct conflicts {
	struct arena *arena;
	const struct manager *manager;
	VEC(struct store_cause) causes;
	struct buffer text;
};

static void add_conflict(void *context, const char *path)
{
	struct conflicts *conflicts = context;
	const struct manager *manager = conflicts->manager;
	const char *message = arena_printf(conflicts->arena, "conflict with \"%s\"%s%s using %s", manager->name,
	                                   *manager->subresource ? " with subresource " : "", manager->subresource,
	                                   manager->api_version);
	buffer_printf(&conflicts->text, "\n%s: %s", message, path);
	vec_push(&conflicts->causes, (struct store_cause){
					     .reason = "FieldManagerConflict",
					     .message = message,
					     .field = arena_strdup(conflicts->arena, path),
				     });
}

static int refuse_conflicts(struct draft *draft, struct conflicts *conflicts)
{
	size_t count = conflicts->causes.count;
	/* One stands on the same line, several below each other. */
	draft_refuse(draft, 409, "Conflict", "Apply failed with %zu %s%s", count,
	             count == 1 ? "conflict: " : "conflicts:", conflicts->text.text + (count == 1));
	struct store_cause *causes = arena_array(draft->arena, struct store_cause, count);
	memcpy(causes, conflicts->causes.items, count * sizeof(*causes));
	draft->result->error.causes = causes;
	draft->result->error.cause_count = count;
	return -1;
}

/* What others own and this apply would change: a refusal, or with force it is taken from them. */
static int settle_conflicts(struct draft *draft, struct managers *managers, const struct manager *self,
                            struct tree *wanted)
{
	struct conflicts conflicts = {.arena = draft->arena};
	for (size_t i = 0; i < managers->count; i++) {
		struct manager *other = &managers->items[i];
		if (other == self)
			continue;
		struct tree *common = fields_common(draft->arena, wanted, other->set);
		if (fields_empty(common))
			continue;
		conflicts.manager = other;
		fields_each(draft->arena, common, add_conflict, &conflicts);
		other->set = fields_without(draft->arena, other->set, common);
		other->changed = true;
	}
	int status = 0;
	if (conflicts.causes.count && !draft->request->force)
		status = refuse_conflicts(draft, &conflicts);
	vec_free(&conflicts.causes);
	buffer_free(&conflicts.text);
	return status;
}

/* ---- applying ---- */

/* The part of the configuration that this resource takes: status only through its subresource. */
static const struct val *applicable(struct draft *draft)
{
	struct tree *root = tree_of(draft->arena, draft->request->body);
	if (draft->request->subresource == STORE_STATUS) {
		struct tree *status = tree_get(draft->arena, root, "status");
		root = tree_map(draft->arena);
		tree_put(draft->arena, root, "status", status ? status : tree_map(draft->arena));
	} else if (draft->api->has_status) {
		tree_remove(draft->arena, root, "status");
	}
	struct doc *doc = tree_finish(root);
	vec_push(&draft->docs, doc);
	return doc_root(doc);
}

static int check_apply(struct draft *draft)
{
	const struct val *body = draft->request->body;
	const char *name = val_str(val_path(body, "metadata", "name", NULL), draft->name);
	if (val_kind(body) != VAL_MAP)
		return draft_refuse(draft, 400, "BadRequest", "an applied configuration must be a map");
	if (!draft->request->manager || !*draft->request->manager)
		return draft_refuse(draft, 422, "Invalid",
		                    "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
		                    "required for apply patch");
	if (val_count(val_path(body, "metadata", "managedFields", NULL)))
		return draft_refuse(draft, 400, "BadRequest", "metadata.managedFields must be nil");
	if (strcmp(name, draft->name) != 0)
		return draft_refuse(draft, 400, "BadRequest",
		                    "the name of the object (%s) does not match the name on the URL (%s)", name,
		                    draft->name);
	return 0;
}

static int apply_new(struct draft *draft, const struct val *config, struct shape *shape)
{
	if (draft->request->subresource != STORE_MAIN)
		return draft_refuse_not_found(draft);
	if (*val_str(val_path(config, "metadata", "uid", NULL), ""))
		return draft_refuse_conflict(draft, "uid mismatch: the object to apply to does not exist");
	struct managers managers = read_managers(draft, NULL);
	find_manager(draft, &managers, draft->request->manager, "Apply", "")->set = owned_fields(draft, config, shape);
	draft->root = fields_merge(draft->arena, NULL, config, shape);
	write_managers(draft, tree_need_map(draft->arena, draft->root, "metadata"), &managers);
	return draft_create(draft);
}

/* Everything that stood in an object before anybody applied to it. */
static void begin_tracking(struct draft *draft, struct managers *managers, const struct val *live,
                           const struct shape *shape)
{
	/* What kubectl applied from its side, it knows how to take over: it looks for this name. */
	bool client_side = val_path(live, "metadata", "annotations", LAST_APPLIED, NULL);
	struct manager *everybody = find_manager(draft, managers, client_side ? CLIENT_SIDE : EVERYBODY, "Update", "");
	everybody->set = owned_fields(draft, live, shape);
	if (draft->api->has_status)
		fields_drop(draft->arena, everybody->set, (const char *const[]){"status", NULL});
}

static int apply_to(struct draft *draft, const struct val *config, struct shape *shape)
{
	struct arena *arena = draft->arena;
	const struct val *live = store_object_root(draft->old, draft->api);
	const struct val *fields = val_path(live, "metadata", "managedFields", NULL);
	struct managers managers = read_managers(draft, fields);
	if (!managers.count)
		begin_tracking(draft, &managers, live, shape);
	struct manager *self = find_manager(draft, &managers, draft->request->manager, "Apply", subresource_of(draft));
	struct tree *set = owned_fields(draft, config, shape), *lost = fields_without(arena, self->set, set);
	for (size_t i = 0; i < managers.count; i++)
		if (&managers.items[i] != self)
			lost = fields_without(arena, lost, managers.items[i].set);
	draft->root = fields_merge(arena, tree_of(arena, live), config, shape);
	fields_take(arena, draft->root, lost, shape);
	struct doc *merged = tree_finish(draft->root);
	vec_push(&draft->docs, merged);
	struct tree *changed = fields_changed(arena, live, doc_root(merged), shape);
	if (settle_conflicts(draft, &managers, self, fields_common(arena, changed, set)) < 0)
		return -1;
	bool same = fields_empty(fields_without(arena, set, self->set)) &&
	            fields_empty(fields_without(arena, self->set, set)) &&
	            strcmp(self->api_version, draft->api->api_version) == 0;
	self->changed |= !same;
	self->set = set;
	self->api_version = draft->api->api_version;
	draft->applied = true;
	write_managers(draft, tree_need_map(arena, draft->root, "metadata"), &managers);
	return draft_update(draft);
}

int apply_merge(struct draft *draft)
{
	if (check_apply(draft) < 0)
		return -1;
	draft->old = store_object_retain(index_find(&draft->bucket->index, draft->namespace_, draft->name));
	const struct val *config = applicable(draft);
	struct shape shape = shape_of(draft->api);
	const char *misfit = fields_misfit(draft->arena, config, &shape);
	if (misfit)
		return draft_refuse(draft, 400, "BadRequest", "the applied configuration cannot be merged: %s", misfit);
	draft->applied = true;
	return draft->old ? apply_to(draft, config, &shape) : apply_new(draft, config, &shape);
}

/* ---- other writes ---- */

void apply_track(struct draft *draft)
{
	struct arena *arena = draft->arena;
	const struct val *before = val_path(draft->old->root, "metadata", "managedFields", NULL);
	struct tree *metadata = tree_get(arena, draft->root, "metadata"),
		    *given = tree_get(arena, metadata, "managedFields");
	if (!before && !given)
		return;
	struct doc *doc = tree_finish(draft->root);
	if (!doc)
		return;
	vec_push(&draft->docs, doc);
	const struct val *after = val_path(doc_root(doc), "metadata", "managedFields", NULL);
	/* A writer may set the list itself: [{}] and [] clear it. */
	struct managers managers = read_managers(draft, after);
	if (given && !managers.count)
		tree_remove(arena, metadata, "managedFields");
	if (!managers.count || !val_equal(before, after))
		return;
	struct shape shape = shape_of(draft->api);
	struct tree *changed = fields_changed(arena, draft->old->root, doc_root(doc), &shape);
	drop_unowned(draft, changed);
	if (fields_empty(changed))
		return;
	const char *name = draft->request->manager && *draft->request->manager ? draft->request->manager : "unknown";
	struct manager *self = find_manager(draft, &managers, name, "Update", subresource_of(draft));
	for (size_t i = 0; i < managers.count; i++) {
		struct manager *manager = &managers.items[i];
		if (fields_empty(fields_common(arena, manager->set, changed)))
			continue;
		manager->set = fields_without(arena, manager->set, changed);
		manager->changed = true;
	}
	struct tree *there = owned_fields(draft, doc_root(doc), &shape);
	self->set = fields_union(arena, self->set, fields_common(arena, changed, there));
	self->changed = true;
	self->api_version = draft->api->api_version;
	write_managers(draft, metadata, &managers);
}
