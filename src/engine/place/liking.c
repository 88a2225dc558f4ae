/* Owns what pods prefer: the score of a node for one pod, and the sum over all pods of a decision. */
#include "engine/place/liking.h"
#include "engine/place/rules.h"

#include <string.h>

enum {
	MOST_WISHES = 64,     /* different terms of one gang: more are left out */
	MOST_COUNTED = 10000, /* pods that a term counts in one domain */
	AGAINST_SOFT_TAINT = 100,
	AGAINST_SKEW = 100,
};

/* The values of a label as numbers. */
struct key_domains {
	const char *key;
	int32_t *domain; /* by node, -1 without the label */
	int count;
};

struct wish { /* a preferred term, of one kind of pods or several */
	const struct pod_term *term;
	const struct spread_term *spread; /* one of the two */
	const struct pod_class *owner;
	int64_t weight; /* negative: apart */
	const struct key_domains *domains;
	int *there;                  /* by domain: pods that are there already */
	int *others;                 /* by domain: pods it selects */
	int *own_selected, *own_not; /* by domain: pods that have it, and whether it selects themselves */
	int64_t allowed;             /* of a spread: pods in a domain that nobody minds */
	int64_t all;                 /* pods it selects, everywhere */
};

struct kind {
	int pod_class, local; /* local shape */
	uint64_t own, selected;
};

struct liking {
	const struct solver *solver;
	int32_t **score; /* by local shape and node: what a pod thinks of nodes; NULL: nothing */
	struct wish wishes[MOST_WISHES];
	int wish_count;
	struct kind *kinds;
	int kind_count;
	int *kind_of; /* by pod, -1 */
	struct liking_sum sum;
	int64_t most; /* that it could be */
};

/* ---- domains ---- */

static struct key_domains *number_domains(const struct cluster *cluster, const char *key, struct arena *arena)
{
	struct key_domains *domains = arena_new(arena, struct key_domains);
	struct name_entry *index = NULL;
	struct name_entry *entries = base_calloc((size_t)cluster->node_count + 1, sizeof(*entries));
	domains->key = key;
	domains->domain = arena_array(arena, int32_t, (size_t)cluster->node_count);
	for (int n = 0; n < cluster->node_count; n++) {
		const char *value = rules_node_value(cluster, key, n);
		struct name_entry *entry = NULL;
		domains->domain[n] = -1;
		if (!value)
			continue;
		HASH_FIND(hh, index, value, strlen(value), entry);
		if (!entry) {
			entry = &entries[domains->count];
			entry->name = value;
			entry->number = domains->count++;
			HASH_ADD_KEYPTR(hh, index, value, strlen(value), entry);
		}
		domains->domain[n] = entry->number;
	}
	HASH_CLEAR(hh, index);
	free(entries);
	return domains;
}

/* Whom a term selects, asked once per pod class. */
struct selection {
	const struct pod_term *term;
	const struct spread_term *spread;
	const struct pod_class *owner;
	int8_t *answer; /* by pod class: 0 not asked yet, 1 yes, -1 no */
};

static bool selects(const struct cluster *cluster, struct selection *selection, int pod_class)
{
	int8_t *answer = &selection->answer[pod_class];
	const struct pod_class *other = &cluster->pod_classes.items[pod_class];
	if (!*answer)
		*answer = (selection->term ? rules_term_selects(selection->term, selection->owner, other)
		                           : rules_spread_selects(selection->spread, selection->owner, other))
		                  ? 1
		                  : -1;
	return *answer > 0;
}

