/* Owns the sentences on who holds the room that a group waits for, and on the claim of its queue. */
#include "engine/cycle/holders.h"

#include "base/clamp.h"
#include "engine/cycle/queue_order.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EXPLAINED = 200, MOST_HOLDERS = 3, MOST_NODES = 3 };

/* What one group has on the nodes in question. */
struct holder {
	int group;
	int pods, nodes;
	int64_t gpus; /* thousandths */
	const char *named;
};

struct question {
	struct queue_order *order;
	struct cycle *cycle;
	struct cycle_group *group;
	const struct reason *room; /* the change that frees nodes */
	struct holder *holders;
	size_t count;
};

static bool is_asked(const struct reason *room, int node)
{
	for (size_t i = 0; i < room->node_count; i++)
		if (room->nodes[i] == node)
			return true;
	return false;
}

static int compare_nodes(const void *left, const void *right)
{
	const int *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* What group number `g` has on the nodes. */
static void measure(struct question *question, int g)
{
	struct cycle *cycle = question->cycle;
	const struct gang *gang = &cycle->groups[g].gang;
	struct holder holder = {.group = g, .named = ""};
	int nodes[MOST_NODES + 1];
	for (size_t p = 0; p < gang->pod_count; p++) {
		const struct gang_pod *pod = &gang->pods[p];
		if (!cycle_is_member(pod) || !is_asked(question->room, pod->node))
			continue;
		bool known = false;
		for (int n = 0; n < holder.nodes && n <= MOST_NODES; n++)
			known |= nodes[n] == pod->node;
		if (!known && holder.nodes <= MOST_NODES)
			nodes[holder.nodes++] = pod->node;
		holder.pods++;
		holder.gpus = clamp_add(holder.gpus, question->order->run.amounts[pod->pod_class][CYCLE_GPU]);
	}
	if (!holder.pods)
		return;
	qsort(nodes, (size_t)(holder.nodes < MOST_NODES ? holder.nodes : MOST_NODES), sizeof(*nodes), compare_nodes);
	for (int n = 0; n < holder.nodes; n++)
		holder.named = n == MOST_NODES ? arena_printf(cycle->arena, "%s, ...", holder.named)
		                               : arena_printf(cycle->arena, "%s%s%s", holder.named, n ? ", " : "",
		                                              cluster_node_name(cycle->cluster, nodes[n]));
	question->holders[question->count++] = holder;
}

/* ---- why it stays ---- */

/* Why nobody takes it from a group of another queue; "" when that is not plain. */
static const char *why_not_reclaimed(struct question *question, const struct cycle_group *holder)
{
	struct share_claim *claim = &question->order->run.claim;
	struct cycle_cost least;
	cycle_find_least(&question->order->run, question->group, &least);
	bool is_protected = question->group->preempt == CYCLE_NON_PREEMPTIBLE;
	if (holder->queue < 0 ||
	    share_claim_begin(claim, question->group->queue, least.amounts, is_protected) != SHARE_ALLOWED)
		return "";
	return share_claim_may_take(claim, holder->queue)
	               ? ""
	               : arena_printf(question->cycle->arena, "queue %s is within its share",
	                              question->cycle->queues[holder->queue].name);
}

static const char *why_it_stays(struct question *question, const struct cycle_group *holder)
{
	if (holder->preempt == CYCLE_NON_PREEMPTIBLE)
		return "non-preemptible";
	if (holder->queue != question->group->queue)
		return why_not_reclaimed(question, holder);
	return holder->priority >= question->group->priority ? "same queue, no lower priority" : "";
}

/* ---- sentences ---- */

static int compare_holders(const void *left, const void *right)
{
	const struct holder *a = left, *b = right;
	if (a->gpus != b->gpus)
		return a->gpus > b->gpus ? -1 : 1;
	if (a->pods != b->pods)
		return a->pods > b->pods ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

static const char *holder_text(struct question *question, const struct holder *holder)
{
	struct arena *arena = question->cycle->arena;
	const struct cycle_group *group = &question->cycle->groups[holder->group];
	const char *what = holder->gpus ? cycle_amount_text(arena, CYCLE_GPU, holder->gpus)
	                                : arena_printf(arena, "%d pod%s", holder->pods, holder->pods == 1 ? "" : "s");
	const char *stays = why_it_stays(question, group);
	return arena_printf(arena, "%s (%s on %s%s%s)", gang_title(&group->gang, arena), what, holder->named,
	                    *stays ? "; " : "", stays);
}

static const char *list_holders(struct question *question)
{
	struct arena *arena = question->cycle->arena;
	const char *text = "";
	qsort(question->holders, question->count, sizeof(*question->holders), compare_holders);
	for (size_t i = 0; i < question->count && i < MOST_HOLDERS; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", holder_text(question, &question->holders[i]));
	return question->count > MOST_HOLDERS
	               ? arena_printf(arena, "%s and %zu more", text, question->count - MOST_HOLDERS)
	               : text;
}

/* How many groups of its queue are served before it, and how many wait there in all. */
static int position(const struct question *question, int *waiting)
{
	const struct cycle *cycle = question->cycle;
	struct candidate own = {.group = (int)(question->group - cycle->groups), .growth = -1};
	int before = 0;
	*waiting = 0;
	for (size_t g = 0; g < cycle->group_count; g++) {
		const struct cycle_group *group = &cycle->groups[g];
		struct candidate other = {.group = (int)g, .growth = -1};
		if (group->queue != question->group->queue || !cycle_has_waiting(group) ||
		    gang_root_satisfied(&group->gang))
			continue;
		++*waiting;
		before += other.group != own.group && queue_order_is_before(cycle, &other, &own);
	}
	return before + 1;
}

static const char *claim_text(struct question *question)
{
	struct cycle_cost least;
	cycle_find_least(&question->order->run, question->group, &least);
	switch (share_claim_begin(&question->order->run.claim, question->group->queue, least.amounts,
	                          question->group->preempt == CYCLE_NON_PREEMPTIBLE)) {
	case SHARE_OVER_FAIR_SHARE:
		return "; more with this group, so nothing is reclaimed for it";
	case SHARE_OVER_QUOTA:
		return "; over quota with this non-preemptible group, so nothing is reclaimed for it";
	case SHARE_ALLOWED:
	case SHARE_SAME_QUEUE:
	case SHARE_VICTIM_WITHIN_SHARE:
	case SHARE_MORE_SATURATED:
		break;
	}
	return "";
}

static const char *queue_text(struct question *question)
{
	struct arena *arena = question->cycle->arena;
	const struct cycle_queue *queue = &question->cycle->queues[question->group->queue];
	struct cycle_cost least;
	int waiting, at = position(question, &waiting);
	cycle_find_least(&question->order->run, question->group, &least);
	int resource = least.amounts[CYCLE_GPU] ? CYCLE_GPU : CYCLE_CPU;
	const char *place = waiting > 1 ? arena_printf(arena, "position %d of %d, ", at, waiting) : "";
	return arena_printf(arena, "queue %s: %suses %s, fair share %s%s", cycle_queue_text(queue, arena), place,
	                    cycle_amount_text(arena, resource, queue->allocated[resource]),
	                    cycle_amount_text(arena, resource, queue->fair[resource]), claim_text(question));
}

/* Behind the facts, before the changes. */
static void insert(struct question *question, enum reason_code code, const char *message)
{
	struct reasons *reasons = &question->group->reasons;
	size_t at = 0;
	while (at < reasons->count && reasons->items[at].code != REASON_RELAXATION)
		at++;
	reason_add(reasons, question->cycle->arena, (struct reason){.code = code, .message = message});
	struct reason last = reasons->items[reasons->count - 1];
	memmove(&reasons->items[at + 1], &reasons->items[at], (reasons->count - 1 - at) * sizeof(last));
	reasons->items[at] = last;
}

static const struct reason *find_room(const struct cycle_group *group)
{
	for (size_t i = 0; i < group->reasons.count; i++)
		if (group->reasons.items[i].node_count)
			return &group->reasons.items[i];
	return NULL;
}

static void explain_group(struct queue_order *order, struct cycle_group *group, const struct reason *room)
{
	struct cycle *cycle = order->run.cycle;
	struct question question = {.order = order, .cycle = cycle, .group = group, .room = room};
	question.holders = arena_array(cycle->arena, struct holder, cycle->group_count);
	for (size_t g = 0; g < cycle->group_count; g++)
		if (&cycle->groups[g] != group)
			measure(&question, (int)g);
	insert(&question, REASON_HELD_BY,
	       question.count ? arena_printf(cycle->arena, "held by %s", list_holders(&question))
	                      : "held by pods that another scheduler placed");
	if (group->queue >= 0 && cycle->queue_count > 1)
		insert(&question, REASON_QUEUE_POSITION, queue_text(&question));
}

void holders_explain(struct cycle *cycle)
{
	struct queue_order order;
	int explained = 0;
	queue_order_open(cycle, &order);
	for (size_t g = 0; g < cycle->group_count && explained < MOST_EXPLAINED; g++) {
		struct cycle_group *group = &cycle->groups[g];
		const struct reason *room = group->state == GROUP_WAITING ? find_room(group) : NULL;
		if (!room)
			continue;
		struct reason copy = *room; /* the list moves */
		explain_group(&order, group, &copy);
		explained++;
	}
	queue_order_close(&order);
}
