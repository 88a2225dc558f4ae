/* The configuration of `platoon run` and `platoon up`: what is usual, what a file says instead, what flags say instead of
 * both. */
#ifndef CLI_RUN_CONFIG_H
#define CLI_RUN_CONFIG_H

#include "base/log.h"
#include "cli/cli.h"
#include "remote/remote.h"

#include <sys/stat.h>

/* Names of profiles: what is usual where nobody says otherwise. */
#define RUN_PROFILE_PLATOON "platoon"
#define RUN_PROFILE_KAI "kai"

struct run_config {
	struct arena *arena; /* owns all texts */
	struct doc *doc;     /* the same as a document, for printing and comparing */
	const char *profile;
	struct settings settings;          /* its default queue may be "": none is made */
	const struct remote_follow *kinds; /* of workloads that are described by Kartas */
	size_t kind_count;
	const char *listen; /* "": the usual port or a free one; "none" */
	bool leader_elect;
	const char *lease_name;
	int64_t lease_duration_ns;
	int64_t shutdown_ns; /* how long the end waits for answers to what was written */
	bool webhooks;
	const char *webhook_listen, *webhook_service;
	const char *client_authority; /* file; "": clients need no certificate */
	enum log_level log_level;
	enum log_format log_format;
};

/* NULL when the file cannot be read or something in it is wrong; then stderr was told everything that is. */
struct run_config *run_config_open(const struct cli_args *args);
/* The configuration of a file that is another one than `seen`, which then is this one, or that was `asked` for; NULL when it
 * is the same or wrong. The log says what was read, what is wrong, and which settings differ from those of `start` though
 * they are read at the start only. */
struct run_config *run_config_reload(const struct cli_args *args, struct stat *seen, bool asked,
                                     const struct run_config *start);
/* Whether the file is another one than `seen`, which then is this one. */
bool run_config_is_new(const struct cli_args *args, struct stat *seen);
/* The settings of args->config, if there is one, and of the flags, for commands that only look. CLI_OK, or CLI_USAGE when
 * something is wrong, which was told. */
int run_config_use(struct cli_args *args);
void run_config_free(struct run_config *config); /* NULL is a no-op */

/* The value, as YAML, that a setting has where nobody gives it; NULL: there is no such setting. */
const char *run_config_usual(const char *profile, const char *key);

/* Kinds as `workloadKinds` lists them, with texts in the arena. What is wrong with them is added. */
const struct remote_follow *run_kinds_read(const struct val *list, struct arena *arena, size_t *count,
                                           struct problems *problems);

/* HOST:PORT; :PORT for every address (""), PORT for loopback (NULL); brackets around IPv6. -1 when it is none. */
int run_address(const char *text, struct arena *arena, const char **address, uint16_t *port);

/* Appends the configuration as a file would say it. */
void run_config_print(const struct run_config *config, struct buffer *out);
#endif
