/* One RoleBasedGroup in one reconcile: what is wanted, what there is, and the shape that follows. Derived once, from top
 * to bottom, and read by all later phases. Private to rbg*.c. Everything lives in the arena of the turn.
 *
 *   rbg_revise    ControllerRevisions -> which revision each role is to have
 *   rbg_observe   the pods that exist -> instances by ordinal
 *   rbg_decide    instances and coordinations -> targets, partitions, what happens to each instance
 *   rbg_gangs_*   PodGroups; rbg_*_sets, rbg_settle_instances: RoleInstanceSets and RoleInstances; rbg_render: pods;
 *                 rbg_network: services and the discovery file
 *   rbg_report    status, conditions, events */
#ifndef RBG_INTERNAL_H
#define RBG_INTERNAL_H

#include "admit/rbg.h"
#include "rbg/links.h"
#include "rbg/memo.h"
#include "loop/reconciler.h"
#include "loop/settings.h"
#include "loop/writes.h"
#include "object/tree.h"
#include "rollout/merge.h"
#include "rollout/order.h"

#define RBG_LABEL "rbg.workloads.x-k8s.io/"
#define RBG_LABEL_INSTANCE RBG_LABEL "role-instance-name"
#define RBG_LABEL_COMPONENT RBG_LABEL "component-name"
#define RBG_LABEL_COMPONENT_ID RBG_LABEL "component-id"     /* number of a pod in its component */
#define RBG_LABEL_COMPONENT_SIZE RBG_LABEL "component-size" /* of leader and workers: of the instance */
#define RBG_LABEL_POD_INDEX RBG_LABEL "component-index"     /* of leader and workers: number in the instance */
#define RBG_LABEL_UNIQUE RBG_LABEL "group-unique-hash" /* what groups with domains of their own know each other by */
#define RBG_LABEL_SUBGROUP "kai.scheduler/subgroup-name"
#define RBG_LABEL_REVISION "controller-revision-hash"
#define RBG_LABEL_POD_NAME "statefulset.kubernetes.io/pod-name" /* of all pods of an instance: its name */
#define RBG_LABEL_GROUP_REVISION RBG_LABEL "group-revision"
/* Of pods: the revision of their set, a slash, and the revision label it was written with. */
#define RBG_REVISION_ANNOTATION RBG_LABEL "set-revision"
#define RBG_ROLLBACK_ANNOTATION RBG_LABEL "rollback-to"
#define RBG_READY_CONDITION "InPlaceUpdateReady" /* of pods */
#define RBG_APPROVE_ANNOTATION RBG_LABEL "canary-approved"

enum { RBG_KEY_GROUP, RBG_KEY_TOPOLOGY, RBG_KEY_SET };

struct rbg_controller {
	struct store *store;
	struct settings_source *source;
	const struct settings *settings; /* of this turn */
	struct reconciler *reconciler;
	struct rbg_links *policies;   /* "namespace/group" -> names of policies */
	struct rbg_links *adapters;   /* "namespace/group" -> names of adapters */
	struct rbg_links *topologies; /* ClusterTopology -> "namespace/group[/policy]" */
	struct rbg_links *profiles;   /* ClusterEngineRuntimeProfile -> "namespace/group" */
	struct rbg_memos *memos;
};

struct rbg_pod {
	struct store_object *object; /* of the list of dependents */
	const struct rbg_fact *fact;
	int64_t index;        /* within its instance */
	const char *revision; /* "" when it is not known */
	bool is_ready, is_scheduled, is_terminating, is_gated;
	bool is_over;      /* failed or completed */
	bool has_restarts; /* a container was started again, by itself */
	bool is_changing;  /* has a new image that does not run yet */
	bool is_marked;    /* not ready because of an update in place */
};

struct rbg_instance {
	int64_t ordinal;
	const char *revision; /* of its pods */
	struct rbg_pod *pods;
	size_t pod_count;
	bool is_ready, is_scheduled, is_terminating;
	bool is_broken;    /* not ready for so long that it is no mere delay */
	bool must_restart; /* a pod of it ended, or was restarted where that counts */
	bool is_hit;       /* the restart policy of its role has to act */
	bool is_restarted; /* it did in this turn */
	int64_t since;     /* seconds: the youngest pod was created */
	enum update_action action;
};

