/* Evaluates the tree of an expression for one device. */
#include "cel/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_STEPS 1000000

static struct value evaluate(struct evaluation *evaluation, const struct node *node);

struct value cel_failed(struct evaluation *evaluation, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	error_set(evaluation->error, ERROR_INVALID, "%s at character %u", text, evaluation->node->offset + 1);
	return (struct value){.kind = VALUE_FAILED};
}

struct value cel_beyond(struct evaluation *evaluation, const char *what)
{
	struct value value = cel_failed(evaluation, "%s", what);
	evaluation->error->code = ERROR_LIMIT;
	return value;
}

static struct value failed_at(struct evaluation *evaluation, const struct node *node, const char *what,
                              enum value_kind kind)
{
	evaluation->node = node;
	return cel_failed(evaluation, "%s of a %s", what, cel_value_kind_name(kind));
}

/* ---- members ---- */

static struct value device_field(const struct cel_device *device, struct cel_text name)
{
	if (name.text[0] == 'd')
		return (struct value){.kind = VALUE_STRING, .text = device->driver};
	if (name.length == strlen("allowMultipleAllocations"))
		return cel_value_of_bool(device->shared);
	return (struct value){.kind = VALUE_MAP, .map = {.capacity = name.text[0] == 'c'}};
}

/* The member of a map or of the device; `found` says whether there is one. */
static struct value member(struct evaluation *evaluation, const struct node *node, const struct value *target,
                           bool *found)
{
	struct value value = {.kind = VALUE_FAILED};
	*found = true;
	if (target->kind == VALUE_DEVICE)
		return device_field(evaluation->device, node->name);
	if (target->kind == VALUE_MAP)
		*found = cel_map_find(evaluation->device, &target->map, node->name, &value);
	else
		return failed_at(evaluation, node, "a field", target->kind);
	return value;
}

static struct value no_such_key(struct evaluation *evaluation, const struct node *node, struct cel_text key)
{
	evaluation->node = node;
	return cel_failed(evaluation, "there is no key %.*s", (int)(key.length > 64 ? 64 : key.length), key.text);
}

static struct value evaluate_select(struct evaluation *evaluation, const struct node *node)
{
	struct value target = evaluate(evaluation, node->children[0]);
	bool found;
	if (target.kind == VALUE_FAILED)
		return target;
	struct value value = member(evaluation, node, &target, &found);
	if (node->kind == NODE_HAS)
		return !found || value.kind != VALUE_FAILED ? cel_value_of_bool(found) : value;
	return found ? value : no_such_key(evaluation, node, node->name);
}

static struct value optional_of(struct evaluation *evaluation, const struct value *value)
{
	struct value *copy = NULL;
	if (value) {
		copy = arena_new(evaluation->arena, struct value);
		*copy = *value;
	}
	return (struct value){.kind = VALUE_OPTIONAL, .some = copy};
}

static struct value evaluate_select_optional(struct evaluation *evaluation, const struct node *node)
{
	struct value target = evaluate(evaluation, node->children[0]);
	if (target.kind == VALUE_FAILED || (target.kind == VALUE_OPTIONAL && !target.some))
		return target;
	bool found;
	struct value value = member(evaluation, node, target.kind == VALUE_OPTIONAL ? target.some : &target, &found);
	if (found && value.kind == VALUE_FAILED)
		return value;
	return optional_of(evaluation, found ? &value : NULL);
}

static struct value evaluate_or_value(struct evaluation *evaluation, const struct node *node)
{
	struct value optional = evaluate(evaluation, node->children[0]);
	if (optional.kind == VALUE_FAILED)
		return optional;
	return optional.some ? *optional.some : evaluate(evaluation, node->children[1]);
}

