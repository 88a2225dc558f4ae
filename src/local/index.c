/* A skip list whose levels follow from the hash of the key, so that equal histories give equal structures. */
#include "local/index.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

int index_compare(const char *a_namespace, const char *a_name, const char *b_namespace, const char *b_name)
{
	int order = strcmp(a_namespace, b_namespace);
	return order ? order : strcmp(a_name, b_name);
}

static int levels_of(const char *namespace_, const char *name)
{
	uint64_t hash = hash_mix(XXH3_64bits(namespace_, strlen(namespace_)), XXH3_64bits(name, strlen(name)));
	int levels = 1;
	for (; levels < INDEX_LEVELS && (hash & 3) == 0; hash >>= 2) /* a quarter of each level stands on the next */
		levels++;
	return levels;
}

/* Lists of other servers come in order: what is behind all there is needs no search. */
static bool is_behind_all(const struct index *index, const char *namespace_, const char *name)
{
	const struct index_node *last = index->tail[0];
	return index->tail_known && last &&
	       index_compare(last->object->namespace_, last->object->name, namespace_, name) < 0;
}

/* The links that point over the key, one per level; returns what stands at or behind the key. */
static struct index_node *search(struct index *index, const char *namespace_, const char *name,
                                 struct index_node **links[INDEX_LEVELS])
{
	if (is_behind_all(index, namespace_, name)) {
		for (int level = 0; level < INDEX_LEVELS; level++)
			links[level] = index->tail[level] ? &index->tail[level]->next[level] : &index->head[level];
		return NULL;
	}
	struct index_node *before[INDEX_LEVELS], *at = NULL;
	for (int level = INDEX_LEVELS - 1; level >= 0; level--) {
		struct index_node **row = at ? at->next : index->head;
		while (row[level] &&
		       index_compare(row[level]->object->namespace_, row[level]->object->name, namespace_, name) < 0) {
			at = row[level];
			row = at->next;
		}
		before[level] = at;
		links[level] = &row[level];
	}
	/* These are the last ones. Of an index that was always empty there is nothing to remember: it may be constant. */
	if (!*links[0] && (before[0] || index->tail_known)) {
		memcpy(index->tail, before, sizeof(before));
		index->tail_known = true;
	}
	return *links[0];
}

static bool is_at(const struct index_node *node, const char *namespace_, const char *name)
{
	return node && index_compare(node->object->namespace_, node->object->name, namespace_, name) == 0;
}

struct index_node *index_seek(const struct index *index, const char *namespace_, const char *name, bool behind)
{
	struct index_node **links[INDEX_LEVELS];
	/* Searching changes nothing but what is remembered of the end; only the links it reports could be used to. */
	struct index_node *node = search((struct index *)(uintptr_t)index, namespace_, name, links);
	return behind && is_at(node, namespace_, name) ? node->next[0] : node;
}

struct store_object *index_find(const struct index *index, const char *namespace_, const char *name)
{
	struct index_node *node = index_seek(index, namespace_, name, false);
	return is_at(node, namespace_, name) ? node->object : NULL;
}

static void take_away(struct index *index, struct index_node *node, struct index_node **links[INDEX_LEVELS])
{
	for (int level = 0; level < INDEX_LEVELS && *links[level] == node; level++) {
		*links[level] = node->next[level];
		index->tail_known &= index->tail[level] != node;
	}
	store_object_release(node->object);
	free(node);
	index->count--;
}

void index_set(struct index *index, const char *namespace_, const char *name, struct store_object *object)
{
	struct index_node **links[INDEX_LEVELS];
	struct index_node *node = search(index, namespace_, name, links);
	if (is_at(node, namespace_, name)) {
		if (!object) {
			take_away(index, node, links);
			return;
		}
		struct store_object *old = node->object;
		node->object = store_object_retain(object);
		store_object_release(old);
		return;
	}
	if (!object)
		return;
	int levels = levels_of(object->namespace_, object->name);
	node = base_malloc(sizeof(*node) + (size_t)levels * sizeof(node->next[0]));
	node->object = store_object_retain(object);
	for (int level = 0; level < levels; level++) {
		node->next[level] = *links[level];
		*links[level] = node;
		if (!node->next[level])
			index->tail[level] = node;
	}
	index->count++;
}

void index_free(struct index *index)
{
	for (struct index_node *node = index->head[0], *next; node; node = next) {
		next = node->next[0];
		store_object_release(node->object);
		free(node);
	}
	*index = (struct index){0};
}