/* Adds the selected pods that are on nodes to the counts of domains. */
static void count_there(const struct solver *solver, struct selection *selection, const struct key_domains *domains,
                        int *count)
{
	const struct cluster *cluster = solver->cluster;
	selection->answer = base_calloc(cluster->pod_classes.count + 1, 1);
	for (int n = 0; n < cluster->node_count; n++)
		for (size_t i = 0; domains->domain[n] >= 0 && i < cluster->residents[n].count; i++) {
			const struct resident *resident = &cluster->residents[n].items[i];
			int present = rules_count_present(resident, solver->view);
			int *sum = &count[domains->domain[n]];
			if (present > 0 && *sum < MOST_COUNTED && selects(cluster, selection, resident->pod_class))
				*sum += present;
		}
	for (int d = 0; d < domains->count; d++)
		count[d] = count[d] < MOST_COUNTED ? count[d] : MOST_COUNTED;
	free(selection->answer);
}

/* ---- nodes ---- */

static void score_node(const struct cluster *cluster, const struct pod_rules *rules, int node, int32_t *score)
{
	const struct cluster_node_data *data = &cluster->nodes[node];
	for (size_t i = 0; i < rules->preferred_node_count; i++)
		if (selector_matches(&rules->preferred_nodes[i].selector, &data->labels, data->name))
			*score += rules->preferred_nodes[i].weight;
	for (size_t i = 0; i < data->taint_count; i++)
		if (data->taints[i].effect == TAINT_PREFER_NO_SCHEDULE &&
		    !taint_tolerated(&data->taints[i], rules->tolerations, rules->toleration_count))
			*score -= AGAINST_SOFT_TAINT;
}

/* When room is made a term counts once, however many it selects: fewer evictions come before all that pods prefer. */
static void score_terms(const struct solver *solver, const struct pod_class *own, const struct pod_term *terms,
                        size_t count, int sign, int32_t *score)
{
	const struct cluster *cluster = solver->cluster;
	for (size_t i = 0; i < count; i++) {
		struct key_domains *domains = number_domains(cluster, terms[i].topology_key, solver->arena);
		int *there = arena_array(solver->arena, int, (size_t)domains->count);
		count_there(solver, &(struct selection){.term = &terms[i], .owner = own}, domains, there);
		for (int n = 0; n < cluster->node_count; n++) {
			int found = domains->domain[n] >= 0 ? there[domains->domain[n]] : 0;
			score[n] += sign * terms[i].weight * (solver->bias ? found > 0 : found);
		}
	}
}

static bool has_nominated(const struct gang *gang)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if (gang->pods[p].state == MEMBER_WAITING && gang->pods[p].nominated >= 0)
			return true;
	return false;
}

const int32_t *liking_score_nodes(const struct solver *solver, int pod_class)
{
	enum { NOMINATED = 1 << 28, BIASED = 1000 };
	const struct cluster *cluster = solver->cluster;
	const struct pod_class *own = &cluster->pod_classes.items[pod_class];
	const struct pod_rules *node_rules = &cluster->shapes.items[own->shape].rules;
	bool nominated = has_nominated(solver->gang);
	bool spares = strategy_spares_gpus(cluster, &cluster->shapes.items[own->shape]);
	if (!solver->bias && !nominated && !spares && !cluster->soft_taints && !node_rules->preferred_node_count &&
	    !own->rules.preferred_affinity_count && !own->rules.preferred_anti_affinity_count)
		return NULL;
	int32_t *score = arena_alloc_raw(solver->arena, (size_t)cluster->node_count * sizeof(int32_t));
	const int32_t *biased = solver->bias ? solver->bias->node_score : NULL;
	int nodes = cluster->node_count;
	if (!biased)
		memset(score, 0, (size_t)nodes * sizeof(*score));
	for (int n = 0; biased && n < nodes; n++)
		score[n] = biased[n] * BIASED;
	for (int n = 0; (cluster->soft_taints || node_rules->preferred_node_count) && n < cluster->node_count; n++)
		score_node(cluster, node_rules, n, &score[n]);
	score_terms(solver, own, own->rules.preferred_affinity, own->rules.preferred_affinity_count, 1, score);
	score_terms(solver, own, own->rules.preferred_anti_affinity, own->rules.preferred_anti_affinity_count, -1,
	            score);
	if (spares)
		strategy_score_spared(cluster, score);
	for (size_t p = 0; nominated && p < solver->gang->pod_count; p++) {
		const struct gang_pod *pod = &solver->gang->pods[p];
		if (pod->state == MEMBER_WAITING && pod->nominated >= 0 &&
		    cluster->pod_classes.items[pod->pod_class].shape == own->shape && score[pod->nominated] < NOMINATED)
			score[pod->nominated] += NOMINATED;
	}
	return score;
}

