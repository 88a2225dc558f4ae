/* Owns what only shows when a group, its policies and the topologies they name are seen together. */
#include "admit/rbg_verdict.h"

#include "admit/decode.h"
#include "admit/pod.h"
#include "admit/rbg.h"
#include "base/strings.h"
#include "object/build.h"

#include <string.h>

/* Layers that coordinations of a group or a policy name. */
static void judge_layers(const struct rbg_coordination *coordinations, size_t count, const struct admit_index *index,
                         struct problems *problems)
{
	for (size_t k = 0; index && k < count; k++) {
		const struct rbg_coordination *one = &coordinations[k];
		if (!one->topology_name)
			continue;
		const struct cluster_topology *topology = index_cluster_topology(index, one->topology_name);
		const char *field =
			problem_path(problems, "%s.strategy.rollingDeploy.deployTopologyConstraint", one->path);
		if (!topology)
			problem_add_cause(problems, index_is_cluster(index) ? SEVERITY_ERROR : SEVERITY_WARNING,
			                  PROBLEM_NOT_FOUND, problem_path(problems, "%s.clusterTopologyName", field),
			                  "create the ClusterTopology first, or name an existing one",
			                  "ClusterTopology %s does not exist",
			                  decode_show(problems->arena, one->topology_name));
		else if (topology->layer_count == 0)
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.clusterTopologyName", field),
			            "name another, or replace it", "ClusterTopology %s is not valid",
			            decode_show(problems->arena, one->topology_name));
		else if (one->layer && !cluster_topology_key(topology, one->layer))
			problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.topologyLayerName", field),
			            arena_printf(problems->arena, "name one of: %s", topology->levels),
			            "ClusterTopology %s has no layer %s",
			            decode_show(problems->arena, one->topology_name),
			            decode_show(problems->arena, one->layer));
	}
}

/* Puts coordinations behind those of the spec. `place` says in paths which other object they stand in, NULL for none. */
static void add_coordinations(struct rbg_spec *spec, struct rbg_coordination *items, size_t count, const char *place,
                              struct arena *arena)
{
	struct rbg_coordination *all = arena_array(arena, struct rbg_coordination, spec->coordination_count + count);
	for (size_t i = 0; i < spec->coordination_count; i++)
		all[i] = spec->coordinations[i];
	for (size_t i = 0; i < count; i++) {
		struct rbg_coordination *one = &all[spec->coordination_count++];
		*one = items[i];
		if (place)
			one->path = arena_printf(arena, "%s: %s", place, one->path);
	}
	spec->coordinations = all;
}

/* The coordinations of all policies of the group but `except`. True when there are any. */
static bool add_policies(struct rbg_spec *spec, const struct admit_index *index, const char *except,
                         struct arena *arena)
{
	size_t at = 0, before = spec->coordination_count;
	const struct decoded_policy *policy;
	while ((policy = index_policy(index, spec->namespace_, spec->name, &at)))
		/* What is wrong with a policy alone is said when the policy is judged. */
		if (policy->problems.errors == 0 && !(except && text_equal(policy->policy.name, except)))
			add_coordinations(spec, policy->policy.coordinations, policy->policy.coordination_count,
			                  arena_printf(arena, "CoordinatedPolicy %s", policy->policy.name), arena);
	return spec->coordination_count > before;
}

/* ---- templates ---- */

/* What is wrong with pods made from a template is told here, where somebody reads it, not at each pod. */
static void judge_template(const char *path, const struct val *template, struct arena *arena, struct problems *problems)
{
	struct problems inner = {.arena = problems->arena};
	struct pod_spec pod;
	if (val_kind(template) != VAL_MAP || val_count(val_path(template, "spec", "containers", NULL)) == 0)
		return; /* said already */
	pod_decode(template, arena, &pod, &inner);
	for (size_t i = 0; i < inner.count; i++)
		/* A template has no name. */
		if (strncmp(inner.items[i].path, "spec", 4) == 0)
			problem_add(problems, inner.items[i].severity,
			            problem_path(problems, "%s.%s", path, inner.items[i].path), inner.items[i].fix,
			            "%s", inner.items[i].message);
}

static void judge_components(const char *path, const struct val *list, struct arena *arena, struct problems *problems)
{
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item); index++)
		judge_template(problem_path(problems, "%s[%zu].template", path, index), val_get(item, "template"),
		               arena, problems);
}

