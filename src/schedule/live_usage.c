/* Owns the past use of queues in the live state. Between two cycles a queue holds what it had after the decisions of the
 * first: what is bound holds from then on, and what ends is a change that brings the next one about. */
#include "schedule/live_internal.h"

#include "base/clamp.h"

struct usage *live_usage(const struct live *live)
{
	return live->usage;
}

/* The past of a queue that is seen for the first time is what the store has kept. */
static int open_queue(struct live *live, const char *name)
{
	bool is_new = usage_is_new(live->usage, name);
	int queue = usage_queue(live->usage, name);
	const struct store_object *object = is_new ? live_queue(live, name) : NULL;
	const struct val *annotations = object ? val_path(object->root, "metadata", "annotations", NULL) : NULL;
	const char *text = val_str(val_get(annotations, PAST_USAGE), NULL);
	if (text)
		usage_read(live->usage, queue, text);
	return queue;
}

void live_usage_begin(struct live *live)
{
	struct cycle *cycle = &live->snapshot.cycle;
	if (!usage_fits(live->usage, live->options.settings)) {
		usage_destroy(live->usage);
		live->usage = usage_of_settings(live->options.settings, cycle->now);
	}
	if (!live->usage)
		return;
	usage_advance(live->usage, cycle->now / CLOCK_SECOND);
	for (size_t q = 0; q < cycle->queue_count; q++)
		usage_get(live->usage, open_queue(live, cycle->queues[q].name), cycle->queues[q].used);
}

struct holding { /* what a queue holds in all its pools, and what these have */
	int64_t held[CYCLE_RESOURCES], total[CYCLE_RESOURCES];
};

void live_usage_hold(struct live *live)
{
	struct cycle *cycle = &live->snapshot.cycle;
	int64_t parts[CYCLE_RESOURCES];
	if (!live->usage)
		return;
	const int64_t *totals = cycle_pool_totals(cycle);
	struct holding *holdings = arena_array(cycle->arena, struct holding, cycle->queue_count);
	for (size_t q = 0; q < cycle->queue_count; q++) {
		const struct cycle_queue *queue = &cycle->queues[q];
		struct holding *holding = &holdings[queue->first];
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			holding->held[r] = clamp_add(holding->held[r], queue->allocated[r]);
			holding->total[r] = clamp_add(holding->total[r], totals[queue->pool * CYCLE_RESOURCES + r]);
		}
	}
	usage_hold_nothing(live->usage);
	for (size_t q = 0; q < cycle->queue_count; q++) {
		if (cycle->queues[q].first != (int)q)
			continue;
		for (int r = 0; r < CYCLE_RESOURCES; r++)
			parts[r] = usage_part(holdings[q].held[r], holdings[q].total[r]);
		usage_hold(live->usage, usage_queue(live->usage, cycle->queues[q].name), parts);
	}
}
