/* Cells of the other built-in kinds, and the columns of all of them. A column that is a path stands in the registry of kinds, for
 * every printer; these are computed as kubectl has them from the API server, by functions that only this room has. The names
 * here refer to rows of the registry, and a row has its columns there or here. */
#include "serve/api/table.h"

#include "base/clock.h"
#include "kinds/names.h"
#include "object/jsonpath.h"

#include <string.h>

static void ready_of(struct table_cell *cell)
{
	const struct val *object = cell->object;
	table_put_printf(cell, "%lld/%lld", (long long)table_int(val_path(object, "status", "readyReplicas", NULL), 0),
	                 (long long)table_int(val_path(object, "spec", "replicas", NULL), 1));
}

static void service_address(struct table_cell *cell)
{
	const struct val *item, *service = cell->object;
	struct buffer text = {0};
	const char *type = val_str(val_path(service, "spec", "type", NULL), "ClusterIP");
	for (struct val_iter it = val_iter(val_path(service, "status", "loadBalancer", "ingress", NULL));
	     val_next(&it, NULL, &item);)
		buffer_printf(&text, "%s%s", text.length ? "," : "",
		              val_str(val_get(item, "ip"), val_str(val_get(item, "hostname"), "")));
	for (struct val_iter it = val_iter(val_path(service, "spec", "externalIPs", NULL)); val_next(&it, NULL, &item);)
		buffer_printf(&text, "%s%s", text.length ? "," : "", val_str(item, ""));
	if (strcmp(type, "ExternalName") == 0)
		buffer_puts(&text, val_str(val_path(service, "spec", "externalName", NULL), ""));
	table_put_text(cell, text.length ? text.text : strcmp(type, "LoadBalancer") == 0 ? "<pending>" : "<none>");
	buffer_free(&text);
}

static void service_ports(struct table_cell *cell)
{
	const struct val *item;
	struct buffer text = {0};
	for (struct val_iter it = val_iter(val_path(cell->object, "spec", "ports", NULL));
	     val_next(&it, NULL, &item);) {
		int64_t node = table_int(val_get(item, "nodePort"), 0);
		buffer_printf(&text, "%s%lld", text.length ? "," : "", (long long)table_int(val_get(item, "port"), 0));
		if (node)
			buffer_printf(&text, ":%lld", (long long)node);
		buffer_printf(&text, "/%s", val_str(val_get(item, "protocol"), "TCP"));
	}
	table_put_text(cell, text.length ? text.text : "<none>");
	buffer_free(&text);
}

static void job_status(struct table_cell *cell)
{
	static const struct {
		const char *condition, *text;
	} order[] = {{"Complete", "Complete"},
	             {"Failed", "Failed"},
	             {"Suspended", "Suspended"},
	             {"FailureTarget", "FailureTarget"},
	             {"SuccessCriteriaMet", "SuccessCriteriaMet"}};
	const struct val *item, *conditions = val_path(cell->object, "status", "conditions", NULL);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		for (struct val_iter it = val_iter(conditions); val_next(&it, NULL, &item);) {
			if (strcmp(val_str(val_get(item, "type"), ""), order[i].condition) == 0 &&
			    strcmp(val_str(val_get(item, "status"), ""), "True") == 0) {
				table_put_text(cell, order[i].text);
				return;
			}
		}
	}
	table_put_text(cell, val_path(cell->object, "metadata", "deletionTimestamp", NULL) ? "Terminating" : "Running");
}

static void job_completions(struct table_cell *cell)
{
	const struct val *spec = val_get(cell->object, "spec");
	long long done = (long long)table_int(val_path(cell->object, "status", "succeeded", NULL), 0);
	long long parallel = (long long)table_int(val_get(spec, "parallelism"), 1);
	int64_t wanted;
	if (val_int(val_get(spec, "completions"), &wanted) == 0)
		table_put_printf(cell, "%lld/%lld", done, (long long)wanted);
	else if (parallel > 1)
		table_put_printf(cell, "%lld/1 of %lld", done, parallel);
	else
		table_put_printf(cell, "%lld/1", done);
}

static void job_duration(struct table_cell *cell)
{
	int64_t from, until = cell->now;
	struct buffer text = {0};
	if (clock_parse_rfc3339(val_str(val_path(cell->object, "status", "startTime", NULL), ""), &from)) {
		table_put_text(cell, "");
		return;
	}
	clock_parse_rfc3339(val_str(val_path(cell->object, "status", "completionTime", NULL), ""), &until);
	table_put_span(&text, until - from);
	table_put_text(cell, text.text);
	buffer_free(&text);
}

