/* The search for devices of one node says what trying every assignment says: on random devices with attributes, counters, taints and
 * users, and random claims with alternatives, all devices of a kind, rules between devices and access beside others. What it
 * gives is checked device by device.
 *
 * PLATOON_PROPERTY_SEED is the seed of the first instance, PLATOON_PROPERTY_COUNT their number. */
#include "base/random.h"
#include "engine/cluster/device_fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEFAULT_COUNT = 20000,
	MOST_DEVICES = 7,
	MOST_CLAIMS = 3,
	MOST_REQUESTS = 2,
	MOST_CHOICES = 2,
	MOST_RULES = 2,
	ATTRIBUTES = 2,
	COUNTERS = 2,
	ASKS = 3,
	MOST_PICKS = MOST_CLAIMS * MOST_REQUESTS * MOST_DEVICES,
};

struct instance {
	struct random random;
	struct fit_problem problem;
	struct fit_device devices[MOST_DEVICES];
	int32_t values[MOST_DEVICES][ATTRIBUTES];
	struct fit_draw draws[MOST_DEVICES][COUNTERS];
	bool free[MOST_DEVICES];
	int64_t left[COUNTERS];
	struct fit_claim specs[MOST_CLAIMS];
	const struct fit_claim *claims[MOST_CLAIMS];
	struct fit_request requests[MOST_CLAIMS][MOST_REQUESTS];
	struct fit_choice choices[MOST_CLAIMS][MOST_REQUESTS][MOST_CHOICES];
	struct fit_rule rules[MOST_CLAIMS][MOST_RULES];
	/* while trying */
	struct fit_pick picks[MOST_PICKS];
	int pick_count;
};

static void add_device(struct instance *in)
{
	struct random *random = &in->random;
	size_t d = in->problem.device_count++;
	struct fit_device *device = &in->devices[d];
	bool barred = random_chance(random, 10);
	uint64_t asks = (uint64_t)random_range(random, 0, (1 << ASKS) - 1);
	asks |= (uint64_t)random_range(random, 0, (1 << ASKS) - 1); /* most devices are selected by something */
	*device = (struct fit_device){.asks = barred ? 0 : asks, .barred = barred ? asks : 0};
	for (int a = 0; a < ATTRIBUTES; a++)
		in->values[d][a] = random_range(random, -(random_chance(random, 20)), 2);
	for (int c = 0; c < COUNTERS; c++)
		if (random_chance(random, 40))
			in->draws[d][device->draw_count++] =
				(struct fit_draw){.counter = c, .amount = random_range(random, 1, 3)};
	in->free[d] = random_chance(random, 85);
	device->values = in->values[d];
	device->draws = in->draws[d];
}

static void add_claim(struct instance *in)
{
	struct random *random = &in->random;
	size_t c = in->problem.claim_count++;
	struct fit_claim *claim = &in->specs[c];
	in->claims[c] = claim;
	if (c && random_chance(random, 40)) { /* one more like the last */
		*claim = in->specs[c - 1];
		return;
	}
	*claim = (struct fit_claim){.requests = in->requests[c], .rules = in->rules[c]};
	claim->rule_count = (size_t)random_range(random, 0, MOST_RULES);
	for (size_t r = 0; r < claim->rule_count; r++)
		in->rules[c][r] = (struct fit_rule){random_range(random, 0, ATTRIBUTES - 1), random_chance(random, 50)};
	claim->request_count = (size_t)random_range(random, 1, MOST_REQUESTS);
	for (size_t r = 0; r < claim->request_count; r++) {
		struct fit_request *request = &in->requests[c][r];
		*request = (struct fit_request){.choices = in->choices[c][r]};
		request->choice_count = random_chance(random, 30) ? 2 : 1;
		for (size_t i = 0; i < request->choice_count; i++)
			in->choices[c][r][i] = (struct fit_choice){
				.ask = random_range(random, 0, ASKS - 1),
				.count = random_chance(random, 60) ? 1 : random_range(random, 2, 3),
				.all = random_chance(random, 20),
				.admin = random_chance(random, 15),
				.rules = (uint32_t)random_range(random, 0, (1 << claim->rule_count) - 1),
			};
	}
}

static void generate(struct instance *in)
{
	int devices = random_range(&in->random, 1, MOST_DEVICES), claims = random_range(&in->random, 1, MOST_CLAIMS);
	in->problem = (struct fit_problem){.devices = in->devices,
	                                   .free = in->free,
	                                   .left = in->left,
	                                   .counter_count = COUNTERS,
	                                   .attribute_count = ATTRIBUTES,
	                                   .claims = in->claims,
	                                   .steps = 1000000};
	for (int i = 0; i < devices; i++)
		add_device(in);
	for (int c = 0; c < COUNTERS; c++)
		in->left[c] = random_range(&in->random, 0, 12);
	for (int i = 0; i < claims; i++)
		add_claim(in);
}

static const struct fit_choice *choice_of(const struct instance *in, const struct fit_pick *pick)
{
	return &in->claims[pick->claim]->requests[pick->request].choices[pick->choice];
}

/* ---- whether picks are right, as the rules are written down ---- */

static bool pair_is_right(const struct instance *in, const struct fit_pick *a, const struct fit_pick *b)
{
	const struct fit_choice *x = choice_of(in, a), *y = choice_of(in, b);
	const struct fit_claim *claim = in->claims[a->claim];
	if (a->device == b->device && (a->claim == b->claim || (!x->admin && !y->admin)))
		return false;
	for (size_t r = 0; a->claim == b->claim && r < claim->rule_count; r++) {
		int attribute = claim->rules[r].attribute;
		if ((x->rules & y->rules) >> r & 1 &&
		    (in->values[a->device][attribute] == in->values[b->device][attribute]) == claim->rules[r].distinct)
			return false;
	}
	return true;
}

