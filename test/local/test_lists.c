/* Lists: order, selectors, pages that show one version. */
#include "fixtures/store_fixture.h"

#include "property/random.h"

#include <inttypes.h>
#include <stdlib.h>

static int setup(void **state)
{
	static struct store_fixture fixture;
	fixture = (struct store_fixture){.options = {.history = 8}};
	fixture_open(&fixture, NULL);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

static void create(struct store_fixture *fixture, const char *namespace_, const char *name, const char *labels)
{
	char body[256];
	snprintf(body, sizeof(body), "{'metadata':{'name':'%s','labels':%s}}", name, labels);
	assert_code(fixture, fixture_create(fixture, "pods", namespace_, body), 201);
}

/* The names of the pods of a node as of a version (NULL: now), asked for by the field or found among all. */
static void pods_of(struct store_fixture *fixture, const char *node, const char *version, bool by_field,
                    struct buffer *out)
{
	char fields[64];
	struct store_selector selector = {0};
	struct store_list_request request = {.api = fixture_api(fixture, "pods"),
	                                     .version = version,
	                                     .exact = version != NULL,
	                                     .selector = &selector};
	struct store_list list;
	snprintf(fields, sizeof(fields), "spec.nodeName=%s", node);
	if (by_field)
		assert_int_equal(store_selector_parse(fixture->arena, request.api, NULL, fields, &selector, NULL), 0);
	assert_int_equal(store_list(fixture->store, &request, &list, fixture->arena, NULL), 0);
	out->length = 0;
	buffer_puts(out, "");
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(val_str(val_path(list.items[i]->root, "spec", "nodeName", NULL), ""), node) == 0)
			buffer_printf(out, "%s ", list.items[i]->name);
		else
			assert_false(by_field);
	store_list_clear(&list);
}

/* Asking for the pods of one node finds the same as looking at all pods, now and for versions of the past. */
static void pods_of_a_node(void **state)
{
	static const char *const nodes[] = {"", "n0", "n1", "n2", "false", "nowhere"};
	struct store_fixture *fixture = *state;
	struct random random = {3};
	struct buffer asked = {0}, found = {0};
	size_t most = 0;
	for (int turn = 0; turn < 400; turn++) {
		char name[16], body[160], version[24];
		snprintf(name, sizeof(name), "p%d", random_range(&random, 0, 19));
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s'},'spec':{'nodeName':'%s'}}", name,
		         nodes[random_range(&random, 0, 4)]);
		struct store_request force = {.verb = STORE_DELETE, .options = {.has_grace = true}};
		if (random_chance(&random, 30))
			fixture_do(fixture, force, "pods", "default", name, NULL);
		else if (fixture_create(fixture, "pods", "default", body) == 409)
			fixture_do(fixture, (struct store_request){.verb = STORE_CREATE, .subresource = STORE_BINDING},
			           "pods", "default", name, "{'target':{'name':'n1'}}");
		uint64_t past = store_version(fixture->store) - (uint64_t)random_range(&random, 0, turn < 8 ? 0 : 4);
		snprintf(version, sizeof(version), "%" PRIu64, past);
		for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
			for (int old = 0; old < 2; old++) {
				pods_of(fixture, nodes[i], old ? version : NULL, false, &found);
				if (strcmp(nodes[i], "false") == 0)
					continue; /* means "unset" too */
				pods_of(fixture, nodes[i], old ? version : NULL, true, &asked);
				assert_string_equal(asked.text, found.text);
				most = asked.length > most ? asked.length : most;
			}
		}
	}
	assert_true(most > 20); /* there was something to find */
	buffer_free(&asked);
	buffer_free(&found);
}

