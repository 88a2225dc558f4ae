/* How a mirror is kept up to date: pages, watches, and everything that a server or the way to it can do wrong. */
#include "fixtures/remote_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *page(int version, const char *continue_, const char *items)
{
	static char text[16384];
	snprintf(text, sizeof(text),
	         "{'kind':'PodList','apiVersion':'v1','metadata':{'resourceVersion':'%d'%s%s%s},'items':[%s]}", version,
	         continue_[0] ? ",'continue':'" : "", continue_, continue_[0] ? "'" : "", items);
	return text;
}

static const char *pod(const char *name, int version)
{
	char uid[64];
	snprintf(uid, sizeof(uid), "uid-%s", name);
	return remote_fixture_pod(name, uid, version, "", "");
}

static const char *event(const char *type, const char *object)
{
	static char text[8192];
	snprintf(text, sizeof(text), "{'type':'%s','object':%s}\n", type, object);
	return text;
}

/* ---- lists ---- */

static void a_list_comes_in_pages(void **state)
{
	struct remote_fixture *fixture = *state;
	char two[8192];
	snprintf(two, sizeof(two), "%s,%s", pod("a", 3), pod("b", 4));
	fake_server_on(fixture->fake, LIST "=2", 200, "", page(10, "next+/=&", two));
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "continue=", 1);
	/* The token is quoted, and nothing is complete. */
	assert_string_equal(fake_server_request(fixture->fake, LIST, 1)->line, LIST "=2&continue=next%2B%2F%3D%26");
	assert_false(remote_synced(fixture->remote));
	assert_int_equal(fake_server_count(fixture->fake, WATCH), 0);
	fake_server_answer(fixture->fake, "continue=", 200, "", page(10, "", pod("c", 5)));
	remote_fixture_await(fixture, WATCH, 1);
	assert_true(remote_synced(fixture->remote));
	assert_pods(fixture, "a:3 b:4 c:5");
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 0)->line, "resourceVersion=10"));
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 0)->line, "allowWatchBookmarks=true"));
	assert_int_equal(remote_counts(fixture->remote).lists, 1);
}

static void a_list_without_pages_is_one_request(void **state)
{
	struct remote_fixture *fixture = *state;
	char two[8192];
	snprintf(two, sizeof(two), "%s,%s", pod("a", 3), pod("b", 4));
	fixture->options.page = 0;
	fake_server_on(fixture->fake, "GET /api/v1/pods", 200, "", page(10, "", two));
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	assert_string_equal(fake_server_request(fixture->fake, "", 0)->line, "GET /api/v1/pods");
	assert_pods(fixture, "a:3 b:4");
}

static void a_page_that_expired_begins_the_list_anew(void **state)
{
	struct remote_fixture *fixture = *state;
	fake_server_on(fixture->fake, LIST, 200, "", page(10, "old", pod("gone", 3)));
	fake_server_on(fixture->fake, "continue=old", 410, "",
	               "{'kind':'Status','code':410,'reason':'Expired','message':'too old'}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "continue=old", 1);
	assert_false(remote_synced(fixture->remote));
	fake_server_on(fixture->fake, LIST, 200, "", page(20, "", pod("a", 15)));
	remote_fixture_pass(fixture, 1);
	remote_fixture_await(fixture, WATCH, 1);
	assert_null(strstr(fake_server_request(fixture->fake, LIST, 2)->line, "continue"));
	/* What only the first attempt had is not there. */
	assert_pods(fixture, "a:15");
}

/* An answer that is no list must not be taken for an empty one: everything would seem to be deleted. */
static void what_is_no_list_deletes_nothing(void **state)
{
	static const char *const answers[] = {
		"{}",
		"[]",
		"null",
		"{'kind':'Status','status':'Success'}",
		"{'items':[]}",
		"<html>login</html>",
		"",
		"{'kind':'PodList','metadata':{'resourceVersion':'30'},'items':[{'metadata':{",
		"{'kind':'PodList','metadata':{'resourceVersion':'30'},'items':[]}}", /* more than one value */
		"{'kind':'PodList','metadata':{'resourceVersion':'30'},'items':7}",
		"{'kind':'PodList','metadata':{'resourceVersion':'30'},'items':[7]}",
		"{'kind':'PodList','metadata':{'resourceVersion':'30'},'items':[{'metadata':{'namespace':'default'}}]}",
		"{'kind':'NodeList','metadata':{'resourceVersion':'30'},'items':[]}",
	};
	struct remote_fixture *fixture = *state;
	fake_server_on(fixture->fake, LIST, 200, "", page(10, "", pod("a", 3)));
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	remote_fixture_tell(fixture, "ERROR", "{'kind':'Status','code':410}");
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		size_t lists = fake_server_count(fixture->fake, LIST);
		if (fake_server_open(fixture->fake, LIST) == 0)
			fail_msg("after %s nobody asks again", i ? answers[i - 1] : "410");
		fake_server_answer(fixture->fake, LIST, 200, "", answers[i]);
		remote_fixture_move(fixture);
		if (strcmp(remote_fixture_pods(fixture), "a:3") != 0)
			fail_msg("%s: %s", answers[i], remote_fixture_pods(fixture));
		/* After a pause, and somebody is told why. */
		assert_int_equal(fake_server_count(fixture->fake, LIST), lists);
		assert_non_null(strstr(remote_problem(fixture->remote), "pods: "));
		assert_true(remote_fixture_tenths(fixture, LIST, lists + 1, 400) < 400);
	}
	fake_server_answer(fixture->fake, LIST, 200, "", page(40, "", pod("b", 35)));
	remote_fixture_await(fixture, WATCH, 2);
	assert_pods(fixture, "b:35");
	assert_string_equal(remote_problem(fixture->remote), "");
}

