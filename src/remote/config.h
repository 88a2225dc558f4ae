/* How to reach a Kubernetes API server: from kubeconfig files, or from inside a cluster.
 *
 * Files are merged as kubectl does: $KUBECONFIG may name several, the first that has a name or a current-context wins,
 * paths inside a file are relative to it. */
#ifndef REMOTE_CONFIG_H
#define REMOTE_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "object/doc.h"

#include <stdbool.h>
#include <stdint.h>

/* A command that prints credentials (ExecCredential of client.authentication.k8s.io). */
struct remote_exec {
	const char *api_version;
	const char *const *argv;        /* ends with NULL */
	const char *const *environment; /* "NAME=value", ends with NULL; besides our own */
	const char *hint;               /* how to install it, "" when nothing is said */
	bool give_cluster;              /* it wants to know the cluster */
};

/* Texts are in the arena of the load; NULL for what is not given. */
struct remote_access {
	const char *server;      /* https://host:port, no slash at the end */
	const char *server_name; /* in the certificate, when it is not the host */
	const char *authority;   /* PEM; NULL: the system's */
	bool insecure;           /* do not check the server's certificate */
	const char *proxy;
	const char *certificate, *key; /* of the client, PEM */
	const char *token;
	const char *token_file; /* read again now and then: tokens are rotated */
	const char *user, *password;
	const struct remote_exec *exec;
	const char *namespace_; /* of the context, "default" when it names none */
	const char *context;    /* for messages: its name, or "in-cluster" */
};

/* `path` NULL: $KUBECONFIG, else ~/.kube/config, else the service account of the pod we are in. `context` NULL: the current
 * one. -1 and *error, which names the file and the field. */
int remote_config_load(const char *path, const char *context, struct arena *arena, struct remote_access *access,
                       struct error *error);
/* The same from texts that were read already; `folders` are those of the files, for relative paths. */
int remote_config_choose(const struct val *const *files, const char *const *folders, size_t count, const char *context,
                         struct arena *arena, struct remote_access *access, struct error *error);

/* Reads a file of at most 16 MiB into the arena. */
int remote_file_read(const char *path, struct arena *arena, const char **text, struct error *error);

#endif
