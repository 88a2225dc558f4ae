/* What the files of the cycle share. Nothing outside src/engine includes this. */
#ifndef ENGINE_CYCLE_INTERNAL_H
#define ENGINE_CYCLE_INTERNAL_H

#include "engine/cycle.h"
#include "engine/share.h"

struct cycle_run {
	struct cycle *cycle;
	struct share_queue *shares; /* parallel to cycle->queues */
	struct share_claim claim;
	struct arena *scratch; /* of one decision; reset before the next */
};

/* Shares of all queues from what is settled and what the groups of this cycle hold and ask for. */
void cycle_open_accounts(struct cycle_run *run, int64_t total[CYCLE_RESOURCES]);

/* CYCLE_GPU, CYCLE_CPU, CYCLE_MEMORY, or -1 for resources queues do not count. */
int cycle_resource_of(const char *name);
bool cycle_is_member(const struct gang_pod *pod);
/* Adds what one pod of the kind counts against queues. */
void cycle_pod_amounts(const struct cluster *cluster, int kind, int64_t amounts[CYCLE_RESOURCES]);
/* Adds (sign 1) or takes off (sign -1) amounts in a queue and all above it. */
void cycle_charge(struct cycle_run *run, int queue, const int64_t *amounts, bool is_protected, int sign);
/* Whether limits, and for protected pods quotas, of the queue and all above it allow the amounts. */
bool cycle_queue_has_room(const struct cycle_run *run, int queue, const int64_t *amounts, bool is_protected);
/* False, and a reason on the group, when a limit or the quota of protected pods does not allow the amounts. */
bool cycle_queue_allows(struct cycle_run *run, struct cycle_group *group, const int64_t *amounts, bool is_protected);
void cycle_evict(struct cycle *cycle, struct cycle_eviction eviction);
/* Whether the pod counts as protected: all of a non-preemptible group, the minimum of a semi-preemptible one. */
int64_t cycle_protected_pods(const struct cycle_group *group);

#endif
