/* The file: what is acknowledged survives a close and a failed write; test_kill.c has the kills. */
#include "fixtures/store_fixture.h"

#include "property/random.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[128];

static int setup(void **state)
{
	static struct store_fixture fixture;
	snprintf(folder, sizeof(folder), "store-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/state.db", folder);
	fixture = (struct store_fixture){.options = {.history = 16}};
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_remove(path);
	return rmdir(folder);
}

static void everything_is_there_again(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_open(fixture, path);
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a','labels':{'x':'1'}}}");
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'b'}}");
	fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'x':'2'}}}");
	fixture_delete(fixture, "pods", "default", "b", NULL);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'c'},'data':{'k':'\\u00e4\\u0000'}}");
	uint64_t version = store_version(fixture->store);
	fixture_get(fixture, "pods", "default", "a");
	struct buffer before = {0};
	buffer_puts(&before, fixture->text.text);
	fixture_reopen(fixture);
	assert_int_equal(store_version(fixture->store), version);
	assert_string_equal(fixture_names(fixture, "pods", NULL, NULL, NULL), "default/a");
	assert_string_equal(fixture_names(fixture, "configmaps", NULL, NULL, NULL), "default/c");
	fixture_get(fixture, "pods", "default", "a");
	assert_string_equal(fixture->text.text, before.text);
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'d'}}");
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, version + 1);
	assert_at(fixture, "metadata.resourceVersion", text);
	buffer_free(&before);
	fixture_close(fixture);
}

static void nobody_else_reads_the_files(void **state)
{
	static const char *const tails[] = {"", "-wal", "-mark"};
	struct store_fixture *fixture = *state;
	mode_t mask = umask(0);
	fixture_open(fixture, path);
	fixture_create(fixture, "secrets", "default", "{'metadata':{'name':'a'}}");
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		char file[160];
		struct stat status;
		snprintf(file, sizeof(file), "%s%s", path, tails[i]);
		assert_int_equal(stat(file, &status), 0);
		assert_int_equal(status.st_mode & 0777, 0600);
	}
	umask(mask);
	fixture_close(fixture);
}

static void uids_do_not_repeat(void **state)
{
	struct store_fixture *fixture = *state;
	char uid[64];
	fixture_open(fixture, path);
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a'}}");
	snprintf(uid, sizeof(uid), "%s", fixture_at(fixture, "metadata.uid"));
	fixture_reopen(fixture);
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'b'}}");
	assert_string_not_equal(uid, fixture_at(fixture, "metadata.uid"));
	fixture_close(fixture);
}

static struct store_watch *watch_from(struct store_fixture *fixture, uint64_t version, int *code)
{
	char text[24];
	struct store_error error = {0};
	snprintf(text, sizeof(text), "%" PRIu64, version);
	struct store_watch_request request = {.api = fixture_api(fixture, "pods"), .version = text};
	struct store_watch *watch = store_watch_open(fixture->store, &request, fixture->arena, &error);
	*code = error.code;
	return watch;
}

static void watches_go_on_over_a_restart(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_event event;
	int code;
	fixture_open(fixture, path);
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a','labels':{'x':'1'}}}");
	uint64_t version = store_version(fixture->store);
	fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'x':'2'}}}");
	fixture_delete(fixture, "pods", "default", "a", NULL);
	fixture_create(fixture, "pods", "default", "{'metadata':{'name':'a'}}");
	fixture_reopen(fixture);
	struct store_watch *watch = watch_from(fixture, version, &code);
	assert_non_null(watch);
	static const enum store_event_type expected[] = {STORE_MODIFIED, STORE_DELETED, STORE_ADDED};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
		assert_int_equal(event.type, expected[i]);
		assert_int_equal(event.version, version + 1 + i);
		if (i < 2)
			assert_string_equal(labels_get(&event.object->labels, "x"), "2");
	}
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 0);
	store_watch_close(watch);
	for (int i = 0; i < 40; i++) { /* out of the window, and still so after a restart */
		char body[64];
		snprintf(body, sizeof(body), "{'metadata':{'labels':{'x':'v%d'}}}", i);
		fixture_merge(fixture, "pods", "default", "a", body);
	}
	uint64_t recent = store_version(fixture->store) - 10;
	fixture_reopen(fixture);
	assert_null(watch_from(fixture, version, &code));
	assert_int_equal(code, 410);
	watch = watch_from(fixture, recent, &code);
	for (int i = 0; i < 10; i++)
		assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 0);
	store_watch_close(watch);
	fixture_close(fixture);
}

