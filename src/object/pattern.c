/* Patterns of Go, run by PCRE2 within its limits. What the two read differently is written for PCRE2 in a form that
 * has one meaning: every literal as \x{..}, every group without a capture, classes spelled out. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "object/pattern.h"

#include "base/strings.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_DEPTH 100
#define MAX_REPEAT 1000 /* Go's limit, also for repeats of repeats */
#define MATCH_LIMIT 500000
#define DEPTH_LIMIT 10000
#define HEAP_LIMIT_KIB 8192

struct pattern {
	pcre2_code *code;
};

/* What a repetition operator would apply to. */
enum item { ITEM_NONE, ITEM_PLAIN, ITEM_FLAGS, ITEM_REPEATED };

struct reader {
	const char *text;
	size_t length;
	size_t at;
	struct buffer out;
	enum item item;
	uint32_t repeats;                  /* of the last item: the largest product of nested counts */
	uint32_t group_repeats[MAX_DEPTH]; /* the largest in each open group so far */
	size_t depth;
	struct error *error;
};

static bool bad(struct reader *reader, const char *why)
{
	error_set(reader->error, ERROR_SYNTAX, "is not a regular expression: %s at character %zu", why, reader->at + 1);
	return false;
}

static bool unserved(struct reader *reader, const char *what)
{
	error_set(reader->error, ERROR_LIMIT, "%s at character %zu is not supported", what, reader->at + 1);
	return false;
}

static bool more(const struct reader *reader)
{
	return reader->at < reader->length;
}