static struct value evaluate_index(struct evaluation *evaluation, const struct node *node)
{
	struct value target = evaluate(evaluation, node->children[0]);
	if (target.kind == VALUE_FAILED)
		return target;
	struct value key = evaluate(evaluation, node->children[1]), value;
	if (key.kind == VALUE_FAILED)
		return key;
	if (target.kind == VALUE_MAP && key.kind == VALUE_STRING)
		return cel_map_find(evaluation->device, &target.map, key.text, &value)
		               ? value
		               : no_such_key(evaluation, node, key.text);
	if (target.kind == VALUE_LIST && key.kind == VALUE_INT) {
		evaluation->node = node;
		if (key.number < 0 || (uint64_t)key.number >= target.list.count)
			return cel_failed(evaluation, "the list has no item %lld", (long long)key.number);
		return target.list.items[key.number];
	}
	return failed_at(evaluation, node, "an index", target.kind);
}

static struct value evaluate_list(struct evaluation *evaluation, const struct node *node)
{
	struct value *items = arena_array(evaluation->arena, struct value, node->count);
	for (size_t i = 0; i < node->count; i++) {
		items[i] = evaluate(evaluation, node->children[i]);
		if (items[i].kind == VALUE_FAILED)
			return items[i];
	}
	return (struct value){.kind = VALUE_LIST, .list = {items, node->count}};
}

/* ---- logic ---- */

/* A value where a truth is needed: anything else has failed. */
static struct value truth(struct evaluation *evaluation, const struct node *node)
{
	struct value value = evaluate(evaluation, node);
	if (value.kind == VALUE_BOOL || value.kind == VALUE_FAILED)
		return value;
	return failed_at(evaluation, node, "the truth", value.kind);
}

/* && and ||: a side that decides does so although the other failed. */
static struct value evaluate_logic(struct evaluation *evaluation, const struct node *node)
{
	bool decides = node->kind == NODE_OR;
	struct value left = truth(evaluation, node->children[0]);
	if (left.kind == VALUE_BOOL && left.truth == decides)
		return left;
	struct error kept = {0};
	if (left.kind == VALUE_FAILED)
		kept = *evaluation->error;
	struct value right = truth(evaluation, node->children[1]);
	if (left.kind == VALUE_FAILED && !(right.kind == VALUE_BOOL && right.truth == decides)) {
		*evaluation->error = kept;
		return left;
	}
	return right;
}

static struct value evaluate_not(struct evaluation *evaluation, const struct node *node)
{
	struct value value = truth(evaluation, node->children[0]);
	return value.kind == VALUE_BOOL ? cel_value_of_bool(!value.truth) : value;
}

static struct value evaluate_negate(struct evaluation *evaluation, const struct node *node)
{
	struct value value = evaluate(evaluation, node->children[0]);
	if (value.kind == VALUE_FAILED)
		return value;
	if (value.kind != VALUE_INT)
		return failed_at(evaluation, node, "the negative", value.kind);
	evaluation->node = node;
	return value.number == INT64_MIN ? cel_failed(evaluation, "the negative is too large")
	                                 : cel_value_of_int(-value.number);
}

static struct value evaluate_condition(struct evaluation *evaluation, const struct node *node)
{
	struct value value = truth(evaluation, node->children[0]);
	return value.kind == VALUE_BOOL ? evaluate(evaluation, node->children[value.truth ? 1 : 2]) : value;
}

/* ---- comparisons ---- */

static int compare_texts(struct cel_text a, struct cel_text b)
{
	int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
	return order ? order : (a.length > b.length) - (a.length < b.length);
}