struct rbg_role_state {
	const struct rbg_role *spec;
	const struct rbg_role *old_spec; /* at the current revision; the same as spec when there is no other */
	int64_t desired;                 /* of an adapter, if one has a say */
	bool is_overridden;
	struct rbg_instance *instances; /* by ordinal, ascending */
	size_t instance_count;
	int64_t *by_ordinal; /* index of the instance + 1, for ordinals below `span` */
	int64_t span;        /* highest ordinal + 1 */
	size_t *object_at;   /* index in `owned` + 1 of the RoleInstance, for ordinals below `object_span` */
	int64_t object_span;
	struct rbg_parts *parts;                    /* what instances are made from, by revision, once asked for */
	bool *is_ready, *is_scheduled, *is_updated; /* by ordinal, span entries at least `desired` */
	/* Revisions of its set, as hashes: those of the group follow from everything in a role. */
	const char *update_revision, *current_revision;
	const char *hash;    /* of the role in the revision of the group */
	int64_t last_target; /* of the last turn, from the status */
	int64_t target;      /* instances that are to exist, without surge */
	struct update_shape shape;
	const char *wait;    /* why it does not grow; NULL when it does or is done */
	bool waits_for_role; /* namely because a role it depends on is not ready */
	/* The coordination that groups its pods; NULL when each instance is on its own. */
	const struct rbg_coordination *grouping;
	int64_t grouping_size;
	int64_t released; /* ordinals from here on keep the gate; INT64_MAX without a rolling deploy */
	/* The coordination whose segments it starts in, NULL when each instance starts on its own. */
	const struct rbg_rule_state *start;
	int64_t start_size;
	int64_t floor; /* ordinals below keep the current revision: a partition, or a canary */
	/* For the status. */
	int64_t ready, updated, updated_ready, ready_pods;
};

struct rbg_rule_state { /* of a coordination with segments */
	const struct rbg_coordination *spec;
	struct segment_rule rule;
	struct segment_state judged;
	int64_t released; /* batches without gate; total for placements */
	bool is_held;     /* a canary that waits for approval */
	bool is_updating; /* an update that a canary limits is under way */
	int64_t since;    /* seconds: how long it waits for the segment it waits for */
	int64_t waits_in;
	bool is_stuck;
	const char *cause;
	int64_t completed; /* leading segments that were ready at some time */
	/* Segments behind `kept` were taken away in this attempt. */
	bool is_rolled_back;
	int64_t kept;
	const char *attempt, *rollback_message;
	bool starts_whole;        /* a new segment starts as one PodGroup */
	bool *is_formed;          /* by segment, `segments` entries: it did */
	int64_t segments, formed; /* leading ones */
	const char *topology;     /* Topology its PodGroups name; NULL without one */
	const char *topology_key;
};

struct rbg_parts {
	struct rbg_parts *next;
	const struct rbg_role *as;
	struct doc *doc;
};

struct rbg_restart {
	const char *instance;
	int64_t count, last; /* last: seconds */
};

struct rbg_turn {
	struct rbg_controller *controller;
	struct reconcile *turn;
	struct arena *arena;
	struct store *store;
	const struct store_type *pods, *gangs, *revisions, *sets, *instances; /* looked up once */
	int64_t now;                                                          /* seconds */
	struct store_object *object;
	struct rbg_spec spec; /* with the coordinations of policies */
	struct problems problems;
	struct store_list owned; /* everything that names the group as its owner */
	struct rbg_role_state *roles;
	struct rbg_rule_state *rules;
	size_t rule_count;
	size_t *parents; /* by index in owned: index + 1 of the owner below the group; 0: the group itself */
	bool *is_seen;   /* by index in owned: still wanted */
	/* By index in owned; how many of them are not of the last turn. */
	struct rbg_fact *facts;
	size_t fresh_facts;
	struct memo *memo;
	const char *revision; /* name of the ControllerRevision of this spec */
	const char *update_hash;
	const char *group_hash; /* of namespace and name, once asked for */
	bool is_updating;
	const char *blocked; /* a message why nothing is created: CoordinationConflict, a topology that is missing */
	const char *blocked_reason;
	struct rbg_restart *restarts;
	size_t restart_count;
	bool failed;
	const char *refusal; /* why something cannot be written, if that will not pass by itself */
	bool is_in_the_way;  /* namely because somebody else's object is there */
	int64_t again;       /* seconds after which to look again; 0: not */
};

