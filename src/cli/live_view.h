/* A cluster that is followed by watches, and what the engine says about it: for commands that look on. Writes nothing. */
#ifndef CLI_LIVE_VIEW_H
#define CLI_LIVE_VIEW_H

#include "cli/cli.h"

struct live_view;

/* The cluster of the kubeconfig; `plans`: what live_view_plan needs beside the objects is followed too. NULL and *error when
 * there is no way to reach one. */
struct live_view *live_view_create(struct cli_args *args, bool plans, struct error *error);
void live_view_destroy(struct live_view *view); /* NULL is a no-op */
/* Moves data for at most timeout_ms, or until extra_fd has something. */
void live_view_run(struct live_view *view, int timeout_ms, int extra_fd);
/* All objects when the cluster changed since the last time and that was not just now; NULL otherwise. Valid until the next
 * call of this or of live_view_plan. */
const struct manifests *live_view_objects(struct live_view *view);
/* A new plan when the cluster changed since the last one and that was not just now; NULL otherwise. Valid until the next
 * one that is not NULL. */
const struct plan *live_view_plan(struct live_view *view);
/* Why nothing is known, or not what is true now; "" when all is well, and while nothing but the first answers is missing. */
const char *live_view_problem(const struct live_view *view);
/* Whether the first answers are missing. */
bool live_view_connecting(const struct live_view *view);

#endif
