/* Owns the order in which the actors of an embedded cluster take their turns. */
#include "sim/world.h"

#include "control/grouping.h"
#include "control/scheduler.h"
#include "sim/workload.h"

#include <stdlib.h>

struct world {
	struct workloads *workloads;
	struct grouping_controller *grouping;
	struct scheduler *scheduler;
	struct kubelet *kubelet;
};

struct world *world_create(const struct world_options *options)
{
	struct world *world = base_calloc(1, sizeof(*world));
	world->workloads = workloads_create(&(struct workloads_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->grouping = grouping_create(&(struct grouping_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->scheduler = scheduler_create(&(struct scheduler_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.budget = options->budget,
		.held = grouping_holds,
		.held_context = world->grouping,
	});
	struct kubelet_options kubelet = options->kubelet;
	kubelet.store = options->store;
	kubelet.clock = options->clock;
	kubelet.logger = options->logger;
	world->kubelet = kubelet_create(&kubelet);
	return world;
}

void world_destroy(struct world *world)
{
	if (!world)
		return;
	kubelet_destroy(world->kubelet);
	scheduler_destroy(world->scheduler);
	grouping_destroy(world->grouping);
	workloads_destroy(world->workloads);
	free(world);
}

static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

int world_step(struct world *world)
{
	int wait = workloads_step(world->workloads);
	wait = sooner(wait, grouping_step(world->grouping));
	wait = sooner(wait, scheduler_step(world->scheduler));
	return sooner(wait, kubelet_step(world->kubelet));
}

void world_metrics(const struct world *world, struct buffer *out)
{
	scheduler_metrics(world->scheduler, out);
}
