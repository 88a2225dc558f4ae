/* A simulated cluster: store, admission, virtual clock and world in one thread, and what can be done to it from outside.
 * Scenarios with steps and random fault runs are both written in terms of these operations.
 *
 * Time moves only in simulation_advance and simulation_settle, from one moment at which something is due to the next. */
#ifndef SIM_SIMULATE_H
#define SIM_SIMULATE_H

#include "base/clock.h"
#include "base/log.h"
#include "object/manifest.h"
#include "cluster/world.h"
#include "loop/settings.h"
#include "remote/config.h"
#include "api/store.h"

#define SIMULATION_ACTOR "simulation" /* actor of every write that comes from outside the world */
/* 2026-01-01T00:01:01Z */
#define SIMULATION_START (INT64_C(1767225661) * CLOCK_SECOND)

struct simulation_options {
	uint64_t seed;                   /* of uids and generated names */
	const struct settings *settings; /* copied; NULL: the usual */
	const struct logger *logger;
	size_t slice; /* of what the scheduler writes in a turn, see scheduler.h; 0: the usual */
	/* Called after each turn, when its writes are committed. May be NULL. */
	void (*after_turn)(void *context);
	void *context;
	/* A real API server instead of a store in memory, NULL: none. Must outlive the simulation. */
	const struct remote_access *access;
};

struct cluster;

struct simulation {
	struct simulation_options options;
	struct clock_virtual clock;
	struct store *store;
	struct settings_source *settings;
	struct world_admission *admission;
	struct world *world;
	uint64_t turns;
	uint64_t changes;        /* turns that wrote something; only counted without a real server */
	struct cluster *cluster; /* NULL: in memory */
	uint64_t collected;      /* version at which everything had its owner */
	struct arena *arena;
	const char *problem; /* why it cannot be used; NULL: it can */
	bool stopped;        /* set by anybody who wants no more turns, for example after a violation */
	int lose_in;    /* after so many turns the process ends before the commit and starts again; 0: it does not */
	bool lost_turn; /* that has happened; for whoever looks at what a turn did */
	int hold;       /* turns whose changes reach watches late: they are committed by the first turn after them */
};

/* When the API server that is asked for cannot be used, `problem` of the result says why, and only destroy is allowed. */
struct simulation *simulation_create(const struct simulation_options *options);
void simulation_destroy(struct simulation *simulation); /* NULL is a no-op */

/* Lets time pass with all that happens in it. -1 when the world never becomes quiet at one moment. */
int simulation_advance(struct simulation *simulation, int64_t ns);
/* Lets time pass until nothing has changed for `quiet_ns`. -1 when that was not reached within `limit_ns`. */
int simulation_settle(struct simulation *simulation, int64_t quiet_ns, int64_t limit_ns);
/* The process ends and starts again: only what is in the store is left. */
void simulation_restart(struct simulation *simulation);

/* Which object. api_version may be NULL for kinds that only one group has; namespace_ NULL or "": default. */
struct simulation_target {
	const char *api_version, *kind, *namespace_, *name;
};

/* All of these write as SIMULATION_ACTOR. 0, or -1 with the refusal in *error, whose texts are in the arena. */
const struct store_api *simulation_api(struct simulation *simulation, const struct simulation_target *target,
                                       struct arena *arena, struct store_error *error);
/* Applies the object; a status in it is written too. */
int simulation_apply(struct simulation *simulation, const struct val *object, struct arena *arena,
                     struct store_error *error);
int simulation_patch(struct simulation *simulation, const struct simulation_target *target, enum store_patch type,
                     enum store_subresource subresource, const struct val *patch, struct arena *arena,
                     struct store_error *error);
/* grace < 0: what the object says. */
int simulation_delete(struct simulation *simulation, const struct simulation_target *target, int64_t grace,
                      struct arena *arena, struct store_error *error);
int simulation_scale(struct simulation *simulation, const struct simulation_target *target, int64_t replicas,
                     struct arena *arena, struct store_error *error);

int simulation_cordon(struct simulation *simulation, const char *node, bool cordoned, struct arena *arena,
                      struct store_error *error);

enum simulation_loss {
	SIMULATION_PODS_WAIT,    /* the node controller of the world gives them up after its time-out */
	SIMULATION_PODS_DELETED, /* they are gone at once */
	SIMULATION_PODS_FAILED,  /* as a kubelet does that is shut down in an orderly way */
};
/* Nothing is heard of the node from now on; what becomes of its pods. */
int simulation_kill_node(struct simulation *simulation, const char *node, enum simulation_loss loss,
                         struct arena *arena, struct store_error *error);
int simulation_restore_node(struct simulation *simulation, const char *node, struct arena *arena,
                            struct store_error *error);

#endif
