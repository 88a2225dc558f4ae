/* Owns updates in place: where only images differ, the pods of an instance stay where they are and get the new images;
 * kubelets then start those containers again. Where nothing of them differs they stay in any case.
 *
 * With a grace, pods are first marked by a condition, which is one of their readiness gates; they get their images when
 * they have not been ready for so long, and the mark is taken away when the new containers run.
 *
 * What was before the change is kept in an annotation of the pod: until a changed container has been started again the
 * pod is not ready, whatever its conditions say, and that one restart is no crash. */
#include "rbg/render.h"
#include "rbg/typed.h"

#include "rollout/count.h"

#include <string.h>

#define STATE_ANNOTATION RBG_LABEL "inplace-update-state"

/* ---- pods that were changed ---- */

unsigned rbg_read_in_place(const struct val *annotations, const struct val *status)
{
	struct error error = {0};
	unsigned flags = 0;
	const char *text = val_str(val_get(annotations, STATE_ANNOTATION), NULL);
	struct doc *state = text ? doc_parse_json(text, strlen(text), &error) : NULL;
	const struct val *before = state ? val_get(doc_root(state), "containers") : NULL, *item;
	for (struct val_iter it = val_iter(val_get(status, "containerStatuses")); val_next(&it, NULL, &item);) {
		const struct val *was = val_get(before, val_str(val_get(item, "name"), ""));
		bool is_changed = val_bool(val_get(was, "changed"), false);
		int64_t count = 0, base = 0;
		val_int(val_get(item, "restartCount"), &count);
		val_int(val_get(was, "restartCount"), &base);
		if (count > base + is_changed)
			flags |= RBG_FACT_RESTARTED;
		if (is_changed && count <= base &&
		    strcmp(val_str(val_get(item, "imageID"), ""), val_str(val_get(was, "imageID"), "")) == 0)
			flags |= RBG_FACT_CHANGING;
	}
	doc_destroy(state);
	return flags;
}

/* ---- what differs ---- */

/* Every field of `a` but `except` is the same in `b`. */
static bool contains(const struct val *a, const struct val *b, const char *except)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(a); val_next(&it, &key, &item);)
		if (strcmp(key, except) != 0 && !val_equal(item, val_get(b, key)))
			return false;
	return true;
}

/* Whether they differ in nothing but images, where those may. */
static bool is_near(const struct val *a, const struct val *b, bool may_change)
{
	const char *const except = may_change ? "image" : "";
	const struct val *left = val_get(a, "containers"), *right = val_get(b, "containers"), *item;
	size_t index = 0;
	if (!contains(a, b, "containers") || !contains(b, a, "containers") || val_count(left) != val_count(right))
		return false;
	for (struct val_iter it = val_iter(left); val_next(&it, NULL, &item); index++)
		if (!contains(item, val_item(right, index), except) || !contains(val_item(right, index), item, except))
			return false;
	return true;
}

/* The spec of a pod, whoever wrote what it was made from. */
static struct doc *read_spec(const struct val *pod)
{
	struct buffer text = {0};
	struct error error = {0};
	typed_write(val_get(pod, "spec"), TYPED_FIELDS, &text);
	struct doc *doc = doc_parse_json(text.text, text.length, &error);
	buffer_free(&text);
	return doc;
}

static bool are_near(const struct val *a, const struct val *b, bool may_change)
{
	struct doc *left = read_spec(a), *right = read_spec(b);
	bool near = left && right && is_near(doc_root(left), doc_root(right), may_change);
	doc_destroy(left);
	doc_destroy(right);
	return near;
}

/* ---- the change ---- */

