/* Owns revisions: the history of a group's spec in ControllerRevisions, which revision a role has and is to have, and the
 * way back. The hash of a role covers what its pods are made from and nothing else, so that a change of one role leaves
 * the others alone and scaling updates nobody. */
#include "rbg/internal.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY 5 /* revisions kept besides those in use */

static const char *hash_text(struct rbg_turn *turn, const struct buffer *text)
{
	return arena_printf(turn->arena, "%010" PRIx64, (uint64_t)XXH3_64bits(text->text, text->length) >> 24);
}

static const char *hash_role(struct rbg_turn *turn, const struct rbg_role *role)
{
	struct buffer text = {0};
	for (size_t i = 0; i < role->component_count; i++) {
		const struct rbg_component *component = &role->components[i];
		buffer_printf(&text, "%s %lld\n", component->name, (long long)component->size);
		val_write(component->template, DOC_JSON_COMPACT, &text);
		for (int p = 0; p < 2; p++) {
			buffer_puts(&text, "\n");
			if (component->patches[p])
				val_write(component->patches[p], DOC_JSON_COMPACT, &text);
		}
		/* Only where they are given: roles without them keep the revision they have. */
		if (component->labels)
			val_write(component->labels, DOC_JSON_COMPACT, &text);
		if (component->annotations)
			val_write(component->annotations, DOC_JSON_COMPACT, &text);
		if (component->service)
			buffer_printf(&text, "\n%s\n", component->service);
	}
	for (int i = 0; i < 2; i++) {
		const struct val *extra = i ? role->annotations : role->labels;
		buffer_puts(&text, "\n");
		if (extra)
			val_write(extra, DOC_JSON_COMPACT, &text);
	}
	rbg_hash_runtimes(turn, role, &text);
	const char *hash = hash_text(turn, &text);
	buffer_free(&text);
	return hash;
}

const char *rbg_role_label(struct rbg_turn *turn, const char *role)
{
	const char *key = arena_printf(turn->arena, "role-revision-%s", role);
	return arena_printf(turn->arena, "%s%s", RBG_LABEL, naming_value(key, turn->arena));
}

/* ---- the spec of the revision ---- */

/* The spec without replicas: what a revision remembers. */
static struct node *snapshot_spec(struct rbg_turn *turn, struct build *build)
{
	struct node *data = build_map(build), *spec = build_map(build), *roles = build_list(build);
	const struct val *from = val_get(turn->object->root, "spec"), *item, *field;
	const char *key, *name;
	for (struct val_iter it = val_iter(from); val_next(&it, &key, &item);)
		if (strcmp(key, "roles") != 0)
			build_put(build, spec, key, build_copy(build, item));
	for (struct val_iter it = val_iter(val_get(from, "roles")); val_next(&it, NULL, &item);) {
		struct node *role = build_map(build);
		for (struct val_iter at = val_iter(item); val_next(&at, &name, &field);)
			if (strcmp(name, "replicas") != 0)
				build_put(build, role, name, build_copy(build, field));
		build_append(build, roles, role);
	}
	build_put(build, spec, "roles", roles);
	build_put(build, data, "spec", spec);
	return data;
}

static bool is_revision(const struct rbg_turn *turn, const struct store_object *object)
{
	return object->type == turn->revisions;
}

static int64_t number_of(const struct store_object *object)
{
	int64_t number = 0;
	val_int(val_get(object->root, "revision"), &number);
	return number;
}

static struct store_object *find_revision(struct rbg_turn *turn, const char *label, const char *value)
{
	struct store_object *best = NULL;
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		const char *found = is_revision(turn, object) ? labels_get(&object->labels, label) : NULL;
		if (found && strcmp(found, value) == 0 && (!best || number_of(object) > number_of(best)))
			best = object;
	}
	return best;
}

static int64_t newest_number(struct rbg_turn *turn)
{
	int64_t newest = 0;
	for (size_t i = 0; i < turn->owned.count; i++)
		if (is_revision(turn, turn->owned.items[i]) && number_of(turn->owned.items[i]) > newest)
			newest = number_of(turn->owned.items[i]);
	return newest;
}

