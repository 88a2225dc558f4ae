/* The table of functions, and what each does. */
#include "cel/internal.h"

#include "base/strings.h"

#include <inttypes.h>
#include <string.h>

#define MAX_TEXT 65536 /* of a text that an expression makes */

/* ---- conversions ---- */

static struct value run_quantity(struct evaluation *evaluation, const struct value *arguments)
{
	struct value value = {.kind = VALUE_QUANTITY};
	struct error error;
	if (quantity_parse_exact(arguments->text.text, arguments->text.length, &value.quantity, &error))
		return error.code == ERROR_RANGE ? cel_beyond(evaluation, error.text)
		                                 : cel_failed(evaluation, "%s", error.text);
	return value;
}

static struct value run_is_quantity(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	struct quantity quantity;
	struct error error;
	return cel_value_of_bool(
		quantity_parse_exact(arguments->text.text, arguments->text.length, &quantity, &error) == 0 ||
		error.code == ERROR_RANGE);
}

static struct value version_value(struct evaluation *evaluation, struct cel_text text, bool lenient)
{
	struct cel_version *version = arena_new(evaluation->arena, struct cel_version);
	if (!cel_version_parse(text, lenient, version))
		return cel_failed(evaluation, "\"%.*s\" is not a semantic version",
		                  (int)(text.length > 64 ? 64 : text.length), text.text);
	return (struct value){.kind = VALUE_VERSION, .version = version};
}

static struct value run_version(struct evaluation *evaluation, const struct value *arguments)
{
	return version_value(evaluation, arguments->text, false);
}

static struct value run_version_lenient(struct evaluation *evaluation, const struct value *arguments)
{
	return version_value(evaluation, arguments[0].text, arguments[1].truth);
}

static struct value run_is_version(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	struct cel_version version;
	return cel_value_of_bool(cel_version_parse(arguments->text, false, &version));
}

static struct value run_is_version_lenient(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	struct cel_version version;
	return cel_value_of_bool(cel_version_parse(arguments[0].text, arguments[1].truth, &version));
}

static struct value run_same(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return *arguments;
}

static struct value run_string_of_int(struct evaluation *evaluation, const struct value *arguments)
{
	const char *text = arena_printf(evaluation->arena, "%" PRId64, arguments->number);
	return cel_value_of_text(text, strlen(text));
}

static struct value run_string_of_bool(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return arguments->truth ? cel_value_of_text("true", 4) : cel_value_of_text("false", 5);
}

static struct value run_int_of_string(struct evaluation *evaluation, const struct value *arguments)
{
	struct cel_text text = arguments->text;
	bool negative = text.length && text.text[0] == '-';
	size_t at = text.length && (negative || text.text[0] == '+');
	int64_t number = 0;
	bool valid = at < text.length;
	for (; valid && at < text.length; at++) {
		int digit = text.text[at] - '0';
		valid = digit >= 0 && digit <= 9 && !__builtin_mul_overflow(number, (int64_t)10, &number) &&
		        !__builtin_sub_overflow(number, (int64_t)digit,
		                                &number); /* below zero there is room for one more */
	}
	if (!valid || (!negative && number == INT64_MIN))
		return cel_failed(evaluation, "\"%.*s\" is not an integer", (int)(text.length > 64 ? 64 : text.length),
		                  text.text);
	return cel_value_of_int(negative ? number : -number);
}

/* ---- sizes ---- */

static struct value run_size_of_string(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	int64_t count = 0;
	for (size_t i = 0; i < arguments->text.length; i++)
		count += ((unsigned char)arguments->text.text[i] & 0xc0) != 0x80;
	return cel_value_of_int(count);
}

static struct value run_size_of_list(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_int((int64_t)arguments->list.count);
}

static struct value run_size_of_map(struct evaluation *evaluation, const struct value *arguments)
{
	const struct value *keys;
	return cel_value_of_int((int64_t)cel_map_keys(evaluation->device, &arguments->map, evaluation->arena, &keys));
}

/* ---- versions and quantities ---- */

static int compare(const struct value *arguments)
{
	return arguments->kind == VALUE_VERSION ? cel_version_compare(arguments[0].version, arguments[1].version)
	                                        : quantity_compare(arguments[0].quantity, arguments[1].quantity);
}

static struct value run_compare_to(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_int(compare(arguments));
}

static struct value run_is_greater_than(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_bool(compare(arguments) > 0);
}

static struct value run_is_less_than(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_bool(compare(arguments) < 0);
}

static struct value run_major(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_int((int64_t)arguments->version->major);
}

static struct value run_minor(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_int((int64_t)arguments->version->minor);
}

static struct value run_patch(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_int((int64_t)arguments->version->patch);
}

static struct value run_as_integer(struct evaluation *evaluation, const struct value *arguments)
{
	/* Beyond 18 digits the API server's answer depends on how the number was written. */
	const int64_t most = 1000000000000000000;
	if (arguments->quantity.nano)
		return cel_failed(evaluation, "the quantity is not a whole number");
	if (arguments->quantity.whole >= most || arguments->quantity.whole <= -most)
		return cel_beyond(evaluation, "the quantity is too large");
	return cel_value_of_int(arguments->quantity.whole);
}

