/* The way to the server: certificates, proxies, and credentials that change or fail under way. */
#include "remote_kit.h"
#include "serve/pki.h"

#include <dirent.h>
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
static void use_tls(struct remote_kit *kit, bool proxy)
{
	fake_destroy(kit->fake);
	kit->fake = fake_create(&(struct fake_options){.tls = pki_tls(pki), .proxy = proxy});
	kit->access.server = fake_url(kit->fake);
	kit->access.authority = pki_authority(pki);
}

static void certificates_of_both_sides(void **state)
{
	struct remote_kit *kit = *state;
	use_tls(kit, false);
	kit->access.certificate = pki_client_certificate(pki);
	kit->access.key = pki_client_key(pki);
	fake_on(kit->fake, LIST, 200, "", EMPTY);
	remote_kit_start(kit);
	remote_kit_await(kit, WATCH, 1);
	assert_string_not_equal(fake_request(kit->fake, LIST, 0)->client, "");
	assert_null(strstr(fake_request(kit->fake, LIST, 0)->head, "Authorization"));
	assert_true(remote_synced(kit->remote));
}

static void a_server_nobody_vouches_for_is_not_talked_to(void **state)
{
	struct remote_kit *kit = *state;
	use_tls(kit, false);
	kit->access.authority = NULL; /* the system's know nothing of it */
	kit->access.token = "secret-token";
	remote_kit_start(kit);
	for (int i = 0; i < 5000 && !remote_problem(kit->remote)[0]; i++) {
		remote_run(kit->remote, 1, -1);
		fake_step(kit->fake);
	}
	assert_non_null(strstr(remote_problem(kit->remote), "certificate"));
	assert_null(strstr(remote_problem(kit->remote), "secret-token"));
	assert_int_equal(fake_count(kit->fake, ""), 0);
}

/* The name in the certificate is another one than the host's, as behind a load balancer. */
static void the_certificate_may_have_another_name(void **state)
{
	struct remote_kit *kit = *state;
	char url[64];
	use_tls(kit, false);
	snprintf(url, sizeof(url), "https://127.0.0.1:%d", fake_port(kit->fake));
	kit->access.server = url;
	kit->access.server_name = "localhost";
	fake_on(kit->fake, LIST, 200, "", EMPTY);
	remote_kit_start(kit);
	remote_kit_await(kit, WATCH, 1);
	assert_non_null(strstr(fake_request(kit->fake, LIST, 0)->head, "Host: localhost"));
}

static void through_a_proxy(void **state)
{
	struct remote_kit *kit = *state;
	char proxy[64];
	use_tls(kit, true);
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", fake_port(kit->fake));
	kit->access.proxy = proxy;
	kit->access.token = "secret-token";
	fake_on(kit->fake, LIST, 200, "", EMPTY);
	remote_kit_start(kit);
	remote_kit_await(kit, WATCH, 1);
	const struct fake_request *connect = fake_request(kit->fake, "CONNECT", 0);
	char expect[64];
	snprintf(expect, sizeof(expect), "CONNECT 127.0.0.1:%d", fake_port(kit->fake));
	assert_string_equal(connect->line, expect);
	assert_null(strstr(connect->head, "secret-token")); /* that is for the server alone */
	assert_non_null(strstr(fake_request(kit->fake, LIST, 0)->head, "Authorization: Bearer secret-token"));
}

/* ---- credentials ---- */

static void a_token_that_is_rotated_under_way(void **state)
{
	struct remote_kit *kit = *state;
	char path[128];
	write_file("token", "first", path);
	kit->access.token_file = path;
	remote_kit_start_empty(kit);
	assert_non_null(strstr(fake_request(kit->fake, LIST, 0)->head, "Bearer first"));
	fake_send(kit->fake, WATCH,
	          "{'type':'ADDED','object':{'kind':'Pod','metadata':{'name':'a','namespace':'default',"
	          "'uid':'u','resourceVersion':'11'}}}\n");
	remote_kit_move(kit);
	/* The old one is refused while a write is on its way: that write is sent again with the new one. */
	assert_code(&kit->kit, kit_merge(&kit->kit, "pods", "default", "a", "{'metadata':{'labels':{'x':'1'}}}"), 200);
	remote_kit_await(kit, "PATCH", 1);
	write_file("token", "second", path);
	fake_answer(kit->fake, "PATCH", 401, "", "{'kind':'Status','code':401,'message':'Unauthorized'}");
	assert_true(remote_kit_tenths(kit, "PATCH", 2, 100) < 100);
	assert_non_null(strstr(fake_request(kit->fake, "PATCH", 0)->head, "Bearer first"));
	assert_non_null(strstr(fake_request(kit->fake, "PATCH", 1)->head, "Bearer second"));
	/* So is the watch, when it is opened anew. */
	fake_cut(kit->fake, WATCH);
	assert_true(remote_kit_tenths(kit, WATCH, 2, 100) < 100);
	assert_non_null(strstr(fake_request(kit->fake, WATCH, 1)->head, "Bearer second"));
	unlink(path);
}

