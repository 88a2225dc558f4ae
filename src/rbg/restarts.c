/* Owns how often instances were made anew, kept in the status: the first time at once, then after growing pauses. */
#include "rbg/internal.h"

#include "rollout/backoff.h"

#include <string.h>

void rbg_read_restarts(struct rbg_turn *turn)
{
	const struct val *list = val_path(turn->object->root, "status", "restarts", NULL), *item;
	size_t most = val_count(list) + 1; /* the group as a whole */
	for (size_t r = 0; r < turn->spec.role_count; r++)
		most += turn->roles[r].instance_count;
	turn->restarts = arena_array(turn->arena, struct rbg_restart, most);
	for (struct val_iter it = val_iter(list); val_next(&it, NULL, &item);) {
		struct rbg_restart *restart = &turn->restarts[turn->restart_count];
		*restart = (struct rbg_restart){.instance = val_str(val_get(item, "instance"), "")};
		val_int(val_get(item, "count"), &restart->count);
		if (clock_parse_rfc3339(val_str(val_get(item, "last"), ""), &restart->last) == 0 &&
		    turn->now - restart->last < backoff_reset(BACKOFF_MAX_SECONDS))
			turn->restart_count++;
	}
}

bool rbg_may_restart(struct rbg_turn *turn, const struct rbg_role *role, const char *instance)
{
	struct rbg_restart *restart = NULL;
	for (size_t i = 0; i < turn->restart_count && !restart; i++)
		if (strcmp(turn->restarts[i].instance, instance) == 0)
			restart = &turn->restarts[i];
	if (!restart) {
		restart = &turn->restarts[turn->restart_count++];
		*restart = (struct rbg_restart){.instance = instance, .last = turn->now};
	}
	int64_t left = restart->last + backoff_delay(role->base_delay, role->max_delay, restart->count) - turn->now;
	if (left > 0) {
		turn->again = turn->again && turn->again < left ? turn->again : left;
		return false;
	}
	restart->count = backoff_count(restart->count, restart->last, turn->now, role->max_delay);
	restart->last = turn->now;
	return true;
}

void rbg_write_restarts(const struct rbg_turn *turn, struct build *build, struct node *status)
{
	struct node *list = build_list(build);
	for (size_t i = 0; i < turn->restart_count; i++) {
		struct node *item = build_map(build);
		char last[32];
		clock_print_rfc3339(turn->restarts[i].last, last);
		build_put_string(build, item, "instance", turn->restarts[i].instance);
		build_put_int(build, item, "count", turn->restarts[i].count);
		build_put_string(build, item, "last", last);
		build_append(build, list, item);
	}
	build_put(build, status, "restarts", turn->restart_count ? list : NULL);
}
