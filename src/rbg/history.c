/* Owns the ControllerRevisions of RoleInstanceSets and the hashes that name them: what instances of a set, or pods of an
 * instance, are made from. Two texts that mean the same are one revision, whoever wrote the first. */
#include "rbg/render.h"
#include "rbg/typed.h"

#include <string.h>

#define HASH_LABEL "controller.kubernetes.io/hash"
#define HISTORY 10 /* revisions kept besides those in use */

const char *rbg_short_hash(const char *name)
{
	const char *dash = strrchr(name, '-');
	return dash ? dash + 1 : name;
}

/* ---- texts ---- */

static void write_set_text(const struct val *parts, struct buffer *text)
{
	buffer_puts(text, "{\"spec\":{\"roleInstanceTemplate\":");
	typed_write(parts, TYPED_INSTANCE, text);
	buffer_puts(text, "}}");
}

const char *rbg_hash_instance(struct rbg_turn *turn, const struct val *spec)
{
	const struct val *components = val_get(spec, "components"), *item;
	struct buffer text = {0};
	size_t index = 0;
	buffer_puts(&text, "{\"spec\":{\"$setElementOrder/components\":[");
	for (struct val_iter it = val_iter(components); val_next(&it, NULL, &item);)
		buffer_printf(&text, "%s{\"name\":\"%s\"}", index++ ? "," : "", val_str(val_get(item, "name"), ""));
	buffer_puts(&text, "],\"components\":");
	typed_write(components, TYPED_COMPONENT, &text);
	buffer_puts(&text, "}}");
	const char *hash = typed_hash_name(typed_fnv1(&text, 0), turn->arena);
	buffer_free(&text);
	return hash;
}

/* ---- revisions of a set ---- */

static bool belongs_to(const struct rbg_turn *turn, size_t owned, const char *set)
{
	const struct store_object *object = turn->owned.items[owned];
	if (object->type != turn->revisions || turn->parents[owned] == 0)
		return false;
	const struct store_object *owner = turn->owned.items[turn->parents[owned] - 1];
	return owner->type == turn->sets && strcmp(owner->name, set) == 0;
}

static struct store_object *find_revision(const struct rbg_turn *turn, const char *set, const char *hash)
{
	for (size_t i = 0; i < turn->owned.count; i++)
		if (belongs_to(turn, i, set) && strcmp(rbg_short_hash(turn->owned.items[i]->name), hash) == 0)
			return turn->owned.items[i];
	return NULL;
}

/* One that somebody else wrote differently and that means the same. */
static const char *find_equal(const struct rbg_turn *turn, const char *set, const struct buffer *text)
{
	const char *found = NULL;
	for (size_t i = 0; i < turn->owned.count && !found; i++) {
		if (!belongs_to(turn, i, set))
			continue;
		struct buffer other = {0};
		write_set_text(val_path(turn->owned.items[i]->root, "data", "spec", "roleInstanceTemplate", NULL),
		               &other);
		if (other.length == text->length && memcmp(other.text, text->text, text->length) == 0)
			found = rbg_short_hash(turn->owned.items[i]->name);
		buffer_free(&other);
	}
	return found;
}

/* A set that was written for this very role is at it, also where what is made of the role differs by now: nobody asked
 * for other pods. */
static const char *find_written(struct rbg_turn *turn, const struct rbg_role_state *role, const char *name)
{
	const struct store_object *set = rbg_peek(turn, RBG_GROUP, "roleinstancesets", name);
	const char *label = set ? labels_get(&set->labels, rbg_role_label(turn, role->spec->name)) : NULL;
	int64_t generation = 0, observed = -1;
	if (!label || strcmp(label, role->hash) != 0 || rbg_has_rolling_runtime(turn, role->spec))
		return NULL;
	val_int(val_path(set->root, "metadata", "generation", NULL), &generation);
	val_int(val_path(set->root, "status", "observedGeneration", NULL), &observed);
	const char *hash = rbg_short_hash(val_str(val_path(set->root, "status", "updateRevision", NULL), ""));
	return observed == generation && *hash && find_revision(turn, name, hash) ? hash : NULL;
}