static bool next_is(const struct reader *reader, const char *text)
{
	size_t length = strlen(text);
	return reader->length - reader->at >= length && memcmp(reader->text + reader->at, text, length) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void put_character(struct reader *reader, uint32_t character)
{
	buffer_printf(&reader->out, "\\x{%x}", (unsigned)character);
}

static void item_done(struct reader *reader, enum item item, uint32_t repeats)
{
	reader->item = item;
	reader->repeats = repeats;
	if (reader->group_repeats[reader->depth] < repeats)
		reader->group_repeats[reader->depth] = repeats;
}

/* ---- escapes ---- */

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* After \x: two digits, or any number of them in braces. */
static bool hex_escape(struct reader *reader, uint32_t *character)
{
	bool braces = more(reader) && reader->text[reader->at] == '{';
	reader->at += braces;
	uint32_t value = 0;
	size_t digits = 0;
	for (; more(reader) && hex_value(reader->text[reader->at]) >= 0 && (braces || digits < 2); digits++) {
		value = value * 16 + (uint32_t)hex_value(reader->text[reader->at++]);
		if (value > 0x10ffff)
			return bad(reader, "a character beyond Unicode");
	}
	if (braces ? digits == 0 || !next_is(reader, "}") : digits != 2)
		return bad(reader, "an incomplete \\x escape");
	if (value >= 0xd800 && value <= 0xdfff)
		return unserved(reader, "half of a surrogate pair");
	reader->at += braces;
	*character = value;
	return true;
}

static bool is_octal(const struct reader *reader, size_t at)
{
	return at < reader->length && reader->text[at] >= '0' && reader->text[at] <= '7';
}

/* \0, \012 or \12, but not \1: that would be what a group matched, which Go does not have. False when it is none. */
static bool octal_escape(struct reader *reader, uint32_t *character)
{
	size_t at = reader->at;
	if (!is_octal(reader, at) || (reader->text[at] != '0' && !is_octal(reader, at + 1)))
		return false;
	*character = 0;
	for (; at < reader->at + 3 && is_octal(reader, at); at++)
		*character = *character * 8 + (uint32_t)(reader->text[at] - '0');
	reader->at = at;
	return true;
}

/* \pL, \p{Lu}, \P{^Lu}: a category of Unicode, at the letter p. */
static bool category_escape(struct reader *reader)
{
	static const char known[] =
		" L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs ";
	bool negated = reader->text[reader->at++] == 'P', braces = next_is(reader, "{");
	reader->at += braces;
	if (braces && next_is(reader, "^")) {
		negated = !negated;
		reader->at++;
	}
	char name[5] = " ";
	size_t length = 1;
	while (more(reader) && length < 3 && is_letter(reader->text[reader->at]) && (braces || length == 1))
		name[length++] = reader->text[reader->at++];
	name[length] = ' ';
	if (length == 1 || (braces && !next_is(reader, "}")) || !strstr(known, name))
		return unserved(reader, "this class of Unicode");
	reader->at += braces;
	buffer_printf(&reader->out, "\\%c{%.*s}", negated ? 'P' : 'p', (int)(length - 1), name + 1);
	return true;
}

/* An escape that stands for one character; the backslash is behind us. */
static bool character_escape(struct reader *reader, uint32_t *character)
{
	static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
	if (!more(reader))
		return bad(reader, "a backslash at the end");
	char c = reader->text[reader->at];
	const char *letter = c ? strchr(letters, c) : NULL;
	if (octal_escape(reader, character))
		return true;
	if (c == 'x') {
		reader->at++;
		return hex_escape(reader, character);
	}
	if (letter)
		*character = (uint32_t)values[letter - letters];
	else if (is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80)
		return bad(reader, "an unknown escape");
	else
		*character = (uint32_t)c;
	reader->at++;
	return true;
}

/* \Q..\E: all of it means itself. */
static bool quoted(struct reader *reader)
{
	uint32_t character;
	for (reader->at++; more(reader) && !next_is(reader, "\\E");) {
		size_t used = text_utf8(reader->text + reader->at, reader->length - reader->at, &character);
		if (used == 0)
			return bad(reader, "a character that is not UTF-8");
		put_character(reader, character);
		reader->at += used;
		item_done(reader, ITEM_PLAIN, 1);
	}
	reader->at += more(reader) ? 2 : 0;
	return true;
}

static bool escape(struct reader *reader)
{
	reader->at++;
	char c = more(reader) ? reader->text[reader->at] : '\0';
	if (c == 'C')
		return unserved(reader, "a \\C escape");
	if (c == 'Q')
		return quoted(reader);
	if (c == 'p' || c == 'P') {
		item_done(reader, ITEM_PLAIN, 1);
		return category_escape(reader);
	}
	if (c && strchr("dDwWsSbBAz", c)) {
		if (c == 's' || c == 'S')
			buffer_puts(&reader->out, c == 's' ? "[\\t\\n\\f\\r ]" : "[^\\t\\n\\f\\r ]");
		else
			buffer_printf(&reader->out, "(?:\\%c)", c); /* in a group: a position may be repeated */
		reader->at++;
		item_done(reader, ITEM_PLAIN, 1);
		return true;
	}
	uint32_t character;
	if (!character_escape(reader, &character))
		return false;
	put_character(reader, character);
	item_done(reader, ITEM_PLAIN, 1);
	return true;
}

/* ---- classes ---- */

/* [:alpha:] and its like; `handled` is false when this is none and '[' means itself. */
static bool named_class(struct reader *reader, bool *handled)
{
	static const char *const names[] = {"alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph",
	                                    "lower", "print", "punct", "space", "upper", "word",  "xdigit"};
	*handled = false;
	const char *start = reader->text + reader->at + 2;
	const char *end = next_is(reader, "[:") ? start : NULL;
	size_t rest = reader->length - reader->at - (end ? 2 : 0);
	while (end && rest >= 2 && memcmp(end, ":]", 2) != 0) {
		end++;
		rest--;
	}
	if (!end || rest < 2)
		return true;
	const char *name = start + (start < end && *start == '^');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == (size_t)(end - name) && memcmp(names[i], name, (size_t)(end - name)) == 0) {
			buffer_append(&reader->out, reader->text + reader->at,
			              (size_t)(end + 2 - reader->text) - reader->at);
			reader->at = (size_t)(end + 2 - reader->text);
			*handled = true;
			return true;
		}
	}
	return bad(reader, "an unknown class of characters");
}

/* \d and its like inside a class; `handled` is false for escapes of one character. */
static bool class_escape(struct reader *reader, bool *handled)
{
	char c = reader->at + 1 < reader->length ? reader->text[reader->at + 1] : '\0';
	*handled = c && strchr("dDwWsSpP", c) != NULL;
	if (c == 'p' || c == 'P') {
		reader->at++;
		return category_escape(reader);
	}
	if (*handled) {
		if (c == 's')
			buffer_puts(&reader->out, "\\t\\n\\f\\r ");
		else if (c == 'S')
			buffer_puts(&reader->out, "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}");
		else
			buffer_printf(&reader->out, "\\%c", c);
		reader->at += 2;
	}
	return true;
}

static bool class_character(struct reader *reader, uint32_t *character)
{
	if (!more(reader))
		return bad(reader, "a class that does not end");
	if (reader->text[reader->at] == '\\') {
		reader->at++;
		return character_escape(reader, character);
	}
	size_t used = text_utf8(reader->text + reader->at, reader->length - reader->at, character);
	reader->at += used;
	return used > 0 || bad(reader, "a character that is not UTF-8");
}

static bool class_range(struct reader *reader)
{
	uint32_t low, high;
	if (!class_character(reader, &low))
		return false;
	high = low;
	if (next_is(reader, "-") && !next_is(reader, "-]")) {
		reader->at++;
		if (!class_character(reader, &high))
			return false;
		if (high < low)
			return bad(reader, "a range that ends before it begins");
	}
	put_character(reader, low);
	if (high != low) {
		buffer_puts(&reader->out, "-");
		put_character(reader, high);
	}
	return true;
}

