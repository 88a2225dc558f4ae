/* Owns `up --until-placed`: what is printed while groups come up, when it is over, and the picture in the end. */
#include "cli/until_placed.h"

#include "cli/cli.h"
#include "cli/map.h"
#include "cli/plan_table.h"
#include "cli/progress.h"
#include "cli/store_objects.h"

#include "base/clock.h"
#include "grouping/grouping.h"
#include "kinds/names.h"
#include "loop/writes.h"
#include "schedule/title.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY INT64_C(200000000) /* nanoseconds: looking at all groups costs more than one change */
#define SETTLED_SECONDS 5             /* nothing changed for so long: nothing will */
#define DECIDED_SECONDS 1
#define MAP_LINES 40  /* of a larger cluster domains are drawn, not nodes */
#define MOST_GROUPS 8 /* whose parts are shown */

struct until_placed {
	struct store *store;
	struct settings_source *settings;
	struct interner *shown; /* lines that were printed */
	int64_t begun;          /* nanoseconds */
	int64_t quiet;          /* nanoseconds: since when the objects are as they are */
	int64_t looked;         /* nanoseconds: when they were looked at */
	int64_t took;           /* nanoseconds until everything was decided */
	uint64_t version;
	bool decided; /* every group runs, or never will */
	bool refused; /* some group never will */
	size_t pods;  /* that run */
	struct progress progress;
};

struct until_placed *until_placed_create(struct store *store, struct settings_source *settings)
{
	struct until_placed *until = base_calloc(1, sizeof(*until));
	until->store = store;
	until->settings = settings;
	until->shown = interner_create();
	until->begun = until->quiet = clock_now(clock_system());
	until->progress = progress_begin();
	return until;
}

void until_placed_destroy(struct until_placed *until)
{
	if (!until)
		return;
	interner_destroy(until->shown);
	free(until);
}

/* ---- while it goes on ---- */

static int64_t number_at(const struct val *status, const char *key)
{
	int64_t number = 0;
	val_int(val_get(status, key), &number);
	return number;
}

/* What is known about one group. */
struct sight {
	const char *title, *phase, *message;
	int64_t running, pending;
};

/* Prints what is new about it. True when nothing more is to be waited for. */
static bool show(struct until_placed *until, const struct store_object *object, const struct sight *sight,
                 bool looked_at)
{
	struct buffer line = {0};
	buffer_printf(&line, "%s/%s: %s, %lld running, %lld pending%s%s", object->namespace_, sight->title,
	              sight->phase, (long long)sight->running, (long long)sight->pending, sight->message[0] ? ": " : "",
	              sight->message);
	uint32_t known = interner_count(until->shown);
	/* Neither a group that nobody has looked at nor a line that was printed before is news. */
	if (looked_at && interner_id(until->shown, line.text) == known) {
		progress_clear(&until->progress);
		output_line(stdout, "%s", line.text);
		fflush(stdout);
	}
	buffer_free(&line);
	until->pods += (size_t)sight->running;
	until->refused |= strcmp(sight->phase, "Never") == 0;
	return strcmp(sight->phase, "Running") == 0 || strcmp(sight->phase, "Succeeded") == 0 ||
	       strcmp(sight->phase, "Failed") == 0 || strcmp(sight->phase, "Never") == 0;
}

static bool show_group(struct until_placed *until, const struct store_object *group, struct arena *arena)
{
	const struct val *status = val_get(group->root, "status");
	const struct val *condition = writes_find_condition(group->root, "Scheduled");
	struct sight sight = {
		.title = title_of_group(group->root, arena),
		.phase = val_str(val_get(status, "phase"), "Waiting"),
		.message = val_str(val_get(condition, "message"), ""),
		.running = number_at(status, "running"),
		.pending = number_at(status, "pending"),
	};
	return show(until, group, &sight, val_kind(status) == VAL_MAP);
}

/* A pod that stands alone is its own group. */
static bool show_pod(struct until_placed *until, const struct store_object *pod)
{
	const struct val *condition = writes_find_condition(pod->root, "PodScheduled");
	const char *phase = val_str(val_path(pod->root, "status", "phase", NULL), "Pending");
	bool bound = *val_str(val_path(pod->root, "spec", "nodeName", NULL), "");
	bool refused = strcmp(val_str(val_get(condition, "reason"), ""), "Unschedulable") == 0;
	struct sight sight = {
		.title = pod->name,
		.phase = strcmp(phase, "Pending") != 0 ? phase
	                 : bound                       ? "Placed"
	                 : refused                     ? "Waiting"
	                                               : phase,
		.message = val_str(val_get(condition, "message"), ""),
		.running = strcmp(phase, "Running") == 0,
		.pending = strcmp(phase, "Pending") == 0,
	};
	return show(until, pod, &sight, condition != NULL);
}

