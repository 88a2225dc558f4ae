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

struct fixture {
	struct clock_virtual clock;
	struct http_server *server;
	struct http_stream *stream;
	int closed, drained, woken;
	bool commit_fails;
	int commits;
};

static void stream_closed(void *owner)
{
	struct fixture *fixture = owner;
	fixture->stream = NULL;
	fixture->closed++;
}

static void stream_drained(void *owner)
{
	((struct fixture *)owner)->drained++;
}

static void stream_wake(void *owner)
{
	((struct fixture *)owner)->woken++;
}

static const struct http_stream_ops stream_ops = {stream_closed, stream_drained, stream_wake};

static void handle(void *context, struct http_request *request, struct http_response *response)
{
	struct fixture *fixture = context;
	struct buffer body = {0};
	if (strcmp(request->path, "/stream") == 0) {
		fixture->stream = http_stream_open(response, 200, "application/json", &stream_ops, fixture);
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
	struct fixture *fixture = context;
	fixture->commits++;
	return !fixture->commit_fails;
}

static void start(struct fixture *fixture, const struct http_limits *limits)
{
	*fixture = (struct fixture){0};
	clock_virtual_init(&fixture->clock, 1700000000 * CLOCK_SECOND);
	struct http_options options = {
		.clock = &fixture->clock.source,
		.hooks = {.context = fixture, .head = head, .handle = handle, .commit = commit},
	};
	struct error error = {0};
	if (limits)
		options.limits = *limits;
	fixture->server = http_server_create(&options, &error);
	if (!fixture->server)
		fail_msg("%s", error.text);
}

static void stop(struct fixture *fixture)
{
	http_server_destroy(fixture->server);
}

static void pass(struct fixture *fixture, int64_t ns)
{
	clock_virtual_advance(&fixture->clock, ns);
	http_client_turn(fixture->server, 3);
}

static void test_requests(void **state)
{
	struct fixture fixture;
	struct http_client client;
	start(&fixture, NULL);
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(http_client_expect(&client, "/a 0 b=c 0 []\n"));
	assert_true(http_client_expect(&client, "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"));
	assert_true(http_client_expect(&client, "X-Test: a  Set-Cookie: b\r\n"));
	http_client_clear(&client);
	http_client_puts(&client, "HEAD /a HTTP/1.1\r\n\r\nGET /last HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&client, "Content-Length: 11\r\n\r\nHTTP/1.1 200 OK\r\n"));
	assert_true(http_client_expect(&client, "/last 0"));
	http_client_clear(&client);
	http_client_puts(&client, "POST /p HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
	assert_true(http_client_expect(&client, "100 Continue\r\n\r\n"));
	http_client_puts(&client, "hello");
	assert_true(http_client_expect(&client, "/p 2  5 [hello]\n"));
	http_client_clear(&client);
	http_client_puts(&client, "GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	assert_true(http_client_expect(&client, "Connection: keep-alive\r\n"));
	assert_true(http_client_expect(&client, "/old 0"));
	http_client_clear(&client);
	http_client_puts(&client, "GET /silent HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&client, "500 Internal"));
	assert_true(http_client_ends(&client));
	http_client_free(&client);
	http_client_turn(fixture.server, 3);
	assert_int_equal(http_server_stats(fixture.server).connections, 0);
	stop(&fixture);
}

static void test_pipeline(void **state)
{
	struct fixture fixture;
	struct http_client client;
	struct buffer many = {0};
	start(&fixture, NULL);
	http_client_open(&client, fixture.server);
	for (int i = 0; i < 500; i++)
		buffer_printf(&many, "GET /n%d HTTP/1.1\r\n\r\n", i);
	buffer_puts(&many, "GET /z HTTP/1.0\r\n\r\n");
	http_client_send(&client, many.text, many.length);
	assert_true(http_client_ends(&client));
	assert_non_null(strstr(client.in.text, "/n0 "));
	assert_non_null(strstr(client.in.text, "/n499 "));
	assert_true(strstr(client.in.text, "/n17 ") < strstr(client.in.text, "/n18 "));
	assert_non_null(strstr(client.in.text, "/z "));
	assert_int_equal(http_server_stats(fixture.server).requests, 501);
	buffer_free(&many);
	http_client_free(&client);
	stop(&fixture);
}

static void test_refused_before_the_body(void **state)
{
	struct fixture fixture;
	struct http_client client;
	start(&fixture, NULL);
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "POST /secret HTTP/1.1\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n");
	assert_true(http_client_expect(&client, "401 Unauthorized"));
	assert_null(strstr(client.in.text, "100 Continue"));
	http_client_free(&client);
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "POST /x HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n");
	char *block = calloc(1, 1 << 20);
	for (int i = 0; i < 20; i++)
		http_client_send(&client, block, 1 << 20);
	free(block);
	assert_true(http_client_expect(&client, "413 Content Too Large"));
	assert_int_equal(http_server_stats(fixture.server).input_bytes, 0);
	pass(&fixture, 3 * CLOCK_SECOND);
	assert_true(http_client_ends(&client));
	http_client_free(&client);
	stop(&fixture);
}

static void test_timeouts(void **state)
{
	struct fixture fixture;
	struct http_client silent, half, body, idle;
	start(&fixture, NULL);
	http_client_open(&silent, fixture.server);
	http_client_open(&half, fixture.server);
	http_client_open(&body, fixture.server);
	http_client_open(&idle, fixture.server);
	http_client_puts(&half, "GET / HT");
	http_client_puts(&body, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab");
	http_client_puts(&idle, "GET /i HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&idle, "/i 0"));
	pass(&fixture, 9 * CLOCK_SECOND);
	assert_int_equal(http_server_stats(fixture.server).connections, 4);
	pass(&fixture, 2 * CLOCK_SECOND);
	assert_true(http_client_ends(&silent));
	assert_true(http_client_expect(&half, "408 Request Timeout"));
	assert_true(http_client_ends(&half));
	pass(&fixture, 50 * CLOCK_SECOND);
	assert_true(http_client_expect(&body, "408 Request Timeout"));
	assert_false(idle.ended);
	pass(&fixture, 180 * CLOCK_SECOND);
	assert_true(http_client_ends(&idle));
	assert_int_equal(http_server_stats(fixture.server).connections, 0);
	http_client_free(&silent);
	http_client_free(&half);
	http_client_free(&body);
	http_client_free(&idle);
	stop(&fixture);
}

static void test_streams(void **state)
{
	struct fixture fixture;
	struct http_client client;
	start(&fixture, NULL);
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "GET /stream HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&client, "Transfer-Encoding: chunked\r\n\r\n"));
	assert_non_null(fixture.stream);
	assert_int_equal(http_stream_write(fixture.stream, "hello\n", 6), 0);
	assert_true(http_client_expect(&client, "6\r\nhello\n\r\n"));
	assert_int_equal(http_stream_backlog(fixture.stream), 0);
	http_stream_wake_at(fixture.stream, fixture.clock.now + 600 * CLOCK_SECOND);
	pass(&fixture, 599 * CLOCK_SECOND);
	assert_int_equal(fixture.woken, 0);
	pass(&fixture, 2 * CLOCK_SECOND);
	assert_int_equal(fixture.woken, 1);
	http_stream_end(fixture.stream);
	assert_true(http_client_expect(&client, "0\r\n\r\n"));
	http_client_clear(&client);
	http_client_puts(&client, "GET /again HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&client, "/again"));
	assert_int_equal(fixture.closed, 0);
	http_client_puts(&client, "GET /stream HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&client, "chunked\r\n\r\n"));
	http_client_free(&client);
	http_client_turn(fixture.server, 3);
	assert_int_equal(fixture.closed, 1);
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "GET /stream HTTP/1.0\r\n\r\n");
	assert_true(http_client_expect(&client, "Connection: close\r\n\r\n"));
	http_stream_write(fixture.stream, "plain", 5);
	http_stream_end(fixture.stream);
	assert_true(http_client_ends(&client));
	assert_string_equal(client.in.text + client.in.length - 9, "\r\n\r\nplain");
	http_client_free(&client);
	stop(&fixture);
}

static void test_slow_reader_of_a_stream(void **state)
{
	struct fixture fixture;
	struct http_client slow, other;
	char piece[10000];
	memset(piece, 'x', sizeof(piece));
	start(&fixture, NULL);
	http_client_open(&slow, fixture.server);
	http_client_puts(&slow, "GET /stream HTTP/1.1\r\n\r\n");
	http_client_turn(fixture.server, 3);
	int result = 0;
	for (int i = 0; i < 5000 && result == 0; i++) {
		result = http_stream_write(fixture.stream, piece, sizeof(piece));
		http_client_turn(fixture.server, 1);
		assert_true(http_server_stats(fixture.server).output_bytes < (3 << 20) / 2);
	}
	assert_int_equal(result, -1);
	http_client_turn(fixture.server, 2);
	assert_int_equal(fixture.closed, 1);
	assert_int_equal(http_server_stats(fixture.server).slow_readers, 1);
	assert_int_equal(http_server_stats(fixture.server).output_bytes, 0);
	http_client_open(&other, fixture.server);
	http_client_puts(&other, "GET /fine HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&other, "/fine"));
	http_client_free(&slow);
	http_client_free(&other);
	stop(&fixture);
}

static void test_slow_reader_of_an_answer(void **state)
{
	struct fixture fixture;
	struct http_limits limits = {.output_total = 20 << 20};
	struct http_client slow[10];
	start(&fixture, &limits);
	for (int i = 0; i < 10; i++) {
		http_client_open(&slow[i], fixture.server);
		int small = 4096;
		setsockopt(slow[i].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		http_client_puts(&slow[i],
		                 "GET /big HTTP/1.1\r\n\r\nGET /big HTTP/1.1\r\n\r\nGET /big HTTP/1.1\r\n\r\n");
		http_client_turn(fixture.server, 3);
		assert_true(http_server_stats(fixture.server).output_bytes <= 21 << 20);
	}
	pass(&fixture, 31 * CLOCK_SECOND);
	pass(&fixture, 31 * CLOCK_SECOND);
	assert_int_equal(http_server_stats(fixture.server).output_bytes, 0);
	assert_int_equal(http_server_stats(fixture.server).connections, 0);
	for (int i = 0; i < 10; i++)
		http_client_free(&slow[i]);
	stop(&fixture);
}

static void test_gzip(void **state)
{
	struct fixture fixture;
	struct http_client client;
	start(&fixture, NULL);
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "GET /big HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n");
	assert_true(http_client_ends(&client));
	assert_non_null(strstr(client.in.text, "Content-Encoding: gzip\r\n"));
	char *body = strstr(client.in.text, "\r\n\r\n") + 4;
	z_stream stream = {.next_in = (Bytef *)body, .avail_in = (uInt)(client.in.text + client.in.length - body)};
	char *plain = malloc(4000000);
	stream.next_out = (Bytef *)plain;
	stream.avail_out = 4000000;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, 3000000);
	inflateEnd(&stream);
	free(plain);
	http_client_free(&client);
	stop(&fixture);
}

static void test_full_house(void **state)
{
	static const char busy_head[] = "POST /ok HTTP/1.1\r\nContent-Length: 2\r\n\r\n";
	struct fixture fixture;
	struct http_limits limits = {.connections = 3};
	struct http_client idle, busy[2], half, last, late;
	start(&fixture, &limits);
	http_client_open(&idle, fixture.server);
	http_client_puts(&idle, "GET /i HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&idle, "/i"));
	for (int i = 0; i < 2; i++) {
		http_client_open(&busy[i], fixture.server);
		http_client_puts(&busy[i], busy_head);
	}
	http_client_open(&half, fixture.server);
	http_client_puts(&half, "GET /");
	http_client_turn(fixture.server, 3);
	assert_true(http_client_ends(&idle)); /* who is silent makes room */
	http_client_open(&last, fixture.server);
	http_client_turn(fixture.server, 3);
	assert_true(http_client_ends(&half)); /* so does who has not even sent its headers */
	http_client_puts(&last, busy_head);
	http_client_turn(fixture.server, 3);
	assert_int_equal(http_server_stats(fixture.server).refused, 0);
	http_client_open(&late, fixture.server);
	http_client_turn(fixture.server, 3);
	assert_true(http_client_ends(&late)); /* all are busy */
	assert_int_equal(http_server_stats(fixture.server).refused, 1);
	http_client_puts(&busy[1], "{}");
	assert_true(http_client_expect(&busy[1], "/ok"));
	http_client_puts(&last, "{}");
	assert_true(http_client_expect(&last, "/ok"));
	struct http_client *all[] = {&idle, &busy[0], &busy[1], &half, &last, &late};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		http_client_free(all[i]);
	stop(&fixture);
}

static void test_failed_commit(void **state)
{
	struct fixture fixture;
	struct http_client client;
	start(&fixture, NULL);
	fixture.commit_fails = true;
	http_client_open(&client, fixture.server);
	http_client_puts(&client, "GET /lost HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&client, "500 Internal Server Error"));
	assert_null(strstr(client.in.text, "/lost"));
	assert_true(fixture.commits > 0);
	http_client_free(&client);
	stop(&fixture);
}

static void test_drain(void **state)
{
	struct fixture fixture;
	struct http_client idle, stream, half;
	start(&fixture, NULL);
	http_client_open(&idle, fixture.server);
	http_client_open(&stream, fixture.server);
	http_client_open(&half, fixture.server);
	http_client_puts(&idle, "GET /i HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&idle, "/i"));
	http_client_puts(&stream, "GET /stream HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&stream, "chunked"));
	http_client_puts(&half, "GET /ha");
	http_server_drain(fixture.server);
	assert_true(http_client_ends(&idle));
	assert_true(http_client_ends(&stream));
	assert_non_null(strstr(stream.in.text, "0\r\n\r\n"));
	assert_int_equal(fixture.closed, 1);
	http_client_puts(&half, "lf HTTP/1.1\r\n\r\n");
	assert_true(http_client_expect(&half, "/half"));
	assert_true(http_client_expect(&half, "Connection: close"));
	assert_true(http_client_ends(&half));
	assert_int_equal(http_server_stats(fixture.server).connections, 0);
	http_client_free(&idle);
	http_client_free(&stream);
	http_client_free(&half);
	stop(&fixture);
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
