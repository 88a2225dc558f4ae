/* Patches as tables: object, patch, what comes out. */
#include "fixtures/store_fixture.h"

#include "api/patch.h"

#include <stdlib.h>

struct row {
	const char *object, *patch;
	const char *expected; /* JSON, or the code and a part of the message */
};

/* The outcome as text: JSON with ' for ", or "code message". */
static const char *outcome(enum store_patch kind, const struct row *row, const struct shape *shape, struct buffer *out)
{
	struct arena *arena = arena_create();
	struct doc *object = fixture_json(row->object), *patch = fixture_json(row->patch);
	struct store_error error = {0};
	struct tree *tree = tree_of(arena, doc_root(object));
	if (kind == STORE_PATCH_JSON)
		tree = patch_json(arena, tree, doc_root(patch), &error);
	else if (kind == STORE_PATCH_MERGE)
		tree = patch_merge(arena, tree, doc_root(patch));
	else
		tree = patch_strategic(arena, tree, doc_root(patch), shape, &error);
	out->length = 0;
	if (tree) {
		struct doc *doc = tree_finish(tree);
		val_write(doc_root(doc), DOC_JSON_COMPACT, out);
		doc_destroy(doc);
	} else {
		buffer_printf(out, "%d %s", error.code, error.message);
	}
	doc_destroy(object);
	doc_destroy(patch);
	arena_destroy(arena);
	for (char *at = out->text; *at; at++)
		*at = (char)(*at == '"' ? '\'' : *at);
	return out->text;
}

static void check(enum store_patch kind, const struct row *rows, size_t count, const struct shape *shape)
{
	struct buffer out = {0};
	for (size_t i = 0; i < count; i++) {
		const char *text = outcome(kind, &rows[i], shape, &out);
		bool error = rows[i].expected[0] >= '1' && rows[i].expected[0] <= '9' && rows[i].expected[3] == ' ';
		if (error ? !strstr(text, rows[i].expected) : strcmp(text, rows[i].expected) != 0)
			fail_msg("row %zu: %s with %s\n  gives   %s\n  but not %s", i, rows[i].object, rows[i].patch,
			         text, rows[i].expected);
	}
	buffer_free(&out);
}

#define CHECK(kind, rows, shape) check(kind, rows, sizeof(rows) / sizeof((rows)[0]), shape)

