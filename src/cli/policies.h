/* The policies that `simulate` replays a trace with: actions and a placement strategy, one or two of them. */
#ifndef CLI_POLICIES_H
#define CLI_POLICIES_H

#include "cli/cli.h"

struct policy {
	const char *title;
	const enum cycle_action *actions;
	size_t action_count;
	struct strategy strategy;
};

#define MOST_POLICIES 2
/* From --actions, --placement and --compare. How many, or -1 after telling what is wrong. */
int policies_read(struct cli_args *args, struct policy policies[MOST_POLICIES]);

#endif
