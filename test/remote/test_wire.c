/* Lists and watches in protobuf: cut wherever the network likes to, followed from beginning to end, and given up for JSON
 * when they are not understood. */
#include "fixtures/remote_fixture.h"
#include "remote/wire.h"
#include "fixtures/protobuf_write.h"

#include <stdlib.h>

#define LARGEST ((size_t)1 << 16)

static const char *pod(const char *name, int version)
{
	char uid[64];
	snprintf(uid, sizeof(uid), "uid-%s", name);
	return remote_fixture_pod(name, uid, version, "", "");
}

/* ---- pieces ---- */

static int count_piece(void *context, const char *bytes, size_t length)
{
	struct buffer *out = context;
	buffer_printf(out, "%zu:%02x ", length, length ? (unsigned char)bytes[length - 1] : 0);
	return 0;
}

static struct buffer two_pods(void)
{
	struct buffer bytes = {0};
	char *first = base_strdup(pod("a", 3));
	protobuf_write_pods(&bytes, 10, "more", (const char *const[]){first, pod("b", 4)}, 2);
	free(first);
	return bytes;
}

static void a_list_is_cut_into_items(void **state)
{
	struct buffer bytes = two_pods(), all = {0};
	(void)state;
	for (size_t size = bytes.length; size > 0; size--) {
		struct remote_wire_list list = {0};
		struct buffer items = {0};
		struct error error = {0};
		for (size_t at = 0; at < bytes.length; at += size) {
			size_t part = at + size < bytes.length ? size : bytes.length - at;
			assert_false(remote_wire_list_is_whole(&list) && at < bytes.length - 4);
			assert_int_equal(remote_wire_list_feed(&list, bytes.text + at, part, LARGEST, count_piece,
			                                       &items, &error),
			                 0);
		}
		assert_true(remote_wire_list_is_whole(&list));
		if (!all.length)
			buffer_puts(&all, items.text);
		assert_string_equal(items.text, all.text);
		struct doc *envelope = remote_wire_list_envelope(&list);
		struct buffer text = {0};
		val_write(doc_root(envelope), DOC_JSON_COMPACT, &text);
		assert_string_equal(text.text,
		                    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\",\"continue\":"
		                    "\"more\"},\"items\":[]}");
		doc_destroy(envelope);
		buffer_free(&text);
		buffer_free(&items);
		remote_wire_list_free(&list);
	}
	/* A list that ends early is not whole. */
	for (size_t length = 0; length < bytes.length; length++) {
		struct remote_wire_list list = {0};
		struct buffer items = {0};
		struct error error = {0};
		remote_wire_list_feed(&list, bytes.text, length, LARGEST, count_piece, &items, &error);
		if (remote_wire_list_is_whole(&list))
			assert_true(length >= bytes.length - 4); /* the two empty texts behind the list */
		remote_wire_list_free(&list);
		buffer_free(&items);
	}
	buffer_free(&bytes);
	buffer_free(&all);
}

static void lists_that_are_wrong_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *problem;
	} cases[] = {
		{"k8sx", 4, "not what protobuf"},
		{"k8s\0\x08\x01", 6, "not what protobuf"},                  /* a number */
		{"k8s\0\x0a\x02\x0a\x05", 8, "not what protobuf"},          /* the kind is cut off */
		{"k8s\0\x12\x03\x12\x05x", 9, "not what protobuf"},         /* an item beyond the list */
		{"k8s\0\x12\x04\x0a\x02\x12\x09", 10, "not what protobuf"}, /* the list's own data */
		{"k8s\0\x12\x7f\x12\x80\x80\x80\x08", 11, "larger than"},   /* an item of 16 MiB */
		{"k8s\0\x0a\x80\x80\x80\x08", 9, "larger than"},            /* a kind of 16 MiB */
		{"k8s\0\x12\x02\x0a\x00\x12\x00", 10, "not what protobuf"}, /* a second list */
		{"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16,
	         "not what protobuf"}, /* no length at all */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int whole = 0; whole < 2; whole++) {
			struct remote_wire_list list = {0};
			struct buffer items = {0};
			struct error error = {0};
			size_t size = whole ? cases[i].length : 1;
			int status = 0;
			for (size_t at = 0; at < cases[i].length && status == 0; at += size)
				status = remote_wire_list_feed(&list, cases[i].bytes + at, size, LARGEST, count_piece,
				                               &items, &error);
			if (status == 0 || !strstr(error.text, cases[i].problem))
				fail_msg("case %zu: %d %s instead of %s", i, status, error.text, cases[i].problem);
			remote_wire_list_free(&list);
			buffer_free(&items);
		}
	}
}

