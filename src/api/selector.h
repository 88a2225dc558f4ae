/* Label and field selectors as texts of the API: "a=b,c!=d,e in (x,y),!f" and "metadata.name=x,spec.nodeName!=". */
#ifndef API_SELECTOR_H
#define API_SELECTOR_H

#include "base/arena.h"
#include "base/labels.h"
#include "api/object.h"
#include "api/status.h"

/* One field: dotted path, = or !=. A missing field counts as "". */
struct store_field_match {
	const char *path; /* shared: lives as long as the store */
	const char *value;
	bool negate;
};

/* Zeroed: matches everything. Strings belong to the arena it was parsed into. */
struct store_selector {
	struct selector labels;
	struct store_field_match *fields;
	size_t field_count;
};

/* NULL and "" mean no restriction. -1 with 400 BadRequest; field names that the type does not offer are refused. */
int store_selector_parse(struct arena *arena, const struct store_api *api, const char *labels, const char *fields,
                         struct store_selector *selector, struct store_error *error);
bool store_selector_matches(const struct store_selector *selector, const struct store_object *object);

#endif
