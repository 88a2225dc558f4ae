/* Owns the decisions of one turn: how many instances each role may have now, which batches are free to be scheduled, and
 * what the rolling update does to each instance. The arithmetic is that of src/plan; here it is put together. */
#include "rbg/internal.h"

#include "rollout/conflicts.h"
#include "rollout/count.h"

#include <string.h>

static int64_t most_ordinals(const struct rbg_role_state *role)
{
	return count_most(role->span, count_most(role->desired, role->last_target)) + 1;
}

/* Marks by ordinal; what does not exist is none of it. */
static void mark_ordinals(struct rbg_turn *turn, struct rbg_role_state *role)
{
	size_t room = (size_t)most_ordinals(role);
	role->is_ready = arena_array(turn->arena, bool, room);
	role->is_scheduled = arena_array(turn->arena, bool, room);
	role->is_updated = arena_array(turn->arena, bool, room);
	for (size_t i = 0; i < role->instance_count; i++) {
		const struct rbg_instance *instance = &role->instances[i];
		bool is_new = strcmp(instance->revision, role->update_revision) == 0;
		role->is_ready[instance->ordinal] = instance->is_ready;
		role->is_scheduled[instance->ordinal] = instance->is_scheduled;
		role->is_updated[instance->ordinal] = instance->is_ready && is_new;
	}
}

/* All instances up to the last target were made in the turn that set it: one that is missing is a gap, not the end. What
 * stands above it is there too, when its turn could not write the status; but not what is leaving, nor what may be an
 * extra instance of an update. */
static int64_t current_of(const struct rbg_role_state *role)
{
	int64_t last = role->last_target;
	bool is_settled = strcmp(role->update_revision, role->current_revision) == 0;
	for (size_t i = role->instance_count; i-- > 0 && role->instances[i].ordinal >= last;)
		if (!role->instances[i].is_terminating && (is_settled || role->last_target == 0))
			return role->instances[i].ordinal + 1;
	return last;
}

static struct segment_role *make_roles(struct rbg_turn *turn, bool scheduled_is_ready)
{
	struct segment_role *roles = arena_array(turn->arena, struct segment_role, turn->spec.role_count);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		const struct rbg_role_state *role = &turn->roles[r];
		roles[r] = (struct segment_role){
			.name = role->spec->name,
			.desired = role->desired,
			.current = current_of(role),
			.asked = role->last_target,
			.is_ready = scheduled_is_ready ? role->is_scheduled : role->is_ready,
		};
		for (int64_t i = 0; i < roles[r].current; i++)
			roles[r].ready += roles[r].is_ready[i];
	}
	return roles;
}

/* ---- rules ---- */

static void make_rule(struct rbg_turn *turn, const struct rbg_coordination *one, struct rbg_rule_state *out)
{
	struct segment_size *sizes = arena_array(turn->arena, struct segment_size, one->size_count);
	*out = (struct rbg_rule_state){.spec = one};
	out->rule = (struct segment_rule){.name = one->name, .progression = one->progression, .sizes = sizes};
	for (size_t i = 0; i < one->size_count; i++) {
		int role = rbg_role_find(&turn->spec, one->sizes[i].role);
		if (role < 0)
			continue;
		sizes[out->rule.count++] = (struct segment_size){(size_t)role, one->sizes[i].size};
		if (one->is_deploy || one->gang == SEGMENT_GANG_SEGMENT || one->affinity) {
			turn->roles[role].grouping = one;
			turn->roles[role].grouping_size = one->sizes[i].size;
		}
	}
}

static void make_rules(struct rbg_turn *turn)
{
	turn->rules = arena_array(turn->arena, struct rbg_rule_state, turn->spec.coordination_count);
	for (size_t k = 0; k < turn->spec.coordination_count; k++)
		if (turn->spec.coordinations[k].has_segments)
			make_rule(turn, &turn->spec.coordinations[k], &turn->rules[turn->rule_count++]);
	for (size_t r = 0; r < turn->spec.role_count; r++)
		turn->roles[r].released = INT64_MAX;
}

/* A canary waits until the annotation names the revision it is to approve. */
static bool is_approved(const struct rbg_turn *turn)
{
	const char *approved =
		val_str(val_path(turn->object->root, "metadata", "annotations", RBG_APPROVE_ANNOTATION, NULL), "");
	return strcmp(approved, turn->revision) == 0 || strcmp(approved, turn->update_hash) == 0;
}

static bool holds_canary(const struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	return rule->spec->canary_segments > 0 && rule->judged.total > rule->spec->canary_segments &&
	       !is_approved(turn);
}

/* ---- how many instances ---- */

