/* Owns the views of `top`. */
#include "cli/map.h"
#include "cli/top.h"

#include "base/quantity.h"
#include "engine/share/share.h"

#include <stdlib.h>
#include <string.h>

#define BAR 10

static const char *const view_names[TOP_VIEWS] = {"map", "gangs", "queues", "pending"};

#define SORTS 6
static const char *const sort_names[TOP_VIEWS][SORTS] = {
	[TOP_GANGS] = {"name", "state", "pods", "queue", "priority", "age"},
	[TOP_QUEUES] = {"tree", "used", "waiting"},
	[TOP_PENDING] = {"priority", "age", "name", "queue"},
};

const char *top_view_name(enum top_view view)
{
	return view_names[view];
}

int top_sort_count(enum top_view view)
{
	int count = 0;
	if (view >= TOP_VIEWS)
		return 0;
	while (count < SORTS && sort_names[view][count])
		count++;
	return count;
}

const char *top_sort_name(const struct top_look *look)
{
	int sort = look->sort[look->view];
	return sort < top_sort_count(look->view) ? sort_names[look->view][sort] : "";
}

static const char *age_text(struct arena *arena, int64_t seconds)
{
	if (seconds < 0)
		seconds = 0;
	if (seconds < 120)
		return arena_printf(arena, "%llds", (long long)seconds);
	if (seconds < 7200)
		return arena_printf(arena, "%lldm", (long long)(seconds / 60));
	if (seconds < 172800)
		return arena_printf(arena, "%lldh", (long long)(seconds / 3600));
	return arena_printf(arena, "%lldd", (long long)(seconds / 86400));
}

static enum colour colour_of(const struct top_group *group)
{
	if (strcmp(group->state, "Running") == 0)
		return COLOUR_GREEN;
	return group->decided->state == GROUP_NEVER || group->decided->state == GROUP_UNDECIDED ? COLOUR_RED
	                                                                                        : COLOUR_YELLOW;
}

/* ---- groups: gangs and pending ---- */

static int by_name(const struct top_group *a, const struct top_group *b)
{
	int order = strcmp(a->group->namespace_, b->group->namespace_);
	return order ? order : strcmp(a->group->name, b->group->name);
}

static int by_number(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct top_group *a = *(const struct top_group *const *)left,
			       *b = *(const struct top_group *const *)right;
	const struct top_look *look = context;
	const char *sort = top_sort_name(look);
	int order = 0;
	if (strcmp(sort, "state") == 0)
		order = strcmp(a->state, b->state);
	else if (strcmp(sort, "pods") == 0)
		order = by_number((int64_t)b->pods, (int64_t)a->pods);
	else if (strcmp(sort, "queue") == 0)
		order = strcmp(a->queue, b->queue);
	else if (strcmp(sort, "priority") == 0)
		order = by_number(b->decided->priority, a->decided->priority);
	else if (strcmp(sort, "age") == 0)
		order = by_number(a->decided->creation, b->decided->creation);
	order = order ? order : by_name(a, b);
	return look->reverse ? -order : order;
}

static bool contains(const char *text, const char *filter)
{
	return text && strstr(text, filter);
}

static const char *title_of(const struct top_group *group, struct arena *arena)
{
	return gang_title(&group->decided->gang, arena);
}

static bool is_shown(const struct top_group *group, const struct top_look *look, struct arena *arena)
{
	if (look->view == TOP_PENDING && !group->pending)
		return false;
	return !look->filter[0] || contains(group->queue, look->filter) || contains(group->state, look->filter) ||
	       contains(group->nodes, look->filter) ||
	       contains(arena_printf(arena, "%s/%s", group->group->namespace_, group->group->name), look->filter) ||
	       contains(title_of(group, arena), look->filter);
}

static void add_reasons(const struct top_group *group, const struct draw_style *style, struct table *table)
{
	size_t width = style->terminal ? style->width : 0;
	for (size_t i = 0; i < group->group->reason_count; i++)
		draw_paragraph(table, COLOUR_NONE, 4, group->group->reasons[i].message, width);
	if (group->group->reason_count == 0 && strcmp(group->state, "Binding") == 0)
		draw_paragraph(table, COLOUR_NONE, 4, "the next cycle places it", width);
}

