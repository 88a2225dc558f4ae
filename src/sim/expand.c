/* Owns which workloads are expanded, and taking over what came out. */
#include "sim/expand.h"
#include "kinds/names.h"

#include "grouping/grouping.h"
#include "object/build.h"
#include "sim/simulate.h"
#include "cluster/workload.h"

#include <string.h>

/* Changes after which the workloads are called too large: about twenty thousand pods. */
#define MOST_CHANGES 25000

static const char *identity(struct arena *arena, const char *kind, const char *namespace_, const char *name)
{
	return arena_printf(arena, "%s/%s/%s", kind, namespace_[0] ? namespace_ : "default", name);
}

static void note_owners(const struct val *object, const char *namespace_, struct interner *owners, struct arena *arena)
{
	const struct val *owner;
	for (struct val_iter it = val_iter(val_path(object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &owner);)
		interner_id(owners, identity(arena, val_str(val_get(owner, "kind"), ""), namespace_,
		                             val_str(val_get(owner, "name"), "")));
}

static bool is_to_expand(const struct manifest *object, const struct interner *owners, struct arena *arena)
{
	return workloads_know(object->api_version, object->kind) &&
	       val_count(val_path(object->object, "metadata", "ownerReferences", NULL)) == 0 &&
	       interner_find(owners, identity(arena, object->kind, object->namespace_, object->name)) == UINT32_MAX;
}

/* What workloads are grouped and judged by. */
static bool is_context(const struct manifest *object)
{
	static const char *const kinds[] = {"Topology",        "Queue",     "PriorityClass",
	                                    "ClusterTopology", "ConfigMap", "CoordinatedPolicy"};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(object->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* Objects of a live cluster are new ones here: what the server gave them must not be asked for. */
static struct doc *as_new(const struct val *object)
{
	static const char *const given[] = {"uid", "resourceVersion", "managedFields"};
	struct build *build = build_create();
	struct node *root = build_copy(build, object), *metadata = build_map(build);
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(object, "metadata")); val_next(&it, &key, &item);) {
		bool skip = false;
		for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
			skip |= strcmp(key, given[i]) == 0;
		if (!skip)
			build_put(build, metadata, key, build_copy(build, item));
	}
	build_put(build, root, "metadata", metadata);
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

static void apply(struct simulation *simulation, const struct manifest *object, struct problems *problems)
{
	struct store_error error = {0};
	struct doc *doc = as_new(object->object);
	if (simulation_apply(simulation, doc_root(doc), problems->arena, &error) < 0)
		problem_add(problems, SEVERITY_ERROR, object->source, NULL, "%s", error.message);
	doc_destroy(doc);
}

static void make_namespace(struct simulation *simulation, const char *name, struct problems *problems)
{
	const struct store_type *type = store_type_find(simulation->store, "", "namespaces");
	if (!name[0] || store_peek(simulation->store, type, "", name))
		return;
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, root, "apiVersion", "v1");
	build_put_string(build, root, "kind", "Namespace");
	build_put_string(build, metadata, "name", name);
	build_put(build, root, "metadata", metadata);
	struct doc *doc = build_finish(build, root);
	apply(simulation, &(struct manifest){.object = doc_root(doc), .source = name}, problems);
	doc_destroy(doc);
	build_destroy(build);
}

static void take_over(struct simulation *simulation, const char *group, const char *resource, const char *source,
                      struct manifests *objects, struct problems *problems)
{
	const struct store_type *type = store_type_find(simulation->store, group, resource);
	struct store_list list;
	if (store_list(simulation->store, &(struct store_list_request){.api = type->apis}, &list, problems->arena,
	               NULL))
		return;
	for (size_t i = 0; i < list.count; i++) {
		struct build *build = build_create();
		struct doc *doc = build_finish(build, build_copy(build, list.items[i]->root));
		manifests_keep(objects, doc);
		manifests_add(objects, doc_root(doc), source, problems);
		build_destroy(build);
	}
	store_list_clear(&list);
}

/* Every owner that an object of the store names. */
static struct interner *find_makers(struct simulation *simulation, struct arena *arena)
{
	struct interner *makers = interner_create();
	size_t count;
	const struct store_api *const *apis = store_apis(simulation->store, &count);
	for (size_t i = 0; i < count; i++) {
		struct store_list list;
		if (store_list(simulation->store, &(struct store_list_request){.api = apis[i]}, &list, arena, NULL))
			continue;
		for (size_t o = 0; o < list.count; o++)
			note_owners(list.items[o]->root, list.items[o]->namespace_, makers, arena);
		store_list_clear(&list);
	}
	return makers;
}

/* Their pods stand for them. One that made nothing is told, and stays. */
static void leave_out(struct manifests *objects, const bool *chosen, const struct interner *makers,
                      struct problems *problems)
{
	size_t kept = 0;
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *object = &objects->items[i];
		const char *key = identity(problems->arena, object->kind, object->namespace_, object->name);
		bool made = chosen[i] && interner_find(makers, key) != UINT32_MAX;
		if (chosen[i] && !made)
			problem_add(problems, SEVERITY_WARNING, object->source, NULL,
			            "%s %s makes no pods: it is suspended, has no replicas, or is not valid",
			            object->kind, object->name);
		if (!made)
			objects->items[kept++] = *object;
	}
	objects->count = kept;
}

