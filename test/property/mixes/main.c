/* Property test: gangs that need K of N children of two or three kinds, each child within one rack. The engine must decide
 * every one of them within its usual budget, and as the judge does. */
#include "instance.h"

#include "../random.h"
#include "../runner.h"

#include "engine/cluster/cluster.h"
#include "engine/place/place.h"

#include <stdio.h>
#include <string.h>

enum failure { FAILURE_NONE, FAILURE_CRASH, FAILURE_UNDECIDED, FAILURE_VERDICT, FAILURE_INVALID };

struct tally {
	uint64_t placed, impossible, unknown, most_steps;
};

static const char *failure_name(int failure)
{
	static const char *const names[] = {"none", "crash", "undecided", "wrong verdict", "invalid placement"};
	return names[failure];
}

static void generate_kind(struct random *random, struct mix_child *kind, int largest)
{
	kind->leaf_count = random_range(random, 1, MIX_LEAVES);
	for (int l = 0; l < kind->leaf_count; l++)
		kind->leaves[l] = (struct mix_leaf){.pods = random_range(random, 1, l ? 1 : 4),
		                                    .gpus = random_range(random, 1, largest)};
	kind->copies = random_range(random, 1, MIX_CHILDREN / MIX_MOST_KINDS);
}

static void generate(uint64_t seed, void *out)
{
	struct mix_instance *instance = out;
	struct random random = {.state = seed};
	int children = 0, alike = random_range(&random, 0, 2);
	*instance = (struct mix_instance){.racks = random_range(&random, 2, MIX_RACKS),
	                                  .nodes = random_range(&random, 2, MIX_NODES),
	                                  .kind_count = random_range(&random, 2, MIX_MOST_KINDS),
	                                  .zone = random_range(&random, 0, 1)};
	for (int r = 0; r < instance->racks; r++)
		for (int n = 0; n < instance->nodes; n++)
			instance->taken[r][n] = alike == 0 ? 0 : random_range(&random, 0, alike == 1 ? 1 : MIX_GPUS);
	for (int k = 0; k < instance->kind_count; k++) {
		generate_kind(&random, &instance->kinds[k], MIX_GPUS);
		children += instance->kinds[k].copies;
	}
	instance->need = random_range(&random, (children + 1) / 2, children);
	instance->forms = random_chance(&random, 40);
}

/* ---- the engine ---- */

struct built {
	struct arena *arena;
	struct cluster *cluster;
	struct gang gang;
};

static int pod_class(struct built *built, int gpus)
{
	struct resource_amount request = {"nvidia.com/gpu", gpus};
	return cluster_add_pod_class(built->cluster,
	                             &(struct pod_input){.namespace_ = "d", .requests = &request, .request_count = 1});
}

static void build_cluster(struct built *built, const struct mix_instance *instance)
{
	static const char *const levels[] = {"zone", "rack"};
	built->cluster = cluster_create();
	cluster_add_topology(built->cluster, "t", levels, 2);
	for (int r = 0; r < instance->racks; r++)
		for (int n = 0; n < instance->nodes; n++) {
			struct label labels[] = {{"rack", arena_printf(built->arena, "r%02d", r)}, {"zone", "z"}};
			struct resource_amount gpus = {"nvidia.com/gpu", MIX_GPUS - instance->taken[r][n]};
			cluster_add_node(built->cluster,
			                 &(struct cluster_node){.name = arena_printf(built->arena, "r%02d-n%d", r, n),
			                                        .labels = {labels, 2},
			                                        .allocatable = &gpus,
			                                        .allocatable_count = 1,
			                                        .ready = true});
		}
	cluster_seal(built->cluster);
}

static void add_pods(struct built *built, int pods, int gpus)
{
	struct gang *gang = &built->gang;
	for (int p = 0, class_ = pod_class(built, gpus); p < pods; p++)
		gang->pods[gang->pod_count++] = (struct gang_pod){.name = "pod",
		                                                  .pod_class = class_,
		                                                  .leaf = (int)gang->tree_count - 1,
		                                                  .node = -1,
		                                                  .nominated = -1};
}

