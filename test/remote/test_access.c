/* The way to the server: certificates, proxies, and credentials that change or fail under way. */
#include "fixtures/remote_fixture.h"
#include "serve/tls/pki.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EMPTY "{'kind':'PodList','metadata':{'resourceVersion':'10'},'items':[]}"

static char folder[] = "remote-access-XXXXXX";
static struct pki *pki;

static int make_certificates(void **state)
{
	struct error error = {0};
	if (!mkdtemp(folder))
		return -1;
	pki = pki_open(folder, "127.0.0.1", (int64_t)time(NULL), &error);
	return pki ? 0 : -1;
}

static int remove_certificates(void **state)
{
	pki_close(pki);
	DIR *files = opendir(folder);
	for (const struct dirent *entry; files && (entry = readdir(files));) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (files)
		closedir(files);
	return rmdir(folder);
}

static void write_file(const char *name, const char *text, char path[128])
{
	snprintf(path, 128, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(path, 0700);
}

/* The server speaks TLS, also behind a proxy. */
static void use_tls(struct remote_fixture *fixture, bool proxy)
{
	fake_server_destroy(fixture->fake);
	fixture->fake = fake_server_create(&(struct fake_server_options){.tls = pki_tls(pki), .proxy = proxy});
	fixture->access.server = fake_server_url(fixture->fake);
	fixture->access.authority = pki_authority(pki);
}

static void certificates_of_both_sides(void **state)
{
	struct remote_fixture *fixture = *state;
	use_tls(fixture, false);
	fixture->access.certificate = pki_client_certificate(pki);
	fixture->access.key = pki_client_key(pki);
	fake_server_on(fixture->fake, LIST, 200, "", EMPTY);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	assert_string_not_equal(fake_server_request(fixture->fake, LIST, 0)->client, "");
	assert_null(strstr(fake_server_request(fixture->fake, LIST, 0)->head, "Authorization"));
	assert_true(remote_synced(fixture->remote));
}

static void a_server_nobody_vouches_for_is_not_talked_to(void **state)
{
	struct remote_fixture *fixture = *state;
	use_tls(fixture, false);
	fixture->access.authority = NULL; /* the system's know nothing of it */
	fixture->access.token = "secret-token";
	remote_fixture_start(fixture);
	for (int i = 0; i < 5000 && !remote_problem(fixture->remote)[0]; i++) {
		remote_run(fixture->remote, 1, -1);
		fake_server_step(fixture->fake);
	}
	assert_non_null(strstr(remote_problem(fixture->remote), "certificate"));
	assert_null(strstr(remote_problem(fixture->remote), "secret-token"));
	assert_int_equal(fake_server_count(fixture->fake, ""), 0);
}

/* The name in the certificate is another one than the host's, as behind a load balancer. */
static void the_certificate_may_have_another_name(void **state)
{
	struct remote_fixture *fixture = *state;
	char url[64];
	use_tls(fixture, false);
	snprintf(url, sizeof(url), "https://127.0.0.1:%d", fake_server_port(fixture->fake));
	fixture->access.server = url;
	fixture->access.server_name = "localhost";
	fake_server_on(fixture->fake, LIST, 200, "", EMPTY);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	assert_non_null(strstr(fake_server_request(fixture->fake, LIST, 0)->head, "Host: localhost"));
}

static void through_a_proxy(void **state)
{
	struct remote_fixture *fixture = *state;
	char proxy[64];
	use_tls(fixture, true);
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", fake_server_port(fixture->fake));
	fixture->access.proxy = proxy;
	fixture->access.token = "secret-token";
	fake_server_on(fixture->fake, LIST, 200, "", EMPTY);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	const struct fake_server_request *connect = fake_server_request(fixture->fake, "CONNECT", 0);
	char expect[64];
	snprintf(expect, sizeof(expect), "CONNECT 127.0.0.1:%d", fake_server_port(fixture->fake));
	assert_string_equal(connect->line, expect);
	assert_null(strstr(connect->head, "secret-token")); /* that is for the server alone */
	assert_non_null(
		strstr(fake_server_request(fixture->fake, LIST, 0)->head, "Authorization: Bearer secret-token"));
}

/* More than sockets and TLS hold at a time: nothing of it may stay behind where no socket tells of it. */
static void a_list_that_is_large(void **state)
{
	struct remote_fixture *fixture = *state;
	struct buffer list = {0};
	use_tls(fixture, false);
	buffer_puts(&list, "{'kind':'PodList','metadata':{'resourceVersion':'10'},'items':[");
	for (int i = 0; i < 10000; i++)
		buffer_printf(&list,
		              "%s{'kind':'Pod','metadata':{'name':'pod-%d','namespace':'default','uid':'uid-%d',"
		              "'resourceVersion':'%d'},'spec':{'containers':[{'name':'main'}]}}",
		              i ? "," : "", i, i, i + 1);
	buffer_puts(&list, "]}");
	fake_server_on(fixture->fake, LIST, 200, "", list.text);
	buffer_free(&list);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, WATCH, 1);
	assert_true(remote_synced(fixture->remote));
	const struct store_type *type = store_type_find(fixture->base.store, "", "pods");
	assert_non_null(store_peek(fixture->base.store, type, "default", "pod-0"));
	assert_non_null(store_peek(fixture->base.store, type, "default", "pod-9999"));
}