static struct linked_way *make_dependencies(struct rbg_turn *turn, size_t *count)
{
	size_t most = 0;
	for (size_t r = 0; r < turn->spec.role_count; r++)
		most += turn->spec.roles[r].dependency_count;
	struct linked_way *ways = arena_array(turn->arena, struct linked_way, most);
	*count = 0;
	for (size_t r = 0; r < turn->spec.role_count; r++)
		for (size_t i = 0; i < turn->spec.roles[r].dependency_count; i++) {
			int to = rbg_role_find(&turn->spec, turn->spec.roles[r].dependencies[i]);
			if (to >= 0)
				ways[(*count)++] = (struct linked_way){r, (size_t)to};
		}
	return ways;
}

/* Placements decide what is created; a rolling deploy creates everything and lets the gate decide. */
static void merge_placements(struct rbg_turn *turn, const struct segment_role *roles)
{
	struct segment_rule *rules = arena_array(turn->arena, struct segment_rule, turn->rule_count);
	struct rbg_rule_state **states = arena_array(turn->arena, struct rbg_rule_state *, turn->rule_count);
	struct merge_input input = {.roles = roles, .role_count = turn->spec.role_count, .rules = rules};
	for (size_t k = 0; k < turn->rule_count; k++)
		if (!turn->rules[k].spec->is_deploy) {
			states[input.rule_count] = &turn->rules[k];
			rules[input.rule_count++] = turn->rules[k].rule;
		}
	input.dependencies = make_dependencies(turn, &input.dependency_count);
	struct merge_plan *plan = merge_targets(&input, turn->arena);
	for (size_t k = 0; k < input.rule_count; k++)
		states[k]->judged = plan->states[k];
	for (size_t r = 0; r < input.role_count; r++) {
		turn->roles[r].target = plan->roles[r].target;
		turn->roles[r].wait = merge_reason(&input, plan, r, turn->arena);
		turn->roles[r].waits_for_role = turn->roles[r].wait && plan->roles[r].depends_on != SEGMENT_NO_ROLE;
	}
}

/* On the way to the first completion a canary keeps all later segments from being made. */
static void hold_canaries(struct rbg_turn *turn, const struct segment_role *roles)
{
	int64_t complete_at = 0;
	val_int(val_path(turn->object->root, "status", "completeAt", NULL), &complete_at);
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		if (complete_at > 0 || !holds_canary(turn, rule))
			continue;
		for (size_t i = 0; i < rule->rule.count; i++) {
			const struct segment_size *entry = &rule->rule.sizes[i];
			struct rbg_role_state *role = &turn->roles[entry->role];
			int64_t most = count_most(segment_end(rule->spec->canary_segments, entry->size, role->desired),
			                          segment_hold(&roles[entry->role]));
			if (role->target >= most && role->target < role->desired + (role->target > most)) {
				rule->is_held = true;
				role->waits_for_role = false;
				role->wait =
					arena_printf(turn->arena, "canary of %lld segments waits for approval of %s",
				                     (long long)rule->spec->canary_segments, turn->revision);
			}
			role->target = count_least(role->target, most);
		}
	}
}

/* podManagementPolicy OrderedReady: the next instance when all before it are ready. */
static void limit_ordered(struct rbg_turn *turn, const struct segment_role *roles)
{
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		int64_t most = count_most(segment_hold(&roles[r]), segment_ready_prefix(&roles[r]) + 1);
		if (!role->spec->is_ordered || role->target <= most)
			continue;
		role->target = most;
		if (!role->wait)
			role->wait = arena_printf(turn->arena, "waits for instance %lld to be ready",
			                          (long long)segment_ready_prefix(&roles[r]));
	}
}

static void limit_scaling(struct rbg_turn *turn)
{
	size_t count = turn->spec.role_count, rule_count = 0;
	struct skew_scale_role *roles = arena_array(turn->arena, struct skew_scale_role, count);
	struct skew_rule *rules = arena_array(turn->arena, struct skew_rule, turn->spec.coordination_count);
	int64_t *targets = arena_array(turn->arena, int64_t, count);
	for (size_t k = 0; k < turn->spec.coordination_count; k++) {
		const struct rbg_coordination *one = &turn->spec.coordinations[k];
		if (!one->has_scaling)
			continue;
		size_t *members = arena_array(turn->arena, size_t, one->role_count), member_count = 0;
		for (size_t i = 0; i < one->role_count; i++)
			if (rbg_role_find(&turn->spec, one->roles[i]) >= 0)
				members[member_count++] = (size_t)rbg_role_find(&turn->spec, one->roles[i]);
		rules[rule_count++] =
			(struct skew_rule){one->scale_skew, one->scale_progression, members, member_count};
	}
	if (rule_count == 0)
		return;
	for (size_t r = 0; r < count; r++) {
		const struct rbg_role_state *role = &turn->roles[r];
		roles[r] = (struct skew_scale_role){.desired = role->desired, .current = current_of(role)};
		for (int64_t i = 0; i < roles[r].current; i++) {
			roles[r].scheduled += role->is_scheduled[i];
			roles[r].ready += role->is_ready[i];
		}
	}
	skew_scale(roles, count, rules, rule_count, targets);
	for (size_t r = 0; r < count; r++)
		turn->roles[r].target = count_least(turn->roles[r].target, targets[r]);
}

