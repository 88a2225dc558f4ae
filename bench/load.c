/* platoon-bench-load: a whole embedded cluster under load, as `platoon up` runs it: API, controllers, scheduler and
 * simulated kubelets on one thread, with a file that is synced. Pods and Jobs are created over HTTP by another process.
 *
 *   platoon-bench-load [--quick]
 *
 * How many pods are bound per second from their creation on, how long a pod waits for its decision when all is quiet and
 * under that load, and what the cluster costs when nothing happens. Counts are checked and wrong ones fail; times are for
 * reading. */
#include "api_client.h"
#include "load_watch.h"
#include "stage.h"

#include "cli/up_objects.h"
#include "serve/http/http.h"
#include "serve/api/serve.h"
#include "cluster/nodes.h"
#include "cluster/world.h"
#include "cluster/world_admission.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 16, GANG = 16, REPLICAS = 100, MOST_SECONDS = 600 };

struct load {
	int zones, racks, nodes;           /* nodes: per rack */
	size_t single, jobs, idle, spaced; /* pods one by one; Jobs of 16; pods in all when idle; pods with pauses */
	int idle_seconds;
};

static struct load load = {5, 25, 40, 10000, 625, 50000, 50, 20};
static char folder[64], file[96];

/* ---- the cluster ---- */

struct cluster_process {
	struct store *store;
	struct serve *serve;
	struct world *world;
	struct load_watch *watch;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

/* What was seen since somebody asked for /seen/restart. */
static void answer_seen(void *context, struct http_request *request, struct http_response *response)
{
	struct cluster_process *process = context;
	struct buffer text = {0};
	if (text_ends_with(request->path, "/restart"))
		load_watch_restart(process->watch);
	load_watch_report(process->watch, &text);
	http_respond(response, 200, "text/plain", &text);
	buffer_free(&text);
}

static int seed(struct store *store, struct error *error)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct manifests nodes;
	struct buffer text = {0};
	manifests_init(&nodes);
	nodes_of_shape(&text, load.zones, load.racks, load.nodes, 8, false);
	int rc = manifests_parse(&nodes, text.text, text.length, "nodes", &problems);
	if (rc == 0)
		rc = up_seed(store, &nodes, error);
	if (rc == 0)
		rc = store_commit(store, error);
	buffer_free(&text);
	manifests_free(&nodes);
	arena_destroy(arena);
	return rc;
}

static int open_process(struct cluster_process *process, struct world_admission *admission, struct error *error)
{
	process->store = store_open(
		&(struct store_options){.path = file, .seed = 1, .admit = world_admission_check, .context = admission},
		error);
	if (!process->store)
		return -1;
	world_admission_use(admission, process->store);
	if (seed(process->store, error) < 0)
		return -1;
	process->serve =
		serve_create(&(struct serve_options){.store = process->store, .plain = true, .open = true}, error);
	process->watch = load_watch_open(process->store);
	if (!process->serve || !process->watch)
		return -1;
	process->world = world_create(&(struct world_options){
		.store = process->store,
		.kubelet = {.start_seconds = 1, .ready_seconds = 1, .stop_seconds = 1, .lost_seconds = 30},
	});
	serve_route(process->serve, "/seen", answer_seen, process);
	return 0;
}

static int run_cluster(int pipe)
{
	struct error error = {0};
	struct cluster_process process = {0};
	struct world_admission *admission =
		world_admission_create(&(struct world_admission_options){.claims = true, .strict = true});
	signal(SIGTERM, on_signal);
	bool open = open_process(&process, admission, &error) == 0;
	uint16_t port = open ? serve_port(process.serve) : 0;
	int wait = 0;
	if (!open)
		fprintf(stderr, "%s\n", error.text);
	if (write(pipe, &port, sizeof(port)) != (ssize_t)sizeof(port))
		stopped = 1;
	while (open && !stopped && serve_run_once(process.serve, wait < 0 || wait > 500 ? 500 : wait, &error) == 0) {
		load_watch_read(process.watch);
		wait = world_step(process.world);
	}
	world_destroy(process.world);
	load_watch_close(process.watch);
	serve_destroy(process.serve);
	world_admission_destroy(admission);
	store_close(process.store);
	return open ? 0 : 1;
}

