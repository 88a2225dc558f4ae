/* What the files of this folder share: the state of one grouping and the small tools every family uses. */
#ifndef GROUP_INTERNAL_H
#define GROUP_INTERNAL_H

#include "group/group.h"

#include "base/strings.h"
#include "kinds/kinds.h"

#define GROUP_API_VERSION KINDS_API_POD_GROUP

#define KEY_PRIORITY_CLASS "priorityClassName"
#define KEY_PREEMPTIBILITY "kai.scheduler/preemptibility"
#define KEY_PREEMPTION_DELAY "kai.scheduler/preemption-delay"
#define KEY_STALENESS_GRACE "kai.scheduler/staleness-grace-period"
#define KEY_TOPOLOGY "kai.scheduler/topology"
#define KEY_TOPOLOGY_REQUIRED "kai.scheduler/topology-required-placement"
#define KEY_TOPOLOGY_PREFERRED "kai.scheduler/topology-preferred-placement"
#define KEY_SEGMENT_SIZE "kai.scheduler/segment-size"
#define KEY_SEGMENT_REQUIRED "kai.scheduler/segment-topology-required-placement"
#define KEY_SEGMENT_PREFERRED "kai.scheduler/segment-topology-preferred-placement"
#define KEY_MIN_MEMBER "kai.scheduler/batch-min-member"

#define CLASS_TRAIN "train"
#define CLASS_BUILD "build"
#define CLASS_INFERENCE "inference"

/* The object a group is built from. Labels and annotations of skipped owners are merged in, its own win. */
struct subject {
	struct group_owner id;
	struct labels labels, annotations;
};

struct grouping {
	struct arena *arena;
	const struct val *pod;
	const struct group_owners *owners;
	const struct group_source *source;
	const struct group_options *options;
	struct group_result *out;
	struct subject subject;
	struct labels pod_labels, pod_annotations;
	const char *pod_name, *pod_uid;
	const char *namespace_;
	struct interner *names; /* of subgroups so far */
	size_t subgroup_capacity, warning_capacity;
	int leaf;            /* the pod's, GROUP_UNSET for none */
	bool own_queue_only; /* labels of further owners name no queue */
	bool marks_only;     /* group_pod_marks: segments that the pod is not in are left out */
	int64_t left_out;    /* how many */
	bool ambiguous;      /* names of parts could meet those of segments that were left out */
};

typedef enum group_verdict group_family(struct grouping *grouping);

/* meta.c: metadata and fields of documents */
struct labels meta_labels(struct arena *arena, const struct val *object, const char *field);
struct labels meta_map(struct arena *arena, const struct val *map);
struct labels meta_merge(struct arena *arena, struct labels base, struct labels more);         /* base wins */
void meta_put(struct arena *arena, struct labels *labels, const char *key, const char *value); /* replaces */
struct labels meta_without(struct arena *arena, struct labels labels, const char *key);
const char *meta_get(const struct labels *labels, const char *key);  /* NULL when absent or empty */
const char *meta_text(const struct val *object, const char *field);  /* metadata.<field>, "" when absent */
const char *meta_scalar(struct arena *arena, const struct val *val); /* string or number as text, else NULL */
struct group_owner meta_owner(const struct val *object, const char *api_version, const char *kind);
bool meta_api_group_is(const char *api_version, const char *api_group);
bool meta_parse_int(const char *text, int64_t *out); /* whole decimal numbers that fit int32 */

enum field { FIELD_ABSENT, FIELD_GIVEN, FIELD_WRONG };
/* A wrong type is reported at `path`. null counts as absent. Numbers are counts: negative is wrong, too large is cut to
 * an int32 with a warning. */
enum field field_int(struct grouping *grouping, const struct val *val, const char *path, int64_t *out);
/* *out stays as it is unless a text that is not empty is given. */
enum field field_text(struct grouping *grouping, const struct val *val, const char *path, const char **out);
enum field field_kind(struct grouping *grouping, const struct val *val, enum val_kind kind, const char *path);

