/* Owns rules between pods: required affinity, anti-affinity and topology spread.
 *
 * Pods that are there already exclude nodes up front (rules_mask_nodes). Rules among the pods being placed are checked while
 * packing: anti-affinity pod by pod, affinity and spread on the finished placement. */
#include "engine/place/solver.h"
#include "engine/place/rules.h"

#include <string.h>

static bool namespace_matches(const struct pod_term *term, const char *owner, const char *other)
{
	if (term->all_namespaces)
		return true;
	if (term->namespace_count == 0)
		return strcmp(owner, other) == 0;
	for (size_t i = 0; i < term->namespace_count; i++)
		if (strcmp(term->namespaces[i], other) == 0)
			return true;
	return false;
}

bool rules_term_selects(const struct pod_term *term, const struct pod_class *owner, const struct pod_class *other)
{
	return !term->selects_nothing && namespace_matches(term, owner->namespace_, other->namespace_) &&
	       selector_matches(&term->selector, &other->labels, "");
}

bool rules_spread_selects(const struct spread_term *term, const struct pod_class *owner, const struct pod_class *other)
{
	return strcmp(owner->namespace_, other->namespace_) == 0 &&
	       selector_matches(&term->selector, &other->labels, "");
}

const char *rules_node_value(const struct cluster *cluster, const char *key, int node)
{
	return *key ? labels_get(&cluster->nodes[node].labels, key) : "";
}

static bool same_domain(const struct cluster *cluster, const char *key, int a, int b)
{
	const char *left = rules_node_value(cluster, key, a), *right = rules_node_value(cluster, key, b);
	return left && right && strcmp(left, right) == 0;
}

int rules_count_present(const struct resident *resident, int view)
{
	return view == VIEW_EMPTY ? 0 : resident->count + (view == VIEW_FREE ? resident->releasing : 0);
}

/* ---- sets of label values ---- */

struct value_set {
	struct name_entry *index;
};

static struct name_entry *set_find(const struct value_set *set, const char *value)
{
	struct name_entry *entry = NULL;
	if (value && set->index)
		HASH_FIND(hh, set->index, value, strlen(value), entry);
	return entry;
}

static struct name_entry *set_add(struct value_set *set, const char *value, int count)
{
	struct name_entry *entry = set_find(set, value);
	if (!entry) {
		entry = base_calloc(1, sizeof(*entry));
		entry->name = value;
		HASH_ADD_KEYPTR(hh, set->index, value, strlen(value), entry);
	}
	entry->number += count;
	return entry;
}

static void set_free(struct value_set *set)
{
	struct name_entry *entry, *next;
	HASH_ITER(hh, set->index, entry, next) {
		HASH_DEL(set->index, entry);
		free(entry);
	}
}

/* ---- pods that are there already ---- */

/* Values of the term's key where a selected pod lives now; the count of them. */
static int64_t collect_selected(const struct cluster *cluster, int view, const struct pod_term *term,
                                const struct pod_class *owner, struct value_set *set)
{
	int64_t found = 0;
	for (int n = 0; n < cluster->node_count; n++) {
		const struct resident_list *list = &cluster->residents[n];
		for (size_t i = 0; i < list->count; i++) {
			if (!rules_count_present(&list->items[i], view) ||
			    !rules_term_selects(term, owner, &cluster->pod_classes.items[list->items[i].pod_class]))
				continue;
			found += rules_count_present(&list->items[i], view);
			const char *value = rules_node_value(cluster, term->topology_key, n);
			if (value)
				set_add(set, value, 1);
		}
	}
	return found;
}

static bool member_selected(const struct solver *solver, const struct pod_term *term, const struct pod_class *owner)
{
	for (size_t p = 0; p < solver->gang->pod_count; p++)
		if (solver->gang->pods[p].state == MEMBER_WAITING &&
		    rules_term_selects(term, owner,
		                       &solver->cluster->pod_classes.items[solver->gang->pods[p].pod_class]))
			return true;
	return false;
}

static void mask_values(const struct cluster *cluster, const char *key, const struct value_set *set, bool keep,
                        uint8_t *mask)
{
	for (int n = 0; n < cluster->node_count; n++)
		if ((set_find(set, rules_node_value(cluster, key, n)) != NULL) != keep)
			mask[n] = 0;
}

