/* Matching of labels, selectors, taints and tolerations with the meaning Kubernetes gives them. */
#include "base/labels.h"

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

void labels_sort(struct labels *labels)
{
	if (labels->count > 1)
		qsort(labels->items, labels->count, sizeof(*labels->items), by_key);
}

const char *labels_get(const struct labels *labels, const char *key)
{
	if (!labels || !key)
		return NULL;
	size_t low = 0, high = labels->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(labels->items[middle].key, key);
		if (order == 0)
			return labels->items[middle].value;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool among(const struct match *match, const char *value)
{
	for (size_t i = 0; i < match->value_count; i++)
		if (text_equal(match->values[i], value))
			return true;
	return false;
}

/* Decimal with an optional sign and nothing else; strtoll would let spaces and rubbish pass. */
static bool parse_integer(const char *text, int64_t *out)
{
	bool negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (!*text)
		return false;
	int64_t value = 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		int digit = *text - '0';
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, negative ? -digit : digit, &value))
			return false;
	}
	*out = value;
	return true;
}

static bool compares(const struct match *match, const char *value)
{
	int64_t have, bound;
	if (!value || match->value_count != 1 || !match->values[0])
		return false;
	if (!parse_integer(value, &have) || !parse_integer(match->values[0], &bound))
		return false;
	return match->op == MATCH_GT ? have > bound : have < bound;
}

bool match_labels(const struct match *match, const struct labels *labels, const char *object_name)
{
	const char *value = match->field_name ? object_name : labels_get(labels, match->key);
	switch (match->op) {
	case MATCH_IN:
		return value && among(match, value);
	case MATCH_NOT_IN: /* an absent label is in no set */
		return !value || !among(match, value);
	case MATCH_EXISTS:
		return value;
	case MATCH_NOT_EXISTS:
		return !value;
	case MATCH_GT:
	case MATCH_LT:
		return compares(match, value);
	}
	return false;
}

bool selector_matches(const struct selector *selector, const struct labels *labels, const char *object_name)
{
	for (size_t i = 0; i < selector->count; i++)
		if (!match_labels(&selector->items[i], labels, object_name))
			return false;
	return true;
}

static bool tolerates(const struct toleration *toleration, const struct taint *taint)
{
	if (!toleration->any_effect && toleration->effect != taint->effect)
		return false;
	if (toleration->key && *toleration->key && !text_equal(toleration->key, taint->key))
		return false;
	if (toleration->exists)
		return true;
	if (toleration->compares) {
		int64_t ours, theirs;
		return toleration->value && parse_integer(toleration->value, &ours) && taint->value &&
		       parse_integer(taint->value, &theirs) &&
		       (toleration->compares > 0 ? theirs > ours : theirs < ours);
	}
	/* An unset value and an empty one are the same on both sides. */
	return text_equal(toleration->value ? toleration->value : "", taint->value ? taint->value : "");
}

bool taint_tolerated(const struct taint *taint, const struct toleration *tolerations, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tolerates(&tolerations[i], taint))
			return true;
	return false;
}
