/* Owns the claims, volumes and classes there are, by name and by what they belong to. */
#include "admit/volume_book.h"

#include "base/hash.h"
#include "base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries that share a word: those of a class, of a node, of a volume. */
struct book_chain {
	UT_hash_handle hh;
	char *key;
	struct book_entry *first;
};

enum { LINK_GROUP, LINK_USER, LINK_DISK, LINKS };

struct book_link {
	struct book_chain *chain; /* NULL: in none */
	struct book_entry *next, *before;
};

struct book_entry {
	UT_hash_handle hh;
	char *key;
	struct arena *arena;
	struct book_link links[LINKS];
	union {
		struct claim_spec claim;
		struct volume_spec volume;
		struct storage_class_spec class_;
		struct csi_driver_spec driver;
		struct csi_node_spec csi_node;
		struct storage_capacity_spec capacity;
		struct attachment_spec attachment;
	} spec;
};

struct volume_book {
	struct book_entry *entries[BOOK_KINDS];
	struct book_chain *chains[LINKS][BOOK_KINDS];
};

struct volume_book *volume_book_create(void)
{
	return base_calloc(1, sizeof(struct volume_book));
}

static void link_entry(struct volume_book *book, enum book_kind kind, int which, struct book_entry *entry,
                       const char *key)
{
	struct book_chain *chain;
	HASH_FIND(hh, book->chains[which][kind], key, strlen(key), chain);
	if (!chain) {
		chain = base_calloc(1, sizeof(*chain));
		chain->key = base_strdup(key);
		HASH_ADD_KEYPTR(hh, book->chains[which][kind], chain->key, strlen(chain->key), chain);
	}
	entry->links[which] = (struct book_link){.chain = chain, .next = chain->first};
	if (chain->first)
		chain->first->links[which].before = entry;
	chain->first = entry;
}

static void unlink_entry(struct volume_book *book, enum book_kind kind, int which, struct book_entry *entry)
{
	struct book_link *link = &entry->links[which];
	struct book_chain *chain = link->chain;
	if (!chain)
		return;
	if (link->before)
		link->before->links[which].next = link->next;
	else
		chain->first = link->next;
	if (link->next)
		link->next->links[which].before = link->before;
	link->chain = NULL;
	if (chain->first)
		return;
	HASH_DEL(book->chains[which][kind], chain);
	free(chain->key);
	free(chain);
}

static void drop_entry(struct volume_book *book, enum book_kind kind, struct book_entry *entry)
{
	for (int which = 0; which < LINKS; which++)
		unlink_entry(book, kind, which, entry);
	HASH_DEL(book->entries[kind], entry);
	arena_destroy(entry->arena);
	free(entry->key);
	free(entry);
}

void volume_book_destroy(struct volume_book *book)
{
	if (!book)
		return;
	for (int kind = 0; kind < BOOK_KINDS; kind++) {
		struct book_entry *entry, *next;
		HASH_ITER(hh, book->entries[kind], entry, next)
			drop_entry(book, (enum book_kind)kind, entry);
	}
	free(book);
}

static char *make_key(const char *namespace_, const char *name)
{
	size_t size = strlen(namespace_) + strlen(name) + 2;
	char *key = base_malloc(size);
	snprintf(key, size, "%s/%s", namespace_, name);
	return key;
}

static struct book_entry *find_entry(const struct volume_book *book, enum book_kind kind, const char *namespace_,
                                     const char *name)
{
	char *key = make_key(namespace_, name);
	struct book_entry *entry;
	HASH_FIND(hh, book->entries[kind], key, strlen(key), entry);
	free(key);
	return entry;
}

static int decode(struct book_entry *entry, enum book_kind kind, const struct val *object, struct problems *problems)
{
	switch (kind) {
	case BOOK_CLAIM:
		return claim_decode(object, entry->arena, &entry->spec.claim, problems);
	case BOOK_VOLUME:
		return volume_decode(object, entry->arena, &entry->spec.volume, problems);
	case BOOK_CLASS:
		return storage_class_decode(object, entry->arena, &entry->spec.class_, problems);
	case BOOK_DRIVER:
		return csi_driver_decode(object, entry->arena, &entry->spec.driver, problems);
	case BOOK_CSI_NODE:
		return csi_node_decode(object, entry->arena, &entry->spec.csi_node, problems);
	case BOOK_CAPACITY:
		return storage_capacity_decode(object, entry->arena, &entry->spec.capacity, problems);
	case BOOK_ATTACHMENT:
		return attachment_decode(object, entry->arena, &entry->spec.attachment, problems);
	case BOOK_KINDS:
		break;
	}
	return -1;
}

