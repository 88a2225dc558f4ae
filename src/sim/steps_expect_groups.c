/* Owns what steps expect of groups and pods, computed from the objects. */
#include "sim/steps_expect.h"

#include "sim/invariants_view.h"

#include <string.h>

static void expect_number(const struct val *want, const char *where, const char *what, int64_t got,
                          struct scenario_result *result)
{
	int64_t number;
	if (val_int(want, &number) < 0 || number < 0)
		scenario_fail(result, "%s: %s must be a whole number", where, what);
	else if (got >= 0 && number != got)
		scenario_fail(result, "%s: expected %s %lld, got %lld", where, what, (long long)number, (long long)got);
}

/* ---- domains ---- */

static const struct topology_spec *find_level(const struct view *view, const char *label, int *level)
{
	for (size_t i = 0; i < view->topology_count; i++) {
		*level = topology_level(&view->topologies[i], label);
		if (*level >= 0)
			return &view->topologies[i];
	}
	return NULL;
}

static int64_t count_domains(const struct view *view, int group, int node, const char *label, const char *where,
                             struct scenario_result *result)
{
	int level = -1;
	const struct topology_spec *topology = find_level(view, label, &level);
	if (!topology) {
		scenario_fail(result, "%s: domains: %s is not a level of any Topology", where, label);
		return -1;
	}
	struct interner *seen = interner_create();
	for (size_t p = 0; p < view->pod_count; p++) {
		const struct view_pod *pod = &view->pods[p];
		if (pod->group != group || pod->leaf < 0 || !pod->alive || pod->node < 0 ||
		    !view_is_below(&view->groups[group].spec, pod->leaf, node))
			continue;
		const char *domain = view_domain(view, topology, level, pod->node, result->arena);
		if (domain)
			interner_id(seen, domain);
		else
			scenario_fail(result, "%s: pod %s is on node %s, which is in no domain of %s", where,
			              pod->spec->name, pod->spec->node, label);
	}
	int64_t count = interner_count(seen);
	interner_destroy(seen);
	return count;
}

static void expect_domains(const struct view *view, int group, int node, const struct val *domains, const char *where,
                           struct scenario_result *result)
{
	const char *label;
	const struct val *item;
	if (domains && val_kind(domains) != VAL_MAP)
		scenario_fail(result, "%s: domains must be a map from level to number", where);
	else
		for (struct val_iter it = val_iter(domains); val_next(&it, &label, &item);)
			expect_number(item, where, arena_printf(result->arena, "domains of %s", label),
			              view ? count_domains(view, group, node, label, where, result) : -1, result);
}

/* ---- groups ---- */

static int find_part(const struct view_group *group, const char *name)
{
	for (size_t n = 1; n < group->spec.tree_count; n++)
		if (strcmp(group->spec.tree[n].name, name) == 0)
			return (int)n;
	return -1;
}

/* view NULL: only the form. */
static void expect_parts(const struct view *view, int index, const struct val *want, const char *where,
                         struct scenario_result *result)
{
	static const char *const keys[] = {"placed", "domains", NULL};
	const char *name;
	const struct val *item, *leaves = val_get(want, "leaves"), *parts = val_get(want, "subGroups");
	const struct view_group *group = view ? &view->groups[index] : NULL;
	if ((leaves && val_kind(leaves) != VAL_MAP) || (parts && val_kind(parts) != VAL_MAP)) {
		scenario_fail(result, "%s: leaves and subGroups must be maps by name of a subgroup", where);
		return;
	}
	for (struct val_iter it = val_iter(leaves); val_next(&it, &name, &item);) {
		int part = group ? find_part(group, name) : -1;
		if (group && (part < 0 || group->spec.tree[part].child_count > 0))
			scenario_fail(result, "%s: leaves: there is no leaf %s", where, name);
		else
			expect_number(item, where, arena_printf(result->arena, "pods in leaf %s", name),
			              group ? (int64_t)group->placed[part] : -1, result);
	}
	for (struct val_iter it = val_iter(parts); val_next(&it, &name, &item);) {
		const char *path = arena_printf(result->arena, "%s.subGroups.%s", where, name);
		int part = group ? find_part(group, name) : -1;
		scenario_check_keys(result, item, path, keys);
		if (group && part < 0) {
			scenario_fail(result, "%s: there is no such subgroup", path);
			continue;
		}
		if (val_get(item, "placed"))
			expect_number(val_get(item, "placed"), path, "placed",
			              group ? (int64_t)group->placed[part] : -1, result);
		expect_domains(view, index, part, val_get(item, "domains"), path, result);
	}
}

