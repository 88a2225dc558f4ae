/* Owns the order in which the actors of an embedded cluster take their turns. */
#include "cluster/world.h"

#include "manager/manager.h"
#include "cluster/devices.h"
#include "cluster/disruption.h"
#include "cluster/volumes.h"
#include "cluster/workload.h"

#include <stdlib.h>

struct world {
	struct workloads *workloads;
	struct volumes *volumes;
	struct reconciler *devices;
	struct disruption *disruption;
	struct manager *manager;
	struct kubelet *kubelet;
	size_t next; /* whose turn it is in this round */
	int wait;    /* of those who had theirs */
};

struct world *world_create(const struct world_options *options)
{
	struct world *world = base_calloc(1, sizeof(*world));
	world->wait = -1;
	world->workloads = workloads_create(&(struct workloads_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->volumes = volumes_create(&(struct volumes_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->devices = devices_create(&(struct devices_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->disruption = disruption_create(&(struct disruption_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	world->manager = manager_create(&(struct manager_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.settings = options->settings,
		.beside = options->beside,
		.slice = options->slice,
		.decided = options->decided,
		.decided_context = options->decided_context,
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
	manager_destroy(world->manager);
	disruption_destroy(world->disruption);
	reconciler_destroy(world->devices);
	volumes_destroy(world->volumes);
	workloads_destroy(world->workloads);
	free(world);
}

/* Each returns whether it is through, and takes its wait into that of the round. */
static bool is_through(struct world *world, int wait)
{
	world->wait = manager_sooner(world->wait, wait);
	return true;
}

static bool turn_workloads(struct world *world)
{
	return is_through(world, workloads_step(world->workloads));
}

static bool turn_volumes(struct world *world)
{
	return is_through(world, volumes_step(world->volumes));
}

static bool turn_devices(struct world *world)
{
	return is_through(world, reconciler_step(world->devices));
}

static bool turn_disruption(struct world *world)
{
	return is_through(world, disruption_step(world->disruption));
}

static bool turn_manager(struct world *world)
{
	int wait;
	return manager_turn(world->manager, &wait) && is_through(world, wait);
}

static bool turn_kubelet(struct world *world)
{
	return is_through(world, kubelet_step(world->kubelet));
}

bool world_turn(struct world *world, int *wait)
{
	static bool (*const turns[])(struct world * world) = {
		turn_workloads, turn_volumes, turn_devices, turn_disruption, turn_manager, turn_kubelet,
	};
	if (turns[world->next](world))
		world->next = (world->next + 1) % (sizeof(turns) / sizeof(*turns));
	*wait = world->wait;
	if (world->next > 0)
		return false;
	world->wait = -1;
	return true;
}

int world_step(struct world *world)
{
	int wait;
	while (!world_turn(world, &wait))
		;
	return wait;
}

int64_t world_decision_ns(const struct world *world)
{
	return manager_decision_ns(world->manager);
}

void world_metrics(const struct world *world, struct buffer *out)
{
	manager_metrics(world->manager, out);
}
