/* Storage: the objects of storage.k8s.io that say where a volume can be made and how many a node can attach. */
#ifndef ADMIT_STORAGE_H
#define ADMIT_STORAGE_H

#include "admit/pod.h"

enum binding_mode {
	BINDING_UNSET, /* the API server sets it; an object without it is not usable yet */
	BINDING_IMMEDIATE,
	BINDING_WAIT, /* WaitForFirstConsumer */
};

struct storage_class_spec { /* StorageClass */
	const char *name;
	const char *provisioner; /* NULL when none can make volumes: absent, or kubernetes.io/no-provisioner */
	enum binding_mode mode;
	struct node_term *terms; /* allowedTopologies, OR of terms; none: everywhere */
	size_t term_count;
};

struct csi_driver_spec { /* CSIDriver */
	const char *name;
	bool storage_capacity; /* it publishes how much can be made where, and wants that to be honoured */
	bool needed_on_node;   /* preventPodSchedulingIfMissing */
};

struct csi_node_driver {
	const char *name;
	int64_t limit; /* volumes that can be attached, -1 for no limit */
};

struct csi_node_spec {    /* CSINode */
	const char *name; /* of the node */
	struct csi_node_driver *drivers;
	size_t driver_count;
};

struct storage_capacity_spec { /* CSIStorageCapacity */
	const char *namespace_, *name;
	const char *class_;
	bool has_topology; /* otherwise it is nowhere */
	struct selector topology;
	int64_t largest; /* size of the largest volume: maximumVolumeSize, else capacity, else -1 */
};

struct attachment_spec { /* VolumeAttachment */
	const char *name;
	const char *attacher, *node;
	const char *volume; /* PersistentVolume, NULL for an inline one */
};

/* All: 0 when usable (warnings allowed), -1 when errors were added (then *out is unusable). Strings live in the arena or in
 * the document; texts that are absent are "" unless said otherwise. */
int storage_class_decode(const struct val *object, struct arena *arena, struct storage_class_spec *out,
                         struct problems *problems);
int csi_driver_decode(const struct val *object, struct arena *arena, struct csi_driver_spec *out,
                      struct problems *problems);
int csi_node_decode(const struct val *object, struct arena *arena, struct csi_node_spec *out,
                    struct problems *problems);
int storage_capacity_decode(const struct val *object, struct arena *arena, struct storage_capacity_spec *out,
                            struct problems *problems);
int attachment_decode(const struct val *object, struct arena *arena, struct attachment_spec *out,
                      struct problems *problems);

#endif
