/* Owns the PodGroups of a group: one per instance, one per segment where the segment is a gang, has a topology or is about
 * to start, or one for everything where the policy of the group asks for it. */
#include "rbg/render.h"
#include "kinds/names.h"

#include "admit/clustertopology.h"
#include "rollout/count.h"

#include <string.h>

static const char *const spec_field[] = {"spec", NULL};

/* A segment is one gang when it says so, when it shares a domain, or when it is a batch of a rolling deploy. */
bool rbg_is_segment_gang(const struct rbg_role_state *role)
{
	const struct rbg_coordination *grouping = role->grouping;
	return grouping && (grouping->gang == SEGMENT_GANG_SEGMENT || grouping->is_deploy ||
	                    grouping->affinity == RBG_AFFINITY_REQUIRE || grouping->affinity == RBG_AFFINITY_PREFER);
}

/* The whole group is one gang only for roles that grow at once: waiting for segments and for the whole is a deadlock. */
static bool is_group_gang(const struct rbg_turn *turn, const struct rbg_role_state *role)
{
	if (!turn->spec.is_grouped || role->grouping)
		return false;
	for (size_t k = 0; k < turn->rule_count; k++)
		for (size_t i = 0; i < turn->rules[k].rule.count; i++)
			if (&turn->roles[turn->rules[k].rule.sizes[i].role] == role)
				return false;
	return true;
}

const char *rbg_gang_of(const struct rbg_turn *turn, const struct rbg_role_state *role, int64_t ordinal)
{
	if (rbg_is_segment_gang(role))
		return naming_object(turn->spec.name, role->grouping->name, segment_of(ordinal, role->grouping_size),
		                     turn->arena);
	if (rbg_is_starting(role, ordinal))
		return naming_object(turn->spec.name, role->start->spec->name, segment_of(ordinal, role->start_size),
		                     turn->arena);
	return is_group_gang(turn, role) ? turn->spec.name : rbg_instance_name(turn, role->spec, ordinal);
}

const char *rbg_subgroup_of(const struct rbg_turn *turn, const struct rbg_role_state *role, int64_t ordinal)
{
	if (rbg_is_segment_gang(role) || rbg_is_starting(role, ordinal))
		return arena_printf(turn->arena, "%s-%lld", role->spec->name, (long long)ordinal);
	return is_group_gang(turn, role) ? role->spec->name : NULL;
}

/* ---- topologies ---- */

static void block(struct rbg_turn *turn, const char *reason, const char *message)
{
	turn->blocked = turn->blocked ? turn->blocked : message;
	turn->blocked_reason = turn->blocked_reason ? turn->blocked_reason : reason;
}

static void find_cluster_topology(struct rbg_turn *turn, const struct rbg_coordination *one)
{
	const struct store_type *type = store_type_find(turn->store, RBG_GROUP, "clustertopologies");
	const struct store_object *object = type ? store_peek(turn->store, type, "", one->topology_name) : NULL;
	struct problems problems = {.arena = turn->arena};
	struct cluster_topology topology = {0};
	if (!object)
		block(turn, "TopologyNotFound",
		      arena_printf(turn->arena,
		                   "ClusterTopology %s, named by coordination %s, does not exist; create it",
		                   one->topology_name, one->name));
	else if (cluster_topology_decode(object->root, turn->arena, &topology, &problems) < 0)
		block(turn, "TopologyNotValid",
		      arena_printf(turn->arena, "ClusterTopology %s is not valid", one->topology_name));
	else if (!one->layer || !cluster_topology_key(&topology, one->layer))
		block(turn, "TopologyLayerNotFound",
		      arena_printf(turn->arena, "ClusterTopology %s has no layer %s, it has %s", one->topology_name,
		                   one->layer ? one->layer : "\"\"", topology.levels));
}

void rbg_check_topologies(struct rbg_turn *turn)
{
	for (size_t k = 0; k < turn->spec.coordination_count; k++)
		if (turn->spec.coordinations[k].topology_name)
			find_cluster_topology(turn, &turn->spec.coordinations[k]);
}

void rbg_find_topologies(struct rbg_turn *turn)
{
	for (size_t k = 0; k < turn->rule_count; k++) {
		struct rbg_rule_state *rule = &turn->rules[k];
		const struct rbg_coordination *one = rule->spec;
		if (one->topology_key) {
			rule->topology_key = one->topology_key;
			rule->topology = rbg_key_topology(turn->store, turn->arena, one->topology_key);
		}
		if (!one->topology_name || turn->blocked)
			continue;
		const struct store_type *type = store_type_find(turn->store, RBG_GROUP, "clustertopologies");
		struct problems problems = {.arena = turn->arena};
		struct cluster_topology topology;
		cluster_topology_decode(store_peek(turn->store, type, "", one->topology_name)->root, turn->arena,
		                        &topology, &problems);
		rule->topology_key = arena_strdup(turn->arena, cluster_topology_key(&topology, one->layer));
		rule->topology = rbg_topology_name(turn->arena, one->topology_name);
	}
}

