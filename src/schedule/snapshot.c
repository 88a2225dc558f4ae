/* Owns the frame of the snapshot: sorting objects by kind, verdicts, warnings, look-ups, life time. The parts are in
 * snapshot_cluster.c, snapshot_pods.c and snapshot_groups.c. */
#include "schedule/snapshot_build.h"

#include "base/clock.h"
#include "base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The start of list-order time: any fixed moment does, this one is easy to recognise in output. */
#define CREATION_BASE INT64_C(1767225600)
#define CREATION_STEP 60

/* KIND_OTHER for kinds that no decision rests on. */
static enum kind_id kind_of(const struct manifest *manifest)
{
	const struct kind_row *row = kinds_find(manifest->api_version, manifest->kind);
	return row && row->flags & (ROW_DECIDES | ROW_NAMED) ? row->id : KIND_OTHER;
}

const char *build_namespace(const char *namespace_)
{
	return namespace_ && namespace_[0] ? namespace_ : "default";
}

const char *build_key(struct snapshot_build *build, const char *namespace_, const char *name)
{
	return arena_printf(build->arena, "%s/%s", build_namespace(namespace_), name);
}

void build_users(struct snapshot_build *build, struct claim_users *users, size_t most)
{
	*users = (struct claim_users){interner_create(), arena_array(build->arena, size_t, most)};
}

void build_user(struct snapshot_build *build, struct claim_users *users, const struct pod_spec *pod, const char *claim)
{
	if (pod->phase != POD_SUCCEEDED && pod->phase != POD_FAILED)
		users->counts[interner_id(users->names, build_key(build, pod->namespace_, claim))]++;
}

size_t build_count_users(const struct claim_users *users, const char *namespace_, const char *claim)
{
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_, claim);
	uint32_t id = interner_find(users->names, key.text);
	buffer_free(&key);
	return id == UINT32_MAX ? 0 : users->counts[id];
}

void build_warn(struct snapshot_build *build, const char *format, ...)
{
	struct snapshot *snapshot = build->snapshot;
	if (build->quiet)
		return;
	if (snapshot->warning_count == snapshot->warning_capacity)
		snapshot->warnings = grow_array(build->arena, snapshot->warnings, snapshot->warning_count,
		                                &snapshot->warning_capacity, sizeof(*snapshot->warnings));
	va_list args;
	va_start(args, format);
	snapshot->warnings[snapshot->warning_count++] = arena_vprintf(build->arena, format, args);
	va_end(args);
}

void build_verdict(struct snapshot_build *build, const struct manifest *manifest, const struct problems *problems)
{
	if (problems->count == 0 || build->quiet)
		return;
	struct snapshot *snapshot = build->snapshot;
	if (snapshot->verdict_count == snapshot->verdict_capacity)
		snapshot->verdicts = grow_array(build->arena, snapshot->verdicts, snapshot->verdict_count,
		                                &snapshot->verdict_capacity, sizeof(*snapshot->verdicts));
	snapshot->verdicts[snapshot->verdict_count++] = (struct snapshot_verdict){
		.kind = manifest->kind,
		.namespace_ = manifest->namespace_,
		.name = manifest->name,
		.source = manifest->source,
		.allowed = problems->errors == 0,
		.problems = problems->items,
		.problem_count = problems->count,
	};
}

bool build_new_name(struct interner *names, const char *key)
{
	uint32_t before = interner_count(names);
	interner_id(names, key);
	return interner_count(names) > before;
}

bool build_claim_name(struct snapshot_build *build, struct interner *names, const char *key,
                      const struct manifest *manifest)
{
	if (build_new_name(names, key))
		return true;
	struct problems problems = {.arena = build->arena};
	problem_add(&problems, SEVERITY_ERROR, "metadata.name", "remove one of the two",
	            "%s %s is given twice; the first one counts", manifest->kind, key);
	build_verdict(build, manifest, &problems);
	return false;
}

struct problems build_judge(struct snapshot_build *build, const struct manifest *manifest, struct arena *arena)
{
	struct problems problems = {.arena = arena};
	admit_object(manifest, build->index, &problems);
	build_verdict(build, manifest, &problems);
	return problems;
}

int64_t build_creation_by_order(size_t order)
{
	return CREATION_BASE + CREATION_STEP * (int64_t)order;
}

