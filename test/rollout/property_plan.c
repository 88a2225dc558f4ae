/* Random groups against what must always hold.
 *
 * The closed forms are compared with the definitions they come from; whole deployments and updates are played step by
 * step, with readiness that comes late and in any order, and must reach their end without breaking a limit on the way.
 * A failure names the seed of the instance. */
#include "rollout/count.h"
#include "rollout/merge.h"
#include "rollout/skew.h"

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST_ROLES = 6, MOST_RULES = 5, MOST_REPLICAS = 60, INSTANCES = 4000, MOST_STEPS = 5000 };

struct group {
	uint64_t seed;
	struct random random;
	struct segment_role roles[MOST_ROLES];
	bool ready[MOST_ROLES][2 * MOST_REPLICAS];
	size_t role_count, rule_count, dependency_count;
	struct segment_rule rules[MOST_RULES];
	struct segment_size sizes[MOST_RULES][MOST_ROLES];
	struct linked_way dependencies[MOST_ROLES];
	struct merge_input input;
};

#define holds(group, condition)                                                                                        \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail_msg("seed %llu: %s", (unsigned long long)(group)->seed, #condition);                      \
	} while (0)

/* Sizes and progression are agreed on, as conflicts.h demands. */
static void make_group(struct group *group, uint64_t seed)
{
	*group = (struct group){.seed = seed, .random = {seed}};
	struct random *random = &group->random;
	int64_t size[MOST_ROLES];
	enum segment_progression progression = (enum segment_progression)random_range(random, 0, 2);
	group->role_count = (size_t)random_range(random, 1, MOST_ROLES);
	group->rule_count = (size_t)random_range(random, 1, MOST_RULES);
	for (size_t r = 0; r < group->role_count; r++) {
		size[r] = random_range(random, 1, 12);
		group->roles[r].name = "role";
		group->roles[r].desired = random_chance(random, 5) ? 0 : random_range(random, 1, MOST_REPLICAS);
		if (random_chance(random, 50))
			group->roles[r].is_ready = group->ready[r];
		if (r > 0 && random_chance(random, 30))
			group->dependencies[group->dependency_count++] =
				(struct linked_way){r, (size_t)random_range(random, 0, (int)r - 1)};
	}
	for (size_t k = 0; k < group->rule_count; k++) {
		struct segment_rule *rule = &group->rules[k];
		*rule = (struct segment_rule){"rule", progression, group->sizes[k], 0};
		for (size_t r = 0; r < group->role_count; r++)
			if (random_chance(random, 50))
				group->sizes[k][rule->count++] = (struct segment_size){r, size[r]};
	}
	group->input = (struct merge_input){group->roles,      group->role_count,   group->rules,
	                                    group->rule_count, group->dependencies, group->dependency_count};
}

static void set_state(struct group *group, size_t r, int64_t current, int percent_ready)
{
	struct segment_role *role = &group->roles[r];
	role->current = current;
	role->ready = 0;
	for (int64_t i = 0; i < current; i++)
		role->ready += group->ready[r][i] = random_chance(&group->random, percent_ready);
}

/* ---- one rule: closed form and definition ---- */

static int64_t end_by_definition(int64_t number, int64_t size, int64_t desired)
{
	return number * size < desired ? number * size : desired;
}

static bool is_ordinal_ready(const struct segment_role *role, int64_t ordinal)
{
	if (ordinal >= role->current)
		return false;
	return role->is_ready ? role->is_ready[ordinal] : ordinal < role->ready;
}

static bool all_reach(const struct group *group, const struct segment_rule *rule, int64_t number)
{
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = &group->roles[rule->sizes[i].role];
		if (role->current < end_by_definition(number, rule->sizes[i].size, role->desired))
			return false;
	}
	return true;
}

/* Segments first..last, counted from 1. */
static bool are_ready(const struct group *group, const struct segment_rule *rule, int64_t first, int64_t last)
{
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = &group->roles[rule->sizes[i].role];
		int64_t size = rule->sizes[i].size;
		for (int64_t o = end_by_definition(first - 1, size, role->desired);
		     o < end_by_definition(last, size, role->desired); o++)
			if (!is_ordinal_ready(role, o))
				return false;
	}
	return true;
}

