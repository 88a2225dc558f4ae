/* Owns how the fair share over time is written in settings. */
#include "base/clock.h"
#include "base/quantity.h"
#include "loop/settings.h"

#include <string.h>

/* A number from 0 to 1000000, in thousandths. -1 when it is none. */
static int read_factor(const struct val *value, int64_t *out)
{
	enum { MOST = 1000000 }; /* what multiplies SHARE_PAST_WHOLE stays within 64 bits */
	struct buffer text = {0};
	struct quantity factor = {0};
	struct error ignored;
	bool number = val_kind(value) == VAL_INT || val_kind(value) == VAL_REAL;
	if (number)
		val_write(value, DOC_JSON_COMPACT, &text);
	int rc = number ? quantity_parse_exact(text.text, text.length, &factor, &ignored) : -1;
	buffer_free(&text);
	if (rc < 0 || factor.whole < 0 || factor.whole > MOST)
		return -1;
	*out = factor.whole * 1000 + factor.nano / 1000000;
	return 0;
}

/* Seconds; what is not there stays. */
static void read_seconds(const struct val *map, const char *path, const char *key, int64_t least, int64_t *out,
                         struct problems *problems)
{
	const struct val *value = val_get(map, key);
	int64_t ns = 0;
	if (!value)
		return;
	if (clock_parse_duration(val_str(value, ""), &ns) < 0 || ns < 0 || ns % CLOCK_SECOND ||
	    ns / CLOCK_SECOND < least || ns / CLOCK_SECOND > SETTINGS_PAST_LONGEST)
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.%s", path, key), NULL,
		            least ? "must be a duration in whole seconds from 1m to 8784h, such as 168h"
		                  : "must be a duration in whole seconds up to 8784h, such as 24h, or 0s for none");
	*out = ns / CLOCK_SECOND;
}

void settings_read_past(const struct val *map, const char *path, struct settings_past *out, struct problems *problems)
{
	enum { MINUTE = 60, WEEK = 7 * 86400 };
	*out = (struct settings_past){.factor = 1000, .window = WEEK};
	const struct val *factor = val_get(map, "kValue");
	if (factor && read_factor(factor, &out->factor) < 0)
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.kValue", path), NULL,
		            "must be a number from 0 to 1000000 such as 0.5");
	read_seconds(map, path, "windowSize", MINUTE, &out->window, problems);
	read_seconds(map, path, "halfLifePeriod", 0, &out->half_life, problems);
	const char *type = val_str(val_get(map, "windowType"), "sliding");
	out->tumbling = strcmp(type, "tumbling") == 0;
	if (!out->tumbling && strcmp(type, "sliding") != 0)
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.windowType", path), NULL,
		            "must be sliding or tumbling");
	if (!val_bool(val_get(map, "enabled"), true))
		out->factor = 0;
}
