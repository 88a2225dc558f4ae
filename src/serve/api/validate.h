/* Validation: what the API server of Kubernetes refuses about its own kinds, as far as users meet it: missing and wrong
 * fields of pods (also in the templates of workloads) and Services, selectors that do not fit, fields that cannot be
 * changed. Types of fields are checked before, see schema_check.h. */
#ifndef SERVE_API_VALIDATE_H
#define SERVE_API_VALIDATE_H

#include "base/problems.h"
#include "object/doc.h"

/* old: NULL at a create. */
void validate_object(const char *group, const char *kind, const struct val *object, const struct val *old,
                     struct problems *problems);
/* What is worth knowing about an object that is stored, and nothing more happens with it; NULL: nothing. */
const char *validate_idle(const char *group, const char *kind);

/* ---- validate_pod.c ---- */

enum validate_restart { RESTART_ANY, RESTART_ALWAYS, RESTART_ENDS };

struct validate_pod {
	enum validate_restart restart;
	bool half;                /* ports, and requests above limits, are judged elsewhere */
	const struct val *claims; /* volumeClaimTemplates: volumes that its pods will have; NULL: none */
};

/* A pod spec at this path. */
void validate_pod_spec(struct problems *problems, const char *path, const struct val *spec,
                       const struct validate_pod *how);
/* A pod that exists may change few of its fields. */
void validate_pod_change(struct problems *problems, const struct val *spec, const struct val *old);

#endif
