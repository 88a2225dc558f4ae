/* Owns what a query gives: each part of its tree turns one value into any number of them. */
#include "object/query_internal.h"

#include <string.h>

static bool eval_variable(struct query_run_state *run, const char *name, const struct query_binding *bindings,
                          struct query_results *out)
{
	for (; bindings; bindings = bindings->outer)
		if (strcmp(bindings->name, name) == 0)
			return query_push(run, out, bindings->value);
	return query_fail(run, "$%s is not set", name);
}

static bool eval_field(struct query_run_state *run, const struct query *query, const struct query_value *input,
                       const struct query_binding *bindings, struct query_results *out)
{
	struct query_results values = {0}, keys = {0};
	if (!query_eval(run, query->a, input, bindings, &values) || !query_eval(run, query->b, input, bindings, &keys))
		return false;
	for (size_t i = 0; i < values.count; i++)
		for (size_t j = 0; j < keys.count; j++)
			if (!query_field(run, &values.items[i], &keys.items[j], out))
				return false;
	return true;
}

static bool eval_each(struct query_run_state *run, const struct query *query, const struct query_value *input,
                      const struct query_binding *bindings, struct query_results *out)
{
	struct query_results values = {0};
	if (!query_eval(run, query->a, input, bindings, &values))
		return false;
	for (size_t i = 0; i < values.count; i++)
		if (!query_each(run, &values.items[i], out))
			return false;
	return true;
}

/* What came before an error stays; running out of steps is not an error that can be passed over. */
static bool eval_try(struct query_run_state *run, const struct query *query, const struct query_value *input,
                     const struct query_binding *bindings, struct query_results *out)
{
	if (query_eval(run, query, input, bindings, out))
		return true;
	if (run->error->code == ERROR_LIMIT)
		return false;
	*run->error = (struct error){0};
	return true;
}

static bool eval_list(struct query_run_state *run, const struct query *query, const struct query_value *input,
                      const struct query_binding *bindings, struct query_results *out)
{
	struct query_results items = {0};
	if (query->a && !query_eval(run, query->a, input, bindings, &items))
		return false;
	return query_push(run, out,
	                  (struct query_value){.kind = QUERY_LIST, .items = items.items, .count = items.count});
}

static bool eval_pipe(struct query_run_state *run, const struct query *query, const struct query_value *input,
                      const struct query_binding *bindings, struct query_results *out)
{
	struct query_results values = {0};
	if (!query_eval(run, query->a, input, bindings, &values))
		return false;
	for (size_t i = 0; i < values.count; i++) {
		struct query_binding bound = {.name = query->text, .value = values.items[i], .outer = bindings};
		bool as = query->op == OP_AS;
		if (!query_eval(run, query->b, as ? input : &values.items[i], as ? &bound : bindings, out))
			return false;
	}
	return true;
}

/* a // b: what a gives that is neither null nor false, and b when that is nothing. */
static bool eval_else(struct query_run_state *run, const struct query *query, const struct query_value *input,
                      const struct query_binding *bindings, struct query_results *out)
{
	struct query_results values = {0};
	if (!eval_try(run, query->a, input, bindings, &values))
		return false;
	bool any = false;
	for (size_t i = 0; i < values.count; i++)
		if (query_is_true(&values.items[i])) {
			any = true;
			if (!query_push(run, out, values.items[i]))
				return false;
		}
	return any || query_eval(run, query->b, input, bindings, out);
}

static bool eval_logic(struct query_run_state *run, const struct query *query, const struct query_value *input,
                       const struct query_binding *bindings, struct query_results *out)
{
	struct query_results left = {0};
	if (!query_eval(run, query->a, input, bindings, &left))
		return false;
	for (size_t i = 0; i < left.count; i++) {
		struct query_results right = {0};
		bool truth = query_is_true(&left.items[i]);
		if (truth == (query->op == OP_OR)) { /* decided */
			if (!query_push(run, out, query_of_bool(truth)))
				return false;
			continue;
		}
		if (!query_eval(run, query->b, input, bindings, &right))
			return false;
		for (size_t j = 0; j < right.count; j++)
			if (!query_push(run, out, query_of_bool(query_is_true(&right.items[j]))))
				return false;
	}
	return true;
}

