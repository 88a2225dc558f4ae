/* The REST API as a story: requests in order, each with the answer it must get. */
#include "fixtures/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define JSON "Content-Type: application/json\r\n"
#define MERGE "Content-Type: application/merge-patch+json\r\n"
#define JSONPATCH "Content-Type: application/json-patch+json\r\n"
#define STRATEGIC "Content-Type: application/strategic-merge-patch+json\r\n"
#define APPLY "Content-Type: application/apply-patch+yaml\r\n"
#define TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n"
#define PARTIAL "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io\r\n"
#define PARTIALS "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io\r\n"
#define NS "/api/v1/namespaces/default"

#define POD(name)                                                                                                      \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                                       \
	"\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x\"}]}}"

static void test_objects(void **state)
{
	static const struct server_step steps[] = {
		{"nothing there yet", "GET", NS "/pods", NULL, NULL, 200, {"\"kind\":\"PodList\"", "\"items\":[]"}},
		{"create",
	         "POST",
	         NS "/pods",
	         JSON,
	         POD("p1"),
	         201,
	         {"\"uid\":", "\"namespace\":\"default\"", "Pending"}},
		{"twice",
	         "POST",
	         NS "/pods",
	         JSON,
	         POD("p1"),
	         409,
	         {"AlreadyExists", "pods \\\"p1\\\" already exists"}},
		{"get", "GET", NS "/pods/p1", NULL, NULL, 200, {"\"kind\":\"Pod\""}},
		{"in all namespaces", "GET", "/api/v1/pods", NULL, NULL, 200, {"\"name\":\"p1\""}},
		{"absent",
	         "GET",
	         NS "/pods/nope",
	         NULL,
	         NULL,
	         404,
	         {"\"reason\":\"NotFound\"", "\"details\":{\"name\":\"nope\""}},
		{"as a table",
	         "GET",
	         NS "/pods/p1",
	         TABLE,
	         NULL,
	         200,
	         {"\"kind\":\"Table\"", "[\"p1\",\"0/1\",\"Pending\",\"0\",\"0s\"", "PartialObjectMetadata"}},
		{"with the object",
	         "GET",
	         NS "/pods?includeObject=Object",
	         TABLE,
	         NULL,
	         200,
	         {"\"object\":{", "\"image\":\"x\""}},
		{"without it", "GET", NS "/pods?includeObject=None", TABLE, NULL, 200, {"!\"object\""}},
		{"metadata only",
	         "GET",
	         NS "/pods/p1",
	         PARTIAL,
	         NULL,
	         200,
	         {"\"kind\":\"PartialObjectMetadata\"", "!containers"}},
		{"metadata of a list",
	         "GET",
	         NS "/pods",
	         PARTIALS,
	         NULL,
	         200,
	         {"\"kind\":\"PartialObjectMetadataList\""}},
		{"in YAML",
	         "GET",
	         NS "/pods/p1",
	         "Accept: application/yaml\r\n",
	         NULL,
	         200,
	         {"application/yaml", "kind: Pod\n"}},
		{"in nothing we have", "GET", NS "/pods", "Accept: image/png\r\n", NULL, 406, {"NotAcceptable"}},
		{"protobuf or JSON is JSON",
	         "GET",
	         NS "/pods",
	         "Accept: application/vnd.kubernetes.protobuf,application/json\r\n",
	         NULL,
	         200,
	         {"application/json"}},
		{"a body of another kind", "POST", NS "/configmaps", JSON, POD("p2"), 400, {"Status"}},
		{"a name that does not fit", "PUT", NS "/pods/other", JSON, POD("p1"), 400, {"Status"}},
		{"not JSON", "POST", NS "/pods", JSON, "{oops", 400, {"BadRequest", "line 1"}},
		{"another type",
	         "POST",
	         NS "/pods",
	         "Content-Type: text/plain\r\n",
	         "x",
	         415,
	         {"UnsupportedMediaType"}},
		{"YAML is welcome",
	         "POST",
	         NS "/configmaps",
	         "Content-Type: application/yaml\r\n",
	         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yy}\ndata: {a: b}\n",
	         201,
	         {"\"a\":\"b\""}},
		{"a namespace that is not there",
	         "POST",
	         "/api/v1/namespaces/nope/pods",
	         JSON,
	         POD("p1"),
	         404,
	         {"namespaces \\\"nope\\\" not found"}},
		{"a name for me",
	         "POST",
	         NS "/configmaps",
	         JSON,
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"generateName\":\"gen-\"}}",
	         201,
	         {"\"name\":\"gen-"}},
		{"only trying", "POST", NS "/pods?dryRun=All", JSON, POD("dry"), 201, {"\"name\":\"dry\""}},
		{"so it is not there", "GET", NS "/pods/dry", NULL, NULL, 404, {NULL}},
		{"trying what", "POST", NS "/pods?dryRun=Some", JSON, POD("dry"), 422, {"Unsupported value"}},
		{"all namespaces take no objects", "POST", "/api/v1/pods", JSON, POD("p1"), 405, {"MethodNotAllowed"}},
		{"a method that makes no sense", "POST", NS "/pods/p1", JSON, POD("p1"), 405, {"MethodNotAllowed"}},
		{"a cluster type in a namespace", "GET", NS "/nodes", NULL, NULL, 404, {NULL}},
		{"an unknown type", "GET", NS "/gadgets", NULL, NULL, 404, {"could not find the requested resource"}},
		{"an unknown group", "GET", "/apis/nope/v1/things", NULL, NULL, 404, {NULL}},
		{"an unknown subresource", "GET", NS "/pods/p1/nope", NULL, NULL, 404, {NULL}},
		{"too deep a path", "GET", "/api/v1/a/b/c/d/e/f/g/h/i/j/k/l/m", NULL, NULL, 404, {NULL}},
		{"a bad escape", "GET", "/api/v1/%zz", NULL, NULL, 404, {NULL}},
		{"a bad query", "GET", NS "/pods?a=%zz", NULL, NULL, 400, {NULL}},
		{"a bad selector", "GET", NS "/pods?labelSelector=a%20b%20c", NULL, NULL, 400, {"BadRequest"}},
		{"a bad limit", "GET", NS "/pods?limit=lots", NULL, NULL, 400, {"limit"}},
		{"a bad version", "GET", NS "/pods?resourceVersion=x", NULL, NULL, 422, {"Invalid"}},
		{"a version of the future", "GET", NS "/pods?resourceVersion=99999999", NULL, NULL, 504, {"Timeout"}},
		{"the log of a simulated pod", "GET", NS "/pods/p1/log", NULL, NULL, 200, {"text/plain", "simulated"}},
		{"no shell in it", "GET", NS "/pods/p1/exec?command=ls", NULL, NULL, 400, {"simulated"}},
		{"delete", "DELETE", NS "/pods/p1", NULL, NULL, 200, {NULL}},
		{"gone", "GET", NS "/pods/p1", NULL, NULL, 404, {NULL}},
		{"delete what is not there", "DELETE", NS "/pods/p1", NULL, NULL, 404, {NULL}},
	};
	struct server_fixture fixture;
	server_fixture_start(&fixture, 0);
	server_fixture_play_all(&fixture, steps);
	server_fixture_stop(&fixture);
}

