/* Owns the pods of a group: what the decisions ask for is created, deleted and let through the gate. */
#include "rbg/render.h"

#include "rollout/count.h"

#include <string.h>

static void delete_instance(struct rbg_turn *turn, const struct rbg_instance *instance)
{
	for (size_t i = 0; i < instance->pod_count; i++)
		if (!instance->pods[i].is_terminating)
			rbg_delete(turn, instance->pods[i].object);
}

/* A pod of a RoleInstance that was deleted goes as well; until then its name is taken. */
static bool is_left_over(const struct rbg_turn *turn, const char *name, const struct store_object *owner)
{
	const struct store_object *pod = rbg_peek(turn, "", "pods", name);
	const struct val *reference =
		pod ? val_item(val_path(pod->root, "metadata", "ownerReferences", NULL), 0) : NULL;
	return reference && strcmp(val_str(val_get(reference, "kind"), ""), owner->type->kind) == 0 &&
	       strcmp(val_str(val_get(reference, "name"), ""), owner->name) == 0 &&
	       strcmp(val_str(val_get(reference, "uid"), ""), owner->uid) != 0;
}

/* Makes the pods of an instance that are not there. `instance` is NULL when none is. */
static bool create_pods(struct rbg_turn *turn, struct rbg_role_state *role, int64_t ordinal,
                        const struct rbg_instance *instance)
{
	bool is_new = instance ? strcmp(instance->revision, role->update_revision) == 0 : rbg_begins_new(role, ordinal);
	/* Of a revision that is neither, nothing is known any more: its instances are completed by being replaced. */
	if (instance && !is_new && strcmp(instance->revision, role->current_revision) != 0)
		return false;
	const struct rbg_role *as = is_new ? role->spec : role->old_spec;
	const char *revision = is_new ? role->update_revision : role->current_revision;
	const struct store_object *owner = rbg_need_instance(turn, role, as, revision, ordinal);
	const bool *held = owner ? rbg_find_held(turn, as, instance) : NULL;
	size_t known = 0;
	bool created = false;
	for (int64_t index = 0; owner && index < as->pods; index++) {
		if (instance && known < instance->pod_count && instance->pods[known].index == index) {
			known++;
			continue;
		}
		if (held && held[rbg_part_at(as, index)])
			continue;
		if (is_left_over(turn, rbg_pod_name(turn, role->spec, ordinal, index), owner)) {
			rbg_look_again(turn, 1);
			continue;
		}
		struct doc *doc = rbg_render(turn, role, as, revision, ordinal, index, owner);
		created |= doc && rbg_create(turn, "", "pods", doc_root(doc));
		doc_destroy(doc);
	}
	return created;
}

/* Lets the pods of a batch whose turn has come go to the scheduler; other gates stay. */
static bool release(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_instance *instance)
{
	bool released = false;
	for (size_t i = 0; i < instance->pod_count && instance->ordinal < role->released; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		const struct val *item;
		bool found = false;
		if (!pod->is_gated || pod->is_terminating)
			continue;
		struct build *build = build_create();
		struct node *patch = build_map(build), *spec = build_map(build), *gates = build_list(build);
		for (struct val_iter it = val_iter(val_path(pod->object->root, "spec", "schedulingGates", NULL));
		     val_next(&it, NULL, &item);) {
			bool is_ours = strcmp(val_str(val_get(item, "name"), ""), DEPLOY_GATE) == 0;
			found |= is_ours;
			if (!is_ours)
				build_append(build, gates, build_copy(build, item));
		}
		build_put(build, spec, "schedulingGates", gates);
		build_put(build, patch, "spec", spec);
		released |= found && rbg_patch(turn, pod->object, build, patch);
		build_destroy(build);
	}
	return released;
}

/* Makes the pod one of the PodGroup. `labelled`: its subgroup is written too, NULL takes that away. */
static void put_in_gang(struct rbg_turn *turn, const struct rbg_pod *pod, const char *gang, bool labelled,
                        const char *subgroup)
{
	struct build *build = build_create();
	struct node *patch = build_map(build), *metadata = build_map(build), *labels = build_map(build),
		    *annotations = build_map(build);
	if (labelled && subgroup)
		build_put_string(build, labels, RBG_LABEL_SUBGROUP, subgroup);
	else if (labelled)
		build_put(build, labels, RBG_LABEL_SUBGROUP, NULL);
	build_put_string(build, annotations, "pod-group-name", gang);
	build_put(build, metadata, "labels", labels);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, patch, "metadata", metadata);
	rbg_patch(turn, pod->object, build, patch);
	build_destroy(build);
}

