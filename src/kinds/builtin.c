/* Every built-in type, one row each. Columns of core kinds are not here: those take more than a path to compute. */
#include "kinds/builtin.h"

#define AGE                                                                                                            \
	{                                                                                                              \
		.name = "Age", .type = "date", .format = "", .description = "", .path = ".metadata.creationTimestamp"  \
	}
#define COLUMN(title, kind, where)                                                                                     \
	{                                                                                                              \
		.name = (title), .type = (kind), .format = "", .description = "", .path = (where)                      \
	}
#define WIDE(title, kind, where)                                                                                       \
	{                                                                                                              \
		.name = (title), .type = (kind), .format = "", .description = "", .path = (where), .priority = 1       \
	}

static const struct kind_column pod_group_columns[] = {
	COLUMN("Queue", "string", ".spec.queue"),
	COLUMN("Min", "integer", ".spec.minMember"),
	COLUMN("Phase", "string", ".status.phase"),
	WIDE("Priority", "string", ".spec.priorityClassName"),
	WIDE("Reason", "string", ".status.conditions[?(@.type==\"Scheduled\")].reason"),
	AGE,
	{0},
};

static const struct kind_column queue_columns[] = {
	COLUMN("Parent", "string", ".spec.parentQueue"),
	COLUMN("Priority", "integer", ".spec.priority"),
	AGE,
	{0},
};

static const struct kind_column topology_columns[] = {
	COLUMN("Outermost", "string", ".spec.levels[0].nodeLabel"), /* a column shows one value, not a list */
	COLUMN("Innermost", "string", ".spec.levels[-1:].nodeLabel"),
	AGE,
	{0},
};

/* How far a condition is: one row in three tables. */
#define CONDITION(title, type) COLUMN(title, "string", ".status.conditions[?(@.type==\"" type "\")].status")

static const struct kind_column group_columns[] = {
	CONDITION("Ready", "Ready"),
	COLUMN("Pods", "string", ".status.readyPods"),
	COLUMN("Segments", "string", ".status.segments"),
	COLUMN("Updated", "string", ".status.updated"),
	WIDE("Reason", "string", ".status.conditions[?(@.type==\"Ready\")].reason"),
	WIDE("Message", "string", ".status.conditions[?(@.type==\"MinimumSegmentsAvailable\")].message"),
	AGE,
	{0},
};

static const struct kind_column revision_columns[] = {
	COLUMN("Revision", "integer", ".revision"),
	AGE,
	{0},
};

static const struct kind_column policy_columns[] = {
	COLUMN("Target", "string", ".status.target"),
	CONDITION("Bound", "Bound"),
	AGE,
	{0},
};

static const struct kind_column cluster_topology_columns[] = {
	COLUMN("Levels", "string", ".status.currentTopologyLevel"),
	CONDITION("Valid", "Valid"),
	AGE,
	{0},
};

static const struct kind_column karta_columns[] = {
	COLUMN("Kind", "string", ".spec.structureDefinition.rootComponent.kind.kind"),
	WIDE("Group", "string", ".spec.structureDefinition.rootComponent.kind.group"),
	WIDE("Version", "string", ".spec.structureDefinition.rootComponent.kind.version"),
	AGE,
	{0},
};

static const struct kind_column group_set_columns[] = {
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Replicas", "integer", ".status.replicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	COLUMN("Updated", "integer", ".status.updatedReplicas"),
	AGE,
	{0},
};

