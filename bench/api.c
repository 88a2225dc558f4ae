/* The API under load: how fast pods are created and bound and listed while many watch, beside what SQLite and a socket
 * do with the same bytes. The server is a process of its own, over plain HTTP, with a file that is synced.
 *
 *   platoon-bench-api [--quick]
 *
 * The times are for reading; the counts are checked, and wrong ones fail. */
#include "api_client.h"
#include "stage.h"

#include "base/arena.h"
#include "serve/api/admission.h"
#include "serve/api/serve.h"

#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITERS 16
#define LISTS 5

struct load {
	size_t pods, nodes, watches, wide; /* wide: those that watch all pods, the others one node each */
};

static struct load load;
static char folder[64], file[96];

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* ---- the server ---- */

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

static int serve_until_stopped(int pipe)
{
	struct error error = {0};
	struct admission *admission = admission_create();
	admission_be_strict(admission); /* as `platoon up` */
	struct store_options options = {.path = file, .seed = 1, .admit = admission_check, .context = admission};
	struct store *store = store_open(&options, &error);
	struct serve *serve = NULL;
	signal(SIGTERM, on_signal);
	if (store) {
		admission_use(admission, store);
		serve = serve_create(&(struct serve_options){.store = store, .plain = true, .open = true}, &error);
	}
	uint16_t port = serve ? serve_port(serve) : 0;
	if (!serve)
		fprintf(stderr, "%s\n", error.text);
	if (write(pipe, &port, sizeof(port)) != (ssize_t)sizeof(port))
		stopped = 1;
	while (serve && !stopped && serve_run_once(serve, 1000, &error) == 0)
		;
	serve_destroy(serve);
	admission_destroy(admission);
	store_close(store);
	return serve ? 0 : 1;
}

static double memory_kib(pid_t pid)
{
	char path[64], line[256];
	double kib = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtod(line + 6, NULL);
	if (status)
		fclose(status);
	return kib;
}

/* ---- requests ---- */

static void make_pod(size_t i, const char **method, struct buffer *path, struct buffer *body)
{
	*method = "POST";
	buffer_puts(path, "/api/v1/namespaces/default/pods");
	buffer_printf(
		body,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"train-%05zu\",\"labels\":{"
		"\"app\":\"train\",\"job\":\"job-%zu\",\"index\":\"%zu\"},\"annotations\":{\"pod-group-name\":"
		"\"job-%zu\"}},\"spec\":{\"schedulerName\":\"platoon\",\"containers\":[{\"name\":\"main\",\"image\":"
		"\"trainer:1\",\"command\":[\"train\",\"--rank\",\"%zu\"],\"env\":[{\"name\":\"RANK\",\"value\":"
		"\"%zu\"},{\"name\":\"WORLD\",\"value\":\"64\"}],\"resources\":{\"requests\":{\"cpu\":\"8\","
		"\"memory\":\"64Gi\",\"nvidia.com/gpu\":\"8\"},\"limits\":{\"nvidia.com/gpu\":\"8\"}}}],"
		"\"tolerations\":[{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}]}}",
		i, i / 64, i % 64, i / 64, i % 64, i % 64);
}

static void make_binding(size_t i, const char **method, struct buffer *path, struct buffer *body)
{
	*method = "POST";
	buffer_printf(path, "/api/v1/namespaces/default/pods/train-%05zu/binding", i);
	buffer_printf(body,
	              "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"train-%05zu\"},\"target\":{"
	              "\"kind\":\"Node\",\"name\":\"node-%zu\"}}",
	              i, i % load.nodes);
}

/* ---- watches ---- */

static bool open_watches(struct client *watches, uint16_t port)
{
	for (size_t i = 0; i < load.watches; i++) {
		char path[128] = "/api/v1/pods?watch=1&resourceVersion=0&timeoutSeconds=3600";
		size_t length = strlen(path);
		if (i >= load.wide) /* like the kubelet of a node, which has none yet */
			snprintf(path + length, sizeof(path) - length, "&fieldSelector=spec.nodeName%%3Dnode-%zu",
			         i - load.wide);
		if (client_open(&watches[i], port) < 0 || !client_send(&watches[i], "GET", path, NULL))
			return false;
	}
	return true;
}

/* How many events a watch is to have seen: at first all pods or none, then one for each pod that is bound. */
static size_t expected(size_t watch, bool bound)
{
	size_t node = watch - load.wide;
	if (watch < load.wide)
		return load.pods * (bound ? 2 : 1);
	return bound && node < load.nodes ? (load.pods - node - 1) / load.nodes + 1 : 0;
}

