/* Owns the groups of the snapshot: decoded PodGroups, one-pod groups for pods without one, their order, priority and
 * queue. Which pods are members is decided in snapshot_members.c. */
#include "schedule/snapshot_build.h"

#include "admit/shard.h"

#include "admit/pod_fields.h"
#include "base/clock.h"
#include "kinds/names.h"
#include "schedule/title.h"

#include <stdlib.h>
#include <string.h>

#define NON_PREEMPTIBLE_FROM 100 /* priority from which a group that says nothing is protected */

static enum cycle_preempt preempt_of(enum preemptibility written, int32_t priority)
{
	switch (written) {
	case PREEMPTIBLE:
		return CYCLE_PREEMPTIBLE;
	case NON_PREEMPTIBLE:
		return CYCLE_NON_PREEMPTIBLE;
	case SEMI_PREEMPTIBLE:
		return CYCLE_SEMI_PREEMPTIBLE;
	case PREEMPTIBILITY_UNSET:
		break;
	}
	return priority < NON_PREEMPTIBLE_FROM ? CYCLE_PREEMPTIBLE : CYCLE_NON_PREEMPTIBLE;
}

#define DEFAULT_STALENESS_GRACE (60 * CLOCK_SECOND)

void build_take_row(const struct snapshot_build *build, struct cycle_group *group, int queue, const char *pool)
{
	int row = build_queue_row(build, queue, pool);
	group->nowhere = row < 0;
	group->queue = row < 0 ? queue : row;
}

static void block_queue(struct arena *arena, struct cycle_group *group, const char *message)
{
	group->blocked = true;
	reason_add(&group->reasons, arena, (struct reason){.code = REASON_QUEUE_UNKNOWN, .message = message});
}

/* `pool` is that of the group, NULL for none. */
static void set_queue(const struct snapshot_build *build, struct arena *arena, struct cycle_group *group,
                      const char *name, const char *pool)
{
	group->queue_name = name && name[0] ? name : build->default_queue;
	uint32_t id = build->no_queues ? 0 : interner_find(build->queue_names, group->queue_name);
	group->queue = id == UINT32_MAX ? -1 : (int)id;
	if (group->queue < 0)
		return;
	const struct cycle_queue *queue = &build->snapshot->cycle.queues[id];
	const char *only = build->queue_pools[id];
	if (only && strcmp(only, pool ? pool : "") != 0) {
		group->queue = -1; /* what it holds is nothing of this pool */
		block_queue(arena, group,
		            *only ? arena_printf(arena, "queue %s is one of node pool %s, and the group is in %s%s",
		                                 queue->name, only, pool ? "pool " : "none", pool ? pool : "")
		                  : arena_printf(arena,
		                                 "queue %s has no label %s, and the group is in node pool %s: give "
		                                 "the queue the label, or name one that has it",
		                                 queue->name, settings_pool_label(build->settings), pool));
		return;
	}
	build_take_row(build, group, group->queue, pool);
	if (queue->closed)
		block_queue(arena, group, queue->closed);
}

/* The pool that groups of the queue have to be in, NULL when they may be in any. */
static const char *only_pool(const struct snapshot_build *build, const char *name)
{
	uint32_t id =
		build->no_queues ? 0 : interner_find(build->queue_names, name && *name ? name : build->default_queue);
	return id == UINT32_MAX ? NULL : build->queue_pools[id];
}

static void block_topology(struct arena *arena, struct cycle_group *group, const struct tree_node *node,
                           const char *message)
{
	const char *what = node->name[0] ? arena_printf(arena, "subgroup %s", node->name) : "the PodGroup";
	group->blocked = true;
	reason_add(&group->reasons, arena,
	           (struct reason){
			   .code = REASON_TOPOLOGY_UNKNOWN,
			   .message = arena_printf(arena, "%s cannot be placed: %s", what, message),
			   .level = node->constraint.required ? node->constraint.required : node->constraint.preferred,
		   });
}

static const char *list_levels(struct arena *arena, const struct topology_spec *topology)
{
	struct buffer text = {0};
	for (size_t i = 0; i < topology->level_count; i++)
		buffer_printf(&text, "%s%s", i ? ", " : "", topology->levels[i]);
	const char *result = arena_strdup(arena, text.text ? text.text : "none");
	buffer_free(&text);
	return result;
}

