/* Gangs with claims against an exhaustive solver that knows nothing of the engine: small random clusters with local and shared
 * volumes, selectors, sizes, classes that make volumes, racks that a gang must stay in, claims for one pod at a time, and nodes
 * that can attach only so many volumes beside those of pods that run there. The verdicts must agree, and every placement must be one the solver accepts, with volumes that can be chosen for it.
 *
 *   platoon-property-volumes [FIRST [LAST]]   instances by number */
#include "base/random.h"
#include "base/strings.h"
#include "schedule/plan.h"
#include "schedule/volume_choice.h"
#include "schedule/volume_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 4, MOST_VOLUMES = 6, MOST_PODS = 4, MOST_CLAIMS = 5, RACKS = 2, MOST_RESIDENTS = 3, DISKS = 4 };
enum { INSTANCES = 20000 };

struct volume {
	int size, tier, class_;
	unsigned nodes; /* bit per node; 0: none */
	bool everywhere, many, available;
};

struct claim {
	int size, tier, class_; /* tier -1: any */
	bool many;
	bool single; /* for one pod at a time */
	int disk;    /* it is bound to a volume of the driver that is this disk, -1: it is not bound */
};

struct instance {
	int nodes, volumes, claims, pods;
	int cpu[MOST_NODES], rack[MOST_NODES];
	struct volume volume[MOST_VOLUMES];
	struct claim claim[MOST_CLAIMS];
	unsigned wants[MOST_PODS]; /* bit per claim */
	int made_rack;             /* where class 1 makes volumes: a rack, RACKS: everywhere */
	bool makes;                /* whether it makes any */
	bool in_rack;              /* the gang stays in one rack */
	/* What nodes can attach of the driver. */
	bool limited, needed;          /* some node says a limit; the driver must be there */
	int limit[MOST_NODES];         /* -1: none, -2: the driver is not there */
	unsigned attached[MOST_NODES]; /* claims whose volumes are attached, by bit */
	int residents;
	int home[MOST_RESIDENTS];
	unsigned uses[MOST_RESIDENTS]; /* bit per claim, of those that are bound */
};

static struct random source;

static int pick(int below)
{
	return (int)(random_next(&source) % (uint64_t)below);
}

static bool chance(int percent)
{
	return pick(100) < percent;
}

static void draw_volume(const struct instance *instance, struct volume *volume)
{
	*volume = (struct volume){.size = 1 + pick(3),
	                          .tier = pick(2),
	                          .class_ = chance(20),
	                          .everywhere = chance(10),
	                          .many = chance(20),
	                          .available = chance(90)};
	volume->nodes = 1u << pick(instance->nodes);
	if (chance(25))
		volume->nodes |= 1u << pick(instance->nodes);
}

/* Volumes that are there already, who uses them, and what nodes can attach. */
static void draw_driver(struct instance *instance)
{
	unsigned bound = 0;
	for (int c = 0; c < instance->claims; c++) {
		struct claim *claim = &instance->claim[c];
		claim->disk = chance(30) ? pick(DISKS) : -1;
		bound |= claim->disk >= 0 ? 1u << c : 0;
	}
	instance->limited = chance(75);
	instance->needed = chance(20);
	for (int n = 0; n < instance->nodes; n++) {
		instance->limit[n] = instance->limited ? pick(6) - 2 : -1;
		for (int c = 0; c < instance->claims; c++)
			instance->attached[n] |= (bound >> c & 1) && chance(15) ? 1u << c : 0;
	}
	instance->residents = bound ? pick(MOST_RESIDENTS + 1) : 0;
	for (int r = 0; r < instance->residents; r++) {
		instance->home[r] = pick(instance->nodes);
		instance->uses[r] = (unsigned)pick(1 << instance->claims) & bound;
	}
}

