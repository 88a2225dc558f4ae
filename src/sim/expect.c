/* Owns the comparison of expect.groups and expect.pods with the state the cycles left. */
#include "sim/scenario_run.h"

#include <string.h>

/* Wrong types are failures too: a typo in an expectation must not make it vacuous. */
static bool read_count(struct scenario_result *result, const struct val *val, const char *where, int64_t *out)
{
	if (val_int(val, out) == 0 && *out >= 0)
		return true;
	scenario_fail(result, "%s: must be a whole number", where);
	return false;
}

static bool is_placed(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

static void expect_count(struct scenario_result *result, const char *name, const char *what, const struct val *val,
                         int64_t got)
{
	int64_t want;
	if (!val || !read_count(result, val, arena_printf(result->arena, "%s.%s", name, what), &want))
		return;
	if (want != got)
		scenario_fail(result, "%s: expected %s %lld, got %lld", name, what, (long long)want, (long long)got);
}

static bool is_below(const struct gang *gang, int leaf, int node)
{
	for (int at = leaf; at >= 0; at = gang->tree[at].parent)
		if (at == node)
			return true;
	return false;
}

static int find_tree_node(const struct gang *gang, const char *name)
{
	for (size_t n = 1; n < gang->tree_count; n++)
		if (strcmp(gang->tree[n].name, name) == 0)
			return (int)n;
	return -1;
}

/* The topology in which a label is a level, and which level; -1 when there is none. Topologies that the gang itself
 * uses come first. */
static int find_level(const struct cluster *cluster, const struct gang *gang, const char *label, int *level)
{
	int found = -1;
	for (int t = cluster_topology_count(cluster) - 1; t >= 0; t--) {
		bool used = false;
		for (size_t n = 0; n < gang->tree_count; n++)
			used = used || gang->tree[n].required.topology == t || gang->tree[n].preferred.topology == t;
		for (int l = 0; l < cluster_level_count(cluster, t); l++) {
			if (strcmp(cluster_level_label(cluster, t, l), label) != 0)
				continue;
			if (used) {
				*level = l;
				return t;
			}
			found = t;
			*level = l;
		}
	}
	return found;
}

/* Domains at one level that the placed pods below `node` occupy; -1 (with a failure) when it cannot be told. */
static int64_t count_domains(const struct snapshot *snapshot, const struct gang *gang, int node, const char *name,
                             const char *label, struct scenario_result *result)
{
	const struct cluster *cluster = snapshot->cycle.cluster;
	int level = -1, topology = find_level(cluster, gang, label, &level);
	if (topology < 0) {
		scenario_fail(result, "%s: domains: %s is not a level of any Topology", name, label);
		return -1;
	}
	bool *seen = arena_array(result->arena, bool, (size_t)cluster_domain_count(cluster, topology, level));
	int64_t count = 0;
	for (size_t i = 0; i < gang->pod_count; i++) {
		if (!is_placed(&gang->pods[i]) || !is_below(gang, gang->pods[i].leaf, node))
			continue;
		int domain = cluster_node_domain(cluster, topology, level, gang->pods[i].node);
		if (domain < 0) {
			scenario_fail(result, "%s: pod %s is on node %s, which is in no domain of %s", name,
			              gang->pods[i].name, cluster_node_name(cluster, gang->pods[i].node), label);
			return -1;
		}
		count += !seen[domain];
		seen[domain] = true;
	}
	return count;
}

static void expect_domains(const struct snapshot *snapshot, const struct gang *gang, int node, const char *name,
                           const struct val *domains, struct scenario_result *result)
{
	const char *label;
	const struct val *item;
	if (domains && val_kind(domains) != VAL_MAP)
		scenario_fail(result, "%s: domains must be a map from level to number", name);
	for (struct val_iter it = val_iter(domains); val_next(&it, &label, &item);) {
		if (!label)
			return;
		int64_t got = count_domains(snapshot, gang, node, name, label, result);
		if (got >= 0)
			expect_count(result, name, arena_printf(result->arena, "domains of %s", label), item, got);
	}
}

static void expect_leaves(const struct gang *gang, const char *name, const struct val *leaves,
                          struct scenario_result *result)
{
	const char *leaf_name;
	const struct val *item;
	if (leaves && val_kind(leaves) != VAL_MAP) {
		scenario_fail(result, "%s: leaves must be a map from subgroup to number", name);
		return;
	}
	for (struct val_iter it = val_iter(leaves); val_next(&it, &leaf_name, &item);) {
		int leaf = find_tree_node(gang, leaf_name);
		if (leaf < 0 || gang->tree[leaf].child_count > 0) {
			scenario_fail(result, "%s: leaves: there is no leaf %s", name, leaf_name);
			continue;
		}
		int64_t got = 0;
		for (size_t i = 0; i < gang->pod_count; i++)
			got += gang->pods[i].leaf == leaf && is_placed(&gang->pods[i]);
		expect_count(result, name, arena_printf(result->arena, "pods in leaf %s", leaf_name), item, got);
	}
}

static void expect_subgroups(const struct snapshot *snapshot, const struct gang *gang, const char *name,
                             const struct val *subgroups, struct scenario_result *result)
{
	static const char *const keys[] = {"domains", NULL};
	const char *key;
	const struct val *item;
	if (subgroups && val_kind(subgroups) != VAL_MAP) {
		scenario_fail(result, "%s: subGroups must be a map from name to expectation", name);
		return;
	}
	for (struct val_iter it = val_iter(subgroups); val_next(&it, &key, &item);) {
		const char *where = arena_printf(result->arena, "%s subgroup %s", name, key);
		int node = find_tree_node(gang, key);
		scenario_check_keys(result, item, where, keys);
		if (node < 0)
			scenario_fail(result, "%s: there is no such subgroup", where);
		else
			expect_domains(snapshot, gang, node, where, val_get(item, "domains"), result);
	}
}

static void expect_impossible(const struct cycle_group *group, const char *name, const struct val *val,
                              struct scenario_result *result)
{
	if (!val)
		return;
	bool got = group->proof != PROOF_NONE;
	if (val_kind(val) != VAL_BOOL)
		scenario_fail(result, "%s: impossible must be true or false", name);
	else if (val_bool(val, false) != got)
		scenario_fail(result, "%s: expected %s, got state %s%s%s", name,
		              val_bool(val, false) ? "a proved refusal" : "no proved refusal",
		              group_state_name(group->state), group->reasons.count ? ": " : "",
		              group->reasons.count ? group->reasons.items[0].message : "");
}

static bool has_reason(const struct reasons *reasons, const char *wanted)
{
	for (size_t i = 0; i < reasons->count; i++)
		if (strcmp(reason_code_name(reasons->items[i].code), wanted) == 0 ||
		    (reasons->items[i].message && strstr(reasons->items[i].message, wanted)))
			return true;
	return false;
}

static void expect_words(const struct snapshot_group *about, const struct cycle_group *group, const char *name,
                         const struct val *want, struct scenario_result *result)
{
	const struct val *state = val_get(want, "state"), *reason = val_get(want, "reason");
	const char *first = about->notes.count     ? about->notes.items[0].message
	                    : group->reasons.count ? group->reasons.items[0].message
	                                           : "no reason";
	if ((state && !val_str(state, NULL)) || (reason && !val_str(reason, NULL)))
		scenario_fail(result, "%s: state and reason must be texts", name);
	else if (state && strcmp(val_str(state, ""), group_state_name(group->state)) != 0)
		scenario_fail(result, "%s: expected state %s, got %s: %s", name, val_str(state, ""),
		              group_state_name(group->state), first);
	else if (reason && !has_reason(&about->notes, val_str(reason, "")) &&
	         !has_reason(&group->reasons, val_str(reason, "")))
		scenario_fail(result, "%s: expected reason \"%s\", got %s", name, val_str(reason, ""), first);
}

static void expect_group(const struct snapshot *snapshot, const char *name, const struct val *want,
                         struct scenario_result *result)
{
	static const char *const keys[] = {"placed",  "pending",   "evicted", "leaves", "impossible",
	                                   "domains", "subGroups", "state",   "reason", NULL};
	scenario_check_keys(result, want, name, keys);
	const char *slash = strchr(name, '/');
	int index = slash ? snapshot_find_group(snapshot, arena_strndup(result->arena, name, (size_t)(slash - name)),
	                                        slash + 1)
	                  : -1;
	if (index < 0) {
		scenario_fail(result, "%s: there is no such group (expected namespace/name of a PodGroup)", name);
		return;
	}
	const struct cycle_group *group = &snapshot->cycle.groups[index];
	const struct gang *gang = &group->gang;
	int64_t placed = 0, pending = (int64_t)snapshot->groups[index].stray_count, evicted = 0;
	for (size_t i = 0; i < gang->pod_count; i++) {
		placed += is_placed(&gang->pods[i]) && !snapshot->groups[index].ran[i];
		pending += gang->pods[i].state == MEMBER_WAITING || gang->pods[i].state == MEMBER_GATED ||
		           gang->pods[i].state == MEMBER_BLOCKED;
		evicted += gang->pods[i].state == MEMBER_GONE && snapshot->groups[index].ran[i];
	}
	expect_count(result, name, "placed", val_get(want, "placed"), placed);
	expect_count(result, name, "pending", val_get(want, "pending"), pending);
	expect_count(result, name, "evicted", val_get(want, "evicted"), evicted);
	expect_leaves(gang, name, val_get(want, "leaves"), result);
	expect_impossible(group, name, val_get(want, "impossible"), result);
	expect_words(&snapshot->groups[index], group, name, want, result);
	expect_domains(snapshot, gang, 0, name, val_get(want, "domains"), result);
	expect_subgroups(snapshot, gang, name, val_get(want, "subGroups"), result);
}

/* State of a pod at the end and the node it has, -1 for none. */
static const char *pod_outcome(const struct snapshot *snapshot, const struct snapshot_pod *pod, int *node)
{
	*node = pod->node;
	if (pod->member < 0)
		return pod->node >= 0 ? "Running" : pod->gone ? "Gone" : "Pending";
	const struct cycle_group *group = &snapshot->cycle.groups[pod->group];
	const struct gang_pod *member = &group->gang.pods[pod->member];
	if (is_placed(member))
		*node = member->node;
	if (snapshot->groups[pod->group].ran[pod->member])
		return member->state == MEMBER_RUNNING    ? "Running"
		       : member->state == MEMBER_RESERVED ? "Placed"
		       : member->state == MEMBER_GONE     ? "Evicted"
		                                          : "Pending";
	return is_placed(member)              ? "Placed"
	       : member->state == MEMBER_GONE ? (pod->node >= 0 ? "Running" : "Gone")
	                                      : "Pending";
}

static void expect_pod(const struct snapshot *snapshot, const char *name, const struct val *want,
                       struct scenario_result *result)
{
	static const char *const keys[] = {"state", "node", NULL};
	static const char *const states[] = {"Placed", "Pending", "Running", "Evicted"};
	scenario_check_keys(result, want, name, keys);
	const char *slash = strchr(name, '/');
	int index = slash ? snapshot_find_pod(snapshot, arena_strndup(result->arena, name, (size_t)(slash - name)),
	                                      slash + 1)
	                  : -1;
	if (index < 0) {
		scenario_fail(result, "%s: there is no such pod (expected namespace/name)", name);
		return;
	}
	int node;
	const char *got = pod_outcome(snapshot, &snapshot->pods[index], &node);
	const struct val *state = val_get(want, "state"), *want_node = val_get(want, "node");
	bool known = false;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		known = known || strcmp(states[i], val_str(state, "")) == 0;
	if (state && !known)
		scenario_fail(result, "%s: state must be Placed, Pending, Running or Evicted", name);
	else if (state && strcmp(val_str(state, ""), got) != 0)
		scenario_fail(result, "%s: expected state %s, got %s", name, val_str(state, ""), got);
	const char *got_node = node >= 0 ? cluster_node_name(snapshot->cycle.cluster, node) : "no node";
	if (want_node && strcmp(val_str(want_node, ""), got_node) != 0)
		scenario_fail(result, "%s: expected node %s, got %s", name, val_str(want_node, "(not a text)"),
		              got_node);
}

void expectations_check(const struct val *expect, const struct snapshot *snapshot, struct scenario_result *result)
{
	const char *key;
	const struct val *item, *groups = val_get(expect, "groups"), *pods = val_get(expect, "pods");
	if (groups && val_kind(groups) != VAL_MAP)
		scenario_fail(result, "spec.expect.groups: must be a map from namespace/name to expectation");
	else
		for (struct val_iter it = val_iter(groups); val_next(&it, &key, &item);)
			expect_group(snapshot, key, item, result);
	if (pods && val_kind(pods) != VAL_MAP)
		scenario_fail(result, "spec.expect.pods: must be a map from namespace/name to expectation");
	else
		for (struct val_iter it = val_iter(pods); val_next(&it, &key, &item);)
			expect_pod(snapshot, key, item, result);
}