/* Reads until every watch has what it should have, and no more. */
static bool read_watches(struct client *watches, bool bound)
{
	struct pollfd *ready = base_calloc(load.watches, sizeof(*ready));
	size_t behind = 0;
	for (size_t i = 0; i < load.watches; i++) {
		ready[i] = (struct pollfd){.fd = watches[i].fd, .events = POLLIN};
		behind += !watches[i].head || watches[i].events < expected(i, bound);
	}
	bool good = true;
	while (good && behind && poll(ready, load.watches, 60000) > 0) {
		for (size_t i = 0; i < load.watches; i++) {
			if (!ready[i].revents)
				continue;
			bool was = !watches[i].head || watches[i].events < expected(i, bound);
			client_count(&watches[i]);
			bool is = !watches[i].head || watches[i].events < expected(i, bound);
			behind -= was && !is;
			good &= !watches[i].lost && watches[i].events <= expected(i, bound);
		}
	}
	free(ready);
	return good && behind == 0;
}

/* ---- what it is compared with ---- */

/* Rows per second that SQLite takes as we use it: one table, a log, each transaction synced. */
static double sqlite_rate(size_t rows, size_t per_transaction, size_t bytes)
{
	char path[96];
	sqlite3 *sqlite = NULL;
	sqlite3_stmt *add = NULL;
	char *blob = base_calloc(1, bytes);
	memset(blob, 'x', bytes);
	snprintf(path, sizeof(path), "%s/alone.db", folder);
	bool good = sqlite3_open(path, &sqlite) == SQLITE_OK &&
	            sqlite3_exec(sqlite,
	                         "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
	                         "CREATE TABLE log(version INTEGER PRIMARY KEY, name TEXT, value BLOB)",
	                         NULL, NULL, NULL) == SQLITE_OK &&
	            sqlite3_prepare_v2(sqlite, "INSERT INTO log(name, value) VALUES('train',?)", -1, &add, NULL) ==
	                    SQLITE_OK;
	double started = now_ms();
	for (size_t i = 0; good && i < rows; i++) {
		if (i % per_transaction == 0)
			good &= sqlite3_exec(sqlite, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
		sqlite3_bind_blob(add, 1, blob, (int)bytes, SQLITE_STATIC);
		good &= sqlite3_step(add) == SQLITE_DONE;
		sqlite3_reset(add);
		if (i % per_transaction == per_transaction - 1 || i + 1 == rows)
			good &= sqlite3_exec(sqlite, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
	}
	double took = now_ms() - started;
	sqlite3_finalize(add);
	sqlite3_close(sqlite);
	free(blob);
	unlink(path);
	return good && took > 0 ? (double)rows / took * 1e3 : 0;
}

/* Milliseconds to read as many bytes from a process that does nothing but write them. */
static double raw_read_ms(size_t bytes)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return 0;
	char *text = base_calloc(1, bytes);
	memset(text, 'x', bytes); /* before the fork: the pages are there */
	double started = now_ms();
	pid_t pid = fork();
	if (pid == 0) {
		for (size_t sent = 0; sent < bytes;) {
			ssize_t count = write(ends[0], text + sent, bytes - sent);
			if (count <= 0)
				_exit(1);
			sent += (size_t)count;
		}
		_exit(0);
	}
	close(ends[0]);
	for (ssize_t count = 1; count > 0;)
		count = read(ends[1], text, bytes < (1 << 18) ? bytes : (1 << 18));
	double took = now_ms() - started;
	close(ends[1]);
	free(text);
	waitpid(pid, NULL, 0);
	return took;
}

/* ---- the run ---- */

static double time_list(struct client *client, const char *path, size_t items, size_t *bytes)
{
	double best = 0;
	for (int i = 0; i < LISTS; i++) {
		const char *body = "";
		double started = now_ms();
		client_send(client, "GET", path, NULL);
		int status = client_answer(client, &body, bytes);
		double took = now_ms() - started;
		size_t found = 0;
		for (const char *at = body; status == 200 && (at = strstr(at, "\"resourceVersion\":\"")); at++)
			found++;
		if (status != 200 || found != items + 1) { /* each item and the list have one */
			fprintf(stderr, "a list with status %d and %zu versions instead of %zu\n", status, found,
			        items + 1);
			return -1;
		}
		best = i == 0 || took < best ? took : best;
	}
	return best;
}

static bool measure(pid_t pid, struct client *writers, struct client *watches, uint16_t port)
{
	size_t bytes, page_bytes, page = load.pods < 500 ? load.pods : 500;
	bench_stage("writing to SQLite alone");
	double alone[3] = {sqlite_rate(load.pods, WRITERS, 800)}; /* disks have moods: before, between and after */
	bench_stage("creating pods");
	double empty = memory_kib(pid), started = now_ms();
	if (!client_flood(writers, WRITERS, load.pods, 201, make_pod))
		return false;
	double created = now_ms() - started, full = memory_kib(pid);
	alone[1] = sqlite_rate(load.pods, WRITERS, 800);
	bench_stage("listing pods");
	double list = time_list(&writers[0], "/api/v1/pods", load.pods, &bytes);
	double first = time_list(&writers[0], "/api/v1/pods?limit=500", page, &page_bytes);
	if (list < 0 || first < 0)
		return false;
	started = now_ms();
	if (!open_watches(watches, port) || !read_watches(watches, false))
		return false;
	bench_stage("binding pods");
	double opened = now_ms() - started, watched = memory_kib(pid);
	started = now_ms();
	if (!client_flood(writers, WRITERS, load.pods, 201, make_binding))
		return false;
	double bound = now_ms() - started;
	if (!read_watches(watches, true))
		return false;
	double told = now_ms() - started - bound, end = memory_kib(pid);
	double row = (double)bytes / (double)load.pods, raw = raw_read_ms(bytes);
	alone[2] = sqlite_rate(load.pods, WRITERS, (size_t)row);
	size_t events = 0;
	for (size_t i = 0; i < load.watches; i++)
		events += expected(i, true) - expected(i, false);
	bench_stage("");
	printf("API: %zu pods of %.0f bytes, %d writers, %zu watches (%zu of all pods, the others of one node)\n",
	       load.pods, row, WRITERS, load.watches, load.wide);
	printf("  create      %9.0f /s\n", (double)load.pods / created * 1e3);
	printf("  bind        %9.0f /s, %zu events to the watches, the last %.0f ms after the last answer\n",
	       (double)load.pods / bound * 1e3, events, told);
	printf("  SQLite      %9.0f rows/s alone before, %.0f between and %.0f after, %d rows to a transaction; %.0f "
	       "with 1\n",
	       alone[0], alone[1], alone[2], WRITERS, sqlite_rate(load.pods / 10, 1, (size_t)row));
	printf("  list        %9.1f ms for %.1f MB; a raw read of as many bytes %.1f ms; a page of %zu %.2f ms\n", list,
	       (double)bytes / 1e6, raw, page, first);
	printf("  open        %9.1f ms for all watches with what they begin with\n", opened);
	printf("  memory      %9.1f KiB per pod created, %.1f bound with its history; %.1f KiB per watch; %.0f MiB at "
	       "the end\n",
	       (full - empty) / (double)load.pods, (end - watched + full - empty) / (double)load.pods,
	       (watched - full) / (double)load.watches, end / 1024);
	return true;
}

static bool run(void)
{
	struct client writers[WRITERS], *watches = base_calloc(load.watches, sizeof(*watches));
	uint16_t port = 0;
	pid_t pid = client_start_server(serve_until_stopped, &port);
	bool good = pid > 0 && port;
	for (size_t i = 0; i < load.watches; i++)
		watches[i].fd = -1;
	for (size_t i = 0; i < WRITERS; i++)
		good &= client_open(&writers[i], port) == 0;
	good = good && measure(pid, writers, watches, port);
	for (size_t i = 0; i < WRITERS; i++)
		client_close(&writers[i]);
	for (size_t i = 0; i < load.watches; i++)
		client_close(&watches[i]);
	free(watches);
	int status = 1;
	if (pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, &status, 0);
	}
	return good && status == 0;
}

int main(int argc, char **argv)
{
	bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
	if (argc > 1 && !quick) {
		fprintf(stderr, "usage: platoon-bench-api [--quick]\n");
		return 2;
	}
	load = quick ? (struct load){.pods = 300, .nodes = 40, .watches = 50, .wide = 5}
	             : (struct load){.pods = 10000, .nodes = 990, .watches = 1000, .wide = 10};
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	snprintf(folder, sizeof(folder), "bench-api-XXXXXX");
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(file, sizeof(file), "%s/store.db", folder);
	bool good = run();
	static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s%s", file, tails[i]);
		unlink(path);
	}
	rmdir(folder);
	puts(good ? "every answer and event was counted" : "some answers or events are wrong or missing");
	return good ? 0 : 1;
}
