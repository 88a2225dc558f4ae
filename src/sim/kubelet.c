/* Owns the life of pods on simulated nodes. */
#include "sim/kubelet.h"

#include "control/writes.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static bool read_time(const struct val *text, int64_t *seconds)
{
	return clock_parse_rfc3339(val_str(text, ""), seconds) == 0;
}

/* When the condition got its status; false unless it is True. */
static bool true_since(const struct val *pod, const char *type, int64_t *seconds)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "status", "conditions", NULL)); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), type) == 0 &&
		    strcmp(val_str(val_get(item, "status"), ""), "True") == 0)
			return read_time(val_get(item, "lastTransitionTime"), seconds);
	return false;
}

static struct node *container_state(struct build *build, const char *start, const char *end)
{
	struct node *state = build_map(build), *inner = build_map(build);
	build_put_string(build, inner, "startedAt", start);
	if (end) {
		build_put_string(build, inner, "finishedAt", end);
		build_put_string(build, inner, "reason", "Completed");
		build_put_int(build, inner, "exitCode", 0);
	}
	build_put(build, state, end ? "terminated" : "running", inner);
	return state;
}

static struct node *container_statuses(struct build *build, const struct val *pod, bool ready, const char *start,
                                       const char *end)
{
	struct node *list = build_list(build);
	const struct val *container;
	for (struct val_iter it = val_iter(val_path(pod, "spec", "containers", NULL));
	     val_next(&it, NULL, &container);) {
		const char *image = val_str(val_get(container, "image"), "");
		struct node *status = build_map(build);
		build_put_string(build, status, "name", val_str(val_get(container, "name"), ""));
		build_put_string(build, status, "image", image);
		build_put_string(build, status, "imageID", image);
		build_put_int(build, status, "restartCount", 0);
		build_put_bool(build, status, "ready", ready);
		build_put_bool(build, status, "started", !end);
		build_put(build, status, "state", container_state(build, start, end));
		build_append(build, list, status);
	}
	return list;
}

static void move(struct kubelet *kubelet, const struct store_object *pod, const char *phase, bool ready, int64_t now)
{
	struct build *build = build_create();
	struct node *status = build_map(build);
	char text[32];
	clock_print_rfc3339(now, text);
	const char *start = val_str(val_path(pod->root, "status", "startTime", NULL), text);
	bool ended = strcmp(phase, "Succeeded") == 0;
	const char *yes = ready ? "True" : "False", *why = ended ? "PodCompleted" : ready ? "" : "ContainersNotReady";
	struct condition conditions[] = {
		{"Initialized", "True", "", ""},
		{"ContainersReady", yes, why, ""},
		{"Ready", yes, why, ""},
	};
	build_put_string(build, status, "phase", phase);
	build_put_string(build, status, "startTime", start);
	build_put(build, status, "conditions", writes_conditions(build, pod->root, conditions, 3, now));
	build_put(build, status, "containerStatuses",
	          container_statuses(build, pod->root, ready, start, ended ? text : NULL));
	writes_patch_status(kubelet->store, pod, build, status);
	build_destroy(build);
}

static void end_pod(struct kubelet *kubelet, const struct store_object *pod)
{
	struct arena *arena = arena_create();
	struct store_result result = {.arena = arena};
	struct store_request request = {
		.verb = STORE_DELETE,
		.api = pod->type->apis,
		.namespace_ = pod->namespace_,
		.name = pod->name,
		.options = {.has_grace = true, .grace = 0, .uid = pod->uid},
		.actor = "kubelet",
	};
	/* Refused only when it is gone already. */
	store_write(kubelet->store, &request, &result);
	store_result_clear(&result);
	arena_destroy(arena);
}

/* When a deleted pod ends: deletionTimestamp is the time of the delete plus the grace. */
static bool end_due(const struct kubelet *kubelet, const struct val *pod, int64_t *due)
{
	const struct val *metadata = val_get(pod, "metadata");
	int64_t grace = 0;
	if (!read_time(val_get(metadata, "deletionTimestamp"), due))
		return false;
	val_int(val_get(metadata, "deletionGracePeriodSeconds"), &grace);
	if (grace > kubelet->stop_seconds)
		*due += kubelet->stop_seconds - grace;
	return true;
}

