/* platoon-bench-groups: RoleBasedGroups on a whole embedded cluster in virtual time. How long it takes until all are
 * ready, how much memory that holds, and how long one reconcile takes when there are few groups and when there are many.
 *
 * Ends with 0 when every group became ready; times are reported, never judged by the exit status. */
#include "stage.h"

#include "rbg/controller.h"
#include "cluster/world.h"
#include "api/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { PODS_PER_GROUP = 100, PODS_PER_NODE = 100, MOST_TURNS = 100000 };

struct groups_bench {
	struct clock_virtual clock;
	struct store *store;
	struct world *world;
	int groups;
};

/* Time of the processor: the machine may be busy with other things. */
static double now_seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void write_json(struct groups_bench *bench, struct store_request request, const char *group, const char *version,
                       const char *resource, const char *body)
{
	struct arena *arena = arena_create();
	struct error error = {0};
	struct doc *doc = doc_parse_json(body, strlen(body), &error);
	struct store_result result = {.arena = arena};
	request.api = store_api_find(bench->store, group, version, resource);
	request.body = doc_root(doc);
	if (store_write(bench->store, &request, &result) < 0)
		fprintf(stderr, "%s\n", result.error.message);
	store_result_clear(&result);
	doc_destroy(doc);
	arena_destroy(arena);
}

static void create(struct groups_bench *bench, const char *group, const char *version, const char *resource,
                   const char *namespace_, const char *body)
{
	struct store_request request = {.verb = STORE_CREATE, .namespace_ = namespace_};
	write_json(bench, request, group, version, resource, body);
}

static void open_bench(struct groups_bench *bench, int groups)
{
	char body[2048];
	*bench = (struct groups_bench){.groups = groups};
	clock_virtual_init(&bench->clock, 1767225600 * CLOCK_SECOND);
	struct error error = {0};
	bench->store = store_open(&(struct store_options){.clock = &bench->clock.source, .event_ttl = 60}, &error);
	for (int i = 0; i < groups * PODS_PER_GROUP / PODS_PER_NODE; i++) {
		snprintf(body, sizeof(body),
		         "{\"metadata\":{\"name\":\"n%d\"},\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"pods\":"
		         "\"110\"},"
		         "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
		         i, PODS_PER_NODE);
		create(bench, "", "v1", "nodes", "", body);
	}
	for (int i = 0; i < groups; i++) {
		static const char role[] =
			"{\"name\":\"%s\",\"replicas\":50,\"standalonePattern\":{\"template\":{\"spec\":{"
			"\"containers\":[{"
			"\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}";
		char prefill[512], decode[512];
		snprintf(prefill, sizeof(prefill), role, "prefill");
		snprintf(decode, sizeof(decode), role, "decode");
		snprintf(body, sizeof(body),
		         "{\"metadata\":{\"name\":\"g%d\"},\"spec\":{\"roles\":[%s,%s],\"coordination\":[{\"name\":"
		         "\"pd\","
		         "\"strategy\":{\"segmentPlacement\":{\"segmentSize\":{\"prefill\":25,\"decode\":25}}}}]}}",
		         i, prefill, decode);
		create(bench, "workloads.x-k8s.io", "v1alpha2", "rolebasedgroups", "default", body);
	}
	store_commit(bench->store, NULL);
	bench->world = world_create(&(struct world_options){
		.store = bench->store,
		.clock = &bench->clock.source,
		.kubelet = {.start_seconds = 1, .ready_seconds = 1, .stop_seconds = 1},
	});
}

static int count_ready(struct groups_bench *bench)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_error error = {0};
	struct store_list_request request = {
		.api = store_api_find(bench->store, "workloads.x-k8s.io", "v1alpha2", "rolebasedgroups"),
	};
	int ready = 0;
	store_list(bench->store, &request, &list, arena, &error);
	for (size_t i = 0; i < list.count; i++)
		ready +=
			strcmp(val_str(val_path(list.items[i]->root, "status", "readyPods", NULL), ""), "100/100") == 0;
	store_list_clear(&list);
	arena_destroy(arena);
	return ready;
}

