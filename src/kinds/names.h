/* Names of API groups, spelled once. With a version appended they are what stands in the apiVersion of objects. */
#ifndef KINDS_NAMES_H
#define KINDS_NAMES_H

#define KINDS_ADMISSION "admissionregistration.k8s.io"
#define KINDS_AML "amlarc.azureml.com"
#define KINDS_APPS "apps"
#define KINDS_ARGO "argoproj.io"
#define KINDS_AUTOSCALING "autoscaling"
#define KINDS_BATCH "batch"
#define KINDS_CODEFLARE "workload.codeflare.dev"
#define KINDS_COORDINATION "coordination.k8s.io"
#define KINDS_CORE ""
#define KINDS_COSCHEDULING "scheduling.x-k8s.io"        /* the PodGroup of scheduler-plugins */
#define KINDS_COSCHEDULING_OLD "scheduling.sigs.k8s.io" /* as it was called first; Koordinator kept that */
#define KINDS_DEFINITIONS "apiextensions.k8s.io"
#define KINDS_DEVFILE "workspace.devfile.io"
#define KINDS_DISCOVERY "discovery.k8s.io"
#define KINDS_DYNAMO "nvidia.com"
#define KINDS_EGX "egx.nvidia.io"
#define KINDS_EVENTS "events.k8s.io"
#define KINDS_GROVE "grove.io"
#define KINDS_GROVE_SCHEDULER "scheduler.grove.io"
#define KINDS_JOBSET "jobset.x-k8s.io"
#define KINDS_KAI "kai.scheduler"
#define KINDS_KNATIVE "serving.knative.dev"
#define KINDS_KUBEFLOW "kubeflow.org"
#define KINDS_KUBEVIRT "kubevirt.io"
#define KINDS_LEADER_WORKER_SET "leaderworkerset.x-k8s.io"
#define KINDS_NETWORKING "networking.k8s.io"
#define KINDS_NODE "node.k8s.io"
#define KINDS_POLICY "policy"
#define KINDS_RAY "ray.io"
#define KINDS_RBAC "rbac.authorization.k8s.io"
#define KINDS_RBG "workloads.x-k8s.io"
#define KINDS_RESOURCE "resource.k8s.io"
#define KINDS_RUNAI "run.ai"
#define KINDS_SCHEDULING "scheduling.run.ai"
#define KINDS_SCHEDULING_K8S "scheduling.k8s.io"
#define KINDS_SELDON "machinelearning.seldon.io"
#define KINDS_SPARK "sparkoperator.k8s.io"
#define KINDS_STORAGE "storage.k8s.io"
#define KINDS_TEKTON "tekton.dev"
#define KINDS_TRAINER "trainer.kubeflow.org"
#define KINDS_VOLCANO "scheduling.volcano.sh"

/* What stands in objects of kinds that have one version. */
#define KINDS_API_CLUSTER_TOPOLOGY KINDS_RBG "/v1alpha1"
/* The versions in which groups of Kubernetes itself are written; a server may have others. */
#define KINDS_API_NATIVE_COMPOSITE KINDS_SCHEDULING_K8S "/v1alpha3"
#define KINDS_API_NATIVE_GROUP KINDS_SCHEDULING_K8S "/v1beta1"
/* Annotation of a pod: the name in its spec.schedulingGroup, once that group was read. */
#define KINDS_NATIVE_MARK "platoon.dev/scheduling-group"
/* Annotations of a PodGroup: "all" when it is evicted as a whole, "single" when pod by pod, also below its minimum; and
 * "Never" when nobody is preempted for it. */
#define KINDS_DISRUPTION "platoon.dev/disruption-mode"
#define KINDS_PREEMPTION "platoon.dev/preemption-policy"
/* A topology of this name and the keys of node labels behind it, with commas, needs no Topology object. */
#define KINDS_LABEL_TOPOLOGY "labels:"
#define KINDS_API_COSCHEDULING KINDS_COSCHEDULING "/v1alpha1"
#define KINDS_API_COSCHEDULING_OLD KINDS_COSCHEDULING_OLD "/v1alpha1"
#define KINDS_API_KARTA KINDS_RUNAI "/v1alpha1"
#define KINDS_API_POD_GANG KINDS_GROVE_SCHEDULER "/v1alpha1"
#define KINDS_API_POD_GROUP KINDS_SCHEDULING "/v2alpha2"
/* Annotation of a PodGroup: how many pods it will have when its workload has created all of them. A number, or for a group
 * with subgroups a JSON map: of a leaf its pods, of a parent those of each leaf right below it that is not named itself. */
#define KINDS_EXPECTED_PODS "platoon.dev/expected-pods"
/* Annotation of a PodGroup, "true": what its workload creates first starts only where all expected pods have room. */
#define KINDS_STARTS_WHOLE "platoon.dev/starts-whole"
/* Annotation of a PodGroup: the pod, as JSON, that its workload will make for leaves without pods, where it is not like those that
 * are there. Only what decides where it may run. */
#define KINDS_COMING_POD "platoon.dev/coming-pod"
#define KINDS_API_POLICY KINDS_RBG "/v1alpha2"
#define KINDS_API_QUEUE KINDS_SCHEDULING "/v2"
#define KINDS_API_REVISION KINDS_KNATIVE "/v1"
#define KINDS_API_TOPOLOGY KINDS_KAI "/v1alpha1"
#define KINDS_VOLCANO_TOPOLOGY "topology.volcano.sh"
#define KINDS_API_HYPERNODE KINDS_VOLCANO_TOPOLOGY "/v1alpha1"
#define KINDS_API_VOLCANO_GROUP KINDS_VOLCANO "/v1beta1"

/* Reason of the condition PodScheduled of a pod whose group cannot be told: something above it, or on it, is wrong. */
#define PODS_NOT_GROUPED "NotGrouped"

/* On everything that belongs to a RoleBasedGroup. */
#define RBG_GROUP_LABEL "rbg.workloads.x-k8s.io/group-name"

/* Annotations by which KAI's pods ask for a share of a GPU, separated by spaces. */
#define KINDS_GPU_SHARES                                                                                               \
	"gpu-fraction gpu-fraction.limit gpu-fraction-num-devices gpu-fraction-container-name gpu-memory "             \
	"gpu-memory.limit"

#endif
