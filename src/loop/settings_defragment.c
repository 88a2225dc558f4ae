/* Owns how scheduled defragmentation is written in settings, and when its window is open. */
#include "base/strings.h"
#include "loop/settings.h"

#include <string.h>

enum { MINUTES = 24 * 60 };

static bool read_digits(const char *text, int *out)
{
	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
		return false;
	*out = (text[0] - '0') * 10 + (text[1] - '0');
	return true;
}

/* "HH:MM" at the start of the text. */
static bool read_minute(const char *text, int *out)
{
	int hour, minute;
	if (!read_digits(text, &hour) || text[2] != ':' || !read_digits(text + 3, &minute) || minute > 59)
		return false;
	*out = hour * 60 + minute;
	return *out <= MINUTES;
}

static bool read_window(const char *text, int *from, int *to)
{
	*from = *to = 0;
	if (!text[0])
		return true;
	return strlen(text) == strlen("HH:MM-HH:MM") && read_minute(text, from) && text[5] == '-' &&
	       read_minute(text + 6, to) && *from != *to && *from < MINUTES;
}

void settings_read_defragment(const struct val *map, const char *path, struct arena *arena,
                              struct settings_defragment *out, struct problems *problems)
{
	const struct val *moves = val_get(map, "movesPerHour");
	*out = (struct settings_defragment){.enabled = val_bool(val_get(map, "enabled"), false),
	                                    .level = arena_strdup(arena, val_str(val_get(map, "level"), "")),
	                                    .moves = SETTINGS_USUAL_MOVES};
	if (!read_window(val_str(val_get(map, "window"), ""), &out->from, &out->to))
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.window", path), NULL,
		            "must be two times of the day in UTC such as 22:00-06:00, or \"\" for always");
	if (moves && (val_int(moves, &out->moves) < 0 || out->moves < 0 || out->moves > SETTINGS_MOST_MOVES))
		problem_add(problems, SEVERITY_ERROR, problem_path(problems, "%s.movesPerHour", path), NULL,
		            "must be a whole number from 0 to %d", SETTINGS_MOST_MOVES);
}

bool settings_may_defragment(const struct settings *settings, int64_t now)
{
	const struct settings_defragment *own = &settings->defragment;
	int minute = (int)(now / 60 % MINUTES);
	if (!own->enabled || own->moves <= 0)
		return false;
	if (own->from == own->to)
		return true;
	return own->from < own->to ? minute >= own->from && minute < own->to : minute >= own->from || minute < own->to;
}
