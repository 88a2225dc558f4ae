/* What the files of the device columns share: asks, devices and pools, and what was counted. */
#ifndef SCHEDULE_DEVICE_COLUMNS_INTERNAL_H
#define SCHEDULE_DEVICE_COLUMNS_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
#include "engine/cluster/device_stock.h"
#include "schedule/device_columns.h"

#define DEVICE_MOST_ASKS 64 /* a bit each */

struct device_ask {
	UT_hash_handle hh;
	char *key;
	int number;
	struct arena *arena;
	const char *name; /* for people */
	const char **texts;
	const struct cel_program **programs;
	size_t program_count;
	struct toleration *tolerations;
	size_t toleration_count;
	struct device_capacity *capacities;
	size_t capacity_count;
	const char *problem; /* an expression cannot be used; NULL mostly */
	size_t unserved;     /* devices that it selects and that are not served */
	size_t failed;       /* devices for which an expression fails */
	VEC(int) columns;    /* that hold all that it selects */
	size_t users;        /* pods that ask; without any, its devices are not counted apart */
};

struct counted_device {
	UT_hash_handle hh;
	char *key;                /* "driver/pool/device" */
	struct device_spec *spec; /* of the book: not when its slice has just changed there */
	struct device_pool *pool;
	const char *unserved;                 /* a field that is not served; NULL mostly */
	device_mask selected, failed, barred; /* by ask; barred: a taint alone keeps the ask away */
	int node;                             /* -1: not in the cluster, or not served */
	int place;                            /* among the devices of its node; their numbers have gaps */
};

/* Slices of one driver and pool. */
struct device_pool {
	UT_hash_handle hh;
	char *key; /* "driver/pool" */
	VEC(char *) slices;
	struct counted_device *devices; /* of the newest generation */
	size_t device_count;
	bool usable; /* complete, no device twice, and what devices draw on is there */
	bool draws;  /* devices of it draw on counters */
};

/* Which pool a slice was counted in. */
struct counted_slice {
	UT_hash_handle hh;
	char *name;
	struct device_pool *pool;
};

/* A device that claims were allocated. */
struct device_holding {
	UT_hash_handle hh;
	char *key;
	int claims;        /* all of them */
	int held, leaving; /* of those that no pod is counted for */
};

struct counted_claim {
	UT_hash_handle hh;
	char *key; /* "namespace/name" */
	char **devices;
	size_t device_count;
	char *pod; /* on the node of its devices, which requests them; NULL: none does */
	int held, leaving;
};

struct device_column {
	device_mask asks; /* a device is in it when one of them selects it */
	int resource;
	int pod_class; /* that takes one unit */
	bool used;     /* otherwise it is of former asks */
};

struct device_hold {
	int pod_class;
	enum occupancy occupancy;
	int count;
};

struct device_node {
	VEC(struct counted_device *) devices;
	VEC(struct device_hold) holds;
	bool stale;
	bool other;          /* its devices are not what the stock says */
	struct arena *arena; /* of its part of the stock; NULL: it has none */
};

/* Claims that ask for the same: a column of the cluster, of which each takes a unit while it is not allocated. */
struct device_sort {
	UT_hash_handle hh;
	char *key;
	int number, resource;
	struct arena *arena;
	const char *name; /* for people */
	struct fit_claim claim;
	const char **requests; /* their names */
	bool counted;          /* columns say exactly whether it is served, as long as nothing draws on counters */
	size_t users;          /* pods with such claims that are not allocated */
};

/* The column of a place of devices, of which there is one unit on each node that has a device there. */
struct device_place {
	int resource;
	int pod_class; /* that takes it */
};

/* Devices that the same asks select. */
struct device_atom {
	device_mask asks;
	size_t count;
};