static int take_event(void *context, const char *bytes, size_t length)
{
	struct remote_wire_event event;
	struct buffer *out = context;
	assert_int_equal(remote_wire_event(bytes, length, &event), 0);
	buffer_printf(out, "%s %.*s, ", event.type, (int)(event.object.kind.end - event.object.kind.at),
	              (const char *)event.object.kind.at);
	return 0;
}

static void a_watch_is_cut_into_events(void **state)
{
	struct buffer bytes = {0};
	struct error error = {0};
	(void)state;
	protobuf_write_event(&bytes, "ADDED", "Pod", pod("a", 3));
	protobuf_write_event(&bytes, "NEWER", "Pod", pod("a", 3));
	protobuf_write_event(&bytes, "ERROR", "Status", "{'code':410,'message':'old'}");
	for (size_t size = bytes.length; size > 0; size--) {
		struct remote_lines frames = {0};
		struct buffer seen = {0};
		for (size_t at = 0; at < bytes.length; at += size)
			assert_int_equal(remote_wire_frames_feed(&frames, bytes.text + at,
			                                         at + size < bytes.length ? size : bytes.length - at,
			                                         LARGEST, take_event, &seen, &error),
			                 0);
		assert_string_equal(seen.text, "ADDED Pod,  Pod, ERROR Status, ");
		remote_lines_free(&frames);
		buffer_free(&seen);
	}
	/* A frame cut anywhere is malformed, or says less. */
	struct remote_wire_event event;
	for (size_t length = 0; length + 4 < bytes.length; length++)
		remote_wire_event(bytes.text + 4, length, &event);
	struct remote_lines frames = {0};
	assert_int_equal(remote_wire_frames_feed(&frames, "\x7f\xff\xff\xff", 4, LARGEST, take_event, NULL, &error),
	                 -1);
	assert_non_null(strstr(error.text, "larger than"));
	remote_lines_free(&frames);
	buffer_free(&bytes);
}

/* ---- following ---- */

static void send_list(struct remote_fixture *fixture, int version, const char *continue_, const char *item)
{
	struct buffer bytes = {0};
	protobuf_write_pods(&bytes, version, continue_, &item, 1);
	fake_server_send_bytes(fixture->fake, LIST, bytes.text, bytes.length);
	fake_server_finish(fixture->fake, LIST);
	buffer_free(&bytes);
}

static void tell(struct remote_fixture *fixture, const char *type, const char *kind, const char *object)
{
	struct buffer bytes = {0};
	protobuf_write_event(&bytes, type, kind, object);
	fake_server_send_bytes(fixture->fake, WATCH, bytes.text, bytes.length);
	remote_fixture_move(fixture);
	buffer_free(&bytes);
}

