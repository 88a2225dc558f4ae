/* Owns the check of pods that were just placed: the rules that count at the moment of placement, written apart from the search and
 * from the tables it uses. Slow and plain on purpose: every pod is compared with every other. */
#include "engine/cluster/internal.h"
#include "engine/place/place.h"

#include <string.h>

/* ---- node rules ---- */

static bool some_term_holds(const struct node_term *terms, size_t count, const struct cluster_node_data *node)
{
	bool holds = false;
	for (size_t i = 0; i < count; i++)
		holds |= terms[i].selector.count > 0 && selector_matches(&terms[i].selector, &node->labels, node->name);
	return holds;
}

static bool volumes_reached(const struct pod_rules *rules, const struct cluster_node_data *node)
{
	const struct node_term *terms = rules->volume_terms;
	for (size_t v = 0; v < rules->volume_count; terms += rules->volume_term_counts[v++])
		if (!some_term_holds(terms, rules->volume_term_counts[v], node))
			return false;
	return true;
}

static bool taints_tolerated(const struct pod_rules *rules, const struct cluster_node_data *node)
{
	static const struct taint cordon = {.key = "node.kubernetes.io/unschedulable",
	                                    .value = "",
	                                    .effect = TAINT_NO_SCHEDULE};
	bool fine = !node->unschedulable || taint_tolerated(&cordon, rules->tolerations, rules->toleration_count);
	for (size_t i = 0; i < node->taint_count; i++)
		fine &= node->taints[i].effect == TAINT_PREFER_NO_SCHEDULE ||
		        taint_tolerated(&node->taints[i], rules->tolerations, rules->toleration_count);
	return fine;
}

/* What of a node a pod does not accept, NULL when nothing. */
static const char *node_objection(const struct cluster *cluster, const struct pod_rules *rules,
                                  const struct cluster_node_data *node)
{
	if (cluster->pool_key && !text_equal(rules->pool, node->pool))
		return "node pool";
	if (rules->node_label && !labels_get(&node->labels, rules->node_label))
		return "worker label";
	if (!node->ready)
		return "readiness";
	if (!taints_tolerated(rules, node))
		return "taints";
	if (!selector_matches(&rules->node_selector, &node->labels, node->name))
		return "node selector";
	if (rules->has_node_terms && !some_term_holds(rules->node_terms, rules->node_term_count, node))
		return "node affinity";
	return volumes_reached(rules, node) ? NULL : "reach of volumes";
}

/* ---- rules between pods ---- */

struct scene {
	const struct cluster *cluster;
	int view;
	const struct pod_class *own; /* of the pod that is looked at */
	int own_class, node;
};

/* Pods of a resident entry besides the one that is looked at. */
static int others(const struct scene *scene, const struct resident *resident, int node)
{
	int count = resident->count + (scene->view == VIEW_FREE ? resident->releasing : 0);
	return count - (resident->pod_class == scene->own_class && node == scene->node);
}

static bool in_namespaces(const struct pod_term *term, const char *own, const char *other)
{
	bool found = term->all_namespaces || (term->namespace_count == 0 && strcmp(own, other) == 0);
	for (size_t i = 0; i < term->namespace_count; i++)
		found |= strcmp(term->namespaces[i], other) == 0;
	return found;
}

static bool picks(const struct pod_term *term, const struct pod_class *owner, const struct pod_class *other)
{
	return !term->selects_nothing && in_namespaces(term, owner->namespace_, other->namespace_) &&
	       selector_matches(&term->selector, &other->labels, "");
}

static const char *domain_of(const struct cluster *cluster, const char *key, int node)
{
	return key[0] ? labels_get(&cluster->nodes[node].labels, key) : "";
}

static bool together(const struct cluster *cluster, const char *key, int a, int b)
{
	const char *left = domain_of(cluster, key, a), *right = domain_of(cluster, key, b);
	return left && right && strcmp(left, right) == 0;
}

/* Pods that the term picks, in the domain of the node; and everywhere. */
static int count_picked(const struct scene *scene, const struct pod_term *term, int *everywhere)
{
	const struct cluster *cluster = scene->cluster;
	int near = 0;
	*everywhere = 0;
	for (int n = 0; n < cluster->node_count; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			if (!picks(term, scene->own, &cluster->pod_classes.items[resident->pod_class]))
				continue;
			*everywhere += others(scene, resident, n);
			near += together(cluster, term->topology_key, n, scene->node) ? others(scene, resident, n) : 0;
		}
	return near;
}

static bool affinity_fulfilled(const struct scene *scene, const struct pod_term *term)
{
	int everywhere, near = count_picked(scene, term, &everywhere);
	return domain_of(scene->cluster, term->topology_key, scene->node) &&
	       (near > 0 || (everywhere == 0 && picks(term, scene->own, scene->own)));
}

/* Whether a pod that is there keeps this one out of its domain. */
static bool kept_out(const struct scene *scene)
{
	const struct cluster *cluster = scene->cluster;
	for (int n = 0; n < cluster->node_count; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			const struct pod_class *other = &cluster->pod_classes.items[resident->pod_class];
			for (size_t t = 0; t < other->rules.anti_affinity_count && others(scene, resident, n) > 0; t++)
				if (picks(&other->rules.anti_affinity[t], other, scene->own) &&
				    together(cluster, other->rules.anti_affinity[t].topology_key, n, scene->node))
					return true;
		}
	return false;
}

