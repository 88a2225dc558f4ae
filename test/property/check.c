/* Runs the engine on one instance and compares everything it says with the exhaustive solver. */
#include "check.h"

#include "build.h"
#include "engine/explain/explain.h"
#include "engine/place/strategy.h"
#include "objective.h"
#include "oracle.h"
#include "random.h"

#include <stdarg.h>
#include <stdio.h>

enum { CHECK_STEPS = 2000000 };

/* One run: the instance as it is now (members are added by commits), and the engine's view of it. */
struct run {
	struct instance now;
	struct built built;
	struct place_options options;
	struct placement placement;
	struct result *result;
	struct tally *tally;
	bool spread;   /* by the other strategy, which has no wish for few hosts */
	bool verified; /* engine_verify had no complaint before anything was placed */
};

const char *failure_name(enum failure failure)
{
	static const char *const names[FAILURE_KINDS] = {"none",     "cluster", "missed", "false placement",
	                                                 "outcome",  "invalid", "verify", "preference",
	                                                 "distance", "growth",  "reason", "crash"};
	return names[failure];
}

__attribute__((format(printf, 3, 4))) static bool fail(struct run *run, enum failure failure, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	run->result->failure = (int)failure;
	vsnprintf(run->result->text, sizeof(run->result->text), format, args);
	va_end(args);
	return false;
}

/* ---- the cluster ---- */

static bool check_domains(struct run *run)
{
	const struct instance *instance = &run->now;
	for (int topology = 0; topology < instance->topology_count; topology++)
		for (int level = 0; level < instance->topologies[topology].level_count; level++)
			for (int a = 0; a < instance->node_count; a++)
				for (int b = 0; b < instance->node_count; b++) {
					int first = cluster_node_domain(run->built.cluster, topology, level,
					                                run->built.to_engine[a]);
					int second = cluster_node_domain(run->built.cluster, topology, level,
					                                 run->built.to_engine[b]);
					if ((first >= 0 && first == second) !=
					    instance_same_domain(instance, topology, level, a, b))
						return fail(run, FAILURE_CLUSTER,
						            "topology %d level %d: domains %d of n%d and %d of n%d",
						            topology, level, first, a, second, b);
				}
	return true;
}

static bool check_free(struct run *run, const char *when)
{
	struct positions positions;
	positions_begin(&positions, &run->now);
	for (int r = 0; r <= INSTANCE_RESOURCES; r++) {
		if (r >= run->now.resource_count && r < INSTANCE_RESOURCES)
			continue;
		int resource = cluster_find_resource(run->built.cluster, built_resource_name(r));
		for (int node = 0; resource >= 0 && node < run->now.node_count; node++) {
			int capacity =
				r == INSTANCE_RESOURCES ? run->now.nodes[node].pods : run->now.nodes[node].capacity[r];
			int64_t want = (capacity - rules_used(&positions, node, r, true)) * built_resource_unit(r);
			int64_t got = cluster_free(run->built.cluster, resource, run->built.to_engine[node]);
			if (want != got)
				return fail(run, FAILURE_CLUSTER, "%s: free %s of n%d is %lld, should be %lld", when,
				            built_resource_name(r), node, (long long)got, (long long)want);
		}
	}
	return true;
}

/* Lets the engine answer for a fuller cluster first, so that the answer that counts starts from filled caches. */
static void warm_up(struct run *run)
{
	struct random random = {.state = run->now.seed ^ 0x5bf03635u};
	int pod_classes[4], nodes[4];
	for (int i = 0; i < 4; i++) {
		pod_classes[i] = run->built.pod_classes[random_range(&random, 0, run->now.pod_class_count - 1)];
		nodes[i] = random_range(&random, 0, run->now.node_count - 1);
		cluster_occupy(run->built.cluster, pod_classes[i], nodes[i], OCCUPY_RUNNING);
	}
	struct placement ignored;
	engine_place(run->built.cluster, &run->built.gang, &run->options, run->built.arena, &ignored);
	for (int i = 0; i < 4; i++)
		cluster_vacate(run->built.cluster, pod_classes[i], nodes[i], OCCUPY_RUNNING);
}

/* ---- placements ---- */

