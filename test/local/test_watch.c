/* Watches: every change once and in order, as the selection sees it. */
#include "fixtures/store_fixture.h"

#include "property/random.h"

#include <inttypes.h>
#include <stdlib.h>

static int setup(void **state)
{
	static struct store_fixture fixture;
	fixture = (struct store_fixture){.options = {.history = 16}};
	fixture_open(&fixture, NULL);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

static void count_wake(void *context)
{
	++*(int *)context;
}

static struct store_watch *open_watch(struct store_fixture *fixture, const char *namespace_, const char *labels,
                                      const char *fields, const char *version, bool initial, void *wakes)
{
	struct store_selector selector;
	struct store_error error = {0};
	const struct store_api *api = fixture_api(fixture, "pods");
	assert_int_equal(store_selector_parse(fixture->arena, api, labels, fields, &selector, &error), 0);
	struct store_watch_request request = {
		.api = api,
		.namespace_ = namespace_,
		.selector = &selector,
		.version = version,
		.initial = initial,
		.wake = wakes ? count_wake : NULL,
		.context = wakes,
	};
	struct store_watch *watch = store_watch_open(fixture->store, &request, fixture->arena, &error);
	if (!watch)
		fail_msg("%d %s", error.code, error.message);
	return watch;
}

/* Everything that waits, as "+a ~a -a" (b: bookmark, B: end of the initial events, !410: over). */
static const char *drain(struct store_watch *watch)
{
	static struct buffer out;
	struct store_event event;
	struct store_error error = {0};
	struct arena *arena = arena_create();
	int status;
	out.length = 0;
	buffer_puts(&out, "");
	while ((status = store_watch_next(watch, &event, arena, &error)) > 0) {
		if (event.type == STORE_BOOKMARK)
			buffer_printf(&out, "%s%s", out.length ? " " : "", event.initial_end ? "B" : "b");
		else
			buffer_printf(&out, "%s%c%s", out.length ? " " : "", "+~-"[event.type], event.object->name);
	}
	if (status < 0)
		buffer_printf(&out, "%s!%d", out.length ? " " : "", error.code);
	arena_destroy(arena);
	return out.text;
}

static void create(struct store_fixture *fixture, const char *name, const char *labels)
{
	char body[256];
	snprintf(body, sizeof(body), "{'metadata':{'name':'%s','labels':%s}}", name, labels);
	assert_code(fixture, fixture_create(fixture, "pods", "default", body), 201);
}

static void a_watch_tells_what_happens(void **state)
{
	struct store_fixture *fixture = *state;
	int wakes = 0;
	create(fixture, "a", "{}");
	struct store_watch *watch = open_watch(fixture, "default", NULL, NULL, NULL, false, &wakes);
	assert_string_equal(drain(watch), "+a");
	assert_int_equal(wakes, 0);
	create(fixture, "b", "{}");
	assert_int_equal(wakes, 1);
	fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'x':'y'}}}");
	assert_int_equal(wakes, 1); /* it has not looked yet */
	fixture_delete(fixture, "pods", "default", "b", NULL);
	assert_string_equal(drain(watch), "+b ~a -b");
	assert_string_equal(drain(watch), "");
	fixture_create(fixture, "pods", "kube-system", "{'metadata':{'name':'elsewhere'}}");
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'other'}}");
	assert_int_equal(wakes, 1);
	assert_string_equal(drain(watch), "");
	store_watch_close(watch);
}

static void selections_gain_and_lose(void **state)
{
	struct store_fixture *fixture = *state;
	int wakes = 0;
	struct store_watch *watch = open_watch(fixture, NULL, "app=x", NULL, NULL, false, &wakes);
	assert_string_equal(drain(watch), "");
	create(fixture, "a", "{'app':'y'}");
	assert_int_equal(wakes, 0);
	fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'app':'x'}}}");
	assert_string_equal(drain(watch), "+a");
	fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'z':'1'}}}");
	assert_string_equal(drain(watch), "~a");
	fixture_merge(fixture, "pods", "default", "a", "{'metadata':{'labels':{'app':'y'}}}");
	uint64_t version = store_version(fixture->store);
	struct store_event event;
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
	assert_int_equal(event.type, STORE_DELETED);
	assert_int_equal(event.object->version, version);                   /* the version of the change, */
	assert_string_equal(labels_get(&event.object->labels, "app"), "x"); /* the state before it */
	fixture_delete(fixture, "pods", "default", "a", NULL);
	assert_string_equal(drain(watch), "");
	store_watch_close(watch);
}

