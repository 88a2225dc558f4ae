/* What the files of the remote share. */
#ifndef REMOTE_INTERNAL_H
#define REMOTE_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
#include "object/copy_wire.h"
#include "remote/remote.h"

#define REMOTE_PAUSE_TELLING (60 * CLOCK_SECOND) /* of the same problem */

struct follow;

/* What goes first when there are more writes than slots: decisions before what is told about them. */
enum rank { RANK_FIRST, RANK_USUAL, RANK_STATUS, RANK_LAST, RANKS };

/* A write that was not accepted: what the server has decides whether it was carried out after all. */
struct claim {
	bool binding, deletion;
	char *uid, *node; /* as in struct outgoing */
	int code;
	int64_t retry_after;
	char *reason, *message;
};

/* One request of a write on its way. */
struct outgoing {
	struct outgoing *next;
	struct assumed *about;
	const char *method; /* static */
	char *path, *body;
	const char *content_type; /* static; NULL: JSON */
	bool binding;
	bool terse;                  /* the answer is a Status or a Scale, not the object */
	struct store_ticket *ticket; /* who waits for the answer; NULL: nobody */
	struct claim *claim;         /* of a GET: what the ticket asked for and was not given; NULL: nothing */
	char *uid, *node;            /* with a ticket: of the object that is bound or deleted; where to. NULL: any */
	enum rank rank;
	bool foreign;                  /* in another version than the mirror's, which looks different */
	struct pending_create *create; /* what it is to create, or (a GET) was to; NULL: nothing */
	unsigned holds;                /* creates that it waits for */
	bool is_moot;                  /* not sent: what it names as its owner, or is about, was not created */
	uint64_t term;                 /* of the leader that decided it; 0: of none */
	unsigned attempts;
	bool unreachable; /* why it is attempted again: nobody answered */
	int64_t due;      /* not before */
	char *refused;    /* of a GET that waits: the write that was refused; NULL: none */
	int64_t queued;   /* since when it waits for a slot */
};

/* An object with writes that the server has not answered. */
struct assumed {
	struct remote *remote;
	const struct store_type *type;
	char *namespace_, *name; /* behind the key */
	struct outgoing *first, *last;
	struct outgoing *current;                  /* on its way, or waiting for a slot or the next attempt */
	bool followed;                             /* the mirror shows it */
	bool awaits_node;                          /* bound: what watches say before they know that is older */
	int64_t awaits_end;                        /* then the server is asked */
	struct assumed *line_previous, *line_next; /* of those that await it */
	unsigned creates;                          /* that the server has not answered */
	struct doc *server;                        /* newest state heard of, NULL: none */
	bool gone;                                 /* newest state heard of: there is none */
	char *gone_uid;                            /* what a watch said to be gone; NULL: nothing */
	UT_hash_handle hh;
	char *key;
};

/* An object that has an assumed uid, by which it is found. */
struct pending_create {
	struct assumed *about;
	char *uid;
	bool may_be_ours;               /* what the server has of that name: it was sent and not refused */
	VEC(struct outgoing *) waiting; /* they name it */
	UT_hash_handle hh;
};

/* The uid of an object of which the server said that it is gone, until its watch says so too. */
struct tombstone {
	const struct store_type *type;
	uint64_t number; /* of the burial */
	UT_hash_handle hh;
	char uid[];
};

/* An object that the mirror shows although it is not followed. */
struct told {
	const struct store_type *type; /* NULL: none */
	char *namespace_, *name;
};
#define REMOTE_MOST_TOLD 4096
#define REMOTE_MOST_KINDS 256 /* that may be followed later */

