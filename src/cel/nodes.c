/* Builds the nodes of an expression: finds what each name means and checks that the types agree. */
#include "cel/parse_internal.h"

#include <string.h>

static const struct type attributes_inner = {TYPE_MAP, &cel_type_any};
static const struct type attributes_outer = {TYPE_MAP, &attributes_inner};
static const struct type capacity_inner = {TYPE_MAP, &cel_type_quantity};
static const struct type capacity_outer = {TYPE_MAP, &capacity_inner};
static const struct type type_device = {TYPE_DEVICE, NULL};

struct cel_text cel_text_of(const char *text)
{
	return (struct cel_text){text, strlen(text)};
}

const char *cel_type_name(const struct type *type)
{
	static const char *const names[] = {
		[TYPE_ANY] = "an attribute",    [TYPE_DYN] = "a value that is not known before",
		[TYPE_BOOL] = "a bool",         [TYPE_INT] = "an int",
		[TYPE_STRING] = "a string",     [TYPE_VERSION] = "a version",
		[TYPE_QUANTITY] = "a quantity", [TYPE_LIST] = "a list",
		[TYPE_MAP] = "a map",           [TYPE_OPTIONAL] = "an optional value",
		[TYPE_DEVICE] = "a device",
	};
	return names[type->kind];
}

/* ---- nodes ---- */

static struct node *new_node(struct parser *parser, enum node_kind kind, size_t offset, const struct type *type,
                             struct node *const *children, size_t count)
{
	struct node *node = arena_new(parser->arena, struct node);
	*node = (struct node){.kind = kind, .offset = (uint32_t)offset, .type = type, .count = count};
	node->children = arena_array(parser->arena, struct node *, count);
	for (size_t i = 0; i < count; i++)
		node->children[i] = children[i];
	return node;
}

static const struct type *new_type(struct parser *parser, enum type_kind kind, const struct type *of)
{
	struct type *type = arena_new(parser->arena, struct type);
	*type = (struct type){kind, of};
	return type;
}

static struct node *mismatch(struct parser *parser, size_t offset, const char *what, const struct type *type)
{
	cel_invalid(parser->error, offset, "%s of %s", what, cel_type_name(type));
	return NULL;
}

static bool is(const struct type *type, enum type_kind kind)
{
	return type->kind == kind || cel_type_is_dynamic(type);
}

/* ---- variables ---- */

bool cel_scope_enter(struct parser *parser, struct cel_text name, const struct type *type, size_t offset)
{
	if (parser->variable_count == MAX_VARIABLES)
		return cel_unsupported(parser->error, offset, "more than %d variables", MAX_VARIABLES);
	parser->variables[parser->variable_count++] = (struct scope_entry){name, type};
	return true;
}

void cel_scope_leave(struct parser *parser)
{
	parser->variable_count--;
}

static size_t scope_find(const struct parser *parser, struct cel_text name)
{
	for (size_t i = parser->variable_count; i-- > 0;)
		if (cel_text_equal(parser->variables[i].name, name))
			return i;
	return MAX_VARIABLES;
}

bool cel_scope_has(const struct parser *parser, struct cel_text name)
{
	return scope_find(parser, name) < MAX_VARIABLES;
}

struct node *cel_node_literal(struct parser *parser, size_t offset, struct value value, const struct type *type)
{
	struct node *node = new_node(parser, NODE_LITERAL, offset, type, NULL, 0);
	node->literal = value;
	return node;
}

struct node *cel_node_name(struct parser *parser, struct cel_text name, size_t offset)
{
	static const char *const elsewhere[] = {"bool", "bytes",     "double", "duration",  "dyn",  "int", "list",
	                                        "map",  "null_type", "string", "timestamp", "type", "uint"};
	size_t variable = scope_find(parser, name);
	if (variable < MAX_VARIABLES) {
		struct node *node = new_node(parser, NODE_VARIABLE, offset, parser->variables[variable].type, NULL, 0);
		node->variable = (unsigned)variable;
		return node;
	}
	if (cel_text_equal(name, cel_text_of("device")))
		return new_node(parser, NODE_DEVICE, offset, &type_device, NULL, 0);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (cel_text_equal(name, cel_text_of(elsewhere[i]))) {
			cel_unsupported(parser->error, offset, "the type %s as a value", elsewhere[i]);
			return NULL;
		}
	}
	cel_invalid(parser->error, offset, "the unknown name %.*s", (int)(name.length > 64 ? 64 : name.length),
	            name.text);
	return NULL;
}

