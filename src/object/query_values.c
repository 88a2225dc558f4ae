/* Owns the values of a query: made from documents, opened, compared, calculated with. */
#include "object/query_internal.h"

#include "base/grow.h"

#include <string.h>

bool query_fail(struct query_run_state *run, const char *format, const char *what)
{
	error_set(run->error, ERROR_INVALID, format, what);
	return false;
}

bool query_push(struct query_run_state *run, struct query_results *results, struct query_value value)
{
	if (results->count == QUERY_MAX_RESULTS || ++run->steps > QUERY_MAX_STEPS) {
		error_set(run->error, ERROR_LIMIT, "it gives or visits too many values");
		return false;
	}
	if (results->count == results->capacity)
		results->items = grow_array(run->arena, results->items, results->count, &results->capacity,
		                            sizeof(*results->items));
	results->items[results->count++] = value;
	return true;
}

const char *const query_kind_names[] = {"null", "boolean", "number", "string", "array", "object", "object"};

struct query_value query_of_text(const char *text)
{
	return (struct query_value){.kind = QUERY_TEXT, .text = text};
}

struct query_value query_of_int(int64_t number)
{
	return (struct query_value){.kind = QUERY_INT, .number = number};
}

struct query_value query_of_bool(bool truth)
{
	return (struct query_value){.kind = QUERY_BOOL, .truth = truth};
}

bool query_is_true(const struct query_value *value)
{
	return value->kind == QUERY_BOOL ? value->truth : value->kind != QUERY_NULL;
}

/* Maps stay where they are; a list is opened, one level. */
bool query_of_node(struct query_run_state *run, const struct val *node, struct query_value *out)
{
	*out = (struct query_value){.kind = QUERY_NULL};
	switch (val_kind(node)) {
	case VAL_NULL:
		return true;
	case VAL_BOOL:
		*out = query_of_bool(val_bool(node, false));
		return true;
	case VAL_INT:
	case VAL_REAL:
		out->kind = QUERY_INT;
		return val_int(node, &out->number) == 0 ||
		       query_fail(run, "%s is not a whole number", "a number it reads");
	case VAL_STRING:
		*out = query_of_text(val_str(node, ""));
		return true;
	case VAL_MAP:
		*out = (struct query_value){.kind = QUERY_MAP, .node = node};
		return true;
	case VAL_LIST:
		*out = (struct query_value){.kind = QUERY_LIST, .node = node, .count = val_count(node)};
		return true;
	}
	return true;
}

/* The items of a list; those of a document are only made values when somebody looks. */
bool query_open(struct query_run_state *run, const struct query_value *list, struct query_results *out)
{
	const struct val *item;
	for (size_t i = 0; !list->node && i < list->count; i++)
		if (!query_push(run, out, list->items[i]))
			return false;
	for (struct val_iter it = val_iter(list->node); list->node && val_next(&it, NULL, &item);) {
		struct query_value value;
		if (!query_of_node(run, item, &value) || !query_push(run, out, value))
			return false;
	}
	return true;
}

bool query_each(struct query_run_state *run, const struct query_value *value, struct query_results *out)
{
	const struct val *item;
	struct query_value made;
	switch (value->kind) {
	case QUERY_LIST:
		return query_open(run, value, out);
	case QUERY_MAP:
		for (struct val_iter it = val_iter(value->node); val_next(&it, NULL, &item);)
			if (!query_of_node(run, item, &made) || !query_push(run, out, made))
				return false;
		return true;
	case QUERY_ENTRY:
		return query_push(run, out, query_of_text(value->text)) && query_push(run, out, *value->items);
	default:
		return query_fail(run, "cannot iterate over %s", query_kind_names[value->kind]);
	}
}

bool query_field(struct query_run_state *run, const struct query_value *value, const struct query_value *key,
                 struct query_results *out)
{
	struct query_value found = {.kind = QUERY_NULL};
	bool by_name = key->kind == QUERY_TEXT, by_index = key->kind == QUERY_INT;
	if (value->kind == QUERY_NULL && (by_name || by_index)) {
		/* null has every field, and each is null */
	} else if (value->kind == QUERY_MAP && by_name) {
		if (!query_of_node(run, val_get(value->node, key->text), &found))
			return false;
	} else if (value->kind == QUERY_ENTRY && by_name) {
		if (strcmp(key->text, "key") == 0)
			found = query_of_text(value->text);
		else if (strcmp(key->text, "value") == 0)
			found = *value->items;
	} else if (value->kind == QUERY_LIST && by_index) {
		int64_t count = (int64_t)value->count, at = key->number < 0 ? key->number + count : key->number;
		if (at >= 0 && at < count && !value->node)
			found = value->items[at];
		else if (at >= 0 && at < count && !query_of_node(run, val_item(value->node, (size_t)at), &found))
			return false;
	} else {
		return query_fail(run, by_name ? "%s has no named fields" : "%s cannot be indexed like that",
		                  query_kind_names[value->kind]);
	}
	return query_push(run, out, found);
}