static void test_changes(void **state)
{
	static const struct server_step steps[] = {
		{"create", "POST", NS "/pods", JSON, POD("p"), 201, {NULL}},
		{"merge",
	         "PATCH",
	         NS "/pods/p",
	         MERGE,
	         "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}",
	         200,
	         {"\"a\":\"1\""}},
		{"JSON patch",
	         "PATCH",
	         NS "/pods/p",
	         JSONPATCH,
	         "[{\"op\":\"add\",\"path\":\"/metadata/labels/b\",\"value\":\"2\"}]",
	         200,
	         {"\"b\":\"2\""}},
		{"strategic",
	         "PATCH",
	         NS "/pods/p",
	         STRATEGIC,
	         "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"y\"}]}}",
	         200,
	         {"\"image\":\"y\""}},
		{"apply",
	         "PATCH",
	         NS "/configmaps/c?fieldManager=me",
	         APPLY,
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"v\"}}",
	         201,
	         {"\"k\":\"v\""}},
		{"apply in YAML",
	         "PATCH",
	         NS "/configmaps/c?fieldManager=me",
	         APPLY,
	         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: w}\n",
	         200,
	         {"\"k\":\"w\""}},
		{"apply needs a name for who",
	         "PATCH",
	         NS "/configmaps/c",
	         APPLY,
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}",
	         422,
	         {"fieldManager"}},
		{"somebody else's field",
	         "PATCH",
	         NS "/configmaps/c?fieldManager=you",
	         APPLY,
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"z\"}}",
	         409,
	         {"FieldManagerConflict"}},
		{"taken by force",
	         "PATCH",
	         NS "/configmaps/c?fieldManager=you&force=true",
	         APPLY,
	         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"z\"}}",
	         200,
	         {"\"k\":\"z\""}},
		{"force is for apply", "PATCH", NS "/pods/p?force=true", MERGE, "{}", 422, {"force"}},
		{"a patch of no type", "PATCH", NS "/pods/p", JSON, "{}", 415, {"merge-patch+json"}},
		{"a patch that does not fit",
	         "PATCH",
	         NS "/pods/p",
	         JSONPATCH,
	         "[{\"op\":\"remove\",\"path\":\"/nope\"}]",
	         422,
	         {NULL}},
		{"status only",
	         "PATCH",
	         NS "/pods/p/status",
	         MERGE,
	         "{\"status\":{\"phase\":\"Running\"}}",
	         200,
	         {"Running"}},
		{"the main resource leaves status",
	         "PATCH",
	         NS "/pods/p",
	         MERGE,
	         "{\"status\":{\"phase\":\"Failed\"}}",
	         200,
	         {"Running", "!Failed"}},
		{"an old version",
	         "PUT",
	         NS "/pods/p",
	         JSON,
	         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\"},"
	         "\"spec\":{\"containers\":"
	         "[{\"name\":\"a\",\"image\":\"x\"}]}}",
	         409,
	         {"Conflict", "the object has been modified"}},
		{"bind",
	         "POST",
	         NS "/pods/p/binding",
	         JSON,
	         "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":"
	         "\"Node\",\"name\":\"n\"}}",
	         201,
	         {"Success"}},
		{"bind again",
	         "POST",
	         NS "/pods/p/binding",
	         JSON,
	         "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":"
	         "\"Node\",\"name\":\"n\"}}",
	         409,
	         {"already assigned"}},
		{"on that node",
	         "GET",
	         "/api/v1/pods?fieldSelector=spec.nodeName%3Dn",
	         NULL,
	         NULL,
	         200,
	         {"\"name\":\"p\""}},
		{"evict",
	         "POST",
	         NS "/pods/p/eviction",
	         JSON,
	         "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\"}}",
	         201,
	         {"Success"}},
		{"it has a while", "GET", NS "/pods/p", TABLE, NULL, 200, {"Terminating"}},
		{"at once, please", "DELETE", NS "/pods/p?gracePeriodSeconds=0", NULL, NULL, 200, {NULL}},
		{"gone", "GET", NS "/pods/p", NULL, NULL, 404, {NULL}},
		{"all of them", "DELETE", NS "/configmaps", NULL, NULL, 200, {"ConfigMapList", "\"name\":\"c\""}},
		{"none left", "GET", NS "/configmaps", NULL, NULL, 200, {"\"items\":[]"}},
		{"delete options that are none", "DELETE", NS "/configmaps/c", JSON, "[]", 400, {NULL}},
	};
	struct server_fixture fixture;
	server_fixture_start(&fixture, 0);
	server_fixture_play_all(&fixture, steps);
	server_fixture_stop(&fixture);
}

