/* Owns the life of pods on simulated nodes. */
#include "loop/writes.h"
#include "cluster/kubelet_internal.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST 10 /* seconds before the second restart, doubled with each */
#define BACKOFF_LONGEST 300

struct life {
	const struct kubelet_options *options;
	struct reconcile *turn;
	struct store_object *pod;
	const struct kubelet_rules *rules;
	const struct store_object *place; /* its node, NULL when that does not exist */
	const struct val *root, *node;    /* of both */
	int64_t now;
	int64_t started, restarts; /* of the containers */
};

/* How a pod looks from now on. */
struct look {
	const char *phase;
	bool ready, ended, waiting; /* waiting: to be started again */
	int64_t exit_code, restarts;
	int64_t started;
	bool changes; /* containers whose image was changed are started again */
};

/* ---- what was and what is said ---- */

static const struct val *first_container(const struct val *pod)
{
	return val_item(val_path(pod, "status", "containerStatuses", NULL), 0);
}

static const struct val *status_of(const struct val *pod, const char *container)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), container) == 0)
			return item;
	return NULL;
}

/* Whether the container runs with another image than it is to have. */
static bool has_other_image(const struct val *pod, const struct val *container)
{
	const struct val *status = status_of(pod, val_str(val_get(container, "name"), ""));
	return status && strcmp(val_str(val_get(container, "image"), ""), val_str(val_get(status, "image"), "")) != 0;
}

static void read_containers(struct life *life)
{
	const struct val *status = first_container(life->root);
	life->restarts = 0;
	val_int(val_get(status, "restartCount"), &life->restarts);
	if (!kubelet_read_time(val_path(status, "state", "running", "startedAt", NULL), &life->started) &&
	    !kubelet_read_time(val_path(life->root, "status", "startTime", NULL), &life->started))
		life->started = life->now;
}

/* The pod's word, else that of a rule, else its node's, else the fallback. */
static int64_t said(const struct life *life, const char *annotation, int64_t fallback)
{
	int64_t own = kubelet_seconds(life->root, annotation, KUBELET_UNSAID);
	if (own != KUBELET_UNSAID)
		return own;
	return kubelet_rules_say(life->rules, life->pod, life->place, annotation,
	                         kubelet_seconds(life->node, annotation, fallback));
}

static int64_t after(int64_t time, int64_t seconds)
{
	return seconds == KUBELET_NEVER ? KUBELET_NEVER : time + seconds;
}

static bool is_true(const struct life *life, const char *type)
{
	const struct val *condition = kubelet_condition(life->root, type);
	return condition && strcmp(val_str(val_get(condition, "status"), ""), "True") == 0;
}

static bool is_ready(const struct life *life)
{
	return is_true(life, "Ready");
}

/* Whether all conditions that others have to set are there. */
static bool passes_gates(const struct life *life)
{
	const struct val *gate;
	for (struct val_iter it = val_iter(val_path(life->root, "spec", "readinessGates", NULL));
	     val_next(&it, NULL, &gate);)
		if (!is_true(life, val_str(val_get(gate, "conditionType"), "")))
			return false;
	return true;
}

/* ---- writing ---- */

static struct node *ended_state(struct build *build, int64_t code, const char *start, const char *end)
{
	struct node *state = build_map(build), *inner = build_map(build);
	build_put_string(build, inner, "startedAt", start);
	build_put_string(build, inner, "finishedAt", end);
	build_put_string(build, inner, "reason", code == 0 ? "Completed" : "Error");
	build_put_int(build, inner, "exitCode", code);
	build_put(build, state, "terminated", inner);
	return state;
}

static struct node *going_state(struct build *build, const struct look *look, const char *start)
{
	struct node *state = build_map(build), *inner = build_map(build);
	if (look->waiting) {
		build_put_string(build, inner, "reason", "CrashLoopBackOff");
		build_put_string(build, inner, "message", "the container failed and waits to be started again");
	} else {
		build_put_string(build, inner, "startedAt", start);
	}
	build_put(build, state, look->waiting ? "waiting" : "running", inner);
	return state;
}

