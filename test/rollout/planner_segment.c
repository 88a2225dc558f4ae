/* Checks the cases about segments: targets, whole deployments, conflicts, conditions, defaults of a coordination. */
#include "planner.h"

#include "rollout/conditions.h"
#include "rollout/conflicts.h"
#include "rollout/merge.h"
#include "rollout/naming.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 100000

/* ---- targets ---- */

static struct segment_rule *read_rules(struct planner_case *test, const struct planner_roles *roles, size_t *count)
{
	const struct val *list = val_get(test->given, "coordinations"), *item;
	struct segment_rule *rules = arena_array(test->arena, struct segment_rule, val_count(list) + 1);
	*count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const char *progression = val_str(val_get(item, "progression"), NULL);
		rules[*count] = planner_read_rule(test, roles, val_get(item, "segmentSize"), progression);
		rules[*count].name = naming_coordination(*count, test->arena);
		++*count;
	}
	return rules;
}

static int64_t *find_targets(struct planner_case *test, const struct planner_roles *roles,
                             const struct segment_rule *rules, size_t count)
{
	struct merge_input input = {.roles = roles->items,
	                            .role_count = roles->count,
	                            .rules = rules,
	                            .rule_count = count};
	struct merge_plan *plan = merge_targets(&input, test->arena);
	int64_t *targets = arena_array(test->arena, int64_t, roles->count + 1);
	for (size_t r = 0; r < roles->count; r++)
		targets[r] = plan->roles[r].target;
	return targets;
}

/* `X`, `Y` and `<role>` in an expected message stand for any word. */
static bool matches(const char *pattern, const char *text)
{
	bool is_word = (pattern[0] == 'X' || pattern[0] == 'Y') && !isalnum((unsigned char)pattern[1]);
	const char *close = pattern[0] == '<' ? strchr(pattern, '>') : NULL;
	if (is_word || close) {
		const char *rest = close ? close + 1 : pattern + 1;
		for (size_t length = 1; text[length - 1] && !strchr(" ,", text[length - 1]); length++)
			if (matches(rest, text + length))
				return true;
		return false;
	}
	if (!pattern[0] || !text[0])
		return pattern[0] == text[0];
	return pattern[0] == text[0] && matches(pattern + 1, text + 1);
}

static void check_error(struct planner_case *test)
{
	const struct val *list = val_get(test->given, "coordinations"), *item;
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	const char **names = arena_array(test->arena, const char *, roles.count + 1);
	for (size_t r = 0; r < roles.count; r++)
		names[r] = roles.items[r].name;
	struct conflict_rule *rules = arena_array(test->arena, struct conflict_rule, val_count(list) + 1);
	size_t count = 0, found;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		const struct val *sizes = val_get(item, "segmentSize"), *size;
		struct conflict_entry *entries = arena_array(test->arena, struct conflict_entry, val_count(sizes) + 1);
		struct conflict_rule *rule = &rules[count++];
		rule->entries = entries;
		(void)segment_progression_parse(val_str(val_get(item, "progression"), NULL), &rule->progression);
		for (struct val_iter at = val_iter(sizes);
		     val_kind(sizes) == VAL_MAP && val_next(&at, &entries[rule->count].role, &size); rule->count++)
			(void)val_int(size, &entries[rule->count].size);
	}
	struct conflict *conflicts = conflicts_find(names, roles.count, rules, count, test->arena, &found);
	const struct val *error = val_get(test->expect, "error");
	const char *pattern = val_str(error, NULL);
	for (size_t i = 0; i < found && pattern; i++)
		if (matches(pattern, conflicts[i].message))
			return;
	if (found == 0)
		planner_wrong(test, "error: nothing was refused");
	else if (pattern || !val_bool(error, false))
		planner_wrong(test, "error: refused with: %s", conflicts[0].message);
}

void planner_segment_conflict(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"error", NULL});
	check_error(test);
}

void planner_segment_step(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"targets", "error", NULL});
	if (val_get(test->expect, "error")) {
		check_error(test);
		return;
	}
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	size_t count;
	struct segment_rule *rules = read_rules(test, &roles, &count);
	planner_by_role(test, "targets", val_get(test->expect, "targets"), &roles,
	                find_targets(test, &roles, rules, count));
}

void planner_segment_sequence(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"final", "steps", "first_steps", NULL});
	if (strcmp(val_str(val_get(test->given, "readiness"), ""),
	           "every created replica becomes ready before the next step") != 0)
		planner_wrong(test, "readiness is not understood");
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "desired"));
	size_t count;
	struct segment_rule *rules = read_rules(test, &roles, &count);
	const struct val *first_steps = val_get(test->expect, "first_steps");
	int64_t *last = arena_array(test->arena, int64_t, roles.count + 1);
	for (size_t r = 0; r < roles.count; r++)
		last[r] = planner_number(val_get(test->given, "start"), roles.items[r].name, 0);
	int64_t steps = 0;
	for (;;) {
		for (size_t r = 0; r < roles.count; r++)
			roles.items[r].current = roles.items[r].asked = roles.items[r].ready = last[r];
		int64_t *targets = find_targets(test, &roles, rules, count);
		if (memcmp(targets, last, roles.count * sizeof(*last)) == 0 || steps == MOST_STEPS)
			break;
		memcpy(last, targets, roles.count * sizeof(*last));
		planner_by_role(test, arena_printf(test->arena, "first_steps[%lld]", (long long)steps),
		                val_item(first_steps, (size_t)steps), &roles, targets);
		steps++;
	}
	planner_int(test, "steps", val_get(test->expect, "steps"), steps);
	planner_by_role(test, "final", val_get(test->expect, "final"), &roles, last);
}

