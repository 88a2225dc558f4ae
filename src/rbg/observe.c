/* Owns what there is: the pods of a group as instances by ordinal. */
#include "rbg/internal.h"

#include <stdlib.h>
#include <string.h>

/* A pod with the place it claims to have. */
struct found {
	size_t owned;
	int role;
	int64_t ordinal, index;
	const char *revision;
};

static void read_pod(struct rbg_turn *turn, const struct rbg_role *role, const struct found *found, struct rbg_pod *out)
{
	const struct rbg_fact *fact = &turn->facts[found->owned];
	*out = (struct rbg_pod){
		.object = turn->owned.items[found->owned],
		.fact = fact,
		.index = found->index,
		.revision = found->revision,
		.is_terminating = fact->flags & RBG_FACT_TERMINATING,
		.is_over = fact->flags & RBG_FACT_OVER,
		.is_scheduled = fact->flags & RBG_FACT_SCHEDULED,
		.is_gated = fact->flags & RBG_FACT_GATED,
		.has_restarts = fact->flags & RBG_FACT_RESTARTED,
		.is_changing = fact->flags & RBG_FACT_CHANGING,
		.is_marked = fact->flags & RBG_FACT_MARKED,
	};
	out->is_ready = !out->is_over && !out->is_changing && !out->is_marked && (fact->flags & RBG_FACT_READY);
	int64_t since = fact->ready_since;
	int64_t left = since == INT64_MIN ? 0 : since + role->min_ready_seconds - turn->now;
	if (out->is_ready && left > 0) {
		out->is_ready = false;
		rbg_look_again(turn, left);
	}
}

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Its number among the pods of the instance. Pods of a component that the role has not stand behind all others. */
static int64_t find_index(const struct rbg_turn *turn, const struct rbg_role *role, const struct rbg_fact *fact)
{
	const char *component = rbg_memo_name(turn, fact->component);
	int64_t before = 0;
	if (fact->id < 0 || (role->is_leader_worker && fact->index >= 0))
		return fact->index;
	for (size_t i = 0; i < role->component_count; i++) {
		if (strcmp(rbg_part_name(role, i), component) == 0)
			return before + fact->id;
		before += role->components[i].size;
	}
	return before + fact->id;
}

/* What the pod was made from. One that another controller made says it by the label that its instance asks for. */
static const char *find_revision(const struct rbg_turn *turn, const struct rbg_fact *fact, const struct rbg_fact *owner)
{
	const char *noted = rbg_memo_name(turn, fact->revision);
	return *noted || !owner || owner->gang != fact->texts ? noted : rbg_memo_name(turn, owner->revision);
}

static size_t find_pods(struct rbg_turn *turn, struct found *found)
{
	size_t count = 0;
	for (size_t i = 0; turn->facts && i < turn->owned.count; i++) {
		const struct rbg_fact *fact = &turn->facts[i], *owner = NULL;
		if (turn->owned.items[i]->type != turn->pods)
			continue;
		if (turn->parents[i] > 0 && turn->owned.items[turn->parents[i] - 1]->type == turn->instances)
			owner = &turn->facts[turn->parents[i] - 1];
		int number = rbg_role_find(&turn->spec, rbg_memo_name(turn, owner ? owner->role : fact->role));
		if (number < 0)
			continue; /* what belongs to no role of the spec is swept away at the end */
		const struct rbg_role_state *role = &turn->roles[number];
		struct found one = {i, number, owner ? owner->ordinal : fact->ordinal, 0,
		                    find_revision(turn, fact, owner)};
		bool is_new = strcmp(one.revision, role->update_revision) == 0;
		one.index = find_index(turn, is_new ? role->spec : role->old_spec, fact);
		if (one.ordinal >= 0 && one.index >= 0)
			found[count++] = one;
	}
	qsort(found, count, sizeof(*found), compare_found);
	return count;
}