static bool class(struct reader *reader)
{
	reader->at++;
	bool negated = next_is(reader, "^");
	buffer_puts(&reader->out, negated ? "[^" : "[");
	reader->at += negated;
	for (bool first = true; first || !next_is(reader, "]"); first = false) {
		if (!more(reader))
			return bad(reader, "a class that does not end");
		bool handled = false;
		if (reader->text[reader->at] == '[' && !named_class(reader, &handled))
			return false;
		if (!handled && reader->text[reader->at] == '\\' && !class_escape(reader, &handled))
			return false;
		if (!handled && !class_range(reader))
			return false;
	}
	reader->at++;
	buffer_puts(&reader->out, "]");
	item_done(reader, ITEM_PLAIN, 1);
	return true;
}

/* ---- groups ---- */

/* (?P<name> and (?<name>: the name is of no use here. */
static bool group_name(struct reader *reader)
{
	reader->at += next_is(reader, "P<") ? 2 : 1;
	size_t start = reader->at;
	for (; more(reader) && reader->text[reader->at] != '>'; reader->at++)
		if (!is_digit(reader->text[reader->at]) && !is_letter(reader->text[reader->at]) &&
		    reader->text[reader->at] != '_')
			return bad(reader, "a group whose name is not a word");
	if (!more(reader) || reader->at == start)
		return bad(reader, "a group without a name");
	reader->at++;
	buffer_puts(&reader->out, "(?:");
	return true;
}

/* (?i), (?s-m: and their like. `opens` says whether a group begins. */
static bool group_flags(struct reader *reader, bool *opens)
{
	buffer_puts(&reader->out, "(?");
	bool negative = false, any = false;
	for (; more(reader); reader->at++) {
		char c = reader->text[reader->at];
		if (c == ':' || c == ')') {
			*opens = c == ':';
			if (negative && !any)
				break;
			reader->at++;
			buffer_append(&reader->out, &c, 1);
			return true;
		}
		if (c == '-' && negative)
			break;
		if (c != '-' && (c == '\0' || !strchr("imsU", c)))
			break;
		any = c != '-';
		negative |= c == '-';
		if (c != 'U') /* greedy or not, it matches the same texts */
			buffer_append(&reader->out, &c, 1);
	}
	return bad(reader, "an unknown kind of group");
}

static bool open_group(struct reader *reader)
{
	bool opens = true;
	if (next_is(reader, "(?P<") || next_is(reader, "(?<")) {
		reader->at += 2;
		if (!group_name(reader))
			return false;
	} else if (next_is(reader, "(?")) {
		reader->at += 2;
		if (!group_flags(reader, &opens))
			return false;
	} else {
		reader->at++;
		buffer_puts(&reader->out, "(?:");
	}
	if (!opens) {
		item_done(reader, ITEM_FLAGS, 1);
		return true;
	}
	if (reader->depth + 1 == MAX_DEPTH)
		return unserved(reader, "a group as deep as this one");
	reader->group_repeats[++reader->depth] = 1;
	reader->item = ITEM_NONE;
	return true;
}

static bool close_group(struct reader *reader)
{
	if (reader->depth == 0)
		return bad(reader, "a parenthesis that was not opened");
	reader->at++;
	buffer_puts(&reader->out, ")");
	uint32_t repeats = reader->group_repeats[reader->depth--];
	item_done(reader, ITEM_PLAIN, repeats);
	return true;
}

/* ---- repetitions ---- */

/* A number without leading zeros; false when there is none. */
static bool count(const struct reader *reader, size_t *at, uint32_t *value)
{
	size_t start = *at;
	*value = 0;
	for (; *at < reader->length && is_digit(reader->text[*at]); (*at)++)
		*value = *value > MAX_REPEAT ? *value : *value * 10 + (uint32_t)(reader->text[*at] - '0');
	return *at > start && (*at == start + 1 || reader->text[start] != '0');
}

/* {n}, {n,} or {n,m} from here on; the characters it takes, 0 when the brace means itself. */
static size_t counted(const struct reader *reader, uint32_t *least, uint32_t *most)
{
	size_t at = reader->at + 1;
	if (!count(reader, &at, least))
		return 0;
	*most = *least;
	if (at < reader->length && reader->text[at] == ',') {
		at++;
		if (at < reader->length && reader->text[at] != '}' && !count(reader, &at, most))
			return 0;
		if (reader->text[at - 1] == ',')
			*most = UINT32_MAX;
	}
	return at < reader->length && reader->text[at] == '}' ? at + 1 - reader->at : 0;
}