static const char *condition_text(const struct store_object *object, const char *key)
{
	const struct val *item;
	for (struct val_iter it = val_iter(val_path(object->root, "status", "conditions", NULL));
	     val_next(&it, NULL, &item);)
		if (strcmp(val_str(val_get(item, "type"), ""), "Scheduled") == 0)
			return val_str(val_get(item, key), "");
	return "";
}

static void expect_texts(const struct view_group *group, const struct val *want, const char *where,
                         struct scenario_result *result)
{
	const struct val *phase = val_get(want, "phase"), *reason = val_get(want, "reason");
	const struct val *impossible = val_get(want, "impossible");
	if ((phase && !val_str(phase, NULL)) || (reason && !val_str(reason, NULL)))
		scenario_fail(result, "%s: phase and reason must be texts", where);
	if (impossible && val_kind(impossible) != VAL_BOOL)
		scenario_fail(result, "%s: impossible must be true or false", where);
	if (!group)
		return;
	const char *got = val_str(val_path(group->object->root, "status", "phase", NULL), "");
	const char *code = condition_text(group->object, "reason"), *said = condition_text(group->object, "message");
	if (phase && strcmp(val_str(phase, ""), got) != 0)
		scenario_fail(result, "%s: expected phase %s, got %s", where, val_str(phase, ""), got);
	if (reason && !strstr(said, val_str(reason, "")) && strcmp(val_str(reason, ""), code) != 0)
		scenario_fail(result, "%s: expected reason \"%s\", got %s: %s", where, val_str(reason, ""), code, said);
	bool proved = val_path(group->object->root, "status", "proved", NULL) != NULL;
	if (impossible && val_bool(impossible, false) != proved)
		scenario_fail(result, "%s: expected impossible %s, got phase %s", where,
		              val_bool(impossible, false) ? "true" : "false", got);
}

struct tally {
	int64_t placed, running, pending;
};

static struct tally count_pods(const struct view *view, int group)
{
	struct tally tally = {0};
	for (size_t p = 0; p < view->pod_count; p++) {
		const struct view_pod *pod = &view->pods[p];
		if (pod->group != group || !pod->alive)
			continue;
		tally.placed += pod->bound;
		tally.pending += !pod->bound;
		tally.running += pod->bound && pod->spec->phase == POD_RUNNING;
	}
	return tally;
}

static bool split_name(const char *key, const char **namespace_, const char **name, struct scenario_result *result)
{
	const char *slash = strchr(key, '/');
	*namespace_ = slash ? arena_strndup(result->arena, key, (size_t)(slash - key)) : "";
	*name = slash ? slash + 1 : "";
	return slash;
}

/* "default/train" is the PodGroup of that name, "default/Job/train" the one that belongs to the workload; -1 for none. */
static int find_group(const struct view *view, const char *namespace_, const char *name, struct arena *arena)
{
	const char *slash = strchr(name, '/'), *kind = slash ? arena_strndup(arena, name, (size_t)(slash - name)) : "";
	if (!slash)
		return view_find_group(view, namespace_, name);
	for (size_t g = 0; g < view->group_count; g++) {
		const struct store_object *object = view->groups[g].object;
		const struct val *owner = val_item(val_path(object->root, "metadata", "ownerReferences", NULL), 0);
		if (strcmp(object->namespace_, namespace_) == 0 &&
		    strcmp(val_str(val_get(owner, "kind"), ""), kind) == 0 &&
		    strcmp(val_str(val_get(owner, "name"), ""), slash + 1) == 0)
			return (int)g;
	}
	return -1;
}

