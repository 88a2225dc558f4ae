/* Bodies that no request may have, in every format that the API reads: refused with the place, and nothing is stored. */
#include "fixtures/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define JSON "Content-Type: application/json\r\n"
#define YAML "Content-Type: application/yaml\r\n"
#define APPLY "Content-Type: application/apply-patch+yaml\r\n"
#define MERGE "Content-Type: application/merge-patch+json\r\n"
#define JSONPATCH "Content-Type: application/json-patch+json\r\n"
#define MAPS "/api/v1/namespaces/default/configmaps"
#define MAP(rest) "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," rest "}"

static void the_character_nul(void **state)
{
	static const struct server_step steps[] = {
		{"something to change", "POST", MAPS, JSON, MAP("\"metadata\":{\"name\":\"a\"}"), 201, {NULL}},
		{"in a name",
	         "POST",
	         MAPS,
	         JSON,
	         MAP("\"metadata\":{\"name\":\"b\\u0000c\"}"),
	         422,
	         {"metadata.name: "}},
		{"in a label",
	         "POST",
	         MAPS,
	         JSON,
	         MAP("\"metadata\":{\"name\":\"b\",\"labels\":{\"x\":\"1\\u00002\"}}"),
	         422,
	         {"metadata.labels.x: a text must not hold the character U+0000", "\"reason\":\"Invalid\""}},
		{"in a key",
	         "POST",
	         MAPS,
	         JSON,
	         MAP("\"metadata\":{\"name\":\"b\"},\"data\":{\"k\\u0000k\":\"z\"}"),
	         422,
	         {"data.k: "}},
		{"in YAML",
	         "POST",
	         MAPS,
	         YAML,
	         "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {k: \"a\\0b\"}}",
	         422,
	         {"data.k: "}},
		{"applied",
	         "PATCH",
	         MAPS "/b?fieldManager=me",
	         APPLY,
	         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {k: \"\\x00\"}\n",
	         422,
	         {"data.k: "}},
		{"in a patch", "PATCH", MAPS "/a", MERGE, "{\"data\":{\"k\":\"\\u0000\"}}", 422, {"data.k: "}},
		{"in a list of changes",
	         "PATCH",
	         MAPS "/a",
	         JSONPATCH,
	         "[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"k\":\"\\u0000\"}}]",
	         422,
	         {"[0].value.k: "}},
		{"in a path", "GET", MAPS "/a%00b", NULL, NULL, 404, {NULL}},
		{"only its escape, escaped",
	         "PATCH",
	         MAPS "/a",
	         MERGE,
	         "{\"data\":{\"k\":\"\\\\u0000\"}}",
	         200,
	         {"\"k\":\"\\\\u0000\""}},
		{"nothing else came of it", "GET", MAPS, NULL, NULL, 200, {"\"name\":\"a\"", "!\"name\":\"b"}},
	};
	struct server_fixture fixture;
	(void)state;
	server_fixture_start(&fixture, 0);
	server_fixture_play_all(&fixture, steps);
	server_fixture_stop(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_character_nul),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
