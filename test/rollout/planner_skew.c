/* Checks the cases about roles that advance together: scaling and rolling update under maxSkew. */
#include "planner.h"
#include "planner_model.h"

#include "rollout/skew.h"
#include "rollout/update.h"

#include <string.h>

#define MOST_ROUNDS 100000

/* ---- scaling ---- */

static struct skew_scale_role *read_scaling(struct planner_case *test, const struct planner_roles *roles)
{
	struct skew_scale_role *states = arena_array(test->arena, struct skew_scale_role, roles->count + 1);
	for (size_t r = 0; r < roles->count; r++) {
		const struct segment_role *role = &roles->items[r];
		const struct val *given = val_path(test->given, "roles", role->name, NULL);
		states[r] = (struct skew_scale_role){
			.desired = role->desired,
			.current = role->current,
			.scheduled = planner_number(given, "scheduled", role->current),
			.ready = role->ready,
		};
	}
	return states;
}

/* False when the rule cannot be read; a case may expect that. */
static bool read_scale_rule(const struct val *given, struct skew_rule *rule)
{
	const char *name = val_str(val_get(given, "progression"), "OrderScheduled");
	rule->progression = strcmp(name, "OrderReady") == 0 ? SKEW_READY : SKEW_SCHEDULED;
	return planner_percent(val_get(given, "maxSkew"), &rule->max_skew) == 0 && rule->max_skew.value >= 0 &&
	       (rule->progression == SKEW_READY || strcmp(name, "OrderScheduled") == 0);
}

static size_t *read_names(struct planner_case *test, const struct val *list, const struct planner_roles *roles,
                          size_t *count)
{
	size_t *names = arena_array(test->arena, size_t, (list ? val_count(list) : roles->count) + 1);
	const struct val *item;
	*count = 0;
	if (list)
		for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);)
			names[(*count)++] = planner_find_role(roles, val_str(item, ""));
	else
		for (size_t r = 0; r < roles->count; r++)
			names[(*count)++] = r;
	return names;
}

static void check_scaling(struct planner_case *test, const struct planner_roles *roles, const struct skew_rule *rules,
                          size_t count, bool is_good)
{
	planner_known(test, test->expect, (const char *const[]){"targets", "error", NULL});
	is_good = is_good && roles->count > 0;
	if (val_get(test->expect, "error")) {
		if (is_good)
			planner_wrong(test, "error: nothing was refused");
		return;
	}
	if (!is_good) {
		planner_wrong(test, "the rule cannot be read");
		return;
	}
	int64_t *targets = arena_array(test->arena, int64_t, roles->count + 1);
	skew_scale(read_scaling(test, roles), roles->count, rules, count, targets);
	planner_by_role(test, "targets", val_get(test->expect, "targets"), roles, targets);
}

void planner_scale_step(struct planner_case *test)
{
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	struct skew_rule rule = {0};
	rule.roles = read_names(test, NULL, &roles, &rule.count);
	bool is_good = read_scale_rule(test->given, &rule);
	check_scaling(test, &roles, &rule, 1, is_good);
}

void planner_scale_multi(struct planner_case *test)
{
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	const struct val *list = val_get(test->given, "rules"), *item;
	struct skew_rule *rules = arena_array(test->arena, struct skew_rule, val_count(list) + 1);
	size_t count = 0;
	bool is_good = true;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); count++) {
		is_good = read_scale_rule(item, &rules[count]) && is_good;
		rules[count].roles = read_names(test, val_get(item, "roles"), &roles, &rules[count].count);
	}
	check_scaling(test, &roles, rules, count, is_good);
}

/* ---- rolling update ---- */

void planner_roll_bound(struct planner_case *test)
{
	struct percent skew;
	int64_t lower, upper;
	planner_known(test, test->expect, (const char *const[]){"lower", "upper", NULL});
	if (planner_percent(val_get(test->given, "maxSkew"), &skew) != 0) {
		planner_wrong(test, "maxSkew cannot be read");
		return;
	}
	model_bound_updated(skew, planner_number(test->given, "ref_updated", 0),
	                    planner_number(test->given, "ref_desired", 0),
	                    planner_number(test->given, "request_desired", 0), &lower, &upper);
	planner_int(test, "lower", val_get(test->expect, "lower"), lower);
	planner_int(test, "upper", val_get(test->expect, "upper"), upper);
}

static struct skew_update_role *read_updating(struct planner_case *test, const struct planner_roles *roles)
{
	struct skew_update_role *states = arena_array(test->arena, struct skew_update_role, roles->count + 1);
	for (size_t r = 0; r < roles->count; r++) {
		states[r].name = roles->items[r].name;
		states[r].desired = roles->items[r].desired;
		states[r].updated = planner_number(val_get(test->given, "updated"), states[r].name, 0);
		states[r].updated_ready = states[r].updated;
	}
	return states;
}

void planner_roll_rank(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"fastest", "slowest", NULL});
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "desired"));
	struct skew_update_role *states = read_updating(test, &roles);
	size_t fastest, slowest;
	model_rank_roles(states, roles.count, &fastest, &slowest);
	planner_text(test, "fastest", val_get(test->expect, "fastest"),
	             fastest == MODEL_NO_ROLE ? "" : states[fastest].name);
	planner_text(test, "slowest", val_get(test->expect, "slowest"),
	             slowest == MODEL_NO_ROLE ? "" : states[slowest].name);
}

