/* What went wrong with a request, in the words of the Kubernetes API: enough to print a Status object.
 * All texts belong to the arena that the call was given. */
#ifndef API_STATUS_H
#define API_STATUS_H

#include "base/arena.h"
#include "base/problems.h"
#include "base/strings.h"

#include <stddef.h>
#include <stdint.h>

struct store_cause {
	const char *reason; /* "FieldValueInvalid", "FieldManagerConflict", ...; "" when there is none */
	const char *message;
	const char *field; /* "spec.replicas"; "" when it is about the whole object */
};

/* code 0: no error. Every string is "" rather than NULL once code is set. */
struct store_error {
	int code;           /* HTTP: 400 404 405 409 410 413 415 422 429 500 504 */
	const char *reason; /* BadRequest NotFound MethodNotAllowed AlreadyExists Conflict Expired RequestEntityTooLarge
	                      * UnsupportedMediaType Invalid TooManyRequests InternalError Timeout */
	const char *message;
	const char *name, *group, *kind,
		*uid;          /* details; kind is the resource ("pods"), for Invalid the kind ("Pod") */
	const char *continue_; /* 410 of a list: a token that goes on without consistency, or "" */
	const struct store_cause *causes;
	size_t cause_count;
	int64_t retry_after; /* seconds for Retry-After; 0 when unset */
};

/* Fills *error and returns -1. */
int store_fail(struct arena *arena, struct store_error *error, int code, const char *reason, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* 422 Invalid with one cause per error in `problems` (warnings are left out); the message lists them all. */
int store_fail_problems(struct arena *arena, struct store_error *error, const char *kind, const char *group,
                        const char *name, const struct problems *problems);
/* Appends {"kind":"Status","apiVersion":"v1",...,"status":"Failure",...} without a newline. */
void store_error_write(const struct store_error *error, struct buffer *out);

#endif
