/* What a PodGroup takes over from the object it is built from: name, owner, labels, queue, priority, preemptibility,
 * durations, topology constraint. */
#include "group/internal.h"

#include "base/clock.h"
#include "base/hash.h"

#include <string.h>

#define KEY_LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define LONGEST_NAME 253
#define KEY_USER "user"
#define KEY_PROJECT "project"

const char *group_queue_label(const struct group_options *options)
{
	return options->queue_label && *options->queue_label ? options->queue_label : GROUP_KEY_QUEUE;
}

const char *group_pool_label(const struct group_options *options)
{
	return options->pool_label && *options->pool_label ? options->pool_label : GROUP_KEY_NODE_POOL;
}

const char *group_default_queue(const struct group_options *options)
{
	return options->default_queue && *options->default_queue ? options->default_queue : GROUP_DEFAULT_QUEUE;
}

const char *group_pod_label(const struct grouping *grouping, const char *key)
{
	return meta_get(&grouping->pod_labels, key);
}

const struct val *group_get(const struct grouping *grouping, const char *api_version, const char *kind,
                            const char *namespace_, const char *name)
{
	const struct group_source *source = grouping->source;
	return source && source->get && *name ? source->get(source->context, api_version, kind, namespace_, name)
	                                      : NULL;
}

const struct val *group_stored(const struct grouping *grouping, const char *name)
{
	return group_get(grouping, GROUP_API_VERSION, "PodGroup", grouping->namespace_, name);
}

void group_name(struct grouping *grouping, const char *name, const char *uid)
{
	char *full = arena_printf(grouping->arena, "pg-%s-%s", name, uid);
	size_t length = strlen(full);
	if (length > LONGEST_NAME) {
		uint64_t hash = XXH3_64bits(full, length);
		full = arena_printf(grouping->arena, "%.*s-%016llx", LONGEST_NAME - 17, full, (unsigned long long)hash);
	}
	grouping->out->name = full;
}

void group_own_by_pod(struct grouping *grouping)
{
	grouping->out->owner = meta_owner(grouping->pod, "v1", "Pod");
	group_name(grouping, grouping->pod_name, grouping->pod_uid);
	grouping->out->namespace_ = grouping->namespace_;
}

/* Without the pod's own: what those ask for is read where pods are. */
static const char *find_share(const struct grouping *grouping)
{
	static const char names[] = KINDS_GPU_SHARES;
	char key[sizeof(names)];
	bool alone = grouping->subject.id.object == grouping->pod; /* with what wrappers lend */
	for (const char *at = names; *at;) {
		size_t length = strcspn(at, " ");
		memcpy(key, at, length);
		key[length] = '\0';
		if (meta_get(&grouping->subject.annotations, key) &&
		    !(alone && meta_get(&grouping->pod_annotations, key)))
			return arena_printf(grouping->arena, "metadata.annotations.%s", key);
		if (meta_get(&grouping->subject.labels, key) && !(alone && meta_get(&grouping->pod_labels, key)))
			return arena_printf(grouping->arena, "metadata.labels.%s", key);
		at += length + (at[length] == ' ');
	}
	return NULL;
}

static void inherit_labels(struct grouping *grouping)
{
	struct group_result *out = grouping->out;
	out->labels = grouping->subject.labels;
	out->annotations = meta_without(grouping->arena, grouping->subject.annotations, GROUP_KEY_POD_GROUP);
	/* What kubectl notes of an object is true of that one only. */
	out->annotations = meta_without(grouping->arena, out->annotations, KEY_LAST_APPLIED);
	out->share = find_share(grouping);
	out->node_pool = group_pod_label(grouping, group_pool_label(grouping->options));
	const char *pod_user = group_pod_label(grouping, KEY_USER);
	if (pod_user && !labels_get(&out->labels, KEY_USER))
		meta_put(grouping->arena, &out->labels, KEY_USER, pod_user);
	const char *user = meta_get(&grouping->pod_annotations, KEY_USER);
	if (user && !labels_get(&out->annotations, KEY_USER))
		meta_put(grouping->arena, &out->annotations, KEY_USER, user);
}

static const struct group_kind_default *kind_default(const struct grouping *grouping, const struct group_owner *owner)
{
	for (size_t i = 0; i < grouping->options->default_count; i++) {
		const struct group_kind_default *row = &grouping->options->defaults[i];
		if (text_equal(row->kind, owner->kind) &&
		    (text_equal(row->api_group, GROUP_ANY) ||
		     meta_api_group_is(owner->api_version, row->api_group ? row->api_group : "")))
			return row;
	}
	return NULL;
}

/* Subject first, then the other owners from the pod upwards. NULL at the end. */
static const struct group_owner *next_owner(const struct grouping *grouping, size_t index)
{
	if (index == 0)
		return &grouping->subject.id;
	return index <= grouping->owners->count ? &grouping->owners->items[index - 1] : NULL;
}