/* rbg_policies.c: adds the coordinations of policies and the replicas of adapters. */
void rbg_add_policies(struct rbg_turn *turn);
/* Tells the policies of a group whether it is there. */
void rbg_report_policies(struct rbg_controller *controller, const struct reconcile *reconcile, bool is_bound);
void rbg_read_adapters(struct rbg_turn *turn);
void rbg_write_adapters(struct rbg_turn *turn);
void rbg_write_replicas(struct rbg_turn *turn);
/* rbg_observe.c */
void rbg_observe(struct rbg_turn *turn);
/* The instance at an ordinal, NULL when there is none. */
struct rbg_instance *rbg_instance_at(const struct rbg_role_state *role, int64_t ordinal);
/* rbg_revision.c */
void rbg_revise(struct rbg_turn *turn);
/* True when the spec was put back to another revision, which the next turn works on. */
bool rbg_roll_back(struct rbg_turn *turn);
/* `annotation` of the group, unless it is NULL, gets `value`. */
bool rbg_restore(struct rbg_turn *turn, const char *revision_name, const char *why, const char *annotation,
                 const char *value);
/* The newest revision of the group whose roles all are what is complete; NULL when there is none. */
const struct store_object *rbg_complete_revision(struct rbg_turn *turn);
/* What the status said about a role, NULL when nothing. */
const struct val *rbg_old_role(const struct rbg_turn *turn, const char *name);
/* The label of ControllerRevisions that holds the revision of a role. */
const char *rbg_role_label(struct rbg_turn *turn, const char *role);
/* The role at a revision, NULL when that is not known any more. */
const struct rbg_role *rbg_role_at(struct rbg_turn *turn, struct rbg_role_state *role, const char *revision);
/* rbg_inplace.c */
/* RBG_FACT_RESTARTED and RBG_FACT_CHANGING of a pod. */
unsigned rbg_read_in_place(const struct val *annotations, const struct val *status);
/* Gives the pods of an instance the newest images where nothing else differs. False: they have to be made anew. */
bool rbg_update_in_place(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_instance *instance);
/* Takes the marks of an instance away that is not about to be changed. */
void rbg_unmark(struct rbg_turn *turn, const struct rbg_instance *instance);
/* rbg_runtime.c */
/* Blocks the turn when a profile that a role names does not exist. */
void rbg_check_runtimes(struct rbg_turn *turn);
/* Whether a change of a profile is one of the role. */
bool rbg_has_rolling_runtime(const struct rbg_turn *turn, const struct rbg_role *role);
/* What makes another revision of the role. */
void rbg_hash_runtimes(const struct rbg_turn *turn, const struct rbg_role *role, struct buffer *text);
/* A list of patches for the template, in their order; NULL when the role has no runtimes. */
struct doc *rbg_runtime_patches(const struct rbg_turn *turn, const struct rbg_role *role);
/* rbg_decide.c */
void rbg_decide(struct rbg_turn *turn);
/* Whether an instance that is made at an ordinal now gets the update revision. */
bool rbg_begins_new(const struct rbg_role_state *role, int64_t ordinal);
/* rbg_starts.c: which segments are still to start. */
void rbg_find_starts(struct rbg_turn *turn);
bool rbg_is_starting(const struct rbg_role_state *role, int64_t ordinal);
/* rbg_gangs.c */
/* Whether its segments are one PodGroup for as long as they run. */
bool rbg_is_segment_gang(const struct rbg_role_state *role);
/* Blocks the turn when a topology that coordinations name cannot be used; then, with rules, finds their keys. */
void rbg_check_topologies(struct rbg_turn *turn);
void rbg_find_topologies(struct rbg_turn *turn);
void rbg_write_gangs(struct rbg_turn *turn);
const char *rbg_gang_of(const struct rbg_turn *turn, const struct rbg_role_state *role, int64_t ordinal);
const char *rbg_subgroup_of(const struct rbg_turn *turn, const struct rbg_role_state *role, int64_t ordinal);
/* The revision of its set that the role is. */
const char *rbg_set_revision(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as);
/* What stands behind the last dash: names of revisions end with their hashes. */
const char *rbg_short_hash(const char *name);
/* rbg_history.c: ControllerRevisions of sets and instances */
/* The hash of the spec that instances are made from; of one instance. */
const char *rbg_hash_set(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as);
const char *rbg_hash_instance(struct rbg_turn *turn, const struct val *spec);
/* Writes the revision a set is at, and forgets old ones. */
void rbg_keep_set_revision(struct rbg_turn *turn, struct rbg_role_state *role, const struct store_object *set);
/* rbg_parts.c: what instances are made from */
/* The spec of an instance of the role: components with their templates, and the restart policy. */
const struct val *rbg_instance_parts(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as);
void rbg_forget_parts(struct rbg_turn *turn);
const char *rbg_part_name(const struct rbg_role *role, size_t component);
/* NULL when its pods have no name in the network. */
const char *rbg_part_service(const struct rbg_turn *turn, const struct rbg_role *role, size_t component);
/* The label of nodes whose domains pods of this template do not share with other groups; NULL: none. */
const char *rbg_exclusive_key(const struct rbg_turn *turn, const struct rbg_role *role, const struct val *template);
/* rbg_render.c: by which labels pods and their instance know which one they are */
void rbg_put_identity(struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal, struct tree *labels);
/* rbg_places.c: in-place scheduling */
bool rbg_keeps_places(const struct rbg_role *role);
void rbg_note_places(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_instance *instance);
/* What the pod `index` of an instance asks of nodes because of where it was. */
void rbg_put_place(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_role *as, int64_t ordinal,
                   int64_t index, const char *name, struct tree *spec);
