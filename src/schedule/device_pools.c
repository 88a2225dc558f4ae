/* Owns the devices of the columns: pools of slices, which of them are usable, and which asks select which device. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

char *device_key(const char *driver, const char *pool, const char *device)
{
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s/%s", driver, pool, device);
	return key.text;
}

void device_node_stale(struct device_columns *columns, int node)
{
	if (node < 0 || columns->nodes[node].stale)
		return;
	columns->nodes[node].stale = true;
	vec_push(&columns->stale_nodes, node);
}

struct counted_device *device_pools_find(const struct device_columns *columns, const char *key)
{
	struct counted_device *device;
	HASH_FIND(hh, columns->devices, key, strlen(key), device);
	return device;
}

/* ---- what selects a device ---- */

static void count_in_asks(struct device_columns *columns, const struct counted_device *device, device_mask asks,
                          int change)
{
	for (size_t a = 0; a < columns->by_number.count; a++) {
		device_mask bit = (device_mask)1 << a;
		struct device_ask *ask = columns->by_number.items[a];
		if (!(asks & bit))
			continue;
		bool fine = !ask->unserved && !ask->failed;
		if (device->unserved && (device->selected & bit))
			ask->unserved += (size_t)change;
		if (device->failed & bit)
			ask->failed += (size_t)change;
		/* Which device is to blame is told. */
		columns->grew |= !fine || ask->unserved || ask->failed;
	}
}

static void judge(struct device_columns *columns, struct counted_device *device, const struct device_ask *ask)
{
	struct error error = {0};
	const char *text;
	bool barred;
	arena_reset(columns->scratch);
	enum cel_result result = device_asks_judge(columns, ask, device, columns->scratch, &text, &barred, &error);
	if (barred)
		device->barred |= (device_mask)1 << ask->number;
	if (result == CEL_YES)
		device->selected |= (device_mask)1 << ask->number;
	if (result == CEL_FAILED)
		device->failed |= (device_mask)1 << ask->number;
}

static void other_devices(struct device_columns *columns, int node)
{
	device_node_stale(columns, node);
	if (node >= 0)
		columns->nodes[node].other = true;
}

void device_pools_judge(struct device_columns *columns, const struct device_ask *ask)
{
	struct counted_device *device, *next;
	device_mask bit = (device_mask)1 << ask->number;
	HASH_ITER(hh, columns->devices, device, next) {
		device_relations_count(columns, device->node >= 0 ? device->selected : 0, -1);
		judge(columns, device, ask);
		device_relations_count(columns, device->node >= 0 ? device->selected : 0, 1);
		count_in_asks(columns, device, bit, 1);
		if ((device->selected | device->barred) & bit)
			other_devices(columns, device->node);
	}
}

/* ---- nodes ---- */

/* The lowest place that is free: devices that are published again as they were keep theirs. */
static int find_place(const struct device_node *node)
{
	for (int place = 0;; place++) {
		bool taken = false;
		for (size_t i = 0; i < node->devices.count && !taken; i++)
			taken = node->devices.items[i]->place == place;
		if (!taken)
			return place;
	}
}

static void leave_node(struct device_columns *columns, struct counted_device *device)
{
	if (device->node < 0)
		return;
	struct device_node *node = &columns->nodes[device->node];
	for (size_t i = node->devices.count; i-- > 0;)
		if (node->devices.items[i] == device) {
			node->devices.items[i] = node->devices.items[--node->devices.count];
			break;
		}
	device_relations_count(columns, device->selected, -1);
	other_devices(columns, device->node);
	device->node = -1;
}

static void join_node(struct device_columns *columns, struct counted_device *device)
{
	const struct device_spec *spec = device->spec;
	if (device->unserved || !spec->node)
		return;
	device->node = cluster_find_node(columns->cluster, spec->node);
	if (device->node < 0)
		return;
	device->place = find_place(&columns->nodes[device->node]);
	vec_push(&columns->nodes[device->node].devices, device);
	device_relations_count(columns, device->selected, 1);
	other_devices(columns, device->node);
}

void device_pools_find_nodes(struct device_columns *columns)
{
	struct counted_device *device, *next;
	columns->grew |= columns->searching; /* whoever has a device may find it in another place */
	HASH_ITER(hh, columns->devices, device, next)
		if (device->node >= 0) {
			device_relations_count(columns, device->selected, -1);
			device->node = -1;
		}
	HASH_ITER(hh, columns->devices, device, next)
		join_node(columns, device);
}

