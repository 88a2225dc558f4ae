/* Owns finding what is wrong with a node selector that no node matches: usually a word was misspelt. */
#include "engine/explain/internal.h"

#include <string.h>

#define MOST_NODES 2000 /* that are looked at for a word that was meant */

struct near_word {
	const char *wanted, *found;
	size_t distance;
};

static void consider(struct near_word *word, const char *text)
{
	size_t distance = text_distance(text, word->wanted);
	if (distance > 0 && distance <= 1 + strlen(word->wanted) / 4 && (!word->found || distance < word->distance)) {
		word->found = text;
		word->distance = distance;
	}
}

/* The requirement that no node meets on its own, NULL when each is met by some node. */
static const struct match *unmet(const struct cluster *cluster, const struct selector *selector)
{
	for (size_t i = 0; i < selector->count; i++) {
		bool met = false;
		for (int n = 0; n < cluster->node_count && !met; n++)
			met = match_labels(&selector->items[i], &cluster->nodes[n].labels, cluster->nodes[n].name);
		if (!met)
			return &selector->items[i];
	}
	return NULL;
}

static const char *did_you_mean(const struct near_word *word, struct arena *arena)
{
	return word->found ? arena_printf(arena, " (did you mean %s?)", word->found) : "";
}

const char *explain_missing_label(const struct cluster *cluster, const struct shape *shape, struct arena *arena)
{
	const struct match *match = unmet(cluster, &shape->rules.node_selector);
	if (!match && shape->rules.node_term_count == 1)
		match = unmet(cluster, &shape->rules.node_terms[0].selector);
	if (!match || match->field_name || (match->op != MATCH_IN && match->op != MATCH_EXISTS))
		return "";
	struct near_word key = {.wanted = match->key}, value = {.wanted = match->value_count ? match->values[0] : ""};
	int nodes = cluster->node_count < MOST_NODES ? cluster->node_count : MOST_NODES;
	bool known = false;
	for (int n = 0; n < cluster->node_count && !known; n++)
		known = labels_get(&cluster->nodes[n].labels, match->key) != NULL;
	for (int n = 0; n < nodes; n++) {
		const struct labels *labels = &cluster->nodes[n].labels;
		const char *own = labels_get(labels, match->key);
		for (size_t i = 0; i < labels->count && !known; i++)
			consider(&key, labels->items[i].key);
		if (own)
			consider(&value, own);
	}
	if (!known)
		return arena_printf(arena, "; no node has the label %s%s", match->key, did_you_mean(&key, arena));
	return arena_printf(arena, "; no node has %s=%s%s%s", match->key, value.wanted,
	                    match->value_count > 1 ? " or another value asked for" : "", did_you_mean(&value, arena));
}
