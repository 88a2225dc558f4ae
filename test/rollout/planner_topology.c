/* Checks the cases about rolling deploy: batches, names, labels, gates, affinity, topologies. */
#include "planner.h"

#include "rollout/deploy.h"
#include "rollout/merge.h"
#include "rollout/naming.h"

#include <ctype.h>
#include <string.h>

static void check_ordinals(struct planner_case *test, const char *what, const struct val *want, int64_t from,
                           int64_t to)
{
	if ((int64_t)val_count(want) != to - from)
		planner_wrong(test, "%s: expected %zu members, got %lld", what, val_count(want),
		              (long long)(to - from));
	for (int64_t i = from; i < to; i++)
		planner_int(test, what, val_item(want, (size_t)(i - from)), i);
}

void planner_topology_batches(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"batches", "batch", "topology_rule", NULL});
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	struct segment_rule rule = planner_read_rule(test, &roles, val_get(test->given, "roleDeployStep"), NULL);
	struct segment_state state;
	segment_judge(roles.items, roles.count, &rule, &state);
	planner_int(test, "batches", val_get(test->expect, "batches"), state.total);
	for (int64_t n = 0; n < state.total; n++)
		for (size_t i = 0; i < rule.count; i++) {
			const struct segment_role *role = &roles.items[rule.sizes[i].role];
			const struct val *want =
				val_get(val_item(val_get(test->expect, "batch"), (size_t)n), role->name);
			if (want)
				check_ordinals(test, role->name, want,
				               segment_end(n, rule.sizes[i].size, role->desired),
				               segment_end(n + 1, rule.sizes[i].size, role->desired));
		}
	/* All members of a batch carry one label value, and the affinity to it is required. */
	const char *value = naming_subgroup("group", "coordination", 0, test->arena);
	struct pod_term *term = deploy_affinity("group", value, "layer", DEPLOY_HARD, NAMING_V1ALPHA1, test->arena);
	planner_text(test, "topology_rule", val_get(test->expect, "topology_rule"),
	             term->weight == 0 ? "every batch inside one domain of the chosen layer" : "preferred");
}

void planner_topology_labels(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"labels", "subgroup", NULL});
	struct naming_instance instance = {
		.group = val_str(val_get(test->given, "rbg"), ""),
		.role = val_str(val_get(test->given, "role"), ""),
		.coordination = val_str(val_get(test->given, "coordination"), ""),
		.subgroup_size = planner_number(test->given, "subgroup_size", 1),
		.index = planner_number(test->given, "role_instance_index", -1),
	};
	struct label labels[NAMING_LABELS];
	const struct val *want = val_get(test->expect, "labels"), *item;
	const char *key = NULL;
	struct val_iter it = val_iter(want);
	bool is_new = val_kind(want) == VAL_MAP && val_next(&it, &key, NULL) && text_starts_with(key, "rbg.");
	size_t count = naming_labels(&instance, is_new ? NAMING_V1ALPHA2 : NAMING_V1ALPHA1, test->arena, labels);
	if (val_kind(want) != VAL_MAP || val_count(want) != count)
		planner_wrong(test, "labels: got %zu of them", count);
	for (it = val_iter(want); val_kind(want) == VAL_MAP && val_next(&it, &key, &item);) {
		const char *got = NULL;
		for (size_t i = 0; i < count; i++)
			if (strcmp(labels[i].key, key) == 0)
				got = labels[i].value;
		planner_text(test, key, item, got);
	}
	planner_int(test, "subgroup", val_get(test->expect, "subgroup"),
	            segment_of(instance.index, instance.subgroup_size));
}

void planner_topology_naming(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"subgroup", "names", NULL});
	const char *group = val_str(val_get(test->given, "rbg"), "");
	const char *coordination = val_str(val_get(test->given, "coordination"), "");
	const struct val *list = val_get(test->given, "cases"), *item;
	size_t i = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); i++) {
		int64_t number = segment_of(planner_number(item, "index", 0), planner_number(item, "size", 1));
		const char *name = naming_subgroup(group, coordination, number, test->arena);
		planner_int(test, "subgroup", val_item(val_get(test->expect, "subgroup"), i), number);
		planner_text(test, "names", val_item(val_get(test->expect, "names"), i), name);
		if (strlen(name) > NAMING_VALUE_MAX)
			planner_wrong(test, "names: %s is too long", name);
	}
}

