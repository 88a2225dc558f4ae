/* How to reach a cluster: kubeconfigs as kubectl reads them, credentials that are rotated. */
#include "object/yaml_read.h"
#include "remote/config.h"
#include "remote/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES 2

static struct arena *arena;
static char folder[] = "remote-config-XXXXXX";

static int setup(void **state)
{
	arena = arena_create();
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	arena_destroy(arena);
	return rmdir(folder);
}

static int choose(const char *const *texts, size_t count, const char *context, struct remote_access *access,
                  struct error *error)
{
	const struct val *files[FILES] = {0};
	const char *folders[FILES] = {"/etc/one", "/etc/two"};
	struct yaml_document *docs[FILES];
	for (size_t i = 0; i < count; i++) {
		size_t found;
		assert_int_equal(yaml_read(texts[i], strlen(texts[i]), &docs[i], &found, error), 0);
		assert_int_equal(found, 1);
		files[i] = doc_root(docs[i][0].doc);
	}
	int status = remote_config_choose(files, folders, count, context, arena, access, error);
	for (size_t i = 0; i < count; i++) {
		doc_destroy(docs[i][0].doc);
		free(docs[i]);
	}
	return status;
}

#define CLUSTER "clusters:\n- name: c\n  cluster: {server: 'https://example.com:6443/', "
#define CONTEXT "contexts:\n- name: x\n  context: {cluster: c, user: u, namespace: team}\ncurrent-context: x\n"

static void what_a_file_says(void **state)
{
	const char *text = CONTEXT CLUSTER
		"certificate-authority-data: Q0FD\n      QQ==, proxy-url: 'http://proxy:3128', "
		"tls-server-name: api}\n"
		"users:\n- name: u\n  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ, token: t}\n";
	struct remote_access access;
	struct error error = {0};
	assert_int_equal(choose(&text, 1, NULL, &access, &error), 0);
	assert_string_equal(access.server, "https://example.com:6443");
	assert_string_equal(access.authority, "CACA");
	assert_string_equal(access.certificate, "CERT");
	assert_string_equal(access.key, "KEY");
	assert_string_equal(access.token, "t");
	assert_string_equal(access.proxy, "http://proxy:3128");
	assert_string_equal(access.server_name, "api");
	assert_string_equal(access.namespace_, "team");
	assert_false(access.insecure);
}

