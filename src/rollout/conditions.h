/* The conditions of a RoleBasedGroup that is deployed in segments. */
#ifndef ROLLOUT_CONDITIONS_H
#define ROLLOUT_CONDITIONS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum condition_slot {
	CONDITION_READY,            /* Ready */
	CONDITION_MINIMUM_SEGMENTS, /* MinimumSegmentsAvailable */
	CONDITION_MINIMUM_REPLICAS, /* MinimumReplicasAvailable: the same under the name the prose of the design uses */
	CONDITION_SLOTS
};

struct condition_text {
	const char *type;
	bool is_true;
	const char *reason;
	const char *message;
};

struct condition_facts {
	int64_t segments_ready, segments_total; /* of the coordination that is worst off (merge_plan.worst) */
	bool is_minimum_met;                    /* every coordination has a ready segment */
	int64_t pods_ready, pods_desired;       /* pods, not replicas: a replica can have several */
	/* Pods desired when everything was last ready; 0 when it never was. The caller keeps it in the status. */
	int64_t complete_at;
	bool is_updating; /* an update goes on, and nobody holds it */
};

/* Fills all slots; texts live in the arena or for ever. */
void condition_segments(const struct condition_facts *facts, struct arena *arena,
                        struct condition_text conditions[CONDITION_SLOTS]);
/* Ready of a group without segments. */
struct condition_text condition_roles(bool is_ready);
/* What to keep as complete_at after this pass. */
int64_t condition_complete_at(const struct condition_facts *facts);

#endif
