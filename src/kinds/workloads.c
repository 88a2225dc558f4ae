/* Kinds of other projects that stand above pods, and what pods are grouped by besides them. */
#include "kinds/internal.h"

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

static const struct kind_column coscheduling_columns[] = {
	COLUMN("Phase", "string", ".status.phase"),
	COLUMN("MinMember", "integer", ".spec.minMember"),
	COLUMN("Running", "string", ".status.running"),
	COLUMN("Succeeded", "string", ".status.succeeded"),
	COLUMN("Failed", "string", ".status.failed"),
	AGE,
	{0},
};

static const struct kind_column volcano_columns[] = {
	COLUMN("STATUS", "string", ".status.phase"),      COLUMN("minMember", "integer", ".spec.minMember"),
	COLUMN("RUNNINGS", "integer", ".status.running"), AGE,
	WIDE("QUEUE", "string", ".spec.queue"),           {0},
};

static const struct kind_column hypernode_columns[] = {
	COLUMN("TIER", "string", ".spec.tier"),
	COLUMN("NODECOUNT", "integer", ".status.nodeCount"),
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

/* clang-format off */
const struct kind_row kinds_workloads[] = {
	{KINDS_AML, {"v1alpha1", "v1"}, "amljobs", "amljob", "AmlJob",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_AML, .mirror = MIRROR_IF_SERVED},
	{KINDS_ARGO, {"v1alpha1"}, "workflows", "workflow", "Workflow",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"wf"}, .family = FAMILY_WRAPPER,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_EGX, {"v1", "v1alpha1"}, "spotrequests", "spotrequest", "SPOTRequest",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_SPOT_REQUEST, .mirror = MIRROR_IF_SERVED},
	{KINDS_GROVE, {"v1alpha1"}, "podcliques", "podclique", "PodClique",
		CUSTOM_SCALED | ROW_OWNER, .short_names = {"pclq"}, .columns = clique_columns,
		.mirror = MIRROR_IF_SERVED, .selector = ".status.hpaPodSelector"},
	{KINDS_GROVE, {"v1alpha1"}, "podcliquescalinggroups", "podcliquescalinggroup", "PodCliqueScalingGroup",
		CUSTOM_SCALED | ROW_OWNER, .short_names = {"pcsg"}, .columns = grove_columns,
		.mirror = MIRROR_IF_SERVED, .selector = ".status.selector"},
	{KINDS_GROVE, {"v1alpha1"}, "podcliquesets", "podcliqueset", "PodCliqueSet",
		CUSTOM_SCALED | ROW_OWNER, .short_names = {"pcs"}, .columns = grove_columns, .family = FAMILY_GROVE,
		.mirror = MIRROR_IF_SERVED, .needs = {"podgangs." KINDS_GROVE_SCHEDULER}, .simulator = SIMULATE_GROVE,
		.selector = ".status.hpaPodSelector"},
	{KINDS_GROVE, {"v1alpha1"}, "podgangsets", "podgangset", "PodGangSet",
		CUSTOM_SCALED | ROW_OWNER, .short_names = {"pgs"}, .columns = grove_columns, .family = FAMILY_GROVE,
		.mirror = MIRROR_IF_SERVED, .needs = {"podgangs." KINDS_GROVE_SCHEDULER}, .simulator = SIMULATE_GROVE,
		.selector = ".status.hpaPodSelector"},
	{KINDS_JOBSET, {"v1alpha2"}, "jobsets", "jobset", "JobSet",
		CUSTOM | ROW_OWNER, .columns = job_set_columns, .family = FAMILY_JOB_SET, .mirror = MIRROR_IF_SERVED,
		.simulator = SIMULATE_JOB_SET},
	{KINDS_KUBEFLOW, {"v1"}, "jaxjobs", "jaxjob", "JAXJob",
		CUSTOM | ROW_OWNER, .columns = training_job_columns, .family = FAMILY_KUBEFLOW,
		.mirror = MIRROR_IF_SERVED, .simulator = SIMULATE_JAX_JOB},
	{KINDS_KUBEFLOW, {"v2beta1", "v1"}, "mpijobs", "mpijob", "MPIJob",
		CUSTOM | ROW_OWNER, .columns = training_job_columns, .family = FAMILY_KUBEFLOW,
		.mirror = MIRROR_IF_SERVED, .simulator = SIMULATE_MPI_JOB},
	{KINDS_KUBEFLOW, {"v1", "v1beta1", "v1alpha1"}, "notebooks", "notebook", "Notebook",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_NOTEBOOK, .mirror = MIRROR_IF_SERVED},
	{KINDS_KUBEFLOW, {"v1"}, "pytorchjobs", "pytorchjob", "PyTorchJob",
		CUSTOM_SCALED | ROW_OWNER, .columns = training_job_columns, .family = FAMILY_KUBEFLOW,
		.mirror = MIRROR_IF_SERVED, .simulator = SIMULATE_PYTORCH_JOB,
		.selector = ".status.replicaStatuses.Worker.selector",
		.scale_spec = ".spec.pytorchReplicaSpecs.Worker.replicas",
		.scale_status = ".status.replicaStatuses.Worker.active"},
	{KINDS_KUBEFLOW, {"v1beta1", "v1"}, "scheduledworkflows", "scheduledworkflow", "ScheduledWorkflow",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"swf"}, .family = FAMILY_DEFAULT,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_KUBEFLOW, {"v1"}, "tfjobs", "tfjob", "TFJob",
		CUSTOM_SCALED | ROW_OWNER, .columns = training_job_columns, .family = FAMILY_KUBEFLOW,
		.mirror = MIRROR_IF_SERVED, .simulator = SIMULATE_TF_JOB,
		.selector = ".status.replicaStatuses.Worker.selector",
		.scale_spec = ".spec.tfReplicaSpecs.Worker.replicas",
		.scale_status = ".status.replicaStatuses.Worker.active"},
	{KINDS_KUBEFLOW, {"v1"}, "xgboostjobs", "xgboostjob", "XGBoostJob",
		CUSTOM_SCALED | ROW_OWNER, .columns = training_job_columns, .family = FAMILY_KUBEFLOW,
		.mirror = MIRROR_IF_SERVED, .simulator = SIMULATE_XGBOOST_JOB,
		.selector = ".status.replicaStatuses.Worker.selector",
		.scale_spec = ".spec.xgbReplicaSpecs.Worker.replicas",
		.scale_status = ".status.replicaStatuses.Worker.active"},
	{KINDS_KUBEVIRT, {"v1", "v1alpha3"}, "virtualmachineinstances", "virtualmachineinstance", "VirtualMachineInstance",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"vmi", "vmis"}, .family = FAMILY_DEFAULT,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_LEADER_WORKER_SET, {"v1"}, "leaderworkersets", "leaderworkerset", "LeaderWorkerSet",
		CUSTOM_SCALED | ROW_OWNER, .short_names = {"lws"}, .columns = leader_worker_set_columns,
		.family = FAMILY_LEADER_WORKER_SET, .mirror = MIRROR_IF_SERVED,
		.simulator = SIMULATE_LEADER_WORKER_SET, .selector = ".status.hpaPodSelector"},
	{KINDS_SELDON, {"v1", "v1alpha3", "v1alpha2"}, "seldondeployments", "seldondeployment", "SeldonDeployment",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"sdep"}, .family = FAMILY_DEFAULT,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_DYNAMO, {"v1beta1", "v1alpha1"}, "dynamographdeployments", "dynamographdeployment", "DynamoGraphDeployment",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"dgd"}, .family = FAMILY_WRAPPER,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_RAY, {"v1", "v1alpha1"}, "rayclusters", "raycluster", "RayCluster",
		CUSTOM | ROW_ALL | ROW_OWNER | ROW_CHILD | ROW_STATUS_GROUPS, .columns = ray_cluster_columns,
		.family = FAMILY_RAY, .mirror = MIRROR_IF_SERVED, .simulator = SIMULATE_RAY_CLUSTER},
	{KINDS_RAY, {"v1", "v1alpha1"}, "rayjobs", "rayjob", "RayJob",
		CUSTOM | ROW_ALL | ROW_OWNER | ROW_STATUS_GROUPS, .columns = ray_job_columns, .family = FAMILY_RAY,
		.mirror = MIRROR_IF_SERVED, .needs = {"rayclusters." KINDS_RAY}, .simulator = SIMULATE_RAY_JOB},
	{KINDS_RAY, {"v1", "v1alpha1"}, "rayservices", "rayservice", "RayService",
		CUSTOM | ROW_ALL | ROW_OWNER | ROW_STATUS_GROUPS, .columns = ray_service_columns,
		.family = FAMILY_RAY, .mirror = MIRROR_IF_SERVED, .needs = {"rayclusters." KINDS_RAY},
		.simulator = SIMULATE_RAY_SERVICE},
	{KINDS_RUNAI, {"v2alpha1", "v1alpha1", "v1"}, "distributedinferenceworkloads", "distributedinferenceworkload", "DistributedInferenceWorkload",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	{KINDS_RUNAI, {"v2alpha1", "v1alpha1", "v1"}, "distributedworkloads", "distributedworkload", "DistributedWorkload",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	{KINDS_RUNAI, {"v2alpha1", "v1alpha1", "v1"}, "inferenceworkloads", "inferenceworkload", "InferenceWorkload",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	{KINDS_RUNAI, {"v2alpha1", "v1alpha1", "v1"}, "interactiveworkloads", "interactiveworkload", "InteractiveWorkload",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	{KINDS_VOLCANO_TOPOLOGY, {"v1alpha1"}, "hypernodes", "hypernode", "HyperNode",
		CUSTOM | CLUSTER | ROW_GROUPS, .short_names = {"hn"}, .columns = hypernode_columns, .mirror = MIRROR_IF_SERVED},
	{KINDS_RUNAI, {"v1alpha1"}, "kartas", "karta", "Karta",
		CUSTOM | CLUSTER | ROW_GROUPS, .columns = karta_columns, .mirror = MIRROR_IF_SERVED},
	{KINDS_RUNAI, {"v1", "v1alpha1"}, "runaijobs", "runaijob", "RunaiJob",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"rj"}, .family = FAMILY_RUNAI_JOB,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_RUNAI, {"v2alpha1", "v1alpha1", "v1"}, "trainingworkloads", "trainingworkload", "TrainingWorkload",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	/* Grove calls these "pg" for short; here that is the PodGroup. */
	{KINDS_GROVE_SCHEDULER, {"v1alpha1"}, "podgangs", "podgang", "PodGang",
		CUSTOM | ROW_GROUPS, .columns = pod_gang_columns, .mirror = MIRROR_IF_SERVED},
	/* Their own short names are those of our PodGroup. */
	{KINDS_COSCHEDULING_OLD, {"v1alpha1"}, "podgroups", "podgroup", "PodGroup",
		CUSTOM | ROW_OWNER | ROW_NEIGHBOUR, .columns = coscheduling_columns, .mirror = MIRROR_IF_SERVED},
	{KINDS_VOLCANO, {"v1beta1"}, "podgroups", "podgroup", "PodGroup",
		CUSTOM | ROW_OWNER | ROW_NEIGHBOUR, .columns = volcano_columns, .mirror = MIRROR_IF_SERVED},
	{KINDS_COSCHEDULING, {"v1alpha1"}, "podgroups", "podgroup", "PodGroup",
		CUSTOM | ROW_OWNER | ROW_NEIGHBOUR, .columns = coscheduling_columns, .mirror = MIRROR_IF_SERVED},
	{KINDS_KNATIVE, {"v1", "v1beta1"}, "configurations", "configuration", "Configuration",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .mirror = MIRROR_IF_SERVED},
	{KINDS_KNATIVE, {"v1", "v1beta1"}, "revisions", "revision", "Revision",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"rev"}, .mirror = MIRROR_IF_SERVED},
	{KINDS_KNATIVE, {"v1", "v1beta1"}, "services", "service", "Service",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"ksvc"}, .family = FAMILY_KNATIVE,
		.mirror = MIRROR_IF_SERVED, .needs = {"revisions." KINDS_KNATIVE}},
	{KINDS_SPARK, {"v1beta2"}, "sparkapplications", "sparkapplication", "SparkApplication",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"sparkapp"}, .mirror = MIRROR_IF_SERVED},
	{KINDS_TEKTON, {"v1", "v1beta1", "v1alpha1"}, "pipelineruns", "pipelinerun", "PipelineRun",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"pr"}, .family = FAMILY_DEFAULT,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_TEKTON, {"v1", "v1beta1", "v1alpha1"}, "taskruns", "taskrun", "TaskRun",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"tr"}, .family = FAMILY_DEFAULT,
		.mirror = MIRROR_IF_SERVED},
	{KINDS_TRAINER, {"v1alpha1", "v2alpha1"}, "trainjobs", "trainjob", "TrainJob",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	{KINDS_CODEFLARE, {"v1beta2"}, "appwrappers", "appwrapper", "AppWrapper",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .family = FAMILY_WRAPPER, .mirror = MIRROR_IF_SERVED},
	{KINDS_DEVFILE, {"v1alpha2", "v1alpha1"}, "devworkspaces", "devworkspace", "DevWorkspace",
		CUSTOM | ROW_DEFINED | ROW_OWNER, .short_names = {"dw"}, .family = FAMILY_DEFAULT,
		.mirror = MIRROR_IF_SERVED},
};
/* clang-format on */

const size_t kinds_workloads_count = sizeof(kinds_workloads) / sizeof(*kinds_workloads);
