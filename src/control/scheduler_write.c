/* Owns writing the decisions of a cycle into the store: bindings, evictions, reservations, status and events.
 * Everything is compared with what the store has, so that a cycle that decides nothing new writes nothing. */
#include "control/scheduler_internal.h"
#include "control/writes.h"

#include <string.h>

static struct store_object *peek(const struct scheduler_turn *turn, const char *group, const char *resource,
                                 const char *namespace_, const char *name)
{
	const struct store_type *type = store_type_find(turn->store, group, resource);
	return type ? store_object_retain(store_peek(turn->store, type, namespace_, name)) : NULL;
}

static struct store_object *peek_pod(const struct scheduler_turn *turn, const char *namespace_, const char *name)
{
	return peek(turn, "", "pods", namespace_, name);
}

/* True when it was carried out. A refusal is no error of ours: the pod changed since the snapshot, and the next cycle
 * sees how. */
static bool carry_out(const struct scheduler_turn *turn, const struct store_request *request, const char *what)
{
	struct store_result result = {.arena = turn->arena};
	bool done = store_write(turn->store, request, &result) == 0;
	if (!done)
		log_write(turn->logger, LOG_WARN, 0, what, "pod", request->name, "error", result.error.message, NULL);
	store_result_clear(&result);
	return done;
}

static void bind(const struct scheduler_turn *turn, const struct plan_binding *binding)
{
	struct store_object *pod = peek_pod(turn, binding->namespace_, binding->pod);
	if (!pod)
		return;
	struct build *build = build_create();
	struct node *body = build_map(build), *metadata = build_map(build), *target = build_map(build);
	build_put_string(build, metadata, "name", binding->pod);
	build_put_string(build, metadata, "uid", pod->uid);
	build_put_string(build, target, "kind", "Node");
	build_put_string(build, target, "name", binding->node);
	build_put_string(build, body, "apiVersion", "v1");
	build_put_string(build, body, "kind", "Binding");
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "target", target);
	struct doc *doc = build_finish(build, body);
	struct store_request request = {
		.verb = STORE_CREATE,
		.api = pod->type->apis,
		.subresource = STORE_BINDING,
		.namespace_ = binding->namespace_,
		.name = binding->pod,
		.body = doc_root(doc),
		.manager = "platoon",
		.actor = "platoon",
	};
	if (carry_out(turn, &request, "binding refused"))
		writes_event(turn->store, pod, false, "Scheduled",
		             arena_printf(turn->arena, "%s/%s goes to node %s", binding->namespace_, binding->pod,
		                          binding->node),
		             turn->now_seconds);
	doc_destroy(doc);
	build_destroy(build);
	store_object_release(pod);
}

static void evict(const struct scheduler_turn *turn, const struct plan_eviction *eviction)
{
	struct store_object *pod = peek_pod(turn, eviction->namespace_, eviction->pod);
	if (!pod)
		return;
	struct store_request request = {
		.verb = STORE_DELETE,
		.api = pod->type->apis,
		.namespace_ = eviction->namespace_,
		.name = eviction->pod,
		.options = {.uid = pod->uid},
		.actor = "platoon",
	};
	const char *why = eviction->by[0] ? arena_printf(turn->arena, "for %s", eviction->by)
	                                  : "because its gang was below its minimum for too long";
	if (carry_out(turn, &request, "eviction refused"))
		writes_event(turn->store, pod, false, "Evicted",
		             arena_printf(turn->arena, "leaves node %s %s (%s)", eviction->node, why, eviction->action),
		             turn->now_seconds);
	store_object_release(pod);
}

/* What the conditions of one pod should say. `node` is where room is reserved for it, "" for nowhere. */
static void mark_waiting(const struct scheduler_turn *turn, const struct pod_spec *spec, const char *node,
                         const char *reason, const char *message, bool tell)
{
	struct store_object *pod = peek_pod(turn, spec->namespace_, spec->name);
	if (!pod)
		return;
	struct condition condition = {"PodScheduled", "False", reason, message};
	bool same = writes_has_condition(pod->root, &condition);
	bool same_node = strcmp(val_str(val_path(pod->root, "status", "nominatedNodeName", NULL), ""), node) == 0;
	if (!same || !same_node) {
		struct build *build = build_create();
		struct node *status = build_map(build);
		build_put(build, status, "conditions",
		          writes_conditions(build, pod->root, &condition, 1, turn->now_seconds));
		build_put(build, status, "nominatedNodeName", node[0] ? build_string(build, node) : build_null(build));
		if (writes_patch_status(turn->store, pod, build, status) && !same && tell)
			writes_event(turn->store, pod, true, reason, message, turn->now_seconds);
		build_destroy(build);
	}
	store_object_release(pod);
}

static const char *describe(const struct scheduler_turn *turn, const struct plan_group *group)
{
	struct buffer text = {0};
	for (size_t i = 0; i < group->reason_count; i++)
		buffer_printf(&text, "%s%s", i ? "; " : "", group->reasons[i].message);
	const char *message = arena_strdup(turn->arena, text.text ? text.text : "");
	buffer_free(&text);
	return message;
}