static void check_definition(struct group *group, const struct segment_rule *rule)
{
	struct segment_state state;
	int64_t total = 0, created, next, ready = 0;
	segment_judge(group->roles, group->role_count, rule, &state);
	for (size_t i = 0; i < rule->count; i++)
		while (total * rule->sizes[i].size < group->roles[rule->sizes[i].role].desired)
			total++;
	for (created = total; !all_reach(group, rule, created);)
		created--;
	bool is_open = rule->progression != SEGMENT_ORDERED_READY || are_ready(group, rule, 1, created);
	next = created + is_open < total ? created + is_open : total;
	if (rule->progression == SEGMENT_PARALLEL)
		next = total;
	for (int64_t number = 1; number <= total; number++)
		ready += are_ready(group, rule, number, number);
	holds(group, state.total == total);
	holds(group, state.created == created);
	holds(group, state.is_open == is_open);
	holds(group, state.next == next);
	holds(group, state.ready == ready);
	holds(group, state.is_finished == (created == total));
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = &group->roles[rule->sizes[i].role];
		int64_t wanted = end_by_definition(next, rule->sizes[i].size, role->desired);
		wanted = wanted > role->current ? wanted : role->current;
		wanted = wanted < role->desired ? wanted : role->desired;
		holds(group, segment_target(role, rule->sizes[i].size, &state) == wanted);
	}
}

static void test_closed_form(void **unused)
{
	(void)unused;
	static struct group group;
	for (uint64_t seed = 0; seed < INSTANCES; seed++) {
		make_group(&group, seed);
		for (size_t r = 0; r < group.role_count; r++)
			set_state(&group, r, random_range(&group.random, 0, (int)group.roles[r].desired + 10),
			          random_chance(&group.random, 50) ? 97 : 100);
		for (size_t k = 0; k < group.rule_count; k++)
			check_definition(&group, &group.rules[k]);
	}
}

/* ---- whole deployments ---- */

static bool is_complete(const struct group *group)
{
	for (size_t r = 0; r < group->role_count; r++)
		if (group->roles[r].current != group->roles[r].desired)
			return false;
	return true;
}

static void take_targets(struct group *group, const struct merge_plan *plan)
{
	for (size_t r = 0; r < group->role_count; r++) {
		struct segment_role *role = &group->roles[r];
		int64_t target = plan->roles[r].target;
		int64_t kept = role->current < role->desired ? role->current : role->desired;
		holds(group, target <= role->desired);
		holds(group, target >= kept);
		for (int64_t i = role->current; i < target; i++)
			group->ready[r][i] = false;
		role->current = target;
	}
}

/* Some of what is not ready becomes so, in any order. `percent` 100: everything. */
static void grow_ready(struct group *group, int percent)
{
	for (size_t r = 0; r < group->role_count; r++) {
		struct segment_role *role = &group->roles[r];
		role->ready = 0;
		for (int64_t i = 0; i < role->current; i++) {
			if (!group->ready[r][i])
				group->ready[r][i] = random_chance(&group->random, percent);
			role->ready += group->ready[r][i];
		}
	}
}

static void play(struct group *group, int percent)
{
	struct arena *arena = arena_create();
	int step = 0;
	for (; step < MOST_STEPS && !is_complete(group); step++) {
		arena_reset(arena);
		take_targets(group, merge_targets(&group->input, arena));
		grow_ready(group, percent);
	}
	holds(group, step < MOST_STEPS);
	grow_ready(group, 100);
	arena_reset(arena);
	take_targets(group, merge_targets(&group->input, arena));
	holds(group, is_complete(group)); /* and it stays so */
	arena_destroy(arena);
}

static void test_every_deployment_ends(void **unused)
{
	(void)unused;
	static struct group group;
	for (uint64_t seed = 0; seed < INSTANCES / 2; seed++) {
		make_group(&group, seed);
		play(&group, seed % 2 == 0 ? 100 : 30);
		/* The user changes their mind; wherever that leaves the roles, they get there. */
		for (size_t r = 0; r < group.role_count; r++)
			group.roles[r].desired = random_range(&group.random, 0, MOST_REPLICAS);
		play(&group, 50);
		for (size_t r = 0; r < group.role_count; r++) {
			set_state(&group, r, random_range(&group.random, 0, MOST_REPLICAS), 60);
			group.roles[r].desired = random_range(&group.random, 1, MOST_REPLICAS);
		}
		play(&group, 70);
	}
}

