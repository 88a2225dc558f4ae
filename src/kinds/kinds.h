/* The registry of kinds: one row for every kind of object that Platoon knows. Everything that depends on the kind of an
 * object comes from its row and stands nowhere else: what the embedded server has built in, which family groups pods below
 * it, what `run` mirrors and needs rights for, what `why`, `plan` and `top` read, the table in docs/reference/kinds.md.
 *
 * Rows are constant and live as long as the program. */
#ifndef KINDS_KINDS_H
#define KINDS_KINDS_H

#include "kinds/families.h"
#include "kinds/names.h"
#include "object/tree.h"

#include <stdbool.h>
#include <stddef.h>

struct kind_column { /* additionalPrinterColumns */
	const char *name, *type, *format, *description;
	const char *path; /* JSONPath such as .status.phase */
	int priority;     /* > 0: only with -o wide */
};

enum row_flag {
	ROW_CLUSTER = 1 << 0, /* not in a namespace */
	ROW_STATUS = 1 << 1,
	ROW_SCALE = 1 << 2,
	ROW_CUSTOM = 1 << 3, /* behaves like a custom resource: no strategic merge patch */
	ROW_GRACEFUL = 1 << 4,
	ROW_KEEPS_STATUS = 1 << 5, /* a create may carry a status */
	ROW_PATH_NAME = 1 << 6,    /* names are path segments (RBAC), not DNS names */
	ROW_LABEL_NAME = 1 << 7,   /* names are DNS labels */
	ROW_ALL = 1 << 8,          /* in the category "all" */
	ROW_INDEXED = 1 << 9,      /* many ask by the first of `fields` */
	ROW_DEFINED = 1 << 10,     /* served by the embedded server only where a CustomResourceDefinition defines it */
	ROW_OWNER = 1 << 11,       /* stands above pods: a workload, or what one makes that is no pod */
	ROW_DECIDES = 1 << 12,     /* a scheduling decision rests on it */
	ROW_STATUS_GROUPS = 1 << 13, /* its status, too, says what its pods are grouped by */
	ROW_INSTALLED = 1 << 14,     /* `install` defines it on a real cluster */
	ROW_GROUPS = 1 << 15,        /* pods are grouped by what it says, though it owns none */
	ROW_CHILD = 1 << 16,         /* also made by other kinds: the controllers of those hear of its changes */
	/* A setting makes decisions rest on whether one exists, and on nothing else of it: then its metadata are mirrored. */
	ROW_NAMED = 1 << 17,
	ROW_NEIGHBOUR = 1 << 18, /* a group of another scheduler, which pods name */
};

/* Kinds that code treats in a way of its own, each the one of a row. */
enum kind_id {
	KIND_OTHER,
	KIND_NODE,
	KIND_POD,
	KIND_POD_GROUP,
	KIND_QUEUE,
	KIND_SHARD,
	KIND_TOPOLOGY,
	KIND_PRIORITY_CLASS,
	KIND_BUDGET,
	KIND_CONFIG_MAP,
	KIND_SERVICE,
	/* Devices, as in enum device_kind. */
	KIND_DEVICE_CLASS,
	KIND_DEVICE_SLICE,
	KIND_DEVICE_CLAIM,
	KIND_DEVICE_TAINT_RULE,
	KIND_DEVICE_CLAIM_TEMPLATE,
	/* Storage, as in enum book_kind. */
	KIND_CLAIM,
	KIND_VOLUME,
	KIND_STORAGE_CLASS,
	KIND_CSI_DRIVER,
	KIND_CSI_NODE,
	KIND_STORAGE_CAPACITY,
	KIND_ATTACHMENT,
	KIND_NATIVE_GROUP, /* of Kubernetes itself */
	KIND_NATIVE_COMPOSITE,
	KIND_RBG,
	KIND_RBG_SET,
	KIND_POLICY,
	KIND_CLUSTER_TOPOLOGY,
	KIND_ROLE_INSTANCE,
	KIND_ROLE_INSTANCE_SET,
	KIND_IDS,
};

enum kind_mirror {
	MIRROR_NEVER,
	MIRROR_ALWAYS,    /* by `run`; a server without it is waited for */
	MIRROR_IF_SERVED, /* by `run`, once the server has it */
};

