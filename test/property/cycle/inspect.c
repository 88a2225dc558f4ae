/* What must hold after every action: books, capacity, rules of the groups, accounts of the queues. Decisions that make
 * room are taken apart one by one. */
#include "inspect.h"

#include <string.h>

/* ---- nodes ---- */

enum { USE_RUNNING, USE_RESERVED, USE_RELEASING, USES };

static void add_use(int use[USES][INSTANCE_NODES][INSTANCE_RESOURCES + 1], const struct instance *base, int which,
                    int pod_class, int node)
{
	for (int r = 0; r < base->resource_count; r++)
		use[which][node][r] += base->pod_classes[pod_class].request[r];
	use[which][node][INSTANCE_RESOURCES]++;
}

static void sum_up(const struct cycle_fixture *fixture, int use[USES][INSTANCE_NODES][INSTANCE_RESOURCES + 1])
{
	const struct instance *base = &fixture->world->base;
	const struct cycle *cycle = &fixture->cycle;
	memset(use, 0, sizeof(int) * USES * INSTANCE_NODES * (INSTANCE_RESOURCES + 1));
	for (int i = 0; i < base->other_count; i++)
		if (base->others[i].occupancy == W_RUNNING || !fixture->leavers_left)
			add_use(use, base, base->others[i].occupancy == W_RUNNING ? USE_RUNNING : USE_RELEASING,
			        base->others[i].pod_class, base->others[i].node);
	for (size_t g = 0; g < cycle->group_count; g++)
		for (size_t p = 0; p < cycle->groups[g].gang.pod_count; p++) {
			const struct gang_pod *pod = &cycle->groups[g].gang.pods[p];
			if (pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED)
				add_use(use, base, pod->state == MEMBER_RUNNING ? USE_RUNNING : USE_RESERVED,
				        fixture->world->groups[g].pods[p].pod_class,
				        fixture->built.from_engine[pod->node]);
		}
	for (size_t i = 0; i < cycle->eviction_count; i++) {
		const struct cycle_eviction *eviction = &cycle->evictions[i];
		add_use(use, base, USE_RELEASING, fixture->world->groups[eviction->group].pods[eviction->pod].pod_class,
		        fixture->built.from_engine[eviction->node]);
	}
	for (int i = 0; i < fixture->leaver_count; i++) {
		const struct leaver *leaver = &fixture->leavers[i];
		add_use(use, base, USE_RELEASING, fixture->world->groups[leaver->group].pods[leaver->pod].pod_class,
		        fixture->built.from_engine[leaver->node]);
	}
}

static bool check_nodes(struct scene *scene)
{
	const struct cycle_fixture *fixture = scene->fixture;
	const struct instance *base = &fixture->world->base;
	static int use[USES][INSTANCE_NODES][INSTANCE_RESOURCES + 1];
	sum_up(fixture, use);
	for (int n = 0; n < base->node_count; n++)
		for (int r = 0; r <= INSTANCE_RESOURCES; r++) {
			if (r >= base->resource_count && r < INSTANCE_RESOURCES)
				continue;
			int capacity = r == INSTANCE_RESOURCES ? base->nodes[n].pods : base->nodes[n].capacity[r];
			int running = use[USE_RUNNING][n][r], reserved = use[USE_RESERVED][n][r];
			int releasing = use[USE_RELEASING][n][r];
			const char *name = built_resource_name(r);
			if (running + releasing > capacity)
				return scene_fail(scene, CYCLE_OVERCOMMIT,
				                  "node n%d holds %d + %d leaving of %d %s now", n, running, releasing,
				                  capacity, name);
			if (running + reserved > capacity)
				return scene_fail(scene, CYCLE_OVERCOMMIT,
				                  "node n%d will hold %d + %d reserved of %d %s", n, running, reserved,
				                  capacity, name);
			int column = cluster_find_resource(fixture->cycle.cluster, name);
			int64_t unit = built_resource_unit(r);
			int node = fixture->built.to_engine[n];
			if (column < 0)
				continue;
			int64_t free_ = cluster_free(fixture->cycle.cluster, column, node);
			int64_t leaving = cluster_releasing(fixture->cycle.cluster, column, node);
			if (free_ != (capacity - running - reserved - releasing) * unit || leaving != releasing * unit)
				return scene_fail(
					scene, CYCLE_BOOKS,
					"node n%d: %lld %s free and %lld leaving in the books; %d - %d running - "
					"%d reserved - %d leaving counted",
					n, (long long)(free_ / unit), name, (long long)(leaving / unit), capacity,
					running, reserved, releasing);
		}
	return true;
}

/* ---- groups ---- */

