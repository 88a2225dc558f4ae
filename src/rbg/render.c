/* Owns what a pod of a role looks like: its template with patches, names, labels, gate, environment and affinity. */
#include "rbg/render.h"

#include "object/tree.h"

#include <stdio.h>
#include <string.h>

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

size_t rbg_part_at(const struct rbg_role *role, int64_t index)
{
	int64_t inner;
	return (size_t)(component_of(role, index, &inner) - role->components);
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

/* A service that is there under the name of the role's workload is the one it has. */
const char *rbg_service_name(const struct rbg_turn *turn, const struct rbg_role *role)
{
	const char *old = rbg_set_name(turn, role);
	const struct store_object *service = rbg_peek(turn, "", "services", old);
	const char *group = service ? labels_get(&service->labels, naming_key(NAMING_V1ALPHA2, NAMING_GROUP)) : NULL;
	if (group && strcmp(group, turn->spec.name) == 0)
		return old;
	return naming_value(arena_printf(turn->arena, "s-%s-%s", turn->spec.name, role->name), turn->arena);
}

void rbg_put_identity(struct rbg_turn *turn, const struct rbg_role *role, int64_t ordinal, struct tree *labels)
{
	tree_put_string(turn->arena, labels, naming_key(NAMING_V1ALPHA2, NAMING_INDEX),
	                arena_printf(turn->arena, "%lld", (long long)ordinal));
	tree_put_string(turn->arena, labels, RBG_LABEL_POD_NAME, rbg_instance_name(turn, role, ordinal));
}

/* One pod in the making. */
struct render {
	struct rbg_turn *turn;
	struct arena *arena;
	const struct rbg_role_state *role;
	const struct rbg_role *as; /* the role at the revision of the pod */
	int64_t ordinal, index;
	const char *revision, *hash, *instance, *name;
	const struct rbg_component *component;
	size_t part;   /* number of the component */
	int64_t inner; /* of the pod in it */
	struct tree *metadata, *spec;
};

/* What the role says of all of its pods yields to what a template says. */
static void copy_missing(struct arena *arena, struct tree *to, const struct val *from)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(from); val_next(&it, &key, &item);)
		if (!tree_get(arena, to, key))
			tree_put(arena, to, key, tree_of(arena, item));
}

static void put_labels(const struct render *render)
{
	struct tree *labels = tree_need_map(render->arena, render->metadata, "labels");
	struct label items[NAMING_LABELS];
	const struct rbg_coordination *grouping = render->role->grouping;
	copy_missing(render->arena, labels, render->as->labels);
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
	rbg_put_identity(render->turn, render->as, render->ordinal, labels);
	tree_put_string(render->arena, labels, RBG_LABEL_INSTANCE, render->instance);
	tree_put_string(render->arena, labels, RBG_LABEL_COMPONENT, rbg_part_name(render->as, render->part));
	tree_put_string(render->arena, labels, RBG_LABEL_COMPONENT_ID,
	                arena_printf(render->arena, "%lld", (long long)render->inner));
	if (render->as->is_leader_worker)
		tree_put_string(render->arena, labels, RBG_LABEL_POD_INDEX,
		                arena_printf(render->arena, "%lld", (long long)render->index));
	if (rbg_exclusive_key(render->turn, render->as, render->component->template))
		tree_put_string(render->arena, labels, RBG_LABEL_UNIQUE, rbg_group_hash(render->turn));
	if (render->hash)
		tree_put_string(render->arena, labels, RBG_LABEL_REVISION, render->hash);
	const char *subgroup = rbg_subgroup_of(render->turn, render->role, render->ordinal);
	if (subgroup)
		tree_put_string(render->arena, labels, RBG_LABEL_SUBGROUP, subgroup);
	struct tree *annotations = tree_need_map(render->arena, render->metadata, "annotations");
	copy_missing(render->arena, annotations, render->as->annotations);
	if (render->hash)
		tree_put_string(render->arena, annotations, RBG_REVISION_ANNOTATION,
		                arena_printf(render->arena, "%s/%s", render->revision, render->hash));
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

/* ---- affinity ---- */

struct tree *rbg_make_term(struct arena *arena, const char *topology_key)
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
		tree_append(arena, rbg_need_list(arena, terms, "requiredDuringSchedulingIgnoredDuringExecution"), term);
		return;
	}
	struct tree *weighted = tree_map(arena);
	tree_put(arena, weighted, "weight", tree_int(arena, weight));
	tree_put(arena, weighted, "podAffinityTerm", term);
	tree_append(arena, rbg_need_list(arena, terms, "preferredDuringSchedulingIgnoredDuringExecution"), weighted);
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
		struct tree *term = rbg_make_term(render->arena, wanted->topology_key);
		for (size_t i = 0; i < wanted->selector.count; i++)
			put_match(render->arena, term, wanted->selector.items[i].key, "In",
			          wanted->selector.items[i].values[0]);
		add_term(render, "podAffinity", term, wanted->weight);
	}
	if (!grouping->spread_segments && !grouping->is_deploy)
		return;
	/* Sub-groups of one group keep apart where they can, so that a domain that fails takes one of them. */
	struct tree *term = rbg_make_term(render->arena, rule->topology_key);
	put_match(render->arena, term, group_key, "In", render->turn->spec.name);
	put_match(render->arena, term, subgroup_key, "NotIn", subgroup);
	put_match(render->arena, term, naming_key(NAMING_V1ALPHA2, NAMING_COORDINATION), "In",
	          naming_value(grouping->name, render->arena));
	add_term(render, "podAntiAffinity", term, SPREAD_WEIGHT);
}

