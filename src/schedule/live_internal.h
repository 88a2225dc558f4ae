/* What the files of the live state share. Private to live*.c. */
#ifndef SCHEDULE_LIVE_INTERNAL_H
#define SCHEDULE_LIVE_INTERNAL_H

#include "base/hash.h"
#include "base/vec.h"
#include "schedule/live.h"
#include "schedule/snapshot_build.h"
#include "schedule/usage.h"

/* An assumption about a pod. */
struct guess {
	char *node;     /* NULL: none is made */
	uint64_t until; /* version in which the store shows it; UINT64_MAX while nobody knows */
};

/* One object of the store. The texts of what was decoded from it are borrowed from `read`. */
struct live_object {
	UT_hash_handle hh;
	char *key;                     /* "namespace/name" */
	const char *namespace_, *name; /* own copies: gangs point to them */
	enum kind_id kind;
	struct store_object *object, *read;
	/* of pods and PodGroups: */
	int slot; /* in the pods or the groups of the snapshot, -1 for none */
	struct live_family *family;
	size_t place;               /* in the pods of the family */
	bool bad;                   /* a pod that could not be decoded */
	bool held;                  /* a pod that is not to be looked at yet; then `place` is in the list of those */
	int implicit;               /* group of the pod alone, -1 for none */
	struct live_claim **claims; /* of a pod: those it names */
	size_t claim_count;
	struct live_device_claim **device_claims; /* the same of claims for devices */
	size_t device_claim_count;
	struct device_asked device_asks;      /* of these claims */
	struct live_config_map **config_maps; /* of a pod: those it needs, where the settings ask for them */
	size_t config_map_count;
	struct live_bare *bare; /* of a pod that waits: where it is listed, if a Service may select it */
	size_t bare_place;
	struct pod_block *block; /* of a pod: why other objects keep it from being placed; on the heap, NULL mostly */
	struct guess guess[LIVE_GUESSES];
};

/* Pods that name one PodGroup, whether it exists or not. */
struct live_family {
	UT_hash_handle hh;
	char *key;
	VEC(struct live_object *) pods;
	struct live_object *group; /* NULL while there is none */
	bool dirty;
};

/* Parallel to the groups of the snapshot. */
struct live_slot {
	bool used;
	bool listed;        /* in `todo` */
	struct arena *spec; /* of the PodGroup */
	struct arena *gang; /* of its members */
	bool gave_up;       /* these as read; a cycle changes them */
	struct reasons reasons;
	struct cycle_place *places;
	size_t place_count;
	/* what its pods were told last, and when */
	uint64_t told;
	int64_t told_at;
	int64_t numbers_told;
	struct live_known known;
};

struct live {
	struct snapshot_options options; /* with settings */
	uint64_t placing;                /* of the settings that the state was built with */
	struct snapshot snapshot;
	struct snapshot_build build;
	struct manifests frame; /* objects of the kinds that are built together */
	struct arena *scratch, *turn;
	struct live_object *objects[KIND_IDS];
	struct live_family *families;
	struct live_claim *claims;
	struct live_device_claim *device_claims;
	struct live_config_map *config_maps;
	struct live_bare *bare;
	struct service_book *services;
	struct volume_book *book;           /* of all objects of storage */
	struct device_book *device_book;    /* of all slices, classes and claims of devices */
	VEC(char *) device_claims_to_check; /* "namespace/name" of those that other pods name now */
	VEC(char *) claims_to_check;        /* "namespace/name" of those that other pods name now */
	VEC(struct live_family *) dirty;
	VEC(struct live_object *) pods; /* parallel to the pods of the snapshot; NULL for free ones */
	VEC(int) free_pods, free_groups;
	struct live_slot *slots;
	size_t pod_capacity, group_capacity;
	struct gang_node vacant;            /* the tree of slots without a group */
	VEC(struct store_object *) retired; /* of objects that are gone, while the frame borrows from them */
	VEC(int) todo;                      /* groups the next cycle looks at */
	VEC(struct live_object *) held;     /* pods that are not to be looked at yet */
	size_t held_next, held_left;        /* behind the one that is looked at next; how many are left in this round */
	uint64_t held_version;              /* of the store, when the round began */
	struct pod_grouping grouping;
	VEC(char *) moving_nodes; /* names of nodes that came, went or moved since the last cycle */
	size_t turnover;          /* nodes that came or went since everything was built */
	int64_t moves_left;       /* that defragmentation may make in the next cycle */
	struct usage *usage;      /* what queues used in the past; NULL when that does not count */
	struct arena *budgets;    /* what the budgets of the snapshot consist of */
	bool budgets_stale;       /* they are to be read anew */
	bool stale, changed, planning;
	bool finishing; /* of the groups of the cycle `finished` are through */
	size_t finished;
	size_t rebuilds;
};

