/* The dashboard of a command that runs a cluster: records, feed and HTTP put together. */
#ifndef CLI_DASHBOARD_SOURCE_H
#define CLI_DASHBOARD_SOURCE_H

#include "schedule/plan.h"
#include "serve/dashboard/dashboard.h"
#include "api/store.h"
#include "loop/settings.h"

struct dashboard_source;

/* The store must outlive it; the HTTP server may go before it or after it. `auth` as in dashboard.h. */
/* Store and settings are borrowed. */
struct dashboard_source *dashboard_source_create(struct store *store, struct settings_source *settings,
                                                 const struct auth *auth);
void dashboard_source_destroy(struct dashboard_source *source); /* NULL is a no-op */
/* Once per turn of the loop, after the commit. Milliseconds until it wants to be called if nothing changes, -1 for never. */
int dashboard_source_step(struct dashboard_source *source);
/* For the `decided` of manager.h and world.h. */
void dashboard_source_decided(void *source, const struct plan *plan, size_t group);
struct dashboard *dashboard_source_dashboard(struct dashboard_source *source);

#endif
