/* The memory of refusals that outlast a cycle. */
#include "engine/cycle/refusal_cache.h"

#include "base/vec.h"
#include "engine/internal.h"
#include "engine/cycle/refusals.h"

#include <stdlib.h>
#include <string.h>

#define MOST_KEPT 10000 /* refusals, those that were replaced included; a memory that grew beyond starts anew */

struct kept {
	UT_hash_handle hh;
	uint64_t question;
	int64_t asked; /* nanoseconds */
	struct refusal refusal;
};

/* Whether a question has no answer in the empty cluster. */
struct outlook {
	UT_hash_handle hh;
	uint64_t question;
	bool hopeless;
};

/* A pod that was bound by the last cycle: so many of its kind were on the node then. */
struct bound {
	int kind, node, count;
};

struct cycle_memory {
	struct arena *arena; /* everything that is kept */
	struct kept *kept;
	struct outlook *outlooks;
	VEC(struct bound) bound;
	uint64_t costly; /* search steps */
	uint64_t freed, node_changes;
	size_t hits, added;
	bool disturbed;
};

size_t cycle_memory_hits(const struct cycle_memory *memory)
{
	return memory ? memory->hits : 0;
}

struct cycle_memory *cycle_memory_create(uint64_t costly)
{
	struct cycle_memory *memory = base_calloc(1, sizeof(*memory));
	memory->arena = arena_create();
	memory->costly = costly;
	return memory;
}

static void forget_refusals(struct cycle_memory *memory)
{
	HASH_CLEAR(hh, memory->kept);
	arena_reset(memory->arena);
	memory->bound.count = 0;
	memory->added = 0;
}

static void forget_outlooks(struct cycle_memory *memory)
{
	struct outlook *outlook, *next;
	HASH_ITER(hh, memory->outlooks, outlook, next) {
		HASH_DEL(memory->outlooks, outlook);
		free(outlook);
	}
}

void cycle_memory_clear(struct cycle_memory *memory)
{
	if (!memory)
		return;
	forget_refusals(memory);
	forget_outlooks(memory);
}

void cycle_memory_destroy(struct cycle_memory *memory)
{
	if (!memory)
		return;
	cycle_memory_clear(memory);
	vec_free(&memory->bound);
	arena_destroy(memory->arena);
	free(memory);
}

static int count_there(const struct cluster *cluster, int kind, int node)
{
	const struct resident_list *list = &cluster->residents[node];
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].kind == kind)
			return list->items[i].count;
	return 0;
}

