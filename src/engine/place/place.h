/* Placement of one gang: a complete search with three outcomes that are never blurred.
 *
 * engine_place decides the minimum of the whole tree; engine_grow adds one unit of surplus to a gang whose minimum is
 * met (a child brought to its minimum as a unit, or one pod). Neither changes the cluster: engine_commit does. */
#ifndef ENGINE_PLACE_PLACE_H
#define ENGINE_PLACE_PLACE_H

#include "base/arena.h"
#include "engine/cluster/cluster.h"
#include "engine/gang/gang.h"

enum place_outcome {
	PLACE_PLACED,     /* pods[] says where */
	PLACE_NOTHING,    /* nothing to do: the minimum is met already (place), or no surplus is waiting (grow) */
	PLACE_IMPOSSIBLE, /* proved: no placement exists under the constraints and the present cluster */
	PLACE_EXHAUSTED,  /* the step budget ran out before an answer */
	PLACE_NOT_READY,  /* the existing pods cannot reach the minimum; not attempted */
};

struct place_bias; /* private to the engine: where a placement costs least */

/* What the pods that are chosen may count for together, for gangs that leave a choice. */
#define PLACE_ALLOWANCES 3
struct place_allowance {
	int64_t left[PLACE_ALLOWANCES];
	const int64_t (*counts)[PLACE_ALLOWANCES]; /* by pod class: what one pod counts for */
};

struct place_options {
	uint64_t budget;    /* search steps; 0 = PLACE_DEFAULT_BUDGET */
	bool use_releasing; /* count resources of releasing pods as free: the result is a reservation */
	bool empty_cluster; /* as if nothing ran: where could it go at all? Not to be committed */
	bool look_ahead;    /* take domains that also hold the pods that are still to come, where there are any */
	const struct place_bias *bias;           /* NULL: none */
	const struct place_allowance *allowance; /* NULL: none */
};
#define PLACE_DEFAULT_BUDGET 2000000u

struct place_choice {
	int pod; /* index in gang->pods */
	int node;
};

/* Where a pod that is still to come has room, beside those that were chosen. */
struct place_coming {
	int leaf, pod_class, node;
};

struct placement {
	enum place_outcome outcome;
	bool reserve;                 /* choices are reservations: releasing resources were counted as free */
	struct place_choice *choices; /* in the arena; sorted by pod index */
	size_t choice_count;
	struct place_coming *coming; /* in the arena; all that are to come in the parts that were decided, or none */
	size_t coming_count;
	uint64_t steps;            /* search steps spent */
	bool preference_exhausted; /* the budget ended while improving preferences; the placement itself is valid */
	int blocking_node;         /* tree node that could not be placed, -1 when unknown; for explanations */
};

/* Both fill `out`, whose choices are in the arena, and return its outcome. They change nothing but caches of the cluster. The
 * arena takes what the search needs, which may be much: reset it after the answer was used. */
enum place_outcome engine_place(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                                struct arena *arena, struct placement *out);
enum place_outcome engine_grow(struct cluster *cluster, const struct gang *gang, const struct place_options *options,
                               struct arena *arena, struct placement *out);
/* All waiting surplus in one decision, or nothing: for the last group in line, so that thousands of pods do not take
 * thousands of decisions. PLACE_IMPOSSIBLE says only that not everything fits. */
enum place_outcome engine_grow_all(struct cluster *cluster, const struct gang *gang,
                                   const struct place_options *options, struct arena *arena, struct placement *out);
/* Applies the choices: the cluster is occupied and the gang's pods become RUNNING (or RESERVED). */
void engine_commit(struct cluster *cluster, struct gang *gang, const struct placement *placement);

/* Checks a gang's present members against the rules that hold as long as they run: required levels, anti-affinity of their own,
 * no over-commit, volumes for their claims. NULL when all hold, otherwise a text in the arena. */
const char *engine_verify(const struct cluster *cluster, const struct gang *gang, struct arena *arena);
/* The same, right after engine_commit, and all that counts at the moment of placement: minimums of the tree, and for every chosen
 * pod its node rules, affinity, anti-affinity of others, topology spread, and that a pod that is not reserved fits beside pods
 * that leave. Slow: for simulations and tests. */
const char *engine_verify_placement(const struct cluster *cluster, const struct gang *gang,
                                    const struct placement *placement, struct arena *arena);

#endif
