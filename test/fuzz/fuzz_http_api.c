/* Whole requests against the API over an empty store, and the dashboard: routing, bodies, selectors, patches, watches. Everybody is the
 * administrator, so that what lies behind the door is reached. */
#include "fuzz.h"

#include "serve/api/admission.h"
#include "serve/dashboard/dashboard.h"
#include "serve/api/serve.h"
#include "serve/api/internal.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define INPUTS_PER_STORE 50

static struct {
	struct clock_virtual clock;
	struct admission *admission;
	struct store *store;
	struct serve *serve;
	struct dashboard *dashboard;
	int inputs;
} world;

static void end_world(void)
{
	serve_destroy(world.serve);
	dashboard_destroy(world.dashboard);
	admission_destroy(world.admission);
	store_close(world.store);
	world.serve = NULL;
	world.dashboard = NULL;
	world.admission = NULL;
	world.store = NULL;
}

static void begin_world(void)
{
	clock_virtual_init(&world.clock, INT64_C(1700000000000000000));
	world.admission = admission_create();
	struct store_options store = {.clock = &world.clock.source,
	                              .seed = 1,
	                              .history = 64,
	                              .admit = admission_check,
	                              .context = world.admission};
	world.store = store_open(&store, NULL);
	if (!world.store)
		abort();
	admission_use(world.admission, world.store);
	struct serve_options options = {.store = world.store,
	                                .plain = true,
	                                .open = true,
	                                .clock = &world.clock.source};
	world.serve = serve_create(&options, NULL);
	if (!world.serve)
		abort();
	world.dashboard =
		dashboard_create(&(struct dashboard_options){.clock = &world.clock.source, .feed = {.epoch = "e"}});
	feed_put(dashboard_feed(world.dashboard), 'n', "node", "{\"k\":\"n\",\"n\":\"node\"}", 1);
	feed_put(dashboard_feed(world.dashboard), 'n', "gone", "{}", 1);
	feed_put(dashboard_feed(world.dashboard), 'n', "gone", NULL, 1);
	serve_route(world.serve, DASHBOARD_PATH, dashboard_handle, world.dashboard);
	world.inputs = 0;
}

static void read_all(int fd)
{
	char block[65536];
	while (recv(fd, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int ends[2];
	if (!world.serve) {
		begin_world();
		atexit(end_world);
	} else if (++world.inputs == INPUTS_PER_STORE) {
		end_world();
		begin_world();
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends))
		return 0;
	http_server_adopt(world.serve->http, ends[0]);
	for (size_t sent = 0, quiet = 0; sent < size && quiet < 3;) {
		ssize_t count = send(ends[1], data + sent, size - sent, MSG_NOSIGNAL);
		quiet = count > 0 ? 0 : quiet + 1;
		sent += count > 0 ? (size_t)count : 0;
		serve_run_once(world.serve, 0, NULL);
		read_all(ends[1]);
	}
	for (int i = 0; i < 4; i++) {
		serve_run_once(world.serve, 0, NULL);
		read_all(ends[1]);
	}
	close(ends[1]);
	serve_run_once(world.serve, 0, NULL);
	serve_run_once(world.serve, 0, NULL);
	return 0;
}
