/* Random rolling updates, of one role and of a group in segments, played to their end.
 *
 * On the way: never more instances than replicas and surge, never fewer available than allowed, nothing below a
 * partition touched, no segment before the ones after it. A failure names the seed. */
#include "rollout/order.h"
#include "rollout/skew.h"
#include "rollout/update.h"

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { OLD, NEW, THIRD, MOST_REPLICAS = 12, MOST_INSTANCES = 40, MOST_ROLES = 4, ROLLOUTS = 2000, MOST_STEPS = 4000 };

struct role {
	struct update_limits limits;
	struct update_instance items[MOST_INSTANCES];
	int age[MOST_INSTANCES]; /* steps without being healthy */
	size_t count;
	int64_t available; /* the least that must be */
};

struct rollout {
	uint64_t seed;
	struct random random;
	struct arena *arena;
};

#define holds(rollout, condition)                                                                                      \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail_msg("seed %llu: %s", (unsigned long long)(rollout)->seed, #condition);                    \
	} while (0)

static void make_role(struct rollout *rollout, struct role *role)
{
	struct random *random = &rollout->random;
	struct update_strategy strategy = {
		.max_unavailable = percent_count(random_range(random, 0, 3)),
		.max_surge = random_chance(random, 50) ? percent_count(random_range(random, 0, 3)) : percent_share(30),
		.partition = random_chance(random, 30) ? percent_share(random_range(random, 0, 99)) : percent_count(0),
	};
	*role = (struct role){.count = (size_t)random_range(random, 1, MOST_REPLICAS)};
	update_resolve(&strategy, (int64_t)role->count, &role->limits);
	role->available = role->limits.replicas - role->limits.max_unavailable;
	for (size_t i = 0; i < role->count; i++)
		role->items[i] = (struct update_instance){.ordinal = (int64_t)i, .revision = OLD, .is_healthy = true};
}

static int64_t count_available(const struct role *role)
{
	int64_t available = 0;
	for (size_t i = 0; i < role->count; i++)
		available += role->items[i].is_healthy && !role->items[i].is_terminating;
	return available;
}

/* What the cluster does: ends what terminates, starts what is new, sometimes. */
static void live(struct rollout *rollout, struct role *role)
{
	size_t kept = 0;
	for (size_t i = 0; i < role->count; i++) {
		struct update_instance *item = &role->items[i];
		if (item->is_terminating && random_chance(&rollout->random, 60))
			continue;
		if (!item->is_terminating && random_chance(&rollout->random, 60))
			item->is_healthy = true;
		role->age[kept] = item->is_healthy ? 0 : role->age[i] + 1;
		item->is_broken = role->age[kept] > 3;
		role->items[kept++] = *item;
	}
	role->count = kept;
}

static bool has_ordinal(const struct role *role, int64_t ordinal)
{
	for (size_t i = 0; i < role->count; i++)
		if (role->items[i].ordinal == ordinal)
			return true;
	return false;
}

static void control(struct rollout *rollout, struct role *role, int64_t update, struct update_shape *shape)
{
	enum update_action actions[MOST_INSTANCES];
	update_shape(&role->limits, OLD, update, role->items, role->count, shape);
	holds(rollout, shape->surge <= role->limits.max_surge);
	update_decide(shape, role->items, role->count, actions, rollout->arena);
	for (size_t i = 0; i < role->count; i++) {
		if (actions[i] == UPDATE_KEEP)
			continue;
		holds(rollout, role->items[i].ordinal >= role->limits.partition);
		holds(rollout, actions[i] != UPDATE_REPLACE || role->items[i].revision != update);
		role->items[i].is_terminating = true;
	}
	for (int64_t ordinal = 0; ordinal < shape->end; ordinal++)
		if (!has_ordinal(role, ordinal)) {
			role->age[role->count] = 0;
			role->items[role->count++] =
				(struct update_instance){.ordinal = ordinal,
			                                 .revision = update_revision(shape, ordinal)};
		}
	holds(rollout, (int64_t)role->count <= role->limits.replicas + role->limits.max_surge);
}

