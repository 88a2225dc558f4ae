/* Owns the sorts of claims: claims that ask for the same, in the numbers that a search works on. */
#include "schedule/device_columns_internal.h"

#include "base/strings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SORTS 64 /* a bit each */
#define MOST_RULES 32

/* By a count of one option each, without rules between them. */
bool device_sort_is_counted(const struct device_claim_spec *claim)
{
	bool counted = claim->constraint_count == 0;
	for (size_t r = 0; r < claim->request_count; r++) {
		const struct device_request *request = &claim->requests[r];
		counted &= request->option_count == 1 && !request->options[0].all && !request->options[0].admin;
	}
	return counted;
}

/* Whether the constraint is about the option of the request: it names one of them, or nothing at all. */
static bool concerns(const struct device_constraint *constraint, const struct device_request *request,
                     const struct device_option *option)
{
	bool named = constraint->request_count == 0;
	for (size_t i = 0; i < constraint->request_count; i++)
		named |= strcmp(constraint->requests[i], request->name) == 0 ||
		         strcmp(constraint->requests[i], option->name) == 0;
	return named;
}

static uint32_t rules_of(const struct device_claim_spec *claim, const struct device_request *request,
                         const struct device_option *option)
{
	uint32_t rules = 0;
	for (size_t i = 0; i < claim->constraint_count; i++)
		rules |= (uint32_t)concerns(&claim->constraints[i], request, option) << i;
	return rules;
}

static void write_key(const struct device_columns *columns, const struct device_claim_spec *claim,
                      struct device_ask *const *asks, struct buffer *key)
{
	size_t at = 0;
	for (size_t r = 0; r < claim->request_count; r++) {
		const struct device_request *request = &claim->requests[r];
		buffer_printf(key, "%s:", request->name);
		for (size_t o = 0; o < request->option_count; o++) {
			const struct device_option *option = &request->options[o];
			buffer_printf(key, "%d*%" PRId64 "%s%s&%" PRIx32 ",", asks[at++]->number, option->count,
			              option->all ? "all" : "", option->admin ? "admin" : "",
			              rules_of(claim, request, option));
		}
	}
	for (size_t i = 0; i < claim->constraint_count; i++)
		buffer_printf(key, ";%" PRIu32 "%d", interner_id(columns->attributes, claim->constraints[i].attribute),
		              claim->constraints[i].distinct);
}

/* "2 gpu.nvidia.com of one resource.kubernetes.io/pcieRoot": how people read it. */
static void write_name(const struct device_claim_spec *claim, struct device_ask *const *asks, struct buffer *name)
{
	size_t at = 0;
	for (size_t r = 0; r < claim->request_count; r++)
		for (size_t o = 0; o < claim->requests[r].option_count; o++) {
			const struct device_option *option = &claim->requests[r].options[o];
			buffer_printf(name, "%s%s", o ? " or " : r ? " and " : "", option->admin ? "access to " : "");
			if (option->all)
				buffer_printf(name, "all ");
			else if (option->count > 1)
				buffer_printf(name, "%" PRId64 " ", option->count);
			buffer_printf(name, "%s", asks[at++]->name);
		}
	for (size_t i = 0; i < claim->constraint_count; i++)
		buffer_printf(name, ", %s %s", claim->constraints[i].distinct ? "different" : "one",
		              claim->constraints[i].attribute);
}

static void fill_claim(const struct device_columns *columns, struct device_sort *sort,
                       const struct device_claim_spec *claim, struct device_ask *const *asks)
{
	struct fit_request *requests = arena_array(sort->arena, struct fit_request, claim->request_count);
	struct fit_rule *rules = arena_array(sort->arena, struct fit_rule, claim->constraint_count);
	size_t at = 0;
	sort->requests = arena_array(sort->arena, const char *, claim->request_count);
	for (size_t r = 0; r < claim->request_count; r++) {
		const struct device_request *request = &claim->requests[r];
		struct fit_choice *choices = arena_array(sort->arena, struct fit_choice, request->option_count);
		for (size_t o = 0; o < request->option_count; o++)
			choices[o] = (struct fit_choice){.ask = asks[at++]->number,
			                                 .count = (int)request->options[o].count,
			                                 .all = request->options[o].all,
			                                 .admin = request->options[o].admin,
			                                 .rules = rules_of(claim, request, &request->options[o])};
		requests[r] = (struct fit_request){choices, request->option_count};
		sort->requests[r] = arena_strdup(sort->arena, request->name);
	}
	for (size_t i = 0; i < claim->constraint_count; i++)
		rules[i] = (struct fit_rule){(int)interner_id(columns->attributes, claim->constraints[i].attribute),
		                             claim->constraints[i].distinct};
	sort->claim = (struct fit_claim){requests, claim->request_count, rules, claim->constraint_count};
	sort->counted = device_sort_is_counted(claim);
}

static void name_sort(struct device_columns *columns, struct device_sort *sort, const struct device_claim_spec *claim,
                      struct device_ask *const *asks)
{
	struct buffer name = {0};
	buffer_printf(&name, DEVICE_COLUMN);
	write_name(claim, asks, &name);
	if (cluster_find_resource(columns->cluster, name.text) >=
	    0) /* a column of devices, or of such claims with other names */
		buffer_printf(&name, " (claim %d)", sort->number);
	sort->name = arena_strdup(sort->arena, name.text);
	sort->resource = cluster_need_resource(columns->cluster, name.text);
	cluster_mark_claims(columns->cluster, sort->resource, sort->number);
	buffer_free(&name);
}

struct device_sort *device_sorts_need(struct device_columns *columns, const struct device_claim_spec *claim,
                                      struct device_ask *const *asks)
{
	struct buffer key = {0};
	struct device_sort *sort;
	uint32_t attributes = interner_count(columns->attributes);
	write_key(columns, claim, asks, &key);
	HASH_FIND(hh, columns->sorts, key.text, key.length, sort);
	if (!sort && columns->sorts_by_number.count < MOST_SORTS && claim->constraint_count <= MOST_RULES) {
		sort = base_calloc(1, sizeof(*sort));
		sort->key = base_strdup(key.text);
		sort->number = (int)columns->sorts_by_number.count;
		sort->arena = arena_create_small();
		fill_claim(columns, sort, claim, asks);
		name_sort(columns, sort, claim, asks);
		HASH_ADD_KEYPTR(hh, columns->sorts, sort->key, key.length, sort);
		vec_push(&columns->sorts_by_number, sort);
		columns->parts_stale = true;
		for (int n = 0; n < columns->node_count; n++) {
			device_node_stale(columns, n);
			columns->nodes[n].other |= interner_count(columns->attributes) > attributes;
		}
	}
	buffer_free(&key);
	return sort;
}

bool device_sorts_need_search(const struct device_columns *columns)
{
	bool need = columns->drawing > 0 && device_asks_used(columns);
	for (size_t s = 0; s < columns->sorts_by_number.count; s++)
		need |= columns->sorts_by_number.items[s]->users > 0 && !columns->sorts_by_number.items[s]->counted;
	return need;
}

void device_sorts_free(struct device_columns *columns)
{
	HASH_CLEAR(hh, columns->sorts);
	for (size_t s = 0; s < columns->sorts_by_number.count; s++) {
		struct device_sort *sort = columns->sorts_by_number.items[s];
		arena_destroy(sort->arena);
		free(sort->key);
		free(sort);
	}
	vec_free(&columns->sorts_by_number);
}