struct node *cel_node_list(struct parser *parser, size_t offset, struct node **items, size_t count)
{
	const struct type *of = count ? items[0]->type : &cel_type_dyn;
	for (size_t i = 0; i < count; i++) {
		if (items[i]->type->kind != of->kind) {
			if (cel_type_agrees(items[i]->type, of))
				cel_unsupported(parser->error, offset, "a list of attributes and other values");
			else
				cel_invalid(parser->error, items[i]->offset, "a list of different types");
			return NULL;
		}
	}
	return new_node(parser, NODE_LIST, offset, new_type(parser, TYPE_LIST, of), items, count);
}

/* ---- members ---- */

static const struct type *field_type(struct cel_text name)
{
	if (cel_text_equal(name, cel_text_of("driver")))
		return &cel_type_string;
	if (cel_text_equal(name, cel_text_of("allowMultipleAllocations")))
		return &cel_type_bool;
	if (cel_text_equal(name, cel_text_of("attributes")))
		return &attributes_outer;
	return cel_text_equal(name, cel_text_of("capacity")) ? &capacity_outer : NULL;
}

/* What a field of a value has; NULL with the error set when it has none. */
static const struct type *member_type(struct parser *parser, const struct type *type, struct cel_text name,
                                      size_t offset)
{
	const struct type *member = NULL;
	if (cel_type_is_dynamic(type))
		return &cel_type_dyn;
	if (type->kind == TYPE_MAP)
		return type->of;
	if (type->kind == TYPE_DEVICE)
		member = field_type(name);
	if (!member)
		cel_invalid(parser->error, offset, "the unknown field %.*s of %s",
		            (int)(name.length > 64 ? 64 : name.length), name.text, cel_type_name(type));
	return member;
}

struct node *cel_node_select(struct parser *parser, struct node *target, struct cel_text name, bool optional,
                             size_t offset)
{
	bool chained = target->type->kind == TYPE_OPTIONAL;
	if (optional && target->type->kind == TYPE_DEVICE) {
		cel_unsupported(parser->error, offset, "an optional field of the device");
		return NULL;
	}
	const struct type *type = member_type(parser, chained ? target->type->of : target->type, name, offset);
	if (!type)
		return NULL;
	if (optional || chained)
		type = new_type(parser, TYPE_OPTIONAL, type);
	struct node *node =
		new_node(parser, optional || chained ? NODE_SELECT_OPTIONAL : NODE_SELECT, offset, type, &target, 1);
	node->name = name;
	return node;
}

struct node *cel_node_has(struct parser *parser, size_t offset, struct node *argument)
{
	if (argument->kind == NODE_SELECT_OPTIONAL) {
		cel_unsupported(parser->error, offset, "has() of an optional field");
		return NULL;
	}
	if (argument->kind != NODE_SELECT) {
		cel_invalid(parser->error, offset, "has() of something that is not a field");
		return NULL;
	}
	argument->kind = NODE_HAS;
	argument->type = &cel_type_bool;
	return argument;
}

struct node *cel_node_index(struct parser *parser, struct node *target, struct node *key, size_t offset)
{
	struct node *children[] = {target, key};
	const struct type *type = target->type;
	if (type->kind == TYPE_OPTIONAL) {
		cel_unsupported(parser->error, offset, "the index of an optional value");
		return NULL;
	}
	if (cel_type_is_dynamic(type))
		return new_node(parser, NODE_INDEX, offset, &cel_type_dyn, children, 2);
	if (type->kind != TYPE_MAP && type->kind != TYPE_LIST)
		return mismatch(parser, offset, "an index", type);
	if (!is(key->type, type->kind == TYPE_MAP ? TYPE_STRING : TYPE_INT))
		return mismatch(parser, offset, "an index", key->type);
	return new_node(parser, NODE_INDEX, offset, type->of, children, 2);
}

/* ---- operators ---- */

struct node *cel_node_unary(struct parser *parser, enum node_kind kind, struct node *operand, size_t offset)
{
	if (!is(operand->type, kind == NODE_NOT ? TYPE_BOOL : TYPE_INT))
		return mismatch(parser, offset, kind == NODE_NOT ? "the opposite" : "the negative", operand->type);
	const struct type *type = kind == NODE_NOT                     ? &cel_type_bool
	                          : cel_type_is_dynamic(operand->type) ? &cel_type_dyn
	                                                               : &cel_type_int;
	return new_node(parser, kind, offset, type, &operand, 1);
}