/* ---- requests ---- */

static const char *const container = "\"containers\":[{\"name\":\"main\",\"image\":\"trainer:1\",\"resources\":{"
				     "\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]";

static size_t made; /* so that names are never used twice */

static void make_pod(size_t i, const char **method, struct buffer *path, struct buffer *body)
{
	*method = "POST";
	buffer_puts(path, "/api/v1/namespaces/default/pods");
	buffer_printf(body,
	              "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%zu\"},\"spec\":{"
	              "\"schedulerName\":\"platoon\",%s}}",
	              made + i, container);
}

static void make_job(size_t i, const char **method, struct buffer *path, struct buffer *body)
{
	*method = "POST";
	buffer_puts(path, "/apis/batch/v1/namespaces/default/jobs");
	buffer_printf(body,
	              "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"job-%zu\"},\"spec\":{"
	              "\"completions\":%d,\"parallelism\":%d,\"completionMode\":\"Indexed\",\"template\":{\"spec\":{"
	              "\"restartPolicy\":\"Never\",\"schedulerName\":\"platoon\",%s}}}}",
	              made + i, GANG, GANG, container);
}

static void make_deployment(size_t i, const char **method, struct buffer *path, struct buffer *body)
{
	*method = "POST";
	buffer_puts(path, "/apis/apps/v1/namespaces/default/deployments");
	buffer_printf(
		body,
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web-%zu\"},\"spec\":{"
		"\"replicas\":%d,\"selector\":{\"matchLabels\":{\"app\":\"web-%zu\"}},\"template\":{\"metadata\":{"
		"\"labels\":{\"app\":\"web-%zu\"}},\"spec\":{\"schedulerName\":\"platoon\",%s}}}}",
		made + i, REPLICAS, made + i, made + i, container);
}

static uint16_t port;

/* Connections that were idle for a while may be closed. */
static bool connect_again(struct client *clients)
{
	bool good = true;
	for (int i = 0; i < WRITERS && good; i++) {
		client_close(&clients[i]);
		clients[i] = (struct client){.fd = -1};
		good = client_open(&clients[i], port) == 0;
	}
	return good;
}

static bool flood(struct client *clients, size_t count, client_make *make)
{
	bool good = client_flood(clients, count < WRITERS ? count : WRITERS, count, 201, make);
	made += count;
	return good;
}

static struct load_seen ask(struct client *client, const char *path)
{
	const char *body;
	size_t length;
	struct load_seen seen = {0};
	if (client_send(client, "GET", path, NULL) && client_answer(client, &body, &length) == 200)
		load_seen_parse(body, &seen);
	else
		seen.broken = true;
	return seen;
}

/* Until so many pods are bound and, if wanted, run. False when that takes too long. */
static bool wait_for(struct client *client, size_t pods, bool running, struct load_seen *seen)
{
	for (int tries = 0; tries < MOST_SECONDS * 4; tries++) {
		*seen = ask(client, "/seen");
		if (seen->broken)
			return false;
		if (seen->bound >= pods && (!running || seen->running >= pods))
			return true;
		usleep(250000);
	}
	return false;
}

/* ---- measurements ---- */

static size_t total; /* pods that should exist */

static void print_waits(const char *name, const struct load_seen *seen, size_t pods)
{
	bench_stage("");
	printf("%-34s %8zu %10.0f %12.0f %10.1f %10.1f %10.1f\n", name, pods,
	       seen->seconds > 0 ? (double)pods / seen->seconds : 0, seen->busy > 0 ? (double)pods / seen->busy : 0,
	       seen->p50_ms, seen->p99_ms, seen->most_ms);
	fflush(stdout);
}

