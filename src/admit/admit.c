/* The verdict on one object: the rules of its kind, then what only shows beside other objects. */
#include "admit/admit.h"

#include "admit/budget.h"
#include "admit/decode.h"
#include "admit/device.h"
#include "admit/index.h"
#include "admit/native.h"
#include "admit/pod.h"
#include "admit/podgroup_draft.h"
#include "admit/rbg.h"
#include "admit/rbg_verdict.h"
#include "admit/shard.h"
#include "admit/storage.h"
#include "admit/volume.h"
#include "base/strings.h"

#include <string.h>

struct topology_lookup {
	const struct admit_index *index;
	struct arena *arena;
};

static const struct topology_spec *find_topology(const void *context, const char *name)
{
	const struct topology_lookup *lookup = context;
	struct topology_spec *labels = arena_new(lookup->arena, struct topology_spec);
	return topology_of_labels(name, lookup->arena, labels) ? labels : index_topology(lookup->index, name);
}

static const char *nearest_topology(const void *context, const char *name)
{
	const struct topology_lookup *lookup = context;
	return index_nearest(lookup->index, KIND_TOPOLOGY, name);
}

/* The cure of a name that nothing has. */
static const char *meant(const char *nearest, const char *otherwise, struct arena *arena)
{
	return nearest ? arena_printf(arena, "did you mean %s?", nearest) : otherwise;
}

static void judge_podgroup(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                           struct problems *problems)
{
	size_t errors = problems->errors;
	struct podgroup group;
	struct draft draft = {.decode = {.arena = arena, .problems = problems}};
	draft_read(object->object, &draft, &group);
	if (problems->errors == errors)
		draft_finish(&draft, object->object, &group);
	if (!index)
		return;
	draft_check_levels(&draft, find_topology, nearest_topology, &(struct topology_lookup){index, arena});
	/* A lone manifest is no reason to ask for its queue; one among queues is. */
	if (group.queue && index_has_queues(index) && !index_has_queue(index, group.queue))
		problem_add(problems, SEVERITY_WARNING, "spec.queue",
		            meant(index_nearest(index, KIND_QUEUE, group.queue),
		                  "create the Queue, or name an existing one", problems->arena),
		            "Queue %s does not exist; the group waits until it does",
		            decode_show(problems->arena, group.queue));
	const char *child = group.queue ? index_queue_child(index, group.queue) : NULL;
	if (child)
		problem_add(problems, SEVERITY_WARNING, "spec.queue",
		            arena_printf(problems->arena, "name a queue without others below it, such as %s", child),
		            "Queue %s has queues below it, and only those take pods; the group waits",
		            decode_show(problems->arena, group.queue));
}

static void judge_topology(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                           struct problems *problems)
{
	struct topology_spec topology;
	if (topology_decode(object->object, arena, &topology, problems) < 0 || !index)
		return;
	struct interner *told = interner_create();
	for (size_t upper = 0; upper < topology.level_count; upper++) {
		for (size_t lower = upper + 1; lower < topology.level_count; lower++) {
			const char *other = index_topology_conflict(index, topology.name, topology.levels[upper],
			                                            topology.levels[lower]);
			uint32_t known = interner_count(told);
			if (other && interner_id(told, other) == known)
				problem_add(problems, SEVERITY_WARNING, "spec.levels",
				            "order the labels alike in both: large domains first",
				            "%s is above %s here but below it in Topology %s", topology.levels[upper],
				            topology.levels[lower], decode_show(problems->arena, other));
		}
	}
	interner_destroy(told);
}

static void judge_queue(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                        struct problems *problems)
{
	struct queue_spec queue;
	queue_decode(object->object, arena, &queue, problems);
	if (!index || !queue.parent)
		return;
	const char *way = index_queue_cycle(index, object, &queue, problems->arena);
	if (way)
		problem_add(problems, SEVERITY_ERROR, "spec.parentQueue", "remove one of these parent links",
		            "the parents of the queue form a cycle: %s", way);
	if (!index_has_queue(index, queue.parent) && !text_equal(queue.parent, queue.name))
		problem_add(problems, SEVERITY_WARNING, "spec.parentQueue",
		            meant(index_nearest(index, KIND_QUEUE, queue.parent), "create the parent queue",
		                  problems->arena),
		            "parent queue %s does not exist", decode_show(problems->arena, queue.parent));
}