static void draw(struct instance *instance, uint64_t seed)
{
	source.state = seed;
	*instance = (struct instance){.nodes = 1 + pick(MOST_NODES),
	                              .volumes = pick(MOST_VOLUMES + 1),
	                              .claims = 1 + pick(MOST_CLAIMS),
	                              .pods = 1 + pick(MOST_PODS),
	                              .made_rack = pick(RACKS + 1),
	                              .makes = chance(70),
	                              .in_rack = chance(50)};
	for (int n = 0; n < instance->nodes; n++) {
		instance->cpu[n] = 1 + pick(3);
		instance->rack[n] = pick(RACKS);
	}
	bool plain = chance(40); /* nothing that counting does not say */
	for (int v = 0; v < instance->volumes; v++) {
		draw_volume(instance, &instance->volume[v]);
		if (plain) {
			instance->volume[v].everywhere = instance->volume[v].many = false;
			instance->volume[v].nodes &= ~instance->volume[v].nodes + 1;
		}
	}
	for (int c = 0; c < instance->claims; c++)
		instance->claim[c] = (struct claim){.size = 1 + pick(3),
		                                    .tier = !plain && chance(25) ? pick(2) : -1,
		                                    .class_ = chance(25),
		                                    .many = !plain && chance(20),
		                                    .disk = -1};
	for (int p = 0; p < instance->pods; p++) {
		if (p < instance->claims)
			instance->wants[p] |= chance(85) ? 1u << p : 0;
		if (chance(25))
			instance->wants[p] |= 1u << pick(instance->claims);
	}
	for (int c = 0; c < instance->claims; c++)
		instance->claim[c].single = !instance->claim[c].many && chance(15);
	if (chance(60))
		draw_driver(instance);
	else
		for (int n = 0; n < instance->nodes; n++)
			instance->limit[n] = -1;
}

/* ---- the solver ---- */

struct trial {
	const struct instance *instance;
	int node[MOST_PODS];
	bool taken[MOST_VOLUMES];
};

static bool reaches(const struct instance *instance, const struct volume *volume, int node)
{
	(void)instance;
	return volume->everywhere || (volume->nodes >> node & 1);
}

static bool can_be_made(const struct trial *trial, int number)
{
	const struct instance *instance = trial->instance;
	const struct claim *claim = &instance->claim[number];
	int first = -1;
	if (claim->class_ != 1 || !instance->makes)
		return false;
	for (int p = 0; p < instance->pods; p++) {
		if (!(instance->wants[p] >> number & 1))
			continue;
		int node = trial->node[p];
		if (instance->made_rack < RACKS && instance->rack[node] != instance->made_rack)
			return false;
		if (!claim->many && first >= 0 && first != node)
			return false;
		first = node;
	}
	return true;
}

static bool assign(struct trial *trial, int number)
{
	const struct instance *instance = trial->instance;
	if (number == instance->claims)
		return true;
	const struct claim *claim = &instance->claim[number];
	bool used = false;
	for (int p = 0; p < instance->pods; p++)
		used |= instance->wants[p] >> number & 1;
	if (!used || claim->disk >= 0 || can_be_made(trial, number))
		return assign(trial, number + 1);
	for (int v = 0; v < instance->volumes; v++) {
		const struct volume *volume = &instance->volume[v];
		bool fits = !trial->taken[v] && volume->available && volume->class_ == claim->class_ &&
		            volume->size >= claim->size && (claim->tier < 0 || claim->tier == volume->tier) &&
		            (!claim->many || volume->many);
		for (int p = 0; p < instance->pods && fits; p++)
			fits = !(instance->wants[p] >> number & 1) || reaches(instance, volume, trial->node[p]);
		if (!fits)
			continue;
		trial->taken[v] = true;
		if (assign(trial, number + 1))
			return true;
		trial->taken[v] = false;
	}
	return false;
}

/* Claims for one pod have one, wherever others are. */
static bool singles_hold(const struct instance *instance)
{
	for (int c = 0; c < instance->claims; c++) {
		int users = 0, ours = 0;
		for (int p = 0; p < instance->pods; p++)
			ours += (int)(instance->wants[p] >> c & 1);
		for (int r = 0; r < instance->residents; r++)
			users += (int)(instance->uses[r] >> c & 1);
		if (instance->claim[c].single && ours && ours + users > 1)
			return false;
	}
	return true;
}

/* What the driver calls the volume of a claim, as a bit: a disk, or one of its own that is still to come; 0 for other drivers. */
static unsigned disk_of(const struct instance *instance, int claim)
{
	if (instance->claim[claim].disk >= 0)
		return 1u << instance->claim[claim].disk;
	return instance->claim[claim].class_ == 1 && instance->makes ? 1u << (DISKS + claim) : 0;
}