/* Only what makes pods and groups runs: nobody places them. False when it was too much. */
static bool run(struct simulation *simulation)
{
	struct store *store = simulation->store;
	const struct clock_source *clock = &simulation->clock.source;
	struct workloads *workloads = workloads_create(&(struct workloads_options){.store = store, .clock = clock});
	struct grouping_controller *grouping = grouping_create(
		&(struct grouping_options){.store = store, .clock = clock, .settings = simulation->settings});
	struct error error = {0};
	/* Watches take their first look only while nothing is waiting to be committed. */
	store_commit(store, &error);
	grouping_step(grouping);
	bool busy = true;
	while (busy && store_version(store) < MOST_CHANGES) {
		bool made = workloads_step(workloads) == 0, grouped = grouping_step(grouping) == 0;
		busy = made || grouped || store_pending(store);
		store_commit(store, &error);
	}
	grouping_destroy(grouping);
	workloads_destroy(workloads);
	return !busy;
}

void expand_workloads(struct manifests *objects, int64_t now_ns, const struct settings *settings,
                      struct problems *problems)
{
	struct arena *arena = arena_create();
	struct interner *owners = interner_create();
	for (size_t i = 0; i < objects->count; i++)
		note_owners(objects->items[i].object, objects->items[i].namespace_, owners, arena);
	bool *chosen = arena_array(arena, bool, objects->count);
	const char *source = NULL;
	for (size_t i = 0; i < objects->count; i++) {
		chosen[i] = is_to_expand(&objects->items[i], owners, arena);
		if (chosen[i] && !source)
			source = objects->items[i].source;
	}
	if (source) {
		struct settings all_groups = *settings; /* a plan knows of single pods what is written about them */
		all_groups.single_groups = true;
		struct simulation *simulation =
			simulation_create(&(struct simulation_options){.seed = 1, .settings = &all_groups});
		simulation->clock.now = now_ns;
		for (size_t i = 0; i < objects->count; i++) {
			if (!chosen[i] && !is_context(&objects->items[i]))
				continue;
			make_namespace(simulation, objects->items[i].namespace_, problems);
			apply(simulation, &objects->items[i], problems);
		}
		if (!run(simulation))
			problem_add(problems, SEVERITY_ERROR, source, NULL,
			            "the workloads make more pods than can be planned at once; the plan is without the "
			            "rest");
		struct interner *makers = find_makers(simulation, arena);
		leave_out(objects, chosen, makers, problems);
		interner_destroy(makers);
		take_over(simulation, KINDS_SCHEDULING, "podgroups", source, objects, problems);
		take_over(simulation, "", "pods", source, objects, problems);
		simulation_destroy(simulation);
	}
	interner_destroy(owners);
	arena_destroy(arena);
}
