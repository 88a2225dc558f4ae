/* Owns what other objects say about a group: coordinations in policies, replicas in scaling adapters. */
#include "rbg/render.h"

#include <string.h>

static const char *group_key(const struct rbg_turn *turn)
{
	return arena_printf(turn->arena, "%s/%s", turn->object->namespace_, turn->object->name);
}

static void add_policy(void *context, const char *name)
{
	struct rbg_turn *turn = context;
	const struct store_object *object = rbg_peek(turn, RBG_GROUP, "coordinatedpolicies", name);
	if (!object)
		return;
	/* Values of the policy are read in this turn only, and nothing that is written changes policies. */
	const struct decoded_policy *decoded = store_object_derived(object, &rbg_policy_derivation);
	const struct rbg_policy *policy = &decoded->policy;
	problems_copy(&turn->problems, decoded->problems.items, decoded->problems.count);
	if (strcmp(policy->target, turn->object->name) != 0)
		return;
	struct rbg_spec *spec = &turn->spec;
	struct rbg_coordination *all = arena_array(turn->arena, struct rbg_coordination,
	                                           spec->coordination_count + policy->coordination_count);
	if (spec->coordination_count > 0)
		memcpy(all, spec->coordinations, spec->coordination_count * sizeof(*all));
	for (size_t i = 0; i < policy->coordination_count; i++) {
		all[spec->coordination_count] = policy->coordinations[i];
		all[spec->coordination_count++].path =
			arena_printf(turn->arena, "CoordinatedPolicy %s: %s", name, policy->coordinations[i].path);
	}
	spec->coordinations = all;
}

void rbg_add_policies(struct rbg_turn *turn)
{
	size_t own = turn->spec.coordination_count;
	rbg_links_each(turn->controller->policies, group_key(turn), add_policy, turn);
	if (turn->spec.coordination_count > own)
		rbg_check_coordinations(&turn->spec, &turn->problems);
}

/* ---- what policies are told ---- */

struct policy_news {
	struct store *store;
	struct arena *arena;
	const char *namespace_, *group;
	int64_t now;
	bool is_bound;
};

static void report_policy(void *context, const char *name)
{
	const struct policy_news *news = context;
	const struct store_type *type = store_type_find(news->store, RBG_GROUP, "coordinatedpolicies");
	struct store_object *object = type ? store_peek(news->store, type, news->namespace_, name) : NULL;
	if (!object)
		return;
	struct condition bound = {
		"Bound", news->is_bound ? "True" : "False", news->is_bound ? "GroupFound" : "GroupNotFound",
		arena_printf(news->arena,
	                     news->is_bound ? "RoleBasedGroup %s follows it"
	                                    : "there is no RoleBasedGroup %s; name one in spec.targetRef.name",
	                     news->group)};
	int64_t generation = 0;
	struct build *build = build_create();
	struct node *status = build_map(build);
	val_int(val_path(object->root, "metadata", "generation", NULL), &generation);
	build_put_int(build, status, "observedGeneration", generation);
	build_put_string(build, status, "target", news->group);
	build_put(build, status, "conditions", writes_conditions(build, object->root, &bound, 1, news->now));
	writes_patch_status(news->store, object, build, status);
	build_destroy(build);
}

void rbg_report_policies(struct rbg_controller *controller, const struct reconcile *reconcile, bool is_bound)
{
	struct policy_news news = {
		.store = reconcile->store,
		.arena = reconcile->arena,
		.namespace_ = reconcile->key.namespace_,
		.group = reconcile->key.name,
		.now = reconcile->now_ns / CLOCK_SECOND,
		.is_bound = is_bound,
	};
	const char *key = arena_printf(reconcile->arena, "%s/%s", news.namespace_, news.group);
	rbg_links_each(controller->policies, key, report_policy, &news);
}

/* ---- adapters ---- */

static void read_adapter(void *context, const char *name)
{
	struct rbg_turn *turn = context;
	const struct store_object *object = rbg_peek(turn, RBG_GROUP, "rolebasedgroupscalingadapters", name);
	const struct val *spec = object ? val_get(object->root, "spec") : NULL;
	int role = rbg_role_find(&turn->spec, val_str(val_path(spec, "scaleTargetRef", "role", NULL), ""));
	int64_t replicas;
	if (role < 0 || strcmp(val_str(val_path(spec, "scaleTargetRef", "name", NULL), ""), turn->object->name) != 0 ||
	    val_int(val_get(spec, "replicas"), &replicas) < 0 || replicas < 0 ||
	    replicas > RBG_MOST_PODS / (turn->spec.roles[role].pods > 0 ? turn->spec.roles[role].pods : 1))
		return;
	turn->roles[role].is_overridden = turn->roles[role].desired != replicas;
	turn->roles[role].desired = replicas;
}

void rbg_read_adapters(struct rbg_turn *turn)
{
	rbg_links_each(turn->controller->adapters, group_key(turn), read_adapter, turn);
}