static struct gang_level resolve_level(const struct snapshot_build *build, struct arena *arena,
                                       struct cycle_group *group, const struct tree_node *node, int topology,
                                       const char *level)
{
	if (!level || topology < 0)
		return GANG_NO_LEVEL;
	const struct topology_spec *spec = &build->snapshot->topologies[topology];
	int number = topology_level(spec, level);
	if (number < 0) {
		const char *near = text_nearest(level, (const char *const *)spec->levels, spec->level_count);
		block_topology(arena, group, node,
		               arena_printf(arena, "Topology %s has no level %s (%s%s%sits levels are %s)", spec->name,
		                            level, near ? "did you mean " : "", near ? near : "", near ? "? " : "",
		                            list_levels(arena, spec)));
		return GANG_NO_LEVEL;
	}
	return (struct gang_level){.topology = topology, .level = number};
}

static const char *meant_topology(const struct snapshot_build *build, struct arena *arena, const char *name)
{
	struct nearest_name nearest = {.word = name};
	for (size_t i = 0; i < build->snapshot->topology_count; i++)
		text_consider(&nearest, build->snapshot->topologies[i].name);
	return nearest.name ? arena_printf(arena, "; did you mean %s?", nearest.name) : "";
}

static void resolve_constraint(const struct snapshot_build *build, struct arena *arena, struct cycle_group *group,
                               const struct tree_node *node, struct gang_node *out)
{
	const struct constraint_spec *constraint = &node->constraint;
	out->required = out->preferred = GANG_NO_LEVEL;
	if (!constraint->topology || (!constraint->required && !constraint->preferred))
		return;
	int topology = cluster_find_topology(build->snapshot->cycle.cluster, constraint->topology);
	if (topology < 0) {
		block_topology(arena, group, node,
		               arena_printf(arena, "Topology %s does not exist%s", constraint->topology,
		                            meant_topology(build, arena, constraint->topology)));
		return;
	}
	out->required = resolve_level(build, arena, group, node, topology, constraint->required);
	out->preferred = resolve_level(build, arena, group, node, topology, constraint->preferred);
}

static void build_tree(const struct snapshot_build *build, struct arena *arena, struct cycle_group *group,
                       const struct podgroup *spec)
{
	group->gang.tree_count = spec->tree_count;
	group->gang.starts_whole = spec->starts_whole;
	group->gang.tree = arena_array(arena, struct gang_node, spec->tree_count);
	for (size_t i = 0; i < spec->tree_count; i++) {
		struct gang_node *node = &group->gang.tree[i];
		node->name = spec->tree[i].name ? spec->tree[i].name : "";
		node->parent = spec->tree[i].parent;
		node->child_count = spec->tree[i].child_count;
		node->minimum = spec->tree[i].minimum;
		node->expected = spec->tree[i].expected;
		resolve_constraint(build, arena, group, &spec->tree[i], node);
	}
}

/* A tree of one leaf, for pods without a PodGroup and for groups whose own tree cannot be used. */
static void single_leaf(struct arena *arena, struct cycle_group *group)
{
	group->gang.tree_count = 1;
	group->gang.tree = arena_array(arena, struct gang_node, 1);
	group->gang.tree[0] = (struct gang_node){
		.name = "", .parent = -1, .minimum = 1, .required = GANG_NO_LEVEL, .preferred = GANG_NO_LEVEL};
}

static void keep_rejections(struct arena *arena, struct snapshot_group *group, const struct problems *problems)
{
	group->rejected = true;
	group->rejections = arena_array(arena, const char *, problems->errors);
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		if (problem->severity != SEVERITY_ERROR)
			continue;
		group->rejections[group->rejection_count++] =
			arena_printf(arena, "%s%s%s%s%s%s", problem->path, problem->path[0] ? ": " : "",
		                     problem->message, problem->fix ? " (" : "", problem->fix ? problem->fix : "",
		                     problem->fix ? ")" : "");
	}
}

static bool read_time(const struct manifest *manifest, const char *annotation, int64_t *ns)
{
	const char *text = val_str(val_path(manifest->object, "metadata", "annotations", annotation, NULL), NULL);
	int64_t seconds;
	if (!text || clock_parse_rfc3339(text, &seconds) < 0)
		return false;
	*ns = seconds * CLOCK_SECOND;
	return true;
}