/* Of several for one pool the first counts. */
static void judge_shard(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                        struct problems *problems)
{
	struct shard_spec shard, other;
	struct problems ignored = {.arena = arena};
	const struct manifest *item;
	if (shard_decode(object->object, arena, &shard, problems) < 0)
		return;
	for (size_t at = 0; index && (item = index_next(index, KIND_SHARD, &at)) && item != object;)
		if (shard_decode(item->object, arena, &other, &ignored) == 0 && text_equal(shard.pool, other.pool)) {
			problem_add(problems, SEVERITY_WARNING, "spec.partitionLabelValue", "keep one of them",
			            "it has no effect: SchedulingShard %s is for the same pool",
			            decode_show(problems->arena, other.name));
			return;
		}
}

static void judge_device_class(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                               struct problems *problems)
{
	const struct manifest *other;
	struct problems ignored = {.arena = arena}; /* a slice has a verdict of its own */
	struct device_slice *slices = arena_array(arena, struct device_slice, index ? index_count(index) : 0);
	size_t count = 0;
	for (size_t at = 0; index && (other = index_next(index, KIND_DEVICE_SLICE, &at));)
		count += device_slice_decode(other->object, arena, &slices[count], &ignored) == 0;
	device_class_judge(object->object, slices, count, arena, problems);
}

/* A lone claim is no reason to ask for its class; one among classes is. */
static void judge_class_of_claim(const struct admit_index *index, const char *class_, struct problems *problems)
{
	const struct manifest *other;
	size_t at = 0, classes = 0;
	while ((other = index_next(index, KIND_STORAGE_CLASS, &at))) {
		classes++;
		if (text_equal(other->name, class_))
			return;
	}
	if (classes)
		problem_add(problems, SEVERITY_WARNING, "spec.storageClassName",
		            meant(index_nearest(index, KIND_STORAGE_CLASS, class_),
		                  "create it, or name an existing one", problems->arena),
		            "StorageClass %s does not exist; pods with the claim wait until it does",
		            decode_show(problems->arena, class_));
}

/* What an API server asks of a claim before it takes it. */
static void judge_claim(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                        struct problems *problems)
{
	struct claim_spec claim;
	if (claim_decode(object->object, arena, &claim, problems) < 0)
		return;
	if (!claim.modes)
		problem_add(problems, SEVERITY_ERROR, "spec.accessModes", "write [ReadWriteOnce], or another one",
		            "a claim needs at least one access mode");
	if ((claim.modes & ACCESS_READ_WRITE_ONCE_POD) && claim.modes != ACCESS_READ_WRITE_ONCE_POD)
		problem_add(problems, SEVERITY_ERROR, "spec.accessModes", "remove the others",
		            "ReadWriteOncePod cannot be combined with other access modes");
	if (!claim.has_request || claim.request <= 0)
		problem_add(problems, SEVERITY_ERROR, "spec.resources.requests.storage", "write a size such as 10Gi",
		            claim.has_request ? "the size must be more than nothing" : "a claim needs a size");
	if (index && claim.class_[0])
		judge_class_of_claim(index, claim.class_, problems);
}

static void judge_storage(const struct manifest *object, enum kind_id kind, struct arena *arena,
                          struct problems *problems)
{
	struct volume_spec volume;
	struct storage_class_spec class;
	struct csi_driver_spec driver;
	struct csi_node_spec node;
	struct storage_capacity_spec capacity;
	struct attachment_spec attachment;
	if (kind == KIND_VOLUME)
		volume_decode(object->object, arena, &volume, problems);
	else if (kind == KIND_STORAGE_CLASS)
		storage_class_decode(object->object, arena, &class, problems);
	else if (kind == KIND_CSI_DRIVER)
		csi_driver_decode(object->object, arena, &driver, problems);
	else if (kind == KIND_CSI_NODE)
		csi_node_decode(object->object, arena, &node, problems);
	else if (kind == KIND_STORAGE_CAPACITY)
		storage_capacity_decode(object->object, arena, &capacity, problems);
	else
		attachment_decode(object->object, arena, &attachment, problems);
}

static void judge_alone(const struct manifest *object, enum kind_id kind, struct arena *arena,
                        struct problems *problems)
{
	struct node_spec node;
	struct priority_class class;
	struct cluster_topology topology;
	struct budget_spec budget;
	struct device_slice slice;
	if (kind == KIND_POD)
		pod_judge(object->decoded, object->object, problems);
	else if (kind == KIND_NODE)
		node_decode(object->object, arena, &node, problems);
	else if (kind == KIND_PRIORITY_CLASS)
		priority_class_decode(object->object, arena, &class, problems);
	else if (kind == KIND_BUDGET)
		budget_decode(object->object, arena, &budget, problems);
	else if (kind == KIND_DEVICE_SLICE)
		device_slice_decode(object->object, arena, &slice, problems);
	else if (kind == KIND_DEVICE_CLAIM)
		device_claim_judge(object->object, arena, problems);
	else if (kind == KIND_DEVICE_CLAIM_TEMPLATE)
		device_claim_template_judge(object->object, arena, problems);
	else if (kind == KIND_CLUSTER_TOPOLOGY)
		cluster_topology_decode(object->object, arena, &topology, problems);
	else
		judge_storage(object, kind, arena, problems);
}