/* What the containers were like, for rbg_read_in_place. */
static const char *make_state(struct rbg_turn *turn, const struct val *pod, const struct val *wanted)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *containers = build_map(build);
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "spec", "containers", NULL)); val_next(&it, NULL, &item);) {
		const char *name = val_str(val_get(item, "name"), "");
		const struct val *status = val_named(val_path(pod, "status", "containerStatuses", NULL), name);
		const char *image = val_str(val_get(val_named(wanted, name), "image"), "");
		struct node *entry = build_map(build);
		int64_t count = 0;
		val_int(val_get(status, "restartCount"), &count);
		build_put_int(build, entry, "restartCount", count);
		build_put_string(build, entry, "imageID", val_str(val_get(status, "imageID"), ""));
		build_put_bool(build, entry, "changed", strcmp(val_str(val_get(item, "image"), ""), image) != 0);
		build_put(build, containers, name, entry);
	}
	build_put(build, root, "containers", containers);
	struct doc *doc = build_finish(build, root);
	struct buffer text = {0};
	val_write(doc_root(doc), DOC_JSON_COMPACT, &text);
	const char *state = arena_strdup(turn->arena, text.text);
	buffer_free(&text);
	doc_destroy(doc);
	build_destroy(build);
	return state;
}

/* The new texts; those that only the old render had are taken away, what others wrote stays. */
static struct node *merge_texts(struct build *build, const struct val *old, const struct val *new)
{
	struct node *map = build_copy(build, new);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(old); val_next(&it, &key, &item);)
		if (!val_get(new, key))
			build_put(build, map, key, build_null(build));
	return map;
}

/* `old` and `new` are what was rendered for the two revisions. */
static bool change_pod(struct rbg_turn *turn, const struct store_object *pod, const struct val *old,
                       const struct val *new)
{
	struct build *build = build_create();
	const struct val *wanted = val_path(new, "spec", "containers", NULL), *item;
	struct node *patch = build_map(build), *metadata = build_map(build), *spec = build_map(build),
		    *containers = build_list(build);
	struct node *annotations = merge_texts(build, val_path(old, "metadata", "annotations", NULL),
	                                       val_path(new, "metadata", "annotations", NULL));
	/* By name: what is known of a pod need not be all there is. */
	for (struct val_iter it = val_iter(val_path(pod->root, "spec", "containers", NULL));
	     val_next(&it, NULL, &item);) {
		const char *name = val_str(val_get(item, "name"), "");
		const struct val *as = val_named(wanted, name);
		if (!as)
			continue;
		struct node *container = build_map(build);
		build_put_string(build, container, "name", name);
		build_put(build, container, "image", build_copy(build, val_get(as, "image")));
		build_append(build, containers, container);
	}
	build_put_string(build, annotations, STATE_ANNOTATION, make_state(turn, pod->root, wanted));
	build_put(build, metadata, "annotations", annotations);
	build_put(build, metadata, "labels",
	          merge_texts(build, val_path(old, "metadata", "labels", NULL),
	                      val_path(new, "metadata", "labels", NULL)));
	/* Only if it is still the one that was read. */
	build_put_string(build, metadata, "resourceVersion",
	                 val_str(val_path(pod->root, "metadata", "resourceVersion", NULL), ""));
	build_put(build, spec, "containers", containers);
	build_put(build, patch, "metadata", metadata);
	build_put(build, patch, "spec", spec);
	bool done = rbg_patch_as(turn, pod, STORE_PATCH_STRATEGIC, build, patch);
	build_destroy(build);
	return done;
}

static bool is_whole(const struct rbg_instance *instance, const struct rbg_role *from, const struct rbg_role *to)
{
	if (from->pods != to->pods || (int64_t)instance->pod_count != to->pods)
		return false;
	for (size_t i = 0; i < instance->pod_count; i++)
		if (instance->pods[i].index != (int64_t)i || instance->pods[i].is_terminating ||
		    instance->pods[i].is_over)
			return false;
	return true;
}

/* Changes the pods one after the other, the last one last: it is what tells the revision of the instance, so a change
 * that was cut off is taken up again. With `try` it is only found out whether that is possible. */
