/* Owns what the columns count: devices by node, and what is taken of them. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"
#include "engine/cycle/cycle.h"

#include <stdlib.h>
#include <string.h>

/* Asks are never forgotten; with more of them, or of their columns, former ones among them, all begins anew. */
#define SPARE_ASKS (DEVICE_MOST_ASKS / 2)
#define SPARE_COLUMNS 256

/* Nobody asks for all of a class; they are counted for queues. */
static void count_gpus(struct device_columns *columns)
{
	const struct device_entry *at = NULL;
	while ((at = device_book_next(columns->book, DEVICE_CLASS, at))) {
		const char *name = ((const struct device_class_spec *)device_book_spec(at))->name, *why;
		enum block_code code;
		struct device_option all = {.name = "", .class_ = name, .count = 1};
		const struct device_ask *ask = device_class_is_of_gpus(name)
		                                       ? device_asks_need(columns, &all, columns->scratch, &code, &why)
		                                       : NULL;
		columns->gpus |= ask ? (device_mask)1 << ask->number : 0;
	}
	if (!columns->gpus)
		return;
	struct resource_amount unit = {.name = CYCLE_CLAIMED_GPUS, .amount = 1};
	columns->claimed = (struct device_column){.asks = columns->gpus,
	                                          .resource = cluster_need_resource(columns->cluster, unit.name),
	                                          .used = true};
	columns->claimed.pod_class =
		cluster_add_pod_class(columns->cluster,
	                              &(struct pod_input){.namespace_ = "", .requests = &unit, .request_count = 1});
}

struct device_columns *device_columns_create(const struct device_book *book, struct cluster *cluster,
                                             device_users *users, const void *context)
{
	struct device_columns *columns = base_calloc(1, sizeof(*columns));
	*columns = (struct device_columns){.book = book,
	                                   .cluster = cluster,
	                                   .users = users,
	                                   .context = context,
	                                   .scratch = arena_create_small(),
	                                   .attributes = interner_create(),
	                                   .values = interner_create(),
	                                   .contents = interner_create(),
	                                   .node_count = cluster_node_count(cluster)};
	columns->nodes = base_calloc((size_t)columns->node_count + 1, sizeof(*columns->nodes));
	count_gpus(columns);
	const struct device_entry *at = NULL;
	while ((at = device_book_next(book, DEVICE_SLICE, at)))
		device_columns_slice(columns, ((const struct device_slice *)device_book_spec(at))->name);
	while ((at = device_book_next(book, DEVICE_CLAIM, at))) {
		const struct device_claim_spec *claim = device_book_spec(at);
		device_columns_claim(columns, claim->namespace_, claim->name);
	}
	return columns;
}

static void free_nodes(struct device_columns *columns)
{
	for (int n = 0; n < columns->node_count; n++) {
		vec_free(&columns->nodes[n].devices);
		vec_free(&columns->nodes[n].holds);
	}
	free(columns->nodes);
	columns->stale_nodes.count = 0;
}

/* ---- what is taken ---- */

static void hold(struct device_columns *columns, const char *key, int claims, int held, int leaving)
{
	struct device_holding *holding;
	HASH_FIND(hh, columns->holdings, key, strlen(key), holding);
	if (!holding) {
		holding = base_calloc(1, sizeof(*holding));
		holding->key = base_strdup(key);
		HASH_ADD_KEYPTR(hh, columns->holdings, holding->key, strlen(holding->key), holding);
	}
	holding->claims += claims;
	holding->held += held;
	holding->leaving += leaving;
	const struct counted_device *device = device_pools_find(columns, key);
	if (device)
		device_node_stale(columns, device->node);
	if (holding->claims > 0)
		return;
	HASH_DEL(columns->holdings, holding);
	free(holding->key);
	free(holding);
}

static void drop_results(struct device_columns *columns, struct counted_claim *claim)
{
	for (size_t i = 0; i < claim->device_count; i++) {
		hold(columns, claim->devices[i], -1, -claim->held, -claim->leaving);
		free(claim->devices[i]);
	}
	free(claim->devices);
	claim->devices = NULL;
	claim->device_count = 0;
}

/* While its devices are on the way back they are leaving: who waits for them need not look elsewhere. */
static void take_results(struct device_columns *columns, struct counted_claim *claim,
                         const struct device_claim_spec *spec)
{
	bool leaves = spec->deleting ||
	              (spec->user_count && columns->users(columns->context, spec->namespace_, spec->name) == 0);
	claim->held = !claim->pod && !leaves;
	claim->leaving = !claim->pod && leaves;
	claim->devices = base_calloc(spec->result_count + 1, sizeof(*claim->devices));
	for (size_t i = 0; i < spec->result_count; i++) {
		const struct device_result *result = &spec->results[i];
		if (result->admin)
			continue;
		char *key = device_key(result->driver, result->pool, result->device);
		claim->devices[claim->device_count++] = key;
		hold(columns, key, 1, claim->held, claim->leaving);
	}
}

