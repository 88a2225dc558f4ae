/* Selectors: label selectors and node selector terms with the operators each of them allows. */
#include "admit/rules.h"

#include <string.h>

static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
static const enum match_op ops[] = {MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT};

enum selector_form { FORM_LABELS, FORM_NODE, FORM_FIELDS };

static bool is_integer(const char *text)
{
	text += *text == '-' || *text == '+';
	return *text && strspn(text, "0123456789") == strlen(text);
}

static void check_values(const struct decode *decode, const struct decode_path *path, const struct match *match,
                         enum selector_form form)
{
	const struct decode_path *values = PATH_KEY(path, "values");
	switch (match->op) {
	case MATCH_IN:
	case MATCH_NOT_IN:
		if (match->value_count == 0)
			decode_error(decode, values, "list at least one value", "In and NotIn need values");
		else if (form == FORM_FIELDS && match->value_count != 1)
			decode_error(decode, values, "list one value", "a field is compared with exactly one value");
		break;
	case MATCH_EXISTS:
	case MATCH_NOT_EXISTS:
		if (match->value_count > 0)
			decode_error(decode, values, "remove values", "Exists and DoesNotExist take no values");
		break;
	case MATCH_GT:
	case MATCH_LT:
		if (match->value_count != 1 || !is_integer(match->values[0]))
			decode_error(decode, values, "list one whole number in quotes",
			             "Gt and Lt need exactly one whole number");
		break;
	}
}

static bool read_match(const struct decode *decode, const struct decode_path *path, const struct val *map,
                       enum selector_form form, struct match *out)
{
	*out = (struct match){.field_name = form == FORM_FIELDS};
	size_t operator_count = form == FORM_LABELS ? 4 : form == FORM_FIELDS ? 2 : 6;
	const char *key = decode_string(decode, path, map, "key");
	const char *text = decode_string(decode, path, map, "operator");
	const struct decode_path *key_path = PATH_KEY(path, "key");
	out->values = decode_strings(decode, path, map, "values", &out->value_count);
	out->key = key;
	if (!key)
		decode_error(decode, key_path, "name the label", "a requirement needs a key");
	else if (form == FORM_FIELDS && strcmp(key, "metadata.name") != 0)
		decode_error(decode, key_path, "use metadata.name, or matchExpressions for labels",
		             "only the field metadata.name can be matched");
	else if (form != FORM_FIELDS && !name_is_label_key(key))
		decode_error(decode, key_path, NULL, "%s is not a valid label key",
		             decode_show(decode->problems->arena, key));
	if (!text) {
		decode_error(decode, PATH_KEY(path, "operator"), "add an operator such as In",
		             "a requirement needs an operator");
		return false;
	}
	int op = decode_enum(decode, PATH_KEY(path, "operator"), text, operators, operator_count);
	if (op < 0 || !key)
		return false;
	out->op = ops[op];
	check_values(decode, path, out, form);
	return true;
}

static void read_matches(const struct decode *decode, const struct decode_path *up, const struct val *list,
                         enum selector_form form, struct selector *out)
{
	const struct val *item;
	const char *unused;
	size_t index = 0;
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(up, index);
		if (decode_is(decode, path, item, VAL_MAP) &&
		    read_match(decode, path, item, form, &out->items[out->count]))
			out->count++;
	}
}

bool rules_label_selector(const struct decode *decode, const struct decode_path *path, const struct val *map,
                          struct selector *out)
{
	*out = (struct selector){0};
	if (!map)
		return false;
	struct labels labels = decode_labels(decode, path, map, "matchLabels");
	const struct val *expressions = decode_list(decode, path, map, "matchExpressions");
	out->items = arena_array(decode->arena, struct match, labels.count + val_count(expressions));
	for (size_t i = 0; i < labels.count; i++) {
		const char **value = arena_new(decode->arena, const char *);
		*value = labels.items[i].value;
		out->items[out->count++] =
			(struct match){.key = labels.items[i].key, .op = MATCH_IN, .values = value, .value_count = 1};
	}
	read_matches(decode, PATH_KEY(path, "matchExpressions"), expressions, FORM_LABELS, out);
	return true;
}

bool rules_node_selector(const struct decode *decode, const struct decode_path *path, const struct val *map,
                         struct selector *out)
{
	const struct val *expressions = decode_list(decode, path, map, "matchExpressions");
	const struct val *fields = decode_list(decode, path, map, "matchFields");
	size_t count = val_count(expressions) + val_count(fields);
	*out = (struct selector){.items = arena_array(decode->arena, struct match, count)};
	read_matches(decode, PATH_KEY(path, "matchExpressions"), expressions, FORM_NODE, out);
	read_matches(decode, PATH_KEY(path, "matchFields"), fields, FORM_FIELDS, out);
	return count > 0;
}

struct node_term *rules_node_terms(const struct decode *decode, const struct decode_path *up, const struct val *map,
                                   size_t *count)
{
	const struct decode_path *list_path = PATH_KEY(up, "nodeSelectorTerms");
	const struct val *list = decode_list(decode, up, map, "nodeSelectorTerms"), *item;
	struct node_term *terms = arena_array(decode->arena, struct node_term, val_count(list));
	const char *unused;
	size_t index = 0;
	*count = 0;
	if (val_count(val_get(map, "nodeSelectorTerms")) == 0)
		decode_error(decode, list_path, "add a term with matchExpressions", "at least one term is needed");
	for (struct val_iter it = val_iter(list); val_next(&it, &unused, &item); index++) {
		const struct decode_path *path = PATH_INDEX(list_path, index);
		if (!decode_is(decode, path, item, VAL_MAP))
			continue;
		if (rules_node_selector(decode, path, item, &terms[*count].selector))
			(*count)++;
		else
			decode_warning(decode, path, "remove the term, or add matchExpressions",
			               "an empty term matches no node");
	}
	return terms;
}

int rules_effect(const struct decode *decode, const struct decode_path *path, const char *text)
{
	static const char *const names[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	static const enum taint_effect effects[] = {TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE};
	int choice = decode_enum(decode, path, text, names, 3);
	return choice < 0 ? -1 : (int)effects[choice];
}
