/* Owns the stock of devices: how often the claims of a shape can be served on a node, remembered. */
#include "engine/cluster/device_stock.h"

#include "engine/cluster/internal.h"

#include <string.h>

#define STEPS 20000 /* of one search */
#define MOST_REMEMBERED 65536
#define MOST_ON_A_NODE 256 /* claims of a sort that take nothing */

/* The answer for all that it depends on. */
struct device_answer {
	UT_hash_handle hh;
	int32_t slots;
	bool unsure;
	int32_t key[];
};

/* What was found since it was set. */
struct device_memory {
	struct device_answer *answers;
	struct arena *scratch;
};

/* What is asked of a node. */
struct question {
	const struct device_stock *stock;
	const struct stock_node *node;
	const int64_t *there; /* by claim: of pods that are there and have no devices yet */
	const int64_t *more;  /* by claim: of one pod more */
	const bool *free;     /* by device */
	struct arena *arena;
};

static void forget_answers(struct device_memory *memory)
{
	struct device_answer *answer, *next;
	HASH_ITER(hh, memory->answers, answer, next) {
		HASH_DEL(memory->answers, answer);
		free(answer);
	}
}

void device_stock_free(struct cluster *cluster)
{
	if (!cluster->device_memory)
		return;
	forget_answers(cluster->device_memory);
	arena_destroy(cluster->device_memory->scratch);
	free(cluster->device_memory);
}

void cluster_mark_claims(struct cluster *cluster, int resource, int number)
{
	cluster->resources.items[resource].claims = number;
}

void cluster_set_device_stock(struct cluster *cluster, const struct device_stock *stock)
{
	if (!stock && !cluster->device_stock)
		return;
	cluster->device_stock = stock;
	if (!cluster->device_memory) {
		cluster->device_memory = base_calloc(1, sizeof(struct device_memory));
		cluster->device_memory->scratch = arena_create_small();
	}
	forget_answers(cluster->device_memory);
	cluster->freed++;
	cluster->node_changes++;
	for (size_t s = 0; s < cluster->shapes.count; s++)
		for (int view = 0; cluster->shapes.items[s].claims && view < VIEW_COUNT; view++)
			if (cluster->shapes.items[s].slots[view])
				cluster->shapes.items[s].slots[view]->seen = UINT64_MAX;
}

/* ---- one search ---- */

/* What the devices in use leave of the counters. */
static int64_t *counters_left(const struct question *question)
{
	const struct stock_node *node = question->node;
	int64_t *left = arena_array(question->arena, int64_t, node->counter_count);
	for (size_t c = 0; c < node->counter_count; c++)
		left[c] = node->counters[c];
	for (size_t d = 0; d < node->device_count; d++)
		for (size_t i = 0; i < node->devices[d].draw_count && !question->free[d]; i++)
			left[node->devices[d].draws[i].counter] -= node->devices[d].draws[i].amount;
	return left;
}

static enum fit_answer ask(const struct question *question, int64_t pods, struct fit_result *result)
{
	const struct device_stock *stock = question->stock;
	size_t count = 0;
	for (size_t c = 0; c < stock->claim_count; c++)
		count += (size_t)(question->there[c] + pods * question->more[c]);
	const struct fit_claim **claims = arena_array(question->arena, const struct fit_claim *, count);
	count = 0;
	for (size_t c = 0; c < stock->claim_count; c++)
		for (int64_t i = 0; i < question->there[c] + pods * question->more[c]; i++)
			claims[count++] = &stock->claims[c].claim;
	struct fit_problem problem = {.devices = question->node->devices,
	                              .device_count = question->node->device_count,
	                              .free = question->free,
	                              .left = counters_left(question),
	                              .counter_count = question->node->counter_count,
	                              .attribute_count = stock->attribute_count,
	                              .claims = claims,
	                              .claim_count = count,
	                              .steps = STEPS};
	return device_fit(&problem, question->arena, result);
}

/* The most pods, up to `most`, whose claims are served beside those that are there. What is not known is none. */
static int32_t count_pods(const struct question *question, int32_t most, bool *unsure)
{
	struct fit_result result;
	enum fit_answer answer = ask(question, most, &result);
	*unsure = answer == FIT_UNKNOWN;
	if (answer == FIT_YES)
		return most;
	for (int32_t pods = 1; pods < most; pods++) {
		answer = ask(question, pods, &result);
		*unsure = answer == FIT_UNKNOWN || (*unsure && answer == FIT_YES);
		if (answer != FIT_YES)
			return pods - 1;
	}
	return most - 1;
}

/* ---- what the cluster says ---- */

static void read_node(const struct cluster *cluster, int node, int view, struct question *question)
{
	const struct device_stock *stock = cluster->device_stock;
	int64_t *there = arena_array(question->arena, int64_t, stock->claim_count);
	bool *is_free = arena_array(question->arena, bool, stock->nodes[node].device_count);
	for (size_t c = 0; c < stock->claim_count; c++)
		there[c] = cluster->resources.items[stock->claims[c].resource].allocatable[node] -
		           cluster_amount_in_view(cluster, stock->claims[c].resource, node, view);
	for (size_t d = 0; d < stock->nodes[node].device_count; d++)
		is_free[d] =
			cluster_amount_in_view(cluster, stock->columns[stock->nodes[node].places[d]], node, view) > 0;
	question->stock = stock;
	question->node = &stock->nodes[node];
	question->there = there;
	question->free = is_free;
}