/* ---- credentials ---- */

static void a_token_that_is_rotated_under_way(void **state)
{
	struct remote_fixture *fixture = *state;
	char path[128];
	write_file("token", "first", path);
	fixture->access.token_file = path;
	remote_fixture_start_empty(fixture);
	assert_non_null(strstr(fake_server_request(fixture->fake, LIST, 0)->head, "Bearer first"));
	fake_server_send(fixture->fake, WATCH,
	                 "{'type':'ADDED','object':{'kind':'Pod','metadata':{'name':'a','namespace':'default',"
	                 "'uid':'u','resourceVersion':'11'}}}\n");
	remote_fixture_move(fixture);
	/* The old one is refused while a write is on its way: that write is sent again with the new one. */
	assert_code(&fixture->base,
	            fixture_merge(&fixture->base, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	remote_fixture_await(fixture, "PATCH", 1);
	write_file("token", "second", path);
	fake_server_answer(fixture->fake, "PATCH", 401, "", "{'kind':'Status','code':401,'message':'Unauthorized'}");
	assert_true(remote_fixture_tenths(fixture, "PATCH", 2, 100) < 100);
	assert_non_null(strstr(fake_server_request(fixture->fake, "PATCH", 0)->head, "Bearer first"));
	assert_non_null(strstr(fake_server_request(fixture->fake, "PATCH", 1)->head, "Bearer second"));
	/* So is the watch, when it is opened anew. */
	fake_server_cut(fixture->fake, WATCH);
	assert_true(remote_fixture_tenths(fixture, WATCH, 2, 100) < 100);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 1)->head, "Bearer second"));
	unlink(path);
}

static char command_path[128];
static const char *command_argv[] = {command_path, NULL}, *command_environment[] = {NULL};
static const struct remote_exec command_exec = {.api_version = "client.authentication.k8s.io/v1",
                                                .argv = command_argv,
                                                .environment = command_environment,
                                                .hint = "get it at example.com"};

static void use_command(struct remote_fixture *fixture, const char *script)
{
	write_file("command", script, command_path);
	fixture->access.exec = &command_exec;
}

static void stop_remote(struct remote_fixture *fixture)
{
	store_result_clear(&fixture->base.result);
	remote_destroy(fixture->remote);
	arena_destroy(fixture->base.arena);
	fixture->remote = NULL;
	fixture->base.arena = NULL;
}

static void await_problem(struct remote_fixture *fixture, const char *expect)
{
	for (int i = 0; i < 5000 && !strstr(remote_problem(fixture->remote), expect); i++) {
		remote_run(fixture->remote, 1, -1);
		fake_server_step(fixture->fake);
		usleep(1000);
	}
	if (!strstr(remote_problem(fixture->remote), expect))
		fail_msg("%s instead of %s", remote_problem(fixture->remote), expect);
}

