/* Owns finding the object somebody asks about, and saying in one sentence how it stands with it. */
#include "view/why_internal.h"

#include "kinds/kinds.h"

#include <string.h>

/* What is asked about these is not asked about owners of pods. */
static const struct {
	enum kind_id id;
	enum why_kind kind;
} kinds[] = {
	{KIND_POD_GROUP, WHY_POD_GROUP},
	{KIND_POD, WHY_POD},
	{KIND_QUEUE, WHY_QUEUE},
};

int why_parse(const char *text, const char *namespace_, struct arena *arena, struct why_subject *subject,
              struct error *error)
{
	const char *slash = strchr(text, '/');
	if (!slash || !slash[1])
		return error_set(error, ERROR_USAGE,
		                 "%.200s: give kind and name: podgroup/NAME, pod/NAME, queue/NAME, job/NAME, ...",
		                 text);
	const char *kind = arena_strndup(arena, text, (size_t)(slash - text));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct kind_row *row = kinds_of_id(kinds[i].id);
		if (!kinds_is_called(row, kind))
			continue;
		*subject = (struct why_subject){
			.kind = kinds[i].kind,
			.namespace_ = row->flags & ROW_CLUSTER ? "" : namespace_,
			.name = slash + 1,
		};
		return 0;
	}
	*subject = (struct why_subject){.kind = WHY_WORKLOAD,
	                                .namespace_ = namespace_,
	                                .name = slash + 1,
	                                .workload = kind};
	return 0;
}

/* ---- names that are near ---- */

void why_consider(struct nearest *nearest, const char *namespace_, const char *name, bool elsewhere)
{
	/* The right name in another namespace is nearer than any other name. */
	size_t distance = strcmp(name, nearest->wanted) == 0 ? 0 : 1 + text_distance(name, nearest->wanted) + elsewhere;
	if (distance > 1 + strlen(nearest->wanted) / 3 || (nearest->name && distance >= nearest->distance))
		return;
	*nearest = (struct nearest){nearest->wanted, name, namespace_, distance};
}

int why_not_found(const char *kind, const struct why_subject *subject, const struct nearest *nearest,
                  struct error *error)
{
	const char *space = subject->namespace_, *near = nearest->namespace_;
	bool elsewhere = nearest->name && strcmp(near, space) != 0;
	return error_set(error, ERROR_NOT_FOUND, "%.100s \"%.100s\" not found%s%.100s%s%s%s%s%s%s", kind, subject->name,
	                 space[0] ? " in namespace \"" : "", space, space[0] ? "\"" : "",
	                 nearest->name ? "; did you mean " : "", elsewhere ? near : "", elsewhere ? "/" : "",
	                 nearest->name ? nearest->name : "", nearest->name ? "?" : "");
}

/* ---- groups ---- */

static const struct plan_reason *reason_with(const struct plan_group *group, const char *code)
{
	for (size_t i = 0; i < group->reason_count; i++)
		if (strcmp(group->reasons[i].code, code) == 0)
			return &group->reasons[i];
	return NULL;
}

static const char *group_sentence(enum group_state state)
{
	switch (state) {
	case GROUP_PLACED:
		return "";
	case GROUP_PARTIAL:
		return "; more pods wait";
	case GROUP_WAITING:
		return "; does not fit now, would fit if others ended";
	case GROUP_NEVER:
		return "; does not fit even the empty cluster (proved)";
	case GROUP_UNDECIDED:
		return "; the search budget ended without an answer";
	case GROUP_BLOCKED:
		return "; more nodes would not help";
	case GROUP_NOT_READY:
		break;
	}
	return "; too few pods exist";
}

void why_fill_group(struct why *why, size_t index, struct arena *arena)
{
	const struct plan_group *group = &why->plan->groups[index];
	enum group_state state = why->plan->snapshot->cycle.groups[index].state;
	why->group = (int)index;
	why->state = group->state;
	why->settled = state == GROUP_PLACED;
	why->message = plan_group_message(group, arena);
	why->closest = reason_with(group, "InsufficientDomain");
	why->missing = reason_with(group, "InsufficientResource");
	why->summary = arena_printf(arena, "%lld/%lld pods placed%s",
	                            (long long)(group->placed < group->minimum ? group->placed : group->minimum),
	                            (long long)group->minimum, group_sentence(state));
}

static int ask_group(struct why *why, struct arena *arena, struct error *error)
{
	const struct snapshot *snapshot = why->plan->snapshot;
	const struct why_subject *subject = &why->subject;
	int index = snapshot_find_group(snapshot, subject->namespace_, subject->name);
	if (index >= 0 && !snapshot->groups[index].implicit) {
		why_fill_group(why, (size_t)index, arena);
		return 0;
	}
	struct nearest nearest = {.wanted = subject->name};
	for (size_t i = 0; i < snapshot->cycle.group_count; i++)
		if (!snapshot->groups[i].implicit)
			why_consider(&nearest, snapshot->groups[i].namespace_, snapshot->groups[i].name,
			             strcmp(snapshot->groups[i].namespace_, subject->namespace_) != 0);
	return why_not_found("PodGroup", subject, &nearest, error);
}

