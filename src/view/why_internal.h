/* What the files of explanations share. Private to why*.c. */
#ifndef VIEW_WHY_INTERNAL_H
#define VIEW_WHY_INTERNAL_H

#include "view/why.h"

/* The name nearest to one that was not found. */
struct nearest {
	const char *wanted, *name, *namespace_;
	size_t distance;
};
void why_consider(struct nearest *nearest, const char *namespace_, const char *name, bool elsewhere);
int why_not_found(const char *kind, const struct why_subject *subject, const struct nearest *nearest,
                  struct error *error);

void why_fill_group(struct why *why, size_t index, struct arena *arena);
/* A pod without a group of ours. */
void why_fill_outsider(struct why *why, const struct snapshot_pod *pod, const struct manifests *objects,
                       struct arena *arena);

/* why_workload.c */
int why_ask_workload(struct why *why, const struct manifests *objects, const struct manifests *owners,
                     struct arena *arena, struct error *error);

#endif
