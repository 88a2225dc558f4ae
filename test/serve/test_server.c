/* A server for end-to-end tests: a store in memory behind the API, and just enough of a kubelet that deleted pods go.
 *
 *   test_server DIRECTORY [--plain] [--open] [--file STORE] [--port N] [--slow-kubelet]
 *
 * Prints `ready URL` when it listens; ends properly at SIGTERM or when standard input closes. */
#include "base/vec.h"
#include "serve/api/admission.h"
#include "serve/api/serve.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

struct kubelet {
	struct store *store;
	struct store_watch *pods;
	bool slow; /* leaves terminating pods alone */
};

/* Pods that are on a node and were asked to go are gone at once. */
static void kubelet_turn(struct kubelet *kubelet)
{
	struct arena *arena = arena_create();
	struct store_event event;
	VEC(struct store_object *) doomed = {0};
	while (store_watch_next(kubelet->pods, &event, arena, NULL) == 1) {
		if (event.object && event.type != STORE_DELETED && !kubelet->slow &&
		    val_path(event.object->root, "metadata", "deletionTimestamp", NULL))
			vec_push(&doomed, store_object_retain(event.object));
	}
	for (size_t i = 0; i < doomed.count; i++) {
		struct store_result result = {.arena = arena};
		struct store_request request = {
			.verb = STORE_DELETE,
			.api = store_api_find(kubelet->store, "", "v1", "pods"),
			.namespace_ = doomed.items[i]->namespace_,
			.name = doomed.items[i]->name,
			.options = {.has_grace = true, .grace = 0, .uid = doomed.items[i]->uid},
		};
		store_write(kubelet->store, &request, &result);
		store_result_clear(&result);
		store_object_release(doomed.items[i]);
	}
	vec_free(&doomed);
	arena_destroy(arena);
}

static int run(struct serve *serve, struct kubelet *kubelet)
{
	struct error error;
	while (!stopped) {
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
		char byte;
		if (poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0)
			break;
		if (serve_run_once(serve, 100, &error)) {
			fprintf(stderr, "%s\n", error.text);
			return 1;
		}
		kubelet_turn(kubelet);
	}
	serve_drain(serve);
	for (int i = 0; i < 50 && !serve_idle(serve); i++)
		serve_run_once(serve, 20, &error);
	return 0;
}

static int with_store(struct store *store, const struct serve_options *options, bool slow)
{
	struct error error = {0};
	struct store_error refusal = {0};
	struct arena *arena = arena_create();
	struct store_watch_request request = {.api = store_api_find(store, "", "v1", "pods")};
	struct kubelet kubelet = {.store = store, .slow = slow};
	int status = 1;
	struct serve *serve = serve_create(options, &error);
	kubelet.pods = store_watch_open(store, &request, arena, &refusal);
	if (!serve || !kubelet.pods) {
		fprintf(stderr, "%s%s\n", error.text, refusal.message ? refusal.message : "");
	} else {
		printf("ready %s\n", serve_url(serve));
		fflush(stdout);
		status = run(serve, &kubelet);
		struct http_stats stats = serve_stats(serve);
		fprintf(stderr, "requests %llu, refused %llu, slow %llu, timeouts %llu, bad %llu\n",
		        (unsigned long long)stats.requests, (unsigned long long)stats.refused,
		        (unsigned long long)stats.slow_readers, (unsigned long long)stats.timeouts,
		        (unsigned long long)stats.bad_requests);
	}
	store_watch_close(kubelet.pods);
	serve_destroy(serve);
	arena_destroy(arena);
	return status;
}

int main(int argc, char **argv)
{
	struct serve_options options = {.version = "test"};
	struct store_options store_options = {.seed = 7};
	struct error error = {0};
	bool slow = false;
	if (argc < 2) {
		fprintf(stderr, "usage: test_server DIRECTORY [--plain] [--open] [--file STORE] [--port N]\n");
		return 2;
	}
	options.directory = argv[1];
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--plain") == 0)
			options.plain = true;
		else if (strcmp(argv[i], "--open") == 0)
			options.open = true;
		else if (strcmp(argv[i], "--slow-kubelet") == 0)
			slow = true;
		else if (strcmp(argv[i], "--file") == 0 && i + 1 < argc)
			store_options.path = argv[++i];
		else if (strcmp(argv[i], "--port") == 0 && i + 1 < argc)
			options.port = (uint16_t)strtoul(argv[++i], NULL, 10);
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	struct admission *admission = admission_create();
	store_options.admit = admission_check;
	store_options.context = admission;
	struct store *store = store_open(&store_options, &error);
	if (!store) {
		fprintf(stderr, "%s\n", error.text);
		admission_destroy(admission);
		return 1;
	}
	options.store = store;
	admission_use(admission, store);
	int status = with_store(store, &options, slow);
	admission_destroy(admission);
	store_close(store);
	return status;
}
