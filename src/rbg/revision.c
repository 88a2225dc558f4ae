/* Owns revisions of a group: its roles in ControllerRevisions, which revision each role has and is to have, and the way back.
 *
 * There are two kinds. The one of the group is the hash of its roles without replicas, with everything that is written in
 * them. The one of a role is what its instances are made from, as its RoleInstanceSet has it: a change of one role leaves the
 * others alone, and scaling updates nobody. */
#include "rbg/render.h"
#include "rbg/typed.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY 5 /* revisions kept besides those in use */

/* ---- what a role is made from ---- */

/* All that instances follow from, as one number: what it stands for is worked out once. */
static uint64_t hash_content(struct rbg_turn *turn, const struct rbg_role *role)
{
	struct buffer text = {0};
	for (size_t i = 0; i < role->component_count; i++) {
		const struct rbg_component *component = &role->components[i];
		const char *exclusive = rbg_exclusive_key(turn, role, component->template);
		buffer_printf(&text, "%s %lld %s %s\n", component->name, (long long)component->size,
		              component->service ? component->service : "", exclusive ? exclusive : "");
		const struct val *parts[] = {component->template, component->patches[0], component->patches[1],
		                             component->labels, component->annotations};
		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
			buffer_puts(&text, "\n");
			if (parts[p])
				val_write(parts[p], DOC_JSON_COMPACT, &text);
		}
	}
	buffer_printf(&text, "%s %s %d%d%d%d %lld %lld\n", role->name, rbg_service_name(turn, role),
	              role->is_leader_worker, role->serves_by_leader, role->recreates, role->recreates_group,
	              (long long)role->base_delay, (long long)role->max_delay);
	rbg_hash_runtimes(turn, role, &text);
	uint64_t hash = XXH3_64bits(text.text, text.length);
	buffer_free(&text);
	return hash;
}

const char *rbg_set_revision(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as)
{
	uint64_t key = hash_content(turn, as);
	const char *revision = rbg_memo_revision(turn, key);
	return revision ? revision : rbg_memo_note_revision(turn, key, rbg_hash_set(turn, role, as));
}

const char *rbg_role_label(struct rbg_turn *turn, const char *role)
{
	const char *key = arena_printf(turn->arena, "role-revision-%s", role);
	return arena_printf(turn->arena, "%s%s", RBG_LABEL, naming_value(key, turn->arena));
}

/* ---- the revision of the group ---- */

static void write_list(const char *key, const struct val *list, enum typed_kind kind, struct buffer *text)
{
	const struct val *item;
	buffer_printf(text, "\"%s\":[{\"$patch\":\"replace\"}", key);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		if (val_get(item, "$patch"))
			continue;
		buffer_puts(text, ",");
		typed_write(item, kind, text);
	}
	buffer_puts(text, "]");
}

/* What a revision of the group remembers of a spec: roles without replicas, as a patch that puts them back. */
static void write_spec(const struct val *spec, struct buffer *text)
{
	buffer_puts(text, "{\"spec\":{");
	write_list("roleTemplates", val_get(spec, "roleTemplates"), TYPED_FIELDS, text);
	buffer_puts(text, ",");
	write_list("roles", val_get(spec, "roles"), TYPED_ROLE, text);
	buffer_puts(text, "}}");
}

/* A role with the template it refers to. */
static const char *hash_role(struct rbg_turn *turn, const struct val *source)
{
	static const char *const patterns[] = {"standalonePattern", "leaderWorkerPattern"};
	const struct val *reference = NULL;
	struct buffer text = {0};
	typed_write(source, TYPED_ROLE, &text);
	for (int i = 0; i < 2 && !reference; i++)
		reference = val_path(source, patterns[i], "templateRef", NULL);
	const struct val *template = val_named(val_path(turn->object->root, "spec", "roleTemplates", NULL),
	                                       val_str(val_get(reference, "name"), ""));
	if (reference && val_get(template, "template"))
		typed_write(val_get(template, "template"), TYPED_TEMPLATE, &text);
	const char *hash = typed_hash_name(typed_fnv1a(TYPED_FNV, text.text, text.length), turn->arena);
	buffer_free(&text);
	return hash;
}

/* Of the group, not of one of its sets. */
static bool is_revision(const struct rbg_turn *turn, const struct store_object *object)
{
	return object->type == turn->revisions && labels_get(&object->labels, RBG_LABEL_GROUP_REVISION);
}

