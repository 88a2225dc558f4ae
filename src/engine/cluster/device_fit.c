/* Owns the search for devices of one node: depth first over claims, requests and devices. */
#include "engine/cluster/device_fit.h"

#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Devices that are alike in all that is looked at. */
struct kind {
	int first; /* of its devices */
	int size;
	bool free;
};

/* What is left when the first claims are served, and was found not to suffice for the others. */
struct refuted {
	UT_hash_handle hh;
	int32_t state[];
};

struct place {
	int claim, request, choice;
};

struct search {
	const struct fit_problem *problem;
	struct fit_result *out;
	struct arena *arena;
	struct kind *kinds;
	int kind_count;
	int *kind_of;               /* by device */
	int *left;                  /* by kind: devices that nobody has */
	int *own;                   /* by claim and kind: devices it has, and those it has access to */
	int64_t *counters;          /* what is left */
	VEC(struct fit_pick) picks; /* their devices are kinds until the end */
	struct refuted *refuted;
	size_t deepest;
	bool exhausted;
};

static const struct fit_choice *choice_at(const struct search *search, int claim, int request, int choice)
{
	return &search->problem->claims[claim]->requests[request].choices[choice];
}

static const struct fit_device *device_of(const struct search *search, int kind)
{
	return &search->problem->devices[search->kinds[kind].first];
}

/* ---- kinds ---- */

static bool are_alike(const struct fit_problem *problem, size_t a, size_t b)
{
	const struct fit_device *x = &problem->devices[a], *y = &problem->devices[b];
	if (x->asks != y->asks || x->barred != y->barred || problem->free[a] != problem->free[b] ||
	    x->draw_count != y->draw_count)
		return false;
	for (size_t i = 0; i < x->draw_count; i++)
		if (x->draws[i].counter != y->draws[i].counter || x->draws[i].amount != y->draws[i].amount)
			return false;
	for (size_t i = 0; i < problem->attribute_count; i++)
		if (x->values[i] != y->values[i])
			return false;
	return true;
}

static void find_kinds(struct search *search)
{
	const struct fit_problem *problem = search->problem;
	search->kinds = arena_array(search->arena, struct kind, problem->device_count);
	search->kind_of = arena_array(search->arena, int, problem->device_count);
	for (size_t d = 0; d < problem->device_count; d++) {
		int kind = 0;
		while (kind < search->kind_count && !are_alike(problem, (size_t)search->kinds[kind].first, d))
			kind++;
		if (kind == search->kind_count)
			search->kinds[search->kind_count++] = (struct kind){.first = (int)d, .free = problem->free[d]};
		search->kinds[kind].size++;
		search->kind_of[d] = kind;
	}
}

/* ---- what was refuted ---- */

static size_t state_size(const struct search *search)
{
	return ((size_t)search->kind_count + 1) * sizeof(int32_t);
}

static void write_state(const struct search *search, int claim, int32_t *state)
{
	state[0] = claim;
	for (int k = 0; k < search->kind_count; k++)
		state[k + 1] = search->left[k];
}

static bool was_refuted(const struct search *search, int claim)
{
	int32_t *state = arena_alloc_raw(search->arena, state_size(search));
	struct refuted *found;
	write_state(search, claim, state);
	HASH_FIND(hh, search->refuted, state, state_size(search), found);
	return found != NULL;
}

static void note_refuted(struct search *search, int claim)
{
	struct refuted *refuted = arena_alloc_raw(search->arena, sizeof(*refuted) + state_size(search));
	memset(refuted, 0, sizeof(*refuted));
	write_state(search, claim, refuted->state);
	HASH_ADD_KEYPTR(hh, search->refuted, refuted->state, state_size(search), refuted);
}

/* ---- one device ---- */