static void mark_pods(const struct scheduler_turn *turn, size_t index, const char *message)
{
	const struct snapshot *snapshot = turn->plan->snapshot;
	const struct snapshot_group *group = &snapshot->groups[index];
	const struct cycle_group *decided = &snapshot->cycle.groups[index];
	/* While pods of a gang still arrive the message changes with each of them: the PodGroup tells, not every pod. */
	bool tell = decided->state != GROUP_NOT_READY;
	for (size_t i = 0; i < decided->gang.pod_count; i++) {
		const struct gang_pod *member = &decided->gang.pods[i];
		const struct snapshot_pod *pod = &snapshot->pods[group->members[i]];
		/* A pod that is evicted and moved has a reservation too, but is on a node still. */
		if (pod->node >= 0 || pod->gone)
			continue;
		if (member->state == MEMBER_RESERVED) {
			const char *node = cluster_node_name(snapshot->cycle.cluster, member->node);
			mark_waiting(turn, &pod->spec, node, "Reserved",
			             arena_printf(turn->arena,
			                          "room on node %s is reserved until pods there have ended", node),
			             true);
		} else if (member->state == MEMBER_GATED) {
			mark_waiting(turn, &pod->spec, "", "SchedulingGated", "the pod has scheduling gates", false);
		} else if (member->state == MEMBER_WAITING) {
			mark_waiting(turn, &pod->spec, "", "Unschedulable", message, tell);
		}
	}
	for (size_t i = 0; i < group->stray_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[group->strays[i]];
		if (pod->node < 0)
			mark_waiting(turn, &pod->spec, "", "Unschedulable", message, tell);
	}
}

struct counts {
	int64_t pending, running, succeeded, failed;
};

static struct counts count_pods(const struct snapshot *snapshot, size_t index)
{
	const struct snapshot_group *group = &snapshot->groups[index];
	struct counts counts = {.pending = (int64_t)group->stray_count};
	for (size_t i = 0; i < snapshot->cycle.groups[index].gang.pod_count; i++) {
		const struct pod_spec *pod = &snapshot->pods[group->members[i]].spec;
		counts.pending += pod->phase == POD_PENDING;
		counts.running += pod->phase == POD_RUNNING && !pod->deleting;
		counts.succeeded += pod->phase == POD_SUCCEEDED;
		counts.failed += pod->phase == POD_FAILED;
	}
	return counts;
}

/* Partial: the minimum is met, surplus waits. */
static bool is_placed(enum group_state state)
{
	return state == GROUP_PLACED || state == GROUP_PARTIAL;
}

static const char *phase_of(const struct plan_group *group, enum group_state state, const struct counts *counts)
{
	if (counts->succeeded > 0 && counts->pending + counts->running == 0)
		return counts->failed > 0 ? "Failed" : "Succeeded";
	if (is_placed(state))
		return counts->running >= group->minimum ? "Running" : "Scheduled";
	return state == GROUP_IMPOSSIBLE ? "Unschedulable" : "Pending";
}

static bool count_differs(const struct val *status, const char *key, int64_t wanted)
{
	int64_t now = -1;
	return val_int(val_get(status, key), &now) < 0 || now != wanted;
}

static void tell_group(const struct scheduler_turn *turn, const struct store_object *object, enum group_state state,
                       const char *message)
{
	bool waits = !is_placed(state) && state != GROUP_NOT_READY;
	const char *reason = waits ? "Unschedulable" : state == GROUP_NOT_READY ? "NotReady" : "Scheduled";
	writes_event(turn->store, object, waits, reason, message[0] ? message : "every pod that is needed has a node",
	             turn->now_seconds);
}

static void mark_group(const struct scheduler_turn *turn, size_t index, const char *message)
{
	const struct plan_group *group = &turn->plan->groups[index];
	enum group_state state = turn->plan->snapshot->cycle.groups[index].state;
	struct store_object *object = peek(turn, "scheduling.run.ai", "podgroups", group->namespace_, group->name);
	if (!object)
		return;
	scheduler_write_times(turn, index, object);
	struct counts counts = count_pods(turn->plan->snapshot, index);
	const char *phase = phase_of(group, state, &counts);
	bool placed = is_placed(state) || strcmp(phase, "Succeeded") == 0;
	const char *reason = placed ? "Placed" : group->reason_count > 0 ? group->reasons[0].code : "Waiting";
	struct condition condition = {"Scheduled", placed ? "True" : "False", reason, message};
	const struct val *old = val_get(object->root, "status");
	bool same = writes_has_condition(object->root, &condition);
	if (!same || strcmp(val_str(val_get(old, "phase"), ""), phase) != 0 ||
	    count_differs(old, "pending", counts.pending) || count_differs(old, "running", counts.running) ||
	    count_differs(old, "succeeded", counts.succeeded) || count_differs(old, "failed", counts.failed)) {
		struct build *build = build_create();
		struct node *status = build_map(build);
		build_put_string(build, status, "phase", phase);
		build_put_int(build, status, "pending", counts.pending);
		build_put_int(build, status, "running", counts.running);
		build_put_int(build, status, "succeeded", counts.succeeded);
		build_put_int(build, status, "failed", counts.failed);
		build_put(build, status, "conditions",
		          writes_conditions(build, object->root, &condition, 1, turn->now_seconds));
		if (writes_patch_status(turn->store, object, build, status) && !same)
			tell_group(turn, object, state, message);
		build_destroy(build);
	}
	store_object_release(object);
}

void scheduler_write(const struct scheduler_turn *turn)
{
	const struct plan *plan = turn->plan;
	for (size_t i = 0; i < plan->eviction_count; i++)
		evict(turn, &plan->evictions[i]);
	for (size_t i = 0; i < plan->binding_count; i++)
		bind(turn, &plan->bindings[i]);
	for (size_t i = 0; i < plan->group_count; i++) {
		size_t index = plan->order[i];
		const char *message = describe(turn, &plan->groups[index]);
		mark_pods(turn, index, message);
		if (!plan->snapshot->groups[index].implicit)
			mark_group(turn, index, message);
	}
}
