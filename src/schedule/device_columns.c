/* Owns what the columns count: devices by node, what is taken of them, and what the claims of a pod ask for. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 32 /* that the API server takes in one claim */
#define MOST_USERS 256
/* Asks are never forgotten; with more of them, or of their columns, former ones among them, all begins anew. */
#define SPARE_ASKS (DEVICE_MOST_ASKS / 2)
#define SPARE_COLUMNS 256

struct device_columns *device_columns_create(const struct device_book *book, struct cluster *cluster,
                                             device_users *users, const void *context)
{
	struct device_columns *columns = base_calloc(1, sizeof(*columns));
	*columns = (struct device_columns){.book = book,
	                                   .cluster = cluster,
	                                   .users = users,
	                                   .context = context,
	                                   .scratch = arena_create_small(),
	                                   .node_count = cluster_node_count(cluster)};
	columns->nodes = base_calloc((size_t)columns->node_count + 1, sizeof(*columns->nodes));
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

static struct counted_claim *find_claim(const struct device_columns *columns, const char *namespace_, const char *name)
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
	struct counted_claim *claim = find_claim(columns, namespace_, name);
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

/* Who requests the devices of an allocated claim: its only pod, where it is on their node; otherwise they are held. */
static bool count_claim(struct device_columns *columns, const struct device_claim_spec *spec,
                        const struct pod_spec *pod, int node)
{
	struct counted_claim *claim = find_claim(columns, spec->namespace_, spec->name);
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

void device_columns_leave(struct device_columns *columns, const struct pod_spec *pod, device_mask asks)
{
	for (size_t a = 0; a < columns->by_number.count; a++)
		columns->by_number.items[a]->users -= asks >> a & 1;
	for (size_t i = 0; i < pod->device_claim_count; i++) {
		const char *name = pod->device_claims[i].claim;
		struct counted_claim *claim = name ? find_claim(columns, pod->namespace_, name) : NULL;
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

static void put_hold(struct device_columns *columns, int node, const struct device_column *column,
                     enum occupancy occupancy, int count)
{
	if (count == 0)
		return;
	for (int k = 0; k < count; k++)
		cluster_occupy(columns->cluster, column->pod_class, node, occupancy);
	vec_push(&columns->nodes[node].holds, (struct device_hold){column->pod_class, occupancy, count});
}

static bool holds_are(const struct device_node *node, const struct device_hold *holds, size_t count)
{
	return node->holds.count == count &&
	       (count == 0 || memcmp(node->holds.items, holds, count * sizeof(*holds)) == 0);
}

static void count_node(struct device_columns *columns, int node)
{
	struct device_node *at = &columns->nodes[node];
	size_t count = 0;
	arena_reset(columns->scratch);
	struct tally *tallies = arena_array(columns->scratch, struct tally, columns->columns.count);
	struct device_hold *holds = arena_array(columns->scratch, struct device_hold, 2 * columns->columns.count);
	for (size_t c = 0; c < columns->columns.count; c++) {
		const struct device_column *column = &columns->columns.items[c];
		for (size_t d = 0; column->used && d < at->devices.count; d++)
			if (at->devices.items[d]->selected & column->asks)
				tally_device(columns, at->devices.items[d], &tallies[c]);
		if (tallies[c].held)
			holds[count++] = (struct device_hold){column->pod_class, OCCUPY_RUNNING, tallies[c].held};
		if (tallies[c].leaving)
			holds[count++] = (struct device_hold){column->pod_class, OCCUPY_RELEASING, tallies[c].leaving};
		cluster_set_amount(columns->cluster, column->resource, node, tallies[c].all);
	}
	at->stale = false;
	if (holds_are(at, holds, count))
		return;
	lift_holds(columns, node);
	for (size_t c = 0; c < columns->columns.count; c++) {
		put_hold(columns, node, &columns->columns.items[c], OCCUPY_RUNNING, tallies[c].held);
		put_hold(columns, node, &columns->columns.items[c], OCCUPY_RELEASING, tallies[c].leaving);
	}
}

void device_columns_settle(struct device_columns *columns)
{
	if (columns->relations_stale || columns->related != device_asks_used(columns))
		device_relations_find(columns);
	for (size_t i = 0; i < columns->stale_nodes.count; i++)
		count_node(columns, columns->stale_nodes.items[i]);
	columns->stale_nodes.count = 0;
}

/* ---- what a pod asks for ---- */

struct asking {
	struct device_columns *columns;
	const struct pod_spec *pod;
	struct arena *arena;
	struct volume_needs *needs;
	int64_t *units; /* by column */
	device_mask asks;
	bool fine;
};

static void refuse(struct asking *asking, enum block_code code, const char *text)
{
	pod_block_add(&asking->needs->block, asking->arena, code, "%s", text);
	asking->fine = false;
}

static void add_request(struct asking *asking, const struct device_claim_spec *claim,
                        const struct device_request *request)
{
	struct device_columns *columns = asking->columns;
	enum block_code code;
	const char *why = NULL;
	struct device_ask *ask = device_asks_need(columns, request, asking->arena, &code, &why);
	if (ask) {
		device_mask bit = (device_mask)1 << ask->number;
		ask->users += !(asking->asks & bit);
		asking->asks |= bit;
		why = device_asks_problem(columns, ask, asking->arena, &code);
	}
	if (ask && !why && columns->tangled) {
		code = BLOCK_UNSUPPORTED;
		why = "selectors of devices overlap in too many ways";
	}
	if (!ask || why) {
		refuse(asking, code,
		       arena_printf(asking->arena, "resourceclaim \"%s\", request %s: %s", claim->name, request->name,
		                    why));
		return;
	}
	for (size_t c = 0; c < ask->columns.count; c++)
		asking->units[ask->columns.items[c]] += request->count;
}

static void ask_open(struct asking *asking, const struct device_claim_spec *claim)
{
	int64_t devices = 0;
	for (size_t i = 0; i < claim->request_count; i++)
		devices = devices > MOST_DEVICES ? devices : devices + claim->requests[i].count;
	if (claim->unserved)
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena, "resourceclaim \"%s\": %s is not served", claim->name,
		                    claim->unserved));
	else if (devices > MOST_DEVICES)
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena, "resourceclaim \"%s\" asks for more than %d devices", claim->name,
		                    MOST_DEVICES));
	else if (asking->columns->users(asking->columns->context, claim->namespace_, claim->name) > 1)
		refuse(asking, BLOCK_UNSUPPORTED,
		       arena_printf(asking->arena,
		                    "resourceclaim \"%s\" is named by several pods and not allocated yet, which is not "
		                    "served",
		                    claim->name));
	for (size_t i = 0; i < claim->request_count && asking->fine; i++)
		add_request(asking, claim, &claim->requests[i]);
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
	const struct counted_claim *counted = find_claim(columns, claim->namespace_, claim->name);
	bool counts = count_claim(columns, claim, asking->pod, node);
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

static void put_units(struct asking *asking)
{
	struct volume_needs *needs = asking->needs;
	const struct device_columns *columns = asking->columns;
	struct resource_amount *items =
		arena_array(asking->arena, struct resource_amount, needs->request_count + columns->columns.count);
	if (needs->request_count)
		memcpy(items, needs->requests, needs->request_count * sizeof(*items));
	for (size_t c = 0; c < columns->columns.count; c++)
		if (asking->units[c])
			items[needs->request_count++] = (struct resource_amount){
				.name = cluster_resource_name(columns->cluster, columns->columns.items[c].resource),
				.amount = asking->units[c],
			};
	needs->requests = items;
}

device_mask device_columns_ask(struct device_columns *columns, const struct pod_spec *pod, int node,
                               struct arena *arena, struct volume_needs *needs)
{
	if (pod->device_claim_count == 0)
		return 0;
	struct asking asking = {.columns = columns, .pod = pod, .arena = arena, .needs = needs, .fine = true};
	asking.units = arena_array(arena, int64_t, columns->columns.count);
	for (size_t i = 0; i < pod->device_claim_count; i++)
		ask_claim(&asking, &pod->device_claims[i], node);
	put_units(&asking);
	return asking.asks;
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
	return former && (columns->by_number.count > SPARE_ASKS || columns->columns.count > SPARE_COLUMNS);
}

void device_columns_destroy(struct device_columns *columns)
{
	if (!columns)
		return;
	while (columns->claims)
		claim_free(columns, columns->claims);
	device_pools_free(columns);
	device_asks_free(columns);
	free_nodes(columns);
	vec_free(&columns->stale_nodes);
	vec_free(&columns->columns);
	vec_free(&columns->atoms);
	arena_destroy(columns->scratch);
	free(columns);
}
