/* What the families of workload controllers share. Nobody outside of the workload files includes it. */
#ifndef CLUSTER_WORKLOAD_INTERNAL_H
#define CLUSTER_WORKLOAD_INTERNAL_H

#include "base/labels.h"
#include "kinds/kinds.h"
#include "loop/reconciler.h"
#include "loop/writes.h"
#include "object/build.h"
#include "rollout/percent.h"

#define WORKLOAD_MAX_PODS                                                                                              \
	100000 /* of one object; more is cut off, so that a slip of the pen does not fill the memory */
#define CHILD_LABELS 12

struct workload;

/* Who reconciles the kinds whose rows name this simulator, and what that family has to know about them. */
struct workload_controller {
	enum kind_simulator simulator;
	int (*reconcile)(struct workload *workload);
	const void *details; /* of the family */
};

enum pod_state { POD_WAITING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED };

/* What is asked of every pod in every turn: reading it from the objects takes most of the time of a large one. */
struct pod_look {
	enum pod_state state;
	bool ready, leaving, foreign; /* foreign: somebody else controls it */
	int64_t restarts;             /* of its containers, while it runs */
};

/* One object in work. Everything lives until the end of the turn. */
struct workload {
	struct reconcile *turn;
	struct store *store;
	struct arena *arena;
	struct build *build;
	const struct kind_row *kind;
	const struct workload_controller *controller;
	struct store_object *object;
	const struct val *root, *spec;
	int64_t now;            /* seconds */
	struct store_list pods; /* that it controls, by name */
	struct pod_look *looks; /* at each of them */
	size_t room;            /* creations left for this turn */
	uint64_t salt;          /* where the search for a free name begins */
	bool failed;            /* a write was refused: try again later */
};

/* ---- workload_children.c: children ---- */

enum child_end { CHILD_KEEP_ENDED, CHILD_REPLACE_FAILED, CHILD_REPLACE_ENDED };

/* A child as it should be. All texts are borrowed. */
struct child {
	const char *api_version, *kind; /* NULL: a Pod */
	const char *name;
	const struct val *template_; /* metadata.labels, metadata.annotations, spec */
	struct label labels[CHILD_LABELS], annotations[CHILD_LABELS];
	size_t label_count, annotation_count;
	const char *finalizer;                             /* NULL: none */
	const char *restart_policy, *hostname, *subdomain; /* pods; NULL: of the template */
	struct node *spec;                                 /* instead of that of the template; NULL: that one */
	bool free;                                         /* without an owner: it stays when the owner goes */
	int role;                                          /* meaning is the family's */
	bool hold;                                         /* not to be made now; what exists stays */
	enum child_end when_ended;
	struct store_object *pod; /* set by workload_settle: what exists, borrowed */
};

void child_label(struct child *child, const char *key, const char *value);
void child_annotation(struct child *child, const char *key, const char *value);
/* Names of `key` taken from a number. */
void child_label_number(struct workload *workload, struct child *child, const char *key, int64_t number);

/* A copy of a pod template with the labels and annotations of `more` in it. */
struct node *child_template(struct workload *workload, const struct val *template_, const struct child *more);
/* A refusal becomes an event about the object, and a later try. */
void workload_create(struct workload *workload, struct child *child);
void workload_delete(struct workload *workload, const struct store_object *object);
/* Merges `body` into an object, or into its status. */
void workload_patch(struct workload *workload, const struct store_object *object, enum store_subresource subresource,
                    struct node *body);
/* Makes what is missing, removes what is not wanted (from the last name to the first) and what ended, as each child
 * says. */
void workload_settle(struct workload *workload, struct child *wanted, size_t count);
/* The same for children of another type. */
void workload_settle_list(struct workload *workload, const struct store_list *list, struct child *wanted, size_t count);
void workload_delete_pods(struct workload *workload);
/* The next name of the series "<stem>-xxxxx" that no pod has. */
const char *workload_free_name(struct workload *workload, const char *stem);
/* Children of another type, by name; clear the list. */
void workload_others(struct workload *workload, const char *group, const char *resource, struct store_list *list);
struct store_object *workload_find(const struct store_list *list, const char *name);
/* Due again after so many seconds; the smallest of several counts. */
void workload_again(struct workload *workload, int64_t seconds);

/* ---- workload_children.c: reading ---- */

/* A whole number from 0 to WORKLOAD_MAX_PODS; the fallback when it is missing. */
int64_t workload_number(const struct val *number, int64_t fallback);
const char *workload_label(const struct store_object *object, const char *key); /* NULL when absent */
bool workload_time(const struct val *text, int64_t *seconds);
/* A short word that depends on the content only, not on the order of keys. */
const char *workload_hash(struct arena *arena, const struct val *val, uint64_t salt);
bool workload_condition(const struct val *root, const char *type);          /* is True */
const struct val *workload_since(const struct val *root, const char *type); /* when it got its status */

enum pod_state pod_state(const struct store_object *pod);
bool pod_ready(const struct store_object *pod);
int64_t pod_restarts(const struct store_object *pod);
int64_t pod_exit_code(const struct store_object *pod); /* 0 when it did not end with one */

struct tally {
	int64_t pods, active, ready, succeeded, failed, restarts;
};
/* NULL counts nothing. */
void tally_pod(struct tally *tally, const struct store_object *pod);

/* ---- workload_children.c: status ---- */

/* Opens the status of this turn; observedGeneration is in it. */
struct node *workload_status(struct workload *workload);
void workload_put_conditions(struct workload *workload, struct node *status, const struct condition *conditions,
                             size_t count);
void workload_write_status(struct workload *workload, struct node *status);
/* Whether it has run longer than `limit` seconds since status.startTime; if not, wants a turn then. */
bool workload_late(struct workload *workload, const struct val *limit);
/* Removes an object that ended `ttl` seconds after `end` (when both are given). */
void workload_expire(struct workload *workload, const struct val *ttl, const struct val *end);

/* ---- workload_apps.c ---- */

/* A count, or a share such as "25%" of the whole. */
int64_t workload_share(const struct val *value, struct percent fallback, int64_t whole, enum percent_rounding rounding);

/* ---- one per family ---- */
int workload_replica_set(struct workload *workload);
int workload_deployment(struct workload *workload);
int workload_stateful_set(struct workload *workload);
int workload_daemon_set(struct workload *workload);
int workload_job(struct workload *workload);
/* The name of the PodGroup of Kubernetes itself that the pods of the Job name; it is made when it is missing. NULL when the Job
 * asks for none. */
const char *workload_job_group(struct workload *workload, int64_t parallelism);
int workload_cron_job(struct workload *workload);
int workload_tracked_pod(struct workload *workload);
/* The pod is being deleted and cannot go before its Job has counted it. */
bool workload_job_holds(const struct store_object *pod);
int workload_kubeflow(struct workload *workload);
int workload_leader_worker_set(struct workload *workload);
int workload_job_set(struct workload *workload);
int workload_ray_cluster(struct workload *workload);
int workload_ray_user(struct workload *workload);
int workload_grove(struct workload *workload);

extern const struct ray_kind ray_job, ray_service;
extern const struct kubeflow_kind kubeflow_pytorch, kubeflow_tf, kubeflow_mpi, kubeflow_jax, kubeflow_xgboost;

#endif