/* Replays the choices through the rules, starting from the present state. */
static bool replay(struct run *run, bool use_releasing, struct positions *positions)
{
	const struct placement *placement = &run->placement;
	positions_begin(positions, &run->now);
	positions->use_releasing = use_releasing;
	for (size_t i = 0; i < placement->choice_count; i++) {
		int pod = placement->choices[i].pod, node = placement->choices[i].node;
		if (pod < 0 || pod >= run->now.pod_count || node < 0 || node >= run->now.node_count)
			return fail(run, FAILURE_INVALID, "choice %zu: pod %d on node %d does not exist", i, pod, node);
		if (i > 0 && pod <= placement->choices[i - 1].pod)
			return fail(run, FAILURE_INVALID, "choices are not sorted by pod");
		if (run->now.pods[pod].state != W_WAITING)
			return fail(run, FAILURE_INVALID, "p%d is placed but does not wait", pod);
		node = run->built.from_engine[node];
		if (!rules_fits(positions, pod, node))
			return fail(run, FAILURE_INVALID, "p%d may not run on n%d", pod, node);
		positions->node[pod] = node;
		positions->fresh[pod] = true;
	}
	if (!rules_complete(positions))
		return fail(run, FAILURE_INVALID, "affinity or spread does not hold");
	return true;
}

/* Of pods that cannot be told apart, earlier ones go first. */
static bool check_order(struct run *run, const struct positions *positions)
{
	for (int late = 0; late < run->now.pod_count; late++)
		for (int early = 0; early < late; early++) {
			const struct w_pod *a = &run->now.pods[early], *b = &run->now.pods[late];
			if (positions->fresh[late] && a->state == W_WAITING && !positions->fresh[early] &&
			    a->leaf == b->leaf && a->pod_class == b->pod_class && a->nominated == b->nominated)
				return fail(run, FAILURE_INVALID, "p%d is placed before p%d", late, early);
		}
	return true;
}

static bool check_subtrees(struct run *run, const struct positions *positions)
{
	bool satisfied[INSTANCE_TREE];
	rules_satisfied(positions, 0, false, satisfied);
	for (int pod = 0; pod < run->now.pod_count; pod++)
		for (int node = run->now.pods[pod].leaf; positions->fresh[pod] && node >= 0;
		     node = run->now.tree[node].parent)
			if (!satisfied[node])
				return fail(run, FAILURE_INVALID,
				            "p%d is placed below s%d, which stays below its minimum", pod, node);
	return true;
}

static bool check_reservation(struct run *run)
{
	struct positions positions;
	struct result ignored = {0}, *kept = run->result;
	if (run->placement.reserve)
		return run->options.use_releasing || fail(run, FAILURE_INVALID, "a reservation without leave");
	run->result = &ignored;
	bool fits = replay(run, false, &positions);
	run->result = kept;
	return fits || fail(run, FAILURE_INVALID, "bound to what is not free yet: %s", ignored.text);
}

static bool commit(struct run *run, const char *when)
{
	engine_commit(run->built.cluster, &run->built.gang, &run->placement);
	run->tally->reserved += run->placement.reserve;
	for (size_t i = 0; i < run->placement.choice_count; i++) {
		const struct place_choice *choice = &run->placement.choices[i];
		const struct gang_pod *pod = &run->built.gang.pods[choice->pod];
		if (pod->state != (run->placement.reserve ? MEMBER_RESERVED : MEMBER_RUNNING) ||
		    pod->node != choice->node)
			return fail(run, FAILURE_CLUSTER, "%s: p%d is not committed", when, choice->pod);
		run->now.pods[choice->pod].node = run->built.from_engine[choice->node];
		run->now.pods[choice->pod].state = run->placement.reserve ? W_MEMBER_RESERVED : W_MEMBER_RUNNING;
	}
	if (!check_free(run, when))
		return false;
	const char *complaint =
		engine_verify_placement(run->built.cluster, &run->built.gang, &run->placement, run->built.arena);
	if (run->verified && complaint)
		return fail(run, FAILURE_VERIFY, "%s: engine_verify_placement: %s", when, complaint);
	return true;
}

static bool check_satisfied(struct run *run)
{
	struct positions positions;
	bool mine[INSTANCE_TREE], theirs[INSTANCE_TREE], optimistic[INSTANCE_TREE], reachable[INSTANCE_TREE];
	positions_begin(&positions, &run->now);
	rules_satisfied(&positions, 0, false, mine);
	rules_satisfied(&positions, 0, true, optimistic);
	gang_satisfied(&run->built.gang, NULL, theirs);
	gang_reachable(&run->built.gang, NULL, reachable);
	for (int node = 0; node < run->now.tree_count; node++) {
		int engine = run->built.tree_to_engine[node];
		if (mine[node] != theirs[engine] || optimistic[node] != reachable[engine])
			return fail(run, FAILURE_CLUSTER, "gang_satisfied %d or gang_reachable %d is wrong for s%d",
			            theirs[engine], reachable[engine], node);
	}
	return true;
}