static unsigned disks_of(const struct instance *instance, unsigned claims)
{
	unsigned disks = 0;
	for (int c = 0; c < instance->claims; c++)
		disks |= claims >> c & 1 ? disk_of(instance, c) : 0;
	return disks;
}

static bool attaches(const struct trial *trial, int node)
{
	const struct instance *instance = trial->instance;
	unsigned there = 0, come = 0;
	for (int r = 0; r < instance->residents; r++)
		there |= instance->home[r] == node ? disks_of(instance, instance->uses[r]) : 0;
	for (int p = 0; p < instance->pods; p++)
		come |= trial->node[p] == node ? disks_of(instance, instance->wants[p]) : 0;
	if (come && instance->limit[node] == -2 && instance->needed)
		return false;
	if (!(come & ~there) || instance->limit[node] < 0)
		return true;
	int left_over = 0;
	for (int c = 0; c < instance->claims; c++)
		left_over += (instance->attached[node] >> c & 1) && !(there & disk_of(instance, c));
	return __builtin_popcount(there | come) + left_over <= instance->limit[node];
}

static bool accepts(struct trial *trial)
{
	const struct instance *instance = trial->instance;
	int used[MOST_NODES] = {0};
	if (!singles_hold(instance))
		return false;
	for (int n = 0; n < instance->nodes; n++)
		if (!attaches(trial, n))
			return false;
	for (int r = 0; r < instance->residents; r++)
		used[instance->home[r]]++;
	for (int p = 0; p < instance->pods; p++) {
		if (++used[trial->node[p]] > instance->cpu[trial->node[p]])
			return false;
		if (instance->in_rack && instance->rack[trial->node[p]] != instance->rack[trial->node[0]])
			return false;
	}
	memset(trial->taken, 0, sizeof(trial->taken));
	return assign(trial, 0);
}

static bool solvable(struct trial *trial, int pod)
{
	if (pod == trial->instance->pods)
		return accepts(trial);
	for (trial->node[pod] = 0; trial->node[pod] < trial->instance->nodes; trial->node[pod]++)
		if (solvable(trial, pod + 1))
			return true;
	return false;
}

/* ---- the same as objects ---- */

static const char *const classes[] = {"local", "made"};

static void put_nodes(struct buffer *text, const struct instance *instance)
{
	for (int n = 0; n < instance->nodes; n++)
		buffer_printf(
			text,
			"---\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\",\"labels\":{"
			"\"kubernetes.io/hostname\":\"n%d\",\"rack\":\"r%d\"}},\"status\":{\"allocatable\":{\"cpu\":%d,"
			"\"pods\":9}}}\n",
			n, n, instance->rack[n], instance->cpu[n]);
	buffer_puts(
		text,
		"---\n{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"t\"},"
		"\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"}]}}\n");
	buffer_printf(text,
	              "---\n{\"apiVersion\":\"scheduling.run.ai/"
	              "v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"g\","
	              "\"namespace\":\"default\"},\"spec\":{\"minMember\":%d%s}}\n",
	              instance->pods,
	              instance->in_rack
	                      ? ",\"topologyConstraint\":{\"topology\":\"t\",\"requiredTopologyLevel\":\"rack\"}"
	                      : "");
}