/* One rule from nothing: after every step each role stands at the end of the same segment, one further than before. */
static void test_ratio_is_kept(void **unused)
{
	(void)unused;
	static struct group group;
	struct arena *arena = arena_create();
	for (uint64_t seed = 0; seed < INSTANCES; seed++) {
		make_group(&group, seed);
		group.input.rule_count = 1;
		group.input.dependency_count = 0;
		group.rules[0].progression = (enum segment_progression)(seed % 2);
		struct segment_state state;
		segment_judge(group.roles, group.role_count, &group.rules[0], &state);
		for (int64_t number = 1; number <= state.total; number++) {
			arena_reset(arena);
			take_targets(&group, merge_targets(&group.input, arena));
			for (size_t i = 0; i < group.rules[0].count; i++) {
				const struct segment_size *entry = &group.sizes[0][i];
				const struct segment_role *role = &group.roles[entry->role];
				holds(&group, role->current == end_by_definition(number, entry->size, role->desired));
			}
			grow_ready(&group, 100);
		}
	}
	arena_destroy(arena);
}

/* Fewer replicas are had at once, whatever waits. */
static void test_scale_down_is_immediate(void **unused)
{
	(void)unused;
	static struct group group;
	struct arena *arena = arena_create();
	for (uint64_t seed = 0; seed < INSTANCES; seed++) {
		make_group(&group, seed);
		for (size_t r = 0; r < group.role_count; r++)
			set_state(&group, r, random_range(&group.random, 0, 2 * MOST_REPLICAS - 1), 50);
		arena_reset(arena);
		struct merge_plan *plan = merge_targets(&group.input, arena);
		for (size_t r = 0; r < group.role_count; r++)
			if (group.roles[r].current >= group.roles[r].desired)
				holds(&group, plan->roles[r].target == group.roles[r].desired);
	}
	arena_destroy(arena);
}

/* Roles are of one set exactly when each can reach the other; dependencies may run in circles here. */
static void test_linked_sets(void **unused)
{
	(void)unused;
	static struct group group;
	struct arena *arena = arena_create();
	for (uint64_t seed = 0; seed < INSTANCES; seed++) {
		bool reaches[MOST_ROLES][MOST_ROLES] = {{false}};
		make_group(&group, seed);
		group.rule_count = (size_t)random_range(&group.random, 0, 2);
		for (size_t d = 0; d < group.dependency_count; d++)
			if (random_chance(&group.random, 50))
				group.dependencies[d] =
					(struct linked_way){group.dependencies[d].to, group.dependencies[d].from};
		for (size_t d = 0; d < group.dependency_count; d++)
			reaches[group.dependencies[d].from][group.dependencies[d].to] = true;
		for (size_t k = 0; k < group.rule_count; k++)
			for (size_t i = 0; i < group.rules[k].count; i++)
				for (size_t j = 0; j < group.rules[k].count; j++)
					reaches[group.sizes[k][i].role][group.sizes[k][j].role] = true;
		for (size_t via = 0; via < group.role_count; via++)
			for (size_t a = 0; a < group.role_count; a++)
				for (size_t b = 0; b < group.role_count; b++)
					reaches[a][b] = reaches[a][b] || (reaches[a][via] && reaches[via][b]);
		arena_reset(arena);
		size_t *set = linked_sets(group.role_count, group.rules, group.rule_count, group.dependencies,
		                          group.dependency_count, arena);
		for (size_t a = 0; a < group.role_count; a++)
			for (size_t b = 0; b < group.role_count; b++)
				holds(&group, (set[a] == set[b]) == (a == b || (reaches[a][b] && reaches[b][a])));
	}
	arena_destroy(arena);
}

/* ---- maxSkew ---- */

struct fleet {
	uint64_t seed;
	struct random random;
	size_t count, rule_count;
	size_t members[MOST_RULES][MOST_ROLES];
	struct skew_rule rules[MOST_RULES];
};

static void make_fleet(struct fleet *fleet, uint64_t seed)
{
	*fleet = (struct fleet){.seed = seed, .random = {seed}};
	struct random *random = &fleet->random;
	fleet->count = (size_t)random_range(random, 2, MOST_ROLES);
	fleet->rule_count = (size_t)random_range(random, 1, MOST_RULES);
	for (size_t k = 0; k < fleet->rule_count; k++) {
		struct skew_rule *rule = &fleet->rules[k];
		rule->max_skew = random_chance(random, 80) ? percent_share(random_range(random, 0, 30))
		                                           : percent_count(random_range(random, 0, 4));
		rule->progression = (enum skew_progression)random_range(random, 0, 2);
		rule->roles = fleet->members[k];
		for (size_t r = 0; r < fleet->count; r++)
			if (random_chance(random, 60))
				fleet->members[k][rule->count++] = r;
	}
}

/* 10^9 x (fastest - slowest) over the roles of a rule. */
static int64_t spread(const struct skew_rule *rule, const struct skew_update_role *roles)
{
	int64_t low = 1000000000, high = 0;
	for (size_t i = 0; i < rule->count; i++) {
		int64_t progress = roles[rule->roles[i]].updated * 1000000000 / roles[rule->roles[i]].desired;
		low = progress < low ? progress : low;
		high = progress > high ? progress : high;
	}
	return high > low ? high - low : 0;
}

