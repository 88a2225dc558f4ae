/* Cells of pods and nodes: what state they are in takes more than a path. */
#include "serve/api/table.h"

#include "base/strings.h"

#include <stdio.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static const struct val *condition(const struct val *object, const char *type)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);) {
		if (same(val_str(val_get(item, "type"), ""), type))
			return item;
	}
	return NULL;
}

static bool condition_is(const struct val *object, const char *type, const char *status)
{
	return same(val_str(val_get(condition(object, type), "status"), ""), status);
}

/* Init containers that go on running (sidecars) count like the others. */
static bool is_sidecar(const struct val *pod, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(pod, "spec", "initContainers", NULL));
	     val_next(&it, NULL, &item);) {
		if (same(val_str(val_get(item, "name"), ""), name))
			return same(val_str(val_get(item, "restartPolicy"), ""), "Always");
	}
	return false;
}

static size_t count_sidecars(const struct val *pod)
{
	const struct val *item;
	size_t count = 0;
	for (struct val_iter it = val_iter(val_path(pod, "spec", "initContainers", NULL)); val_next(&it, NULL, &item);)
		count += same(val_str(val_get(item, "restartPolicy"), ""), "Always");
	return count;
}

void table_pod_ready(struct table_cell *cell)
{
	const struct val *pod = cell->object, *item;
	size_t all = val_count(val_path(pod, "spec", "containers", NULL)) + count_sidecars(pod), ready = 0;
	for (struct val_iter it = val_iter(val_path(pod, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);)
		ready += val_bool(val_get(item, "ready"), false);
	for (struct val_iter it = val_iter(val_path(pod, "status", "initContainerStatuses", NULL));
	     val_next(&it, NULL, &item);)
		ready += is_sidecar(pod, val_str(val_get(item, "name"), "")) && val_bool(val_get(item, "ready"), false);
	table_put_printf(cell, "%zu/%zu", ready, all);
}

/* What the first init container that is not done says; false when all are. */
static bool init_reason(const struct val *pod, char reason[256])
{
	const struct val *item;
	size_t index = 0, all = val_count(val_path(pod, "spec", "initContainers", NULL));
	for (struct val_iter it = val_iter(val_path(pod, "status", "initContainerStatuses", NULL));
	     val_next(&it, NULL, &item); index++) {
		const struct val *state = val_get(item, "state");
		const struct val *ended = val_get(state, "terminated");
		const char *waiting = val_str(val_path(state, "waiting", "reason", NULL), "");
		int64_t code = table_int(val_get(ended, "exitCode"), 0);
		bool sidecar = is_sidecar(pod, val_str(val_get(item, "name"), ""));
		if ((ended && code == 0) || (sidecar && val_bool(val_get(item, "started"), false)))
			continue;
		if (ended && *val_str(val_get(ended, "reason"), ""))
			snprintf(reason, 256, "Init:%s", val_str(val_get(ended, "reason"), ""));
		else if (ended)
			snprintf(reason, 256, "Init:ExitCode:%lld", (long long)code);
		else if (*waiting && !same(waiting, "PodInitializing"))
			snprintf(reason, 256, "Init:%s", waiting);
		else
			snprintf(reason, 256, "Init:%zu/%zu", index, all);
		return true;
	}
	return false;
}

/* The containers' own words; the first container wins. */
static void container_reason(const struct val *pod, char reason[256])
{
	const struct val *item;
	bool running = false, decided = false;
	for (struct val_iter it = val_iter(val_path(pod, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);) {
		const struct val *state = val_get(item, "state");
		const struct val *ended = val_get(state, "terminated");
		const char *waiting = val_str(val_path(state, "waiting", "reason", NULL), "");
		const char *why = val_str(val_get(ended, "reason"), "");
		running = running || (val_get(state, "running") && val_bool(val_get(item, "ready"), false));
		if (decided || (!*waiting && !ended))
			continue;
		decided = true;
		if (*waiting)
			snprintf(reason, 256, "%s", waiting);
		else if (*why)
			snprintf(reason, 256, "%s", why);
		else if (table_int(val_get(ended, "signal"), 0))
			snprintf(reason, 256, "Signal:%lld", (long long)table_int(val_get(ended, "signal"), 0));
		else
			snprintf(reason, 256, "ExitCode:%lld", (long long)table_int(val_get(ended, "exitCode"), 0));
	}
	/* One container finished while another still serves: the pod is up. */
	if (same(reason, "Completed") && running)
		snprintf(reason, 256, "%s", condition_is(pod, "Ready", "True") ? "Running" : "NotReady");
}

void table_pod_status(struct table_cell *cell)
{
	const struct val *pod = cell->object, *status = val_get(pod, "status");
	char reason[256];
	snprintf(reason, sizeof(reason), "%s", val_str(val_get(status, "phase"), "Unknown"));
	if (*val_str(val_get(status, "reason"), ""))
		snprintf(reason, sizeof(reason), "%s", val_str(val_get(status, "reason"), ""));
	if (same(val_str(val_get(condition(pod, "PodScheduled"), "reason"), ""), "SchedulingGated"))
		snprintf(reason, sizeof(reason), "SchedulingGated");
	if (!init_reason(pod, reason) || condition_is(pod, "Initialized", "True"))
		container_reason(pod, reason);
	if (val_path(pod, "metadata", "deletionTimestamp", NULL)) {
		const char *phase = val_str(val_get(status, "phase"), "");
		if (same(val_str(val_get(status, "reason"), ""), "NodeLost"))
			snprintf(reason, sizeof(reason), "Unknown");
		else if (!same(phase, "Succeeded") && !same(phase, "Failed"))
			snprintf(reason, sizeof(reason), "Terminating");
	}
	table_put_text(cell, reason);
}

void table_pod_restarts(struct table_cell *cell)
{
	const struct val *item;
	int64_t restarts = 0;
	for (struct val_iter it = val_iter(val_path(cell->object, "status", "containerStatuses", NULL));
	     val_next(&it, NULL, &item);)
		restarts += table_int(val_get(item, "restartCount"), 0);
	table_put_printf(cell, "%lld", (long long)restarts);
}

void table_pod_gates(struct table_cell *cell)
{
	const struct val *gates = val_path(cell->object, "spec", "readinessGates", NULL), *item;
	size_t all = val_count(gates), met = 0;
	if (all == 0) {
		table_put_text(cell, "<none>");
		return;
	}
	for (struct val_iter it = val_iter(gates); val_next(&it, NULL, &item);)
		met += condition_is(cell->object, val_str(val_get(item, "conditionType"), ""), "True");
	table_put_printf(cell, "%zu/%zu", met, all);
}

void table_node_status(struct table_cell *cell)
{
	const struct val *ready = condition(cell->object, "Ready");
	const char *text = !ready                                                ? "Unknown"
	                   : same(val_str(val_get(ready, "status"), ""), "True") ? "Ready"
	                                                                         : "NotReady";
	bool cordoned = val_bool(val_path(cell->object, "spec", "unschedulable", NULL), false);
	table_put_printf(cell, "%s%s", text, cordoned ? ",SchedulingDisabled" : "");
}

void table_node_roles(struct table_cell *cell)
{
	static const char prefix[] = "node-role.kubernetes.io/";
	struct buffer text = {0};
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(cell->object, "metadata", "labels", NULL));
	     val_next(&it, &key, &item);) {
		const char *role = "";
		if (text_starts_with(key, prefix))
			role = key + sizeof(prefix) - 1;
		else if (same(key, "kubernetes.io/role"))
			role = val_str(item, "");
		if (*role)
			buffer_printf(&text, "%s%s", text.length ? "," : "", role);
	}
	table_put_text(cell, text.length ? text.text : "<none>");
	buffer_free(&text);
}

void table_node_address(struct table_cell *cell)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(cell->object, "status", "addresses", NULL));
	     val_next(&it, NULL, &item);) {
		if (same(val_str(val_get(item, "type"), ""), cell->path)) {
			table_put_text(cell, val_str(val_get(item, "address"), ""));
			return;
		}
	}
	table_put_text(cell, "<none>");
}
