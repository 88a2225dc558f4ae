/* What the parts of the command `simulate` share. */
#ifndef CLI_CMD_SIMULATE_H
#define CLI_CMD_SIMULATE_H

#include "cli/cli.h"

/* Whether Ctrl-C was pressed since the command began. */
bool cmd_simulate_stopped(void);
/* Random runs for every seed of the arguments; scenario NULL: with generated workloads. The exit code. */
int cmd_simulate_seeds(struct cli_args *args, const struct manifest *scenario);
/* Replays a trace: tables of instances, or objects that were recorded. */
int cmd_simulate_trace(struct cli_args *args);
/* The same with what was read already; `table`: it was a table of instances, and the nodes are in it. */
int cmd_simulate_objects(struct cli_args *args, struct manifests *objects, bool table);

#endif
