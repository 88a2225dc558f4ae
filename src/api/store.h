/* The store: every object of the cluster, behind one interface. It knows metadata, versions, types, owners and
 * finalizers; what a spec means is the business of the layers above, which look at writes through `admit`.
 *
 * One thread. A write takes effect in memory at once and is seen by every get and list that follows: there it is an
 * *assumption* until its authority has answered. The authority of a local store is its file: store_commit, which the loop
 * calls once at the end of each turn, makes everything of that turn durable in one transaction. So answers (of reads too)
 * leave after the commit of their turn; when a commit fails, all writes of the turn are taken back and answered with the
 * error. The authority of a mirror is the server behind it, which answers turns later: what it refuses is taken back, and
 * watches see the object change again. store_is_assumed tells which it is; store_submit tells what the authority said.
 *
 * resourceVersion is one counter for all types. */
#ifndef API_STORE_H
#define API_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "api/object.h"
#include "api/selector.h"
#include "api/status.h"
#include "api/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_MAX_OBJECT ((size_t)3 << 20) /* bytes of JSON of one object */

struct store;

/* ---- opening ---- */

struct store_admission;
enum store_sync { STORE_SYNC_FULL, STORE_SYNC_NORMAL }; /* NORMAL: a power cut may lose the last writes, a kill not */

struct store_options {
	const char *path; /* SQLite file, made if missing; NULL: memory only */
	enum store_sync sync;
	const struct clock_source *clock; /* NULL: the system's */
	uint64_t seed;                    /* of uids and generated names */
	size_t history;                   /* changes kept per type for watches; 0: 8192 */
	size_t history_bytes;             /* and the JSON of their objects together; 0: 64 MiB */
	int64_t event_ttl;                /* seconds an Event is kept; 0: 3600, < 0: for ever */
	bool bare; /* do not create the namespaces default, kube-system, kube-public, kube-node-lease */
	/* Called for each create and update of a main resource or its status (patches and applies count as what they
	 * become), with the object as it would be stored. -1 and *error refuses it. */
	int (*admit)(void *context, struct store_admission *admission, struct store_error *error);
	void *context;
	bool mirror; /* it shows the objects of another server: see below. Implies memory only, `bare`, no chores */
};

struct store_admission {
	const struct store_api *api;   /* of the request */
	const struct val *object;      /* as it would be stored */
	struct store_object *old;      /* NULL for a create */
	const char *namespace_, *name; /* name may be "" at a create with generateName */
	bool status, dry_run;          /* status: only .status differs from old */
	const char *actor;             /* user of the request, "" when unknown */
	struct arena *arena;           /* for the texts of *error and of warnings */
	bool examines;                 /* the caller asks `examine`: it is a store, which has the object afterwards */
	/* Filled by the callback, when it wants to: */
	struct doc *replacement;   /* object with defaults; the store takes it. Metadata identity may not change */
	struct problems *warnings; /* the messages are handed on in store_result; set before the call */
	/* Called with `examine_context` and the object in its last form, before it counts. What is derived from it here is
	 * kept with it, and not derived again by those who read it. -1 and *error refuses it. */
	int (*examine)(void *context, struct store_admission *admission, struct store_object *object,
	               struct store_error *error);
	void *examine_context;
};

/* NULL and *error when the file cannot be opened, is locked by another process or is not ours. */
struct store *store_open(const struct store_options *options, struct error *error);
/* Uncommitted writes are dropped. NULL is a no-op. Open watches and retained objects must be gone. */
void store_close(struct store *store);

/* The newest resourceVersion that is in memory, and the newest that is committed. */
uint64_t store_version(const struct store *store);
uint64_t store_committed(const struct store *store);

/* ---- reading ---- */

/* Borrowed until the next change, NULL when absent. namespace_ is "" for cluster scope. */
struct store_object *store_peek(const struct store *store, const struct store_type *type, const char *namespace_,
                                const char *name);

enum store_subresource {
	STORE_MAIN,
	STORE_STATUS,
	STORE_SCALE,    /* autoscaling/v1 Scale in and out */
	STORE_BINDING,  /* create only, pods */
	STORE_EVICTION, /* create only, pods */
	STORE_FINALIZE, /* update only, namespaces: spec.finalizers */
};

/* The answer of a request. Zero it and set `arena` before; store_result_clear afterwards. */
struct store_result {
	struct arena *arena;         /* owns all texts */
	int code;                    /* 200, 201; of the error when it failed */
	struct store_object *object; /* what to answer with, retained; NULL: a Status (Success or `error`) */
	const char *uid;             /* of the object a Success is about */
	struct store_error error;    /* error.code 0: success */
	const char **warnings;       /* for Warning headers */
	size_t warning_count;
	struct store_object **items; /* STORE_DELETE_COLLECTION: what was deleted, retained */
	size_t item_count;
};
void store_result_clear(struct store_result *result);

/* 0, or -1 with result->error. subresource: STORE_MAIN, STORE_STATUS (the same object) or STORE_SCALE. */
int store_get(struct store *store, const struct store_api *api, enum store_subresource subresource,
              const char *namespace_, const char *name, struct store_result *result);

