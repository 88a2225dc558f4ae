/* Owns decoded pods that are kept: decoded in memory that is used again and again, then copied into one block of just the
 * size it takes, because there are tens of thousands of them. Texts stay where they are in the document. */
#include "admit/pod.h"
#include "admit/pod_fields.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A block that is being filled; without one only the size is counted. */
struct pack {
	char *block;
	size_t used;
};

/* The copy; what was given when it is only counted, so that storing the answer where it came from changes nothing. */
static void *pack_bytes(struct pack *pack, const void *bytes, size_t count, size_t size)
{
	if (count == 0)
		return NULL;
	void *at = pack->block ? memcpy(pack->block + pack->used, bytes, count * size) : (void *)(uintptr_t)bytes;
	pack->used += (count * size + alignof(void *) - 1) / alignof(void *) * alignof(void *);
	return at;
}

#define PACK(pack, array, count) pack_bytes((pack), (array), (count), sizeof(*(array)))

static const char *pack_text(struct pack *pack, const char *text)
{
	return text ? pack_bytes(pack, text, strlen(text) + 1, 1) : NULL;
}

static void pack_selector(struct pack *pack, struct selector *selector)
{
	selector->items = PACK(pack, selector->items, selector->count);
	for (size_t i = 0; i < selector->count; i++)
		selector->items[i].values = PACK(pack, selector->items[i].values, selector->items[i].value_count);
}

static struct node_term *pack_node_terms(struct pack *pack, const struct node_term *terms, size_t count)
{
	struct node_term *copies = PACK(pack, terms, count);
	for (size_t i = 0; i < count; i++)
		pack_selector(pack, &copies[i].selector);
	return copies;
}

static struct pod_term *pack_pod_terms(struct pack *pack, const struct pod_term *terms, size_t count)
{
	struct pod_term *copies = PACK(pack, terms, count);
	for (size_t i = 0; i < count; i++) {
		pack_selector(pack, &copies[i].selector);
		copies[i].namespaces = PACK(pack, copies[i].namespaces, copies[i].namespace_count);
	}
	return copies;
}

/* ---- rules ---- */

/* What a real API server gives to every pod that says nothing of its own. */
static const struct toleration usual_tolerations[] = {
	{.key = "node.kubernetes.io/not-ready", .value = "", .exists = true, .effect = TAINT_NO_EXECUTE},
	{.key = "node.kubernetes.io/unreachable", .value = "", .exists = true, .effect = TAINT_NO_EXECUTE},
};
static const struct pod_rules no_rules;
static const struct pod_rules usual_rules = {
	.tolerations = (struct toleration *)usual_tolerations, /* which nobody writes to */
	.toleration_count = 2,
};

static bool is_usual(const struct toleration *tolerations)
{
	for (int i = 0; i < 2; i++)
		if (!tolerations[i].key || strcmp(tolerations[i].key, usual_tolerations[i].key) != 0 ||
		    !tolerations[i].exists || tolerations[i].any_effect || tolerations[i].effect != TAINT_NO_EXECUTE)
			return false;
	return true;
}

/* Most pods have no rules, or those that all have: these share one struct. NULL: it has rules of its own. */
static const struct pod_rules *shared_rules(const struct pod_rules *rules)
{
	if (rules->node_selector.count || rules->has_node_terms || rules->preferred_node_count || rules->port_count ||
	    rules->affinity_count || rules->anti_affinity_count || rules->preferred_affinity_count ||
	    rules->preferred_anti_affinity_count || rules->spread_count)
		return NULL;
	if (rules->toleration_count == 0)
		return &no_rules;
	return rules->toleration_count == 2 && is_usual(rules->tolerations) ? &usual_rules : NULL;
}