/* Until all are ready or nothing moves any more. Seconds of processor time. */
static double run_until_ready(struct groups_bench *bench)
{
	double start = now_seconds();
	for (int turn = 0; turn < MOST_TURNS; turn++) {
		int wait = world_step(bench->world);
		bool pending = store_collect_garbage(bench->store, 10000) || store_pending(bench->store);
		store_commit(bench->store, NULL);
		if (pending || wait == 0)
			continue;
		if (count_ready(bench) == bench->groups)
			break;
		clock_virtual_advance(&bench->clock, wait < 0 ? CLOCK_SECOND : wait * CLOCK_SECOND / 1000);
	}
	return now_seconds() - start;
}

/* Somebody edits one pod of each group. */
static void touch_all(struct groups_bench *bench)
{
	char name[32];
	for (int i = 0; i < bench->groups; i++) {
		snprintf(name, sizeof(name), "g%d-decode-7", i);
		struct store_request request = {.verb = STORE_PATCH,
		                                .patch = STORE_PATCH_MERGE,
		                                .namespace_ = "default",
		                                .name = name};
		write_json(bench, request, "", "v1", "pods", "{\"metadata\":{\"annotations\":{\"touched\":\"\"}}}");
	}
	store_commit(bench->store, NULL);
}

static double run_controller(struct groups_bench *bench, struct rbg_controller *controller)
{
	double start = now_seconds();
	while (rbg_controller_step(controller) == 0)
		store_commit(bench->store, NULL);
	return (now_seconds() - start) / bench->groups;
}

struct cost { /* seconds per group */
	double first, again;
};

/* A controller that was just started lists all objects and reconciles every group once; later it reconciles groups of
 * which something changes. Both times it finds nothing to do. */
static struct cost reconcile_all(struct groups_bench *bench)
{
	struct rbg_controller *controller = rbg_controller_create(
		&(struct rbg_controller_options){.store = bench->store, .clock = &bench->clock.source});
	struct cost cost = {.first = run_controller(bench, controller)};
	touch_all(bench);
	cost.again = run_controller(bench, controller);
	rbg_controller_destroy(controller);
	return cost;
}

static bool measure(int groups)
{
	struct groups_bench bench;
	struct rusage usage;
	char what[64];
	snprintf(what, sizeof(what), "%d groups", groups);
	bench_stage(what);
	open_bench(&bench, groups);
	double seconds = run_until_ready(&bench);
	int ready = count_ready(&bench);
	getrusage(RUSAGE_SELF, &usage);
	struct cost cost = reconcile_all(&bench);
	bench_stage("");
	printf("%6d groups %8d pods: %d ready after %.1f s of work and %.0f s of virtual time; %.0f us per reconcile, "
	       "%.0f "
	       "us per group after a restart; peak %ld MiB, %.1f KiB per pod\n",
	       groups, groups * PODS_PER_GROUP, ready, seconds,
	       (double)(bench.clock.now - 1767225600 * CLOCK_SECOND) / (double)CLOCK_SECOND, cost.again * 1e6,
	       cost.first * 1e6, usage.ru_maxrss / 1024, (double)usage.ru_maxrss / (groups * PODS_PER_GROUP));
	fflush(stdout);
	world_destroy(bench.world);
	store_close(bench.store);
	return ready == groups;
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	/* A number measures that many only, for a profiler. */
	int only = argc > 1 && !quick ? (int)strtol(argv[1], NULL, 10) : 0;
	if (only > 0)
		return measure(only) ? 0 : 1;
	bool fine = measure(quick ? 2 : 100);
	fine &= measure(quick ? 8 : 300);
	if (!quick)
		fine &= measure(1000);
	return fine ? 0 : 1;
}
