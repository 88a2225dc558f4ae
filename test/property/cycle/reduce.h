/* Makes a failing case smaller while it still fails. */
#ifndef CYCLE_REDUCE_H
#define CYCLE_REDUCE_H

#include "case.h"

void case_shrink(void *given, bool (*still_fails)(const void *world, void *context), void *context);

#endif
