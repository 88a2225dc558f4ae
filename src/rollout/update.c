/* Owns the rolling update of one role: limits, surge, and the choice of what is replaced. */
#include "rollout/update.h"

#include "rollout/count.h"

#include <stdlib.h>

#define DEFAULT_MAX_UNAVAILABLE percent_share(10)

int64_t update_partition(struct percent partition, int64_t replicas)
{
	replicas = count_clamp(replicas);
	int64_t value = count_least(percent_of(partition, replicas, PERCENT_UP), replicas);
	if (partition.form == PERCENT_SHARE && partition.value < 100 && value == replicas && value > 0)
		value--;
	return value;
}

static int64_t resolve_unavailable(struct percent max_unavailable, int64_t replicas, int64_t max_surge)
{
	if (max_unavailable.form == PERCENT_UNSET)
		max_unavailable = DEFAULT_MAX_UNAVAILABLE;
	int64_t value = percent_of(max_unavailable, replicas, max_surge > 0 ? PERCENT_DOWN : PERCENT_UP);
	return max_surge == 0 && value < 1 ? 1 : value;
}

void update_resolve(const struct update_strategy *strategy, int64_t replicas, struct update_limits *limits)
{
	replicas = count_clamp(replicas);
	int64_t surge = percent_of(strategy->max_surge, replicas, PERCENT_UP);
	*limits = (struct update_limits){
		.replicas = replicas,
		.max_surge = surge,
		.max_unavailable = resolve_unavailable(strategy->max_unavailable, replicas, surge),
		.partition = update_partition(strategy->partition, replicas),
		.is_paused = strategy->is_paused,
	};
}

static bool is_available(const struct update_instance *instance)
{
	return instance->is_healthy && !instance->is_terminating;
}

/* Instances as the shape depends on them. */
struct tally {
	int64_t old;             /* in the updated part of the base, at another revision */
	int64_t old_available;   /* of those, available */
	int64_t updated;         /* there, available at the update revision */
	int64_t base_available;  /* in the whole base */
	int64_t surge_kept;      /* extra ordinals up to the last one at the update revision that is not terminating */
	int64_t surge_available; /* at the update revision there, available */
	int64_t updated_from; /* lowest ordinal of the updated part that is at the update revision; replicas if none */
};

static void count_instances(const struct update_limits *limits, int64_t update_revision,
                            const struct update_instance *instances, size_t count, struct tally *tally)
{
	*tally = (struct tally){.updated_from = limits->replicas};
	for (size_t i = 0; i < count; i++) {
		const struct update_instance *instance = &instances[i];
		bool is_updated = instance->revision == update_revision;
		if (instance->ordinal < 0 || instance->ordinal >= limits->replicas + limits->max_surge)
			continue;
		if (instance->ordinal >= limits->replicas) {
			if (is_updated && !instance->is_terminating)
				tally->surge_kept =
					count_most(tally->surge_kept, instance->ordinal + 1 - limits->replicas);
			tally->surge_available += is_updated && is_available(instance);
			continue;
		}
		tally->base_available += is_available(instance);
		if (instance->ordinal < limits->partition)
			continue;
		if (is_updated)
			tally->updated_from = count_least(tally->updated_from, instance->ordinal);
		tally->updated += is_updated && is_available(instance);
		tally->old += !is_updated;
		tally->old_available += !is_updated && is_available(instance);
	}
}

void update_shape(const struct update_limits *limits, int64_t current_revision, int64_t update_revision,
                  const struct update_instance *instances, size_t count, struct update_shape *shape)
{
	struct tally tally;
	count_instances(limits, update_revision, instances, count, &tally);
	*shape = (struct update_shape){
		.limits = *limits,
		.current_revision = current_revision,
		.update_revision = update_revision,
		.updated_from = tally.updated_from,
		.is_done = tally.updated >= limits->replicas - limits->partition,
	};
	/* After a change back to the current revision the revisions are equal while instances are not. */
	bool is_begun = current_revision != update_revision || tally.old > 0;
	shape->is_rolling = is_begun && !limits->is_paused;
	/* What stands in for the base may go when the base does without it. */
	bool is_needed = tally.base_available < limits->replicas - limits->max_unavailable;
	if (is_needed || (is_begun && (limits->is_paused || !shape->is_done)))
		shape->surge = tally.surge_kept;
	if (shape->is_rolling)
		shape->surge = count_most(shape->surge, tally.old_available - limits->max_unavailable);
	shape->surge = count_least(shape->surge, limits->max_surge);
	shape->end = limits->replicas + shape->surge;
}

