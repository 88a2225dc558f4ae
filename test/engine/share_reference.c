/* The rules of docs/queues.md, sentence by sentence. */
#include "share_reference.h"

typedef __int128 wide;

int64_t reference_unit(int resource)
{
	return resource == SHARE_GPU ? 1000 : 1;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t stated(const struct share_queue *queue, int resource)
{
	return queue->requested[resource] > queue->allocated[resource] ? queue->requested[resource]
	                                                               : queue->allocated[resource];
}

int64_t reference_demand(const struct share_queue *queues, int count, int queue, int resource)
{
	int64_t below = 0, stated_below = 0;
	for (int i = 0; i < count; i++)
		if (queues[i].parent == queue) {
			below += reference_demand(queues, count, i, resource);
			stated_below += stated(&queues[i], resource);
		}
	int64_t own = stated(&queues[queue], resource) - stated_below;
	int64_t demand = below + (own > 0 ? own : 0);
	return queues[queue].limit[resource] < 0 ? demand : smaller(demand, queues[queue].limit[resource]);
}

struct hand {
	const struct share_queue *queue;
	int index;
	bool in_turn; /* of this priority, has a weight, wants more */
	int64_t want, given;
	wide weight;
};

static wide weights_in_turn(const struct hand *hands, int count)
{
	wide sum = 0;
	for (int i = 0; i < count; i++)
		sum += hands[i].in_turn ? hands[i].weight : 0;
	return sum;
}

/* Whoever wants no more than the part that is due to it gets what it wants and is out; then the parts of the others
 * are larger, so again, until nobody drops out. */
static int64_t satisfy(struct hand *hands, int count, int64_t amount)
{
	for (bool again = true; again;) {
		wide weights = weights_in_turn(hands, count), before = amount;
		again = false;
		for (int i = 0; i < count; i++)
			if (hands[i].in_turn && hands[i].want * weights <= before * hands[i].weight) {
				hands[i].given = hands[i].want;
				amount -= hands[i].want;
				hands[i].in_turn = false;
				again = true;
			}
	}
	return amount;
}

static bool older(const struct hand *a, const struct hand *b)
{
	return a->queue->creation != b->queue->creation ? a->queue->creation < b->queue->creation : a->index < b->index;
}

/* Unit by unit, each to the one who is furthest below its exact part. */
static int64_t hand_out(struct hand *hands, int count, int64_t amount, int64_t unit)
{
	wide weights = weights_in_turn(hands, count);
	int64_t left = amount;
	while (left > 0) {
		struct hand *most = NULL;
		wide most_lacks = 0;
		for (int i = 0; i < count; i++) {
			if (!hands[i].in_turn || hands[i].given == hands[i].want)
				continue;
			wide lacks = amount * hands[i].weight - hands[i].given * weights;
			if (!most || lacks > most_lacks || (lacks == most_lacks && older(&hands[i], most))) {
				most = &hands[i];
				most_lacks = lacks;
			}
		}
		if (!most)
			break;
		int64_t step = smaller(smaller(unit, left), most->want - most->given);
		most->given += step;
		left -= step;
	}
	return left;
}

static bool is_beyond_past(const struct hand *hand, wide weights, int resource)
{
	return hand->weight * SHARE_PAST_WHOLE <= weights * hand->queue->past[resource];
}

/* The past takes its part of the weights of all from the weight of each. Who has none left gets what the others leave. */
static int64_t serve(struct hand *hands, int count, int64_t amount, int resource)
{
	struct hand second[REFERENCE_MAX];
	wide weights = weights_in_turn(hands, count);
	for (int i = 0; i < count; i++) {
		second[i] = hands[i];
		second[i].given = 0;
		second[i].in_turn = hands[i].in_turn && is_beyond_past(&hands[i], weights, resource);
		hands[i].in_turn = hands[i].in_turn && !second[i].in_turn;
		hands[i].weight = hands[i].weight * SHARE_PAST_WHOLE - weights * hands[i].queue->past[resource];
	}
	amount = hand_out(hands, count, satisfy(hands, count, amount), reference_unit(resource));
	amount = hand_out(second, count, satisfy(second, count, amount), reference_unit(resource));
	for (int i = 0; i < count; i++) {
		hands[i].given += second[i].given;
		hands[i].weight = second[i].weight;
	}
	return amount;
}

static void divide(const struct share_queue *queues, int count, int parent, int64_t total, int resource, int64_t *fair)
{
	struct hand hands[REFERENCE_MAX];
	int hand_count = 0;
	int64_t left = total;
	for (int i = 0; i < count; i++) {
		if (queues[i].parent != parent)
			continue;
		int64_t demand = reference_demand(queues, count, i, resource);
		fair[i] = smaller(demand, queues[i].quota[resource] < 0 ? total : queues[i].quota[resource]);
		left -= fair[i];
		hands[hand_count++] = (struct hand){.queue = &queues[i],
		                                    .index = i,
		                                    .want = demand - fair[i],
		                                    .weight = queues[i].weight[resource]};
	}
	for (bool served[REFERENCE_MAX] = {false};;) {
		int highest = -1;
		for (int i = 0; i < hand_count; i++)
			if (!served[i] && (highest < 0 || hands[i].queue->priority > hands[highest].queue->priority))
				highest = i;
		if (highest < 0 || left <= 0)
			break;
		for (int i = 0; i < hand_count; i++) {
			hands[i].in_turn = false;
			if (hands[i].queue->priority == hands[highest].queue->priority) {
				served[i] = true;
				hands[i].in_turn = hands[i].weight > 0 && hands[i].want > 0;
			}
		}
		left = serve(hands, hand_count, left, resource);
	}
	for (int i = 0; i < hand_count; i++)
		fair[hands[i].index] += hands[i].given;
	for (int i = 0; i < hand_count; i++)
		divide(queues, count, hands[i].index, fair[hands[i].index], resource, fair);
}

void reference_shares(const struct share_queue *queues, int count, int64_t total, int resource, int64_t *fair)
{
	divide(queues, count, -1, total, resource, fair);
}
