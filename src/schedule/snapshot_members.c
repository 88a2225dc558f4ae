/* Owns membership: which pod belongs to which leaf of which gang, in which order, and what is said about pods that do
 * not fit into the tree. */
#include "schedule/snapshot_build.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define LEAVES_NAMED 6 /* leaves listed in a message before it says "and n more" */

/* Pods whose group does not exist, told together: there may be thousands of them. */
struct missing_group {
	const struct snapshot_pod *first;
	size_t count;
};

int build_leaf(const struct snapshot_group *group, const struct snapshot_pod *pod)
{
	return group->spec.tree_count == 0 ? 0 : podgroup_leaf(&group->spec, pod->spec->subgroup);
}

static void join(struct snapshot_build *build, struct snapshot_pod *pod, struct interner *missing,
                 struct missing_group *groups)
{
	struct snapshot *snapshot = build->snapshot;
	const char *key = build_key(build, pod->namespace_, pod->spec->group);
	uint32_t group = interner_find(snapshot->group_names, key);
	if (group == UINT32_MAX || snapshot->groups[group].implicit) {
		if (pod->gone)
			return;
		struct missing_group *told = &groups[interner_id(missing, key)];
		told->first = told->count++ ? told->first : pod;
		return;
	}
	if (pod->bound_to && !snapshot->groups[group].source)
		return; /* its group is gone: it only uses room */
	pod->group = (int)group;
	pod->leaf = build_leaf(&snapshot->groups[group], pod);
}

static void leave_out(struct snapshot_build *build, const struct snapshot_pod *pod)
{
	if (pod->bound_to || pod->gone)
		return;
	bool likely = pod->spec->group && !build->foreign_member; /* meant for us, but for its schedulerName */
	if (build->foreign_pods++ == 0 || likely)
		build->foreign_pod = build_key(build, pod->namespace_, pod->name);
	build->foreign_member |= likely;
}

static void join_pods(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	struct interner *missing = interner_create();
	struct missing_group *groups = arena_array(build->arena, struct missing_group, snapshot->pod_count);
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		struct snapshot_pod *pod = &snapshot->pods[i];
		if (pod->group >= 0)
			continue;
		if (!build_pod_is_ours(build, pod->spec))
			leave_out(build, pod);
		else if (pod->spec->group)
			join(build, pod, missing, groups);
	}
	for (uint32_t i = 0; i < interner_count(missing); i++) {
		const struct pod_spec *first = groups[i].first->spec;
		const char *others = "";
		if (groups[i].count > 1)
			others = arena_printf(build->arena, " and %zu more", groups[i].count - 1);
		build_warn(build,
		           "pod %s%s name%s PodGroup %s, which does not exist; create it, or remove the annotation "
		           "pod-group-name",
		           build_key(build, first->namespace_, first->name), others, others[0] ? "" : "s",
		           interner_text(missing, i));
	}
	interner_destroy(missing);
}

