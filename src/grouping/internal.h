/* What the files of the grouping controller share. */
#ifndef GROUPING_INTERNAL_H
#define GROUPING_INTERNAL_H

#include "grouping/grouping.h"
#include "base/hash.h"
#include "loop/reconciler.h"

/* ---- index.c: which pods there are, which group each is in, and what was read to say so ---- */

struct grouping_index;

struct grouping_pod {
	const char *namespace_, *name, *created;
	const char *uid;
	uint64_t seen;  /* the version of the store when it was looked at first */
	bool unserved;  /* an owner is of a kind that is not served */
	uint64_t terms; /* of a pod that stands alone; 0: it does not */
	/* What the last look at it found, as long as its version is this one; 0: it has to be looked at. See
	 * grouping_remember. */
	uint64_t looked;
	enum group_verdict verdict;
	bool may_be_single;
	struct group_terms said;                   /* of a group that is wanted */
	struct grouping_group *group;              /* NULL: none yet */
	struct grouping_pod *previous, *following; /* in the group */
	struct grouping_link *links;               /* to what it depends on */
	UT_hash_handle hh;
	char key[]; /* namespace, '/', name */
};

struct grouping_group {
	const char *namespace_, *name;
	struct grouping_pod *members;
	struct grouping_pod *first; /* oldest member, NULL when it has to be looked for */
	bool unwritten;             /* its only member stands alone: there is no PodGroup, and no mark */
	UT_hash_handle hh;
	char key[];
};

struct grouping_index *grouping_index_create(void);
void grouping_index_destroy(struct grouping_index *index);
/* Makes the pod when it is missing, or when it has another uid than the one of that name. */
struct grouping_pod *grouping_index_add(struct grouping_index *index, const struct store_object *object);
struct grouping_pod *grouping_index_find(struct grouping_index *index, const char *namespace_, const char *name);
void grouping_index_remove(struct grouping_index *index, const char *namespace_, const char *name);
/* Moves the pod to that group; name NULL: to none. */
void grouping_index_join(struct grouping_index *index, struct grouping_pod *pod, const char *namespace_,
                         const char *name);
/* Calls back for every pod, or only for those with an owner of a kind that was not served. */
void grouping_index_each(struct grouping_index *index, bool unserved,
                         void (*visit)(void *context, struct grouping_pod *pod), void *context);
struct grouping_group *grouping_index_group(struct grouping_index *index, const char *namespace_, const char *name);
/* The oldest pod, then by name: it speaks for all when pods of a group disagree. NULL for an empty group. */
struct grouping_pod *grouping_group_first(struct grouping_group *group);

/* An object that was asked for. `version` is 0 when there was none. Without a name it stands for all objects of the
 * kind, with version 0. */
struct grouping_need {
	const char *group, *kind, *namespace_, *name;
	uint64_t version;
};
/* Forgets what the pod depended on. */
void grouping_index_forget(struct grouping_index *index, struct grouping_pod *pod);
void grouping_index_depend(struct grouping_index *index, struct grouping_pod *pod, const struct grouping_need *asked);
/* Calls back for every pod that depends on the object, unless all of them saw exactly this version of it. */
void grouping_index_visit(struct grouping_index *index, const struct grouping_need *now,
                          void (*visit)(void *context, struct grouping_pod *pod), void *context);
/* Calls back for every pod that saw another version of an object of the kind than `version` now gives (0: there is none),
 * and for those that depend on all objects of it. */
void grouping_index_check(struct grouping_index *index, const char *group, const char *kind,
                          uint64_t (*version)(void *context, const char *namespace_, const char *name),
                          void (*visit)(void *context, struct grouping_pod *pod), void *context);

/* ---- source.c: the store as a source of the group library ---- */

