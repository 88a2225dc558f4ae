/* The server over real sockets, driven by a virtual clock: requests, streams, timeouts, limits, bad clients. */
#include "fixtures/http_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <zlib.h>

struct world {
	struct clock_virtual clock;
	struct http_server *server;
	struct http_stream *stream;
	int closed, drained, woken;
	bool commit_fails;
	int commits;
};

static void stream_closed(void *owner)
{
	struct world *world = owner;
	world->stream = NULL;
	world->closed++;
}

static void stream_drained(void *owner)
{
	((struct world *)owner)->drained++;
}

static void stream_wake(void *owner)
{
	((struct world *)owner)->woken++;
}

static const struct http_stream_ops stream_ops = {stream_closed, stream_drained, stream_wake};

static void handle(void *context, struct http_request *request, struct http_response *response)
{
	struct world *world = context;
	struct buffer body = {0};
	if (strcmp(request->path, "/stream") == 0) {
		world->stream = http_stream_open(response, 200, "application/json", &stream_ops, world);
		return;
	}
	if (strcmp(request->path, "/silent") == 0)
		return;
	if (strcmp(request->path, "/big") == 0) {
		for (int i = 0; i < 300000; i++)
			buffer_puts(&body, "0123456789");
	} else {
		buffer_printf(&body, "%s %d %s %zu [%s]\n", request->path, (int)request->verb, request->query,
		              request->body_length, request->body_length < 100 ? request->body : "...");
	}
	http_response_header(response, "X-Test", "a\r\nSet-Cookie: b");
	http_respond(response, 200, "text/plain", &body);
}

static void head(void *context, struct http_request *request, struct http_response *response)
{
	struct buffer body = {0};
	if (strcmp(request->path, "/secret") != 0)
		return;
	buffer_puts(&body, "no");
	http_respond(response, 401, "text/plain", &body);
}

static bool commit(void *context)
{
	struct world *world = context;
	world->commits++;
	return !world->commit_fails;
}

static void start(struct world *world, const struct http_limits *limits)
{
	*world = (struct world){0};
	clock_virtual_init(&world->clock, 1700000000 * CLOCK_SECOND);
	struct http_options options = {
		.clock = &world->clock.source,
		.hooks = {.context = world, .head = head, .handle = handle, .commit = commit},
	};
	struct error error = {0};
	if (limits)
		options.limits = *limits;
	world->server = http_server_create(&options, &error);
	if (!world->server)
		fail_msg("%s", error.text);
}

static void stop(struct world *world)
{
	http_server_destroy(world->server);
}

static void pass(struct world *world, int64_t ns)
{
	clock_virtual_advance(&world->clock, ns);
	wire_turn(world->server, 3);
}

