/* Owns the order in which controllers take their turns. */
#include "manager/manager.h"

#include "grouping/grouping.h"
#include "grouping/native_status.h"
#include "rbg/controller.h"
#include "schedule/scheduler.h"

#include <stdlib.h>

struct manager {
	struct settings_source *settings;
	struct rbg_controller *groups;
	struct grouping_controller *grouping;
	struct scheduler *scheduler;
	struct reconciler *native;
};

struct manager *manager_create(const struct manager_options *options)
{
	struct manager *manager = base_calloc(1, sizeof(*manager));
	manager->settings = options->settings;
	manager->groups = rbg_controller_create(&(struct rbg_controller_options){
		.settings = options->settings,
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	manager->grouping = grouping_create(&(struct grouping_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.settings = options->settings,
	});
	struct pod_grouping grouping = grouping_for_scheduler(manager->grouping);
	manager->scheduler = scheduler_create(&(struct scheduler_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.settings = options->settings,
		.grouping = &grouping,
		.beside = options->beside,
		.slice = options->slice,
		.decided = options->decided,
		.decided_context = options->decided_context,
	});
	manager->native = native_status_create(&(struct native_status_options){
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
	});
	return manager;
}

void manager_destroy(struct manager *manager)
{
	if (!manager)
		return;
	reconciler_destroy(manager->native);
	scheduler_destroy(manager->scheduler);
	grouping_destroy(manager->grouping);
	rbg_controller_destroy(manager->groups);
	free(manager);
}

int manager_sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

void manager_read(struct manager *manager)
{
	rbg_controller_read(manager->groups);
	grouping_read(manager->grouping);
	scheduler_read(manager->scheduler);
	reconciler_read(manager->native);
}

int manager_step(struct manager *manager)
{
	int wait = -1;
	/* RoleBasedGroups are in no pool: where each pool has a process of its own, that of the rest makes their pods. */
	if (settings_serves_pool(settings_now(manager->settings), NULL))
		wait = rbg_controller_step(manager->groups);
	else
		rbg_controller_read(manager->groups);
	wait = manager_sooner(wait, grouping_step(manager->grouping));
	wait = manager_sooner(wait, scheduler_step(manager->scheduler));
	return manager_sooner(wait, reconciler_step(manager->native));
}

int64_t manager_decision_ns(const struct manager *manager)
{
	return scheduler_decision_ns(manager->scheduler);
}

void manager_metrics(const struct manager *manager, struct buffer *out)
{
	scheduler_metrics(manager->scheduler, out);
	rbg_controller_metrics(manager->groups, out);
}

bool manager_ready(const struct manager *manager)
{
	return scheduler_ready(manager->scheduler);
}
