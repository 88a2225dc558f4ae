/* Which nodes a pod may run on: node selector, node affinity, tolerations, host ports. */
#include "admit/rules.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};

/* The operating system that the nodes of the pod must not have, NULL when it does not say. Kubelets refuse such pods; a
 * node without the label may have any. */
static const char *other_system(const struct decode *decode, const struct val *spec)
{
	static const char *const names[] = {"linux", "windows"};
	const struct decode_path *path = PATH_KEY(spec_path, "os");
	const char *name = decode_string(decode, path, decode_map(decode, spec_path, spec, "os"), "name");
	int choice = name ? decode_enum(decode, PATH_KEY(path, "name"), name, names, 2) : -1;
	return choice < 0 ? NULL : names[1 - choice];
}

static void read_node_selector(const struct decode *decode, const struct val *spec, struct pod_rules *out)
{
	struct labels labels = decode_labels(decode, spec_path, spec, "nodeSelector");
	const char *other = other_system(decode, spec);
	const char **values = arena_array(decode->arena, const char *, labels.count + 1);
	out->node_selector.items = arena_array(decode->arena, struct match, labels.count + 1);
	out->node_selector.count = labels.count;
	for (size_t i = 0; i < labels.count; i++) {
		values[i] = labels.items[i].value;
		out->node_selector.items[i] = (struct match){.key = labels.items[i].key,
		                                             .op = MATCH_IN,
		                                             .values = &values[i],
		                                             .value_count = 1};
	}
	if (!other)
		return;
	values[labels.count] = other;
	out->node_selector.items[out->node_selector.count++] = (struct match){.key = "kubernetes.io/os",
	                                                                      .op = MATCH_NOT_IN,
	                                                                      .values = &values[labels.count],
	                                                                      .value_count = 1};
}

static void read_preferred(const struct decode *decode, const struct decode_path *up, const struct val *affinity,
                           struct pod_rules *out)
{
	static const char key[] = "preferredDuringSchedulingIgnoredDuringExecution";
	const struct val *list = decode_list(decode, up, affinity, key), *item;
	out->preferred_nodes = arena_array(decode->arena, struct node_term, val_count(list));
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(up, key), index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		struct node_term *term = &out->preferred_nodes[out->preferred_node_count];
		int64_t weight = 0;
		if (!val_get(item, "weight"))
			decode_error(decode, PATH_KEY(path, "weight"), "write 1 to 100", "a preference needs a weight");
		decode_int(decode, path, item, "weight", 1, 100, &weight);
		term->weight = (int32_t)weight;
		const struct val *preference = decode_map(decode, path, item, "preference");
		/* An empty preference matches no node, so it prefers none. */
		if (rules_node_selector(decode, PATH_KEY(path, "preference"), preference, &term->selector))
			out->preferred_node_count++;
	}
}

static void read_node_affinity(const struct decode *decode, const struct val *spec, struct pod_rules *out)
{
	static const char required_key[] = "requiredDuringSchedulingIgnoredDuringExecution";
	const struct decode_path *affinity_path = PATH_KEY(spec_path, "affinity");
	const struct decode_path *path = PATH_KEY(affinity_path, "nodeAffinity");
	const struct val *affinity = val_get(spec, "affinity"); /* its type is checked with the pod affinity */
	const struct val *node = decode_map(decode, affinity_path, affinity, "nodeAffinity");
	const struct val *required = decode_map(decode, path, node, required_key);
	if (required) {
		out->has_node_terms = true;
		out->node_terms =
			rules_node_terms(decode, PATH_KEY(path, required_key), required, &out->node_term_count);
	}
	read_preferred(decode, path, node, out);
}

