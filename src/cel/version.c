/* Semantic versions. */
#include "cel/cel.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static size_t index_of(struct cel_text text, char c)
{
	const char *found = text.length ? memchr(text.text, c, text.length) : NULL;
	return found ? (size_t)(found - text.text) : text.length;
}

static struct cel_text slice(struct cel_text text, size_t from, size_t to)
{
	return (struct cel_text){text.text + from, to - from};
}

static bool all_digits(struct cel_text text)
{
	for (size_t i = 0; i < text.length; i++)
		if (!is_digit(text.text[i]))
			return false;
	return text.length > 0;
}

/* A number that fits 64 bits; leading zeros only where they are forgiven. */
static bool parse_number(struct cel_text text, bool lenient, uint64_t *number)
{
	if (!all_digits(text) || (!lenient && text.length > 1 && text.text[0] == '0'))
		return false;
	*number = 0;
	for (size_t i = 0; i < text.length; i++)
		if (__builtin_mul_overflow(*number, (uint64_t)10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(text.text[i] - '0'), number))
			return false;
	return true;
}

/* Cuts the first identifier off a list with dots; false at the end. */
static bool next_identifier(struct cel_text *list, bool *more, struct cel_text *identifier)
{
	if (!*more)
		return false;
	size_t dot = index_of(*list, '.');
	*identifier = slice(*list, 0, dot);
	*more = dot < list->length;
	*list = slice(*list, *more ? dot + 1 : dot, list->length);
	return true;
}

static bool identifiers_are_valid(struct cel_text list, bool numbers_are_plain)
{
	struct cel_text identifier;
	uint64_t number;
	for (bool more = true; next_identifier(&list, &more, &identifier);) {
		if (identifier.length == 0)
			return false;
		for (size_t i = 0; i < identifier.length; i++)
			if (!is_word(identifier.text[i]))
				return false;
		if (numbers_are_plain && all_digits(identifier) && !parse_number(identifier, false, &number))
			return false;
	}
	return true;
}

/* "3-rc.1+build" after major and minor. */
static bool parse_patch(struct cel_text text, bool lenient, struct cel_version *version)
{
	bool left_out = lenient && text.length > 1 && !is_digit(text.text[0]); /* "1.2.-rc" */
	size_t plus = index_of(text, '+');
	if (plus < text.length && !identifiers_are_valid(slice(text, plus + 1, text.length), false))
		return false;
	text = slice(text, 0, plus);
	size_t minus = index_of(text, '-');
	if (minus < text.length) {
		version->before = slice(text, minus + 1, text.length);
		if (!identifiers_are_valid(version->before, true))
			return false;
	}
	return (left_out && minus == 0) || parse_number(slice(text, 0, minus), lenient, &version->patch);
}

bool cel_version_parse(struct cel_text text, bool lenient, struct cel_version *version)
{
	*version = (struct cel_version){0};
	if (lenient && text.length && text.text[0] == 'v')
		text = slice(text, 1, text.length);
	size_t dot = index_of(text, '.');
	if (!parse_number(slice(text, 0, dot), lenient, &version->major))
		return false;
	if (dot == text.length)
		return lenient;
	text = slice(text, dot + 1, text.length);
	dot = index_of(text, '.');
	if (!parse_number(slice(text, 0, dot), lenient, &version->minor))
		return false;
	if (dot == text.length)
		return lenient;
	return parse_patch(slice(text, dot + 1, text.length), lenient, version);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_identifiers(struct cel_text a, struct cel_text b)
{
	bool a_number = all_digits(a), b_number = all_digits(b);
	if (a_number != b_number)
		return a_number ? -1 : 1;
	if (a_number) {
		uint64_t left = 0, right = 0;
		parse_number(a, true, &left);
		parse_number(b, true, &right);
		return compare_numbers(left, right);
	}
	int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
	return order ? (order > 0) - (order < 0) : compare_numbers(a.length, b.length);
}

int cel_version_compare(const struct cel_version *a, const struct cel_version *b)
{
	int order = compare_numbers(a->major, b->major);
	if (order == 0)
		order = compare_numbers(a->minor, b->minor);
	if (order == 0)
		order = compare_numbers(a->patch, b->patch);
	if (order)
		return order;
	if (a->before.length == 0 || b->before.length == 0)
		return (a->before.length == 0) - (b->before.length == 0);
	struct cel_text left = a->before, right = b->before, one, other;
	bool left_more = true, right_more = true;
	while (left_more && right_more) {
		next_identifier(&left, &left_more, &one);
		next_identifier(&right, &right_more, &other);
		order = compare_identifiers(one, other);
		if (order)
			return order;
	}
	return left_more - right_more;
}
