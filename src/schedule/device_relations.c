/* Owns which columns there are. Asks whose devices are disjoint or nested need one column each; where two overlap otherwise
 * their union needs one, too, and so on until no two overlap. With these, counting says exactly whether every request gets
 * its devices (Hall's condition): a set of requests that gets too few selects, in all, what one of the columns holds. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <stdlib.h>

#define MOST_COLUMNS 256

void device_relations_count(struct device_columns *columns, device_mask asks, int change)
{
	struct device_atom *atom = NULL;
	if (!asks)
		return;
	for (size_t i = 0; i < columns->atoms.count && !atom; i++)
		if (columns->atoms.items[i].asks == asks)
			atom = &columns->atoms.items[i];
	if (!atom) {
		vec_push(&columns->atoms, (struct device_atom){.asks = asks});
		atom = &columns->atoms.items[columns->atoms.count - 1];
	}
	columns->relations_stale |= atom->count == 0 || (change < 0 && atom->count == 1);
	atom->count += (size_t)change;
	if (atom->count == 0)
		*atom = columns->atoms.items[--columns->atoms.count];
}

/* Whether some device is in `in` and not in `out`. */
static bool has_more(const struct device_columns *columns, device_mask in, device_mask out)
{
	for (size_t i = 0; i < columns->atoms.count; i++)
		if ((columns->atoms.items[i].asks & in) && !(columns->atoms.items[i].asks & out))
			return true;
	return false;
}

static bool overlap(const struct device_columns *columns, device_mask a, device_mask b)
{
	for (size_t i = 0; i < columns->atoms.count; i++)
		if ((columns->atoms.items[i].asks & a) && (columns->atoms.items[i].asks & b))
			return true;
	return false;
}

static void name_column(const struct device_columns *columns, struct buffer *name, device_mask asks)
{
	const char *between = "";
	for (size_t a = 0; a < columns->by_number.count; a++)
		if (asks >> a & 1) {
			buffer_printf(name, "%s" DEVICE_COLUMN "%s", between, columns->by_number.items[a]->name);
			between = " + ";
		}
}

static struct device_column *need_column(struct device_columns *columns, device_mask asks)
{
	for (size_t c = 0; c < columns->columns.count; c++)
		if (columns->columns.items[c].asks == asks)
			return &columns->columns.items[c];
	struct buffer name = {0};
	name_column(columns, &name, asks);
	struct device_column column = {.asks = asks, .resource = cluster_need_resource(columns->cluster, name.text)};
	struct resource_amount unit = {.name = name.text, .amount = 1};
	column.pod_class =
		cluster_add_pod_class(columns->cluster,
	                              &(struct pod_input){.namespace_ = "", .requests = &unit, .request_count = 1});
	buffer_free(&name);
	vec_push(&columns->columns, column);
	return &columns->columns.items[columns->columns.count - 1];
}

struct sets {
	VEC(device_mask) list;
};

static bool has_same(const struct device_columns *columns, const struct sets *sets, device_mask asks)
{
	for (size_t i = 0; i < sets->list.count; i++)
		if (!has_more(columns, asks, sets->list.items[i]) && !has_more(columns, sets->list.items[i], asks))
			return true;
	return false;
}

/* False when there would be too many. */
static bool close_sets(const struct device_columns *columns, struct sets *sets)
{
	for (size_t b = 1; b < sets->list.count; b++)
		for (size_t a = 0; a < b; a++) {
			device_mask x = sets->list.items[a], y = sets->list.items[b];
			if (!overlap(columns, x, y) || !has_more(columns, x, y) || !has_more(columns, y, x) ||
			    has_same(columns, sets, x | y))
				continue;
			vec_push(&sets->list, x | y);
			if (sets->list.count > MOST_COLUMNS)
				return false;
		}
	return true;
}

/* The columns of which a request of the ask takes units. */
static bool relate(struct device_columns *columns, struct device_ask *ask)
{
	device_mask own = (device_mask)1 << ask->number;
	bool none = !overlap(columns, own, own), changed = false;
	size_t count = 0;
	for (size_t c = 0; c < columns->columns.count; c++) {
		const struct device_column *column = &columns->columns.items[c];
		if (!column->used || (column->asks != own && (none || has_more(columns, own, column->asks))))
			continue;
		if (count == ask->columns.count) {
			vec_push(&ask->columns, (int)c);
			changed = true;
		}
		changed |= ask->columns.items[count] != (int)c;
		ask->columns.items[count++] = (int)c;
	}
	changed |= ask->columns.count != count;
	ask->columns.count = count;
	return changed;
}

void device_relations_find(struct device_columns *columns)
{
	struct sets sets = {0};
	columns->relations_stale = false;
	columns->related = device_asks_used(columns);
	for (size_t a = 0; a < columns->by_number.count; a++)
		if (columns->related >> a & 1)
			vec_push(&sets.list, (device_mask)1 << a);
	bool tangled = !close_sets(columns, &sets);
	columns->grew |= tangled != columns->tangled;
	columns->tangled = tangled;
	for (size_t c = 0; c < columns->columns.count; c++)
		columns->columns.items[c].used = false;
	for (size_t i = 0; i < sets.list.count; i++)
		need_column(columns, sets.list.items[i])->used = true;
	for (size_t a = 0; a < columns->by_number.count; a++)
		columns->grew |= relate(columns, columns->by_number.items[a]);
	for (int n = 0; n < columns->node_count; n++)
		device_node_stale(columns, n);
	vec_free(&sets.list);
}
