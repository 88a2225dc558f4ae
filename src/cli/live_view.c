/* Owns following a cluster for `top`. */
#include "cli/live_view.h"

#include "base/clock.h"
#include "cli/followed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_NS INT64_C(500000000) /* between two plans at least; and ten times what the last one took */

struct live_view {
	struct cli_args *args;
	struct remote_access access;
	struct remote *remote;
	struct followed followed;
	struct snapshot *snapshot; /* of the last plan, NULL for none, with what it borrows from: */
	struct manifests objects, owners;
	struct store_list *lists; /* of each follow */
	bool planned;             /* the objects are read */
	uint64_t version;
	int64_t last, took; /* nanoseconds */
	char problem[300];
};

static void forget_plan(struct live_view *view)
{
	if (!view->planned)
		return;
	snapshot_destroy(view->snapshot);
	view->snapshot = NULL;
	manifests_free(&view->objects);
	manifests_free(&view->owners);
	for (size_t i = 0; i < view->followed.count; i++)
		store_list_clear(&view->lists[i]);
	view->planned = false;
}

struct live_view *live_view_create(struct cli_args *args, bool plans, struct error *error)
{
	struct live_view *view = base_calloc(1, sizeof(*view));
	view->args = args;
	view->followed = followed_by_viewers(args->arena, plans, &args->settings);
	view->lists = arena_array(args->arena, struct store_list, view->followed.count);
	memset(view->lists, 0, view->followed.count * sizeof(*view->lists));
	int rc = remote_config_load(args->kubeconfig, args->context, args->arena, &view->access, error);
	if (rc == 0)
		view->remote = remote_create(
			&(struct remote_options){
				.access = &view->access,
				.follow = view->followed.items,
				.follow_count = view->followed.count,
				.config_maps = args->settings.config_maps,
				.seed = (uint64_t)clock_now(clock_system()) ^ ((uint64_t)getpid() << 32),
			},
			error);
	if (view->remote)
		return view;
	free(view);
	return NULL;
}

void live_view_destroy(struct live_view *view)
{
	if (!view)
		return;
	forget_plan(view);
	remote_destroy(view->remote);
	free(view);
}

void live_view_run(struct live_view *view, int timeout_ms, int extra_fd)
{
	remote_run(view->remote, timeout_ms, extra_fd);
	const char *problem = remote_problem(view->remote);
	bool synced = remote_synced(view->remote);
	if (problem[0])
		snprintf(view->problem, sizeof(view->problem), "%s: %.200s",
		         synced ? "this may be old" : "not connected", problem);
	else
		view->problem[0] = '\0';
}

static void read_type(struct live_view *view, size_t index)
{
	struct store *store = remote_store(view->remote);
	const struct remote_follow *follow = &view->followed.items[index];
	const struct store_type *type = store_type_find(store, follow->group, follow->resource);
	const struct store_api *api = type && type->api_count > 0 ? type->apis : NULL;
	struct manifests *into = index < view->followed.deciding ? &view->objects : &view->owners;
	struct problems problems = {.arena = into->arena};
	struct store_error error = {0};
	struct store_list_request request = {.api = api};
	if (!api || store_list(store, &request, &view->lists[index], into->arena, &error) < 0)
		return;
	for (size_t i = 0; i < view->lists[index].count; i++)
		manifests_add(into, view->lists[index].items[i]->root, "cluster", &problems);
}

const struct manifests *live_view_objects(struct live_view *view)
{
	int64_t now = clock_now(clock_system());
	uint64_t version = store_version(remote_store(view->remote));
	int64_t pause = 10 * view->took > PAUSE_NS ? 10 * view->took : PAUSE_NS;
	bool changed = version != view->version || !view->planned;
	if (!remote_synced(view->remote) || !changed || now - view->last < pause)
		return NULL;
	forget_plan(view);
	manifests_init(&view->objects);
	manifests_init(&view->owners);
	for (size_t i = 0; i < view->followed.count; i++)
		read_type(view, i);
	view->planned = true;
	view->version = version;
	view->last = clock_now(clock_system());
	view->took = view->last - now;
	return &view->objects;
}

const struct plan *live_view_plan(struct live_view *view)
{
	struct cli_args *args = view->args;
	int64_t now = clock_now(clock_system());
	if (!live_view_objects(view))
		return NULL;
	struct snapshot_options options = {.now_seconds = now / CLOCK_SECOND,
	                                   .owners = &view->owners,
	                                   .settings = &args->settings};
	view->snapshot = snapshot_create(&view->objects, &options);
	const struct plan *plan = plan_run(view->snapshot, args->actions, args->action_count);
	view->last = clock_now(clock_system());
	view->took = view->last - now;
	return plan;
}

const char *live_view_problem(const struct live_view *view)
{
	return view->problem;
}

bool live_view_connecting(const struct live_view *view)
{
	return !remote_synced(view->remote);
}
