/* Defaults of built-in kinds: what the Kubernetes API server fills in and clients rely on. */
#ifndef SERVE_API_DEFAULTS_H
#define SERVE_API_DEFAULTS_H

#include "object/doc.h"

/* The object with what is missing filled in; NULL when nothing is. Values of the wrong type are left alone. */
struct doc *defaults_fill(const char *group, const char *kind, const struct val *object);
/* A new Job with its selector, and the labels of its pods; NULL when it has its own. */
struct doc *defaults_job(const struct val *job);

#endif
