/* Events of a controller that may have much to say: repeats are counted instead of written again (see writes_event), and
 * each object may speak only so often. */
#ifndef SCHEDULE_EVENTS_H
#define SCHEDULE_EVENTS_H

#include "api/store.h"

struct events;

struct events *events_create(struct store *store);
void events_destroy(struct events *events); /* NULL is a no-op */
/* Records the event, or leaves it out when the object has said too much of late: 25 at once, then one in five minutes.
 * False when it was left out. */
bool events_record(struct events *events, const struct store_object *object, bool warning, const char *reason,
                   const char *message, int64_t now_seconds);

#endif
