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

struct choosing {
	struct device_columns *columns;
	const struct device_pod *pods;
	struct arena *arena;
	struct device_choices *out;
	struct wish *wishes;
	size_t wish_count;
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
		const struct device_request *request = &claim->requests[r];
		enum block_code code;
		const char *why = NULL;
		const struct device_ask *ask =
			device_asks_need(choosing->columns, request, choosing->arena, &code, &why);
		if (!ask) {
			refuse(choosing, choice->pod, arena_printf(choosing->arena, "claim %s: %s", claim->name, why));
			return;
		}
		for (int64_t i = 0; i < request->count; i++) {
			struct device_result *result = &choice->results[choice->result_count++];
			result->request = request->name;
			choosing->wishes[choosing->wish_count++] =
				(struct wish){ask, result, choice->pod, choosing->pods[choice->pod].node};
		}
	}
}

static int64_t count_devices(const struct device_claim_spec *claim)
{
	int64_t count = 0;
	for (size_t r = 0; r < claim->request_count; r++)
		count += claim->requests[r].count;
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
			wishes += claim && !claim->allocated ? (size_t)count_devices(claim) : 0;
		}
	choosing->out->items = arena_array(choosing->arena, struct device_choice, claims);
	choosing->wishes = arena_array(choosing->arena, struct wish, wishes);
	for (size_t p = 0; p < pod_count; p++)
		for (size_t c = 0; c < choosing->pods[p].pod->device_claim_count; c++) {
			const struct device_claim_spec *claim = find_claim(choosing, p, c);
			if (claim)
				add_choice(choosing, p, claim);
		}
}

/* ---- what there is on a node ---- */

static int count_asks(device_mask asks)
{
	int count = 0;
	for (; asks; asks &= asks - 1)
		count++;
	return count;
}

/* Those first that serve the fewest asks; then by driver, pool and name, gpu-2 before gpu-10. */
static int compare_offers(const void *left, const void *right)
{
	const struct counted_device *a = ((const struct offer *)left)->device,
				    *b = ((const struct offer *)right)->device;
	int x = count_asks(a->selected), y = count_asks(b->selected);
	size_t long_a = strlen(a->key), long_b = strlen(b->key);
	if (x != y)
		return x < y ? -1 : 1;
	if (a->pool != b->pool)
		return strcmp(a->pool->key, b->pool->key);
	if (long_a != long_b)
		return long_a < long_b ? -1 : 1;
	return strcmp(a->key, b->key);
}

static struct offer *list_offers(const struct choosing *choosing, int node, size_t *count)
{
	const struct device_node *at = &choosing->columns->nodes[node];
	struct offer *offers = arena_array(choosing->arena, struct offer, at->devices.count);
	*count = 0;
	for (size_t i = 0; i < at->devices.count; i++) {
		const struct counted_device *device = at->devices.items[i];
		const struct device_holding *holding;
		HASH_FIND(hh, choosing->columns->holdings, device->key, strlen(device->key), holding);
		if (!holding && device->pool->usable && !choosing->given(choosing->context, device->key))
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

static void put_results(const struct choosing *choosing, const struct offer *offers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (offers[i].taken < 0)
			continue;
		struct device_result *result = choosing->wishes[offers[i].taken].result;
		const char *key = arena_strdup(choosing->arena, offers[i].device->key);
		char *pool = strchr(key, '/'), *device = strrchr(key, '/');
		result->driver = arena_strndup(choosing->arena, key, (size_t)(pool - key));
		result->pool = arena_strndup(choosing->arena, pool + 1, (size_t)(device - pool - 1));
		result->device = device + 1;
	}
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
	bool *served = arena_array(arena, bool, choosing.wish_count);
	for (size_t w = 0; w < choosing.wish_count; w++)
		if (!served[w])
			serve_node(&choosing, w, served);
	if (out.problem)
		out.count = 0;
	interner_destroy(choosing.seen);
	return out;
}