static void merge_patches(void **state)
{
	/* The examples of RFC 7386, and a few more. */
	static const struct row rows[] = {
		{"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
		{"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
		{"{'a':'b'}", "{'a':null}", "{}"},
		{"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
		{"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
		{"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
		{"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
		{"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
		{"['a','b']", "['c','d']", "['c','d']"},
		{"{'a':'b'}", "['c']", "['c']"},
		{"{'a':'foo'}", "null", "null"},
		{"{'a':'foo'}", "'bar'", "'bar'"},
		{"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
		{"[1,2]", "{'a':'b','c':null}", "{'a':'b'}"},
		{"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
		{"{'a':{'b':1}}", "{'a':{}}", "{'a':{'b':1}}"},
		{"{'a':1}", "{'a':{'b':{'c':1,'d':null}}}", "{'a':{'b':{'c':1}}}"},
		{"{'big':123456789012345678901234567890}", "{'a':1}", "{'big':123456789012345678901234567890,'a':1}"},
	};
	CHECK(STORE_PATCH_MERGE, rows, NULL);
}

static void json_patches(void **state)
{
	static const struct row rows[] = {
		{"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]", "{'foo':'bar','baz':'qux'}"},
		{"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
	         "{'foo':['bar','qux','baz']}"},
		{"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc']}]", "{'foo':['bar',['abc']]}"},
		{"{'foo':['bar']}", "[{'op':'add','path':'/foo/2','value':1}]", "422 operation 1"},
		{"{'baz':1,'foo':2}", "[{'op':'remove','path':'/baz'}]", "{'foo':2}"},
		{"{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]", "{'foo':['bar','baz']}"},
		{"{'foo':1}", "[{'op':'remove','path':'/bar'}]",
	         "422 operation 1 of the JSON patch: the path does not exist: /bar"},
		{"{'baz':'qux','foo':1}", "[{'op':'replace','path':'/baz','value':'boo'}]", "{'baz':'boo','foo':1}"},
		{"{'l':[1,2,3]}", "[{'op':'replace','path':'/l/1','value':9}]", "{'l':[1,9,3]}"},
		{"{'a':1}", "[{'op':'replace','path':'/b','value':9}]", "422 operation 1"},
		{"{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}"},
		{"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
	         "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
	         "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"},
		{"{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
	         "{'foo':['all','cows','eat','grass']}"},
		{"{'a':{'b':1}}", "[{'op':'move','from':'/a','path':'/a/b'}]", "422 operation 1"},
		{"{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}"},
		{"{'a':{'x':1}}", "[{'op':'copy','from':'/a','path':'/b'},{'op':'add','path':'/b/x','value':2}]",
	         "{'a':{'x':1},'b':{'x':2}}"},
		{"{'a':{'x':1}}",
	         "[{'op':'add','path':'/a/y','value':1},{'op':'copy','from':'/a','path':'/b'},{'op':'remove','path':'/"
	         "a/y'}]",
	         "{'a':{'x':1},'b':{'x':1,'y':1}}"},
		{"{'baz':'qux','foo':['a',2,'c']}",
	         "[{'op':'test','path':'/baz','value':'qux'},{'op':'test','path':'/foo/1','value':2}]",
	         "{'baz':'qux','foo':['a',2,'c']}"},
		{"{'baz':'qux'}", "[{'op':'test','path':'/baz','value':'bar'}]",
	         "422 operation 1 of the JSON patch: the test failed"},
		{"{'a':{'b':[1]}}",
	         "[{'op':'add','path':'/a/c','value':1},{'op':'test','path':'/a','value':{'c':1,'b':[1]}}]",
	         "{'a':{'b':[1],'c':1}}"},
		{"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10},{'op':'replace','path':'/~1','value':8}]",
	         "{'/':8,'~1':10}"},
		{"{'a':null}", "[{'op':'test','path':'/a','value':null}]", "{'a':null}"},
		{"{}", "[{'op':'add','path':'/a','value':null}]", "{'a':null}"},
		{"{}", "[{'op':'add','path':'/a/b','value':1}]", "422 operation 1"},
		{"{}", "[{'op':'add','path':'a','value':1}]", "400 operation 1"},
		{"{}", "[{'op':'add','path':'/~2','value':1}]", "400 operation 1"},
		{"{}", "[{'op':'add','path':'/a'}]", "400 operation 1 of the JSON patch: a value is needed"},
		{"{}", "[{'op':'copy','path':'/a'}]", "400 operation 1 of the JSON patch: a from is needed"},
		{"{}", "[{'op':'jump','path':'/a'}]", "400 operation 1"},
		{"{}", "[{'op':'add'}]", "400 operation 1"},
		{"{}", "[1]", "400 operation 1"},
		{"{}", "{}", "400 a JSON patch must be a list"},
		{"{'l':[1]}", "[{'op':'remove','path':'/l/01'}]", "422 operation 1"},
		{"{'l':[1]}", "[{'op':'remove','path':'/l/-'}]", "422 operation 1"},
		{"{'l':[1]}", "[{'op':'remove','path':'/l/99999999999999999999999'}]", "422 operation 1"},
		{"{'':1}", "[{'op':'replace','path':'/','value':2}]", "{'':2}"},
		{"{}", "[{'op':'remove','path':''}]", "422 operation 1"},
	};
	CHECK(STORE_PATCH_JSON, rows, NULL);
}

/* Each copy doubles what is there: refused long before memory is. */
static void copies_cannot_explode(void **state)
{
	struct buffer patch = {0}, out = {0};
	buffer_puts(&patch, "[{'op':'add','path':'/a','value':{'x':'0123456789'}}");
	for (int i = 0; i < 200; i++)
		buffer_printf(&patch, ",{'op':'copy','from':'/a','path':'/a/k%d'}", i);
	buffer_puts(&patch, "]");
	struct row row = {"{}", patch.text, ""};
	assert_non_null(strstr(outcome(STORE_PATCH_JSON, &row, NULL, &out), "422 "));
	assert_non_null(strstr(out.text, "copies too much"));
	patch.length = 0;
	buffer_puts(&patch, "[");
	for (int i = 0; i < 600; i++) /* each wraps the whole once more */
		buffer_printf(&patch,
		              "%s{'op':'add','path':'/n','value':{}},{'op':'move','from':'/a','path':'/n/"
		              "a'},{'op':'move','from':'/n','path':'/a'}",
		              i ? "," : "");
	buffer_puts(&patch, "]");
	row = (struct row){"{'a':1}", patch.text, ""};
	assert_non_null(strstr(outcome(STORE_PATCH_JSON, &row, NULL, &out), "413 "));
	buffer_free(&patch);
	buffer_free(&out);
}

#define POD(containers) "{'spec':{'containers':" containers "}}"

static void strategic_patches_of_pods(void **state)
{
	static const struct row rows[] = {
		/* maps merge, null deletes */
		{"{'metadata':{'labels':{'a':'1','b':'2'}}}", "{'metadata':{'labels':{'a':null,'c':'3'}}}",
	         "{'metadata':{'labels':{'b':'2','c':'3'}}}"},
		{"{'metadata':{}}", "{'metadata':{'labels':{'a':null}}}", "{'metadata':{'labels':{}}}"},
		{"{'metadata':{'labels':{'a':'1'}}}", "{'metadata':{'labels':{'$patch':'replace','b':'2'}}}",
	         "{'metadata':{'labels':{'b':'2'}}}"},
		{"{'metadata':{'labels':{'a':'1'}}}", "{'metadata':{'labels':{'$patch':'delete'}}}",
	         "{'metadata':{'labels':{}}}"},
		{"{'metadata':{'labels':{}}}", "{'metadata':{'labels':{'$patch':'explode'}}}",
	         "400 strategic merge patch"},
		/* containers by name */
		{POD("[{'name':'a','image':'x'},{'name':'b','image':'y'}]"), POD("[{'name':'b','image':'z'}]"),
	         POD("[{'name':'a','image':'x'},{'name':'b','image':'z'}]")},
		{POD("[{'name':'a','image':'x'}]"), POD("[{'name':'c','image':'n'}]"),
	         POD("[{'name':'a','image':'x'},{'name':'c','image':'n'}]")},
		{POD("[{'name':'a'},{'name':'b'}]"), POD("[{'name':'a','$patch':'delete'}]"), POD("[{'name':'b'}]")},
		{POD("[{'name':'a','image':'x','tty':true}]"), POD("[{'name':'a','$patch':'replace','image':'y'}]"),
	         POD("[{'name':'a','image':'y'}]")},
		{POD("[{'name':'a'},{'name':'b'}]"), POD("[{'$patch':'replace'},{'name':'c'}]"), POD("[{'name':'c'}]")},
		{POD("[{'name':'a'}]"), POD("[{'image':'x'}]"), "400 strategic merge patch"},
		/* nested lists of a container */
		{POD("[{'name':'a','env':[{'name':'X','value':'1'},{'name':'Y','value':'2'}]}]"),
	         POD("[{'name':'a','env':[{'name':'Y','value':'3'},{'name':'X','$patch':'delete'}]}]"),
	         POD("[{'name':'a','env':[{'name':'Y','value':'3'}]}]")},
		{POD("[{'name':'a','ports':[{'containerPort':80}]}]"),
	         POD("[{'name':'a','ports':[{'containerPort':80,'name':'http'}]}]"),
	         POD("[{'name':'a','ports':[{'containerPort':80,'name':'http'}]}]")},
		{POD("[{'name':'a','command':['x','y']}]"), POD("[{'name':'a','command':['z']}]"),
	         POD("[{'name':'a','command':['z']}]")},
		/* order */
		{POD("[{'name':'a'},{'name':'b'},{'name':'c'}]"),
	         "{'spec':{'$setElementOrder/containers':[{'name':'c'},{'name':'b'},{'name':'a'}]}}",
	         POD("[{'name':'c'},{'name':'b'},{'name':'a'}]")},
		{POD("[{'name':'server'},{'name':'b'}]"),
	         "{'spec':{'$setElementOrder/containers':[{'name':'new'},{'name':'b'}],'containers':[{'name':'new'}]}}",
	         POD("[{'name':'server'},{'name':'new'},{'name':'b'}]")},
		{"{}", "{'spec':{'$setElementOrder/containers':[{'name':'a'}]}}", "{'spec':{}}"},
		/* sets */
		{"{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['b','c']}}",
	         "{'metadata':{'finalizers':['a','b','c']}}"},
		{"{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
	         "{'metadata':{'finalizers':['b']}}"},
		{"{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':null}}", "{'metadata':{}}"},
		{"{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'$setElementOrder/finalizers':['b','a']}}",
	         "{'metadata':{'finalizers':['b','a']}}"},
		/* what is replaced as a whole */
		{"{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}",
	         "{'spec':{'tolerations':[{'key':'b'}]}}"},
		/* a volume changes its source: $retainKeys drops the old one */
		{"{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
	         "{'spec':{'volumes':[{'name':'v','$retainKeys':['name','hostPath'],'hostPath':{'path':'/x'}}]}}",
	         "{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}"},
		/* conditions by type */
		{"{'status':{'conditions':[{'type':'Ready','status':'False'}]}}",
	         "{'status':{'conditions':[{'type':'PodScheduled','status':'True'},{'type':'Ready','status':'True'}]}}",
	         "{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'PodScheduled','status':'True'}]}"
	         "}"},
		/* kinds that changed */
		{"{'spec':{'containers':'x'}}", POD("[{'name':'a'}]"), POD("[{'name':'a'}]")},
		{"{'spec':[]}", "{'spec':{'a':1}}", "{'spec':{'a':1}}"},
		{"{}", "[]", "400 a strategic merge patch must be a map"},
	};
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	struct shape shape = shape_of(fixture_api(&fixture, "pods"));
	CHECK(STORE_PATCH_STRATEGIC, rows, &shape);
	fixture_close(&fixture);
}

static void strategic_patches_of_others(void **state)
{
	static const struct row deployments[] = {
		{"{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'x'}]}}}}",
	         "{'spec':{'template':{'metadata':{'annotations':{'r':'1'}},'spec':{'containers':[{'name':'a','image':'"
	         "y'}]}}}}",
	         "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'y'}]},'metadata':{'annotations':{'r':"
	         "'1'}}}}}"},
		{"{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1}}}}",
	         "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
	         "{'spec':{'strategy':{'type':'Recreate'}}}"},
	};
	static const struct row nodes[] = {
		{"{'spec':{'unschedulable':true,'taints':[{'key':'a'}]}}",
	         "{'spec':{'unschedulable':null,'taints':[{'key':'b'}]}}", "{'spec':{'taints':[{'key':'b'}]}}"},
		{"{'status':{'addresses':[{'type':'Hostname','address':'a'}]}}",
	         "{'status':{'addresses':[{'type':'Hostname','address':'b'}]}}",
	         "{'status':{'addresses':[{'type':'Hostname','address':'b'}]}}"},
	};
	static const struct row services[] = {
		{"{'spec':{'ports':[{'port':80,'name':'a'}]}}",
	         "{'spec':{'ports':[{'port':80,'name':'b'},{'port':81}]}}",
	         "{'spec':{'ports':[{'port':80,'name':'b'},{'port':81}]}}"},
	};
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	struct shape shape = shape_of(fixture_api(&fixture, "deployments.apps"));
	CHECK(STORE_PATCH_STRATEGIC, deployments, &shape);
	shape = shape_of(fixture_api(&fixture, "nodes"));
	CHECK(STORE_PATCH_STRATEGIC, nodes, &shape);
	shape = shape_of(fixture_api(&fixture, "services"));
	CHECK(STORE_PATCH_STRATEGIC, services, &shape);
	fixture_close(&fixture);
}

static void patches_of_stored_objects(void **state)
{
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	struct store_request strategic = {.verb = STORE_PATCH, .patch = STORE_PATCH_STRATEGIC};
	struct store_request json = {.verb = STORE_PATCH, .patch = STORE_PATCH_JSON};
	fixture_create(&fixture, "pods", "default",
	               "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a','image':'x'}]}}");
	assert_code(&fixture,
	            fixture_do(&fixture, strategic, "pods", "default", "p", POD("[{'name':'a','image':'y'}]")), 200);
	assert_at(&fixture, "spec.containers.0.image", "y");
	assert_code(&fixture,
	            fixture_do(&fixture, json, "pods", "default", "p",
	                       "[{'op':'replace','path':'/metadata/name','value':'q'}]"),
	            400);
	assert_code(&fixture,
	            fixture_do(&fixture, json, "pods", "default", "p",
	                       "[{'op':'replace','path':'/metadata/uid','value':'q'}]"),
	            409);
	assert_code(&fixture,
	            fixture_do(&fixture, json, "pods", "default", "p", "[{'op':'replace','path':'','value':7}]"), 400);
	assert_code(&fixture,
	            fixture_do(&fixture, json, "pods", "default", "p", "[{'op':'remove','path':'/metadata'}]"), 200);
	assert_at(&fixture, "metadata.name", "p");
	assert_code(&fixture,
	            fixture_do(&fixture, json, "pods", "default", "p",
	                       "[{'op':'test','path':'/metadata/resourceVersion','value':'1'}]"),
	            422);
	assert_code(&fixture,
	            fixture_merge(&fixture, "pods", "default", "p",
	                          "{'metadata':{'resourceVersion':'1','labels':{'a':'b'}}}"),
	            409);
	assert_code(&fixture, fixture_merge(&fixture, "pods", "default", "q", "{}"), 404);
	assert_code(&fixture, fixture_merge(&fixture, "pods", "default", "p", "[]"), 400);
	fixture_create(&fixture, "podgroups.scheduling.run.ai", "default", "{'metadata':{'name':'g'}}");
	assert_code(&fixture, fixture_do(&fixture, strategic, "podgroups.scheduling.run.ai", "default", "g", "{}"),
	            415);
	fixture_close(&fixture);
}

static void scale(void **state)
{
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	fixture_create(&fixture, "deployments.apps", "default",
	               "{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{'matchLabels':{'app':'x'},"
	               "'matchExpressions':[{'key':'t','operator':'In','values':['1','2']},{'key':'u','operator':'"
	               "DoesNotExist'}]}}}");
	store_result_clear(&fixture.result);
	assert_int_equal(store_get(fixture.store, fixture_api(&fixture, "deployments.apps"), STORE_SCALE, "default",
	                           "d", &fixture.result),
	                 0);
	size_t length;
	assert_non_null(
		strstr(store_object_json(fixture.result.object, fixture_api(&fixture, "deployments.apps"), &length),
	               "\"status\":{\"replicas\":0,\"selector\":\"app=x,t in (1,2),!u\"}"));
	struct store_request patch = {.verb = STORE_PATCH, .patch = STORE_PATCH_MERGE, .subresource = STORE_SCALE};
	struct store_request update = {.verb = STORE_UPDATE, .subresource = STORE_SCALE};
	assert_code(&fixture,
	            fixture_do(&fixture, patch, "deployments.apps", "default", "d", "{'spec':{'replicas':8}}"), 200);
	assert_at(&fixture, "kind", "Scale");
	assert_at(&fixture, "apiVersion", "autoscaling/v1");
	assert_at(&fixture, "spec.replicas", "8");
	assert_at(&fixture, "metadata.name", "d");
	assert_code(&fixture,
	            fixture_do(&fixture, update, "deployments.apps", "default", "d",
	                       "{'metadata':{'resourceVersion':'1'},'spec':{'replicas':3}}"),
	            409);
	assert_code(&fixture,
	            fixture_do(&fixture, update, "deployments.apps", "default", "d", "{'spec':{'replicas':-1}}"), 422);
	assert_code(&fixture,
	            fixture_do(&fixture, update, "deployments.apps", "default", "d", "{'spec':{'replicas':3}}"), 200);
	assert_code(&fixture, fixture_do(&fixture, update, "pods", "default", "d", "{'spec':{'replicas':3}}"), 405);
	fixture_get(&fixture, "deployments.apps", "default", "d");
	assert_at(&fixture, "spec.replicas", "3");
	assert_at(&fixture, "metadata.generation", "3");
	fixture_close(&fixture);
}

/* A patch of n keys on an object of n keys must not take n*n steps. */
static void large_patches_are_quick(void **state)
{
	struct buffer object = {0}, list = {0}, out = {0};
	buffer_puts(&object, "{'data':{");
	buffer_puts(&list, "{'spec':{'containers':[");
	for (int i = 0; i < 20000; i++) {
		buffer_printf(&object, "%s'k%d':'v'", i ? "," : "", i);
		buffer_printf(&list, "%s{'name':'c%d'}", i ? "," : "", i);
	}
	buffer_puts(&object, "}}");
	buffer_puts(&list, "]}}");
	struct row row = {object.text, object.text, ""};
	outcome(STORE_PATCH_MERGE, &row, NULL, &out);
	assert_int_equal(out.length, object.length);
	struct store_fixture fixture = {0};
	fixture_open(&fixture, NULL);
	struct shape shape = shape_of(fixture_api(&fixture, "pods"));
	row = (struct row){list.text, list.text, ""};
	outcome(STORE_PATCH_STRATEGIC, &row, &shape, &out);
	assert_int_equal(out.length, list.length);
	fixture_close(&fixture);
	buffer_free(&object);
	buffer_free(&list);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merge_patches),
		cmocka_unit_test(json_patches),
		cmocka_unit_test(copies_cannot_explode),
		cmocka_unit_test(strategic_patches_of_pods),
		cmocka_unit_test(strategic_patches_of_others),
		cmocka_unit_test(patches_of_stored_objects),
		cmocka_unit_test(scale),
		cmocka_unit_test(large_patches_are_quick),
	};
	return cmocka_run_group_tests_name("store patches", tests, NULL, NULL);
}
