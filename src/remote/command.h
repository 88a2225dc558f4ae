/* One run of a program whose output is wanted, beside the loop: nobody waits for it. It has no terminal and no input, and
 * it leads a process group of its own, so that its children end with it when it takes too long. */
#ifndef REMOTE_COMMAND_H
#define REMOTE_COMMAND_H

#include "base/error.h"
#include "base/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REMOTE_COMMAND_FDS 2

struct remote_command;

/* Whether it can be run: a path, or a name that is in $PATH. */
bool remote_command_exists(const char *name);
/* `environment` is all it gets, NULL at the end; `end` is when it is killed. NULL and *error when it cannot be run. */
struct remote_command *remote_command_start(const char *const *argv, char *const *environment, int64_t end,
                                            struct error *error);
/* Takes what was printed so far. 0: still running; 1: it ended well, and this is its output (borrowed); -1 and *error, with
 * what it said about it. */
int remote_command_step(struct remote_command *command, int64_t now, const struct buffer **output, struct error *error);
/* What becomes readable when it printed something, or ended. */
size_t remote_command_fds(const struct remote_command *command, int fds[REMOTE_COMMAND_FDS]);
/* Kills it when it is still running. NULL is a no-op. */
void remote_command_destroy(struct remote_command *command);

#endif
