/* Owns what a pod of a role looks like: its template with patches, names, labels, gate, environment and affinity. */
#include "rbg/render.h"

#include "api/patch.h"
#include "object/tree.h"

#include <stdio.h>
#include <string.h>

#define CONFIG_VOLUME "rbg-cluster-config"
#define CONFIG_PATH "/etc/rbg"
#define SPREAD_WEIGHT 100

const char *rbg_instance_name(const struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal)
{
	return arena_printf(turn->arena, "%s-%s-%lld", turn->spec.name, role->name, (long long)ordinal);
}

/* The component a pod belongs to and its number there. */
static const struct rbg_component *component_of(const struct rbg_role *role, int64_t index, int64_t *inner)
{
	const struct rbg_component *component = role->components;
	*inner = index;
	for (size_t i = 0; i + 1 < role->component_count && *inner >= component->size; i++, component++)
		*inner -= component->size;
	return component;
}

const char *rbg_pod_name(const struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal, int64_t index)
{
	int64_t inner;
	const struct rbg_component *component = component_of(role, index, &inner);
	const char *instance = rbg_instance_name(turn, role, ordinal);
	if (component->name[0])
		return arena_printf(turn->arena, "%s-%s-%lld", instance, component->name, (long long)inner);
	if (role->is_leader_worker)
		return arena_printf(turn->arena, "%s-%lld", instance, (long long)index);
	return instance;
}

const char *rbg_service_name(const struct rbg_turn *turn, const struct rbg_role *role)
{
	const char *name = arena_printf(turn->arena, "s-%s-%s", turn->spec.name, role->name);
	return naming_value(name, turn->arena);
}

/* One pod in the making. */
struct render {
	struct rbg_turn *turn;
	struct arena *arena;
	const struct rbg_role_state *role;
	const struct rbg_role *as; /* the role at the revision of the pod */
	int64_t ordinal, index;
	const char *revision, *instance, *name;
	const struct rbg_component *component;
	struct tree *metadata, *spec;
};

static struct tree *apply(struct rbg_turn *turn, struct tree *tree, const struct val *patch)
{
	struct shape shape = shape_of(store_api_find(turn->store, "", "v1", "pods"));
	struct store_error error = {0};
	struct tree *patched = patch ? patch_strategic(turn->arena, tree, patch, &shape, &error) : NULL;
	return patched ? patched : tree;
}

struct tree *rbg_render_template(struct rbg_turn *turn, const struct rbg_component *component,
                                 const struct val *runtimes)
{
	struct tree *tree = tree_of(turn->arena, component->template);
	const struct val *patch;
	for (int i = 0; i < 2; i++)
		tree = apply(turn, tree, component->patches[i]);
	for (struct val_iter it = val_iter(runtimes); val_next(&it, NULL, &patch);)
		tree = apply(turn, tree, patch);
	return tree;
}

static void copy_strings(struct arena *arena, struct tree *to, const struct val *from)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(from); val_next(&it, &key, &item);)
		tree_put(arena, to, key, tree_of(arena, item));
}