/* The expected terms may leave out that ours is limited to the group. */
static void check_term(struct planner_case *test, const struct val *want, const struct pod_term *term)
{
	const struct match *match = &term->selector.items[0];
	planner_known(test, want, (const char *const[]){"key", "operator", "values", "topologyKey", "weight", NULL});
	planner_text(test, "key", val_get(want, "key"), match->key);
	planner_text(test, "operator", val_get(want, "operator"), match->op == MATCH_IN ? "In" : "other");
	planner_text(test, "values", val_item(val_get(want, "values"), 0), match->values[0]);
	planner_text(test, "topologyKey", val_get(want, "topologyKey"), term->topology_key);
	planner_int(test, "weight", val_get(want, "weight"), term->weight);
}

void planner_topology_affinity(struct planner_case *test)
{
	enum deploy_mode mode;
	if (!deploy_mode_parse(val_str(val_get(test->given, "constraintMode"), NULL), &mode)) {
		planner_wrong(test, "constraintMode is not known");
		return;
	}
	struct pod_term *term =
		deploy_affinity("group", val_str(val_get(test->given, "subgroup"), ""),
	                        val_str(val_get(test->given, "topologyKey"), ""), mode, NAMING_V1ALPHA1, test->arena);
	const struct val *affinity = val_get(test->expect, "podAffinity");
	const struct val *terms = val_get(affinity, mode == DEPLOY_HARD ? "required" : "preferred");
	planner_known(test, test->expect, (const char *const[]){"podAffinity", NULL});
	planner_known(test, affinity,
	              mode == DEPLOY_HARD ? (const char *const[]){"required", NULL}
	                                  : (const char *const[]){"preferred", NULL});
	if (val_count(terms) != 1)
		planner_wrong(test, "podAffinity: got one term");
	else
		check_term(test, val_item(terms, 0), term);
}

/* "P3" for the third member of prefill. */
static void check_place(struct planner_case *test, const char *node, const struct val *want,
                        const struct planner_roles *roles, const struct segment_rule *rule, int64_t batch)
{
	size_t at = 0;
	for (size_t i = 0; i < rule->count; i++) {
		const struct segment_role *role = &roles->items[rule->sizes[i].role];
		int64_t to = segment_end(batch + 1, rule->sizes[i].size, role->desired);
		for (int64_t n = segment_end(batch, rule->sizes[i].size, role->desired); n < to; n++)
			planner_text(test, node, val_item(want, at++),
			             arena_printf(test->arena, "%c%lld", toupper((unsigned char)role->name[0]),
			                          (long long)n + 1));
	}
	if (at != val_count(want))
		planner_wrong(test, "%s: expected %zu members, got %zu", node, val_count(want), at);
}

static void check_steps(struct planner_case *test, const struct planner_roles *roles, const struct segment_rule *rule)
{
	struct merge_input input = {.roles = roles->items, .role_count = roles->count, .rules = rule, .rule_count = 1};
	int64_t *targets = arena_array(test->arena, int64_t, roles->count + 1);
	const struct val *steps = val_get(test->expect, "steps");
	for (size_t step = 0; step < val_count(steps); step++) {
		struct merge_plan *plan = merge_targets(&input, test->arena);
		for (size_t r = 0; r < roles->count; r++) {
			targets[r] = plan->roles[r].target;
			roles->items[r].current = roles->items[r].ready = targets[r];
		}
		planner_by_role(test, "steps", val_item(steps, step), roles, targets);
	}
}

/* Story 2 of the document names no numbers; those of its story 1 serve. */
static void check_lost_domain(struct planner_case *test)
{
	struct segment_role roles[] = {{.name = "prefill", .desired = 4}, {.name = "decode", .desired = 2}};
	const struct segment_size sizes[] = {{0, 2}, {1, 1}};
	const struct segment_rule rule = {.name = "", .sizes = sizes, .count = 2};
	struct segment_state state;
	segment_judge(roles, 2, &rule, &state);
	bool is_served = state.total > 1;
	for (int64_t n = 1; n < state.total; n++)
		for (size_t r = 0; r < 2; r++)
			is_served = is_served && segment_end(n + 1, sizes[r].size, roles[r].desired) >
			                                 segment_end(n, sizes[r].size, roles[r].desired);
	planner_text(test, "service", val_get(test->expect, "service"),
	             is_served ? "degraded, still both roles" : "down");
}