/* Terms of resident pods that keep this class of pods away from their domains. */
static void mask_guarded(const struct solver *solver, int pod_class, uint8_t *mask)
{
	const struct cluster *cluster = solver->cluster;
	const struct pod_class *own = &cluster->pod_classes.items[pod_class];
	for (size_t g = 0; g < cluster->guarded_pod_classes.count; g++) {
		int guard_pod_class = cluster->guarded_pod_classes.items[g];
		const struct pod_class *guard = &cluster->pod_classes.items[guard_pod_class];
		for (size_t a = 0; a < guard->rules.anti_affinity_count; a++) {
			const struct pod_term *term = &guard->rules.anti_affinity[a];
			if (!rules_term_selects(term, guard, own))
				continue;
			struct value_set set = {0};
			for (int n = 0; n < cluster->node_count; n++)
				for (size_t i = 0; i < cluster->residents[n].count; i++) {
					const struct resident *resident = &cluster->residents[n].items[i];
					const char *value = rules_node_value(cluster, term->topology_key, n);
					if (resident->pod_class == guard_pod_class &&
					    rules_count_present(resident, solver->view) && value)
						set_add(&set, value, 1);
				}
			mask_values(cluster, term->topology_key, &set, false, mask);
			set_free(&set);
		}
	}
}

bool rules_mask_nodes(const struct solver *solver, int pod_class, uint8_t *mask)
{
	const struct cluster *cluster = solver->cluster;
	const struct pod_class *own = &cluster->pod_classes.items[pod_class];
	memset(mask, 1, (size_t)cluster->node_count);
	for (size_t i = 0; i < own->rules.anti_affinity_count; i++) {
		struct value_set set = {0};
		collect_selected(cluster, solver->view, &own->rules.anti_affinity[i], own, &set);
		mask_values(cluster, own->rules.anti_affinity[i].topology_key, &set, false, mask);
		set_free(&set);
	}
	for (size_t i = 0; i < own->rules.affinity_count; i++) {
		const struct pod_term *term = &own->rules.affinity[i];
		struct value_set set = {0};
		collect_selected(cluster, solver->view, term, own, &set);
		if (!member_selected(solver, term, own))
			mask_values(cluster, term->topology_key, &set, true, mask);
		for (int n = 0; n < cluster->node_count; n++)
			if (!rules_node_value(cluster, term->topology_key, n))
				mask[n] = 0;
		set_free(&set);
	}
	for (size_t i = 0; i < own->rules.spread_count; i++)
		for (int n = 0; own->rules.spread[i].required && n < cluster->node_count; n++)
			if (!rules_node_value(cluster, own->rules.spread[i].topology_key, n))
				mask[n] = 0;
	mask_guarded(solver, pod_class, mask);
	return memchr(mask, 0, (size_t)cluster->node_count) != NULL;
}

static bool is_guarded_against(const struct cluster *cluster, int pod_class)
{
	for (size_t g = 0; g < cluster->guarded_pod_classes.count; g++) {
		const struct pod_class *guard = &cluster->pod_classes.items[cluster->guarded_pod_classes.items[g]];
		for (size_t a = 0; a < guard->rules.anti_affinity_count; a++)
			if (rules_term_selects(&guard->rules.anti_affinity[a], guard,
			                       &cluster->pod_classes.items[pod_class]))
				return true;
	}
	return false;
}

bool rules_concern_pod_class(const struct solver *solver, int pod_class)
{
	return solver->member_rules || is_guarded_against(solver->cluster, pod_class);
}

bool rules_concern_gang(const struct cluster *cluster, const struct gang *gang)
{
	int last = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		int pod_class = gang->pods[p].pod_class;
		if (pod_class != last && (cluster->pod_classes.items[pod_class].has_required_rules ||
		                          is_guarded_against(cluster, pod_class)))
			return true;
		last = pod_class;
	}
	return false;
}

/* Whether the term selects a pod of the gang itself. */
static bool gang_selected(const struct cluster *cluster, const struct gang *gang, const struct pod_term *term,
                          const struct pod_class *owner)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if (rules_term_selects(term, owner, &cluster->pod_classes.items[gang->pods[p].pod_class]))
			return true;
	return false;
}

bool rules_need_others(const struct cluster *cluster, const struct gang *gang)
{
	int last = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct pod_class *own = &cluster->pod_classes.items[gang->pods[p].pod_class];
		if (gang->pods[p].pod_class == last)
			continue;
		last = gang->pods[p].pod_class;
		for (size_t i = 0; i < own->rules.affinity_count; i++)
			if (!gang_selected(cluster, gang, &own->rules.affinity[i], own))
				return true;
	}
	return false;
}