/* Whether an earlier cycle has already marked the group as unschedulable in the pool it is in now. */
static bool marked_unschedulable(const struct manifest *manifest, const char *pool_label)
{
	const struct val *conditions = val_path(manifest->object, "status", "schedulingConditions", NULL), *item;
	const char *pool = val_str(val_get(val_path(manifest->object, "metadata", "labels", NULL), pool_label), "");
	pool = pool[0] ? pool : "default";
	for (struct val_iter it = val_iter(conditions); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "UnschedulableOnNodePool") == 0 &&
		    strcmp(val_str(val_get(item, "status"), ""), "True") == 0 &&
		    strcmp(val_str(val_get(item, "nodePool"), pool), pool) == 0)
			return true;
	return false;
}

/* When the group counts as stale, and from when on it may cause evictions. */
static void set_times(const struct snapshot_build *build, const struct snapshot_group *group,
                      const struct manifest *manifest, struct cycle_group *into)
{
	const struct settings *settings = build->settings;
	const struct podgroup *spec = &group->spec;
	const struct shard_spec *shard = build_shard(build, group->pool);
	into->has_stale_since = read_time(manifest, "kai.scheduler/stale-podgroup-timestamp", &into->stale_since);
	into->grace = spec->has_staleness_grace                ? spec->staleness_grace_ns
	              : into->preempt == CYCLE_NON_PREEMPTIBLE ? -1
	              : shard && shard->has_grace              ? shard->grace_ns
	                                                       : DEFAULT_STALENESS_GRACE;
	into->resettles = into->grace >= 0 && !spec->has_staleness_grace && !(shard && shard->has_grace);
	const char *text = val_str(val_path(manifest->object, "metadata", "annotations", MET_MINIMUM, NULL), "");
	char *end;
	long met = strtol(text, &end, 10);
	into->met = !*end && met > 0 && met <= INT32_MAX ? (int)met : 0;
	into->evict_after = INT64_MIN;
	into->give_up_after_failure = spec->scheduling_backoff == 1;
	into->gave_up = into->give_up_after_failure && marked_unschedulable(manifest, settings_pool_label(settings));
	if (!spec->has_preemption_delay)
		return;
	int64_t since = group->creation * CLOCK_SECOND;
	int64_t evicted;
	if (read_time(manifest, "kai.scheduler/last-eviction-timestamp", &evicted) && evicted > since)
		since = evicted;
	into->evict_after = since + spec->preemption_delay_ns;
}

static void block_request(struct arena *arena, struct cycle_group *into, const char *what)
{
	into->blocked = true;
	reason_add(&into->reasons, arena,
	           (struct reason){.code = REASON_UNSUPPORTED,
	                           .message =
	                                   arena_printf(arena, "the workload asks for what is not served: %s", what)});
}

/* What the workload asks for beside its pods reaches the group alone. */
static void block_requests(struct arena *arena, const struct manifest *manifest, struct cycle_group *into)
{
	const struct pod_block *block = NULL;
	pod_fields_block_group(manifest->object, arena, &block);
	if (block)
		block_request(arena, into, block->message);
}

/* The class of pods that the workload has yet to make, as its template says, and 1; 0 when that is not known. */
static int read_coming(struct snapshot_build *build, const struct manifest *manifest, struct arena *arena)
{
	const char *text = val_str(val_path(manifest->object, "metadata", "annotations", KINDS_COMING_POD, NULL), NULL);
	struct problems ignored = {.arena = arena};
	struct error error;
	struct pod_spec spec;
	struct doc *doc = text ? doc_parse_json(text, strlen(text), &error) : NULL;
	int number = 0;
	if (doc && pod_decode(doc_root(doc), arena, &spec, &ignored) == 0) {
		struct snapshot_pod pod = {.spec = &spec, .namespace_ = build_namespace(manifest->namespace_)};
		number = 1 + build_pod_class(build, &pod,
		                             &(struct volume_needs){.rules = spec.rules,
		                                                    .requests = spec.requests,
		                                                    .request_count = spec.request_count,
		                                                    .labels = spec.labels});
	}
	doc_destroy(doc);
	return number;
}

