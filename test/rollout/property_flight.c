/* A hundred thousand groups in flight: chains and overlaps of coordinations, any start, readiness that lags and flaps,
 * and users who change replicas and sizes on the way. After every step the promises of segment placement are looked at;
 * in the end everything must be there. A failure names the seed. */
#include "rollout/merge.h"

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { FLIGHTS = 100000, MOST_ROLES = 6, MOST_RULES = 5, MOST_REPLICAS = 24, MOST_STEPS = 2000 };

struct flight {
	uint64_t seed;
	struct random random;
	struct segment_role roles[MOST_ROLES];
	bool ready[MOST_ROLES][2 * MOST_REPLICAS];
	int64_t size[MOST_ROLES];
	size_t role_count, rule_count;
	struct segment_rule rules[MOST_RULES];
	struct segment_size sizes[MOST_RULES][MOST_ROLES];
};

#define holds(flight, condition)                                                                                       \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail_msg("seed %llu: %s", (unsigned long long)(flight)->seed, #condition);                     \
	} while (0)

static void write_sizes(struct flight *flight)
{
	for (size_t k = 0; k < flight->rule_count; k++)
		for (size_t i = 0; i < flight->rules[k].count; i++)
			flight->sizes[k][i].size = flight->size[flight->sizes[k][i].role];
}

/* Half of the set-ups are chains, each rule sharing a role with the next; the others name roles at random. */
static void make(struct flight *flight, uint64_t seed)
{
	*flight = (struct flight){.seed = seed, .random = {seed}};
	struct random *random = &flight->random;
	enum segment_progression progression = (enum segment_progression)random_range(random, 0, 2);
	bool is_chain = random_chance(random, 50);
	flight->role_count = (size_t)random_range(random, 2, MOST_ROLES);
	flight->rule_count = is_chain ? flight->role_count - 1 : (size_t)random_range(random, 1, MOST_RULES);
	for (size_t r = 0; r < flight->role_count; r++) {
		flight->size[r] = random_range(random, 1, 5);
		flight->roles[r].name = "role";
		flight->roles[r].desired = random_range(random, random_chance(random, 5) ? 0 : 1, MOST_REPLICAS);
		flight->roles[r].is_ready = flight->ready[r];
		if (random_chance(random, 30))
			flight->roles[r].current = random_range(random, 0, MOST_REPLICAS);
	}
	for (size_t k = 0; k < flight->rule_count; k++) {
		struct segment_rule *rule = &flight->rules[k];
		*rule = (struct segment_rule){"rule", progression, flight->sizes[k], 0};
		for (size_t r = 0; r < flight->role_count; r++)
			if (is_chain ? r == k || r == k + 1 : random_chance(random, 50))
				flight->sizes[k][rule->count++].role = r;
	}
	write_sizes(flight);
}

/* ---- what is promised ---- */

static int64_t end_of(const struct segment_role *role, int64_t number, int64_t size)
{
	return number * size < role->desired ? number * size : role->desired;
}

/* Leading segments that exist in full. */
static int64_t count_created(const struct flight *flight, const struct segment_rule *rule)
{
	for (int64_t number = 0;; number++) {
		bool more = false;
		for (size_t i = 0; i < rule->count; i++) {
			const struct segment_role *role = &flight->roles[rule->sizes[i].role];
			if (role->current < end_of(role, number + 1, rule->sizes[i].size))
				return number;
			more |= end_of(role, number + 1, rule->sizes[i].size) < role->desired;
		}
		if (!more)
			return number + 1;
	}
}

static bool are_ready(const struct flight *flight, const struct segment_rule *rule, int64_t number)
{
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = &flight->roles[rule->sizes[i].role];
		for (int64_t o = 0; o < end_of(role, number, rule->sizes[i].size); o++)
			if (!role->is_ready[o])
				return false;
	}
	return true;
}