static void deleted_objects_show_their_last_state(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_watch *watch = open_watch(fixture, "default", NULL, NULL, NULL, false, NULL);
	create(fixture, "a", "{'k':'v'}");
	fixture_delete(fixture, "pods", "default", "a", NULL);
	struct store_event event;
	struct buffer out = {0};
	store_watch_next(watch, &event, NULL, NULL);
	/* The watch began with the present: the pod had come and gone before the first look. */
	assert_string_equal(drain(watch), "");
	create(fixture, "b", "{'k':'v'}");
	fixture_delete(fixture, "pods", "default", "b", NULL);
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
	assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
	assert_int_equal(event.type, STORE_DELETED);
	store_event_write(&event, fixture_api(fixture, "pods"), &out);
	char version[64];
	snprintf(version, sizeof(version), "\"resourceVersion\":\"%" PRIu64 "\"", store_version(fixture->store));
	assert_non_null(strstr(out.text, "{\"type\":\"DELETED\",\"object\":{"));
	assert_non_null(strstr(out.text, version));
	assert_non_null(strstr(out.text, "\"labels\":{\"k\":\"v\"}"));
	assert_int_equal(out.text[out.length - 1], '\n');
	buffer_free(&out);
	store_watch_close(watch);
}

static void initial_events_end_with_a_bookmark(void **state)
{
	struct store_fixture *fixture = *state;
	create(fixture, "a", "{}");
	create(fixture, "b", "{}");
	struct store_watch *watch = open_watch(fixture, NULL, NULL, NULL, "", true, NULL);
	struct store_watch *empty = open_watch(fixture, NULL, "no=such", NULL, "1", true, NULL);
	assert_string_equal(drain(watch), "+a +b B");
	assert_string_equal(drain(empty), "B");
	fixture_delete(fixture, "pods", "default", "a", NULL);
	assert_string_equal(drain(watch), "-a");
	struct store_event event;
	struct buffer out = {0};
	assert_true(store_watch_bookmark(watch, &event));
	assert_int_equal(event.version, store_version(fixture->store));
	store_event_write(&event, fixture_api(fixture, "pods"), &out);
	assert_string_equal(out.text,
	                    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
	                    "\"resourceVersion\":\"7\",\"creationTimestamp\":null}}}\n");
	create(fixture, "c", "{}");
	assert_false(store_watch_bookmark(watch, &event)); /* c first */
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'x'}}");
	assert_true(store_watch_bookmark(empty, &event)); /* moves on although nothing concerned it */
	assert_int_equal(event.version, store_version(fixture->store));
	buffer_free(&out);
	store_watch_close(watch);
	store_watch_close(empty);
}

static void resuming_at_a_version(void **state)
{
	struct store_fixture *fixture = *state;
	char version[24];
	create(fixture, "a", "{}");
	snprintf(version, sizeof(version), "%" PRIu64, store_version(fixture->store));
	create(fixture, "b", "{}");
	struct store_watch *watch = open_watch(fixture, NULL, NULL, NULL, version, false, NULL);
	assert_string_equal(drain(watch), "+b");
	/* A watch that does not look for too long is told so; one that looks in time goes on. */
	struct store_watch *slow = open_watch(fixture, NULL, NULL, NULL, version, false, NULL);
	for (int i = 0; i < 30; i++) {
		char body[64];
		snprintf(body, sizeof(body), "{'metadata':{'labels':{'x':'v%d'}}}", i);
		fixture_merge(fixture, "pods", "default", "a", body);
		assert_string_equal(drain(watch), "~a");
	}
	assert_string_equal(drain(slow), "!410");
	store_watch_close(slow);
	store_watch_close(watch);
	struct store_error error = {0};
	struct store_watch_request request = {.api = fixture_api(fixture, "pods"), .version = version};
	assert_null(store_watch_open(fixture->store, &request, fixture->arena, &error));
	assert_int_equal(error.code, 410);
	assert_string_equal(error.reason, "Expired");
	request.version = "1000";
	assert_null(store_watch_open(fixture->store, &request, fixture->arena, &error));
	assert_int_equal(error.code, 504);
}

static void only_what_is_committed_shows(void **state)
{
	struct store_fixture *fixture = *state;
	int wakes = 0, later = 0;
	struct store_watch *watch = open_watch(fixture, NULL, NULL, NULL, NULL, false, &wakes);
	assert_string_equal(drain(watch), "");
	struct doc *body = fixture_json("{'metadata':{'name':'a'}}");
	struct store_request request = {.verb = STORE_CREATE,
	                                .api = fixture_api(fixture, "pods"),
	                                .namespace_ = "default",
	                                .body = doc_root(body)};
	assert_int_equal(store_write(fixture->store, &request, &fixture->result), 0);
	assert_string_equal(drain(watch), "");
	struct store_watch *second = open_watch(fixture, NULL, NULL, NULL, NULL, false, &later);
	assert_string_equal(drain(second), "");
	assert_int_equal(wakes, 0);
	assert_true(store_pending(fixture->store));
	store_commit(fixture->store, NULL);
	assert_int_equal(wakes, 1);
	assert_int_equal(later, 1);
	assert_string_equal(drain(watch), "+a");
	assert_string_equal(drain(second), "+a");
	doc_destroy(body);
	store_watch_close(watch);
	store_watch_close(second);
}

