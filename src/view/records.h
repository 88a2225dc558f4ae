/* Records: the cluster as people look at it. Every object that matters becomes a small JSON record, made again when its
 * object changes and at no other time; what the scheduler found out about groups that wait is joined to them.
 *
 * Kinds of records: t Topology, n Node, p Pod, g PodGroup, q Queue, r RoleBasedGroup, y CoordinatedPolicy. Each has "k" and
 * "n" (kind and name, "namespace/name" where there is one); web/wire.ts has the rest. */
#ifndef VIEW_RECORDS_H
#define VIEW_RECORDS_H

#include "schedule/plan.h"
#include "api/store.h"

struct records;

struct records_options {
	struct store *store;
	/* The record is now this; NULL: it is gone. May be called with what was there before. */
	void (*put)(void *context, char kind, const char *name, const char *json);
	void *context;
};

struct records *records_create(const struct records_options *options);
void records_destroy(struct records *records); /* NULL is a no-op */
/* Takes over what was committed, a bounded number of changes. False when some are left. */
bool records_poll(struct records *records);
/* Whether every kind that exists has been read once. */
bool records_complete(const struct records *records);
/* What a cycle said about one of the groups it looked at; others are as before. */
void records_note_group(struct records *records, const struct plan *plan, size_t index);

#endif