static void judge_templates(const struct val *spec, struct arena *arena, struct problems *problems)
{
	static const char *const patterns[] = {"standalonePattern", "leaderWorkerPattern"};
	struct decode decode = {.arena = arena, .problems = problems};
	const struct val *role;
	size_t index = 0;
	judge_components("spec.roleTemplates", val_get(spec, "roleTemplates"), arena, problems);
	for (struct val_iter it = val_iter(val_get(spec, "roles")); val_next(&it, NULL, &role); index++) {
		const char *path = problem_path(problems, "spec.roles[%zu]", index);
		judge_template(problem_path(problems, "%s.template", path), val_get(role, "template"), arena, problems);
		for (int i = 0; i < 2; i++)
			judge_template(problem_path(problems, "%s.%s.template", path, patterns[i]),
			               val_path(role, patterns[i], "template", NULL), arena, problems);
		judge_components(problem_path(problems, "%s.components", path), val_get(role, "components"), arena,
		                 problems);
		judge_components(problem_path(problems, "%s.customComponentsPattern.components", path),
		                 val_path(role, "customComponentsPattern", "components", NULL), arena, problems);
		const struct decode_path *at = PATH_INDEX(PATH_KEY(PATH_KEY(NULL, "spec"), "roles"), index);
		decode_labels(&decode, at, role, "labels");
		decode_labels(&decode, at, role, "annotations");
	}
}

/* ---- groups and policies ---- */

void rbg_judge_group(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                     struct problems *problems)
{
	const struct decoded_rbg *group = object->decoded;
	struct rbg_spec spec = group->spec;
	problems_copy(problems, group->problems.items, group->problems.count);
	judge_templates(val_get(object->object, "spec"), arena, problems);
	judge_layers(spec.coordinations, spec.coordination_count, index, problems);
	/* The same again with policies; what the group does wrong alone has been said. */
	if (group->problems.errors == 0 && index && add_policies(&spec, index, NULL, arena))
		rbg_check_coordinations(&spec, problems);
}

/* A group that has errors of its own can be put right later; its roles count as they are. */
static void judge_beside_group(const struct rbg_policy *policy, const struct decoded_rbg *group,
                               const struct admit_index *index, struct arena *arena, struct problems *problems)
{
	struct rbg_spec spec = group->spec;
	struct rbg_coordination *own = spec.coordinations;
	size_t own_count = spec.coordination_count;
	spec.coordination_count = 0;
	add_coordinations(&spec, own, own_count, arena_printf(arena, "RoleBasedGroup %s", policy->target), arena);
	add_policies(&spec, index, policy->name, arena);
	add_coordinations(&spec, policy->coordinations, policy->coordination_count, NULL, arena);
	rbg_check_coordinations(&spec, problems);
}

void rbg_judge_policy(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                      struct problems *problems)
{
	const struct decoded_policy *decoded = object->decoded;
	const struct rbg_policy *policy = &decoded->policy;
	problems_copy(problems, decoded->problems.items, decoded->problems.count);
	judge_layers(policy->coordinations, policy->coordination_count, index, problems);
	if (!index || decoded->problems.errors > 0)
		return;
	const struct decoded_rbg *group = index_group(index, policy->namespace_, policy->target);
	if (group)
		judge_beside_group(policy, group, index, arena, problems);
	else if (index_has_groups(index))
		problem_add(problems, SEVERITY_WARNING, "spec.targetRef.name", "name the group, or create it",
		            "there is no RoleBasedGroup %s for the policy to act on",
		            decode_show(problems->arena, policy->target));
}

/* ---- sets ---- */

/* A member of the set as it will be made, with the longest name of all. */
static struct doc *make_member(const struct manifest *object, const struct val *template, int64_t last,
                               struct arena *arena)
{
	struct build *build = build_create();
	struct node *root = build_map(build), *metadata = build_map(build);
	build_put_string(build, metadata, "name", arena_printf(arena, "%s-%lld", object->name, (long long)last));
	if (object->namespace_ && *object->namespace_)
		build_put_string(build, metadata, "namespace", object->namespace_);
	build_put(build, root, "metadata", metadata);
	build_put(build, root, "spec", build_copy(build, template));
	struct doc *doc = build_finish(build, root);
	build_destroy(build);
	return doc;
}

void rbg_judge_set(const struct manifest *object, const struct admit_index *index, struct arena *arena,
                   struct problems *problems)
{
	struct problems inner = {.arena = problems->arena};
	const struct decoded_set *decoded = object->decoded;
	const struct rbg_set *set = &decoded->set;
	problems_copy(problems, decoded->problems.items, decoded->problems.count);
	if (decoded->problems.errors > 0)
		return;
	struct doc *doc = make_member(object, set->template, set->replicas > 0 ? set->replicas - 1 : 0, arena);
	struct rbg_spec spec;
	rbg_decode(doc_root(doc), arena, &spec, &inner);
	judge_templates(set->template, arena, &inner);
	judge_layers(spec.coordinations, spec.coordination_count, index, &inner);
	rbg_release(&spec);
	for (size_t i = 0; i < inner.count; i++) {
		const struct problem *one = &inner.items[i];
		bool is_inside = strncmp(one->path, "spec", 4) == 0;
		problem_add(problems, one->severity,
		            is_inside ? problem_path(problems, "%s%s", set->path, one->path + 4) : one->path, one->fix,
		            "%s", one->message);
	}
	doc_destroy(doc);
}
