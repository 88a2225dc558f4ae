/* Owns the command `suggest-segments`: a segment size for RoleBasedGroups from the ratio of their roles and the shape of
 * the cluster. */
#include "cli/cli.h"
#include "cli/output.h"

#include "admit/clustertopology.h"
#include "admit/pod.h"
#include "admit/rbg.h"
#include "admit/topology.h"
#include "base/strings.h"
#include "rollout/suggest.h"

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

/* What the ratio asks for once, by resource and by kind of pod. */
struct demand {
	struct resource_amount *items;
	size_t count;
	struct {
		struct pod_spec pod;
		int64_t times;
	} * kinds;
	size_t kind_count;
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
	size_t kinds = 0;
	for (size_t r = 0; r < spec->role_count; r++)
		kinds += spec->roles[r].component_count;
	demand.kinds = arena_alloc(arena, kinds * sizeof(*demand.kinds));
	for (size_t r = 0; r < spec->role_count; r++)
		for (size_t c = 0; c < spec->roles[r].component_count; c++) {
			const struct rbg_component *component = &spec->roles[r].components[c];
			struct problems ignored = {.arena = arena};
			struct pod_spec pod = {0};
			/* Of a template without a name only the requests matter. */
			pod_decode(component->template, arena, &pod, &ignored);
			demand.kinds[demand.kind_count].pod = pod;
			demand.kinds[demand.kind_count++].times = ratio[r] * component->size;
			for (size_t i = 0; i < pod.request_count && demand.count < MOST; i++)
				add_demand(&demand, &pod.requests[i], ratio[r] * component->size);
		}
	return demand;
}

/* How many pods of a shape the node holds on its own. */
static int64_t slots_of(const struct node_spec *node, const struct pod_spec *pod)
{
	int64_t slots = INT32_MAX;
	for (size_t i = 0; i < pod->request_count; i++) {
		int64_t has = amount_of(node->allocatable, node->allocatable_count, pod->requests[i].name);
		if (pod->requests[i].amount > 0 && has / pod->requests[i].amount < slots)
			slots = has / pod->requests[i].amount;
	}
	return slots;
}

/* How many times the ratio fits into each domain of a level: by the sum of what its nodes have, and for each kind of pod by
 * how many of them the single nodes hold. */
static struct suggest_level measure_level(const struct cluster_view *view, const char *key, const struct demand *demand)
{
	struct interner *domains = interner_create();
	int64_t *units = arena_array(view->arena, int64_t, view->node_count);
	size_t width = demand->count + demand->kind_count;
	int64_t *sums = arena_array(view->arena, int64_t, view->node_count * width + 1);
	for (size_t n = 0; n < view->node_count; n++) {
		const struct node_spec *node = &view->nodes[n];
		const char *value = strcmp(key, HOSTNAME) == 0 ? node->name : labels_get(&node->labels, key);
		if (!value)
			continue;
		int64_t *sum = &sums[interner_id(domains, value) * width];
		for (size_t i = 0; i < demand->count; i++)
			sum[i] += amount_of(node->allocatable, node->allocatable_count, demand->items[i].name);
		for (size_t i = 0; i < demand->kind_count; i++)
			sum[demand->count + i] += slots_of(node, &demand->kinds[i].pod);
	}
	size_t count = interner_count(domains);
	for (size_t d = 0; d < count; d++) {
		units[d] = INT32_MAX;
		for (size_t i = 0; i < width; i++) {
			int64_t need =
				i < demand->count ? demand->items[i].amount : demand->kinds[i - demand->count].times;
			if (need > 0 && sums[d * width + i] / need < units[d])
				units[d] = sums[d * width + i] / need;
		}
	}
	interner_destroy(domains);
	return (struct suggest_level){units, count};
}

/* ---- what is printed ---- */

struct answer {
	const struct rbg_spec *spec;
	int64_t *ratio; /* by role */
	bool is_exact;
	struct suggestion suggestion;
	int64_t pods; /* of one segment */
	const char *note;
};

