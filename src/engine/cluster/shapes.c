/* Owns shapes and pod classes: equal content gets one number, so that slots are counted once for all equal pods. */
#include "base/clamp.h"
#include "engine/cluster/internal.h"

#include <string.h>

static void put_number(struct buffer *key, int64_t number)
{
	buffer_append(key, (const char *)&number, sizeof(number));
}

static void put_text(struct buffer *key, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	put_number(key, text ? (int64_t)length : -1);
	buffer_append(key, text ? text : "", length);
}

static void put_selector(struct buffer *key, const struct selector *selector)
{
	put_number(key, (int64_t)selector->count);
	for (size_t i = 0; i < selector->count; i++) {
		const struct match *match = &selector->items[i];
		put_text(key, match->key);
		put_number(key, match->op * 2 + match->field_name);
		put_number(key, (int64_t)match->value_count);
		for (size_t v = 0; v < match->value_count; v++)
			put_text(key, match->values[v]);
	}
}

static void put_node_terms(struct buffer *key, const struct node_term *terms, size_t count)
{
	put_number(key, (int64_t)count);
	for (size_t i = 0; i < count; i++) {
		put_selector(key, &terms[i].selector);
		put_number(key, terms[i].weight);
	}
}

static void put_pod_terms(struct buffer *key, const struct pod_term *terms, size_t count)
{
	put_number(key, (int64_t)count);
	for (size_t i = 0; i < count; i++) {
		put_selector(key, &terms[i].selector);
		put_text(key, terms[i].topology_key);
		put_number(key, terms[i].weight * 4 + terms[i].selects_nothing * 2 + terms[i].all_namespaces);
		put_number(key, (int64_t)terms[i].namespace_count);
		for (size_t n = 0; n < terms[i].namespace_count; n++)
			put_text(key, terms[i].namespaces[n]);
	}
}

static void put_spread(struct buffer *key, const struct spread_term *terms, size_t count)
{
	put_number(key, (int64_t)count);
	for (size_t i = 0; i < count; i++) {
		put_selector(key, &terms[i].selector);
		put_text(key, terms[i].topology_key);
		put_number(key, terms[i].max_skew);
		put_number(key, terms[i].min_domains);
		put_number(key, terms[i].usual * 8 + terms[i].required * 4 + terms[i].ignore_node_affinity * 2 +
		                        terms[i].honor_taints);
	}
}

static struct selector copy_selector(struct arena *arena, const struct selector *from)
{
	struct selector copy = {.items = arena_array(arena, struct match, from->count), .count = from->count};
	for (size_t i = 0; i < from->count; i++) {
		copy.items[i] = from->items[i];
		copy.items[i].key = arena_strdup(arena, from->items[i].key);
		copy.items[i].values = arena_array(arena, const char *, from->items[i].value_count);
		for (size_t v = 0; v < from->items[i].value_count; v++)
			copy.items[i].values[v] = arena_strdup(arena, from->items[i].values[v]);
	}
	return copy;
}

static struct node_term *copy_node_terms(struct arena *arena, const struct node_term *from, size_t count)
{
	struct node_term *copy = arena_array(arena, struct node_term, count);
	for (size_t i = 0; i < count; i++)
		copy[i] = (struct node_term){.selector = copy_selector(arena, &from[i].selector),
		                             .weight = from[i].weight};
	return copy;
}

static struct pod_term *copy_pod_terms(struct arena *arena, const struct pod_term *from, size_t count)
{
	struct pod_term *copy = arena_array(arena, struct pod_term, count);
	for (size_t i = 0; i < count; i++) {
		copy[i] = from[i];
		copy[i].selector = copy_selector(arena, &from[i].selector);
		copy[i].topology_key = arena_strdup(arena, from[i].topology_key);
		copy[i].namespaces = arena_array(arena, const char *, from[i].namespace_count);
		for (size_t n = 0; n < from[i].namespace_count; n++)
			copy[i].namespaces[n] = arena_strdup(arena, from[i].namespaces[n]);
	}
	return copy;
}

/* Finds or adds a key; *number is the next free one when new. True when it was new. */
static bool key_number(struct key_entry **index, const struct buffer *key, int next, int *number)
{
	struct key_entry *entry;
	HASH_FIND(hh, *index, key->text, key->length, entry);
	if (entry) {
		*number = entry->number;
		return false;
	}
	entry = base_calloc(1, sizeof(*entry) + key->length);
	entry->number = *number = next;
	entry->length = key->length;
	memcpy(entry->bytes, key->text, key->length);
	HASH_ADD_KEYPTR(hh, *index, entry->bytes, key->length, entry);
	return true;
}

struct request_list {
	VEC(struct resource_amount) items;
};

