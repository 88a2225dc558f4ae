/* The index over all objects: names to objects, decoded Topologies, and the parents of Queues. */
#include "admit/index.h"

#include "admit/decode.h"
#include "base/strings.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define CYCLE_NAMES_SHOWN 16

struct named_queue {
	const struct manifest *object;
	const char *name, *parent_name;
	const char *child; /* the first below it; NULL when there is none */
	int parent;        /* -1 when there is none */
	bool on_cycle;
};

/* Policies of one group are a chain: `next` is the place of the following one + 1. */
struct linked_policy {
	size_t place; /* among all manifests */
	size_t next;
};

struct repeated {
	const struct val *object;
	const struct manifest *earlier;
};

struct admit_index {
	const struct manifests *all;
	struct derived *
		*derived; /* by place: what was decoded for a verdict on another object; NULL when nobody asked */
	struct arena *arena;
	struct interner *objects;      /* kind/namespace/name; the id is the place in `first` */
	VEC(size_t) first;             /* place among all manifests */
	VEC(struct repeated) repeated; /* sorted by object */
	struct interner *topology_names;
	VEC(struct topology_spec) topologies;
	struct interner *cluster_topology_names;
	VEC(struct cluster_topology) cluster_topologies;
	bool is_cluster;
	struct interner *pairs; /* "upper lower" of node labels; the id is the place in `pair_owners` */
	VEC(const char *) pair_owners;
	struct interner *queue_names;
	VEC(struct named_queue) queues;
	struct interner *policy_targets; /* namespace/group; the id is the place in `policy_first` */
	VEC(size_t) policy_first;        /* place in `policies` + 1 */
	VEC(struct linked_policy) policies;
	size_t group_count;
	admit_find_group *find_group;
	void *find_context;
};

static const struct kind_row *find_row(const struct manifest *object)
{
	const struct kind_row *row = kinds_find(object->api_version, object->kind);
	return row && row->id != KIND_OTHER && kinds_has_version(row, object->api_version) ? row : NULL;
}

enum kind_id index_kind(const struct manifest *object)
{
	const struct kind_row *row = find_row(object);
	return row ? row->id : KIND_OTHER;
}

static const void *decode(const struct admit_index *index, size_t place)
{
	const struct manifest *object = &index->all->items[place];
	static const struct labels none; /* no verdict depends on those of metadata */
	if (object->decoded)
		return object->decoded;
	if (!index->derived[place])
		index->derived[place] = admit_derivation(index_kind(object))->derive(object->object, &none);
	return index->derived[place];
}

size_t index_count(const struct admit_index *index)
{
	return index->all->count;
}

const struct manifest *index_next(const struct admit_index *index, enum kind_id kind, size_t *at)
{
	while (*at < index->all->count) {
		const struct manifest *object = &index->all->items[(*at)++];
		if (index_kind(object) == kind)
			return object;
	}
	return NULL;
}

const char *index_nearest(const struct admit_index *index, enum kind_id kind, const char *name)
{
	struct nearest_name nearest = {.word = name};
	const struct manifest *object;
	for (size_t at = 0; (object = index_next(index, kind, &at));)
		text_consider(&nearest, object->name);
	return nearest.name;
}

static const char *namespace_or_default(const char *namespace_)
{
	return namespace_ && *namespace_ ? namespace_ : "default";
}

static void add_name(struct admit_index *index, size_t place, const struct kind_row *row)
{
	const struct manifest *object = &index->all->items[place];
	const char *namespace_ = row->flags & ROW_CLUSTER ? "" : namespace_or_default(object->namespace_);
	if (!*object->name)
		return;
	struct buffer key = {0};
	buffer_printf(&key, "%d/%s/%s", (int)row->id, namespace_, object->name);
	uint32_t id = interner_id(index->objects, key.text);
	buffer_free(&key);
	if (id == index->first.count)
		vec_push(&index->first, place);
	else
		vec_push(&index->repeated,
		         ((struct repeated){object->object, &index->all->items[index->first.items[id]]}));
}

static void add_pairs(struct admit_index *index, const struct topology_spec *topology)
{
	for (size_t upper = 0; upper < topology->level_count; upper++) {
		for (size_t lower = upper + 1; lower < topology->level_count; lower++) {
			struct buffer key = {0};
			buffer_printf(&key, "%s %s", topology->levels[upper], topology->levels[lower]);
			if (interner_id(index->pairs, key.text) == index->pair_owners.count)
				vec_push(&index->pair_owners, topology->name);
			buffer_free(&key);
		}
	}
}

/* What is wrong with an object is said when that object is judged, not here. */
static void add_topology(struct admit_index *index, const struct manifest *object, struct problems *ignored)
{
	struct topology_spec topology;
	if (!*object->name || interner_find(index->topology_names, object->name) != UINT32_MAX)
		return;
	interner_id(index->topology_names, object->name);
	if (topology_decode(object->object, index->arena, &topology, ignored) < 0)
		topology = (struct topology_spec){.name = object->name};
	vec_push(&index->topologies, topology);
	add_pairs(index, &topology);
}