static const char *note_of(const struct cluster_view *view, const struct answer *answer)
{
	const char *where;
	if (answer->suggestion.segments == 0)
		return "no role wants replicas";
	if (view->node_count == 0)
		where = "no nodes were given, so only the ratio of the roles counts";
	else if (answer->suggestion.level == SUGGEST_NO_LEVEL)
		where = "no level of the cluster has domains that hold all of them";
	else
		where = arena_printf(view->arena, "each fits into one %s", view->keys[answer->suggestion.level]);
	return answer->is_exact
	               ? where
	               : arena_printf(view->arena,
	                              "%s; the replicas have no common divisor, so the last segment is smaller", where);
}

static struct node *make_coordination(const struct cluster_view *view, const struct answer *answer, struct build *build)
{
	struct node *list = build_list(build), *one = build_map(build), *strategy = build_map(build),
		    *placement = build_map(build), *sizes = build_map(build);
	for (size_t r = 0; r < answer->spec->role_count; r++)
		if (answer->ratio[r] > 0)
			build_put_int(build, sizes, answer->spec->roles[r].name,
			              answer->ratio[r] * answer->suggestion.multiple);
	build_put(build, placement, "segmentSize", sizes);
	build_put_string(build, placement, "progression", "OrderedReady");
	if (answer->suggestion.level != SUGGEST_NO_LEVEL) {
		struct node *affinity = build_map(build);
		build_put_string(build, affinity, "topologyKey", view->keys[answer->suggestion.level]);
		build_put_string(build, affinity, "strategy", "PreferSegmentAffinity");
		build_put(build, placement, "topologyAffinity", affinity);
	}
	build_put(build, strategy, "segmentPlacement", placement);
	build_put_string(build, one, "name", "segments");
	build_put(build, one, "strategy", strategy);
	build_append(build, list, one);
	return list;
}

/* A fragment to paste below spec, with what it is about in comments. */
static void print_yaml(const struct cluster_view *view, const struct answer *answer)
{
	struct build *build = build_create();
	struct node *root = build_map(build);
	output_line(stdout, "# %s/%s: %lld segments of %lld pods", answer->spec->namespace_, answer->spec->name,
	            (long long)answer->suggestion.segments, (long long)answer->pods);
	output_line(stdout, "# %s", answer->note);
	build_put(build, root, "coordination", make_coordination(view, answer, build));
	output_document(build, root, true, stdout);
	build_destroy(build);
}

static void add_json(const struct cluster_view *view, const struct answer *answer, struct build *build,
                     struct node *list)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "namespace", answer->spec->namespace_);
	build_put_string(build, item, "name", answer->spec->name);
	build_put_int(build, item, "segments", answer->suggestion.segments);
	build_put_int(build, item, "podsPerSegment", answer->pods);
	if (answer->suggestion.level != SUGGEST_NO_LEVEL)
		build_put_string(build, item, "topologyKey", view->keys[answer->suggestion.level]);
	build_put_string(build, item, "note", answer->note);
	build_put(build, item, "coordination", make_coordination(view, answer, build));
	build_append(build, list, item);
}

static void add_row(const struct cluster_view *view, const struct answer *answer, struct table *table)
{
	struct buffer sizes = {0};
	for (size_t r = 0; r < answer->spec->role_count; r++)
		if (answer->ratio[r] > 0)
			buffer_printf(&sizes, "%s%s=%lld", sizes.length ? " " : "", answer->spec->roles[r].name,
			              (long long)answer->ratio[r] * answer->suggestion.multiple);
	struct table_row row = {
		.cells = {
			arena_printf(view->arena, "%s/%s", answer->spec->namespace_, answer->spec->name),
			arena_printf(view->arena, "%lld", (long long)answer->suggestion.segments),
			arena_printf(view->arena, "%lld", (long long)answer->pods),
			arena_strdup(view->arena, sizes.length ? sizes.text : "-"),
			answer->note,
		}};
	table_add(table, &row);
	buffer_free(&sizes);
}