/* What an adapter asks for stands in the group as well: whoever reads the group sees what is wanted. */
static void write_replicas(struct rbg_turn *turn, const struct rbg_role_state *role)
{
	const struct val *item;
	size_t index = 0;
	for (struct val_iter it = val_iter(val_path(turn->object->root, "spec", "roles", NULL));
	     val_next(&it, NULL, &item) && strcmp(val_str(val_get(item, "name"), ""), role->spec->name) != 0;)
		index++;
	struct build *build = build_create();
	struct node *list = build_list(build), *test = build_map(build), *replace = build_map(build);
	/* Roles may have changed their places meanwhile. */
	build_put_string(build, test, "op", "test");
	build_put_string(build, test, "path", arena_printf(turn->arena, "/spec/roles/%zu/name", index));
	build_put_string(build, test, "value", role->spec->name);
	build_put_string(build, replace, "op", "add");
	build_put_string(build, replace, "path", arena_printf(turn->arena, "/spec/roles/%zu/replicas", index));
	build_put_int(build, replace, "value", role->desired);
	build_append(build, list, test);
	build_append(build, list, replace);
	rbg_patch_as(turn, turn->object, STORE_PATCH_JSON, build, list);
	build_destroy(build);
}

static void create_adapter(struct rbg_turn *turn, const struct rbg_role *role, const char *name)
{
	static const char *const nothing[] = {NULL};
	struct build *build = build_create();
	struct node *root = rbg_object(turn, build, RBG_GROUP "/v1alpha2", "RoleBasedGroupScalingAdapter", name),
		    *spec = build_map(build), *target = build_map(build);
	build_put_string(build, target, "name", turn->object->name);
	build_put_string(build, target, "role", role->name);
	build_put(build, spec, "scaleTargetRef", target);
	build_put_int(build, spec, "replicas", role->replicas);
	build_put(build, root, "spec", spec);
	if (role->adapter_labels) {
		struct node *metadata = rbg_metadata(turn, build, name),
			    *labels = build_copy(build, role->adapter_labels);
		for (int family = NAMING_V1ALPHA1; family <= NAMING_V1ALPHA2; family++)
			build_put_string(build, labels, naming_key((enum naming_family)family, NAMING_GROUP),
			                 turn->spec.name);
		build_put(build, metadata, "labels", labels);
		build_put(build, root, "metadata", metadata);
	}
	if (rbg_ensure(turn, build, RBG_GROUP, "rolebasedgroupscalingadapters", name, root, nothing))
		rbg_links_set(turn->controller->adapters, group_key(turn), name, true);
	build_destroy(build);
}

static void report_adapter(void *context, const char *name)
{
	struct rbg_turn *turn = context;
	const struct store_object *object = rbg_peek(turn, RBG_GROUP, "rolebasedgroupscalingadapters", name);
	if (!object)
		return;
	int number =
		rbg_role_find(&turn->spec, val_str(val_path(object->root, "spec", "scaleTargetRef", "role", NULL), ""));
	struct build *build = build_create();
	struct node *status = build_map(build);
	const struct val *before = val_get(object->root, "status");
	build_put_string(build, status, "phase", number < 0 ? "NotBound" : "Bound");
	if (number >= 0 && strcmp(val_str(val_get(before, "phase"), ""), "Bound") != 0)
		writes_event(turn->store, object, false, "SuccessfulBound",
		             arena_printf(turn->arena, "role %s of %s", turn->spec.roles[number].name, turn->spec.name),
		             turn->now);
	if (number >= 0) {
		const struct rbg_role_state *role = &turn->roles[number];
		int64_t before_it = role->desired;
		val_int(val_get(rbg_old_role(turn, role->spec->name), "desiredReplicas"), &before_it);
		if (before_it != role->desired) {
			char now[32];
			clock_print_rfc3339(turn->now, now);
			build_put_string(build, status, "lastScaleTime", now);
			writes_event(turn->store, object, false, "SuccessfulScale",
			             arena_printf(turn->arena, "role %s: %lld -> %lld replicas", role->spec->name,
			                          (long long)before_it, (long long)role->desired),
			             turn->now);
		}
		build_put_int(build, status, "replicas", (int64_t)role->instance_count);
		build_put_int(build, status, "readyReplicas", role->ready);
		build_put_string(build, status, "selector",
		                 arena_printf(turn->arena, "%s%s", rbg_set_selector(turn, role->spec),
		                              role->spec->is_leader_worker ? "," RBG_LABEL_POD_INDEX "=0" : ""));
	}
	writes_patch_status(turn->store, object, build, status);
	build_destroy(build);
}

void rbg_write_adapters(struct rbg_turn *turn)
{
	const struct store_type *type = store_type_find(turn->store, RBG_GROUP, "rolebasedgroupscalingadapters");
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		const struct rbg_role *role = &turn->spec.roles[r];
		const char *name = arena_printf(turn->arena, "%s-%s", turn->spec.name, role->name);
		for (size_t i = 0; role->has_adapter && i < turn->owned.count; i++)
			turn->is_seen[i] |=
				turn->owned.items[i]->type == type && strcmp(turn->owned.items[i]->name, name) == 0;
		if (role->has_adapter && !rbg_peek(turn, RBG_GROUP, "rolebasedgroupscalingadapters", name))
			create_adapter(turn, role, name);
	}
	rbg_links_each(turn->controller->adapters, group_key(turn), report_adapter, turn);
}

void rbg_write_replicas(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count; r++)
		if (turn->roles[r].is_overridden)
			write_replicas(turn, &turn->roles[r]);
}