/* rbg_siblings.c: components of one instance */
/* Pods of an instance that are made at once; the others follow when components they start after are ready. */
int64_t rbg_first_pods(struct rbg_turn *turn, const struct rbg_role *role);
/* By component, whether it is still to wait; NULL when none is. `instance` is NULL before it has pods. */
bool *rbg_find_held(struct rbg_turn *turn, const struct rbg_role *role, const struct rbg_instance *instance);
/* What a pod of the component is told of others. */
void rbg_put_siblings(struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal, size_t part,
                      struct tree *metadata, struct tree *spec);
/* rbg_instances.c: RoleInstances */
/* The object of an instance, NULL when there was none at the beginning of the turn. */
const struct store_object *rbg_instance_object(const struct rbg_turn *turn, const struct rbg_role_state *role,
                                               int64_t ordinal);
/* Of an ordinal, made or brought to the revision when it is not; NULL when that cannot be now. `as` is the role at it. */
const struct store_object *rbg_need_instance(struct rbg_turn *turn, struct rbg_role_state *role,
                                             const struct rbg_role *as, const char *revision, int64_t ordinal);
/* Their status; deletes those that have no place and no pods any more. */
void rbg_settle_instances(struct rbg_turn *turn);
/* The status of a RoleInstance as one number, and whether it says that the instance is being restarted. */
uint64_t rbg_instance_digest(const struct store_object *object, bool *is_restarting);
/* The hash that its pods have as their revision. */
const char *rbg_instance_revision(struct rbg_turn *turn, const struct store_object *object);
/* rbg_sets.c: RoleInstanceSets */
void rbg_write_sets(struct rbg_turn *turn);
void rbg_report_sets(struct rbg_turn *turn);
/* The text of a selector of its pods. */
const char *rbg_set_selector(struct rbg_turn *turn, const struct rbg_role *role);
const char *rbg_set_name(const struct rbg_turn *turn, const struct rbg_role *role);
/* rbg_pods.c: creates and deletes. */
void rbg_write_pods(struct rbg_turn *turn);
/* rbg_restarts.c */
void rbg_read_restarts(struct rbg_turn *turn);
/* Whether the instance may be made anew now; counts it when so, and comes back in time when not. */
bool rbg_may_restart(struct rbg_turn *turn, const struct rbg_role *role, const char *instance);
void rbg_write_restarts(const struct rbg_turn *turn, struct build *build, struct node *status);
/* rbg_network.c */
void rbg_write_network(struct rbg_turn *turn);
/* rbg_progress.c: true when a late segment was rolled back, so that this turn is over. */
bool rbg_judge_progress(struct rbg_turn *turn);
/* What the status said about a coordination, NULL when nothing. */
const struct val *rbg_old_coordination(const struct rbg_turn *turn, const char *name);
/* Comes back after so many seconds at the latest. */
void rbg_look_again(struct rbg_turn *turn, int64_t seconds);
/* rbg_rollback.c */
/* Keeps away segments that were taken away before. */
void rbg_limit_rollbacks(struct rbg_turn *turn);
/* What follows when the segment that is waited for is overdue: true when the spec was put back, so that the turn is over. */
bool rbg_roll_back_late(struct rbg_turn *turn, struct rbg_rule_state *rule);
void rbg_write_rollback(const struct rbg_rule_state *rule, struct build *build, struct node *node);
/* For the condition; NULL when nothing was rolled back. */
const char *rbg_rollback_text(struct rbg_turn *turn);
/* rbg_report.c */
/* Of a turn that failed only the refusal is told. */
void rbg_report(struct rbg_turn *turn);
/* rbg_topology.c */
int rbg_reconcile_topology(struct rbg_controller *controller, struct reconcile *turn);
/* The name of the Topology that stands for a ClusterTopology, and of one for a single key, which is made if missing. */
const char *rbg_topology_name(struct arena *arena, const char *cluster_topology);
const char *rbg_key_topology(struct store *store, struct arena *arena, const char *key);

