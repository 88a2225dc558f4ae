/* Owns claims that one pod may use at a time (ReadWriteOncePod) as rules between pods. */
#include "schedule/volume_single.h"

#include <string.h>

/* Labels and rules of the pod, with room for one more of each per claim. */
static struct pod_rules *copy_with_room(const struct pod_spec *pod, struct arena *arena, struct volume_needs *needs)
{
	struct label *labels = arena_array(arena, struct label, pod->labels.count + pod->claim_count);
	struct pod_rules *rules = arena_new(arena, struct pod_rules);
	*rules = *pod->rules;
	rules->anti_affinity = arena_array(arena, struct pod_term, rules->anti_affinity_count + pod->claim_count);
	if (rules->anti_affinity_count)
		memcpy(rules->anti_affinity, pod->rules->anti_affinity,
		       rules->anti_affinity_count * sizeof(*rules->anti_affinity));
	if (pod->labels.count)
		memcpy(labels, pod->labels.items, pod->labels.count * sizeof(*labels));
	needs->labels.items = labels;
	needs->rules = rules;
	return rules;
}

void volume_single_add(const struct volume_book *book, volume_users *users, const void *context,
                       const struct pod_spec *pod, struct arena *arena, struct volume_needs *needs)
{
	struct pod_rules *rules = NULL;
	for (size_t i = 0; i < pod->claim_count - pod->ephemeral_count; i++) {
		const struct claim_spec *claim = volume_book_claim(book, pod->namespace_, pod->claims[i]);
		if (!claim || !(claim->modes & ACCESS_READ_WRITE_ONCE_POD) ||
		    users(context, pod->namespace_, pod->claims[i]) < 2)
			continue;
		const char *key = arena_printf(arena, SINGLE_CLAIM_LABEL "%s", pod->claims[i]);
		if (labels_get(&needs->labels, key))
			continue;
		if (!rules)
			rules = copy_with_room(pod, arena, needs);
		needs->labels.items[needs->labels.count++] = (struct label){key, pod->name};
		labels_sort(&needs->labels);
		struct match *match = arena_new(arena, struct match);
		*match = (struct match){.key = key, .op = MATCH_EXISTS};
		rules->anti_affinity[rules->anti_affinity_count++] =
			(struct pod_term){.selector = {match, 1}, .topology_key = ""};
	}
}