void planner_topology_story(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"placement", "service", "steps", NULL});
	const struct val *placement = val_get(test->expect, "placement");
	if (val_get(test->expect, "service"))
		check_lost_domain(test);
	if (!val_get(test->given, "roles"))
		return;
	const struct val *ratio = val_get(test->given, "ratio");
	struct planner_roles roles = planner_read_roles(test, val_get(test->given, "roles"));
	struct segment_rule rule =
		planner_read_rule(test, &roles, ratio ? ratio : val_get(test->given, "roleDeployStep"), NULL);
	size_t batch = 0;
	const struct val *node;
	for (struct val_iter it = val_iter(val_get(test->given, "nodes")); placement && val_next(&it, NULL, &node);
	     batch++)
		check_place(test, val_str(node, ""), val_get(placement, val_str(node, "")), &roles, &rule,
		            (int64_t)batch);
	check_steps(test, &roles, &rule);
}

void planner_topology_gates(struct planner_case *test)
{
	planner_known(test, test->expect, (const char *const[]){"events", NULL});
	const struct val *events = val_get(test->expect, "events");
	int64_t batches = planner_number(test->given, "batches", 0);
	bool exist = val_bool(val_get(test->given, "all_pods_created_at_start"), true);
	struct segment_role role = {.name = "role", .desired = batches, .current = exist ? batches : 1};
	const struct segment_size size = {0, 1};
	const struct segment_rule rule = {.name = "", .progression = SEGMENT_ORDERED, .sizes = &size, .count = 1};
	size_t at = 0;
	int64_t released = deploy_released(&role, 1, &rule);
	for (int64_t n = 0; n < batches; n++)
		planner_text(test, "events", val_item(events, at++),
		             arena_printf(test->arena, "batch %lld: %s", (long long)n,
		                          n < released ? "no gate" : "gated"));
	for (int64_t n = 0; n + 1 < batches; n++) {
		role.ready = n + 1; /* what has arrived: here, been scheduled */
		bool is_free = deploy_released(&role, 1, &rule) > n + 1;
		planner_text(test, "events", val_item(events, at++),
		             arena_printf(test->arena,
		                          "all pods of batch %lld have PodScheduled=True -> %s gates of batch %lld",
		                          (long long)n, is_free ? "remove" : "keep", (long long)n + 1));
	}
	if (at != val_count(events))
		planner_wrong(test, "events: expected %zu, got %zu", val_count(events), at);
}

/* That the spec is immutable and a finalizer guards it is admission's and the controller's; the names are ours. */
void planner_topology_crd(struct planner_case *test)
{
	planner_known(test, test->expect,
	              (const char *const[]){"currentTopologyLevel", "immutable", "finalizer_while_referenced",
	                                    "default_name", "constraintMode_default", NULL});
	const struct val *list = val_get(test->given, "layers"), *item;
	struct deploy_layer *layers = arena_array(test->arena, struct deploy_layer, val_count(list) + 1);
	size_t count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); count++) {
		layers[count].name = val_str(val_get(item, "name"), "");
		layers[count].has_scope = val_int(val_path(test->given, "topologyScope", layers[count].name, NULL),
		                                  &layers[count].scope) == 0;
	}
	enum deploy_mode mode = DEPLOY_SOFT;
	(void)deploy_mode_parse(NULL, &mode);
	planner_text(test, "currentTopologyLevel", val_get(test->expect, "currentTopologyLevel"),
	             deploy_level_text(layers, count, test->arena));
	planner_text(test, "default_name", val_get(test->expect, "default_name"), DEPLOY_TOPOLOGY);
	planner_text(test, "constraintMode_default", val_get(test->expect, "constraintMode_default"),
	             mode == DEPLOY_HARD ? "hard" : "soft");
}
