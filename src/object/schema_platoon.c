/* Types of Platoon's own kinds and of kinds that are not sent as protobuf, and the table of all kinds. Rows as in
 * schema_core.c; a leading * says that the type may have more fields than are listed. */
#include "object/schema.h"

/* clang-format off */
const struct schema_type schema_platoon[] = {
	{"ClusterTopology", "metadata:0ObjectMeta spec:0ClusterTopologySpec status:0a"},
	{"ClusterTopologyLayer", "key:0s name:0s"},
	{"ClusterTopologySpec", "* Layers:0[]ClusterTopologyLayer layers:0[]ClusterTopologyLayer topologyScope:0{}i"},
	{"CoordinatedPolicy", "metadata:0ObjectMeta spec:0CoordinatedPolicySpec status:0a"},
	{"CoordinatedPolicySpec", "* policies:0[]CoordinationPolicy targetRef:0CoordinatedPolicyTarget"},
	{"CoordinatedPolicyTarget", "* name:0s"},
	{"CoordinationPolicy", "* name:0s roles:0[]s strategy:0a"},
	{"CustomResourceDefinition", "metadata:0ObjectMeta spec:0CustomResourceDefinitionSpec status:0a"},
	{"CustomResourceDefinitionNames", "categories:0[]s kind:0s listKind:0s plural:0s shortNames:0[]s singular:0s"},
	{"CustomResourceDefinitionSpec", "conversion:0a group:0s names:0CustomResourceDefinitionNames preserveUnknownFields:0b "
		"scope:0s versions:0[]CustomResourceDefinitionVersion"},
	{"CustomResourceDefinitionVersion", "additionalPrinterColumns:0[]PrinterColumn deprecated:0b deprecationWarning:0s name:0s "
		"schema:0a selectableFields:0a served:0b storage:0b subresources:0a"},
	{"OpenObject", "* metadata:0ObjectMeta spec:0a status:0a"},
	{"PodGroup", "metadata:0ObjectMeta spec:0PodGroupSpec status:0a"},
	{"PodGroupConstraints", "global:0TopologyConstraint subGroupSets:0[]PodGroupSubGroupSet subGroups:0{}TopologyConstraint"},
	{"PodGroupSpec", "* markUnschedulable:0b minMember:0i minSubGroup:0i preemptibility:0s preemptionDelay:0s "
		"priorityClassName:0s queue:0s schedulingBackoff:0i stalenessGracePeriod:0s subGroups:0[]PodGroupSubGroup "
		"topologyConstraint:0TopologyConstraint topologyConstraints:0PodGroupConstraints"},
	{"PodGroupSubGroup", "* minMember:0i minSubGroup:0i name:0s parent:0s topologyConstraint:0TopologyConstraint"},
	{"PodGroupSubGroupSet", "* constraint:0TopologyConstraint subGroups:0[]s"},
	{"PrinterColumn", "description:0s format:0s jsonPath:0s name:0s priority:0i type:0s"},
	{"Queue", "metadata:0ObjectMeta spec:0QueueSpec status:0a"},
	{"QueueResources", "cpu:0QueueShare gpu:0QueueShare memory:0QueueShare"},
	{"QueueShare", "limit:0f overQuotaWeight:0f quota:0f"},
	{"QueueSpec", "* displayName:0s parentQueue:0s preemptMinRuntime:0s priority:0i reclaimMinRuntime:0s "
		"resources:0QueueResources"},
	{"RoleBasedGroup", "metadata:0ObjectMeta spec:0RoleBasedGroupSpec status:0a"},
	{"RoleBasedGroupSpec", "* coordination:0a podGroupPolicy:0a roleTemplates:0a roles:0[]RoleSpec"},
	{"RoleSpec", "* annotations:0{}s components:0a customComponentsPattern:0a dependencies:0[]s engineRuntimes:0a labels:0{}s "
		"leaderWorkerPattern:0a leaderWorkerSet:0a minReadySeconds:0i name:0s podManagementPolicy:0s replicas:0i "
		"restartPolicy:0s restartPolicyConfig:0a rolloutStrategy:0a scalingAdapter:0a servicePorts:0a "
		"standalonePattern:0a template:0PodTemplateSpec templatePatch:0a templateRef:0a"},
	{"Topology", "metadata:0ObjectMeta spec:0TopologySpec status:0a"},
	{"TopologyConstraint", "preferredTopologyLevel:0s requiredTopologyLevel:0s topology:0s"},
	{"TopologyLevel", "alias:0s nodeLabel:0s"},
	{"TopologySpec", "* levels:0[]TopologyLevel"},
};
const size_t schema_platoon_count = sizeof(schema_platoon) / sizeof(schema_platoon[0]);

