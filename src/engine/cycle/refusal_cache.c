/* Owns the refusals that outlast a cycle, and what is known about the empty cluster. They are forgotten when something
 * may have become easier to place. */
#include "engine/cycle/refusal_cache.h"

#include "base/vec.h"
#include "engine/cluster/internal.h"
#include "engine/cycle/refusals.h"

#include <stdlib.h>
#include <string.h>

#define MOST_KEPT 10000 /* refusals, those that were replaced included; a cache that grew beyond starts anew */

struct cached_refusal {
	UT_hash_handle hh;
	uint64_t question;
	int64_t asked;  /* nanoseconds */
	uint64_t state; /* of the cluster then, see cluster_state */
	struct refusal refusal;
};

/* Whether a question has no answer in the empty cluster. */
struct outlook {
	UT_hash_handle hh;
	uint64_t question;
	bool hopeless;
};

/* A question for which no moves were found. */
struct in_vain {
	UT_hash_handle hh;
	uint64_t question;
};

/* Making room for this question is not tried again before its time. */
struct put_off {
	UT_hash_handle hh;
	uint64_t question;
	int64_t asked, pause; /* nanoseconds */
};

/* A pod that was bound by the last cycle: so many of its class were on the node then. */
struct bound {
	int pod_class, node, count;
};

struct refusal_cache {
	struct arena *arena; /* everything that is kept */
	struct cached_refusal *refusals;
	struct outlook *outlooks;
	struct in_vain *in_vain; /* all of one state */
	uint64_t vain_state;
	struct put_off *put_off;
	VEC(struct bound) bound;
	uint64_t costly; /* search steps */
	uint64_t freed, node_changes;
	size_t hits, added;
	bool disturbed;
};

size_t refusal_cache_hits(const struct refusal_cache *cache)
{
	return cache ? cache->hits : 0;
}

struct refusal_cache *refusal_cache_create(uint64_t costly)
{
	struct refusal_cache *cache = base_calloc(1, sizeof(*cache));
	cache->arena = arena_create();
	cache->costly = costly;
	return cache;
}

static void forget_refusals(struct refusal_cache *cache)
{
	HASH_CLEAR(hh, cache->refusals);
	arena_reset(cache->arena);
	cache->bound.count = 0;
	cache->added = 0;
}

static void forget_in_vain(struct refusal_cache *cache)
{
	struct in_vain *item, *next;
	HASH_ITER(hh, cache->in_vain, item, next) {
		HASH_DEL(cache->in_vain, item);
		free(item);
	}
}

static void forget_put_off(struct refusal_cache *cache)
{
	struct put_off *item, *next;
	HASH_ITER(hh, cache->put_off, item, next) {
		HASH_DEL(cache->put_off, item);
		free(item);
	}
}

static void forget_outlooks(struct refusal_cache *cache)
{
	struct outlook *outlook, *next;
	HASH_ITER(hh, cache->outlooks, outlook, next) {
		HASH_DEL(cache->outlooks, outlook);
		free(outlook);
	}
}

void refusal_cache_clear(struct refusal_cache *cache)
{
	if (!cache)
		return;
	forget_refusals(cache);
	forget_outlooks(cache);
	forget_in_vain(cache);
	forget_put_off(cache);
}

void refusal_cache_destroy(struct refusal_cache *cache)
{
	if (!cache)
		return;
	refusal_cache_clear(cache);
	vec_free(&cache->bound);
	arena_destroy(cache->arena);
	free(cache);
}

static int count_there(const struct cluster *cluster, int pod_class, int node)
{
	const struct resident_list *list = &cluster->residents[node];
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pod_class == pod_class)
			return list->items[i].count;
	return 0;
}

static bool all_there(const struct refusal_cache *cache, const struct cluster *cluster)
{
	for (size_t i = 0; i < cache->bound.count; i++) {
		const struct bound *bound = &cache->bound.items[i];
		if (count_there(cluster, bound->pod_class, bound->node) < bound->count)
			return false;
	}
	return true;
}

static bool has_reservations(const struct cycle *cycle)
{
	for (size_t i = 0; i < cycle_work_count(cycle); i++) {
		const struct gang *gang = &cycle->groups[cycle_work_at(cycle, i)].gang;
		for (size_t p = 0; p < gang->pod_count; p++)
			if (gang->pods[p].state == MEMBER_RESERVED)
				return true;
	}
	return false;
}