/* ---- texts ---- */

static const char *find(struct cel_text text, struct cel_text part)
{
	for (size_t i = 0; i + part.length <= text.length; i++)
		if (part.length == 0 || memcmp(text.text + i, part.text, part.length) == 0)
			return text.text + i;
	return NULL;
}

static struct value run_contains(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	return cel_value_of_bool(find(arguments[0].text, arguments[1].text) != NULL);
}

static struct value run_starts_with(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	struct cel_text text = arguments[0].text, part = arguments[1].text;
	if (text.length > part.length)
		text.length = part.length;
	return cel_value_of_bool(cel_text_equal(text, part));
}

static struct value run_ends_with(struct evaluation *evaluation, const struct value *arguments)
{
	(void)evaluation;
	struct cel_text text = arguments[0].text, part = arguments[1].text;
	if (text.length > part.length)
		text = (struct cel_text){text.text + text.length - part.length, part.length};
	return cel_value_of_bool(cel_text_equal(text, part));
}

static struct value mapped(struct evaluation *evaluation, struct cel_text text, char from, char to, char first)
{
	char *copy = arena_strndup(evaluation->arena, text.text, text.length);
	for (size_t i = 0; i < text.length; i++)
		if (copy[i] >= from && copy[i] <= to)
			copy[i] = (char)(copy[i] - from + first);
	return cel_value_of_text(copy, text.length);
}

static struct value run_lower_ascii(struct evaluation *evaluation, const struct value *arguments)
{
	return mapped(evaluation, arguments->text, 'A', 'Z', 'a');
}

static struct value run_upper_ascii(struct evaluation *evaluation, const struct value *arguments)
{
	return mapped(evaluation, arguments->text, 'a', 'z', 'A');
}

/* At most `limit` pieces, below zero: all. An empty separator cuts between characters. */
static struct value split(struct evaluation *evaluation, struct cel_text text, struct cel_text separator, int64_t limit)
{
	struct value *pieces = arena_array(evaluation->arena, struct value, text.length + 1);
	size_t count = 0;
	struct cel_text rest = text;
	bool more = limit != 0 && (separator.length > 0 || text.length > 0);
	while (more) {
		uint32_t character;
		const char *cut = NULL;
		size_t skip = separator.length;
		bool last = limit > 0 && (int64_t)count + 1 == limit;
		if (!last && separator.length)
			cut = find(rest, separator);
		else if (!last)
			cut = rest.text + text_utf8(rest.text, rest.length, &character);
		if (cut && separator.length == 0 && (size_t)(cut - rest.text) >= rest.length)
			cut = NULL;
		size_t length = cut ? (size_t)(cut - rest.text) : rest.length;
		pieces[count++] = cel_value_of_text(rest.text, length);
		more = cut != NULL;
		if (more)
			rest = (struct cel_text){cut + skip, rest.length - length - skip};
	}
	return (struct value){.kind = VALUE_LIST, .list = {pieces, count}};
}

static struct value run_split(struct evaluation *evaluation, const struct value *arguments)
{
	return split(evaluation, arguments[0].text, arguments[1].text, -1);
}

static struct value run_split_limited(struct evaluation *evaluation, const struct value *arguments)
{
	return split(evaluation, arguments[0].text, arguments[1].text, arguments[2].number);
}

static struct value run_matches(struct evaluation *evaluation, const struct value *arguments)
{
	const struct pattern *pattern = evaluation->node->pattern;
	struct error error;
	if (!pattern)
		pattern = pattern_compile(evaluation->arena, arguments[1].text.text, arguments[1].text.length, &error);
	if (!pattern)
		return error.code == ERROR_LIMIT ? cel_beyond(evaluation, error.text)
		                                 : cel_failed(evaluation, "the pattern %s", error.text);
	enum pattern_result result = pattern_match(pattern, arguments[0].text.text, arguments[0].text.length);
	if (result == PATTERN_UNDECIDED)
		return cel_beyond(evaluation, "the pattern costs too much");
	return cel_value_of_bool(result == PATTERN_YES);
}

static struct value run_add_ints(struct evaluation *evaluation, const struct value *arguments)
{
	int64_t sum;
	if (__builtin_add_overflow(arguments[0].number, arguments[1].number, &sum))
		return cel_failed(evaluation, "the sum is too large");
	return cel_value_of_int(sum);
}

static struct value run_add_strings(struct evaluation *evaluation, const struct value *arguments)
{
	struct cel_text a = arguments[0].text, b = arguments[1].text;
	if (a.length + b.length > MAX_TEXT)
		return cel_beyond(evaluation, "the text is too long");
	char *text = arena_alloc(evaluation->arena, a.length + b.length + 1);
	memcpy(text, a.text, a.length);
	memcpy(text + a.length, b.text, b.length);
	return cel_value_of_text(text, a.length + b.length);
}

