/* Owns the command `suggest-segments`: a segment size for RoleBasedGroups from the ratio of their roles and the shape of
 * the cluster. */
#include "cli/cli.h"
#include "cli/output.h"

#include "admit/clustertopology.h"
#include "admit/pod.h"
#include "admit/rbg.h"
#include "admit/topology.h"
#include "base/strings.h"
#include "plan/suggest.h"

#include <stdio.h>
#include <string.h>

#define HOSTNAME "kubernetes.io/hostname"
#define MOST_LEVELS 17

struct cluster_view {
	struct arena *arena;
	struct node_spec *nodes;
	size_t node_count;
	const char *keys[MOST_LEVELS]; /* node labels, small domains first; the first is the node itself */
	size_t key_count;
};

static int64_t amount_of(const struct resource_amount *amounts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(amounts[i].name, name) == 0)
			return amounts[i].amount;
	return 0;
}

/* The levels of the first ClusterTopology or Topology that is given. */
static void read_levels(struct cluster_view *view, const struct manifest *manifest, struct problems *ignored)
{
	struct cluster_topology layers;
	struct topology_spec topology;
	if (view->key_count > 1)
		return;
	if (strcmp(manifest->kind, "ClusterTopology") == 0 &&
	    cluster_topology_decode(manifest->object, view->arena, &layers, ignored) == 0) {
		for (size_t i = 0; i < layers.layer_count; i++)
			if (strcmp(layers.keys[i], HOSTNAME) != 0)
				view->keys[view->key_count++] = layers.keys[i];
	} else if (strcmp(manifest->kind, "Topology") == 0 &&
	           topology_decode(manifest->object, view->arena, &topology, ignored) == 0) {
		for (size_t i = topology.level_count; i-- > 0;)
			if (strcmp(topology.levels[i], HOSTNAME) != 0)
				view->keys[view->key_count++] = topology.levels[i];
	}
}

static void read_cluster(struct cluster_view *view, const struct manifests *manifests)
{
	struct problems ignored = {.arena = view->arena};
	view->nodes = arena_array(view->arena, struct node_spec, manifests->count);
	view->keys[view->key_count++] = HOSTNAME;
	for (size_t i = 0; i < manifests->count; i++) {
		const struct manifest *manifest = &manifests->items[i];
		read_levels(view, manifest, &ignored);
		if (strcmp(manifest->kind, "Node") != 0 || strcmp(manifest->api_version, "v1") != 0)
			continue;
		struct node_spec *node = &view->nodes[view->node_count];
		if (node_decode(manifest->object, view->arena, node, &ignored) == 0 && !node->unschedulable &&
		    node->ready)
			view->node_count++;
	}
}

/* What the ratio asks for once, by resource. */
struct demand {
	struct resource_amount *items;
	size_t count;
};

static void add_demand(struct demand *demand, const struct resource_amount *amount, int64_t times)
{
	size_t i = 0;
	while (i < demand->count && strcmp(demand->items[i].name, amount->name) != 0)
		i++;
	if (i == demand->count)
		demand->items[demand->count++] = (struct resource_amount){.name = amount->name};
	int64_t more;
	if (__builtin_mul_overflow(amount->amount, times, &more) ||
	    __builtin_add_overflow(demand->items[i].amount, more, &demand->items[i].amount))
		demand->items[i].amount = INT64_MAX;
}

static struct demand demand_of(struct arena *arena, const struct rbg_spec *spec, const int64_t *ratio)
{
	enum { MOST = 256 };
	struct demand demand = {.items = arena_array(arena, struct resource_amount, MOST)};
	for (size_t r = 0; r < spec->role_count; r++)
		for (size_t c = 0; c < spec->roles[r].component_count; c++) {
			const struct rbg_component *component = &spec->roles[r].components[c];
			struct problems ignored = {.arena = arena};
			struct pod_spec pod = {0};
			/* Of a template without a name only the requests matter. */
			pod_decode(component->template, arena, &pod, &ignored);
			for (size_t i = 0; i < pod.request_count && demand.count < MOST; i++)
				add_demand(&demand, &pod.requests[i], ratio[r] * component->size);
		}
	return demand;
}

