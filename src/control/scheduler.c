/* Owns when a cycle runs, and what it reads from the store. Writing the decisions is in scheduler_write.c.
 *
 * Every cycle builds its snapshot anew from all objects: simple, and fast enough for the clusters that one process
 * simulates. */
#include "control/scheduler_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define MILLISECOND INT64_C(1000000)

static const struct {
	const char *group, *version, *resource;
} kinds[] = {
	{"", "v1", "nodes"},
	{"", "v1", "pods"},
	{"", "v1", "persistentvolumes"},
	{"", "v1", "persistentvolumeclaims"},
	{"scheduling.run.ai", "v2alpha2", "podgroups"},
	{"scheduling.run.ai", "v2", "queues"},
	{"kai.scheduler", "v1alpha1", "topologies"},
	{"scheduling.k8s.io", "v1", "priorityclasses"},
};
#define POD_KIND 1
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct scheduler {
	struct scheduler_options options;
	uint64_t seen; /* version of the store that the last cycle looked at */
	int64_t last;  /* nanoseconds: when that was */
	bool started, waiting;
};

struct scheduler *scheduler_create(const struct scheduler_options *options)
{
	struct scheduler *scheduler = base_calloc(1, sizeof(*scheduler));
	scheduler->options = *options;
	if (!scheduler->options.clock)
		scheduler->options.clock = clock_system();
	if (!scheduler->options.pause_ns)
		scheduler->options.pause_ns = 50 * MILLISECOND;
	if (!scheduler->options.period_ns)
		scheduler->options.period_ns = 10000 * MILLISECOND;
	return scheduler;
}

void scheduler_destroy(struct scheduler *scheduler)
{
	free(scheduler);
}

/* The objects of a cycle as manifests that borrow from the lists. */
static void read_objects(const struct scheduler_options *options, struct store_list *lists, struct arena *arena,
                         struct manifests *manifests)
{
	struct store *store = options->store;
	size_t total = 0;
	for (size_t k = 0; k < KINDS; k++) {
		struct store_list_request request = {
			.api = store_api_find(store, kinds[k].group, kinds[k].version, kinds[k].resource),
		};
		struct store_error error = {0};
		if (!request.api || store_list(store, &request, &lists[k], arena, &error) < 0)
			lists[k] = (struct store_list){0};
		total += lists[k].count;
	}
	*manifests = (struct manifests){.arena = arena, .items = arena_array(arena, struct manifest, total)};
	for (size_t k = 0; k < KINDS; k++) {
		for (size_t i = 0; i < lists[k].count; i++) {
			const struct store_object *object = lists[k].items[i];
			if (k == POD_KIND && options->held && options->held(options->held_context, object))
				continue;
			manifests->items[manifests->count++] = (struct manifest){
				.object = object->root,
				.source = object->type->resource,
				.api_version = val_str(val_get(object->root, "apiVersion"), ""),
				.kind = object->type->kind,
				.name = object->name,
				.namespace_ = object->namespace_,
			};
		}
	}
}

static void log_cycle(const struct scheduler *scheduler, const struct plan *plan)
{
	char bindings[24], evictions[24], groups[24];
	snprintf(bindings, sizeof(bindings), "%zu", plan->binding_count);
	snprintf(evictions, sizeof(evictions), "%zu", plan->eviction_count);
	snprintf(groups, sizeof(groups), "%zu", plan->group_count);
	log_write(scheduler->options.logger, plan->binding_count + plan->eviction_count > 0 ? LOG_INFO : LOG_DEBUG, 0,
	          "cycle", "groups", groups, "bindings", bindings, "evictions", evictions, NULL);
}

static void run_cycle(struct scheduler *scheduler, int64_t now)
{
	static const enum cycle_action actions[] = {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT,
	                                            ACTION_RELEASE_STALE};
	struct arena *arena = arena_create();
	struct store_list lists[KINDS];
	struct manifests manifests;
	read_objects(&scheduler->options, lists, arena, &manifests);
	struct snapshot_options options = {
		.now_seconds = now / (1000 * MILLISECOND),
		.budget = scheduler->options.budget,
		.explain_relax = true,
	};
	struct snapshot *snapshot = snapshot_create(&manifests, &options);
	struct plan *plan = plan_run(snapshot, actions, sizeof(actions) / sizeof(actions[0]));
	scheduler->waiting = false;
	for (size_t i = 0; i < plan->group_count; i++)
		scheduler->waiting |= plan->groups[i].waiting > 0 || scheduler_is_stale(&snapshot->cycle.groups[i]);
	log_cycle(scheduler, plan);
	scheduler_write(&(struct scheduler_turn){
		.store = scheduler->options.store,
		.logger = scheduler->options.logger,
		.plan = plan,
		.arena = arena,
		.now_seconds = options.now_seconds,
	});
	snapshot_destroy(snapshot);
	for (size_t k = 0; k < KINDS; k++)
		store_list_clear(&lists[k]);
	arena_destroy(arena);
}

static int until(int64_t now, int64_t due)
{
	return due <= now ? 0 : (int)((due - now + MILLISECOND - 1) / MILLISECOND);
}

int scheduler_step(struct scheduler *scheduler)
{
	int64_t now = clock_now(scheduler->options.clock);
	int64_t pause = scheduler->last + scheduler->options.pause_ns;
	int64_t period = scheduler->last + scheduler->options.period_ns;
	bool changed = !scheduler->started || store_version(scheduler->options.store) != scheduler->seen;
	bool overdue = scheduler->waiting && now >= period;
	/* A clock that was set back must not stop the loop. */
	if (changed && scheduler->started && now < pause && now >= scheduler->last)
		return until(now, pause);
	if (!changed && !overdue)
		return scheduler->waiting ? until(now, period) : -1;
	scheduler->seen = store_version(scheduler->options.store);
	scheduler->last = now;
	scheduler->started = true;
	run_cycle(scheduler, now);
	/* What the cycle itself wrote is a change too: a binding may make room for the next decision. */
	if (store_version(scheduler->options.store) != scheduler->seen)
		return until(now, now + scheduler->options.pause_ns);
	return scheduler->waiting ? until(now, now + scheduler->options.period_ns) : -1;
}
