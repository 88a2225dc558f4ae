/* Owns the action that moves pods to make a hole. Nothing is lost: whoever leaves has a new place in the same plan, so it
 * does not matter whose pods they are. Pods that others have to stand beside are not moved for those: affinity says where
 * a pod may go, not that others come to it. */
#include "engine/cycle/actions.h"
#include "engine/evict/internal.h"

static void list_pods(struct evict_attempt *attempt)
{
	const struct victim_list *list = victim_index_list_pods(attempt->run->victim_index);
	cycle_clear_mark(attempt->run, MARK_ASKED);
	cycle_clear_mark(attempt->run, MARK_GROWING);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].group != attempt->group && evict_may_move(attempt, &list->items[i]) &&
		    !evict_is_wanted_near(attempt, &list->items[i]) && !evict_defer_guarded(attempt, &list->items[i]))
			evict_append_unit(attempt, &list->items[i]);
}

/* Moving makes neither resources nor room in queues: what moves stays on its account. */
static bool could_help(struct evict_attempt *attempt)
{
	return moves_could_help(attempt) &&
	       cycle_queue_has_room_for_least(attempt->run, evict_beneficiary(attempt), attempt->grow);
}

static const struct evict_method consolidation = {
	.moves_only = true,
	.preemptible_only = true,
	.begin = could_help,
	.list = list_pods,
};

const struct action_row action_consolidate = {
	.run = cycle_make_room,
	.method = &consolidation,
	.serves_waiting = true,
	.evicts = true,
	.why = "it needs the hole",
};
