/* Manifests: files, folders, lists, and a report for everything that is not an object. */
#include "object/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct manifest_fixture {
	struct manifests manifests;
	struct problems problems;
};

static void open_fixture(struct manifest_fixture *fixture)
{
	manifests_init(&fixture->manifests);
	fixture->problems = (struct problems){.arena = arena_create()};
}

static void close_fixture(struct manifest_fixture *fixture)
{
	manifests_free(&fixture->manifests);
	arena_destroy(fixture->problems.arena);
}

static void describe(const struct manifest_fixture *fixture, struct buffer *out)
{
	buffer_puts(out, "");
	for (size_t i = 0; i < fixture->manifests.count; i++) {
		const struct manifest *item = &fixture->manifests.items[i];
		buffer_printf(out, "%s %s %s/%s (%s)\n", item->api_version, item->kind, item->namespace_, item->name,
		              item->source);
	}
	for (size_t i = 0; i < fixture->problems.count; i++) {
		const struct problem *problem = &fixture->problems.items[i];
		buffer_printf(out, "%s %s: %s\n", problem->severity == SEVERITY_ERROR ? "error" : "warning",
		              problem->path, problem->message);
	}
}

static void texts(void **state)
{
	static const struct {
		const char *text, *result;
	} rows[] = {
		{"", ""},
		{"# nothing\n---\n", ""},
		{"{}", "error f:1: the object has no kind\n"},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ns}\n", "v1 Pod ns/a (f:1)\n"},
		{"kind: Pod\nmetadata: {name: a, namespace: n}\n",
	         "error f:1: metadata.namespace must be a text; found: boolean\n"},
		{"kind: Pod\n---\n\nkind: Node\nmetadata: {name: b}\n", " Pod / (f:1)\n Node /b (f:4)\n"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", "v1 Pod /a (f:1)\n"},
		{"\xef\xbb\xbf{\"kind\":\"Pod\"}", " Pod / (f:1)\n"},
		{"{\"kind\":\"Pod\"}\n\n{\"kind\":\"Node\"}\n", " Pod / (f:1)\n Node / (f:3)\n"},
		{"{\"kind\":\"Pod\"}\n---\n{\"kind\":\"Node\"}\n", " Pod / (f:1)\n Node / (f:3)\n"},
		{"{kind: Pod, metadata: {name: a}}", " Pod /a (f:1)\n"},
		{"kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n- kind: Node\n",
	         "v1 Pod / (f:1 items[0])\n Node / (f:1 items[1])\n"},
		{"kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n  kind: Pod\n",
	         "v1 Pod /a (f:1 items[0])\nv1 Pod /b (f:1 items[1])\n"},
		{"kind: List\nitems:\n- kind: List\n  items:\n  - kind: Pod\n", " Pod / (f:1 items[0] items[0])\n"},
		{"kind: List\nitems: []\n", ""},
		{"kind: List\n", ""},
		{"kind: PodList\nitems:\n", ""},
		{"kind: AllowList\nspec: {}\n", " AllowList / (f:1)\n"}, /* the name alone makes no list */
		{"kind: List\nitems: {}\n", "error f:1: items of kind List must be a list; found: map\n"},
		{"kind: List\nitems: [3, {}, {kind: Pod}]\n",
	         " Pod / (f:1 items[2])\nerror f:1 items[0]: a Kubernetes object must be a map; found: integer\n"
	         "error f:1 items[1]: the object has no kind\n"},
		{"- kind: Pod\n", "error f:1: a Kubernetes object must be a map; found: list\n"},
		{"[{\"kind\":\"Pod\"}]", "error f:1: a Kubernetes object must be a map; found: list\n"},
		{"just text\n", "error f:1: a Kubernetes object must be a map; found: string\n"},
		{"metadata: {name: a}\n---\nkind: Pod\n", " Pod / (f:3)\nerror f:1: the object has no kind\n"},
		{"kind: ''\n", "error f:1: the object has no kind\n"},
		{"kind: 3\n", "error f:1: kind must be a text; found: integer\n"},
		{"kind: Pod\nmetadata: {name: \"a\\0b\"}\n",
	         "error f:1: metadata.name must have at most 253 characters and no NUL\n"},
		{"kind: \"a\\0b\"\nmetadata: {namespace: \"\\0\"}\n",
	         "error f:1: kind must have at most 253 characters and no NUL\n"
	         "error f:1: metadata.namespace must have at most 253 characters and no NUL\n"},
		{"kind: Pod\nmetadata: 3\n", " Pod / (f:1)\n"},
		{"kind: Pod\nmetadata: {name: 3}\n", "error f:1: metadata.name must be a text; found: integer\n"},
		{"a: 1\na: 2\n", "error f: line 2, column 1: duplicate key \"a\"\n"},
		{"{\"a\":1}\n{\"b\":1,\n\"b\":2}\n", "error f: line 3, column 1: duplicate key \"b\"\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct manifest_fixture fixture;
		open_fixture(&fixture);
		int status =
			manifests_parse(&fixture.manifests, rows[i].text, strlen(rows[i].text), "f", &fixture.problems);
		struct buffer got = {0};
		describe(&fixture, &got);
		if (strcmp(got.text, rows[i].result) != 0)
			fail_msg("%s\nwanted\n%sgot\n%s", rows[i].text, rows[i].result, got.text);
		assert_int_equal(status, fixture.problems.errors ? -1 : 0);
		for (size_t p = 0; p < fixture.problems.count; p++)
			assert_non_null(fixture.problems.items[p].fix);
		buffer_free(&got);
		close_fixture(&fixture);
	}
}

static void limits(void **state)
{
	struct manifest_fixture fixture;
	open_fixture(&fixture);
	assert_int_equal(manifests_parse(&fixture.manifests, "", DOC_MAX_BYTES + 1, "huge", &fixture.problems), -1);
	static char deep[100000];
	memset(deep, '[', sizeof(deep));
	assert_int_equal(manifests_parse(&fixture.manifests, deep, sizeof(deep), "deep", &fixture.problems), -1);
	memset(deep, '{', sizeof(deep));
	assert_int_equal(manifests_parse(&fixture.manifests, deep, sizeof(deep), "deep", &fixture.problems), -1);
	assert_int_equal(fixture.problems.errors, 3);
	close_fixture(&fixture);
}

/* Several values in one JSON text and 100,000 items in one list: work in proportion to the text. */
static void many_objects(void **state)
{
	struct buffer stream = {0}, list = {0};
	buffer_puts(&list, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[");
	for (int i = 0; i < 20000; i++) {
		buffer_printf(&stream, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%d\"}}\n", i);
		buffer_printf(&list, "%s{\"metadata\":{\"name\":\"p%d\"}}", i ? "," : "", i);
	}
	buffer_puts(&list, "]}");
	struct manifest_fixture fixture;
	open_fixture(&fixture);
	assert_int_equal(manifests_parse(&fixture.manifests, stream.text, stream.length, "s", &fixture.problems), 0);
	assert_int_equal(manifests_parse(&fixture.manifests, list.text, list.length, "l", &fixture.problems), 0);
	assert_int_equal(fixture.manifests.count, 40000);
	assert_string_equal(fixture.manifests.items[19999].source, "s:20000");
	assert_string_equal(fixture.manifests.items[39999].name, "p19999");
	assert_string_equal(fixture.manifests.items[39999].kind, "Pod");
	close_fixture(&fixture);
	buffer_free(&stream);
	buffer_free(&list);
}

static void put_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_all(const char *folder, const char *const *names)
{
	for (; *names; names++) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s", folder, *names);
		remove(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void folders(void **state)
{
	char folder[256], sub[300];
	const char *base = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/manifest-test-XXXXXX", base ? base : P_tmpdir);
	assert_non_null(mkdtemp(folder));
	snprintf(sub, sizeof(sub), "%s/sub.yaml", folder);
	assert_int_equal(mkdir(sub, 0700), 0);
	put_file(folder, "b.yaml", "kind: B\n");
	put_file(folder, "a.json", "{\"kind\":\"A\"}");
	put_file(folder, "c.yml", "kind: C\n---\nkind: D\n");
	put_file(folder, "bad.yaml", "a: [\n");
	put_file(folder, "empty.yaml", "");
	put_file(folder, "notes.txt", "kind: Text\n");
	put_file(folder, ".hidden.yaml", "kind: Hidden\n");
	put_file(sub, "z.yaml", "kind: Z\n");
	char text_path[512];
	snprintf(text_path, sizeof(text_path), "%s/notes.txt", folder);
	struct manifest_fixture fixture;
	for (int recursive = 0; recursive <= 1; recursive++) {
		open_fixture(&fixture);
		assert_int_equal(manifests_load(&fixture.manifests, folder, recursive, &fixture.problems), -1);
		struct buffer kinds = {0};
		for (size_t i = 0; i < fixture.manifests.count; i++)
			buffer_puts(&kinds, fixture.manifests.items[i].kind);
		assert_string_equal(kinds.text, recursive ? "ABCDZ" : "ABCD");
		assert_int_equal(fixture.problems.errors, 1); /* the bad file does not hide the good ones */
		assert_non_null(strstr(fixture.problems.items[0].path, "bad.yaml"));
		buffer_free(&kinds);
		close_fixture(&fixture);
	}
	open_fixture(&fixture);
	assert_int_equal(manifests_load(&fixture.manifests, text_path, false, &fixture.problems), 0); /* named itself */
	assert_int_equal(fixture.manifests.count, 1);
	assert_int_equal(manifests_load(&fixture.manifests, "/nonexistent/x.yaml", false, &fixture.problems), -1);
	assert_non_null(strstr(fixture.problems.items[0].message, "cannot be opened"));
	close_fixture(&fixture);
	remove_all(sub, (const char *const[]){"z.yaml", NULL});
	open_fixture(&fixture);
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(manifests_load(&fixture.manifests, sub, false, &fixture.problems), 0);
	assert_int_equal(fixture.problems.count, 1); /* an empty folder deserves a word but is no error */
	assert_int_equal(fixture.problems.items[0].severity, SEVERITY_WARNING);
	close_fixture(&fixture);
	remove_all(sub, (const char *const[]){NULL});
	remove_all(folder, (const char *const[]){"b.yaml", "a.json", "c.yml", "bad.yaml", "empty.yaml", "notes.txt",
	                                         ".hidden.yaml", NULL});
}

static void standard_input(void **state)
{
	int ends[2], saved = dup(STDIN_FILENO);
	assert_int_equal(pipe(ends), 0);
	static const char text[] = "kind: Pod\nmetadata: {name: piped}\n";
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	struct manifest_fixture fixture;
	open_fixture(&fixture);
	assert_int_equal(manifests_load(&fixture.manifests, "-", false, &fixture.problems), 0);
	assert_string_equal(fixture.manifests.items[0].name, "piped");
	assert_string_equal(fixture.manifests.items[0].source, "stdin:1");
	close_fixture(&fixture);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),   cmocka_unit_test(limits),         cmocka_unit_test(many_objects),
		cmocka_unit_test(folders), cmocka_unit_test(standard_input),
	};
	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