static bool pick_is_right(const struct instance *in, const struct fit_pick *pick)
{
	const struct fit_choice *choice = choice_of(in, pick);
	if (!(in->devices[pick->device].asks >> choice->ask & 1) || (!choice->admin && !in->free[pick->device]))
		return false;
	for (size_t r = 0; r < in->claims[pick->claim]->rule_count; r++)
		if (choice->rules >> r & 1 && in->values[pick->device][in->claims[pick->claim]->rules[r].attribute] < 0)
			return false;
	return true;
}

static bool counters_hold(const struct instance *in, const struct fit_pick *picks, int count)
{
	int64_t left[COUNTERS];
	bool hold = true;
	memcpy(left, in->left, sizeof(left));
	for (int i = 0; i < count; i++) {
		const struct fit_device *device = &in->devices[picks[i].device];
		for (size_t k = 0; k < device->draw_count && !choice_of(in, &picks[i])->admin; k++)
			left[device->draws[k].counter] -= device->draws[k].amount;
	}
	for (int c = 0; c < COUNTERS; c++)
		hold &= left[c] >= 0 || left[c] == in->left[c];
	return hold;
}

static bool picks_are_right(const struct instance *in, const struct fit_pick *picks, int count)
{
	for (int i = 0; i < count; i++) {
		if (!pick_is_right(in, &picks[i]))
			return false;
		for (int k = 0; k < i; k++)
			if (!pair_is_right(in, &picks[i], &picks[k]))
				return false;
	}
	return counters_hold(in, picks, count);
}

/* Whether every request has what one of its choices says. */
static bool is_complete(const struct instance *in, const struct fit_pick *picks, int count)
{
	for (size_t c = 0; c < in->problem.claim_count; c++)
		for (size_t r = 0; r < in->claims[c]->request_count; r++) {
			int has = 0, choice = -1, all = 0, barred = 0;
			for (int i = 0; i < count; i++) {
				if (picks[i].claim != (int)c || picks[i].request != (int)r)
					continue;
				if (choice >= 0 && choice != picks[i].choice)
					return false;
				choice = picks[i].choice;
				has++;
			}
			if (choice < 0)
				return false;
			const struct fit_choice *chosen = &in->claims[c]->requests[r].choices[choice];
			for (size_t d = 0; d < in->problem.device_count; d++) {
				all += (in->devices[d].asks >> chosen->ask & 1) != 0;
				barred += (in->devices[d].barred >> chosen->ask & 1) != 0;
			}
			if (chosen->all ? (has != all || barred) : has != chosen->count)
				return false;
		}
	return true;
}

/* ---- every assignment ---- */

static bool try_request(struct instance *in, int claim, int request);

static bool try_devices(struct instance *in, int claim, int request, int choice, int want, int from)
{
	if (want == 0)
		return try_request(in, claim, request + 1);
	for (int d = from; d < (int)in->problem.device_count; d++) {
		in->picks[in->pick_count++] = (struct fit_pick){claim, request, choice, d};
		if (picks_are_right(in, in->picks, in->pick_count) &&
		    try_devices(in, claim, request, choice, want - 1, d + 1))
			return true;
		in->pick_count--;
	}
	return false;
}

static bool try_request(struct instance *in, int claim, int request)
{
	if (claim == (int)in->problem.claim_count)
		return is_complete(in, in->picks, in->pick_count);
	if (request == (int)in->claims[claim]->request_count)
		return try_request(in, claim + 1, 0);
	for (int c = 0; c < (int)in->claims[claim]->requests[request].choice_count; c++) {
		const struct fit_choice *choice = &in->claims[claim]->requests[request].choices[c];
		int want = choice->count;
		for (size_t d = 0; choice->all && d < in->problem.device_count; d++)
			want = (d ? want : 0) + (int)(in->devices[d].asks >> choice->ask & 1);
		if (want > 0 && try_devices(in, claim, request, c, want, 0))
			return true;
	}
	return false;
}

static bool run(uint64_t seed, int *found)
{
	struct instance in = {.random = {seed}};
	struct arena *arena = arena_create();
	struct fit_result result;
	generate(&in);
	enum fit_answer answer = device_fit(&in.problem, arena, &result);
	bool expected = try_request(&in, 0, 0), right = (answer == FIT_YES) == expected && answer != FIT_UNKNOWN;
	if (right && expected)
		right = picks_are_right(&in, result.picks, (int)result.pick_count) &&
		        is_complete(&in, result.picks, (int)result.pick_count);
	if (right && !expected)
		right = result.claim >= 0;
	if (!right)
		printf("seed %" PRIu64 ": answer %d, expected %d\n", seed, (int)answer, expected);
	*found += expected;
	arena_destroy(arena);
	return right;
}

static uint64_t setting(const char *name, uint64_t usual)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 10) : usual;
}

int main(void)
{
	uint64_t first = setting("PLATOON_PROPERTY_SEED", 1), count = setting("PLATOON_PROPERTY_COUNT", DEFAULT_COUNT);
	int failed = 0, found = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		failed += !run(seed, &found);
	printf("%d of %d have devices\n", found, (int)count);
	printf("%d passed, %d failed\n", (int)count - failed, failed);
	return failed > 0;
}
