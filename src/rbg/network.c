/* Owns how the pods of a group find each other: a headless service per role and the discovery file in a ConfigMap. */
#include "rbg/render.h"

#include "base/hash.h"

#include <ctype.h>
#include <string.h>

static const char *const spec_field[] = {"spec", NULL};
static const char *const data_field[] = {"data", NULL};

static bool write_service(struct rbg_turn *turn, const struct rbg_role *role)
{
	struct build *build = build_create();
	const char *name = rbg_service_name(turn, role);
	const struct store_object *set = rbg_peek(turn, RBG_GROUP, "roleinstancesets", rbg_set_name(turn, role));
	struct node *root = rbg_object(turn, build, "v1", "Service", name), *spec = build_map(build),
		    *selector = build_map(build), *ports = build_list(build), *metadata = build_map(build),
		    *labels = build_map(build);
	const struct val *port;
	if (!set) {
		build_destroy(build);
		rbg_look_again(turn, 1);
		return false;
	}
	rbg_put_common_labels(turn, build, labels, role);
	build_put_string(build, metadata, "name", name);
	build_put_string(build, metadata, "namespace", turn->object->namespace_);
	build_put(build, metadata, "labels", labels);
	rbg_put_owner(build, metadata, set, false);
	build_put(build, root, "metadata", metadata);
	build_put_string(build, spec, "clusterIP", "None");
	build_put_bool(build, spec, "publishNotReadyAddresses", true);
	build_put_string(build, spec, "type", "ClusterIP");
	build_put_string(build, spec, "sessionAffinity", "None");
	build_put_string(build, selector, naming_key(NAMING_V1ALPHA2, NAMING_GROUP), turn->spec.name);
	build_put_string(build, selector, naming_key(NAMING_V1ALPHA2, NAMING_ROLE), role->name);
	if (role->serves_by_leader)
		build_put_string(build, selector, RBG_LABEL_COMPONENT, rbg_part_name(role, 0));
	build_put(build, spec, "selector", selector);
	for (struct val_iter it = val_iter(role->service_ports); val_next(&it, NULL, &port);) {
		struct node *item = build_copy(build, port);
		if (!val_get(port, "protocol"))
			build_put_string(build, item, "protocol", "TCP");
		build_append(build, ports, item);
	}
	build_put(build, spec, "ports", ports); /* also without any: some may have been there before */
	build_put(build, root, "spec", spec);
	rbg_ensure(turn, build, "", "services", name, root, spec_field);
	build_destroy(build);
	return true;
}

/* Names of ports become keys that templates can refer to: lower case, no dashes. */
static const char *port_key(struct rbg_turn *turn, const struct val *port)
{
	int64_t number = 0;
	const char *name = val_str(val_get(port, "name"), "");
	val_int(val_get(port, "port"), &number);
	if (!*name)
		return arena_printf(turn->arena, "port%lld", (long long)number);
	char *key = arena_strdup(turn->arena, name);
	for (char *at = key; *at; at++)
		*at = (char)(*at == '-' ? '_' : tolower((unsigned char)*at));
	return key;
}

static struct node *describe_role(struct rbg_turn *turn, struct build *build, const struct rbg_role_state *role)
{
	struct node *node = build_map(build), *instances = build_list(build);
	const struct val *port;
	for (int64_t ordinal = 0; ordinal < role->desired; ordinal++) {
		struct node *instance = build_map(build), *ports = build_map(build);
		/* The first pod of an instance speaks for it: it is the leader. */
		const char *service = role->spec->components[0].service;
		build_put_string(build, instance, "address",
		                 arena_printf(turn->arena, "%s.%s", rbg_pod_name(turn, role->spec, ordinal, 0),
		                              service ? service : rbg_service_name(turn, role->spec)));
		for (struct val_iter it = val_iter(role->spec->service_ports); val_next(&it, NULL, &port);) {
			int64_t number = 0;
			val_int(val_get(port, "port"), &number);
			build_put_int(build, ports, port_key(turn, port), number);
		}
		if (val_count(role->spec->service_ports) > 0)
			build_put(build, instance, "ports", ports);
		build_append(build, instances, instance);
	}
	build_put(build, node, "instances", instances);
	build_put_int(build, node, "size", role->desired);
	return node;
}

static void write_config(struct rbg_turn *turn)
{
	struct build *build = build_create();
	struct node *config = build_map(build), *group = build_map(build), *names = build_list(build),
		    *roles = build_map(build);
	build_put_string(build, group, "name", turn->spec.name);
	for (size_t r = 0; r < turn->spec.role_count; r++) {
		build_append(build, names, build_string(build, turn->spec.roles[r].name));
		build_put(build, roles, turn->spec.roles[r].name, describe_role(turn, build, &turn->roles[r]));
	}
	build_put(build, group, "roles", names);
	build_put_int(build, group, "size", (int64_t)turn->spec.role_count);
	build_put(build, config, "group", group);
	build_put(build, config, "roles", roles);
	struct buffer text = {0};
	build_write(build, config, DOC_YAML, &text);
	struct node *root = rbg_object(turn, build, "v1", "ConfigMap", turn->spec.name), *data = build_map(build);
	build_put_string(build, data, "config.yaml", text.text);
	build_put(build, root, "data", data);
	rbg_ensure(turn, build, "", "configmaps", turn->spec.name, root, data_field);
	buffer_free(&text);
	build_destroy(build);
}

/* Services of roles that are no more. */
static void sweep(struct rbg_turn *turn)
{
	const struct store_type *services = store_type_find(turn->store, "", "services");
	const struct store_type *configs = store_type_find(turn->store, "", "configmaps");
	for (size_t i = 0; i < turn->owned.count; i++) {
		const struct store_object *object = turn->owned.items[i];
		turn->is_seen[i] |= object->type == configs;
		for (size_t r = 0; object->type == services && r < turn->spec.role_count; r++)
			turn->is_seen[i] |= strcmp(object->name, rbg_service_name(turn, &turn->spec.roles[r])) == 0;
	}
}

/* All that services and the file are made from. */
static uint64_t make_key(const struct rbg_turn *turn)
{
	int64_t generation = 0;
	val_int(val_path(turn->object->root, "metadata", "generation", NULL), &generation);
	uint64_t key = hash_mix(rbg_memo_hash(turn->object->uid), (uint64_t)generation);
	for (size_t r = 0; r < turn->spec.role_count; r++)
		key = hash_mix(key, (uint64_t)turn->roles[r].desired);
	return key;
}

void rbg_write_network(struct rbg_turn *turn)
{
	uint64_t key = make_key(turn);
	if (!rbg_memo_is_wired(turn, key)) {
		bool done = true;
		for (size_t r = 0; r < turn->spec.role_count; r++)
			done &= write_service(turn, &turn->spec.roles[r]);
		write_config(turn);
		if (done && !turn->failed)
			rbg_memo_set_wired(turn, key);
	}
	sweep(turn);
}