/* ---- pools ---- */

/* What a device was before its pool was read again; a claim that has it is another request when that changes. */
struct former {
	char *key;
	device_mask selected;
	int node, place;
};

static void drop_devices(struct device_columns *columns, struct device_pool *pool, struct former *former)
{
	for (size_t i = 0; i < pool->device_count; i++) {
		struct counted_device *device = &pool->devices[i];
		if (former)
			former[i] = (struct former){device->key, device->selected, device->node, device->place};
		else
			free(device->key);
		if (device->hh.tbl) {
			count_in_asks(columns, device, device->selected | device->failed, -1);
			leave_node(columns, device);
			assert(columns->devices); /* the device is one of them */
			HASH_DEL(columns->devices, device);
		}
	}
	free(pool->devices);
	pool->devices = NULL;
	pool->device_count = 0;
}

static void add_device(struct device_columns *columns, struct device_pool *pool, const struct device_slice *slice,
                       struct device_spec *spec)
{
	struct counted_device *device = &pool->devices[pool->device_count++];
	*device = (struct counted_device){.spec = spec, .pool = pool, .unserved = spec->unserved, .node = -1};
	device->key = device_key(slice->driver, slice->pool, spec->name);
	if (device_pools_find(columns, device->key)) {
		pool->usable = false; /* there twice */
		return;
	}
	HASH_ADD_KEYPTR(hh, columns->devices, device->key, strlen(device->key), device);
	for (size_t a = 0; a < columns->by_number.count; a++)
		judge(columns, device, columns->by_number.items[a]);
	count_in_asks(columns, device, device->selected | device->failed, 1);
	join_node(columns, device);
}

static bool is_held(const struct device_columns *columns, const char *key)
{
	const struct device_holding *holding;
	HASH_FIND(hh, columns->holdings, key, strlen(key), holding);
	return holding != NULL;
}

static bool was_there(const struct former *former, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(former[i].key, key) == 0)
			return true;
	return false;
}

/* A device that a claim has may be gone, be another one, or be back. */
static void compare_with_former(struct device_columns *columns, const struct device_pool *pool, struct former *former,
                                size_t count)
{
	for (size_t i = 0; i < pool->device_count && !columns->grew; i++)
		columns->grew =
			is_held(columns, pool->devices[i].key) && !was_there(former, count, pool->devices[i].key);
	for (size_t i = 0; i < count; i++) {
		const struct counted_device *now = device_pools_find(columns, former[i].key);
		columns->grew |= is_held(columns, former[i].key) &&
		                 (!now || now->selected != former[i].selected || now->node != former[i].node ||
		                  now->place != former[i].place);
		free(former[i].key);
	}
}

static bool has_counter(const struct device_columns *columns, const struct device_pool *pool, int64_t generation,
                        const struct device_draw *draw)
{
	int found = 0;
	for (size_t i = 0; i < pool->slices.count; i++) {
		const struct device_slice *slice = device_book_slice(columns->book, pool->slices.items[i]);
		for (size_t c = 0; slice->generation == generation && c < slice->counter_count; c++)
			found += strcmp(slice->counters[c].set, draw->set) == 0 &&
			         strcmp(slice->counters[c].name, draw->counter) == 0;
	}
	return found == 1;
}

/* Counters of devices that several nodes reach tie these nodes together, which is not served. */
static void look_at_draws(struct device_columns *columns, struct device_pool *pool, int64_t generation)
{
	bool apart = false;
	columns->drawing -= pool->draws;
	pool->draws = false;
	for (size_t i = 0; i < pool->device_count; i++) {
		const struct device_spec *spec = pool->devices[i].spec;
		pool->draws |= spec->draw_count > 0;
		apart |= !text_equal(spec->node, pool->devices[0].spec->node);
		for (size_t d = 0; d < spec->draw_count && pool->usable; d++)
			pool->usable = has_counter(columns, pool, generation, &spec->draws[d]);
	}
	columns->drawing += pool->draws;
	for (size_t i = 0; apart && i < pool->device_count; i++) {
		struct counted_device *device = &pool->devices[i];
		if (!device->hh.tbl || !device->spec->draw_count || device->unserved)
			continue;
		count_in_asks(columns, device, device->selected | device->failed, -1);
		leave_node(columns, device);
		device->unserved = "consumesCounters of a pool on several nodes";
		count_in_asks(columns, device, device->selected | device->failed, 1);
	}
}

