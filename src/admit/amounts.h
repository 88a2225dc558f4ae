/* Resource lists: quantities by name, sorted, with checked arithmetic. Private to the pod and node decoders. */
#ifndef ADMIT_AMOUNTS_H
#define ADMIT_AMOUNTS_H

#include "admit/decode.h"

/* Kubernetes pods name a handful; the bound keeps insertion into a sorted array cheap. */
#define AMOUNTS_MAX 1024

struct amounts {
	struct resource_amount *items; /* sorted by name, in the arena of the decode */
	size_t count, capacity;
};

/* The amount of a name, NULL when absent. */
int64_t *amounts_find(const struct amounts *amounts, const char *name);
/* The same, made with 0 when absent; NULL when there are too many names. */
int64_t *amounts_slot(struct arena *arena, struct amounts *amounts, const char *name);

/* Reads a map of quantities (requests, limits, allocatable). Negative and malformed ones are errors at their path. */
void amounts_read(const struct decode *decode, const struct decode_path *up, const struct val *map, const char *key,
                  struct amounts *out);
/* into += from. An overflow is an error at `path`. */
void amounts_add(const struct decode *decode, const struct decode_path *path, struct amounts *into,
                 const struct amounts *from);
/* into = max(into, from), name by name. */
void amounts_max(struct arena *arena, struct amounts *into, const struct amounts *from);

#endif