struct store_list_request {
	const struct store_api *api;
	const char *namespace_;                /* NULL or "": all */
	const struct store_selector *selector; /* NULL: everything */
	size_t limit;                          /* 0: no pages */
	const char *continue_;                 /* NULL or "": first page */
	const char *version;                   /* resourceVersion of the request: NULL, "", "0" or a number */
	bool exact;                            /* resourceVersionMatch=Exact */
};

/* Ordered by namespace and name, as of `version`. All pages of one chain show the same version. */
struct store_list {
	struct store_object **items; /* retained */
	size_t count;
	uint64_t version;
	char *continue_;    /* NULL on the last page */
	uint64_t remaining; /* behind this page; 0 when unknown (with a selector) */
};
/* Errors: 400 bad token, 410 Expired, 504 Timeout (version not reached). */
int store_list(struct store *store, const struct store_list_request *request, struct store_list *list,
               struct arena *arena, struct store_error *error);
void store_list_clear(struct store_list *list);
/* The objects that name `uid` in their ownerReferences, of one type or (NULL) of all: by group, resource, namespace and
 * name. No pages; clear the list afterwards. */
void store_dependents(struct store *store, const char *uid, const struct store_type *type, struct store_list *list);

/* ---- writing ---- */

enum store_verb { STORE_CREATE, STORE_UPDATE, STORE_PATCH, STORE_DELETE, STORE_DELETE_COLLECTION };
enum store_patch { STORE_PATCH_JSON, STORE_PATCH_MERGE, STORE_PATCH_STRATEGIC, STORE_PATCH_APPLY };
enum store_propagation { STORE_PROPAGATE_DEFAULT, STORE_BACKGROUND, STORE_FOREGROUND, STORE_ORPHAN };

struct store_delete {
	bool has_grace;
	int64_t grace; /* seconds */
	enum store_propagation propagation;
	const char *uid, *version; /* preconditions; NULL or "": none */
};
/* Reads a DeleteOptions body (NULL: defaults); dryRun in it sets *dry_run. 400 when it is not one. */
int store_delete_read(const struct val *body, struct arena *arena, struct store_delete *options, bool *dry_run,
                      struct store_error *error);

/* Everything is borrowed for the call only. */
struct store_request {
	enum store_verb verb;
	const struct store_api *api;
	enum store_subresource subresource;
	const char *namespace_; /* of the path; NULL or "" for cluster scope */
	const char *name;       /* of the path; NULL or "" for create and delete collection */
	const struct val *body; /* object, patch, Scale, Binding or Eviction; NULL for deletes */
	enum store_patch patch;
	bool dry_run;
	bool force;                            /* apply: take fields over */
	const char *manager;                   /* fieldManager; required for apply */
	const char *actor;                     /* for admission; NULL or "" when unknown */
	struct store_delete options;           /* deletes */
	const struct store_selector *selector; /* delete collection; NULL: everything in the namespace */
};

/* Carries the request out in memory. 0, or -1 with result->error. What it answered is an assumption: nobody hears what the
 * authority says to it, so this is for writes whose effect is looked at again (status, events). A patch or update that
 * changes nothing answers with the object as it is and makes no event. */
int store_write(struct store *store, const struct store_request *request, struct store_result *result);

/* The same for callers that have to hear what became of it: `done` is called once, from a store_commit, when the authority
 * has answered: in a local store by the next commit, in order of submission; in a mirror when the server has accepted or
 * refused it, in the order of its answers. Never before store_submit returns. `result` is valid during the call: error.code
 * is 0 for what was accepted, else error has the code, the reason and the words of who refused it: the authority, or the
 * store itself when the request cannot be carried out on what it shows.
 *
 * `done` never guesses. A request whose answer was lost may have been carried out; a mirror then asks the server for the
 * object, and what that shows decides. At the time of `done` the store shows no less than what the answer says; in a
 * mirror result->object is NULL. */
typedef void store_done(void *context, const struct store_result *result);
void store_submit(struct store *store, const struct store_request *request, store_done *done, void *context);

/* Whoever gave that context goes away: its `done`s are not called any more. What was submitted is carried out. */
void store_submit_forget(struct store *store, const void *context);

/* Whether what the store shows of an object contains a write that its authority has not answered. */
bool store_is_assumed(const struct store *store, const struct store_type *type, const char *namespace_,
                      const char *name);

/* ---- faults, for simulations ---- */

/* What becomes of one request instead of its answer. */
struct store_fault {
	int code;            /* 0: nothing, else the code of the error: 403, 409, 429, 500, 504 */
	bool after;          /* the request was carried out and only its answer is lost */
	int64_t retry_after; /* seconds, for 429 */
};
/* Asked before every store_write and store_submit (not for the store's own chores) until set to NULL. */
typedef struct store_fault store_fault(void *context, const struct store_request *request);
void store_set_fault(struct store *store, store_fault *fault, void *context);

/* ---- mirrors ---- */

/* A mirror is a store whose objects are another server's. Documents keep the resourceVersion and uid of that server
 * (store_object.version counts our own changes), deletions have no consequences here, and each write that is carried out
 * in memory is handed on to the server. */