/* The server could only say that nobody is known; why there are no credentials is what helps, and it is not bothered. */
static void a_command_that_fails_is_named(void **state)
{
	static const struct {
		const char *script, *expect;
	} cases[] = {
		{"#!/bin/sh\necho not logged in >&2; exit 3\n", "ended with status 3: not logged in"},
		{"#!/bin/sh\nkill -9 $$\n", "was ended by signal 9"},
		{"#!/bin/sh\necho nonsense\n", "printed no JSON"},
		{"#!/bin/sh\necho '{\"status\":{}}'\n", "neither status.token nor a certificate"},
		{"#!/bin/sh\nexec yes\n", "prints more than a megabyte"},
	};
	struct remote_fixture *fixture = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		use_command(fixture, cases[i].script);
		remote_fixture_start(fixture);
		await_problem(fixture, cases[i].expect);
		stop_remote(fixture);
		assert_int_equal(fake_server_count(fixture->fake, ""), 0);
	}
	struct error error = {0};
	unlink(command_path);
	assert_null(remote_create(&fixture->options, &error));
	assert_non_null(strstr(error.text, "get it at example.com"));
}

static const struct remote_follow three_kinds[] = {{"", "v1", "pods", .optional = false},
                                                   {"", "v1", "nodes", .optional = true},
                                                   {"", "v1", "services", .optional = true}};

/* All kinds wait for the same thing: that is one line a minute, and not one for each kind and attempt. */
static void what_is_wrong_for_all_is_told_once(void **state)
{
	struct remote_fixture *fixture = *state;
	char *text = NULL;
	size_t length = 0;
	struct logger logger = {.stream = open_memstream(&text, &length), .level = LOG_WARN};
	use_command(fixture, "#!/bin/sh\necho not logged in >&2; exit 3\n");
	fixture->options.logger = &logger;
	fixture->options.follow = three_kinds;
	fixture->options.follow_count = 3;
	remote_fixture_start(fixture);
	await_problem(fixture, "not logged in");
	remote_fixture_pass(fixture, 40);
	fflush(logger.stream);
	int lines = 0;
	for (const char *at = text; (at = strstr(at, "cannot follow")); at++)
		lines++;
	assert_int_equal(lines, 1);
	remote_fixture_pass(fixture, 60);
	fflush(logger.stream);
	assert_non_null(strstr(strstr(text, "cannot follow") + 1, "cannot follow"));
	stop_remote(fixture);
	fclose(logger.stream);
	free(text);
}

/* ---- a command beside the loop ---- */

static char folder_file_path[160];

static const char *folder_file(const char *name)
{
	snprintf(folder_file_path, sizeof(folder_file_path), "%s/%s", folder, name);
	return folder_file_path;
}

/* Writes down that it runs, and waits for a file before it prints the token that is in it. */
static void use_slow_command(struct remote_fixture *fixture, const char *expiry)
{
	struct buffer script = {0};
	buffer_printf(
		&script,
		"#!/bin/sh\ncd %s; echo $$ >>runs\nwhile [ ! -s go ]; do sleep 0.01; done\n"
		"token=$(cat go); rm go\n"
		"echo \"{\\\"status\\\":{\\\"token\\\":\\\"$token\\\",\\\"expirationTimestamp\\\":\\\"%s\\\"}}\"\n",
		folder, expiry);
	use_command(fixture, script.text);
	buffer_free(&script);
	unlink(folder_file("runs"));
	unlink(folder_file("go"));
}

static void let_print(const char *token)
{
	char written[128], there[160];
	write_file("ready", token, written);
	snprintf(there, sizeof(there), "%s", folder_file("go"));
	assert_int_equal(rename(written, there), 0);
}

/* How often it was run; the number of the last process. */
static int runs(pid_t *last)
{
	FILE *file = fopen(folder_file("runs"), "r");
	char line[32];
	int count = 0;
	while (file && fgets(line, sizeof(line), file)) {
		*last = (pid_t)strtol(line, NULL, 10);
		count++;
	}
	if (file)
		fclose(file);
	return count;
}

static pid_t await_run(struct remote_fixture *fixture, int number)
{
	pid_t pid = 0;
	for (int i = 0; i < 5000 && runs(&pid) < number; i++) {
		remote_run(fixture->remote, 1, -1);
		fake_server_step(fixture->fake);
		usleep(1000);
	}
	assert_int_equal(runs(&pid), number);
	return pid;
}

