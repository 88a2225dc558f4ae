/* Owns the frame in which controllers run: informers in front, a work queue behind. */
#include "loop/reconciler.h"

#include "loop/informer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS_PER_STEP 256 /* then others get their turn, and what was written is committed */

struct source { /* one watched type */
	struct reconciler *reconciler;
	const struct reconciler_watch *watch;
	struct informer *informer;
};

struct reconciler {
	struct reconciler_options options;
	struct source *sources;
	struct work_queue *queue;
	/* Due times must survive a clock that is set back: `now` goes on from where it was, `behind` is the difference. */
	int64_t clock, behind, now;
};

void reconciler_want(struct reconciler *reconciler, int kind, const char *namespace_, const char *name)
{
	work_queue_want(reconciler->queue, &(struct work_key){kind, namespace_, name}, reconciler->now);
}

static void on_change(void *context, const struct store_object *object, const struct store_object *old, bool deleted)
{
	struct source *source = context;
	if (source->watch->map)
		source->watch->map(source->reconciler, source->reconciler->options.context, object, old, deleted);
	else
		reconciler_want(source->reconciler, source->watch->kind, object->namespace_, object->name);
}

struct reconciler *reconciler_create(const struct reconciler_options *options)
{
	struct reconciler *reconciler = base_calloc(1, sizeof(*reconciler));
	reconciler->options = *options;
	if (!reconciler->options.clock)
		reconciler->options.clock = clock_system();
	reconciler->queue = work_queue_create();
	reconciler->sources = base_calloc(options->watch_count, sizeof(*reconciler->sources));
	for (size_t i = 0; i < options->watch_count; i++) {
		struct source *source = &reconciler->sources[i];
		*source = (struct source){.reconciler = reconciler, .watch = &options->watches[i]};
		source->informer = informer_create(&(struct informer_options){
			.store = options->store,
			.group = source->watch->group,
			.resource = source->watch->resource,
			.namespace_ = source->watch->namespace_,
			.changed = on_change,
			.context = source,
		});
	}
	return reconciler;
}

void reconciler_destroy(struct reconciler *reconciler)
{
	if (!reconciler)
		return;
	for (size_t i = 0; i < reconciler->options.watch_count; i++)
		informer_destroy(reconciler->sources[i].informer);
	free(reconciler->sources);
	work_queue_destroy(reconciler->queue);
	free(reconciler);
}

static void reconcile(struct reconciler *reconciler, const struct work_key *key)
{
	const struct reconciler_options *options = &reconciler->options;
	struct reconcile turn = {
		.store = options->store,
		.logger = options->logger,
		.arena = arena_create(),
		.key = *key,
		.now_ns = reconciler->clock,
	};
	if (options->reconcile(options->context, &turn) < 0) {
		unsigned failures = work_queue_failed(reconciler->queue, key, reconciler->now);
		char count[16];
		snprintf(count, sizeof(count), "%u", failures);
		/* Once is usual, and what fails for good is told ever more seldom. */
		bool telling = failures > 1 && (failures & (failures - 1)) == 0;
		log_write(options->logger, telling ? LOG_WARN : LOG_DEBUG, 0, "reconcile failed", "controller",
		          options->name, "namespace", turn.key.namespace_, "name", turn.key.name, "failures", count,
		          "error", turn.failure, NULL);
	} else {
		if (turn.again_ns > 0)
			work_queue_want(reconciler->queue, key, reconciler->now + turn.again_ns);
		work_queue_done(reconciler->queue, key);
	}
	arena_destroy(turn.arena);
}

static void read_clock(struct reconciler *reconciler)
{
	int64_t clock = clock_now(reconciler->options.clock);
	if (clock < reconciler->clock)
		reconciler->behind += reconciler->clock - clock;
	reconciler->clock = clock;
	reconciler->now = clock + reconciler->behind;
}

bool reconciler_read(struct reconciler *reconciler)
{
	bool all = true;
	read_clock(reconciler);
	for (size_t i = 0; i < reconciler->options.watch_count; i++) {
		informer_poll(reconciler->sources[i].informer);
		all &= !informer_behind(reconciler->sources[i].informer);
	}
	return all;
}

int reconciler_step(struct reconciler *reconciler)
{
	bool all = reconciler_read(reconciler);
	struct work_key key;
	/* A key that wants itself again at once has its next turn in the next step, after everybody else's. */
	size_t most = work_queue_length(reconciler->queue);
	most = most < KEYS_PER_STEP ? most : KEYS_PER_STEP;
	for (size_t i = 0; i < most && work_queue_take(reconciler->queue, reconciler->now, &key); i++)
		reconcile(reconciler, &key);
	int64_t next = work_queue_next(reconciler->queue);
	if (!all)
		return 0;
	if (next == INT64_MAX)
		return -1;
	int64_t wait =
		next <= reconciler->now ? 0 : (next - reconciler->now + CLOCK_MILLISECOND - 1) / CLOCK_MILLISECOND;
	return wait > INT_MAX ? INT_MAX : (int)wait;
}
