/* Device fit: whether claims get devices of one node together, and which, where counting does not say.
 *
 * Pure: devices, counters and claims are numbers, and the answer depends on nothing else. A search that is exact within a
 * number of steps: devices that are alike are tried once, and what was refuted is not tried again. */
#ifndef ENGINE_CLUSTER_DEVICE_FIT_H
#define ENGINE_CLUSTER_DEVICE_FIT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIT_MOST_DEVICES 32 /* of one claim: the API server stores no more */

/* What a device takes of a counter while somebody has it. */
struct fit_draw {
	int counter;
	int64_t amount;
};

struct fit_device {
	uint64_t asks;         /* by which it is selected */
	uint64_t barred;       /* by which it would be, if a taint did not keep them away */
	const int32_t *values; /* by attribute: equal numbers are equal values; -1: it has none */
	const struct fit_draw *draws;
	size_t draw_count;
};

/* One way to serve a request. */
struct fit_choice {
	int ask;
	int count;
	bool all;       /* every device that the ask selects, at least one, instead of `count` */
	bool admin;     /* beside those who have the device: it need not be free, and is not taken */
	uint32_t rules; /* of the claim, that hold for it: a bit each */
};

struct fit_request {
	const struct fit_choice *choices; /* the first that can be had, in this order */
	size_t choice_count;
};

/* The devices that the claim gets all have the same value of the attribute, or no two of them have. */
struct fit_rule {
	int attribute;
	bool distinct;
};

struct fit_claim {
	const struct fit_request *requests;
	size_t request_count;
	const struct fit_rule *rules;
	size_t rule_count;
};

struct fit_problem {
	const struct fit_device *devices; /* those in front are preferred */
	size_t device_count;
	const bool *free;    /* by device */
	const int64_t *left; /* by counter: what others than `claims` leave of it */
	size_t counter_count;
	size_t attribute_count;
	const struct fit_claim *const *claims; /* those that are alike side by side */
	size_t claim_count;
	uint64_t steps; /* the most that are made */
};

/* A device for a request. */
struct fit_pick {
	int claim, request, choice, device;
};

enum fit_answer { FIT_NO, FIT_YES, FIT_UNKNOWN };

enum fit_cause { FIT_SELECTED_NONE, FIT_IN_USE, FIT_RULE, FIT_COUNTER };

struct fit_result {
	struct fit_pick *picks; /* in the order of claims and requests; in the arena */
	size_t pick_count;
	/* Of FIT_NO: how far it came. */
	int claim, request, choice;
	enum fit_cause cause;
	int which; /* the rule or the counter */
	uint64_t steps;
};

/* FIT_UNKNOWN: more than so many steps would be needed. A subset of claims that fit fits, too. */
enum fit_answer device_fit(const struct fit_problem *problem, struct arena *arena, struct fit_result *out);

#endif
