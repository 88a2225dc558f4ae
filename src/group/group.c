/* Entry of the library: opt-outs, the chain of owners, the object that decides, and the marks on the pod. */
#include "group/internal.h"
#include "group/native.h"
#include "group/neighbours.h"
#include "kinds/names.h"

#include <string.h>

static const struct group_options usual_options = {0};

static const struct val *owner_reference(const struct val *object)
{
	const struct val *references = val_path(object, "metadata", "ownerReferences", NULL), *first = NULL, *item;
	for (struct val_iter it = val_iter(references); val_next(&it, NULL, &item);) {
		if (!*val_str(val_get(item, "kind"), "") || !*val_str(val_get(item, "name"), ""))
			continue;
		if (val_bool(val_get(item, "controller"), false))
			return item;
		if (!first)
			first = item;
	}
	return first;
}

static bool chain_has(const struct group_owners *owners, const struct group_owner *owner)
{
	for (size_t i = 0; i < owners->count; i++)
		if (text_equal(owners->items[i].name, owner->name) && text_equal(owners->items[i].kind, owner->kind) &&
		    text_equal(owners->items[i].uid, owner->uid))
			return true;
	return false;
}

struct group_owners group_owners_of(const struct val *pod, const struct group_source *source, struct arena *arena)
{
	struct group_owners owners = {.items = arena_array(arena, struct group_owner, GROUP_MAX_OWNERS)};
	const char *namespace_ = meta_text(pod, "namespace");
	for (const struct val *reference = owner_reference(pod); reference;) {
		struct group_owner owner = {
			.api_version = val_str(val_get(reference, "apiVersion"), ""),
			.kind = val_str(val_get(reference, "kind"), ""),
			.name = val_str(val_get(reference, "name"), ""),
			.uid = val_str(val_get(reference, "uid"), ""),
		};
		owners.cut = owners.count == GROUP_MAX_OWNERS || chain_has(&owners, &owner);
		if (owners.cut)
			return owners;
		if (source && source->get)
			owner.object =
				source->get(source->context, owner.api_version, owner.kind, namespace_, owner.name);
		/* An object of the same name that came later is not the owner. */
		if (owner.object && *owner.uid && !text_equal(owner.uid, meta_text(owner.object, "uid")))
			owner.object = NULL;
		owners.items[owners.count++] = owner;
		reference = owner_reference(owner.object);
	}
	return owners;
}

static bool says_skip(const struct val *object)
{
	return text_equal(val_str(val_path(object, "metadata", "annotations", GROUP_KEY_SKIP, NULL), NULL), "true");
}

/* Why the pod is left alone, NULL when it is not. */
static const char *opt_out(const struct grouping *grouping)
{
	const struct group_owners *owners = grouping->owners;
	if (says_skip(grouping->pod))
		return "the pod asks not to be grouped";
	for (size_t i = 0; i < owners->count; i++)
		if (says_skip(owners->items[i].object))
			return "an owner of the pod asks not to be grouped";
	/* The first form of Kubernetes' own gang API (1.35). */
	if (val_kind(val_path(grouping->pod, "spec", "workloadRef", NULL)) == VAL_MAP)
		return "the pod names a Workload of scheduling.k8s.io/v1alpha1";
	/* Their controller writes one PodGroup per role instance or segment. */
	for (size_t i = 0; i < owners->count; i++)
		if (meta_api_group_is(owners->items[i].api_version, KINDS_RBG))
			return "the pod belongs to a RoleBasedGroup";
	return NULL;
}

/* A pod without owner that names another PodGroup than ours was put there by its user. */
static bool is_user_made(const struct grouping *grouping, const struct neighbour *neighbour)
{
	const char *named = meta_get(&grouping->pod_annotations, GROUP_KEY_POD_GROUP);
	return named && grouping->owners->count == 0 && !text_equal(named, grouping->out->name) &&
	       !(neighbour && neighbour_made(neighbour, named));
}

static struct subject pod_subject(const struct grouping *grouping)
{
	return (struct subject){
		.id = {.api_version = "v1",
	               .kind = "Pod",
	               .name = grouping->pod_name,
	               .uid = grouping->pod_uid,
	               .object = grouping->pod},
		.labels = grouping->pod_labels,
		.annotations = grouping->pod_annotations,
	};
}

static struct subject owner_subject(const struct grouping *grouping, const struct group_owner *owner)
{
	return (struct subject){
		.id = *owner,
		.labels = meta_labels(grouping->arena, owner->object, "labels"),
		.annotations = meta_labels(grouping->arena, owner->object, "annotations"),
	};
}