void refusal_cache_begin(struct cycle *cycle)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	if (!cache)
		return;
	uint64_t freed = cluster_freed(cycle->cluster);
	if (cache->freed != freed || cache->disturbed || cache->added > MOST_KEPT || !all_there(cache, cycle->cluster))
		forget_refusals(cache);
	bool other_nodes = cache->node_changes != cycle->cluster->node_changes;
	if (other_nodes || HASH_COUNT(cache->outlooks) > MOST_KEPT)
		forget_outlooks(cache);
	if (other_nodes || HASH_COUNT(cache->put_off) > MOST_KEPT)
		forget_put_off(cache);
	cache->freed = freed;
	cache->node_changes = cycle->cluster->node_changes;
	cache->bound.count = 0;
	cache->disturbed = cycle->cluster->releasing_pods > 0 || cycle->kept > 0 || has_reservations(cycle);
	if (cache->disturbed)
		forget_refusals(cache);
}

void refusal_cache_note_bound(struct cycle *cycle, const struct gang *gang, const struct placement *placement)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	if (!cache || cache->disturbed)
		return;
	if (placement->reserve) {
		refusal_cache_disturb(cycle);
		return;
	}
	for (size_t i = 0; i < placement->choice_count; i++) {
		int pod_class = gang->pods[placement->choices[i].pod].pod_class, node = placement->choices[i].node;
		vec_push(&cache->bound, (struct bound){pod_class, node, count_there(cycle->cluster, pod_class, node)});
	}
}

void refusal_cache_disturb(struct cycle *cycle)
{
	if (cycle->refusal_cache)
		cycle->refusal_cache->disturbed = true;
}

static bool depends_on_pods(const struct cluster *cluster, const struct gang *gang)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if (cluster->pod_classes.items[gang->pods[p].pod_class].has_required_rules)
			return true;
	return false;
}

static struct cached_refusal *find_cached(const struct cycle *cycle, const struct gang *gang, uint64_t question)
{
	struct cached_refusal *cached = NULL;
	if (cycle->refusal_cache && !cycle->refusal_cache->disturbed && !depends_on_pods(cycle->cluster, gang))
		HASH_FIND(hh, cycle->refusal_cache->refusals, &question, sizeof(question), cached);
	return cached;
}

static bool is_short_lived(const struct cycle *cycle, const struct cached_refusal *cached)
{
	const struct placement *placement = &cached->refusal.placement;
	return placement->outcome == PLACE_EXHAUSTED ? cached->state != cluster_state(cycle->cluster)
	                                             : placement->steps < cycle->refusal_cache->costly;
}

/* How long it is believed. What took long is left alone for ten times as long, counted in steps: whoever waits beside it
 * loses no more than a part of the time to a search that leads nowhere. */
static int64_t pause_after(uint64_t steps)
{
	uint64_t most = REFUSAL_CACHE_LONGEST / REFUSAL_CACHE_STEP_PAUSE;
	int64_t pause = (int64_t)(steps < most ? steps : most) * REFUSAL_CACHE_STEP_PAUSE;
	return pause > REFUSAL_CACHE_RETRY ? pause : REFUSAL_CACHE_RETRY;
}

static int64_t pause_of(const struct cached_refusal *cached)
{
	const struct placement *placement = &cached->refusal.placement;
	return placement->outcome == PLACE_EXHAUSTED ? pause_after(placement->steps) : REFUSAL_CACHE_RETRY;
}

/* Whether it is time to search again; a clock that was set back says nothing. */
static bool is_old(const struct cycle *cycle, const struct cached_refusal *cached)
{
	return is_short_lived(cycle, cached) &&
	       (cycle->now < cached->asked || cycle->now - cached->asked >= pause_of(cached));
}

const struct refusal *refusal_cache_find(struct cycle *cycle, const struct gang *gang, uint64_t question)
{
	const struct cached_refusal *cached = find_cached(cycle, gang, question);
	if (!cached || is_old(cycle, cached))
		return NULL;
	if (is_short_lived(cycle, cached) && cached->asked + pause_of(cached) < cycle->retry_at)
		cycle->retry_at = cached->asked + pause_of(cached);
	cycle->refusal_cache->hits++;
	return &cached->refusal;
}