static bool read_toleration(const struct decode *decode, const struct decode_path *path, const struct val *map,
                            struct toleration *out)
{
	static const char *const names[] = {"Equal", "Exists", "Gt", "Lt"};
	size_t errors = decode->problems->errors;
	const char *operator_ = decode_string(decode, path, map, "operator");
	const char *effect = decode_string(decode, path, map, "effect");
	out->key = decode_string(decode, path, map, "key");
	out->value = decode_string(decode, path, map, "value");
	int choice = operator_ ? decode_enum(decode, PATH_KEY(path, "operator"), operator_, names, 4) : 0;
	out->exists = choice == 1;
	out->compares = choice == 2 ? 1 : choice == 3 ? -1 : 0;
	out->any_effect = !effect;
	if (effect) {
		int number = rules_effect(decode, PATH_KEY(path, "effect"), effect);
		if (number >= 0)
			out->effect = (enum taint_effect)number;
	}
	bool known = decode->problems->errors == errors;
	if (known && !out->key && !out->exists)
		decode_error(decode, PATH_KEY(path, "operator"), "write operator: Exists to tolerate every taint",
		             "a toleration without a key needs operator Exists");
	if (known && out->exists && out->value)
		decode_error(decode, PATH_KEY(path, "value"), "remove value, or write operator: Equal",
		             "operator Exists takes no value");
	if (!out->value)
		out->value = "";
	return decode->problems->errors == errors;
}

struct toleration *rules_tolerations(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                     size_t *count)
{
	const struct val *list = decode_list(decode, up, map, "tolerations"), *item;
	struct toleration *out = arena_array(decode->arena, struct toleration, val_count(list));
	const char *unused;
	size_t index = 0;
	*count = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(up, "tolerations"), index);
		if (decode_is(decode, path, item, VAL_MAP) && read_toleration(decode, path, item, &out[*count]))
			(*count)++;
	}
	return out;
}

void rules_read_nodes(const struct decode *decode, const struct val *spec, struct pod_rules *out)
{
	read_node_selector(decode, spec, out);
	read_node_affinity(decode, spec, out);
	out->tolerations = rules_tolerations(decode, spec_path, spec, &out->toleration_count);
}

static void read_port(const struct decode *decode, const struct decode_path *path, const struct val *map,
                      bool host_network, struct pod_rules *out)
{
	static const char *const protocols[] = {"TCP", "UDP", "SCTP"};
	int64_t host = 0, container = 0;
	decode_int(decode, path, map, "hostPort", 0, 65535, &host);
	decode_int(decode, path, map, "containerPort", 1, 65535, &container);
	const char *protocol = decode_string(decode, path, map, "protocol");
	const char *ip = decode_string(decode, path, map, "hostIP");
	if (!protocol)
		protocol = "TCP";
	else if (decode_enum(decode, PATH_KEY(path, "protocol"), protocol, protocols, 3) < 0)
		return;
	if (host == 0 && host_network)
		host = container;
	if (host > 0)
		out->ports[out->port_count++] =
			(struct host_port){.ip = ip ? ip : "", .protocol = protocol, .port = (int32_t)host};
}

/* Only containers that run for the life of the pod hold a port: plain ones and sidecars. */
static bool holds_ports(const struct val *container, bool init)
{
	return !init || strcmp(val_str(val_get(container, "restartPolicy"), ""), "Always") == 0;
}

void rules_read_ports(const struct decode *decode, const struct val *spec, struct pod_rules *out)
{
	static const char *const lists[] = {"containers", "initContainers"};
	bool host_network = decode_bool(decode, spec_path, spec, "hostNetwork", false);
	const struct val *container, *port;
	const char *unused;
	size_t total = 0;
	for (int init = 0; init < 2; init++)
		for (struct val_iter it = val_iter(val_get(spec, lists[init])); val_next(&it, &unused, &container);)
			total += val_count(val_get(container, "ports"));
	out->ports = arena_array(decode->arena, struct host_port, total);
	for (int init = 0; init < 2; init++) {
		/* the lists themselves are checked where requests are read */
		const struct val *list = val_get(spec, lists[init]);
		size_t index = 0;
		for (struct val_iter it = val_iter(list); val_next(&it, &unused, &container); index++) {
			const struct decode_path *up = PATH_INDEX(PATH_KEY(spec_path, lists[init]), index);
			const struct val *ports = decode_list(decode, up, container, "ports");
			size_t number = 0;
			for (struct val_iter at = val_iter(ports); val_next(&at, &unused, &port); number++) {
				const struct decode_path *path = PATH_INDEX(PATH_KEY(up, "ports"), number);
				if (decode_is(decode, path, port, VAL_MAP) && holds_ports(container, init))
					read_port(decode, path, port, host_network, out);
			}
		}
	}
}