/* + and -: overloads of the table. */
static struct node *sum_node(struct parser *parser, enum node_kind kind, struct node **sides, size_t offset)
{
	if (sides[0]->type->kind == TYPE_LIST || sides[1]->type->kind == TYPE_LIST) {
		cel_unsupported(parser->error, offset, "the sum of lists");
		return NULL;
	}
	struct node *node = cel_node_call(parser, cel_text_of(kind == NODE_ADD ? "+" : "-"), false, sides, 2, offset);
	if (node && cel_type_is_dynamic(sides[0]->type) && cel_type_is_dynamic(sides[1]->type))
		node->type = &cel_type_dyn; /* dates and durations have sums too */
	return node;
}

static bool is_ordered(const struct type *type)
{
	return cel_type_is_dynamic(type) || type->kind == TYPE_BOOL || type->kind == TYPE_INT ||
	       type->kind == TYPE_STRING;
}

static bool is_plain(const struct type *type)
{
	return is_ordered(type) || type->kind == TYPE_VERSION || type->kind == TYPE_QUANTITY;
}

static struct node *in_node(struct parser *parser, struct node **sides, size_t offset)
{
	const struct type *range = sides[1]->type;
	if (range->kind != TYPE_LIST && range->kind != TYPE_MAP && !cel_type_is_dynamic(range))
		return mismatch(parser, offset, "a search in a value", range);
	const struct type *sought = range->kind == TYPE_LIST  ? range->of
	                            : range->kind == TYPE_MAP ? &cel_type_string
	                                                      : range;
	if (!cel_type_agrees(sides[0]->type, sought))
		return mismatch(parser, offset, "a search for a value", sides[0]->type);
	if (!is_plain(sides[0]->type)) {
		cel_unsupported(parser->error, offset, "the search for %s", cel_type_name(sides[0]->type));
		return NULL;
	}
	if (sides[1]->kind == NODE_LIST && sides[1]->count == 0) /* nothing is in it, not even what fails */
		return cel_node_literal(parser, offset, cel_value_of_bool(false), &cel_type_bool);
	return new_node(parser, NODE_IN, offset, &cel_type_bool, sides, 2);
}

static struct node *logic_node(struct parser *parser, enum node_kind kind, struct node **sides, size_t offset)
{
	for (size_t i = 0; i < 2; i++)
		if (!is(sides[i]->type, TYPE_BOOL))
			return mismatch(parser, sides[i]->offset, "the truth", sides[i]->type);
	return new_node(parser, kind, offset, &cel_type_bool, sides, 2);
}

struct node *cel_node_binary(struct parser *parser, enum node_kind kind, struct node *left, struct node *right,
                             size_t offset)
{
	struct node *sides[] = {left, right};
	if (kind == NODE_AND || kind == NODE_OR)
		return logic_node(parser, kind, sides, offset);
	if (kind == NODE_ADD || kind == NODE_SUBTRACT)
		return sum_node(parser, kind, sides, offset);
	if (kind == NODE_IN)
		return in_node(parser, sides, offset);
	bool equality = kind == NODE_EQUAL || kind == NODE_NOT_EQUAL;
	if (!cel_type_agrees(left->type, right->type))
		return mismatch(parser, offset, "a comparison with a value", right->type);
	for (size_t i = 0; i < 2; i++) {
		if (!equality && !is_ordered(sides[i]->type))
			return mismatch(parser, offset, "the order", sides[i]->type);
		if (equality && !is_plain(sides[i]->type)) {
			cel_unsupported(parser->error, offset, "the comparison of %s", cel_type_name(sides[i]->type));
			return NULL;
		}
	}
	return new_node(parser, kind, offset, &cel_type_bool, sides, 2);
}

struct node *cel_node_condition(struct parser *parser, struct node **parts, size_t offset)
{
	const struct type *type = cel_type_join(parts[1]->type, parts[2]->type);
	if (!is(parts[0]->type, TYPE_BOOL))
		return mismatch(parser, offset, "the truth", parts[0]->type);
	if (!type)
		return mismatch(parser, offset, "a choice between other values and", parts[2]->type);
	return new_node(parser, NODE_CONDITION, offset, type, parts, 3);
}

/* ---- calls ---- */

static bool accepts(const struct function *function, struct node *const *arguments, size_t count)
{
	if (function->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is(arguments[i]->type, function->arguments[i]))
			return false;
	return true;
}

