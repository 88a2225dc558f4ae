/* A dashboard of a cluster that does not exist, as large as one is: for measuring what a browser makes of it.
 *
 *     crowd NODES PODS CHANGES
 *
 * Serves 8 GPUs a node in racks of 20 and zones of 500, and gangs of 16 pods. Once it was asked for a stream, CHANGES pods
 * a second become ready or not. Prints "ready URL"; ends when its standard input does. */
#include "base/random.h"
#include "serve/dashboard/dashboard.h"
#include "serve/http/listener.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PER_GANG 16
#define TICK_MS 100

struct crowd {
	struct feed *feed;
	long nodes, pods;
	struct buffer text;
	int64_t now_ms;
};

static void put(struct crowd *crowd, char kind, const char *name)
{
	feed_put(crowd->feed, kind, name, crowd->text.text, crowd->now_ms);
	crowd->text.length = 0;
}

static void put_pod(struct crowd *crowd, long index, bool ready)
{
	char name[64];
	long gang = index / PER_GANG, node = index * crowd->nodes / crowd->pods;
	snprintf(name, sizeof(name), "default/gang-%ld-%ld", gang, index % PER_GANG);
	buffer_printf(
		&crowd->text,
		"{\"k\":\"p\",\"n\":\"%s\",\"on\":\"n%ld\",\"g\":\"gang-%ld\",\"ph\":\"R\",%s\"cpu\":1000,\"gpu\":800}",
		name, node, gang, ready ? "\"ok\":1," : "");
	put(crowd, 'p', name);
}

static void fill(struct crowd *crowd)
{
	char name[64];
	buffer_puts(&crowd->text, "{\"k\":\"t\",\"n\":\"cluster\",\"levels\":[{\"key\":\"zone\"},{\"key\":\"rack\"}]}");
	put(crowd, 't', "cluster");
	for (long i = 0; i < crowd->nodes; i++) {
		snprintf(name, sizeof(name), "n%ld", i);
		buffer_printf(&crowd->text,
		              "{\"k\":\"n\",\"n\":\"%s\",\"labels\":{\"zone\":\"z%ld\",\"rack\":\"r%ld\"},\"cpu\":"
		              "64000,\"gpu\":8000}",
		              name, i / 500, i / 20);
		put(crowd, 'n', name);
	}
	for (long i = 0; i < (crowd->pods + PER_GANG - 1) / PER_GANG; i++) {
		snprintf(name, sizeof(name), "default/gang-%ld", i);
		buffer_printf(&crowd->text,
		              "{\"k\":\"g\",\"n\":\"%s\",\"phase\":\"Running\",\"placed\":true,\"created\":1,\"tree\":["
		              "{\"name\":\"\","
		              "\"parent\":-1,\"min\":16,\"pods\":16,\"leaf\":true}]}",
		              name);
		put(crowd, 'g', name);
	}
	for (long i = 0; i < crowd->pods; i++)
		put_pod(crowd, i, true);
	feed_begin_history(crowd->feed);
}

int main(int argc, char **argv)
{
	struct error error = {0};
	struct crowd crowd = {.nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 0,
	                      .pods = argc > 2 ? strtol(argv[2], NULL, 10) : 0};
	long changes = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	struct dashboard *dashboard = dashboard_create(&(struct dashboard_options){.feed = {.version = "crowd"}});
	struct listener *listener = listener_create(&(struct listener_options){.port = 0}, &error);
	if (!listener) {
		fprintf(stderr, "crowd: %s\n", error.text);
		return 2;
	}
	crowd.feed = dashboard_feed(dashboard);
	crowd.now_ms = clock_now(clock_system()) / 1000000;
	if (crowd.nodes > 0)
		fill(&crowd);
	listener_route(listener, DASHBOARD_PATH, dashboard_handle, dashboard);
	printf("ready %s" DASHBOARD_PATH "/#token=none\n", listener_url(listener));
	fflush(stdout);
	struct random random = {1};
	for (;;) {
		struct pollfd wait[] = {{.fd = listener_fd(listener), .events = POLLIN},
		                        {.fd = STDIN_FILENO, .events = POLLIN}};
		int ms = listener_wait_ms(listener);
		poll(wait, 2, ms >= 0 && ms < TICK_MS ? ms : TICK_MS);
		if (wait[1].revents)
			break;
		listener_step(listener);
		int64_t now_ms = clock_now(clock_system()) / 1000000;
		if (dashboard_readers(dashboard) > 0 && now_ms - crowd.now_ms >= TICK_MS) {
			crowd.now_ms = now_ms;
			for (long i = 0; crowd.pods > 0 && i < changes * TICK_MS / 1000; i++) {
				uint64_t number = random_next(&random);
				put_pod(&crowd, (long)(number % (uint64_t)crowd.pods), number & (UINT64_C(1) << 40));
			}
		}
		dashboard_step(dashboard);
	}
	listener_destroy(listener);
	dashboard_destroy(dashboard);
	buffer_free(&crowd.text);
	return 0;
}