static void a_null_for_no_items_is_an_empty_list(void **state)
{
	struct remote_fixture *fixture = *state;
	fake_server_on(fixture->fake, LIST, 200, "",
	               "{'kind':'PodList','metadata':{'resourceVersion':'10'},'items':null}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	assert_true(remote_synced(fixture->remote));
}

static void an_answer_that_is_cut_is_asked_for_again(void **state)
{
	struct remote_fixture *fixture = *state;
	static const char cut[] =
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"kind\":\"PodList\",\"items\":[";
	static const char short_[] = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"kind\":\"PodList\"";
	static const char noise[] = "\x16\x03\x01 what is this\r\n\r\n";
	fake_server_on_bytes(fixture->fake, LIST, cut, sizeof(cut) - 1);
	fake_server_on_bytes(fixture->fake, LIST, short_, sizeof(short_) - 1);
	fake_server_on_bytes(fixture->fake, LIST, noise, sizeof(noise) - 1);
	fake_server_on_bytes(fixture->fake, LIST, "", 0);
	fake_server_on(fixture->fake, LIST, 200, "", page(10, "", pod("a", 3)));
	remote_fixture_start(fixture);
	assert_true(remote_fixture_tenths(fixture, WATCH, 1, 600) < 600);
	assert_int_equal(fake_server_count(fixture->fake, LIST), 5);
	assert_pods(fixture, "a:3");
}

/* ---- the server asks for patience ---- */

static void retry_after_is_honoured(void **state)
{
	struct remote_fixture *fixture = *state;
	fake_server_on(fixture->fake, LIST, 429, "Retry-After: 100\r\n", "{'message':'slow down'}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	assert_string_equal(remote_problem(fixture->remote), "pods: slow down");
	int64_t waited = remote_fixture_tenths(fixture, LIST, 2, 1200);
	assert_in_range(waited, 1000, 1020);
	/* Also from a server that shuts down. */
	fake_server_answer(fixture->fake, LIST, 503, "Retry-After: 50\r\n", "{}");
	waited = remote_fixture_tenths(fixture, LIST, 3, 1200);
	assert_in_range(waited, 500, 520);
}

static void retry_after_may_be_a_date(void **state)
{
	struct remote_fixture *fixture = *state;
	char header[128];
	time_t then = time(NULL) + 600; /* the date is compared with the machine's clock */
	struct tm parts;
	strftime(header, sizeof(header), "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime_r(&then, &parts));
	fake_server_on(fixture->fake, LIST, 429, header, "{}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	clock_virtual_advance(&fixture->base.clock, 500 * CLOCK_SECOND);
	remote_fixture_move(fixture);
	assert_int_equal(fake_server_count(fixture->fake, LIST), 1);
	clock_virtual_advance(&fixture->base.clock, 120 * CLOCK_SECOND);
	remote_fixture_await(fixture, LIST, 2);
}

/* What no server means is no reason to wait for ever, or to go wrong. */
static void a_foolish_retry_after_has_an_end(void **state)
{
	static const char *const headers[] = {
		"Retry-After: 9223372036854775807\r\n",
		"Retry-After: 99999999999999999999999\r\n",
		"Retry-After: -5\r\n",
		"Retry-After: soon\r\n",
		"Retry-After: \r\n",
		"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
	};
	struct remote_fixture *fixture = *state;
	remote_fixture_start(fixture);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		remote_fixture_await(fixture, LIST, i + 1);
		fake_server_answer(fixture->fake, LIST, 429, headers[i], "{}");
		remote_fixture_move(fixture);
		clock_virtual_advance(&fixture->base.clock, 3600 * CLOCK_SECOND);
	}
	remote_fixture_await(fixture, LIST, sizeof(headers) / sizeof(headers[0]) + 1);
}

static void pauses_grow_and_differ(void **state)
{
	struct remote_fixture *fixture = *state;
	int64_t pauses[8];
	bool differ = false;
	fake_server_always(fixture->fake, LIST, 500, "", "{'message':'broken'}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	for (size_t i = 0; i < 8; i++) {
		pauses[i] = remote_fixture_tenths(fixture, LIST, i + 2, 1000);
		/* A server that is away is asked often enough to notice when it is back. */
		assert_in_range(pauses[i], 1, 21);
		differ |= i > 4 && pauses[i] != pauses[i - 1];
	}
	assert_true(pauses[7] > pauses[0]);
	assert_true(differ);
}

/* ---- watches ---- */

static void events_change_the_mirror(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", pod("a", 11));
	remote_fixture_tell(fixture, "ADDED", pod("b", 12));
	remote_fixture_tell(fixture, "MODIFIED", pod("a", 13));
	assert_pods(fixture, "a:13 b:12");
	remote_fixture_tell(fixture, "DELETED", pod("b", 14));
	assert_pods(fixture, "a:13");
	/* What the answer to a write told already is not undone by an older event. */
	remote_fixture_tell(fixture, "MODIFIED", pod("a", 12));
	assert_pods(fixture, "a:13");
}

static void a_watch_goes_on_where_it_ended(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", pod("a", 11));
	remote_fixture_tell(fixture, "BOOKMARK",
	                    "{'kind':'Pod','metadata':{'resourceVersion':'57','creationTimestamp':null}}");
	assert_pods(fixture, "a:11");
	clock_virtual_advance(&fixture->base.clock, 300 * CLOCK_SECOND);
	fake_server_finish(fixture->fake, WATCH);
	remote_fixture_await(fixture, WATCH, 2);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 1)->line, "resourceVersion=57"));
	/* Also when the connection is cut in the middle of an event: it comes again. */
	fake_server_send(fixture->fake, WATCH, "{'type':'ADDED','object':{'metadata':{'name':'half");
	remote_fixture_move(fixture);
	fake_server_cut(fixture->fake, WATCH);
	assert_true(remote_fixture_tenths(fixture, WATCH, 3, 100) < 100);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 2)->line, "resourceVersion=57"));
	remote_fixture_tell(fixture, "ADDED", pod("b", 60));
	assert_pods(fixture, "a:11 b:60");
	assert_int_equal(remote_counts(fixture->remote).lists, 1);
}

