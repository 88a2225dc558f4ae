/* Device columns: devices that claims may get, as amounts of the cluster.
 *
 * What a request selects, by its class, its selectors and its tolerations, is an *ask*. Requests want some of the devices
 * of their ask and no matter which, so whether all of them get theirs is a matter of counting (Hall's condition): there is a
 * column per ask, and one per union of asks that overlap, in which a node has as many units as devices; a request takes its
 * units of every column that holds all that it selects. Columns are what the engine knows already.
 *
 * What is taken: a pod on a node requests what its claim was allocated. Devices that are allocated to claims of nobody on their
 * node, or in a pool that is being published, are occupied by these columns themselves: they are there, and not free.
 *
 * Where claims ask for more than a number of devices each (rules between devices, alternatives, counters), counting is an upper bound:
 * then the engine also gets a device stock (engine/cluster/device_stock.h), a column per sort of claim and one per device of a node. */
#ifndef SCHEDULE_DEVICE_COLUMNS_H
#define SCHEDULE_DEVICE_COLUMNS_H

#include "admit/device_book.h"
#include "engine/cluster/cluster.h"
#include "schedule/volume_columns.h"

#define DEVICE_COLUMN "devices/" /* how their names begin */

struct device_columns;

/* Which asks, or which devices by the asks that select them. */
typedef uint64_t device_mask;

/* What the claims of a pod ask for, for device_columns_leave. */
struct device_asked {
	device_mask asks;
	device_mask sorts; /* of claims that are not allocated */
};

/* How many pods that have not finished name a claim; those that are leaving count. */
typedef size_t device_users(const void *context, const char *namespace_, const char *claim);

/* The cluster is sealed; it, the book and the context are borrowed. Takes in what is in the book. */
struct device_columns *device_columns_create(const struct device_book *book, struct cluster *cluster,
                                             device_users *users, const void *context);
void device_columns_destroy(struct device_columns *columns); /* NULL is a no-op */

/* Adds what the device claims of the pod ask for; `node`: where it is, -1 for nowhere. What is added is in the arena. */
struct device_asked device_columns_ask(struct device_columns *columns, const struct pod_spec *pod, int node,
                                       struct arena *arena, struct volume_needs *needs);
/* The pod goes, or is about to be asked again. */
void device_columns_leave(struct device_columns *columns, const struct pod_spec *pod, struct device_asked asked);
/* Whether, since the last call, something changed that all pods with device claims are to be asked again for. */
bool device_columns_grew(struct device_columns *columns);

/* The slice or claim of that name came, changed or is gone, or who names the claim changed; the book shows it. */
void device_columns_slice(struct device_columns *columns, const char *name);
void device_columns_claim(struct device_columns *columns, const char *namespace_, const char *name);
/* Before nodes come or go, and after it. */
void device_columns_lift(struct device_columns *columns);
void device_columns_nodes(struct device_columns *columns);
/* Before a cycle: takes over what was only noted. */
void device_columns_settle(struct device_columns *columns);
/* Whether so much is left of former asks that it is time to begin anew. */
bool device_columns_worn(const struct device_columns *columns);

#endif
