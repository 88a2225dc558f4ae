/* Owns keeping credentials fresh. */
#include "remote/credentials.h"

#include "base/base64.h"
#include "base/vec.h"
#include "object/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_FRESH (60 * CLOCK_SECOND)    /* a rotated token file is read again after this */
#define EXPIRY_MARGIN (60 * CLOCK_SECOND) /* new ones are asked for so long before, or a quarter of their life */
#define COMMAND_TIME (60 * CLOCK_SECOND)
#define PAUSE_FIRST CLOCK_SECOND /* between runs that fail, doubled each time */
#define PAUSE_DOUBLINGS 6
#define SOON (60 * CLOCK_SECOND)   /* what is refused so soon after it was printed was not just outdated */
#define QUIET (300 * CLOCK_SECOND) /* after so long without one, the next failure is the first */

struct remote_credentials {
	const struct remote_access *access;
	const struct clock_source *clock;
	struct arena *arena; /* of what was read last */
	const char *token, *certificate, *key;
	uint64_t number;
	int64_t fresh_until; /* from then on new ones are asked for; INT64_MIN: nothing was read yet */
	int64_t good_until;  /* of what a command printed: its end, or INT64_MIN when it is of no use */
	int64_t printed;     /* when */
	struct remote_command *command;
	unsigned failures; /* in a row */
	int64_t again;     /* when it may run, after the last of them */
	struct error problem;
};

int remote_credentials_check(const struct remote_access *access, struct error *error)
{
	if (!access->exec || remote_command_exists(access->exec->argv[0]))
		return 0;
	return error_set(error, ERROR_NOT_FOUND,
	                 "the kubeconfig's context %.80s gets its credentials from the command %.120s "
	                 "(users[].user.exec.command), which %s%s%.180s",
	                 access->context ? access->context : "", access->exec->argv[0],
	                 strchr(access->exec->argv[0], '/') ? "is not there or cannot be run" : "is not in $PATH",
	                 access->exec->hint[0] ? ": " : "; install it", access->exec->hint);
}

struct remote_credentials *remote_credentials_create(const struct remote_access *access,
                                                     const struct clock_source *clock)
{
	struct remote_credentials *credentials = base_calloc(1, sizeof(*credentials));
	*credentials = (struct remote_credentials){
		.access = access,
		.clock = clock ? clock : clock_system(),
		.arena = arena_create(),
		.fresh_until = INT64_MIN,
		.good_until = INT64_MIN,
	};
	return credentials;
}

void remote_credentials_destroy(struct remote_credentials *credentials)
{
	if (!credentials)
		return;
	remote_command_destroy(credentials->command);
	arena_destroy(credentials->arena);
	free(credentials);
}

const char *remote_credentials_problem(const struct remote_credentials *credentials)
{
	return credentials->problem.text[0] ? credentials->problem.text : NULL;
}

const char *remote_credentials_warning(const struct remote_credentials *credentials)
{
	const char *problem = remote_credentials_problem(credentials);
	if (problem && credentials->access->exec)
		return clock_now(credentials->clock) < credentials->good_until ? problem : NULL;
	return credentials->token ? problem : NULL;
}

/* ---- a token file ---- */

/* What was read last stays in use when the file cannot be read: the server decides whether it is still good. */
static void read_token_file(struct remote_credentials *credentials, int64_t now)
{
	struct arena *arena = arena_create();
	const char *text;
	credentials->fresh_until = now + FILE_FRESH;
	if (remote_file_read(credentials->access->token_file, arena, &text, &credentials->problem) < 0) {
		arena_destroy(arena);
		return;
	}
	credentials->problem.text[0] = '\0';
	arena_destroy(credentials->arena);
	credentials->arena = arena;
	credentials->token = arena_strndup(arena, text, strcspn(text, "\r\n"));
	credentials->number++;
}

/* ---- what a command is told ---- */

