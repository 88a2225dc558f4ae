/* Paths beside the Kubernetes API: health, and what other layers answer, with the tokens that get there. */
#include "fixtures/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
	struct server_fixture fixture;
	char folder[32];
};

/* With tokens and without TLS. */
static int setup(void **state)
{
	static struct place place;
	place = (struct place){.folder = "serve-routes-XXXXXX"};
	assert_non_null(mkdtemp(place.folder));
	struct error error = {0};
	struct server_fixture *fixture = &place.fixture;
	clock_virtual_init(&fixture->clock, INT64_C(1700000000000000000));
	fixture->store = store_open(&(struct store_options){.clock = &fixture->clock.source}, &error);
	assert_non_null(fixture->store);
	struct serve_options options = {.store = fixture->store,
	                                .directory = place.folder,
	                                .plain = true,
	                                .clock = &fixture->clock.source};
	fixture->serve = serve_create(&options, &error);
	if (!fixture->serve)
		fail_msg("%s", error.text);
	http_client_open_serve(&fixture->client, fixture->serve);
	*state = &place;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"token", "read-only-token", "kubeconfig"};
	struct place *place = *state;
	server_fixture_stop(&place->fixture);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/%s", place->folder, files[i]);
		unlink(path);
	}
	return rmdir(place->folder);
}

/* Answers with its name and the path. */
static void say(void *context, struct http_request *request, struct http_response *response)
{
	struct buffer body = {0};
	buffer_printf(&body, "%s%s", (const char *)context, request->path);
	http_respond(response, 200, "text/plain", &body);
}

static void other_layers_answer_their_paths(void **state)
{
	static const struct {
		const char *method, *path;
		int token; /* 0 none, 1 reading, 2 all, 3 a wrong one */
		int status;
		const char *body;
	} table[] = {
		{"GET", "/metrics", 1, 200, "metrics:/metrics"},
		{"GET", "/metrics", 2, 200, "metrics:/metrics"},
		{"GET", "/metrics", 0, 401, "Unauthorized"},
		{"GET", "/metrics", 3, 401, "Unauthorized"},
		{"POST", "/metrics", 1, 403, "may only read"},
		{"POST", "/metrics", 2, 200, "metrics:/metrics"},
		{"GET", "/metrics/deep/er", 1, 200, "metrics:/metrics/deep/er"},
		{"GET", "/metricsx", 2, 404, "NotFound"},
		{"GET", "/metrics/own", 2, 200, "own:/metrics/own"},
		{"GET", "/metrics/owner", 2, 200, "metrics:/metrics/owner"},
		{"GET", "/m", 2, 404, "NotFound"},
		{"GET", "/ui/", 1, 200, "ui:/ui/"},
		{"GET", "/ui/app.js", 1, 200, "ui:/ui/app.js"},
		/* The Kubernetes API cannot be taken over. */
		{"GET", "/api/v1", 2, 200, "APIResourceList"},
		{"GET", "/healthz", 0, 200, "ok"},
		{"GET", "/livez", 0, 200, "ok"},
		{"GET", "/readyz", 0, 200, "ok"},
		{"GET", "/readyz?verbose", 0, 200, "ok"},
		{"GET", "/version", 0, 200, "gitVersion"},
	};
	struct place *place = *state;
	struct server_fixture *fixture = &place->fixture;
	serve_route(fixture->serve, "/metrics", say, "metrics:");
	serve_route(fixture->serve, "/metrics/own", say, "own:");
	serve_route(fixture->serve, "/ui/", say, "ui:");
	serve_route(fixture->serve, "/api", say, "thief:");
	serve_route(fixture->serve, "/healthz", say, "thief:");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *tokens[] = {"", serve_token(fixture->serve, true), serve_token(fixture->serve, false),
		                        "wrong"};
		char header[256] = "";
		if (table[i].token)
			snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n", tokens[table[i].token]);
		int status = server_fixture_ask(fixture, table[i].method, table[i].path, header, NULL);
		if (status != table[i].status || !strstr(fixture->body.text, table[i].body))
			fail_msg("%s %s: %d %s", table[i].method, table[i].path, status, fixture->body.text);
	}
}

static void a_server_that_stops_is_not_ready(void **state)
{
	struct place *place = *state;
	struct http_client half;
	http_client_open_serve(&half, place->fixture.serve);
	http_client_puts(&half, "GET /readyz HTTP/1.1\r\n"); /* under way, so that it may still be answered */
	http_client_turn_serve(place->fixture.serve, 4);
	serve_drain(place->fixture.serve);
	http_client_puts(&half, "\r\n");
	assert_true(http_client_expect(&half, "503"));
	http_client_free(&half);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_layers_answer_their_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_stops_is_not_ready, setup, teardown),
	};
	return cmocka_run_group_tests_name("serve routes", tests, NULL, NULL);
}
