/* Kinds of Kubernetes itself. Most have no columns here: those take more than a path to compute. */
#include "kinds/internal.h"

static const struct kind_column revision_columns[] = {
	COLUMN("Revision", "integer", ".revision"),
	AGE,
	{0},
};

static const struct kind_column native_columns[] = {
	CONDITION("Scheduled", "PodGroupInitiallyScheduled"),
	COLUMN("Min", "integer", ".spec.schedulingPolicy.gang.minCount"),
	WIDE("Parent", "string", ".spec.parentCompositePodGroupName"),
	AGE,
	{0},
};

static const struct kind_column composite_columns[] = {
	CONDITION("Scheduled", "CompositePodGroupInitiallyScheduled"),
	COLUMN("Min", "integer", ".spec.schedulingPolicy.gang.minGroupCount"),
	WIDE("Parent", "string", ".spec.parentCompositePodGroupName"),
	AGE,
	{0},
};

static const char *const pod_fields[] = {
	"spec.nodeName",
	"spec.restartPolicy",
	"spec.schedulerName",
	"spec.serviceAccountName",
	"spec.hostNetwork",
	"status.phase",
	"status.podIP",
	"status.nominatedNodeName",
	NULL,
};

static const char *const node_fields[] = {"spec.unschedulable", NULL};

static const char *const event_fields[] = {
	"involvedObject.kind",
	"involvedObject.namespace",
	"involvedObject.name",
	"involvedObject.uid",
	"involvedObject.apiVersion",
	"involvedObject.resourceVersion",
	"involvedObject.fieldPath",
	"reason",
	"reportingComponent",
	"source",
	"type",
	NULL,
};

static const char *const event_face_fields[] = {
	"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
	"reason",         "reportingController", "type",           NULL,
};

static const char *const secret_fields[] = {"type", NULL};

static const char *const phase_fields[] = {"status.phase", NULL};

static const char *const replica_fields[] = {"status.replicas", NULL};

static const char *const job_fields[] = {"status.successful", NULL};