static void the_file_does_not_grow_for_ever(void **state)
{
	struct store_fixture *fixture = *state;
	struct stat status;
	fixture->options.sync = STORE_SYNC_NORMAL;
	fixture_open(fixture, path);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'a'}}");
	struct buffer body = {0};
	for (int i = 0; i < 400; i++) {
		body.length = 0;
		buffer_printf(&body, "{'data':{'k':'%d %01000d'}}", i, 0);
		fixture_merge(fixture, "configmaps", "default", "a", body.text);
		fixture_create(fixture, "secrets", "default", "{'metadata':{'name':'s'}}");
		fixture_delete(fixture, "secrets", "default", "s", NULL);
	}
	buffer_free(&body);
	fixture_close(fixture);
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size < 300 * 1024); /* 400 states of 1 KB went through it, 16 or so are kept */
}

/* Large objects that change often push each other out of the window, in memory and in the file. */
static void the_window_has_a_size(void **state)
{
	struct store_fixture *fixture = *state;
	char version[64][24];
	static char body[12000];
	fixture->options.history = 1000;
	fixture->options.history_bytes = 100000;
	fixture->options.sync = STORE_SYNC_NORMAL;
	fixture_open(fixture, path);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'m'}}");
	for (int i = 0; i < 64; i++) {
		snprintf(body, sizeof(body), "{'metadata':{'name':'m'},'data':{'n':'%d','pad':'%010000d'}}", i, 0);
		assert_code(fixture, fixture_update(fixture, "configmaps", "default", "m", body), 200);
		snprintf(version[i], sizeof(version[i]), "%" PRIu64, store_version(fixture->store));
	}
	for (int again = 0; again < 2; again++) {
		int kept = 0;
		for (int i = 0; i < 64; i++) {
			struct store_watch_request request = {.api = fixture_api(fixture, "configmaps"),
			                                      .version = version[i]};
			struct store_error error = {0};
			struct store_watch *watch = store_watch_open(fixture->store, &request, fixture->arena, &error);
			assert_true(watch || error.code == 410);
			assert_true(watch || !kept); /* all newer ones go on */
			kept += watch != NULL;
			store_watch_close(watch);
		}
		assert_in_range(kept, 8, 12);
		struct stat file;
		assert_int_equal(stat(path, &file), 0);
		assert_true(file.st_size < 1000000);
		if (!again)
			fixture_reopen(fixture);
	}
	fixture_close(fixture);
}

static void only_one_process_at_a_time(void **state)
{
	struct store_fixture *fixture = *state;
	struct error error = {0};
	fixture_open(fixture, path);
	struct store_options second = {.path = path};
	assert_null(store_open(&second, &error));
	assert_non_null(strstr(error.text, "in use by another process"));
	fixture_close(fixture);
	fixture_open(fixture, path);
	fixture_close(fixture);
}

static void foreign_files_are_left_alone(void **state)
{
	struct error error = {0};
	struct store_options options = {.path = path};
	FILE *file = fopen(path, "w");
	fputs("this is not a database, but long enough that one could take it for something else, perhaps", file);
	for (int i = 0; i < 100; i++)
		fputs("................................................................................", file);
	fclose(file);
	assert_null(store_open(&options, &error));
	assert_non_null(strstr(error.text, "not a database"));
	unlink(path);
	options.path = folder;
	assert_null(store_open(&options, &error));
	assert_true(error.code != ERROR_NONE);
}

static int done_code;

