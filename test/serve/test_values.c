/* The small machines behind the API: JSONPath, spans of time, table cells, schemas, protobuf, certificates. */
#include "base/arena.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"
#include "object/yaml_read.h"
#include "serve/http/auth.h"
#include "serve/api/defaults.h"
#include "object/jsonpath.h"
#include "serve/tls/pki.h"
#include "serve/api/protobuf.h"
#include "serve/api/schema_check.h"
#include "serve/tls/secret_file.h"
#include "serve/api/structural.h"
#include "serve/api/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct doc *yaml(const char *text)
{
	struct yaml_document *docs = NULL;
	size_t count = 0;
	struct error error = {0};
	if (yaml_read(text, strlen(text), &docs, &count, &error) || count != 1)
		fail_msg("%s: %s", text, error.text);
	struct doc *doc = docs[0].doc;
	free(docs);
	return doc;
}

static bool collect(void *context, const struct val *val)
{
	struct buffer *out = context;
	buffer_puts(out, out->length ? " " : "");
	val_write(val, DOC_JSON_COMPACT, out);
	return true;
}

static void test_jsonpath(void **state)
{
	static const struct {
		const char *path, *found;
	} cases[] = {
		{".a", "1"},
		{"{.a}", "1"},
		{"$.a", "1"},
		{".b.c[1]", "\"y\""},
		{".b.c[-1]", "\"y\""},
		{".b.c[*]", "\"x\" \"y\""},
		{".b['c'][0]", "\"x\""},
		{".b.d\\.e", "true"},
		{".b['d.e']", "true"},
		{".list[?(@.type==\"Ready\")].status", "\"True\""},
		{".list[?(@.type!=\"Ready\")].status", "\"False\""},
		{".list[?(@.n==2)].type", "\"Other\""},
		{".list[*].type", "\"Ready\" \"Other\""},
		{".list[?(@.deep.er)].type", "\"Ready\""},
		{".b.*[0]", "\"x\""},
		{".nope.a", ""},
		{".b.c[7]", ""},
		{".b.c[x]", ""},
		{".b.c[-1:]", "\"y\""},
		{".b.c[:1]", "\"x\""},
		{".b.c[0:9]", "\"x\" \"y\""},
		{".b.c[-9:]", "\"x\" \"y\""},
		{".b.c[1:1]", ""},
		{".b.c[2:1]", ""},
		{".b.c[:", ""},
		{".b.c[-9]", ""},
		{".a[-1:]", ""},
		{".list[?(", ""},
		{"[", ""},
		{".", "{\"a\":1,\"b\":{\"c\":[\"x\",\"y\"],\"d.e\":true},\"list\":[{\"type\":\"Ready\",\"status\":"
	              "\"True\",\"deep\":{"
	              "\"er\":0}},{\"type\":\"Other\",\"status\":\"False\",\"n\":2}]}"},
	};
	struct doc *doc = yaml("{a: 1, b: {c: [x, \"y\"], d.e: true}, list: [{type: Ready, status: 'True', deep: {er: "
	                       "0}}, {type: Other, "
	                       "status: 'False', \"n\": 2}]}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer out = {0};
		jsonpath_each(doc_root(doc), cases[i].path, collect, &out);
		print_message("# %s\n", cases[i].path);
		assert_string_equal(out.text ? out.text : "", cases[i].found);
		buffer_free(&out);
	}
	doc_destroy(doc);
}

static void test_spans(void **state)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} cases[] = {
		{-5, "<invalid>"},
		{-1, "0s"},
		{0, "0s"},
		{119, "119s"},
		{120, "2m"},
		{303, "5m3s"},
		{600, "10m"},
		{10799, "179m"},
		{10800, "3h"},
		{11000, "3h3m"},
		{86400, "24h"},
		{172799, "47h"},
		{172800, "2d"},
		{180000, "2d2h"},
		{864000, "10d"},
		{86400 * 729, "729d"},
		{86400 * 730, "2y"},
		{86400 * 800, "2y70d"},
		{86400LL * 3650, "10y"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer out = {0};
		table_put_span(&out, cases[i].seconds);
		assert_string_equal(out.text, cases[i].text);
		buffer_free(&out);
	}
}