/* clang-format off */
const struct kind_row kinds_core[] = {
	{KINDS_CORE, {"v1"}, "configmaps", "configmap", "ConfigMap",
		ROW_NAMED, .id = KIND_CONFIG_MAP, .short_names = {"cm"}, .mirror = MIRROR_IF_SERVED, .mirror_labels = RBG_GROUP_LABEL,
		.verbs = "get create patch"},
	{KINDS_CORE, {"v1"}, "endpoints", "endpoints", "Endpoints", 0, .short_names = {"ep"}},
	{KINDS_CORE, {"v1"}, "events", "event", "Event",
		0, .short_names = {"ev"}, .verbs = "create patch", .convert = convert_event, .fields = event_fields},
	{KINDS_CORE, {"v1"}, "limitranges", "limitrange", "LimitRange", 0, .short_names = {"limits"}},
	{KINDS_CORE, {"v1"}, "namespaces", "namespace", "Namespace",
		CLUSTER | STATUS | ROW_LABEL_NAME, .short_names = {"ns"}, .mirror = MIRROR_ALWAYS,
		.status = "{\"phase\":\"Active\"}", .fields = phase_fields},
	{KINDS_CORE, {"v1"}, "nodes", "node", "Node",
		CLUSTER | STATUS | ROW_KEEPS_STATUS | ROW_DECIDES, .id = KIND_NODE, .short_names = {"no"}, .mirror = MIRROR_ALWAYS,
		.simulator = SIMULATE_KUBELETS, .fields = node_fields},
	{KINDS_CORE, {"v1"}, "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim",
		STATUS | ROW_DECIDES, .id = KIND_CLAIM, .short_names = {"pvc"}, .mirror = MIRROR_ALWAYS, .verbs = "get patch",
		.simulator = SIMULATE_VOLUMES, .status = "{\"phase\":\"Pending\"}"},
	{KINDS_CORE, {"v1"}, "persistentvolumes", "persistentvolume", "PersistentVolume",
		CLUSTER | STATUS | ROW_DECIDES, .id = KIND_VOLUME, .short_names = {"pv"}, .mirror = MIRROR_ALWAYS, .verbs = "get patch",
		.simulator = SIMULATE_VOLUMES, .status = "{\"phase\":\"Pending\"}"},
	{KINDS_CORE, {"v1"}, "pods", "pod", "Pod",
		STATUS | ROW_GRACEFUL | ROW_ALL | ROW_INDEXED | ROW_DECIDES | ROW_CHILD, .id = KIND_POD, .short_names = {"po"},
		.family = FAMILY_POD, .mirror = MIRROR_ALWAYS, .verbs = "get create patch delete",
		.rights = {{"status", "patch"}, {"binding", "create"}, {"eviction", "create"}}, .simulator = SIMULATE_POD,
		.status = "{\"phase\":\"Pending\"}", .fields = pod_fields},
	{KINDS_CORE, {"v1"}, "podtemplates", "podtemplate", "PodTemplate", 0},
	{KINDS_CORE, {"v1"}, "replicationcontrollers", "replicationcontroller", "ReplicationController",
		SCALED | ROW_OWNER, .short_names = {"rc"}, .mirror = MIRROR_IF_SERVED, .selector = ".spec.selector",
		.fields = replica_fields},
	{KINDS_CORE, {"v1"}, "resourcequotas", "resourcequota", "ResourceQuota", STATUS, .short_names = {"quota"}},
	{KINDS_CORE, {"v1"}, "secrets", "secret", "Secret", 0, .fields = secret_fields},
	{KINDS_CORE, {"v1"}, "serviceaccounts", "serviceaccount", "ServiceAccount", 0, .short_names = {"sa"}},
	{KINDS_CORE, {"v1"}, "services", "service", "Service",
		STATUS | ROW_LABEL_NAME | ROW_ALL | ROW_DECIDES, .id = KIND_SERVICE, .short_names = {"svc"},
		.mirror = MIRROR_IF_SERVED, .verbs = "get create patch delete"},
	{KINDS_ADMISSION, {"v1"}, "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "MutatingWebhookConfiguration",
		CLUSTER},
	{KINDS_ADMISSION, {"v1"}, "validatingwebhookconfigurations", "validatingwebhookconfiguration", "ValidatingWebhookConfiguration",
		CLUSTER},
	{KINDS_DEFINITIONS, {"v1"}, "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition",
		CLUSTER | STATUS, .short_names = {"crd", "crds"}},
	{KINDS_APPS, {"v1"}, "controllerrevisions", "controllerrevision", "ControllerRevision",
		0, .columns = revision_columns, .mirror = MIRROR_IF_SERVED, .mirror_labels = RBG_GROUP_LABEL,
		.verbs = "get create patch delete"},
	{KINDS_APPS, {"v1"}, "daemonsets", "daemonset", "DaemonSet",
		STATUS | ROW_ALL | ROW_OWNER, .short_names = {"ds"}, .mirror = MIRROR_IF_SERVED,
		.simulator = SIMULATE_DAEMON_SET},
	{KINDS_APPS, {"v1"}, "deployments", "deployment", "Deployment",
		SCALED | ROW_OWNER, .short_names = {"deploy"}, .family = FAMILY_DEPLOYMENT, .mirror = MIRROR_ALWAYS,
		.simulator = SIMULATE_DEPLOYMENT, .selector = ".spec.selector"},
	{KINDS_APPS, {"v1"}, "replicasets", "replicaset", "ReplicaSet",
		SCALED | ROW_OWNER | ROW_CHILD, .short_names = {"rs"}, .family = FAMILY_REPLICAS,
		.mirror = MIRROR_ALWAYS, .simulator = SIMULATE_REPLICA_SET, .selector = ".spec.selector",
		.fields = replica_fields},
	{KINDS_APPS, {"v1"}, "statefulsets", "statefulset", "StatefulSet",
		SCALED | ROW_OWNER, .short_names = {"sts"}, .family = FAMILY_REPLICAS, .mirror = MIRROR_ALWAYS,
		.simulator = SIMULATE_STATEFUL_SET, .selector = ".spec.selector"},
	{KINDS_AUTOSCALING, {"v2", "v1"}, "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler",
		STATUS | ROW_ALL, .short_names = {"hpa"}, .convert = convert_hpa},
	{KINDS_BATCH, {"v1"}, "cronjobs", "cronjob", "CronJob",
		STATUS | ROW_ALL | ROW_OWNER, .short_names = {"cj"}, .family = FAMILY_CRON_JOB,
		.mirror = MIRROR_ALWAYS, .simulator = SIMULATE_CRON_JOB},
	{KINDS_BATCH, {"v1"}, "jobs", "job", "Job",
		STATUS | ROW_ALL | ROW_OWNER | ROW_CHILD, .family = FAMILY_JOB, .mirror = MIRROR_ALWAYS,
		.simulator = SIMULATE_JOB, .fields = job_fields},
	{KINDS_COORDINATION, {"v1"}, "leases", "lease", "Lease", 0},
	{KINDS_DISCOVERY, {"v1"}, "endpointslices", "endpointslice", "EndpointSlice", 0},
	{KINDS_EVENTS, {"v1"}, "events", "event", "Event",
		0, .short_names = {"ev"}, .convert = convert_event, .face_of = "events", .fields = event_face_fields},
	{KINDS_NETWORKING, {"v1"}, "ingresses", "ingress", "Ingress", STATUS, .short_names = {"ing"}},
	{KINDS_NETWORKING, {"v1"}, "networkpolicies", "networkpolicy", "NetworkPolicy", 0, .short_names = {"netpol"}},
	{KINDS_NODE, {"v1"}, "runtimeclasses", "runtimeclass", "RuntimeClass", CLUSTER},
	{KINDS_POLICY, {"v1"}, "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget",
		STATUS | ROW_DECIDES, .id = KIND_BUDGET, .short_names = {"pdb"}, .mirror = MIRROR_IF_SERVED},
	{KINDS_RBAC, {"v1"}, "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", CLUSTER | ROW_PATH_NAME},
	{KINDS_RBAC, {"v1"}, "clusterroles", "clusterrole", "ClusterRole", CLUSTER | ROW_PATH_NAME},
	{KINDS_RBAC, {"v1"}, "rolebindings", "rolebinding", "RoleBinding", ROW_PATH_NAME},
	{KINDS_RBAC, {"v1"}, "roles", "role", "Role", ROW_PATH_NAME},
	{KINDS_RESOURCE, {"v1"}, "deviceclasses", "deviceclass", "DeviceClass",
		CLUSTER | ROW_DECIDES, .id = KIND_DEVICE_CLASS, .mirror = MIRROR_IF_SERVED},
	{KINDS_RESOURCE, {"v1", "v1beta2"}, "devicetaintrules", "devicetaintrule", "DeviceTaintRule",
		CLUSTER | STATUS | ROW_DECIDES, .id = KIND_DEVICE_TAINT_RULE, .mirror = MIRROR_IF_SERVED},
	{KINDS_RESOURCE, {"v1"}, "resourceclaims", "resourceclaim", "ResourceClaim",
		STATUS | ROW_DECIDES, .id = KIND_DEVICE_CLAIM, .mirror = MIRROR_IF_SERVED, .verbs = "get patch",
		.rights = {{"status", "patch"}, {"binding", "patch"}}, .simulator = SIMULATE_DEVICES},
	{KINDS_RESOURCE, {"v1"}, "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", 0,
		.id = KIND_DEVICE_CLAIM_TEMPLATE},
	{KINDS_RESOURCE, {"v1"}, "resourceslices", "resourceslice", "ResourceSlice",
		CLUSTER | ROW_DECIDES, .id = KIND_DEVICE_SLICE, .mirror = MIRROR_IF_SERVED},
	{KINDS_SCHEDULING_K8S, {"v1alpha3"}, "compositepodgroups", "compositepodgroup", "CompositePodGroup",
		STATUS | ROW_OWNER, .id = KIND_NATIVE_COMPOSITE, .columns = composite_columns, .mirror = MIRROR_IF_SERVED,
		.rights = {{"status", "patch"}}},
	{KINDS_SCHEDULING_K8S, {"v1beta1", "v1alpha3", "v1alpha2"}, "podgroups", "podgroup", "PodGroup",
		STATUS | ROW_OWNER, .id = KIND_NATIVE_GROUP, .columns = native_columns, .mirror = MIRROR_IF_SERVED,
		.rights = {{"status", "patch"}}, .elsewhere = 1},
	{KINDS_SCHEDULING_K8S, {"v1beta1", "v1alpha3"}, "workloads", "workload", "Workload", 0},
	{KINDS_SCHEDULING_K8S, {"v1"}, "priorityclasses", "priorityclass", "PriorityClass",
		CLUSTER | ROW_DECIDES, .id = KIND_PRIORITY_CLASS, .short_names = {"pc"}, .mirror = MIRROR_ALWAYS},
	{KINDS_STORAGE, {"v1"}, "csidrivers", "csidriver", "CSIDriver",
		CLUSTER | ROW_DECIDES, .id = KIND_CSI_DRIVER, .mirror = MIRROR_ALWAYS},
	{KINDS_STORAGE, {"v1"}, "csinodes", "csinode", "CSINode", CLUSTER | ROW_DECIDES, .id = KIND_CSI_NODE, .mirror = MIRROR_ALWAYS},
	{KINDS_STORAGE, {"v1"}, "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity",
		ROW_DECIDES, .id = KIND_STORAGE_CAPACITY, .mirror = MIRROR_ALWAYS},
	{KINDS_STORAGE, {"v1"}, "storageclasses", "storageclass", "StorageClass",
		CLUSTER | ROW_DECIDES, .id = KIND_STORAGE_CLASS, .short_names = {"sc"}, .mirror = MIRROR_ALWAYS},
	{KINDS_STORAGE, {"v1"}, "volumeattachments", "volumeattachment", "VolumeAttachment",
		CLUSTER | STATUS | ROW_DECIDES, .id = KIND_ATTACHMENT, .mirror = MIRROR_ALWAYS},
};
/* clang-format on */

const size_t kinds_core_count = sizeof(kinds_core) / sizeof(*kinds_core);