static void a_large_turn_reaches_those_who_look(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_watch *watch = open_watch(fixture, NULL, NULL, NULL, NULL, false, NULL);
	assert_string_equal(drain(watch), "");
	for (int turn = 0; turn < 3; turn++) {
		struct doc *body = fixture_json("{'metadata':{'generateName':'p'}}");
		struct store_request request = {.verb = STORE_CREATE,
		                                .api = fixture_api(fixture, "pods"),
		                                .namespace_ = "default",
		                                .body = doc_root(body)};
		for (int i = 0; i < 100; i++) { /* far more than the history of 16 */
			store_result_clear(&fixture->result);
			assert_int_equal(store_write(fixture->store, &request, &fixture->result), 0);
		}
		store_commit(fixture->store, NULL);
		doc_destroy(body);
		struct store_event event;
		for (int i = 0; i < 100; i++)
			assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 1);
		assert_int_equal(store_watch_next(watch, &event, NULL, NULL), 0);
	}
	store_watch_close(watch);
}

/* ---- submissions ---- */

static int done_order[8], done_count;

static void note_done(void *context, const struct store_result *result)
{
	done_order[done_count++] = *(int *)context * 1000 + result->code;
}

static void submissions_are_answered_in_order(void **state)
{
	struct store_fixture *fixture = *state;
	static int one = 1, two = 2;
	done_count = 0;
	struct doc *body = fixture_json("{'metadata':{'name':'a'}}");
	struct store_request request = {.verb = STORE_CREATE,
	                                .api = fixture_api(fixture, "pods"),
	                                .namespace_ = "default",
	                                .body = doc_root(body)};
	store_submit(fixture->store, &request, note_done, &one);
	store_submit(fixture->store, &request, note_done, &two);
	doc_destroy(body);
	assert_int_equal(done_count, 0);
	assert_true(store_pending(fixture->store));
	store_commit(fixture->store, NULL);
	assert_int_equal(done_count, 2);
	assert_int_equal(done_order[0], 1201);
	assert_int_equal(done_order[1], 2409);
	assert_false(store_pending(fixture->store));
}

/* ---- the property ---- */

#define NAMES 12
#define WATCHERS 12

/* What a client believes is there: version by name, 0 for absent. */
struct mirror {
	struct store_watch *watch;
	struct store_selector selector;
	char namespace_[16];
	uint64_t versions[2][NAMES];
	uint64_t last; /* version of the last event */
	int initial;   /* events of the first look are not ordered by version */
};

static int slot(const struct store_object *object, int *space)
{
	*space = strcmp(object->namespace_, "default") != 0;
	return (int)strtol(object->name + 1, NULL, 10);
}

static void relist(struct store_fixture *fixture, struct mirror *mirror, struct random *random, struct arena *arena)
{
	struct store_error error = {0};
	char version[24];
	store_watch_close(mirror->watch);
	memset(mirror->versions, 0, sizeof(mirror->versions));
	struct store_watch_request request = {.api = fixture_api(fixture, "pods"),
	                                      .namespace_ = mirror->namespace_,
	                                      .selector = &mirror->selector,
	                                      .version = "0"};
	mirror->initial = true;
	if (random_chance(random, 50)) { /* list, then watch from there */
		struct store_list list;
		struct store_list_request query = {.api = request.api,
		                                   .namespace_ = mirror->namespace_,
		                                   .selector = &mirror->selector,
		                                   .limit = (size_t)random_range(random, 0, 3)};
		char *token = NULL;
		do {
			query.continue_ = token;
			assert_int_equal(store_list(fixture->store, &query, &list, arena, &error), 0);
			free(token);
			token = list.continue_ ? base_strdup(list.continue_) : NULL;
			for (size_t i = 0; i < list.count; i++) {
				int space, at = slot(list.items[i], &space);
				mirror->versions[space][at] = list.items[i]->version;
			}
			mirror->last = list.version;
			store_list_clear(&list);
		} while (token);
		snprintf(version, sizeof(version), "%" PRIu64, mirror->last);
		request.version = version;
		mirror->initial = false;
	} else if (random_chance(random, 50)) {
		request.initial = true;
	}
	mirror->watch = store_watch_open(fixture->store, &request, arena, &error);
	if (!mirror->watch)
		fail_msg("%d %s", error.code, error.message);
}

