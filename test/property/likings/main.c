/* Property test of what pods of gangs prefer: the sum that a gang gets is never lower than that of the same pods placed one by
 * one, nor than that of the gang when it prefers nothing. Where all placements can be tried, the best of them is reported. */
#include "instance.h"

#include "../random.h"
#include "../runner.h"

#include "engine/place/place.h"

#include <stdio.h>
#include <string.h>

enum failure { FAILURE_NONE, FAILURE_CRASH, FAILURE_BELOW_SINGLES, FAILURE_BELOW_PLAIN, FAILURE_WRONG };

struct tally {
	uint64_t placed, unplaced, singles, once_below, judged, best;
	int64_t missing, of; /* what was missed of the best, and the best, where it was missed */
};

static const char *const keys[LIKINGS_KEYS] = {"spine", "block", "kubernetes.io/hostname"};

static const char *failure_name(int failure)
{
	static const char *const names[] = {"none", "crash", "below single pods", "below the gang without preferences",
	                                    "invalid placement"};
	return names[failure];
}

/* ---- instances ---- */

static void generate_nodes(struct random *random, struct likings_instance *instance)
{
	int per_block = random_range(random, 1, 3), per_spine = random_range(random, 1, 3);
	int most = random_range(random, 1, 6);
	instance->nodes = random_range(random, 2, LIKINGS_NODES);
	for (int n = 0; n < instance->nodes; n++) {
		instance->capacity[n] = random_range(random, 0, most);
		instance->domain[n][LIKINGS_HOST] = n;
		instance->domain[n][LIKINGS_BLOCK] = n / per_block;
		instance->domain[n][LIKINGS_SPINE] = n / per_block / per_spine;
		instance->colour[n] = random_range(random, 0, 2);
		instance->tainted[n] = random_range(random, 0, 15) == 0;
		for (int a = 0; a < LIKINGS_KINDS; a++)
			instance->there[n][a] = random_range(random, 0, 4) ? 0 : random_range(random, 1, 2);
	}
}

static void generate_kind(struct random *random, struct likings_kind *kind)
{
	kind->size = random_range(random, 1, 2);
	kind->spread_key = random_range(random, 0, 4) ? -1 : random_range(random, 0, LIKINGS_KEYS - 1);
	if (random_range(random, 0, 2) == 0) {
		kind->colour = random_range(random, 0, 2);
		kind->colour_weight = random_range(random, 1, 100);
	}
	for (int w = 0; w < LIKINGS_WISHES; w++)
		if (random_range(random, 0, 1))
			kind->wishes[w] = (struct likings_wish){.key = random_range(random, 0, LIKINGS_KEYS - 1),
			                                        .app = random_range(random, 0, LIKINGS_KINDS - 1),
			                                        .weight = random_range(random, 1, 100) *
			                                                  (random_range(random, 0, 2) ? 1 : -1)};
}

static void generate(uint64_t seed, void *out)
{
	struct likings_instance *instance = out;
	struct random random = {.state = seed};
	*instance = (struct likings_instance){.level = -1};
	generate_nodes(&random, instance);
	for (int k = 0; k < LIKINGS_KINDS; k++)
		generate_kind(&random, &instance->kinds[k]);
	instance->pods = random_range(&random, 2, LIKINGS_PODS);
	bool mixed = random_range(&random, 0, 1);
	for (int p = 0; p < instance->pods; p++)
		instance->kind[p] = mixed ? random_range(&random, 0, LIKINGS_KINDS - 1) : 0;
	if (random_range(&random, 0, 2) == 0)
		instance->level = random_range(&random, LIKINGS_SPINE, LIKINGS_BLOCK);
}

/* ---- the engine ---- */

struct built {
	struct arena *arena;
	struct cluster *cluster;
	int engine_node[LIKINGS_NODES], class_[LIKINGS_KINDS];
};

static struct selector select_app(struct built *built, int app)
{
	struct match *match = arena_new(built->arena, struct match);
	match->key = "app";
	match->op = MATCH_IN;
	match->values = arena_array(built->arena, const char *, 1);
	match->values[0] = arena_printf(built->arena, "a%d", app);
	match->value_count = 1;
	return (struct selector){match, 1};
}

