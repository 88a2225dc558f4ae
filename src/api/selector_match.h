/* Selectors inside the store: copies for watches, LabelSelectors of specs. */
#ifndef API_SELECTOR_MATCH_H
#define API_SELECTOR_MATCH_H

#include "api/selector.h"

/* A copy in one block that the caller frees; NULL when the selector matches everything. */
void *selector_copy(const struct store_selector *from, struct store_selector *to);
/* The text of a field, NULL when it is unset or no scalar. */
const char *selector_value(const struct store_object *object, const char *path, char scratch[64]);
/* A requirement that the value of a field (NULL counts as "") is exactly this; NULL when there is none. The most
 * selective one is preferred. */
const struct store_field_match *selector_key(const struct store_selector *selector);
/* A LabelSelector (matchLabels, matchExpressions); borrows the texts. */
void selector_of_spec(struct arena *arena, const struct val *spec, struct selector *selector);
/* As text of the API: "a=b,c in (d,e)". */
void selector_print(const struct selector *selector, struct buffer *out);
/* The path as a CRD names it among its selectableFields; NULL when it does not. */
const char *definition_selects(const struct store_api *api, const char *path);

#endif
