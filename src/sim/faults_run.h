/* What the parts of random runs share. Private to src/sim. */
#ifndef SIM_FAULTS_RUN_H
#define SIM_FAULTS_RUN_H

#include "base/random.h"
#include "base/vec.h"
#include "sim/faults.h"
#include "sim/invariants_world.h"
#include "sim/simulate.h"
#include "sim/steps.h"

#define FAULT_GROUPS 24
#define FAULT_LEAVES 6
#define FAULT_WORKLOADS 12

enum fault_claims {
	FAULT_CLAIM_NONE,
	FAULT_CLAIM_EACH,      /* of the name of the pod: it stays when the pod goes */
	FAULT_CLAIM_EPHEMERAL, /* comes and goes with the pod */
	FAULT_CLAIM_SHARED,    /* of all pods of the group */
};

enum fault_devices { FAULT_DEVICES_NONE, FAULT_DEVICES_ANY, FAULT_DEVICES_BIG };

/* What the owner of a group wants; the owner itself is outside of the world, as Jobs and other workloads are. */
struct fault_group {
	char name[16];
	bool alive;
	int leaf_count;
	char leaves[FAULT_LEAVES][16]; /* "" for a group without subgroups */
	int wanted[FAULT_LEAVES];      /* pods */
	int cpu, gpu;                  /* of each pod */
	int run_seconds;               /* pods complete after this; 0: never */
	bool same_names;               /* a pod that is gone comes back under its name */
	int serial;
	enum fault_claims claims;
	bool made;       /* its volumes are provisioned, not local */
	bool single_use; /* ReadWriteOncePod */
	int size;        /* Gi */
	enum fault_devices devices;
	int devices_each; /* of each pod */
};

enum fault_workload { FAULT_JOB, FAULT_DEPLOYMENT, FAULT_ROLES };

struct fault_node {
	const char *name;
	struct doc *object; /* to bring it back with */
	bool gone;
};

struct fault_run {
	struct fault_options options;
	const struct settings *settings; /* as the run begins with */
	struct random random;
	struct simulation *simulation;
	struct world_invariants *invariants;
	struct scenario_result result; /* violations */
	struct arena *arena;
	struct fault_outcome *outcome;
	size_t trace_capacity;
	/* faults in force: */
	int refuse_percent; /* of the world's writes */
	int slow_ms;        /* a write takes up to this */
	int calm_in;        /* steps after which the two above end */
	int die_in;         /* writes until the process dies, -1: it does not */
	bool dead;
	bool excused;         /* a write of this turn was refused */
	int64_t backwards_ns; /* the clock was set back by this in all */
	/* cluster and workloads: */
	VEC(struct fault_node) nodes;
	struct fault_group groups[FAULT_GROUPS];
	int group_count;
	int single_count;
	enum fault_workload workloads[FAULT_WORKLOADS];
	int workload_count;
	int queue_count;
	int first_queue; /* the ones before it are parents */
	/* volumes and budgets: */
	struct random storage;
	bool has_volumes, has_budgets;
	int volume_count, budget_count;
	/* devices: */
	struct random devices;
	bool has_devices;
	int device_generation; /* of the slice that was published last */
};

/* Adds a line to the trace. */
void faults_trace(struct fault_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Applies objects written as YAML. A refusal is a fault of the generator and ends the run. */
void faults_apply(struct fault_run *run, const char *yaml);

/* faults_generate.c: the cluster, and one random change of its workloads. */
void faults_make_cluster(struct fault_run *run);
void faults_change(struct fault_run *run);
/* faults_workloads.c: one random change of Jobs, Deployments and RoleBasedGroups. */
void faults_change_workload(struct fault_run *run);
/* The owners create what is missing. Pods created. */
int faults_replace_missing(struct fault_run *run);

/* faults_storage.c: volumes and budgets. The first when the nodes are known; the last may change something. */
void faults_make_storage(struct fault_run *run);
void faults_choose_claims(struct fault_run *run, struct fault_group *group);
/* The claim of a pod, if it is not there, as a document; and the volumes in the spec of the pod. */
void faults_print_claim(struct fault_run *run, const struct fault_group *group, const char *pod, struct buffer *out);
void faults_print_volumes(const struct fault_group *group, const char *pod, struct buffer *out);
void faults_change_storage(struct fault_run *run);

/* faults_devices.c: the same for devices; the third prints the claims in the spec of a pod. */
void faults_make_devices(struct fault_run *run);
void faults_choose_devices(struct fault_run *run, struct fault_group *group);
void faults_print_devices(const struct fault_group *group, struct buffer *out);
void faults_change_devices(struct fault_run *run);

/* faults_strike.c */
void faults_remember_nodes(struct fault_run *run);
/* Something goes wrong, if one of the faults of the run is due. */
void faults_strike(struct fault_run *run);
/* Before the world goes on: what was done from outside was answered, so a crash must not lose it. */
void faults_secure(struct fault_run *run);
/* Nothing goes wrong any more. */
void faults_stop(struct fault_run *run);
struct store_fault faults_on_write(void *context, const struct store_request *request);

#endif