static struct value run_subtract_ints(struct evaluation *evaluation, const struct value *arguments)
{
	int64_t difference;
	if (__builtin_sub_overflow(arguments[0].number, arguments[1].number, &difference))
		return cel_failed(evaluation, "the difference is too large");
	return cel_value_of_int(difference);
}

/* ---- the table ---- */

static const struct type list_of_strings = {TYPE_LIST, &cel_type_string};

#define BOOL &cel_type_bool
#define INT &cel_type_int
#define STRING &cel_type_string

static const struct function functions[] = {
	{"quantity", false, 1, {TYPE_STRING}, &cel_type_quantity, run_quantity},
	{"isQuantity", false, 1, {TYPE_STRING}, BOOL, run_is_quantity},
	{"semver", false, 1, {TYPE_STRING}, &cel_type_version, run_version},
	{"semver", false, 2, {TYPE_STRING, TYPE_BOOL}, &cel_type_version, run_version_lenient},
	{"isSemver", false, 1, {TYPE_STRING}, BOOL, run_is_version},
	{"isSemver", false, 2, {TYPE_STRING, TYPE_BOOL}, BOOL, run_is_version_lenient},
	{"string", false, 1, {TYPE_STRING}, STRING, run_same},
	{"string", false, 1, {TYPE_INT}, STRING, run_string_of_int},
	{"string", false, 1, {TYPE_BOOL}, STRING, run_string_of_bool},
	{"int", false, 1, {TYPE_INT}, INT, run_same},
	{"int", false, 1, {TYPE_STRING}, INT, run_int_of_string},
	{"size", false, 1, {TYPE_STRING}, INT, run_size_of_string},
	{"size", false, 1, {TYPE_LIST}, INT, run_size_of_list},
	{"size", false, 1, {TYPE_MAP}, INT, run_size_of_map},
	{"size", true, 1, {TYPE_STRING}, INT, run_size_of_string},
	{"size", true, 1, {TYPE_LIST}, INT, run_size_of_list},
	{"size", true, 1, {TYPE_MAP}, INT, run_size_of_map},
	{"compareTo", true, 2, {TYPE_VERSION, TYPE_VERSION}, INT, run_compare_to},
	{"compareTo", true, 2, {TYPE_QUANTITY, TYPE_QUANTITY}, INT, run_compare_to},
	{"isGreaterThan", true, 2, {TYPE_VERSION, TYPE_VERSION}, BOOL, run_is_greater_than},
	{"isGreaterThan", true, 2, {TYPE_QUANTITY, TYPE_QUANTITY}, BOOL, run_is_greater_than},
	{"isLessThan", true, 2, {TYPE_VERSION, TYPE_VERSION}, BOOL, run_is_less_than},
	{"isLessThan", true, 2, {TYPE_QUANTITY, TYPE_QUANTITY}, BOOL, run_is_less_than},
	{"major", true, 1, {TYPE_VERSION}, INT, run_major},
	{"minor", true, 1, {TYPE_VERSION}, INT, run_minor},
	{"patch", true, 1, {TYPE_VERSION}, INT, run_patch},
	{"asInteger", true, 1, {TYPE_QUANTITY}, INT, run_as_integer},
	{"matches", true, 2, {TYPE_STRING, TYPE_STRING}, BOOL, run_matches},
	{"contains", true, 2, {TYPE_STRING, TYPE_STRING}, BOOL, run_contains},
	{"startsWith", true, 2, {TYPE_STRING, TYPE_STRING}, BOOL, run_starts_with},
	{"endsWith", true, 2, {TYPE_STRING, TYPE_STRING}, BOOL, run_ends_with},
	{"lowerAscii", true, 1, {TYPE_STRING}, STRING, run_lower_ascii},
	{"upperAscii", true, 1, {TYPE_STRING}, STRING, run_upper_ascii},
	{"split", true, 2, {TYPE_STRING, TYPE_STRING}, &list_of_strings, run_split},
	{"split", true, 3, {TYPE_STRING, TYPE_STRING, TYPE_INT}, &list_of_strings, run_split_limited},
	/* Operators that work on several types: no name of CEL has these characters. */
	{"+", false, 2, {TYPE_INT, TYPE_INT}, INT, run_add_ints},
	{"+", false, 2, {TYPE_STRING, TYPE_STRING}, STRING, run_add_strings},
	{"-", false, 2, {TYPE_INT, TYPE_INT}, INT, run_subtract_ints},
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

const struct function *cel_function_find(struct cel_text name, bool member)
{
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (functions[i].member == member && strlen(functions[i].name) == name.length &&
		    memcmp(functions[i].name, name.text, name.length) == 0)
			return &functions[i];
	return NULL;
}

const struct function *cel_function_next(const struct function *function)
{
	const struct function *next = function + 1;
	if (next == functions + FUNCTION_COUNT || next->member != function->member ||
	    strcmp(next->name, function->name) != 0)
		return NULL;
	return next;
}
