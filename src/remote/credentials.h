/* Credentials as they are now: fixed ones, a token file that is rotated, or what a command prints.
 *
 * A command runs beside the loop. It is run again before what it printed expires, and when the server refuses that; what
 * is still good stays in use meanwhile. However many ask, it runs once at a time. */
#ifndef REMOTE_CREDENTIALS_H
#define REMOTE_CREDENTIALS_H

#include "base/clock.h"
#include "remote/command.h"
#include "remote/config.h"

struct remote_credentials;

enum remote_credentials_state {
	CREDENTIALS_READY,
	CREDENTIALS_AWAITED, /* a command is running */
	CREDENTIALS_NONE,    /* the problem says why; later there may be some */
};

struct remote_identity { /* borrowed until the next call; NULL for what there is not */
	const char *token;
	const char *certificate, *key; /* PEM */
	uint64_t number;               /* of these credentials, for remote_credentials_refused */
};

/* -1 and *error with what to do when there can be none: the command is not there. */
int remote_credentials_check(const struct remote_access *access, struct error *error);
struct remote_credentials *remote_credentials_create(const struct remote_access *access,
                                                     const struct clock_source *clock);
/* A command that is running is killed. NULL is a no-op. */
void remote_credentials_destroy(struct remote_credentials *credentials);
/* Reads the file or starts the command when what is known may be out of date. */
enum remote_credentials_state remote_credentials_now(struct remote_credentials *credentials,
                                                     struct remote_identity *identity);
/* Takes what a command has printed. */
void remote_credentials_step(struct remote_credentials *credentials);
/* Whether a command is running, and what to wait for then (its end may also come without). */
bool remote_credentials_busy(const struct remote_credentials *credentials, int fds[REMOTE_COMMAND_FDS], size_t *count);
/* The server said 401 to those: the next call gets new ones. */
void remote_credentials_refused(struct remote_credentials *credentials, uint64_t number);
/* Why there are none, NULL when nothing is wrong. */
const char *remote_credentials_problem(const struct remote_credentials *credentials);
/* Why there will soon be none although there still are some; NULL when that is not so. */
const char *remote_credentials_warning(const struct remote_credentials *credentials);

#endif
