/* Owns the settings that are true now, and those that were replaced until nobody borrows them any more. */
#include "loop/settings.h"

#include "api/store.h"
#include "base/clock.h"
#include "base/strings.h"
#include "group/defaults.h"

#include <stdlib.h>
#include <string.h>

static const char *const usual_schedulers[] = {"platoon", "kai-scheduler"};

const struct settings settings_usual = {
	.schedulers = usual_schedulers,
	.scheduler_count = sizeof(usual_schedulers) / sizeof(*usual_schedulers),
	.group = {.queue_label = GROUP_KEY_QUEUE,
                  .pool_label = GROUP_KEY_NODE_POOL,
                  .default_queue = GROUP_DEFAULT_QUEUE},
	.defragment = {.moves = SETTINGS_USUAL_MOVES},
	.spread_zones = true,
};

bool settings_is_ours(const struct settings *settings, const char *scheduler)
{
	const char *name = scheduler ? scheduler : "default-scheduler";
	for (size_t i = 0; i < settings->scheduler_count; i++)
		if (strcmp(name, settings->schedulers[i]) == 0)
			return true;
	return false;
}

bool settings_owns_pod(const struct settings *settings, const struct val *pod)
{
	const struct val *labels = val_path(pod, "metadata", "labels", NULL);
	return settings_is_ours(settings, val_str(val_path(pod, "spec", "schedulerName", NULL), NULL)) &&
	       settings_serves_pool(settings, val_str(val_get(labels, settings_pool_label(settings)), NULL));
}

bool settings_serves_pool(const struct settings *settings, const char *pool)
{
	return !settings->node_pool || strcmp(settings->node_pool, SETTINGS_ALL_POOLS) == 0 ||
	       strcmp(settings->node_pool, pool ? pool : "") == 0;
}

const char *settings_pool_label(const struct settings *settings)
{
	return group_pool_label(&settings->group);
}

const char *settings_default_queue(const struct settings *settings)
{
	return group_default_queue(&settings->group);
}

const char *settings_queue_label(const struct settings *settings)
{
	return group_queue_label(&settings->group);
}

/* ---- the owner ---- */

struct version {
	struct arena *arena;
	struct settings settings;
	struct version *before; /* replaced, and perhaps still borrowed */
};

struct settings_source {
	struct arena *arena;   /* of `given` */
	struct settings given; /* without the ConfigMap */
	struct version *now;
	struct store *store;
	uint64_t map_version; /* of the ConfigMap in `now`, 0: none */
};

