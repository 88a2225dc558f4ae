/* The frame of controllers: changes become keys, keys are worked on once, failures wait. */
#include "fixtures/store_fixture.h"

#include "loop/informer.h"
#include "loop/reconciler.h"

#include <stdlib.h>

/* ---- work queue ---- */

static void want(struct work_queue *queue, const char *name, int64_t due)
{
	work_queue_want(queue, &(struct work_key){0, "ns", name}, due);
}

static const char *take(struct work_queue *queue, int64_t now, struct work_key *key)
{
	return work_queue_take(queue, now, key) ? key->name : "";
}

static void keys_come_when_due_in_the_order_of_wanting(void **state)
{
	(void)state;
	struct work_queue *queue = work_queue_create();
	struct work_key key;
	want(queue, "b", 5);
	want(queue, "a", 5);
	want(queue, "late", 9);
	want(queue, "b", 7); /* later than it was: changes nothing */
	assert_int_equal(work_queue_length(queue), 3);
	assert_int_equal(work_queue_next(queue), 5);
	assert_string_equal(take(queue, 4, &key), "");
	assert_string_equal(take(queue, 5, &key), "b");
	work_queue_done(queue, &key);
	assert_string_equal(take(queue, 5, &key), "a");
	work_queue_done(queue, &key);
	assert_string_equal(take(queue, 8, &key), "");
	want(queue, "late", 6); /* brought forward */
	assert_string_equal(take(queue, 8, &key), "late");
	work_queue_done(queue, &key);
	assert_int_equal(work_queue_next(queue), INT64_MAX);
	work_queue_destroy(queue);
}

static void what_is_wanted_while_in_work_is_not_lost(void **state)
{
	(void)state;
	struct work_queue *queue = work_queue_create();
	struct work_key key, other;
	want(queue, "a", 0);
	assert_string_equal(take(queue, 0, &key), "a");
	want(queue, "a", 0);
	want(queue, "a", 3);
	assert_string_equal(take(queue, 9, &other), ""); /* never twice at a time */
	work_queue_done(queue, &key);
	assert_string_equal(take(queue, 0, &key), "a");
	work_queue_done(queue, &key);
	assert_string_equal(take(queue, 9, &key), "");
	work_queue_destroy(queue);
}

static void failures_wait_longer_each_time(void **state)
{
	(void)state;
	struct work_queue *queue = work_queue_create();
	struct work_key key;
	int64_t now = 0, last = 0;
	want(queue, "a", 0);
	for (unsigned i = 1; i <= 20; i++) {
		assert_string_equal(take(queue, now, &key), "a");
		assert_int_equal(work_queue_failed(queue, &key, now), i);
		int64_t pause = work_queue_next(queue) - now;
		assert_true(pause >= last && pause <= WORK_PAUSE_LONGEST_NS);
		last = pause;
		now = work_queue_next(queue);
	}
	assert_int_equal(last, WORK_PAUSE_LONGEST_NS);
	assert_string_equal(take(queue, now, &key), "a");
	work_queue_done(queue, &key); /* success forgets the failures */
	want(queue, "a", now);
	take(queue, now, &key);
	assert_int_equal(work_queue_failed(queue, &key, now), 1);
	assert_int_equal(work_queue_next(queue) - now, WORK_PAUSE_FIRST_NS);
	work_queue_destroy(queue);
}

static void many_keys_come_in_order(void **state)
{
	(void)state;
	struct work_queue *queue = work_queue_create();
	struct work_key key;
	char name[16];
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		want(queue, name, (i * 7919) % 1000);
	}
	int64_t last = -1;
	for (int i = 0; i < 1000; i++) {
		int64_t due = work_queue_next(queue);
		assert_true(due >= last);
		last = due;
		assert_true(work_queue_take(queue, due, &key));
		work_queue_done(queue, &key);
	}
	assert_int_equal(work_queue_length(queue), 0);
	work_queue_destroy(queue);
}

/* ---- informer ---- */

static struct buffer seen;

static void note(void *context, const struct store_object *object, const struct store_object *old, bool deleted)
{
	(void)context;
	buffer_printf(&seen, "%s%s%s", seen.length ? " " : "", deleted ? "-" : old ? "~" : "+", object->name);
}

static const char *poll_names(struct informer *informer)
{
	seen.length = 0;
	buffer_puts(&seen, "");
	informer_poll(informer);
	return seen.text;
}

static void make_pod(struct store_fixture *fixture, const char *name)
{
	char body[200];
	snprintf(body, sizeof(body), "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i'}]}}",
	         name);
	assert_code(fixture, fixture_create(fixture, "pods", "default", body), 201);
}

