/* Owns the stand-in for the PersistentVolume controller: which claim has which volume, and the phases of both. What it does
 * in which state follows pkg/controller/volume/persistentvolume of Kubernetes. */
#include "cluster/volumes_internal.h"

#include "admit/decode.h"
#include "admit/rules.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "object/metadata.h"

#include <string.h>

#define DEFAULT_CLASS "storageclass.kubernetes.io/is-default-class"

static const char *volume_name(const struct store_object *claim)
{
	return val_str(val_path(claim->root, "spec", "volumeName", NULL), "");
}

static const struct val *claim_ref(const struct store_object *volume)
{
	const struct val *reference = val_path(volume->root, "spec", "claimRef", NULL);
	return val_kind(reference) == VAL_MAP ? reference : NULL;
}

/* Whether the volume is meant for the claim; a reference without uid was written by people. */
static bool is_for(const struct store_object *volume, const struct store_object *claim)
{
	const struct val *reference = claim_ref(volume);
	const char *uid = val_str(val_get(reference, "uid"), "");
	return reference && strcmp(val_str(val_get(reference, "namespace"), ""), claim->namespace_) == 0 &&
	       strcmp(val_str(val_get(reference, "name"), ""), claim->name) == 0 &&
	       (!*uid || strcmp(uid, claim->uid) == 0);
}

/* ---- matching ---- */

static int64_t amount(const struct val *quantity)
{
	char scratch[64];
	const char *text = val_scalar_text(quantity, scratch);
	int64_t value = 0;
	if (!text || quantity_parse(text, strlen(text), QUANTITY_UNITS, &value, NULL) < 0)
		return 0;
	return value;
}

static int64_t capacity(const struct store_object *volume)
{
	return amount(val_path(volume->root, "spec", "capacity", "storage", NULL));
}

static bool has_modes(const struct val *has, const struct val *needs)
{
	const struct val *needed, *mode;
	for (struct val_iter it = val_iter(needs); val_next(&it, NULL, &needed);) {
		bool found = false;
		for (struct val_iter at = val_iter(has); val_next(&at, NULL, &mode);)
			found |= val_equal(mode, needed);
		if (!found)
			return false;
	}
	return true;
}

static const char *mode_of(const struct store_object *object)
{
	return val_str(val_path(object->root, "spec", "volumeMode", NULL), "Filesystem");
}

/* What has to hold for a volume that people chose too: size, class, mode. */
static bool satisfies(const struct store_object *volume, const struct store_object *claim)
{
	const char *has = volumes_class(volume), *wants = volumes_class(claim);
	return capacity(volume) >= amount(val_path(claim->root, "spec", "resources", "requests", "storage", NULL)) &&
	       strcmp(has ? has : "", wants ? wants : "") == 0 && strcmp(mode_of(volume), mode_of(claim)) == 0;
}

static bool is_selected(const struct volumes_turn *turn, const struct store_object *volume,
                        const struct store_object *claim)
{
	const struct val *map = val_path(claim->root, "spec", "selector", NULL);
	struct problems problems = {.arena = turn->arena};
	struct decode decode = {.arena = turn->arena, .problems = &problems};
	struct selector selector = {0};
	if (!map)
		return true;
	return rules_label_selector(&decode, &(const struct decode_path){.key = "selector"}, map, &selector) &&
	       problems.errors == 0 && selector_matches(&selector, &volume->labels, volume->name);
}

static bool is_available(const struct volumes_turn *turn, const struct store_object *volume,
                         const struct store_object *claim)
{
	const char *phase = val_str(val_path(volume->root, "status", "phase", NULL), "");
	return !claim_ref(volume) && !metadata_is_leaving(volume->root) && strcmp(phase, "Available") == 0 &&
	       satisfies(volume, claim) && is_selected(turn, volume, claim) &&
	       has_modes(val_path(volume->root, "spec", "accessModes", NULL),
	                 val_path(claim->root, "spec", "accessModes", NULL));
}

/* A volume meant for the claim, else the smallest that fits, if the claim does not wait for a pod. NULL: none. */
static struct store_object *best_volume(struct volumes_turn *turn, const struct store_object *claim, bool delayed)
{
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(turn->store, "", "v1", "persistentvolumes")};
	struct store_object *best = NULL;
	if (store_list(turn->store, &request, &list, turn->arena, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < list.count; i++) {
		struct store_object *volume = list.items[i];
		if (is_for(volume, claim) && !metadata_is_leaving(volume->root)) {
			best = volume;
			break;
		}
		if (!delayed && is_available(turn, volume, claim) && (!best || capacity(volume) < capacity(best)))
			best = volume;
	}
	best = store_object_retain(best);
	store_list_clear(&list);
	return best;
}

/* ---- binding ---- */