/* What its minimum is counts children, or pods that are added next. */
static int add_tree(struct built *built, int parent, int children, int minimum, struct gang_level level)
{
	struct gang *gang = &built->gang;
	gang->tree[gang->tree_count] = (struct gang_node){.name = "part",
	                                                  .parent = parent,
	                                                  .child_count = children,
	                                                  .minimum = minimum,
	                                                  .required = level,
	                                                  .preferred = GANG_NO_LEVEL};
	return (int)gang->tree_count++;
}

static const struct gang_level in_one_rack = {.topology = 0, .level = 1};

static void add_child(struct built *built, const struct mix_child *kind)
{
	if (kind->leaf_count == 1) {
		add_tree(built, 0, 0, kind->leaves[0].pods, in_one_rack);
		add_pods(built, kind->leaves[0].pods, kind->leaves[0].gpus);
		return;
	}
	int child = add_tree(built, 0, kind->leaf_count, kind->leaf_count, in_one_rack);
	for (int l = 0; l < kind->leaf_count; l++) {
		add_tree(built, child, 0, kind->leaves[l].pods, GANG_NO_LEVEL);
		add_pods(built, kind->leaves[l].pods, kind->leaves[l].gpus);
	}
}

/* The same pods: those of two leaves in one, those of one leaf in two. */
static void add_other_form(struct built *built, const struct mix_child *kind)
{
	const struct mix_leaf *leaf = &kind->leaves[0];
	if (kind->leaf_count > 1) {
		add_tree(built, 0, 0, leaf->pods + kind->leaves[1].pods, in_one_rack);
		add_pods(built, leaf->pods, leaf->gpus);
		add_pods(built, kind->leaves[1].pods, kind->leaves[1].gpus);
		return;
	}
	int first = (leaf->pods + 1) / 2, second = leaf->pods - first;
	int child = add_tree(built, 0, second ? 2 : 1, second ? 2 : 1, in_one_rack);
	add_tree(built, child, 0, first, GANG_NO_LEVEL);
	add_pods(built, first, leaf->gpus);
	if (second) {
		add_tree(built, child, 0, second, GANG_NO_LEVEL);
		add_pods(built, second, leaf->gpus);
	}
}

static void build(struct built *built, const struct mix_instance *instance)
{
	enum { MOST_TREE = 1 + MIX_CHILDREN * (1 + MIX_LEAVES), MOST_PODS = MIX_CHILDREN * 5 };
	built->arena = arena_create();
	build_cluster(built, instance);
	built->gang = (struct gang){.namespace_ = "d", .name = "gang", .tree_count = 1};
	built->gang.tree = arena_array(built->arena, struct gang_node, MOST_TREE);
	built->gang.pods = arena_array(built->arena, struct gang_pod, MOST_PODS);
	int children = 0;
	for (int k = 0; k < instance->kind_count; k++)
		for (int c = 0; c < instance->kinds[k].copies; c++, children++)
			(instance->forms && c % 2 ? add_other_form : add_child)(built, &instance->kinds[k]);
	built->gang.tree[0] =
		(struct gang_node){.name = "",
	                           .parent = -1,
	                           .child_count = children,
	                           .minimum = instance->need,
	                           .required = {.topology = instance->zone ? 0 : -1, .level = instance->zone ? 0 : -1},
	                           .preferred = GANG_NO_LEVEL};
}