/* As in jq, the right side varies slowest. */
static bool eval_pairs(struct query_run_state *run, const struct query *query, const struct query_value *input,
                       const struct query_binding *bindings, struct query_results *out)
{
	struct query_results left = {0}, right = {0};
	if (!query_eval(run, query->a, input, bindings, &left) || !query_eval(run, query->b, input, bindings, &right))
		return false;
	for (size_t j = 0; j < right.count; j++)
		for (size_t i = 0; i < left.count; i++) {
			const struct query_value *a = &left.items[i], *b = &right.items[j];
			if (query->op == OP_COMPARE ? !query_compare(run, query->sign, a, b, out)
			                            : !query_arithmetic(run, query->sign, a, b, out))
				return false;
		}
	return true;
}

static bool eval_negate(struct query_run_state *run, const struct query *query, const struct query_value *input,
                        const struct query_binding *bindings, struct query_results *out)
{
	struct query_results values = {0};
	struct query_value zero = query_of_int(0);
	if (!query_eval(run, query->a, input, bindings, &values))
		return false;
	for (size_t i = 0; i < values.count; i++)
		if (!query_arithmetic(run, SIGN_MINUS, &zero, &values.items[i], out))
			return false;
	return true;
}

static bool eval_if(struct query_run_state *run, const struct query *query, const struct query_value *input,
                    const struct query_binding *bindings, struct query_results *out)
{
	struct query_results said = {0};
	if (!query_eval(run, query->a, input, bindings, &said))
		return false;
	for (size_t i = 0; i < said.count; i++) {
		const struct query *branch = query_is_true(&said.items[i]) ? query->b : query->c;
		if (branch ? !query_eval(run, branch, input, bindings, out) : !query_push(run, out, *input))
			return false;
	}
	return true;
}

bool query_eval(struct query_run_state *run, const struct query *query, const struct query_value *input,
                const struct query_binding *bindings, struct query_results *out)
{
	switch (query->op) {
	case OP_INPUT:
		return query_push(run, out, *input);
	case OP_LITERAL:
		return query_push(run, out, query->value);
	case OP_VARIABLE:
		return eval_variable(run, query->text, bindings, out);
	case OP_FIELD:
		return eval_field(run, query, input, bindings, out);
	case OP_EACH:
		return eval_each(run, query, input, bindings, out);
	case OP_TRY:
		return eval_try(run, query->a, input, bindings, out);
	case OP_LIST:
		return eval_list(run, query, input, bindings, out);
	case OP_PIPE:
	case OP_AS:
		return eval_pipe(run, query, input, bindings, out);
	case OP_COMMA:
		return query_eval(run, query->a, input, bindings, out) &&
		       query_eval(run, query->b, input, bindings, out);
	case OP_ELSE:
		return eval_else(run, query, input, bindings, out);
	case OP_OR:
	case OP_AND:
		return eval_logic(run, query, input, bindings, out);
	case OP_COMPARE:
	case OP_ARITHMETIC:
		return eval_pairs(run, query, input, bindings, out);
	case OP_NEGATE:
		return eval_negate(run, query, input, bindings, out);
	case OP_IF:
		return eval_if(run, query, input, bindings, out);
	case OP_CALL:
		return query_call(run, query, input, bindings, out);
	}
	return query_fail(run, "%s", "a part that is not known");
}

int query_run(const struct query *query, const struct val *input, struct arena *arena, struct query_values *out,
              struct error *error)
{
	struct error unused;
	struct query_run_state run = {.arena = arena, .error = error ? error : &unused};
	struct query_results results = {0};
	struct query_value root;
	*run.error = (struct error){0};
	if (!query_of_node(&run, input, &root) || !query_eval(&run, query, &root, NULL, &results) ||
	    run.steps > QUERY_MAX_STEPS)
		return run.error->code == ERROR_NONE ? error_set(run.error, ERROR_LIMIT, "it visits too many values")
		                                     : -1;
	*out = (struct query_values){.items = results.items, .count = results.count};
	return 0;
}

const char *query_value_text(const struct query_value *value, struct arena *arena)
{
	switch (value->kind) {
	case QUERY_TEXT:
		return value->text;
	case QUERY_INT:
		return arena_printf(arena, "%lld", (long long)value->number);
	case QUERY_BOOL:
		return value->truth ? "true" : "false";
	default:
		return NULL;
	}
}