/* What an autoscaler aims at; nobody measures, so what there is now is unknown. */
static void scale_targets(struct table_cell *cell)
{
	const struct val *spec = val_get(cell->object, "spec"), *item;
	struct buffer text = {0};
	int64_t share;
	if (val_int(val_get(spec, "targetCPUUtilizationPercentage"), &share) == 0)
		buffer_printf(&text, "cpu: <unknown>/%lld%%", (long long)share);
	for (struct val_iter it = val_iter(val_get(spec, "metrics")); val_next(&it, NULL, &item);) {
		const struct val *resource = val_get(item, "resource"), *target = val_get(resource, "target");
		char scratch[64];
		const char *value = val_scalar_text(val_get(target, "averageValue"), scratch);
		buffer_puts(&text, text.length ? ", " : "");
		if (val_int(val_get(target, "averageUtilization"), &share) == 0)
			buffer_printf(&text, "%s: <unknown>/%lld%%", val_str(val_get(resource, "name"), ""),
			              (long long)share);
		else
			buffer_printf(&text, "%s: <unknown>/%s", val_str(val_get(resource, "name"), "metric"),
			              value ? value : "<auto>");
	}
	table_put_text(cell, text.length ? text.text : "<none>");
	buffer_free(&text);
}

static void event_seen(struct table_cell *cell)
{
	static const char *const fields[] = {"lastTimestamp", "eventTime", "firstTimestamp"};
	const char *last = val_str(val_path(cell->object, "series", "lastObservedTime", NULL), "");
	for (size_t i = 0; !*last && i < sizeof(fields) / sizeof(fields[0]); i++)
		last = val_str(val_get(cell->object, fields[i]), "");
	int64_t then;
	struct buffer text = {0};
	if (clock_parse_rfc3339(last, &then) == 0)
		table_put_span(&text, cell->now - then);
	table_put_text(cell, text.length ? text.text : "<unknown>");
	buffer_free(&text);
}

static void event_object(struct table_cell *cell)
{
	const struct val *object = val_get(cell->object, "involvedObject");
	if (!object)
		object = val_get(cell->object, "regarding");
	struct buffer text = {0};
	buffer_printf(&text, "%s/%s", val_str(val_get(object, "kind"), ""), val_str(val_get(object, "name"), ""));
	for (size_t i = 0; i < text.length && text.text[i] != '/'; i++) {
		if (text.text[i] >= 'A' && text.text[i] <= 'Z')
			text.text[i] = (char)(text.text[i] + 32);
	}
	table_put_text(cell, text.text);
	buffer_free(&text);
}

static void event_source(struct table_cell *cell)
{
	const struct val *source = val_get(cell->object, "source");
	const char *component =
		val_str(val_get(source, "component"), val_str(val_get(cell->object, "reportingComponent"), ""));
	const char *host = val_str(val_get(source, "host"), "");
	table_put_printf(cell, "%s%s%s", component, *host ? ", " : "", host);
}

static void event_count(struct table_cell *cell)
{
	int64_t count = table_int(val_path(cell->object, "series", "count", NULL), 0);
	table_put_number(cell, count ? count : table_int(val_get(cell->object, "count"), 1));
}

static void access_modes(struct table_cell *cell)
{
	static const char *const names[][2] = {{"ReadWriteOnce", "RWO"},
	                                       {"ReadOnlyMany", "ROX"},
	                                       {"ReadWriteMany", "RWX"},
	                                       {"ReadWriteOncePod", "RWOP"}};
	const struct val *item;
	struct buffer text = {0};
	for (struct val_iter it = val_iter(jsonpath_first(cell->object, cell->path)); val_next(&it, NULL, &item);) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (strcmp(val_str(item, ""), names[i][0]) == 0)
				buffer_printf(&text, "%s%s", text.length ? "," : "", names[i][1]);
		}
	}
	table_put_text(cell, text.length ? text.text : "");
	buffer_free(&text);
}

static void volume_claim(struct table_cell *cell)
{
	const struct val *claim = val_path(cell->object, "spec", "claimRef", NULL);
	if (claim)
		table_put_printf(cell, "%s/%s", val_str(val_get(claim, "namespace"), ""),
		                 val_str(val_get(claim, "name"), ""));
	else
		table_put_text(cell, "");
}

