/* Requests from bytes: whatever the pieces, the same message; whatever the nonsense, a status and no crash. */
#include "serve/http/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_LIMIT 4096
#define BODY_LIMIT 1000

/* Feeds the text in pieces of `step` bytes; what is left of it afterwards. */
static enum http_parse_result feed(struct http_message *message, const char *text, size_t step, size_t *left)
{
	size_t length = strlen(text);
	enum http_parse_result result = HTTP_PARSE_MORE;
	while (length > 0 && result != HTTP_PARSE_DONE && result != HTTP_PARSE_BAD) {
		size_t used;
		/* A copy on the heap, so that a read past the piece is seen. */
		size_t piece = step < length ? step : length;
		char *copy = malloc(piece);
		memcpy(copy, text, piece);
		result = http_message_feed(message, copy, piece, &used);
		free(copy);
		text += used;
		length -= used;
	}
	*left = length;
	return result;
}

struct good {
	const char *name, *text;
	enum http_verb verb;
	const char *path, *query, *body, *host;
	bool keep_alive;
	size_t left;
};

static const struct good good[] = {
	{"a plain request", "GET /api?timeout=32s HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_VERB_GET, "/api", "timeout=32s",
         "", "a", true, 0},
	{"the second of two stays", "GET /a HTTP/1.1\r\nHOST:b \r\n\r\nGET /b HTTP/1.1\r\n\r\n", HTTP_VERB_GET, "/a",
         "", "", "b", true, 19},
	{"a body by length", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET", HTTP_VERB_POST, "/x", "",
         "abc", "a", true, 3},
	{"an empty body", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nG", HTTP_VERB_POST, "/x", "", "",
         "a", true, 1},
	{"a body in chunks",
         "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x=y\r\ncde\r\n0\r\nT: "
         "v\r\n\r\nrest",
         HTTP_VERB_PUT, "/x", "", "abcde", "a", true, 4},
	{"the old protocol closes", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", HTTP_VERB_GET, "/", "", "", "a", false, 0},
	{"the client may ask to close", "DELETE /p HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", HTTP_VERB_DELETE,
         "/p", "", "", "a", false, 0},
	{"a target with a host", "PATCH http://h:1/p?q#f HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_VERB_PATCH, "/p", "q", "",
         "a", true, 0},
	{"an upgrade is not kept", "GET /exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
         HTTP_VERB_GET, "/exec", "", "", "a", false, 0},
};

static void test_good(void **state)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		for (size_t step = 1; step < 200; step = step * 3 + 1) {
			struct http_message *message = http_message_create(HEAD_LIMIT, BODY_LIMIT);
			struct http_request request;
			size_t left;
			print_message("# %s, %zu bytes at a time\n", good[i].name, step);
			assert_int_equal(feed(message, good[i].text, step, &left), HTTP_PARSE_DONE);
			http_message_request(message, &request);
			assert_int_equal(request.verb, good[i].verb);
			assert_string_equal(request.path, good[i].path);
			assert_string_equal(request.query, good[i].query);
			assert_string_equal(request.body, good[i].body);
			assert_string_equal(http_header(&request, "host"), good[i].host);
			assert_int_equal(http_message_keep_alive(message), good[i].keep_alive);
			assert_int_equal(left, good[i].left);
			http_message_destroy(message);
		}
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *name, *text;
		int status;
	} bad[] = {
		{"not HTTP at all", "\x16\x03\x01\x02", 501},
		{"an unknown method", "BREW /pot HTTP/1.1\r\n\r\n", 501},
		{"another version", "GET / HTTP/3.7\r\n\r\n", 505},
		{"HTTP/2 by prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
		{"a target that is no path", "OPTIONS * HTTP/1.1\r\n\r\n", 400},
		{"a body that is announced too large", "POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413},
		{"a chunk that is too large", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 0},
		{"a length that is no number", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
		{"two different lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		{"length and chunks", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
	         400},
		{"a bare line feed in a header", "GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400},
		{"a header without a name", "GET / HTTP/1.1\r\n: b\r\n\r\n", 400},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct http_message *message = http_message_create(HEAD_LIMIT, BODY_LIMIT);
		const char *text;
		size_t left;
		print_message("# %s\n", bad[i].name);
		enum http_parse_result result = feed(message, bad[i].text, 7, &left);
		if (bad[i].status) {
			assert_int_equal(result, HTTP_PARSE_BAD);
			assert_int_equal(http_message_problem(message, &text), bad[i].status);
			assert_true(strlen(text) > 5);
		}
		http_message_destroy(message);
	}
}

/* Feeds `text` and then `filler` again and again: the message must refuse before it has kept more than it may. */
static int fill(const char *text, const char *filler)
{
	struct http_message *message = http_message_create(HEAD_LIMIT, BODY_LIMIT);
	size_t left;
	enum http_parse_result result = feed(message, text, 1000, &left);
	for (int i = 0; i < 100000 && result != HTTP_PARSE_BAD; i++)
		result = feed(message, filler, 1000, &left);
	assert_true(http_message_size(message) <= HEAD_LIMIT + BODY_LIMIT);
	int status = http_message_problem(message, NULL);
	http_message_destroy(message);
	return status;
}

static void test_limits(void **state)
{
	assert_int_equal(fill("GET /", "aaaaaaaaaaaaaaaaaaaa"), 414);
	assert_int_equal(fill("GET / HTTP/1.1\r\n", "a: b\r\n"), 431);
	assert_int_equal(fill("GET / HTTP/1.1\r\n", "a"), 431);
	assert_int_equal(fill("GET / HTTP/1.1\r\na: ", "bbbbbbbbbbbbb"), 431);
	assert_int_equal(fill("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nabcde\r\n"), 413);
}

static void test_queries(void **state)
{
	struct arena *arena = arena_create();
	struct http_query query;
	assert_int_equal(http_query_parse(arena, "a=b&labelSelector=x%3Dy%2Cz+w&&flag&e=", &query), 0);
	assert_int_equal(query.count, 4);
	assert_string_equal(http_query_get(&query, "labelSelector"), "x=y,z w");
	assert_string_equal(http_query_get(&query, "flag"), "");
	assert_string_equal(http_query_get(&query, "e"), "");
	assert_null(http_query_get(&query, "missing"));
	static const char *const bad[] = {"a=%", "a=%1", "a=%zz", "a=%00", "%=1"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(http_query_parse(arena, bad[i], &query), -1);
	struct buffer many = {0};
	for (int i = 0; i <= HTTP_MAX_PARAMS; i++)
		buffer_puts(&many, "a=b&");
	assert_int_equal(http_query_parse(arena, many.text, &query), -1);
	buffer_free(&many);
	assert_string_equal(http_decode(arena, "a+b%20c", 7, false), "a+b c");
	arena_destroy(arena);
}

static void test_accept(void **state)
{
	struct http_field fields[] = {{"accept-encoding", "deflate, gzip;q=0.5"}, {"te", "gzip;q=0, br"}};
	struct http_request request = {.headers = fields, .header_count = 2};
	assert_true(http_header_has(&request, "accept-encoding", "gzip"));
	assert_true(http_header_has(&request, "accept-encoding", "deflate"));
	assert_false(http_header_has(&request, "accept-encoding", "zip"));
	assert_false(http_header_has(&request, "te", "gzip"));
	assert_true(http_header_has(&request, "te", "br"));
	assert_false(http_header_has(&request, "accept", "x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),    cmocka_unit_test(test_bad),    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_queries), cmocka_unit_test(test_accept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