static void put_labels(const struct render *render)
{
	struct tree *labels = tree_need_map(render->arena, render->metadata, "labels");
	struct label items[NAMING_LABELS];
	const struct rbg_coordination *grouping = render->role->grouping;
	copy_strings(render->arena, labels, render->as->labels);
	copy_strings(render->arena, labels, render->component->labels);
	for (int family = NAMING_V1ALPHA1; family <= NAMING_V1ALPHA2; family++) {
		struct naming_instance instance = {
			.group = render->turn->spec.name,
			.role = render->as->name,
			.coordination = grouping ? grouping->name : "",
			.subgroup_size = render->role->grouping_size,
			.index = render->ordinal,
		};
		size_t count = naming_labels(&instance, (enum naming_family)family, render->arena, items);
		for (size_t i = 0; i < count; i++) {
			enum naming_label label = naming_label_of(items[i].key);
			bool is_grouped = label == NAMING_SUBGROUP || label == NAMING_SUBGROUP_SIZE ||
			                  label == NAMING_COORDINATION;
			if (grouping || !is_grouped)
				tree_put_string(render->arena, labels, items[i].key, items[i].value);
		}
	}
	tree_put_string(render->arena, labels, RBG_LABEL_INSTANCE, render->instance);
	tree_put_string(render->arena, labels, RBG_LABEL_POD_INDEX,
	                arena_printf(render->arena, "%lld", (long long)render->index));
	if (render->component->name[0])
		tree_put_string(render->arena, labels, RBG_LABEL_COMPONENT, render->component->name);
	tree_put_string(render->arena, labels, RBG_LABEL "role-type",
	                render->as->is_leader_worker      ? "LeaderWorkerSet"
	                : render->component->name[0] != 0 ? "Components"
	                                                  : "PodTemplate");
	if (render->as->pods > 1)
		tree_put_string(render->arena, labels, RBG_LABEL "component-size",
		                arena_printf(render->arena, "%lld",
		                             (long long)(render->component->name[0] ? render->component->size
		                                                                    : render->as->pods)));
	tree_put_string(render->arena, labels, RBG_LABEL_REVISION, render->revision);
	const char *subgroup = rbg_subgroup_of(render->turn, render->role, render->ordinal);
	if (subgroup)
		tree_put_string(render->arena, labels, RBG_LABEL_SUBGROUP, subgroup);
	struct tree *annotations = tree_need_map(render->arena, render->metadata, "annotations");
	copy_strings(render->arena, annotations, render->as->annotations);
	copy_strings(render->arena, annotations, render->component->annotations);
	tree_put_string(render->arena, annotations, "pod-group-name",
	                rbg_gang_of(render->turn, render->role, render->ordinal));
}

static void put_owner(const struct render *render, const struct store_object *instance)
{
	struct tree *owners = tree_list(render->arena), *owner = tree_map(render->arena);
	tree_put_string(render->arena, owner, "apiVersion", val_str(val_get(instance->root, "apiVersion"), ""));
	tree_put_string(render->arena, owner, "kind", instance->type->kind);
	tree_put_string(render->arena, owner, "name", instance->name);
	tree_put_string(render->arena, owner, "uid", instance->uid);
	tree_put(render->arena, owner, "controller", tree_bool(render->arena, true));
	tree_put(render->arena, owner, "blockOwnerDeletion", tree_bool(render->arena, true));
	tree_append(render->arena, owners, owner);
	tree_put(render->arena, render->metadata, "ownerReferences", owners);
}

/* ---- environment ---- */

struct variable {
	const char *name, *old_name; /* of v1alpha2 and v1alpha1 */
	const char *value;
};

static void put_variable(struct arena *arena, struct tree *list, const char *name, const char *value)
{
	struct tree *item = tree_map(arena);
	tree_put_string(arena, item, "name", name);
	tree_put_string(arena, item, "value", value);
	tree_append(arena, list, item);
}

