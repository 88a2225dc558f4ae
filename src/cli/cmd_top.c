/* Owns the command `top`: following a cluster, keys, and the screen. */
#include "cli/cli.h"
#include "cli/live_view.h"
#include "cli/terminal.h"
#include "cli/top.h"

#include "base/clock.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define TICK 250     /* milliseconds between looks at the clock when nothing happens */
#define HEAD_LINES 2 /* above the view */
#define FOOT_LINES 1

struct top {
	struct cli_args *args;
	struct live_view *view;
	struct draw_style style;
	struct top_look look;
	struct arena *arena; /* of the present picture */
	struct top_picture *picture;
	char filter[64];
	size_t scroll, most_scroll;
	bool help, typing, paused, redraw;
};

static const char *const help_lines[] = {
	"1 2 3 4, Tab  the views: map, gangs, queues, pending",
	"/             filter by name, queue, state or node; Enter keeps it, Esc drops it",
	"s             sort by the next column",
	"r             reverse the order",
	"arrows, j k   scroll; PgUp PgDn by pages, Home End to the ends",
	"p             pause: the picture stays as it is",
	"?, h          this help",
	"q, Ctrl-C     end",
};

/* ---- drawing ---- */

static void draw_head(const struct top *top, struct drawing *drawing)
{
	draw_new_line(drawing);
	for (int view = 0; view < TOP_VIEWS; view++) {
		bool own = view == (int)top->look.view;
		/* Without colours brackets say which one is shown. */
		draw_add(drawing, own ? COLOUR_REVERSE : COLOUR_NONE, own ? "[%d %s]" : " %d %s ", view + 1,
		         top_view_name((enum top_view)view));
		draw_add(drawing, COLOUR_NONE, "%s", " ");
	}
	if (top->typing || top->filter[0])
		draw_add(drawing, COLOUR_BOLD, "  filter: %s%s", top->filter, top->typing ? "_" : "");
	if (top_sort_name(&top->look)[0])
		draw_add(drawing, COLOUR_DIM, "  by %s%s", top_sort_name(&top->look),
		         top->look.reverse ? ", reversed" : "");
	if (top->paused)
		draw_add(drawing, COLOUR_YELLOW, "%s", "  paused");
	draw_new_line(drawing);
	if (top->picture)
		top_draw_sum(top->picture, drawing);
}

static void draw_help(struct drawing *drawing)
{
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(*help_lines); i++) {
		draw_new_line(drawing);
		draw_add(drawing, COLOUR_NONE, "%s", help_lines[i]);
	}
}

static size_t room_of(const struct top *top)
{
	return top->style.height > HEAD_LINES + FOOT_LINES ? top->style.height - HEAD_LINES - FOOT_LINES : 1;
}

static void draw_screen(struct top *top)
{
	struct arena *arena = arena_create();
	struct drawing screen = {.arena = arena}, body = {.arena = arena};
	size_t room = room_of(top), from;
	draw_head(top, &screen);
	if (top->help)
		draw_help(&body);
	else if (top->picture)
		top_draw(top->picture, &top->look, &top->style, top->look.view == TOP_MAP ? 4 * room : 0, &body);
	top->most_scroll = body.count > room ? body.count - room : 0;
	from = top->scroll = top->scroll > top->most_scroll ? top->most_scroll : top->scroll;
	for (size_t i = 0; i < room && from + i < body.count; i++) {
		/* The heads of columns stay while the rows below them move. */
		size_t line = i == 0 && top->look.view != TOP_MAP && !top->help ? 0 : from + i;
		draw_new_line(&screen);
		screen.lines[screen.count - 1] = body.lines[line];
	}
	const char *problem = live_view_problem(top->view);
	if (!problem[0] && live_view_connecting(top->view))
		problem = "connecting";
	const char *more = top->most_scroll > 0
	                           ? arena_printf(arena, "; lines %zu-%zu of %zu", from + 1, from + room, body.count)
	                           : "";
	terminal_show(&screen, problem[0] ? problem : arena_printf(arena, "? help, q end%s", more), &top->style);
	arena_destroy(arena);
}

/* ---- keys ---- */

static void type_filter(struct top *top, int key)
{
	size_t length = strlen(top->filter);
	if (key == KEY_ESCAPE)
		top->filter[0] = '\0';
	if (key == KEY_ESCAPE || key == '\r' || key == '\n')
		top->typing = false;
	else if (key == KEY_BACKSPACE && length > 0)
		top->filter[length - 1] = '\0';
	else if (key < 128 && isprint(key) && length + 1 < sizeof(top->filter))
		memcpy(top->filter + length, (char[]){(char)key, '\0'}, 2);
	top->scroll = 0;
}

static void scroll(struct top *top, int key)
{
	size_t page = room_of(top), old = top->scroll;
	if (key == KEY_UP || key == 'k')
		top->scroll -= old > 0;
	else if (key == KEY_DOWN || key == 'j')
		top->scroll++;
	else if (key == KEY_PAGE_UP)
		top->scroll = old > page ? old - page : 0;
	else if (key == KEY_PAGE_DOWN || key == ' ')
		top->scroll += page;
	else if (key == KEY_HOME)
		top->scroll = 0;
	else if (key == KEY_END)
		top->scroll = top->most_scroll;
}

