/* Owns the functions of the query language. */
#include "object/query_internal.h"

#include <ctype.h>
#include <string.h>

typedef bool query_plain(struct query_run_state *run, const struct query_value *input, struct query_results *out);

static bool f_not(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	return query_push(run, out, query_of_bool(!query_is_true(input)));
}

static bool f_empty(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	(void)run, (void)input, (void)out;
	return true;
}

static bool f_type(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	return query_push(run, out, query_of_text(query_kind_names[input->kind]));
}

static bool f_length(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	switch (input->kind) {
	case QUERY_NULL:
		return query_push(run, out, query_of_int(0));
	case QUERY_TEXT: {
		int64_t letters = 0;
		for (const char *at = input->text; *at; at++)
			letters += ((unsigned char)*at & 0xc0) != 0x80;
		return query_push(run, out, query_of_int(letters));
	}
	case QUERY_LIST:
		return query_push(run, out, query_of_int((int64_t)input->count));
	case QUERY_MAP:
		return query_push(run, out, query_of_int((int64_t)val_count(input->node)));
	case QUERY_ENTRY:
		return query_push(run, out, query_of_int(2));
	default:
		return query_fail(run, "%s has no length", query_kind_names[input->kind]);
	}
}

static bool list_of(struct query_run_state *run, const struct query_results *items, struct query_results *out)
{
	return query_push(run, out,
	                  (struct query_value){.kind = QUERY_LIST, .items = items->items, .count = items->count});
}

/* jq sorts keys; then values come in the order of the document, so the keys here do too (see `to_entries`). */
static bool f_keys_unsorted(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	const char *key;
	const struct val *item;
	struct query_results keys = {0};
	if (input->kind != QUERY_MAP)
		return query_fail(run, "%s has no keys", query_kind_names[input->kind]);
	for (struct val_iter it = val_iter(input->node); val_next(&it, &key, &item);)
		if (!query_push(run, &keys, query_of_text(key)))
			return false;
	return list_of(run, &keys, out);
}

static bool f_to_entries(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	const char *key;
	const struct val *item;
	struct query_results entries = {0};
	if (input->kind != QUERY_MAP)
		return query_fail(run, "%s has no entries", query_kind_names[input->kind]);
	for (struct val_iter it = val_iter(input->node); val_next(&it, &key, &item);) {
		struct query_value *value = arena_new(run->arena, struct query_value);
		if (!query_of_node(run, item, value) ||
		    !query_push(run, &entries,
		                (struct query_value){.kind = QUERY_ENTRY, .text = key, .items = value, .count = 1}))
			return false;
	}
	return list_of(run, &entries, out);
}

static bool f_tostring(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	const char *text = input->kind == QUERY_NULL ? "null" : query_value_text(input, run->arena);
	return text ? query_push(run, out, query_of_text(text))
	            : query_fail(run, "%s cannot become a text here", query_kind_names[input->kind]);
}

static bool f_tonumber(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	if (input->kind == QUERY_INT)
		return query_push(run, out, *input);
	if (input->kind != QUERY_TEXT)
		return query_fail(run, "%s cannot become a number", query_kind_names[input->kind]);
	const char *at = input->text + (*input->text == '-');
	int64_t number = 0;
	for (; isdigit((unsigned char)*at); at++)
		if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *at - '0', &number))
			return query_fail(run, "%s", "a number too large");
	if (*at || at == input->text || at[-1] == '-')
		return query_fail(run, "\"%s\" is not a whole number", input->text);
	return query_push(run, out, query_of_int(*input->text == '-' ? -number : number));
}

static bool change_case(struct query_run_state *run, const struct query_value *input, int (*change)(int),
                        struct query_results *out)
{
	if (input->kind != QUERY_TEXT)
		return query_fail(run, "%s has no letters", query_kind_names[input->kind]);
	char *text = arena_strdup(run->arena, input->text);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < 0x80)
			*at = (char)change((unsigned char)*at);
	return query_push(run, out, query_of_text(text));
}

static bool f_downcase(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	return change_case(run, input, tolower, out);
}

