/* Watches over the client, in virtual time. */
#include "fixtures/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON "Content-Type: application/json\r\n"
#define MERGE "Content-Type: application/merge-patch+json\r\n"
#define TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n"
#define MAPS "/api/v1/namespaces/default/configmaps"

static void put(struct server_fixture *fixture, const char *name, const char *label)
{
	char body[300];
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"l\":\"%s\"}"
	         "}}",
	         name, label);
	assert_int_equal(server_fixture_ask(fixture, "POST", MAPS, JSON, body), 201);
}

static void relabel(struct server_fixture *fixture, const char *name, const char *label)
{
	char path[200], body[200];
	snprintf(path, sizeof(path), MAPS "/%s", name);
	snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"l\":\"%s\"}}}", label);
	assert_int_equal(server_fixture_ask(fixture, "PATCH", path, MERGE, body), 200);
}

static void drop(struct server_fixture *fixture, const char *name)
{
	char path[200];
	snprintf(path, sizeof(path), MAPS "/%s", name);
	assert_int_equal(server_fixture_ask(fixture, "DELETE", path, NULL, NULL), 200);
}

/* The types of events so far, in order, as letters: A M D B E. */
static const char *events(struct http_client *client, char letters[64])
{
	size_t count = 0;
	http_client_expect(client, "nothing like this");
	for (const char *at = client->in.text; at && (at = strstr(at, "{\"type\":\"")) && count < 63; at++)
		letters[count++] = at[9];
	letters[count] = '\0';
	return letters;
}

static void test_what_happens(void **state)
{
	struct server_fixture fixture;
	struct http_client all, some, later, metadata;
	char letters[64], path[200];
	server_fixture_start(&fixture, 0);
	put(&fixture, "a", "x");
	put(&fixture, "b", "y");
	const char *version = strstr(fixture.body.text, "\"resourceVersion\":\"") + 19;
	snprintf(path, sizeof(path), MAPS "?watch=true&resourceVersion=%.*s", (int)strcspn(version, "\""), version);
	server_fixture_watch(&fixture, &later, path, NULL);
	server_fixture_watch(&fixture, &all, "/api/v1/configmaps?watch=1", NULL);
	server_fixture_watch(&fixture, &some, MAPS "?watch=true&resourceVersion=0&labelSelector=l%3Dx", NULL);
	server_fixture_watch(&fixture, &metadata, MAPS "?watch=true&resourceVersion=0",
	                     "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io\r\n");
	assert_true(http_client_expect(&all, "\"name\":\"b\""));
	assert_true(http_client_expect(&all, "Transfer-Encoding: chunked"));
	relabel(&fixture, "b", "x"); /* comes into the selection */
	relabel(&fixture, "a", "z"); /* leaves it */
	drop(&fixture, "b");
	assert_string_equal(events(&all, letters), "AAMMD");
	assert_string_equal(events(&some, letters), "AADD");
	assert_string_equal(events(&later, letters), "MMD");
	assert_string_equal(events(&metadata, letters), "AAMMD");
	assert_non_null(strstr(metadata.in.text, "\"kind\":\"PartialObjectMetadata\""));
	assert_int_equal(serve_stats(fixture.serve).streams, 4);
	http_client_free(&all);
	http_client_free(&some);
	http_client_free(&later);
	http_client_free(&metadata);
	http_client_turn_serve(fixture.serve, 4);
	assert_int_equal(serve_stats(fixture.serve).streams, 0);
	server_fixture_stop(&fixture);
}

static void test_bookmarks_and_the_end(void **state)
{
	struct server_fixture fixture;
	struct http_client watch, silent;
	char letters[64];
	server_fixture_start(&fixture, 0);
	put(&fixture, "a", "x");
	server_fixture_watch(&fixture, &watch,
	                     MAPS "?watch=true&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=100", NULL);
	server_fixture_watch(&fixture, &silent, MAPS "?watch=true&resourceVersion=0&timeoutSeconds=100", NULL);
	assert_string_equal(events(&watch, letters), "A");
	server_fixture_pass(&fixture, 61);
	assert_string_equal(events(&watch, letters), "AB");
	assert_false(watch.ended);
	server_fixture_pass(&fixture, 40);
	assert_string_equal(events(&watch, letters), "ABB");
	assert_true(http_client_expect(&watch, "\r\n0\r\n\r\n"));
	assert_string_equal(events(&silent, letters), "A");
	assert_true(http_client_expect(&silent, "\r\n0\r\n\r\n"));
	assert_int_equal(serve_stats(fixture.serve).streams, 0);
	http_client_free(&watch);
	http_client_free(&silent);
	server_fixture_stop(&fixture);
}

