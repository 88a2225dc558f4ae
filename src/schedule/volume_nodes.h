/* Volume nodes: which nodes a volume reaches, and where a new one can be made, found by labels instead of by asking every node
 * about every volume. */
#ifndef SCHEDULE_VOLUME_NODES_H
#define SCHEDULE_VOLUME_NODES_H

#include "admit/volume_book.h"
#include "engine/cluster/cluster.h"

struct volume_nodes;

/* The cluster is borrowed, and its nodes and labels must stay as they are. */
struct volume_nodes *volume_nodes_create(const struct cluster *cluster);
void volume_nodes_destroy(struct volume_nodes *nodes); /* NULL is a no-op */

/* Numbers of the nodes that the volume can be reached from, each once, in ascending order; to be freed. */
int *volume_nodes_reached(struct volume_nodes *nodes, const struct volume_spec *volume, size_t *count);
/* Sets made[node] for nodes for which a volume of that size can be made, as volume_can_be_made has it. class_ NULL: nowhere. */
void volume_nodes_for_new(struct volume_nodes *nodes, const struct volume_book *book,
                          const struct storage_class_spec *class_, bool has_size, int64_t size, bool *made);

#endif
