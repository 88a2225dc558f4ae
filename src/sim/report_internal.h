/* The parts of the page of a report. */
#ifndef SIM_REPORT_INTERNAL_H
#define SIM_REPORT_INTERNAL_H

#include "sim/report.h"

struct report {
	const struct replay_result *const *results;
	size_t count;
	struct arena *arena;
	struct buffer *out;
};

/* Text that may hold anything. */
void report_text(struct buffer *out, const char *text);
/* 12,356 */
const char *report_count(struct arena *arena, size_t number);
/* The text of report.css or report.js. */
const char *report_file(const char *name);
/* Lines over time: `value` of each bucket, in thousandths of `unit`; the axis ends at `most`, 0: at the largest value. */
void report_chart(const struct report *report, const char *title, const char *about,
                  int64_t (*value)(const struct replay_bucket *bucket), int64_t most, const char *unit);
/* Waiting times by size as bars. */
void report_waits(const struct report *report);
/* The maps with their slider. */
void report_maps(const struct report *report);

#endif
