/* Property test of advice: random refusals. Every change that is told lets the gang in, in the eyes of the exhaustive solver; no
 * smaller change of its kind does, of all there are; and of a kind of which none is told, not even the largest helps. */
#include "../build.h"
#include "../generate.h"
#include "../oracle.h"
#include "../print.h"
#include "../runner.h"
#include "../shrink.h"

#include "engine/explain/advice.h"

#include <stdio.h>
#include <string.h>

enum failure { FAILURE_NONE, FAILURE_CRASH, FAILURE_USELESS, FAILURE_LARGER, FAILURE_MISSED, FAILURE_CHANGED };

#define LIMIT 200000 /* steps of the solver for one question */
#define TRIALS 2000  /* enough for all smaller changes of instances of this size */

struct tally {
	uint64_t refusals, told[ADVICE_KINDS], none, compared, undecided;
};

struct trial {
	const struct instance *instance;
	struct built built;
	int tree_from_engine[INSTANCE_TREE];
	struct result *result;
	struct tally *tally;
};

static const char *failure_name(int failure)
{
	static const char *const names[] = {
		[FAILURE_NONE] = "none",           [FAILURE_CRASH] = "crash",   [FAILURE_USELESS] = "does not help",
		[FAILURE_LARGER] = "not smallest", [FAILURE_MISSED] = "missed", [FAILURE_CHANGED] = "cluster changed",
	};
	return names[failure];
}

static void fail(struct trial *trial, enum failure failure, const char *text)
{
	if (trial->result->failure)
		return;
	trial->result->failure = (int)failure;
	snprintf(trial->result->text, sizeof(trial->result->text), "%s", text);
}

static enum oracle_answer ask(struct trial *trial, const struct instance *instance)
{
	static struct oracle oracle;
	enum oracle_answer answer = oracle_solve(&oracle, instance, 0, LIMIT);
	trial->tally->compared++;
	trial->tally->undecided += answer == ORACLE_UNKNOWN;
	return answer;
}

/* ---- changes as counts per part: nodes, tree nodes, or one part in all ---- */

static void end_others(struct instance *instance, int node)
{
	int kept = 0;
	for (int i = 0; i < instance->other_count; i++)
		if (instance->others[i].node != node)
			instance->others[kept++] = instance->others[i];
	instance->other_count = kept;
}

static int parts_of(const struct instance *instance, enum advice_kind kind)
{
	return kind == ADVICE_TOLERATE ? 1 : kind == ADVICE_LEVELS ? instance->tree_count : instance->node_count;
}

/* How often a part can be changed, and the change itself. */
static int most_of(const struct instance *instance, enum advice_kind kind, int part)
{
	return kind == ADVICE_LEVELS
	               ? instance->tree[part].required.topology < 0 ? 0 : instance->tree[part].required.level + 1
	               : 1;
}

static void apply(struct instance *instance, enum advice_kind kind, int part, int count)
{
	struct w_level *level = &instance->tree[part].required;
	if (!count)
		return;
	if (kind == ADVICE_ROOM)
		end_others(instance, part);
	else if (kind == ADVICE_UNCORDON)
		instance->nodes[part].unschedulable = false;
	else if (kind == ADVICE_READY)
		instance->nodes[part].not_ready = false;
	else if (kind == ADVICE_TOLERATE)
		for (int i = 0; i < instance->pod_class_count; i++)
			instance->pod_classes[i].tolerates = true;
	else if (level->level < count)
		*level = W_NO_LEVEL;
	else
		level->level -= count;
}

static enum oracle_answer ask_with(struct trial *trial, enum advice_kind kind, const int *counts)
{
	struct instance changed = *trial->instance;
	for (int i = 0; i < parts_of(trial->instance, kind); i++)
		apply(&changed, kind, i, counts[i]);
	return ask(trial, &changed);
}

/* Whether some change of `sum` parts, from `first` on, helps. */
static bool helps_with(struct trial *trial, enum advice_kind kind, int *counts, int first, int sum)
{
	if (sum == 0)
		return ask_with(trial, kind, counts) == ORACLE_YES;
	for (int i = first; i < parts_of(trial->instance, kind); i++) {
		int most = most_of(trial->instance, kind, i);
		for (int take = most < sum ? most : sum; take > 0; take--) {
			counts[i] = take;
			if (helps_with(trial, kind, counts, i + 1, sum - take))
				return true;
		}
		counts[i] = 0;
	}
	return false;
}

