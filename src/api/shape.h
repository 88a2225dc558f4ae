/* How the lists and maps of a kind merge: which lists are sets, which are maps by a key, what is replaced as a whole.
 * Strategic merge patch and server-side apply both read it. Built-in kinds have tables, custom ones the
 * x-kubernetes-list-type and x-kubernetes-map-type of their schema. */
#ifndef API_SHAPE_H
#define API_SHAPE_H

#include "api/types.h"

#define SHAPE_KEYS 3

enum shape_list { SHAPE_ATOMIC, SHAPE_KEYED, SHAPE_SET };

struct shape_field;

/* A place in an object of some kind. Zeroed: nothing special below. */
struct shape {
	const struct shape_field *fields; /* table, ends with a NULL name */
	const struct val *schema;         /* or OpenAPI schema */
	enum shape_list list;             /* when the value is a list */
	const char *keys[SHAPE_KEYS];     /* of SHAPE_KEYED; strategic patches use the first */
	size_t key_count;
	bool atomic;      /* when the value is a map: apply owns it as a whole */
	bool retain_keys; /* patches may carry $retainKeys */
};

/* The root of objects of this API. */
struct shape shape_of(const struct store_api *api);
/* What is below a key of a map. */
struct shape shape_child(const struct shape *shape, const char *key);
/* What an item of a list looks like. */
struct shape shape_item(const struct shape *shape);

#endif
