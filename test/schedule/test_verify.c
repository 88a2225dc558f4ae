/* The check of placements notices when a rule is broken, and says which: each row is a gang that is placed, then one pod is moved,
 * taken away or put beside it, as no search would, and the check must object. A row per rule.
 *
 *   nodes    "n1 rack=a pool=x cpu=4 gpu=2 pods=9 taint=k cordoned notready limit=1; n2 ..."
 *   pods     "g p0 cpu=1 {...}; q p1 ..."   PodGroup and pod; {...} is merged into the spec, <...> are labels
 *   broken   "p0>n2" the pod stands there instead, "p0>" it is away */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strings.h"
#include "schedule/plan.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *title;
	const char *nodes, *group, *pods, *objects;
	const char *broken, *says;
};

#define NODES "n1 rack=a cpu=4; n2 rack=b cpu=4"
#define CLAIM(name, volume, mode)                                                                                      \
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name ", namespace: default, annotations: "   \
	"{pv.kubernetes.io/bind-completed: x}}, spec: {volumeName: " volume ", accessModes: [" mode "]}}\n---\n"
#define DISK(name, more)                                                                                               \
	"{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: {storage: 1Gi}, csi: "  \
	"{driver: d, volumeHandle: " name "}" more "}, status: {phase: Bound}}\n---\n"
#define LOCAL(name, nodes)                                                                                             \
	"{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name                                              \
	"}, spec: {storageClassName: local, capacity: "                                                                \
	"{storage: 1Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, " \
	"values: [" nodes "]}]}]}}}, status: {phase: Available}}\n---\n"
#define OPEN(name)                                                                                                     \
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name ", namespace: default}, spec: "         \
	"{storageClassName: local, resources: {requests: {storage: 1Gi}}}}\n---\n"
#define CLASS                                                                                                          \
	"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: "                   \
	"kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}\n---\n"
#define USES(claim) "{volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}]}"
#define NEAR(kind, key)                                                                                                \
	"{affinity: {" kind                                                                                            \
	": {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: x}}, topologyKey: " key \
	"}]}}}"

