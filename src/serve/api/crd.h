/* CustomResourceDefinitions of our kinds, for a real cluster, from the tables that the embedded API uses itself. */
#ifndef SERVE_API_CRD_H
#define SERVE_API_CRD_H

#include "object/build.h"
#include "api/store.h"

/* Who turns one version of a kind into another. */
struct crd_conversion {
	const char *service, *namespace_, *path; /* a webhook behind a Service */
	const char *url;                         /* or elsewhere; NULL: behind the Service */
};

/* One definition with every version of `type` that the store serves; the first is the stored one. When versions differ
 * in form (`differ`), the others are served only with a conversion; NULL: there is none. */
struct node *crd_build(struct build *build, const struct store_type *type, bool differ,
                       const struct crd_conversion *conversion);

#endif
