/* Volume columns: open claims as amounts of the cluster.
 *
 * Claims alike but for their size form a family. Its volumes are nested by size, so whether all claims of a gang get one is a
 * matter of counting: a column per size that is asked for, in which a node has as many units as volumes of at least that size
 * can be reached from it, and a claim takes one unit of its size and of every smaller one. Where a volume can be made there
 * is no end of units. With volumes that one node each can reach, and families that share none, that is exact; otherwise it
 * is a bound, and what is left is matching. */
#ifndef SCHEDULE_VOLUME_COLUMNS_H
#define SCHEDULE_VOLUME_COLUMNS_H

#include "admit/volume_book.h"
#include "engine/cluster/cluster.h"

#define VOLUME_COLUMN "volumes/" /* how their names begin */
/* More than any node takes pods: as many as anybody wants. */
#define VOLUMES_AMPLE (INT64_C(1) << 30)

struct volume_columns;

/* How many pods that have not finished name a claim; those that are leaving count. */
typedef size_t volume_users(const void *context, const char *namespace_, const char *claim);
struct volume_callbacks {
	volume_users *users;
	/* Whether a pod that occupies the node has a claim that is bound to the volume. */
	bool (*on_node)(const void *context, const char *volume, int node);
};

/* The cluster is sealed; it, the book and the context are borrowed. */
struct volume_columns *volume_columns_create(const struct volume_book *book, struct cluster *cluster,
                                             const struct volume_callbacks *callbacks, const void *context);
void volume_columns_destroy(struct volume_columns *columns); /* NULL is a no-op */

/* What the claims of a pod add to it. In the arena, or of the pod where they add nothing. */
struct volume_needs {
	const struct pod_block
		*block; /* the pod's own, and why its claims keep it from being placed; then nothing is added */
	const struct pod_rules *rules;
	const struct resource_amount *requests;
	size_t request_count;
	struct labels labels; /* of the pod, and one for each claim that others wait for, sorted */
};
struct volume_needs volume_columns_ask(struct volume_columns *columns, const struct pod_spec *pod, struct arena *arena);
/* Whether a size was asked for since the last call that is smaller than others of its family: what was said to pods that ask
 * for these is to be asked for again. */
bool volume_columns_grew(struct volume_columns *columns);

/* The volume of that name came, changed or is gone; the book shows it. Costs the nodes it can be reached from. */
void volume_columns_volume(struct volume_columns *columns, const char *name);
/* Something changed that says where volumes of the class can be made; NULL: of any class. */
void volume_columns_class(struct volume_columns *columns, const char *name);
/* What a node has attached, or can attach, changed, or pods that use volumes came there or went; -1: on any node. */
void volume_columns_attached(struct volume_columns *columns, int node);
/* Nodes came, went or have other labels: everything is counted again. */
void volume_columns_nodes(struct volume_columns *columns);
/* Before a cycle: takes over what was only noted. */
void volume_columns_settle(struct volume_columns *columns);

#endif