static void add_cluster_topology(struct admit_index *index, const struct manifest *object, struct problems *ignored)
{
	struct cluster_topology topology;
	if (!*object->name || interner_find(index->cluster_topology_names, object->name) != UINT32_MAX)
		return;
	interner_id(index->cluster_topology_names, object->name);
	if (cluster_topology_decode(object->object, index->arena, &topology, ignored) < 0)
		topology = (struct cluster_topology){.name = object->name, .levels = ""};
	vec_push(&index->cluster_topologies, topology);
}

static void add_queue(struct admit_index *index, const struct manifest *object)
{
	if (!*object->name || interner_find(index->queue_names, object->name) != UINT32_MAX)
		return;
	interner_id(index->queue_names, object->name);
	const char *parent = val_str(val_path(object->object, "spec", "parentQueue", NULL), "");
	vec_push(&index->queues,
	         ((struct named_queue){.object = object, .name = object->name, .parent_name = parent, .parent = -1}));
}

static void add_policy(struct admit_index *index, size_t place)
{
	const struct manifest *object = &index->all->items[place];
	const char *target = val_str(val_path(object->object, "spec", "targetRef", "name", NULL), "");
	struct buffer key = {0};
	buffer_printf(&key, "%s/%s", namespace_or_default(object->namespace_), *target ? target : object->name);
	uint32_t id = interner_id(index->policy_targets, key.text);
	buffer_free(&key);
	if (id == index->policy_first.count)
		vec_push(&index->policy_first, 0);
	vec_push(&index->policies, ((struct linked_policy){place, index->policy_first.items[id]}));
	index->policy_first.items[id] = index->policies.count;
}

/* Each chain of parents is walked once; what meets its own walk is on a cycle. */
static void link_queues(struct admit_index *index)
{
	size_t count = index->queues.count;
	struct named_queue *queues = index->queues.items;
	for (size_t i = 0; i < count; i++) {
		uint32_t id =
			*queues[i].parent_name ? interner_find(index->queue_names, queues[i].parent_name) : UINT32_MAX;
		queues[i].parent = id == UINT32_MAX ? -1 : (int)id;
		if (id != UINT32_MAX && !queues[id].child)
			queues[id].child = queues[i].name;
	}
	size_t *walk = arena_array(index->arena, size_t, count);
	for (size_t start = 0; start < count; start++) {
		int at = (int)start;
		while (at >= 0 && walk[at] == 0) {
			walk[at] = start + 1;
			at = queues[at].parent;
		}
		if (at >= 0 && walk[at] == start + 1)
			for (int member = at; !queues[member].on_cycle; member = queues[member].parent)
				queues[member].on_cycle = true;
	}
}

static int compare_repeated(const void *a, const void *b)
{
	const struct repeated *left = a, *right = b;
	return (left->object > right->object) - (left->object < right->object);
}

struct admit_index *admit_index_create(const struct manifests *all)
{
	struct admit_index *index = base_calloc(1, sizeof(*index));
	index->all = all;
	index->derived = base_calloc(all->count + 1, sizeof(*index->derived));
	index->arena = arena_create();
	index->objects = interner_create();
	index->topology_names = interner_create();
	index->cluster_topology_names = interner_create();
	index->pairs = interner_create();
	index->queue_names = interner_create();
	index->policy_targets = interner_create();
	struct problems ignored = {.arena = index->arena};
	for (size_t i = 0; i < all->count; i++) {
		const struct manifest *object = &all->items[i];
		const struct kind_row *row = find_row(object);
		enum kind_id kind = row ? row->id : KIND_OTHER;
		if (row)
			add_name(index, i, row);
		if (kind == KIND_TOPOLOGY)
			add_topology(index, object, &ignored);
		if (kind == KIND_CLUSTER_TOPOLOGY)
			add_cluster_topology(index, object, &ignored);
		if (kind == KIND_QUEUE)
			add_queue(index, object);
		if (kind == KIND_POLICY)
			add_policy(index, i);
		index->group_count += kind == KIND_RBG;
	}
	link_queues(index);
	if (index->repeated.count > 1)
		qsort(index->repeated.items, index->repeated.count, sizeof(*index->repeated.items), compare_repeated);
	return index;
}

void admit_index_destroy(struct admit_index *index)
{
	if (!index)
		return;
	interner_destroy(index->objects);
	interner_destroy(index->topology_names);
	interner_destroy(index->cluster_topology_names);
	interner_destroy(index->pairs);
	interner_destroy(index->queue_names);
	interner_destroy(index->policy_targets);
	for (size_t i = 0; i < index->all->count; i++)
		if (index->derived[i])
			admit_derivation(index_kind(&index->all->items[i]))->destroy(index->derived[i]);
	free(index->derived);
	vec_free(&index->policy_first);
	vec_free(&index->policies);
	vec_free(&index->first);
	vec_free(&index->repeated);
	vec_free(&index->topologies);
	vec_free(&index->cluster_topologies);
	vec_free(&index->pair_owners);
	vec_free(&index->queues);
	arena_destroy(index->arena);
	free(index);
}