static void test_fields(void **state)
{
#define BAD                                                                                                            \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"},\"spec\":{\"nope\":1,\"containers\":[{" \
	"\"name\":"                                                                                                    \
	"\"a\",\"image\":\"x\",\"zip\":{}}]}}"
	static const struct server_step steps[] = {
		{"strict",
	         "POST",
	         NS "/pods?fieldValidation=Strict",
	         JSON,
	         BAD,
	         400,
	         {"strict decoding error: unknown field \\\"spec.nope\\\", unknown field "
	          "\\\"spec.containers[0].zip\\\""}},
		{"warn",
	         "POST",
	         NS "/pods?fieldValidation=Warn",
	         JSON,
	         BAD,
	         201,
	         {"Warning: 299 - \"unknown field \\\"spec.nope\\\"\"", "!\"nope\":1", "!zip\":"}},
		{"ignore", "PUT", NS "/pods/b?fieldValidation=Ignore", JSON, BAD, 200, {"!Warning"}},
		{"another word", "POST", NS "/pods?fieldValidation=Maybe", JSON, BAD, 422, {"fieldValidation"}},
		{"in a patch",
	         "PATCH",
	         NS "/pods/b?fieldValidation=Strict",
	         MERGE,
	         "{\"spec\":{\"nope\":1}}",
	         400,
	         {"spec.nope"}},
		{"directives are no fields",
	         "PATCH",
	         NS "/pods/b?fieldValidation=Strict",
	         STRATEGIC,
	         "{\"spec\":{\"$setElementOrder/"
	         "containers\":[{\"name\":\"a\"}],\"containers\":[{\"name\":\"a\",\"image\":\"w\"}]}}",
	         200,
	         {"\"image\":\"w\""}},
		{"a wrong type",
	         "PATCH",
	         NS "/pods/b",
	         MERGE,
	         "{\"spec\":{\"priority\":\"high\"}}",
	         400,
	         {"spec.priority: must be a whole number"}},
		{"also by JSON patch",
	         "PATCH",
	         NS "/pods/b",
	         JSONPATCH,
	         "[{\"op\":\"add\",\"path\":\"/spec/hostNetwork\",\"value\":7}]",
	         400,
	         {"spec.hostNetwork: must be true or false"}},
		{"rules of ours",
	         "POST",
	         "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups",
	         JSON,
	         "{\"apiVersion\":\"scheduling.run.ai/"
	         "v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"g\"},\"spec\":{\"minMember\":-"
	         "1}}",
	         422,
	         {"spec.minMember"}},
	};
	struct server_fixture fixture;
	server_fixture_start(&fixture, 0);
	server_fixture_play_all(&fixture, steps);
	server_fixture_stop(&fixture);
}

