/* Translating groups of pods into the manifests of another scheduler: what the command `translate` and its formats share. */
#ifndef CLI_TRANSLATE_H
#define CLI_TRANSLATE_H

#include "admit/podgroup.h"
#include "admit/topology.h"
#include "base/labels.h"
#include "base/strings.h"
#include "object/build.h"
#include "object/manifest.h"

/* A pod and its leaf in the tree of its group, -1 when it is in none. */
struct translated_pod {
	const struct manifest *manifest;
	int leaf;
};

/* A group as it was understood. */
struct translated_group {
	const struct manifest *manifest; /* the PodGroup of ours */
	const struct manifest *source;   /* whose object is named in the report: what the group was read from */
	struct podgroup spec;
	const char *name;                  /* what it is called in the output: DNS label, once per namespace */
	const char **names;                /* of each node of the tree, as a DNS label; that of the root is `name` */
	const char *class;                 /* the priority class that somebody asked for, NULL for none */
	const char *queue;                 /* the queue, NULL for the usual one */
	const struct translated_pod *pods; /* in the order of the input */
	size_t pod_count;
	bool made;  /* for something among the objects */
	bool alone; /* it is one pod that needs no group */
};

/* What has no counterpart. */
struct translate_loss {
	const char *source, *object, *path, *message;
	bool error; /* the object was left out */
};

struct translation {
	struct arena *arena;
	const struct manifests *objects;
	struct build *build;
	struct node *items;    /* the manifests that come out */
	struct buffer script;  /* what comes out instead, for Slurm */
	struct interner *made; /* names of objects that were made and are shared by groups */
	struct translate_loss *losses;
	size_t loss_count, loss_capacity;
};

struct translate_target {
	const char *name;
	const char *scheduler; /* schedulerName of its pods, NULL: left out */
	/* Writes the group; its pods are written afterwards. */
	void (*group)(struct translation *translation, const struct translated_group *group);
	/* The marks of one pod of a group, in its metadata and spec; NULL: the pods are part of what `group` wrote, which also
	 * writes those that stand alone. */
	void (*mark)(struct translation *translation, const struct translated_group *group,
	             const struct translated_pod *pod, struct node *labels, struct node *annotations,
	             struct node *spec);
};

extern const struct translate_target translate_kai, translate_native, translate_volcano, translate_slurm;

void translate_report(struct translation *translation, const struct translate_loss *loss);
/* As the report names an object: "Job default/train". */
const char *translate_name(struct arena *arena, const struct manifest *object);

/* ---- for the formats ---- */

void translate_lose(struct translation *translation, const struct translated_group *group, const char *path,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Where a field of a node of the tree was written: spec.subGroups[3].minMember. */
const char *translate_path(struct translation *translation, const struct tree_node *node, const char *field);
/* A manifest with this kind, name, and the namespace of the group; appended to the output. Its spec is returned. */
struct node *translate_object(struct translation *translation, const struct translated_group *group,
                              const char *api_version, const char *kind, const char *name, struct node **metadata);
/* The topology that a constraint names, as far as it is known. False: nobody gave it. */
bool translate_topology(struct translation *translation, const struct constraint_spec *constraint,
                        struct topology_spec *out);
/* The node label of a level, which may be written as an alias. */
const char *translate_level(struct translation *translation, const struct constraint_spec *constraint,
                            const char *level);
/* What a gang scheduler without queues and time limits does not know, each a loss. */
void translate_lose_terms(struct translation *translation, const struct translated_group *group, const char *scheduler);
#endif
