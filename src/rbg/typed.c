/* Owns the form of specs that typed clients write. What such a client leaves out, or puts in though nobody wrote it, follows
 * from the types of the fields; here it is said by their names, which are the same wherever they occur. */
#include "rbg/typed.h"

#include "object/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALPHABET "bcdfghjklmnpqrstvwxz2456789"

/* ---- hashes ---- */

const char *typed_hash_name(uint32_t hash, struct arena *arena)
{
	char *text = arena_printf(arena, "%u", hash);
	for (char *at = text; *at; at++)
		*at = ALPHABET[(unsigned char)*at % (sizeof(ALPHABET) - 1)];
	return text;
}

uint32_t typed_fnv1a(uint32_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619U;
	return hash;
}

static uint32_t fnv1(uint32_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash * 16777619U) ^ (unsigned char)text[i];
	return hash;
}

uint32_t typed_fnv1(const struct buffer *text, int attempt)
{
	char number[16];
	int length = snprintf(number, sizeof(number), "%d", attempt);
	return fnv1(fnv1(TYPED_FNV, text->text, text->length), number, (size_t)length);
}

/* ---- scalars ---- */

/* As it is, with the characters that a page of HTML would read escaped. */
static void write_scalar(const struct val *val, struct buffer *out)
{
	struct buffer plain = {0};
	val_write(val, DOC_JSON_COMPACT, &plain);
	for (size_t i = 0; i < plain.length; i++) {
		char c = plain.text[i];
		if (c == '<' || c == '>' || c == '&')
			buffer_printf(out, "\\u%04x", (unsigned)c);
		else
			buffer_printf(out, "%c", c);
	}
	buffer_free(&plain);
}

/* A decimal amount of whole digits times a power of ten, with the largest suffix that leaves it whole. */
static bool write_decimal(__int128 digits, int power, struct buffer *out)
{
	static const char *const suffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
	for (; digits != 0 && digits % 10 == 0; power++)
		digits /= 10;
	int step = digits == 0 ? 0 : power >= 0 ? power / 3 : -((2 - power) / 3);
	if (step > 6)
		step = 6;
	if (step < -3)
		return false;
	for (; digits != 0 && power > 3 * step; power--)
		digits *= 10;
	if (digits > INT64_MAX)
		return false;
	buffer_printf(out, "\"%lld%s\"", (long long)digits, suffixes[step + 3]);
	return true;
}

static bool write_binary(__int128 digits, int power, int step, struct buffer *out)
{
	static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	for (; power < 0 && digits % 10 == 0; power++)
		digits /= 10;
	for (; power < 0 && step > 0; step--) {
		digits *= 1024;
		for (; power < 0 && digits % 10 == 0; power++)
			digits /= 10;
	}
	for (; digits != 0 && digits % 1024 == 0 && step < 6; step++)
		digits /= 1024;
	if (power < 0 || digits > INT64_MAX)
		return false;
	buffer_printf(out, "\"%lld%s\"", (long long)digits, digits ? suffixes[step] : "");
	return true;
}

static void write_quantity(const struct val *val, struct buffer *out)
{
	static const char decimal[] = "num kMGTPE", binary[] = "KMGTPE";
	char scratch[64];
	const char *text = val_scalar_text(val, scratch), *at = text ? text : "";
	__int128 digits = 0;
	int power = 0;
	bool has_point = false;
	for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++) {
		if (*at == '.') {
			has_point = true;
			continue;
		}
		digits = digits * 10 + (*at - '0');
		power -= has_point;
		if (digits > (__int128)1 << 80)
			break;
	}
	const char *known = *at ? strchr(*at && at[1] == 'i' ? binary : decimal, *at) : NULL;
	bool done = at > (text ? text : at) && at != text;
	if (done && !*at)
		done = write_decimal(digits, power, out);
	else if (done && known && *known != ' ' && !at[1])
		done = write_decimal(digits, power + 3 * ((int)(known - decimal) - 3), out);
	else if (done && known && at[1] == 'i' && !at[2])
		done = write_binary(digits, power, (int)(known - binary) + 1, out);
	else
		done = false;
	if (!done)
		write_scalar(val, out);
}

/* ---- fields ---- */

static bool is_among(const char *key, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(key, *list) == 0)
			return true;
	return false;
}

/* Empty maps of texts, numbers that are zero and false are left out where their type cannot tell them from nothing. */
static bool says_nothing(const char *key, const struct val *val)
{
	static const char *const maps[] = {"labels",      "annotations", "nodeSelector", "limits", "requests",
	                                   "matchLabels", "overhead",    "data",         NULL};
	static const char *const flags[] = {"hostNetwork", "hostPID",  "hostIPC", "stdin",  "stdinOnce",
	                                    "tty",         "readOnly", "paused",  "enable", NULL};
	static const char *const numbers[] = {"hostPort",         "initialDelaySeconds",
	                                      "timeoutSeconds",   "periodSeconds",
	                                      "successThreshold", "failureThreshold",
	                                      "minReadySeconds",  "gracePeriodSeconds",
	                                      "nodePort",         NULL};
	int64_t number;
	switch (val_kind(val)) {
	case VAL_NULL:
		return true;
	case VAL_STRING:
		return !*val_str(val, "") && strcmp(key, "name") != 0;
	case VAL_LIST:
		return val_count(val) == 0;
	case VAL_MAP:
		return val_count(val) == 0 && is_among(key, maps);
	case VAL_BOOL:
		return !val_bool(val, true) && is_among(key, flags);
	default:
		return val_int(val, &number) == 0 && number == 0 && is_among(key, numbers);
	}
}