static bool holds(enum node_kind kind, int order)
{
	switch (kind) {
	case NODE_LESS:
		return order < 0;
	case NODE_LESS_EQUAL:
		return order <= 0;
	case NODE_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

static struct value compare(struct evaluation *evaluation, const struct node *node, const struct value *a,
                            const struct value *b)
{
	if (a->kind != b->kind || (a->kind != VALUE_INT && a->kind != VALUE_STRING && a->kind != VALUE_BOOL))
		return cel_failed(evaluation, "the order of a %s and a %s", cel_value_kind_name(a->kind),
		                  cel_value_kind_name(b->kind));
	int order = a->kind == VALUE_STRING ? compare_texts(a->text, b->text)
	            : a->kind == VALUE_INT  ? (a->number > b->number) - (a->number < b->number)
	                                    : a->truth - b->truth;
	return cel_value_of_bool(holds(node->kind, order));
}

static bool is_list_of_literals(const struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		if (node->children[i]->kind != NODE_LITERAL)
			return false;
	return node->kind == NODE_LIST;
}

static struct value search(struct evaluation *evaluation, const struct value *sought, const struct value *range)
{
	/* The API server looks literals up in a table that versions cannot be keys of. */
	evaluation->stopped |= sought->kind == VALUE_VERSION && is_list_of_literals(evaluation->node->children[1]);
	if (evaluation->stopped)
		return cel_failed(evaluation, "a search for a version among literals");
	if (range->kind == VALUE_MAP) /* keys are strings, so no other value is one */
		return cel_value_of_bool(sought->kind == VALUE_STRING &&
		                         cel_map_has_key(evaluation->device, &range->map, sought->text));
	if (range->kind != VALUE_LIST)
		return cel_failed(evaluation, "a search in a %s", cel_value_kind_name(range->kind));
	struct error kept = *evaluation->error;
	bool found = false;
	for (size_t i = 0; i < range->list.count && !found; i++) {
		struct value equal = cel_value_equal(evaluation, sought, &range->list.items[i]);
		found = equal.kind == VALUE_BOOL && equal.truth;
	}
	*evaluation->error = kept; /* what cannot be compared is not equal here */
	return cel_value_of_bool(found);
}

static struct value evaluate_comparison(struct evaluation *evaluation, const struct node *node)
{
	struct value left = evaluate(evaluation, node->children[0]);
	if (left.kind == VALUE_FAILED)
		return left;
	struct value right = evaluate(evaluation, node->children[1]);
	if (right.kind == VALUE_FAILED)
		return right;
	evaluation->node = node;
	if (node->kind == NODE_IN)
		return search(evaluation, &left, &right);
	if (node->kind != NODE_EQUAL && node->kind != NODE_NOT_EQUAL)
		return compare(evaluation, node, &left, &right);
	struct value equal = cel_value_equal(evaluation, &left, &right);
	if (node->kind == NODE_EQUAL)
		return equal;
	return cel_value_of_bool(equal.kind != VALUE_BOOL || !equal.truth); /* what cannot be compared differs */
}

/* ---- calls ---- */

static bool takes(const struct function *function, const struct value *arguments, size_t count)
{
	static const enum value_kind kinds[] = {
		[TYPE_BOOL] = VALUE_BOOL,       [TYPE_INT] = VALUE_INT,           [TYPE_STRING] = VALUE_STRING,
		[TYPE_VERSION] = VALUE_VERSION, [TYPE_QUANTITY] = VALUE_QUANTITY, [TYPE_LIST] = VALUE_LIST,
		[TYPE_MAP] = VALUE_MAP,
	};
	if (function->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (arguments[i].kind != kinds[function->arguments[i]])
			return false;
	return true;
}

static struct value evaluate_call(struct evaluation *evaluation, const struct node *node)
{
	struct value arguments[MAX_ARGUMENTS] = {0};
	for (size_t i = 0; i < node->count; i++) {
		arguments[i] = evaluate(evaluation, node->children[i]);
		if (arguments[i].kind == VALUE_FAILED)
			return arguments[i];
	}
	evaluation->node = node;
	for (const struct function *function = node->function; function; function = cel_function_next(function))
		if (takes(function, arguments, node->count))
			return function->run(evaluation, arguments);
	return cel_failed(evaluation, "%.*s of a %s", (int)node->name.length, node->name.text,
	                  cel_value_kind_name(arguments[0].kind));
}

/* ---- what binds a name ---- */

/* What is bound is evaluated when it is first read: one that is not read cannot fail. */
static struct value evaluate_bind(struct evaluation *evaluation, const struct node *node)
{
	evaluation->unread[node->variable] = node->children[0];
	return evaluate(evaluation, node->children[1]);
}

static struct value evaluate_variable(struct evaluation *evaluation, const struct node *node)
{
	const struct node *unread = evaluation->unread[node->variable];
	if (!unread)
		return evaluation->variables[node->variable];
	struct value value = evaluate(evaluation, unread);
	if (value.kind != VALUE_FAILED) { /* a failure tells its reason each time */
		evaluation->unread[node->variable] = NULL;
		evaluation->variables[node->variable] = value;
	}
	return value;
}

/* exists and all: an element that decides does so although others failed. exists_one: none may fail. */
static struct value evaluate_quantifier(struct evaluation *evaluation, const struct node *node)
{
	struct value range = evaluate(evaluation, node->children[0]);
	if (range.kind == VALUE_FAILED)
		return range;
	const struct value *items = range.list.items;
	size_t count = range.kind == VALUE_MAP ? cel_map_keys(evaluation->device, &range.map, evaluation->arena, &items)
	                                       : range.list.count;
	bool decides = node->kind == NODE_EXISTS, fails = false;
	size_t matching = 0;
	struct error kept = {0};
	for (size_t i = 0; i < count; i++) {
		evaluation->unread[node->variable] = NULL;
		evaluation->variables[node->variable] = items[i];
		struct value value = truth(evaluation, node->children[1]);
		if (value.kind == VALUE_FAILED && node->kind == NODE_EXISTS_ONE)
			return value;
		if (value.kind == VALUE_FAILED && !fails)
			kept = *evaluation->error;
		fails |= value.kind == VALUE_FAILED;
		if (value.kind == VALUE_BOOL && node->kind != NODE_EXISTS_ONE && value.truth == decides)
			return value;
		matching += value.kind == VALUE_BOOL && value.truth;
	}
	if (fails) {
		*evaluation->error = kept;
		return (struct value){.kind = VALUE_FAILED};
	}
	return cel_value_of_bool(node->kind == NODE_EXISTS_ONE ? matching == 1 : !decides);
}

static struct value evaluate(struct evaluation *evaluation, const struct node *node)
{
	evaluation->node = node;
	if (++evaluation->steps > MAX_STEPS)
		return cel_beyond(evaluation, "the expression costs too much");
	switch (node->kind) {
	case NODE_LITERAL:
		return node->literal;
	case NODE_DEVICE:
		return (struct value){.kind = VALUE_DEVICE};
	case NODE_VARIABLE:
		return evaluate_variable(evaluation, node);
	case NODE_SELECT:
	case NODE_HAS:
		return evaluate_select(evaluation, node);
	case NODE_SELECT_OPTIONAL:
		return evaluate_select_optional(evaluation, node);
	case NODE_INDEX:
		return evaluate_index(evaluation, node);
	case NODE_LIST:
		return evaluate_list(evaluation, node);
	case NODE_AND:
	case NODE_OR:
		return evaluate_logic(evaluation, node);
	case NODE_NOT:
		return evaluate_not(evaluation, node);
	case NODE_NEGATE:
		return evaluate_negate(evaluation, node);
	case NODE_CONDITION:
		return evaluate_condition(evaluation, node);
	case NODE_ADD:
	case NODE_SUBTRACT:
	case NODE_CALL:
		return evaluate_call(evaluation, node);
	case NODE_OR_VALUE:
		return evaluate_or_value(evaluation, node);
	case NODE_BIND:
		return evaluate_bind(evaluation, node);
	case NODE_EXISTS:
	case NODE_ALL:
	case NODE_EXISTS_ONE:
		return evaluate_quantifier(evaluation, node);
	default:
		return evaluate_comparison(evaluation, node);
	}
}

enum cel_result cel_evaluate(const struct cel_program *program, const struct cel_device *device, struct arena *arena,
                             struct error *error)
{
	struct error ignored = {0};
	struct evaluation evaluation = {.device = device, .arena = arena, .error = error ? error : &ignored};
	struct value value = truth(&evaluation, program->root);
	if (value.kind == VALUE_FAILED || evaluation.stopped)
		return CEL_FAILED;
	return value.truth ? CEL_YES : CEL_NO;
}
