/* What people call a group: by the workload that they wrote, not by the PodGroup that was made for it. */
#ifndef SCHEDULE_TITLE_H
#define SCHEDULE_TITLE_H

#include "base/arena.h"
#include "object/doc.h"

/* "job/train", or "lws/serve group-2" where a workload has several groups, for the PodGroup `root`; its own name when nobody
 * made it, or when the name does not say for what part of its owner it was made. In the arena or the document. */
const char *title_of_group(const struct val *root, struct arena *arena);

#endif
