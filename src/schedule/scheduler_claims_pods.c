/* Owns what is asked about the pods of a gang between the decision and their bindings: whether they may still go where they
 * were to. */
#include "admit/pod.h"
#include "object/metadata.h"
#include "schedule/scheduler_claims_internal.h"

#include <string.h>

static struct store_object *peek(const struct scheduler *scheduler, const char *resource, const char *namespace_,
                                 const char *name)
{
	const struct store_type *type = store_type_find(scheduler->options.store, "", resource);
	return type ? store_peek(scheduler->options.store, type, namespace_, name) : NULL;
}

/* A pod that never ran may have failed all the same: whoever wanted that wrote its status. */
static bool has_ended(const struct store_object *pod)
{
	const char *phase = val_str(val_path(pod->root, "status", "phase", NULL), "");
	return strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
}

static bool has_unbearable_taint(const struct node_spec *node, const struct pod_rules *rules)
{
	for (size_t i = 0; i < node->taint_count; i++)
		if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
		    !taint_tolerated(&node->taints[i], rules->tolerations, rules->toleration_count))
			return true;
	return false;
}

const char *scheduler_node_objection(const struct store_object *node, struct store_object *pod, struct arena *arena)
{
	struct problems ignored = {.arena = arena};
	struct node_spec spec;
	if (node_decode(node->root, arena, &spec, &ignored) < 0)
		return "is not valid";
	if (spec.deleting)
		return "is being deleted";
	if (!spec.ready)
		return "is not ready";
	if (spec.unschedulable)
		return "is cordoned";
	const struct decoded_pod *decoded = store_object_derived_hold(pod, &pod_derivation);
	bool refused = decoded->usable && has_unbearable_taint(&spec, decoded->spec.rules);
	store_object_derived_drop(pod);
	return refused ? "has a taint that the pod does not tolerate" : NULL;
}

const char *claims_look_at_pods(const struct scheduler *scheduler, const struct claim_wait *wait, bool now,
                                struct arena *arena)
{
	for (size_t i = 0; i < wait->pod_count; i++) {
		const struct awaited_pod *pod = &wait->pods[i];
		struct store_object *object = peek(scheduler, "pods", wait->namespace_, pod->name);
		if (!object || strcmp(object->uid, pod->uid) != 0 || metadata_is_leaving(object->root))
			return arena_printf(arena, "pod %s is gone", pod->name);
		if (has_ended(object))
			return arena_printf(arena, "pod %s has ended", pod->name);
		if (val_str(val_path(object->root, "spec", "nodeName", NULL), NULL))
			return arena_printf(arena, "pod %s was bound by others", pod->name);
		const struct store_object *node = peek(scheduler, "nodes", "", pod->node);
		if (!node)
			return arena_printf(arena, "node %s is gone", pod->node);
		const char *objection = now ? scheduler_node_objection(node, object, arena) : NULL;
		if (objection)
			return arena_printf(arena, "node %s %s", pod->node, objection);
	}
	return NULL;
}