static void test_cells(void **state)
{
	static const struct {
		const char *group, *resource, *column, *object, *cell;
	} cases[] = {
		{"", "pods", "Status", "{status: {phase: Running}}", "\"Running\""},
		{"", "pods", "Status", "{metadata: {deletionTimestamp: x}, status: {phase: Running}}",
	         "\"Terminating\""},
		{"", "pods", "Status", "{status: {phase: Failed, reason: Evicted}}", "\"Evicted\""},
		{"", "pods", "Status",
	         "{status: {phase: Pending, conditions: [{type: PodScheduled, reason: SchedulingGated}]}}",
	         "\"SchedulingGated\""},
		{"", "pods", "Status",
	         "{status: {phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff}}}]}}",
	         "\"ImagePullBackOff\""},
		{"", "pods", "Status",
	         "{spec: {initContainers: [{name: i}, {name: j}]}, status: {phase: Pending, initContainerStatuses: "
	         "[{name: i, state: "
	         "{terminated: {exitCode: 0}}}, {name: j, state: {running: {}}}]}}",
	         "\"Init:1/2\""},
		{"", "pods", "Status",
	         "{status: {phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 3}}}]}}",
	         "\"ExitCode:3\""},
		{"", "pods", "Ready", "{spec: {containers: [{}, {}]}, status: {containerStatuses: [{ready: true}]}}",
	         "\"1/2\""},
		{"", "pods", "Restarts", "{status: {containerStatuses: [{restartCount: 2}, {restartCount: 3}]}}",
	         "\"5\""},
		{"", "nodes", "Status", "{}", "\"Unknown\""},
		{"", "nodes", "Status",
	         "{spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: 'True'}]}}",
	         "\"Ready,SchedulingDisabled\""},
		{"", "nodes", "Roles",
	         "{metadata: {labels: {node-role.kubernetes.io/a: '', node-role.kubernetes.io/b: ''}}}", "\"a,b\""},
		{"", "services", "Port(s)", "{spec: {ports: [{port: 80, nodePort: 30000}, {port: 53, protocol: UDP}]}}",
	         "\"80:30000/TCP,53/UDP\""},
		{"", "services", "External-IP", "{spec: {type: LoadBalancer}}", "\"<pending>\""},
		{"apps", "deployments", "Ready", "{spec: {replicas: 3}, status: {readyReplicas: 1}}", "\"1/3\""},
		{"batch", "jobs", "Completions", "{spec: {completions: 5}, status: {succeeded: 2}}", "\"2/5\""},
		{"batch", "jobs", "Completions", "{spec: {parallelism: 4}}", "\"0/1 of 4\""},
		{"batch", "jobs", "Status", "{status: {conditions: [{type: Failed, status: 'True'}]}}", "\"Failed\""},
		{"batch", "jobs", "Duration",
	         "{status: {startTime: '2023-11-14T22:13:20Z', completionTime: '2023-11-14T22:15:20Z'}}", "\"2m\""},
		{"batch", "cronjobs", "Suspend", "{spec: {}}", "\"false\""},
		{"", "persistentvolumeclaims", "Access Modes", "{status: {accessModes: [ReadWriteOnce, ReadOnlyMany]}}",
	         "\"RWO,ROX\""},
		{"", "persistentvolumes", "Claim", "{spec: {claimRef: {namespace: a, name: b}}}", "\"a/b\""},
		{"storage.k8s.io", "csidrivers", "StorageCapacity", "{spec: {storageCapacity: true}}", "\"true\""},
		{"storage.k8s.io", "csinodes", "Drivers", "{spec: {drivers: [{name: a}, {name: b}]}}", "2"},
		{"storage.k8s.io", "csistoragecapacities", "Capacity", "{capacity: 5Gi}", "\"5Gi\""},
		{"storage.k8s.io", "volumeattachments", "PV", "{spec: {source: {persistentVolumeName: v}}}", "\"v\""},
		{"", "events", "Object", "{involvedObject: {kind: PodGroup, name: G}}", "\"podgroup/G\""},
		{"", "events", "Last Seen", "{lastTimestamp: '2023-11-14T22:13:00Z'}", "\"20s\""},
		{"apps", "replicasets", "Selector",
	         "{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: "
	         "[x, z]}, {key: o, operator: DoesNotExist}]}}}",
	         "\"a=b,k in (x,z),!o\""},
		{"policy", "poddisruptionbudgets", "Max Unavailable", "{spec: {}}", "\"N/A\""},
		{"policy", "poddisruptionbudgets", "Min Available", "{spec: {minAvailable: 50%}}", "\"50%\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doc *doc = yaml(cases[i].object);
		struct buffer out = {0};
		struct table_cell cell = {.out = &out, .object = doc_root(doc), .now = 1700000000};
		const struct table_column *column = table_columns(cases[i].group, cases[i].resource);
		while (column->name && strcmp(column->name, cases[i].column) != 0)
			column++;
		print_message("# %s of %s in %s\n", cases[i].column, cases[i].resource, cases[i].object);
		assert_non_null(column->name);
		cell.path = column->path;
		column->put(&cell);
		assert_string_equal(out.text, cases[i].cell);
		buffer_free(&out);
		doc_destroy(doc);
	}
}

/* Columns of a kind stand in its row or with the computed ones, and in one of them alone. */
static void test_columns_stand_once(void **state)
{
	const struct kind_row *row;
	size_t computed = 0;
	for (size_t i = 0; (row = kinds_row(i)); i++) {
		const struct table_column *columns = table_columns(row->group, row->resource);
		assert_false(columns && row->columns);
		assert_false(columns && !kinds_is_built_in(row));
		computed += columns != NULL;
	}
	assert_true(computed > 30);
}

/* Searching a type gives what walking over it gave. */
static void check_found_again(const struct schema_type *type, const struct schema_field *walked)
{
	char name[80];
	struct schema_field found;
	snprintf(name, sizeof(name), "%.*s", (int)walked->name_length, walked->name);
	if (!walked->inlined) {
		assert_true(schema_field_named(type, name, &found));
		assert_ptr_equal(found.type, walked->type);
		assert_int_equal(found.kind, walked->kind);
	}
	if (walked->number) {
		assert_true(schema_field_numbered(type, walked->number, &found));
		assert_ptr_equal(found.name, walked->name);
	}
}

/* Every name in the tables leads somewhere, and rows are sorted: the search depends on it. */
static void test_schema_tables(void **state)
{
	const struct {
		const struct schema_type *rows;
		size_t count;
	} tables[] = {{schema_core, schema_core_count},
	              {schema_groups, schema_groups_count},
	              {schema_platoon, schema_platoon_count}};
	for (size_t t = 0; t < 3; t++) {
		for (size_t i = 0; i < tables[t].count; i++) {
			const struct schema_type *row = &tables[t].rows[i];
			struct schema_field field;
			const char *at = row->fields;
			if (i > 0)
				assert_true(strcmp(row[-1].name, row->name) < 0);
			while (schema_next(&at, &field)) {
				assert_true(field.name_length > 0);
				if (!strchr("silbfyqtuxdaT", field.kind))
					fail_msg("%s: odd field in %s", row->name, row->fields);
				check_found_again(row, &field);
			}
		}
	}
	struct schema_field field;
	const struct schema_type *map = schema_find("ConfigMap");
	assert_false(schema_field_named(map, "dat", &field));
	assert_false(schema_field_named(map, "", &field));
	assert_false(schema_field_named(map, "data:2{}s immutable", &field));
	assert_true(schema_field_named(schema_find("ConfigMapKeySelector"), "name", &field)); /* inlined */
	assert_null(kinds_schema("", "v1", "Nope"));
	assert_null(kinds_schema("apps", "v2", "Deployment"));
	assert_null(kinds_schema("batch.volcano.sh", "v1alpha1", "Job")); /* its definition knows */
	assert_null(kinds_schema("resource.k8s.io", "v1", "ResourceClaim"));
	static const char *const known[][3] = {
		{"", "v1", "Pod"},
		{"", "v1", "Binding"},
		{"apps", "v1", "Deployment"},
		{"policy", "v1", "Eviction"},
		{"autoscaling", "v1", "Scale"},
		{"scheduling.run.ai", "v2alpha2", "PodGroup"},
		{"workloads.x-k8s.io", "v1alpha1", "RoleBasedGroup"},
		{"workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_string_equal(kinds_schema(known[i][0], known[i][1], known[i][2])->name, known[i][2]);
	assert_string_equal(kinds_schema("autoscaling", "v1", "HorizontalPodAutoscaler")->name,
	                    "HorizontalPodAutoscalerOne");
	assert_string_equal(kinds_schema("events.k8s.io", "v1", "Event")->name, "EventEvents");
}

static void test_structural(void **state)
{
	static const struct {
		const char *schema, *object, *problem; /* NULL: none */
	} cases[] = {
		{"{type: object, properties: {a: {type: string}}}", "{a: b, apiVersion: v, kind: k, metadata: {x: 1}}",
	         NULL},
		{"{type: object, properties: {a: {type: string}}}", "{a: 1}", "a in body must be of type string"},
		{"{properties: {a: {type: number}}}", "{a: 1.5}", NULL},
		{"{properties: {a: {type: integer}}}", "{a: 1.5}", "must be of type integer"},
		{"{properties: {a: {type: integer, nullable: true}}}", "{a: null}", NULL},
		{"{properties: {a: {type: integer}}}", "{a: null}", "must be of type integer"},
		{"{properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: 5%}", NULL},
		{"{properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: []}", "integer or string"},
		{"{required: [a, b]}", "{}", "Required value"},
		{"{properties: {a: {minimum: 2, exclusiveMinimum: true}}}", "{a: 2}", "greater than 2"},
		{"{properties: {a: {multipleOf: 4}}}", "{a: 6}", "multiple of 4"},
		{"{properties: {a: {minItems: 2}}}", "{a: [1]}", "at least 2 items"},
		{"{properties: {a: {items: {type: string}}}}", "{a: [x, 1]}", "a[1]"},
		{"{properties: {a: {additionalProperties: {type: integer}}}}", "{a: {k: x}}", "a.k"},
		{"{properties: {a: {maxProperties: 1}}}", "{a: {k: 1, l: 2}}", "at most 1"},
		{"{properties: {a: {anyOf: [{type: string}, {minimum: 5}]}}}", "{a: 4}", "anyOf"},
		{"{properties: {a: {anyOf: [{type: string}, {minimum: 5}]}}}", "{a: 6}", NULL},
		{"{properties: {a: {oneOf: [{minimum: 1}, {minimum: 5}]}}}", "{a: 6}", "oneOf"},
		{"{properties: {a: {not: {enum: [1]}}}}", "{a: 1}", "not"},
		{"{properties: {a: {pattern: '^(?:a|b)\\d{2}$'}}}", "{a: b12}", NULL},
		{"{properties: {a: {pattern: '^(?:a|b)\\d{2}$'}}}", "{a: c12}", "should match"},
		{"{properties: {a: {pattern: '^\\p{Lu}\\Q.\\E$'}}}", "{a: Ä.}", NULL},
		{"{properties: {a: {pattern: '^\\p{Lu}\\Q.\\E$'}}}", "{a: Äx}", "should match"},
		{"{properties: {a: {pattern: '(?!x)'}}}", "{a: x}", "cannot be checked"},
		{"{properties: {a: {pattern: '('}}}", "{a: x}", "cannot be checked"},
		{"{properties: {a: {pattern: '^((a{1,200}){1,200}){1,200}$'}}}", "{a: aaaa}", "cannot be checked"},
		{"{properties: {a: {pattern: '^(a+)+$'}}}", "{a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!}",
	         "cannot be checked"},
		{"{properties: {a: {x-kubernetes-list-type: set}}}", "{a: [x, z, x]}", "a[2]: Duplicate value: \"x\""},
		{"{properties: {a: {x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}}",
	         "{a: [{k: 1, v: 1}, {k: 1}]}", "a[1]: Duplicate value: {\"k\":1}"},
		{"{properties: {a: {x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}}",
	         "{a: [{k: 1}, {k: 2}]}", NULL},
		{"{properties: {a: {minLength: 3}}}", "{a: \"\\u00e4\\u00e4\"}", "at least 3"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *arena = arena_create();
		struct problems problems = {.arena = arena};
		struct doc *schema = yaml(cases[i].schema), *object = yaml(cases[i].object);
		structural_validate(doc_root(schema), doc_root(object), &problems);
		print_message("# %s: %s\n", cases[i].schema, cases[i].object);
		if (!cases[i].problem) {
			assert_int_equal(problems.count, 0);
		} else {
			assert_true(problems.count > 0);
			const char *text =
				arena_printf(arena, "%s: %s", problems.items[0].path, problems.items[0].message);
			if (!strstr(text, cases[i].problem))
				fail_msg("%s is not in: %s", cases[i].problem, text);
		}
		doc_destroy(schema);
		doc_destroy(object);
		arena_destroy(arena);
	}
}

static void test_shaping(void **state)
{
	static const struct {
		const char *schema, *object, *shaped; /* NULL: nothing to do */
	} cases[] = {
		{"{properties: {a: {default: 1}}}", "{a: 2}", NULL},
		{"{properties: {a: {default: 1}}}", "{b: 2}", "{\"a\":1}"},
		{"{properties: {a: {default: {}, properties: {b: {default: x}}}}}", "{}", "{\"a\":{\"b\":\"x\"}}"},
		{"{properties: {a: {items: {properties: {b: {default: 0}}}}}}", "{a: [{}, {b: 5}]}",
	         "{\"a\":[{\"b\":0},{\"b\":5}]}"},
		{"{x-kubernetes-preserve-unknown-fields: true}", "{z: {y: 1}}", NULL},
		{"{properties: {}}", "{kind: K, metadata: {name: nn}, z: 1}",
	         "{\"kind\":\"K\",\"metadata\":{\"name\":\"nn\"}}"},
		{"{additionalProperties: {properties: {a: {}}}}", "{k: {a: 1, b: 2}}", "{\"k\":{\"a\":1}}"},
		{"{properties: {a: {default: 1}}}", "{a: null}", "{\"a\":1}"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doc *schema = yaml(cases[i].schema), *object = yaml(cases[i].object);
		struct doc *shaped = structural_shape(doc_root(schema), doc_root(object));
		struct buffer out = {0};
		print_message("# %s: %s\n", cases[i].schema, cases[i].object);
		if (shaped)
			val_write(doc_root(shaped), DOC_JSON_COMPACT, &out);
		assert_int_equal(shaped != NULL, cases[i].shaped != NULL);
		if (shaped)
			assert_string_equal(out.text, cases[i].shaped);
		buffer_free(&out);
		doc_destroy(schema);
		doc_destroy(object);
		doc_destroy(shaped);
	}
}

static void test_defaults(void **state)
{
	static const struct {
		const char *group, *kind, *object, *filled; /* NULL: nothing to do */
	} cases[] = {
		{"", "ConfigMap", "{data: {a: b}}", NULL},
		{"", "Secret", "{data: {}}", "{\"data\":{},\"type\":\"Opaque\"}"},
		{"", "Pod", "{spec: 5}", NULL},
		{"", "Pod",
	         "{spec: {restartPolicy: Never, dnsPolicy: None, terminationGracePeriodSeconds: 0, containers: [{name: "
	         "a, ports: [{containerPort: "
	         "1}, {containerPort: 2, protocol: UDP}]}]}}",
	         "{\"spec\":{\"restartPolicy\":\"Never\",\"dnsPolicy\":\"None\",\"terminationGracePeriodSeconds\":0,"
	         "\"containers\":[{\"name\":"
	         "\"a\",\"ports\":[{\"containerPort\":1,\"protocol\":\"TCP\"},{\"containerPort\":2,\"protocol\":"
	         "\"UDP\"}]}]}}"},
		{"", "Pod",
	         "{spec: {restartPolicy: Never, dnsPolicy: None, terminationGracePeriodSeconds: 0, containers: "
	         "[{resources: {limits: {gpu: 1, cpu: "
	         "2}, requests: {cpu: 1}}}]}}",
	         "{\"spec\":{\"restartPolicy\":\"Never\",\"dnsPolicy\":\"None\",\"terminationGracePeriodSeconds\":0,"
	         "\"containers\":[{"
	         "\"resources\":{\"limits\":{\"gpu\":1,\"cpu\":2},\"requests\":{\"cpu\":1,\"gpu\":1}}}]}}"},
		{"apps", "ReplicaSet", "{spec: {}}", "{\"spec\":{\"replicas\":1}}"},
		{"apps", "ReplicaSet", "{spec: {replicas: 0}}", NULL},
		{"apps", "ReplicaSet", "{spec: {replicas: null}}", "{\"spec\":{\"replicas\":1}}"},
		{"apps", "DaemonSet", "{spec: {revisionHistoryLimit: 2, updateStrategy: {type: OnDelete}}}", NULL},
		{"scheduling.k8s.io", "PriorityClass", "{value: 1}",
	         "{\"value\":1,\"preemptionPolicy\":\"PreemptLowerPriority\"}"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doc *object = yaml(cases[i].object);
		struct doc *filled = defaults_fill(cases[i].group, cases[i].kind, doc_root(object));
		struct buffer out = {0};
		print_message("# %s %s\n", cases[i].kind, cases[i].object);
		if (filled)
			val_write(doc_root(filled), DOC_JSON_COMPACT, &out);
		assert_string_equal(out.text ? out.text : "nothing", cases[i].filled ? cases[i].filled : "nothing");
		buffer_free(&out);
		doc_destroy(object);
		doc_destroy(filled);
	}
}

static void test_protobuf(void **state)
{
	/* apiVersion v1, kind ConfigMap; metadata {name cm, namespace ""}; data {a: b}; immutable false, which is only
	 * there when somebody set it. */
	static const char config_map[] = "k8s\0"
					 "\x0a\x0f\x0a\x02v1\x12\x09"
					 "ConfigMap"
					 "\x12\x12\x0a\x06\x0a\x02"
					 "cm\x1a\x00\x12\x06\x0a\x01"
					 "a\x12\x01"
					 "b\x20\x00";
	/* Deployment with spec.replicas 0 and an empty status. */
	static const char deployment[] = "k8s\0"
					 "\x0a\x15\x0a\x07"
					 "apps/v1\x12\x0a"
					 "Deployment"
					 "\x12\x06\x12\x02\x08\x00\x1a\x00";
	struct error error = {0};
	struct buffer out = {0};
	struct doc *doc = protobuf_read(config_map, sizeof(config_map) - 1, &error);
	if (!doc)
		fail_msg("%s", error.text);
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	assert_string_equal(
		out.text,
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"cm\"},\"data\":{\"a\":\"b\"},"
		"\"immutable\":false}");
	doc_destroy(doc);
	out.length = 0;
	doc = protobuf_read(deployment, sizeof(deployment) - 1, &error);
	if (!doc)
		fail_msg("%s", error.text);
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	assert_string_equal(out.text, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"replicas\":0}}");
	doc_destroy(doc);
	buffer_free(&out);
	for (size_t length = 0; length < sizeof(config_map) - 1; length++) {
		char *cut = malloc(length + 1);
		memcpy(cut, config_map, length);
		doc_destroy(protobuf_read(cut, length, &error));
		free(cut);
	}
}

static void forget_files(const char *directory)
{
	static const char *const names[] = {"ca.crt",     "ca.key",     "server.crt", "server.key",
	                                    "client.crt", "client.key", "token"};
	char path[300];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

static char *file_text(const char *directory, const char *name, struct buffer *text)
{
	char path[300];
	struct stat info;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	text->length = 0;
	assert_int_equal(secret_read(path, text, NULL), 1);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	return text->text;
}

static void test_certificates(void **state)
{
	char directory[] = "platoon-pki-XXXXXX", nested[100], path[300];
	struct error error = {0};
	struct buffer before = {0}, after = {0}, ca = {0}, token = {0}, again = {0};
	int64_t now = 1700000000, year = 365 * 86400;
	assert_non_null(mkdtemp(directory));
	snprintf(nested, sizeof(nested), "%s/deep", directory);
	struct pki *pki = pki_open(nested, NULL, now, &error);
	if (!pki)
		fail_msg("%s", error.text);
	assert_non_null(pki_tls(pki));
	assert_non_null(strstr(pki_authority(pki), "BEGIN CERTIFICATE"));
	file_text(nested, "server.crt", &before);
	file_text(nested, "ca.crt", &ca);
	pki_close(pki);
	/* The next start uses what is there. */
	pki_close(pki_open(nested, NULL, now + year, &error));
	assert_string_equal(file_text(nested, "server.crt", &after), before.text);
	/* Another address needs another certificate, from the same authority. */
	pki_close(pki_open(nested, "10.1.2.3", now, &error));
	assert_string_not_equal(file_text(nested, "server.crt", &after), before.text);
	assert_string_equal(file_text(nested, "ca.crt", &after), ca.text);
	/* Shortly before the end everything is made anew. */
	pki_close(pki_open(nested, NULL, now + 10 * year, &error));
	assert_string_not_equal(file_text(nested, "ca.crt", &after), ca.text);
	/* A damaged key is not overwritten in silence. */
	snprintf(path, sizeof(path), "%s/client.key", nested);
	assert_int_equal(secret_write(path, "rubbish", 7, &error), 0);
	assert_null(pki_open(nested, NULL, now, &error));
	assert_non_null(strstr(error.text, "client"));
	assert_int_equal(pki_token(nested, "token", &token, &error), 0);
	assert_int_equal(token.length, 64);
	assert_int_equal(pki_token(nested, "token", &again, &error), 0);
	assert_string_equal(token.text, again.text);
	buffer_free(&before);
	buffer_free(&after);
	buffer_free(&ca);
	buffer_free(&token);
	buffer_free(&again);
	forget_files(nested);
	forget_files(directory);
}

static void test_who(void **state)
{
	struct auth auth = {0};
	struct arena *arena = arena_create();
	buffer_puts(&auth.token, "0123456789abcdef");
	buffer_puts(&auth.read_token, "fedcba9876543210");
	static const struct {
		const char *header;
		const char *user; /* NULL: nobody */
		bool read_only;
	} cases[] = {
		{NULL, NULL, false},
		{"", NULL, false},
		{"Bearer", NULL, false},
		{"Bearer ", NULL, false},
		{"Basic 0123456789abcdef", NULL, false},
		{"Bearer 0123456789abcde", NULL, false},
		{"Bearer 0123456789abcdef0", NULL, false},
		{"Bearer 0123456789abcdef", "platoon-admin", false},
		{"bearer  0123456789abcdef", "platoon-admin", false},
		{"Bearer fedcba9876543210", "platoon-reader", true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_field field = {"authorization", cases[i].header};
		struct http_request request = {.headers = &field,
		                               .header_count = cases[i].header ? 1 : 0,
		                               .arena = arena};
		const struct auth_user *user = auth_identify(&auth, &request);
		assert_int_equal(user != NULL, cases[i].user != NULL);
		if (user) {
			assert_string_equal(user->name, cases[i].user);
			assert_int_equal(user->read_only, cases[i].read_only);
		}
	}
	struct http_request signed_in = {.arena = arena, .peer = {.tls = true, .certificate = true, .subject = "me"}};
	assert_string_equal(auth_identify(&auth, &signed_in)->name, "me");
	auth_free(&auth);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jsonpath),      cmocka_unit_test(test_spans),
		cmocka_unit_test(test_cells),         cmocka_unit_test(test_columns_stand_once),
		cmocka_unit_test(test_schema_tables), cmocka_unit_test(test_structural),
		cmocka_unit_test(test_shaping),       cmocka_unit_test(test_protobuf),
		cmocka_unit_test(test_certificates),  cmocka_unit_test(test_who),
		cmocka_unit_test(test_defaults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