static void put_volumes(struct buffer *text, const struct instance *instance)
{
	for (int v = 0; v < instance->volumes; v++) {
		const struct volume *volume = &instance->volume[v];
		buffer_printf(
			text,
			"---\n{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"v%d\","
			"\"labels\":{\"tier\":\"t%d\"}},\"status\":{\"phase\":\"%s\"},\"spec\":{\"storageClassName\":"
			"\"%s\","
			"\"capacity\":{\"storage\":\"%d\"},\"accessModes\":[\"ReadWriteOnce\",\"ReadWriteOncePod\"%s]",
			v, volume->tier, volume->available ? "Available" : "Released", classes[volume->class_],
			volume->size, volume->many ? ",\"ReadWriteMany\"" : "");
		if (!volume->everywhere) {
			buffer_puts(text,
			            ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{"
			            "\"key\":\"kubernetes.io/hostname\",\"operator\":\"In\",\"values\":[");
			const char *comma = "";
			for (int n = 0; n < instance->nodes; n++)
				if (volume->nodes >> n & 1) {
					buffer_printf(text, "%s\"n%d\"", comma, n);
					comma = ",";
				}
			buffer_puts(text, "]}]}]}}");
		}
		buffer_puts(text, "}}\n");
	}
	for (int c = 0; c < 2; c++) {
		bool makes = c == 1 && instance->makes;
		buffer_printf(text,
		              "---\n{\"apiVersion\":\"storage.k8s.io/"
		              "v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"%s\"},"
		              "\"provisioner\":\"%s\",\"volumeBindingMode\":\"WaitForFirstConsumer\"",
		              classes[c], makes ? "maker" : "kubernetes.io/no-provisioner");
		if (makes && instance->made_rack < RACKS)
			buffer_printf(
				text,
				",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"rack\",\"values\":["
				"\"r%d\"]}]}]",
				instance->made_rack);
		buffer_puts(text, "}\n");
	}
}

static void put_driver(struct buffer *text, const struct instance *instance)
{
	buffer_printf(
		text,
		"---\n{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSIDriver\",\"metadata\":{\"name\":\"maker\"},"
		"\"spec\":{\"preventPodSchedulingIfMissing\":%s}}\n",
		instance->needed ? "true" : "false");
	for (int n = 0; n < instance->nodes; n++) {
		buffer_printf(text,
		              "---\n{\"apiVersion\":\"storage.k8s.io/"
		              "v1\",\"kind\":\"CSINode\",\"metadata\":{\"name\":\"n%d\"},"
		              "\"spec\":{\"drivers\":[",
		              n);
		if (instance->limit[n] >= 0)
			buffer_printf(text, "{\"name\":\"maker\",\"nodeID\":\"n\",\"allocatable\":{\"count\":%d}}",
			              instance->limit[n]);
		else if (instance->limit[n] == -1)
			buffer_puts(text, "{\"name\":\"maker\",\"nodeID\":\"n\"}");
		buffer_puts(text, "]}}\n");
		for (int c = 0; c < instance->claims; c++)
			if (instance->attached[n] >> c & 1)
				buffer_printf(
					text,
					"---\n{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"VolumeAttachment\","
					"\"metadata\":{\"name\":\"a%d-%d\"},\"spec\":{\"attacher\":\"maker\","
					"\"nodeName\":"
					"\"n%d\",\"source\":{\"persistentVolumeName\":\"b%d\"}}}\n",
					n, c, n, c);
	}
	for (int c = 0; c < instance->claims; c++)
		if (instance->claim[c].disk >= 0)
			buffer_printf(
				text,
				"---\n{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"b%"
				"d\"},"
				"\"status\":{\"phase\":\"Bound\"},\"spec\":{\"capacity\":{\"storage\":\"9\"},\"csi\":{"
				"\"driver\":\"maker\",\"volumeHandle\":\"h%d\"},\"claimRef\":{\"name\":\"c%d\","
				"\"namespace\":\"default\"}}}\n",
				c, instance->claim[c].disk, c);
}

static void put_claims(struct buffer *text, const struct instance *instance)
{
	for (int c = 0; c < instance->claims; c++) {
		const struct claim *claim = &instance->claim[c];
		buffer_printf(
			text,
			"---\n{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"c%d\","
			"\"namespace\":\"default\"%s},\"spec\":{\"storageClassName\":\"%s\",\"accessModes\":[\"%s\"],"
			"\"resources\":{\"requests\":{\"storage\":\"%d\"}}",
			c, claim->disk >= 0 ? ",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}" : "",
			classes[claim->class_],
			claim->many     ? "ReadWriteMany"
			: claim->single ? "ReadWriteOncePod"
					: "ReadWriteOnce",
			claim->size);
		if (claim->disk >= 0)
			buffer_printf(text, ",\"volumeName\":\"b%d\"", c);
		if (claim->tier >= 0)
			buffer_printf(text, ",\"selector\":{\"matchLabels\":{\"tier\":\"t%d\"}}", claim->tier);
		buffer_puts(text, "}}\n");
	}
}

static void put_pod(struct buffer *text, const struct instance *instance, const char *name, int node, unsigned claims)
{
	buffer_printf(text,
	              "---\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
	              "\"default\"%s},\"spec\":{",
	              name, node < 0 ? ",\"annotations\":{\"pod-group-name\":\"g\"}" : "");
	if (node >= 0)
		buffer_printf(text, "\"nodeName\":\"n%d\",", node);
	buffer_printf(text,
	              "\"schedulerName\":\"%s\",\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{"
	              "\"requests\":{\"cpu\":1}}}],\"volumes\":[",
	              node < 0 ? "platoon" : "other");
	const char *comma = "";
	for (int c = 0; c < instance->claims; c++)
		if (claims >> c & 1) {
			buffer_printf(text, "%s{\"name\":\"v%d\",\"persistentVolumeClaim\":{\"claimName\":\"c%d\"}}",
			              comma, c, c);
			comma = ",";
		}
	buffer_puts(text, "]}}\n");
}

static void put_pods(struct buffer *text, const struct instance *instance)
{
	char name[16];
	for (int p = 0; p < instance->pods; p++) {
		snprintf(name, sizeof(name), "p%d", p);
		put_pod(text, instance, name, -1, instance->wants[p]);
	}
	for (int r = 0; r < instance->residents; r++) {
		snprintf(name, sizeof(name), "r%d", r);
		put_pod(text, instance, name, instance->home[r], instance->uses[r]);
	}
}

/* ---- one instance ---- */

/* What is wrong with a placement, NULL when nothing is. */
static const char *check_placement(const struct snapshot *snapshot, struct trial *trial, struct arena *arena)
{
	const struct gang *gang = &snapshot->cycle.groups[0].gang;
	struct volume_pod pods[MOST_PODS];
	for (size_t i = 0; i < gang->pod_count; i++) {
		const struct gang_pod *pod = &gang->pods[i];
		if (pod->node < 0)
			return "a pod has no node";
		const char *node = cluster_node_name(snapshot->cycle.cluster, pod->node);
		trial->node[pod->name[1] - '0'] = node[1] - '0';
		pods[i] = (struct volume_pod){.pod = snapshot->pods[snapshot->groups[0].members[i]].spec,
		                              .node = node,
		                              .labels = cluster_node_labels(snapshot->cycle.cluster, pod->node)};
	}
	if (!accepts(trial))
		return "the placement is not valid";
	const char *problem = engine_verify(snapshot->cycle.cluster, gang, arena);
	return problem ? problem : volume_choices_find(snapshot->book, pods, gang->pod_count, arena).problem;
}

static bool try_instance(uint64_t seed, size_t *placed)
{
	struct instance instance;
	struct buffer text = {0};
	struct manifests manifests;
	struct problems problems = {.arena = arena_create()};
	draw(&instance, seed);
	put_nodes(&text, &instance);
	put_volumes(&text, &instance);
	put_driver(&text, &instance);
	put_claims(&text, &instance);
	put_pods(&text, &instance);
	manifests_init(&manifests);
	manifests_parse(&manifests, text.text, text.length, "instance", &problems);
	struct snapshot *snapshot = snapshot_create(&manifests, NULL);
	static const enum cycle_action actions[] = {ACTION_ALLOCATE};
	plan_run(snapshot, actions, 1);
	struct trial trial = {.instance = &instance};
	bool possible = solvable(&trial, 0);
	enum group_state state = snapshot->cycle.groups[0].state;
	const char *problem = NULL;
	if (state != GROUP_PLACED && state != GROUP_WAITING && state != GROUP_NEVER)
		problem = "neither placed nor refused";
	else if ((state == GROUP_PLACED) != possible)
		problem = possible ? "refused, but there is a placement" : "placed, but there is no placement";
	else if (possible)
		problem = check_placement(snapshot, &trial, problems.arena);
	if (problem)
		printf("instance %llu: %s (state %d)\n%s\n", (unsigned long long)seed, problem, (int)state, text.text);
	*placed += possible;
	snapshot_destroy(snapshot);
	manifests_free(&manifests);
	arena_destroy(problems.arena);
	buffer_free(&text);
	return problem == NULL;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? first : INSTANCES;
	size_t placed = 0, failed = 0, passed = 0;
	for (uint64_t seed = first; seed <= last && failed < 5; seed++)
		*(try_instance(seed, &placed) ? &passed : &failed) += 1;
	printf("%zu of %zu placed\n%zu passed, %zu failed\n", placed, passed + failed, passed, failed);
	return failed > 0;
}