struct manifest live_manifest(const struct live_object *object);
struct live_object *live_find(const struct live *live, enum kind_id kind, const char *namespace_, const char *name);

/* live.c: looks at held pods again, all of them within a few calls after the store changed. */
void live_check_held(struct live *live, uint64_t version);

/* live_pods.c */
void live_pod_update(struct live *live, struct live_object *object);
void live_pod_drop(struct live *live, struct live_object *object);
struct live_family *live_family_get(struct live *live, const char *namespace_, const char *name);
void live_family_mark(struct live *live, struct live_family *family);
void live_families_clear(struct live *live);

/* live_groups.c */
void live_group_free(struct live *live, int group);
void live_group_list(struct live *live, int group);
/* A pod of the group was read again: nobody has looked yet at what it was told. */
void live_group_pod_read(struct live *live, const struct live_object *pod);
void live_group_implicit(struct live *live, struct live_object *pod);
void live_group_update(struct live *live, struct live_object *object);
void live_group_drop(struct live *live, struct live_object *object);
void live_groups_refresh(struct live *live);

/* live_volumes.c */
void live_volumes_join(struct live *live, struct live_object *pod, const struct pod_spec *spec);
void live_volumes_leave(struct live *live, struct live_object *pod);
void live_volumes_clear(struct live *live);
/* After the frame was built. */
void live_volumes_build(struct live *live);
/* What the pod needs, its volumes included; in the arena where they add something. */
struct volume_needs live_volume_needs(struct live *live, const struct pod_spec *pod, struct arena *arena);
/* An object of storage came or changed, or is gone. Costs the pods that depend on it. */
void live_storage_changed(struct live *live, struct live_object *object, bool gone);
/* Before a cycle. */
void live_volumes_settle(struct live *live);
/* A pod was read again, or is gone: what it leaves attached on a node, or takes over there. */
void live_volumes_moved(struct live *live, const struct snapshot_pod *before, const struct snapshot_pod *after);

/* live_devices.c: as for volumes */
void live_devices_join(struct live *live, struct live_object *pod, const struct pod_spec *spec);
void live_devices_leave(struct live *live, struct live_object *pod);
void live_devices_clear(struct live *live);
void live_devices_build(struct live *live);
void live_device_changed(struct live *live, const struct live_object *object, bool gone);
void live_devices_settle(struct live *live);

/* live_config_maps.c */
void live_config_maps_join(struct live *live, struct live_object *pod, const struct pod_spec *spec);
void live_config_maps_leave(struct live *live, struct live_object *pod);
void live_config_maps_clear(struct live *live);
/* It came, or is gone. Costs the pods that need it. */
void live_config_map_changed(struct live *live, const char *namespace_, const char *name);
/* Whether there is one; the context is the live state. */
bool live_has_config_map(const void *context, const char *namespace_, const char *name);

/* live_services.c */
void live_services_join(struct live *live, struct live_object *pod, const struct pod_spec *spec);
void live_services_leave(struct live *live, struct live_object *pod);
void live_services_clear(struct live *live);
/* It came or changed; object NULL: it is gone. Costs the waiting pods of its namespace that nothing controls. */
void live_service_changed(struct live *live, const char *namespace_, const char *name, const struct val *object);

/* live_budgets.c: a budget came or changed; one is gone. */
void live_budget_update(struct live *live, struct live_object *object);
void live_budget_drop(struct live *live);
/* A pod came (sign 1), or goes as it was (-1). */
void live_budgets_count(struct live *live, const struct snapshot_pod *pod, int sign);
/* Before a cycle: what they allow now. */
void live_budgets_refresh(struct live *live);

/* live_usage.c: before a cycle, tells it what queues used; after it, notes what they hold from now on. */
void live_usage_begin(struct live *live);
void live_usage_hold(struct live *live);

/* live_nodes.c: the node came, went or would move; all of it is taken over before the next cycle. */
void live_node_note(struct live *live, const char *name);
void live_nodes_apply(struct live *live);
void live_nodes_clear(struct live *live);

/* live_build.c */
void live_rebuild(struct live *live);
void live_unbuild(struct live *live);
/* Whether so much is left of pods that are gone that it is time to build anew. */
bool live_is_worn(const struct live *live);
/* Takes over a change of anything but pods and PodGroups, or makes the state stale. */
void live_frame_update(struct live *live, struct live_object *object);

#endif