static const struct kind_column scaling_adapter_columns[] = {
	COLUMN("Phase", "string", ".status.phase"),
	COLUMN("Replicas", "integer", ".status.replicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	WIDE("Target", "string", ".spec.scaleTargetRef.name"),
	WIDE("Role", "string", ".spec.scaleTargetRef.role"),
	AGE,
	{0},
};

static const struct kind_column instance_set_columns[] = {
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Updated", "integer", ".status.updatedReplicas"),
	COLUMN("Updated_Ready", "integer", ".status.updatedReadyReplicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	COLUMN("Total", "integer", ".status.replicas"),
	AGE,
	WIDE("Selector", "string", ".status.labelSelector"),
	{0},
};

static const struct kind_column instance_columns[] = {
	CONDITION("Ready", "RoleInstanceReady"),
	AGE,
	{0},
};

/* ---- kinds of other projects ---- */

static const struct kind_column training_job_columns[] = {
	COLUMN("State", "string", ".status.conditions[-1:].type"),
	AGE,
	{0},
};

static const struct kind_column leader_worker_set_columns[] = {
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Up-to-date", "integer", ".status.updatedReplicas"),
	AGE,
	{0},
};

static const struct kind_column job_set_columns[] = {
	COLUMN("TerminalState", "string", ".status.terminalState"),
	COLUMN("Restarts", "integer", ".status.restarts"),
	CONDITION("Completed", "Completed"),
	COLUMN("Suspended", "boolean", ".spec.suspend"),
	AGE,
	{0},
};

static const struct kind_column ray_cluster_columns[] = {
	COLUMN("Desired Workers", "integer", ".status.desiredWorkerReplicas"),
	COLUMN("Available Workers", "integer", ".status.availableWorkerReplicas"),
	COLUMN("CPUs", "string", ".status.desiredCPU"),
	COLUMN("Memory", "string", ".status.desiredMemory"),
	COLUMN("GPUs", "string", ".status.desiredGPU"),
	COLUMN("Status", "string", ".status.state"),
	AGE,
	WIDE("Head Pod IP", "string", ".status.head.podIP"),
	WIDE("Head Service IP", "string", ".status.head.serviceIP"),
	{0},
};

static const struct kind_column ray_job_columns[] = {
	COLUMN("Job Status", "string", ".status.jobStatus"),
	COLUMN("Deployment Status", "string", ".status.jobDeploymentStatus"),
	COLUMN("Ray Cluster Name", "string", ".status.rayClusterName"),
	COLUMN("Start Time", "string", ".status.startTime"),
	COLUMN("End Time", "string", ".status.endTime"),
	AGE,
	{0},
};

static const struct kind_column ray_service_columns[] = {
	COLUMN("Service Status", "string", ".status.serviceStatus"),
	COLUMN("Num Serve Endpoints", "string", ".status.numServeEndpoints"),
	AGE,
	{0},
};

static const struct kind_column grove_columns[] = {
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Replicas", "integer", ".status.replicas"),
	COLUMN("Available", "integer", ".status.availableReplicas"),
	COLUMN("Updated", "integer", ".status.updatedReplicas"),
	AGE,
	{0},
};

static const struct kind_column clique_columns[] = {
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Replicas", "integer", ".status.replicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	COLUMN("Scheduled", "integer", ".status.scheduledReplicas"),
	AGE,
	{0},
};

static const struct kind_column pod_gang_columns[] = {
	COLUMN("Phase", "string", ".status.phase"),
	CONDITION("Scheduled", "Scheduled"),
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

#define SCALED (BUILTIN_STATUS | BUILTIN_SCALE | BUILTIN_ALL)
#define OURS (BUILTIN_CUSTOM | BUILTIN_STATUS)
#define OURS_SCALED (OURS | BUILTIN_SCALE)
#define CLUSTER BUILTIN_CLUSTER
#define STATUS BUILTIN_STATUS

/* clang-format off */
const struct builtin builtins[] = {
	{"", "v1", "configmaps", "configmap", "ConfigMap", 0, .short_names = {"cm"}},
	{"", "v1", "endpoints", "endpoints", "Endpoints", 0, .short_names = {"ep"}},
	{"", "v1", "events", "event", "Event", 0, .short_names = {"ev"}, .fields = event_fields},
	{"", "v1", "limitranges", "limitrange", "LimitRange", 0, .short_names = {"limits"}},
	{"", "v1", "namespaces", "namespace", "Namespace", CLUSTER | STATUS | BUILTIN_LABEL_NAME, .short_names = {"ns"},
		.status = "{\"phase\":\"Active\"}", .fields = phase_fields},
	{"", "v1", "nodes", "node", "Node", CLUSTER | STATUS | BUILTIN_KEEPS_STATUS, .short_names = {"no"}, .fields = node_fields},
	{"", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", STATUS, .short_names = {"pvc"},
		.status = "{\"phase\":\"Pending\"}"},
	{"", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", CLUSTER | STATUS, .short_names = {"pv"},
		.status = "{\"phase\":\"Pending\"}"},
	{"", "v1", "pods", "pod", "Pod", STATUS | BUILTIN_GRACEFUL | BUILTIN_ALL | BUILTIN_INDEXED, .short_names = {"po"},
		.status = "{\"phase\":\"Pending\"}", .fields = pod_fields},
	{"", "v1", "podtemplates", "podtemplate", "PodTemplate", 0, .short_names = {NULL}},
	{"", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", SCALED, .short_names = {"rc"},
		.selector = ".spec.selector", .fields = replica_fields},
	{"", "v1", "resourcequotas", "resourcequota", "ResourceQuota", STATUS, .short_names = {"quota"}},
	{"", "v1", "secrets", "secret", "Secret", 0, .short_names = {NULL}, .fields = secret_fields},
	{"", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", 0, .short_names = {"sa"}},
	{"", "v1", "services", "service", "Service", STATUS | BUILTIN_LABEL_NAME | BUILTIN_ALL, .short_names = {"svc"}},
	{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
		"MutatingWebhookConfiguration", CLUSTER, .short_names = {NULL}},
	{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration",
		"ValidatingWebhookConfiguration", CLUSTER, .short_names = {NULL}},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition",
		CLUSTER | STATUS, .short_names = {"crd", "crds"}},
	{"apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", 0, .short_names = {NULL},
		.columns = revision_columns},
	{"apps", "v1", "daemonsets", "daemonset", "DaemonSet", STATUS | BUILTIN_ALL, .short_names = {"ds"}},
	{"apps", "v1", "deployments", "deployment", "Deployment", SCALED, .short_names = {"deploy"}, .selector = ".spec.selector"},
	{"apps", "v1", "replicasets", "replicaset", "ReplicaSet", SCALED, .short_names = {"rs"}, .selector = ".spec.selector",
		.fields = replica_fields},
	{"apps", "v1", "statefulsets", "statefulset", "StatefulSet", SCALED, .short_names = {"sts"}, .selector = ".spec.selector"},
	{"autoscaling", "v2", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler",
		STATUS | BUILTIN_ALL | BUILTIN_ONE_FORM, .short_names = {"hpa"}},
	{"autoscaling", "v1", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler",
		STATUS | BUILTIN_ALL | BUILTIN_ONE_FORM, .short_names = {"hpa"}},
	{"batch", "v1", "cronjobs", "cronjob", "CronJob", STATUS | BUILTIN_ALL, .short_names = {"cj"}},
	{"batch", "v1", "jobs", "job", "Job", STATUS | BUILTIN_ALL, .short_names = {NULL}, .fields = job_fields},
	{"coordination.k8s.io", "v1", "leases", "lease", "Lease", 0, .short_names = {NULL}},
	{"discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", 0, .short_names = {NULL}},
	{"events.k8s.io", "v1", "events", "event", "Event", 0, .short_names = {"ev"}, .face_of = "events", .fields = event_face_fields},
	{"grove.io", "v1alpha1", "podcliques", "podclique", "PodClique", OURS_SCALED, .short_names = {"pclq"},
		.selector = ".status.hpaPodSelector", .columns = clique_columns},
	{"grove.io", "v1alpha1", "podcliquescalinggroups", "podcliquescalinggroup", "PodCliqueScalingGroup", OURS_SCALED,
		.short_names = {"pcsg"}, .selector = ".status.selector", .columns = grove_columns},
	{"grove.io", "v1alpha1", "podcliquesets", "podcliqueset", "PodCliqueSet", OURS_SCALED, .short_names = {"pcs"},
		.selector = ".status.hpaPodSelector", .columns = grove_columns},
	{"grove.io", "v1alpha1", "podgangsets", "podgangset", "PodGangSet", OURS_SCALED, .short_names = {"pgs"},
		.selector = ".status.hpaPodSelector", .columns = grove_columns},
	{"jobset.x-k8s.io", "v1alpha2", "jobsets", "jobset", "JobSet", OURS, .short_names = {NULL}, .columns = job_set_columns},
	{"kai.scheduler", "v1alpha1", "topologies", "topology", "Topology", OURS | CLUSTER, .short_names = {NULL},
		.columns = topology_columns},
	{"kubeflow.org", "v1", "jaxjobs", "jaxjob", "JAXJob", OURS, .short_names = {NULL}, .columns = training_job_columns},
	{"kubeflow.org", "v2beta1", "mpijobs", "mpijob", "MPIJob", OURS, .short_names = {NULL}, .columns = training_job_columns},
	{"kubeflow.org", "v1", "mpijobs", "mpijob", "MPIJob", OURS, .short_names = {NULL}, .columns = training_job_columns},
	{"kubeflow.org", "v1", "pytorchjobs", "pytorchjob", "PyTorchJob", OURS_SCALED, .short_names = {NULL},
		.selector = ".status.replicaStatuses.Worker.selector", .scale_spec = ".spec.pytorchReplicaSpecs.Worker.replicas",
		.scale_status = ".status.replicaStatuses.Worker.active", .columns = training_job_columns},
	{"kubeflow.org", "v1", "tfjobs", "tfjob", "TFJob", OURS_SCALED, .short_names = {NULL},
		.selector = ".status.replicaStatuses.Worker.selector", .scale_spec = ".spec.tfReplicaSpecs.Worker.replicas",
		.scale_status = ".status.replicaStatuses.Worker.active", .columns = training_job_columns},
	{"kubeflow.org", "v1", "xgboostjobs", "xgboostjob", "XGBoostJob", OURS_SCALED, .short_names = {NULL},
		.selector = ".status.replicaStatuses.Worker.selector", .scale_spec = ".spec.xgbReplicaSpecs.Worker.replicas",
		.scale_status = ".status.replicaStatuses.Worker.active", .columns = training_job_columns},
	{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "leaderworkerset", "LeaderWorkerSet", OURS_SCALED,
		.short_names = {"lws"}, .selector = ".status.hpaPodSelector", .columns = leader_worker_set_columns},
	{"networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", STATUS, .short_names = {"ing"}},
	{"networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", 0, .short_names = {"netpol"}},
	{"node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", CLUSTER, .short_names = {NULL}},
	{"policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", STATUS, .short_names = {"pdb"}},
	{"ray.io", "v1", "rayclusters", "raycluster", "RayCluster", OURS | BUILTIN_ALL, .short_names = {NULL}, .columns = ray_cluster_columns},
	{"ray.io", "v1alpha1", "rayclusters", "raycluster", "RayCluster", OURS | BUILTIN_ALL, .short_names = {NULL}, .columns = ray_cluster_columns},
	{"ray.io", "v1", "rayjobs", "rayjob", "RayJob", OURS | BUILTIN_ALL, .short_names = {NULL}, .columns = ray_job_columns},
	{"ray.io", "v1alpha1", "rayjobs", "rayjob", "RayJob", OURS | BUILTIN_ALL, .short_names = {NULL}, .columns = ray_job_columns},
	{"ray.io", "v1", "rayservices", "rayservice", "RayService", OURS | BUILTIN_ALL, .short_names = {NULL}, .columns = ray_service_columns},
	{"ray.io", "v1alpha1", "rayservices", "rayservice", "RayService", OURS | BUILTIN_ALL, .short_names = {NULL}, .columns = ray_service_columns},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding",
		CLUSTER | BUILTIN_PATH_NAME, .short_names = {NULL}},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", CLUSTER | BUILTIN_PATH_NAME, .short_names = {NULL}},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", BUILTIN_PATH_NAME, .short_names = {NULL}},
	{"rbac.authorization.k8s.io", "v1", "roles", "role", "Role", BUILTIN_PATH_NAME, .short_names = {NULL}},
	{"resource.k8s.io", "v1", "deviceclasses", "deviceclass", "DeviceClass", CLUSTER, .short_names = {NULL}},
	{"resource.k8s.io", "v1", "resourceclaims", "resourceclaim", "ResourceClaim", STATUS, .short_names = {NULL}},
	{"resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", 0, .short_names = {NULL}},
	{"resource.k8s.io", "v1", "resourceslices", "resourceslice", "ResourceSlice", CLUSTER, .short_names = {NULL}},
	{"run.ai", "v1alpha1", "kartas", "karta", "Karta", OURS | CLUSTER, .short_names = {NULL}, .columns = karta_columns},
	/* Grove calls these "pg" for short; here that is the PodGroup. */
	{"scheduler.grove.io", "v1alpha1", "podgangs", "podgang", "PodGang", OURS, .short_names = {NULL}, .columns = pod_gang_columns},
	{"scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", CLUSTER, .short_names = {"pc"}},
	{"scheduling.run.ai", "v2alpha2", "podgroups", "podgroup", "PodGroup", OURS, .short_names = {"pg"}, .columns = pod_group_columns},
	{"scheduling.run.ai", "v2", "queues", "queue", "Queue", OURS | CLUSTER, .short_names = {NULL}, .columns = queue_columns},
	{"storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", CLUSTER, .short_names = {NULL}},
	{"storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", CLUSTER, .short_names = {NULL}},
	{"storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", 0, .short_names = {NULL}},
	{"storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", CLUSTER, .short_names = {"sc"}},
	{"storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment", CLUSTER | STATUS, .short_names = {NULL}},
	{"workloads.x-k8s.io", "v1alpha2", "clusterengineruntimeprofiles", "clusterengineruntimeprofile", "ClusterEngineRuntimeProfile",
		OURS | CLUSTER, .short_names = {NULL}},
	{"workloads.x-k8s.io", "v1alpha1", "clusterengineruntimeprofiles", "clusterengineruntimeprofile", "ClusterEngineRuntimeProfile",
		OURS | CLUSTER, .short_names = {NULL}},
	{"workloads.x-k8s.io", "v1alpha1", "clustertopologies", "clustertopology", "ClusterTopology", OURS | CLUSTER, .short_names = {NULL},
		.columns = cluster_topology_columns},
	{"workloads.x-k8s.io", "v1alpha2", "coordinatedpolicies", "coordinatedpolicy", "CoordinatedPolicy", OURS, .short_names = {"cpolicy"},
		.columns = policy_columns},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroups", "rolebasedgroup", "RoleBasedGroup",
		OURS | BUILTIN_ONE_FORM, .short_names = {"rbg"},
		.columns = group_columns},
	{"workloads.x-k8s.io", "v1alpha1", "rolebasedgroups", "rolebasedgroup", "RoleBasedGroup",
		OURS | BUILTIN_ONE_FORM, .short_names = {"rbg"},
		.columns = group_columns},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroupscalingadapters", "rolebasedgroupscalingadapter", "RoleBasedGroupScalingAdapter",
		OURS_SCALED, .short_names = {"rbgsa"}, .selector = ".status.selector", .columns = scaling_adapter_columns},
	{"workloads.x-k8s.io", "v1alpha1", "rolebasedgroupscalingadapters", "rolebasedgroupscalingadapter", "RoleBasedGroupScalingAdapter",
		OURS_SCALED, .short_names = {"rbgsa"}, .selector = ".status.selector", .columns = scaling_adapter_columns},
	{"workloads.x-k8s.io", "v1alpha2", "rolebasedgroupsets", "rolebasedgroupset", "RoleBasedGroupSet", OURS_SCALED | BUILTIN_ONE_FORM,
		.short_names = {"rbgs"}, .columns = group_set_columns},
	{"workloads.x-k8s.io", "v1alpha1", "rolebasedgroupsets", "rolebasedgroupset", "RoleBasedGroupSet", OURS_SCALED | BUILTIN_ONE_FORM,
		.short_names = {"rbgs"}, .columns = group_set_columns},
	{"workloads.x-k8s.io", "v1alpha2", "roleinstances", "roleinstance", "RoleInstance", OURS, .short_names = {"rins"},
		.columns = instance_columns},
	{"workloads.x-k8s.io", "v1alpha2", "roleinstancesets", "roleinstanceset", "RoleInstanceSet", OURS_SCALED, .short_names = {"ris"},
		.selector = ".status.labelSelector", .columns = instance_set_columns},
};
/* clang-format on */

const size_t builtin_count = sizeof(builtins) / sizeof(builtins[0]);
