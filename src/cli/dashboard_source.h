/* The dashboard of a command that runs a cluster: records, feed and HTTP put together. */
#ifndef CLI_BOARD_H
#define CLI_BOARD_H

#include "schedule/plan.h"
#include "serve/dashboard/dashboard.h"
#include "api/store.h"
#include "loop/settings.h"

struct board;

/* The store must outlive it; the HTTP server may go before it or after it. `auth` as in dashboard.h. */
/* Store and settings are borrowed. */
struct board *board_create(struct store *store, struct settings_source *settings, const struct auth *auth);
void board_destroy(struct board *board); /* NULL is a no-op */
/* Once per turn of the loop, after the commit. */
void board_step(struct board *board);
/* For the `decided` of manager.h and world.h. */
void board_decided(void *board, const struct plan *plan);
struct dashboard *board_dashboard(struct board *board);

#endif
