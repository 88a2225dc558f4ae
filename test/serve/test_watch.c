/* Watches over the wire, in virtual time. */
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

static void put(struct world *world, const char *name, const char *label)
{
	char body[300];
	snprintf(body, sizeof(body),
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"l\":\"%s\"}"
	         "}}",
	         name, label);
	assert_int_equal(world_ask(world, "POST", MAPS, JSON, body), 201);
}

static void relabel(struct world *world, const char *name, const char *label)
{
	char path[200], body[200];
	snprintf(path, sizeof(path), MAPS "/%s", name);
	snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"l\":\"%s\"}}}", label);
	assert_int_equal(world_ask(world, "PATCH", path, MERGE, body), 200);
}

static void drop(struct world *world, const char *name)
{
	char path[200];
	snprintf(path, sizeof(path), MAPS "/%s", name);
	assert_int_equal(world_ask(world, "DELETE", path, NULL, NULL), 200);
}

/* The types of events so far, in order, as letters: A M D B E. */
static const char *events(struct wire *wire, char letters[64])
{
	size_t count = 0;
	wire_expect(wire, "nothing like this");
	for (const char *at = wire->in.text; at && (at = strstr(at, "{\"type\":\"")) && count < 63; at++)
		letters[count++] = at[9];
	letters[count] = '\0';
	return letters;
}

static void test_what_happens(void **state)
{
	struct world world;
	struct wire all, some, later, metadata;
	char letters[64], path[200];
	world_start(&world, 0);
	put(&world, "a", "x");
	put(&world, "b", "y");
	const char *version = strstr(world.body.text, "\"resourceVersion\":\"") + 19;
	snprintf(path, sizeof(path), MAPS "?watch=true&resourceVersion=%.*s", (int)strcspn(version, "\""), version);
	world_watch(&world, &later, path, NULL);
	world_watch(&world, &all, "/api/v1/configmaps?watch=1", NULL);
	world_watch(&world, &some, MAPS "?watch=true&resourceVersion=0&labelSelector=l%3Dx", NULL);
	world_watch(&world, &metadata, MAPS "?watch=true&resourceVersion=0",
	            "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io\r\n");
	assert_true(wire_expect(&all, "\"name\":\"b\""));
	assert_true(wire_expect(&all, "Transfer-Encoding: chunked"));
	relabel(&world, "b", "x"); /* comes into the selection */
	relabel(&world, "a", "z"); /* leaves it */
	drop(&world, "b");
	assert_string_equal(events(&all, letters), "AAMMD");
	assert_string_equal(events(&some, letters), "AADD");
	assert_string_equal(events(&later, letters), "MMD");
	assert_string_equal(events(&metadata, letters), "AAMMD");
	assert_non_null(strstr(metadata.in.text, "\"kind\":\"PartialObjectMetadata\""));
	assert_int_equal(serve_stats(world.serve).streams, 4);
	wire_free(&all);
	wire_free(&some);
	wire_free(&later);
	wire_free(&metadata);
	wire_turn_serve(world.serve, 4);
	assert_int_equal(serve_stats(world.serve).streams, 0);
	world_stop(&world);
}

static void test_bookmarks_and_the_end(void **state)
{
	struct world world;
	struct wire watch, silent;
	char letters[64];
	world_start(&world, 0);
	put(&world, "a", "x");
	world_watch(&world, &watch, MAPS "?watch=true&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=100",
	            NULL);
	world_watch(&world, &silent, MAPS "?watch=true&resourceVersion=0&timeoutSeconds=100", NULL);
	assert_string_equal(events(&watch, letters), "A");
	world_pass(&world, 61);
	assert_string_equal(events(&watch, letters), "AB");
	assert_false(watch.ended);
	world_pass(&world, 40);
	assert_string_equal(events(&watch, letters), "ABB");
	assert_true(wire_expect(&watch, "\r\n0\r\n\r\n"));
	assert_string_equal(events(&silent, letters), "A");
	assert_true(wire_expect(&silent, "\r\n0\r\n\r\n"));
	assert_int_equal(serve_stats(world.serve).streams, 0);
	wire_free(&watch);
	wire_free(&silent);
	world_stop(&world);
}

static void test_initial_events(void **state)
{
	struct world world;
	struct wire watch;
	char letters[64];
	world_start(&world, 0);
	put(&world, "a", "x");
	put(&world, "b", "x");
	world_watch(&world, &watch,
	            MAPS
	            "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
	            NULL);
	assert_string_equal(events(&watch, letters), "AAB");
	assert_true(wire_expect(&watch, "\"k8s.io/initial-events-end\":\"true\""));
	put(&world, "c", "x");
	assert_string_equal(events(&watch, letters), "AABA");
	wire_free(&watch);
	assert_int_equal(world_ask(&world, "GET", MAPS "?watch=true&sendInitialEvents=true", NULL, NULL), 422);
	assert_int_equal(world_ask(&world, "GET", MAPS "?watch=true&resourceVersionMatch=Exact", NULL, NULL), 422);
	assert_int_equal(world_ask(&world, "GET", MAPS "?sendInitialEvents=true", NULL, NULL), 422);
	world_stop(&world);
}