/* ---- terms that are alike ---- */

static bool same_texts(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static bool same_selector(const struct selector *a, const struct selector *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct match *x = &a->items[i], *y = &b->items[i];
		if (x->op != y->op || x->field_name != y->field_name || strcmp(x->key, y->key) != 0 ||
		    !same_texts((const char *const *)x->values, x->value_count, (const char *const *)y->values,
		                y->value_count))
			return false;
	}
	return true;
}

static bool same_spread(const struct spread_term *a, const struct spread_term *b)
{
	return a->max_skew == b->max_skew && strcmp(a->topology_key, b->topology_key) == 0 &&
	       same_selector(&a->selector, &b->selector);
}

static bool same_term(const struct pod_term *a, const struct pod_term *b)
{
	return a->selects_nothing == b->selects_nothing && a->all_namespaces == b->all_namespaces &&
	       strcmp(a->topology_key, b->topology_key) == 0 &&
	       same_texts(a->namespaces, a->namespace_count, b->namespaces, b->namespace_count) &&
	       same_selector(&a->selector, &b->selector);
}

static bool same_wish(const struct wish *a, const struct wish *b)
{
	if (a->weight != b->weight || strcmp(a->owner->namespace_, b->owner->namespace_) != 0)
		return false;
	if (a->spread && b->spread)
		return same_spread(a->spread, b->spread);
	return a->term && b->term && same_term(a->term, b->term);
}

/* Adds a wish to those a kind has. One it has twice stands there twice. */
static void add_wish(struct liking *liking, struct kind *kind, struct wish wish)
{
	wish.owner = &liking->solver->cluster->pod_classes.items[kind->pod_class];
	int w = 0;
	while (w < liking->wish_count && (kind->own >> w & 1 || !same_wish(&liking->wishes[w], &wish)))
		w++;
	if (w == MOST_WISHES)
		return;
	if (w == liking->wish_count)
		liking->wishes[liking->wish_count++] = wish;
	kind->own |= UINT64_C(1) << w;
}

/* Whether each pod of the gang may start by itself, wherever it likes. */
static bool starts_alone(const struct gang *gang)
{
	for (size_t i = 0; i < gang->tree_count; i++)
		if (gang->tree[i].minimum > 1 || gang->tree[i].required.topology >= 0 ||
		    gang->tree[i].preferred.topology >= 0)
			return false;
	return true;
}

/* Whether the term is a wish that counts for the pods of the gang. */
static bool is_wish(const struct gang *gang, const struct spread_term *term)
{
	return !term->required && (!term->usual || starts_alone(gang));
}

static void add_wishes(struct liking *liking, struct kind *kind)
{
	const struct pod_rules *rules = &liking->solver->cluster->pod_classes.items[kind->pod_class].rules;
	for (size_t i = 0; i < rules->preferred_affinity_count; i++)
		add_wish(liking, kind,
		         (struct wish){.term = &rules->preferred_affinity[i],
		                       .weight = rules->preferred_affinity[i].weight});
	for (size_t i = 0; i < rules->preferred_anti_affinity_count; i++)
		add_wish(liking, kind,
		         (struct wish){.term = &rules->preferred_anti_affinity[i],
		                       .weight = -rules->preferred_anti_affinity[i].weight});
	for (size_t i = 0; i < rules->spread_count; i++)
		if (is_wish(liking->solver->gang, &rules->spread[i]))
			add_wish(liking, kind, (struct wish){.spread = &rules->spread[i], .weight = -1});
}

