/* Groups of other schedulers that pods of ours name: which form of them a pod names, what all forms have in common, and the
 * PodGroup of scheduler-plugins (coscheduling). What has no counterpart here is told, never dropped in silence. */
#include "group/neighbours.h"

#include <string.h>

#define KIND "PodGroup"

static void read_coscheduling(struct neighbour *neighbour);

/* The first that a pod has counts. */
static const struct neighbour_form forms[] = {
	{KINDS_COSCHEDULING "/pod-group", true, KINDS_API_COSCHEDULING, "", read_coscheduling},
	{KINDS_VOLCANO "/group-name", false, KINDS_API_VOLCANO_GROUP, "", neighbour_read_volcano},
	{KINDS_SCHEDULING_K8S "/group-name", false, KINDS_API_VOLCANO_GROUP, "", neighbour_read_volcano},
	{"pod-group." KINDS_COSCHEDULING_OLD, true, KINDS_API_COSCHEDULING_OLD, "", neighbour_read_koordinator},
	{"gang.scheduling.koordinator.sh/name", false, NULL, "-koordinator", neighbour_read_koordinator_pods},
	{"pod-group." KINDS_COSCHEDULING_OLD "/name", true, NULL, "-coscheduling", neighbour_read_lightweight},
	{"kueue.x-k8s.io/pod-group-name", true, NULL, "-kueue", neighbour_read_kueue},
};

/* ---- which one ---- */

static const struct neighbour_form *find_form(const struct grouping *grouping, const char **name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		*name = meta_get(forms[i].label ? &grouping->pod_labels : &grouping->pod_annotations, forms[i].key);
		if (*name)
			return &forms[i];
	}
	return NULL;
}

bool group_names_neighbour(const struct val *pod, const char **api_version, const char **name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *field = forms[i].label ? "labels" : "annotations";
		*name = val_str(val_path(pod, "metadata", field, forms[i].key, NULL), "");
		*api_version = forms[i].api_version;
		if (**name)
			return true;
	}
	return false;
}

static const char *controller_of(const struct val *object)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object, "metadata", "ownerReferences", NULL));
	     val_next(&it, NULL, &item);)
		if (val_bool(val_get(item, "controller"), false))
			return val_str(val_get(item, "uid"), "");
	return "";
}

/* Controllers of training jobs make PodGroups for whichever gang scheduler they are told of. */
static bool is_made_by_workload(const struct neighbour *neighbour)
{
	const struct grouping *grouping = neighbour->grouping;
	const char *maker = controller_of(neighbour->id.object);
	const struct group_owner *subject = &grouping->subject.id;
	group_family *family = kind_family(subject->api_version, subject->kind);
	if (!*maker || !family || family == family_default || family == family_pod)
		return false;
	bool above = text_equal(maker, grouping->pod_uid);
	for (size_t i = 0; i < grouping->owners->count; i++)
		above |= text_equal(maker, grouping->owners->items[i].uid);
	return above;
}

bool neighbour_find(struct grouping *grouping, struct neighbour *out)
{
	const struct group_source *source = grouping->source;
	*out = (struct neighbour){.grouping = grouping, .good = true};
	out->form = find_form(grouping, &out->name);
	if (!out->form)
		return false;
	const char *api_version = out->form->api_version;
	if (!api_version)
		return true;
	out->id = (struct group_owner){.api_version = api_version, .kind = KIND, .name = out->name, .uid = ""};
	const struct val *object = group_get(grouping, api_version, KIND, grouping->namespace_, out->name);
	if (object)
		out->id = meta_owner(object, api_version, KIND);
	else
		out->unserved = source && source->is_served && !source->is_served(source->context, api_version, KIND);
	return !object || !is_made_by_workload(out);
}

bool neighbour_of(struct grouping *grouping, const struct val *object, struct neighbour *out)
{
	const char *api_version = val_str(val_get(object, "apiVersion"), ""), *slash = strchr(api_version, '/');
	size_t length = slash ? (size_t)(slash - api_version) + 1 : 0;
	for (size_t i = 0; length && i < sizeof(forms) / sizeof(*forms); i++) {
		if (!forms[i].api_version || strncmp(forms[i].api_version, api_version, length) != 0)
			continue;
		*out = (struct neighbour){.grouping = grouping,
		                          .form = &forms[i],
		                          .name = meta_text(object, "name"),
		                          .id = meta_owner(object, api_version, KIND),
		                          .good = true};
		return true;
	}
	return false;
}

/* ---- what all forms have in common ---- */

void neighbour_lose(struct neighbour *neighbour, const char *path, const char *fix, const char *message)
{
	const struct group_owner *id = &neighbour->grouping->subject.id;
	group_warn_object(neighbour->grouping, id, GROUP_ABOUT_NO_COUNTERPART, path, fix, "%s", message);
}

void neighbour_refuse(struct neighbour *neighbour, enum group_about about, const char *path, const char *fix,
                      const char *message)
{
	group_warn_object(neighbour->grouping, &neighbour->grouping->subject.id, about, path, fix, "%s", message);
	neighbour->good = false;
}

