/* What the files of the command `run` share. */
#ifndef CLI_RUN_INTERNAL_H
#define CLI_RUN_INTERNAL_H

#include "cli/board.h"
#include "cli/cli.h"
#include "control/lease.h"
#include "control/manager.h"
#include "serve/listener.h"
#include "sim/kubelet.h"
#include "store/remote.h"

struct run {
	struct cli_args *args;
	struct remote_access access;
	struct remote *remote;
	struct lease *lease;     /* NULL: nobody else */
	struct manager *manager; /* NULL while another replica acts, or nothing was read */
	struct kubelet *kubelet;
	struct listener *listener; /* NULL: none */
	struct board *board;       /* NULL without a listener */
	struct auth auth;          /* of the dashboard */
	char identity[128];
	int64_t told; /* when a problem was last printed */
	bool ending;
};

/* run_listen.c: health, metrics, and what others route there. -1 and *error when the address cannot be used. */
int run_listen(struct run *run, struct error *error);

#endif
