/* Quantities, times and durations from arbitrary text: both scales agree, and what is printed reads back. */
#include "fuzz.h"

#include "base/clock.h"
#include "base/quantity.h"

#include <string.h>

static void check_quantity(const char *text, size_t length)
{
	int64_t units = 0, milli = 0;
	struct error error = {0};
	int has_units = quantity_parse(text, length, QUANTITY_UNITS, &units, &error);
	int has_milli = quantity_parse(text, length, QUANTITY_MILLI, &milli, &error);
	if (has_milli == 0) { /* units are milli-units rounded away from zero */
		fuzz_require(has_units == 0);
		int64_t rounded = milli / 1000 + (milli % 1000 > 0) - (milli % 1000 < 0);
		fuzz_require(units == rounded);
	} else {
		fuzz_require(error.code == ERROR_SYNTAX || error.code == ERROR_RANGE);
		fuzz_require(error.code != ERROR_SYNTAX || has_units < 0);
	}
	if (has_units < 0)
		return;
	static const char *const resources[] = {"memory", "nvidia.com/gpu", "cpu"};
	struct arena *arena = arena_create();
	for (size_t i = 0; i < 3; i++) {
		const char *printed = quantity_print(arena, resources[i], units);
		int64_t back;
		fuzz_require(quantity_parse(printed, strlen(printed), quantity_scale_of(resources[i]), &back, NULL) == 0);
		fuzz_require(back == units);
	}
	arena_destroy(arena);
}

static void check_time(const char *text)
{
	int64_t seconds, back, ns;
	if (clock_parse_rfc3339(text, &seconds) == 0) {
		char printed[32];
		clock_print_rfc3339(seconds, printed);
		/* An offset may move the first and last hours of the range out of it. */
		if (seconds >= -62167219200 && seconds <= 253402300799)
			fuzz_require(clock_parse_rfc3339(printed, &back) == 0 && back == seconds);
	}
	if (clock_parse_duration(text, &ns) == 0)
		fuzz_require(ns != INT64_MIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_quantity((const char *)data, size);
	char *text = malloc(size + 1);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_time(text);
	free(text);
	return 0;
}
