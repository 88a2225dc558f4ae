/* Shows a case to people and writes it as a scenario that `platoon simulate` reads. */
#ifndef CYCLE_WRITE_H
#define CYCLE_WRITE_H

#include "case.h"
#include "../runner.h"

void case_print(const void *given);
/* Returns 0, or -1 when the file cannot be written. */
int case_save(const void *given, const struct result *result, const char *path);

#endif