static bool stands_alone(const struct until_placed *until, const struct store_object *pod)
{
	return settings_owns_pod(settings_now(until->settings), pod->root) &&
	       !*val_str(val_path(pod->root, "metadata", "annotations", GROUP_KEY_POD_GROUP, NULL), "");
}

/* Whether every group is decided; none is none. */
static bool show_groups(struct until_placed *until)
{
	struct arena *arena = arena_create();
	struct store_error error = {0};
	size_t decided = 0, count = 0;
	bool done = true;
	until->refused = false;
	until->pods = 0;
	for (int pods = 0; pods < 2; pods++) {
		const struct store_type *type = pods ? store_type_find(until->store, "", "pods")
		                                     : store_type_find(until->store, KINDS_SCHEDULING, "podgroups");
		struct store_list list = {0};
		struct store_list_request request = {.api = type->apis};
		done &= store_list(until->store, &request, &list, arena, &error) == 0;
		for (size_t i = 0; i < list.count; i++) {
			if (pods && !stands_alone(until, list.items[i]))
				continue;
			count++;
			decided += pods ? show_pod(until, list.items[i]) : show_group(until, list.items[i], arena);
		}
		store_list_clear(&list);
	}
	progress_show(&until->progress, "groups decided", decided, count, "");
	arena_destroy(arena);
	return done && count > 0 && decided == count;
}

int until_placed_look(struct until_placed *until)
{
	int64_t now = clock_now(clock_system());
	uint64_t version = store_version(until->store);
	if (version != until->version) {
		if (now - until->looked < LOOK_EVERY)
			return -1;
		until->quiet = until->looked = now;
		until->version = version;
		bool decided = show_groups(until);
		if (decided && !until->decided)
			until->took = now - until->begun;
		until->decided = decided;
	}
	/* A workload that is decided may still be about to get more groups. */
	if (now - until->quiet <= (until->decided ? DECIDED_SECONDS : SETTLED_SECONDS) * CLOCK_SECOND)
		return -1;
	progress_clear(&until->progress);
	return until->decided && !until->refused ? CLI_OK : CLI_FOUND;
}

/* ---- the picture in the end ---- */

static void print_groups(const struct plan *plan, const struct draw_style *style)
{
	for (size_t i = 0; i < plan->group_count && i < MOST_GROUPS; i++) {
		output_line(stdout, "%s", "");
		plan_table_print_group(plan, plan->order[i], false, style, stdout);
	}
	if (plan->group_count > MOST_GROUPS)
		output_line(stdout, "... and %zu more groups", plan->group_count - MOST_GROUPS);
}

static void print_map(const struct plan *plan, const struct draw_style *style, struct arena *arena)
{
	struct drawing drawing = {.arena = arena};
	map_draw(plan,
	         &(struct map_options){.style = style, .focus = -1, .running_only = true, .most_lines = MAP_LINES},
	         &drawing);
	output_line(stdout, "%s", "");
	draw_print(&drawing, stdout, style);
}

void until_placed_show(const struct until_placed *until, const struct draw_style *style, int64_t decided_ns)
{
	struct arena *arena = arena_create();
	struct store_objects objects = {.store = until->store, .arena = arena};
	struct problems problems = {.arena = arena};
	struct manifests all, above;
	const struct settings *settings = settings_now(until->settings);
	manifests_init(&all);
	manifests_init(&above);
	store_objects_read(&objects, &all, &problems);
	store_objects_read_above(&objects, settings, &all, &above, &problems);
	struct snapshot *snapshot =
		snapshot_create(&all, &(struct snapshot_options){.now_seconds = clock_seconds(clock_system()),
	                                                         .settings = settings,
	                                                         .owners = &above,
	                                                         .silent = true});
	const struct plan *plan = plan_run(snapshot, NULL, 0); /* what runs, without a next decision */
	print_map(plan, style, arena);
	print_groups(plan, style);
	output_line(stdout, "%s", "");
	if (until->decided)
		output_line(stdout, "%zu pod%s %s after %lld.%lld s; deciding where took %lld.%lld ms of it.",
		            until->pods, until->pods == 1 ? "" : "s", until->pods == 1 ? "runs" : "run",
		            (long long)(until->took / CLOCK_SECOND), (long long)(until->took / 100000000 % 10),
		            (long long)(decided_ns / 1000000), (long long)(decided_ns / 100000 % 10));
	snapshot_destroy(snapshot);
	manifests_free(&all);
	manifests_free(&above);
	store_objects_release(&objects);
	arena_destroy(arena);
}