/* How many times the ratio fits into each domain of a level, by the sum of what its nodes have. */
static struct suggest_level measure_level(const struct cluster_view *view, const char *key, const struct demand *demand)
{
	struct interner *domains = interner_create();
	int64_t *units = arena_array(view->arena, int64_t, view->node_count);
	size_t width = demand->count;
	int64_t *sums = arena_array(view->arena, int64_t, view->node_count * width + 1);
	for (size_t n = 0; n < view->node_count; n++) {
		const struct node_spec *node = &view->nodes[n];
		const char *value = strcmp(key, HOSTNAME) == 0 ? node->name : labels_get(&node->labels, key);
		if (!value)
			continue;
		size_t domain = interner_id(domains, value);
		for (size_t i = 0; i < width; i++)
			sums[domain * width + i] +=
				amount_of(node->allocatable, node->allocatable_count, demand->items[i].name);
	}
	size_t count = interner_count(domains);
	for (size_t d = 0; d < count; d++) {
		units[d] = INT32_MAX;
		for (size_t i = 0; i < width; i++)
			if (demand->items[i].amount > 0 && sums[d * width + i] / demand->items[i].amount < units[d])
				units[d] = sums[d * width + i] / demand->items[i].amount;
	}
	interner_destroy(domains);
	return (struct suggest_level){units, count};
}

static void print_suggestion(const struct cluster_view *view, const struct rbg_spec *spec, const int64_t *ratio,
                             const struct suggestion *suggestion)
{
	int64_t pods = 0;
	for (size_t r = 0; r < spec->role_count; r++)
		pods += ratio[r] * suggestion->multiple * spec->roles[r].pods;
	output_line(stdout, "# %s/%s: %lld segments of %lld pods", spec->namespace_, spec->name,
	            (long long)suggestion->segments, (long long)pods);
	if (suggestion->level == SUGGEST_NO_LEVEL && view->node_count == 0)
		printf("# no nodes were given, so only the ratio of the roles counts\n");
	else if (suggestion->level == SUGGEST_NO_LEVEL)
		printf("# no level of the cluster has domains that hold all of them\n");
	else
		output_line(stdout, "# each fits into one %s", view->keys[suggestion->level]);
	printf("coordination:\n- name: segments\n  strategy:\n    segmentPlacement:\n      segmentSize:\n");
	for (size_t r = 0; r < spec->role_count; r++)
		if (ratio[r] > 0)
			output_line(stdout, "        %s: %lld", spec->roles[r].name,
			            (long long)ratio[r] * suggestion->multiple);
	printf("      progression: OrderedReady\n");
	if (suggestion->level == SUGGEST_NO_LEVEL)
		return;
	printf("      topologyAffinity:\n");
	output_line(stdout, "        topologyKey: %s", view->keys[suggestion->level]);
	printf("        strategy: PreferSegmentAffinity\n");
}

static bool suggest(const struct cluster_view *view, const struct manifest *manifest)
{
	struct problems problems = {.arena = view->arena};
	struct rbg_spec spec;
	bool fine = rbg_decode(manifest->object, view->arena, &spec, &problems) == 0;
	if (fine) {
		int64_t *desired = arena_array(view->arena, int64_t, spec.role_count);
		int64_t *ratio = arena_array(view->arena, int64_t, spec.role_count);
		struct suggest_level levels[MOST_LEVELS];
		for (size_t r = 0; r < spec.role_count; r++)
			desired[r] = spec.roles[r].replicas;
		int64_t times = suggest_ratio(desired, spec.role_count, ratio);
		struct demand demand = demand_of(view->arena, &spec, ratio);
		for (size_t l = 0; l < view->key_count; l++)
			levels[l] = measure_level(view, view->keys[l], &demand);
		struct suggestion suggestion = suggest_segments(times, levels, view->key_count);
		print_suggestion(view, &spec, ratio, &suggestion);
	}
	for (size_t i = 0; i < problems.count; i++)
		if (problems.items[i].severity == SEVERITY_ERROR)
			output_line(stderr, "%s: %s: %s", manifest->source, problems.items[i].path,
			            problems.items[i].message);
	rbg_release(&spec);
	return fine;
}

int cmd_suggest(struct cli_args *args)
{
	if (args->file_count == 0) {
		fprintf(stderr, "platoon suggest-segments: give at least one file, folder or - with -f\n"
		                "Run `platoon suggest-segments --help` for its options.\n");
		return CLI_USAGE;
	}
	struct manifests manifests;
	struct cluster_view view = {.arena = args->arena};
	size_t groups = 0, refused = 0;
	manifests_init(&manifests);
	int loaded = cli_load(args, args->files, args->file_count, args->recursive, &manifests);
	read_cluster(&view, &manifests);
	for (size_t i = 0; loaded == CLI_OK && i < manifests.count; i++)
		if (strcmp(manifests.items[i].kind, "RoleBasedGroup") == 0) {
			groups++;
			refused += !suggest(&view, &manifests.items[i]);
		}
	manifests_free(&manifests);
	if (loaded != CLI_OK)
		return loaded;
	if (groups == 0)
		fprintf(stderr, "platoon suggest-segments: there is no RoleBasedGroup among the objects\n");
	return groups == 0 ? CLI_USAGE : refused ? CLI_FOUND : CLI_OK;
}