static const struct row rows[] = {
	{"cpu", "n1 cpu=4; n2 cpu=1", "minMember: 1", "g p0 cpu=2", "", "p0>n2", "n2 is over-committed in cpu"},
	{"memory", "n1 cpu=4 memory=4; n2 cpu=4 memory=1", "minMember: 1", "g p0 memory=2", "", "p0>n2",
         "n2 is over-committed in memory"},
	{"devices", "n1 cpu=4 nvidia.com/gpu=8; n2 cpu=4", "minMember: 1", "g p0 nvidia.com/gpu=8", "", "p0>n2",
         "n2 is over-committed in nvidia.com/gpu"},
	{"pods of a node", "n1 cpu=4; n2 cpu=4 pods=0", "minMember: 1", "g p0 cpu=1", "", "p0>n2",
         "n2 is over-committed in pods"},
	{"host port", NODES, "minMember: 2",
         "g p0 cpu=1 {containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]}; "
         "g p1 cpu=1 {containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]}",
         "", "p1>n1", "n1 is over-committed in hostPort/"},
	{"node selector", NODES, "minMember: 1", "g p0 cpu=1 {nodeSelector: {rack: a}}", "", "p0>n2", "node selector"},
	{"node affinity", NODES, "minMember: 1",
         "g p0 cpu=1 {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
         "[{matchExpressions: [{key: rack, operator: NotIn, values: [b]}]}]}}}}",
         "", "p0>n2", "node affinity"},
	{"taint", "n1 cpu=4; n2 cpu=4 taint=k", "minMember: 1", "g p0 cpu=1", "", "p0>n2", "taints"},
	{"cordoned node", "n1 cpu=4; n2 cpu=4 cordoned", "minMember: 1", "g p0 cpu=1", "", "p0>n2", "taints"},
	{"node that is not ready", "n1 cpu=4; n2 cpu=4 notready", "minMember: 1", "g p0 cpu=1", "", "p0>n2",
         "readiness"},
	{"node pool", "n1 cpu=4; n2 cpu=4 kai.scheduler/node-pool=x", "minMember: 1", "g p0 cpu=1", "", "p0>n2",
         "node pool"},
	{"worker label", "n1 cpu=4 node-role.kubernetes.io/cpu-worker=x; n2 cpu=4", "minMember: 1", "g p0 cpu=1",
         "{apiVersion: kai.scheduler/v1, kind: SchedulingShard, metadata: {name: s}, spec: {args: "
         "{restrict-node-scheduling: 'true'}}}\n---\n",
         "p0>n2", "worker label"},
	{"pod affinity", NODES, "minMember: 2", "g p0 cpu=1 <a: x>; g p1 cpu=1 " NEAR("podAffinity", "rack"), "",
         "p1>n2", "p1 on node n2 breaks a rule: pod affinity"},
	{"pod affinity to itself, with another of its kind elsewhere", NODES, "minMember: 2",
         "g p0 cpu=1 <a: x> " NEAR("podAffinity", "rack") "; g p1 cpu=1 <a: x> " NEAR("podAffinity", "rack"), "",
         "p1>n2", "breaks a rule: pod affinity"},
	{"pod anti-affinity", NODES, "minMember: 2",
         "g p0 cpu=1 <a: x> " NEAR("podAntiAffinity", "rack") "; g p1 cpu=1 <a: x> " NEAR("podAntiAffinity", "rack"),
         "", "p1>n1", "breaks a rule: pod anti-affinity"},
	{"pod anti-affinity of a pod that runs", NODES, "minMember: 1",
         "q p1 cpu=1 node=n2 " NEAR("podAntiAffinity", "rack") "; g p0 cpu=1 <a: x>", "", "p0>n2",
         "pod anti-affinity of another pod"},
	{"topology spread", NODES, "minMember: 2",
         "g p0 cpu=1 <a: x> {topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: "
         "DoNotSchedule, "
         "labelSelector: {matchLabels: {a: x}}}]}; "
         "g p1 cpu=1 <a: x> {topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: "
         "DoNotSchedule, "
         "labelSelector: {matchLabels: {a: x}}}]}",
         "", "p1>n1", "topology spread"},
	{"required level of the group", NODES,
         "minMember: 2, topologyConstraint: {topology: t, requiredTopologyLevel: rack}", "g p0 cpu=1; g p1 cpu=1", "",
         "p1>n2", "members of g are not in one rack"},
	{"required level of a subgroup, such as a segment", NODES,
         "subGroups: [{name: s, minMember: 2, topologyConstraint: {topology: t, requiredTopologyLevel: rack}}, {name: "
         "u, "
         "minMember: 0}]",
         "g p0 cpu=1 <kai.scheduler/subgroup-name: s>; g p1 cpu=1 <kai.scheduler/subgroup-name: s>", "", "p1>n2",
         "members of s are not in one rack"},
	{"minMember", NODES, "minMember: 2", "g p0 cpu=1; g p1 cpu=1", "", "p1>", "g has 1 of 2 pods (minMember)"},
	{"minSubGroup", NODES, "minSubGroup: 2, subGroups: [{name: s, minMember: 1}, {name: u, minMember: 1}]",
         "g p0 cpu=1 <kai.scheduler/subgroup-name: s>; g p1 cpu=1 <kai.scheduler/subgroup-name: u>", "", "p1>",
         "g has 1 of 2 subgroups (minSubGroup)"},
	{"volume that is bound elsewhere", NODES, "minMember: 1", "g p0 cpu=1 " USES("c"),
         CLAIM("c", "v", "ReadWriteOnce") DISK("v", ", nodeAffinity: {required: {nodeSelectorTerms: "
                                                    "[{matchExpressions: [{key: rack, operator: In, values: "
                                                    "[a]}]}]}}"),
         "p0>n2", "reach of volumes"},
	{"zone of a volume", "n1 cpu=4 topology.kubernetes.io/zone=a; n2 cpu=4 topology.kubernetes.io/zone=b",
         "minMember: 1", "g p0 cpu=1 " USES("c"),
         CLAIM("c", "v", "ReadWriteOnce") "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, labels: "
                                          "{topology.kubernetes.io/zone: a}}, spec: {capacity: {storage: 1Gi}}}",
         "p0>n2", "reach of volumes"},
	{"local volume for a claim that waits", NODES, "minMember: 1", "g p0 cpu=1 " USES("c"),
         CLASS LOCAL("v", "a") OPEN("c"), "p0>n2", "n2 is over-committed in volumes/local"},
	{"two claims and one volume that both nodes reach", "n1 rack=a cpu=4; n2 rack=b cpu=4; n3 rack=c cpu=4",
         "minMember: 2", "g p0 cpu=1 " USES("c") "; g p1 cpu=1 " USES("d"),
         CLASS LOCAL("v", "a, b") LOCAL("w", "c") OPEN("c") OPEN("d"), "p1>n1", "no volume is left for a claim"},
	{"claim for one pod", NODES, "minMember: 1", "g p0 cpu=1 " USES("c") "; q p1 cpu=1 " USES("c"),
         CLAIM("c", "v", "ReadWriteOncePod") DISK("v", ""), "p1>n2", "ReadWriteOncePod"},
	{"volumes that a node can attach", "n1 cpu=4 limit=1; n2 cpu=4 limit=0", "minMember: 1",
         "g p0 cpu=1 " USES("c"), CLAIM("c", "v", "ReadWriteOnce") DISK("v", ""), "p0>n2",
         "n2 is over-committed in volumes/attached:d"},
	{"a place that a volume has which is not detached", "n1 cpu=4 limit=1; n2 cpu=4 limit=1", "minMember: 1",
         "g p0 cpu=1 " USES("c"),
         CLAIM("c", "v", "ReadWriteOnce") DISK("v", "") DISK("w", "") "{apiVersion: storage.k8s.io/v1, kind: "
                                                                      "VolumeAttachment, metadata: {name: w}, spec: "
                                                                      "{attacher: d, nodeName: n2, source: "
                                                                      "{persistentVolumeName: w}}}\n---\n",
         "p0>n2", "n2 is over-committed in volumes/attached:d"},
	{"a volume that several pods attach", "n1 cpu=4 limit=1; n2 cpu=4 limit=0", "minMember: 2",
         "g p0 cpu=1 " USES("c") "; g p1 cpu=1 " USES("c"), CLAIM("c", "v", "ReadWriteMany") DISK("v", ""), "p1>n2",
         "n2 is over-committed in volumes/attached:d"},
};