/* The volume knows its claim, and both its reference and its phase are written before the claim is. */
static bool bind_volume(struct volumes_turn *turn, struct store_object *volume, const struct store_object *claim)
{
	struct build *build = turn->build;
	const char *uid = val_str(val_get(claim_ref(volume), "uid"), "");
	if (!*uid) {
		struct node *body = build_map(build), *spec = build_map(build);
		if (!claim_ref(volume))
			volumes_put_annotation(turn, body, BOUND_BY_CONTROLLER, "yes");
		build_put(build, spec, "claimRef", volumes_claim_reference(build, claim));
		build_put(build, body, "spec", spec);
		if (!volumes_patch(turn, volume, STORE_MAIN, body))
			return false;
	}
	return volumes_set_phase(turn, volume, "Bound");
}

static bool bind_claim(struct volumes_turn *turn, const struct store_object *claim, const struct store_object *volume)
{
	struct build *build = turn->build;
	bool named = volume_name(claim)[0] != '\0';
	if (named && volumes_annotation(claim, BIND_COMPLETED))
		return true;
	struct node *body = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	build_put_string(build, annotations, BIND_COMPLETED, "yes");
	if (!named) {
		struct node *spec = build_map(build);
		build_put_string(build, annotations, BOUND_BY_CONTROLLER, "yes");
		build_put_string(build, spec, "volumeName", volume->name);
		build_put(build, body, "spec", spec);
	}
	build_put(build, metadata, "annotations", annotations);
	build_put(build, body, "metadata", metadata);
	return volumes_patch(turn, claim, STORE_MAIN, body);
}

static void show_bound(struct volumes_turn *turn, const struct store_object *claim, const struct store_object *volume)
{
	struct build *build = turn->build;
	if (strcmp(val_str(val_path(claim->root, "status", "phase", NULL), ""), "Bound") == 0)
		return;
	struct node *body = build_map(build), *status = build_map(build);
	const struct val *modes = val_path(volume->root, "spec", "accessModes", NULL),
			 *sizes = val_path(volume->root, "spec", "capacity", NULL);
	build_put_string(build, status, "phase", "Bound");
	if (modes)
		build_put(build, status, "accessModes", build_copy(build, modes));
	if (sizes)
		build_put(build, status, "capacity", build_copy(build, sizes));
	build_put(build, body, "status", status);
	volumes_patch(turn, claim, STORE_STATUS, body);
}

static void bind(struct volumes_turn *turn, struct store_object *claim, struct store_object *volume)
{
	if (bind_volume(turn, volume, claim) && bind_claim(turn, claim, volume))
		show_bound(turn, claim, volume);
}

/* ---- claims ---- */

static void lose(struct volumes_turn *turn, const struct store_object *claim, const char *reason, const char *message)
{
	if (volumes_set_phase(turn, claim, "Lost"))
		volumes_event(turn, claim, true, reason, message);
}