/* Where answers go, by format. */
struct sheet {
	enum cli_output output;
	struct table table;
	struct build *build;
	struct node *list;
};

static bool suggest(const struct cluster_view *view, const struct manifest *manifest, struct sheet *sheet)
{
	struct problems problems = {.arena = view->arena};
	struct rbg_spec spec;
	bool fine = rbg_decode(manifest->object, view->arena, &spec, &problems) == 0;
	if (fine) {
		int64_t *desired = arena_array(view->arena, int64_t, spec.role_count);
		struct answer answer = {.spec = &spec, .ratio = arena_array(view->arena, int64_t, spec.role_count)};
		struct suggest_level levels[MOST_LEVELS];
		for (size_t r = 0; r < spec.role_count; r++)
			desired[r] = spec.roles[r].replicas;
		int64_t times = suggest_ratio(desired, spec.role_count, answer.ratio);
		answer.is_exact = times != 1;
		if (!answer.is_exact)
			times = suggest_near(desired, spec.role_count, answer.ratio);
		struct demand demand = demand_of(view->arena, &spec, answer.ratio);
		for (size_t l = 0; l < view->key_count; l++)
			levels[l] = measure_level(view, view->keys[l], &demand);
		answer.suggestion = suggest_segments(times, answer.is_exact, levels, view->key_count);
		for (size_t r = 0; r < spec.role_count; r++)
			answer.pods += answer.ratio[r] * answer.suggestion.multiple * spec.roles[r].pods;
		answer.note = note_of(view, &answer);
		if (sheet->output == CLI_OUTPUT_YAML)
			print_yaml(view, &answer);
		else if (sheet->output == CLI_OUTPUT_JSON)
			add_json(view, &answer, sheet->build, sheet->list);
		else
			add_row(view, &answer, &sheet->table);
	}
	for (size_t i = 0; i < problems.count; i++)
		if (problems.items[i].severity == SEVERITY_ERROR)
			output_line(stderr, "%s: %s: %s%s%s", manifest->source, problems.items[i].path,
			            problems.items[i].message, problems.items[i].fix ? "; " : "",
			            problems.items[i].fix ? problems.items[i].fix : "");
	rbg_release(&spec);
	return fine;
}

static void print_sheet(struct sheet *sheet)
{
	if (sheet->output == CLI_OUTPUT_JSON)
		output_document(sheet->build, sheet->list, false, stdout);
	else if (sheet->output == CLI_OUTPUT_TABLE && sheet->table.count > 1) {
		table_print(&sheet->table, stdout, output_wants_colour(stdout));
		printf("-o yaml prints the coordinations\n");
	}
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
	struct sheet sheet = {.output = args->output,
	                      .table = {.arena = args->arena, .columns = 5},
	                      .build = build_create()};
	struct table_row head = {.cells = {"GROUP", "SEGMENTS", "PODS EACH", "SIZES", "NOTE"}};
	size_t groups = 0, refused = 0;
	sheet.list = build_list(sheet.build);
	table_add(&sheet.table, &head);
	manifests_init(&manifests);
	int loaded = cli_load(args, args->files, args->file_count, args->recursive, &manifests);
	read_cluster(&view, &manifests);
	for (size_t i = 0; loaded == CLI_OK && i < manifests.count; i++)
		if (strcmp(manifests.items[i].kind, "RoleBasedGroup") == 0) {
			groups++;
			refused += !suggest(&view, &manifests.items[i], &sheet);
		}
	if (groups > refused)
		print_sheet(&sheet);
	build_destroy(sheet.build);
	manifests_free(&manifests);
	if (loaded != CLI_OK)
		return loaded;
	if (groups == 0)
		fprintf(stderr, "platoon suggest-segments: there is no RoleBasedGroup among the objects\n");
	return groups == 0 ? CLI_USAGE : refused ? CLI_FOUND : CLI_OK;
}