/* The first rule that a device of the kind breaks beside what the claim has; -1 for none. */
static int broken_rule(const struct search *search, const struct place *at, int kind)
{
	const struct fit_claim *claim = search->problem->claims[at->claim];
	uint32_t rules = choice_at(search, at->claim, at->request, at->choice)->rules;
	for (size_t r = 0; r < claim->rule_count; r++) {
		const struct fit_rule *rule = &claim->rules[r];
		if (!(rules >> r & 1))
			continue;
		int32_t value = device_of(search, kind)->values[rule->attribute];
		if (value < 0)
			return (int)r;
		for (size_t p = search->picks.count; p-- > 0 && search->picks.items[p].claim == at->claim;) {
			const struct fit_pick *pick = &search->picks.items[p];
			if (!(choice_at(search, pick->claim, pick->request, pick->choice)->rules >> r & 1))
				continue;
			bool same = device_of(search, pick->device)->values[rule->attribute] == value;
			if (same == rule->distinct)
				return (int)r;
		}
	}
	return -1;
}

static int short_counter(const struct search *search, int kind)
{
	const struct fit_device *device = device_of(search, kind);
	for (size_t i = 0; i < device->draw_count; i++)
		if (search->counters[device->draws[i].counter] < device->draws[i].amount)
			return device->draws[i].counter;
	return -1;
}

/* Why nothing of the kind can be had; the causes stand in the order of what is told first. */
static bool may_take(const struct search *search, const struct place *at, int kind, enum fit_cause *cause, int *which)
{
	const struct fit_choice *choice = choice_at(search, at->claim, at->request, at->choice);
	*which = -1;
	*cause = FIT_SELECTED_NONE;
	if (!(device_of(search, kind)->asks >> choice->ask & 1))
		return false;
	*cause = FIT_IN_USE;
	if (search->own[at->claim * search->kind_count + kind] == search->kinds[kind].size)
		return false;
	if (!choice->admin && (!search->kinds[kind].free || search->left[kind] == 0))
		return false;
	*cause = FIT_RULE;
	*which = broken_rule(search, at, kind);
	if (*which >= 0)
		return false;
	*cause = FIT_COUNTER;
	*which = choice->admin ? -1 : short_counter(search, kind);
	return *which < 0;
}

/* Of all that a request met, the cause that came closest is told, for the request that was reached last. */
static void blame(struct search *search, const struct place *at, enum fit_cause cause, int which)
{
	struct fit_result *out = search->out;
	if (out->claim >= 0 && search->picks.count < search->deepest)
		return;
	bool same = out->claim == at->claim && out->request == at->request && search->picks.count == search->deepest;
	if (same && cause <= out->cause)
		return;
	search->deepest = search->picks.count;
	out->claim = at->claim;
	out->request = at->request;
	out->choice = at->choice;
	out->cause = cause;
	out->which = which;
}

static void give(struct search *search, const struct place *at, int kind, int change)
{
	const struct fit_device *device = device_of(search, kind);
	bool admin = choice_at(search, at->claim, at->request, at->choice)->admin;
	search->own[at->claim * search->kind_count + kind] += change;
	search->left[kind] -= admin ? 0 : change;
	for (size_t i = 0; i < device->draw_count && !admin; i++)
		search->counters[device->draws[i].counter] -= change * device->draws[i].amount;
	if (change > 0)
		vec_push(&search->picks, (struct fit_pick){at->claim, at->request, at->choice, kind});
	else
		search->picks.count--;
}

static bool count_step(struct search *search)
{
	search->exhausted |= ++search->out->steps > search->problem->steps;
	return !search->exhausted;
}

/* ---- claims and requests ---- */

static bool serve(struct search *search, int claim, int request);

/* `count` more devices, of kinds from this one on: which of them comes first is of no matter. */
static bool take_some(struct search *search, const struct place *at, int count, int from)
{
	enum fit_cause cause;
	int which;
	if (count == 0)
		return serve(search, at->claim, at->request + 1);
	for (int kind = from; kind < search->kind_count; kind++) {
		if (!may_take(search, at, kind, &cause, &which)) {
			blame(search, at, cause, which);
			continue;
		}
		if (!count_step(search))
			return false;
		give(search, at, kind, 1);
		if (take_some(search, at, count - 1, kind))
			return true;
		give(search, at, kind, -1);
		if (search->exhausted)
			return false;
	}
	return false;
}

