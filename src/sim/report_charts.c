/* Owns the charts of a report, drawn as SVG. */
#include "sim/report_internal.h"

#include <string.h>

#define WIDTH 720
#define HEIGHT 180
#define LEFT 56
#define TOP 10
#define BOTTOM 24
#define CELL 9 /* of a node on the map, with its gap */
#define MAP_WIDTH 720
#define GAP 4

static void chart_axes(const struct report *report, int64_t most, const char *unit)
{
	struct buffer *out = report->out;
	for (int line = 0; line <= 4; line++) {
		int y = TOP + HEIGHT * line / 4;
		int64_t value = most * (4 - line) / 4;
		buffer_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", LEFT, LEFT + WIDTH,
		              y, y);
		if (strcmp(unit, "%") == 0)
			buffer_printf(out, "<text x=\"%d\" y=\"%d\" class=\"tick end\">%lld%%</text>", LEFT - 6, y + 4,
			              (long long)(value / 10));
		else
			buffer_printf(out, "<text x=\"%d\" y=\"%d\" class=\"tick end\">%lld</text>", LEFT - 6, y + 4,
			              (long long)(value / 1000));
	}
	for (int mark = 0; mark <= 4; mark++)
		buffer_printf(out, "<text x=\"%d\" y=\"%d\" class=\"tick mid\">%s</text>", LEFT + WIDTH * mark / 4,
		              TOP + HEIGHT + 17, report_time(report->arena, report->results[0]->length * mark / 4));
}

void report_chart(const struct report *report, const char *title, const char *about,
                  int64_t (*value)(const struct replay_bucket *bucket), int64_t most, const char *unit)
{
	struct buffer *out = report->out;
	for (size_t r = 0; r < report->count && most == 0; r++)
		for (size_t i = 0; i < REPLAY_BUCKETS; i++)
			if (value(&report->results[r]->buckets[i]) > most)
				most = value(&report->results[r]->buckets[i]);
	most = most < 4000 && strcmp(unit, "%") != 0 ? 4000 : most;
	buffer_printf(out,
	              "<figure><figcaption><h2>%s</h2><p>%s</p></figcaption><svg role=\"img\" aria-label=\"%s\" "
	              "viewBox=\"0 0 %d %d\">",
	              title, about, title, LEFT + WIDTH + 30, TOP + HEIGHT + BOTTOM);
	chart_axes(report, most, unit);
	for (size_t r = 0; r < report->count; r++) {
		buffer_printf(out, "<polyline class=\"line p%zu\" points=\"", r);
		for (size_t i = 0; i < REPLAY_BUCKETS; i++) {
			int64_t v = value(&report->results[r]->buckets[i]);
			/* Tenths of a pixel, so that the page needs no floating point. */
			int64_t x = LEFT * 10 + (int64_t)i * WIDTH * 10 / (REPLAY_BUCKETS - 1);
			int64_t y = (TOP + HEIGHT) * 10 - (v > most ? most : v) * HEIGHT * 10 / most;
			buffer_printf(out, "%s%lld.%lld,%lld.%lld", i ? " " : "", (long long)(x / 10),
			              (long long)(x % 10), (long long)(y / 10), (long long)(y % 10));
		}
		buffer_puts(out, "\"/>");
	}
	buffer_puts(out, "</svg></figure>\n");
}

/* ---- waiting ---- */

static void wait_row(const struct report *report, size_t class, int64_t longest)
{
	struct buffer *out = report->out;
	for (size_t r = 0; r < report->count; r++) {
		const struct replay_size *size = &report->results[r]->sizes[class];
		int64_t width = longest > 0 ? size->p90 * 300 / longest : 0;
		buffer_puts(out, "<tr>");
		if (r == 0)
			buffer_printf(out, "<th rowspan=\"%zu\" scope=\"rowgroup\">%s</th>", report->count, size->name);
		if (report->count > 1) {
			buffer_printf(out, "<td class=\"key p%zu\">", r);
			report_text(out, report->results[r]->title);
			buffer_puts(out, "</td>");
		}
		buffer_printf(out, "<td>%zu</td><td>%zu</td><td>%s</td><td>%s</td><td>%s</td>", size->gangs,
		              size->placed, report_time(report->arena, size->median),
		              report_time(report->arena, size->p90), report_time(report->arena, size->longest));
		buffer_printf(out,
		              "<td><svg class=\"bar\" viewBox=\"0 0 300 10\" aria-hidden=\"true\"><rect class=\"p%zu\" "
		              "width=\"%lld\" height=\"10\"/></svg></td></tr>\n",
		              r, (long long)(width > 0 ? width : size->p90 > 0));
	}
}

