/* Owns kinds that are followed only for a while: those that a configuration names, which may change. */
#include "remote/follow.h"

#include <string.h>

static bool is_same_kind(const struct remote_follow *a, const struct remote_follow *b)
{
	return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0 &&
	       strcmp(a->resource, b->resource) == 0 && strcmp(a->kind, b->kind) == 0;
}

static bool is_among(const struct remote_follow *one, const struct remote_follow *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_kind(one, &kinds[i]))
			return true;
	return false;
}

/* What nobody follows any more is not shown either: it would never change. */
static void drop_objects(struct remote *remote, const struct store_api *api)
{
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = api};
	struct store_error error = {0};
	if (!follow_has(remote, api->type) && store_list(remote->store, &request, &list, arena, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			store_mirror_remove(remote->store, api->type, list.items[i]->namespace_, list.items[i]->name);
	store_list_clear(&list);
	arena_destroy(arena);
}

static void stop_following(struct follow *follow)
{
	struct remote *remote = follow->remote;
	const struct store_api *api = follow->api;
	if (follow->request)
		remote_client_cancel(follow->request);
	follow_close(follow);
	*follow = (struct follow){.remote = remote, .wanted = follow->wanted, .synced = true};
	if (api)
		drop_objects(remote, api);
	log_write(remote->options.logger, LOG_INFO, LOG_FLAG_WATCH, "kind is no longer followed", "group",
	          follow->wanted->group, "resource", follow->wanted->resource, NULL);
}

static void start_following(struct remote *remote, const struct remote_follow *kind)
{
	size_t at = 0;
	while (at < remote->options.follow_count && (remote->follows[at].api || !remote->follows[at].wanted->kind))
		at++;
	if (at == remote->follow_room) {
		log_write(remote->options.logger, LOG_ERROR, 0, "too many kinds at once, this one is not followed",
		          "group", kind->group, "resource", kind->resource, NULL);
		return;
	}
	if (!remote->kinds)
		remote->kinds = arena_create();
	struct remote_follow *own = arena_new(remote->kinds, struct remote_follow);
	*own = (struct remote_follow){
		.group = arena_strdup(remote->kinds, kind->group),
		.version = arena_strdup(remote->kinds, kind->version),
		.resource = arena_strdup(remote->kinds, kind->resource),
		.kind = arena_strdup(remote->kinds, kind->kind),
		.optional = true,
	};
	follow_open(remote, &remote->follows[at], own);
	/* Nothing waits for it: pods of such workloads were there before, too. */
	remote->follows[at].synced = true;
	if (at == remote->options.follow_count)
		remote->options.follow_count++;
	log_write(remote->options.logger, LOG_INFO, LOG_FLAG_WATCH, "kind is followed", "group", kind->group,
	          "resource", kind->resource, NULL);
}

void remote_follow_kinds(struct remote *remote, const struct remote_follow *kinds, size_t count)
{
	for (size_t i = 0; i < remote->options.follow_count; i++) {
		struct follow *follow = &remote->follows[i];
		if (follow->api && follow->wanted->kind && !is_among(follow->wanted, kinds, count))
			stop_following(follow);
	}
	for (size_t i = 0; i < count; i++) {
		bool followed = false;
		for (size_t j = 0; j < remote->options.follow_count && !followed; j++)
			followed = remote->follows[j].api && remote->follows[j].wanted->kind &&
			           is_same_kind(remote->follows[j].wanted, &kinds[i]);
		if (!followed && !follow_is_known(remote, remote->options.follow_count, &kinds[i]))
			start_following(remote, &kinds[i]);
	}
}
