/* Owns the health of simulated nodes. What their annotations say decides whether a node is heard of; who is not heard of
 * for too long gets the Ready condition Unknown and taints, as the node lifecycle controller of Kubernetes does it. */
#include "loop/writes.h"
#include "cluster/kubelet_internal.h"

#include <stdlib.h>
#include <string.h>

#define UNREACHABLE "node.kubernetes.io/unreachable"
#define NOT_READY "node.kubernetes.io/not-ready" /* a real API server puts it on every new node */

/* ---- reading ---- */

int64_t kubelet_seconds(const struct val *object, const char *annotation, int64_t fallback)
{
	const char *text = val_str(val_path(object, "metadata", "annotations", annotation, NULL), "");
	char *end = NULL;
	if (strcmp(text, "never") == 0)
		return KUBELET_NEVER;
	long seconds = strtol(text, &end, 10);
	return end == text || *end || seconds < 0 || seconds > INT32_MAX ? fallback : seconds;
}

bool kubelet_read_time(const struct val *text, int64_t *seconds)
{
	return clock_parse_rfc3339(val_str(text, ""), seconds) == 0;
}

const struct val *kubelet_condition(const struct val *object, const char *type)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0)
			return item;
	return NULL;
}

bool kubelet_node_down(const struct val *node, int64_t *since)
{
	const struct val *ready = kubelet_condition(node, "Ready");
	return ready && strcmp(val_str(val_get(ready, "reason"), ""), KUBELET_DOWN) == 0 &&
	       kubelet_read_time(val_get(ready, "lastTransitionTime"), since);
}

void kubelet_again(struct reconcile *turn, int64_t due)
{
	if (due == KUBELET_NEVER)
		return;
	int64_t pause = due * CLOCK_SECOND - turn->now_ns;
	/* What was due and could not be done is tried again, without haste. */
	if (pause <= 0)
		pause = CLOCK_SECOND;
	if (turn->again_ns == 0 || pause < turn->again_ns)
		turn->again_ns = pause;
}

/* ---- what the annotations say ---- */

bool kubelet_silent(const struct val *node, struct reconcile *turn)
{
	int64_t now = turn->now_ns / CLOCK_SECOND;
	int64_t flap = kubelet_seconds(node, KUBELET_NODE_FLAP, 0);
	if (strcmp(val_str(val_path(node, "metadata", "annotations", KUBELET_NODE_STATE, NULL), ""), "down") == 0)
		return true;
	if (flap <= 0 || flap == KUBELET_NEVER)
		return false;
	kubelet_again(turn, (now / flap + 1) * flap);
	return now / flap % 2 == 1;
}

/* ---- writing ---- */

static void write_ready(struct reconcile *turn, const struct store_object *node, bool down, bool beats)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	struct condition condition = {"Ready", "True", "SimulatedNode", "the simulated node is ready"};
	if (down)
		condition = (struct condition){"Ready", "Unknown", KUBELET_DOWN,
		                               beats ? "Kubelet stopped posting node status."
		                                     : "an annotation says that the node is down"};
	build_put(build, status, "conditions",
	          writes_conditions(build, node->root, &condition, 1, turn->now_ns / CLOCK_SECOND));
	if (writes_patch_status(turn->store, node, build, status))
		writes_event(turn->store, node, down, down ? "NodeNotReady" : "NodeReady", condition.message,
		             turn->now_ns / CLOCK_SECOND);
	else
		kubelet_again(turn, 0);
	build_destroy(build);
}

static bool is_unreachable(const struct val *taint)
{
	return strcmp(val_str(val_get(taint, "key"), ""), UNREACHABLE) == 0;
}

static bool is_no_execute(const struct val *taint)
{
	return strcmp(val_str(val_get(taint, "effect"), ""), "NoExecute") == 0;
}

static bool is_not_ready(const struct val *taint)
{
	return strcmp(val_str(val_get(taint, "key"), ""), NOT_READY) == 0;
}

