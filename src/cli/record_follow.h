/* Recording over a period: what is there, then what arrives and leaves. */
#ifndef CLI_RECORD_FOLLOW_H
#define CLI_RECORD_FOLLOW_H

#include "cli/cli.h"
#include "cli/record_hide.h"

/* Writes to standard output until the time of --for is over or a signal ends it. An exit code. */
int record_follow(struct cli_args *args, struct hide *hide);

#endif