static const char *copy_text(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

struct settings settings_copy(const struct settings *from, struct arena *arena)
{
	struct settings copy = *from;
	const char **names = arena_array(arena, const char *, from->scheduler_count);
	for (size_t i = 0; i < from->scheduler_count; i++)
		names[i] = arena_strdup(arena, from->schedulers[i]);
	copy.schedulers = names;
	copy.node_pool = copy_text(arena, from->node_pool);
	copy.defragment.level = copy_text(arena, from->defragment.level);
	copy.group.queue_label = copy_text(arena, from->group.queue_label);
	copy.group.pool_label = copy_text(arena, from->group.pool_label);
	copy.group.default_queue = copy_text(arena, from->group.default_queue);
	struct group_kind_default *rows = arena_array(arena, struct group_kind_default, from->group.default_count);
	for (size_t i = 0; i < from->group.default_count; i++) {
		const struct group_kind_default *row = &from->group.defaults[i];
		rows[i] = (struct group_kind_default){
			.api_group = copy_text(arena, row->api_group),
			.kind = copy_text(arena, row->kind),
			.priority_class = copy_text(arena, row->priority_class),
			.preemptibility = copy_text(arena, row->preemptibility),
		};
	}
	copy.group.defaults = rows;
	copy.problems = NULL;
	copy.problem_count = 0;
	copy.placing = copy.grouping = 0;
	return copy;
}

static bool same_schedulers(const struct settings *a, const struct settings *b)
{
	for (size_t i = 0; i < a->scheduler_count && i < b->scheduler_count; i++)
		if (strcmp(a->schedulers[i], b->schedulers[i]) != 0)
			return false;
	return a->scheduler_count == b->scheduler_count;
}

int64_t settings_hold_ns(const struct settings *settings)
{
	enum { USUAL = 150, LONGEST = 3600 };
	uint64_t seconds = settings->hold_seconds ? settings->hold_seconds : USUAL;
	return (int64_t)(seconds < LONGEST ? seconds : LONGEST) * CLOCK_SECOND;
}

static bool pasts_alike(const struct settings_past *a, const struct settings_past *b)
{
	return a->factor == b->factor && a->window == b->window && a->half_life == b->half_life &&
	       a->tumbling == b->tumbling;
}

static bool defragment_alike(const struct settings_defragment *a, const struct settings_defragment *b)
{
	return a->enabled == b->enabled && a->moves == b->moves && a->from == b->from && a->to == b->to &&
	       text_equal(a->level, b->level);
}

static bool places_alike(const struct settings *a, const struct settings *b)
{
	return same_schedulers(a, b) && a->budget == b->budget && a->starvation_ns == b->starvation_ns &&
	       pasts_alike(&a->past, &b->past) && defragment_alike(&a->defragment, &b->defragment) &&
	       a->strategy.gpu == b->strategy.gpu && a->strategy.cpu == b->strategy.cpu &&
	       a->spare_gpus == b->spare_gpus && a->spread_zones == b->spread_zones &&
	       a->never_violate_budgets == b->never_violate_budgets && a->plain_reasons == b->plain_reasons &&
	       a->config_maps == b->config_maps && a->restrict_nodes == b->restrict_nodes &&
	       a->ignore_parent_queues == b->ignore_parent_queues && a->queues_need_pool == b->queues_need_pool &&
	       text_equal(a->node_pool, b->node_pool) && strcmp(settings_pool_label(a), settings_pool_label(b)) == 0 &&
	       strcmp(settings_default_queue(a), settings_default_queue(b)) == 0 &&
	       strcmp(settings_queue_label(a), settings_queue_label(b)) == 0;
}

static bool same_rows(const struct group_options *a, const struct group_options *b)
{
	if (a->default_count != b->default_count)
		return false;
	for (size_t i = 0; i < a->default_count; i++) {
		const struct group_kind_default *x = &a->defaults[i], *y = &b->defaults[i];
		if (!text_equal(x->api_group, y->api_group) || !text_equal(x->kind, y->kind) ||
		    !text_equal(x->priority_class, y->priority_class) ||
		    !text_equal(x->preemptibility, y->preemptibility))
			return false;
	}
	return true;
}

static bool groups_alike(const struct settings *a, const struct settings *b)
{
	const struct group_options *x = &a->group, *y = &b->group;
	return same_schedulers(a, b) && text_equal(a->node_pool, b->node_pool) &&
	       a->single_groups == b->single_groups && x->knative_gang == y->knative_gang &&
	       x->keep_old_names == y->keep_old_names && x->ignore_kartas == y->ignore_kartas &&
	       x->kai_minimums == y->kai_minimums && text_equal(x->queue_label, y->queue_label) &&
	       text_equal(x->pool_label, y->pool_label) && text_equal(x->default_queue, y->default_queue) &&
	       same_rows(x, y);
}

static const struct store_object *find_map(const struct settings_source *source)
{
	const struct store_type *type = source->store ? store_type_find(source->store, "", "configmaps") : NULL;
	return type ? store_peek(source->store, type, GROUP_DEFAULTS_NAMESPACE, GROUP_DEFAULTS_NAME) : NULL;
}

/* What was given, with what the ConfigMap says, in the place of what there is. */
static void renew(struct settings_source *source, const struct store_object *map)
{
	struct version *before = source->now, *next = base_calloc(1, sizeof(*next));
	next->arena = arena_create();
	next->before = before;
	next->settings = settings_copy(&source->given, next->arena);
	if (map) {
		struct problems problems = {.arena = next->arena};
		group_defaults_read(map->root, next->arena, &next->settings.group, &problems);
		next->settings.problems = problems.items;
		next->settings.problem_count = problems.count;
	}
	if (before) {
		next->settings.placing = before->settings.placing + !places_alike(&before->settings, &next->settings);
		next->settings.grouping = before->settings.grouping + !groups_alike(&before->settings, &next->settings);
	}
	source->map_version = map ? map->version : 0;
	source->now = next;
}

struct settings_source *settings_source_create(const struct settings *settings)
{
	struct settings_source *source = base_calloc(1, sizeof(*source));
	settings_source_replace(source, settings);
	return source;
}

void settings_source_replace(struct settings_source *source, const struct settings *settings)
{
	struct arena *arena = arena_create();
	source->given = settings_copy(settings, arena);
	arena_destroy(source->arena);
	source->arena = arena;
	renew(source, find_map(source));
}

void settings_source_follow(struct settings_source *source, struct store *store)
{
	source->store = store;
	renew(source, find_map(source));
}

const struct settings *settings_now(struct settings_source *source)
{
	if (!source)
		return &settings_usual;
	const struct store_object *map = find_map(source);
	if ((map ? map->version : 0) != source->map_version)
		renew(source, map);
	return &source->now->settings;
}

static void free_before(struct version *version)
{
	while (version->before) {
		struct version *before = version->before;
		version->before = before->before;
		arena_destroy(before->arena);
		free(before);
	}
}

void settings_turn(struct settings_source *source)
{
	free_before(source->now);
}

void settings_source_destroy(struct settings_source *source)
{
	if (!source)
		return;
	free_before(source->now);
	arena_destroy(source->now->arena);
	free(source->now);
	arena_destroy(source->arena);
	free(source);
}
