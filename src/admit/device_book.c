/* Owns the decoded slices, classes, claims and rules, each in an arena of its own. */
#include "admit/device_book.h"

#include "base/hash.h"
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

struct device_entry {
	UT_hash_handle hh;
	char *key; /* "namespace/name" */
	struct arena *arena;
	union {
		struct device_class_spec class_;
		struct device_slice slice;
		struct device_claim_spec claim;
		struct device_rule_spec rule;
	} spec;
};

struct device_book {
	struct device_entry *entries[DEVICE_KINDS];
};

struct device_book *device_book_create(void)
{
	return base_calloc(1, sizeof(struct device_book));
}

static void entry_free(struct device_entry *entry)
{
	arena_destroy(entry->arena);
	free(entry->key);
	free(entry);
}

void device_book_destroy(struct device_book *book)
{
	if (!book)
		return;
	for (int kind = 0; kind < DEVICE_KINDS; kind++) {
		struct device_entry *entry, *next;
		HASH_ITER(hh, book->entries[kind], entry, next) {
			HASH_DEL(book->entries[kind], entry);
			entry_free(entry);
		}
	}
	free(book);
}

static struct device_entry *find(const struct device_book *book, enum device_kind kind, const char *namespace_,
                                 const char *name)
{
	struct buffer key = {0};
	struct device_entry *entry;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, book->entries[kind], key.text, key.length, entry);
	buffer_free(&key);
	return entry;
}

static int decode(struct device_entry *entry, enum device_kind kind, const struct val *object,
                  struct problems *problems)
{
	switch (kind) {
	case DEVICE_CLASS:
		return device_class_decode(object, entry->arena, &entry->spec.class_, problems);
	case DEVICE_SLICE:
		return device_slice_decode(object, entry->arena, &entry->spec.slice, problems);
	case DEVICE_CLAIM:
		return device_claim_decode(object, entry->arena, &entry->spec.claim, problems);
	case DEVICE_RULE:
		return device_rule_decode(object, entry->arena, &entry->spec.rule, problems);
	case DEVICE_KINDS:
		break;
	}
	return -1;
}

static const char *name_of(const struct device_entry *entry, enum device_kind kind)
{
	switch (kind) {
	case DEVICE_CLASS:
		return entry->spec.class_.name;
	case DEVICE_SLICE:
		return entry->spec.slice.name;
	case DEVICE_CLAIM:
		return entry->spec.claim.name;
	default:
		return entry->spec.rule.name;
	}
}

int device_book_set(struct device_book *book, enum device_kind kind, const struct val *object,
                    struct problems *problems)
{
	struct device_entry *entry = base_calloc(1, sizeof(*entry));
	entry->arena = arena_create_small();
	int rc = decode(entry, kind, object, problems);
	const char *namespace_ = kind == DEVICE_CLAIM ? entry->spec.claim.namespace_ : "";
	const char *name = name_of(entry, kind);
	device_book_remove(book, kind, namespace_, name);
	if (rc < 0) {
		entry_free(entry);
		return -1;
	}
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, name);
	entry->key = key.text;
	HASH_ADD_KEYPTR(hh, book->entries[kind], entry->key, key.length, entry);
	return 0;
}

void device_book_remove(struct device_book *book, enum device_kind kind, const char *namespace_, const char *name)
{
	struct device_entry *entry = find(book, kind, namespace_, name);
	if (!entry)
		return;
	HASH_DEL(book->entries[kind], entry);
	entry_free(entry);
}

const struct device_class_spec *device_book_class(const struct device_book *book, const char *name)
{
	const struct device_entry *entry = find(book, DEVICE_CLASS, "", name);
	return entry ? &entry->spec.class_ : NULL;
}

const struct device_slice *device_book_slice(const struct device_book *book, const char *name)
{
	const struct device_entry *entry = find(book, DEVICE_SLICE, "", name);
	return entry ? &entry->spec.slice : NULL;
}

const struct device_claim_spec *device_book_claim(const struct device_book *book, const char *namespace_,
                                                  const char *name)
{
	const struct device_entry *entry = find(book, DEVICE_CLAIM, namespace_, name);
	return entry ? &entry->spec.claim : NULL;
}

const struct device_entry *device_book_next(const struct device_book *book, enum device_kind kind,
                                            const struct device_entry *last)
{
	return last ? last->hh.next : book->entries[kind];
}

const void *device_book_spec(const struct device_entry *entry)
{
	return &entry->spec;
}
