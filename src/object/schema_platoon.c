/* Types of Platoon's own kinds and of kinds that are not sent as protobuf. Rows as in
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
	{"NativeCompositeGang", "minGroupCount:0i"},
	{"NativeCompositeGroup", "metadata:0ObjectMeta spec:0NativeCompositeGroupSpec status:0NativeGroupStatus"},
	{"NativeCompositeGroupSpec", "disruptionMode:0NativeDisruption parentCompositePodGroupName:0s preemptionPolicy:0s "
		"priority:0i priorityClassName:0s schedulingConstraints:0NativeConstraints "
		"schedulingPolicy:0NativeCompositePolicy workloadRef:0NativeTemplateReference"},
	{"NativeCompositePolicy", "basic:0NativeNothing gang:0NativeCompositeGang"},
	{"NativeConstraints", "topology:0[]NativeTopology"},
	{"NativeController", "apiGroup:0s kind:0s name:0s"},
	{"NativeDisruption", "all:0NativeNothing single:0NativeNothing"},
	{"NativeGang", "minCount:0i"},
	{"NativeGroup", "metadata:0ObjectMeta spec:0NativeGroupSpec status:0NativeGroupStatus"},
	{"NativeGroupClaim", "name:0s resourceClaimName:0s resourceClaimTemplateName:0s"},
	{"NativeGroupClaimStatus", "name:0s resourceClaimName:0s"},
	{"NativeGroupSpec", "disruptionMode:0NativeDisruption parentCompositePodGroupName:0s preemptionPolicy:0s priority:0i "
		"priorityClassName:0s resourceClaims:0[]NativeGroupClaim schedulingConstraints:0NativeConstraints "
		"schedulingPolicy:0NativePolicy workloadRef:0NativeTemplateReference"},
	{"NativeGroupStatus", "conditions:0[]Condition resourceClaimStatuses:0[]NativeGroupClaimStatus"},
	{"NativeJobScheduling", "disruptionMode:0NativeDisruption resourceClaims:0[]NativeGroupClaim "
		"schedulingConstraints:0NativeConstraints schedulingPolicy:0NativePolicy"},
	{"NativeNothing", ""},
	{"NativePolicy", "basic:0NativeNothing gang:0NativeGang"},
	{"NativeTemplateReference", "templateName:0s workloadName:0s"},
	{"NativeTopology", "key:0s"},
	{"NativeWorkload", "metadata:0ObjectMeta spec:0NativeWorkloadSpec"},
	{"NativeWorkloadSpec", "compositePodGroupTemplates:0a controllerRef:0NativeController podGroupTemplates:0a"},
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
	{"RoleInstance", "metadata:0ObjectMeta spec:0RoleInstanceSpec status:0a"},
	{"RoleInstanceComponent", "* annotations:0{}s labels:0{}s name:0s serviceName:0s size:0i template:0a"},
	{"RoleInstanceSet", "metadata:0ObjectMeta spec:0RoleInstanceSetSpec status:0a"},
	{"RoleInstanceSetSpec", "* minReadySeconds:0i podManagementPolicy:0s replicas:0i roleInstanceTemplate:0a "
		"selector:0a updateStrategy:0a"},
	{"RoleInstanceSpec", "* components:0[]RoleInstanceComponent restartPolicyConfig:0a"},
	{"RoleSpec", "* annotations:0{}s components:0a customComponentsPattern:0a dependencies:0[]s engineRuntimes:0a labels:0{}s "
		"leaderWorkerPattern:0a leaderWorkerSet:0a minReadySeconds:0i name:0s podManagementPolicy:0s replicas:0i "
		"restartPolicy:0s restartPolicyConfig:0a rolloutStrategy:0a scalingAdapter:0a servicePorts:0a "
		"standalonePattern:0a template:0PodTemplateSpec templatePatch:0a templateRef:0a"},
	{"SchedulingShard", "metadata:0ObjectMeta spec:0SchedulingShardSpec status:0a"},
	{"SchedulingShardSpec", "* args:0{}s kValue:0f minRuntime:0ShardMinRuntime partitionLabelValue:0s "
		"placementStrategy:0ShardPlacement"},
	{"ShardMinRuntime", "* preemptMinRuntime:0s reclaimMinRuntime:0s"},
	{"ShardPlacement", "* cpu:0s gpu:0s"},
	{"Topology", "metadata:0ObjectMeta spec:0TopologySpec status:0a"},
	{"TopologyConstraint", "preferredTopologyLevel:0s requiredTopologyLevel:0s topology:0s"},
	{"TopologyLevel", "alias:0s nodeLabel:0s"},
	{"TopologySpec", "* levels:0[]TopologyLevel"},
};
const size_t schema_platoon_count = sizeof(schema_platoon) / sizeof(schema_platoon[0]);
/* clang-format on */