static bool repeat(struct reader *reader, size_t length, uint32_t times)
{
	if (reader->item == ITEM_NONE)
		return bad(reader, "a repetition of nothing");
	if (reader->item == ITEM_REPEATED)
		return bad(reader, "a repetition of a repetition");
	if (reader->item == ITEM_FLAGS)
		return unserved(reader, "the repetition of flags");
	if (times > MAX_REPEAT || (uint64_t)times * reader->repeats > MAX_REPEAT)
		return bad(reader, "a repetition of more than 1000 times");
	buffer_append(&reader->out, reader->text + reader->at, length);
	reader->at += length;
	reader->at += next_is(reader, "?"); /* reluctant or not, it matches the same texts */
	item_done(reader, ITEM_REPEATED, times > 1 ? times * reader->repeats : reader->repeats);
	return true;
}

static bool brace(struct reader *reader)
{
	uint32_t least, most;
	size_t length = counted(reader, &least, &most);
	if (length == 0) {
		put_character(reader, '{');
		reader->at++;
		item_done(reader, ITEM_PLAIN, 1);
		return true;
	}
	if (least > most)
		return bad(reader, "a repetition whose end is below its beginning");
	return repeat(reader, length, most == UINT32_MAX ? least : most);
}

/* ---- the whole ---- */

static bool literal(struct reader *reader)
{
	uint32_t character;
	size_t used = text_utf8(reader->text + reader->at, reader->length - reader->at, &character);
	if (used == 0)
		return bad(reader, "a character that is not UTF-8");
	put_character(reader, character);
	reader->at += used;
	item_done(reader, ITEM_PLAIN, 1);
	return true;
}

static bool one_item(struct reader *reader)
{
	char c = reader->text[reader->at];
	switch (c) {
	case '\\':
		return escape(reader);
	case '[':
		return class(reader);
	case '(':
		return open_group(reader);
	case ')':
		return close_group(reader);
	case '*':
	case '+':
	case '?':
		return repeat(reader, 1, 1);
	case '{':
		return brace(reader);
	case '|':
	case '.':
		buffer_append(&reader->out, &c, 1);
		reader->at++;
		item_done(reader, c == '|' ? ITEM_NONE : ITEM_PLAIN, 1);
		return true;
	case '^':
	case '$':
		buffer_printf(&reader->out, "(?:%c)", c); /* in a group: a position may be repeated */
		reader->at++;
		item_done(reader, ITEM_PLAIN, 1);
		return true;
	default:
		return literal(reader);
	}
}

static bool translate(struct reader *reader)
{
	while (more(reader))
		if (!one_item(reader))
			return false;
	return reader->depth == 0 || bad(reader, "a parenthesis that is not closed");
}

static void *take(PCRE2_SIZE size, void *arena)
{
	return arena_alloc((struct arena *)arena, size);
}

static void keep(void *block, void *arena)
{
	(void)block, (void)arena;
}

static const struct pattern *compile(struct arena *arena, const struct buffer *text, struct error *error)
{
	const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C;
	pcre2_general_context *memory = pcre2_general_context_create(take, keep, arena);
	pcre2_compile_context *context = pcre2_compile_context_create(memory);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	int code = 0;
	PCRE2_SIZE offset = 0;
	struct pattern *pattern = arena_new(arena, struct pattern);
	pattern->code = pcre2_compile((PCRE2_SPTR)(text->text ? text->text : ""), text->length, options, &code, &offset,
	                              context);
	if (pattern->code)
		return pattern;
	error_set(error, ERROR_LIMIT, "is a regular expression that is too large");
	return NULL;
}

const struct pattern *pattern_compile(struct arena *arena, const char *text, size_t length, struct error *error)
{
	if (length > PATTERN_MAX_LENGTH) {
		error_set(error, ERROR_LIMIT, "is a regular expression of %zu bytes, more than %d", length,
		          PATTERN_MAX_LENGTH);
		return NULL;
	}
	struct reader reader = {.text = text, .length = length, .group_repeats = {1}, .error = error};
	const struct pattern *pattern = translate(&reader) ? compile(arena, &reader.out, error) : NULL;
	buffer_free(&reader.out);
	return pattern;
}

enum pattern_result pattern_match(const struct pattern *pattern, const char *text, size_t length)
{
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int result = PCRE2_ERROR_NOMEMORY;
	if (context && data) {
		pcre2_set_match_limit(context, MATCH_LIMIT);
		pcre2_set_depth_limit(context, DEPTH_LIMIT);
		pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
		result = pcre2_match(pattern->code, (PCRE2_SPTR)text, length, 0, 0, data, context);
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	if (result == PCRE2_ERROR_NOMATCH)
		return PATTERN_NO;
	return result >= 0 ? PATTERN_YES : PATTERN_UNDECIDED;
}
