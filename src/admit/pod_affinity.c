/* What a pod asks about other pods: inter-pod affinity and anti-affinity, topology spread. */
#include "admit/rules.h"

#include <string.h>

static const struct decode_path *const spec_path = &(const struct decode_path){.key = "spec"};
static const char required_key[] = "requiredDuringSchedulingIgnoredDuringExecution";
static const char preferred_key[] = "preferredDuringSchedulingIgnoredDuringExecution";

/* Adds `key op [the pod's own value]` for each listed key the pod has; keys it lacks are ignored, as in Kubernetes. */
static void fold_keys(const struct decode *decode, const struct decode_path *path, const struct val *map,
                      const char *field, enum match_op op, const struct labels *own, struct selector *selector)
{
	size_t count;
	const char **keys = decode_strings(decode, path, map, field, &count);
	if (count == 0)
		return;
	struct match *items = arena_array(decode->arena, struct match, selector->count + count);
	if (selector->count)
		memcpy(items, selector->items, selector->count * sizeof(*items));
	selector->items = items;
	for (size_t i = 0; i < count; i++) {
		const char *value = labels_get(own, keys[i]);
		if (!value)
			continue;
		const char **values = arena_new(decode->arena, const char *);
		*values = value;
		items[selector->count++] = (struct match){.key = keys[i], .op = op, .values = values, .value_count = 1};
	}
}

static const char *read_topology_key(const struct decode *decode, const struct decode_path *path, const struct val *map)
{
	const char *key = decode_string(decode, path, map, "topologyKey");
	if (!key)
		decode_error(decode, PATH_KEY(path, "topologyKey"), "name a node label such as kubernetes.io/hostname",
		             "topologyKey is missing");
	else if (!name_is_label_key(key))
		decode_error(decode, PATH_KEY(path, "topologyKey"), decode_label_key_fix, "%s is not a valid label key",
		             decode_show(decode->problems->arena, key));
	return key ? key : "";
}

/* Every namespace has its name as a label, so that a selector by that label is a list. False for any other selector. */
static bool add_namespaces(const struct decode *decode, const struct selector *selector, struct pod_term *out)
{
	const struct match *match = &selector->items[0];
	if (selector->count != 1 || match->op != MATCH_IN || strcmp(match->key, "kubernetes.io/metadata.name") != 0)
		return false;
	size_t count = out->namespace_count + match->value_count;
	const char **names = arena_array(decode->arena, const char *, count);
	if (out->namespace_count)
		memcpy(names, out->namespaces, out->namespace_count * sizeof(*names));
	for (size_t i = 0; i < match->value_count; i++)
		names[out->namespace_count + i] = match->values[i];
	out->namespaces = names;
	out->namespace_count = count;
	return true;
}

static void read_namespaces(const struct decode *decode, const struct decode_path *path, const struct val *map,
                            struct pod_term *out)
{
	out->namespaces = decode_strings(decode, path, map, "namespaces", &out->namespace_count);
	const struct val *selector = decode_map(decode, path, map, "namespaceSelector");
	if (!selector)
		return;
	struct selector parsed;
	const struct decode_path *here = PATH_KEY(path, "namespaceSelector");
	rules_label_selector(decode, here, selector, &parsed);
	if (parsed.count > 0 && add_namespaces(decode, &parsed, out))
		return;
	out->all_namespaces = true;
	/* Labels of namespaces are not known here; all of them is the reading that cannot miss a pod. A pod whose required
	 * terms have such a selector is blocked (pod_table.c). */
	if (parsed.count > 0)
		decode_warning(decode, here, "list namespaces by name",
		               "namespaces can be selected by kubernetes.io/metadata.name only; all are taken");
}

static void read_term(const struct decode *decode, const struct decode_path *path, const struct val *map,
                      const struct labels *own, struct pod_term *out)
{
	*out = (struct pod_term){.topology_key = read_topology_key(decode, path, map)};
	out->selects_nothing = !rules_label_selector(decode, PATH_KEY(path, "labelSelector"),
	                                             decode_map(decode, path, map, "labelSelector"), &out->selector);
	fold_keys(decode, path, map, "matchLabelKeys", MATCH_IN, own, &out->selector);
	fold_keys(decode, path, map, "mismatchLabelKeys", MATCH_NOT_IN, own, &out->selector);
	read_namespaces(decode, path, map, out);
}

static struct pod_term *read_required(const struct decode *decode, const struct decode_path *up,
                                      const struct val *affinity, const struct labels *own, size_t *count)
{
	const struct val *list = decode_list(decode, up, affinity, required_key), *item;
	struct pod_term *terms = arena_array(decode->arena, struct pod_term, val_count(list));
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(up, required_key), index);
		if (decode_is(decode, path, item, VAL_MAP))
			read_term(decode, path, item, own, &terms[(*count)++]);
	}
	return terms;
}

