/* RoleBasedGroup workloads.x-k8s.io v1alpha1 and v1alpha2, and CoordinatedPolicy: decode, default, validate.
 *
 * Both versions read into one struct: a role is flat in the first and has a pattern in the second, coordinations stand in
 * the group in the first and in policies (or in the annotation a conversion leaves) in the second. Strings and values
 * live in the document or the arena. */
#ifndef ADMIT_RBG_H
#define ADMIT_RBG_H

#include "base/arena.h"
#include "base/problems.h"
#include "kinds/names.h"
#include "object/derivation.h"
#include "object/doc.h"
#include "rollout/deploy.h"
#include "rollout/segments.h"
#include "rollout/skew.h"
#include "rollout/update.h"

#define RBG_GROUP KINDS_RBG
#define RBG_COORDINATION_ANNOTATION "conversion.workloads.x-k8s.io/v1alpha1-coordination"
#define RBG_POD_GROUP_ANNOTATION "conversion.workloads.x-k8s.io/v1alpha1-pod-group-policy"
#define RBG_GANG_ANNOTATION "rbg.workloads.x-k8s.io/group-gang-scheduling"

struct rbg_component {              /* pods of one kind within an instance */
	const char *name;           /* "" when the pods of the instance are not told apart by component */
	const struct val *template; /* before patches; NULL when it could not be found */
	const struct val *patches[2];
	int64_t size;
	const struct val *labels, *annotations; /* for its pods, besides those of the role; NULL when there are none */
	const char *service;                    /* the subdomain of its pods; NULL: the service of the role */
};

enum rbg_in_place { RBG_IN_PLACE_NEVER, RBG_IN_PLACE_IF_POSSIBLE, RBG_IN_PLACE_ONLY };

struct rbg_role {
	const struct val *source; /* as it is written, in the form of v1alpha2 where that is stored */
	const char *name;
	int64_t replicas;
	const struct val *labels, *annotations; /* for its pods; NULL when there are none */
	/* Leader and workers are two components without names, whose pods are counted through. */
	struct rbg_component *components;
	size_t component_count;
	bool is_leader_worker;
	const char **dependencies;
	size_t dependency_count;
	struct update_strategy rollout;
	enum rbg_in_place in_place; /* where only images change */
	int64_t in_place_grace;     /* seconds between the mark that a pod is not ready and its new images */
	bool recreates;             /* restartPolicy RecreateRoleInstanceOnPodRestart */
	bool recreates_group;       /* restartPolicy RecreateRBGOnPodRestart */
	int64_t base_delay, max_delay;
	const struct val *service_ports;
	bool serves_by_leader;             /* its service has the leaders only: workers take no requests */
	const struct val *engine_runtimes; /* entries {profileName, containers}; NULL when there are none */
	bool has_adapter;
	const struct val *adapter_labels;
	int64_t min_ready_seconds;
	bool is_ordered; /* podManagementPolicy OrderedReady: one instance after the other */
	int64_t pods;    /* of one instance */
};

enum rbg_affinity { RBG_AFFINITY_NONE, RBG_AFFINITY_REQUIRE, RBG_AFFINITY_PREFER, RBG_AFFINITY_BEST_EFFORT };

struct rbg_size {
	const char *role;
	int64_t size;
};

struct rbg_coordination {
	const char *name;
	const char **roles;
	size_t role_count;
	bool has_roles; /* `roles` was written, not taken from the sizes */

	/* rollingUpdate */
	bool has_update;
	struct percent update_skew;
	struct update_strategy update;

	/* scaling */
	bool has_scaling;
	struct percent scale_skew;
	enum skew_progression scale_progression;

