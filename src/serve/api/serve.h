/* The API front end of a local store: what kubectl and client libraries talk to.
 *
 * One thread runs the store, the controllers and this. The owner of the loop calls serve_run_once every turn; that waits,
 * handles requests, commits the store and sends the answers. Changes that others commit reach watches too. */
#ifndef SERVE_API_SERVE_H
#define SERVE_API_SERVE_H

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "serve/http/routes.h"
#include "serve/http/server.h"
#include "api/store.h"

struct serve;

struct serve_options {
	struct store *store;
	const char
		*directory;  /* certificates, tokens, kubeconfig; made if missing. NULL: no files, only with `plain` */
	const char *address; /* numeric; NULL: 127.0.0.1 */
	uint16_t port;       /* 0: a free one */
	const char *kubeconfig; /* file to write; NULL: "kubeconfig" in the directory */
	bool plain;             /* without TLS: only for tests and loopback */
	bool open;              /* everybody who connects is the administrator: only for tests */
	const char *version;    /* of Platoon, for /version; NULL: unknown */
	struct http_limits limits;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

/* Listens at once. NULL and *error when the address is taken or the directory cannot be used. */
struct serve *serve_create(const struct serve_options *options, struct error *error);
/* Ends everything at once; NULL is a no-op. The store stays. */
void serve_destroy(struct serve *serve);

/* Lets another layer (metrics, dashboard) answer a path and everything below it (see http_routes.h). Those of the
 * Kubernetes API and of health are not to be had. Whoever gets there has shown a token or certificate; the read-only
 * token gets there with GET, HEAD and OPTIONS. `path` is copied. */
void serve_route(struct serve *serve, const char *path, serve_handler *handler, void *context);
/* The same with other rules of access. */
enum serve_access {
	SERVE_OPEN = 1,    /* for everybody, with no token */
	SERVE_ASKING = 2,  /* a POST changes nothing: the read-only token may do it */
	SERVE_BROWSER = 4, /* also without TLS, on the same port, when that is on a loopback address: a browser does not
	                    * know our authority, and would warn of the certificate */
};
void serve_route_with(struct serve *serve, const char *path, unsigned access, serve_handler *handler, void *context);
/* Where a browser finds the paths with SERVE_BROWSER: "http://127.0.0.1:7443", or serve_url elsewhere. */
const char *serve_browser_url(const struct serve *serve);

/* Waits up to timeout_ms (-1: for ever), handles requests, commits the store, sends answers and changes. */
int serve_run_once(struct serve *serve, int timeout_ms, struct error *error);
/* Whether serve_run_once has something of a client to do now: it need not be called, nor the store committed, otherwise. */
bool serve_is_asked(const struct serve *serve);
/* Accepts nobody any more and ends watches; run on until serve_idle. */
void serve_drain(struct serve *serve);
bool serve_idle(const struct serve *serve);

uint16_t serve_port(const struct serve *serve);
const char *serve_url(const struct serve *serve);
const char *serve_token(const struct serve *serve, bool read_only);
const char *serve_kubeconfig(const struct serve *serve); /* path */
struct http_stats serve_stats(const struct serve *serve);

#endif