static void check(const void *given, struct result *result, void *sums)
{
	const struct mix_instance *instance = given;
	struct tally *tally = sums;
	struct built built;
	struct placement placement;
	build(&built, instance);
	enum place_outcome outcome =
		engine_place(built.cluster, &built.gang, &(struct place_options){0}, built.arena, &placement);
	static const char *const said[] = {"it fits", "it does not fit", "nothing"};
	enum mix_verdict verdict = mix_judge(instance);
	if (outcome == PLACE_EXHAUSTED) {
		result->failure = FAILURE_UNDECIDED;
		snprintf(result->text, sizeof(result->text), "the judge says: %s", said[verdict]);
	} else if (verdict != MIX_UNKNOWN && (outcome == PLACE_PLACED) != (verdict == MIX_FITS)) {
		result->failure = FAILURE_VERDICT;
		snprintf(result->text, sizeof(result->text), "outcome %d, the judge says: %s", (int)outcome,
		         said[verdict]);
	}
	if (outcome == PLACE_PLACED && !result->failure) {
		engine_commit(built.cluster, &built.gang, &placement);
		const char *wrong = engine_verify(built.cluster, &built.gang, built.arena);
		if (wrong || !gang_root_satisfied(&built.gang)) {
			result->failure = FAILURE_INVALID;
			snprintf(result->text, sizeof(result->text), "%s", wrong ? wrong : "below its minimum");
		}
	}
	tally->placed += outcome == PLACE_PLACED;
	tally->impossible += outcome == PLACE_IMPOSSIBLE;
	tally->unknown += verdict == MIX_UNKNOWN;
	tally->most_steps = placement.steps > tally->most_steps ? placement.steps : tally->most_steps;
	cluster_destroy(built.cluster);
	arena_destroy(built.arena);
}

/* ---- failures ---- */

static void shrink(void *given, bool (*still_fails)(const void *instance, void *context), void *context)
{
	struct mix_instance *instance = given, smaller;
	for (bool again = true; again;) {
		again = false;
		smaller = *instance;
		smaller.racks--;
		if (smaller.racks > 0 && still_fails(&smaller, context)) {
			*instance = smaller;
			again = true;
		}
		for (int k = 0; k < instance->kind_count; k++) {
			smaller = *instance;
			smaller.kinds[k].copies--;
			smaller.need--;
			if (smaller.kinds[k].copies > 0 && smaller.need > 0 && still_fails(&smaller, context)) {
				*instance = smaller;
				again = true;
			}
		}
	}
}

static void write_instance(const void *given, FILE *out)
{
	const struct mix_instance *instance = given;
	fprintf(out, "{\"need\": %d, \"zone\": %s, \"forms\": %s, \"kinds\": [", instance->need,
	        instance->zone ? "true" : "false", instance->forms ? "true" : "false");
	for (int k = 0; k < instance->kind_count; k++) {
		const struct mix_child *kind = &instance->kinds[k];
		fprintf(out, "%s{\"copies\": %d, \"pods x gpus\": [", k ? ", " : "", kind->copies);
		for (int l = 0; l < kind->leaf_count; l++)
			fprintf(out, "%s[%d, %d]", l ? ", " : "", kind->leaves[l].pods, kind->leaves[l].gpus);
		fprintf(out, "]}");
	}
	fprintf(out, "], \"free\": [");
	for (int r = 0; r < instance->racks; r++) {
		fprintf(out, "%s[", r ? ", " : "");
		for (int n = 0; n < instance->nodes; n++)
			fprintf(out, "%s%d", n ? ", " : "", MIX_GPUS - instance->taken[r][n]);
		fprintf(out, "]");
	}
	fprintf(out, "]}\n");
}

static void show_tally(const void *sums)
{
	const struct tally *tally = sums;
	printf("placed %llu, impossible %llu, at most %llu steps; judge gave up %llu\n",
	       (unsigned long long)tally->placed, (unsigned long long)tally->impossible,
	       (unsigned long long)tally->most_steps, (unsigned long long)tally->unknown);
}

int main(void)
{
	static const struct property property = {
		.name = "mixes",
		.count = 1000,
		.instance_size = sizeof(struct mix_instance),
		.tally_size = sizeof(struct tally),
		.crash = FAILURE_CRASH,
		.failure_name = failure_name,
		.generate = generate,
		.check = check,
		.shrink = shrink,
		.write = write_instance,
		.print_tally = show_tally,
	};
	return property_run(&property);
}