struct grouping_source {
	struct group_source source;
	struct store *store;
	struct arena *arena;
	struct store_list pods;    /* of the last next_pod */
	struct store_list objects; /* of the last next_object */
	uint64_t since; /* what is not served has to have been missing later than at this version of the store */
	bool listed;    /* pods were listed, which nobody is told of */
	bool unsure;    /* it is not known yet whether a kind that was asked for is served: its pod has to wait */
	/* Told of every object that is asked for; may be NULL. `type` is NULL when the kind is not served. */
	void (*asked)(void *context, const struct store_type *type, const struct grouping_need *need);
	void *context;
};

/* Results that came from the source are valid until the store changes, and until the close. */
void grouping_source_open(struct grouping_source *source, struct store *store, struct arena *arena, uint64_t since);
void grouping_source_close(struct grouping_source *source);

/* ---- single.c: pods that stand alone, about which nothing is written ---- */

struct grouping_changes;

struct grouping_changes *grouping_changes_create(void);
void grouping_changes_destroy(struct grouping_changes *changes);
/* Whether the pod is such a one. */
bool grouping_is_single(struct store *store, const struct settings *settings, struct grouping_index *index,
                        const struct store_object *pod, const struct group_result *result);
/* Notes the terms of the pod, and that they changed if they were others before. */
void grouping_note_terms(struct grouping_changes *changes, struct grouping_pod *pod, const struct group_result *result);
/* As pod_grouping.changed says. */
bool grouping_next_change(struct grouping_changes *changes, const char **namespace_, const char **name);

/* ---- look.c: what was found out about pods, for as long as it holds ---- */

struct grouping_looks;

struct grouping_looks *grouping_looks_create(struct store *store, struct grouping_index *index); /* both are borrowed */
void grouping_looks_destroy(struct grouping_looks *looks);
/* At each turn. What is remembered of pods holds as long as somebody tells when an object changes that it rests on (`watched`):
 * who is told wants the pod to be looked at again, and sets `looked` to 0. */
void grouping_looks_use(struct grouping_looks *looks, const struct settings *settings, bool watched);
/* Remembers what was found about this version of the pod, unless it rests on what nobody tells of: kinds that are not
 * served, and pods that were listed. */
void grouping_remember(struct grouping_looks *looks, struct grouping_pod *pod, const struct store_object *object,
                       const struct group_result *result, bool listed);
/* The new version of a pod says the same as the old one: what is remembered holds for it too. */
void grouping_says_the_same(struct grouping_index *index, const struct store_object *object,
                            const struct store_object *old);
/* As struct pod_grouping says. */
bool grouping_holds(struct grouping_looks *looks, const struct store_object *pod);
bool grouping_terms(struct grouping_looks *looks, const struct store_object *pod, struct arena *arena,
                    struct group_terms *out);

/* ---- write.c ---- */

/* Why a write did not happen. */
struct grouping_failure {
	const char *message;
	bool refused; /* by a rule: trying again helps only when something else changes */
};

/* Creates the PodGroup or brings it up to date. `existing` may be NULL. 0, or -1 and *failure. */
int grouping_write_group(const struct reconcile *turn, const struct group_result *result,
                         const struct group_options *options, const struct store_object *existing,
                         struct grouping_failure *failure);
/* Marks the pod. */
int grouping_write_pod(const struct reconcile *turn, const struct group_result *result, const struct store_object *pod,
                       struct grouping_failure *failure);
/* Each warning as one event, on the workload or (owner NULL) on the pod; those that were told are not told again. */
void grouping_tell(const struct reconcile *turn, const struct group_result *result, const struct store_object *owner,
                   const struct store_object *pod);
/* All warnings in one text. */
const char *grouping_warnings(const struct reconcile *turn, const struct group_result *result);
/* A pod that cannot be grouped says why in its condition PodScheduled. */
void grouping_mark_refused(const struct reconcile *turn, const struct store_object *pod, const char *message);
/* Takes that back of a pod that stands alone after all: nobody else writes its condition before it is bound. */
void grouping_unmark_refused(const struct reconcile *turn, const struct store_object *pod);

#endif