static void judge_repeated(const struct manifest *object, const struct admit_index *index, struct problems *problems)
{
	const struct manifest *earlier = index_earlier(index, object);
	if (earlier)
		problem_add(problems, SEVERITY_ERROR, "metadata.name", "remove one of the two, or rename it",
		            "duplicate object: %s %s was already given%s%s", object->kind,
		            decode_show(problems->arena, object->name), earlier->source ? " in " : "",
		            earlier->source ? earlier->source : "");
}

/* Those of a group come from its controller. */
static void judge_instance(const struct manifest *object, struct problems *problems)
{
	if (val_count(val_path(object->object, "metadata", "ownerReferences", NULL)) == 0)
		problem_add(problems, SEVERITY_WARNING, "kind", "write a RoleBasedGroup with one role",
		            "no pods are made from a %s that belongs to no RoleBasedGroup", object->kind);
}

const struct derivation *admit_derivation(enum kind_id kind)
{
	switch (kind) {
	case KIND_POD:
		return &pod_derivation;
	case KIND_RBG:
		return &rbg_derivation;
	case KIND_RBG_SET:
		return &rbg_set_derivation;
	case KIND_POLICY:
		return &rbg_policy_derivation;
	default:
		return NULL;
	}
}

/* An object that no store keeps is decoded for its verdict. */
static void judge_loose(const struct manifest *object, const struct derivation *derivation,
                        const struct admit_index *index, struct problems *problems)
{
	static const struct labels none; /* no verdict depends on those of metadata */
	struct derived *decoded = derivation->derive(object->object, &none);
	struct manifest copy = *object;
	copy.decoded = decoded;
	admit_object(&copy, index, problems);
	derivation->destroy(decoded);
}

void admit_object(const struct manifest *object, const struct admit_index *index, struct problems *problems)
{
	enum kind_id kind = index_kind(object);
	const struct derivation *derivation = admit_derivation(kind);
	if (kind == KIND_OTHER)
		return;
	if (derivation && !object->decoded) {
		judge_loose(object, derivation, index, problems);
		return;
	}
	/* Decoded structs are only looked at, so they need not live as long as the problems. */
	struct arena *arena = arena_create();
	if (index)
		judge_repeated(object, index, problems);
	if (kind == KIND_POD_GROUP)
		judge_podgroup(object, index, arena, problems);
	else if (kind == KIND_TOPOLOGY)
		judge_topology(object, index, arena, problems);
	else if (kind == KIND_QUEUE)
		judge_queue(object, index, arena, problems);
	else if (kind == KIND_SHARD)
		judge_shard(object, index, arena, problems);
	else if (kind == KIND_RBG)
		rbg_judge_group(object, index, arena, problems);
	else if (kind == KIND_RBG_SET)
		rbg_judge_set(object, index, arena, problems);
	else if (kind == KIND_ROLE_INSTANCE || kind == KIND_ROLE_INSTANCE_SET)
		judge_instance(object, problems);
	else if (kind == KIND_NATIVE_GROUP || kind == KIND_NATIVE_COMPOSITE)
		native_judge(object->object, kind == KIND_NATIVE_COMPOSITE, arena, problems);
	else if (kind == KIND_DEVICE_CLASS)
		judge_device_class(object, index, arena, problems);
	else if (kind == KIND_CLAIM)
		judge_claim(object, index, arena, problems);
	else if (kind == KIND_POLICY)
		rbg_judge_policy(object, index, arena, problems);
	else if (kind != KIND_CONFIG_MAP && kind != KIND_SERVICE) /* of which nothing is decoded that could be wrong */
		judge_alone(object, kind, arena, problems);
	arena_destroy(arena);
}

const char *admit_api_version(const char *kind, struct arena *arena)
{
	const struct kind_row *row;
	for (size_t i = 0; (row = kinds_row(i)); i++)
		if (row->id != KIND_OTHER && row->id != KIND_NATIVE_GROUP && strcmp(row->kind, kind) == 0)
			return *row->group ? arena_printf(arena, "%s/%s", row->group, row->versions[0])
			                   : row->versions[0];
	return NULL;
}

bool admit_knows(const struct manifest *object)
{
	return index_kind(object) != KIND_OTHER;
}
