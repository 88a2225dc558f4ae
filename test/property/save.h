/* Writes an instance as a scenario file that `platoon simulate` reads. */
#ifndef PROPERTY_SAVE_H
#define PROPERTY_SAVE_H

#include "check.h"

/* Returns 0, or -1 when the file cannot be written. */
int save_scenario(const struct instance *instance, const struct result *result, const char *path);

#endif
