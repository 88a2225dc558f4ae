/* Types of the core group and of metadata. One row per type, sorted by name; a field is name:number and then its type:
 * s string, i and l integers, b boolean, f number, y bytes, q quantity, t and u times, x integer or string, d duration,
 * a anything, or the name of another type. [] is a list of them, {} a map to them; ^ has its fields in this type itself.
 * The numbers are those of the protobuf encoding. ! behind a scalar: zero is a value of its own there, or JSON always has the
 * field, so what is on the wire is kept even when it is empty. */
#include "object/schema.h"

/* clang-format off */
const struct schema_type schema_core[] = {
	{"AWSElasticBlockStoreVolumeSource", "fsType:2s partition:3i readOnly:4b volumeID:1s!"},
	{"Affinity", "nodeAffinity:1NodeAffinity podAffinity:2PodAffinity podAntiAffinity:3PodAntiAffinity"},
	{"AppArmorProfile", "localhostProfile:2s! type:1s!"},
	{"AttachedVolume", "devicePath:2s! name:1s!"},
	{"AzureDiskVolumeSource", "cachingMode:3s! diskName:1s! diskURI:2s! fsType:4s! kind:6s! readOnly:5b!"},
	{"AzureFilePersistentVolumeSource", "readOnly:3b secretName:1s! secretNamespace:4s! shareName:2s!"},
	{"AzureFileVolumeSource", "readOnly:3b secretName:1s! shareName:2s!"},
	{"Binding", "metadata:1ObjectMeta target:2ObjectReference"},
	{"CSIPersistentVolumeSource", "controllerExpandSecretRef:9SecretReference "
		"controllerPublishSecretRef:6SecretReference driver:1s! fsType:4s "
		"nodeExpandSecretRef:10SecretReference nodePublishSecretRef:8SecretReference "
		"nodeStageSecretRef:7SecretReference readOnly:3b volumeAttributes:5{}s volumeHandle:2s!"},
	{"CSIVolumeSource", "driver:1s! fsType:3s! nodePublishSecretRef:5LocalObjectReference readOnly:2b! "
		"volumeAttributes:4{}s"},
	{"Capabilities", "add:1[]s drop:2[]s"},
	{"CephFSPersistentVolumeSource", "monitors:1[]s path:2s readOnly:6b secretFile:4s "
		"secretRef:5SecretReference user:3s"},
	{"CephFSVolumeSource", "monitors:1[]s path:2s readOnly:6b secretFile:4s secretRef:5LocalObjectReference "
		"user:3s"},
	{"CinderPersistentVolumeSource", "fsType:2s readOnly:3b secretRef:4SecretReference volumeID:1s!"},
	{"CinderVolumeSource", "fsType:2s readOnly:3b secretRef:4LocalObjectReference volumeID:1s!"},
	{"ClientIPConfig", "timeoutSeconds:1i!"},
	{"ClusterTrustBundleProjection", "labelSelector:3LabelSelector name:1s! optional:5b! path:4s! "
		"signerName:2s!"},
	{"Condition", "lastTransitionTime:4t message:6s! observedGeneration:3l reason:5s! status:2s! type:1s!"},
	{"ConfigMap", "binaryData:3{}y data:2{}s immutable:4b! metadata:1ObjectMeta"},
	{"ConfigMapEnvSource", "^:1LocalObjectReference optional:2b!"},
	{"ConfigMapKeySelector", "key:2s! ^:1LocalObjectReference optional:3b!"},
	{"ConfigMapNodeConfigSource", "kubeletConfigKey:5s! name:2s! namespace:1s! resourceVersion:4s uid:3s"},
	{"ConfigMapProjection", "items:2[]KeyToPath ^:1LocalObjectReference optional:4b!"},
	{"ConfigMapVolumeSource", "defaultMode:3i! items:2[]KeyToPath ^:1LocalObjectReference optional:4b!"},
	{"Container", "args:4[]s command:3[]s env:7[]EnvVar envFrom:19[]EnvFromSource image:2s imagePullPolicy:14s "
		"lifecycle:12Lifecycle livenessProbe:10Probe name:1s! ports:6[]ContainerPort "
		"readinessProbe:11Probe resizePolicy:23[]ContainerResizePolicy resources:8ResourceRequirements "
		"restartPolicy:24s! securityContext:15SecurityContext startupProbe:22Probe stdin:16b stdinOnce:17b "
		"terminationMessagePath:13s terminationMessagePolicy:20s tty:18b volumeDevices:21[]VolumeDevice "
		"volumeMounts:9[]VolumeMount workingDir:5s restartPolicyRules:25[]ContainerRestartRule"},
	{"ContainerExtendedResourceRequest", "containerName:1s! requestName:3s! resourceName:2s!"},
	{"ContainerImage", "names:1[]s sizeBytes:2l"},
	{"ContainerPort", "containerPort:3i! hostIP:5s hostPort:2i name:1s protocol:4s"},
	{"ContainerResizePolicy", "resourceName:1s! restartPolicy:2s!"},
	{"ContainerRestartRule", "action:1s exitCodes:2ContainerRestartRuleOnExitCodes"},
	{"ContainerRestartRuleOnExitCodes", "operator:1s values:2[]i"},
	{"ContainerState", "running:2ContainerStateRunning terminated:3ContainerStateTerminated "
		"waiting:1ContainerStateWaiting"},
	{"ContainerStateRunning", "startedAt:1t"},
	{"ContainerStateTerminated", "containerID:7s exitCode:1i! finishedAt:6t message:4s reason:3s signal:2i "
		"startedAt:5t"},
	{"ContainerStateWaiting", "message:2s reason:1s"},
	{"ContainerStatus", "allocatedResources:10{}q allocatedResourcesStatus:14[]ResourceStatus containerID:8s "
		"image:6s! imageID:7s! lastState:3ContainerState name:1s! ready:4b! "
		"resources:11ResourceRequirements restartCount:5i! started:9b! state:2ContainerState "
		"stopSignal:15s! user:13ContainerUser volumeMounts:12[]VolumeMountStatus"},
	{"ContainerUser", "linux:1LinuxContainerUser"},
	{"DaemonEndpoint", "Port:1i!"},
	{"DeleteOptions", "dryRun:5[]s gracePeriodSeconds:1l! ignoreStoreReadErrorWithClusterBreakingPotential:6b! "
		"orphanDependents:3b! preconditions:2Preconditions propagationPolicy:4s!"},
	{"DownwardAPIProjection", "items:1[]DownwardAPIVolumeFile"},
	{"DownwardAPIVolumeFile", "fieldRef:2ObjectFieldSelector mode:4i! path:1s! "
		"resourceFieldRef:3ResourceFieldSelector"},
	{"DownwardAPIVolumeSource", "defaultMode:2i! items:1[]DownwardAPIVolumeFile"},
	{"EmptyDirVolumeSource", "medium:1s sizeLimit:2q"},
	{"EndpointAddress", "hostname:3s ip:1s! nodeName:4s! targetRef:2ObjectReference"},
	{"EndpointPort", "appProtocol:4s! name:1s port:2i! protocol:3s"},
	{"EndpointSubset", "addresses:1[]EndpointAddress notReadyAddresses:2[]EndpointAddress ports:3[]EndpointPort"},
	{"Endpoints", "metadata:1ObjectMeta subsets:2[]EndpointSubset"},
	{"EnvFromSource", "configMapRef:2ConfigMapEnvSource prefix:1s secretRef:3SecretEnvSource"},
	{"EnvVar", "name:1s! value:2s valueFrom:3EnvVarSource"},
	{"EnvVarSource", "configMapKeyRef:3ConfigMapKeySelector fieldRef:1ObjectFieldSelector "
		"resourceFieldRef:2ResourceFieldSelector secretKeyRef:4SecretKeySelector "
		"fileKeyRef:5FileKeySelector"},
	{"EphemeralContainer", "^:1EphemeralContainerCommon targetContainerName:2s"},
	{"EphemeralContainerCommon", "args:4[]s command:3[]s env:7[]EnvVar envFrom:19[]EnvFromSource image:2s "
		"imagePullPolicy:14s lifecycle:12Lifecycle livenessProbe:10Probe name:1s! ports:6[]ContainerPort "
		"readinessProbe:11Probe resizePolicy:23[]ContainerResizePolicy resources:8ResourceRequirements "
		"restartPolicy:24s! securityContext:15SecurityContext startupProbe:22Probe stdin:16b stdinOnce:17b "
		"terminationMessagePath:13s terminationMessagePolicy:20s tty:18b volumeDevices:21[]VolumeDevice "
		"volumeMounts:9[]VolumeMount workingDir:5s restartPolicyRules:25[]ContainerRestartRule"},
	{"EphemeralVolumeSource", "volumeClaimTemplate:1PersistentVolumeClaimTemplate"},
	{"Event", "action:12s count:8i eventTime:10u firstTimestamp:6t involvedObject:2ObjectReference "
		"lastTimestamp:7t message:4s metadata:1ObjectMeta reason:3s related:13ObjectReference "
		"reportingComponent:14s! reportingInstance:15s! series:11EventSeries source:5EventSource type:9s"},
	{"EventSeries", "count:1i lastObservedTime:2u"},
	{"EventSource", "component:1s host:2s"},
	{"EvictionResponder", "name:1s priority:2i!"},
	{"ExecAction", "command:1[]s"},
	{"FCVolumeSource", "fsType:3s lun:2i! readOnly:4b targetWWNs:1[]s wwids:5[]s"},
	{"FieldSelectorRequirement", "key:1s! operator:2s! values:3[]s"},
	{"FileKeySelector", "key:3s! optional:4b! path:2s! volumeName:1s!"},
	{"FlexPersistentVolumeSource", "driver:1s! fsType:2s options:5{}s readOnly:4b secretRef:3SecretReference"},
	{"FlexVolumeSource", "driver:1s! fsType:2s options:5{}s readOnly:4b secretRef:3LocalObjectReference"},
	{"FlockerVolumeSource", "datasetName:1s datasetUUID:2s"},
	{"GCEPersistentDiskVolumeSource", "fsType:2s partition:3i pdName:1s! readOnly:4b"},
	{"GRPCAction", "port:1i! service:2s!"},
	{"GitRepoVolumeSource", "directory:3s repository:1s! revision:2s"},
	{"GlusterfsPersistentVolumeSource", "endpoints:1s! endpointsNamespace:4s! path:2s! readOnly:3b"},
	{"GlusterfsVolumeSource", "endpoints:1s! path:2s! readOnly:3b"},
	{"HTTPGetAction", "host:3s httpHeaders:5[]HTTPHeader path:1s port:2x scheme:4s"},
	{"HTTPHeader", "name:1s! value:2s!"},
	{"HostAlias", "hostnames:2[]s ip:1s!"},
	{"HostIP", "ip:1s!"},
	{"HostPathVolumeSource", "path:1s! type:2s!"},
	{"ISCSIPersistentVolumeSource", "chapAuthDiscovery:8b chapAuthSession:11b fsType:5s initiatorName:12s! "
		"iqn:2s! iscsiInterface:4s lun:3i! portals:7[]s readOnly:6b secretRef:10SecretReference "
		"targetPortal:1s!"},
	{"ISCSIVolumeSource", "chapAuthDiscovery:8b chapAuthSession:11b fsType:5s initiatorName:12s! iqn:2s! "
		"iscsiInterface:4s lun:3i! portals:7[]s readOnly:6b secretRef:10LocalObjectReference "
		"targetPortal:1s!"},
	{"ImageVolumeSource", "pullPolicy:2s reference:1s"},
	{"ImageVolumeStatus", "imageRef:1s"},
	{"KeyToPath", "key:1s! mode:3i! path:2s!"},
	{"LabelSelector", "matchExpressions:2[]LabelSelectorRequirement matchLabels:1{}s"},
	{"LabelSelectorRequirement", "key:1s! operator:2s! values:3[]s"},
	{"Lifecycle", "postStart:1LifecycleHandler preStop:2LifecycleHandler stopSignal:3s!"},
	{"LifecycleHandler", "exec:1ExecAction httpGet:2HTTPGetAction sleep:4SleepAction tcpSocket:3TCPSocketAction"},
	{"LimitRange", "metadata:1ObjectMeta spec:2LimitRangeSpec"},
	{"LimitRangeItem", "default:4{}q defaultRequest:5{}q max:2{}q maxLimitRequestRatio:6{}q min:3{}q type:1s!"},
	{"LimitRangeSpec", "limits:1[]LimitRangeItem"},
	{"LinuxContainerUser", "gid:2l! supplementalGroups:3[]l uid:1l!"},
	{"LoadBalancerIngress", "hostname:2s ip:1s ipMode:3s! ports:4[]PortStatus"},
	{"LoadBalancerStatus", "ingress:1[]LoadBalancerIngress"},
	{"LocalObjectReference", "name:1s"},
	{"LocalVolumeSource", "fsType:2s! path:1s!"},
	{"ManagedFieldsEntry", "apiVersion:3s fieldsType:6s fieldsV1:7a manager:1s operation:2s subresource:8s "
		"time:4t"},
	{"ModifyVolumeStatus", "status:2s! targetVolumeAttributesClassName:1s"},
	{"NFSVolumeSource", "path:2s! readOnly:3b server:1s!"},
	{"Namespace", "metadata:1ObjectMeta spec:2NamespaceSpec status:3NamespaceStatus"},
	{"NamespaceCondition", "lastTransitionTime:4t message:6s reason:5s status:2s! type:1s!"},
	{"NamespaceSpec", "finalizers:1[]s"},
	{"NamespaceStatus", "conditions:2[]NamespaceCondition phase:1s"},
	{"Node", "metadata:1ObjectMeta spec:2NodeSpec status:3NodeStatus"},
	{"NodeAddress", "address:2s! type:1s!"},
	{"NodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution:2[]PreferredSchedulingTerm "
		"requiredDuringSchedulingIgnoredDuringExecution:1NodeSelector"},
	{"NodeAllocatableResourceClaimStatus", "containers:2[]s resourceClaimName:1s! resources:3{}q"},
	{"NodeCondition", "lastHeartbeatTime:3t lastTransitionTime:4t message:6s reason:5s status:2s! type:1s!"},
	{"NodeConfigSource", "configMap:2ConfigMapNodeConfigSource"},
	{"NodeConfigStatus", "active:2NodeConfigSource assigned:1NodeConfigSource error:4s "
		"lastKnownGood:3NodeConfigSource"},
	{"NodeDaemonEndpoints", "kubeletEndpoint:1DaemonEndpoint"},
	{"NodeFeatures", "supplementalGroupsPolicy:1b!"},
	{"NodeRuntimeHandler", "features:2NodeRuntimeHandlerFeatures name:1s!"},
	{"NodeRuntimeHandlerFeatures", "recursiveReadOnlyMounts:1b! userNamespaces:2b!"},
	{"NodeSelector", "nodeSelectorTerms:1[]NodeSelectorTerm"},
	{"NodeSelectorRequirement", "key:1s! operator:2s! values:3[]s"},
	{"NodeSelectorTerm", "matchExpressions:1[]NodeSelectorRequirement matchFields:2[]NodeSelectorRequirement"},
	{"NodeSpec", "configSource:6NodeConfigSource externalID:2s podCIDR:1s podCIDRs:7[]s providerID:3s "
		"taints:5[]Taint unschedulable:4b"},
	{"NodeStatus", "addresses:5[]NodeAddress allocatable:2{}q capacity:1{}q conditions:4[]NodeCondition "
		"config:11NodeConfigStatus daemonEndpoints:6NodeDaemonEndpoints features:13NodeFeatures "
		"images:8[]ContainerImage nodeInfo:7NodeSystemInfo phase:3s runtimeHandlers:12[]NodeRuntimeHandler "
		"volumesAttached:10[]AttachedVolume volumesInUse:9[]s declaredFeatures:14[]s"},
	{"NodeSwapStatus", "capacity:1l!"},
	{"NodeSystemInfo", "architecture:10s! bootID:3s! containerRuntimeVersion:6s! kernelVersion:4s! "
		"kubeProxyVersion:8s! kubeletVersion:7s! machineID:1s! operatingSystem:9s! osImage:5s! "
		"swap:11NodeSwapStatus systemUUID:2s!"},
	{"ObjectFieldSelector", "apiVersion:1s fieldPath:2s!"},
	{"ObjectMeta", "annotations:12{}s creationTimestamp:8t deletionGracePeriodSeconds:10l! "
		"deletionTimestamp:9t finalizers:14[]s generateName:2s generation:7l labels:11{}s "
		"managedFields:17[]ManagedFieldsEntry name:1s namespace:3s ownerReferences:13[]OwnerReference "
		"resourceVersion:6s selfLink:4s uid:5s"},
	{"ObjectReference", "apiVersion:5s fieldPath:7s kind:1s name:3s namespace:2s resourceVersion:6s uid:4s"},
	{"OwnerReference", "apiVersion:5s! blockOwnerDeletion:7b! controller:6b! kind:1s! name:3s! uid:4s!"},
	{"PersistentVolume", "metadata:1ObjectMeta spec:2PersistentVolumeSpec status:3PersistentVolumeStatus"},
	{"PersistentVolumeClaim", "metadata:1ObjectMeta spec:2PersistentVolumeClaimSpec "
		"status:3PersistentVolumeClaimStatus"},
	{"PersistentVolumeClaimCondition", "lastProbeTime:3t lastTransitionTime:4t message:6s reason:5s status:2s! "
		"type:1s!"},
	{"PersistentVolumeClaimSpec", "accessModes:1[]s dataSource:7TypedLocalObjectReference "
		"dataSourceRef:8TypedObjectReference resources:2VolumeResourceRequirements selector:4LabelSelector "
		"storageClassName:5s! volumeAttributesClassName:9s! volumeMode:6s! volumeName:3s"},
	{"PersistentVolumeClaimStatus", "accessModes:2[]s allocatedResourceStatuses:7{}s allocatedResources:5{}q "
		"capacity:3{}q conditions:4[]PersistentVolumeClaimCondition currentVolumeAttributesClassName:8s! "
		"modifyVolumeStatus:9ModifyVolumeStatus phase:1s"},
	{"PersistentVolumeClaimTemplate", "metadata:1ObjectMeta spec:2PersistentVolumeClaimSpec"},
	{"PersistentVolumeClaimVolumeSource", "claimName:1s! readOnly:2b"},
	{"PersistentVolumeSource", "awsElasticBlockStore:2AWSElasticBlockStoreVolumeSource "
		"azureDisk:16AzureDiskVolumeSource azureFile:13AzureFilePersistentVolumeSource "
		"cephfs:9CephFSPersistentVolumeSource cinder:8CinderPersistentVolumeSource "
		"csi:22CSIPersistentVolumeSource fc:10FCVolumeSource flexVolume:12FlexPersistentVolumeSource "
		"flocker:11FlockerVolumeSource gcePersistentDisk:1GCEPersistentDiskVolumeSource "
		"glusterfs:4GlusterfsPersistentVolumeSource hostPath:3HostPathVolumeSource "
		"iscsi:7ISCSIPersistentVolumeSource local:20LocalVolumeSource nfs:5NFSVolumeSource "
		"photonPersistentDisk:17PhotonPersistentDiskVolumeSource portworxVolume:18PortworxVolumeSource "
		"quobyte:15QuobyteVolumeSource rbd:6RBDPersistentVolumeSource "
		"scaleIO:19ScaleIOPersistentVolumeSource storageos:21StorageOSPersistentVolumeSource "
		"vsphereVolume:14VsphereVirtualDiskVolumeSource"},
	{"PersistentVolumeSpec", "accessModes:3[]s capacity:1{}q claimRef:4ObjectReference mountOptions:7[]s "
		"nodeAffinity:9VolumeNodeAffinity persistentVolumeReclaimPolicy:5s ^:2PersistentVolumeSource "
		"storageClassName:6s volumeAttributesClassName:10s! volumeMode:8s!"},
	{"PersistentVolumeStatus", "lastPhaseTransitionTime:4t message:2s phase:1s reason:3s"},
	{"PhotonPersistentDiskVolumeSource", "fsType:2s pdID:1s!"},
	{"Pod", "metadata:1ObjectMeta spec:2PodSpec status:3PodStatus"},
	{"PodAffinity", "preferredDuringSchedulingIgnoredDuringExecution:2[]WeightedPodAffinityTerm "
		"requiredDuringSchedulingIgnoredDuringExecution:1[]PodAffinityTerm"},
	{"PodAffinityTerm", "labelSelector:1LabelSelector matchLabelKeys:5[]s mismatchLabelKeys:6[]s "
		"namespaceSelector:4LabelSelector namespaces:2[]s topologyKey:3s!"},
	{"PodAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution:2[]WeightedPodAffinityTerm "
		"requiredDuringSchedulingIgnoredDuringExecution:1[]PodAffinityTerm"},
	{"PodCertificateProjection", "certificateChainPath:6s credentialBundlePath:4s keyPath:5s keyType:2s "
		"maxExpirationSeconds:3i! signerName:1s userAnnotations:7{}s"},
	{"PodCondition", "lastProbeTime:3t lastTransitionTime:4t message:6s observedGeneration:7l reason:5s "
		"status:2s! type:1s!"},
	{"PodDNSConfig", "nameservers:1[]s options:3[]PodDNSConfigOption searches:2[]s"},
	{"PodDNSConfigOption", "name:1s value:2s!"},
	{"PodExtendedResourceClaimStatus", "requestMappings:1[]ContainerExtendedResourceRequest "
		"resourceClaimName:2s!"},
	{"PodIP", "ip:1s!"},
	{"PodOS", "name:1s!"},
	{"PodReadinessGate", "conditionType:1s!"},
	{"PodResourceClaim", "name:1s! resourceClaimName:3s! resourceClaimTemplateName:4s!"},
	{"PodResourceClaimStatus", "name:1s! resourceClaimName:2s!"},
	{"PodSchedulingGate", "name:1s!"},
	{"PodSchedulingGroup", "podGroupName:1s!"},
	{"PodSecurityContext", "appArmorProfile:11AppArmorProfile fsGroup:5l! fsGroupChangePolicy:9s! "
		"runAsGroup:6l! runAsNonRoot:3b! runAsUser:2l! seLinuxChangePolicy:13s! "
		"seLinuxOptions:1SELinuxOptions seccompProfile:10SeccompProfile supplementalGroups:4[]l "
		"supplementalGroupsPolicy:12s! sysctls:7[]Sysctl windowsOptions:8WindowsSecurityContextOptions"},
	{"PodSpec", "activeDeadlineSeconds:5l! affinity:18Affinity automountServiceAccountToken:21b! "
		"containers:2[]Container dnsConfig:26PodDNSConfig dnsPolicy:6s enableServiceLinks:30b! "
		"ephemeralContainers:34[]EphemeralContainer hostAliases:23[]HostAlias hostIPC:13b hostNetwork:11b "
		"hostPID:12b hostUsers:37b! hostname:16s imagePullSecrets:15[]LocalObjectReference "
		"initContainers:20[]Container nodeName:10s nodeSelector:7{}s os:36PodOS overhead:32{}q "
		"preemptionPolicy:31s! priority:25i! priorityClassName:24s readinessGates:28[]PodReadinessGate "
		"resourceClaims:39[]PodResourceClaim resources:40ResourceRequirements restartPolicy:3s "
		"runtimeClassName:29s! schedulerName:19s schedulingGates:38[]PodSchedulingGate "
		"securityContext:14PodSecurityContext serviceAccount:9s serviceAccountName:8s "
		"setHostnameAsFQDN:35b! shareProcessNamespace:27b! subdomain:17s terminationGracePeriodSeconds:4l! "
		"tolerations:22[]Toleration topologySpreadConstraints:33[]TopologySpreadConstraint "
		"volumes:1[]Volume hostnameOverride:41s! schedulingGroup:43PodSchedulingGroup "
		"workloadRef:42WorkloadReference evictionResponders:44[]EvictionResponder"},
	{"PodStatus", "conditions:2[]PodCondition containerStatuses:8[]ContainerStatus "
		"ephemeralContainerStatuses:13[]ContainerStatus hostIP:5s hostIPs:16[]HostIP "
		"initContainerStatuses:10[]ContainerStatus message:3s nominatedNodeName:11s observedGeneration:17l "
		"phase:1s podIP:6s podIPs:12[]PodIP qosClass:9s reason:4s resize:14s "
		"resourceClaimStatuses:15[]PodResourceClaimStatus startTime:7t "
		"extendedResourceClaimStatus:18PodExtendedResourceClaimStatus allocatedResources:19{}q "
		"resources:20ResourceRequirements "
		"nodeAllocatableResourceClaimStatuses:21[]NodeAllocatableResourceClaimStatus"},
	{"PodTemplate", "metadata:1ObjectMeta template:2PodTemplateSpec"},
	{"PodTemplateSpec", "metadata:1ObjectMeta spec:2PodSpec"},
	{"PortStatus", "error:3s! port:1i! protocol:2s!"},
	{"PortworxVolumeSource", "fsType:2s readOnly:3b volumeID:1s!"},
	{"Preconditions", "resourceVersion:2s uid:1s!"},
	{"PreferredSchedulingTerm", "preference:2NodeSelectorTerm weight:1i!"},
	{"Probe", "failureThreshold:6i ^:1ProbeHandler initialDelaySeconds:2i periodSeconds:4i successThreshold:5i "
		"terminationGracePeriodSeconds:7l! timeoutSeconds:3i"},
	{"ProbeHandler", "exec:1ExecAction grpc:4GRPCAction httpGet:2HTTPGetAction tcpSocket:3TCPSocketAction"},
	{"ProjectedVolumeSource", "defaultMode:2i! sources:1[]VolumeProjection"},
	{"QuobyteVolumeSource", "group:5s readOnly:3b registry:1s! tenant:6s user:4s volume:2s!"},
	{"RBDPersistentVolumeSource", "fsType:3s image:2s! keyring:6s monitors:1[]s pool:4s readOnly:8b "
		"secretRef:7SecretReference user:5s"},
	{"RBDVolumeSource", "fsType:3s image:2s! keyring:6s monitors:1[]s pool:4s readOnly:8b "
		"secretRef:7LocalObjectReference user:5s"},
	{"ReplicationController", "metadata:1ObjectMeta spec:2ReplicationControllerSpec "
		"status:3ReplicationControllerStatus"},
	{"ReplicationControllerCondition", "lastTransitionTime:3t message:5s reason:4s status:2s! type:1s!"},
	{"ReplicationControllerSpec", "minReadySeconds:4i replicas:1i! selector:2{}s template:3PodTemplateSpec"},
	{"ReplicationControllerStatus", "availableReplicas:5i conditions:6[]ReplicationControllerCondition "
		"fullyLabeledReplicas:2i observedGeneration:3l readyReplicas:4i replicas:1i!"},
	{"ResourceClaim", "name:1s! request:2s"},
	{"ResourceFieldSelector", "containerName:1s divisor:3q resource:2s!"},
	{"ResourceHealth", "health:2s resourceID:1s! message:6s!"},
	{"ResourceQuota", "metadata:1ObjectMeta spec:2ResourceQuotaSpec status:3ResourceQuotaStatus"},
	{"ResourceQuotaSpec", "hard:1{}q scopeSelector:3ScopeSelector scopes:2[]s"},
	{"ResourceQuotaStatus", "hard:1{}q used:2{}q"},
	{"ResourceRequirements", "claims:3[]ResourceClaim limits:1{}q requests:2{}q"},
	{"ResourceStatus", "name:1s! resources:2[]ResourceHealth"},
	{"SELinuxOptions", "level:4s role:2s type:3s user:1s"},
	{"ScaleIOPersistentVolumeSource", "fsType:9s gateway:1s! protectionDomain:5s readOnly:10b "
		"secretRef:3SecretReference sslEnabled:4b storageMode:7s storagePool:6s system:2s! volumeName:8s"},
	{"ScaleIOVolumeSource", "fsType:9s gateway:1s! protectionDomain:5s readOnly:10b "
		"secretRef:3LocalObjectReference sslEnabled:4b storageMode:7s storagePool:6s system:2s! "
		"volumeName:8s"},
	{"ScopeSelector", "matchExpressions:1[]ScopedResourceSelectorRequirement"},
	{"ScopedResourceSelectorRequirement", "operator:2s! scopeName:1s! values:3[]s"},
	{"SeccompProfile", "localhostProfile:2s! type:1s!"},
	{"Secret", "data:2{}y immutable:5b! metadata:1ObjectMeta stringData:4{}s type:3s"},
	{"SecretEnvSource", "^:1LocalObjectReference optional:2b!"},
	{"SecretKeySelector", "key:2s! ^:1LocalObjectReference optional:3b!"},
	{"SecretProjection", "items:2[]KeyToPath ^:1LocalObjectReference optional:4b!"},
	{"SecretReference", "name:1s namespace:2s"},
	{"SecretVolumeSource", "defaultMode:3i! items:2[]KeyToPath optional:4b! secretName:1s"},
	{"SecurityContext", "allowPrivilegeEscalation:7b! appArmorProfile:12AppArmorProfile "
		"capabilities:1Capabilities privileged:2b! procMount:9s! readOnlyRootFilesystem:6b! runAsGroup:8l! "
		"runAsNonRoot:5b! runAsUser:4l! seLinuxOptions:3SELinuxOptions seccompProfile:11SeccompProfile "
		"windowsOptions:10WindowsSecurityContextOptions"},
	{"Service", "metadata:1ObjectMeta spec:2ServiceSpec status:3ServiceStatus"},
	{"ServiceAccount", "automountServiceAccountToken:4b! imagePullSecrets:3[]LocalObjectReference "
		"metadata:1ObjectMeta secrets:2[]ObjectReference"},
	{"ServiceAccountTokenProjection", "audience:1s expirationSeconds:2l! path:3s!"},
	{"ServicePort", "appProtocol:6s! name:1s nodePort:5i port:3i! protocol:2s targetPort:4x"},
	{"ServiceSpec", "allocateLoadBalancerNodePorts:20b! clusterIP:3s clusterIPs:18[]s externalIPs:5[]s "
		"externalName:10s externalTrafficPolicy:11s healthCheckNodePort:12i internalTrafficPolicy:22s! "
		"ipFamilies:19[]s ipFamilyPolicy:17s! loadBalancerClass:21s! loadBalancerIP:8s "
		"loadBalancerSourceRanges:9[]s ports:1[]ServicePort publishNotReadyAddresses:13b selector:2{}s "
		"sessionAffinity:7s sessionAffinityConfig:14SessionAffinityConfig trafficDistribution:23s! type:4s"},
	{"ServiceStatus", "conditions:2[]Condition loadBalancer:1LoadBalancerStatus"},
	{"SessionAffinityConfig", "clientIP:1ClientIPConfig"},
	{"SleepAction", "seconds:1l!"},
	{"StorageOSPersistentVolumeSource", "fsType:3s readOnly:4b secretRef:5ObjectReference volumeName:1s "
		"volumeNamespace:2s"},
	{"StorageOSVolumeSource", "fsType:3s readOnly:4b secretRef:5LocalObjectReference volumeName:1s "
		"volumeNamespace:2s"},
	{"Sysctl", "name:1s! value:2s!"},
	{"TCPSocketAction", "host:2s port:1x"},
	{"Taint", "effect:3s! key:1s! timeAdded:4t value:2s"},
	{"Toleration", "effect:4s key:1s operator:2s tolerationSeconds:5l! value:3s"},
	{"TopologySelectorLabelRequirement", "key:1s! values:2[]s"},
	{"TopologySelectorTerm", "matchLabelExpressions:1[]TopologySelectorLabelRequirement"},
	{"TopologySpreadConstraint", "labelSelector:4LabelSelector matchLabelKeys:8[]s maxSkew:1i! minDomains:5i! "
		"nodeAffinityPolicy:6s! nodeTaintsPolicy:7s! topologyKey:2s! whenUnsatisfiable:3s!"},
	{"TypedLocalObjectReference", "apiGroup:1s! kind:2s! name:3s!"},
	{"TypedObjectReference", "apiGroup:1s! kind:2s! name:3s! namespace:4s!"},
	{"Volume", "name:1s! ^:2VolumeSource"},
	{"VolumeDevice", "devicePath:2s! name:1s!"},
	{"VolumeMount", "mountPath:3s! mountPropagation:5s! name:1s! readOnly:2b recursiveReadOnly:7s! subPath:4s "
		"subPathExpr:6s"},
	{"VolumeMountStatus", "mountPath:2s! name:1s! readOnly:3b recursiveReadOnly:4s! volumeStatus:5VolumeStatus"},
	{"VolumeNodeAffinity", "required:1NodeSelector"},
	{"VolumeProjection", "clusterTrustBundle:5ClusterTrustBundleProjection configMap:3ConfigMapProjection "
		"downwardAPI:2DownwardAPIProjection secret:1SecretProjection "
		"serviceAccountToken:4ServiceAccountTokenProjection podCertificate:6PodCertificateProjection"},
	{"VolumeResourceRequirements", "limits:1{}q requests:2{}q"},
	{"VolumeSource", "awsElasticBlockStore:4AWSElasticBlockStoreVolumeSource azureDisk:22AzureDiskVolumeSource "
		"azureFile:18AzureFileVolumeSource cephfs:14CephFSVolumeSource cinder:13CinderVolumeSource "
		"configMap:19ConfigMapVolumeSource csi:28CSIVolumeSource downwardAPI:16DownwardAPIVolumeSource "
		"emptyDir:2EmptyDirVolumeSource ephemeral:29EphemeralVolumeSource fc:17FCVolumeSource "
		"flexVolume:12FlexVolumeSource flocker:15FlockerVolumeSource "
		"gcePersistentDisk:3GCEPersistentDiskVolumeSource gitRepo:5GitRepoVolumeSource "
		"glusterfs:9GlusterfsVolumeSource hostPath:1HostPathVolumeSource image:30ImageVolumeSource "
		"iscsi:8ISCSIVolumeSource nfs:7NFSVolumeSource "
		"persistentVolumeClaim:10PersistentVolumeClaimVolumeSource "
		"photonPersistentDisk:23PhotonPersistentDiskVolumeSource portworxVolume:24PortworxVolumeSource "
		"projected:26ProjectedVolumeSource quobyte:21QuobyteVolumeSource rbd:11RBDVolumeSource "
		"scaleIO:25ScaleIOVolumeSource secret:6SecretVolumeSource storageos:27StorageOSVolumeSource "
		"vsphereVolume:20VsphereVirtualDiskVolumeSource"},
	{"VolumeStatus", "image:1ImageVolumeStatus"},
	{"VsphereVirtualDiskVolumeSource", "fsType:2s storagePolicyID:4s storagePolicyName:3s volumePath:1s!"},
	{"WeightedPodAffinityTerm", "podAffinityTerm:2PodAffinityTerm weight:1i!"},
	{"WindowsSecurityContextOptions", "gmsaCredentialSpec:2s! gmsaCredentialSpecName:1s! hostProcess:4b! "
		"runAsUserName:3s!"},
	{"WorkloadReference", "name:1s! podGroup:2s! podGroupReplicaKey:3s"}, /* in 1.35 only */
};
/* clang-format on */

const size_t schema_core_count = sizeof(schema_core) / sizeof(schema_core[0]);