/* Ours first, so that those of the template can refer to them and win. */
static void put_environment(const struct render *render, struct tree *container)
{
	struct arena *arena = render->arena;
	const char *leader = arena_printf(arena, "%s-0.%s.%s", render->instance,
	                                  rbg_service_name(render->turn, render->as), render->turn->object->namespace_);
	const struct variable variables[] = {
		{"RBG_GROUP_NAME", "GROUP_NAME", render->turn->spec.name},
		{"RBG_ROLE_NAME", "ROLE_NAME", render->as->name},
		{"RBG_ROLE_INDEX", "ROLE_INDEX", arena_printf(arena, "%lld", (long long)render->ordinal)},
		{"RBG_ROLE_INSTANCE_NAME", "INSTANCE_NAME", render->instance},
		{"RBG_COMPONENT_NAME", "COMPONENT_NAME", render->component->name[0] ? render->component->name : NULL},
		{"RBG_COMPONENT_INDEX", "COMPONENT_INDEX", arena_printf(arena, "%lld", (long long)render->index)},
		{"RBG_LWP_LEADER_ADDRESS", "LWS_LEADER_ADDRESS", render->as->is_leader_worker ? leader : NULL},
		{"RBG_LWP_WORKER_INDEX", "LWS_WORKER_INDEX",
	         render->as->is_leader_worker ? arena_printf(arena, "%lld", (long long)render->index) : NULL},
		{"RBG_LWP_GROUP_SIZE", "LWS_GROUP_SIZE",
	         render->as->is_leader_worker ? arena_printf(arena, "%lld", (long long)render->as->pods) : NULL},
	};
	struct tree *list = tree_list(arena), *own = tree_get(arena, container, "env"), *item;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (!variables[i].value)
			continue;
		put_variable(arena, list, variables[i].name, variables[i].value);
		put_variable(arena, list, variables[i].old_name, variables[i].value);
	}
	for (size_t at = 0; (item = tree_walk(arena, own, &at, NULL));)
		tree_append(arena, list, item);
	tree_put(arena, container, "env", list);
}

static bool has_named(struct arena *arena, struct tree *list, const char *name)
{
	struct tree *item;
	for (size_t at = 0; (item = tree_walk(arena, list, &at, NULL));)
		if (strcmp(tree_str(tree_get(arena, item, "name"), ""), name) == 0)
			return true;
	return false;
}

/* The list below a key, made when it is missing. */
static struct tree *need_list(struct arena *arena, struct tree *map, const char *key)
{
	struct tree *list = tree_get(arena, map, key);
	if (tree_kind(list) == VAL_LIST)
		return list;
	list = tree_list(arena);
	tree_put(arena, map, key, list);
	return list;
}

static void put_discovery(const struct render *render)
{
	struct arena *arena = render->arena;
	struct tree *volumes = need_list(arena, render->spec, "volumes"), *container;
	bool is_taken = has_named(arena, volumes, CONFIG_VOLUME);
	if (!is_taken) {
		struct tree *volume = tree_map(arena), *source = tree_map(arena);
		tree_put_string(arena, source, "name", render->turn->spec.name);
		tree_put_string(arena, volume, "name", CONFIG_VOLUME);
		tree_put(arena, volume, "configMap", source);
		tree_append(arena, volumes, volume);
	}
	for (size_t at = 0; (container = tree_walk(arena, tree_get(arena, render->spec, "containers"), &at, NULL));) {
		put_environment(render, container);
		struct tree *mounts = need_list(arena, container, "volumeMounts");
		if (is_taken || has_named(arena, mounts, CONFIG_VOLUME))
			continue;
		struct tree *mount = tree_map(arena);
		tree_put_string(arena, mount, "name", CONFIG_VOLUME);
		tree_put_string(arena, mount, "mountPath", CONFIG_PATH);
		tree_put(arena, mount, "readOnly", tree_bool(arena, true));
		tree_append(arena, mounts, mount);
	}
}

/* ---- affinity ---- */

static struct tree *make_term(struct arena *arena, const char *topology_key)
{
	struct tree *term = tree_map(arena), *selector = tree_map(arena);
	tree_put(arena, selector, "matchExpressions", tree_list(arena));
	tree_put(arena, term, "labelSelector", selector);
	tree_put_string(arena, term, "topologyKey", topology_key);
	return term;
}

static void put_match(struct arena *arena, struct tree *term, const char *key, const char *operator, const char * value)
{
	struct tree *match = tree_map(arena), *values = tree_list(arena);
	tree_put_string(arena, match, "key", key);
	tree_put_string(arena, match, "operator", operator);
	tree_append(arena, values, tree_string(arena, value));
	tree_put(arena, match, "values", values);
	tree_append(arena, tree_path(arena, term, "labelSelector", "matchExpressions", NULL), match);
}

