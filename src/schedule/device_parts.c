/* Owns what the engine searches in when counting is not exact: the devices of each node in numbers, and the columns of their places. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the engine is given, and what it borrows. */
struct device_parts {
	struct device_stock stock;
	struct arena *arena; /* of all but the nodes */
	struct stock_node *nodes;
	struct counted_device ***devices; /* by node, in the order of the stock */
};

static int count_asks(device_mask asks)
{
	int count = 0;
	for (; asks; asks &= asks - 1)
		count++;
	return count;
}

int device_compare(const struct counted_device *a, const struct counted_device *b)
{
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

static int compare_devices(const void *left, const void *right)
{
	return device_compare(*(struct counted_device *const *)left, *(struct counted_device *const *)right);
}

void device_places_need(struct device_columns *columns, int place)
{
	for (int p = (int)columns->places.count; p <= place; p++) {
		struct buffer name = {0};
		buffer_printf(&name, DEVICE_COLUMN "#%d", p);
		struct resource_amount unit = {.name = name.text, .amount = 1};
		struct device_place made = {.resource = cluster_need_resource(columns->cluster, name.text)};
		made.pod_class = cluster_add_pod_class(columns->cluster, &(struct pod_input){.namespace_ = "",
		                                                                             .requests = &unit,
		                                                                             .request_count = 1});
		buffer_free(&name);
		vec_push(&columns->places, made);
	}
}

/* ---- one node ---- */

/* The number of the value that a device has of an attribute; -1 when it has none. Of one type, and of another, are two values. */
static int32_t value_of(const struct device_columns *columns, const struct counted_device *device, const char *name)
{
	const struct cel_device *seen = &device->spec->seen;
	struct buffer text = {0};
	for (size_t a = 0; a < seen->attribute_count && !text.length; a++) {
		const struct cel_attribute *one = &seen->attributes[a];
		if (!device_name_matches(name, one->domain, one->id, seen->driver))
			continue;
		switch (one->type) {
		case CEL_ATTRIBUTE_INT:
			buffer_printf(&text, "i%" PRId64, one->number);
			break;
		case CEL_ATTRIBUTE_BOOL:
			buffer_printf(&text, "b%d", one->truth);
			break;
		case CEL_ATTRIBUTE_STRING:
			buffer_printf(&text, "s%.*s", (int)one->text.length, one->text.text);
			break;
		case CEL_ATTRIBUTE_VERSION:
			buffer_printf(&text, "v%" PRIu64 ".%" PRIu64 ".%" PRIu64 "-%.*s", one->version.major,
			              one->version.minor, one->version.patch, (int)one->version.before.length,
			              one->version.before.text);
			break;
		}
	}
	int32_t value = text.length ? (int32_t)interner_id(columns->values, text.text) : -1;
	buffer_free(&text);
	return value;
}

/* The counters of the pools that devices of a node draw on. */
struct counters {
	VEC(int64_t) values;
	VEC(const char *) names;
	struct interner *known; /* "driver/pool/set/counter" */
};

static int counter_of(const struct device_columns *columns, const struct device_pool *pool,
                      const struct device_draw *draw, struct arena *arena, struct counters *counters)
{
	const char *key = arena_printf(arena, "%s/%s/%s", pool->key, draw->set, draw->counter);
	uint32_t known = interner_count(counters->known), number = interner_id(counters->known, key);
	if (number < known)
		return (int)number;
	int64_t value = 0, generation = -1;
	for (size_t i = 0; i < pool->slices.count; i++) {
		const struct device_slice *slice = device_book_slice(columns->book, pool->slices.items[i]);
		for (size_t c = 0; slice && c < slice->counter_count; c++)
			if (slice->generation > generation && strcmp(slice->counters[c].set, draw->set) == 0 &&
			    strcmp(slice->counters[c].name, draw->counter) == 0) {
				value = slice->counters[c].value;
				generation = slice->generation;
			}
	}
	vec_push(&counters->values, value);
	vec_push(&counters->names, arena_printf(arena, "%s of %s", draw->counter, draw->set));
	return (int)number;
}

static void fill_device(const struct device_columns *columns, const struct counted_device *from, struct arena *arena,
                        struct counters *counters, struct fit_device *out)
{
	uint32_t attributes = interner_count(columns->attributes);
	int32_t *values = arena_array(arena, int32_t, attributes);
	struct fit_draw *draws = arena_array(arena, struct fit_draw, from->spec->draw_count);
	for (uint32_t a = 0; a < attributes; a++)
		values[a] = value_of(columns, from, interner_text(columns->attributes, a));
	for (size_t d = 0; d < from->spec->draw_count; d++)
		draws[d] = (struct fit_draw){counter_of(columns, from->pool, &from->spec->draws[d], arena, counters),
		                             from->spec->draws[d].amount};
	*out = (struct fit_device){.asks = from->selected,
	                           .barred = from->barred,
	                           .values = values,
	                           .draws = draws,
	                           .draw_count = from->spec->draw_count};
}

/* Nodes with the same devices in the same places are asked once. */
static int content_of(const struct device_columns *columns, const struct stock_node *node)
{
	struct buffer key = {0};
	uint32_t attributes = interner_count(columns->attributes);
	for (size_t d = 0; d < node->device_count; d++) {
		const struct fit_device *device = &node->devices[d];
		buffer_printf(&key, "%d:%" PRIx64 ":%" PRIx64, node->places[d], device->asks, device->barred);
		for (uint32_t a = 0; a < attributes; a++)
			buffer_printf(&key, ",%d", (int)device->values[a]);
		for (size_t i = 0; i < device->draw_count; i++)
			buffer_printf(&key, "-%d*%" PRId64, device->draws[i].counter, device->draws[i].amount);
		buffer_printf(&key, ";");
	}
	for (size_t c = 0; c < node->counter_count; c++)
		buffer_printf(&key, "=%" PRId64, node->counters[c]);
	int content = (int)interner_id(columns->contents, key.text ? key.text : "");
	buffer_free(&key);
	return content;
}

static void build_node(struct device_columns *columns, int number)
{
	struct device_node *node = &columns->nodes[number];
	struct device_parts *parts = columns->parts;
	size_t count = node->devices.count;
	if (node->arena)
		arena_reset(node->arena);
	else
		node->arena = arena_create_small();
	struct counters counters = {.known = interner_create()};
	struct counted_device **devices = arena_array(node->arena, struct counted_device *, count);
	struct fit_device *seen = arena_array(node->arena, struct fit_device, count);
	int *places = arena_array(node->arena, int, count);
	if (count)
		memcpy(devices, node->devices.items, count * sizeof(struct counted_device *));
	if (count > 1)
		qsort(devices, count, sizeof(struct counted_device *), compare_devices);
	for (size_t d = 0; d < count; d++) {
		fill_device(columns, devices[d], node->arena, &counters, &seen[d]);
		places[d] = devices[d]->place;
		device_places_need(columns, places[d]);
	}
	struct stock_node *out = &parts->nodes[number];
	int64_t *values = arena_array(node->arena, int64_t, counters.values.count);
	const char **names = arena_array(node->arena, const char *, counters.values.count);
	for (size_t c = 0; c < counters.values.count; c++) {
		values[c] = counters.values.items[c];
		names[c] = counters.names.items[c];
	}
	*out = (struct stock_node){.devices = seen,
	                           .places = places,
	                           .device_count = count,
	                           .counters = values,
	                           .counter_names = names,
	                           .counter_count = counters.values.count};
	out->content = content_of(columns, out);
	parts->devices[number] = devices;
	node->other = false;
	interner_destroy(counters.known);
	vec_free(&counters.values);
	vec_free(&counters.names);
}

/* ---- all of it ---- */

static void list_claims(struct device_columns *columns)
{
	struct device_parts *parts = columns->parts;
	size_t sorts = columns->sorts_by_number.count, attributes = interner_count(columns->attributes);
	arena_reset(parts->arena);
	struct stock_claim *claims = arena_array(parts->arena, struct stock_claim, sorts);
	int *places = arena_array(parts->arena, int, columns->places.count);
	const char **names = arena_array(parts->arena, const char *, attributes);
	for (size_t s = 0; s < sorts; s++) {
		const struct device_sort *sort = columns->sorts_by_number.items[s];
		claims[s] = (struct stock_claim){sort->resource, sort->claim, sort->requests};
	}
	for (size_t p = 0; p < columns->places.count; p++)
		places[p] = columns->places.items[p].resource;
	for (size_t a = 0; a < attributes; a++)
		names[a] = interner_text(columns->attributes, (uint32_t)a);
	parts->stock = (struct device_stock){.columns = places,
	                                     .column_count = columns->places.count,
	                                     .claims = claims,
	                                     .claim_count = sorts,
	                                     .nodes = parts->nodes,
	                                     .attributes = names,
	                                     .attribute_count = attributes};
}

/* How many claims of each sort a node could serve if nobody had its devices. */
static void count_claims(struct device_columns *columns, int node)
{
	for (size_t s = 0; s < columns->sorts_by_number.count; s++)
		cluster_set_amount(columns->cluster, columns->sorts_by_number.items[s]->resource, node,
		                   device_stock_capacity(&columns->parts->stock, &columns->parts->nodes[node], (int)s));
}

static void take_back(struct device_columns *columns)
{
	cluster_set_device_stock(columns->cluster, NULL);
	device_parts_free(columns);
	for (int n = 0; n < columns->node_count; n++) {
		for (size_t s = 0; s < columns->sorts_by_number.count; s++)
			cluster_set_amount(columns->cluster, columns->sorts_by_number.items[s]->resource, n, 0);
		columns->nodes[n].other = true;
		device_node_stale(columns, n);
	}
}

void device_parts_settle(struct device_columns *columns)
{
	bool searching = device_sorts_need_search(columns), changed = columns->parts_stale;
	columns->grew |= searching != columns->searching; /* what pods take is told in other columns */
	columns->searching = searching;
	if (!searching && columns->parts)
		take_back(columns);
	if (!searching)
		return;
	if (!columns->parts) {
		columns->parts = base_calloc(1, sizeof(*columns->parts));
		columns->parts->arena = arena_create_small();
		columns->parts->nodes = base_calloc((size_t)columns->node_count + 1, sizeof(struct stock_node));
		columns->parts->devices =
			base_calloc((size_t)columns->node_count + 1, sizeof(struct counted_device **));
		changed = true;
		for (int n = 0; n < columns->node_count; n++)
			device_node_stale(columns, n);
	}
	bool *built = base_calloc((size_t)columns->node_count + 1, sizeof(*built));
	for (int n = 0; n < columns->node_count; n++)
		if (columns->nodes[n].other || !columns->nodes[n].arena) {
			build_node(columns, n);
			built[n] = true;
		}
	bool all = changed;
	for (int n = 0; n < columns->node_count; n++)
		changed |= built[n];
	if (changed) {
		list_claims(columns);
		for (int n = 0; n < columns->node_count; n++)
			if (all || built[n])
				count_claims(columns, n);
		cluster_set_device_stock(columns->cluster, &columns->parts->stock);
	}
	columns->parts_stale = false;
	free(built);
}

const struct stock_node *device_parts_node(const struct device_columns *columns, int node)
{
	return columns->parts ? &columns->parts->nodes[node] : NULL;
}

struct counted_device *const *device_parts_devices(const struct device_columns *columns, int node)
{
	return columns->parts ? columns->parts->devices[node] : NULL;
}

void device_parts_free(struct device_columns *columns)
{
	for (int n = 0; n < columns->node_count; n++) {
		arena_destroy(columns->nodes[n].arena);
		columns->nodes[n].arena = NULL;
	}
	if (!columns->parts)
		return;
	arena_destroy(columns->parts->arena);
	free(columns->parts->nodes);
	free(columns->parts->devices);
	free(columns->parts);
	columns->parts = NULL;
}