/* A spec that was there before gets the newest number again, as with Deployments. */
static void keep_revision(struct rbg_turn *turn)
{
	turn->revision = arena_printf(turn->arena, "%s-%s", turn->spec.name, turn->update_hash);
	if (turn->blocked)
		return; /* what cannot be carried out is nothing to come back to */
	struct store_object *old = find_revision(turn, RBG_LABEL_GROUP_REVISION, turn->update_hash);
	int64_t newest = newest_number(turn);
	struct build *build = build_create();
	if (old && number_of(old) < newest) {
		struct node *patch = build_map(build);
		build_put_int(build, patch, "revision", newest + 1);
		rbg_patch(turn, old, build, patch);
	} else if (!old) {
		struct node *root = rbg_object(turn, build, KINDS_APPS "/v1", "ControllerRevision", turn->revision);
		struct node *metadata = rbg_metadata(turn, build, turn->revision), *labels = build_map(build);
		for (int family = NAMING_V1ALPHA1; family <= NAMING_V1ALPHA2; family++)
			build_put_string(build, labels, naming_key((enum naming_family)family, NAMING_GROUP),
			                 turn->spec.name);
		build_put_string(build, labels, RBG_LABEL_GROUP_REVISION, turn->update_hash);
		for (size_t r = 0; r < turn->spec.role_count; r++)
			build_put_string(build, labels, rbg_role_label(turn, turn->spec.roles[r].name),
			                 turn->roles[r].update_revision);
		build_put(build, metadata, "labels", labels);
		build_put(build, root, "metadata", metadata);
		build_put(build, root, "data", snapshot_spec(turn, build));
		build_put_int(build, root, "revision", newest + 1);
		static const char *const fields[] = {"data", NULL};
		if (rbg_ensure(turn, build, KINDS_APPS, "controllerrevisions", turn->revision, root, fields) &&
		    newest > 0)
			rbg_event(turn, false, "SucceedCreateRevision", "revision %s is number %lld", turn->revision,
			          (long long)newest + 1);
	}
	build_destroy(build);
}

/* Old revisions that no pod and no role refers to, beyond the history, go. */
static void forget_revisions(struct rbg_turn *turn)
{
	int64_t newest = newest_number(turn);
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		if (!is_revision(turn, object))
			continue;
		turn->is_seen[i] = true;
		bool in_use = number_of(object) > newest - HISTORY;
		for (size_t r = 0; r < turn->spec.role_count && !in_use; r++) {
			const char *hash = labels_get(&object->labels, rbg_role_label(turn, turn->spec.roles[r].name));
			in_use = hash && strcmp(hash, turn->roles[r].current_revision) == 0;
		}
		if (!in_use)
			rbg_delete(turn, object);
	}
}

const struct rbg_role *rbg_role_at(struct rbg_turn *turn, const struct rbg_role_state *role, const char *revision)
{
	if (strcmp(revision, role->update_revision) == 0)
		return role->spec;
	struct store_object *object = find_revision(turn, rbg_role_label(turn, role->spec->name), revision);
	if (!object)
		return NULL;
	/* The data is a document with a spec; what is wrong with it was found when it was written. */
	const struct decoded_rbg *decoded = store_object_derived(object, &rbg_revision_derivation);
	int number = rbg_role_find(&decoded->spec, role->spec->name);
	return number < 0 ? NULL : &decoded->spec.roles[number];
}

const struct val *rbg_old_role(const struct rbg_turn *turn, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(turn->object->root, "status", "roleStatuses", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return item;
	return NULL;
}

/* What the spec asks for, of each role and as a whole. */
static void hash_group(struct rbg_turn *turn)
{
	struct buffer all = {0};
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		role->update_revision = hash_role(turn, role->spec);
		buffer_printf(&all, "%s %s\n", role->spec->name, role->update_revision);
	}
	turn->update_hash = hash_text(turn, &all);
	buffer_free(&all);
}