static bool wildcard_address(const char *ip)
{
	return !ip || !*ip || strcmp(ip, "0.0.0.0") == 0 || strcmp(ip, "::") == 0;
}

static void add_request(struct request_list *list, const char *name, int64_t amount)
{
	for (size_t i = 0; i < list->items.count; i++)
		if (strcmp(list->items.items[i].name, name) == 0) {
			list->items.items[i].amount = clamp_add(list->items.items[i].amount, amount);
			return;
		}
	vec_push(&list->items, (struct resource_amount){.name = name, .amount = clamp_amount(amount)});
}

/* Host ports become requests for port columns. */
static void add_port_requests(struct cluster *cluster, struct request_list *list, const struct pod_rules *rules)
{
	for (size_t i = 0; i < rules->port_count; i++) {
		const struct host_port *port = &rules->ports[i];
		const char *protocol = port->protocol && *port->protocol ? port->protocol : "TCP";
		const char *any = arena_printf(cluster->arena, "hostPort/%s/%d", protocol, port->port);
		cluster_add_resource(cluster, any, PORT_WHOLE);
		add_request(list, any, wildcard_address(port->ip) ? PORT_WHOLE : 1);
		if (wildcard_address(port->ip))
			continue;
		const char *own = arena_printf(cluster->arena, "hostPort/%s/%s:%d", protocol, port->ip, port->port);
		cluster_add_resource(cluster, own, 1);
		add_request(list, own, 1);
	}
}

static int compare_amounts(const void *left, const void *right)
{
	return strcmp(((const struct resource_amount *)left)->name, ((const struct resource_amount *)right)->name);
}

/* A pod that must not share a host with others like it has one slot per node at most. */
static bool excludes_itself_on_host(const struct pod_input *input, const struct pod_rules *rules)
{
	for (size_t i = 0; i < rules->anti_affinity_count; i++) {
		const struct pod_term *term = &rules->anti_affinity[i];
		bool own_namespace = term->all_namespaces || term->namespace_count == 0;
		for (size_t n = 0; n < term->namespace_count; n++)
			own_namespace |= strcmp(term->namespaces[n], input->namespace_) == 0;
		if (own_namespace && !term->selects_nothing && selector_matches(&term->selector, &input->labels, "") &&
		    strcmp(term->topology_key, HOSTNAME_LABEL) == 0)
			return true;
	}
	return false;
}

static void shape_key(struct buffer *key, const struct request_list *requests, const struct pod_input *input,
                      const struct pod_rules *rules, bool one_per_node)
{
	/* Kinds that share a one-per-node shape must exclude each other: equal terms in one namespace, each selecting its
	 * own pod, do. */
	if (one_per_node) {
		put_text(key, input->namespace_);
		put_pod_terms(key, rules->anti_affinity, rules->anti_affinity_count);
	}
	put_number(key, (int64_t)requests->items.count);
	for (size_t i = 0; i < requests->items.count; i++) {
		put_text(key, requests->items.items[i].name);
		put_number(key, requests->items.items[i].amount);
	}
	put_number(key, one_per_node * 2 + rules->has_node_terms);
	put_text(key, rules->pool ? rules->pool : "");
	put_text(key, rules->node_label ? rules->node_label : "");
	put_selector(key, &rules->node_selector);
	put_node_terms(key, rules->node_terms, rules->node_term_count);
	put_node_terms(key, rules->preferred_nodes, rules->preferred_node_count);
	put_number(key, (int64_t)rules->volume_count);
	size_t volume_terms = 0;
	for (size_t i = 0; i < rules->volume_count; i++) {
		put_number(key, (int64_t)rules->volume_term_counts[i]);
		volume_terms += rules->volume_term_counts[i];
	}
	put_node_terms(key, rules->volume_terms, volume_terms);
	put_number(key, (int64_t)rules->toleration_count);
	for (size_t i = 0; i < rules->toleration_count; i++) {
		const struct toleration *toleration = &rules->tolerations[i];
		put_text(key, toleration->key);
		put_text(key, toleration->value);
		put_number(key, toleration->compares * 16 + toleration->exists * 8 + toleration->any_effect * 4 +
		                        (int)toleration->effect);
	}
}