static bool counts_for_spread(const struct scene *scene, const struct spread_term *term, int node)
{
	const struct pod_rules *rules = &scene->cluster->shapes.items[scene->own->shape].rules;
	const struct cluster_node_data *data = &scene->cluster->nodes[node];
	bool counts = domain_of(scene->cluster, term->topology_key, node) != NULL;
	if (!term->ignore_node_affinity)
		counts &= selector_matches(&rules->node_selector, &data->labels, data->name) &&
		          (!rules->has_node_terms || some_term_holds(rules->node_terms, rules->node_term_count, data));
	for (size_t i = 0; term->honor_taints && i < data->taint_count; i++)
		counts &= data->taints[i].effect == TAINT_PREFER_NO_SCHEDULE ||
		          taint_tolerated(&data->taints[i], rules->tolerations, rules->toleration_count);
	return counts;
}

/* Pods in the domain of a node that the term counts, this one included. */
static int count_spread(const struct scene *scene, const struct spread_term *term, int node)
{
	const struct cluster *cluster = scene->cluster;
	int count = 0;
	for (int n = 0; n < cluster->node_count; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			const struct pod_class *other = &cluster->pod_classes.items[resident->pod_class];
			if (together(cluster, term->topology_key, n, node) && counts_for_spread(scene, term, n) &&
			    strcmp(other->namespace_, scene->own->namespace_) == 0 &&
			    selector_matches(&term->selector, &other->labels, ""))
				count += resident->count + (scene->view == VIEW_FREE ? resident->releasing : 0);
		}
	return count;
}

static bool spread_fulfilled(const struct scene *scene, const struct spread_term *term)
{
	const struct cluster *cluster = scene->cluster;
	int least = INT32_MAX, domains = 0;
	if (!counts_for_spread(scene, term, scene->node))
		return false;
	for (int n = 0; n < cluster->node_count; n++) {
		bool first = counts_for_spread(scene, term, n);
		for (int k = 0; k < n && first; k++)
			first = !counts_for_spread(scene, term, k) || !together(cluster, term->topology_key, k, n);
		if (!first)
			continue;
		int count = count_spread(scene, term, n);
		least = count < least ? count : least;
		domains++;
	}
	least = domains < term->min_domains ? 0 : least;
	return count_spread(scene, term, scene->node) - least <= term->max_skew;
}

static const char *pods_objection(const struct scene *scene)
{
	const struct pod_rules *rules = &scene->own->rules;
	int ignored;
	for (size_t i = 0; i < rules->anti_affinity_count; i++)
		if (count_picked(scene, &rules->anti_affinity[i], &ignored) > 0)
			return rules->anti_affinity[i].topology_key[0] ? "pod anti-affinity" : "ReadWriteOncePod";
	if (kept_out(scene))
		return "pod anti-affinity of another pod";
	for (size_t i = 0; i < rules->affinity_count; i++)
		if (!affinity_fulfilled(scene, &rules->affinity[i]))
			return "pod affinity";
	for (size_t i = 0; i < rules->spread_count; i++)
		if (rules->spread[i].required && !spread_fulfilled(scene, &rules->spread[i]))
			return "topology spread";
	return NULL;
}

/* ---- minimums ---- */

static bool is_member(const struct gang_pod *pod)
{
	return pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
}

/* Pods of a leaf, or children that have what they need. */
static int count_below(const struct gang *gang, int tree)
{
	int count = 0;
	for (size_t p = 0; gang->tree[tree].child_count == 0 && p < gang->pod_count; p++)
		count += gang->pods[p].leaf == tree && is_member(&gang->pods[p]);
	for (size_t i = (size_t)tree + 1; gang->tree[tree].child_count && i < gang->tree_count; i++)
		count += gang->tree[i].parent == tree && count_below(gang, (int)i) >= gang->tree[i].minimum;
	return count;
}

static const char *minimum_objection(const struct gang *gang, struct arena *arena)
{
	int have = count_below(gang, 0);
	if (have >= gang->tree[0].minimum)
		return NULL;
	return arena_printf(arena, "%s has %d of %d %s", gang->name, have, gang->tree[0].minimum,
	                    gang->tree[0].child_count ? "subgroups (minSubGroup)" : "pods (minMember)");
}

/* ---- all of it ---- */

static const char *verify_pod(const struct cluster *cluster, const struct gang_pod *pod, bool reserve,
                              struct arena *arena)
{
	const struct pod_class *own = &cluster->pod_classes.items[pod->pod_class];
	const struct cluster_node_data *node = &cluster->nodes[pod->node];
	struct scene scene = {.cluster = cluster,
	                      .view = reserve ? VIEW_RELEASING : VIEW_FREE,
	                      .own = own,
	                      .own_class = pod->pod_class,
	                      .node = pod->node};
	const struct shape *shape = &cluster->shapes.items[own->shape];
	const char *objection = node_objection(cluster, &shape->rules, node);
	objection = objection ? objection : pods_objection(&scene);
	if (objection)
		return arena_printf(arena, "pod %s on node %s breaks a rule: %s", pod->name, node->name, objection);
	for (int i = 0; i < shape->request_count; i++)
		if (cluster_amount_in_view(cluster, shape->resource[i], pod->node, scene.view) < 0)
			return arena_printf(arena, "node %s is over-committed in %s", node->name,
			                    cluster->resources.items[shape->resource[i]].name);
	if (shape->claims && !device_stock_holds(cluster, pod->node, scene.view))
		return arena_printf(arena, "the devices of node %s do not serve all claims of pod %s and others there",
		                    node->name, pod->name);
	return NULL;
}

const char *engine_verify_placement(const struct cluster *cluster, const struct gang *gang,
                                    const struct placement *placement, struct arena *arena)
{
	const char *problem = minimum_objection(gang, arena);
	for (size_t i = 0; i < placement->choice_count && !problem; i++)
		problem = verify_pod(cluster, &gang->pods[placement->choices[i].pod], placement->reserve, arena);
	return problem ? problem : engine_verify(cluster, gang, arena);
}