struct device_columns {
	const struct device_book *book;
	struct cluster *cluster;
	device_users *users;
	const void *context;
	struct arena *scratch;
	struct device_ask *asks; /* by key */
	VEC(struct device_ask *) by_number;
	VEC(struct device_column) columns;
	VEC(struct device_atom) atoms;
	struct counted_device *devices;
	struct counted_slice *slices;
	struct device_pool *pools;
	struct device_holding *holdings;
	struct counted_claim *claims;
	struct device_node *nodes;
	int node_count;
	VEC(int) stale_nodes;
	struct device_sort *sorts; /* by key */
	VEC(struct device_sort *) sorts_by_number;
	VEC(struct device_place) places;
	struct interner *attributes;  /* that constraints name */
	struct interner *values;      /* of these */
	struct interner *contents;    /* of nodes */
	struct device_parts *parts;   /* what the engine has; NULL: counting is exact */
	bool parts_stale;             /* there are other sorts of claims, or columns, than the engine was given */
	bool searching;               /* claims are served by a search: counting is not exact */
	size_t drawing;               /* pools whose devices draw on counters */
	device_mask gpus;             /* asks for all of a class of GPUs: what queues count */
	struct device_column claimed; /* of these; while there is such a class */
	device_mask related;          /* asks with users when the columns were found */
	bool relations_stale, grew;
	bool tangled; /* asks overlap in more ways than there are columns for */
};

/* device_columns.c: a claim that is allocated, NULL for others. */
struct counted_claim *device_claims_find(const struct device_columns *columns, const char *namespace_,
                                         const char *name);
/* Who requests the devices of an allocated claim: its only pod, where it is on their node (then true); otherwise they are held. */
bool device_claims_count(struct device_columns *columns, const struct device_claim_spec *spec,
                         const struct pod_spec *pod, int node);

/* device_pools.c */
void device_pools_take(struct device_columns *columns, const char *name);
void device_pools_free(struct device_columns *columns);
/* Finds the nodes of all devices anew. */
void device_pools_find_nodes(struct device_columns *columns);
/* Asks all devices about one more ask. */
void device_pools_judge(struct device_columns *columns, const struct device_ask *ask);
struct counted_device *device_pools_find(const struct device_columns *columns, const char *key);
char *device_key(const char *driver, const char *pool, const char *device); /* to be freed */
void device_node_stale(struct device_columns *columns, int node);

/* device_asks.c: the ask of a request; NULL, and why in the arena, when it cannot be served. */
struct device_ask *device_asks_need(struct device_columns *columns, const struct device_option *option,
                                    struct arena *arena, enum block_code *code, const char **why);
/* Why pods with the ask cannot be placed now; NULL when they can. */
const char *device_asks_problem(const struct device_columns *columns, const struct device_ask *ask, struct arena *arena,
                                enum block_code *code);
enum cel_result device_asks_judge(const struct device_columns *columns, const struct device_ask *ask,
                                  const struct counted_device *counted, struct arena *scratch, const char **text,
                                  bool *barred, struct error *error);
/* Whether "domain/id", or an id in the domain of the driver, names it. */
bool device_name_matches(const char *name, struct cel_text domain, struct cel_text id, struct cel_text driver);
/* Those that have users. */
device_mask device_asks_used(const struct device_columns *columns);
void device_asks_free(struct device_columns *columns);

/* device_sorts.c: the sort of a claim whose options ask for `asks`, one after the other; NULL when there are too many. */
struct device_sort *device_sorts_need(struct device_columns *columns, const struct device_claim_spec *claim,
                                      struct device_ask *const *asks);
/* Whether claims have to be served by a search. */
bool device_sorts_need_search(const struct device_columns *columns);
bool device_sort_is_counted(const struct device_claim_spec *claim);
void device_sorts_free(struct device_columns *columns);

/* device_parts.c: hands the engine what it searches in, or takes it back. */
void device_parts_settle(struct device_columns *columns);
void device_parts_free(struct device_columns *columns);
/* What the engine has of a node, and its devices in that order; NULL when nothing is searched. */
const struct stock_node *device_parts_node(const struct device_columns *columns, int node);
struct counted_device *const *device_parts_devices(const struct device_columns *columns, int node);
/* Those first that the fewest asks select; then by driver, pool and name, gpu-2 before gpu-10. */
int device_compare(const struct counted_device *a, const struct counted_device *b);
void device_places_need(struct device_columns *columns, int place);

/* Whether queues count its devices as GPUs. */
bool device_class_is_of_gpus(const char *name);

/* device_relations.c: which columns there are, and which asks take units of which. */
void device_relations_count(struct device_columns *columns, device_mask asks, int change);
void device_relations_find(struct device_columns *columns);

#endif
