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
};

struct world *world_create(const struct world_options *options)
{
	struct world *world = base_calloc(1, sizeof(*world));
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

int world_step(struct world *world)
{
	int wait = workloads_step(world->workloads);
	wait = manager_sooner(wait, volumes_step(world->volumes));
	wait = manager_sooner(wait, reconciler_step(world->devices));
	wait = manager_sooner(wait, disruption_step(world->disruption));
	wait = manager_sooner(wait, manager_step(world->manager));
	return manager_sooner(wait, kubelet_step(world->kubelet));
}

int64_t world_decision_ns(const struct world *world)
{
	return manager_decision_ns(world->manager);
}

void world_metrics(const struct world *world, struct buffer *out)
{
	manager_metrics(world->manager, out);
}