/* Follows the watch to its end. False: expired. */
static bool follow(struct mirror *mirror, struct arena *arena)
{
	struct store_event event;
	struct store_error error;
	int status;
	while ((status = store_watch_next(mirror->watch, &event, arena, &error)) > 0) {
		if (event.type == STORE_BOOKMARK)
			continue;
		int space, at = slot(event.object, &space);
		uint64_t *known = &mirror->versions[space][at];
		assert_int_equal(event.object->version, event.version);
		if (!mirror->initial || event.type != STORE_ADDED)
			mirror->initial = false;
		if (!mirror->initial)
			assert_true(event.version > mirror->last || event.type == STORE_ADDED);
		if (event.version > mirror->last)
			mirror->last = event.version;
		assert_true(store_selector_matches(&mirror->selector, event.object));
		assert_int_equal(*known != 0, event.type != STORE_ADDED); /* a client can rely on the type */
		*known = event.type == STORE_DELETED ? 0 : event.version;
	}
	return status == 0;
}

static void compare(struct store_fixture *fixture, const struct mirror *mirror, struct arena *arena)
{
	struct store_list list;
	struct store_list_request query = {.api = fixture_api(fixture, "pods"),
	                                   .namespace_ = mirror->namespace_,
	                                   .selector = &mirror->selector};
	uint64_t versions[2][NAMES] = {{0}};
	assert_int_equal(store_list(fixture->store, &query, &list, arena, NULL), 0);
	for (size_t i = 0; i < list.count; i++) {
		int space, at = slot(list.items[i], &space);
		versions[space][at] = list.items[i]->version;
	}
	store_list_clear(&list);
	assert_memory_equal(versions, mirror->versions, sizeof(versions));
}

static void change_something(struct store_fixture *fixture, struct random *random)
{
	static const char *const spaces[] = {"default", "kube-system"};
	char name[16], body[128];
	const char *space = spaces[random_range(random, 0, 1)];
	snprintf(name, sizeof(name), "p%d", random_range(random, 0, NAMES - 1));
	int choice = random_range(random, 0, 9);
	if (choice < 3) {
		snprintf(body, sizeof(body), "{'metadata':{'name':'%s','labels':{'app':'%c'}}}", name,
		         "xyz"[random_range(random, 0, 2)]);
		fixture_create(fixture, "pods", space, body);
	} else if (choice < 7) {
		snprintf(body, sizeof(body), "{'metadata':{'labels':{'app':'%c','n':'%d'}}}",
		         "xyz"[random_range(random, 0, 2)], random_range(random, 0, 2));
		fixture_merge(fixture, "pods", space, name, body);
	} else {
		fixture_delete(fixture, "pods", space, name, NULL);
	}
}

static void mirrors_show_what_lists_show(void **state)
{
	static const char *const labels[] = {NULL, "app=x", "app in (x,y)", "app!=x", "n=1", "!n"};
	static const char *const fields[] = {NULL, NULL, "metadata.name=p3", "metadata.name!=p3"};
	struct store_fixture *fixture = *state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct random random = {seed};
		struct mirror mirrors[WATCHERS] = {{0}};
		struct arena *arena = arena_create();
		for (int i = 0; i < WATCHERS; i++) {
			store_selector_parse(arena, fixture_api(fixture, "pods"), labels[random_range(&random, 0, 5)],
			                     fields[random_range(&random, 0, 3)], &mirrors[i].selector, NULL);
			snprintf(mirrors[i].namespace_, sizeof(mirrors[i].namespace_), "%s",
			         random_chance(&random, 50) ? "" : "default");
			relist(fixture, &mirrors[i], &random, arena);
		}
		for (int turn = 0; turn < 100; turn++) {
			for (int i = random_range(&random, 0, 5); i > 0; i--)
				change_something(fixture, &random);
			for (int i = 0; i < WATCHERS; i++) { /* some look often, some seldom */
				if (!random_chance(&random, 8 * (i + 1)))
					continue;
				if (!follow(&mirrors[i], arena)) {
					relist(fixture, &mirrors[i], &random, arena);
					assert_true(follow(&mirrors[i], arena));
				}
				compare(fixture, &mirrors[i], arena);
			}
		}
		for (int i = 0; i < WATCHERS; i++)
			store_watch_close(mirrors[i].watch);
		arena_destroy(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_watch_tells_what_happens, setup, teardown),
		cmocka_unit_test_setup_teardown(selections_gain_and_lose, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted_objects_show_their_last_state, setup, teardown),
		cmocka_unit_test_setup_teardown(initial_events_end_with_a_bookmark, setup, teardown),
		cmocka_unit_test_setup_teardown(resuming_at_a_version, setup, teardown),
		cmocka_unit_test_setup_teardown(only_what_is_committed_shows, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_turn_reaches_those_who_look, setup, teardown),
		cmocka_unit_test_setup_teardown(submissions_are_answered_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(mirrors_show_what_lists_show, setup, teardown),
	};
	return cmocka_run_group_tests_name("store watches", tests, NULL, NULL);
}
