/* What the files of the records share: one writer of records per kind. */
#ifndef VIEW_RECORDS_INTERNAL_H
#define VIEW_RECORDS_INTERNAL_H

#include "base/labels.h"
#include "base/strings.h"
#include "view/records.h"
#include "object/build.h"

#include <stddef.h>

/* One record being written. */
struct records_draft {
	const struct store_object *object;
	const struct val *root; /* of the object */
	const char *namespace_, *name;
	struct arena *arena;
	struct build *build;
	struct node *map;              /* has "k" and "n" */
	const struct plan_group *told; /* the reasons of a plan for what it is about; NULL for none */
};

/* Adds gpu (thousandths), cpu (thousandths) and mem (MiB) where they are not 0. */
void records_put_amounts(struct records_draft *record, const struct resource_amount *amounts, size_t count);

/* records_cluster.c */
void records_write_topology(struct records_draft *record);
void records_write_node(struct records_draft *record, const struct interner *keys);
void records_write_queue(struct records_draft *record);
/* records_work.c */
void records_write_pod(struct records_draft *record);
void records_write_group(struct records_draft *record);
/* records_rbg.c */
void records_write_rbg(struct records_draft *record);
void records_write_policy(struct records_draft *record);

#endif