struct remote {
	struct remote_options options;
	const struct clock_source *clock;
	struct remote_fence fence;
	struct remote_client *client;
	struct store *store;
	struct follow *follows;
	size_t follow_room;  /* for so many */
	struct arena *kinds; /* texts of those that came later; NULL: none did */
	struct assumed *assumed;
	struct assumed *awaiting; /* a node, in the order of their ends */
	struct pending_create *pending_creates;
	struct tombstone *tombstones;
	struct refused_write *refused_writes;
	uint64_t burials;
	struct copier *copier;
	struct {
		struct outgoing *first, *last;
	} ready[RANKS]; /* each in order, to be sent when there is a slot */
	unsigned turn;  /* of the slots: some are for the lower ranks */
	VEC(struct outgoing *) delayed;
	size_t in_flight, last_in_flight;   /* the second: of the last rank */
	struct told told[REMOTE_MOST_TOLD]; /* a ring */
	size_t told_next;
	size_t courtesies; /* writes of the last rank that are not answered */
	uint64_t random;
	struct remote_counts counts;
	char problem[256];
	char last_problem[256]; /* that was logged, and when */
	int64_t last_problem_told;
	int64_t warning_told; /* that credentials cannot be renewed */
	bool away;            /* the server could not be reached by somebody */
	unsigned probes;
	int64_t probe_due;
	int64_t now;
};

/* A pause before the next attempt, with jitter: between half and all of base * 2^attempts, at most `longest`. */
int64_t remote_pause(struct remote *remote, int64_t base, unsigned attempts, int64_t longest);
/* Appends the path of a collection; namespace "": of all of them, or of cluster scope. */
void remote_path(const struct store_api *api, const char *namespace_, struct buffer *out);
/* fence.c. The term of a write about the object that is submitted now; whether a struct outgoing may go. */
uint64_t fence_term(const struct assumed *about);
bool fence_lets(void *outgoing);
/* What is to be sent, and what is sent next: of the highest rank that has something; now and then of a lower one, so that
 * nobody waits for ever. NULL: nothing may be sent now. */
void ranks_add(struct remote *remote, struct outgoing *outgoing);
struct outgoing *ranks_take(struct remote *remote);
/* NULL when that object is not known to be gone. */
struct tombstone *tombstone_find(const struct remote *remote, const char *uid);
void tombstone_add(struct remote *remote, const struct store_type *type, const char *uid); /* "" is a no-op */
void tombstone_remove(struct remote *remote, struct tombstone *stone);                     /* NULL is a no-op */
/* A list of the type that began after so many burials is through: its watch will not tell of those. */
void tombstones_listed(struct remote *remote, const struct store_type *type, uint64_t began);
void tombstones_free(struct remote *remote);
/* A write was refused: how long to leave it alone, longer each time in a row. `usual`: because somebody else wrote. */
int64_t refused_pause(struct remote *remote, const struct outgoing *outgoing, bool usual);
/* A write was accepted. */
void refused_forget(struct remote *remote, const struct outgoing *outgoing);
void refused_free(struct remote *remote);
/* How long the server asks to wait; 0 when it does not. Nobody is trusted to ask for hours. */
int64_t remote_asked_pause(const struct remote_answer *answer);

/* ---- remote_trim.c ---- */
/* How much of objects the mirror keeps: what somebody here reads; all but the server's book-keeping; of pods also which
 * ConfigMaps they need; only who and where they are. */
enum remote_keep { KEEP_READ, KEEP_ALL, KEEP_CONFIG_MAPS, KEEP_NAMES };
/* A document of its own. */
struct doc *remote_trim(struct copier *copier, const struct val *object, const struct store_api *api,
                        enum remote_keep keep);
/* The plan for objects that come as protobuf; NULL: for kinds that are kept whole there is none. */
struct wire_plan *remote_trim_plan(const struct store_api *api, enum remote_keep keep);
/* As remote_trim(), with such a plan. NULL and *error when it is malformed. */
struct doc *remote_trim_wire(struct copier *copier, const struct wire_plan *plan, struct wire_span in,
                             const struct store_api *api, struct error *error);

/* How much of objects is kept that are not followed for their names alone. */
enum remote_keep follow_keeps(const struct remote *remote);

