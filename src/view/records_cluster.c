/* Owns the records of what gives the cluster its shape: Topologies, nodes and queues. */
#include "view/records_internal.h"

#include "admit/pod.h"
#include "admit/queue.h"
#include "admit/topology.h"
#include "base/quantity.h"

#include <string.h>

void records_write_topology(struct records_draft *record)
{
	struct build *build = record->build;
	struct problems problems = {.arena = record->arena};
	struct topology_spec topology;
	struct node *levels = build_list(build);
	if (topology_decode(record->root, record->arena, &topology, &problems) < 0)
		topology.level_count = 0;
	for (size_t i = 0; i < topology.level_count; i++) {
		struct node *level = build_map(build);
		build_put_string(build, level, "key", topology.levels[i]);
		if (topology.aliases[i])
			build_put_string(build, level, "alias", topology.aliases[i]);
		build_append(build, levels, level);
	}
	build_put(build, record->map, "levels", levels);
}

void records_write_node(struct records_draft *record, const struct interner *keys)
{
	struct build *build = record->build;
	struct problems problems = {.arena = record->arena};
	struct node_spec node;
	if (node_decode(record->root, record->arena, &node, &problems) < 0) {
		build_put_bool(build, record->map, "bad", true);
		return;
	}
	struct node *labels = build_map(build);
	for (uint32_t i = 0; i < interner_count(keys); i++) {
		const char *key = interner_text(keys, i), *value = labels_get(&node.labels, key);
		if (value)
			build_put_string(build, labels, key, value);
	}
	build_put(build, record->map, "labels", labels);
	records_put_amounts(record, node.allocatable, node.allocatable_count);
	if (!node.ready)
		build_put_bool(build, record->map, "down", true);
	if (node.unschedulable)
		build_put_bool(build, record->map, "cordoned", true);
}

/* ---- queues ---- */

static int64_t amount_of(const struct val *status, const char *list, const char *resource, enum quantity_scale scale)
{
	char scratch[64];
	struct error error;
	const char *text = val_scalar_text(val_path(status, list, resource, NULL), scratch);
	int64_t amount = 0;
	if (!text || quantity_parse(text, strlen(text), scale, &amount, &error) < 0)
		return 0;
	return amount;
}

void records_write_queue(struct records_draft *record)
{
	static const struct {
		const char *name, *resource;
		enum quantity_scale scale;
	} shown[QUEUE_RESOURCES] = {
		[QUEUE_GPU] = {"gpu", "nvidia.com/gpu", QUANTITY_MILLI},
		[QUEUE_CPU] = {"cpu", "cpu", QUANTITY_MILLI},
		[QUEUE_MEMORY] = {"mem", "memory", QUANTITY_UNITS},
	};
	struct build *build = record->build;
	struct problems problems = {.arena = record->arena};
	struct queue_spec queue;
	const struct val *status = val_get(record->root, "status");
	if (queue_decode(record->root, record->arena, &queue, &problems) < 0) {
		build_put_bool(build, record->map, "bad", true);
		return;
	}
	if (queue.parent)
		build_put_string(build, record->map, "parent", queue.parent);
	build_put_int(build, record->map, "priority", queue.priority);
	for (size_t r = 0; r < QUEUE_RESOURCES; r++) {
		static const char *const lists[] = {"allocated", "allocatedNonPreemptible", "requested", "fairShare"};
		static const char *const names[] = {"used", "kept", "wanted", "fair"};
		struct node *share = build_map(build);
		build_put_int(build, share, "quota", queue.share[r].quota);
		build_put_int(build, share, "limit", queue.share[r].limit);
		build_put_int(build, share, "weight", queue.share[r].weight);
		for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
			build_put_int(build, share, names[i],
			              amount_of(status, lists[i], shown[r].resource, shown[r].scale));
		build_put(build, record->map, shown[r].name, share);
	}
}
