/* Owns RoleBasedGroupSets: so many groups of one template, changed one after the other.
 *
 * Groups are <set>-<index>. Each carries the hash of the template it was made from; when the template changes, groups that
 * are not ready get it at once, the others from the last to the first, each when all that have it are ready. What
 * somebody changes in a single group stays until the template changes. */
#include "rbg/internal.h"

#include "base/hash.h"
#include "object/difference.h"
#include "object/metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SET_LABEL RBG_LABEL "groupset-name"
#define SET_INDEX_LABEL RBG_LABEL "groupset-index"
#define SET_OLD_LABEL "rolebasedgroupset.workloads.x-k8s.io/name"
#define SET_OLD_INDEX_LABEL "rolebasedgroupset.workloads.x-k8s.io/rbg-index"
#define SET_HASH_ANNOTATION RBG_LABEL "groupset-template-hash"

struct member {
	struct store_object *object; /* NULL: not there */
	bool is_ready, is_new, is_leaving;
};

struct set_turn {
	struct reconcile *turn;
	struct store *store;
	struct arena *arena;
	struct store_object *object;
	struct rbg_set spec;
	const char *hash;
	struct member *members; /* by index, spec.replicas entries */
	int64_t present, ready, updated;
	bool failed;
};

static const char *member_name(const struct set_turn *set, int64_t index)
{
	return arena_printf(set->arena, "%s-%lld", set->object->name, (long long)index);
}

static const char *hash_template(struct set_turn *set)
{
	const struct val *parts[] = {set->spec.template, set->spec.labels, set->spec.annotations};
	struct buffer text = {0};
	for (int i = 0; i < 3; i++) {
		if (parts[i])
			val_write(parts[i], DOC_JSON_COMPACT, &text);
		buffer_puts(&text, "\n");
	}
	const char *hash = arena_printf(set->arena, "%016" PRIx64, (uint64_t)XXH3_64bits(text.text, text.length));
	buffer_free(&text);
	return hash;
}

static bool carry_out(struct set_turn *set, const struct store_request *request)
{
	struct store_error error = {0};
	bool done = request->api && writes_send(set->store, request, set->arena, &error) == 0;
	if (!done && error.code != 404) {
		const char *why = error.message ? error.message : "the kind is not served";
		set->failed = true;
		set->turn->failure = why;
		writes_event_once(set->store, set->object, true, "FailedReconcileGroup", why,
		                  set->turn->now_ns / CLOCK_SECOND);
	}
	return done;
}

static const struct store_api *group_api(const struct set_turn *set)
{
	return store_api_find(set->store, RBG_GROUP, "v1alpha2", "rolebasedgroups");
}

static void put_strings(struct build *build, struct node *to, const struct val *from)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(from); val_next(&it, &key, &item);)
		build_put(build, to, key, build_copy(build, item));
}

static struct node *make_owners(const struct set_turn *set, struct build *build)
{
	struct node *owners = build_list(build), *owner = build_map(build);
	build_put_string(build, owner, "apiVersion", RBG_GROUP "/v1alpha2");
	build_put_string(build, owner, "kind", "RoleBasedGroupSet");
	build_put_string(build, owner, "name", set->object->name);
	build_put_string(build, owner, "uid", set->object->uid);
	build_put_bool(build, owner, "controller", true);
	build_put_bool(build, owner, "blockOwnerDeletion", true);
	build_append(build, owners, owner);
	return owners;
}

/* The group at an index; what `old` has besides, such as annotations of users, stays. */
static struct doc *make_member(const struct set_turn *set, int64_t index, const struct store_object *old)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *labels = build_map(build), *annotations = build_map(build);
	const struct val *had = old ? val_get(old->root, "metadata") : NULL;
	struct node *metadata = had ? build_copy(build, had) : build_map(build);
	const char *number = arena_printf(set->arena, "%lld", (long long)index);
	put_strings(build, labels, val_get(had, "labels"));
	put_strings(build, labels, set->spec.labels);
	build_put_string(build, labels, SET_LABEL, set->object->name);
	build_put_string(build, labels, SET_OLD_LABEL, set->object->name);
	build_put_string(build, labels, SET_INDEX_LABEL, number);
	build_put_string(build, labels, SET_OLD_INDEX_LABEL, number);
	put_strings(build, annotations, val_get(had, "annotations"));
	put_strings(build, annotations, set->spec.annotations);
	build_put_string(build, annotations, SET_HASH_ANNOTATION, set->hash);
	build_put_string(build, metadata, "name", member_name(set, index));
	build_put_string(build, metadata, "namespace", set->object->namespace_);
	build_put(build, metadata, "labels", labels);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, metadata, "ownerReferences", make_owners(set, build));
	/* Roles in the flat form of v1alpha1 are read too. */
	build_put_string(build, root, "apiVersion", RBG_GROUP "/v1alpha2");
	build_put_string(build, root, "kind", "RoleBasedGroup");
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", build_copy(build, set->spec.template));
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

