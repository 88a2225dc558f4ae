/* Credentials as they are now: fixed ones, a token file that is rotated, or what a command prints. */
#ifndef STORE_REMOTE_CREDENTIALS_H
#define STORE_REMOTE_CREDENTIALS_H

#include "base/clock.h"
#include "store/remote_config.h"

struct remote_credentials;

struct remote_identity { /* borrowed until the next call; NULL for what there is not */
	const char *token;
	const char *certificate, *key; /* PEM */
};

struct remote_credentials *remote_credentials_create(const struct remote_access *access,
                                                     const struct clock_source *clock);
void remote_credentials_destroy(struct remote_credentials *credentials); /* NULL is a no-op */
/* Reads the file or runs the command when what is known may be out of date. */
struct remote_identity remote_credentials_now(struct remote_credentials *credentials);
/* The server said 401: the next call gets new ones. */
void remote_credentials_refused(struct remote_credentials *credentials);
/* Why there are none, NULL when nothing is wrong. */
const char *remote_credentials_problem(const struct remote_credentials *credentials);

#endif
