/* Owns what counting does not say about claims: the volumes that have to be matched, and who asks for them. */
#include "schedule/volume_columns_internal.h"

#include <stdlib.h>
#include <string.h>

bool volume_serves_family(const struct counted_volume *volume, const struct claim_family *family)
{
	for (size_t i = 0; i < volume->families.count; i++)
		if (volume->families.items[i] == family)
			return true;
	return false;
}

/* Whether volumes of the class can be had from several nodes, or by claims that are not alike, or claims by several pods. */
static bool is_tangled(const struct volume_columns *columns, const struct column_class *class_)
{
	for (const struct claim_family *family = class_->families; family; family = family->next)
		if (family->shared)
			return true;
	const struct book_entry *at = NULL;
	while ((at = volume_book_next(columns->book, BOOK_VOLUME, class_->name, at))) {
		const struct volume_spec *spec = volume_book_spec(at);
		const struct counted_volume *volume;
		HASH_FIND(hh, columns->volumes, spec->name, strlen(spec->name), volume);
		if (volume && (volume->node_count > 1 || volume->families.count > 1))
			return true;
	}
	return false;
}

static int compare_counted(const void *left, const void *right)
{
	const struct counted_volume *a = *(struct counted_volume *const *)left,
				    *b = *(struct counted_volume *const *)right;
	if (a->capacity != b->capacity)
		return a->capacity < b->capacity ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Volumes that are counted, smallest first; their place is their number. */
static struct counted_volume **number_volumes(struct volume_columns *columns, size_t *count)
{
	struct counted_volume **list =
		arena_array(columns->pool_arena, struct counted_volume *, HASH_COUNT(columns->volumes));
	struct counted_volume *volume, *next;
	*count = 0;
	HASH_ITER(hh, columns->volumes, volume, next)
		list[(*count)++] = volume;
	if (*count > 1)
		qsort(list, *count, sizeof(struct counted_volume *), compare_counted);
	for (size_t i = 0; i < *count; i++)
		list[i]->number = (int)i;
	return list;
}

static void add_asks(struct volume_columns *columns, const struct claim_family *family, struct pool_ask *asks,
                     size_t *count, struct counted_volume *const *volumes, size_t volume_count)
{
	const unsigned many = ACCESS_READ_WRITE_MANY | ACCESS_READ_ONLY_MANY;
	for (size_t c = 0; c < family->columns.count; c++) {
		const struct volume_column *column = &family->columns.items[c];
		int *list = arena_array(columns->pool_arena, int, volume_count);
		bool *takes = arena_array(columns->pool_arena, bool, volume_count);
		struct pool_ask *ask = &asks[(*count)++];
		*ask = (struct pool_ask){.resource = column->resource,
		                         .larger = family->shared || c + 1 == family->columns.count ? -1 : (int)*count,
		                         .volumes = list,
		                         .takes = takes,
		                         .make = column->make,
		                         .shared = family->shared,
		                         .one_node = !(family->like.modes & many)};
		for (size_t v = 0; v < volume_count; v++)
			if (volumes[v]->capacity >= column->size && volume_serves_family(volumes[v], family)) {
				list[ask->volume_count++] = (int)v;
				takes[v] = true;
			}
	}
}

/* By node: the volumes that it reaches, so that a claim looks at no others. */
static void list_by_node(struct volume_columns *columns, struct counted_volume *const *volumes, size_t volume_count)
{
	size_t nodes = (size_t)cluster_node_count(columns->cluster);
	size_t *first = arena_array(columns->pool_arena, size_t, nodes + 2);
	for (size_t v = 0; v < volume_count; v++)
		for (size_t n = 0; n < volumes[v]->node_count; n++)
			first[volumes[v]->nodes[n] + 2]++;
	for (size_t n = 0; n <= nodes; n++)
		first[n + 1] += first[n];
	int *reach = arena_alloc_raw(columns->pool_arena, first[nodes + 1] * sizeof(*reach));
	for (size_t v = 0; v < volume_count; v++)
		for (size_t n = 0; n < volumes[v]->node_count; n++)
			reach[first[volumes[v]->nodes[n] + 1]++] = (int)v;
	columns->pool.first = first;
	columns->pool.reach = reach;
}

void volume_pool_build(struct volume_columns *columns)
{
	struct column_class *class_, *next;
	size_t ask_count = 0, volume_count = 0;
	columns->pool_stale = false;
	arena_reset(columns->pool_arena);
	cluster_set_volume_pool(columns->cluster, NULL);
	HASH_ITER(hh, columns->classes, class_, next) {
		class_->tangled = is_tangled(columns, class_);
		for (const struct claim_family *family = class_->families; family && class_->tangled;
		     family = family->next)
			ask_count += family->columns.count;
	}
	if (ask_count == 0)
		return;
	struct counted_volume **volumes = number_volumes(columns, &volume_count);
	struct pool_volume *reach = arena_array(columns->pool_arena, struct pool_volume, volume_count);
	struct pool_ask *asks = arena_array(columns->pool_arena, struct pool_ask, ask_count);
	for (size_t v = 0; v < volume_count; v++)
		reach[v] = (struct pool_volume){volumes[v]->nodes, volumes[v]->node_count};
	ask_count = 0;
	HASH_ITER(hh, columns->classes, class_, next)
		for (const struct claim_family *family = class_->families; family && class_->tangled;
		     family = family->next)
			add_asks(columns, family, asks, &ask_count, volumes, volume_count);
	columns->pool = (struct volume_pool){.volumes = reach,
	                                     .volume_count = volume_count,
	                                     .asks = asks,
	                                     .ask_count = ask_count};
	list_by_node(columns, volumes, volume_count);
	cluster_set_volume_pool(columns->cluster, &columns->pool);
}
