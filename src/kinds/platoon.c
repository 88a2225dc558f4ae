/* Kinds that Platoon brings along: those of gangs and queues, and those of RoleBasedGroups. */
#include "kinds/internal.h"

static const struct kind_column pod_group_columns[] = {
	COLUMN("Queue", "string", ".spec.queue"),
	COLUMN("Min", "integer", ".spec.minMember"),
	COLUMN("Phase", "string", ".status.phase"),
	WIDE("Priority", "string", ".spec.priorityClassName"),
	WIDE("Reason", "string", ".status.conditions[?(@.type==\"Scheduled\")].reason"),
	AGE,
	{0},
};

static const struct kind_column queue_columns[] = {
	COLUMN("Parent", "string", ".spec.parentQueue"),
	COLUMN("Priority", "integer", ".spec.priority"),
	AGE,
	{0},
};

static const struct kind_column shard_columns[] = {
	COLUMN("Pool", "string", ".spec.partitionLabelValue"),
	AGE,
	{0},
};

static const struct kind_column topology_columns[] = {
	COLUMN("Outermost", "string", ".spec.levels[0].nodeLabel"), /* a column shows one value, not a list */
	COLUMN("Innermost", "string", ".spec.levels[-1:].nodeLabel"),
	AGE,
	{0},
};

static const struct kind_column group_columns[] = {
	CONDITION("Ready", "Ready"),
	COLUMN("Pods", "string", ".status.readyPods"),
	COLUMN("Segments", "string", ".status.segments"),
	COLUMN("Updated", "string", ".status.updated"),
	WIDE("Reason", "string", ".status.conditions[?(@.type==\"Ready\")].reason"),
	WIDE("Message", "string", ".status.conditions[?(@.type==\"MinimumSegmentsAvailable\")].message"),
	AGE,
	{0},
};

static const struct kind_column policy_columns[] = {
	COLUMN("Target", "string", ".status.target"),
	CONDITION("Bound", "Bound"),
	AGE,
	{0},
};

static const struct kind_column cluster_topology_columns[] = {
	COLUMN("Levels", "string", ".status.currentTopologyLevel"),
	CONDITION("Valid", "Valid"),
	AGE,
	{0},
};

static const struct kind_column group_set_columns[] = {
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Replicas", "integer", ".status.replicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	COLUMN("Updated", "integer", ".status.updatedReplicas"),
	AGE,
	{0},
};

