/* Owns the choice of devices for decided pods: per node, a matching of what is requested and what is free. */
#include "schedule/device_choice.h"

#include "base/strings.h"
#include "schedule/device_columns_internal.h"

#include <stdlib.h>
#include <string.h>

struct wish { /* one device for a request */
	const struct device_ask *ask;
	struct device_result *result;
	size_t pod;
	int node;
};

struct offer {
	const struct counted_device *device;
	int taken;   /* number of the wish that has it, -1 for none */
	int visited; /* by the search of that number */
};

/* A claim whose devices are searched for. */
struct open_claim {
	struct device_choice *choice;
	const struct device_claim_spec *claim;
};

struct choosing {
	struct device_columns *columns;
	const struct device_pod *pods;
	struct arena *arena;
	struct device_choices *out;
	struct wish *wishes;
	size_t wish_count;
	struct open_claim *open; /* those that are searched for */
	size_t open_count;
	device_is_given *given;
	const void *context;
	struct interner *seen; /* "namespace/claim" of those that are chosen */
};

static void refuse(struct choosing *choosing, size_t pod, const char *problem)
{
	if (choosing->out->problem)
		return;
	choosing->out->problem = problem;
	choosing->out->problem_pod = pod;
}

/* ---- what is wished for ---- */

static bool is_user(const struct device_claim_spec *claim, const struct pod_spec *pod)
{
	for (size_t i = 0; i < claim->user_count; i++)
		if (strcmp(claim->users[i], pod->uid) == 0)
			return true;
	return false;
}

static void wish_for(struct choosing *choosing, const struct device_claim_spec *claim, struct device_choice *choice)
{
	for (size_t r = 0; r < claim->request_count; r++) {
		const struct device_option *option = &claim->requests[r].options[0];
		enum block_code code;
		const char *why = NULL;
		const struct device_ask *ask =
			device_asks_need(choosing->columns, option, choosing->arena, &code, &why);
		if (!ask) {
			refuse(choosing, choice->pod, arena_printf(choosing->arena, "claim %s: %s", claim->name, why));
			return;
		}
		for (int64_t i = 0; i < option->count; i++) {
			struct device_result *result = &choice->results[choice->result_count++];
			result->request = option->name;
			choosing->wishes[choosing->wish_count++] =
				(struct wish){ask, result, choice->pod, choosing->pods[choice->pod].node};
		}
	}
}

/* Of a claim that is counted. */
static int64_t count_devices(const struct device_claim_spec *claim)
{
	int64_t count = 0;
	for (size_t r = 0; r < claim->request_count; r++)
		count += claim->requests[r].options[0].count;
	return count;
}

/* The claim of that number in the pod's list; NULL when nothing is to be written for it. */
static const struct device_claim_spec *find_claim(const struct choosing *choosing, size_t pod, size_t number)
{
	const struct pod_spec *spec = choosing->pods[pod].pod;
	const char *name = spec->device_claims[number].claim;
	const struct device_claim_spec *claim =
		name ? device_book_claim(choosing->columns->book, spec->namespace_, name) : NULL;
	return claim && claim->allocated && is_user(claim, spec) ? NULL : claim;
}

static void add_choice(struct choosing *choosing, size_t pod, const struct device_claim_spec *claim)
{
	const char *key = arena_printf(choosing->arena, "%s/%s", claim->namespace_, claim->name);
	uint32_t known = interner_count(choosing->seen);
	if (interner_id(choosing->seen, key) != known && !claim->allocated)
		return; /* two entries of one pod may name one claim */
	struct device_choice *choice = &choosing->out->items[choosing->out->count++];
	*choice = (struct device_choice){.pod = pod,
	                                 .namespace_ = claim->namespace_,
	                                 .claim = claim->name,
	                                 .allocated = claim->allocated};
	if (claim->allocated) {
		choice->results = claim->results;
		choice->result_count = claim->result_count;
		return;
	}
	if (choosing->columns->searching) {
		choosing->open[choosing->open_count++] = (struct open_claim){choice, claim};
		return;
	}
	choice->results = arena_array(choosing->arena, struct device_result, (size_t)count_devices(claim));
	wish_for(choosing, claim, choice);
}