static void test_too_old(void **state)
{
	struct world world;
	struct wire watch;
	world_start(&world, 4);
	put(&world, "a", "0");
	for (int i = 0; i < 40; i++)
		relabel(&world, "a", i % 2 ? "1" : "2");
	world_watch(&world, &watch, MAPS "?watch=true&resourceVersion=6", NULL);
	assert_true(wire_expect(&watch, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\""));
	assert_true(wire_expect(&watch, "\"code\":410"));
	wire_free(&watch);
	assert_int_equal(world_ask(&world, "GET", MAPS "?watch=true&resourceVersion=99999", NULL, NULL), 504);
	assert_int_equal(world_ask(&world, "GET", MAPS "?watch=true&resourceVersion=x", NULL, NULL), 400);
	world_stop(&world);
}

static void test_tables(void **state)
{
	struct world world;
	struct wire watch;
	char letters[64];
	world_start(&world, 0);
	put(&world, "a", "x");
	world_watch(&world, &watch, MAPS "?watch=true&resourceVersion=0", TABLE);
	assert_string_equal(events(&watch, letters), "A");
	assert_true(wire_expect(&watch, "\"columnDefinitions\":[{\"name\":\"Name\""));
	wire_clear(&watch);
	world_pass(&world, 75);
	relabel(&world, "a", "y");
	assert_string_equal(events(&watch, letters), "M");
	assert_true(wire_expect(&watch, "\"columnDefinitions\":null"));
	assert_true(wire_expect(&watch, "\"cells\":[\"a\",\"0\",\"75s\"]") ||
	            wire_expect(&watch, "\"cells\":[\"a\",0,\"75s\"]"));
	wire_free(&watch);
	world_stop(&world);
}

/* A reader that stops gets nothing piled up for it, and when it goes on it gets everything in order. */
static void test_a_reader_that_pauses(void **state)
{
	struct world world;
	struct wire watch;
	char *body = malloc(200000);
	world_start(&world, 0);
	world_watch(&world, &watch, MAPS "?watch=true", NULL);
	wire_turn_serve(world.serve, 4);
	for (int i = 0; i < 100; i++) {
		int length = snprintf(body, 200000,
		                      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%03d\"},"
		                      "\"data\":{\"k\":\"",
		                      i);
		memset(body + length, 'x', 100000);
		memcpy(body + length + 100000, "\"}}", 4);
		assert_int_equal(world_ask(&world, "POST", MAPS, JSON, body), 201);
		assert_true(serve_stats(world.serve).output_bytes < 400000);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(body, 100, "\"name\":\"m%03d\"", i);
		assert_true(wire_expect(&watch, body));
	}
	free(body);
	wire_free(&watch);
	world_stop(&world);
}

static void test_a_type_that_goes(void **state)
{
	struct world world;
	struct wire watch, table;
	char letters[64];
	static const char crd[] = "{\"apiVersion\":\"apiextensions.k8s.io/"
				  "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"ts.e.com\"},"
				  "\"spec\":{\"group\":\"e.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"ts\","
				  "\"singular\":\"t\",\"kind\":\"T\",\"listKind\":"
				  "\"TList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
				  "\"schema\":{\"openAPIV3Schema\":{\"type\":"
				  "\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";
	world_start(&world, 0);
	assert_int_equal(world_ask(&world, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", JSON,
	                           crd),
	                 201);
	world_watch(&world, &watch, "/apis/e.com/v1/ts?watch=true", NULL);
	world_watch(&world, &table, "/apis/e.com/v1/ts?watch=true", TABLE);
	assert_int_equal(
		world_ask(&world, "POST", "/apis/e.com/v1/ts", JSON,
	                  "{\"apiVersion\":\"e.com/v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"x\"},\"free\":[1]}"),
		201);
	assert_true(wire_expect(&watch, "\"free\":[1]"));
	assert_int_equal(world_ask(&world, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ts.e.com",
	                           NULL, NULL),
	                 200);
	assert_true(wire_expect(&watch, "\r\n0\r\n\r\n"));
	assert_true(wire_expect(&table, "\r\n0\r\n\r\n"));
	assert_string_equal(events(&watch, letters), "AD"); /* how the last object went is told first */
	assert_string_equal(events(&table, letters), "AD");
	wire_free(&watch);
	wire_free(&table);
	world_stop(&world);
}

static void test_a_watch_that_breaks(void **state)
{
	struct world world;
	struct wire watch, other;
	world_start(&world, 0);
	world_watch(&world, &watch, MAPS "?watch=true", NULL);
	world_watch(&world, &other, "/api/v1/secrets?watch=true", NULL);
	assert_true(wire_expect(&watch, "chunked"));
	assert_true(wire_expect(&other, "chunked"));
	const struct store_type *maps = store_type_find(world.store, "", "configmaps");
	assert_int_equal(store_watch_break(world.store, maps), 1);
	assert_true(wire_expect(&watch, "\"code\":410"));
	assert_non_null(strstr(watch.in.text, "{\"type\":\"ERROR\""));
	assert_int_equal(serve_stats(world.serve).streams, 1);
	wire_free(&watch);
	wire_free(&other);
	world_stop(&world);
}

static void test_drain(void **state)
{
	struct world world;
	struct wire watch;
	world_start(&world, 0);
	world_watch(&world, &watch, MAPS "?watch=true", NULL);
	assert_true(wire_expect(&watch, "chunked"));
	serve_drain(world.serve);
	assert_true(wire_ends(&watch));
	assert_non_null(strstr(watch.in.text, "0\r\n\r\n"));
	assert_true(serve_idle(world.serve));
	wire_free(&watch);
	world_stop(&world);
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
