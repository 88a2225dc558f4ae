/* Owns the stand-in for an external provisioner: volumes that are made for a claim, and failures on request. */
#include "cluster/volumes_internal.h"

#include <stdlib.h>
#include <string.h>

/* Notes of the provisioner on the claim. */
#define PROVISION_AT "platoon.dev/provision-at"             /* when the volume is there */
#define PROVISION_FAILURES "platoon.dev/provision-failures" /* so far */

#define RETRY_SECONDS 15 /* of a claim that no scheduler chooses another node for */
#define HOSTNAME "kubernetes.io/hostname"

static const char *parameter(const struct store_object *class_, const char *key)
{
	return val_str(val_path(class_->root, "parameters", key, NULL), NULL);
}

static bool has_name(const char *names, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = names; *at; at += strcspn(at, ","), at += strspn(at, ", "))
		if (strcspn(at, ", ") == length && strncmp(at, name, length) == 0)
			return true;
	return false;
}

static int64_t number(const char *text)
{
	long value = text ? strtol(text, NULL, 10) : 0;
	return value > 0 ? value : 0;
}

/* ---- failing ---- */

static bool is_to_fail(const struct store_object *claim, const struct store_object *class_, const char *node)
{
	const char *claims = parameter(class_, VOLUMES_FAIL_CLAIMS), *nodes = parameter(class_, VOLUMES_FAIL_NODES),
		   *times = parameter(class_, VOLUMES_FAIL_TIMES);
	if ((!claims && !nodes && !times) || (claims && !has_name(claims, claim->name)) ||
	    (nodes && !has_name(nodes, node)))
		return false;
	return !times || number(volumes_annotation(claim, PROVISION_FAILURES)) < number(times);
}

/* The node is given back, so that another one can be chosen, as external provisioners do after a final error. */
static void fail(struct volumes_turn *turn, const struct store_object *claim, const char *why)
{
	struct build *build = turn->build;
	struct node *body = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	int64_t failures = number(volumes_annotation(claim, PROVISION_FAILURES)) + 1;
	build_put(build, annotations, SELECTED_NODE, build_null(build));
	build_put(build, annotations, PROVISION_AT, build_null(build));
	build_put_string(build, annotations, PROVISION_FAILURES,
	                 arena_printf(turn->arena, "%lld", (long long)failures));
	build_put(build, metadata, "annotations", annotations);
	build_put(build, body, "metadata", metadata);
	if (!volumes_patch(turn, claim, STORE_MAIN, body))
		return;
	writes_event(turn->store, claim, true, "ProvisioningFailed", why, turn->now);
	if (!volumes_annotation(claim, SELECTED_NODE))
		turn->turn->again_ns = RETRY_SECONDS * CLOCK_SECOND;
}

/* ---- waiting ---- */

/* Whether the volume takes longer; it is due again when it does not any more. */
static bool is_under_way(struct volumes_turn *turn, const struct store_object *claim, const struct store_object *class_)
{
	const char *seconds = parameter(class_, VOLUMES_SECONDS), *at = volumes_annotation(claim, PROVISION_AT);
	int64_t due = 0;
	if (seconds && strcmp(seconds, "never") == 0)
		return true;
	if (number(seconds) == 0)
		return false;
	if (!at || clock_parse_rfc3339(at, &due) < 0) {
		char text[32];
		struct node *body = build_map(turn->build);
		clock_print_rfc3339(turn->now + number(seconds), text);
		volumes_put_annotation(turn, body, PROVISION_AT, text);
		volumes_patch(turn, claim, STORE_MAIN, body);
		return true; /* the change brings it here again */
	}
	if (due > turn->now)
		turn->turn->again_ns = due * CLOCK_SECOND - turn->turn->now_ns;
	return due > turn->now;
}

/* ---- making ---- */

static struct node *requirement(struct build *build, const char *key, const char *value)
{
	struct node *item = build_map(build), *values = build_list(build);
	build_append(build, values, build_string(build, value));
	build_put_string(build, item, "key", key);
	build_put_string(build, item, "operator", "In");
	build_put(build, item, "values", values);
	return item;
}

static struct node *affinity(struct build *build, struct node *term)
{
	struct node *terms = build_list(build), *required = build_map(build), *map = build_map(build);
	build_append(build, terms, term);
	build_put(build, required, "nodeSelectorTerms", terms);
	build_put(build, map, "required", required);
	return map;
}

/* The nodes that reach what `node` reaches. */
static struct node *affinity_to(struct volumes_turn *turn, const struct store_object *class_,
                                const struct store_object *node)
{
	struct build *build = turn->build;
	const char *key = parameter(class_, VOLUMES_TOPOLOGY);
	key = key ? key : HOSTNAME;
	const char *value = labels_get(&node->labels, key);
	struct node *term = build_map(build), *list = build_list(build);
	build_append(build, list,
	             value ? requirement(build, key, value) : requirement(build, "metadata.name", node->name));
	build_put(build, term, value ? "matchExpressions" : "matchFields", list);
	return affinity(build, term);
}