/* ---- rules among the pods being placed ---- */

/* One pod per host of one shape is expressed by its slots already. */
static bool slots_express(const struct solver *solver, const struct pod_term *term, const struct pod_class *owner,
                          const struct pod_class *other)
{
	const struct shape *shape = &solver->cluster->shapes.items[owner->shape];
	return shape->one_per_node && owner->shape == other->shape && strcmp(term->topology_key, HOSTNAME_LABEL) == 0;
}

static bool pod_classes_interact(const struct solver *solver, const struct pod_class *owner,
                                 const struct pod_class *other)
{
	for (size_t i = 0; i < owner->rules.anti_affinity_count; i++) {
		const struct pod_term *term = &owner->rules.anti_affinity[i];
		if (rules_term_selects(term, owner, other) && !slots_express(solver, term, owner, other))
			return true;
	}
	for (size_t i = 0; i < owner->rules.affinity_count; i++)
		if (rules_term_selects(&owner->rules.affinity[i], owner, other))
			return true;
	for (size_t i = 0; i < owner->rules.spread_count; i++)
		if (owner->rules.spread[i].required)
			return true;
	return false;
}

bool rules_between_members(const struct solver *solver)
{
	if (!solver->member_rules)
		return false;
	const struct pod_class *pod_classes = solver->cluster->pod_classes.items;
	for (int a = 0; a < solver->shape_count; a++)
		for (int b = 0; b < solver->shape_count; b++)
			if (pod_classes_interact(solver, &pod_classes[solver->shapes[a].pod_class],
			                         &pod_classes[solver->shapes[b].pod_class]))
				return true;
	return false;
}

static bool anti_affine(const struct cluster *cluster, const struct pod_class *a, int node_a, const struct pod_class *b,
                        int node_b)
{
	for (size_t i = 0; i < a->rules.anti_affinity_count; i++) {
		const struct pod_term *term = &a->rules.anti_affinity[i];
		if (rules_term_selects(term, a, b) && same_domain(cluster, term->topology_key, node_a, node_b))
			return true;
	}
	return false;
}

bool rules_allow_node(const struct solver *solver, int pod_class, int node)
{
	const struct cluster *cluster = solver->cluster;
	const struct pod_class *own = &cluster->pod_classes.items[pod_class];
	for (size_t i = 0; i < solver->assigned.count; i++) {
		const struct assigned *there = &solver->assigned.items[i];
		const struct pod_class *other = &cluster->pod_classes.items[solver->shapes[there->shape].pod_class];
		if (anti_affine(cluster, own, node, other, there->node) ||
		    anti_affine(cluster, other, there->node, own, node))
			return false;
	}
	return true;
}

/* The pods a check looks at: residents of the cluster plus a list of others. */
struct pods_seen {
	const struct cluster *cluster;
	int view;
	const struct solver *solver; /* NULL: residents only */
	size_t skip;                 /* index of the pod itself in the solver's list */
	int self_class, self_node;   /* one resident to leave out, class -1 for none */
};

static int residents_without_self(const struct pods_seen *seen, int node, const struct resident *resident)
{
	int count = rules_count_present(resident, seen->view);
	return resident->pod_class == seen->self_class && node == seen->self_node ? count - 1 : count;
}

/* Whether the term selects a pod in the node's domain; *anywhere tells whether it selects any at all. */
static bool affinity_found(const struct pods_seen *seen, const struct pod_term *term, const struct pod_class *own,
                           int node, bool *anywhere)
{
	const struct cluster *cluster = seen->cluster;
	bool near = false;
	*anywhere = false;
	for (int n = 0; n < cluster->node_count && !near; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			if (residents_without_self(seen, n, resident) <= 0 ||
			    !rules_term_selects(term, own, &cluster->pod_classes.items[resident->pod_class]))
				continue;
			*anywhere = true;
			near |= same_domain(cluster, term->topology_key, n, node);
		}
	for (size_t i = 0; seen->solver && i < seen->solver->assigned.count && !near; i++) {
		const struct assigned *there = &seen->solver->assigned.items[i];
		if (i == seen->skip ||
		    !rules_term_selects(term, own,
		                        &cluster->pod_classes.items[seen->solver->shapes[there->shape].pod_class]))
			continue;
		*anywhere = true;
		near |= same_domain(cluster, term->topology_key, there->node, node);
	}
	return near;
}