int64_t build_creation(const struct manifest *manifest, size_t order)
{
	const char *text = val_str(val_path(manifest->object, "metadata", "creationTimestamp", NULL), NULL);
	int64_t seconds;
	if (text && clock_parse_rfc3339(text, &seconds) == 0)
		return seconds;
	return build_creation_by_order(order);
}

/* What of it counts is in other objects, which were made from it. */
static bool is_in_others(const struct manifest *manifest)
{
	const struct kind_row *row = kinds_find(manifest->api_version, manifest->kind);
	return row && (row->id == KIND_NATIVE_GROUP || row->id == KIND_NATIVE_COMPOSITE ||
	               row->id == KIND_DEVICE_CLAIM_TEMPLATE || row->flags & ROW_NEIGHBOUR);
}

/* One line per kind that is not used, so that a reader knows why it has no effect. */
static void report_unused(struct snapshot_build *build, const struct manifests *manifests)
{
	struct interner *kinds = interner_create();
	size_t *counts = arena_array(build->arena, size_t, manifests->count);
	for (size_t i = 0; i < manifests->count; i++) {
		const struct manifest *manifest = &manifests->items[i];
		enum kind_id kind = kind_of(manifest);
		if (is_in_others(manifest))
			continue;
		if ((kind == KIND_OTHER || (kind == KIND_CONFIG_MAP && !build->settings->config_maps)) &&
		    !(build->terms && terms_used(build->terms, manifest)))
			counts[interner_id(kinds, arena_printf(build->arena, "%s (%s)", manifest->kind,
			                                       manifest->api_version[0] ? manifest->api_version
			                                                                : "no apiVersion"))]++;
	}
	for (uint32_t i = 0; i < interner_count(kinds); i++) {
		const char *text = interner_text(kinds, i);
		const char *kind = arena_strndup(build->arena, text, strcspn(text, " "));
		const char *ours = admit_api_version(kind, build->arena), *near = kinds_nearest(kind);
		build_warn(build, "%zu object%s of kind %s %s no effect on a plan and %s left out%s%s%s%s%s%s%s",
		           counts[i], counts[i] == 1 ? "" : "s", text, counts[i] == 1 ? "has" : "have",
		           counts[i] == 1 ? "is" : "are", ours ? "; Platoon reads a " : "", ours ? kind : "",
		           ours ? " of " : "", ours ? ours : "", near ? "; did you mean " : "", near ? near : "",
		           near ? "?" : "");
	}
	interner_destroy(kinds);
}

static void sort_by_kind(struct snapshot_build *build, const struct manifests *manifests)
{
	for (size_t i = 0; i < manifests->count; i++) {
		enum kind_id kind = kind_of(&manifests->items[i]);
		if (kind != KIND_OTHER)
			build->kinds[kind].count++;
	}
	for (int kind = 0; kind < KIND_IDS; kind++) {
		struct build_slice *slice = &build->kinds[kind];
		slice->items = arena_array(build->arena, const struct manifest *, slice->count);
		slice->order = arena_array(build->arena, size_t, slice->count);
		slice->count = 0;
	}
	for (size_t i = 0; i < manifests->count; i++) {
		enum kind_id kind = kind_of(&manifests->items[i]);
		if (kind == KIND_OTHER)
			continue;
		struct build_slice *slice = &build->kinds[kind];
		slice->order[slice->count] = i;
		slice->items[slice->count++] = &manifests->items[i];
	}
}

static void warn_unlabelled(struct snapshot_build *build)
{
	const struct cluster *cluster = build->snapshot->cycle.cluster;
	for (int topology = 0; topology < cluster_topology_count(cluster); topology++) {
		int count = cluster_unlabelled_count(cluster, topology);
		if (count == 0)
			continue;
		const char *label = NULL;
		int node = cluster_unlabelled_node(cluster, topology, 0, &label);
		build_warn(build,
		           "topology %s: %d of %d nodes lack a level label and take no gang that needs that level "
		           "(first: node %s lacks %s)",
		           cluster_topology_name(cluster, topology), count, cluster_node_count(cluster),
		           cluster_node_name(cluster, node), label ? label : "a label");
	}
}

void build_frame(struct snapshot_build *build, const struct manifests *manifests)
{
	build->default_queue = arena_strdup(build->arena, settings_default_queue(build->settings));
	sort_by_kind(build, manifests);
	build_priorities(build);
	build_topologies(build);
	build_nodes(build);
	build_shards(build);
	build_queues(build);
	build_devices(build);
}