static void test_requests(void **state)
{
	struct world world;
	struct wire wire;
	start(&world, NULL);
	wire_open(&wire, world.server);
	wire_puts(&wire, "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wire_expect(&wire, "/a 0 b=c 0 []\n"));
	assert_true(wire_expect(&wire, "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"));
	assert_true(wire_expect(&wire, "X-Test: a  Set-Cookie: b\r\n"));
	wire_clear(&wire);
	wire_puts(&wire, "HEAD /a HTTP/1.1\r\n\r\nGET /last HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&wire, "Content-Length: 11\r\n\r\nHTTP/1.1 200 OK\r\n"));
	assert_true(wire_expect(&wire, "/last 0"));
	wire_clear(&wire);
	wire_puts(&wire, "POST /p HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
	assert_true(wire_expect(&wire, "100 Continue\r\n\r\n"));
	wire_puts(&wire, "hello");
	assert_true(wire_expect(&wire, "/p 2  5 [hello]\n"));
	wire_clear(&wire);
	wire_puts(&wire, "GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	assert_true(wire_expect(&wire, "Connection: keep-alive\r\n"));
	assert_true(wire_expect(&wire, "/old 0"));
	wire_clear(&wire);
	wire_puts(&wire, "GET /silent HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&wire, "500 Internal"));
	assert_true(wire_ends(&wire));
	wire_free(&wire);
	wire_turn(world.server, 3);
	assert_int_equal(http_server_stats(world.server).connections, 0);
	stop(&world);
}

static void test_pipeline(void **state)
{
	struct world world;
	struct wire wire;
	struct buffer many = {0};
	start(&world, NULL);
	wire_open(&wire, world.server);
	for (int i = 0; i < 500; i++)
		buffer_printf(&many, "GET /n%d HTTP/1.1\r\n\r\n", i);
	buffer_puts(&many, "GET /z HTTP/1.0\r\n\r\n");
	wire_send(&wire, many.text, many.length);
	assert_true(wire_ends(&wire));
	assert_non_null(strstr(wire.in.text, "/n0 "));
	assert_non_null(strstr(wire.in.text, "/n499 "));
	assert_true(strstr(wire.in.text, "/n17 ") < strstr(wire.in.text, "/n18 "));
	assert_non_null(strstr(wire.in.text, "/z "));
	assert_int_equal(http_server_stats(world.server).requests, 501);
	buffer_free(&many);
	wire_free(&wire);
	stop(&world);
}

static void test_refused_before_the_body(void **state)
{
	struct world world;
	struct wire wire;
	start(&world, NULL);
	wire_open(&wire, world.server);
	wire_puts(&wire, "POST /secret HTTP/1.1\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n");
	assert_true(wire_expect(&wire, "401 Unauthorized"));
	assert_null(strstr(wire.in.text, "100 Continue"));
	wire_free(&wire);
	wire_open(&wire, world.server);
	wire_puts(&wire, "POST /x HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n");
	char *block = calloc(1, 1 << 20);
	for (int i = 0; i < 20; i++)
		wire_send(&wire, block, 1 << 20);
	free(block);
	assert_true(wire_expect(&wire, "413 Content Too Large"));
	assert_int_equal(http_server_stats(world.server).input_bytes, 0);
	pass(&world, 3 * CLOCK_SECOND);
	assert_true(wire_ends(&wire));
	wire_free(&wire);
	stop(&world);
}

static void test_timeouts(void **state)
{
	struct world world;
	struct wire silent, half, body, idle;
	start(&world, NULL);
	wire_open(&silent, world.server);
	wire_open(&half, world.server);
	wire_open(&body, world.server);
	wire_open(&idle, world.server);
	wire_puts(&half, "GET / HT");
	wire_puts(&body, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab");
	wire_puts(&idle, "GET /i HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&idle, "/i 0"));
	pass(&world, 9 * CLOCK_SECOND);
	assert_int_equal(http_server_stats(world.server).connections, 4);
	pass(&world, 2 * CLOCK_SECOND);
	assert_true(wire_ends(&silent));
	assert_true(wire_expect(&half, "408 Request Timeout"));
	assert_true(wire_ends(&half));
	pass(&world, 50 * CLOCK_SECOND);
	assert_true(wire_expect(&body, "408 Request Timeout"));
	assert_false(idle.ended);
	pass(&world, 180 * CLOCK_SECOND);
	assert_true(wire_ends(&idle));
	assert_int_equal(http_server_stats(world.server).connections, 0);
	wire_free(&silent);
	wire_free(&half);
	wire_free(&body);
	wire_free(&idle);
	stop(&world);
}

static void test_streams(void **state)
{
	struct world world;
	struct wire wire;
	start(&world, NULL);
	wire_open(&wire, world.server);
	wire_puts(&wire, "GET /stream HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&wire, "Transfer-Encoding: chunked\r\n\r\n"));
	assert_non_null(world.stream);
	assert_int_equal(http_stream_write(world.stream, "hello\n", 6), 0);
	assert_true(wire_expect(&wire, "6\r\nhello\n\r\n"));
	assert_int_equal(http_stream_backlog(world.stream), 0);
	http_stream_wake_at(world.stream, world.clock.now + 600 * CLOCK_SECOND);
	pass(&world, 599 * CLOCK_SECOND);
	assert_int_equal(world.woken, 0);
	pass(&world, 2 * CLOCK_SECOND);
	assert_int_equal(world.woken, 1);
	http_stream_end(world.stream);
	assert_true(wire_expect(&wire, "0\r\n\r\n"));
	wire_clear(&wire);
	wire_puts(&wire, "GET /again HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&wire, "/again"));
	assert_int_equal(world.closed, 0);
	wire_puts(&wire, "GET /stream HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&wire, "chunked\r\n\r\n"));
	wire_free(&wire);
	wire_turn(world.server, 3);
	assert_int_equal(world.closed, 1);
	wire_open(&wire, world.server);
	wire_puts(&wire, "GET /stream HTTP/1.0\r\n\r\n");
	assert_true(wire_expect(&wire, "Connection: close\r\n\r\n"));
	http_stream_write(world.stream, "plain", 5);
	http_stream_end(world.stream);
	assert_true(wire_ends(&wire));
	assert_string_equal(wire.in.text + wire.in.length - 9, "\r\n\r\nplain");
	wire_free(&wire);
	stop(&world);
}

static void test_slow_reader_of_a_stream(void **state)
{
	struct world world;
	struct wire slow, other;
	char piece[10000];
	memset(piece, 'x', sizeof(piece));
	start(&world, NULL);
	wire_open(&slow, world.server);
	wire_puts(&slow, "GET /stream HTTP/1.1\r\n\r\n");
	wire_turn(world.server, 3);
	int result = 0;
	for (int i = 0; i < 5000 && result == 0; i++) {
		result = http_stream_write(world.stream, piece, sizeof(piece));
		wire_turn(world.server, 1);
		assert_true(http_server_stats(world.server).output_bytes < (3 << 20) / 2);
	}
	assert_int_equal(result, -1);
	wire_turn(world.server, 2);
	assert_int_equal(world.closed, 1);
	assert_int_equal(http_server_stats(world.server).slow_readers, 1);
	assert_int_equal(http_server_stats(world.server).output_bytes, 0);
	wire_open(&other, world.server);
	wire_puts(&other, "GET /fine HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&other, "/fine"));
	wire_free(&slow);
	wire_free(&other);
	stop(&world);
}

static void test_slow_reader_of_an_answer(void **state)
{
	struct world world;
	struct http_limits limits = {.output_total = 20 << 20};
	struct wire slow[10];
	start(&world, &limits);
	for (int i = 0; i < 10; i++) {
		wire_open(&slow[i], world.server);
		int small = 4096;
		setsockopt(slow[i].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		wire_puts(&slow[i], "GET /big HTTP/1.1\r\n\r\nGET /big HTTP/1.1\r\n\r\nGET /big HTTP/1.1\r\n\r\n");
		wire_turn(world.server, 3);
		assert_true(http_server_stats(world.server).output_bytes <= 21 << 20);
	}
	pass(&world, 31 * CLOCK_SECOND);
	pass(&world, 31 * CLOCK_SECOND);
	assert_int_equal(http_server_stats(world.server).output_bytes, 0);
	assert_int_equal(http_server_stats(world.server).connections, 0);
	for (int i = 0; i < 10; i++)
		wire_free(&slow[i]);
	stop(&world);
}

static void test_gzip(void **state)
{
	struct world world;
	struct wire wire;
	start(&world, NULL);
	wire_open(&wire, world.server);
	wire_puts(&wire, "GET /big HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n");
	assert_true(wire_ends(&wire));
	assert_non_null(strstr(wire.in.text, "Content-Encoding: gzip\r\n"));
	char *body = strstr(wire.in.text, "\r\n\r\n") + 4;
	z_stream stream = {.next_in = (Bytef *)body, .avail_in = (uInt)(wire.in.text + wire.in.length - body)};
	char *plain = malloc(4000000);
	stream.next_out = (Bytef *)plain;
	stream.avail_out = 4000000;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, 3000000);
	inflateEnd(&stream);
	free(plain);
	wire_free(&wire);
	stop(&world);
}

static void test_full_house(void **state)
{
	static const char busy_head[] = "POST /ok HTTP/1.1\r\nContent-Length: 2\r\n\r\n";
	struct world world;
	struct http_limits limits = {.connections = 3};
	struct wire idle, busy[2], half, last, late;
	start(&world, &limits);
	wire_open(&idle, world.server);
	wire_puts(&idle, "GET /i HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&idle, "/i"));
	for (int i = 0; i < 2; i++) {
		wire_open(&busy[i], world.server);
		wire_puts(&busy[i], busy_head);
	}
	wire_open(&half, world.server);
	wire_puts(&half, "GET /");
	wire_turn(world.server, 3);
	assert_true(wire_ends(&idle)); /* who is silent makes room */
	wire_open(&last, world.server);
	wire_turn(world.server, 3);
	assert_true(wire_ends(&half)); /* so does who has not even sent its headers */
	wire_puts(&last, busy_head);
	wire_turn(world.server, 3);
	assert_int_equal(http_server_stats(world.server).refused, 0);
	wire_open(&late, world.server);
	wire_turn(world.server, 3);
	assert_true(wire_ends(&late)); /* all are busy */
	assert_int_equal(http_server_stats(world.server).refused, 1);
	wire_puts(&busy[1], "{}");
	assert_true(wire_expect(&busy[1], "/ok"));
	wire_puts(&last, "{}");
	assert_true(wire_expect(&last, "/ok"));
	struct wire *all[] = {&idle, &busy[0], &busy[1], &half, &last, &late};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		wire_free(all[i]);
	stop(&world);
}

static void test_failed_commit(void **state)
{
	struct world world;
	struct wire wire;
	start(&world, NULL);
	world.commit_fails = true;
	wire_open(&wire, world.server);
	wire_puts(&wire, "GET /lost HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&wire, "500 Internal Server Error"));
	assert_null(strstr(wire.in.text, "/lost"));
	assert_true(world.commits > 0);
	wire_free(&wire);
	stop(&world);
}

static void test_drain(void **state)
{
	struct world world;
	struct wire idle, stream, half;
	start(&world, NULL);
	wire_open(&idle, world.server);
	wire_open(&stream, world.server);
	wire_open(&half, world.server);
	wire_puts(&idle, "GET /i HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&idle, "/i"));
	wire_puts(&stream, "GET /stream HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&stream, "chunked"));
	wire_puts(&half, "GET /ha");
	http_server_drain(world.server);
	assert_true(wire_ends(&idle));
	assert_true(wire_ends(&stream));
	assert_non_null(strstr(stream.in.text, "0\r\n\r\n"));
	assert_int_equal(world.closed, 1);
	wire_puts(&half, "lf HTTP/1.1\r\n\r\n");
	assert_true(wire_expect(&half, "/half"));
	assert_true(wire_expect(&half, "Connection: close"));
	assert_true(wire_ends(&half));
	assert_int_equal(http_server_stats(world.server).connections, 0);
	wire_free(&idle);
	wire_free(&stream);
	wire_free(&half);
	stop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_refused_before_the_body),
		cmocka_unit_test(test_timeouts),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_slow_reader_of_a_stream),
		cmocka_unit_test(test_slow_reader_of_an_answer),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_full_house),
		cmocka_unit_test(test_failed_commit),
		cmocka_unit_test(test_drain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