static const struct pod_rules *pack_rules(struct pack *pack, const struct pod_rules *rules)
{
	const struct pod_rules *shared = shared_rules(rules);
	if (shared)
		return shared;
	struct pod_rules *copy = PACK(pack, rules, 1);
	pack_selector(pack, &copy->node_selector);
	copy->node_terms = pack_node_terms(pack, rules->node_terms, rules->node_term_count);
	copy->preferred_nodes = pack_node_terms(pack, rules->preferred_nodes, rules->preferred_node_count);
	copy->tolerations = PACK(pack, rules->tolerations, rules->toleration_count);
	copy->ports = PACK(pack, rules->ports, rules->port_count);
	copy->affinity = pack_pod_terms(pack, rules->affinity, rules->affinity_count);
	copy->anti_affinity = pack_pod_terms(pack, rules->anti_affinity, rules->anti_affinity_count);
	copy->preferred_affinity = pack_pod_terms(pack, rules->preferred_affinity, rules->preferred_affinity_count);
	copy->preferred_anti_affinity =
		pack_pod_terms(pack, rules->preferred_anti_affinity, rules->preferred_anti_affinity_count);
	copy->spread = PACK(pack, rules->spread, rules->spread_count);
	for (size_t i = 0; i < copy->spread_count; i++)
		pack_selector(pack, &copy->spread[i].selector);
	return copy;
}

/* ---- the whole ---- */

static const struct problem *pack_problems(struct pack *pack, const struct problems *problems)
{
	struct problem *copies = PACK(pack, problems->items, problems->count);
	for (size_t i = 0; i < problems->count; i++) {
		copies[i].path = pack_text(pack, copies[i].path);
		copies[i].message = pack_text(pack, copies[i].message);
		copies[i].fix = pack_text(pack, copies[i].fix);
	}
	return copies;
}

static const struct pod_block *pack_block(struct pack *pack, const struct pod_block *block)
{
	if (!block)
		return NULL;
	struct pod_block *copy = PACK(pack, block, 1);
	copy->message = pack_text(pack, copy->message);
	return copy;
}

static void pack_spec(struct pack *pack, struct pod_spec *spec, const struct labels *labels)
{
	spec->labels = *labels;
	spec->replica_of = spec->replica_of ? pack_text(pack, spec->replica_of) : NULL;
	spec->requests = PACK(pack, spec->requests, spec->request_count);
	spec->rules = pack_rules(pack, spec->rules);
	spec->claims = PACK(pack, spec->claims, spec->claim_count);
	for (size_t i = 0; i < spec->claim_count; i++) /* those of ephemeral volumes are in no document */
		spec->claims[i] = pack_text(pack, spec->claims[i]);
	spec->device_claims = PACK(pack, spec->device_claims, spec->device_claim_count);
	spec->config_maps = PACK(pack, spec->config_maps, spec->config_map_count);
	spec->block = pack_block(pack, spec->block);
}

static struct decoded_pod *pack_pod(struct pack *pack, const struct decoded_pod *pod, const struct problems *problems,
                                    const struct labels *labels)
{
	struct decoded_pod *copy = PACK(pack, pod, 1);
	if (copy->usable)
		pack_spec(pack, &copy->spec, labels);
	copy->problems = pack_problems(pack, problems);
	return copy;
}

static struct derived *derive(const struct val *root, const struct labels *labels)
{
	struct arena *arena = arena_create();
	struct problems problems = {.arena = arena};
	struct decoded_pod pod = {0};
	struct pod_spec spec;
	if (pod_decode(root, arena, &spec, &problems) == 0) {
		pod.usable = true;
		pod.spec = spec;
	}
	pod.problem_count = problems.count;
	struct pack size = {0};
	pack_pod(&size, &pod, &problems, labels);
	struct pack pack = {.block = base_malloc(size.used)};
	pack_pod(&pack, &pod, &problems, labels);
	arena_destroy(arena);
	return (struct derived *)(void *)pack.block; /* which begins with the pod, and that with this */
}

static void destroy(struct derived *derived)
{
	free(derived);
}

const struct derivation pod_derivation = {.derive = derive, .destroy = destroy};

/* ---- for the author of a pod ---- */

void pod_judge(const struct decoded_pod *pod, const struct val *object, struct problems *problems)
{
	problems_copy(problems, pod->problems, pod->problem_count);
	if (pod->usable && !pod->spec.node)
		pod_fields_judge(object, "", problems);
}