static bool affinity_holds(const struct pods_seen *seen, const struct pod_class *own, int node)
{
	for (size_t i = 0; i < own->rules.affinity_count; i++) {
		const struct pod_term *term = &own->rules.affinity[i];
		bool anywhere;
		if (!rules_node_value(seen->cluster, term->topology_key, node))
			return false;
		if (affinity_found(seen, term, own, node, &anywhere))
			continue;
		/* The first pod of a group that attracts itself may start anywhere. */
		if (anywhere || !rules_term_selects(term, own, own))
			return false;
	}
	return true;
}

static bool spread_counts_node(const struct cluster *cluster, const struct spread_term *term,
                               const struct pod_class *own, int node)
{
	const struct shape *shape = &cluster->shapes.items[own->shape];
	const struct pod_rules *rules = &shape->rules;
	const struct cluster_node_data *data = &cluster->nodes[node];
	if (!term->ignore_node_affinity) {
		bool matches = !rules->has_node_terms;
		for (size_t i = 0; i < rules->node_term_count && !matches; i++)
			matches = rules->node_terms[i].selector.count &&
			          selector_matches(&rules->node_terms[i].selector, &data->labels, data->name);
		if (!matches || !selector_matches(&rules->node_selector, &data->labels, data->name))
			return false;
	}
	for (size_t i = 0; term->honor_taints && i < data->taint_count; i++)
		if (data->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
		    !taint_tolerated(&data->taints[i], rules->tolerations, rules->toleration_count))
			return false;
	return true;
}

static bool spread_holds(const struct pods_seen *seen, const struct spread_term *term, const struct pod_class *own,
                         int node)
{
	const struct cluster *cluster = seen->cluster;
	const char *here = rules_node_value(cluster, term->topology_key, node);
	if (!here)
		return false;
	struct value_set set = {0};
	for (int n = 0; n < cluster->node_count; n++) {
		const char *value = rules_node_value(cluster, term->topology_key, n);
		if (!value || !spread_counts_node(cluster, term, own, n))
			continue;
		set_add(&set, value, 0);
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			if (rules_spread_selects(term, own, &cluster->pod_classes.items[resident->pod_class]))
				set_add(&set, value, rules_count_present(resident, seen->view));
		}
	}
	for (size_t i = 0; seen->solver && i < seen->solver->assigned.count; i++) {
		const struct assigned *there = &seen->solver->assigned.items[i];
		struct name_entry *entry = set_find(&set, rules_node_value(cluster, term->topology_key, there->node));
		if (entry && spread_counts_node(cluster, term, own, there->node) &&
		    rules_spread_selects(term, own,
		                         &cluster->pod_classes.items[seen->solver->shapes[there->shape].pod_class]))
			entry->number++;
	}
	int least = INT32_MAX, most = 0;
	struct name_entry *entry, *next;
	HASH_ITER(hh, set.index, entry, next) {
		least = entry->number < least ? entry->number : least;
		most = strcmp(entry->name, here) == 0 ? entry->number : most;
	}
	if ((int)HASH_COUNT(set.index) < term->min_domains)
		least = 0;
	bool known = set_find(&set, here) != NULL;
	set_free(&set);
	return known && most - least <= term->max_skew;
}

static bool spreads_hold(const struct pods_seen *seen, const struct pod_class *own, int node)
{
	for (size_t i = 0; i < own->rules.spread_count; i++)
		if (own->rules.spread[i].required && !spread_holds(seen, &own->rules.spread[i], own, node))
			return false;
	return true;
}

bool rules_check_final(const struct solver *solver)
{
	const struct cluster *cluster = solver->cluster;
	for (size_t i = 0; i < solver->assigned.count; i++) {
		const struct assigned *pod = &solver->assigned.items[i];
		const struct pod_class *own = &cluster->pod_classes.items[solver->shapes[pod->shape].pod_class];
		struct pods_seen seen = {
			.cluster = cluster, .view = solver->view, .solver = solver, .skip = i, .self_class = -1};
		if (!affinity_holds(&seen, own, pod->node) || !spreads_hold(&seen, own, pod->node))
			return false;
		for (size_t k = 0; k < i; k++) {
			const struct assigned *other = &solver->assigned.items[k];
			const struct pod_class *there =
				&cluster->pod_classes.items[solver->shapes[other->shape].pod_class];
			if (anti_affine(cluster, own, pod->node, there, other->node) ||
			    anti_affine(cluster, there, other->node, own, pod->node))
				return false;
		}
	}
	return true;
}