/* ---- PodGroups ---- */

/* Pods the instance has now, or will have when it is made: those that nobody waits with. */
static int64_t pods_of(struct rbg_turn *turn, const struct rbg_role_state *role, int64_t ordinal)
{
	const struct rbg_instance *instance = rbg_instance_at(role, ordinal);
	bool is_old =
		instance ? strcmp(instance->revision, role->update_revision) != 0 : !rbg_begins_new(role, ordinal);
	return rbg_first_pods(turn, is_old ? role->old_spec : role->spec);
}

static const char *group_queue(const struct rbg_turn *turn)
{
	return turn->spec.queue ? turn->spec.queue
	                        : labels_get(&turn->object->labels, settings_queue_label(turn->controller->settings));
}

/* What a coordination says about its own PodGroups comes before what the group says about all. */
static struct node *begin_spec(struct rbg_turn *turn, struct build *build, const struct rbg_coordination *one)
{
	struct node *spec = build_map(build);
	const char *queue = one && one->queue ? one->queue : group_queue(turn);
	const char *class = one && one->priority_class ? one->priority_class : turn->spec.priority_class;
	if (queue)
		build_put_string(build, spec, "queue", queue);
	if (class)
		build_put_string(build, spec, "priorityClassName", class);
	return spec;
}

static void add_subgroup(struct build *build, struct node *list, const char *name, int64_t minimum)
{
	struct node *item = build_map(build);
	build_put_string(build, item, "name", name);
	build_put_int(build, item, "minMember", minimum);
	build_append(build, list, item);
}

static void write_group(struct rbg_turn *turn, struct build *build, const char *name, struct node *spec)
{
	struct node *root = rbg_object(turn, build, KINDS_API_POD_GROUP, "PodGroup", name);
	build_put(build, root, "spec", spec);
	rbg_ensure(turn, build, KINDS_SCHEDULING, "podgroups", name, root, spec_field);
}

/* PodGroups that there are, by the hash of their names: an instance has one each, so there are many. */
struct gang_index {
	const struct rbg_fact **slots;
	size_t mask;
};

static struct gang_index index_gangs(const struct rbg_turn *turn)
{
	size_t count = 16;
	while (count < 2 * turn->owned.count)
		count *= 2;
	struct gang_index index = {arena_array(turn->arena, const struct rbg_fact *, count), count - 1};
	for (size_t i = 0; i < turn->owned.count; i++) {
		size_t at = (size_t)turn->facts[i].gang & index.mask;
		if (turn->owned.items[i]->type != turn->gangs)
			continue;
		while (index.slots[at])
			at = (at + 1) & index.mask;
		index.slots[at] = &turn->facts[i];
	}
	return index;
}

/* Whether the PodGroup of an instance is as it should be. Nearly all are, in every turn: worth a look before a document is
 * made to compare it with. */
static bool is_settled(const struct gang_index *index, const char *name, int64_t pods, uint64_t texts)
{
	uint64_t hash = rbg_memo_hash(name);
	for (size_t at = (size_t)hash & index->mask; index->slots[at]; at = (at + 1) & index->mask)
		if (index->slots[at]->gang == hash)
			return index->slots[at]->minimum == pods && index->slots[at]->texts == texts;
	return false;
}

static void write_instance_gangs(struct rbg_turn *turn, const struct rbg_role_state *role,
                                 const struct gang_index *index)
{
	uint64_t texts = rbg_memo_texts(group_queue(turn), turn->spec.priority_class);
	for (int64_t ordinal = 0; ordinal < role->shape.end; ordinal++) {
		if (rbg_is_starting(role, ordinal))
			continue;
		const char *name = rbg_gang_of(turn, role, ordinal);
		int64_t pods = pods_of(turn, role, ordinal);
		if (is_settled(index, name, pods, texts))
			continue;
		struct build *build = build_create();
		struct node *spec = begin_spec(turn, build, NULL);
		build_put_int(build, spec, "minMember", pods);
		write_group(turn, build, name, spec);
		build_destroy(build);
	}
}