/* Nothing waits while it runs: the loop turns, and the three requests go out with what one run printed. */
static void many_wait_for_one_run(void **state)
{
	struct remote_fixture *fixture = *state;
	use_slow_command(fixture, "");
	fixture->options.follow = three_kinds;
	fixture->options.follow_count = 3;
	remote_fixture_start(fixture);
	await_run(fixture, 1);
	remote_fixture_pass(fixture, 5);
	assert_int_equal(fake_server_count(fixture->fake, ""), 0);
	assert_string_equal(remote_problem(fixture->remote), "");
	let_print("first");
	remote_fixture_await(fixture, "GET", 3);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(strstr(fake_server_request(fixture->fake, "GET", i)->head, "Bearer first"));
	pid_t pid;
	assert_int_equal(runs(&pid), 1);
}

/* One that told of something: it is opened anew by us, and not by the library below. */
static void end_watch(struct remote_fixture *fixture)
{
	fake_server_send(fixture->fake, WATCH,
	                 "{'type':'BOOKMARK','object':{'kind':'Pod','metadata':{'resourceVersion':'12'}}}\n");
	remote_fixture_move(fixture);
	fake_server_cut(fixture->fake, WATCH);
}

/* The old ones are used until the new ones are there. */
static void new_ones_are_asked_for_before_the_old_expire(void **state)
{
	struct remote_fixture *fixture = *state;
	use_slow_command(fixture, "2026-01-01T00:10:00Z");
	let_print("first");
	remote_fixture_start_empty(fixture);
	clock_virtual_advance(&fixture->base.clock, 550 * CLOCK_SECOND);
	end_watch(fixture);
	assert_true(remote_fixture_tenths(fixture, WATCH, 2, 100) < 100);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 1)->head, "Bearer first"));
	await_run(fixture, 2);
	let_print("second");
	for (int i = 0; i < 5000 && faccessat(AT_FDCWD, folder_file("go"), F_OK, 0) == 0; i++)
		remote_run(fixture->remote, 1, -1);
	usleep(50000); /* until what it printed is there */
	end_watch(fixture);
	assert_true(remote_fixture_tenths(fixture, WATCH, 3, 100) < 100);
	assert_non_null(strstr(fake_server_request(fixture->fake, WATCH, 2)->head, "Bearer second"));
}

