/* Objects of one type in order of namespace and name: a skip list. Holds a reference to each object. */
#ifndef LOCAL_INDEX_H
#define LOCAL_INDEX_H

#include "api/object.h"

#define INDEX_LEVELS 16

struct index_node {
	struct store_object *object;
	struct index_node *next[]; /* one per level */
};

struct index {
	struct index_node *head[INDEX_LEVELS];
	struct index_node *tail[INDEX_LEVELS]; /* the last of each level, NULL: none; when tail_known */
	bool tail_known;
	size_t count;
};

struct store_object *index_find(const struct index *index, const char *namespace_, const char *name);
/* Puts `object` under its name (retaining it), or takes away what is there when object is NULL. */
void index_set(struct index *index, const char *namespace_, const char *name, struct store_object *object);
/* The first at or behind a key, or behind it only; NULL at the end. Go on with node->next[0]. */
struct index_node *index_seek(const struct index *index, const char *namespace_, const char *name, bool behind);
void index_free(struct index *index);

/* < 0, 0, > 0 like strcmp. */
int index_compare(const char *a_namespace, const char *a_name, const char *b_namespace, const char *b_name);

#endif
