/* Who asks, and whether they may. Two tokens (everything, and reading only) and client certificates. */
#ifndef SERVE_HTTP_AUTH_H
#define SERVE_HTTP_AUTH_H

#include "base/strings.h"
#include "serve/http/http.h"

struct auth {
	struct buffer token, read_token;
	bool open; /* everybody is the administrator: for tests on a private port */
};

struct auth_user {
	const char *name, *group;
	bool read_only;
};

/* NULL when the request proves nothing. From the request's arena. */
const struct auth_user *auth_identify(const struct auth *auth, const struct http_request *request);
void auth_free(struct auth *auth);

#endif
