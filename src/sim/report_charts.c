/* Owns the charts of a report, drawn as SVG. */
#include "sim/report_internal.h"

#include <string.h>

#define WIDTH 720
#define HEIGHT 180
#define LEFT 56
#define TOP 10
#define BOTTOM 24

static const char *amount(const struct report *report, int64_t value, const char *unit)
{
	if (strcmp(unit, "%") == 0)
		return arena_printf(report->arena, "%lld%%", (long long)(value / 10));
	return report_count(report->arena, (size_t)(value / 1000));
}

static void chart_axes(const struct report *report, int64_t most, const char *unit)
{
	struct buffer *out = report->out;
	for (int line = 0; line <= 4; line++) {
		int y = TOP + HEIGHT * line / 4;
		buffer_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", LEFT, LEFT + WIDTH,
		              y, y);
		buffer_printf(out, "<text x=\"%d\" y=\"%d\" class=\"tick end%s\">%s</text>", LEFT - 6, y + 4,
		              line % 2 ? " odd" : "", amount(report, most * (4 - line) / 4, unit));
	}
	for (int mark = 0; mark <= 4; mark++)
		buffer_printf(out, "<text x=\"%d\" y=\"%d\" class=\"tick mid%s\">%s</text>", LEFT + WIDTH * mark / 4,
		              TOP + HEIGHT + 20, mark % 2 ? " odd" : "",
		              report_time(report->arena, report->results[0]->length * mark / 4));
}

/* A line, with its values for the script. */
static void chart_line(const struct report *report, size_t number, int64_t (*value)(const struct replay_bucket *bucket),
                       int64_t most)
{
	struct buffer *out = report->out;
	const struct replay_bucket *buckets = report->results[number]->buckets;
	buffer_printf(out, "<polyline class=\"line p%zu\" points=\"", number);
	for (size_t i = 0; i < REPLAY_BUCKETS; i++) {
		int64_t v = value(&buckets[i]);
		/* Tenths of a pixel, so that the page needs no floating point. */
		int64_t x = LEFT * 10 + (int64_t)i * WIDTH * 10 / (REPLAY_BUCKETS - 1);
		int64_t y = (TOP + HEIGHT) * 10 - (v > most ? most : v) * HEIGHT * 10 / most;
		buffer_printf(out, "%s%lld.%lld,%lld.%lld", i ? " " : "", (long long)(x / 10), (long long)(x % 10),
		              (long long)(y / 10), (long long)(y % 10));
	}
	buffer_puts(out, "\" data-values=\"");
	for (size_t i = 0; i < REPLAY_BUCKETS; i++)
		buffer_printf(out, "%s%lld", i ? " " : "", (long long)value(&buckets[i]));
	buffer_puts(out, "\"/>");
}

/* Where the values under the pointer are shown. */
static void chart_legend(const struct report *report)
{
	buffer_puts(report->out, "<p class=\"legend\">");
	for (size_t r = 0; r < report->count; r++) {
		buffer_printf(report->out, "<span><span class=\"key p%zu\">", r);
		report_text(report->out, report->results[r]->title);
		buffer_puts(report->out, "</span><output></output></span>");
	}
	buffer_puts(report->out, "</p>");
}

static void chart_range(const struct report *report, int64_t (*value)(const struct replay_bucket *bucket),
                        int64_t *least, int64_t *most)
{
	*least = INT64_MAX;
	*most = 0;
	for (size_t r = 0; r < report->count; r++)
		for (size_t i = 0; i < REPLAY_BUCKETS; i++) {
			int64_t v = value(&report->results[r]->buckets[i]);
			*least = v < *least ? v : *least;
			*most = v > *most ? v : *most;
		}
}

void report_chart(const struct report *report, const char *title, const char *about,
                  int64_t (*value)(const struct replay_bucket *bucket), int64_t most, const char *unit)
{
	struct buffer *out = report->out;
	int64_t least, largest;
	chart_range(report, value, &least, &largest);
	buffer_printf(out, "<figure><figcaption><h2>%s</h2><p>%s", title, about);
	if (largest == 0) {
		buffer_puts(out, " <b>None in the whole time.</b></p></figcaption></figure>\n");
		return;
	}
	buffer_puts(out, "</p></figcaption>");
	chart_legend(report);
	/* Whole numbers at the lines. */
	most = most > 0 ? most : (largest + 3999) / 4000 * 4000;
	buffer_printf(out,
	              "<svg class=\"chart\" tabindex=\"0\" role=\"img\" aria-label=\"%s: between %s and %s\" "
	              "data-left=\"%d\" "
	              "data-width=\"%d\" data-unit=\"%s\" data-seconds=\"%lld\" viewBox=\"0 0 %d %d\">",
	              title, amount(report, least, unit), amount(report, largest, unit), LEFT, WIDTH, unit,
	              (long long)report->results[0]->length, LEFT + WIDTH + 30, TOP + HEIGHT + BOTTOM);
	chart_axes(report, most, unit);
	buffer_printf(out, "<line class=\"cursor\" y1=\"%d\" y2=\"%d\"/>", TOP, TOP + HEIGHT);
	for (size_t r = 0; r < report->count; r++)
		chart_line(report, r, value, most);
	buffer_puts(out, "</svg></figure>\n");
}

/* ---- waiting ---- */

static void wait_row(const struct report *report, size_t class, int64_t longest)
{
	struct buffer *out = report->out;
	struct arena *arena = report->arena;
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
		buffer_printf(out, "<td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>",
		              report_count(arena, size->gangs), report_count(arena, size->placed),
		              report_time(arena, size->median), report_time(arena, size->p90),
		              report_time(arena, size->longest));
		if (longest > 0)
			buffer_printf(
				out,
				"<td class=\"bars\"><svg class=\"bar\" viewBox=\"0 0 300 10\" "
				"aria-hidden=\"true\"><rect class=\"p%zu\" width=\"%lld\" height=\"10\"/></svg></td>",
				r, (long long)(width > 0 ? width : size->p90 > 0));
		buffer_puts(out, "</tr>\n");
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
	buffer_printf(
		out,
		"<h2>Waiting time by gang size</h2><p>From the arrival of a gang until its minimum ran.%s</p>"
		"<div class=\"scroll\"><table><thead><tr><th scope=\"col\">pods</th>%s<th scope=\"col\">gangs</th>"
		"<th scope=\"col\">placed</th><th scope=\"col\">median</th><th scope=\"col\">9 of 10</th>"
		"<th scope=\"col\">longest</th>%s</tr></thead><tbody>\n",
		longest > 0 ? " The bars show the wait that nine of ten placed gangs did not exceed." : "",
		report->count > 1 ? "<th scope=\"col\">policy</th>" : "",
		longest > 0 ? "<td class=\"bars\"></td>" : "");
	for (size_t class = 0; class < REPLAY_SIZES; class ++)
		if (report->results[0]->sizes[class].gangs > 0)
			wait_row(report, class, longest);
	buffer_puts(out, "</tbody></table></div>\n");
}