/* The top owner, or the first below it that is more than a wrapper. Wrappers lend their labels and annotations. */
static void choose_subject(struct grouping *grouping)
{
	size_t at = grouping->owners->count;
	struct labels labels = {0}, annotations = {0};
	for (; at > 0; at--) {
		const struct group_owner *owner = &grouping->owners->items[at - 1];
		if (!kind_is_skipped(owner->api_version, owner->kind))
			break;
		labels = meta_merge(grouping->arena, meta_labels(grouping->arena, owner->object, "labels"), labels);
		annotations = meta_merge(grouping->arena, meta_labels(grouping->arena, owner->object, "annotations"),
		                         annotations);
	}
	grouping->subject = at ? owner_subject(grouping, &grouping->owners->items[at - 1]) : pod_subject(grouping);
	grouping->subject.labels = meta_merge(grouping->arena, grouping->subject.labels, labels);
	grouping->subject.annotations = meta_merge(grouping->arena, grouping->subject.annotations, annotations);
}

static void mark_pod(struct grouping *grouping)
{
	struct group_result *out = grouping->out;
	struct arena *arena = grouping->arena;
	/* A pool that only the workload names is that of its pods. */
	const char *key = group_pool_label(grouping->options), *pool = meta_get(&grouping->subject.labels, key);
	meta_put(arena, &out->pod_annotations, GROUP_KEY_POD_GROUP, out->name);
	if (pool && *pool && !group_pod_label(grouping, key))
		meta_put(arena, &out->pod_labels, key, pool);
	if (grouping->leaf == GROUP_UNSET)
		return;
	out->leaf = out->subgroups[grouping->leaf].name;
	meta_put(arena, &out->pod_labels, GROUP_KEY_SUBGROUP, out->leaf);
	if (out->segment == GROUP_UNSET)
		return;
	const char *index = arena_printf(arena, "%d", out->segment);
	meta_put(arena, &out->pod_labels, GROUP_KEY_SEGMENT_INDEX, index);
	meta_put(arena, &out->pod_env, GROUP_ENV_SEGMENT_INDEX, index);
}

/* By its name: pods that Spark starts share a group which one of them owns. */
static bool is_single(const struct grouping *grouping)
{
	const struct group_result *out = grouping->out;
	const struct group_constraint *constraint = &out->constraint;
	return *grouping->pod_uid && text_equal(out->owner.kind, "Pod") &&
	       text_equal(out->owner.uid, grouping->pod_uid) && strstr(out->name, grouping->pod_uid) &&
	       out->subgroup_count == 0 && out->min_member == 1 && !constraint->required && !constraint->preferred &&
	       !out->preemption_delay && !out->staleness_grace;
}

static bool is_served(const struct grouping *grouping, const struct group_owner *owner)
{
	const struct group_source *source = grouping->source;
	return !source || !source->is_served || source->is_served(source->context, owner->api_version, owner->kind);
}

/* The owner that has to be read before the pod can be grouped; NULL when there is none. A wrapper is waited for only where
 * somebody knows that it can appear: its watch may be behind that of the pod, and what it lends is kept once written. */
static const struct group_owner *find_missing(const struct grouping *grouping)
{
	const struct group_owners *owners = grouping->owners;
	const struct group_owner *id = &grouping->subject.id,
				 *top = owners->count ? &owners->items[owners->count - 1] : NULL;
	if (!id->object && is_served(grouping, id) && kind_is_known(id->api_version, id->kind))
		return id;
	if (top && !top->object && grouping->source && grouping->source->is_served && is_served(grouping, top) &&
	    kind_is_skipped(top->api_version, top->kind))
		return top;
	return NULL;
}

/* Such a pod names its group itself: whose it is does not matter. */
static enum group_verdict build_native(struct grouping *grouping)
{
	enum group_verdict verdict = group_native(grouping);
	if (verdict == GROUP_WANTED)
		mark_pod(grouping);
	return verdict;
}

static enum group_verdict build_family(struct grouping *grouping)
{
	const struct group_owner *id = &grouping->subject.id;
	bool readable = id->object || is_served(grouping, id);
	group_family *family = readable ? kind_family(id->api_version, id->kind) : NULL;
	const struct val *karta = family ? NULL : karta_find(grouping);
	return family ? family(grouping) : karta ? family_karta(grouping, karta) : family_default(grouping);
}