static const char *path_on_pod(const struct neighbour *neighbour)
{
	return arena_printf(neighbour->grouping->arena, "metadata.%s[%s]",
	                    neighbour->form->label ? "labels" : "annotations", neighbour->form->key);
}

/* The object is what the group is built from; labels and annotations of the workload above the pods count where it says
 * nothing. */
static void choose_object(struct neighbour *neighbour)
{
	struct grouping *grouping = neighbour->grouping;
	struct arena *arena = grouping->arena;
	struct subject above = grouping->subject;
	const struct val *object = neighbour->id.object;
	struct labels labels = meta_labels(arena, object, "labels"),
		      annotations = meta_labels(arena, object, "annotations");
	if (grouping->owners->count > 0) {
		labels = meta_merge(arena, labels, above.labels);
		annotations = meta_merge(arena, annotations, above.annotations);
	}
	grouping->subject = (struct subject){.id = neighbour->id, .labels = labels, .annotations = annotations};
}

static const char *made_name(const struct neighbour *neighbour, const char *tail)
{
	return arena_printf(neighbour->grouping->arena, "pg-%s%s", neighbour->name, tail);
}

/* None of these schedulers ends what runs when a gang lost a pod: what it lost it gets back pod by pod. */
static void take_over(struct neighbour *neighbour)
{
	struct grouping *grouping = neighbour->grouping;
	struct group_result *out = grouping->out;
	group_inherit(grouping, CLASS_TRAIN);
	/* Of pods alone, or not from a cluster. */
	if (!neighbour->id.object || !*out->owner.uid)
		out->name = made_name(neighbour, neighbour->form->tail);
	out->staleness_grace = out->staleness_grace ? out->staleness_grace : "-1s";
}

bool neighbour_made(const struct neighbour *neighbour, const char *pod_group)
{
	return text_equal(pod_group, made_name(neighbour, "")) ||
	       text_starts_with(pod_group, made_name(neighbour, "-"));
}

bool neighbour_build(struct neighbour *neighbour, enum group_verdict *verdict)
{
	struct grouping *grouping = neighbour->grouping;
	if (neighbour->unserved) {
		group_warn(grouping, GROUP_ABOUT_OBJECT_NOT_FOUND, path_on_pod(neighbour),
		           "install its definition, or remove the name from the pods",
		           "the pods name the PodGroup %s of %s, a kind that this cluster does not have: they are "
		           "grouped without it",
		           neighbour->name, neighbour->form->api_version);
		return false;
	}
	*verdict = GROUP_REFUSED;
	if (neighbour->form->api_version && !neighbour->id.object) {
		group_warn_pod(grouping, GROUP_ABOUT_OBJECT_NOT_FOUND, path_on_pod(neighbour),
		               "wait until it is created, or correct the name", "there is no PodGroup \"%s\" of %s",
		               neighbour->name, neighbour->form->api_version);
		return true;
	}
	if (neighbour->id.object)
		choose_object(neighbour);
	take_over(neighbour);
	neighbour->form->read(neighbour);
	if (neighbour->good)
		*verdict = GROUP_WANTED;
	return true;
}

int neighbour_count(struct neighbour *neighbour, const char *key)
{
	int64_t number;
	const struct val *val = val_path(neighbour->id.object, "spec", key, NULL);
	if (!val || val_kind(val) == VAL_NULL)
		return 1;
	if (val_int(val, &number) == 0 && number >= 0 && number <= INT32_MAX)
		return number > 0 ? (int)number : 1;
	neighbour_refuse(neighbour, GROUP_ABOUT_WRONG_FIELD_TYPE,
	                 arena_printf(neighbour->grouping->arena, "spec.%s", key), "write a number from 1 on",
	                 "it is no number of pods");
	return 1;
}

static bool is_among(const char *const *list, const char *key)
{
	for (; *list; list++)
		if (strcmp(*list, key) == 0)
			return true;
	return false;
}

void neighbour_lose_fields(struct neighbour *neighbour, const char *const *read, const struct neighbour_loss *losses)
{
	const struct val *spec = val_get(neighbour->id.object, "spec"), *item;
	const char *key;
	for (struct val_iter it = val_iter(spec); val_next(&it, &key, &item);) {
		const struct neighbour_loss *loss = losses;
		while (loss->key && strcmp(loss->key, key) != 0)
			loss++;
		if (val_kind(item) != VAL_NULL && !is_among(read, key))
			neighbour_lose(neighbour, arena_printf(neighbour->grouping->arena, "spec.%s", key),
			               "remove it, or leave it for the scheduler that it was written for",
			               loss->message);
	}
}

/* ---- PodGroup of scheduler-plugins ---- */

static void read_coscheduling(struct neighbour *neighbour)
{
	static const char *const read[] = {"minMember", NULL};
	static const struct neighbour_loss losses[] = {
		{"minResources", NEIGHBOUR_NO_SUM},
		{"scheduleTimeoutSeconds", NEIGHBOUR_NO_TIMEOUT},
		{NULL, NEIGHBOUR_UNKNOWN},
	};
	neighbour->grouping->out->min_member = neighbour_count(neighbour, "minMember");
	neighbour_lose_fields(neighbour, read, losses);
}
