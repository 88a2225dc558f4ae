/* Owns the selectors of Services. */
#include "schedule/service_book.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct service {
	char *name;
	struct arena *arena; /* of the labels */
	struct labels labels;
};

struct namespace_services {
	UT_hash_handle hh;
	char *name;
	VEC(struct service) services;
};

struct service_book {
	struct namespace_services *namespaces;
};

struct service_book *service_book_create(void)
{
	return base_calloc(1, sizeof(struct service_book));
}

static void service_free(struct service *service)
{
	free(service->name);
	arena_destroy(service->arena);
}

static void drop_namespace(struct service_book *book, struct namespace_services *of)
{
	HASH_DEL(book->namespaces, of);
	vec_free(&of->services);
	free(of->name);
	free(of);
}

void service_book_destroy(struct service_book *book)
{
	struct namespace_services *of, *next;
	if (!book)
		return;
	HASH_ITER(hh, book->namespaces, of, next) {
		for (size_t i = 0; i < of->services.count; i++)
			service_free(&of->services.items[i]);
		drop_namespace(book, of);
	}
	free(book);
}

static struct namespace_services *find(const struct service_book *book, const char *namespace_)
{
	struct namespace_services *of;
	HASH_FIND(hh, book->namespaces, namespace_, strlen(namespace_), of);
	return of;
}

static struct namespace_services *find_or_add(struct service_book *book, const char *namespace_)
{
	struct namespace_services *of = find(book, namespace_);
	if (of)
		return of;
	of = base_calloc(1, sizeof(*of));
	of->name = base_strdup(namespace_);
	HASH_ADD_KEYPTR(hh, book->namespaces, of->name, strlen(of->name), of);
	return of;
}

/* A Service without a selector selects nothing. */
static struct labels read_selector(const struct val *object, struct arena *arena)
{
	const struct val *map = val_path(object, "spec", "selector", NULL), *value;
	struct labels labels = {.items = arena_array(arena, struct label, val_count(map))};
	const char *key;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &value);)
		if (key)
			labels.items[labels.count++] =
				(struct label){arena_strdup(arena, key), arena_strdup(arena, val_str(value, ""))};
	labels_sort(&labels);
	return labels;
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	for (size_t i = 0; i < a->count && a->count == b->count; i++)
		if (strcmp(a->items[i].key, b->items[i].key) != 0 || strcmp(a->items[i].value, b->items[i].value) != 0)
			return false;
	return a->count == b->count;
}

bool service_book_set(struct service_book *book, const char *namespace_, const char *name, const struct val *object)
{
	struct namespace_services *of = find_or_add(book, namespace_);
	struct service now = {.name = base_strdup(name), .arena = arena_create()};
	static const struct labels none;
	size_t at = 0;
	now.labels = read_selector(object, now.arena);
	while (at < of->services.count && strcmp(of->services.items[at].name, name) != 0)
		at++;
	bool there = at < of->services.count;
	bool differs = !same_labels(there ? &of->services.items[at].labels : &none, &now.labels);
	if (there) {
		service_free(&of->services.items[at]);
		of->services.items[at] = of->services.items[--of->services.count];
	}
	if (now.labels.count)
		vec_push(&of->services, now);
	else
		service_free(&now);
	if (of->services.count == 0)
		drop_namespace(book, of);
	return differs;
}

static bool selects(const struct labels *wanted, const struct labels *labels)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const char *value = labels_get(labels, wanted->items[i].key);
		if (!value || strcmp(value, wanted->items[i].value) != 0)
			return false;
	}
	return true;
}

/* One requirement per key: all of them hold for the same pod, so they agree. Sorted, so that the order of Services is no matter. */
static void add_requirements(const struct labels *wanted, struct arena *arena, struct selector *out)
{
	for (size_t i = 0; i < wanted->count; i++) {
		size_t at = 0;
		int order = 1;
		while (at < out->count && (order = strcmp(out->items[at].key, wanted->items[i].key)) < 0)
			at++;
		if (at < out->count && order == 0)
			continue;
		const char **value = arena_new(arena, const char *);
		*value = wanted->items[i].value;
		memmove(&out->items[at + 1], &out->items[at], (out->count - at) * sizeof(*out->items));
		out->items[at] =
			(struct match){.key = wanted->items[i].key, .op = MATCH_IN, .values = value, .value_count = 1};
		out->count++;
	}
}

bool service_book_select(const struct service_book *book, const char *namespace_, const struct labels *labels,
                         struct arena *arena, struct selector *out)
{
	const struct namespace_services *of = find(book, namespace_);
	*out = (struct selector){0};
	for (size_t i = 0; of && i < of->services.count; i++) {
		if (!selects(&of->services.items[i].labels, labels))
			continue;
		if (!out->items) /* at most one for each label of the pod */
			out->items = arena_array(arena, struct match, labels->count);
		add_requirements(&of->services.items[i].labels, arena, out);
	}
	return out->count > 0;
}