static void test_one_role(void **unused)
{
	(void)unused;
	static struct role role;
	struct rollout rollout = {.arena = arena_create()};
	for (rollout.seed = 0; rollout.seed < ROLLOUTS; rollout.seed++) {
		struct update_shape shape = {0};
		rollout.random.state = rollout.seed;
		make_role(&rollout, &role);
		for (int step = 0; !shape.is_done || (int64_t)role.count != role.limits.replicas; step++) {
			holds(&rollout, step < MOST_STEPS);
			arena_reset(rollout.arena);
			role.limits.is_paused = random_chance(&rollout.random, 10);
			control(&rollout, &role, NEW, &shape);
			holds(&rollout, count_available(&role) >= role.available);
			live(&rollout, &role);
		}
		for (size_t i = 0; i < role.count; i++)
			holds(&rollout,
			      role.items[i].revision == (role.items[i].ordinal >= role.limits.partition ? NEW : OLD));
	}
	arena_destroy(rollout.arena);
}

/* Old instances that are down from the start, or break on the way, do not stop an update to a revision that works. */
static void test_broken_instances(void **unused)
{
	(void)unused;
	static struct role role;
	struct rollout rollout = {.arena = arena_create()};
	for (rollout.seed = 0; rollout.seed < ROLLOUTS; rollout.seed++) {
		struct update_shape shape = {0};
		rollout.random.state = rollout.seed;
		make_role(&rollout, &role);
		role.limits.partition = 0;
		for (int step = 0; !shape.is_done; step++) {
			holds(&rollout, step < MOST_STEPS);
			arena_reset(rollout.arena);
			for (size_t i = 0; i < role.count; i++)
				if (role.items[i].revision == OLD && random_chance(&rollout.random, 40))
					role.items[i].is_healthy = false;
			control(&rollout, &role, NEW, &shape);
			live(&rollout, &role);
		}
	}
	arena_destroy(rollout.arena);
}

/* The user goes back, or on to a third revision, while an update is under way. */
static void test_changes_of_mind(void **unused)
{
	(void)unused;
	static struct role role;
	struct rollout rollout = {.arena = arena_create()};
	for (rollout.seed = 0; rollout.seed < ROLLOUTS; rollout.seed++) {
		struct update_shape shape = {0};
		rollout.random.state = rollout.seed;
		make_role(&rollout, &role);
		int64_t partition = role.limits.partition, update = NEW;
		int turn = random_range(&rollout.random, 1, 20);
		for (int step = 0; step <= turn || !shape.is_done || (int64_t)role.count != role.limits.replicas;
		     step++) {
			holds(&rollout, step < MOST_STEPS);
			arena_reset(rollout.arena);
			if (step == turn)
				update = rollout.seed % 2 == 0 ? OLD : THIRD;
			control(&rollout, &role, update, &shape);
			holds(&rollout, count_available(&role) >= role.available);
			live(&rollout, &role);
		}
		for (size_t i = 0; i < role.count; i++)
			holds(&rollout, role.items[i].revision == (role.items[i].ordinal >= partition ? update : OLD));
	}
	arena_destroy(rollout.arena);
}

/* ---- a group in segments, held together by maxSkew ---- */

struct fleet {
	struct role roles[MOST_ROLES];
	bool updated[MOST_ROLES][MOST_INSTANCES];
	size_t count;
	int64_t size[MOST_ROLES], user_partition[MOST_ROLES];
	struct segment_size sizes[2][MOST_ROLES];
	struct segment_rule rules[2];
	size_t members[MOST_ROLES];
	struct skew_rule skew;
};

static void make_fleet(struct rollout *rollout, struct fleet *fleet)
{
	struct random *random = &rollout->random;
	*fleet = (struct fleet){.count = (size_t)random_range(random, 1, MOST_ROLES)};
	for (size_t k = 0; k < 2; k++)
		fleet->rules[k] = (struct segment_rule){"rule", SEGMENT_ORDERED_READY, fleet->sizes[k], 0};
	for (size_t r = 0; r < fleet->count; r++) {
		make_role(rollout, &fleet->roles[r]);
		fleet->user_partition[r] = fleet->roles[r].limits.partition;
		fleet->size[r] = random_range(random, 1, 4);
		for (size_t k = 0; k < 2; k++)
			if (random_chance(random, 60))
				fleet->sizes[k][fleet->rules[k].count++] = (struct segment_size){r, fleet->size[r]};
		/* A role held back for ever by the user holds the others within maxSkew: leave such out of the rule. */
		if (fleet->user_partition[r] == 0)
			fleet->members[fleet->skew.count++] = r;
	}
	fleet->skew.roles = fleet->members;
	fleet->skew.max_skew = percent_share(random_range(random, 0, 40));
}

