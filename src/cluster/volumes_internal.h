/* What the files of the simulated volume controllers share. */
#ifndef CLUSTER_VOLUMES_INTERNAL_H
#define CLUSTER_VOLUMES_INTERNAL_H

#include "loop/reconciler.h"
#include "loop/writes.h"
#include "cluster/volumes.h"

#define VOLUMES_ACTOR "volume-controller"

#define BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"
#define PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define SELECTED_NODE "volume.kubernetes.io/selected-node"
#define STORAGE_PROVISIONER "volume.kubernetes.io/storage-provisioner"
#define NO_PROVISIONER "kubernetes.io/no-provisioner"

/* One claim or volume in work. */
struct volumes_turn {
	struct reconcile *turn;
	struct store *store;
	struct arena *arena;
	struct build *build;
	int64_t now; /* seconds */
	bool failed; /* a write was refused: try again later */
};

/* ---- volumes.c ---- */

/* Borrowed, NULL when there is none. The first two for the core group, class for storage.k8s.io. */
struct store_object *volumes_find_volume(const struct volumes_turn *turn, const char *name);
struct store_object *volumes_find_claim(const struct volumes_turn *turn, const char *namespace_, const char *name);
struct store_object *volumes_find_class(const struct volumes_turn *turn, const char *name);
const char *volumes_annotation(const struct store_object *object, const char *key); /* NULL when absent */
/* The class of a claim or volume: the old annotation, else the field; NULL when none is named. */
const char *volumes_class(const struct store_object *object);
/* What a volume says about its claim. */
struct node *volumes_claim_reference(struct build *build, const struct store_object *claim);
/* Merges `body` into the object, or into its status. False when that was refused; then the turn failed. */
bool volumes_patch(struct volumes_turn *turn, const struct store_object *object, enum store_subresource subresource,
                   struct node *body);
bool volumes_create_object(struct volumes_turn *turn, const char *resource, const char *namespace_, struct node *body);
void volumes_put_annotation(struct volumes_turn *turn, struct node *body, const char *key, const char *value);
/* Writes status.phase where it differs. */
bool volumes_set_phase(struct volumes_turn *turn, const struct store_object *object, const char *phase);
void volumes_event(struct volumes_turn *turn, const struct store_object *object, bool warning, const char *reason,
                   const char *message);

/* ---- volumes_bind.c: the controller of claims and volumes ---- */
void volumes_sync_claim(struct volumes_turn *turn, struct store_object *claim);
void volumes_sync_volume(struct volumes_turn *turn, struct store_object *volume);

/* ---- volumes_provision.c: the provisioner ---- */

/* Provisions a volume for the claim, whose class is given, when that is due; or fails as the class says. */
void volumes_provision(struct volumes_turn *turn, const struct store_object *claim, const struct store_object *class_);

#endif
