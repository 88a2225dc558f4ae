/* Owns how the controller of RoleBasedGroups writes objects: always with the group as owner, refusals noted in the turn. */
#include "rbg/internal.h"

#include "object/difference.h"

#include <stdarg.h>
#include <string.h>

struct store_object *rbg_peek(const struct rbg_turn *turn, const char *group, const char *resource, const char *name)
{
	const struct store_type *type = store_type_find(turn->store, group, resource);
	const char *namespace_ = type && type->namespaced ? turn->object->namespace_ : "";
	return type ? store_peek(turn->store, type, namespace_, name) : NULL;
}

struct node *rbg_metadata(struct rbg_turn *turn, struct build *build, const char *name)
{
	struct node *metadata = build_map(build), *labels = build_map(build), *owners = build_list(build),
		    *owner = build_map(build);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", turn->object->namespace_);
	for (int family = NAMING_V1ALPHA1; family <= NAMING_V1ALPHA2; family++)
		build_put_string(build, labels, naming_key((enum naming_family)family, NAMING_GROUP), turn->spec.name);
	build_put(build, metadata, "labels", labels);
	build_put_string(build, owner, "apiVersion", val_str(val_get(turn->object->root, "apiVersion"), ""));
	build_put_string(build, owner, "kind", "RoleBasedGroup");
	build_put_string(build, owner, "name", turn->object->name);
	build_put_string(build, owner, "uid", turn->object->uid);
	build_put_bool(build, owner, "controller", true);
	build_put_bool(build, owner, "blockOwnerDeletion", true);
	build_append(build, owners, owner);
	build_put(build, metadata, "ownerReferences", owners);
	return metadata;
}

struct node *rbg_object(struct rbg_turn *turn, struct build *build, const char *api_version, const char *kind,
                        const char *name)
{
	struct node *root = build_map(build);
	build_put_string(build, root, "apiVersion", api_version);
	build_put_string(build, root, "kind", kind);
	build_put(build, root, "metadata", rbg_metadata(turn, build, name));
	return root;
}

/* Nothing else shows that the group does not get on. */
static void fail(struct rbg_turn *turn, const char *why)
{
	turn->failed = true;
	turn->turn->failure = why;
	writes_event_once(turn->store, turn->object, true, "FailedReconcileWorkload", why, turn->now);
}

void rbg_refuse(struct rbg_turn *turn, const struct store_object *other)
{
	turn->refusal = arena_printf(turn->arena, "%s %s is there already and does not belong to the group",
	                             other->type->kind, other->name);
	turn->is_in_the_way = true;
	fail(turn, turn->refusal);
}

/* Carries out a request; a refusal that may pass later fails the turn, which is then tried again. */
static bool carry_out(struct rbg_turn *turn, const struct store_request *request)
{
	struct store_error error = {0};
	bool done = request->api && writes_send(turn->store, request, turn->arena, &error) == 0;
	if (!done && error.code != 404) {
		fail(turn, error.message ? error.message : "the kind is not served");
		/* What was refused for what it says will be refused again. */
		bool is_taken = error.code == 409 && strcmp(error.reason, "AlreadyExists") == 0;
		if (is_taken || (error.code >= 400 && error.code < 429 && error.code != 409))
			turn->refusal = turn->turn->failure;
	}
	return done;
}

static const struct store_api *find_api(const struct rbg_turn *turn, const char *group, const char *resource)
{
	const struct store_type *type = store_type_find(turn->store, group, resource);
	return type && type->api_count > 0 ? type->apis : NULL;
}

bool rbg_create(struct rbg_turn *turn, const char *group, const char *resource, const struct val *object)
{
	const struct store_api *api = find_api(turn, group, resource);
	struct store_request request =
		writes_create(api, api && api->type->namespaced ? turn->object->namespace_ : "", object, WRITES_ACTOR);
	return carry_out(turn, &request);
}

bool rbg_patch(struct rbg_turn *turn, const struct store_object *object, struct build *build, struct node *patch)
{
	return rbg_patch_as(turn, object, STORE_PATCH_MERGE, build, patch);
}

