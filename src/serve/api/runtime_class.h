/* What a RuntimeClass says about the pods that name it: the RuntimeClass admission of the Kubernetes API server. */
#ifndef SERVE_API_RUNTIME_CLASS_H
#define SERVE_API_RUNTIME_CLASS_H

#include "api/store.h"

/* A new pod with the overhead, node selector and tolerations of its class written into it; NULL when nothing is to be
 * written. What contradicts the class becomes a problem, as does a class that does not exist. */
struct doc *runtime_class_fill(const struct store *store, const struct val *pod, struct arena *arena,
                               struct problems *problems);

#endif
