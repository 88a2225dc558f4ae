/* Claims that one pod may use at a time. They keep their users apart, wherever these are: each has a label that names the
 * claim, and stays away from pods that have it. */
#ifndef SCHEDULE_VOLUME_SINGLE_H
#define SCHEDULE_VOLUME_SINGLE_H

#include "schedule/volume_columns.h"

/* Adds label and rule of every such claim of the pod that several pods name; claims of ephemeral volumes have one user, and
 * so have most others. What is added is in the arena. */
void volume_single_add(const struct volume_book *book, volume_users *users, const void *context,
                       const struct pod_spec *pod, struct arena *arena, struct volume_needs *needs);

#endif