static struct pod_rules *make_rules(struct built *built, const struct likings_kind *kind, int number)
{
	struct pod_rules *rules = arena_new(built->arena, struct pod_rules);
	rules->preferred_affinity = arena_array(built->arena, struct pod_term, LIKINGS_WISHES);
	rules->preferred_anti_affinity = arena_array(built->arena, struct pod_term, LIKINGS_WISHES);
	for (int w = 0; w < LIKINGS_WISHES; w++) {
		const struct likings_wish *wish = &kind->wishes[w];
		struct pod_term term = {.selector = select_app(built, wish->app), .topology_key = keys[wish->key]};
		term.weight = wish->weight < 0 ? -wish->weight : wish->weight;
		if (wish->weight > 0)
			rules->preferred_affinity[rules->preferred_affinity_count++] = term;
		if (wish->weight < 0)
			rules->preferred_anti_affinity[rules->preferred_anti_affinity_count++] = term;
	}
	if (kind->colour_weight) {
		struct match *match = arena_new(built->arena, struct match);
		match->key = "colour";
		match->op = MATCH_IN;
		match->values = arena_array(built->arena, const char *, 1);
		match->values[0] = arena_printf(built->arena, "c%d", kind->colour);
		match->value_count = 1;
		rules->preferred_nodes = arena_new(built->arena, struct node_term);
		*rules->preferred_nodes = (struct node_term){.selector = {match, 1}, .weight = kind->colour_weight};
		rules->preferred_node_count = 1;
	}
	if (kind->spread_key >= 0) {
		rules->spread = arena_new(built->arena, struct spread_term);
		*rules->spread = (struct spread_term){.selector = select_app(built, number),
		                                      .topology_key = keys[kind->spread_key],
		                                      .max_skew = 1};
		rules->spread_count = 1;
	}
	return rules;
}

static int add_class(struct built *built, int app, int size, const struct pod_rules *rules)
{
	struct label label = {"app", arena_printf(built->arena, "a%d", app)};
	struct resource_amount request = {"nvidia.com/gpu", size};
	return cluster_add_pod_class(built->cluster, &(struct pod_input){.namespace_ = "d",
	                                                                 .labels = {&label, 1},
	                                                                 .requests = &request,
	                                                                 .request_count = size > 0,
	                                                                 .rules = rules});
}

static void add_nodes(struct built *built, const struct likings_instance *instance)
{
	static const char *const levels[] = {"spine", "block"};
	static struct taint taint = {.key = "slow", .value = "", .effect = TAINT_PREFER_NO_SCHEDULE};
	cluster_add_topology(built->cluster, "t", levels, 2);
	for (int n = 0; n < instance->nodes; n++) {
		struct label labels[] = {{"block",
		                          arena_printf(built->arena, "b%d", instance->domain[n][LIKINGS_BLOCK])},
		                         {"colour", arena_printf(built->arena, "c%d", instance->colour[n])},
		                         {"kubernetes.io/hostname", arena_printf(built->arena, "n%d", n)},
		                         {"spine",
		                          arena_printf(built->arena, "s%d", instance->domain[n][LIKINGS_SPINE])}};
		struct resource_amount gpus = {"nvidia.com/gpu", instance->capacity[n]};
		cluster_add_node(built->cluster, &(struct cluster_node){.name = arena_printf(built->arena, "n%d", n),
		                                                        .labels = {labels, 4},
		                                                        .taints = &taint,
		                                                        .taint_count = instance->tainted[n],
		                                                        .allocatable = &gpus,
		                                                        .allocatable_count = 1,
		                                                        .ready = true});
	}
	cluster_seal(built->cluster);
}