/* ---- objects ---- */

static char *next_part(char **text, const char *by)
{
	char *part = strsep(text, by);
	while (part && *part == ' ')
		part++;
	return part;
}

static void put_node(struct buffer *text, char *words)
{
	const char *name = strsep(&words, " "), *limit = NULL;
	struct buffer labels = {0}, amounts = {0}, more = {0}, status = {0};
	bool has_pods = false;
	for (char *word; (word = strsep(&words, " "));) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = 0;
		if (strcmp(word, "cordoned") == 0)
			buffer_puts(&more, "unschedulable: true, ");
		else if (strcmp(word, "notready") == 0)
			buffer_puts(&status, ", conditions: [{type: Ready, status: 'False'}]");
		else if (strcmp(word, "taint") == 0)
			buffer_printf(&more, "taints: [{key: %s, effect: NoSchedule}], ", value);
		else if (strcmp(word, "limit") == 0)
			limit = value;
		else if (strcmp(word, "rack") == 0 || strchr(word, '/') != strstr(word, "/gpu"))
			buffer_printf(&labels, ", %s: %s", word, value);
		else
			buffer_printf(&amounts, ", %s: %s", word, value);
		has_pods |= strcmp(word, "pods") == 0;
	}
	buffer_printf(text,
	              "{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %s%s}}, "
	              "spec: {%s}, "
	              "status: {allocatable: {%s%s}%s}}\n---\n",
	              name, name, labels.length ? labels.text : "", more.length ? more.text : "",
	              has_pods ? "x: 0" : "pods: 9", amounts.length ? amounts.text : "",
	              status.length ? status.text : "");
	if (limit)
		buffer_printf(text,
		              "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: %s}, spec: {drivers: "
		              "[{name: d, "
		              "nodeID: n, allocatable: {count: %s}}]}}\n---\n",
		              name, limit);
	buffer_free(&labels);
	buffer_free(&amounts);
	buffer_free(&more);
	buffer_free(&status);
}

static void put_pod(struct buffer *text, char *words)
{
	char *spec = strchr(words, '{'), *labels = strchr(words, '<');
	const char *rest = ", containers: [{name: c, image: i, resources: {requests: {%s}}}]";
	struct buffer amounts = {0}, place = {0};
	if (labels) {
		*strchr(labels, '>') = 0;
		*labels++ = 0;
	}
	if (spec) {
		spec[strlen(spec) - 1] = 0;
		*spec++ = 0;
	}
	const char *group = strsep(&words, " "), *name = strsep(&words, " ");
	for (char *word; (word = strsep(&words, " "));) {
		char *value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = 0;
		if (strcmp(word, "node") == 0)
			buffer_printf(&place, ", nodeName: %s", value);
		else
			buffer_printf(&amounts, "%s%s: %s", amounts.length ? ", " : "", word, value);
	}
	buffer_printf(text,
	              "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels: {%s}, annotations: "
	              "{pod-group-name: %s}}, spec: {schedulerName: platoon%s",
	              name, labels ? labels : "", group, place.length ? place.text : "");
	if (!spec || !strstr(spec, "containers:")) {
		struct buffer containers = {0};
		buffer_printf(&containers, rest, amounts.text);
		buffer_puts(text, containers.text);
		buffer_free(&containers);
	}
	buffer_printf(text, "%s%s}}\n---\n", spec ? ", " : "", spec ? spec : "");
	buffer_free(&amounts);
	buffer_free(&place);
}