static void selectors_select(void **state)
{
	static const struct {
		const char *labels, *fields, *names;
	} table[] = {
		{NULL, NULL, "a b c d"},
		{"", "", "a b c d"},
		{"app=x", NULL, "a b"},
		{"app==x", NULL, "a b"},
		{"app!=x", NULL, "c d"},
		{"app in (x, y)", NULL, "a b c"},
		{"app notin (x,y)", NULL, "d"},
		{"app", NULL, "a b c"},
		{"!app", NULL, "d"},
		{"! app", NULL, "d"},
		{"app=x,tier=1", NULL, "a"},
		{"tier>1", NULL, "b"},
		{"tier<2", NULL, "a"},
		{"tier>-1", NULL, "a b"},
		{"tier>", NULL, "400 unable to parse selector \"tier>\": expected a whole number at \"\""},
		{"tier<x", NULL, "400 unable to parse selector \"tier<x\": expected a whole number at \"\""},
		{"empty=", NULL, "c"},
		{"ex.io/k=v", NULL, "d"},
		{NULL, "metadata.name=b", "b"},
		{NULL, "metadata.name!=b", "a c d"},
		{NULL, "metadata.namespace=default", "a b c d"},
		{NULL, "spec.nodeName=n", "c"},
		{NULL, "spec.nodeName=", "a b d"},
		{NULL, "spec.nodeName!=,status.phase=Pending", "c"},
		{NULL, "status.phase!=Succeeded,status.phase!=Failed", "a b c d"},
		{NULL, "spec.hostNetwork=false", "a b c d"},
		{"app=x", "metadata.name!=a", "b"},
		{"app=", NULL, ""},
		{"=x", NULL, "400 unable to parse selector \"=x\": expected a label key at \"=x\""},
		{"a in x", NULL, "400 unable to parse selector \"a in x\": expected ( at \"x\""},
		{"a in (x", NULL, "400 unable to parse selector \"a in (x\": expected , or ) at \"\""},
		{"a b", NULL, "400 unable to parse selector \"a b\": expected , or the end at \"b\""},
		{NULL, "spec.unknown=1", "400 field label not supported: spec.unknown"},
		{NULL, "nothing", "400 invalid field selector \"nothing\": write path=value or path!=value"},
		{NULL, "=x", "400 invalid field selector \"=x\": write path=value or path!=value"},
	};
	struct store_fixture *fixture = *state;
	create(fixture, "default", "b", "{'app':'x','tier':'2'}");
	create(fixture, "default", "a", "{'app':'x','tier':'1'}");
	create(fixture, "default", "c", "{'app':'y','empty':''}");
	create(fixture, "default", "d", "{'ex.io/k':'v'}");
	create(fixture, "kube-system", "a", "{}");
	struct store_request bind = {.verb = STORE_CREATE, .subresource = STORE_BINDING};
	fixture_do(fixture, bind, "pods", "default", "c", "{'target':{'name':'n'}}");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *names = fixture_names(fixture, "pods", "default", table[i].labels, table[i].fields);
		if (strcmp(names, table[i].names) != 0)
			fail_msg("row %zu: '%s' instead of '%s'", i, names, table[i].names);
	}
	assert_string_equal(fixture_names(fixture, "pods", NULL, NULL, NULL),
	                    "default/a default/b default/c default/d kube-system/a");
}

/* One page; its names in fixture->text. Returns the code. */
static int page(struct store_fixture *fixture, const char *namespace_, const char *continue_, size_t limit,
                struct store_list *list)
{
	struct store_error error = {0};
	struct store_list_request request = {.api = fixture_api(fixture, "pods"),
	                                     .namespace_ = namespace_,
	                                     .limit = limit,
	                                     .continue_ = continue_};
	fixture->text.length = 0;
	if (store_list(fixture->store, &request, list, fixture->arena, &error) < 0) {
		store_error_write(&error, &fixture->text);
		return error.code;
	}
	buffer_puts(&fixture->text, "");
	for (size_t i = 0; i < list->count; i++)
		buffer_printf(&fixture->text, "%s%s", i ? " " : "", list->items[i]->name);
	return 200;
}

static void pages_show_one_version(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_list first, second, third;
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	for (size_t i = 0; i < 5; i++)
		create(fixture, "default", names[i], "{}");
	uint64_t version = store_version(fixture->store);
	assert_int_equal(page(fixture, "default", NULL, 2, &first), 200);
	assert_string_equal(fixture->text.text, "a b");
	assert_int_equal(first.version, version);
	assert_int_equal(first.remaining, 3);
	/* Everything changes; the pages that follow do not. */
	fixture_delete(fixture, "pods", "default", "c", NULL);
	create(fixture, "default", "c", "{'new':'1'}");
	create(fixture, "default", "bb", "{}");
	fixture_delete(fixture, "pods", "default", "d", NULL);
	fixture_merge(fixture, "pods", "default", "e", "{'metadata':{'labels':{'x':'y'}}}");
	assert_int_equal(page(fixture, "default", first.continue_, 2, &second), 200);
	assert_string_equal(fixture->text.text, "c d");
	assert_int_equal(second.version, version);
	assert_int_equal(second.remaining, 1);
	assert_null(labels_get(&second.items[0]->labels, "new"));
	assert_int_equal(page(fixture, "default", second.continue_, 2, &third), 200);
	assert_string_equal(fixture->text.text, "e");
	assert_null(third.continue_);
	assert_int_equal(third.items[0]->labels.count, 0);
	store_list_clear(&third);
	/* Far in the past: 410, with a token that goes on in the present. */
	for (int i = 0; i < 12; i++) {
		char label[64];
		snprintf(label, sizeof(label), "{'metadata':{'labels':{'x':'v%d'}}}", i);
		fixture_merge(fixture, "pods", "default", "e", label);
	}
	assert_int_equal(page(fixture, "default", first.continue_, 2, &third), 410);
	assert_at(fixture, "reason", "Expired");
	char token[64];
	snprintf(token, sizeof(token), "%s", fixture_at(fixture, "metadata.continue"));
	assert_int_equal(page(fixture, "default", token, 2, &third), 200);
	assert_string_equal(fixture->text.text, "bb c");
	store_list_clear(&first);
	store_list_clear(&second);
	store_list_clear(&third);
}

