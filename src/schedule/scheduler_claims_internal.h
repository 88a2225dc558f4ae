/* What the files that deal with the claims of gangs share. */
#ifndef SCHEDULE_SCHEDULER_CLAIMS_INTERNAL_H
#define SCHEDULE_SCHEDULER_CLAIMS_INTERNAL_H

#include "schedule/device_choice.h"
#include "schedule/scheduler_claims.h"
#include "schedule/scheduler_internal.h"
#include "schedule/volume_choice.h"

/* What was chosen for all gangs of a turn, by namespace and name. */
struct claim_choices {
	struct volume_choice *items;
	size_t count;
	const char **problems;               /* by group of the plan; NULL mostly */
	const struct device_choice *devices; /* the same for claims for devices */
	size_t device_count;
};

enum device_step { DEVICE_FINALIZER, DEVICE_STATUS };

/* What a claim for devices is to be given. */
struct awaited_devices {
	char *pod_uid;
	struct device_result *results; /* their texts are its own */
	size_t result_count;
	bool allocated;        /* it was before: only the pod is to be added */
	enum device_step step; /* what was written last */
	unsigned tries;
};

/* A claim that has to be bound before the pods of its gang are. */
struct awaited_claim {
	struct scheduler *scheduler;
	char *namespace_, *name, *uid;
	char *volume;    /* chosen for it; NULL: one is provisioned */
	char *node;      /* of the pod */
	char *pod;       /* that names it */
	bool unanswered; /* what was written for it */
	bool bound;
	int code;                        /* of the answer; below 300 when it was carried out */
	char *message;                   /* of a refusal */
	struct awaited_devices *devices; /* NULL: a claim for a volume */
};

struct awaited_pod {
	char *name, *uid, *node;
};

/* Pods of one gang that are bound together when their claims are. */
struct claim_wait {
	char *namespace_, *group;
	bool implicit; /* a pod without a PodGroup */
	struct awaited_pod *pods;
	struct awaited_claim *claims;
	size_t pod_count, claim_count;
	int64_t deadline;        /* nanoseconds */
	bool assumed;            /* the state knows that the pods keep their places */
	bool ready;              /* every claim is bound */
	bool starts;             /* in this turn: nothing else of its gang is missing, either */
	bool held;               /* ready, and the rest of its gang is not */
	int number;              /* of its group in the plan of this turn; -1 when the pods are elsewhere now */
	struct claim_wait *next; /* of the same group */
	bool changed;            /* what was decided holds no longer */
	bool gives_way;          /* its places were given to others */
};

/* scheduler_claims_choose.c: the pod of a binding, and what was chosen for a claim of it; NULL when nothing has to be. */
const struct pod_spec *claims_spec_of(const struct scheduler_turn *turn, const struct plan_binding *binding);
const struct volume_choice *claims_find_choice(const struct claim_choices *choices, const char *namespace_,
                                               const char *claim);
const struct device_choice *claims_find_device_choice(const struct claim_choices *choices, const char *namespace_,
                                                      const char *claim);

/* scheduler_claims_pods.c: why the pods must not be bound where they were to go: NULL while they wait and their nodes are
 * there. With `now` the nodes have to take them, too. In the arena. */
const char *claims_look_at_pods(const struct scheduler *scheduler, const struct claim_wait *wait, bool now,
                                struct arena *arena);

/* scheduler_claims_start.c: finds among those that are ready the ones that start in this turn. */
void claims_choose_starting(const struct scheduler_turn *turn);
/* Whether these pods would be alone without others of their gang whose claims are not bound yet. */
bool claims_need_others(const struct scheduler_turn *turn, const struct plan_group *group,
                        const struct plan_binding **bindings, size_t count);

enum claim_progress { CLAIM_WAITS, CLAIM_IS_BOUND, CLAIM_HAS_FAILED };

/* scheduler_claims_write.c: writes what was chosen for the claim; the answer is noted in it. */
void claims_write(struct awaited_claim *claim);
/* Whether it is bound, and to a volume that its node reaches; *why, in the arena, when it has failed. */
enum claim_progress claims_look(struct awaited_claim *claim, struct arena *arena, const char **why);
/* Takes back what was written for the claim, if nobody has used it. */
void claims_take_back(const struct awaited_claim *claim);
/* Whether a node is selected for the claim, which has no volume yet; and taking that back, whoever wrote it. */
bool claims_is_pinned(const struct scheduler *scheduler, const char *namespace_, const char *claim);
void claims_free(struct scheduler *scheduler, const char *namespace_, const char *claim);

/* scheduler_claims_pins.c: takes back nodes that were selected before, for gangs that cannot be placed with them. */
void claims_unpin(const struct scheduler_turn *turn);
/* The answer to a write about a claim: from store_commit. */
void claims_answered(void *context, const struct store_result *result);
void claims_refuse(struct awaited_claim *claim, int code, const char *format, const char *name);

/* scheduler_devices.c: the same for claims for devices; the first two write what comes next. */
void claims_devices_write(struct awaited_claim *claim);
enum claim_progress claims_devices_look(struct awaited_claim *claim, struct arena *arena, const char **why);
/* Whether the claim is allocated and reserved for the pod as far as the store knows, which may be ahead of the live state: what
 * was taken back is seen there at once. NULL as its name is no. */
bool claims_devices_are_ready(const struct scheduler *scheduler, const char *namespace_, const char *name,
                              const char *pod_uid);
void claims_devices_take_back(const struct awaited_claim *claim);
struct awaited_devices *claims_devices_copy(const struct device_choice *choice, const char *pod_uid);
void claims_devices_free(struct awaited_devices *devices); /* NULL is a no-op */
/* Devices that waits have been given, for device_choices_find; to be destroyed with interner_destroy. */
struct interner *claims_devices_given(const struct scheduler *scheduler);
device_is_given claims_devices_is_given;

#endif
