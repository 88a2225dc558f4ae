/* What was read from the objects of a group in its last turn, by resourceVersion: in the next turn only what has changed
 * is read again. A cache: losing it costs time and nothing else. Private to rbg*.c. */
#ifndef RBG_MEMO_H
#define RBG_MEMO_H

#include "api/store.h"

struct rbg_turn;

enum rbg_fact_flag {
	RBG_FACT_READY = 1,
	RBG_FACT_SCHEDULED = 2,
	RBG_FACT_TERMINATING = 4,
	RBG_FACT_GATED = 8,
	RBG_FACT_OVER = 16,
	RBG_FACT_RESTARTED = 32,
	RBG_FACT_CHANGING = 64,
	RBG_FACT_MARKED = 128,    /* not ready because its images are about to change, or were changed */
	RBG_FACT_UNMARKED = 256,  /* waits to be told that nothing is about to change */
	RBG_FACT_MINOR = 512,     /* its end concerns nobody but itself */
	RBG_FACT_SUBGROUP = 1024, /* its PodGroup has others beside its instance */
};

/* Of one object that the group owns. */
struct rbg_fact {
	uint64_t version; /* 0: nothing */
	/* Hash of the name of a PodGroup: its own, or the one that a pod names; RoleInstances: of the revision label that its
	 * pods are to have. */
	uint64_t gang;
	int64_t created, ready_since;   /* pods: seconds, INT64_MIN when unknown */
	int64_t marked_since;           /* the same, of RBG_FACT_MARKED */
	int32_t ordinal, index;         /* pods: -1 for a label that is none */
	uint16_t role, revision, flags; /* pods: the first two number names of the memo */
	int64_t minimum; /* PodGroups: minMember, -1 without; RoleInstances and their sets: the generation */
	/* PodGroups: hash of everything else in the spec that is_settled looks at; RoleInstances: digest of the status; pods:
	 * hash of the revision label. */
	uint64_t texts;
	int32_t id;         /* pods: number within their component, -1 for a label that is none */
	uint16_t component; /* pods: the number of its name */
};

struct rbg_memos;
struct rbg_memos *rbg_memos_create(void);
void rbg_memos_destroy(struct rbg_memos *memos); /* NULL is a no-op */
/* The group is gone. */
void rbg_memos_drop(struct rbg_memos *memos, const char *namespace_, const char *name);

/* Before anything else of the memo is used in a turn. */
void rbg_memo_open(struct rbg_turn *turn);
/* Fills turn->facts, one per owned object. */
void rbg_memo_read(struct rbg_turn *turn);
/* The text that `role` or `revision` of a fact stands for. */
const char *rbg_memo_name(const struct rbg_turn *turn, uint16_t number);
/* For the next turn. */
void rbg_memo_keep(struct rbg_turn *turn);

/* Whether services and the discovery file were found to be as they should in the last turn, and nothing that they follow
 * from has changed since; `key` says what they follow from. */
bool rbg_memo_is_wired(const struct rbg_turn *turn, uint64_t key);
void rbg_memo_set_wired(struct rbg_turn *turn, uint64_t key);

/* The same of RoleInstanceSets. */
bool rbg_memo_has_sets(const struct rbg_turn *turn, uint64_t key);
void rbg_memo_note_sets(struct rbg_turn *turn, uint64_t key);

/* The revision of a set that was found for a role; `key` says what it follows from. NULL: none yet. */
const char *rbg_memo_revision(const struct rbg_turn *turn, uint64_t key);
const char *rbg_memo_note_revision(struct rbg_turn *turn, uint64_t key, const char *revision);

uint64_t rbg_memo_hash(const char *text);
/* `texts` of a PodGroup whose spec has nothing but minMember and these (NULL: not). */
uint64_t rbg_memo_texts(const char *queue, const char *priority_class);

#endif
