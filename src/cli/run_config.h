/* The configuration of `platoon run`: what is usual, what a file says instead, what flags say instead of both. */
#ifndef CLI_RUN_CONFIG_H
#define CLI_RUN_CONFIG_H

#include "base/log.h"
#include "cli/cli.h"
#include "remote/remote.h"

struct run_config {
	struct arena *arena;               /* owns all texts */
	struct doc *doc;                   /* the same as a document, for printing and comparing */
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

/* NULL when the file cannot be read or something in it is wrong; then everything that is wrong was added. */
struct run_config *run_config_load(const struct cli_args *args, struct problems *problems);
/* The settings of args->config, if there is one, and of the flags, for commands that only look. CLI_OK, or CLI_USAGE when
 * something is wrong, which was told. */
int run_config_use(struct cli_args *args);
/* Tells of all problems on stderr, with the name of the file. */
void run_config_tell(const struct cli_args *args, const struct problems *problems);
void run_config_free(struct run_config *config); /* NULL is a no-op */

/* Kinds as `workloadKinds` lists them, with texts in the arena. What is wrong with them is added. */
const struct remote_follow *run_kinds_read(const struct val *list, struct arena *arena, size_t *count,
                                           struct problems *problems);

/* HOST:PORT; :PORT for every address (""), PORT for loopback (NULL); brackets around IPv6. -1 when it is none. */
int run_address(const char *text, struct arena *arena, const char **address, uint16_t *port);

/* Appends the configuration as a file would say it. */
void run_config_print(const struct run_config *config, struct buffer *out);
/* Which of the settings that are read at the start only differ: their names, comma separated; "" for none. */
const char *run_config_fixed(const struct run_config *now, const struct run_config *next);

#endif