/* The newest generation counts. It is usable when all of its slices are there. */
static void read_pool(struct device_columns *columns, struct device_pool *pool)
{
	int64_t generation = -1, slices = 0, expected = 0;
	size_t devices = 0, former_count = pool->device_count;
	struct former *former = base_calloc(former_count + 1, sizeof(*former));
	drop_devices(columns, pool, former);
	for (size_t i = 0; i < pool->slices.count; i++) {
		const struct device_slice *slice = device_book_slice(columns->book, pool->slices.items[i]);
		generation = slice->generation > generation ? slice->generation : generation;
		devices += slice->device_count;
	}
	pool->devices = base_calloc(devices + 1, sizeof(*pool->devices));
	pool->usable = true;
	for (size_t i = 0; i < pool->slices.count; i++) {
		const struct device_slice *slice = device_book_slice(columns->book, pool->slices.items[i]);
		if (slice->generation != generation)
			continue;
		slices++;
		expected = slice->pool_slices;
		for (size_t d = 0; d < slice->device_count; d++)
			add_device(columns, pool, slice, &slice->devices[d]);
	}
	pool->usable = pool->usable && slices == expected;
	look_at_draws(columns, pool, generation);
	for (size_t i = 0; i < pool->device_count; i++)
		if (pool->devices[i].hh.tbl)
			device_node_stale(columns, pool->devices[i].node);
	compare_with_former(columns, pool, former, former_count);
	free(former);
}

static struct device_pool *need_pool(struct device_columns *columns, const struct device_slice *slice)
{
	struct buffer key = {0};
	struct device_pool *pool;
	buffer_printf(&key, "%s/%s", slice->driver, slice->pool);
	HASH_FIND(hh, columns->pools, key.text, key.length, pool);
	if (!pool) {
		pool = base_calloc(1, sizeof(*pool));
		pool->key = base_strdup(key.text);
		HASH_ADD_KEYPTR(hh, columns->pools, pool->key, key.length, pool);
	}
	buffer_free(&key);
	return pool;
}

static void pool_free(struct device_columns *columns, struct device_pool *pool)
{
	drop_devices(columns, pool, NULL);
	columns->drawing -= pool->draws;
	HASH_DEL(columns->pools, pool);
	for (size_t i = 0; i < pool->slices.count; i++)
		free(pool->slices.items[i]);
	vec_free(&pool->slices);
	free(pool->key);
	free(pool);
}

static void leave_pool(struct device_columns *columns, struct device_pool *pool, const char *slice)
{
	for (size_t i = pool->slices.count; i-- > 0;)
		if (strcmp(pool->slices.items[i], slice) == 0) {
			free(pool->slices.items[i]);
			pool->slices.items[i] = pool->slices.items[--pool->slices.count];
		}
	read_pool(columns, pool);
	if (pool->slices.count == 0)
		pool_free(columns, pool);
}

void device_pools_take(struct device_columns *columns, const char *name)
{
	struct counted_slice *counted;
	const struct device_slice *slice = device_book_slice(columns->book, name);
	HASH_FIND(hh, columns->slices, name, strlen(name), counted);
	struct device_pool *pool = slice ? need_pool(columns, slice) : NULL;
	if (counted && counted->pool != pool) {
		HASH_DEL(columns->slices, counted);
		leave_pool(columns, counted->pool, name);
		free(counted->name);
		free(counted);
		counted = NULL;
	}
	if (!slice)
		return;
	if (!counted) {
		counted = base_calloc(1, sizeof(*counted));
		counted->name = base_strdup(name);
		counted->pool = pool;
		HASH_ADD_KEYPTR(hh, columns->slices, counted->name, strlen(counted->name), counted);
		vec_push(&pool->slices, base_strdup(name));
	}
	read_pool(columns, pool);
}

void device_pools_free(struct device_columns *columns)
{
	struct counted_slice *slice, *next_slice;
	HASH_ITER(hh, columns->slices, slice, next_slice) {
		HASH_DEL(columns->slices, slice);
		free(slice->name);
		free(slice);
	}
	while (columns->pools)
		pool_free(columns, columns->pools);
}