const struct schema_kind schema_kinds[] = {
	{"", "v1", "Binding", "Binding"},
	{"", "v1", "ConfigMap", "ConfigMap"},
	{"", "v1", "Endpoints", "Endpoints"},
	{"", "v1", "Event", "Event"},
	{"", "v1", "LimitRange", "LimitRange"},
	{"", "v1", "Namespace", "Namespace"},
	{"", "v1", "Node", "Node"},
	{"", "v1", "PersistentVolume", "PersistentVolume"},
	{"", "v1", "PersistentVolumeClaim", "PersistentVolumeClaim"},
	{"", "v1", "Pod", "Pod"},
	{"", "v1", "PodTemplate", "PodTemplate"},
	{"", "v1", "ReplicationController", "ReplicationController"},
	{"", "v1", "ResourceQuota", "ResourceQuota"},
	{"", "v1", "Secret", "Secret"},
	{"", "v1", "Service", "Service"},
	{"", "v1", "ServiceAccount", "ServiceAccount"},
	{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "MutatingWebhookConfiguration"},
	{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "ValidatingWebhookConfiguration"},
	{"apps", "v1", "ControllerRevision", "ControllerRevision"},
	{"apps", "v1", "DaemonSet", "DaemonSet"},
	{"apps", "v1", "Deployment", "Deployment"},
	{"apps", "v1", "ReplicaSet", "ReplicaSet"},
	{"apps", "v1", "StatefulSet", "StatefulSet"},
	{"authentication.k8s.io", "v1", "SelfSubjectReview", "SelfSubjectReview"},
	{"authorization.k8s.io", "v1", "LocalSubjectAccessReview", "LocalSubjectAccessReview"},
	{"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "SelfSubjectAccessReview"},
	{"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "SelfSubjectRulesReview"},
	{"authorization.k8s.io", "v1", "SubjectAccessReview", "SubjectAccessReview"},
	{"autoscaling", "v1", "HorizontalPodAutoscaler", "HorizontalPodAutoscalerOne"},
	{"autoscaling", "v1", "Scale", "Scale"},
	{"autoscaling", "v2", "HorizontalPodAutoscaler", "HorizontalPodAutoscaler"},
	{"batch", "v1", "CronJob", "CronJob"},
	{"batch", "v1", "Job", "Job"},
	{"coordination.k8s.io", "v1", "Lease", "Lease"},
	{"discovery.k8s.io", "v1", "EndpointSlice", "EndpointSlice"},
	{"events.k8s.io", "v1", "Event", "EventEvents"},
	{"networking.k8s.io", "v1", "Ingress", "Ingress"},
	{"networking.k8s.io", "v1", "NetworkPolicy", "NetworkPolicy"},
	{"node.k8s.io", "v1", "RuntimeClass", "RuntimeClass"},
	{"policy", "v1", "Eviction", "Eviction"},
	{"policy", "v1", "PodDisruptionBudget", "PodDisruptionBudget"},
	{"rbac.authorization.k8s.io", "v1", "ClusterRole", "ClusterRole"},
	{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "ClusterRoleBinding"},
	{"rbac.authorization.k8s.io", "v1", "Role", "Role"},
	{"rbac.authorization.k8s.io", "v1", "RoleBinding", "RoleBinding"},
	{"scheduling.k8s.io", "v1", "PriorityClass", "PriorityClass"},
	{"storage.k8s.io", "v1", "CSIDriver", "CSIDriver"},
	{"storage.k8s.io", "v1", "CSINode", "CSINode"},
	{"storage.k8s.io", "v1", "CSIStorageCapacity", "CSIStorageCapacity"},
	{"storage.k8s.io", "v1", "StorageClass", "StorageClass"},
	{"storage.k8s.io", "v1", "VolumeAttachment", "VolumeAttachment"},
	{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "CustomResourceDefinition"},
	{"kai.scheduler", "v1alpha1", "Topology", "Topology"},
	{"scheduling.run.ai", "v2", "Queue", "Queue"},
	{"scheduling.run.ai", "v2alpha2", "PodGroup", "PodGroup"},
	{"workloads.x-k8s.io", "v1alpha1", "ClusterTopology", "ClusterTopology"},
	{"workloads.x-k8s.io", "v1alpha1", "RoleBasedGroup", "RoleBasedGroup"},
	{"workloads.x-k8s.io", "v1alpha2", "CoordinatedPolicy", "CoordinatedPolicy"},
	{"workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup", "RoleBasedGroup"},
};
const size_t schema_kinds_count = sizeof(schema_kinds) / sizeof(schema_kinds[0]);
/* clang-format on */