static bool take_all(struct search *search, const struct place *at)
{
	const struct fit_choice *choice = choice_at(search, at->claim, at->request, at->choice);
	size_t before = search->picks.count;
	bool fine = true;
	for (int kind = 0; kind < search->kind_count && fine; kind++) {
		const struct fit_device *device = device_of(search, kind);
		if (device->barred >> choice->ask & 1) {
			blame(search, at, FIT_IN_USE, -1);
			fine = false;
		}
		for (int i = 0; fine && device->asks >> choice->ask & 1 && i < search->kinds[kind].size; i++) {
			enum fit_cause cause;
			int which;
			fine = may_take(search, at, kind, &cause, &which);
			if (fine)
				give(search, at, kind, 1);
			else
				blame(search, at, cause, which);
		}
	}
	if (fine && search->picks.count == before)
		blame(search, at, FIT_SELECTED_NONE, -1);
	if (count_step(search) && fine && search->picks.count > before && serve(search, at->claim, at->request + 1))
		return true;
	while (search->picks.count > before)
		give(search, at, search->picks.items[search->picks.count - 1].device, -1);
	return false;
}

static bool has_few_devices(const struct search *search, int claim)
{
	int count = 0;
	for (size_t p = search->picks.count; p-- > 0 && search->picks.items[p].claim == claim;)
		count++;
	return count <= FIT_MOST_DEVICES;
}

static bool serve(struct search *search, int claim, int request)
{
	if ((size_t)claim == search->problem->claim_count)
		return true;
	const struct fit_claim *spec = search->problem->claims[claim];
	if (request == 0 && was_refuted(search, claim))
		return false;
	if ((size_t)request == spec->request_count)
		return has_few_devices(search, claim) && serve(search, claim + 1, 0);
	for (int c = 0; c < (int)spec->requests[request].choice_count && !search->exhausted; c++) {
		struct place at = {claim, request, c};
		const struct fit_choice *choice = &spec->requests[request].choices[c];
		if (choice->all ? take_all(search, &at) : take_some(search, &at, choice->count, 0))
			return true;
	}
	if (request == 0 && !search->exhausted)
		note_refuted(search, claim);
	return false;
}

/* ---- which devices ---- */

static bool has_device(const struct fit_pick *picks, size_t count, int claim, int device)
{
	for (size_t i = 0; i < count; i++)
		if ((claim < 0 || picks[i].claim == claim) && picks[i].device == device)
			return true;
	return false;
}

/* The first device of its kind for each pick: those that are taken before those that need not be free. */
static void name_devices(struct search *search)
{
	struct fit_result *out = search->out;
	size_t count = search->picks.count;
	struct fit_pick *named = arena_array(search->arena, struct fit_pick, count);
	out->picks = arena_array(search->arena, struct fit_pick, count);
	out->pick_count = count;
	size_t known = 0;
	for (int admin = 0; admin < 2; admin++) {
		for (size_t i = 0; i < count; i++) {
			struct fit_pick pick = search->picks.items[i];
			if (choice_at(search, pick.claim, pick.request, pick.choice)->admin != (bool)admin)
				continue;
			int device = 0, kind = pick.device;
			while (search->kind_of[device] != kind ||
			       has_device(named, known, admin ? pick.claim : -1, device))
				device++;
			pick.device = device;
			out->picks[i] = named[known++] = pick;
		}
	}
}

enum fit_answer device_fit(const struct fit_problem *problem, struct arena *arena, struct fit_result *out)
{
	struct search search = {.problem = problem, .out = out, .arena = arena};
	*out = (struct fit_result){.claim = -1, .request = -1, .choice = -1, .which = -1};
	find_kinds(&search);
	size_t kinds = (size_t)search.kind_count;
	search.left = arena_array(arena, int, kinds);
	search.own = arena_array(arena, int, kinds * problem->claim_count);
	search.counters = arena_array(arena, int64_t, problem->counter_count);
	for (size_t k = 0; k < kinds; k++)
		search.left[k] = search.kinds[k].free ? search.kinds[k].size : 0;
	for (size_t c = 0; c < problem->counter_count; c++)
		search.counters[c] = problem->left[c];
	bool found = serve(&search, 0, 0);
	if (found)
		name_devices(&search);
	HASH_CLEAR(hh, search.refuted);
	vec_free(&search.picks);
	return found ? FIT_YES : search.exhausted ? FIT_UNKNOWN : FIT_NO;
}