static bool f_upcase(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	return change_case(run, input, toupper, out);
}

static bool f_add(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	struct query_results items = {0}, sum = {0};
	struct query_value total = {.kind = QUERY_NULL};
	if (!query_each(run, input, &items))
		return false;
	for (size_t i = 0; i < items.count; i++, sum = (struct query_results){0}) {
		if (!query_arithmetic(run, SIGN_PLUS, &total, &items.items[i], &sum))
			return false;
		total = sum.items[0];
	}
	return query_push(run, out, total);
}

static bool f_first(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	struct query_value zero = query_of_int(0);
	return query_field(run, input, &zero, out);
}

static bool f_last(struct query_run_state *run, const struct query_value *input, struct query_results *out)
{
	struct query_value end = query_of_int(-1);
	return query_field(run, input, &end, out);
}

/* any and all over the items themselves, or over what the argument says of each. */
static bool quantify(struct query_run_state *run, const struct query *query, const struct query_value *input,
                     const struct query_binding *bindings, bool all, struct query_results *out)
{
	struct query_results items = {0};
	if (!query_each(run, input, &items))
		return false;
	bool truth = all;
	for (size_t i = 0; i < items.count; i++) {
		struct query_results said = {0};
		if (query->a ? !query_eval(run, query->a, &items.items[i], bindings, &said)
		             : !query_push(run, &said, items.items[i]))
			return false;
		for (size_t j = 0; j < said.count; j++)
			truth = all ? truth && query_is_true(&said.items[j]) : truth || query_is_true(&said.items[j]);
	}
	return query_push(run, out, query_of_bool(truth));
}

static bool select_or_map(struct query_run_state *run, const struct query *query, const struct query_value *input,
                          const struct query_binding *bindings, bool map, struct query_results *out)
{
	struct query_results items = {0}, made = {0};
	if (!map) {
		if (!query_eval(run, query->a, input, bindings, &made))
			return false;
		for (size_t i = 0; i < made.count; i++)
			if (query_is_true(&made.items[i]) && !query_push(run, out, *input))
				return false;
		return true;
	}
	if (!query_each(run, input, &items))
		return false;
	for (size_t i = 0; i < items.count; i++)
		if (!query_eval(run, query->a, &items.items[i], bindings, &made))
			return false;
	return list_of(run, &made, out);
}

/* What an argument says about the input, for functions whose argument is a value. */
typedef bool query_about(struct query_run_state *run, const struct query_value *input,
                         const struct query_value *argument, struct query_results *out);

static bool f_has(struct query_run_state *run, const struct query_value *input, const struct query_value *key,
                  struct query_results *out)
{
	if (input->kind == QUERY_MAP && key->kind == QUERY_TEXT)
		return query_push(run, out, query_of_bool(val_get(input->node, key->text) != NULL));
	if (input->kind == QUERY_LIST && key->kind == QUERY_INT)
		return query_push(run, out, query_of_bool(key->number >= 0 && key->number < (int64_t)input->count));
	return query_fail(run, "%s cannot be asked for that key", query_kind_names[input->kind]);
}

static bool f_index(struct query_run_state *run, const struct query_value *input, const struct query_value *wanted,
                    struct query_results *out)
{
	struct query_results items = {0};
	if (input->kind == QUERY_NULL)
		return query_push(run, out, *input);
	if (input->kind == QUERY_TEXT && wanted->kind == QUERY_TEXT) {
		const char *at = *wanted->text ? strstr(input->text, wanted->text) : NULL;
		return query_push(run, out,
		                  at ? query_of_int(at - input->text) : (struct query_value){.kind = QUERY_NULL});
	}
	if (input->kind != QUERY_LIST || wanted->kind == QUERY_LIST)
		return query_fail(run, "%s cannot be searched like that", query_kind_names[input->kind]);
	if (!query_open(run, input, &items))
		return false;
	for (size_t i = 0; i < items.count; i++)
		if (query_equal(run, &items.items[i], wanted))
			return query_push(run, out, query_of_int((int64_t)i));
	return query_push(run, out, (struct query_value){.kind = QUERY_NULL});
}