/* rbg_set.c */
int rbg_reconcile_set(struct reconcile *turn);

/* Labels that all objects of a role have. */
void rbg_put_role_labels(struct rbg_turn *turn, struct build *build, struct node *labels, const struct rbg_role *role);
/* How the pods of an instance are told apart: PodTemplate, LeaderWorkerSet or Components. */
const char *rbg_role_type(const struct rbg_role *role);
/* What stands for namespace and name of the group in labels. */
const char *rbg_group_hash(struct rbg_turn *turn);
/* Those of them that select the pods of a role. */
void rbg_put_common_labels(struct rbg_turn *turn, struct build *build, struct node *labels,
                           const struct rbg_role *role);
/* Makes `owner` the owner of the object with this metadata, and its controller if it is. */
void rbg_put_owner(struct build *build, struct node *metadata, const struct store_object *owner, bool is_controller);

/* rbg_write.c: documents into the store. All return whether it worked; what went wrong fails the turn. */
struct node *rbg_metadata(struct rbg_turn *turn, struct build *build, const char *name);
struct node *rbg_object(struct rbg_turn *turn, struct build *build, const char *api_version, const char *kind,
                        const char *name);
bool rbg_create(struct rbg_turn *turn, const char *group, const char *resource, const struct val *object);
/* Creates it, or makes the fields that are given so: `paths` of the existing object are compared and replaced. */
bool rbg_ensure(struct rbg_turn *turn, struct build *build, const char *group, const char *resource, const char *name,
                struct node *object, const char *const *fields);
/* Somebody else's object has the name of one that the group needs: fails the turn and says so. */
void rbg_refuse(struct rbg_turn *turn, const struct store_object *other);
bool rbg_delete(struct rbg_turn *turn, const struct store_object *object);
bool rbg_patch(struct rbg_turn *turn, const struct store_object *object, struct build *build, struct node *patch);
bool rbg_patch_as(struct rbg_turn *turn, const struct store_object *object, enum store_patch type, struct build *build,
                  struct node *patch);
void rbg_event(struct rbg_turn *turn, bool warning, const char *reason, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
struct store_object *rbg_peek(const struct rbg_turn *turn, const char *group, const char *resource, const char *name);

#endif
