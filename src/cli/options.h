/* What the values of options are. Each reads the value of option `id` into its field of *args; CLI_OK, or CLI_USAGE once
 * what is wrong was told. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/cli.h"

int option_take_file(struct cli_args *args, int id, const char *value);
int option_take_output(struct cli_args *args, int id, const char *value);
int option_take_colour(struct cli_args *args, int id, const char *value);
int option_take_actions(struct cli_args *args, int id, const char *value);
int option_take_budget(struct cli_args *args, int id, const char *value);
int option_take_placement(struct cli_args *args, int id, const char *value);
int option_take_for(struct cli_args *args, int id, const char *value);
int option_take_starvation(struct cli_args *args, int id, const char *value);
int option_take_nodes(struct cli_args *args, int id, const char *value);
int option_take_seeds(struct cli_args *args, int id, const char *value);
int option_take_faults(struct cli_args *args, int id, const char *value);
int option_take_port(struct cli_args *args, int id, const char *value);
int option_take_schedulers(struct cli_args *args, int id, const char *value);
int option_take_profile(struct cli_args *args, int id, const char *value);
int option_take_webhooks(struct cli_args *args, int id, const char *value);
int option_take_heartbeat(struct cli_args *args, int id, const char *value);
int option_take_gpus(struct cli_args *args, int id, const char *value);
int option_take_gpus_as(struct cli_args *args, int id, const char *value);
int option_take_replicas(struct cli_args *args, int id, const char *value);
int option_take_log_level(struct cli_args *args, int id, const char *value);

/* options.c: tells of wrong usage on stderr; CLI_USAGE. */
int cli_usage_error(const struct cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
