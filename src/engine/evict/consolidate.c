/* Owns the action that moves pods to make a hole. Nothing is lost: whoever leaves has a new place in the same plan, so it
 * does not matter whose pods they are. */
#include "engine/cycle/actions.h"
#include "engine/evict/internal.h"

static void list_pods(struct evict_attempt *attempt)
{
	const struct victim_list *list = victim_index_list_pods(attempt->run->victim_index);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].group != attempt->group && !evict_defer_guarded(attempt, &list->items[i]))
			evict_append_unit(attempt, &list->items[i]);
}

static const struct evict_method consolidation = {
	.moves_only = true,
	.preemptible_only = true,
	.begin = moves_could_help,
	.list = list_pods,
};

const struct action_row action_consolidate = {
	.run = cycle_make_room,
	.method = &consolidation,
	.serves_waiting = true,
	.evicts = true,
	.why = "it needs the hole",
};
