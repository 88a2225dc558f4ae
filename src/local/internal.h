/* What the files of the local store share. Nobody outside this folder includes it. */
#ifndef LOCAL_INTERNAL_H
#define LOCAL_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
#include "local/history.h"
#include "local/index.h"
#include "api/object_make.h"
#include "api/store.h"
#include "object/tree.h"

#define CLEANUP "customresourcecleanup." KINDS_DEFINITIONS /* finalizer of definitions */
#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"

struct by_value;
struct disk;
struct owner;

struct watch_key;

/* A field that keys of watches name, and how many do. */
struct watch_path {
	char *path;
	size_t keys;
};

/* All there is about one type. `type` comes first: a const struct store_type of ours is a bucket. */
struct bucket {
	struct store_type type;
	const struct kind_row *builtin;  /* NULL for custom types */
	struct store_object *definition; /* the CRD it comes from, retained */
	struct index index;
	struct by_value *by_value; /* the same by the value of the field that the builtin names */
	bool by_value_used;        /* somebody asked for such a value; before that it is not kept */
	struct history history;
	struct store_watch *watches;  /* those without a key */
	struct watch_key *watch_keys; /* those that ask for one value of one field, by that value */
	VEC(struct watch_path) watch_paths;
	struct buffer watch_text; /* for looking keys up */
	uint64_t roused;          /* sequence up to which watches were woken */
	int64_t id;               /* in the file; 0: not there yet */
	bool known_to_disk;
	bool floor_moved;    /* the file has an older floor */
	uint64_t disk_floor; /* which the file has */
	bool adding;         /* this transaction adds it to the file */
	size_t unserved;     /* APIs that the server of a mirror does not have just now; 0: it has what there is */
};

/* One write of the turn, for the file and for taking it back. The change itself is in the history of the bucket. */
struct pending {
	struct bucket *bucket;
	uint64_t version, prior;        /* prior: version of the row this one replaces, 0 for a create */
	struct store_object *old, *now; /* borrowed from the history */
};

/* A write of a mirror whose `done` waits for the server. */
struct store_ticket {
	store_done *done;
	void *context;
	UT_hash_handle hh; /* by context; several may have the same */
};

struct submission { /* that was answered */
	store_done *done;
	void *context;
	struct arena *arena; /* of the texts of the result; NULL when it has none but a uid, as nearly all */
	struct store_result result;
};

/* An object whose deletion waits for something that garbage collection does. Names, not pointers: it may be gone by then. */
struct garbage {
	struct bucket *bucket;
	char *namespace_, *name;
};

struct store {
	struct store_options options;
	char *path;
	const struct clock_source *clock;
	uint64_t random;
	uint64_t version, committed;
	VEC(struct bucket *) buckets;
	struct bucket *pods, *namespaces, *definitions, *events, *budgets;
	const struct store_api **apis; /* sorted, for discovery */
	size_t api_count;
	uint64_t generation;         /* of the types */
	VEC(struct arena *) retired; /* memory of definitions that were replaced */
	VEC(struct store_object *) retired_objects;
	VEC(struct pending) batch;
	VEC(struct submission) submissions;
	struct store_ticket *tickets;
	struct arena
		*scratch;   /* for carrying submissions out; a result with more than a uid keeps it. NULL: not there */
	struct arena *uids; /* of the results of submissions; NULL: there are none */
	struct string_pool *strings;      /* of all documents that are stored */
	VEC(uint64_t) old_rows;           /* rows that the next commit removes */
	VEC(struct store_watch *) roused; /* watches to be woken */
	struct store_watch *waiting;      /* watches that take their first look after the next commit */
	struct owner *owners;             /* uid -> objects that name it as owner */
	VEC(char *) gone;                 /* uids of removed owners whose dependents are to be looked at */
	VEC(struct garbage) garbage;      /* objects in deletion with work to do */
	int64_t events_swept;             /* seconds: when old events were last looked for */
	struct {
		char *namespace_, *name; /* the event to go on with; NULL: none is looked for now */
	} sweep;
	store_fault *fault; /* NULL: none */
	void *fault_context;
	struct store_mirror mirror; /* without forward: none */
	bool broke_watches;         /* the next commit wakes them */
	struct disk *disk;          /* NULL: memory only */
};

static inline struct bucket *bucket_of(const struct store_type *type)
{
	return (struct bucket *)(uintptr_t)type;
}

