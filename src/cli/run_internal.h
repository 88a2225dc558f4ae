/* What the files of the command `run` share. */
#ifndef CLI_RUN_INTERNAL_H
#define CLI_RUN_INTERNAL_H

#include "cli/dashboard_source.h"
#include "cli/run_config.h"
#include "kinds/kinds.h"
#include "loop/lease.h"
#include "manager/manager.h"
#include "serve/http/listener.h"
#include "cluster/kubelet.h"
#include "remote/remote.h"

#include <sys/stat.h>

struct run_webhooks;

struct run_queue {         /* the default one */
	bool done;         /* there is a queue */
	bool told;         /* that it was refused */
	unsigned attempts; /* to make it */
	int64_t due;       /* of the next one; 0: the last one was not refused */
};

struct run {
	struct cli_args *args;
	struct run_config *start;         /* what it was started with: settings that do not change are read here */
	struct run_config *config;        /* what is true now; may be the same */
	struct settings_source *settings; /* of `config`, with what the cluster says: everybody borrows from here */
	struct remote_access access;
	struct remote *remote;
	struct lease *lease;     /* NULL: nobody else */
	struct manager *manager; /* NULL while another replica acts, or nothing was read */
	struct kubelet *kubelet;
	struct listener *listener;          /* NULL: none */
	struct run_webhooks *webhooks;      /* NULL: none */
	int clients;                        /* readable when a listener has something to do */
	struct stat file;                   /* of the configuration, when it was last looked at */
	struct dashboard_source *dashboard; /* NULL without a listener */
	struct auth auth;                   /* of the dashboard */
	struct run_queue queue;
	char identity[128];
	int64_t told;            /* when a problem was last printed */
	int64_t away, away_told; /* since when the API server is, and when that was last told; 0: it is not */
	bool ending;
};

/* ---- run_listen.c ---- */
/* Health, metrics, and what others route there. -1 and *error when the address cannot be used. */
int run_listen(struct run *run, struct error *error);
/* Appends one number in the text format of Prometheus. */
void run_put_metric(struct buffer *out, const char *name, const char *type, const char *help, uint64_t value);

/* ---- run_webhooks.c ---- */
#define RUN_WEBHOOK_SECRET "platoon-webhook"
#define RUN_WEBHOOK_CONFIG "platoon"
/* Whether the versions of a kind differ in form, and its definition makes the API server ask us. */
bool run_webhooks_convert(const struct kind_row *row);
struct run_webhooks *run_webhooks_create(struct run *run, struct error *error);
void run_webhooks_destroy(struct run_webhooks *webhooks); /* NULL is a no-op */
struct listener *run_webhooks_listener(struct run_webhooks *webhooks);
/* Takes the certificates of the Secret over; when this replica acts, also makes them and tells the API server.
 * Milliseconds until there is something to do if nothing changes. */
int run_webhooks_step(struct run_webhooks *webhooks, bool acts);
bool run_webhooks_ready(const struct run_webhooks *webhooks);
void run_webhooks_metrics(const struct run_webhooks *webhooks, struct buffer *out); /* NULL is a no-op */

/* ---- run_log.c ---- */
void run_log_start(const struct run *run);
/* Why the cluster is not read yet; now and then. */
void run_log_problem(struct run *run);
void run_log_connected(const struct run *run);
/* That the API server cannot be reached, once a minute, and that it can again. */
void run_log_away(struct run *run);
void run_log_ending(const struct run *run);
/* That the end waits for answers of the API server. */
void run_log_waiting(const struct run *run);
void run_log_ended(const struct run *run);

/* ---- run_queue.c ---- */
/* Makes the default queue when the cluster has no queue at all, again after a pause when that is refused. Milliseconds
 * until there is something to do if nothing changes, -1 for never. */
int run_ensure_queue(struct run *run);

#endif