/* What the value below a key is; items of a list are what the list is named for. */
static enum typed_kind kind_below(enum typed_kind kind, const char *key)
{
	static const struct {
		const char *key;
		enum typed_kind kind;
	} kinds[] = {
		{"labels", TYPED_TEXTS},
		{"annotations", TYPED_TEXTS},
		{"nodeSelector", TYPED_TEXTS},
		{"matchLabels", TYPED_TEXTS},
		{"patch", TYPED_TEXTS},
		{"leaderTemplatePatch", TYPED_TEXTS},
		{"workerTemplatePatch", TYPED_TEXTS},
		{"limits", TYPED_QUANTITIES},
		{"requests", TYPED_QUANTITIES},
		{"overhead", TYPED_QUANTITIES},
		{"containers", TYPED_CONTAINER},
		{"initContainers", TYPED_CONTAINER},
		{"ephemeralContainers", TYPED_CONTAINER},
		{"resourceFieldRef", TYPED_DIVISOR},
		{"volumeClaimTemplate", TYPED_CLAIM},
		{"servicePorts", TYPED_PORT},
		{"rolloutStrategy", TYPED_STRATEGY},
	};
	if (kind == TYPED_TEXTS)
		return TYPED_TEXTS;
	if (kind == TYPED_CLAIM && strcmp(key, "spec") == 0)
		return TYPED_CLAIM_SPEC;
	if (strcmp(key, "template") == 0)
		return kind == TYPED_COMPONENT ? TYPED_NEW_TEMPLATE : TYPED_TEMPLATE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(key, kinds[i].key) == 0)
			return kinds[i].kind;
	return TYPED_FIELDS;
}

struct field {
	const char *key;
	const struct val *val;
	const char *text; /* instead of a value */
};

static int compare_fields(const void *left, const void *right)
{
	return strcmp(((const struct field *)left)->key, ((const struct field *)right)->key);
}

/* Fields that are there in any case, and with `wins` whatever was written. */
static const struct forced {
	enum typed_kind kind;
	const char *key, *text;
	bool wins;
} forced[] = {
	{TYPED_TEMPLATE, "metadata", "{}", false},
	{TYPED_NEW_TEMPLATE, "metadata", "{}", false},
	{TYPED_NEW_TEMPLATE, "$patch", "\"replace\"", true},
	{TYPED_INSTANCE, "$patch", "\"replace\"", true},
	{TYPED_CONTAINER, "resources", "{}", false},
	{TYPED_DIVISOR, "divisor", "\"0\"", false},
	{TYPED_CLAIM, "metadata", "{}", false},
	{TYPED_CLAIM_SPEC, "resources", "{}", false},
	{TYPED_PORT, "targetPort", "0", false},
	{TYPED_STRATEGY, "type", "\"\"", false},
	{TYPED_ROLE, "replicas", "null", true},
	{TYPED_COMPONENT, "serviceName", "null", false},
	{TYPED_COMPONENT, "size", NULL, true},
};

static size_t collect(const struct val *map, enum typed_kind kind, struct field *fields)
{
	const size_t most = sizeof(forced) / sizeof(forced[0]);
	const char *key;
	const struct val *item;
	size_t count = 0;
	for (struct val_iter it = val_iter(map); val_next(&it, &key, &item);) {
		bool is_taken = kind != TYPED_TEXTS && kind != TYPED_QUANTITIES && says_nothing(key, item);
		for (size_t i = 0; i < most && !is_taken; i++)
			is_taken = forced[i].kind == kind && forced[i].wins && strcmp(forced[i].key, key) == 0;
		if (!is_taken)
			fields[count++] = (struct field){key, item, NULL};
	}
	size_t own = count;
	for (size_t i = 0; i < most; i++) {
		bool is_there = forced[i].kind != kind || !forced[i].text;
		for (size_t k = 0; k < own && !is_there; k++)
			is_there = strcmp(fields[k].key, forced[i].key) == 0;
		if (!is_there)
			fields[count++] = (struct field){forced[i].key, NULL, forced[i].text};
	}
	qsort(fields, count, sizeof(*fields), compare_fields);
	return count;
}

static void write_map(const struct val *map, enum typed_kind kind, struct buffer *out)
{
	struct field *fields = base_malloc((val_count(map) + 4) * sizeof(*fields));
	size_t count = collect(map, kind, fields);
	buffer_puts(out, "{");
	for (size_t i = 0; i < count; i++) {
		buffer_puts(out, i ? "," : "");
		json_quote(out, fields[i].key);
		buffer_puts(out, ":");
		if (fields[i].text)
			buffer_puts(out, fields[i].text);
		else if (kind == TYPED_QUANTITIES || (kind == TYPED_DIVISOR && strcmp(fields[i].key, "divisor") == 0))
			write_quantity(fields[i].val, out);
		else
			typed_write(fields[i].val, kind_below(kind, fields[i].key), out);
	}
	buffer_puts(out, "}");
	free(fields);
}

void typed_write(const struct val *val, enum typed_kind kind, struct buffer *out)
{
	const struct val *item;
	size_t index = 0;
	if (val_kind(val) == VAL_MAP) {
		write_map(val, kind, out);
		return;
	}
	if (val_kind(val) != VAL_LIST) {
		write_scalar(val, out);
		return;
	}
	buffer_puts(out, "[");
	for (struct val_iter it = val_iter(val); val_next(&it, NULL, &item); index++) {
		buffer_puts(out, index ? "," : "");
		typed_write(item, kind, out);
	}
	buffer_puts(out, "]");
}