/* Distance of the fastest from the slowest role in ten-thousandths, rounded up. */
static int64_t measure_skew(const struct skew_update_role *roles, size_t count)
{
	size_t fastest, slowest;
	model_rank_roles(roles, count, &fastest, &slowest);
	if (fastest == MODEL_NO_ROLE)
		return 0;
	int64_t whole = roles[fastest].desired * roles[slowest].desired;
	int64_t part =
		roles[fastest].updated * roles[slowest].desired - roles[slowest].updated * roles[fastest].desired;
	return (part * 10000 + whole - 1) / whole;
}

static bool take_targets(struct skew_update_role *roles, size_t count, const int64_t *targets)
{
	bool has_moved = false;
	for (size_t r = 0; r < count; r++) {
		has_moved = has_moved || targets[r] != roles[r].updated;
		roles[r].updated = roles[r].updated_ready = targets[r];
	}
	return has_moved;
}

void planner_roll_sequence(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"maxSkewPer10000", "terminates", "invariant", NULL});
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "desired"));
	struct skew_update_role *states = read_updating(test, &roles);
	struct skew_rule rule = {0};
	rule.roles = read_names(test, NULL, &roles, &rule.count);
	int64_t limit = planner_number(test->expect, "maxSkewPer10000", INT64_MAX), worst = 0;
	int64_t *targets = arena_array(test->arena, int64_t, roles.count + 1);
	bool is_moving = planner_percent(val_get(test->given, "maxSkew"), &rule.max_skew) == 0;
	for (int64_t round = 0; is_moving && round < MOST_ROUNDS; round++) {
		skew_update(states, roles.count, &rule, 1, targets);
		is_moving = take_targets(states, roles.count, targets);
		int64_t skew = measure_skew(states, roles.count);
		worst = skew > worst ? skew : worst;
	}
	bool is_complete = !is_moving;
	for (size_t r = 0; r < roles.count; r++)
		is_complete = is_complete && states[r].updated == states[r].desired;
	planner_bool(test, "terminates", val_get(test->expect, "terminates"), is_complete);
	if (worst > limit)
		planner_wrong(test, "maxSkewPer10000: at most %lld, got %lld", (long long)limit, (long long)worst);
}

static int read_strategy(const struct val *given, struct update_strategy *strategy)
{
	*strategy = (struct update_strategy){.is_paused = val_bool(val_get(given, "paused"), false)};
	if (planner_percent(val_get(given, "maxUnavailable"), &strategy->max_unavailable) != 0 ||
	    planner_percent(val_get(given, "maxSurge"), &strategy->max_surge) != 0)
		return -1;
	return planner_percent(val_get(given, "partition"), &strategy->partition);
}

static void check_form(struct planner_case *test, const char *what, const struct val *want, struct percent got)
{
	if (val_kind(want) == VAL_STRING)
		planner_text(test, what, want,
		             got.form == PERCENT_SHARE ? arena_printf(test->arena, "%lld%%", (long long)got.value)
		                                       : "a count");
	else if (got.form == PERCENT_COUNT)
		planner_int(test, what, want, got.value);
	else if (val_kind(want) != VAL_NULL || got.form != PERCENT_UNSET)
		planner_wrong(test, "%s: got another form", what);
}

void planner_roll_merge(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"merged", NULL});
	const struct val *merged = val_get(test->expect, "merged"), *want;
	const char *role;
	if (val_kind(merged) != VAL_MAP)
		planner_wrong(test, "merged must be a map");
	for (struct val_iter it = val_iter(merged); val_kind(merged) == VAL_MAP && val_next(&it, &role, &want);) {
		struct update_strategy a, b, got;
		const struct val *left = val_path(test->given, "a", role, NULL),
				 *right = val_path(test->given, "b", role, NULL);
		planner_known(test, want, (const char *const[]){"maxUnavailable", "partition", NULL});
		if (read_strategy(left, &a) != 0 || read_strategy(right, &b) != 0) {
			planner_wrong(test, "%s: a strategy cannot be read", role);
			continue;
		}
		got = !left ? b : !right ? a : update_merge(&a, &b, planner_number(test->given, "replicas", 100));
		check_form(test, "maxUnavailable", val_get(want, "maxUnavailable"), got.max_unavailable);
		check_form(test, "partition", val_get(want, "partition"), got.partition);
	}
}

void planner_roll_e2e(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"at_least_one_role_target", "targets", NULL});
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	struct skew_update_role *states = read_updating(test, &roles);
	struct skew_rule rule = {0};
	rule.roles = read_names(test, NULL, &roles, &rule.count);
	int64_t *targets = arena_array(test->arena, int64_t, roles.count + 1);
	if (planner_percent(val_get(test->given, "maxSkew"), &rule.max_skew) != 0)
		planner_wrong(test, "maxSkew cannot be read");
	skew_update(states, roles.count, &rule, 1, targets);
	planner_by_role(test, "targets", val_get(test->expect, "targets"), &roles, targets);
	int64_t wanted = planner_number(test->expect, "at_least_one_role_target", 0), highest = 0;
	for (size_t r = 0; r < roles.count; r++)
		highest = targets[r] > highest ? targets[r] : highest;
	if (highest < wanted)
		planner_wrong(test, "at_least_one_role_target: got %lld", (long long)highest);
}