static void test_initial_events(void **state)
{
	struct server_fixture fixture;
	struct http_client watch;
	char letters[64];
	server_fixture_start(&fixture, 0);
	put(&fixture, "a", "x");
	put(&fixture, "b", "x");
	server_fixture_watch(
		&fixture, &watch,
		MAPS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		NULL);
	assert_string_equal(events(&watch, letters), "AAB");
	assert_true(http_client_expect(&watch, "\"k8s.io/initial-events-end\":\"true\""));
	put(&fixture, "c", "x");
	assert_string_equal(events(&watch, letters), "AABA");
	http_client_free(&watch);
	assert_int_equal(server_fixture_ask(&fixture, "GET", MAPS "?watch=true&sendInitialEvents=true", NULL, NULL),
	                 422);
	assert_int_equal(server_fixture_ask(&fixture, "GET", MAPS "?watch=true&resourceVersionMatch=Exact", NULL, NULL),
	                 422);
	assert_int_equal(server_fixture_ask(&fixture, "GET", MAPS "?sendInitialEvents=true", NULL, NULL), 422);
	server_fixture_stop(&fixture);
}

static void test_too_old(void **state)
{
	struct server_fixture fixture;
	struct http_client watch;
	server_fixture_start(&fixture, 4);
	put(&fixture, "a", "0");
	for (int i = 0; i < 40; i++)
		relabel(&fixture, "a", i % 2 ? "1" : "2");
	server_fixture_watch(&fixture, &watch, MAPS "?watch=true&resourceVersion=6", NULL);
	assert_true(http_client_expect(&watch, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\""));
	assert_true(http_client_expect(&watch, "\"code\":410"));
	http_client_free(&watch);
	assert_int_equal(server_fixture_ask(&fixture, "GET", MAPS "?watch=true&resourceVersion=99999", NULL, NULL),
	                 504);
	assert_int_equal(server_fixture_ask(&fixture, "GET", MAPS "?watch=true&resourceVersion=x", NULL, NULL), 400);
	server_fixture_stop(&fixture);
}

static void test_tables(void **state)
{
	struct server_fixture fixture;
	struct http_client watch;
	char letters[64];
	server_fixture_start(&fixture, 0);
	put(&fixture, "a", "x");
	server_fixture_watch(&fixture, &watch, MAPS "?watch=true&resourceVersion=0", TABLE);
	assert_string_equal(events(&watch, letters), "A");
	assert_true(http_client_expect(&watch, "\"columnDefinitions\":[{\"name\":\"Name\""));
	http_client_clear(&watch);
	server_fixture_pass(&fixture, 75);
	relabel(&fixture, "a", "y");
	assert_string_equal(events(&watch, letters), "M");
	assert_true(http_client_expect(&watch, "\"columnDefinitions\":null"));
	assert_true(http_client_expect(&watch, "\"cells\":[\"a\",\"0\",\"75s\"]") ||
	            http_client_expect(&watch, "\"cells\":[\"a\",0,\"75s\"]"));
	http_client_free(&watch);
	server_fixture_stop(&fixture);
}

