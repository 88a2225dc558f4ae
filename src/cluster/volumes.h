/* Volumes of the embedded cluster: stand-ins for the PersistentVolume controller, for the controller of generic ephemeral
 * volumes, and for an external provisioner. Claims get volumes and say so with the same fields, annotations, phases and
 * events as on a real cluster. Nothing here runs against a real cluster, and nothing is kept that the store does not have.
 *
 * Every StorageClass whose provisioner is not kubernetes.io/no-provisioner is served. Its parameters say how: */
#ifndef CLUSTER_VOLUMES_H
#define CLUSTER_VOLUMES_H

#include "base/clock.h"
#include "base/log.h"
#include "api/store.h"

/* Seconds until the volume is there, or "never". */
#define VOLUMES_SECONDS "platoon.dev/provision-seconds"
/* Names separated by commas: provisioning fails for these claims, for these nodes; for both when both are given. */
#define VOLUMES_FAIL_CLAIMS "platoon.dev/fail-claims"
#define VOLUMES_FAIL_NODES "platoon.dev/fail-nodes"
/* How often it fails for a claim before it works; without it always, if one of the two above is given. */
#define VOLUMES_FAIL_TIMES "platoon.dev/fail-times"
/* The label by which nodes reach the volume, kubernetes.io/hostname unless given. */
#define VOLUMES_TOPOLOGY "platoon.dev/topology-key"

struct volumes;

struct volumes_options {
	struct store *store;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

struct volumes *volumes_create(const struct volumes_options *options);
void volumes_destroy(struct volumes *volumes); /* NULL is a no-op */
/* As reconciler_step. */
int volumes_step(struct volumes *volumes);

#endif