static void add_term(const struct render *render, const char *kind, struct tree *term, int64_t weight)
{
	struct arena *arena = render->arena;
	struct tree *affinity = tree_need_map(arena, render->spec, "affinity");
	struct tree *terms = tree_need_map(arena, affinity, kind);
	if (weight == 0) {
		tree_append(arena, need_list(arena, terms, "requiredDuringSchedulingIgnoredDuringExecution"), term);
		return;
	}
	struct tree *weighted = tree_map(arena);
	tree_put(arena, weighted, "weight", tree_int(arena, weight));
	tree_put(arena, weighted, "podAffinityTerm", term);
	tree_append(arena, need_list(arena, terms, "preferredDuringSchedulingIgnoredDuringExecution"), weighted);
}

/* Our scheduler reads the PodGroup; others, and BestEffort, get terms about the pods of the sub-group. */
static void put_affinity(const struct render *render, bool is_ours)
{
	const struct rbg_coordination *grouping = render->role->grouping;
	const struct rbg_rule_state *rule = NULL;
	for (size_t k = 0; grouping && k < render->turn->rule_count; k++)
		if (render->turn->rules[k].spec == grouping)
			rule = &render->turn->rules[k];
	if (!rule || !rule->topology_key)
		return;
	int64_t number = segment_of(render->ordinal, render->role->grouping_size);
	const char *subgroup = naming_subgroup(render->turn->spec.name, grouping->name, number, render->arena);
	const char *group_key = naming_key(NAMING_V1ALPHA2, NAMING_GROUP);
	const char *subgroup_key = naming_key(NAMING_V1ALPHA2, NAMING_SUBGROUP);
	if (!is_ours || grouping->affinity == RBG_AFFINITY_BEST_EFFORT) {
		enum deploy_mode mode = grouping->affinity == RBG_AFFINITY_REQUIRE ? DEPLOY_HARD : DEPLOY_SOFT;
		struct pod_term *wanted = deploy_affinity(render->turn->spec.name, subgroup, rule->topology_key, mode,
		                                          NAMING_V1ALPHA2, render->arena);
		struct tree *term = make_term(render->arena, wanted->topology_key);
		for (size_t i = 0; i < wanted->selector.count; i++)
			put_match(render->arena, term, wanted->selector.items[i].key, "In",
			          wanted->selector.items[i].values[0]);
		add_term(render, "podAffinity", term, wanted->weight);
	}
	if (!grouping->spread_segments && !grouping->is_deploy)
		return;
	/* Sub-groups of one group keep apart where they can, so that a domain that fails takes one of them. */
	struct tree *term = make_term(render->arena, rule->topology_key);
	put_match(render->arena, term, group_key, "In", render->turn->spec.name);
	put_match(render->arena, term, subgroup_key, "NotIn", subgroup);
	put_match(render->arena, term, naming_key(NAMING_V1ALPHA2, NAMING_COORDINATION), "In",
	          naming_value(grouping->name, render->arena));
	add_term(render, "podAntiAffinity", term, SPREAD_WEIGHT);
}