static void judge_instance(struct rbg_turn *turn, struct rbg_role_state *role, struct rbg_instance *instance)
{
	bool is_current = strcmp(instance->revision, role->update_revision ? role->update_revision : "") == 0;
	int64_t expected = is_current || !role->old_spec ? role->spec->pods : role->old_spec->pods;
	instance->is_ready = instance->is_scheduled = (int64_t)instance->pod_count >= expected;
	instance->since = INT64_MIN;
	bool is_marked = false;
	for (size_t i = 0; i < instance->pod_count; i++) {
		const struct rbg_pod *pod = &instance->pods[i];
		int64_t created = pod->fact->created;
		instance->since = created > instance->since ? created : instance->since;
		instance->is_ready &= pod->is_ready && !pod->is_terminating;
		instance->is_scheduled &= pod->is_scheduled && !pod->is_terminating && !pod->is_over;
		instance->is_terminating |= pod->is_terminating;
		bool counts =
			(role->spec->recreates || role->spec->recreates_group) && !(pod->fact->flags & RBG_FACT_MINOR);
		instance->is_hit |= counts && (pod->is_over || pod->has_restarts);
		instance->must_restart |= pod->is_over || (counts && pod->has_restarts);
		is_marked |= pod->is_marked;
	}
	int64_t age = instance->since == INT64_MIN ? 0 : turn->now - instance->since;
	/* What was marked for its update is not ready because of us: going on with it costs nothing more. */
	instance->is_broken = !instance->is_ready &&
	                      (instance->must_restart || (is_marked && !is_current) || age >= UPDATE_STABLE_SECONDS);
}

static void collect(struct rbg_turn *turn, struct rbg_role_state *role, const struct found *found, size_t count)
{
	role->instances = arena_array(turn->arena, struct rbg_instance, count);
	for (size_t i = 0; i < count;) {
		size_t end = i;
		while (end < count && found[end].ordinal == found[i].ordinal)
			end++;
		struct rbg_instance *instance = &role->instances[role->instance_count++];
		instance->ordinal = found[i].ordinal;
		instance->pods = arena_array(turn->arena, struct rbg_pod, end - i);
		for (; i < end; i++) {
			read_pod(turn, role->spec, &found[i], &instance->pods[instance->pod_count++]);
			turn->is_seen[found[i].owned] = true;
			instance->revision = found[i].revision;
		}
		role->span = instance->ordinal + 1;
	}
}

struct rbg_instance *rbg_instance_at(const struct rbg_role_state *role, int64_t ordinal)
{
	if (ordinal < 0 || ordinal >= role->span || role->by_ordinal[ordinal] == 0)
		return NULL;
	return &role->instances[role->by_ordinal[ordinal] - 1];
}

/* Ordinals come from labels that anybody may have written: beyond what the group can have they are not indexed. */
static void index_ordinals(struct rbg_turn *turn, struct rbg_role_state *role)
{
	int64_t most = role->desired + role->last_target + 2 * (int64_t)role->instance_count + 1024;
	while (role->instance_count > 0 && role->instances[role->instance_count - 1].ordinal > most) {
		struct rbg_instance *stray = &role->instances[--role->instance_count];
		for (size_t i = 0; i < stray->pod_count; i++)
			rbg_delete(turn, stray->pods[i].object);
	}
	role->span = role->instance_count ? role->instances[role->instance_count - 1].ordinal + 1 : 0;
	role->by_ordinal = arena_array(turn->arena, int64_t, (size_t)role->span + 1);
	for (size_t i = 0; i < role->instance_count; i++)
		role->by_ordinal[role->instances[i].ordinal] = (int64_t)i + 1;
}

/* RoleInstances by ordinal. Those beyond what the role can have are left to the sweep. */
static void index_objects(struct rbg_turn *turn)
{
	for (size_t i = 0; i < turn->owned.count; i++) {
		const struct rbg_fact *fact = &turn->facts[i];
		int number = turn->owned.items[i]->type == turn->instances
		                     ? rbg_role_find(&turn->spec, rbg_memo_name(turn, fact->role))
		                     : -1;
		if (number < 0 || fact->ordinal < 0)
			continue;
		struct rbg_role_state *role = &turn->roles[number];
		int64_t most = role->desired + role->last_target + 2 * (int64_t)role->instance_count + 1024;
		if (!role->object_at) {
			role->object_span = most;
			role->object_at = arena_array(turn->arena, size_t, (size_t)most);
		}
		if (fact->ordinal >= role->object_span || role->object_at[fact->ordinal] > 0)
			continue;
		role->object_at[fact->ordinal] = i + 1;
		turn->is_seen[i] = true;
	}
}

void rbg_observe(struct rbg_turn *turn)
{
	struct found *found = arena_array(turn->arena, struct found, turn->owned.count + 1);
	size_t count = find_pods(turn, found);
	for (size_t i = 0; i < count;) {
		size_t end = i;
		while (end < count && found[end].role == found[i].role)
			end++;
		collect(turn, &turn->roles[found[i].role], &found[i], end - i);
		i = end;
	}
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		struct rbg_role_state *role = &turn->roles[r];
		index_ordinals(turn, role);
		for (size_t i = 0; i < role->instance_count; i++)
			judge_instance(turn, role, &role->instances[i]);
	}
	index_objects(turn);
}