/* How many segments the role that is furthest ahead has begun beyond what the one furthest behind has completed. */
static int64_t spread(const struct flight *flight, const struct segment_rule *rule, const int64_t *replicas)
{
	int64_t ahead = 0, behind = INT64_MAX;
	for (size_t i = 0; i < rule->count; i++) {
		size_t r = rule->sizes[i].role;
		int64_t size = rule->sizes[i].size;
		if ((replicas[r] + size - 1) / size > ahead)
			ahead = (replicas[r] + size - 1) / size;
		if (replicas[r] < flight->roles[r].desired && replicas[r] / size < behind)
			behind = replicas[r] / size;
	}
	return behind == INT64_MAX ? 0 : ahead - behind;
}

static void check(const struct flight *flight, const struct merge_plan *plan)
{
	int64_t before[MOST_ROLES], after[MOST_ROLES];
	for (size_t r = 0; r < flight->role_count; r++) {
		const struct segment_role *role = &flight->roles[r];
		before[r] = role->current < role->desired ? role->current : role->desired;
		after[r] = plan->roles[r].target;
		holds(flight, after[r] >= before[r]);
		holds(flight, after[r] <= role->desired);
	}
	for (size_t k = 0; k < flight->rule_count; k++) {
		const struct segment_rule *rule = &flight->rules[k];
		bool grows = false;
		for (size_t i = 0; i < rule->count; i++)
			grows |= after[rule->sizes[i].role] > flight->roles[rule->sizes[i].role].current;
		if (rule->progression == SEGMENT_ORDERED_READY && grows)
			holds(flight, are_ready(flight, rule, count_created(flight, rule)));
		if (rule->progression == SEGMENT_PARALLEL)
			continue;
		/* Within one segment of each other, or, where they were further apart, not further than before. */
		int64_t was = spread(flight, rule, before), is = spread(flight, rule, after);
		holds(flight, is <= (was > 1 ? was : 1));
	}
}

/* ---- the flight ---- */

static bool is_complete(const struct flight *flight)
{
	for (size_t r = 0; r < flight->role_count; r++)
		if (flight->roles[r].current != flight->roles[r].desired)
			return false;
	return true;
}

static void step(struct flight *flight, struct arena *arena)
{
	struct merge_input input = {flight->roles, flight->role_count, flight->rules, flight->rule_count, NULL, 0};
	arena_reset(arena);
	const struct merge_plan *plan = merge_targets(&input, arena);
	check(flight, plan);
	for (size_t r = 0; r < flight->role_count; r++) {
		for (int64_t o = flight->roles[r].current; o < plan->roles[r].target; o++)
			flight->ready[r][o] = false;
		flight->roles[r].current = plan->roles[r].target;
	}
}

static void change_ready(struct flight *flight, int gain, int loss)
{
	for (size_t r = 0; r < flight->role_count; r++)
		for (int64_t o = 0; o < flight->roles[r].current; o++) {
			bool *ready = &flight->ready[r][o];
			*ready = *ready ? !random_chance(&flight->random, loss) : random_chance(&flight->random, gain);
		}
}

static void change_mind(struct flight *flight)
{
	struct random *random = &flight->random;
	size_t r = (size_t)random_range(random, 0, (int)flight->role_count - 1);
	if (random_chance(random, 60))
		flight->roles[r].desired = random_range(random, 0, MOST_REPLICAS);
	else
		flight->size[r] = random_range(random, 1, 5);
	write_sizes(flight);
}

static void fly(struct flight *flight, struct arena *arena)
{
	int rough = random_range(&flight->random, 0, 20), steps = 0;
	for (; rough > 0; rough--) {
		step(flight, arena);
		change_ready(flight, 60, 10);
		if (random_chance(&flight->random, 15))
			change_mind(flight);
	}
	/* From here on the weather is fine: what is ready stays so. */
	for (; !is_complete(flight) && steps < MOST_STEPS; steps++) {
		step(flight, arena);
		change_ready(flight, 70, 0);
	}
	holds(flight, steps < MOST_STEPS);
	step(flight, arena);
	holds(flight, is_complete(flight));
}

static void every_flight_arrives(void **unused)
{
	(void)unused;
	static struct flight flight;
	struct arena *arena = arena_create();
	for (uint64_t seed = 0; seed < FLIGHTS; seed++) {
		make(&flight, seed);
		fly(&flight, arena);
	}
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_flight_arrives)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