/* ---- registry.c ---- */
void registry_init(struct store *store);
void registry_free(struct store *store);
/* Made when missing, without APIs. */
struct bucket *registry_bucket(struct store *store, const char *group, const char *resource);
/* The type that a definition is about, made when missing. */
struct bucket *registry_defined_by(struct store *store, const struct store_object *definition);
/* A definition was written or (now NULL) removed. */
void registry_follow(struct store *store, struct store_object *old, struct store_object *now);
/* What store_mirror_serve says. */
void registry_serve(struct store *store, struct bucket *bucket, bool served);
bool registry_is_definition(const struct store *store, const struct bucket *bucket);

/* ---- change.c: the one place where memory changes ---- */
/* Makes the object that `root` is to be as the next change; fills in resourceVersion. NULL and *error when it cannot be
 * stored. It counts when it is put, before any other change. */
struct store_object *change_make(struct store *store, struct bucket *bucket, struct tree *root, struct arena *arena,
                                 struct store_error *error);
/* Stores it as the new state of `old` (NULL: a create). Takes the reference: it is borrowed from the index then. */
void change_put(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now);
void change_remove(struct store *store, struct store_object *old);
/* Puts an object of a mirror as it is. Takes the reference. */
void change_mirror(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now);
/* Puts a loaded row into memory without making it a write. */
void change_load(struct store *store, struct bucket *bucket, struct store_object *old, struct store_object *now,
                 uint64_t version, bool in_history, size_t size);
/* Takes back everything since the last commit. */
void change_undo(struct store *store);
uint64_t store_random(struct store *store);

/* ---- by_value.c ---- */
void by_value_follow(struct bucket *bucket, struct store_object *old, struct store_object *now);
/* Where to look for what a selector (NULL: everything) selects: those with the value that it asks for, or all. */
const struct index *by_value_index(struct bucket *bucket, const struct store_selector *selector);
void by_value_free(struct bucket *bucket);

/* ---- owners.c ---- */
void owners_follow(struct store *store, struct store_object *old, struct store_object *now);
bool owners_any(const struct store *store, const char *uid);
void owners_free(struct store *store);

/* ---- read.c ---- */
/* A resourceVersion of a request; 0 for none. 400, or 504 when it is not reached yet. */
int read_version(struct store *store, const char *text, uint64_t *version, struct arena *arena,
                 struct store_error *error);

/* ---- watch.c ---- */
/* After a commit: changes become visible, then idle watches are woken. */
void watch_reveal(struct store *store);
void watch_wake(struct store *store);
/* After writes were taken back. */
void watch_undo(struct bucket *bucket);

/* ---- remove.c ---- */
/* Carries out a delete whose preconditions hold. *left: the object as it now is, in deletion, or as it last was when it
 * is gone; retained. */
int remove_object(struct store *store, struct store_object *object, const struct store_delete *options, bool dry_run,
                  struct store_object **left, struct arena *arena, struct store_error *error);
int write_delete(struct store *store, const struct store_request *request, struct store_result *result);
int write_delete_collection(struct store *store, const struct store_request *request, struct store_result *result);
bool object_has_finalizer(const struct store_object *object, const char *name);

/* ---- submit.c ---- */
/* Calls the `done`s that are due, with `failure` (NULL: none) instead of success. */
void submit_acknowledge(struct store *store, const struct error *failure);
void submit_free(struct store *store);

/* ---- write.c ---- */
/* store_write; of what is handed on to another server the answer goes to the ticket (NULL: to nobody). *forwarded (NULL: not
 * asked) tells whether it was handed on, with the ticket. */
int write_with_ticket(struct store *store, const struct store_request *request, struct store_result *result,
                      struct store_ticket *ticket, bool *forwarded);

/* ---- draft.c ---- */
/* Stores `root` as the new state of `old` without asking anybody; gone when its last finalizer went. */
int write_internal(struct store *store, struct arena *arena, struct store_object *old, struct tree *root,
                   struct store_error *error);

/* ---- garbage.c ---- */
/* Looks at a new state for work that follows from it. */
void garbage_follow(struct store *store, struct store_object *old, struct store_object *now);
void garbage_after_load(struct store *store);
void garbage_free(struct store *store);

/* ---- disk.c ---- */
struct disk *disk_open(struct store *store, struct error *error);
void disk_close(struct disk *disk);
int disk_commit(struct store *store, struct error *error);

#endif