static void sync_bound_claim(struct volumes_turn *turn, struct store_object *claim)
{
	struct store_object *volume = store_object_retain(volumes_find_volume(turn, volume_name(claim)));
	if (!volume)
		lose(turn, claim, "ClaimLost",
		     "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
	else if (!claim_ref(volume) || is_for(volume, claim))
		bind(turn, claim, volume);
	else
		lose(turn, claim, "ClaimMisbound",
		     "Two claims are bound to the same volume, this one is bound incorrectly");
	store_object_release(volume);
}

/* People named the volume. */
static void sync_named_claim(struct volumes_turn *turn, struct store_object *claim)
{
	struct store_object *volume = store_object_retain(volumes_find_volume(turn, volume_name(claim)));
	bool is_free = volume && !claim_ref(volume);
	if (is_free && !satisfies(volume, claim))
		volumes_event(turn, claim, true, "VolumeMismatch",
		              arena_printf(turn->arena, "Cannot bind to requested volume \"%s\"", volume->name));
	else if (is_free || (volume && is_for(volume, claim)))
		bind(turn, claim, volume);
	store_object_release(volume);
}

/* Claims without a class get the default one, whenever there is one. The name; NULL: there is none. */
static const char *default_class(struct volumes_turn *turn)
{
	struct store_list list = {0};
	struct store_list_request request = {.api = store_api_find(turn->store, KINDS_STORAGE, "v1", "storageclasses")};
	const char *name = NULL;
	if (store_list(turn->store, &request, &list, turn->arena, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < list.count && !name; i++)
		if (text_equal(volumes_annotation(list.items[i], DEFAULT_CLASS), "true"))
			name = arena_strdup(turn->arena, list.items[i]->name);
	store_list_clear(&list);
	return name;
}

/* True when the claim is another one now. */
static bool give_default_class(struct volumes_turn *turn, const struct store_object *claim)
{
	const char *name = volumes_class(claim) ? NULL : default_class(turn);
	if (!name)
		return false;
	struct node *body = build_map(turn->build), *spec = build_map(turn->build);
	build_put_string(turn->build, spec, "storageClassName", name);
	build_put(turn->build, body, "spec", spec);
	return volumes_patch(turn, claim, STORE_MAIN, body);
}

static void wait_for_volume(struct volumes_turn *turn, const struct store_object *claim,
                            const struct store_object *class_, bool delayed)
{
	const char *name = volumes_class(claim);
	if (delayed && !volumes_annotation(claim, SELECTED_NODE))
		volumes_event(turn, claim, false, "WaitForFirstConsumer",
		              "waiting for first consumer to be created before binding");
	else if (class_ && strcmp(val_str(val_get(class_->root, "provisioner"), NO_PROVISIONER), NO_PROVISIONER) != 0)
		volumes_provision(turn, claim, class_);
	else if (name && *name && !class_)
		volumes_event(turn, claim, true, "ProvisioningFailed",
		              arena_printf(turn->arena, "storageclass.storage.k8s.io \"%s\" not found", name));
	else
		volumes_event(turn, claim, false, "FailedBinding",
		              "no persistent volumes available for this claim and no storage class is set");
}

void volumes_sync_claim(struct volumes_turn *turn, struct store_object *claim)
{
	if (volumes_annotation(claim, BIND_COMPLETED)) {
		sync_bound_claim(turn, claim);
		return;
	}
	if (metadata_is_leaving(claim->root))
		return;
	if (volume_name(claim)[0]) {
		sync_named_claim(turn, claim);
		return;
	}
	if (give_default_class(turn, claim))
		return; /* the change brings it here again */
	const char *name = volumes_class(claim);
	struct store_object *class_ = name ? store_object_retain(volumes_find_class(turn, name)) : NULL;
	const char *mode = class_ ? val_str(val_get(class_->root, "volumeBindingMode"), "") : "";
	bool delayed = strcmp(mode, "WaitForFirstConsumer") == 0;
	struct store_object *volume = best_volume(turn, claim, delayed);
	if (volume)
		bind(turn, claim, volume);
	else
		wait_for_volume(turn, claim, class_, delayed);
	store_object_release(volume);
	store_object_release(class_);
}

/* ---- volumes ---- */

static void remove_volume(struct volumes_turn *turn, const struct store_object *volume)
{
	struct store_request request = writes_delete(volume, VOLUMES_ACTOR);
	struct store_error error = {0};
	turn->failed |= writes_send(turn->store, &request, turn->arena, &error) < 0 && error.code != 404;
}

/* Its claim is gone: the data stays, or the volume goes with it. */
static void release(struct volumes_turn *turn, const struct store_object *volume)
{
	const char *policy = val_str(val_path(volume->root, "spec", "persistentVolumeReclaimPolicy", NULL), "Retain");
	if (strcmp(policy, "Delete") == 0)
		remove_volume(turn, volume);
	else
		volumes_set_phase(turn, volume, "Released");
}

/* The claim has another volume. What people wrote into the reference stays. */
static void unbind(struct volumes_turn *turn, const struct store_object *volume)
{
	struct build *build = turn->build;
	if (volumes_annotation(volume, PROVISIONED_BY)) {
		release(turn, volume);
		return;
	}
	bool ours = volumes_annotation(volume, BOUND_BY_CONTROLLER) != NULL;
	if (!ours && !val_get(claim_ref(volume), "uid")) {
		volumes_set_phase(turn, volume, "Available");
		return;
	}
	struct node *body = build_map(build), *spec = build_map(build), *reference = build_map(build);
	if (ours)
		volumes_put_annotation(turn, body, BOUND_BY_CONTROLLER, NULL);
	build_put(build, reference, "uid", build_null(build));
	build_put(build, spec, "claimRef", ours ? build_null(build) : reference);
	build_put(build, body, "spec", spec);
	if (volumes_patch(turn, volume, STORE_MAIN, body))
		volumes_set_phase(turn, volume, "Available");
}

void volumes_sync_volume(struct volumes_turn *turn, struct store_object *volume)
{
	const struct val *reference = claim_ref(volume);
	if (metadata_is_leaving(volume->root))
		return;
	if (!reference || !*val_str(val_get(reference, "uid"), "")) {
		volumes_set_phase(turn, volume, "Available");
		return;
	}
	struct store_object *claim =
		store_object_retain(volumes_find_claim(turn, val_str(val_get(reference, "namespace"), ""),
	                                               val_str(val_get(reference, "name"), "")));
	if (!claim || strcmp(claim->uid, val_str(val_get(reference, "uid"), "")) != 0)
		release(turn, volume);
	else if (strcmp(volume_name(claim), volume->name) == 0)
		volumes_set_phase(turn, volume, "Bound");
	else if (volume_name(claim)[0])
		unbind(turn, volume);
	/* A claim without a volume gets this one in its own turn, which the change of the reference has brought. */
	store_object_release(claim);
}
