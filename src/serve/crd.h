/* CustomResourceDefinitions of our kinds, for a real cluster, from the tables that the embedded API uses itself. */
#ifndef SERVE_CRD_H
#define SERVE_CRD_H

#include "object/build.h"
#include "store/store.h"

/* One definition with every version of `type` that the store serves; the first is the stored one. */
struct node *crd_build(struct build *build, const struct store_type *type);

#endif