/* ---- building ---- */

static bool prefers_something(const struct solver *solver)
{
	const struct cluster *cluster = solver->cluster;
	if (cluster->soft_taints)
		return true;
	int last = -1;
	for (size_t p = 0; p < solver->gang->pod_count; p++) {
		int pod_class = solver->gang->pods[p].pod_class;
		if (solver->pod_shape[p] < 0 || pod_class == last)
			continue;
		last = pod_class;
		const struct pod_class *own = &cluster->pod_classes.items[pod_class];
		if (cluster->shapes.items[own->shape].rules.preferred_node_count ||
		    own->rules.preferred_affinity_count || own->rules.preferred_anti_affinity_count)
			return true;
		for (size_t i = 0; i < own->rules.spread_count; i++)
			if (is_wish(solver->gang, &own->rules.spread[i]))
				return true;
	}
	return false;
}

static void mark_selected(struct liking *liking, struct kind *kind)
{
	const struct pod_class *other = &liking->solver->cluster->pod_classes.items[kind->pod_class];
	kind->selected = 0;
	for (int w = 0; w < liking->wish_count; w++) {
		const struct wish *wish = &liking->wishes[w];
		bool selected = wish->term ? rules_term_selects(wish->term, wish->owner, other)
		                           : rules_spread_selects(wish->spread, wish->owner, other);
		kind->selected |= (uint64_t)selected << w;
	}
}

/* Pods that nobody tells apart become one kind. */
static void merge_kinds(struct liking *liking)
{
	int *merged = base_calloc((size_t)liking->kind_count + 1, sizeof(int)), count = 0;
	for (int k = 0; k < liking->kind_count; k++) {
		const struct kind *kind = &liking->kinds[k];
		int m = 0;
		while (m < count && (liking->kinds[m].local != kind->local || liking->kinds[m].own != kind->own ||
		                     liking->kinds[m].selected != kind->selected))
			m++;
		if (m == count)
			liking->kinds[count++] = *kind;
		merged[k] = m;
	}
	for (size_t p = 0; p < liking->solver->gang->pod_count; p++)
		if (liking->kind_of[p] >= 0)
			liking->kind_of[p] = merged[liking->kind_of[p]];
	liking->kind_count = count;
	free(merged);
}

static void find_kinds(struct liking *liking)
{
	const struct solver *solver = liking->solver;
	const struct gang *gang = solver->gang;
	int32_t *mark = solver->cluster->pod_class_mark.items; /* -1 between decisions */
	liking->kinds = arena_array(solver->arena, struct kind, gang->pod_count);
	liking->kind_of = arena_array(solver->arena, int, gang->pod_count);
	for (size_t p = 0; p < gang->pod_count; p++) {
		int pod_class = gang->pods[p].pod_class;
		liking->kind_of[p] = -1;
		if (solver->pod_shape[p] < 0)
			continue;
		if (mark[pod_class] < 0) {
			mark[pod_class] = liking->kind_count;
			liking->kinds[liking->kind_count] =
				(struct kind){.pod_class = pod_class, .local = solver->pod_shape[p]};
			add_wishes(liking, &liking->kinds[liking->kind_count++]);
		}
		liking->kind_of[p] = mark[pod_class];
	}
	for (int k = 0; k < liking->kind_count; k++) {
		mark[liking->kinds[k].pod_class] = -1;
		mark_selected(liking, &liking->kinds[k]);
	}
}