/* A patch and no update: the status of the group is being written all the time, by ourselves too, and each of these
 * writes would make the version that an update names an old one. */
static struct doc *make_patch(const struct store_object *old, const struct doc *wanted)
{
	struct build *build = build_create();
	static const char *const parts[] = {"metadata", "spec"};
	struct node *patch = build_map(build);
	for (int i = 0; i < 2; i++) {
		struct node *part =
			difference_merge(build, val_get(old->root, parts[i]), val_get(doc_root(wanted), parts[i]));
		if (part)
			build_put(build, patch, parts[i], part);
	}
	struct doc *doc = build_finish(build, patch);
	build_destroy(build);
	return doc;
}

static void write_member(struct set_turn *set, int64_t index, const struct store_object *old)
{
	struct doc *doc = make_member(set, index, old), *patch = old ? make_patch(old, doc) : NULL;
	const char *name = member_name(set, index);
	struct store_request request =
		writes_create(group_api(set), set->object->namespace_, doc_root(old ? patch : doc), WRITES_ACTOR);
	if (old) {
		request.verb = STORE_PATCH;
		request.patch = STORE_PATCH_MERGE;
		request.name = name;
	}
	if (carry_out(set, &request))
		writes_event(set->store, set->object, false, old ? "SuccessfulUpdate" : "SuccessfulCreate",
		             arena_printf(set->arena, "group %s", name), set->turn->now_ns / CLOCK_SECOND);
	doc_destroy(patch);
	doc_destroy(doc);
}

static void delete_member(struct set_turn *set, const struct store_object *object)
{
	struct store_request request = writes_delete(object, WRITES_ACTOR);
	request.api = group_api(set);
	const char *name = arena_strdup(set->arena, object->name);
	if (carry_out(set, &request))
		writes_event(set->store, set->object, false, "SuccessfulDelete",
		             arena_printf(set->arena, "group %s", name), set->turn->now_ns / CLOCK_SECOND);
}

static bool has_condition(const struct store_object *object, const char *type)
{
	const struct val *condition = writes_find_condition(object->root, type);
	return strcmp(val_str(val_get(condition, "status"), ""), "True") == 0;
}

/* Ready with the spec as it is now: a group that has just been given another one still is with the old. */
static bool is_ready(const struct store_object *object)
{
	int64_t generation = 0, observed = -1;
	val_int(val_path(object->root, "metadata", "generation", NULL), &generation);
	val_int(val_path(object->root, "status", "observedGeneration", NULL), &observed);
	return observed >= generation && has_condition(object, "Ready") &&
	       !has_condition(object, "RollingUpdateInProgress");
}

/* Puts groups at their index; those beyond the end go. */
static void observe(struct set_turn *set, const struct store_list *owned)
{
	set->members = arena_array(set->arena, struct member, (size_t)set->spec.replicas + 1);
	for (size_t i = 0; i < owned->count; i++) {
		struct store_object *object = owned->items[i];
		const char *text = labels_get(&object->labels, SET_INDEX_LABEL);
		int64_t index = text ? strtoll(text, NULL, 10) : -1;
		bool is_leaving = metadata_is_leaving(object->root);
		if (index < 0 || index >= set->spec.replicas || strcmp(member_name(set, index), object->name) != 0) {
			if (!is_leaving)
				delete_member(set, object);
			continue;
		}
		const char *hash =
			val_str(val_path(object->root, "metadata", "annotations", SET_HASH_ANNOTATION, NULL), "");
		set->members[index] = (struct member){
			.object = object,
			.is_ready = !is_leaving && is_ready(object),
			.is_new = strcmp(hash, set->hash) == 0,
			.is_leaving = is_leaving,
		};
	}
}

