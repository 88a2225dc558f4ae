/* Groups of nodes with equal free amounts. Kept up to date one node at a time, so that the first decision for a new
 * shape looks at each group once instead of at every column of every node. Nodes that changed are only noted: a decision may
 * try thousands of changes, and there may be hundreds of columns. */
#include "engine/internal.h"

#include <string.h>

static uint64_t node_hash(const struct cluster *cluster, int node)
{
	uint64_t hash = 0x8f1bbcdc;
	for (size_t r = 0; r < cluster->resources.count; r++)
		hash = hash_mix(hash, (uint64_t)cluster->resources.items[r].free[node]);
	return hash;
}

static void relink(struct node_states *states, uint32_t buckets)
{
	states->buckets = base_realloc_array(states->buckets, buckets, sizeof(int32_t));
	states->bucket_count = buckets;
	memset(states->buckets, 0xff, buckets * sizeof(int32_t));
	for (size_t s = 0; s < states->items.count; s++) {
		struct node_state *state = &states->items.items[s];
		if (!state->count)
			continue;
		int32_t *head = &states->buckets[state->hash & (buckets - 1)];
		state->next = *head;
		*head = (int32_t)s;
	}
}

static void remember_amounts(struct cluster *cluster, int node, int32_t state)
{
	struct node_states *states = &cluster->states;
	size_t resources = cluster->resources.count, want = states->items.capacity * resources;
	if (states->amount_capacity < want) {
		states->amounts = base_realloc_array(states->amounts, want, sizeof(int64_t));
		states->amount_capacity = want;
	}
	for (size_t r = 0; r < resources; r++)
		states->amounts[(size_t)state * resources + r] = cluster->resources.items[r].free[node];
}

/* Finds the state of a node by the hash of its amounts. 64 bits are trusted: a collision would have to happen among
 * the few thousand states alive at one time. */
static void join(struct cluster *cluster, int node, uint64_t hash)
{
	struct node_states *states = &cluster->states;
	int32_t s = states->buckets[hash & (states->bucket_count - 1)];
	while (s >= 0 && states->items.items[s].hash != hash)
		s = states->items.items[s].next;
	if (s < 0) {
		s = states->unused;
		if (s >= 0)
			states->unused = states->items.items[s].next;
		else
			s = (int32_t)states->items.count;
		if ((size_t)s == states->items.count)
			vec_push(&states->items, (struct node_state){0});
		int32_t *head = &states->buckets[hash & (states->bucket_count - 1)];
		states->items.items[s] = (struct node_state){.hash = hash, .next = *head};
		*head = s;
		remember_amounts(cluster, node, s);
	}
	states->items.items[s].count++;
	states->of_node[node] = s;
	if (states->items.count > states->bucket_count)
		relink(states, states->bucket_count * 2);
}

static void leave(struct cluster *cluster, int node)
{
	struct node_states *states = &cluster->states;
	int32_t s = states->of_node[node];
	struct node_state *state = &states->items.items[s];
	if (--state->count > 0)
		return;
	int32_t *link = &states->buckets[state->hash & (states->bucket_count - 1)];
	while (*link != s)
		link = &states->items.items[*link].next;
	*link = state->next;
	state->next = states->unused;
	states->unused = s;
}

static void group_all(struct cluster *cluster)
{
	struct node_states *states = &cluster->states;
	states->items.count = 0;
	states->unused = -1;
	relink(states, states->bucket_count ? states->bucket_count : 64);
	for (int n = 0; n < cluster->node_count; n++)
		join(cluster, n, node_hash(cluster, n));
	for (size_t i = 0; i < states->late.count; i++)
		states->is_late[states->late.items[i]] = false;
	states->late.count = 0;
	states->stale = false;
}

void states_init(struct cluster *cluster)
{
	cluster->states.of_node = base_calloc((size_t)cluster->node_count, sizeof(int32_t));
	cluster->states.is_late = base_calloc((size_t)cluster->node_count, sizeof(bool));
	group_all(cluster);
}

void states_free(struct cluster *cluster)
{
	free(cluster->states.of_node);
	free(cluster->states.is_late);
	vec_free(&cluster->states.late);
	free(cluster->states.buckets);
	free(cluster->states.amounts);
	vec_free(&cluster->states.items);
}

void states_update(struct cluster *cluster, int node)
{
	struct node_states *states = &cluster->states;
	if (states->is_late[node])
		return;
	states->is_late[node] = true;
	vec_push(&states->late, node);
}

static void catch_up(struct cluster *cluster)
{
	struct node_states *states = &cluster->states;
	for (size_t i = 0; i < states->late.count; i++) {
		int node = states->late.items[i];
		uint64_t hash = node_hash(cluster, node);
		states->is_late[node] = false;
		if (states->items.items[states->of_node[node]].hash == hash)
			continue;
		leave(cluster, node);
		join(cluster, node, hash);
	}
	states->late.count = 0;
}

const struct node_states *states_get(struct cluster *cluster)
{
	if (cluster->states.stale)
		group_all(cluster);
	else
		catch_up(cluster);
	return &cluster->states;
}