static void link_by_content(struct volume_book *book, enum book_kind kind, struct book_entry *entry)
{
	if (kind == BOOK_CLAIM) {
		link_entry(book, kind, LINK_GROUP, entry, entry->spec.claim.class_);
		if (entry->spec.claim.volume)
			link_entry(book, kind, LINK_USER, entry, entry->spec.claim.volume);
	} else if (kind == BOOK_VOLUME) {
		link_entry(book, kind, LINK_GROUP, entry, entry->spec.volume.class_);
		if (entry->spec.volume.has_claim) {
			char *key = make_key(entry->spec.volume.claim_namespace, entry->spec.volume.claim_name);
			link_entry(book, kind, LINK_USER, entry, key);
			free(key);
		}
		if (entry->spec.volume.driver[0]) {
			char *key = make_key(entry->spec.volume.driver, entry->spec.volume.handle);
			link_entry(book, kind, LINK_DISK, entry, key);
			free(key);
		}
	} else if (kind == BOOK_CAPACITY) {
		link_entry(book, kind, LINK_GROUP, entry, entry->spec.capacity.class_);
	} else if (kind == BOOK_ATTACHMENT) {
		link_entry(book, kind, LINK_GROUP, entry, entry->spec.attachment.node);
	}
}

static const char *namespace_of(enum book_kind kind, const struct book_entry *entry)
{
	return kind == BOOK_CLAIM      ? entry->spec.claim.namespace_
	       : kind == BOOK_CAPACITY ? entry->spec.capacity.namespace_
	                               : "";
}

static const char *name_of(enum book_kind kind, const struct book_entry *entry)
{
	switch (kind) {
	case BOOK_CLAIM:
		return entry->spec.claim.name;
	case BOOK_VOLUME:
		return entry->spec.volume.name;
	case BOOK_CLASS:
		return entry->spec.class_.name;
	case BOOK_DRIVER:
		return entry->spec.driver.name;
	case BOOK_CSI_NODE:
		return entry->spec.csi_node.name;
	case BOOK_CAPACITY:
		return entry->spec.capacity.name;
	default:
		return entry->spec.attachment.name;
	}
}

int volume_book_set(struct volume_book *book, enum book_kind kind, const struct val *object, struct problems *problems)
{
	struct book_entry *entry = base_calloc(1, sizeof(*entry));
	entry->arena = arena_create_small();
	int rc = decode(entry, kind, object, problems);
	const char *namespace_ = namespace_of(kind, entry), *name = name_of(kind, entry);
	if (name)
		volume_book_remove(book, kind, namespace_ ? namespace_ : "", name);
	if (rc < 0 || !name || !namespace_) {
		arena_destroy(entry->arena);
		free(entry);
		return -1;
	}
	entry->key = make_key(namespace_, name);
	HASH_ADD_KEYPTR(hh, book->entries[kind], entry->key, strlen(entry->key), entry);
	link_by_content(book, kind, entry);
	return 0;
}

void volume_book_remove(struct volume_book *book, enum book_kind kind, const char *namespace_, const char *name)
{
	struct book_entry *entry = find_entry(book, kind, namespace_, name);
	if (entry)
		drop_entry(book, kind, entry);
}

const void *volume_book_spec(const struct book_entry *entry)
{
	return &entry->spec;
}

const void *volume_book_find(const struct volume_book *book, enum book_kind kind, const char *namespace_,
                             const char *name)
{
	const struct book_entry *entry = find_entry(book, kind, namespace_, name);
	return entry ? &entry->spec : NULL;
}

const struct claim_spec *volume_book_claim(const struct volume_book *book, const char *namespace_, const char *name)
{
	return volume_book_find(book, BOOK_CLAIM, namespace_, name);
}

const struct volume_spec *volume_book_volume(const struct volume_book *book, const char *name)
{
	return volume_book_find(book, BOOK_VOLUME, "", name);
}

const struct storage_class_spec *volume_book_class(const struct volume_book *book, const char *name)
{
	return volume_book_find(book, BOOK_CLASS, "", name);
}

static const struct book_entry *next_in_chain(const struct volume_book *book, int which, enum book_kind kind,
                                              const char *key, const struct book_entry *last)
{
	if (last)
		return last->links[which].next;
	const struct book_chain *chain;
	HASH_FIND(hh, book->chains[which][kind], key, strlen(key), chain);
	return chain ? chain->first : NULL;
}

const struct book_entry *volume_book_next(const struct volume_book *book, enum book_kind kind, const char *of,
                                          const struct book_entry *last)
{
	return next_in_chain(book, LINK_GROUP, kind, of, last);
}

const struct book_entry *volume_book_next_user(const struct volume_book *book, const char *volume,
                                               const struct book_entry *last)
{
	return next_in_chain(book, LINK_USER, BOOK_CLAIM, volume, last);
}

const struct book_entry *volume_book_next_alike(const struct volume_book *book, const struct volume_spec *volume,
                                                const struct book_entry *last)
{
	char *key = volume->driver[0] ? make_key(volume->driver, volume->handle) : NULL;
	const struct book_entry *next = key ? next_in_chain(book, LINK_DISK, BOOK_VOLUME, key, last) : NULL;
	free(key);
	return next;
}