static void test_custom_types(void **state)
{
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define THINGS "/apis/e.com/v1/namespaces/default/things"
#define CRD(extra)                                                                                                     \
	"{\"apiVersion\":\"apiextensions.k8s.io/"                                                                      \
	"v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"things.e.com\"},"                         \
	"\"spec\":{\"group\":\"e.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"things\",\"singular\":"        \
	"\"thing\",\"kind\":"                                                                                          \
	"\"Thing\",\"listKind\":\"ThingList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"       \
	"\"subresources\":{"                                                                                           \
	"\"status\":{}},\"additionalPrinterColumns\":[{\"name\":\"Size\",\"type\":\"integer\",\"jsonPath\":\".spec."   \
	"size\"}],"                                                                                                    \
	"\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","          \
	"\"required\":[\"size\"],"                                                                                     \
	"\"properties\":{\"size\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9},\"mode\":{\"type\":\"string\","   \
	"\"default\":\"a\","                                                                                           \
	"\"enum\":[\"a\",\"b\"]},\"name\":{\"type\":\"string\",\"pattern\":\"^[a-z]+\\\\d?$\",\"maxLength\":5}" extra  \
	"}}}}}}]}}"
#define THING(spec) "{\"apiVersion\":\"e.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"t\"},\"spec\":" spec "}"
	static const struct server_step steps[] = {
		{"not yet", "GET", THINGS, NULL, NULL, 404, {NULL}},
		{"a pattern without end",
	         "POST",
	         CRDS,
	         JSON,
	         CRD(",\"bad\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"((a{200}){200}){200}\"}"
	             "}"),
	         422,
	         {"spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.bad.items.pattern",
	          "1000 times"}},
		{"define", "POST", CRDS, JSON, CRD(""), 201, {"Established"}},
		{"at once", "GET", THINGS, NULL, NULL, 200, {"\"kind\":\"ThingList\""}},
		{"in discovery", "GET", "/apis/e.com/v1", NULL, NULL, 200, {"\"name\":\"things\"", "things/status"}},
		{"in the documents",
	         "GET",
	         "/openapi/v3/apis/e.com/v1",
	         NULL,
	         NULL,
	         200,
	         {"\"maximum\":9", "fieldValidation"}},
		{"create with a default", "POST", THINGS, JSON, THING("{\"size\":3}"), 201, {"\"mode\":\"a\""}},
		{"columns", "GET", THINGS, TABLE, NULL, 200, {"\"name\":\"Size\"", "[\"t\",3]"}},
		{"missing", "PUT", THINGS "/t", JSON, THING("{}"), 422, {"spec.size: Required value"}},
		{"too large", "PUT", THINGS "/t", JSON, THING("{\"size\":10}"), 422, {"less than or equal to 9"}},
		{"too small",
	         "PATCH",
	         THINGS "/t",
	         MERGE,
	         "{\"spec\":{\"size\":0}}",
	         422,
	         {"greater than or equal to 1"}},
		{"a wrong type",
	         "PATCH",
	         THINGS "/t",
	         MERGE,
	         "{\"spec\":{\"size\":\"x\"}}",
	         422,
	         {"must be of type integer"}},
		{"a wrong word",
	         "PATCH",
	         THINGS "/t",
	         MERGE,
	         "{\"spec\":{\"mode\":\"c\"}}",
	         422,
	         {"Unsupported value: \\\"c\\\": supported values: \\\"a\\\", \\\"b\\\""}},
		{"a pattern", "PATCH", THINGS "/t", MERGE, "{\"spec\":{\"name\":\"X\"}}", 422, {"should match"}},
		{"a pattern that fits", "PATCH", THINGS "/t", MERGE, "{\"spec\":{\"name\":\"ab1\"}}", 200, {"ab1"}},
		{"too long", "PATCH", THINGS "/t", MERGE, "{\"spec\":{\"name\":\"abcdef\"}}", 422, {"at most 5"}},
		{"several at a time",
	         "PATCH",
	         THINGS "/t",
	         MERGE,
	         "{\"spec\":{\"name\":\"X\",\"size\":0}}",
	         422,
	         {"spec.name", "spec.size"}},
		{"an unknown field",
	         "PATCH",
	         THINGS "/t?fieldValidation=Strict",
	         MERGE,
	         "{\"spec\":{\"nope\":1}}",
	         400,
	         {"spec.nope"}},
		{"dropped with a warning",
	         "PATCH",
	         THINGS "/t",
	         MERGE,
	         "{\"spec\":{\"nope\":1}}",
	         200,
	         {"Warning: 299", "!\"nope\":1"}},
		{"no strategic patch", "PATCH", THINGS "/t", STRATEGIC, "{}", 415, {"!strategic-merge-patch+json\""}},
		{"remove the type", "DELETE", CRDS "/things.e.com", NULL, NULL, 200, {NULL}},
	};
	struct server_fixture fixture;
	server_fixture_start(&fixture, 0);
	server_fixture_play_all(&fixture, steps);
	http_client_turn_serve(fixture.serve, 5);
	assert_int_equal(server_fixture_ask(&fixture, "GET", THINGS, NULL, NULL), 404);
	server_fixture_stop(&fixture);
}

