/* Owns the classes of nodes with equal free amounts. Kept up to date one node at a time, so that the first decision for a new
 * shape looks at each class once instead of at every column of every node. Nodes that changed are only noted: a decision may
 * try thousands of changes, and there may be hundreds of columns. */
#include "engine/cluster/internal.h"

#include <string.h>

static uint64_t node_hash(const struct cluster *cluster, int node)
{
	uint64_t hash = 0x8f1bbcdc;
	for (size_t r = 0; r < cluster->resources.count; r++)
		hash = hash_mix(hash, (uint64_t)cluster->resources.items[r].free[node]);
	return hash;
}

static void rebuild_buckets(struct node_classes *classes, uint32_t buckets)
{
	classes->buckets = base_realloc_array(classes->buckets, buckets, sizeof(int32_t));
	classes->bucket_count = buckets;
	memset(classes->buckets, 0xff, buckets * sizeof(int32_t));
	for (size_t s = 0; s < classes->items.count; s++) {
		struct node_class *class_ = &classes->items.items[s];
		if (!class_->count)
			continue;
		int32_t *head = &classes->buckets[class_->hash & (buckets - 1)];
		class_->next = *head;
		*head = (int32_t)s;
	}
}

static void copy_amounts(struct cluster *cluster, int node, int32_t class_)
{
	struct node_classes *classes = &cluster->node_classes;
	size_t resources = cluster->resources.count, want = classes->items.capacity * resources;
	if (classes->amount_capacity < want) {
		classes->amounts = base_realloc_array(classes->amounts, want, sizeof(int64_t));
		classes->amount_capacity = want;
	}
	for (size_t r = 0; r < resources; r++)
		classes->amounts[(size_t)class_ * resources + r] = cluster->resources.items[r].free[node];
}

/* Finds the class of a node by the hash of its amounts. 64 bits are trusted: a collision would have to happen among
 * the few thousand classes alive at one time. */
static void join_class(struct cluster *cluster, int node, uint64_t hash)
{
	struct node_classes *classes = &cluster->node_classes;
	int32_t s = classes->buckets[hash & (classes->bucket_count - 1)];
	while (s >= 0 && classes->items.items[s].hash != hash)
		s = classes->items.items[s].next;
	if (s < 0) {
		s = classes->unused;
		if (s >= 0)
			classes->unused = classes->items.items[s].next;
		else
			s = (int32_t)classes->items.count;
		if ((size_t)s == classes->items.count)
			vec_push(&classes->items, (struct node_class){0});
		int32_t *head = &classes->buckets[hash & (classes->bucket_count - 1)];
		classes->items.items[s] = (struct node_class){.hash = hash, .next = *head};
		*head = s;
		copy_amounts(cluster, node, s);
	}
	classes->items.items[s].count++;
	classes->of_node[node] = s;
	if (classes->items.count > classes->bucket_count)
		rebuild_buckets(classes, classes->bucket_count * 2);
}

static void leave_class(struct cluster *cluster, int node)
{
	struct node_classes *classes = &cluster->node_classes;
	int32_t s = classes->of_node[node];
	struct node_class *class_ = &classes->items.items[s];
	if (--class_->count > 0)
		return;
	int32_t *link = &classes->buckets[class_->hash & (classes->bucket_count - 1)];
	while (*link != s)
		link = &classes->items.items[*link].next;
	*link = class_->next;
	class_->next = classes->unused;
	classes->unused = s;
}

static void classify_all(struct cluster *cluster)
{
	struct node_classes *classes = &cluster->node_classes;
	classes->items.count = 0;
	classes->unused = -1;
	rebuild_buckets(classes, classes->bucket_count ? classes->bucket_count : 64);
	for (int n = 0; n < cluster->node_count; n++)
		join_class(cluster, n, node_hash(cluster, n));
	for (size_t i = 0; i < classes->late.count; i++)
		classes->is_late[classes->late.items[i]] = false;
	classes->late.count = 0;
	classes->stale = false;
}

void node_classes_init(struct cluster *cluster)
{
	cluster->node_classes.of_node = base_calloc((size_t)cluster->node_count, sizeof(int32_t));
	cluster->node_classes.is_late = base_calloc((size_t)cluster->node_count, sizeof(bool));
	classify_all(cluster);
}

void node_classes_free(struct cluster *cluster)
{
	free(cluster->node_classes.of_node);
	free(cluster->node_classes.is_late);
	vec_free(&cluster->node_classes.late);
	free(cluster->node_classes.buckets);
	free(cluster->node_classes.amounts);
	vec_free(&cluster->node_classes.items);
}

void node_classes_update_node(struct cluster *cluster, int node)
{
	struct node_classes *classes = &cluster->node_classes;
	if (classes->is_late[node])
		return;
	classes->is_late[node] = true;
	vec_push(&classes->late, node);
}

static void classify_late(struct cluster *cluster)
{
	struct node_classes *classes = &cluster->node_classes;
	for (size_t i = 0; i < classes->late.count; i++) {
		int node = classes->late.items[i];
		uint64_t hash = node_hash(cluster, node);
		classes->is_late[node] = false;
		if (classes->items.items[classes->of_node[node]].hash == hash)
			continue;
		leave_class(cluster, node);
		join_class(cluster, node, hash);
	}
	classes->late.count = 0;
}

const struct node_classes *node_classes_get(struct cluster *cluster)
{
	if (cluster->node_classes.stale)
		classify_all(cluster);
	else
		classify_late(cluster);
	return &cluster->node_classes;
}
