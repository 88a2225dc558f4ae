/* Owns keeping what queues used in the past: in an annotation of each, so that it outlives the process. */
#include "schedule/scheduler_internal.h"
#include "schedule/usage.h"

#include "loop/writes.h"

static void keep(const struct scheduler_turn *turn, const struct usage *usage, int queue,
                 const struct store_object *object)
{
	struct build *build = build_create();
	struct buffer text = {0};
	usage_write(usage, queue, &text);
	struct node *body = build_map(build), *metadata = build_map(build), *annotations = build_map(build);
	build_put_string(build, annotations, PAST_USAGE, text.text);
	build_put(build, metadata, "annotations", annotations);
	build_put(build, body, "metadata", metadata);
	writes_patch(turn->store, object, STORE_MAIN, build, body); /* refused: there is a next time */
	buffer_free(&text);
	build_destroy(build);
}

void scheduler_keep_usage(const struct scheduler_turn *turn)
{
	const struct live *live = turn->scheduler->live;
	const struct cycle *cycle = &turn->plan->snapshot->cycle;
	struct usage *usage = live_usage(live);
	for (size_t q = 0; usage && q < cycle->queue_count; q++) {
		int queue = usage_queue(usage, cycle->queues[q].name);
		struct store_object *object = store_object_retain(live_queue(live, cycle->queues[q].name));
		if (usage_is_to_keep(usage, queue)) {
			if (object) /* one that stands for no object has nowhere to be kept */
				keep(turn, usage, queue, object);
			usage_kept(usage, queue);
		}
		store_object_release(object);
	}
}

int64_t scheduler_usage_due(const struct scheduler *scheduler)
{
	const struct usage *usage = live_usage(scheduler->live);
	int64_t due = usage ? usage_keep_due(usage) : INT64_MAX;
	return due > INT64_MAX / CLOCK_SECOND ? INT64_MAX : due * CLOCK_SECOND;
}