static void secret_count(struct table_cell *cell)
{
	table_put_number(cell, (int64_t)(val_count(val_get(cell->object, "data")) +
	                                 val_count(val_get(cell->object, "binaryData"))));
}

static void role_of(struct table_cell *cell)
{
	const struct val *role = val_get(cell->object, "roleRef");
	table_put_printf(cell, "%s/%s", val_str(val_get(role, "kind"), ""), val_str(val_get(role, "name"), ""));
}

static void scale_target(struct table_cell *cell)
{
	const struct val *target = val_path(cell->object, "spec", "scaleTargetRef", NULL);
	table_put_printf(cell, "%s/%s", val_str(val_get(target, "kind"), ""), val_str(val_get(target, "name"), ""));
}

static void limit_or_none(struct table_cell *cell)
{
	struct table_cell copy = *cell;
	if (jsonpath_first(cell->object, cell->path))
		table_string(&copy);
	else
		table_put_text(cell, "N/A");
}

#define TEMPLATE ".spec.template.spec.containers[*]"
#define NAME                                                                                                           \
	{                                                                                                              \
		"Name", "string", "name", 0, table_name, NULL                                                          \
	}
#define AGE                                                                                                            \
	{                                                                                                              \
		"Age", "string", "", 0, table_age, NULL                                                                \
	}
#define TEXT(title, where)                                                                                             \
	{                                                                                                              \
		title, "string", "", 0, table_string, where                                                            \
	}
#define VALUE(title, where)                                                                                            \
	{                                                                                                              \
		title, "string", "", 0, table_value, where                                                             \
	}
#define INTEGER(title, where)                                                                                          \
	{                                                                                                              \
		title, "integer", "", 0, table_integer, where                                                          \
	}
#define WIDE(title, put, where)                                                                                        \
	{                                                                                                              \
		title, "string", "", 1, put, where                                                                     \
	}
#define CELL(title, put)                                                                                               \
	{                                                                                                              \
		title, "string", "", 0, put, NULL                                                                      \
	}
#define END                                                                                                            \
	{                                                                                                              \
		NULL, NULL, NULL, 0, NULL, NULL                                                                        \
	}
#define WORKLOAD                                                                                                       \
	WIDE("Containers", table_joined, TEMPLATE ".name"), WIDE("Images", table_joined, TEMPLATE ".image"),           \
		WIDE("Selector", table_selector, ".spec.selector")

/* clang-format off */
static const struct table_column pods[] = {NAME, CELL("Ready", table_pod_ready), CELL("Status", table_pod_status),
	CELL("Restarts", table_pod_restarts), AGE, WIDE("IP", table_value, ".status.podIP"),
	WIDE("Node", table_value, ".spec.nodeName"), WIDE("Nominated Node", table_value, ".status.nominatedNodeName"),
	WIDE("Readiness Gates", table_pod_gates, NULL), END};
static const struct table_column nodes[] = {NAME, CELL("Status", table_node_status), CELL("Roles", table_node_roles), AGE,
	TEXT("Version", ".status.nodeInfo.kubeletVersion"), WIDE("Internal-IP", table_node_address, "InternalIP"),
	WIDE("External-IP", table_node_address, "ExternalIP"), WIDE("OS-Image", table_value, ".status.nodeInfo.osImage"),
	WIDE("Kernel-Version", table_value, ".status.nodeInfo.kernelVersion"),
	WIDE("Container-Runtime", table_value, ".status.nodeInfo.containerRuntimeVersion"), END};
static const struct table_column namespaces[] = {NAME, TEXT("Status", ".status.phase"), AGE, END};
static const struct table_column services[] = {NAME, VALUE("Type", ".spec.type"), VALUE("Cluster-IP", ".spec.clusterIP"),
	CELL("External-IP", service_address), CELL("Port(s)", service_ports), AGE, WIDE("Selector", table_labels, ".spec.selector"),
	END};
static const struct table_column deployments[] = {NAME, CELL("Ready", ready_of),
	INTEGER("Up-to-date", ".status.updatedReplicas"), INTEGER("Available", ".status.availableReplicas"), AGE, WORKLOAD, END};
static const struct table_column replica_sets[] = {NAME, INTEGER("Desired", ".spec.replicas"),
	INTEGER("Current", ".status.replicas"), INTEGER("Ready", ".status.readyReplicas"), AGE, WORKLOAD, END};
