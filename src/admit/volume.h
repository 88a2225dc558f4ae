/* Volumes: PersistentVolumes and claims. What they mean for pods is in volume_book.h. */
#ifndef ADMIT_VOLUME_H
#define ADMIT_VOLUME_H

#include "admit/pod.h"

/* Access modes, as bits. */
enum {
	ACCESS_READ_WRITE_ONCE = 1,
	ACCESS_READ_ONLY_MANY = 2,
	ACCESS_READ_WRITE_MANY = 4,
	ACCESS_READ_WRITE_ONCE_POD = 8,
};

enum volume_phase { VOLUME_PENDING, VOLUME_AVAILABLE, VOLUME_BOUND, VOLUME_RELEASED, VOLUME_FAILED };

/* PersistentVolume. Texts that are absent are "". */
struct volume_spec {
	const char *name;
	struct labels labels; /* sorted */
	const char *class_, *attributes_class;
	int64_t capacity; /* bytes */
	unsigned modes;   /* ACCESS_... */
	bool block;       /* volumeMode Block, not Filesystem */
	bool deleting;
	enum volume_phase phase; /* pending when it says none */
	bool has_claim;          /* claimRef */
	const char *claim_namespace, *claim_name, *claim_uid;
	bool has_terms;
	struct node_term *terms; /* spec.nodeAffinity.required, OR of terms */
	size_t term_count;
	const char *driver, *handle; /* of csi, or of what a plugin in the tree was migrated to */
};

/* PersistentVolumeClaim. Texts that are absent are "", but for those that say NULL. */
struct claim_spec {
	const char *namespace_, *name, *uid;
	const char *class_; /* of the annotation volume.beta.kubernetes.io/storage-class, else of the spec */
	const char *attributes_class;
	const char *volume;        /* spec.volumeName, NULL while there is none */
	bool bound;                /* has a volume and the annotation pv.kubernetes.io/bind-completed */
	bool lost;                 /* status.phase Lost: its volume is gone */
	const char *selected_node; /* annotation volume.kubernetes.io/selected-node, NULL when absent */
	bool deleting;
	bool has_request;
	int64_t request; /* bytes of storage, 0 when absent */
	unsigned modes;
	bool block;
	bool has_selector;
	struct selector selector;
	const char *owner; /* uid of the controller that owns it, NULL for none */
};

/* The CSI driver that serves what a plugin in the tree once did (kubernetes.io/aws-ebs, ...); other names stay as they are. */
const char *volume_driver_of(const char *provisioner);

int volume_decode(const struct val *object, struct arena *arena, struct volume_spec *out, struct problems *problems);
int claim_decode(const struct val *object, struct arena *arena, struct claim_spec *out, struct problems *problems);
#endif