static struct node *container_statuses(const struct life *life, struct build *build, const struct look *look)
{
	struct node *list = build_list(build);
	char start[32], before[32], now[32];
	clock_print_rfc3339(look->started, start);
	clock_print_rfc3339(life->started, before);
	clock_print_rfc3339(life->now, now);
	const struct val *container, *last = val_get(first_container(life->root), "lastState");
	for (struct val_iter it = val_iter(val_path(life->root, "spec", "containers", NULL));
	     val_next(&it, NULL, &container);) {
		const char *image = val_str(val_get(container, "image"), "");
		struct node *status = build_map(build);
		int64_t restarts = 0;
		val_int(val_get(status_of(life->root, val_str(val_get(container, "name"), "")), "restartCount"),
		        &restarts);
		restarts += look->changes ? has_other_image(life->root, container) : look->restarts - life->restarts;
		build_put_string(build, status, "name", val_str(val_get(container, "name"), ""));
		build_put_string(build, status, "image", image);
		build_put_string(build, status, "imageID", image);
		build_put_int(build, status, "restartCount", restarts);
		build_put_bool(build, status, "ready", look->ready);
		build_put_bool(build, status, "started", !look->ended && !look->waiting);
		build_put(build, status, "state",
		          look->ended ? ended_state(build, look->exit_code, start, now)
		                      : going_state(build, look, start));
		/* What failed and is started again. */
		if (look->exit_code != 0 && !look->ended)
			build_put(build, status, "lastState", ended_state(build, look->exit_code, before, now));
		else if (val_kind(last) == VAL_MAP)
			build_put(build, status, "lastState", build_copy(build, last));
		build_append(build, list, status);
	}
	return list;
}

static void show(struct life *life, const struct look *look)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	char now[32];
	clock_print_rfc3339(life->now, now);
	const char *yes = look->ready ? "True" : "False";
	const char *why = look->ready                             ? ""
	                  : !look->ended                          ? "ContainersNotReady"
	                  : strcmp(look->phase, "Succeeded") == 0 ? "PodCompleted"
	                                                          : "PodFailed";
	bool is_held = look->ready && !passes_gates(life);
	struct condition conditions[] = {
		{"Initialized", "True", "", ""},
		{"ContainersReady", yes, why, ""},
		{"Ready", is_held ? "False" : yes, is_held ? "ReadinessGatesNotReady" : why, ""},
	};
	build_put_string(build, status, "phase", look->phase);
	build_put_string(build, status, "startTime", val_str(val_path(life->root, "status", "startTime", NULL), now));
	build_put(build, status, "conditions", writes_conditions(build, life->root, conditions, 3, life->now));
	build_put(build, status, "containerStatuses", container_statuses(life, build, look));
	if (!writes_patch_status(life->options->store, life->pod, build, status))
		kubelet_again(life->turn, life->now);
	build_destroy(build);
}

/* With a grace of so many seconds; -1: its own. */
static void remove_pod(struct life *life, int64_t grace)
{
	struct store_request request = writes_delete(life->pod, "kubelet");
	struct store_error error;
	request.options.has_grace = grace >= 0;
	request.options.grace = grace;
	if (writes_send(life->options->store, &request, life->turn->arena, &error) < 0 &&
	    strcmp(error.reason, "NotFound") != 0)
		kubelet_again(life->turn, life->now);
}

/* ---- pods of nodes that are gone or down ---- */

/* Finalizers keep a pod whose grace is over; the store removes it with the last of them. */
static bool is_let_go(const struct life *life)
{
	int64_t grace = 1;
	val_int(val_path(life->root, "metadata", "deletionGracePeriodSeconds", NULL), &grace);
	return metadata_is_leaving(life->root) && grace == 0;
}

static bool has_ended(const struct life *life)
{
	const char *phase = val_str(val_path(life->root, "status", "phase", NULL), "");
	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static void lose(struct life *life, const char *why)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	struct condition conditions[] = {
		{"Ready", "False", "NodeLost", why},
		{"DisruptionTarget", "True", "DeletionByTaintManager", why},
	};
	build_put_string(build, status, "phase", "Failed");
	build_put_string(build, status, "reason", "NodeLost");
	build_put_string(build, status, "message", why);
	build_put(build, status, "conditions", writes_conditions(build, life->root, conditions, 2, life->now));
	if (!has_ended(life))
		writes_patch_status(life->options->store, life->pod, build, status);
	build_destroy(build);
	remove_pod(life, 0);
}

static bool tolerates(const struct val *toleration, const struct val *taint)
{
	const char *key = val_str(val_get(toleration, "key"), ""), *effect = val_str(val_get(toleration, "effect"), "");
	if (*effect && strcmp(effect, val_str(val_get(taint, "effect"), "")) != 0)
		return false;
	if (*key && strcmp(key, val_str(val_get(taint, "key"), "")) != 0)
		return false;
	return strcmp(val_str(val_get(toleration, "operator"), "Equal"), "Exists") == 0 ||
	       (*key && strcmp(val_str(val_get(toleration, "value"), ""), val_str(val_get(taint, "value"), "")) == 0);
}