/* ---- growth ---- */

/* One step of growth is one pod of a satisfied leaf, or one child that was below its minimum. */
static bool check_unit(struct run *run, const struct positions *positions)
{
	struct positions before;
	bool satisfied[INSTANCE_TREE];
	int child = -1, pods = 0;
	positions_begin(&before, &run->now);
	rules_satisfied(&before, 0, false, satisfied);
	for (int pod = 0; pod < run->now.pod_count; pod++) {
		if (!positions->fresh[pod])
			continue;
		int top = -1;
		for (int node = run->now.pods[pod].leaf; node >= 0; node = run->now.tree[node].parent)
			if (!satisfied[node])
				top = node;
		if (pods > 0 && (top < 0 || top != child))
			return fail(run, FAILURE_GROWTH, "more than one unit in a step (p%d)", pod);
		child = top;
		pods++;
	}
	return pods > 0 || fail(run, FAILURE_GROWTH, "a step without pods");
}

static bool grow(struct run *run)
{
	for (int step = 0; step <= run->now.pod_count; step++) {
		enum place_outcome outcome = engine_grow(run->built.cluster, &run->built.gang, &run->options,
		                                         run->built.arena, &run->placement);
		if (outcome != run->placement.outcome)
			return fail(run, FAILURE_OUTCOME, "engine_grow returns %d and stores %d", outcome,
			            run->placement.outcome);
		if (outcome == PLACE_EXHAUSTED || outcome == PLACE_NOT_READY)
			return fail(run, FAILURE_OUTCOME, "engine_grow gives outcome %d", outcome);
		if (outcome != PLACE_PLACED)
			break;
		struct positions positions;
		if (!replay(run, run->options.use_releasing, &positions) || !check_order(run, &positions) ||
		    !check_subtrees(run, &positions) || !check_unit(run, &positions) || !check_reservation(run) ||
		    !commit(run, "growth") || !check_satisfied(run))
			return false;
		run->tally->grown++;
	}
	if (run->placement.outcome == PLACE_PLACED)
		return fail(run, FAILURE_GROWTH, "growth does not end");
	int unit;
	enum oracle_answer more = oracle_can_grow(&run->now, CHECK_STEPS, &unit);
	run->tally->full += more == ORACLE_NO;
	if (more == ORACLE_YES)
		return fail(run, FAILURE_GROWTH, "growth ended with outcome %d, but s%d can still grow",
		            run->placement.outcome, unit);
	return true;
}

/* ---- the decision ---- */

/* A decision changes nothing: asked again, the engine says the same. */
static bool check_repeatable(struct run *run)
{
	struct placement again;
	engine_place(run->built.cluster, &run->built.gang, &run->options, run->built.arena, &again);
	bool same = again.outcome == run->placement.outcome;
	if (same && again.outcome == PLACE_PLACED) {
		same = again.choice_count == run->placement.choice_count && again.reserve == run->placement.reserve;
		for (size_t i = 0; same && i < again.choice_count; i++)
			same = again.choices[i].pod == run->placement.choices[i].pod &&
			       again.choices[i].node == run->placement.choices[i].node;
	}
	return same || fail(run, FAILURE_OUTCOME, "the same question gave two answers");
}

/* Every refusal has at least one reason; looking for a relaxation is slow, so only some instances ask for it. */
static bool check_reasons(struct run *run)
{
	struct reasons reasons = {0};
	engine_explain(run->built.cluster, &run->built.gang, &run->placement, run->now.seed % 8 == 0 ? 40 : 0,
	               run->built.arena, &reasons);
	for (size_t i = 0; i < reasons.count; i++)
		if (!reasons.items[i].message || !reasons.items[i].message[0])
			return fail(run, FAILURE_REASON, "reason %zu (%s) has no message", i,
			            reason_code_name(reasons.items[i].code));
	return reasons.count > 0 || fail(run, FAILURE_REASON, "a refusal without a reason");
}

static bool check_refusal(struct run *run, enum oracle_answer answer)
{
	run->tally->impossible++;
	if (answer == ORACLE_YES)
		return fail(run, FAILURE_MISSED, "refused (blocking tree node %d), but a placement exists",
		            run->placement.blocking_node);
	return check_reasons(run) && check_free(run, "after a refusal");
}