const struct val *kubelet_unreachable(const struct val *node)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(node, "spec", "taints", NULL)); val_next(&it, NULL, &item);)
		if (is_unreachable(item) && is_no_execute(item))
			return item;
	return NULL;
}

static struct node *taint(struct build *build, const char *effect, const char *time)
{
	struct node *map = build_map(build);
	build_put_string(build, map, "key", UNREACHABLE);
	build_put_string(build, map, "effect", effect);
	build_put_string(build, map, "timeAdded", time);
	return map;
}

/* Others' taints stay. Those that end pods get the time they were added, from which the pods count. */
static void write_taints(struct reconcile *turn, const struct store_object *node, bool down)
{
	struct build *build = build_create();
	struct node *body = build_map(build), *spec = build_map(build), *list = build_list(build);
	const struct val *item;
	char now[32];
	clock_print_rfc3339(turn->now_ns / CLOCK_SECOND, now);
	for (struct val_iter it = val_iter(val_path(node->root, "spec", "taints", NULL)); val_next(&it, NULL, &item);) {
		if (is_unreachable(item) || (!down && is_not_ready(item)))
			continue;
		struct node *copy = build_copy(build, item);
		if (is_no_execute(item) && !val_get(item, "timeAdded"))
			build_put_string(build, copy, "timeAdded", now);
		build_append(build, list, copy);
	}
	if (down) {
		build_append(build, list, taint(build, "NoSchedule", now));
		build_append(build, list, taint(build, "NoExecute", now));
	}
	build_put(build, spec, "taints", list);
	build_put(build, body, "spec", spec);
	if (writes_patch(turn->store, node, STORE_MAIN, build, body) < 0)
		kubelet_again(turn, 0);
	build_destroy(build);
}

/* Whether the taints are not what they have to be. Ours are ours to take back only where we wrote the condition. */
static bool taints_differ(const struct val *node, bool down, bool was_down)
{
	const struct val *item;
	bool tainted = false, fresh = false, timeless = false;
	for (struct val_iter it = val_iter(val_path(node, "spec", "taints", NULL)); val_next(&it, NULL, &item);) {
		tainted |= is_unreachable(item);
		fresh |= is_not_ready(item);
		timeless |= is_no_execute(item) && !is_unreachable(item) && !val_get(item, "timeAdded");
	}
	const struct val *ready = kubelet_condition(node, "Ready");
	fresh = fresh && ready && strcmp(val_str(val_get(ready, "status"), ""), "True") == 0;
	return (down ? !tainted : (tainted && was_down) || fresh) || timeless;
}

/* Whether nothing is heard of a node that is down any more, for longer than can be overlooked. */
static bool is_lost(struct reconcile *turn, const struct kubelet_beat *beat, const struct store_object *node)
{
	int64_t heard = 0, now = turn->now_ns / CLOCK_SECOND;
	if (beat->interval == 0 || !kubelet_heard(turn, node->name, &heard))
		return true;
	int64_t due = heard + beat->interval * KUBELET_GRACE_BEATS;
	if (now < due)
		kubelet_again(turn, due);
	return now >= due;
}

int kubelet_turn_node(const struct kubelet_beat *beat, struct reconcile *turn)
{
	const struct store_type *type = store_type_find(turn->store, "", "nodes");
	struct store_object *node = store_object_retain(store_peek(turn->store, type, "", turn->key.name));
	if (!node)
		return 0;
	int64_t since;
	bool silent = kubelet_silent(node->root, turn), was_down = kubelet_node_down(node->root, &since);
	bool down = silent && (was_down || is_lost(turn, beat, node));
	if (!silent && beat->interval > 0)
		kubelet_renew(turn, beat, node);
	/* A condition that somebody else wrote is theirs; a new node without one is ready. */
	if (down != was_down || (!down && !kubelet_condition(node->root, "Ready")))
		write_ready(turn, node, down, beat->interval > 0);
	if (taints_differ(node->root, down, was_down))
		write_taints(turn, node, down);
	store_object_release(node);
	return 0;
}
