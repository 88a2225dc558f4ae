/* What kubectl explain says about types and fields: the ones people ask for. */
#include "serve/schema.h"

#include <string.h>

struct words {
	const char *type, *field; /* field "": the type itself */
	const char *text;
};

/* clang-format off */
static const struct words words[] = {
	{"ClusterTopology", "", "The layers of the network from small to large, for groups that deploy by layer."},
	{"ClusterTopologySpec", "layers", "Layers from small (host) to large, each with the node label that names a domain."},
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
	{"PodGroupSpec", "minMember", "Pods that must be placed together when the group has no subgroups."},
	{"PodGroupSpec", "minSubGroup", "How many direct subgroups must be placed; all of them when absent."},
	{"PodGroupSpec", "preemptibility", "preemptible, non-preemptible or semi-preemptible (the minimum is protected, the surplus is not)."},
	{"PodGroupSpec", "priorityClassName", "PriorityClass of the group."},
	{"PodGroupSpec", "queue", "The Queue whose share the group uses."},
	{"PodGroupSpec", "stalenessGracePeriod", "How long a group that fell below its minimum may keep running."},
	{"PodGroupSpec", "subGroups", "Leaves hold pods (minMember), others hold subgroups (minSubGroup)."},
	{"PodGroupSpec", "topologyConstraint", "Where the whole group must or should be together."},
	{"PodGroupSubGroup", "minMember", "Pods of this leaf that must be placed together; 0 makes it elastic."},
	{"PodGroupSubGroup", "name", "A DNS label; pods join by the label kai.scheduler/subgroup-name."},
	{"PodGroupSubGroup", "parent", "The subgroup this one is in; none when absent."},
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
	{"QueueResources", "gpu", "Number of GPUs."},
	{"QueueShare", "limit", "At most this much; -1 is no limit."},
	{"QueueShare", "overQuotaWeight", "Share of what others do not use, relative to sibling queues."},
	{"QueueShare", "quota", "Guaranteed; -1 is no bound."},
	{"QueueSpec", "parentQueue", "The queue this one shares from."},
	{"QueueSpec", "priority", "Higher ones are served first."},
	{"QueueSpec", "resources", "Shares by resource."},
	{"RoleBasedGroup", "", "A service of several roles (such as prefill and decode) that is deployed and updated in proportion."},
	{"RoleBasedGroupSpec", "coordination", "How roles advance together: segments, deploy steps, skew."},
	{"RoleBasedGroupSpec", "roles", "The roles with their replicas, templates and dependencies."},
	{"ScaleSpec", "replicas", "How many are wanted."},
	{"Secret", "", "Data that not everybody may read."},
	{"Service", "", "A stable address for a set of pods."},
	{"Topology", "", "Levels of the network, from large domains to small, each named by a node label."},
	{"TopologyConstraint", "preferredTopologyLevel", "Level at which one domain would be good."},
	{"TopologyConstraint", "requiredTopologyLevel", "Level at which everything must be in one domain."},
	{"TopologyConstraint", "topology", "The Topology whose levels are meant; inherited when absent."},
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