struct store_ticket; /* somebody waits for the answer to one write */

struct store_mirror {
	/* Told of each write that changed something or might; `object` is the assumed state, NULL when it is gone. With a
	 * ticket (NULL: nobody waits) it owes one store_mirror_answer or store_mirror_drop, now or later. */
	void (*forward)(void *context, const struct store_request *request, const struct store_object *object,
	                struct store_ticket *ticket);
	bool (*is_assumed)(void *context, const struct store_type *type, const char *namespace_, const char *name);
	bool (*lacks)(void *context, const struct store_type *type, uint64_t since); /* see store_lacks; may be NULL */
	void *context;
};
/* Copied; NULL: writes go nowhere. */
void store_set_mirror(struct store *store, const struct store_mirror *mirror);
/* What the server said to a write: `error` (NULL: it accepted it) is copied. The ticket is used up; `done` comes with the next
 * commit. */
void store_mirror_answer(struct store *store, struct store_ticket *ticket, const struct store_error *error);
/* There will be no answer: the process ends. */
void store_mirror_drop(struct store *store, struct store_ticket *ticket);
/* What the server has; the document is taken. Nothing happens when that is what the mirror shows. */
void store_mirror_put(struct store *store, const struct store_type *type, struct doc *doc);
/* Whether the server has the type: one that it has not is not served here either (`api_count` 0). Objects stay. */
void store_mirror_serve(struct store *store, const struct store_type *type, bool served);
/* What store_lacks asked has been answered: the types get another generation, also where nothing else changed. */
void store_mirror_asked(struct store *store);
void store_mirror_remove(struct store *store, const struct store_type *type, const char *namespace_, const char *name);
/* Whether objects of a kind that is not served were ruled out after this version of the store. The server of a mirror may have
 * got the kind since it was asked: then this asks again and says no, and the types get another generation when the answer is
 * there. A local store knows at once. */
bool store_lacks(const struct store *store, const char *api_version, const char *kind, uint64_t since);

/* Work that follows from earlier writes: dependents of deleted owners, contents of terminating namespaces and of deleted
 * definitions, old events. At most `budget` objects are touched. True when work is left for the next turn. */
bool store_collect_garbage(struct store *store, size_t budget);

/* Something to commit: writes, or submissions whose `done` is due. */
bool store_pending(const struct store *store);
/* Writes the turn to the file, then calls `done`s, then wakes watches. -1 when the file cannot be written: all writes
 * of the turn are undone, every `done` gets 500 InternalError, and the store goes on with what it had. */
int store_commit(struct store *store, struct error *error);
/* As when the process ends before the commit: everything since the last one is undone, and nobody hears that it was
 * carried out. For simulations. */
void store_lose(struct store *store);

/* ---- watching ---- */

struct store_watch;

enum store_event_type { STORE_ADDED, STORE_MODIFIED, STORE_DELETED, STORE_BOOKMARK };

struct store_event {
	enum store_event_type type;
	uint64_t version;
	/* Retained by the watch until its next store_watch_next or close; NULL for bookmarks. An object that was deleted
	 * or left the selection shows its last state with the version of the change. */
	struct store_object *object;
	bool initial_end; /* bookmark behind the initial events: annotation k8s.io/initial-events-end */
};

struct store_watch_request {
	const struct store_api *api;
	const char *namespace_;                /* NULL or "": all */
	const struct store_selector *selector; /* copied; NULL: everything */
	/* NULL, "" and "0": current objects as ADDED, then changes. A number: the changes after it. */
	const char *version;
	/* sendInitialEvents=true: current objects as ADDED, then the initial_end bookmark, then changes; `version` is then
	 * only a lower bound. */
	bool initial;
	/* Called from store_commit when store_watch_next has something again after it said there was nothing; it may not
	 * call the store except for store_watch_next and store_watch_close of this watch. May be NULL. */
	void (*wake)(void *context);
	void *context;
};

/* NULL and *error: 410 Expired, 504 Timeout (version in the future), 400. Watches see committed changes only. */
struct store_watch *store_watch_open(struct store *store, const struct store_watch_request *request,
                                     struct arena *arena, struct store_error *error);
void store_watch_close(struct store_watch *watch); /* NULL is a no-op */
/* 1: *event; 0: nothing until the next wake; -1: over, the changes it would need are no longer kept (410 in *error, may
 * be NULL) or its type is gone. */
int store_watch_next(struct store_watch *watch, struct store_event *event, struct arena *arena,
                     struct store_error *error);
/* A bookmark of how far this watch has read, for the timers of the caller. False while events are waiting. */
bool store_watch_bookmark(struct store_watch *watch, struct store_event *event);
/* Ends the open watches of a type (NULL: of all) as if they had fallen behind: their next store_watch_next is a 410, and
 * the next store_commit wakes them. How many there were. */
size_t store_watch_break(struct store *store, const struct store_type *type);
/* Appends {"type":"ADDED","object":{...}} and a newline; also bookmarks. */
void store_event_write(const struct store_event *event, const struct store_api *api, struct buffer *out);

#endif
