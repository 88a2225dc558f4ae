/* Owns the order in which the actors of an embedded cluster take their turns. */
#include "sim/world.h"

#include "control/rbg_controller.h"
#include "control/scheduler.h"

#include <stdlib.h>

struct world {
	struct rbg_controller *groups;
	struct scheduler *scheduler;
	struct kubelet kubelet;
};

struct world *world_create(const struct world_options *options)
{
	struct world *world = base_calloc(1, sizeof(*world));
	world->groups = rbg_controller_create(&(struct rbg_controller_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->scheduler = scheduler_create(&(struct scheduler_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.budget = options->budget,
	});
	world->kubelet = options->kubelet;
	world->kubelet.store = options->store;
	world->kubelet.clock = options->clock;
	return world;
}

void world_destroy(struct world *world)
{
	if (!world)
		return;
	rbg_controller_destroy(world->groups);
	scheduler_destroy(world->scheduler);
	free(world);
}

static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

int world_step(struct world *world)
{
	int wait = rbg_controller_step(world->groups);
	wait = sooner(wait, scheduler_step(world->scheduler));
	return sooner(wait, kubelet_step(&world->kubelet));
}