static void build_wish(struct liking *liking, int number)
{
	const struct solver *solver = liking->solver;
	struct wish *wish = &liking->wishes[number];
	const char *key = wish->term ? wish->term->topology_key : wish->spread->topology_key;
	for (int w = 0; w < number && !wish->domains; w++)
		if (strcmp(liking->wishes[w].domains->key, key) == 0)
			wish->domains = liking->wishes[w].domains;
	if (!wish->domains)
		wish->domains = number_domains(solver->cluster, key, solver->arena);
	size_t count = (size_t)wish->domains->count;
	wish->there = arena_array(solver->arena, int, count);
	wish->others = arena_array(solver->arena, int, count);
	wish->own_selected = arena_array(solver->arena, int, count);
	wish->own_not = arena_array(solver->arena, int, count);
	struct selection selection = {.term = wish->term, .spread = wish->spread, .owner = wish->owner};
	count_there(solver, &selection, wish->domains, wish->there);
	for (size_t d = 0; d < count; d++)
		wish->all += wish->there[d];
	memcpy(wish->others, wish->there, count * sizeof(int));
}

static void score_shapes(struct liking *liking)
{
	const struct solver *solver = liking->solver;
	const struct cluster *cluster = solver->cluster;
	liking->score = arena_array(solver->arena, int32_t *, (size_t)solver->shape_count);
	for (int s = 0; s < solver->shape_count; s++) {
		const struct pod_rules *rules = &cluster->shapes.items[solver->shapes[s].shape].rules;
		if (!cluster->soft_taints && !rules->preferred_node_count)
			continue;
		liking->score[s] = arena_array(solver->arena, int32_t, (size_t)cluster->node_count);
		for (int n = 0; n < cluster->node_count; n++)
			score_node(cluster, rules, n, &liking->score[s][n]);
	}
}

struct liking *liking_create(const struct solver *solver)
{
	if (solver->bias || !prefers_something(solver) || has_nominated(solver->gang))
		return NULL;
	struct liking *liking = arena_new(solver->arena, struct liking);
	liking->solver = solver;
	find_kinds(liking);
	merge_kinds(liking);
	for (int w = 0; w < liking->wish_count; w++)
		build_wish(liking, w);
	score_shapes(liking);
	return liking;
}

bool liking_is_mutual(const struct liking *liking)
{
	return liking->wish_count > 0;
}

int liking_find_kind(const struct liking *liking, int pod)
{
	return liking->kind_of[pod];
}

/* ---- the sum ---- */

static void add_domain(struct liking *liking, const struct wish *wish, int32_t domain, int sign)
{
	int64_t others = wish->others[domain], selected = wish->own_selected[domain], not = wish->own_not[domain];
	int64_t each = selected * (others - 1) + not *others;
	int64_t once = selected * (others > 1) + not *(others > 0);
	int64_t skewed = wish->spread && others > wish->allowed ? (selected + not ) * (others - wish->allowed) : 0;
	liking->sum.each += sign * (wish->weight * each - AGAINST_SKEW * skewed);
	liking->sum.once += sign * (wish->spread ? -AGAINST_SKEW * (skewed > 0) : wish->weight * once);
}

void liking_add(struct liking *liking, int number, int node, int sign)
{
	const struct kind *kind = &liking->kinds[number];
	int64_t score = liking->score[kind->local] ? liking->score[kind->local][node] : 0;
	liking->sum.each += sign * score;
	liking->sum.once += sign * score;
	for (uint64_t left = kind->own | kind->selected; left; left &= left - 1) {
		int w = __builtin_ctzll(left);
		struct wish *wish = &liking->wishes[w];
		int32_t domain = wish->domains->domain[node];
		bool own = kind->own >> w & 1, selected = kind->selected >> w & 1;
		if (domain < 0)
			continue;
		add_domain(liking, wish, domain, -1);
		wish->others[domain] += selected ? sign : 0;
		wish->all += selected ? sign : 0;
		wish->own_selected[domain] += own && selected ? sign : 0;
		wish->own_not[domain] += own && !selected ? sign : 0;
		add_domain(liking, wish, domain, 1);
	}
}

struct liking_sum liking_value(const struct liking *liking)
{
	return liking->sum;
}

bool liking_is_best(const struct liking *liking, struct liking_sum sum)
{
	return sum.each >= liking->most;
}