bool rules_tolerate_members(const struct cluster *cluster, const struct gang *gang, int pod_class, int node)
{
	const struct pod_class *own = &cluster->pod_classes.items[pod_class];
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		const struct pod_class *other = &cluster->pod_classes.items[pod->pod_class];
		if (pod->state != MEMBER_RUNNING && pod->state != MEMBER_RESERVED)
			continue;
		if (!own->rules.anti_affinity_count && !other->rules.anti_affinity_count)
			continue;
		if (anti_affine(cluster, own, node, other, pod->node) ||
		    anti_affine(cluster, other, pod->node, own, node))
			return false;
	}
	return true;
}

static bool is_attracted(const struct pod_class *own, const struct pod_class *other)
{
	for (size_t i = 0; i < own->rules.affinity_count; i++)
		if (rules_term_selects(&own->rules.affinity[i], own, other))
			return true;
	return false;
}

static bool pod_class_minds(const struct pod_class *own, const struct pod_class *other)
{
	if (is_attracted(own, other))
		return true;
	for (size_t i = 0; i < own->rules.spread_count; i++)
		if (own->rules.spread[i].required && rules_spread_selects(&own->rules.spread[i], own, other))
			return true;
	return false;
}

bool rules_mind_pod_class(const struct cluster *cluster, const struct gang *gang, int pod_class)
{
	int last = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		int own = gang->pods[p].pod_class;
		if (own != last &&
		    pod_class_minds(&cluster->pod_classes.items[own], &cluster->pod_classes.items[pod_class]))
			return true;
		last = own;
	}
	return false;
}

bool rules_attract_waiting(const struct cluster *cluster, const struct gang *gang, int pod_class)
{
	int last = -1;
	for (size_t p = 0; p < gang->pod_count; p++) {
		int own = gang->pods[p].pod_class;
		if (gang->pods[p].state != MEMBER_WAITING || own == last)
			continue;
		if (is_attracted(&cluster->pod_classes.items[own], &cluster->pod_classes.items[pod_class]))
			return true;
		last = own;
	}
	return false;
}

bool rules_hold_for_member(const struct cluster *cluster, const struct gang_pod *pod)
{
	const struct pod_class *own = &cluster->pod_classes.items[pod->pod_class];
	struct pods_seen seen = {.cluster = cluster,
	                         .view = VIEW_RELEASING,
	                         .self_class = pod->pod_class,
	                         .self_node = pod->node};
	if (own->has_required_rules && (!affinity_holds(&seen, own, pod->node) || !spreads_hold(&seen, own, pod->node)))
		return false;
	if (!own->rules.anti_affinity_count && !is_guarded_against(cluster, pod->pod_class))
		return true;
	for (int n = 0; n < cluster->node_count; n++)
		for (size_t i = 0; i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			const struct pod_class *other = &cluster->pod_classes.items[resident->pod_class];
			if (residents_without_self(&seen, n, resident) > 0 &&
			    (anti_affine(cluster, own, pod->node, other, n) ||
			     anti_affine(cluster, other, n, own, pod->node)))
				return false;
		}
	return true;
}

/* Affinity and spread are not looked at here: they are rules for the moment of placement, later pods may change what
 * they see. */
const char *rules_verify_members(const struct cluster *cluster, const struct gang *gang, struct arena *arena)
{
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		const struct pod_class *own = &cluster->pod_classes.items[pod->pod_class];
		if (pod->state != MEMBER_RUNNING && pod->state != MEMBER_RESERVED)
			continue;
		if (!own->has_required_rules)
			continue;
		struct pods_seen seen = {.cluster = cluster,
		                         .view = VIEW_RELEASING,
		                         .self_class = pod->pod_class,
		                         .self_node = pod->node};
		for (int n = 0; n < cluster->node_count; n++)
			for (size_t i = 0; i < cluster->residents[n].count; i++) {
				const struct resident *resident = &cluster->residents[n].items[i];
				if (residents_without_self(&seen, n, resident) > 0 &&
				    anti_affine(cluster, own, pod->node,
				                &cluster->pod_classes.items[resident->pod_class], n))
					return arena_printf(arena, "pod %s shares a domain with a pod it excludes",
					                    pod->name);
			}
	}
	return NULL;
}