/* The volume that is meant for the claim; of several the one whose name comes first. */
static const struct volume_spec *chosen_volume(const struct volume_book *book, const struct claim_spec *claim)
{
	char *key = make_key(claim->namespace_, claim->name);
	const struct volume_spec *best = NULL;
	for (const struct book_entry *at = next_in_chain(book, LINK_USER, BOOK_VOLUME, key, NULL); at;
	     at = at->links[LINK_USER].next) {
		const struct volume_spec *volume = &at->spec.volume;
		if (volume_is_for_claim(volume, claim) && !volume->deleting && volume->block == claim->block &&
		    volume->capacity >= claim->request && strcmp(volume->class_, claim->class_) == 0 &&
		    strcmp(volume->attributes_class, claim->attributes_class) == 0 &&
		    (!best || strcmp(volume->name, best->name) < 0))
			best = volume;
	}
	free(key);
	return best;
}

static struct claim_answer blocked(const struct claim_spec *claim, const char *problem)
{
	return (struct claim_answer){.verdict = CLAIM_BLOCKED,
	                             .claim = claim,
	                             .code = claim ? BLOCK_NOT_READY : BLOCK_MISSING,
	                             .problem = problem};
}

/* A claim that is there and usable, but not bound. */
static struct claim_answer ask_unbound(const struct volume_book *book, const struct claim_spec *claim,
                                       struct arena *arena)
{
	const struct storage_class_spec *class_ = claim->class_[0] ? volume_book_class(book, claim->class_) : NULL;
	if (claim->volume)
		return blocked(claim, arena_printf(arena, "persistentvolumeclaim \"%s\" is not bound to %s yet",
		                                   claim->name, claim->volume));
	if (!claim->class_[0])
		return blocked(claim,
		               arena_printf(arena, "persistentvolumeclaim \"%s\" is not bound and has no storage class",
		                            claim->name));
	if (!class_)
		return blocked(
			claim,
			arena_printf(arena,
		                     "persistentvolumeclaim \"%s\" is not bound, and storage class \"%s\" not found",
		                     claim->name, claim->class_));
	if (class_->mode == BINDING_IMMEDIATE)
		return blocked(claim,
		               arena_printf(arena,
		                            "persistentvolumeclaim \"%s\" is not bound: class \"%s\" binds immediately",
		                            claim->name, claim->class_));
	if (class_->mode == BINDING_UNSET)
		return blocked(
			claim,
			arena_printf(arena,
		                     "storage class \"%s\" of persistentvolumeclaim \"%s\" has no volumeBindingMode",
		                     claim->class_, claim->name));
	struct claim_answer answer = {.claim = claim, .class_ = class_};
	answer.volume = chosen_volume(book, claim);
	answer.verdict = answer.volume ? CLAIM_CHOSEN : claim->selected_node ? CLAIM_MAKING : CLAIM_OPEN;
	if (answer.verdict == CLAIM_MAKING && !class_->provisioner)
		return blocked(
			claim,
			arena_printf(arena,
		                     "persistentvolumeclaim \"%s\" waits for a volume, but class \"%s\" makes none",
		                     claim->name, claim->class_));
	return answer;
}

struct claim_answer volume_book_ask(const struct volume_book *book, const struct pod_spec *pod, size_t number,
                                    struct arena *arena)
{
	const char *name = pod->claims[number];
	bool ephemeral = number >= pod->claim_count - pod->ephemeral_count;
	const struct claim_spec *claim = volume_book_claim(book, pod->namespace_, name);
	if (!claim)
		return blocked(NULL,
		               arena_printf(arena,
		                            ephemeral ? "persistentvolumeclaim \"%s\" not found: the ephemeral volume "
		                                        "controller has not created it yet"
		                                      : "persistentvolumeclaim \"%s\" not found",
		                            name));
	if (claim->lost)
		return blocked(claim,
		               arena_printf(arena,
		                            "persistentvolumeclaim \"%s\" is bound to a volume that no longer exists",
		                            name));
	if (claim->deleting)
		return blocked(claim, arena_printf(arena, "persistentvolumeclaim \"%s\" is being deleted", name));
	if (ephemeral && !text_equal(claim->owner, pod->uid))
		return blocked(claim, arena_printf(arena, "persistentvolumeclaim \"%s\" was not created for pod %s",
		                                   name, pod->name));
	if (!claim->bound)
		return ask_unbound(book, claim, arena);
	const struct volume_spec *volume = volume_book_volume(book, claim->volume);
	if (!volume)
		return blocked(
			claim,
			arena_printf(arena,
		                     "persistentvolumeclaim \"%s\" is bound to volume \"%s\", which does not exist",
		                     name, claim->volume));
	return (struct claim_answer){.verdict = CLAIM_BOUND, .claim = claim, .volume = volume};
}