/* Without a node: the first topology that the class allows. NULL: everywhere. */
static struct node *affinity_of_class(struct build *build, const struct store_object *class_)
{
	const struct val *first = val_item(val_get(class_->root, "allowedTopologies"), 0), *item;
	struct node *term = build_map(build), *list = build_list(build);
	if (val_count(val_get(first, "matchLabelExpressions")) == 0)
		return NULL;
	for (struct val_iter it = val_iter(val_get(first, "matchLabelExpressions")); val_next(&it, NULL, &item);)
		build_append(build, list,
		             requirement(build, val_str(val_get(item, "key"), ""),
		                         val_str(val_item(val_get(item, "values"), 0), "")));
	build_put(build, term, "matchExpressions", list);
	return affinity(build, term);
}

static struct node *source_of(struct build *build, const struct store_object *claim, const char *provisioner)
{
	struct node *source = build_map(build);
	build_put_string(build, source, "driver", provisioner);
	build_put_string(build, source, "volumeHandle", claim->uid);
	return source;
}

static void make_volume(struct volumes_turn *turn, const struct store_object *claim, const struct store_object *class_,
                        struct node *reachable)
{
	static const char *const copied[] = {"accessModes", "volumeMode", "volumeAttributesClassName"};
	struct build *build = turn->build;
	const char *provisioner = val_str(val_get(class_->root, "provisioner"), "");
	const char *name = arena_printf(turn->arena, "pvc-%s", claim->uid);
	if (volumes_find_volume(turn, name))
		return;
	struct node *body = build_map(build), *metadata = build_map(build), *annotations = build_map(build),
		    *spec = build_map(build), *sizes = build_map(build);
	const struct val *request = val_path(claim->root, "spec", "resources", "requests", "storage", NULL);
	build_put_string(build, annotations, PROVISIONED_BY, provisioner);
	build_put_string(build, metadata, "name", name);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, sizes, "storage", request ? build_copy(build, request) : build_string(build, "0"));
	build_put(build, spec, "capacity", sizes);
	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++) {
		const struct val *field = val_path(claim->root, "spec", copied[i], NULL);
		if (field)
			build_put(build, spec, copied[i], build_copy(build, field));
	}
	build_put_string(build, spec, "storageClassName", class_->name);
	build_put_string(build, spec, "persistentVolumeReclaimPolicy",
	                 val_str(val_get(class_->root, "reclaimPolicy"), "Delete"));
	build_put(build, spec, "csi", source_of(build, claim, provisioner));
	build_put(build, spec, "claimRef", volumes_claim_reference(build, claim));
	if (reachable)
		build_put(build, spec, "nodeAffinity", reachable);
	build_put_string(build, body, "apiVersion", "v1");
	build_put_string(build, body, "kind", "PersistentVolume");
	build_put(build, body, "metadata", metadata);
	build_put(build, body, "spec", spec);
	if (volumes_create_object(turn, "persistentvolumes", "", body))
		volumes_event(turn, claim, false, "ProvisioningSucceeded",
		              arena_printf(turn->arena, "Successfully provisioned volume %s", name));
}

/* The controller of claims tells the provisioner that it is its turn. */
static bool announce(struct volumes_turn *turn, const struct store_object *claim, const char *provisioner)
{
	const char *told = volumes_annotation(claim, STORAGE_PROVISIONER);
	if (told && strcmp(told, provisioner) == 0)
		return true;
	struct node *body = build_map(turn->build);
	volumes_put_annotation(turn, body, STORAGE_PROVISIONER, provisioner);
	if (volumes_patch(turn, claim, STORE_MAIN, body))
		volumes_event(turn, claim, false, "ExternalProvisioning",
		              arena_printf(turn->arena,
		                           "Waiting for a volume to be created by the external provisioner '%s'",
		                           provisioner));
	return false; /* the change brings it here again */
}

void volumes_provision(struct volumes_turn *turn, const struct store_object *claim, const struct store_object *class_)
{
	const char *selected = volumes_annotation(claim, SELECTED_NODE);
	const struct store_type *nodes = store_type_find(turn->store, "", "nodes");
	struct store_object *node = selected ? store_object_retain(store_peek(turn->store, nodes, "", selected)) : NULL;
	if (!announce(turn, claim, val_str(val_get(class_->root, "provisioner"), "")) ||
	    is_under_way(turn, claim, class_)) {
		store_object_release(node);
		return;
	}
	if (selected && !node)
		fail(turn, claim,
		     arena_printf(turn->arena, "failed to get target node: nodes \"%s\" not found", selected));
	else if (is_to_fail(claim, class_, selected ? selected : ""))
		fail(turn, claim,
		     arena_printf(turn->arena,
		                  "failed to provision volume with StorageClass \"%s\": no room on node %s",
		                  class_->name, selected ? selected : "at all"));
	else
		make_volume(turn, claim, class_,
		            node ? affinity_to(turn, class_, node) : affinity_of_class(turn->build, class_));
	store_object_release(node);
}