static bool with_part(struct query_run_state *run, const struct query_value *input, const struct query_value *part,
                      bool start, struct query_results *out)
{
	if (input->kind != QUERY_TEXT || part->kind != QUERY_TEXT)
		return query_fail(run, "%s has no such beginning or end", query_kind_names[input->kind]);
	return query_push(run, out,
	                  query_of_bool(start ? text_starts_with(input->text, part->text)
	                                      : text_ends_with(input->text, part->text)));
}

static bool f_startswith(struct query_run_state *run, const struct query_value *input, const struct query_value *part,
                         struct query_results *out)
{
	return with_part(run, input, part, true, out);
}

static bool f_endswith(struct query_run_state *run, const struct query_value *input, const struct query_value *part,
                       struct query_results *out)
{
	return with_part(run, input, part, false, out);
}

enum special { SPECIAL_NONE, SPECIAL_SELECT, SPECIAL_MAP, SPECIAL_ANY, SPECIAL_ALL };

static const struct {
	const char *name;
	size_t arguments;
	query_plain *plain;
	query_about *about;
	enum special special;
} functions[] = {
	{"add", 0, f_add, NULL, SPECIAL_NONE},
	{"all", 0, NULL, NULL, SPECIAL_ALL},
	{"all", 1, NULL, NULL, SPECIAL_ALL},
	{"any", 0, NULL, NULL, SPECIAL_ANY},
	{"any", 1, NULL, NULL, SPECIAL_ANY},
	{"ascii_downcase", 0, f_downcase, NULL, SPECIAL_NONE},
	{"ascii_upcase", 0, f_upcase, NULL, SPECIAL_NONE},
	{"empty", 0, f_empty, NULL, SPECIAL_NONE},
	{"endswith", 1, NULL, f_endswith, SPECIAL_NONE},
	{"first", 0, f_first, NULL, SPECIAL_NONE},
	{"has", 1, NULL, f_has, SPECIAL_NONE},
	{"index", 1, NULL, f_index, SPECIAL_NONE},
	{"keys_unsorted", 0, f_keys_unsorted, NULL, SPECIAL_NONE},
	{"last", 0, f_last, NULL, SPECIAL_NONE},
	{"length", 0, f_length, NULL, SPECIAL_NONE},
	{"map", 1, NULL, NULL, SPECIAL_MAP},
	{"not", 0, f_not, NULL, SPECIAL_NONE},
	{"select", 1, NULL, NULL, SPECIAL_SELECT},
	{"startswith", 1, NULL, f_startswith, SPECIAL_NONE},
	{"to_entries", 0, f_to_entries, NULL, SPECIAL_NONE},
	{"tonumber", 0, f_tonumber, NULL, SPECIAL_NONE},
	{"tostring", 0, f_tostring, NULL, SPECIAL_NONE},
	{"type", 0, f_type, NULL, SPECIAL_NONE},
};

size_t query_function(const char *name, size_t arguments)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (functions[i].arguments == arguments && strcmp(functions[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

bool query_call(struct query_run_state *run, const struct query *query, const struct query_value *input,
                const struct query_binding *bindings, struct query_results *out)
{
	switch (functions[query->function].special) {
	case SPECIAL_SELECT:
	case SPECIAL_MAP:
		return select_or_map(run, query, input, bindings, functions[query->function].special == SPECIAL_MAP,
		                     out);
	case SPECIAL_ANY:
	case SPECIAL_ALL:
		return quantify(run, query, input, bindings, functions[query->function].special == SPECIAL_ALL, out);
	case SPECIAL_NONE:
		break;
	}
	if (functions[query->function].plain)
		return functions[query->function].plain(run, input, out);
	struct query_results arguments = {0};
	if (!query_eval(run, query->a, input, bindings, &arguments))
		return false;
	for (size_t i = 0; i < arguments.count; i++)
		if (!functions[query->function].about(run, input, &arguments.items[i], out))
			return false;
	return true;
}
