/* Owns the table of what a pod can ask for. */
#include "admit/pod_fields.h"

#include "kinds/names.h"

#include <string.h>

#define CLAIMS "the pod goes where devices of its claims are free, which it gets before it is bound"
#define DEVICES "devices behind a DeviceClass are given to ResourceClaims only, not to resources"
#define DISK "disks are not served by themselves, only behind a PersistentVolumeClaim"
#define NUMA "NUMA zones are not looked at"
#define MAPS                                                                                                           \
	"with the setting waitForConfigMaps, or the profile kai, a pod waits while a ConfigMap that it cannot start "  \
	"without does not exist; Secrets are never looked at"
#define NATIVE "of Kubernetes 1.35 only; since 1.36 it is spec.schedulingGroup"

/* ---- fields of which some values are not served ---- */

/* A selector by the label that every namespace has, its name, is a list of namespaces. Others would need their labels. */
static bool selects_by_label(const struct val *selector)
{
	const char *key;
	const struct val *item;
	if (val_count(val_get(selector, "matchLabels")) + val_count(val_get(selector, "matchExpressions")) > 1)
		return true;
	for (struct val_iter it = val_iter(val_get(selector, "matchLabels")); val_next(&it, &key, &item);)
		if (strcmp(key, "kubernetes.io/metadata.name") != 0)
			return true;
	for (struct val_iter it = val_iter(val_get(selector, "matchExpressions")); val_next(&it, &key, &item);)
		if (strcmp(val_str(val_get(item, "key"), ""), "kubernetes.io/metadata.name") != 0 ||
		    strcmp(val_str(val_get(item, "operator"), ""), "In") != 0)
			return true;
	return false;
}

static bool is_not_none(const struct val *value)
{
	return strcmp(val_str(value, ""), "none") != 0;
}

/* ---- the table ---- */

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define BY_LABEL "labels of namespaces are not known; select by kubernetes.io/metadata.name"
#define SELECTOR_EXAMPLE "{matchLabels: {team: a}}"