/* ---- pods ---- */

/* "zone z1 / rack r3", "" for a node in no topology. */
static const char *place_of(const struct plan *plan, int node, struct arena *arena)
{
	const struct cluster *cluster = plan->snapshot->cycle.cluster;
	const char *text = "";
	for (int level = 0; cluster_topology_count(cluster) > 0 && level < cluster_level_count(cluster, 0); level++) {
		const char *label = cluster_level_label(cluster, 0, level), *slash = strrchr(label, '/');
		int domain = cluster_node_domain(cluster, 0, level, node);
		if (domain < 0 || strcmp(label, "kubernetes.io/hostname") == 0)
			break;
		text = arena_printf(arena, "%s%s%s %s", text, text[0] ? " / " : "", slash ? slash + 1 : label,
		                    cluster_domain_name(cluster, 0, level, domain));
	}
	return text;
}

static const char *on_node(const struct why *why, const char *verb, int node, struct arena *arena)
{
	const char *place = place_of(why->plan, node, arena);
	return arena_printf(arena, "%s node %s%s%s%s", verb,
	                    cluster_node_name(why->plan->snapshot->cycle.cluster, node), place[0] ? " (" : "", place,
	                    place[0] ? ")" : "");
}

static void tell(struct why *why, const char *state, bool settled, const char *summary)
{
	why->state = state;
	why->settled = settled;
	why->summary = summary;
}

/* A pod that has no node is in the state of its group, unless that is placed without it. */
static const char *state_of_waiting(enum group_state group)
{
	return group_state_name(group == GROUP_PLACED || group == GROUP_PARTIAL ? GROUP_WAITING : group);
}

static void fill_member(struct why *why, const struct snapshot_pod *pod, struct arena *arena)
{
	const struct snapshot_group *group = &why->plan->snapshot->groups[pod->group];
	const struct gang_pod *member = &why->plan->snapshot->cycle.groups[pod->group].gang.pods[pod->member];
	const char *of = group->implicit ? "it stands alone"
	                                 : arena_printf(arena, "it belongs to PodGroup %s/%s%s%s", group->namespace_,
	                                                group->name, pod->spec->subgroup ? ", subgroup " : "",
	                                                pod->spec->subgroup ? pod->spec->subgroup : "");
	bool ran = group->ran[pod->member];
	switch (member->state) {
	case MEMBER_RUNNING:
		tell(why, ran ? "Running" : "Placed", true,
		     arena_printf(arena, "%s; %s",
		                  on_node(why, ran ? "it has" : "the next cycle gives it", member->node, arena), of));
		return;
	case MEMBER_RESERVED:
		tell(why, "Reserved", false,
		     arena_printf(arena, "%s until pods there have ended; %s",
		                  on_node(why, "room is reserved on", member->node, arena), of));
		return;
	case MEMBER_GATED:
		tell(why, "Gated", false, arena_printf(arena, "it has scheduling gates; %s", of));
		return;
	case MEMBER_BLOCKED:
		tell(why, "Blocked", false, arena_printf(arena, "%s; %s", pod->block->message, of));
		return;
	case MEMBER_GONE:
		tell(why, pod->deleting ? "Leaving" : "Ended", true, of);
		return;
	case MEMBER_WAITING:
	case MEMBER_COMING: /* never in a snapshot */
		tell(why, state_of_waiting(why->plan->snapshot->cycle.groups[pod->group].state), false,
		     arena_printf(arena, "it has no node; %s", of));
		return;
	}
}

/* What somebody else said about the pod: the grouping controller, another scheduler. */
static const char *condition_message(const struct manifests *objects, const struct pod_spec *pod)
{
	const struct val *item;
	for (size_t i = 0; i < objects->count; i++) {
		const struct manifest *manifest = &objects->items[i];
		const char *space = manifest->namespace_[0] ? manifest->namespace_ : "default";
		if (strcmp(manifest->kind, "Pod") != 0 || strcmp(manifest->name, pod->name) != 0 ||
		    strcmp(space, pod->namespace_) != 0)
			continue;
		const struct val *conditions = val_path(manifest->object, "status", "conditions", NULL);
		for (struct val_iter it = val_iter(conditions); val_next(&it, NULL, &item);)
			if (strcmp(val_str(val_get(item, "type"), ""), "PodScheduled") == 0 &&
			    strcmp(val_str(val_get(item, "status"), ""), "False") == 0)
				return val_str(val_get(item, "message"), "");
	}
	return "";
}

