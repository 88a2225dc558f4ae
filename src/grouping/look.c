/* Owns what was found out about pods, for as long as it holds: the answers to what the scheduler asks about pods without a
 * PodGroup. It asks about a pod that stands alone each time something is new of it. */
#include "grouping/internal.h"

#include <stdlib.h>
#include <string.h>

/* Of a pod about which nothing is remembered: the scheduler asks twice, whether to wait and for its terms. */
struct last_look {
	struct store_object *pod; /* NULL: nothing */
	uint64_t version;         /* of the store then: what was read is as it was until that moves on */
	struct arena *arena;      /* of the result */
	struct group_result result;
};

struct grouping_looks {
	struct store *store;
	const struct settings *settings; /* of this turn */
	struct grouping_index *index;
	struct interner *texts; /* of terms; there are few */
	bool watched;           /* of every kind that a pod rests on it is told what changes */
	struct last_look last;
};

struct grouping_looks *grouping_looks_create(struct store *store, struct grouping_index *index)
{
	struct grouping_looks *looks = base_calloc(1, sizeof(*looks));
	*looks = (struct grouping_looks){.store = store,
	                                 .index = index,
	                                 .texts = interner_create(),
	                                 .last.arena = arena_create()};
	return looks;
}

static void forget_last(struct grouping_looks *looks)
{
	store_object_release(looks->last.pod);
	looks->last.pod = NULL;
	arena_reset(looks->last.arena);
}

void grouping_looks_destroy(struct grouping_looks *looks)
{
	forget_last(looks);
	arena_destroy(looks->last.arena);
	interner_destroy(looks->texts);
	free(looks);
}

void grouping_looks_use(struct grouping_looks *looks, const struct settings *settings, bool watched)
{
	forget_last(looks);
	looks->settings = settings;
	looks->watched = watched;
}

/* ---- what is remembered ---- */

static const char *keep_text(struct grouping_looks *looks, const char *text)
{
	return text ? interner_text(looks->texts, interner_id(looks->texts, text)) : NULL;
}

void grouping_remember(struct grouping_looks *looks, struct grouping_pod *pod, const struct store_object *object,
                       const struct group_result *result, bool listed)
{
	/* Of other changes nobody tells. */
	bool lasts = !pod->unserved && !listed;
	pod->looked = lasts ? object->version : 0;
	if (!lasts)
		return;
	bool wanted = result->verdict == GROUP_WANTED;
	pod->verdict = result->verdict;
	pod->may_be_single = result->single;
	pod->said = wanted ? (struct group_terms){.queue = keep_text(looks, result->queue),
	                                          .priority_class = keep_text(looks, result->priority_class),
	                                          .preemptibility = keep_text(looks, result->preemptibility),
	                                          .share = keep_text(looks, result->share)}
	                   : (struct group_terms){0};
}

void grouping_says_the_same(struct grouping_index *index, const struct store_object *object,
                            const struct store_object *old)
{
	struct grouping_pod *pod = grouping_index_find(index, object->namespace_, object->name);
	if (pod && pod->looked && pod->looked == old->version)
		pod->looked = object->version;
}

static const struct grouping_pod *find_looked(struct grouping_looks *looks, const struct store_object *pod)
{
	const struct grouping_pod *known = grouping_index_find(looks->index, pod->namespace_, pod->name);
	return looks->watched && known && known->looked && known->looked == pod->version ? known : NULL;
}

/* The answer is borrowed until the next look. */
static const struct group_result *look(struct grouping_looks *looks, const struct store_object *pod)
{
	struct last_look *last = &looks->last;
	uint64_t version = store_version(looks->store);
	if (last->pod == pod && last->version == version)
		return &last->result;
	struct grouping_source source;
	forget_last(looks);
	last->pod = store_object_retain((struct store_object *)(uintptr_t)pod);
	last->version = version;
	const struct grouping_pod *known = grouping_index_find(looks->index, pod->namespace_, pod->name);
	grouping_source_open(&source, looks->store, last->arena, known && known->seen ? known->seen : version);
	group_pod_marks(pod->root, &source.source, &looks->settings->group, last->arena, &last->result);
	grouping_source_close(&source);
	return &last->result;
}

/* ---- for the scheduler ---- */

bool grouping_holds(struct grouping_looks *looks, const struct store_object *pod)
{
	if (!settings_owns_pod(looks->settings, pod->root) ||
	    *val_str(val_path(pod->root, "metadata", "annotations", GROUP_KEY_POD_GROUP, NULL), "") ||
	    *val_str(val_path(pod->root, "spec", "nodeName", NULL), ""))
		return false;
	const struct grouping_pod *known = find_looked(looks, pod);
	if (known && known->verdict != GROUP_WANTED)
		return known->verdict != GROUP_NONE;
	struct group_result remembered = {.verdict = GROUP_WANTED};
	const struct group_result *result = &remembered;
	if (known && known->group) {
		remembered.single = known->may_be_single;
		remembered.namespace_ = known->group->namespace_;
		remembered.name = known->group->name;
	} else {
		result = look(looks, pod);
	}
	return result->verdict != GROUP_NONE &&
	       !grouping_is_single(looks->store, looks->settings, looks->index, pod, result);
}

bool grouping_terms(struct grouping_looks *looks, const struct store_object *pod, struct arena *arena,
                    struct group_terms *out)
{
	const struct grouping_pod *known = find_looked(looks, pod);
	if (!known)
		return group_terms_of(look(looks, pod), arena, out);
	return group_terms_of(&(struct group_result){.verdict = known->verdict,
	                                             .queue = known->said.queue,
	                                             .priority_class = known->said.priority_class,
	                                             .preemptibility = known->said.preemptibility,
	                                             .share = known->said.share},
	                      arena, out);
}
