/* Segments of one coordination: how many replicas of each role may exist next.
 *
 * A rule (a coordination with segmentPlacement, or with roleDeployStep, which is the same thing) gives a size to each
 * of its roles. The first i segments of a role end at min(i * size, desired); a role that needs fewer segments than
 * others is complete early and limits nobody from then on. Segments are numbered from 1 in what users read; as an
 * index of ordinals, segment number i holds the ordinals from segment_end(i - 1) up to segment_end(i).
 *
 * Roles and rules are arrays of the caller; a role is its index. A role that wants 0 replicas, a size below 1 and a
 * role index out of range are left out, so that nothing here depends on admission. All counts are at most INT32_MAX;
 * negative ones count as 0. */
#ifndef ROLLOUT_SEGMENTS_H
#define ROLLOUT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_NO_ROLE SIZE_MAX

/* What a PodGroup of a role in segments holds: one instance (the default), or a whole segment. */
enum segment_gang { SEGMENT_GANG_INSTANCE, SEGMENT_GANG_SEGMENT };

enum segment_progression {
	SEGMENT_ORDERED_READY, /* the next segment when the ones before it are ready; the default */
	SEGMENT_ORDERED,       /* when the ones before it have been created */
	SEGMENT_PARALLEL       /* all at once */
};

/* "OrderedReady", "Ordered", "Parallel". */
const char *segment_progression_name(enum segment_progression progression);
/* Takes the names above; NULL and "" are OrderedReady. False (*out untouched) for anything else. */
bool segment_progression_parse(const char *name, enum segment_progression *out);

struct segment_role {
	const char *name;
	int64_t desired; /* replicas the user, or an autoscaler, wants */
	/* Replicas that exist: highest ordinal + 1, so that a gap does not look like a scale-down. Surge instances of a
	 * rolling update do not count. */
	int64_t current;
	int64_t asked; /* replicas the workload was last told to have; 0 when unknown */
	int64_t ready; /* how many are ready */
	/* By ordinal, `current` entries. NULL for workloads without ordinals: then `ready` counts as the first ones. */
	const bool *is_ready;
};

struct segment_size {
	size_t role;
	int64_t size;
};

struct segment_rule {
	const char *name;
	enum segment_progression progression;
	const struct segment_size *sizes;
	size_t count;
};

struct segment_state {
	int64_t total;    /* segments the rule has in the end */
	int64_t created;  /* leading segments that exist in full */
	int64_t next;     /* leading segments that may exist now */
	int64_t ready;    /* segments, anywhere, that are ready in full */
	bool is_open;     /* the created segments are ready, or the progression does not care */
	bool is_finished; /* created == total */
	size_t waits_for; /* a role of the created segments that is not ready; SEGMENT_NO_ROLE when none */
	int64_t waits_in; /* number of its first segment that is not ready; 0 when none */
};

/* Where the first `number` segments of a role end. */
int64_t segment_end(int64_t number, int64_t size, int64_t desired);
/* Segments the role needs; 0 when it wants no replicas. */
int64_t segment_count(int64_t size, int64_t desired);
/* The segment, counted from 0, that an ordinal belongs to: the sub-group number. */
int64_t segment_of(int64_t ordinal, int64_t size);

/* Ordinals from 0 that are ready without a gap. */
int64_t segment_ready_prefix(const struct segment_role *role);
/* Replicas a role keeps while it may not grow: what exists or was asked for, at most what is desired. Lowering desired
 * therefore always takes effect at once; the workload removes the highest ordinals first. */
int64_t segment_hold(const struct segment_role *role);

void segment_judge(const struct segment_role *roles, size_t role_count, const struct segment_rule *rule,
                   struct segment_state *state);
/* What the rule allows this role; never below segment_hold, never above desired. */
int64_t segment_target(const struct segment_role *role, int64_t size, const struct segment_state *state);

#endif