/* A group that asks for it has domains of the key to itself: its pods share one, and pods of other groups stay away. */
static void put_exclusive(const struct render *render)
{
	static const char *const wishes[] = {RBG_LABEL "group-exclusive-topology",
	                                     "rolebasedgroup.workloads.x-k8s.io/exclusive-topology"};
	static const char *const exceptions[] = {RBG_LABEL "role-disable-exclusive",
	                                         "rolebasedgroup.workloads.x-k8s.io/disable-exclusive-topology"};
	const struct val *annotations = val_path(render->turn->object->root, "metadata", "annotations", NULL);
	const char *group = naming_key(NAMING_V1ALPHA2, NAMING_GROUP), *key = "";
	for (int i = 0; i < 2; i++) {
		if (*val_str(val_get(render->as->annotations, exceptions[i]), ""))
			return;
		key = *key ? key : val_str(val_get(annotations, wishes[i]), "");
	}
	if (!*key)
		return;
	struct tree *together = make_term(render->arena, key), *apart = make_term(render->arena, key);
	put_match(render->arena, together, group, "In", render->turn->spec.name);
	add_term(render, "podAffinity", together, 0);
	put_match(render->arena, apart, group, "NotIn", render->turn->spec.name);
	struct tree *any = tree_map(render->arena);
	tree_put_string(render->arena, any, "key", group);
	tree_put_string(render->arena, any, "operator", "Exists");
	tree_append(render->arena, tree_path(render->arena, apart, "labelSelector", "matchExpressions", NULL), any);
	add_term(render, "podAntiAffinity", apart, 0);
}

static void put_spec(const struct render *render)
{
	struct arena *arena = render->arena;
	const char *scheduler = tree_str(tree_get(arena, render->spec, "schedulerName"), "");
	const struct settings *settings = render->turn->controller->settings;
	if (!*scheduler)
		tree_put_string(arena, render->spec, "schedulerName", scheduler = settings->schedulers[0]);
	tree_put_string(arena, render->spec, "hostname", render->name);
	tree_put_string(arena, render->spec, "subdomain",
	                render->component->service ? render->component->service
	                                           : rbg_service_name(render->turn, render->as));
	put_affinity(render, settings_is_ours(settings, scheduler));
	put_exclusive(render);
	/* As the newest revision has it, for all: by itself it is no reason to make pods anew. */
	const struct rbg_role *newest = render->role->spec;
	if (newest->in_place != RBG_IN_PLACE_NEVER && newest->in_place_grace > 0) {
		struct tree *readiness = need_list(arena, render->spec, "readinessGates"), *condition = tree_map(arena);
		tree_put_string(arena, condition, "conditionType", RBG_READY_CONDITION);
		tree_append(arena, readiness, condition);
	}
	if (render->ordinal < render->role->released)
		return;
	struct tree *gates = need_list(arena, render->spec, "schedulingGates"), *gate = tree_map(arena);
	tree_put_string(arena, gate, "name", DEPLOY_GATE);
	tree_append(arena, gates, gate);
}

struct doc *rbg_render(struct rbg_turn *turn, const struct rbg_role_state *role, const struct rbg_role *as,
                       const char *revision, int64_t ordinal, int64_t index, const struct store_object *owner)
{
	struct arena *arena = turn->arena;
	int64_t inner;
	struct render render = {
		.turn = turn,
		.arena = arena,
		.role = role,
		.as = as,
		.ordinal = ordinal,
		.index = index,
		.revision = revision,
		.instance = rbg_instance_name(turn, as, ordinal),
		.name = rbg_pod_name(turn, as, ordinal, index),
		.component = component_of(as, index, &inner),
	};
	struct doc *runtimes = rbg_runtime_patches(turn, as);
	struct tree *root = tree_map(arena),
		    *template = rbg_render_template(turn, render.component, runtimes ? doc_root(runtimes) : NULL);
	tree_put_string(arena, root, "apiVersion", "v1");
	tree_put_string(arena, root, "kind", "Pod");
	render.metadata = tree_need_map(arena, template, "metadata");
	render.spec = tree_need_map(arena, template, "spec");
	tree_put_string(arena, render.metadata, "name", render.name);
	tree_put_string(arena, render.metadata, "namespace", turn->object->namespace_);
	put_labels(&render);
	if (owner)
		put_owner(&render, owner);
	put_spec(&render);
	put_discovery(&render);
	tree_put(arena, root, "metadata", render.metadata);
	tree_put(arena, root, "spec", render.spec);
	struct doc *pod = tree_finish(root);
	doc_destroy(runtimes);
	return pod;
}