static void put_spec(const struct render *render)
{
	struct arena *arena = render->arena;
	const char *scheduler = tree_str(tree_get(arena, render->spec, "schedulerName"), "");
	const struct settings *settings = render->turn->controller->settings;
	if (!*scheduler)
		tree_put_string(arena, render->spec, "schedulerName", scheduler = settings->schedulers[0]);
	const char *service = rbg_part_service(render->turn, render->as, render->part);
	if (service) {
		tree_put_string(arena, render->spec, "hostname", render->name);
		tree_put_string(arena, render->spec, "subdomain", service);
	}
	put_affinity(render, settings_is_ours(settings, scheduler));
	/* As the newest revision has it, for all: by itself it is no reason to make pods anew. */
	const struct rbg_role *newest = render->role->spec;
	if (newest->in_place != RBG_IN_PLACE_NEVER && newest->in_place_grace > 0) {
		struct tree *readiness = rbg_need_list(arena, render->spec, "readinessGates"),
			    *condition = tree_map(arena);
		tree_put_string(arena, condition, "conditionType", RBG_READY_CONDITION);
		tree_append(arena, readiness, condition);
	}
	if (render->ordinal < render->role->released)
		return;
	struct tree *gates = rbg_need_list(arena, render->spec, "schedulingGates"), *gate = tree_map(arena);
	tree_put_string(arena, gate, "name", DEPLOY_GATE);
	tree_append(arena, gates, gate);
}

struct doc *rbg_render(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as,
                       const char *revision, int64_t ordinal, int64_t index, const struct store_object *owner)
{
	struct arena *arena = turn->arena;
	struct render render = {
		.turn = turn,
		.arena = arena,
		.role = role,
		.as = as,
		.ordinal = ordinal,
		.index = index,
		.revision = revision,
		.hash = owner ? rbg_instance_revision(turn, owner) : NULL,
		.instance = rbg_instance_name(turn, as, ordinal),
		.name = rbg_pod_name(turn, as, ordinal, index),
	};
	render.component = component_of(as, index, &render.inner);
	render.part = (size_t)(render.component - as->components);
	const struct val *parts = val_get(rbg_instance_parts(turn, role, as), "components");
	struct tree *root = tree_map(arena),
		    *template = tree_of(arena, val_get(val_item(parts, render.part), "template"));
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
	if (owner && !rbg_exclusive_key(turn, as, render.component->template))
		rbg_put_place(turn, role, as, ordinal, index, render.name, render.spec);
	rbg_put_siblings(turn, as, ordinal, render.part, render.metadata, render.spec);
	tree_put(arena, root, "metadata", render.metadata);
	tree_put(arena, root, "spec", render.spec);
	return tree_finish(root);
}