static const struct kind_column scaling_adapter_columns[] = {
	COLUMN("Phase", "string", ".status.phase"),
	COLUMN("Replicas", "integer", ".status.replicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	WIDE("Target", "string", ".spec.scaleTargetRef.name"),
	WIDE("Role", "string", ".spec.scaleTargetRef.role"),
	AGE,
	{0},
};

static const struct kind_column instance_set_columns[] = {
	COLUMN("Desired", "integer", ".spec.replicas"),
	COLUMN("Updated", "integer", ".status.updatedReplicas"),
	COLUMN("Updated_Ready", "integer", ".status.updatedReadyReplicas"),
	COLUMN("Ready", "integer", ".status.readyReplicas"),
	COLUMN("Total", "integer", ".status.replicas"),
	AGE,
	WIDE("Selector", "string", ".status.labelSelector"),
	{0},
};

static const struct kind_column instance_columns[] = {
	CONDITION("Ready", "RoleInstanceReady"),
	AGE,
	{0},
};

/* clang-format off */
const struct kind_row kinds_platoon[] = {
	{KINDS_KAI, {"v1alpha1"}, "topologies", "topology", "Topology",
		CUSTOM | CLUSTER | ROW_DECIDES | ROW_INSTALLED, .id = KIND_TOPOLOGY, .columns = topology_columns, .mirror = MIRROR_ALWAYS,
		.verbs = "get create"},
	{KINDS_KAI, {"v1"}, "schedulingshards", "schedulingshard", "SchedulingShard",
		CUSTOM | CLUSTER | ROW_DECIDES, .id = KIND_SHARD, .columns = shard_columns, .mirror = MIRROR_IF_SERVED},
	{KINDS_SCHEDULING, {"v2alpha2"}, "podgroups", "podgroup", "PodGroup",
		CUSTOM | ROW_DECIDES | ROW_INSTALLED, .id = KIND_POD_GROUP, .short_names = {"pg"}, .columns = pod_group_columns,
		.mirror = MIRROR_ALWAYS, .verbs = "get create patch delete", .rights = {{"status", "patch"}}},
	{KINDS_SCHEDULING, {"v2"}, "queues", "queue", "Queue",
		CUSTOM | CLUSTER | ROW_DECIDES | ROW_INSTALLED, .id = KIND_QUEUE, .columns = queue_columns, .mirror = MIRROR_ALWAYS,
		.verbs = "get create patch", .rights = {{"status", "patch"}}},
	{KINDS_RBG, {"v1alpha2", "v1alpha1"}, "clusterengineruntimeprofiles", "clusterengineruntimeprofile", "ClusterEngineRuntimeProfile",
		CUSTOM | CLUSTER | ROW_INSTALLED, .mirror = MIRROR_IF_SERVED},
	{KINDS_RBG, {"v1alpha1"}, "clustertopologies", "clustertopology", "ClusterTopology",
		CUSTOM | CLUSTER | ROW_INSTALLED, .id = KIND_CLUSTER_TOPOLOGY, .columns = cluster_topology_columns, .mirror = MIRROR_IF_SERVED,
		.verbs = "get patch", .rights = {{"status", "patch"}}, .simulator = SIMULATE_RBG},
	{KINDS_RBG, {"v1alpha2"}, "coordinatedpolicies", "coordinatedpolicy", "CoordinatedPolicy",
		CUSTOM | ROW_INSTALLED, .id = KIND_POLICY, .short_names = {"cpolicy"}, .columns = policy_columns,
		.mirror = MIRROR_IF_SERVED, .verbs = "get", .rights = {{"status", "patch"}}, .simulator = SIMULATE_RBG},
	{KINDS_RBG, {"v1alpha2", "v1alpha1"}, "rolebasedgroups", "rolebasedgroup", "RoleBasedGroup",
		CUSTOM | ROW_INSTALLED | ROW_OWNER, .id = KIND_RBG, .short_names = {"rbg"}, .columns = group_columns,
		.mirror = MIRROR_IF_SERVED, .verbs = "get create patch delete",
		.rights = {{"status", "patch"}, {"finalizers", "update"}}, .simulator = SIMULATE_RBG,
		.convert = convert_rbg},
	{KINDS_RBG, {"v1alpha2", "v1alpha1"}, "rolebasedgroupscalingadapters", "rolebasedgroupscalingadapter", "RoleBasedGroupScalingAdapter",
		CUSTOM_SCALED | ROW_INSTALLED, .short_names = {"rbgsa"}, .columns = scaling_adapter_columns,
		.mirror = MIRROR_IF_SERVED, .verbs = "get create delete", .rights = {{"status", "patch"}},
		.simulator = SIMULATE_RBG, .selector = ".status.selector"},
	{KINDS_RBG, {"v1alpha2", "v1alpha1"}, "rolebasedgroupsets", "rolebasedgroupset", "RoleBasedGroupSet",
		CUSTOM_SCALED | ROW_INSTALLED | ROW_OWNER, .id = KIND_RBG_SET, .short_names = {"rbgs"}, .columns = group_set_columns,
		.mirror = MIRROR_IF_SERVED, .verbs = "get",
		.rights = {{"status", "patch"}, {"finalizers", "update"}}, .simulator = SIMULATE_RBG,
		.convert = convert_rbg_set},
	{KINDS_RBG, {"v1alpha2"}, "roleinstances", "roleinstance", "RoleInstance",
		CUSTOM | ROW_INSTALLED | ROW_OWNER, .id = KIND_ROLE_INSTANCE, .short_names = {"rins"}, .columns = instance_columns,
		.mirror = MIRROR_IF_SERVED, .verbs = "get create patch delete",
		.rights = {{"status", "patch"}, {"finalizers", "update"}}, .simulator = SIMULATE_RBG},
	{KINDS_RBG, {"v1alpha2"}, "roleinstancesets", "roleinstanceset", "RoleInstanceSet",
		CUSTOM_SCALED | ROW_INSTALLED | ROW_OWNER, .id = KIND_ROLE_INSTANCE_SET, .short_names = {"ris"},
		.columns = instance_set_columns, .mirror = MIRROR_IF_SERVED, .verbs = "get create patch delete",
		.rights = {{"status", "patch"}, {"finalizers", "update"}}, .simulator = SIMULATE_RBG,
		.selector = ".status.labelSelector"},
};
/* clang-format on */

const size_t kinds_platoon_count = sizeof(kinds_platoon) / sizeof(*kinds_platoon);
