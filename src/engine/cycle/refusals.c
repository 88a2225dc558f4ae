/* Owns the refusals of one cycle: a hash table from questions to answers that is void when the cluster changes. */
#include "engine/cycle/refusals.h"

#include "base/hash.h"
#include "engine/cycle/moved_places.h"
#include "engine/cycle/refusal_cache.h"

#include <string.h>

struct entry {
	uint64_t question, version;
	struct refusal refusal;
	struct entry *next;
};

struct refusals {
	struct arena *arena;
	struct entry **buckets;
	size_t bucket_count, count; /* a power of two */
	uint64_t version;
};

struct refusals *refusals_create(struct arena *arena)
{
	struct refusals *refusals = arena_new(arena, struct refusals);
	refusals->arena = arena;
	refusals->bucket_count = 64;
	refusals->buckets = arena_array(arena, struct entry *, refusals->bucket_count);
	return refusals;
}

void refusals_invalidate(struct refusals *refusals)
{
	refusals->version++;
}

uint64_t refusals_hash_gang(const struct gang *gang)
{
	uint64_t hash = hash_mix(gang->tree_count, gang->pod_count);
	if (gang->coming_class)
		hash = hash_mix(hash, (uint64_t)gang->coming_class);
	for (size_t i = 0; i < gang->tree_count; i++) {
		const struct gang_node *node = &gang->tree[i];
		hash = hash_mix(hash, (uint64_t)(uint32_t)node->parent << 32 | (uint32_t)node->minimum);
		hash = hash_mix(hash,
		                (uint64_t)(uint32_t)node->required.topology << 32 | (uint32_t)node->required.level);
		hash = hash_mix(hash,
		                (uint64_t)(uint32_t)node->preferred.topology << 32 | (uint32_t)node->preferred.level);
		if (gang->starts_whole)
			hash = hash_mix(hash, (uint64_t)(uint32_t)node->expected + 1);
		if (i > 0 && node->name)
			hash = hash_mix(hash, XXH3_64bits(node->name, strlen(node->name)));
	}
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		bool placed = pod->state == MEMBER_RUNNING || pod->state == MEMBER_RESERVED;
		int node = placed ? pod->node : pod->state == MEMBER_WAITING ? pod->nominated : -1;
		hash = hash_mix(hash, (uint64_t)(uint32_t)pod->pod_class << 32 | (uint32_t)pod->leaf);
		hash = hash_mix(hash, (uint64_t)pod->state << 32 | (uint32_t)node);
	}
	return hash;
}

uint64_t refusals_question(const struct cycle *cycle, const struct cycle_group *group, uint64_t what)
{
	uint64_t look = refusals_hash_gang(&group->gang);
	if (moved_places_concern(group))
		look = hash_mix(look, (uint64_t)(group - cycle->groups) + 1);
	return hash_mix(look, what);
}

struct refusal *refusals_find(const struct refusals *refusals, uint64_t question)
{
	for (struct entry *entry = refusals->buckets[question & (refusals->bucket_count - 1)]; entry;
	     entry = entry->next)
		if (entry->question == question)
			return entry->version == refusals->version ? &entry->refusal : NULL;
	return NULL;
}

static void grow(struct refusals *refusals)
{
	struct entry **old = refusals->buckets;
	size_t count = refusals->bucket_count;
	refusals->bucket_count = count * 4;
	refusals->buckets = arena_array(refusals->arena, struct entry *, refusals->bucket_count);
	for (size_t i = 0; i < count; i++)
		for (struct entry *entry = old[i], *next; entry; entry = next) {
			struct entry **bucket = &refusals->buckets[entry->question & (refusals->bucket_count - 1)];
			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
}

struct refusal *refusals_add(struct refusals *refusals, uint64_t question, const struct placement *placement)
{
	struct entry **bucket = &refusals->buckets[question & (refusals->bucket_count - 1)];
	struct entry *entry = *bucket;
	while (entry && entry->question != question)
		entry = entry->next;
	if (!entry) {
		entry = arena_new(refusals->arena, struct entry);
		entry->question = question;
		entry->next = *bucket;
		*bucket = entry;
		if (++refusals->count > refusals->bucket_count)
			grow(refusals);
	}
	entry->version = refusals->version;
	entry->refusal = (struct refusal){0};
	if (placement)
		entry->refusal.placement = *placement;
	entry->refusal.placement.choices = NULL;
	entry->refusal.placement.choice_count = 0;
	return &entry->refusal;
}

struct refusal *refusals_load_cached(struct cycle *cycle, const struct gang *gang, uint64_t question)
{
	const struct refusal *kept = refusal_cache_find(cycle, gang, question);
	if (!kept)
		return NULL;
	struct refusal *refusal = refusals_add(cycle->refusals, question, &kept->placement);
	refusal->explained = kept->explained;
	refusal->reasons = kept->reasons;
	return refusal;
}

void refusals_explain(struct refusal *refusal, struct cycle *cycle, struct cycle_group *group)
{
	if (cycle->silent) {
		reason_add(&group->reasons, cycle->arena,
		           (struct reason){.code = REASON_RESOURCE, .message = "no room"});
		return;
	}
	if (!refusal->explained) {
		engine_explain(cycle->cluster, &group->gang, &refusal->placement, cycle->trials, cycle->arena,
		               &refusal->reasons);
		moved_places_explain(cycle, &group->gang, false, &refusal->reasons);
		refusal->explained = true;
	}
	for (size_t i = 0; i < refusal->reasons.count; i++)
		reason_add(&group->reasons, cycle->arena, refusal->reasons.items[i]);
}