static struct pod_term *read_preferred(const struct decode *decode, const struct decode_path *up,
                                       const struct val *affinity, const struct labels *own, size_t *count)
{
	const struct val *list = decode_list(decode, up, affinity, preferred_key), *item;
	struct pod_term *terms = arena_array(decode->arena, struct pod_term, val_count(list));
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(up, preferred_key), index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		const struct decode_path *term_path = PATH_KEY(path, "podAffinityTerm");
		const struct val *term = val_get(item, "podAffinityTerm");
		int64_t weight = 0;
		if (!val_get(item, "weight"))
			decode_error(decode, PATH_KEY(path, "weight"), "write 1 to 100", "a preference needs a weight");
		decode_int(decode, path, item, "weight", 1, 100, &weight);
		if (!decode_is(decode, term_path, term, VAL_MAP))
			continue;
		read_term(decode, term_path, term, own, &terms[*count]);
		terms[(*count)++].weight = (int32_t)weight;
	}
	return terms;
}

/* An unset selector counts no pod at all, which a requirement without allowed values says. */
static void select_nothing(const struct decode *decode, struct selector *selector)
{
	*selector = (struct selector){.items = arena_new(decode->arena, struct match), .count = 1};
	selector->items[0] = (struct match){.key = "", .op = MATCH_IN};
}

static bool read_policy(const struct decode *decode, const struct decode_path *path, const struct val *map,
                        const char *field, bool honor)
{
	static const char *const names[] = {"Ignore", "Honor"};
	const char *text = decode_string(decode, path, map, field);
	if (!text)
		return honor;
	return decode_enum(decode, PATH_KEY(path, field), text, names, 2) == 1;
}

static void read_spread_numbers(const struct decode *decode, const struct decode_path *path, const struct val *map,
                                struct spread_term *out)
{
	int64_t skew = 1, domains = 0;
	if (!val_get(map, "maxSkew"))
		decode_error(decode, PATH_KEY(path, "maxSkew"), "write 1 or more", "maxSkew is missing");
	decode_int(decode, path, map, "maxSkew", 1, INT32_MAX, &skew);
	decode_int(decode, path, map, "minDomains", 1, INT32_MAX, &domains);
	out->max_skew = (int32_t)skew;
	out->min_domains = (int32_t)domains;
	if (domains > 0 && !out->required)
		decode_error(decode, PATH_KEY(path, "minDomains"), "remove minDomains, or write DoNotSchedule",
		             "minDomains needs whenUnsatisfiable: DoNotSchedule");
}

static void read_spread(const struct decode *decode, const struct decode_path *path, const struct val *map,
                        const struct labels *own, struct spread_term *out)
{
	static const char *const names[] = {"DoNotSchedule", "ScheduleAnyway"};
	const struct decode_path *when_path = PATH_KEY(path, "whenUnsatisfiable");
	const char *when = decode_string(decode, path, map, "whenUnsatisfiable");
	*out = (struct spread_term){.topology_key = read_topology_key(decode, path, map)};
	if (!when)
		decode_error(decode, when_path, "write DoNotSchedule or ScheduleAnyway",
		             "whenUnsatisfiable is missing");
	out->required = !when || decode_enum(decode, when_path, when, names, 2) == 0;
	read_spread_numbers(decode, path, map, out);
	out->ignore_node_affinity = !read_policy(decode, path, map, "nodeAffinityPolicy", true);
	out->honor_taints = read_policy(decode, path, map, "nodeTaintsPolicy", false);
	if (!rules_label_selector(decode, PATH_KEY(path, "labelSelector"),
	                          decode_map(decode, path, map, "labelSelector"), &out->selector))
		select_nothing(decode, &out->selector);
	fold_keys(decode, path, map, "matchLabelKeys", MATCH_IN, own, &out->selector);
}

void rules_read_pods(const struct decode *decode, const struct val *spec, const struct labels *own,
                     struct pod_rules *out)
{
	const struct decode_path *up = PATH_KEY(spec_path, "affinity");
	const struct val *affinity = decode_map(decode, spec_path, spec, "affinity"), *item;
	const struct val *attract = decode_map(decode, up, affinity, "podAffinity");
	const struct val *repel = decode_map(decode, up, affinity, "podAntiAffinity");
	const struct decode_path *attract_path = PATH_KEY(up, "podAffinity");
	const struct decode_path *repel_path = PATH_KEY(up, "podAntiAffinity");
	out->affinity = read_required(decode, attract_path, attract, own, &out->affinity_count);
	out->preferred_affinity = read_preferred(decode, attract_path, attract, own, &out->preferred_affinity_count);
	out->anti_affinity = read_required(decode, repel_path, repel, own, &out->anti_affinity_count);
	out->preferred_anti_affinity =
		read_preferred(decode, repel_path, repel, own, &out->preferred_anti_affinity_count);
	const struct val *list = decode_list(decode, spec_path, spec, "topologySpreadConstraints");
	out->spread = arena_array(decode->arena, struct spread_term, val_count(list));
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(PATH_KEY(spec_path, "topologySpreadConstraints"), index);
		if (decode_is(decode, path, item, VAL_MAP))
			read_spread(decode, path, item, own, &out->spread[out->spread_count++]);
	}
}
