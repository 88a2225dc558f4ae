/* Claims for devices, and the classes they name: ResourceClaims and DeviceClasses, reduced to what allocation needs. */
#ifndef ADMIT_DEVICE_CLAIM_H
#define ADMIT_DEVICE_CLAIM_H

#include "admit/pod.h"
#include "base/quantity.h"

/* DeviceClass. */
struct device_class_spec {
	const char *name;
	const char **selectors; /* expressions, all of which have to be true */
	size_t selector_count;
	const char *unserved; /* a field that is not known; NULL mostly */
};

/* So much of a capacity that a device has to have. */
struct device_capacity {
	const char *name; /* "domain/id", or an id in the domain of the driver */
	struct quantity amount;
};

/* One way to serve a request: so many devices of a class, each of which passes all selectors. */
struct device_option {
	const char *name; /* as results name it: "gpu", or "gpu/large" of firstAvailable */
	const char *class_;
	const char **selectors;
	size_t selector_count;
	struct toleration *tolerations;
	size_t toleration_count;
	struct device_capacity *capacities;
	size_t capacity_count;
	int64_t count; /* 1 with `all`: at least */
	bool all;      /* every device there is, instead of so many */
	bool admin;    /* beside those who have it */
};

struct device_request {
	const char *name;
	struct device_option *options; /* in order of preference; exactly one but for firstAvailable */
	size_t option_count;
};

/* All devices of the requests have the same value of an attribute, or no two of them. */
struct device_constraint {
	const char **requests; /* names of requests or options; none: all of the claim */
	size_t request_count;
	const char *attribute; /* "domain/id", or an id in the domain of the driver */
	bool distinct;
};

/* A device that was allocated to a claim. */
struct device_result {
	const char *request, *driver, *pool, *device;
	bool admin; /* beside others: it is not taken */
};

struct device_claim_spec {
	const char *namespace_, *name, *uid;
	const char *owner; /* uid of the controller that owns it, NULL for none */
	bool deleting;
	struct device_request *requests;
	size_t request_count;
	struct device_constraint *constraints;
	size_t constraint_count;
	const char *unserved; /* the path of a field that is not served; NULL mostly */
	bool allocated;
	struct device_result *results;
	size_t result_count;
	bool has_terms; /* the allocation is for some nodes only */
	struct node_term *terms;
	size_t term_count;
	const char **users; /* uids in status.reservedFor */
	size_t user_count;
};

/* DeviceTaintRule: a taint of devices, as if their slice had it. Texts that are NULL are of no matter. */
struct device_rule_spec {
	const char *name;
	const char *driver, *pool, *device;
	struct taint taint;
	bool keeps_away; /* its effect is NoSchedule or NoExecute */
};

/* All: 0 when usable, -1 when errors were added. Texts are borrowed from the document or in the arena. */
int device_class_decode(const struct val *object, struct arena *arena, struct device_class_spec *out,
                        struct problems *problems);
int device_claim_decode(const struct val *object, struct arena *arena, struct device_claim_spec *out,
                        struct problems *problems);
int device_rule_decode(const struct val *object, struct arena *arena, struct device_rule_spec *out,
                       struct problems *problems);

#endif
