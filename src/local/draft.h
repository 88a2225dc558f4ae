/* One write on its way through: what the files that carry out requests share. */
#ifndef LOCAL_DRAFT_H
#define LOCAL_DRAFT_H

#include "base/problems.h"
#include "local/internal.h"

struct draft {
	struct store *store;
	const struct store_request *request;
	struct store_result *result;
	struct arena *arena;
	const struct store_api *api;
	struct bucket *bucket;
	const char *namespace_, *name;    /* of the request, never NULL */
	struct store_object *old;         /* retained; NULL for a create */
	struct tree *root;                /* the object as it shall become */
	VEC(struct doc *) docs;           /* what `root` refers to besides the request and `old` */
	bool internal;                    /* our own write: no admission */
	bool applied;                     /* server-side apply: managedFields are already right */
	struct store_admission admission; /* as the layer above left it; without `examine` where it was not asked */
	struct problems warnings;
};

/* ---- refusals; all return -1 ---- */
int draft_refuse(struct draft *draft, int code, const char *reason, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int draft_refuse_not_found(struct draft *draft);
int draft_refuse_conflict(struct draft *draft, const char *what);
int draft_refuse_problems(struct draft *draft, const struct problems *problems);
/* "pods", "deployments.apps" */
const char *draft_qualified(struct arena *arena, const struct store_type *type);

/* ---- metadata.c ---- */
/* Kind, apiVersion, namespace and name of a body against the request; fills in what the body leaves out. */
int metadata_identify(struct draft *draft);
/* Form of names, labels, annotations, finalizers, owners. */
int metadata_check(struct draft *draft);
/* uid, creationTimestamp, generation of a new object; 409 when the name is taken. */
int metadata_begin(struct draft *draft);
/* What an update may not change is put back; resourceVersion and uid must fit. */
int metadata_carry(struct draft *draft);
void metadata_timestamp(struct draft *draft, char out[32]);

/* ---- draft.c ---- */
void draft_begin(struct draft *draft, struct store *store, const struct store_request *request,
                 struct store_result *result);
void draft_end(struct draft *draft);
/* Finds `old`; 404 when there is none. */
int draft_find(struct draft *draft);
/* Takes `root` (the whole object, in the view of the api) as the new state: everything from carrying metadata over to
 * storing. Fills the result. */
int draft_create(struct draft *draft);
int draft_update(struct draft *draft);
/* The last part of that: judges `root` and stores it, unless it changes nothing. */
int draft_settle(struct draft *draft);

/* ---- definition.c ---- */
int definition_begin(struct draft *draft);
int definition_carry(struct draft *draft);

/* ---- patch.c ---- */
/* Applies the patch of the request to `root`. */
int patch_apply(struct draft *draft);

/* ---- apply.c: server-side apply ---- */
int apply_merge(struct draft *draft);
/* After another kind of write: who owns what has changed. */
void apply_track(struct draft *draft);

/* ---- subresource.c ---- */
struct store_object *scale_of(const struct store_api *api, struct store_object *object);
int write_scale(struct draft *draft);
int write_binding(struct draft *draft);
int write_eviction(struct draft *draft);

#endif