struct cycle_defragment build_defragment(const struct settings *settings, int64_t moves)
{
	const char *level = settings->defragment.level;
	return (struct cycle_defragment){.wanted_level = level && level[0] ? level : NULL, .most_moves = (int)moves};
}

void build_take_settings(struct cycle *cycle, const struct settings *settings)
{
	cycle->budget = settings->budget;
	cycle->hold_for = settings_hold_ns(settings);
	cycle->starvation_after = settings->starvation_ns;
	cycle->never_violate_budgets = settings->never_violate_budgets;
	cycle->past_factor = settings->past.factor;
}

struct snapshot *snapshot_create(const struct manifests *manifests, const struct snapshot_options *options)
{
	static const struct snapshot_options no_options;
	struct arena *arena = arena_create();
	struct snapshot *snapshot = arena_new(arena, struct snapshot);
	snapshot->arena = arena;
	struct snapshot_build build = {
		.snapshot = snapshot,
		.arena = arena,
		.options = options ? options : &no_options,
		.settings = options && options->settings ? options->settings : &settings_usual,
		.priority_names = interner_create(),
		.queue_names = interner_create(),
		.label_topologies = interner_create(),
		.index = admit_index_create(manifests),
	};
	snapshot->cycle.cluster = cluster_create();
	snapshot->cycle.arena = arena;
	build_take_settings(&snapshot->cycle, build.settings);
	snapshot->cycle.silent = build.options->silent;
	snapshot->cycle.trials = build.options->trials;
	snapshot->cycle.tell_holders = build.options->tell_holders;
	snapshot->cycle.always_search = build.options->always_search;
	snapshot->cycle.defragment = build_defragment(build.settings, build.settings->defragment.moves);
	snapshot->cycle.now = build.options->now_seconds * CLOCK_SECOND;
	build_frame(&build, manifests);
	build_usage(&build);
	build_number_nodes(&build);
	build_volumes(&build);
	build_config_maps(&build);
	build_services(&build);
	build_pods(&build);
	build_budgets(&build);
	if (build.options->owners)
		build.terms = terms_open(manifests, build.options->owners, build.settings);
	build_groups(&build);
	if (cluster_node_count(snapshot->cycle.cluster) == 0 && snapshot->cycle.group_count > 0)
		build_warn(&build,
		           "the input has no usable Node, so nothing can be placed; add the nodes of the cluster");
	warn_unlabelled(&build);
	if (build.foreign_pods > 0)
		build_warn(&build,
		           "%zu pending pod%s of other schedulers %s left out, such as %s; set schedulerName: "
		           "%s on pods that Platoon should place",
		           build.foreign_pods, build.foreign_pods == 1 ? "" : "s",
		           build.foreign_pods == 1 ? "is" : "are", build.foreign_pod, build.settings->schedulers[0]);
	report_unused(&build, manifests);
	terms_close(build.terms);
	interner_destroy(build.priority_names);
	interner_destroy(build.queue_names);
	interner_destroy(build.label_topologies);
	interner_destroy(build.config_maps);
	service_book_destroy(build.services);
	admit_index_destroy(build.index);
	return snapshot;
}

void snapshot_destroy(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	volume_columns_destroy(snapshot->columns);
	device_columns_destroy(snapshot->device_columns);
	device_book_destroy(snapshot->device_book);
	interner_destroy(snapshot->device_claim_users.names);
	volume_book_destroy(snapshot->book);
	interner_destroy(snapshot->claim_users.names);
	interner_destroy(snapshot->used_volumes);
	cluster_destroy(snapshot->cycle.cluster);
	interner_destroy(snapshot->pod_names);
	interner_destroy(snapshot->group_names);
	arena_destroy(snapshot->arena);
}

bool snapshot_has_rejections(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->verdict_count; i++)
		if (!snapshot->verdicts[i].allowed)
			return true;
	return false;
}

static int find(const struct interner *names, const char *namespace_, const char *name)
{
	char *key = NULL;
	if (asprintf(&key, "%s/%s", build_namespace(namespace_), name) < 0)
		return -1;
	uint32_t id = interner_find(names, key);
	free(key);
	return id == UINT32_MAX ? -1 : (int)id;
}

int snapshot_find_group(const struct snapshot *snapshot, const char *namespace_, const char *name)
{
	return find(snapshot->group_names, namespace_, name);
}

int snapshot_find_pod(const struct snapshot *snapshot, const char *namespace_, const char *name)
{
	return find(snapshot->pod_names, namespace_, name);
}