static bool all_there(const struct cycle_memory *memory, const struct cluster *cluster)
{
	for (size_t i = 0; i < memory->bound.count; i++) {
		const struct bound *bound = &memory->bound.items[i];
		if (count_there(cluster, bound->kind, bound->node) < bound->count)
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

void memory_begin(struct cycle *cycle)
{
	struct cycle_memory *memory = cycle->memory;
	if (!memory)
		return;
	uint64_t freed = cluster_freed(cycle->cluster);
	if (memory->freed != freed || memory->disturbed || memory->added > MOST_KEPT ||
	    !all_there(memory, cycle->cluster))
		forget_refusals(memory);
	if (memory->node_changes != cycle->cluster->node_changes || HASH_COUNT(memory->outlooks) > MOST_KEPT)
		forget_outlooks(memory);
	memory->freed = freed;
	memory->node_changes = cycle->cluster->node_changes;
	memory->bound.count = 0;
	memory->disturbed = cycle->cluster->releasing_pods > 0 || cycle->starvation_after > 0 || cycle->kept > 0 ||
	                    has_reservations(cycle);
	if (memory->disturbed)
		forget_refusals(memory);
}

void memory_bound(struct cycle *cycle, const struct gang *gang, const struct placement *placement)
{
	struct cycle_memory *memory = cycle->memory;
	if (!memory || memory->disturbed)
		return;
	if (placement->reserve) {
		memory_disturb(cycle);
		return;
	}
	for (size_t i = 0; i < placement->choice_count; i++) {
		int kind = gang->pods[placement->choices[i].pod].kind, node = placement->choices[i].node;
		vec_push(&memory->bound, (struct bound){kind, node, count_there(cycle->cluster, kind, node)});
	}
}

void memory_disturb(struct cycle *cycle)
{
	if (cycle->memory)
		cycle->memory->disturbed = true;
}

static bool depends_on_pods(const struct cluster *cluster, const struct gang *gang)
{
	for (size_t p = 0; p < gang->pod_count; p++)
		if (cluster->kinds.items[gang->pods[p].kind].has_required_rules)
			return true;
	return false;
}

static struct kept *find(const struct cycle *cycle, const struct gang *gang, uint64_t question)
{
	struct kept *kept = NULL;
	if (cycle->memory && !cycle->memory->disturbed && !depends_on_pods(cycle->cluster, gang))
		HASH_FIND(hh, cycle->memory->kept, &question, sizeof(question), kept);
	return kept;
}

static bool is_short_lived(const struct cycle_memory *memory, const struct kept *kept)
{
	return kept->refusal.placement.outcome == PLACE_EXHAUSTED || kept->refusal.placement.steps < memory->costly;
}

/* Whether it is time to search again; a clock that was set back says nothing. */
static bool is_old(const struct cycle *cycle, const struct kept *kept)
{
	return is_short_lived(cycle->memory, kept) &&
	       (cycle->now < kept->asked || cycle->now - kept->asked >= MEMORY_SHORT);
}

const struct refusal *memory_find(struct cycle *cycle, const struct gang *gang, uint64_t question)
{
	const struct kept *kept = find(cycle, gang, question);
	if (!kept || is_old(cycle, kept))
		return NULL;
	if (is_short_lived(cycle->memory, kept) && kept->asked + MEMORY_SHORT < cycle->retry_at)
		cycle->retry_at = kept->asked + MEMORY_SHORT;
	cycle->memory->hits++;
	return &kept->refusal;
}

static const char *keep_text(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

void memory_keep(struct cycle *cycle, const struct gang *gang, uint64_t question, const struct refusal *refusal)
{
	struct cycle_memory *memory = cycle->memory;
	const struct placement *placement = &refusal->placement;
	if (!memory || memory->disturbed ||
	    (placement->outcome != PLACE_IMPOSSIBLE && placement->outcome != PLACE_EXHAUSTED) ||
	    depends_on_pods(cycle->cluster, gang))
		return;
	struct kept *kept = find(cycle, gang, question);
	if (kept && !is_old(cycle, kept))
		return;
	if (kept)
		HASH_DEL(memory->kept, kept);
	kept = arena_new(memory->arena, struct kept);
	kept->question = question;
	kept->asked = cycle->now;
	kept->refusal.placement = *placement;
	kept->refusal.explained = refusal->explained;
	for (size_t i = 0; i < refusal->reasons.count; i++) {
		struct reason reason = refusal->reasons.items[i];
		reason.message = keep_text(memory->arena, reason.message);
		reason.level = keep_text(memory->arena, reason.level);
		reason.domain = keep_text(memory->arena, reason.domain);
		reason_add(&kept->refusal.reasons, memory->arena, reason);
	}
	memory->added++;
	HASH_ADD(hh, memory->kept, question, sizeof(kept->question), kept);
}

int memory_is_hopeless(const struct cycle *cycle, uint64_t question)
{
	struct outlook *outlook = NULL;
	if (cycle->memory)
		HASH_FIND(hh, cycle->memory->outlooks, &question, sizeof(question), outlook);
	return outlook ? outlook->hopeless : -1;
}

void memory_keep_hopeless(struct cycle *cycle, uint64_t question, bool hopeless)
{
	if (!cycle->memory || memory_is_hopeless(cycle, question) >= 0)
		return;
	struct outlook *outlook = base_calloc(1, sizeof(*outlook));
	outlook->question = question;
	outlook->hopeless = hopeless;
	HASH_ADD(hh, cycle->memory->outlooks, question, sizeof(outlook->question), outlook);
}