/* Who plays the controller of the kind in the embedded cluster. */
enum kind_simulator {
	SIMULATE_NOBODY,
	SIMULATE_KUBELETS,
	SIMULATE_RBG,     /* the real controller, which `run` has, too */
	SIMULATE_VOLUMES, /* the controllers of claims and volumes, and a provisioner */
	SIMULATE_DEVICES, /* the controller of claims for devices */
	/* Controllers of workloads, from here on: one each. */
	SIMULATE_POD,
	SIMULATE_CRON_JOB,
	SIMULATE_DAEMON_SET,
	SIMULATE_DEPLOYMENT,
	SIMULATE_GROVE,
	SIMULATE_JAX_JOB,
	SIMULATE_JOB,
	SIMULATE_JOB_SET,
	SIMULATE_LEADER_WORKER_SET,
	SIMULATE_MPI_JOB,
	SIMULATE_PYTORCH_JOB,
	SIMULATE_RAY_CLUSTER,
	SIMULATE_RAY_JOB,
	SIMULATE_RAY_SERVICE,
	SIMULATE_REPLICA_SET,
	SIMULATE_STATEFUL_SET,
	SIMULATE_TF_JOB,
	SIMULATE_XGBOOST_JOB,
	SIMULATORS,
};

/* Turns an object of the kind into that of another version, or face, of it; `to` is what will stand in its apiVersion. */
typedef void kind_convert(struct arena *arena, struct tree *root, const char *to);

struct kind_right {
	const char *subresource, *verbs; /* verbs are separated by blanks */
};

#define KIND_MOST_VERSIONS 3

struct kind_row {
	const char *group; /* "" for core */
	/* The preferred one first; NULL ends them. Where `convert` is given objects are kept in the form of the first. */
	const char *versions[KIND_MOST_VERSIONS + 1];
	const char *resource, *singular, *kind;
	unsigned flags; /* enum row_flag */
	enum kind_id id;
	const char *short_names[4];
	const struct kind_column
		*columns; /* ends with a NULL name; NULL: computed by whoever prints them, or age alone */

	enum kind_family family;
	const char *needs[2]; /* "resource.group" of kinds that its family reads besides owners; NULL ends them */

	enum kind_mirror mirror;
	const char *mirror_labels;   /* a selector; NULL: all of them are mirrored */
	const char *verbs;           /* rights of `run` besides those to list and watch what it mirrors; NULL: none */
	struct kind_right rights[4]; /* one without a name ends them */

	enum kind_simulator simulator;
	kind_convert *convert; /* NULL: its versions have the same form */

	/* For the embedded server. */
	const char *face_of;                   /* the core resource whose objects it shows under another group */
	const char *status;                    /* JSON: status of new objects, NULL for none */
	const char *const *fields;             /* field selectors besides metadata.name and metadata.namespace */
	const char *selector;                  /* path of the selector for the Scale subresource */
	const char *scale_spec, *scale_status; /* paths of the counts; NULL: .spec.replicas and .status.replicas */
	int elsewhere;                         /* so many of its versions, the last ones, only other servers have */
};

/* The row of that number, NULL behind the last. */
const struct kind_row *kinds_row(size_t number);
/* By what stands in objects and references: any version of the group. NULL when there is none. */
const struct kind_row *kinds_find(const char *api_version, const char *kind);
/* By group and plural. */
const struct kind_row *kinds_resource(const char *group, const char *resource);
/* "podgangs.scheduler.grove.io"; core kinds have no dot. */
const struct kind_row *kinds_named(const char *name);
/* The kind that a word was meant to be; NULL when it is one, or none is near. */
const char *kinds_nearest(const char *kind);
/* Whether people call the kind so: "lws", "leaderworkerset", "LeaderWorkerSets", "leaderworkersets.leaderworkerset.x-k8s.io". */
bool kinds_is_called(const struct kind_row *row, const char *word);
/* The row with that id, which is not KIND_OTHER. */
const struct kind_row *kinds_of_id(enum kind_id id);
/* Whether the kind has this version: "v1" for core, else with its group. */
bool kinds_has_version(const struct kind_row *row, const char *api_version);
/* A word for the family: "kubeflow"; "" for FAMILY_NONE. */
const char *kinds_family_name(enum kind_family family);
/* All verbs of `run` for the objects of the kind, in the usual order: "get, list, watch"; "" for none. */
const char *kinds_verbs(const struct kind_row *row, struct arena *arena);
/* Whether the embedded server, and every mirror, has the kind without a definition. */
bool kinds_is_built_in(const struct kind_row *row);

/* Brings an object into the form of another version of its kind, and writes that into its apiVersion. */
void kinds_convert(struct arena *arena, struct tree *root, const char *api_version);

#endif