/* ---- rolling deploy ---- */

static void release_batches(struct rbg_turn *turn)
{
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		if (!rule->spec->is_deploy) {
			rule->released = rule->judged.total;
			continue;
		}
		const struct segment_role *ready = make_roles(turn, false);
		bool scheduled = rule->spec->progression == SEGMENT_ORDERED;
		segment_judge(ready, turn->spec.role_count, &rule->rule, &rule->judged);
		rule->released =
			deploy_released(scheduled ? make_roles(turn, true) : ready, turn->spec.role_count, &rule->rule);
		for (size_t i = 0; i < rule->rule.count; i++) {
			struct rbg_role_state *role = &turn->roles[rule->rule.sizes[i].role];
			role->released = count_least(role->released,
			                             segment_end(rule->released, rule->rule.sizes[i].size, COUNT_MAX));
		}
	}
}

/* ---- rolling update ---- */

static struct update_strategy strategy_of(struct rbg_turn *turn, size_t number)
{
	const struct rbg_role_state *role = &turn->roles[number];
	struct update_strategy strategy = role->spec->rollout;
	for (size_t k = 0; k < turn->spec.coordination_count; k++) {
		const struct rbg_coordination *one = &turn->spec.coordinations[k];
		for (size_t i = 0; one->has_update && i < one->role_count; i++)
			if (strcmp(one->roles[i], role->spec->name) == 0)
				strategy = update_merge(&strategy, &one->update, role->target);
	}
	return strategy;
}

/* The update walks from the last segment to the first; a canary stops it after its number of segments. */
static int64_t canary_partition(struct rbg_turn *turn, size_t number)
{
	int64_t partition = 0;
	const struct rbg_role_state *role = &turn->roles[number];
	if (strcmp(role->update_revision, role->current_revision) == 0)
		return 0;
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		if (!holds_canary(turn, rule))
			continue;
		for (size_t i = 0; i < rule->rule.count; i++)
			if (rule->rule.sizes[i].role == number) {
				int64_t before = rule->judged.total - rule->spec->canary_segments;
				partition = count_most(partition,
				                       segment_end(before, rule->rule.sizes[i].size, role->target));
				rule->is_updating = true;
			}
	}
	return partition;
}

/* A canary of an update waits when all that it lets through is ready at the new revision. */
static void mark_canaries(struct rbg_turn *turn)
{
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		bool is_through = rule->is_updating;
		for (size_t i = 0; i < rule->rule.count && is_through; i++) {
			const struct segment_size *entry = &rule->rule.sizes[i];
			const struct rbg_role_state *role = &turn->roles[entry->role];
			int64_t from = segment_end(rule->judged.total - rule->spec->canary_segments, entry->size,
			                           role->target);
			for (int64_t ordinal = from; ordinal < role->target; ordinal++)
				is_through &= role->is_updated[ordinal];
		}
		rule->is_held |= is_through;
	}
}

static void limit_skew(struct rbg_turn *turn, const struct order_result *order, struct update_limits *limits)
{
	size_t count = turn->spec.role_count, rule_count = 0;
	struct skew_update_role *roles = arena_array(turn->arena, struct skew_update_role, count);
	struct skew_rule *rules = arena_array(turn->arena, struct skew_rule, turn->spec.coordination_count);
	int64_t *targets = arena_array(turn->arena, int64_t, count);
	for (size_t k = 0; k < turn->spec.coordination_count; k++) {
		const struct rbg_coordination *one = &turn->spec.coordinations[k];
		if (!one->has_update || one->update_skew.form == PERCENT_UNSET)
			continue;
		size_t *members = arena_array(turn->arena, size_t, one->role_count), member_count = 0;
		for (size_t i = 0; i < one->role_count; i++)
			if (rbg_role_find(&turn->spec, one->roles[i]) >= 0)
				members[member_count++] = (size_t)rbg_role_find(&turn->spec, one->roles[i]);
		rules[rule_count++] =
			(struct skew_rule){.max_skew = one->update_skew, .roles = members, .count = member_count};
	}
	if (rule_count == 0)
		return;
	for (size_t r = 0; r < count; r++) {
		const struct rbg_role_state *role = &turn->roles[r];
		roles[r] = (struct skew_update_role){
			.name = role->spec->name,
			.desired = role->target,
			.is_waiting = order[r].is_waiting,
		};
		for (size_t i = 0; i < role->instance_count; i++) {
			const struct rbg_instance *instance = &role->instances[i];
			bool is_new = strcmp(instance->revision, role->update_revision) == 0 &&
			              instance->ordinal < role->target;
			roles[r].updated += is_new;
			roles[r].updated_ready += is_new && instance->is_ready;
		}
	}
	skew_update(roles, count, rules, rule_count, targets);
	for (size_t r = 0; r < count; r++)
		limits[r].partition = count_least(count_most(limits[r].partition, turn->roles[r].target - targets[r]),
		                                  limits[r].replicas);
}