/* Owner values that repeat the subject's (the chain holds the subject too, and skipped owners lend it theirs) were judged
 * already: NULL. */
static const char *owner_value(const struct grouping *grouping, size_t index, const char *field, const char *key)
{
	bool label = strcmp(field, "labels") == 0;
	const char *own = meta_get(label ? &grouping->subject.labels : &grouping->subject.annotations, key);
	if (index == 0)
		return own;
	const char *text =
		val_str(val_path(grouping->owners->items[index - 1].object, "metadata", field, key, NULL), NULL);
	return text && *text && !text_equal(text, own) ? text : NULL;
}

static const char *pod_value(const struct grouping *grouping, const struct labels *map, const struct labels *subject,
                             const char *key)
{
	const char *text = meta_get(map, key);
	return text && !text_equal(text, meta_get(subject, key)) ? text : NULL;
}

static const char *find_queue(const struct grouping *grouping)
{
	const struct group_options *options = grouping->options;
	const char *key = group_queue_label(options);
	const char *queue = meta_get(&grouping->subject.labels, key);
	if (!queue)
		queue = group_pod_label(grouping, key);
	for (size_t i = 1; !queue && !grouping->own_queue_only && next_owner(grouping, i); i++)
		queue = owner_value(grouping, i, "labels", key);
	if (queue)
		return queue;
	/* Older workloads name a project; its queue is the project, or one per node pool. */
	const char *project = meta_get(&grouping->subject.labels, KEY_PROJECT);
	if (!project)
		project = group_pod_label(grouping, KEY_PROJECT);
	if (!project)
		return group_default_queue(options);
	const char *pool = group_pod_label(grouping, group_pool_label(options));
	return pool ? arena_printf(grouping->arena, "%s-%s", project, pool) : project;
}

static bool class_exists(struct grouping *grouping, const char *name)
{
	if (group_get(grouping, KINDS_SCHEDULING_K8S "/v1", "PriorityClass", "", name))
		return true;
	group_warn(grouping, GROUP_ABOUT_PRIORITY_CLASS_UNKNOWN, "metadata.labels." KEY_PRIORITY_CLASS,
	           "create the PriorityClass or name one that exists",
	           "there is no PriorityClass \"%s\"; the usual class of this kind is taken", name);
	return false;
}

static const char *find_class(struct grouping *grouping, const char *fallback)
{
	const struct labels *labels = &grouping->subject.labels;
	const char *name = meta_get(labels, KEY_PRIORITY_CLASS);
	if (name && class_exists(grouping, name))
		return name;
	name = pod_value(grouping, &grouping->pod_labels, labels, KEY_PRIORITY_CLASS);
	if (name && class_exists(grouping, name))
		return name;
	name = val_str(val_path(grouping->pod, "spec", "priorityClassName", NULL), "");
	if (*name && class_exists(grouping, name))
		return name;
	for (size_t i = 1; next_owner(grouping, i); i++) {
		name = owner_value(grouping, i, "labels", KEY_PRIORITY_CLASS);
		if (name && class_exists(grouping, name))
			return name;
	}
	const struct group_owner *owner;
	for (size_t i = 0; (owner = next_owner(grouping, i)); i++) {
		const struct group_kind_default *row = kind_default(grouping, owner);
		if (row && row->priority_class)
			return row->priority_class;
	}
	return fallback;
}

static bool preemptibility_known(struct grouping *grouping, const char *value)
{
	if (strcmp(value, "preemptible") == 0 || strcmp(value, "non-preemptible") == 0 ||
	    strcmp(value, "semi-preemptible") == 0)
		return true;
	group_warn(grouping, GROUP_ABOUT_BAD_PREEMPTIBILITY, "metadata.labels[" KEY_PREEMPTIBILITY "]",
	           "write preemptible, non-preemptible or semi-preemptible",
	           "\"%s\" is no preemptibility; it is ignored", value);
	return false;
}

static const char *find_preemptibility(struct grouping *grouping)
{
	const struct group_owner *owner;
	for (size_t i = 0; next_owner(grouping, i); i++) {
		const char *value = owner_value(grouping, i, "labels", KEY_PREEMPTIBILITY);
		if (value && preemptibility_known(grouping, value))
			return value;
	}
	const char *value = pod_value(grouping, &grouping->pod_labels, &grouping->subject.labels, KEY_PREEMPTIBILITY);
	if (value && preemptibility_known(grouping, value))
		return value;
	for (size_t i = 0; (owner = next_owner(grouping, i)); i++) {
		const struct group_kind_default *row = kind_default(grouping, owner);
		if (row && row->preemptibility)
			return row->preemptibility;
	}
	return NULL;
}

