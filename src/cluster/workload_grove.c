/* Owns PodCliqueSets (before: PodGangSets) of Grove: per replica a PodGang with the cliques of the template. Replicas of
 * a scaling group beyond its minimum are gangs of their own. */
#include "cluster/workload_internal.h"
#include "kinds/names.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define LABEL "grove.io/"

struct clique {
	const char *name; /* <set>-<replica>[-<group>-<index>]-<clique> */
	const char *gang;
	const struct val *item; /* of the template */
	int64_t replicas, minimum;
	size_t first; /* of its pods */
};

struct gang {
	const char *name;
	struct node *groups; /* constraints of scaling groups */
};

struct grove {
	struct workload *workload;
	const struct val *template_;
	VEC(struct clique) cliques;
	VEC(struct gang) gangs;
	VEC(struct child) pods;
	VEC(struct child) gang_children;
};

static void add_gang(struct grove *grove, const char *name)
{
	vec_push(&grove->gangs, (struct gang){.name = name, .groups = build_list(grove->workload->build)});
}

/* A clique has its labels and annotations beside its spec, not in a template. */
static void add_own(struct child *pod, const struct val *item)
{
	const char *key;
	const struct val *value;
	const struct val *labels = val_get(item, "labels"), *annotations = val_get(item, "annotations");
	for (struct val_iter it = val_iter(labels); val_kind(labels) == VAL_MAP && val_next(&it, &key, &value);)
		child_label(pod, key, val_str(value, ""));
	for (struct val_iter it = val_iter(annotations);
	     val_kind(annotations) == VAL_MAP && val_next(&it, &key, &value);)
		child_annotation(pod, key, val_str(value, ""));
}

static void add_clique(struct grove *grove, const struct val *item, const char *stem, int64_t replica)
{
	struct workload *workload = grove->workload;
	const struct val *spec = val_get(item, "spec");
	struct clique clique = {
		.name = arena_printf(workload->arena, "%s-%s", stem, val_str(val_get(item, "name"), "")),
		.gang = grove->gangs.items[grove->gangs.count - 1].name,
		.item = item,
		.replicas = workload_number(val_get(spec, "replicas"), 1),
		.first = grove->pods.count,
	};
	clique.minimum = workload_number(val_get(spec, "minAvailable"), clique.replicas);
	if (val_kind(val_get(spec, "podSpec")) != VAL_MAP)
		return;
	for (int64_t i = 0; i < clique.replicas && grove->pods.count < WORKLOAD_MAX_PODS; i++) {
		struct child pod = {
			.name = arena_printf(workload->arena, "%s-%lld", clique.name, (long long)i),
			.when_ended = CHILD_REPLACE_ENDED,
			.role = (int)grove->cliques.count,
			.spec = build_copy(workload->build, val_get(spec, "podSpec")),
		};
		child_label(&pod, "app.kubernetes.io/managed-by", "grove-operator");
		child_label(&pod, "app.kubernetes.io/part-of", workload->object->name);
		child_label(&pod, LABEL "podclique", clique.name);
		child_label(&pod, LABEL "podgang", clique.gang);
		child_label_number(workload, &pod, LABEL "podcliqueset-replica-index", replica);
		child_label_number(workload, &pod, LABEL "podclique-pod-index", i);
		add_own(&pod, item);
		vec_push(&grove->pods, pod);
	}
	vec_push(&grove->cliques, clique);
}

static const struct val *find_clique(const struct grove *grove, const char *name)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_get(grove->template_, "cliques")); val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "name"), ""), name) == 0)
			return item;
	return NULL;
}

static bool in_scaling_group(const struct grove *grove, const char *name)
{
	const struct val *group, *member;
	for (struct val_iter it = val_iter(val_get(grove->template_, "podCliqueScalingGroups"));
	     val_next(&it, NULL, &group);)
		for (struct val_iter names = val_iter(val_get(group, "cliqueNames")); val_next(&names, NULL, &member);)
			if (strcmp(val_str(member, ""), name) == 0)
				return true;
	return false;
}

static void add_group_replica(struct grove *grove, const struct val *group, const char *stem, int64_t replica)
{
	struct build *build = grove->workload->build;
	const struct val *member, *constraint = val_get(group, "topologyConstraint");
	struct node *names = build_list(build);
	for (struct val_iter it = val_iter(val_get(group, "cliqueNames")); val_next(&it, NULL, &member);) {
		const struct val *item = find_clique(grove, val_str(member, ""));
		if (!item)
			continue;
		add_clique(grove, item, stem, replica);
		build_append(build, names,
		             build_string(build,
		                          arena_printf(grove->workload->arena, "%s-%s", stem, val_str(member, ""))));
	}
	if (val_kind(constraint) != VAL_MAP)
		return;
	struct node *config = build_map(build);
	build_put_string(build, config, "name", stem);
	build_put(build, config, "podGroupNames", names);
	build_put(build, config, "topologyConstraint", build_copy(build, constraint));
	build_append(build, grove->gangs.items[grove->gangs.count - 1].groups, config);
}