/* Numbers for revisions, as the planner wants them. */
static int64_t revision_number(const struct rbg_role_state *role, const char *revision)
{
	if (strcmp(revision, role->update_revision) == 0)
		return 1;
	return strcmp(revision, role->current_revision) == 0 ? 0 : 2;
}

static void decide_role(struct rbg_turn *turn, struct rbg_role_state *role, const struct update_limits *limits)
{
	struct update_instance *instances = arena_array(turn->arena, struct update_instance, role->instance_count);
	enum update_action *actions = arena_array(turn->arena, enum update_action, role->instance_count);
	for (size_t i = 0; i < role->instance_count; i++) {
		const struct rbg_instance *instance = &role->instances[i];
		instances[i] = (struct update_instance){
			.ordinal = instance->ordinal,
			.revision = revision_number(role, instance->revision),
			.is_healthy = instance->is_ready,
			.is_broken = instance->is_broken,
			.is_terminating = instance->is_terminating,
		};
		if (!instance->is_ready && !instance->is_broken)
			turn->again = turn->again && turn->again < UPDATE_STABLE_SECONDS ? turn->again
			                                                                 : UPDATE_STABLE_SECONDS;
	}
	update_shape(limits, revision_number(role, role->current_revision), 1, instances, role->instance_count,
	             &role->shape);
	update_decide(&role->shape, instances, role->instance_count, actions, turn->arena);
	for (size_t i = 0; i < role->instance_count; i++)
		role->instances[i].action = actions[i];
}

/* New replicas begin at the update revision, also in a pass that replaces nothing because it scales. */
bool rbg_begins_new(const struct rbg_role_state *role, int64_t ordinal)
{
	if (ordinal >= role->last_target && ordinal >= role->floor && !role->spec->rollout.is_paused)
		return true;
	return update_revision(&role->shape, ordinal) == role->shape.update_revision;
}

static void decide_updates(struct rbg_turn *turn)
{
	size_t count = turn->spec.role_count;
	struct order_role *roles = arena_array(turn->arena, struct order_role, count);
	struct order_result *order = arena_array(turn->arena, struct order_result, count);
	struct update_limits *limits = arena_array(turn->arena, struct update_limits, count);
	struct segment_rule *rules = arena_array(turn->arena, struct segment_rule, turn->rule_count);
	bool is_deploying = false;
	for (size_t k = 0; k < turn->rule_count; k++)
		rules[k] = turn->rules[k].rule;
	for (size_t r = 0; r < count; r++) {
		struct update_strategy strategy = strategy_of(turn, r);
		update_resolve(&strategy, turn->roles[r].target, &limits[r]);
		limits[r].partition = count_most(limits[r].partition, canary_partition(turn, r));
		turn->roles[r].floor = limits[r].partition;
		roles[r] = (struct order_role){
			.replicas = turn->roles[r].target,
			.partition = limits[r].partition,
			.is_updated = turn->roles[r].is_updated,
		};
		/* Replicas come or go in this pass: no update begins in it. */
		is_deploying |= turn->roles[r].target != turn->roles[r].last_target;
	}
	mark_canaries(turn);
	order_partitions(roles, count, rules, turn->rule_count, order);
	for (size_t r = 0; r < count; r++) {
		limits[r].partition = count_most(limits[r].partition, order[r].partition);
		limits[r].is_paused |= is_deploying;
	}
	limit_skew(turn, order, limits);
	for (size_t r = 0; r < count; r++)
		decide_role(turn, &turn->roles[r], &limits[r]);
}

/* What is wrong stops growth and change; what runs keeps running. */
static void keep_everything(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		role->target = role->last_target;
		role->shape = (struct update_shape){.limits = {.replicas = role->target, .is_paused = true},
		                                    .updated_from = role->target,
		                                    .end = count_most(role->span, role->target)};
	}
}

void rbg_decide(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count; r++)
		mark_ordinals(turn, &turn->roles[r]);
	make_rules(turn);
	const struct segment_role *roles = make_roles(turn, false);
	merge_placements(turn, roles);
	hold_canaries(turn, roles);
	limit_ordered(turn, roles);
	limit_scaling(turn);
	rbg_limit_rollbacks(turn);
	if (turn->blocked)
		keep_everything(turn);
	release_batches(turn);
	if (!turn->blocked)
		decide_updates(turn);
}