/* Of a long name the begin is shown: what grouping adds to it is behind. */
static void add_group_row(const struct top_picture *picture, const struct top_group *group, size_t name_width,
                          struct table *table)
{
	struct arena *arena = table->arena;
	struct table_row row = {
		.cells = {draw_cut(arena, title_of(group, arena), name_width), group->state,
	                  arena_printf(arena, "%zu/%lld", group->bound, (long long)group->group->minimum),
	                  arena_printf(arena, "%zu", group->pods), draw_cut(arena, group->queue, 40),
	                  arena_printf(arena, "%d", group->decided->priority),
	                  age_text(arena, picture->now - group->decided->creation), group->nodes},
		.colours = {[1] = colour_of(group)},
	};
	table_add(table, &row);
}

static void draw_groups(const struct top_picture *picture, const struct top_look *look, const struct draw_style *style,
                        struct drawing *drawing)
{
	struct table table = {.arena = drawing->arena, .columns = 8};
	const struct top_group **shown = arena_array(drawing->arena, const struct top_group *, picture->group_count);
	size_t count = 0;
	for (size_t i = 0; i < picture->group_count; i++)
		if (is_shown(&picture->groups[i], look, drawing->arena))
			shown[count++] = &picture->groups[i];
	struct top_look order = *look;
	qsort_r(shown, count, sizeof(*shown), compare_groups, &order);
	struct table_row head = {.cells = {"GROUP", "STATE", "BOUND/MIN", "PODS", "QUEUE", "PRIORITY", "AGE", "NODES"}};
	for (int c = 0; c < TABLE_COLUMNS; c++)
		head.colours[c] = COLOUR_DIM;
	table_add(&table, &head);
	for (size_t i = 0; i < count; i++) {
		add_group_row(picture, shown[i], style->terminal ? style->width * 2 / 5 : SIZE_MAX, &table);
		if (look->view == TOP_PENDING)
			add_reasons(shown[i], style, &table);
	}
	draw_table(drawing, &table);
	if (count == 0) {
		draw_new_line(drawing);
		draw_add(drawing, COLOUR_DIM, "%s",
		         look->filter[0]             ? "nothing matches the filter"
		         : look->view == TOP_PENDING ? "nothing waits"
		                                     : "there are no groups");
	}
}

/* ---- queues ---- */

/* GPUs where the queue or the cluster has some, else cores. */
static int main_resource(const struct top_picture *picture)
{
	return strcmp(picture->resource, "cpu") == 0 ? CYCLE_CPU : CYCLE_GPU;
}

static int compare_queues(const void *left, const void *right, void *context)
{
	const struct top_queue *a = *(const struct top_queue *const *)left,
			       *b = *(const struct top_queue *const *)right;
	const struct top_look *look = context;
	const char *sort = top_sort_name(look);
	int order = 0;
	if (strcmp(sort, "used") == 0)
		order = by_number(b->used[CYCLE_GPU], a->used[CYCLE_GPU]);
	if (strcmp(sort, "used") == 0 && order == 0)
		order = by_number(b->used[CYCLE_CPU], a->used[CYCLE_CPU]);
	if (strcmp(sort, "waiting") == 0)
		order = by_number((int64_t)b->waiting, (int64_t)a->waiting);
	/* The array is in the order of the tree. */
	order = order ? order : (a < b ? -1 : a > b);
	return look->reverse ? -order : order;
}

static const char *milli(struct arena *arena, int64_t value, const char *negative)
{
	if (value < 0)
		return negative;
	if (value % 1000 == 0)
		return arena_printf(arena, "%lld", (long long)(value / 1000));
	return arena_printf(arena, "%lld.%lld", (long long)(value / 1000), (long long)(value % 1000 / 100));
}