static void show_view(struct top *top, int view)
{
	top->look.view = (enum top_view)(view % TOP_VIEWS);
	top->look.reverse = false;
	top->scroll = 0;
	top->help = false;
}

/* False to end. */
static bool take_key(struct top *top, int key)
{
	int *sort = &top->look.sort[top->look.view], sorts = top_sort_count(top->look.view);
	if (top->typing) {
		type_filter(top, key);
	} else if (key >= '1' && key < '1' + TOP_VIEWS) {
		show_view(top, key - '1');
	} else if (key == '\t') {
		show_view(top, (int)top->look.view + 1);
	} else if (key == '/') {
		top->typing = true;
	} else if (key == KEY_ESCAPE) {
		top->filter[0] = '\0';
		top->help = false;
	} else if (key == 's') {
		*sort = sorts > 0 ? (*sort + 1) % sorts : 0;
	} else if (key == 'r') {
		top->look.reverse = !top->look.reverse;
	} else if (key == 'p') {
		top->paused = !top->paused;
	} else if (key == '?' || key == 'h') {
		top->help = !top->help;
		top->scroll = 0;
	} else {
		scroll(top, key);
	}
	return top->typing || key != 'q';
}

/* ---- the loop ---- */

static void take_picture(struct top *top, const struct plan *plan)
{
	arena_destroy(top->arena);
	top->arena = arena_create();
	top->picture = top_take(plan, clock_seconds(clock_system()), top->arena);
}

static void loop(struct top *top)
{
	top->redraw = true;
	while (!terminal_stopped()) {
		live_view_run(top->view, TICK, STDIN_FILENO);
		for (int key = terminal_key(); key != KEY_NONE; key = terminal_key()) {
			if (!take_key(top, key))
				return;
			top->redraw = true;
		}
		if (terminal_changed()) {
			draw_resize(&top->style, stdout);
			fputs("\033[2J", stdout);
			top->redraw = true;
		}
		const struct plan *fresh = top->paused ? NULL : live_view_plan(top->view);
		if (fresh)
			take_picture(top, fresh);
		if (fresh || top->redraw || live_view_problem(top->view)[0] || live_view_connecting(top->view))
			draw_screen(top);
		top->redraw = false;
	}
}

static int follow(struct cli_args *args)
{
	struct error error = {0};
	struct top top = {.args = args, .style = draw_style(stdout, args->colour)};
	top.look.filter = top.filter;
	top.view = live_view_create(args, true, &error);
	if (!top.view) {
		output_line(stderr, "platoon top: %s", error.text);
		return CLI_USAGE;
	}
	if (!terminal_open()) {
		fprintf(stderr, "platoon top: this is no terminal; `platoon top --once` prints everything and ends\n");
		live_view_destroy(top.view);
		return CLI_USAGE;
	}
	loop(&top);
	terminal_close();
	arena_destroy(top.arena);
	live_view_destroy(top.view);
	return CLI_OK;
}

/* ---- once ---- */

static void print_once(struct cli_args *args, const struct top_picture *picture)
{
	struct draw_style style = draw_style(stdout, args->colour);
	struct drawing drawing = {.arena = args->arena};
	struct top_look look = {.filter = ""};
	top_draw_sum(picture, &drawing);
	for (int view = 0; view < TOP_VIEWS; view++) {
		look.view = (enum top_view)view;
		draw_new_line(&drawing);
		draw_new_line(&drawing);
		draw_add(&drawing, COLOUR_BOLD, "%s:", top_view_name(look.view));
		top_draw(picture, &look, &style, args->map ? 0 : 100, &drawing);
	}
	draw_print(&drawing, stdout, &style);
}

static int once(struct cli_args *args)
{
	struct manifests objects, above;
	manifests_init(&objects);
	int rc = cli_load_world(args, &objects);
	if (rc == CLI_OK) {
		int64_t now = clock_seconds(clock_system());
		cli_load_terms(args, &objects, &above);
		struct snapshot_options options = {.now_seconds = now, .owners = &above, .settings = &args->settings};
		struct snapshot *snapshot = snapshot_create(&objects, &options);
		const struct plan *plan = plan_run(snapshot, args->actions, args->action_count);
		const struct top_picture *picture = top_take(plan, now, args->arena);
		if (args->output == CLI_OUTPUT_TABLE) {
			print_once(args, picture);
		} else {
			struct build *build = build_create();
			output_document(build, top_write(picture, build), args->output == CLI_OUTPUT_YAML, stdout);
			build_destroy(build);
		}
		snapshot_destroy(snapshot);
		manifests_free(&above);
	}
	manifests_free(&objects);
	return rc;
}

int cmd_top(struct cli_args *args)
{
	if (args->once || args->output != CLI_OUTPUT_TABLE)
		return once(args);
	if (args->file_count > 0) {
		fprintf(stderr, "platoon top: files do not change; show them with --once\n");
		return CLI_USAGE;
	}
	return follow(args);
}
