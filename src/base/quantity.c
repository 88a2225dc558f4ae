/* Quantities: exact decimal arithmetic on the digits as written, however many there are, into one int64. */
#include "base/quantity.h"

#include "base/strings.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* Exponents beyond this give overflow or a value rounded up to 1 whatever the digits are. */
#define EXPONENT_CLAMP ((int64_t)1 << 40)
#define SHOWN_LENGTH 64
#define NANO 1000000000

typedef unsigned __int128 wide;

/* What the text says: digits (one point may stand among them) times 10^exponent times 2^binary. */
struct number {
	const char *digits;
	size_t length; /* characters in digits, the point included */
	size_t point;  /* digits before the point */
	size_t digit_count;
	bool negative;
	int64_t exponent;
	unsigned binary;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t scan_mantissa(const char *text, size_t length, struct number *number)
{
	size_t at = 0;
	if (at < length && (text[at] == '+' || text[at] == '-'))
		number->negative = text[at++] == '-';
	number->digits = text + at;
	size_t start = at;
	bool point = false;
	for (; at < length && (is_digit(text[at]) || (text[at] == '.' && !point)); at++) {
		if (text[at] == '.') {
			point = true;
			number->point = number->digit_count;
		} else {
			number->digit_count++;
		}
	}
	if (!point)
		number->point = number->digit_count;
	number->length = at - start;
	return at;
}

/* "e3", "E-2", ...: false when the exponent has no digits or something follows them. */
static bool scan_exponent(const char *text, size_t length, struct number *number)
{
	size_t at = 1;
	bool negative = false;
	if (at < length && (text[at] == '+' || text[at] == '-'))
		negative = text[at++] == '-';
	if (at == length)
		return false;
	int64_t exponent = 0;
	for (; at < length; at++) {
		if (!is_digit(text[at]))
			return false;
		if (exponent < EXPONENT_CLAMP)
			exponent = exponent * 10 + (text[at] - '0');
	}
	number->exponent = negative ? -exponent : exponent;
	return true;
}

static bool scan_suffix(const char *text, size_t length, struct number *number)
{
	static const struct {
		char text[3];
		int8_t exponent;
		uint8_t binary;
	} suffixes[] = {
		{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
		{"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
		{"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
	};
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strlen(suffixes[i].text) == length && memcmp(suffixes[i].text, text, length) == 0) {
			number->exponent = suffixes[i].exponent;
			number->binary = suffixes[i].binary;
			return true;
		}
	}
	return (text[0] == 'e' || text[0] == 'E') && scan_exponent(text, length, number);
}

/* The digits left of the point after it moved to `point`, times 2^binary. False on overflow. */
static bool whole_part(const struct number *number, int64_t point, wide *whole)
{
	wide value = 0;
	size_t at = 0;
	for (int64_t i = 0; i < point; i++) {
		while (at < number->length && number->digits[at] == '.')
			at++;
		if (at >= number->length && value == 0)
			break; /* only zeros: the rest of the point's way adds nothing */
		wide digit = at < number->length ? (wide)(number->digits[at++] - '0') : 0;
		if (__builtin_mul_overflow(value, (wide)10, &value) || __builtin_add_overflow(value, digit, &value))
			return false;
	}
	return !__builtin_mul_overflow(value, (wide)1 << number->binary, whole);
}

/* The digits right of the point, times 2^binary: a schoolbook multiplication from the last digit to the first keeps
 * only the carry (which ends as the whole part of the product) and whether any remaining digit is not zero. */
static uint64_t fraction_part(const struct number *number, int64_t point, bool *rest)
{
	uint64_t carry = 0;
	int64_t index = (int64_t)number->digit_count - 1;
	for (size_t at = number->length; at-- > 0 && index >= point && index >= 0;) {
		if (number->digits[at] == '.')
			continue;
		uint64_t product = ((uint64_t)(number->digits[at] - '0') << number->binary) + carry;
		*rest |= product % 10 != 0;
		carry = product / 10;
		index--;
	}
	for (int64_t i = point; i < 0 && carry; i++) {
		*rest |= carry % 10 != 0;
		carry /= 10;
	}
	return carry;
}

static int parse_failed(struct error *error, enum error_code code, const char *text, size_t length, const char *why)
{
	int shown = length > SHOWN_LENGTH ? SHOWN_LENGTH : (int)length;
	return error_set(error, code, "quantity \"%.*s\"%s %s", shown, text, length > SHOWN_LENGTH ? "..." : "", why);
}

/* The value times 10^shift, rounded away from zero. Returns -1 with *error set unless it is at most `most`. */
static int parse_scaled(const char *text, size_t length, int shift, wide most, const char *too_large,
                        struct number *number, wide *value, struct error *error)
{
	size_t used = scan_mantissa(text, length, number);
	/* Kubernetes reads a suffix without digits as none of it. */
	if (length == 0 || !scan_suffix(text + used, length - used, number))
		return parse_failed(error, ERROR_SYNTAX, text, length,
		                    "is not a number with an optional suffix such as 500m, 2, 1.5Gi or 1e3");
	int64_t point = (int64_t)number->point + number->exponent + shift;
	wide whole, total = 0;
	bool rest = false;
	bool fits = whole_part(number, point, &whole);
	if (fits)
		fits = !__builtin_add_overflow(whole, (wide)fraction_part(number, point, &rest), &total);
	if (fits)
		fits = !__builtin_add_overflow(total, (wide)rest, &total);
	if (!fits || total > most)
		return parse_failed(error, ERROR_RANGE, text, length, too_large);
	*value = total;
	return 0;
}

int quantity_parse(const char *text, size_t length, enum quantity_scale scale, int64_t *value, struct error *error)
{
	struct number number = {0};
	wide total = 0;
	/* The lowest int64 has no positive counterpart and nobody needs it: the range is symmetric. */
	if (parse_scaled(text, length, scale == QUANTITY_MILLI ? 3 : 0, INT64_MAX,
	                 scale == QUANTITY_MILLI ? "is too large (the limit is 9223372036854775.807)"
	                                         : "is too large (the limit is 9223372036854775807)",
	                 &number, &total, error))
		return -1;
	*value = number.negative ? -(int64_t)total : (int64_t)total;
	return 0;
}

int quantity_parse_exact(const char *text, size_t length, struct quantity *value, struct error *error)
{
	struct number number = {0};
	wide total = 0;
	if (parse_scaled(text, length, 9, (wide)INT64_MAX * NANO, "is too large (the limit is 9223372036854775807)",
	                 &number, &total, error))
		return -1;
	int64_t whole = (int64_t)(total / NANO), nano = (int64_t)(total % NANO);
	bool borrows = number.negative && nano;
	value->whole = (number.negative ? -whole : whole) - borrows;
	value->nano = (int32_t)(borrows ? NANO - nano : nano);
	return 0;
}

int quantity_compare(struct quantity a, struct quantity b)
{
	if (a.whole != b.whole)
		return a.whole < b.whole ? -1 : 1;
	return (a.nano > b.nano) - (a.nano < b.nano);
}

enum quantity_scale quantity_scale_of(const char *resource_name)
{
	return text_equal(resource_name, "cpu") ? QUANTITY_MILLI : QUANTITY_UNITS;
}

static bool counts_bytes(const char *resource_name)
{
	return resource_name && (strstr(resource_name, "memory") || strstr(resource_name, "storage") ||
	                         text_starts_with(resource_name, "hugepages-"));
}

const char *quantity_print(struct arena *arena, const char *resource_name, int64_t value)
{
	if (quantity_scale_of(resource_name) == QUANTITY_MILLI) {
		if (value % 1000 == 0)
			return arena_printf(arena, "%" PRId64, value / 1000);
		return arena_printf(arena, "%" PRId64 "m", value);
	}
	static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	size_t suffix = 0;
	if (counts_bytes(resource_name))
		for (; value != 0 && value % 1024 == 0 && suffix < 6; suffix++)
			value /= 1024;
	return arena_printf(arena, "%" PRId64 "%s", value, suffixes[suffix]);
}