static void events_may_come_in_any_pieces(void **state)
{
	struct remote_fixture *fixture = *state;
	struct buffer text = {0};
	remote_fixture_start_empty(fixture);
	buffer_puts(&text, event("ADDED", pod("a", 11)));
	buffer_puts(&text, event("ADDED", pod("b", 12)));
	buffer_puts(&text, "\r\n\n");
	buffer_puts(&text, event("MODIFIED", pod("b", 13)));
	for (size_t i = 0; i < text.length; i++)
		text.text[i] = (char)(text.text[i] == '\'' ? '"' : text.text[i]);
	for (size_t at = 0, size = 1; at < text.length; at += size, size = size * 2 % 61) {
		if (at + size > text.length)
			size = text.length - at;
		fake_server_send_bytes(fixture->fake, WATCH, text.text + at, size);
		remote_fixture_move(fixture);
	}
	assert_pods(fixture, "a:11 b:13");
	buffer_free(&text);
}

static void a_version_that_is_too_old_is_listed_again(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", pod("a", 11));
	remote_fixture_tell(fixture, "ADDED", pod("b", 12));
	/* As an event; then as the answer to the next watch. */
	fake_server_on(fixture->fake, LIST, 200, "", page(20, "", pod("b", 12)));
	remote_fixture_tell(fixture, "ERROR", "{'kind':'Status','code':410,'reason':'Expired'}");
	remote_fixture_await(fixture, WATCH, 2);
	assert_pods(fixture, "b:12"); /* a ended unseen */
	fake_server_on(fixture->fake, LIST, 200, "", page(30, "", pod("c", 25)));
	fake_server_answer(fixture->fake, WATCH, 410, "", "{'kind':'Status','code':410,'reason':'Expired'}");
	/* Twice in a row: not without a pause, or such a server would be listed without end. */
	remote_fixture_move(fixture);
	assert_int_equal(fake_server_count(fixture->fake, LIST), 2);
	assert_true(remote_fixture_tenths(fixture, WATCH, 3, 100) < 100);
	assert_pods(fixture, "c:25");
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 2)->line, "resourceVersion=30"));
	remote_fixture_tell(fixture, "ADDED", pod("d", 31));
	/* The same name may be another object now, even with a smaller version. */
	fake_server_on(fixture->fake, LIST, 200, "", page(40, "", remote_fixture_pod("c", "uid-other", 24, "", "")));
	remote_fixture_tell(fixture, "ERROR", "{'kind':'Status','code':410}");
	remote_fixture_await(fixture, WATCH, 4);
	assert_pods(fixture, "c:24"); /* and d ended unseen */
	assert_true(remote_synced(fixture->remote));
}