struct place {
	int64_t ordinal;
	size_t index;
};

static int compare_descending(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	if (a->ordinal != b->ordinal)
		return a->ordinal > b->ordinal ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* An extra instance of a superseded rollout: at a revision nobody asks for any more. */
static bool is_superseded(const struct update_shape *shape, const struct update_instance *instance)
{
	return instance->ordinal >= shape->limits.replicas &&
	       instance->ordinal < shape->limits.replicas + shape->limits.max_surge &&
	       instance->revision != shape->update_revision && instance->revision != shape->current_revision;
}

/* How many may be taken away now; negative while too much is down already, for whatever reason. Superseded extra
 * instances do not let more of the base be replaced, but while they stand in for it they stay. As they are counted
 * only in `extra`, taking `base` of one and `extra` of the other at once is within the limit too. */
struct room {
	int64_t base, extra;
};

static struct room find_room(const struct update_shape *shape, const struct update_instance *instances, size_t count)
{
	struct tally tally;
	struct update_limits limits = shape->limits;
	limits.max_surge = shape->surge;
	count_instances(&limits, shape->update_revision, instances, count, &tally);
	struct room room;
	room.base = tally.base_available + tally.surge_available - (limits.replicas - limits.max_unavailable);
	room.extra = room.base;
	for (size_t i = 0; i < count; i++)
		room.extra += is_superseded(shape, &instances[i]) && is_available(&instances[i]);
	return room;
}

/* Takes one away if there is room. */
static bool take(int64_t *room)
{
	if (*room <= 0)
		return false;
	--*room;
	return true;
}

static enum update_action decide_one(const struct update_shape *shape, const struct update_instance *instance,
                                     struct room *room)
{
	bool is_beyond = instance->ordinal < 0 || instance->ordinal >= shape->end;
	bool is_extra = is_superseded(shape, instance) && instance->is_healthy;
	if (instance->is_terminating)
		return UPDATE_KEEP;
	if (is_beyond)
		return !is_extra || take(&room->extra) ? UPDATE_REMOVE : UPDATE_KEEP;
	if (!shape->is_rolling || instance->ordinal < shape->limits.partition ||
	    instance->revision == shape->update_revision)
		return UPDATE_KEEP;
	if (instance->ordinal >= shape->limits.replicas)
		return !is_extra || take(&room->extra) ? UPDATE_REPLACE : UPDATE_KEEP;
	if (instance->is_healthy)
		return take(&room->base) ? UPDATE_REPLACE : UPDATE_KEEP;
	/* Down already, so replacing it takes nothing away; but unless it is broken it may be about to recover, and is
	 * left alone as long as more is down than is allowed. */
	return instance->is_broken || room->base >= 0 ? UPDATE_REPLACE : UPDATE_KEEP;
}

void update_decide(const struct update_shape *shape, const struct update_instance *instances, size_t count,
                   enum update_action *actions, struct arena *scratch)
{
	struct place *order = arena_array(scratch, struct place, count);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct place){instances[i].ordinal, i};
	qsort(order, count, sizeof(*order), compare_descending);
	struct room room = find_room(shape, instances, count);
	for (size_t k = 0; k < count; k++)
		actions[order[k].index] = decide_one(shape, &instances[order[k].index], &room);
}

int64_t update_revision(const struct update_shape *shape, int64_t ordinal)
{
	/* While paused nothing new begins; but the walk has passed what lies above an updated ordinal. */
	int64_t from = shape->limits.is_paused ? shape->updated_from : shape->limits.partition;
	bool is_updated = ordinal >= from;
	return is_updated ? shape->update_revision : shape->current_revision;
}

bool update_may_advance(const struct update_shape *shape)
{
	return shape->is_done && shape->limits.partition == 0;
}

static struct percent pick(struct percent a, struct percent b, int64_t replicas, bool want_larger)
{
	if (a.form == PERCENT_UNSET || b.form == PERCENT_UNSET)
		return a.form == PERCENT_UNSET ? b : a;
	int64_t left = percent_of(a, replicas, PERCENT_UP), right = percent_of(b, replicas, PERCENT_UP);
	return (want_larger ? right > left : right < left) ? b : a;
}

struct update_strategy update_merge(const struct update_strategy *a, const struct update_strategy *b, int64_t replicas)
{
	return (struct update_strategy){
		.max_unavailable = pick(a->max_unavailable, b->max_unavailable, replicas, false),
		.max_surge = pick(a->max_surge, b->max_surge, replicas, false),
		.partition = pick(a->partition, b->partition, replicas, true),
		.is_paused = a->is_paused || b->is_paused,
	};
}
