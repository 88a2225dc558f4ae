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
/* Claims and volumes by name, made once for any number of pods. Lives in the arena; the arrays must outlive it. Of two
 * with one name the first counts. */
struct volume_index;
struct volume_index *volume_index_create(struct arena *arena, const struct claim_spec *claims, size_t claim_count,
                                         const struct volume_spec *volumes, size_t volume_count);

/* The rules of the pod together with those of its volumes, which are in the arena. A claim that is not in the index, or is
 * bound to a volume that is not, is reported as a warning and restricts nothing; so does, silently, a claim that is not
 * bound yet. */
struct pod_rules pod_rules_with_volumes(const struct pod_spec *pod, const struct volume_index *index,
                                        struct arena *arena, struct problems *problems);

#endif