/* ---- remote_times.c ---- */
/* Puts what the server has into the mirror; the document is taken. With a clock of the mirror's own the times that the
 * mirror gave the object stay. */
void times_put(struct remote *remote, const struct store_type *type, struct doc *doc);

/* ---- remote_follow.c ---- */
void follow_begin(struct remote *remote);
void follow_end(struct remote *remote);
/* Starts what is due; when the next thing is. */
int64_t follow_step(struct remote *remote);
/* What store_lacks asks. */
bool follow_lacks(void *context, const struct store_type *type, uint64_t since);
/* The server answers again. */
void follow_back(struct remote *remote);
bool follow_synced(const struct remote *remote);
bool follow_has(const struct remote *remote, const struct store_type *type);
/* The version of the type that the mirror shows; the preferred one when it shows none. */
const struct store_api *follow_api(const struct remote *remote, const struct store_type *type);

/* ---- remote_forward.c ---- */
void write_forward(void *context, const struct store_request *request, const struct store_object *object,
                   struct store_ticket *ticket);

/* ---- pending_creates.c ---- */
/* The write creates the object, which has this uid in the mirror. */
void pending_creates_add(struct outgoing *outgoing, const char *uid);
/* Makes the write wait for what the object names. */
void pending_creates_hold(struct outgoing *outgoing, const struct store_object *object);
/* If it is a create: it went out, and is not known to be refused. No-op for the GET that asks after one. */
void pending_creates_sent(const struct outgoing *outgoing);
/* The server has something of that name with this uid, or ("") nothing. False: not what was to be created. */
bool pending_creates_end(struct outgoing *outgoing, const char *uid);
void pending_creates_free(struct remote *remote);

/* ---- claim.c: who waits for the answer to a write ---- */
/* Remembers why the write is not accepted; takes its ticket over into the GET. */
void claim_keep(struct outgoing *from, struct outgoing *get, const struct store_error *error);
/* The same, of an answer that is no success. */
void claim_move(struct outgoing *from, struct outgoing *get, const struct remote_answer *answer);
/* The write was accepted. No-op without a ticket. */
void claim_accept(struct outgoing *outgoing);
/* The server has this (NULL: nothing of that name) or, when `known` is false, does not tell. Whether the write
 * was carried out; true without a claim. */
bool claim_settle(struct outgoing *get, const struct val *root, bool known);
/* Refused without asking the server. No-op without a ticket. */
void claim_refuse(struct remote *remote, struct store_ticket *ticket, int code, const char *reason,
                  const char *message);
/* The process ends. */
void claim_free(struct outgoing *outgoing);

/* ---- remote_write.c ---- */
/* Found or made. */
struct assumed *write_about(struct remote *remote, const struct store_type *type, const char *namespace_,
                            const char *name);
char *write_path(const struct assumed *assumed, const struct store_api *api, const char *subresource, bool collection);
void write_add(struct assumed *assumed, struct outgoing *outgoing);
/* Sends the next write of the object, when none is on its way and nothing holds it. */
void write_advance(struct assumed *assumed);
/* What the server has of an object: from a watch (`began` is -1), or from a list, which is right even when it looks older;
 * but for what was buried after it `began`, which is a number of burials. The document is taken. */
void write_feed(struct remote *remote, const struct store_type *type, const char *namespace_, const char *name,
                struct doc *doc, int64_t began);
/* A watch says that the object with this uid is gone. */
void write_feed_gone(struct remote *remote, const struct store_type *type, const char *namespace_, const char *name,
                     const char *uid);
/* Whether there is something the server has not heard of. */
bool write_is_assumed(const struct remote *remote, const struct store_type *type, const char *namespace_,
                      const char *name);
/* The server answers again: what waits for another attempt has it within `pause`. */
void write_back(struct remote *remote, int64_t pause);
int64_t write_step(struct remote *remote);
void write_end(struct remote *remote);

#endif
