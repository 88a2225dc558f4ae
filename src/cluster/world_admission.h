/* What an embedded cluster does with a write before it is stored: pods learn their group, then the rules of the API are
 * applied. Stands where a real cluster has webhooks. */
#ifndef CLUSTER_WORLD_ADMISSION_H
#define CLUSTER_WORLD_ADMISSION_H

#include "api/store.h"

struct settings_source;
struct world_admission;

struct world_admission_options {
	struct settings_source *settings; /* borrowed; NULL: the usual */
	bool claims; /* pods that name no scheduler get the first of ours; otherwise they stay without */
	bool strict; /* refuse what the API server of Kubernetes refuses, not only what Platoon cannot use */
};

/* Give `world_admission_check` and the admission to store_open as admit and context, then tell it the store. */
struct world_admission *world_admission_create(const struct world_admission_options *options);
void world_admission_use(struct world_admission *admission, struct store *store);
/* Before store_close. NULL is a no-op. */
void world_admission_destroy(struct world_admission *admission);

int world_admission_check(void *context, struct store_admission *request, struct store_error *error);

#endif
