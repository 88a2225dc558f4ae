/* Waiting for the connections of libcurl: only those that have something are looked at, however many there are. Most belong to
 * watches, which are silent nearly always. */
#ifndef REMOTE_SOCKETS_H
#define REMOTE_SOCKETS_H

#include "base/error.h"

#include <curl/curl.h>
#include <stddef.h>

struct remote_sockets;

/* Serves `multi` from now on; curl_multi_perform() and its like must not be used with it any more. NULL and *error
 * when the system gives us no descriptor. */
struct remote_sockets *remote_sockets_create(CURLM *multi, struct error *error);
/* After its `multi`. NULL is a no-op. */
void remote_sockets_destroy(struct remote_sockets *sockets);
/* Makes the sockets of the request's connection some that can be cut. */
void remote_sockets_own(struct remote_sockets *sockets, CURL *easy);
/* Ends all connections at once: nothing is sent on them any more, and libcurl notices. For a signal handler too. */
void remote_sockets_cut(struct remote_sockets *sockets);
/* Waits at most timeout_ms until there is something to do or to read from one of `others`, and lets libcurl do it. A request
 * that was added is something to do. */
void remote_sockets_run(struct remote_sockets *sockets, int timeout_ms, const int *others, size_t count);

#endif