/* What nobody minds in a domain: an even share of all that are selected with so many more, and the skew. */
static int64_t allow_share(const struct wish *wish, int64_t more)
{
	return (wish->all + more) / wish->domains->count + wish->spread->max_skew;
}

int64_t liking_score(const struct liking *liking, int number, int node)
{
	const struct kind *kind = &liking->kinds[number];
	int64_t score = liking->score[kind->local] ? liking->score[kind->local][node] : 0;
	for (uint64_t left = kind->own; left; left &= left - 1) {
		const struct wish *wish = &liking->wishes[__builtin_ctzll(left)];
		int32_t domain = wish->domains->domain[node];
		int64_t others = domain >= 0 ? wish->others[domain] : 0;
		score += wish->weight * others;
		if (wish->spread && domain >= 0) {
			int64_t self = kind->selected >> __builtin_ctzll(left) & 1;
			int64_t beyond = others + self - allow_share(wish, self);
			score -= beyond > 0 ? AGAINST_SKEW * beyond : 0;
		}
	}
	return score;
}

bool liking_has_score(const struct liking *liking, int number)
{
	return liking->kinds[number].own || liking->score[liking->kinds[number].local];
}

bool liking_has_spread(const struct liking *liking, int number)
{
	for (int w = 0; w < liking->wish_count; w++)
		if (liking->kinds[number].own >> w & 1 && liking->wishes[w].spread)
			return true;
	return false;
}

static int64_t best_score(const struct liking *liking, int local)
{
	const int32_t *score = liking->score[local], *slots = liking->solver->shapes[local].slots->node;
	int64_t best = INT64_MIN;
	for (int n = 0; score && n < liking->solver->cluster->node_count; n++)
		if (slots[n] > 0 && score[n] > best)
			best = score[n];
	return best == INT64_MIN ? 0 : best;
}

int64_t liking_expect(struct liking *liking, const int *kinds, size_t count)
{
	int *of_kind = base_calloc((size_t)liking->kind_count + 1, sizeof(int));
	int64_t most = 0;
	for (size_t i = 0; i < count; i++)
		of_kind[kinds[i]]++;
	for (int k = 0; k < liking->kind_count; k++)
		most += of_kind[k] ? of_kind[k] * best_score(liking, liking->kinds[k].local) : 0;
	for (int w = 0; w < liking->wish_count; w++) {
		struct wish *wish = &liking->wishes[w];
		int64_t selected = 0, own_selected = 0, own_not = 0, there = 0;
		for (int k = 0; k < liking->kind_count; k++) {
			bool is = liking->kinds[k].selected >> w & 1, has = liking->kinds[k].own >> w & 1;
			selected += is ? of_kind[k] : 0;
			own_selected += has && is ? of_kind[k] : 0;
			own_not += has && !is ? of_kind[k] : 0;
		}
		for (int d = 0; d < wish->domains->count; d++)
			there = wish->there[d] > there ? wish->there[d] : there;
		if (wish->spread && wish->domains->count)
			wish->allowed = allow_share(wish, selected);
		else if (wish->weight > 0)
			most += wish->weight * (own_selected * (selected + there - 1) + own_not * (selected + there));
	}
	free(of_kind);
	liking->most = most;
	return most;
}

int liking_list_domains(const struct liking *liking, const int32_t *slots, int *nodes, int room)
{
	int count = 0;
	for (int w = 0; w < liking->wish_count; w++) {
		const struct key_domains *domains = liking->wishes[w].domains;
		bool before = domains->count > room - count;
		for (int v = 0; v < w; v++)
			before |= liking->wishes[v].domains == domains;
		for (int d = 0; !before && d < domains->count; d++) {
			int n = 0;
			while (n < liking->solver->cluster->node_count && (domains->domain[n] != d || slots[n] < 1))
				n++;
			if (n < liking->solver->cluster->node_count)
				nodes[count++] = n;
		}
	}
	return count;
}