static void list_wishes(struct choosing *choosing, size_t pod_count)
{
	size_t claims = 0, wishes = 0;
	for (size_t p = 0; p < pod_count; p++)
		for (size_t c = 0; c < choosing->pods[p].pod->device_claim_count; c++) {
			const struct device_claim_spec *claim = find_claim(choosing, p, c);
			claims += claim != NULL;
			wishes += claim && !claim->allocated && !choosing->columns->searching
			                  ? (size_t)count_devices(claim)
			                  : 0;
		}
	choosing->out->items = arena_array(choosing->arena, struct device_choice, claims);
	choosing->open = arena_array(choosing->arena, struct open_claim, claims);
	choosing->wishes = arena_array(choosing->arena, struct wish, wishes);
	for (size_t p = 0; p < pod_count; p++)
		for (size_t c = 0; c < choosing->pods[p].pod->device_claim_count; c++) {
			const struct device_claim_spec *claim = find_claim(choosing, p, c);
			if (claim)
				add_choice(choosing, p, claim);
		}
}

/* ---- what there is on a node ---- */

static int compare_offers(const void *left, const void *right)
{
	return device_compare(((const struct offer *)left)->device, ((const struct offer *)right)->device);
}

static bool is_free(const struct choosing *choosing, const struct counted_device *device)
{
	const struct device_holding *holding;
	HASH_FIND(hh, choosing->columns->holdings, device->key, strlen(device->key), holding);
	return !holding && device->pool->usable && !choosing->given(choosing->context, device->key);
}

static struct offer *list_offers(const struct choosing *choosing, int node, size_t *count)
{
	const struct device_node *at = &choosing->columns->nodes[node];
	struct offer *offers = arena_array(choosing->arena, struct offer, at->devices.count);
	*count = 0;
	for (size_t i = 0; i < at->devices.count; i++) {
		const struct counted_device *device = at->devices.items[i];
		if (is_free(choosing, device))
			offers[(*count)++] = (struct offer){.device = device, .taken = -1};
	}
	if (*count > 1)
		qsort(offers, *count, sizeof(*offers), compare_offers);
	return offers;
}

/* ---- who gets what ---- */

/* Finds a device for the wish, others giving up theirs for another one where need be. */
static bool serve(const struct choosing *choosing, int number, struct offer *offers, size_t count, int search)
{
	device_mask bit = (device_mask)1 << choosing->wishes[number].ask->number;
	for (size_t i = 0; i < count; i++)
		if (offers[i].taken < 0 && (offers[i].device->selected & bit)) {
			offers[i].taken = number;
			return true;
		}
	for (size_t i = 0; i < count; i++) {
		struct offer *offer = &offers[i];
		if (offer->visited == search || !(offer->device->selected & bit))
			continue;
		offer->visited = search;
		if (serve(choosing, offer->taken, offers, count, search)) {
			offer->taken = number;
			return true;
		}
	}
	return false;
}

static void name_device(const struct choosing *choosing, const struct counted_device *device,
                        struct device_result *result)
{
	const char *key = arena_strdup(choosing->arena, device->key);
	const char *pool = strchr(key, '/'), *name = strrchr(key, '/');
	result->driver = arena_strndup(choosing->arena, key, (size_t)(pool - key));
	result->pool = arena_strndup(choosing->arena, pool + 1, (size_t)(name - pool - 1));
	result->device = name + 1;
}

static void put_results(const struct choosing *choosing, const struct offer *offers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (offers[i].taken >= 0)
			name_device(choosing, offers[i].device, choosing->wishes[offers[i].taken].result);
}

/* All wishes on the node of the first one that has none. */
static void serve_node(struct choosing *choosing, size_t first, bool *served)
{
	int node = choosing->wishes[first].node;
	size_t count;
	struct offer *offers = list_offers(choosing, node, &count);
	for (size_t w = first; w < choosing->wish_count; w++) {
		if (choosing->wishes[w].node != node)
			continue;
		served[w] = true;
		if (!serve(choosing, (int)w, offers, count, (int)w + 1))
			refuse(choosing, choosing->wishes[w].pod,
			       arena_printf(choosing->arena, "no device of node %s is left for request %s",
			                    cluster_node_name(choosing->columns->cluster, node),
			                    choosing->wishes[w].result->request));
	}
	put_results(choosing, offers, count);
}

/* ---- where counting is not exact ---- */

#define STEPS 200000 /* of the search on one node: more than it was decided with */

static const struct fit_claim *find_fit(struct choosing *choosing, const struct open_claim *open)
{
	const struct device_claim_spec *claim = open->claim;
	enum block_code code;
	const char *why = "there are too many kinds of claims";
	size_t options = 0, at = 0;
	for (size_t r = 0; r < claim->request_count; r++)
		options += claim->requests[r].option_count;
	struct device_ask **asks = arena_array(choosing->arena, struct device_ask *, options);
	bool fine = true;
	for (size_t r = 0; r < claim->request_count; r++)
		for (size_t o = 0; o < claim->requests[r].option_count && fine; o++) {
			asks[at] = device_asks_need(choosing->columns, &claim->requests[r].options[o], choosing->arena,
			                            &code, &why);
			fine = asks[at++] != NULL;
		}
	const struct device_sort *sort = fine ? device_sorts_need(choosing->columns, claim, asks) : NULL;
	if (!sort)
		refuse(choosing, open->choice->pod, arena_printf(choosing->arena, "claim %s: %s", claim->name, why));
	return sort ? &sort->claim : NULL;
}

