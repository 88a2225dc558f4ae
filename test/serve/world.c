/* Starting and asking the API in tests. */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

void world_start(struct world *world, size_t history)
{
	struct error error = {0};
	*world = (struct world){0};
	clock_virtual_init(&world->clock, 1700000000 * CLOCK_SECOND);
	world->admission = admission_create();
	struct store_options store = {
		.clock = &world->clock.source,
		.seed = 1,
		.history = history,
		.admit = admission_check,
		.context = world->admission,
	};
	world->store = store_open(&store, &error);
	if (!world->store)
		fail_msg("%s", error.text);
	admission_use(world->admission, world->store);
	struct serve_options options = {.store = world->store,
	                                .plain = true,
	                                .open = true,
	                                .clock = &world->clock.source};
	world->serve = serve_create(&options, &error);
	if (!world->serve)
		fail_msg("%s", error.text);
	wire_open_serve(&world->wire, world->serve);
}

void world_stop(struct world *world)
{
	wire_free(&world->wire);
	buffer_free(&world->head);
	buffer_free(&world->body);
	serve_destroy(world->serve);
	admission_destroy(world->admission);
	store_close(world->store);
}

static void send_request(struct wire *wire, const char *method, const char *path, const char *headers, const char *body)
{
	struct buffer text = {0};
	buffer_printf(&text, "%s %s HTTP/1.1\r\nHost: test\r\n%s", method, path, headers ? headers : "");
	if (body)
		buffer_printf(&text, "Content-Length: %zu\r\n", strlen(body));
	buffer_printf(&text, "\r\n%s", body ? body : "");
	wire_send(wire, text.text, text.length);
	buffer_free(&text);
}

int world_ask(struct world *world, const char *method, const char *path, const char *headers, const char *body)
{
	if (world->wire.ended) {
		wire_free(&world->wire);
		wire_open_serve(&world->wire, world->serve);
	}
	send_request(&world->wire, method, path, headers, body);
	return wire_answer(&world->wire, &world->head, &world->body);
}

void world_watch(struct world *world, struct wire *wire, const char *path, const char *headers)
{
	wire_open_serve(wire, world->serve);
	send_request(wire, "GET", path, headers, NULL);
}

void world_pass(struct world *world, int64_t seconds)
{
	clock_virtual_advance(&world->clock, seconds * CLOCK_SECOND);
	wire_turn_serve(world->serve, 4);
}