static const struct table_column controllers[] = {NAME, INTEGER("Desired", ".spec.replicas"),
	INTEGER("Current", ".status.replicas"), INTEGER("Ready", ".status.readyReplicas"), AGE,
	WIDE("Containers", table_joined, TEMPLATE ".name"), WIDE("Images", table_joined, TEMPLATE ".image"),
	WIDE("Selector", table_labels, ".spec.selector"), END};
static const struct table_column stateful_sets[] = {NAME, CELL("Ready", ready_of), AGE,
	WIDE("Containers", table_joined, TEMPLATE ".name"), WIDE("Images", table_joined, TEMPLATE ".image"), END};
static const struct table_column daemon_sets[] = {NAME, INTEGER("Desired", ".status.desiredNumberScheduled"),
	INTEGER("Current", ".status.currentNumberScheduled"), INTEGER("Ready", ".status.numberReady"),
	INTEGER("Up-to-date", ".status.updatedNumberScheduled"), INTEGER("Available", ".status.numberAvailable"),
	{"Node Selector", "string", "", 0, table_labels, ".spec.template.spec.nodeSelector"}, AGE, WORKLOAD, END};
static const struct table_column jobs[] = {NAME, CELL("Status", job_status), CELL("Completions", job_completions),
	CELL("Duration", job_duration), AGE, WORKLOAD, END};
static const struct table_column cron_jobs[] = {NAME, TEXT("Schedule", ".spec.schedule"), VALUE("Timezone", ".spec.timeZone"),
	{"Suspend", "string", "", 0, table_boolean, ".spec.suspend"}, {"Active", "integer", "", 0, table_count, ".status.active"},
	{"Last Schedule", "string", "", 0, table_since, ".status.lastScheduleTime"}, AGE, END};
static const struct table_column config_maps[] = {NAME, CELL("Data", secret_count), AGE, END};
static const struct table_column secrets[] = {NAME, TEXT("Type", ".type"), CELL("Data", secret_count), AGE, END};
static const struct table_column service_accounts[] = {NAME, {"Secrets", "integer", "", 0, table_count, ".secrets"}, AGE, END};
static const struct table_column events[] = {CELL("Last Seen", event_seen), TEXT("Type", ".type"), TEXT("Reason", ".reason"),
	CELL("Object", event_object), WIDE("Subobject", table_string, ".involvedObject.fieldPath"),
	WIDE("Source", event_source, NULL), TEXT("Message", ".message"), WIDE("First Seen", table_since, ".firstTimestamp"),
	WIDE("Count", event_count, NULL), WIDE("Name", table_name, NULL), END};
static const struct table_column volumes[] = {NAME, TEXT("Capacity", ".spec.capacity.storage"),
	{"Access Modes", "string", "", 0, access_modes, ".spec.accessModes"},
	TEXT("Reclaim Policy", ".spec.persistentVolumeReclaimPolicy"), TEXT("Status", ".status.phase"), CELL("Claim", volume_claim),
	TEXT("StorageClass", ".spec.storageClassName"), TEXT("Reason", ".status.reason"), AGE,
	WIDE("VolumeMode", table_string, ".spec.volumeMode"), END};
static const struct table_column claims[] = {NAME, TEXT("Status", ".status.phase"), TEXT("Volume", ".spec.volumeName"),
	TEXT("Capacity", ".status.capacity.storage"), {"Access Modes", "string", "", 0, access_modes, ".status.accessModes"},
	TEXT("StorageClass", ".spec.storageClassName"), AGE, WIDE("VolumeMode", table_string, ".spec.volumeMode"), END};
static const struct table_column priorities[] = {NAME, INTEGER("Value", ".value"),
	{"Global-Default", "boolean", "", 0, table_boolean, ".globalDefault"}, AGE, VALUE("PreemptionPolicy", ".preemptionPolicy"),
	END};
static const struct table_column storage_classes[] = {NAME, TEXT("Provisioner", ".provisioner"),
	TEXT("ReclaimPolicy", ".reclaimPolicy"), TEXT("VolumeBindingMode", ".volumeBindingMode"),
	{"AllowVolumeExpansion", "string", "", 0, table_boolean, ".allowVolumeExpansion"}, AGE, END};
static const struct table_column csi_drivers[] = {NAME, {"AttachRequired", "boolean", "", 0, table_boolean, ".spec.attachRequired"},
	{"PodInfoOnMount", "boolean", "", 0, table_boolean, ".spec.podInfoOnMount"},
	{"StorageCapacity", "boolean", "", 0, table_boolean, ".spec.storageCapacity"}, AGE, END};