/* What is free, and what those who have the others leave of the counters. */
static void read_state(const struct choosing *choosing, int number, struct fit_problem *problem)
{
	const struct stock_node *node = device_parts_node(choosing->columns, number);
	struct counted_device *const *devices = device_parts_devices(choosing->columns, number);
	bool *free = arena_array(choosing->arena, bool, node->device_count);
	int64_t *left = arena_array(choosing->arena, int64_t, node->counter_count);
	for (size_t c = 0; c < node->counter_count; c++)
		left[c] = node->counters[c];
	for (size_t d = 0; d < node->device_count; d++) {
		free[d] = is_free(choosing, devices[d]);
		for (size_t i = 0; i < node->devices[d].draw_count && !free[d]; i++)
			left[node->devices[d].draws[i].counter] -= node->devices[d].draws[i].amount;
	}
	*problem = (struct fit_problem){.devices = node->devices,
	                                .device_count = node->device_count,
	                                .free = free,
	                                .left = left,
	                                .counter_count = node->counter_count,
	                                .attribute_count = interner_count(choosing->columns->attributes),
	                                .steps = STEPS};
}

static void put_picks(const struct choosing *choosing, const struct fit_result *result,
                      struct open_claim *const *claims, size_t count, int node)
{
	struct counted_device *const *devices = device_parts_devices(choosing->columns, node);
	for (size_t c = 0; c < count; c++)
		claims[c]->choice->results = arena_array(choosing->arena, struct device_result, result->pick_count);
	for (size_t p = 0; p < result->pick_count; p++) {
		const struct fit_pick *pick = &result->picks[p];
		struct device_choice *choice = claims[pick->claim]->choice;
		struct device_result *one = &choice->results[choice->result_count++];
		const struct device_option *option =
			&claims[pick->claim]->claim->requests[pick->request].options[pick->choice];
		one->request = option->name;
		one->admin = option->admin;
		name_device(choosing, devices[pick->device], one);
	}
}

static int node_of(const struct choosing *choosing, const struct open_claim *open)
{
	return choosing->pods[open->choice->pod].node;
}

/* All claims on the node of the first one that has nothing yet. */
static void search_node(struct choosing *choosing, size_t first, bool *served)
{
	int node = node_of(choosing, &choosing->open[first]);
	size_t count = 0;
	struct fit_problem problem;
	struct fit_result result;
	const struct fit_claim **fits = arena_array(choosing->arena, const struct fit_claim *, choosing->open_count);
	struct open_claim **claims = arena_array(choosing->arena, struct open_claim *, choosing->open_count);
	for (size_t o = first; o < choosing->open_count; o++) {
		if (node_of(choosing, &choosing->open[o]) != node)
			continue;
		served[o] = true;
		fits[count] = find_fit(choosing, &choosing->open[o]);
		if (!fits[count])
			return;
		claims[count++] = &choosing->open[o];
	}
	read_state(choosing, node, &problem);
	problem.claims = fits;
	problem.claim_count = count;
	if (device_fit(&problem, choosing->arena, &result) == FIT_YES)
		put_picks(choosing, &result, claims, count, node);
	else
		refuse(choosing, claims[0]->choice->pod,
		       arena_printf(choosing->arena, "the devices of node %s that are left do not serve its claims",
		                    cluster_node_name(choosing->columns->cluster, node)));
}

struct device_choices device_choices_find(struct device_columns *columns, const struct device_pod *pods, size_t count,
                                          device_is_given *given, const void *context, struct arena *arena)
{
	struct device_choices out = {0};
	struct choosing choosing = {.columns = columns,
	                            .pods = pods,
	                            .arena = arena,
	                            .out = &out,
	                            .given = given,
	                            .context = context,
	                            .seen = interner_create()};
	list_wishes(&choosing, count);
	bool *served = arena_array(arena, bool, choosing.wish_count),
	     *found = arena_array(arena, bool, choosing.open_count);
	for (size_t w = 0; w < choosing.wish_count; w++)
		if (!served[w])
			serve_node(&choosing, w, served);
	for (size_t o = 0; o < choosing.open_count && !out.problem; o++)
		if (!found[o])
			search_node(&choosing, o, found);
	if (out.problem)
		out.count = 0;
	interner_destroy(choosing.seen);
	return out;
}
