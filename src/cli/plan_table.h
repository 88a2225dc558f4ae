/* The plan as a table for people. */
#ifndef CLI_PLAN_TABLE_H
#define CLI_PLAN_TABLE_H

#include "cli/draw.h"
#include "schedule/plan.h"

/* `wide` adds a line per pod and never shortens a list of nodes. */
void plan_table_print(const struct plan *plan, bool wide, const struct draw_style *style, FILE *stream);
/* The lines of one group, without its reasons. */
void plan_table_print_group(const struct plan *plan, size_t group, bool wide, const struct draw_style *style,
                            FILE *stream);
/* An empty line and the map of the cluster; on a terminal as far as it takes little room, otherwise only when `wanted`
 * is set, and then in full. `focus` as in map.h, `closest` a reason whose domain is pointed at or NULL. */
void plan_table_print_map(const struct plan *plan, bool wanted, int focus, const struct plan_reason *closest,
                          const struct draw_style *style, FILE *stream);

#endif