static void put_authority(struct build *build, struct node *cluster, const char *pem)
{
	struct arena *arena = arena_create();
	build_put_string(build, cluster, "certificate-authority-data", base64_encode(arena, pem, strlen(pem)));
	arena_destroy(arena);
}

static struct node *describe_cluster(struct build *build, const struct remote_access *access)
{
	struct node *cluster = build_map(build);
	build_put_string(build, cluster, "server", access->server);
	if (access->server_name)
		build_put_string(build, cluster, "tls-server-name", access->server_name);
	if (access->insecure)
		build_put_bool(build, cluster, "insecure-skip-tls-verify", true);
	if (access->authority)
		put_authority(build, cluster, access->authority);
	if (access->proxy)
		build_put_string(build, cluster, "proxy-url", access->proxy);
	return cluster;
}

/* What the command may want to know, as the environment variable KUBERNETES_EXEC_INFO. */
static char *exec_info(const struct remote_access *access)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *spec = build_map(build);
	build_put_string(build, root, "apiVersion", access->exec->api_version);
	build_put_string(build, root, "kind", "ExecCredential");
	build_put_bool(build, spec, "interactive", false);
	if (access->exec->give_cluster)
		build_put(build, spec, "cluster", describe_cluster(build, access));
	build_put(build, root, "spec", spec);
	struct doc *doc = build_finish(build, root);
	struct buffer out = {0};
	buffer_puts(&out, "KUBERNETES_EXEC_INFO=");
	val_write(doc_root(doc), DOC_JSON_COMPACT, &out);
	doc_destroy(doc);
	build_destroy(build);
	return out.text;
}

/* ---- a command ---- */

static void fail(struct remote_credentials *credentials, int64_t now)
{
	if (now - credentials->again >= QUIET)
		credentials->failures = 0;
	unsigned doublings = credentials->failures < PAUSE_DOUBLINGS ? credentials->failures : PAUSE_DOUBLINGS;
	credentials->failures++;
	credentials->again = now + (PAUSE_FIRST << doublings);
}

static bool is_set(const struct remote_exec *exec, const char *pair)
{
	size_t length = strcspn(pair, "=") + 1;
	for (const char *const *own = exec->environment; *own; own++)
		if (strncmp(*own, pair, length) == 0)
			return true;
	return text_starts_with(pair, "KUBERNETES_EXEC_INFO=");
}

static void start_command(struct remote_credentials *credentials, int64_t now)
{
	const struct remote_exec *exec = credentials->access->exec;
	char *info = exec_info(credentials->access);
	struct error error = {0};
	/* Of a name that is there twice some programs see the first, others the last. */
	VEC(char *) environment = {0};
	vec_push(&environment, info);
	for (const char *const *pair = exec->environment; *pair; pair++)
		vec_push(&environment, (char *)(uintptr_t)*pair);
	for (char **pair = environ; *pair; pair++)
		if (!is_set(exec, *pair))
			vec_push(&environment, *pair);
	vec_push(&environment, NULL);
	credentials->command = remote_command_start(exec->argv, environment.items, now + COMMAND_TIME, &error);
	if (!credentials->command) {
		error_set(&credentials->problem, ERROR_IO, "credentials: %.300s. %.180s", error.text, exec->hint);
		fail(credentials, now);
	}
	vec_free(&environment);
	free(info);
}

/* How long what was printed is good; -1 when it is not any more. */
static int take_expiry(struct remote_credentials *credentials, const char *text, int64_t now)
{
	int64_t expires;
	credentials->fresh_until = credentials->good_until = INT64_MAX;
	if (!text[0] || clock_parse_rfc3339(text, &expires) < 0)
		return 0;
	credentials->good_until = expires * CLOCK_SECOND;
	int64_t life = credentials->good_until - now, margin = life / 4 < EXPIRY_MARGIN ? life / 4 : EXPIRY_MARGIN;
	credentials->fresh_until = credentials->good_until - margin;
	if (life > 0)
		return 0;
	return error_set(&credentials->problem, ERROR_INVALID,
	                 "credentials: what %.160s printed expired at %.40s; is the clock of this machine right?",
	                 credentials->access->exec->argv[0], text);
}