static void expect_group(const struct view *view, const char *key, const struct val *want, const char *where,
                         struct scenario_result *result)
{
	static const char *const keys[] = {"placed",    "running", "pending", "leaves",     "domains",
	                                   "subGroups", "phase",   "reason",  "impossible", NULL};
	static const char *const numbers[] = {"placed", "running", "pending"};
	const char *namespace_, *name;
	int index = -1;
	scenario_check_keys(result, want, where, keys);
	if (!split_name(key, &namespace_, &name, result))
		scenario_fail(result, "%s: must be namespace/name", where);
	else if (view && (index = find_group(view, namespace_, name, result->arena)) < 0)
		scenario_fail(result, "%s: there is no such PodGroup", where);
	if (view && index < 0)
		return;
	struct tally tally = view ? count_pods(view, index) : (struct tally){-1, -1, -1};
	int64_t got[] = {tally.placed, tally.running, tally.pending};
	for (int i = 0; i < 3; i++)
		if (val_get(want, numbers[i]))
			expect_number(val_get(want, numbers[i]), where, numbers[i], got[i], result);
	expect_parts(view, index, want, where, result);
	expect_domains(view, index, 0, val_get(want, "domains"), where, result);
	expect_texts(view ? &view->groups[index] : NULL, want, where, result);
}

/* ---- pods ---- */

static const char *state_of(const struct view_pod *pod)
{
	static const char *const phases[] = {"Placed", "Running", "Succeeded", "Failed", "Unknown"};
	if (pod->spec->deleting)
		return "Terminating";
	if (!pod->bound && pod->spec->phase == POD_PENDING)
		return "Pending";
	return phases[pod->spec->phase];
}

static const struct view_pod *find_pod(const struct view *view, const char *namespace_, const char *name)
{
	for (size_t p = 0; p < view->pod_count; p++)
		if (strcmp(view->pods[p].object->namespace_, namespace_) == 0 &&
		    strcmp(view->pods[p].object->name, name) == 0)
			return &view->pods[p];
	return NULL;
}

static void expect_pod(const struct view *view, const char *key, const struct val *want, const char *where,
                       struct scenario_result *result)
{
	static const char *const keys[] = {"state", "node", NULL};
	static const char *const states[] = {"Placed",  "Running",     "Succeeded", "Failed",
	                                     "Pending", "Terminating", "Gone",      NULL};
	const struct val *state = val_get(want, "state"), *node = val_get(want, "node");
	const char *namespace_, *name;
	int known = 0;
	scenario_check_keys(result, want, where, keys);
	if (!split_name(key, &namespace_, &name, result))
		scenario_fail(result, "%s: must be namespace/name", where);
	while (states[known] && strcmp(states[known], val_str(state, "")) != 0)
		known++;
	if (state && !states[known])
		scenario_fail(result,
		              "%s.state: must be Pending, Placed, Running, Succeeded, Failed, Terminating or Gone",
		              where);
	if (node && !val_str(node, NULL))
		scenario_fail(result, "%s.node: must be a text", where);
	if (!view)
		return;
	const struct view_pod *pod = find_pod(view, namespace_, name);
	const char *got = pod ? state_of(pod) : "Gone", *got_node = pod && pod->bound ? pod->spec->node : "none";
	if (state && strcmp(val_str(state, ""), got) != 0)
		scenario_fail(result, "%s: expected state %s, got %s", where, val_str(state, ""), got);
	if (node && strcmp(val_str(node, ""), got_node) != 0)
		scenario_fail(result, "%s: expected node %s, got %s", where, val_str(node, ""), got_node);
}

static void each(const struct view *view, const struct val *map, const char *where,
                 void (*check)(const struct view *view, const char *key, const struct val *want, const char *where,
                               struct scenario_result *result),
                 struct scenario_result *result)
{
	const char *key;
	const struct val *item;
	if (map && val_kind(map) != VAL_MAP)
		scenario_fail(result, "%s: must be a map from namespace/name to expectation", where);
	else
		for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);)
			check(view, key, item, arena_printf(result->arena, "%s.%s", where, key), result);
}

void steps_expect_groups(struct simulation *simulation, const struct val *expect, const char *where,
                         struct scenario_result *result)
{
	const struct val *groups = val_get(expect, "groups"), *pods = val_get(expect, "pods");
	struct view *view = simulation && (groups || pods)
	                            ? view_create(simulation->store, settings_now(simulation->settings))
	                            : NULL;
	each(view, groups, arena_printf(result->arena, "%s.groups", where), expect_group, result);
	each(view, pods, arena_printf(result->arena, "%s.pods", where), expect_pod, result);
	view_destroy(view);
}