static int64_t number_of(const struct store_object *object)
{
	int64_t number = 0;
	val_int(val_get(object->root, "revision"), &number);
	return number;
}

static struct store_object *newest_revision(const struct rbg_turn *turn)
{
	struct store_object *newest = NULL;
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		if (is_revision(turn, object) && (!newest || number_of(object) > number_of(newest)))
			newest = object;
	}
	return newest;
}

static void create_revision(struct rbg_turn *turn, const char *name, int64_t number, const struct buffer *text)
{
	struct error error = {0};
	struct doc *data = doc_parse_json(text->text, text->length, &error);
	struct build *build = build_create();
	struct node *root = rbg_object(turn, build, KINDS_APPS "/v1", "ControllerRevision", name);
	struct node *metadata = rbg_metadata(turn, build, name), *labels = build_map(build);
	build_put_string(build, labels, naming_key(NAMING_V1ALPHA2, NAMING_GROUP), turn->spec.name);
	build_put_string(build, labels, RBG_LABEL_GROUP_REVISION, turn->update_hash);
	for (size_t r = 0; r < turn->spec.role_count; r++)
		build_put_string(build, labels, rbg_role_label(turn, turn->spec.roles[r].name), turn->roles[r].hash);
	build_put(build, metadata, "labels", labels);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "data", build_copy(build, data ? doc_root(data) : NULL));
	build_put_int(build, root, "revision", number);
	static const char *const fields[] = {"data", NULL};
	if (rbg_ensure(turn, build, KINDS_APPS, "controllerrevisions", name, root, fields) && number > 1)
		rbg_event(turn, false, "SucceedCreateRevision", "revision %s is number %lld", name, (long long)number);
	build_destroy(build);
	doc_destroy(data);
}

/* A spec that was there before gets another number, and so another revision. */
static void keep_revision(struct rbg_turn *turn)
{
	struct store_object *newest = newest_revision(turn);
	bool is_same = newest && strcmp(labels_get(&newest->labels, RBG_LABEL_GROUP_REVISION), turn->update_hash) == 0;
	int64_t number = newest ? number_of(newest) + !is_same : 1;
	turn->revision = is_same ? arena_strdup(turn->arena, newest->name)
	                         : arena_printf(turn->arena, "%s-%s-%lld", turn->spec.name, turn->update_hash,
	                                        (long long)number);
	if (is_same || turn->blocked)
		return; /* what cannot be carried out is nothing to come back to */
	struct buffer text = {0};
	write_spec(val_get(turn->object->root, "spec"), &text);
	create_revision(turn, turn->revision, number, &text);
	buffer_free(&text);
}

/* The role in a revision of the group, NULL when it had none. The data is a document with a spec; what is wrong with it was
 * found when it was written. */
static const struct rbg_role *role_in(struct store_object *object, const char *name)
{
	const struct decoded_rbg *decoded = store_object_derived(object, &rbg_revision_derivation);
	int number = rbg_role_find(&decoded->spec, name);
	return number < 0 ? NULL : &decoded->spec.roles[number];
}

const struct rbg_role *rbg_role_at(struct rbg_turn *turn, struct rbg_role_state *role, const char *revision)
{
	if (strcmp(revision, role->update_revision) == 0)
		return role->spec;
	for (size_t i = 0; i < turn->owned.count; i++) {
		if (!is_revision(turn, turn->owned.items[i]))
			continue;
		const struct rbg_role *as = role_in(turn->owned.items[i], role->spec->name);
		if (as && strcmp(rbg_set_revision(turn, role, as), revision) == 0)
			return as;
	}
	return NULL;
}

/* Old revisions beyond the history go, but for those that roles are still at. */
static void forget_revisions(struct rbg_turn *turn)
{
	const struct store_object *last = newest_revision(turn);
	int64_t newest = last ? number_of(last) : 0;
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		turn->is_seen[i] |= object->type == turn->revisions;
		if (!is_revision(turn, object))
			continue;
		bool in_use = number_of(object) > newest - HISTORY;
		for (size_t r = 0; r < turn->spec.role_count && !in_use; r++) {
			struct rbg_role_state *role = &turn->roles[r];
			const struct rbg_role *as = role_in(object, role->spec->name);
			in_use = as && strcmp(rbg_set_revision(turn, role, as), role->current_revision) == 0;
		}
		if (!in_use)
			rbg_delete(turn, object);
	}
}