/* The server only says that nobody is known; why there are no credentials is what helps. */
static void a_command_that_fails_is_named(void **state)
{
	static const struct {
		const char *script, *expect;
	} cases[] = {
		{"#!/bin/sh\nexit 3\n", "ended with an error"},
		{"#!/bin/sh\necho nonsense\n", "printed no JSON"},
		{"#!/bin/sh\necho '{\"status\":{}}'\n", "neither status.token nor a certificate"},
		{NULL, "cannot run"},
	};
	struct remote_kit *kit = *state;
	static char path[128] = "./there-is-no-such-command"; /* the remote outlives this function */
	static const char *argv[] = {path, NULL}, *environment[] = {NULL};
	static struct remote_exec exec = {.api_version = "client.authentication.k8s.io/v1",
	                                  .argv = argv,
	                                  .environment = environment,
	                                  .hint = "get it at example.com"};
	fake_always(kit->fake, LIST, 401, "", "{'kind':'Status','code':401,'message':'Unauthorized'}");
	kit->access.exec = &exec;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].script)
			write_file("command", cases[i].script, path);
		else
			snprintf(path, sizeof(path), "./there-is-no-such-command");
		remote_kit_start(kit);
		remote_kit_await(kit, LIST, i + 1);
		if (!strstr(remote_problem(kit->remote), cases[i].expect))
			fail_msg("%s: %s", cases[i].expect, remote_problem(kit->remote));
		remote_destroy(kit->remote);
		arena_destroy(kit->kit.arena);
		kit->remote = NULL;
		kit->kit.arena = NULL;
	}
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
	struct remote_kit *kit = *state;
	static char path[128];
	write_file("command", "", path);
	FILE *file = fopen(path, "w");
	fputs("#!/bin/sh\ncat "
	      "<<'END'\n{\"status\":{\"expirationTimestamp\":\"2026-01-01T00:00:01Z\",\"clientCertificateData\":\"",
	      file);
	put_json(file, pki_client_certificate(pki));
	fputs("\",\"clientKeyData\":\"", file);
	put_json(file, pki_client_key(pki));
	fputs("\"}}\nEND\n", file);
	fclose(file);
	static const struct remote_follow kinds[] = {{"", "v1", "pods", .optional = false},
	                                             {"", "v1", "nodes", .optional = true},
	                                             {"", "v1", "services", .optional = true}};
	static const char *argv[] = {path, NULL}, *environment[] = {NULL};
	static struct remote_exec exec = {.api_version = "client.authentication.k8s.io/v1",
	                                  .argv = argv,
	                                  .environment = environment,
	                                  .hint = ""};
	use_tls(kit, false);
	kit->access.exec = &exec;
	kit->options.follow = kinds;
	kit->options.follow_count = 3;
	fake_on(kit->fake, LIST, 200, "", EMPTY);
	remote_kit_start(kit);
	remote_kit_await(kit, "GET", 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_not_equal(fake_request(kit->fake, "GET", i)->client, "");
	unlink(path);
}

int main(void)
{
#define ON_KIT(test) cmocka_unit_test_setup_teardown(test, remote_kit_setup, remote_kit_teardown)
	const struct CMUnitTest tests[] = {
		ON_KIT(certificates_of_both_sides),
		ON_KIT(a_server_nobody_vouches_for_is_not_talked_to),
		ON_KIT(the_certificate_may_have_another_name),
		ON_KIT(through_a_proxy),
		ON_KIT(a_token_that_is_rotated_under_way),
		ON_KIT(a_command_that_fails_is_named),
		ON_KIT(a_command_that_gives_certificates),
	};
	return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