/* A reader that stops gets nothing piled up for it, and when it goes on it gets everything in order. */
static void test_a_reader_that_pauses(void **state)
{
	struct server_fixture fixture;
	struct http_client watch;
	char *body = malloc(200000);
	server_fixture_start(&fixture, 0);
	server_fixture_watch(&fixture, &watch, MAPS "?watch=true", NULL);
	http_client_turn_serve(fixture.serve, 4);
	for (int i = 0; i < 100; i++) {
		int length = snprintf(body, 200000,
		                      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%03d\"},"
		                      "\"data\":{\"k\":\"",
		                      i);
		memset(body + length, 'x', 100000);
		memcpy(body + length + 100000, "\"}}", 4);
		assert_int_equal(server_fixture_ask(&fixture, "POST", MAPS, JSON, body), 201);
		assert_true(serve_stats(fixture.serve).output_bytes < 400000);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(body, 100, "\"name\":\"m%03d\"", i);
		assert_true(http_client_expect(&watch, body));
	}
	free(body);
	http_client_free(&watch);
	server_fixture_stop(&fixture);
}

static void test_a_type_that_goes(void **state)
{
	struct server_fixture fixture;
	struct http_client watch, table;
	char letters[64];
	static const char crd[] = "{\"apiVersion\":\"apiextensions.k8s.io/"
				  "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"ts.e.com\"},"
				  "\"spec\":{\"group\":\"e.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"ts\","
				  "\"singular\":\"t\",\"kind\":\"T\",\"listKind\":"
				  "\"TList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
				  "\"schema\":{\"openAPIV3Schema\":{\"type\":"
				  "\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";
	server_fixture_start(&fixture, 0);
	assert_int_equal(server_fixture_ask(&fixture, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	                                    JSON, crd),
	                 201);
	server_fixture_watch(&fixture, &watch, "/apis/e.com/v1/ts?watch=true", NULL);
	server_fixture_watch(&fixture, &table, "/apis/e.com/v1/ts?watch=true", TABLE);
	assert_int_equal(
		server_fixture_ask(
			&fixture, "POST", "/apis/e.com/v1/ts", JSON,
			"{\"apiVersion\":\"e.com/v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"x\"},\"free\":[1]}"),
		201);
	assert_true(http_client_expect(&watch, "\"free\":[1]"));
	assert_int_equal(server_fixture_ask(&fixture, "DELETE",
	                                    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ts.e.com", NULL,
	                                    NULL),
	                 200);
	assert_true(http_client_expect(&watch, "\r\n0\r\n\r\n"));
	assert_true(http_client_expect(&table, "\r\n0\r\n\r\n"));
	assert_string_equal(events(&watch, letters), "AD"); /* how the last object went is told first */
	assert_string_equal(events(&table, letters), "AD");
	http_client_free(&watch);
	http_client_free(&table);
	server_fixture_stop(&fixture);
}

static void test_a_watch_that_breaks(void **state)
{
	struct server_fixture fixture;
	struct http_client watch, other;
	server_fixture_start(&fixture, 0);
	server_fixture_watch(&fixture, &watch, MAPS "?watch=true", NULL);
	server_fixture_watch(&fixture, &other, "/api/v1/secrets?watch=true", NULL);
	assert_true(http_client_expect(&watch, "chunked"));
	assert_true(http_client_expect(&other, "chunked"));
	const struct store_type *maps = store_type_find(fixture.store, "", "configmaps");
	assert_int_equal(store_watch_break(fixture.store, maps), 1);
	assert_true(http_client_expect(&watch, "\"code\":410"));
	assert_non_null(strstr(watch.in.text, "{\"type\":\"ERROR\""));
	assert_int_equal(serve_stats(fixture.serve).streams, 1);
	http_client_free(&watch);
	http_client_free(&other);
	server_fixture_stop(&fixture);
}

static void test_drain(void **state)
{
	struct server_fixture fixture;
	struct http_client watch;
	server_fixture_start(&fixture, 0);
	server_fixture_watch(&fixture, &watch, MAPS "?watch=true", NULL);
	assert_true(http_client_expect(&watch, "chunked"));
	serve_drain(fixture.serve);
	assert_true(http_client_ends(&watch));
	assert_non_null(strstr(watch.in.text, "0\r\n\r\n"));
	assert_true(serve_idle(fixture.serve));
	http_client_free(&watch);
	server_fixture_stop(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_happens),
		cmocka_unit_test(test_bookmarks_and_the_end),
		cmocka_unit_test(test_initial_events),
		cmocka_unit_test(test_too_old),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_a_reader_that_pauses),
		cmocka_unit_test(test_a_type_that_goes),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_a_watch_that_breaks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