void report_waits(const struct report *report)
{
	struct buffer *out = report->out;
	int64_t longest = 0;
	for (size_t r = 0; r < report->count; r++)
		for (size_t class = 0; class < REPLAY_SIZES; class ++)
			if (report->results[r]->sizes[class].p90 > longest)
				longest = report->results[r]->sizes[class].p90;
	buffer_printf(out,
	              "<h2>Waiting time by gang size</h2><p>From the arrival of a gang until its minimum ran. The bars "
	              "show the wait that nine of ten placed gangs did not exceed.</p><table><thead><tr>"
	              "<th>pods</th>%s<th>gangs</th><th>placed</th><th>median</th><th>9 of 10</th><th>longest</th>"
	              "<th></th></tr></thead><tbody>\n",
	              report->count > 1 ? "<th>policy</th>" : "");
	for (size_t class = 0; class < REPLAY_SIZES; class ++)
		wait_row(report, class, longest);
	buffer_puts(out, "</tbody></table>\n");
}

/* ---- maps ---- */

struct pen {
	int x, y, rack_top, tallest;
};

static void next_rack(struct pen *pen, int width)
{
	pen->x += width;
	pen->y = pen->rack_top;
	if (pen->x + CELL > MAP_WIDTH) {
		pen->x = 0;
		pen->rack_top = pen->tallest + GAP;
		pen->y = pen->rack_top;
	}
}

/* Racks are columns, side by side, with more room between zones. Nodes without a rack stand in columns of sixteen. */
static void draw_map(const struct report *report, const struct replay_result *result, size_t number)
{
	struct buffer cells = {0};
	struct pen pen = {0};
	for (size_t i = 0; i < result->node_count; i++) {
		const struct replay_node *node = &result->nodes[i], *last = i ? &result->nodes[i - 1] : node;
		bool new_zone = strcmp(node->zone, last->zone) != 0;
		bool new_rack = new_zone || strcmp(node->rack, last->rack) != 0 || pen.y - pen.rack_top >= 16 * CELL;
		if (new_rack)
			next_rack(&pen, CELL + (new_zone                              ? 3 * GAP
			                        : strcmp(node->rack, last->rack) != 0 ? GAP / 2
			                                                              : 0));
		buffer_printf(&cells, "<rect x=\"%d\" y=\"%d\" class=\"u%c\"><title>", pen.x, pen.y,
		              result->frames[0][i] == '-' ? 'n' : result->frames[0][i]);
		report_text(&cells, node->name);
		if (node->rack[0]) {
			buffer_puts(&cells, ", ");
			report_text(&cells, node->rack);
		}
		buffer_puts(&cells, "</title></rect>\n");
		pen.y += CELL;
		pen.tallest = pen.y > pen.tallest ? pen.y : pen.tallest;
	}
	buffer_printf(report->out, "<figure class=\"map\"><figcaption class=\"key p%zu\">", number);
	report_text(report->out, result->title);
	buffer_printf(report->out,
	              "</figcaption><svg id=\"map%zu\" role=\"img\" aria-label=\"map of the nodes\" viewBox=\"0 0 %d "
	              "%d\">\n%s</svg></figure>\n",
	              number, MAP_WIDTH, pen.tallest + GAP, cells.text ? cells.text : "");
	buffer_free(&cells);
}

void report_maps(const struct report *report)
{
	struct buffer *out = report->out;
	const struct replay_result *first = report->results[0];
	buffer_printf(
		out,
		"<h2>The map over time</h2><p>A square is a node, a column a rack, a block of columns a zone; the "
		"darker, the more of it is in "
		"use. Point at a square to see its name.</p><p><label for=\"time\">Time</label> <input id=\"time\" "
		"type=\"range\" min=\"0\" max=\"%d\" value=\"0\"> <output id=\"when\">%s</output></p><div "
		"class=\"maps\">\n",
		REPLAY_FRAMES - 1, report_time(report->arena, 0));
	for (size_t r = 0; r < report->count; r++)
		draw_map(report, report->results[r], r);
	buffer_puts(out, "</div>\n<script>\nconst frames = [");
	for (size_t r = 0; r < report->count; r++) {
		buffer_printf(out, "%s[", r ? ",\n" : "");
		for (size_t f = 0; f < REPLAY_FRAMES; f++)
			buffer_printf(out, "%s\"%s\"", f ? ",\n" : "", report->results[r]->frames[f]);
		buffer_puts(out, "]");
	}
	buffer_puts(out, "];\nconst times = [");
	for (int64_t f = 0; f < REPLAY_FRAMES; f++)
		buffer_printf(out, "%s\"%s\"", f ? ", " : "",
		              report_time(report->arena, first->length * f / (REPLAY_FRAMES - 1)));
	buffer_puts(out, "];\n"
	                 "const cells = frames.map((_, i) => document.querySelectorAll('#map' + i + ' rect'));\n"
	                 "document.getElementById('time').addEventListener('input', event => {\n"
	                 "\tconst at = Number(event.target.value);\n"
	                 "\tdocument.getElementById('when').textContent = times[at];\n"
	                 "\tframes.forEach((list, i) => cells[i].forEach((cell, n) => {\n"
	                 "\t\tcell.setAttribute('class', 'u' + (list[at][n] === '-' ? 'n' : list[at][n]));\n"
	                 "\t}));\n"
	                 "});\n"
	                 "</script>\n");
}