static void build(struct built *built, const struct likings_instance *instance, bool preferring)
{
	*built = (struct built){.arena = arena_create(), .cluster = cluster_create()};
	add_nodes(built, instance);
	for (int n = 0; n < instance->nodes; n++)
		built->engine_node[n] = cluster_find_node(built->cluster, arena_printf(built->arena, "n%d", n));
	for (int k = 0; k < LIKINGS_KINDS; k++) {
		const struct likings_kind *kind = &instance->kinds[k];
		built->class_[k] = add_class(built, k, kind->size, preferring ? make_rules(built, kind, k) : NULL);
		int idle = add_class(built, k, 0, NULL);
		for (int n = 0; n < instance->nodes; n++)
			for (int i = 0; i < instance->there[n][k]; i++)
				cluster_occupy(built->cluster, idle, built->engine_node[n], OCCUPY_RUNNING);
	}
}

static void built_end(struct built *built)
{
	cluster_destroy(built->cluster);
	arena_destroy(built->arena);
}

/* Places the pods from `first` on as one gang; false when they find no place. */
static bool place(struct built *built, const struct likings_instance *instance, int first, int count, int level,
                  int *node)
{
	struct gang_node tree = {
		.name = "", .parent = -1, .minimum = count, .required = GANG_NO_LEVEL, .preferred = GANG_NO_LEVEL};
	struct gang_pod pods[LIKINGS_PODS];
	struct gang gang = {.namespace_ = "d",
	                    .name = "g",
	                    .tree = &tree,
	                    .tree_count = 1,
	                    .pods = pods,
	                    .pod_count = (size_t)count};
	struct placement placement;
	if (level >= 0)
		tree.required = (struct gang_level){0, level};
	for (int p = 0; p < count; p++)
		pods[p] = (struct gang_pod){.name = arena_printf(built->arena, "p%d", first + p),
		                            .pod_class = built->class_[instance->kind[first + p]],
		                            .node = -1,
		                            .nominated = -1};
	if (engine_place(built->cluster, &gang, NULL, built->arena, &placement) != PLACE_PLACED)
		return false;
	engine_commit(built->cluster, &gang, &placement);
	for (int p = 0; p < count; p++)
		for (int n = 0; n < instance->nodes; n++)
			if (built->engine_node[n] == pods[p].node)
				node[first + p] = n;
	return engine_verify_placement(built->cluster, &gang, &placement, built->arena) == NULL;
}

static bool place_gang(const struct likings_instance *instance, bool preferring, int *node)
{
	struct built built;
	build(&built, instance, preferring);
	bool placed = place(&built, instance, 0, instance->pods, instance->level, node);
	built_end(&built);
	return placed;
}

static bool place_singles(const struct likings_instance *instance, int *node)
{
	struct built built;
	build(&built, instance, true);
	bool placed = true;
	for (int p = 0; p < instance->pods && placed; p++)
		placed = place(&built, instance, p, 1, -1, node);
	built_end(&built);
	return placed;
}

/* ---- the comparison ---- */

static void compare(const struct likings_instance *instance, const int *node, int failure, const int *other,
                    struct result *result, uint64_t *once_below)
{
	int64_t each = likings_sum(instance, node), other_each = likings_sum(instance, other);
	int64_t once = likings_sum_once(instance, node), other_once = likings_sum_once(instance, other);
	/* Without preferences, pods that differ in nothing else are alike, and the search is another: that is not compared. What is
	 * better for terms that count every pod only, and not for those that count once, may be refused. */
	for (int p = 1; p < instance->pods && failure == FAILURE_BELOW_PLAIN; p++)
		if (instance->kind[p] != instance->kind[0])
			return;
	bool below = each < other_each && (failure == FAILURE_BELOW_SINGLES || once <= other_once);
	*once_below += once < other_once;
	if (!below || result->failure)
		return;
	result->failure = failure;
	snprintf(result->text, sizeof(result->text),
	         "the sum is %lld, %lld with terms that count once; the other %lld, %lld", (long long)each,
	         (long long)once, (long long)other_each, (long long)other_once);
}

