/* Selectors inside the store: copies for watches, LabelSelectors of specs. */
#ifndef STORE_SELECTOR_INTERNAL_H
#define STORE_SELECTOR_INTERNAL_H

#include "store/selector.h"

/* A copy in one block that the caller frees; NULL when the selector matches everything. */
void *selector_copy(const struct store_selector *from, struct store_selector *to);
/* A LabelSelector (matchLabels, matchExpressions); borrows the texts. */
void selector_of_spec(struct arena *arena, const struct val *spec, struct selector *selector);
/* As text of the API: "a=b,c in (d,e)". */
void selector_print(const struct selector *selector, struct buffer *out);
/* Whether a CRD names the path among its selectableFields. */
bool definition_selects(const struct store_api *api, const char *path);

#endif