bool rbg_patch_as(struct rbg_turn *turn, const struct store_object *object, enum store_patch type, struct build *build,
                  struct node *patch)
{
	struct doc *doc = build_finish(build, patch);
	struct store_request request = writes_change(object, doc_root(doc), WRITES_ACTOR);
	request.patch = type;
	bool done = carry_out(turn, &request);
	doc_destroy(doc);
	return done;
}

/* By the group, or by the set of one of its roles. */
static bool is_owned(const struct rbg_turn *turn, const struct store_object *object)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object->root, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);) {
		const char *uid = val_str(val_get(owner, "uid"), "");
		if (strcmp(uid, turn->object->uid) == 0)
			return true;
		for (size_t r = 0; r < turn->spec.role_count; r++) {
			const struct store_object *set =
				rbg_peek(turn, RBG_GROUP, "roleinstancesets", rbg_set_name(turn, &turn->spec.roles[r]));
			if (set && strcmp(uid, set->uid) == 0)
				return true;
		}
	}
	return false;
}

/* Whether `have` says all that `want` does. A server fills in what a spec leaves open. */
static bool covers(const struct val *have, const struct val *want)
{
	const char *key;
	const struct val *item;
	if (val_kind(want) != VAL_MAP && val_kind(want) != VAL_LIST)
		return val_equal(have, want);
	if (val_kind(want) == VAL_LIST && val_count(have) != val_count(want))
		return false;
	size_t index = 0;
	for (struct val_iter it = val_iter(want); val_next(&it, &key, &item); index++)
		if (!covers(key ? val_get(have, key) : val_item(have, index), item))
			return false;
	return true;
}

/* Of a service the server fills in fields of its own; of those that are ours nothing more than wanted may be there. */
static bool is_met(const struct val *have, const struct val *want, bool filled)
{
	static const char *const whole[] = {"selector", "ports"};
	if (!filled)
		return val_equal(want, have);
	for (int i = 0; i < 2; i++)
		if (val_count(val_get(have, whole[i])) != val_count(val_get(want, whole[i])))
			return false;
	return covers(have, want);
}

/* A value for a merge patch that makes `want` of what was there. With `filled` keys at the top that the server may have
 * put there stay, all but ports. */
static struct node *replace(struct build *build, const struct val *want, const struct val *old, bool filled)
{
	const char *key;
	const struct val *item;
	if (!filled || val_kind(want) != VAL_MAP || val_kind(old) != VAL_MAP)
		return difference_merge(build, old, want);
	struct node *map = build_map(build);
	for (struct val_iter it = val_iter(want); val_next(&it, &key, &item);) {
		struct node *changed = difference_merge(build, val_get(old, key), item);
		if (changed)
			build_put(build, map, key, changed);
	}
	if (val_get(old, "ports") && !val_get(want, "ports"))
		build_put(build, map, "ports", build_null(build));
	return map;
}

bool rbg_ensure(struct rbg_turn *turn, struct build *build, const char *group, const char *resource, const char *name,
                struct node *object, const char *const *fields)
{
	struct store_object *old = rbg_peek(turn, group, resource, name);
	struct doc *doc = build_finish(build, object);
	if (!old) {
		bool created = rbg_create(turn, group, resource, doc_root(doc));
		doc_destroy(doc);
		return created;
	}
	if (!is_owned(turn, old)) {
		rbg_refuse(turn, old);
		doc_destroy(doc);
		return false;
	}
	struct node *patch = build_map(build);
	bool differs = false;
	for (; *fields; fields++) {
		const struct val *want = val_get(doc_root(doc), *fields), *have = val_get(old->root, *fields);
		bool filled = strcmp(resource, "services") == 0; /* in by the server */
		if (is_met(have, want, filled))
			continue;
		differs = true;
		build_put(build, patch, *fields, replace(build, want, have, filled));
	}
	bool done = !differs || rbg_patch(turn, old, build, patch);
	doc_destroy(doc);
	return done;
}

bool rbg_delete(struct rbg_turn *turn, const struct store_object *object)
{
	struct store_request request = writes_delete(object, WRITES_ACTOR);
	return carry_out(turn, &request);
}

void rbg_event(struct rbg_turn *turn, bool warning, const char *reason, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(turn->arena, format, args);
	va_end(args);
	writes_event(turn->store, turn->object, warning, reason, text, turn->now);
}
