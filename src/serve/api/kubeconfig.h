/* The kubeconfig that lets kubectl and the dashboard's users in. */
#ifndef SERVE_API_KUBECONFIG_H
#define SERVE_API_KUBECONFIG_H

#include "base/error.h"

struct kubeconfig {
	const char *server;                          /* address with scheme and port */
	const char *authority;                       /* PEM; NULL without TLS */
	const char *client_certificate, *client_key; /* PEM; NULL: the token */
	const char *token;
};

/* Mode 0600. */
int kubeconfig_write(const char *path, const struct kubeconfig *config, struct error *error);

#endif