static void remove_pod(struct store_fixture *fixture, const char *name)
{
	assert_code(fixture, fixture_delete(fixture, "pods", "default", name, "{'gracePeriodSeconds':0}"), 200);
}

static void a_long_list_is_read_in_slices(void **state)
{
	struct store_fixture *fixture = *state;
	struct informer *informer = informer_create(
		&(struct informer_options){.store = fixture->store, .group = "", .resource = "pods", .changed = note});
	char name[16];
	for (int i = 0; i < 1200; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		make_pod(fixture, name);
	}
	size_t reports[4], all = 0;
	for (int i = 0; i < 4; i++) {
		all += reports[i] = informer_poll(informer);
		assert_int_equal(informer_behind(informer), i < 2);
		assert_int_equal(informer_listing(informer), i < 2);
	}
	assert_true(reports[0] > 0 && reports[0] <= 500 && reports[1] <= 500);
	assert_int_equal(all, 1200);
	assert_int_equal(reports[3], 0);
	informer_destroy(informer);
}

static void a_lost_watch_loses_no_change(void **state)
{
	struct store_fixture *fixture = *state;
	struct informer *informer = informer_create(
		&(struct informer_options){.store = fixture->store, .group = "", .resource = "pods", .changed = note});
	make_pod(fixture, "a");
	make_pod(fixture, "b");
	assert_string_equal(poll_names(informer), "+a +b");
	assert_string_equal(poll_names(informer), "");
	remove_pod(fixture, "a");
	assert_string_equal(poll_names(informer), "-a");
	/* More changes than the history keeps: the watch is over, the list is read again. */
	remove_pod(fixture, "b");
	for (int i = 0; i < 40; i++) {
		make_pod(fixture, "x");
		remove_pod(fixture, "x");
	}
	make_pod(fixture, "c");
	assert_string_equal(poll_names(informer), "+c -b");
	assert_int_equal(informer_relists(informer), 1);
	informer_destroy(informer);
}

static void a_name_taken_again_is_another_object(void **state)
{
	struct store_fixture *fixture = *state;
	struct informer *informer = informer_create(
		&(struct informer_options){.store = fixture->store, .group = "", .resource = "pods", .changed = note});
	make_pod(fixture, "a");
	assert_string_equal(poll_names(informer), "+a");
	for (int i = 0; i < 40; i++) {
		remove_pod(fixture, "a");
		make_pod(fixture, "a");
	}
	assert_string_equal(poll_names(informer), "-a +a");
	informer_destroy(informer);
}

static void types_may_come_and_go(void **state)
{
	struct store_fixture *fixture = *state;
	struct informer *informer = informer_create(&(struct informer_options){
		.store = fixture->store, .group = "example.com", .resource = "gangs", .changed = note});
	assert_string_equal(poll_names(informer), "");
	assert_code(fixture,
	            fixture_create(fixture, "customresourcedefinitions.apiextensions.k8s.io", "",
	                           "{'metadata':{'name':'gangs.example.com'},'spec':{'group':'example.com','scope':"
	                           "'Namespaced','names':{'plural':'gangs','kind':'Gang'},'versions':[{'name':'v1',"
	                           "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
	                           "'x-kubernetes-preserve-unknown-fields':true}}}]}}"),
	            201);
	assert_code(fixture, fixture_create(fixture, "gangs.example.com", "default", "{'metadata':{'name':'g'}}"), 201);
	assert_string_equal(poll_names(informer), "+g");
	assert_code(fixture,
	            fixture_delete(fixture, "customresourcedefinitions.apiextensions.k8s.io", "", "gangs.example.com",
	                           NULL),
	            200);
	fixture_settle(fixture);
	assert_string_equal(poll_names(informer), "-g");
	informer_destroy(informer);
}

/* ---- reconciler ---- */

struct trace {
	struct buffer text;
	int failures; /* left to answer with */
	int64_t again;
};

static int record(void *context, struct reconcile *turn)
{
	struct trace *trace = context;
	buffer_printf(&trace->text, "%s%d:%s/%s", trace->text.length ? " " : "", turn->key.kind, turn->key.namespace_,
	              turn->key.name);
	turn->again_ns = trace->again;
	trace->again = 0;
	turn->failure = "not yet";
	return trace->failures-- > 0 ? -1 : 0;
}

static void want_app(struct reconciler *reconciler, void *context, const struct store_object *object,
                     const struct store_object *old, bool deleted)
{
	(void)context;
	(void)old;
	(void)deleted;
	reconciler_want(reconciler, 2, object->namespace_, "app");
}