static struct node *or_value_node(struct parser *parser, struct node **arguments, size_t count, size_t offset)
{
	if (cel_type_is_dynamic(arguments[0]->type)) {
		cel_unsupported(parser->error, offset, "orValue() of a value that is not known before");
		return NULL;
	}
	if (count != 2 || arguments[0]->type->kind != TYPE_OPTIONAL) {
		cel_invalid(parser->error, offset, "orValue() of something that is not optional");
		return NULL;
	}
	const struct type *type = cel_type_join(arguments[0]->type->of, arguments[1]->type);
	if (!type)
		return mismatch(parser, offset, "another value instead", arguments[1]->type);
	return new_node(parser, NODE_OR_VALUE, offset, type, arguments, 2);
}

/* A literal pattern is compiled once; one that is wrong is found before a device is seen. */
static bool compile_pattern(struct parser *parser, struct node *node)
{
	const struct node *text = node->children[node->count - 1];
	if (strcmp(node->function->name, "matches") != 0 || text->kind != NODE_LITERAL)
		return true;
	struct error error = {0};
	node->pattern = pattern_compile(parser->arena, text->literal.text.text, text->literal.text.length, &error);
	if (node->pattern)
		return true;
	if (error.code == ERROR_SYNTAX)
		return cel_invalid(parser->error, text->offset, "a pattern that %s", error.text);
	return cel_unsupported(parser->error, text->offset, "a pattern: %s,", error.text);
}

/* The API server converts literals when it compiles: what cannot be converted is refused then. */
static struct node *converted(struct parser *parser, struct node *node)
{
	const struct node *argument = node->children[0];
	bool converts = strcmp(node->function->name, "int") == 0 || strcmp(node->function->name, "string") == 0;
	if (!converts || argument->kind != NODE_LITERAL)
		return node;
	struct error error = {0};
	struct evaluation evaluation = {.arena = parser->arena, .error = &error, .node = node};
	const struct function *row = node->function;
	while (!accepts(row, node->children, node->count))
		row = cel_function_next(row);
	struct value value = row->run(&evaluation, &argument->literal);
	if (value.kind != VALUE_FAILED)
		return cel_node_literal(parser, node->offset, value, node->type);
	cel_invalid(parser->error, argument->offset, "a text that is no integer");
	return NULL;
}

struct node *cel_node_call(struct parser *parser, struct cel_text name, bool member, struct node **arguments,
                           size_t count, size_t offset)
{
	if (member && cel_text_equal(name, cel_text_of("orValue")))
		return or_value_node(parser, arguments, count, offset);
	const struct function *function = cel_function_find(name, member);
	struct node *node = new_node(parser, NODE_CALL, offset, NULL, arguments, count);
	node->name = name;
	node->function = function;
	for (; function; function = cel_function_next(function)) {
		if (!accepts(function, arguments, count))
			continue;
		node->type =
			!node->type || node->type->kind == function->result->kind ? function->result : &cel_type_dyn;
	}
	if (!node->type) {
		cel_invalid(parser->error, offset, "%.*s() of values it does not take", (int)name.length, name.text);
		return NULL;
	}
	return compile_pattern(parser, node) ? converted(parser, node) : NULL;
}

/* ---- what binds a name ---- */

struct node *cel_node_bind(struct parser *parser, size_t offset, unsigned variable, struct node **parts)
{
	struct node *node = new_node(parser, NODE_BIND, offset, parts[1]->type, parts, 2);
	node->variable = variable;
	return node;
}

const struct type *cel_node_range_type(struct parser *parser, const struct node *range, size_t offset)
{
	if (range->kind == NODE_LIST && range->count == 0) {
		cel_unsupported(parser->error, offset, "a loop over an empty list");
		return NULL;
	}
	if (range->type->kind == TYPE_MAP)
		return &cel_type_string;
	if (range->type->kind == TYPE_LIST)
		return range->type->of;
	if (range->type->kind == TYPE_DYN)
		cel_unsupported(parser->error, offset, "a loop over a value that is not known before");
	else
		mismatch(parser, offset, "a loop over a value", range->type);
	return NULL;
}

struct node *cel_node_quantifier(struct parser *parser, enum node_kind kind, size_t offset, unsigned variable,
                                 struct node **parts)
{
	if (!is(parts[1]->type, TYPE_BOOL))
		return mismatch(parser, parts[1]->offset, "the truth", parts[1]->type);
	struct node *node = new_node(parser, kind, offset, &cel_type_bool, parts, 2);
	node->variable = variable;
	return node;
}