static bool is_complete(struct rbg_turn *turn, struct store_object *object)
{
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		const struct rbg_role *as = role_in(object, role->spec->name);
		if (!as || strcmp(rbg_set_revision(turn, role, as), role->current_revision) != 0)
			return false;
	}
	return true;
}

const struct store_object *rbg_complete_revision(struct rbg_turn *turn)
{
	const struct store_object *found = NULL;
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		if (is_revision(turn, object) && (!found || number_of(object) > number_of(found)) &&
		    is_complete(turn, object))
			found = object;
	}
	return found;
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

/* The newest revision says the same in other words: then its hashes are the ones in use. */
static bool take_hashes(struct rbg_turn *turn, const struct store_object *newest, const struct buffer *text)
{
	struct buffer other = {0};
	write_spec(val_path(newest->root, "data", "spec", NULL), &other);
	bool is_same = other.length == text->length && memcmp(other.text, text->text, text->length) == 0;
	buffer_free(&other);
	if (!is_same)
		return false;
	turn->update_hash = arena_strdup(turn->arena, labels_get(&newest->labels, RBG_LABEL_GROUP_REVISION));
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		const char *hash = labels_get(&newest->labels, rbg_role_label(turn, turn->spec.roles[r].name));
		if (hash)
			turn->roles[r].hash = arena_strdup(turn->arena, hash);
	}
	return true;
}

/* What the spec asks for, of each role and as a whole. */
static void hash_group(struct rbg_turn *turn)
{
	const struct store_object *newest = newest_revision(turn);
	struct buffer text = {0};
	for (size_t r = 0; r < turn->spec.role_count; r++)
		turn->roles[r].hash = hash_role(turn, turn->spec.roles[r].source);
	write_spec(val_get(turn->object->root, "spec"), &text);
	turn->update_hash = typed_hash_name(typed_fnv1a(TYPED_FNV, text.text, text.length), turn->arena);
	if (newest && strcmp(labels_get(&newest->labels, RBG_LABEL_GROUP_REVISION), turn->update_hash) != 0)
		take_hashes(turn, newest, &text);
	buffer_free(&text);
}

/* What the last turn left, or whoever looked after the group before. */
static void read_last(struct rbg_turn *turn, struct rbg_role_state *role)
{
	const struct val *status = rbg_old_role(turn, role->spec->name);
	const struct store_object *set = rbg_peek(turn, RBG_GROUP, "roleinstancesets", rbg_set_name(turn, role->spec));
	const char *current = set ? val_str(val_path(set->root, "status", "currentRevision", NULL), "") : "";
	role->current_revision =
		val_str(val_get(status, "currentRevision"), *current ? rbg_short_hash(current) : role->update_revision);
	val_int(val_get(status, "targetReplicas"), &role->last_target);
	if (role->last_target < 0 || role->last_target > RBG_MOST_PODS)
		role->last_target = 0;
}

void rbg_revise(struct rbg_turn *turn)
{
	hash_group(turn);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		role->update_revision = rbg_set_revision(turn, role, role->spec);
		read_last(turn, role);
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
		if (val_get(item, "$patch"))
			continue;
		struct node *role = build_copy(build, item);
		int number = rbg_role_find(&turn->spec, val_str(val_get(item, "name"), ""));
		build_put_int(build, role, "replicas", number < 0 ? 1 : turn->spec.roles[number].replicas);
		build_append(build, roles, role);
	}
	return roles;
}

static struct node *restore_templates(struct build *build, const struct val *old)
{
	struct node *list = build_list(build);
	const struct val *item;
	size_t count = 0;
	for (struct val_iter it = val_iter(old); val_next(&it, NULL, &item);) {
		if (val_get(item, "$patch"))
			continue;
		build_append(build, list, build_copy(build, item));
		count++;
	}
	return count > 0 ? list : NULL;
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
	build_put(build, spec, "roleTemplates", restore_templates(build, val_get(old, "roleTemplates")));
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
	for (size_t i = 0; i < turn->owned.count; i++) {
		struct store_object *object = turn->owned.items[i];
		if (!is_revision(turn, object))
			continue;
		/* 0 is the newest that is not what is asked for already. */
		bool is_present = strcmp(labels_get(&object->labels, RBG_LABEL_GROUP_REVISION), turn->update_hash) == 0;
		bool fits = number > 0 ? number_of(object) == number : !is_present && number_of(object) > best;
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