static void bad_tokens(void **state)
{
	static const char *const tokens[] = {"x",
	                                     "1",
	                                     "1/",
	                                     "1/default",
	                                     "1/default/",
	                                     "/default/a",
	                                     "-1/default/a",
	                                     "99999999999999999999/default/a",
	                                     "1000/default/a",
	                                     "1/other/a",
	                                     "a/default/a"};
	struct store_fixture *fixture = *state;
	struct store_list list;
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		if (page(fixture, "default", tokens[i], 2, &list) != 400)
			fail_msg("%s was accepted", tokens[i]);
}

static void versions_of_lists(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_list list;
	struct store_error error;
	struct store_list_request request = {.api = fixture_api(fixture, "pods"), .version = "0"};
	create(fixture, "default", "a", "{}");
	char exact[24];
	snprintf(exact, sizeof(exact), "%llu", (unsigned long long)store_version(fixture->store));
	create(fixture, "default", "b", "{}");
	assert_int_equal(store_list(fixture->store, &request, &list, fixture->arena, &error), 0);
	assert_int_equal(list.count, 2);
	store_list_clear(&list);
	request.version = exact; /* not older than: the present will do */
	assert_int_equal(store_list(fixture->store, &request, &list, fixture->arena, &error), 0);
	assert_int_equal(list.count, 2);
	store_list_clear(&list);
	request.exact = true;
	assert_int_equal(store_list(fixture->store, &request, &list, fixture->arena, &error), 0);
	assert_int_equal(list.count, 1);
	store_list_clear(&list);
	request.version = "1000000";
	assert_int_equal(store_list(fixture->store, &request, &list, fixture->arena, &error), -1);
	assert_int_equal(error.code, 504);
	assert_string_equal(error.causes[0].reason, "ResourceVersionTooLarge");
	request.version = "12x";
	assert_int_equal(store_list(fixture->store, &request, &list, fixture->arena, &error), -1);
	assert_int_equal(error.code, 400);
}

static void lists_share_objects(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_list a, b;
	size_t length;
	create(fixture, "default", "a", "{}");
	struct store_list_request request = {.api = fixture_api(fixture, "pods")};
	store_list(fixture->store, &request, &a, fixture->arena, NULL);
	store_list(fixture->store, &request, &b, fixture->arena, NULL);
	assert_ptr_equal(a.items[0], b.items[0]);
	assert_ptr_equal(store_object_json(a.items[0], NULL, &length),
	                 store_object_json(b.items[0], request.api, &length));
	fixture_delete(fixture, "pods", "default", "a", NULL);
	assert_string_equal(a.items[0]->name, "a"); /* a list outlives what it shows */
	store_list_clear(&a);
	store_list_clear(&b);
}

/* The encoding of what was not touched for long is given up, and made again for who asks. */
static void encodings_come_back(void **state)
{
	struct store_fixture fixture = {.options = {.history = 4}};
	struct store_list list;
	size_t length, again;
	fixture_open(&fixture, NULL);
	create(&fixture, "default", "a", "{}");
	struct store_list_request request = {.api = fixture_api(&fixture, "pods")};
	store_list(fixture.store, &request, &list, fixture.arena, NULL);
	char *before = base_strdup(store_object_json(list.items[0], NULL, &length));
	for (char name[2] = "b"; name[0] < 'z'; name[0]++)
		create(&fixture, "default", name, "{}");
	assert_string_equal(store_object_json(list.items[0], NULL, &again), before);
	assert_int_equal(again, length);
	free(before);
	store_list_clear(&list);
	fixture_close(&fixture);
}

/* Objects come and go in any order, at the end more than elsewhere: lists are in order all the same. */
static void what_comes_and_goes_stays_in_order(void **state)
{
	enum { NAMES = 40, STEPS = 1500 };
	struct store_fixture *fixture = *state;
	struct random random = {11};
	bool there[NAMES] = {0};
	struct buffer expected = {0};
	char body[64], name[16];
	int last = 0;
	for (int i = 0; i < STEPS; i++) {
		int which = random_chance(&random, 50) ? last++ % NAMES : random_range(&random, 0, NAMES - 1);
		snprintf(name, sizeof(name), "c%02d", which);
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s'}}", name);
		if (there[which])
			assert_code(fixture, fixture_delete(fixture, "configmaps", "default", name, NULL), 200);
		else
			assert_code(fixture, fixture_create(fixture, "configmaps", "default", body), 201);
		there[which] = !there[which];
		expected.length = 0;
		buffer_puts(&expected, "");
		for (int n = 0; n < NAMES; n++)
			if (there[n])
				buffer_printf(&expected, "%sc%02d", expected.length ? " " : "", n);
		assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), expected.text);
	}
	buffer_free(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(selectors_select, setup, teardown),
		cmocka_unit_test_setup_teardown(pods_of_a_node, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_show_one_version, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_tokens, setup, teardown),
		cmocka_unit_test_setup_teardown(versions_of_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_share_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(what_comes_and_goes_stays_in_order, setup, teardown),
		cmocka_unit_test(encodings_come_back),
	};
	return cmocka_run_group_tests_name("store lists", tests, NULL, NULL);
}
