/* What kubectl explain says about types and fields: the ones people ask for. */
#include "serve/api/schema_words.h"

#include <string.h>

struct words {
	/* Field "": the type itself. Below a field that may hold anything: "field[].inner", and in front of the text what it
	 * is, with a bar behind it. */
	const char *type, *field;
	const char *text;
};

/* clang-format off */
static const struct words words[] = {
	{"ClusterTopology", "", "The layers of the network from small to large, for groups that deploy by layer."},
	{"ClusterTopology", "spec", "The layers. Immutable."},
	{"ClusterTopology", "status", "currentTopologyLevel, such as Host < TOR < Pod, and the condition Valid."},
	{"ClusterTopologyLayer", "key", "The node label that names a domain of this layer."},
	{"ClusterTopologyLayer", "name", "By which deployTopologyConstraint.topologyLayerName refers to it."},
	{"ClusterTopologySpec", "Layers", "As layers, which it may be called too."},
	{"ClusterTopologySpec", "layers", "Layers from small (host) to large, each with the node label that names a domain."},
	{"ClusterTopologySpec", "topologyScope", "A number for each layer, larger for larger domains; the order of the list when absent."},
	{"ConfigMap", "", "Configuration data that pods read as files or variables."},
	{"ConfigMap", "data", "Texts by key."},
	{"Container", "", "One program of a pod, with its image, resources and probes."},
	{"Container", "args", "Arguments to the entry point."},
	{"Container", "command", "Entry point; the image's own one when absent."},
	{"Container", "env", "Environment variables."},
	{"Container", "image", "The image to run."},
	{"Container", "name", "Unique in the pod."},
	{"Container", "ports", "Ports the container listens on; hostPort takes the port of the node."},
	{"Container", "resources", "What the container needs (requests) and may use at most (limits)."},
	{"CoordinatedPolicy", "", "How the roles of a RoleBasedGroup advance together when they scale, deploy or update."},
	{"CoordinatedPolicy", "spec", "The policies, and the group they are for."},
	{"CoordinatedPolicy", "status", "Filled by the controller."},
	{"CoordinatedPolicySpec", "policies", "As spec.coordination of a RoleBasedGroup in v1alpha1."},
	{"CoordinatedPolicySpec", "targetRef", "The RoleBasedGroup; the one of the same name when absent."},
	{"CoordinatedPolicyTarget", "name", "Its name."},
	{"CoordinationPolicy", "name", "Unique in the list; coordination-<index> when absent."},
	{"CoordinationPolicy", "roles", "The roles that advance together; those of segmentSize when absent."},
	{"CoordinationPolicy", "strategy", "As spec.coordination[].strategy of a RoleBasedGroup."},
	{"Deployment", "", "Keeps a number of equal pods running and replaces them step by step when the template changes."},
	{"DeploymentSpec", "replicas", "How many pods are wanted."},
	{"DeploymentSpec", "selector", "Which pods belong to this Deployment."},
	{"DeploymentSpec", "template", "What a pod looks like."},
	{"Event", "", "Something that happened to an object."},
	{"Job", "", "Runs pods until a number of them has succeeded."},
	{"JobSpec", "completions", "How many pods must succeed."},
	{"JobSpec", "parallelism", "How many pods run at a time."},
	{"JobSpec", "template", "What a pod looks like."},
	{"Namespace", "", "A room for names: objects in different namespaces may have the same name."},
	{"Node", "", "A machine of the cluster."},
	{"NodeSpec", "taints", "What keeps pods away that do not tolerate it."},
	{"NodeSpec", "unschedulable", "No new pods are placed here (kubectl cordon)."},
	{"NodeStatus", "allocatable", "Resources that pods may use."},
	{"NodeStatus", "capacity", "Resources the machine has."},
	{"ObjectMeta", "", "What every object has: names, labels, owners, versions."},
	{"ObjectMeta", "annotations", "Notes for programs; not for selecting."},
	{"ObjectMeta", "creationTimestamp", "When it was created. Set by the server."},
	{"ObjectMeta", "deletionTimestamp", "When its deletion was asked for. Set by the server."},
	{"ObjectMeta", "finalizers", "Who still has to do something before the object may go."},
	{"ObjectMeta", "generateName", "Start of a name that the server completes."},
	{"ObjectMeta", "labels", "Keys and values that selectors look at."},
	{"ObjectMeta", "name", "Unique among the objects of this kind in the namespace."},
	{"ObjectMeta", "namespace", "The room the name is unique in."},
	{"ObjectMeta", "ownerReferences", "Objects this one belongs to; when all are gone, it goes too."},
	{"ObjectMeta", "resourceVersion", "Version of the object. A write that carries an old one is refused."},
	{"ObjectMeta", "uid", "Unique for ever. Set by the server."},
	{"Pod", "", "Containers that run together on one node."},
	{"Pod", "spec", "What is wanted."},
	{"Pod", "status", "What is."},
	{"PodGroup", "", "A gang: pods that are placed together or not at all, as a tree of subgroups with topology at every level."},
	{"PodGroup", "spec", "The tree, its minimums and its constraints."},
	{"PodGroup", "status", "phase, conditions with the reason of a refusal, and how many pods run, wait and ended."},
	{"PodGroupConstraints", "global", "For the whole group."},
	{"PodGroupConstraints", "subGroupSets", "Subgroups that must be together: siblings, each in at most one set."},
	{"PodGroupConstraints", "subGroups", "By name of the subgroup."},
	{"PodGroupSpec", "markUnschedulable", "Whether pods of a refused group get the condition PodScheduled with the reason."},
	{"PodGroupSpec", "minMember", "Pods that must be placed together when the group has no subgroups."},
	{"PodGroupSpec", "minSubGroup", "How many direct subgroups must be placed; all of them when absent."},
	{"PodGroupSpec", "preemptibility", "preemptible, non-preemptible or semi-preemptible (the minimum is protected, the surplus is not)."},
	{"PodGroupSpec", "preemptionDelay", "A duration: for so long after its creation the group causes no evictions."},
	{"PodGroupSpec", "priorityClassName", "PriorityClass of the group."},
	{"PodGroupSpec", "queue", "The Queue whose share the group uses."},
	{"PodGroupSpec", "schedulingBackoff", "1: a group that is refused once is not tried again until it changes; -1 or absent: always."},
	{"PodGroupSpec", "stalenessGracePeriod", "How long a group that fell below its minimum may keep running."},
	{"PodGroupSpec", "subGroups", "Leaves hold pods (minMember), others hold subgroups (minSubGroup)."},
	{"PodGroupSpec", "topologyConstraint", "Where the whole group must or should be together."},
	{"PodGroupSpec", "topologyConstraints", "The same constraints as a map, for manifests that are written that way."},
	{"PodGroupSubGroup", "minMember", "Pods of this leaf that must be placed together; 0 makes it elastic."},
	{"PodGroupSubGroup", "minSubGroup", "How many of its direct subgroups must be placed; all of them when absent."},
	{"PodGroupSubGroup", "name", "A DNS label; pods join by the label kai.scheduler/subgroup-name."},
	{"PodGroupSubGroup", "parent", "The subgroup this one is in; none when absent."},
	{"PodGroupSubGroup", "topologyConstraint", "Where this part must or should be together."},
	{"PodGroupSubGroupSet", "constraint", "Where they must or should be together."},
	{"PodGroupSubGroupSet", "subGroups", "Their names."},
	{"PodSpec", "affinity", "Which nodes and which other pods it wants to be near or far from."},
	{"PodSpec", "containers", "The containers; at least one."},
	{"PodSpec", "initContainers", "Run one after the other before the containers start."},
	{"PodSpec", "nodeName", "The node it was bound to."},
	{"PodSpec", "nodeSelector", "Labels that the node must have."},
	{"PodSpec", "priorityClassName", "PriorityClass of the pod."},
	{"PodSpec", "restartPolicy", "Always, OnFailure or Never."},
	{"PodSpec", "schedulerName", "Who places this pod."},
	{"PodSpec", "schedulingGates", "The pod is not placed while it has one."},
	{"PodSpec", "tolerations", "Taints of nodes that do not matter to it."},
	{"PodSpec", "topologySpreadConstraints", "How evenly equal pods are spread over domains."},
	{"PodStatus", "conditions", "PodScheduled, Ready and others, with reasons."},
	{"PodStatus", "phase", "Pending, Running, Succeeded, Failed or Unknown."},
	{"PriorityClass", "", "A name for a priority."},
	{"Queue", "", "A share of the cluster: guaranteed quota, limit, and weight for what is left over."},
	{"Queue", "spec", "Its place in the tree of queues, and its shares."},
	{"Queue", "status", "What its groups use."},
	{"QueueResources", "cpu", "Thousandths of a core."},
	{"QueueResources", "gpu", "Number of GPUs."},
	{"QueueResources", "memory", "Megabytes (10^6 bytes)."},
	{"QueueShare", "limit", "At most this much; -1 is no limit, 0 (the default) is nothing."},
	{"QueueShare", "overQuotaWeight", "Share of what others do not use, relative to sibling queues."},
	{"QueueShare", "quota", "Guaranteed; -1 is no bound."},
	{"QueueSpec", "displayName", "For people."},
	{"QueueSpec", "parentQueue", "The queue this one shares from."},
	{"QueueSpec", "preemptMinRuntime", "A duration such as 10m that a group runs before its minimum may be preempted within the queue; of the parent when absent."},
	{"QueueSpec", "priority", "Higher ones are served first."},
	{"QueueSpec", "reclaimMinRuntime", "A duration such as 10m that a group runs before other queues may reclaim its minimum; of the parent when absent."},
	{"QueueSpec", "resources", "Shares by resource."},
	{"RoleBasedGroup", "", "A service of several roles (such as prefill and decode) that is deployed and updated in proportion."},
	{"RoleBasedGroup", "spec", "The roles, and how they advance together."},
	{"RoleBasedGroup", "status", "Conditions (Ready, MinimumSegmentsAvailable, ...), revisions, and replicas per role and segment."},
	{"RoleBasedGroupSpec", "coordination", "How roles advance together: segments, deploy steps, skew."},
	{"RoleBasedGroupSpec", "coordination[].name", "text|Unique in the list; coordination-<index> when absent."},
	{"RoleBasedGroupSpec", "coordination[].roles", "list of text|The roles that advance together; those of segmentSize when absent."},
	{"RoleBasedGroupSpec", "coordination[].strategy.rollingDeploy", "object|roleDeployStep (instances of each role per step) and deployTopologyConstraint (clusterTopologyName, topologyLayerName, constraintMode hard or soft)."},
	{"RoleBasedGroupSpec", "coordination[].strategy.rollingUpdate", "object|maxSkew, the difference in progress between roles, maxUnavailable and partition."},
	{"RoleBasedGroupSpec", "coordination[].strategy.scaling", "object|maxSkew and progression of roles that scale together."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.canary.segments", "integer|After so many segments wait for approval."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.gang", "text|Instance (default): each instance starts as a whole. Segment: each segment does, in one PodGroup."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.progression", "text|OrderedReady (default): the next segment when all before it are ready. Ordered: when they exist. Parallel: all at once."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.rollback.deadlineSeconds", "integer|Go back to the last complete revision when a segment of an update is not ready in time."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.segmentSize", "map of text to integer|Instances of each role in one segment."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.stuckAfterSeconds", "integer|When the condition SegmentStuck names a segment that is waited for; 600 when absent."},
	{"RoleBasedGroupSpec", "coordination[].strategy.segmentPlacement.topologyAffinity", "object|topologyKey (a node label), strategy (RequireSegmentAffinity, PreferSegmentAffinity, BestEffort), spreadSegments."},
	{"RoleBasedGroupSpec", "podGroupPolicy", "How PodGroups are made for a scheduler that is not ours."},
	{"RoleBasedGroupSpec", "roleTemplates", "Pod templates by name, for templateRef of the roles."},
	{"RoleBasedGroupSpec", "roles", "The roles with their replicas, templates and dependencies."},
	{"RoleSpec", "annotations", "For all pods of the role."},
	{"RoleSpec", "components", "Pods of several kinds per instance (v1alpha1): name, size, template, labels, annotations, serviceName."},
	{"RoleSpec", "customComponentsPattern", "Pods of several kinds per instance: components with name, size, template, labels, annotations, serviceName."},
	{"RoleSpec", "dependencies", "Roles that must be ready first."},
	{"RoleSpec", "engineRuntimes", "Sidecars from ClusterEngineRuntimeProfiles: profileName, containers."},
	{"RoleSpec", "labels", "For all pods of the role."},
	{"RoleSpec", "leaderWorkerPattern", "A leader and its workers per instance: size, leaderTemplatePatch, workerTemplatePatch."},
	{"RoleSpec", "leaderWorkerSet", "A leader and its workers per instance (v1alpha1): size, patchLeaderTemplate, patchWorkerTemplate."},
	{"RoleSpec", "minReadySeconds", "How long a pod has to be ready until it counts."},
	{"RoleSpec", "name", "Unique in the group; part of the names of its pods."},
	{"RoleSpec", "podManagementPolicy", "Parallel or OrderedReady, within a role that is not coordinated."},
	{"RoleSpec", "replicas", "How many instances are wanted."},
	{"RoleSpec", "restartPolicy", "When a pod ends (v1alpha1; in v1alpha2 part of the pattern): None, RecreateRoleInstanceOnPodRestart, RecreateRBGOnPodRestart."},
	{"RoleSpec", "restartPolicyConfig", "The same with pauses: type, baseDelaySeconds, maxDelaySeconds."},
	{"RoleSpec", "rolloutStrategy", "rollingUpdate with type, maxUnavailable, maxSurge, partition, paused and inPlaceUpdateStrategy."},
	{"RoleSpec", "scalingAdapter", "enable makes a RoleBasedGroupScalingAdapter, whose number wins over replicas; labels are its labels."},
	{"RoleSpec", "servicePorts", "Ports of the headless service and of the discovery file."},
	{"RoleSpec", "standalonePattern", "One pod per instance: template, or templateRef with a patch."},
	{"RoleSpec", "template", "What a pod looks like (v1alpha1)."},
	{"RoleSpec", "templatePatch", "What differs from the template of templateRef (v1alpha1)."},
	{"RoleSpec", "templateRef", "The name of an entry of roleTemplates (v1alpha1)."},
	{"ScaleSpec", "replicas", "How many are wanted."},
	{"Secret", "", "Data that not everybody may read."},
	{"Service", "", "A stable address for a set of pods."},
	{"Topology", "", "Levels of the network, from large domains to small, each named by a node label."},
	{"Topology", "spec", "The levels."},
	{"Topology", "status", "Filled by the controller."},
	{"TopologyConstraint", "preferredTopologyLevel", "Level at which one domain would be good."},
	{"TopologyConstraint", "requiredTopologyLevel", "Level at which everything must be in one domain."},
	{"TopologyConstraint", "topology", "The Topology whose levels are meant; inherited when absent."},
	{"TopologyLevel", "alias", "Another name by which constraints may call the level."},
	{"TopologyLevel", "nodeLabel", "Nodes with the same value of this label are in the same domain."},
	{"TopologySpec", "levels", "From the largest domain to the smallest."},
};
/* clang-format on */

const char *schema_words(const char *type, const char *field, size_t field_length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct words *row = &words[i];
		if (strcmp(row->type, type) == 0 && strlen(row->field) == field_length &&
		    memcmp(row->field, field ? field : "", field_length) == 0)
			return row->text;
	}
	return "";
}

const char *schema_words_below(const char *type, const char *field, size_t field_length, size_t *at, const char **path)
{
	for (; *at < sizeof(words) / sizeof(words[0]); (*at)++) {
		const struct words *row = &words[*at];
		if (strcmp(row->type, type) != 0 || strncmp(row->field, field, field_length) != 0 ||
		    !strchr(".[", row->field[field_length]) || !row->field[field_length])
			continue;
		(*at)++;
		*path = row->field;
		return row->text;
	}
	return NULL;
}