void rbg_revise(struct rbg_turn *turn)
{
	hash_group(turn);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		const struct val *status = rbg_old_role(turn, role->spec->name);
		role->current_revision = val_str(val_get(status, "currentRevision"), role->update_revision);
		val_int(val_get(status, "targetReplicas"), &role->last_target);
		if (role->last_target < 0 || role->last_target > RBG_MOST_PODS)
			role->last_target = 0;
		turn->is_updating |= strcmp(role->update_revision, role->current_revision) != 0;
	}
	keep_revision(turn);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		/* For instances that are not to be updated yet. */
		const struct rbg_role *old = rbg_role_at(turn, &turn->roles[r], turn->roles[r].current_revision);
		turn->roles[r].old_spec = old ? old : turn->roles[r].spec;
	}
	forget_revisions(turn);
}

/* ---- the way back ---- */

/* The roles of the revision with the replicas of today, and no others. */
static struct node *restore_roles(struct rbg_turn *turn, struct build *build, const struct val *old)
{
	struct node *roles = build_list(build);
	const struct val *item;
	for (struct val_iter it = val_iter(old); val_next(&it, NULL, &item);) {
		struct node *role = build_copy(build, item);
		int number = rbg_role_find(&turn->spec, val_str(val_get(item, "name"), ""));
		build_put_int(build, role, "replicas", number < 0 ? 1 : turn->spec.roles[number].replicas);
		build_append(build, roles, role);
	}
	return roles;
}

bool rbg_restore(struct rbg_turn *turn, const char *revision_name, const char *why, const char *annotation,
                 const char *value)
{
	struct store_object *revision = rbg_peek(turn, KINDS_APPS, "controllerrevisions", revision_name);
	if (!revision)
		return false;
	struct build *build = build_create();
	struct node *patch = build_map(build), *spec = build_map(build), *metadata = build_map(build),
		    *annotations = build_map(build);
	const struct val *old = val_path(revision->root, "data", "spec", NULL);
	build_put(build, spec, "roles", restore_roles(turn, build, val_get(old, "roles")));
	build_put(build, spec, "roleTemplates",
	          val_get(old, "roleTemplates") ? build_copy(build, val_get(old, "roleTemplates")) : NULL);
	build_put(build, patch, "spec", spec);
	build_put(build, annotations, RBG_ROLLBACK_ANNOTATION, NULL);
	if (annotation)
		build_put_string(build, annotations, annotation, value);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, patch, "metadata", metadata);
	bool done = rbg_patch(turn, turn->object, build, patch);
	build_destroy(build);
	if (done)
		rbg_event(turn, annotation != NULL, "RolledBack", "back to revision %s: %s", revision_name, why);
	return done;
}

bool rbg_roll_back(struct rbg_turn *turn)
{
	const char *wanted =
		val_str(val_path(turn->object->root, "metadata", "annotations", RBG_ROLLBACK_ANNOTATION, NULL), NULL);
	if (!wanted)
		return false;
	int64_t number = strtoll(wanted, NULL, 10), best = 0;
	struct store_object *found = NULL;
	hash_group(turn);
	struct store_object *present = find_revision(turn, RBG_LABEL_GROUP_REVISION, turn->update_hash);
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		if (!is_revision(turn, object))
			continue;
		/* 0 is the newest but the present one. By numbers alone it would be the present one after a way back
		 * whose write was refused: the revision it meant has the newest number by then. */
		bool fits = number > 0 ? number_of(object) == number : object != present && number_of(object) > best;
		if (fits || strcmp(object->name, wanted) == 0) {
			found = object;
			best = number_of(object);
		}
	}
	if (found)
		return rbg_restore(turn, found->name, "asked for by annotation", NULL, NULL);
	rbg_event(turn, true, "RevisionNotFound", "there is no revision %s to go back to", wanted);
	struct build *build = build_create();
	struct node *patch = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	build_put(build, annotations, RBG_ROLLBACK_ANNOTATION, NULL);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, patch, "metadata", metadata);
	rbg_patch(turn, turn->object, build, patch);
	build_destroy(build);
	return true;
}