/* How long the pod stays on a node with this taint: the shortest time that one of its tolerations names. */
static int64_t patience(const struct life *life, const struct val *taint, int64_t fallback)
{
	int64_t shortest = KUBELET_NEVER, seconds;
	const struct val *item;
	bool tolerated = false;
	for (struct val_iter it = val_iter(val_path(life->root, "spec", "tolerations", NULL));
	     val_next(&it, NULL, &item);) {
		if (!tolerates(item, taint))
			continue;
		tolerated = true;
		if (val_int(val_get(item, "tolerationSeconds"), &seconds) < 0)
			continue;
		seconds = seconds < 0 ? 0 : seconds > INT32_MAX ? INT32_MAX : seconds;
		shortest = seconds < shortest ? seconds : shortest;
	}
	return tolerated ? shortest : fallback;
}

/* When the pod has to leave because of a taint of its node: one that came later has its time too; otherwise its owner
 * would make it again without a pause. */
static int64_t leaves_at(const struct life *life, const struct val *taint, int64_t since, int64_t fallback)
{
	int64_t made = since;
	kubelet_read_time(val_path(life->root, "metadata", "creationTimestamp", NULL), &made);
	return after(made > since ? made : since, patience(life, taint, fallback));
}

static void mark_unready(struct life *life)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	struct condition condition = {"Ready", "False", "NodeNotReady", "nothing is heard of its node"};
	build_put(build, status, "conditions", writes_conditions(build, life->root, &condition, 1, life->now));
	writes_patch_status(life->options->store, life->pod, build, status);
	build_destroy(build);
}

static void turn_unreachable(struct life *life, int64_t since)
{
	int64_t due = leaves_at(life, kubelet_unreachable(life->node), since, life->options->lost_seconds);
	if (is_let_go(life) || (has_ended(life) && !metadata_is_leaving(life->root)))
		return;
	if (life->now >= due) {
		lose(life, "its node has been down for too long");
		return;
	}
	if (is_ready(life))
		mark_unready(life);
	kubelet_again(life->turn, due);
}

/* ---- pods of nodes that are up ---- */

/* When a deleted pod ends: deletionTimestamp is the time of the delete plus the grace. */
static bool turn_leaving(struct life *life)
{
	const struct val *metadata = val_get(life->root, "metadata");
	int64_t grace = 0, due, stop = said(life, KUBELET_STOP_SECONDS, life->options->stop_seconds);
	if (!kubelet_read_time(val_get(metadata, "deletionTimestamp"), &due))
		return false;
	val_int(val_get(metadata, "deletionGracePeriodSeconds"), &grace);
	if (is_let_go(life) || stop == KUBELET_NEVER)
		return true;
	if (grace > stop)
		due += stop - grace;
	if (life->now >= due)
		remove_pod(life, 0);
	else
		kubelet_again(life->turn, due);
	return true;
}

/* A taint with the effect NoExecute ends the pods that do not tolerate it, like any delete. */
static void evict(struct life *life, const struct val *taint)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	const char *key = val_str(val_get(taint, "key"), "");
	struct condition condition = {"DisruptionTarget", "True", "DeletionByTaintManager",
	                              arena_printf(life->turn->arena,
	                                           "Taint manager: deleting due to NoExecute taint %s", key)};
	build_put(build, status, "conditions", writes_conditions(build, life->root, &condition, 1, life->now));
	writes_patch_status(life->options->store, life->pod, build, status);
	writes_event(life->options->store, life->pod, false, "TaintManagerEviction",
	             arena_printf(life->turn->arena, "Marking for deletion Pod %s/%s", life->pod->namespace_,
	                          life->pod->name),
	             life->now);
	build_destroy(build);
	remove_pod(life, -1);
}

static bool turn_tainted(struct life *life)
{
	const struct val *taint;
	for (struct val_iter it = val_iter(val_path(life->node, "spec", "taints", NULL));
	     val_next(&it, NULL, &taint);) {
		int64_t since;
		if (strcmp(val_str(val_get(taint, "effect"), ""), "NoExecute") != 0 ||
		    !kubelet_read_time(val_get(taint, "timeAdded"), &since))
			continue;
		int64_t due = leaves_at(life, taint, since, 0);
		if (life->now >= due) {
			evict(life, taint);
			return true;
		}
		kubelet_again(life->turn, due);
	}
	return false;
}

static void turn_waiting(struct life *life)
{
	const struct val *bound = kubelet_condition(life->root, "PodScheduled");
	int64_t since;
	if (!bound || strcmp(val_str(val_get(bound, "status"), ""), "True") != 0 ||
	    !kubelet_read_time(val_get(bound, "lastTransitionTime"), &since))
		if (!kubelet_read_time(val_path(life->root, "metadata", "creationTimestamp", NULL), &since))
			since = life->now;
	int64_t due = after(since, said(life, KUBELET_START_SECONDS, life->options->start_seconds));
	if (life->now >= due)
		show(life, &(struct look){.phase = "Running", .started = life->now});
	else
		kubelet_again(life->turn, due);
}

