/* The plan as a table for people. */
#ifndef CLI_PLAN_TABLE_H
#define CLI_PLAN_TABLE_H

#include "control/plan.h"

#include <stdbool.h>
#include <stdio.h>

/* `wide` adds a line per pod and never shortens a list of nodes. */
void plan_table_print(const struct plan *plan, bool wide, bool colours, FILE *stream);
/* The lines of one group, without its reasons. */
void plan_table_print_group(const struct plan *plan, size_t group, bool wide, bool colours, FILE *stream);

#endif