static bool breaks_level(const struct cycle_fixture *fixture, const struct picture *picture, int group)
{
	struct instance instance;
	case_instance(fixture->world, group, &instance);
	for (int p = 0; p < instance.pod_count; p++) {
		const struct spot *spot = &picture->pods[group][p];
		bool member = picture_is_member(spot);
		instance.pods[p].state = member ? W_MEMBER_RUNNING : W_WAITING;
		instance.pods[p].node = member ? fixture->built.from_engine[spot->node] : -1;
	}
	return instance_breaks_levels(&instance);
}

/* Placements that no eviction paid for: whole minimums and useful surplus only. */
static bool check_starts(struct scene *scene, int group, const struct picture *before, const struct picture *after)
{
	const struct cycle_fixture *fixture = scene->fixture;
	for (int p = 0; p < fixture->world->groups[group].pod_count; p++) {
		const struct spot *was = &before->pods[group][p], *is = &after->pods[group][p];
		if (picture_is_member(was) || !picture_is_member(is))
			continue;
		scene->tally->bound += is->state == MEMBER_RUNNING;
		scene->tally->reserved += is->state == MEMBER_RESERVED;
		if (was->state != MEMBER_WAITING && was->state != MEMBER_RESERVED)
			return scene_fail(scene, CYCLE_UNEXPLAINED, "g%d-p%d was started from state %d", group, p,
			                  was->state);
		if (!picture_is_useful(fixture, after, group, p))
			return scene_fail(scene, CYCLE_MINIMUM, "g%d-p%d was started below a minimum", group, p);
	}
	return true;
}

static bool check_group(struct scene *scene, int group, const struct picture *before, const struct picture *after)
{
	struct cycle_fixture *fixture = scene->fixture;
	const struct gang *gang = &fixture->cycle.groups[group].gang;
	if (breaks_level(fixture, after, group) && !breaks_level(fixture, before, group))
		return scene_fail(scene, CYCLE_VERIFY, "g%d breaks a required level", group);
	const char *objection = engine_verify(fixture->cycle.cluster, gang, fixture->arena);
	if (objection)
		return scene_fail(scene, CYCLE_VERIFY, "g%d: %s", group, objection);
	return check_starts(scene, group, before, after);
}

/* ---- queues ---- */

bool inspect_queues(struct scene *scene, const struct picture *before, const struct picture *after)
{
	const struct cycle_fixture *fixture = scene->fixture;
	for (int q = 0; q < fixture->world->queue_count; q++) {
		int64_t was[CYCLE_RESOURCES], is[CYCLE_RESOURCES], kept[CYCLE_RESOURCES], keeps[CYCLE_RESOURCES];
		const struct cycle_queue *queue = &fixture->cycle.queues[q];
		picture_charge(fixture, before, q, was, kept);
		picture_charge(fixture, after, q, is, keeps);
		for (int r = 0; r < CYCLE_RESOURCES; r++) {
			if (queue->limit[r] >= 0 && is[r] > queue->limit[r] && is[r] > was[r])
				return scene_fail(scene, CYCLE_LIMIT, "queue q%d has %lld of %s, its limit is %lld", q,
				                  (long long)is[r], built_resource_name(r), (long long)queue->limit[r]);
			if (queue->quota[r] >= 0 && keeps[r] > queue->quota[r] && keeps[r] > kept[r])
				return scene_fail(scene, CYCLE_LIMIT,
				                  "queue q%d has %lld of %s that cannot be evicted, its quota is %lld",
				                  q, (long long)keeps[r], built_resource_name(r),
				                  (long long)queue->quota[r]);
		}
	}
	return true;
}

/* ---- decisions ---- */

/* What one decision changed, added to `now`: victims, and what the beneficiary got by the end of the action. */
static void apply_decision(const struct scene *scene, const struct decision *decision, const struct picture *after,
                           struct picture *now)
{
	for (size_t i = 0; i < decision->count; i++) {
		const struct cycle_eviction *eviction = &decision->evictions[i];
		struct spot *spot = &now->pods[eviction->group][eviction->pod];
		if (eviction->moved)
			*spot = after->pods[eviction->group][eviction->pod];
		else
			spot->state = MEMBER_GONE;
	}
	if (decision->by < 0)
		return;
	for (int p = 0; p < scene->fixture->world->groups[decision->by].pod_count; p++) {
		struct spot *spot = &now->pods[decision->by][p];
		if (spot->state == MEMBER_WAITING && picture_is_member(&after->pods[decision->by][p]))
			*spot = after->pods[decision->by][p];
	}
}

static bool same_spots(struct scene *scene, const struct picture *now, const struct picture *after)
{
	const struct cycle_case *world = scene->fixture->world;
	for (int g = 0; g < world->group_count; g++)
		for (int p = 0; p < world->groups[g].pod_count; p++) {
			const struct spot *is = &after->pods[g][p], *known = &now->pods[g][p];
			if (is->state != known->state || (picture_is_member(is) && is->node != known->node))
				return scene_fail(
					scene, CYCLE_UNEXPLAINED,
					"g%d-p%d is in state %d on %d, by the evictions it should be in %d on %d", g, p,
					is->state, is->node, known->state, known->node);
		}
	return true;
}

