/* Fair shares the slow and plain way, as a yardstick for src/engine/share/share.c. Shares nothing with it but the struct. */
#ifndef TEST_SHARE_REFERENCE_H
#define TEST_SHARE_REFERENCE_H

#include "engine/share/share.h"

enum { REFERENCE_MAX = 16 };

/* The unit that is handed out: a device, a milli-core, a byte. */
int64_t reference_unit(int resource);
/* What the queue could use: its own demand and that of its children, each below its limit. */
int64_t reference_demand(const struct share_queue *queues, int count, int queue, int resource);
/* fair[queue] of one resource for at most REFERENCE_MAX queues without circles; time grows with the amounts. */
void reference_shares(const struct share_queue *queues, int count, int64_t total, int resource, int64_t *fair);

#endif