static bool duration_valid(struct grouping *grouping, const char *key, const char *value, bool negative)
{
	int64_t ns;
	if (clock_parse_duration(value, &ns) == 0 && (negative || ns >= 0))
		return true;
	group_warn(grouping, GROUP_ABOUT_BAD_DURATION, arena_printf(grouping->arena, "metadata.annotations[%s]", key),
	           "write a duration such as 30s, 5m or 1h30m", "\"%s\" is no %sduration; it is ignored", value,
	           negative ? "" : "positive ");
	return false;
}

static const char *find_duration(struct grouping *grouping, const char *key, bool negative)
{
	for (size_t i = 0; next_owner(grouping, i); i++) {
		const char *value = owner_value(grouping, i, "annotations", key);
		if (value && duration_valid(grouping, key, value, negative))
			return value;
	}
	const char *value = pod_value(grouping, &grouping->pod_annotations, &grouping->subject.annotations, key);
	return value && duration_valid(grouping, key, value, negative) ? value : NULL;
}

static void find_constraint(struct grouping *grouping)
{
	struct group_constraint *constraint = &grouping->out->constraint;
	const struct labels *annotations = &grouping->subject.annotations;
	*constraint = (struct group_constraint){
		.topology = meta_get(annotations, KEY_TOPOLOGY),
		.required = meta_get(annotations, KEY_TOPOLOGY_REQUIRED),
		.preferred = meta_get(annotations, KEY_TOPOLOGY_PREFERRED),
	};
	/* A workload with one template has all its pods of it. */
	struct group_constraint one =
		group_template_level(grouping, val_path(grouping->subject.id.object, "spec", "template", NULL));
	if (!constraint->required && !constraint->preferred && one.topology)
		*constraint = one;
	if (constraint->topology || (!constraint->required && !constraint->preferred))
		return;
	group_warn(grouping, GROUP_ABOUT_TOPOLOGY_NAME_MISSING, "metadata.annotations[" KEY_TOPOLOGY "]",
	           "add the annotation " KEY_TOPOLOGY " with the name of a Topology",
	           "a topology level is asked for but no Topology is named; the level is ignored");
	*constraint = (struct group_constraint){0};
}

void group_inherit(struct grouping *grouping, const char *default_class)
{
	struct group_result *out = grouping->out;
	out->owner = grouping->subject.id;
	out->namespace_ = grouping->namespace_;
	group_name(grouping, out->owner.name, out->owner.uid);
	inherit_labels(grouping);
	out->queue = find_queue(grouping);
	out->priority_class = find_class(grouping, default_class);
	out->preemptibility = find_preemptibility(grouping);
	out->preemption_delay = find_duration(grouping, KEY_PREEMPTION_DELAY, false);
	out->staleness_grace = find_duration(grouping, KEY_STALENESS_GRACE, true);
	out->min_member = 1;
	out->min_sub_group = out->expected = GROUP_UNSET;
	find_constraint(grouping);
}

bool group_template_constraint(struct grouping *grouping, const struct val *annotations, const char *path,
                               struct group_constraint *out)
{
	struct labels map = meta_map(grouping->arena, annotations);
	struct group_constraint constraint = {
		.topology = group_place_value(grouping, &map, KEY_TOPOLOGY),
		.required = group_place_value(grouping, &map, KEY_TOPOLOGY_REQUIRED),
		.preferred = group_place_value(grouping, &map, KEY_TOPOLOGY_PREFERRED),
	};
	*out = (struct group_constraint){0};
	if (!constraint.required && !constraint.preferred)
		return true;
	if (!constraint.topology)
		constraint.topology = meta_get(&grouping->subject.annotations, KEY_TOPOLOGY);
	if (!constraint.topology) {
		group_warn(grouping, GROUP_ABOUT_TOPOLOGY_NAME_MISSING,
		           arena_printf(grouping->arena, "%s.metadata.annotations[" KEY_TOPOLOGY "]", path),
		           "add the annotation " KEY_TOPOLOGY " with the name of a Topology, there or on the workload",
		           "a topology level is asked for but no Topology is named");
		return false;
	}
	*out = constraint;
	return true;
}

enum field group_min_member(struct grouping *grouping, const char *text, const char *path, int64_t least, int64_t *out)
{
	if (!text)
		return FIELD_ABSENT;
	const char *place = arena_printf(grouping->arena, "%s.annotations[" KEY_MIN_MEMBER "]", path);
	int64_t number;
	if (!meta_parse_int(text, &number)) {
		group_warn(grouping, GROUP_ABOUT_MIN_MEMBER_NOT_A_NUMBER, place, "write a whole number",
		           "\"%s\" is not a number", text);
		return FIELD_WRONG;
	}
	if (number < least) {
		group_warn(grouping, GROUP_ABOUT_MIN_MEMBER_NOT_POSITIVE, place,
		           arena_printf(grouping->arena, "write %lld or more", (long long)least),
		           "%lld is too small for a minimum", (long long)number);
		return FIELD_WRONG;
	}
	*out = number;
	return FIELD_GIVEN;
}
