/* Owns reading the places that are kept for pods that were moved, from the annotation of their PodGroup. Writing it is in
 * scheduler_places.c. */
#include "schedule/snapshot_build.h"

#include "base/clock.h"

#include <string.h>

/* The class of a pod that asks for the same and has no rules: they matter again when there is a pod. -1 when an amount
 * is no number. */
static int read_pod_class(struct snapshot_build *build, const char *namespace_, const struct val *requests,
                          struct arena *arena)
{
	size_t count = 0;
	struct resource_amount *amounts = arena_array(arena, struct resource_amount, val_count(requests));
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(requests); val_next(&it, &key, &item); count++) {
		amounts[count].name = key ? arena_strdup(arena, key) : "";
		if (!key || val_int(item, &amounts[count].amount) < 0 || amounts[count].amount <= 0)
			return -1;
	}
	return cluster_add_pod_class(build->snapshot->cycle.cluster, &(struct pod_input){.namespace_ = namespace_,
	                                                                                 .requests = amounts,
	                                                                                 .request_count = count});
}

static bool read_place(struct snapshot_build *build, const struct snapshot_group *group, const struct val *item,
                       struct cycle_place *place, struct arena *arena)
{
	int64_t since, until, before, wanted;
	const char *node = val_str(val_get(item, "node"), NULL), *part = val_str(val_get(item, "subGroup"), NULL);
	if (!node || val_int(val_get(item, "before"), &before) < 0 || val_int(val_get(item, "wanted"), &wanted) < 0 ||
	    before < 0 || before > INT32_MAX || wanted < 0 || wanted > INT32_MAX ||
	    clock_parse_rfc3339(val_str(val_get(item, "since"), ""), &since) < 0 ||
	    clock_parse_rfc3339(val_str(val_get(item, "until"), ""), &until) < 0 || until - since > KEPT_LONGEST)
		return false;
	*place = (struct cycle_place){
		.leaf = group->spec.tree_count == 0 ? 0 : podgroup_leaf(&group->spec, part),
		.pod_class = read_pod_class(build, group->namespace_, val_get(item, "requests"), arena),
		.node = arena_strdup(arena, node),
		.before = (int)before,
		.wanted = (int)wanted,
		.since = since * CLOCK_SECOND,
		.until = until * CLOCK_SECOND,
		.at = -1,
		.pod = -1,
	};
	if (place->leaf < 0 || place->pod_class < 0)
		return false;
	place->coming = val_bool(val_get(item, "coming"), false);
	/* A workload that has become smaller needs less. */
	const struct tree_node *leaf = group->spec.tree_count ? &group->spec.tree[place->leaf] : NULL;
	int expected = !leaf ? 0 : leaf->expected > leaf->minimum ? leaf->expected : leaf->minimum;
	if (place->coming && expected < place->wanted)
		place->wanted = expected;
	return true;
}

void build_places(struct snapshot_build *build, const struct manifest *manifest, size_t index, struct arena *arena)
{
	const struct snapshot_group *group = &build->snapshot->groups[index];
	struct cycle_group *into = &build->snapshot->cycle.groups[index];
	const char *text = val_str(val_path(manifest->object, "metadata", "annotations", KEPT_PLACES, NULL), NULL);
	struct error error;
	struct doc *doc = text ? doc_parse_json(text, strlen(text), &error) : NULL;
	const struct val *list = doc_root(doc), *item;
	into->places = arena_array(arena, struct cycle_place, val_count(list));
	into->place_count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
		into->place_count += read_place(build, group, item, &into->places[into->place_count], arena);
	doc_destroy(doc);
}