/* Pods that another controller made belong to no PodGroup yet. */
static void join_gang(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_instance *instance)
{
	const char *subgroup = rbg_subgroup_of(turn, role, instance->ordinal);
	for (size_t i = 0; i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		if (pod->fact->gang == rbg_memo_hash("") && !pod->is_terminating)
			put_in_gang(turn, pod, rbg_gang_of(turn, role, instance->ordinal), subgroup != NULL, subgroup);
	}
}

/* When its segment has started, an instance gets a PodGroup of its own. */
static void leave_segment(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_instance *instance)
{
	for (size_t i = 0; i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		if (pod->fact->flags & RBG_FACT_SUBGROUP && !pod->is_terminating)
			put_in_gang(turn, pod, rbg_gang_of(turn, role, instance->ordinal), true, NULL);
	}
}

/* Pods that ended are made anew: alone, or with their whole instance where the restart policy says so. */
static void restart(struct rbg_turn *turn, const struct rbg_role_state *role, struct rbg_instance *instance)
{
	const char *name = rbg_instance_name(turn, role->spec, instance->ordinal);
	if (role->spec->recreates_group && instance->is_hit)
		return; /* waits until the group may be made anew */
	if (!rbg_may_restart(turn, role->spec, name))
		return;
	if (instance->is_hit) {
		rbg_event(turn, true, "ReCreateInstance", "a pod of %s ended or was restarted", name);
		delete_instance(turn, instance);
		instance->is_restarted = true;
		return;
	}
	for (size_t i = 0; i < instance->pod_count; i++)
		if (instance->pods[i].is_over && !instance->pods[i].is_terminating)
			rbg_delete(turn, instance->pods[i].object);
}

static void settle_instance(struct rbg_turn *turn, struct rbg_role_state *role, struct rbg_instance *instance)
{
	if (instance->action == UPDATE_REMOVE) {
		delete_instance(turn, instance);
		return;
	}
	if (instance->action == UPDATE_REPLACE) {
		if (rbg_update_in_place(turn, role, instance))
			return;
		rbg_event(turn, false, "InstanceReplaced", "%s goes to revision %s",
		          rbg_instance_name(turn, role->spec, instance->ordinal), role->update_revision);
		delete_instance(turn, instance);
		return;
	}
	if (instance->is_terminating)
		return; /* its names are free when it is gone */
	rbg_unmark(turn, instance);
	join_gang(turn, role, instance);
	rbg_note_places(turn, role, instance);
	if (role->start && !rbg_is_starting(role, instance->ordinal))
		leave_segment(turn, role, instance);
	if (instance->must_restart)
		restart(turn, role, instance);
	else
		create_pods(turn, role, instance->ordinal, instance);
	if (release(turn, role, instance))
		instance->is_scheduled = false;
}

/* Where a role asks for it, one pod that ends takes the whole group with it. */
static bool restart_group(struct rbg_turn *turn)
{
	const struct rbg_instance *hit = NULL;
	const struct rbg_role_state *role = NULL;
	for (size_t r = 0; r < turn->spec.role_count && !hit; r++) {
		role = &turn->roles[r];
		for (size_t i = 0; role->spec->recreates_group && i < role->instance_count && !hit; i++) {
			const struct rbg_instance *one = &role->instances[i];
			if (one->is_hit && !one->is_terminating && one->action == UPDATE_KEEP)
				hit = one;
		}
	}
	if (!hit || !rbg_may_restart(turn, role->spec, turn->spec.name))
		return false;
	rbg_event(turn, true, "ReCreateGroup", "a pod of %s ended or was restarted, so all pods are made anew",
	          rbg_instance_name(turn, role->spec, hit->ordinal));
	for (size_t r = 0; r < turn->spec.role_count; r++)
		for (size_t i = 0; i < turn->roles[r].instance_count; i++)
			delete_instance(turn, &turn->roles[r].instances[i]);
	return true;
}

void rbg_write_pods(struct rbg_turn *turn)
{
	if (restart_group(turn))
		return; /* what is to be there follows when they are gone */
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		for (size_t i = 0; i < role->instance_count; i++)
			settle_instance(turn, role, &role->instances[i]);
		if (turn->blocked)
			continue;
		for (int64_t ordinal = 0; ordinal < role->shape.end; ordinal++)
			if (!rbg_instance_at(role, ordinal))
				create_pods(turn, role, ordinal, NULL);
	}
}
