/* Owns the disruption budgets of the snapshot: what each of them allows, from its status and the pods as they are here. */
#include "schedule/snapshot_build.h"

#include <string.h>

void build_budget(struct snapshot *snapshot, const struct budget_spec *spec)
{
	size_t number = snapshot->cycle.budget_count++;
	snapshot->budgets[number] = (struct snapshot_budget){.spec = *spec};
	snapshot->cycle.budgets[number] = (struct cycle_budget){.namespace_ = build_namespace(spec->namespace_),
	                                                        .name = spec->name,
	                                                        .selector = spec->selector};
}

void build_budgets(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_BUDGET];
	struct snapshot *snapshot = build->snapshot;
	snapshot->budgets = arena_array(build->arena, struct snapshot_budget, slice->count);
	snapshot->cycle.budgets = arena_array(build->arena, struct cycle_budget, slice->count);
	for (size_t i = 0; i < slice->count; i++) {
		struct problems problems = {.arena = build->arena};
		struct budget_spec spec;
		int rc = budget_decode(slice->items[i]->object, build->arena, &spec, &problems);
		build_verdict(build, slice->items[i], &problems);
		if (rc == 0 && spec.has_selector)
			build_budget(snapshot, &spec);
	}
	for (size_t p = 0; p < snapshot->pod_count; p++)
		build_count_in_budgets(snapshot, &snapshot->pods[p], 1);
	build_judge_budgets(snapshot);
}

/* Whether it counts as healthy, as the disruption controller sees it. */
static bool is_healthy(const struct snapshot_pod *pod)
{
	return !pod->deleting && pod->spec->phase == POD_RUNNING && pod->spec->ready;
}

static void count_maker(struct snapshot_budget *budget, const struct pod_spec *pod, int sign)
{
	budget->pods += sign;
	budget->scaled += pod->maker == MAKER_SCALED ? sign : 0;
	budget->other += pod->maker == MAKER_OTHER ? sign : 0;
}

void build_count_in_budgets(struct snapshot *snapshot, const struct snapshot_pod *pod, int sign)
{
	if (pod->spec->phase == POD_SUCCEEDED || pod->spec->phase == POD_FAILED)
		return;
	for (size_t b = 0; b < snapshot->cycle.budget_count; b++) {
		struct snapshot_budget *budget = &snapshot->budgets[b];
		if (strcmp(snapshot->cycle.budgets[b].namespace_, pod->namespace_) != 0 ||
		    !budget_selects(&budget->spec, &pod->spec->labels))
			continue;
		count_maker(budget, pod->spec, sign);
		budget->healthy += is_healthy(pod) ? sign : 0;
	}
}

/* How many there should be where nobody says so, as in files: those that there are, as far as the disruption controller would
 * count them. Where it counts scales a pod that nobody makes anew adds nothing, and one whose maker has no scale keeps it from
 * counting at all; with neither of the two numbers it expects nothing. Then nothing may leave: 0. */
static int64_t expected_pods(const struct snapshot_budget *budget)
{
	if (budget_is_scaled(&budget->spec))
		return budget->other > 0 ? 0 : budget->scaled;
	return budget->spec.min_available.form == PERCENT_UNSET ? 0 : budget->pods;
}

/* The status knows how many pods there should be; which of them are healthy is counted here, where those that leave are known
 * before anybody could count anew. */
void build_judge_budgets(struct snapshot *snapshot)
{
	for (size_t b = 0; b < snapshot->cycle.budget_count; b++) {
		const struct snapshot_budget *from = &snapshot->budgets[b];
		const struct budget_status *status = &from->spec.status;
		struct cycle_budget *into = &snapshot->cycle.budgets[b];
		bool told = from->spec.has_status && !from->outdated;
		int64_t expected = told ? 0 : expected_pods(from);
		int64_t desired = told ? status->desired : budget_desired_healthy(&from->spec, expected);
		int64_t allowed = told || expected > 0 ? from->healthy - desired : 0;
		if (told && (!status->current || status->allowed < allowed))
			allowed = status->current ? status->allowed : 0;
		into->allowed = allowed > 0 ? allowed : 0;
		into->guards_unready = !from->spec.evicts_unhealthy && (from->healthy < desired || desired == 0);
	}
}

void snapshot_count_budgets(struct snapshot *snapshot)
{
	for (size_t b = 0; b < snapshot->cycle.budget_count; b++) {
		struct snapshot_budget *budget = &snapshot->budgets[b];
		budget->pods = budget->scaled = budget->other = budget->healthy = 0;
		budget->outdated = true;
		for (size_t p = 0; p < snapshot->pod_count; p++) {
			const struct snapshot_pod *pod = &snapshot->pods[p];
			if (pod->gone || strcmp(snapshot->cycle.budgets[b].namespace_, pod->namespace_) != 0 ||
			    !budget_selects(&budget->spec, &pod->spec->labels))
				continue;
			count_maker(budget, pod->spec, 1);
			budget->healthy += pod->node >= 0;
		}
	}
	build_judge_budgets(snapshot);
}