static void note_done(void *context, const struct store_result *result)
{
	done_code = result->code;
}

/* The file may not grow any more: the writes of the turn never happened, later ones work again. */
static void a_failed_commit_takes_everything_back(void **state)
{
	struct store_fixture *fixture = *state;
	struct error error = {0};
	struct rlimit old, none;
	fixture_open(fixture, path);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'a'},'data':{'k':'1'}}");
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'gone'}}");
	int code;
	struct store_watch *watch = watch_from(fixture, store_version(fixture->store), &code);
	struct store_event event;
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 0);
	struct buffer body = {0};
	buffer_printf(&body, "{'data':{'k':'%0100000d'}}", 0);
	struct doc *patch = fixture_json(body.text), *fresh = fixture_json("{'metadata':{'name':'b'}}");
	buffer_free(&body);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	struct stat wal;
	char file[160];
	snprintf(file, sizeof(file), "%s-wal", path);
	assert_int_equal(stat(file, &wal), 0);
	none = (struct rlimit){.rlim_cur = (rlim_t)wal.st_size, .rlim_max = old.rlim_max};
	struct store_request merge = {.verb = STORE_PATCH,
	                              .patch = STORE_PATCH_MERGE,
	                              .api = fixture_api(fixture, "configmaps"),
	                              .namespace_ = "default",
	                              .name = "a",
	                              .body = doc_root(patch)};
	struct store_request create = {.verb = STORE_CREATE,
	                               .api = fixture_api(fixture, "pods"),
	                               .namespace_ = "default",
	                               .body = doc_root(fresh)};
	struct store_request delete = {.verb = STORE_DELETE,
	                               .api = fixture_api(fixture, "configmaps"),
	                               .namespace_ = "default",
	                               .name = "gone"};
	store_submit(fixture->store, &merge, note_done, NULL);
	store_submit(fixture->store, &create, note_done, NULL);
	store_submit(fixture->store, &delete, note_done, NULL);
	setrlimit(RLIMIT_FSIZE, &none);
	int status = store_commit(fixture->store, &error);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(status, -1);
	assert_int_equal(done_code, 500);
	fixture_get(fixture, "configmaps", "default", "a");
	assert_at(fixture, "data.k", "1");
	assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), "a gone");
	assert_string_equal(fixture_names(fixture, "pods", "default", NULL, NULL), "");
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 0);
	store_submit(fixture->store, &create, note_done, NULL);
	assert_int_equal(store_commit(fixture->store, &error), 0);
	assert_int_equal(done_code, 201);
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
	assert_int_equal(event.version, store_version(fixture->store));
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 0); /* nobody ever hears of what was taken back */
	store_watch_close(watch);
	doc_destroy(patch);
	doc_destroy(fresh);
	fixture_reopen(fixture);
	assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), "a gone");
	assert_string_equal(fixture_names(fixture, "pods", "default", NULL, NULL), "b");
	fixture_close(fixture);
}

/* ---- restarts ---- */

#define EXAMPLE_CRD                                                                                                    \
	"{'metadata':{'name':'xs.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':'" \
	"xs','kind':'X'},"                                                                                             \
	"'versions':[{'name':'v1','served':true,'storage':true}]}}"

