/* Owns what the claims of a pod ask for: units of columns, or why they cannot be served. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <string.h>

#define MOST_DEVICES 32 /* that the API server takes in one claim */
#define MOST_USERS 256

struct asking {
	struct device_columns *columns;
	const struct pod_spec *pod;
	struct arena *arena;
	struct volume_needs *needs;
	int64_t *units;  /* by column */
	int64_t *claims; /* by sort */
	int64_t *places; /* by place */
	int64_t gpus;
	struct device_asked asked;
	bool fine;
};

static void refuse(struct asking *asking, enum block_code code, const char *text)
{
	pod_block_add(&asking->needs->block, asking->arena, code, "%s", text);
	asking->fine = false;
}

/* The ask of an option; NULL, and the pod is refused, when it cannot be served. */
static struct device_ask *need_ask(struct asking *asking, const struct device_claim_spec *claim,
                                   const struct device_option *option)
{
	struct device_columns *columns = asking->columns;
	enum block_code code;
	const char *why = NULL;
	struct device_ask *ask = device_asks_need(columns, option, asking->arena, &code, &why);
	if (ask) {
		device_mask bit = (device_mask)1 << ask->number;
		ask->users += !(asking->asked.asks & bit);
		asking->asked.asks |= bit;
		why = device_asks_problem(columns, ask, asking->arena, &code);
	}
	if (ask && !why && columns->tangled) {
		code = BLOCK_UNSUPPORTED;
		why = "selectors of devices overlap in too many ways";
	}
	if (ask && !why)
		return ask;
	refuse(asking, code,
	       arena_printf(asking->arena, "resourceclaim \"%s\", request %s: %s", claim->name, option->name, why));
	return NULL;
}

static bool is_among(const struct device_ask *ask, size_t column)
{
	for (size_t c = 0; c < ask->columns.count; c++)
		if (ask->columns.items[c] == (int)column)
			return true;
	return false;
}

/* Of each column, what the request takes of it whichever of its options it gets. */
static void add_units(struct asking *asking, const struct device_request *request, struct device_ask *const *asks)
{
	for (size_t c = 0; c < asking->columns->columns.count; c++) {
		int64_t least = INT64_MAX;
		for (size_t o = 0; o < request->option_count; o++) {
			const struct device_option *option = &request->options[o];
			int64_t units = !option->admin && is_among(asks[o], c) ? option->count : 0;
			least = units < least ? units : least;
		}
		asking->units[c] += least;
	}
	int64_t gpus = INT64_MAX;
	for (size_t o = 0; o < request->option_count; o++) {
		const struct device_option *option = &request->options[o];
		int64_t units = !option->admin && device_class_is_of_gpus(option->class_) ? option->count : 0;
		gpus = units < gpus ? units : gpus;
	}
	asking->gpus += gpus;
}

/* A unit of the sort of the claim: where counting is not exact, the engine searches for its devices. */
static void add_sort(struct asking *asking, const struct device_claim_spec *claim, struct device_ask *const *asks)
{
	struct device_columns *columns = asking->columns;
	size_t known = columns->sorts_by_number.count;
	if (!columns->searching && device_sort_is_counted(claim))
		return;
	struct device_sort *sort = device_sorts_need(columns, claim, asks);
	if (!sort) {
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena,
		                    "resourceclaim \"%s\": more than 64 kinds of claims at a time are not served",
		                    claim->name));
		return;
	}
	if (columns->sorts_by_number.count > known)
		asking->claims = memcpy(arena_array(asking->arena, int64_t, known + 1), asking->claims,
		                        known * sizeof(*asking->claims));
	device_mask bit = (device_mask)1 << sort->number;
	sort->users += !(asking->asked.sorts & bit);
	asking->asked.sorts |= bit;
	asking->claims[sort->number]++;
}