static void shape_fill(struct cluster *cluster, struct shape *shape, const struct request_list *requests,
                       const struct pod_rules *rules, bool one_per_node)
{
	struct arena *arena = cluster->arena;
	size_t count = requests->items.count;
	*shape = (struct shape){.resource = arena_array(arena, int, count),
	                        .amount = arena_array(arena, int64_t, count),
	                        .one_per_node = one_per_node};
	for (size_t i = 0; i < count; i++) {
		if (requests->items.items[i].amount <= 0)
			continue;
		shape->resource[shape->request_count] = cluster_add_resource(cluster, requests->items.items[i].name, 0);
		shape->amount[shape->request_count] = requests->items.items[i].amount;
		shape->shares |= cluster->resources.items[shape->resource[shape->request_count]].shared_of >= 0;
		shape->claims |= cluster->resources.items[shape->resource[shape->request_count]].claims >= 0;
		shape->request_count++;
	}
	struct pod_rules *own = &shape->rules;
	own->pool = rules->pool && *rules->pool ? arena_strdup(arena, rules->pool) : NULL;
	own->node_label = rules->node_label ? arena_strdup(arena, rules->node_label) : NULL;
	own->node_selector = copy_selector(arena, &rules->node_selector);
	own->has_node_terms = rules->has_node_terms;
	own->node_terms = copy_node_terms(arena, rules->node_terms, rules->node_term_count);
	own->node_term_count = rules->node_term_count;
	own->preferred_nodes = copy_node_terms(arena, rules->preferred_nodes, rules->preferred_node_count);
	own->preferred_node_count = rules->preferred_node_count;
	size_t volume_terms = 0;
	own->volume_count = rules->volume_count;
	own->volume_term_counts = arena_array(arena, size_t, rules->volume_count);
	for (size_t i = 0; i < rules->volume_count; i++)
		volume_terms += own->volume_term_counts[i] = rules->volume_term_counts[i];
	own->volume_terms = copy_node_terms(arena, rules->volume_terms, volume_terms);
	own->toleration_count = rules->toleration_count;
	own->tolerations = arena_array(arena, struct toleration, rules->toleration_count);
	for (size_t i = 0; i < rules->toleration_count; i++) {
		own->tolerations[i] = rules->tolerations[i];
		own->tolerations[i].key = arena_strdup(arena, rules->tolerations[i].key);
		own->tolerations[i].value = arena_strdup(arena, rules->tolerations[i].value);
	}
	shape->everywhere = cluster->plain_blocked == 0 && !own->pool && !own->node_label &&
	                    !own->node_selector.count && !own->has_node_terms && !own->volume_count;
	if (shape->everywhere)
		return;
	shape->allowed = base_calloc((size_t)cluster->node_count, 1);
	for (int n = 0; n < cluster->node_count; n++)
		shape->allowed[n] = shape_find_exclusion(cluster, shape, n) == EXCLUDE_NONE;
}

static int shape_number(struct cluster *cluster, const struct pod_input *input, const struct pod_rules *rules)
{
	struct request_list requests = {0};
	for (size_t i = 0; i < input->request_count; i++)
		add_request(&requests, input->requests[i].name, input->requests[i].amount);
	add_port_requests(cluster, &requests, rules);
	if (requests.items.count)
		qsort(requests.items.items, requests.items.count, sizeof(struct resource_amount), compare_amounts);
	bool one_per_node = cluster->hostnames_unique && excludes_itself_on_host(input, rules);
	struct buffer key = {0};
	shape_key(&key, &requests, input, rules, one_per_node);
	int number;
	if (key_number(&cluster->shape_index, &key, (int)cluster->shapes.count, &number)) {
		struct shape shape;
		shape_fill(cluster, &shape, &requests, rules, one_per_node);
		vec_push(&cluster->shapes, shape);
		slots_prepare_spare(cluster);
	}
	buffer_free(&key);
	vec_free(&requests.items);
	return number;
}