/* A pod that was bound in this cycle goes without an entry, back to waiting or to another place. Whom it made room for
 * is not written down: actions with such pods are judged as a whole. */
static bool took_back(const struct scene *scene, int group, int pod, const struct picture *before,
                      const struct picture *after)
{
	const struct spot *was = &before->pods[group][pod], *is = &after->pods[group][pod];
	enum member_state start = scene->start.pods[group][pod].state;
	if (start == MEMBER_RESERVED && was->state == MEMBER_RESERVED) /* so does a reservation of an earlier cycle */
		return is->state == MEMBER_WAITING ||
		       (is->state == MEMBER_RESERVED && (is->node != was->node || (was->held && !is->held)));
	return start != MEMBER_RUNNING && was->state == MEMBER_RUNNING &&
	       (is->state != MEMBER_RUNNING || is->node != was->node);
}

/* With other victims off their nodes another choice of pods may be found, which in the end needs no victim at all. */
static bool gained_for_nothing(const struct scene *scene, int group, const struct picture *before,
                               const struct picture *after)
{
	const struct cycle *cycle = &scene->fixture->cycle;
	bool gained = false, paid = false;
	for (int p = 0; p < scene->fixture->world->groups[group].pod_count; p++)
		gained |= before->pods[group][p].state == MEMBER_WAITING && picture_is_member(&after->pods[group][p]);
	for (size_t i = before->evictions; i < cycle->eviction_count; i++)
		paid |= cycle->evictions[i].by == group;
	return gained && !paid;
}

static bool is_muddled(const struct scene *scene, const struct picture *before, const struct picture *after)
{
	for (int g = 0; g < scene->fixture->world->group_count; g++) {
		if (gained_for_nothing(scene, g, before, after))
			return true;
		for (int p = 0; p < scene->fixture->world->groups[g].pod_count; p++)
			if (took_back(scene, g, p, before, after))
				return true;
	}
	return false;
}

static bool check_muddle(struct scene *scene, const struct picture *before, const struct picture *after)
{
	const struct cycle *cycle = &scene->fixture->cycle;
	struct decision all = {.evictions = &cycle->evictions[before->evictions],
	                       .count = cycle->eviction_count - before->evictions};
	scene->tally->muddled++;
	for (int g = 0; g < scene->fixture->world->group_count; g++)
		for (int p = 0; p < scene->fixture->world->groups[g].pod_count; p++) {
			const struct spot *was = &before->pods[g][p], *is = &after->pods[g][p];
			bool entry = false;
			for (size_t i = 0; i < all.count; i++)
				entry |= all.evictions[i].group == g && all.evictions[i].pod == p;
			bool fine = entry || (was->state == is->state && was->node == is->node) ||
			            took_back(scene, g, p, before, after) ||
			            (was->state == MEMBER_WAITING &&
			             (is->state == MEMBER_WAITING || is->state == MEMBER_RESERVED));
			if (!fine)
				return scene_fail(scene, CYCLE_UNEXPLAINED,
				                  "g%d-p%d was in state %d on %d, and is in %d on %d", g, p, was->state,
				                  was->node, is->state, is->node);
		}
	return inspect_whole(scene, &all, before, after) && inspect_queues(scene, before, after);
}

static bool check_decisions(struct scene *scene, const struct picture *before, const struct picture *after)
{
	if (is_muddled(scene, before, after))
		return check_muddle(scene, before, after);
	const struct cycle *cycle = &scene->fixture->cycle;
	struct picture now = *before, then;
	for (size_t first = before->evictions; first < cycle->eviction_count;) {
		struct decision decision = {.evictions = &cycle->evictions[first], .by = cycle->evictions[first].by};
		while (first < cycle->eviction_count && cycle->evictions[first].by == decision.by) {
			if (cycle->evictions[first].action != scene->action)
				return scene_fail(scene, CYCLE_UNEXPLAINED, "an eviction by %s",
				                  cycle_action_name(cycle->evictions[first].action));
			decision.count++;
			first++;
		}
		then = now;
		apply_decision(scene, &decision, after, &now);
		scene->tally->decisions[scene->action]++;
		if (!inspect_decision(scene, &decision, &then, &now))
			return false;
	}
	return same_spots(scene, &now, after);
}

bool inspect_action(struct scene *scene, const struct picture *before)
{
	struct picture after;
	picture_take(scene->fixture, &after);
	if (scene->action == ACTION_ALLOCATE) {
		if (after.evictions != before->evictions)
			return scene_fail(scene, CYCLE_UNEXPLAINED, "an eviction");
		if (!inspect_queues(scene, before, &after))
			return false;
	} else if (!check_decisions(scene, before, &after)) {
		return false;
	}
	for (int g = 0; g < scene->fixture->world->group_count; g++)
		if (!check_group(scene, g, before, &after))
			return false;
	return check_nodes(scene);
}