const struct pod_field pod_fields[] = {
	/* where */
	{FIELD_SPEC, "nodeName", FIELD_HONOURED, "the pod is bound and counts there", "schedule/test_snapshot.c"},
	{FIELD_SPEC, "schedulerName", FIELD_HONOURED, "whose pod it is; pods of others only take room",
         "schedule/test_snapshot.c"},
	{FIELD_SPEC, "nodeSelector", FIELD_HONOURED, "all labels must match", "admit/test_pod_rules.c"},
	{FIELD_SPEC, "affinity.nodeAffinity." REQUIRED, FIELD_HONOURED,
         "any term; In, NotIn, Exists, DoesNotExist, Gt, Lt; matchFields by metadata.name", "admit/test_pod_rules.c"},
	{FIELD_SPEC, "affinity.nodeAffinity." PREFERRED, FIELD_HONOURED, "by weight, after the wishes of the gang",
         "admit/test_pod_rules.c"},
	{FIELD_SPEC, "affinity.podAffinity." REQUIRED, FIELD_HONOURED,
         "with labelSelector, topologyKey, namespaces, matchLabelKeys, mismatchLabelKeys, against pods that run and "
         "the "
         "gang itself",
         "property/rules.c"},
	{FIELD_SPEC, "affinity.podAffinity." REQUIRED "[].namespaceSelector", FIELD_HONOURED,
         "{} for all namespaces, or by kubernetes.io/metadata.name", "admit/test_pod_rules.c", selects_by_label,
         BY_LABEL, SELECTOR_EXAMPLE},
	{FIELD_SPEC, "affinity.podAffinity." PREFERRED, FIELD_HONOURED,
         "by weight; a namespaceSelector by other labels counts as all namespaces", "admit/test_pod_rules.c"},
	{FIELD_SPEC, "affinity.podAntiAffinity." REQUIRED, FIELD_HONOURED, "in both directions, as above",
         "property/rules.c"},
	{FIELD_SPEC, "affinity.podAntiAffinity." REQUIRED "[].namespaceSelector", FIELD_HONOURED,
         "{} for all namespaces, or by kubernetes.io/metadata.name", "admit/test_pod_rules.c", selects_by_label,
         BY_LABEL, SELECTOR_EXAMPLE},
	{FIELD_SPEC, "affinity.podAntiAffinity." PREFERRED, FIELD_HONOURED,
         "by weight; a namespaceSelector by other labels counts as all namespaces", "admit/test_pod_rules.c"},
	{FIELD_SPEC, "topologySpreadConstraints", FIELD_HONOURED,
         "DoNotSchedule as a rule, ScheduleAnyway as a wish; maxSkew, minDomains, matchLabelKeys, nodeAffinityPolicy, "
         "nodeTaintsPolicy",
         "property/rules.c"},
	{FIELD_SPEC, "tolerations", FIELD_HONOURED,
         "Equal, Exists, Gt and Lt; PreferNoSchedule taints are a wish; tolerationSeconds is for the eviction of pods "
         "that run",
         "base/test_labels.c"},
	{FIELD_SPEC, "os", FIELD_HONOURED, "nodes whose label kubernetes.io/os names the other system are left out",
         "admit/test_pod_rules.c"},
	{FIELD_SPEC, "hostNetwork", FIELD_HONOURED, "every port of a container is a host port then",
         "admit/test_pod_rules.c"},
	{FIELD_CONTAINER, "ports", FIELD_HONOURED,
         "hostPort with hostIP and protocol; of init containers only sidecars hold theirs", "admit/test_pod_rules.c"},
	{FIELD_SPEC, "runtimeClassName", FIELD_HONOURED,
         "the API server has written overhead, node selector and tolerations of the class into the pod",
         "serve/test_runtime_class.c"},
	/* how much */
	{FIELD_CONTAINER, "resources.requests resources.limits", FIELD_HONOURED,
         "any resource; a limit without a request is the request; of a pod that runs also what its status says is "
         "allocated, while it is resized",
         "admit/test_pod.c"},
	{FIELD_SPEC, "containers initContainers", FIELD_HONOURED,
         "the larger of all containers with sidecars, and of each init step with the sidecars before it",
         "admit/test_pod.c"},
	{FIELD_CONTAINER, "restartPolicy", FIELD_HONOURED, "Always makes an init container a sidecar",
         "admit/test_pod.c"},
	{FIELD_SPEC, "resources", FIELD_HONOURED,
         "of the pod as a whole: cpu, memory and huge pages, instead of the sum of its containers", "admit/test_pod.c"},
	{FIELD_SPEC, "overhead", FIELD_HONOURED, "added to the requests", "admit/test_pod.c"},
	{FIELD_RESOURCE, "nvidia.com/mig-*", FIELD_HONOURED,
         "a resource like others; counts in queues as so many GPUs as it has slices",
         "scenarios/platoon/mig-counts-in-queues.yaml"},
	{FIELD_RESOURCE, "nvidia.com/gpu.shared", FIELD_HONOURED,
         "what a device plugin offers with time-slicing or MPS is a resource like others", "admit/test_pod.c"},
	/* when */
	{FIELD_SPEC, "schedulingGates", FIELD_HONOURED,
         "the pod is not placed, and does not count, before they are gone", "schedule/test_snapshot.c"},
	{FIELD_SPEC, "priority priorityClassName", FIELD_HONOURED,
         "of pods without a PodGroup; otherwise that of the group counts", "schedule/test_snapshot.c"},
	{FIELD_SPEC, "preemptionPolicy", FIELD_HONOURED,
         "with Never, its own or that of the priority class of its group, nobody is preempted for it; what a queue is "
         "entitled to is still reclaimed",
         "scenarios/platoon/preemption-policy.yaml"},
	{FIELD_ANNOTATION, "pod-group-name", FIELD_HONOURED, "the PodGroup it belongs to", "schedule/test_snapshot.c"},
	{FIELD_SPEC, "schedulingGroup", FIELD_HONOURED,
         "the PodGroup of scheduling.k8s.io it belongs to, with the CompositePodGroups above that; without it the pod "
         "waits",
         "group/test_native.c"},
	{FIELD_LABEL, "kai.scheduler/subgroup-name", FIELD_HONOURED, "the leaf of the PodGroup",
         "schedule/test_snapshot.c"},
	{FIELD_LABEL, "kai.scheduler/task-priority", FIELD_HONOURED, "who of a leaf is placed first",
         "admit/test_pod.c"},
	{FIELD_ANNOTATION, "kai.scheduler/batch-min-member", FIELD_HONOURED,
         "on a Job or JobSet: how many of its pods, or Jobs, it needs at once", "group/test_kinds.c"},
	{FIELD_ANNOTATION, "kai.scheduler/preemption-delay kai.scheduler/staleness-grace-period", FIELD_HONOURED,
         "of the group, mostly written on the workload above the pod", "group/test_inherit.c"},
	{FIELD_ANNOTATION, "kai.scheduler/skip-podgrouper", FIELD_HONOURED, "\"true\": the pod is not grouped",
         "group/test_inherit.c"},
	{FIELD_LABEL, "kai.scheduler/queue", FIELD_HONOURED, "the queue of the group", "group/test_inherit.c"},
	{FIELD_LABEL, "kai.scheduler/node-pool", FIELD_HONOURED,
         "the pool whose nodes it may use; pods without it use nodes without it", "scenarios/platoon/node-pools.yaml"},
	{FIELD_LABEL, "priorityClassName kai.scheduler/preemptibility", FIELD_HONOURED,
         "of the group, where the workload above the pod does not say", "group/test_inherit.c"},
	{FIELD_ANNOTATION,
         "kai.scheduler/topology kai.scheduler/topology-required-placement kai.scheduler/topology-preferred-placement",
         FIELD_HONOURED, "the levels of the group, mostly written on the workload above the pod",
         "group/test_inherit.c"},
	{FIELD_ANNOTATION,
         "kai.scheduler/segment-size kai.scheduler/segment-topology-required-placement "
         "kai.scheduler/segment-topology-preferred-placement kai.scheduler/pod-index-label",
         FIELD_HONOURED, "segments of the group", "group/test_segments.c"},
	{FIELD_ANNOTATION, "alpha.jobset.sigs.k8s.io/exclusive-topology leaderworkerset.sigs.k8s.io/exclusive-topology",
         FIELD_HONOURED, "each Job of a JobSet, each replica of a LeaderWorkerSet has a domain of the label of its own",
         "group/test_kinds.c"},
	/* volumes */
	{FIELD_SPEC, "volumes[].persistentVolumeClaim volumes[].ephemeral", FIELD_HONOURED,
         "the pod goes where the volumes of its claims are", "admit/test_volume.c"},
	{FIELD_SPEC, "volumes[].awsElasticBlockStore volumes[].gcePersistentDisk volumes[].iscsi volumes[].rbd",
         FIELD_NOT_SERVED, DISK, .example = "{}", .even_empty = true},
	{FIELD_SPEC, "volumes[].configMap volumes[].projected", FIELD_HONOURED, MAPS, "admit/test_pod.c"},
	{FIELD_CONTAINER, "env envFrom volumeMounts", FIELD_HONOURED, MAPS, "admit/test_pod.c"},
	{FIELD_SPEC, "volumes", FIELD_IGNORED, "all others are there on every node, or made there"},
	/* devices */
	{FIELD_SPEC, "resourceClaims", FIELD_HONOURED, CLAIMS, "schedule/property_devices.c"},
	{FIELD_CONTAINER, "resources.claims", FIELD_HONOURED, CLAIMS, "schedule/property_devices.c"},
	/* not served */
	{FIELD_RESOURCE, "deviceclass.resource.kubernetes.io/*", FIELD_NOT_SERVED, DEVICES},
	{FIELD_SPEC, "workloadRef", FIELD_NOT_SERVED, NATIVE, .example = "{name: w, podGroup: g}"},
	{FIELD_ANNOTATION, KINDS_GPU_SHARES " gpu-sm-percentage gpu-sm-cores mps", FIELD_NOT_SERVED, POD_GPU_SHARED},
	{FIELD_LABEL, KINDS_GPU_SHARES, FIELD_NOT_SERVED, POD_GPU_SHARED},
	{FIELD_RESOURCE,
         "nvidia.com/gpumem nvidia.com/gpumem-percentage nvidia.com/gpucores nvidia.com/priority volcano.sh/gpu-* "
         "volcano.sh/vgpu-* koordinator.sh/gpu* aliyun.com/gpu-mem aliyun.com/gpu-core.percentage tencent.com/vcuda-* "
         "cambricon.com/vmlu* cambricon.com/mlu.smlu.* hygon.com/dcumem hygon.com/dcucores iluvatar.ai/vcuda-* "
         "mthreads.com/sgpu-* metax-tech.com/vcore metax-tech.com/vmemory enflame.com/vgcu-percentage "
         "kunlunxin.com/vxpu-memory run.ai/gpu.memory",
         FIELD_NOT_SERVED, POD_GPU_SHARED},
	{FIELD_ANNOTATION,
         "nvidia.com/use-gputype nvidia.com/nouse-gputype nvidia.com/use-gpuuuid nvidia.com/nouse-gpuuuid "
         "nvidia.com/vgpu-mode hami.io/gpu-scheduler-policy hami.io/node-scheduler-policy",
         FIELD_NOT_SERVED, "which GPU of a node a pod gets is left to its kubelet"},
	{FIELD_ANNOTATION, "volcano.sh/numa-topology-policy", FIELD_NOT_SERVED, NUMA, .not_served = is_not_none,
         .example = "restricted"},
	{FIELD_ANNOTATION,
         "scheduling.koordinator.sh/numa-topology-spec scheduling.koordinator.sh/device-allocate-hint",
         FIELD_NOT_SERVED, NUMA},
	/* ignored */
	{FIELD_ANNOTATION,
         "received-resource-type runai/shared-gpu-configmap kai.scheduler/numa-placement-predicted "
         "kai.scheduler/numa-placement-observed kai.scheduler/numa-memory-groups-*",
         FIELD_IGNORED, "written by KAI when it has placed a pod, no request"},
	{FIELD_LABEL, "kai.scheduler/segment-index", FIELD_IGNORED,
         "written by Platoon on pods of segments, no request"},
	{FIELD_LABEL, "runai-gpu-group runai-gpu-group/*", FIELD_IGNORED,
         "written by KAI when it has placed a pod, no request"},
	{FIELD_ANNOTATION,
         "cluster-autoscaler.kubernetes.io/safe-to-evict karpenter.sh/do-not-disrupt "
         "autoscaling.x-k8s.io/consume-provisioning-request autoscaling.x-k8s.io/provisioning-class-name "
         "cluster-autoscaler.kubernetes.io/pod-scale-up-delay "
         "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
         FIELD_IGNORED, "for autoscalers"},
	{FIELD_ANNOTATION,
         "kueue.x-k8s.io/podset-required-topology kueue.x-k8s.io/podset-preferred-topology "
         "kueue.x-k8s.io/podset-unconstrained-topology kueue.x-k8s.io/podset-slice-required-topology "
         "kueue.x-k8s.io/podset-slice-size",
         FIELD_IGNORED, "for Kueue, which keeps a gate on the pod until it has written node selectors"},
	{FIELD_LABEL, "kueue.x-k8s.io/queue-name", FIELD_IGNORED, "for Kueue, which keeps a gate on the pod meanwhile"},
	{FIELD_ANNOTATION,
         "scheduling.k8s.io/group-name scheduling.volcano.sh/group-name gang.scheduling.koordinator.sh/*",
         FIELD_IGNORED, "gangs of other schedulers; here pods are grouped by their owners, or by pod-group-name"},
	{FIELD_LABEL,
         "scheduling.x-k8s.io/pod-group pod-group.scheduling.sigs.k8s.io pod-group.scheduling.sigs.k8s.io/name",
         FIELD_IGNORED, "gangs of other schedulers; here pods are grouped by their owners, or by pod-group-name"},
	{FIELD_ANNOTATION, "controller.kubernetes.io/pod-deletion-cost", FIELD_IGNORED,
         "for ReplicaSets that scale down"},
	{FIELD_ANNOTATION, "descheduler.alpha.kubernetes.io/*", FIELD_IGNORED, "for the descheduler"},
	{FIELD_ANNOTATION, "k8s.v1.cni.cncf.io/networks", FIELD_IGNORED,
         "networks are set up on the node; devices they need are resources"},
	{FIELD_SPEC, "evictionResponders", FIELD_IGNORED,
         "for whoever carries out an EvictionRequest; pods that make room are evicted by the eviction API, or deleted"},
	{FIELD_SPEC,
         "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks "
         "ephemeralContainers "
         "hostAliases hostIPC hostPID hostUsers hostname hostnameOverride imagePullSecrets readinessGates "
         "restartPolicy "
         "securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain "
         "terminationGracePeriodSeconds",
         FIELD_IGNORED, "for the kubelet, on whatever node"},
	{FIELD_CONTAINER,
         "args command image imagePullPolicy lifecycle livenessProbe name readinessProbe resizePolicy "
         "restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath "
         "terminationMessagePolicy tty volumeDevices workingDir",
         FIELD_IGNORED, "for the kubelet, on whatever node"},
};
const size_t pod_field_count = sizeof(pod_fields) / sizeof(pod_fields[0]);