static void claim_free(struct device_columns *columns, struct counted_claim *claim)
{
	drop_results(columns, claim);
	HASH_DEL(columns->claims, claim);
	free(claim->pod);
	free(claim->key);
	free(claim);
}

struct counted_claim *device_claims_find(const struct device_columns *columns, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	struct counted_claim *claim;
	buffer_printf(&key, "%s/%s", namespace_, name);
	HASH_FIND(hh, columns->claims, key.text, key.length, claim);
	buffer_free(&key);
	return claim;
}

void device_columns_claim(struct device_columns *columns, const char *namespace_, const char *name)
{
	const struct device_claim_spec *spec = device_book_claim(columns->book, namespace_, name);
	struct counted_claim *claim = device_claims_find(columns, namespace_, name);
	if (claim)
		drop_results(columns, claim);
	if (!spec || !spec->allocated) {
		if (claim)
			claim_free(columns, claim);
		return;
	}
	if (!claim) {
		struct buffer key = {0};
		buffer_printf(&key, "%s/%s", namespace_, name);
		claim = base_calloc(1, sizeof(*claim));
		claim->key = key.text;
		HASH_ADD_KEYPTR(hh, columns->claims, claim->key, key.length, claim);
	}
	take_results(columns, claim, spec);
}

/* Whether all devices of the claim that there are are on the node. */
static bool is_on_node(const struct device_columns *columns, const struct counted_claim *claim, int node)
{
	for (size_t i = 0; i < claim->device_count; i++) {
		const struct counted_device *device = device_pools_find(columns, claim->devices[i]);
		if (device && device->node != node)
			return false;
	}
	return true;
}

bool device_claims_count(struct device_columns *columns, const struct device_claim_spec *spec,
                         const struct pod_spec *pod, int node)
{
	struct counted_claim *claim = device_claims_find(columns, spec->namespace_, spec->name);
	if (!claim)
		return false;
	bool counts = node >= 0 && columns->users(columns->context, spec->namespace_, spec->name) == 1 &&
	              is_on_node(columns, claim, node);
	if (counts != text_equal(claim->pod, pod->name)) {
		drop_results(columns, claim);
		free(claim->pod);
		claim->pod = counts ? base_strdup(pod->name) : NULL;
		take_results(columns, claim, spec);
	}
	return counts;
}

void device_columns_leave(struct device_columns *columns, const struct pod_spec *pod, struct device_asked asked)
{
	for (size_t a = 0; a < columns->by_number.count; a++)
		columns->by_number.items[a]->users -= asked.asks >> a & 1;
	for (size_t s = 0; s < columns->sorts_by_number.count; s++)
		columns->sorts_by_number.items[s]->users -= asked.sorts >> s & 1;
	for (size_t i = 0; i < pod->device_claim_count; i++) {
		const char *name = pod->device_claims[i].claim;
		struct counted_claim *claim = name ? device_claims_find(columns, pod->namespace_, name) : NULL;
		if (!claim || !text_equal(claim->pod, pod->name))
			continue;
		free(claim->pod);
		claim->pod = NULL;
		device_columns_claim(columns, pod->namespace_, name);
	}
}

/* ---- amounts ---- */

/* Devices of a column on a node: all, and those that are occupied though no pod requests them. */
struct tally {
	int all, held, leaving;
};

static void tally_device(const struct device_columns *columns, const struct counted_device *device, struct tally *tally)
{
	const struct device_holding *holding;
	HASH_FIND(hh, columns->holdings, device->key, strlen(device->key), holding);
	bool held = !device->pool->usable ? !holding || holding->claims == holding->held + holding->leaving
	                                  : holding && holding->held;
	tally->all++;
	tally->held += held;
	tally->leaving += !held && holding && holding->leaving;
}

static void lift_holds(struct device_columns *columns, int node)
{
	struct device_node *at = &columns->nodes[node];
	for (size_t i = 0; i < at->holds.count; i++)
		for (int k = 0; k < at->holds.items[i].count; k++)
			cluster_vacate(columns->cluster, at->holds.items[i].pod_class, node,
			               at->holds.items[i].occupancy);
	at->holds.count = 0;
}

static void put_hold(struct device_columns *columns, int node, const struct device_hold *hold)
{
	for (int k = 0; k < hold->count; k++)
		cluster_occupy(columns->cluster, hold->pod_class, node, hold->occupancy);
	vec_push(&columns->nodes[node].holds, *hold);
}

static bool holds_are(const struct device_node *node, const struct device_hold *holds, size_t count)
{
	return node->holds.count == count &&
	       (count == 0 || memcmp(node->holds.items, holds, count * sizeof(*holds)) == 0);
}

