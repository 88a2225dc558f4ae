/* Devices, resource.k8s.io/v1: what a ResourceSlice offers, and the expressions of DeviceClass, ResourceClaim and
 * ResourceClaimTemplate that select among it. */
#ifndef ADMIT_DEVICE_H
#define ADMIT_DEVICE_H

#include "base/problems.h"
#include "cel/cel.h"
#include "object/doc.h"

struct device_spec {
	const char *name;
	struct cel_device seen; /* what expressions see of it */
};

struct device_slice {
	const char *name, *driver;
	struct device_spec *devices;
	size_t device_count;
};

/* 0 when usable, -1 when errors were added. Texts are borrowed from the document, arrays are in the arena. Lists as
 * attributes are not supported: a warning, and the device is left out. */
int device_slice_decode(const struct val *object, struct arena *arena, struct device_slice *out,
                        struct problems *problems);

/* An expression that the API server refuses is an error, one that is not supported here a warning. Of a class among
 * slices also: an expression that fails for a device, and selectors that no device passes. */
void device_class_judge(const struct val *object, const struct device_slice *slices, size_t slice_count,
                        struct arena *arena, struct problems *problems);
void device_claim_judge(const struct val *object, struct arena *arena, struct problems *problems);
void device_claim_template_judge(const struct val *object, struct arena *arena, struct problems *problems);

#endif
