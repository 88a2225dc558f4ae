/* Answers in protobuf that arrive in pieces: a list is cut into its items and a watch into its events, as remote_stream.h
 * does with JSON. The API server writes core types in this form with half the work, and reading it costs even less. */
#ifndef REMOTE_WIRE_H
#define REMOTE_WIRE_H

#include "object/wire.h"
#include "remote/stream.h"

/* What to ask for: a server that does not have it answers in JSON. */
#define REMOTE_WIRE_ACCEPT "application/vnd.kubernetes.protobuf,application/json"
#define REMOTE_WIRE_ACCEPT_WATCH "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch"

/* ---- lists ---- */

struct remote_wire_list {   /* zero it */
	struct buffer rest; /* what is there of the next part */
	enum { WIRE_LIST_MARK, WIRE_LIST_OUTSIDE, WIRE_LIST_INSIDE } where;
	uint64_t left; /* of the list, inside of it */
	bool begun;
	char *kind, *version, *continue_; /* NULL: not there */
};

/* As remote_items_feed(). */
int remote_wire_list_feed(struct remote_wire_list *list, const char *bytes, size_t length, size_t largest,
                          remote_piece *receive, void *context, struct error *error);
bool remote_wire_list_is_whole(const struct remote_wire_list *list);
/* The list without its items, as far as it has arrived. The caller destroys it. */
struct doc *remote_wire_list_envelope(const struct remote_wire_list *list);
void remote_wire_list_free(struct remote_wire_list *list);

/* ---- watches ---- */

/* As remote_lines_feed(), for frames of four bytes of length and then an event. */
int remote_wire_frames_feed(struct remote_lines *frames, const char *bytes, size_t length, size_t longest,
                            remote_piece *receive, void *context, struct error *error);

struct remote_wire_event {
	const char *type; /* "ADDED", ...; "" when it is none that we know */
	struct wire_envelope object;
};

/* -1 when it is malformed. */
int remote_wire_event(const char *bytes, size_t length, struct remote_wire_event *event);

/* ---- statuses ---- */

struct remote_wire_status {
	int64_t code;
	struct wire_span message;
};

/* -1 when it is malformed. */
int remote_wire_status(struct wire_span in, struct remote_wire_status *status);

#endif