static int part_of(const struct trial *trial, const struct advice *advice, size_t i)
{
	return advice->kind == ADVICE_TOLERATE ? 0
	       : advice->kind == ADVICE_LEVELS ? trial->tree_from_engine[advice->items[i]]
	                                       : trial->built.from_engine[advice->items[i]];
}

static void check_parts(struct trial *trial, const struct advice *advice)
{
	int counts[INSTANCE_TREE] = {0}, none[INSTANCE_TREE] = {0}, sum = 0;
	for (size_t i = 0; i < advice->count; i++)
		sum += counts[part_of(trial, advice, i)] = advice->steps[i];
	if (ask_with(trial, advice->kind, counts) == ORACLE_NO)
		fail(trial, FAILURE_USELESS, advice_kind_name(advice->kind));
	if (instance_has_orderless_rules(trial->instance)) /* less may help more */
		return;
	for (int less = 1; less < sum; less++)
		if (helps_with(trial, advice->kind, none, 0, less))
			fail(trial, FAILURE_LARGER, advice_kind_name(advice->kind));
}

/* ---- minimums and nodes ---- */

static int64_t pods_with(const struct trial *trial, int engine_node, int minimum)
{
	struct gang gang = trial->built.gang;
	struct gang_node tree[INSTANCE_TREE];
	memcpy(tree, gang.tree, gang.tree_count * sizeof(*tree));
	tree[engine_node].minimum = minimum;
	gang.tree = tree;
	return gang_minimum_pods(&gang, 0);
}

static enum oracle_answer ask_minimum(struct trial *trial, int node, int minimum)
{
	struct instance changed = *trial->instance;
	changed.tree[node].minimum = minimum;
	return ask(trial, &changed);
}

/* No part has a minimum that may be lowered for fewer pods than `pods` less; -1: for any. */
static void check_other_minimums(struct trial *trial, int64_t pods)
{
	for (int node = 0; node < trial->instance->tree_count; node++)
		for (int minimum = trial->instance->tree[node].minimum - 1; minimum > 0; minimum--) {
			int64_t left = pods_with(trial, trial->built.tree_to_engine[node], minimum);
			if (left > pods && ask_minimum(trial, node, minimum) == ORACLE_YES)
				fail(trial, pods < 0 ? FAILURE_MISSED : FAILURE_LARGER, "minimum");
		}
}

static void check_minimum(struct trial *trial, const struct advice *advice)
{
	int node = trial->tree_from_engine[advice->items[0]];
	if (ask_minimum(trial, node, advice->amount) == ORACLE_NO)
		fail(trial, FAILURE_USELESS, "minimum");
	if (instance_has_orderless_rules(trial->instance))
		return;
	if (ask_minimum(trial, node, advice->amount + 1) == ORACLE_YES)
		fail(trial, FAILURE_LARGER, "minimum");
	check_other_minimums(trial, pods_with(trial, advice->items[0], advice->amount));
}

static enum oracle_answer ask_more(struct trial *trial, int pattern, int count)
{
	struct instance changed = *trial->instance;
	for (int i = 0; i < count; i++) {
		changed.nodes[changed.node_count] = changed.nodes[pattern];
		changed.nodes[changed.node_count].label[KEY_HOST] = changed.node_count;
		changed.node_count++;
	}
	return ask(trial, &changed);
}

static void check_more(struct trial *trial, const struct advice *advice)
{
	int pattern = trial->built.from_engine[advice->items[0]];
	if (trial->instance->node_count + advice->amount > INSTANCE_NODES)
		return;
	if (ask_more(trial, pattern, advice->amount) == ORACLE_NO)
		fail(trial, FAILURE_USELESS, "more nodes");
	if (advice->amount > 1 && ask_more(trial, pattern, advice->amount - 1) == ORACLE_YES)
		fail(trial, FAILURE_LARGER, "more nodes");
}

