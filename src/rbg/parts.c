/* Owns what instances of a role are made from: the components with their templates, complete with labels, environment,
 * discovery and what a group that wants domains to itself asks for. The same for all instances of a revision. */
#include "rbg/render.h"

#include "api/patch.h"

#include <string.h>

#define CONFIG_VOLUME "rbg-cluster-config"
#define CONFIG_PATH "/etc/rbg"
#define CONFIG_FILE "config.yaml"

const char *rbg_part_name(const struct rbg_role *role, size_t component)
{
	const char *name = role->components[component].name;
	if (*name)
		return name;
	return !role->is_leader_worker ? role->name : component == 0 ? "leader" : "worker";
}

/* Workers have a name in the network only where requests may go to them. */
const char *rbg_part_service(const struct rbg_turn *turn, const struct rbg_role *role, size_t component)
{
	if (role->components[component].service)
		return role->components[component].service;
	return component > 0 && role->is_leader_worker && role->serves_by_leader ? NULL : rbg_service_name(turn, role);
}

/* ---- templates ---- */

static struct tree *apply(struct rbg_turn *turn, struct tree *tree, const struct val *patch)
{
	struct shape shape = shape_of(store_api_find(turn->store, "", "v1", "pods"));
	struct store_error error = {0};
	struct tree *patched = patch ? patch_strategic(turn->arena, tree, patch, &shape, &error) : NULL;
	return patched ? patched : tree;
}

static void copy_texts(struct arena *arena, struct tree *to, const struct val *from)
{
	const char *key;
	const struct val *item;
	for (struct val_iter it = val_iter(from); val_next(&it, &key, &item);)
		tree_put(arena, to, key, tree_of(arena, item));
}

static struct tree *find_named(struct arena *arena, struct tree *list, const char *name)
{
	struct tree *item;
	for (size_t at = 0; (item = tree_walk(arena, list, &at, NULL));)
		if (strcmp(tree_str(tree_get(arena, item, "name"), ""), name) == 0)
			return item;
	return NULL;
}

struct tree *rbg_need_list(struct arena *arena, struct tree *map, const char *key)
{
	struct tree *list = tree_get(arena, map, key);
	if (tree_kind(list) == VAL_LIST)
		return list;
	list = tree_list(arena);
	tree_put(arena, map, key, list);
	return list;
}

/* ---- discovery ---- */

static void put_config_volume(struct rbg_turn *turn, struct tree *spec)
{
	struct arena *arena = turn->arena;
	struct tree *volumes = rbg_need_list(arena, spec, "volumes");
	if (find_named(arena, volumes, CONFIG_VOLUME))
		return;
	struct tree *volume = tree_map(arena), *source = tree_map(arena), *items = tree_list(arena),
		    *item = tree_map(arena);
	tree_put_string(arena, item, "key", CONFIG_FILE);
	tree_put_string(arena, item, "path", CONFIG_FILE);
	tree_append(arena, items, item);
	tree_put_string(arena, source, "name", turn->spec.name);
	tree_put(arena, source, "items", items);
	tree_put_string(arena, volume, "name", CONFIG_VOLUME);
	tree_put(arena, volume, "configMap", source);
	tree_append(arena, volumes, volume);
}

static void mount_config(struct arena *arena, struct tree *container)
{
	struct tree *mounts = rbg_need_list(arena, container, "volumeMounts");
	if (find_named(arena, mounts, CONFIG_VOLUME))
		return;
	struct tree *mount = tree_map(arena);
	tree_put_string(arena, mount, "name", CONFIG_VOLUME);
	tree_put_string(arena, mount, "mountPath", CONFIG_PATH);
	tree_put(arena, mount, "readOnly", tree_bool(arena, true));
	tree_append(arena, mounts, mount);
}

/* Init containers run before anybody could be found. */
static void put_discovery(struct rbg_turn *turn, struct tree *spec)
{
	struct tree *container;
	put_config_volume(turn, spec);
	for (size_t at = 0; (container = tree_walk(turn->arena, tree_get(turn->arena, spec, "containers"), &at, NULL));)
		mount_config(turn->arena, container);
}

/* ---- environment ---- */

struct variable {
	const char *name, *value, *label; /* a value, or the label that has it */
};

static struct tree *make_variable(struct arena *arena, const struct variable *variable)
{
	struct tree *item = tree_map(arena);
	tree_put_string(arena, item, "name", variable->name);
	if (variable->value) {
		tree_put_string(arena, item, "value", variable->value);
		return item;
	}
	struct tree *from = tree_map(arena), *field = tree_map(arena);
	tree_put_string(arena, field, "fieldPath", arena_printf(arena, "metadata.labels['%s']", variable->label));
	tree_put(arena, from, "fieldRef", field);
	tree_put(arena, item, "valueFrom", from);
	return item;
}

static bool is_ours(const struct variable *variables, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(variables[i].name, name) == 0)
			return true;
	return false;
}