static bool complete_due(const struct val *pod, int64_t *due)
{
	const char *text = val_str(val_path(pod, "metadata", "annotations", KUBELET_RUN_SECONDS, NULL), NULL);
	char *end = NULL;
	if (!text || !read_time(val_path(pod, "status", "startTime", NULL), due))
		return false;
	long seconds = strtol(text, &end, 10);
	if (end == text || *end || seconds < 0 || seconds > INT32_MAX)
		return false;
	*due += seconds;
	return true;
}

/* The next thing that happens to a running pod. */
static bool running_due(const struct kubelet *kubelet, const struct val *pod, int64_t *due, bool *completes)
{
	int64_t since, end = INT64_MAX, ready = INT64_MAX;
	bool has_end = complete_due(pod, &end), is_ready = true_since(pod, "Ready", &since);
	if (!is_ready && read_time(val_path(pod, "status", "startTime", NULL), &ready))
		ready += kubelet->ready_seconds;
	*completes = has_end && end <= ready;
	*due = *completes ? end : ready;
	return *due != INT64_MAX;
}

/* Does what is due with one pod; otherwise when something will be, INT64_MAX for never. */
static int64_t turn_pod(struct kubelet *kubelet, const struct store_object *pod, int64_t now)
{
	const struct val *root = pod->root;
	const char *node = val_str(val_path(root, "spec", "nodeName", NULL), "");
	const char *phase = val_str(val_path(root, "status", "phase", NULL), "Pending");
	int64_t due;
	if (end_due(kubelet, root, &due)) {
		/* Finalizers keep a pod whose grace is over; the store removes it with the last of them. */
		int64_t grace = 1;
		val_int(val_path(root, "metadata", "deletionGracePeriodSeconds", NULL), &grace);
		if (grace == 0)
			return INT64_MAX;
		if (now < due)
			return due;
		end_pod(kubelet, pod);
		return INT64_MAX;
	}
	if (!*node || !store_peek(kubelet->store, store_type_find(kubelet->store, "", "nodes"), "", node))
		return INT64_MAX;
	if (strcmp(phase, "Pending") == 0) {
		if (!true_since(root, "PodScheduled", &due) &&
		    !read_time(val_path(root, "metadata", "creationTimestamp", NULL), &due))
			due = now;
		due += kubelet->start_seconds;
		if (now >= due)
			move(kubelet, pod, "Running", false, now);
		return due;
	}
	bool completes;
	if (strcmp(phase, "Running") != 0 || !running_due(kubelet, root, &due, &completes))
		return INT64_MAX;
	if (now >= due)
		move(kubelet, pod, completes ? "Succeeded" : "Running", !completes, now);
	return due;
}

static void turn_pods(struct kubelet *kubelet, int64_t now)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(kubelet->store, "", "v1", "pods")};
	kubelet->due = INT64_MAX;
	if (store_list(kubelet->store, &request, &list, arena, &error) == 0) {
		for (size_t i = 0; i < list.count; i++) {
			int64_t due = turn_pod(kubelet, list.items[i], now);
			if (due < kubelet->due)
				kubelet->due = due;
		}
		store_list_clear(&list);
	}
	arena_destroy(arena);
}

int kubelet_step(struct kubelet *kubelet)
{
	int64_t now_ns = clock_now(kubelet->clock ? kubelet->clock : clock_system()), now = now_ns / SECOND;
	uint64_t version = store_version(kubelet->store);
	if (!kubelet->started || version != kubelet->seen || now >= kubelet->due) {
		kubelet->started = true;
		kubelet->seen = version;
		turn_pods(kubelet, now);
		/* Pods that were moved have a next step of their own. */
		if (store_version(kubelet->store) != version)
			return 0;
	}
	if (kubelet->due == INT64_MAX)
		return -1;
	int64_t wait = kubelet->due * SECOND - now_ns;
	/* What was due and could not be done is tried again, without haste. */
	return wait <= 0 ? 1000 : wait > 60 * SECOND ? 60000 : (int)(wait / 1000000) + 1;
}