/* ---- one refusal ---- */

/* Of a kind that is not told, even all of it does not help. Rules between pods keep room and nodes from being tried. */
static void check_missing(struct trial *trial, enum advice_kind kind)
{
	int counts[INSTANCE_TREE];
	if (kind == ADVICE_MORE_NODES || (kind == ADVICE_ROOM && instance_has_interactions(trial->instance)) ||
	    instance_has_orderless_rules(trial->instance))
		return;
	if (kind == ADVICE_MINIMUM) {
		check_other_minimums(trial, -1);
		return;
	}
	for (int i = 0; i < parts_of(trial->instance, kind); i++)
		counts[i] = most_of(trial->instance, kind, i);
	if (ask_with(trial, kind, counts) == ORACLE_YES)
		fail(trial, FAILURE_MISSED, advice_kind_name(kind));
}

static void check_refusal(struct trial *trial, const struct place_options *options)
{
	const struct advice_hint nowhere = {-1, -1, -1};
	struct advices advices;
	struct placement again;
	bool told[ADVICE_KINDS] = {false};
	trial->tally->refusals++;
	engine_advise(trial->built.cluster, &trial->built.gang, options->use_releasing, nowhere, TRIALS,
	              trial->built.arena, &advices);
	trial->tally->none += advices.count == 0;
	for (size_t i = 0; i < advices.count; i++) {
		const struct advice *advice = &advices.items[i];
		trial->tally->told[advice->kind]++;
		told[advice->kind] = true;
		if (advice->kind == ADVICE_MINIMUM)
			check_minimum(trial, advice);
		else if (advice->kind == ADVICE_MORE_NODES)
			check_more(trial, advice);
		else
			check_parts(trial, advice);
	}
	for (int kind = 0; kind < ADVICE_KINDS && advices.complete; kind++)
		if (!told[kind])
			check_missing(trial, (enum advice_kind)kind);
	if (engine_place(trial->built.cluster, &trial->built.gang, options, trial->built.arena, &again) !=
	    PLACE_IMPOSSIBLE)
		fail(trial, FAILURE_CHANGED, "another answer after looking for advice");
}

static void check(const void *given, struct result *result, void *tally)
{
	struct trial trial = {.instance = given, .result = result, .tally = tally};
	struct placement placement;
	built_create(&trial.built, trial.instance);
	for (int i = 0; i < trial.instance->tree_count; i++)
		trial.tree_from_engine[trial.built.tree_to_engine[i]] = i;
	struct place_options options = {.use_releasing = trial.instance->use_releasing};
	if (engine_place(trial.built.cluster, &trial.built.gang, &options, trial.built.arena, &placement) ==
	    PLACE_IMPOSSIBLE)
		check_refusal(&trial, &options);
	built_destroy(&trial.built);
}

/* ---- what the runner wants ---- */

static void generate(uint64_t seed, void *instance)
{
	generate_instance(seed, instance);
}

struct question {
	bool (*still_fails)(const void *instance, void *context);
	void *context;
};

static bool ask_runner(const struct instance *instance, void *context)
{
	const struct question *question = context;
	return question->still_fails(instance, question->context);
}

static void shrink(void *instance, bool (*still_fails)(const void *instance, void *context), void *context)
{
	struct question question = {still_fails, context};
	shrink_instance(instance, ask_runner, &question);
}

static void write_instance(const void *instance, FILE *out)
{
	print_instance(instance, out);
}

static void show_tally(const void *sums)
{
	const struct tally *tally = sums;
	printf("refusals %llu, without advice %llu; questions to the solver %llu, too many steps %llu; told:",
	       (unsigned long long)tally->refusals, (unsigned long long)tally->none,
	       (unsigned long long)tally->compared, (unsigned long long)tally->undecided);
	for (int kind = 0; kind < ADVICE_KINDS; kind++)
		printf(" %s %llu", advice_kind_name((enum advice_kind)kind), (unsigned long long)tally->told[kind]);
	printf("\n");
}

int main(void)
{
	static const struct property property = {
		.name = "advice",
		.count = 59000, /* 20,250 refusals */
		.instance_size = sizeof(struct instance),
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