static void check(const void *given, struct result *result, void *sums)
{
	const struct likings_instance *instance = given;
	struct tally *tally = sums;
	int node[LIKINGS_PODS], other[LIKINGS_PODS];
	int64_t best;
	uint64_t ignored = 0;
	bool plain = place_gang(instance, false, other), placed = place_gang(instance, true, node);
	if (plain != placed) {
		result->failure = FAILURE_WRONG;
		snprintf(result->text, sizeof(result->text), "placed with preferences %d, without %d", placed, plain);
	}
	tally->placed += placed;
	tally->unplaced += !placed;
	if (!placed || result->failure)
		return;
	compare(instance, node, FAILURE_BELOW_PLAIN, other, result, &ignored);
	if (instance->level < 0 && place_singles(instance, other)) {
		tally->singles++;
		compare(instance, node, FAILURE_BELOW_SINGLES, other, result, &tally->once_below);
	}
	if (!likings_judge(instance, &best))
		return;
	int64_t sum = likings_sum(instance, node);
	tally->judged++;
	tally->best += sum == best;
	tally->missing += best - sum;
	tally->of += sum == best ? 0 : best < 0 ? -best : best;
	if (sum > best) {
		result->failure = FAILURE_WRONG;
		snprintf(result->text, sizeof(result->text), "better than the best of all placements");
	}
}

/* ---- failures ---- */

static void shrink(void *given, bool (*still_fails)(const void *instance, void *context), void *context)
{
	struct likings_instance *instance = given, smaller;
	for (int k = 0; k < LIKINGS_KINDS; k++)
		for (int w = 0; w < LIKINGS_WISHES; w++) {
			smaller = *instance;
			smaller.kinds[k].wishes[w].weight = 0;
			if (still_fails(&smaller, context))
				*instance = smaller;
		}
	while (instance->pods > 2) {
		smaller = *instance;
		smaller.pods--;
		if (!still_fails(&smaller, context))
			break;
		*instance = smaller;
	}
}

static void write_instance(const void *given, FILE *out)
{
	const struct likings_instance *instance = given;
	fprintf(out, "{\"level\": %d, \"nodes\": [", instance->level);
	for (int n = 0; n < instance->nodes; n++)
		fprintf(out,
		        "%s{\"gpus\": %d, \"spine\": %d, \"block\": %d, \"colour\": %d, \"tainted\": %s, \"there\": "
		        "[%d, %d]}",
		        n ? ", " : "", instance->capacity[n], instance->domain[n][LIKINGS_SPINE],
		        instance->domain[n][LIKINGS_BLOCK], instance->colour[n],
		        instance->tainted[n] ? "true" : "false", instance->there[n][0], instance->there[n][1]);
	fprintf(out, "], \"kinds\": [");
	for (int k = 0; k < LIKINGS_KINDS; k++) {
		const struct likings_kind *kind = &instance->kinds[k];
		fprintf(out, "%s{\"gpus\": %d, \"colour\": %d, \"weight\": %d, \"spread\": %d, \"wishes\": [",
		        k ? ", " : "", kind->size, kind->colour, kind->colour_weight, kind->spread_key);
		for (int w = 0; w < LIKINGS_WISHES; w++)
			fprintf(out, "%s{\"key\": \"%s\", \"app\": %d, \"weight\": %d}", w ? ", " : "",
			        keys[kind->wishes[w].key], kind->wishes[w].app, kind->wishes[w].weight);
		fprintf(out, "]}");
	}
	fprintf(out, "], \"pods\": [");
	for (int p = 0; p < instance->pods; p++)
		fprintf(out, "%s%d", p ? ", " : "", instance->kind[p]);
	fprintf(out, "]}\n");
}

static void show_tally(const void *sums)
{
	const struct tally *tally = sums;
	printf("placed %llu, not %llu; compared with single pods %llu (%llu below where terms count once); "
	       "the best of all placements in %llu of %llu, otherwise "
	       " %lld of %lld missing\n",
	       (unsigned long long)tally->placed, (unsigned long long)tally->unplaced,
	       (unsigned long long)tally->singles, (unsigned long long)tally->once_below,
	       (unsigned long long)tally->best, (unsigned long long)tally->judged, (long long)tally->missing,
	       (long long)tally->of);
}

int main(void)
{
	static const struct property property = {
		.name = "likings",
		.count = 2000,
		.instance_size = sizeof(struct likings_instance),
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
