/* A question that takes its time, answered by a copy of this process: the loop goes on meanwhile, and whatever becomes of
 * the copy, nothing here is changed by it. */
#ifndef SERVE_DASHBOARD_ASK_H
#define SERVE_DASHBOARD_ASK_H

#include "base/clock.h"
#include "serve/http/http.h"

struct asks;

/* Appends the answer, a JSON document. Called in the copy. */
typedef void ask_function(void *context, const char *text, size_t length, struct buffer *out);

struct asks_options {
	const struct clock_source *clock;
	ask_function *function;
	void *context;
	size_t most;        /* at a time; 0: 2 */
	int64_t longest_ns; /* then it is given up; 0: 30 s */
};

struct asks *asks_create(const struct asks_options *options);
void asks_destroy(struct asks *asks); /* NULL is a no-op. Ends the copies */
/* Answers the request, now or later: 200 with the document, or 503 when too many are being answered. */
void asks_begin(struct asks *asks, const struct http_request *request, struct http_response *response);

#endif
