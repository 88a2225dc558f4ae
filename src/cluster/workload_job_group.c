/* Owns the groups of Kubernetes itself that a Job with spec.scheduling gets: a Workload with one template, and the PodGroup that
 * its pods name. As the Job controller of 1.37 makes them. */
#include "cluster/workload_internal.h"

#include <string.h>

/* Fields that template and group take over as they are. */
static void copy_fields(struct workload *workload, struct node *to)
{
	static const char *const fields[] = {"schedulingConstraints", "disruptionMode", "resourceClaims"};
	const struct val *scheduling = val_get(workload->spec, "scheduling");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (val_get(scheduling, fields[i]))
			build_put(workload->build, to, fields[i],
			          build_copy(workload->build, val_get(scheduling, fields[i])));
	const char *class = val_str(val_path(workload->spec, "template", "spec", "priorityClassName", NULL), "");
	if (*class)
		build_put_string(workload->build, to, "priorityClassName", class);
}

/* Follows the parallelism of the Job unless it says itself how many pods make a gang. */
static int64_t wanted_minimum(const struct workload *workload, int64_t parallelism)
{
	int64_t minimum = parallelism > 1 ? parallelism : 1;
	val_int(val_path(workload->spec, "scheduling", "schedulingPolicy", "gang", "minCount", NULL), &minimum);
	return minimum;
}

static struct node *policy(struct workload *workload, int64_t parallelism)
{
	struct build *build = workload->build;
	struct node *map = build_map(build), *variant = build_map(build);
	const struct val *gang = val_path(workload->spec, "scheduling", "schedulingPolicy", "gang", NULL);
	if (val_kind(gang) == VAL_MAP)
		build_put_int(build, variant, "minCount", wanted_minimum(workload, parallelism));
	build_put(build, map, val_kind(gang) == VAL_MAP ? "gang" : "basic", variant);
	return map;
}

static struct node *template_spec(struct workload *workload, const char *name, int64_t parallelism)
{
	struct build *build = workload->build;
	struct node *spec = build_map(build), *controller = build_map(build), *list = build_list(build),
		    *item = build_map(build);
	build_put_string(build, controller, "apiGroup", KINDS_BATCH);
	build_put_string(build, controller, "kind", "Job");
	build_put_string(build, controller, "name", workload->object->name);
	build_put(build, spec, "controllerRef", controller);
	build_put_string(build, item, "name", name);
	build_put(build, item, "schedulingPolicy", policy(workload, parallelism));
	copy_fields(workload, item);
	build_append(build, list, item);
	build_put(build, spec, "podGroupTemplates", list);
	return spec;
}

static struct node *group_spec(struct workload *workload, const char *origin, const char *template_,
                               int64_t parallelism)
{
	struct build *build = workload->build;
	struct node *spec = build_map(build), *reference = build_map(build);
	build_put_string(build, reference, "workloadName", origin);
	build_put_string(build, reference, "templateName", template_);
	build_put(build, spec, "workloadRef", reference);
	build_put(build, spec, "schedulingPolicy", policy(workload, parallelism));
	copy_fields(workload, spec);
	return spec;
}

static struct store_object *find(const struct workload *workload, const char *resource, const char *name)
{
	const struct store_type *type = store_type_find(workload->store, KINDS_SCHEDULING_K8S, resource);
	return store_object_retain(type ? store_peek(workload->store, type, workload->object->namespace_, name) : NULL);
}

static void follow_parallelism(struct workload *workload, const struct store_object *group, int64_t parallelism)
{
	int64_t now, wanted = wanted_minimum(workload, parallelism);
	if (val_int(val_path(group->root, "spec", "schedulingPolicy", "gang", "minCount", NULL), &now) < 0 ||
	    now == wanted)
		return;
	struct build *build = workload->build;
	struct node *body = build_map(build), *spec = build_map(build);
	build_put(build, spec, "schedulingPolicy", policy(workload, parallelism));
	build_put(build, body, "spec", spec);
	workload_patch(workload, group, STORE_MAIN, body);
}

const char *workload_job_group(struct workload *workload, int64_t parallelism)
{
	struct arena *arena = workload->arena;
	const char *name = workload->object->name;
	if (val_kind(val_get(workload->spec, "scheduling")) != VAL_MAP ||
	    val_path(workload->spec, "template", "spec", "schedulingGroup", NULL))
		return NULL;
	const struct val *uid = val_path(workload->root, "metadata", "uid", NULL);
	const char *template_ = arena_printf(arena, "%s-pgt-0", name);
	const char *origin = arena_printf(arena, "%s-%s", name, workload_hash(arena, uid, 0));
	const char *group = arena_printf(arena, "%s-%s-%s", origin, template_, workload_hash(arena, uid, 1));
	struct store_object *there = find(workload, "workloads", origin);
	if (!there)
		workload_create(workload, &(struct child){.api_version = KINDS_API_NATIVE_GROUP,
		                                          .kind = "Workload",
		                                          .name = origin,
		                                          .spec = template_spec(workload, template_, parallelism)});
	store_object_release(there);
	there = find(workload, "podgroups", group);
	if (there)
		follow_parallelism(workload, there, parallelism);
	else
		workload_create(workload,
		                &(struct child){.api_version = KINDS_API_NATIVE_GROUP,
		                                .kind = "PodGroup",
		                                .name = group,
		                                .spec = group_spec(workload, origin, template_, parallelism)});
	store_object_release(there);
	return group;
}