	/* segmentPlacement or rollingDeploy: one notion */
	bool has_segments;
	bool is_deploy; /* written as rollingDeploy: batches are released by the scheduling gate */
	struct rbg_size *sizes;
	size_t size_count;
	enum segment_progression progression;
	enum segment_gang gang;
	bool may_be_partial;      /* a new segment may start in part */
	int64_t canary_segments;  /* hold after so many until approved; 0: never */
	int64_t rollback_seconds; /* roll a segment back that is not ready for so long; 0: never */
	int64_t stuck_seconds;    /* call a segment stuck after so long */

	/* topologyAffinity or deployTopologyConstraint */
	enum rbg_affinity affinity;
	const char *topology_key;  /* of topologyAffinity; NULL with a ClusterTopology */
	const char *topology_name; /* ClusterTopology; NULL with a key */
	const char *layer;
	bool spread_segments;
	const char *queue, *priority_class; /* of the PodGroups of its segments; NULL: as for the group */
	const char *path;                   /* where it was written, for messages */
	const char *owner;                  /* the policy it stands in; NULL for the group itself */
};

struct rbg_spec {
	const char *namespace_, *name, *uid;
	bool deleting;
	struct rbg_role *roles;
	size_t role_count;
	struct rbg_coordination *coordinations;
	size_t coordination_count;
	const char *queue, *priority_class; /* of the PodGroups; NULL when not given */
	bool is_grouped;     /* podGroupPolicy or its annotation: one PodGroup for all roles that no segments govern */
	struct doc *docs[2]; /* what values of annotations live in */
};

#define RBG_STUCK_SECONDS 600
#define RBG_MOST_GROUPS 10000 /* of a set */
#define RBG_MOST_PODS 100000  /* of a group: all of them are looked at in each reconcile */

/* Decodes and validates; adds every problem found. 0 when it can be used, -1 when it has errors; even then what could be
 * read is in *out, for a controller that must not touch what runs. */
int rbg_decode(const struct val *object, struct arena *arena, struct rbg_spec *out, struct problems *problems);
void rbg_release(struct rbg_spec *spec); /* documents that were read besides */

/* A group as all parts of the program read it, kept with its object. Whoever adds to the spec (policies) copies the struct
 * and leaves its arrays alone. */
struct decoded_rbg {
	struct derived derived;
	struct rbg_spec spec; /* also with errors: what could be read */
	struct problems problems;
};

/* Make a struct decoded_rbg: of a RoleBasedGroup, and of a ControllerRevision that keeps an earlier one in its data. */
extern const struct derivation rbg_derivation, rbg_revision_derivation;

/* What only shows when all coordinations are together: conflicts, roles that do not exist. Part of rbg_decode; called
 * again when policies have been added. */
void rbg_check_coordinations(const struct rbg_spec *spec, struct problems *problems);
/* The role of that name, -1 when there is none. */
int rbg_role_find(const struct rbg_spec *spec, const char *name);

/* ---- CoordinatedPolicy ---- */

struct rbg_policy {
	const char *namespace_, *name;
	const char *target; /* name of the RoleBasedGroup: targetRef.name, or its own */
	struct rbg_coordination *coordinations;
	size_t coordination_count;
};

int rbg_policy_decode(const struct val *object, struct arena *arena, struct rbg_policy *out, struct problems *problems);

struct decoded_policy {
	struct derived derived;
	struct rbg_policy policy; /* also with errors: what could be read */
	struct problems problems;
};

extern const struct derivation rbg_policy_derivation; /* makes one */

/* ---- RoleBasedGroupSet ---- */

struct rbg_set {
	const char *namespace_, *name;
	int64_t replicas;
	const struct val *template;             /* the spec of its groups */
	const char *path;                       /* of the template */
	const struct val *labels, *annotations; /* for its groups; NULL when there are none */
};

/* The template itself is judged as the spec of a group. -1 when it has none. */
int rbg_set_decode(const struct val *object, struct arena *arena, struct rbg_set *out, struct problems *problems);

struct decoded_set {
	struct derived derived;
	struct rbg_set set; /* also with errors: what could be read */
	struct problems problems;
};

extern const struct derivation rbg_set_derivation; /* makes one */

#endif
