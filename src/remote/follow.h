/* What the files that follow the objects of a type share: remote_follow.c has the turns and pauses, remote_list.c and
 * remote_watch.c the requests and what they bring. */
#ifndef REMOTE_FOLLOW_H
#define REMOTE_FOLLOW_H

#include "object/copy_wire.h"
#include "remote/internal.h"
#include "remote/stream.h"
#include "remote/wire.h"

#define FOLLOW_OBJECT_MAX_BYTES ((size_t)64 << 20)

enum follow_state { FOLLOW_PAUSED, FOLLOW_LISTING, FOLLOW_WATCHING };

enum follow_form { FORM_UNKNOWN, FORM_JSON, FORM_WIRE };

struct follow {
	struct remote *remote;
	const struct store_api *api;
	const struct remote_follow *wanted;
	const struct store_api *versions; /* of the type, all */
	size_t version_count, tried;      /* tried: those that the server did not have */
	enum follow_state state;
	struct remote_request *request;
	int64_t due; /* while paused */
	unsigned failures;
	bool synced;             /* listed at least once */
	char *version;           /* to watch from; NULL: to be listed */
	char *continue_;         /* next page */
	struct interner *listed; /* namespace/name of what the list has so far; NULL: the mirror had nothing before */
	struct wire_plan *plan;  /* for objects that come as protobuf; NULL: they are to come as JSON */
	enum follow_form form;   /* of the answer on its way */
	bool spoilt;             /* protobuf was not understood: JSON from now on */
	struct remote_items items;
	struct remote_wire_list wire_list;
	struct remote_lines lines; /* or frames */
	struct error problem;      /* with what the answer on its way says */
	bool checked;              /* it is a list of this kind */
	bool expired;              /* the watch said so */
	unsigned expiries;         /* watches in a row that said nothing else */
	bool heard;                /* the watch said something */
	int64_t opened;            /* when the watch was */
	uint64_t began;            /* burials before the list */
	bool unreachable;          /* why it is paused: there was no server, or none that could answer */
	bool told_missing;         /* that the server does not have it */
	bool absent;               /* so it said last, of all versions */
	bool awaited;              /* somebody wants to hear whether it still says so */
	uint64_t asking,
		asked; /* versions of the mirror when it was asked: in this attempt, for the answer that there is */
	int64_t told;  /* when a problem with it last was; 0: never */
};

/* ---- remote_follow.c ---- */
/* What is to be followed from the next turn on; `wanted` is borrowed. */
void follow_open(struct remote *remote, struct follow *follow, const struct remote_follow *wanted);
/* Whether one of the first `count` follows a kind of the registry that a configuration names once more. */
bool follow_is_known(const struct remote *remote, size_t count, const struct remote_follow *kind);
/* Frees what it holds, not what the mirror shows. No request may be on its way. */
void follow_close(struct follow *follow);
/* The path of the collection, to which parameters are to be added. */
void follow_path(const struct follow *follow, struct buffer *out);
void follow_add_encoded(struct buffer *out, const char *text);
void follow_begin_answer(struct follow *follow, enum follow_state state);
/* What the mirror keeps of an object. */
struct doc *follow_keep(const struct follow *follow, const struct val *object);
/* Whether an object of the type is named by another follow, which brings all of it. */
bool follow_is_named_elsewhere(const struct follow *follow, const char *namespace_, const char *name);
/* Whether the mirror has an object that this follow no longer sees though it is there: its labels changed, and another follow
 * was faster to bring it. */
bool follow_has_lost(const struct follow *follow, const char *namespace_, const char *name);
/* What is asked for, of a list or of a watch; NULL: JSON. */
const char *follow_accept(const struct follow *follow, bool watch);
/* Whether protobuf is asked for. */
bool follow_wants_wire(const struct follow *follow);
/* What an answer consists of, seen from its beginning. */
enum follow_form follow_form_of(const struct follow *follow, const char *bytes);
/* It ended well: what is next is so at the next turn. */
void follow_go_on(struct follow *follow);
/* It did not: what the answer says, unless something was wrong with that. */
void follow_pause(struct follow *follow, const struct remote_answer *answer);
void follow_succeed(struct follow *follow);

/* ---- remote_list.c ---- */
void list_start(struct follow *follow);
void list_forget(struct follow *follow);

/* ---- remote_watch.c ---- */
void watch_start(struct follow *follow);

#endif