/* warn.c: what the user is told. The first is about the subject, the second about the pod. */
void group_warn(struct grouping *grouping, enum group_about about, const char *path, const char *fix,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
void group_warn_pod(struct grouping *grouping, enum group_about about, const char *path, const char *fix,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void group_warn_object(struct grouping *grouping, const struct group_owner *object, enum group_about about,
                       const char *path, const char *fix, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* inherit.c: everything a PodGroup takes over from its subject, with a minimum of 1 */
void group_inherit(struct grouping *grouping, const char *default_class);
void group_name(struct grouping *grouping, const char *name, const char *uid); /* pg-<name>-<uid> */
void group_own_by_pod(struct grouping *grouping);
const char *group_pod_label(const struct grouping *grouping, const char *key);
const struct val *group_get(const struct grouping *grouping, const char *api_version, const char *kind,
                            const char *namespace_, const char *name);
/* The stored PodGroup of that name, NULL when there is none. */
const struct val *group_stored(const struct grouping *grouping, const char *name);
/* Topology annotations of a template; a missing topology name comes from the subject. False, with a warning, when a
 * level is given and no topology is named anywhere. */
bool group_template_constraint(struct grouping *grouping, const struct val *annotations, const char *path,
                               struct group_constraint *out);
/* batch-min-member: FIELD_WRONG after a warning. */
enum field group_min_member(struct grouping *grouping, const char *text, const char *path, int64_t least, int64_t *out);

/* tree.c: subgroups */
/* The name itself when it is a DNS label, else one made from it. */
const char *tree_label(struct grouping *grouping, const char *name);
int tree_add(struct grouping *grouping, const char *name, int parent, int64_t min_member);
/* A name with the number appended. */
int tree_add_numbered(struct grouping *grouping, const char *name, int64_t number, int parent, int64_t min_member);
bool tree_has_room(struct grouping *grouping, int64_t count, const char *path);
void tree_join(struct grouping *grouping, int subgroup);
int tree_pods(struct grouping *grouping, int64_t pods, const char *path); /* fits it into an int32, with a warning */
void tree_leaf_unknown(struct grouping *grouping, const char *label);
/* Says how many pods a leaf will have, a parent in each of its leaves, or (GROUP_UNSET) the group itself. */
void tree_expect(struct grouping *grouping, int subgroup, int64_t pods);

/* expected.c: the annotation KINDS_COMING_POD, NULL for none. */
const char *group_coming_text(const struct group_result *result, struct arena *arena);
/* expected.c: the annotation KINDS_EXPECTED_PODS of the PodGroup, NULL for none; `stored` is the spec it has. */
const char *group_expected_text(const struct group_result *result, const struct val *stored, struct arena *arena);

/* segments.c: the pods of one role cut into groups of equal size */
struct segments {
	int64_t size;
	const char *index_label;
	int64_t first_index; /* of the first pod */
	struct group_constraint constraint;
};
struct segment_ask {
	const struct val *template_; /* PodTemplate of the role, NULL when unknown */
	const char *path;            /* where the template is, for messages */
	const char *index_label;     /* of the kind; NULL: the user has to name one */
	int64_t first_index;         /* what that label has on the first pod */
	bool root_too;               /* the workload has one role: its own annotations count as well */
	bool member;                 /* the pod is of this role: its annotations count first */
};
/* False when none are asked for, or when they cannot be had (then with a warning). */
bool segments_wanted(struct grouping *grouping, const struct segment_ask *ask, struct segments *out);
/* Topology and levels as annotated; any may be NULL. */
struct group_constraint segments_constraint(struct grouping *grouping, const struct segment_ask *ask);
/* Whether any segment annotation is there, without judging it. */
bool segments_mentioned(struct grouping *grouping, const struct segment_ask *ask);
/* Turns the subgroup (a leaf) into a parent of segments and puts the pod into its own if `member`. */
void segments_add(struct grouping *grouping, const struct segments *segments, int subgroup, int64_t replicas,
                  int64_t minimum, bool member, const char *path);
/* The pod's index; false, with a warning, when it has none. */
bool segments_pod_index(struct grouping *grouping, const char *label, int64_t *out);
/* Segments asked for where the kind has no room for them. */
void segments_refuse(struct grouping *grouping, const struct segment_ask *ask, const char *why);
/* Role `worker` below the root for kinds whose pods are all alike. False when no segments are wanted. */
bool segments_of_all(struct grouping *grouping, const struct segment_ask *ask, int64_t replicas, int64_t minimum);

/* kinds.c: which family a kind belongs to; NULL for kinds without a rule of their own */
group_family *kind_family(const char *api_version, const char *kind);
bool kind_is_skipped(const char *api_version, const char *kind);
bool kind_is_known(const char *api_version, const char *kind);

/* kueue_levels.c: the annotation of a template, or of a pod made from it, that says where its pods go; where it is in Kueue's
 * words, as ours. NULL when absent or empty. */
const char *group_place_value(const struct grouping *grouping, const struct labels *annotations, const char *key);
/* What Kueue's words on a template of pods ask for, all of its pods together. */
struct group_constraint group_template_level(const struct grouping *grouping, const struct val *template_);
/* Tells what Kueue's words on the pod ask for and nothing of the group says. */
void group_report_levels(struct grouping *grouping);

/* karta.c: the Karta that describes the subject's kind, NULL when there is none; and the group that it describes */
const struct val *karta_find(struct grouping *grouping);
enum group_verdict family_karta(struct grouping *grouping, const struct val *object);

#define GROUP_DECLARE_FAMILY(id, name) group_family family_##name;
KIND_FAMILIES(GROUP_DECLARE_FAMILY)

#endif