static int64_t allowed_spread(const struct skew_rule *rule, const struct skew_update_role *roles)
{
	int64_t allowed = rule->max_skew.form == PERCENT_SHARE ? rule->max_skew.value * 10000000 : 0;
	for (size_t i = 0; i < rule->count; i++) {
		int64_t replicas =
			rule->max_skew.form == PERCENT_COUNT && rule->max_skew.value > 1 ? rule->max_skew.value : 1;
		int64_t steps = replicas * 1000000000 / roles[rule->roles[i]].desired + 1;
		allowed = steps > allowed ? steps : allowed;
	}
	return allowed + 1;
}

static void test_updates_stay_in_step(void **unused)
{
	(void)unused;
	static struct fleet fleet;
	for (uint64_t seed = 0; seed < INSTANCES; seed++) {
		make_fleet(&fleet, seed);
		struct skew_update_role roles[MOST_ROLES];
		int64_t targets[MOST_ROLES];
		bool is_done = false;
		for (size_t r = 0; r < fleet.count; r++) {
			int desired = random_range(&fleet.random, 1, MOST_REPLICAS);
			int updated = seed % 2 == 0 ? 0 : random_range(&fleet.random, 0, desired);
			roles[r] = (struct skew_update_role){"role", desired, updated, updated, false};
		}
		for (int step = 0; !is_done; step++) {
			int64_t before[MOST_RULES];
			holds(&fleet, step < MOST_STEPS);
			for (size_t k = 0; k < fleet.rule_count; k++)
				before[k] = spread(&fleet.rules[k], roles);
			skew_update(roles, fleet.count, fleet.rules, fleet.rule_count, targets);
			is_done = true;
			for (size_t r = 0; r < fleet.count; r++) {
				holds(&fleet, targets[r] >= roles[r].updated && targets[r] <= roles[r].desired);
				/* Workloads take their time, and each its own. */
				roles[r].updated +=
					random_range(&fleet.random, 0, (int)(targets[r] - roles[r].updated));
				roles[r].updated_ready +=
					random_range(&fleet.random, 0,
				                     (int)(roles[r].updated - roles[r].updated_ready));
				is_done = is_done && roles[r].updated == roles[r].desired;
			}
			for (size_t k = 0; k < fleet.rule_count; k++) {
				int64_t now = spread(&fleet.rules[k], roles),
					limit = allowed_spread(&fleet.rules[k], roles);
				holds(&fleet, now <= limit || now <= before[k]);
			}
		}
	}
}

static void test_scaling_ends(void **unused)
{
	(void)unused;
	static struct fleet fleet;
	for (uint64_t seed = 0; seed < INSTANCES; seed++) {
		make_fleet(&fleet, seed);
		struct skew_scale_role roles[MOST_ROLES] = {0};
		int64_t targets[MOST_ROLES];
		bool is_done = false;
		for (size_t r = 0; r < fleet.count; r++) {
			roles[r].desired = random_range(&fleet.random, 0, MOST_REPLICAS);
			roles[r].current = seed % 2 == 0 ? 0 : random_range(&fleet.random, 0, 2 * MOST_REPLICAS);
		}
		for (int step = 0; !is_done; step++) {
			holds(&fleet, step < MOST_STEPS);
			skew_scale(roles, fleet.count, fleet.rules, fleet.rule_count, targets);
			is_done = true;
			for (size_t r = 0; r < fleet.count; r++) {
				struct skew_scale_role *role = &roles[r];
				holds(&fleet, targets[r] <= role->desired);
				holds(&fleet, targets[r] >= count_least(role->current, role->desired));
				role->current = targets[r];
				role->scheduled += random_range(&fleet.random, 0,
				                                (int)count_most(role->current - role->scheduled, 0));
				role->scheduled = count_least(role->scheduled, role->current);
				role->ready += random_range(&fleet.random, 0,
				                            (int)count_most(role->scheduled - role->ready, 0));
				role->ready = count_least(role->ready, role->scheduled);
				is_done = is_done && role->current == role->desired;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_form),          cmocka_unit_test(test_every_deployment_ends),
		cmocka_unit_test(test_ratio_is_kept),        cmocka_unit_test(test_scale_down_is_immediate),
		cmocka_unit_test(test_updates_stay_in_step), cmocka_unit_test(test_scaling_ends),
		cmocka_unit_test(test_linked_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
