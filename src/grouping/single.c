/* Owns pods that stand alone: when nothing is written about a group of one, and telling that its terms changed. */
#include "grouping/internal.h"
#include "kinds/names.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct change {
	char *namespace_, *name;
};

struct grouping_changes {
	VEC(struct change) waiting;
	struct change told; /* borrowed by the caller */
};

struct grouping_changes *grouping_changes_create(void)
{
	return base_calloc(1, sizeof(struct grouping_changes));
}

static void change_free(struct change *change)
{
	free(change->namespace_);
	free(change->name);
	*change = (struct change){0};
}

void grouping_changes_destroy(struct grouping_changes *changes)
{
	for (size_t i = 0; i < changes->waiting.count; i++)
		change_free(&changes->waiting.items[i]);
	vec_free(&changes->waiting);
	change_free(&changes->told);
	free(changes);
}

bool grouping_is_single(struct store *store, const struct settings *settings, struct grouping_index *index,
                        const struct store_object *pod, const struct group_result *result)
{
	if (settings->single_groups || result->verdict != GROUP_WANTED || !result->single ||
	    *val_str(val_path(pod->root, "metadata", "annotations", GROUP_KEY_POD_GROUP, NULL), ""))
		return false;
	/* Pods that this one owns join its group. */
	const struct grouping_group *group = grouping_index_group(index, result->namespace_, result->name);
	if (group && group->members && group->members->following)
		return false;
	const struct store_type *type = store_type_find(store, KINDS_SCHEDULING, "podgroups");
	return !type || !store_peek(store, type, result->namespace_, result->name);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return hash_mix(hash, text ? XXH3_64bits(text, strlen(text)) : 0);
}

void grouping_note_terms(struct grouping_changes *changes, struct grouping_pod *pod, const struct group_result *result)
{
	uint64_t terms = mix_text(mix_text(mix_text(1, result->queue), result->priority_class), result->preemptibility);
	terms = mix_text(terms, result->share);
	if (pod->terms && pod->terms != terms)
		vec_push(&changes->waiting, ((struct change){base_strdup(pod->namespace_), base_strdup(pod->name)}));
	pod->terms = terms ? terms : 1;
}

bool grouping_next_change(struct grouping_changes *changes, const char **namespace_, const char **name)
{
	change_free(&changes->told);
	if (changes->waiting.count == 0)
		return false;
	changes->told = changes->waiting.items[--changes->waiting.count];
	*namespace_ = changes->told.namespace_;
	*name = changes->told.name;
	return true;
}