static int compare_members(const void *left, const void *right, void *context)
{
	int a_index = *(const int *)left, b_index = *(const int *)right;
	const struct snapshot_pod *pods = context, *a = &pods[a_index], *b = &pods[b_index];
	if (a->leaf != b->leaf)
		return a->leaf < b->leaf ? -1 : 1;
	if (a->spec->task_priority != b->spec->task_priority)
		return a->spec->task_priority > b->spec->task_priority ? -1 : 1;
	if (a->spec->index != b->spec->index) /* the order of ranks, so that neighbours get neighbouring nodes */
		return a->spec->index < b->spec->index ? -1 : 1;
	if (a->creation != b->creation)
		return a->creation < b->creation ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_strays(const void *left, const void *right, void *context)
{
	int a = *(const int *)left, b = *(const int *)right;
	const struct snapshot_pod *pods = context;
	const char *a_name = pods[a].spec->subgroup, *b_name = pods[b].spec->subgroup;
	int order = strcmp(a_name ? a_name : "", b_name ? b_name : "");
	return order ? order : strcmp(pods[a].name, pods[b].name);
}

static const char *name_leaves(struct arena *arena, const struct gang *gang)
{
	struct buffer text = {0};
	size_t count = 0;
	for (size_t n = 0; n < gang->tree_count; n++) {
		if (gang->tree[n].child_count > 0 || !gang->tree[n].name[0])
			continue;
		if (count < LEAVES_NAMED)
			buffer_printf(&text, "%s%s", count ? ", " : "", gang->tree[n].name);
		count++;
	}
	if (count > LEAVES_NAMED)
		buffer_printf(&text, " and %zu more", count - LEAVES_NAMED);
	const char *result =
		count == 0 ? "the PodGroup has no subgroups: remove the label kai.scheduler/subgroup-name"
			   : arena_printf(arena, "set the label kai.scheduler/subgroup-name to a leaf: %s", text.text);
	buffer_free(&text);
	return result;
}

/* One note per wrong name, naming the first pod: a thousand pods with the same mistake are one mistake. */
static void note_strays(const struct snapshot *snapshot, size_t group_index, struct arena *arena)
{
	struct snapshot_group *group = &snapshot->groups[group_index];
	const struct gang *gang = &snapshot->cycle.groups[group_index].gang;
	if (group->stray_count > 1)
		qsort_r(group->strays, group->stray_count, sizeof(int), compare_strays, snapshot->pods);
	for (size_t i = 0, end; i < group->stray_count; i = end) {
		const struct pod_spec *first = snapshot->pods[group->strays[i]].spec;
		for (end = i + 1; end < group->stray_count; end++)
			if (!text_equal(snapshot->pods[group->strays[end]].spec->subgroup, first->subgroup))
				break;
		size_t more = end - i - 1;
		const char *who = more == 0 ? arena_printf(arena, "pod %s", first->name)
		                            : arena_printf(arena, "pod %s and %zu more", first->name, more);
		const char *what = first->subgroup ? arena_printf(arena, "%s subgroup %s, which is not a leaf",
		                                                  more ? "name" : "names", first->subgroup)
		                                   : arena_printf(arena, "%s no subgroup", more ? "name" : "names");
		reason_add(&group->notes, arena,
		           (struct reason){.code = REASON_SUBGROUP_UNKNOWN,
		                           .message = arena_printf(arena, "%s %s, and cannot be placed; %s", who, what,
		                                                   name_leaves(arena, gang))});
	}
}

static enum reason_code reason_of(enum block_code code)
{
	static const enum reason_code codes[BLOCK_CODES] = {
		[BLOCK_UNSUPPORTED] = REASON_UNSUPPORTED,
		[BLOCK_MISSING] = REASON_MISSING_OBJECT,
		[BLOCK_NOT_READY] = REASON_OBJECT_NOT_READY,
		[BLOCK_NOT_GROUPED] = REASON_NOT_GROUPED,
	};
	return codes[code];
}

#define BLOCKS_NAMED 4 /* different ones that are told before it says how many more pods are blocked */

/* One note per reason, naming the first pod: pods of one template are blocked alike. */
static void note_blocked(const struct snapshot *snapshot, size_t group_index, struct arena *arena)
{
	struct snapshot_group *group = &snapshot->groups[group_index];
	const struct gang *gang = &snapshot->cycle.groups[group_index].gang;
	size_t counts[BLOCKS_NAMED] = {0}, rest = 0;
	const struct snapshot_pod *first[BLOCKS_NAMED] = {0};
	for (size_t i = 0; i < gang->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[group->members[i]];
		size_t b = 0;
		if (gang->pods[i].state != MEMBER_BLOCKED)
			continue;
		while (b < BLOCKS_NAMED && first[b] && !pod_block_equal(first[b]->block, pod->block))
			b++;
		if (b == BLOCKS_NAMED) {
			rest++;
			continue;
		}
		first[b] = counts[b]++ ? first[b] : pod;
	}
	for (size_t b = 0; b < BLOCKS_NAMED && first[b]; b++) {
		const char *more = counts[b] > 1 ? arena_printf(arena, " and %zu more", counts[b] - 1) : "";
		const char *others =
			rest && b + 1 == BLOCKS_NAMED
				? arena_printf(arena, "; %zu more pods are blocked for other reasons", rest)
				: "";
		reason_add(&group->notes, arena,
		           (struct reason){.code = reason_of(first[b]->block->code),
		                           .message = arena_printf(arena, "pod %s%s: %s%s", first[b]->name, more,
		                                                   first[b]->block->message, others),
		                           .need = (int64_t)counts[b]});
	}
}

void build_note_bad_pod(struct snapshot_group *group, const char *name, struct arena *arena)
{
	reason_add(&group->notes, arena,
	           (struct reason){.code = REASON_NOT_READY,
	                           .message = arena_printf(arena, "pod %s is not valid and does not count", name)});
}

static void note_bad_pods(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	for (size_t i = 0; i < build->bad_pod_count; i++) {
		uint32_t id = interner_find(snapshot->group_names, build->bad_pods[i].group_key);
		if (id != UINT32_MAX)
			build_note_bad_pod(&snapshot->groups[id], build->bad_pods[i].name, build->arena);
	}
}

/* A label for the pool stands on both, as the grouping controller writes it; who wrote it on one alone meant something else
 * than where the pod would go. */
static const struct pod_block other_pool = {
	BLOCK_UNSUPPORTED, "its node-pool label differs from that of its PodGroup: give both the same"};
static const struct pod_block other_pods = {
	BLOCK_UNSUPPORTED, "its node-pool label differs from that of other pods of its PodGroup: give all the same"};
static const struct pod_block other_queue = {
	BLOCK_UNSUPPORTED, "the queue of its PodGroup is one of another node pool: name a queue of this one"};

static const char *pool_of(const struct snapshot *snapshot, const struct snapshot_pod *pod)
{
	const char *pool = cluster_pod_class_pool(snapshot->cycle.cluster, pod->pod_class);
	return pool && *pool ? pool : NULL;
}

/* A group that says nothing is where its pods are: its first one. */
static void take_pool(const struct snapshot_build *build, size_t group_index)
{
	struct snapshot *snapshot = build->snapshot;
	struct snapshot_group *group = &snapshot->groups[group_index];
	struct cycle_group *into = &snapshot->cycle.groups[group_index];
	if (group->implicit || group->says_pool || into->queue < 0)
		return;
	group->pool = NULL;
	for (size_t i = 0; i < into->gang.pod_count; i++)
		if (!snapshot->pods[group->members[i]].gone) {
			group->pool = pool_of(snapshot, &snapshot->pods[group->members[i]]);
			break;
		}
	build_take_row(build, into, snapshot->cycle.queues[into->queue].first, group->pool);
}

static void compare_pools(const struct snapshot_build *build, size_t group_index, struct snapshot_pod *pod)
{
	const struct snapshot *snapshot = build->snapshot;
	const struct snapshot_group *group = &snapshot->groups[group_index];
	int queue = snapshot->cycle.groups[group_index].queue;
	const char *only = queue < 0 ? NULL : build->queue_pools[snapshot->cycle.queues[queue].first];
	if (pod->block == &other_pool || pod->block == &other_pods || pod->block == &other_queue)
		pod->block = NULL;
	if (group->implicit || pod->block || pod->gone || pod->node >= 0)
		return;
	if (!text_equal(pool_of(snapshot, pod), group->pool && *group->pool ? group->pool : NULL))
		pod->block = group->says_pool ? &other_pool : &other_pods;
	else if (only && strcmp(only, group->pool ? group->pool : "") != 0)
		pod->block = &other_queue;
}

static enum member_state state_of(const struct snapshot_pod *pod)
{
	if (pod->gone)
		return MEMBER_GONE;
	if (pod->node >= 0)
		return MEMBER_RUNNING;
	if (pod->spec->gated)
		return MEMBER_GATED;
	return pod->block ? MEMBER_BLOCKED : MEMBER_WAITING;
}

uint8_t build_health(const struct pod_spec *pod)
{
	return pod->phase == POD_PENDING ? HEALTH_STARTING : pod->ready ? HEALTH_READY : HEALTH_UNREADY;
}

/* Since when a pod has its node, in seconds: it is started, or was bound and is being started. INT64_MIN when nobody knows. */
static int64_t has_node_since(const struct snapshot *snapshot, const struct snapshot_pod *pod)
{
	if (!pod->spec->node) /* bound by the last cycle, and not yet seen so */
		return snapshot->cycle.now / CLOCK_SECOND;
	return pod->spec->started_seconds != INT64_MIN ? pod->spec->started_seconds : pod->spec->creation_seconds;
}

void build_member_states(const struct snapshot_build *build, size_t group_index)
{
	const struct snapshot *snapshot = build->snapshot;
	const struct snapshot_group *group = &snapshot->groups[group_index];
	struct cycle_group *into = &snapshot->cycle.groups[group_index];
	int64_t started = INT64_MAX; /* since the first of those that run now */
	into->never_preempts = group->never_preempts;
	for (size_t i = 0; i < into->gang.pod_count; i++) {
		struct snapshot_pod *pod = &snapshot->pods[group->members[i]];
		compare_pools(build, group_index, pod);
		enum member_state state = state_of(pod);
		int64_t since = state == MEMBER_RUNNING ? has_node_since(snapshot, pod) : INT64_MIN;
		started = since != INT64_MIN && since < started ? since : started;
		into->never_preempts |= state == MEMBER_WAITING && pod->spec->never_preempts;
		pod->member = (int)i;
		into->was_running[i] = group->ran[i] = state == MEMBER_RUNNING;
		into->gang.pods[i] = (struct gang_pod){
			.name = pod->name,
			.pod_class = pod->pod_class,
			.leaf = pod->leaf,
			.state = state,
			.node = state == MEMBER_RUNNING ? pod->node : -1,
			.nominated = pod->nominated ? cluster_find_node(snapshot->cycle.cluster, pod->nominated) : -1,
			.health = build_health(pod->spec),
		};
	}
	into->has_started = started != INT64_MAX;
	into->started = into->has_started ? started * CLOCK_SECOND : 0;
}

static void fill_gang(const struct snapshot_build *build, size_t group_index, struct arena *arena)
{
	const struct snapshot *snapshot = build->snapshot;
	struct snapshot_group *group = &snapshot->groups[group_index];
	struct cycle_group *into = &snapshot->cycle.groups[group_index];
	struct gang *gang = &into->gang;
	gang->namespace_ = group->namespace_;
	gang->name = group->name;
	qsort_r(group->members, gang->pod_count, sizeof(int), compare_members, snapshot->pods);
	gang->pods = arena_array(arena, struct gang_pod, gang->pod_count);
	into->was_running = arena_array(arena, bool, gang->pod_count);
	group->ran = arena_array(arena, bool, gang->pod_count);
	take_pool(build, group_index);
	build_member_states(build, group_index);
	for (size_t i = 0; i < gang->pod_count; i++) {
		const struct pod_spec *spec = snapshot->pods[group->members[i]].spec;
		into->completing |= spec->phase == POD_SUCCEEDED;
		/* A claim of a pod goes with it, and its successor's is made later than its place would be kept. */
		into->stays |= spec->device_claim_count > 0;
	}
	if (group->rejected && group->spec.tree_count == 0 && gang->pod_count > 1)
		gang->tree[0].minimum = (int)gang->pod_count;
}

void build_gang(const struct snapshot_build *build, size_t group_index, struct arena *arena)
{
	fill_gang(build, group_index, arena);
	note_blocked(build->snapshot, group_index, arena);
	note_strays(build->snapshot, group_index, arena);
}

void build_members(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	size_t group_count = snapshot->cycle.group_count;
	join_pods(build);
	size_t *member_counts = arena_array(build->arena, size_t, group_count);
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[i];
		if (pod->group < 0)
			continue;
		if (pod->leaf >= 0)
			member_counts[pod->group]++;
		else if (!pod->gone)
			snapshot->groups[pod->group].stray_count++;
	}
	for (size_t g = 0; g < group_count; g++) {
		snapshot->groups[g].members = arena_array(build->arena, int, member_counts[g]);
		snapshot->groups[g].strays = arena_array(build->arena, int, snapshot->groups[g].stray_count);
		snapshot->groups[g].stray_count = 0;
	}
	for (size_t i = 0; i < snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &snapshot->pods[i];
		if (pod->group < 0)
			continue;
		struct snapshot_group *group = &snapshot->groups[pod->group];
		if (pod->leaf >= 0)
			group->members[snapshot->cycle.groups[pod->group].gang.pod_count++] = (int)i;
		else if (!pod->gone)
			group->strays[group->stray_count++] = (int)i;
	}
	for (size_t g = 0; g < group_count; g++)
		build_gang(build, g, build->arena);
	note_bad_pods(build);
}
