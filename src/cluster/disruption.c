/* Owns the status of PodDisruptionBudgets: which pods they cover, how many are healthy, and how many there should be. */
#include "cluster/disruption.h"

#include "admit/budget.h"
#include "api/selector_match.h"
#include "kinds/kinds.h"
#include "loop/reconciler.h"
#include "loop/writes.h"
#include "object/metadata.h"

#include <stdlib.h>
#include <string.h>

/* A pod whose eviction was allowed has so long to be deleted; then it counts again. */
#define DELETION_TIMEOUT 120

struct disruption {
	struct store *store;
	struct reconciler *reconciler;
	bool any; /* a budget was seen: before that pods concern nobody */
};

/* One budget in work. */
struct count {
	struct reconcile *turn;
	const struct store_object *object;
	struct budget_spec spec;
	struct build *build;
	int64_t now; /* seconds */
	int64_t pods, healthy, expected, desired;
	struct node *disrupted; /* entries that end, as a merge patch wants them */
	size_t dropped;         /* how many */
	const char *failure;    /* why nothing may leave though the pods would allow it; NULL: all is known */
};

/* ---- pods ---- */

static bool is_ready(const struct store_object *pod)
{
	const struct val *condition = writes_find_condition(pod->root, "Ready");
	return strcmp(val_str(val_get(condition, "status"), ""), "True") == 0;
}

static void drop_entry(struct count *count, const char *pod)
{
	build_put(count->build, count->disrupted, pod, build_null(count->build));
	count->dropped++;
}

/* Whether an eviction was allowed that is not carried out yet. What is settled is taken off the list. */
static bool is_disrupted(struct count *count, const struct store_object *pod)
{
	const struct val *since = val_path(count->object->root, "status", "disruptedPods", pod->name, NULL);
	int64_t seconds;
	if (!since)
		return false;
	bool counts = clock_parse_rfc3339(val_str(since, ""), &seconds) == 0 && !metadata_is_leaving(pod->root) &&
	              count->now - seconds < DELETION_TIMEOUT;
	if (!counts) {
		drop_entry(count, pod->name);
		return false;
	}
	int64_t left = (seconds + DELETION_TIMEOUT - count->now) * CLOCK_SECOND;
	if (!count->turn->again_ns || left < count->turn->again_ns)
		count->turn->again_ns = left;
	return true;
}

static void drop_gone(struct count *count, const struct store_list *pods)
{
	const char *name;
	const struct val *since;
	for (struct val_iter it = val_iter(val_path(count->object->root, "status", "disruptedPods", NULL));
	     val_next(&it, &name, &since);) {
		bool there = false;
		for (size_t i = 0; i < pods->count && !there; i++)
			there = strcmp(pods->items[i]->name, name) == 0;
		if (!there)
			drop_entry(count, name);
	}
}

/* ---- how many there should be ---- */

static struct store_object *find_owner(struct store *store, const struct store_object *object)
{
	const struct val *reference = metadata_controller(object->root);
	const struct kind_row *row = reference ? kinds_find(val_str(val_get(reference, "apiVersion"), ""),
	                                                    val_str(val_get(reference, "kind"), ""))
	                                       : NULL;
	const struct store_type *type = row ? store_type_find(store, row->group, row->resource) : NULL;
	struct store_object *owner =
		type ? store_peek(store, type, object->namespace_, val_str(val_get(reference, "name"), "")) : NULL;
	return owner && strcmp(owner->uid, val_str(val_get(reference, "uid"), "")) == 0 ? owner : NULL;
}

/* The object that says how many pods there should be: a ReplicaSet's Deployment, or whatever has a scale. */
static struct store_object *find_scale(struct store *store, const struct store_object *pod, int64_t *replicas)
{
	struct store_object *owner = find_owner(store, pod);
	if (owner && strcmp(owner->type->kind, "ReplicaSet") == 0) {
		struct store_object *above = find_owner(store, owner);
		owner = above ? above : owner;
	}
	const struct kind_row *row = owner ? kinds_resource(owner->type->group, owner->type->resource) : NULL;
	if (!row || !(row->flags & ROW_SCALE))
		return NULL;
	*replicas = 1;
	val_int(val_path(owner->root, "spec", "replicas", NULL), replicas);
	return owner;
}

static void add_scale(struct count *count, const struct store_object *pod, struct store_list *seen)
{
	int64_t replicas;
	if (!metadata_controller(pod->root))
		return; /* nobody makes it anew: it does not count among those there should be */
	struct store_object *owner = find_scale(count->turn->store, pod, &replicas);
	if (!owner) {
		count->failure = arena_printf(count->turn->arena, "found no controllers for pod \"%s\"", pod->name);
		return;
	}
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i] == owner)
			return;
	seen->items[seen->count++] = owner;
	count->expected += replicas;
}

static void count_pods(struct count *count, const struct store_list *pods)
{
	bool scaled = budget_is_scaled(&count->spec);
	struct store_list seen = {.items = arena_array(count->turn->arena, struct store_object *, pods->count)};
	for (size_t i = 0; i < pods->count; i++) {
		const struct store_object *pod = pods->items[i];
		if (!budget_selects(&count->spec, &pod->labels))
			continue;
		count->pods++;
		bool disrupted = is_disrupted(count, pod);
		count->healthy += !disrupted && !metadata_is_leaving(pod->root) && is_ready(pod);
		if (scaled)
			add_scale(count, pod, &seen);
	}
	drop_gone(count, pods);
	if (!scaled && count->spec.min_available.form != PERCENT_UNSET) /* with neither of the two nothing may leave */
		count->expected = count->pods;
	count->desired = budget_desired_healthy(&count->spec, count->expected);
}

/* ---- status ---- */