/* Whoever is to renew them has to hear of it while there is time: once a minute. */
static void the_old_ones_are_good_but_there_are_no_new_ones(void **state)
{
	static const char warning[] = "credentials cannot be renewed";
	struct remote_fixture *fixture = *state;
	char *text = NULL;
	size_t length = 0;
	struct logger logger = {.stream = open_memstream(&text, &length), .level = LOG_WARN};
	struct buffer script = {0};
	buffer_printf(&script,
	              "#!/bin/sh\ncd %s; echo $$ >>runs\n"
	              "[ $(wc -l <runs) = 1 ] || { echo not logged in >&2; exit 3; }\n"
	              "echo '{\"status\":{\"token\":\"a\",\"expirationTimestamp\":\"2026-01-01T00:10:00Z\"}}'\n",
	              folder);
	use_command(fixture, script.text);
	buffer_free(&script);
	unlink(folder_file("runs"));
	fixture->options.logger = &logger;
	remote_fixture_start_empty(fixture);
	clock_virtual_advance(&fixture->base.clock, 545 * CLOCK_SECOND);
	end_watch(fixture);
	assert_true(remote_fixture_tenths(fixture, WATCH, 2, 100) < 100);
	await_run(fixture, 2);
	for (int i = 0; i < 5000 && (!text || !strstr(text, warning)); i++) {
		remote_run(fixture->remote, 1, -1);
		fflush(logger.stream);
	}
	remote_fixture_pass(fixture, 10);
	fflush(logger.stream);
	const char *told = strstr(text, warning);
	assert_non_null(told);
	assert_non_null(strstr(told, "not logged in"));
	assert_null(strstr(told + 1, warning));
	stop_remote(fixture);
	fclose(logger.stream);
	free(text);
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static void a_command_that_does_not_end_is_ended(void **state)
{
	struct remote_fixture *fixture = *state;
	use_slow_command(fixture, "");
	remote_fixture_start(fixture);
	pid_t first = await_run(fixture, 1);
	clock_virtual_advance(&fixture->base.clock, 61 * CLOCK_SECOND);
	await_problem(fixture, "took too long");
	assert_true(is_gone(first));
	/* It is run again after a pause, and whoever is asked to stop does not leave it behind. */
	remote_fixture_pass(fixture, 15);
	pid_t second = await_run(fixture, 2);
	stop_remote(fixture);
	assert_true(is_gone(second));
	assert_int_equal(fake_server_count(fixture->fake, ""), 0);
}

/* What is refused although it is new will be refused again: the pauses between runs grow. */
static void a_server_that_accepts_nothing(void **state)
{
	struct remote_fixture *fixture = *state;
	use_command(fixture, "");
	struct buffer script = {0};
	buffer_printf(&script, "#!/bin/sh\necho 1 >>%s/runs\necho '{\"status\":{\"token\":\"wrong\"}}'\n", folder);
	use_command(fixture, script.text);
	buffer_free(&script);
	unlink(folder_file("runs"));
	fake_server_always(fixture->fake, LIST, 401, "", "{'kind':'Status','code':401,'message':'Unauthorized'}");
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, LIST, 1);
	for (int i = 0; i < 120; i++) {
		remote_fixture_pass(fixture, 1);
		usleep(5000); /* of the machine's time, for the command */
	}
	pid_t last;
	int count = runs(&last);
	if (count < 3 || count > 8)
		fail_msg("%d runs in two minutes", count);
	assert_non_null(strstr(remote_problem(fixture->remote), "does not accept what"));
}

static void put_json(FILE *file, const char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			fputs("\\n", file);
		else
			fputc(*text, file);
}

/* What the last command printed is gone when the next one ran, but connections that are being made still need it. */
static void a_command_that_gives_certificates(void **state)
{
	struct remote_fixture *fixture = *state;
	write_file("command", "", command_path);
	FILE *file = fopen(command_path, "w");
	fputs("#!/bin/sh\ncat "
	      "<<'END'\n{\"status\":{\"expirationTimestamp\":\"2026-01-01T00:00:01Z\",\"clientCertificateData\":\"",
	      file);
	put_json(file, pki_client_certificate(pki));
	fputs("\",\"clientKeyData\":\"", file);
	put_json(file, pki_client_key(pki));
	fputs("\"}}\nEND\n", file);
	fclose(file);
	use_tls(fixture, false);
	fixture->access.exec = &command_exec;
	fixture->options.follow = three_kinds;
	fixture->options.follow_count = 3;
	fake_server_on(fixture->fake, LIST, 200, "", EMPTY);
	remote_fixture_start(fixture);
	remote_fixture_await(fixture, "GET", 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_not_equal(fake_server_request(fixture->fake, "GET", i)->client, "");
}

int main(void)
{
#define ON_FIXTURE(test) cmocka_unit_test_setup_teardown(test, remote_fixture_setup, remote_fixture_teardown)
	const struct CMUnitTest tests[] = {
		ON_FIXTURE(certificates_of_both_sides),
		ON_FIXTURE(a_server_nobody_vouches_for_is_not_talked_to),
		ON_FIXTURE(the_certificate_may_have_another_name),
		ON_FIXTURE(through_a_proxy),
		ON_FIXTURE(a_list_that_is_large),
		ON_FIXTURE(a_token_that_is_rotated_under_way),
		ON_FIXTURE(a_command_that_fails_is_named),
		ON_FIXTURE(what_is_wrong_for_all_is_told_once),
		ON_FIXTURE(many_wait_for_one_run),
		ON_FIXTURE(new_ones_are_asked_for_before_the_old_expire),
		ON_FIXTURE(the_old_ones_are_good_but_there_are_no_new_ones),
		ON_FIXTURE(a_command_that_does_not_end_is_ended),
		ON_FIXTURE(a_server_that_accepts_nothing),
		ON_FIXTURE(a_command_that_gives_certificates),
	};
	return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
