/* The scalar table of YAML 1.1 as kubectl applies it. Times and base-60 numbers stay strings. */
#include "object/yaml_scalar.h"

#include <inttypes.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static enum yaml_scalar resolve_word(const char *text, size_t length)
{
	static const struct {
		char text[6];
		uint8_t kind;
	} words[] = {
		{"~", YAML_NULL},           {"null", YAML_NULL},        {"Null", YAML_NULL},
		{"NULL", YAML_NULL},        {"true", YAML_TRUE},        {"True", YAML_TRUE},
		{"TRUE", YAML_TRUE},        {"yes", YAML_TRUE},         {"Yes", YAML_TRUE},
		{"YES", YAML_TRUE},         {"on", YAML_TRUE},          {"On", YAML_TRUE},
		{"ON", YAML_TRUE},          {"false", YAML_FALSE},      {"False", YAML_FALSE},
		{"FALSE", YAML_FALSE},      {"no", YAML_FALSE},         {"No", YAML_FALSE},
		{"NO", YAML_FALSE},         {"off", YAML_FALSE},        {"Off", YAML_FALSE},
		{"OFF", YAML_FALSE},        {".inf", YAML_NOT_FINITE},  {".Inf", YAML_NOT_FINITE},
		{".INF", YAML_NOT_FINITE},  {"+.inf", YAML_NOT_FINITE}, {"+.Inf", YAML_NOT_FINITE},
		{"+.INF", YAML_NOT_FINITE}, {"-.inf", YAML_NOT_FINITE}, {"-.Inf", YAML_NOT_FINITE},
		{"-.INF", YAML_NOT_FINITE}, {".nan", YAML_NOT_FINITE},  {".NaN", YAML_NOT_FINITE},
		{".NAN", YAML_NOT_FINITE},  {"y", YAML_TRUE},           {"Y", YAML_TRUE},
		{"n", YAML_FALSE},          {"N", YAML_FALSE},
	};
	if (length > 5)
		return YAML_STRING;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].text) == length && memcmp(words[i].text, text, length) == 0)
			return (enum yaml_scalar)words[i].kind;
	return YAML_STRING;
}

/* All of the text as an unsigned number of the base; false when a digit is wrong, missing, or the number too large. */
static bool parse_base(const char *text, unsigned base, uint64_t *out)
{
	uint64_t value = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		char lower = (char)(*text | 0x20);
		unsigned digit = is_digit(*text)                ? (unsigned)(*text - '0')
		                 : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10
		                                                : base;
		if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*out = value;
	return true;
}

/* 0x 0o 0b and the plain leading zero. `text` is without sign and underscores. */
static bool parse_prefixed(const char *text, bool negative, struct buffer *number)
{
	uint64_t value;
	if (text[0] != '0' || !text[1])
		return false;
	char letter = (char)(text[1] | 0x20);
	unsigned base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
	if (!parse_base(text + (base ? 2 : 1), base ? base : 8, &value))
		return false;
	if (negative && value > (uint64_t)INT64_MAX + 1)
		return false;
	buffer_printf(number, "%s%" PRIu64, negative && value ? "-" : "", value);
	return true;
}

/* Decimal digits with an optional fraction and exponent, written again the way JSON wants it. */
static enum yaml_scalar parse_decimal(const char *text, bool negative, struct buffer *number)
{
	size_t whole = strspn(text, "0123456789");
	const char *rest = text + whole;
	size_t fraction = 0;
	if (*rest == '.') {
		fraction = strspn(rest + 1, "0123456789");
		rest += 1 + fraction;
	}
	bool integer = rest == text + whole;
	if (whole + fraction == 0)
		return YAML_STRING;
	const char *exponent = rest;
	if (*rest == 'e' || *rest == 'E') {
		rest++;
		rest += *rest == '+' || *rest == '-';
		size_t digits = strspn(rest, "0123456789");
		if (digits == 0)
			return YAML_STRING;
		rest += digits;
		integer = false;
	}
	if (*rest)
		return YAML_STRING;
	size_t zeros = strspn(text, "0");
	if (zeros > whole)
		zeros = whole;
	if (zeros == whole && integer)
		negative = false; /* an integer has no negative zero */
	buffer_puts(number, negative ? "-" : "");
	if (zeros == whole)
		buffer_puts(number, "0");
	buffer_append(number, text + zeros, whole - zeros);
	if (fraction) {
		buffer_puts(number, ".");
		buffer_append(number, text + whole + 1, fraction);
	}
	buffer_append(number, exponent, (size_t)(rest - exponent));
	return integer ? YAML_INTEGER : YAML_FLOAT;
}

static enum yaml_scalar resolve_number(const char *text, size_t length, struct buffer *number)
{
	bool negative = *text == '-', strict = *text == '.'; /* kubectl reads 1_.5 and .5_5 but not .5_ */
	if (*text == '-' || *text == '+') {
		text++;
		length--;
	}
	struct buffer digits = {0};
	buffer_puts(&digits, "");
	bool fits = length > 0;
	for (size_t i = 0; i < length && fits; i++) {
		bool between = i > 0 && is_digit(text[i - 1]) && i + 1 < length && is_digit(text[i + 1]);
		if (text[i] == '_' && (between || !strict))
			continue;
		fits = text[i] && (is_digit(text[i]) || strchr("+-.abcdefABCDEFxXoO", text[i]));
		buffer_append(&digits, text + i, 1);
	}
	enum yaml_scalar kind = YAML_STRING;
	if (fits)
		kind = parse_prefixed(digits.text, negative, number) ? YAML_INTEGER
		                                                     : parse_decimal(digits.text, negative, number);
	buffer_free(&digits);
	return kind;
}

enum yaml_scalar yaml_scalar_resolve(const char *text, size_t length, struct buffer *number)
{
	number->length = 0;
	if (length == 0)
		return YAML_NULL;
	if (strchr("~nNtTfFyYoO.+-", *text)) {
		enum yaml_scalar kind = resolve_word(text, length);
		if (kind != YAML_STRING)
			return kind;
	}
	if (is_digit(*text) || *text == '.' || *text == '+' || *text == '-')
		return resolve_number(text, length, number);
	return YAML_STRING;
}