static void lists_and_watches_are_followed(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	assert_non_null(strstr(fake_server_request(fixture->fake, LIST, 0)->head, "Accept: " REMOTE_WIRE_ACCEPT));
	send_list(fixture, 10, "next", pod("a", 3));
	remote_fixture_await(fixture, "continue=next", 1);
	send_list(fixture, 10, "", pod("b", 4));
	remote_fixture_await(fixture, WATCH, 1);
	assert_pods(fixture, "a:3 b:4");
	assert_non_null(
		strstr(fake_server_request(fixture->fake, WATCH, 0)->head, "Accept: " REMOTE_WIRE_ACCEPT_WATCH));
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 0)->line, "resourceVersion=10"));
	tell(fixture, "ADDED", "Pod", pod("c", 11));
	tell(fixture, "MODIFIED", "Pod", pod("a", 12));
	tell(fixture, "DELETED", "Pod", pod("b", 13));
	assert_pods(fixture, "a:12 c:11");
	tell(fixture, "BOOKMARK", "Pod", "{'metadata':{'resourceVersion':'30'}}");
	fake_server_finish(fixture->fake, WATCH);
	remote_fixture_await(fixture, WATCH, 2);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 1)->line, "resourceVersion=30"));
	/* The version is too old: from the beginning, and what is not in the list is gone. */
	tell(fixture, "ERROR", "Status", "{'code':410,'message':'too old'}");
	remote_fixture_await(fixture, LIST, 3);
	send_list(fixture, 40, "", pod("d", 35));
	remote_fixture_await(fixture, WATCH, 3);
	assert_pods(fixture, "d:35");
	assert_string_equal(remote_problem(fixture->remote), "");
}

static void what_is_not_understood_is_asked_for_in_json(void **state)
{
	struct remote_fixture *fixture = *state;
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	fake_server_send_bytes(fixture->fake, LIST, "k8s\0\x12\x05\x12\x03\x0a\x09x", 11);
	fake_server_finish(fixture->fake, LIST);
	remote_fixture_pass(fixture, 1);
	remote_fixture_await(fixture, LIST, 2);
	assert_false(remote_synced(fixture->remote));
	assert_non_null(strstr(fake_server_request(fixture->fake, LIST, 1)->head, "Accept: application/json\r\n"));
	char text[8192];
	snprintf(text, sizeof(text), "{'kind':'PodList','metadata':{'resourceVersion':'10'},'items':[%s]}",
	         pod("a", 3));
	fake_server_answer(fixture->fake, LIST, 200, "", text);
	remote_fixture_await(fixture, WATCH, 1);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 0)->head, "Accept: application/json\r\n"));
	assert_pods(fixture, "a:3");
}

static void a_list_of_something_else_deletes_nothing(void **state)
{
	struct remote_fixture *fixture = *state;
	struct buffer bytes = {0};
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	send_list(fixture, 10, "", pod("a", 3));
	remote_fixture_await(fixture, WATCH, 1);
	tell(fixture, "ERROR", "Status", "{'code':410}");
	remote_fixture_await(fixture, LIST, 2);
	protobuf_write_envelope(&bytes, "NodeList", "\x0a\x04\x12\x02\x33\x30", 6);
	fake_server_send_bytes(fixture->fake, LIST, bytes.text, bytes.length);
	fake_server_finish(fixture->fake, LIST);
	remote_fixture_move(fixture);
	assert_pods(fixture, "a:3");
	assert_non_null(strstr(remote_problem(fixture->remote), "no list of Pod"));
	buffer_free(&bytes);
}

/* Errors come in the form that was asked for, too. */
static void errors_are_read(void **state)
{
	struct remote_fixture *fixture = *state;
	struct buffer status = {0}, body = {0}, answer = {0};
	protobuf_write_bytes(&status, 3, "pods is forbidden", 17);
	protobuf_write_envelope(&body, "Status", status.text, status.length);
	buffer_printf(&answer,
	              "HTTP/1.1 403 Forbidden\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n"
	              "Content-Length: %zu\r\n\r\n",
	              body.length);
	buffer_append(&answer, body.text, body.length);
	fake_server_on_bytes(fixture->fake, LIST, answer.text, answer.length);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	remote_fixture_move(fixture);
	assert_string_equal(remote_problem(fixture->remote), "pods: pods is forbidden");
	buffer_free(&status);
	buffer_free(&body);
	buffer_free(&answer);
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_cut_into_items),
		cmocka_unit_test(lists_that_are_wrong_are_refused),
		cmocka_unit_test(a_watch_is_cut_into_events),
		ON_FIXTURE(lists_and_watches_are_followed),
		ON_FIXTURE(what_is_not_understood_is_asked_for_in_json),
		ON_FIXTURE(a_list_of_something_else_deletes_nothing),
		ON_FIXTURE(errors_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