static bool check_placed(struct run *run, enum oracle_answer answer)
{
	struct positions positions;
	const struct instance before = run->now;
	run->tally->placed++;
	if (!replay(run, run->options.use_releasing, &positions) || !check_order(run, &positions) ||
	    !check_subtrees(run, &positions) || !check_reservation(run) || !check_free(run, "before commit"))
		return false;
	for (int pod = 0; pod < run->now.pod_count; pod++)
		if (positions.fresh[pod] && rules_leaf_members(&positions, run->now.pods[pod].leaf) >
		                                    run->now.tree[run->now.pods[pod].leaf].minimum)
			return fail(run, FAILURE_INVALID, "surplus p%d in the minimum phase", pod);
	bool satisfied[INSTANCE_TREE];
	rules_satisfied(&positions, 0, false, satisfied);
	if (!satisfied[0])
		return fail(run, FAILURE_INVALID, "the minimum of the gang is not met");
	if (answer == ORACLE_NO && !instance_has_orderless_rules(&run->now))
		return fail(run, FAILURE_FALSE, "placed, but the solver finds no placement");
	run->tally->extra_help += answer == ORACLE_NO;
	if (!commit(run, "commit") || !check_satisfied(run))
		return false;
	objective_preferences(&before, &positions, run->result, run->tally);
	if (run->result->failure == FAILURE_NONE && !run->spread)
		objective_distance(&before, &positions, run->result, run->tally);
	return run->result->failure == FAILURE_NONE && grow(run);
}

static bool decide(struct run *run)
{
	struct positions positions;
	bool satisfied[INSTANCE_TREE], reachable[INSTANCE_TREE];
	positions_begin(&positions, &run->now);
	rules_satisfied(&positions, 0, false, satisfied);
	rules_satisfied(&positions, 0, true, reachable);
	enum place_outcome outcome =
		engine_place(run->built.cluster, &run->built.gang, &run->options, run->built.arena, &run->placement);
	if (outcome != run->placement.outcome)
		return fail(run, FAILURE_OUTCOME, "engine_place returns %d and stores %d", outcome,
		            run->placement.outcome);
	enum place_outcome early = satisfied[0] ? PLACE_NOTHING : !reachable[0] ? PLACE_NOT_READY : PLACE_PLACED;
	if (early != PLACE_PLACED || outcome == PLACE_NOTHING || outcome == PLACE_NOT_READY) {
		if (outcome != early)
			return fail(run, FAILURE_OUTCOME, "outcome %d, should be %d", outcome, early);
		run->tally->nothing += outcome == PLACE_NOTHING;
		run->tally->not_ready += outcome == PLACE_NOT_READY;
		return outcome == PLACE_NOT_READY ? check_reasons(run) : grow(run);
	}
	if (outcome == PLACE_EXHAUSTED)
		return fail(run, FAILURE_OUTCOME, "the step budget ran out after %llu steps",
		            (unsigned long long)run->placement.steps);
	if (!check_repeatable(run))
		return false;
	struct oracle oracle;
	enum oracle_answer answer = oracle_solve(&oracle, &run->now, 0, CHECK_STEPS);
	run->tally->undecided += answer == ORACLE_UNKNOWN;
	return outcome == PLACE_IMPOSSIBLE ? check_refusal(run, answer) : check_placed(run, answer);
}

static void check_with(const struct instance *instance, bool spread, struct result *result, struct tally *tally)
{
	struct run run = {.now = *instance, .result = result, .tally = tally, .spread = spread};
	run.options.use_releasing = instance->use_releasing;
	result->failure = FAILURE_NONE;
	result->text[0] = '\0';
	built_create(&run.built, instance);
	if (spread)
		cluster_set_strategy(run.built.cluster, (struct strategy){ORDER_SPREAD, ORDER_SPREAD});
	run.verified = engine_verify(run.built.cluster, &run.built.gang, run.built.arena) == NULL;
	if (instance->warm_up)
		warm_up(&run);
	if (check_domains(&run) && check_free(&run, "at the start") && check_satisfied(&run))
		decide(&run);
	built_destroy(&run.built);
}

/* Whatever the strategy: what fits is placed, and everything placed is right. */
void check_instance(const struct instance *instance, struct result *result, struct tally *tally)
{
	check_with(instance, false, result, tally);
	if (result->failure == FAILURE_NONE && instance->seed % 2 == 0)
		check_with(instance, true, result, tally);
}