static void add_queue_line(const struct top_picture *picture, const struct top_queue *queue,
                           const struct draw_style *style, bool tree, size_t widest, struct drawing *drawing)
{
	int r = main_resource(picture);
	const struct cycle_queue *about = queue->queue;
	const char *name = draw_cut(drawing->arena, cycle_queue_text(about, drawing->arena), 40);
	int indent = tree ? 2 * queue->depth : 0;
	bool over = about->quota[r] >= 0 && queue->used[r] > about->quota[r];
	draw_new_line(drawing);
	draw_add(drawing, COLOUR_NONE, "%*s%s%*s  ", indent, "", name, (int)widest - indent - (int)output_width(name),
	         "");
	draw_bar(drawing, style, over ? COLOUR_YELLOW : COLOUR_GREEN, queue->used[r],
	         about->fair[r] > queue->used[r] ? about->fair[r] : queue->used[r], BAR);
	draw_add(drawing, over ? COLOUR_YELLOW : COLOUR_NONE, "  %8s", milli(drawing->arena, queue->used[r], ""));
	draw_add(drawing, COLOUR_NONE, "  %8s  %9s  %9s  %6zu  %7zu", milli(drawing->arena, about->fair[r], "-"),
	         milli(drawing->arena, about->quota[r], "unlimited"), milli(drawing->arena, about->limit[r], "none"),
	         queue->groups, queue->waiting);
	if (picture->plan->snapshot->cycle.past_factor)
		draw_add(drawing, COLOUR_NONE, "  %6s",
		         output_percent(drawing->arena, about->used[r], SHARE_PAST_WHOLE));
	if (over)
		draw_add(drawing, COLOUR_YELLOW, "  over quota by %s",
		         milli(drawing->arena, queue->used[r] - about->quota[r], ""));
}

static void draw_queues(const struct top_picture *picture, const struct top_look *look, const struct draw_style *style,
                        struct drawing *drawing)
{
	const struct top_queue **shown = arena_array(drawing->arena, const struct top_queue *, picture->queue_count);
	size_t count = 0, widest = 5;
	for (size_t i = 0; i < picture->queue_count; i++) {
		const struct top_queue *queue = &picture->queues[i];
		if (look->filter[0] && !contains(queue->queue->name, look->filter))
			continue;
		const char *name = draw_cut(drawing->arena, cycle_queue_text(queue->queue, drawing->arena), 40);
		size_t width = output_width(name) + 2 * (size_t)queue->depth;
		widest = width > widest ? width : widest;
		shown[count++] = queue;
	}
	struct top_look order = *look;
	qsort_r(shown, count, sizeof(*shown), compare_queues, &order);
	draw_new_line(drawing);
	draw_add(drawing, COLOUR_DIM, "%-*s  %-*s  %8s  %8s  %9s  %9s  %6s  %7s", (int)widest, "QUEUE", BAR,
	         main_resource(picture) == CYCLE_CPU ? "CPU" : "GPU", "USED", "SHARE", "QUOTA", "LIMIT", "GROUPS",
	         "WAITING");
	if (picture->plan->snapshot->cycle.past_factor)
		draw_add(drawing, COLOUR_DIM, "  %6s", "PAST");
	bool tree = strcmp(top_sort_name(look), "tree") == 0 && !look->reverse;
	for (size_t i = 0; i < count; i++)
		add_queue_line(picture, shown[i], style, tree, widest, drawing);
}

/* ---- all ---- */

void top_draw(const struct top_picture *picture, const struct top_look *look, const struct draw_style *style,
              size_t lines, struct drawing *drawing)
{
	struct map_options map = {
		.style = style, .focus = -1, .filter = look->filter, .running_only = true, .most_lines = lines};
	switch (look->view) {
	case TOP_MAP:
		map_draw(picture->plan, &map, drawing);
		return;
	case TOP_GANGS:
	case TOP_PENDING:
		draw_groups(picture, look, style, drawing);
		return;
	case TOP_QUEUES:
	case TOP_VIEWS:
		break;
	}
	draw_queues(picture, look, style, drawing);
}

void top_draw_sum(const struct top_picture *picture, struct drawing *drawing)
{
	const struct cluster *cluster = picture->plan->snapshot->cycle.cluster;
	int64_t unit = strcmp(picture->resource, "cpu") == 0 ? 1000 : 1;
	draw_add(drawing, COLOUR_BOLD, "%d nodes", cluster_node_count(cluster));
	if (picture->resource[0])
		draw_add(drawing, COLOUR_NONE, "; %lld of %lld %s in use", (long long)(picture->used / unit),
		         (long long)(picture->slots / unit), picture->resource);
	draw_add(drawing, COLOUR_NONE, "; %zu of %zu pods bound; %zu group%s", picture->bound, picture->pods,
	         picture->group_count, picture->group_count == 1 ? "" : "s");
	draw_add(drawing, picture->waiting ? COLOUR_YELLOW : COLOUR_GREEN, ", %zu waiting", picture->waiting);
}