/* ---- conditions ---- */

static int64_t sum_sizes(const struct val *sizes)
{
	int64_t sum = 0, size;
	const struct val *item;
	for (struct val_iter it = val_iter(sizes); val_next(&it, NULL, &item);)
		if (val_int(item, &size) == 0)
			sum += size;
	return sum;
}

static void check_condition(struct planner_case *test, const struct condition_text *condition)
{
	const struct val *want = val_get(test->expect, condition->type);
	planner_text(test, condition->type, val_get(want, "status"), condition->is_true ? "True" : "False");
	planner_text(test, condition->type, val_get(want, "reason"), condition->reason);
	planner_text(test, condition->type, val_get(want, "message"), condition->message);
}

/* The cases of a file tell one story: a group that an earlier case showed complete is growing in a later one. */
void planner_segment_condition(struct planner_case *test)
{
	struct condition_text conditions[CONDITION_SLOTS];
	struct condition_facts facts = {
		.segments_ready = planner_number(test->given, "segments_ready", 0),
		.pods_ready = planner_number(test->given, "pods_ready", 0),
		.pods_desired = planner_number(test->given, "pods_desired", 0),
		.complete_at = planner_number(test->given, "complete_at", test->story->complete_at),
	};
	int64_t pods = sum_sizes(val_get(test->given, "segmentSize"));
	if (pods < 1) {
		planner_wrong(test, "segmentSize names no pods");
		return;
	}
	facts.segments_total = planner_number(test->given, "segments_total", segment_count(pods, facts.pods_desired));
	facts.is_minimum_met = facts.segments_ready > 0;
	if (facts.complete_at >= facts.pods_desired)
		facts.complete_at = 0;
	condition_segments(&facts, test->arena, conditions);
	planner_known(test, test->expect,
	              (const char *const[]){"Ready", "MinimumSegmentsAvailable", "MinimumReplicasAvailable", NULL});
	for (int i = 0; i < CONDITION_SLOTS; i++)
		check_condition(test, &conditions[i]);
	int64_t complete_at = condition_complete_at(&facts);
	if (complete_at > test->story->complete_at)
		test->story->complete_at = complete_at;
}

/* ---- defaults ---- */

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Decoding belongs to admission; judged here are the defaults of what is left out. */
void planner_segment_manifest(struct planner_case *test)
{
	const char *written = val_str(val_get(test->given, "spec_key"), "");
	bool is_alias = strcmp(written, "coordinationRequirements") == 0;
	planner_known(test, test->expect, (const char *const[]){"accepted", "warnings", "canonical", NULL});
	planner_bool(test, "accepted", val_get(test->expect, "accepted"),
	             is_alias || strcmp(written, "coordination") == 0);
	const struct val *warnings = val_get(test->expect, "warnings");
	if (val_count(warnings) != (is_alias ? 1 : 0))
		planner_wrong(test, "warnings: %d expected", is_alias ? 1 : 0);
	else if (is_alias)
		planner_text(test, "warnings", val_item(warnings, 0), written);

	const struct val *canonical = val_get(test->expect, "canonical");
	planner_known(test, canonical, (const char *const[]){"apiVersion", "spec_key", "name", "roles", NULL});
	planner_text(test, "apiVersion", val_get(canonical, "apiVersion"), "workloads.x-k8s.io/v1alpha1");
	planner_text(test, "spec_key", val_get(canonical, "spec_key"), "coordination");
	if (!val_bool(val_get(test->given, "item_has_name"), true))
		planner_text(test, "name", val_get(canonical, "name"), naming_coordination(0, test->arena));
	if (val_bool(val_get(test->given, "item_has_roles"), true))
		return;
	struct planner_roles sizes = planner_read_roles(test, val_get(test->given, "segmentSize"));
	const char **names = arena_array(test->arena, const char *, sizes.count + 1);
	for (size_t r = 0; r < sizes.count; r++)
		names[r] = sizes.items[r].name;
	qsort(names, sizes.count, sizeof(*names), compare_names);
	if (val_count(val_get(canonical, "roles")) != sizes.count)
		planner_wrong(test, "roles: %zu expected", sizes.count);
	for (size_t r = 0; r < sizes.count; r++)
		planner_text(test, "roles", val_item(val_get(canonical, "roles"), r), names[r]);
}
