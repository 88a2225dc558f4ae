/* Remote: a mirror of the objects of a Kubernetes API server, kept up to date by lists and watches, whose writes go to
 * that server, many at a time and in order for each object.
 *
 * A write is seen in the mirror at once. Until the server answered it is an assumption, and what watches say about that
 * object is held back; then the mirror shows what the server has. A write that the server refuses for good is logged,
 * counted and taken back the same way: whoever watches the mirror sees the object change again and acts anew.
 *
 * Answers are told apart by their codes. 401, 429, 5xx and no answer at all are temporary: the write is sent again, with
 * growing pauses, and after no answer or 5xx it may have been carried out the first time. Whoever submitted a write that
 * was not accepted in the end is answered when the server has been asked for the object: a binding is accepted if the pod is
 * on that node, a deletion if the object is gone or going, whatever the last answer was. */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/log.h"
#include "remote/client.h"
#include "api/store.h"

struct remote;

struct remote_follow { /* a type to mirror */
	const char *group, *version, *resource;
	bool optional;          /* a server that does not have it is no reason to wait */
	const char *namespace_; /* only there; NULL: everywhere */
	const char *labels;     /* only those; a selector, NULL: all */
	const char *name;       /* only this one; NULL: all. Goes beside another follow of the same type */
	bool metadata;          /* only who and where they are: nothing else is asked for, nor kept */
	const char *kind;       /* of a namespaced type that is not built in; NULL: it is */
	/* The row of a kind, NULL: none. Then its other versions are tried, too, where the server does not have `version`,
	 * and a workload that the server has in none is not served by the mirror either. */
	const struct kind_row *row;
};

struct remote_options {
	const struct remote_access *access; /* must outlive the remote */
	const struct clock_source *clock;   /* NULL: the system's */
	const struct logger *logger;        /* NULL: silent */
	const struct remote_follow *follow;
	size_t follow_count;
	size_t writes;    /* in flight at most; 0: 64 */
	bool whole;       /* also pods and nodes are kept with everything they have */
	bool config_maps; /* pods are kept with what says which ConfigMaps they need */
	size_t page;      /* objects per list request; 0: all of them */
	uint64_t seed;    /* of the jitter between attempts */
	/* The longest that a write is left alone after refusals in a row; 0: a minute. */
	int64_t refused_pause;
	/* What the mirror's own times come from, NULL: `clock`. */
	const struct clock_source *mirror_clock;
	/* Told of each write that the server refused for good, before the mirror takes it back. May be NULL. */
	void (*refused)(void *context, const char *path, int code, const char *message);
	void *context;
};

struct remote_counts {
	uint64_t lists, watches, events; /* lists begun, watches opened, events received */
	uint64_t writes, retries, refused;
	uint64_t fenced;  /* not sent, because this replica had ceased to be the leader; among the refused */
	uint64_t dropped; /* events that were not sent, because too many were waiting */
	uint64_t errors;  /* answers that were no success, and calls without an answer */
	size_t waiting;   /* writes that the server has not answered */
};

/* Who may write. Both NULL: everybody, as without a lease. */
struct remote_fence {
	uint64_t (*term)(void *context); /* of what is submitted now; 0: it is no leader's, and always goes */
	bool (*holds)(void *context, uint64_t term); /* whether what was submitted in that term may still be sent */
	void *context;
};

struct remote *remote_create(const struct remote_options *options, struct error *error);
/* Writes that were not answered are given up. NULL is a no-op. */
void remote_destroy(struct remote *remote);
/* From now on. What may not be sent counts as refused with 409, and the mirror takes it back. Leases always go. */
void remote_set_fence(struct remote *remote, const struct remote_fence *fence);
/* Ends all connections at once; they are made anew. For the handler of SIGCONT: a process that was stopped when a request was
 * about to leave it, after its fence was asked, would send that first of all. */
void remote_cut(struct remote *remote);
struct store *remote_store(const struct remote *remote);
/* Moves data for at most timeout_ms (also until extra_fd has something, -1: none) and commits the mirror. */
void remote_run(struct remote *remote, int timeout_ms, int extra_fd);
/* Of the follows with a kind, those that there are from now on (texts are copied): others end, and what they showed goes; new
 * ones begin, and nothing waits for them. Those that the server does not have begin when it does. */
void remote_follow_kinds(struct remote *remote, const struct remote_follow *kinds, size_t count);
/* Whether every type was listed once, or is optional and the server does not have it. */
bool remote_synced(const struct remote *remote);
/* What keeps it from being so, or what went wrong last: "" when nothing does. Borrowed until the next run. */
const char *remote_problem(const struct remote *remote);
/* Whether calls find no server, or one that cannot answer, and no call has been answered since. */
bool remote_away(const struct remote *remote);
/* Whether all that the mirror shows is the server's word: nothing is assumed. */
bool remote_settled(const struct remote *remote);
struct remote_counts remote_counts(const struct remote *remote);

#endif