static void read_shape(const struct cluster *cluster, const struct shape *shape, struct question *question)
{
	int64_t *more = arena_array(question->arena, int64_t, question->stock->claim_count);
	for (int i = 0; i < shape->request_count; i++) {
		int claim = cluster->resources.items[shape->resource[i]].claims;
		if (claim >= 0)
			more[claim] = shape->amount[i];
	}
	question->more = more;
}

static int32_t *write_key(const struct question *question, int32_t most, size_t *length)
{
	const struct device_stock *stock = question->stock;
	size_t devices = question->node->device_count, words = (devices + 31) / 32;
	int32_t *key = arena_array(question->arena, int32_t, 2 + 2 * stock->claim_count + words);
	size_t at = 0;
	key[at++] = question->node->content;
	key[at++] = most;
	for (size_t c = 0; c < stock->claim_count; c++) {
		key[at++] = (int32_t)question->there[c];
		key[at++] = (int32_t)question->more[c];
	}
	for (size_t d = 0; d < devices; d++)
		key[at + d / 32] |= (int32_t)((uint32_t)question->free[d] << d % 32);
	*length = (at + words) * sizeof(*key);
	return key;
}

int32_t device_stock_slots(const struct cluster *cluster, const struct shape *shape, int node, int view, int32_t most,
                           bool *unsure)
{
	struct device_memory *memory = cluster->device_memory;
	struct question question = {0};
	struct device_answer *answer;
	size_t length;
	*unsure = false;
	if (!cluster->device_stock || most == 0)
		return most;
	question.arena = memory->scratch;
	arena_reset(question.arena);
	read_node(cluster, node, view, &question);
	read_shape(cluster, shape, &question);
	int32_t *key = write_key(&question, most, &length);
	HASH_FIND(hh, memory->answers, key, length, answer);
	if (!answer) {
		if (HASH_COUNT(memory->answers) >= MOST_REMEMBERED)
			forget_answers(memory);
		answer = base_calloc(1, sizeof(*answer) + length);
		memcpy(answer->key, key, length);
		answer->slots = count_pods(&question, most, &answer->unsure);
		HASH_ADD_KEYPTR(hh, memory->answers, answer->key, length, answer);
	}
	*unsure = answer->unsure;
	return answer->slots;
}

bool device_stock_holds(const struct cluster *cluster, int node, int view)
{
	struct question question = {.arena = arena_create_small()};
	struct fit_result result;
	bool holds = true;
	if (cluster->device_stock) {
		read_node(cluster, node, view, &question);
		question.more = question.there;
		holds = ask(&question, 0, &result) == FIT_YES;
	}
	arena_destroy(question.arena);
	return holds;
}

int64_t device_stock_capacity(const struct device_stock *stock, const struct stock_node *node, int claim)
{
	struct question question = {.stock = stock, .node = node, .arena = arena_create_small()};
	int64_t *there = arena_array(question.arena, int64_t, stock->claim_count);
	int64_t *more = arena_array(question.arena, int64_t, stock->claim_count);
	bool *is_free = arena_array(question.arena, bool, node->device_count), unsure = false, takes = false;
	for (size_t d = 0; d < node->device_count; d++)
		is_free[d] = true;
	more[claim] = 1;
	question.there = there;
	question.more = more;
	question.free = is_free;
	const struct fit_claim *spec = &stock->claims[claim].claim;
	for (size_t r = 0; r < spec->request_count; r++) /* with all that it asks for beside others, it takes nothing */
		for (size_t c = 0; c < spec->requests[r].choice_count; c++)
			takes |= !spec->requests[r].choices[c].admin;
	int32_t most = takes ? (int32_t)node->device_count : 1;
	int64_t capacity = count_pods(&question, most, &unsure);
	arena_destroy(question.arena);
	return unsure ? most : takes ? capacity : capacity * MOST_ON_A_NODE;
}

const char *device_stock_trouble(const struct cluster *cluster, const struct shape *shape, int node, int view,
                                 struct arena *arena)
{
	struct question question = {.arena = arena};
	struct fit_result result;
	if (!cluster->device_stock || !shape->claims)
		return NULL;
	read_node(cluster, node, view, &question);
	read_shape(cluster, shape, &question);
	const struct device_stock *stock = question.stock;
	enum fit_answer answer = ask(&question, 1, &result);
	if (answer == FIT_UNKNOWN)
		return "where it is not known whether devices suffice";
	if (answer == FIT_YES || result.claim < 0)
		return NULL;
	int number = -1; /* of the sort of the claim that could not be served */
	for (int64_t claims = 0; claims <= result.claim;) {
		number++;
		claims += question.there[number] + question.more[number];
	}
	const struct stock_claim *claim = &stock->claims[number];
	const char *request = claim->requests[result.request];
	switch (result.cause) {
	case FIT_RULE:
		return arena_printf(arena, "whose devices for request %s %s %s", request,
		                    claim->claim.rules[result.which].distinct ? "do not differ in" : "have no common",
		                    stock->attributes[claim->claim.rules[result.which].attribute]);
	case FIT_COUNTER:
		return arena_printf(arena, "with too little of counter %s for request %s",
		                    question.node->counter_names[result.which], request);
	case FIT_IN_USE:
		return arena_printf(arena, "without enough free devices for request %s", request);
	case FIT_SELECTED_NONE:
		break;
	}
	return arena_printf(arena, "without devices that request %s selects", request);
}