/* A server that says nonsense, or ends each watch at once, is not asked without end. */
static void a_bad_watch_is_opened_again_after_a_pause(void **state)
{
	static const char *const lines[] = {
		"what is this\n",
		"{'type':'ADDED'}\n",
		"{'type':'ADDED','object':{'kind':'Pod','metadata':{'namespace':'default'}}}\n",
		"{'type':'ADDED','object':7}\n",
		"{'type':'SURPRISE','object':{'kind':'Pod','metadata':{'name':'x','resourceVersion':'99'}}}\n",
		"[]\n",
		"{'type':'ERROR','object':{'kind':'Status','code':500,'message':'etcd is away'}}\n",
		"{'type':'ERROR'}\n",
		"",
	};
	struct remote_fixture *fixture = *state;
	remote_fixture_start_empty(fixture);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t watches = fake_server_count(fixture->fake, WATCH);
		if (lines[i][0])
			fake_server_send(fixture->fake, WATCH, lines[i]);
		else
			fake_server_finish(fixture->fake, WATCH);
		remote_fixture_move(fixture);
		if (fake_server_count(fixture->fake, WATCH) != watches)
			fail_msg("%s: opened again without a pause", lines[i]);
		assert_true(remote_fixture_tenths(fixture, WATCH, watches + 1, 400) < 400);
		/* From where it was: nothing of the nonsense counts. */
		if (!strstr(fake_server_request(fixture->fake, WATCH, watches)->line, "resourceVersion=10"))
			fail_msg("%s: %s", lines[i], fake_server_request(fixture->fake, WATCH, watches)->line);
	}
	assert_pods(fixture, "");
	/* And then all is well. */
	remote_fixture_tell(fixture, "ADDED", pod("a", 11));
	assert_pods(fixture, "a:11");
	assert_string_equal(remote_problem(fixture->remote), "");
	assert_int_equal(remote_counts(fixture->remote).lists, 1);
}

/* More than a line may have: 64 MiB. */
static void a_line_without_end_is_given_up(void **state)
{
	struct remote_fixture *fixture = *state;
	size_t size = (size_t)1 << 20;
	char *piece = malloc(size);
	memset(piece, ' ', size);
	remote_fixture_start_empty(fixture);
	fake_server_send(fixture->fake, WATCH, "{'type':");
	for (int i = 0; i < 80 && fake_server_open(fixture->fake, WATCH) == 1; i++) {
		fake_server_send_bytes(fixture->fake, WATCH, piece, size);
		for (int j = 0; j < 5; j++) {
			remote_run(fixture->remote, 0, -1);
			fake_server_step(fixture->fake);
		}
	}
	free(piece);
	assert_true(remote_fixture_tenths(fixture, WATCH, 2, 100) < 100);
	assert_string_not_equal(remote_problem(fixture->remote), "");
}