/* Makes what is missing and hands out the newest template. */
static void settle(struct set_turn *set)
{
	bool is_calm = true; /* every group of the newest template is ready */
	for (int64_t i = 0; i < set->spec.replicas; i++) {
		struct member *member = &set->members[i];
		if (!member->object)
			write_member(set, i, NULL);
		else if (!member->is_new && !member->is_ready && !member->is_leaving) {
			write_member(set, i, member->object);
			member->is_new = true;
		}
		is_calm &= member->object && (!member->is_new || member->is_ready);
	}
	for (int64_t i = set->spec.replicas; i-- > 0 && is_calm;)
		if (set->members[i].object && !set->members[i].is_new) {
			write_member(set, i, set->members[i].object);
			set->members[i].is_new = true;
			set->members[i].is_ready = is_calm = false;
		}
}

static void report(struct set_turn *set)
{
	for (int64_t i = 0; i < set->spec.replicas; i++) {
		const struct member *member = &set->members[i];
		bool is_there = member->object && !member->is_leaving;
		set->present += is_there;
		set->ready += is_there && member->is_ready;
		set->updated += is_there && member->is_new;
	}
	struct build *build = build_create();
	struct node *status = build_map(build);
	int64_t generation = 0, wanted = set->spec.replicas;
	bool is_complete = set->ready >= wanted && set->updated >= wanted;
	struct condition ready = {"Ready", is_complete ? "True" : "False",
	                          is_complete ? "AllReplicasReady" : "ReplicasNotReady",
	                          arena_printf(set->arena, "%lld/%lld groups ready, %lld/%lld updated",
	                                       (long long)set->ready, (long long)wanted, (long long)set->updated,
	                                       (long long)wanted)};
	val_int(val_path(set->object->root, "metadata", "generation", NULL), &generation);
	build_put_int(build, status, "observedGeneration", generation);
	build_put_int(build, status, "replicas", set->present);
	build_put_int(build, status, "readyReplicas", set->ready);
	build_put_int(build, status, "updatedReplicas", set->updated);
	build_put(build, status, "conditions",
	          writes_conditions(build, set->object->root, &ready, 1, set->turn->now_ns / CLOCK_SECOND));
	writes_patch_status(set->store, set->object, build, status);
	build_destroy(build);
}

/* A template that got past admission: nothing is changed, and the set says why. */
static void refuse(struct set_turn *set, const struct problems *problems)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	struct condition ready = {"Ready", "False", "InvalidSpec", "the set cannot be read"};
	for (size_t i = problems->count; i-- > 0;)
		if (problems->items[i].severity == SEVERITY_ERROR)
			ready.message =
				arena_printf(set->arena, "%s: %s", problems->items[i].path, problems->items[i].message);
	build_put(build, status, "conditions",
	          writes_conditions(build, set->object->root, &ready, 1, set->turn->now_ns / CLOCK_SECOND));
	writes_patch_status(set->store, set->object, build, status);
	build_destroy(build);
}

int rbg_reconcile_set(struct reconcile *turn)
{
	const struct store_type *type = store_type_find(turn->store, RBG_GROUP, "rolebasedgroupsets");
	struct store_object *object = type ? store_peek(turn->store, type, turn->key.namespace_, turn->key.name) : NULL;
	struct set_turn set = {.turn = turn, .store = turn->store, .arena = turn->arena};
	struct store_list owned = {0};
	if (!object || metadata_is_leaving(object->root))
		return 0;
	set.object = store_object_retain(object);
	const struct decoded_set *decoded = store_object_derived(object, &rbg_set_derivation);
	set.spec = decoded->set;
	if (decoded->problems.errors > 0) {
		refuse(&set, &decoded->problems);
	} else {
		set.hash = hash_template(&set);
		store_dependents(turn->store, object->uid, store_type_find(turn->store, RBG_GROUP, "rolebasedgroups"),
		                 &owned);
		observe(&set, &owned);
		settle(&set);
		report(&set);
		store_list_clear(&owned);
	}
	store_object_release(set.object);
	return set.failed ? -1 : 0;
}
