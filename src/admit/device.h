/* Devices, resource.k8s.io/v1: what a ResourceSlice offers, and the expressions of DeviceClass, ResourceClaim and
 * ResourceClaimTemplate that select among it. */
#ifndef ADMIT_DEVICE_H
#define ADMIT_DEVICE_H

#include "base/labels.h"
#include "base/problems.h"
#include "cel/cel.h"
#include "object/doc.h"

/* How much of a counter a device takes while somebody has it. */
struct device_draw {
	const char *set, *counter;
	int64_t amount;
};

struct device_spec {
	const char *name;
	struct cel_device seen; /* what expressions see of it */
	struct taint *taints;   /* those that keep claims away: NoSchedule and NoExecute */
	size_t taint_count;
	struct device_draw *draws;
	size_t draw_count;
	const char *node;     /* the only one it can be reached from; NULL: not served, and `unserved` says so */
	const char *unserved; /* a field that decides who gets it and is not served; NULL mostly */
	bool unreadable;      /* of some attribute: what expressions say about the device is not known */
};

/* What the devices of a pool share. */
struct device_counter {
	const char *set, *name;
	int64_t value;
};

struct device_slice {
	const char *name, *driver, *pool;
	int64_t generation, pool_slices; /* of the pool; how many slices it has, 1 when it does not say */
	struct device_spec *devices;
	size_t device_count;
	struct device_counter *counters;
	size_t counter_count;
};

/* 0 when usable, -1 when errors were added. Texts are borrowed from the document, arrays are in the arena. Lists as
 * attributes are not supported: a warning, and the device is unreadable. */
int device_slice_decode(const struct val *object, struct arena *arena, struct device_slice *out,
                        struct problems *problems);

/* An expression that the API server refuses is an error, one that is not supported here a warning. Of a class among
 * slices also: an expression that fails for a device, and selectors that no device passes. */
void device_class_judge(const struct val *object, const struct device_slice *slices, size_t slice_count,
                        struct arena *arena, struct problems *problems);
void device_claim_judge(const struct val *object, struct arena *arena, struct problems *problems);
void device_claim_template_judge(const struct val *object, struct arena *arena, struct problems *problems);

#endif
