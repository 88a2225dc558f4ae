/* Deep equality of values, without regard to the order of map keys and without quadratic lookups. */
#include "base/arena.h"
#include "object/doc_internal.h"

#include <stdlib.h>
#include <string.h>

static bool numbers_equal(yyjson_val *a, yyjson_val *b)
{
	if (yyjson_is_real(a) || yyjson_is_real(b))
		return yyjson_get_num(a) == yyjson_get_num(b);
	if (yyjson_is_uint(a) != yyjson_is_uint(b)) /* a signed one is negative, or equal to the unsigned one's bits */
		return unsafe_yyjson_get_sint(a) == unsafe_yyjson_get_sint(b) && unsafe_yyjson_get_sint(a) >= 0;
	return unsafe_yyjson_get_uint(a) == unsafe_yyjson_get_uint(b);
}

static int compare_keys(yyjson_val *a, yyjson_val *b)
{
	size_t a_length = unsafe_yyjson_get_len(a), b_length = unsafe_yyjson_get_len(b);
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return memcmp(unsafe_yyjson_get_str(a), unsafe_yyjson_get_str(b), a_length);
}

static int by_key(const void *a, const void *b)
{
	return compare_keys(*(yyjson_val *const *)a, *(yyjson_val *const *)b);
}

static yyjson_val **sorted_keys(yyjson_val *map, size_t count)
{
	yyjson_val **keys = base_realloc_array(NULL, count, sizeof(yyjson_val *));
	yyjson_val *key = unsafe_yyjson_get_first(map);
	for (size_t i = 0; i < count; i++) {
		keys[i] = key;
		key = unsafe_yyjson_get_next(key + 1);
	}
	qsort(keys, count, sizeof(yyjson_val *), by_key);
	return keys;
}

static bool equal(yyjson_val *a, yyjson_val *b);

static bool maps_equal_sorted(yyjson_val *a, yyjson_val *b, size_t count)
{
	yyjson_val **a_keys = sorted_keys(a, count), **b_keys = sorted_keys(b, count);
	bool same = true;
	for (size_t i = 0; i < count && same; i++)
		same = compare_keys(a_keys[i], b_keys[i]) == 0 && equal(a_keys[i] + 1, b_keys[i] + 1);
	free(a_keys);
	free(b_keys);
	return same;
}

/* Maps that were written by the same program have the same order: try that before sorting. */
static bool maps_equal(yyjson_val *a, yyjson_val *b)
{
	size_t count = unsafe_yyjson_get_len(a);
	if (count != unsafe_yyjson_get_len(b))
		return false;
	yyjson_val *x = unsafe_yyjson_get_first(a), *y = unsafe_yyjson_get_first(b);
	bool ordered = true;
	for (size_t i = 0; i < count && ordered; i++) {
		ordered = compare_keys(x, y) == 0;
		x = unsafe_yyjson_get_next(x + 1);
		y = unsafe_yyjson_get_next(y + 1);
	}
	if (!ordered)
		return maps_equal_sorted(a, b, count);
	x = unsafe_yyjson_get_first(a);
	y = unsafe_yyjson_get_first(b);
	for (size_t i = 0; i < count; i++) {
		if (!equal(x + 1, y + 1))
			return false;
		x = unsafe_yyjson_get_next(x + 1);
		y = unsafe_yyjson_get_next(y + 1);
	}
	return true;
}

static bool lists_equal(yyjson_val *a, yyjson_val *b)
{
	size_t count = unsafe_yyjson_get_len(a);
	if (count != unsafe_yyjson_get_len(b))
		return false;
	yyjson_val *x = unsafe_yyjson_get_first(a), *y = unsafe_yyjson_get_first(b);
	for (size_t i = 0; i < count; i++) {
		if (!equal(x, y))
			return false;
		x = unsafe_yyjson_get_next(x);
		y = unsafe_yyjson_get_next(y);
	}
	return true;
}

/* Recursion is bounded by DOC_MAX_DEPTH. */
static bool equal(yyjson_val *a, yyjson_val *b)
{
	yyjson_type type = unsafe_yyjson_get_type(a);
	if (type != unsafe_yyjson_get_type(b))
		return false;
	switch (type) {
	case YYJSON_TYPE_BOOL:
		return unsafe_yyjson_get_bool(a) == unsafe_yyjson_get_bool(b);
	case YYJSON_TYPE_NUM:
		return numbers_equal(a, b);
	case YYJSON_TYPE_RAW:
	case YYJSON_TYPE_STR:
		return compare_keys(a, b) == 0;
	case YYJSON_TYPE_ARR:
		return lists_equal(a, b);
	case YYJSON_TYPE_OBJ:
		return maps_equal(a, b);
	default:
		return true;
	}
}

bool val_equal(const struct val *a, const struct val *b)
{
	bool a_null = val_kind(a) == VAL_NULL, b_null = val_kind(b) == VAL_NULL;
	if (a_null || b_null)
		return a_null && b_null;
	return a == b || equal(val_json(a), val_json(b));
}
