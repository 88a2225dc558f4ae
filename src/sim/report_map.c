/* Owns the maps of a report, drawn as SVG, and the script that goes with the page. */
#include "sim/report_internal.h"

#include <string.h>

#define CELL 9 /* of a node, with its gap */
#define WIDTH 720
#define GAP 4
#define NAME 12  /* height of the name of a zone */
#define LETTER 5 /* width, about */
#define ROWS 16  /* nodes without a rack, and racks that are larger, go on in the next column */

struct pen {
	int x, y, top, tallest;
};

static bool same_rack(const struct replay_node *a, const struct replay_node *b)
{
	return strcmp(a->zone, b->zone) == 0 && strcmp(a->rack, b->rack) == 0;
}

/* The first node after those in the same column. */
static size_t column_end(const struct replay_result *result, size_t from)
{
	size_t end = from;
	while (end < result->node_count && end - from < ROWS && same_rack(&result->nodes[from], &result->nodes[end]))
		end++;
	return end;
}

static int gap_after(const struct replay_result *result, size_t next)
{
	return next < result->node_count && !same_rack(&result->nodes[next - 1], &result->nodes[next]) ? GAP / 2 : 0;
}

/* The first node after a zone, and how wide it is. */
static size_t zone_end(const struct replay_result *result, size_t from, int *width)
{
	size_t end = from;
	*width = 0;
	while (end < result->node_count && strcmp(result->nodes[end].zone, result->nodes[from].zone) == 0) {
		end = column_end(result, end);
		*width += CELL + gap_after(result, end);
	}
	return end;
}

static void next_line(struct pen *pen)
{
	pen->x = 0;
	pen->top = pen->tallest + 2 * GAP;
}

static void draw_name(const struct report *report, const char *name, int width, const struct pen *pen,
                      struct buffer *cells)
{
	size_t room = (size_t)((width < WIDTH ? width : WIDTH) / LETTER), length = strlen(name);
	if (length == 0 || room < 2)
		return;
	buffer_printf(cells, "<text class=\"tick\" x=\"%d\" y=\"%d\">", pen->x, pen->top + NAME - GAP);
	report_text(cells, length <= room ? name : arena_strndup(report->arena, name, room - 1));
	buffer_puts(cells, length <= room ? "</text>\n" : "…</text>\n");
}

static void draw_node(const struct replay_node *node, char shade, const struct pen *pen, struct buffer *cells)
{
	buffer_printf(cells, "<rect x=\"%d\" y=\"%d\" class=\"u%c\"><title>", pen->x, pen->y,
	              shade == '-' ? 'n' : shade);
	report_text(cells, node->name);
	if (node->rack[0]) {
		buffer_puts(cells, ", ");
		report_text(cells, node->rack);
	}
	buffer_puts(cells, "</title></rect>\n");
}

static void draw_zone(const struct replay_result *result, size_t from, size_t end, struct pen *pen,
                      struct buffer *cells)
{
	for (size_t column = from, next; column < end; column = next) {
		next = column_end(result, column);
		if (pen->x + CELL > WIDTH)
			next_line(pen);
		pen->y = pen->top + NAME;
		for (size_t i = column; i < next; i++, pen->y += CELL)
			draw_node(&result->nodes[i], result->frames[0][i], pen, cells);
		pen->tallest = pen->y > pen->tallest ? pen->y : pen->tallest;
		pen->x += CELL + gap_after(result, next);
	}
}

/* Racks are columns, side by side, zones blocks of them with their names. */
static void draw_map(const struct report *report, const struct replay_result *result, size_t number)
{
	struct buffer cells = {0};
	struct pen pen = {0};
	for (size_t i = 0, end; i < result->node_count; i = end) {
		int width;
		end = zone_end(result, i, &width);
		if (pen.x > 0 && pen.x + width > WIDTH)
			next_line(&pen);
		draw_name(report, result->nodes[i].zone, width, &pen, &cells);
		draw_zone(result, i, end, &pen, &cells);
		pen.x += 2 * GAP;
	}
	buffer_printf(report->out, "<figure class=\"map\"><figcaption class=\"key p%zu\">", number);
	report_text(report->out, result->title);
	buffer_printf(report->out,
	              "</figcaption><svg id=\"map%zu\" role=\"img\" aria-label=\"map of the nodes\" viewBox=\"0 0 %d "
	              "%d\">\n%s</svg></figure>\n",
	              number, WIDTH, pen.tallest + GAP, cells.text ? cells.text : "");
	buffer_free(&cells);
}

static void write_frames(const struct report *report, const char *name, bool cpus)
{
	struct buffer *out = report->out;
	buffer_printf(out, "const %s = [", name);
	for (size_t r = 0; r < report->count; r++) {
		char **frames = cpus ? report->results[r]->cpu_frames : report->results[r]->frames;
		buffer_printf(out, "%s[", r ? ",\n" : "");
		for (size_t f = 0; frames && f < REPLAY_FRAMES; f++)
			buffer_printf(out, "%s\"%s\"", f ? ",\n" : "", frames[f]);
		buffer_puts(out, "]");
	}
	buffer_puts(out, "];\n");
}

static void write_controls(const struct report *report)
{
	struct buffer *out = report->out;
	bool gpus = report->results[0]->cpu_frames;
	buffer_printf(
		out,
		"<h2>The map over time</h2><p>A square is a node, a column a rack, a block of columns a zone. The "
		"stronger its colour, the more of its %s is in use.</p><div class=\"controls\"><button "
		"id=\"play\">Play</button><input id=\"time\" type=\"range\" min=\"0\" max=\"%d\" value=\"0\" "
		"aria-label=\"time\"><output id=\"when\" for=\"time\">%s</output>",
		gpus ? "GPUs (or CPUs)" : "CPUs", REPLAY_FRAMES - 1, report_time(report->arena, 0));
	if (gpus)
		buffer_puts(out,
		            "<span role=\"radiogroup\" aria-label=\"what the map shows\"><label><input type=\"radio\" "
		            "name=\"what\" value=\"gpu\" checked> GPUs</label> <label><input type=\"radio\" "
		            "name=\"what\" value=\"cpu\"> CPUs</label></span>");
	buffer_puts(out, "<span class=\"scale\">empty <svg viewBox=\"0 0 100 10\" aria-hidden=\"true\">");
	for (int shade = 0; shade <= 9; shade++)
		buffer_printf(out, "<rect x=\"%d\" width=\"9\" height=\"10\" class=\"u%d\"/>", shade * 10, shade);
	buffer_puts(out, "</svg> full</span></div><output id=\"node\"></output><div class=\"maps\">\n");
}

void report_maps(const struct report *report)
{
	struct buffer *out = report->out;
	write_controls(report);
	for (size_t r = 0; r < report->count; r++)
		draw_map(report, report->results[r], r);
	buffer_puts(out, "</div>\n<script>\n");
	write_frames(report, "frames", false);
	buffer_puts(out, "const times = [");
	for (int64_t f = 0; f < REPLAY_FRAMES; f++)
		buffer_printf(out, "%s\"%s\"", f ? ", " : "",
		              report_time(report->arena, report->results[0]->length * f / (REPLAY_FRAMES - 1)));
	buffer_puts(out, "];\n");
	write_frames(report, "cpus", true);
	buffer_printf(out, "%s</script>\n", report_file("report.js"));
}