void why_fill_outsider(struct why *why, const struct snapshot_pod *pod, const struct manifests *objects,
                       struct arena *arena)
{
	why->message = condition_message(objects, pod->spec);
	if (pod->node >= 0)
		tell(why, "Running", true, on_node(why, "it has", pod->node, arena));
	else if (pod->gone)
		tell(why, "Ended", true, "it has ended, or is about to");
	else if (pod->spec->group)
		tell(why, "Waiting", false,
		     arena_printf(arena, "it names PodGroup %s/%s, which does not exist", pod->namespace_,
		                  pod->spec->group));
	else
		tell(why, "Waiting", false,
		     arena_printf(arena, "it is not ours to place: its schedulerName is %s",
		                  pod->spec->scheduler ? pod->spec->scheduler : "default-scheduler"));
}

static int ask_pod(struct why *why, const struct manifests *objects, struct arena *arena, struct error *error)
{
	const struct snapshot *snapshot = why->plan->snapshot;
	const struct why_subject *subject = &why->subject;
	int index = snapshot_find_pod(snapshot, subject->namespace_, subject->name);
	if (index < 0) {
		struct nearest nearest = {.wanted = subject->name};
		for (size_t i = 0; i < snapshot->pod_count; i++)
			why_consider(&nearest, snapshot->pods[i].namespace_, snapshot->pods[i].name,
			             strcmp(snapshot->pods[i].namespace_, subject->namespace_) != 0);
		return why_not_found("pod", subject, &nearest, error);
	}
	const struct snapshot_pod *pod = &snapshot->pods[index];
	if (pod->group >= 0)
		why_fill_group(why, (size_t)pod->group, arena);
	why->pod = index;
	if (pod->group < 0)
		why_fill_outsider(why, pod, objects, arena);
	else if (pod->member >= 0)
		fill_member(why, pod, arena);
	else
		tell(why, "Waiting", false,
		     arena_printf(arena, "it belongs to PodGroup %s/%s, but to no leaf of it",
		                  snapshot->groups[pod->group].namespace_, snapshot->groups[pod->group].name));
	return 0;
}

/* ---- queues ---- */

bool why_concerns_queue(const struct why *why, size_t group)
{
	const struct cycle *cycle = &why->plan->snapshot->cycle;
	int queue = cycle->groups[group].queue;
	return queue >= 0 && cycle->queues[queue].first == why->queue;
}

static int ask_queue(struct why *why, struct arena *arena, struct error *error)
{
	const struct cycle *cycle = &why->plan->snapshot->cycle;
	struct nearest nearest = {.wanted = why->subject.name};
	for (size_t i = 0; i < cycle->queue_count && why->queue < 0; i++) {
		if (strcmp(cycle->queues[i].name, why->subject.name) == 0)
			why->queue = (int)i;
		why_consider(&nearest, "", cycle->queues[i].name, false);
	}
	if (why->queue < 0)
		return why_not_found("queue", &why->subject, &nearest, error);
	size_t groups = 0, waiting = 0;
	for (size_t i = 0; i < cycle->group_count; i++) {
		if (!why_concerns_queue(why, i))
			continue;
		groups++;
		waiting += cycle->groups[i].state != GROUP_PLACED && cycle->groups[i].state != GROUP_PARTIAL;
	}
	tell(why, waiting ? "Waiting" : "Served", waiting == 0,
	     arena_printf(arena, "%zu of its %zu group%s wait%s", waiting, groups, groups == 1 ? "" : "s",
	                  waiting == 1 ? "s" : ""));
	return 0;
}

/* A PodGroup of Kubernetes itself is a workload here: ours is made of it. */
static int ask_native(struct why *why, const struct manifests *objects, const struct manifests *owners,
                      struct arena *arena)
{
	struct why asked = *why;
	struct error ignored = {0};
	asked.subject.kind = WHY_WORKLOAD;
	asked.subject.workload = "podgroup";
	if (why_ask_workload(&asked, objects, owners, arena, &ignored) < 0)
		return -1;
	*why = asked;
	return 0;
}

int why_ask(const struct plan *plan, const struct manifests *objects, const struct manifests *owners,
            const struct why_subject *subject, struct arena *arena, struct why *out, struct error *error)
{
	*out = (struct why){.subject = *subject,
	                    .plan = plan,
	                    .group = -1,
	                    .pod = -1,
	                    .queue = -1,
	                    .state = "",
	                    .summary = "",
	                    .message = ""};
	switch (subject->kind) {
	case WHY_POD_GROUP:
		return ask_group(out, arena, error) == 0 ? 0 : ask_native(out, objects, owners, arena);
	case WHY_POD:
		return ask_pod(out, objects, arena, error);
	case WHY_WORKLOAD:
		return why_ask_workload(out, objects, owners, arena, error);
	case WHY_QUEUE:
		break;
	}
	return ask_queue(out, arena, error);
}