/* The containers have come to their end. */
static void end_containers(struct life *life)
{
	int64_t code = said(life, KUBELET_EXIT_CODE, 0);
	if (code == KUBELET_NEVER || life->restarts >= said(life, KUBELET_FAIL_TIMES, KUBELET_NEVER))
		code = 0;
	bool never = strcmp(val_str(val_path(life->root, "spec", "restartPolicy", NULL), "Always"), "Never") == 0;
	struct look look = {
		.phase = code == 0 ? "Succeeded"
	                 : never   ? "Failed"
	                           : "Running",
		.ended = code == 0 || never,
		.exit_code = code,
		.restarts = life->restarts,
		.started = life->started,
	};
	if (!look.ended) {
		look.restarts++;
		/* The first restart follows at once, later ones after a growing pause. */
		look.waiting = look.restarts > 1;
		look.started = life->now;
	}
	show(life, &look);
}

static bool turn_backoff(struct life *life)
{
	const struct val *status = first_container(life->root);
	int64_t since, pause = BACKOFF_FIRST;
	if (val_kind(val_path(status, "state", "waiting", NULL)) != VAL_MAP ||
	    !kubelet_read_time(val_path(status, "lastState", "terminated", "finishedAt", NULL), &since))
		return false;
	for (int64_t i = 2; i < life->restarts && pause < BACKOFF_LONGEST; i++)
		pause *= 2;
	if (pause > BACKOFF_LONGEST)
		pause = BACKOFF_LONGEST;
	if (life->now >= since + pause)
		show(life, &(struct look){.phase = "Running", .restarts = life->restarts, .started = life->now});
	else
		kubelet_again(life->turn, since + pause);
	return true;
}

/* The image of a container may be changed while the pod runs. */
static bool turn_changed(struct life *life)
{
	const struct val *container;
	bool changes = false;
	for (struct val_iter it = val_iter(val_path(life->root, "spec", "containers", NULL));
	     val_next(&it, NULL, &container);)
		changes |= has_other_image(life->root, container);
	if (changes)
		show(life, &(struct look){.phase = "Running",
		                          .restarts = life->restarts,
		                          .started = life->now,
		                          .changes = true});
	return changes;
}

static void turn_running(struct life *life)
{
	if (turn_changed(life) || turn_backoff(life))
		return;
	int64_t run = said(life, KUBELET_RUN_SECONDS, KUBELET_NEVER), end = after(life->started, run);
	int64_t ready = KUBELET_NEVER;
	bool is_open = passes_gates(life);
	if (is_ready(life) ? !is_open : is_open || !is_true(life, "ContainersReady"))
		ready = after(life->started, said(life, KUBELET_READY_SECONDS, life->options->ready_seconds));
	if (end <= ready && life->now >= end) {
		end_containers(life);
	} else if (ready <= end && life->now >= ready) {
		show(life, &(struct look){.phase = "Running",
		                          .ready = true,
		                          .restarts = life->restarts,
		                          .started = life->started});
	} else {
		kubelet_again(life->turn, end < ready ? end : ready);
	}
}

static void turn_bound(struct life *life)
{
	const char *phase = val_str(val_path(life->root, "status", "phase", NULL), "Pending");
	int64_t since;
	if (!life->node) {
		if (!is_let_go(life))
			lose(life, "its node does not exist any more");
		return;
	}
	if (kubelet_node_down(life->node, &since)) {
		turn_unreachable(life, since);
		return;
	}
	if (kubelet_silent(life->node, life->turn))
		return;
	if (turn_leaving(life) || (!has_ended(life) && turn_tainted(life)))
		return;
	if (strcmp(phase, "Pending") == 0)
		turn_waiting(life);
	else if (strcmp(phase, "Running") == 0)
		turn_running(life);
}

int kubelet_turn_pod(const struct kubelet_options *options, const struct kubelet_rules *rules, struct reconcile *turn)
{
	struct store_object *pod =
		store_peek(turn->store, store_type_find(turn->store, "", "pods"), turn->key.namespace_, turn->key.name);
	if (!pod)
		return 0;
	struct life life = {
		.options = options,
		.rules = rules,
		.turn = turn,
		.pod = store_object_retain(pod),
		.root = pod->root,
		.now = turn->now_ns / CLOCK_SECOND,
	};
	const char *name = val_str(val_path(pod->root, "spec", "nodeName", NULL), "");
	struct store_object *node =
		store_object_retain(store_peek(turn->store, store_type_find(turn->store, "", "nodes"), "", name));
	life.place = node;
	life.node = node ? node->root : NULL;
	read_containers(&life);
	if (*name)
		turn_bound(&life);
	else
		turn_leaving(&life);
	store_object_release(node);
	store_object_release(pod);
	return 0;
}