static const struct table_column csi_nodes[] = {NAME, {"Drivers", "integer", "", 0, table_count, ".spec.drivers"}, AGE, END};
static const struct table_column storage_capacities[] = {NAME, TEXT("StorageClassName", ".storageClassName"),
	TEXT("Capacity", ".capacity"), END};
static const struct table_column attachments[] = {NAME, TEXT("Attacher", ".spec.attacher"),
	TEXT("PV", ".spec.source.persistentVolumeName"), TEXT("Node", ".spec.nodeName"),
	{"Attached", "boolean", "", 0, table_boolean, ".status.attached"}, AGE, END};
static const struct table_column leases[] = {NAME, TEXT("Holder", ".spec.holderIdentity"), AGE, END};
static const struct table_column budgets[] = {NAME, {"Min Available", "string", "", 0, limit_or_none, ".spec.minAvailable"},
	{"Max Unavailable", "string", "", 0, limit_or_none, ".spec.maxUnavailable"},
	INTEGER("Allowed Disruptions", ".status.disruptionsAllowed"), AGE, END};
static const struct table_column autoscalers[] = {NAME, CELL("Reference", scale_target), CELL("Targets", scale_targets), INTEGER("MinPods", ".spec.minReplicas"),
	INTEGER("MaxPods", ".spec.maxReplicas"), INTEGER("Replicas", ".status.currentReplicas"), AGE, END};
static const struct table_column created[] = {NAME, TEXT("Created At", ".metadata.creationTimestamp"), END};
static const struct table_column bindings[] = {NAME, CELL("Role", role_of), AGE, END};
static const struct table_column quotas[] = {NAME, AGE, END};
static const struct table_column webhooks[] = {NAME, {"Webhooks", "integer", "", 0, table_count, ".webhooks"}, AGE, END};
static const struct table_column scale[] = {NAME, INTEGER("Desired", ".spec.replicas"), INTEGER("Available", ".status.replicas"),
	AGE, END};

static const struct {
	const char *group, *resource;
	const struct table_column *columns;
} kinds[] = {
	{"", "pods", pods}, {"", "nodes", nodes}, {"", "namespaces", namespaces}, {"", "services", services},
	{"", "configmaps", config_maps}, {"", "secrets", secrets}, {"", "serviceaccounts", service_accounts},
	{"", "events", events}, {KINDS_EVENTS, "events", events}, {"", "persistentvolumes", volumes},
	{"", "persistentvolumeclaims", claims}, {"", "replicationcontrollers", controllers}, {"", "resourcequotas", quotas},
	{KINDS_APPS, "deployments", deployments}, {KINDS_APPS, "replicasets", replica_sets}, {KINDS_APPS, "statefulsets", stateful_sets},
	{KINDS_APPS, "daemonsets", daemon_sets}, {KINDS_BATCH, "jobs", jobs}, {KINDS_BATCH, "cronjobs", cron_jobs},
	{KINDS_SCHEDULING_K8S, "priorityclasses", priorities}, {KINDS_STORAGE, "storageclasses", storage_classes},
	{KINDS_STORAGE, "csidrivers", csi_drivers}, {KINDS_STORAGE, "csinodes", csi_nodes},
	{KINDS_STORAGE, "csistoragecapacities", storage_capacities},
	{KINDS_STORAGE, "volumeattachments", attachments},
	{KINDS_COORDINATION, "leases", leases}, {KINDS_POLICY, "poddisruptionbudgets", budgets},
	{KINDS_AUTOSCALING, "horizontalpodautoscalers", autoscalers}, {KINDS_AUTOSCALING, "scale", scale},
	{KINDS_DEFINITIONS, "customresourcedefinitions", created}, {KINDS_RBAC, "roles", created},
	{KINDS_RBAC, "clusterroles", created}, {KINDS_RBAC, "rolebindings", bindings},
	{KINDS_RBAC, "clusterrolebindings", bindings},
	{KINDS_ADMISSION, "validatingwebhookconfigurations", webhooks},
	{KINDS_ADMISSION, "mutatingwebhookconfigurations", webhooks},
};
/* clang-format on */

const struct table_column *table_columns(const char *group, const char *resource)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].resource, resource) == 0)
			return kinds[i].columns;
	}
	return NULL;
}
