/* Owns reading and resolving counts that may be percentages. */
#include "rollout/percent.h"

#include "rollout/count.h"

int percent_parse(const char *text, struct percent *out, struct error *error)
{
	int64_t value = 0;
	const char *at = text;
	for (; *at >= '0' && *at <= '9' && value <= COUNT_MAX; at++)
		value = value * 10 + (*at - '0');
	if (at == text || at[0] != '%' || at[1] != '\0')
		return error_set(error, ERROR_SYNTAX,
		                 "\"%s\" is not a percentage: write a whole number and %%, as in \"25%%\"", text);
	if (value > COUNT_MAX)
		return error_set(error, ERROR_RANGE, "\"%s\" is too large: write at most \"100%%\"", text);
	*out = percent_share(value);
	return 0;
}

int64_t percent_of(struct percent percent, int64_t whole, enum percent_rounding rounding)
{
	int64_t value = count_clamp(percent.value);
	whole = count_clamp(whole);
	switch (percent.form) {
	case PERCENT_COUNT:
		return value;
	case PERCENT_SHARE:
		return rounding == PERCENT_UP ? count_divide_up(value * whole, 100) : value * whole / 100;
	case PERCENT_UNSET:
		break;
	}
	return 0;
}
