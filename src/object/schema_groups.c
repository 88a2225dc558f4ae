/* Types of the other built-in groups. One row per type, sorted by name; a field is name:number and then its type:
 * s string, i and l integers, b boolean, f number, y bytes, q quantity, t and u times, x integer or string, d duration,
 * a anything, or the name of another type. [] is a list of them, {} a map to them; ^ has its fields in this type itself.
 * The numbers are those of the protobuf encoding. ! behind a scalar: zero is a value of its own there, or JSON always has the
 * field, so what is on the wire is kept even when it is empty. */
#include "object/schema.h"

/* clang-format off */
const struct schema_type schema_groups[] = {
	{"AggregationRule", "clusterRoleSelectors:1[]LabelSelector"},
	{"CSIDriver", "metadata:1ObjectMeta spec:2CSIDriverSpec"},
	{"CSIDriverSpec", "attachRequired:1b! fsGroupPolicy:5s! nodeAllocatableUpdatePeriodSeconds:9l! "
		"podInfoOnMount:2b! requiresRepublish:7b! seLinuxMount:8b! storageCapacity:4b! "
		"tokenRequests:6[]TokenRequest volumeLifecycleModes:3[]s"},
	{"CSINode", "metadata:1ObjectMeta spec:2CSINodeSpec"},
	{"CSINodeDriver", "allocatable:4VolumeNodeResources name:1s! nodeID:2s! topologyKeys:3[]s"},
	{"CSINodeSpec", "drivers:1[]CSINodeDriver"},
	{"CSIStorageCapacity", "capacity:4q maximumVolumeSize:5q metadata:1ObjectMeta nodeTopology:2LabelSelector "
		"storageClassName:3s!"},
	{"ClusterRole", "aggregationRule:3AggregationRule metadata:1ObjectMeta rules:2[]PolicyRule"},
	{"ClusterRoleBinding", "metadata:1ObjectMeta roleRef:3RoleRef subjects:2[]Subject"},
	{"ContainerResourceMetricSource", "container:3s! name:1s! target:2MetricTarget"},
	{"ContainerResourceMetricStatus", "container:3s! current:2MetricValueStatus name:1s!"},
	{"ControllerRevision", "data:2a metadata:1ObjectMeta revision:3l!"},
	{"CronJob", "metadata:1ObjectMeta spec:2CronJobSpec status:3CronJobStatus"},
	{"CronJobSpec", "concurrencyPolicy:3s failedJobsHistoryLimit:7i! jobTemplate:5JobTemplateSpec schedule:1s! "
		"startingDeadlineSeconds:2l! successfulJobsHistoryLimit:6i! suspend:4b! timeZone:8s!"},
	{"CronJobStatus", "active:1[]ObjectReference lastScheduleTime:4t lastSuccessfulTime:5t"},
	{"CrossVersionObjectReference", "apiVersion:3s kind:1s! name:2s!"},
	{"DaemonSet", "metadata:1ObjectMeta spec:2DaemonSetSpec status:3DaemonSetStatus"},
	{"DaemonSetCondition", "lastTransitionTime:3t message:5s reason:4s status:2s! type:1s!"},
	{"DaemonSetSpec", "minReadySeconds:4i revisionHistoryLimit:6i! selector:1LabelSelector "
		"template:2PodTemplateSpec updateStrategy:3DaemonSetUpdateStrategy"},
	{"DaemonSetStatus", "collisionCount:9i! conditions:10[]DaemonSetCondition currentNumberScheduled:1i! "
		"desiredNumberScheduled:3i! numberAvailable:7i numberMisscheduled:2i! numberReady:4i! "
		"numberUnavailable:8i observedGeneration:5l updatedNumberScheduled:6i"},
	{"DaemonSetUpdateStrategy", "rollingUpdate:2RollingUpdateDaemonSet type:1s"},
	{"Deployment", "metadata:1ObjectMeta spec:2DeploymentSpec status:3DeploymentStatus"},
	{"DeploymentCondition", "lastTransitionTime:7t lastUpdateTime:6t message:5s reason:4s status:2s! type:1s!"},
	{"DeploymentSpec", "minReadySeconds:5i paused:7b progressDeadlineSeconds:9i! replicas:1i! "
		"revisionHistoryLimit:6i! selector:2LabelSelector strategy:4DeploymentStrategy "
		"template:3PodTemplateSpec"},
	{"DeploymentStatus", "availableReplicas:4i collisionCount:8i! conditions:6[]DeploymentCondition "
		"observedGeneration:1l readyReplicas:7i replicas:2i terminatingReplicas:9i! unavailableReplicas:5i "
		"updatedReplicas:3i"},
	{"DeploymentStrategy", "rollingUpdate:2RollingUpdateDeployment type:1s"},
	{"Endpoint", "addresses:1[]s conditions:2EndpointConditions deprecatedTopology:5{}s hints:8EndpointHints "
		"hostname:3s! nodeName:6s! targetRef:4ObjectReference zone:7s!"},
	{"EndpointConditions", "ready:1b! serving:2b! terminating:3b!"},
	{"EndpointHints", "forNodes:2[]ForNode forZones:1[]ForZone"},
	{"EndpointPortDiscovery", "appProtocol:4s name:1s port:3i protocol:2s"},
	{"EndpointSlice", "addressType:4s! endpoints:2[]Endpoint metadata:1ObjectMeta "
		"ports:3[]EndpointPortDiscovery"},
	{"EventEvents", "action:6s deprecatedCount:15i deprecatedFirstTimestamp:13t deprecatedLastTimestamp:14t "
		"deprecatedSource:12EventSource eventTime:2u metadata:1ObjectMeta note:10s reason:7s "
		"regarding:8ObjectReference related:9ObjectReference reportingController:4s reportingInstance:5s "
		"series:3EventSeriesEvents type:11s"},
	{"EventSeriesEvents", "count:1i lastObservedTime:2u"},
	{"Eviction", "deleteOptions:2DeleteOptions metadata:1ObjectMeta"},
	{"ExternalMetricSource", "metric:1MetricIdentifier target:2MetricTarget"},
	{"ExternalMetricStatus", "current:2MetricValueStatus metric:1MetricIdentifier"},
	{"FieldSelectorAttributes", "rawSelector:1s requirements:2[]FieldSelectorRequirement"},
	{"ForNode", "name:1s!"},
	{"ForZone", "name:1s!"},
	{"HPAScalingPolicy", "periodSeconds:3i! type:1s! value:2i!"},
	{"HPAScalingRules", "policies:2[]HPAScalingPolicy selectPolicy:1s! stabilizationWindowSeconds:3i! "
		"tolerance:4q"},
	{"HTTPIngressPath", "backend:2IngressBackend path:1s pathType:3s!"},
	{"HTTPIngressRuleValue", "paths:1[]HTTPIngressPath"},
	{"HorizontalPodAutoscaler", "metadata:1ObjectMeta spec:2HorizontalPodAutoscalerSpec "
		"status:3HorizontalPodAutoscalerStatus"},
	{"HorizontalPodAutoscalerBehavior", "scaleDown:2HPAScalingRules scaleUp:1HPAScalingRules"},
	{"HorizontalPodAutoscalerCondition", "lastTransitionTime:3t message:5s reason:4s status:2s! type:1s!"},
	{"HorizontalPodAutoscalerOne", "metadata:1ObjectMeta spec:2HorizontalPodAutoscalerOneSpec "
		"status:3HorizontalPodAutoscalerOneStatus"},
	{"HorizontalPodAutoscalerOneSpec", "* maxReplicas:3i minReplicas:2i scaleTargetRef:1CrossVersionObjectReference "
		"targetCPUUtilizationPercentage:4i"},
	{"HorizontalPodAutoscalerOneStatus", "* currentCPUUtilizationPercentage:5i currentReplicas:3i desiredReplicas:4i "
		"lastScaleTime:2t observedGeneration:1l"},
	{"HorizontalPodAutoscalerSpec", "behavior:5HorizontalPodAutoscalerBehavior maxReplicas:3i! "
		"metrics:4[]MetricSpec minReplicas:2i! scaleTargetRef:1CrossVersionObjectReference"},
	{"HorizontalPodAutoscalerStatus", "conditions:6[]HorizontalPodAutoscalerCondition "
		"currentMetrics:5[]MetricStatus currentReplicas:3i! desiredReplicas:4i! lastScaleTime:2t "
		"observedGeneration:1l!"},
	{"IPBlock", "cidr:1s! except:2[]s"},
	{"Ingress", "metadata:1ObjectMeta spec:2IngressSpec status:3IngressStatus"},
	{"IngressBackend", "resource:3TypedLocalObjectReference service:4IngressServiceBackend"},
	{"IngressLoadBalancerIngress", "hostname:2s ip:1s ports:4[]IngressPortStatus"},
	{"IngressLoadBalancerStatus", "ingress:1[]IngressLoadBalancerIngress"},
	{"IngressPortStatus", "error:3s! port:1i! protocol:2s!"},
	{"IngressRule", "host:1s ^:2IngressRuleValue"},
	{"IngressRuleValue", "http:1HTTPIngressRuleValue"},
	{"IngressServiceBackend", "name:1s! port:2ServiceBackendPort"},
	{"IngressSpec", "defaultBackend:1IngressBackend ingressClassName:4s! rules:3[]IngressRule tls:2[]IngressTLS"},
	{"IngressStatus", "loadBalancer:1IngressLoadBalancerStatus"},
	{"IngressTLS", "hosts:1[]s secretName:2s"},
	{"Job", "metadata:1ObjectMeta spec:2JobSpec status:3JobStatus"},
	{"JobCondition", "lastProbeTime:3t lastTransitionTime:4t message:6s reason:5s status:2s! type:1s!"},
	{"JobSpec", "activeDeadlineSeconds:3l! backoffLimit:7i! backoffLimitPerIndex:12i! completionMode:9s! "
		"completions:2i! managedBy:15s! manualSelector:5b! maxFailedIndexes:13i! parallelism:1i! "
		"podFailurePolicy:11PodFailurePolicy podReplacementPolicy:14s! scheduling:17NativeJobScheduling selector:4LabelSelector "
		"successPolicy:16SuccessPolicy suspend:10b! template:6PodTemplateSpec ttlSecondsAfterFinished:8i!"},
	{"JobStatus", "active:4i completedIndexes:7s completionTime:3t conditions:1[]JobCondition failed:6i "
		"failedIndexes:10s! ready:9i! startTime:2t succeeded:5i terminating:11i! "
		"uncountedTerminatedPods:8UncountedTerminatedPods"},
	{"JobTemplateSpec", "metadata:1ObjectMeta spec:2JobSpec"},
	{"LabelSelectorAttributes", "rawSelector:1s requirements:2[]LabelSelectorRequirement"},
	{"Lease", "metadata:1ObjectMeta spec:2LeaseSpec"},
	{"LeaseSpec", "acquireTime:3u holderIdentity:1s! leaseDurationSeconds:2i! leaseTransitions:5i! "
		"preferredHolder:7s! renewTime:4u strategy:6s!"},
	{"LocalSubjectAccessReview", "metadata:1ObjectMeta spec:2SubjectAccessReviewSpec "
		"status:3SubjectAccessReviewStatus"},
	{"MatchCondition", "expression:2s! name:1s!"},
	{"MetricIdentifier", "name:1s! selector:2LabelSelector"},
	{"MetricSpec", "containerResource:7ContainerResourceMetricSource external:5ExternalMetricSource "
		"object:2ObjectMetricSource pods:3PodsMetricSource resource:4ResourceMetricSource type:1s!"},
	{"MetricStatus", "containerResource:7ContainerResourceMetricStatus external:5ExternalMetricStatus "
		"object:2ObjectMetricStatus pods:3PodsMetricStatus resource:4ResourceMetricStatus type:1s!"},
	{"MetricTarget", "averageUtilization:4i! averageValue:3q type:1s! value:2q"},
	{"MetricValueStatus", "averageUtilization:3i! averageValue:2q value:1q"},
	{"MutatingWebhook", "admissionReviewVersions:8[]s clientConfig:2WebhookClientConfig failurePolicy:4s! "
		"matchConditions:12[]MatchCondition matchPolicy:9s! name:1s! namespaceSelector:5LabelSelector "
		"objectSelector:11LabelSelector reinvocationPolicy:10s! rules:3[]RuleWithOperations "
		"sideEffects:6s! timeoutSeconds:7i!"},
	{"MutatingWebhookConfiguration", "Webhooks:2[]MutatingWebhook metadata:1ObjectMeta"},
	{"NetworkPolicy", "metadata:1ObjectMeta spec:2NetworkPolicySpec"},
	{"NetworkPolicyEgressRule", "ports:1[]NetworkPolicyPort to:2[]NetworkPolicyPeer"},
	{"NetworkPolicyIngressRule", "from:2[]NetworkPolicyPeer ports:1[]NetworkPolicyPort"},
	{"NetworkPolicyPeer", "ipBlock:3IPBlock namespaceSelector:2LabelSelector podSelector:1LabelSelector"},
	{"NetworkPolicyPort", "endPort:3i! port:2x protocol:1s!"},
	{"NetworkPolicySpec", "egress:3[]NetworkPolicyEgressRule ingress:2[]NetworkPolicyIngressRule "
		"podSelector:1LabelSelector policyTypes:4[]s"},
	{"NonResourceAttributes", "path:1s verb:2s"},
	{"NonResourceRule", "nonResourceURLs:2[]s verbs:1[]s"},
	{"ObjectMetricSource", "describedObject:1CrossVersionObjectReference metric:3MetricIdentifier "
		"target:2MetricTarget"},
	{"ObjectMetricStatus", "current:2MetricValueStatus describedObject:3CrossVersionObjectReference "
		"metric:1MetricIdentifier"},
	{"Overhead", "podFixed:1{}q"},
	{"PodDisruptionBudget", "metadata:1ObjectMeta spec:2PodDisruptionBudgetSpec "
		"status:3PodDisruptionBudgetStatus"},
	{"PodDisruptionBudgetSpec", "maxUnavailable:3x minAvailable:1x selector:2LabelSelector "
		"unhealthyPodEvictionPolicy:4s!"},
	{"PodDisruptionBudgetStatus", "conditions:7[]Condition currentHealthy:4i! desiredHealthy:5i! "
		"disruptedPods:2{}t disruptionsAllowed:3i! expectedPods:6i! observedGeneration:1l"},
	{"PodFailurePolicy", "rules:1[]PodFailurePolicyRule"},
	{"PodFailurePolicyOnExitCodesRequirement", "containerName:1s! operator:2s! values:3[]i"},
	{"PodFailurePolicyOnPodConditionsPattern", "status:2s! type:1s!"},
	{"PodFailurePolicyRule", "action:1s! onExitCodes:2PodFailurePolicyOnExitCodesRequirement "
		"onPodConditions:3[]PodFailurePolicyOnPodConditionsPattern"},
	{"PodsMetricSource", "metric:1MetricIdentifier target:2MetricTarget"},
	{"PodsMetricStatus", "current:2MetricValueStatus metric:1MetricIdentifier"},
	{"PolicyRule", "apiGroups:2[]s nonResourceURLs:5[]s resourceNames:4[]s resources:3[]s verbs:1[]s"},
	{"PriorityClass", "description:4s globalDefault:3b metadata:1ObjectMeta preemptionPolicy:5s! value:2i!"},
	{"ReplicaSet", "metadata:1ObjectMeta spec:2ReplicaSetSpec status:3ReplicaSetStatus"},
	{"ReplicaSetCondition", "lastTransitionTime:3t message:5s reason:4s status:2s! type:1s!"},
	{"ReplicaSetSpec", "minReadySeconds:4i replicas:1i! selector:2LabelSelector template:3PodTemplateSpec"},
	{"ReplicaSetStatus", "availableReplicas:5i conditions:6[]ReplicaSetCondition fullyLabeledReplicas:2i "
		"observedGeneration:3l readyReplicas:4i replicas:1i! terminatingReplicas:7i!"},
	{"ResourceAttributes", "fieldSelector:8FieldSelectorAttributes group:3s "
		"labelSelector:9LabelSelectorAttributes name:7s namespace:1s resource:5s subresource:6s verb:2s "
		"version:4s"},
	{"ResourceMetricSource", "name:1s! target:2MetricTarget"},
	{"ResourceMetricStatus", "current:2MetricValueStatus name:1s!"},
	{"ResourceRule", "apiGroups:2[]s resourceNames:4[]s resources:3[]s verbs:1[]s"},
	{"Role", "metadata:1ObjectMeta rules:2[]PolicyRule"},
	{"RoleBinding", "metadata:1ObjectMeta roleRef:3RoleRef subjects:2[]Subject"},
	{"RoleRef", "apiGroup:1s! kind:2s! name:3s!"},
	{"RollingUpdateDaemonSet", "maxSurge:2x maxUnavailable:1x"},
	{"RollingUpdateDeployment", "maxSurge:2x maxUnavailable:1x"},
	{"RollingUpdateStatefulSetStrategy", "maxUnavailable:2x partition:1i!"},
	{"Rule", "apiGroups:1[]s apiVersions:2[]s resources:3[]s scope:4s!"},
	{"RuleWithOperations", "operations:1[]s ^:2Rule"},
	{"RuntimeClass", "handler:2s! metadata:1ObjectMeta overhead:3Overhead scheduling:4Scheduling"},
	{"Scale", "metadata:1ObjectMeta spec:2ScaleSpec status:3ScaleStatus"},
	{"ScaleSpec", "replicas:1i"},
	{"ScaleStatus", "replicas:1i! selector:2s"},
	{"Scheduling", "nodeSelector:1{}s tolerations:2[]Toleration"},
	{"SelfSubjectAccessReview", "metadata:1ObjectMeta spec:2SelfSubjectAccessReviewSpec "
		"status:3SubjectAccessReviewStatus"},
	{"SelfSubjectAccessReviewSpec", "nonResourceAttributes:2NonResourceAttributes "
		"resourceAttributes:1ResourceAttributes"},
	{"SelfSubjectReview", "metadata:1ObjectMeta status:2SelfSubjectReviewStatus"},
	{"SelfSubjectReviewStatus", "userInfo:1UserInfo"},
	{"SelfSubjectRulesReview", "metadata:1ObjectMeta spec:2SelfSubjectRulesReviewSpec "
		"status:3SubjectRulesReviewStatus"},
	{"SelfSubjectRulesReviewSpec", "namespace:1s"},
	{"ServiceBackendPort", "name:1s number:2i"},
	{"ServiceReference", "name:2s! namespace:1s! path:3s! port:4i!"},
	{"StatefulSet", "metadata:1ObjectMeta spec:2StatefulSetSpec status:3StatefulSetStatus"},
	{"StatefulSetCondition", "lastTransitionTime:3t message:5s reason:4s status:2s! type:1s!"},
	{"StatefulSetOrdinals", "start:1i!"},
	{"StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted:1s whenScaled:2s"},
	{"StatefulSetSpec", "minReadySeconds:9i ordinals:11StatefulSetOrdinals "
		"persistentVolumeClaimRetentionPolicy:10StatefulSetPersistentVolumeClaimRetentionPolicy "
		"podManagementPolicy:6s replicas:1i! revisionHistoryLimit:8i! selector:2LabelSelector "
		"serviceName:5s! template:3PodTemplateSpec updateStrategy:7StatefulSetUpdateStrategy "
		"volumeClaimTemplates:4[]PersistentVolumeClaim"},
	{"StatefulSetStatus", "availableReplicas:11i! collisionCount:9i! conditions:10[]StatefulSetCondition "
		"currentReplicas:4i currentRevision:6s observedGeneration:1l readyReplicas:3i replicas:2i! "
		"updateRevision:7s updatedReplicas:5i"},
	{"StatefulSetUpdateStrategy", "rollingUpdate:2RollingUpdateStatefulSetStrategy type:1s"},
	{"StorageClass", "allowVolumeExpansion:6b! allowedTopologies:8[]TopologySelectorTerm metadata:1ObjectMeta "
		"mountOptions:5[]s parameters:3{}s provisioner:2s! reclaimPolicy:4s! volumeBindingMode:7s!"},
	{"Subject", "apiGroup:2s kind:1s! name:3s namespace:4s"},
	{"SubjectAccessReview", "metadata:1ObjectMeta spec:2SubjectAccessReviewSpec "
		"status:3SubjectAccessReviewStatus"},
	{"SubjectAccessReviewSpec", "extra:5{}a groups:4[]s nonResourceAttributes:2NonResourceAttributes "
		"resourceAttributes:1ResourceAttributes uid:6s user:3s"},
	{"SubjectAccessReviewStatus", "allowed:1b! denied:4b evaluationError:3s reason:2s"},
	{"SubjectRulesReviewStatus", "evaluationError:4s incomplete:3b! nonResourceRules:2[]NonResourceRule "
		"resourceRules:1[]ResourceRule"},
	{"SuccessPolicy", "rules:1[]SuccessPolicyRule"},
	{"SuccessPolicyRule", "succeededCount:2i! succeededIndexes:1s!"},
	{"TokenRequest", "audience:1s expirationSeconds:2l"},
	{"UncountedTerminatedPods", "failed:2[]s succeeded:1[]s"},
	{"UserInfo", "extra:4{}a groups:3[]s uid:2s username:1s"},
	{"ValidatingWebhook", "admissionReviewVersions:8[]s clientConfig:2WebhookClientConfig failurePolicy:4s! "
		"matchConditions:11[]MatchCondition matchPolicy:9s! name:1s! namespaceSelector:5LabelSelector "
		"objectSelector:10LabelSelector rules:3[]RuleWithOperations sideEffects:6s! timeoutSeconds:7i!"},
	{"ValidatingWebhookConfiguration", "Webhooks:2[]ValidatingWebhook metadata:1ObjectMeta"},
	{"VolumeAttachment", "metadata:1ObjectMeta spec:2VolumeAttachmentSpec status:3VolumeAttachmentStatus"},
	{"VolumeAttachmentSource", "inlineVolumeSpec:2PersistentVolumeSpec persistentVolumeName:1s!"},
	{"VolumeAttachmentSpec", "attacher:1s! nodeName:3s! source:2VolumeAttachmentSource"},
	{"VolumeAttachmentStatus", "attachError:3VolumeError attached:1b! attachmentMetadata:2{}s "
		"detachError:4VolumeError"},
	{"VolumeError", "errorCode:3i! message:2s time:1t"},
	{"VolumeNodeResources", "count:1i!"},
	{"WebhookClientConfig", "caBundle:2y service:1ServiceReference url:3s!"},
};
/* clang-format on */

const size_t schema_groups_count = sizeof(schema_groups) / sizeof(schema_groups[0]);
