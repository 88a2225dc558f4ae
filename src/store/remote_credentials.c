/* Owns keeping credentials fresh. */
#include "store/remote_credentials.h"

#include "base/vec.h"
#include "object/build.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define FILE_FRESH (60 * SECOND) /* a rotated token file is read again after this */
#define EXPIRY_MARGIN (60 * SECOND)
#define COMMAND_SECONDS 60
#define OUTPUT_MAX ((size_t)1 << 20)

struct remote_credentials {
	const struct remote_access *access;
	const struct clock_source *clock;
	struct arena *arena; /* of what was read last */
	const char *token, *certificate, *key;
	int64_t good_until; /* INT64_MIN: nothing was read yet */
	struct error problem;
};

struct remote_credentials *remote_credentials_create(const struct remote_access *access,
                                                     const struct clock_source *clock)
{
	struct remote_credentials *credentials = base_calloc(1, sizeof(*credentials));
	*credentials = (struct remote_credentials){
		.access = access,
		.clock = clock ? clock : clock_system(),
		.arena = arena_create(),
		.good_until = INT64_MIN,
	};
	return credentials;
}

void remote_credentials_destroy(struct remote_credentials *credentials)
{
	if (!credentials)
		return;
	arena_destroy(credentials->arena);
	free(credentials);
}

void remote_credentials_refused(struct remote_credentials *credentials)
{
	credentials->good_until = INT64_MIN;
}

const char *remote_credentials_problem(const struct remote_credentials *credentials)
{
	return credentials->problem.text[0] ? credentials->problem.text : NULL;
}

/* ---- a token file ---- */

/* What was read last stays in use when the file cannot be read: the server decides whether it is still good. */
static void read_token_file(struct remote_credentials *credentials, int64_t now)
{
	struct arena *arena = arena_create();
	const char *text;
	credentials->good_until = now + FILE_FRESH;
	if (remote_file_read(credentials->access->token_file, arena, &text, &credentials->problem) < 0) {
		arena_destroy(arena);
		return;
	}
	credentials->problem.text[0] = '\0';
	arena_destroy(credentials->arena);
	credentials->arena = arena;
	credentials->token = arena_strndup(arena, text, strcspn(text, "\r\n"));
}

/* ---- a command ---- */

/* What the command may want to know, as the environment variable KUBERNETES_EXEC_INFO. */
static char *exec_info(const struct remote_access *access)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *spec = build_map(build);
	build_put_string(build, root, "apiVersion", access->exec->api_version);
	build_put_string(build, root, "kind", "ExecCredential");
	build_put(build, spec, "interactive", build_bool(build, false));
	if (access->exec->give_cluster) {
		struct node *cluster = build_map(build);
		build_put_string(build, cluster, "server", access->server);
		build_put(build, spec, "cluster", cluster);
	}
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	struct buffer out = {0};
	buffer_puts(&out, "KUBERNETES_EXEC_INFO=");
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	doc_destroy(doc);
	build_destroy(build);
	return out.text;
}

/* Everything the command prints, until it ends or takes too long. */
static int collect(int fd, pid_t pid, const struct clock_source *clock, struct buffer *out)
{
	int64_t end = clock_now(clock) + COMMAND_SECONDS * SECOND;
	for (;;) {
		struct pollfd waiting = {.fd = fd, .events = POLLIN};
		char chunk[4096];
		if (clock_now(clock) > end || out->length > OUTPUT_MAX) {
			kill(pid, SIGKILL);
			return -1;
		}
		if (poll(&waiting, 1, 1000) <= 0)
			continue;
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got == 0 || (got < 0 && errno != EINTR))
			return 0;
		if (got > 0)
			buffer_append(out, chunk, (size_t)got);
	}
}