static void the_first_of_several_files_wins(void **state)
{
	const char *texts[] = {
		"current-context: x\nusers:\n- name: u\n  user: {token: first}\n",
		CONTEXT CLUSTER
		"insecure-skip-tls-verify: true}\nusers:\n- name: u\n  user: {token: second, tokenFile: t}\n"
		"- name: other\n  user: {tokenFile: token}\n",
	};
	struct remote_access access;
	struct error error = {0};
	if (choose(texts, 2, "x", &access, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(access.token, "first");
	assert_null(access.token_file);
	assert_true(access.insecure);
	/* Paths are relative to the file that has them. */
	const char *other[] = {"contexts:\n- name: z\n  context: {cluster: c, user: other}\n", texts[1]};
	assert_int_equal(choose(other, 2, "z", &access, &error), 0);
	assert_string_equal(access.token_file, "/etc/two/token");
	assert_string_equal(access.namespace_, "default");
}

static void what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *text, *context, *expect;
	} cases[] = {
		{"{}", NULL, "current-context is not set"},
		{"current-context: x", NULL, "no context \"x\""},
		{CONTEXT, NULL, "names cluster \"c\", which is not there"},
		{CONTEXT "clusters: [{name: c, cluster: {server: 'ftp://x'}}]", NULL,
	         "clusters[].cluster.server: \"ftp://x\""},
		{CONTEXT CLUSTER "}", NULL, "names user \"u\", which is not there"},
		{CONTEXT CLUSTER "certificate-authority-data: '*'}", NULL, "certificate-authority-data: not base64"},
		{CONTEXT CLUSTER "certificate-authority: gone}", NULL, "/etc/one/gone: No such file"},
		{CONTEXT CLUSTER "}\nusers: [{name: u, user: {client-key-data: S0VZ}}]", NULL, "belong together"},
		{CONTEXT CLUSTER "}\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]",
	         NULL, "exec.command: missing"},
		{CONTEXT CLUSTER "}\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
	                         "command: x, interactiveMode: Always}}}]",
	         NULL, "interactiveMode: Always"},
		{CONTEXT CLUSTER "}\nusers: [{name: u, user: {exec: {apiVersion: v9, command: x}}}]", NULL,
	         "\"v9\" is not supported"},
		{CONTEXT, "nope", "no context \"nope\""},
		{"[1, 2]", NULL, "current-context is not set"},
		{"contexts: 3\ncurrent-context: x", NULL, "no context \"x\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct remote_access access;
		struct error error = {0};
		assert_int_equal(choose(&cases[i].text, 1, cases[i].context, &access, &error), -1);
		if (!strstr(error.text, cases[i].expect))
			fail_msg("%s\ninstead of %s", error.text, cases[i].expect);
	}
}

static const char *write_file(const char *name, const char *text, mode_t mode)
{
	const char *path = arena_printf(arena, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
	return path;
}

static const char *token_now(struct remote_credentials *credentials, enum remote_credentials_state expect)
{
	struct remote_identity identity;
	assert_int_equal(remote_credentials_now(credentials, &identity), expect);
	return identity.token;
}

/* What it is when no command is running any more. */
static const char *token_then(struct remote_credentials *credentials, enum remote_credentials_state expect)
{
	int fds[REMOTE_COMMAND_FDS];
	size_t count;
	struct remote_identity identity;
	remote_credentials_now(credentials, &identity);
	for (int i = 0; i < 10000 && remote_credentials_busy(credentials, fds, &count); i++) {
		usleep(2000);
		remote_credentials_step(credentials);
	}
	return token_now(credentials, expect);
}

static void a_token_file_is_read_again(void **state)
{
	struct clock_virtual clock;
	clock_virtual_init(&clock, 0);
	struct remote_access access = {.token_file = write_file("token", "one\n", 0600)};
	struct remote_credentials *credentials = remote_credentials_create(&access, &clock.source);
	assert_string_equal(token_now(credentials, CREDENTIALS_READY), "one");
	write_file("token", "two", 0600);
	assert_string_equal(token_now(credentials, CREDENTIALS_READY), "one"); /* not at every request */
	remote_credentials_refused(credentials, 1);
	assert_string_equal(token_now(credentials, CREDENTIALS_READY), "two");
	write_file("token", "three", 0600);
	clock_virtual_advance(&clock, INT64_C(61000000000));
	assert_string_equal(token_now(credentials, CREDENTIALS_READY), "three");
	assert_null(remote_credentials_problem(credentials));
	unlink(access.token_file);
	clock_virtual_advance(&clock, INT64_C(61000000000));
	assert_string_equal(token_now(credentials, CREDENTIALS_READY), "three");
	assert_non_null(strstr(remote_credentials_problem(credentials), "No such file"));
	remote_credentials_destroy(credentials);
}

/* The command gets the arguments, variables (also those that we have ourselves) and the description of the cluster. */
static void a_command_gives_credentials(void **state)
{
	const char *path = write_file("login",
	                              "#!/bin/sh\necho \"$KUBERNETES_EXEC_INFO\" | grep -q ExecCredential || exit 3\n"
	                              "for want in '\"server\":\"https://x\"' '\"interactive\":false' "
	                              "'\"certificate-authority-data\":\"UEVN\"' '\"tls-server-name\":\"y\"'; do\n"
	                              "echo \"$KUBERNETES_EXEC_INFO\" | grep -q \"$want\" || exit 4\ndone\n"
	                              "echo \"{\\\"status\\\":{\\\"token\\\":\\\"$1-$HOME\\\","
	                              "\\\"expirationTimestamp\\\":\\\"1970-01-01T00:10:00Z\\\"}}\"\n",
	                              0700);
	const char *argv[] = {path, "arg", NULL}, *environment[] = {"HOME=env", NULL};
	struct clock_virtual clock;
	clock_virtual_init(&clock, 0);
	struct remote_exec exec = {.api_version = "client.authentication.k8s.io/v1",
	                           .argv = argv,
	                           .environment = environment,
	                           .hint = "install it",
	                           .give_cluster = true};
	struct remote_access access = {.exec = &exec, .server = "https://x", .server_name = "y", .authority = "PEM"};
	struct remote_credentials *credentials = remote_credentials_create(&access, &clock.source);
	token_now(credentials, CREDENTIALS_AWAITED);
	const char *token = token_then(credentials, CREDENTIALS_READY);
	assert_string_equal(token ? token : remote_credentials_problem(credentials), "arg-env");
	remote_credentials_destroy(credentials);

	/* What it prints is of no use when it has expired by our clock. */
	credentials = remote_credentials_create(&access, NULL);
	token_then(credentials, CREDENTIALS_NONE);
	assert_non_null(strstr(remote_credentials_problem(credentials), "expired at 1970-01-01T00:10:00Z"));
	remote_credentials_destroy(credentials);
	unlink(path);

	argv[0] = path = write_file("silent", "#!/bin/sh\necho '{}'\n", 0700);
	credentials = remote_credentials_create(&access, NULL);
	assert_null(token_then(credentials, CREDENTIALS_NONE));
	assert_non_null(strstr(remote_credentials_problem(credentials), "neither status.token"));
	remote_credentials_destroy(credentials);
	unlink(path);
}

static void a_command_that_is_not_there_is_told_of_at_once(void **state)
{
	const char *argv[] = {"no-such-command-anywhere", NULL}, *environment[] = {NULL};
	struct remote_exec exec = {.argv = argv, .environment = environment, .hint = "get it at example.com"};
	struct remote_access access = {.exec = &exec, .context = "prod"};
	struct error error = {0};
	assert_int_equal(remote_credentials_check(&access, &error), -1);
	assert_string_equal(error.text, "the kubeconfig's context prod gets its credentials from the command "
	                                "no-such-command-anywhere (users[].user.exec.command), which is not in $PATH: "
	                                "get it at example.com");
	exec.hint = "";
	argv[0] = write_file("not-for-running", "", 0600);
	assert_int_equal(remote_credentials_check(&access, &error), -1);
	assert_non_null(strstr(error.text, "cannot be run; install it"));
	unlink(argv[0]);
	argv[0] = folder;
	assert_int_equal(remote_credentials_check(&access, &error), -1);
	argv[0] = "sh";
	assert_int_equal(remote_credentials_check(&access, &error), 0);
	access.exec = NULL;
	assert_int_equal(remote_credentials_check(&access, &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_says),
		cmocka_unit_test(the_first_of_several_files_wins),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(a_token_file_is_read_again),
		cmocka_unit_test(a_command_gives_credentials),
		cmocka_unit_test(a_command_that_is_not_there_is_told_of_at_once),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