const char *rbg_hash_set(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as)
{
	const char *name = rbg_set_name(turn, role->spec);
	const struct val *parts = rbg_instance_parts(turn, role, as);
	struct buffer text = {0};
	if (parts)
		write_set_text(parts, &text);
	const char *hash = typed_hash_name(typed_fnv1(&text, 0), turn->arena), *other = NULL;
	if (parts && !find_revision(turn, name, hash)) {
		other = find_equal(turn, name, &text);
		other = other || as != role->spec ? other : find_written(turn, role, name);
	}
	buffer_free(&text);
	return other ? other : hash;
}

static int64_t number_of(const struct store_object *object)
{
	int64_t number = 0;
	val_int(val_get(object->root, "revision"), &number);
	return number;
}

static void create_revision(struct rbg_turn *turn, struct rbg_role_state *role, const struct store_object *set,
                            const char *name, int64_t number)
{
	const char *key;
	const struct val *item, *parts = rbg_instance_parts(turn, role, role->spec);
	struct error error = {0};
	struct buffer text = {0};
	write_set_text(parts, &text);
	struct doc *data = doc_parse_json(text.text, text.length, &error);
	struct build *build = build_create();
	struct node *root = rbg_object(turn, build, KINDS_APPS "/v1", "ControllerRevision", name),
		    *metadata = build_map(build), *labels = build_map(build);
	for (struct val_iter it = val_iter(val_path(set->root, "spec", "selector", "matchLabels", NULL));
	     val_next(&it, &key, &item);)
		build_put(build, labels, key, build_copy(build, item));
	build_put_string(build, labels, HASH_LABEL, role->update_revision);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", turn->object->namespace_);
	build_put(build, metadata, "labels", labels);
	if (val_path(set->root, "metadata", "annotations", NULL))
		build_put(build, metadata, "annotations",
		          build_copy(build, val_path(set->root, "metadata", "annotations", NULL)));
	rbg_put_owner(build, metadata, set, true);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "data", build_copy(build, data ? doc_root(data) : NULL));
	build_put_int(build, root, "revision", number);
	struct doc *doc = build_finish(build, root);
	rbg_create(turn, KINDS_APPS, "controllerrevisions", doc_root(doc));
	doc_destroy(doc);
	build_destroy(build);
	doc_destroy(data);
	buffer_free(&text);
}

static bool is_in_use(const struct rbg_turn *turn, const struct rbg_role_state *role, const char *hash)
{
	if (strcmp(hash, role->update_revision) == 0 || strcmp(hash, role->current_revision) == 0)
		return true;
	for (size_t i = 0; i < role->instance_count; i++)
		if (strcmp(role->instances[i].revision, hash) == 0)
			return true;
	return false;
}

void rbg_keep_set_revision(struct rbg_turn *turn, struct rbg_role_state *role, const struct store_object *set)
{
	const char *name = arena_printf(turn->arena, "%s-%s", set->name, role->update_revision);
	struct store_object *own = rbg_peek(turn, KINDS_APPS, "controllerrevisions", name);
	int64_t newest = 0;
	for (size_t i = 0; i < turn->owned.count; i++)
		if (belongs_to(turn, i, set->name) && number_of(turn->owned.items[i]) > newest)
			newest = number_of(turn->owned.items[i]);
	if (!own) {
		create_revision(turn, role, set, name, newest + 1);
	} else if (number_of(own) < newest) {
		struct build *build = build_create();
		struct node *patch = build_map(build);
		build_put_int(build, patch, "revision", newest + 1);
		rbg_patch(turn, own, build, patch);
		build_destroy(build);
	}
	for (size_t i = 0; i < turn->owned.count; i++)
		if (belongs_to(turn, i, set->name) && number_of(turn->owned.items[i]) <= newest - HISTORY &&
		    !is_in_use(turn, role, rbg_short_hash(turn->owned.items[i]->name)))
			rbg_delete(turn, turn->owned.items[i]);
}