static void fill_pod_class(struct cluster *cluster, struct pod_class *pod_class, int shape,
                           const struct pod_input *input, const struct pod_rules *rules)
{
	struct arena *arena = cluster->arena;
	*pod_class = (struct pod_class){.shape = shape, .namespace_ = arena_strdup(arena, input->namespace_)};
	pod_class->labels.items = arena_array(arena, struct label, input->labels.count);
	pod_class->labels.count = input->labels.count;
	for (size_t i = 0; i < input->labels.count; i++)
		pod_class->labels.items[i] = (struct label){.key = arena_strdup(arena, input->labels.items[i].key),
		                                            .value = arena_strdup(arena, input->labels.items[i].value)};
	struct pod_rules *own = &pod_class->rules;
#define COPY_TERMS(field)                                                                                              \
	own->field = copy_pod_terms(arena, rules->field, rules->field##_count);                                        \
	own->field##_count = rules->field##_count
	COPY_TERMS(affinity);
	COPY_TERMS(anti_affinity);
	COPY_TERMS(preferred_affinity);
	COPY_TERMS(preferred_anti_affinity);
#undef COPY_TERMS
	own->spread = arena_array(arena, struct spread_term, rules->spread_count);
	own->spread_count = rules->spread_count;
	for (size_t i = 0; i < rules->spread_count; i++) {
		own->spread[i] = rules->spread[i];
		own->spread[i].selector = copy_selector(arena, &rules->spread[i].selector);
		own->spread[i].topology_key = arena_strdup(arena, rules->spread[i].topology_key);
		pod_class->has_required_rules |= rules->spread[i].required;
	}
	pod_class->has_required_rules |= own->affinity_count || own->anti_affinity_count;
}

int cluster_add_pod_class(struct cluster *cluster, const struct pod_input *input)
{
	static const struct pod_rules no_rules = {0};
	const struct pod_rules *rules = input->rules ? input->rules : &no_rules;
	int shape = shape_number(cluster, input, rules);
	struct buffer key = {0};
	put_number(&key, shape);
	put_text(&key, input->namespace_);
	put_number(&key, (int64_t)input->labels.count);
	for (size_t i = 0; i < input->labels.count; i++) {
		put_text(&key, input->labels.items[i].key);
		put_text(&key, input->labels.items[i].value);
	}
	put_pod_terms(&key, rules->affinity, rules->affinity_count);
	put_pod_terms(&key, rules->anti_affinity, rules->anti_affinity_count);
	put_pod_terms(&key, rules->preferred_affinity, rules->preferred_affinity_count);
	put_pod_terms(&key, rules->preferred_anti_affinity, rules->preferred_anti_affinity_count);
	put_spread(&key, rules->spread, rules->spread_count);
	int number;
	if (key_number(&cluster->pod_class_index, &key, (int)cluster->pod_classes.count, &number)) {
		struct pod_class pod_class;
		fill_pod_class(cluster, &pod_class, shape, input, rules);
		vec_push(&cluster->pod_classes, pod_class);
	}
	buffer_free(&key);
	return number;
}

int64_t cluster_pod_class_request(const struct cluster *cluster, int pod_class, int resource)
{
	const struct shape *shape = &cluster->shapes.items[cluster->pod_classes.items[pod_class].shape];
	for (int i = 0; i < shape->request_count; i++)
		if (shape->resource[i] == resource)
			return shape->amount[i];
	return 0;
}

const char *cluster_pod_class_pool(const struct cluster *cluster, int pod_class)
{
	return cluster->shapes.items[cluster->pod_classes.items[pod_class].shape].rules.pool;
}

static bool any_term_matches(const struct node_term *terms, size_t count, const struct cluster_node_data *node)
{
	for (size_t i = 0; i < count; i++)
		if (terms[i].selector.count && selector_matches(&terms[i].selector, &node->labels, node->name))
			return true;
	return false;
}

enum exclusion shape_find_exclusion(const struct cluster *cluster, const struct shape *shape, int number)
{
	const struct cluster_node_data *node = &cluster->nodes[number];
	const struct pod_rules *rules = &shape->rules;
	if (cluster->pool_key && !text_equal(node->pool, rules->pool))
		return EXCLUDE_POOL;
	if (rules->node_label && !labels_get(&node->labels, rules->node_label))
		return EXCLUDE_LABEL;
	if (!node->ready)
		return EXCLUDE_NOT_READY;
	const struct taint cordon = {.key = "node.kubernetes.io/unschedulable",
	                             .value = "",
	                             .effect = TAINT_NO_SCHEDULE};
	if (node->unschedulable && !taint_tolerated(&cordon, rules->tolerations, rules->toleration_count))
		return EXCLUDE_UNSCHEDULABLE;
	for (size_t i = 0; i < node->taint_count; i++)
		if (node->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
		    !taint_tolerated(&node->taints[i], rules->tolerations, rules->toleration_count))
			return EXCLUDE_TAINT;
	if (!selector_matches(&rules->node_selector, &node->labels, node->name))
		return EXCLUDE_SELECTOR;
	if (rules->has_node_terms && !any_term_matches(rules->node_terms, rules->node_term_count, node))
		return EXCLUDE_AFFINITY;
	size_t first = 0;
	for (size_t v = 0; v < rules->volume_count; v++) {
		if (!any_term_matches(rules->volume_terms + first, rules->volume_term_counts[v], node))
			return EXCLUDE_VOLUME;
		first += rules->volume_term_counts[v];
	}
	return EXCLUDE_NONE;
}

const int *shape_count_exclusions(struct cluster *cluster, int number)
{
	struct shape *shape = &cluster->shapes.items[number];
	if (shape->exclusions)
		return shape->exclusions;
	shape->exclusions = base_calloc(EXCLUDE_CAUSES, sizeof(*shape->exclusions));
	for (int n = 0; n < cluster->node_count; n++)
		shape->exclusions[shape_allows_node(cluster, shape, n) ? EXCLUDE_NONE
		                                                       : shape_find_exclusion(cluster, shape, n)]++;
	return shape->exclusions;
}

bool shape_allows_node(const struct cluster *cluster, const struct shape *shape, int node)
{
	return shape->everywhere || shape->allowed[node];
}
