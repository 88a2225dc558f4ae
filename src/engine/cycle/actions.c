/* Owns the table of actions: their rows by number, and their names. */
#include "engine/cycle/actions.h"

#include "base/arena.h"

#include <string.h>

#define ROW_OF(constant, row, name, description) [ACTION_##constant] = {name, description, &action_##row},
static const struct {
	const char *name, *description;
	const struct action_row *row;
} actions[ACTION_COUNT] = {CYCLE_ACTIONS(ROW_OF)};

const struct action_row *cycle_action_row(enum cycle_action action)
{
	return actions[action].row;
}

const char *cycle_action_name(enum cycle_action action)
{
	return actions[action].name;
}

const char *cycle_action_description(enum cycle_action action)
{
	return actions[action].description;
}

int cycle_action_parse(const char *text, size_t length, enum cycle_action *action)
{
	for (int a = 0; a < ACTION_COUNT; a++)
		if (strlen(actions[a].name) == length && strncmp(actions[a].name, text, length) == 0) {
			*action = (enum cycle_action)a;
			return 0;
		}
	return -1;
}

size_t cycle_action_list_all(enum cycle_action list[ACTION_COUNT])
{
	size_t count = 0;
	for (int a = 0; a < ACTION_COUNT; a++)
		if (!actions[a].row->opt_in)
			list[count++] = (enum cycle_action)a;
	return count;
}

size_t cycle_action_list_serving(enum cycle_action list[ACTION_COUNT])
{
	size_t count = 0;
	for (int a = 0; a < ACTION_COUNT; a++)
		if (actions[a].row->serves_waiting)
			list[count++] = (enum cycle_action)a;
	return count;
}

const char *cycle_action_join_names(struct arena *arena, const char *separator)
{
	const char *text = "";
	for (int a = 0; a < ACTION_COUNT; a++)
		text = arena_printf(arena, "%s%s%s", text, a ? separator : "", actions[a].name);
	return text;
}