static void do_something(struct store_fixture *fixture, struct random *random)
{
	static const char *const types[] = {"pods", "configmaps", "deployments.apps", "xs.example.com"};
	const char *type = types[random_range(random, 0, 3)];
	char name[16], body[256];
	if (!store_api_find(fixture->store, "example.com", "v1", "xs"))
		fixture_create(fixture, "customresourcedefinitions.apiextensions.k8s.io", "", EXAMPLE_CRD);
	if (random_chance(random, 2))
		fixture_delete(fixture, "customresourcedefinitions.apiextensions.k8s.io", "", "xs.example.com", NULL);
	if (!store_api_find(fixture->store, "example.com", "v1", "xs"))
		return;
	snprintf(name, sizeof(name), "o%d", random_range(random, 0, 5));
	int choice = random_range(random, 0, 9);
	if (choice < 4) {
		char owner[128] = "";
		fixture_get(fixture, "configmaps", "default", "o0");
		if (random_chance(random, 40) && fixture->result.object)
			snprintf(owner, sizeof(owner),
			         ",'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'o0','uid':'%s'}]",
			         fixture->result.object->uid);
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s','finalizers':%s%s}}", name,
		         random_chance(random, 20) ? "['example.com/x']" : "[]", owner);
		fixture_create(fixture, type, "default", body);
	} else if (choice < 7) {
		snprintf(body, sizeof(body), "{'metadata':{'labels':{'n':'%d'},'finalizers':null}}",
		         random_range(random, 0, 99));
		fixture_merge(fixture, type, "default", name, body);
	} else {
		fixture_delete(fixture, type, "default", name,
		               random_chance(random, 30) ? "{'propagationPolicy':'Foreground'}" : NULL);
	}
	if (random_chance(random, 30)) {
		store_collect_garbage(fixture->store, 2);
		store_commit(fixture->store, NULL);
	}
}

/* All objects of all types, and the events of each type since a version. */
static void dump(struct store_fixture *fixture, uint64_t since, struct buffer *out)
{
	size_t count, length;
	const struct store_api *const *apis = store_apis(fixture->store, &count);
	char version[24];
	snprintf(version, sizeof(version), "%" PRIu64, since);
	for (size_t i = 0; i < count; i++) {
		struct store_list list;
		struct store_event event;
		struct store_error error = {0};
		assert_int_equal(store_list(fixture->store, &(struct store_list_request){.api = apis[i]}, &list,
		                            fixture->arena, NULL),
		                 0);
		for (size_t j = 0; j < list.count; j++)
			buffer_printf(out, "%s\n", store_object_json(list.items[j], NULL, &length));
		store_list_clear(&list);
		struct store_watch_request request = {.api = apis[i], .version = version};
		struct store_watch *watch = store_watch_open(fixture->store, &request, fixture->arena, &error);
		if (!watch) {
			buffer_printf(out, "%s %d\n", apis[i]->type->resource, error.code);
			continue;
		}
		while (store_watch_next(watch, &event, fixture->arena, NULL) > 0)
			store_event_write(&event, apis[i], out);
		store_watch_close(watch);
	}
}

static void restarts_change_nothing(void **state)
{
	struct store_fixture *fixture = *state;
	struct random random = {11};
	fixture->options.sync = STORE_SYNC_NORMAL;
	fixture_open(fixture, path);
	for (int round = 0; round < 60; round++) {
		for (int i = random_range(&random, 1, 30); i > 0; i--)
			do_something(fixture, &random);
		uint64_t version = store_version(fixture->store);
		uint64_t since = version - (uint64_t)random_range(&random, 0, version > 25 ? 25 : 0);
		struct buffer before = {0}, after = {0};
		dump(fixture, since ? since : 1, &before);
		fixture_reopen(fixture);
		dump(fixture, since ? since : 1, &after);
		assert_int_equal(store_version(fixture->store), version);
		/* What is about to leave the window may still be there after a restart, so only a 410 may differ. */
		if (!strstr(before.text, " 410\n"))
			assert_string_equal(before.text, after.text);
		buffer_free(&before);
		buffer_free(&after);
	}
	fixture_settle(fixture);
	fixture_close(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_is_there_again, setup, teardown),
		cmocka_unit_test_setup_teardown(uids_do_not_repeat, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_else_reads_the_files, setup, teardown),
		cmocka_unit_test_setup_teardown(watches_go_on_over_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(the_file_does_not_grow_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(the_window_has_a_size, setup, teardown),
		cmocka_unit_test_setup_teardown(only_one_process_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(foreign_files_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failed_commit_takes_everything_back, setup, teardown),
		cmocka_unit_test_setup_teardown(restarts_change_nothing, setup, teardown),
	};
	return cmocka_run_group_tests_name("store file", tests, NULL, NULL);
}