/* The order of jq: null, false, true, numbers, texts, lists, maps. Lists and maps are only told equal or not. */
static int rank(const struct query_value *value)
{
	static const int ranks[] = {0, 1, 3, 4, 5, 6, 6};
	return ranks[value->kind] + (value->kind == QUERY_BOOL && value->truth);
}

bool query_equal(struct query_run_state *run, const struct query_value *a, const struct query_value *b)
{
	if (++run->steps > QUERY_MAX_STEPS || rank(a) != rank(b))
		return false;
	switch (a->kind) {
	case QUERY_INT:
		return a->number == b->number;
	case QUERY_TEXT:
		return strcmp(a->text, b->text) == 0;
	case QUERY_MAP:
		return b->kind == QUERY_MAP && val_equal(a->node, b->node);
	case QUERY_ENTRY:
		return b->kind == QUERY_ENTRY && strcmp(a->text, b->text) == 0 && query_equal(run, a->items, b->items);
	case QUERY_LIST: {
		struct query_results left = {0}, right = {0};
		if (a->count != b->count || !query_open(run, a, &left) || !query_open(run, b, &right))
			return false;
		for (size_t i = 0; i < left.count; i++)
			if (!query_equal(run, &left.items[i], &right.items[i]))
				return false;
		return true;
	}
	default:
		return true;
	}
}

bool query_compare(struct query_run_state *run, enum query_sign sign, const struct query_value *a,
                   const struct query_value *b, struct query_results *out)
{
	if (sign == SIGN_EQUAL || sign == SIGN_NOT_EQUAL)
		return query_push(run, out, query_of_bool(query_equal(run, a, b) == (sign == SIGN_EQUAL)));
	int order = rank(a) < rank(b) ? -1 : rank(a) > rank(b);
	if (order == 0 && a->kind == QUERY_INT)
		order = a->number < b->number ? -1 : a->number > b->number;
	else if (order == 0 && a->kind == QUERY_TEXT)
		order = strcmp(a->text, b->text);
	else if (order == 0 && (a->kind == QUERY_LIST || rank(a) == 6))
		return query_fail(run, "%s values have no order here", query_kind_names[a->kind]);
	bool truth = sign == SIGN_LESS         ? order < 0
	             : sign == SIGN_LESS_EQUAL ? order <= 0
	             : sign == SIGN_MORE       ? order > 0
	                                       : order >= 0;
	return query_push(run, out, query_of_bool(truth));
}

static bool calculate(struct query_run_state *run, enum query_sign sign, int64_t a, int64_t b, int64_t *out)
{
	if ((sign == SIGN_DIVIDE || sign == SIGN_REMAINDER) && b == 0)
		return query_fail(run, "%s by 0", sign == SIGN_DIVIDE ? "division" : "remainder of a division");
	if ((sign == SIGN_DIVIDE || sign == SIGN_REMAINDER) && b == -1)
		return sign == SIGN_REMAINDER
		               ? (*out = 0, true)
		               : !__builtin_sub_overflow(0, a, out) || query_fail(run, "%s", "a number too large");
	if (sign == SIGN_DIVIDE && a % b != 0)
		return query_fail(run, "%s is not a whole number", "the result of a division");
	bool over = false;
	switch (sign) {
	case SIGN_PLUS:
		over = __builtin_add_overflow(a, b, out);
		break;
	case SIGN_MINUS:
		over = __builtin_sub_overflow(a, b, out);
		break;
	case SIGN_TIMES:
		over = __builtin_mul_overflow(a, b, out);
		break;
	case SIGN_DIVIDE:
		*out = a / b;
		break;
	default:
		*out = a % b;
	}
	return !over || query_fail(run, "%s", "a number too large");
}

bool query_arithmetic(struct query_run_state *run, enum query_sign sign, const struct query_value *a,
                      const struct query_value *b, struct query_results *out)
{
	if (sign == SIGN_PLUS && a->kind == QUERY_NULL)
		return query_push(run, out, *b);
	if (sign == SIGN_PLUS && b->kind == QUERY_NULL)
		return query_push(run, out, *a);
	if (sign == SIGN_PLUS && a->kind == QUERY_TEXT && b->kind == QUERY_TEXT) {
		if (strlen(a->text) + strlen(b->text) > QUERY_MAX_TEXT)
			return query_fail(run, "%s", "a text too long");
		return query_push(run, out, query_of_text(arena_printf(run->arena, "%s%s", a->text, b->text)));
	}
	if (sign == SIGN_PLUS && a->kind == QUERY_LIST && b->kind == QUERY_LIST) {
		struct query_results both = {0};
		if (!query_open(run, a, &both) || !query_open(run, b, &both))
			return false;
		return query_push(run, out,
		                  (struct query_value){.kind = QUERY_LIST, .items = both.items, .count = both.count});
	}
	if (a->kind != QUERY_INT || b->kind != QUERY_INT) {
		error_set(run->error, ERROR_INVALID, "cannot calculate with %s and %s", query_kind_names[a->kind],
		          query_kind_names[b->kind]);
		return false;
	}
	struct query_value value = query_of_int(0);
	return calculate(run, sign, a->number, b->number, &value.number) && query_push(run, out, value);
}
