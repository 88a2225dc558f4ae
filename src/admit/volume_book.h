/* Volume book: the claims, volumes and classes there are, and what they say to a pod.
 *
 * Decides as kube-scheduler's VolumeBinding and VolumeZone do what can be decided without looking at nodes one by one: a claim
 * blocks its pod, restricts it to nodes, or is open, which means that any of several volumes, or a new one, can serve it. */
#ifndef ADMIT_VOLUME_BOOK_H
#define ADMIT_VOLUME_BOOK_H

#include "admit/storage.h"
#include "admit/volume.h"

enum book_kind {
	BOOK_CLAIM,
	BOOK_VOLUME,
	BOOK_CLASS,
	BOOK_DRIVER,
	BOOK_CSI_NODE,
	BOOK_CAPACITY,
	BOOK_ATTACHMENT,
	BOOK_KINDS,
};

struct volume_book;

struct volume_book *volume_book_create(void);
void volume_book_destroy(struct volume_book *book); /* NULL is a no-op */

/* Takes an object in, in place of one with its name. Its texts are borrowed until it is replaced or removed. -1 when it cannot
 * be used (the problems say why); then there is none of that name. */
int volume_book_set(struct volume_book *book, enum book_kind kind, const struct val *object, struct problems *problems);
void volume_book_remove(struct volume_book *book, enum book_kind kind, const char *namespace_, const char *name);

/* By name; NULL when there is none. Namespaces are "" for kinds without. */
const void *volume_book_find(const struct volume_book *book, enum book_kind kind, const char *namespace_,
                             const char *name);
const struct claim_spec *volume_book_claim(const struct volume_book *book, const char *namespace_, const char *name);
const struct volume_spec *volume_book_volume(const struct volume_book *book, const char *name);
const struct storage_class_spec *volume_book_class(const struct volume_book *book, const char *name);

/* Objects that belong together, in no certain order: volumes, claims or capacities of a class (BOOK_VOLUME, BOOK_CLAIM,
 * BOOK_CAPACITY), attachments of a node. `next` NULL starts; NULL is the end. */
struct book_entry;
const struct book_entry *volume_book_next(const struct volume_book *book, enum book_kind kind, const char *of,
                                          const struct book_entry *last);
const void *volume_book_spec(const struct book_entry *entry);
/* The same for claims that name a volume, bound or not; and for volumes whose claimRef names a claim. */
const struct book_entry *volume_book_next_user(const struct volume_book *book, const char *volume,
                                               const struct book_entry *last);

/* The same for volumes that are the same to their driver: of its name and with the same handle. None without a driver. */
const struct book_entry *volume_book_next_alike(const struct volume_book *book, const struct volume_spec *volume,
                                                const struct book_entry *last);

enum claim_verdict {
	CLAIM_BLOCKED, /* the pod cannot be placed anywhere until the claim or its class changes */
	CLAIM_BOUND,   /* to `volume` */
	CLAIM_CHOSEN,  /* not bound yet, but `volume` is meant for it: its claimRef says so */
	CLAIM_MAKING,  /* not bound yet: a volume is being made for the node `claim->selected_node` */
	CLAIM_OPEN,    /* waits for its first consumer */
};

struct claim_answer {
	enum claim_verdict verdict;
	enum block_code code; /* CLAIM_BLOCKED, and in words, in the arena */
	const char *problem;
	const struct claim_spec *claim;
	const struct volume_spec *volume;
	const struct storage_class_spec *class_; /* CLAIM_MAKING, CLAIM_OPEN */
};
/* What the claim of that number in the pod's list is to the pod. */
struct claim_answer volume_book_ask(const struct volume_book *book, const struct pod_spec *pod, size_t number,
                                    struct arena *arena);

/* Whether the volume could serve the open claim: all but the node, and `size` apart. */
bool volume_suits_claim(const struct volume_spec *volume, const struct claim_spec *claim);
/* Whether the claim the volume's claimRef names is this one. */
bool volume_is_for_claim(const struct volume_spec *volume, const struct claim_spec *claim);
bool volume_reaches_node(const struct volume_spec *volume, const struct labels *node, const char *name);
/* Whether a volume of `size` for the class can be made for the node. */
bool volume_can_be_made(const struct volume_book *book, const struct storage_class_spec *class_, bool has_size,
                        int64_t size, const struct labels *node, const char *name);

/* Restrictions to nodes, an AND of ORs of terms as pod_rules has them. In the arena. */
struct volume_terms {
	struct node_term *terms;
	size_t *counts;
	size_t term_count, count;
	size_t term_capacity, capacity;
};
/* Appends what a bound or chosen volume, or the annotation selected-node, says about nodes. Nothing for open claims. */
void volume_terms_add(struct volume_terms *terms, const struct claim_answer *answer, struct arena *arena);

#endif