static void test_discovery(void **state)
{
#define DISCOVERY "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n"
	static const struct server_step steps[] = {
		{"health", "GET", "/healthz", NULL, NULL, 200, {"ok"}},
		{"ready", "GET", "/readyz", NULL, NULL, 200, {"ok"}},
		{"version", "GET", "/version?timeout=32s", NULL, NULL, 200, {"\"minor\":\"32\""}},
		{"version cannot be posted", "POST", "/version", JSON, "{}", 405, {NULL}},
		{"aggregated core",
	         "GET",
	         "/api",
	         DISCOVERY,
	         NULL,
	         200,
	         {"Content-Type: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
	          "\"subresource\":\"eviction\""}},
		{"aggregated groups",
	         "GET",
	         "/apis",
	         DISCOVERY,
	         NULL,
	         200,
	         {"\"name\":\"apps\"", "selfsubjectreviews", "ETag: "}},
		{"the older form", "GET", "/api", NULL, NULL, 200, {"APIVersions"}},
		{"groups", "GET", "/apis", NULL, NULL, 200, {"APIGroupList", "\"groupVersion\":\"batch/v1\""}},
		{"one group",
	         "GET",
	         "/apis/workloads.x-k8s.io",
	         NULL,
	         NULL,
	         200,
	         {"\"kind\":\"APIGroup\"", "v1alpha1",
	          "\"preferredVersion\":{\"groupVersion\":\"workloads.x-k8s.io/v1alpha2\""}},
		{"no such group", "GET", "/apis/nope", NULL, NULL, 404, {NULL}},
		{"resources", "GET", "/api/v1", NULL, NULL, 200, {"pods/eviction", "\"group\":\"policy\""}},
		{"no such version", "GET", "/api/v9", NULL, NULL, 404, {NULL}},
		{"index of documents", "GET", "/openapi/v3", NULL, NULL, 200, {"\"apis/apps/v1\"", "?hash="}},
		{"a document",
	         "GET",
	         "/openapi/v3/api/v1?hash=x",
	         NULL,
	         NULL,
	         200,
	         {"immutable", "\"PodSpec\":{", "fieldValidation"}},
		{"no such document", "GET", "/openapi/v3/apis/no/v1", NULL, NULL, 404, {NULL}},
		{"the old document", "GET", "/openapi/v2", NULL, NULL, 200, {"spec.v2.v1.0+protobuf"}},
		{"who am I",
	         "POST",
	         "/apis/authentication.k8s.io/v1/selfsubjectreviews",
	         JSON,
	         "{}",
	         201,
	         {"platoon-admin"}},
		{"may I",
	         "POST",
	         "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	         JSON,
	         "{\"spec\":{\"resourceAttributes\":{\"verb\":\"create\"}}}",
	         201,
	         {"\"allowed\":true"}},
		{"reviews are not kept",
	         "GET",
	         "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	         NULL,
	         NULL,
	         405,
	         {NULL}},
	};
	struct server_fixture fixture;
	server_fixture_start(&fixture, 0);
	server_fixture_play_all(&fixture, steps);
	/* A client that has the document gets a short answer. */
	server_fixture_ask(&fixture, "GET", "/apis", NULL, NULL);
	char header[100] = "If-None-Match: ";
	strncat(header, strstr(fixture.head.text, "ETag: ") + 6, 20);
	assert_int_equal(server_fixture_ask(&fixture, "GET", "/apis", header, NULL), 304);
	assert_int_equal(fixture.body.length, 0);
	server_fixture_stop(&fixture);
}