static int run_command(const struct remote_credentials *credentials, struct buffer *out, struct error *error)
{
	const struct remote_exec *exec = credentials->access->exec;
	int pipe_fds[2];
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return error_set(error, ERROR_IO, "pipe: %s", strerror(errno));
	VEC(char *) environment = {0};
	for (char **pair = environ; *pair; pair++)
		vec_push(&environment, *pair);
	for (const char *const *pair = exec->environment; *pair; pair++)
		vec_push(&environment, (char *)(uintptr_t)*pair);
	char *info = exec_info(credentials->access);
	vec_push(&environment, info);
	vec_push(&environment, NULL);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
	pid_t pid;
	int failed = posix_spawnp(&pid, exec->argv[0], &actions, NULL, (char *const *)(uintptr_t)exec->argv,
	                          environment.items);
	posix_spawn_file_actions_destroy(&actions);
	vec_free(&environment);
	free(info);
	close(pipe_fds[1]);
	int status = 0, late = 0;
	if (!failed) {
		late = collect(pipe_fds[0], pid, credentials->clock, out);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(pipe_fds[0]);
	if (failed)
		return error_set(error, ERROR_IO, "credentials: cannot run %.200s: %s. %.200s", exec->argv[0],
		                 strerror(failed), exec->hint);
	if (late || status != 0)
		return error_set(error, ERROR_IO, "credentials: %.200s %s", exec->argv[0],
		                 late ? "took longer than a minute" : "ended with an error");
	return 0;
}

/* Takes over what an ExecCredential says. */
static int accept_output(struct remote_credentials *credentials, const struct buffer *out)
{
	struct error problem = {0};
	const char *command = credentials->access->exec->argv[0];
	struct doc *doc = doc_parse_json(out->text ? out->text : "", out->length, &problem);
	if (!doc)
		return error_set(&credentials->problem, ERROR_SYNTAX, "credentials: %.200s printed no JSON: %.200s",
		                 command, problem.text);
	const struct val *status = val_get(doc_root(doc), "status");
	const char *token = val_str(val_get(status, "token"), ""),
		   *certificate = val_str(val_get(status, "clientCertificateData"), ""),
		   *key = val_str(val_get(status, "clientKeyData"), "");
	int rc = 0;
	if (!token[0] && (!certificate[0] || !key[0])) {
		rc = error_set(&credentials->problem, ERROR_INVALID,
		               "credentials: %.200s printed neither status.token nor a certificate with its key",
		               command);
	} else {
		arena_reset(credentials->arena);
		credentials->token = token[0] ? arena_strdup(credentials->arena, token) : NULL;
		credentials->certificate = certificate[0] ? arena_strdup(credentials->arena, certificate) : NULL;
		credentials->key = key[0] ? arena_strdup(credentials->arena, key) : NULL;
		int64_t expires;
		bool expiring = clock_parse_rfc3339(val_str(val_get(status, "expirationTimestamp"), ""), &expires) == 0;
		credentials->good_until = expiring ? expires * SECOND - EXPIRY_MARGIN : INT64_MAX;
		credentials->problem.text[0] = '\0';
	}
	doc_destroy(doc);
	return rc;
}

static void ask_command(struct remote_credentials *credentials, int64_t now)
{
	struct buffer out = {0};
	if (run_command(credentials, &out, &credentials->problem) < 0 || accept_output(credentials, &out) < 0)
		credentials->good_until = now + SECOND; /* not at every request */
	buffer_free(&out);
}

struct remote_identity remote_credentials_now(struct remote_credentials *credentials)
{
	const struct remote_access *access = credentials->access;
	int64_t now = clock_now(credentials->clock);
	bool stale = credentials->good_until == INT64_MIN || now >= credentials->good_until;
	if (stale && access->token_file)
		read_token_file(credentials, now);
	else if (stale && access->exec)
		ask_command(credentials, now);
	return (struct remote_identity){
		.token = credentials->token ? credentials->token : access->token,
		.certificate = credentials->certificate ? credentials->certificate : access->certificate,
		.key = credentials->key ? credentials->key : access->key,
	};
}
