/* Owns StatefulSets: pods with ordinals, made and removed one after the other or all at once. */
#include "cluster/workload_internal.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_REVISION "controller-revision-hash"

struct ordinals {
	struct workload *workload;
	struct child *pods;
	int64_t count, start, partition;
	bool parallel, on_delete;
	const char *revision;
	struct tally tally;
	int64_t updated;
};

static const char *ordinal_name(struct ordinals *set, int64_t ordinal)
{
	return arena_printf(set->workload->arena, "%s-%lld", set->workload->object->name, (long long)ordinal);
}

static void read_set(struct ordinals *set)
{
	struct workload *workload = set->workload;
	const struct val *spec = workload->spec, *strategy = val_get(spec, "updateStrategy");
	set->count = workload_number(val_get(spec, "replicas"), 1);
	set->start = workload_number(val_path(spec, "ordinals", "start", NULL), 0);
	set->partition = workload_number(val_path(strategy, "rollingUpdate", "partition", NULL), 0);
	set->parallel = strcmp(val_str(val_get(spec, "podManagementPolicy"), ""), "Parallel") == 0;
	set->on_delete = strcmp(val_str(val_get(strategy, "type"), ""), "OnDelete") == 0;
	set->revision = arena_printf(workload->arena, "%s-%s", workload->object->name,
	                             workload_hash(workload->arena, val_get(spec, "template"), 0));
	set->pods = arena_array(workload->arena, struct child, (size_t)set->count);
	for (int64_t i = 0; i < set->count; i++) {
		struct child *pod = &set->pods[i];
		*pod = (struct child){
			.name = ordinal_name(set, set->start + i),
			.template_ = val_get(spec, "template"),
			.when_ended = CHILD_REPLACE_ENDED,
		};
		pod->hostname = pod->name;
		pod->subdomain = val_str(val_get(spec, "serviceName"), NULL);
		child_label_number(workload, pod, "apps.kubernetes.io/pod-index", set->start + i);
		child_label(pod, "statefulset.kubernetes.io/pod-name", pod->name);
		child_label(pod, LABEL_REVISION, set->revision);
		pod->pod = workload_find(&workload->pods, pod->name);
		tally_pod(&set->tally, pod->pod);
		const char *revision = pod->pod ? workload_label(pod->pod, LABEL_REVISION) : NULL;
		set->updated += revision && strcmp(revision, set->revision) == 0;
	}
}

static bool is_ready(const struct store_object *pod)
{
	return pod && pod_ready(pod) && !metadata_is_leaving(pod->root);
}

/* In order: nobody is made before those below are ready. */
static void hold_back(struct ordinals *set)
{
	bool hold = false;
	for (int64_t i = 0; i < set->count && !set->parallel; i++) {
		set->pods[i].hold = hold;
		hold |= !is_ready(set->pods[i].pod);
	}
}

static int64_t ordinal_of(const struct store_object *pod)
{
	const char *dash = strrchr(pod->name, '-');
	return dash ? strtol(dash + 1, NULL, 10) : 0;
}

static int highest_first(const void *a, const void *b)
{
	int64_t left = ordinal_of(*(struct store_object *const *)a),
		right = ordinal_of(*(struct store_object *const *)b);
	return left < right ? 1 : left > right ? -1 : 0;
}

/* In order: one after the other, from the highest. What is not to be removed yet stays wanted. */
static void keep_for_now(struct ordinals *set, struct child *extra, size_t *extra_count)
{
	struct workload *workload = set->workload;
	struct store_object **beyond = arena_array(workload->arena, struct store_object *, workload->pods.count);
	size_t count = 0;
	for (size_t i = 0; i < workload->pods.count; i++) {
		int64_t ordinal = ordinal_of(workload->pods.items[i]);
		if (ordinal < set->start || ordinal >= set->start + set->count)
			beyond[count++] = workload->pods.items[i];
	}
	if (count > 1)
		qsort(beyond, count, sizeof(*beyond), highest_first);
	for (size_t i = 1; i < count && !set->parallel; i++)
		extra[(*extra_count)++] = (struct child){.name = beyond[i]->name, .hold = true};
}

/* Replaces one outdated pod at a time, from the highest ordinal down to the partition. */
static void update(struct ordinals *set)
{
	for (int64_t i = set->count; i-- > 0 && !set->on_delete;) {
		struct store_object *pod = set->pods[i].pod;
		if (set->start + i < set->partition)
			return;
		const char *revision = pod ? workload_label(pod, LABEL_REVISION) : NULL;
		if (pod && !metadata_is_leaving(pod->root) && (!revision || strcmp(revision, set->revision) != 0)) {
			workload_delete(set->workload, pod);
			return;
		}
		if (!is_ready(pod))
			return;
	}
}