static const char *copy_text(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

void refusal_cache_store(struct cycle *cycle, const struct gang *gang, uint64_t question, const struct refusal *refusal)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	const struct placement *placement = &refusal->placement;
	if (!cache || cache->disturbed ||
	    (placement->outcome != PLACE_IMPOSSIBLE && placement->outcome != PLACE_EXHAUSTED) ||
	    depends_on_pods(cycle->cluster, gang))
		return;
	struct cached_refusal *cached = find_cached(cycle, gang, question);
	if (cached && !is_old(cycle, cached))
		return;
	if (cached)
		HASH_DEL(cache->refusals, cached);
	cached = arena_new(cache->arena, struct cached_refusal);
	cached->question = question;
	cached->asked = cycle->now;
	cached->state = cluster_state(cycle->cluster);
	cached->refusal.placement = *placement;
	cached->refusal.explained = refusal->explained;
	for (size_t i = 0; i < refusal->reasons.count; i++) {
		struct reason reason = refusal->reasons.items[i];
		reason.message = copy_text(cache->arena, reason.message);
		reason.nodes = NULL; /* whose numbers may change */
		reason.node_count = 0;
		reason.level = copy_text(cache->arena, reason.level);
		reason.domain = copy_text(cache->arena, reason.domain);
		reason_add(&cached->refusal.reasons, cache->arena, reason);
	}
	cache->added++;
	HASH_ADD(hh, cache->refusals, question, sizeof(cached->question), cached);
}

int refusal_cache_is_hopeless(const struct cycle *cycle, uint64_t question)
{
	struct outlook *outlook = NULL;
	if (cycle->refusal_cache)
		HASH_FIND(hh, cycle->refusal_cache->outlooks, &question, sizeof(question), outlook);
	return outlook ? outlook->hopeless : -1;
}

void refusal_cache_store_hopeless(struct cycle *cycle, uint64_t question, bool hopeless)
{
	if (!cycle->refusal_cache || refusal_cache_is_hopeless(cycle, question) >= 0)
		return;
	struct outlook *outlook = base_calloc(1, sizeof(*outlook));
	outlook->question = question;
	outlook->hopeless = hopeless;
	HASH_ADD(hh, cycle->refusal_cache->outlooks, question, sizeof(outlook->question), outlook);
}

/* ---- moves ---- */

bool refusal_cache_minds_moves(const struct cycle *cycle, uint64_t steps)
{
	const struct refusal_cache *cache = cycle->refusal_cache;
	return cache && !cache->disturbed && (steps ? steps >= cache->costly : cache->in_vain != NULL);
}

bool refusal_cache_moves_in_vain(struct cycle *cycle, uint64_t question, uint64_t state)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	struct in_vain *item = NULL;
	if (cache && cache->vain_state == state)
		HASH_FIND(hh, cache->in_vain, &question, sizeof(question), item);
	if (item)
		cache->hits++;
	return item;
}

void refusal_cache_store_in_vain(struct cycle *cycle, uint64_t question, uint64_t state)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	if (!cache)
		return;
	if (cache->vain_state != state || HASH_COUNT(cache->in_vain) > MOST_KEPT)
		forget_in_vain(cache);
	cache->vain_state = state;
	struct in_vain *item = base_calloc(1, sizeof(*item));
	item->question = question;
	HASH_ADD(hh, cache->in_vain, question, sizeof(item->question), item);
}

/* ---- attempts to make room ---- */

bool refusal_cache_room_waits(struct cycle *cycle, uint64_t question)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	struct put_off *item = NULL;
	if (cache)
		HASH_FIND(hh, cache->put_off, &question, sizeof(question), item);
	if (!item || cycle->now < item->asked || cycle->now - item->asked >= item->pause)
		return false;
	if (item->asked + item->pause < cycle->retry_at)
		cycle->retry_at = item->asked + item->pause;
	cache->hits++;
	return true;
}

void refusal_cache_put_room_off(struct cycle *cycle, uint64_t question, uint64_t steps)
{
	struct refusal_cache *cache = cycle->refusal_cache;
	struct put_off *item = NULL;
	if (!cache || steps < cache->costly)
		return;
	HASH_FIND(hh, cache->put_off, &question, sizeof(question), item);
	if (!item) {
		item = base_calloc(1, sizeof(*item));
		item->question = question;
		HASH_ADD(hh, cache->put_off, question, sizeof(item->question), item);
	}
	item->asked = cycle->now;
	item->pause = pause_after(steps);
}