/* What the claim asks for at least. */
static int64_t least_devices(const struct device_claim_spec *claim)
{
	int64_t devices = 0;
	for (size_t r = 0; r < claim->request_count; r++) {
		int64_t least = INT64_MAX;
		for (size_t o = 0; o < claim->requests[r].option_count; o++)
			least = claim->requests[r].options[o].count < least ? claim->requests[r].options[o].count
			                                                    : least;
		devices = devices > MOST_DEVICES ? devices : devices + least;
	}
	return devices;
}

static void add_requests(struct asking *asking, const struct device_claim_spec *claim)
{
	size_t options = 0, at = 0;
	for (size_t r = 0; r < claim->request_count; r++)
		options += claim->requests[r].option_count;
	struct device_ask **asks = arena_array(asking->arena, struct device_ask *, options);
	for (size_t r = 0; r < claim->request_count && asking->fine; r++) {
		const struct device_request *request = &claim->requests[r];
		for (size_t o = 0; o < request->option_count && asking->fine; o++)
			asks[at + o] = need_ask(asking, claim, &request->options[o]);
		if (asking->fine)
			add_units(asking, request, asks + at);
		at += request->option_count;
	}
	if (asking->fine)
		add_sort(asking, claim, asks);
}

static void ask_open(struct asking *asking, const struct device_claim_spec *claim)
{
	if (claim->unserved)
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena, "resourceclaim \"%s\": %s is not served", claim->name,
		                    claim->unserved));
	else if (least_devices(claim) > MOST_DEVICES)
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena, "resourceclaim \"%s\" asks for more than %d devices", claim->name,
		                    MOST_DEVICES));
	else if (asking->columns->users(asking->columns->context, claim->namespace_, claim->name) > 1)
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena,
		                    "resourceclaim \"%s\" is named by several pods and not allocated yet, which is not "
		                    "served",
		                    claim->name));
	if (asking->fine)
		add_requests(asking, claim);
}

/* The nodes of its devices are the only ones for a pod that is not there yet. */
static void add_terms(struct asking *asking, const struct device_claim_spec *claim)
{
	struct pod_rules *rules = arena_new(asking->arena, struct pod_rules);
	size_t terms = 0;
	*rules = *asking->needs->rules;
	for (size_t i = 0; i < rules->volume_count; i++)
		terms += rules->volume_term_counts[i];
	struct node_term *items = arena_array(asking->arena, struct node_term, terms + claim->term_count);
	size_t *counts = arena_array(asking->arena, size_t, rules->volume_count + 1);
	if (terms)
		memcpy(items, rules->volume_terms, terms * sizeof(*items));
	if (rules->volume_count)
		memcpy(counts, rules->volume_term_counts, rules->volume_count * sizeof(*counts));
	if (claim->term_count)
		memcpy(items + terms, claim->terms, claim->term_count * sizeof(*items));
	counts[rules->volume_count++] = claim->term_count;
	rules->volume_terms = items;
	rules->volume_term_counts = counts;
	asking->needs->rules = rules;
}

static bool is_user(const struct device_claim_spec *claim, const struct pod_spec *pod)
{
	for (size_t i = 0; i < claim->user_count; i++)
		if (strcmp(claim->users[i], pod->uid) == 0)
			return true;
	return false;
}

static void ask_allocated(struct asking *asking, const struct device_claim_spec *claim, int node)
{
	struct device_columns *columns = asking->columns;
	const struct counted_claim *counted = device_claims_find(columns, claim->namespace_, claim->name);
	bool counts = device_claims_count(columns, claim, asking->pod, node);
	if (node < 0 && claim->user_count >= MOST_USERS && !is_user(claim, asking->pod))
		refuse(asking, BLOCK_NOT_READY,
		       arena_printf(asking->arena, "resourceclaim \"%s\" is reserved for %d others, no more can use it",
		                    claim->name, MOST_USERS));
	if (node < 0 && claim->has_terms)
		add_terms(asking, claim);
	for (size_t i = 0; counts && i < counted->device_count; i++) {
		const struct counted_device *device = device_pools_find(columns, counted->devices[i]);
		for (size_t c = 0; device && c < columns->columns.count; c++)
			asking->units[c] +=
				columns->columns.items[c].used && (device->selected & columns->columns.items[c].asks);
		if (device && device->node >= 0 && (size_t)device->place < columns->places.count)
			asking->places[device->place] += columns->searching;
		asking->gpus += device && (device->selected & columns->gpus);
	}
}

