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
	size_t next; /* whose turn it is in this round */
	int wait;    /* of those who had theirs */
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

/* RoleBasedGroups are in no pool: where each pool has a process of its own, that of the rest makes their pods. */
static int step_groups(struct manager *manager)
{
	if (settings_serves_pool(settings_now(manager->settings), NULL))
		return rbg_controller_step(manager->groups);
	rbg_controller_read(manager->groups);
	return -1;
}

static int step_grouping(struct manager *manager)
{
	return grouping_step(manager->grouping);
}

static int step_scheduler(struct manager *manager)
{
	return scheduler_step(manager->scheduler);
}

static int step_native(struct manager *manager)
{
	return reconciler_step(manager->native);
}

bool manager_turn(struct manager *manager, int *wait)
{
	static int (*const steps[])(struct manager * manager) = {
		step_groups,
		step_grouping,
		step_scheduler,
		step_native,
	};
	manager->wait = manager_sooner(manager->next ? manager->wait : -1, steps[manager->next](manager));
	manager->next = (manager->next + 1) % (sizeof(steps) / sizeof(*steps));
	*wait = manager->wait;
	return manager->next == 0;
}

int manager_step(struct manager *manager)
{
	int wait;
	while (!manager_turn(manager, &wait))
		;
	return wait;
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