static void add_replica(struct grove *grove, int64_t replica)
{
	struct arena *arena = grove->workload->arena;
	const char *stem = arena_printf(arena, "%s-%lld", grove->workload->object->name, (long long)replica);
	const struct val *item;
	add_gang(grove, stem);
	for (struct val_iter it = val_iter(val_get(grove->template_, "cliques")); val_next(&it, NULL, &item);)
		if (!in_scaling_group(grove, val_str(val_get(item, "name"), "")))
			add_clique(grove, item, stem, replica);
	/* First all that belongs to the gang of the replica, then the gangs beyond it. */
	for (int beyond = 0; beyond < 2; beyond++)
		for (struct val_iter it = val_iter(val_get(grove->template_, "podCliqueScalingGroups"));
		     val_next(&it, NULL, &item);) {
			const char *name = val_str(val_get(item, "name"), "");
			int64_t replicas = workload_number(val_get(item, "replicas"), 1);
			int64_t minimum = workload_number(val_get(item, "minAvailable"), 1);
			for (int64_t i = beyond ? minimum : 0; i < (beyond || replicas < minimum ? replicas : minimum);
			     i++) {
				if (beyond)
					add_gang(grove, arena_printf(arena, "%s-%s-%lld", stem, name,
					                             (long long)(i - minimum)));
				add_group_replica(grove, item,
				                  arena_printf(arena, "%s-%s-%lld", stem, name, (long long)i), replica);
			}
		}
}

/* ---- PodGangs ---- */

static struct node *pod_references(struct grove *grove, const struct clique *clique)
{
	struct build *build = grove->workload->build;
	struct node *list = build_list(build);
	for (size_t i = clique->first;
	     i < grove->pods.count && grove->pods.items[i].role == grove->pods.items[clique->first].role; i++) {
		struct node *reference = build_map(build);
		build_put_string(build, reference, "namespace", grove->workload->object->namespace_);
		build_put_string(build, reference, "name", grove->pods.items[i].name);
		build_append(build, list, reference);
	}
	return list;
}

static struct node *gang_spec(struct grove *grove, const struct gang *gang)
{
	struct build *build = grove->workload->build;
	struct node *spec = build_map(build), *list = build_list(build);
	for (size_t i = 0; i < grove->cliques.count; i++) {
		const struct clique *clique = &grove->cliques.items[i];
		if (clique->gang != gang->name || clique->replicas == 0)
			continue;
		struct node *map = build_map(build);
		build_put_string(build, map, "name", clique->name);
		build_put_int(build, map, "minReplicas", clique->minimum < 1 ? 1 : clique->minimum);
		build_put(build, map, "podReferences", pod_references(grove, clique));
		const struct val *constraint = val_get(clique->item, "topologyConstraint");
		if (val_kind(constraint) == VAL_MAP)
			build_put(build, map, "topologyConstraint", build_copy(build, constraint));
		build_append(build, list, map);
	}
	build_put(build, spec, "podgroups", list);
	const char *const copied[] = {"priorityClassName", "topologyConstraint"};
	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++)
		if (val_kind(val_get(grove->template_, copied[i])) != VAL_NULL)
			build_put(build, spec, copied[i], build_copy(build, val_get(grove->template_, copied[i])));
	build_put(build, spec, "topologyConstraintGroupConfigs", gang->groups);
	return spec;
}

static void settle_gangs(struct grove *grove)
{
	struct workload *workload = grove->workload;
	struct store_list existing;
	workload_others(workload, KINDS_GROVE_SCHEDULER, "podgangs", &existing);
	for (size_t i = 0; i < grove->gangs.count; i++) {
		struct child gang = {
			.api_version = KINDS_API_POD_GANG,
			.kind = "PodGang",
			.name = grove->gangs.items[i].name,
			.template_ = workload->root, /* labels and annotations are inherited */
			.spec = gang_spec(grove, &grove->gangs.items[i]),
		};
		vec_push(&grove->gang_children, gang);
	}
	workload_settle_list(workload, &existing, grove->gang_children.items, grove->gang_children.count);
	for (size_t i = 0; i < grove->gang_children.count; i++) {
		struct child *gang = &grove->gang_children.items[i];
		if (!gang->pod)
			continue;
		struct node *body = build_map(workload->build);
		build_put(workload->build, body, "spec", gang->spec);
		workload_patch(workload, gang->pod, STORE_MAIN, body);
	}
	store_list_clear(&existing);
}

static void write_status(struct grove *grove, int64_t replicas)
{
	struct workload *workload = grove->workload;
	struct build *build = workload->build;
	struct node *status = workload_status(workload);
	int64_t available = 0;
	for (int64_t r = 0; r < replicas; r++) {
		const char *gang = arena_printf(workload->arena, "%s-%lld", workload->object->name, (long long)r);
		bool good = true;
		for (size_t i = 0; i < grove->cliques.count; i++) {
			const struct clique *clique = &grove->cliques.items[i];
			if (strcmp(clique->gang, gang) != 0)
				continue;
			struct tally tally = {0};
			for (size_t p = clique->first; p < grove->pods.count && grove->pods.items[p].role == (int)i;
			     p++)
				tally_pod(&tally, grove->pods.items[p].pod);
			good &= tally.ready >= clique->minimum;
		}
		available += good;
	}
	build_put_int(build, status, "replicas", replicas);
	build_put_int(build, status, "updatedReplicas", replicas);
	build_put_int(build, status, "availableReplicas", available);
	build_put_string(build, status, "hpaPodSelector",
	                 arena_printf(workload->arena, "app.kubernetes.io/part-of=%s", workload->object->name));
	workload_write_status(workload, status);
}

int workload_grove(struct workload *workload)
{
	struct grove grove = {.workload = workload, .template_ = val_get(workload->spec, "template")};
	int64_t replicas = workload_number(val_get(workload->spec, "replicas"), 1);
	for (int64_t i = 0; i < replicas && grove.pods.count < WORKLOAD_MAX_PODS; i++)
		add_replica(&grove, i);
	/* Gangs first: pods that come before theirs only cause a warning. */
	settle_gangs(&grove);
	workload_settle(workload, grove.pods.items, grove.pods.count);
	write_status(&grove, replicas);
	vec_free(&grove.cliques);
	vec_free(&grove.gangs);
	vec_free(&grove.pods);
	vec_free(&grove.gang_children);
	return 0;
}