static void ask_claim(struct asking *asking, const struct pod_device_claim *named, int node)
{
	struct arena *arena = asking->arena;
	const struct pod_spec *pod = asking->pod;
	const struct device_claim_spec *claim =
		named->claim ? device_book_claim(asking->columns->book, pod->namespace_, named->claim) : NULL;
	if (!named->claim)
		refuse(asking, BLOCK_MISSING,
		       arena_printf(arena,
		                    "resourceclaim for %s not found: the resource claim controller has not made it "
		                    "from template \"%s\" yet",
		                    named->entry, named->template_));
	else if (!claim)
		refuse(asking, BLOCK_MISSING, arena_printf(arena, "resourceclaim \"%s\" not found", named->claim));
	else if (claim->deleting && node < 0)
		refuse(asking, BLOCK_NOT_READY,
		       arena_printf(arena, "resourceclaim \"%s\" is being deleted", claim->name));
	else if (named->template_ && !text_equal(claim->owner, pod->uid))
		refuse(asking, BLOCK_NOT_READY,
		       arena_printf(arena, "resourceclaim \"%s\" was not created for pod %s", claim->name, pod->name));
	else if (claim->allocated)
		ask_allocated(asking, claim, node);
	else
		ask_open(asking, claim);
}

static void put_amount(struct asking *asking, struct resource_amount *items, int resource, int64_t amount)
{
	if (amount)
		items[asking->needs->request_count++] = (struct resource_amount){
			.name = cluster_resource_name(asking->columns->cluster, resource),
			.amount = amount,
		};
}

static void put_units(struct asking *asking)
{
	struct volume_needs *needs = asking->needs;
	const struct device_columns *columns = asking->columns;
	size_t sorts = columns->sorts_by_number.count, places = columns->places.count;
	struct resource_amount *items = arena_array(asking->arena, struct resource_amount,
	                                            needs->request_count + columns->columns.count + 1 + sorts + places);
	if (needs->request_count)
		memcpy(items, needs->requests, needs->request_count * sizeof(*items));
	for (size_t c = 0; c < columns->columns.count; c++)
		put_amount(asking, items, columns->columns.items[c].resource, asking->units[c]);
	if (columns->gpus)
		put_amount(asking, items, columns->claimed.resource, asking->gpus);
	for (size_t s = 0; s < sorts; s++)
		put_amount(asking, items, columns->sorts_by_number.items[s]->resource, asking->claims[s]);
	for (size_t p = 0; p < places; p++)
		put_amount(asking, items, columns->places.items[p].resource, asking->places[p]);
	needs->requests = items;
}

struct device_asked device_columns_ask(struct device_columns *columns, const struct pod_spec *pod, int node,
                                       struct arena *arena, struct volume_needs *needs)
{
	if (pod->device_claim_count == 0)
		return (struct device_asked){0};
	struct asking asking = {.columns = columns, .pod = pod, .arena = arena, .needs = needs, .fine = true};
	asking.units = arena_array(arena, int64_t, columns->columns.count);
	asking.claims = arena_array(arena, int64_t, columns->sorts_by_number.count);
	asking.places = arena_array(arena, int64_t, columns->places.count);
	for (size_t i = 0; i < pod->device_claim_count; i++)
		ask_claim(&asking, &pod->device_claims[i], node);
	put_units(&asking);
	return asking.asked;
}