static bool says(const struct val *status, const char *key, int64_t number)
{
	int64_t there;
	return val_int(val_get(status, key), &there) == 0 && there == number;
}

static int write_status(struct count *count)
{
	int64_t allowed = count->healthy - count->desired, generation = 0;
	if (allowed < 0 || count->expected <= 0 || count->failure)
		allowed = 0;
	struct condition condition = {"DisruptionAllowed", allowed ? "True" : "False",
	                              count->failure ? "SyncFailed"
	                              : allowed      ? "SufficientPods"
	                                             : "InsufficientPods",
	                              count->failure ? count->failure : ""};
	const struct val *root = count->object->root, *status = val_get(root, "status");
	val_int(val_path(root, "metadata", "generation", NULL), &generation);
	if (!count->dropped && says(status, "disruptionsAllowed", allowed) &&
	    says(status, "currentHealthy", count->healthy) && says(status, "desiredHealthy", count->desired) &&
	    says(status, "expectedPods", count->expected) && says(status, "observedGeneration", generation) &&
	    writes_has_condition(root, &condition))
		return 0;
	struct build *build = count->build;
	struct node *into = build_map(build);
	build_put_int(build, into, "observedGeneration", generation);
	build_put_int(build, into, "disruptionsAllowed", allowed);
	build_put_int(build, into, "currentHealthy", count->healthy);
	build_put_int(build, into, "desiredHealthy", count->desired);
	build_put_int(build, into, "expectedPods", count->expected);
	if (count->dropped)
		build_put(build, into, "disruptedPods", count->disrupted);
	build_put(build, into, "conditions", writes_conditions(build, root, &condition, 1, count->now));
	return writes_patch_status(count->turn->store, count->object, build, into) < 0 ? -1 : 0;
}

static int sync_budget(struct reconcile *turn, const struct store_object *object, struct build *build)
{
	struct problems ignored = {.arena = turn->arena};
	struct count count = {.turn = turn, .object = object, .build = build, .now = turn->now_ns / CLOCK_SECOND};
	if (budget_decode(object->root, turn->arena, &count.spec, &ignored) < 0)
		return 0;
	struct store_list pods = {0};
	struct store_list_request request = {.api = store_api_find(turn->store, "", "v1", "pods"),
	                                     .namespace_ = object->namespace_};
	if (store_list(turn->store, &request, &pods, turn->arena, NULL) < 0)
		return -1;
	count.disrupted = build_map(build);
	count_pods(&count, &pods);
	store_list_clear(&pods);
	int status = write_status(&count);
	turn->failure = status < 0 ? "the status could not be written" : NULL;
	return status;
}

static int reconcile(void *context, struct reconcile *turn)
{
	(void)context;
	const struct store_type *type = store_type_find(turn->store, KINDS_POLICY, "poddisruptionbudgets");
	struct store_object *object =
		store_object_retain(store_peek(turn->store, type, turn->key.namespace_, turn->key.name));
	struct build *build = build_create();
	int status = object && !metadata_is_leaving(object->root) ? sync_budget(turn, object, build) : 0;
	build_destroy(build);
	store_object_release(object);
	return status;
}

/* ---- what is due ---- */

static void on_budget(struct reconciler *reconciler, void *context, const struct store_object *object,
                      const struct store_object *old, bool deleted)
{
	struct disruption *disruption = context;
	(void)old;
	disruption->any = true;
	if (!deleted)
		reconciler_want(reconciler, 0, object->namespace_, object->name);
}

static bool selects(const struct val *selector, const struct store_object *pod, struct arena *arena)
{
	struct selector read;
	selector_of_spec(arena, selector, &read);
	return val_kind(selector) == VAL_MAP && selector_matches(&read, &pod->labels, pod->name);
}

static void on_pod(struct reconciler *reconciler, void *context, const struct store_object *object,
                   const struct store_object *old, bool deleted)
{
	struct disruption *disruption = context;
	(void)deleted;
	if (!disruption->any)
		return;
	struct arena *arena = arena_create();
	struct store_list budgets = {0};
	struct store *store = disruption->store;
	struct store_list_request request = {
		.api = store_api_find(store, KINDS_POLICY, "v1", "poddisruptionbudgets"),
		.namespace_ = object->namespace_,
	};
	if (store_list(store, &request, &budgets, arena, NULL) == 0)
		for (size_t i = 0; i < budgets.count; i++) {
			const struct val *selector = val_path(budgets.items[i]->root, "spec", "selector", NULL);
			if (selects(selector, object, arena) || (old && selects(selector, old, arena)))
				reconciler_want(reconciler, 0, object->namespace_, budgets.items[i]->name);
		}
	store_list_clear(&budgets);
	arena_destroy(arena);
}

struct disruption *disruption_create(const struct disruption_options *options)
{
	static const struct reconciler_watch watches[] = {
		{.group = KINDS_POLICY, .resource = "poddisruptionbudgets", .map = on_budget},
		{.group = "", .resource = "pods", .map = on_pod},
	};
	struct disruption *disruption = base_calloc(1, sizeof(*disruption));
	disruption->store = options->store;
	disruption->reconciler = reconciler_create(&(struct reconciler_options){
		.name = "disruption",
		.store = options->store,
		.clock = options->clock,
		.logger = options->logger,
		.watches = watches,
		.watch_count = sizeof(watches) / sizeof(watches[0]),
		.reconcile = reconcile,
		.context = disruption,
	});
	return disruption;
}

void disruption_destroy(struct disruption *disruption)
{
	if (!disruption)
		return;
	reconciler_destroy(disruption->reconciler);
	free(disruption);
}

int disruption_step(struct disruption *disruption)
{
	return reconciler_step(disruption->reconciler);
}