/* Ours first, so that those of the template can refer to them. Of several with one name the last counts. */
static void put_variables(struct arena *arena, struct tree *container, const struct variable *variables, size_t count)
{
	struct tree *list = tree_list(arena), *own = tree_get(arena, container, "env"), *item;
	size_t own_count = tree_count(own);
	for (size_t i = 0; i < count; i++)
		tree_append(arena, list, make_variable(arena, &variables[i]));
	for (size_t i = 0; i < own_count; i++) {
		item = tree_item(arena, own, i);
		const char *name = tree_str(tree_get(arena, item, "name"), "");
		bool is_last = true;
		for (size_t k = i + 1; k < own_count && is_last; k++)
			is_last = strcmp(tree_str(tree_get(arena, tree_item(arena, own, k), "name"), ""), name) != 0;
		if (is_last && !is_ours(variables, count, name))
			tree_append(arena, list, item);
	}
	tree_put(arena, container, "env", list);
}

static void put_environment(struct rbg_turn *turn, const struct rbg_role *role, struct tree *spec)
{
	struct arena *arena = turn->arena;
	const char *leader = arena_printf(arena, "$(RBG_ROLE_INSTANCE_NAME)-0.%s.%s", rbg_service_name(turn, role),
	                                  turn->object->namespace_);
	struct variable variables[9];
	size_t count = 0;
	struct tree *container;
	variables[count++] = (struct variable){"RBG_COMPONENT_INDEX", NULL, RBG_LABEL_COMPONENT_ID};
	variables[count++] = (struct variable){"RBG_COMPONENT_NAME", NULL, RBG_LABEL_COMPONENT};
	variables[count++] = (struct variable){"RBG_GROUP_NAME", turn->spec.name, NULL};
	variables[count++] = (struct variable){"RBG_ROLE_INDEX", NULL, naming_key(NAMING_V1ALPHA2, NAMING_INDEX)};
	variables[count++] = (struct variable){"RBG_ROLE_INSTANCE_NAME", NULL, RBG_LABEL_INSTANCE};
	variables[count++] = (struct variable){"RBG_ROLE_NAME", role->name, NULL};
	if (role->is_leader_worker) {
		variables[count++] = (struct variable){"RBG_LWP_LEADER_ADDRESS", leader, NULL};
		variables[count++] = (struct variable){"RBG_LWP_WORKER_INDEX", NULL, RBG_LABEL_POD_INDEX};
		variables[count++] = (struct variable){"RBG_LWP_GROUP_SIZE", NULL, RBG_LABEL_COMPONENT_SIZE};
	}
	for (size_t at = 0; (container = tree_walk(arena, tree_get(arena, spec, "containers"), &at, NULL));)
		put_variables(arena, container, variables, count);
}

/* ---- domains of one group ---- */

static void put_match(struct arena *arena, struct tree *term, const char *operator, const char * value)
{
	struct tree *match = tree_map(arena), *values = tree_list(arena);
	tree_put_string(arena, match, "key", RBG_LABEL_UNIQUE);
	tree_put_string(arena, match, "operator", operator);
	if (value) {
		tree_append(arena, values, tree_string(arena, value));
		tree_put(arena, match, "values", values);
	}
	tree_append(arena, tree_path(arena, term, "labelSelector", "matchExpressions", NULL), match);
}

static void require_term(struct arena *arena, struct tree *spec, const char *kind, struct tree *term)
{
	struct tree *terms = tree_need_map(arena, tree_need_map(arena, spec, "affinity"), kind);
	tree_append(arena, rbg_need_list(arena, terms, "requiredDuringSchedulingIgnoredDuringExecution"), term);
}

const char *rbg_exclusive_key(const struct rbg_turn *turn, const struct rbg_role *role, const struct val *template)
{
	static const char *const wishes[] = {RBG_LABEL "group-exclusive-topology",
	                                     "rolebasedgroup.workloads.x-k8s.io/exclusive-topology"};
	static const char *const exceptions[] = {RBG_LABEL "role-disable-exclusive",
	                                         "rolebasedgroup.workloads.x-k8s.io/disable-exclusive-topology"};
	const struct val *annotations = val_path(turn->object->root, "metadata", "annotations", NULL);
	const struct val *own = val_path(template, "metadata", "annotations", NULL);
	const char *key = "";
	for (int i = 0; i < 2; i++) {
		if (*val_str(val_get(role->annotations, exceptions[i]), "") ||
		    *val_str(val_get(own, exceptions[i]), ""))
			return NULL;
		key = *key ? key : val_str(val_get(annotations, wishes[i]), "");
	}
	return *key ? key : NULL;
}

/* A group that asks for it has domains of the key to itself: its pods share one, and pods of other groups stay away. */
static void put_exclusive(struct rbg_turn *turn, const char *key, struct tree *template, struct tree *spec)
{
	struct arena *arena = turn->arena;
	const char *group = rbg_group_hash(turn);
	struct tree *together = rbg_make_term(arena, key), *apart = rbg_make_term(arena, key);
	put_match(arena, together, "In", group);
	require_term(arena, spec, "podAffinity", together);
	put_match(arena, apart, "Exists", NULL);
	put_match(arena, apart, "NotIn", group);
	require_term(arena, spec, "podAntiAffinity", apart);
	struct tree *metadata = tree_need_map(arena, template, "metadata");
	tree_put_string(arena, tree_need_map(arena, metadata, "annotations"), RBG_LABEL "group-exclusive-topology",
	                key);
}