const struct manifest *index_earlier(const struct admit_index *index, const struct manifest *object)
{
	struct repeated wanted = {.object = object->object};
	if (index->repeated.count == 0)
		return NULL;
	const struct repeated *found = bsearch(&wanted, index->repeated.items, index->repeated.count,
	                                       sizeof(*index->repeated.items), compare_repeated);
	return found ? found->earlier : NULL;
}

const struct topology_spec *index_topology(const void *context, const char *name)
{
	const struct admit_index *index = context;
	uint32_t id = interner_find(index->topology_names, name);
	return id == UINT32_MAX ? NULL : &index->topologies.items[id];
}

const struct cluster_topology *index_cluster_topology(const struct admit_index *index, const char *name)
{
	uint32_t id = interner_find(index->cluster_topology_names, name);
	return id == UINT32_MAX ? NULL : &index->cluster_topologies.items[id];
}

void admit_index_is_cluster(struct admit_index *index)
{
	index->is_cluster = true;
}

bool index_is_cluster(const struct admit_index *index)
{
	return index->is_cluster;
}

void admit_index_find_groups(struct admit_index *index, admit_find_group *find, void *context)
{
	index->find_group = find;
	index->find_context = context;
}

const struct decoded_rbg *index_group(const struct admit_index *index, const char *namespace_, const char *name)
{
	struct buffer key = {0};
	buffer_printf(&key, "%d/%s/%s", (int)KIND_RBG, namespace_or_default(namespace_), name);
	uint32_t id = interner_find(index->objects, key.text);
	buffer_free(&key);
	if (id != UINT32_MAX)
		return decode(index, index->first.items[id]);
	return index->find_group ? index->find_group(index->find_context, namespace_or_default(namespace_), name)
	                         : NULL;
}

bool index_has_groups(const struct admit_index *index)
{
	return index->group_count > 0 || index->find_group;
}

const struct decoded_policy *index_policy(const struct admit_index *index, const char *namespace_, const char *group,
                                          size_t *at)
{
	if (*at == 0) {
		struct buffer key = {0};
		buffer_printf(&key, "%s/%s", namespace_or_default(namespace_), group);
		uint32_t id = interner_find(index->policy_targets, key.text);
		buffer_free(&key);
		*at = id == UINT32_MAX ? 0 : index->policy_first.items[id];
	} else {
		*at = index->policies.items[*at - 1].next;
	}
	return *at ? decode(index, index->policies.items[*at - 1].place) : NULL;
}

const char *index_topology_conflict(const struct admit_index *index, const char *name, const char *upper,
                                    const char *lower)
{
	struct buffer key = {0};
	buffer_printf(&key, "%s %s", lower, upper);
	uint32_t id = interner_find(index->pairs, key.text);
	buffer_free(&key);
	if (id == UINT32_MAX || text_equal(index->pair_owners.items[id], name))
		return NULL;
	return index->pair_owners.items[id];
}

bool index_has_queues(const struct admit_index *index)
{
	return index->queues.count > 0;
}

bool index_has_queue(const struct admit_index *index, const char *name)
{
	return interner_find(index->queue_names, name) != UINT32_MAX;
}

const char *index_queue_child(const struct admit_index *index, const char *name)
{
	uint32_t id = interner_find(index->queue_names, name);
	return id == UINT32_MAX ? NULL : index->queues.items[id].child;
}

const char *index_queue_cycle(const struct admit_index *index, const struct manifest *object,
                              const struct queue_spec *queue, struct arena *arena)
{
	uint32_t self = interner_find(index->queue_names, queue->name);
	bool indexed = self != UINT32_MAX && index->queues.items[self].object->object == object->object;
	uint32_t parent = queue->parent ? interner_find(index->queue_names, queue->parent) : UINT32_MAX;
	if (parent == UINT32_MAX || parent == self || (indexed && !index->queues.items[self].on_cycle))
		return NULL;
	/* For an object of the index the cycle is certain and only its start is shown, else judging a long one would be
	 * quadratic; one that is not in it (a change about to be made) is walked against what is there. */
	struct buffer text = {0};
	buffer_printf(&text, "%s -> ", decode_show(arena, queue->name));
	size_t steps = 0, most = indexed ? CYCLE_NAMES_SHOWN : index->queues.count;
	int at = (int)parent;
	for (; at >= 0 && (uint32_t)at != self && steps < most; at = index->queues.items[at].parent)
		if (steps++ < CYCLE_NAMES_SHOWN)
			buffer_printf(&text, "%s -> ", decode_show(arena, index->queues.items[at].name));
	bool closed = indexed || (at >= 0 && (uint32_t)at == self);
	const char *more = at >= 0 && (uint32_t)at != self ? "... -> " : "";
	const char *way =
		closed ? arena_printf(arena, "%s%s%s", text.text, more, decode_show(arena, queue->name)) : NULL;
	buffer_free(&text);
	return way;
}