static struct snapshot *place_gang(const struct row *row, struct manifests *manifests, struct problems *problems)
{
	struct buffer text = {0};
	char *nodes = strdup(row->nodes), *pods = strdup(row->pods), *at = nodes;
	for (char *node; (node = next_part(&at, ";"));)
		put_node(&text, node);
	buffer_printf(
		&text,
		"{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: "
		"rack}]}}\n---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, "
		"namespace: "
		"default}, spec: {%s}}\n---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: "
		"q, "
		"namespace: default}, spec: {minMember: 1}}\n---\n%s\n---\n",
		row->group, row->objects);
	at = pods;
	for (char *pod; (pod = next_part(&at, ";"));)
		put_pod(&text, pod);
	manifests_init(manifests);
	manifests_parse(manifests, text.text, text.length, row->title, problems);
	assert_int_equal(problems->errors, 0);
	struct snapshot *snapshot = snapshot_create(manifests, NULL);
	static const enum cycle_action actions[] = {ACTION_ALLOCATE};
	plan_run(snapshot, actions, 1);
	buffer_free(&text);
	free(nodes);
	free(pods);
	return snapshot;
}

/* ---- breaking ---- */

static int find_group(const struct snapshot *snapshot, const char *name)
{
	for (size_t g = 0; g < snapshot->cycle.group_count; g++)
		if (strcmp(snapshot->groups[g].name, name) == 0)
			return (int)g;
	fail_msg("there is no group %s", name);
	return -1;
}

static void move_pod(struct snapshot *snapshot, const char *what)
{
	struct cluster *cluster = snapshot->cycle.cluster;
	size_t length = strcspn(what, ">");
	const char *to = what + length + 1;
	for (size_t g = 0; g < snapshot->cycle.group_count; g++) {
		struct gang *gang = &snapshot->cycle.groups[g].gang;
		for (size_t p = 0; p < gang->pod_count; p++) {
			struct gang_pod *pod = &gang->pods[p];
			if (strlen(pod->name) != length || strncmp(pod->name, what, length) != 0)
				continue;
			if (pod->state == MEMBER_RUNNING)
				cluster_vacate(cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
			pod->state = *to ? MEMBER_RUNNING : MEMBER_WAITING;
			pod->node = *to ? cluster_find_node(cluster, to) : -1;
			if (*to)
				cluster_occupy(cluster, pod->pod_class, pod->node, OCCUPY_RUNNING);
			return;
		}
	}
	fail_msg("there is no pod for %s", what);
}

static const char *verify(struct snapshot *snapshot, struct arena *arena)
{
	const struct gang *gang = &snapshot->cycle.groups[find_group(snapshot, "g")].gang;
	struct placement placement = {.outcome = PLACE_PLACED,
	                              .choices = arena_array(arena, struct place_choice, gang->pod_count)};
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_RUNNING)
			placement.choices[placement.choice_count++] =
				(struct place_choice){.pod = (int)p, .node = gang->pods[p].node};
	return engine_verify_placement(snapshot->cycle.cluster, gang, &placement, arena);
}

static void each_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct manifests manifests;
		struct problems problems = {.arena = arena_create()};
		struct snapshot *snapshot = place_gang(&rows[i], &manifests, &problems);
		if (snapshot->cycle.groups[find_group(snapshot, "g")].state != GROUP_PLACED)
			fail_msg("%s: not placed", rows[i].title);
		const char *before = verify(snapshot, problems.arena);
		if (before)
			fail_msg("%s: objected to what the search found: %s", rows[i].title, before);
		move_pod(snapshot, rows[i].broken);
		const char *after = verify(snapshot, problems.arena);
		if (!after || !strstr(after, rows[i].says))
			fail_msg("%s: said \"%s\", not \"%s\"", rows[i].title, after ? after : "nothing", rows[i].says);
		snapshot_destroy(snapshot);
		manifests_free(&manifests);
		arena_destroy(problems.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_rule)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