static enum group_verdict build(struct grouping *grouping)
{
	struct group_result *out = grouping->out;
	out->reason = opt_out(grouping);
	if (out->reason)
		return GROUP_NONE;
	if (group_native_name(grouping->pod))
		return build_native(grouping);
	choose_subject(grouping);
	if (grouping->owners->cut)
		group_warn(grouping, GROUP_ABOUT_OWNER_CHAIN, "metadata.ownerReferences",
		           "correct the owner references",
		           "the owners of the pod form a circle or more than %d levels; this owner is taken as the top",
		           GROUP_MAX_OWNERS);
	const struct group_owner *missing = find_missing(grouping);
	if (missing) {
		group_warn(grouping, GROUP_ABOUT_OWNER_NOT_FOUND, "",
		           "wait for the owner to appear, or remove the reference",
		           "the pod names %s %s as its owner, but there is none", missing->kind, missing->name);
		return GROUP_REFUSED;
	}
	enum group_verdict verdict;
	struct neighbour neighbour;
	bool named = neighbour_find(grouping, &neighbour) && neighbour_build(&neighbour, &verdict);
	if (!named) {
		verdict = build_family(grouping);
		group_report_levels(grouping);
	}
	if (verdict == GROUP_WANTED && is_user_made(grouping, named ? &neighbour : NULL)) {
		out->reason = "the pod names a PodGroup of its own";
		return GROUP_NONE;
	}
	if (verdict == GROUP_WANTED) {
		mark_pod(grouping);
		out->single = !named && is_single(grouping);
	}
	return verdict;
}

static enum group_verdict judge(struct grouping *grouping, const struct val *object)
{
	struct neighbour neighbour;
	enum group_verdict verdict;
	return neighbour_of(grouping, object, &neighbour) && neighbour_build(&neighbour, &verdict) ? verdict
	                                                                                           : GROUP_NONE;
}

/* Of a pod, or with `judged` of a group that is named by none. False when the marks cannot be told without the whole tree. */
static bool build_result(const struct val *judged, const struct val *pod, const struct group_owners *owners,
                         const struct group_source *source, const struct group_options *options, bool marks_only,
                         struct arena *arena, struct group_result *out)
{
	*out = (struct group_result){.min_member = GROUP_UNSET,
	                             .min_sub_group = GROUP_UNSET,
	                             .expected = GROUP_UNSET,
	                             .segment = GROUP_UNSET};
	const char *namespace_ = meta_text(pod, "namespace");
	if (judged)
		namespace_ = meta_text(judged, "namespace");
	if (!*namespace_ && owners->count)
		namespace_ = meta_text(owners->items[owners->count - 1].object, "namespace");
	struct grouping grouping = {
		.arena = arena,
		.pod = pod,
		.owners = owners,
		.source = source,
		.options = options ? options : &usual_options,
		.out = out,
		.pod_labels = meta_labels(arena, pod, "labels"),
		.pod_annotations = meta_labels(arena, pod, "annotations"),
		.pod_name = meta_text(pod, "name"),
		.pod_uid = meta_text(pod, "uid"),
		.namespace_ = namespace_,
		.names = interner_create(),
		.leaf = GROUP_UNSET,
		.marks_only = marks_only,
	};
	out->verdict = judged ? judge(&grouping, judged) : build(&grouping);
	interner_destroy(grouping.names);
	return !grouping.ambiguous;
}

void group_build(const struct val *pod, const struct group_owners *owners, const struct group_source *source,
                 const struct group_options *options, struct arena *arena, struct group_result *out)
{
	build_result(NULL, pod, owners, source, options, false, arena, out);
}

void group_pod(const struct val *pod, const struct group_source *source, const struct group_options *options,
               struct arena *arena, struct group_result *out)
{
	struct group_owners owners = group_owners_of(pod, source, arena);
	group_build(pod, &owners, source, options, arena, out);
}

void group_pod_marks(const struct val *pod, const struct group_source *source, const struct group_options *options,
                     struct arena *arena, struct group_result *out)
{
	struct group_owners owners = group_owners_of(pod, source, arena);
	if (!build_result(NULL, pod, &owners, source, options, true, arena, out))
		build_result(NULL, pod, &owners, source, options, false, arena, out);
}

void group_judge_neighbour(const struct val *group, const struct group_source *source,
                           const struct group_options *options, struct arena *arena, struct group_result *out)
{
	struct group_owners none = {0};
	build_result(group, NULL, &none, source, options, false, arena, out);
}

bool group_terms_of(const struct group_result *result, struct arena *arena, struct group_terms *out)
{
	if (result->verdict != GROUP_WANTED)
		return false;
	*out = (struct group_terms){
		.queue = arena_strdup(arena, result->queue),
		.priority_class = result->priority_class ? arena_strdup(arena, result->priority_class) : NULL,
		.preemptibility = result->preemptibility ? arena_strdup(arena, result->preemptibility) : NULL,
		.share = result->share ? arena_strdup(arena, result->share) : NULL,
	};
	return true;
}
