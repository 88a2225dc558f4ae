/* The table of kinds: which family groups a kind, and which kinds only wrap another one. Versions do not matter. */
#include "group/internal.h"

struct kind_row {
	const char *api_group, *kind;
	group_family *family; /* NULL: skipped, the next owner below decides */
};

static const struct kind_row rows[] = {
	{"", "Pod", family_pod},
	{"amlarc.azureml.com", "AmlJob", family_aml},
	{"apps", "Deployment", family_deployment},
	{"apps", "ReplicaSet", family_replicas},
	{"apps", "StatefulSet", family_replicas},
	{"argoproj.io", "Workflow", NULL},
	{"batch", "CronJob", family_cronjob},
	{"batch", "Job", family_job},
	{"egx.nvidia.io", "SPOTRequest", family_spot_request},
	{"grove.io", "PodCliqueSet", family_grove},
	{"grove.io", "PodGangSet", family_grove},
	{"jobset.x-k8s.io", "JobSet", family_jobset},
	{"kubeflow.org", "JAXJob", family_kubeflow},
	{"kubeflow.org", "MPIJob", family_kubeflow},
	{"kubeflow.org", "Notebook", family_notebook},
	{"kubeflow.org", "PyTorchJob", family_kubeflow},
	{"kubeflow.org", "ScheduledWorkflow", family_default},
	{"kubeflow.org", "TFJob", family_kubeflow},
	{"kubeflow.org", "XGBoostJob", family_kubeflow},
	{"kubevirt.io", "VirtualMachineInstance", family_default},
	{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", family_leader_worker_set},
	{"machinelearning.seldon.io", "SeldonDeployment", family_default},
	{"nvidia.com", "DynamoGraphDeployment", NULL},
	{"ray.io", "RayCluster", family_ray},
	{"ray.io", "RayJob", family_ray},
	{"ray.io", "RayService", family_ray},
	{"run.ai", "DistributedInferenceWorkload", NULL},
	{"run.ai", "DistributedWorkload", NULL},
	{"run.ai", "InferenceWorkload", NULL},
	{"run.ai", "InteractiveWorkload", NULL},
	{"run.ai", "RunaiJob", family_runai_job},
	{"run.ai", "TrainingWorkload", NULL},
	{"serving.knative.dev", "Service", family_knative},
	{"tekton.dev", "PipelineRun", family_default},
	{"tekton.dev", "TaskRun", family_default},
	{"trainer.kubeflow.org", "TrainJob", NULL},
	{"workspace.devfile.io", "DevWorkspace", family_default},
};

static const struct kind_row *find(const char *api_version, const char *kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (text_equal(rows[i].kind, kind) && meta_api_group_is(api_version, rows[i].api_group))
			return &rows[i];
	return NULL;
}

group_family *kind_family(const char *api_version, const char *kind)
{
	const struct kind_row *row = find(api_version, kind);
	return row ? row->family : NULL;
}

bool kind_is_skipped(const char *api_version, const char *kind)
{
	const struct kind_row *row = find(api_version, kind);
	return row && !row->family;
}

bool kind_is_known(const char *api_version, const char *kind)
{
	return find(api_version, kind) != NULL;
}
