/* What the files of the volume columns share: families of claims, what they are counted by, and what was counted. */
#ifndef SCHEDULE_VOLUME_COLUMNS_INTERNAL_H
#define SCHEDULE_VOLUME_COLUMNS_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
#include "engine/cluster/volume_pool.h"
#include "schedule/volume_columns.h"

struct volume_column {
	int64_t size;
	int resource;
	int32_t *count; /* volumes by node */
	bool *make;     /* by node: a new one can be made */
};

struct claim_family {
	UT_hash_handle hh;
	char *key;
	size_t key_length;
	struct arena *arena;               /* of `like` */
	struct claim_spec like;            /* all claims of the family are, but for their size */
	bool shared;                       /* a claim that several pods name: they take the same volume */
	const char *name;                  /* in the arena; no other family has it */
	VEC(struct volume_column) columns; /* by size */
	struct claim_family *next;         /* of the class */
};

struct column_class {
	UT_hash_handle hh;
	char *name;
	struct claim_family *families;
	bool stale;   /* where volumes can be made is to be asked again */
	bool tangled; /* counting is only a bound */
};

/* A volume as it was counted. */
struct counted_volume {
	UT_hash_handle hh;
	char *name;
	int64_t capacity;
	int *nodes;
	size_t node_count;
	VEC(struct claim_family *) families;
	int number; /* in the pool */
};

struct volume_columns {
	const struct volume_book *book;
	struct cluster *cluster;
	struct volume_callbacks callbacks;
	const void *context;
	struct volume_attach *attach;
	struct volume_nodes *nodes;
	struct claim_family *families;
	struct column_class *classes;
	struct counted_volume *volumes;
	bool grew, recount, any_stale;
	bool pool_stale;
	struct arena *pool_arena;
	struct volume_pool pool;
};

/* volume_pool.c: whether the volume was counted for the family. */
bool volume_serves_family(const struct counted_volume *volume, const struct claim_family *family);
/* Gives the cluster the volumes that counting does not decide about, with who asks for them. */
void volume_pool_build(struct volume_columns *columns);

#endif
