/* System and virtual clocks, and the two time formats Kubernetes objects use. */
#include "base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_SECONDS 86400

static int64_t system_now(const struct clock_source *clock)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * CLOCK_SECOND + now.tv_nsec;
}

static int64_t system_steady(const struct clock_source *clock)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * CLOCK_SECOND + now.tv_nsec;
}

const struct clock_source *clock_system(void)
{
	static const struct clock_source source = {.now_ns = system_now, .steady_ns = system_steady};
	return &source;
}

static int64_t virtual_now(const struct clock_source *clock)
{
	return ((const struct clock_virtual *)clock)->now;
}

void clock_virtual_init(struct clock_virtual *clock, int64_t start_ns)
{
	*clock = (struct clock_virtual){.source = {.now_ns = virtual_now}, .now = start_ns};
}

void clock_virtual_advance(struct clock_virtual *clock, int64_t ns)
{
	if (__builtin_add_overflow(clock->now, ns, &clock->now))
		clock->now = ns > 0 ? INT64_MAX : INT64_MIN;
}

int64_t clock_now(const struct clock_source *clock)
{
	return clock->now_ns(clock);
}

int64_t clock_steady(const struct clock_source *clock)
{
	return clock->steady_ns ? clock->steady_ns(clock) : clock_now(clock);
}

int64_t clock_seconds(const struct clock_source *clock)
{
	return clock_now(clock) / CLOCK_SECOND;
}

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar. Years begin in March, so that the leap day is
 * the last of its year and month lengths follow one formula. */
static int64_t days_of(int64_t year, int month, int day)
{
	if (month <= 2) {
		year--;
		month += 12;
	}
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month - 3) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t day_of_era = days - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t march_month = (5 * day_of_year + 2) / 153;
	*day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
	*month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
	*year = year_of_era + era * 400 + (*month <= 2);
}

static int month_length(int year, int month)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return lengths[month - 1] + (month == 2 && leap);
}

/* Exactly `count` digits, advancing *text; -1 when there are fewer. */
static int digits(const char **text, int count)
{
	int value = 0;
	for (int i = 0; i < count; i++, (*text)++) {
		if (**text < '0' || **text > '9')
			return -1;
		value = value * 10 + (**text - '0');
	}
	return value;
}

static bool skip(const char **text, const char *any_of)
{
	if (!**text || !strchr(any_of, **text))
		return false;
	(*text)++;
	return true;
}

/* "Z" or "+hh:mm" at the end of the text, in seconds east of Greenwich. */
static bool parse_offset(const char *text, int *offset)
{
	*offset = 0;
	if (skip(&text, "Zz"))
		return !*text;
	int sign = *text == '-' ? -1 : 1;
	if (!skip(&text, "+-"))
		return false;
	int hours = digits(&text, 2);
	if (hours < 0 || hours > 23 || !skip(&text, ":"))
		return false;
	int minutes = digits(&text, 2);
	if (minutes < 0 || minutes > 59)
		return false;
	*offset = sign * (hours * 3600 + minutes * 60);
	return !*text;
}

