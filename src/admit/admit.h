/* Admission: the verdict on one object, given the others that exist. */
#ifndef ADMIT_ADMIT_H
#define ADMIT_ADMIT_H

#include "base/arena.h"
#include "base/problems.h"
#include "kinds/kinds.h"
#include "object/derivation.h"
#include "object/manifest.h"

struct decoded_rbg;

/* What the other objects say that matters for a verdict: made once in time linear in the number of objects, so that
 * judging all of them stays linear too. Borrows the manifests, which must outlive it and not change. */
struct admit_index;
struct admit_index *admit_index_create(const struct manifests *all);
/* These are all objects of the cluster: what is not among them does not exist. */
void admit_index_is_cluster(struct admit_index *index);
/* Where RoleBasedGroups that are not among the objects are found, for a server with many of them; NULL: nowhere. What
 * `find` returns is looked at before the next call. */
typedef const struct decoded_rbg *admit_find_group(void *context, const char *namespace_, const char *name);
void admit_index_find_groups(struct admit_index *index, admit_find_group *find, void *context);
void admit_index_destroy(struct admit_index *index); /* NULL is a no-op */

/* Validates one object by its kind against the rules of that kind and against the other objects: Topology and level
 * and layer existence, the roles that policies speak of, the same object given twice (an error on the later one), Queue parents and cycles, two Topologies that
 * use labels in conflicting order (a warning). The index may contain the object itself; NULL judges the object alone.
 * Unknown kinds: no problem, they are not ours. An object that has been decoded (see below) is not decoded again. */
void admit_object(const struct manifest *object, const struct admit_index *index, struct problems *problems);
/* How objects of a kind that several parts of the program read are decoded, once for all of them; NULL for other kinds. What
 * it makes is the `decoded` of a manifest. */
const struct derivation *admit_derivation(enum kind_id kind);
/* Whether Platoon validates this kind at all. */
bool admit_knows(const struct manifest *object);
/* The apiVersion in which Platoon likes to read this kind, perhaps in the arena; NULL for a kind that is not ours. An object of that kind in another
 * version is either somebody else's or a slip of the pen, and only its author knows. */
const char *admit_api_version(const char *kind, struct arena *arena);

#endif