static void test_pages(void **state)
{
	struct server_fixture fixture;
	char body[300], path[600];
	server_fixture_start(&fixture, 0);
	for (int i = 0; i < 25; i++) {
		snprintf(body, sizeof(body),
		         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c%02d\",\"labels\":{"
		         "\"even\":\"%d\"}}}",
		         i, i % 2 == 0);
		assert_int_equal(server_fixture_ask(&fixture, "POST", NS "/configmaps", JSON, body), 201);
	}
	size_t seen = 0, pages = 0;
	char token[400] = "";
	do {
		snprintf(path, sizeof(path), NS "/configmaps?limit=10&continue=%s", token);
		assert_int_equal(server_fixture_ask(&fixture, "GET", path, NULL, NULL), 200);
		for (const char *at = fixture.body.text; (at = strstr(at, "\"name\":\"c")); at++)
			seen++;
		const char *next = strstr(fixture.body.text, "\"continue\":\"");
		snprintf(token, sizeof(token), "%.*s", next ? (int)strcspn(next + 12, "\"") : 0, next ? next + 12 : "");
		pages++;
		/* Later pages show what the first one saw. */
		snprintf(body, sizeof(body),
		         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"z%zu\"}}", pages);
		server_fixture_ask(&fixture, "POST", NS "/configmaps", JSON, body);
	} while (*token && pages < 10);
	assert_int_equal(pages, 3);
	assert_int_equal(seen, 25);
	assert_int_equal(server_fixture_ask(&fixture, "GET", NS "/configmaps?continue=rubbish", NULL, NULL), 400);
	server_fixture_ask(&fixture, "GET", NS "/configmaps?labelSelector=even%3D1", NULL, NULL);
	assert_non_null(strstr(fixture.body.text, "c24"));
	assert_null(strstr(fixture.body.text, "c23"));
	server_fixture_stop(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),      cmocka_unit_test(test_changes),   cmocka_unit_test(test_fields),
		cmocka_unit_test(test_custom_types), cmocka_unit_test(test_discovery), cmocka_unit_test(test_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
