/* platoon-bench-volumes: what the volume claims of a gang add to its decision. The same gang in one rack of the same cluster, without
 * claims, with claims for local volumes, with claims for which volumes are made, where nodes attach only so many, and for volumes
 * that two nodes reach, which are matched.
 *
 * Ends with 0 when every gang was placed; times are reported, never judged by the exit status. */
#include "stage.h"
#include "times.h"

#include "schedule/plan.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, PER_RACK = 100, TARGET_PERCENT = 150 };

enum volumes { VOLUMES_NONE, VOLUMES_LOCAL, VOLUMES_MADE, VOLUMES_SHARED, VOLUMES };

static const char *const names[VOLUMES] = {"no claims", "local volumes", "volumes that are made",
                                           "volumes of two nodes"};

static void put_nodes(struct buffer *text, int nodes, enum volumes volumes)
{
	for (int n = 0; n < nodes; n++) {
		buffer_printf(
			text,
			"---\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\",\"labels\":{"
			"\"kubernetes.io/hostname\":\"n%d\",\"rack\":\"r%d\"}},\"status\":{\"allocatable\":{\"cpu\":8,"
			"\"pods\":110}}}\n",
			n, n, n / PER_RACK);
		for (int v = 0; (volumes == VOLUMES_LOCAL || volumes == VOLUMES_SHARED) && v < 4; v++)
			buffer_printf(text,
			              "---\n{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{"
			              "\"name\":\"v%d-%d\"},"
			              "\"status\":{\"phase\":\"Available\"},\"spec\":{\"storageClassName\":\"disks\","
			              "\"capacity\":{"
			              "\"storage\":\"%dGi\"},\"accessModes\":[\"ReadWriteOnce\"],\"nodeAffinity\":{"
			              "\"required\":{"
			              "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"kubernetes.io/"
			              "hostname\",\"operator\":"
			              "\"In\",\"values\":[\"n%d\",\"n%d\"]}]}]}}}}\n",
			              n, v, v + 1, n, volumes == VOLUMES_SHARED ? n ^ 1 : n);
		if (volumes == VOLUMES_MADE)
			buffer_printf(
				text,
				"---\n{\"apiVersion\":\"storage.k8s.io/"
				"v1\",\"kind\":\"CSINode\",\"metadata\":{\"name\":"
				"\"n%d\"},\"spec\":{\"drivers\":[{\"name\":\"disks.example.com\",\"nodeID\":\"n\","
				"\"allocatable\":{\"count\":4}}]}}\n",
				n);
	}
}

static void put_gang(struct buffer *text, int pods, enum volumes volumes)
{
	buffer_printf(
		text,
		"---\n{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{\"name\":\"t\"},"
		"\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"},{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}\n"
		"---\n{\"apiVersion\":\"storage.k8s.io/"
		"v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"disks\"},"
		"\"provisioner\":\"%s\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}\n"
		"---\n{\"apiVersion\":\"scheduling.run.ai/"
		"v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"g\","
		"\"namespace\":\"default\"},\"spec\":{\"minMember\":%d,\"topologyConstraint\":{\"topology\":\"t\","
		"\"requiredTopologyLevel\":\"rack\"}}}\n",
		volumes == VOLUMES_MADE ? "disks.example.com" : "kubernetes.io/no-provisioner", pods);
	for (int p = 0; p < pods; p++) {
		buffer_printf(
			text,
			"---\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%d\",\"namespace\":"
			"\"default\",\"annotations\":{\"pod-group-name\":\"g\"}},\"spec\":{\"schedulerName\":"
			"\"platoon\","
			"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":2}}}]",
			p);
		if (volumes != VOLUMES_NONE)
			buffer_printf(
				text,
				",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c%d\"}}]}}\n"
				"---\n{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
				"\"c%d\","
				"\"namespace\":\"default\"},\"spec\":{\"storageClassName\":\"disks\",\"accessModes\":["
				"\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}",
				p, p);
		buffer_puts(text, "}}\n");
	}
}

/* Microseconds of the processor: the machine may be busy with other things. */
static double now_us(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Microseconds of the decision, the median of several; below 0 when the gang was not placed. */
static double measure(int nodes, int pods, enum volumes volumes)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE};
	struct problems problems = {.arena = arena_create()};
	struct buffer text = {0};
	struct manifests manifests;
	double times[ROUNDS];
	bool placed = true;
	put_nodes(&text, nodes, volumes);
	put_gang(&text, pods, volumes);
	manifests_init(&manifests);
	manifests_parse(&manifests, text.text, text.length, "bench", &problems);
	for (int round = 0; round < ROUNDS; round++) {
		struct snapshot *snapshot = snapshot_create(&manifests, NULL);
		double start = now_us();
		plan_run(snapshot, actions, 1);
		times[round] = now_us() - start;
		placed &= snapshot->cycle.groups[0].state == GROUP_PLACED;
		snapshot_destroy(snapshot);
	}
	measure_sort(times, ROUNDS);
	manifests_free(&manifests);
	arena_destroy(problems.arena);
	buffer_free(&text);
	return placed ? times[ROUNDS / 2] : -1;
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	int nodes = quick ? 200 : 5000, pods = quick ? 20 : 200;
	double usual = 0;
	for (int v = 0; v < VOLUMES; v++) {
		bench_stage(names[v]);
		double took = measure(nodes, pods, (enum volumes)v);
		bench_stage("");
		if (took < 0) {
			printf("%d nodes, a gang of %d with %s: not placed\n", nodes, pods, names[v]);
			return 1;
		}
		if (v == VOLUMES_NONE)
			usual = took;
		printf("%5d nodes, a gang of %d, %-22s %8.0f us, %.2f times that without (target %.2f)%s\n", nodes,
		       pods, names[v], took, took / usual, TARGET_PERCENT / 100.0,
		       took * 100 > usual * TARGET_PERCENT && !quick ? ": MISSED" : "");
	}
	return 0;
}