/* ---- components ---- */

static void put_labels(struct rbg_turn *turn, const struct rbg_role *role, size_t number, struct tree *template)
{
	struct arena *arena = turn->arena;
	const struct rbg_component *component = &role->components[number];
	struct tree *metadata = tree_need_map(arena, template, "metadata");
	struct tree *labels = tree_need_map(arena, metadata, "labels");
	if (component->annotations)
		copy_texts(arena, tree_need_map(arena, metadata, "annotations"), component->annotations);
	copy_texts(arena, labels, component->labels);
	tree_put_string(arena, labels, naming_key(NAMING_V1ALPHA2, NAMING_GROUP), turn->spec.name);
	tree_put_string(arena, labels, naming_key(NAMING_V1ALPHA2, NAMING_ROLE), role->name);
	tree_put_string(arena, labels, RBG_LABEL "group-uid", rbg_group_hash(turn));
	if (role->is_leader_worker)
		tree_put_string(arena, labels, RBG_LABEL_COMPONENT, rbg_part_name(role, number));
	int64_t size = role->is_leader_worker ? role->pods : component->name[0] ? component->size : 1;
	tree_put_string(arena, labels, RBG_LABEL_COMPONENT_SIZE, arena_printf(arena, "%lld", (long long)size));
}

static struct tree *make_template(struct rbg_turn *turn, const struct rbg_role *role, size_t number,
                                  const struct val *runtimes)
{
	const struct rbg_component *component = &role->components[number];
	struct tree *template = tree_of(turn->arena, component->template);
	const struct val *patch;
	for (int i = 0; i < 2; i++)
		template = apply(turn, template, component->patches[i]);
	/* Sidecars speak for an instance: the leader has them. */
	for (struct val_iter it = val_iter(number > 0 && role->is_leader_worker ? NULL : runtimes);
	     val_next(&it, NULL, &patch);)
		template = apply(turn, template, patch);
	struct tree *spec = tree_need_map(turn->arena, template, "spec");
	const char *key = rbg_exclusive_key(turn, role, component->template);
	put_discovery(turn, spec);
	put_environment(turn, role, spec);
	if (key)
		put_exclusive(turn, key, template, spec);
	put_labels(turn, role, number, template);
	return template;
}

static struct tree *make_part(struct rbg_turn *turn, const struct rbg_role *role, size_t number,
                              const struct val *runtimes)
{
	const struct rbg_component *component = &role->components[number];
	struct arena *arena = turn->arena;
	struct tree *part = tree_map(arena);
	const char *service = rbg_part_service(turn, role, number);
	tree_put_string(arena, part, "name", rbg_part_name(role, number));
	tree_put(arena, part, "size", tree_int(arena, component->size));
	if (service)
		tree_put_string(arena, part, "serviceName", service);
	if (component->labels)
		tree_put(arena, part, "labels", tree_of(arena, component->labels));
	if (component->annotations)
		tree_put(arena, part, "annotations", tree_of(arena, component->annotations));
	tree_put(arena, part, "template", make_template(turn, role, number, runtimes));
	return part;
}

static struct doc *make_parts(struct rbg_turn *turn, const struct rbg_role *role)
{
	struct arena *arena = turn->arena;
	struct tree *spec = tree_map(arena), *list = tree_list(arena), *restart = tree_map(arena);
	struct doc *runtimes = rbg_runtime_patches(turn, role);
	for (size_t i = 0; i < role->component_count; i++)
		tree_append(arena, list, make_part(turn, role, i, runtimes ? doc_root(runtimes) : NULL));
	tree_put_string(arena, restart, "type",
	                role->recreates_group ? "RecreateRBGOnPodRestart"
	                : role->recreates     ? "RecreateRoleInstanceOnPodRestart"
	                                      : "None");
	tree_put(arena, restart, "baseDelaySeconds", tree_int(arena, role->base_delay));
	tree_put(arena, restart, "maxDelaySeconds", tree_int(arena, role->max_delay));
	tree_put(arena, spec, "restartPolicyConfig", restart);
	tree_put(arena, spec, "components", list);
	struct doc *doc = tree_finish(spec);
	doc_destroy(runtimes);
	return doc;
}

const struct val *rbg_instance_parts(struct rbg_turn *turn, struct rbg_role_state *role, const struct rbg_role *as)
{
	struct rbg_parts *parts = role->parts;
	while (parts && parts->as != as)
		parts = parts->next;
	if (!parts) {
		parts = arena_new(turn->arena, struct rbg_parts);
		*parts = (struct rbg_parts){role->parts, as, make_parts(turn, as)};
		role->parts = parts;
	}
	return parts->doc ? doc_root(parts->doc) : NULL;
}

void rbg_forget_parts(struct rbg_turn *turn)
{
	for (size_t r = 0; r < turn->spec.role_count; r++)
		for (struct rbg_parts *parts = turn->roles[r].parts; parts; parts = parts->next)
			doc_destroy(parts->doc);
}
