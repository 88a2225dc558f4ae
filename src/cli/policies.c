/* Owns what --compare means: strategies, each a policy of its own, or the actions of a second policy. */
#include "cli/policies.h"

#include "cli/output.h"

#include <string.h>

/* What every cycle does where nobody says otherwise. */
static bool has_usual_actions(const struct policy *policy)
{
	enum cycle_action usual[ACTION_COUNT];
	size_t count = cycle_action_list_all(usual);
	return policy->action_count == count && memcmp(policy->actions, usual, count * sizeof(*usual)) == 0;
}

static const char *actions_title(struct arena *arena, const struct policy *policy)
{
	const char *text = "";
	if (has_usual_actions(policy))
		return "all actions";
	for (size_t i = 0; i < policy->action_count; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", cycle_action_name(policy->actions[i]));
	return text;
}

static bool same_strategy(struct strategy a, struct strategy b)
{
	return a.gpu == b.gpu && a.cpu == b.cpu;
}

/* Named by what differs; a policy that stands alone by its actions. */
static void name_policies(struct arena *arena, struct policy *policies, int count)
{
	bool differ = count > 1 && !same_strategy(policies[0].strategy, policies[1].strategy);
	for (int i = 0; i < count; i++) {
		const char *actions = actions_title(arena, &policies[i]),
			   *strategy = strategy_name(policies[i].strategy);
		bool binpack = same_strategy(policies[i].strategy, (struct strategy){0});
		policies[i].title = !differ && binpack ? actions
		                    : has_usual_actions(&policies[i])
		                            ? strategy
		                            : arena_printf(arena, "%s, %s", strategy, actions);
	}
}

static int wrong(struct arena *arena, const char *value, const char *what)
{
	output_line(
		stderr,
		"platoon simulate: --compare %s: %s; give one or two of binpack, spread, gpu=spread, cpu=spread, or "
		"the actions of a second policy: %s",
		value, what, cycle_action_join_names(arena, ", "));
	return -1;
}

static int read_strategies(struct cli_args *args, struct policy policies[MOST_POLICIES])
{
	int count = 0;
	struct strategy list[MOST_POLICIES + 1];
	for (const char *at = args->compare;; at++) {
		size_t length = strcspn(at, ",");
		if (count == MOST_POLICIES)
			return wrong(args->arena, args->compare, "more than two");
		if (strategy_parse(arena_strndup(args->arena, at, length), &list[count++]) < 0)
			return wrong(args->arena, args->compare,
			             arena_printf(args->arena, "\"%.*s\" does not belong there", (int)length, at));
		at += length;
		if (!*at)
			break;
	}
	policies[1] = policies[0];
	if (count > 1)
		policies[0].strategy = list[0];
	policies[1].strategy = list[count - 1];
	if (same_strategy(policies[0].strategy, policies[1].strategy))
		return wrong(args->arena, args->compare, "that is the same strategy twice");
	return MOST_POLICIES;
}

static int read_actions(struct cli_args *args, struct policy policies[MOST_POLICIES])
{
	enum cycle_action *actions = arena_array(args->arena, enum cycle_action, strlen(args->compare) + 1);
	policies[1] = policies[0];
	policies[1].action_count = 0;
	for (const char *at = args->compare;; at++) {
		size_t length = strcspn(at, ",");
		if (cycle_action_parse(at, length, &actions[policies[1].action_count++]) < 0)
			return wrong(args->arena, args->compare,
			             arena_printf(args->arena, "\"%.*s\" is neither a strategy nor an action",
			                          (int)length, at));
		at += length;
		if (!*at)
			break;
	}
	policies[1].actions = actions;
	return MOST_POLICIES;
}

int policies_read(struct cli_args *args, struct policy policies[MOST_POLICIES])
{
	struct strategy first;
	int count = 1;
	policies[0] = (struct policy){.actions = args->actions,
	                              .action_count = args->action_count,
	                              .strategy = args->settings.strategy};
	if (args->compare) {
		size_t length = strcspn(args->compare, ",");
		bool strategies = strategy_parse(arena_strndup(args->arena, args->compare, length), &first) == 0;
		count = strategies ? read_strategies(args, policies) : read_actions(args, policies);
	}
	name_policies(args->arena, policies, count);
	return count;
}