static void read_group(struct snapshot_build *build, const struct manifest *manifest, size_t order, size_t index,
                       const struct problems *problems, struct arena *arena)
{
	struct snapshot *snapshot = build->snapshot;
	struct problems ignored = {.arena = arena};
	struct snapshot_group *group = &snapshot->groups[index];
	struct cycle_group *into = &snapshot->cycle.groups[index];
	int rc = podgroup_decode(manifest->object, arena, &group->spec, &ignored);
	group->namespace_ = build_namespace(manifest->namespace_);
	group->name = manifest->name;
	const char *title = title_of_group(manifest->object, arena);
	if (strcmp(title, group->name) != 0)
		into->gang.title = arena_printf(arena, "%s/%s", group->namespace_, title);
	group->source = manifest->source;
	group->pool =
		val_str(val_path(manifest->object, "metadata", "labels", settings_pool_label(build->settings), NULL),
	                NULL);
	group->says_pool = group->pool;
	into->creation = group->creation = build_creation(manifest, order);
	into->state = GROUP_WAITING;
	if (rc < 0) {
		group->spec = (struct podgroup){0};
		single_leaf(arena, into);
	} else {
		build_tree(build, arena, into, &group->spec);
		into->gang.coming_class = read_coming(build, manifest, arena);
	}
	/* An unknown topology or level has its own reason, so that it is not mistaken for a malformed object. */
	if (problems->errors > 0 && !into->blocked)
		keep_rejections(arena, group, problems);
	into->blocked = into->blocked || problems->errors > 0;
	block_requests(arena, manifest, into);
	into->priority = build_priority(build, group->spec.priority_class, &group->never_preempts);
	group->never_preempts |= group->spec.never_preempts;
	into->preempt = preempt_of(group->spec.preemptibility, into->priority);
	into->disruption = group->spec.disruption == DISRUPT_WHOLE    ? CYCLE_DISRUPT_WHOLE
	                   : group->spec.disruption == DISRUPT_SINGLE ? CYCLE_DISRUPT_SINGLE
	                                                              : CYCLE_DISRUPT_USUAL;
	set_times(build, group, manifest, into);
	build_places(build, manifest, index, arena);
	const char *queue =
		rc < 0 ? val_str(val_path(manifest->object, "spec", "queue", NULL), NULL) : group->spec.queue;
	/* Of a group that does not say so, the pods will. */
	set_queue(build, arena, into, queue, group->says_pool ? group->pool : only_pool(build, queue));
}

void build_read_group(struct snapshot_build *build, const struct manifest *manifest, size_t order, size_t index,
                      struct arena *arena)
{
	struct problems problems = build_judge(build, manifest, arena);
	read_group(build, manifest, order, index, &problems, arena);
}

static void add_podgroup(struct snapshot_build *build, const struct manifest *manifest, size_t order)
{
	struct snapshot *snapshot = build->snapshot;
	struct problems problems = build_judge(build, manifest, build->arena);
	if (build_new_name(snapshot->group_names, build_key(build, manifest->namespace_, manifest->name)))
		read_group(build, manifest, order, snapshot->cycle.group_count++, &problems, build->arena);
}

bool build_needs_implicit(const struct snapshot_build *build, const struct snapshot_pod *pod)
{
	return !pod->spec->group && !pod->gone && build_pod_is_ours(build, pod->spec);
}

static enum preemptibility preemptibility_of(const char *text)
{
	return text_equal(text, "preemptible")        ? PREEMPTIBLE
	       : text_equal(text, "non-preemptible")  ? NON_PREEMPTIBLE
	       : text_equal(text, "semi-preemptible") ? SEMI_PREEMPTIBLE
	                                              : PREEMPTIBILITY_UNSET;
}

void build_read_implicit(struct snapshot_build *build, const struct snapshot_pod *pod, const struct group_terms *terms,
                         size_t index, struct arena *arena)
{
	struct snapshot_group *group = &build->snapshot->groups[index];
	struct cycle_group *into = &build->snapshot->cycle.groups[index];
	group->implicit = into->implicit = true;
	group->namespace_ = pod->namespace_;
	group->name = pod->name;
	into->creation = group->creation = pod->creation;
	into->state = GROUP_WAITING;
	into->priority = build_priority(build, terms ? terms->priority_class : pod->spec->priority_class,
	                                &group->never_preempts);
	if (!terms && pod->spec->has_priority)
		into->priority = pod->spec->priority;
	into->preempt = preempt_of(preemptibility_of(terms ? terms->preemptibility : NULL), into->priority);
	into->grace = -1;
	into->evict_after = INT64_MIN;
	set_queue(build, arena, into,
	          terms ? terms->queue : labels_get(&pod->spec->labels, settings_queue_label(build->settings)),
	          labels_get(&pod->spec->labels, settings_pool_label(build->settings)));
	if (terms && terms->share)
		block_request(arena, into, arena_printf(arena, "%s: %s", terms->share, POD_GPU_SHARED));
	single_leaf(arena, into);
}