/* Takes over what an ExecCredential says. */
static int accept_output(struct remote_credentials *credentials, const struct buffer *out, int64_t now)
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
	int rc;
	if (!token[0] && (!certificate[0] || !key[0])) {
		rc = error_set(&credentials->problem, ERROR_INVALID,
		               "credentials: %.200s printed neither status.token nor a certificate with its key",
		               command);
	} else if ((rc = take_expiry(credentials, val_str(val_get(status, "expirationTimestamp"), ""), now)) == 0) {
		arena_reset(credentials->arena);
		credentials->token = token[0] ? arena_strdup(credentials->arena, token) : NULL;
		credentials->certificate = certificate[0] ? arena_strdup(credentials->arena, certificate) : NULL;
		credentials->key = key[0] ? arena_strdup(credentials->arena, key) : NULL;
		credentials->number++;
		credentials->printed = now;
		credentials->problem.text[0] = '\0';
	}
	doc_destroy(doc);
	return rc;
}

void remote_credentials_step(struct remote_credentials *credentials)
{
	if (!credentials->command)
		return;
	int64_t now = clock_now(credentials->clock);
	const struct buffer *out = NULL;
	struct error error = {0};
	int rc = remote_command_step(credentials->command, now, &out, &error);
	if (rc == 0)
		return;
	if (rc < 0)
		error_set(&credentials->problem, ERROR_IO, "credentials: %.400s", error.text);
	if (rc < 0 || accept_output(credentials, out, now) < 0)
		fail(credentials, now);
	remote_command_destroy(credentials->command);
	credentials->command = NULL;
}

bool remote_credentials_busy(const struct remote_credentials *credentials, int fds[REMOTE_COMMAND_FDS], size_t *count)
{
	*count = credentials->command ? remote_command_fds(credentials->command, fds) : 0;
	return credentials->command != NULL;
}

/* ---- for the client ---- */

/* A refusal of what has worked for a while means that it is outdated. What is refused although it is new will be so the
 * next time too: the command is not run again and again for it. */
void remote_credentials_refused(struct remote_credentials *credentials, uint64_t number)
{
	int64_t now = clock_now(credentials->clock);
	if (number != credentials->number)
		return;
	credentials->fresh_until = INT64_MIN;
	if (!credentials->access->exec || credentials->good_until == INT64_MIN)
		return;
	credentials->good_until = INT64_MIN;
	if (now - credentials->printed >= SOON)
		return;
	error_set(&credentials->problem, ERROR_IO, "credentials: the server does not accept what %.200s prints",
	          credentials->access->exec->argv[0]);
	fail(credentials, now);
}

static enum remote_credentials_state state_of_command(struct remote_credentials *credentials, int64_t now)
{
	if (!credentials->command && now >= credentials->fresh_until && now >= credentials->again)
		start_command(credentials, now);
	if (now < credentials->good_until)
		return CREDENTIALS_READY;
	return credentials->command ? CREDENTIALS_AWAITED : CREDENTIALS_NONE;
}

enum remote_credentials_state remote_credentials_now(struct remote_credentials *credentials,
                                                     struct remote_identity *identity)
{
	const struct remote_access *access = credentials->access;
	int64_t now = clock_now(credentials->clock);
	enum remote_credentials_state state = CREDENTIALS_READY;
	if (access->token_file) {
		if (now >= credentials->fresh_until)
			read_token_file(credentials, now);
	} else if (access->exec) {
		state = state_of_command(credentials, now);
	}
	*identity = (struct remote_identity){
		.token = credentials->token ? credentials->token : access->token,
		.certificate = credentials->certificate ? credentials->certificate : access->certificate,
		.key = credentials->key ? credentials->key : access->key,
		.number = credentials->number,
	};
	return state;
}
