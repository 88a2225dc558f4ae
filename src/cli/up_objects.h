/* The objects with which `up` starts: a simulated cluster, and what the user gave. */
#ifndef CLI_UP_OBJECTS_H
#define CLI_UP_OBJECTS_H

#include "cli/cli.h"
#include "api/store.h"

/* The simulated nodes: of --nodes-file when given, else of --nodes. CLI_OK, or CLI_USAGE after telling what is wrong. */
int up_nodes(struct cli_args *args, struct manifests *nodes);
/* Reads a table of comma separated values. CLI_OK, or CLI_USAGE after telling what is wrong. */
int up_read_table(const char *path, struct buffer *text);
/* Topology, Queue and priority classes of a cluster that has none of its own. */
int up_fixed(struct manifests *manifests, struct problems *problems);
/* Creates what is missing of the nodes, the Topology, the Queue and the priority classes. -1 and *error when the store
 * refuses something that was not there. */
int up_seed(struct store *store, const struct manifests *nodes, struct error *error);
/* Server-side apply of every object; tells of each that is refused. How many were. */
size_t up_apply(struct store *store, const struct manifests *manifests);

#endif