static void write_segment_gang(struct rbg_turn *turn, const struct rbg_rule_state *rule, int64_t number)
{
	struct build *build = build_create();
	struct node *spec = begin_spec(turn, build, rule->spec), *subgroups = build_list(build);
	size_t count = 0;
	for (size_t i = 0; i < rule->rule.count; i++) {
		const struct segment_size *entry = &rule->rule.sizes[i];
		const struct rbg_role_state *role = &turn->roles[entry->role];
		int64_t end = count_least((number + 1) * entry->size, role->shape.end);
		if (rule->starts_whole && role->start != rule)
			continue;
		for (int64_t ordinal = number * entry->size; ordinal < end; ordinal++, count++)
			add_subgroup(build, subgroups, rbg_subgroup_of(turn, role, ordinal),
			             pods_of(turn, role, ordinal));
	}
	build_put(build, spec, "subGroups", subgroups);
	/* What serves keeps serving when a sibling is lost or replaced. */
	build_put_string(build, spec, "stalenessGracePeriod", "-1s");
	if (rule->topology && !rule->starts_whole) {
		struct node *constraint = build_map(build);
		build_put_string(build, constraint, "topology", rule->topology);
		build_put_string(build, constraint,
		                 rule->spec->affinity == RBG_AFFINITY_REQUIRE ? "requiredTopologyLevel"
		                                                              : "preferredTopologyLevel",
		                 rule->topology_key);
		build_put(build, spec, "topologyConstraint", constraint);
	}
	if (count > 0)
		write_group(turn, build, naming_object(turn->spec.name, rule->spec->name, number, turn->arena), spec);
	build_destroy(build);
}

static void write_segment_gangs(struct rbg_turn *turn, const struct rbg_rule_state *rule)
{
	int64_t segments = 0;
	for (size_t i = 0; i < rule->rule.count; i++)
		segments = count_most(segments, segment_count(rule->rule.sizes[i].size,
		                                              turn->roles[rule->rule.sizes[i].role].shape.end));
	for (int64_t number = 0; number < segments; number++)
		if (!rule->starts_whole || (number < rule->segments && !rule->is_formed[number]))
			write_segment_gang(turn, rule, number);
}

static void write_group_gang(struct rbg_turn *turn)
{
	struct build *build = build_create();
	struct node *spec = begin_spec(turn, build, NULL), *subgroups = build_list(build);
	size_t count = 0;
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		const struct rbg_role_state *role = &turn->roles[r];
		int64_t pods = 0;
		if (!is_group_gang(turn, role))
			continue;
		for (int64_t ordinal = 0; ordinal < role->target; ordinal++)
			pods += pods_of(turn, role, ordinal);
		add_subgroup(build, subgroups, role->spec->name, pods);
		count++;
	}
	build_put(build, spec, "subGroups", subgroups);
	if (count > 0)
		write_group(turn, build, turn->spec.name, spec);
	build_destroy(build);
}

static void want_gang(uint64_t *wanted, size_t mask, uint64_t hash)
{
	size_t at = (size_t)hash & mask;
	while (wanted[at] && wanted[at] != hash)
		at = (at + 1) & mask;
	wanted[at] = hash;
}

/* PodGroups whose last pod is gone. */
static void sweep(struct rbg_turn *turn)
{
	size_t most = 8, count = 16;
	for (size_t r = 0; r < turn->spec.role_count; r++)
		most += (size_t)turn->roles[r].shape.end;
	for (most += turn->owned.count; count < 2 * most;)
		count *= 2;
	uint64_t *wanted = arena_array(turn->arena, uint64_t, count);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		const struct rbg_role_state *role = &turn->roles[r];
		for (int64_t ordinal = 0; ordinal < role->shape.end; ordinal++)
			want_gang(wanted, count - 1, rbg_memo_hash(rbg_gang_of(turn, role, ordinal)));
		for (size_t i = 0; i < role->instance_count; i++)
			for (size_t p = 0; p < role->instances[i].pod_count; p++)
				want_gang(wanted, count - 1, role->instances[i].pods[p].fact->gang);
	}
	for (size_t i = 0; i < turn->owned.count; i++) {
		if (turn->owned.items[i]->type != turn->gangs)
			continue;
		turn->is_seen[i] = true;
		size_t at = (size_t)turn->facts[i].gang & (count - 1);
		while (wanted[at] && wanted[at] != turn->facts[i].gang)
			at = (at + 1) & (count - 1);
		if (!wanted[at])
			rbg_delete(turn, turn->owned.items[i]);
	}
}

void rbg_write_gangs(struct rbg_turn *turn)
{
	if (!turn->blocked) {
		struct gang_index index = index_gangs(turn);
		for (size_t r = 0; r < turn->spec.role_count; r++)
			if (!rbg_is_segment_gang(&turn->roles[r]) && !is_group_gang(turn, &turn->roles[r]))
				write_instance_gangs(turn, &turn->roles[r], &index);
		for (size_t k = 0; k < turn->rule_count; k++)
			if (turn->rules[k].starts_whole ||
			    (turn->rules[k].rule.count > 0 &&
			     turn->roles[turn->rules[k].rule.sizes[0].role].grouping == turn->rules[k].spec &&
			     rbg_is_segment_gang(&turn->roles[turn->rules[k].rule.sizes[0].role])))
				write_segment_gangs(turn, &turn->rules[k]);
		write_group_gang(turn);
	}
	sweep(turn);
}