static bool change_instance(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_instance *instance,
                            const struct rbg_role *from, bool try)
{
	bool may_change = role->spec->in_place != RBG_IN_PLACE_NEVER;
	const struct store_object *owner =
		try ? NULL : rbg_need_instance(turn, role, role->spec, role->update_revision, instance->ordinal);
	bool fine = try || owner;
	for (size_t i = 0; i < instance->pod_count && fine; i++) {
		const struct store_object *pod = instance->pods[i].object;
		if (strcmp(instance->pods[i].revision, role->update_revision) == 0)
			continue;
		struct doc *old = rbg_render(turn, role, from, instance->revision, instance->ordinal, (int64_t)i, NULL);
		struct doc *new =
			rbg_render(turn, role, role->spec, role->update_revision, instance->ordinal, (int64_t)i, owner);
		fine = old && new &&
		       (try ? are_near(doc_root(old), doc_root(new), may_change)
		            : change_pod(turn, pod, doc_root(old), doc_root(new)));
		doc_destroy(old);
		doc_destroy(new);
	}
	return fine;
}

/* ---- marks ---- */

static void mark_pod(struct rbg_turn *turn, const struct rbg_pod *pod, bool is_fine)
{
	struct build *build = build_create();
	struct condition condition = {RBG_READY_CONDITION, is_fine ? "True" : "False",
	                              is_fine ? "NothingChanges" : "StartInPlaceUpdate",
	                              is_fine ? "" : "its images are about to change"};
	if (writes_pod_condition(turn->store, pod->object, &condition, turn->now, build, NULL) < 0)
		turn->failed = true;
	build_destroy(build);
}

void rbg_unmark(struct rbg_turn *turn, const struct rbg_instance *instance)
{
	for (size_t i = 0; i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		if ((pod->is_marked || (pod->fact->flags & RBG_FACT_UNMARKED)) && !pod->is_changing &&
		    !pod->is_terminating)
			mark_pod(turn, pod, true);
	}
}

/* Says of pods that they are not ready, and lets the grace pass, so that nobody sends them requests when their images
 * change. True when that is over. */
static bool is_out_of_use(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_instance *instance)
{
	int64_t left = 0;
	bool is_first = true;
	for (size_t i = 0; i < instance->pod_count && role->spec->in_place_grace > 0; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		if (strcmp(pod->revision, role->update_revision) == 0)
			continue;
		int64_t since =
			pod->is_marked && pod->fact->marked_since != INT64_MIN ? pod->fact->marked_since : turn->now;
		left = count_most(left, since + role->spec->in_place_grace - turn->now);
		if (pod->is_marked) {
			is_first = false;
			continue;
		}
		mark_pod(turn, pod, false);
	}
	if (left <= 0)
		return true;
	if (is_first)
		rbg_event(turn, false, "InPlaceUpdateGrace",
		          "%s is taken out of use for %lld s before its images change",
		          rbg_instance_name(turn, role->spec, instance->ordinal), (long long)left);
	rbg_look_again(turn, left);
	return false;
}

bool rbg_update_in_place(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_instance *instance)
{
	const char *name = rbg_instance_name(turn, role->spec, instance->ordinal);
	const struct rbg_role *from = rbg_role_at(turn, role, instance->revision);
	if (!from || !is_whole(instance, from, role->spec) || !change_instance(turn, role, instance, from, true)) {
		if (role->spec->in_place != RBG_IN_PLACE_ONLY)
			return false;
		role->waits_for_role = false;
		role->wait =
			arena_printf(turn->arena,
		                     "waits: %s needs new pods for revision %s, and rollingUpdate.type is InPlaceOnly",
		                     name, role->update_revision);
		return true;
	}
	if (!is_out_of_use(turn, role, instance))
		return true;
	if (change_instance(turn, role, instance, from, false))
		rbg_event(turn, false, "SuccessfulUpdateInstanceInPlace", "%s goes to revision %s where it is", name,
		          role->update_revision);
	return true;
}