static bool measure_quiet(struct client *clients)
{
	struct load_seen seen = {0};
	bool good = true;
	bench_stage("one pod after the other");
	for (size_t i = 0; i < load.spaced && good; i++) {
		good = flood(clients, 1, make_pod);
		usleep(200000);
	}
	good = good && wait_for(clients, total += load.spaced, false, &seen);
	bench_stage("");
	printf("%-34s %8s %10s %12s %10s %10s %10s\n", "creation to committed binding", "pods", "bound/s",
	       "bound/core s", "p50 ms", "p99 ms", "most ms");
	seen.seconds = seen.busy = 0;
	print_waits("one pod every 200 ms", &seen, load.spaced);
	return good;
}

static bool measure_flood(struct client *clients, const char *name, size_t count, size_t pods, client_make *make)
{
	struct load_seen seen = {0};
	bench_stage(name);
	if (!connect_again(clients) || ask(clients, "/seen/restart").broken)
		return false;
	bool good = flood(clients, count, make) && wait_for(clients, total += pods, false, &seen);
	if (good)
		print_waits(name, &seen, pods);
	return good;
}

/* Until nobody writes any more. */
static bool wait_for_quiet(struct client *client, struct load_seen *seen)
{
	*seen = ask(client, "/seen");
	for (int tries = 0, still = 0; still < 3 && tries < MOST_SECONDS; tries++) {
		size_t version = seen->version;
		sleep(1);
		*seen = ask(client, "/seen");
		if (seen->broken)
			return false;
		still = seen->version == version ? still + 1 : 0;
	}
	return true;
}

static bool measure_idle(struct client *clients)
{
	struct load_seen before, after;
	size_t count = load.idle > total ? (load.idle - total + REPLICAS - 1) / REPLICAS : 0;
	if (!measure_flood(clients, "Deployments of 100, all at once", count, count * REPLICAS, make_deployment) ||
	    !wait_for(clients, total, true, &before) || !wait_for_quiet(clients, &before))
		return false;
	bench_stage("idle");
	sleep((unsigned)load.idle_seconds);
	after = ask(clients, "/seen");
	double wall = after.clock - before.clock;
	bench_stage("");
	printf("\nidle, %d nodes and %zu running pods: %.2f%% of one core over %.0f s, %.0f MiB resident, %zu writes\n",
	       load.zones * load.racks * load.nodes, after.running,
	       wall > 0 ? 100 * (after.cpu - before.cpu) / wall : 0, wall, after.resident_mib,
	       after.version - before.version);
	return !after.broken && after.running == total;
}

int main(int argc, char **argv)
{
	struct client clients[WRITERS] = {{0}};
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	if (argc > 1 && !quick) {
		fprintf(stderr, "usage: platoon-bench-load [--quick]\n");
		return 2;
	}
	if (quick)
		load = (struct load){1, 4, 5, 50, 4, 300, 3, 1};
	snprintf(folder, sizeof(folder), "bench-load-XXXXXX");
	if (!mkdtemp(folder)) {
		perror("mkdtemp");
		return 1;
	}
	snprintf(file, sizeof(file), "%s/store.db", folder);
	pid_t pid = client_start_server(run_cluster, &port);
	for (int i = 0; i < WRITERS; i++)
		clients[i].fd = -1;
	printf("embedded cluster of %d nodes, over HTTP, synced to disk\n", load.zones * load.racks * load.nodes);
	bool good = port && connect_again(clients) && measure_quiet(clients) &&
	            measure_flood(clients, "single pods, 16 clients", load.single, load.single, make_pod) &&
	            measure_flood(clients, "Jobs of 16 pods, 16 clients", load.jobs, load.jobs * GANG, make_job) &&
	            measure_idle(clients);
	for (int i = 0; i < WRITERS; i++)
		client_close(&clients[i]);
	if (pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
	static const char *const ends[] = {"", "-wal", "-shm"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s%s", file, ends[i]);
		unlink(path);
	}
	rmdir(folder);
	printf("%s\n", good ? "every pod was bound" : "something did not work");
	return good ? 0 : 1;
}
