/* Attach columns: how many volumes of a driver a node can attach, as amounts of the cluster.
 *
 * A driver of which some CSINode says a limit has a column. A node has as many units as its limit, less the volumes that are
 * attached there though no pod on it uses them; a pod asks for one unit per volume. A volume that several pods use has a
 * resource of its own, which takes one unit per node, however many of them are there (cluster_share_resource). As in
 * kube-scheduler, claims without a volume count for the provisioner of their class. */
#ifndef SCHEDULE_VOLUME_ATTACH_H
#define SCHEDULE_VOLUME_ATTACH_H

#include "schedule/volume_columns.h"

struct volume_attach;

/* The cluster is sealed; it, the book and the contexts are borrowed. */
struct volume_attach *volume_attach_create(const struct volume_book *book, struct cluster *cluster,
                                           const struct volume_callbacks *callbacks, const void *context);
void volume_attach_destroy(struct volume_attach *attach); /* NULL is a no-op */

/* Appends what the claims of the pod attach. The list has room for an item per claim. */
struct request_list {
	struct resource_amount *items;
	size_t count;
};
void volume_attach_ask(struct volume_attach *attach, const struct pod_spec *pod, struct request_list *list,
                       struct arena *arena);
/* Counts one more of the resource in the list. */
void request_list_add(struct request_list *list, const char *name);

/* The CSINode of a node, or its attachments, changed, or pods that use volumes came or went. */
void volume_attach_node(struct volume_attach *attach, int node);
/* A CSIDriver changed, or nodes came or went: everything is counted again. */
void volume_attach_all(struct volume_attach *attach);
/* Takes over what was only noted. True when a driver has a limit that had none: pods are to be asked again. */
bool volume_attach_settle(struct volume_attach *attach);

#endif
