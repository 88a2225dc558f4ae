/* Owns the arithmetic of maxSkew. Progress is a fraction of integers; products of three counts need 128 bits. */
#include "rollout/skew.h"

#include "rollout/count.h"

#include <string.h>

typedef __int128 wide;

struct fraction {
	int64_t part, whole; /* whole at least 1 */
};

static int compare_fractions(struct fraction a, struct fraction b)
{
	int64_t left = a.part * b.whole, right = b.part * a.whole;
	return (left > right) - (left < right);
}

/* How far a role of `desired` replicas may go from progress `base`. Rounded down the skew is kept exactly. */
static int64_t reach(struct fraction base, struct percent max_skew, int64_t desired, enum percent_rounding rounding)
{
	int64_t share = max_skew.form == PERCENT_SHARE ? count_least(count_clamp(max_skew.value), 100) : 0;
	int64_t extra = max_skew.form == PERCENT_COUNT ? count_clamp(max_skew.value) : 0;
	if (max_skew.form == PERCENT_UNSET)
		share = 100;
	wide scale = (wide)100 * base.whole;
	wide product = ((wide)100 * base.part + (wide)share * base.whole) * desired;
	wide steps = product / scale + (rounding == PERCENT_UP && product % scale != 0) + extra;
	return steps > desired ? desired : (int64_t)steps;
}

/* ---- scaling ---- */

static bool is_growing(const struct skew_scale_role *role)
{
	return count_clamp(role->current) < count_clamp(role->desired);
}

static bool is_gate_open(const struct skew_scale_role *role, enum skew_progression progression)
{
	if (progression == SKEW_FREE || !is_growing(role))
		return true;
	return (progression == SKEW_READY ? role->ready : role->scheduled) >= count_clamp(role->current);
}

static struct fraction scale_progress(const struct skew_scale_role *role)
{
	return (struct fraction){count_clamp(role->current), count_clamp(role->desired)};
}

static void scale_rule(const struct skew_scale_role *roles, size_t role_count, const struct skew_rule *rule,
                       int64_t *targets)
{
	struct fraction slowest = {1, 1};
	bool is_open = true;
	for (size_t i = 0; i < rule->count; i++) {
		if (rule->roles[i] >= role_count)
			continue;
		const struct skew_scale_role *role = &roles[rule->roles[i]];
		is_open = is_open && is_gate_open(role, rule->progression);
		if (is_growing(role) && compare_fractions(scale_progress(role), slowest) < 0)
			slowest = scale_progress(role);
	}
	for (size_t i = 0; i < rule->count; i++) {
		if (rule->roles[i] >= role_count || !is_growing(&roles[rule->roles[i]]))
			continue;
		const struct skew_scale_role *role = &roles[rule->roles[i]];
		int64_t current = count_clamp(role->current), target = current;
		if (is_open)
			target = count_most(target,
			                    reach(slowest, rule->max_skew, count_clamp(role->desired), PERCENT_UP));
		if (is_open && compare_fractions(scale_progress(role), slowest) == 0)
			target = count_most(target, current + 1);
		targets[rule->roles[i]] = count_least(targets[rule->roles[i]], target);
	}
}

void skew_scale(const struct skew_scale_role *roles, size_t role_count, const struct skew_rule *rules,
                size_t rule_count, int64_t *targets)
{
	for (size_t r = 0; r < role_count; r++)
		targets[r] = count_clamp(roles[r].desired);
	for (size_t k = 0; k < rule_count; k++)
		scale_rule(roles, role_count, &rules[k], targets);
}

/* ---- rolling update ---- */

static int64_t updated_of(const struct skew_update_role *role)
{
	return count_least(count_clamp(role->updated), count_clamp(role->desired));
}

static int64_t settled_of(const struct skew_update_role *role)
{
	return count_least(count_clamp(role->updated_ready), updated_of(role));
}

static bool has_say(const struct skew_update_role *role)
{
	return role->desired >= 1 && !role->is_waiting;
}

static struct fraction updated_progress(const struct skew_update_role *role)
{
	return (struct fraction){updated_of(role), count_clamp(role->desired)};
}

static struct fraction settled_progress(const struct skew_update_role *role)
{
	return (struct fraction){settled_of(role), count_clamp(role->desired)};
}

static void update_rule(const struct skew_update_role *roles, size_t role_count, const struct skew_rule *rule,
                        int64_t *targets)
{
	struct fraction slowest = {1, 1}, fastest = {0, 1};
	for (size_t i = 0; i < rule->count; i++) {
		const struct skew_update_role *role = rule->roles[i] < role_count ? &roles[rule->roles[i]] : NULL;
		if (!role || !has_say(role))
			continue;
		if (compare_fractions(settled_progress(role), slowest) < 0)
			slowest = settled_progress(role);
		if (compare_fractions(updated_progress(role), fastest) > 0)
			fastest = updated_progress(role);
	}
	for (size_t i = 0; i < rule->count; i++) {
		const struct skew_update_role *role = rule->roles[i] < role_count ? &roles[rule->roles[i]] : NULL;
		if (!role || role->desired < 1)
			continue;
		int64_t desired = count_clamp(role->desired);
		/* To catch up with the fastest role makes no skew larger, so that needs no small steps. */
		int64_t target = count_most(reach(slowest, rule->max_skew, desired, PERCENT_DOWN),
		                            reach(fastest, percent_share(0), desired, PERCENT_DOWN));
		if (has_say(role) && compare_fractions(settled_progress(role), slowest) == 0)
			target = count_most(target, settled_of(role) + 1);
		target = count_least(count_most(target, updated_of(role)), desired);
		targets[rule->roles[i]] = count_least(targets[rule->roles[i]], target);
	}
}

void skew_update(const struct skew_update_role *roles, size_t role_count, const struct skew_rule *rules,
                 size_t rule_count, int64_t *targets)
{
	for (size_t r = 0; r < role_count; r++)
		targets[r] = count_clamp(roles[r].desired);
	for (size_t k = 0; k < rule_count; k++)
		update_rule(roles, role_count, &rules[k], targets);
}