static void judge_roles(struct fleet *fleet, struct order_result *results, int64_t *targets)
{
	struct order_role roles[MOST_ROLES];
	struct skew_update_role states[MOST_ROLES];
	memset(fleet->updated, 0, sizeof(fleet->updated));
	for (size_t r = 0; r < fleet->count; r++) {
		struct role *role = &fleet->roles[r];
		states[r] = (struct skew_update_role){.name = "role", .desired = role->limits.replicas};
		for (size_t i = 0; i < role->count; i++) {
			const struct update_instance *item = &role->items[i];
			bool is_new = item->ordinal < role->limits.replicas && item->revision == NEW;
			if (is_new && item->is_healthy && !item->is_terminating) {
				fleet->updated[r][item->ordinal] = true;
				states[r].updated_ready++;
			}
			states[r].updated += is_new;
		}
		roles[r] = (struct order_role){role->limits.replicas, fleet->user_partition[r], fleet->updated[r]};
	}
	order_partitions(roles, fleet->count, fleet->rules, 2, results);
	for (size_t r = 0; r < fleet->count; r++)
		states[r].is_waiting = results[r].is_waiting;
	skew_update(states, fleet->count, &fleet->skew, 1, targets);
}

/* No ordinal may have left the old revision while a later segment of a rule is not done. Surge is not part of it. */
static void check_order(struct rollout *rollout, const struct fleet *fleet, const struct order_result *results)
{
	for (size_t k = 0; k < 2; k++) {
		int64_t turn = -1;
		for (size_t i = 0; i < fleet->rules[k].count; i++) {
			size_t r = fleet->sizes[k][i].role;
			if (results[r].pending >= 0 && results[r].pending / fleet->size[r] > turn)
				turn = results[r].pending / fleet->size[r];
		}
		for (size_t i = 0; i < fleet->rules[k].count && turn >= 0; i++) {
			size_t r = fleet->sizes[k][i].role;
			holds(rollout, results[r].partition >= turn * fleet->size[r] ||
			                       results[r].partition == fleet->roles[r].limits.replicas);
			holds(rollout, results[r].partition >= fleet->user_partition[r]);
		}
	}
}

static void test_groups(void **unused)
{
	(void)unused;
	static struct fleet fleet;
	struct rollout rollout = {.arena = arena_create()};
	for (rollout.seed = 0; rollout.seed < ROLLOUTS; rollout.seed++) {
		rollout.random.state = rollout.seed;
		make_fleet(&rollout, &fleet);
		for (int step = 0;; step++) {
			struct order_result results[MOST_ROLES];
			struct update_shape shape;
			int64_t targets[MOST_ROLES];
			bool is_done = true;
			holds(&rollout, step < MOST_STEPS);
			arena_reset(rollout.arena);
			judge_roles(&fleet, results, targets);
			check_order(&rollout, &fleet, results);
			for (size_t r = 0; r < fleet.count; r++) {
				struct role *role = &fleet.roles[r];
				int64_t by_skew = role->limits.replicas - targets[r];
				role->limits.partition =
					results[r].partition > by_skew ? results[r].partition : by_skew;
				control(&rollout, role, NEW, &shape);
				holds(&rollout, count_available(role) >= role->available);
				live(&rollout, role);
				is_done = is_done && results[r].pending < 0;
			}
			if (is_done)
				break;
		}
	}
	arena_destroy(rollout.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_role),
		cmocka_unit_test(test_broken_instances),
		cmocka_unit_test(test_changes_of_mind),
		cmocka_unit_test(test_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