static void tally_node(struct device_columns *columns, const struct device_node *node, struct tally *tallies)
{
	size_t columns_count = columns->columns.count;
	for (size_t d = 0; d < node->devices.count; d++) {
		const struct counted_device *device = node->devices.items[d];
		for (size_t c = 0; c < columns_count; c++)
			if (columns->columns.items[c].used && (device->selected & columns->columns.items[c].asks))
				tally_device(columns, device, &tallies[c]);
		if (columns->searching)
			tally_device(columns, device, &tallies[columns_count + 1 + (size_t)device->place]);
		if (device->selected & columns->gpus)
			tally_device(columns, device, &tallies[columns_count]);
	}
}

/* The columns of selections, then that of GPUs, then those of places. */
static void count_node(struct device_columns *columns, int node)
{
	struct device_node *at = &columns->nodes[node];
	size_t count = 0, selections = columns->columns.count, all = selections + 1 + columns->places.count;
	arena_reset(columns->scratch);
	struct tally *tallies = arena_array(columns->scratch, struct tally, all);
	struct device_hold *holds = arena_array(columns->scratch, struct device_hold, 2 * all);
	tally_node(columns, at, tallies);
	for (size_t c = 0; c < all; c++) {
		const struct device_column *column = c < selections    ? &columns->columns.items[c]
		                                     : c == selections ? &columns->claimed
		                                                       : NULL;
		const struct device_place *place = column ? NULL : &columns->places.items[c - selections - 1];
		if (column && !column->asks)
			continue; /* there is no class of GPUs */
		int pod_class = column ? column->pod_class : place->pod_class;
		if (tallies[c].held)
			holds[count++] = (struct device_hold){pod_class, OCCUPY_RUNNING, tallies[c].held};
		if (tallies[c].leaving)
			holds[count++] = (struct device_hold){pod_class, OCCUPY_RELEASING, tallies[c].leaving};
		cluster_set_amount(columns->cluster, column ? column->resource : place->resource, node, tallies[c].all);
	}
	at->stale = false;
	if (holds_are(at, holds, count))
		return;
	lift_holds(columns, node);
	for (size_t i = 0; i < count; i++)
		put_hold(columns, node, &holds[i]);
}

void device_columns_settle(struct device_columns *columns)
{
	if (columns->relations_stale || columns->related != device_asks_used(columns))
		device_relations_find(columns);
	device_parts_settle(columns);
	for (size_t i = 0; i < columns->stale_nodes.count; i++)
		count_node(columns, columns->stale_nodes.items[i]);
	columns->stale_nodes.count = 0;
}

bool device_columns_grew(struct device_columns *columns)
{
	bool grew = columns->grew;
	columns->grew = false;
	return grew;
}

/* ---- changes ---- */

void device_columns_slice(struct device_columns *columns, const char *name)
{
	device_pools_take(columns, name);
}

void device_columns_lift(struct device_columns *columns)
{
	for (int n = 0; n < columns->node_count; n++)
		lift_holds(columns, n);
}

void device_columns_nodes(struct device_columns *columns)
{
	cluster_set_device_stock(columns->cluster, NULL);
	device_parts_free(columns);
	free_nodes(columns);
	columns->node_count = cluster_node_count(columns->cluster);
	columns->nodes = base_calloc((size_t)columns->node_count + 1, sizeof(*columns->nodes));
	device_pools_find_nodes(columns);
	for (int n = 0; n < columns->node_count; n++)
		device_node_stale(columns, n);
}

bool device_columns_worn(const struct device_columns *columns)
{
	device_mask used = device_asks_used(columns);
	bool former = false;
	for (size_t a = 0; a < columns->by_number.count; a++)
		former |= !(used >> a & 1);
	bool former_sorts = false;
	for (size_t n = 0; n < columns->sorts_by_number.count; n++)
		former_sorts |= columns->sorts_by_number.items[n]->users == 0;
	return (former && (columns->by_number.count > SPARE_ASKS || columns->columns.count > SPARE_COLUMNS)) ||
	       (former_sorts && columns->sorts_by_number.count > SPARE_ASKS);
}

void device_columns_destroy(struct device_columns *columns)
{
	if (!columns)
		return;
	while (columns->claims)
		claim_free(columns, columns->claims);
	device_pools_free(columns);
	device_asks_free(columns);
	device_parts_free(columns);
	device_sorts_free(columns);
	free_nodes(columns);
	interner_destroy(columns->attributes);
	interner_destroy(columns->values);
	interner_destroy(columns->contents);
	vec_free(&columns->places);
	vec_free(&columns->stale_nodes);
	vec_free(&columns->columns);
	vec_free(&columns->atoms);
	arena_destroy(columns->scratch);
	free(columns);
}