/* ---- volumes ---- */

/* Each pod has a claim <template>-<pod> per template. Claims stay when pods go, as in Kubernetes. */
static void make_claims(struct ordinals *set)
{
	struct workload *workload = set->workload;
	const struct store_type *type = store_type_find(workload->store, "", "persistentvolumeclaims");
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(workload->spec, "volumeClaimTemplates"));
	     val_next(&it, NULL, &item);) {
		const char *name = val_str(val_path(item, "metadata", "name", NULL), "");
		for (int64_t i = 0; i < set->count && *name && workload->room > 0; i++) {
			struct child claim = {
				.api_version = "v1",
				.kind = "PersistentVolumeClaim",
				.name = arena_printf(workload->arena, "%s-%s", name, set->pods[i].name),
				.template_ = item,
				.free = true,
			};
			if (!set->pods[i].hold &&
			    !store_peek(workload->store, type, workload->object->namespace_, claim.name))
				workload_create(workload, &claim);
		}
	}
}

/* The pod's volumes, with the claims in place of those of the same name. */
static struct node *spec_with_claims(struct ordinals *set, const char *pod)
{
	struct workload *workload = set->workload;
	struct build *build = workload->build;
	const struct val *templates = val_get(workload->spec, "volumeClaimTemplates"), *item, *other;
	const struct val *spec = val_path(workload->spec, "template", "spec", NULL);
	struct node *copy = build_copy(build, spec), *volumes = build_list(build);
	for (struct val_iter it = val_iter(templates); val_next(&it, NULL, &item);) {
		const char *name = val_str(val_path(item, "metadata", "name", NULL), "");
		struct node *volume = build_map(build), *source = build_map(build);
		build_put_string(build, source, "claimName", arena_printf(workload->arena, "%s-%s", name, pod));
		build_put_string(build, volume, "name", name);
		build_put(build, volume, "persistentVolumeClaim", source);
		build_append(build, volumes, volume);
	}
	for (struct val_iter it = val_iter(val_get(spec, "volumes")); val_next(&it, NULL, &item);) {
		bool replaced = false;
		for (struct val_iter at = val_iter(templates); val_next(&at, NULL, &other);)
			replaced |= val_equal(val_path(other, "metadata", "name", NULL), val_get(item, "name"));
		if (!replaced)
			build_append(build, volumes, build_copy(build, item));
	}
	build_put(build, copy, "volumes", volumes);
	return copy;
}

static void write_status(struct ordinals *set)
{
	struct workload *workload = set->workload;
	struct build *build = workload->build;
	struct node *status = workload_status(workload);
	bool done = set->updated == set->count && set->tally.ready == set->count;
	const char *current = val_str(val_path(workload->root, "status", "currentRevision", NULL), set->revision);
	build_put_int(build, status, "replicas", set->tally.pods);
	build_put_int(build, status, "readyReplicas", set->tally.ready);
	build_put_int(build, status, "availableReplicas", set->tally.ready);
	build_put_int(build, status, "updatedReplicas", set->updated);
	build_put_int(build, status, "currentReplicas", done ? set->updated : set->tally.pods - set->updated);
	build_put_string(build, status, "updateRevision", set->revision);
	build_put_string(build, status, "currentRevision", done ? set->revision : current);
	workload_write_status(workload, status);
}

int workload_stateful_set(struct workload *workload)
{
	struct ordinals set = {.workload = workload};
	read_set(&set);
	hold_back(&set);
	if (val_count(val_get(workload->spec, "volumeClaimTemplates")) > 0) {
		make_claims(&set);
		for (int64_t i = 0; i < set.count; i++)
			if (!set.pods[i].pod && !set.pods[i].hold)
				set.pods[i].spec = spec_with_claims(&set, set.pods[i].name);
	}
	struct child *all = arena_array(workload->arena, struct child, (size_t)set.count + workload->pods.count);
	size_t extra = 0;
	keep_for_now(&set, all + set.count, &extra);
	if (set.count > 0)
		memcpy(all, set.pods, (size_t)set.count * sizeof(*all));
	workload_settle(workload, all, (size_t)set.count + extra);
	update(&set);
	write_status(&set);
	return 0;
}