/* What fails for good does not fill the log. */
static void failures_are_told_ever_more_seldom(void **state)
{
	static const struct reconciler_watch watches[] = {{"", "pods", 0, want_app}};
	struct store_fixture *fixture = *state;
	struct trace trace = {.failures = 100};
	char *text = NULL;
	size_t size = 0;
	struct logger logger = {.stream = open_memstream(&text, &size), .level = LOG_WARN};
	struct reconciler *reconciler = reconciler_create(&(struct reconciler_options){
		.name = "test",
		.store = fixture->store,
		.clock = &fixture->clock.source,
		.logger = &logger,
		.watches = watches,
		.watch_count = 1,
		.reconcile = record,
		.context = &trace,
	});
	make_pod(fixture, "a");
	for (int i = 0; i < 20; i++) {
		int wait = reconciler_step(reconciler);
		clock_virtual_advance(&fixture->clock, wait * INT64_C(1000000));
	}
	fclose(logger.stream);
	size_t lines = 0;
	for (const char *at = text; (at = strstr(at, "reconcile failed")); at++)
		lines++;
	assert_int_equal(lines, 4); /* the second time, the fourth, the eighth and the sixteenth */
	assert_non_null(strstr(text, "failures=16"));
	free(text);
	reconciler_destroy(reconciler);
	buffer_free(&trace.text);
}

static void changes_become_keys_and_failures_come_back(void **state)
{
	static const struct reconciler_watch watches[] = {{"", "pods", 0, want_app}, {"", "nodes", 1, NULL}};
	struct store_fixture *fixture = *state;
	struct trace trace = {.failures = 1};
	struct reconciler *reconciler = reconciler_create(&(struct reconciler_options){
		.name = "test",
		.store = fixture->store,
		.clock = &fixture->clock.source,
		.watches = watches,
		.watch_count = 2,
		.reconcile = record,
		.context = &trace,
	});
	assert_int_equal(reconciler_step(reconciler), -1);
	make_pod(fixture, "a");
	make_pod(fixture, "b");
	assert_code(fixture, fixture_create(fixture, "nodes", "", "{'metadata':{'name':'n'}}"), 201);
	assert_int_equal(reconciler_step(reconciler), 5); /* milliseconds until the failed one is tried again */
	assert_string_equal(trace.text.text, "2:default/app 1:/n");
	/* A clock that is set back delays nothing. */
	clock_virtual_advance(&fixture->clock, -3600 * CLOCK_SECOND);
	assert_int_equal(reconciler_step(reconciler), 5);
	clock_virtual_advance(&fixture->clock, 5000000);
	trace.again = 2 * CLOCK_SECOND;
	assert_int_equal(reconciler_step(reconciler), 2000);
	assert_string_equal(trace.text.text, "2:default/app 1:/n 2:default/app");
	clock_virtual_advance(&fixture->clock, 2 * CLOCK_SECOND);
	assert_int_equal(reconciler_step(reconciler), -1);
	assert_string_equal(trace.text.text, "2:default/app 1:/n 2:default/app 2:default/app");
	reconciler_destroy(reconciler);
	buffer_free(&trace.text);
}

static int insist(void *context, struct reconcile *turn)
{
	struct reconciler **reconciler = context;
	reconciler_want(*reconciler, turn->key.kind, turn->key.namespace_, turn->key.name);
	buffer_printf(&seen, "%s%s", seen.length ? " " : "", turn->key.name);
	return 0;
}

static void who_wants_itself_again_lets_others_go_first(void **state)
{
	static const struct reconciler_watch watches[] = {{"", "pods", 0, NULL}};
	struct store_fixture *fixture = *state;
	struct reconciler *reconciler = NULL;
	reconciler = reconciler_create(&(struct reconciler_options){
		.name = "test",
		.store = fixture->store,
		.clock = &fixture->clock.source,
		.watches = watches,
		.watch_count = 1,
		.reconcile = insist,
		.context = &reconciler,
	});
	make_pod(fixture, "a");
	make_pod(fixture, "b");
	seen.length = 0;
	assert_int_equal(reconciler_step(reconciler), 0);
	assert_string_equal(seen.text, "a b");
	assert_int_equal(reconciler_step(reconciler), 0);
	assert_string_equal(seen.text, "a b a b");
	reconciler_destroy(reconciler);
}

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
	buffer_free(&seen);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_come_when_due_in_the_order_of_wanting),
		cmocka_unit_test(what_is_wanted_while_in_work_is_not_lost),
		cmocka_unit_test(failures_wait_longer_each_time),
		cmocka_unit_test(many_keys_come_in_order),
		cmocka_unit_test_setup_teardown(a_long_list_is_read_in_slices, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lost_watch_loses_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_taken_again_is_another_object, setup, teardown),
		cmocka_unit_test_setup_teardown(types_may_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_become_keys_and_failures_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_told_ever_more_seldom, setup, teardown),
		cmocka_unit_test_setup_teardown(who_wants_itself_again_lets_others_go_first, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
