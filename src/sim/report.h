/* Reports on replays: one page of HTML that needs nothing else, and a document for programs. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "object/build.h"
#include "sim/replay.h"

/* One result, or two of the same trace side by side. Appends. */
void report_page(const struct replay_result *const *results, size_t count, const char *source, struct buffer *out);
struct node *report_write(const struct replay_result *const *results, size_t count, const char *source,
                          struct build *build);
/* "95 s", "12 min", "3.5 h", "2.1 d". */
const char *report_time(struct arena *arena, int64_t seconds);

#endif