static void a_kind_that_is_not_there_is_done_without(void **state)
{
	static const struct remote_follow both[] = {{"", "v1", "pods", .optional = true},
	                                            {"", "v1", "nodes", .optional = true}};
	struct remote_fixture *fixture = *state;
	fixture->options.follow = both;
	fixture->options.follow_count = 2;
	fake_server_on(fixture->fake, "/nodes", 404, "", "404 page not found");
	fake_server_on(fixture->fake, "/pods", 403, "", "{'kind':'Status','code':403}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "GET", 2);
	assert_true(remote_synced(fixture->remote));
	/* It may come later. */
	remote_fixture_pass(fixture, 31);
	assert_int_equal(fake_server_count(fixture->fake, "/nodes"), 2);
}

/* Wakes whoever waits for it after a while, unless it is told to stop. */
struct alarm {
	int wake[2], stop[2];
	pthread_t thread;
};

#define ALARM_MS 100
#define ALARMS 10

static void *ring(void *context)
{
	struct alarm *alarm = context;
	if (poll(&(struct pollfd){.fd = alarm->stop[0], .events = POLLIN}, 1, ALARM_MS) == 0)
		assert_int_equal(write(alarm->wake[1], "", 1), 1);
	return NULL;
}

/* Whether a turn in which an event is there already ends before it rings. */
static bool turn_is_quick(struct remote_fixture *fixture, int version)
{
	struct alarm alarm;
	char expected[32];
	snprintf(expected, sizeof(expected), "a:%d", version);
	assert_int_equal(pipe(alarm.wake) | pipe(alarm.stop), 0);
	assert_int_equal(pthread_create(&alarm.thread, NULL, ring, &alarm), 0);
	fake_server_send(fixture->fake, WATCH, event("MODIFIED", pod("a", version)));
	fake_server_step(fixture->fake);
	remote_run(fixture->remote, 300 * ALARM_MS, alarm.wake[0]);
	bool quick = poll(&(struct pollfd){.fd = alarm.wake[0], .events = POLLIN}, 1, 0) == 0;
	assert_int_equal(write(alarm.stop[1], "", 1), 1);
	pthread_join(alarm.thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(alarm.wake[i]);
		close(alarm.stop[i]);
	}
	if (quick) /* and has taken the event */
		assert_pods(fixture, expected);
	else
		remote_fixture_move(fixture);
	return quick;
}

/* What is there when a turn begins is taken in it, and the turn does not wait for something else to come. A machine that is
 * busy may be late for some of them. */
static void what_has_arrived_is_not_waited_for(void **state)
{
	struct remote_fixture *fixture = *state;
	int quick = 0;
	remote_fixture_start_empty(fixture);
	remote_fixture_tell(fixture, "ADDED", pod("a", 11));
	for (int i = 0; i < ALARMS; i++)
		quick += turn_is_quick(fixture, 12 + i);
	assert_in_range(quick, ALARMS / 2, ALARMS);
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(a_list_comes_in_pages),
		ON_FIXTURE(a_list_without_pages_is_one_request),
		ON_FIXTURE(a_page_that_expired_begins_the_list_anew),
		ON_FIXTURE(what_is_no_list_deletes_nothing),
		ON_FIXTURE(a_null_for_no_items_is_an_empty_list),
		ON_FIXTURE(an_answer_that_is_cut_is_asked_for_again),
		ON_FIXTURE(retry_after_is_honoured),
		ON_FIXTURE(retry_after_may_be_a_date),
		ON_FIXTURE(a_foolish_retry_after_has_an_end),
		ON_FIXTURE(pauses_grow_and_differ),
		ON_FIXTURE(events_change_the_mirror),
		ON_FIXTURE(a_watch_goes_on_where_it_ended),
		ON_FIXTURE(events_may_come_in_any_pieces),
		ON_FIXTURE(a_version_that_is_too_old_is_listed_again),
		ON_FIXTURE(a_bad_watch_is_opened_again_after_a_pause),
		ON_FIXTURE(a_line_without_end_is_given_up),
		ON_FIXTURE(a_kind_that_is_not_there_is_done_without),
		ON_FIXTURE(what_has_arrived_is_not_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
