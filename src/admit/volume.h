/* Volumes: where a pod may run because of the PersistentVolumes its claims are bound to. */
#ifndef ADMIT_VOLUME_H
#define ADMIT_VOLUME_H

#include "admit/pod.h"

struct volume_spec { /* PersistentVolume */
	const char *name;
	bool has_terms;
	struct node_term *terms; /* spec.nodeAffinity.required, OR of terms */
	size_t term_count;
};

struct claim_spec { /* PersistentVolumeClaim */
	const char *namespace_, *name;
	const char *volume; /* spec.volumeName, NULL while unbound */
};

int volume_decode(const struct val *object, struct arena *arena, struct volume_spec *out, struct problems *problems);
int claim_decode(const struct val *object, struct arena *arena, struct claim_spec *out, struct problems *problems);
/* Fills pod->rules.volume_*. A claim that is missing from `claims` is reported as a warning and restricts nothing. */
void pod_attach_volumes(struct pod_spec *pod, const struct claim_spec *claims, size_t claim_count,
                        const struct volume_spec *volumes, size_t volume_count, struct arena *arena,
                        struct problems *problems);

#endif
