/* The dashboard over HTTP: the files of the page, the state it shows and a stream of changes of it, and what-if.
 *
 * It knows nothing of what the records mean; whoever owns the loop feeds them. The files of the page are for everybody,
 * what is below DASHBOARD_DATA is for those with a token. */
#ifndef SERVE_DASHBOARD_DASHBOARD_H
#define SERVE_DASHBOARD_DASHBOARD_H

#include "base/clock.h"
#include "serve/http/auth.h"
#include "serve/dashboard/feed.h"
#include "serve/http/http.h"

#define DASHBOARD_PATH "/dashboard"
#define DASHBOARD_DATA "/dashboard/data"
#define DASHBOARD_MOST_READERS 256
#define DASHBOARD_MOST_MANIFEST ((size_t)1 << 20) /* bytes of what is asked for */

struct dashboard;

struct dashboard_options {
	const struct clock_source *clock; /* NULL: the system's */
	const struct auth *auth;          /* who may see data; borrowed. NULL: whoever hands requests over has looked */
	struct feed_options feed;         /* epoch NULL: from the clock */
	/* Appends a JSON document: where the objects of the manifest would go. Called in a copy of the process (see
	 * dashboard_ask.h). NULL: it is not offered. */
	void (*what_if)(void *context, const char *manifest, size_t length, struct buffer *out);
	void *context;
};

struct dashboard *dashboard_create(const struct dashboard_options *options);
void dashboard_destroy(struct dashboard *dashboard); /* NULL is a no-op; before the HTTP server of its streams goes */
struct feed *dashboard_feed(struct dashboard *dashboard);
/* Once per turn of the loop, after the feed was brought up to date. */
void dashboard_step(struct dashboard *dashboard);
/* Answers everything at DASHBOARD_PATH and below; the context is the dashboard. */
void dashboard_handle(void *context, struct http_request *request, struct http_response *response);
size_t dashboard_readers(const struct dashboard *dashboard);

#endif