int clock_parse_rfc3339(const char *text, int64_t *seconds)
{
	int year, month, day, hour, minute, second, offset;
	if ((year = digits(&text, 4)) < 0 || !skip(&text, "-") || (month = digits(&text, 2)) < 1 || month > 12)
		return -1;
	if (!skip(&text, "-") || (day = digits(&text, 2)) < 1 || day > month_length(year, month) || !skip(&text, "Tt"))
		return -1;
	if ((hour = digits(&text, 2)) < 0 || hour > 23 || !skip(&text, ":"))
		return -1;
	if ((minute = digits(&text, 2)) < 0 || minute > 59 || !skip(&text, ":"))
		return -1;
	if ((second = digits(&text, 2)) < 0 || second > 59)
		return -1;
	if (skip(&text, ".")) { /* parts of a second are cut off */
		if (digits(&text, 1) < 0)
			return -1;
		while (*text >= '0' && *text <= '9')
			text++;
	}
	if (!parse_offset(text, &offset))
		return -1;
	*seconds = days_of(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second - offset;
	return 0;
}

static size_t put_digits(char *out, size_t at, int value)
{
	out[at++] = (char)('0' + value / 10);
	out[at++] = (char)('0' + value % 10);
	return at;
}

void clock_print_rfc3339(int64_t seconds, char out[32])
{
	int64_t days = seconds / DAY_SECONDS;
	int rest = (int)(seconds % DAY_SECONDS);
	if (rest < 0) { /* before 1970: the day begins earlier, the time of day counts up all the same */
		days--;
		rest += DAY_SECONDS;
	}
	int64_t year;
	int month, day;
	date_of(days, &year, &month, &day);
	/* By hand: lists of a large cluster have a hundred thousand of them. */
	size_t at = 0;
	if (year < 0 || year > 9999)
		at = (size_t)snprintf(out, 32, "%04" PRId64, year);
	else
		at = put_digits(out, put_digits(out, 0, (int)(year / 100)), (int)(year % 100));
	const struct {
		char before;
		int value;
	} parts[] = {{'-', month}, {'-', day}, {'T', rest / 3600}, {':', rest / 60 % 60}, {':', rest % 60}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		out[at++] = parts[i].before;
		at = put_digits(out, at, parts[i].value);
	}
	out[at++] = 'Z';
	out[at] = '\0';
}

void clock_print_micro(int64_t seconds, unsigned microseconds, char out[48])
{
	char text[32];
	clock_print_rfc3339(seconds, text);
	snprintf(out, 48, "%.*s.%06uZ", (int)strcspn(text, "Z"), text, microseconds % 1000000);
}

/* The unit at the start of the text and how long its name is; 0 when there is none. */
static size_t duration_unit(const char *text, int64_t *unit)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		/* The longer of two names with the same beginning stands first; micro has two Unicode spellings. */
		{"ns", 1},       {"us", 1000},        {"\xc2\xb5s", 1000},      {"\xce\xbcs", 1000},
		{"ms", 1000000}, {"s", CLOCK_SECOND}, {"m", 60 * CLOCK_SECOND}, {"h", 3600 * CLOCK_SECOND},
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t length = strlen(units[i].name);
		if (strncmp(text, units[i].name, length) == 0) {
			*unit = units[i].ns;
			return length;
		}
	}
	return 0;
}

/* One "12.5s" of a duration, added to *total; returns what follows or NULL. */
static const char *duration_part(const char *text, int64_t *total)
{
	int64_t whole = 0, fraction = 0, scale = 1, unit = 0;
	bool any = false;
	for (; *text >= '0' && *text <= '9'; text++, any = true)
		if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *text - '0', &whole))
			return NULL;
	if (*text == '.') {
		/* Nanoseconds of an hour need 13 digits; what comes after those changes nothing. */
		for (text++; *text >= '0' && *text <= '9'; text++, any = true) {
			if (scale < 100 * 1000 * CLOCK_SECOND) {
				fraction = fraction * 10 + (*text - '0');
				scale *= 10;
			}
		}
	}
	size_t length = any ? duration_unit(text, &unit) : 0;
	if (length == 0 || __builtin_mul_overflow(whole, unit, &whole))
		return NULL;
	int64_t part = (int64_t)((__int128)fraction * unit / scale);
	if (__builtin_add_overflow(whole, part, &whole) || __builtin_add_overflow(*total, whole, total))
		return NULL;
	return text + length;
}

int clock_parse_duration(const char *text, int64_t *ns)
{
	bool negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	int64_t total = 0;
	if (strcmp(text, "0") != 0) {
		if (!*text)
			return -1;
		while (*text) {
			text = duration_part(text, &total);
			if (!text)
				return -1;
		}
	}
	*ns = negative ? -total : total;
	return 0;
}