static void add_implicit(struct snapshot_build *build, struct snapshot_pod *pod)
{
	struct snapshot *snapshot = build->snapshot;
	size_t index = snapshot->cycle.group_count++;
	const char *key = build_key(build, pod->namespace_, pod->name);
	/* A PodGroup may have the pod's name; a key with a character that no name has keeps the numbering in step. */
	if (interner_find(snapshot->group_names, key) != UINT32_MAX)
		key = arena_printf(build->arena, "pod:%s", key);
	interner_id(snapshot->group_names, key);
	struct group_terms terms;
	bool known = build->terms && terms_read(build->terms, pod->namespace_, pod->name, build->arena, &terms);
	build_read_implicit(build, pod, known ? &terms : NULL, index, build->arena);
	pod->group = (int)index;
	pod->leaf = 0;
}

/* Pods that wait for a PodGroup that nobody has made: they are listed below its name, so that nothing that waits is left out. */
static bool may_lack_group(const struct snapshot_build *build, const struct snapshot_pod *pod)
{
	return build->options->list_missing && pod->spec->group && !pod->gone && !pod->bound_to &&
	       build_pod_is_ours(build, pod->spec);
}

static size_t count_missing(struct snapshot_build *build)
{
	const struct build_slice *slice = &build->kinds[KIND_POD_GROUP];
	struct interner *names = interner_create();
	for (size_t i = 0; i < slice->count; i++)
		interner_id(names, build_key(build, slice->items[i]->namespace_, slice->items[i]->name));
	size_t given = interner_count(names);
	for (size_t i = 0; i < build->snapshot->pod_count; i++) {
		const struct snapshot_pod *pod = &build->snapshot->pods[i];
		if (may_lack_group(build, pod))
			interner_id(names, build_key(build, pod->namespace_, pod->spec->group));
	}
	size_t missing = interner_count(names) - given;
	interner_destroy(names);
	return missing;
}

static void add_missing(struct snapshot_build *build, const struct snapshot_pod *pod)
{
	struct snapshot *snapshot = build->snapshot;
	const char *key = build_key(build, pod->namespace_, pod->spec->group), *ungrouped = pod->spec->ungrouped;
	if (!build_new_name(snapshot->group_names, key))
		return;
	size_t index = snapshot->cycle.group_count++;
	struct cycle_group *into = &snapshot->cycle.groups[index];
	build_read_implicit(build, pod, NULL, index, build->arena);
	snapshot->groups[index].implicit = into->implicit = false;
	snapshot->groups[index].name = pod->spec->group;
	into->blocked = true;
	into->reasons = (struct reasons){0};
	reason_add(&into->reasons, build->arena,
	           (struct reason){.code = ungrouped ? REASON_NOT_GROUPED : REASON_MISSING_OBJECT,
	                           .message = ungrouped ? ungrouped
	                                                : arena_printf(build->arena,
	                                                               "pod %s names PodGroup %.253s, which does not "
	                                                               "exist; create it, or remove the annotation "
	                                                               "pod-group-name",
	                                                               pod->name, pod->spec->group)});
}

void build_groups(struct snapshot_build *build)
{
	struct snapshot *snapshot = build->snapshot;
	const struct build_slice *slice = &build->kinds[KIND_POD_GROUP];
	size_t most = slice->count + count_missing(build);
	for (size_t i = 0; i < snapshot->pod_count; i++)
		most += build_needs_implicit(build, &snapshot->pods[i]);
	snapshot->groups = arena_array(build->arena, struct snapshot_group, most);
	snapshot->cycle.groups = arena_array(build->arena, struct cycle_group, most);
	snapshot->group_names = interner_create();
	for (size_t i = 0; i < slice->count; i++)
		add_podgroup(build, slice->items[i], slice->order[i]);
	for (size_t i = 0; i < snapshot->pod_count; i++)
		if (may_lack_group(build, &snapshot->pods[i]))
			add_missing(build, &snapshot->pods[i]);
	for (size_t i = 0; i < snapshot->pod_count; i++)
		if (build_needs_implicit(build, &snapshot->pods[i]))
			add_implicit(build, &snapshot->pods[i]);
	build_members(build);
	/* The clock of a snapshot is never behind its objects. */
	for (size_t i = 0; i < snapshot->cycle.group_count; i++)
		if (snapshot->groups[i].creation * CLOCK_SECOND > snapshot->cycle.now)
			snapshot->cycle.now = snapshot->groups[i].creation * CLOCK_SECOND;
}
