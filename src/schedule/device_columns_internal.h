/* What the files of the device columns share: asks, devices and pools, and what was counted. */
#ifndef SCHEDULE_DEVICE_COLUMNS_INTERNAL_H
#define SCHEDULE_DEVICE_COLUMNS_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
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
	bool unserved;
	device_mask selected, failed; /* by ask */
	int node;                     /* -1: not in the cluster, or not served */
};

/* Slices of one driver and pool. */
struct device_pool {
	UT_hash_handle hh;
	char *key; /* "driver/pool" */
	VEC(char *) slices;
	struct counted_device *devices; /* of the newest generation */
	size_t device_count;
	bool usable; /* complete, and no device twice */
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
	device_mask related; /* asks with users when the columns were found */
	bool relations_stale, grew;
	bool tangled; /* asks overlap in more ways than there are columns for */
};

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
struct device_ask *device_asks_need(struct device_columns *columns, const struct device_request *request,
                                    struct arena *arena, enum block_code *code, const char **why);
/* Why pods with the ask cannot be placed now; NULL when they can. */
const char *device_asks_problem(const struct device_columns *columns, const struct device_ask *ask, struct arena *arena,
                                enum block_code *code);
enum cel_result device_asks_judge(const struct device_columns *columns, const struct device_ask *ask,
                                  const struct counted_device *counted, struct arena *scratch, const char **text,
                                  struct error *error);
/* Those that have users. */
device_mask device_asks_used(const struct device_columns *columns);
void device_asks_free(struct device_columns *columns);

/* device_relations.c: which columns there are, and which asks take units of which. */
void device_relations_count(struct device_columns *columns, device_mask asks, int change);
void device_relations_find(struct device_columns *columns);

#endif
